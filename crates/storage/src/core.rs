//! What all parts of a store share, and the rules by which they share it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use crate::activity::{Activity, Counters};
use crate::background::Signals;
use crate::base::{Base, Generation};
use crate::checkpoint::Frozen;
use crate::commit::CommitQueue;
use crate::error::StoreError;
use crate::ids::RelationId;
use crate::locks::LockManager;
use crate::log::Log;
use crate::options::StoreOptions;
use crate::sequence::Sequences;
use crate::serial::SerialTransactions;
use crate::statistics::Statistics;
use crate::store::PublishHook;
use crate::view::Published;

/// A store's insides.
pub(crate) struct Core {
    pub(crate) options: StoreOptions,
    pub(crate) store_id: u64,
    pub(crate) base: Base,
    /// What readers see. Replaced only by who holds `order`.
    pub(crate) published: ArcSwap<Published>,
    pub(crate) order: Mutex<Order>,
    pub(crate) queue: CommitQueue,
    pub(crate) hook: RwLock<Option<Box<PublishHook>>>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) serial: SerialTransactions,
    pub(crate) sequences: Sequences,
    pub(crate) statistics: Statistics,
    pub(crate) row_numbers: RwLock<FxHashMap<RelationId, Arc<AtomicU64>>>,
    pub(crate) next_xid: AtomicU64,
    pub(crate) counters: Counters,
    pub(crate) signals: Signals,
    /// What the delta takes in memory, large commits included.
    pub(crate) delta_bytes: AtomicUsize,
    pub(crate) closed: AtomicBool,
    /// How many callers wait for a checkpoint.
    pub(crate) hurry: AtomicUsize,
    /// States of the base that may still be read, oldest first.
    pub(crate) generations: Mutex<Vec<Weak<Generation>>>,
    /// One checkpoint at a time; holds what a failed one has left to be written.
    pub(crate) checkpoint: Mutex<Option<Frozen>>,
}

/// The order of commits: who holds it appends to the log, adds to the delta and publishes, one after the other.
pub(crate) struct Order {
    pub(crate) log: Log,
    /// Set by the first failure on the commit path; from then on nothing is written.
    pub(crate) poison: Option<Arc<StoreError>>,
    /// Relations dropped since the last checkpoint began.
    pub(crate) drops: Vec<RelationId>,
    /// Where the log stood when the last checkpoint began.
    pub(crate) checkpoint_lsn: u64,
}

impl Order {
    /// Fails once anything on the commit path has failed.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match &self.poison {
            None => Ok(()),
            Some(cause) => Err(StoreError::Poisoned { cause: Arc::clone(cause) }),
        }
    }

    /// Stops all writing until the store is reopened: after a failed write or sync nobody can know what the device holds.
    pub(crate) fn poison(&mut self, error: &StoreError) {
        if self.poison.is_none() {
            tracing::error!(%error, "the store takes no more writes until it is reopened");
            self.poison = Some(Arc::new(error.clone()));
        }
    }
}

impl Core {
    pub(crate) fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Opens the present state of the base for reading.
    pub(crate) fn open_generation(&self) -> Result<Arc<Generation>, StoreError> {
        let generation = self.base.generation()?;
        let mut generations = self.generations.lock();
        generations.retain(|other| other.strong_count() > 0);
        generations.push(Arc::downgrade(&generation));
        Ok(generation)
    }

    pub(crate) fn activity(&self) -> Activity {
        let oldest = self.generations.lock().iter().find_map(Weak::upgrade);
        Activity {
            delta_bytes: self.delta_bytes.load(Ordering::Relaxed) as u64,
            base_bytes: self.base.file_bytes(),
            oldest_snapshot: oldest.map_or_else(Default::default, |oldest| oldest.opened.elapsed()),
            ..self.counters.read()
        }
    }

    pub(crate) fn check_open(&self) -> Result<(), StoreError> {
        match self.closed.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(StoreError::Closed),
        }
    }
}
