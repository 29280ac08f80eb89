//! Changes to bound trees that keep their meaning, and questions about them.

use super::access::strategy;
use super::walk::{self, SeenMut};
use crate::bound::{Body, Cte, Distinct, Expr, FromItem, JoinKind, Query, Source};
use catalog::Value;

/// An expression under binary-coercible casts.
pub fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Relabel(inner, ..) => strip(inner),
        other => other,
    }
}

/// The parts of a conjunction.
pub fn split_and<'q>(e: &'q Expr, parts: &mut Vec<&'q Expr>) {
    match e {
        Expr::And(list) => list.iter().for_each(|e| split_and(e, parts)),
        Expr::Const(Value::Bool(true), _) => {}
        other => parts.push(other),
    }
}

/// Whether two expressions are written alike. Their printed structure holds everything that matters.
pub fn equal(a: &Expr, b: &Expr) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b) && format!("{a:?}") == format!("{b:?}")
}

/// A guess at how many of a table's rows satisfy a condition; PostgreSQL's defaults (`selfuncs.h`).
pub fn selectivity(e: &Expr) -> f64 {
    use super::access::Strategy;
    match e {
        Expr::Call(call) => match strategy(call) {
            Some(Strategy::Equal) => 0.005,
            Some(_) => 1.0 / 3.0,
            None if call.proc.name.ends_with("ne") => 0.995,
            None if call.proc.name.contains("like") || call.proc.name.contains("regex") => 0.02,
            None => 0.5,
        },
        Expr::And(list) => list.iter().map(selectivity).product(),
        Expr::Or(list) => {
            let none: f64 = list.iter().map(|e| 1.0 - selectivity(e)).product();
            1.0 - none
        }
        Expr::Not(e) => 1.0 - selectivity(e),
        Expr::IsNull(_) => 0.005,
        Expr::IsNotNull(_) => 0.995,
        Expr::ScalarArray(call, all) => {
            let count = match call.args.get(1) {
                Some(Expr::Array(list, ..)) => list.len() as f64,
                _ => 10.0,
            };
            let one = match strategy(call) {
                Some(Strategy::Equal) => 0.005,
                Some(_) => 1.0 / 3.0,
                None => 0.995,
            };
            if *all { f64::powf(one, count) } else { (one * count).min(1.0) }
        }
        Expr::Const(Value::Bool(true), _) => 1.0,
        Expr::Const(..) => 0.0001,
        _ => 0.5,
    }
}

/// The conditions of inner joins in a join tree.
pub fn inner_conditions<'q>(item: &'q FromItem, conditions: &mut Vec<&'q Expr>) {
    if let FromItem::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } = item {
        inner_conditions(left, conditions);
        inner_conditions(right, conditions);
        conditions.extend(on);
    }
}

/// The query with those CTEs moved to their places of use that PostgreSQL would inline: neither recursive nor volatile, referred to once
/// (or NOT MATERIALIZED). Their places in the list are kept, without references.
pub fn inline_ctes(query: &Query) -> Query {
    let mut query = query.clone();
    for place in 0..query.ctes.len() {
        if !query.ctes.get(place).is_some_and(can_inline) {
            continue;
        }
        let Some(cte) = query.ctes.get_mut(place) else { continue };
        cte.references = 0;
        let body = cte.query.clone();
        // The walk over the owner starts at level 0; an entry at walk level L refers to this CTE with `up == L`.
        let mut replace = |seen: SeenMut<'_>, level: u16| {
            if let SeenMut::Source(source) = seen
                && matches!(source, Source::Cte(up, p) if *up == usize::from(level) && *p == place)
            {
                let mut moved = body.clone();
                if level > 0 {
                    // The CTE's query stands one below its owner, and now one below the entry's query.
                    walk::query_mut(&mut moved, 0, &mut |seen, at| walk::deepen(seen, at + 1, level));
                }
                *source = Source::Subquery(Box::new(moved));
                return false;
            }
            true
        };
        walk::query_mut(&mut query, 0, &mut replace);
    }
    query
}

fn can_inline(cte: &Cte) -> bool {
    let simple = match &cte.query.body {
        Body::Dml(_) => false,
        Body::Select(_) | Body::SetOperation(_) | Body::Values(_) => cte.query.locking.is_empty(),
    };
    if cte.recursive || !simple || cte.materialized == Some(true) || cte.references == 0 {
        return false;
    }
    if cte.references > 1 && cte.materialized != Some(false) {
        return false;
    }
    let mut volatile = false;
    walk::query(&cte.query, 0, &mut |seen, _| volatile |= walk::seen_volatile(&seen));
    !volatile
}

/// Moves a condition over a subquery's output columns into the subquery; `false` if it cannot go there. The condition's other columns
/// are of outer queries.
pub fn push_into(query: &mut Query, condition: &Expr, entry: u16) -> bool {
    if query.limit.is_some() || query.offset.is_some() || !query.locking.is_empty() {
        return false;
    }
    if walk::has_subquery(condition) || walk::is_volatile(condition) {
        return false;
    }
    match &mut query.body {
        Body::Values(_) | Body::Dml(_) => false,
        Body::SetOperation(set) => {
            // Into both arms or none.
            if !set.left.ctes.is_empty() || !set.right.ctes.is_empty() {
                return false;
            }
            let mut deeper = condition.clone();
            walk::expr_mut(&mut deeper, 0, &mut |seen, _| {
                if let SeenMut::Expr(Expr::Column(c)) = seen
                    && c.level > 0
                {
                    c.level += 1;
                }
                true
            });
            let (mut left, mut right) = (set.left.clone(), set.right.clone());
            if push_into(&mut left, &deeper, entry) && push_into(&mut right, &deeper, entry) {
                set.left = left;
                set.right = right;
                return true;
            }
            false
        }
        Body::Select(select) => {
            if !select.windows.is_empty() || !select.set_functions.is_empty() {
                return false;
            }
            if matches!(select.distinct, Distinct::On(_)) || select.grouping_sets.is_some() {
                return false;
            }
            let mut possible = true;
            let mut moved = condition.clone();
            walk::expr_mut(&mut moved, 0, &mut |seen, _| {
                let SeenMut::Expr(e) = seen else { return true };
                let Expr::Column(c) = e else { return true };
                if c.level > 0 {
                    c.level += 1;
                    return true;
                }
                if c.entry != entry {
                    possible = false;
                    return false;
                }
                let Some(target) = select.targets.get(usize::from(c.column)) else {
                    possible = false;
                    return false;
                };
                let target = match target {
                    Expr::GroupKey(i, _) => select.group_by.get(*i),
                    other if select.grouped => {
                        let constant = matches!(other, Expr::Const(..) | Expr::Param(..));
                        constant.then_some(other)
                    }
                    other => Some(other),
                };
                match target {
                    Some(target) if !walk::has_subquery(target) && !walk::is_volatile(target) => {
                        *e = target.clone();
                        false
                    }
                    _ => {
                        possible = false;
                        false
                    }
                }
            });
            // Ungrouped aggregates give a row also where nothing is left to aggregate.
            if !possible || (select.grouped && select.group_by.is_empty()) {
                return false;
            }
            select.filter = Some(match select.filter.take() {
                None => moved,
                Some(Expr::And(mut list)) => {
                    list.push(moved);
                    Expr::And(list)
                }
                Some(other) => Expr::And(vec![other, moved]),
            });
            true
        }
    }
}
