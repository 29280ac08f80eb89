//! The simple query protocol. Compare `exec_simple_query` in PostgreSQL's `postgres.c`.

use super::portals::ResultFormats;
use super::respond::Responder;
use super::{Conversation, Phase};
use catalog::{Result, SqlError};
use exec::session::ScriptStatement;
use wire::{backend, frontend};

impl Conversation<'_> {
    /// Query: its statements run one after the other, in one implicit transaction, up to the first error.
    pub(super) fn query(&mut self) -> Phase {
        // As PostgreSQL does: a simple query takes the place of the unnamed statement and the unnamed portal.
        self.unnamed = None;
        self.portals.remove("");
        let next = match self.run_script() {
            Ok(()) => Phase::Ready,
            Err(error) => self.fail(&error, Phase::Ready),
        };
        if next == Phase::Ready { self.ready() } else { next }
    }

    /// FunctionCall, which is not supported.
    pub(super) fn function_call(&mut self) -> Phase {
        match self.fail(&SqlError::unsupported("the function call message"), Phase::Ready) {
            Phase::Ready => self.ready(),
            next => next,
        }
    }

    fn run_script(&mut self) -> Result<()> {
        let sql = frontend::query(self.connection.input.body())?;
        let script = self.session.parse_simple(sql)?;
        let Some((last, earlier)) = script.statements.split_last() else {
            self.finish()?;
            backend::empty_query_response(&mut self.connection.output.buffer);
            return Ok(());
        };
        for statement in earlier {
            self.run_statement(statement, false)?;
        }
        self.run_statement(last, true)
    }

    fn run_statement(&mut self, statement: &ScriptStatement, is_last: bool) -> Result<()> {
        let (prepared, parameters) = self.session.plan_simple(statement)?;
        let connection = &mut *self.connection;
        let mut client =
            Responder::without_rows(&mut connection.input, &mut connection.output, &mut self.events);
        if prepared.columns.is_some() {
            client.expect_rows(&prepared, &ResultFormats::All(0), &self.session, true, None)?;
        }
        let tag = match self.session.execute(&prepared, &parameters, &mut client) {
            Ok(tag) => tag,
            Err(error) => {
                client.fail(&error);
                return Err(error);
            }
        };
        client.finish();
        if prepared.ends_transaction {
            self.transaction_ended();
        }
        // IMPORTANT: the client must not hear of success before the implicit transaction is committed.
        if is_last {
            self.finish()?;
        }
        backend::command_complete(&mut self.connection.output.buffer, tag.verb, tag.count);
        Ok(())
    }
}
