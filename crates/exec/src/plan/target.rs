//! The rows that UPDATE and DELETE write to, with the columns of the tables joined to them.

use super::join::{Built, Needed};
use super::rewrite;
use super::scope::{Layout, Scope, SlotKey};
use super::select::Planner;
use crate::bound::{Expr, FromItem, RangeEntry, Source};
use crate::row::expr::PhysicalExpr;
use catalog::{Result, SqlError};

use super::node::PlanNode;

/// A plan that finds the rows of entry 0, which is the target.
#[derive(Debug)]
pub struct TargetRows {
    /// The plan. A row of the target may come more than once if it is joined to several rows.
    pub node: PlanNode,
    /// What its rows hold. All columns of the target lie together, from slot [`TargetRows::first`] on.
    pub layout: Layout,
    /// Slot of the target's first column.
    pub first: usize,
    /// Slot of the target's row key (`Datum::Bytes`).
    pub key: usize,
    /// Slot of the target's stored row bytes, if asked for.
    pub stored: Option<usize>,
    /// The whole condition over the layout, to be asked again of a row that somebody changed meanwhile.
    pub recheck: Option<PhysicalExpr>,
}

impl Planner<'_> {
    /// Plans the rows of an UPDATE or DELETE statement at `depth`. `uses` are all expressions that will be compiled over the result's
    /// layout (new values, RETURNING, checks): their columns are read. With `stored` the target's row bytes are put out too.
    #[allow(clippy::too_many_arguments)]
    pub fn plan_target(
        &mut self,
        entries: &[RangeEntry],
        from: &[FromItem],
        filter: Option<&Expr>,
        uses: &[&Expr],
        stored: bool,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<TargetRows> {
        let mut needed = Needed::new(entries.len());
        let mut items = vec![FromItem::Entry(0)];
        items.extend(from.iter().cloned());
        needed.collect_from(entries, &items);
        filter.iter().copied().chain(uses.iter().copied()).for_each(|e| needed.collect_expr(e));
        let Some(Source::Table(table)) = entries.first().map(|e| &e.source) else {
            return Err(SqlError::internal("the target of a data-modifying statement is no table"));
        };
        needed.whole_row(0, table);
        if stored {
            needed.stored_row(0);
        }
        let Built { node, layout, .. } =
            self.plan_from(entries, &items, filter, &needed, None, depth, outer)?;
        let mut conditions = Vec::new();
        conditions.extend(filter);
        items.iter().for_each(|item| rewrite::inner_conditions(item, &mut conditions));
        let scope = Scope::new(&layout, outer);
        let list = conditions.into_iter().map(|e| self.compile(e, depth, &scope));
        let mut list = list.collect::<Result<Vec<_>>>()?;
        let recheck = match list.len() {
            0 => None,
            1 => list.pop(),
            _ => Some(PhysicalExpr::And(list.into())),
        };
        let slot = |key| layout.slot(key);
        let first = slot(SlotKey::Column(depth, 0, 0)).unwrap_or(0);
        let key = slot(SlotKey::RowKey(depth, 0))
            .ok_or_else(|| SqlError::internal("the target's row key is not there"))?;
        let stored = slot(SlotKey::StoredRow(depth, 0));
        Ok(TargetRows { node, first, key, stored, recheck, layout })
    }
}
