//! Expressions (compare `transformExprRecurse` in `parse_expr.c`).

use super::coerce::select_common_type;
use super::overload::resolve_operator;
use super::scope::{Clause, Scope};
use super::type_info::{self, element_of, format};
use super::visit;
use crate::bound::{BooleanTest, Call, CallForm, Expr, RowCompareOp, SqlType, Subscript};
use crate::parse::ast::{self, ExprKind, Indirection, Literal, SqlValue};
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState, Value};

fn syntax(message: impl Into<String>, position: u32) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message).at(position)
}

impl Scope<'_> {
    /// Binds an expression in the current clause.
    pub(crate) fn expr(&self, expr: &ast::Expr) -> Result<Expr> {
        let position = expr.pos;
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(value, position),
            ExprKind::Column(names, false) => self.column_ref(names, position),
            ExprKind::Column(_, true) => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "row expansion via \"*\" is not supported here")
                    .at(position))
            }
            ExprKind::Param(number) => match self.argument(*number) {
                Some(argument) => Ok(argument),
                None => self.binder.parameters.reference(*number, position),
            },
            ExprKind::Indirection(base, list) => self.indirection(base, list),
            ExprKind::Cast(arg, typ) => self.cast(arg, typ, position),
            ExprKind::Collate(arg, names) => self.collate(arg, names, position),
            ExprKind::Op(names, left, right) => self.operator(names, left.as_deref(), right, position),
            ExprKind::OpAny(names, left, array, all) => {
                let (left_expr, array_expr) = (self.expr(left)?, self.expr(array)?);
                self.scalar_array(
                    operator_name(names)?,
                    left_expr,
                    array_expr,
                    *all,
                    [left.leftmost(), array.leftmost()],
                    position,
                )
            }
            ExprKind::Distinct(left, right, not) => self.distinct(left, right, *not, position),
            ExprKind::NullIf(left, right) => {
                let (l, r) = (self.expr(left)?, self.expr(right)?);
                let call = self.operator_call("=", l, r, [left.leftmost(), right.leftmost()], position)?;
                if call.typ.oid != oid::BOOL {
                    let message = "NULLIF requires = operator to yield boolean";
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
                }
                let value =
                    call.args.first().cloned().unwrap_or(Expr::Const(Value::Null, SqlType::plain(oid::TEXT)));
                Ok(Expr::NullIf(Box::new(call), Box::new(value)))
            }
            ExprKind::In(left, list, not) => self.in_list(left, list, *not, position),
            ExprKind::Between { left, low, high, not, symmetric } => {
                self.between(left, low, high, *not, *symmetric, position)
            }
            ExprKind::And(list) => self.boolean_list(list, "AND").map(Expr::And),
            ExprKind::Or(list) => self.boolean_list(list, "OR").map(Expr::Or),
            ExprKind::Not(arg) => {
                let bound = self.expr(arg)?;
                let bound = self.binder.coercion().to_boolean(bound, "NOT", arg.leftmost())?;
                Ok(Expr::Not(Box::new(bound)))
            }
            ExprKind::NullTest(arg, not) => {
                let bound = Box::new(self.expr(arg)?);
                Ok(if *not { Expr::IsNotNull(bound) } else { Expr::IsNull(bound) })
            }
            ExprKind::BooleanTest(arg, test) => {
                let construct = match test {
                    BooleanTest::IsTrue => "IS TRUE",
                    BooleanTest::IsNotTrue => "IS NOT TRUE",
                    BooleanTest::IsFalse => "IS FALSE",
                    BooleanTest::IsNotFalse => "IS NOT FALSE",
                    BooleanTest::IsUnknown => "IS UNKNOWN",
                    BooleanTest::IsNotUnknown => "IS NOT UNKNOWN",
                };
                let bound = self.expr(arg)?;
                let bound = self.binder.coercion().to_boolean(bound, construct, arg.leftmost())?;
                Ok(Expr::BooleanTest(Box::new(bound), *test))
            }
            ExprKind::Func(call) => self.function(call, position),
            ExprKind::Sublink(kind, query) => self.sublink(kind, query, position),
            ExprKind::Case(operand, branches, otherwise) => self
                .no_sets("CASE", || self.case(operand.as_deref(), branches, otherwise.as_deref(), position)),
            ExprKind::Array(items) => self.array(items, None, position),
            ExprKind::Row(items, _) => {
                let bound: Result<Vec<Expr>> =
                    self.expand_list(items)?.into_iter().map(|e| self.settle_unknown(e)).collect();
                let bound = bound?;
                if bound.len() > 1664 {
                    return Err(SqlError::new(
                        SqlState::TOO_MANY_COLUMNS,
                        "ROW expressions can have at most 1664 entries",
                    )
                    .at(position));
                }
                Ok(Expr::Row(bound, SqlType::plain(oid::RECORD)))
            }
            ExprKind::Coalesce(items) => self.no_sets("COALESCE", || {
                let (list, typ) = self.common(items, "COALESCE")?;
                Ok(Expr::Coalesce(list, typ))
            }),
            ExprKind::MinMax(greatest, items) => {
                let name = if *greatest { "GREATEST" } else { "LEAST" };
                let (list, typ) = self.common(items, name)?;
                // The comparison must exist.
                resolve_operator("<", Some(typ), typ).map_err(|_| {
                    let text = format(typ.oid);
                    SqlError::new(
                        SqlState::UNDEFINED_FUNCTION,
                        format!("could not identify a comparison function for type {text}"),
                    )
                    .at(position)
                })?;
                Ok(Expr::MinMax(*greatest, list, typ))
            }
            ExprKind::SqlValue(value, precision) => self.sql_value(*value, *precision, position),
            ExprKind::Grouping(items) => self.grouping_call(items, position),
            ExprKind::Default => Err(syntax("DEFAULT is not allowed in this context", position)),
            ExprKind::CurrentOf(_) => Err(SqlError::unsupported("WHERE CURRENT OF").at(position)),
        }
    }

    /// Runs `f` where set-returning functions are not allowed.
    pub(super) fn no_sets<T>(&self, construct: &'static str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.no_sets_in.replace(Some(construct));
        let result = f();
        self.no_sets_in.set(before);
        result
    }

    /// `make_const`
    fn literal(&self, value: &Literal, position: u32) -> Result<Expr> {
        Ok(match value {
            Literal::Null => Expr::Const(Value::Null, SqlType::plain(oid::UNKNOWN)),
            Literal::Bool(v) => Expr::Const(Value::Bool(*v), SqlType::plain(oid::BOOL)),
            Literal::Int(v) => Expr::Const(Value::Int(i64::from(*v)), SqlType::plain(oid::INT4)),
            Literal::Number(text) => match text.parse::<i64>() {
                Ok(v) => match i32::try_from(v) {
                    Ok(v) => Expr::Const(Value::Int(i64::from(v)), SqlType::plain(oid::INT4)),
                    Err(_) => Expr::Const(Value::Int(v), SqlType::plain(oid::INT8)),
                },
                Err(_) => {
                    let unknown = Expr::Const(Value::text(text), SqlType::plain(oid::UNKNOWN));
                    self.coerce(
                        unknown,
                        SqlType::plain(oid::NUMERIC),
                        CastContext::Implicit,
                        CallForm::ImplicitCast,
                        position,
                    )?
                }
            },
            Literal::String(text) => {
                if text.contains('\0') {
                    return Err(SqlError::new(
                        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                        "invalid byte sequence for encoding \"UTF8\": 0x00",
                    ));
                }
                Expr::Const(Value::text(text), SqlType::plain(oid::UNKNOWN))
            }
            Literal::Bits(_) | Literal::Hex(_) => return Err(SqlError::unsupported("type bit").at(position)),
        })
    }

    pub(super) fn coerce(
        &self,
        expr: Expr,
        to: SqlType,
        context: CastContext,
        form: CallForm,
        position: u32,
    ) -> Result<Expr> {
        self.binder.coercion().coerce(expr, to, context, form, position)
    }

    /// An expression of type unknown becomes text, where nothing else can tell its type any more.
    pub(super) fn settle_unknown(&self, expr: Expr) -> Result<Expr> {
        self.settle_unknown_at(expr, 0)
    }

    /// Likewise, with the position for errors.
    pub(super) fn settle_unknown_at(&self, expr: Expr, position: u32) -> Result<Expr> {
        if expr.typ().oid != oid::UNKNOWN {
            return Ok(expr);
        }
        self.coerce(expr, SqlType::plain(oid::TEXT), CastContext::Implicit, CallForm::ImplicitCast, position)
    }

    /// Expressions, with `t.*` among them expanded.
    pub(super) fn expand_list(&self, items: &[ast::Expr]) -> Result<Vec<Expr>> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            match &item.kind {
                ExprKind::Column(names, true) => {
                    list.extend(self.star(names, item.pos)?.into_iter().map(|(_, expr)| expr));
                }
                _ => list.push(self.expr(item)?),
            }
        }
        Ok(list)
    }

    /// Expressions with their common type.
    fn common(&self, items: &[ast::Expr], context: &str) -> Result<(Vec<Expr>, SqlType)> {
        let bound: Result<Vec<Expr>> = items.iter().map(|e| self.expr(e)).collect();
        self.to_common(bound?, items, context)
    }

    fn to_common(
        &self,
        bound: Vec<Expr>,
        items: &[ast::Expr],
        context: &str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        let types: Vec<SqlType> = bound.iter().map(Expr::typ).collect();
        let positions: Vec<u32> = items.iter().map(ast::Expr::leftmost).collect();
        let typ = select_common_type(&types, &positions, context)?;
        let mut list = Vec::with_capacity(bound.len());
        for (expr, position) in bound.into_iter().zip(positions) {
            list.push(self.binder.coercion().to_common_type(expr, typ, context, position)?);
        }
        Ok((list, typ))
    }

    fn boolean_list(&self, items: &[ast::Expr], construct: &str) -> Result<Vec<Expr>> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let bound = self.expr(item)?;
            let bound = self.binder.coercion().to_boolean(bound, construct, item.leftmost())?;
            // Flattened, as the bound tree promises.
            match (bound, construct) {
                (Expr::And(inner), "AND") | (Expr::Or(inner), "OR") => list.extend(inner),
                (other, _) => list.push(other),
            }
        }
        Ok(list)
    }

    /// `transformTypeCast`
    fn cast(&self, arg: &ast::Expr, typ: &ast::TypeName, position: u32) -> Result<Expr> {
        let target = self.binder.type_name(typ)?;
        // ARRAY[...]::t[] gives the element type to the constructor.
        if let ExprKind::Array(items) = &arg.kind
            && element_of(target.oid).is_valid()
        {
            let array = self.array(items, Some(target.oid), arg.pos)?;
            return self.coerce(array, target, CastContext::Explicit, CallForm::ExplicitCast, position);
        }
        let bound = self.expr(arg)?;
        // A cast to the type it has already is nothing, except for its modifier.
        let from = bound.typ();
        let at = if from.oid == oid::UNKNOWN { arg.leftmost() } else { 0 };
        self.coerce(bound, target, CastContext::Explicit, CallForm::ExplicitCast, at)
            .map_err(|e| e.at(position))
    }

    fn collate(&self, arg: &ast::Expr, names: &[String], position: u32) -> Result<Expr> {
        let bound = self.expr(arg)?;
        let typ = bound.typ();
        let collatable = typ.oid == oid::UNKNOWN
            || catalog::types::by_oid(typ.oid).is_some_and(|t| t.collatable)
            || catalog::types::by_oid(element_of(typ.oid)).is_some_and(|t| t.collatable);
        if !collatable {
            let text = format(typ.oid);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("collations are not supported by type {text}"),
            )
            .at(position));
        }
        check_collation(names, position)?;
        // All collations here order by bytes, so the clause changes nothing but the type of a literal.
        self.settle_unknown(bound)
    }

    /// `transformAExprOp`
    fn operator(
        &self,
        names: &[String],
        left: Option<&ast::Expr>,
        right: &ast::Expr,
        position: u32,
    ) -> Result<Expr> {
        let name = operator_name(names)?;
        let Some(left) = left else {
            let arg = self.expr(right)?;
            let resolved = resolve_operator(name, None, arg.typ()).map_err(|e| e.at(position))?;
            return self.binder.coercion().operator_call(&resolved, vec![arg], &[right.leftmost()], position);
        };
        if let (ExprKind::Row(l, _), ExprKind::Row(r, _)) = (&left.kind, &right.kind) {
            return self.row_comparison(name, l, r, position);
        }
        if let (ExprKind::Row(l, _), ExprKind::Sublink(ast::Sublink::Scalar, query)) =
            (&left.kind, &right.kind)
        {
            return self.row_sublink(name, l, query, position);
        }
        let (l, r) = (self.expr(left)?, self.expr(right)?);
        self.binary(name, l, r, [left.leftmost(), right.leftmost()], position)
    }

    /// A binary operator on bound operands.
    pub(super) fn binary(
        &self,
        name: &str,
        left: Expr,
        right: Expr,
        positions: [u32; 2],
        position: u32,
    ) -> Result<Expr> {
        let resolved = resolve_operator(name, Some(left.typ()), right.typ()).map_err(|e| e.at(position))?;
        self.binder.coercion().operator_call(&resolved, vec![left, right], &positions, position)
    }

    /// Likewise, as a call.
    pub(super) fn operator_call(
        &self,
        name: &str,
        left: Expr,
        right: Expr,
        positions: [u32; 2],
        position: u32,
    ) -> Result<Call> {
        let resolved = resolve_operator(name, Some(left.typ()), right.typ()).map_err(|e| e.at(position))?;
        self.binder.coercion().operator(&resolved, vec![left, right], &positions, position)
    }

    /// `make_scalar_array_op`
    fn scalar_array(
        &self,
        name: &str,
        left: Expr,
        array: Expr,
        all: bool,
        positions: [u32; 2],
        position: u32,
    ) -> Result<Expr> {
        let array_type = array.typ();
        let element = if array_type.oid == oid::UNKNOWN { oid::UNKNOWN } else { element_of(array_type.oid) };
        let wrong = |message: &str| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(position));
        if !element.is_valid() {
            return wrong("op ANY/ALL (array) requires array on right side");
        }
        let resolved =
            resolve_operator(name, Some(left.typ()), SqlType::plain(element)).map_err(|e| e.at(position))?;
        if resolved.result != oid::BOOL {
            return wrong("op ANY/ALL (array) requires operator to yield boolean");
        }
        let right_type = resolved.arg_types.get(1).copied().unwrap_or(oid::TEXT);
        let right_array = type_info::array_of(right_type);
        if !right_array.is_valid() {
            let text = format(right_type);
            let message = format!("could not find array type for data type {text}");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(position));
        }
        let array = self.coerce(
            array,
            SqlType::plain(right_array),
            CastContext::Implicit,
            CallForm::ImplicitCast,
            positions[1],
        )?;
        let left_type = resolved.arg_types.first().copied().unwrap_or(oid::TEXT);
        let left = self.coerce(
            left,
            SqlType::plain(left_type),
            CastContext::Implicit,
            CallForm::ImplicitCast,
            positions[0],
        )?;
        let call = Call {
            proc: resolved.proc,
            implementation: crate::functions::implementation(resolved.proc).map_err(|e| e.at(position))?,
            args: vec![left, array],
            typ: SqlType::plain(oid::BOOL),
            form: CallForm::Operator(resolved.operator.oid),
            position,
        };
        Ok(Expr::ScalarArray(Box::new(call), all))
    }

    /// IS [NOT] DISTINCT FROM.
    fn distinct(&self, left: &ast::Expr, right: &ast::Expr, not: bool, position: u32) -> Result<Expr> {
        let null = |e: &ast::Expr| matches!(e.kind, ExprKind::Literal(Literal::Null));
        // Against a NULL constant it is a null test.
        if null(right) || null(left) {
            let arg = Box::new(self.expr(if null(right) { left } else { right })?);
            return Ok(if not { Expr::IsNull(arg) } else { Expr::IsNotNull(arg) });
        }
        let distinct = if let (ExprKind::Row(l, _), ExprKind::Row(r, _)) = (&left.kind, &right.kind) {
            let (l, r) = (self.expand_list(l)?, self.expand_list(r)?);
            if l.len() != r.len() {
                return Err(syntax("unequal number of entries in row expressions", position));
            }
            let mut parts = Vec::with_capacity(l.len());
            for (a, b) in l.into_iter().zip(r) {
                parts.push(Expr::Distinct(Box::new(self.operator_call("=", a, b, [0, 0], position)?)));
            }
            match parts.len() {
                0 => Expr::Const(Value::Bool(false), SqlType::plain(oid::BOOL)),
                1 => parts.remove(0),
                _ => Expr::Or(parts),
            }
        } else {
            let (l, r) = (self.expr(left)?, self.expr(right)?);
            let call = self.operator_call("=", l, r, [left.leftmost(), right.leftmost()], position)?;
            if call.typ.oid != oid::BOOL {
                let message = "IS DISTINCT FROM requires = operator to yield boolean";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
            }
            Expr::Distinct(Box::new(call))
        };
        Ok(if not { Expr::Not(Box::new(distinct)) } else { distinct })
    }

    /// `transformAExprIn`
    fn in_list(&self, left: &ast::Expr, list: &[ast::Expr], not: bool, position: u32) -> Result<Expr> {
        let op = if not { "<>" } else { "=" };
        if let ExprKind::Row(l, _) = &left.kind {
            let mut tests = Vec::with_capacity(list.len());
            for item in list {
                let test = match &item.kind {
                    ExprKind::Row(r, _) => self.row_comparison(op, l, r, position)?,
                    _ => {
                        let (a, b) = (self.expr(left)?, self.expr(item)?);
                        self.binary(op, a, b, [left.leftmost(), item.leftmost()], position)?
                    }
                };
                tests.push(self.binder.coercion().to_boolean(test, "IN", position)?);
            }
            return Ok(combine(tests, not));
        }
        let left_expr = self.expr(left)?;
        let bound: Result<Vec<Expr>> = list.iter().map(|e| self.expr(e)).collect();
        let bound = bound?;
        let mut plain = Vec::new();
        let mut others = Vec::new();
        for (expr, item) in bound.into_iter().zip(list) {
            if visit::has_own_columns(&expr) { others.push((expr, item)) } else { plain.push((expr, item)) }
        }
        let mut tests = Vec::new();
        if plain.len() > 1 {
            let mut types = vec![left_expr.typ()];
            types.extend(plain.iter().map(|(e, _)| e.typ()));
            let scalar = super::coerce::common_type_of(&types.iter().map(|t| t.oid).collect::<Vec<_>>());
            // All unknown means text.
            let scalar = scalar.map(|t| if t == oid::UNKNOWN { oid::TEXT } else { t });
            let array = scalar
                .filter(|t| *t != oid::RECORD)
                .map(|t| (t, type_info::array_of(t)))
                .filter(|(_, a)| a.is_valid());
            if let Some((scalar, array)) = array {
                let mut items = Vec::with_capacity(plain.len());
                for (expr, item) in plain.drain(..) {
                    let to = SqlType::plain(scalar);
                    items.push(self.binder.coercion().to_common_type(expr, to, "IN", item.leftmost())?);
                }
                let array = Expr::Array(items, SqlType::plain(array), false);
                let at = [left.leftmost(), list.first().map_or(0, ast::Expr::leftmost)];
                tests.push(self.scalar_array(op, left_expr.clone(), array, not, at, position)?);
            }
        }
        for (expr, item) in plain.into_iter().chain(others) {
            let test =
                self.binary(op, left_expr.clone(), expr, [left.leftmost(), item.leftmost()], position)?;
            tests.push(self.binder.coercion().to_boolean(test, "IN", position)?);
        }
        Ok(combine(tests, not))
    }

    /// `transformAExprBetween`
    fn between(
        &self,
        left: &ast::Expr,
        low: &ast::Expr,
        high: &ast::Expr,
        not: bool,
        symmetric: bool,
        position: u32,
    ) -> Result<Expr> {
        let compare = |op: &str, bound: &ast::Expr| {
            let test = self.operator(&[op.to_owned()], Some(left), bound, position)?;
            self.binder.coercion().to_boolean(test, if not { "OR" } else { "AND" }, position)
        };
        let one = |low: &ast::Expr, high: &ast::Expr| -> Result<Expr> {
            Ok(if not {
                Expr::Or(vec![compare("<", low)?, compare(">", high)?])
            } else {
                Expr::And(vec![compare(">=", low)?, compare("<=", high)?])
            })
        };
        if !symmetric {
            return one(low, high);
        }
        let (forward, backward) = (one(low, high)?, one(high, low)?);
        Ok(if not { Expr::And(vec![forward, backward]) } else { Expr::Or(vec![forward, backward]) })
    }

    /// `make_row_comparison_op`
    fn row_comparison(
        &self,
        op: &str,
        left: &[ast::Expr],
        right: &[ast::Expr],
        position: u32,
    ) -> Result<Expr> {
        let (l, r) = (self.expand_list(left)?, self.expand_list(right)?);
        self.compare_rows(op, l, r, position)
    }

    /// Compares two lists of expressions by an operator.
    pub(super) fn compare_rows(
        &self,
        op: &str,
        left: Vec<Expr>,
        right: Vec<Expr>,
        position: u32,
    ) -> Result<Expr> {
        if left.len() != right.len() {
            return Err(syntax("unequal number of entries in row expressions", position));
        }
        if left.is_empty() {
            let message = "cannot compare rows of zero length";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
        }
        let mut calls = Vec::with_capacity(left.len());
        for (l, r) in left.into_iter().zip(right) {
            let call = self.operator_call(op, l, r, [0, 0], position)?;
            if call.typ.oid != oid::BOOL {
                let text = format(call.typ.oid);
                let message = format!("row comparison operator must yield type boolean, not type {text}");
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
            }
            calls.push(call);
        }
        if calls.len() == 1 {
            return Ok(self.binder.coercion().fold(calls.remove(0)));
        }
        let row_op = match op {
            "=" => {
                return Ok(Expr::And(calls.into_iter().map(|c| Expr::Call(Box::new(c))).collect()));
            }
            "<>" => {
                return Ok(Expr::Or(calls.into_iter().map(|c| Expr::Call(Box::new(c))).collect()));
            }
            "<" => RowCompareOp::Lt,
            "<=" => RowCompareOp::Le,
            ">" => RowCompareOp::Gt,
            ">=" => RowCompareOp::Ge,
            _ => {
                let message = format!("could not determine interpretation of row comparison operator {op}");
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                    .hint("Row comparison operators must be associated with btree operator families.")
                    .at(position));
            }
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for mut call in calls {
            right.extend(call.args.pop());
            left.extend(call.args.pop());
        }
        Ok(Expr::RowCompare { op: row_op, left, right })
    }

    /// `transformCaseExpr`
    fn case(
        &self,
        operand: Option<&ast::Expr>,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
        position: u32,
    ) -> Result<Expr> {
        let operand = match operand {
            Some(expr) => Some(Box::new(self.settle_unknown(self.expr(expr)?)?)),
            None => None,
        };
        let mut conditions = Vec::with_capacity(branches.len());
        for (condition, _) in branches {
            let bound = self.expr(condition)?;
            let at = condition.leftmost();
            let bound = match &operand {
                Some(operand) => self.binary("=", Expr::CaseOperand(operand.typ()), bound, [0, at], at)?,
                None => bound,
            };
            conditions.push(self.binder.coercion().to_boolean(bound, "CASE/WHEN", at)?);
        }
        let values: Result<Vec<Expr>> = branches.iter().map(|(_, value)| self.expr(value)).collect();
        let mut values = values?;
        let mut positions: Vec<u32> = branches.iter().map(|(_, value)| value.leftmost()).collect();
        // The ELSE comes first when the common type is chosen.
        let (otherwise, at) = match otherwise {
            Some(expr) => (self.expr(expr)?, expr.leftmost()),
            None => (Expr::Const(Value::Null, SqlType::plain(oid::UNKNOWN)), 0),
        };
        let has_else = at != 0;
        values.insert(0, otherwise);
        positions.insert(0, at);
        let types: Vec<SqlType> = values.iter().map(Expr::typ).collect();
        let typ = select_common_type(&types, &positions, "CASE")?;
        let mut coerced = Vec::with_capacity(values.len());
        for (i, (value, at)) in values.into_iter().zip(positions).enumerate() {
            let context = if i == 0 { "CASE/ELSE" } else { "CASE/WHEN" };
            coerced.push(self.binder.coercion().to_common_type(value, typ, context, at)?);
        }
        let otherwise = coerced.remove(0);
        let _ = position;
        Ok(Expr::Case {
            operand,
            branches: conditions.into_iter().zip(coerced).collect(),
            otherwise: has_else.then(|| Box::new(otherwise)),
            typ,
        })
    }

    /// `transformArrayExpr`; `wanted` is the array type a cast asks for.
    fn array(&self, items: &[ast::Expr], wanted: Option<Oid>, position: u32) -> Result<Expr> {
        let mut nested = false;
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            match &item.kind {
                ExprKind::Array(inner) => {
                    nested = true;
                    bound.push(self.array(inner, wanted, item.pos)?);
                }
                _ => {
                    let expr = self.expr(item)?;
                    nested |= element_of(expr.typ().oid).is_valid();
                    bound.push(expr);
                }
            }
        }
        let positions: Vec<u32> = items.iter().map(ast::Expr::leftmost).collect();
        let (array, element, hard) = match wanted {
            Some(array) => (array, if nested { array } else { element_of(array) }, true),
            None => {
                if items.is_empty() {
                    return Err(SqlError::new(
                        SqlState::INDETERMINATE_DATATYPE,
                        "cannot determine type of empty array",
                    )
                    .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
                    .at(position));
                }
                let types: Vec<SqlType> = bound.iter().map(Expr::typ).collect();
                let common = select_common_type(&types, &positions, "ARRAY")?;
                let array = if nested && element_of(common.oid).is_valid() {
                    common.oid
                } else {
                    type_info::array_of(common.oid)
                };
                if !array.is_valid() {
                    let text = format(common.oid);
                    let message = format!("could not find array type for data type {text}");
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(position));
                }
                (array, common.oid, false)
            }
        };
        let mut list = Vec::with_capacity(bound.len());
        for (expr, at) in bound.into_iter().zip(positions) {
            let to = SqlType::plain(element);
            list.push(if hard {
                self.coerce(expr, to, CastContext::Explicit, CallForm::ExplicitCast, at)?
            } else {
                self.binder.coercion().to_common_type(expr, to, "ARRAY", at)?
            });
        }
        Ok(Expr::Array(list, SqlType::plain(array), nested))
    }

    /// `transformIndirection`
    fn indirection(&self, base: &ast::Expr, list: &[Indirection]) -> Result<Expr> {
        // `(t).a` reads the column; no row is made for it.
        if let (ExprKind::Column(names, false), Some(Indirection::Field(field, at))) =
            (&base.kind, list.first())
        {
            let (schema, table) = match names.as_slice() {
                [table] => (None, Some(table)),
                [schema, table] => (Some(schema.as_str()), Some(table)),
                _ => (None, None),
            };
            let is_column = names.len() == 1 && self.column_ref_exists(names);
            if let Some(table) = table.filter(|_| !is_column)
                && let Some(found) = self.find_relation(schema, table, base.pos)?
            {
                let expr = match self.column_of(&found, field, *at)? {
                    Some(expr) => expr,
                    None => {
                        let message = format!("column \"{field}\" not found in data type {table}");
                        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(*at));
                    }
                };
                return self.apply_indirection(expr, list.get(1..).unwrap_or_default(), base.pos);
            }
        }
        let expr = self.expr(base)?;
        self.apply_indirection(expr, list, base.leftmost())
    }

    fn column_ref_exists(&self, names: &[String]) -> bool {
        let mut scope = Some(self);
        while let Some(at) = scope {
            let namespace = at.namespace.borrow();
            if namespace
                .iter()
                .any(|n| n.cols_visible && n.columns.iter().any(|c| names.first() == Some(&c.name)))
            {
                return true;
            }
            scope = at.parent;
        }
        false
    }

    fn apply_indirection(&self, mut expr: Expr, list: &[Indirection], position: u32) -> Result<Expr> {
        let mut i = 0;
        while let Some(step) = list.get(i) {
            match step {
                Indirection::Star => {
                    return Err(syntax("row expansion via \"*\" is not supported here", position));
                }
                Indirection::Field(name, at) => {
                    expr = self.field(expr, name, *at)?;
                    i += 1;
                }
                Indirection::Index(_) | Indirection::Slice(..) => {
                    // All subscripts in a row make one subscript operation.
                    let subscripts: Vec<&Indirection> = list
                        .iter()
                        .skip(i)
                        .take_while(|s| matches!(s, Indirection::Index(_) | Indirection::Slice(..)))
                        .collect();
                    i += subscripts.len();
                    expr = self.subscript(expr, &subscripts, position)?;
                }
            }
        }
        Ok(expr)
    }

    fn subscript(&self, base: Expr, list: &[&Indirection], position: u32) -> Result<Expr> {
        let typ = base.typ();
        let element = match typ.oid {
            oid::INT2VECTOR => oid::INT2,
            oid::OIDVECTOR => oid::OID,
            other => element_of(other),
        };
        if !element.is_valid() {
            let text = format(typ.oid);
            let message = format!("cannot subscript type {text} because it does not support subscripting");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
        }
        let integer = |expr: &ast::Expr| {
            let bound = self.expr(expr)?;
            let coerced = self.binder.coercion().try_coerce(
                bound,
                SqlType::plain(oid::INT4),
                CastContext::Assignment,
                CallForm::ImplicitCast,
                expr.leftmost(),
            )?;
            coerced.ok_or_else(|| {
                SqlError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer")
                    .at(expr.leftmost())
            })
        };
        let optional = |expr: &Option<ast::Expr>| expr.as_ref().map(integer).transpose();
        let slice = list.iter().any(|s| matches!(s, Indirection::Slice(..)));
        let mut subscripts = Vec::with_capacity(list.len());
        for step in list {
            match step {
                Indirection::Index(expr) if slice => {
                    // `a[2][1:3]` means `a[1:2][1:3]`.
                    let one = Expr::Const(Value::Int(1), SqlType::plain(oid::INT4));
                    subscripts.push(Subscript::Slice(Some(one), Some(integer(expr)?)));
                }
                Indirection::Index(expr) => subscripts.push(Subscript::Index(integer(expr)?)),
                Indirection::Slice(low, high) => {
                    subscripts.push(Subscript::Slice(optional(low)?, optional(high)?))
                }
                Indirection::Field(..) | Indirection::Star => {}
            }
        }
        let result = if slice { typ } else { SqlType { oid: element, typmod: typ.typmod } };
        Ok(Expr::Subscript(Box::new(base), subscripts, result))
    }

    /// `(row).field`
    fn field(&self, expr: Expr, name: &str, position: u32) -> Result<Expr> {
        let typ = expr.typ();
        let named = self.row_columns(typ.oid);
        if let Some(columns) = named
            && let Some((place, (_, column))) = columns.iter().enumerate().find(|(_, (n, _))| n == name)
        {
            return Ok(match expr {
                Expr::Row(mut items, _) if items.len() == columns.len() => items.swap_remove(place),
                other => Expr::Field(Box::new(other), place, *column),
            });
        }
        if let Expr::Call(call) = &expr
            && let Some(place) = call.proc.out_columns.iter().position(|(n, _)| n == name)
            && let Some((_, column)) = call.proc.out_columns.get(place)
        {
            let column = SqlType::plain(*column);
            return Ok(Expr::Field(Box::new(expr), place, column));
        }
        if type_info::is_complex(typ.oid) || typ.oid == oid::RECORD {
            let message = if typ.oid == oid::RECORD {
                format!("could not identify column \"{name}\" in record data type")
            } else {
                format!("column \"{name}\" not found in data type {}", format(typ.oid))
            };
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(position));
        }
        let text = format(typ.oid);
        let message =
            format!("column notation .{name} applied to type {text}, which is not a composite type");
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(position))
    }

    /// Columns of a row type of a user's relation.
    pub(super) fn row_columns(&self, typ: Oid) -> Option<Vec<(String, SqlType)>> {
        if let Some(system) = super::relation::SYSTEM.by_row_type(typ) {
            let column = |(name, typ): &(String, SqlType)| (name.clone(), super::relation::base_type(*typ));
            return Some(system.columns.iter().map(column).collect());
        }
        let objects = &self.binder.objects;
        let relation = objects.relations.get(objects.row_types.get(&typ)?)?;
        let live = relation.columns().iter().filter(|c| !c.dropped);
        Some(live.map(|c| (c.name.clone(), SqlType { oid: c.typ, typmod: c.typmod })).collect())
    }

    /// CURRENT_DATE and its kin: functions and casts that mean the same.
    fn sql_value(&self, value: SqlValue, precision: i32, position: u32) -> Result<Expr> {
        let call = |name: &str| {
            let proc = catalog::pg::LOOKUP.procs_named(name).find(|p| p.args.is_empty());
            let proc = proc.ok_or_else(|| SqlError::internal(format!("{name} is not in pg_proc")))?;
            self.binder.coercion().call(
                proc,
                Vec::new(),
                SqlType::plain(proc.result),
                CallForm::Special,
                position,
            )
        };
        if precision > 6 {
            let word = match value {
                SqlValue::CurrentTime => "TIME",
                SqlValue::LocalTime => "TIME",
                _ => "TIMESTAMP",
            };
            let zone = if matches!(value, SqlValue::CurrentTime | SqlValue::CurrentTimestamp) {
                " WITH TIME ZONE"
            } else {
                ""
            };
            self.notice_precision(word, precision, zone);
        }
        let precision = precision.min(6);
        let typed = |base: Expr, typ: Oid| {
            let to = SqlType { oid: typ, typmod: precision };
            self.coerce(base, to, CastContext::Explicit, CallForm::Special, position)
        };
        match value {
            SqlValue::CurrentTimestamp => typed(call("now")?, oid::TIMESTAMPTZ),
            SqlValue::LocalTimestamp => typed(call("now")?, oid::TIMESTAMP),
            SqlValue::CurrentDate => typed(call("now")?, oid::DATE),
            SqlValue::LocalTime => typed(call("now")?, oid::TIME),
            SqlValue::CurrentTime => typed(call("now")?, oid::TIMETZ),
            SqlValue::CurrentRole | SqlValue::CurrentUser | SqlValue::User => call("current_user"),
            SqlValue::SessionUser => call("session_user"),
            SqlValue::CurrentCatalog => call("current_database"),
            SqlValue::CurrentSchema => call("current_schema"),
        }
    }

    fn notice_precision(&self, word: &str, precision: i32, zone: &str) {
        let message = format!("{word}({precision}){zone} precision reduced to maximum allowed, 6");
        self.binder.cx.env.notice(SqlError::with_severity(
            catalog::Severity::Warning,
            SqlState::INVALID_PARAMETER_VALUE,
            message,
        ));
    }

    /// Whether subqueries may stand in the current clause; else 0A000 with PostgreSQL's words.
    pub(super) fn check_subquery(&self, position: u32) -> Result<()> {
        let place = match self.clause.get() {
            Clause::Check => "check constraint",
            Clause::Default => "DEFAULT expression",
            Clause::IndexExpression => "index expression",
            Clause::IndexPredicate => "index predicate",
            Clause::Generated => "column generation expression",
            Clause::Parameter => "EXECUTE parameter",
            Clause::AlterUsing => "transform expression",
            _ => return Ok(()),
        };
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot use subquery in {place}"))
            .at(position))
    }
}

/// The operator's name; qualified ones must be of pg_catalog.
pub(super) fn operator_name(names: &[String]) -> Result<&str> {
    match names {
        [name] => Ok(name),
        [schema, name] if schema == "pg_catalog" => Ok(name),
        other => Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("operator does not exist: {}", other.join(".")),
        )),
    }
}

/// 42704 for a collation other than those that order by bytes.
pub(super) fn check_collation(names: &[String], position: u32) -> Result<()> {
    let name = names.last().map_or("", String::as_str);
    let schema_ok = names.len() < 2 || names.first().map(String::as_str) == Some("pg_catalog");
    if schema_ok && matches!(name, "C" | "POSIX" | "default") {
        return Ok(());
    }
    let text = names.join(".");
    let message = format!("collation \"{text}\" for encoding \"UTF8\" does not exist");
    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(position))
}

fn combine(mut tests: Vec<Expr>, all: bool) -> Expr {
    match tests.len() {
        1 => tests.remove(0),
        _ if all => Expr::And(tests),
        _ => Expr::Or(tests),
    }
}
