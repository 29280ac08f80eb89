//! FOR UPDATE and its weaker kin: rows are locked through the session's transaction and, where they changed, looked at again.

use super::context::{ExecContext, Flow, Sink};
use super::expr::PhysicalExpr;
use crate::bound::{LockStrength, LockWait};
use crate::plan::node::{LockTarget, PlanNode};
use catalog::object::Table;
use catalog::{Datum, Result, SqlError};
use std::ops::ControlFlow;

/// What came of locking a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Locked {
    /// Locked, and the row is as the statement saw it.
    Unchanged,
    /// Locked after somebody else changed it: its newest bytes.
    Changed(Vec<u8>),
    /// Somebody deleted it (or changed its key).
    Gone,
    /// SKIP LOCKED, and somebody else holds it.
    Skipped,
}

/// Locks rows; the session implements it over its storage transaction.
pub trait RowLocker {
    /// Locks one row of a table. NOWAIT's refusal (55P03), deadlock (40P01) and, in REPEATABLE READ, a concurrent change (40001) are errors.
    fn lock_row(&self, table: &Table, key: &[u8], strength: LockStrength, wait: LockWait) -> Result<Locked>;
}

/// Runs the locking of rows.
pub fn run(
    input: &PlanNode,
    targets: &[LockTarget],
    recheck: Option<&PhysicalExpr>,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let Some(locker) = cx.statement.locker else {
        return Err(SqlError::internal("this statement cannot lock rows"));
    };
    super::run::run(input, cx, &mut |icx, row| {
        let arena = icx.eval.arena;
        let mut current: Option<&mut [Datum<'_>]> = None;
        for target in targets {
            let key = match row.get(target.key) {
                Some(Datum::Bytes(key)) => *key,
                // The nullable side of an outer join has no row here.
                _ => continue,
            };
            match locker.lock_row(&target.table, key, target.strength, target.wait)? {
                Locked::Unchanged => {}
                Locked::Gone | Locked::Skipped => return Ok(ControlFlow::Continue(())),
                Locked::Changed(bytes) => {
                    let bytes = arena.bytes(&bytes);
                    let values = match current.take() {
                        Some(values) => values,
                        None => arena.slice_with(row.len(), |i| row.get(i).copied().unwrap_or_default()),
                    };
                    let (first, count) = target.columns;
                    let columns = values.get_mut(first..first + count);
                    let columns =
                        columns.ok_or_else(|| SqlError::internal("a locked row without columns"))?;
                    target
                        .layout
                        .decode(bytes, &[], columns)
                        .map_err(|_| super::access::corrupt(&target.table.name))?;
                    current = Some(values);
                }
            }
        }
        match current {
            None => out(icx, row),
            Some(values) => {
                let passes = match recheck {
                    Some(condition) => condition.is_true(icx, values)?,
                    None => true,
                };
                if passes { out(icx, values) } else { Ok(ControlFlow::Continue(())) }
            }
        }
    })
}
