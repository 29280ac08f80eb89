//! SERIALIZABLE: snapshot isolation, and no commit that could close a circle of dependencies (PostgreSQL's `predicate.c`;
//! Cahill, Röhm, Fekete 2008; Ports, Grittner 2012).
//!
//! Under snapshots a history is only ever not serializable where some transaction T, the pivot, did not see what a concurrent
//! one wrote, `T -> out`, and another concurrent one did not see what T wrote, `in -> T`, and `out` was the first of the three
//! to commit:
//!
//! ```text
//! in   reads x ......................          in -> T: `in` read x as it was before T
//! T        reads y ....  writes x, commits     T -> out: T read y as it was before `out`
//! out          writes y, commits
//! ```
//!
//! Each serializable transaction notes what it reads: keys and ranges, of tables and of indexes, so rows that were not there
//! count as well. All is decided when a transaction commits, one at a time, under the order of commits: it fails when it is the
//! pivot of such a structure, or when the pivot has committed already. A transaction that only read is in danger only of
//! pivots whose `out` its snapshot includes. Dependencies on transactions of other levels do not count, as in PostgreSQL.

use std::ops::Bound;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::StoreError;
use crate::ids::RelationId;
use crate::run::{RelationRun, Run};
use crate::view::Published;

/// Of a relation of which more single keys or ranges than this are read, everything counts as read.
const READS_MAX: usize = 10_000;

/// All serializable transactions that run, and those ended ones that a running one did not see.
#[derive(Default)]
pub(crate) struct SerialTransactions {
    all: Mutex<Vec<Arc<SerialTransaction>>>,
}

/// One of them.
pub(crate) struct SerialTransaction {
    /// What it sees.
    snapshot: u64,
    reads: Mutex<FxHashMap<RelationId, Reads>>,
    committed: Mutex<Option<Committed>>,
}

#[derive(Clone)]
struct Committed {
    timestamp: u64,
    run: Arc<Run>,
    /// The earliest commit that it did not see and depends on.
    out: Option<u64>,
}

/// What has been read of one relation.
enum Reads {
    Some { keys: FxHashSet<Vec<u8>>, ranges: Vec<KeyRange> },
    All,
}

/// The keys between two bounds.
struct KeyRange {
    start: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
}

impl SerialTransactions {
    /// Takes a snapshot, and keeps from now on what is committed beyond it.
    pub(crate) fn begin(
        &self,
        snapshot: impl FnOnce() -> Arc<Published>,
    ) -> (Arc<Published>, Arc<SerialTransaction>) {
        let mut all = self.all.lock();
        // IMPORTANT: the snapshot is taken under the lock, so that nothing beyond it is forgotten before it is known here.
        let snapshot = snapshot();
        let transaction = Arc::new(SerialTransaction {
            snapshot: snapshot.timestamp,
            reads: Mutex::default(),
            committed: Mutex::new(None),
        });
        all.push(Arc::clone(&transaction));
        (snapshot, transaction)
    }

    /// Decides whether `own` may commit, writing `run`, as the next commit, `timestamp`. If so, it counts as committed. The
    /// caller holds the order of commits.
    pub(crate) fn commit(
        &self,
        own: &Arc<SerialTransaction>,
        run: &Arc<Run>,
        timestamp: u64,
    ) -> Result<(), StoreError> {
        let mut all = self.all.lock();
        let others = || all.iter().filter(|other| !Arc::ptr_eq(other, own));
        let reads = own.reads.lock();
        let mut out: Option<u64> = None;
        for other in others() {
            let Some(other) = &*other.committed.lock() else { continue };
            if other.timestamp <= own.snapshot || !intersect(&reads, &other.run) {
                continue;
            }
            // `other` is a pivot that has committed. Had this transaction only read, it matters only if it sees `out`.
            if other.out.is_some_and(|out| !run.is_empty() || out <= own.snapshot) {
                return Err(StoreError::ReadWriteDependency);
            }
            out = Some(out.map_or(other.timestamp, |earliest| earliest.min(other.timestamp)));
        }
        drop(reads);
        if let Some(out) = out
            && others().any(|other| other.precedes(own, run, out))
        {
            return Err(StoreError::ReadWriteDependency);
        }
        *own.committed.lock() = Some(Committed { timestamp, run: Arc::clone(run), out });
        forget_old(&mut all);
        Ok(())
    }

    /// Forgets a transaction that has ended without committing.
    pub(crate) fn end(&self, own: &Arc<SerialTransaction>) {
        let mut all = self.all.lock();
        if own.committed.lock().is_none() {
            all.retain(|other| !Arc::ptr_eq(other, own));
        }
        forget_old(&mut all);
    }
}

/// Drops ended transactions whose writes every running one sees.
fn forget_old(all: &mut Vec<Arc<SerialTransaction>>) {
    let running = all.iter().filter(|other| other.committed.lock().is_none()).map(|other| other.snapshot);
    let oldest = running.min().unwrap_or(u64::MAX);
    all.retain(|other| other.committed.lock().as_ref().is_none_or(|committed| committed.timestamp > oldest));
}

impl SerialTransaction {
    /// Notes that a key was looked up.
    pub(crate) fn note_key(&self, relation: RelationId, key: &[u8]) {
        self.note(relation, |keys, _| {
            keys.insert(key.to_vec());
        });
    }

    /// Notes that a range was looked through.
    pub(crate) fn note_range(&self, relation: RelationId, start: Bound<&[u8]>, end: Bound<&[u8]>) {
        self.note(relation, |_, ranges| {
            ranges.push(KeyRange { start: start.map(<[u8]>::to_vec), end: end.map(<[u8]>::to_vec) });
        });
    }

    fn note(&self, relation: RelationId, add: impl FnOnce(&mut FxHashSet<Vec<u8>>, &mut Vec<KeyRange>)) {
        // The catalog's changes have locks of their own.
        if relation < RelationId::FIRST_USER {
            return;
        }
        let mut reads = self.reads.lock();
        let reads = reads.entry(relation).or_default();
        if let Reads::Some { keys, ranges } = reads {
            add(keys, ranges);
            if keys.len() + ranges.len() > READS_MAX {
                *reads = Reads::All;
            }
        }
    }

    /// Whether this transaction did not see what `pivot` writes (`run`), in a way that makes for a circle with the commit `out`.
    fn precedes(&self, pivot: &SerialTransaction, run: &Run, out: u64) -> bool {
        let concurrent = match &*self.committed.lock() {
            None => true,
            Some(own) if own.run.is_empty() => out <= self.snapshot,
            // Equal when the circle has only two members.
            Some(own) => own.timestamp > pivot.snapshot && out <= own.timestamp,
        };
        concurrent && intersect(&self.reads.lock(), run)
    }
}

impl Default for Reads {
    fn default() -> Reads {
        Reads::Some { keys: FxHashSet::default(), ranges: Vec::new() }
    }
}

impl Reads {
    fn intersects(&self, writes: &RelationRun) -> bool {
        match self {
            Reads::All => writes.len() > 0,
            Reads::Some { keys, ranges } => {
                keys.iter().any(|key| writes.get(key).is_some())
                    || ranges.iter().any(|range| {
                        let start = range.start.as_ref().map(Vec::as_slice);
                        let end = range.end.as_ref().map(Vec::as_slice);
                        !writes.positions(start, end).is_empty()
                    })
            }
        }
    }
}

fn intersect(reads: &FxHashMap<RelationId, Reads>, run: &Run) -> bool {
    run.relations
        .iter()
        .any(|(relation, writes)| reads.get(relation).is_some_and(|reads| reads.intersects(writes)))
}
