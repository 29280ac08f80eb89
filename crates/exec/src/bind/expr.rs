//! Expressions (compare `transformExprRecurse` in `parse_expr.c`).

use super::coerce::select_common_type;
use super::operator::operator_name;
use super::overload::resolve_operator;
use super::scope::{Clause, Scope};
use super::type_info::{self, element_of, format};
use crate::bound::{BooleanTest, CallForm, Expr, SqlType};
use crate::parse::ast::{self, ExprKind, Literal, SqlValue};
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
