//! FROM and WHERE: scans with their conditions, hash joins on equalities, filters for the rest.

use super::{Lowerer, Relation, is_detached, type_of};
use crate::column::{Kind, is_native};
use crate::expression::{Computed, Form};
use crate::scan::{ScanColumn, ScanSpec};
use crate::tree::Tree;
use catalog::object::Table;
use catalog::types::oid;
use datafusion::common::JoinType;
use exec::bound::{Call, ColumnRef, Expr, FromItem, JoinKind, Select, Source};
use exec::plan::access::row_layout;
use exec::plan::rewrite::{selectivity, split_and};
use exec::plan::scope::{Layout, SlotKey};
use exec::plan::walk::{self, Seen};
use exec::row::hash::HashClass;
use std::sync::Arc;

/// Where a column of the query's own entries lies.
pub fn column_key(c: &ColumnRef) -> SlotKey {
    SlotKey::Column(0, c.entry, c.column)
}

/// A set of range entries.
type Entries = u64;

fn bit(entry: usize) -> Option<Entries> {
    (entry < 64).then(|| 1 << entry)
}

/// The entries that an expression reads.
fn entries_of(e: &Expr) -> Option<Entries> {
    let mut entries = Some(0);
    walk::expr(e, 0, &mut |seen, level| {
        if let Seen::Expr(Expr::Column(c)) = seen
            && c.level == level
        {
            entries = entries.and_then(|all| Some(all | bit(usize::from(c.entry))?));
        }
    });
    entries
}

fn entries_in(item: &FromItem) -> Option<Entries> {
    match item {
        FromItem::Entry(entry) => bit(*entry),
        FromItem::Join { left, right, .. } => Some(entries_in(left)? | entries_in(right)?),
    }
}

/// A condition and the entries that it reads.
#[derive(Clone, Copy)]
struct Condition<'q> {
    expr: &'q Expr,
    entries: Entries,
}

fn conditions<'q>(e: Option<&'q Expr>, all: &mut Vec<Condition<'q>>) -> Option<()> {
    let mut parts = Vec::new();
    e.iter().for_each(|e| split_and(e, &mut parts));
    for expr in parts {
        all.push(Condition { expr, entries: entries_of(expr)? });
    }
    Some(())
}

/// A relation and the entries that it joins.
struct Part {
    relation: Relation,
    entries: Entries,
}

/// The join tree and the columns that what stands above it reads.
struct From<'q> {
    select: &'q Select,
    used: Vec<Vec<u16>>,
}

impl Lowerer<'_> {
    /// The rows of FROM that satisfy WHERE.
    pub(super) fn from(&mut self, select: &Select) -> Option<Relation> {
        let mut used = vec![Vec::new(); select.entries.len()];
        let mut plain = true;
        walk::select(select, 0, &mut |seen, level| match seen {
            Seen::Expr(Expr::Column(c)) if level == 0 => match used.get_mut(usize::from(c.entry)) {
                Some(list) if c.level == 0 => list.push(c.column),
                _ => plain = false,
            },
            Seen::Expr(Expr::Subquery(_)) => plain = false,
            _ => {}
        });
        if !plain || select.from.is_empty() {
            return None;
        }
        for list in &mut used {
            list.sort_unstable();
            list.dedup();
        }
        let from = From { select, used };
        let mut all = Vec::new();
        conditions(select.filter.as_ref(), &mut all)?;
        let items: Vec<&FromItem> = select.from.iter().collect();
        Some(self.joined(&from, &items, all)?.relation)
    }

    /// Items joined by inner joins, under conditions.
    fn joined<'q>(
        &mut self,
        from: &From<'q>,
        items: &[&'q FromItem],
        mut all: Vec<Condition<'q>>,
    ) -> Option<Part> {
        let mut units = Vec::new();
        for item in items {
            flatten(item, &mut units, &mut all)?;
        }
        let mut parts = Vec::with_capacity(units.len());
        for unit in units {
            let entries = entries_in(unit)?;
            let own: Vec<_> =
                all.iter().filter(|c| c.entries & !entries == 0 && c.entries != 0).copied().collect();
            all.retain(|c| c.entries & !entries != 0 || c.entries == 0);
            parts.push(Part { relation: self.unit(from, unit, own)?, entries });
        }
        // The largest streams; the others are hashed, smallest first, as far as equalities connect them.
        let largest = (0..parts.len()).max_by(|a, b| {
            let rows = |i: &usize| parts.get(*i).map_or(0.0, |p| p.relation.rows);
            rows(a).total_cmp(&rows(b))
        })?;
        let mut joined = parts.swap_remove(largest);
        while !parts.is_empty() {
            self.heavy = true;
            let connected =
                |part: &Part| all.iter().any(|c| equality(c.expr, part.entries, joined.entries).is_some());
            let candidates = (0..parts.len()).filter(|i| parts.get(*i).is_some_and(connected));
            let next = candidates.min_by(|a, b| {
                let rows = |i: &usize| parts.get(*i).map_or(0.0, |p| p.relation.rows);
                rows(a).total_cmp(&rows(b))
            })?;
            let build = parts.swap_remove(next);
            let mut on = Vec::new();
            let mut rest = Vec::new();
            for condition in all {
                let pair = equality(condition.expr, build.entries, joined.entries);
                let keys = pair
                    .and_then(|pair| self.key_pair(pair, &build.relation.layout, &joined.relation.layout));
                match keys {
                    Some(keys) => on.push(keys),
                    None => rest.push(condition),
                }
            }
            all = rest;
            joined = join(JoinType::Inner, build, joined, on)?;
            let (now, later): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|c| c.entries & !joined.entries == 0 && c.entries != 0);
            all = later;
            joined.relation = self.filtered(joined.relation, &now)?;
        }
        joined.relation = self.filtered(joined.relation, &all)?;
        Some(joined)
    }

    /// An entry or an outer join, under conditions on it.
    fn unit<'q>(&mut self, from: &From<'q>, item: &'q FromItem, own: Vec<Condition<'q>>) -> Option<Relation> {
        let (kind, left, right, on) = match item {
            FromItem::Entry(entry) => return self.entry(from, *entry, &own),
            FromItem::Join { kind, left, right, on } => (*kind, &**left, &**right, on.as_ref()),
        };
        self.heavy = true;
        let (preserved, nullable) = if kind == JoinKind::Right { (right, left) } else { (left, right) };
        let preserved_entries = entries_in(preserved)?;
        let nullable_entries = entries_in(nullable)?;
        let mut connecting = Vec::new();
        conditions(on, &mut connecting)?;
        let (mut above, mut below) = (own, Vec::new());
        let mut inside = Vec::new();
        if kind != JoinKind::Full {
            // WHERE filters the preserved side before the join as well as after it; ON the other side.
            (below, above) = above.into_iter().partition(|c| c.entries & !preserved_entries == 0);
            (inside, connecting) =
                connecting.into_iter().partition(|c| c.entries & !nullable_entries == 0 && c.entries != 0);
        }
        let preserved = self.joined(from, &[preserved], below)?;
        let nullable = self.joined(from, &[nullable], inside)?;
        let mut keys = Vec::with_capacity(connecting.len());
        for condition in &connecting {
            let pair = equality(condition.expr, nullable.entries, preserved.entries)?;
            keys.push(self.key_pair(pair, &nullable.relation.layout, &preserved.relation.layout)?);
        }
        // The smaller side is hashed.
        let joined = if kind == JoinKind::Full {
            join(JoinType::Full, nullable, preserved, keys)?
        } else if nullable.relation.rows <= preserved.relation.rows {
            join(JoinType::Right, nullable, preserved, keys)?
        } else {
            let keys = keys.into_iter().map(|(n, p)| (p, n)).collect();
            join(JoinType::Left, preserved, nullable, keys)?
        };
        self.filtered(joined.relation, &above)
    }

    fn entry(&mut self, from: &From<'_>, place: usize, own: &[Condition<'_>]) -> Option<Relation> {
        let entry = from.select.entries.get(place)?;
        let used = from.used.get(place)?;
        match &entry.source {
            Source::Table(table) => self.scan(table, &entry.alias, place, used, own),
            Source::Subquery(query) if !entry.lateral => {
                let mut relation = self.inner(query)?;
                for column in 0..relation.kinds.len() {
                    relation.layout.bind(SlotKey::Column(0, place as u16, column as u16), column);
                }
                self.filtered(relation, own)
            }
            _ => None,
        }
    }

    fn scan(
        &mut self,
        table: &Arc<Table>,
        alias: &str,
        place: usize,
        used: &[u16],
        own: &[Condition<'_>],
    ) -> Option<Relation> {
        let width = used.last().map_or(0, |last| usize::from(*last) + 1);
        let mut by_place = Layout::new();
        let mut layout = Layout::new();
        let mut wanted = vec![false; width];
        let mut columns = Vec::with_capacity(used.len());
        for column in used {
            let at = usize::from(*column);
            let definition = table.columns.get(at)?;
            by_place.bind(SlotKey::Column(0, place as u16, *column), at);
            *wanted.get_mut(at)? = true;
            let kind = Kind::of(catalog::types::by_oid(definition.typ)?);
            // What only the scan's own condition reads need not have an arrow form.
            let kind = kind?;
            layout.bind(SlotKey::Column(0, place as u16, *column), columns.len());
            columns.push(ScanColumn { place: at, kind, name: format!("{alias}.{}", definition.name) });
        }
        by_place.set_width(width);
        layout.set_width(columns.len());
        let mut filters = Vec::with_capacity(own.len());
        let (rows, _) = self.cx.size(table.relation);
        let mut estimate = rows as f64;
        for condition in own {
            filters.push(self.row_expr(condition.expr, &by_place)?);
            estimate *= selectivity(condition.expr);
        }
        let filter = match filters.len() {
            0 | 1 => filters.pop(),
            _ => Some(exec::row::expr::PhysicalExpr::And(filters.into())),
        };
        self.scanned += rows as f64;
        let kinds = columns.iter().map(|c| c.kind).collect();
        let spec = ScanSpec {
            table: table.name.clone(),
            relation: table.relation,
            layout: row_layout(table).ok()?,
            width,
            wanted: wanted.into(),
            columns: columns.into(),
            filter,
        };
        Some(Relation { tree: Tree::Scan(Arc::new(spec)), layout, kinds, rows: estimate.max(1.0) })
    }

    fn filtered(&self, mut relation: Relation, conditions: &[Condition<'_>]) -> Option<Relation> {
        for condition in conditions {
            let predicate = self.formed(condition.expr, &relation.layout, Form::Value, Kind::Bool)?;
            relation.tree = Tree::Filter(Box::new(relation.tree), predicate);
            relation.rows = (relation.rows * selectivity(condition.expr)).max(1.0);
        }
        Some(relation)
    }

    /// The keys of an equality as columns that arrow compares with the same outcome.
    fn key_pair(
        &self,
        (left, right): (&Expr, &Expr),
        left_layout: &Layout,
        right_layout: &Layout,
    ) -> Option<(Computed, Computed)> {
        let (left_type, right_type) = (type_of(left.typ())?, type_of(right.typ())?);
        let class = HashClass::common(left_type, right_type)?;
        let (form, kind) = if is_native(left_type) && is_native(right_type) {
            let (l, r) = (Kind::of(left_type)?, Kind::of(right_type)?);
            (Form::Value, if l == r { l } else { Kind::Int64 })
        } else {
            (Form::Hash(class), Kind::Bytes)
        };
        Some((self.formed(left, left_layout, form, kind)?, self.formed(right, right_layout, form, kind)?))
    }
}

/// The parts of inner and cross joins; outer joins stay whole.
fn flatten<'q>(
    item: &'q FromItem,
    units: &mut Vec<&'q FromItem>,
    all: &mut Vec<Condition<'q>>,
) -> Option<()> {
    if let FromItem::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } = item {
        flatten(left, units, all)?;
        flatten(right, units, all)?;
        return conditions(on.as_ref(), all);
    }
    units.push(item);
    Some(())
}

fn join(kind: JoinType, build: Part, probe: Part, on: Vec<(Computed, Computed)>) -> Option<Part> {
    if on.is_empty() {
        return None;
    }
    let layout = build.relation.layout.join(&probe.relation.layout);
    let mut kinds = build.relation.kinds;
    kinds.extend(probe.relation.kinds);
    let tree =
        Tree::Join { kind, build: Box::new(build.relation.tree), probe: Box::new(probe.relation.tree), on };
    let rows = build.relation.rows.max(probe.relation.rows);
    Some(Part { relation: Relation { tree, layout, kinds, rows }, entries: build.entries | probe.entries })
}

/// The sides of an equality between two sets of entries, the first set's side first.
fn equality(e: &Expr, first: Entries, second: Entries) -> Option<(&Expr, &Expr)> {
    let Expr::Call(call) = e else { return None };
    if !is_equality(call) || !is_detached(e) {
        return None;
    }
    let [left, right] = call.args.as_slice() else { return None };
    let (l, r) = (entries_of(left)?, entries_of(right)?);
    let within = |side: Entries, set: Entries| side != 0 && side & !set == 0;
    if within(l, first) && within(r, second) {
        Some((left, right))
    } else if within(r, first) && within(l, second) {
        Some((right, left))
    } else {
        None
    }
}

/// Whether a call is `=` of values that hash alike when they are equal.
fn is_equality(call: &Call) -> bool {
    let name = call.proc.src.as_str();
    matches!(
        name,
        "int2eq"
            | "int4eq"
            | "int8eq"
            | "int24eq"
            | "int42eq"
            | "int28eq"
            | "int82eq"
            | "int48eq"
            | "int84eq"
            | "oideq"
            | "booleq"
            | "date_eq"
            | "time_eq"
            | "timestamp_eq"
            | "texteq"
            | "nameeq"
            | "nameeqtext"
            | "texteqname"
            | "byteaeq"
            | "uuid_eq"
            | "float4eq"
            | "float8eq"
            | "float48eq"
            | "float84eq"
            | "numeric_eq"
            | "bpchareq"
    ) && call.typ.oid == oid::BOOL
}
