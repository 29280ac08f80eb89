//! Kills a process that commits, again and again, and looks for every commit that it acknowledged.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests are tests.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use storage::*;

const DIRECTORY: &str = "STORAGE_KILL_DIRECTORY";
const ROWS: RelationId = RelationId::FIRST_USER;
const COUNT: RelationId = RelationId(RelationId::FIRST_USER.0 + 1);

fn open(directory: &Path) -> Store {
    let options = StoreOptions {
        segment_bytes: 256 << 10,
        checkpoint_bytes: 200 << 10,
        checkpoint_part_bytes: 8 << 10,
        checkpoint_idle: Duration::from_millis(5),
        ..StoreOptions::default()
    };
    Store::open(directory, options).unwrap()
}

fn count(store: &Store) -> u64 {
    let count = store.view().get(COUNT, b"", |value| u64::from_be_bytes(value.try_into().unwrap())).unwrap();
    count.unwrap_or(0)
}

/// The process to be killed: commit number n writes row n and the count, and says so when it is acknowledged.
#[test]
#[ignore = "run by the test below"]
fn worker() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let store = open(Path::new(&directory));
    let mut out = std::io::stdout();
    for number in count(&store) + 1.. {
        let mut transaction = store.begin(Isolation::ReadCommitted);
        let size = if number % 50 == 0 { 300_000 } else { 500 };
        transaction.insert(ROWS, &number.to_be_bytes(), &vec![number as u8; size]).unwrap();
        transaction.put(COUNT, b"", &number.to_be_bytes()).unwrap();
        transaction.commit(Durability::Synced).unwrap();
        writeln!(out, "done {number}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 0..8u64 {
        let mut worker = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        let enough = acknowledged + 40 + round * 37;
        while let Some(Ok(line)) = lines.next() {
            if let Some(number) = line.strip_prefix("done ") {
                acknowledged = number.parse().unwrap();
            }
            if acknowledged >= enough {
                break;
            }
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("done ").and_then(|number| number.parse().ok()) {
                acknowledged = number;
            }
        }
        let store = open(directory.path());
        let found = count(&store);
        assert!(found >= acknowledged && found <= acknowledged + 1, "{found} of {acknowledged}");
        assert_eq!(store.statistics(ROWS).rows, found);
        let view = store.view();
        let mut scan = view.scan_prefix(ROWS, b"", Direction::Forward).unwrap();
        let mut number = 0u64;
        while let Some((key, value)) = scan.next().unwrap() {
            number += 1;
            assert_eq!(key, number.to_be_bytes());
            assert!(value.iter().all(|byte| *byte == number as u8));
        }
        assert_eq!(number, found);
        acknowledged = found;
    }
}
