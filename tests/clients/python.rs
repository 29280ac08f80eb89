//! The Python drivers. `PGFUSION_TEST_PYTHON` names an interpreter that has them; `./test` makes one.

use std::path::PathBuf;

use tests::golden::root;
use tests::server::Server;

fn run(script: &str, arguments: &[&str]) {
    let server = Server::from_env();
    let mut command = server.command(interpreter());
    let output = command.arg(root().join("clients").join(script)).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} {arguments:?}:\n{text}{errors}\nserver:\n{}", server.log());
}

fn interpreter() -> PathBuf {
    if let Some(path) = std::env::var_os("PGFUSION_TEST_PYTHON") {
        return path.into();
    }
    let home = std::env::var_os("HOME").expect("HOME is set");
    let path = PathBuf::from(home).join(".cache/pgfusion/venv/bin/python");
    assert!(path.exists(), "no {}: ./test makes it", path.display());
    path
}

#[test]
fn psycopg_text() {
    run("psycopg_test.py", &["text"]);
}

#[test]
fn psycopg_binary() {
    run("psycopg_test.py", &["binary"]);
}

#[test]
fn asyncpg() {
    run("asyncpg_test.py", &[]);
}
