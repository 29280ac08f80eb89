//! From bound queries to plans: `plan_query` is the door; `select` plans one query after the other, `join` orders joins, `access` finds
//! the way to a table's rows, `compile` turns expressions into slots and pointers, `node` is what comes out.

pub mod access;
pub mod compile;
pub mod dml;
mod estimate;
pub mod explain;
pub mod join;
pub mod node;
pub mod print;
pub mod relational;
pub mod rewrite;
pub mod scope;
pub mod select;
mod semijoin;
pub mod subplans;
pub mod target;
pub mod walk;
mod window;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use crate::bind::BindContext;
use crate::bound::{ColumnRef, Expr, IndexRule, Query, SqlType};
use crate::environment::Environment;
use catalog::object::{Index, IndexKey, Table};
use catalog::{DatabaseObjects, Oid, Result};
use node::Plan;
use std::sync::Arc;
use storage::{RelationId, Store};

/// What planning can reach.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// The database's objects.
    pub objects: &'a Arc<DatabaseObjects>,
    /// The store, for statistics.
    pub store: &'a Store,
    /// The session, for binding the expressions of indexes.
    pub env: &'a dyn Environment,
    /// The relational path, if there is one.
    pub relational: Option<&'a dyn relational::RelationalPlanner>,
    /// Plans DML inside WITH.
    pub dml: &'a dyn dml::DmlPlanner,
}

impl PlanContext<'_> {
    /// The indexes of a table with their expressions bound, the clustering key's among them.
    pub fn indexes(&self, table: &Arc<Table>) -> Result<Arc<Vec<IndexRule>>> {
        let plain = self.objects.indexes_of(table.oid).map(|index| plain_rule(index, table));
        if let Some(rules) = plain.collect::<Option<Vec<_>>>() {
            return Ok(Arc::new(rules));
        }
        let style = catalog::Style::default();
        let rules = crate::bind::rules::table_rules(table, &BindContext::plain(self.env, &style))?;
        Ok(Arc::new(rules.indexes))
    }

    /// Estimated rows and bytes of a storage relation.
    pub fn size(&self, relation: u32) -> (u64, u64) {
        let statistics = self.store.statistics(RelationId(relation));
        (statistics.rows, statistics.bytes)
    }

    /// A schema's name.
    pub fn schema_name(&self, schema: Oid) -> String {
        match schema {
            Oid::PG_CATALOG => "pg_catalog".into(),
            Oid::INFORMATION_SCHEMA => "information_schema".into(),
            _ => self.objects.schemas.get(&schema).map_or_else(String::new, |s| s.name.clone()),
        }
    }
}

/// The rule of an index on plain columns without a predicate.
fn plain_rule(index: &Arc<Index>, table: &Table) -> Option<IndexRule> {
    if index.predicate.is_some() {
        return None;
    }
    let keys = index.columns.iter().map(|c| match &c.key {
        IndexKey::Column(place) => {
            let column = table.columns.get(usize::from(*place))?;
            let typ = SqlType { oid: column.typ, typmod: column.typmod };
            Some(Expr::Column(ColumnRef { level: 0, entry: 0, column: *place, typ }))
        }
        IndexKey::Expression(_) => None,
    });
    Some(IndexRule { index: Arc::clone(index), keys: keys.collect::<Option<_>>()?, predicate: None })
}

/// Plans a query.
pub fn plan_query(query: &Query, cx: &PlanContext<'_>) -> Result<Plan> {
    let mut planner = select::Planner::new(*cx);
    let mut root = planner.plan_query(query, 0, None)?;
    if let Some(relational) = cx.relational
        && let Some(plan) = relational.plan(query, cx, root.cost)
    {
        root.kind = node::PlanKind::Relational(plan);
    }
    Ok(planner.finish(root))
}
