//! EXISTS and IN as joins.
//!
//! A condition of WHERE only asks whether it is true, so `x IN (SELECT y ...)` may become `EXISTS (SELECT ... WHERE y = x)` and either a join.
//! Of three ways the cheapest is taken:
//!
//! - **drive**: the distinct rows of an IN's query become a leaf of the join, so that a few of them can look up the big table by index;
//! - **probe**: the query is run per row with the row's values pushed into it, where an index then finds them;
//! - **hash**: the query's rows are hashed once, the rows of the query around look themselves up (a semi or anti join).

use super::join::{Built, Conjunct, EntrySet, Needed};
use super::node::{HashJoinNode, JoinType, PlanKind};
use super::rewrite;
use super::scope::{Layout, SUBQUERY_ENTRY, Scope, SlotKey};
use super::select::Planner;
use super::walk::{self, Seen, SeenMut};
use crate::bound::{Body, Distinct, Expr, Query, Select, Subquery, SubqueryKind};
use crate::row::expr::PhysicalExpr;
use crate::row::hash::HashClass;
use catalog::types::oid;
use catalog::{Result, SqlError};

/// A condition that may become a semi or anti join.
pub(crate) struct Candidate {
    /// `EXISTS (...)`, its correlation in the query's WHERE.
    pub(crate) query: Query,
    /// NOT EXISTS.
    pub(crate) anti: bool,
    /// The condition as it was written.
    pub(crate) written: Conjunct,
}

/// The condition as a candidate, if it is one.
pub(crate) fn candidate(c: &Conjunct) -> Option<Candidate> {
    if c.volatile || c.entries.is_empty() {
        return None;
    }
    let (inner, anti) = match &c.expr {
        Expr::Not(inner) => (&**inner, true),
        other => (other, false),
    };
    let Expr::Subquery(subquery) = inner else { return None };
    let query = match &subquery.kind {
        SubqueryKind::Exists => subquery.query.clone(),
        SubqueryKind::Quantified { all: false, test, hashable: Some(_) } if !anti => {
            in_as_exists(subquery, test)?
        }
        _ => return None,
    };
    let select = simple_select(&query)?;
    // Nothing but WHERE may refer to the query around.
    let mut elsewhere = false;
    let mut note = |seen: Seen<'_>, level: u16| {
        elsewhere |= matches!(seen, Seen::Expr(Expr::Column(c)) if c.level == level + 1);
    };
    select.entries.iter().for_each(|e| walk::source(&e.source, 0, &mut note));
    select.from.iter().for_each(|item| walk::from(item, 0, &mut note));
    if elsewhere || select.from.is_empty() {
        return None;
    }
    Some(Candidate { query, anti, written: c.clone() })
}

/// The SELECT of a query that has nothing but FROM and WHERE (its targets do not matter).
fn simple_select(query: &Query) -> Option<&Select> {
    let Body::Select(select) = &query.body else { return None };
    let plain = query.ctes.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty()
        && !select.grouped
        && select.windows.is_empty()
        && select.set_functions.is_empty()
        && !matches!(select.distinct, Distinct::On(_));
    plain.then_some(select)
}

/// `x IN (SELECT y FROM ... )` as the query of an EXISTS.
fn in_as_exists(subquery: &Subquery, test: &Expr) -> Option<Query> {
    let mut query = subquery.query.clone();
    simple_select(&query)?;
    if walk::has_subquery(test) || walk::is_volatile(test) {
        return None;
    }
    let mut parts = Vec::new();
    rewrite::split_and(test, &mut parts);
    for part in parts {
        if !push_test(&mut query, part) {
            return None;
        }
    }
    Some(query)
}

/// Adds a test of the query's output columns to its WHERE. The test stands in the query around: its own references move one level up.
fn push_test(query: &mut Query, test: &Expr) -> bool {
    let Body::Select(select) = &mut query.body else { return false };
    let mut possible = true;
    let mut moved = test.clone();
    walk::expr_mut(&mut moved, 0, &mut |seen, _| {
        let SeenMut::Expr(e) = seen else { return true };
        let Expr::Column(c) = e else { return true };
        if c.level > 0 || c.entry != SUBQUERY_ENTRY {
            c.level += 1;
            return true;
        }
        match select.targets.get(usize::from(c.column)) {
            Some(target) if !walk::has_subquery(target) && !walk::is_volatile(target) => {
                *e = target.clone();
            }
            _ => possible = false,
        }
        false
    });
    if possible {
        select.filter = Some(match select.filter.take() {
            None => moved,
            Some(other) => Expr::And(vec![other, moved]),
        });
    }
    possible
}

impl Planner<'_> {
    /// Applies a candidate to the rows of the query around, by probing or by hashing.
    pub(crate) fn semi_join(
        &mut self,
        candidate: &Candidate,
        left: Built,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let Some(select) = simple_select(&candidate.query) else {
            return Err(SqlError::internal("a semi join of a query that is not simple"));
        };
        let rows = left.node.rows;
        let inner_depth = depth + 1;
        let (mut own, mut between) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        select.filter.iter().for_each(|e| rewrite::split_and(e, &mut parts));
        for part in parts {
            if refers_up(part) { between.push(part) } else { own.push(part.clone()) }
        }
        let sides: Vec<_> = between.iter().map(|e| hash_sides(e)).collect();
        let mut needed = Needed::new(select.entries.len());
        needed.collect_from(&select.entries, &select.from);
        select.filter.iter().for_each(|e| needed.collect_expr(e));
        // Probing: what one run costs.
        let scope = Scope::new(&left.layout, outer);
        let probe = self.compile(&exists(candidate), depth, &scope)?;
        let probe_cost = probe_cost(&probe);
        let hashable = sides.iter().any(Option::is_some);
        if !hashable || rows * probe_cost < 1.0 {
            return Ok(self.filter_by(candidate, left, probe, probe_cost, depth));
        }
        let filter = match own.len() {
            0 => None,
            _ => Some(Expr::And(own)),
        };
        let right = self.plan_from(
            &select.entries,
            &select.from,
            filter.as_ref(),
            &needed,
            None,
            inner_depth,
            outer,
        )?;
        let hash_cost = right.node.cost + right.node.rows * 0.02 + rows * 0.015;
        if rows * probe_cost < hash_cost {
            return Ok(self.filter_by(candidate, left, probe, probe_cost, depth));
        }
        let (mut left_keys, mut right_keys, mut classes, mut rest) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut conditions = Vec::new();
        for (e, sides) in between.into_iter().zip(sides) {
            let Some((outside, inside, class)) = sides else {
                rest.push(e);
                continue;
            };
            left_keys.push(self.compile(outside, inner_depth, &Scope::new(&left.layout, outer))?);
            right_keys.push(self.compile(inside, inner_depth, &Scope::new(&right.layout, outer))?);
            classes.push(class);
            conditions.push(e);
        }
        let joined = left.layout.join(&right.layout);
        let joined_scope = Scope::new(&joined, outer);
        let rest = rest.into_iter().map(|e| self.compile(e, inner_depth, &joined_scope));
        let rest = rest.collect::<Result<Vec<_>>>()?;
        let predicate = (!rest.is_empty()).then(|| PhysicalExpr::And(rest.into()));
        let cost = left.node.cost + hash_cost;
        let width = left.node.width;
        let join = if candidate.anti { JoinType::Anti } else { JoinType::Semi };
        let text = self.names.conjunction(conditions.into_iter(), inner_depth);
        let startup = right.node.cost;
        let node = HashJoinNode {
            join,
            left_width: left.layout.width(),
            right_width: right.layout.width(),
            left: left.node,
            right: right.node,
            left_keys: left_keys.into(),
            right_keys: right_keys.into(),
            classes: classes.into(),
            predicate,
            cache: None,
        };
        let mut node = self.node(PlanKind::HashJoin(Box::new(node)), rows * 0.5, startup, cost, width);
        node.details.push(("Hash Cond", text));
        Ok(Built { ascending: left.ascending, ..Built::new(node, left.layout, left.sorted) })
    }

    fn filter_by(
        &mut self,
        candidate: &Candidate,
        left: Built,
        predicate: PhysicalExpr,
        cost: f64,
        depth: u32,
    ) -> Built {
        let rows = left.node.rows;
        let estimate = (left.node.startup, left.node.cost, left.node.width);
        let kind = PlanKind::Filter { input: Box::new(left.node), predicate, once: false };
        let mut node = self.over(kind, rows * 0.5, estimate, rows * cost);
        node.details.push(("Filter", self.names.print(&candidate.written.expr, depth)));
        Built { ascending: left.ascending, ..Built::new(node, left.layout, left.sorted) }
    }

    /// The distinct rows of an uncorrelated IN as a leaf: its plan and layout under a number of its own, and the conditions that join it.
    pub(crate) fn drive(
        &mut self,
        c: &Conjunct,
        number: u16,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Option<(Built, Vec<Conjunct>)>> {
        let Expr::Subquery(subquery) = &c.expr else { return Ok(None) };
        let SubqueryKind::Quantified { all: false, test, hashable: Some(left) } = &subquery.kind else {
            return Ok(None);
        };
        let mut correlated = false;
        walk::query(&subquery.query, 0, &mut |seen, level| {
            correlated |= matches!(seen, Seen::Expr(Expr::Column(c)) if c.level == level + 1);
            correlated |= walk::seen_volatile(&seen);
        });
        if correlated || c.volatile || left.len() != subquery.query.columns.len() {
            return Ok(None);
        }
        let mut classes = Vec::new();
        for (column, e) in subquery.query.columns.iter().zip(left) {
            let (a, b) = (super::compile::type_of(column.typ)?, super::compile::type_of(e.typ())?);
            match HashClass::common(a, b) {
                Some(_) => classes.push(HashClass::of(a)),
                None => return Ok(None),
            }
        }
        let node = self.plan_query(&subquery.query, depth + 1, outer)?;
        let columns = classes
            .into_iter()
            .enumerate()
            .map(|(slot, class)| super::node::HashColumn { slot, class })
            .collect();
        let (rows, startup, cost, width) = (node.rows, node.startup, node.cost, node.width);
        let kind = PlanKind::Distinct { input: Box::new(node), columns, sorted: false };
        let node = self.node(kind, rows, startup, cost + rows * 0.015, width);
        let mut layout = Layout::new();
        for column in 0..left.len() {
            layout.push(SlotKey::Column(depth, number, column as u16));
        }
        let mut parts = Vec::new();
        rewrite::split_and(test, &mut parts);
        let conjuncts = parts.into_iter().map(|part| {
            let mut part = part.clone();
            walk::expr_mut(&mut part, 0, &mut |seen, level| {
                if let SeenMut::Expr(Expr::Column(c)) = seen
                    && c.level == level
                    && c.entry == SUBQUERY_ENTRY
                {
                    c.entry = number;
                }
                true
            });
            Conjunct::new(&part)
        });
        Ok(Some((Built::new(node, layout, false), conjuncts.collect())))
    }
}

/// The candidate as an expression.
fn exists(candidate: &Candidate) -> Expr {
    let subquery = Expr::Subquery(Box::new(Subquery {
        kind: SubqueryKind::Exists,
        query: candidate.query.clone(),
        typ: crate::bound::SqlType::plain(oid::BOOL),
    }));
    if candidate.anti { Expr::Not(Box::new(subquery)) } else { subquery }
}

/// What one evaluation costs: that of the subquery's plan until its first row.
fn probe_cost(e: &PhysicalExpr) -> f64 {
    let mut cost = 0.0025;
    super::subplans::walk(e, &mut |plan| {
        let node = &plan.plan;
        cost += node.startup + (node.cost - node.startup) / node.rows.clamp(1.0, 2.0);
    });
    cost
}

/// Whether an expression of the inner query refers to the query around it.
fn refers_up(e: &Expr) -> bool {
    let mut up = false;
    walk::expr(e, 0, &mut |seen, level| {
        up |= matches!(seen, Seen::Expr(Expr::Column(c)) if c.level == level + 1);
    });
    up
}

/// The sides of `inside = outside` that can be hashed: outside, inside.
fn hash_sides(e: &Expr) -> Option<(&Expr, &Expr, HashClass)> {
    let Expr::Call(call) = e else { return None };
    if super::access::strategy(call) != Some(super::access::Strategy::Equal) {
        return None;
    }
    let [a, b] = call.args.as_slice() else { return None };
    let class =
        HashClass::common(super::compile::type_of(a.typ()).ok()?, super::compile::type_of(b.typ()).ok()?)?;
    let is_inside =
        |e: &Expr| !refers_up(e) && !Conjunct::new(e).entries.is_empty() && !walk::has_subquery(e);
    let is_outside = |e: &Expr| {
        let own: EntrySet = Conjunct::new(e).entries;
        refers_up(e) && own.is_empty() && !walk::has_subquery(e)
    };
    if is_outside(a) && is_inside(b) {
        return Some((a, b, class));
    }
    (is_outside(b) && is_inside(a)).then_some((b, a, class))
}
