//! Locking rows for UPDATE, DELETE and SELECT ... FOR: lock, then see what became of the row since the statement's snapshot.

use crate::bound::{LockStrength, LockWait};
use crate::row::lock::{Locked, RowLocker};
use crate::state::SessionState;
use crate::store_error::sql_error;
use catalog::object::Table;
use catalog::{Result, SqlError, SqlState};
use std::sync::Arc;
use storage::{Current, LockMode, LockOutcome, RelationId, Transaction, Wait};

/// Locks rows through the session's transaction.
pub struct TransactionLocker {
    /// The session's state.
    pub state: Arc<SessionState>,
}

impl RowLocker for TransactionLocker {
    fn lock_row(&self, table: &Table, key: &[u8], strength: LockStrength, wait: LockWait) -> Result<Locked> {
        self.state.transaction(|t| lock_row(t, table, key, mode(strength), wait))?
    }
}

/// Locks one row; see [`RowLocker::lock_row`].
pub(super) fn lock_row(
    transaction: &mut Transaction,
    table: &Table,
    key: &[u8],
    mode: LockMode,
    wait: LockWait,
) -> Result<Locked> {
    let relation = RelationId(table.relation);
    let how = match wait {
        LockWait::Block => Wait::Block,
        LockWait::NoWait => Wait::NoWait,
        LockWait::SkipLocked => Wait::Skip,
    };
    let outcome = transaction.lock(relation, key, mode, how).map_err(|error| match error {
        storage::StoreError::LockNotAvailable => SqlError::new(
            SqlState::LOCK_NOT_AVAILABLE,
            format!("could not obtain lock on row in relation \"{}\"", table.name),
        ),
        other => sql_error(other),
    })?;
    if outcome == LockOutcome::Skipped {
        return Ok(Locked::Skipped);
    }
    Ok(match transaction.current(relation, key).map_err(sql_error)? {
        Current::Same => Locked::Unchanged,
        Current::Changed(bytes) => Locked::Changed(bytes),
        Current::Deleted => Locked::Gone,
    })
}

fn mode(strength: LockStrength) -> LockMode {
    match strength {
        LockStrength::KeyShare => LockMode::KeyShare,
        LockStrength::Share => LockMode::Share,
        LockStrength::NoKeyUpdate => LockMode::NoKeyUpdate,
        LockStrength::Update => LockMode::Update,
    }
}
