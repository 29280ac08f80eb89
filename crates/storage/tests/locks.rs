//! Locks between sessions: lost updates, deadlocks, timeouts, relation locks, advisory locks.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use storage::*;

const ROWS: RelationId = RelationId::FIRST_USER;

fn open() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), StoreOptions::for_tests()).unwrap();
    (directory, store)
}

fn write(store: &Store, key: &[u8], value: &[u8]) {
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.put(ROWS, key, value).unwrap();
    transaction.commit(Durability::Relaxed).unwrap();
}

/// One increment as an UPDATE makes it: read, lock, look again, write.
fn increment(store: &Store) {
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.begin_statement();
    let seen = transaction.view().get(ROWS, b"n", |value| value.to_vec()).unwrap().unwrap();
    transaction.lock(ROWS, b"n", LockMode::NoKeyUpdate, Wait::Block).unwrap();
    let value = match transaction.current(ROWS, b"n").unwrap() {
        Current::Same => seen,
        Current::Changed(value) => value,
        Current::Deleted => panic!("nobody deletes it"),
    };
    let next = u64::from_be_bytes(value.try_into().unwrap()) + 1;
    transaction.put(ROWS, b"n", &next.to_be_bytes()).unwrap();
    transaction.end_statement();
    transaction.commit(Durability::Relaxed).unwrap();
}

/// A view may be read by several threads, and a transaction may change threads.
#[test]
fn views_are_shared_and_transactions_move() {
    fn is_shared<T: Send + Sync + Clone>() {}
    fn moves<T: Send>() {}
    is_shared::<ReadView>();
    is_shared::<Store>();
    moves::<Transaction>();
    moves::<Scan>();
}

#[test]
fn no_update_is_lost() {
    let (_directory, store) = open();
    write(&store, b"n", &0u64.to_be_bytes());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..250).for_each(|_| increment(&store)));
        }
    });
    let end = store.view().get(ROWS, b"n", |value| value.to_vec()).unwrap().unwrap();
    assert_eq!(u64::from_be_bytes(end.try_into().unwrap()), 1_000);
}

#[test]
fn repeatable_read_refuses_a_changed_row() {
    let (_directory, store) = open();
    write(&store, b"n", b"1");
    let mut transaction = store.begin(Isolation::RepeatableRead);
    transaction.begin_statement();
    write(&store, b"other", b"1");
    assert_eq!(transaction.current(ROWS, b"n").unwrap(), Current::Same);
    write(&store, b"n", b"2");
    assert!(matches!(transaction.current(ROWS, b"n"), Err(StoreError::SerializationFailure)));
}

#[test]
fn one_of_two_in_a_circle_gives_way() {
    let (_directory, store) = open();
    let results: Vec<_> = thread::scope(|scope| {
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let workers: Vec<_> = [(b"a", b"b", 11), (b"b", b"a", 22)]
            .into_iter()
            .map(|(first, second, pid)| {
                let (store, barrier) = (store.clone(), barrier.clone());
                scope.spawn(move || {
                    let context = store.lock_context(pid, Arc::default());
                    context.set_deadlock_timeout(Duration::from_millis(20));
                    let mut transaction = store.begin_in(&context, Isolation::ReadCommitted);
                    transaction.lock(ROWS, first, LockMode::Update, Wait::Block).unwrap();
                    barrier.wait();
                    transaction.lock(ROWS, second, LockMode::Update, Wait::Block)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let (failed, succeeded): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_err);
    assert_eq!((failed.len(), succeeded.len()), (1, 1));
    match &failed[0] {
        Err(StoreError::Deadlock { cycle }) => {
            assert_eq!(cycle.len(), 2);
            assert_eq!(cycle[0].process_id + cycle[1].process_id, 33);
            assert_eq!(cycle[0].blocked_by, cycle[1].process_id);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn waits_end_by_timeout_and_by_interrupt() {
    let (_directory, store) = open();
    let mut holder = store.begin(Isolation::ReadCommitted);
    holder.lock(ROWS, b"a", LockMode::KeyShare, Wait::Block).unwrap();
    let context = store.lock_context(7, Arc::default());
    let mut other = store.begin_in(&context, Isolation::ReadCommitted);
    let taken = other.lock(ROWS, b"a", LockMode::NoKeyUpdate, Wait::NoWait).unwrap();
    assert_eq!(taken, LockOutcome::Acquired { waited: false });
    assert_eq!(other.lock(ROWS, b"a", LockMode::Update, Wait::Skip).unwrap(), LockOutcome::Skipped);
    let refused = other.lock(ROWS, b"a", LockMode::Update, Wait::NoWait);
    assert!(matches!(refused, Err(StoreError::LockNotAvailable)));
    context.set_lock_timeout(Duration::from_millis(10));
    let timed_out = other.lock(ROWS, b"a", LockMode::Update, Wait::Block);
    assert!(matches!(timed_out, Err(StoreError::LockTimeout)));
    context.set_lock_timeout(Duration::ZERO);
    let interrupt = context.interrupt().clone();
    let started = Instant::now();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        interrupt.raise(InterruptReason::Cancel);
    });
    let interrupted = other.lock(ROWS, b"a", LockMode::Update, Wait::Block);
    assert!(matches!(interrupted, Err(StoreError::Interrupted(InterruptReason::Cancel))));
    assert!(started.elapsed() < Duration::from_millis(900));
    context.interrupt().clear(InterruptReason::Cancel);
    drop(holder);
    assert!(other.lock(ROWS, b"a", LockMode::Update, Wait::NoWait).is_ok());
}

#[test]
fn strong_relation_locks_find_weak_ones() {
    let (_directory, store) = open();
    let mut reader = store.begin(Isolation::ReadCommitted);
    reader.lock_relation(ROWS, TableLockMode::AccessShare, Wait::Block).unwrap();
    reader.lock_relation(ROWS, TableLockMode::RowExclusive, Wait::Block).unwrap();
    assert!(store.locks().iter().all(|lock| lock.fast_path && lock.granted));
    let mut ddl = store.begin(Isolation::ReadCommitted);
    let refused = ddl.lock_relation(ROWS, TableLockMode::AccessExclusive, Wait::NoWait);
    assert!(matches!(refused, Err(StoreError::LockNotAvailable)));
    assert!(store.locks().iter().any(|lock| !lock.fast_path), "moved to the shared table");
    drop(reader);
    ddl.lock_relation(ROWS, TableLockMode::AccessExclusive, Wait::NoWait).unwrap();
    let mut late = store.begin(Isolation::ReadCommitted);
    let refused = late.lock_relation(ROWS, TableLockMode::AccessShare, Wait::NoWait);
    assert!(matches!(refused, Err(StoreError::LockNotAvailable)));
    drop(ddl);
    late.lock_relation(ROWS, TableLockMode::AccessShare, Wait::NoWait).unwrap();
    assert!(store.locks().iter().all(|lock| lock.fast_path));
    drop(late);
    assert!(store.locks().is_empty());
}

#[test]
fn queues_are_fair() {
    let (_directory, store) = open();
    let mut reader = store.begin(Isolation::ReadCommitted);
    reader.lock(ROWS, b"a", LockMode::Share, Wait::Block).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut writer = store.begin(Isolation::ReadCommitted);
            writer.lock(ROWS, b"a", LockMode::Update, Wait::Block).unwrap()
        });
        while !store.locks().iter().any(|lock| !lock.granted) {
            thread::yield_now();
        }
        let mut second = store.begin(Isolation::ReadCommitted);
        assert_eq!(second.lock(ROWS, b"a", LockMode::Share, Wait::Skip).unwrap(), LockOutcome::Skipped);
        assert!(reader.lock(ROWS, b"a", LockMode::KeyShare, Wait::NoWait).is_ok(), "a holder may pass");
        drop(reader);
        assert_eq!(writer.join().unwrap(), LockOutcome::Acquired { waited: true });
    });
}

#[test]
fn advisory_locks_have_two_scopes() {
    let (_directory, store) = open();
    let one = store.lock_context(1, Arc::default());
    let two = store.lock_context(2, Arc::default());
    let key = AdvisoryKey::Two(3, -4);
    one.lock_advisory(key, false, Wait::Block).unwrap();
    one.lock_advisory(key, false, Wait::Block).unwrap();
    let mut own = store.begin_in(&one, Isolation::ReadCommitted);
    assert!(own.lock_advisory(key, true, Wait::NoWait).is_ok(), "a session does not exclude itself");
    assert_eq!(two.lock_advisory(key, true, Wait::Skip).unwrap(), LockOutcome::Skipped);
    assert!(one.unlock_advisory(key, false));
    assert!(one.unlock_advisory(key, false));
    assert!(!one.unlock_advisory(key, false));
    assert!(two.lock_advisory(key, true, Wait::Skip).is_ok());
    assert_eq!(two.lock_advisory(key, false, Wait::Skip).unwrap(), LockOutcome::Skipped);
    drop(own);
    assert_eq!(two.lock_advisory(key, false, Wait::Skip).unwrap(), LockOutcome::Acquired { waited: false });
    drop(two);
    assert!(store.locks().is_empty());
}
