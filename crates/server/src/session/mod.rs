//! One connection's session, from its first packet to its end. Compare `PostgresMain` in PostgreSQL's `postgres.c`.
//!
//! ```text
//!             startup.rs                Query, FunctionCall (simple.rs)
//!   packet ---------------> Ready <---------------------------------.
//!                             |  \__________________________________/
//!                             |
//!                             | Parse, Bind, Describe, Execute, Close, Flush (extended.rs)
//!                             v
//!              Sync  .---> Extended ---. error
//!          .---------'        ^        |
//!          |                  '--------|---- the same messages
//!          v                           v
//!        Ready <----- Sync -------- Skipping <---- all other messages
//!
//!   Terminate, a closed connection or a FATAL error lead from each of them to Ended.
//! ```
//!
//! In `Ready` a ReadyForQuery has been sent. Each message has one method of [`Conversation`], which returns the next phase.
//! CopyData, CopyDone and CopyFail are read by the running COPY (copy.rs); elsewhere they are left over from a COPY that failed,
//! and ignored.

mod copy;
mod extended;
mod portals;
mod respond;
mod simple;
mod startup;

use crate::registry::Entry;
use crate::socket::Socket;
use catalog::{Severity, SqlError, SqlState};
use exec::engine::Engine;
use exec::session::{Prepared, Session, TransactionStatus};
use portals::Portals;
use respond::Events;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use wire::backend::{self, Status};
use wire::connection::{Input, Output, ReceiveError};
use wire::frontend::Tag;

/// Serves a connection to its end. A panic ends this session only.
pub(crate) fn serve(engine: &Arc<Engine>, mut entry: Entry, socket: Socket) {
    let mut connection = Connection {
        input: Input::new(socket.clone()),
        output: Output::new(socket.clone()),
        socket,
        read_timeout: None,
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if let Some(session) = startup::start(engine, &mut entry, &mut connection) {
            Conversation::new(&mut connection, session).run();
        }
    }));
    if outcome.is_err() {
        connection.output.drop_partial_message();
        let message = "the session ended because of an internal error";
        let error = SqlError::with_severity(Severity::Fatal, SqlState::INTERNAL_ERROR, message);
        backend::error_or_notice(&mut connection.output.buffer, &error);
    }
    // What cannot be written has nobody to read it.
    let _ = connection.output.flush();
    connection.socket.close();
}

/// A connection's socket with its buffers.
struct Connection {
    input: Input<Socket>,
    output: Output<Socket>,
    socket: Socket,
    /// The read timeout set on the socket.
    read_timeout: Option<Duration>,
}

impl Connection {
    /// Sets the socket's read timeout, if it is another one.
    fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        if self.read_timeout != timeout && self.socket.set_read_timeout(timeout).is_ok() {
            self.read_timeout = timeout;
        }
    }

    fn send(&mut self, error: &SqlError) {
        backend::error_or_notice(&mut self.output.buffer, error);
    }
}

/// Where the conversation stands; see the diagram above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// ReadyForQuery has been sent.
    Ready,
    /// Among extended-protocol messages, before their Sync.
    Extended,
    /// After an error among them: everything up to Sync is skipped.
    Skipping,
    /// Over.
    Ended,
}

/// A session and its connection.
struct Conversation<'c> {
    connection: &'c mut Connection,
    session: Session,
    /// The unnamed prepared statement; an inner `None` is an empty one.
    unnamed: Option<Option<Arc<Prepared>>>,
    portals: Portals,
    /// Settings as the client was last told of them.
    reported: Vec<(String, String)>,
    events: Events,
}

impl<'c> Conversation<'c> {
    fn new(connection: &'c mut Connection, session: Session) -> Self {
        let reported = session.reported_settings();
        Conversation {
            connection,
            session,
            unnamed: None,
            portals: Portals::default(),
            reported,
            events: Events::default(),
        }
    }

    /// Serves messages to the end of the session. Whatever is to be said to the client has been appended by then, but perhaps
    /// not flushed.
    fn run(mut self) {
        let mut phase = self.ready();
        while phase != Phase::Ended {
            phase = match self.receive(phase) {
                Ok(tag) => self.message(phase, tag),
                Err(Some(error)) => {
                    self.connection.send(&error);
                    Phase::Ended
                }
                Err(None) => Phase::Ended,
            };
        }
    }

    /// The next message, or why the session ends: an error to report, or `None` if the client has gone.
    fn receive(&mut self, phase: Phase) -> Result<Tag, Option<SqlError>> {
        let mut idle_error = None;
        if !self.connection.input.has_more() {
            let timeout = if phase == Phase::Ready { self.session.idle_timeout() } else { None };
            self.connection.set_read_timeout(timeout.as_ref().map(|(duration, _)| *duration));
            idle_error = timeout.map(|(_, error)| error);
        }
        let connection = &mut *self.connection;
        let received = connection.input.message(&mut connection.output);
        // What is read within a statement (COPY) may take its time.
        connection.set_read_timeout(None);
        // A termination wakes a waiting session by ending its input. A cancel request that came while it waited is forgotten here.
        if phase == Phase::Ready || received.is_err() {
            self.session.check_stop().map_err(fatal).map_err(Some)?;
        }
        received.map_err(|error| match error {
            ReceiveError::Closed => None,
            ReceiveError::TimedOut => idle_error.map(fatal),
            ReceiveError::Protocol(error) => Some(error),
            ReceiveError::Io(error) => {
                tracing::info!("could not receive data from client: {error}");
                None
            }
        })
    }

    fn message(&mut self, phase: Phase, tag: Tag) -> Phase {
        if phase == Phase::Skipping && !matches!(tag, Tag::Sync | Tag::Terminate) {
            return phase;
        }
        match tag {
            Tag::Query => self.query(),
            Tag::Parse => self.parse(),
            Tag::Bind => self.bind(),
            Tag::Describe => self.describe(),
            Tag::Execute => self.execute(),
            Tag::Close => self.close(),
            Tag::Flush => self.flush(),
            Tag::Sync => self.sync(),
            Tag::FunctionCall => self.function_call(),
            Tag::CopyData | Tag::CopyDone | Tag::CopyFail => phase,
            Tag::Terminate => Phase::Ended,
        }
    }

    /// Sends ReadyForQuery, and before it the settings that have changed (`ReportChangedGUCOptions`).
    fn ready(&mut self) -> Phase {
        if self.events.reported_stale {
            self.report_settings();
        }
        let status = match self.session.status() {
            TransactionStatus::Idle => Status::Idle,
            TransactionStatus::InTransaction => Status::InTransaction,
            TransactionStatus::Failed => Status::Failed,
        };
        backend::ready_for_query(&mut self.connection.output.buffer, status);
        Phase::Ready
    }

    fn report_settings(&mut self) {
        let settings = self.session.reported_settings();
        for (name, value) in &settings {
            if !self.reported.iter().any(|(n, v)| n == name && v == value) {
                backend::parameter_status(&mut self.connection.output.buffer, name, value);
            }
        }
        self.reported = settings;
        // While a transaction is open, its end may take the change back without our hearing of it.
        self.events.reported_stale = self.session.status() != TransactionStatus::Idle;
    }

    /// Reports an error to the client and lets the transaction fail. Returns `next`, or `Ended` after a FATAL error.
    fn fail(&mut self, error: &SqlError, next: Phase) -> Phase {
        self.connection.send(error);
        self.session.fail();
        if self.session.status() == TransactionStatus::Idle {
            self.portals.clear();
        }
        if self.events.sync_lost {
            let message = "terminating connection because protocol synchronization was lost";
            self.connection.send(&fatal(SqlError::protocol(message)));
            return Phase::Ended;
        }
        match error.fields().severity {
            Severity::Fatal | Severity::Panic => Phase::Ended,
            _ => next,
        }
    }
}

/// The error, ending the session.
fn fatal(mut error: SqlError) -> SqlError {
    if error.fields().severity == Severity::Error {
        error.fields_mut().severity = Severity::Fatal;
    }
    error
}
