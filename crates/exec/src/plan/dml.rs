//! The seam to INSERT, UPDATE and DELETE, whose plans are built on top of the row path (`row/insert.rs` and so on).

use super::select::Planner;
use crate::bound::Dml;
use crate::row::context::{ExecContext, Flow, Sink};
use catalog::Result;
use std::sync::Arc;

/// Plans DML that stands in WITH.
pub trait DmlPlanner {
    /// A plan whose run pushes the RETURNING rows.
    fn plan(&self, dml: &Dml, planner: &mut Planner<'_>) -> Result<Arc<dyn DmlPlan>>;
}

/// A planned INSERT, UPDATE or DELETE.
pub trait DmlPlan: Send + Sync + std::fmt::Debug {
    /// Writes, and pushes the RETURNING rows. `Break` from the consumer must not stop the writing.
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow>;
    /// `Insert on t` and so on.
    fn label(&self) -> String;
    /// The plan that finds the rows.
    fn input(&self) -> Option<&super::node::PlanNode>;
}
