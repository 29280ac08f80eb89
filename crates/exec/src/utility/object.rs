//! The statements that change the catalog, parsed.

use super::alter::{AlterRelation, RelationKind};
use super::table::{CreateIndex, CreateTable, SequenceOptions};
use super::{Name, Source, TypeName};
use catalog::object::Persistence;

/// CREATE VIEW
#[derive(Clone, PartialEq, Debug)]
pub struct CreateView {
    /// Name.
    pub name: Name,
    /// OR REPLACE
    pub replace: bool,
    /// TEMPORARY
    pub temporary: bool,
    /// RECURSIVE
    pub recursive: bool,
    /// Names of the columns, if given.
    pub columns: Vec<String>,
    /// WITH (...)
    pub options: Vec<(String, String)>,
    /// The query.
    pub query: Source,
    /// WITH [LOCAL | CASCADED] CHECK OPTION
    pub check_option: bool,
}

/// What COMMENT ON speaks of.
#[derive(Clone, PartialEq, Debug)]
pub enum CommentTarget {
    /// TABLE, INDEX, SEQUENCE, VIEW
    Relation(RelationKind, Name),
    /// COLUMN table.column
    Column(Name, String),
    /// SCHEMA
    Schema(String),
    /// DATABASE
    Database(String),
    /// ROLE
    Role(String),
    /// CONSTRAINT name ON table
    Constraint(String, Name),
    /// TYPE
    Type(TypeName),
    /// Something that pgfusion has no objects of.
    Unsupported(String),
}

/// An option of CREATE or ALTER ROLE.
#[derive(Clone, PartialEq, Debug)]
pub enum RoleOption {
    /// \[NO\]SUPERUSER
    Superuser(bool),
    /// \[NO\]LOGIN
    Login(bool),
    /// \[NO\]CREATEDB
    CreateDb(bool),
    /// \[NO\]CREATEROLE
    CreateRole(bool),
    /// PASSWORD, `None` for NULL.
    Password(Option<String>),
    /// An option that PostgreSQL has and pgfusion does not, when it is not at its default.
    Unsupported(String),
}

/// A change of settings by ALTER DATABASE or ALTER ROLE.
#[derive(Clone, PartialEq, Debug)]
pub enum OverrideChange {
    /// SET name TO value, `None` for DEFAULT.
    Set(String, Option<Vec<String>>),
    /// RESET name
    Reset(String),
    /// RESET ALL
    ResetAll,
}

/// What GRANT and REVOKE are about.
#[derive(Clone, PartialEq, Debug)]
pub struct Grant {
    /// GRANT (true) or REVOKE.
    pub grant: bool,
    /// Privileges; empty: ALL.
    pub privileges: Vec<String>,
    /// Kind of the objects (`TABLE`, `SCHEMA`, ...), or `ROLE` for memberships.
    pub kind: String,
    /// The objects (roles granted for memberships).
    pub objects: Vec<Name>,
    /// Grantees.
    pub grantees: Vec<String>,
}

/// A statement that changes the catalog.
#[derive(Clone, PartialEq, Debug)]
pub enum Ddl {
    /// CREATE TABLE
    CreateTable(Box<CreateTable>),
    /// CREATE INDEX
    CreateIndex(Box<CreateIndex>),
    /// CREATE VIEW
    CreateView(Box<CreateView>),
    /// CREATE SEQUENCE
    CreateSequence {
        /// Name.
        name: Name,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// TEMPORARY and so on.
        persistence: Persistence,
        /// Options.
        options: Box<SequenceOptions>,
    },
    /// CREATE SCHEMA
    CreateSchema {
        /// Name; `None` with AUTHORIZATION alone.
        name: Option<String>,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// AUTHORIZATION
        owner: Option<String>,
    },
    /// CREATE DATABASE: name, options as written with their positions.
    CreateDatabase(String, Vec<(String, String, u32)>),
    /// DROP DATABASE: name, IF EXISTS, FORCE.
    DropDatabase(String, bool, bool),
    /// ALTER DATABASE ... RENAME TO
    RenameDatabase(String, String),
    /// ALTER DATABASE ... OWNER TO
    DatabaseOwner(String, String),
    /// ALTER DATABASE ... SET/RESET
    DatabaseSetting(String, OverrideChange),
    /// CREATE ROLE, USER (login), GROUP.
    CreateRole(String, Vec<RoleOption>),
    /// ALTER ROLE
    AlterRole(String, Vec<RoleOption>),
    /// ALTER ROLE ... SET/RESET: role (`None`: ALL), database.
    RoleSetting(Option<String>, Option<String>, OverrideChange),
    /// ALTER ROLE ... RENAME TO
    RenameRole(String, String),
    /// DROP ROLE: names, IF EXISTS.
    DropRole(Vec<String>, bool),
    /// DROP TABLE, INDEX, SEQUENCE, VIEW.
    DropRelations {
        /// Which kind.
        kind: RelationKind,
        /// Names.
        names: Vec<Name>,
        /// IF EXISTS
        if_exists: bool,
        /// CASCADE
        cascade: bool,
        /// CONCURRENTLY
        concurrently: bool,
    },
    /// DROP SCHEMA: names, IF EXISTS, CASCADE.
    DropSchema(Vec<String>, bool, bool),
    /// ALTER SCHEMA ... RENAME TO
    RenameSchema(String, String),
    /// ALTER SCHEMA ... OWNER TO
    SchemaOwner(String, String),
    /// ALTER TABLE, INDEX, SEQUENCE, VIEW: kind, name, IF EXISTS, what.
    AlterRelation(RelationKind, Name, bool, AlterRelation),
    /// TRUNCATE: tables, RESTART IDENTITY, CASCADE.
    Truncate(Vec<Name>, bool, bool),
    /// COMMENT ON; `None` removes it.
    Comment(CommentTarget, Option<String>),
    /// REINDEX: kind (`INDEX`, `TABLE`, `SCHEMA`, `DATABASE`, `SYSTEM`) and name.
    Reindex(String, Option<Name>),
    /// GRANT, REVOKE
    Grant(Box<Grant>),
    /// DROP of things that pgfusion has none of (TYPE, FUNCTION, ...): kind, names, IF EXISTS.
    DropOther(String, Vec<String>, bool),
}
