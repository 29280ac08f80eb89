//! Starts a private PostgreSQL 15 in a temporary directory, prints its port and runs until it is told to stop.
//!
//! `private-postgres [pgfusion]`; with `pgfusion`, the binary under test instead. It stops when its parent does.

#![allow(clippy::unwrap_used, reason = "a tool for developers, which ends by panicking")]

use std::io::Write;
use std::time::Duration;

use tests::server::{Server, Target};

fn main() {
    let ours = std::env::args().nth(1).as_deref() == Some("pgfusion");
    let server = Server::start(if ours { Target::Ours } else { Target::Postgres });
    let mut output = std::io::stdout();
    writeln!(output, "{}", server.port()).unwrap();
    output.flush().unwrap();
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        std::thread::sleep(Duration::from_millis(200));
    }
}
