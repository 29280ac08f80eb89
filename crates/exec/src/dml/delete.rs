//! DELETE.

use super::update::lock_target;
use super::writer::{Scratch, TableWriter};
use super::{DmlRuntime, push_returning};
use crate::plan::dml::DmlPlan;
use crate::plan::node::PlanNode;
use crate::row::context::{ExecContext, Flow, Sink};
use crate::row::expr::PhysicalExpr;
use catalog::{Arena, Datum, Result};
use std::sync::Arc;
use storage::LockMode;

/// A planned DELETE. The source puts out, at least, the target's columns from slot `first` and the row key at `key`.
#[derive(Debug)]
pub struct DeletePlan {
    /// The target.
    pub writer: Arc<TableWriter>,
    /// Finds the rows, joined with USING.
    pub source: PlanNode,
    /// First slot of the target's columns.
    pub first: usize,
    /// Slot of the row key.
    pub key: usize,
    /// WHERE and join conditions once more, for a row that changed since it was found.
    pub recheck: Option<PhysicalExpr>,
    /// RETURNING over the source's row.
    pub returning: Option<Box<[PhysicalExpr]>>,
    /// This is the statement, not DML in its WITH.
    pub counts: bool,
}

impl DmlPlan for DeletePlan {
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        let runtime = DmlRuntime::of(cx)?;
        let writer = &*self.writer;
        let mut scratch = Scratch::default();
        let mut done = false;
        let mut count = 0;
        let mut arena = Arena::new();
        let _flow = crate::row::run(&self.source, cx, &mut |row_cx: &ExecContext<'_>, row: &[Datum<'_>]| {
            arena.reset();
            let cx = row_cx.with_arena(&arena);
            let key = row.get(self.key).map(|k| k.as_bytes()).unwrap_or_default();
            let recheck = self.recheck.as_ref();
            let Some(wide) =
                lock_target(&cx, runtime, writer, row, self.first, key, LockMode::Update, recheck)?
            else {
                return Ok(Flow::Continue(()));
            };
            let old = wide.get(self.first..self.first + writer.types.len()).unwrap_or_default();
            runtime.transaction(|t| writer.delete(&cx, t, key, old, &mut scratch))?;
            count += 1;
            if let Some(returning) = &self.returning {
                push_returning(&cx, returning, &wide, &mut done, out)?;
            }
            Ok(Flow::Continue(()))
        })?;
        if self.counts {
            runtime.rows.set(count);
        }
        Ok(if done { Flow::Break(()) } else { Flow::Continue(()) })
    }

    fn label(&self) -> String {
        format!("Delete on {}", self.writer.table.name)
    }

    fn input(&self) -> Option<&PlanNode> {
        Some(&self.source)
    }
}
