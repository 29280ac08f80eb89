//! DDL against a real store, without a session around it.

use super::*;
use crate::environment::{Activity, PreparedInfo};
use crate::utility::Utility;
use parking_lot::Mutex;
use std::time::Duration;
use storage::{Isolation, Store, StoreOptions};

struct TestSession {
    _directory: tempfile::TempDir,
    store: Store,
    transaction: Mutex<Transaction>,
    catalog: Mutex<Arc<Catalog>>,
    notices: Mutex<Vec<String>>,
    next: Mutex<u32>,
}

impl TestSession {
    fn new() -> TestSession {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path(), StoreOptions::default()).expect("a store");
        let mut catalog = Catalog::default();
        for (database, object) in initial_objects() {
            catalog.put(database, object);
        }
        let mut transaction = store.begin(Isolation::ReadCommitted);
        transaction.begin_statement();
        TestSession {
            _directory: directory,
            store,
            transaction: Mutex::new(transaction),
            catalog: Mutex::new(Arc::new(catalog)),
            notices: Mutex::default(),
            next: Mutex::new(16384),
        }
    }

    /// Runs statements; the last one's notices, or its error.
    fn run(&self, sql: &str) -> std::result::Result<String, String> {
        let mut last = String::new();
        for statement in crate::parse::parse(sql).map_err(|e| e.message().to_owned())? {
            let crate::parse::ast::Ast::Utility(utility) = statement.ast else {
                panic!("not a utility: {sql}")
            };
            let Utility::Ddl(ddl) = *utility else { panic!("not DDL: {sql}") };
            let before = Arc::clone(&self.catalog.lock());
            let savepoint = {
                let mut t = self.transaction.lock();
                t.end_statement();
                t.savepoint()
            };
            self.notices.lock().clear();
            if let Err(error) = execute(&ddl, &DdlContext { session: self, in_block: false }) {
                *self.catalog.lock() = before;
                self.transaction.lock().rollback_to(savepoint).expect("a savepoint");
                let fields = error.fields();
                let extra: Vec<&str> =
                    [&fields.detail, &fields.hint].into_iter().flatten().map(String::as_str).collect();
                return Err([&[fields.message.as_str()][..], &extra].concat().join(" | "));
            }
            self.transaction.lock().end_statement();
            last = self.notices.lock().join(" | ");
        }
        Ok(last)
    }

    fn err(&self, sql: &str) -> String {
        self.run(sql).expect_err(sql)
    }

    fn ok(&self, sql: &str) -> String {
        self.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }
}

impl Environment for TestSession {
    fn transaction_timestamp(&self) -> i64 {
        0
    }
    fn statement_timestamp(&self) -> i64 {
        0
    }
    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.lock())
    }
    fn objects(&self) -> Arc<DatabaseObjects> {
        Arc::clone(&self.catalog.lock().objects[&Oid(5)])
    }
    fn database(&self) -> Oid {
        Oid(5)
    }
    fn current_role(&self) -> Oid {
        Oid(10)
    }
    fn session_role(&self) -> Oid {
        Oid(10)
    }
    fn search_path(&self, implicit: bool) -> Vec<Oid> {
        if implicit { vec![Oid::PG_CATALOG, Oid::PUBLIC] } else { vec![Oid::PUBLIC] }
    }
    fn setting(&self, name: &str) -> Option<String> {
        crate::settings::Settings::default().show(name)
    }
    fn set_setting(&self, _: &str, value: &str, _: bool) -> Result<String> {
        Ok(value.into())
    }
    fn nextval(&self, _: Oid) -> Result<i64> {
        let mut next = self.next.lock();
        *next += 1;
        Ok((*next).into())
    }
    fn currval(&self, _: Oid) -> Result<i64> {
        Ok(1)
    }
    fn lastval(&self) -> Result<i64> {
        Ok(1)
    }
    fn setval(&self, _: Oid, value: i64, _: bool) -> Result<i64> {
        Ok(value)
    }
    fn sequence_state(&self, _: Oid) -> Result<(i64, bool)> {
        Ok((1, false))
    }
    fn backend_pid(&self) -> i32 {
        1
    }
    fn transaction_id(&self) -> Result<u64> {
        Ok(1)
    }
    fn transaction_id_if_assigned(&self) -> Option<u64> {
        None
    }
    fn advisory_lock(&self, _: (i64, Option<i32>), _: bool, _: bool, _: bool) -> Result<bool> {
        Ok(true)
    }
    fn advisory_unlock(&self, _: (i64, Option<i32>), _: bool) -> Result<bool> {
        Ok(true)
    }
    fn advisory_unlock_all(&self) -> Result<()> {
        Ok(())
    }
    fn relation_size(&self, _: u32) -> (u64, u64) {
        (0, 0)
    }
    fn server_start(&self) -> i64 {
        0
    }
    fn signal_backend(&self, _: i32, _: bool) -> Result<bool> {
        Ok(false)
    }
    fn activity(&self) -> Vec<Activity> {
        Vec::new()
    }
    fn prepared_statements(&self) -> Vec<PreparedInfo> {
        Vec::new()
    }
    fn notice(&self, notice: SqlError) {
        let fields = notice.fields();
        let detail = fields.detail.as_ref().map(|d| format!(" ({d})")).unwrap_or_default();
        self.notices.lock().push(format!("{}{detail}", fields.message));
    }
    fn check_interrupt(&self) -> Result<()> {
        Ok(())
    }
    fn sleep(&self, _: Duration) -> Result<()> {
        Ok(())
    }
}

impl DdlSession for TestSession {
    fn new_oid(&self) -> Result<Oid> {
        let mut next = self.next.lock();
        *next += 1;
        Ok(Oid(*next))
    }
    fn with_transaction(&self, f: &mut dyn FnMut(&mut Transaction) -> Result<()>) -> Result<()> {
        f(&mut self.transaction.lock())
    }
    fn refresh_catalog(&self) -> Result<()> {
        Ok(())
    }
    fn record(&self, change: Change) -> Result<()> {
        let mut catalog = self.catalog.lock();
        *catalog = Arc::new(catalog.apply(&[change]));
        Ok(())
    }
    fn style(&self) -> Arc<Style> {
        Arc::default()
    }
    fn sessions_in(&self, _: Oid) -> usize {
        0
    }
    fn check_setting(&self, _: &str, values: &[String]) -> Result<String> {
        Ok(values.join(", "))
    }
}

impl TestSession {
    /// Inserts a row of plain integers into a table without indexes but its clustering key.
    fn insert(&self, table: &str, values: &[i64]) {
        let objects = self.objects();
        let relation = objects.relation(Oid::PUBLIC, table).expect(table).clone();
        let catalog::Relation::Table(table) = relation else { panic!("not a table") };
        let types: Vec<_> =
            table.columns.iter().map(|c| catalog::types::by_oid(c.typ).expect("a type")).collect();
        let layout = catalog::row::RowLayout::new(
            types.iter().map(|t| t.physical).collect(),
            types.iter().map(|_| catalog::Value::Null).collect(),
        );
        let datums: Vec<catalog::Datum<'_>> = values.iter().map(|v| catalog::Datum::Int(*v)).collect();
        let (mut key, mut row) = (Vec::new(), Vec::new());
        layout.encode(&datums, &mut row);
        if table.cluster.is_empty() {
            let number = self.store.next_row_number(RelationId(table.relation)).expect("a number");
            key.extend_from_slice(&number.to_be_bytes());
        }
        for place in &table.cluster {
            let place = usize::from(*place);
            let column = catalog::key::KeyColumn { typ: types[place], desc: false, nulls_first: false };
            column.encode(datums[place], &mut key);
        }
        let mut t = self.transaction.lock();
        t.insert(RelationId(table.relation), &key, &row).expect("inserted");
        t.end_statement();
    }

    fn count(&self, relation: u32) -> usize {
        let view = self.transaction.lock().latest_view();
        let mut scan = view
            .scan(
                RelationId(relation),
                std::ops::Bound::Unbounded,
                std::ops::Bound::Unbounded,
                storage::Direction::Forward,
            )
            .expect("a scan");
        let mut count = 0;
        while scan.next().expect("a row").is_some() {
            count += 1;
        }
        count
    }

    fn default_of(&self, table: &str, column: &str) -> Option<String> {
        let objects = self.objects();
        let relation = objects.relation(Oid::PUBLIC, table).expect(table);
        let kept = relation.columns().iter().find(|c| c.name == column).expect(column).default.clone()?;
        Some(crate::deparse::kept(self, &Style::default(), &kept, relation.oid(), true))
    }

    fn check_of(&self, name: &str, pretty: bool) -> String {
        let objects = self.objects();
        let found = objects.constraints.values().find(|c| c.name == name).expect(name);
        let catalog::object::ConstraintKind::Check { expression, .. } = &found.kind else {
            panic!("not CHECK")
        };
        crate::deparse::kept(self, &Style::default(), expression, found.table, pretty)
    }
}

#[test]
fn errors_and_notices_are_postgresqls() {
    let s = TestSession::new();
    assert_eq!(s.err("create table t(a int, a int)"), "column \"a\" specified more than once");
    assert_eq!(s.err("create table t(a nosuch)"), "type \"nosuch\" does not exist");
    assert_eq!(s.err("create table nosch.t(a int)"), "schema \"nosch\" does not exist");
    assert_eq!(
        s.err("create table t(a int primary key, b int primary key)"),
        "multiple primary keys for table \"t\" are not allowed"
    );
    assert_eq!(s.err("create table t(a int, primary key(b))"), "column \"b\" named in key does not exist");
    s.ok("create table t(a serial primary key, b varchar(5), c int check (c>0), d int references t(a))");
    assert_eq!(s.err("create table t(a int)"), "relation \"t\" already exists");
    assert_eq!(s.ok("create table if not exists t(a int)"), "relation \"t\" already exists, skipping");
    assert_eq!(
        s.err("create table u(a int not null null)"),
        "conflicting NULL/NOT NULL declarations for column \"a\" of table \"u\""
    );
    assert_eq!(s.err("create table u(a int default 'x')"), "invalid input syntax for type integer: \"x\"");
    assert_eq!(s.err("create table u(a int default b)"), "cannot use column reference in DEFAULT expression");
    assert_eq!(
        s.err("create table u(a int check (a))"),
        "argument of CHECK must be type boolean, not type integer"
    );
    assert_eq!(
        s.err("create table u(a text references t(a))"),
        "foreign key constraint \"u_a_fkey\" cannot be implemented | \
         Key columns \"a\" and \"a\" are of incompatible types: text and integer."
    );
    s.ok("create table u(a int references t)");
    assert_eq!(
        s.err("drop table t"),
        "cannot drop table t because other objects depend on it | constraint u_a_fkey on table u depends on table t | \
         Use DROP ... CASCADE to drop the dependent objects too."
    );
    assert_eq!(
        s.err("drop index t_pkey"),
        "cannot drop index t_pkey because constraint t_pkey on table t requires it | \
         You can drop constraint t_pkey on table t instead."
    );
    assert_eq!(
        s.err("drop sequence t_a_seq"),
        "cannot drop sequence t_a_seq because other objects depend on it | \
         default value for column a of table t depends on sequence t_a_seq | \
         Use DROP ... CASCADE to drop the dependent objects too."
    );
    assert_eq!(s.ok("drop table t cascade"), "drop cascades to constraint u_a_fkey on table u");
    assert_eq!(s.err("drop table nosuch"), "table \"nosuch\" does not exist");
    assert_eq!(s.ok("drop table if exists nosuch"), "table \"nosuch\" does not exist, skipping");
    s.ok("create schema s; create table s.a(x int); create table s.b(x int)");
    assert_eq!(
        s.ok("drop schema s cascade"),
        "drop cascades to 2 other objects (drop cascades to table s.a\ndrop cascades to table s.b)"
    );
    assert_eq!(s.err("create sequence q2 increment 0"), "INCREMENT must not be zero");
}

#[test]
fn definitions_print_as_postgresql_prints_them() {
    let s = TestSession::new();
    s.ok(
        "create table t(a serial, b varchar(10) default 'x' || 'y', c int default -1, d timestamptz default now(), \
         e date default current_date, f numeric(10,2) default 0, g bigint default 5, \
         constraint k check (a > 0 and (c <> 3 or b like 'z%')), constraint m check (length(b) < 5 * (c + 1)), \
         constraint o check (a between 1 and 10))",
    );
    let default = |column| s.default_of("t", column).unwrap_or_default();
    assert_eq!(default("a"), "nextval('t_a_seq'::regclass)");
    assert_eq!(default("b"), "'x'::text || 'y'::text");
    assert_eq!(default("c"), "'-1'::integer");
    assert_eq!(default("d"), "now()");
    assert_eq!(default("e"), "CURRENT_DATE");
    assert_eq!(default("f"), "0");
    assert_eq!(default("g"), "5");
    assert_eq!(s.check_of("k", false), "((a > 0) AND ((c <> 3) OR ((b)::text ~~ 'z%'::text)))");
    assert_eq!(s.check_of("k", true), "a > 0 AND (c <> 3 OR b::text ~~ 'z%'::text)");
    assert_eq!(s.check_of("m", true), "length(b::text) < (5 * (c + 1))");
    assert_eq!(s.check_of("o", true), "a >= 1 AND a <= 10");
}

#[test]
fn data_follows_definitions() {
    let s = TestSession::new();
    s.ok("create table t(a int, b int)");
    for row in [[1, 10], [2, 20], [3, 20]] {
        s.insert("t", &row);
    }
    assert_eq!(
        s.err("create unique index on t(b)"),
        "could not create unique index \"t_b_idx\" | Key (b)=(20) is duplicated."
    );
    s.ok("create index on t(b desc, a)");
    let objects = s.objects();
    let catalog::Relation::Index(index) = objects.relation(Oid::PUBLIC, "t_b_a_idx").expect("index") else {
        panic!("not an index")
    };
    assert_eq!(s.count(index.relation), 3);
    s.ok("alter table t add primary key (a)");
    assert_eq!(
        s.err("alter table t add check (b < 20)"),
        "check constraint \"t_b_check\" of relation \"t\" is violated by some row"
    );
    s.ok("alter table t add column c int not null default 7");
    s.ok("alter table t add column d serial");
    s.ok("alter table t alter column b type text");
    assert_eq!(
        s.err("alter table t alter column b type bool"),
        "column \"b\" cannot be cast automatically to type boolean | You might need to specify \"USING b::boolean\"."
    );
    s.ok("alter table t drop column c; alter table t rename column d to e");
    let objects = s.objects();
    let catalog::Relation::Table(table) = objects.relation(Oid::PUBLIC, "t").expect("table") else {
        panic!("not a table")
    };
    assert_eq!(s.count(table.relation), 3);
    assert_eq!(s.default_of("t", "e").as_deref(), Some("nextval('t_d_seq'::regclass)"));
    s.ok("create table u(a int references t(a), b int)");
    assert_eq!(
        s.err("truncate t"),
        "cannot truncate a table referenced in a foreign key constraint | Table \"u\" references \"t\". | \
         Truncate table \"u\" at the same time, or use TRUNCATE ... CASCADE."
    );
    assert_eq!(s.ok("truncate t cascade"), "truncate cascades to table \"u\"");
    let objects = s.objects();
    for relation in objects.relations.values() {
        match relation {
            catalog::Relation::Table(t) => assert_eq!(s.count(t.relation), 0, "{}", t.name),
            catalog::Relation::Index(i) => assert_eq!(s.count(i.relation), 0, "{}", i.name),
            _ => {}
        }
    }
    // A clustered table that loses its primary key is rewritten with row numbers.
    s.ok("create table c(a int primary key, b int)");
    s.insert("c", &[5, 1]);
    s.insert("c", &[4, 2]);
    s.ok("alter table c drop constraint c_pkey");
    let objects = s.objects();
    let catalog::Relation::Table(table) = objects.relation(Oid::PUBLIC, "c").expect("table") else {
        panic!("not a table")
    };
    assert!(table.cluster.is_empty());
    assert_eq!(s.count(table.relation), 2);
}

/// `testdata/views.out` is what PostgreSQL 15 prints for `testdata/views.sql`: per query `pg_get_viewdef(v, false)` and `(v, true)`.
#[test]
fn views_print_as_postgresql_prints_them() {
    let s = TestSession::new();
    s.ok("create table t(a int, b text); create table u(a int, b int)");
    let mut expected =
        include_str!("testdata/views.out").split("~~\n").map(|text| text.trim_end_matches('\n'));
    let mut wrong = Vec::new();
    for (i, query) in include_str!("testdata/views.sql").lines().enumerate() {
        if let Err(error) = s.run(&format!("create view v{i} as {query}")) {
            wrong.push(format!("{query}\n{error}"));
        }
        let objects = s.objects();
        let view = objects.relation(Oid::PUBLIC, &format!("v{i}")).map(|v| v.oid()).unwrap_or_default();
        for pretty in [false, true] {
            let text = crate::deparse::view_text(&s, &Style::default(), view, pretty).unwrap_or_default();
            let wanted = expected.next().unwrap_or_default();
            if text != wanted {
                wrong.push(format!("{query} ({pretty})\n--- ours\n{text}\n--- PostgreSQL's\n{wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(
        s.err("drop table u"),
        "cannot drop table u because other objects depend on it | view v1 depends on table u\n\
         view v3 depends on table u\nview v4 depends on table u | \
         Use DROP ... CASCADE to drop the dependent objects too."
    );
}

impl TestSession {
    /// A query's rows as psql prints them unaligned, columns joined by `|`.
    fn query(&self, sql: &str) -> Result<Vec<String>> {
        use crate::bind::{BindContext, bind_text};
        struct NoDml;
        impl crate::plan::dml::DmlPlanner for NoDml {
            fn plan(
                &self,
                _: &crate::bound::Dml,
                _: &mut crate::plan::select::Planner<'_>,
                _: u32,
                _: Option<&crate::plan::scope::Scope<'_>>,
            ) -> Result<Arc<dyn crate::plan::dml::DmlPlan>> {
                Err(SqlError::unsupported("DML here"))
            }
        }
        let style = Style::default();
        let bound = bind_text(sql, 0, &BindContext::plain(self, &style))?;
        let crate::bound::Statement::Query(query) = &bound.statement else { panic!("not a query: {sql}") };
        let objects = self.objects();
        let cx = crate::plan::PlanContext {
            objects: &objects,
            store: &self.store,
            env: self,
            relational: None,
            dml: &NoDml,
        };
        let plan = crate::plan::plan_query(query, &cx)?;
        let view = self.transaction.lock().latest_view();
        let statement =
            crate::row::context::StatementContext::new(&[], &view, &style, self, &objects, plan.cache_slots);
        let arena = catalog::Arena::new();
        let mut rows = Vec::new();
        let _ = crate::row::run(&plan.root, &statement.root(&arena), &mut |_, row| {
            let mut line = Vec::new();
            for (i, (value, column)) in row.iter().zip(&query.columns).enumerate() {
                if i > 0 {
                    line.push(b'|');
                }
                match value {
                    catalog::Datum::Null => line.extend_from_slice(b"NULL"),
                    value => {
                        // regclass and its like print names, which the session knows.
                        let cx = statement.root(&arena).eval;
                        if crate::functions::reg::is_reg_type(column.typ.oid) {
                            crate::functions::reg::output(&cx, column.typ.oid, *value, &mut line);
                        } else {
                            (crate::functions::typ(column.typ)?.output)(*value, &style, &mut line);
                        }
                    }
                }
            }
            rows.push(String::from_utf8_lossy(&line).into_owned());
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }
}

/// OIDs of users' objects differ from store to store.
fn mask_oids(line: &str) -> String {
    regex::Regex::new(r"\b16[3-9]\d\d\b").expect("a pattern").replace_all(line, "OID").into_owned()
}

/// The queries that psql 15 sends for its backslash commands, with the answers that PostgreSQL gives for `testdata/psql_schema.sql`.
#[test]
fn psqls_own_queries_answer_as_postgresql_does() {
    let s = TestSession::new();
    s.ok(include_str!("testdata/psql_schema.sql"));
    let mut expected = include_str!("testdata/psql.out").split("\n~~\n");
    let mut wrong = Vec::new();
    for query in include_str!("testdata/psql.sql").split("\n~~\n") {
        let wanted = expected.next().unwrap_or_default().trim_end_matches('\n');
        let ours = match s.query(query) {
            Ok(rows) => rows.iter().map(|row| mask_oids(row)).collect::<Vec<_>>().join("\n"),
            Err(error) => format!("{error} {:?}", error.fields().position),
        };
        if ours != wanted {
            wrong.push(format!("{query}\n--- ours\n{ours}\n--- PostgreSQL's\n{wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
