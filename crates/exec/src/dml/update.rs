//! UPDATE.

use super::lock::lock_row;
use super::writer::{Scratch, TableWriter};
use super::{DmlRuntime, push_returning};
use crate::bound::LockWait;
use crate::plan::dml::DmlPlan;
use crate::plan::node::PlanNode;
use crate::row::context::{ExecContext, Flow, Sink};
use crate::row::expr::PhysicalExpr;
use crate::row::lock::Locked;
use catalog::{Arena, Datum, Result};
use std::sync::Arc;
use storage::LockMode;

/// A planned UPDATE. The source puts out, at least, the target's columns from slot `first` and the row key at `key`.
#[derive(Debug)]
pub struct UpdatePlan {
    /// The target.
    pub writer: Arc<TableWriter>,
    /// Finds the rows, joined with FROM.
    pub source: PlanNode,
    /// First slot of the target's columns.
    pub first: usize,
    /// Slot of the row key.
    pub key: usize,
    /// Place and value, over the source's row.
    pub assignments: Box<[(usize, PhysicalExpr)]>,
    /// WHERE and join conditions once more, for a row that changed since it was found.
    pub recheck: Option<PhysicalExpr>,
    /// Indexes touched.
    pub touched: Box<[usize]>,
    /// The key may change.
    pub moves: bool,
    /// The lock taken.
    pub mode: LockMode,
    /// RETURNING over the source's row with the target's columns replaced by the new ones.
    pub returning: Option<Box<[PhysicalExpr]>>,
    /// This is the statement, not DML in its WITH.
    pub counts: bool,
}

impl DmlPlan for UpdatePlan {
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        let runtime = DmlRuntime::of(cx)?;
        let mut scratch = Scratch::default();
        let mut done = false;
        let mut count = 0;
        let mut arena = Arena::new();
        let _flow = crate::row::run(&self.source, cx, &mut |row_cx: &ExecContext<'_>, row: &[Datum<'_>]| {
            arena.reset();
            let cx = row_cx.with_arena(&arena);
            count += u64::from(self.one(&cx, runtime, row, &mut scratch, &mut done, out)?);
            Ok(Flow::Continue(()))
        })?;
        if self.counts {
            runtime.rows.set(count);
        }
        Ok(if done { Flow::Break(()) } else { Flow::Continue(()) })
    }

    fn label(&self) -> String {
        format!("Update on {}", self.writer.table.name)
    }

    fn input(&self) -> Option<&PlanNode> {
        Some(&self.source)
    }
}

impl UpdatePlan {
    fn one<'x>(
        &'x self,
        cx: &ExecContext<'x>,
        runtime: &DmlRuntime,
        found: &[Datum<'x>],
        scratch: &mut Scratch,
        done: &mut bool,
        out: &mut Sink<'_>,
    ) -> Result<bool> {
        let writer = &*self.writer;
        let key = found.get(self.key).map(|k| k.as_bytes()).unwrap_or_default();
        let Some(mut wide) =
            lock_target(cx, runtime, writer, found, self.first, key, self.mode, self.recheck.as_ref())?
        else {
            return Ok(false);
        };
        let width = writer.types.len();
        let old: Vec<Datum<'x>> = wide.iter().skip(self.first).take(width).copied().collect();
        let mut new = apply(cx, &self.assignments, &wide, &old)?;
        writer.check(cx, &mut new)?;
        runtime.transaction(|t| writer.update(cx, t, key, &old, &new, &self.touched, self.moves, scratch))?;
        if let Some(returning) = &self.returning {
            for (slot, value) in wide.iter_mut().skip(self.first).zip(&new) {
                *slot = *value;
            }
            push_returning(cx, returning, &wide, done, out)?;
        }
        Ok(true)
    }
}

/// Locks the row that a statement has found and is about to change. Gives the source's row, with the target's newest columns in it if
/// they changed since; `None` if the row is no longer to be changed (PostgreSQL's EvalPlanQual).
#[allow(clippy::too_many_arguments)] // the facts of one row, used by UPDATE and DELETE
pub(super) fn lock_target<'x>(
    cx: &ExecContext<'x>,
    runtime: &DmlRuntime,
    writer: &'x TableWriter,
    found: &[Datum<'x>],
    first: usize,
    key: &[u8],
    mode: LockMode,
    recheck: Option<&'x PhysicalExpr>,
) -> Result<Option<Vec<Datum<'x>>>> {
    let arena = cx.eval.arena;
    let mut wide = found.to_vec();
    let changed = runtime.transaction(|t| {
        // A join may find one row several times; the first time counts.
        if t.buffered_get(writer.relation, key).is_some() {
            return Ok(None);
        }
        Ok(match lock_row(t, &writer.table, key, mode, LockWait::Block)? {
            Locked::Unchanged => Some(None),
            Locked::Changed(bytes) => Some(Some(arena.bytes(&bytes))),
            Locked::Gone | Locked::Skipped => None,
        })
    })?;
    let Some(changed) = changed else { return Ok(None) };
    if let Some(bytes) = changed {
        for (slot, value) in wide.iter_mut().skip(first).zip(writer.decode(arena, bytes)?) {
            *slot = value;
        }
        if let Some(recheck) = recheck
            && !recheck.eval(cx, &wide)?.is_true()
        {
            return Ok(None);
        }
    }
    Ok(Some(wide))
}

/// The new row: the old one with the assigned values in it. All values are computed before any is assigned.
pub(super) fn apply<'x>(
    cx: &ExecContext<'x>,
    assignments: &'x [(usize, PhysicalExpr)],
    wide: &[Datum<'x>],
    old: &[Datum<'x>],
) -> Result<Vec<Datum<'x>>> {
    let mut new = old.to_vec();
    for (place, expr) in assignments {
        let value = expr.eval(cx, wide)?;
        if let Some(slot) = new.get_mut(*place) {
            *slot = value;
        }
    }
    Ok(new)
}
