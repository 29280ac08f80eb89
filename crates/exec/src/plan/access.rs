//! The way to a table's rows: which index, which range of it, in which direction.

use super::estimate::Estimator;
use super::join::{Conjunct, EntrySet, Needed, Wish};
use super::node::{
    AccessPath, Coercion, Covering, KeyBound, KeyEqual, KeyRange, KeySpan, PlanKind, PlanNode, ScanNode,
};
use super::rewrite;
use super::scope::{Layout, Scope, SlotKey};
use super::select::{Planner, sort_cost};
use super::walk::{self, SeenMut};
use crate::bound::{Call, CallForm, Expr, IndexRule, RangeEntry};
use crate::row::expr::PhysicalExpr;
use crate::row::index_entry::{IndexLayout, column_type};
use catalog::key::KeyColumn;
use catalog::object::{IndexKey, Table};
use catalog::pg::{LOOKUP, PG_AMOP};
use catalog::row::RowLayout;
use catalog::row_reader::RowReader;
use catalog::types::oid;
use catalog::{Oid, Result, Value};
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};
use storage::Direction;

/// The layout of a table's stored rows. Dropped columns of types that are gone still read, by their physical form.
pub fn row_layout(table: &Table) -> Result<Arc<RowLayout>> {
    let columns =
        table.columns.iter().map(|c| Ok(column_type(c.typ)?.physical)).collect::<Result<Vec<_>>>()?;
    let missing = table.columns.iter().map(|c| c.missing.clone()).collect();
    Ok(Arc::new(RowLayout::new(columns, missing)))
}

/// How many leading columns of `columns` an expression over a row may read; all for kinds that are not looked into.
fn columns_read(e: &PhysicalExpr, columns: usize) -> usize {
    let most = |list: &[PhysicalExpr]| list.iter().map(|e| columns_read(e, columns)).max().unwrap_or(0);
    match e {
        PhysicalExpr::Const(_) | PhysicalExpr::Param(_) | PhysicalExpr::Outer(..) => 0,
        PhysicalExpr::Slot(slot) | PhysicalExpr::SlotIntConst(_, slot, _) => (slot + 1).min(columns),
        PhysicalExpr::Compare(_, _, sides) | PhysicalExpr::Arithmetic(_, sides, _) => {
            columns_read(&sides.0, columns).max(columns_read(&sides.1, columns))
        }
        PhysicalExpr::Call(call) => most(&call.args),
        PhysicalExpr::And(list) | PhysicalExpr::Or(list) => most(list),
        PhysicalExpr::Not(e) | PhysicalExpr::IsNull(e) | PhysicalExpr::IsNotNull(e) => {
            columns_read(e, columns)
        }
        _ => columns,
    }
}

/// The B-tree strategies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

impl Strategy {
    pub(super) fn commuted(self) -> Self {
        match self {
            Strategy::Less => Strategy::Greater,
            Strategy::LessEqual => Strategy::GreaterEqual,
            Strategy::Equal => Strategy::Equal,
            Strategy::GreaterEqual => Strategy::LessEqual,
            Strategy::Greater => Strategy::Less,
        }
    }
}

/// B-tree operators by OID, and by the OID of their function.
struct Operators {
    by_operator: FxHashMap<Oid, Strategy>,
    by_function: FxHashMap<Oid, Strategy>,
}

static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let t = &*PG_AMOP;
    let (method, strategy, operator) =
        (t.column("amopmethod"), t.column("amopstrategy"), t.column("amopopr"));
    let mut by_operator = FxHashMap::default();
    let mut by_function = FxHashMap::default();
    for row in &t.rows {
        let field = |i: usize| row.get(i).and_then(|v| v.as_deref()).unwrap_or_default();
        if field(method) != "403" {
            continue;
        }
        let strategy = match field(strategy) {
            "1" => Strategy::Less,
            "2" => Strategy::LessEqual,
            "3" => Strategy::Equal,
            "4" => Strategy::GreaterEqual,
            "5" => Strategy::Greater,
            _ => continue,
        };
        let Ok(operator) = field(operator).parse().map(Oid) else { continue };
        by_operator.insert(operator, strategy);
        if let Some(o) = LOOKUP.operator(operator) {
            by_function.insert(o.code, strategy);
        }
    }
    Operators { by_operator, by_function }
});

/// What a call compares as, if it is a B-tree operator.
pub(crate) fn strategy(call: &Call) -> Option<Strategy> {
    if let CallForm::Operator(operator) = call.form
        && let Some(strategy) = OPERATORS.by_operator.get(&operator)
    {
        return Some(*strategy);
    }
    OPERATORS.by_function.get(&call.proc.oid).copied()
}

/// A condition `key = value` as chosen.
#[derive(Clone)]
enum Equal<'q> {
    Value(&'q Expr, Coercion),
    /// Elements, or one array-valued expression.
    List(Vec<&'q Expr>, Coercion),
    Array(&'q Expr, Coercion),
    Null,
}

/// Values of the column behind the equalities, between two bounds.
#[derive(Clone, Default)]
struct Span<'q> {
    lower: Option<Range<'q>>,
    upper: Option<Range<'q>>,
}

impl<'q> Span<'q> {
    /// The estimated share of the rows that lies in it, if it is of a column.
    fn selectivity(&self, column: Option<u16>, estimator: &Estimator<'_>) -> f64 {
        let bound = |r: &Option<Range<'q>>| r.as_ref().map(|r| (r.value, r.inclusive));
        match (&self.lower, &self.upper) {
            (Some(lower), Some(upper)) if std::ptr::eq(lower.value, upper.value) => match column {
                Some(column) => estimator.equal(column, constant(lower.value)),
                None => 0.005,
            },
            // PostgreSQL's guesses are the same for an expression and for a column that it knows nothing of.
            _ => estimator.range(column.unwrap_or(u16::MAX), bound(&self.lower), bound(&self.upper)),
        }
    }
}

#[derive(Clone)]
struct Range<'q> {
    value: &'q Expr,
    inclusive: bool,
    coercion: Coercion,
}

impl Choice<'_> {
    /// The conjuncts that the range answers.
    pub(crate) fn conditions(&self) -> &[usize] {
        &self.conditions
    }

    /// The leading clustering column, if the rows come in the order of their keys.
    pub(crate) fn ascending(&self, table: &Table, entry: u16, indexes: &[IndexRule]) -> Option<(u16, u16)> {
        let by_key = match self.index {
            None => true,
            Some(at) => indexes.get(at).is_some_and(|rule| rule.index.relation == 0) && self.equal.is_empty(),
        };
        let column = table.cluster.first().filter(|_| by_key && self.direction == Direction::Forward)?;
        Some((entry, *column))
    }

    /// For one row by its clustering key of one column: the column of another entry that is the key.
    pub(crate) fn follows(&self, indexes: &[IndexRule]) -> Option<(u16, u16)> {
        let rule = indexes.get(self.index?).filter(|rule| self.point && rule.index.relation == 0)?;
        match self.equal.as_slice() {
            [Equal::Value(value, _)] if rule.index.columns.len() == 1 => match rewrite::strip(value) {
                Expr::Column(c) if c.level == 0 => Some((c.entry, c.column)),
                _ => None,
            },
            _ => None,
        }
    }

    /// At most one row per combination of values.
    pub(crate) fn is_point(&self) -> bool {
        self.point
    }
}

/// A way to a table's rows, before it is built.
pub(crate) struct Choice<'q> {
    /// Place among the table's indexes; `None` is the full scan.
    index: Option<usize>,
    equal: Vec<Equal<'q>>,
    spans: Vec<Span<'q>>,
    conditions: Vec<usize>,
    direction: Direction,
    covering: bool,
    point: bool,
    /// Rows after all conditions.
    pub(crate) rows: f64,
    pub(crate) startup: f64,
    pub(crate) cost: f64,
    /// In the order wished for.
    pub(crate) sorted: bool,
}

impl<'a> Planner<'a> {
    /// Chooses among full scan and indexes. `conjuncts` concern the entry and entries of `available`, whose values are known.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn choose<'q>(
        &self,
        table: &Arc<Table>,
        entry: u16,
        conjuncts: &[&'q Conjunct],
        available: &EntrySet,
        needed: &Needed,
        wish: Wish<'_>,
        indexes: &[IndexRule],
    ) -> Choice<'q> {
        let (rows, bytes) = self.context().map_or((0, 0), |cx| cx.size(table.relation));
        let total = (rows as f64).max(10.0);
        let pages = (bytes as f64 / 8192.0).max(1.0);
        let quals = conjuncts.len() as f64;
        let estimator = self.estimator(table, entry);
        let selectivity = estimator.all(conjuncts.iter().map(|c| &c.expr)).max(1e-9);
        let filtered = (total * selectivity).max(1.0);
        let wanted = needed.columns(usize::from(entry));
        let weigh = |choice: &Choice<'_>| {
            let mut cost = choice.cost;
            if let Some((_, limit)) = wish {
                if choice.sorted {
                    if let Some(limit) = limit {
                        let share = (limit / choice.rows).min(1.0);
                        cost = choice.startup + (cost - choice.startup) * share;
                    }
                } else {
                    cost += sort_cost(choice.rows);
                }
            }
            cost
        };
        let full_cost = pages + total * (0.01 + 0.0025 * quals);
        let clustered = !table.cluster.is_empty();
        let mut best = Choice {
            index: None,
            equal: Vec::new(),
            spans: Vec::new(),
            conditions: Vec::new(),
            direction: Direction::Forward,
            covering: false,
            point: false,
            rows: filtered,
            startup: 0.0,
            cost: full_cost,
            sorted: wish.is_none_or(|(order, _)| order.is_empty()),
        };
        let mut best_cost = weigh(&best);
        for (at, rule) in indexes.iter().enumerate() {
            let primary = rule.index.relation == 0;
            if primary && !clustered {
                continue;
            }
            if rule.predicate.as_ref().is_some_and(|p| !implied(p, entry, conjuncts)) {
                continue;
            }
            let mut choice = match_index(rule, entry, conjuncts, available);
            let complete = choice.equal.len() == rule.index.columns.len();
            let combinations: f64 = choice
                .equal
                .iter()
                .map(|e| match e {
                    Equal::List(list, _) => list.len() as f64,
                    Equal::Array(..) => 10.0,
                    Equal::Value(..) | Equal::Null => 1.0,
                })
                .product();
            choice.point = complete
                && rule.index.unique
                && (rule.index.nulls_not_distinct || !choice.equal.iter().any(|e| matches!(e, Equal::Null)));
            let matched = if choice.point {
                combinations.min(total)
            } else {
                let mut fraction: f64 = 1.0;
                for (i, place) in choice.conditions.iter().take(choice.equal.len()).enumerate() {
                    fraction *= match conjuncts.get(*place) {
                        Some(c) if estimator.is_informed() => estimator.selectivity(&c.expr),
                        // Each further equality narrows less than the first.
                        _ if i == 0 => 0.005f64.max(1.0 / total),
                        _ => 0.1,
                    };
                }
                if !choice.spans.is_empty() {
                    let column = match rule.index.columns.get(choice.equal.len()).map(|c| &c.key) {
                        Some(IndexKey::Column(place)) => Some(*place),
                        _ => None,
                    };
                    let spans = choice.spans.iter().map(|span| span.selectivity(column, &estimator));
                    fraction *= spans.sum::<f64>().min(1.0);
                }
                let lists = if estimator.is_informed() { 1.0 } else { combinations };
                (total * fraction * lists).max(1.0).min(total)
            };
            let used = choice.conditions.len() as f64;
            let rest = (quals - used).max(0.0);
            choice.covering =
                !primary && !needed.wants_row(usize::from(entry)) && covers(rule, table, &wanted);
            let fetch = if primary || choice.covering { 0.0 } else { 0.25 };
            let step = if primary { 0.0125 } else { 0.01 };
            choice.rows = if choice.point {
                (matched * if rest > 0.0 { 0.5 } else { 1.0 }).max(1.0)
            } else if estimator.is_informed() {
                filtered.min(matched)
            } else {
                let others = conjuncts.iter().enumerate().filter(|(i, _)| !choice.conditions.contains(i));
                (matched * estimator.all(others.map(|(_, c)| &c.expr))).max(1.0)
            };
            choice.startup = 0.29;
            choice.cost = 0.29 * combinations.max(1.0) * choice.spans.len().max(1) as f64
                + matched * (step + fetch + 0.0025 * rest)
                + if primary { pages * matched / total } else { 0.0 };
            choice.index = Some(at);
            match wish {
                None => choice.sorted = true,
                Some((order, _)) => {
                    if let Some(direction) = provides(rule, entry, &choice.equal, order) {
                        choice.sorted = true;
                        choice.direction = direction;
                    }
                }
            }
            let useful = !choice.equal.is_empty()
                || !choice.spans.is_empty()
                || (choice.sorted && wish.is_some_and(|(order, _)| !order.is_empty()))
                || choice.covering
                || rule.predicate.is_some();
            if !useful {
                continue;
            }
            let cost = weigh(&choice);
            if cost < best_cost {
                best_cost = cost;
                best = choice;
            }
        }
        if best.index.is_none() && clustered && wish.is_none() {
            best.sorted = true;
        }
        best
    }

    /// Estimates for a table that is an entry of the query being planned.
    pub(super) fn estimator<'t>(&self, table: &'t Table, entry: u16) -> Estimator<'t> {
        let cx = self.context().ok();
        let rows = cx.map_or(0, |cx| cx.size(table.relation).0);
        Estimator::new(cx.as_ref(), table, entry, (rows as f64).max(10.0))
    }

    /// Builds the scan that was chosen. Conjuncts that the range does not answer become its filter. The scan's own layout is the first
    /// of the scope.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn build_scan(
        &mut self,
        range_entry: &RangeEntry,
        table: &Arc<Table>,
        entry: u16,
        choice: &Choice<'_>,
        conjuncts: &[&Conjunct],
        needed: &Needed,
        indexes: &[IndexRule],
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<(PlanNode, Layout)> {
        let wanted_columns = needed.columns(usize::from(entry));
        let columns = wanted_columns.last().map_or(0, |c| usize::from(*c) + 1);
        let (with_key, with_row) =
            (needed.wants_key(usize::from(entry)), needed.wants_row(usize::from(entry)));
        let mut layout = Layout::new();
        for column in 0..columns {
            layout.push(SlotKey::Column(depth, entry, column as u16));
        }
        if with_key {
            layout.push(SlotKey::RowKey(depth, entry));
        }
        if with_row {
            layout.push(SlotKey::StoredRow(depth, entry));
        }
        let wanted: Box<[bool]> = (0..columns).map(|c| wanted_columns.contains(&(c as u16))).collect();
        // Bounds are computed before any row of this scan: over the outer rows only.
        let nothing = Layout::new();
        let before = Scope::new(&nothing, outer);
        let scope = Scope::new(&layout, outer);
        let path = match choice.index.and_then(|at| indexes.get(at)) {
            None => AccessPath::Full(choice.direction),
            Some(rule) => {
                let keys = key_columns(rule)?;
                let range = self.key_range(keys, choice, depth, &before)?;
                if rule.index.relation == 0 {
                    AccessPath::Key { index: Some(Arc::clone(&rule.index)), range }
                } else {
                    let include = include_types(rule, table)?;
                    let layout = Arc::new(IndexLayout::new(&rule.index, &include)?);
                    let covering =
                        choice.covering.then(|| covering(rule, table, &wanted_columns)).transpose()?;
                    AccessPath::Index { index: Arc::clone(&rule.index), layout, range, covering }
                }
            }
        };
        let mut rest: Vec<&&Conjunct> = conjuncts
            .iter()
            .enumerate()
            .filter(|(i, _)| !choice.conditions.contains(i))
            .map(|(_, c)| c)
            .collect();
        // Subqueries last: the cheap conditions spare them.
        rest.sort_by_key(|c| c.subquery);
        let mut filters = Vec::new();
        let filter_text =
            (!rest.is_empty()).then(|| self.names.conjunction(rest.iter().map(|c| &c.expr), depth));
        for c in rest {
            filters.push(self.compile(&c.expr, depth, &scope)?);
        }
        let filter = match filters.len() {
            0 => None,
            1 => filters.pop(),
            _ => Some(PhysicalExpr::And(filters.into())),
        };
        let width = self.estimator(table, entry).width(wanted_columns.iter().copied());
        let scan = ScanNode {
            table: Arc::clone(table),
            alias: range_entry.alias.clone(),
            reader: RowReader::new(
                row_layout(table)?,
                &wanted,
                filter.as_ref().map_or(0, |filter| columns_read(filter, columns)),
            ),
            columns,
            with_key,
            with_row,
            path,
            filter,
            ascending: false,
        };
        let mut node =
            self.node(PlanKind::Scan(Box::new(scan)), choice.rows, choice.startup, choice.cost, width);
        if !choice.conditions.is_empty() {
            let list: Vec<&Expr> =
                choice.conditions.iter().filter_map(|i| conjuncts.get(*i)).map(|c| &c.expr).collect();
            node.details.push(("Index Cond", self.names.conjunction(list.into_iter(), depth)));
        }
        node.details.extend(filter_text.map(|text| ("Filter", text)));
        Ok((node, layout))
    }

    fn key_range(
        &mut self,
        columns: Arc<[KeyColumn]>,
        choice: &Choice<'_>,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<KeyRange> {
        let mut equal = Vec::with_capacity(choice.equal.len());
        for (i, e) in choice.equal.iter().enumerate() {
            equal.push(match e {
                Equal::Value(e, coercion) => KeyEqual::Value(self.compile(e, depth, scope)?, *coercion),
                Equal::List(list, coercion) => {
                    let list = list.iter().map(|e| self.compile(e, depth, scope));
                    KeyEqual::List(list.collect::<Result<_>>()?, *coercion)
                }
                Equal::Array(e, coercion) => {
                    let element = super::compile::element_type(e.typ().oid)?;
                    KeyEqual::Array(self.compile(e, depth, scope)?, element, *coercion)
                }
                Equal::Null => KeyEqual::Null,
            });
            debug_assert!(i < columns.len(), "no more conditions than key columns");
        }
        let mut bound = |r: &Option<Range<'_>>| -> Result<Option<KeyBound>> {
            match r {
                None => Ok(None),
                Some(r) => Ok(Some(KeyBound {
                    value: self.compile(r.value, depth, scope)?,
                    inclusive: r.inclusive,
                    coercion: r.coercion,
                })),
            }
        };
        let spans = choice
            .spans
            .iter()
            .map(|span| Ok(KeySpan { lower: bound(&span.lower)?, upper: bound(&span.upper)? }));
        let spans = spans.collect::<Result<_>>()?;
        Ok(KeyRange { columns, equal: equal.into(), spans, point: choice.point, direction: choice.direction })
    }
}

fn key_columns(rule: &IndexRule) -> Result<Arc<[KeyColumn]>> {
    rule.index
        .columns
        .iter()
        .map(|c| Ok(KeyColumn { typ: column_type(c.typ)?, desc: c.desc, nulls_first: c.nulls_first }))
        .collect()
}

/// Types of an index's INCLUDE columns.
pub fn include_types(rule: &IndexRule, table: &Table) -> Result<Vec<&'static catalog::types::Type>> {
    rule.index
        .include
        .iter()
        .map(|place| {
            let column = table.columns.get(usize::from(*place));
            column_type(column.map_or(Oid::INVALID, |c| c.typ))
        })
        .collect()
}

/// Finds the conditions that an index's leading columns answer.
fn match_index<'q>(
    rule: &IndexRule,
    entry: u16,
    conjuncts: &[&'q Conjunct],
    available: &EntrySet,
) -> Choice<'q> {
    let mut choice = Choice {
        index: None,
        equal: Vec::new(),
        spans: Vec::new(),
        conditions: Vec::new(),
        direction: Direction::Forward,
        covering: false,
        point: false,
        rows: 1.0,
        startup: 0.0,
        cost: 0.0,
        sorted: false,
    };
    for (place, column) in rule.index.columns.iter().enumerate() {
        let Some(key) = rule.keys.get(place) else { break };
        let key = at_entry(key, entry);
        let mut matched = None;
        for (i, c) in conjuncts.iter().enumerate() {
            if choice.conditions.contains(&i) || c.volatile {
                continue;
            }
            if let Some(e) = equality(&c.expr, &key, column.typ, entry, available) {
                // A plain value is better than a list.
                let better = matches!(e, Equal::Value(..));
                if matched.is_none() || better {
                    matched = Some((i, e));
                }
                if better {
                    break;
                }
            }
        }
        if let Some((i, e)) = matched {
            choice.conditions.push(i);
            choice.equal.push(e);
            continue;
        }
        let mut span = Span::default();
        for (i, c) in conjuncts.iter().enumerate() {
            if !choice.conditions.contains(&i)
                && !c.volatile
                && span.narrow(&c.expr, &key, column.typ, available)
            {
                choice.conditions.push(i);
            }
        }
        if span.lower.is_some() || span.upper.is_some() {
            choice.spans.push(span);
            break;
        }
        for (i, c) in conjuncts.iter().enumerate() {
            if choice.conditions.contains(&i) || c.volatile {
                continue;
            }
            if let Some((spans, exact)) = alternatives(&c.expr, &key, column.typ, available) {
                choice.spans = spans;
                if exact {
                    choice.conditions.push(i);
                }
                break;
            }
        }
        break;
    }
    choice
}

/// An index's expression, bound over entry 0, as one over this entry.
fn at_entry(e: &Expr, entry: u16) -> Expr {
    let mut moved = rewrite::strip(e).clone();
    walk::expr_mut(&mut moved, 0, &mut |seen, level| {
        if let SeenMut::Expr(Expr::Column(c)) = seen
            && c.level == level
        {
            c.entry = entry;
        }
        true
    });
    moved
}

/// Whether two expressions are the same but for relabelling.
fn same(a: &Expr, b: &Expr) -> bool {
    match (rewrite::strip(a), rewrite::strip(b)) {
        (Expr::Column(a), Expr::Column(b)) => (a.level, a.entry, a.column) == (b.level, b.entry, b.column),
        (Expr::Column(_), _) | (_, Expr::Column(_)) => false,
        (a, b) => rewrite::equal(a, b),
    }
}

fn implied(predicate: &Expr, entry: u16, conjuncts: &[&Conjunct]) -> bool {
    let mut parts = Vec::new();
    let moved = at_entry(predicate, entry);
    rewrite::split_and(&moved, &mut parts);
    parts.iter().all(|part| {
        conjuncts.iter().any(|c| {
            if rewrite::equal(part, &c.expr) {
                return true;
            }
            // `x IS NOT NULL` follows from any comparison of x.
            match (part, &c.expr) {
                (Expr::IsNotNull(x), Expr::Call(call)) => {
                    strategy(call).is_some() && call.args.iter().any(|a| same(a, x))
                }
                (Expr::IsNotNull(x), Expr::ScalarArray(call, false)) => {
                    strategy(call).is_some() && call.args.first().is_some_and(|a| same(a, x))
                }
                _ => false,
            }
        })
    })
}

/// Whether the value of an expression is known before the entry's rows are read.
fn is_known(e: &Expr, available: &EntrySet) -> bool {
    let mut known = true;
    walk::expr(e, 0, &mut |seen, level| match seen {
        walk::Seen::Expr(Expr::Column(c)) if c.level == level => known &= available.contains(&c.entry),
        walk::Seen::Expr(
            Expr::Aggregate(..) | Expr::GroupKey(..) | Expr::Window(..) | Expr::SetFunction(..),
        ) if level == 0 => {
            known = false;
        }
        _ => {}
    });
    known && !walk::is_volatile(e)
}

/// How values of one type become key values of another; `None` if they do not.
pub(super) fn coercion(key: Oid, value: Oid) -> Option<Coercion> {
    let string = |t: Oid| matches!(t, oid::TEXT | oid::VARCHAR | oid::NAME | oid::UNKNOWN);
    if key == value || (string(key) && string(value)) {
        return Some(Coercion::Same);
    }
    let bounds = match key {
        oid::INT2 => (i16::MIN.into(), i16::MAX.into()),
        oid::INT4 => (i32::MIN.into(), i32::MAX.into()),
        oid::INT8 => (i64::MIN, i64::MAX),
        _ => return None,
    };
    matches!(value, oid::INT2 | oid::INT4 | oid::INT8).then_some(Coercion::Int(bounds.0, bounds.1))
}

/// Looks through integer widenings, which keep the value (and so the order).
pub(super) fn widened(e: &Expr) -> &Expr {
    match rewrite::strip(e) {
        Expr::Call(call) if matches!(call.proc.src.as_str(), "int48" | "i2toi4" | "int28") => {
            call.args.first().map_or(e, widened)
        }
        other => other,
    }
}

/// A comparison of the key with a known value: strategy as seen from the key, and the value.
fn comparison<'q>(
    e: &'q Expr,
    key: &Expr,
    typ: Oid,
    available: &EntrySet,
) -> Option<(Strategy, &'q Expr, Coercion)> {
    let Expr::Call(call) = e else { return None };
    let strategy = strategy(call)?;
    let [left, right] = call.args.as_slice() else { return None };
    let sides = [(left, right, strategy), (right, left, strategy.commuted())];
    for (side, value, strategy) in sides {
        if !same(side, key) && !same(widened(side), key) {
            continue;
        }
        if !is_known(value, available) {
            continue;
        }
        let value_type = rewrite::strip(value).typ().oid;
        if let Some(coercion) = coercion(typ, value.typ().oid).or_else(|| coercion(typ, value_type)) {
            return Some((strategy, value, coercion));
        }
    }
    None
}

fn equality<'q>(e: &'q Expr, key: &Expr, typ: Oid, entry: u16, available: &EntrySet) -> Option<Equal<'q>> {
    debug_assert!(!available.contains(&entry), "an entry's own columns are not known before it is read");
    match e {
        Expr::Call(_) => {
            let (strategy, value, coercion) = comparison(e, key, typ, available)?;
            (strategy == Strategy::Equal).then_some(Equal::Value(value, coercion))
        }
        Expr::IsNull(x) if same(x, key) => Some(Equal::Null),
        Expr::ScalarArray(call, false) if strategy(call) == Some(Strategy::Equal) => {
            let [left, right] = call.args.as_slice() else { return None };
            if !same(left, key) && !same(widened(left), key) {
                return None;
            }
            match right {
                Expr::Array(list, _, false) => {
                    let mut kind = None;
                    for value in list {
                        let c = coercion(typ, value.typ().oid)?;
                        if !is_known(value, available) {
                            return None;
                        }
                        kind = Some(c);
                    }
                    Some(Equal::List(list.iter().collect(), kind?))
                }
                array => {
                    let element = super::compile::element_type(array.typ().oid).ok()?;
                    let c = coercion(typ, element.oid)?;
                    is_known(array, available).then_some(Equal::Array(array, c))
                }
            }
        }
        Expr::Or(list) => {
            let mut values = Vec::new();
            let mut kind = None;
            for arm in list {
                match equality(arm, key, typ, entry, available)? {
                    Equal::Value(value, c) => {
                        values.push(value);
                        kind = Some(c);
                    }
                    Equal::List(list, c) => {
                        values.extend(list);
                        kind = Some(c);
                    }
                    Equal::Array(..) | Equal::Null => return None,
                }
            }
            Some(Equal::List(values, kind?))
        }
        _ => None,
    }
}

/// Most spans of one scan.
const SPANS_MAX: usize = 1_000;

/// The spans of an OR each of whose arms bounds the key, and whether they say all that it says.
fn alternatives<'q>(
    e: &'q Expr,
    key: &Expr,
    typ: Oid,
    available: &EntrySet,
) -> Option<(Vec<Span<'q>>, bool)> {
    let Expr::Or(arms) = e else { return None };
    let mut spans = Vec::with_capacity(arms.len());
    let mut exact = true;
    for arm in arms {
        if let Expr::Or(_) = arm {
            let (inner, whole) = alternatives(arm, key, typ, available)?;
            spans.extend(inner);
            exact &= whole;
            continue;
        }
        let parts = match arm {
            Expr::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut span = Span::default();
        for part in parts {
            exact &= span.narrow(part, key, typ, available);
        }
        if span.lower.is_none() && span.upper.is_none() {
            return None;
        }
        spans.push(span);
    }
    (spans.len() <= SPANS_MAX).then_some((spans, exact))
}

impl<'q> Span<'q> {
    /// Takes a comparison of the key as a bound; false if it is none, or the side has one.
    fn narrow(&mut self, e: &'q Expr, key: &Expr, typ: Oid, available: &EntrySet) -> bool {
        let Some((strategy, value, coercion)) = comparison(e, key, typ, available) else { return false };
        let inclusive = !matches!(strategy, Strategy::Less | Strategy::Greater);
        let range = Range { value, inclusive, coercion };
        match strategy {
            Strategy::Less | Strategy::LessEqual if self.upper.is_none() => self.upper = Some(range),
            Strategy::Greater | Strategy::GreaterEqual if self.lower.is_none() => self.lower = Some(range),
            Strategy::Equal if self.lower.is_none() && self.upper.is_none() => {
                self.lower = Some(range.clone());
                self.upper = Some(range);
            }
            _ => return false,
        }
        true
    }
}

/// The direction in which an index, its leading columns fixed, gives an order.
fn provides(
    rule: &IndexRule,
    entry: u16,
    equal: &[Equal<'_>],
    order: &[(u16, u16, bool, bool)],
) -> Option<Direction> {
    // Columns fixed to one value order nothing; a list of values does, as the first varying column.
    let fixed = equal.iter().take_while(|e| matches!(e, Equal::Value(..) | Equal::Null)).count();
    let column_of = |i: usize| match rule.keys.get(i).map(rewrite::strip) {
        Some(Expr::Column(c)) if c.level == 0 => Some(c.column),
        _ => None,
    };
    let fixed_columns: Vec<u16> = (0..fixed).filter_map(column_of).collect();
    let mut place = fixed;
    let mut direction = None;
    for (e, column, desc, nulls_first) in order {
        if *e != entry {
            return None;
        }
        if fixed_columns.contains(column) {
            continue;
        }
        // All columns of a unique key given: at most one row follows.
        let key = rule.index.columns.get(place)?;
        if column_of(place) != Some(*column) || !matches!(key.key, IndexKey::Column(_)) {
            return None;
        }
        let forward = key.desc == *desc && key.nulls_first == *nulls_first;
        let backward = key.desc != *desc && key.nulls_first != *nulls_first;
        // A primary key has no NULLs, so their place does not matter.
        let (forward, backward) =
            if rule.index.primary { (key.desc == *desc, key.desc != *desc) } else { (forward, backward) };
        let this = if forward {
            Direction::Forward
        } else if backward {
            Direction::Backward
        } else {
            return None;
        };
        if direction.is_some_and(|d| d != this) {
            return None;
        }
        direction = Some(this);
        place += 1;
    }
    // Several combinations are walked one after the other, in order of their keys; that is one order only for a single one.
    if equal.iter().skip(fixed).any(|e| matches!(e, Equal::List(..) | Equal::Array(..))) && place > fixed + 1
    {
        return None;
    }
    Some(direction.unwrap_or(Direction::Forward))
}

/// Whether an index's entries hold all these columns: among their keys, their INCLUDE columns, or the row keys that they name.
fn covers(rule: &IndexRule, table: &Table, wanted: &[u16]) -> bool {
    let keys = readable_keys(rule);
    let clustered = table.cluster.iter().take_while(|place| {
        let typ = table.columns.get(usize::from(**place)).map_or(Oid::INVALID, |c| c.typ);
        column_type(typ).is_ok_and(|t| t.decode_key.is_some())
    });
    let clustered: Vec<u16> = clustered.copied().collect();
    wanted.iter().all(|c| keys.contains(c) || rule.index.include.contains(c) || clustered.contains(c))
}

/// Plain columns among those leading key columns of an index whose values can be read from the key.
fn readable_keys(rule: &IndexRule) -> Vec<u16> {
    let readable =
        rule.index.columns.iter().take_while(|c| column_type(c.typ).is_ok_and(|t| t.decode_key.is_some()));
    readable
        .filter_map(|c| match c.key {
            IndexKey::Column(place) => Some(place),
            IndexKey::Expression(_) => None,
        })
        .collect()
}

fn covering(rule: &IndexRule, table: &Table, wanted: &[u16]) -> Result<Covering> {
    let slot = |place: u16| wanted.contains(&place).then_some(usize::from(place));
    let mut keys: Vec<Option<usize>> = rule
        .index
        .columns
        .iter()
        .map(|c| match c.key {
            IndexKey::Column(place) => slot(place),
            IndexKey::Expression(_) => None,
        })
        .collect();
    while keys.last().is_some_and(Option::is_none) {
        keys.pop();
    }
    let include = rule.index.include.iter().map(|place| slot(*place)).collect();
    let elsewhere = readable_keys(rule);
    let mut row_key = Vec::new();
    for place in &table.cluster {
        let typ = table.columns.get(usize::from(*place)).map_or(Oid::INVALID, |c| c.typ);
        let column = KeyColumn { typ: column_type(typ)?, desc: false, nulls_first: false };
        row_key.push((column, slot(*place).filter(|_| !elsewhere.contains(place))));
    }
    while row_key.last().is_some_and(|(_, slot)| slot.is_none()) {
        row_key.pop();
    }
    Ok(Covering { keys: keys.into(), row_key: row_key.into(), include })
}

/// The value of a constant, for estimates.
pub(crate) fn constant(e: &Expr) -> Option<&Value> {
    match rewrite::strip(e) {
        Expr::Const(value, _) => Some(value),
        _ => None,
    }
}
