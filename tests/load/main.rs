//! Real load programs, short: sysbench and pgbench run without an error, and their data add up.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod links;
mod pgbench;
mod sysbench;

use std::process::Command;

use tests::{Client, Server};

/// Runs the command and returns what it printed; it must succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{text}");
    text
}

/// The numbers of the only row.
fn numbers(server: &Server, sql: &str) -> Vec<i64> {
    let outcome = Client::connect(server, "postgres").unwrap().simple(sql).unwrap();
    assert!(outcome.error.is_none(), "{sql}: {:?}", outcome.error);
    outcome.rows[0].iter().map(|v| v.as_ref().map_or(0, |v| v.parse().unwrap())).collect()
}

fn execute(server: &Server, sql: &str) {
    let outcome = Client::connect(server, "postgres").unwrap().simple(sql).unwrap();
    assert!(outcome.error.is_none(), "{sql}: {:?}", outcome.error);
}

/// The number that follows `label` in a program's report.
fn reported(report: &str, label: &str) -> i64 {
    let line = report
        .lines()
        .find(|l| l.trim_start().starts_with(label))
        .unwrap_or_else(|| panic!("no {label}: {report}"));
    let digits = |c: char| !c.is_ascii_digit();
    line[line.find(label).unwrap() + label.len()..]
        .split(digits)
        .find(|p| !p.is_empty())
        .unwrap()
        .parse()
        .unwrap()
}
