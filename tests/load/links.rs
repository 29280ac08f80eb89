//! A URL shortener's table, loaded by psql and used by prepared statements from many connections.

use std::io::Write;
use std::process::Stdio;

use tests::Server;

use crate::{numbers, run};

const ROWS: i64 = 20_000;

/// What `bench/suite/links.sh` does with 500,000 rows.
#[test]
fn links() {
    let mut server = Server::from_env();
    let script = format!(
        "CREATE TABLE IF NOT EXISTS links (code TEXT NOT NULL, url TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT now());\n\
         INSERT INTO links (code, url) SELECT 'seed' || lpad(i::text, 6, '0'), 'https://example.com/page/' || i \
         FROM generate_series(1, {ROWS}) AS i;\n"
    );
    let mut psql = server
        .command("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    psql.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(psql.wait().unwrap().success());
    assert_eq!(numbers(&server, "select count(*), count(distinct code) from links"), [ROWS, ROWS]);

    let explain = run(server.command("psql").args([
        "-X",
        "-c",
        "EXPLAIN ANALYZE SELECT url FROM links WHERE code = 'seed000123'",
    ]));
    assert!(explain.contains("Rows Removed by Filter: 19999"), "{explain}");

    let url = server.url("postgres");
    let driver = env!("CARGO_BIN_EXE_links");
    for index in
        ["", "create index on links (code)", "drop index links_code_idx; create unique index on links (code)"]
    {
        if !index.is_empty() {
            crate::execute(&server, index);
        }
        let report = run(server.command(driver).args([&url, "50", "2", &ROWS.to_string()]));
        assert!(report.contains("0 errors"), "{index}: {report}");
    }
    let before = numbers(&server, "select count(*), count(distinct code) from links");
    assert!(before[0] > ROWS && before[0] == before[1], "{before:?}");
    server.kill();
    server.restart();
    assert_eq!(numbers(&server, "select count(*), count(distinct code) from links"), before);
}
