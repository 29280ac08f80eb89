//! Stopping and starting: orders by signal, what stays, what is refused.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tests::server::Target;
use tests::{Client, Server};

fn texts(client: &mut Client, sql: &str) -> Vec<String> {
    let outcome = client.simple(sql).unwrap();
    assert!(outcome.error.is_none(), "{sql}: {:?}", outcome.error);
    let text = |row: Vec<Option<String>>| {
        row.into_iter().map(|v| v.unwrap_or("NULL".to_owned())).collect::<Vec<_>>().join("|")
    };
    outcome.rows.into_iter().map(text).collect()
}

const SCHEMA: &str = "create table kept (id serial primary key, v text unique, n numeric(6,2) default 1.5);
    insert into kept (v) values ('a'), ('b'), ('c');
    create index kept_n on kept (n desc, v);
    create table dropped (a int); drop table dropped;
    create sequence s start 10 increment 5; select nextval('s');
    create view seen as select v from kept";

fn check_schema(client: &mut Client) {
    assert_eq!(texts(client, "select * from kept order by id"), ["1|a|1.50", "2|b|1.50", "3|c|1.50"]);
    assert_eq!(texts(client, "select v from seen where v > 'a' order by v"), ["b", "c"]);
    let missing = client.simple("select * from dropped").unwrap();
    assert_eq!(missing.error_field('C'), "42P01");
    let duplicate = client.simple("insert into kept (v) values ('b')").unwrap();
    assert_eq!(duplicate.error_field('n'), "kept_v_key");
    let indexes =
        "select indexrelid::regclass from pg_index where indrelid = 'kept'::regclass order by 1::text";
    assert_eq!(texts(client, indexes).len(), 3);
    assert!(texts(client, "select nextval('s')")[0].parse::<i32>().unwrap() >= 15);
}

#[test]
fn a_clean_stop_keeps_everything() {
    let mut server = Server::from_env();
    let mut client = Client::connect(&server, "postgres").unwrap();
    texts(&mut client, SCHEMA);
    texts(&mut client, "create database other");
    let mut other = Client::connect(&server, "other").unwrap();
    texts(&mut other, "create table only_in_other (a int); insert into only_in_other values (7)");
    drop((client, other));
    assert!(server.stop(), "the exit status after a clean stop is 0");
    server.restart();
    check_schema(&mut Client::connect(&server, "postgres").unwrap());
    let mut other = Client::connect(&server, "other").unwrap();
    assert_eq!(texts(&mut other, "select a from only_in_other"), ["7"]);
}

#[test]
fn a_kill_keeps_what_was_committed() {
    let mut server = Server::from_env();
    let mut client = Client::connect(&server, "postgres").unwrap();
    texts(&mut client, SCHEMA);
    texts(&mut client, "begin; create table uncommitted (a int); delete from kept; update kept set v = 'x'");
    server.kill();
    server.restart();
    let mut client = Client::connect(&server, "postgres").unwrap();
    check_schema(&mut client);
    assert_eq!(client.simple("select * from uncommitted").unwrap().error_field('C'), "42P01");
}

#[test]
fn a_stop_does_not_wait_for_idle_or_open_transactions() {
    let mut server = Server::from_env();
    let _idle = Client::connect(&server, "postgres").unwrap();
    let mut open = Client::connect(&server, "postgres").unwrap();
    texts(&mut open, "create table t (a int)");
    texts(&mut open, "begin; insert into t values (1)");
    let mut running = Client::connect(&server, "postgres").unwrap();
    running.send_query("select pg_sleep(60)").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    assert!(server.stop());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let message = open.receive().unwrap();
    assert_eq!(message.tag, b'E', "a session is told why it ends");
    assert!(String::from_utf8_lossy(&message.body).contains("57P01"), "{message:?}");
    server.restart();
    assert_eq!(texts(&mut Client::connect(&server, "postgres").unwrap(), "select count(*) from t"), ["0"]);
}

#[test]
fn interrupt_stops_as_terminate_does() {
    let mut server = Server::from_env();
    texts(&mut Client::connect(&server, "postgres").unwrap(), "create table t as select 1 as a");
    server.signal("INT");
    assert!(server.wait());
    server.restart();
    assert_eq!(texts(&mut Client::connect(&server, "postgres").unwrap(), "select a from t"), ["1"]);
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = Server::from_env();
    if server.target() != Target::Ours {
        return;
    }
    let mut second = server.same_command();
    let output = second.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    let directory = server.data_folder().display().to_string();
    assert!(text.contains(&directory), "the error names the directory: {text}");
    assert!(
        text.contains("use") || text.contains("lock") || text.contains("running"),
        "the error says why: {text}"
    );
    assert_eq!(texts(&mut Client::connect(&server, "postgres").unwrap(), "select 1"), ["1"]);
}

#[test]
fn help_explains_every_option() {
    let server = Server::from_env();
    if server.target() != Target::Ours {
        return;
    }
    let program = server.same_command().get_program().to_owned();
    let output = Command::new(program).arg("--help").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "--listen",
        "--data-dir",
        "--config",
        "127.0.0.1:5432",
        "pgfusion-data",
        "PGFUSION_LISTEN",
        "PGFUSION_DATA_DIR",
    ] {
        assert!(text.contains(part), "--help lacks {part}: {text}");
    }
}
