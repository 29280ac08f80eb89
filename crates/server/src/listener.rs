//! Accepting connections: one thread each.

use crate::polling::Polling;
use crate::registry::Registry;
use crate::session;
use crate::socket::Socket;
use catalog::{Severity, SqlError, SqlState};
use exec::engine::Engine;
use socket2::SockRef;
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Stack of a session's thread: address space, of which only what is touched becomes memory.
const STACK_BYTES: usize = 8 << 20;

/// A bound socket.
pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `HOST:PORT`.
    pub(crate) fn bind(listen: &str) -> Result<Listener, String> {
        let failed = |error| format!("could not listen on {listen}: {error}");
        let socket = TcpListener::bind(listen).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Listener { socket, address })
    }

    /// The address, with the port that port 0 became.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts to accept.
    pub(crate) fn start(
        self,
        engine: Arc<Engine>,
        registry: Arc<Registry>,
        polling: Polling,
    ) -> Result<Accepting, String> {
        let failed = |error| format!("could not start to listen: {error}");
        let socket = self.socket.try_clone().map_err(failed)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let stop_seen = stopping.clone();
        let thread = thread::Builder::new()
            .name("listener".into())
            .spawn(move || accept_all(&self.socket, &stop_seen, &engine, &registry, &polling))
            .map_err(failed)?;
        Ok(Accepting { socket, stopping, thread })
    }
}

/// The thread that accepts.
pub(crate) struct Accepting {
    socket: TcpListener,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Accepting {
    /// Stops accepting and frees the port.
    pub(crate) fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        // On Linux this wakes the blocked accept.
        let _ = SockRef::from(&self.socket).shutdown(Shutdown::Both);
        let _ = self.thread.join();
    }
}

fn accept_all(
    socket: &TcpListener,
    stopping: &AtomicBool,
    engine: &Arc<Engine>,
    registry: &Arc<Registry>,
    polling: &Polling,
) {
    loop {
        let accepted = socket.accept();
        if stopping.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok((stream, _)) => {
                if let Err(error) = start_connection(stream, engine, registry, polling.clone()) {
                    tracing::warn!("could not start a connection: {error}");
                }
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Out of file descriptors or memory: others may give some back.
                tracing::warn!("could not accept a connection: {error}");
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

fn start_connection(
    stream: TcpStream,
    engine: &Arc<Engine>,
    registry: &Arc<Registry>,
    polling: Polling,
) -> std::io::Result<()> {
    let mut socket = Socket::new(stream, polling)?;
    let Some(entry) = registry.enter(socket.clone()) else {
        let state = SqlState::TOO_MANY_CONNECTIONS;
        let error = SqlError::with_severity(Severity::Fatal, state, "sorry, too many clients already");
        let mut bytes = Vec::new();
        wire::backend::error_or_notice(&mut bytes, &error);
        return socket.write_all(&bytes);
    };
    let engine = engine.clone();
    thread::Builder::new()
        .name(format!("session {}", entry.pid()))
        .stack_size(STACK_BYTES)
        .spawn(move || session::serve(&engine, entry, socket))
        .map(|_| ())
}
