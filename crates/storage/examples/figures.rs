//! Measures what the store's design rests on. `cargo run --release -p storage --example figures [directory] [rows]`
#![allow(clippy::unwrap_used, clippy::print_stdout)] // A measuring program, not a server.

use std::hint::black_box;
use std::io::Write;
use std::ops::Bound;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use storage::*;

const TABLE: RelationId = RelationId::FIRST_USER;
const SMALL: RelationId = RelationId(RelationId::FIRST_USER.0 + 1);
const LOADED: RelationId = RelationId(RelationId::FIRST_USER.0 + 2);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let rows: u64 = arguments.next().map_or(1_000_000, |rows| rows.parse().unwrap());
    let directory = tempfile::tempdir_in(parent).unwrap();
    let options = StoreOptions { checkpoint_idle: Duration::from_secs(3_600), ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    load(&store, rows);
    readings(&store, rows);
    transactions(&store);
    locking(&store);
    commits(&store, directory.path());
    println!("{:#?}", store.activity());
    let started = Instant::now();
    store.close().unwrap();
    println!("{:<44}{:>10.1} ms", "close", started.elapsed().as_secs_f64() * 1e3);
}

fn report(what: &str, count: u64, took: Duration) {
    println!("{what:<44}{:>10.3} us", took.as_secs_f64() * 1e6 / count as f64);
}

fn time(what: &str, count: u64, mut f: impl FnMut(u64)) {
    let started = Instant::now();
    (0..count).for_each(&mut f);
    report(what, count, started.elapsed());
}

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((u128::from(*state) * u128::from(below)) >> 64) as u64
}

fn load(store: &Store, rows: u64) {
    let value = [7u8; 200];
    let mut next = 0;
    while next < rows {
        let mut transaction = store.begin(Isolation::ReadCommitted);
        for row in next..(next + 100_000).min(rows) {
            transaction.insert(TABLE, &row.to_be_bytes(), &value).unwrap();
        }
        next += 100_000;
        transaction.commit(Durability::Synced).unwrap();
    }
    let started = Instant::now();
    store.checkpoint().unwrap();
    println!("{:<44}{:>10.1} ms", "checkpoint after the load", started.elapsed().as_secs_f64() * 1e3);
    for (count, name) in [(500_000u64, "bulk 500,000 x 70 bytes"), (2_000_000, "bulk 2,000,000 x 70 bytes")] {
        let value = [7u8; 62];
        let started = Instant::now();
        let mut transaction = store.begin(Isolation::ReadCommitted);
        let relation = RelationId(LOADED.0 + count as u32);
        for row in 0..count {
            transaction.insert(relation, &row.to_be_bytes(), &value).unwrap();
        }
        transaction.end_statement();
        let buffered = started.elapsed();
        transaction.commit(Durability::Synced).unwrap();
        let committed = started.elapsed();
        println!(
            "{name:<44}{:>10.1} ms (statement {:.1})",
            committed.as_secs_f64() * 1e3,
            buffered.as_secs_f64() * 1e3
        );
        let started = Instant::now();
        store.checkpoint().unwrap();
        println!("{:<44}{:>10.1} ms", "  its checkpoint", started.elapsed().as_secs_f64() * 1e3);
    }
    let started = Instant::now();
    let mut transaction = store.begin(Isolation::ReadCommitted);
    let (relation, mut state) = (RelationId(LOADED.0 + 1), 1);
    for _ in 0..500_000 {
        let key = random(&mut state, u64::MAX).to_be_bytes();
        transaction.insert(relation, &key, &[7; 8]).unwrap();
    }
    transaction.end_statement();
    let buffered = started.elapsed();
    transaction.commit(Durability::Synced).unwrap();
    println!(
        "{:<44}{:>10.1} ms (statement {:.1})",
        "bulk 500,000 random keys",
        started.elapsed().as_secs_f64() * 1e3,
        buffered.as_secs_f64() * 1e3
    );
    store.checkpoint().unwrap();
}

fn readings(store: &Store, rows: u64) {
    let view = store.view();
    let mut state = 1;
    time("get from the base", 300_000, |_| {
        let key = random(&mut state, rows).to_be_bytes();
        black_box(view.get(TABLE, &key, |value| value.len()).unwrap());
    });
    time("range of 100 in the base", 30_000, |_| {
        let from = random(&mut state, rows - 100);
        range(&view, TABLE, from, 100);
    });
    full_scan(&view, "full scan of the base, per row", rows);
    for key in 0..50_000u64 {
        let mut transaction = store.begin(Isolation::ReadCommitted);
        transaction.insert(SMALL, &key.to_be_bytes(), &[1; 100]).unwrap();
        transaction.commit(Durability::Relaxed).unwrap();
    }
    let view = store.view();
    time("get from the delta (50,000 keys)", 300_000, |_| {
        let key = random(&mut state, 50_000).to_be_bytes();
        black_box(view.get(SMALL, &key, |value| value.len()).unwrap());
    });
    time("range of 100 in the delta", 30_000, |_| {
        let from = random(&mut state, 49_900);
        range(&view, SMALL, from, 100);
    });
    let mut transaction = store.begin(Isolation::ReadCommitted);
    transaction.put(TABLE, &5u64.to_be_bytes(), &[8; 200]).unwrap();
    transaction.commit(Durability::Relaxed).unwrap();
    let view = store.view();
    time("get from the base, relation has a delta", 300_000, |_| {
        let key = random(&mut state, rows).to_be_bytes();
        black_box(view.get(TABLE, &key, |value| value.len()).unwrap());
    });
    time("range of 100, relation has a delta", 30_000, |_| {
        let from = random(&mut state, rows - 100);
        range(&view, TABLE, from, 100);
    });
    full_scan(&view, "full scan of base and delta, per row", rows);
    store.checkpoint().unwrap();
}

fn range(view: &ReadView, relation: RelationId, from: u64, count: u64) {
    let (start, end) = (from.to_be_bytes(), (from + count).to_be_bytes());
    let bounds = (Bound::Included(&start[..]), Bound::Excluded(&end[..]));
    let mut scan = view.scan(relation, bounds.0, bounds.1, Direction::Forward).unwrap();
    let mut seen = 0;
    while let Some((_, value)) = scan.next().unwrap() {
        black_box(value);
        seen += 1;
    }
    assert_eq!(seen, count);
}

fn full_scan(view: &ReadView, what: &str, rows: u64) {
    let started = Instant::now();
    let mut scan = view.scan(TABLE, Bound::Unbounded, Bound::Unbounded, Direction::Forward).unwrap();
    let mut seen = 0;
    while let Some((_, value)) = scan.next().unwrap() {
        black_box(value[0]);
        seen += 1;
    }
    assert_eq!(seen, rows);
    report(what, rows, started.elapsed());
}

fn transactions(store: &Store) {
    let context = store.lock_context(1, Default::default());
    time("begin, view, drop", 1_000_000, |_| {
        let mut transaction = store.begin_in(&context, Isolation::ReadCommitted);
        transaction.begin_statement();
        black_box(transaction.view());
    });
    time("begin, lock_relation(ACCESS SHARE), view, drop", 1_000_000, |_| {
        let mut transaction = store.begin_in(&context, Isolation::ReadCommitted);
        transaction.lock_relation(TABLE, TableLockMode::AccessShare, Wait::Block).unwrap();
        transaction.begin_statement();
        black_box(transaction.view());
    });
}

fn locking(store: &Store) {
    let mut transaction = store.begin(Isolation::ReadCommitted);
    time("row lock, uncontended", 500_000, |row| {
        transaction.lock(TABLE, &row.to_be_bytes(), LockMode::NoKeyUpdate, Wait::Block).unwrap();
    });
    let started = Instant::now();
    drop(transaction);
    report("  its release", 500_000, started.elapsed());
}

fn commits(store: &Store, directory: &std::path::Path) {
    let path = directory.join("bare");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&vec![0; 16 << 20]).unwrap();
    file.sync_all().unwrap();
    let bare = |times: u64| {
        let mut all: Vec<Duration> = (0..times)
            .map(|at| {
                let started = Instant::now();
                file.write_all_at(&[1; 300], at * 304 % (15 << 20)).unwrap();
                file.sync_data().unwrap();
                started.elapsed()
            })
            .collect();
        all.sort();
        all[all.len() / 2]
    };
    let one = |times: u64, durability| {
        let mut all: Vec<Duration> = (0..times)
            .map(|at| {
                let started = Instant::now();
                let mut transaction = store.begin(Isolation::ReadCommitted);
                transaction.begin_statement();
                transaction.put(TABLE, &(at * 7 % 1_000).to_be_bytes(), &[9; 200]).unwrap();
                transaction.end_statement();
                transaction.commit(durability).unwrap();
                started.elapsed()
            })
            .collect();
        all.sort();
        all[all.len() / 2]
    };
    // Alternating, since a device's mood changes.
    let (mut syncs, mut commits) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        syncs.push(bare(200));
        commits.push(one(200, Durability::Synced));
    }
    syncs.sort();
    commits.sort();
    report("bare write and fdatasync, median", 1, syncs[5]);
    report("commit, median", 1, commits[5]);
    report("commit, relaxed, median", 1, one(20_000, Durability::Relaxed));
    steady(store);
    for threads in [1u64, 8] {
        let started = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for at in 0..1_000 {
                        let mut transaction = store.begin(Isolation::ReadCommitted);
                        transaction.put(TABLE, &(thread * 1_000 + at).to_be_bytes(), &[9; 200]).unwrap();
                        transaction.commit(Durability::Synced).unwrap();
                    }
                });
            }
        });
        let rate = threads as f64 * 1_000.0 / started.elapsed().as_secs_f64();
        println!("{:<44}{rate:>10.0} /s", format!("commits by {threads} threads"));
    }
}

/// Commits by eight threads while checkpoints run one after the other.
fn steady(store: &Store) {
    let until = Instant::now() + Duration::from_secs(15);
    let before = store.activity().checkpoints;
    let mut all: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8u64)
            .map(|thread| {
                scope.spawn(move || {
                    let (mut state, mut latencies) = (thread + 1, Vec::new());
                    while Instant::now() < until {
                        let started = Instant::now();
                        let mut transaction = store.begin(Isolation::ReadCommitted);
                        for _ in 0..10 {
                            let key = random(&mut state, 1_000_000).to_be_bytes();
                            transaction.put(TABLE, &key, &[9; 200]).unwrap();
                        }
                        transaction.commit(Durability::Synced).unwrap();
                        latencies.push(started.elapsed());
                    }
                    latencies
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort();
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!(
        "8 threads, 10 random rows each: {:.0} commits/s; median {:.2} ms, p95 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.1}; {} checkpoints, last {:?}",
        all.len() as f64 / 15.0,
        at(0.5),
        at(0.95),
        at(0.99),
        at(0.999),
        at(1.0),
        store.activity().checkpoints - before,
        store.activity().checkpoint_last,
    );
}
