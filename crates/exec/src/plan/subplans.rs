//! The subqueries in a node's expressions, for EXPLAIN.

use super::node::{
    AccessPath, KeyEqual, KeyRange, PlanKind, PlanNode, SetCall, SetFunction, SubPlan, SubPlanKind,
};
use crate::row::expr::{ArrayOperand, PhysicalExpr, SubscriptNode};

/// Calls `f` with each subquery of a node's own expressions (not of its inputs').
pub fn for_each_subplan<'p>(node: &'p PlanNode, f: &mut dyn FnMut(&'p SubPlan)) {
    let mut e = |expr: &'p PhysicalExpr| walk(expr, f);
    match &node.kind {
        PlanKind::Result
        | PlanKind::Empty
        | PlanKind::Sort { .. }
        | PlanKind::Distinct { .. }
        | PlanKind::Append(_)
        | PlanKind::SetOperation { .. }
        | PlanKind::Cte { .. }
        | PlanKind::WorkTable { .. }
        | PlanKind::Scope { .. }
        | PlanKind::Dml(_)
        | PlanKind::Relational(_)
        | PlanKind::Unframe { .. } => {}
        PlanKind::Scan(scan) => {
            match &scan.path {
                AccessPath::Full(_) => {}
                AccessPath::Key { range, .. } | AccessPath::Index { range, .. } => key_range(range, &mut e),
            }
            scan.filter.iter().for_each(e);
        }
        PlanKind::System(system) => {
            system.equal.iter().for_each(|(_, x)| e(x));
            system.filter.iter().for_each(e);
        }
        PlanKind::Filter { predicate, .. } => e(predicate),
        PlanKind::Project { exprs, .. } => exprs.iter().for_each(e),
        PlanKind::Limit { limit, offset, .. } => limit.iter().chain(offset).for_each(e),
        PlanKind::Aggregate(a) => {
            a.keys.iter().for_each(|(x, _)| e(x));
            a.carried.iter().for_each(&mut e);
            for call in &a.aggregates {
                let order = call.order.iter().map(|(x, _)| x);
                call.direct.iter().chain(&call.args).chain(&call.filter).chain(order).for_each(&mut e);
            }
        }
        PlanKind::Window(w) => {
            for call in &w.calls {
                call.args.iter().chain(&call.filter).for_each(&mut e);
            }
        }
        PlanKind::ProjectSet { functions, .. } => functions.iter().for_each(|c| set_call(c, &mut e)),
        PlanKind::NestedLoop(join) => join.predicate.iter().for_each(e),
        PlanKind::HashJoin(join) => {
            join.left_keys.iter().chain(&join.right_keys).chain(&join.predicate).for_each(e);
        }
        PlanKind::Values(rows) => rows.iter().flat_map(|r| r.iter()).for_each(e),
        PlanKind::Function(function) => {
            function.calls.iter().for_each(|c| set_call(c, &mut e));
            function.filter.iter().for_each(e);
        }
        // The condition that is asked again is the one of the scans.
        PlanKind::Lock { .. } => {}
    }
}

fn set_call<'p>(call: &'p SetCall, e: &mut dyn FnMut(&'p PhysicalExpr)) {
    match &call.function {
        SetFunction::Scalar(x) => e(x),
        SetFunction::Set(_) => call.args.iter().for_each(e),
    }
}

fn key_range<'p>(range: &'p KeyRange, e: &mut dyn FnMut(&'p PhysicalExpr)) {
    for equal in &range.equal {
        match equal {
            KeyEqual::Value(x, _) | KeyEqual::Array(x, ..) => e(x),
            KeyEqual::List(list, _) => list.iter().for_each(&mut *e),
            KeyEqual::Null => {}
        }
    }
    range.spans.iter().flat_map(|s| s.lower.iter().chain(&s.upper)).for_each(|b| e(&b.value));
}

/// Calls `f` with each subquery in an expression.
pub fn walk<'p>(expr: &'p PhysicalExpr, f: &mut dyn FnMut(&'p SubPlan)) {
    match expr {
        PhysicalExpr::Const(_)
        | PhysicalExpr::Slot(_)
        | PhysicalExpr::Outer(..)
        | PhysicalExpr::Param(_)
        | PhysicalExpr::CaseOperand
        | PhysicalExpr::SlotIntConst(..)
        | PhysicalExpr::Grouping(..)
        | PhysicalExpr::NextValue(_) => {}
        PhysicalExpr::Compare(_, _, sides)
        | PhysicalExpr::Arithmetic(_, sides, _)
        | PhysicalExpr::Distinct(sides, _)
        | PhysicalExpr::ArrayCast(sides, ..) => {
            walk(&sides.0, f);
            walk(&sides.1, f);
        }
        PhysicalExpr::NullIf(parts, _) => {
            walk(&parts.0, f);
            walk(&parts.1, f);
            walk(&parts.2, f);
        }
        PhysicalExpr::Call(call) => call.args.iter().for_each(|e| walk(e, f)),
        PhysicalExpr::And(list)
        | PhysicalExpr::Or(list)
        | PhysicalExpr::Coalesce(list)
        | PhysicalExpr::MinMax(_, list, _)
        | PhysicalExpr::Array(list, ..)
        | PhysicalExpr::Row(list, _) => list.iter().for_each(|e| walk(e, f)),
        PhysicalExpr::Not(e)
        | PhysicalExpr::IsNull(e)
        | PhysicalExpr::IsNotNull(e)
        | PhysicalExpr::RowIsNull(e, _)
        | PhysicalExpr::BooleanTest(e, _)
        | PhysicalExpr::IoCast(e, ..)
        | PhysicalExpr::Typmod(e, ..)
        | PhysicalExpr::Field(e, _) => walk(e, f),
        PhysicalExpr::Case(case) => {
            case.operand.iter().chain(&case.otherwise).for_each(|e| walk(e, f));
            for (when, then) in &case.branches {
                walk(when, f);
                walk(then, f);
            }
        }
        PhysicalExpr::ScalarArray(node) => {
            walk(&node.left, f);
            match &node.right {
                ArrayOperand::List(list) => list.iter().for_each(|e| walk(e, f)),
                ArrayOperand::Array(e, _) => walk(e, f),
                ArrayOperand::SortedInts(_) => {}
            }
        }
        PhysicalExpr::Subscript(e, subscripts, _) => {
            walk(e, f);
            for s in subscripts {
                match s {
                    SubscriptNode::Index(e) => walk(e, f),
                    SubscriptNode::Slice(low, high) => low.iter().chain(high).for_each(|e| walk(e, f)),
                }
            }
        }
        PhysicalExpr::RowCompare(node) => {
            for (l, r, _) in &node.columns {
                walk(l, f);
                walk(r, f);
            }
        }
        PhysicalExpr::SubPlan(plan) => {
            f(plan);
            match &plan.kind {
                SubPlanKind::Quantified { test, .. } => walk(test, f),
                SubPlanKind::Hashed { left, .. } => left.iter().for_each(|e| walk(e, f)),
                SubPlanKind::Exists | SubPlanKind::Scalar | SubPlanKind::Array(..) => {}
            }
        }
    }
}
