//! The store as its users hold it: open, begin, checkpoint, close.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::activity::Activity;
use crate::background::Threads;
use crate::core::Core;
use crate::error::StoreError;
use crate::ids::{CommitTimestamp, Durability, Isolation, RelationId, SequenceId};
use crate::interrupt::Interrupt;
use crate::locks::{LockContext, LockInfo};
use crate::options::StoreOptions;
use crate::recover;
use crate::run::Run;
use crate::scan::Direction;
use crate::sequence::{SequenceBatch, SequenceSpec, SequenceState, Sequences};
use crate::serial::SerialTransaction;
use crate::statistics::RelationStatistics;
use crate::transaction::Transaction;
use crate::view::{Attachment, Published, ReadView};

/// A committed change of a relation: key, and value unless it was deleted.
pub type CommittedWrite<'a> = (&'a [u8], Option<&'a [u8]>);

/// Called with each commit that writes to [`RelationId::CATALOG`], under the order of commits: the attachment so far, and the
/// writes in key order. Its result is published together with the commit, so every view has the attachment that belongs to
/// its timestamp. It must not call the store; should it panic, the store takes no more writes.
pub type PublishHook = dyn Fn(&Attachment, &[CommittedWrite<'_>]) -> Attachment + Send + Sync;

/// An embedded, durable, transactional store of bytes. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    handle: Arc<Handle>,
}

struct Handle {
    core: Arc<Core>,
    /// Taken by [`Store::close`].
    threads: Mutex<Option<Threads>>,
}

impl Store {
    /// Opens the store in `directory`, creating it if need be, and brings back everything that was committed. Fails with
    /// [`StoreError::DirectoryInUse`] while another process (or another store of this one) has it open, or while anybody still
    /// holds a view of it.
    pub fn open(directory: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        let core = Arc::new(recover::open(directory, options)?);
        let threads = Threads::start(&core)?;
        Ok(Store { handle: Arc::new(Handle { core, threads: Mutex::new(Some(threads)) }) })
    }

    fn core(&self) -> &Core {
        &self.handle.core
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
        LockContext::new(&self.core().locks, process_id, interrupt)
    }

    /// A view of everything committed so far, apart from any transaction.
    pub fn view(&self) -> ReadView {
        ReadView::new(self.published(), Default::default())
    }

    /// The newest commit that snapshots see.
    pub fn published_timestamp(&self) -> CommitTimestamp {
        CommitTimestamp(self.core().published.load().timestamp)
    }

    /// Sets the attachment of the present state, and the hook that makes those of later ones.
    pub fn set_publish_hook(&self, attachment: Attachment, hook: Box<PublishHook>) {
        let _order = self.core().order.lock();
        let now = self.core().published.load();
        let published = Published { timestamp: now.timestamp, layers: now.layers.clone(), attachment };
        self.core().published.store(Arc::new(published));
        *self.core().hook.write() = Some(hook);
    }

    /// A key for the next row of a relation without a key of its own: above all that it ever had.
    pub fn next_row_number(&self, relation: RelationId) -> Result<u64, StoreError> {
        self.reserve_row_numbers(relation, 1)
    }

    /// As [`Store::next_row_number`] for `count` rows at once; the first of the numbers.
    pub fn reserve_row_numbers(&self, relation: RelationId, count: u64) -> Result<u64, StoreError> {
        if let Some(next) = self.core().row_numbers.read().get(&relation) {
            return Ok(next.fetch_add(count, Ordering::Relaxed));
        }
        let mut known = self.core().row_numbers.write();
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
        Ok(self.core().sequences.next(id, spec, cache)?.0)
    }

    /// Where a sequence stands; none when no number was ever taken or set.
    pub fn sequence_state(&self, id: SequenceId) -> Option<SequenceState> {
        self.core().sequences.state(id)
    }

    /// Estimates of a relation's size.
    pub fn statistics(&self, relation: RelationId) -> RelationStatistics {
        self.core().statistics.of(relation)
    }

    /// All locks held and awaited.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.core().locks.list()
    }

    /// Moves everything committed so far to the base, and waits for that.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.core().checkpoint_now()
    }

    /// What the store has done since it was opened.
    pub fn activity(&self) -> Activity {
        self.core().activity()
    }

    /// Checkpoints and stops the background work. Later commits fail with [`StoreError::Closed`]; reading goes on. Dropping
    /// the last handle without this is safe; the next opening then replays the log.
    pub fn close(&self) -> Result<(), StoreError> {
        self.core().closed.store(true, Ordering::Release);
        let result = self.checkpoint();
        drop(self.handle.threads.lock().take());
        result
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        self.core().published()
    }

    pub(crate) fn sequences(&self) -> &Sequences {
        &self.core().sequences
    }

    pub(crate) fn allocate_xid(&self) -> u64 {
        self.core().next_xid.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn commit(
        &self,
        run: Arc<Run>,
        xid: u64,
        durability: Durability,
        serial: Option<Arc<SerialTransaction>>,
    ) -> Result<CommitTimestamp, StoreError> {
        self.core().commit(run, xid, durability, serial)
    }

    /// A serializable transaction's snapshot, and what is kept of it.
    pub(crate) fn begin_serial(&self) -> (Arc<Published>, Arc<SerialTransaction>) {
        self.core().serial.begin(|| self.published())
    }

    /// Ends a serializable transaction that has written nothing; it may have seen what no order of the others explains.
    pub(crate) fn commit_serial_reader(&self, serial: &Arc<SerialTransaction>) -> Result<(), StoreError> {
        let _order = self.core().order.lock();
        self.core().serial.commit(serial, &Arc::default(), self.published().timestamp)
    }

    pub(crate) fn end_serial(&self, serial: &Arc<SerialTransaction>) {
        self.core().serial.end(serial);
    }
}
