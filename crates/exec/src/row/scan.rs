//! Scans: rows by key range, by index, or all; decoded into the arena, filtered, pushed.

use super::access::{corrupt, store_error};
use super::context::{ExecContext, Flow, Sink};
use super::fixed_tests::FixedTests;
use super::follow::Follower;
use super::range::{self, Piece};
use crate::plan::node::{AccessPath, Covering, KeyRange, ScanNode};
use crate::row::index_entry::IndexLayout;
use catalog::{Arena, Datum, Result};
use std::ops::{Bound, ControlFlow};
use storage::{Direction, RelationId};

/// Runs a scan.
pub fn run(scan: &ScanNode, id: usize, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let view = cx.statement.view;
    let relation = RelationId(scan.table.relation);
    let mut arena = Arena::new();
    let tests = scan.filter.as_ref().and_then(|filter| FixedTests::of(filter, cx));
    let source = Source { scan, id, tests };
    match &scan.path {
        AccessPath::Full(direction) => {
            walk(&source, relation, (Bound::Unbounded, Bound::Unbounded), *direction, cx, &mut arena, out)
        }
        AccessPath::Key { range, .. } => range::for_each(range, cx, &mut |piece| match piece {
            Piece::Point(key) if scan.ascending => {
                // Taken out while it is used: what consumes the row may come to this scan again.
                let kept = cx.statement.followers.borrow_mut().remove(&id);
                let mut follower = match kept {
                    Some(follower) => follower,
                    None => Follower::new(view, relation, key)?,
                };
                let flow = match follower.find(view, relation, key)? {
                    Some(row) => source.emit(key, row, cx, &arena, out)?,
                    None => ControlFlow::Continue(()),
                };
                arena.reset();
                cx.statement.followers.borrow_mut().insert(id, follower);
                Ok(flow)
            }
            Piece::Point(key) => {
                let found = view.get(relation, key, |row| source.emit(key, row, cx, &arena, out));
                let flow = found.map_err(store_error)?.unwrap_or(Ok(ControlFlow::Continue(())));
                arena.reset();
                flow
            }
            Piece::Span(start, end) => {
                walk(&source, relation, (start, end), range.direction, cx, &mut arena, out)
            }
        }),
        AccessPath::Index { index, layout, range, covering } => {
            let entries = RelationId(index.relation);
            let read = IndexRead { source: &source, relation, layout, covering: covering.as_ref() };
            range::for_each(range, cx, &mut |piece| match piece {
                Piece::Point(key) => {
                    let found = view.get(entries, key, |value| read.entry(key, value, cx, &arena, out));
                    let flow = found.map_err(store_error)?.unwrap_or(Ok(ControlFlow::Continue(())));
                    arena.reset();
                    flow
                }
                Piece::Span(start, end) => {
                    let mut entries = view.scan(entries, start, end, range.direction).map_err(store_error)?;
                    while let Some((key, value)) = entries.next().map_err(store_error)? {
                        if read.entry(key, value, cx, &arena, out)?.is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                        arena.reset();
                    }
                    Ok(ControlFlow::Continue(()))
                }
            })
        }
    }
}

fn walk(
    source: &Source<'_>,
    relation: RelationId,
    (start, end): (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
    cx: &ExecContext<'_>,
    arena: &mut Arena,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let mut rows = cx.statement.view.scan(relation, start, end, direction).map_err(store_error)?;
    while let Some((key, row)) = rows.next().map_err(store_error)? {
        if source.emit(key, row, cx, arena, out)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}

/// Values that a scan puts out.
pub fn width(scan: &ScanNode) -> usize {
    scan.columns + usize::from(scan.with_key) + usize::from(scan.with_row)
}

/// A scan that runs.
struct Source<'p> {
    scan: &'p ScanNode,
    id: usize,
    /// The filter, if it is of this kind.
    tests: Option<FixedTests<'p>>,
}

impl<'p> Source<'p> {
    /// Reads one stored row, filters it and pushes it. What the filter does not need is read when the row has passed.
    #[inline]
    fn emit(
        &self,
        key: &[u8],
        row: &[u8],
        cx: &ExecContext<'_>,
        arena: &Arena,
        out: &mut Sink<'_>,
    ) -> Result<Flow> {
        let scan = self.scan;
        cx.statement.tick()?;
        let slots = arena.slice_with(width(scan), |_| Datum::Null);
        let mut next = scan.columns;
        if scan.with_key {
            if let Some(slot) = slots.get_mut(next) {
                *slot = Datum::Bytes(key);
            }
            next += 1;
        }
        if scan.with_row
            && let Some(slot) = slots.get_mut(next)
        {
            *slot = Datum::Bytes(row);
        }
        let damaged = |_| corrupt(&scan.table.name);
        let position = scan.reader.read_first(row, slots).map_err(damaged)?;
        let inner = cx.with_arena(arena);
        if !self.passes(&inner, slots)? {
            return Ok(ControlFlow::Continue(()));
        }
        scan.reader.read_rest(row, position, slots).map_err(damaged)?;
        out(&inner, slots)
    }

    #[inline]
    fn passes<'x>(&'x self, cx: &ExecContext<'x>, slots: &[Datum<'x>]) -> Result<bool> {
        let passes = match (&self.tests, &self.scan.filter) {
            (Some(tests), _) => tests.hold(slots),
            (None, Some(filter)) => filter.is_true(cx, slots)?,
            (None, None) => true,
        };
        if !passes && let Some(instrumentation) = &cx.statement.instrumentation {
            instrumentation.removed(self.id);
        }
        Ok(passes)
    }
}

struct IndexRead<'p> {
    source: &'p Source<'p>,
    relation: RelationId,
    layout: &'p IndexLayout,
    covering: Option<&'p Covering>,
}

impl IndexRead<'_> {
    fn entry(
        &self,
        key: &[u8],
        value: &[u8],
        cx: &ExecContext<'_>,
        arena: &Arena,
        out: &mut Sink<'_>,
    ) -> Result<Flow> {
        let scan = self.source.scan;
        let damaged = || corrupt(&scan.table.name);
        let Some(covering) = self.covering else {
            let (row_key, _) = self.layout.decode(key, value).ok_or_else(damaged)?;
            let found = cx
                .statement
                .view
                .get(self.relation, row_key, |row| self.source.emit(row_key, row, cx, arena, out))
                .map_err(store_error)?;
            return found.unwrap_or_else(|| Err(damaged()));
        };
        cx.statement.tick()?;
        let slots = arena.slice_with(width(scan), |_| Datum::Null);
        let mut rest = key;
        for (column, slot) in self.layout.keys.iter().zip(&covering.keys) {
            let value = column.decode(&mut rest, arena).ok_or_else(damaged)?;
            if let Some(slot) = slot
                && let Some(place) = slots.get_mut(*slot)
            {
                *place = value;
            }
        }
        let includes = covering.include.iter().any(Option::is_some);
        if scan.with_key || includes || !covering.row_key.is_empty() {
            let (row_key, include) = self.layout.decode(key, value).ok_or_else(damaged)?;
            let mut rest = row_key;
            for (column, slot) in &covering.row_key {
                let value = column.decode(&mut rest, arena).ok_or_else(damaged)?;
                if let Some(place) = slot.and_then(|slot| slots.get_mut(slot)) {
                    *place = value;
                }
            }
            if scan.with_key
                && let Some(place) = slots.get_mut(scan.columns)
            {
                *place = Datum::Bytes(row_key);
            }
            if includes {
                let values = arena.slice_with(covering.include.len(), |_| Datum::Null);
                self.layout.include.decode(include, &[], values).map_err(|_| damaged())?;
                for (value, slot) in values.iter().zip(&covering.include) {
                    if let Some(slot) = slot
                        && let Some(place) = slots.get_mut(*slot)
                    {
                        *place = *value;
                    }
                }
            }
        }
        let inner = cx.with_arena(arena);
        if self.source.passes(&inner, slots)? { out(&inner, slots) } else { Ok(ControlFlow::Continue(())) }
    }
}

/// The range of a scan, for EXPLAIN.
pub fn key_range(scan: &ScanNode) -> Option<&KeyRange> {
    match &scan.path {
        AccessPath::Full(_) => None,
        AccessPath::Key { range, .. } | AccessPath::Index { range, .. } => Some(range),
    }
}
