//! Plans and their rows, from hand-built bound trees.

use super::fixture::*;
use super::node::{AccessPath, JoinType, Plan, PlanKind, PlanNode, ScanNode};
use crate::bound::*;
use catalog::types::oid;
use catalog::{Datum, Value};
use storage::Direction;

fn scan_of(node: &PlanNode) -> &ScanNode {
    match &node.kind {
        PlanKind::Scan(scan) => scan,
        PlanKind::Project { input, .. } | PlanKind::Limit { input, .. } | PlanKind::Filter { input, .. } => {
            scan_of(input)
        }
        other => panic!("no scan: {other:?}"),
    }
}

fn is_point(plan: &Plan) -> bool {
    match &scan_of(&plan.root).path {
        AccessPath::Key { range, .. } | AccessPath::Index { range, .. } => range.point,
        AccessPath::Full(_) => false,
    }
}

fn t(f: &Fixture, filter: Expr, targets: Vec<Expr>) -> Query {
    query(select(vec![entry("t", f.table("t"))], Some(filter), targets))
}

fn id() -> Expr {
    col(0, 0, INT)
}

fn k() -> Expr {
    col(0, 1, INT)
}

fn name() -> Expr {
    col(0, 2, TEXT)
}

#[test]
fn lookups_by_the_clustering_key() {
    let f = Fixture::new();
    let q = t(&f, op("=", id(), int(17)), vec![name(), k()]);
    assert!(is_point(&f.plan(&q)));
    assert_eq!(f.query(&q), ["n17|7"]);
    // A wider integer, in range and out of it.
    let wide = |v| t(&f, op("=", id(), Expr::Const(Value::Int(v), BIGINT)), vec![name()]);
    assert!(is_point(&f.plan(&wide(5))));
    assert_eq!(f.query(&wide(5)), ["n5"]);
    assert!(f.query(&wide(1 << 40)).is_empty());
    // Lists, also as OR; duplicates and NULL count once or not at all.
    let null = Expr::Const(Value::Null, INT);
    let q = t(&f, any("=", id(), vec![int(9), int(3), int(3), null, int(5000)]), vec![id()]);
    assert!(is_point(&f.plan(&q)));
    assert_eq!(f.query(&q), ["3", "9"]);
    let q = t(&f, Expr::Or(vec![op("=", id(), int(9)), op("=", int(3), id())]), vec![id()]);
    assert!(is_point(&f.plan(&q)));
    assert_eq!(f.query(&q), ["3", "9"]);
    // A parameter.
    let q = t(&f, op("=", id(), Expr::Param(0, INT)), vec![name()]);
    let plan = f.plan(&q);
    assert_eq!(f.rows(&plan, &[TEXT], &[Datum::Int(8)]).expect("rows"), ["n8"]);
    assert!(f.rows(&plan, &[TEXT], &[Datum::Null]).expect("rows").is_empty());
}

#[test]
fn ranges_forwards_and_backwards() {
    let f = Fixture::new();
    let between = Expr::And(vec![op(">", id(), int(10)), op("<=", id(), int(14))]);
    assert_eq!(f.query(&t(&f, between.clone(), vec![id()])), ["11", "12", "13", "14"]);
    let q = ordered(t(&f, between, vec![id()]), &[(0, true)]);
    let plan = f.plan(&q);
    let AccessPath::Key { range, .. } = &scan_of(&plan.root).path else { panic!("{plan:?}") };
    assert_eq!(range.direction, Direction::Backward);
    assert_eq!(f.query(&q), ["14", "13", "12", "11"]);
    let open = |e| f.query(&t(&f, e, vec![id()])).len();
    assert_eq!(open(op(">=", id(), int(990))), 10);
    assert_eq!(open(op("<", id(), int(10))), 10);
    assert_eq!(open(op("<", id(), Expr::Const(Value::Int(1 << 40), BIGINT))), 1000);
    assert_eq!(open(op(">", id(), Expr::Const(Value::Int(1 << 40), BIGINT))), 0);
    let everything = query(select(vec![entry("t", f.table("t"))], None, vec![id(), k()]));
    assert_eq!(f.query(&limited(ordered(everything.clone(), &[(0, false)]), 2, 3)), ["3|3", "4|4"]);
    // No index order: a bounded sort, NULLs last.
    let q = limited(ordered(everything, &[(1, false), (0, true)]), 3, 0);
    assert_eq!(f.query(&q), ["990|0", "970|0", "960|0"]);
}

#[test]
fn secondary_and_covering_indexes() {
    let f = Fixture::new();
    let q = t(&f, Expr::And(vec![op("=", k(), int(3)), op("<", id(), int(40))]), vec![name()]);
    assert_eq!(f.query(&q), ["n3", "n13", "n23", "n33"]);
    let q = t(&f, Expr::IsNull(Box::new(k())), vec![id()]);
    assert_eq!(f.query(&q).len(), 143);
    let mut counted = select(vec![entry("t", f.table("t"))], Some(op("=", k(), int(3))), vec![]);
    counted.grouped = true;
    counted.aggregates = vec![aggregate("count", vec![])];
    counted.targets = vec![Expr::Aggregate(0, BIGINT)];
    counted.visible = 1;
    let q = query(counted);
    let plan = f.plan(&q);
    assert!(format!("{plan:?}").contains("covering: Some"), "{plan:?}");
    assert_eq!(f.query(&q), ["86"]);
    // By a unique index of a table without a key, INCLUDE column from the entry.
    let q = query(select(
        vec![entry("u", f.table("u"))],
        Some(op("=", col(0, 0, INT), int(10))),
        vec![col(0, 1, TEXT), col(0, 0, INT)],
    ));
    let plan = f.plan(&q);
    assert!(format!("{plan:?}").contains("covering: Some"), "{plan:?}");
    assert_eq!(f.query(&q), ["b5|10"]);
}

#[test]
fn min_and_max_take_the_ends_of_an_index() {
    let f = Fixture::new();
    for (name, e, expected) in
        [("min", id(), "0"), ("max", id(), "999"), ("max", k(), "9"), ("min", k(), "0")]
    {
        let mut s = select(vec![entry("t", f.table("t"))], None, vec![Expr::Aggregate(0, INT)]);
        s.grouped = true;
        s.aggregates = vec![aggregate(name, vec![e])];
        let q = query(s);
        let plan = f.plan(&q);
        assert!(format!("{plan:?}").contains("Limit"), "{plan:?}");
        assert_eq!(f.query(&q), [expected]);
    }
}

#[test]
fn grouping_having_and_sets() {
    let f = Fixture::new();
    let mut s = select(
        vec![entry("t", f.table("t"))],
        Some(op("<", id(), int(20))),
        vec![Expr::GroupKey(0, INT), Expr::Aggregate(0, BIGINT), Expr::Aggregate(1, BIGINT)],
    );
    s.grouped = true;
    s.group_by = vec![k()];
    s.aggregates = vec![aggregate("count", vec![]), aggregate("sum", vec![id()])];
    s.having = Some(op("<", Expr::GroupKey(0, INT), int(3)));
    let q = ordered(query(s.clone()), &[(0, false)]);
    assert_eq!(f.query(&q), ["0|1|10", "1|2|12", "2|2|14"]);
    s.having = None;
    s.grouping_sets = Some(vec![vec![0], vec![]]);
    s.filter = Some(op("<", id(), int(3)));
    s.targets.push(Expr::Grouping(vec![0]));
    s.visible = 4;
    let q = ordered(query(s.clone()), &[(0, false), (1, false)]);
    assert_eq!(f.query(&q), ["1|1|1|0", "2|1|2|0", "NULL|1|0|0", "NULL|3|3|1"]);
    s.filter = Some(op("<", id(), int(-3)));
    assert_eq!(f.query(&query(s)), ["NULL|0|NULL|1"]);
}

fn joined(f: &Fixture, kind: JoinKind, on: Expr, filter: Option<Expr>) -> Query {
    let mut s = select(
        vec![entry("t", f.table("t")), entry("u", f.table("u"))],
        filter,
        vec![id(), col(1, 0, INT), col(1, 1, TEXT)],
    );
    s.from = vec![FromItem::Join {
        kind,
        left: Box::new(FromItem::Entry(0)),
        right: Box::new(FromItem::Entry(1)),
        on: Some(on),
    }];
    query(s)
}

#[test]
fn joins_of_all_kinds() {
    let f = Fixture::new();
    let on = || op("=", id(), col(1, 0, INT));
    let few = || Some(op("<", id(), int(4)));
    let q = joined(&f, JoinKind::Inner, on(), Some(op("=", id(), int(2))));
    let plan = format!("{:?}", f.plan(&q));
    assert!(plan.contains("NestedLoop"), "{plan}");
    assert_eq!(f.query(&q), ["2|2|b1"]);
    let q = joined(&f, JoinKind::Inner, on(), few());
    assert_eq!(f.query(&ordered(q, &[(0, false)])), ["0|0|b0", "2|2|b1"]);
    let q = joined(&f, JoinKind::Inner, on(), None);
    let plan = format!("{:?}", f.plan(&q));
    assert!(plan.contains("HashJoin") || plan.contains("NestedLoop"), "{plan}");
    assert_eq!(f.query(&q).len(), 100);
    let q = ordered(joined(&f, JoinKind::Left, on(), few()), &[(0, false)]);
    assert_eq!(f.query(&q), ["0|0|b0", "1|NULL|NULL", "2|2|b1", "3|NULL|NULL"]);
    let anti = Some(Expr::And(vec![op("<", id(), int(4)), Expr::IsNull(Box::new(col(1, 0, INT)))]));
    assert_eq!(
        f.query(&ordered(joined(&f, JoinKind::Left, on(), anti), &[(0, false)])),
        ["1|NULL|NULL", "3|NULL|NULL"]
    );
    // A strict condition on the nullable side makes the join an inner one.
    let strict = Some(op("=", col(1, 0, INT), int(6)));
    let q = joined(&f, JoinKind::Left, on(), strict);
    let plan = f.plan(&q);
    assert!(!format!("{plan:?}").contains("join: Left"), "{plan:?}");
    assert_eq!(f.query(&q), ["6|6|b3"]);
    let on2 = || Expr::And(vec![op("=", id(), op("+", col(1, 0, INT), int(990))), op("<", id(), int(995))]);
    let q = ordered(joined(&f, JoinKind::Right, on2(), Some(op("<", col(1, 0, INT), int(8)))), &[(1, false)]);
    assert_eq!(f.query(&q), ["990|0|b0", "992|2|b1", "994|4|b2", "NULL|6|b3"]);
    let q = joined(&f, JoinKind::Full, on2(), None);
    assert_eq!(f.query(&q).len(), 997 + 3 + 97);
    // No equality: a nested loop over kept rows.
    let q = joined(&f, JoinKind::Inner, op("<", col(1, 0, INT), id()), Some(op("<", id(), int(5))));
    assert_eq!(
        f.query(&ordered(q, &[(0, false), (1, false)])),
        ["1|0|b0", "2|0|b0", "3|0|b0", "3|2|b1", "4|0|b0", "4|2|b1"]
    );
}

fn scalar(q: Query, kind: SubqueryKind, typ: SqlType) -> Expr {
    Expr::Subquery(Box::new(Subquery { kind, query: q, typ }))
}

#[test]
fn subqueries() {
    let f = Fixture::new();
    let u = |filter: Expr, target: Expr| {
        query(select(vec![entry("u", f.table("u"))], Some(filter), vec![target]))
    };
    // Correlated scalar.
    let inner = u(op("=", col(0, 0, INT), up(0, 0, INT)), col(0, 1, TEXT));
    let q = t(&f, op("<", id(), int(3)), vec![id(), scalar(inner, SubqueryKind::Scalar, TEXT)]);
    assert_eq!(f.query(&q), ["0|b0", "1|NULL", "2|b1"]);
    // Uncorrelated scalar as a bound of the key.
    let inner = u(op("=", col(0, 1, TEXT), Expr::Const(Value::text("b3"), TEXT)), col(0, 0, INT));
    let q = t(&f, op("=", id(), scalar(inner, SubqueryKind::Scalar, INT)), vec![id()]);
    assert!(is_point(&f.plan(&q)));
    assert_eq!(f.query(&q), ["6"]);
    // EXISTS and NOT EXISTS.
    let inner = || u(op("=", col(0, 0, INT), up(0, 0, INT)), int(1));
    let exists = || scalar(inner(), SubqueryKind::Exists, SqlType::plain(oid::BOOL));
    let low = || op("<", id(), int(5));
    assert_eq!(f.query(&t(&f, Expr::And(vec![exists(), low()]), vec![id()])), ["0", "2", "4"]);
    let not = Expr::Not(Box::new(exists()));
    assert_eq!(f.query(&t(&f, Expr::And(vec![not, low()]), vec![id()])), ["1", "3"]);
    // IN, hashed, with NULLs.
    let mut s =
        select(vec![entry("t", f.table("t"))], Some(op("<", col(0, 0, INT), int(4))), vec![col(0, 1, INT)]);
    let quantified = |inner: Query| {
        let output = Expr::Column(ColumnRef { level: 0, entry: u16::MAX, column: 0, typ: INT });
        let kind = SubqueryKind::Quantified {
            all: false,
            test: Box::new(op("=", id(), output)),
            hashable: Some(vec![id()]),
        };
        scalar(inner, kind, SqlType::plain(oid::BOOL))
    };
    let q = t(&f, low(), vec![id(), quantified(query(s.clone()))]);
    assert_eq!(f.query(&q), ["0|NULL", "1|t", "2|t", "3|t", "4|NULL"]);
    s.filter = Some(Expr::And(vec![op("<", col(0, 0, INT), int(4)), op(">", col(0, 0, INT), int(0))]));
    let q = t(&f, quantified(query(s)), vec![id()]);
    assert_eq!(f.query(&q), ["1", "2", "3"]);
    // More than one row.
    let q = t(&f, low(), vec![scalar(u(op(">", col(0, 0, INT), int(3)), int(1)), SubqueryKind::Scalar, INT)]);
    let error = f.rows(&f.plan(&q), &[INT], &[]).expect_err("two rows");
    assert_eq!(error.code().as_str(), "21000");
}

#[test]
fn set_operations_distinct_and_with() {
    let f = Fixture::new();
    let arm = |low: i64, high: i64| {
        let range = Expr::And(vec![op(">=", id(), int(low)), op("<", id(), int(high))]);
        t(&f, range, vec![k()])
    };
    let set = |op: SetOp, all: bool| {
        let left = arm(0, 4);
        let columns = left.columns.clone();
        let body = Body::SetOperation(Box::new(SetOperation { op, all, left, right: arm(2, 13) }));
        let q = Query { body, columns, ..query(select(vec![], None, vec![])) };
        f.query(&ordered(q, &[(0, false)]))
    };
    assert_eq!(set(SetOp::Union, false), ["0", "1", "2", "3", "4", "5", "6", "8", "9", "NULL"]);
    assert_eq!(set(SetOp::Union, true).len(), 15);
    assert_eq!(set(SetOp::Intersect, false), ["1", "2", "3", "NULL"]);
    assert_eq!(set(SetOp::Except, true), Vec::<String>::new());
    let mut s = select(vec![entry("t", f.table("t"))], None, vec![k()]);
    s.distinct = Distinct::All;
    assert_eq!(f.query(&query(s)).len(), 11);
    // WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n
    let start = Query {
        body: Body::Values(vec![vec![int(1)]]),
        columns: vec![QueryColumn { name: "i".into(), typ: INT, origin: None }],
        ..query(select(vec![], None, vec![]))
    };
    let work = RangeEntry {
        alias: "n".into(),
        columns: vec![EntryColumn { name: "i".into(), typ: INT }],
        source: Source::Cte(2, 0),
        lateral: false,
    };
    let step = query(select(vec![work.clone()], Some(op("<", id(), int(5))), vec![op("+", id(), int(1))]));
    let columns = start.columns.clone();
    let body =
        Body::SetOperation(Box::new(SetOperation { op: SetOp::Union, all: true, left: start, right: step }));
    let recursive = Query { body, columns, ..query(select(vec![], None, vec![])) };
    let mut main = query(select(vec![RangeEntry { source: Source::Cte(0, 0), ..work }], None, vec![id()]));
    main.ctes =
        vec![Cte { name: "n".into(), query: recursive, recursive: true, materialized: None, references: 2 }];
    assert_eq!(f.query(&main), ["1", "2", "3", "4", "5"]);
}

#[test]
fn conditions_go_into_subqueries_and_inlined_with_queries() {
    let f = Fixture::new();
    let inner = query(select(vec![entry("t", f.table("t"))], None, vec![name(), id()]));
    let from = entry("s", Source::Subquery(Box::new(inner.clone())));
    let outer = query(select(vec![from], Some(op("=", col(0, 1, INT), int(4))), vec![col(0, 0, TEXT)]));
    assert!(is_point(&f.plan(&outer)));
    assert_eq!(f.query(&outer), ["n4"]);
    let reference =
        RangeEntry { source: Source::Cte(0, 0), ..entry("s", Source::Subquery(Box::new(inner.clone()))) };
    let mut outer =
        query(select(vec![reference], Some(op("=", col(0, 1, INT), int(4))), vec![col(0, 0, TEXT)]));
    outer.ctes =
        vec![Cte { name: "s".into(), query: inner, recursive: false, materialized: None, references: 1 }];
    assert!(is_point(&f.plan(&outer)));
    assert_eq!(f.query(&outer), ["n4"]);
}

#[test]
fn window_functions_over_partitions() {
    let f = Fixture::new();
    let mut s = select(
        vec![entry("t", f.table("t"))],
        Some(Expr::And(vec![op("<", id(), int(24)), op("<", k(), int(3))])),
        vec![id(), k(), Expr::Window(0, BIGINT)],
    );
    s.windows = vec![WindowCall {
        call: aggregate("sum", vec![id()]),
        partition_by: vec![k()],
        order_by: vec![(id(), false, false)],
        frame: Frame {
            unit: FrameUnit::Rows,
            start: FrameBound::Preceding(Expr::Const(Value::Int(1), BIGINT)),
            end: FrameBound::CurrentRow,
            exclude: FrameExclude::NoOthers,
        },
    }];
    let q = ordered(query(s), &[(1, false), (0, false)]);
    assert_eq!(f.query(&q), ["10|0|10", "20|0|30", "1|1|1", "11|1|12", "2|2|2", "12|2|14", "22|2|34"]);
    let _ = JoinType::Semi;
}

/// Runs the statements of a file, one a line, for comparison with PostgreSQL: `QUERIES=file cargo test -p exec differential -- --ignored`.
#[test]
#[ignore = "a tool, not a test"]
fn differential() {
    let f = Fixture::new();
    let file = std::env::var("QUERIES").expect("QUERIES names a file");
    for line in std::fs::read_to_string(file).expect("the file").lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with("--") {
            continue;
        }
        println!("@ {text}");
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f.sql(text)));
        match result {
            Ok(Ok(rows)) => rows.iter().for_each(|row| println!("{row}")),
            Ok(Err(error)) => println!("ERROR {} {}", error.code().as_str(), error.message()),
            Err(_) => println!("PANIC"),
        }
    }
}

/// Times of the commonest executions: `cargo test --release -p exec speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a test"]
fn speed() {
    let f = Fixture::new();
    f.wide(100_000);
    let queries: &[(&str, f64)] = &[
        ("select * from t where id = $1", 1.0),
        ("select name from t where id = $1", 1.0),
        ("select id from u where a = $1", 1.0),
        ("select c0, c23 from w where c0 = $1", 1.0),
        ("select sum(c1) from w where c0 between $1 and $1 + 99", 1.0),
        ("select c2 from w where c0 between $1 and $1 + 99", 1.0),
        ("select distinct c2 from w where c0 between $1 and $1 + 99 order by c2", 1.0),
        ("select count(*) from w where c1 > $1 - 100000000", 100_000.0),
        ("select count(*) from w", 100_000.0),
        ("select c0 from w where c20 = $1 - 100000000", 100_000.0),
        ("select c0 from w where c23 = 'x'", 100_000.0),
        ("select sum(c5) from w", 100_000.0),
        ("select c3, count(*), sum(c4) from w group by c3", 100_000.0),
        ("select count(*) from w a join w b on a.c0 = b.c1", 100_000.0),
        ("select c0 from w order by c22 limit 10", 100_000.0),
    ];
    f.raw();
    for (text, rows) in queries {
        let Ok((query, types)) = f.bind(text) else {
            println!("{text}: does not bind");
            continue;
        };
        let plan = f.plan(&query);
        let micros = f.time(&plan, &types);
        println!("{:10.3} us {:8.4} us/row  {text}", micros, micros / rows);
    }
}
