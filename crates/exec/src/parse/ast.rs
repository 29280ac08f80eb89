//! The syntax tree of queries and DML, shaped like PostgreSQL's raw parse tree (`parsenodes.h`). Positions are in characters from 1
//! in the whole text; 0 is unknown.

/// A position in the query text.
pub type Pos = u32;

/// An expression with the position PostgreSQL would report for it: the operator of an operator expression, else its first token.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where.
    pub pos: Pos,
}

/// A literal.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i32),
    /// Too large for int4, or with a fraction or exponent.
    Number(String),
    String(String),
    Bits(String),
    Hex(String),
}

/// `.name`, `.*`, `[i]`, `[i:j]`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Indirection {
    Field(String, Pos),
    Star,
    Index(Expr),
    Slice(Option<Expr>, Option<Expr>),
}

/// Boolean tests after IS.
pub use crate::bound::BooleanTest;

/// SQLValueFunction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SqlValue {
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
    LocalTime,
    LocalTimestamp,
    CurrentRole,
    CurrentUser,
    User,
    SessionUser,
    CurrentCatalog,
    CurrentSchema,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Literal(Literal),
    /// `a.b.c`, a trailing `*` in the flag.
    Column(Vec<String>, bool),
    Param(u32),
    Indirection(Box<Expr>, Vec<Indirection>),
    /// `x::t`, CAST(x AS t), `t 'x'`
    Cast(Box<Expr>, TypeName),
    Collate(Box<Expr>, Vec<String>),
    /// An operator, possibly `OPERATOR(schema.op)`; no left operand for a prefix one.
    Op(Vec<String>, Option<Box<Expr>>, Box<Expr>),
    /// `x op ANY (array)`; ALL in the flag.
    OpAny(Vec<String>, Box<Expr>, Box<Expr>, bool),
    /// IS \[NOT\] DISTINCT FROM; NOT in the flag.
    Distinct(Box<Expr>, Box<Expr>, bool),
    NullIf(Box<Expr>, Box<Expr>),
    /// `x \[NOT\] IN (list)`
    In(Box<Expr>, Vec<Expr>, bool),
    Between {
        left: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        not: bool,
        symmetric: bool,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    /// IS NULL; IS NOT NULL in the flag.
    NullTest(Box<Expr>, bool),
    BooleanTest(Box<Expr>, BooleanTest),
    Func(Box<FuncCall>),
    Sublink(Sublink, Box<Query>),
    Case(Option<Box<Expr>>, Vec<(Expr, Expr)>, Option<Box<Expr>>),
    Array(Vec<Expr>),
    /// ROW(...) or (a, b); the flag: with ROW.
    Row(Vec<Expr>, bool),
    Coalesce(Vec<Expr>),
    /// GREATEST (true) or LEAST.
    MinMax(bool, Vec<Expr>),
    SqlValue(SqlValue, i32),
    Grouping(Vec<Expr>),
    /// DEFAULT
    Default,
    /// WHERE CURRENT OF
    CurrentOf(String),
}

/// What a subquery in an expression is for.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Sublink {
    Exists,
    Scalar,
    Array,
    /// `x op ANY (query)`, ALL in the flag. `x IN (query)` is `= ANY` without an operator, NOT IN its negation.
    Any {
        left: Box<Expr>,
        op: Option<Vec<String>>,
        all: bool,
    },
}

/// A function call.
#[derive(Clone, Debug, Default)]
pub struct FuncCall {
    /// Possibly qualified name.
    pub name: Vec<String>,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Names of named arguments, aligned with `args`, with their positions.
    pub arg_names: Vec<Option<(String, Pos)>>,
    /// VARIADIC before the last argument.
    pub variadic: bool,
    /// `f(*)`
    pub star: bool,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY inside the parentheses, or of WITHIN GROUP.
    pub order_by: Vec<SortBy>,
    /// WITHIN GROUP (ORDER BY ...)
    pub within_group: bool,
    /// FILTER (WHERE ...)
    pub filter: Option<Expr>,
    /// OVER
    pub over: Option<Window>,
    /// Special syntax, like EXTRACT(... FROM ...).
    pub special: bool,
}

/// A window: OVER's argument or an item of the WINDOW clause.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Name in the WINDOW clause.
    pub name: Option<String>,
    /// Name referred to.
    pub reference: Option<String>,
    /// `OVER name` rather than `OVER (name ...)`.
    pub bare: bool,
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY
    pub order_by: Vec<SortBy>,
    /// Frame.
    pub frame: Option<Frame>,
    /// Position.
    pub pos: Pos,
}

/// A frame clause.
#[derive(Clone, Debug)]
pub struct Frame {
    /// ROWS, RANGE, GROUPS.
    pub unit: crate::bound::FrameUnit,
    /// Start.
    pub start: FrameBound,
    /// End; CURRENT ROW if not given.
    pub end: FrameBound,
    /// EXCLUDE
    pub exclude: crate::bound::FrameExclude,
}

/// A bound of a frame.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// ORDER BY item.
#[derive(Clone, Debug)]
pub struct SortBy {
    /// Expression.
    pub expr: Expr,
    /// DESC
    pub desc: bool,
    /// NULLS FIRST (true) or LAST, if said.
    pub nulls_first: Option<bool>,
    /// USING operator.
    pub using: Option<Vec<String>>,
}

/// A type's name.
#[derive(Clone, Debug, Default)]
pub struct TypeName {
    /// Possibly qualified; the grammar's own types come as `pg_catalog.int4` and so on.
    pub names: Vec<String>,
    /// Modifiers; of an interval with fields, the range mask and precision as integers.
    pub typmods: Vec<Expr>,
    /// Array bounds, -1 for none given.
    pub bounds: Vec<i32>,
    /// SETOF
    pub setof: bool,
    /// Position.
    pub pos: Pos,
}

/// A relation's name.
#[derive(Clone, Debug, Default)]
pub struct RangeVar {
    /// Database.
    pub catalog: Option<String>,
    /// Schema.
    pub schema: Option<String>,
    /// Name.
    pub name: String,
    /// Position.
    pub pos: Pos,
    /// ONLY
    pub only: bool,
}

/// An alias with column aliases.
#[derive(Clone, Debug)]
pub struct Alias {
    /// Name.
    pub name: String,
    /// Columns.
    pub columns: Vec<String>,
}

/// A column of a column definition list.
#[derive(Clone, Debug)]
pub struct ColumnDef {
    /// Name.
    pub name: String,
    /// Type.
    pub typ: TypeName,
    /// Position.
    pub pos: Pos,
}

/// An item of FROM.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum TableRef {
    Relation {
        relation: RangeVar,
        alias: Option<Alias>,
    },
    Subquery {
        query: Box<Query>,
        alias: Option<Alias>,
        lateral: bool,
        pos: Pos,
    },
    Function {
        /// With a column definition list each.
        functions: Vec<(Expr, Vec<ColumnDef>)>,
        /// ROWS FROM
        rows_from: bool,
        ordinality: bool,
        alias: Option<Alias>,
        /// AS (a int, ...)
        columns: Vec<ColumnDef>,
        lateral: bool,
        pos: Pos,
    },
    Join {
        kind: crate::bound::JoinKind,
        natural: bool,
        left: Box<TableRef>,
        right: Box<TableRef>,
        on: Option<Expr>,
        using: Option<Vec<(String, Pos)>>,
        using_alias: Option<String>,
        alias: Option<Alias>,
        pos: Pos,
    },
}

/// An item of the target list.
#[derive(Clone, Debug)]
pub struct Target {
    /// Expression.
    pub expr: Expr,
    /// Label.
    pub label: Option<String>,
    /// Position.
    pub pos: Pos,
}

/// WITH
#[derive(Clone, Debug)]
pub struct With {
    /// RECURSIVE
    pub recursive: bool,
    /// Its items.
    pub ctes: Vec<Cte>,
}

/// An item of WITH.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Name.
    pub name: String,
    /// Column aliases.
    pub columns: Vec<String>,
    /// \[NOT\] MATERIALIZED
    pub materialized: Option<bool>,
    /// Statement.
    pub body: Box<Dml>,
    /// Position.
    pub pos: Pos,
}

/// A statement that may stand in WITH.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Dml {
    Query(Query),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
}

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// WITH
    pub with: Option<With>,
    /// Body.
    pub body: QueryBody,
    /// ORDER BY
    pub order_by: Vec<SortBy>,
    /// LIMIT; `LIMIT ALL` is none.
    pub limit: Option<Expr>,
    /// FETCH ... WITH TIES
    pub with_ties: bool,
    /// OFFSET
    pub offset: Option<Expr>,
    /// FOR UPDATE and so on.
    pub locking: Vec<Locking>,
    /// Position of the first token.
    pub pos: Pos,
}

/// A query's body.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum QueryBody {
    Select(Box<Select>),
    Values(Vec<Vec<Expr>>),
    SetOperation { op: crate::bound::SetOp, all: bool, left: Box<Query>, right: Box<Query> },
}

impl Query {
    /// Whether the query, or the first arm of it, has an INTO clause.
    pub fn has_into(&self) -> bool {
        match &self.body {
            QueryBody::Select(select) => select.into.is_some(),
            QueryBody::SetOperation { left, .. } => left.has_into(),
            QueryBody::Values(_) => false,
        }
    }
}

/// DISTINCT
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Distinct {
    All,
    On(Vec<Expr>),
}

/// A grouping item.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Grouping {
    Expr(Expr),
    Empty,
    Rollup(Vec<Grouping>),
    Cube(Vec<Grouping>),
    Sets(Vec<Grouping>),
}

/// A SELECT.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// DISTINCT
    pub distinct: Option<Distinct>,
    /// Target list.
    pub targets: Vec<Target>,
    /// INTO
    pub into: Option<RangeVar>,
    /// FROM
    pub from: Vec<TableRef>,
    /// WHERE
    pub filter: Option<Expr>,
    /// GROUP BY
    pub group_by: Vec<Grouping>,
    /// GROUP BY DISTINCT
    pub group_distinct: bool,
    /// HAVING
    pub having: Option<Expr>,
    /// WINDOW
    pub windows: Vec<Window>,
}

/// A locking clause.
#[derive(Clone, Debug)]
pub struct Locking {
    /// Strength.
    pub strength: crate::bound::LockStrength,
    /// OF
    pub of: Vec<RangeVar>,
    /// NOWAIT, SKIP LOCKED.
    pub wait: crate::bound::LockWait,
}

/// A column that is assigned to.
#[derive(Clone, Debug)]
pub struct AssignTarget {
    /// Name.
    pub name: String,
    /// Subscripts or fields.
    pub indirection: Vec<Indirection>,
    /// Position.
    pub pos: Pos,
}

/// An item of SET.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Assignment {
    One(AssignTarget, Expr),
    /// `(a, b) = source`, a row or a subquery.
    Many(Vec<AssignTarget>, Expr),
}

/// OVERRIDING
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Overriding {
    User,
    System,
}

/// INSERT
#[derive(Clone, Debug)]
pub struct Insert {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// Its alias.
    pub alias: Option<String>,
    /// Columns.
    pub columns: Vec<AssignTarget>,
    /// OVERRIDING
    pub overriding: Option<Overriding>,
    /// Source; `None` for DEFAULT VALUES.
    pub source: Option<Box<Query>>,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
    /// RETURNING
    pub returning: Vec<Target>,
}

/// A key of ON CONFLICT's inference.
#[derive(Clone, Debug)]
pub struct InferKey {
    /// Expression.
    pub expr: Expr,
    /// COLLATE
    pub collation: Option<Vec<String>>,
    /// Operator class.
    pub opclass: Option<Vec<String>>,
}

/// ON CONFLICT
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// Inferred by these keys and predicate.
    pub keys: Vec<InferKey>,
    /// WHERE of the inference.
    pub predicate: Option<Expr>,
    /// ON CONSTRAINT
    pub constraint: Option<String>,
    /// DO UPDATE's assignments; `None` for DO NOTHING.
    pub update: Option<Vec<Assignment>>,
    /// WHERE of DO UPDATE.
    pub filter: Option<Expr>,
    /// Position of ON.
    pub pos: Pos,
}

/// UPDATE
#[derive(Clone, Debug)]
pub struct Update {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// Its alias.
    pub alias: Option<Alias>,
    /// SET
    pub assignments: Vec<Assignment>,
    /// FROM
    pub from: Vec<TableRef>,
    /// WHERE
    pub filter: Option<Expr>,
    /// RETURNING
    pub returning: Vec<Target>,
}

/// DELETE
#[derive(Clone, Debug)]
pub struct Delete {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// Its alias.
    pub alias: Option<Alias>,
    /// USING
    pub using: Vec<TableRef>,
    /// WHERE
    pub filter: Option<Expr>,
    /// RETURNING
    pub returning: Vec<Target>,
}

/// EXPLAIN
#[derive(Clone, Debug)]
pub struct Explain {
    /// Options as written: name, value, position.
    pub options: Vec<(String, Option<String>, Pos)>,
    /// Statement.
    pub statement: Box<Ast>,
}

/// A statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
#[allow(clippy::large_enum_variant)] // one per statement
pub enum Ast {
    Dml(Dml),
    Explain(Explain),
    /// Everything else; bound when it runs.
    Utility(Box<crate::utility::Utility>),
}

impl Expr {
    /// The leftmost position of the expression (compare `exprLocation`).
    pub fn leftmost(&self) -> Pos {
        let least = |a: Pos, b: Pos| {
            if a == 0 {
                b
            } else if b == 0 {
                a
            } else {
                a.min(b)
            }
        };
        match &self.kind {
            ExprKind::Indirection(e, _) | ExprKind::Cast(e, _) | ExprKind::Collate(e, _) => {
                least(self.pos, e.leftmost())
            }
            ExprKind::NullTest(e, _) | ExprKind::BooleanTest(e, _) => least(self.pos, e.leftmost()),
            ExprKind::Op(_, Some(left), _)
            | ExprKind::OpAny(_, left, _, _)
            | ExprKind::Distinct(left, _, _)
            | ExprKind::In(left, _, _)
            | ExprKind::Between { left, .. } => least(self.pos, left.leftmost()),
            ExprKind::And(list) | ExprKind::Or(list) => {
                least(self.pos, list.first().map_or(0, Expr::leftmost))
            }
            ExprKind::Sublink(Sublink::Any { left, .. }, _) => least(self.pos, left.leftmost()),
            ExprKind::Literal(_)
            | ExprKind::Column(..)
            | ExprKind::Param(_)
            | ExprKind::Op(_, None, _)
            | ExprKind::NullIf(..)
            | ExprKind::Not(_)
            | ExprKind::Func(_)
            | ExprKind::Sublink(..)
            | ExprKind::Case(..)
            | ExprKind::Array(_)
            | ExprKind::Row(..)
            | ExprKind::Coalesce(_)
            | ExprKind::MinMax(..)
            | ExprKind::SqlValue(..)
            | ExprKind::Grouping(_)
            | ExprKind::Default
            | ExprKind::CurrentOf(_) => self.pos,
        }
    }
}

impl Expr {
    /// Calls `f` with every subquery of the expression (not with those inside of them).
    pub fn each_subquery(&self, f: &mut dyn FnMut(&Query)) {
        let mut all = |list: &[Expr]| list.iter().for_each(|e| e.each_subquery(f));
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(..)
            | ExprKind::Param(_)
            | ExprKind::SqlValue(..)
            | ExprKind::Default
            | ExprKind::CurrentOf(_) => {}
            ExprKind::And(list)
            | ExprKind::Or(list)
            | ExprKind::Array(list)
            | ExprKind::Row(list, _)
            | ExprKind::Coalesce(list)
            | ExprKind::MinMax(_, list)
            | ExprKind::Grouping(list) => all(list),
            ExprKind::Indirection(e, steps) => {
                e.each_subquery(f);
                for step in steps {
                    match step {
                        Indirection::Index(e) => e.each_subquery(f),
                        Indirection::Slice(low, high) => {
                            low.iter().chain(high).for_each(|e| e.each_subquery(f))
                        }
                        Indirection::Field(..) | Indirection::Star => {}
                    }
                }
            }
            ExprKind::Cast(e, _)
            | ExprKind::Collate(e, _)
            | ExprKind::Not(e)
            | ExprKind::NullTest(e, _)
            | ExprKind::BooleanTest(e, _) => e.each_subquery(f),
            ExprKind::Op(_, left, right) => {
                left.iter().for_each(|e| e.each_subquery(f));
                right.each_subquery(f);
            }
            ExprKind::OpAny(_, left, right, _)
            | ExprKind::Distinct(left, right, _)
            | ExprKind::NullIf(left, right) => {
                left.each_subquery(f);
                right.each_subquery(f);
            }
            ExprKind::In(left, list, _) => {
                left.each_subquery(f);
                list.iter().for_each(|e| e.each_subquery(f));
            }
            ExprKind::Between { left, low, high, .. } => {
                [left, low, high].into_iter().for_each(|e| e.each_subquery(f));
            }
            ExprKind::Func(call) => {
                all(&call.args);
                call.order_by.iter().for_each(|s| s.expr.each_subquery(f));
                call.filter.iter().for_each(|e| e.each_subquery(f));
            }
            ExprKind::Sublink(kind, query) => {
                if let Sublink::Any { left, .. } = kind {
                    left.each_subquery(f);
                }
                f(query);
            }
            ExprKind::Case(operand, branches, otherwise) => {
                operand.iter().chain(otherwise).for_each(|e| e.each_subquery(f));
                for (condition, value) in branches {
                    condition.each_subquery(f);
                    value.each_subquery(f);
                }
            }
        }
    }
}
