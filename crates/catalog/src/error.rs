//! The one SQL error type: everything that PostgreSQL's ErrorResponse can say.

use crate::SqlState;

/// How grave a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The statement failed.
    Error,
    /// The connection ends.
    Fatal,
    /// The server ends.
    Panic,
    /// A message beside the result.
    Warning,
    /// A message beside the result.
    Notice,
    /// A message beside the result.
    Info,
    /// A message beside the result.
    Log,
    /// A message beside the result.
    Debug,
}

impl Severity {
    /// PostgreSQL's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
            Severity::Panic => "PANIC",
            Severity::Warning => "WARNING",
            Severity::Notice => "NOTICE",
            Severity::Info => "INFO",
            Severity::Log => "LOG",
            Severity::Debug => "DEBUG",
        }
    }
}

/// The fields of a message, named as in PostgreSQL's protocol documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// Severity.
    pub severity: Severity,
    /// SQLSTATE.
    pub code: SqlState,
    /// Primary message: lower case, no full stop.
    pub message: String,
    /// Detail: full sentences.
    pub detail: Option<String>,
    /// Hint: full sentences.
    pub hint: Option<String>,
    /// Where in the statement, in characters from 1.
    pub position: Option<u32>,
    /// Context (`W`).
    pub context: Option<String>,
    /// Schema of the object concerned.
    pub schema: Option<String>,
    /// Table concerned.
    pub table: Option<String>,
    /// Column concerned.
    pub column: Option<String>,
    /// Data type concerned.
    pub datatype: Option<String>,
    /// Constraint concerned.
    pub constraint: Option<String>,
}

/// An SQL error (or, by its severity, a notice). Boxed, so that a `Result` stays small.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlError(Box<Fields>);

/// The result of whatever can raise an SQL error.
pub type Result<T, E = SqlError> = std::result::Result<T, E>;

impl SqlError {
    /// An error of severity ERROR.
    pub fn new(code: SqlState, message: impl Into<String>) -> Self {
        Self::with_severity(Severity::Error, code, message)
    }

    /// A message of the given severity.
    pub fn with_severity(severity: Severity, code: SqlState, message: impl Into<String>) -> Self {
        SqlError(Box::new(Fields {
            severity,
            code,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            datatype: None,
            constraint: None,
        }))
    }

    /// The fields.
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    /// The fields, to change.
    pub fn fields_mut(&mut self) -> &mut Fields {
        &mut self.0
    }

    /// SQLSTATE.
    pub fn code(&self) -> SqlState {
        self.0.code
    }

    /// The primary message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// With a detail.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// With a position (characters from 1), unless a more precise one is there already. Zero means unknown.
    pub fn at(mut self, position: u32) -> Self {
        if self.0.position.is_none() && position > 0 {
            self.0.position = Some(position);
        }
        self
    }

    /// With a context line.
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }

    /// With the table concerned.
    pub fn table(mut self, schema: &str, table: &str) -> Self {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }

    /// With the column concerned.
    pub fn column(mut self, column: &str) -> Self {
        self.0.column = Some(column.into());
        self
    }

    /// With the constraint concerned.
    pub fn constraint(mut self, constraint: &str) -> Self {
        self.0.constraint = Some(constraint.into());
        self
    }

    // Constructors for messages that several places raise; single-use ones are built where they are raised.

    /// 0A000: something that pgfusion does not do (yet), by name.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        Self::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }

    /// XX000: a state that should not occur.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(SqlState::INTERNAL_ERROR, what)
    }

    /// 42601 at a token, as PostgreSQL's grammar says it.
    pub fn syntax_near(token: &str) -> Self {
        if token.is_empty() {
            Self::new(SqlState::SYNTAX_ERROR, "syntax error at end of input")
        } else {
            Self::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{token}\""))
        }
    }

    /// 22P02: text that is not a value of the type.
    pub fn invalid_text(type_name: &str, text: &str) -> Self {
        Self::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("invalid input syntax for type {type_name}: \"{text}\""),
        )
    }

    /// 22003: `integer out of range` and its like.
    pub fn out_of_range(type_name: &str) -> Self {
        Self::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
    }

    /// 22003 for text input: `value "x" is out of range for type integer`.
    pub fn text_out_of_range(type_name: &str, text: &str) -> Self {
        Self::new(
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            format!("value \"{text}\" is out of range for type {type_name}"),
        )
    }

    /// 22012.
    pub fn division_by_zero() -> Self {
        Self::new(SqlState::DIVISION_BY_ZERO, "division by zero")
    }

    /// 42P01.
    pub fn undefined_table(name: &str) -> Self {
        Self::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
    }

    /// 42703 without a qualifier.
    pub fn undefined_column(name: &str) -> Self {
        Self::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
    }

    /// 08P01.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(SqlState::PROTOCOL_VIOLATION, message)
    }
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:  {} ({:?})", self.0.severity.as_str(), self.0.message, self.0.code)
    }
}

impl std::error::Error for SqlError {}
