//! DISTINCT, INTERSECT, EXCEPT: by hashed rows.

use super::context::{ExecContext, Flow, Sink};
use super::rows::RowStore;
use super::run::{push_rows, run};
use crate::plan::node::{HashColumn, PlanNode};
use catalog::{Datum, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

fn encode(columns: &[HashColumn], row: &[Datum<'_>], key: &mut Vec<u8>) {
    key.clear();
    for c in columns {
        c.class.encode(row.get(c.slot).copied().unwrap_or_default(), key);
    }
}

/// The first row of each set of equal ones.
pub fn distinct(
    input: &PlanNode,
    columns: &[HashColumn],
    sorted: bool,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let mut key = Vec::with_capacity(32);
    if sorted {
        let mut last: Option<Vec<u8>> = None;
        return run(input, cx, &mut |icx, row| {
            encode(columns, row, &mut key);
            if last.as_ref() == Some(&key) {
                return Ok(ControlFlow::Continue(()));
            }
            match &mut last {
                Some(last) => last.clone_from(&key),
                None => last = Some(key.clone()),
            }
            out(icx, row)
        });
    }
    let mut seen: FxHashSet<Box<[u8]>> = FxHashSet::default();
    run(input, cx, &mut |icx, row| {
        encode(columns, row, &mut key);
        if seen.contains(key.as_slice()) {
            return Ok(ControlFlow::Continue(()));
        }
        seen.insert(key.as_slice().into());
        out(icx, row)
    })
}

/// INTERSECT and EXCEPT, with or without ALL. Compare `nodeSetOp.c`: per distinct row the counts of both sides decide.
pub fn operation(
    left: &PlanNode,
    right: &PlanNode,
    except: bool,
    all: bool,
    columns: &[HashColumn],
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let mut rows = RowStore::new(columns.len());
    let mut counts: Vec<(u64, u64)> = Vec::new();
    let mut places: FxHashMap<Box<[u8]>, usize> = FxHashMap::default();
    let mut key = Vec::with_capacity(32);
    let _ = run(left, cx, &mut |_, row| {
        encode(columns, row, &mut key);
        let place = match places.get(key.as_slice()) {
            Some(place) => *place,
            None => {
                places.insert(key.as_slice().into(), counts.len());
                counts.push((0, 0));
                rows.push(row)
            }
        };
        if let Some(count) = counts.get_mut(place) {
            count.0 += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let _ = run(right, cx, &mut |_, row| {
        encode(columns, row, &mut key);
        if let Some(count) = places.get(key.as_slice()).and_then(|place| counts.get_mut(*place)) {
            count.1 += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut result = RowStore::new(columns.len());
    let mut row = Vec::with_capacity(columns.len());
    for (i, (l, r)) in counts.iter().enumerate() {
        let times = match (except, all) {
            (true, true) => l.saturating_sub(*r),
            (true, false) => u64::from(*r == 0),
            (false, true) => *l.min(r),
            (false, false) => u64::from(*r > 0),
        };
        for _ in 0..times {
            row.clear();
            rows.read(i, &mut row);
            result.push(&row);
        }
    }
    push_rows(&result, cx, out)
}
