//! Where rows live: snapshots, locks, group commit, write-ahead log, checkpoints, recovery.
//!
//! Keys and values are bytes; relations are numbers. What they mean is told elsewhere. A store is one directory:
//!
//! | file          | content                                                                                  |
//! |---------------|------------------------------------------------------------------------------------------|
//! | `lock`        | held by the one process that has the store open                                          |
//! | `wal/*.wal`   | the write-ahead log; bytes tabled in `log/mod.rs` and `log/record.rs`                    |
//! | `base/*.mdb`  | the base, an LMDB database; bytes tabled in `base.rs` and `checkpoint.rs`                |
//!
//! # The way of a row
//!
//! ```text
//! statement buffer --end_statement--> write set --commit--> log, synced --> delta --checkpoint--> base
//!  (run.rs)                          (write_set.rs)        (commit.rs)     (delta.rs)            (base.rs)
//! ```
//!
//! A read goes the other way and stops where it finds something: the transaction's own writes, the delta, the base. Between
//! checkpoints a relation that nobody writes has no delta, and reading it is reading LMDB's memory map.
//!
//! # Isolation
//!
//! A view is everything committed up to one timestamp; READ COMMITTED takes a new one for each statement, REPEATABLE READ one
//! for the transaction. Readers wait for nobody and nobody waits for them. Writers exclude each other by locks on keys: whoever
//! changes a row locks it, then asks [`Transaction::current`] what has become of it since the view was taken. Locks are freed
//! after the commit is published, so who gets the lock next finds the new version. SERIALIZABLE also tracks what is read, and
//! refuses commits that no serial order explains (`serial.rs`).
//!
//! # Durability
//!
//! [`Transaction::commit`] with [`Durability::Synced`] returns once the log is on the device; nothing that others can see can be
//! lost. With [`Durability::Relaxed`] a crash of the machine may lose the last commits, always the newest ones and whole. A
//! crash of the process loses neither.
//!
//! After a crash, opening replays the log's records beyond the last checkpoint. A torn tail, that is, records of which no
//! commit was acknowledged, is dropped. Damage to what was durable once is refused with [`StoreError::Corrupt`], never skipped,
//! except for the very last record, which cannot be told from a torn one.
//!
//! # Fail-stop
//!
//! When a write or sync of the log fails, the state of the device is unknown: the commits of that group fail, and every later
//! one with [`StoreError::Poisoned`] until the store is opened anew; reading goes on. A disk found full before anything of a
//! commit was written fails that commit alone, as [`StoreError::DiskFull`]. A failed checkpoint loses nothing and is retried;
//! commits are refused once the delta has grown to several times its bound meanwhile.
//!
//! # Example
//!
//! ```
//! use storage::{Durability, Isolation, RelationId, Store, StoreOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let store = Store::open(directory.path(), StoreOptions::default())?;
//! let accounts = RelationId::FIRST_USER;
//!
//! let mut transaction = store.begin(Isolation::ReadCommitted);
//! transaction.begin_statement();
//! transaction.insert(accounts, b"alice", b"100")?;
//! transaction.end_statement();
//! transaction.commit(Durability::Synced)?;
//!
//! let view = store.view();
//! assert_eq!(view.get(accounts, b"alice", |value| value.to_vec())?, Some(b"100".to_vec()));
//! # Ok(())
//! # }
//! ```

mod activity;
mod background;
mod base;
mod checkpoint;
mod commit;
mod core;
mod delta;
mod disk;
mod error;
mod ids;
mod interrupt;
mod locks;
mod log;
mod options;
mod recover;
mod run;
mod scan;
mod sequence;
mod serial;
mod statistics;
mod store;
mod transaction;
mod view;
mod write_set;

pub use activity::Activity;
pub use disk::{Disk, DiskFile, FileDisk};
pub use error::{KEY_BYTES_MAX, SequenceExhausted, StoreError, VALUE_BYTES_MAX};
pub use ids::{CommitTimestamp, Durability, Isolation, RelationId, SavepointId, SequenceId};
pub use interrupt::{Interrupt, InterruptReason};
pub use locks::{
    AdvisoryKey, DeadlockEdge, LockContext, LockInfo, LockMode, LockOutcome, LockTarget, TableLockMode, Wait,
};
pub use options::StoreOptions;
pub use scan::{Direction, KeyValue, Scan};
pub use sequence::{SequenceBatch, SequenceSpec, SequenceState};
pub use statistics::RelationStatistics;
pub use store::{CommittedWrite, PublishHook, Store};
pub use transaction::{Current, Transaction};
pub use view::{Attachment, ReadView, prefix_end};
