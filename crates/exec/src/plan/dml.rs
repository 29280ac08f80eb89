//! The seam to INSERT, UPDATE and DELETE, whose plans are built on top of the row path (`row/insert.rs` and so on).

use super::scope::Scope;
use super::select::Planner;
use crate::bound::{Cte, Dml};
use crate::row::context::{ExecContext, Flow, Sink};
use catalog::Result;
use std::sync::Arc;

/// Plans DML that stands in WITH.
pub trait DmlPlanner {
    /// A plan whose run pushes the RETURNING rows.
    fn plan(
        &self,
        dml: &Dml,
        planner: &mut Planner<'_>,
        depth: u32,
        outer: Option<&Scope<'_>>,
    ) -> Result<Arc<dyn DmlPlan>>;
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

/// A DML plan with the WITH queries of its statement around it.
#[derive(Debug)]
struct WithCtes {
    inner: Arc<dyn DmlPlan>,
    clear: Box<[usize]>,
    finish: Box<[(usize, Arc<super::node::CtePlan>)]>,
}

impl DmlPlan for WithCtes {
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        crate::row::cte::clear(&self.clear, cx);
        let flow = self.inner.run(cx, out)?;
        crate::row::cte::finish(&self.finish, cx)?;
        Ok(flow)
    }

    fn label(&self) -> String {
        self.inner.label()
    }

    fn input(&self) -> Option<&super::node::PlanNode> {
        self.inner.input()
    }
}

impl Planner<'_> {
    /// Plans a DML statement at `depth` with its WITH queries in scope.
    pub fn with_dml_ctes(
        &mut self,
        ctes: &[Cte],
        depth: u32,
        outer: Option<&Scope<'_>>,
        f: impl FnOnce(&mut Self) -> Result<Arc<dyn DmlPlan>>,
    ) -> Result<Arc<dyn DmlPlan>> {
        let saved = self.take_ctes(depth);
        let planned = match self.enter_ctes(ctes, depth, outer) {
            Ok((clear, finish)) => f(self).map(|inner| {
                Arc::new(WithCtes { inner, clear: clear.into(), finish: finish.into() }) as Arc<dyn DmlPlan>
            }),
            Err(error) => Err(error),
        };
        self.restore_ctes(depth, saved);
        planned
    }
}
