//! The bound tree: what a statement means after every name has become an object and every expression has its PostgreSQL type.
//! It is the contract between `bind`, which makes it, and `plan` and `row` (and crate `relational`), which run it.
//!
//! Column references count **levels**: 0 is the [`Query`] (or DML statement) the expression stands in, 1 the one around it, and so on;
//! every `Query` node crossed on the way up counts, also the arms of a set operation. Within a level they name a range entry and a column of it.

use crate::functions::Implementation;
use catalog::object::{Index, Sequence, Table};
use catalog::pg::Proc;
use catalog::{Oid, Value};
use std::sync::Arc;

/// A type and its modifier (-1 for none).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SqlType {
    /// pg_type.oid
    pub oid: Oid,
    /// Type modifier.
    pub typmod: i32,
}

impl SqlType {
    /// A type without a modifier.
    pub const fn plain(oid: Oid) -> Self {
        SqlType { oid, typmod: -1 }
    }
}

/// How a function call was written; for EXPLAIN, `pg_get_expr` and column names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallForm {
    /// `f(x)`
    Function,
    /// `x + y`, by this operator.
    Operator(Oid),
    /// `x::t` or CAST
    ExplicitCast,
    /// Put in by the binder; not printed.
    ImplicitCast,
    /// EXTRACT, SUBSTRING(... FROM ...) and other special syntax.
    Special,
}

/// A call of a function of pg_proc.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub proc: &'static Proc,
    /// What runs.
    pub implementation: Implementation,
    /// Arguments, already coerced; VARIADIC ones are folded into one array unless the function takes "any".
    pub args: Vec<Expr>,
    /// Result type (polymorphism resolved).
    pub typ: SqlType,
    /// How it was written.
    pub form: CallForm,
    /// Position in the statement for runtime errors that have one; 0 unknown.
    pub position: u32,
}

/// Boolean tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // IS [NOT] TRUE and so on
pub enum BooleanTest {
    IsTrue,
    IsNotTrue,
    IsFalse,
    IsNotFalse,
    IsUnknown,
    IsNotUnknown,
}

/// A reference to a column of a range entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ColumnRef {
    /// Queries to go up.
    pub level: u16,
    /// Range entry of that query.
    pub entry: u16,
    /// Column of the entry; for a table its place (attnum - 1).
    pub column: u16,
    /// Type.
    pub typ: SqlType,
}

/// An expression. Every variant knows its type ([`Expr::typ`]).
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Const(Value, SqlType),
    /// Parameter `$index+1`, or a lifted literal.
    Param(usize, SqlType),
    /// A column.
    Column(ColumnRef),
    /// A function or operator.
    Call(Box<Call>),
    /// Conjunction, flattened.
    And(Vec<Expr>),
    /// Disjunction, flattened.
    Or(Vec<Expr>),
    /// Negation.
    Not(Box<Expr>),
    /// `x IS NULL`; for composite values PostgreSQL's row rule.
    IsNull(Box<Expr>),
    /// `x IS NOT NULL`
    IsNotNull(Box<Expr>),
    /// `x IS TRUE` and so on.
    BooleanTest(Box<Expr>, BooleanTest),
    /// `a IS DISTINCT FROM b`: the call is the equality operator on both. NOT DISTINCT is `Not` of it.
    Distinct(Box<Call>),
    /// NULLIF(a, b): the call is the equality; the value is `a` (its first argument before coercion, given separately).
    NullIf(Box<Call>, Box<Expr>),
    /// CASE. A simple CASE has its operand in `operand`, and the conditions refer to it as [`Expr::CaseOperand`].
    Case {
        /// Operand of a simple CASE.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN.
        branches: Vec<(Expr, Expr)>,
        /// ELSE; NULL if absent.
        otherwise: Option<Box<Expr>>,
        /// Result type.
        typ: SqlType,
    },
    /// The operand of the innermost simple CASE around.
    CaseOperand(SqlType),
    /// COALESCE
    Coalesce(Vec<Expr>, SqlType),
    /// GREATEST (true) or LEAST (false).
    MinMax(bool, Vec<Expr>, SqlType),
    /// The same bytes as another type (binary-coercible cast, or a domain's base).
    Relabel(Box<Expr>, SqlType, CallForm),
    /// A cast through the text form.
    IoCast(Box<Expr>, SqlType, CallForm, u32),
    /// Length coercion to the modifier of the type; the form says whether explicit.
    Typmod(Box<Expr>, SqlType, CallForm),
    /// An array cast element by element: the element expression refers to the element as `CaseOperand`.
    ArrayCast(Box<Expr>, Box<Expr>, SqlType, CallForm),
    /// `scalar op ANY (array)` or ALL (true); `x IN (list)` becomes `= ANY (ARRAY[...])`. The call's arguments are the two operands.
    ScalarArray(Box<Call>, bool),
    /// ARRAY[...]; the flag: elements are arrays themselves (a further dimension).
    Array(Vec<Expr>, SqlType, bool),
    /// `array[i]`, or slices `array[i:j]` when a pair is given.
    Subscript(Box<Expr>, Vec<Subscript>, SqlType),
    /// ROW(...)
    Row(Vec<Expr>, SqlType),
    /// `(row).field` by place.
    Field(Box<Expr>, usize, SqlType),
    /// Row comparison `(a, b) < (c, d)`: one (equal, less) pair of calls per column is too much; each column has its comparison type.
    RowCompare {
        /// Which.
        op: RowCompareOp,
        /// Left side.
        left: Vec<Expr>,
        /// Right side, coerced to common types with the left.
        right: Vec<Expr>,
    },
    /// A subquery in an expression.
    Subquery(Box<Subquery>),
    /// Aggregate of the Select around, by place in `Select::aggregates`.
    Aggregate(usize, SqlType),
    /// Grouping expression, by place in `Select::group_by`.
    GroupKey(usize, SqlType),
    /// GROUPING(...): bits for these group keys.
    Grouping(Vec<usize>),
    /// Window function call, by place in `Select::windows`.
    Window(usize, SqlType),
    /// A set-returning function in the target list, by place in `Select::set_functions`.
    SetFunction(usize, SqlType),
    /// nextval of an identity or serial column's sequence known at bind time.
    NextValue(Arc<Sequence>, SqlType),
}

/// Comparison of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RowCompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// One subscript.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// `[i]`
    Index(Expr),
    /// `[i:j]`
    Slice(Option<Expr>, Option<Expr>),
}

/// A subquery in an expression.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// What its rows mean.
    pub kind: SubqueryKind,
    /// The query.
    pub query: Query,
    /// Type of the expression.
    pub typ: SqlType,
}

/// What a subquery's rows mean.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// EXISTS
    Exists,
    /// One column, at most one row.
    Scalar,
    /// ARRAY(...)
    Array,
    /// `left op ANY (...)` or ALL (true): the test is a boolean expression over `left` columns as written and
    /// [`Expr::Column`] with level 0, entry `u16::MAX` for the subquery's output columns.
    Quantified {
        /// ALL rather than ANY.
        all: bool,
        /// The test.
        test: Box<Expr>,
        /// When the test is a conjunction of plain equalities `left_i = column_i` with hashable types: the left sides and the
        /// equality calls, so that an uncorrelated subquery can be hashed.
        hashable: Option<Vec<Expr>>,
    },
}

impl Expr {
    /// The type.
    pub fn typ(&self) -> SqlType {
        use catalog::types::oid;
        match self {
            Expr::Const(_, t)
            | Expr::Param(_, t)
            | Expr::CaseOperand(t)
            | Expr::Coalesce(_, t)
            | Expr::MinMax(_, _, t)
            | Expr::Relabel(_, t, _)
            | Expr::IoCast(_, t, _, _)
            | Expr::Typmod(_, t, _)
            | Expr::ArrayCast(_, _, t, _)
            | Expr::Array(_, t, _)
            | Expr::Subscript(_, _, t)
            | Expr::Row(_, t)
            | Expr::Field(_, _, t)
            | Expr::Aggregate(_, t)
            | Expr::GroupKey(_, t)
            | Expr::Window(_, t)
            | Expr::SetFunction(_, t)
            | Expr::NextValue(_, t)
            | Expr::Case { typ: t, .. } => *t,
            Expr::Column(c) => c.typ,
            Expr::Call(call) => call.typ,
            Expr::NullIf(_, value) => value.typ(),
            Expr::Subquery(s) => s.typ,
            Expr::Grouping(_) => SqlType::plain(oid::INT4),
            Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::BooleanTest(..)
            | Expr::Distinct(_)
            | Expr::ScalarArray(..)
            | Expr::RowCompare { .. } => SqlType::plain(oid::BOOL),
        }
    }
}

/// A column that a query puts out.
#[derive(Clone, Debug)]
pub struct QueryColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub typ: SqlType,
    /// The table column it is taken from unchanged: table and attnum, for RowDescription.
    pub origin: Option<(Oid, i16)>,
}

/// A query: WITH, a body, ORDER BY, LIMIT.
#[derive(Clone, Debug)]
pub struct Query {
    /// WITH; referred to by [`Source::Cte`].
    pub ctes: Vec<Cte>,
    /// SELECT, VALUES, set operation or (as a CTE) DML.
    pub body: Body,
    /// ORDER BY: over `Select::targets` (hidden ones too), or over the output columns of other bodies.
    pub order_by: Vec<SortKey>,
    /// LIMIT, an int8 expression at level 0 without columns; NULL is no limit.
    pub limit: Option<Expr>,
    /// OFFSET, likewise.
    pub offset: Option<Expr>,
    /// FETCH FIRST ... WITH TIES
    pub with_ties: bool,
    /// FOR UPDATE and so on.
    pub locking: Vec<Locking>,
    /// Output columns.
    pub columns: Vec<QueryColumn>,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Name.
    pub name: String,
    /// Its query. For a recursive one, a set operation whose right arm refers to the CTE itself.
    pub query: Query,
    /// Refers to itself.
    pub recursive: bool,
    /// MATERIALIZED or NOT MATERIALIZED, if said.
    pub materialized: Option<bool>,
    /// How often it is referred to.
    pub references: usize,
}

/// The body of a query.
#[derive(Clone, Debug)]
pub enum Body {
    /// SELECT
    Select(Box<Select>),
    /// UNION and so on.
    SetOperation(Box<SetOperation>),
    /// VALUES
    Values(Vec<Vec<Expr>>),
    /// INSERT, UPDATE, DELETE with RETURNING inside WITH.
    Dml(Box<Dml>),
}

/// UNION, INTERSECT, EXCEPT. Both arms put out the columns of the whole, with coercions applied in their targets.
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// Which.
    pub op: SetOp,
    /// ALL
    pub all: bool,
    /// Left arm.
    pub left: Query,
    /// Right arm.
    pub right: Query,
}

/// Set operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// One ORDER BY key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortKey {
    /// Place of the target or output column.
    pub column: usize,
    /// DESC
    pub desc: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// DISTINCT
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Distinct {
    /// No.
    None,
    /// On all visible targets.
    All,
    /// DISTINCT ON these targets.
    On(Vec<usize>),
}

/// A SELECT.
#[derive(Clone, Debug)]
pub struct Select {
    /// Range table: everything in FROM, by number.
    pub entries: Vec<RangeEntry>,
    /// FROM: its comma-separated items.
    pub from: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// Grouping expressions.
    pub group_by: Vec<Expr>,
    /// GROUPING SETS, ROLLUP, CUBE: sets of places in `group_by`; `None` for one plain set.
    pub grouping_sets: Option<Vec<Vec<usize>>>,
    /// Whether the query is grouped (GROUP BY, HAVING or an aggregate).
    pub grouped: bool,
    /// Aggregates of this level.
    pub aggregates: Vec<AggregateCall>,
    /// HAVING
    pub having: Option<Expr>,
    /// Window function calls.
    pub windows: Vec<WindowCall>,
    /// Set-returning functions of the target list; they run in lockstep (ProjectSet).
    pub set_functions: Vec<Call>,
    /// Target list: the visible ones, then hidden ones that ORDER BY and DISTINCT ON need.
    pub targets: Vec<Expr>,
    /// How many targets are put out.
    pub visible: usize,
    /// DISTINCT
    pub distinct: Distinct,
}

/// An entry of the range table.
#[derive(Clone, Debug)]
pub struct RangeEntry {
    /// Alias or name, for EXPLAIN.
    pub alias: String,
    /// Columns: for a table one per place, dropped ones too.
    pub columns: Vec<EntryColumn>,
    /// Where the rows come from.
    pub source: Source,
    /// May refer to entries before it.
    pub lateral: bool,
}

/// A column of a range entry.
#[derive(Clone, Debug)]
pub struct EntryColumn {
    /// Name (as aliased).
    pub name: String,
    /// Type.
    pub typ: SqlType,
}

/// Where the rows of a range entry come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A table.
    Table(Arc<Table>),
    /// A relation of pg_catalog or information_schema that is computed, by OID; or a sequence of users as a relation of one row
    /// (last_value, log_cnt, is_called).
    System(Oid),
    /// A subquery in FROM, or a view's query.
    Subquery(Box<Query>),
    /// A WITH query: queries to go up, place in its `ctes`.
    Cte(usize, usize),
    /// Functions in FROM (several with ROWS FROM); each call's columns in turn.
    Function {
        /// The calls (set-returning or not) with the number of columns of each.
        calls: Vec<(Expr, usize)>,
        /// WITH ORDINALITY: one more column at the end.
        ordinality: bool,
    },
    /// VALUES in FROM.
    Values(Vec<Vec<Expr>>),
    /// The rows of the statement's own source: EXCLUDED of ON CONFLICT, the source of INSERT ... SELECT.
    Given,
}

/// A node of the join tree.
#[derive(Clone, Debug)]
pub enum FromItem {
    /// A range entry.
    Entry(usize),
    /// A join.
    Join {
        /// Which.
        kind: JoinKind,
        /// Left side.
        left: Box<FromItem>,
        /// Right side.
        right: Box<FromItem>,
        /// ON (USING and NATURAL become ON).
        on: Option<Expr>,
    },
}

/// Kinds of joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
}

/// An aggregate call.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// The aggregate.
    pub proc: &'static Proc,
    /// What runs.
    pub implementation: Implementation,
    /// Direct arguments of an ordered-set aggregate.
    pub direct: Vec<Expr>,
    /// Arguments; of an ordered-set aggregate, those in WITHIN GROUP.
    pub args: Vec<Expr>,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY within the call: expression, desc, nulls first.
    pub order_by: Vec<(Expr, bool, bool)>,
    /// FILTER (WHERE ...)
    pub filter: Option<Expr>,
    /// Result type.
    pub typ: SqlType,
}

/// A window function call.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The function: a window function or an aggregate.
    pub call: AggregateCall,
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY: expression, desc, nulls first.
    pub order_by: Vec<(Expr, bool, bool)>,
    /// Frame.
    pub frame: Frame,
}

/// A window frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub unit: FrameUnit,
    /// Start.
    pub start: FrameBound,
    /// End.
    pub end: FrameBound,
    /// EXCLUDE
    pub exclude: FrameExclude,
}

/// Frame units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

/// Frame exclusion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameExclude {
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}

/// A frame bound.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// Row locking of a SELECT.
#[derive(Clone, Debug)]
pub struct Locking {
    /// The mode.
    pub strength: LockStrength,
    /// The entries concerned (tables only).
    pub entries: Vec<usize>,
    /// NOWAIT, SKIP LOCKED or neither.
    pub wait: LockWait,
}

/// FOR KEY SHARE to FOR UPDATE, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What a locking SELECT does about a locked row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LockWait {
    Block,
    NoWait,
    SkipLocked,
}

/// What writing to a table must see to, bound once per plan.
#[derive(Clone, Debug)]
pub struct TableRules {
    /// The table.
    pub table: Arc<Table>,
    /// Its indexes (the clustering key among them), with key expressions and predicates bound over entry 0 = the table.
    pub indexes: Vec<IndexRule>,
    /// CHECK constraints: name and expression over entry 0.
    pub checks: Vec<(String, Expr)>,
    /// Generated columns: place and expression over entry 0.
    pub generated: Vec<(usize, Expr)>,
    /// Foreign keys of this table, and those that refer to it.
    pub foreign_keys: Vec<Arc<catalog::object::Constraint>>,
    /// See `foreign_keys`.
    pub referencing: Vec<Arc<catalog::object::Constraint>>,
}

/// An index with its expressions bound.
#[derive(Clone, Debug)]
pub struct IndexRule {
    /// The index.
    pub index: Arc<Index>,
    /// One expression per key column, over entry 0 = the table.
    pub keys: Vec<Expr>,
    /// Its predicate.
    pub predicate: Option<Expr>,
}

/// INSERT, UPDATE, DELETE.
#[derive(Clone, Debug)]
pub enum Dml {
    /// INSERT
    Insert(Insert),
    /// UPDATE
    Update(Update),
    /// DELETE
    Delete(Delete),
}

/// RETURNING, over the DML statement's entries (entry 0: the target's new row, for DELETE the old one).
#[derive(Clone, Debug)]
pub struct Returning {
    /// Expressions.
    pub targets: Vec<Expr>,
    /// Their names and types.
    pub columns: Vec<QueryColumn>,
}

/// INSERT
#[derive(Clone, Debug)]
pub struct Insert {
    /// WITH of the statement.
    pub ctes: Vec<Cte>,
    /// Rules of the target.
    pub rules: Arc<TableRules>,
    /// The rows to insert; VALUES as a query. `None` for DEFAULT VALUES (one row without columns).
    pub source: Option<Box<Query>>,
    /// One expression per place of the table, over entry 1 = the source's output row (level 0): the value, coerced for assignment, or
    /// the default. Generated columns have NULL here.
    pub row: Vec<Expr>,
    /// The statement's entries: 0 the target, 1 the source (`Source::Given`); with ON CONFLICT 2 is EXCLUDED.
    pub entries: Vec<RangeEntry>,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
    /// RETURNING
    pub returning: Option<Returning>,
}

/// ON CONFLICT
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// The arbiter indexes' OIDs; empty: any (DO NOTHING only).
    pub arbiters: Vec<Oid>,
    /// DO UPDATE; `None` is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// DO UPDATE SET ... WHERE ...: entry 0 is the row that is there, entry 2 is EXCLUDED.
#[derive(Clone, Debug)]
pub struct ConflictUpdate {
    /// Place and new value.
    pub assignments: Vec<(usize, Expr)>,
    /// WHERE
    pub filter: Option<Expr>,
}

/// UPDATE: a join tree whose entry 0 is the target.
#[derive(Clone, Debug)]
pub struct Update {
    /// WITH of the statement.
    pub ctes: Vec<Cte>,
    /// Rules of the target.
    pub rules: Arc<TableRules>,
    /// Entries: 0 the target, then FROM's.
    pub entries: Vec<RangeEntry>,
    /// FROM's items (the target not among them).
    pub from: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// Place and new value, coerced for assignment.
    pub assignments: Vec<(usize, Expr)>,
    /// RETURNING
    pub returning: Option<Returning>,
}

/// DELETE
#[derive(Clone, Debug)]
pub struct Delete {
    /// WITH of the statement.
    pub ctes: Vec<Cte>,
    /// Rules of the target.
    pub rules: Arc<TableRules>,
    /// Entries: 0 the target, then USING's.
    pub entries: Vec<RangeEntry>,
    /// USING's items.
    pub from: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// RETURNING
    pub returning: Option<Returning>,
}

/// A bound statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// SELECT, VALUES, TABLE.
    Query(Query),
    /// INSERT, UPDATE, DELETE.
    Dml(Dml),
    /// EXPLAIN of one of the above.
    Explain(Box<Explain>),
    /// Everything else; bound and run by `ddl` and `utility`.
    Utility(Box<crate::utility::Utility>),
}

/// EXPLAIN's options.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// ANALYZE
    pub analyze: bool,
    /// VERBOSE
    pub verbose: bool,
    /// COSTS (default on)
    pub costs: bool,
    /// TIMING (default: as ANALYZE)
    pub timing: bool,
    /// SUMMARY (default: as ANALYZE)
    pub summary: bool,
    /// BUFFERS
    pub buffers: bool,
    /// SETTINGS
    pub settings: bool,
    /// WAL
    pub wal: bool,
    /// FORMAT: text, json, yaml, xml.
    pub format: ExplainFormat,
}

/// FORMAT of EXPLAIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum ExplainFormat {
    #[default]
    Text,
    Json,
    Yaml,
    Xml,
}

/// EXPLAIN
#[derive(Clone, Debug)]
pub struct Explain {
    /// Options.
    pub options: ExplainOptions,
    /// What is explained.
    pub statement: Statement,
}
