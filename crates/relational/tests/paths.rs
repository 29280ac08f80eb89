//! The row path and the relational path give the same rows and the same errors: every query of `queries.sql` runs on both, over the
//! tables of `tables.sql`. What a query leaves open (order without ORDER BY) the queries there do not ask for.

use catalog::{Datum, Result, SqlError, Style};
use exec::client::Client;
use exec::engine::{Engine, EngineOptions};
use exec::session::{ResultColumn, Session, Startup};
use relational::{DataFusion, Options};
use std::ops::ControlFlow;
use tempfile::TempDir;

/// Keeps the rows as text.
#[derive(Default)]
struct Rows {
    columns: Vec<ResultColumn>,
    rows: Vec<String>,
}

impl Client for Rows {
    fn row(&mut self, row: &[Datum<'_>]) -> Result<ControlFlow<()>> {
        let mut line = Vec::new();
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                line.push(b'|');
            }
            match (value, self.columns.get(i)) {
                (Datum::Null, _) => line.extend_from_slice(b"NULL"),
                (value, Some(column)) => (column.functions.output)(*value, &Style::default(), &mut line),
                (value, None) => line.extend_from_slice(format!("{value:?}").as_bytes()),
            }
        }
        self.rows.push(String::from_utf8_lossy(&line).into_owned());
        Ok(ControlFlow::Continue(()))
    }

    fn copy_in_begin(&mut self, _: bool, _: usize) -> Result<()> {
        Err(SqlError::internal("no COPY here"))
    }
    fn copy_in_data(&mut self) -> Result<Option<&[u8]>> {
        Ok(None)
    }
    fn copy_out_begin(&mut self, _: bool, _: usize) -> Result<()> {
        Err(SqlError::internal("no COPY here"))
    }
    fn copy_out_data(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn notice(&mut self, _: &SqlError) {}
    fn parameter_status(&mut self, _: &str, _: &str) {}
}

struct Database {
    session: Session,
    _directory: TempDir,
}

impl Database {
    fn new(relational: bool) -> Database {
        let directory = tempfile::tempdir().expect("a directory");
        let options = EngineOptions { fsync: false, ..EngineOptions::new(directory.path().to_owned()) };
        let engine = Engine::open(options).expect("opens");
        if relational {
            let options = Options { always: true, ..Options::default() };
            engine.set_relational(DataFusion::new(options).expect("starts"));
        }
        let startup = Startup { user: "postgres".into(), pid: 1, ..Startup::default() };
        let session = Session::new(engine, startup).expect("a session");
        let mut database = Database { session, _directory: directory };
        for statement in include_str!("tables.sql").split(';').map(str::trim).filter(|s| !s.is_empty()) {
            database.run(statement).expect(statement);
        }
        database
    }

    fn run(&mut self, sql: &str) -> Result<Vec<String>> {
        let result = self.try_run(sql);
        if result.is_err() {
            self.session.fail();
        }
        result
    }

    fn try_run(&mut self, sql: &str) -> Result<Vec<String>> {
        let mut client = Rows::default();
        let script = self.session.parse_simple(sql)?;
        for statement in &script.statements {
            let (prepared, values) = self.session.plan_simple(statement)?;
            client.columns = prepared.columns.clone().unwrap_or_default();
            self.session.execute(&prepared, &values, &mut client)?;
        }
        self.session.finish(&mut client)?;
        Ok(client.rows)
    }
}

#[test]
fn both_paths_agree() {
    let mut row = Database::new(false);
    let mut relational = Database::new(true);
    let mut taken = 0;
    let mut queries = 0;
    for query in include_str!("queries.sql").lines().filter(|q| !q.trim().is_empty()) {
        let query = query.trim_end_matches(';');
        queries += 1;
        // Twice: the second run takes the cached plan.
        for _ in 0..2 {
            match (row.run(query), relational.run(query)) {
                (Ok(expected), Ok(found)) => assert_eq!(expected, found, "{query}"),
                (Err(expected), Err(found)) => {
                    assert_eq!(
                        (expected.code(), expected.message()),
                        (found.code(), found.message()),
                        "{query}"
                    )
                }
                (expected, found) => panic!("{query}\nrow path: {expected:?}\nrelational path: {found:?}"),
            }
        }
        let plan = relational.run(&format!("explain {query}")).unwrap_or_default();
        taken += usize::from(plan.iter().any(|line| line.contains("Path: relational")));
    }
    assert!(taken * 4 >= queries * 3, "only {taken} of {queries} queries took the relational path");
}
