//! GROUP BY: grouping expressions and sets, and the check that nothing ungrouped is used (compare `transformGroupClause` in
//! `parse_clause.c`, `parseCheckAggregates` in `parse_agg.c`).

use super::scope::{Clause, Scope};
use super::target::Target;
use super::visit;
use crate::bound::{
    Body, ColumnRef, Distinct, EntryColumn, Expr, FromItem, Query, QueryColumn, RangeEntry, Select, Source,
    SqlType,
};
use crate::parse::ast;
use catalog::object::ConstraintKind;
use catalog::{Result, SqlError, SqlState};

/// Marks an [`Expr::Grouping`] whose second number is still a place in `Scope::groupings`.
pub(super) const PENDING_GROUPING: usize = usize::MAX;

/// Entry numbers by which subqueries refer to the aggregates and grouping keys of a query around; [`split`] makes columns of them.
pub(super) const AGGREGATES: u16 = u16::MAX - 1;
const KEYS: u16 = u16::MAX - 2;

/// Most grouping sets (PostgreSQL's limit).
const SETS_MAX: usize = 4096;

/// GROUP BY before the aggregates are known.
#[derive(Default)]
pub(super) struct Grouping {
    /// Places of targets that are grouped by.
    places: Vec<usize>,
    /// Sets of places in `places`; `None` without GROUPING SETS.
    sets: Option<Vec<Vec<usize>>>,
}

/// GROUP BY as the bound tree has it.
#[derive(Default)]
pub(super) struct Grouped {
    pub(super) keys: Vec<Expr>,
    pub(super) sets: Option<Vec<Vec<usize>>>,
}

impl Scope<'_> {
    /// `transformGroupClause`
    pub(super) fn group_clause(
        &self,
        items: &[ast::Grouping],
        distinct: bool,
        targets: &mut Vec<Target>,
    ) -> Result<Grouping> {
        let mut grouping = Grouping::default();
        let plain = items.iter().all(|i| matches!(i, ast::Grouping::Expr(_)));
        let mut parts: Vec<Vec<Vec<usize>>> = Vec::new();
        for item in items {
            parts.push(self.group_item(item, targets, &mut grouping.places)?);
        }
        if plain {
            return Ok(grouping);
        }
        // The sets of the clause are the cross product of its items' sets.
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for part in parts {
            if sets.len().saturating_mul(part.len()) > SETS_MAX {
                let message = "too many grouping sets present (maximum 4096)";
                return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
            }
            let mut next = Vec::with_capacity(sets.len() * part.len());
            for set in &sets {
                for more in &part {
                    let mut all = set.clone();
                    all.extend(more.iter().filter(|k| !set.contains(k)));
                    next.push(all);
                }
            }
            sets = next;
        }
        if distinct {
            let mut seen: Vec<Vec<usize>> = Vec::new();
            sets.retain(|set| {
                let mut sorted = set.clone();
                sorted.sort_unstable();
                let new = !seen.contains(&sorted);
                seen.push(sorted);
                new
            });
        }
        grouping.sets = Some(sets);
        Ok(grouping)
    }

    /// One item as a list of sets.
    fn group_item(
        &self,
        item: &ast::Grouping,
        targets: &mut Vec<Target>,
        places: &mut Vec<usize>,
    ) -> Result<Vec<Vec<usize>>> {
        match item {
            ast::Grouping::Empty => Ok(vec![Vec::new()]),
            ast::Grouping::Expr(expr) => Ok(vec![self.group_expr(expr, targets, places)?]),
            ast::Grouping::Rollup(list) => {
                let units = self.group_units(list, targets, places)?;
                let prefixes = (0..=units.len()).rev();
                Ok(prefixes.map(|n| units.iter().take(n).flatten().copied().collect()).collect())
            }
            ast::Grouping::Cube(list) => {
                let units = self.group_units(list, targets, places)?;
                if units.len() > 12 {
                    let message = "CUBE is limited to 12 elements";
                    return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, message));
                }
                // All subsets, the fullest first.
                let mut sets = Vec::with_capacity(1 << units.len());
                for mask in (0..1_usize << units.len()).rev() {
                    let chosen =
                        units.iter().enumerate().filter(|(i, _)| mask & (1 << (units.len() - 1 - i)) != 0);
                    sets.push(chosen.flat_map(|(_, unit)| unit.iter().copied()).collect());
                }
                Ok(sets)
            }
            ast::Grouping::Sets(list) => {
                let mut sets = Vec::new();
                for item in list {
                    sets.extend(self.group_item(item, targets, places)?);
                }
                Ok(sets)
            }
        }
    }

    fn group_units(
        &self,
        list: &[ast::Grouping],
        targets: &mut Vec<Target>,
        places: &mut Vec<usize>,
    ) -> Result<Vec<Vec<usize>>> {
        let mut units = Vec::with_capacity(list.len());
        for item in list {
            units.extend(self.group_item(item, targets, places)?);
        }
        Ok(units)
    }

    /// A grouping expression; `(a, b)` is several.
    fn group_expr(
        &self,
        expr: &ast::Expr,
        targets: &mut Vec<Target>,
        places: &mut Vec<usize>,
    ) -> Result<Vec<usize>> {
        let mut keys = Vec::new();
        if let ast::ExprKind::Row(items, false) = &expr.kind {
            for item in items {
                keys.extend(self.group_expr(item, targets, places)?);
            }
            return Ok(keys);
        }
        let target = self.find_target(expr, targets, Clause::GroupBy)?;
        if let Some(t) = targets.get_mut(target)
            && t.expr.typ().oid == catalog::types::oid::UNKNOWN
        {
            let bound = std::mem::replace(&mut t.expr, Expr::Grouping(Vec::new()));
            t.expr = self.settle_unknown(bound)?;
        }
        if let Some(t) = targets.get(target) {
            self.forbid_in_group_by(&t.expr, expr.leftmost())?;
            self.equality(t.expr.typ(), expr.leftmost())?;
        }
        let key = match places.iter().position(|p| *p == target) {
            Some(key) => key,
            None => {
                places.push(target);
                places.len() - 1
            }
        };
        keys.push(key);
        Ok(keys)
    }

    /// Output columns that hold aggregates or window functions cannot be grouped by.
    fn forbid_in_group_by(&self, expr: &Expr, position: u32) -> Result<()> {
        let has = |wanted: fn(&Expr) -> bool| visit::any(expr, &mut |e, level| level == 0 && wanted(e));
        if has(|e| matches!(e, Expr::Aggregate(..))) {
            let message = "aggregate functions are not allowed in GROUP BY";
            return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(position));
        }
        if has(|e| matches!(e, Expr::Window(..))) {
            let message = "window functions are not allowed in GROUP BY";
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(position));
        }
        Ok(())
    }

    /// Replaces grouping expressions by their keys everywhere above the grouping, and raises 42803 for columns left over.
    pub(super) fn group(
        &self,
        grouping: Grouping,
        grouped: bool,
        targets: &mut [Expr],
        having: &mut Option<Expr>,
    ) -> Result<Grouped> {
        if !grouped {
            return Ok(Grouped::default());
        }
        let mut keys = Vec::with_capacity(grouping.places.len());
        for place in &grouping.places {
            keys.push(
                targets
                    .get(*place)
                    .cloned()
                    .ok_or_else(|| SqlError::internal("a grouping key is a target"))?,
            );
        }
        let mut result = Grouped { keys, sets: grouping.sets };
        let own = result.keys.len();
        for target in targets.iter_mut() {
            self.regroup(target, &mut result, own)?;
        }
        if let Some(having) = having {
            self.regroup(having, &mut result, own)?;
        }
        let mut windows = self.windows.take();
        for window in &mut windows {
            let call = &mut window.call;
            let exprs = call.args.iter_mut().chain(&mut call.filter).chain(&mut window.partition_by);
            for expr in exprs.chain(window.order_by.iter_mut().map(|(e, _, _)| e)) {
                self.regroup(expr, &mut result, own)?;
            }
        }
        self.windows.replace(windows);
        let mut sets = self.set_functions.take();
        for expr in sets.iter_mut().flat_map(|call| &mut call.args) {
            self.regroup(expr, &mut result, own)?;
        }
        self.set_functions.replace(sets);
        Ok(result)
    }

    fn regroup(&self, expr: &mut Expr, grouped: &mut Grouped, own: usize) -> Result<()> {
        let mut failed: Option<SqlError> = None;
        visit::walk(expr, 0, &mut |e, level| {
            if failed.is_some() {
                return false;
            }
            if level == 0 {
                if let Some(place) = grouped.keys.iter().take(own).position(|k| visit::same(k, e)) {
                    *e = Expr::GroupKey(place, e.typ());
                    return false;
                }
                if let Expr::Grouping(pending) = e {
                    if let [PENDING_GROUPING, place] = pending.as_slice() {
                        match self.grouping_keys(*place, grouped) {
                            Ok(keys) => *pending = keys,
                            Err(error) => failed = Some(error),
                        }
                    }
                    return false;
                }
            }
            let Expr::Column(column) = e else { return true };
            if column.level != level || column.entry >= KEYS {
                return true;
            }
            let here = Expr::Column(crate::bound::ColumnRef { level: 0, ..*column });
            let known = grouped.keys.iter().position(|k| visit::same(k, &here));
            let key = match known {
                Some(place) => Some(place),
                None if self.depends_on_key(column.entry, &grouped.keys, grouped.sets.is_some()) => {
                    // Determined by the primary key: one more key changes no group.
                    grouped.keys.push(here.clone());
                    let place = grouped.keys.len() - 1;
                    for set in grouped.sets.iter_mut().flatten() {
                        set.push(place);
                    }
                    Some(place)
                }
                None => None,
            };
            match key {
                Some(place) if level == 0 => *e = Expr::GroupKey(place, column.typ),
                Some(place) => {
                    self.used_below.set(true);
                    column.entry = KEYS;
                    column.column = place as u16;
                }
                None => failed = Some(self.ungrouped(column.entry, column.column, level > 0)),
            }
            false
        });
        failed.map_or(Ok(()), Err)
    }

    fn grouping_keys(&self, place: usize, grouped: &Grouped) -> Result<Vec<usize>> {
        let list = self.groupings.borrow();
        let Some(args) = list.get(place) else { return Ok(Vec::new()) };
        let key = |(arg, position): &(Expr, u32)| {
            grouped.keys.iter().position(|k| visit::same(k, arg)).ok_or_else(|| {
                let message =
                    "arguments to GROUPING must be grouping expressions of the associated query level";
                SqlError::new(SqlState::GROUPING_ERROR, message).at(*position)
            })
        };
        args.iter().map(key).collect()
    }

    /// Whether the keys hold the primary key of the entry's table (`check_functional_grouping`).
    fn depends_on_key(&self, entry: u16, keys: &[Expr], sets: bool) -> bool {
        if sets {
            return false;
        }
        let entries = self.entries.borrow();
        let Some(Source::Table(table)) = entries.get(usize::from(entry)).map(|e| &e.source) else {
            return false;
        };
        let grouped = |place: &u16| {
            keys.iter().any(
                |k| matches!(k, Expr::Column(c) if c.level == 0 && c.entry == entry && c.column == *place),
            )
        };
        let objects = &self.binder.objects;
        objects.constraints_of(table.oid).any(|c| {
            matches!(c.kind, ConstraintKind::PrimaryKey { .. })
                && !c.deferrable
                && c.columns.iter().all(grouped)
        })
    }

    fn ungrouped(&self, entry: u16, column: u16, in_subquery: bool) -> SqlError {
        let entries = self.entries.borrow();
        let name = entries.get(usize::from(entry)).map_or_else(String::new, |e| {
            let column = e.columns.get(usize::from(column)).map_or("", |c| c.name.as_str());
            format!("{}.{column}", e.alias)
        });
        let message = if in_subquery {
            format!("subquery uses ungrouped column \"{name}\" from outer query")
        } else {
            format!(
                "column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function"
            )
        };
        let error = SqlError::new(SqlState::GROUPING_ERROR, message);
        error.at(self.column_positions.borrow().get(&(entry, column)).copied().unwrap_or(0))
    }
}

/// Splits a grouped SELECT whose subqueries look at its aggregates or grouping columns: the grouping moves into a subquery in FROM,
/// whose columns everything above it reads.
pub(super) fn split(select: &mut Select) {
    let aggregates = select.aggregates.len();
    let keys = select.group_by.len();
    let mut targets: Vec<Expr> =
        select.aggregates.iter().enumerate().map(|(i, a)| Expr::Aggregate(i, a.typ)).collect();
    targets.extend(select.group_by.iter().enumerate().map(|(i, k)| Expr::GroupKey(i, k.typ())));
    let own = |column: usize, typ: SqlType| {
        Expr::Column(ColumnRef { level: 0, entry: 0, column: column as u16, typ })
    };
    let mut lift = |expr: &mut Expr| {
        visit::walk(expr, 0, &mut |e, level| {
            match e {
                Expr::Aggregate(i, typ) if level == 0 => *e = own(*i, *typ),
                Expr::GroupKey(i, typ) if level == 0 => *e = own(aggregates + *i, *typ),
                Expr::Grouping(_) if level == 0 => {
                    let typ = e.typ();
                    let place = targets.iter().position(|t| visit::same(t, e)).unwrap_or_else(|| {
                        targets.push(e.clone());
                        targets.len() - 1
                    });
                    *e = own(place, typ);
                }
                Expr::Column(c) if c.level == level && c.entry == AGGREGATES => c.entry = 0,
                Expr::Column(c) if c.level == level && c.entry == KEYS => {
                    c.entry = 0;
                    c.column += aggregates as u16;
                }
                _ => {}
            }
            true
        });
    };
    select.targets.iter_mut().chain(&mut select.having).for_each(&mut lift);
    for window in &mut select.windows {
        let call = &mut window.call;
        call.args.iter_mut().chain(&mut call.filter).chain(&mut window.partition_by).for_each(&mut lift);
        window.order_by.iter_mut().for_each(|(e, _, _)| lift(e));
    }
    select.set_functions.iter_mut().flat_map(|c| &mut c.args).for_each(&mut lift);
    debug_assert!(targets.len() >= aggregates + keys);
    let columns: Vec<QueryColumn> =
        targets.iter().map(|t| QueryColumn { name: String::new(), typ: t.typ(), origin: None }).collect();
    let entry = RangeEntry {
        alias: "grouped".into(),
        columns: columns.iter().map(|c| EntryColumn { name: String::new(), typ: c.typ }).collect(),
        source: Source::Given,
        lateral: false,
    };
    let inner = Select {
        entries: std::mem::replace(&mut select.entries, vec![entry]),
        from: std::mem::replace(&mut select.from, vec![FromItem::Entry(0)]),
        filter: std::mem::replace(&mut select.filter, select.having.take()),
        group_by: std::mem::take(&mut select.group_by),
        grouping_sets: select.grouping_sets.take(),
        grouped: std::mem::replace(&mut select.grouped, false),
        aggregates: std::mem::take(&mut select.aggregates),
        having: None,
        windows: Vec::new(),
        set_functions: Vec::new(),
        visible: targets.len(),
        targets,
        distinct: Distinct::None,
    };
    let mut query = Query {
        ctes: Vec::new(),
        body: Body::Select(Box::new(inner)),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns,
    };
    visit::sink(&mut query, true);
    if let Some(entry) = select.entries.first_mut() {
        entry.source = Source::Subquery(Box::new(query));
    }
}
