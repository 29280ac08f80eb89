//! What tests of planner and row path stand on: a store with tables, an environment, and short ways to build bound trees.

use super::dml::{DmlPlan, DmlPlanner};
use super::node::Plan;
use super::scope::Scope;
use super::select::Planner;
use super::{PlanContext, plan_query};
use crate::bind::overload::{Resolution, resolve_function, resolve_operator};
use crate::bound::*;
use crate::environment::{Activity, Environment, PreparedInfo};
use crate::functions;
use crate::row::index_entry::IndexLayout;
use crate::row::{self, StatementContext};
use catalog::object::{Column, Index, IndexColumn, IndexKey, Object, Persistence, Table};
use catalog::types::oid;
use catalog::{Arena, Catalog, DatabaseObjects, Datum, Oid, Result, SqlError, Style, Value};
use std::ops::ControlFlow;
use std::sync::Arc;
use storage::{Durability, Isolation, RelationId, Store, StoreOptions};

pub(crate) struct Env(pub Arc<DatabaseObjects>);

fn no<T>() -> Result<T> {
    Err(SqlError::unsupported("this in tests"))
}

impl Environment for Env {
    fn transaction_timestamp(&self) -> i64 {
        0
    }
    fn statement_timestamp(&self) -> i64 {
        0
    }
    fn catalog(&self) -> Arc<Catalog> {
        Arc::new(Catalog::default())
    }
    fn objects(&self) -> Arc<DatabaseObjects> {
        Arc::clone(&self.0)
    }
    fn database(&self) -> Oid {
        Oid(1)
    }
    fn current_role(&self) -> Oid {
        Oid(10)
    }
    fn session_role(&self) -> Oid {
        Oid(10)
    }
    fn search_path(&self, _: bool) -> Vec<Oid> {
        vec![Oid::PG_CATALOG, Oid::PUBLIC]
    }
    fn setting(&self, _: &str) -> Option<String> {
        None
    }
    fn set_setting(&self, _: &str, _: &str, _: bool) -> Result<String> {
        no()
    }
    fn nextval(&self, _: Oid) -> Result<i64> {
        no()
    }
    fn currval(&self, _: Oid) -> Result<i64> {
        no()
    }
    fn lastval(&self) -> Result<i64> {
        no()
    }
    fn setval(&self, _: Oid, _: i64, _: bool) -> Result<i64> {
        no()
    }
    fn sequence_state(&self, _: Oid) -> Result<(i64, bool)> {
        no()
    }
    fn backend_pid(&self) -> i32 {
        1
    }
    fn transaction_id(&self) -> Result<u64> {
        no()
    }
    fn transaction_id_if_assigned(&self) -> Option<u64> {
        None
    }
    fn advisory_lock(&self, _: (i64, Option<i32>), _: bool, _: bool, _: bool) -> Result<bool> {
        no()
    }
    fn advisory_unlock(&self, _: (i64, Option<i32>), _: bool) -> Result<bool> {
        no()
    }
    fn advisory_unlock_all(&self) -> Result<()> {
        no()
    }
    fn relation_size(&self, _: u32) -> (u64, u64) {
        (0, 0)
    }
    fn server_start(&self) -> i64 {
        0
    }
    fn signal_backend(&self, _: i32, _: bool) -> Result<bool> {
        no()
    }
    fn activity(&self) -> Vec<Activity> {
        vec![]
    }
    fn prepared_statements(&self) -> Vec<PreparedInfo> {
        vec![]
    }
    fn notice(&self, _: SqlError) {}
    fn check_interrupt(&self) -> Result<()> {
        Ok(())
    }
    fn sleep(&self, _: std::time::Duration) -> Result<()> {
        Ok(())
    }
}

struct NoDml;

impl DmlPlanner for NoDml {
    fn plan(&self, _: &Dml, _: &mut Planner<'_>, _: u32, _: Option<&Scope<'_>>) -> Result<Arc<dyn DmlPlan>> {
        no()
    }
}

pub(crate) struct Fixture {
    pub store: Store,
    pub objects: Arc<DatabaseObjects>,
    _directory: tempfile::TempDir,
}

pub(crate) const INT: SqlType = SqlType::plain(oid::INT4);
pub(crate) const TEXT: SqlType = SqlType::plain(oid::TEXT);
pub(crate) const BIGINT: SqlType = SqlType::plain(oid::INT8);

fn table(number: u32, name: &str, columns: &[(&str, SqlType)], cluster: &[u16]) -> Table {
    let column = |(name, typ): &(&str, SqlType)| Column {
        name: (*name).into(),
        typ: typ.oid,
        typmod: -1,
        not_null: false,
        default: None,
        generated: None,
        identity: None,
        dropped: false,
        missing: Value::Null,
        collation: Oid(0),
        ndims: 0,
        attrdef_oid: Oid(0),
    };
    Table {
        oid: Oid(number),
        schema: Oid::PUBLIC,
        name: name.into(),
        owner: Oid(10),
        persistence: Persistence::Permanent,
        relation: number,
        columns: columns.iter().map(column).collect(),
        cluster: cluster.to_vec(),
        row_type: Oid(0),
        array_type: Oid(0),
        options: vec![],
    }
}

fn index(
    number: u32,
    name: &str,
    of: &Table,
    places: &[u16],
    include: &[u16],
    unique: bool,
    primary: bool,
) -> Index {
    let column = |place: &u16| IndexColumn {
        key: IndexKey::Column(*place),
        typ: of.columns[usize::from(*place)].typ,
        desc: false,
        nulls_first: false,
        opclass: Oid(0),
        collation: Oid(0),
    };
    Index {
        oid: Oid(number),
        schema: of.schema,
        name: name.into(),
        table: of.oid,
        relation: if primary { 0 } else { number },
        columns: places.iter().map(column).collect(),
        include: include.to_vec(),
        unique,
        primary,
        nulls_not_distinct: false,
        predicate: None,
        deferrable: false,
    }
}

impl Fixture {
    /// `t (id int primary key, k int, name text)` with 1000 rows (id 0.., k = id % 10 or NULL for every 7th, name `n<id>`), index on k, and
    /// `u (a int, b text)` without a key, with 100 rows (a = 2 * i, b = `b<i>`), unique index on a including b.
    pub fn new() -> Fixture {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path(), StoreOptions::default()).expect("a store");
        let first = RelationId::FIRST_USER.0;
        let t = table(first, "t", &[("id", INT), ("k", INT), ("name", TEXT)], &[0]);
        let u = table(first + 1, "u", &[("a", INT), ("b", TEXT)], &[]);
        let wide: Vec<(String, SqlType)> =
            (0..24).map(|c| (format!("c{c}"), if c < 22 { INT } else { TEXT })).collect();
        let wide: Vec<(&str, SqlType)> = wide.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        let w = table(first + 10, "w", &wide, &[0]);
        let w_pkey = index(first + 11, "w_pkey", &w, &[0], &[], true, true);
        let w_c1 = index(first + 12, "w_c1", &w, &[1], &[], false, false);
        let t_pkey = index(first + 2, "t_pkey", &t, &[0], &[], true, true);
        let t_k = index(first + 3, "t_k", &t, &[1], &[], false, false);
        let u_a = index(first + 4, "u_a", &u, &[0], &[1], true, false);
        let mut transaction = store.begin(Isolation::ReadCommitted);
        transaction.begin_statement();
        let mut add =
            |table: &Table, indexes: &[&Index], key: Option<Vec<u8>>, number: u64, row: &[Datum<'_>]| {
                let layout = super::access::row_layout(table).expect("layout");
                let (mut bytes, mut row_key) = (Vec::new(), number.to_be_bytes().to_vec());
                layout.encode(row, &mut bytes);
                if let Some(key) = key {
                    row_key = key;
                }
                transaction.insert(RelationId(table.relation), &row_key, &bytes).expect("insert");
                for index in indexes {
                    let types: Vec<_> = index
                        .include
                        .iter()
                        .map(|p| catalog::types::by_oid(table.columns[usize::from(*p)].typ).expect("type"))
                        .collect();
                    let entry = IndexLayout::new(index, &types).expect("layout");
                    let keys: Vec<_> = index
                        .columns
                        .iter()
                        .map(|c| match c.key {
                            IndexKey::Column(p) => row[usize::from(p)],
                            IndexKey::Expression(_) => Datum::Null,
                        })
                        .collect();
                    let include: Vec<_> = index.include.iter().map(|p| row[usize::from(*p)]).collect();
                    let (mut k, mut v) = (Vec::new(), Vec::new());
                    entry.encode_key(&keys, &row_key, &mut k);
                    entry.encode_value(&row_key, &include, &mut v);
                    transaction.insert(RelationId(index.relation), &k, &v).expect("insert");
                }
            };
        let column = catalog::key::KeyColumn {
            typ: catalog::types::by_oid(oid::INT4).expect("int4"),
            desc: false,
            nulls_first: false,
        };
        for id in 0..1000i64 {
            let name = format!("n{id}");
            let k = if id % 7 == 0 { Datum::Null } else { Datum::Int(id % 10) };
            let mut key = Vec::new();
            column.encode(Datum::Int(id), &mut key);
            add(&t, &[&t_k], Some(key), 0, &[Datum::Int(id), k, Datum::text(&name)]);
        }
        for i in 0..100i64 {
            let b = format!("b{i}");
            add(&u, &[&u_a], None, i as u64, &[Datum::Int(2 * i), Datum::text(&b)]);
        }
        transaction.end_statement();
        transaction.commit(Durability::Synced).expect("commit");
        let mut catalog = Catalog::default();
        for object in [
            Object::Table(w),
            Object::Index(w_pkey),
            Object::Index(w_c1),
            Object::Table(t),
            Object::Table(u),
            Object::Index(t_pkey),
            Object::Index(t_k),
            Object::Index(u_a),
        ] {
            catalog.put(Oid(1), object);
        }
        let objects = Arc::clone(&catalog.objects[&Oid(1)]);
        Fixture { store, objects, _directory: directory }
    }

    /// Fills `w (c0 int primary key, c1.., c21 int, c22 text, c23 text)` with an index on c1.
    pub fn wide(&self, count: i64) {
        let column = catalog::key::KeyColumn {
            typ: catalog::types::by_oid(oid::INT4).expect("int4"),
            desc: false,
            nulls_first: false,
        };
        let Source::Table(w) = self.table("w") else { panic!("no table") };
        let index = self.objects.index(Oid(w.oid.0 + 2)).expect("an index");
        let layout = super::access::row_layout(&w).expect("layout");
        let entry = IndexLayout::new(index, &[]).expect("layout");
        for chunk in 0..(count / 1000) {
            let mut transaction = self.store.begin(Isolation::ReadCommitted);
            transaction.begin_statement();
            for i in chunk * 1000..(chunk + 1) * 1000 {
                let text = format!("some text of row {i}");
                let row: Vec<Datum<'_>> = (0..24)
                    .map(|c| {
                        if c < 22 { Datum::Int(if c == 3 { i % 100 } else { i }) } else { Datum::text(&text) }
                    })
                    .collect();
                let (mut key, mut bytes) = (Vec::new(), Vec::new());
                column.encode(Datum::Int(i), &mut key);
                layout.encode(&row, &mut bytes);
                transaction.insert(RelationId(w.relation), &key, &bytes).expect("insert");
                let (mut k, mut v) = (Vec::new(), Vec::new());
                entry.encode_key(&[Datum::Int(i)], &key, &mut k);
                entry.encode_value(&key, &[], &mut v);
                transaction.insert(RelationId(index.relation), &k, &v).expect("insert");
            }
            transaction.end_statement();
            transaction.commit(Durability::Synced).expect("commit");
        }
        self.store.checkpoint().expect("checkpoint");
    }

    /// What the store alone takes.
    pub fn raw(&self) {
        let Source::Table(w) = self.table("w") else { panic!("no table") };
        let layout = super::access::row_layout(&w).expect("layout");
        let relation = RelationId(w.relation);
        let measure = |name: &str, count: u32, f: &mut dyn FnMut(u32)| {
            let busy = cpu_nanos();
            (0..count).for_each(&mut *f);
            println!("{:10.4} us  {name}", (cpu_nanos() - busy) as f64 / 1e3 / f64::from(count));
        };
        measure("view", 100_000, &mut |_| drop(std::hint::black_box(self.store.view())));
        let view = self.store.view();
        let mut total = 0;
        measure("get", 100_000, &mut |i| {
            let mut key = vec![1u8];
            key.extend_from_slice(&((i as i32 * 37 % 100_000) ^ i32::MIN).to_be_bytes());
            total += view.get(relation, &key, |row| row.len()).expect("get").unwrap_or(0);
        });
        measure("scan of 100000", 10, &mut |_| {
            let mut scan = view
                .scan(
                    relation,
                    std::ops::Bound::Unbounded,
                    std::ops::Bound::Unbounded,
                    storage::Direction::Forward,
                )
                .expect("scan");
            while let Some((_, row)) = scan.next().expect("next") {
                total += row.len();
            }
        });
        for columns in [1, 24] {
            measure(&format!("scan of 100000, decoding {columns} columns"), 10, &mut |_| {
                let mut scan = view
                    .scan(
                        relation,
                        std::ops::Bound::Unbounded,
                        std::ops::Bound::Unbounded,
                        storage::Direction::Forward,
                    )
                    .expect("scan");
                while let Some((_, row)) = scan.next().expect("next") {
                    let mut slots = [Datum::Null; 24];
                    layout.decode(row, &[], &mut slots[..columns]).expect("row");
                    total += slots.iter().filter(|s| s.is_null()).count();
                }
            });
        }
        assert!(total > 0);
    }

    /// Microseconds of one execution of a plan whose parameter walks.
    pub fn time(&self, plan: &Plan, types: &[SqlType]) -> f64 {
        let env = Env(Arc::clone(&self.objects));
        let style = Style::default();
        let mut runs = 0u32;
        let mut sink = 0usize;
        let start = std::time::Instant::now();
        let busy = cpu_nanos();
        while runs < 10 || start.elapsed().as_millis() < 400 {
            let params = [Datum::Int(i64::from(runs * 37 % 900))];
            let view = self.store.view();
            let statement =
                StatementContext::new(&params, &view, &style, &env, &self.objects, plan.cache_slots);
            let arena = Arena::new();
            let _ = row::run(&plan.root, &statement.root(&arena), &mut |_, row| {
                sink += row.len();
                Ok(ControlFlow::Continue(()))
            })
            .expect("rows");
            runs += 1;
        }
        assert!(sink > 0 || types.is_empty() || sink == 0);
        (cpu_nanos() - busy) as f64 / 1e3 / f64::from(runs)
    }

    pub fn table(&self, name: &str) -> Source {
        let oid = self.objects.names.iter().find(|((_, n), _)| n == name).expect("a table").1;
        Source::Table(Arc::clone(self.objects.table(*oid).expect("a table")))
    }

    pub fn plan(&self, query: &Query) -> Plan {
        let env = Env(Arc::clone(&self.objects));
        let cx = PlanContext {
            objects: &self.objects,
            store: &self.store,
            env: &env,
            relational: None,
            dml: &NoDml,
        };
        plan_query(query, &cx).expect("a plan")
    }

    /// The rows of a plan, as text joined by `|`.
    pub fn rows(&self, plan: &Plan, types: &[SqlType], params: &[Datum<'_>]) -> Result<Vec<String>> {
        let env = Env(Arc::clone(&self.objects));
        let view = self.store.view();
        let style = Style::default();
        let statement = StatementContext::new(params, &view, &style, &env, &self.objects, plan.cache_slots);
        let arena = Arena::new();
        let mut rows = Vec::new();
        let _ = row::run(&plan.root, &statement.root(&arena), &mut |_, row| {
            assert_eq!(row.len(), types.len(), "one value per output column");
            let mut line = Vec::new();
            for (i, (value, typ)) in row.iter().zip(types).enumerate() {
                if i > 0 {
                    line.push(b'|');
                }
                match value {
                    Datum::Null => line.extend_from_slice(b"NULL"),
                    value => (functions::typ(*typ)?.output)(*value, &Style::default(), &mut line),
                }
            }
            rows.push(String::from_utf8_lossy(&line).into_owned());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    /// The lines of EXPLAIN for a query given as text.
    pub fn explain(&self, text: &str) -> Result<Vec<String>> {
        let (query, _) = self.bind(text)?;
        let options = ExplainOptions { costs: true, ..ExplainOptions::default() };
        Ok(super::explain::explain_query(&self.plan(&query), &options, None, std::time::Duration::ZERO))
    }

    /// The rows of a query given as text.
    pub fn sql(&self, text: &str) -> Result<Vec<String>> {
        if let Some(query) = text.strip_prefix("explain ") {
            return self.explain(query);
        }
        let (query, types) = self.bind(text)?;
        let env = Env(Arc::clone(&self.objects));
        let cx = PlanContext {
            objects: &self.objects,
            store: &self.store,
            env: &env,
            relational: None,
            dml: &NoDml,
        };
        self.rows(&plan_query(&query, &cx)?, &types, &[])
    }

    /// A query given as text, bound.
    pub fn bind(&self, text: &str) -> Result<(Query, Vec<SqlType>)> {
        let env = Env(Arc::clone(&self.objects));
        let style = Style::default();
        let parameters = [crate::bind::ParameterType::Fixed(oid::INT4)];
        let cx = crate::bind::BindContext {
            parameters: &parameters,
            ..crate::bind::BindContext::plain(&env, &style)
        };
        let bound = crate::bind::bind_text(text, 0, &cx)?;
        let columns = bound.columns.unwrap_or_default();
        match bound.statement {
            Statement::Query(query) => Ok((query, columns.iter().map(|c| c.typ).collect())),
            _ => no(),
        }
    }

    pub fn query(&self, query: &Query) -> Vec<String> {
        let types: Vec<SqlType> = query.columns.iter().map(|c| c.typ).collect();
        self.rows(&self.plan(query), &types, &[]).expect("rows")
    }
}

/// Time that this thread has run, whatever else the machine does.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

pub(crate) fn entry(alias: &str, source: Source) -> RangeEntry {
    let columns = match &source {
        Source::Table(t) => t
            .columns
            .iter()
            .map(|c| EntryColumn { name: c.name.clone(), typ: SqlType::plain(c.typ) })
            .collect(),
        Source::Subquery(q) => {
            q.columns.iter().map(|c| EntryColumn { name: c.name.clone(), typ: c.typ }).collect()
        }
        _ => vec![],
    };
    RangeEntry { alias: alias.into(), columns, source, lateral: false }
}

pub(crate) fn col(e: u16, column: u16, typ: SqlType) -> Expr {
    Expr::Column(ColumnRef { level: 0, entry: e, column, typ })
}

pub(crate) fn up(e: u16, column: u16, typ: SqlType) -> Expr {
    Expr::Column(ColumnRef { level: 1, entry: e, column, typ })
}

pub(crate) fn int(v: i64) -> Expr {
    Expr::Const(Value::Int(v), INT)
}

pub(crate) fn op_call(name: &str, left: Expr, right: Expr) -> Call {
    let resolved = resolve_operator(name, Some(left.typ()), right.typ()).expect("an operator");
    Call {
        proc: resolved.proc,
        implementation: functions::implementation(resolved.proc).expect("an implementation"),
        args: vec![left, right],
        typ: SqlType::plain(resolved.result),
        form: CallForm::Operator(resolved.operator.oid),
        position: 0,
    }
}

pub(crate) fn op(name: &str, left: Expr, right: Expr) -> Expr {
    Expr::Call(Box::new(op_call(name, left, right)))
}

pub(crate) fn any(name: &str, left: Expr, list: Vec<Expr>) -> Expr {
    let mut call = op_call(name, left, list[0].clone());
    call.args[1] = Expr::Array(list, SqlType::plain(oid::INT4_ARRAY), false);
    Expr::ScalarArray(Box::new(call), false)
}

pub(crate) fn aggregate(name: &str, args: Vec<Expr>) -> AggregateCall {
    let types: Vec<SqlType> = args.iter().map(Expr::typ).collect();
    let Ok(Resolution::Function(resolved)) = resolve_function(name, None, &types, false, &[]) else {
        panic!("no aggregate {name}");
    };
    AggregateCall {
        proc: resolved.proc,
        implementation: functions::implementation(resolved.proc).expect("an implementation"),
        direct: vec![],
        args,
        distinct: false,
        order_by: vec![],
        filter: None,
        typ: SqlType::plain(resolved.result),
    }
}

pub(crate) fn select(entries: Vec<RangeEntry>, filter: Option<Expr>, targets: Vec<Expr>) -> Select {
    Select {
        from: (0..entries.len()).map(FromItem::Entry).collect(),
        entries,
        filter,
        group_by: vec![],
        grouping_sets: None,
        grouped: false,
        aggregates: vec![],
        having: None,
        windows: vec![],
        set_functions: vec![],
        visible: targets.len(),
        targets,
        distinct: Distinct::None,
    }
}

pub(crate) fn query(select: Select) -> Query {
    let columns = select.targets[..select.visible]
        .iter()
        .map(|t| QueryColumn { name: "c".into(), typ: t.typ(), origin: None })
        .collect();
    Query {
        ctes: vec![],
        body: Body::Select(Box::new(select)),
        order_by: vec![],
        limit: None,
        offset: None,
        with_ties: false,
        locking: vec![],
        columns,
    }
}

pub(crate) fn ordered(mut q: Query, keys: &[(usize, bool)]) -> Query {
    q.order_by = keys
        .iter()
        .map(|(column, desc)| SortKey { column: *column, desc: *desc, nulls_first: *desc })
        .collect();
    q
}

pub(crate) fn limited(mut q: Query, limit: i64, offset: i64) -> Query {
    q.limit = Some(Expr::Const(Value::Int(limit), BIGINT));
    q.offset = (offset > 0).then_some(Expr::Const(Value::Int(offset), BIGINT));
    q
}
