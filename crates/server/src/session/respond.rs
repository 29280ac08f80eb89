//! The client as an execution sees it: rows go to the output buffer, notices too, COPY runs over the connection.

use super::portals::ResultFormats;
use crate::socket::Socket;
use catalog::{Datum, Result, Severity, SqlError, SqlState};
use exec::client::Client;
use exec::session::{Prepared, ResultColumn, Session};
use std::ops::ControlFlow;
use wire::backend;
use wire::connection::{Input, Output};
use wire::describe::{Column, Description};
use wire::serialize::{ColumnWriters, RowSerializer};

/// What the server keeps with a prepared statement.
pub(super) struct Described {
    /// The messages that describe it.
    pub(super) messages: Description,
    /// How its rows are written as text, if it returns rows.
    text: Option<ColumnWriters>,
}

impl Described {
    /// The description of a statement, made on first use.
    pub(super) fn of(prepared: &Prepared) -> Result<&Described> {
        let any = prepared.description.get_or_init(|| Box::new(Described::new(prepared)));
        any.downcast_ref::<Described>()
            .ok_or_else(|| SqlError::internal("a prepared statement's description is of another kind"))
    }

    fn new(prepared: &Prepared) -> Described {
        let columns = prepared.columns.as_ref();
        let messages =
            Description::new(&prepared.parameter_types, columns.map(|c| c.iter().map(describe_column)));
        let text = columns.and_then(|columns| {
            // Text is a valid format for every type.
            ColumnWriters::new(columns.iter().map(|c| c.functions), |_| 0).ok()
        });
        Described { messages, text }
    }
}

/// A column as RowDescription tells it.
pub(super) fn describe_column(column: &ResultColumn) -> Column<'_> {
    Column {
        name: &column.name,
        table: column.table,
        attnum: column.attnum,
        type_oid: column.typ.oid,
        type_len: column.functions.len,
        typmod: column.typ.typmod,
    }
}

/// The rows of one execution.
struct Rows<'a> {
    serializer: RowSerializer,
    /// RowDescription, to be sent before the first row or at the end; simple queries have it.
    description: Option<&'a Description>,
    /// How many rows still go out; those beyond are held.
    room: u64,
    held: Vec<u8>,
}

/// What happened in executions that the conversation has to deal with later.
#[derive(Default)]
pub(super) struct Events {
    /// A setting that clients are told of may have changed since they were last told.
    pub(super) reported_stale: bool,
    /// A message came that makes no sense where it came; what follows cannot be understood.
    pub(super) sync_lost: bool,
}

/// One execution's client.
pub(super) struct Responder<'a> {
    pub(super) input: &'a mut Input<Socket>,
    pub(super) output: &'a mut Output<Socket>,
    pub(super) events: &'a mut Events,
    rows: Option<Rows<'a>>,
    /// Whether COPY TO has begun and is to be ended by CopyDone.
    pub(super) copying_out: bool,
}

impl<'a> Responder<'a> {
    /// A client for an execution that returns no rows.
    pub(super) fn without_rows(
        input: &'a mut Input<Socket>,
        output: &'a mut Output<Socket>,
        events: &'a mut Events,
    ) -> Responder<'a> {
        Responder { input, output, events, rows: None, copying_out: false }
    }

    /// Readies the client for a statement's rows, of which `rows_max` are sent and the others held.
    pub(super) fn expect_rows(
        &mut self,
        prepared: &'a Prepared,
        formats: &ResultFormats,
        session: &Session,
        describe: bool,
        rows_max: Option<u64>,
    ) -> Result<()> {
        let Some(columns) = &prepared.columns else { return Ok(()) };
        let described = Described::of(prepared)?;
        let writers = match &described.text {
            Some(text) if formats.is_text() => text.clone(),
            _ => ColumnWriters::new(columns.iter().map(|c| c.functions), |column| formats.code(column))?,
        };
        self.rows = Some(Rows {
            serializer: RowSerializer::new(writers, session.style()),
            description: describe.then_some(&described.messages),
            room: rows_max.unwrap_or(u64::MAX),
            held: Vec::new(),
        });
        Ok(())
    }

    /// Readies the client for rows as text, without a description.
    pub(super) fn expect_text(&mut self, columns: &[ResultColumn], session: &Session) -> Result<()> {
        let writers = ColumnWriters::new(columns.iter().map(|c| c.functions), |_| 0)?;
        let serializer = RowSerializer::new(writers, session.style());
        self.rows = Some(Rows { serializer, description: None, room: u64::MAX, held: Vec::new() });
        Ok(())
    }

    /// Ends a failed execution. PostgreSQL describes the rows when it begins to run a statement, so an error before the first row
    /// comes before the description if planning found it (constants are evaluated there), and after it otherwise. What stops a
    /// statement from outside has always found it running.
    pub(super) fn fail(self, error: &SqlError) {
        let stopped = error.code().as_str().starts_with("57");
        if let Some(Rows { description: Some(description), .. }) = self.rows
            && stopped
        {
            description.row(&mut self.output.buffer, |_| 0);
        }
    }

    /// Ends a successful execution: the RowDescription of a result without rows, the CopyDone of COPY TO. Returns how many more
    /// rows might have been sent, and the rows held.
    pub(super) fn finish(self) -> (u64, Vec<u8>) {
        if self.copying_out {
            backend::copy_done(&mut self.output.buffer);
        }
        match self.rows {
            None => (u64::MAX, Vec::new()),
            Some(rows) => {
                if let Some(description) = rows.description {
                    description.row(&mut self.output.buffer, |_| 0);
                }
                (rows.room, rows.held)
            }
        }
    }
}

impl Client for Responder<'_> {
    #[inline]
    fn row(&mut self, row: &[Datum<'_>]) -> Result<ControlFlow<()>> {
        let Some(rows) = &mut self.rows else {
            return Err(SqlError::internal("a row from a statement that returns none"));
        };
        if let Some(description) = rows.description.take() {
            description.row(&mut self.output.buffer, |_| 0);
        }
        if rows.room > 0 {
            rows.room -= 1;
            rows.serializer.row(row, &mut self.output.buffer);
            self.output.drain().map_err(connection_lost)?;
        } else {
            rows.serializer.row(row, &mut rows.held);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn copy_in_begin(&mut self, binary: bool, columns: usize) -> Result<()> {
        self.begin_copy_in(binary, columns)
    }

    fn copy_in_data(&mut self) -> Result<Option<&[u8]>> {
        self.next_copy_data()
    }

    fn copy_out_begin(&mut self, binary: bool, columns: usize) -> Result<()> {
        backend::copy_out_response(&mut self.output.buffer, binary, columns);
        self.copying_out = true;
        Ok(())
    }

    fn copy_out_data(&mut self, data: &[u8]) -> Result<()> {
        backend::copy_data(&mut self.output.buffer, data);
        self.output.drain().map_err(connection_lost)
    }

    fn notice(&mut self, notice: &SqlError) {
        backend::error_or_notice(&mut self.output.buffer, notice);
    }

    fn parameter_status(&mut self, _name: &str, _value: &str) {
        // Told before the next ReadyForQuery, if it still holds then.
        self.events.reported_stale = true;
    }
}

/// 08006, FATAL: the client has gone while something was sent to it.
pub(super) fn connection_lost(error: std::io::Error) -> SqlError {
    tracing::info!("could not send data to client: {error}");
    SqlError::with_severity(Severity::Fatal, SqlState::CONNECTION_FAILURE, "connection to client lost")
}
