//! Window functions: the input comes sorted by partition and order; each partition is kept while its rows are answered. Compare
//! PostgreSQL's `nodeWindowAgg.c`.

use super::context::{ExecContext, Flow, Sink};
use super::rows::RowStore;
use super::run::run;
use super::sort;
use crate::bound::{FrameExclude, FrameUnit};
use crate::functions::{Accumulator, EvalContext, Partition};
use crate::plan::node::{FrameEdge, RangeStep, WindowExpr, WindowFunction, WindowNode};
use catalog::{Arena, Datum, Result, SqlError, SqlState};
use std::ops::{ControlFlow, Range};

/// Runs window functions.
pub fn run_window(node: &WindowNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let mut rows: Option<RowStore> = None;
    let mut consumer = ControlFlow::Continue(());
    let _ = run(&node.input, cx, &mut |_, row| {
        let store = rows.get_or_insert_with(|| RowStore::new(row.len()));
        let fresh = !store.is_empty()
            && node.partition.iter().any(|c| {
                let (a, b) = (store.value(0, c.slot), row.get(c.slot).copied().unwrap_or_default());
                sort::compare(c, a, b).is_ne()
            });
        if fresh {
            consumer = partition(node, store, cx, out)?;
            store.clear();
            if consumer.is_break() {
                return Ok(consumer);
            }
        }
        store.push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    match rows {
        Some(rows) if consumer.is_continue() && !rows.is_empty() => partition(node, &rows, cx, out),
        _ => Ok(consumer),
    }
}

/// The peer groups of a partition: where each begins, and each row's group.
struct Peers {
    starts: Vec<usize>,
    group_of: Vec<usize>,
}

impl Peers {
    fn new(node: &WindowNode, rows: &RowStore) -> Peers {
        let mut starts = Vec::new();
        let mut group_of = Vec::with_capacity(rows.len());
        for i in 0..rows.len() {
            let same = i > 0
                && node
                    .order
                    .iter()
                    .all(|c| sort::compare(c, rows.value(i - 1, c.slot), rows.value(i, c.slot)).is_eq());
            if !same {
                starts.push(i);
            }
            group_of.push(starts.len() - 1);
        }
        Peers { starts, group_of }
    }

    fn group(&self, row: usize) -> usize {
        self.group_of.get(row).copied().unwrap_or(0)
    }

    fn start(&self, group: usize) -> usize {
        self.starts.get(group).copied().unwrap_or(self.group_of.len())
    }

    fn end(&self, group: usize) -> usize {
        self.starts.get(group + 1).copied().unwrap_or(self.group_of.len())
    }
}

/// Answers one partition.
fn partition(node: &WindowNode, rows: &RowStore, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let peers = Peers::new(node, rows);
    let mut results = RowStore::new(node.calls.len());
    {
        let mut columns = Vec::with_capacity(node.calls.len());
        for call in &node.calls {
            columns.push(answer(node, call, rows, &peers, cx)?);
        }
        let mut row = Vec::with_capacity(columns.len());
        for i in 0..rows.len() {
            row.clear();
            row.extend(columns.iter().map(|c| c.value(i, 0)));
            results.push(&row);
        }
    }
    let width = rows.width();
    let mut arena = Arena::new();
    for i in 0..rows.len() {
        cx.statement.tick()?;
        let row = arena.slice_with(width + results.width(), |c| {
            if c < width { rows.value(i, c) } else { results.value(i, c - width) }
        });
        if out(&cx.with_arena(&arena), row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}

/// One call's values, a row each.
fn answer(
    node: &WindowNode,
    call: &WindowExpr,
    rows: &RowStore,
    peers: &Peers,
    cx: &ExecContext<'_>,
) -> Result<RowStore> {
    // Arguments once per row.
    let mut args = RowStore::new(call.args.len());
    let mut passes = Vec::new();
    let mut arena = Arena::new();
    for i in 0..rows.len() {
        {
            let inner = cx.with_arena(&arena);
            let row = inner.eval.arena.slice_with(rows.width(), |c| rows.value(i, c));
            args.push(super::expr::eval_list(&call.args, &inner, row)?);
            if let Some(filter) = &call.filter {
                passes.push(filter.is_true(&inner, row)?);
            }
        }
        arena.reset();
    }
    let offsets = (
        offset(&call.frame.start, call.frame.unit, true, cx)?,
        offset(&call.frame.end, call.frame.unit, false, cx)?,
    );
    let view = View { node, call, rows, args: &args, peers, current: 0, offsets: &offsets, cx };
    let mut results = RowStore::new(1);
    match call.function {
        WindowFunction::Window(function) => {
            for i in 0..rows.len() {
                cx.statement.tick()?;
                {
                    let inner = cx.with_arena(&arena);
                    let here = View { current: i, ..view };
                    let value = function(&inner.eval, &call.types, &here)?;
                    results.push(&[value]);
                }
                arena.reset();
            }
        }
        WindowFunction::Aggregate(function) => {
            let strict = function.strict;
            let fresh = || (function.start)(&call.types, &[]);
            let takes = |i: usize| {
                passes.get(i).copied().unwrap_or(true)
                    && !(strict && (0..args.width()).any(|c| args.value(i, c).is_null()))
            };
            let add = |state: &mut dyn Accumulator, i: usize, eval: &EvalContext<'_>| -> Result<()> {
                if !takes(i) {
                    return Ok(());
                }
                let mut row = Vec::with_capacity(args.width());
                args.read(i, &mut row);
                state.add(eval, &row)
            };
            let mut state = fresh()?;
            let mut fed: Range<usize> = 0..0;
            let simple = call.frame.exclude == FrameExclude::NoOthers;
            for i in 0..rows.len() {
                cx.statement.tick()?;
                {
                    let inner = cx.with_arena(&arena);
                    let here = View { current: i, ..view };
                    if simple {
                        let frame = here.bounds(&inner)?;
                        let mut again =
                            frame.start < fed.start || frame.end < fed.end || frame.start > fed.end;
                        // Rows that left the frame are taken out, if the aggregate can.
                        while !again && fed.start < frame.start {
                            if takes(fed.start) {
                                let mut row = Vec::with_capacity(args.width());
                                args.read(fed.start, &mut row);
                                again = !state.remove(&inner.eval, &row)?;
                            }
                            if !again {
                                fed.start += 1;
                            }
                        }
                        if again {
                            state = fresh()?;
                            fed = frame.start..frame.start;
                        }
                        while fed.end < frame.end {
                            add(state.as_mut(), fed.end, &inner.eval)?;
                            fed.end += 1;
                        }
                    } else {
                        state = fresh()?;
                        for row in here.rows_of(&inner)? {
                            add(state.as_mut(), row, &inner.eval)?;
                        }
                    }
                    results.push(&[state.finish(&inner.eval)?]);
                }
                arena.reset();
            }
        }
    }
    Ok(results)
}

/// The value of a frame offset: checked as `update_frameheadpos` and its kin do.
fn offset(
    edge: &FrameEdge,
    unit: FrameUnit,
    start: bool,
    cx: &ExecContext<'_>,
) -> Result<Option<catalog::Value>> {
    let (FrameEdge::Preceding(e, _) | FrameEdge::Following(e, _)) = edge else { return Ok(None) };
    let value = e.eval(cx, &[])?;
    let side = if start { "starting" } else { "ending" };
    if value.is_null() {
        return Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            format!("frame {side} offset must not be null"),
        ));
    }
    if unit != FrameUnit::Range && value.as_int() < 0 {
        return Err(SqlError::new(
            SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
            format!("frame {side} offset must not be negative"),
        ));
    }
    Ok(Some(value.to_value()))
}

type Offsets = (Option<catalog::Value>, Option<catalog::Value>);

/// The partition as one row sees it.
#[derive(Clone, Copy)]
struct View<'v> {
    node: &'v WindowNode,
    call: &'v WindowExpr,
    rows: &'v RowStore,
    args: &'v RowStore,
    peers: &'v Peers,
    current: usize,
    offsets: &'v Offsets,
    cx: &'v ExecContext<'v>,
}

impl View<'_> {
    /// The frame before exclusion.
    fn bounds(&self, cx: &ExecContext<'_>) -> Result<Range<usize>> {
        let len = self.rows.len();
        let start = self.edge(&self.call.frame.start, self.offsets.0.as_ref(), true, cx)?.min(len);
        let end = self.edge(&self.call.frame.end, self.offsets.1.as_ref(), false, cx)?.min(len);
        Ok(start..end.max(start))
    }

    fn edge(
        &self,
        edge: &FrameEdge,
        offset: Option<&catalog::Value>,
        start: bool,
        cx: &ExecContext<'_>,
    ) -> Result<usize> {
        let len = self.rows.len();
        let i = self.current;
        let count = || match offset {
            Some(catalog::Value::Int(n)) => usize::try_from(*n).unwrap_or(usize::MAX),
            _ => 0,
        };
        let one_past = usize::from(!start);
        let group = self.peers.group(i);
        let groups = self.peers.starts.len();
        let of_group = |g: usize| if start { self.peers.start(g) } else { self.peers.end(g) };
        Ok(match (self.call.frame.unit, edge) {
            (_, FrameEdge::Unbounded) => {
                if start {
                    0
                } else {
                    len
                }
            }
            (FrameUnit::Rows, FrameEdge::CurrentRow) => i + one_past,
            (FrameUnit::Rows, FrameEdge::Preceding(..)) => match i.checked_sub(count()) {
                Some(at) => at + one_past,
                None => 0,
            },
            (FrameUnit::Rows, FrameEdge::Following(..)) => i.saturating_add(count()).saturating_add(one_past),
            (FrameUnit::Groups | FrameUnit::Range, FrameEdge::CurrentRow) => of_group(group),
            (FrameUnit::Groups, FrameEdge::Preceding(..)) => match group.checked_sub(count()) {
                Some(g) => of_group(g),
                None => 0,
            },
            (FrameUnit::Groups, FrameEdge::Following(..)) => match group.saturating_add(count()) {
                g if g < groups => of_group(g),
                _ => len,
            },
            (FrameUnit::Range, FrameEdge::Preceding(_, step)) => {
                self.range(step.as_ref(), offset, true, start, cx)?
            }
            (FrameUnit::Range, FrameEdge::Following(_, step)) => {
                self.range(step.as_ref(), offset, false, start, cx)?
            }
        })
    }

    /// RANGE with an offset: the first row (or one past the last) whose order value is within reach.
    fn range(
        &self,
        step: Option<&RangeStep>,
        offset: Option<&catalog::Value>,
        preceding: bool,
        start: bool,
        cx: &ExecContext<'_>,
    ) -> Result<usize> {
        let (Some(step), Some(offset), Some(column)) = (step, offset, self.node.order.first()) else {
            return Err(SqlError::internal("a RANGE frame without an order"));
        };
        let group = self.peers.group(self.current);
        let value = self.rows.value(self.current, column.slot);
        if value.is_null() {
            // NULLs are peers of each other only.
            return Ok(if start { self.peers.start(group) } else { self.peers.end(group) });
        }
        let arena = Arena::new();
        let eval = EvalContext { arena: &arena, style: cx.eval.style, env: cx.eval.env };
        let args = [value, offset.datum()];
        let sum = (step.add)(&eval, &step.types, &args);
        if sum.as_ref().is_ok_and(|sum| (step.result.compare)(*sum, value).is_lt()) {
            return Err(SqlError::new(
                SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
                "invalid preceding or following size in window function",
            ));
        }
        let upwards = preceding == column.desc;
        let bound = if upwards { sum } else { (step.subtract)(&eval, &step.types, &args) };
        // Beyond the type's range lies everything.
        let Ok(bound) = bound else {
            let all = preceding == start;
            let nulls = |i: usize| self.rows.value(i, column.slot).is_null();
            let first = (0..self.rows.len()).find(|i| !nulls(*i)).unwrap_or(0);
            let last = (0..self.rows.len()).rfind(|i| !nulls(*i)).map_or(0, |i| i + 1);
            return Ok(if all == start { first } else { last });
        };
        let within = |i: usize| {
            let other = self.rows.value(i, column.slot);
            let order = (step.result.compare)(other, bound);
            let order = if column.desc { order.reverse() } else { order };
            if start { order.is_ge() } else { order.is_le() }
        };
        let valued = |i: &usize| !self.rows.value(*i, column.slot).is_null();
        let len = self.rows.len();
        Ok(if start {
            (0..len)
                .filter(valued)
                .find(|i| within(*i))
                .unwrap_or_else(|| (0..len).rfind(valued).map_or(len, |i| i + 1))
        } else {
            (0..len)
                .filter(valued)
                .rfind(|i| within(*i))
                .map_or_else(|| (0..len).find(valued).unwrap_or(0), |i| i + 1)
        })
    }

    /// The frame's rows after exclusion.
    fn rows_of(&self, cx: &ExecContext<'_>) -> Result<Vec<usize>> {
        let frame = self.bounds(cx)?;
        let group = self.peers.group(self.current);
        let peers = self.peers.start(group)..self.peers.end(group);
        let keep = |i: &usize| match self.call.frame.exclude {
            FrameExclude::NoOthers => true,
            FrameExclude::CurrentRow => *i != self.current,
            FrameExclude::Group => !peers.contains(i),
            FrameExclude::Ties => *i == self.current || !peers.contains(i),
        };
        Ok(frame.filter(keep).collect())
    }
}

impl Partition for View<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn current(&self) -> usize {
        self.current
    }

    fn argument<'a>(&self, cx: &EvalContext<'a>, row: usize, arg: usize) -> Result<Datum<'a>> {
        Ok(self.args.value(row, arg).copy_in(cx.arena))
    }

    fn peers(&self) -> (usize, usize) {
        let group = self.peers.group(self.current);
        (self.peers.start(group), self.peers.end(group))
    }

    fn group(&self) -> usize {
        self.peers.group(self.current) + 1
    }

    fn frame(&self) -> Result<Vec<usize>> {
        self.rows_of(self.cx)
    }
}
