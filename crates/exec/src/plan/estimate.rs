//! How many rows conditions leave, from a table's statistics (`selfuncs.c`); where there are none, `rewrite::selectivity` guesses by shape.

use super::PlanContext;
use super::access::{Strategy, coercion, constant, strategy, widened};
use super::rewrite;
use crate::bound::{Call, Expr};
use catalog::object::{IndexKey, Table};
use catalog::statistics::{ColumnStatistics, TableStatistics};
use catalog::types::{self, Type};
use catalog::{Datum, Oid, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// `DEFAULT_INEQ_SEL`: what a bound leaves whose value is not known yet.
const UNKNOWN_BOUND: f64 = 1.0 / 3.0;
/// `DEFAULT_RANGE_INEQ_SEL`: the same of two bounds.
const UNKNOWN_RANGE: f64 = 0.005;
/// `DEFAULT_NUM_DISTINCT`
const UNKNOWN_DISTINCT: f64 = 200.0;

/// Estimates for one table of a query.
pub(super) struct Estimator<'t> {
    table: &'t Table,
    entry: u16,
    rows: f64,
    statistics: Option<Arc<TableStatistics>>,
    /// Columns that are unique by themselves.
    unique: Vec<u16>,
}

/// A bound of a range.
pub(super) type Bound<'q> = Option<(&'q Expr, bool)>;

impl<'t> Estimator<'t> {
    /// For a table that is the query's entry of this number and has so many rows.
    pub(super) fn new(cx: Option<&PlanContext<'_>>, table: &'t Table, entry: u16, rows: f64) -> Self {
        let statistics = cx.and_then(|cx| cx.objects.statistics.get(&table.oid).cloned());
        let mut unique = Vec::new();
        for index in cx.iter().flat_map(|cx| cx.objects.indexes_of(table.oid)) {
            if let [only] = index.columns.as_slice()
                && let IndexKey::Column(place) = only.key
                && index.unique
                && index.predicate.is_none()
            {
                unique.push(place);
            }
        }
        Estimator { table, entry, rows: rows.max(1.0), statistics, unique }
    }

    /// Whether the table was analyzed.
    pub(super) fn is_informed(&self) -> bool {
        self.statistics.as_ref().is_some_and(|s| !s.columns.is_empty())
    }

    /// The share of the rows for which all conditions hold (`clauselist_selectivity`): two bounds of one column are a range.
    pub(super) fn all<'c>(&self, conditions: impl Iterator<Item = &'c Expr>) -> f64 {
        let mut share = 1.0;
        let mut ranges: Vec<(u16, Bound<'_>, Bound<'_>)> = Vec::new();
        for e in conditions {
            let Some((column, strategy, value)) = self.compared(e) else {
                share *= self.selectivity(e);
                continue;
            };
            let inclusive = matches!(strategy, Strategy::LessEqual | Strategy::GreaterEqual);
            let lower = matches!(strategy, Strategy::Greater | Strategy::GreaterEqual);
            if strategy == Strategy::Equal {
                share *= self.selectivity(e);
                continue;
            }
            let place = ranges.iter().position(|(c, low, high)| {
                *c == column && if lower { low.is_none() } else { high.is_none() }
            });
            let place = place.unwrap_or_else(|| {
                ranges.push((column, None, None));
                ranges.len() - 1
            });
            if let Some((_, low, high)) = ranges.get_mut(place) {
                *(if lower { low } else { high }) = Some((value, inclusive));
            }
        }
        for (column, lower, upper) in ranges {
            share *= self.range(column, lower, upper);
        }
        share.clamp(0.0, 1.0)
    }

    /// The share of the rows for which a condition holds.
    pub(super) fn selectivity(&self, e: &Expr) -> f64 {
        match e {
            Expr::And(list) => self.all(list.iter()),
            Expr::Or(list) => {
                // As alternatives that have nothing to do with each other (`clauselist_selectivity_or`).
                list.iter().fold(0.0, |sum, e| {
                    let one = self.selectivity(e);
                    sum + one - sum * one
                })
            }
            Expr::Not(e) => 1.0 - self.selectivity(e),
            Expr::IsNull(x) => self.nulls(x).unwrap_or_else(|| rewrite::selectivity(e)),
            Expr::IsNotNull(x) => self.nulls(x).map_or_else(|| rewrite::selectivity(e), |nulls| 1.0 - nulls),
            Expr::ScalarArray(call, false) => self.list(call).unwrap_or_else(|| rewrite::selectivity(e)),
            Expr::Column(_) => self.equal_to(e, Some(&Value::Bool(true))),
            Expr::Call(call) => match self.compared(e) {
                Some((column, Strategy::Equal, value)) => self.equal(column, constant(value)),
                Some((column, strategy, value)) => {
                    let inclusive = matches!(strategy, Strategy::LessEqual | Strategy::GreaterEqual);
                    match strategy {
                        Strategy::Less | Strategy::LessEqual => {
                            self.range(column, None, Some((value, inclusive)))
                        }
                        _ => self.range(column, Some((value, inclusive)), None),
                    }
                }
                None => self.unequal(call).unwrap_or_else(|| rewrite::selectivity(e)),
            },
            _ => rewrite::selectivity(e),
        }
    }

    /// Distinct values of a column among all rows.
    pub(super) fn distinct(&self, column: u16) -> f64 {
        if self.unique.contains(&column) {
            return self.rows;
        }
        let known = self.of(column).and_then(|c| c.distinct_of(self.rows));
        known.unwrap_or(UNKNOWN_DISTINCT).clamp(1.0, self.rows)
    }

    /// Average bytes of these columns' values.
    pub(super) fn width(&self, columns: impl Iterator<Item = u16>) -> usize {
        columns.map(|column| self.width_of(column)).sum()
    }

    fn width_of(&self, place: u16) -> usize {
        let Some(column) = self.table.columns.get(usize::from(place)) else { return 0 };
        if let Some(found) = self.of(place).filter(|c| c.width > 0) {
            return found.width as usize;
        }
        average_width(column.typ, column.typmod)
    }

    /// The share of rows with a column between two bounds.
    pub(super) fn range(&self, column: u16, lower: Bound<'_>, upper: Bound<'_>) -> f64 {
        let unknown = match (&lower, &upper) {
            (None, None) => return 1.0,
            (Some(_), Some(_)) => UNKNOWN_RANGE,
            _ => UNKNOWN_BOUND,
        };
        let (Some(found), Some(typ)) = (self.of(column), self.type_of(column)) else { return unknown };
        let value = |bound: &Bound<'_>| match bound {
            None => Some(None),
            Some((e, inclusive)) => constant(e).map(|v| Some((v.clone(), *inclusive))),
        };
        let (Some(lower), Some(upper)) = (value(&lower), value(&upper)) else { return unknown };
        if [&lower, &upper].into_iter().flatten().any(|(v, _)| v.is_null()) {
            return 0.0;
        }
        let inside = |d: Datum<'_>| {
            let low = lower.as_ref().is_none_or(|(v, inclusive)| match (typ.compare)(d, v.datum()) {
                Ordering::Greater => true,
                Ordering::Equal => *inclusive,
                Ordering::Less => false,
            });
            low && upper.as_ref().is_none_or(|(v, inclusive)| match (typ.compare)(d, v.datum()) {
                Ordering::Less => true,
                Ordering::Equal => *inclusive,
                Ordering::Greater => false,
            })
        };
        let common = found.common.read();
        let frequencies = || found.frequencies.iter().copied();
        let among: f64 = common.iter().zip(frequencies()).filter(|(d, _)| inside(*d)).map(|(_, f)| f).sum();
        let rest = (1.0 - found.null_fraction - frequencies().sum::<f64>()).max(0.0);
        let bounds: Vec<Datum<'_>> = found.histogram.read().iter().collect();
        let share = if bounds.len() >= 2 {
            let below = |v: &Value| position(typ, &bounds, v.datum());
            let low = lower.as_ref().map_or(0.0, |(v, _)| below(v));
            let high = upper.as_ref().map_or(1.0, |(v, _)| below(v));
            (high - low).max(0.0)
        } else {
            unknown
        };
        // At least one row, so that joins over it do not look free.
        (among + share * rest).clamp(1.0 / self.rows, 1.0)
    }

    fn of(&self, column: u16) -> Option<&ColumnStatistics> {
        let typ = self.table.columns.get(usize::from(column))?.typ;
        self.statistics.as_ref()?.column(column, typ)
    }

    fn type_of(&self, column: u16) -> Option<&'static Type> {
        types::by_oid(self.table.columns.get(usize::from(column))?.typ)
    }

    /// A column of this table.
    fn column(&self, e: &Expr) -> Option<u16> {
        match rewrite::strip(e) {
            Expr::Column(c) if c.level == 0 && c.entry == self.entry => Some(c.column),
            _ => None,
        }
    }

    /// A comparison of a column with something else: the column, how, and with what.
    fn compared<'e>(&self, e: &'e Expr) -> Option<(u16, Strategy, &'e Expr)> {
        let Expr::Call(call) = e else { return None };
        let strategy = strategy(call)?;
        self.sides(call).map(|(column, value, commuted)| {
            (column, if commuted { strategy.commuted() } else { strategy }, value)
        })
    }

    fn sides<'e>(&self, call: &'e Call) -> Option<(u16, &'e Expr, bool)> {
        let [left, right] = call.args.as_slice() else { return None };
        for (side, value, commuted) in [(left, right, false), (right, left, true)] {
            let Some(column) = self.column(widened(side)) else { continue };
            let typ = self.table.columns.get(usize::from(column)).map_or(Oid::INVALID, |c| c.typ);
            let fits =
                coercion(typ, value.typ().oid).or_else(|| coercion(typ, rewrite::strip(value).typ().oid));
            if fits.is_some() {
                return Some((column, value, commuted));
            }
        }
        None
    }

    fn nulls(&self, e: &Expr) -> Option<f64> {
        let column = self.column(e)?;
        if self.table.columns.get(usize::from(column)).is_some_and(|c| c.not_null) {
            return Some(0.0);
        }
        self.of(column).map(|c| c.null_fraction)
    }

    fn equal_to(&self, e: &Expr, value: Option<&Value>) -> f64 {
        match self.column(e) {
            Some(column) => self.equal(column, value),
            None => rewrite::selectivity(e),
        }
    }

    /// `column = value` (`var_eq_const`, `var_eq_non_const`).
    pub(super) fn equal(&self, column: u16, value: Option<&Value>) -> f64 {
        if value.is_some_and(Value::is_null) {
            return 0.0;
        }
        if self.unique.contains(&column) {
            return 1.0 / self.rows;
        }
        let (Some(found), Some(typ)) = (self.of(column), self.type_of(column)) else {
            return 1.0 / self.distinct(column);
        };
        let distinct = self.distinct(column);
        let common: f64 = found.frequencies.iter().sum();
        let share = match value {
            None => {
                let share = (1.0 - found.null_fraction) / distinct;
                found.frequencies.first().map_or(share, |most| share.min(*most))
            }
            Some(value) => {
                let hit = found
                    .common
                    .read()
                    .iter()
                    .zip(&found.frequencies)
                    .find(|(d, _)| (typ.compare)(*d, value.datum()).is_eq())
                    .map(|(_, f)| *f);
                hit.unwrap_or_else(|| {
                    let others = (distinct - found.frequencies.len() as f64).max(1.0);
                    let share = (1.0 - common - found.null_fraction).max(0.0) / others;
                    found.frequencies.last().map_or(share, |least| share.min(*least))
                })
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// `column <> value`
    fn unequal(&self, call: &Call) -> Option<f64> {
        if !matches!(call.args.len(), 2) || !call.proc.name.ends_with("ne") {
            return None;
        }
        let (column, value, _) = self.sides(call)?;
        let nulls = self.of(column).map_or(0.0, |c| c.null_fraction);
        Some((1.0 - self.equal(column, constant(value)) - nulls).clamp(0.0, 1.0))
    }

    /// `column = ANY (...)`
    fn list(&self, call: &Call) -> Option<f64> {
        if strategy(call) != Some(Strategy::Equal) {
            return None;
        }
        let [left, right] = call.args.as_slice() else { return None };
        let column = self.column(widened(left))?;
        let share: f64 = match right {
            Expr::Array(list, ..) => list.iter().map(|e| self.equal(column, constant(e))).sum(),
            // `estimate_array_length`
            _ => 10.0 * self.equal(column, None),
        };
        Some(share.min(1.0))
    }
}

/// Which share of a histogram lies below a value (`ineq_histogram_selectivity`).
fn position(typ: &Type, bounds: &[Datum<'_>], value: Datum<'_>) -> f64 {
    let bins = (bounds.len() - 1) as f64;
    let after = bounds.partition_point(|b| (typ.compare)(*b, value).is_lt());
    if after == 0 {
        return 0.0;
    }
    let (Some(low), Some(high)) = (bounds.get(after - 1), bounds.get(after)) else { return 1.0 };
    let number = |d: Datum<'_>| match d {
        Datum::Int(v) => Some(v as f64),
        Datum::Float(v) => Some(v).filter(|v| v.is_finite()),
        _ => None,
    };
    let within = match (number(*low), number(*high), number(value)) {
        (Some(low), Some(high), Some(value)) if high > low => ((value - low) / (high - low)).clamp(0.0, 1.0),
        _ => 0.5,
    };
    (after as f64 - 1.0 + within) / bins
}

/// Average bytes of a type's values (`get_typavgwidth`).
pub(super) fn average_width(typ: Oid, typmod: i32) -> usize {
    let len = types::by_oid(typ).map_or(-1, |t| t.len);
    match len {
        1.. => len as usize,
        _ if typmod > 4 => {
            let most = (typmod - 4) as usize;
            let padded = typ == types::oid::BPCHAR;
            match most {
                _ if padded => most,
                0..=32 => most,
                33..1000 => 32 + (most - 32) / 2,
                _ => 32 + (1000 - 32) / 2,
            }
        }
        _ => 32,
    }
}

/// How selective an equality of two tables' columns is (`eqjoinsel`), given how to find a column's number of distinct values.
pub(super) fn join_selectivity(e: &Expr, distinct: &dyn Fn(u16, u16) -> Option<f64>) -> Option<f64> {
    let Expr::Call(call) = e else { return None };
    if strategy(call) != Some(Strategy::Equal) {
        return None;
    }
    let [left, right] = call.args.as_slice() else { return None };
    let mut most: f64 = 1.0;
    for side in [left, right] {
        let Expr::Column(c) = widened(side) else { return None };
        if c.level != 0 {
            return None;
        }
        most = most.max(distinct(c.entry, c.column)?);
    }
    Some(1.0 / most)
}
