//! FROM and WHERE: which tables are read how, in which order they are joined, by which method.
//!
//! Inner joins are taken apart into leaves and conjuncts. A leaf is a range entry or an outer join (planned on its own). From each leaf
//! as a start the cheapest next leaf is added greedily; the cheapest of these orders is built. A leaf that refers to other entries
//! (LATERAL) comes after them, as the inner side of a nested loop.

use super::access::Choice;
use super::compile::type_of;
use super::node::{
    FunctionNode, HashJoinNode, JoinType, NestedLoopNode, PlanKind, PlanNode, SetCall, SetFunction,
    SystemNode,
};
use super::rewrite;
use super::scope::{Layout, Scope, SlotKey};
use super::select::{ColumnOrder, Planner};
use super::walk::{self, Seen};
use crate::bound::{Expr, FromItem, IndexRule, JoinKind, RangeEntry, Select, Source};
use crate::row::expr::PhysicalExpr;
use crate::row::hash::HashClass;
use catalog::object::Table;
use catalog::{Result, SqlError, SqlState, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Numbers of range entries.
pub type EntrySet = BTreeSet<u16>;

/// An order wished for, and how many rows of it are wanted.
pub type Wish<'w> = Option<(&'w [(u16, u16, bool, bool)], Option<f64>)>;

/// A condition and what it concerns.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// The condition.
    pub expr: Expr,
    /// Entries of this query that it refers to.
    pub entries: EntrySet,
    /// Holds a volatile function.
    pub volatile: bool,
    /// Holds a subquery.
    pub subquery: bool,
}

impl Conjunct {
    /// The conjunct of an expression.
    pub fn new(expr: &Expr) -> Self {
        let mut entries = EntrySet::new();
        let (mut volatile, mut subquery) = (false, false);
        walk::expr(expr, 0, &mut |seen, level| {
            volatile |= walk::seen_volatile(&seen);
            match seen {
                Seen::Expr(Expr::Column(c))
                    if c.level == level && c.entry != super::scope::SUBQUERY_ENTRY =>
                {
                    entries.insert(c.entry);
                }
                Seen::Expr(Expr::Subquery(_)) => subquery = true,
                _ => {}
            }
        });
        Conjunct { expr: expr.clone(), entries, volatile, subquery }
    }
}

/// The columns of each range entry that a query uses.
#[derive(Clone, Debug)]
pub struct Needed {
    columns: Vec<BTreeSet<u16>>,
    keys: Vec<bool>,
    rows: Vec<bool>,
}

impl Needed {
    /// Nothing yet.
    pub fn new(entries: usize) -> Self {
        Needed {
            columns: vec![BTreeSet::new(); entries],
            keys: vec![false; entries],
            rows: vec![false; entries],
        }
    }

    /// Adds what a SELECT uses.
    pub fn collect(&mut self, select: &Select) {
        walk::select(select, 0, &mut |seen, level| self.note(&seen, level));
    }

    /// Adds what an expression at this query's level uses.
    pub fn collect_expr(&mut self, e: &Expr) {
        walk::expr(e, 0, &mut |seen, level| self.note(&seen, level));
    }

    /// Adds what a source or join tree at this query's level uses.
    pub fn collect_from(&mut self, entries: &[RangeEntry], from: &[FromItem]) {
        entries.iter().for_each(|e| walk::source(&e.source, 0, &mut |seen, level| self.note(&seen, level)));
        from.iter().for_each(|item| walk::from(item, 0, &mut |seen, level| self.note(&seen, level)));
    }

    fn note(&mut self, seen: &Seen<'_>, level: u16) {
        if let Seen::Expr(Expr::Column(c)) = seen
            && c.level == level
            && let Some(columns) = self.columns.get_mut(usize::from(c.entry))
        {
            columns.insert(c.column);
        }
    }

    /// Asks for all columns of a table, the row key and nothing else.
    pub fn whole_row(&mut self, entry: usize, table: &Table) {
        if let Some(columns) = self.columns.get_mut(entry) {
            columns.extend(0..table.columns.len() as u16);
        }
        self.row_key(entry);
    }

    /// Asks for the first `count` columns of an entry.
    pub fn whole(&mut self, entry: usize, count: usize) {
        if let Some(columns) = self.columns.get_mut(entry) {
            columns.extend(0..count as u16);
        }
    }

    /// Asks for the row key of a table.
    pub fn key(&mut self, entry: usize) {
        self.row_key(entry);
    }

    /// Asks for the row key of a table.
    pub fn row_key(&mut self, entry: usize) {
        if let Some(key) = self.keys.get_mut(entry) {
            *key = true;
        }
    }

    /// Asks for the stored bytes of a table's row.
    pub fn stored_row(&mut self, entry: usize) {
        if let Some(row) = self.rows.get_mut(entry) {
            *row = true;
        }
    }

    pub(crate) fn columns(&self, entry: usize) -> Vec<u16> {
        self.columns.get(entry).map(|c| c.iter().copied().collect()).unwrap_or_default()
    }

    pub(crate) fn wants_key(&self, entry: usize) -> bool {
        self.keys.get(entry).copied().unwrap_or(false)
    }

    pub(crate) fn wants_row(&self, entry: usize) -> bool {
        self.rows.get(entry).copied().unwrap_or(false)
    }
}

/// A plan under construction.
pub struct Built {
    /// The tree.
    pub node: PlanNode,
    /// What its rows hold.
    pub layout: Layout,
    /// In the order wished for.
    pub sorted: bool,
    /// The column, of an entry, that the rows ascend in because they are read in their table's own order.
    pub ascending: Option<(u16, u16)>,
    /// Of a lookup of one row by its key: the column of an outer row that is the key.
    pub follows: Option<(u16, u16)>,
}

impl Built {
    /// A tree whose rows have no order of a table's.
    pub fn new(node: PlanNode, layout: Layout, sorted: bool) -> Built {
        Built { node, layout, sorted, ascending: None, follows: None }
    }
}

/// What planning one FROM clause works on.
struct Clause<'q> {
    entries: &'q [RangeEntry],
    needed: &'q Needed,
    depth: u32,
}

struct Leaf<'q> {
    kind: LeafKind<'q>,
    entries: EntrySet,
    /// Entries that must come first.
    deps: EntrySet,
    indexes: Arc<Vec<IndexRule>>,
    rows: f64,
    cost: f64,
    /// See [`Built::ascending`].
    ascending: Option<(u16, u16)>,
    /// Planned beforehand, if it is no table and depends on nothing.
    built: Option<Built>,
}

/// Numbers of leaves that are no range entries begin here.
const LEAF_NUMBERS: u16 = 60_000;

#[derive(Clone, Copy)]
enum LeafKind<'q> {
    Table(u16, &'q Arc<Table>),
    Entry(u16),
    Join(&'q FromItem),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Method {
    IndexLoop,
    Hash,
    Loop,
    Lateral,
}

struct Step {
    leaf: usize,
    method: Method,
    rows: f64,
    /// Cost before the first row.
    startup: f64,
    cost: f64,
    /// See [`Built::ascending`].
    ascending: Option<(u16, u16)>,
}

impl Step {
    /// Cost when only this share of the rows is asked for.
    fn cost_of(&self, share: f64) -> f64 {
        self.startup + (self.cost - self.startup) * share
    }
}

impl<'a> Planner<'a> {
    /// Plans FROM and WHERE. Conditions without columns are decided once; what is volatile is asked of the joined rows.
    #[allow(clippy::too_many_arguments)]
    pub fn plan_from(
        &mut self,
        entries: &[RangeEntry],
        from: &[FromItem],
        filter: Option<&Expr>,
        needed: &Needed,
        wish: Wish<'_>,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let clause = Clause { entries, needed, depth };
        self.names.set(depth, entries);
        let mut parts = Vec::new();
        filter.iter().for_each(|e| rewrite::split_and(e, &mut parts));
        let mut conjuncts: Vec<Conjunct> = parts.into_iter().map(Conjunct::new).collect();
        let mut items = Vec::new();
        for item in from {
            flatten(item, &mut items, &mut conjuncts);
        }
        self.plan_items(&clause, items, conjuncts, wish, outer)
    }

    fn plan_items(
        &mut self,
        clause: &Clause<'_>,
        items: Vec<&FromItem>,
        conjuncts: Vec<Conjunct>,
        wish: Wish<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let (mut once, mut pending, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for c in conjuncts {
            if c.volatile && items.len() != 1 {
                last.push(c);
            } else if c.entries.is_empty() && !c.volatile {
                once.push(c);
            } else if c.entries.is_empty() {
                last.push(c);
            } else {
                pending.push(c);
            }
        }
        // EXISTS and IN: as leaves where they are few, else after the joins.
        let mut semi = Vec::new();
        let mut extra = Vec::new();
        if !items.is_empty() {
            let mut kept = Vec::with_capacity(pending.len());
            for c in pending {
                match self.as_leaf(clause, &c, &items, extra.len(), outer)? {
                    Some((leaf, joins)) => {
                        extra.push(leaf);
                        kept.extend(joins);
                    }
                    None => match super::semijoin::candidate(&c) {
                        Some(candidate) => semi.push(candidate),
                        None => kept.push(c),
                    },
                }
            }
            pending = kept;
        }
        let mut built = match items.len() {
            0 => Built::new(self.node(PlanKind::Result, 1.0, 0.0, 0.01, 0), Layout::new(), true),
            _ => self.join_leaves(clause, items, extra, &mut pending, wish, outer)?,
        };
        for candidate in &semi {
            built = self.semi_join(candidate, built, clause.depth, outer)?;
        }
        pending.extend(last);
        built = self.filtered(clause, built, &pending, outer)?;
        if !once.is_empty() {
            let layout = Layout::new();
            let scope = Scope::new(&layout, outer);
            let list = once.iter().map(|c| self.compile(&c.expr, clause.depth, &scope));
            let mut list = list.collect::<Result<Vec<_>>>()?;
            let predicate = match list.len() {
                1 => list.remove(0),
                _ => PhysicalExpr::And(list.into()),
            };
            let (rows, estimate) = (built.node.rows, (built.node.startup, built.node.cost, built.node.width));
            let kind = PlanKind::Filter { input: Box::new(built.node), predicate, once: true };
            built.node = self.over(kind, rows, estimate, 0.0025);
            let text = self.names.conjunction(once.iter().map(|c| &c.expr), clause.depth);
            built.node.details.push(("One-Time Filter", text));
        }
        Ok(built)
    }

    /// An IN over a query whose few rows can look up a table by index, as a leaf with the conditions that join it.
    fn as_leaf<'q>(
        &mut self,
        clause: &Clause<'q>,
        c: &Conjunct,
        items: &[&'q FromItem],
        count: usize,
        outer: Option<&Scope<'_>>,
    ) -> Result<Option<(Leaf<'q>, Vec<Conjunct>)>> {
        let Expr::Subquery(subquery) = &c.expr else { return Ok(None) };
        let crate::bound::SubqueryKind::Quantified { hashable: Some(left), .. } = &subquery.kind else {
            return Ok(None);
        };
        // One of the left sides must lead an index of a table here.
        let mut largest: f64 = 0.0;
        for item in items {
            let FromItem::Entry(number) = item else { continue };
            let Some(Source::Table(table)) = clause.entries.get(*number).map(|e| &e.source) else { continue };
            let leads = |rule: &IndexRule| {
                let key = rule.keys.first().map(rewrite::strip);
                left.iter().any(|e| match (key, rewrite::strip(e)) {
                    (Some(Expr::Column(k)), Expr::Column(e)) => {
                        e.level == 0 && usize::from(e.entry) == *number && e.column == k.column
                    }
                    _ => false,
                })
            };
            if self.context()?.indexes(table)?.iter().any(leads) {
                largest = largest.max(self.context()?.size(table.relation).0 as f64);
            }
        }
        if largest < 100.0 {
            return Ok(None);
        }
        let number = LEAF_NUMBERS + count as u16;
        let Some((built, joins)) = self.drive(c, number, clause.depth, outer)? else { return Ok(None) };
        if built.node.rows * 20.0 + built.node.cost * 10.0 > largest {
            return Ok(None);
        }
        let leaf = Leaf {
            kind: LeafKind::Entry(number),
            entries: EntrySet::from([number]),
            deps: EntrySet::new(),
            indexes: Arc::new(Vec::new()),
            rows: built.node.rows,
            cost: built.node.cost,
            ascending: None,
            built: Some(built),
        };
        Ok(Some((leaf, joins)))
    }

    /// A filter on top, if there are conditions.
    fn filtered(
        &mut self,
        clause: &Clause<'_>,
        mut built: Built,
        conjuncts: &[Conjunct],
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        if conjuncts.is_empty() {
            return Ok(built);
        }
        let predicate = self.conjunction(clause, conjuncts.iter(), &built.layout, outer)?;
        if let Some(predicate) = predicate {
            let rows = built.node.rows;
            let selectivity: f64 = conjuncts.iter().map(|c| rewrite::selectivity(&c.expr)).product();
            let estimate = (built.node.startup, built.node.cost, built.node.width);
            let kind = PlanKind::Filter { input: Box::new(built.node), predicate, once: false };
            built.node = self.over(kind, rows * selectivity, estimate, rows * 0.0025);
            let text = self.names.conjunction(conjuncts.iter().map(|c| &c.expr), clause.depth);
            built.node.details.push(("Filter", text));
        }
        Ok(built)
    }

    fn conjunction<'c>(
        &mut self,
        clause: &Clause<'_>,
        conjuncts: impl Iterator<Item = &'c Conjunct>,
        layout: &Layout,
        outer: Option<&Scope<'_>>,
    ) -> Result<Option<PhysicalExpr>> {
        let scope = Scope::new(layout, outer);
        let mut sorted: Vec<&Conjunct> = conjuncts.collect();
        sorted.sort_by_key(|c| c.subquery);
        let list = sorted.iter().map(|c| self.compile(&c.expr, clause.depth, &scope));
        let mut list = list.collect::<Result<Vec<_>>>()?;
        Ok(match list.len() {
            0 => None,
            1 => list.pop(),
            _ => Some(PhysicalExpr::And(list.into())),
        })
    }

    /// Joins the leaves, using up the conjuncts that it could apply.
    fn join_leaves(
        &mut self,
        clause: &Clause<'_>,
        items: Vec<&FromItem>,
        extra: Vec<Leaf<'_>>,
        conjuncts: &mut Vec<Conjunct>,
        wish: Wish<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let mut leaves: Vec<Leaf<'_>> = Vec::with_capacity(items.len() + extra.len());
        let single = items.len() == 1 && extra.is_empty();
        for item in items {
            leaves.push(self.leaf(clause, item, conjuncts, if single { wish } else { None }, outer)?);
        }
        leaves.extend(extra);
        if leaves.len() == 1 {
            let Some(leaf) = leaves.pop() else { return Err(SqlError::internal("no leaf")) };
            let (mine, rest): (Vec<_>, Vec<_>) =
                conjuncts.drain(..).partition(|c| c.entries.is_subset(&leaf.entries));
            let mine: Vec<&Conjunct> = mine.iter().collect();
            let built = self.build_leaf(clause, leaf, &mine, &EntrySet::new(), wish, outer)?;
            conjuncts.extend(rest);
            return Ok(built);
        }
        let order = self.best_order(clause, &leaves, conjuncts, wish);
        let mut leaves: Vec<Option<Leaf<'_>>> = leaves.into_iter().map(Some).collect();
        let mut used = vec![false; conjuncts.len()];
        let mut built: Option<Built> = None;
        let mut joined = EntrySet::new();
        for step in order {
            let Some(leaf) = leaves.get_mut(step.leaf).and_then(Option::take) else { continue };
            let mut after = joined.clone();
            after.extend(leaf.entries.iter());
            let applicable: Vec<usize> = (0..conjuncts.len())
                .filter(|i| !used.get(*i).copied().unwrap_or(true))
                .filter(|i| conjuncts.get(*i).is_some_and(|c| c.entries.is_subset(&after)))
                .collect();
            for i in &applicable {
                if let Some(place) = used.get_mut(*i) {
                    *place = true;
                }
            }
            let applicable: Vec<&Conjunct> = applicable.iter().filter_map(|i| conjuncts.get(*i)).collect();
            built = Some(match built {
                None => self.build_leaf(clause, leaf, &applicable, &EntrySet::new(), wish, outer)?,
                Some(left) => {
                    self.join(clause, left, &joined, leaf, &applicable, &step, JoinType::Inner, outer)?
                }
            });
            joined = after;
        }
        let mut at = 0;
        conjuncts.retain(|_| {
            at += 1;
            !used.get(at - 1).copied().unwrap_or(false)
        });
        built.ok_or_else(|| SqlError::internal("no join order"))
    }

    /// Describes a leaf; one that is no table and stands alone is planned here, with the conjuncts that it can take.
    fn leaf<'q>(
        &mut self,
        clause: &Clause<'q>,
        item: &'q FromItem,
        conjuncts: &mut Vec<Conjunct>,
        wish: Wish<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Leaf<'q>> {
        let mut entries = EntrySet::new();
        collect_entries(item, &mut entries);
        let mut deps = EntrySet::new();
        let mut note = |seen: Seen<'_>, level: u16| {
            if let Seen::Expr(Expr::Column(c)) = seen
                && c.level == level
                && !entries.contains(&c.entry)
                && c.entry != super::scope::SUBQUERY_ENTRY
            {
                deps.insert(c.entry);
            }
        };
        for e in &entries {
            if let Some(entry) = clause.entries.get(usize::from(*e)) {
                walk::source(&entry.source, 0, &mut note);
            }
        }
        walk::from(item, 0, &mut note);
        let mut leaf = Leaf {
            kind: LeafKind::Join(item),
            entries,
            deps,
            indexes: Arc::new(Vec::new()),
            rows: 10.0,
            cost: 10.0,
            ascending: None,
            built: None,
        };
        if let FromItem::Entry(number) = item {
            let number = *number as u16;
            leaf.kind = match clause.entries.get(usize::from(number)).map(|e| &e.source) {
                Some(Source::Table(table)) => {
                    leaf.indexes = self.context()?.indexes(table)?;
                    let mine: Vec<&Conjunct> =
                        conjuncts.iter().filter(|c| c.entries.is_subset(&leaf.entries)).collect();
                    let choice = self.choose(
                        table,
                        number,
                        &mine,
                        &EntrySet::new(),
                        clause.needed,
                        None,
                        &leaf.indexes,
                    );
                    leaf.ascending = choice.ascending(table, number, &leaf.indexes);
                    leaf.rows = choice.rows;
                    leaf.cost = choice.cost;
                    LeafKind::Table(number, table)
                }
                _ => LeafKind::Entry(number),
            };
        }
        if leaf.deps.is_empty() && !matches!(leaf.kind, LeafKind::Table(..)) {
            let built = match leaf.kind {
                LeafKind::Join(item) => self.plan_outer_join(clause, item, conjuncts, wish, outer)?,
                LeafKind::Entry(number) | LeafKind::Table(number, _) => {
                    self.plan_entry(clause, number, conjuncts, outer)?
                }
            };
            leaf.rows = built.node.rows;
            leaf.cost = built.node.cost;
            leaf.built = Some(built);
        }
        Ok(leaf)
    }

    /// Simulates greedy orders from every start and takes the cheapest.
    fn best_order(
        &self,
        clause: &Clause<'_>,
        leaves: &[Leaf<'_>],
        conjuncts: &[Conjunct],
        wish: Wish<'_>,
    ) -> Vec<Step> {
        let mut best: Option<(f64, Vec<Step>)> = None;
        let mut starts: Vec<usize> =
            (0..leaves.len()).filter(|i| leaves.get(*i).is_some_and(|l| l.deps.is_empty())).collect();
        starts.sort_by(|a, b| {
            let rows = |i: &usize| leaves.get(*i).map_or(0.0, |l| l.rows);
            rows(a).total_cmp(&rows(b))
        });
        starts.truncate(if leaves.len() > 8 { 3 } else { 8 });
        for start in starts {
            let first = leaves.get(start).map(|l| &l.entries);
            let here = wish.is_none_or(|(columns, _)| {
                first.is_some_and(|set| columns.iter().all(|(e, ..)| set.contains(e)))
            });
            let mut consider = |share: f64| -> f64 {
                let order = self.greedy(clause, leaves, conjuncts, start, share);
                let Some(last) = order.last().filter(|_| order.len() == leaves.len()) else { return 1.0 };
                // A sort asks for all rows.
                let limit = wish.and_then(|(_, limit)| limit).filter(|_| here);
                let wanted = limit.map_or(1.0, |limit| (limit / last.rows).min(1.0));
                let sort = if here { 0.0 } else { super::select::sort_cost(last.rows) };
                let cost = last.cost_of(wanted) + sort;
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, order));
                }
                wanted
            };
            let wanted = consider(1.0);
            if wanted < 1.0 {
                consider(wanted);
            }
        }
        best.map(|(_, order)| order).unwrap_or_default()
    }

    /// An order that begins with `start` and goes on with what costs least, when this share of the joined rows is asked for.
    fn greedy(
        &self,
        clause: &Clause<'_>,
        leaves: &[Leaf<'_>],
        conjuncts: &[Conjunct],
        start: usize,
        share: f64,
    ) -> Vec<Step> {
        let Some(first) = leaves.get(start) else { return Vec::new() };
        let mut joined = first.entries.clone();
        let mut order = vec![Step {
            leaf: start,
            method: Method::Loop,
            rows: first.rows,
            startup: 0.0,
            cost: first.cost,
            ascending: first.ascending,
        }];
        while order.len() < leaves.len() {
            let Some(before) = order.last() else { return order };
            let mut best: Option<(bool, Step)> = None;
            for (at, leaf) in leaves.iter().enumerate() {
                if order.iter().any(|s| s.leaf == at) || !leaf.deps.is_subset(&joined) {
                    continue;
                }
                let (connected, step) = self.estimate(clause, before, share, &joined, at, leaf, conjuncts);
                let better = best.as_ref().is_none_or(|(c, s)| {
                    (connected && !c)
                        || (connected == *c
                            && step.cost_of(share) + step.rows * 0.01 < s.cost_of(share) + s.rows * 0.01)
                });
                if better {
                    best = Some((connected, step));
                }
            }
            let Some((_, step)) = best else { return order };
            if let Some(leaf) = leaves.get(step.leaf) {
                joined.extend(leaf.entries.iter());
            }
            order.push(step);
        }
        order
    }

    #[allow(clippy::too_many_arguments)]
    fn estimate(
        &self,
        clause: &Clause<'_>,
        before: &Step,
        share: f64,
        joined: &EntrySet,
        at: usize,
        leaf: &Leaf<'_>,
        conjuncts: &[Conjunct],
    ) -> (bool, Step) {
        let (rows, startup, cost) = (before.rows, before.startup, before.cost);
        let mut after = joined.clone();
        after.extend(leaf.entries.iter());
        let fresh = |c: &&Conjunct| {
            c.entries.is_subset(&after) && !c.entries.is_subset(joined) && !c.entries.is_subset(&leaf.entries)
        };
        let connecting: Vec<&Conjunct> = conjuncts.iter().filter(fresh).collect();
        let connected = !connecting.is_empty() || !leaf.deps.is_empty();
        if !leaf.deps.is_empty() {
            let step = Step {
                leaf: at,
                method: Method::Lateral,
                rows: rows * leaf.rows,
                startup,
                cost: cost + rows * leaf.cost,
                ascending: before.ascending,
            };
            return (connected, step);
        }
        let hashable = connecting.iter().any(|c| hash_sides(&c.expr, joined, &leaf.entries).is_some());
        let selectivity: f64 = connecting
            .iter()
            .map(|c| match hash_sides(&c.expr, joined, &leaf.entries) {
                Some(_) => super::estimate::join_selectivity(&c.expr, &|entry, column| match clause
                    .entries
                    .get(usize::from(entry))
                    .map(|e| &e.source)
                {
                    Some(Source::Table(table)) => Some(self.estimator(table, entry).distinct(column)),
                    _ => None,
                })
                .unwrap_or_else(|| 1.0 / leaf.rows.max(rows.min(200.0)).max(1.0)),
                None => rewrite::selectivity(&c.expr),
            })
            .product();
        let mut out = (rows * leaf.rows * selectivity).max(1.0);
        // The right side of a loop is kept, that of a hash join hashed, before the first row.
        let step = |method: Method, first: f64, total: f64, rows: f64| Step {
            leaf: at,
            method,
            rows,
            startup: startup + first,
            cost: cost + total + rows * 0.01,
            ascending: before.ascending,
        };
        let cheaper = |a: Step, b: Step| if b.cost_of(share) < a.cost_of(share) { b } else { a };
        let index = match leaf.kind {
            LeafKind::Table(number, table) => {
                let mine: Vec<&Conjunct> = conjuncts
                    .iter()
                    .filter(|c| c.entries.contains(&number) && c.entries.is_subset(&after))
                    .collect();
                let choice = self.choose(table, number, &mine, joined, clause.needed, None, &leaf.indexes);
                choice.is_parameterised(&mine, joined).then(|| {
                    if choice.is_point() {
                        out = out.min(rows);
                    }
                    // Keys that ascend are found by stepping on from the one before.
                    let follows = choice.follows(&leaf.indexes);
                    let one =
                        if follows.is_some() && follows == before.ascending { 0.05 } else { choice.cost };
                    rows * one
                })
            }
            _ => None,
        };
        let mut best = step(Method::Loop, leaf.cost, leaf.cost + rows * leaf.rows * 0.0025, out);
        if hashable {
            let build = leaf.cost + leaf.rows * 0.02;
            best = cheaper(best, step(Method::Hash, build, build + rows * 0.015, out));
        }
        if let Some(index) = index {
            best = cheaper(best, step(Method::IndexLoop, 0.0, index, out));
        }
        (connected, best)
    }

    /// Joins one more leaf to what is there.
    #[allow(clippy::too_many_arguments)]
    fn join(
        &mut self,
        clause: &Clause<'_>,
        left: Built,
        joined: &EntrySet,
        leaf: Leaf<'_>,
        conjuncts: &[&Conjunct],
        step: &Step,
        join: JoinType,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let depth = clause.depth;
        let sorted = left.sorted;
        let entries = leaf.entries.clone();
        match step.method {
            Method::IndexLoop | Method::Lateral => {
                let frame = Scope::new(&left.layout, outer);
                // What does not concern the leaf alone is asked of the joined row, unless the scan can use it.
                let mut right = {
                    let frames = frame.frames();
                    let saved = self.save_lowest();
                    let built = self.build_leaf(clause, leaf, conjuncts, joined, None, Some(&frame));
                    self.restore_lowest(saved, frames);
                    built?
                };
                if let PlanKind::Scan(scan) = &mut right.node.kind {
                    scan.ascending = right.follows.is_some() && right.follows == left.ascending;
                }
                let layout = left.layout.join(&right.layout);
                let width = right.layout.width();
                let ascending = left.ascending;
                let node = self.nested_loop(join, left.node, right.node, width, None, step.rows);
                Ok(Built { ascending, ..Built::new(node, layout, sorted) })
            }
            Method::Hash => {
                let (mine, between): (Vec<&Conjunct>, Vec<&Conjunct>) =
                    conjuncts.iter().partition(|c| c.entries.is_subset(&entries));
                let right = self.build_leaf(clause, leaf, &mine, &EntrySet::new(), None, outer)?;
                self.hash_join(clause, join, left, joined, right, &entries, &between, step.rows, depth, outer)
            }
            Method::Loop => {
                let (mine, between): (Vec<&Conjunct>, Vec<&Conjunct>) =
                    conjuncts.iter().partition(|c| c.entries.is_subset(&entries));
                let right = self.build_leaf(clause, leaf, &mine, &EntrySet::new(), None, outer)?;
                self.plain_loop(clause, join, left, right, &between, step.rows, outer)
            }
        }
    }

    fn save_lowest(&mut self) -> usize {
        self.replace_lowest(usize::MAX)
    }

    /// Back from planning the inner side of a nested loop: references to the loop's own row (frame `frames`) do not leave it.
    fn restore_lowest(&mut self, saved: usize, frames: usize) {
        let lowest = self.replace_lowest(saved);
        if lowest < frames {
            self.note_outer(lowest);
        }
    }

    fn nested_loop(
        &mut self,
        join: JoinType,
        left: PlanNode,
        right: PlanNode,
        right_width: usize,
        predicate: Option<PhysicalExpr>,
        rows: f64,
    ) -> PlanNode {
        let cost = left.cost + left.rows * right.cost;
        let (startup, width) = (left.startup + right.startup, left.width + right.width);
        let node = NestedLoopNode { join, left, right, right_width, predicate };
        self.node(PlanKind::NestedLoop(Box::new(node)), rows, startup, cost, width)
    }

    /// A nested loop over a right side that knows nothing of the left row.
    #[allow(clippy::too_many_arguments)]
    fn plain_loop(
        &mut self,
        clause: &Clause<'_>,
        join: JoinType,
        left: Built,
        right: Built,
        conjuncts: &[&Conjunct],
        rows: f64,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let layout = left.layout.join(&right.layout);
        let predicate = self.conjunction(clause, conjuncts.iter().copied(), &layout, outer)?;
        let width = right.layout.width();
        let kept = self.unframe(right.node, width);
        let mut node = self.nested_loop(join, left.node, kept, width, predicate, rows);
        if !conjuncts.is_empty() {
            let list = conjuncts.iter().map(|c| &c.expr);
            node.details.push(("Join Filter", self.names.conjunction(list, clause.depth)));
        }
        Ok(Built { ascending: left.ascending, ..Built::new(node, layout, left.sorted) })
    }

    fn unframe(&mut self, input: PlanNode, width: usize) -> PlanNode {
        let (rows, startup, cost, bytes) = (input.rows, input.startup, input.cost, input.width);
        let kind = PlanKind::Unframe { input: Box::new(input), pop: 1, slot: None, width };
        self.node(kind, rows, startup, cost, bytes)
    }

    #[allow(clippy::too_many_arguments)]
    fn hash_join(
        &mut self,
        clause: &Clause<'_>,
        join: JoinType,
        left: Built,
        left_entries: &EntrySet,
        right: Built,
        right_entries: &EntrySet,
        conjuncts: &[&Conjunct],
        rows: f64,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let (mut left_keys, mut right_keys, mut classes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rest, mut conditions) = (Vec::new(), Vec::new());
        for c in conjuncts {
            let Some((l, r, class)) = hash_sides(&c.expr, left_entries, right_entries) else {
                rest.push(*c);
                continue;
            };
            left_keys.push(self.compile(l, depth, &Scope::new(&left.layout, outer))?);
            right_keys.push(self.compile(r, depth, &Scope::new(&right.layout, outer))?);
            classes.push(class);
            conditions.push(&c.expr);
        }
        let layout = left.layout.join(&right.layout);
        let rest_text =
            (!rest.is_empty()).then(|| self.names.conjunction(rest.iter().map(|c| &c.expr), depth));
        let predicate = self.conjunction(clause, rest.into_iter(), &layout, outer)?;
        let cost = left.node.cost + right.node.cost + right.node.rows * 0.02 + left.node.rows * 0.015;
        let (startup, width) = (right.node.cost + right.node.rows * 0.02, left.node.width + right.node.width);
        let node = HashJoinNode {
            join,
            left_width: left.layout.width(),
            right_width: right.layout.width(),
            left: left.node,
            right: right.node,
            left_keys: left_keys.into(),
            right_keys: right_keys.into(),
            classes: classes.into(),
            predicate,
            cache: None,
        };
        let mut node = self.node(PlanKind::HashJoin(Box::new(node)), rows, startup, cost, width);
        node.details.push(("Hash Cond", self.names.conjunction(conditions.into_iter(), depth)));
        node.details.extend(rest_text.map(|text| ("Join Filter", text)));
        let kept = !matches!(join, JoinType::Right | JoinType::Full);
        let ascending = left.ascending.filter(|_| kept);
        Ok(Built { ascending, ..Built::new(node, layout, left.sorted && kept) })
    }

    /// Builds a leaf with conditions on it. For a table, `available` are the entries whose values its index bounds may use, found in
    /// the outer rows.
    fn build_leaf(
        &mut self,
        clause: &Clause<'_>,
        leaf: Leaf<'_>,
        conjuncts: &[&Conjunct],
        available: &EntrySet,
        wish: Wish<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        if let Some(built) = leaf.built {
            let rest: Vec<Conjunct> = conjuncts.iter().map(|c| (*c).clone()).collect();
            return self.filtered(clause, built, &rest, outer);
        }
        match leaf.kind {
            LeafKind::Table(number, table) => {
                let Some(entry) = clause.entries.get(usize::from(number)) else {
                    return Err(SqlError::internal("a range entry that is not there"));
                };
                let mine = |(e, ..): &(u16, u16, bool, bool)| *e == number;
                let wish = wish.filter(|(order, _)| order.iter().all(mine));
                let choice: Choice<'_> =
                    self.choose(table, number, conjuncts, available, clause.needed, wish, &leaf.indexes);
                let sorted = wish.is_some() && choice.sorted;
                let ascending = choice.ascending(table, number, &leaf.indexes);
                let follows = choice.follows(&leaf.indexes);
                let (node, layout) = self.build_scan(
                    entry,
                    table,
                    number,
                    &choice,
                    conjuncts,
                    clause.needed,
                    &leaf.indexes,
                    clause.depth,
                    outer,
                )?;
                Ok(Built { ascending, follows, ..Built::new(node, layout, sorted) })
            }
            LeafKind::Entry(number) => {
                let mut rest: Vec<Conjunct> = conjuncts.iter().map(|c| (*c).clone()).collect();
                let built = self.plan_entry(clause, number, &mut rest, outer)?;
                self.filtered(clause, built, &rest, outer)
            }
            LeafKind::Join(item) => {
                let mut rest: Vec<Conjunct> = conjuncts.iter().map(|c| (*c).clone()).collect();
                let built = self.plan_outer_join(clause, item, &mut rest, None, outer)?;
                self.filtered(clause, built, &rest, outer)
            }
        }
    }

    /// Plans a range entry that is no table, moving what conjuncts it can into it.
    fn plan_entry(
        &mut self,
        clause: &Clause<'_>,
        number: u16,
        conjuncts: &mut Vec<Conjunct>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let depth = clause.depth;
        let Some(entry) = clause.entries.get(usize::from(number)) else {
            return Err(SqlError::internal("a range entry that is not there"));
        };
        let mut layout = Layout::new();
        for column in 0..entry.columns.len() {
            layout.push(SlotKey::Column(depth, number, column as u16));
        }
        let node = match &entry.source {
            Source::Subquery(query) => {
                let mut query = (**query).clone();
                conjuncts.retain(|c| {
                    let mine = c.entries.len() == 1 && c.entries.contains(&number);
                    !(mine && rewrite::push_into(&mut query, &c.expr, number))
                });
                self.plan_query(&query, depth + 1, outer)?
            }
            Source::Cte(up, place) => self.plan_cte_reference(*up, *place, depth, outer)?,
            Source::Values(rows) => self.plan_values(rows, depth, outer)?,
            Source::System(oid) => {
                let wanted_columns = clause.needed.columns(usize::from(number));
                let columns = entry.columns.len();
                let wanted = (0..columns).map(|c| wanted_columns.contains(&(c as u16))).collect();
                let nothing = Layout::new();
                let before = Scope::new(&nothing, outer);
                let mut equal = Vec::new();
                for c in conjuncts.iter().filter(|c| c.entries.len() == 1 && c.entries.contains(&number)) {
                    if let Some((column, value)) = column_equals(&c.expr, number) {
                        equal.push((column, self.compile(value, depth, &before)?));
                    }
                }
                let kind = PlanKind::System(Box::new(SystemNode {
                    oid: *oid,
                    alias: entry.alias.clone(),
                    columns,
                    wanted,
                    equal: equal.into(),
                    filter: None,
                }));
                self.node(kind, 500.0, 0.0, 50.0, columns * 8)
            }
            Source::Function { calls, ordinality } => {
                let nothing = Layout::new();
                let scope = Scope::new(&nothing, outer);
                let mut compiled: Vec<SetCall> = Vec::with_capacity(calls.len());
                for (call, columns) in calls {
                    compiled.push(match call {
                        Expr::Call(call) => self.compile_set_call(call, *columns, depth, &scope)?,
                        other => SetCall {
                            function: SetFunction::Scalar(self.compile(other, depth, &scope)?),
                            strict: false,
                            types: crate::functions::CallTypes { args: Vec::new(), result: other.typ() },
                            args: Box::new([]),
                            columns: *columns,
                            column_types: Box::new([]),
                            name: String::from("expression"),
                        },
                    });
                }
                let rows = calls.iter().map(|(call, _)| match call {
                    Expr::Call(call) if call.proc.rows > 0.0 => call.proc.rows,
                    _ => 1.0,
                });
                let rows = rows.fold(1.0, f64::max);
                let kind = PlanKind::Function(Box::new(FunctionNode {
                    calls: compiled.into(),
                    ordinality: *ordinality,
                    alias: entry.alias.clone(),
                    filter: None,
                }));
                self.node(kind, rows, 0.0, rows * 0.01, entry.columns.len() * 8)
            }
            Source::Given => return Err(SqlError::internal("a given row is not scanned")),
            Source::Table(_) => return Err(SqlError::internal("a table is planned by its access path")),
        };
        Ok(Built::new(node, layout, false))
    }

    /// Plans an outer join (or an inner one that stands alone). Conjuncts that concern its preserved side alone go there.
    fn plan_outer_join(
        &mut self,
        clause: &Clause<'_>,
        item: &FromItem,
        conjuncts: &mut Vec<Conjunct>,
        wish: Wish<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let FromItem::Join { kind, left, right, on } = item else {
            return Err(SqlError::internal("a join was expected"));
        };
        let (join, left, right) = match kind {
            JoinKind::Left => (JoinType::Left, left, right),
            JoinKind::Right => (JoinType::Left, right, left),
            JoinKind::Full => (JoinType::Full, left, right),
            JoinKind::Inner | JoinKind::Cross => (JoinType::Inner, left, right),
        };
        let (mut left_entries, mut right_entries) = (EntrySet::new(), EntrySet::new());
        collect_entries(left, &mut left_entries);
        collect_entries(right, &mut right_entries);
        let mut pushed = Vec::new();
        if join == JoinType::Left {
            conjuncts.retain(|c| {
                let mine = !c.volatile && !c.entries.is_empty() && c.entries.is_subset(&left_entries);
                if mine {
                    pushed.push(c.clone());
                }
                !mine
            });
        }
        let mut parts = Vec::new();
        on.iter().for_each(|e| rewrite::split_and(e, &mut parts));
        let on: Vec<Conjunct> = parts.into_iter().map(Conjunct::new).collect();
        let mut items = Vec::new();
        flatten(left, &mut items, &mut pushed);
        let wish = wish.filter(|(order, _)| {
            join == JoinType::Left && order.iter().all(|(e, ..)| left_entries.contains(e))
        });
        let left = self.plan_items(clause, items, pushed, wish, outer)?;
        // The right side: a single table may be looked up by index, all else is planned as a whole.
        let mut items = Vec::new();
        let mut inner = Vec::new();
        flatten(right, &mut items, &mut inner);
        let right_only = |c: &Conjunct| {
            join != JoinType::Full
                && !c.volatile
                && !c.entries.is_empty()
                && c.entries.is_subset(&right_entries)
        };
        let rows = left.node.rows;
        if let [single] = items.as_slice() {
            let mut mine: Vec<Conjunct> = inner.clone();
            mine.extend(on.iter().filter(|c| right_only(c)).cloned());
            let between: Vec<&Conjunct> = on.iter().filter(|c| !right_only(c)).collect();
            let leaf = self.leaf(clause, single, &mut mine, None, outer)?;
            if !leaf.deps.is_empty() {
                // LATERAL: the right side sees the left row.
                let frame = Scope::new(&left.layout, outer);
                let frames = frame.frames();
                let saved = self.save_lowest();
                let mine: Vec<&Conjunct> = mine.iter().collect();
                let built = self.build_leaf(clause, leaf, &mine, &EntrySet::new(), None, Some(&frame));
                self.restore_lowest(saved, frames);
                let right = built?;
                let layout = left.layout.join(&right.layout);
                let predicate = self.conjunction(clause, between.into_iter(), &layout, outer)?;
                let width = right.layout.width();
                let estimate = rows * right.node.rows;
                let node = self.nested_loop(join, left.node, right.node, width, predicate, estimate);
                return Ok(Built::new(node, layout, left.sorted));
            }
            if let LeafKind::Table(number, table) = leaf.kind
                && join != JoinType::Full
            {
                let all: Vec<&Conjunct> = mine.iter().chain(between.iter().copied()).collect();
                let choice =
                    self.choose(table, number, &all, &left_entries, clause.needed, None, &leaf.indexes);
                let hash = leaf.cost + leaf.rows * 0.02 + rows * 0.015;
                let hashable =
                    between.iter().any(|c| hash_sides(&c.expr, &left_entries, &right_entries).is_some());
                if choice.is_parameterised(&all, &left_entries) && (!hashable || rows * choice.cost < hash) {
                    let estimate = (rows * choice.rows).max(rows);
                    let step = Step {
                        leaf: 0,
                        method: Method::IndexLoop,
                        rows: estimate,
                        startup: 0.0,
                        cost: 0.0,
                        ascending: left.ascending,
                    };
                    return self.join(clause, left, &left_entries, leaf, &all, &step, join, outer);
                }
            }
            let mine_refs: Vec<&Conjunct> = mine.iter().collect();
            let right = self.build_leaf(clause, leaf, &mine_refs, &EntrySet::new(), None, outer)?;
            return self.outer_join_of(
                clause,
                join,
                left,
                &left_entries,
                right,
                &right_entries,
                &between,
                outer,
            );
        }
        inner.extend(on.iter().filter(|c| right_only(c)).cloned());
        let between: Vec<&Conjunct> = on.iter().filter(|c| !right_only(c)).collect();
        let mut deps = EntrySet::new();
        let mut note = |seen: Seen<'_>, level: u16| {
            if let Seen::Expr(Expr::Column(c)) = seen
                && c.level == level
                && left_entries.contains(&c.entry)
            {
                deps.insert(c.entry);
            }
        };
        for e in &right_entries {
            if let Some(entry) = clause.entries.get(usize::from(*e)) {
                walk::source(&entry.source, 0, &mut note);
            }
        }
        if !deps.is_empty() {
            let frame = Scope::new(&left.layout, outer);
            let frames = frame.frames();
            let saved = self.save_lowest();
            let built = self.plan_items(clause, items, inner, None, Some(&frame));
            self.restore_lowest(saved, frames);
            let right = built?;
            let layout = left.layout.join(&right.layout);
            let predicate = self.conjunction(clause, between.into_iter(), &layout, outer)?;
            let width = right.layout.width();
            let estimate = rows * right.node.rows;
            let node = self.nested_loop(join, left.node, right.node, width, predicate, estimate);
            return Ok(Built::new(node, layout, left.sorted));
        }
        let right = self.plan_items(clause, items, inner, None, outer)?;
        self.outer_join_of(clause, join, left, &left_entries, right, &right_entries, &between, outer)
    }

    #[allow(clippy::too_many_arguments)]
    fn outer_join_of(
        &mut self,
        clause: &Clause<'_>,
        join: JoinType,
        left: Built,
        left_entries: &EntrySet,
        right: Built,
        right_entries: &EntrySet,
        between: &[&Conjunct],
        outer: Option<&Scope<'_>>,
    ) -> Result<Built> {
        let hashable = between.iter().any(|c| hash_sides(&c.expr, left_entries, right_entries).is_some());
        let rows = (left.node.rows).max(right.node.rows);
        if hashable {
            let depth = clause.depth;
            return self.hash_join(
                clause,
                join,
                left,
                left_entries,
                right,
                right_entries,
                between,
                rows,
                depth,
                outer,
            );
        }
        let constant = |c: &&&Conjunct| matches!(super::access::constant(&c.expr), Some(Value::Bool(_)));
        if join == JoinType::Full && !between.iter().all(|c| constant(&c)) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions",
            ));
        }
        let rows = left.node.rows * right.node.rows;
        self.plain_loop(clause, join, left, right, between, rows, outer)
    }
}

impl Choice<'_> {
    /// Whether a condition used for the range refers to other entries.
    pub(crate) fn is_parameterised(&self, conjuncts: &[&Conjunct], others: &EntrySet) -> bool {
        self.conditions()
            .iter()
            .filter_map(|i| conjuncts.get(*i))
            .any(|c| c.entries.iter().any(|e| others.contains(e)))
    }
}

/// Takes inner joins apart. An outer join whose nullable side some condition refuses when NULL is an inner one.
fn flatten<'q>(item: &'q FromItem, items: &mut Vec<&'q FromItem>, conjuncts: &mut Vec<Conjunct>) {
    let FromItem::Join { kind, left, right, on } = item else {
        items.push(item);
        return;
    };
    let refuses = |side: &FromItem, conjuncts: &[Conjunct]| {
        let mut entries = EntrySet::new();
        collect_entries(side, &mut entries);
        conjuncts.iter().any(|c| is_strict_on(&c.expr, &entries))
    };
    let inner = match kind {
        JoinKind::Inner | JoinKind::Cross => true,
        JoinKind::Left => refuses(right, conjuncts),
        JoinKind::Right => refuses(left, conjuncts),
        JoinKind::Full => false,
    };
    if !inner {
        items.push(item);
        return;
    }
    let mut parts = Vec::new();
    on.iter().for_each(|e| rewrite::split_and(e, &mut parts));
    conjuncts.extend(parts.into_iter().map(Conjunct::new));
    flatten(left, items, conjuncts);
    flatten(right, items, conjuncts);
}

/// Whether a condition cannot be true when these entries' columns are all NULL.
fn is_strict_on(e: &Expr, entries: &EntrySet) -> bool {
    match e {
        Expr::Call(call) if call.proc.strict => call.args.iter().any(|a| null_through(a, entries)),
        Expr::ScalarArray(call, false) if call.proc.strict => {
            call.args.first().is_some_and(|a| null_through(a, entries))
        }
        Expr::IsNotNull(x) => null_through(x, entries),
        _ => false,
    }
}

/// Whether an expression is NULL when these entries' columns are.
fn null_through(e: &Expr, entries: &EntrySet) -> bool {
    match e {
        Expr::Column(c) => c.level == 0 && entries.contains(&c.entry),
        Expr::Call(call) if call.proc.strict => call.args.iter().any(|a| null_through(a, entries)),
        Expr::Relabel(e, ..) | Expr::IoCast(e, ..) | Expr::Typmod(e, ..) => null_through(e, entries),
        _ => false,
    }
}

pub(crate) fn collect_entries(item: &FromItem, entries: &mut EntrySet) {
    match item {
        FromItem::Entry(e) => {
            entries.insert(*e as u16);
        }
        FromItem::Join { left, right, .. } => {
            collect_entries(left, entries);
            collect_entries(right, entries);
        }
    }
}

/// The sides of an equality that can be hashed: of the left entries, of the right ones.
fn hash_sides<'q>(e: &'q Expr, left: &EntrySet, right: &EntrySet) -> Option<(&'q Expr, &'q Expr, HashClass)> {
    let Expr::Call(call) = e else { return None };
    if super::access::strategy(call) != Some(super::access::Strategy::Equal) {
        return None;
    }
    let [a, b] = call.args.as_slice() else { return None };
    let class = HashClass::common(type_of(a.typ()).ok()?, type_of(b.typ()).ok()?)?;
    let of = |e: &Expr| {
        let c = Conjunct::new(e);
        (!c.volatile && !c.entries.is_empty()).then_some(c.entries)
    };
    let (a_set, b_set) = (of(a)?, of(b)?);
    if a_set.is_subset(left) && b_set.is_subset(right) {
        return Some((a, b, class));
    }
    if b_set.is_subset(left) && a_set.is_subset(right) {
        return Some((b, a, class));
    }
    None
}

/// `column = value` of a system relation, where the value is known beforehand.
fn column_equals(e: &Expr, entry: u16) -> Option<(usize, &Expr)> {
    let Expr::Call(call) = e else { return None };
    if super::access::strategy(call) != Some(super::access::Strategy::Equal) {
        return None;
    }
    let [a, b] = call.args.as_slice() else { return None };
    for (column, value) in [(a, b), (b, a)] {
        if let Expr::Column(c) = rewrite::strip(column)
            && c.level == 0
            && c.entry == entry
            && column.typ().oid == value.typ().oid
            && !walk::is_volatile(value)
            && Conjunct::new(value).entries.is_empty()
            && !walk::has_subquery(value)
        {
            return Some((usize::from(c.column), value));
        }
    }
    None
}

/// An order over columns, for callers outside.
pub type Order = ColumnOrder;
