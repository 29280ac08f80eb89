//! The checkpoint: everything committed so far goes from the delta to the base, while commits go on.
//!
//! Freeze (under the order of commits, a moment): the active delta becomes the frozen one, a fresh one takes its place.
//! Write: the newest version of each key, in key order, then the timestamp, the place in the log from which to replay,
//! sequences and row counts. Swap (a moment again): readers get the new base, without the frozen delta. Readers with an older
//! view keep the older base.
//!
//! The writing is cut into several LMDB transactions with pauses between them, since a device that is handed hundreds of
//! megabytes at once makes every commit's sync wait behind them. The note with timestamp and place in the log is in the last.
//! A crash before that leaves a base that is ahead of its note in some keys; replay, which begins at the note, writes each of
//! these keys again. So the base and the log always add up to the same rows.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::base::{Base, BaseWriter, Generation};
use crate::core::Core;
use crate::delta::Delta;
use crate::error::StoreError;
use crate::ids::{RelationId, SequenceId};
use crate::run::Run;
use crate::scan::{DeltaCursor, Direction, Merge, RunCursor, Source};
use crate::sequence::{SequenceRecord, Sequences};
use crate::statistics::{Counters, Statistics};
use crate::view::Published;

/// Format of what the checkpoint keeps under [`RelationId::META`].
const VERSION: u32 = 1;
const CHECKPOINT_KEY: &[u8] = b"checkpoint";
const STATISTICS_PREFIX: &[u8] = b"rows";

/// What a scattered row costs: its page is written with few others of its kind.
const SCATTERED_BYTES: usize = 1 << 10;
/// The longest pause between two transactions.
const PAUSE_MAX: Duration = Duration::from_millis(25);
/// No pause when nobody has committed for this long.
const QUIET: Duration = Duration::from_millis(20);

/// What one checkpoint is to write.
pub(crate) struct Frozen {
    timestamp: u64,
    lsn: u64,
    delta: Delta,
    runs: Vec<(u64, Arc<Run>)>,
    drops: Vec<RelationId>,
    sequences: Vec<SequenceRecord>,
    statistics: Vec<(RelationId, Counters)>,
    next_xid: u64,
    bytes: usize,
}

/// What the base says of itself.
///
/// | bytes  | content of the value under `checkpoint`                |
/// |--------|--------------------------------------------------------|
/// | 0..4   | format version, 1                                      |
/// | 4..12  | the store's own number                                 |
/// | 12..20 | the last commit that the base holds                    |
/// | 20..28 | LSN from which to replay                               |
/// | 28..36 | the next transaction number                            |
///
/// All numbers of the base are big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckpointNote {
    pub(crate) store_id: u64,
    pub(crate) timestamp: u64,
    pub(crate) lsn: u64,
    pub(crate) next_xid: u64,
}

impl Core {
    /// Runs one checkpoint while somebody waits for it, so without pauses. Waits for one that is under way.
    pub(crate) fn checkpoint_now(&self) -> Result<(), StoreError> {
        self.hurry.fetch_add(1, Ordering::Relaxed);
        let result = self.checkpoint();
        self.hurry.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Runs one checkpoint.
    pub(crate) fn checkpoint(&self) -> Result<(), StoreError> {
        let mut frozen = self.checkpoint.lock();
        let result = self.checkpoint_frozen(&mut frozen);
        self.signals.checkpoint_ended(result.as_ref().err().cloned());
        result
    }

    fn checkpoint_frozen(&self, frozen: &mut Option<Frozen>) -> Result<(), StoreError> {
        let begun = Instant::now();
        // What an earlier attempt has frozen and failed to write comes first; then everything since.
        self.finish(frozen)?;
        self.freeze(frozen)?;
        self.finish(frozen)?;
        self.counters.checkpoint(begun.elapsed());
        Ok(())
    }

    /// Writes what is frozen, if anything is.
    fn finish(&self, frozen: &mut Option<Frozen>) -> Result<(), StoreError> {
        if let Some(work) = &*frozen {
            self.write_frozen(work)?;
            self.swap(work)?;
        }
        *frozen = None;
        Ok(())
    }

    /// Sets aside what has been committed, unless there is nothing.
    fn freeze(&self, frozen: &mut Option<Frozen>) -> Result<(), StoreError> {
        let mut order = self.order.lock();
        order.check()?;
        self.signals.checkpoint_begins();
        let (sequences, number) = self.sequences.take_unlogged();
        let logged = order.log.append_sequences(&sequences);
        // IMPORTANT: the log is synced before the base takes anything over: a relaxed commit must not survive in the base while
        // an earlier part of the log is lost.
        if let Err(error) = logged.and_then(|()| order.log.sync()) {
            order.poison(&error);
            return Err(error);
        }
        self.sequences.set_durable(number);
        if order.log.position() == order.checkpoint_lsn {
            return Ok(());
        }
        let now = self.published();
        let mut layers = now.layers.clone();
        layers.frozen = std::mem::take(&mut layers.active);
        let lsn = order.log.position();
        *frozen = Some(Frozen {
            timestamp: now.timestamp,
            lsn,
            delta: layers.frozen.clone(),
            runs: layers.runs.to_vec(),
            drops: std::mem::take(&mut order.drops),
            sequences: self.sequences.logged_states(),
            statistics: self.statistics.all(),
            next_xid: self.next_xid.load(Ordering::Relaxed),
            bytes: self.delta_bytes.load(Ordering::Relaxed),
        });
        order.checkpoint_lsn = lsn;
        let attachment = Arc::clone(&now.attachment);
        self.published.store(Arc::new(Published { timestamp: now.timestamp, layers, attachment }));
        Ok(())
    }

    fn write_frozen(&self, work: &Frozen) -> Result<(), StoreError> {
        let relations = work.relations();
        for relation in relations.iter().copied().filter(|relation| !work.drops.contains(relation)) {
            self.write_relation(work, relation)?;
        }
        let mut writer = self.base.writer()?;
        for relation in &work.drops {
            writer.delete_relation(*relation)?;
            writer.delete(RelationId::META, &statistics_key(*relation))?;
            writer.delete(RelationId::SEQUENCES, &relation.0.to_be_bytes())?;
        }
        for record in &work.sequences {
            put_sequence(&mut writer, record)?;
        }
        for (relation, counters) in &work.statistics {
            if relations.binary_search(relation).is_ok() {
                put_statistics(&mut writer, *relation, counters)?;
            }
        }
        let note = CheckpointNote {
            store_id: self.store_id,
            timestamp: work.timestamp,
            lsn: work.lsn,
            next_xid: work.next_xid,
        };
        note.put(&mut writer)?;
        writer.commit()
    }

    /// Writes one relation's rows, in parts.
    fn write_relation(&self, work: &Frozen, relation: RelationId) -> Result<(), StoreError> {
        let bulk = work.runs.iter().any(|(_, run)| run.relation(relation).is_some());
        let row_bytes_min = if bulk { 0 } else { SCATTERED_BYTES };
        let mut merge = Merge::new(work.sources(relation), Direction::Forward)?;
        let mut more = true;
        while more {
            let begun = Instant::now();
            let mut writer = self.base.writer()?;
            let mut written = 0;
            while written < self.options.checkpoint_part_bytes {
                let Some((key, value)) = merge.next_version()? else {
                    more = false;
                    break;
                };
                match value {
                    Some(value) => writer.put(relation, key, value)?,
                    None => writer.delete(relation, key)?,
                }
                written += row_bytes_min.max(key.len() + value.map_or(0, <[u8]>::len));
            }
            writer.commit()?;
            self.pause(begun.elapsed());
        }
        Ok(())
    }

    /// Leaves the device to commits for as long as the checkpoint has just used it, unless it is needed soon, or by nobody.
    fn pause(&self, used: Duration) {
        let pressed = self.delta_bytes.load(Ordering::Relaxed) > 2 * self.options.checkpoint_bytes;
        if self.hurry.load(Ordering::Relaxed) == 0 && !pressed && !self.signals.is_quiet(QUIET) {
            thread::sleep(used.min(PAUSE_MAX));
        }
    }

    /// Lets readers have the new base, and the log its files back.
    fn swap(&self, work: &Frozen) -> Result<(), StoreError> {
        let generation = self.open_generation()?;
        let (surplus, files, old) = {
            let mut order = self.order.lock();
            let now = self.published();
            let mut layers = now.layers.clone();
            layers.frozen = Delta::default();
            layers.base = generation;
            // Large commits that came while this checkpoint wrote stay.
            Arc::make_mut(&mut layers.runs).retain(|(timestamp, _)| *timestamp > work.timestamp);
            let attachment = Arc::clone(&now.attachment);
            let published = Published { timestamp: now.timestamp, layers, attachment };
            let old = self.published.swap(Arc::new(published));
            self.delta_bytes.fetch_sub(work.bytes, Ordering::Relaxed);
            (order.log.recycle(work.lsn), order.log.files(), old)
        };
        // Freeing a large delta takes a while; commits need not wait for it.
        drop(old);
        for path in surplus {
            if let Err(error) = files.remove(&path) {
                tracing::warn!(%error, ?path, "could not remove a log file");
            }
        }
        Ok(())
    }
}

impl Frozen {
    /// All relations with anything to write, in order.
    fn relations(&self) -> Vec<RelationId> {
        let maps = self.delta.relations().map(|(relation, _)| relation);
        let runs = self.runs.iter().flat_map(|(_, run)| run.relations.iter().map(|(relation, _)| *relation));
        let mut all: Vec<RelationId> = maps.chain(runs).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn sources(&self, relation: RelationId) -> Vec<Source> {
        let (start, end) = (Bound::Unbounded, Bound::Unbounded);
        let map = self
            .delta
            .relation(relation)
            .and_then(|delta| DeltaCursor::new(delta, self.timestamp, start, end, Direction::Forward));
        let runs = self.runs.iter().filter_map(|(timestamp, run)| {
            RunCursor::new(run, *timestamp, relation, start, end, Direction::Forward)
        });
        map.map(Source::Delta).into_iter().chain(runs.map(Source::Run)).collect()
    }
}

impl CheckpointNote {
    fn put(&self, writer: &mut BaseWriter<'_>) -> Result<(), StoreError> {
        let mut bytes = Vec::with_capacity(36);
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        for number in [self.store_id, self.timestamp, self.lsn, self.next_xid] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        writer.put(RelationId::META, CHECKPOINT_KEY, &bytes)
    }

    /// What the base says of itself; a new base is given `fresh`.
    pub(crate) fn read_or_put(base: &Base, fresh: CheckpointNote) -> Result<CheckpointNote, StoreError> {
        let mut writer = base.writer()?;
        let bytes = writer.get(RelationId::META, CHECKPOINT_KEY)?.map(<[u8]>::to_vec);
        match bytes {
            Some(bytes) => CheckpointNote::decode(&bytes)
                .ok_or_else(|| StoreError::corrupt("base", "its checkpoint note makes no sense")),
            None => {
                fresh.put(&mut writer)?;
                writer.commit()?;
                Ok(fresh)
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<CheckpointNote> {
        let (version, rest) = bytes.split_first_chunk()?;
        if u32::from_be_bytes(*version) != VERSION {
            return None;
        }
        let [store_id, timestamp, lsn, next_xid] = numbers(rest)?;
        Some(CheckpointNote { store_id, timestamp, lsn, next_xid })
    }
}

/// Sequences and row counts as the base has them.
pub(crate) fn restore_notes(
    generation: &Arc<Generation>,
    sequences: &Sequences,
    statistics: &Statistics,
) -> Result<(), StoreError> {
    let unbounded = || (Bound::Unbounded, Bound::Unbounded);
    let (start, end) = unbounded();
    let mut cursor = generation.scan(RelationId::SEQUENCES, start, end, Direction::Forward)?;
    while cursor.advance()? {
        let record = cursor.current().and_then(|(key, value)| {
            let id = SequenceId(u32::from_be_bytes(key.try_into().ok()?));
            let (last_value, rest) = value.split_first_chunk()?;
            Some(SequenceRecord { id, last_value: i64::from_be_bytes(*last_value), is_called: rest == [1] })
        });
        let record = record.ok_or_else(|| StoreError::corrupt("base", "a sequence makes no sense"))?;
        sequences.restore(record);
    }
    let (start, end) = unbounded();
    let mut cursor = generation.scan(RelationId::META, start, end, Direction::Forward)?;
    while cursor.advance()? {
        let Some((key, value)) = cursor.current() else { break };
        let Some(relation) = key.strip_prefix(STATISTICS_PREFIX) else { continue };
        let counters = relation.try_into().ok().zip(numbers(value)).map(|(relation, numbers)| {
            let [rows, written, written_bytes] = numbers;
            let counters = Counters { rows: rows.cast_signed(), written, written_bytes };
            (RelationId(u32::from_be_bytes(relation)), counters)
        });
        let (relation, counters) =
            counters.ok_or_else(|| StoreError::corrupt("base", "a row count makes no sense"))?;
        statistics.restore(relation, counters);
    }
    Ok(())
}

fn put_sequence(writer: &mut BaseWriter<'_>, record: &SequenceRecord) -> Result<(), StoreError> {
    let mut value = record.last_value.to_be_bytes().to_vec();
    value.push(u8::from(record.is_called));
    writer.put(RelationId::SEQUENCES, &record.id.0.to_be_bytes(), &value)
}

fn put_statistics(
    writer: &mut BaseWriter<'_>,
    relation: RelationId,
    counters: &Counters,
) -> Result<(), StoreError> {
    let mut value = Vec::with_capacity(24);
    for number in [counters.rows.cast_unsigned(), counters.written, counters.written_bytes] {
        value.extend_from_slice(&number.to_be_bytes());
    }
    writer.put(RelationId::META, &statistics_key(relation), &value)
}

fn statistics_key(relation: RelationId) -> Vec<u8> {
    [STATISTICS_PREFIX, &relation.0.to_be_bytes()].concat()
}

/// Exactly `N` numbers.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (words, []) = bytes.as_chunks::<8>() else { return None };
    let words: &[[u8; 8]; N] = words.try_into().ok()?;
    Some(words.map(u64::from_be_bytes))
}
