//! From bound queries to plans: `plan_query` is the door; `select` plans one query after the other, `join` orders joins, `access` finds
//! the way to a table's rows, `compile` turns expressions into slots and pointers, `node` is what comes out.

pub mod access;
pub mod compile;
pub mod dml;
pub mod explain;
pub mod join;
pub mod node;
pub mod relational;
pub mod rewrite;
pub mod scope;
pub mod select;
pub mod target;
pub mod walk;
mod window;

use crate::bound::{IndexRule, Query};
use catalog::Result;
use catalog::object::Table;
use node::Plan;
use std::sync::Arc;

/// What planning can ask about tables.
pub trait TableInfo {
    /// The indexes of a table with their expressions bound, the clustering key's among them.
    fn indexes(&self, table: &Arc<Table>) -> Result<Arc<Vec<IndexRule>>>;
    /// Estimated rows and bytes of a storage relation.
    fn size(&self, relation: u32) -> (u64, u64);
}

/// What planning can reach.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Tables.
    pub tables: &'a dyn TableInfo,
    /// Plans DML inside WITH; without it such a query is refused.
    pub dml: Option<&'a dyn dml::DmlPlanner>,
    /// The relational path, if there is one.
    pub relational: Option<&'a dyn relational::RelationalPlanner>,
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
