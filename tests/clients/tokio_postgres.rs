//! tokio-postgres: types in binary, pipelining, transactions, COPY, cancelling.

use std::pin::pin;
use std::time::{Duration, SystemTime};

use futures::{SinkExt, StreamExt, TryStreamExt, future};
use tests::server::Server;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

async fn connect(server: &Server) -> Client {
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(async move {
        let _ = connection.await;
    });
    client
}

async fn round_trip<T>(client: &Client, sql_type: &str, value: T)
where
    T: ToSql + Sync + PartialEq + std::fmt::Debug + for<'a> tokio_postgres::types::FromSql<'a>,
{
    let row = client.query_one(&format!("select $1::{sql_type}"), &[&value]).await.unwrap();
    assert_eq!(row.get::<_, T>(0), value, "{sql_type}");
}

#[tokio::test]
async fn types_round_trip() {
    let server = Server::from_env();
    let client = connect(&server).await;
    round_trip(&client, "bool", Some(true)).await;
    round_trip(&client, "bool", None::<bool>).await;
    round_trip(&client, "\"char\"", b'x' as i8).await;
    round_trip(&client, "int2", i16::MIN).await;
    round_trip(&client, "int4", i32::MAX).await;
    round_trip(&client, "int8", i64::MIN).await;
    round_trip(&client, "oid", u32::MAX).await;
    round_trip(&client, "float4", f32::MIN_POSITIVE).await;
    round_trip(&client, "float8", f64::MAX).await;
    round_trip(&client, "text", "é 日本語 \\ ' \n".to_owned()).await;
    round_trip(&client, "varchar", String::new()).await;
    round_trip(&client, "name", "abc".to_owned()).await;
    round_trip(&client, "bpchar", "abc".to_owned()).await;
    round_trip(&client, "bytea", vec![0_u8, 255, 92]).await;
    let second = Duration::from_micros(1_700_000_000_123_456);
    round_trip(&client, "timestamp", SystemTime::UNIX_EPOCH + second).await;
    round_trip(&client, "timestamptz", SystemTime::UNIX_EPOCH - second).await;
    round_trip(&client, "int4[]", vec![Some(1), None, Some(3)]).await;
}

#[tokio::test]
async fn parameter_and_column_types() {
    let server = Server::from_env();
    let client = connect(&server).await;
    client
        .batch_execute("create table t (a int2, b numeric(5,2), c timestamptz, d varchar(3))")
        .await
        .unwrap();
    let statement = client.prepare("insert into t values ($1, $2, $3, $4) returning a + 1, c").await.unwrap();
    assert_eq!(statement.params(), [Type::INT2, Type::NUMERIC, Type::TIMESTAMPTZ, Type::VARCHAR]);
    let columns: Vec<_> = statement.columns().iter().map(|c| (c.name(), c.type_().clone())).collect();
    assert_eq!(columns, [("?column?", Type::INT4), ("c", Type::TIMESTAMPTZ)]);
}

#[tokio::test]
async fn pipelining() {
    let server = Server::from_env();
    let client = connect(&server).await;
    client.batch_execute("create table t (a int primary key, b text)").await.unwrap();
    let insert = client.prepare("insert into t values ($1, $2)").await.unwrap();
    let many = (0..200_i32).map(|i| {
        let (client, insert) = (&client, &insert);
        async move { client.execute(insert, &[&i, &format!("row {i}")]).await }
    });
    let results = future::join_all(many).await;
    assert!(results.into_iter().all(|r| matches!(r, Ok(1))));
    let (a, b, c) = future::join3(
        client.query_one("select count(*) from t", &[]),
        client.query("select nosuch from t", &[]),
        client.query_one("select b from t where a = $1", &[&77]),
    )
    .await;
    assert_eq!(a.unwrap().get::<_, i64>(0), 200);
    assert_eq!(b.unwrap_err().code(), Some(&SqlState::UNDEFINED_COLUMN));
    assert_eq!(c.unwrap().get::<_, String>(0), "row 77");
}

#[tokio::test]
async fn transactions() {
    let server = Server::from_env();
    let mut client = connect(&server).await;
    client.batch_execute("create table t (a int primary key)").await.unwrap();
    let transaction = client.transaction().await.unwrap();
    transaction.execute("insert into t values (1)", &[]).await.unwrap();
    transaction.rollback().await.unwrap();
    let mut transaction = client.transaction().await.unwrap();
    transaction.execute("insert into t values (2)", &[]).await.unwrap();
    let savepoint = transaction.transaction().await.unwrap();
    let error = savepoint.execute("insert into t values (2)", &[]).await.unwrap_err();
    assert_eq!(error.code(), Some(&SqlState::UNIQUE_VIOLATION));
    assert_eq!(error.as_db_error().unwrap().constraint(), Some("t_pkey"));
    savepoint.rollback().await.unwrap();
    transaction.execute("insert into t values (3)", &[]).await.unwrap();
    transaction.commit().await.unwrap();
    let rows = client.query("select a from t order by a", &[]).await.unwrap();
    assert_eq!(rows.iter().map(|r| r.get::<_, i32>(0)).collect::<Vec<_>>(), [2, 3]);
    // A dropped transaction is rolled back.
    let transaction = client.transaction().await.unwrap();
    transaction.execute("insert into t values (4)", &[]).await.unwrap();
    drop(transaction);
    assert_eq!(client.query_one("select count(*) from t", &[]).await.unwrap().get::<_, i64>(0), 2);
}

#[tokio::test]
async fn portals() {
    let server = Server::from_env();
    let mut client = connect(&server).await;
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("select generate_series(1, $1::int)", &[&7]).await.unwrap();
    for expected in [3, 3, 1, 0] {
        assert_eq!(transaction.query_portal(&portal, 3).await.unwrap().len(), expected);
    }
}

#[tokio::test]
async fn copy() {
    let server = Server::from_env();
    let client = connect(&server).await;
    client.batch_execute("create table t (a int, b text)").await.unwrap();
    let mut sink = pin!(client.copy_in::<_, &'static [u8]>("copy t from stdin").await.unwrap());
    sink.send(b"1\tone\n2\t").await.unwrap();
    sink.send(b"two\n3\t\\N\n").await.unwrap();
    assert_eq!(sink.finish().await.unwrap(), 3);
    let stream = client.copy_out("copy (select * from t order by a desc) to stdout").await.unwrap();
    let data = stream.map(|chunk| chunk.unwrap().to_vec()).concat().await;
    assert_eq!(String::from_utf8(data).unwrap(), "3\t\\N\n2\ttwo\n1\tone\n");
}

#[tokio::test]
async fn streaming_a_large_result() {
    let server = Server::from_env();
    let client = connect(&server).await;
    let parameters: [&(dyn ToSql + Sync); 1] = [&200_000_i32];
    let rows =
        client.query_raw("select g, 'row ' || g from generate_series(1, $1) g", parameters).await.unwrap();
    let mut rows = pin!(rows);
    let mut expected = 0;
    while let Some(row) = rows.try_next().await.unwrap() {
        expected += 1;
        assert_eq!(row.get::<_, i32>(0), expected);
        assert_eq!(row.get::<_, &str>(1), format!("row {expected}"));
    }
    assert_eq!(expected, 200_000);
}

#[tokio::test]
async fn cancelling() {
    let server = Server::from_env();
    let client = connect(&server).await;
    let token = client.cancel_token();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await.unwrap();
    };
    let (result, ()) = future::join(client.query("select pg_sleep(20)", &[]), cancel).await;
    assert_eq!(result.unwrap_err().code(), Some(&SqlState::QUERY_CANCELED));
    assert_eq!(client.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}

#[tokio::test]
async fn deadlock_ends_for_one() {
    let server = Server::from_env();
    let (mut a, mut b) = (connect(&server).await, connect(&server).await);
    a.batch_execute("create table t (k int primary key, v int); insert into t values (1, 0), (2, 0)")
        .await
        .unwrap();
    let (ta, tb) = (a.transaction().await.unwrap(), b.transaction().await.unwrap());
    ta.execute("update t set v = v + 1 where k = 1", &[]).await.unwrap();
    tb.execute("update t set v = v + 10 where k = 2", &[]).await.unwrap();
    let second_a = async {
        let result = ta.execute("update t set v = v + 1 where k = 2", &[]).await;
        if result.is_ok() { ta.commit().await } else { ta.rollback().await.and(result.map(drop)) }
    };
    let second_b = async {
        let result = tb.execute("update t set v = v + 10 where k = 1", &[]).await;
        if result.is_ok() { tb.commit().await } else { tb.rollback().await.and(result.map(drop)) }
    };
    let (ra, rb) = future::join(second_a, second_b).await;
    let (error, total) = match (ra, rb) {
        (Ok(()), Err(error)) => (error, 2_i64),
        (Err(error), Ok(())) => (error, 20),
        other => panic!("one must fail: {other:?}"),
    };
    assert_eq!(error.code(), Some(&SqlState::T_R_DEADLOCK_DETECTED));
    assert_eq!(a.query_one("select sum(v) from t", &[]).await.unwrap().get::<_, i64>(0), total);
}

#[tokio::test]
async fn concurrent_increments_lose_nothing() {
    let server = Server::from_env();
    let client = connect(&server).await;
    client
        .batch_execute("create table t (k int primary key, v int); insert into t values (1, 0)")
        .await
        .unwrap();
    let workers = (0..8).map(|_| async {
        let client = connect(&server).await;
        for _ in 0..50 {
            client.execute("update t set v = v + 1 where k = $1", &[&1_i32]).await.unwrap();
        }
    });
    future::join_all(workers).await;
    assert_eq!(client.query_one("select v from t", &[]).await.unwrap().get::<_, i32>(0), 400);
}
