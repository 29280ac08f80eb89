//! Where rows live: snapshots, locks, group commit, write-ahead log, checkpoints, recovery.
//!
//! Keys and values are bytes; relations are numbers. What they mean is told elsewhere.
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
    AdvisoryKey, DeadlockEdge, LockContext, LockInfo, LockMode, LockOutcome, LockScope, LockTarget,
    TableLockMode, Wait,
};
pub use options::StoreOptions;
pub use scan::{Direction, KeyValue, Scan};
pub use sequence::{SequenceBatch, SequenceSpec, SequenceState};
pub use statistics::RelationStatistics;
pub use store::{CommittedWrite, PublishHook, Store};
pub use transaction::{Current, Transaction};
pub use view::{Attachment, ReadView, prefix_end};
