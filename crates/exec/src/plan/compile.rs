//! Bound expressions become physical ones over a scope.

use super::node::{SubPlan, SubPlanKind};
use super::scope::{Layout, Place, SUBQUERY_ENTRY, Scope, SlotKey};
use super::select::Planner;
use crate::bound::{Call, CallForm, Expr, SqlType, Subquery, SubqueryKind, Subscript};
use crate::functions::{CallTypes, Implementation, ScalarFn};
use crate::row::array_ops;
use crate::row::expr::{
    ArithmeticOp, ArrayOperand, CallNode, CaseNode, CompareKind, CompareOp, IntBounds, PairTest,
    PhysicalExpr, RowCompareNode, ScalarArrayNode, SubscriptNode,
};
use crate::row::hash::HashClass;
use catalog::types::{Type, oid};
use catalog::{Datum, Oid, Result, SqlError, Value};

/// The implementation of a type that a plan needs.
pub fn type_of(typ: SqlType) -> Result<&'static Type> {
    crate::functions::typ(typ)
}

/// The element type of an array type; RECORD arrays and the vectors included.
pub fn element_type(array: Oid) -> Result<&'static Type> {
    let typ = crate::functions::typ(SqlType::plain(array))?;
    crate::functions::typ(SqlType::plain(typ.element))
}

impl Planner<'_> {
    /// Compiles an expression of the query at `depth` over a scope.
    pub fn compile(&mut self, expr: &Expr, depth: u32, scope: &Scope<'_>) -> Result<PhysicalExpr> {
        let one = |p: &mut Self, e: &Expr| p.compile(e, depth, scope).map(Box::new);
        Ok(match expr {
            Expr::Const(value, _) => PhysicalExpr::Const(value.clone()),
            Expr::Param(index, _) => PhysicalExpr::Param(*index),
            Expr::Column(c) => {
                let at = depth.saturating_sub(u32::from(c.level));
                self.place(SlotKey::Column(at, c.entry, c.column), scope)?
            }
            Expr::Call(call) => self.compile_call(call, depth, scope)?,
            Expr::And(list) => PhysicalExpr::And(self.compile_list(list, depth, scope)?),
            Expr::Or(list) => PhysicalExpr::Or(self.compile_list(list, depth, scope)?),
            Expr::Not(e) => PhysicalExpr::Not(one(self, e)?),
            Expr::IsNull(e) if is_composite(e.typ()) => PhysicalExpr::RowIsNull(one(self, e)?, true),
            Expr::IsNotNull(e) if is_composite(e.typ()) => PhysicalExpr::RowIsNull(one(self, e)?, false),
            Expr::IsNull(e) => PhysicalExpr::IsNull(one(self, e)?),
            Expr::IsNotNull(e) => PhysicalExpr::IsNotNull(one(self, e)?),
            Expr::BooleanTest(e, test) => PhysicalExpr::BooleanTest(one(self, e)?, *test),
            Expr::Distinct(call) => {
                let sides = self.compile_pair(&call.args, depth, scope)?;
                PhysicalExpr::Distinct(Box::new(sides), pair_test(call)?)
            }
            Expr::NullIf(call, value) => {
                let (left, right) = self.compile_pair(&call.args, depth, scope)?;
                let value = self.compile(value, depth, scope)?;
                PhysicalExpr::NullIf(Box::new((left, right, value)), pair_test(call)?)
            }
            Expr::Case { operand, branches, otherwise, .. } => {
                let operand = operand.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?;
                let branches = branches
                    .iter()
                    .map(|(w, t)| Ok((self.compile(w, depth, scope)?, self.compile(t, depth, scope)?)))
                    .collect::<Result<_>>()?;
                let otherwise = otherwise.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?;
                PhysicalExpr::Case(Box::new(CaseNode { operand, branches, otherwise }))
            }
            Expr::CaseOperand(_) => PhysicalExpr::CaseOperand,
            Expr::Coalesce(list, _) => PhysicalExpr::Coalesce(self.compile_list(list, depth, scope)?),
            Expr::MinMax(greatest, list, typ) => {
                PhysicalExpr::MinMax(*greatest, self.compile_list(list, depth, scope)?, type_of(*typ)?)
            }
            Expr::Relabel(e, ..) => self.compile(e, depth, scope)?,
            Expr::IoCast(e, typ, _, position) => {
                let source = type_of(e.typ())?;
                PhysicalExpr::IoCast(one(self, e)?, source, type_of(*typ)?, typ.typmod, *position)
            }
            Expr::Typmod(e, typ, form) => {
                let explicit = matches!(form, CallForm::ExplicitCast);
                PhysicalExpr::Typmod(one(self, e)?, type_of(*typ)?, typ.typmod, explicit)
            }
            Expr::ArrayCast(array, element, typ, _) => {
                let source = element_type(array.typ().oid)?;
                let parts = (self.compile(array, depth, scope)?, self.compile(element, depth, scope)?);
                PhysicalExpr::ArrayCast(Box::new(parts), source, element_type(typ.oid)?)
            }
            Expr::ScalarArray(call, all) => self.compile_scalar_array(call, *all, depth, scope)?,
            Expr::Array(list, typ, nested) => {
                let element = element_type(typ.oid)?;
                PhysicalExpr::Array(self.compile_list(list, depth, scope)?, element, *nested)
            }
            Expr::Subscript(array, subscripts, _) => {
                let element = element_type(array.typ().oid)?;
                let array = one(self, array)?;
                let subscripts = subscripts
                    .iter()
                    .map(|s| {
                        Ok(match s {
                            Subscript::Index(e) => SubscriptNode::Index(self.compile(e, depth, scope)?),
                            Subscript::Slice(low, high) => SubscriptNode::Slice(
                                low.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?,
                                high.as_ref().map(|e| self.compile(e, depth, scope)).transpose()?,
                            ),
                        })
                    })
                    .collect::<Result<_>>()?;
                PhysicalExpr::Subscript(array, subscripts, element)
            }
            Expr::Row(list, _) => {
                let types = list.iter().map(|e| type_of(e.typ())).collect::<Result<_>>()?;
                PhysicalExpr::Row(self.compile_list(list, depth, scope)?, types)
            }
            Expr::Field(e, place, _) => PhysicalExpr::Field(one(self, e)?, *place),
            Expr::RowCompare { op, left, right } => {
                let columns = left
                    .iter()
                    .zip(right)
                    .map(|(l, r)| {
                        let typ = type_of(l.typ())?;
                        Ok((self.compile(l, depth, scope)?, self.compile(r, depth, scope)?, typ))
                    })
                    .collect::<Result<_>>()?;
                PhysicalExpr::RowCompare(Box::new(RowCompareNode { op: *op, columns }))
            }
            Expr::Subquery(subquery) => {
                PhysicalExpr::SubPlan(Box::new(self.compile_subquery(subquery, depth, scope)?))
            }
            Expr::Aggregate(i, _) => self.place(SlotKey::Aggregate(depth, *i), scope)?,
            Expr::GroupKey(i, _) => self.place(SlotKey::GroupKey(depth, *i), scope)?,
            Expr::Window(i, _) => self.place(SlotKey::Window(depth, *i), scope)?,
            Expr::SetFunction(i, _) => self.place(SlotKey::SetFunction(depth, *i), scope)?,
            Expr::Grouping(keys) => match self.place(SlotKey::GroupingMask(depth), scope)? {
                PhysicalExpr::Slot(slot) => PhysicalExpr::Grouping(slot, keys.as_slice().into()),
                _ => return Err(SqlError::unsupported("GROUPING of an outer query")),
            },
            Expr::NextValue(sequence, _) => PhysicalExpr::NextValue(sequence.oid),
        })
    }

    /// Compiles several.
    pub fn compile_list(
        &mut self,
        list: &[Expr],
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<Box<[PhysicalExpr]>> {
        list.iter().map(|e| self.compile(e, depth, scope)).collect()
    }

    fn compile_pair(
        &mut self,
        args: &[Expr],
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<(PhysicalExpr, PhysicalExpr)> {
        match args {
            [left, right] => Ok((self.compile(left, depth, scope)?, self.compile(right, depth, scope)?)),
            _ => Err(SqlError::internal("an operator without two operands")),
        }
    }

    /// A reference to something that has a slot.
    fn place(&mut self, key: SlotKey, scope: &Scope<'_>) -> Result<PhysicalExpr> {
        match scope.find(key) {
            Some(Place::Slot(slot)) => Ok(PhysicalExpr::Slot(slot)),
            Some(Place::Outer(depth, slot)) => {
                self.note_outer(scope.frames().saturating_sub(depth + 1));
                Ok(PhysicalExpr::Outer(depth, slot))
            }
            None => Err(SqlError::internal(format!("no slot for {key:?}"))),
        }
    }

    fn compile_call(&mut self, call: &Call, depth: u32, scope: &Scope<'_>) -> Result<PhysicalExpr> {
        let Implementation::Scalar(function) = call.implementation else {
            return Err(SqlError::internal(format!("function {} called as a scalar", call.proc.name)));
        };
        let args = self.compile_list(&call.args, depth, scope)?;
        if args.len() == 2
            && let Some((op, kind)) = comparison(&call.proc.src)
        {
            let [left, right]: [PhysicalExpr; 2] =
                args.into_vec().try_into().map_err(|_| SqlError::internal("two operands"))?;
            return Ok(compare_node(op, kind, left, right));
        }
        if args.len() == 2
            && let Some((op, bounds)) = integer_arithmetic(&call.proc.src, call.typ.oid)
        {
            let [left, right]: [PhysicalExpr; 2] =
                args.into_vec().try_into().map_err(|_| SqlError::internal("two operands"))?;
            return Ok(PhysicalExpr::Arithmetic(op, Box::new((left, right)), bounds));
        }
        // Integers of all widths share a shape, so widening casts need no call.
        if args.len() == 1 && matches!(call.proc.src.as_str(), "int48" | "i2toi4" | "int28") {
            if let Some(arg) = args.into_vec().pop() {
                return Ok(arg);
            }
            return Err(SqlError::internal("one operand"));
        }
        Ok(PhysicalExpr::Call(Box::new(CallNode {
            function,
            strict: call.proc.strict,
            types: call_types(call),
            args,
            position: call.position,
        })))
    }

    fn compile_scalar_array(
        &mut self,
        call: &Call,
        all: bool,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<PhysicalExpr> {
        let [left, right] = call.args.as_slice() else {
            return Err(SqlError::internal("an operator without two operands"));
        };
        let test = pair_test(call)?;
        let left_expr = self.compile(left, depth, scope)?;
        let right = match right {
            Expr::Array(list, _, false) => match sorted_ints(list, &test, all) {
                Some(sorted) => ArrayOperand::SortedInts(sorted),
                None => ArrayOperand::List(self.compile_list(list, depth, scope)?),
            },
            Expr::Const(Value::Bytes(bytes), typ) => {
                // A constant array is taken apart once.
                let element = element_type(typ.oid)?;
                let mut list = Vec::new();
                array_ops::for_each(Datum::Bytes(bytes), element, |value| {
                    list.push(Expr::Const(value.to_value(), SqlType::plain(element.oid)));
                    Ok(true)
                })?;
                match sorted_ints(&list, &test, all) {
                    Some(sorted) => ArrayOperand::SortedInts(sorted),
                    None => ArrayOperand::List(self.compile_list(&list, depth, scope)?),
                }
            }
            other => {
                let element = element_type(other.typ().oid)?;
                ArrayOperand::Array(self.compile(other, depth, scope)?, element)
            }
        };
        Ok(PhysicalExpr::ScalarArray(Box::new(ScalarArrayNode { test, all, left: left_expr, right })))
    }

    fn compile_subquery(&mut self, subquery: &Subquery, depth: u32, scope: &Scope<'_>) -> Result<SubPlan> {
        let number = self.next_subplan();
        let (planned, correlated) = self.plan_inner(&subquery.query, depth, scope)?;
        let mut cache = (!correlated).then(|| self.new_slot());
        let kind = match &subquery.kind {
            SubqueryKind::Exists => SubPlanKind::Exists,
            SubqueryKind::Scalar => SubPlanKind::Scalar,
            SubqueryKind::Array => {
                let column = subquery.query.columns.first().map_or(subquery.typ, |c| c.typ);
                let nested = type_of(column)?.is_array();
                SubPlanKind::Array(element_type(subquery.typ.oid)?, nested)
            }
            SubqueryKind::Quantified { all, test, hashable } => {
                let hashed = match hashable {
                    Some(left) if !correlated && !*all => self.hashed(left, subquery, depth, scope)?,
                    _ => None,
                };
                match hashed {
                    Some(kind) => kind,
                    None => {
                        let mut output = Layout::new();
                        for i in 0..subquery.query.columns.len() {
                            output.push(SlotKey::Column(depth, SUBQUERY_ENTRY, i as u16));
                        }
                        let inner = Scope::new(&output, Some(scope));
                        let test = self.compile_framed(test, depth, &inner)?;
                        // The rows may be kept, the answer depends on the current row.
                        let plan = match cache.take() {
                            Some(slot) => {
                                self.materialize_framed(planned, subquery.query.columns.len(), slot)
                            }
                            None => planned,
                        };
                        return Ok(SubPlan {
                            plan,
                            kind: SubPlanKind::Quantified { all: *all, test },
                            cache: None,
                            number,
                        });
                    }
                }
            }
        };
        Ok(SubPlan { plan: planned, kind, cache, number })
    }

    fn hashed(
        &mut self,
        left: &[Expr],
        subquery: &Subquery,
        depth: u32,
        scope: &Scope<'_>,
    ) -> Result<Option<SubPlanKind>> {
        if left.len() != subquery.query.columns.len() {
            return Ok(None);
        }
        let mut classes = Vec::with_capacity(left.len());
        for (l, r) in left.iter().zip(&subquery.query.columns) {
            match HashClass::common(type_of(l.typ())?, type_of(r.typ)?) {
                Some(class) => classes.push(class),
                None => return Ok(None),
            }
        }
        let left = self.compile_list(left, depth, scope)?;
        Ok(Some(SubPlanKind::Hashed { left, classes: classes.into() }))
    }
}

/// Compiles an expression over entry 0 = a table whose columns lie in the first slots, by place: checks, generated columns, index keys.
/// It holds no subquery.
pub fn compile_table_expr(e: &Expr) -> Result<PhysicalExpr> {
    let mut layout = Layout::new();
    let mut highest = 0;
    super::walk::expr(e, 0, &mut |seen, level| {
        if let super::walk::Seen::Expr(Expr::Column(c)) = seen
            && c.level == level
        {
            highest = highest.max(usize::from(c.column) + 1);
        }
    });
    for column in 0..highest {
        layout.push(SlotKey::Column(0, 0, column as u16));
    }
    if super::walk::has_subquery(e) {
        return Err(SqlError::unsupported("a subquery in a table's expression"));
    }
    simple(e, &Scope::new(&layout, None))
}

/// Compiles an expression without subqueries.
fn simple(e: &Expr, scope: &Scope<'_>) -> Result<PhysicalExpr> {
    Planner::for_expressions().compile(e, 0, scope)
}

/// The whole condition of a statement, WHERE and inner joins, over a scope.
pub fn compile_conditions(
    planner: &mut Planner<'_>,
    filter: Option<&Expr>,
    items: &[crate::bound::FromItem],
    depth: u32,
    scope: &Scope<'_>,
) -> Result<Option<PhysicalExpr>> {
    let mut conditions = Vec::new();
    conditions.extend(filter);
    items.iter().for_each(|item| super::rewrite::inner_conditions(item, &mut conditions));
    let list = conditions.into_iter().map(|e| planner.compile(e, depth, scope));
    let mut list = list.collect::<Result<Vec<_>>>()?;
    Ok(match list.len() {
        0 => None,
        1 => list.pop(),
        _ => Some(PhysicalExpr::And(list.into())),
    })
}

fn is_composite(typ: SqlType) -> bool {
    typ.oid == oid::RECORD
}

/// The types of a call.
pub fn call_types(call: &Call) -> CallTypes {
    CallTypes { args: call.args.iter().map(Expr::typ).collect(), result: call.typ }
}

/// The operator of a call as a test of two values.
pub fn pair_test(call: &Call) -> Result<PairTest> {
    if let Some((op, kind)) = comparison(&call.proc.src) {
        return Ok(PairTest::Compare(op, kind));
    }
    let Implementation::Scalar(function) = call.implementation else {
        return Err(SqlError::internal(format!("function {} used as an operator", call.proc.name)));
    };
    Ok(PairTest::Call { function, strict: call.proc.strict, types: call_types(call) })
}

/// The scalar function of a call.
pub fn scalar(call: &Call) -> Option<ScalarFn> {
    match call.implementation {
        Implementation::Scalar(f) => Some(f),
        _ => None,
    }
}

fn compare_node(op: CompareOp, kind: CompareKind, left: PhysicalExpr, right: PhysicalExpr) -> PhysicalExpr {
    match (kind, left, right) {
        (CompareKind::Int, PhysicalExpr::Slot(slot), PhysicalExpr::Const(Value::Int(v))) => {
            PhysicalExpr::SlotIntConst(op, slot, v)
        }
        (CompareKind::Int, PhysicalExpr::Const(Value::Int(v)), PhysicalExpr::Slot(slot)) => {
            PhysicalExpr::SlotIntConst(op.commuted(), slot, v)
        }
        (kind, left, right) => PhysicalExpr::Compare(op, kind, Box::new((left, right))),
    }
}

fn sorted_ints(list: &[Expr], test: &PairTest, all: bool) -> Option<Box<[i64]>> {
    if all || !matches!(test, PairTest::Compare(CompareOp::Eq, CompareKind::Int)) {
        return None;
    }
    let ints = list.iter().map(|e| match e {
        Expr::Const(Value::Int(v), _) => Some(*v),
        _ => None,
    });
    let mut ints = ints.collect::<Option<Vec<i64>>>()?;
    ints.sort_unstable();
    Some(ints.into())
}

/// Comparison functions that compare plain values, by `prosrc`.
pub fn comparison(src: &str) -> Option<(CompareOp, CompareKind)> {
    let at = src.len().checked_sub(2)?;
    let (family, op) = (src.get(..at)?, src.get(at..)?);
    let op = match op {
        "eq" => CompareOp::Eq,
        "ne" => CompareOp::Ne,
        "lt" => CompareOp::Lt,
        "le" => CompareOp::Le,
        "gt" => CompareOp::Gt,
        "ge" => CompareOp::Ge,
        _ => return None,
    };
    let kind = match family {
        "int2" | "int4" | "int8" | "int24" | "int42" | "int28" | "int82" | "int48" | "int84" | "oid"
        | "date_" | "time_" | "timestamp_" | "cash_" => CompareKind::Int,
        "float4" | "float8" | "float48" | "float84" => CompareKind::Float,
        "text" | "text_" | "name" | "nametext" | "textname" | "bytea" | "uuid_" => CompareKind::Bytes,
        _ => return None,
    };
    Some((op, kind))
}

fn integer_arithmetic(src: &str, result: Oid) -> Option<(ArithmeticOp, IntBounds)> {
    let rest = src.strip_prefix("int")?;
    let rest = rest.trim_start_matches(['2', '4', '8']);
    if src.len() - rest.len() > 5 || src.len() - rest.len() < 4 {
        return None;
    }
    let op = match rest {
        "pl" => ArithmeticOp::Add,
        "mi" => ArithmeticOp::Subtract,
        "mul" => ArithmeticOp::Multiply,
        "div" => ArithmeticOp::Divide,
        "mod" => ArithmeticOp::Modulo,
        _ => return None,
    };
    let (low, high, name) = match result {
        oid::INT2 => (i16::MIN.into(), i16::MAX.into(), "smallint"),
        oid::INT4 => (i32::MIN.into(), i32::MAX.into(), "integer"),
        oid::INT8 => (i64::MIN, i64::MAX, "bigint"),
        _ => return None,
    };
    Some((op, IntBounds { low, high, name }))
}
