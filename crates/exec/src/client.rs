//! What an execution needs of whoever is connected: somewhere to put rows, and COPY's data both ways.

use catalog::{Datum, Result, SqlError};
use std::ops::ControlFlow;

/// The receiving end of an execution. The server implements it over the socket, tests over a vector.
pub trait Client {
    /// Takes one result row, one value per column of the statement's description. `Break` asks for no more rows.
    fn row(&mut self, row: &[Datum<'_>]) -> Result<ControlFlow<()>>;

    /// Announces COPY FROM STDIN (CopyInResponse) with this number of columns.
    fn copy_in_begin(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// The next piece of COPY data; `None` at its end. The client's CopyFail is an error (57014).
    fn copy_in_data(&mut self) -> Result<Option<&[u8]>>;

    /// Announces COPY TO STDOUT (CopyOutResponse).
    fn copy_out_begin(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// Sends one CopyData message.
    fn copy_out_data(&mut self, data: &[u8]) -> Result<()>;

    /// Sends a notice at once.
    fn notice(&mut self, notice: &SqlError);

    /// A setting that clients are told of has a new value (ParameterStatus).
    fn parameter_status(&mut self, name: &str, value: &str);
}

/// What CommandComplete says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandTag {
    /// `SELECT`, `INSERT 0`, `CREATE TABLE`, ...
    pub verb: &'static str,
    /// The number behind it, if the verb has one.
    pub count: Option<u64>,
}

impl CommandTag {
    /// A tag without a number.
    pub const fn plain(verb: &'static str) -> Self {
        CommandTag { verb, count: None }
    }

    /// A tag with a number.
    pub const fn counted(verb: &'static str, count: u64) -> Self {
        CommandTag { verb, count: Some(count) }
    }
}

impl std::fmt::Display for CommandTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            Some(count) => write!(f, "{} {count}", self.verb),
            None => f.write_str(self.verb),
        }
    }
}
