//! The seam to the relational path: crate `relational` implements it over DataFusion.

use super::PlanContext;
use crate::bound::Query;
use crate::row::context::{ExecContext, Flow, Sink};
use catalog::Result;
use std::sync::Arc;

/// A planner for queries that the relational path can run.
pub trait RelationalPlanner: Send + Sync {
    /// A plan for the query, or `None` if it cannot be lowered. `row_cost` is what the row path would cost, in PostgreSQL's unit; the
    /// planner declines as well where it would not win.
    fn plan(&self, query: &Query, cx: &PlanContext<'_>, row_cost: f64) -> Option<Arc<dyn RelationalPlan>>;
}

/// A query as the relational path runs it.
pub trait RelationalPlan: Send + Sync + std::fmt::Debug {
    /// Runs the query with the context's parameters and view, pushing its output rows.
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow>;
    /// Lines for EXPLAIN, indented from zero.
    fn explain(&self) -> Vec<String>;
}
