//! COPY FROM STDIN over the connection. Compare `CopyGetData` in PostgreSQL's `copyfromparse.c`.

use super::respond::{Responder, connection_lost};
use catalog::{Result, Severity, SqlError, SqlState};
use wire::backend;
use wire::connection::ReceiveError;
use wire::frontend::{self, Tag};

impl Responder<'_> {
    /// Sends CopyInResponse and flushes, since the client waits for it.
    pub(super) fn begin_copy_in(&mut self, binary: bool, columns: usize) -> Result<()> {
        backend::copy_in_response(&mut self.output.buffer, binary, columns);
        self.output.flush().map_err(connection_lost)
    }

    /// The next CopyData's content; `None` after CopyDone.
    pub(super) fn next_copy_data(&mut self) -> Result<Option<&[u8]>> {
        loop {
            match self.input.message(self.output).map_err(receive_error)? {
                Tag::CopyData => return Ok(Some(self.input.body())),
                Tag::CopyDone => return Ok(None),
                Tag::CopyFail => {
                    let message = frontend::copy_fail(self.input.body())?;
                    return Err(SqlError::new(
                        SqlState::QUERY_CANCELED,
                        format!("COPY from stdin failed: {message}"),
                    ));
                }
                // Clients of the extended protocol send these right behind their Execute.
                Tag::Flush | Tag::Sync => {}
                other @ (Tag::Query
                | Tag::Parse
                | Tag::Bind
                | Tag::Describe
                | Tag::Execute
                | Tag::Close
                | Tag::FunctionCall
                | Tag::Terminate) => {
                    self.events.sync_lost = true;
                    return Err(SqlError::protocol(format!(
                        "unexpected message type 0x{:02X} during COPY from stdin",
                        other.byte()
                    )));
                }
            }
        }
    }
}

fn receive_error(error: ReceiveError) -> SqlError {
    match error {
        ReceiveError::Protocol(error) => error,
        ReceiveError::Closed | ReceiveError::TimedOut | ReceiveError::Io(_) => SqlError::with_severity(
            Severity::Fatal,
            SqlState::CONNECTION_FAILURE,
            "unexpected EOF on client connection with an open transaction",
        ),
    }
}
