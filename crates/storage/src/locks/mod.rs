//! Locks in memory: rows and keys, relations, advisory locks. PostgreSQL's modes and conflicts, fair queues, deadlock
//! detection. Nothing here survives a restart, and nothing needs to.

mod context;
mod deadlock;
mod modes;
mod table;

pub use context::LockContext;
pub use deadlock::DeadlockEdge;
pub use modes::{AdvisoryKey, LockMode, TableLockMode};
pub use table::{LockInfo, LockTarget};

pub(crate) use context::HeldLocks;
pub(crate) use modes::LockTag;
pub(crate) use table::LockManager;

/// What to do when a lock is not free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Wait, within `lock_timeout` and until interrupted.
    #[default]
    Block,
    /// Fail with [`crate::StoreError::LockNotAvailable`] (NOWAIT).
    NoWait,
    /// Answer [`LockOutcome::Skipped`] (SKIP LOCKED).
    Skip,
}

/// How a request for a lock ended, if it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOutcome {
    /// The lock is held now. When it was waited for, others may have committed changes meanwhile.
    Acquired {
        /// Whether the request had to wait.
        waited: bool,
    },
    /// Somebody else holds it, and the request said [`Wait::Skip`].
    Skipped,
}
