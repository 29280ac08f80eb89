//! Loads from several connections, each of which remembers what was acknowledged to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::RngExt;
use tests::{Client, Server};

const WORKERS: i64 = 6;
const ROUNDS: usize = 5;

/// Runs `statement(worker, n)` for n = 1, 2, ... from every worker until the server is killed under them. Returns the last n
/// that was acknowledged to each.
fn load_until_killed(
    server: &mut Server,
    first: &[i64],
    statements: fn(i64, i64) -> Vec<String>,
) -> Vec<i64> {
    let stopped = AtomicBool::new(false);
    let pause = Duration::from_millis(rand::rng().random_range(200..900));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let mut client = Client::connect(server, "postgres").unwrap();
                let mut last = first[worker as usize];
                let stopped = &stopped;
                scope.spawn(move || {
                    loop {
                        for sql in statements(worker, last + 1) {
                            match client.simple(&sql) {
                                Ok(outcome) if outcome.error.is_none() => {}
                                // PostgreSQL says goodbye when it is shut down at once; only that may fail.
                                Ok(outcome) if outcome.error_field('C').starts_with("57P") => return last,
                                Ok(outcome) => panic!("{sql}: {:?}", outcome.error),
                                Err(e) => {
                                    assert!(stopped.load(Ordering::SeqCst), "{sql}: {e}");
                                    return last;
                                }
                            }
                        }
                        last += 1;
                    }
                })
            })
            .collect();
        std::thread::sleep(pause);
        stopped.store(true, Ordering::SeqCst);
        signal_kill(server);
        workers.into_iter().map(|w| w.join().unwrap()).collect()
    })
}

fn signal_kill(server: &Server) {
    server.signal(if server.target() == tests::server::Target::Ours { "KILL" } else { "QUIT" });
}

fn run(client: &mut Client, sql: &str) {
    let outcome = client.simple(sql).unwrap();
    assert!(outcome.error.is_none(), "{sql}: {:?}", outcome.error);
}

fn numbers(client: &mut Client, sql: &str) -> Vec<Vec<i64>> {
    let outcome = client.simple(sql).unwrap();
    assert!(outcome.error.is_none(), "{sql}: {:?}", outcome.error);
    let number = |v: Option<String>| v.map_or(0, |v| v.parse().unwrap());
    outcome.rows.into_iter().map(|row| row.into_iter().map(number).collect()).collect()
}

fn started(schema: &str) -> Server {
    let server = Server::from_env();
    run(&mut Client::connect(&server, "postgres").unwrap(), schema);
    server
}

/// What each worker has in the end: the last acknowledged number, or the one that was on its way.
fn check_last(acknowledged: &[i64], found: &[i64]) {
    for (worker, (&acknowledged, &found)) in acknowledged.iter().zip(found).enumerate() {
        assert!(
            found == acknowledged || found == acknowledged + 1,
            "worker {worker}: {acknowledged} acknowledged, {found} found"
        );
    }
}

#[test]
fn inserts() {
    let mut server = started(
        "create table t (worker int, n int, pad text, primary key (worker, n)); create index on t (n)",
    );
    let mut last = vec![0; WORKERS as usize];
    for round in 0..ROUNDS {
        let acknowledged = load_until_killed(&mut server, &last, |worker, n| {
            vec![format!("insert into t values ({worker}, {n}, repeat('x', {}))", n % 300)]
        });
        server.kill();
        server.restart();
        let mut client = Client::connect(&server, "postgres").unwrap();
        for worker in 0..WORKERS {
            let sql = format!(
                "select count(*), max(n), min(n), sum(length(pad) - n % 300) from t where worker = {worker}"
            );
            let row = numbers(&mut client, &sql).remove(0);
            let acknowledged = acknowledged[worker as usize];
            assert!(
                (row[0] == acknowledged || row[0] == acknowledged + 1)
                    && row[1] == row[0]
                    && row[2] == i64::from(row[0] > 0),
                "round {round}, worker {worker}: {acknowledged} acknowledged, count, max, min: {row:?}"
            );
            assert_eq!(row[3], 0, "rows are whole");
            last[worker as usize] = row[0];
        }
        // The index agrees with the table.
        let by_table = numbers(&mut client, "select count(*), sum(n) from t");
        let by_index = numbers(&mut client, "select count(*), sum(n) from t where n > 0");
        assert_eq!(by_table, by_index, "round {round}");
    }
    assert!(last.iter().sum::<i64>() > 100, "the load was too small to show anything: {last:?}");
}

#[test]
fn transactions_are_whole() {
    let mut server = started(
        "create table a (worker int, n int); create table b (worker int, n int, primary key (worker, n)); \
         create table last (worker int primary key, n int); insert into last select g, 0 from generate_series(0, 5) g",
    );
    let mut last = vec![0; WORKERS as usize];
    for round in 0..ROUNDS {
        let acknowledged = load_until_killed(&mut server, &last, |worker, n| {
            vec![
                "begin".to_owned(),
                format!("insert into a values ({worker}, {n}), ({worker}, {n})"),
                format!("insert into b values ({worker}, {n})"),
                format!("update last set n = {n} where worker = {worker}"),
                format!("delete from b where worker = {worker} and n = {n} - 10"),
                "commit".to_owned(),
            ]
        });
        server.kill();
        server.restart();
        let mut client = Client::connect(&server, "postgres").unwrap();
        let sql = "select n, (select count(*) from a where a.worker = last.worker), \
                   (select count(*) from b where b.worker = last.worker), \
                   (select max(n) from b where b.worker = last.worker) from last order by worker";
        let rows = numbers(&mut client, sql);
        for row in &rows {
            let n = row[0];
            assert_eq!(
                row[1..],
                [2 * n, n.min(10), n],
                "round {round}: n, count of a, count and max of b: {row:?}"
            );
        }
        last = rows.iter().map(|row| row[0]).collect();
        check_last(&acknowledged, &last);
    }
}

#[test]
fn transfers_keep_the_sum() {
    let mut server = started(
        "create table account (id int primary key, balance int not null); \
         insert into account select g, 1000 from generate_series(1, 20) g; \
         create table history (worker int, n int, source int, target int, amount int, primary key (worker, n))",
    );
    let mut last = vec![0; WORKERS as usize];
    for round in 0..ROUNDS {
        let acknowledged = load_until_killed(&mut server, &last, |worker, n| {
            // The lower number first: no deadlock.
            let (mut source, mut target) = (1 + (worker * 7 + n) % 20, 1 + (worker * 3 + n * 11) % 20);
            if source == target {
                target = source % 20 + 1;
            }
            let amount = if source > target { -(n % 50) } else { n % 50 };
            (source, target) = (source.min(target), source.max(target));
            vec![
                "begin".to_owned(),
                format!("update account set balance = balance - {amount} where id = {source}"),
                format!("update account set balance = balance + {amount} where id = {target}"),
                format!("insert into history values ({worker}, {n}, {source}, {target}, {amount})"),
                "commit".to_owned(),
            ]
        });
        server.kill();
        server.restart();
        let mut client = Client::connect(&server, "postgres").unwrap();
        assert_eq!(
            numbers(&mut client, "select sum(balance), count(*) from account"),
            [[20_000, 20]],
            "round {round}"
        );
        let wrong = "select id, balance, 1000 - coalesce((select sum(amount) from history where source = id), 0) \
                     + coalesce((select sum(amount) from history where target = id), 0) from account order by id";
        for row in numbers(&mut client, wrong) {
            assert_eq!(row[1], row[2], "round {round}: account {} does not agree with its history", row[0]);
        }
        let sql = "select g, (select count(*) from history where worker = g) from generate_series(0, 5) g order by g";
        last = numbers(&mut client, sql).iter().map(|row| row[1]).collect();
        check_last(&acknowledged, &last);
    }
}

#[test]
fn checkpoints_under_load() {
    let mut server = started(
        "create table t (worker int primary key, n int, pad text); insert into t select g, 0, '' from generate_series(0, 5) g",
    );
    let mut last = vec![0; WORKERS as usize];
    for _ in 0..ROUNDS {
        let acknowledged = load_until_killed(&mut server, &last, |worker, n| {
            let update =
                format!("update t set n = {n}, pad = repeat('p', {n} % 1000) where worker = {worker}");
            if worker == 0 && n % 20 == 0 { vec![update, "checkpoint".to_owned()] } else { vec![update] }
        });
        server.kill();
        server.restart();
        let mut client = Client::connect(&server, "postgres").unwrap();
        let rows = numbers(&mut client, "select n, length(pad) - n % 1000 from t order by worker");
        assert!(rows.iter().all(|row| row[1] == 0), "{rows:?}");
        last = rows.iter().map(|row| row[0]).collect();
        check_last(&acknowledged, &last);
    }
}

#[test]
fn sequences_never_repeat() {
    let mut server = started("create table t (id bigserial primary key, worker int, n int)");
    let mut last = vec![0; WORKERS as usize];
    for _ in 0..3 {
        let acknowledged = load_until_killed(&mut server, &last, |worker, n| {
            vec![format!("insert into t (worker, n) values ({worker}, {n})")]
        });
        server.kill();
        server.restart();
        let mut client = Client::connect(&server, "postgres").unwrap();
        let sql =
            "select g, (select count(*) from t where worker = g) from generate_series(0, 5) g order by g";
        last = numbers(&mut client, sql).iter().map(|row| row[1]).collect();
        check_last(&acknowledged, &last);
        let row = numbers(&mut client, "select max(id), nextval('t_id_seq') from t").remove(0);
        assert!(row[1] > row[0], "the sequence went back: {row:?}");
    }
}
