//! The commit: many transactions, one append, one sync, in one visible order.
//!
//! Sessions put their commits into a queue. The first to find no leader leads: it takes all that have queued, writes and
//! publishes them as one group, and wakes their sessions. Whoever queued meanwhile forms the next group, led by its first
//! member. So a lone session commits without a hand-over to another thread, and many share their syncs.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};

use parking_lot::Mutex;

use crate::background::SPARES_MIN;
use crate::core::{Core, Order};
use crate::error::StoreError;
use crate::ids::{CommitTimestamp, Durability, RelationId};
use crate::log::Log;
use crate::run::{RelationRun, Run};
use crate::serial::SerialTransaction;
use crate::store::CommittedWrite;
use crate::view::{Attachment, Layers, Published};

/// A commit of at least this many entries or bytes joins the delta as it is, instead of being spread over its maps ...
const RUN_ENTRIES_MIN: usize = 8_192;
const RUN_BYTES_MIN: usize = 1 << 20;
/// ... unless there are so many such layers already that readers would feel them.
const RUNS_MAX: usize = 12;

const QUEUED: u8 = 0;
const LEADS: u8 = 1;
const DONE: u8 = 2;

/// Commits that wait to be written.
#[derive(Default)]
pub(crate) struct CommitQueue {
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    waiting: Vec<Arc<Pending>>,
    has_leader: bool,
}

/// One commit on its way.
struct Pending {
    run: Arc<Run>,
    xid: u64,
    durability: Durability,
    /// A serializable transaction's commit may be refused when its turn comes.
    serial: Option<Arc<SerialTransaction>>,
    thread: Thread,
    state: AtomicU8,
    result: Mutex<Option<Result<CommitTimestamp, StoreError>>>,
}

impl Pending {
    fn take_result(&self) -> Result<CommitTimestamp, StoreError> {
        self.result.lock().take().unwrap_or(Err(StoreError::Closed))
    }
}

impl Core {
    /// Commits, and returns once the writes are published. There is no way back once this is called.
    pub(crate) fn commit(
        &self,
        run: Arc<Run>,
        xid: u64,
        durability: Durability,
        serial: Option<Arc<SerialTransaction>>,
    ) -> Result<CommitTimestamp, StoreError> {
        self.check_open()?;
        self.wait_for_room()?;
        let pending = Arc::new(Pending {
            run,
            xid,
            durability,
            serial,
            thread: thread::current(),
            state: AtomicU8::new(QUEUED),
            result: Mutex::new(None),
        });
        let leads = {
            let mut queue = self.queue.state.lock();
            queue.waiting.push(Arc::clone(&pending));
            !std::mem::replace(&mut queue.has_leader, true)
        };
        if leads {
            self.lead();
            return pending.take_result();
        }
        loop {
            match pending.state.load(Ordering::Acquire) {
                QUEUED => thread::park(),
                LEADS => {
                    self.lead();
                    return pending.take_result();
                }
                _ => return pending.take_result(),
            }
        }
    }

    /// Writes one group, the leader's own commit among it, and passes the lead on.
    fn lead(&self) {
        let group = std::mem::take(&mut self.queue.state.lock().waiting);
        self.write_group(&group);
        // Whoever comes next is told first: the device is idle until it begins.
        {
            let mut queue = self.queue.state.lock();
            match queue.waiting.first() {
                Some(next) => {
                    next.state.store(LEADS, Ordering::Release);
                    next.thread.unpark();
                }
                None => queue.has_leader = false,
            }
        }
        let leader = thread::current().id();
        for pending in &group {
            pending.state.store(DONE, Ordering::Release);
            if pending.thread.id() != leader {
                pending.thread.unpark();
            }
        }
    }

    /// The order of a commit, top to bottom.
    fn write_group(&self, group: &[Arc<Pending>]) {
        let mut order = self.order.lock();
        // 1. A store that has failed once writes nothing more.
        if let Err(poisoned) = order.check() {
            group.iter().for_each(|pending| *pending.result.lock() = Some(Err(poisoned.clone())));
            return;
        }
        // 2. Append to the log, and sync it if anybody asked for that.
        let now = self.published();
        let appended = match self.append_group(&mut order, group, now.timestamp) {
            Ok(appended) => appended,
            Err(error) => {
                // IMPORTANT: what the device holds is unknown now, so nothing of this group is published, and nothing is ever
                // written after it: a later success could otherwise bring a commit to life that was reported as failed.
                order.poison(&error);
                group.iter().for_each(|pending| *pending.result.lock() = Some(Err(error.clone())));
                return;
            }
        };
        // IMPORTANT: 3. Only what is durable (as far as its session asked for) is added to the delta and published; readers must
        // never see what a crash could take back.
        self.publish_group(&mut order, &now, &appended);
        // IMPORTANT: 4. Sessions are woken, and free their locks, after the publication: whoever waited for a row lock reads the
        // newest version next.
        for (timestamp, pending) in appended {
            *pending.result.lock() = Some(Ok(CommitTimestamp(timestamp)));
        }
    }

    /// Appends all of a group that there is room for; returns those with their timestamps.
    fn append_group<'a>(
        &self,
        order: &mut Order,
        group: &'a [Arc<Pending>],
        mut timestamp: u64,
    ) -> Result<Vec<(u64, &'a Pending)>, StoreError> {
        let log = &mut order.log;
        let begun_at = log.position();
        let (sequences, sequence_number) = self.sequences.take_unlogged();
        log.append_sequences(&sequences)?;
        let mut appended = Vec::with_capacity(group.len());
        let mut sync = false;
        for pending in group {
            if let Err(refused) = self.admit(log, pending, timestamp + 1) {
                // Nothing of this transaction has been written: it alone fails.
                *pending.result.lock() = Some(Err(refused));
                continue;
            }
            if !pending.run.is_empty() {
                timestamp += 1;
                log.append_commit(timestamp, pending.xid, &pending.run)?;
            }
            sync |= pending.durability == Durability::Synced;
            appended.push((timestamp, &**pending));
        }
        log.flush()?;
        if sync {
            log.sync()?;
            self.sequences.set_durable(sequence_number);
        } else {
            self.signals.flush_later();
        }
        self.counters.group(appended.len() as u64, log.position() - begun_at, sync);
        if log.spares() < SPARES_MIN {
            self.signals.files_wanted();
        }
        Ok(appended)
    }

    /// Whether a commit can be written at all: there must be room, and a serial order of everything so far.
    fn admit(&self, log: &mut Log, pending: &Pending, timestamp: u64) -> Result<(), StoreError> {
        log.reserve(&pending.run)?;
        match &pending.serial {
            Some(serial) => self.serial.commit(serial, &pending.run, timestamp),
            None => Ok(()),
        }
    }

    /// Makes a group's writes visible, all at once.
    fn publish_group(&self, order: &mut Order, now: &Published, appended: &[(u64, &Pending)]) {
        let mut layers = now.layers.clone();
        let mut attachment = Arc::clone(&now.attachment);
        let mut last = now.timestamp;
        let mut bytes = 0;
        for (timestamp, pending) in appended {
            let run = &pending.run;
            if run.is_empty() {
                continue;
            }
            last = *timestamp;
            bytes += add_to_layers(&mut layers, run, *timestamp);
            self.statistics.add(run);
            self.note_drops(order, run);
            if let Some(writes) = run.relation(RelationId::CATALOG) {
                attachment = self.call_hook(order, attachment, writes);
            }
        }
        let many = layers.runs.len() > RUNS_MAX / 2;
        let written = last != now.timestamp;
        if written {
            self.published.store(Arc::new(Published { timestamp: last, layers, attachment }));
        }
        let total = self.delta_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let log_bytes = order.log.position() - order.checkpoint_lsn;
        let bound = self.options.checkpoint_bytes;
        let due = total >= bound || log_bytes >= 2 * bound as u64 || many;
        if written || due {
            self.signals.committed(due);
        }
    }

    /// The attachment after a commit's writes to the catalog.
    fn call_hook(&self, order: &mut Order, attachment: Attachment, writes: &RelationRun) -> Attachment {
        let hook = self.hook.read();
        let Some(hook) = &*hook else { return attachment };
        let writes: Vec<CommittedWrite<'_>> =
            (0..writes.len()).map(|at| (writes.key(at), writes.value(at))).collect();
        // A hook that panics must not take the leader with it, for the others in the queue would wait for ever.
        panic::catch_unwind(AssertUnwindSafe(|| hook(&attachment, &writes))).unwrap_or_else(|_| {
            order.poison(&StoreError::corrupt("catalog", "the publish hook panicked"));
            attachment
        })
    }

    /// Forgets what is kept of dropped relations, and leaves their removal to the next checkpoint.
    pub(crate) fn note_drops(&self, order: &mut Order, run: &Run) {
        for relation in &run.drops {
            self.sequences.remove(crate::ids::SequenceId(relation.0));
            self.row_numbers.write().remove(relation);
            order.drops.push(*relation);
        }
    }

    /// Holds a commit back while the delta has far outgrown its bound and a checkpoint is at work on it.
    fn wait_for_room(&self) -> Result<(), StoreError> {
        let bound = self.options.checkpoint_bytes.saturating_mul(4);
        while self.delta_bytes.load(Ordering::Relaxed) > bound {
            self.signals.wait_for_checkpoint()?;
            self.check_open()?;
        }
        Ok(())
    }
}

/// Adds a commit to the delta; returns what that takes in memory.
pub(crate) fn add_to_layers(layers: &mut Layers, run: &Arc<Run>, timestamp: u64) -> usize {
    let large = run.entries() >= RUN_ENTRIES_MIN || run.bytes() >= RUN_BYTES_MIN;
    if large && layers.runs.len() < RUNS_MAX {
        Arc::make_mut(&mut layers.runs).push((timestamp, Arc::clone(run)));
        return run.memory_bytes();
    }
    layers.active.insert(run, timestamp)
}
