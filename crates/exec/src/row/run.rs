//! Runs a plan node: the dispatch, and the operators that are a few lines each.

use super::context::{Cached, ExecContext, Flow, Sink};
use super::expr::{PhysicalExpr, eval_list};
use super::rows::RowStore;
use super::{aggregate, cte, function, join, limit, lock, scan, set, sort, window};
use crate::plan::node::{JoinType, PlanKind, PlanNode};
use catalog::{Arena, Result, SqlError};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Runs a node, pushing its rows. `Break` means that the consumer wants no more.
pub fn run(node: &PlanNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    match &cx.statement.instrumentation {
        None => run_kind(node, cx, out),
        Some(instrumentation) => {
            instrumentation.measure(node.id, cx, out, &mut |cx, out| run_kind(node, cx, out))
        }
    }
}

fn run_kind(node: &PlanNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    match &node.kind {
        PlanKind::Result => out(cx, &[]),
        PlanKind::Empty => Ok(ControlFlow::Continue(())),
        PlanKind::Scan(scan) => scan::run(scan, node.id, cx, out),
        PlanKind::System(system) => function::system(system, cx, out),
        PlanKind::Filter { input, predicate, once } => {
            if *once {
                if !predicate.is_true(cx, &[])? {
                    return Ok(ControlFlow::Continue(()));
                }
                return run(input, cx, out);
            }
            run(input, cx, &mut |icx, row| {
                if predicate.is_true(icx, row)? {
                    return out(icx, row);
                }
                if let Some(instrumentation) = &icx.statement.instrumentation {
                    instrumentation.removed(node.id);
                }
                Ok(ControlFlow::Continue(()))
            })
        }
        PlanKind::Project { input, exprs } => {
            run(input, cx, &mut |icx, row| out(icx, eval_list(exprs, icx, row)?))
        }
        PlanKind::Limit { input, limit, offset, ties } => {
            limit::run_with(input, limit.as_ref(), offset.as_ref(), ties.as_deref(), cx, out)
        }
        PlanKind::Sort { input, keys, bound } => {
            sort::run_sort(node.id, input, keys, bound.as_deref(), cx, out)
        }
        PlanKind::Distinct { input, columns, sorted } => set::distinct(input, columns, *sorted, cx, out),
        PlanKind::Aggregate(aggregate) => aggregate::run_aggregate(aggregate, cx, out),
        PlanKind::Window(window) => window::run_window(window, cx, out),
        PlanKind::ProjectSet { input, functions } => function::project_set(input, functions, cx, out),
        PlanKind::NestedLoop(node) => join::nested_loop(node, cx, out),
        PlanKind::HashJoin(node) => join::hash_join(node, cx, out),
        PlanKind::Append(inputs) => {
            for input in inputs {
                if run(input, cx, out)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        }
        PlanKind::SetOperation { left, right, except, all, columns } => {
            set::operation(left, right, *except, *all, columns, cx, out)
        }
        PlanKind::Values(rows) => values(rows, cx, out),
        PlanKind::Function(node) => function::scan(node, cx, out),
        PlanKind::Cte { slot, plan, pop } => cte::scan(*slot, plan, *pop, cx, out),
        PlanKind::WorkTable { slot, name, .. } => match cx.statement.caches.load(*slot) {
            Some(Cached::Rows(rows)) => push_rows(&rows, cx, out),
            _ => Err(SqlError::internal(format!("working table of \"{name}\" is not there"))),
        },
        PlanKind::Scope { input, clear, finish } => cte::scope(input, clear, finish, cx, out),
        PlanKind::Lock { input, rows, recheck } => lock::run(input, rows, recheck.as_ref(), cx, out),
        PlanKind::Dml(plan) => plan.run(cx, out),
        PlanKind::Relational(plan) => plan.run(cx, out),
        PlanKind::Unframe { input, pop, slot, width } => {
            let popped = pop_frames(cx, *pop);
            let Some(slot) = slot else {
                return run(input, &popped, &mut |icx, row| {
                    out(&ExecContext { outer: cx.outer, ..*icx }, row)
                });
            };
            let rows = match cx.statement.caches.load(*slot) {
                Some(Cached::Rows(rows)) => rows,
                _ => {
                    let rows = Rc::new(collect(input, *width, &popped)?);
                    cx.statement.caches.store(*slot, Cached::Rows(Rc::clone(&rows)));
                    rows
                }
            };
            push_rows(&rows, cx, out)
        }
    }
}

/// The context without its nearest outer rows.
pub fn pop_frames<'a>(cx: &ExecContext<'a>, pop: usize) -> ExecContext<'a> {
    let mut outer = cx.outer;
    for _ in 0..pop {
        outer = outer.and_then(|f| f.parent);
    }
    ExecContext { outer, ..*cx }
}

/// Keeps all rows of a node.
pub fn collect(node: &PlanNode, width: usize, cx: &ExecContext<'_>) -> Result<RowStore> {
    let mut rows = RowStore::new(width);
    let _ = run(node, cx, &mut |_, row| {
        rows.push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(rows)
}

/// Pushes kept rows.
pub fn push_rows(rows: &RowStore, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let mut arena = Arena::new();
    for i in 0..rows.len() {
        cx.statement.tick()?;
        let row = arena.slice_with(rows.width(), |column| rows.value(i, column));
        if out(&cx.with_arena(&arena), row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}

fn values(rows: &[Box<[PhysicalExpr]>], cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let mut arena = Arena::new();
    for exprs in rows {
        cx.statement.tick()?;
        let flow = {
            let inner = cx.with_arena(&arena);
            out(&inner, eval_list(exprs, &inner, &[])?)?
        };
        if flow.is_break() {
            return Ok(flow);
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}

/// Values per row that a node puts out, for those few operators that must know without a row.
pub fn width_of(node: &PlanNode) -> usize {
    match &node.kind {
        PlanKind::Result | PlanKind::Empty => 0,
        PlanKind::Scan(scan) => scan::width(scan),
        PlanKind::System(system) => system.columns,
        PlanKind::Filter { input, .. }
        | PlanKind::Limit { input, .. }
        | PlanKind::Sort { input, .. }
        | PlanKind::Distinct { input, .. }
        | PlanKind::Scope { input, .. }
        | PlanKind::Lock { input, .. } => width_of(input),
        PlanKind::Project { exprs, .. } => exprs.len(),
        PlanKind::Aggregate(a) => a.width(),
        PlanKind::Window(w) => width_of(&w.input) + w.calls.len(),
        PlanKind::ProjectSet { input, functions } => width_of(input) + functions.len(),
        PlanKind::NestedLoop(n) => match n.join {
            JoinType::Semi | JoinType::Anti => width_of(&n.left),
            _ => width_of(&n.left) + n.right_width,
        },
        PlanKind::HashJoin(n) => match n.join {
            JoinType::Semi | JoinType::Anti => n.left_width,
            _ => n.left_width + n.right_width,
        },
        PlanKind::Append(inputs) => inputs.first().map_or(0, width_of),
        PlanKind::SetOperation { columns, .. } => columns.len(),
        PlanKind::Values(rows) => rows.first().map_or(0, |r| r.len()),
        PlanKind::Function(f) => f.calls.iter().map(|c| c.columns).sum::<usize>() + usize::from(f.ordinality),
        PlanKind::Cte { plan, .. } => plan.width,
        PlanKind::WorkTable { width, .. } | PlanKind::Unframe { width, .. } => *width,
        // Never the left side of a join without rows that needs padding: they stand under a subquery's projection.
        PlanKind::Dml(_) | PlanKind::Relational(_) => 0,
    }
}
