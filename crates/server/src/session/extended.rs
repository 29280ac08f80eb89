//! The extended query protocol. Compare `exec_parse_message`, `exec_bind_message`, `exec_execute_message` and the two describe
//! functions in PostgreSQL's `postgres.c`.

use super::portals::{HeldRows, Portal, Progress, ResultFormats};
use super::respond::{Described, Responder, describe_column};
use super::{Conversation, Phase};
use catalog::{Result, SqlError, SqlState};
use exec::client::CommandTag;
use exec::session::{Prepared, TransactionStatus};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::describe::Description;
use wire::frontend::{self, Tag, Target};
use wire::{backend, params};

impl Conversation<'_> {
    /// Parse.
    pub(super) fn parse(&mut self) -> Phase {
        let done = self.try_parse();
        self.extended(done)
    }

    /// Bind.
    pub(super) fn bind(&mut self) -> Phase {
        let done = self.try_bind();
        self.extended(done)
    }

    /// Describe, which never executes anything.
    pub(super) fn describe(&mut self) -> Phase {
        let done = self.try_describe();
        self.extended(done)
    }

    /// Execute.
    pub(super) fn execute(&mut self) -> Phase {
        let done = self.try_execute();
        self.extended(done)
    }

    /// Close: nothing happens if there is no such statement or portal.
    pub(super) fn close(&mut self) -> Phase {
        let done = self.try_close();
        self.extended(done)
    }

    /// Flush.
    pub(super) fn flush(&mut self) -> Phase {
        let done = frontend::empty(self.connection.input.body());
        // A failed write shows at the next read.
        let _ = self.connection.output.flush();
        self.extended(done)
    }

    /// Sync: ends the implicit transaction.
    pub(super) fn sync(&mut self) -> Phase {
        let done = frontend::empty(self.connection.input.body()).and_then(|()| self.finish());
        let next = match done {
            Ok(()) => Phase::Ready,
            Err(error) => self.fail(&error, Phase::Ready),
        };
        if next == Phase::Ready { self.ready() } else { next }
    }

    /// Commits an implicit transaction, with which its portals end.
    pub(super) fn finish(&mut self) -> Result<()> {
        let connection = &mut *self.connection;
        let mut client =
            Responder::without_rows(&mut connection.input, &mut connection.output, &mut self.events);
        self.session.finish(&mut client)?;
        self.transaction_ended();
        Ok(())
    }

    /// Drops the portals if no transaction block is open any more.
    pub(super) fn transaction_ended(&mut self) {
        if self.session.status() == TransactionStatus::Idle {
            self.portals.clear();
        }
    }

    fn extended(&mut self, done: Result<()>) -> Phase {
        match done {
            Ok(()) => Phase::Extended,
            Err(error) => self.fail(&error, Phase::Skipping),
        }
    }

    fn try_parse(&mut self) -> Result<()> {
        let message = frontend::parse(self.connection.input.body())?;
        if message.name.is_empty() {
            // Even if what follows fails.
            self.unnamed = None;
        }
        let prepared = self.session.prepare(message.sql, &message.types)?;
        if message.name.is_empty() {
            self.unnamed = Some(prepared);
        } else {
            self.session.store_prepared(message.name, prepared)?;
        }
        backend::parse_complete(&mut self.connection.output.buffer);
        Ok(())
    }

    fn try_bind(&mut self) -> Result<()> {
        let message = frontend::bind(self.connection.input.body())?;
        let prepared = statement(&self.unnamed, &self.session, message.statement)?;
        let parameter_types = prepared.as_ref().map_or(&[][..], |p| &p.parameter_types);
        params::check_counts(&message, parameter_types.len())?;
        if let Some(prepared) = &prepared {
            self.session.check_bind(prepared)?;
        }
        self.portals.check_new(message.portal, self.session.cursor(message.portal).is_some())?;
        let style = self.session.style();
        let parameters = params::values(&message, parameter_types, &style, now(), |typ, text| {
            self.session.read_name(typ, text)
        })?;
        if let Some(columns) = prepared.as_ref().and_then(|p| p.columns.as_ref()) {
            params::check_result_formats(message.result_formats, columns.len())?;
        }
        let formats = ResultFormats::new(message.result_formats);
        self.portals
            .insert(message.portal, Portal { prepared, parameters, formats, progress: Progress::New });
        backend::bind_complete(&mut self.connection.output.buffer);
        Ok(())
    }

    fn try_describe(&mut self) -> Result<()> {
        let target = frontend::target(Tag::Describe, self.connection.input.body())?;
        let failed = self.session.status() == TransactionStatus::Failed;
        let output = &mut self.connection.output.buffer;
        match target {
            Target::Statement(name) => {
                let prepared = statement(&self.unnamed, &self.session, name)?;
                let Some(prepared) = prepared else {
                    // An empty statement: no parameters, no rows.
                    output.extend_from_slice(b"t\0\0\0\x06\0\0");
                    backend::no_data(output);
                    return Ok(());
                };
                if failed && prepared.columns.is_some() {
                    return Err(in_failed_transaction());
                }
                let described = Described::of(&prepared)?;
                described.messages.parameters(output);
                described.messages.row(output, |_| 0);
            }
            Target::Portal(name) => {
                if let Some(columns) = self.session.cursor(name) {
                    if failed {
                        return Err(in_failed_transaction());
                    }
                    let columns = Some(columns.iter().map(describe_column));
                    Description::new(&[], columns).row(output, |_| 0);
                    return Ok(());
                }
                let portal = self.portals.find(name)?;
                let Some(prepared) = &portal.prepared else {
                    backend::no_data(output);
                    return Ok(());
                };
                if failed && prepared.columns.is_some() {
                    return Err(in_failed_transaction());
                }
                let messages = &Described::of(prepared)?.messages;
                messages.row(output, |column| portal.formats.code(column));
            }
        }
        Ok(())
    }

    fn try_execute(&mut self) -> Result<()> {
        let (name, rows_max) = frontend::execute(self.connection.input.body())?;
        if self.session.cursor(name).is_some() {
            let name = name.to_owned();
            return self.execute_cursor(&name, rows_max);
        }
        let portal = self.portals.find(name)?;
        let Some(prepared) = portal.prepared.clone() else {
            backend::empty_query_response(&mut self.connection.output.buffer);
            return Ok(());
        };
        if self.session.status() == TransactionStatus::Failed && !prepared.ends_transaction {
            return Err(in_failed_transaction());
        }
        let (sent, tag) = match &mut portal.progress {
            Progress::New => {
                let returns_rows = prepared.columns.is_some();
                // A statement that fails half-way leaves a portal that cannot run.
                portal.progress = Progress::Done;
                let connection = &mut *self.connection;
                let mut client =
                    Responder::without_rows(&mut connection.input, &mut connection.output, &mut self.events);
                if returns_rows {
                    client.expect_rows(&prepared, &portal.formats, &self.session, false, rows_max)?;
                }
                let tag = self.session.execute(&prepared, &portal.parameters, &mut client)?;
                let (room, held) = client.finish();
                if returns_rows {
                    portal.progress = Progress::Held(HeldRows::new(held, tag));
                }
                (rows_max.unwrap_or(u64::MAX).saturating_sub(room), tag)
            }
            Progress::Held(held) => {
                let tag = held.tag;
                let (rows, count) = held.take(rows_max);
                self.connection.output.buffer.extend_from_slice(rows);
                self.connection.output.drain().map_err(super::respond::connection_lost)?;
                // The number is that of this Execute, also for INSERT and its like.
                (count, CommandTag { count: tag.count.map(|_| count), ..tag })
            }
            Progress::Done => {
                return Err(SqlError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("portal \"{name}\" cannot be run"),
                ));
            }
        };
        if prepared.ends_transaction {
            self.transaction_ended();
        }
        let output = &mut self.connection.output.buffer;
        // As in PostgreSQL, a portal that has just given as many rows as were asked for does not know that it is at its end.
        if prepared.columns.is_some() && rows_max == Some(sent) {
            backend::portal_suspended(output);
        } else {
            backend::command_complete(output, tag.verb, tag.count);
        }
        Ok(())
    }

    /// Execute on a cursor that SQL declared.
    fn execute_cursor(&mut self, name: &str, rows_max: Option<u64>) -> Result<()> {
        if self.session.status() == TransactionStatus::Failed {
            return Err(in_failed_transaction());
        }
        let connection = &mut *self.connection;
        let mut client =
            Responder::without_rows(&mut connection.input, &mut connection.output, &mut self.events);
        client.expect_text(self.session.cursor(name).unwrap_or_default(), &self.session)?;
        let count = self.session.execute_cursor(name, rows_max, &mut client)?;
        let output = &mut self.connection.output.buffer;
        if rows_max == Some(count) {
            backend::portal_suspended(output);
        } else {
            backend::command_complete(output, "SELECT", Some(count));
        }
        Ok(())
    }

    fn try_close(&mut self) -> Result<()> {
        match frontend::target(Tag::Close, self.connection.input.body())? {
            Target::Statement("") => self.unnamed = None,
            Target::Statement(name) => self.session.close_prepared(name),
            Target::Portal(name) => {
                self.portals.remove(name);
                self.session.drop_cursor(name);
            }
        }
        backend::close_complete(&mut self.connection.output.buffer);
        Ok(())
    }
}

/// The prepared statement of this name; 26000 if there is none.
fn statement(
    unnamed: &Option<Option<Arc<Prepared>>>,
    session: &exec::session::Session,
    name: &str,
) -> Result<Option<Arc<Prepared>>> {
    if !name.is_empty() {
        return session.prepared(name);
    }
    unnamed.clone().ok_or_else(|| {
        SqlError::new(SqlState::UNDEFINED_PSTATEMENT, "unnamed prepared statement does not exist")
    })
}

fn in_failed_transaction() -> SqlError {
    SqlError::new(
        SqlState::IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}

/// Microseconds since 2000-01-01 UTC.
fn now() -> i64 {
    const EPOCH_SECONDS: u64 = 946_684_800;
    let since_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since_unix.as_micros() as i64).wrapping_sub((EPOCH_SECONDS * 1_000_000) as i64)
}
