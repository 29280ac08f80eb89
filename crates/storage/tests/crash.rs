//! Crashes and failing disks: what was acknowledged is there after reopening, what was not is there wholly or not at all.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use storage::*;
use support::{Fault, TestDisk, new_directory, quiet};

const ROWS: RelationId = RelationId::FIRST_USER;
const INDEX: RelationId = RelationId(RelationId::FIRST_USER.0 + 1);

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn rows(store: &Store, relation: RelationId) -> Rows {
    let view = store.view();
    let mut scan = view.scan_prefix(relation, b"", Direction::Forward).unwrap();
    let mut all = Rows::new();
    while let Some((key, value)) = scan.next().unwrap() {
        all.insert(key.to_vec(), value.to_vec());
    }
    all
}

/// One commit of the script: some keys in two relations, which must always agree.
fn commit(store: &Store, number: u32, durability: Durability) -> Result<(), StoreError> {
    let mut transaction = store.begin(Isolation::ReadCommitted);
    let size = match number % 5 {
        0 => 6_000,
        1 => 1,
        _ => 100,
    };
    for part in 0..3u32 {
        let key = (number % 7 * 3 + part).to_be_bytes();
        let value = [&number.to_be_bytes()[..], &vec![part as u8; size]].concat();
        transaction.put(ROWS, &key, &value)?;
        transaction.put(INDEX, &key, &number.to_be_bytes())?;
    }
    if number % 4 == 3 {
        transaction.delete(ROWS, &(number % 7 * 3).to_be_bytes())?;
        transaction.delete(INDEX, &(number % 7 * 3).to_be_bytes())?;
    }
    transaction.commit(durability).map(drop)
}

/// What [`commit`] does, on a model.
fn model_commit(rows: &mut BTreeMap<Vec<u8>, u32>, number: u32) {
    for part in 0..3u32 {
        rows.insert((number % 7 * 3 + part).to_be_bytes().to_vec(), number);
    }
    if number % 4 == 3 {
        rows.remove(&(number % 7 * 3).to_be_bytes()[..]);
    }
}

/// Runs the script until something fails; returns how many commits succeeded, and the failure.
fn script(store: &Store) -> (u32, Option<StoreError>) {
    for number in 0..40 {
        let checkpoint = if number % 16 == 15 { store.checkpoint() } else { Ok(()) };
        if let Err(error) = checkpoint.and_then(|()| commit(store, number, Durability::Synced)) {
            return (number, Some(error));
        }
    }
    (40, None)
}

/// The rows must be those after `done` commits, or after one more, whose outcome nobody was told.
fn check(store: &Store, done: u32) -> u32 {
    let (found, index) = (rows(store, ROWS), rows(store, INDEX));
    let short: BTreeMap<Vec<u8>, u32> = found
        .iter()
        .map(|(key, value)| (key.clone(), u32::from_be_bytes(value[..4].try_into().unwrap())))
        .collect();
    let from_index: BTreeMap<Vec<u8>, u32> = index
        .iter()
        .map(|(key, value)| (key.clone(), u32::from_be_bytes(value[..].try_into().unwrap())))
        .collect();
    assert_eq!(short, from_index, "a commit was torn");
    for count in [done, done + 1] {
        let mut model = BTreeMap::new();
        (0..count).for_each(|number| model_commit(&mut model, number));
        if model == short {
            return count;
        }
    }
    panic!("{done} commits were acknowledged, but found {short:?}");
}

#[test]
fn every_failing_operation_leaves_what_was_acknowledged() {
    let whole = TestDisk::default();
    let directory = new_directory();
    let store = Store::open(directory.path(), quiet(&whole)).unwrap();
    assert_eq!(script(&store).0, 40);
    drop(store);
    let operations = whole.operations();
    assert!(operations > 80, "the script writes and syncs");
    let mut poisoned = 0;
    for at in 1..=operations {
        for (fault, stays_dead, lose) in [
            (Fault::Error, true, true),
            (Fault::Error, false, false),
            (Fault::Tear, true, false),
            (Fault::Tear, false, true),
        ] {
            let directory = new_directory();
            let disk = TestDisk::default();
            disk.fail_at(at, fault, stays_dead);
            let done = match Store::open(directory.path(), quiet(&disk)) {
                Ok(store) => {
                    let (done, failure) = script(&store);
                    // Where no file could be made for it, a commit fails before it has written anything.
                    let unwritten =
                        failure.as_ref().is_some_and(|error| error.to_string().contains("create a"));
                    if failure.is_some() && !unwritten {
                        let next = commit(&store, 99, Durability::Synced);
                        assert!(matches!(next, Err(StoreError::Poisoned { .. })), "{next:?}");
                        poisoned += 1;
                        let still = rows(&store, INDEX).len();
                        assert!(still > 0 || done == 0, "reading goes on");
                    }
                    done
                }
                Err(_) => 0,
            };
            disk.restart(lose);
            let context = format!("operation {at} {fault:?} {stays_dead} {lose}");
            let store = Store::open(directory.path(), quiet(&disk)).expect(&context);
            let found = check(&store, done);
            // Life goes on, through another restart.
            for number in found..found + 3 {
                commit(&store, number, Durability::Synced).expect(&context);
            }
            drop(store);
            disk.restart(true);
            let store = Store::open(directory.path(), quiet(&disk)).expect(&context);
            assert_eq!(check(&store, found + 3), found + 3, "{context}");
        }
    }
    assert!(poisoned > 100, "most failures are on the commit path: {poisoned}");
}

#[test]
fn relaxed_commits_may_go_but_only_from_the_end() {
    for lose in [false, true] {
        let directory = new_directory();
        let disk = TestDisk::default();
        let mut options = quiet(&disk);
        options.flush_interval = std::time::Duration::from_secs(3_600);
        let store = Store::open(directory.path(), options.clone()).unwrap();
        (0..3).for_each(|number| commit(&store, number, Durability::Synced).unwrap());
        (3..5).for_each(|number| commit(&store, number, Durability::Relaxed).unwrap());
        // What a crash of the machine leaves: a copy taken before the store's own end syncs the rest.
        disk.fail_at(disk.operations() + 1, Fault::Error, true);
        drop(store);
        disk.restart(lose);
        let store = Store::open(directory.path(), options).unwrap();
        assert_eq!(check(&store, if lose { 3 } else { 5 }), if lose { 3 } else { 5 });
    }
}

#[test]
fn a_full_disk_fails_one_commit_only() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    commit(&store, 0, Durability::Synced).unwrap();
    // The background has made its spare files by now, or will soon; a commit of many segments needs more.
    let mut large = store.begin(Isolation::ReadCommitted);
    for key in 0..2_000u32 {
        large.put(ROWS, &(1_000 + key).to_be_bytes(), &[0; 500]).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    disk.fail_at(disk.operations() + 1, Fault::Full, false);
    assert!(matches!(large.commit(Durability::Synced), Err(StoreError::DiskFull)));
    commit(&store, 1, Durability::Synced).unwrap();
    assert_eq!(check(&store, 2), 2);
    drop(store);
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    assert_eq!(check(&store, 2), 2);
}

/// A store with `commits` commits in its log, closed as by a crash.
fn crashed(commits: u32) -> (tempfile::TempDir, TestDisk) {
    let directory = new_directory();
    let disk = TestDisk::default();
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    (0..commits).for_each(|number| commit(&store, number, Durability::Synced).unwrap());
    drop(store);
    (directory, disk)
}

/// The log file that was written last and the place after its last record.
fn log_end(disk: &TestDisk) -> (PathBuf, usize) {
    let mut best = None;
    for path in disk.files() {
        disk.corrupt(&path, |bytes| {
            let start = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            if bytes.starts_with(b"PGFUSWAL") && best.as_ref().is_none_or(|(other, _, _)| start >= *other) {
                best = Some((start, path.clone(), end));
            }
        });
    }
    let (_, path, end) = best.unwrap();
    (path, end)
}

#[test]
fn a_torn_tail_is_the_end_and_damage_before_it_is_refused() {
    let (directory, disk) = crashed(3);
    let (path, end) = log_end(&disk);
    disk.corrupt(&path, |bytes| bytes[end - 1] ^= 1);
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    assert_eq!(check(&store, 2), 2, "the last record is indistinguishable from a torn one");
    drop(store);

    let (directory, disk) = crashed(3);
    let (path, _) = log_end(&disk);
    disk.corrupt(&path, |bytes| bytes[64 + 50] ^= 1);
    match Store::open(directory.path(), quiet(&disk)) {
        Err(StoreError::Corrupt { detail, .. }) => assert!(detail.contains("damaged record"), "{detail}"),
        other => panic!("{:?}", other.err()),
    }

    // The same across segments: these commits fill several.
    let (directory, disk) = crashed(20);
    let first = disk.files().remove(0);
    disk.corrupt(&first, |bytes| bytes[64 + 50] ^= 1);
    assert!(matches!(Store::open(directory.path(), quiet(&disk)), Err(StoreError::Corrupt { .. })));

    let (directory, disk) = crashed(20);
    let (path, _) = log_end(&disk);
    disk.corrupt(&path, |bytes| bytes[20] ^= 1);
    assert!(matches!(Store::open(directory.path(), quiet(&disk)), Err(StoreError::Corrupt { .. })), "header");

    let (directory, disk) = crashed(20);
    disk.remove_file(&disk.files()[1]);
    assert!(
        matches!(Store::open(directory.path(), quiet(&disk)), Err(StoreError::Corrupt { .. })),
        "missing"
    );
}

#[test]
fn recycled_files_do_not_bring_old_records_back() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let mut done = 0;
    for round in 0..8 {
        let store = Store::open(directory.path(), quiet(&disk)).unwrap();
        assert_eq!(check(&store, done), done);
        for _ in 0..9 {
            commit(&store, done, Durability::Synced).unwrap();
            done += 1;
        }
        store.checkpoint().unwrap();
        if round % 2 == 0 {
            commit(&store, done, Durability::Synced).unwrap();
            done += 1;
        }
        drop(store);
        disk.restart(true);
    }
    assert!(disk.files().len() < 14, "files are reused: {}", disk.files().len());
}

#[test]
fn another_stores_log_is_refused() {
    let (directory, disk) = crashed(3);
    let other = new_directory();
    let other_disk = TestDisk::default();
    drop(Store::open(other.path(), quiet(&other_disk)).unwrap());
    // The same file names, another store's bytes.
    let theirs = log_end(&disk).0;
    let mut bytes = Vec::new();
    disk.corrupt(&theirs, |contents| bytes = contents.clone());
    let file = Disk::open(&other_disk, &other.path().join("wal/000009.wal"), true).unwrap();
    file.write_at(&bytes, 0).unwrap();
    match Store::open(other.path(), quiet(&other_disk)) {
        Err(StoreError::Corrupt { detail, .. }) => assert!(detail.contains("another store"), "{detail}"),
        other => panic!("{:?}", other.err()),
    }
    drop(directory);
}

#[test]
fn a_directory_belongs_to_one() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    let second = Store::open(directory.path(), quiet(&disk));
    assert!(matches!(second, Err(StoreError::DirectoryInUse { .. })));
    let view = store.view();
    store.close().unwrap();
    assert!(matches!(commit(&store, 0, Durability::Synced), Err(StoreError::Closed)));
    drop(store);
    let second = Store::open(directory.path(), quiet(&disk));
    assert!(matches!(second, Err(StoreError::DirectoryInUse { .. })), "somebody still reads");
    drop(view);
    Store::open(directory.path(), quiet(&disk)).unwrap();
}

#[test]
fn sequences_and_numbers_never_repeat() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let spec = SequenceSpec { start: 1, increment: 1, minimum: 1, maximum: i64::MAX, cycle: false };
    let id = SequenceId(20_000);
    let (mut last, mut last_row, mut last_xid) = (0, 0, 0);
    for round in 0..12u32 {
        let store = Store::open(directory.path(), quiet(&disk)).unwrap();
        for _ in 0..7 {
            let mut transaction = store.begin(Isolation::ReadCommitted);
            let batch = transaction.sequence_next(id, &spec, 1).unwrap();
            assert!(batch.first > last, "{} after {last}", batch.first);
            let xid = transaction.xid();
            assert!(xid > last_xid);
            if round % 2 == 0 {
                let row = store.next_row_number(ROWS).unwrap();
                assert!(row > last_row);
                transaction.insert(ROWS, &row.to_be_bytes(), b"").unwrap();
                (last_row, last_xid) = (row, xid);
            }
            transaction.commit(Durability::Synced).unwrap();
            last = batch.first;
        }
        if round % 3 == 0 {
            store.checkpoint().unwrap();
        }
        drop(store);
        disk.restart(true);
    }
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.sequence_set(id, 5, false);
    transaction.commit(Durability::Synced).unwrap();
    drop(store);
    disk.restart(true);
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    assert_eq!(store.sequence_next(id, &spec, 1).unwrap().first, 5);
}

#[test]
fn the_hook_is_called_with_each_commit_of_the_catalog() {
    let directory = new_directory();
    let disk = TestDisk::default();
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    store.set_publish_hook(
        Arc::new(0u64),
        Box::new(|before, writes| {
            let before = before.downcast_ref::<u64>().copied().unwrap_or(0);
            Arc::new(before + writes.len() as u64)
        }),
    );
    let before = store.view();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.put(RelationId::CATALOG, b"a", b"1").unwrap();
    transaction.delete(RelationId::CATALOG, b"b").unwrap();
    transaction.put(ROWS, b"c", b"3").unwrap();
    transaction.commit(Durability::Synced).unwrap();
    commit(&store, 1, Durability::Synced).unwrap();
    assert_eq!(before.attachment::<u64>().as_deref(), Some(&0));
    assert_eq!(store.view().attachment::<u64>().as_deref(), Some(&2));
    store.checkpoint().unwrap();
    assert_eq!(store.view().attachment::<u64>().as_deref(), Some(&2));
}

#[test]
fn concurrent_commits_share_syncs() {
    let directory = new_directory();
    let disk = TestDisk::default();
    disk.slow_down(std::time::Duration::from_millis(1));
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..50u32 {
                    let mut transaction = store.begin(Isolation::ReadCommitted);
                    let key = [thread.to_be_bytes(), number.to_be_bytes()].concat();
                    transaction.insert(ROWS, &key, b"v").unwrap();
                    transaction.commit(Durability::Synced).unwrap();
                    assert!(store.view().contains(ROWS, &key).unwrap(), "visible once acknowledged");
                }
            });
        }
    });
    let activity = store.activity();
    assert_eq!(activity.commits, 400);
    assert!(activity.group_largest > 1, "{activity:?}");
    assert!(activity.syncs < 400, "{activity:?}");
    assert_eq!(store.statistics(ROWS).rows, 400);
    drop(store);
    let store = Store::open(directory.path(), quiet(&disk)).unwrap();
    assert_eq!(rows(&store, ROWS).len(), 400);
}
