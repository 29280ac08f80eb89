//! The statement cache as a client sees it: what a lifted statement is remembered as, and how often it was found.

use tests::server::{Server, Target};
use tokio_postgres::NoTls;

#[tokio::test]
async fn statements_that_differ_in_literals_share_one_entry() {
    // PostgreSQL has no such cache.
    if Target::from_env() == Target::Postgres {
        return;
    }
    let server = Server::from_env();
    let (client, connection) = tokio_postgres::connect(&server.url("postgres"), NoTls).await.unwrap();
    tokio::spawn(async move {
        let _ = connection.await;
    });
    client.simple_query("create table t (id int primary key, v text)").await.unwrap();
    for id in 0..5 {
        client.simple_query(&format!("insert into t values ({id}, 'value {id}')")).await.unwrap();
        client.simple_query(&format!("select v from t where id = {id} limit 1")).await.unwrap();
    }
    let entries = client
        .query("select statement, lifted, hits from pgfusion_statement_cache where lifted order by 1", &[])
        .await
        .unwrap();
    let entries: Vec<(String, bool, i64)> =
        entries.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let expected = [("insert into t values ($1, $2)", 4), ("select v from t where id = $1 limit 1", 4)];
    assert_eq!(entries, expected.map(|(text, hits)| (text.to_owned(), true, hits)));

    let totals = "select hits >= 8, misses > 0, entries > 2 from pgfusion_statement_cache_totals";
    let row = client.query_one(totals, &[]).await.unwrap();
    assert_eq!([0, 1, 2].map(|i| row.get::<_, bool>(i)), [true; 3]);

    client.simple_query("set pgfusion.literal_lifting = off").await.unwrap();
    client.simple_query("select v from t where id = 77 limit 1").await.unwrap();
    let row = client
        .query_one(
            "select lifted from pgfusion_statement_cache where statement ~ '^select v .*77 limit 1$'",
            &[],
        )
        .await
        .unwrap();
    assert!(!row.get::<_, bool>(0));
}
