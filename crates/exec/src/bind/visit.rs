//! Walks over bound trees that know how many queries they have crossed.

use crate::bound::*;

/// Calls `f` with every direct child of an expression, and with the number of queries crossed on the way to it (0 or more).
fn children<'e>(expr: &'e mut Expr, f: &mut dyn FnMut(&'e mut Expr, u16)) {
    match expr {
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
            call.args.iter_mut().for_each(|e| f(e, 0));
        }
        Expr::NullIf(call, value) => {
            call.args.iter_mut().for_each(|e| f(e, 0));
            f(value, 0);
        }
        Expr::And(list)
        | Expr::Or(list)
        | Expr::Coalesce(list, _)
        | Expr::MinMax(_, list, _)
        | Expr::Array(list, _, _)
        | Expr::Row(list, _) => list.iter_mut().for_each(|e| f(e, 0)),
        Expr::Not(e)
        | Expr::IsNull(e)
        | Expr::IsNotNull(e)
        | Expr::BooleanTest(e, _)
        | Expr::Relabel(e, _, _)
        | Expr::IoCast(e, _, _, _)
        | Expr::Typmod(e, _, _)
        | Expr::Field(e, _, _) => f(e, 0),
        Expr::ArrayCast(e, element, _, _) => {
            f(e, 0);
            f(element, 0);
        }
        Expr::Case { operand, branches, otherwise, .. } => {
            operand.iter_mut().for_each(|e| f(e, 0));
            for (condition, value) in branches {
                f(condition, 0);
                f(value, 0);
            }
            otherwise.iter_mut().for_each(|e| f(e, 0));
        }
        Expr::Subscript(e, subscripts, _) => {
            f(e, 0);
            for subscript in subscripts {
                match subscript {
                    Subscript::Index(e) => f(e, 0),
                    Subscript::Slice(low, high) => low.iter_mut().chain(high).for_each(|e| f(e, 0)),
                }
            }
        }
        Expr::RowCompare { left, right, .. } => left.iter_mut().chain(right).for_each(|e| f(e, 0)),
        Expr::Subquery(subquery) => {
            if let SubqueryKind::Quantified { test, hashable, .. } = &mut subquery.kind {
                f(test, 0);
                hashable.iter_mut().flatten().for_each(|e| f(e, 0));
            }
            query_children(&mut subquery.query, 1, f);
        }
    }
}

fn aggregate_children<'e>(call: &'e mut AggregateCall, level: u16, f: &mut dyn FnMut(&'e mut Expr, u16)) {
    call.direct.iter_mut().chain(&mut call.args).chain(&mut call.filter).for_each(|e| f(e, level));
    call.order_by.iter_mut().for_each(|(e, _, _)| f(e, level));
}

/// Calls `f` with every top expression of a query whose own level is `level`.
pub(super) fn query_children<'e>(query: &'e mut Query, level: u16, f: &mut dyn FnMut(&'e mut Expr, u16)) {
    for cte in &mut query.ctes {
        query_children(&mut cte.query, level + 1, f);
    }
    query.limit.iter_mut().chain(&mut query.offset).for_each(|e| f(e, level));
    match &mut query.body {
        Body::Values(rows) => rows.iter_mut().flatten().for_each(|e| f(e, level)),
        Body::SetOperation(op) => {
            query_children(&mut op.left, level + 1, f);
            query_children(&mut op.right, level + 1, f);
        }
        Body::Dml(_) => {}
        Body::Select(select) => {
            for entry in &mut select.entries {
                entry_children(entry, level, f);
            }
            for item in &mut select.from {
                from_children(item, level, f);
            }
            for call in &mut select.aggregates {
                aggregate_children(call, level, f);
            }
            for window in &mut select.windows {
                aggregate_children(&mut window.call, level, f);
                window.partition_by.iter_mut().for_each(|e| f(e, level));
                window.order_by.iter_mut().for_each(|(e, _, _)| f(e, level));
                for bound in [&mut window.frame.start, &mut window.frame.end] {
                    if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                        f(e, level);
                    }
                }
            }
            for call in &mut select.set_functions {
                call.args.iter_mut().for_each(|e| f(e, level));
            }
            let exprs = select.filter.iter_mut().chain(&mut select.group_by).chain(&mut select.having);
            exprs.chain(&mut select.targets).for_each(|e| f(e, level));
        }
    }
}

fn entry_children<'e>(entry: &'e mut RangeEntry, level: u16, f: &mut dyn FnMut(&'e mut Expr, u16)) {
    match &mut entry.source {
        Source::Table(_) | Source::System(_) | Source::Cte(..) | Source::Given => {}
        Source::Subquery(query) => query_children(query, level + 1, f),
        Source::Function { calls, .. } => calls.iter_mut().for_each(|(e, _)| f(e, level)),
        Source::Values(rows) => rows.iter_mut().flatten().for_each(|e| f(e, level)),
    }
}

fn from_children<'e>(item: &'e mut FromItem, level: u16, f: &mut dyn FnMut(&'e mut Expr, u16)) {
    if let FromItem::Join { left, right, on, .. } = item {
        from_children(left, level, f);
        from_children(right, level, f);
        on.iter_mut().for_each(|e| f(e, level));
    }
}

/// Calls `f` on every expression in the tree, parents first, with the number of queries crossed; where `f` gives `false` the walk
/// does not go deeper.
pub(super) fn walk(expr: &mut Expr, level: u16, f: &mut dyn FnMut(&mut Expr, u16) -> bool) {
    if f(expr, level) {
        children(expr, &mut |child, crossed| walk(child, level + crossed, f));
    }
}

/// [`walk`] over all expressions of a query.
pub(super) fn walk_query(query: &mut Query, level: u16, f: &mut dyn FnMut(&mut Expr, u16) -> bool) {
    query_children(query, level, &mut |child, at| walk(child, at, f));
}

/// Raises the level of all references out of the expression (`IncrementVarSublevelsUp`).
pub(super) fn shift_levels(expr: &mut Expr, by: u16) {
    if by == 0 {
        return;
    }
    walk(expr, 0, &mut |e, level| {
        if let Expr::Column(column) = e
            && column.entry != u16::MAX
            && column.level >= level
        {
            column.level += by;
        }
        true
    });
}

/// Whether any expression in the tree fulfils the condition.
pub(super) fn any(expr: &Expr, test: &mut dyn FnMut(&Expr, u16) -> bool) -> bool {
    // The walk is over mutable trees; a clone at binding time is cheap enough.
    let mut found = false;
    walk(&mut expr.clone(), 0, &mut |e, level| {
        found = found || test(e, level);
        !found
    });
    found
}

/// Whether the expression refers to a column of its own query.
pub(super) fn has_own_columns(expr: &Expr) -> bool {
    any(expr, &mut |e, level| matches!(e, Expr::Column(c) if c.level == level && c.entry != u16::MAX))
}

/// Whether two expressions are the same (`equal()`), positions aside.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    let lists = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    let calls = |a: &Call, b: &Call| {
        a.proc.oid == b.proc.oid
            && a.typ == b.typ
            && a.args.len() == b.args.len()
            && a.args.iter().zip(&b.args).all(|(a, b)| same(a, b))
    };
    match (a, b) {
        (Expr::Const(v, t), Expr::Const(w, u)) => v == w && t == u,
        (Expr::Param(i, t), Expr::Param(j, u)) => i == j && t == u,
        (Expr::Column(c), Expr::Column(d)) => c == d,
        (Expr::Call(c), Expr::Call(d)) | (Expr::Distinct(c), Expr::Distinct(d)) => calls(c, d),
        (Expr::NullIf(c, v), Expr::NullIf(d, w)) => calls(c, d) && same(v, w),
        (Expr::ScalarArray(c, x), Expr::ScalarArray(d, y)) => x == y && calls(c, d),
        (Expr::And(l), Expr::And(m)) | (Expr::Or(l), Expr::Or(m)) => lists(l, m),
        (Expr::Not(x), Expr::Not(y))
        | (Expr::IsNull(x), Expr::IsNull(y))
        | (Expr::IsNotNull(x), Expr::IsNotNull(y)) => same(x, y),
        (Expr::BooleanTest(x, t), Expr::BooleanTest(y, u)) => t == u && same(x, y),
        (Expr::Coalesce(l, t), Expr::Coalesce(m, u)) | (Expr::Row(l, t), Expr::Row(m, u)) => {
            t == u && lists(l, m)
        }
        (Expr::MinMax(g, l, t), Expr::MinMax(h, m, u)) => g == h && t == u && lists(l, m),
        (Expr::Array(l, t, n), Expr::Array(m, u, o)) => t == u && n == o && lists(l, m),
        (Expr::Relabel(x, t, _), Expr::Relabel(y, u, _))
        | (Expr::IoCast(x, t, _, _), Expr::IoCast(y, u, _, _))
        | (Expr::Typmod(x, t, _), Expr::Typmod(y, u, _)) => t == u && same(x, y),
        (Expr::ArrayCast(x, e, t, _), Expr::ArrayCast(y, f, u, _)) => t == u && same(x, y) && same(e, f),
        (Expr::Field(x, i, _), Expr::Field(y, j, _)) => i == j && same(x, y),
        (Expr::CaseOperand(t), Expr::CaseOperand(u)) => t == u,
        (Expr::Aggregate(i, _), Expr::Aggregate(j, _))
        | (Expr::GroupKey(i, _), Expr::GroupKey(j, _))
        | (Expr::Window(i, _), Expr::Window(j, _))
        | (Expr::SetFunction(i, _), Expr::SetFunction(j, _)) => i == j,
        (Expr::Grouping(i), Expr::Grouping(j)) => i == j,
        (
            Expr::Case { operand: o, branches: b, otherwise: e, typ: t },
            Expr::Case { operand: p, branches: c, otherwise: f, typ: u },
        ) => {
            let optional = |a: &Option<Box<Expr>>, b: &Option<Box<Expr>>| match (a, b) {
                (Some(a), Some(b)) => same(a, b),
                (None, None) => true,
                _ => false,
            };
            t == u
                && optional(o, p)
                && optional(e, f)
                && b.len() == c.len()
                && b.iter().zip(c).all(|(x, y)| same(&x.0, &y.0) && same(&x.1, &y.1))
        }
        (Expr::Subscript(x, i, t), Expr::Subscript(y, j, u)) => {
            let optional = |a: &Option<Expr>, b: &Option<Expr>| match (a, b) {
                (Some(a), Some(b)) => same(a, b),
                (None, None) => true,
                _ => false,
            };
            t == u
                && same(x, y)
                && i.len() == j.len()
                && i.iter().zip(j).all(|pair| match pair {
                    (Subscript::Index(a), Subscript::Index(b)) => same(a, b),
                    (Subscript::Slice(a, b), Subscript::Slice(c, d)) => optional(a, c) && optional(b, d),
                    _ => false,
                })
        }
        (Expr::RowCompare { op: o, left: l, right: r }, Expr::RowCompare { op: p, left: m, right: s }) => {
            o == p && lists(l, m) && lists(r, s)
        }
        (Expr::NextValue(s, _), Expr::NextValue(t, _)) => s.oid == t.oid,
        _ => false,
    }
}

/// Prepares a query for a place one level further down: what it refers to outside is one level further up. With `ctes` that holds
/// also for its own WITH queries, which stay where it was.
pub(super) fn sink(query: &mut Query, ctes: bool) {
    walk_query(query, 0, &mut |e, level| {
        if let Expr::Column(c) = e
            && c.entry != u16::MAX
            && c.level > level
        {
            c.level += 1;
        }
        true
    });
    shift_ctes(query, 0, ctes);
}

/// Raises the level of references to WITH queries outside of the query, which itself stands at `level`.
fn shift_ctes(query: &mut Query, level: usize, own: bool) {
    for cte in &mut query.ctes {
        shift_ctes(&mut cte.query, level + 1, own);
    }
    match &mut query.body {
        Body::SetOperation(op) => {
            shift_ctes(&mut op.left, level + 1, own);
            shift_ctes(&mut op.right, level + 1, own);
        }
        Body::Select(select) => {
            for entry in &mut select.entries {
                match &mut entry.source {
                    Source::Cte(up, _) if *up > level || (own && *up == level) => *up += 1,
                    Source::Subquery(inner) => shift_ctes(inner, level + 1, own),
                    _ => {}
                }
            }
        }
        Body::Values(_) | Body::Dml(_) => {}
    }
    // Subqueries in expressions.
    query_children(query, 0, &mut |expr, crossed| {
        if crossed == 0 {
            shift_expr_ctes(expr, level, own);
        }
    });
}

fn shift_expr_ctes(expr: &mut Expr, level: usize, own: bool) {
    if let Expr::Subquery(subquery) = expr {
        shift_ctes(&mut subquery.query, level + 1, own);
        if let SubqueryKind::Quantified { test, .. } = &mut subquery.kind {
            shift_expr_ctes(test, level, own);
        }
        return;
    }
    children(expr, &mut |child, _| shift_expr_ctes(child, level, own));
}
