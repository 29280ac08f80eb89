//! The store as its users hold it: open, begin, checkpoint, close.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use crate::base::Base;
use crate::delta::Delta;
use crate::error::StoreError;
use crate::ids::{CommitTimestamp, Durability, Isolation, RelationId, SequenceId};
use crate::interrupt::Interrupt;
use crate::locks::{LockContext, LockInfo, LockManager};
use crate::options::StoreOptions;
use crate::run::Run;
use crate::scan::Direction;
use crate::sequence::{SequenceBatch, SequenceSpec, SequenceState, Sequences};
use crate::statistics::{RelationStatistics, Statistics};
use crate::transaction::Transaction;
use crate::view::{Attachment, Layers, Published, ReadView};

/// A committed change of a relation: key, and value unless it was deleted.
pub type CommittedWrite<'a> = (&'a [u8], Option<&'a [u8]>);

/// Called with each commit that writes to [`RelationId::CATALOG`], under the order of commits: the attachment so far, and the
/// writes in key order. Its result is published together with the commit, so every view has the attachment that belongs to
/// its timestamp. It must not fail, and must not call the store.
pub type PublishHook = dyn Fn(&Attachment, &[CommittedWrite<'_>]) -> Attachment + Send + Sync;

/// An embedded, durable, transactional store of bytes. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    options: StoreOptions,
    base: Base,
    published: ArcSwap<Published>,
    order: Mutex<()>,
    hook: RwLock<Option<Box<PublishHook>>>,
    locks: Arc<LockManager>,
    sequences: Sequences,
    statistics: Statistics,
    row_numbers: RwLock<FxHashMap<RelationId, Arc<AtomicU64>>>,
    next_xid: AtomicU64,
    /// Keeps other processes out while it is open.
    _lock_file: File,
}

impl Store {
    /// Opens the store in `directory`, creating it if need be, and brings back everything that was committed. Fails with
    /// [`StoreError::DirectoryInUse`] while another process (or another store of this one) has it open.
    pub fn open(directory: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::io(format!("create directory {directory:?}"), error))?;
        let lock_file = lock_directory(directory)?;
        let base = Base::open(&directory.join("base"), options.map_bytes, options.readers_max)?;
        let layers = Layers {
            active: Delta::default(),
            frozen: Delta::default(),
            runs: Arc::default(),
            base: base.generation()?,
        };
        let published = Published { timestamp: 0, layers, attachment: Arc::new(()) };
        let inner = Inner {
            options,
            base,
            published: ArcSwap::from_pointee(published),
            order: Mutex::new(()),
            hook: RwLock::new(None),
            locks: Arc::new(LockManager::new()),
            sequences: Sequences::default(),
            statistics: Statistics::default(),
            row_numbers: RwLock::default(),
            next_xid: AtomicU64::new(1_000),
            _lock_file: lock_file,
        };
        Ok(Store { inner: Arc::new(inner) })
    }

    /// Begins a transaction outside of any session: its locks are its own, and nobody can interrupt it.
    pub fn begin(&self, isolation: Isolation) -> Transaction {
        Transaction::new(self.clone(), isolation, None)
    }

    /// Begins a session's transaction. A session has at most one at a time.
    pub fn begin_in(&self, context: &Arc<LockContext>, isolation: Isolation) -> Transaction {
        Transaction::new(self.clone(), isolation, Some(Arc::clone(context)))
    }

    /// Makes a session known as an owner of locks. `process_id` is what `pg_locks` shows; `interrupt` ends its waits.
    pub fn lock_context(&self, process_id: i32, interrupt: Arc<Interrupt>) -> Arc<LockContext> {
        LockContext::new(&self.inner.locks, process_id, interrupt)
    }

    /// A view of everything committed so far, apart from any transaction.
    pub fn view(&self) -> ReadView {
        ReadView::new(self.published(), Default::default())
    }

    /// The newest commit that snapshots see.
    pub fn published_timestamp(&self) -> CommitTimestamp {
        CommitTimestamp(self.inner.published.load().timestamp)
    }

    /// Sets the attachment of the present state, and the hook that makes those of later ones.
    pub fn set_publish_hook(&self, attachment: Attachment, hook: Box<PublishHook>) {
        let _order = self.inner.order.lock();
        let now = self.inner.published.load();
        let published = Published { timestamp: now.timestamp, layers: now.layers.clone(), attachment };
        self.inner.published.store(Arc::new(published));
        *self.inner.hook.write() = Some(hook);
    }

    /// A key for the next row of a relation without a key of its own: above all that it ever had.
    pub fn next_row_number(&self, relation: RelationId) -> Result<u64, StoreError> {
        self.reserve_row_numbers(relation, 1)
    }

    /// As [`Store::next_row_number`] for `count` rows at once; the first of the numbers.
    pub fn reserve_row_numbers(&self, relation: RelationId, count: u64) -> Result<u64, StoreError> {
        if let Some(next) = self.inner.row_numbers.read().get(&relation) {
            return Ok(next.fetch_add(count, Ordering::Relaxed));
        }
        let mut known = self.inner.row_numbers.write();
        if let Some(next) = known.get(&relation) {
            return Ok(next.fetch_add(count, Ordering::Relaxed));
        }
        let unbounded = std::ops::Bound::Unbounded;
        let mut scan = self.view().scan(relation, unbounded, unbounded, Direction::Backward)?;
        let last = match scan.next()?.and_then(|(key, _)| key.first_chunk::<8>().copied()) {
            Some(last) => u64::from_be_bytes(last),
            None => 0,
        };
        known.insert(relation, Arc::new(AtomicU64::new(last + 1 + count)));
        Ok(last + 1)
    }

    /// Takes `cache` numbers of a sequence outside of any transaction. Prefer [`Transaction::sequence_next`]: it makes the
    /// commit sync the sequence's record where needed.
    pub fn sequence_next(
        &self,
        id: SequenceId,
        spec: &SequenceSpec,
        cache: u64,
    ) -> Result<SequenceBatch, StoreError> {
        Ok(self.inner.sequences.next(id, spec, cache)?.0)
    }

    /// Where a sequence stands; none when no number was ever taken or set.
    pub fn sequence_state(&self, id: SequenceId) -> Option<SequenceState> {
        self.inner.sequences.state(id)
    }

    /// Estimates of a relation's size.
    pub fn statistics(&self, relation: RelationId) -> RelationStatistics {
        self.inner.statistics.of(relation)
    }

    /// All locks held and awaited.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.inner.locks.list()
    }

    /// Moves everything committed so far to the base, and waits for that.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Checkpoints and stops the background work. Later commits fail with [`StoreError::Closed`]; reading goes on.
    pub fn close(&self) -> Result<(), StoreError> {
        self.checkpoint()
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        self.inner.published.load_full()
    }

    pub(crate) fn sequences(&self) -> &Sequences {
        &self.inner.sequences
    }

    pub(crate) fn allocate_xid(&self) -> u64 {
        self.inner.next_xid.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn commit(
        &self,
        run: Arc<Run>,
        _xid: u64,
        _durability: Durability,
    ) -> Result<CommitTimestamp, StoreError> {
        let inner = &*self.inner;
        let _order = inner.order.lock();
        let now = inner.published.load_full();
        let timestamp = now.timestamp + 1;
        let mut layers = now.layers.clone();
        layers.active.insert(&run, timestamp);
        inner.statistics.add(&run);
        let mut attachment = Arc::clone(&now.attachment);
        if let (Some(writes), Some(hook)) = (run.relation(RelationId::CATALOG), &*inner.hook.read()) {
            let writes: Vec<CommittedWrite<'_>> =
                (0..writes.len()).map(|at| (writes.key(at), writes.value(at))).collect();
            attachment = hook(&attachment, &writes);
        }
        inner.published.store(Arc::new(Published { timestamp, layers, attachment }));
        Ok(CommitTimestamp(timestamp))
    }
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
