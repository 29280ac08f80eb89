//! Random work against a plain map: what a store shows is what the map says, whatever layers it lies in.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

mod support;

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;
use storage::*;
use support::{TestDisk, new_directory, quiet};

type Write = (u32, Vec<u8>, Option<Vec<u8>>);
type Model = BTreeMap<(RelationId, Vec<u8>), Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Statement(Vec<(u32, Vec<u8>, Option<Vec<u8>>)>),
    AbortedStatement(Vec<(u32, Vec<u8>, Option<Vec<u8>>)>),
    Bulk(u32, usize),
    Savepoint,
    RollbackTo(usize),
    Release(usize),
    Commit,
    Rollback,
    Checkpoint,
    Hold,
    Drop(u32),
    Reopen,
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(0u8..4, 0..4),
        prop::collection::vec(0u8..2, 15..19),
        Just(vec![255, 255]),
        Just(vec![7; KEY_BYTES_MAX]),
    ]
}

fn writes() -> impl Strategy<Value = Vec<(u32, Vec<u8>, Option<Vec<u8>>)>> {
    let value = prop::option::weighted(0.7, prop::collection::vec(any::<u8>(), 0..6));
    prop::collection::vec((0u32..3, key(), value), 1..12)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => writes().prop_map(Step::Statement),
        1 => writes().prop_map(Step::AbortedStatement),
        1 => (0u32..3, 1usize..40).prop_map(|(relation, thousands)| Step::Bulk(relation, thousands * 500)),
        2 => Just(Step::Savepoint),
        2 => (0usize..3).prop_map(Step::RollbackTo),
        1 => (0usize..3).prop_map(Step::Release),
        5 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        2 => Just(Step::Checkpoint),
        2 => Just(Step::Hold),
        1 => (0u32..3).prop_map(Step::Drop),
        2 => Just(Step::Reopen),
    ]
}

fn relation(number: u32) -> RelationId {
    RelationId(RelationId::FIRST_USER.0 + number)
}

fn read_all(view: &ReadView, relation: RelationId, direction: Direction) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut scan = view.scan(relation, Bound::Unbounded, Bound::Unbounded, direction).unwrap();
    let mut all = Vec::new();
    while let Some((key, value)) = scan.next().unwrap() {
        all.push((key.to_vec(), value.to_vec()));
    }
    all
}

fn check(view: &ReadView, model: &Model, probes: &[Vec<u8>]) {
    for relation in (0..3).map(relation) {
        let expected: Vec<_> = model
            .iter()
            .filter(|((id, _), _)| *id == relation)
            .map(|((_, key), value)| (key.clone(), value.clone()))
            .collect();
        assert!(read_all(view, relation, Direction::Forward) == expected, "forward scan differs");
        let mut backward = read_all(view, relation, Direction::Backward);
        backward.reverse();
        assert!(backward == expected, "backward scan differs");
        for probe in probes {
            let found = view.get(relation, probe, |value| value.to_vec()).unwrap();
            assert_eq!(found.as_ref(), model.get(&(relation, probe.clone())));
        }
        if let [a, b, ..] = probes {
            for (start, end) in [
                (Bound::Included(&a[..]), Bound::Excluded(&b[..])),
                (Bound::Excluded(&a[..]), Bound::Included(&b[..])),
            ] {
                let inside = |key: &Vec<u8>| {
                    let after = match start {
                        Bound::Included(start) => key[..] >= *start,
                        Bound::Excluded(start) => key[..] > *start,
                        Bound::Unbounded => true,
                    };
                    let before = match end {
                        Bound::Included(end) => key[..] <= *end,
                        Bound::Excluded(end) => key[..] < *end,
                        Bound::Unbounded => true,
                    };
                    after && before
                };
                let expected: Vec<_> =
                    expected.iter().map(|(key, _)| key).filter(|key| inside(key)).cloned().collect();
                for direction in [Direction::Forward, Direction::Backward] {
                    let mut scan = view.scan(relation, start, end, direction).unwrap();
                    let mut found = Vec::new();
                    while let Some((key, _)) = scan.next().unwrap() {
                        found.push(key.to_vec());
                    }
                    if direction == Direction::Backward {
                        found.reverse();
                    }
                    assert!(found == expected, "range scan differs");
                }
            }
        }
    }
}

fn write(transaction: &mut Transaction, model: &mut Model, writes: &[Write]) {
    for (number, key, value) in writes {
        let relation = relation(*number);
        let known = model.contains_key(&(relation, key.clone()));
        match value {
            Some(value) if known => transaction.put(relation, key, value).unwrap(),
            Some(value) => transaction.insert(relation, key, value).unwrap(),
            None if known => transaction.delete(relation, key).unwrap(),
            None => {}
        }
        match value {
            Some(value) => drop(model.insert((relation, key.clone()), value.clone())),
            None => drop(model.remove(&(relation, key.clone()))),
        }
    }
}

fn run(steps: Vec<Step>) {
    let directory = new_directory();
    let disk = TestDisk::default();
    let options = StoreOptions { segment_bytes: 64 << 10, ..quiet(&disk) };
    let mut store = Store::open(directory.path(), options.clone()).unwrap();
    let mut committed = Model::new();
    let mut working = Model::new();
    let mut savepoints: Vec<(SavepointId, Model)> = Vec::new();
    let mut held: Vec<(ReadView, Model)> = Vec::new();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    let mut probes: Vec<Vec<u8>> = vec![b"\x01".to_vec(), b"\x02\x01".to_vec()];
    for step in steps {
        match step {
            Step::Statement(list) => {
                transaction.begin_statement();
                let before = transaction.view();
                let unchanged = working.clone();
                write(&mut transaction, &mut working, &list);
                probes.truncate(6);
                probes.extend(list.iter().map(|(_, key, _)| key.clone()));
                check(&before, &unchanged, &probes);
                transaction.end_statement();
            }
            Step::AbortedStatement(list) => {
                transaction.begin_statement();
                write(&mut transaction, &mut working.clone(), &list);
                transaction.abort_statement();
            }
            Step::Bulk(number, rows) => {
                transaction.begin_statement();
                let list: Vec<_> = (0..rows as u32)
                    .map(|row| (number, row.to_be_bytes().to_vec(), Some(vec![row as u8; 3])))
                    .collect();
                write(&mut transaction, &mut working, &list);
                transaction.end_statement();
            }
            Step::Savepoint => savepoints.push((transaction.savepoint(), working.clone())),
            Step::RollbackTo(back) => {
                if back < savepoints.len() {
                    savepoints.truncate(savepoints.len() - back);
                    let (id, model) = savepoints.last().unwrap();
                    transaction.rollback_to(*id).unwrap();
                    working = model.clone();
                }
            }
            Step::Release(back) => {
                if back < savepoints.len() {
                    savepoints.truncate(savepoints.len() - back);
                    let (id, _) = savepoints.pop().unwrap();
                    transaction.release(id).unwrap();
                    assert!(matches!(transaction.rollback_to(id), Err(StoreError::UnknownSavepoint)));
                }
            }
            Step::Commit => {
                transaction.commit(Durability::Synced).unwrap();
                committed = working.clone();
                savepoints.clear();
                transaction = store.begin(Isolation::ReadCommitted);
            }
            Step::Rollback => {
                transaction.rollback();
                working = committed.clone();
                savepoints.clear();
                transaction = store.begin(Isolation::ReadCommitted);
            }
            Step::Checkpoint => store.checkpoint().unwrap(),
            Step::Hold => held.push((store.view(), committed.clone())),
            Step::Drop(number) => {
                // A dropped relation is never written again; here its successor is made by moving on after a reopening.
                transaction.rollback();
                working = committed.clone();
                savepoints.clear();
                transaction = store.begin(Isolation::ReadCommitted);
                let gone = RelationId(relation(number).0 + 100);
                transaction.insert(gone, b"x", b"y").unwrap();
                transaction.commit(Durability::Synced).unwrap();
                transaction = store.begin(Isolation::ReadCommitted);
                transaction.drop_relation(gone);
                transaction.commit(Durability::Synced).unwrap();
                transaction = store.begin(Isolation::ReadCommitted);
                store.checkpoint().unwrap();
                assert!(!store.view().contains(gone, b"x").unwrap());
            }
            Step::Reopen => {
                for (view, model) in held.drain(..) {
                    check(&view, &model, &probes);
                }
                drop(transaction);
                drop(store);
                disk.restart(true);
                store = Store::open(directory.path(), options.clone()).unwrap();
                working = committed.clone();
                savepoints.clear();
                transaction = store.begin(Isolation::ReadCommitted);
            }
        }
        transaction.begin_statement();
        check(&transaction.view(), &working, &probes);
        check(&store.view(), &committed, &probes);
        for number in 0..3 {
            let rows = committed.keys().filter(|(id, _)| *id == relation(number)).count();
            assert_eq!(store.statistics(relation(number)).rows, rows as u64);
        }
    }
    for (view, model) in &held {
        check(view, model, &probes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 400, ..ProptestConfig::default() })]
    #[test]
    fn a_store_is_a_map(steps in prop::collection::vec(step(), 1..40)) {
        run(steps);
    }
}
