//! pgbench's TPC-B in the three query modes, also with a `kill -9` in the middle.

use std::time::Duration;

use tests::Server;

use crate::{numbers, reported, run};

/// Every transaction adds one delta to an account, a teller and a branch and writes it to the history.
fn check_invariant(server: &Server) -> i64 {
    let sums = numbers(
        server,
        "select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from pgbench_tellers), \
         (select sum(bbalance) from pgbench_branches), (select coalesce(sum(delta), 0) from pgbench_history), \
         (select count(*) from pgbench_history)",
    );
    assert!(sums[..4].iter().all(|&s| s == sums[0]), "accounts, tellers, branches, history, count: {sums:?}");
    sums[4]
}

fn pgbench(server: &Server, arguments: &[&str]) -> String {
    run(server.command("pgbench").args(arguments))
}

#[test]
fn three_modes() {
    let server = Server::from_env();
    pgbench(&server, &["-i", "-s", "1", "-q"]);
    assert_eq!(
        numbers(
            &server,
            "select (select count(*) from pgbench_accounts), (select count(*) from pgbench_tellers)"
        ),
        [100_000, 10]
    );
    let mut transactions = 0;
    for mode in ["simple", "extended", "prepared"] {
        let report = pgbench(&server, &["-M", mode, "-c", "4", "-T", "3", "-n"]);
        assert_eq!(reported(&report, "number of failed transactions:"), 0, "{report}");
        transactions += reported(&report, "number of transactions actually processed:");
        assert_eq!(check_invariant(&server), transactions, "{mode}");
    }
    let report = pgbench(&server, &["-S", "-M", "prepared", "-c", "4", "-T", "2", "-n"]);
    assert_eq!(reported(&report, "number of failed transactions:"), 0, "{report}");
    let report = pgbench(&server, &["-N", "-M", "simple", "-c", "4", "-T", "2"]);
    assert_eq!(reported(&report, "number of failed transactions:"), 0, "{report}");
}

#[test]
fn killed_in_the_middle() {
    let mut server = Server::from_env();
    pgbench(&server, &["-i", "-s", "1", "-q", "-I", "dtGp"]);
    for mode in ["simple", "prepared"] {
        let mut load = server.command("pgbench");
        let mut load = load
            .args(["-M", mode, "-c", "8", "-T", "60", "-n"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        server.kill();
        assert!(!load.wait().unwrap().success(), "pgbench noticed that the server was gone");
        server.restart();
        assert!(check_invariant(&server) > 0);
    }
}

#[test]
fn initialised_by_the_client() {
    let server = Server::from_env();
    pgbench(&server, &["-i", "-s", "1", "-q", "-I", "dtgvp"]);
    check_invariant(&server);
}
