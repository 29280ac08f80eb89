//! INSERT, UPDATE, DELETE: plans over the row path that write through a [`TableWriter`].
//!
//! What a statement writes goes to the transaction's statement buffer, which its own scans do not see; so rows may be written while the
//! scan that finds them goes on, and an error leaves nothing behind.

mod delete;
mod insert;
mod lock;
mod plan;
mod update;
mod violation;
mod writer;

pub use delete::DeletePlan;
pub use insert::InsertPlan;
pub use lock::TransactionLocker;
pub use plan::{Dmls, plan_dml};
pub use update::UpdatePlan;
pub use writer::{Arbiters, Scratch, TableWriter};

use crate::row::context::{ExecContext, Flow, Sink};
use crate::row::expr::PhysicalExpr;
use crate::state::SessionState;
use catalog::{Datum, Result, SqlError};
use std::cell::Cell;
use std::sync::Arc;
use storage::Transaction;

/// What a running DML plan needs of its session; travels in `StatementContext::dml`.
pub struct DmlRuntime {
    /// The session's state, with its transaction.
    pub state: Arc<SessionState>,
    /// Rows that the statement itself (not DML in its WITH) has written.
    pub rows: Cell<u64>,
}

impl DmlRuntime {
    /// The runtime in a context.
    pub fn of<'a>(cx: &ExecContext<'a>) -> Result<&'a DmlRuntime> {
        let any = cx.statement.dml.ok_or_else(|| SqlError::internal("DML has no transaction"))?;
        any.downcast_ref().ok_or_else(|| SqlError::internal("DML has another runtime"))
    }

    /// Does something with the transaction.
    pub fn transaction<R>(&self, f: impl FnOnce(&mut Transaction) -> Result<R>) -> Result<R> {
        self.state.transaction(f)?
    }
}

/// Pushes a RETURNING row. The consumer's Break must not stop the writing, so it is remembered.
fn push_returning<'x>(
    cx: &ExecContext<'x>,
    exprs: &[PhysicalExpr],
    row: &[Datum<'x>],
    done: &mut bool,
    out: &mut Sink<'_>,
) -> Result<()> {
    if *done {
        return Ok(());
    }
    let mut values = Vec::with_capacity(exprs.len());
    for expr in exprs {
        values.push(expr.eval(cx, row)?);
    }
    if out(cx, &values)? == Flow::Break(()) {
        *done = true;
    }
    Ok(())
}
