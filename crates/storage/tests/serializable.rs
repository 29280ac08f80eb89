//! SERIALIZABLE: the anomalies that snapshots alone let pass, and what must go on being allowed.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

mod support;

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;
use storage::*;
use support::new_directory;

const ROWS: RelationId = RelationId::FIRST_USER;

fn open() -> (tempfile::TempDir, Store) {
    let directory = new_directory();
    let store = Store::open(directory.path(), StoreOptions::for_tests()).unwrap();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    for key in [b"x", b"y", b"z"] {
        transaction.insert(ROWS, key, b"0").unwrap();
    }
    transaction.commit(Durability::Relaxed).unwrap();
    (directory, store)
}

fn begin(store: &Store) -> Transaction {
    let mut transaction = store.begin(Isolation::Serializable);
    transaction.begin_statement();
    transaction
}

fn read(transaction: &mut Transaction, key: &[u8]) -> Option<Vec<u8>> {
    transaction.view().get(ROWS, key, <[u8]>::to_vec).unwrap()
}

fn write(transaction: &mut Transaction, key: &[u8], value: &[u8]) {
    transaction.put(ROWS, key, value).unwrap();
    transaction.end_statement();
}

fn commit(transaction: Transaction) -> bool {
    match transaction.commit(Durability::Relaxed) {
        Ok(_) => true,
        Err(StoreError::ReadWriteDependency) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn write_skew_is_refused() {
    let (_directory, store) = open();
    let (mut one, mut two) = (begin(&store), begin(&store));
    read(&mut one, b"x");
    read(&mut two, b"y");
    write(&mut one, b"y", b"1");
    write(&mut two, b"x", b"2");
    assert!(commit(one));
    assert!(!commit(two));
    let mut again = begin(&store);
    assert_eq!(read(&mut again, b"y"), Some(b"1".to_vec()));
    write(&mut again, b"x", b"2");
    assert!(commit(again), "a retry succeeds");
}

#[test]
fn rows_that_were_not_there_count_as_read() {
    let (_directory, store) = open();
    let (mut one, mut two) = (begin(&store), begin(&store));
    for (transaction, key) in [(&mut one, b"n1"), (&mut two, b"n2")] {
        let view = transaction.view();
        let mut scan =
            view.scan(ROWS, Bound::Included(b"n"), Bound::Excluded(b"o"), Direction::Forward).unwrap();
        assert!(scan.next().unwrap().is_none());
        transaction.insert(ROWS, key, b"").unwrap();
        transaction.end_statement();
    }
    assert!(commit(two));
    assert!(!commit(one));
}

#[test]
fn a_single_dependency_is_no_danger() {
    let (_directory, store) = open();
    let (mut one, mut two) = (begin(&store), begin(&store));
    read(&mut one, b"x");
    write(&mut one, b"y", b"1");
    write(&mut two, b"x", b"2");
    assert!(commit(two));
    assert!(commit(one), "one before two explains it");
}

#[test]
fn disjoint_work_goes_on() {
    let (_directory, store) = open();
    let (mut one, mut two) = (begin(&store), begin(&store));
    for (transaction, key) in [(&mut one, b"x"), (&mut two, b"y")] {
        read(transaction, key);
        write(transaction, key, b"1");
    }
    assert!(commit(one));
    assert!(commit(two));
}

/// Fekete, O'Neil, O'Neil 2004: a reader that sees a batch's close but not a late receipt within it.
#[test]
fn a_reader_can_see_what_no_order_explains() {
    for reader_first in [false, true] {
        let (_directory, store) = open();
        let mut receipt = begin(&store);
        read(&mut receipt, b"x");
        let mut close = begin(&store);
        write(&mut close, b"x", b"1");
        assert!(commit(close));
        let mut report = begin(&store);
        assert_eq!(read(&mut report, b"x"), Some(b"1".to_vec()));
        assert_eq!(read(&mut report, b"y"), Some(b"0".to_vec()));
        write(&mut receipt, b"y", b"1");
        match reader_first {
            true => {
                assert!(commit(report));
                assert!(!commit(receipt));
            }
            // The pivot gives way here too: the reader might still write.
            false => assert!(!commit(receipt) && commit(report)),
        }
    }
}

#[test]
fn a_reader_after_a_committed_pivot_gives_way() {
    let (_directory, store) = open();
    let mut pivot = begin(&store);
    read(&mut pivot, b"x");
    let mut out = begin(&store);
    write(&mut out, b"x", b"1");
    assert!(commit(out));
    let mut late = begin(&store);
    read(&mut late, b"x");
    write(&mut pivot, b"y", b"1");
    assert!(commit(pivot), "nobody has read y yet");
    assert_eq!(read(&mut late, b"y"), Some(b"0".to_vec()));
    assert!(!commit(late));
}

#[test]
fn other_levels_do_not_count_and_nothing_is_kept() {
    let (_directory, store) = open();
    let mut serializable = begin(&store);
    let mut other = store.begin(Isolation::RepeatableRead);
    read(&mut serializable, b"x");
    read(&mut other, b"y");
    write(&mut serializable, b"y", b"1");
    write(&mut other, b"x", b"1");
    assert!(commit(other));
    assert!(commit(serializable));
    let mut gone = begin(&store);
    read(&mut gone, b"z");
    drop(gone);
    let mut last = begin(&store);
    write(&mut last, b"z", b"1");
    assert!(commit(last));
}

/// One step of a transaction over keys 0 to 4.
#[derive(Debug, Clone, Copy)]
enum Step {
    Read(u8),
    ReadRange(u8, u8),
    /// Writes what has been read so far, summed up, plus this.
    Write(u8, u8),
    Delete(u8),
}

type State = BTreeMap<u8, u64>;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u8..5).prop_map(Step::Read),
        (0u8..5, 0u8..5).prop_map(|(a, b)| Step::ReadRange(a.min(b), a.max(b))),
        (0u8..5, 1u8..100).prop_map(|(key, add)| Step::Write(key, add)),
        (0u8..5).prop_map(Step::Delete),
    ]
}

fn mix(sum: u64, value: u64) -> u64 {
    sum.wrapping_mul(31).wrapping_add(value)
}

/// What a step reads, in the order of keys.
fn model_step(state: &mut State, step: Step, sum: &mut u64) {
    match step {
        Step::Read(key) => *sum = mix(*sum, state.get(&key).map_or(1, |value| value + 2)),
        Step::ReadRange(start, end) => {
            for (key, value) in state.range(start..=end) {
                *sum = mix(*sum, value + u64::from(*key));
            }
        }
        Step::Write(key, add) => drop(state.insert(key, *sum % 1_000 + u64::from(add))),
        Step::Delete(key) => drop(state.remove(&key)),
    }
}

/// The same on the store; false when the transaction must give up.
fn store_step(transaction: &mut Transaction, step: Step, sum: &mut u64) -> bool {
    transaction.begin_statement();
    let number = |value: &[u8]| u64::from_be_bytes(value.try_into().unwrap());
    let view = transaction.view();
    match step {
        Step::Read(key) => {
            let value = view.get(ROWS, &[key], number).unwrap();
            *sum = mix(*sum, value.map_or(1, |value| value + 2));
        }
        Step::ReadRange(start, end) => {
            let (start, end) = (&[start][..], &[end][..]);
            let bounds = (Bound::Included(start), Bound::Included(end));
            let mut scan = view.scan(ROWS, bounds.0, bounds.1, Direction::Forward).unwrap();
            while let Some((key, value)) = scan.next().unwrap() {
                *sum = mix(*sum, number(value) + u64::from(key[0]));
            }
        }
        Step::Write(key, _) | Step::Delete(key) => {
            // As UPDATE and DELETE do, it looks for the row first; a deletion that finds nothing writes nothing.
            let exists = view.contains(ROWS, &[key]).unwrap();
            if !exists && matches!(step, Step::Delete(_)) {
                transaction.end_statement();
                return true;
            }
            let locked = transaction.lock(ROWS, &[key], LockMode::Update, Wait::NoWait).is_ok();
            if !locked || transaction.current(ROWS, &[key]).is_err() {
                return false;
            }
            match step {
                Step::Write(_, add) => {
                    let value = *sum % 1_000 + u64::from(add);
                    transaction.put(ROWS, &[key], &value.to_be_bytes()).unwrap();
                }
                _ => transaction.delete(ROWS, &[key]).unwrap(),
            }
        }
    }
    transaction.end_statement();
    true
}

/// Whether some order of `left`, one after the other, gives each the sum that it had, and ends in `end`.
fn explained(state: &State, left: &[(Vec<Step>, u64)], end: &State) -> bool {
    if left.is_empty() {
        return state == end;
    }
    (0..left.len()).any(|first| {
        let (steps, sum) = &left[first];
        let (mut state, mut own) = (state.clone(), 0);
        steps.iter().for_each(|step| model_step(&mut state, *step, &mut own));
        let mut rest = left.to_vec();
        rest.remove(first);
        own == *sum && explained(&state, &rest, end)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_history_has_a_serial_order(
        scripts in prop::collection::vec(prop::collection::vec(step(), 1..5), 2..6),
        schedule in prop::collection::vec(0usize..6, 5..40),
        checkpoints in prop::collection::vec(0usize..40, 0..3),
    ) {
        let directory = new_directory();
        let store = Store::open(directory.path(), StoreOptions::for_tests()).unwrap();
        let mut start = store.begin(Isolation::Serializable);
        for key in 0..3u8 {
            start.insert(ROWS, &[key], &u64::from(key).to_be_bytes()).unwrap();
        }
        start.commit(Durability::Relaxed).unwrap();
        let before: State = (0..3).map(|key| (key, u64::from(key))).collect();

        let mut running: Vec<_> = scripts.iter().map(|steps| (None, steps.iter(), 0u64)).collect();
        let mut committed = Vec::new();
        for (at, turn) in schedule.into_iter().chain((0..6).flat_map(|turn| [turn; 6])).enumerate() {
            if checkpoints.contains(&at) {
                store.checkpoint().unwrap();
            }
            let Some((transaction, steps, sum)) = running.get_mut(turn) else { continue };
            match steps.next() {
                Some(step) => {
                    let own = transaction.get_or_insert_with(|| store.begin(Isolation::Serializable));
                    if !store_step(own, *step, sum) {
                        *transaction = None;
                        *steps = [].iter();
                    }
                }
                None => {
                    if let Some(own) = transaction.take()
                        && commit(own)
                    {
                        committed.push((scripts[turn].clone(), *sum));
                    }
                }
            }
        }
        let mut end = State::new();
        let mut scan = store.view().scan_prefix(ROWS, b"", Direction::Forward).unwrap();
        while let Some((key, value)) = scan.next().unwrap() {
            end.insert(key[0], u64::from_be_bytes(value.try_into().unwrap()));
        }
        prop_assert!(explained(&before, &committed, &end), "{committed:?} end in {end:?}");
    }
}
