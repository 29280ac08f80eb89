//! Functions in FROM, set-returning functions in targets, and computed system relations.

use super::composite;
use super::context::{ExecContext, Flow, Sink};
use super::expr::eval_list;
use super::rows::RowStore;
use super::run::run;
use crate::plan::node::{FunctionNode, PlanNode, SetCall, SetFunction, SystemNode};
use catalog::{Arena, Datum, Oid, Result, SqlError};
use std::ops::ControlFlow;

/// Calls `emit` with each row of a call: `call.columns` values.
fn call_rows<'a>(
    call: &'a SetCall,
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'_>]) -> Result<Flow>,
) -> Result<()> {
    match &call.function {
        SetFunction::Scalar(e) => {
            let value = e.eval(cx, row)?;
            if call.columns == 1 && call.column_types.len() < 2 {
                let _ = emit(&[value])?;
            } else {
                let fields = cx.eval.arena.slice_with(call.columns, |_| Datum::Null);
                for (slot, (_, value)) in fields.iter_mut().zip(composite::fields(value)) {
                    *slot = value;
                }
                let _ = emit(fields)?;
            }
            Ok(())
        }
        SetFunction::Set(function) => {
            let args = eval_list(&call.args, cx, row)?;
            if call.strict && args.iter().any(Datum::is_null) {
                return Ok(());
            }
            function(&cx.eval, &call.types, args, &mut |values| {
                if values.len() == call.columns {
                    return emit(values);
                }
                if call.columns == 1 {
                    let arena = Arena::new();
                    return emit(&[composite::build(&arena, &call.column_types, values)]);
                }
                match values {
                    [packed] => {
                        let mut fields = vec![Datum::Null; call.columns];
                        for (slot, (_, value)) in fields.iter_mut().zip(composite::fields(*packed)) {
                            *slot = value;
                        }
                        emit(&fields)
                    }
                    _ => Err(SqlError::internal(format!(
                        "function {} put out {} columns instead of {}",
                        call.name,
                        values.len(),
                        call.columns
                    ))),
                }
            })
        }
    }
}

/// Runs functions in FROM.
pub fn scan(node: &FunctionNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    if let [call] = &*node.calls {
        let mut flow = ControlFlow::Continue(());
        let mut number = 0;
        let mut arena = Arena::new();
        call_rows(call, cx, &[], &mut |values| {
            number += 1;
            cx.statement.tick()?;
            flow = {
                let inner = cx.with_arena(&arena);
                if node.ordinality {
                    let row = inner.eval.arena.slice_with(values.len() + 1, |i| match values.get(i) {
                        Some(value) => *value,
                        None => Datum::Int(number),
                    });
                    out(&inner, row)?
                } else {
                    out(&inner, values)?
                }
            };
            arena.reset();
            Ok(flow)
        })?;
        return Ok(flow);
    }
    let mut stores = Vec::with_capacity(node.calls.len());
    for call in &node.calls {
        let mut rows = RowStore::new(call.columns);
        call_rows(call, cx, &[], &mut |values| {
            rows.push(values);
            Ok(ControlFlow::Continue(()))
        })?;
        stores.push(rows);
    }
    let count = stores.iter().map(RowStore::len).max().unwrap_or(0);
    let width: usize = stores.iter().map(RowStore::width).sum();
    let mut arena = Arena::new();
    for i in 0..count {
        cx.statement.tick()?;
        let row = arena.slice_with(width + usize::from(node.ordinality), |_| Datum::Int(i as i64 + 1));
        let mut at = 0;
        for store in &stores {
            for column in 0..store.width() {
                if let Some(slot) = row.get_mut(at) {
                    *slot = if i < store.len() { store.value(i, column) } else { Datum::Null };
                }
                at += 1;
            }
        }
        if out(&cx.with_arena(&arena), row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        arena.reset();
    }
    Ok(ControlFlow::Continue(()))
}

/// Runs set-returning functions of a target list: in lockstep, the shorter ones filled up with NULL. Compare `nodeProjectSet.c`.
pub fn project_set(
    input: &PlanNode,
    functions: &[SetCall],
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    run(input, cx, &mut |icx, row| {
        if let [call] = functions {
            let mut flow = ControlFlow::Continue(());
            let mut arena = Arena::new();
            call_rows(call, icx, row, &mut |values| {
                cx.statement.tick()?;
                flow = {
                    let inner = icx.with_arena(&arena);
                    let value = values.first().copied().unwrap_or(Datum::Null);
                    let extended =
                        inner.eval.arena.slice_with(row.len() + 1, |i| row.get(i).copied().unwrap_or(value));
                    out(&inner, extended)?
                };
                arena.reset();
                Ok(flow)
            })?;
            return Ok(flow);
        }
        let mut stores = Vec::with_capacity(functions.len());
        for call in functions {
            let mut rows = RowStore::new(1);
            call_rows(call, icx, row, &mut |values| {
                rows.push(values);
                Ok(ControlFlow::Continue(()))
            })?;
            stores.push(rows);
        }
        let count = stores.iter().map(RowStore::len).max().unwrap_or(0);
        let mut arena = Arena::new();
        for i in 0..count {
            cx.statement.tick()?;
            {
                let inner = icx.with_arena(&arena);
                let extended = inner.eval.arena.slice_with(row.len() + stores.len(), |at| {
                    match (row.get(at), stores.get(at.wrapping_sub(row.len()))) {
                        (Some(value), _) => *value,
                        (None, Some(store)) if i < store.len() => store.value(i, 0),
                        _ => Datum::Null,
                    }
                });
                if out(&inner, extended)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            arena.reset();
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Runs a scan of a computed system relation.
pub fn system(node: &SystemNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let env = cx.eval.env;
    let mut only = None;
    for (column, value) in &node.equal {
        match value.eval(cx, &[])? {
            Datum::Null => return Ok(ControlFlow::Continue(())),
            // Leading OID columns are what relations are looked up by.
            Datum::Int(value) if *column == 0 => only = u32::try_from(value).ok().map(Oid),
            _ => {}
        }
    }
    let mut flow = ControlFlow::Continue(());
    let mut arena = Arena::new();
    let mut emit = |row: &[Datum<'_>]| {
        cx.statement.tick()?;
        flow = {
            let inner = cx.with_arena(&arena);
            let wanted = |i: usize| node.wanted.get(i).copied().unwrap_or(true);
            let copy = inner.eval.arena.slice_with(row.len(), |i| match row.get(i) {
                Some(value) if wanted(i) => value.copy_in(inner.eval.arena),
                _ => Datum::Null,
            });
            match &node.filter {
                Some(filter) if !filter.eval(&inner, copy)?.is_true() => ControlFlow::Continue(()),
                _ => out(&inner, copy)?,
            }
        };
        arena.reset();
        Ok(flow)
    };
    match catalog::system::relation(node.oid) {
        Some(relation) => {
            let catalog = env.catalog();
            let objects = env.objects();
            let context = catalog::system::SystemContext {
                catalog: &catalog,
                objects: &objects,
                database: env.database(),
                size: &|relation| env.relation_size(relation),
                only,
            };
            relation.rows(&context, &mut emit)?;
        }
        // A sequence reads as a table of one row.
        None if env.objects().sequence(node.oid).is_some() => {
            let (last_value, is_called) = env.sequence_state(node.oid)?;
            let _ = emit(&[Datum::Int(last_value), Datum::Int(0), Datum::Bool(is_called)])?;
        }
        None => return Err(SqlError::unsupported(format_args!("reading {}", node.alias))),
    }
    Ok(flow)
}
