//! All connections: their number, their cancel keys, and how to stop them.

use crate::socket::Socket;
use catalog::{Result, Severity, SqlError, SqlState};
use exec::session::{Stop, Stopper};
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long sessions may take to end at shutdown before their sockets are closed under them.
const GRACE: Duration = Duration::from_secs(5);
/// How long after that before the shutdown goes on without them.
const GRACE_AFTER_CLOSE: Duration = Duration::from_secs(5);

/// The connections of a server, shared by all threads.
pub(crate) struct Registry {
    /// Most sessions at once.
    sessions_max: usize,
    state: Mutex<State>,
    /// Signalled when a connection ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    connections: FxHashMap<i32, Connection>,
    /// Connections that are past their startup packet.
    sessions: usize,
    last_pid: i32,
    closing: bool,
}

struct Connection {
    socket: Socket,
    session: Option<Session>,
}

struct Session {
    secret: i32,
    stopper: Stopper,
}

impl Registry {
    /// An empty registry.
    pub(crate) fn new(sessions_max: u32) -> Arc<Registry> {
        let last_pid = i32::try_from(std::process::id()).unwrap_or(0);
        let state = Mutex::new(State { last_pid, ..State::default() });
        Arc::new(Registry { sessions_max: sessions_max as usize, state, ended: Condvar::new() })
    }

    /// Enters a connection, giving it a process number. `None` when far too many connections have not yet become sessions,
    /// or the server is closing.
    pub(crate) fn enter(self: &Arc<Registry>, socket: Socket) -> Option<Entry> {
        let mut state = self.state.lock();
        if state.closing || state.connections.len() >= self.sessions_max * 2 + 100 {
            return None;
        }
        let pid = loop {
            state.last_pid = state.last_pid.checked_add(1).unwrap_or(1);
            if !state.connections.contains_key(&state.last_pid) {
                break state.last_pid;
            }
        };
        state.connections.insert(pid, Connection { socket, session: None });
        Some(Entry { registry: self.clone(), pid, is_session: false })
    }

    /// Stops the statement of the session with this process number, if the secret is right.
    pub(crate) fn cancel(&self, pid: i32, secret: i32) {
        let stopper = {
            let state = self.state.lock();
            let session = state.connections.get(&pid).and_then(|c| c.session.as_ref());
            session.filter(|s| s.secret == secret).map(|s| s.stopper.clone())
        };
        match stopper {
            Some(stopper) => stopper(Stop::Cancel),
            None => tracing::info!("cancel request for process {pid} does not match any session"),
        }
    }

    /// Ends all sessions with 57P01 and waits for them.
    pub(crate) fn terminate_all(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        let mut stoppers = Vec::new();
        for connection in state.connections.values() {
            let stopper = connection.session.as_ref().map(|s| s.stopper.clone());
            stoppers.push((stopper, connection.socket.clone()));
        }
        drop(state);
        for (stopper, socket) in stoppers {
            if let Some(stopper) = stopper {
                stopper(Stop::Terminate);
            }
            socket.stop_reading();
        }
        if !self.wait_until_empty(GRACE) {
            for connection in self.state.lock().connections.values() {
                connection.socket.close();
            }
            if !self.wait_until_empty(GRACE_AFTER_CLOSE) {
                tracing::warn!("{} connections did not end", self.state.lock().connections.len());
            }
        }
    }

    fn wait_until_empty(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = self.state.lock();
        while !state.connections.is_empty() {
            if self.ended.wait_until(&mut state, deadline).timed_out() {
                return state.connections.is_empty();
            }
        }
        true
    }
}

/// A connection's place in the registry; dropping it leaves.
pub(crate) struct Entry {
    registry: Arc<Registry>,
    pid: i32,
    is_session: bool,
}

impl Entry {
    /// The process number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// The registry.
    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Takes one of the places for sessions: 53300 if there is none, 57P03 if the server is closing. Both are FATAL.
    pub(crate) fn become_session(&mut self) -> Result<()> {
        let mut state = self.registry.state.lock();
        let fatal = |code, message| Err(SqlError::with_severity(Severity::Fatal, code, message));
        if state.closing {
            return fatal(SqlState::CANNOT_CONNECT_NOW, "the database system is shutting down");
        }
        if state.sessions >= self.registry.sessions_max {
            return fatal(SqlState::TOO_MANY_CONNECTIONS, "sorry, too many clients already");
        }
        state.sessions += 1;
        self.is_session = true;
        Ok(())
    }

    /// Makes the session known to cancel requests and the shutdown.
    pub(crate) fn publish(&self, secret: i32, stopper: Stopper) {
        let mut state = self.registry.state.lock();
        let closing = state.closing;
        if let Some(connection) = state.connections.get_mut(&self.pid) {
            connection.session = Some(Session { secret, stopper: stopper.clone() });
        }
        drop(state);
        // The shutdown came between the two steps and did not see the stopper.
        if closing {
            stopper(Stop::Terminate);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.registry.state.lock();
        state.connections.remove(&self.pid);
        if self.is_session {
            state.sessions -= 1;
        }
        drop(state);
        self.registry.ended.notify_all();
    }
}
