//! Opening a store: the base as the last checkpoint left it, then everything that the log has beyond it.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};

use crate::base::Base;
use crate::checkpoint::{self, CheckpointNote};
use crate::commit::add_to_layers;
use crate::core::{Core, Order};
use crate::delta::Delta;
use crate::error::StoreError;
use crate::ids::SequenceId;
use crate::locks::LockManager;
use crate::log::{self, Replayed};
use crate::options::StoreOptions;
use crate::sequence::Sequences;
use crate::statistics::Statistics;
use crate::view::{Layers, Published};

/// The first transaction number of a new store.
const FIRST_XID: u64 = 1_000;
/// Segments smaller than this would not hold a record worth its header.
const SEGMENT_BYTES_MIN: u64 = 16 << 10;

/// Opens `directory`, creating it if need be.
pub(crate) fn open(directory: &Path, mut options: StoreOptions) -> Result<Core, StoreError> {
    options.segment_bytes = options.segment_bytes.max(SEGMENT_BYTES_MIN).next_multiple_of(8);
    std::fs::create_dir_all(directory)
        .map_err(|error| StoreError::io(format!("create directory {directory:?}"), error))?;
    let lock_file = Arc::new(lock_directory(directory)?);
    let base = Base::open(&directory.join("base"), &options, lock_file)?;
    let fresh = CheckpointNote {
        store_id: RandomState::new().hash_one(directory),
        timestamp: 0,
        lsn: 0,
        next_xid: FIRST_XID,
    };
    let note = CheckpointNote::read_or_put(&base, fresh)?;
    let generation = base.generation()?;
    let (sequences, statistics) = (Sequences::default(), Statistics::default());
    checkpoint::restore_notes(&generation, &sequences, &statistics)?;

    let mut layers = Layers {
        active: Delta::default(),
        frozen: Delta::default(),
        runs: Arc::default(),
        base: Arc::clone(&generation),
    };
    let (mut timestamp, mut next_xid, mut bytes) = (note.timestamp, note.next_xid, 0);
    let mut drops = Vec::new();
    let mut apply = |replayed| {
        match replayed {
            Replayed::Sequences(records) => {
                records.into_iter().for_each(|record| sequences.restore(record));
            }
            Replayed::Commit { timestamp: next, xid, run } => {
                if next != timestamp + 1 {
                    let detail = format!("commit {next} follows commit {timestamp}");
                    return Err(StoreError::corrupt("write-ahead log", detail));
                }
                timestamp = next;
                next_xid = next_xid.max(xid + 1);
                statistics.add(&run);
                for relation in &run.drops {
                    sequences.remove(SequenceId(relation.0));
                    drops.push(*relation);
                }
                bytes += add_to_layers(&mut layers, &Arc::new(run), next);
            }
        }
        Ok(())
    };
    let log = log::recover(directory.join("wal"), &options, note.store_id, note.lsn, &mut apply)?;
    tracing::debug!(from = note.timestamp, to = timestamp, bytes, "write-ahead log replayed");

    let core = Core {
        options,
        store_id: note.store_id,
        base,
        published: ArcSwap::from_pointee(Published { timestamp, layers, attachment: Arc::new(()) }),
        order: Mutex::new(Order { log, poison: None, drops, checkpoint_lsn: note.lsn }),
        queue: Default::default(),
        hook: RwLock::new(None),
        locks: Arc::new(LockManager::new()),
        serial: Default::default(),
        sequences,
        statistics,
        row_numbers: RwLock::default(),
        next_xid: AtomicU64::new(next_xid),
        counters: Default::default(),
        signals: Default::default(),
        delta_bytes: AtomicUsize::new(bytes),
        closed: AtomicBool::new(false),
        hurry: AtomicUsize::new(0),
        generations: Mutex::new(vec![Arc::downgrade(&generation)]),
        checkpoint: Mutex::new(None),
    };
    if timestamp != note.timestamp {
        core.signals.committed(false);
    }
    Ok(core)
}

fn lock_directory(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join("lock");
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(|error| StoreError::io(format!("open {path:?}"), error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::DirectoryInUse { path: directory.to_owned() }),
        Err(TryLockError::Error(error)) => Err(StoreError::io(format!("lock {path:?}"), error)),
    }
}
