//! ORDER BY: rows are kept, their keys encoded so that bytes compare as the keys do, and walked in order. With a bound only the first
//! rows are kept.

use super::context::{ExecContext, Flow, Sink};
use super::expr::PhysicalExpr;
use super::limit::{limit_count, offset_count};
use super::rows::RowStore;
use super::run::run;
use crate::plan::node::{PlanNode, SortColumn};
use catalog::key::KeyColumn;
use catalog::{Arena, Datum, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// Rows with their sort keys.
pub struct Sorter<'k> {
    columns: &'k [SortColumn],
    encoded: Option<Vec<KeyColumn>>,
    rows: RowStore,
    /// Encoded keys, end to end; `ends[i]` is where row i's key ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
    scratch: Vec<u8>,
    /// Most rows that are wanted.
    bound: Option<usize>,
    /// With a bound reached: no key from here on is wanted.
    threshold: Option<Vec<u8>>,
}

impl<'k> Sorter<'k> {
    /// A sorter of rows of this width.
    pub fn new(columns: &'k [SortColumn], width: usize, bound: Option<usize>) -> Self {
        let encoded = columns.iter().all(|c| c.typ.encode_key.is_some()).then(|| {
            let key = |c: &SortColumn| KeyColumn { typ: c.typ, desc: c.desc, nulls_first: c.nulls_first };
            columns.iter().map(key).collect()
        });
        Sorter {
            columns,
            encoded,
            rows: RowStore::new(width),
            keys: Vec::new(),
            ends: Vec::new(),
            scratch: Vec::new(),
            bound,
            threshold: None,
        }
    }

    /// Takes a row.
    pub fn push(&mut self, row: &[Datum<'_>]) {
        if let Some(encoded) = &self.encoded {
            self.scratch.clear();
            for (key, column) in encoded.iter().zip(self.columns) {
                key.encode(row.get(column.slot).copied().unwrap_or(Datum::Null), &mut self.scratch);
            }
            if self.threshold.as_ref().is_some_and(|t| self.scratch >= *t) {
                return;
            }
            self.keys.extend_from_slice(&self.scratch);
            self.ends.push(self.keys.len());
        }
        self.rows.push(row);
        if let Some(bound) = self.bound
            && self.rows.len() >= bound.saturating_mul(2).saturating_add(512)
        {
            self.prune(bound);
        }
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.rows.size() + self.keys.len() + self.ends.len() * 8
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends.get(row - 1).copied().unwrap_or(0) };
        let end = self.ends.get(row).copied().unwrap_or(0);
        self.keys.get(start..end).unwrap_or_default()
    }

    /// The rows' numbers in order; equal rows as they came.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        if self.encoded.is_some() {
            // The first eight bytes decide most comparisons without a look at the key.
            let prefix = |i: u32| {
                let key = self.key(i as usize);
                let mut head = [0; 8];
                let len = key.len().min(8);
                head[..len].copy_from_slice(&key[..len]);
                u64::from_be_bytes(head)
            };
            let mut keyed: Vec<(u64, u32)> = order.iter().map(|i| (prefix(*i), *i)).collect();
            keyed.sort_unstable_by(|a, b| {
                a.0.cmp(&b.0)
                    .then_with(|| self.key(a.1 as usize).cmp(self.key(b.1 as usize)))
                    .then(a.1.cmp(&b.1))
            });
            return keyed.into_iter().map(|(_, i)| i).collect();
        }
        order.sort_by(|a, b| {
            let value = |row: u32, c: &SortColumn| self.rows.value(row as usize, c.slot);
            for c in self.columns {
                let order = compare(c, value(*a, c), value(*b, c));
                if order.is_ne() {
                    return order;
                }
            }
            Ordering::Equal
        });
        order
    }

    /// The rows kept.
    pub fn rows(&self) -> &RowStore {
        &self.rows
    }

    fn prune(&mut self, bound: usize) {
        let mut order = self.order();
        order.truncate(bound);
        let mut rows = RowStore::new(self.rows.width());
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        let mut row = Vec::with_capacity(self.rows.width());
        // Rows stay in the order of arrival, which decides between equal keys.
        let last = order.last().copied();
        order.sort_unstable();
        for i in order {
            row.clear();
            self.rows.read(i as usize, &mut row);
            rows.push(&row);
            keys.extend_from_slice(self.key(i as usize));
            ends.push(keys.len());
        }
        self.threshold = match (last, self.encoded.is_some()) {
            (Some(last), true) => Some(self.key(last as usize).to_vec()),
            _ => None,
        };
        drop(row);
        self.rows = rows;
        self.keys = keys;
        self.ends = ends;
    }
}

/// Compares two values as a sort column does.
pub fn compare(column: &SortColumn, a: Datum<'_>, b: Datum<'_>) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) if column.nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if column.nulls_first => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let order = (column.typ.compare)(a, b);
            if column.desc { order.reverse() } else { order }
        }
    }
}

/// Runs a sort.
pub fn run_sort(
    id: usize,
    input: &PlanNode,
    columns: &[SortColumn],
    bound: Option<&(PhysicalExpr, Option<PhysicalExpr>)>,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let bound = match bound {
        None => None,
        Some((limit, offset)) => {
            let skipped = offset_count(offset.as_ref(), cx)?;
            limit_count(Some(limit), cx)?.map(|n| n.saturating_add(skipped) as usize)
        }
    };
    let mut sorter: Option<Sorter<'_>> = None;
    let _ = run(input, cx, &mut |_, row| {
        sorter.get_or_insert_with(|| Sorter::new(columns, row.len(), bound)).push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    let Some(sorter) = sorter else { return Ok(ControlFlow::Continue(())) };
    if let Some(instrumentation) = &cx.statement.instrumentation {
        instrumentation.memory(id, sorter.size());
    }
    let mut order = sorter.order();
    if let Some(bound) = bound {
        order.truncate(bound);
    }
    let rows = sorter.rows();
    let mut arena = Arena::new();
    for i in order {
        cx.statement.tick()?;
        let row = arena.slice_with(rows.width(), |column| rows.value(i as usize, column));
        if out(&cx.with_arena(&arena), row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}
