//! COPY, parsed.

use super::{Name, Source};

/// Where COPY's data come from or go to.
#[derive(Clone, PartialEq, Debug)]
pub enum CopyPlace {
    /// STDIN, STDOUT: the client.
    Client,
    /// A file of the server, by name.
    File(String),
    /// PROGRAM 'command'
    Program(String),
}

/// What is copied.
#[derive(Clone, PartialEq, Debug)]
pub enum CopyWhat {
    /// A table (TO: or view is refused) and its columns, empty for all.
    Table(Name, Vec<String>),
    /// A query in parentheses (TO only).
    Query(Source),
}

/// FORMAT
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CopyFormat {
    /// Tab-separated with backslash escapes.
    #[default]
    Text,
    /// Comma-separated values.
    Csv,
    /// PostgreSQL's binary format.
    Binary,
}

/// HEADER
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum CopyHeader {
    #[default]
    Off,
    On,
    Match,
}

/// Columns that a FORCE option names.
#[derive(Clone, PartialEq, Debug)]
pub enum ForceColumns {
    /// `*`
    All,
    /// These.
    Some(Vec<String>),
}

/// COPY's options with PostgreSQL's defaults filled in; consistent as `ProcessCopyOptions` (copy.c) demands.
#[derive(Clone, PartialEq, Debug)]
pub struct CopyOptions {
    /// FORMAT
    pub format: CopyFormat,
    /// FREEZE
    pub freeze: bool,
    /// DELIMITER, one byte.
    pub delimiter: u8,
    /// NULL
    pub null: String,
    /// HEADER
    pub header: CopyHeader,
    /// QUOTE, one byte (csv).
    pub quote: u8,
    /// ESCAPE, one byte (csv).
    pub escape: u8,
    /// FORCE_QUOTE
    pub force_quote: Option<ForceColumns>,
    /// FORCE_NOT_NULL
    pub force_not_null: Vec<String>,
    /// FORCE_NULL
    pub force_null: Vec<String>,
    /// ENCODING
    pub encoding: Option<String>,
}

/// COPY
#[derive(Clone, PartialEq, Debug)]
pub struct Copy {
    /// What.
    pub what: CopyWhat,
    /// FROM (true) or TO.
    pub from: bool,
    /// The other end.
    pub place: CopyPlace,
    /// Options.
    pub options: CopyOptions,
    /// WHERE (FROM only).
    pub filter: Option<Source>,
}
