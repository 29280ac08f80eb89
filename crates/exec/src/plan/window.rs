//! Window calls: those of one partitioning and order share one sort and one node.

use super::compile::type_of;
use super::node::{
    FrameEdge, FrameNode, PlanKind, PlanNode, RangeStep, SortColumn, WindowExpr, WindowFunction, WindowNode,
};
use super::scope::{Layout, Scope, SlotKey};
use super::select::Planner;
use crate::bound::{Expr, FrameBound, FrameUnit, Select, SqlType, WindowCall};
use crate::functions::{CallTypes, Implementation};
use crate::row::expr::PhysicalExpr;
use catalog::pg::LOOKUP;
use catalog::{Result, SqlError};

impl Planner<'_> {
    /// Plans the window calls of a SELECT over its (grouped) rows.
    pub(crate) fn plan_windows(
        &mut self,
        select: &Select,
        mut node: PlanNode,
        mut layout: Layout,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<(PlanNode, Layout)> {
        let spec = |w: &WindowCall| format!("{:?}{:?}", w.partition_by, w.order_by);
        let mut done = vec![false; select.windows.len()];
        for first in 0..select.windows.len() {
            if done.get(first).copied().unwrap_or(true) {
                continue;
            }
            let Some(leader) = select.windows.get(first) else { continue };
            let key = spec(leader);
            // Partition and order expressions become slots.
            let below = layout.clone();
            let scope = Scope::new(&below, outer);
            let mut exprs: Vec<PhysicalExpr> = (0..below.width()).map(PhysicalExpr::Slot).collect();
            let mut column = |p: &mut Self, e: &Expr, desc: bool, nulls_first: bool| -> Result<SortColumn> {
                let slot = match p.compile(e, depth, &scope)? {
                    PhysicalExpr::Slot(slot) => slot,
                    other => {
                        exprs.push(other);
                        exprs.len() - 1
                    }
                };
                Ok(SortColumn { slot, typ: type_of(e.typ())?, desc, nulls_first })
            };
            let mut partition = Vec::new();
            for e in &leader.partition_by {
                partition.push(column(self, e, false, false)?);
            }
            let mut order = Vec::new();
            for (e, desc, nulls_first) in &leader.order_by {
                order.push(column(self, e, *desc, *nulls_first)?);
            }
            let extended = exprs.len();
            node = self.project(node, exprs.into(), below.width());
            layout.set_width(extended);
            let keys: Vec<SortColumn> = partition.iter().chain(&order).cloned().collect();
            if !keys.is_empty() {
                node = self.sort(node, keys, None);
            }
            let mut calls = Vec::new();
            let mut places = Vec::new();
            for (i, w) in select.windows.iter().enumerate().skip(first) {
                if done.get(i).copied().unwrap_or(true) || spec(w) != key {
                    continue;
                }
                if let Some(place) = done.get_mut(i) {
                    *place = true;
                }
                calls.push(self.window_call(w, depth, &scope)?);
                places.push(i);
            }
            for i in places {
                layout.push(SlotKey::Window(depth, i));
            }
            let (rows, estimate) = (node.rows, (node.cost, node.cost, node.width + calls.len() * 8));
            let kind = PlanKind::Window(Box::new(WindowNode {
                input: node,
                partition: partition.into(),
                order: order.into(),
                calls: calls.into(),
            }));
            node = self.over(kind, rows, estimate, rows * 0.025);
        }
        Ok((node, layout))
    }

    fn window_call(&mut self, w: &WindowCall, depth: u32, scope: &Scope<'_>) -> Result<WindowExpr> {
        let function = match w.call.implementation {
            Implementation::Window(f) => WindowFunction::Window(f),
            Implementation::Aggregate(f) => WindowFunction::Aggregate(f),
            Implementation::Scalar(_) | Implementation::Set(_) => {
                return Err(SqlError::internal(format!("{} is no window function", w.call.proc.name)));
            }
        };
        let edge = |p: &mut Self, bound: &FrameBound| -> Result<FrameEdge> {
            Ok(match bound {
                FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => FrameEdge::Unbounded,
                FrameBound::CurrentRow => FrameEdge::CurrentRow,
                FrameBound::Preceding(e) => {
                    FrameEdge::Preceding(p.compile(e, depth, scope)?, range_step(w, e)?)
                }
                FrameBound::Following(e) => {
                    FrameEdge::Following(p.compile(e, depth, scope)?, range_step(w, e)?)
                }
            })
        };
        let (start, end) = (edge(self, &w.frame.start)?, edge(self, &w.frame.end)?);
        Ok(WindowExpr {
            function,
            types: CallTypes { args: w.call.args.iter().map(Expr::typ).collect(), result: w.call.typ },
            args: self.compile_list(&w.call.args, depth, scope)?,
            filter: w.call.filter.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?,
            frame: FrameNode { unit: w.frame.unit, start, end, exclude: w.frame.exclude },
        })
    }
}

/// How RANGE with an offset moves; compare PostgreSQL's `in_range` support functions.
fn range_step(w: &WindowCall, offset: &Expr) -> Result<Option<RangeStep>> {
    if w.frame.unit != FrameUnit::Range {
        return Ok(None);
    }
    let Some((order, ..)) = w.order_by.first() else { return Ok(None) };
    let (left, right) = (order.typ(), offset.typ());
    let find = |name: &str| {
        let operator = LOOKUP.operators_named(name).find(|o| o.left == left.oid && o.right == right.oid)?;
        let proc = LOOKUP.proc(operator.code)?;
        match crate::functions::implementation(proc) {
            Ok(Implementation::Scalar(f)) => Some((f, operator.result)),
            _ => None,
        }
    };
    match (find("+"), find("-")) {
        (Some((add, result)), Some((subtract, _))) if result == left.oid || promotes(left, result) => {
            Ok(Some(RangeStep {
                add,
                subtract,
                types: CallTypes { args: vec![left, right], result: SqlType::plain(result) },
                result: type_of(SqlType::plain(result))?,
                offset: type_of(right)?,
            }))
        }
        _ => Err(SqlError::unsupported("RANGE with offset PRECEDING/FOLLOWING for these types")),
    }
}

/// Integers of any width compare with each other.
fn promotes(left: SqlType, result: catalog::Oid) -> bool {
    use catalog::types::oid;
    let integer = |t| matches!(t, oid::INT2 | oid::INT4 | oid::INT8);
    integer(left.oid) && integer(result)
}
