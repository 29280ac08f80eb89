//! What can go wrong in the store. Errors keep their source; `exec` turns them into SQLSTATEs at one place.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::interrupt::InterruptReason;
use crate::locks::DeadlockEdge;

/// The longest key that a relation takes, in bytes. It follows from LMDB's limit for 4 KiB pages less the relation's id;
/// PostgreSQL's own B-tree limit lies near (2,704 bytes), and both answer with 54000.
pub const KEY_BYTES_MAX: usize = 1_978;

/// The longest value that a relation takes, in bytes: PostgreSQL's limit for one field, 1 GiB.
pub const VALUE_BYTES_MAX: usize = 1 << 30;

/// Everything that a call into the store can fail with. Cloneable, because one failed sync fails every commit of its group.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// A read, write or sync of the operating system failed (58030).
    #[error("could not {action}: {source}")]
    Io {
        /// What was tried, as the end of "could not ...".
        action: String,
        /// The operating system's answer.
        #[source]
        source: Arc<io::Error>,
    },
    /// No room for the write-ahead log; nothing was written, so only this transaction fails (53100).
    #[error("could not extend the write-ahead log: no space left on device")]
    DiskFull,
    /// An earlier I/O error on the commit path stopped all writing until the store is reopened (58030).
    #[error("the store takes no more writes until it is restarted, because an earlier write failed: {cause}")]
    Poisoned {
        /// The failure that stopped the store.
        cause: Arc<StoreError>,
    },
    /// A transaction waited for a lock in a circle, and was chosen to give way (40P01).
    #[error("deadlock detected")]
    Deadlock {
        /// The circle, beginning with the transaction that failed.
        cycle: Vec<DeadlockEdge>,
    },
    /// A row changed after this transaction's snapshot was taken (40001).
    #[error("could not serialize access due to concurrent update")]
    SerializationFailure,
    /// Committing this SERIALIZABLE transaction could have closed a circle of dependencies (40001).
    #[error("could not serialize access due to read/write dependencies among transactions")]
    ReadWriteDependency,
    /// A lock was not free and the caller did not want to wait (55P03).
    #[error("could not obtain lock")]
    LockNotAvailable,
    /// `lock_timeout` ran out (55P03).
    #[error("canceling statement due to lock timeout")]
    LockTimeout,
    /// Somebody asked the session to stop (57014, 57P01 and so on, by the reason).
    #[error("interrupted: {0:?}")]
    Interrupted(InterruptReason),
    /// A key is longer than [`KEY_BYTES_MAX`] (54000).
    #[error("key of {length} bytes exceeds the maximum of {KEY_BYTES_MAX}")]
    KeyTooLong {
        /// The key's length in bytes.
        length: usize,
    },
    /// A value is longer than [`VALUE_BYTES_MAX`] (54000).
    #[error("value of {length} bytes exceeds the maximum of {VALUE_BYTES_MAX}")]
    ValueTooLong {
        /// The value's length in bytes.
        length: usize,
    },
    /// A sequence has no further value (2200H).
    #[error(transparent)]
    SequenceExhausted(#[from] SequenceExhausted),
    /// No such savepoint in this transaction.
    #[error("savepoint is not established")]
    UnknownSavepoint,
    /// Stored bytes are not what they should be (XX001).
    #[error("{file}: {detail}")]
    Corrupt {
        /// The file, or the structure within the base.
        file: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process holds the data directory.
    #[error("data directory {path:?} is in use by another process")]
    DirectoryInUse {
        /// The directory.
        path: PathBuf,
    },
    /// The base (LMDB) failed (58030, or 53100 when it is full).
    #[error("could not {action} the base: {detail}")]
    Base {
        /// What was tried.
        action: &'static str,
        /// LMDB's message.
        detail: String,
        /// Whether the cause is a full disk or a full map.
        full: bool,
    },
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// An [`StoreError::Io`] for `action`, the end of the sentence "could not ...".
    pub(crate) fn io(action: impl Into<String>, source: io::Error) -> StoreError {
        StoreError::Io { action: action.into(), source: Arc::new(source) }
    }

    /// A [`StoreError::Corrupt`].
    pub(crate) fn corrupt(file: impl Into<String>, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { file: file.into(), detail: detail.into() }
    }
}

/// `nextval` passed the end of a sequence that does not cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SequenceExhausted {
    /// An ascending sequence reached this maximum.
    #[error("reached maximum value of sequence ({0})")]
    Maximum(i64),
    /// A descending sequence reached this minimum.
    #[error("reached minimum value of sequence ({0})")]
    Minimum(i64),
}
