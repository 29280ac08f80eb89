//! Subqueries in expressions. Compare PostgreSQL's `nodeSubplan.c`.

use super::array_ops;
use super::context::{Cached, ExecContext, Frame, HashedRows};
use super::expr::{PhysicalExpr, eval_list};
use super::hash::HashClass;
use super::rows::RowStore;
use super::run::run;
use crate::plan::node::{SubPlan, SubPlanKind};
use catalog::{Datum, Result, SqlError, SqlState};
use std::ops::ControlFlow;
use std::rc::Rc;

/// The value of a subquery over a row.
pub fn eval<'a>(plan: &'a SubPlan, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
    if let SubPlanKind::Hashed { left, classes } = &plan.kind {
        return hashed(plan, left, classes, cx, row);
    }
    if let Some(slot) = plan.cache
        && let Some(Cached::Value(value)) = cx.statement.caches.load(slot)
    {
        return Ok(value.datum().copy_in(cx.eval.arena));
    }
    let value = compute(plan, cx, row)?;
    if let Some(slot) = plan.cache {
        cx.statement.caches.store(slot, Cached::Value(value.to_value()));
    }
    Ok(value)
}

fn compute<'a>(plan: &'a SubPlan, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
    let arena = cx.eval.arena;
    let frame = Frame { row, parent: cx.outer };
    let inner = cx.with_outer(&frame);
    match &plan.kind {
        SubPlanKind::Exists => {
            let mut found = false;
            let _ = run(&plan.plan, &inner, &mut |_, _| {
                found = true;
                Ok(ControlFlow::Break(()))
            })?;
            Ok(Datum::Bool(found))
        }
        SubPlanKind::Scalar => {
            let mut value = None;
            let _ = run(&plan.plan, &inner, &mut |_, row| {
                if value.is_some() {
                    return Err(SqlError::new(
                        SqlState::CARDINALITY_VIOLATION,
                        "more than one row returned by a subquery used as an expression",
                    ));
                }
                value = Some(row.first().copied().unwrap_or(Datum::Null).copy_in(arena));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(value.unwrap_or(Datum::Null))
        }
        SubPlanKind::Array(element, nested) => {
            let mut values = RowStore::new(1);
            let _ = run(&plan.plan, &inner, &mut |_, row| {
                values.push(row);
                Ok(ControlFlow::Continue(()))
            })?;
            let list = arena.slice_with(values.len(), |i| values.value(i, 0).copy_in(arena));
            array_ops::build(cx, element, list, *nested)
        }
        SubPlanKind::Quantified { all, test } => {
            let mut unknown = false;
            let mut decided = false;
            let _ = run(&plan.plan, &inner, &mut |icx, row| {
                let icx = ExecContext { outer: inner.outer, ..*icx };
                match test.eval(&icx, row)? {
                    Datum::Null => unknown = true,
                    answer if answer.is_true() != *all => {
                        decided = true;
                        return Ok(ControlFlow::Break(()));
                    }
                    _ => {}
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(match (decided, unknown) {
                (true, _) => Datum::Bool(!*all),
                (false, true) => Datum::Null,
                (false, false) => Datum::Bool(*all),
            })
        }
        SubPlanKind::Hashed { .. } => Err(SqlError::internal("a hashed subquery is not computed by row")),
    }
}

fn hashed<'a>(
    plan: &'a SubPlan,
    left: &'a [PhysicalExpr],
    classes: &[HashClass],
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let loaded = plan.cache.and_then(|slot| cx.statement.caches.load(slot));
    let set = match loaded {
        Some(Cached::Set(set)) => set,
        _ => {
            let frame = Frame { row, parent: cx.outer };
            let set = Rc::new(build(plan, classes, &cx.with_outer(&frame))?);
            if let Some(slot) = plan.cache {
                cx.statement.caches.store(slot, Cached::Set(Rc::clone(&set)));
            }
            set
        }
    };
    let values = eval_list(left, cx, row)?;
    if !set.any {
        return Ok(Datum::Bool(false));
    }
    if values.iter().any(Datum::is_null) {
        // Unknown if some row agrees wherever both sides have a value.
        let unknown = values.len() == 1 || may_match(&set.rows, values, classes);
        return Ok(if unknown { Datum::Null } else { Datum::Bool(false) });
    }
    let mut key = Vec::with_capacity(32);
    for (value, class) in values.iter().zip(classes) {
        class.encode(*value, &mut key);
    }
    if set.keys.contains(key.as_slice()) {
        return Ok(Datum::Bool(true));
    }
    let unknown = match values.len() {
        1 => set.nulls,
        _ => set.nulls && may_match(&set.rows, values, classes),
    };
    Ok(if unknown { Datum::Null } else { Datum::Bool(false) })
}

/// Whether some row with the values given could be equal, were NULLs known.
fn may_match(rows: &RowStore, values: &[Datum<'_>], classes: &[HashClass]) -> bool {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    (0..rows.len()).any(|i| {
        values.iter().zip(classes).enumerate().all(|(column, (value, class))| {
            let other = rows.value(i, column);
            if value.is_null() || other.is_null() {
                return true;
            }
            a.clear();
            b.clear();
            class.encode(*value, &mut a);
            class.encode(other, &mut b);
            a == b
        })
    })
}

fn build(plan: &SubPlan, classes: &[HashClass], cx: &ExecContext<'_>) -> Result<HashedRows> {
    let mut set = HashedRows { rows: RowStore::new(classes.len()), ..HashedRows::default() };
    let mut key = Vec::with_capacity(32);
    let _ = run(&plan.plan, cx, &mut |_, row| {
        set.any = true;
        let row = row.get(..classes.len()).unwrap_or_default();
        if classes.len() > 1 {
            set.rows.push(row);
        }
        if row.iter().any(Datum::is_null) {
            set.nulls = true;
            return Ok(ControlFlow::Continue(()));
        }
        key.clear();
        for (value, class) in row.iter().zip(classes) {
            class.encode(*value, &mut key);
        }
        if !set.keys.contains(key.as_slice()) {
            set.keys.insert(key.as_slice().into());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(set)
}
