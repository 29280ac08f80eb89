//! The plan tree: immutable, shared between executions, without snapshot or parameters.

use super::dml::DmlPlan;
use super::relational::RelationalPlan;
use crate::bound::{FrameExclude, FrameUnit, LockStrength, LockWait};
use crate::functions::{AggregateFn, CallTypes, SetFn, WindowFn};
use crate::row::expr::PhysicalExpr;
use crate::row::hash::HashClass;
use crate::row::index_entry::IndexLayout;
use catalog::key::KeyColumn;
use catalog::object::{Index, Table};
use catalog::row::RowLayout;
use catalog::row_reader::RowReader;
use catalog::types::Type;
use catalog::{Oid, Value};
use std::sync::Arc;
use storage::Direction;

/// A plan: what a cached statement holds.
#[derive(Debug)]
pub struct Plan {
    /// The tree. It puts out one value per output column.
    pub root: PlanNode,
    /// Number of cache slots that an execution needs.
    pub cache_slots: usize,
    /// Number of nodes, for instrumentation.
    pub nodes: usize,
}

/// A node: an operator and what the planner thinks of it.
#[derive(Debug)]
pub struct PlanNode {
    /// Number within the plan.
    pub id: usize,
    /// Estimated rows.
    pub rows: f64,
    /// Cost before the first row.
    pub startup: f64,
    /// Cost of all rows, in PostgreSQL's unit.
    pub cost: f64,
    /// Bytes per row.
    pub width: usize,
    /// The operator.
    pub kind: PlanKind,
    /// What EXPLAIN says besides: `Filter`, `Index Cond`, `Sort Key` and so on.
    pub details: Vec<(&'static str, String)>,
}

/// The operators. "Puts out `left ++ right`" means the values of both, left first.
#[derive(Debug)]
pub enum PlanKind {
    /// One row without values, if the filter (over outer rows and parameters) lets it pass.
    Result,
    /// No rows.
    Empty,
    /// A table.
    Scan(Box<ScanNode>),
    /// A computed relation of the system catalogs.
    System(Box<SystemNode>),
    /// Rows that satisfy a condition.
    Filter {
        /// Input.
        input: Box<PlanNode>,
        /// Condition.
        predicate: PhysicalExpr,
        /// Has no references to the input's row: decided once per run ("One-Time Filter").
        once: bool,
    },
    /// Computed values.
    Project {
        /// Input.
        input: Box<PlanNode>,
        /// One per output value.
        exprs: Box<[PhysicalExpr]>,
    },
    /// LIMIT, OFFSET, WITH TIES.
    Limit {
        /// Input.
        input: Box<PlanNode>,
        /// LIMIT
        limit: Option<PhysicalExpr>,
        /// OFFSET
        offset: Option<PhysicalExpr>,
        /// WITH TIES: the sort columns.
        ties: Option<Box<[SortColumn]>>,
    },
    /// ORDER BY.
    Sort {
        /// Input.
        input: Box<PlanNode>,
        /// Keys.
        keys: Box<[SortColumn]>,
        /// The LIMIT and OFFSET above, if the sort may keep only that many rows.
        bound: Option<Box<(PhysicalExpr, Option<PhysicalExpr>)>>,
    },
    /// The first row of each group of equal values, in input order.
    Distinct {
        /// Input.
        input: Box<PlanNode>,
        /// What is compared.
        columns: Box<[HashColumn]>,
        /// Equal rows are neighbours.
        sorted: bool,
    },
    /// Grouping and aggregates.
    Aggregate(Box<AggregateNode>),
    /// Window functions of one partitioning and order; puts out `input ++ results`.
    Window(Box<WindowNode>),
    /// Set-returning functions in lockstep; puts out `input ++ one value per function`.
    ProjectSet {
        /// Input.
        input: Box<PlanNode>,
        /// Functions.
        functions: Box<[SetCall]>,
    },
    /// Join by running the right side per left row; the right side sees the left row as its nearest outer row. Puts out `left ++ right`.
    NestedLoop(Box<NestedLoopNode>),
    /// Join by hashing the right side. Puts out `left ++ right` (`left` for semi and anti joins).
    HashJoin(Box<HashJoinNode>),
    /// The rows of several inputs, one after the other.
    Append(Box<[PlanNode]>),
    /// INTERSECT, EXCEPT.
    SetOperation {
        /// Left.
        left: Box<PlanNode>,
        /// Right.
        right: Box<PlanNode>,
        /// EXCEPT rather than INTERSECT.
        except: bool,
        /// ALL
        all: bool,
        /// Columns.
        columns: Box<[HashColumn]>,
    },
    /// VALUES.
    Values(Box<[Box<[PhysicalExpr]>]>),
    /// Functions in FROM.
    Function(Box<FunctionNode>),
    /// The rows of a CTE, computed at first use.
    Cte {
        /// Cache slot.
        slot: usize,
        /// The CTE's plan.
        plan: Arc<CtePlan>,
        /// Outer rows to drop before it runs.
        pop: usize,
    },
    /// The working table of a recursive CTE.
    WorkTable {
        /// Cache slot.
        slot: usize,
        /// Name of the CTE.
        name: String,
        /// Values per row.
        width: usize,
    },
    /// Forgets cached results that depend on outer rows, then runs its input.
    Scope {
        /// Input.
        input: Box<PlanNode>,
        /// Cache slots to empty.
        clear: Box<[usize]>,
        /// Data-modifying CTEs: they run to their end whether referred to or not.
        finish: Box<[(usize, Arc<CtePlan>)]>,
    },
    /// Locks rows.
    Lock {
        /// Input.
        input: Box<PlanNode>,
        /// What is locked.
        rows: Box<[LockTarget]>,
        /// Puts the conditions of the query to a row that changed meanwhile.
        recheck: Option<PhysicalExpr>,
    },
    /// INSERT, UPDATE, DELETE (in WITH).
    Dml(Arc<dyn DmlPlan>),
    /// A part that the relational path runs.
    Relational(Arc<dyn RelationalPlan>),
    /// Runs its input without the nearest outer rows, which it does not know of; as the inner side of a nested loop its rows are kept
    /// over the outer rows.
    Unframe {
        /// Input.
        input: Box<PlanNode>,
        /// Outer rows to drop.
        pop: usize,
        /// Keeps the rows for the whole execution, in this slot.
        slot: Option<usize>,
        /// Values per row.
        width: usize,
    },
}

/// A sort key.
#[derive(Clone, Debug)]
pub struct SortColumn {
    /// Slot.
    pub slot: usize,
    /// Type.
    pub typ: &'static Type,
    /// DESC
    pub desc: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// A column that is hashed.
#[derive(Clone, Debug)]
pub struct HashColumn {
    /// Slot.
    pub slot: usize,
    /// How.
    pub class: HashClass,
}

/// A scan of a table. Puts out the columns by place up to the last one needed, then the row key if asked for.
#[derive(Debug)]
pub struct ScanNode {
    /// The table.
    pub table: Arc<Table>,
    /// Alias, if it differs.
    pub alias: String,
    /// Reads its rows: the columns that are used, those of the filter first; the others are NULL.
    pub reader: RowReader,
    /// Number of leading columns put out.
    pub columns: usize,
    /// The row key is put out behind the columns.
    pub with_key: bool,
    /// The whole row's bytes are put out behind that.
    pub with_row: bool,
    /// How the rows are found.
    pub path: AccessPath,
    /// Residual condition.
    pub filter: Option<PhysicalExpr>,
    /// Looked up by one key per run, and the keys of successive runs ascend (mostly: it is a hint).
    pub ascending: bool,
}

/// How a scan finds its rows.
#[derive(Debug)]
pub enum AccessPath {
    /// All rows in key order.
    Full(Direction),
    /// By the clustering key.
    Key {
        /// The primary key's index, for EXPLAIN.
        index: Option<Arc<Index>>,
        /// Which keys.
        range: KeyRange,
    },
    /// By an index.
    Index {
        /// The index.
        index: Arc<Index>,
        /// Its entries.
        layout: Arc<IndexLayout>,
        /// Which entries.
        range: KeyRange,
        /// What the entries alone answer.
        covering: Option<Covering>,
    },
}

/// A range of keys, its bounds computed at execution.
#[derive(Debug)]
pub struct KeyRange {
    /// Key columns of the whole index.
    pub columns: Arc<[KeyColumn]>,
    /// Conditions `column = value` on the leading columns.
    pub equal: Box<[KeyEqual]>,
    /// Spans of the next column's values, one of which it lies in; they may overlap. None: any value, NULL too.
    pub spans: Box<[KeySpan]>,
    /// All columns of a unique key are given and the key is exclusive: at most one entry per combination.
    pub point: bool,
    /// Walk direction.
    pub direction: Direction,
}

/// A condition on one leading key column.
#[derive(Debug)]
pub enum KeyEqual {
    /// `= value`
    Value(PhysicalExpr, Coercion),
    /// `= ANY (list)`
    List(Box<[PhysicalExpr]>, Coercion),
    /// `= ANY (array)` with this element type.
    Array(PhysicalExpr, &'static Type, Coercion),
    /// `IS NULL`
    Null,
}

/// Values of a column between two bounds; NULL is never among them.
#[derive(Debug)]
pub struct KeySpan {
    /// Bound from the side of the smaller values (by value, not by key order).
    pub lower: Option<KeyBound>,
    /// Bound from the side of the greater values.
    pub upper: Option<KeyBound>,
}

/// A bound.
#[derive(Debug)]
pub struct KeyBound {
    /// Value.
    pub value: PhysicalExpr,
    /// `<=`, `>=`
    pub inclusive: bool,
    /// How the value becomes one of the column's type.
    pub coercion: Coercion,
}

/// How a bound's value becomes one of the key column's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coercion {
    /// It is one.
    Same,
    /// An integer of another width: values out of these bounds match nothing, or bound nothing.
    Int(i64, i64),
}

/// An index-only read.
#[derive(Debug)]
pub struct Covering {
    /// Per key column that must be decoded, in order, the slot it goes to (`None`: stepped over).
    pub keys: Box<[Option<usize>]>,
    /// The clustering columns that must be decoded from the row key, in order, and the slots they go to.
    pub row_key: Box<[(KeyColumn, Option<usize>)]>,
    /// Slots of the INCLUDE columns.
    pub include: Box<[Option<usize>]>,
}

/// A scan of a system relation.
#[derive(Debug)]
pub struct SystemNode {
    /// The relation's OID.
    pub oid: Oid,
    /// Name.
    pub alias: String,
    /// Number of columns.
    pub columns: usize,
    /// Columns that are needed.
    pub wanted: Box<[bool]>,
    /// Equality conditions that may narrow the computation: column, value.
    pub equal: Box<[(usize, PhysicalExpr)]>,
    /// Condition.
    pub filter: Option<PhysicalExpr>,
}

/// Grouping.
#[derive(Debug)]
pub struct AggregateNode {
    /// Input.
    pub input: PlanNode,
    /// Grouping expressions.
    pub keys: Box<[(PhysicalExpr, HashClass)]>,
    /// GROUPING SETS.
    pub sets: Option<Box<[Box<[usize]>]>>,
    /// Aggregates.
    pub aggregates: Box<[AggregateExpr]>,
    /// Values of a group's first row that are put out too (functionally dependent columns).
    pub carried: Box<[PhysicalExpr]>,
    /// Whether groups are neighbours in the input.
    pub sorted: bool,
}

impl AggregateNode {
    /// Values put out: keys, aggregates, carried values, and the mask of keys absent in the grouping set.
    pub fn width(&self) -> usize {
        self.keys.len() + self.aggregates.len() + self.carried.len() + 1
    }
}

/// An aggregate call.
#[derive(Debug)]
pub struct AggregateExpr {
    /// Name, for EXPLAIN.
    pub name: String,
    /// What runs.
    pub function: AggregateFnSlot,
    /// Types of the call.
    pub types: CallTypes,
    /// Direct arguments.
    pub direct: Box<[PhysicalExpr]>,
    /// Arguments.
    pub args: Box<[PhysicalExpr]>,
    /// DISTINCT: how the arguments are compared.
    pub distinct: Option<Box<[HashClass]>>,
    /// ORDER BY: expressions behind the arguments, with slots counted from the first argument.
    pub order: Box<[(PhysicalExpr, SortColumn)]>,
    /// FILTER
    pub filter: Option<PhysicalExpr>,
}

/// An [`AggregateFn`] that prints.
#[derive(Clone, Copy)]
pub struct AggregateFnSlot(pub AggregateFn);

impl std::fmt::Debug for AggregateFnSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AggregateFn")
    }
}

/// Window functions over one partitioning and order. The input comes sorted by both.
#[derive(Debug)]
pub struct WindowNode {
    /// Input.
    pub input: PlanNode,
    /// PARTITION BY: slots and how they are compared.
    pub partition: Box<[SortColumn]>,
    /// ORDER BY.
    pub order: Box<[SortColumn]>,
    /// Calls.
    pub calls: Box<[WindowExpr]>,
}

/// A window call.
#[derive(Debug)]
pub struct WindowExpr {
    /// What runs.
    pub function: WindowFunction,
    /// Types of the call.
    pub types: CallTypes,
    /// Arguments.
    pub args: Box<[PhysicalExpr]>,
    /// FILTER
    pub filter: Option<PhysicalExpr>,
    /// Frame.
    pub frame: FrameNode,
}

/// What a window call runs.
#[derive(Clone, Copy)]
pub enum WindowFunction {
    /// A window function.
    Window(WindowFn),
    /// An aggregate over the frame.
    Aggregate(AggregateFn),
}

impl std::fmt::Debug for WindowFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WindowFunction")
    }
}

/// A frame.
#[derive(Debug)]
pub struct FrameNode {
    /// Unit.
    pub unit: FrameUnit,
    /// Start.
    pub start: FrameEdge,
    /// End.
    pub end: FrameEdge,
    /// EXCLUDE
    pub exclude: FrameExclude,
}

/// An edge of a frame.
#[derive(Debug)]
pub enum FrameEdge {
    /// UNBOUNDED PRECEDING or FOLLOWING
    Unbounded,
    /// CURRENT ROW
    CurrentRow,
    /// `n` PRECEDING. For RANGE the call computes order value - n.
    Preceding(PhysicalExpr, Option<RangeStep>),
    /// `n` FOLLOWING.
    Following(PhysicalExpr, Option<RangeStep>),
}

/// How RANGE moves from an order value by an offset: the operators `+` and `-` of the order column's type.
#[derive(Debug)]
pub struct RangeStep {
    /// value + offset
    pub add: crate::functions::ScalarFn,
    /// value - offset
    pub subtract: crate::functions::ScalarFn,
    /// Types of both calls.
    pub types: CallTypes,
    /// Type of the result, which compares with the order column.
    pub result: &'static Type,
    /// Type of the offset.
    pub offset: &'static Type,
}

/// A set-returning function (or a scalar one, which gives one row).
#[derive(Debug)]
pub struct SetCall {
    /// What runs.
    pub function: SetFunction,
    /// Not run when an argument is NULL: no rows.
    pub strict: bool,
    /// Types.
    pub types: CallTypes,
    /// Arguments.
    pub args: Box<[PhysicalExpr]>,
    /// Columns put out; in a target list one: several are packed into a composite of these types.
    pub columns: usize,
    /// Types of the columns of a composite result.
    pub column_types: Box<[&'static Type]>,
    /// Name, for EXPLAIN.
    pub name: String,
}

/// What a [`SetCall`] runs.
pub enum SetFunction {
    /// A set-returning function.
    Set(SetFn),
    /// An expression with one value, or a composite whose fields are the columns.
    Scalar(PhysicalExpr),
}

impl std::fmt::Debug for SetFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SetFunction")
    }
}

/// Functions in FROM.
#[derive(Debug)]
pub struct FunctionNode {
    /// Calls, in ROWS FROM order.
    pub calls: Box<[SetCall]>,
    /// WITH ORDINALITY.
    pub ordinality: bool,
    /// Alias.
    pub alias: String,
    /// Condition.
    pub filter: Option<PhysicalExpr>,
}

/// Kinds of joins as they run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinType {
    /// Matching pairs.
    Inner,
    /// And left rows without a match.
    Left,
    /// And right rows without a match.
    Right,
    /// Both.
    Full,
    /// Left rows with a match.
    Semi,
    /// Left rows without.
    Anti,
}

/// A nested loop.
#[derive(Debug)]
pub struct NestedLoopNode {
    /// Inner, Left, Right, Full, Semi, Anti.
    pub join: JoinType,
    /// Outer side.
    pub left: PlanNode,
    /// Inner side.
    pub right: PlanNode,
    /// Values that the right side puts out.
    pub right_width: usize,
    /// Condition over `left ++ right`.
    pub predicate: Option<PhysicalExpr>,
}

/// A hash join.
#[derive(Debug)]
pub struct HashJoinNode {
    /// Kind.
    pub join: JoinType,
    /// Probe side.
    pub left: PlanNode,
    /// Build side.
    pub right: PlanNode,
    /// Values that the left side puts out.
    pub left_width: usize,
    /// Values that the right side puts out.
    pub right_width: usize,
    /// Keys over the left row.
    pub left_keys: Box<[PhysicalExpr]>,
    /// Keys over the right row.
    pub right_keys: Box<[PhysicalExpr]>,
    /// How the keys are hashed.
    pub classes: Box<[HashClass]>,
    /// Further condition over `left ++ right`.
    pub predicate: Option<PhysicalExpr>,
    /// The right side does not depend on outer rows: its table may be kept over runs, in this slot.
    pub cache: Option<usize>,
}

/// A common table expression.
#[derive(Debug)]
pub struct CtePlan {
    /// Name.
    pub name: String,
    /// Its rows.
    pub query: CteQuery,
    /// Values per row.
    pub width: usize,
}

/// How a CTE gets its rows.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // few, and never moved once planned
pub enum CteQuery {
    /// By a plan.
    Plain(PlanNode),
    /// By iteration.
    Recursive {
        /// The first arm.
        start: Box<PlanNode>,
        /// The recursive arm, which reads the working table.
        step: Box<PlanNode>,
        /// Slot of the working table.
        table: usize,
        /// UNION without ALL: rows seen before are dropped.
        distinct: Option<Box<[HashColumn]>>,
    },
}

/// What FOR UPDATE locks.
#[derive(Debug)]
pub struct LockTarget {
    /// The table.
    pub table: Arc<Table>,
    /// Layout of its rows.
    pub layout: Arc<RowLayout>,
    /// Slot of the row key.
    pub key: usize,
    /// First slot of its columns, and how many.
    pub columns: (usize, usize),
    /// Mode.
    pub strength: LockStrength,
    /// NOWAIT and so on.
    pub wait: LockWait,
}

/// A subquery in an expression.
#[derive(Debug)]
pub struct SubPlan {
    /// The query's plan; the row it is evaluated over is its nearest outer row.
    pub plan: PlanNode,
    /// What its rows mean.
    pub kind: SubPlanKind,
    /// Slot of the result, if it does not depend on outer rows.
    pub cache: Option<usize>,
    /// Number for EXPLAIN.
    pub number: usize,
}

/// What a subquery's rows mean.
#[derive(Debug)]
pub enum SubPlanKind {
    /// EXISTS
    Exists,
    /// The value of the one row.
    Scalar,
    /// An array of the values, of this element type (the flag: they are arrays).
    Array(&'static Type, bool),
    /// ANY or ALL: the test over the subquery's row, with the current row as nearest outer row.
    Quantified {
        /// ALL
        all: bool,
        /// The test.
        test: PhysicalExpr,
    },
    /// `(left, ...) = ANY` of an uncorrelated subquery, hashed.
    Hashed {
        /// Left sides over the current row.
        left: Box<[PhysicalExpr]>,
        /// How they are hashed.
        classes: Box<[HashClass]>,
    },
}

/// A constant for nodes that need one.
pub fn constant_true() -> PhysicalExpr {
    PhysicalExpr::Const(Value::Bool(true))
}
