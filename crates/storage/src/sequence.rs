//! Sequences: numbers handed out outside of transactions (PostgreSQL's `sequence.c`).
//!
//! A state is logged 32 numbers ahead, so most calls log nothing. A crash may skip numbers, never repeat one: the record
//! goes to the log before or with the commit of the transaction that took the number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use crate::error::SequenceExhausted;
use crate::ids::SequenceId;

/// How many numbers are logged ahead (`SEQ_LOG_VALS`).
const LOG_AHEAD: i64 = 32;

/// A sequence's definition, as far as handing out numbers goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceSpec {
    /// The first number.
    pub start: i64,
    /// The step; not zero.
    pub increment: i64,
    /// The least number.
    pub minimum: i64,
    /// The greatest number.
    pub maximum: i64,
    /// Whether to begin again at the other end.
    pub cycle: bool,
}

/// Where a sequence stands, as its own table shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceState {
    /// The number handed out last, or the one to come first.
    pub last_value: i64,
    /// Numbers that the next calls take without logging.
    pub log_count: i64,
    /// Whether `last_value` has been handed out.
    pub is_called: bool,
}

/// Numbers handed out by one call: `first`, `first + increment`, ... `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceBatch {
    /// The number for this call.
    pub first: i64,
    /// The last number that the caller may use without asking again.
    pub last: i64,
    /// How many they are.
    pub count: u64,
}

/// A state on its way to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceRecord {
    pub(crate) id: SequenceId,
    pub(crate) last_value: i64,
    pub(crate) is_called: bool,
}

/// The states of all sequences, and the records not yet in the log.
#[derive(Default)]
pub(crate) struct Sequences {
    states: RwLock<FxHashMap<SequenceId, Arc<Mutex<Tracked>>>>,
    unlogged: Mutex<Unlogged>,
    /// Up to which number records are durable.
    durable: AtomicU64,
}

/// Records that wait for the next append to the log. Each has a number, counted from 1.
#[derive(Default)]
struct Unlogged {
    records: Vec<SequenceRecord>,
    last_number: u64,
}

impl Unlogged {
    fn push(&mut self, record: SequenceRecord) -> u64 {
        self.records.push(record);
        self.last_number += 1;
        self.last_number
    }
}

/// A state, and the one that the log holds.
#[derive(Debug, Clone, Copy)]
struct Tracked {
    state: SequenceState,
    logged: SequenceRecord,
    /// The number of the record that made it so.
    number: u64,
}

impl Sequences {
    /// Takes `cache` numbers (fewer at an end). Also tells whether they
    /// rest on a record that is not durable yet, so that the caller's commit must sync it.
    pub(crate) fn next(
        &self,
        id: SequenceId,
        spec: &SequenceSpec,
        cache: u64,
    ) -> Result<(SequenceBatch, bool), SequenceExhausted> {
        let tracked = self.tracked(id, spec.start);
        let mut tracked = tracked.lock();
        let (batch, record) = advance(&mut tracked.state, id, spec, cache)?;
        if let Some(record) = record {
            tracked.logged = record;
            // IMPORTANT: queued under the sequence's own lock, so that records of one sequence stay in order.
            tracked.number = self.unlogged.lock().push(record);
        }
        Ok((batch, tracked.number > self.durable.load(Ordering::Acquire)))
    }

    /// `setval`.
    pub(crate) fn set(&self, id: SequenceId, last_value: i64, is_called: bool) {
        let tracked = self.tracked(id, last_value);
        let mut tracked = tracked.lock();
        tracked.state = SequenceState { last_value, log_count: 0, is_called };
        tracked.logged = SequenceRecord { id, last_value, is_called };
        tracked.number = self.unlogged.lock().push(tracked.logged);
    }

    /// Where a sequence stands; none when no number was ever taken or set.
    pub(crate) fn state(&self, id: SequenceId) -> Option<SequenceState> {
        let tracked = Arc::clone(self.states.read().get(&id)?);
        let state = tracked.lock().state;
        Some(state)
    }

    /// Brings back a state from the log or the base.
    pub(crate) fn restore(&self, record: SequenceRecord) {
        let state =
            SequenceState { last_value: record.last_value, log_count: 0, is_called: record.is_called };
        self.states
            .write()
            .insert(record.id, Arc::new(Mutex::new(Tracked { state, logged: record, number: 0 })));
    }

    pub(crate) fn remove(&self, id: SequenceId) {
        self.states.write().remove(&id);
    }

    /// Records for the log, in order, and the number of the last one ever made.
    pub(crate) fn take_unlogged(&self) -> (Vec<SequenceRecord>, u64) {
        let mut unlogged = self.unlogged.lock();
        (std::mem::take(&mut unlogged.records), unlogged.last_number)
    }

    /// Notes that records up to `number` have been synced.
    pub(crate) fn set_durable(&self, number: u64) {
        self.durable.fetch_max(number, Ordering::AcqRel);
    }

    /// What the log knows of every sequence, or is about to: the checkpoint's content.
    pub(crate) fn logged_states(&self) -> Vec<SequenceRecord> {
        self.states.read().values().map(|tracked| tracked.lock().logged).collect()
    }

    fn tracked(&self, id: SequenceId, start: i64) -> Arc<Mutex<Tracked>> {
        if let Some(known) = self.states.read().get(&id) {
            return Arc::clone(known);
        }
        let state = SequenceState { last_value: start, log_count: 0, is_called: false };
        let logged = SequenceRecord { id, last_value: start, is_called: false };
        let fresh = || Arc::new(Mutex::new(Tracked { state, logged, number: 0 }));
        Arc::clone(self.states.write().entry(id).or_insert_with(fresh))
    }
}

/// Takes numbers out of `state`; the record, if there is one, covers them and some more (compare `nextval_internal`).
fn advance(
    state: &mut SequenceState,
    id: SequenceId,
    spec: &SequenceSpec,
    cache: u64,
) -> Result<(SequenceBatch, Option<SequenceRecord>), SequenceExhausted> {
    let wanted = i64::try_from(cache.max(1)).unwrap_or(i64::MAX);
    let first = match state.is_called {
        false => state.last_value,
        true => match step(state.last_value, spec) {
            Some(next) => next,
            None if spec.cycle && spec.increment > 0 => spec.minimum,
            None if spec.cycle => spec.maximum,
            None if spec.increment > 0 => return Err(SequenceExhausted::Maximum(spec.maximum)),
            None => return Err(SequenceExhausted::Minimum(spec.minimum)),
        },
    };
    let further = (wanted - 1).min(steps_left(first, spec));
    let last = first.saturating_add(further.saturating_mul(spec.increment));
    let taken = further.saturating_add(1);
    // A cycle's jump is logged as well, so that the log's state lies ahead of what is handed out.
    let continues = state.is_called && first == state.last_value.wrapping_add(spec.increment);
    if continues && taken <= state.log_count {
        *state = SequenceState { last_value: last, log_count: state.log_count - taken, is_called: true };
        return Ok((SequenceBatch { first, last, count: taken.cast_unsigned() }, None));
    }
    let ahead = LOG_AHEAD.min(steps_left(last, spec));
    let logged = last.saturating_add(ahead.saturating_mul(spec.increment));
    *state = SequenceState { last_value: last, log_count: ahead, is_called: true };
    let record = SequenceRecord { id, last_value: logged, is_called: true };
    Ok((SequenceBatch { first, last, count: taken.cast_unsigned() }, Some(record)))
}

fn step(value: i64, spec: &SequenceSpec) -> Option<i64> {
    let next = value.checked_add(spec.increment)?;
    (spec.minimum..=spec.maximum).contains(&next).then_some(next)
}

/// How many steps can be made from `value` before the end.
fn steps_left(value: i64, spec: &SequenceSpec) -> i64 {
    let room = match spec.increment > 0 {
        true => i128::from(spec.maximum) - i128::from(value),
        false => i128::from(value) - i128::from(spec.minimum),
    };
    let step = i128::from(spec.increment).abs().max(1);
    i64::try_from(room.max(0) / step).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: SequenceId = SequenceId(20_000);

    fn spec(increment: i64, minimum: i64, maximum: i64, cycle: bool) -> SequenceSpec {
        let start = if increment > 0 { minimum } else { maximum };
        SequenceSpec { start, increment, minimum, maximum, cycle }
    }

    fn take(sequences: &Sequences, spec: &SequenceSpec) -> Result<i64, SequenceExhausted> {
        sequences.next(ID, spec, 1).map(|(batch, _)| batch.first)
    }

    #[test]
    fn counts_up_down_and_around() {
        let sequences = Sequences::default();
        let up = spec(2, 1, 5, false);
        assert_eq!(
            (take(&sequences, &up), take(&sequences, &up), take(&sequences, &up)),
            (Ok(1), Ok(3), Ok(5))
        );
        assert_eq!(take(&sequences, &up), Err(SequenceExhausted::Maximum(5)));
        sequences.set(ID, 1, false);
        let down = spec(-1, -1, 1, true);
        let taken: Vec<i64> = (0..4).map(|_| take(&sequences, &down).unwrap()).collect();
        assert_eq!(taken, [1, 0, -1, 1]);
    }

    #[test]
    fn the_log_is_never_behind() {
        let sequences = Sequences::default();
        let spec = spec(3, 1, i64::MAX, false);
        let mut logged = i64::MIN;
        for _ in 0..200 {
            let (batch, _) = sequences.next(ID, &spec, 5).unwrap();
            assert_eq!((batch.count, batch.last), (5, batch.first + 12));
            for record in sequences.take_unlogged().0 {
                logged = record.last_value;
            }
            assert!(batch.last <= logged);
        }
        sequences.set(ID, i64::MAX - 4, true);
        assert_eq!(take(&sequences, &spec), Ok(i64::MAX - 1));
        assert_eq!(take(&sequences, &spec), Err(SequenceExhausted::Maximum(i64::MAX)));
    }
}
