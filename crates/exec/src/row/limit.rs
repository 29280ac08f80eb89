//! LIMIT, OFFSET, WITH TIES. Compare PostgreSQL's `nodeLimit.c`.

use super::context::{ExecContext, Flow, Sink};
use super::expr::PhysicalExpr;
use super::rows::RowStore;
use super::run::run;
use crate::plan::node::{PlanNode, SortColumn};
use catalog::{Datum, Result, SqlError, SqlState};
use std::ops::ControlFlow;

/// The number that LIMIT's expression gives; `None` for no limit.
pub fn limit_count(e: Option<&PhysicalExpr>, cx: &ExecContext<'_>) -> Result<Option<u64>> {
    let Some(e) = e else { return Ok(None) };
    match e.eval(cx, &[])? {
        Datum::Int(v) => u64::try_from(v).map(Some).map_err(|_| {
            SqlError::new(SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, "LIMIT must not be negative")
        }),
        _ => Ok(None),
    }
}

/// The number that OFFSET's expression gives.
pub fn offset_count(e: Option<&PhysicalExpr>, cx: &ExecContext<'_>) -> Result<u64> {
    let Some(e) = e else { return Ok(0) };
    match e.eval(cx, &[])? {
        Datum::Int(v) => u64::try_from(v).map_err(|_| {
            SqlError::new(SqlState::INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE, "OFFSET must not be negative")
        }),
        _ => Ok(0),
    }
}

/// Runs LIMIT and OFFSET over an input.
pub fn run_limited(
    input: &PlanNode,
    limit: Option<u64>,
    offset: u64,
    ties: Option<&[SortColumn]>,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    // LIMIT 0 does not run its input.
    if limit == Some(0) {
        return Ok(ControlFlow::Continue(()));
    }
    let mut skip = offset;
    let mut left = limit;
    let mut consumer = ControlFlow::Continue(());
    let mut last = RowStore::new(ties.map_or(0, |t| t.iter().map(|k| k.slot + 1).max().unwrap_or(0)));
    let _ = run(input, cx, &mut |icx, row| {
        if skip > 0 {
            skip -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        if left == Some(0) {
            // WITH TIES: rows that sort like the last one still belong.
            let Some(keys) = ties else { return Ok(ControlFlow::Break(())) };
            let peer = keys.iter().all(|k| {
                let (a, b) = (last.value(0, k.slot), row.get(k.slot).copied().unwrap_or(Datum::Null));
                match (a.is_null(), b.is_null()) {
                    (true, true) => true,
                    (false, false) => (k.typ.compare)(a, b).is_eq(),
                    _ => false,
                }
            });
            if !peer {
                return Ok(ControlFlow::Break(()));
            }
            consumer = out(icx, row)?;
            return Ok(consumer);
        }
        if let Some(n) = &mut left {
            *n -= 1;
            if *n == 0 && ties.is_some() {
                last.push(row);
            }
        }
        consumer = out(icx, row)?;
        if consumer.is_break() || (left == Some(0) && ties.is_none()) {
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(consumer)
}

/// Runs LIMIT and OFFSET, evaluating both first.
pub fn run_with(
    input: &PlanNode,
    limit: Option<&PhysicalExpr>,
    offset: Option<&PhysicalExpr>,
    ties: Option<&[SortColumn]>,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let offset = offset_count(offset, cx)?;
    let limit = limit_count(limit, cx)?;
    run_limited(input, limit, offset, ties, cx, out)
}
