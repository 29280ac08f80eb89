//! Plans queries: WITH, the body, ORDER BY, LIMIT, in the order in which they run.

use super::PlanContext;
use super::compile::{call_types, type_of};
use super::join::{Built, Needed};
use super::node::{
    AggregateExpr, AggregateFnSlot, AggregateNode, CtePlan, CteQuery, HashColumn, LockTarget, Plan, PlanKind,
    PlanNode, SetCall, SetFunction, SortColumn,
};
use super::print::Names;
use super::rewrite;
use super::scope::{Layout, Scope, SlotKey};
use super::walk::{self, Seen};
use crate::bound::{
    AggregateCall, Body, Call, Cte, Distinct, Expr, Query, Select, SetOp, SetOperation, Source, SqlType,
};
use crate::functions::{CallTypes, Implementation};
use crate::row::expr::PhysicalExpr;
use crate::row::hash::HashClass;
use catalog::{Result, SqlError, SqlState};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Plans one statement.
pub struct Planner<'a> {
    cx: Option<PlanContext<'a>>,
    next_node: usize,
    next_slot: usize,
    next_subplan: usize,
    /// The outermost frame that what is being planned refers to; `usize::MAX` for none.
    lowest: usize,
    /// CTEs in scope, by the depth of the query that has them.
    ctes: FxHashMap<u32, Vec<CteState>>,
    /// Names of what is in scope, for EXPLAIN.
    pub(crate) names: Names,
}

/// CTEs put aside.
pub(crate) struct SavedCtes(Option<Vec<CteState>>);

/// A CTE that is not inlined.
#[derive(Clone)]
struct CteState {
    slot: usize,
    /// `None` while the recursive arm is being planned: the working table.
    plan: Option<Arc<CtePlan>>,
    name: String,
    width: usize,
    rows: f64,
    /// Outer rows where the owner stands.
    frames: usize,
    /// The outermost frame that it refers to.
    lowest: usize,
}

impl<'a> Planner<'a> {
    /// A planner for one statement.
    pub fn new(cx: PlanContext<'a>) -> Self {
        Planner {
            cx: Some(cx),
            next_node: 0,
            next_slot: 0,
            next_subplan: 0,
            lowest: usize::MAX,
            ctes: FxHashMap::default(),
            names: Names::default(),
        }
    }

    /// A planner that only compiles expressions without subqueries.
    pub fn for_expressions() -> Self {
        Planner {
            cx: None,
            next_node: 0,
            next_slot: 0,
            next_subplan: 0,
            lowest: usize::MAX,
            ctes: FxHashMap::default(),
            names: Names::default(),
        }
    }

    /// What planning can reach.
    pub(crate) fn context(&self) -> Result<PlanContext<'a>> {
        self.cx.ok_or_else(|| SqlError::internal("a query where only an expression was expected"))
    }

    /// The finished plan.
    pub fn finish(&self, root: PlanNode) -> Plan {
        Plan { root, cache_slots: self.next_slot, nodes: self.next_node }
    }

    pub(crate) fn new_slot(&mut self) -> usize {
        self.next_slot += 1;
        self.next_slot - 1
    }

    pub(crate) fn next_subplan(&mut self) -> usize {
        self.next_subplan += 1;
        self.next_subplan
    }

    /// Notes that what is being planned refers to an outer row.
    pub(crate) fn note_outer(&mut self, frame: usize) {
        self.lowest = self.lowest.min(frame);
    }

    pub(crate) fn replace_lowest(&mut self, lowest: usize) -> usize {
        std::mem::replace(&mut self.lowest, lowest)
    }

    /// A node.
    pub(crate) fn node(
        &mut self,
        kind: PlanKind,
        rows: f64,
        startup: f64,
        cost: f64,
        width: usize,
    ) -> PlanNode {
        self.next_node += 1;
        PlanNode {
            id: self.next_node - 1,
            rows: rows.max(1.0),
            startup,
            cost,
            width,
            kind,
            details: Vec::new(),
        }
    }

    /// A node over an input, at so much more per row.
    pub(crate) fn over(
        &mut self,
        kind: PlanKind,
        rows: f64,
        input: (f64, f64, usize),
        extra: f64,
    ) -> PlanNode {
        self.node(kind, rows, input.0, input.1 + extra, input.2)
    }

    /// Plans a query inside an expression at `depth`; says whether it refers to outer rows.
    pub(crate) fn plan_inner(
        &mut self,
        query: &Query,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<(PlanNode, bool)> {
        let here = scope.frames();
        let saved = std::mem::replace(&mut self.lowest, usize::MAX);
        let planned = self.plan_query(query, depth + 1, Some(scope));
        let lowest = std::mem::replace(&mut self.lowest, saved);
        if lowest < here {
            self.note_outer(lowest);
        }
        Ok((planned?, lowest <= here))
    }

    /// Compiles an expression over a scope whose parent is the row it stands in: what it refers to there is no outer row.
    pub(crate) fn compile_framed(&mut self, e: &Expr, depth: u32, scope: &Scope<'_>) -> Result<PhysicalExpr> {
        let here = scope.frames().saturating_sub(1);
        let saved = std::mem::replace(&mut self.lowest, usize::MAX);
        let compiled = self.compile(e, depth, scope);
        let lowest = std::mem::replace(&mut self.lowest, saved);
        if lowest < here {
            self.note_outer(lowest);
        }
        compiled
    }

    /// Keeps the rows of an uncorrelated plan for the execution.
    pub(crate) fn materialize_framed(&mut self, input: PlanNode, columns: usize, slot: usize) -> PlanNode {
        let (rows, startup, cost, width) = (input.rows, input.startup, input.cost, input.width);
        let kind = PlanKind::Unframe { input: Box::new(input), pop: 0, slot: Some(slot), width: columns };
        self.node(kind, rows, startup, cost, width)
    }

    /// Plans a query; the node puts out its output columns. `depth` counts the queries around; `outer` are the outer rows.
    pub fn plan_query(&mut self, query: &Query, depth: u32, outer: Option<&Scope<'_>>) -> Result<PlanNode> {
        let inlined;
        let query = if query.ctes.is_empty() {
            query
        } else {
            inlined = rewrite::inline_ctes(query);
            &inlined
        };
        if query.ctes.is_empty() {
            return self.plan_body(query, depth, outer);
        }
        let saved = self.take_ctes(depth);
        let planned = self.plan_with(query, depth, outer);
        self.restore_ctes(depth, saved);
        planned
    }

    /// Takes out what another query at this depth had in scope.
    pub(crate) fn take_ctes(&mut self, depth: u32) -> SavedCtes {
        SavedCtes(self.ctes.remove(&depth))
    }

    /// Puts it back.
    pub(crate) fn restore_ctes(&mut self, depth: u32, saved: SavedCtes) {
        self.ctes.remove(&depth);
        if let Some(saved) = saved.0 {
            self.ctes.insert(depth, saved);
        }
    }

    /// Cache slots and nodes so far.
    pub fn totals(&self) -> (usize, usize) {
        (self.next_slot, self.next_node)
    }

    /// A schema's name, for errors.
    pub fn schema_name(&self, schema: catalog::Oid) -> String {
        self.cx.map_or_else(String::new, |cx| cx.schema_name(schema))
    }

    fn plan_with(&mut self, query: &Query, depth: u32, outer: Option<&Scope<'_>>) -> Result<PlanNode> {
        let scope = self.enter_ctes(&query.ctes, depth, outer)?;
        let input = self.plan_body(query, depth, outer)?;
        Ok(self.close_ctes(input, scope))
    }

    /// Wraps a plan so that its CTEs are run and forgotten as they must be.
    pub fn close_ctes(&mut self, input: PlanNode, (clear, finish): CteScope) -> PlanNode {
        if clear.is_empty() && finish.is_empty() {
            return input;
        }
        let (rows, startup, cost, width) = (input.rows, input.startup, input.cost, input.width);
        let kind = PlanKind::Scope { input: Box::new(input), clear: clear.into(), finish: finish.into() };
        self.node(kind, rows, startup, cost, width)
    }

    /// Plans the CTEs of a query (or DML statement) at `depth` and brings them into scope. The result goes to [`Planner::close_ctes`].
    pub fn enter_ctes(&mut self, ctes: &[Cte], depth: u32, outer: Option<&Scope<'_>>) -> Result<CteScope> {
        let frames = outer.map_or(0, |o| o.frames() + 1);
        self.ctes.insert(depth, Vec::new());
        let (mut clear, mut finish) = (Vec::new(), Vec::new());
        for cte in ctes {
            let slot = self.new_slot();
            let saved = std::mem::replace(&mut self.lowest, usize::MAX);
            let is_dml = matches!(cte.query.body, Body::Dml(_));
            // A plain CTE nobody refers to is not run at all; its place is kept.
            let used = cte.references > 0 || is_dml;
            let plan = match used {
                true => Some(self.plan_cte(cte, depth, frames, outer)?),
                false => None,
            };
            let lowest = std::mem::replace(&mut self.lowest, saved);
            if lowest < frames {
                clear.push(slot);
            }
            if is_dml && let Some(plan) = &plan {
                finish.push((slot, Arc::clone(plan)));
            }
            let rows = plan.as_ref().map_or(1.0, |p| match &p.query {
                CteQuery::Plain(node) => node.rows,
                CteQuery::Recursive { start, step, .. } => start.rows + 10.0 * step.rows,
            });
            let state = CteState {
                slot,
                plan,
                name: cte.name.clone(),
                width: cte.query.columns.len(),
                rows,
                frames,
                lowest,
            };
            self.ctes.entry(depth).or_default().push(state);
        }
        Ok((clear, finish))
    }

    fn plan_cte(
        &mut self,
        cte: &Cte,
        depth: u32,
        frames: usize,
        outer: Option<&Scope<'_>>,
    ) -> Result<Arc<CtePlan>> {
        let width = cte.query.columns.len();
        let query = match &cte.query.body {
            Body::SetOperation(set) if cte.recursive => {
                if !cte.query.order_by.is_empty() || cte.query.limit.is_some() || cte.query.offset.is_some() {
                    return Err(SqlError::unsupported("ORDER BY or LIMIT in a recursive query"));
                }
                let table = self.new_slot();
                let start = self.plan_query(&set.left, depth + 2, outer)?;
                let state = CteState {
                    slot: table,
                    plan: None,
                    name: cte.name.clone(),
                    width,
                    rows: start.rows * 10.0,
                    frames,
                    lowest: frames,
                };
                self.ctes.entry(depth).or_default().push(state);
                let step = self.plan_query(&set.right, depth + 2, outer);
                if let Some(list) = self.ctes.get_mut(&depth) {
                    list.pop();
                }
                let distinct = match set.all {
                    true => None,
                    false => Some(hash_columns(&cte.query)?),
                };
                CteQuery::Recursive { start: Box::new(start), step: Box::new(step?), table, distinct }
            }
            _ => CteQuery::Plain(self.plan_query(&cte.query, depth + 1, outer)?),
        };
        Ok(Arc::new(CtePlan { name: cte.name.clone(), query, width }))
    }

    /// A reference to a CTE from an entry of the query at `depth`.
    pub(crate) fn plan_cte_reference(
        &mut self,
        up: usize,
        place: usize,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        let owner = depth.saturating_sub(up as u32);
        let state = self.ctes.get(&owner).and_then(|list| list.get(place)).cloned();
        let state = state.ok_or_else(|| SqlError::internal("a WITH query that is not in scope"))?;
        let frames = outer.map_or(0, |o| o.frames() + 1);
        if state.lowest != usize::MAX {
            self.note_outer(state.lowest);
        }
        let (rows, width) = (state.rows, state.width);
        let kind = match state.plan {
            Some(plan) => PlanKind::Cte { slot: state.slot, plan, pop: frames.saturating_sub(state.frames) },
            None => PlanKind::WorkTable { slot: state.slot, name: state.name, width },
        };
        Ok(self.node(kind, rows, 0.0, rows * 0.02, width * 8))
    }

    fn plan_body(&mut self, query: &Query, depth: u32, outer: Option<&Scope<'_>>) -> Result<PlanNode> {
        match &query.body {
            Body::Select(select) => self.plan_select(query, select, depth, outer),
            Body::SetOperation(set) => {
                let node = self.plan_set_operation(query, set, depth, outer)?;
                self.plan_tail(query, node, depth, outer)
            }
            Body::Values(rows) => {
                let node = self.plan_values(rows, depth, outer)?;
                self.plan_tail(query, node, depth, outer)
            }
            Body::Dml(dml) => {
                let plan = self.context()?.dml.plan(dml, self, depth, outer)?;
                Ok(self.node(PlanKind::Dml(plan), 1.0, 0.0, 1.0, 8))
            }
        }
    }

    /// VALUES, as rows of expressions without columns of their own.
    pub(crate) fn plan_values(
        &mut self,
        rows: &[Vec<Expr>],
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        let layout = Layout::new();
        let scope = Scope::new(&layout, outer);
        let compiled = rows.iter().map(|row| self.compile_list(row, depth, &scope));
        let compiled: Box<[Box<[PhysicalExpr]>]> = compiled.collect::<Result<_>>()?;
        let count = rows.len() as f64;
        let width = rows.first().map_or(0, Vec::len) * 8;
        Ok(self.node(PlanKind::Values(compiled), count, 0.0, count * 0.0125, width))
    }

    fn plan_set_operation(
        &mut self,
        query: &Query,
        set: &SetOperation,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        let columns = hash_columns(query)?;
        let left = self.plan_query(&set.left, depth + 1, outer)?;
        let right = self.plan_query(&set.right, depth + 1, outer)?;
        let (rows, cost, width) = (left.rows + right.rows, left.cost + right.cost, left.width);
        if set.op != SetOp::Union {
            let except = set.op == SetOp::Except;
            let estimate = if except { left.rows } else { left.rows.min(right.rows) };
            let kind = PlanKind::SetOperation {
                left: Box::new(left),
                right: Box::new(right),
                except,
                all: set.all,
                columns,
            };
            return Ok(self.node(kind, estimate, cost, cost + rows * 0.02, width));
        }
        // Chains of UNION ALL become one node.
        let mut inputs = Vec::new();
        for arm in [left, right] {
            match arm.kind {
                PlanKind::Append(list) if set.all => inputs.extend(list.into_vec()),
                _ => inputs.push(arm),
            }
        }
        let append = self.node(PlanKind::Append(inputs.into()), rows, 0.0, cost + rows * 0.005, width);
        if set.all {
            return Ok(append);
        }
        let kind = PlanKind::Distinct { input: Box::new(append), columns, sorted: false };
        Ok(self.node(kind, rows * 0.5, 0.0, cost + rows * 0.02, width))
    }

    /// ORDER BY and LIMIT of a body that is not a SELECT: over its output columns.
    fn plan_tail(
        &mut self,
        query: &Query,
        node: PlanNode,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        let keys = query
            .order_by
            .iter()
            .map(|k| {
                let typ = query.columns.get(k.column).map(|c| c.typ);
                let typ = typ.ok_or_else(|| SqlError::internal("ORDER BY of a column that is not there"))?;
                Ok(SortColumn {
                    slot: k.column,
                    typ: type_of(typ)?,
                    desc: k.desc,
                    nulls_first: k.nulls_first,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        self.sort_and_limit(query, node, keys, false, depth, outer)
    }

    /// Sort (unless sorted) and LIMIT.
    fn sort_and_limit(
        &mut self,
        query: &Query,
        mut node: PlanNode,
        keys: Vec<SortColumn>,
        sorted: bool,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        if !keys.is_empty() && !sorted {
            let bound = match &query.limit {
                Some(limit) if !query.with_ties => {
                    let layout = Layout::new();
                    let scope = Scope::new(&layout, outer);
                    let limit = self.compile(limit, depth, &scope)?;
                    let offset = query.offset.as_ref();
                    let offset = offset.map(|e| self.compile(e, depth, &scope)).transpose()?;
                    Some(Box::new((limit, offset)))
                }
                _ => None,
            };
            node = self.sort(node, keys.clone(), bound);
        }
        self.limit(query, node, keys, depth, outer)
    }

    pub(crate) fn sort(
        &mut self,
        node: PlanNode,
        keys: Vec<SortColumn>,
        bound: Option<Box<(PhysicalExpr, Option<PhysicalExpr>)>>,
    ) -> PlanNode {
        let (rows, width) = (node.rows, node.width);
        let startup = node.cost + sort_cost(rows);
        let kind = PlanKind::Sort { input: Box::new(node), keys: keys.into(), bound };
        self.node(kind, rows, startup, startup + rows * 0.0025, width)
    }

    fn limit(
        &mut self,
        query: &Query,
        node: PlanNode,
        keys: Vec<SortColumn>,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        if query.limit.is_none() && query.offset.is_none() {
            return Ok(node);
        }
        let layout = Layout::new();
        let scope = Scope::new(&layout, outer);
        let limit = query.limit.as_ref().map(|e| self.compile(e, depth, &scope)).transpose()?;
        let offset = query.offset.as_ref().map(|e| self.compile(e, depth, &scope)).transpose()?;
        let ties = query.with_ties.then(|| keys.into());
        let constant = |e: &Option<PhysicalExpr>, default: f64| match e {
            Some(PhysicalExpr::Const(catalog::Value::Int(v))) => *v as f64,
            Some(_) => default,
            None => f64::MAX,
        };
        let rows = constant(&limit, (node.rows * 0.1).max(1.0)).min(node.rows).max(1.0);
        let (startup, width) = (node.startup, node.width);
        let cost = startup + (node.cost - startup) * (rows / node.rows).min(1.0);
        let kind = PlanKind::Limit { input: Box::new(node), limit, offset, ties };
        Ok(self.node(kind, rows, startup, cost, width))
    }

    fn plan_select(
        &mut self,
        query: &Query,
        select: &Select,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        if !query.locking.is_empty() {
            return self.plan_locking_select(query, select, depth, outer);
        }
        let mut needed = Needed::new(select.entries.len());
        needed.collect(select);
        let desired = desired_order(query, select);
        let limit = match (&query.limit, &desired) {
            (Some(Expr::Const(catalog::Value::Int(n), _)), _) => Some(*n as f64),
            (Some(_), _) => Some(10.0),
            (None, _) => None,
        };
        let minmax = minmax_order(select);
        let wish = minmax.as_ref().or(desired.as_ref());
        let limit = if minmax.is_some() { Some(1.0) } else { limit };
        let plain = !select.grouped && select.windows.is_empty() && matches!(select.distinct, Distinct::None);
        let limit = if plain || minmax.is_some() { limit } else { None };
        let wish = wish.map(|w| (w.as_slice(), limit));
        let mut built = self.plan_from(
            &select.entries,
            &select.from,
            select.filter.as_ref(),
            &needed,
            wish,
            depth,
            outer,
        )?;
        if minmax.is_some() && built.sorted {
            built = self.first_not_null(built, select, depth, outer)?;
        }
        let mut sorted = built.sorted && plain && desired.is_some();
        let Built { mut node, mut layout, .. } = built;
        if select.grouped {
            (node, layout) = self.plan_group(select, node, layout, depth, outer)?;
            sorted = false;
        }
        if !select.windows.is_empty() {
            (node, layout) = self.plan_windows(select, node, layout, depth, outer)?;
            sorted = false;
        }
        if !select.set_functions.is_empty() {
            (node, layout) = self.plan_project_set(select, node, layout, depth, outer)?;
        }
        // Targets.
        let scope = Scope::new(&layout, outer);
        let exprs = self.compile_list(&select.targets, depth, &scope)?;
        let width = select.targets.len();
        node = self.project(node, exprs, layout.width());
        // DISTINCT
        let target_typ =
            |i: usize| select.targets.get(i).map_or(SqlType::plain(catalog::Oid(705)), Expr::typ);
        let keys = query
            .order_by
            .iter()
            .map(|k| {
                Ok(SortColumn {
                    slot: k.column,
                    typ: type_of(target_typ(k.column))?,
                    desc: k.desc,
                    nulls_first: k.nulls_first,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        match &select.distinct {
            Distinct::None => {}
            Distinct::All => {
                let columns = (0..select.visible).map(|slot| hash_column(slot, target_typ(slot)));
                let columns = columns.collect::<Result<_>>()?;
                node = self.distinct(node, columns, false);
            }
            Distinct::On(on) => {
                let mut sort = keys.clone();
                for slot in on {
                    if !sort.iter().any(|k| k.slot == *slot) {
                        let typ = type_of(target_typ(*slot))?;
                        sort.push(SortColumn { slot: *slot, typ, desc: false, nulls_first: false });
                    }
                }
                node = self.sort(node, sort, None);
                let columns = on.iter().map(|slot| hash_column(*slot, target_typ(*slot)));
                let columns = columns.collect::<Result<_>>()?;
                node = self.distinct(node, columns, true);
                sorted = true;
            }
        }
        let sort_key = self.sort_key(query, select, depth);
        node = self.sort_and_limit(query, node, keys, sorted, depth, outer)?;
        detail_sort(&mut node, sort_key);
        if width > select.visible {
            let exprs = (0..select.visible).map(PhysicalExpr::Slot).collect();
            node = self.project(node, exprs, width);
        }
        Ok(node)
    }

    fn sort_key(&self, query: &Query, select: &Select, depth: u32) -> String {
        let mut text = String::new();
        for k in &query.order_by {
            if let Some(target) = select.targets.get(k.column) {
                let target = match target {
                    Expr::GroupKey(i, _) => select.group_by.get(*i).unwrap_or(target),
                    other => other,
                };
                if !text.is_empty() {
                    text.push_str(", ");
                }
                text.push_str(&self.names.print(target, depth));
                if k.desc {
                    text.push_str(" DESC");
                }
                if k.nulls_first != k.desc {
                    text.push_str(if k.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
                }
            }
        }
        text
    }

    /// A projection, unless it changes nothing.
    pub(crate) fn project(&mut self, node: PlanNode, exprs: Box<[PhysicalExpr]>, width: usize) -> PlanNode {
        let same = exprs.len() == width
            && exprs.iter().enumerate().all(|(i, e)| matches!(e, PhysicalExpr::Slot(s) if *s == i));
        if same {
            return node;
        }
        let (rows, startup, cost) = (node.rows, node.startup, node.cost);
        let bytes = exprs.len() * 8;
        let extra = rows * 0.0025;
        // Two projections in a row become one where the lower one only passes values on.
        self.node(PlanKind::Project { input: Box::new(node), exprs }, rows, startup, cost + extra, bytes)
    }

    fn distinct(&mut self, node: PlanNode, columns: Box<[HashColumn]>, sorted: bool) -> PlanNode {
        let (rows, startup, cost, width) = (node.rows, node.startup, node.cost, node.width);
        let kind = PlanKind::Distinct { input: Box::new(node), columns, sorted };
        let groups = if rows > 200.0 { (rows * 0.1).max(200.0) } else { rows };
        self.node(kind, groups, startup, cost + rows * 0.015, width)
    }

    /// FOR UPDATE and so on: sort, lock, limit, then project, so that a row that changed meanwhile shows its new values.
    fn plan_locking_select(
        &mut self,
        query: &Query,
        select: &Select,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<PlanNode> {
        let mut needed = Needed::new(select.entries.len());
        needed.collect(select);
        for lock in &query.locking {
            for entry in &lock.entries {
                if let Some(e) = select.entries.get(*entry) {
                    match &e.source {
                        Source::Table(table) => needed.whole_row(*entry, table),
                        Source::Subquery(_) | Source::Cte(..) => {}
                        _ => {
                            return Err(SqlError::unsupported("row locking of anything but a table"));
                        }
                    }
                }
            }
        }
        let desired = desired_order(query, select);
        let wish = desired.as_ref().map(|w| (w.as_slice(), None));
        let built = self.plan_from(
            &select.entries,
            &select.from,
            select.filter.as_ref(),
            &needed,
            wish,
            depth,
            outer,
        )?;
        let sorted = built.sorted;
        let Built { mut node, layout, .. } = built;
        let scope = Scope::new(&layout, outer);
        let mut keys = Vec::new();
        if !query.order_by.is_empty() && !sorted {
            let mut exprs: Vec<PhysicalExpr> = (0..layout.width()).map(PhysicalExpr::Slot).collect();
            for k in &query.order_by {
                let target = select.targets.get(k.column);
                let target = target.ok_or_else(|| SqlError::internal("ORDER BY without a target"))?;
                keys.push(SortColumn {
                    slot: exprs.len(),
                    typ: type_of(target.typ())?,
                    desc: k.desc,
                    nulls_first: k.nulls_first,
                });
                exprs.push(self.compile(target, depth, &scope)?);
            }
            node = self.project(node, exprs.into(), layout.width());
            node = self.sort(node, keys.clone(), None);
        }
        let mut targets = Vec::new();
        for lock in &query.locking {
            for entry in &lock.entries {
                let Some(e) = select.entries.get(*entry) else { continue };
                let Source::Table(table) = &e.source else { continue };
                let at = *entry as u16;
                let first = layout.slot(SlotKey::Column(depth, at, 0));
                let key = layout.slot(SlotKey::RowKey(depth, at));
                if let (Some(first), Some(key)) = (first, key) {
                    targets.push(LockTarget {
                        table: Arc::clone(table),
                        layout: super::access::row_layout(table)?,
                        key,
                        columns: (first, table.columns.len()),
                        strength: lock.strength,
                        wait: lock.wait,
                    });
                }
            }
        }
        let mut conditions = Vec::new();
        conditions.extend(select.filter.iter());
        for item in &select.from {
            rewrite::inner_conditions(item, &mut conditions);
        }
        let recheck = match conditions.is_empty() {
            true => None,
            false => {
                let list = conditions.into_iter().map(|e| self.compile(e, depth, &scope));
                Some(PhysicalExpr::And(list.collect::<Result<_>>()?))
            }
        };
        if !targets.is_empty() {
            let estimate = (node.startup, node.cost, node.width);
            let rows = node.rows;
            let kind = PlanKind::Lock { input: Box::new(node), rows: targets.into(), recheck };
            node = self.over(kind, rows, estimate, rows * 0.01);
        }
        if query.with_ties {
            return Err(SqlError::unsupported("WITH TIES with row locking"));
        }
        node = self.limit(query, node, keys, depth, outer)?;
        let exprs =
            self.compile_list(select.targets.get(..select.visible).unwrap_or_default(), depth, &scope)?;
        Ok(self.project(node, exprs, usize::MAX))
    }

    /// min(x) and max(x) along an index: the first row with a value is the answer.
    fn first_not_null(
        &mut self,
        built: Built,
        select: &Select,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let Some(arg) = select.aggregates.first().and_then(|a| a.args.first()) else { return Ok(built) };
        let scope = Scope::new(&built.layout, outer);
        let arg = self.compile(arg, depth, &scope)?;
        let (startup, width) = (built.node.startup, built.node.width);
        let first = startup + (built.node.cost - startup) / built.node.rows;
        let filter = PlanKind::Filter {
            input: Box::new(built.node),
            predicate: PhysicalExpr::IsNotNull(Box::new(arg)),
            once: false,
        };
        let filter = self.node(filter, 1.0, startup, first, width);
        let kind = PlanKind::Limit {
            input: Box::new(filter),
            limit: Some(PhysicalExpr::Const(catalog::Value::Int(1))),
            offset: None,
            ties: None,
        };
        let node = self.node(kind, 1.0, startup, first, width);
        Ok(Built { node, ..built })
    }

    fn plan_group(
        &mut self,
        select: &Select,
        input: PlanNode,
        below: Layout,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<(PlanNode, Layout)> {
        let scope = Scope::new(&below, outer);
        let mut layout = Layout::new();
        let mut keys = Vec::with_capacity(select.group_by.len());
        for (i, key) in select.group_by.iter().enumerate() {
            keys.push((self.compile(key, depth, &scope)?, HashClass::of(type_of(key.typ())?)));
            let slot = layout.push(SlotKey::GroupKey(depth, i));
            // Without grouping sets a column that is a key may also be named plainly (in a subquery).
            if let Expr::Column(c) = key
                && c.level == 0
            {
                layout.bind(SlotKey::Column(depth, c.entry, c.column), slot);
            }
        }
        let mut aggregates = Vec::with_capacity(select.aggregates.len());
        for (i, call) in select.aggregates.iter().enumerate() {
            aggregates.push(self.compile_aggregate(call, depth, &scope)?);
            layout.push(SlotKey::Aggregate(depth, i));
        }
        // Columns that depend on the keys, used above the grouping.
        let mut carried = Vec::new();
        let mut columns = Vec::new();
        let mut note = |seen: Seen<'_>, level: u16| {
            if let Seen::Expr(Expr::Column(c)) = seen
                && c.level == level
                && c.entry != super::scope::SUBQUERY_ENTRY
            {
                columns.push((c.entry, c.column));
            }
        };
        select.targets.iter().chain(&select.having).for_each(|e| walk::expr(e, 0, &mut note));
        for w in &select.windows {
            let parts = w.call.args.iter().chain(&w.call.filter).chain(&w.partition_by);
            parts.chain(w.order_by.iter().map(|o| &o.0)).for_each(|e| walk::expr(e, 0, &mut note));
        }
        select.set_functions.iter().flat_map(|c| &c.args).for_each(|e| walk::expr(e, 0, &mut note));
        for (entry, column) in columns {
            let key = SlotKey::Column(depth, entry, column);
            if layout.slot(key).is_none()
                && let Some(slot) = below.slot(key)
            {
                carried.push(PhysicalExpr::Slot(slot));
                layout.push(key);
            }
        }
        layout.push(SlotKey::GroupingMask(depth));
        let (rows, cost, width) = (input.rows, input.cost, layout.width() * 8);
        let groups = match (keys.len(), &select.grouping_sets) {
            (0, None) => 1.0,
            (_, Some(sets)) => (rows * 0.1).max(sets.len() as f64),
            _ => self.groups(select, &select.group_by, rows),
        };
        let node = AggregateNode {
            input,
            keys: keys.into(),
            sets: select
                .grouping_sets
                .as_ref()
                .map(|sets| sets.iter().map(|s| s.as_slice().into()).collect()),
            aggregates: aggregates.into(),
            carried: carried.into(),
            sorted: false,
        };
        let cost = cost + rows * 0.0125;
        let mut node =
            self.node(PlanKind::Aggregate(Box::new(node)), groups, cost, cost + groups * 0.01, width);
        let group_key: Vec<String> = select.group_by.iter().map(|e| self.names.print(e, depth)).collect();
        if !group_key.is_empty() {
            node.details.push(("Group Key", group_key.join(", ")));
        }
        if let Some(having) = &select.having {
            let text = self.names.print(having, depth);
            let scope = Scope::new(&layout, outer);
            let predicate = self.compile(having, depth, &scope)?;
            let estimate = (node.startup, node.cost, node.width);
            let kind = PlanKind::Filter { input: Box::new(node), predicate, once: false };
            node = self.over(kind, groups * 0.333, estimate, groups * 0.0025);
            node.details.push(("Filter", text));
        }
        Ok((node, layout))
    }

    /// How many different values some expressions have among so many joined rows (`estimate_num_groups`).
    fn groups(&self, select: &Select, keys: &[Expr], rows: f64) -> f64 {
        let mut product = 1.0;
        let mut clamp = rows;
        let mut columns: Vec<(u16, u16)> = Vec::new();
        for key in keys {
            let plain = match rewrite::strip(key) {
                Expr::Column(c) if c.level == 0 => Some((c.entry, c.column)),
                _ => None,
            };
            let table = plain.and_then(|(entry, column)| {
                match select.entries.get(usize::from(entry)).map(|e| &e.source) {
                    Some(Source::Table(table)) => Some((table, entry, column)),
                    _ => None,
                }
            });
            let Some((table, entry, column)) = table else {
                product *= 200.0;
                continue;
            };
            if columns.contains(&(entry, column)) {
                continue;
            }
            // Several columns of a table have fewer combinations than they might.
            if columns.iter().any(|(e, _)| *e == entry) {
                clamp = rows * 0.1;
            }
            columns.push((entry, column));
            product *= self.estimator(table, entry).distinct(column);
        }
        let most = clamp.max(rows.min(200.0));
        f64::min(product, most).clamp(1.0, rows.max(1.0))
    }

    /// Compiles an aggregate call over the rows below the grouping.
    pub(crate) fn compile_aggregate(
        &mut self,
        call: &AggregateCall,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<AggregateExpr> {
        let Implementation::Aggregate(function) = call.implementation else {
            return Err(SqlError::internal(format!("function {} is not an aggregate", call.proc.name)));
        };
        let types = CallTypes { args: call.args.iter().map(Expr::typ).collect(), result: call.typ };
        let distinct = match call.distinct {
            true => {
                let classes =
                    call.args.iter().map(|e| Ok(HashClass::of(type_of(e.typ())?))).collect::<Result<_>>()?;
                Some(classes)
            }
            false => None,
        };
        let mut order = Vec::new();
        for (i, (e, desc, nulls_first)) in call.order_by.iter().enumerate() {
            let column = SortColumn {
                slot: call.args.len() + i,
                typ: type_of(e.typ())?,
                desc: *desc,
                nulls_first: *nulls_first,
            };
            order.push((self.compile(e, depth, scope)?, column));
        }
        // DISTINCT sorts by the arguments where nothing else is said.
        if call.distinct && order.is_empty() {
            for (i, e) in call.args.iter().enumerate() {
                let typ = type_of(e.typ())?;
                if typ.encode_key.is_some() {
                    let column =
                        SortColumn { slot: call.args.len() + i, typ, desc: false, nulls_first: false };
                    order.push((self.compile(e, depth, scope)?, column));
                }
            }
        }
        Ok(AggregateExpr {
            name: call.proc.name.clone(),
            function: AggregateFnSlot(function),
            types,
            direct: self.compile_list(&call.direct, depth, scope)?,
            args: self.compile_list(&call.args, depth, scope)?,
            distinct,
            order: order.into(),
            filter: call.filter.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?,
        })
    }

    fn plan_project_set(
        &mut self,
        select: &Select,
        input: PlanNode,
        below: Layout,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<(PlanNode, Layout)> {
        let mut layout = below.clone();
        let scope = Scope::new(&below, outer);
        let mut functions: Vec<SetCall> = Vec::new();
        let mut nested = false;
        for (i, call) in select.set_functions.iter().enumerate() {
            // A call whose argument is another set function's value must run after it.
            let mut inner = false;
            call.args.iter().for_each(|e| {
                walk::expr(e, 0, &mut |seen, level| {
                    inner |= level == 0 && matches!(seen, Seen::Expr(Expr::SetFunction(..)));
                });
            });
            nested |= inner;
            if nested {
                return Err(SqlError::unsupported("a set-returning function as argument of another"));
            }
            functions.push(self.compile_set_call(call, 1, depth, &scope)?);
            layout.push(SlotKey::SetFunction(depth, i));
        }
        let rows = input.rows * 10.0;
        let estimate = (input.startup, input.cost, input.width + functions.len() * 8);
        let kind = PlanKind::ProjectSet { input: Box::new(input), functions: functions.into() };
        Ok((self.over(kind, rows, estimate, rows * 0.01), layout))
    }

    /// Compiles a set-returning call.
    pub(crate) fn compile_set_call(
        &mut self,
        call: &Call,
        columns: usize,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<SetCall> {
        let args = self.compile_list(&call.args, depth, scope)?;
        let out = call.proc.out_columns.iter();
        // A polymorphic column's own type is not known here; such functions put out records themselves.
        let column_types =
            out.map(|(_, typ)| catalog::types::by_oid(*typ).unwrap_or(&catalog::types::text::TEXT)).collect();
        let function = match call.implementation {
            Implementation::Set(f) => SetFunction::Set(f),
            _ => SetFunction::Scalar(self.compile(&Expr::Call(Box::new(call.clone())), depth, scope)?),
        };
        Ok(SetCall {
            function,
            strict: call.proc.strict,
            types: call_types(call),
            args,
            columns,
            column_types,
            name: call.proc.name.clone(),
        })
    }
}

/// Says by what a sort (under its limit) sorts.
fn detail_sort(node: &mut PlanNode, text: String) {
    match &mut node.kind {
        PlanKind::Sort { .. } => node.details.push(("Sort Key", text)),
        PlanKind::Limit { input, .. } => detail_sort(input, text),
        _ => {}
    }
}

/// Cache slots to clear, and data-modifying CTEs to finish.
pub type CteScope = (Vec<usize>, Vec<(usize, Arc<CtePlan>)>);

/// What sorting so many rows costs.
pub fn sort_cost(rows: f64) -> f64 {
    rows * rows.max(2.0).log2() * 0.005
}

fn hash_column(slot: usize, typ: SqlType) -> Result<HashColumn> {
    let typ = type_of(typ)?;
    let class = HashClass::of(typ);
    if matches!(class, HashClass::Text(_)) {
        return Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("could not identify an equality operator for type {}", typ.name),
        ));
    }
    Ok(HashColumn { slot, class })
}

fn hash_columns(query: &Query) -> Result<Box<[HashColumn]>> {
    query.columns.iter().enumerate().map(|(slot, c)| hash_column(slot, c.typ)).collect()
}

/// An order by columns of range entries.
pub type ColumnOrder = Vec<(u16, u16, bool, bool)>;

/// The order that ORDER BY wants, where it is by plain columns.
fn desired_order(query: &Query, select: &Select) -> Option<ColumnOrder> {
    // With a limit any order will do, and how many rows are wanted matters.
    if query.order_by.is_empty() && query.limit.is_none() || select.grouped || !select.windows.is_empty() {
        return None;
    }
    if !matches!(select.distinct, Distinct::None) {
        return None;
    }
    let columns = query.order_by.iter().map(|k| match rewrite::strip(select.targets.get(k.column)?) {
        Expr::Column(c) if c.level == 0 => Some((c.entry, c.column, k.desc, k.nulls_first)),
        _ => None,
    });
    columns.collect()
}

/// The order in which the first row answers the one min or max of an ungrouped query over one table.
fn minmax_order(select: &Select) -> Option<ColumnOrder> {
    let [call] = select.aggregates.as_slice() else { return None };
    let plain = select.group_by.is_empty() && select.grouping_sets.is_none() && select.entries.len() == 1;
    if !plain || call.filter.is_some() || !call.order_by.is_empty() || call.distinct {
        return None;
    }
    let desc = match call.proc.name.as_str() {
        "min" => false,
        "max" => true,
        _ => return None,
    };
    match call.args.as_slice() {
        [arg] => match rewrite::strip(arg) {
            // NULLs are skipped by a filter, so their place does not matter: the index's own is taken.
            Expr::Column(c) if c.level == 0 => Some(vec![(c.entry, c.column, desc, desc)]),
            _ => None,
        },
        _ => None,
    }
}
