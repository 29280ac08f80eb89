//! Planning INSERT, UPDATE and DELETE: the rows are found by the row path's planner, expressions compiled over what it puts out.

use super::insert::{ConflictPlan, ConflictUpdatePlan};
use super::{DeletePlan, InsertPlan, TableWriter, UpdatePlan};
use crate::bound::{Cte, Delete, Dml, Expr, FromItem, Insert, RangeEntry, Returning, TableRules, Update};
use crate::plan::PlanContext;
use crate::plan::compile::compile_conditions;
use crate::plan::dml::{DmlPlan, DmlPlanner};
use crate::plan::join::Needed;
use crate::plan::node::PlanNode;
use crate::plan::scope::{Layout, Scope, SlotKey};
use crate::plan::select::Planner;
use crate::row::expr::PhysicalExpr;
use catalog::{Result, SqlError};
use std::sync::Arc;
use storage::LockMode;

/// Plans DML, for the row path's planner too.
pub struct Dmls;

impl DmlPlanner for Dmls {
    fn plan(
        &self,
        dml: &Dml,
        planner: &mut Planner<'_>,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Arc<dyn DmlPlan>> {
        plan_with(dml, planner, depth, outer, false)
    }
}

/// Plans a DML statement. Gives the plan, its cache slots and its number of nodes.
pub fn plan_dml(dml: &Dml, cx: &PlanContext<'_>) -> Result<(Arc<dyn DmlPlan>, usize, usize)> {
    let mut planner = Planner::new(*cx);
    let plan = plan_with(dml, &mut planner, 0, None, true)?;
    let (slots, nodes) = planner.totals();
    Ok((plan, slots, nodes))
}

fn plan_with(
    dml: &Dml,
    planner: &mut Planner<'_>,
    depth: u32,
    outer: Option<&Scope<'_>>,
    counts: bool,
) -> Result<Arc<dyn DmlPlan>> {
    let ctes = match dml {
        Dml::Insert(insert) => &insert.ctes,
        Dml::Update(update) => &update.ctes,
        Dml::Delete(delete) => &delete.ctes,
    };
    in_ctes(planner, ctes, depth, outer, |planner| match dml {
        Dml::Insert(insert) => {
            Ok(Arc::new(plan_insert(insert, planner, depth, outer, counts)?) as Arc<dyn DmlPlan>)
        }
        Dml::Update(update) => Ok(Arc::new(plan_update(update, planner, depth, outer, counts)?) as _),
        Dml::Delete(delete) => Ok(Arc::new(plan_delete(delete, planner, depth, outer, counts)?) as _),
    })
}

/// Plans something with the statement's WITH queries in scope.
fn in_ctes(
    planner: &mut Planner<'_>,
    ctes: &[Cte],
    depth: u32,
    outer: Option<&Scope<'_>>,
    f: impl FnOnce(&mut Planner<'_>) -> Result<Arc<dyn DmlPlan>>,
) -> Result<Arc<dyn DmlPlan>> {
    if ctes.is_empty() {
        return f(planner);
    }
    planner.with_dml_ctes(ctes, depth, outer, f)
}

fn writer(rules: &TableRules, planner: &Planner<'_>) -> Result<Arc<TableWriter>> {
    let schema = planner.schema_name(rules.table.schema);
    Ok(Arc::new(TableWriter::new(rules, &schema)?))
}

fn plan_insert(
    insert: &Insert,
    planner: &mut Planner<'_>,
    depth: u32,
    outer: Option<&Scope<'_>>,
    counts: bool,
) -> Result<InsertPlan> {
    let writer = writer(&insert.rules, planner)?;
    let places = writer.types.len();
    let source =
        insert.source.as_ref().map(|query| planner.plan_query(query, depth + 1, outer)).transpose()?;
    let source_width = insert.source.as_ref().map_or(0, |query| query.columns.len());
    let mut layout = Layout::new();
    bind_columns(&mut layout, depth, 1, 0, source_width);
    layout.set_width(source_width);
    let row = planner.compile_list(&insert.row, depth, &Scope::new(&layout, outer))?;
    let on_conflict = match &insert.on_conflict {
        None => None,
        Some(conflict) => {
            // The conflicting row, the source's row, the row that was to be inserted.
            let mut wide = Layout::new();
            bind_columns(&mut wide, depth, 0, 0, places);
            bind_columns(&mut wide, depth, 1, places, source_width);
            bind_columns(&mut wide, depth, 2, places + source_width, places);
            wide.set_width(2 * places + source_width);
            let scope = Scope::new(&wide, outer);
            let update = match &conflict.update {
                None => None,
                Some(update) => {
                    let assigned: Vec<usize> = update.assignments.iter().map(|(place, _)| *place).collect();
                    let filter =
                        update.filter.as_ref().map(|e| planner.compile(e, depth, &scope)).transpose()?;
                    Some(ConflictUpdatePlan {
                        assignments: assignments(planner, &update.assignments, depth, &scope)?,
                        filter,
                        touched: writer.indexes_touched(&assigned).into(),
                        moves: writer.moves(&assigned),
                    })
                }
            };
            let arbiters = (!conflict.arbiters.is_empty()).then(|| {
                let all = writer.indexes.iter().enumerate();
                all.filter(|(_, index)| conflict.arbiters.contains(&index.oid)).map(|(i, _)| i).collect()
            });
            Some(ConflictPlan { arbiters, update })
        }
    };
    let mut target = Layout::new();
    bind_columns(&mut target, depth, 0, 0, places);
    let returning = returning(planner, insert.returning.as_ref(), depth, &Scope::new(&target, outer))?;
    Ok(InsertPlan { writer, source, row, on_conflict, returning, counts })
}

fn plan_update(
    update: &Update,
    planner: &mut Planner<'_>,
    depth: u32,
    outer: Option<&Scope<'_>>,
    counts: bool,
) -> Result<UpdatePlan> {
    let writer = writer(&update.rules, planner)?;
    let found = find(planner, &update.entries, &update.from, update.filter.as_ref(), depth, outer)?;
    let scope = Scope::new(&found.layout, outer);
    let assigned: Vec<usize> = update.assignments.iter().map(|(place, _)| *place).collect();
    let changes_key = writer.changes_key(&assigned);
    Ok(UpdatePlan {
        first: found.first,
        key: found.key,
        assignments: assignments(planner, &update.assignments, depth, &scope)?,
        recheck: found.recheck,
        touched: writer.indexes_touched(&assigned).into(),
        moves: writer.moves(&assigned),
        mode: if changes_key { LockMode::Update } else { LockMode::NoKeyUpdate },
        returning: returning(planner, update.returning.as_ref(), depth, &scope)?,
        source: found.node,
        writer,
        counts,
    })
}

fn plan_delete(
    delete: &Delete,
    planner: &mut Planner<'_>,
    depth: u32,
    outer: Option<&Scope<'_>>,
    counts: bool,
) -> Result<DeletePlan> {
    let writer = writer(&delete.rules, planner)?;
    let found = find(planner, &delete.entries, &delete.from, delete.filter.as_ref(), depth, outer)?;
    let scope = Scope::new(&found.layout, outer);
    Ok(DeletePlan {
        first: found.first,
        key: found.key,
        recheck: found.recheck,
        returning: returning(planner, delete.returning.as_ref(), depth, &scope)?,
        source: found.node,
        writer,
        counts,
    })
}

/// The rows that an UPDATE or DELETE is about.
struct Found {
    node: PlanNode,
    layout: Layout,
    /// First slot of the target's columns.
    first: usize,
    /// Slot of the target's row key.
    key: usize,
    recheck: Option<PhysicalExpr>,
}

fn find(
    planner: &mut Planner<'_>,
    entries: &[RangeEntry],
    from: &[FromItem],
    filter: Option<&Expr>,
    depth: u32,
    outer: Option<&Scope<'_>>,
) -> Result<Found> {
    let mut items = vec![FromItem::Entry(0)];
    items.extend(from.iter().cloned());
    let mut needed = Needed::new(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        needed.whole(i, entry.columns.len());
    }
    needed.key(0);
    let built = planner.plan_from(entries, &items, filter, &needed, None, depth, outer)?;
    let slot =
        |key| built.layout.slot(key).ok_or_else(|| SqlError::internal("the target of DML has no slots"));
    let first = slot(SlotKey::Column(depth, 0, 0)).unwrap_or(0);
    let key = slot(SlotKey::RowKey(depth, 0))?;
    let recheck = compile_conditions(planner, filter, &items, depth, &Scope::new(&built.layout, outer))?;
    Ok(Found { node: built.node, layout: built.layout, first, key, recheck })
}

fn assignments(
    planner: &mut Planner<'_>,
    list: &[(usize, Expr)],
    depth: u32,
    scope: &Scope<'_>,
) -> Result<Box<[(usize, PhysicalExpr)]>> {
    list.iter().map(|(place, expr)| Ok((*place, planner.compile(expr, depth, scope)?))).collect()
}

fn returning(
    planner: &mut Planner<'_>,
    returning: Option<&Returning>,
    depth: u32,
    scope: &Scope<'_>,
) -> Result<Option<Box<[PhysicalExpr]>>> {
    returning.map(|r| planner.compile_list(&r.targets, depth, scope)).transpose()
}

fn bind_columns(layout: &mut Layout, depth: u32, entry: u16, first: usize, count: usize) {
    for column in 0..count {
        layout.bind(SlotKey::Column(depth, entry, column as u16), first + column);
    }
}
