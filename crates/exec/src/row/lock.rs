//! FOR UPDATE and its weaker kin: rows are locked through the session's transaction and, where they changed, looked at again.

use crate::bound::{LockStrength, LockWait};
use catalog::Result;
use catalog::object::Table;

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
