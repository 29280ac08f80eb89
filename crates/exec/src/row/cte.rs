//! WITH: materialised queries, recursion, data-modifying ones.

use super::context::{Cached, ExecContext, Flow, Sink};
use super::rows::RowStore;
use super::run::{collect, pop_frames, push_rows, run};
use crate::plan::node::{CtePlan, CteQuery, PlanNode};
use catalog::Result;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// Pushes the rows of a CTE, computing them at the first call.
pub fn scan(
    slot: usize,
    plan: &CtePlan,
    pop: usize,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    if let CteQuery::Recursive { .. } = &plan.query
        && cx.statement.caches.load(slot).is_none()
    {
        // Rows go out as they come, so that whoever has enough of them ends the recursion.
        let inner = pop_frames(cx, pop);
        let all = recurse(plan, &inner, &mut |fresh| push_rows(fresh, cx, out))?;
        let Some(all) = all else { return Ok(ControlFlow::Break(())) };
        cx.statement.caches.store(slot, Cached::Rows(Rc::new(all)));
        return Ok(ControlFlow::Continue(()));
    }
    push_rows(&*rows(slot, plan, pop, cx)?, cx, out)
}

fn rows(slot: usize, plan: &CtePlan, pop: usize, cx: &ExecContext<'_>) -> Result<Rc<RowStore>> {
    if let Some(Cached::Rows(rows)) = cx.statement.caches.load(slot) {
        return Ok(rows);
    }
    let inner = pop_frames(cx, pop);
    let rows = Rc::new(match &plan.query {
        CteQuery::Plain(node) => collect(node, plan.width, &inner)?,
        CteQuery::Recursive { .. } => {
            let all = recurse(plan, &inner, &mut |_| Ok(ControlFlow::Continue(())))?;
            all.unwrap_or_else(|| RowStore::new(plan.width))
        }
    });
    cx.statement.caches.store(slot, Cached::Rows(Rc::clone(&rows)));
    Ok(rows)
}

/// Computes a recursive query, giving each iteration's rows to `each`; `None` when that wants no more. Compare
/// `nodeRecursiveunion.c`.
fn recurse(
    plan: &CtePlan,
    cx: &ExecContext<'_>,
    each: &mut dyn FnMut(&RowStore) -> Result<Flow>,
) -> Result<Option<RowStore>> {
    let CteQuery::Recursive { start, step, table, distinct } = &plan.query else {
        return Ok(Some(RowStore::new(plan.width)));
    };
    let mut all = RowStore::new(plan.width);
    let mut seen: FxHashSet<Box<[u8]>> = FxHashSet::default();
    let mut node = start;
    loop {
        let mut fresh = RowStore::new(plan.width);
        let mut key = Vec::new();
        let _ = run(node, cx, &mut |_, row| {
            if let Some(columns) = distinct {
                key.clear();
                for c in columns {
                    c.class.encode(row.get(c.slot).copied().unwrap_or_default(), &mut key);
                }
                if seen.contains(key.as_slice()) {
                    return Ok(ControlFlow::Continue(()));
                }
                seen.insert(key.as_slice().into());
            }
            fresh.push(row);
            all.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        if fresh.is_empty() {
            cx.statement.caches.take(*table);
            return Ok(Some(all));
        }
        cx.statement.env.check_interrupt()?;
        // IMPORTANT: before the working table is filled, as the consumer may come to this query again.
        if each(&fresh)?.is_break() {
            return Ok(None);
        }
        cx.statement.caches.store(*table, Cached::Rows(Rc::new(fresh)));
        node = step;
    }
}

/// Runs a query with its WITH queries: forgets what depends on outer rows before, finishes data-modifying ones after.
pub fn scope(
    input: &PlanNode,
    clear: &[usize],
    finish: &[(usize, Arc<CtePlan>)],
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    self::clear(clear, cx);
    let flow = run(input, cx, out)?;
    self::finish(finish, cx)?;
    Ok(flow)
}

/// Forgets cached results.
pub fn clear(slots: &[usize], cx: &ExecContext<'_>) {
    for slot in slots {
        cx.statement.caches.take(*slot);
    }
}

/// Runs those data-modifying CTEs that nobody has run.
pub fn finish(ctes: &[(usize, Arc<CtePlan>)], cx: &ExecContext<'_>) -> Result<()> {
    for (slot, plan) in ctes {
        rows(*slot, plan, 0, cx)?;
    }
    Ok(())
}
