//! Running a statement: locks, snapshot, plan, rows to the client.

use super::prepare::{Body, Planned};
use super::{Block, Prepared, Session, failed_block};
use crate::bound::Explain;
use crate::client::{Client, CommandTag};
use crate::clock::now_micros;
use crate::dml::{DmlRuntime, TransactionLocker};
use crate::environment::Environment;
use crate::plan::explain;
use crate::row::context::{ExecContext, StatementContext};
use crate::store_error::sql_error;
use crate::utility::Utility;
use catalog::{Arena, Datum, Oid, Result, SqlError, SqlState, Value};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use storage::{ReadView, RelationId, TableLockMode, Wait};

/// How often a plan is made anew because the catalog changed while its locks were waited for.
const REPLANS_MAX: usize = 16;

impl Session {
    /// Runs a statement to its end, rows going to the client.
    pub fn execute(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: &[Value],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        // A cancel request counts from when the statement has come, not from when it begins to run.
        self.state.interrupt.check().map_err(sql_error)?;
        if self.block == Block::Failed && !prepared.ends_transaction {
            return Err(failed_block());
        }
        // What parsing and binding had to say comes before the rows.
        if !self.state.notices.lock().is_empty() {
            self.flush_notices(client);
        }
        let timeout = self.state.settings.lock().statement_timeout();
        let armed = timeout.and_then(|after| crate::timers::statement_timeout(&self.state.interrupt, after));
        let result = self.execute_checked(prepared, parameters, client);
        drop(armed);
        self.flush_notices(client);
        result
    }

    fn execute_checked(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: &[Value],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        self.ensure_transaction();
        self.begin_activity(&prepared.text);
        if self.block == Block::Failed {
            let planned = self.utility_plan(prepared)?;
            let Body::Utility(utility) = &planned.body else { return Err(failed_block()) };
            return self.run_utility(utility, client);
        }
        let (planned, view) = self.ready(prepared)?;
        if let Body::Utility(utility) = &planned.body {
            return self.run_utility(utility, client);
        }
        if let Body::Explain(explain, inner) = &planned.body
            && let Body::Utility(utility) = &inner.body
            && let Utility::Execute(name, arguments) = &**utility
        {
            drop(view);
            return self.explain_execute(explain, name, arguments, client);
        }
        if let Some(command) = planned.writes() {
            self.prevent_read_only(command)?;
        }
        self.transaction.queried = true;
        let result = self.run_planned(&planned, &view, parameters, client);
        drop(view);
        self.end_statement(result)
    }

    /// Keeps or drops what the statement wrote.
    pub(super) fn end_statement<R>(&self, result: Result<R>) -> Result<R> {
        self.state.transaction(|t| match &result {
            Ok(_) => t.end_statement(),
            Err(_) => t.abort_statement(),
        })?;
        result
    }

    fn utility_plan(&mut self, prepared: &Prepared) -> Result<Arc<Planned>> {
        self.current_plan(prepared)
    }

    /// Takes the statement's locks and its snapshot, and makes sure that the plan fits both.
    pub(super) fn ready(&mut self, prepared: &Prepared) -> Result<(Arc<Planned>, ReadView)> {
        for _ in 0..REPLANS_MAX {
            self.state.adopt_catalog();
            let planned = self.current_plan(prepared)?;
            if matches!(planned.body, Body::Utility(_)) {
                return Ok((planned, self.state.transaction(|t| t.view())?));
            }
            self.lock_tables(&planned.locks)?;
            // IMPORTANT: the snapshot comes after the locks, so that it sees what their last holders committed.
            let view = self.state.transaction(|t| {
                t.begin_statement();
                t.view()
            })?;
            self.state.adopt_catalog();
            if Arc::ptr_eq(&planned.objects, &self.state.objects.lock()) {
                return Ok((planned, view));
            }
        }
        Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            "the catalog changes too fast for the statement to be planned",
        ))
    }

    /// Locks relations for the rest of the transaction.
    pub(super) fn lock_tables(&self, locks: &[(Oid, TableLockMode)]) -> Result<()> {
        if locks.is_empty() {
            return Ok(());
        }
        self.state.transaction(|t| {
            for (oid, mode) in locks {
                t.lock_relation(RelationId(oid.0), *mode, Wait::Block).map_err(sql_error)?;
            }
            Ok(())
        })?
    }

    pub(super) fn run_planned(
        &self,
        planned: &Planned,
        view: &ReadView,
        parameters: &[Value],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let parameters: Vec<Datum<'_>> = parameters.iter().map(Value::datum).collect();
        match &planned.body {
            Body::Query(plan) => {
                let mut count = 0;
                self.with_context(plan.cache_slots, view, &parameters, None, |cx, _| {
                    crate::row::run(&plan.root, cx, &mut |row_cx, row| {
                        count += 1;
                        planned.named.with_names(row_cx, row, |row| client.row(row))
                    })
                    .map(|_| ())
                })?;
                Ok(CommandTag::counted("SELECT", count))
            }
            Body::Dml { plan, cache_slots, verb, .. } => {
                let rows = self.with_context(*cache_slots, view, &parameters, None, |cx, runtime| {
                    let _flow = plan.run(cx, &mut |row_cx, row| {
                        planned.named.with_names(row_cx, row, |row| client.row(row))
                    })?;
                    Ok(runtime.rows.get())
                })?;
                Ok(CommandTag::counted(verb, rows))
            }
            Body::Explain(explain, inner) => self.explain(explain, inner, view, &parameters, client),
            Body::Utility(_) => Err(SqlError::internal("utility statements have no plan")),
        }
    }

    /// Runs something with the contexts of an execution.
    pub(super) fn with_context<R>(
        &self,
        cache_slots: usize,
        view: &ReadView,
        parameters: &[Datum<'_>],
        instrumentation: Option<explain::Instrumentation>,
        f: impl FnOnce(&ExecContext<'_>, &DmlRuntime) -> Result<R>,
    ) -> Result<R> {
        let style = self.style();
        let objects = self.state.objects();
        let runtime = DmlRuntime { state: Arc::clone(&self.state), rows: Cell::new(0) };
        let locker = TransactionLocker { state: Arc::clone(&self.state) };
        let env: &dyn Environment = &*self.state;
        let mut statement = StatementContext::new(parameters, view, &style, env, &objects, cache_slots);
        statement.locker = Some(&locker);
        statement.dml = Some(&runtime);
        statement.instrumentation = instrumentation;
        let arena = Arena::new();
        f(&statement.root(&arena), &runtime)
    }

    pub(super) fn explain(
        &self,
        explain: &Explain,
        planned: &Planned,
        view: &ReadView,
        parameters: &[Datum<'_>],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let (slots, nodes) = match &planned.body {
            Body::Query(plan) => (plan.cache_slots, plan.nodes),
            Body::Dml { cache_slots, nodes, .. } => (*cache_slots, *nodes),
            Body::Explain(..) | Body::Utility(_) => {
                return Err(SqlError::unsupported("EXPLAIN of this statement"));
            }
        };
        let started = Instant::now();
        let instrumentation = explain.options.analyze.then(|| explain::Instrumentation::new(nodes));
        let lines = self.with_context(slots, view, parameters, instrumentation, |cx, _| {
            if explain.options.analyze {
                let sink = &mut |_: &ExecContext<'_>, _: &[Datum<'_>]| Ok(ControlFlow::Continue(()));
                match &planned.body {
                    Body::Query(plan) => crate::row::run(&plan.root, cx, sink).map(|_| ())?,
                    Body::Dml { plan, .. } => plan.run(cx, sink).map(|_| ())?,
                    Body::Explain(..) | Body::Utility(_) => {}
                }
            }
            let elapsed = started.elapsed();
            let instrumentation = cx.statement.instrumentation.as_ref();
            Ok(match &planned.body {
                Body::Query(plan) => explain::explain_query(plan, &explain.options, instrumentation, elapsed),
                Body::Dml { plan, .. } => {
                    explain::explain_dml(&**plan, &explain.options, instrumentation, elapsed)
                }
                Body::Explain(..) | Body::Utility(_) => Vec::new(),
            })
        })?;
        for line in &lines {
            if client.row(&[Datum::text(line)])?.is_break() {
                break;
            }
        }
        Ok(CommandTag::plain("EXPLAIN"))
    }

    fn begin_activity(&self, text: &str) {
        let now = now_micros();
        self.state.statement_start.store(now, Ordering::Relaxed);
        let mut activity = self.state.activity.lock();
        activity.state = "active";
        activity.query.clear();
        activity.query.push_str(text.get(..1_024.min(text.len())).unwrap_or(text));
        activity.query_start = Some(now);
        activity.state_change = Some(now);
        activity.xact_start = Some(self.state.transaction_timestamp());
    }
}
