//! From the first packet to the first ReadyForQuery. Compare PostgreSQL's `ProcessStartupPacket`, `PerformAuthentication`,
//! `InitPostgres`.

use super::{Connection, fatal};
use crate::registry::Entry;
use catalog::{Result, SqlError, SqlState};
use exec::engine::Engine;
use exec::session::{Session, Startup, Waker};
use std::sync::Arc;
use std::time::Duration;
use wire::backend;
use wire::connection::ReceiveError;
use wire::frontend::{self, PROTOCOL_LATEST, PROTOCOL_MAJOR, StartupPacket};

/// How long a client may take to send its startup packet (`authentication_timeout`).
const STARTUP_PATIENCE: Duration = Duration::from_secs(60);

/// Brings a connection to where it can take its first query. `None` if it has ended, the reason said to the client.
pub(super) fn start(engine: &Arc<Engine>, entry: &mut Entry, connection: &mut Connection) -> Option<Session> {
    connection.set_read_timeout(Some(STARTUP_PATIENCE));
    let packet = match startup_packet(connection) {
        Ok(packet) => packet?,
        Err(error) => {
            connection.send(&fatal(error));
            return None;
        }
    };
    connection.set_read_timeout(None);
    let packet = match packet {
        StartupPacket::Startup(packet) => packet,
        StartupPacket::Cancel { pid, secret } => {
            entry.registry().cancel(pid, secret);
            return None;
        }
        StartupPacket::Unsupported { major, minor } => {
            let error = frontend::unsupported_version(major, minor);
            if major < PROTOCOL_MAJOR {
                backend::error_version_2(&mut connection.output.buffer, &error);
            } else {
                connection.send(&error);
            }
            return None;
        }
        StartupPacket::Ssl | StartupPacket::GssEncryption => return None,
    };
    match open_session(engine, entry, connection, packet) {
        Ok(session) => Some(session),
        Err(error) => {
            connection.send(&fatal(error));
            None
        }
    }
}

/// The packet that decides what the connection is for. Requests for encryption are declined, each at most once.
fn startup_packet(connection: &mut Connection) -> Result<Option<StartupPacket>> {
    let (mut ssl_declined, mut gss_declined) = (false, false);
    loop {
        let body = match connection.input.startup_packet(&mut connection.output) {
            Ok(Some(body)) => body,
            Err(ReceiveError::Protocol(error)) => return Err(error),
            Ok(None) | Err(ReceiveError::Closed | ReceiveError::TimedOut | ReceiveError::Io(_)) => {
                return Ok(None);
            }
        };
        let packet = frontend::startup(body)?;
        let (declined, minor) = match packet {
            StartupPacket::Ssl => (&mut ssl_declined, 5679),
            StartupPacket::GssEncryption => (&mut gss_declined, 5680),
            StartupPacket::Cancel { .. } | StartupPacket::Unsupported { .. } | StartupPacket::Startup(_) => {
                return Ok(Some(packet));
            }
        };
        if *declined {
            // Asked for again, it is taken for a version.
            return Ok(Some(StartupPacket::Unsupported { major: 1234, minor }));
        }
        *declined = true;
        connection.output.buffer.push(b'N');
    }
}

fn open_session(
    engine: &Arc<Engine>,
    entry: &mut Entry,
    connection: &mut Connection,
    packet: frontend::Startup,
) -> Result<Session> {
    let output = &mut connection.output.buffer;
    if packet.negotiate {
        backend::negotiate_protocol_version(output, PROTOCOL_LATEST, &packet.unrecognized);
    }
    if let Some(replication) = &packet.replication {
        check_no_replication(replication)?;
    }
    entry.become_session()?;
    // Everybody is trusted. As with PostgreSQL, the client hears so before role and database are looked up.
    backend::authentication_ok(output);

    let mut settings =
        packet.options.as_deref().map(frontend::split_options).transpose()?.unwrap_or_default();
    settings.extend(packet.settings);
    let socket = connection.socket.clone();
    let session = Session::new(
        engine.clone(),
        Startup {
            user: packet.user,
            database: packet.database,
            settings,
            pid: entry.pid(),
            client: socket.peer().map(|peer| (peer.ip().to_string(), peer.port().into())),
            wake: Waker(Some(Arc::new(move || socket.stop_reading()))),
        },
    )?;
    for (name, value) in session.reported_settings() {
        backend::parameter_status(output, &name, &value);
    }
    let secret: i32 = rand::random();
    backend::backend_key_data(output, entry.pid(), secret);
    entry.publish(secret, session.stopper());
    Ok(session)
}

/// `replication` asks for the replication protocol, which is not spoken here, unless it is a false boolean.
fn check_no_replication(value: &str) -> Result<()> {
    match value.to_ascii_lowercase().as_str() {
        "false" | "off" | "no" | "0" | "f" | "n" => Ok(()),
        "true" | "on" | "yes" | "1" | "t" | "y" | "database" => {
            Err(SqlError::unsupported("the replication protocol"))
        }
        _ => Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid value for parameter \"replication\": \"{value}\""),
        )
        .hint("Valid values are: \"false\", 0, \"true\", 1, \"database\".")),
    }
}
