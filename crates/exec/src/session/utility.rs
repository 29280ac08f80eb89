//! Utility statements: each is run by the part of the session (or of `ddl`) that knows it.

use super::prepare::Body;
use super::{Block, Prepared, ResultColumn, Session};
use crate::bind::ParameterType;
use crate::bound::{Explain, SqlType};
use crate::client::{Client, CommandTag};
use crate::environment::Environment;
use crate::settings::SetScope;
use crate::store_error::sql_error;
use crate::utility::{Discard, Lock, SetValue, Source, TypeName, Utility};
use catalog::types::{self, oid};
use catalog::{Datum, Oid, Relation, Result, SqlError, SqlState, Value};
use std::ops::ControlFlow;
use storage::{RelationId, Wait};

impl Session {
    /// Runs a utility statement.
    pub(super) fn run_utility(&mut self, utility: &Utility, client: &mut dyn Client) -> Result<CommandTag> {
        match utility {
            Utility::Begin(modes, start) => self.begin(modes, *start),
            Utility::Commit(chain) => self.commit(*chain),
            Utility::Rollback(chain) => self.rollback(*chain),
            Utility::Savepoint(name) => self.savepoint(name),
            Utility::Release(name) => self.release(name),
            Utility::RollbackTo(name) => self.rollback_to(name),
            Utility::SetTransaction(modes, false) => {
                if self.block == Block::Implicit {
                    self.warn(
                        SqlState::NO_ACTIVE_SQL_TRANSACTION,
                        "SET TRANSACTION can only be used in transaction blocks",
                    );
                }
                self.set_transaction_modes(modes)?;
                Ok(CommandTag::plain("SET"))
            }
            Utility::SetTransaction(modes, true) => {
                let mut settings = self.state.settings.lock();
                if let Some(isolation) = modes.isolation {
                    settings.set("default_transaction_isolation", Some(isolation), SetScope::Session)?;
                }
                let flag = |on: bool| if on { "on" } else { "off" };
                if let Some(read_only) = modes.read_only {
                    settings.set(
                        "default_transaction_read_only",
                        Some(flag(read_only)),
                        SetScope::Session,
                    )?;
                }
                if let Some(deferrable) = modes.deferrable {
                    settings.set(
                        "default_transaction_deferrable",
                        Some(flag(deferrable)),
                        SetScope::Session,
                    )?;
                }
                Ok(CommandTag::plain("SET"))
            }
            Utility::Set(name, value, local) => self.set(name, value, *local),
            Utility::Reset(name) => {
                self.state.settings.lock().reset(name)?;
                if name == "role" || name == "session_authorization" {
                    self.set_role(None)?;
                }
                Ok(CommandTag::plain("RESET"))
            }
            Utility::ResetAll => {
                self.state.settings.lock().reset_all();
                Ok(CommandTag::plain("RESET"))
            }
            Utility::Show(name) => {
                let (_, value) = self.state.settings.lock().show_column(name)?;
                let _more = client.row(&[Datum::text(&value)])?;
                Ok(CommandTag::plain("SHOW"))
            }
            Utility::ShowAll => {
                let all = self.state.settings.lock().show_all();
                for shown in &all {
                    let row = [
                        Datum::text(&shown.name),
                        Datum::text(&shown.value),
                        Datum::text(&shown.description),
                    ];
                    if client.row(&row)?.is_break() {
                        break;
                    }
                }
                Ok(CommandTag::plain("SHOW"))
            }
            Utility::SetConstraints(names, _) => {
                // Without deferrable constraints there is nothing to defer; naming one is an error.
                match names.first() {
                    None => Ok(CommandTag::plain("SET CONSTRAINTS")),
                    Some(_) => Err(SqlError::unsupported("SET CONSTRAINTS of named constraints")),
                }
            }
            Utility::Prepare(name, types, source) => self.prepare_sql(name, types, source),
            Utility::Execute(name, arguments) => self.execute_sql(name, arguments, client),
            Utility::Deallocate(Some(name)) => {
                if !self.remove_prepared(name) {
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_PSTATEMENT,
                        format!("prepared statement \"{name}\" does not exist"),
                    ));
                }
                Ok(CommandTag::plain("DEALLOCATE"))
            }
            Utility::Deallocate(None) => {
                self.prepared.clear();
                self.state.prepared_info.lock().clear();
                Ok(CommandTag::plain("DEALLOCATE ALL"))
            }
            Utility::Copy(copy) => {
                self.transaction.queried = true;
                self.state.adopt_catalog();
                self.copy(copy, client)
            }
            Utility::Discard(what) => self.discard(*what),
            Utility::Listen(_) => Err(SqlError::unsupported("LISTEN")),
            // Nothing is listened to.
            Utility::Unlisten(_) => Ok(CommandTag::plain("UNLISTEN")),
            Utility::Notify(..) => Err(SqlError::unsupported("NOTIFY")),
            Utility::Declare(declare) => {
                self.transaction.queried = true;
                self.state.adopt_catalog();
                self.declare_cursor(declare)
            }
            Utility::Fetch(name, direction, is_move) => self.fetch(name, *direction, *is_move, client),
            Utility::Close(name) => self.close_cursor(name.as_deref()),
            Utility::Vacuum(vacuum) => self.vacuum(vacuum),
            Utility::Checkpoint => {
                self.engine.store.checkpoint().map_err(sql_error)?;
                Ok(CommandTag::plain("CHECKPOINT"))
            }
            Utility::Lock(lock) => self.lock_table(lock),
            Utility::Ddl(ddl) => self.run_ddl(ddl),
            Utility::CreateTableAs(create) => self.create_table_as(create),
            Utility::Unsupported(what) => Err(SqlError::unsupported(what)),
        }
    }

    /// Result columns of a utility statement.
    pub(super) fn utility_columns(&self, utility: &Utility) -> Result<Option<Vec<ResultColumn>>> {
        let text = |name: &str| ResultColumn {
            name: name.to_owned(),
            typ: SqlType::plain(oid::TEXT),
            functions: &types::text::TEXT,
            table: Oid::INVALID,
            attnum: 0,
        };
        Ok(match utility {
            Utility::Show(name) => Some(vec![text(&self.state.settings.lock().show_column(name)?.0)]),
            Utility::ShowAll => Some(vec![text("name"), text("setting"), text("description")]),
            Utility::Fetch(name, _, false) => Some(self.cursor_columns(name)?),
            Utility::Execute(name, _) => match self.prepared(name)? {
                Some(prepared) => prepared.columns.clone(),
                None => None,
            },
            _ => None,
        })
    }

    fn set(&mut self, name: &str, value: &SetValue, local: bool) -> Result<CommandTag> {
        if local && self.block == Block::Implicit {
            self.warn(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "SET LOCAL can only be used in transaction blocks",
            );
        }
        let scope = if local { SetScope::Local } else { SetScope::Session };
        let role = matches!(name, "role" | "session_authorization");
        match value {
            SetValue::Default if role => self.set_role(None)?,
            SetValue::Values(values) if role => {
                let wanted = values.first().map(String::as_str).filter(|v| *v != "none" && *v != "default");
                self.set_role(wanted)?;
            }
            _ => {}
        }
        {
            let mut settings = self.state.settings.lock();
            match value {
                SetValue::Default => settings.set(name, None, scope)?,
                SetValue::Values(values) => settings.set_list(name, values, scope)?,
                SetValue::Current => {}
            }
        }
        if matches!(name, "transaction_isolation" | "transaction_read_only" | "transaction_deferrable") {
            self.adopt_transaction_settings()?;
        }
        Ok(CommandTag::plain("SET"))
    }

    /// SET transaction_isolation and so on mean SET TRANSACTION.
    fn adopt_transaction_settings(&mut self) -> Result<()> {
        let (isolation, read_only, deferrable) = {
            let settings = self.state.settings.lock();
            (
                settings.raw("transaction_isolation").unwrap_or_default().to_owned(),
                settings.is_on("transaction_read_only"),
                settings.is_on("transaction_deferrable"),
            )
        };
        let isolation = ["serializable", "repeatable read", "read committed", "read uncommitted"]
            .into_iter()
            .find(|name| *name == isolation);
        self.set_transaction_modes(&crate::utility::TransactionModes {
            isolation,
            read_only: Some(read_only),
            deferrable: Some(deferrable),
        })
    }

    fn set_role(&mut self, name: Option<&str>) -> Result<()> {
        let catalog = self.state.catalog();
        let role = match name {
            None => self.state.session_role,
            Some(name) => match catalog.role_by_name(name) {
                Some(role) => role.oid,
                None => {
                    return Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("role \"{name}\" does not exist"),
                    ));
                }
            },
        };
        self.state.current_role.store(role.0.into(), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }

    fn prepare_sql(&mut self, name: &str, types: &[TypeName], source: &Source) -> Result<CommandTag> {
        self.state.adopt_catalog();
        let modes = types
            .iter()
            .map(|t| crate::ddl::resolve_type(t, |_| true).map(|t| ParameterType::Fixed(t.oid)))
            .collect::<Result<_>>()?;
        let shift = |mut error: SqlError| {
            if let Some(at) = &mut error.fields_mut().position {
                *at += source.offset;
            }
            error
        };
        let parsed = crate::parse::parse(&source.text).map_err(shift)?.pop();
        let parsed = parsed.ok_or_else(|| SqlError::syntax_near(""))?;
        let prepared =
            self.prepare_parsed(parsed, source.text.as_str().into(), modes, true).map_err(shift)?;
        self.add_prepared(name, Some(prepared), true)?;
        Ok(CommandTag::plain("PREPARE"))
    }

    fn execute_sql(
        &mut self,
        name: &str,
        arguments: &[Source],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let Some(prepared) = self.prepared(name)? else {
            return Ok(CommandTag::plain("EXECUTE"));
        };
        let values = self.arguments(name, &prepared, arguments)?;
        let (planned, view) = self.ready(&prepared)?;
        if let Body::Utility(utility) = &planned.body {
            drop(view);
            return self.run_utility(utility, client);
        }
        if let Some(command) = planned.writes() {
            self.prevent_read_only(command)?;
        }
        self.transaction.queried = true;
        let result = self.run_planned(&planned, &view, &values, client);
        drop(view);
        self.end_statement(result)
    }

    /// EXPLAIN EXECUTE (`ExplainExecuteQuery`).
    pub(super) fn explain_execute(
        &mut self,
        explain: &Explain,
        name: &str,
        arguments: &[Source],
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let Some(prepared) = self.prepared(name)? else {
            return Ok(CommandTag::plain("EXPLAIN"));
        };
        let values = self.arguments(name, &prepared, arguments)?;
        let (planned, view) = self.ready(&prepared)?;
        if let Some(command) = planned.writes().filter(|_| explain.options.analyze) {
            self.prevent_read_only(command)?;
        }
        let parameters: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
        let result = self.explain(explain, &planned, &view, &parameters, client);
        drop(view);
        self.end_statement(result)
    }

    /// The values of EXECUTE's arguments; 42601 if their number is wrong.
    fn arguments(&mut self, name: &str, prepared: &Prepared, arguments: &[Source]) -> Result<Vec<Value>> {
        if prepared.parameter_types.len() != arguments.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("wrong number of parameters for prepared statement \"{name}\""),
            )
            .detail(format!(
                "Expected {} parameters but got {}.",
                prepared.parameter_types.len(),
                arguments.len()
            )));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (argument, typ) in arguments.iter().zip(prepared.parameter_types.clone()) {
            values.push(self.argument(argument, typ)?);
        }
        Ok(values)
    }

    /// The value of an argument of EXECUTE.
    fn argument(&mut self, source: &Source, typ: Oid) -> Result<Value> {
        let sql = format!("SELECT CAST(({}) AS {})", source.text, types::format_type(typ, -1));
        let shift = |mut error: SqlError| {
            if let Some(at) = &mut error.fields_mut().position {
                *at = (*at + source.offset).saturating_sub(13);
            }
            error
        };
        let parsed = crate::parse::parse(&sql).map_err(shift)?.pop();
        let parsed = parsed.ok_or_else(|| SqlError::syntax_near(""))?;
        let prepared =
            self.prepare_parsed(parsed, sql.as_str().into(), Box::new([]), false).map_err(shift)?;
        let planned = self.current_plan(&prepared)?;
        let Body::Query(plan) = &planned.body else { return Ok(Value::Null) };
        let view = self.state.transaction(|t| {
            t.begin_statement();
            t.view()
        })?;
        let mut value = Value::Null;
        self.with_context(plan.cache_slots, &view, &[], None, |cx, _| {
            crate::row::run(&plan.root, cx, &mut |_, row: &[Datum<'_>]| {
                value = row.first().map(Datum::to_value).unwrap_or_default();
                Ok(ControlFlow::Continue(()))
            })
            .map(|_| ())
        })?;
        Ok(value)
    }

    fn discard(&mut self, what: Discard) -> Result<CommandTag> {
        match what {
            Discard::All => {
                self.prevent_block("DISCARD ALL")?;
                self.cursors.clear();
                self.prepared.clear();
                self.state.prepared_info.lock().clear();
                self.set_role(None)?;
                self.state.settings.lock().reset_all();
                self.state.advisory_unlock_all()?;
                self.state.discard_sequences();
                Ok(CommandTag::plain("DISCARD ALL"))
            }
            // Plans are shared, and made anew when they no longer fit.
            Discard::Plans => Ok(CommandTag::plain("DISCARD PLANS")),
            Discard::Sequences => {
                self.state.discard_sequences();
                Ok(CommandTag::plain("DISCARD SEQUENCES"))
            }
            // There are no temporary tables to drop.
            Discard::Temp => Ok(CommandTag::plain("DISCARD TEMP")),
        }
    }

    fn lock_table(&mut self, lock: &Lock) -> Result<CommandTag> {
        self.require_block("LOCK TABLE")?;
        self.state.adopt_catalog();
        for name in &lock.tables {
            let relation = self.ddl_context().relation(name)?;
            if !matches!(relation, Relation::Table(_) | Relation::View(_)) {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("cannot lock relation \"{}\"", relation.name()),
                ));
            }
            let wait = if lock.nowait { Wait::NoWait } else { Wait::Block };
            self.state
                .transaction(|t| t.lock_relation(RelationId(relation.oid().0), lock.mode, wait))?
                .map_err(|error| match error {
                    storage::StoreError::LockNotAvailable => SqlError::new(
                        SqlState::LOCK_NOT_AVAILABLE,
                        format!("could not obtain lock on relation \"{}\"", relation.name()),
                    ),
                    other => sql_error(other),
                })?;
        }
        Ok(CommandTag::plain("LOCK TABLE"))
    }
}
