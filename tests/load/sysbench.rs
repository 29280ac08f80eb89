//! Stock sysbench 1.0 with 1,000 rows for 2 seconds each; `bench/suite/sysbench.sh` is the long version.

use tests::Server;

use crate::{numbers, reported, run};

const ROWS: i64 = 1000;

fn sysbench(server: &Server, script: &str, ps_mode: &str, threads: u32, command: &str) -> String {
    run(server.command("sysbench").args([
        script,
        "--db-driver=pgsql",
        "--pgsql-host=127.0.0.1",
        &format!("--pgsql-port={}", server.port()),
        "--pgsql-user=postgres",
        "--pgsql-db=postgres",
        &format!("--table-size={ROWS}"),
        &format!("--db-ps-mode={ps_mode}"),
        &format!("--threads={threads}"),
        "--time=2",
        command,
    ]))
}

/// Runs a script in both modes with 1 and 8 threads; `check` gets the number of events of all runs so far.
fn all_modes(script: &str, may_conflict: bool, check: fn(&Server, i64)) {
    let server = Server::from_env();
    sysbench(&server, script, "disable", 1, "prepare");
    assert_eq!(numbers(&server, "select count(*), min(id), max(id) from sbtest1"), [ROWS, 1, ROWS]);
    let mut events = 0;
    for ps_mode in ["disable", "auto"] {
        for threads in [1, 8] {
            let report = sysbench(&server, script, ps_mode, threads, "run");
            assert!(!report.contains("FATAL"), "{report}");
            // Two transactions that lock rows in opposite order deadlock on PostgreSQL as well.
            assert!(may_conflict || reported(&report, "ignored errors:") == 0, "{report}");
            assert_eq!(reported(&report, "reconnects:"), 0, "{report}");
            let run = reported(&report, "total number of events:");
            assert!(run > 0, "{report}");
            events += run;
            check(&server, events);
        }
    }
    sysbench(&server, script, "disable", 1, "cleanup");
}

fn rows_unchanged(server: &Server, _events: i64) {
    assert_eq!(
        numbers(server, "select count(*), count(distinct id), max(id) from sbtest1"),
        [ROWS, ROWS, ROWS]
    );
    assert_eq!(
        numbers(server, "select sum(k) - (select sum(k) from sbtest1 where k > -1) from sbtest1"),
        [0]
    );
}

#[test]
fn point_select() {
    all_modes("oltp_point_select", false, rows_unchanged);
}

#[test]
fn read_only() {
    all_modes("oltp_read_only", false, rows_unchanged);
}

#[test]
fn read_write() {
    all_modes("oltp_read_write", true, rows_unchanged);
}

#[test]
fn write_only() {
    all_modes("oltp_write_only", true, rows_unchanged);
}

#[test]
fn update_non_index() {
    all_modes("oltp_update_non_index", false, rows_unchanged);
}

#[test]
fn insert() {
    all_modes("oltp_insert", false, |server, events| {
        let counts = numbers(server, "select count(*), count(distinct id), max(id) - count(*) from sbtest1");
        // An insert that was cut off when the time was up may be there without having been counted.
        assert!(counts[0] >= ROWS + events && counts[0] <= ROWS + events + 64, "{counts:?}, {events} events");
        assert_eq!(counts[0], counts[1]);
    });
}

#[test]
fn update_index() {
    // Every event adds 1 to one row's k. The sum at the start is not known, so the test takes k = 0 for all rows first.
    let server = Server::from_env();
    sysbench(&server, "oltp_update_index", "disable", 1, "prepare");
    crate::execute(&server, "update sbtest1 set k = 0");
    let mut events = 0;
    for ps_mode in ["disable", "auto"] {
        for threads in [1, 8] {
            let report = sysbench(&server, "oltp_update_index", ps_mode, threads, "run");
            assert_eq!(reported(&report, "ignored errors:"), 0, "{report}");
            events += reported(&report, "total number of events:");
            let sum = numbers(&server, "select sum(k) from sbtest1")[0];
            assert!(sum >= events && sum <= events + 64, "sum(k) {sum}, {events} events");
            let by_index = numbers(&server, "select sum(k), count(*) from sbtest1 where k > 0");
            assert_eq!(by_index[0], sum, "the index on k agrees with the table");
        }
    }
}

#[test]
fn delete() {
    all_modes("oltp_delete", false, |server, _| {
        let counts = numbers(server, "select count(*), count(distinct id), count(k) from sbtest1");
        assert!(counts[0] < ROWS && counts[0] == counts[1] && counts[0] == counts[2], "{counts:?}");
        let by_index = numbers(server, "select count(*) from sbtest1 where k > -1");
        assert_eq!(by_index[0], counts[0], "the index on k agrees with the table");
    });
}
