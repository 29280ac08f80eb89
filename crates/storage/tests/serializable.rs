//! SERIALIZABLE: the anomalies that snapshots alone let pass, and what must go on being allowed.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

mod support;

use std::ops::Bound;

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
