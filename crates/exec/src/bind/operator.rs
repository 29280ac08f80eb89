//! Operators and what is built of them: IN, BETWEEN, IS DISTINCT FROM, ANY and ALL over arrays, row comparisons.

use super::overload::resolve_operator;
use super::scope::Scope;
use super::type_info::{self, element_of, format};
use super::visit;
use crate::bound::{Call, CallForm, Expr, RowCompareOp, SqlType};
use crate::parse::ast::{self, ExprKind, Literal};
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState, Value};

fn syntax(message: &str, position: u32) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message).at(position)
}

impl Scope<'_> {
    /// `transformAExprOp`
    pub(super) fn operator(
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
    pub(super) fn scalar_array(
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

    /// IS \[NOT\] DISTINCT FROM.
    pub(super) fn distinct(
        &self,
        left: &ast::Expr,
        right: &ast::Expr,
        not: bool,
        position: u32,
    ) -> Result<Expr> {
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
    pub(super) fn in_list(
        &self,
        left: &ast::Expr,
        list: &[ast::Expr],
        not: bool,
        position: u32,
    ) -> Result<Expr> {
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
    pub(super) fn between(
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

fn combine(mut tests: Vec<Expr>, all: bool) -> Expr {
    match tests.len() {
        1 => tests.remove(0),
        _ if all => Expr::And(tests),
        _ => Expr::Or(tests),
    }
}
