//! INSERT, with ON CONFLICT.

use super::lock::lock_row;
use super::update::apply;
use super::writer::{Arbiters, Conflict, Scratch, TableWriter};
use super::{DmlRuntime, push_returning};
use crate::bound::LockWait;
use crate::plan::dml::DmlPlan;
use crate::plan::node::PlanNode;
use crate::row::context::{ExecContext, Flow, Sink};
use crate::row::expr::PhysicalExpr;
use crate::row::lock::Locked;
use catalog::{Arena, Datum, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::LockMode;

/// A planned INSERT.
#[derive(Debug)]
pub struct InsertPlan {
    /// The target.
    pub writer: Arc<TableWriter>,
    /// The rows; `None` for DEFAULT VALUES.
    pub source: Option<PlanNode>,
    /// One per place of the table, over the source's row.
    pub row: Box<[PhysicalExpr]>,
    /// ON CONFLICT.
    pub on_conflict: Option<ConflictPlan>,
    /// RETURNING over the new row.
    pub returning: Option<Box<[PhysicalExpr]>>,
    /// This is the statement, not DML in its WITH.
    pub counts: bool,
}

/// ON CONFLICT.
#[derive(Debug)]
pub struct ConflictPlan {
    /// Places of the arbiter indexes in the writer; `None` for all.
    pub arbiters: Option<Box<[usize]>>,
    /// DO UPDATE.
    pub update: Option<ConflictUpdatePlan>,
}

/// DO UPDATE: expressions over `existing row ++ source row ++ excluded row`.
#[derive(Debug)]
pub struct ConflictUpdatePlan {
    /// Place and value.
    pub assignments: Box<[(usize, PhysicalExpr)]>,
    /// WHERE.
    pub filter: Option<PhysicalExpr>,
    /// Indexes touched.
    pub touched: Box<[usize]>,
    /// The key may change.
    pub moves: bool,
}

impl DmlPlan for InsertPlan {
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        let runtime = DmlRuntime::of(cx)?;
        let mut scratch = Scratch::default();
        let mut done = false;
        let mut count = 0;
        match &self.source {
            None => count += self.one(cx, runtime, &[], &mut scratch, &mut done, out)?,
            Some(source) => {
                // The arena is reset per row: a bulk INSERT must not hold what it has written.
                let mut arena = Arena::new();
                let _flow =
                    crate::row::run(source, cx, &mut |row_cx: &ExecContext<'_>, row: &[Datum<'_>]| {
                        arena.reset();
                        let cx = row_cx.with_arena(&arena);
                        let row = arena.slice_with(row.len(), |i| row[i]);
                        count += self.one(&cx, runtime, row, &mut scratch, &mut done, out)?;
                        Ok(Flow::Continue(()))
                    })?;
            }
        }
        if self.counts {
            runtime.rows.set(count);
        }
        Ok(if done { Flow::Break(()) } else { Flow::Continue(()) })
    }

    fn label(&self) -> String {
        format!("Insert on {}", self.writer.table.name)
    }

    fn input(&self) -> Option<&PlanNode> {
        self.source.as_ref()
    }
}

impl InsertPlan {
    /// Inserts one row; 1 if a row was inserted or updated.
    fn one<'x>(
        &'x self,
        cx: &ExecContext<'x>,
        runtime: &DmlRuntime,
        source: &[Datum<'x>],
        scratch: &mut Scratch,
        done: &mut bool,
        out: &mut Sink<'_>,
    ) -> Result<u64> {
        let mut row = Vec::with_capacity(self.row.len());
        for expr in &self.row {
            row.push(expr.eval(cx, source)?);
        }
        self.writer.check(cx, &mut row)?;
        let arbiters = match &self.on_conflict {
            None => Arbiters::None,
            Some(conflict) => conflict.arbiters.as_deref().map_or(Arbiters::Any, Arbiters::These),
        };
        loop {
            let conflict = runtime.transaction(|t| self.writer.insert(cx, t, &row, arbiters, scratch))?;
            let Some(conflict) = conflict else { break };
            let Some(update) = self.on_conflict.as_ref().and_then(|c| c.update.as_ref()) else {
                return Ok(0);
            };
            match self.update_existing(cx, runtime, update, &conflict, source, &row, scratch)? {
                Existing::Gone => continue,
                Existing::Kept => return Ok(0),
                Existing::Updated(new) => {
                    if let Some(returning) = &self.returning {
                        push_returning(cx, returning, &new, done, out)?;
                    }
                    return Ok(1);
                }
            }
        }
        if let Some(returning) = &self.returning {
            push_returning(cx, returning, &row, done, out)?;
        }
        Ok(1)
    }

    #[allow(clippy::too_many_arguments)] // the facts of one conflict, used once
    fn update_existing<'x>(
        &'x self,
        cx: &ExecContext<'x>,
        runtime: &DmlRuntime,
        update: &'x ConflictUpdatePlan,
        conflict: &Conflict,
        source: &[Datum<'x>],
        excluded: &[Datum<'x>],
        scratch: &mut Scratch,
    ) -> Result<Existing<'x>> {
        let writer = &*self.writer;
        let key = &conflict.row_key;
        let bytes = runtime.transaction(|t| {
            if t.buffered_get(writer.relation, key).is_some() {
                return Err(SqlError::new(
                    SqlState::CARDINALITY_VIOLATION,
                    "ON CONFLICT DO UPDATE command cannot affect row a second time",
                )
                .hint(
                    "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
                ));
            }
            if matches!(lock_row(t, &writer.table, key, LockMode::Update, LockWait::Block)?, Locked::Gone) {
                return Ok(None);
            }
            // Whatever the snapshot says, the row that is in the way is the newest one.
            t.latest(writer.relation, key, |bytes| cx.eval.arena.bytes(bytes)).map_err(crate::store_error::sql_error)
        })?;
        let Some(bytes) = bytes else { return Ok(Existing::Gone) };
        let old = writer.decode(cx.eval.arena, bytes)?;
        let mut wide = old.clone();
        wide.extend_from_slice(source);
        wide.extend_from_slice(excluded);
        if let Some(filter) = &update.filter
            && !filter.eval(cx, &wide)?.is_true()
        {
            return Ok(Existing::Kept);
        }
        let mut new = apply(cx, &update.assignments, &wide, &old)?;
        writer.check(cx, &mut new)?;
        runtime
            .transaction(|t| writer.update(cx, t, key, &old, &new, &update.touched, update.moves, scratch))?;
        Ok(Existing::Updated(new))
    }
}

/// What became of a row in the way.
enum Existing<'x> {
    /// It was deleted meanwhile: try again.
    Gone,
    /// WHERE left it alone.
    Kept,
    /// Its new form.
    Updated(Vec<Datum<'x>>),
}
