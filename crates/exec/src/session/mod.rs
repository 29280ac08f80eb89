//! A session: transaction state, settings, prepared statements; and the whole of what the server asks of exec.
//!
//! The server drives it so (compare `exec_simple_query`, `exec_parse_message` and so on in PostgreSQL's `postgres.c`):
//!
//! - simple query: [`Session::parse_simple`] (syntax errors of the whole text come first), then per statement
//!   [`Session::plan_simple`] and [`Session::execute`]; at the end [`Session::finish`] commits an implicit transaction *before* the last CommandComplete is sent.
//! - extended: [`Session::prepare`] for Parse, the prepared statement for Describe, [`Session::execute`] for Execute, [`Session::finish`] at Sync.
//! - after any error that is reported to the client: [`Session::fail`].

mod copy;
mod cursor;
mod ddl;
mod execute;
mod named;
mod prepare;
mod transaction;
mod utility;
mod vacuum;

use crate::bound::SqlType;
use crate::client::Client;
use crate::engine::Engine;
use crate::environment::{Activity, Environment};
use crate::lift::Lifted;
use crate::settings::{SetScope, Settings};
use crate::state::SessionState;
use crate::store_error::interrupted;
use catalog::types::Type;
use catalog::{Oid, Result, Severity, SqlError, SqlState, Style};
use rustc_hash::FxHashMap;
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
    pub(crate) inner: prepare::PreparedInner,
}

/// The statements of one simple-query message.
pub struct Script {
    /// The statements' texts with their byte offsets in the message.
    pub statements: Vec<ScriptStatement>,
}

/// One statement of a script.
pub struct ScriptStatement {
    /// Parsed tree or a cached plan with its lifted literals.
    pub(crate) inner: prepare::ScriptInner,
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

/// Where the session stands in its transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::enum_variant_names)] // a failed block is a block
pub(crate) enum Block {
    /// No transaction.
    Idle,
    /// A transaction that ends with the query message or at Sync.
    Implicit,
    /// BEGIN was said.
    InBlock,
    /// BEGIN was said, and a statement failed.
    Failed,
}

/// A session.
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) state: Arc<SessionState>,
    block: Block,
    transaction: transaction::TransactionFacts,
    prepared: FxHashMap<String, Option<Arc<Prepared>>>,
    cursors: FxHashMap<String, cursor::Cursor>,
    lifted: Lifted,
    /// What decides the meaning of names.
    meaning: Meaning,
}

/// What the settings and the role do to a text's meaning.
struct Meaning {
    /// Fingerprint of those that change it.
    fingerprint: u64,
    /// The settings' version that this was computed for.
    version: u64,
    /// Whether literals are lifted.
    lifting: bool,
}

impl Drop for Session {
    fn drop(&mut self) {
        *self.state.transaction.lock() = None;
        self.state.locks.unlock_advisory_all();
        self.engine.unregister(self.state.pid);
    }
}

impl Session {
    /// Starts a session: 3D000 for an unknown database, 28000 for an unknown role, errors of startup settings.
    pub fn new(engine: Arc<Engine>, startup: Startup) -> Result<Session> {
        let catalog = engine.catalog();
        let fatal = |code, message: String| SqlError::with_severity(Severity::Fatal, code, message);
        let Some(role) = catalog.role_by_name(&startup.user) else {
            return Err(fatal(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("role \"{}\" does not exist", startup.user),
            ));
        };
        if !role.login {
            return Err(fatal(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("role \"{}\" is not permitted to log in", startup.user),
            ));
        }
        let name = if startup.database.is_empty() { &startup.user } else { &startup.database };
        let Some(database) = catalog.database_by_name(name) else {
            return Err(fatal(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")));
        };
        if !database.allow_connections {
            return Err(fatal(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("database \"{name}\" is not currently accepting connections"),
            ));
        }
        let mut settings = Settings::new(&role.name, role.superuser);
        for over in catalog.overrides.values() {
            let concerns = (over.database == database.oid || !over.database.is_valid())
                && (over.role == role.oid || !over.role.is_valid());
            for (name, value) in over.settings.iter().filter(|_| concerns) {
                settings.set(name, Some(value), SetScope::Startup)?;
            }
        }
        for (name, value) in &startup.settings {
            settings.set(name, Some(value), SetScope::Startup).map_err(|mut error| {
                error.fields_mut().severity = Severity::Fatal;
                error
            })?;
        }
        let now = crate::clock::now_micros();
        let activity = Activity {
            pid: startup.pid,
            database: database.oid,
            role: role.oid,
            application_name: settings.show("application_name").unwrap_or_default(),
            client: startup.client.clone(),
            backend_start: now,
            state_change: Some(now),
            state: "idle",
            ..Activity::default()
        };
        let (database, role) = (database.oid, role.oid);
        let state = Arc::new(SessionState::new(
            Arc::clone(&engine),
            startup.pid,
            database,
            role,
            settings,
            catalog,
            activity,
        ));
        let session = Session {
            engine: Arc::clone(&engine),
            state: Arc::clone(&state),
            block: Block::Idle,
            transaction: Default::default(),
            prepared: FxHashMap::default(),
            cursors: FxHashMap::default(),
            lifted: Lifted::default(),
            meaning: Meaning { fingerprint: 0, version: u64::MAX, lifting: true },
        };
        engine.register(&state, session.stopper(), startup.wake);
        Ok(session)
    }

    /// A handle by which other threads stop the running statement or the session (cancel requests, timeouts, shutdown).
    pub fn stopper(&self) -> Stopper {
        let interrupt = Arc::clone(&self.state.interrupt);
        Arc::new(move |stop| {
            interrupt.raise(match stop {
                Stop::Cancel => storage::InterruptReason::Cancel,
                Stop::Terminate => storage::InterruptReason::Terminate,
            })
        })
    }

    /// Raises what a stop that came in between statements asks for: 57P01, 25P03, ... A cancel that came too late is forgotten.
    pub fn check_stop(&self) -> Result<()> {
        match self.state.interrupt.pending() {
            None => Ok(()),
            Some(
                reason @ (storage::InterruptReason::Cancel | storage::InterruptReason::StatementTimeout),
            ) => {
                self.state.interrupt.clear(reason);
                Ok(())
            }
            Some(reason) => Err(interrupted(reason)),
        }
    }

    /// How long the session may wait for its client in its present state, and the FATAL error that it then ends with
    /// (idle_in_transaction_session_timeout 25P03, idle_session_timeout 57P05). `None` is forever.
    pub fn idle_timeout(&self) -> Option<(Duration, SqlError)> {
        let settings = self.state.settings.lock();
        let (timeout, reason) = match self.block {
            Block::InBlock | Block::Failed => {
                (settings.idle_in_transaction_timeout(), storage::InterruptReason::IdleInTransactionTimeout)
            }
            Block::Idle | Block::Implicit => {
                (settings.idle_session_timeout(), storage::InterruptReason::IdleSessionTimeout)
            }
        };
        timeout.map(|timeout| (timeout, interrupted(reason)))
    }

    /// The status byte.
    pub fn status(&self) -> TransactionStatus {
        match self.block {
            Block::Idle | Block::Implicit => TransactionStatus::Idle,
            Block::InBlock => TransactionStatus::InTransaction,
            Block::Failed => TransactionStatus::Failed,
        }
    }

    /// The styles in force, for reading parameters and printing rows; cheap to clone.
    pub fn style(&self) -> Arc<Style> {
        self.state.settings.lock().style()
    }

    /// Settings that clients are told at startup (ParameterStatus): name and value.
    pub fn reported_settings(&self) -> Vec<(String, String)> {
        self.state.settings.lock().reported()
    }

    /// Stores a named prepared statement of the protocol (42P05 if there), shared with SQL's EXECUTE and DEALLOCATE.
    pub fn store_prepared(&mut self, name: &str, prepared: Option<Arc<Prepared>>) -> Result<()> {
        self.add_prepared(name, prepared, false)
    }

    /// A named prepared statement (26000 if not there). The inner `None` is an empty statement.
    pub fn prepared(&self, name: &str) -> Result<Option<Arc<Prepared>>> {
        self.prepared.get(name).cloned().ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_PSTATEMENT,
                format!("prepared statement \"{name}\" does not exist"),
            )
        })
    }

    /// Close of a named prepared statement; nothing if not there.
    pub fn close_prepared(&mut self, name: &str) {
        self.remove_prepared(name);
    }

    /// Checks that a statement may be bound now (25P02 in a failed block unless it ends the block), and that it still
    /// means what it was prepared for (42P01, 0A000 `cached plan must not change result type`).
    pub fn check_bind(&mut self, prepared: &Prepared) -> Result<()> {
        if self.block == Block::Failed {
            return if prepared.ends_transaction { Ok(()) } else { Err(failed_block()) };
        }
        self.ensure_transaction();
        self.state.adopt_catalog();
        self.current_plan(prepared).map(|_| ())
    }

    fn add_prepared(&mut self, name: &str, prepared: Option<Arc<Prepared>>, from_sql: bool) -> Result<()> {
        if self.prepared.contains_key(name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_PSTATEMENT,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        let info = crate::environment::PreparedInfo {
            name: name.to_owned(),
            statement: prepared.as_ref().map(|p| p.text.to_string()).unwrap_or_default(),
            prepare_time: self.state.statement_timestamp(),
            parameter_types: prepared.as_ref().map(|p| p.parameter_types.clone()).unwrap_or_default(),
            from_sql,
        };
        self.state.prepared_info.lock().push(info);
        self.prepared.insert(name.to_owned(), prepared);
        Ok(())
    }

    fn remove_prepared(&mut self, name: &str) -> bool {
        self.state.prepared_info.lock().retain(|info| info.name != name);
        self.prepared.remove(name).is_some()
    }

    /// Sends the notices that have gathered, and the settings that changed and are reported.
    pub(crate) fn flush_notices(&self, client: &mut dyn Client) {
        let notices = std::mem::take(&mut *self.state.notices.lock());
        let (changed, settings) = {
            let mut settings = self.state.settings.lock();
            (settings.take_reports(), (!notices.is_empty()).then(|| settings.clone()))
        };
        for notice in &notices {
            if settings.as_ref().is_none_or(|settings| settings.sends(notice.fields().severity)) {
                client.notice(notice);
            }
        }
        for (name, value) in changed {
            if name == "application_name" {
                self.state.activity.lock().application_name = value.clone();
            }
            client.parameter_status(&name, &value);
        }
    }
}

/// 25P02
pub(crate) fn failed_block() -> SqlError {
    SqlError::new(
        SqlState::IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}
