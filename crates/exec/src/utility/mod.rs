//! Statements that are neither queries nor DML: DDL, transaction control, settings, COPY and so on.
//!
//! As in PostgreSQL such a statement is only parsed when it is prepared; names in it are looked up when it runs. Queries and
//! expressions inside stay text ([`Source`]) until then. [`parse`] reads these statements by a grammar of their own
//! over the tokens of `parse::lexer`.

pub mod alter;
pub mod copy;
pub mod object;
mod parse;
pub mod table;
mod tokens;

pub use parse::{parse, select_into};
pub use tokens::Tokens;

use copy::Copy;

/// A stretch of the statement's text that is parsed when it is needed, and where it stands.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Source {
    /// The text.
    pub text: String,
    /// Characters of the whole message before it: what positions in errors about it are to be shifted by.
    pub offset: u32,
}

/// A possibly qualified name, folded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Name {
    /// The parts as written: `[schema,] name`, or `[catalog, schema, name]`.
    pub parts: Vec<String>,
    /// Where it stands, in characters from 1; 0 unknown.
    pub position: u32,
}

impl Name {
    /// The last part.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The schema, if one is written.
    pub fn schema(&self) -> Option<&str> {
        self.parts.len().checked_sub(2).and_then(|i| self.parts.get(i)).map(String::as_str)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}

/// A type as written.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TypeName {
    /// Schema, if written.
    pub schema: Option<String>,
    /// Its name, folded; the grammar's own types by their words (`double precision`, `timestamp with time zone`).
    pub name: String,
    /// Modifiers in parentheses, as written.
    pub modifiers: Vec<String>,
    /// Interval fields (`year to month`), empty for none.
    pub fields: String,
    /// Array dimensions.
    pub dimensions: i32,
    /// Where it stands.
    pub position: u32,
}

/// Modes of a transaction; `None` leaves the session's default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransactionModes {
    /// ISOLATION LEVEL, as `SHOW transaction_isolation` prints it.
    pub isolation: Option<&'static str>,
    /// READ ONLY (true) or READ WRITE.
    pub read_only: Option<bool>,
    /// DEFERRABLE
    pub deferrable: Option<bool>,
}

/// What SET assigns.
#[derive(Clone, PartialEq, Debug)]
pub enum SetValue {
    /// `TO DEFAULT`
    Default,
    /// Values, each already as text.
    Values(Vec<String>),
    /// `FROM CURRENT`: only within functions; elsewhere it keeps the value.
    Current,
}

/// What DISCARD throws away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temp,
}

/// FETCH and MOVE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchDirection {
    /// Rows onwards; negative is backwards, `i64::MAX` ALL, zero the current row again.
    Forward(i64),
    /// FIRST (1), LAST (-1), ABSOLUTE n.
    Absolute(i64),
    /// RELATIVE n.
    Relative(i64),
}

/// DECLARE CURSOR.
#[derive(Clone, PartialEq, Debug)]
pub struct DeclareCursor {
    /// Name.
    pub name: String,
    /// BINARY
    pub binary: bool,
    /// INSENSITIVE
    pub insensitive: bool,
    /// SCROLL or NO SCROLL, if said.
    pub scroll: Option<bool>,
    /// WITH HOLD
    pub hold: bool,
    /// The query.
    pub query: Source,
}

/// VACUUM or ANALYZE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Vacuum {
    /// VACUUM (false: ANALYZE alone).
    pub vacuum: bool,
    /// ANALYZE
    pub analyze: bool,
    /// FULL
    pub full: bool,
    /// VERBOSE
    pub verbose: bool,
    /// Tables with their columns; empty: all.
    pub tables: Vec<(Name, Vec<String>)>,
}

/// LOCK TABLE.
#[derive(Clone, PartialEq, Debug)]
pub struct Lock {
    /// Tables.
    pub tables: Vec<Name>,
    /// The mode.
    pub mode: storage::TableLockMode,
    /// NOWAIT
    pub nowait: bool,
}

/// A utility statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Utility {
    /// BEGIN, START TRANSACTION (true).
    Begin(TransactionModes, bool),
    /// COMMIT, END; AND CHAIN.
    Commit(bool),
    /// ROLLBACK, ABORT; AND CHAIN.
    Rollback(bool),
    /// SAVEPOINT
    Savepoint(String),
    /// RELEASE
    Release(String),
    /// ROLLBACK TO
    RollbackTo(String),
    /// SET TRANSACTION, or SET SESSION CHARACTERISTICS AS TRANSACTION (true).
    SetTransaction(TransactionModes, bool),
    /// SET; LOCAL (true).
    Set(String, SetValue, bool),
    /// SET ROLE is `Set("role", ...)`, SET SESSION AUTHORIZATION `Set("session_authorization", ...)`. RESET name.
    Reset(String),
    /// RESET ALL
    ResetAll,
    /// SHOW name
    Show(String),
    /// SHOW ALL
    ShowAll,
    /// SET CONSTRAINTS: names (empty: ALL), DEFERRED (true) or IMMEDIATE.
    SetConstraints(Vec<Name>, bool),
    /// PREPARE: name, parameter types, statement.
    Prepare(String, Vec<TypeName>, Source),
    /// EXECUTE: name and argument expressions.
    Execute(String, Vec<Source>),
    /// DEALLOCATE name or (`None`) ALL.
    Deallocate(Option<String>),
    /// COPY
    Copy(Box<Copy>),
    /// DISCARD
    Discard(Discard),
    /// LISTEN
    Listen(String),
    /// UNLISTEN name or (`None`) `*`.
    Unlisten(Option<String>),
    /// NOTIFY channel and payload.
    Notify(String, Option<String>),
    /// DECLARE
    Declare(Box<DeclareCursor>),
    /// FETCH, or MOVE (true).
    Fetch(String, FetchDirection, bool),
    /// CLOSE name or (`None`) ALL.
    Close(Option<String>),
    /// VACUUM, ANALYZE
    Vacuum(Box<Vacuum>),
    /// CHECKPOINT
    Checkpoint,
    /// LOCK
    Lock(Box<Lock>),
    /// Anything that changes the catalog; runs by `ddl::execute`.
    Ddl(Box<object::Ddl>),
    /// CREATE TABLE AS, SELECT INTO: the query runs first, see `ddl::create_table_as`.
    CreateTableAs(Box<table::CreateTableAs>),
    /// A statement that PostgreSQL has and pgfusion does not: 0A000 with this name.
    Unsupported(String),
}

impl Utility {
    /// Whether the statement is allowed in a failed transaction block.
    pub fn ends_transaction(&self) -> bool {
        matches!(self, Utility::Commit(_) | Utility::Rollback(_) | Utility::RollbackTo(_))
    }
}
