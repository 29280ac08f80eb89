//! ALTER, parsed.

use super::table::{ColumnDefinition, ConstraintDefinition, SequenceOptions};
use super::{Name, Source, TypeName};
use catalog::object::Identity;

/// One action of ALTER TABLE. Several may be written, separated by commas.
#[derive(Clone, PartialEq, Debug)]
pub enum AlterTableAction {
    /// ADD COLUMN; IF NOT EXISTS.
    AddColumn(ColumnDefinition, bool),
    /// DROP COLUMN name; IF EXISTS, CASCADE.
    DropColumn(String, bool, bool),
    /// ALTER COLUMN ... SET DEFAULT, or (`None`) DROP DEFAULT.
    SetDefault(String, Option<Source>),
    /// ALTER COLUMN ... SET (true) or DROP NOT NULL.
    SetNotNull(String, bool),
    /// ALTER COLUMN ... TYPE: type, collation, USING.
    SetType(String, TypeName, Option<Name>, Option<Source>),
    /// ALTER COLUMN ... ADD GENERATED AS IDENTITY.
    AddIdentity(String, Identity, Box<SequenceOptions>),
    /// ALTER COLUMN ... SET GENERATED and sequence options.
    SetIdentity(String, Option<Identity>, Box<SequenceOptions>),
    /// ALTER COLUMN ... DROP IDENTITY; IF EXISTS.
    DropIdentity(String, bool),
    /// ALTER COLUMN ... DROP EXPRESSION; IF EXISTS.
    DropExpression(String, bool),
    /// ALTER COLUMN ... SET STATISTICS n.
    SetStatistics(String, i64),
    /// ADD constraint.
    AddConstraint(ConstraintDefinition),
    /// DROP CONSTRAINT name; IF EXISTS, CASCADE.
    DropConstraint(String, bool, bool),
    /// VALIDATE CONSTRAINT
    ValidateConstraint(String),
    /// OWNER TO
    Owner(String),
    /// SET (...) or RESET (...): storage options.
    Options(Vec<(String, String)>),
    /// RESET (...)
    ResetOptions(Vec<String>),
    /// SET LOGGED (true) or UNLOGGED.
    SetLogged(bool),
    /// A form that PostgreSQL has and pgfusion does not.
    Unsupported(String),
}

/// What kind of relation a statement names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RelationKind {
    Table,
    Index,
    Sequence,
    View,
    MaterializedView,
}

impl RelationKind {
    /// The word in messages.
    pub fn word(self) -> &'static str {
        match self {
            RelationKind::Table => "table",
            RelationKind::Index => "index",
            RelationKind::Sequence => "sequence",
            RelationKind::View => "view",
            RelationKind::MaterializedView => "materialized view",
        }
    }
}

/// ALTER of a relation.
#[derive(Clone, PartialEq, Debug)]
pub enum AlterRelation {
    /// Actions.
    Actions(Vec<AlterTableAction>),
    /// RENAME TO
    Rename(String),
    /// RENAME COLUMN a TO b
    RenameColumn(String, String),
    /// RENAME CONSTRAINT a TO b
    RenameConstraint(String, String),
    /// SET SCHEMA
    SetSchema(String),
    /// ALTER SEQUENCE with options.
    Sequence(Box<SequenceOptions>),
}
