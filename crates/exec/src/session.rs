//! A session: transaction state, settings, prepared statements; and the whole of what the server asks of exec.
//!
//! The server drives it so (compare `exec_simple_query`, `exec_parse_message` and so on in PostgreSQL's `postgres.c`):
//!
//! - simple query: [`Session::parse_simple`] (syntax errors of the whole text come first), then per statement
//!   [`Session::plan_simple`] and [`Session::execute`]; at the end [`Session::finish`] commits an implicit transaction *before* the last CommandComplete is sent.
//! - extended: [`Session::prepare`] for Parse, [`Session::describe`], [`Session::execute`] for Execute, [`Session::finish`] at Sync.
//! - after any error that is reported to the client: [`Session::fail`].

use crate::bound::SqlType;
use crate::client::{Client, CommandTag};
use crate::engine::Engine;
use catalog::types::Type;
use catalog::{Oid, Result, SqlError, Style, Value};
use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What the startup packet said.
#[derive(Clone, Debug, Default)]
pub struct Startup {
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// Other parameters, among them settings (`application_name`, `options` already split into settings).
    pub settings: Vec<(String, String)>,
    /// Process number and peer, for pg_stat_activity.
    pub pid: i32,
    /// Client address and port.
    pub client: Option<(String, i32)>,
    /// Wakes the session when it waits for its client's next message: whoever asks it to terminate calls it after the stopper.
    pub wake: Waker,
}

/// Ends a session's wait for its client, so that it sees what [`Session::check_stop`] has to say. Does nothing by default.
#[derive(Clone, Default)]
pub struct Waker(pub Option<Arc<dyn Fn() + Send + Sync>>);

impl Waker {
    /// Wakes the session.
    pub fn wake(&self) {
        if let Some(wake) = &self.0 {
            wake();
        }
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waker")
    }
}

/// The status byte of ReadyForQuery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionStatus {
    /// `I`
    Idle,
    /// `T`
    InTransaction,
    /// `E`
    Failed,
}

/// A column of a result, as RowDescription tells it.
#[derive(Clone, Debug)]
pub struct ResultColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub typ: SqlType,
    /// The type's functions (unknown is shown as text).
    pub functions: &'static Type,
    /// Table and attnum it comes from, zeros if none.
    pub table: Oid,
    /// See `table`.
    pub attnum: i16,
}

/// A parsed and bound statement, with its plan. Shared between sessions by the plan cache.
pub struct Prepared {
    /// The statement's text.
    pub text: Arc<str>,
    /// Types of the parameters, inferred ones too.
    pub parameter_types: Vec<Oid>,
    /// Result columns; `None` if the statement returns no rows.
    pub columns: Option<Vec<ResultColumn>>,
    /// Room for the server's RowDescription bytes, made once.
    pub description: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Whether this is COMMIT, ROLLBACK or the like, which are allowed in a failed transaction.
    pub ends_transaction: bool,
    /// The statement itself.
    pub(crate) inner: Arc<crate::engine::PreparedInner>,
}

/// The statements of one simple-query message.
pub struct Script {
    /// The statements' texts with their byte offsets in the message.
    pub statements: Vec<ScriptStatement>,
}

/// One statement of a script.
pub struct ScriptStatement {
    /// Parsed tree or a cached plan with its lifted literals.
    pub(crate) inner: crate::engine::ScriptInner,
}

/// Why a session is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The statement, by a cancel request.
    Cancel,
    /// The session, by an administrator or at shutdown (57P01).
    Terminate,
}

/// Stops a session's statement, or the session; callable from any thread.
pub type Stopper = Arc<dyn Fn(Stop) + Send + Sync>;

/// A session.
pub struct Session {
    pub(crate) engine: Arc<Engine>,
}

impl Session {
    /// Starts a session: 3D000 for an unknown database, 28000 for an unknown role, errors of startup settings.
    pub fn new(_engine: Arc<Engine>, _startup: Startup) -> Result<Session> {
        Err(SqlError::unsupported("starting a session"))
    }

    /// A handle by which other threads stop the running statement or the session (cancel requests, timeouts, shutdown).
    pub fn stopper(&self) -> Stopper {
        Arc::new(|_| {})
    }

    /// Raises what a stop that came in between statements asks for: 57P01, 25P03, ...
    pub fn check_stop(&self) -> Result<()> {
        Ok(())
    }

    /// How long the session may wait for its client in its present state, and the FATAL error that it then ends with
    /// (idle_in_transaction_session_timeout 25P03, idle_session_timeout 57P05). `None` is forever.
    pub fn idle_timeout(&self) -> Option<(Duration, SqlError)> {
        None
    }

    /// The status byte.
    pub fn status(&self) -> TransactionStatus {
        TransactionStatus::Idle
    }

    /// The styles in force, for reading parameters and printing rows; cheap to clone.
    pub fn style(&self) -> Arc<Style> {
        Arc::new(Style::default())
    }

    /// Settings that clients are told at startup (ParameterStatus): name and value.
    pub fn reported_settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Parses the text of a simple query; no statements for an empty one.
    pub fn parse_simple(&mut self, _sql: &str) -> Result<Script> {
        Err(SqlError::unsupported("parsing"))
    }

    /// Binds and plans one statement of a script. Begins an implicit transaction if none is open; 25P02 in a failed block.
    pub fn plan_simple(&mut self, _statement: &ScriptStatement) -> Result<(Arc<Prepared>, Vec<Value>)> {
        Err(SqlError::unsupported("planning"))
    }

    /// Parse: one statement (42601 for several); an empty text gives `None`. `types` are declared parameter types, zero = infer.
    pub fn prepare(&mut self, _sql: &str, _types: &[Oid]) -> Result<Option<Arc<Prepared>>> {
        Err(SqlError::unsupported("preparing"))
    }

    /// Stores a named prepared statement of the protocol (42P05 if there), shared with SQL's EXECUTE and DEALLOCATE.
    pub fn store_prepared(&mut self, _name: &str, _prepared: Option<Arc<Prepared>>) -> Result<()> {
        Ok(())
    }

    /// A named prepared statement (26000 if not there). The inner `None` is an empty statement.
    pub fn prepared(&self, name: &str) -> Result<Option<Arc<Prepared>>> {
        Err(SqlError::new(
            catalog::SqlState::UNDEFINED_PSTATEMENT,
            format!("prepared statement \"{name}\" does not exist"),
        ))
    }

    /// Close of a named prepared statement; nothing if not there.
    pub fn close_prepared(&mut self, _name: &str) {}

    /// Checks that a statement may be bound now (25P02 in a failed block unless it ends the block).
    pub fn check_bind(&mut self, _prepared: &Prepared) -> Result<()> {
        Ok(())
    }

    /// Runs a statement to its end, rows going to the client.
    pub fn execute(
        &mut self,
        _prepared: &Arc<Prepared>,
        _parameters: &[Value],
        _client: &mut dyn Client,
    ) -> Result<CommandTag> {
        Err(SqlError::unsupported("executing"))
    }

    /// Ends an implicit transaction by committing it; nothing in a block. Call at Sync and at the end of a simple query.
    pub fn finish(&mut self, _client: &mut dyn Client) -> Result<()> {
        Ok(())
    }

    /// After an error: the block becomes failed, an implicit transaction is rolled back.
    pub fn fail(&mut self) {}
}
