//! Walks over bound trees, counting the `Query` nodes crossed on the way down.

use crate::bound::{
    AggregateCall, Body, Dml, Expr, FrameBound, FromItem, Query, Select, Source, SubqueryKind, Subscript,
};

/// What a walk shows.
pub enum Seen<'q> {
    /// An expression.
    Expr(&'q Expr),
    /// The source of a range entry.
    Source(&'q Source),
}

/// Calls `f` for every expression in `expr`, itself first, with the number of queries crossed; subqueries are entered.
pub fn expr<'q>(e: &'q Expr, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    f(Seen::Expr(e), level);
    let mut each = |list: &'q [Expr]| list.iter().for_each(|e| expr(e, level, f));
    match e {
        Expr::Const(..)
        | Expr::Param(..)
        | Expr::Column(_)
        | Expr::CaseOperand(_)
        | Expr::Aggregate(..)
        | Expr::GroupKey(..)
        | Expr::Grouping(_)
        | Expr::Window(..)
        | Expr::SetFunction(..)
        | Expr::NextValue(..) => {}
        Expr::Call(call) | Expr::Distinct(call) | Expr::ScalarArray(call, _) => each(&call.args),
        Expr::And(list)
        | Expr::Or(list)
        | Expr::Coalesce(list, _)
        | Expr::MinMax(_, list, _)
        | Expr::Array(list, ..)
        | Expr::Row(list, _) => each(list),
        Expr::Not(e)
        | Expr::IsNull(e)
        | Expr::IsNotNull(e)
        | Expr::BooleanTest(e, _)
        | Expr::Relabel(e, ..)
        | Expr::IoCast(e, ..)
        | Expr::Typmod(e, ..)
        | Expr::Field(e, ..) => expr(e, level, f),
        Expr::NullIf(call, value) => {
            each(&call.args);
            expr(value, level, f);
        }
        Expr::Case { operand, branches, otherwise, .. } => {
            operand.iter().for_each(|e| expr(e, level, f));
            for (when, then) in branches {
                expr(when, level, f);
                expr(then, level, f);
            }
            otherwise.iter().for_each(|e| expr(e, level, f));
        }
        Expr::ArrayCast(array, element, ..) => {
            expr(array, level, f);
            expr(element, level, f);
        }
        Expr::Subscript(array, subscripts, _) => {
            expr(array, level, f);
            for s in subscripts {
                match s {
                    Subscript::Index(e) => expr(e, level, f),
                    Subscript::Slice(low, high) => low.iter().chain(high).for_each(|e| expr(e, level, f)),
                }
            }
        }
        Expr::RowCompare { left, right, .. } => {
            each(left);
            each(right);
        }
        Expr::Subquery(s) => {
            if let SubqueryKind::Quantified { test, hashable, .. } = &s.kind {
                expr(test, level, f);
                hashable.iter().flatten().for_each(|e| expr(e, level, f));
            }
            query(&s.query, level + 1, f);
        }
    }
}

/// The same over a query, which itself stands at `level`.
pub fn query<'q>(q: &'q Query, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    for cte in &q.ctes {
        query(&cte.query, level + 1, f);
    }
    match &q.body {
        Body::Select(s) => select(s, level, f),
        Body::SetOperation(s) => {
            query(&s.left, level + 1, f);
            query(&s.right, level + 1, f);
        }
        Body::Values(rows) => rows.iter().flatten().for_each(|e| expr(e, level, f)),
        Body::Dml(d) => dml(d, level, f),
    }
    q.limit.iter().chain(&q.offset).for_each(|e| expr(e, level, f));
}

/// The same over a SELECT.
pub fn select<'q>(s: &'q Select, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    for entry in &s.entries {
        source(&entry.source, level, f);
    }
    s.from.iter().for_each(|item| from(item, level, f));
    s.filter.iter().for_each(|e| expr(e, level, f));
    s.group_by.iter().for_each(|e| expr(e, level, f));
    s.aggregates.iter().for_each(|a| aggregate(a, level, f));
    s.having.iter().for_each(|e| expr(e, level, f));
    for w in &s.windows {
        aggregate(&w.call, level, f);
        w.partition_by.iter().for_each(|e| expr(e, level, f));
        w.order_by.iter().for_each(|(e, ..)| expr(e, level, f));
        for bound in [&w.frame.start, &w.frame.end] {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                expr(e, level, f);
            }
        }
    }
    s.set_functions.iter().flat_map(|c| &c.args).for_each(|e| expr(e, level, f));
    s.targets.iter().for_each(|e| expr(e, level, f));
}

/// The same over the source of a range entry.
pub fn source<'q>(s: &'q Source, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    f(Seen::Source(s), level);
    match s {
        Source::Table(_) | Source::System(_) | Source::Cte(..) | Source::Given => {}
        Source::Subquery(q) => query(q, level + 1, f),
        Source::Function { calls, .. } => calls.iter().for_each(|(e, _)| expr(e, level, f)),
        Source::Values(rows) => rows.iter().flatten().for_each(|e| expr(e, level, f)),
    }
}

/// The same over a join tree.
pub fn from<'q>(item: &'q FromItem, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    if let FromItem::Join { left, right, on, .. } = item {
        from(left, level, f);
        from(right, level, f);
        on.iter().for_each(|e| expr(e, level, f));
    }
}

fn aggregate<'q>(a: &'q AggregateCall, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    let order = a.order_by.iter().map(|(e, ..)| e);
    a.direct.iter().chain(&a.args).chain(order).chain(&a.filter).for_each(|e| expr(e, level, f));
}

fn dml<'q>(d: &'q Dml, level: u16, f: &mut dyn FnMut(Seen<'q>, u16)) {
    let (ctes, returning) = match d {
        Dml::Insert(i) => (&i.ctes, &i.returning),
        Dml::Update(u) => (&u.ctes, &u.returning),
        Dml::Delete(d) => (&d.ctes, &d.returning),
    };
    ctes.iter().for_each(|c| query(&c.query, level + 1, f));
    match d {
        Dml::Insert(i) => {
            i.source.iter().for_each(|q| query(q, level + 1, f));
            i.row.iter().for_each(|e| expr(e, level, f));
            if let Some(update) = i.on_conflict.as_ref().and_then(|c| c.update.as_ref()) {
                update.assignments.iter().for_each(|(_, e)| expr(e, level, f));
                update.filter.iter().for_each(|e| expr(e, level, f));
            }
        }
        Dml::Update(u) => {
            u.entries.iter().for_each(|e| source(&e.source, level, f));
            u.from.iter().for_each(|i| from(i, level, f));
            u.filter.iter().for_each(|e| expr(e, level, f));
            u.assignments.iter().for_each(|(_, e)| expr(e, level, f));
        }
        Dml::Delete(d) => {
            d.entries.iter().for_each(|e| source(&e.source, level, f));
            d.from.iter().for_each(|i| from(i, level, f));
            d.filter.iter().for_each(|e| expr(e, level, f));
        }
    }
    returning.iter().flat_map(|r| &r.targets).for_each(|e| expr(e, level, f));
}

/// What a mutable walk shows.
pub enum SeenMut<'q> {
    /// An expression; its parts are walked after it.
    Expr(&'q mut Expr),
    /// The source of a range entry.
    Source(&'q mut Source),
}

/// The mutable walk over an expression. Where `f` answers `false`, the parts are left alone.
pub fn expr_mut(e: &mut Expr, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    if !f(SeenMut::Expr(e), level) {
        return;
    }
    match e {
        Expr::Const(..)
        | Expr::Param(..)
        | Expr::Column(_)
        | Expr::CaseOperand(_)
        | Expr::Aggregate(..)
        | Expr::GroupKey(..)
        | Expr::Grouping(_)
        | Expr::Window(..)
        | Expr::SetFunction(..)
        | Expr::NextValue(..) => {}
        Expr::Call(call) | Expr::Distinct(call) | Expr::ScalarArray(call, _) => {
            call.args.iter_mut().for_each(|e| expr_mut(e, level, f));
        }
        Expr::And(list)
        | Expr::Or(list)
        | Expr::Coalesce(list, _)
        | Expr::MinMax(_, list, _)
        | Expr::Array(list, ..)
        | Expr::Row(list, _) => list.iter_mut().for_each(|e| expr_mut(e, level, f)),
        Expr::Not(e)
        | Expr::IsNull(e)
        | Expr::IsNotNull(e)
        | Expr::BooleanTest(e, _)
        | Expr::Relabel(e, ..)
        | Expr::IoCast(e, ..)
        | Expr::Typmod(e, ..)
        | Expr::Field(e, ..) => expr_mut(e, level, f),
        Expr::NullIf(call, value) => {
            call.args.iter_mut().for_each(|e| expr_mut(e, level, f));
            expr_mut(value, level, f);
        }
        Expr::Case { operand, branches, otherwise, .. } => {
            operand.iter_mut().for_each(|e| expr_mut(e, level, f));
            for (when, then) in branches {
                expr_mut(when, level, f);
                expr_mut(then, level, f);
            }
            otherwise.iter_mut().for_each(|e| expr_mut(e, level, f));
        }
        Expr::ArrayCast(array, element, ..) => {
            expr_mut(array, level, f);
            expr_mut(element, level, f);
        }
        Expr::Subscript(array, subscripts, _) => {
            expr_mut(array, level, f);
            for s in subscripts {
                match s {
                    Subscript::Index(e) => expr_mut(e, level, f),
                    Subscript::Slice(low, high) => {
                        low.iter_mut().chain(high).for_each(|e| expr_mut(e, level, f));
                    }
                }
            }
        }
        Expr::RowCompare { left, right, .. } => {
            left.iter_mut().chain(right).for_each(|e| expr_mut(e, level, f));
        }
        Expr::Subquery(s) => {
            if let SubqueryKind::Quantified { test, hashable, .. } = &mut s.kind {
                expr_mut(test, level, f);
                hashable.iter_mut().flatten().for_each(|e| expr_mut(e, level, f));
            }
            query_mut(&mut s.query, level + 1, f);
        }
    }
}

/// The mutable walk over a query.
pub fn query_mut(q: &mut Query, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    for cte in &mut q.ctes {
        query_mut(&mut cte.query, level + 1, f);
    }
    match &mut q.body {
        Body::Select(s) => select_mut(s, level, f),
        Body::SetOperation(s) => {
            query_mut(&mut s.left, level + 1, f);
            query_mut(&mut s.right, level + 1, f);
        }
        Body::Values(rows) => rows.iter_mut().flatten().for_each(|e| expr_mut(e, level, f)),
        // DML in WITH is never moved.
        Body::Dml(_) => {}
    }
    q.limit.iter_mut().chain(&mut q.offset).for_each(|e| expr_mut(e, level, f));
}

fn select_mut(s: &mut Select, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    for entry in &mut s.entries {
        source_mut(&mut entry.source, level, f);
    }
    s.from.iter_mut().for_each(|item| from_mut(item, level, f));
    s.filter.iter_mut().for_each(|e| expr_mut(e, level, f));
    s.group_by.iter_mut().for_each(|e| expr_mut(e, level, f));
    s.aggregates.iter_mut().for_each(|a| aggregate_mut(a, level, f));
    s.having.iter_mut().for_each(|e| expr_mut(e, level, f));
    for w in &mut s.windows {
        aggregate_mut(&mut w.call, level, f);
        w.partition_by.iter_mut().for_each(|e| expr_mut(e, level, f));
        w.order_by.iter_mut().for_each(|(e, ..)| expr_mut(e, level, f));
        for bound in [&mut w.frame.start, &mut w.frame.end] {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                expr_mut(e, level, f);
            }
        }
    }
    s.set_functions.iter_mut().flat_map(|c| &mut c.args).for_each(|e| expr_mut(e, level, f));
    s.targets.iter_mut().for_each(|e| expr_mut(e, level, f));
}

fn source_mut(s: &mut Source, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    if !f(SeenMut::Source(s), level) {
        return;
    }
    match s {
        Source::Table(_) | Source::System(_) | Source::Cte(..) | Source::Given => {}
        Source::Subquery(q) => query_mut(q, level + 1, f),
        Source::Function { calls, .. } => calls.iter_mut().for_each(|(e, _)| expr_mut(e, level, f)),
        Source::Values(rows) => rows.iter_mut().flatten().for_each(|e| expr_mut(e, level, f)),
    }
}

fn from_mut(item: &mut FromItem, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    if let FromItem::Join { left, right, on, .. } = item {
        from_mut(left, level, f);
        from_mut(right, level, f);
        on.iter_mut().for_each(|e| expr_mut(e, level, f));
    }
}

fn aggregate_mut(a: &mut AggregateCall, level: u16, f: &mut dyn FnMut(SeenMut<'_>, u16) -> bool) {
    let order = a.order_by.iter_mut().map(|(e, ..)| e);
    a.direct
        .iter_mut()
        .chain(&mut a.args)
        .chain(order)
        .chain(&mut a.filter)
        .for_each(|e| expr_mut(e, level, f));
}

/// Moves a query or an expression `by` levels down: references that leave it count that many more. `edge` is the walk's level plus the
/// least level that leaves: 1 for a query walked from level 0, 0 for an expression.
pub fn deepen(seen: SeenMut<'_>, edge: u16, by: u16) -> bool {
    match seen {
        SeenMut::Expr(Expr::Column(c)) if c.level >= edge => c.level += by,
        SeenMut::Source(Source::Cte(up, _)) if *up >= usize::from(edge) => *up += usize::from(by),
        _ => {}
    }
    true
}

/// Whether an expression holds a volatile function (or a sequence's next value), subqueries included.
pub fn is_volatile(e: &Expr) -> bool {
    let mut volatile = false;
    expr(e, 0, &mut |seen, _| volatile |= seen_volatile(&seen));
    volatile
}

/// Whether what a walk shows is volatile.
pub fn seen_volatile(seen: &Seen<'_>) -> bool {
    match seen {
        Seen::Expr(Expr::Call(c)) => c.proc.volatility == catalog::pg::Volatility::Volatile,
        Seen::Expr(Expr::NextValue(..)) => true,
        _ => false,
    }
}

/// Whether an expression holds a subquery.
pub fn has_subquery(e: &Expr) -> bool {
    let mut found = false;
    expr(e, 0, &mut |seen, _| found |= matches!(seen, Seen::Expr(Expr::Subquery(_))));
    found
}
