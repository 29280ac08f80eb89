//! Expressions compiled against a row layout: every column is a slot, every function a pointer, the commonest comparisons and
//! integer arithmetic are nodes of their own. `plan::compile` makes them.

use super::context::ExecContext;
use super::{array_ops, composite, subplan};
use crate::bound::{BooleanTest, RowCompareOp};
use crate::functions::{CallTypes, ScalarFn};
use crate::plan::node::SubPlan;
use catalog::types::{InputContext, Type};
use catalog::{Datum, Oid, Result, SqlError, SqlState, Value};
use std::cmp::Ordering;

/// Comparison operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CompareOp {
    /// Whether an ordering satisfies the operator.
    #[inline(always)]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        }
    }

    /// The operator with its operands exchanged.
    pub fn commuted(self) -> Self {
        match self {
            CompareOp::Eq => CompareOp::Eq,
            CompareOp::Ne => CompareOp::Ne,
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompareKind {
    /// As integers.
    Int,
    /// As floats, NaN last.
    Float,
    /// By bytes (text in collation C, bytea, uuid).
    Bytes,
}

/// Integer operators that have nodes of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// A scalar call.
#[derive(Debug)]
pub struct CallNode {
    /// What runs.
    pub function: ScalarFn,
    /// Not run when an argument is NULL.
    pub strict: bool,
    /// Types.
    pub types: CallTypes,
    /// Arguments.
    pub args: Box<[PhysicalExpr]>,
    /// Position for errors; 0 unknown.
    pub position: u32,
}

/// CASE.
#[derive(Debug)]
pub struct CaseNode {
    /// Operand.
    pub operand: Option<PhysicalExpr>,
    /// WHEN, THEN.
    pub branches: Box<[(PhysicalExpr, PhysicalExpr)]>,
    /// ELSE.
    pub otherwise: Option<PhysicalExpr>,
}

/// `x op ANY (array)` or ALL.
#[derive(Debug)]
pub struct ScalarArrayNode {
    /// The operator, over [`PhysicalExpr::CaseOperand`]-free argument slots: called with (left, element).
    pub test: PairTest,
    /// ALL.
    pub all: bool,
    /// Left operand.
    pub left: PhysicalExpr,
    /// Right operand.
    pub right: ArrayOperand,
}

/// The right side of a [`ScalarArrayNode`].
#[derive(Debug)]
pub enum ArrayOperand {
    /// A list of expressions (IN).
    List(Box<[PhysicalExpr]>),
    /// An array value with this element type.
    Array(PhysicalExpr, &'static Type),
    /// Constants without NULL of an equality, sorted: found by binary search.
    SortedInts(Box<[i64]>),
}

/// A boolean operator over two values.
#[derive(Debug)]
pub enum PairTest {
    /// A plain comparison.
    Compare(CompareOp, CompareKind),
    /// A function.
    Call {
        /// What runs.
        function: ScalarFn,
        /// Not run when an argument is NULL.
        strict: bool,
        /// Types.
        types: CallTypes,
    },
}

/// A comparison of rows.
#[derive(Debug)]
pub struct RowCompareNode {
    /// Which.
    pub op: RowCompareOp,
    /// Left, right and the type that compares them.
    pub columns: Box<[(PhysicalExpr, PhysicalExpr, &'static Type)]>,
}

/// One subscript.
#[derive(Debug)]
pub enum SubscriptNode {
    /// `[i]`
    Index(PhysicalExpr),
    /// `[i:j]`
    Slice(Option<PhysicalExpr>, Option<PhysicalExpr>),
}

/// A compiled expression.
#[derive(Debug)]
pub enum PhysicalExpr {
    /// A constant.
    Const(Value),
    /// A value of the current row.
    Slot(usize),
    /// A value of an outer row: frames up, slot.
    Outer(usize, usize),
    /// A parameter.
    Param(usize),
    /// Operand of the innermost CASE.
    CaseOperand,
    /// `slot op constant` over integers.
    SlotIntConst(CompareOp, usize, i64),
    /// A comparison.
    Compare(CompareOp, CompareKind, Box<(PhysicalExpr, PhysicalExpr)>),
    /// Integer arithmetic with the bounds of the result type and the type's name for the error.
    Arithmetic(ArithmeticOp, Box<(PhysicalExpr, PhysicalExpr)>, IntBounds),
    /// A call.
    Call(Box<CallNode>),
    /// AND
    And(Box<[PhysicalExpr]>),
    /// OR
    Or(Box<[PhysicalExpr]>),
    /// NOT
    Not(Box<PhysicalExpr>),
    /// IS NULL of a scalar.
    IsNull(Box<PhysicalExpr>),
    /// IS NOT NULL of a scalar.
    IsNotNull(Box<PhysicalExpr>),
    /// IS NULL (true) or IS NOT NULL of a composite.
    RowIsNull(Box<PhysicalExpr>, bool),
    /// IS TRUE and so on.
    BooleanTest(Box<PhysicalExpr>, BooleanTest),
    /// IS DISTINCT FROM.
    Distinct(Box<(PhysicalExpr, PhysicalExpr)>, PairTest),
    /// NULLIF: operands of the equality, the value.
    NullIf(Box<(PhysicalExpr, PhysicalExpr, PhysicalExpr)>, PairTest),
    /// CASE
    Case(Box<CaseNode>),
    /// COALESCE
    Coalesce(Box<[PhysicalExpr]>),
    /// GREATEST (true), LEAST.
    MinMax(bool, Box<[PhysicalExpr]>, &'static Type),
    /// Cast through text.
    IoCast(Box<PhysicalExpr>, &'static Type, &'static Type, i32, u32),
    /// Length coercion: value, type, modifier, explicit.
    Typmod(Box<PhysicalExpr>, &'static Type, i32, bool),
    /// Cast of each element: array, element expression, source and target element types.
    ArrayCast(Box<(PhysicalExpr, PhysicalExpr)>, &'static Type, &'static Type),
    /// `= ANY` and so on.
    ScalarArray(Box<ScalarArrayNode>),
    /// ARRAY[...]: elements, element type, whether the elements are arrays.
    Array(Box<[PhysicalExpr]>, &'static Type, bool),
    /// `a[i]`: array, subscripts, element type.
    Subscript(Box<PhysicalExpr>, Box<[SubscriptNode]>, &'static Type),
    /// ROW(...): fields with their types.
    Row(Box<[PhysicalExpr]>, Box<[&'static Type]>),
    /// A field of a composite.
    Field(Box<PhysicalExpr>, usize),
    /// Row comparison.
    RowCompare(Box<RowCompareNode>),
    /// A subquery.
    SubPlan(Box<SubPlan>),
    /// GROUPING: the slot with the mask of absent keys, and the keys asked for.
    Grouping(usize, Box<[usize]>),
    /// nextval of a known sequence.
    NextValue(Oid),
}

/// Bounds of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntBounds {
    /// Least value.
    pub low: i64,
    /// Greatest value.
    pub high: i64,
    /// `integer`, as errors say it.
    pub name: &'static str,
}

impl PhysicalExpr {
    /// The value over a row.
    pub fn eval<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
        match self {
            PhysicalExpr::Const(value) => Ok(value.datum()),
            PhysicalExpr::Slot(slot) => Ok(slot_of(row, *slot)),
            PhysicalExpr::Outer(depth, slot) => Ok(slot_of(cx.outer_row(*depth), *slot)),
            PhysicalExpr::Param(index) => param(cx, *index),
            PhysicalExpr::CaseOperand => Ok(cx.case_operand),
            PhysicalExpr::SlotIntConst(op, slot, value) => Ok(match slot_of(row, *slot) {
                Datum::Int(v) => Datum::Bool(op.holds(v.cmp(value))),
                _ => Datum::Null,
            }),
            PhysicalExpr::Compare(op, kind, sides) => {
                let (left, right) = (sides.0.eval(cx, row)?, sides.1.eval(cx, row)?);
                Ok(match compare(*kind, left, right) {
                    Some(order) => Datum::Bool(op.holds(order)),
                    None => Datum::Null,
                })
            }
            PhysicalExpr::Arithmetic(op, sides, bounds) => {
                match (sides.0.eval(cx, row)?, sides.1.eval(cx, row)?) {
                    (Datum::Int(l), Datum::Int(r)) => arithmetic(*op, l, r, bounds).map(Datum::Int),
                    _ => Ok(Datum::Null),
                }
            }
            PhysicalExpr::Call(call) => call.eval(cx, row),
            PhysicalExpr::And(list) => {
                let mut unknown = false;
                for e in list {
                    match e.eval(cx, row)? {
                        Datum::Bool(true) => {}
                        Datum::Null => unknown = true,
                        _ => return Ok(Datum::Bool(false)),
                    }
                }
                Ok(if unknown { Datum::Null } else { Datum::Bool(true) })
            }
            PhysicalExpr::Or(list) => {
                let mut unknown = false;
                for e in list {
                    match e.eval(cx, row)? {
                        Datum::Bool(true) => return Ok(Datum::Bool(true)),
                        Datum::Null => unknown = true,
                        _ => {}
                    }
                }
                Ok(if unknown { Datum::Null } else { Datum::Bool(false) })
            }
            PhysicalExpr::Not(e) => Ok(match e.eval(cx, row)? {
                Datum::Bool(v) => Datum::Bool(!v),
                _ => Datum::Null,
            }),
            PhysicalExpr::IsNull(e) => Ok(Datum::Bool(e.eval(cx, row)?.is_null())),
            PhysicalExpr::IsNotNull(e) => Ok(Datum::Bool(!e.eval(cx, row)?.is_null())),
            PhysicalExpr::RowIsNull(e, null) => {
                let value = e.eval(cx, row)?;
                Ok(Datum::Bool(value.is_null() && *null || composite::all_null(value, *null)))
            }
            PhysicalExpr::BooleanTest(e, test) => {
                let value = e.eval(cx, row)?;
                let (is_true, is_null) = (value.is_true(), value.is_null());
                Ok(Datum::Bool(match test {
                    BooleanTest::IsTrue => is_true,
                    BooleanTest::IsNotTrue => !is_true,
                    BooleanTest::IsFalse => !is_true && !is_null,
                    BooleanTest::IsNotFalse => is_true || is_null,
                    BooleanTest::IsUnknown => is_null,
                    BooleanTest::IsNotUnknown => !is_null,
                }))
            }
            PhysicalExpr::Distinct(sides, test) => {
                let (left, right) = (sides.0.eval(cx, row)?, sides.1.eval(cx, row)?);
                Ok(Datum::Bool(match (left.is_null(), right.is_null()) {
                    (true, true) => false,
                    (false, false) => !test.eval(cx, left, right)?.is_true(),
                    _ => true,
                }))
            }
            PhysicalExpr::NullIf(parts, test) => {
                let (left, right) = (parts.0.eval(cx, row)?, parts.1.eval(cx, row)?);
                if !left.is_null() && !right.is_null() && test.eval(cx, left, right)?.is_true() {
                    return Ok(Datum::Null);
                }
                parts.2.eval(cx, row)
            }
            PhysicalExpr::Case(case) => case.eval(cx, row),
            PhysicalExpr::Coalesce(list) => {
                for e in list {
                    let value = e.eval(cx, row)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Ok(Datum::Null)
            }
            PhysicalExpr::MinMax(greatest, list, typ) => {
                let mut best = Datum::Null;
                let wanted = if *greatest { Ordering::Greater } else { Ordering::Less };
                for e in list {
                    let value = e.eval(cx, row)?;
                    if !value.is_null() && (best.is_null() || (typ.compare)(value, best) == wanted) {
                        best = value;
                    }
                }
                Ok(best)
            }
            PhysicalExpr::IoCast(e, source, target, typmod, position) => {
                let value = e.eval(cx, row)?;
                if value.is_null() {
                    return Ok(Datum::Null);
                }
                io_cast(cx, value, source, target, *typmod).map_err(|e| e.at(*position))
            }
            PhysicalExpr::Typmod(e, typ, typmod, explicit) => {
                let value = e.eval(cx, row)?;
                match typ.apply_typmod {
                    Some(apply) if !value.is_null() => apply(value, *typmod, *explicit, cx.eval.arena),
                    _ => array_ops::apply_typmod(cx, value, typ, *typmod, *explicit),
                }
            }
            PhysicalExpr::ArrayCast(parts, source, target) => {
                let array = parts.0.eval(cx, row)?;
                if array.is_null() {
                    return Ok(Datum::Null);
                }
                array_ops::map(cx, array, source, target, |element| {
                    parts.1.eval(&ExecContext { case_operand: element, ..*cx }, row)
                })
            }
            PhysicalExpr::ScalarArray(node) => node.eval(cx, row),
            PhysicalExpr::Array(elements, typ, nested) => {
                let values = eval_list(elements, cx, row)?;
                array_ops::build(cx, typ, values, *nested)
            }
            PhysicalExpr::Subscript(array, subscripts, element) => {
                let array = array.eval(cx, row)?;
                array_ops::subscript(cx, row, array, subscripts, element)
            }
            PhysicalExpr::Row(fields, types) => {
                let values = eval_list(fields, cx, row)?;
                Ok(composite::build(cx.eval.arena, types, values))
            }
            PhysicalExpr::Field(e, field) => Ok(composite::field(e.eval(cx, row)?, *field)),
            PhysicalExpr::RowCompare(node) => node.eval(cx, row),
            PhysicalExpr::SubPlan(plan) => subplan::eval(plan, cx, row),
            PhysicalExpr::Grouping(slot, keys) => {
                let mask = slot_of(row, *slot).as_int();
                let bits = keys.iter().fold(0, |bits, key| bits << 1 | (mask >> key & 1));
                Ok(Datum::Int(bits))
            }
            PhysicalExpr::NextValue(sequence) => cx.eval.env.nextval(*sequence).map(Datum::Int),
        }
    }

    /// Whether the value is true: what a filter asks. Saves the detour over a [`Datum`] for the common nodes.
    #[inline]
    pub fn is_true<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<bool> {
        match self {
            PhysicalExpr::SlotIntConst(op, slot, value) => {
                Ok(matches!(row.get(*slot), Some(Datum::Int(v)) if op.holds(v.cmp(value))))
            }
            PhysicalExpr::Compare(op, kind, sides) => {
                let (left, right) = (sides.0.eval(cx, row)?, sides.1.eval(cx, row)?);
                Ok(compare(*kind, left, right).is_some_and(|order| op.holds(order)))
            }
            PhysicalExpr::And(list) => {
                for e in list {
                    if !e.is_true(cx, row)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PhysicalExpr::Or(list) => {
                for e in list {
                    if e.is_true(cx, row)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            other => Ok(other.eval(cx, row)?.is_true()),
        }
    }
}

/// A list's values, in the arena.
pub fn eval_list<'a>(
    list: &'a [PhysicalExpr],
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
) -> Result<&'a [Datum<'a>]> {
    let values = cx.eval.arena.slice_with(list.len(), |_| Datum::Null);
    for (value, e) in values.iter_mut().zip(list) {
        *value = e.eval(cx, row)?;
    }
    Ok(values)
}

#[inline(always)]
fn slot_of<'a>(row: &[Datum<'a>], slot: usize) -> Datum<'a> {
    debug_assert!(slot < row.len(), "slot {slot} of a row of {}", row.len());
    row.get(slot).copied().unwrap_or(Datum::Null)
}

fn param<'a>(cx: &ExecContext<'a>, index: usize) -> Result<Datum<'a>> {
    cx.params.get(index).copied().ok_or_else(|| {
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("no value found for parameter {}", index + 1))
    })
}

/// Three-valued comparison: `None` if a side is NULL.
#[inline(always)]
pub fn compare(kind: CompareKind, left: Datum<'_>, right: Datum<'_>) -> Option<Ordering> {
    match (kind, left, right) {
        (CompareKind::Int, Datum::Int(l), Datum::Int(r)) => Some(l.cmp(&r)),
        (CompareKind::Float, Datum::Float(l), Datum::Float(r)) => Some(catalog::types::float::compare(l, r)),
        (CompareKind::Bytes, Datum::Bytes(l), Datum::Bytes(r)) => Some(l.cmp(r)),
        _ => None,
    }
}

#[inline]
fn arithmetic(op: ArithmeticOp, left: i64, right: i64, bounds: &IntBounds) -> Result<i64> {
    let value = match op {
        ArithmeticOp::Add => left.checked_add(right),
        ArithmeticOp::Subtract => left.checked_sub(right),
        ArithmeticOp::Multiply => left.checked_mul(right),
        ArithmeticOp::Divide | ArithmeticOp::Modulo if right == 0 => {
            return Err(SqlError::division_by_zero());
        }
        ArithmeticOp::Divide => left.checked_div(right),
        ArithmeticOp::Modulo => Some(left.checked_rem(right).unwrap_or(0)),
    };
    match value {
        Some(v) if v >= bounds.low && v <= bounds.high => Ok(v),
        _ => Err(SqlError::out_of_range(bounds.name)),
    }
}

/// `CoerceViaIO`.
pub fn io_cast<'a>(
    cx: &ExecContext<'a>,
    value: Datum<'a>,
    source: &'static Type,
    target: &'static Type,
    typmod: i32,
) -> Result<Datum<'a>> {
    let text = cx.eval.arena.build(|out| {
        (source.output)(value, cx.eval.style, out);
        Ok::<(), SqlError>(())
    })?;
    let text = std::str::from_utf8(text).unwrap_or_default();
    let now = cx.eval.env.transaction_timestamp();
    let input = cx.eval.arena.slice_with(1, |_| InputContext {
        arena: cx.eval.arena,
        style: cx.eval.style,
        typ: target,
        typmod,
        now,
    });
    (target.input)(text, &input[0])
}

impl CallNode {
    #[inline]
    fn eval<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
        match &*self.args {
            [a] => self.run(cx, &[a.eval(cx, row)?]),
            [a, b] => self.run(cx, &[a.eval(cx, row)?, b.eval(cx, row)?]),
            [a, b, c] => self.run(cx, &[a.eval(cx, row)?, b.eval(cx, row)?, c.eval(cx, row)?]),
            list => {
                let args = eval_list(list, cx, row)?;
                self.run(cx, args)
            }
        }
    }

    #[inline]
    fn run<'a>(&'a self, cx: &ExecContext<'a>, args: &[Datum<'a>]) -> Result<Datum<'a>> {
        if self.strict && args.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        let result = (self.function)(&cx.eval, &self.types, args);
        // Of what goes wrong at run time only the lack of an implementation is the statement's fault, and has a place in it.
        result.map_err(|e| {
            let lacking =
                e.code() == SqlState::FEATURE_NOT_SUPPORTED && e.message().ends_with("not supported");
            if lacking { e.at(self.position) } else { e }
        })
    }
}

impl CaseNode {
    fn eval<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
        let inner;
        let test_cx = match &self.operand {
            Some(operand) => {
                inner = ExecContext { case_operand: operand.eval(cx, row)?, ..*cx };
                &inner
            }
            None => cx,
        };
        for (when, then) in &self.branches {
            if when.is_true(test_cx, row)? {
                return then.eval(cx, row);
            }
        }
        match &self.otherwise {
            Some(e) => e.eval(cx, row),
            None => Ok(Datum::Null),
        }
    }
}

impl PairTest {
    /// The operator's answer.
    #[inline]
    pub fn eval<'a>(&'a self, cx: &ExecContext<'a>, left: Datum<'a>, right: Datum<'a>) -> Result<Datum<'a>> {
        match self {
            PairTest::Compare(op, kind) => Ok(match compare(*kind, left, right) {
                Some(order) => Datum::Bool(op.holds(order)),
                None => Datum::Null,
            }),
            PairTest::Call { function, strict, types } => {
                if *strict && (left.is_null() || right.is_null()) {
                    return Ok(Datum::Null);
                }
                function(&cx.eval, types, &[left, right])
            }
        }
    }
}

impl ScalarArrayNode {
    fn eval<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
        let left = self.left.eval(cx, row)?;
        let mut unknown = false;
        // ANY stops at the first true, ALL at the first false.
        let mut decide = |value: Datum<'a>| -> Result<bool> {
            let answer = self.test.eval(cx, left, value)?;
            if answer.is_null() {
                unknown = true;
                return Ok(false);
            }
            Ok(answer.is_true() != self.all)
        };
        match &self.right {
            ArrayOperand::SortedInts(list) => {
                return Ok(match left {
                    Datum::Int(v) => Datum::Bool(list.binary_search(&v).is_ok()),
                    _ => Datum::Null,
                });
            }
            ArrayOperand::List(list) => {
                for e in list {
                    if decide(e.eval(cx, row)?)? {
                        return Ok(Datum::Bool(!self.all));
                    }
                }
            }
            ArrayOperand::Array(e, element) => {
                let array = e.eval(cx, row)?;
                if array.is_null() {
                    return Ok(Datum::Null);
                }
                let mut found = false;
                array_ops::for_each(array, element, |value| {
                    found = decide(value)?;
                    Ok(!found)
                })?;
                if found {
                    return Ok(Datum::Bool(!self.all));
                }
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Bool(self.all) })
    }
}

impl RowCompareNode {
    fn eval<'a>(&'a self, cx: &ExecContext<'a>, row: &[Datum<'a>]) -> Result<Datum<'a>> {
        let equality = matches!(self.op, RowCompareOp::Eq | RowCompareOp::Ne);
        let mut unknown = false;
        for (left, right, typ) in &self.columns {
            let (left, right) = (left.eval(cx, row)?, right.eval(cx, row)?);
            if left.is_null() || right.is_null() {
                if !equality {
                    return Ok(Datum::Null);
                }
                unknown = true;
                continue;
            }
            let order = (typ.compare)(left, right);
            if order.is_ne() {
                return Ok(Datum::Bool(match self.op {
                    RowCompareOp::Eq => false,
                    RowCompareOp::Ne => true,
                    RowCompareOp::Lt | RowCompareOp::Le => order.is_lt(),
                    RowCompareOp::Gt | RowCompareOp::Ge => order.is_gt(),
                }));
            }
        }
        Ok(match self.op {
            _ if unknown => Datum::Null,
            RowCompareOp::Eq | RowCompareOp::Le | RowCompareOp::Ge => Datum::Bool(true),
            RowCompareOp::Ne | RowCompareOp::Lt | RowCompareOp::Gt => Datum::Bool(false),
        })
    }
}
