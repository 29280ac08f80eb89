//! CREATE TABLE, CREATE INDEX and their parts, parsed.

use super::{Name, Source, TypeName};
use catalog::object::{Identity, Persistence};

/// A referential action.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum ReferentialAction {
    /// NO ACTION
    #[default]
    NoAction,
    /// RESTRICT
    Restrict,
    /// CASCADE
    Cascade,
    /// SET NULL, with the columns if named.
    SetNull(Vec<String>),
    /// SET DEFAULT, likewise.
    SetDefault(Vec<String>),
}

/// REFERENCES
#[derive(Clone, PartialEq, Debug)]
pub struct References {
    /// The table referred to.
    pub table: Name,
    /// Its columns; empty: the primary key.
    pub columns: Vec<String>,
    /// ON UPDATE
    pub on_update: ReferentialAction,
    /// ON DELETE
    pub on_delete: ReferentialAction,
    /// MATCH FULL
    pub match_full: bool,
}

/// What a constraint demands.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstraintSpec {
    /// CHECK; NO INHERIT.
    Check(Source, bool),
    /// PRIMARY KEY (true) or UNIQUE.
    Key {
        /// PRIMARY KEY
        primary: bool,
        /// Columns.
        columns: Vec<String>,
        /// INCLUDE
        include: Vec<String>,
        /// NULLS NOT DISTINCT
        nulls_not_distinct: bool,
        /// USING INDEX
        using_index: Option<String>,
        /// WITH (...)
        options: Vec<(String, String)>,
    },
    /// FOREIGN KEY
    ForeignKey {
        /// Columns.
        columns: Vec<String>,
        /// What they refer to.
        references: References,
    },
}

/// A constraint of a table or column.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstraintDefinition {
    /// CONSTRAINT name
    pub name: Option<String>,
    /// What it demands.
    pub spec: ConstraintSpec,
    /// DEFERRABLE
    pub deferrable: bool,
    /// INITIALLY DEFERRED
    pub initially_deferred: bool,
    /// NOT VALID
    pub not_valid: bool,
    /// Where it stands.
    pub position: u32,
}

/// Options of a sequence, as written; `None` was not.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SequenceOptions {
    /// AS type
    pub typ: Option<TypeName>,
    /// START
    pub start: Option<i64>,
    /// INCREMENT
    pub increment: Option<i64>,
    /// MINVALUE; the inner `None` is NO MINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; the inner `None` is NO MAXVALUE.
    pub max: Option<Option<i64>>,
    /// CACHE
    pub cache: Option<i64>,
    /// CYCLE
    pub cycle: Option<bool>,
    /// OWNED BY; the inner `None` is NONE.
    pub owned_by: Option<Option<Name>>,
    /// RESTART [WITH n]
    pub restart: Option<Option<i64>>,
    /// SEQUENCE NAME (identity columns only)
    pub name: Option<Name>,
}

/// What fills a column.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnFill {
    /// DEFAULT
    Default(Source),
    /// GENERATED ALWAYS AS (...) STORED
    Generated(Source),
    /// GENERATED ... AS IDENTITY
    Identity(Identity, Box<SequenceOptions>),
}

/// A column definition.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Name.
    pub name: String,
    /// Type.
    pub typ: TypeName,
    /// COLLATE
    pub collation: Option<Name>,
    /// NOT NULL (true), NULL (false), or neither.
    pub not_null: Option<bool>,
    /// DEFAULT, GENERATED.
    pub fill: Option<ColumnFill>,
    /// Constraints written at the column; a key's columns are this one.
    pub constraints: Vec<ConstraintDefinition>,
    /// Where it stands.
    pub position: u32,
}

/// LIKE
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LikeClause {
    /// The table copied.
    pub table: Name,
    /// INCLUDING DEFAULTS
    pub defaults: bool,
    /// INCLUDING CONSTRAINTS
    pub constraints: bool,
    /// INCLUDING IDENTITY
    pub identity: bool,
    /// INCLUDING GENERATED
    pub generated: bool,
    /// INCLUDING INDEXES
    pub indexes: bool,
    /// INCLUDING COMMENTS
    pub comments: bool,
}

/// An element of CREATE TABLE's list.
#[derive(Clone, PartialEq, Debug)]
pub enum TableElement {
    /// A column.
    Column(ColumnDefinition),
    /// A table constraint.
    Constraint(ConstraintDefinition),
    /// LIKE
    Like(LikeClause),
}

/// ON COMMIT of a temporary table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum OnCommit {
    #[default]
    PreserveRows,
    DeleteRows,
    Drop,
}

/// CREATE TABLE
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTable {
    /// Name.
    pub name: Name,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// TEMPORARY, UNLOGGED or neither.
    pub persistence: Persistence,
    /// Columns, constraints, LIKE, in order.
    pub elements: Vec<TableElement>,
    /// WITH (...)
    pub options: Vec<(String, String)>,
    /// ON COMMIT
    pub on_commit: OnCommit,
}

/// CREATE TABLE AS, SELECT INTO.
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTableAs {
    /// Name.
    pub name: Name,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// TEMPORARY, UNLOGGED or neither.
    pub persistence: Persistence,
    /// Names of the columns, if given.
    pub columns: Vec<String>,
    /// WITH (...)
    pub options: Vec<(String, String)>,
    /// ON COMMIT
    pub on_commit: OnCommit,
    /// The query.
    pub query: Source,
    /// Not WITH NO DATA.
    pub with_data: bool,
    /// CREATE MATERIALIZED VIEW (refused for now).
    pub materialized_view: bool,
}

/// A key column of CREATE INDEX.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexElement {
    /// The column, or else an expression.
    pub key: Result<String, Source>,
    /// COLLATE
    pub collation: Option<Name>,
    /// Operator class.
    pub opclass: Option<Name>,
    /// DESC
    pub desc: bool,
    /// NULLS FIRST (true), NULLS LAST, or neither.
    pub nulls_first: Option<bool>,
}

/// CREATE INDEX
#[derive(Clone, PartialEq, Debug)]
pub struct CreateIndex {
    /// Name, if given.
    pub name: Option<String>,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// UNIQUE
    pub unique: bool,
    /// CONCURRENTLY
    pub concurrently: bool,
    /// The table.
    pub table: Name,
    /// USING
    pub method: Option<String>,
    /// Key columns.
    pub elements: Vec<IndexElement>,
    /// INCLUDE
    pub include: Vec<String>,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// WITH (...)
    pub options: Vec<(String, String)>,
    /// WHERE
    pub predicate: Option<Source>,
}
