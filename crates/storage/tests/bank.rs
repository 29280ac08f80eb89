//! Money moves between accounts while checkpoints run; no view may ever see any of it missing.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

mod support;

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use storage::*;
use support::{TestDisk, new_directory, quiet};

const ACCOUNTS: RelationId = RelationId::FIRST_USER;
const HISTORY: RelationId = RelationId(RelationId::FIRST_USER.0 + 1);
const NUMBER: u64 = 40;
const START: i64 = 1_000;

fn balance(value: &[u8]) -> i64 {
    i64::from_be_bytes(value[..8].try_into().unwrap())
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Moves an amount, locking in key order; sometimes with a large side write, which joins the delta as a run.
fn transfer(store: &Store, state: &mut u64, thread: u64, at: u64) {
    let (a, b) = (next(state) % NUMBER, next(state) % NUMBER);
    if a == b {
        return;
    }
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.begin_statement();
    let amount = (next(state) % 50).cast_signed();
    for (account, change) in [(a.min(b), amount), (a.max(b), -amount)] {
        let key = account.to_be_bytes();
        transaction.lock(ACCOUNTS, &key, LockMode::NoKeyUpdate, Wait::Block).unwrap();
        let value = match transaction.current(ACCOUNTS, &key).unwrap() {
            Current::Same => transaction.view().get(ACCOUNTS, &key, <[u8]>::to_vec).unwrap().unwrap(),
            Current::Changed(value) => value,
            Current::Deleted => panic!("accounts stay"),
        };
        let value = (balance(&value) + change).to_be_bytes();
        transaction.put(ACCOUNTS, &key, &[&value[..], &[0; 50]].concat()).unwrap();
    }
    let rows = if at.is_multiple_of(40) { 9_000 } else { 1 };
    for row in 0..rows {
        let key = [thread.to_be_bytes(), at.to_be_bytes(), u64::to_be_bytes(row)].concat();
        transaction.insert(HISTORY, &key, b"").unwrap();
    }
    transaction.end_statement();
    transaction.commit(Durability::Synced).unwrap();
}

fn total(view: &ReadView, direction: Direction) -> i64 {
    let mut scan = view.scan(ACCOUNTS, Bound::Unbounded, Bound::Unbounded, direction).unwrap();
    let (mut sum, mut number) = (0, 0);
    while let Some((_, value)) = scan.next().unwrap() {
        sum += balance(value);
        number += 1;
    }
    assert_eq!(number, NUMBER);
    sum
}

#[test]
fn every_view_adds_up() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let options = StoreOptions {
        segment_bytes: 1 << 20,
        checkpoint_bytes: 400 << 10,
        checkpoint_part_bytes: 16 << 10,
        checkpoint_idle: Duration::from_millis(3),
        ..quiet(&disk)
    };
    let store = Store::open(directory.path(), options.clone()).unwrap();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    for account in 0..NUMBER {
        transaction.insert(ACCOUNTS, &account.to_be_bytes(), &START.to_be_bytes()).unwrap();
    }
    transaction.commit(Durability::Synced).unwrap();
    let stop = AtomicBool::new(false);
    let sum = NUMBER.cast_signed() * START;
    thread::scope(|scope| {
        for thread in 0..3u64 {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                let mut state = thread + 1;
                let mut at = 0;
                while !stop.load(Ordering::Relaxed) {
                    transfer(store, &mut state, thread, at);
                    at += 1;
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(3);
        let mut old = store.view();
        let mut looks = 0;
        while Instant::now() < until {
            let view = store.view();
            assert_eq!(total(&view, Direction::Forward), sum);
            assert_eq!(total(&view, Direction::Backward), sum);
            let keyed: i64 = (0..NUMBER)
                .map(|account| view.get(ACCOUNTS, &account.to_be_bytes(), balance).unwrap().unwrap())
                .sum();
            assert_eq!(keyed, sum);
            assert_eq!(total(&old, Direction::Forward), sum, "an old view stays as it was");
            looks += 1;
            if looks % 50 == 0 {
                old = view;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let activity = store.activity();
    assert!(activity.checkpoints > 3 && activity.commits > 100, "{activity:?}");
    drop(store);
    disk.restart(true);
    let store = Store::open(directory.path(), options).unwrap();
    assert_eq!(total(&store.view(), Direction::Forward), sum);
    let mut history = store.view().scan_prefix(HISTORY, b"", Direction::Forward).unwrap();
    let mut rows = 0;
    while history.next().unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(store.statistics(HISTORY).rows, rows);
}
