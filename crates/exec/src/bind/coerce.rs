//! Coercion: whether and how a value of one type becomes one of another, and the expression that does it. Compare `parse_coerce.c`
//! (`find_coercion_pathway`, `can_coerce_type`, `coerce_type`, `coerce_to_target_type`, `select_common_type`).

use super::overload::{Argument, ResolvedFunction, ResolvedOperator, default_literals};
use super::type_info::{self, array_of, element_of, format, info};
use crate::bound::{Call, CallForm, Expr, SqlType};
use crate::environment::Environment;
use crate::functions::{self, CallTypes, EvalContext, Implementation};
use catalog::pg::{CastContext, CastMethod, LOOKUP, Proc, Volatility};
use catalog::types::{self, oid};
use catalog::{Arena, Oid, Result, SqlError, SqlState, Style, Value};

/// How to get from one type to another (`CoercionPathType`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pathway {
    /// By a cast function.
    Function(Oid),
    /// The bytes stay.
    Relabel,
    /// Through text.
    InOut,
    /// Element by element.
    Array,
}

/// Where parameters of unknown type get theirs; the binder implements it (compare `variable_coerce_param_hook`).
pub trait ParameterTypes {
    /// Gives parameter `index` (from 0) its type at its first coercion. A second, different type is
    /// [`inconsistent_parameter`].
    fn set_type(&self, index: usize, typ: Oid, position: u32) -> Result<()>;
}

/// For expressions without parameters.
pub struct NoParameters;

impl ParameterTypes for NoParameters {
    fn set_type(&self, index: usize, _typ: Oid, position: u32) -> Result<()> {
        let message = format!("there is no parameter ${}", index + 1);
        Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message).at(position))
    }
}

/// 42P08: a parameter is used with two types.
pub fn inconsistent_parameter(index: usize, one: Oid, other: Oid) -> SqlError {
    let message = format!("inconsistent types deduced for parameter ${}", index + 1);
    SqlError::new(SqlState::AMBIGUOUS_PARAMETER, message).detail(format!(
        "{} versus {}",
        format(one),
        format(other)
    ))
}

/// The pathway from `source` to `target`, if the context allows one (`find_coercion_pathway`).
pub fn pathway(source: Oid, target: Oid, context: CastContext) -> Option<Pathway> {
    if source == target {
        return Some(Pathway::Relabel);
    }
    if let Some(cast) = LOOKUP.cast(source, target) {
        if context < cast.context {
            return None;
        }
        return Some(match cast.method {
            CastMethod::Function(function) => Pathway::Function(function),
            CastMethod::InOut => Pathway::InOut,
            CastMethod::Binary => Pathway::Relabel,
        });
    }
    if !matches!(target, oid::OIDVECTOR | oid::INT2VECTOR) {
        let (from, to) = (element_of(source), element_of(target));
        if from.is_valid() && to.is_valid() && pathway(from, to, context).is_some() {
            return Some(Pathway::Array);
        }
    }
    let through_text = (context >= CastContext::Assignment && info(target).category == b'S')
        || (context >= CastContext::Explicit && info(source).category == b'S');
    through_text.then_some(Pathway::InOut)
}

/// Whether a value of type `source` can become one of type `target` (`can_coerce_type` for one argument; of polymorphic targets
/// it says yes, see [`super::polymorphic::fits`]).
pub fn can_coerce(source: Oid, target: Oid, context: CastContext) -> bool {
    source == target
        || target == oid::ANY
        || source == oid::UNKNOWN
        || type_info::is_polymorphic(target)
        || pathway(source, target, context).is_some()
        || (source == oid::RECORD && type_info::is_complex(target))
        || (target == oid::RECORD && type_info::is_complex(source))
        || (target == oid::RECORD_ARRAY && type_info::is_complex(element_of(source)))
}

/// Whether values of the two types have the same bytes (`IsBinaryCoercible`).
pub fn binary_coercible(source: Oid, target: Oid) -> bool {
    if source == target || target == oid::ANY {
        return true;
    }
    if target == oid::ANYARRAY && element_of(source).is_valid() {
        return true;
    }
    matches!(LOOKUP.cast(source, target), Some(c) if c.method == CastMethod::Binary && c.context == CastContext::Implicit)
}

/// The one type for several values: arms of a CASE, UNION, VALUES, ARRAY (`select_common_type`). `context` is PostgreSQL's word
/// (`CASE`, `UNION`, `IN`); `positions` has the values' positions or is empty.
pub fn select_common_type(types: &[SqlType], positions: &[u32], context: &str) -> Result<SqlType> {
    let Some(first) = types.first() else { return Ok(SqlType::plain(oid::TEXT)) };
    if first.oid != oid::UNKNOWN && types.iter().all(|t| t.oid == first.oid) {
        return Ok(SqlType { oid: first.oid, typmod: common_typmod(types) });
    }
    let mut chosen = first.oid;
    for (i, typ) in types.iter().enumerate().skip(1) {
        match prefer(chosen, typ.oid) {
            Some(better) => chosen = better,
            None => {
                let message =
                    format!("{context} types {} and {} cannot be matched", format(chosen), format(typ.oid));
                let position = positions.get(i).copied().unwrap_or(0);
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
            }
        }
    }
    // All unknown: text.
    Ok(SqlType::plain(if chosen == oid::UNKNOWN { oid::TEXT } else { chosen }))
}

/// `select_common_type_from_oids` without an error, with the check that all can be coerced to it.
pub fn common_type_of(list: &[Oid]) -> Option<Oid> {
    let mut chosen = *list.first()?;
    for typ in list {
        chosen = prefer(chosen, *typ)?;
    }
    list.iter().all(|t| can_coerce(*t, chosen, CastContext::Implicit)).then_some(chosen)
}

/// The better of two types for a common type; `None` if they are of different categories.
fn prefer(chosen: Oid, next: Oid) -> Option<Oid> {
    if next == oid::UNKNOWN || next == chosen {
        return Some(chosen);
    }
    if chosen == oid::UNKNOWN {
        return Some(next);
    }
    if info(next).category != info(chosen).category {
        return None;
    }
    let better = !info(chosen).preferred
        && can_coerce(chosen, next, CastContext::Implicit)
        && !can_coerce(next, chosen, CastContext::Implicit);
    Some(if better { next } else { chosen })
}

fn common_typmod(types: &[SqlType]) -> i32 {
    let first = types.first().map_or(-1, |t| t.typmod);
    if types.iter().all(|t| t.typmod == first) { first } else { -1 }
}

/// What coercion needs of the binder.
#[derive(Clone, Copy)]
pub struct Coercion<'a> {
    /// How literals are read.
    pub style: &'a Style,
    /// The session, for `now`, names of relations, and folding.
    pub env: &'a dyn Environment,
    /// Gives parameters their types.
    pub parameters: &'a dyn ParameterTypes,
    /// Whether constants are folded; off where the tree is to be printed.
    pub folding: bool,
}

impl Coercion<'_> {
    /// Coerces an expression to a type and its modifier, or raises `cannot cast type x to y` (`coerce_to_target_type`).
    pub fn coerce(
        &self,
        expr: Expr,
        to: SqlType,
        context: CastContext,
        form: CallForm,
        position: u32,
    ) -> Result<Expr> {
        let from = expr.typ();
        match self.try_coerce(expr, to, context, form, position)? {
            Some(expr) => Ok(expr),
            None => Err(cannot_cast(from.oid, to.oid).at(position)),
        }
    }

    /// Coerces, or gives `None` if the context does not allow it; the caller has its own words then (assignment, common types).
    pub fn try_coerce(
        &self,
        expr: Expr,
        to: SqlType,
        context: CastContext,
        form: CallForm,
        position: u32,
    ) -> Result<Option<Expr>> {
        if !can_coerce(expr.typ().oid, to.oid, context) {
            return Ok(None);
        }
        let Some(expr) = self.typed(expr, to, context, form, position)? else { return Ok(None) };
        Ok(Some(self.fitted(expr, to, context == CastContext::Explicit, form)))
    }

    /// Coerces one of several values to their common type (`coerce_to_common_type`).
    pub fn to_common_type(&self, expr: Expr, to: SqlType, context: &str, position: u32) -> Result<Expr> {
        let from = expr.typ();
        if from.oid == to.oid {
            return Ok(expr);
        }
        match self.try_coerce(
            expr,
            SqlType::plain(to.oid),
            CastContext::Implicit,
            CallForm::ImplicitCast,
            position,
        )? {
            Some(expr) => Ok(expr),
            None => Err(SqlError::new(
                SqlState::CANNOT_COERCE,
                format!("{context} could not convert type {} to {}", format(from.oid), format(to.oid)),
            )
            .at(position)),
        }
    }

    /// Coerces to boolean, or raises `argument of WHERE must be type boolean, not type x` (`coerce_to_boolean`).
    pub fn to_boolean(&self, expr: Expr, construct: &str, position: u32) -> Result<Expr> {
        let from = expr.typ();
        match self.try_coerce(
            expr,
            SqlType::plain(oid::BOOL),
            CastContext::Assignment,
            CallForm::ImplicitCast,
            position,
        )? {
            Some(expr) => Ok(expr),
            None => Err(must_be(construct, "boolean", from.oid).at(position)),
        }
    }

    /// Coerces to a type by assignment rules, or raises `argument of LIMIT must be type bigint, not type x`
    /// (`coerce_to_specific_type`).
    pub fn to_specific(&self, expr: Expr, to: Oid, construct: &str, position: u32) -> Result<Expr> {
        let from = expr.typ();
        let coerced = self.try_coerce(
            expr,
            SqlType::plain(to),
            CastContext::Assignment,
            CallForm::ImplicitCast,
            position,
        )?;
        coerced.ok_or_else(|| must_be(construct, &format(to), from.oid).at(position))
    }

    /// The arguments of a resolved function, coerced, defaults filled in, VARIADIC ones folded (`make_fn_arguments`).
    /// `positions` has the arguments' positions or is empty.
    pub fn arguments(
        &self,
        resolved: &ResolvedFunction,
        args: Vec<Expr>,
        positions: &[u32],
    ) -> Result<Vec<Expr>> {
        let mut given: Vec<Option<Expr>> = args.into_iter().map(Some).collect();
        let defaults = if resolved.arguments.iter().any(|a| matches!(a, Argument::Default(_))) {
            default_literals(resolved.proc)
        } else {
            Vec::new()
        };
        let mut list = Vec::with_capacity(resolved.arguments.len());
        for (argument, typ) in resolved.arguments.iter().zip(&resolved.arg_types) {
            let to = SqlType::plain(*typ);
            let (expr, position) = match argument {
                Argument::Given(i) => {
                    let expr = given.get_mut(*i).and_then(Option::take);
                    (expr.ok_or_else(missing_argument)?, positions.get(*i).copied().unwrap_or(0))
                }
                Argument::Default(i) => {
                    let (literal, cast) = defaults.get(*i).ok_or_else(missing_argument)?;
                    let literal = Expr::Const(Value::text(literal), SqlType::plain(oid::UNKNOWN));
                    let as_cast = cast.as_deref().and_then(types::from_sql_name);
                    let expr = match as_cast {
                        Some(typ) => self.implicit(literal, SqlType::plain(typ.oid), 0)?,
                        None => literal,
                    };
                    (expr, 0)
                }
            };
            list.push(self.implicit(expr, to, position)?);
        }
        if let Some((at, element)) = resolved.variadic {
            let folded: Vec<Expr> = list.drain(at.min(list.len())..).collect();
            let array = array_of(element);
            list.push(Expr::Array(folded, SqlType::plain(array), element_of(element).is_valid()));
        }
        Ok(list)
    }

    /// A call of a resolved scalar function; folded if it is immutable and its arguments are constants.
    pub fn function_call(
        &self,
        resolved: &ResolvedFunction,
        args: Vec<Expr>,
        positions: &[u32],
        form: CallForm,
        position: u32,
    ) -> Result<Expr> {
        let args = self.arguments(resolved, args, positions)?;
        self.call(resolved.proc, args, SqlType::plain(resolved.result), form, position)
    }

    /// A call of a resolved operator: `args` are the operands in order. Folded likewise.
    pub fn operator_call(
        &self,
        resolved: &ResolvedOperator,
        args: Vec<Expr>,
        positions: &[u32],
        position: u32,
    ) -> Result<Expr> {
        self.operator(resolved, args, positions, position).map(|call| self.fold(call))
    }

    /// As [`Self::operator_call`], but as a [`Call`] that is not folded: for IN, DISTINCT, NULLIF.
    pub fn operator(
        &self,
        resolved: &ResolvedOperator,
        args: Vec<Expr>,
        positions: &[u32],
        position: u32,
    ) -> Result<Call> {
        let mut coerced = Vec::with_capacity(args.len());
        for (i, (arg, typ)) in args.into_iter().zip(&resolved.arg_types).enumerate() {
            let position = positions.get(i).copied().unwrap_or(0);
            coerced.push(self.implicit(arg, SqlType::plain(*typ), position)?);
        }
        Ok(Call {
            proc: resolved.proc,
            implementation: functions::implementation(resolved.proc).map_err(|e| e.at(position))?,
            args: coerced,
            typ: SqlType::plain(resolved.result),
            form: CallForm::Operator(resolved.operator.oid),
            position,
        })
    }

    /// A call of a function on arguments that are already of its types; folded if it is immutable and they are constants.
    pub fn call(
        &self,
        proc: &'static Proc,
        args: Vec<Expr>,
        typ: SqlType,
        form: CallForm,
        position: u32,
    ) -> Result<Expr> {
        let implementation = functions::implementation(proc).map_err(|e| e.at(position))?;
        Ok(self.fold(Call { proc, implementation, args, typ, form, position }))
    }

    /// Evaluates an immutable call of constants; a call that raises an error is left to raise it when it runs.
    pub fn fold(&self, call: Call) -> Expr {
        let foldable = self.folding
            && call.proc.volatility == Volatility::Immutable
            && !call.proc.returns_set
            && !call.args.is_empty()
            && call.args.iter().all(|a| matches!(a, Expr::Const(..)));
        let Implementation::Scalar(function) = call.implementation else {
            return Expr::Call(Box::new(call));
        };
        if !foldable {
            return Expr::Call(Box::new(call));
        }
        let arena = Arena::new();
        let cx = EvalContext { arena: &arena, style: self.style, env: self.env };
        let types = CallTypes { args: call.args.iter().map(Expr::typ).collect(), result: call.typ };
        let values: Vec<_> = call
            .args
            .iter()
            .map(|a| match a {
                Expr::Const(value, _) => value.datum(),
                _ => catalog::Datum::Null,
            })
            .collect();
        if call.proc.strict && values.iter().any(|v| v.is_null()) {
            return Expr::Const(Value::Null, call.typ);
        }
        match function(&cx, &types, &values) {
            Ok(value) => Expr::Const(value.to_value(), call.typ),
            Err(_) => Expr::Call(Box::new(call)),
        }
    }

    fn implicit(&self, expr: Expr, to: SqlType, position: u32) -> Result<Expr> {
        self.coerce(expr, to, CastContext::Implicit, CallForm::ImplicitCast, position)
    }

    /// `coerce_type`: to the type without its modifier.
    fn typed(
        &self,
        expr: Expr,
        to: SqlType,
        context: CastContext,
        form: CallForm,
        position: u32,
    ) -> Result<Option<Expr>> {
        let from = expr.typ();
        if from.oid == to.oid || to.oid == oid::ANY || type_info::is_polymorphic(to.oid) {
            return Ok(Some(expr));
        }
        if from.oid == oid::UNKNOWN {
            match expr {
                Expr::Const(Value::Null, _) => {
                    return Ok(Some(Expr::Const(Value::Null, SqlType::plain(to.oid))));
                }
                Expr::Const(Value::Bytes(text), _) => {
                    return self.read_literal(&text, to, position).map(Some);
                }
                Expr::Param(index, _) => {
                    self.parameters.set_type(index, to.oid, position)?;
                    return Ok(Some(Expr::Param(index, SqlType::plain(to.oid))));
                }
                // Other expressions of type unknown hold text.
                other => {
                    let text = Expr::Relabel(Box::new(other), SqlType::plain(oid::TEXT), form);
                    return if to.oid == oid::TEXT {
                        Ok(Some(text))
                    } else {
                        self.typed(text, to, CastContext::Explicit, form, position)
                    };
                }
            }
        }
        let plain = SqlType::plain(to.oid);
        let Some(pathway) = pathway(from.oid, to.oid, context) else {
            let rows = (from.oid == oid::RECORD || type_info::is_complex(from.oid))
                && (to.oid == oid::RECORD || type_info::is_complex(to.oid));
            return Ok(rows.then(|| Expr::Relabel(Box::new(expr), plain, form)));
        };
        Ok(Some(match pathway {
            Pathway::Relabel => match expr {
                Expr::Const(value, _) if self.folding => Expr::Const(relabelled(value, to.oid), plain),
                other => Expr::Relabel(Box::new(other), plain, form),
            },
            Pathway::InOut => self.fold_io(expr, plain, form, position),
            Pathway::Function(function) => {
                let proc = LOOKUP.proc(function).ok_or_else(|| {
                    SqlError::internal(format!("cast function {function} is not in pg_proc"))
                })?;
                let mut args = vec![expr];
                // Cast functions with a modifier and a flag for explicit casts (`build_coercion_expression`). Where the function
                // takes the modifier, the length coercion after it does the work.
                if proc.args.len() >= 2 {
                    args.push(Expr::Const(Value::Int(-1), SqlType::plain(oid::INT4)));
                }
                if proc.args.len() >= 3 {
                    let explicit = context == CastContext::Explicit;
                    args.push(Expr::Const(Value::Bool(explicit), SqlType::plain(oid::BOOL)));
                }
                self.call(proc, args, plain, form, position)?
            }
            Pathway::Array => {
                let (source, target) = (element_of(from.oid), element_of(to.oid));
                let element = Expr::CaseOperand(SqlType::plain(source));
                match self.typed(element, SqlType::plain(target), context, form, position)? {
                    Some(element) => Expr::ArrayCast(Box::new(expr), Box::new(element), plain, form),
                    None => return Ok(None),
                }
            }
        }))
    }

    /// Reads a literal of unknown type by the input function of the target. The modifier is applied afterwards, by the rules of the
    /// cast, except for interval, whose modifier says what the text means.
    fn read_literal(&self, text: &[u8], to: SqlType, position: u32) -> Result<Expr> {
        let typmod = if to.oid == oid::INTERVAL { to.typmod } else { -1 };
        let text = types::text::validate(text)?;
        let arena = Arena::new();
        let cx = EvalContext { arena: &arena, style: self.style, env: self.env };
        let value = functions::io::input(&cx, SqlType { oid: to.oid, typmod }, text)
            .map_err(|e| e.at(position))?
            .to_value();
        Ok(Expr::Const(value, SqlType { oid: to.oid, typmod }))
    }

    fn fold_io(&self, expr: Expr, to: SqlType, form: CallForm, position: u32) -> Expr {
        let Expr::Const(value, from) = expr else {
            return Expr::IoCast(Box::new(expr), to, form, position);
        };
        let folded = || -> Result<Value> {
            if value.is_null() {
                return Ok(Value::Null);
            }
            let arena = Arena::new();
            let cx = EvalContext { arena: &arena, style: self.style, env: self.env };
            let text = functions::io::output(&cx, from.oid, value.datum())?;
            Ok(functions::io::input(&cx, to, text)?.to_value())
        };
        // Only casts whose text form hangs on no setting are folded.
        let settled =
            !matches!(info(from.oid).category, b'D' | b'T') && !matches!(info(to.oid).category, b'D');
        match (settled && self.folding).then(folded) {
            Some(Ok(value)) => Expr::Const(value, to),
            _ => Expr::IoCast(Box::new(Expr::Const(value, from)), to, form, position),
        }
    }

    /// `coerce_type_typmod`: the length coercion.
    fn fitted(&self, expr: Expr, to: SqlType, explicit: bool, form: CallForm) -> Expr {
        if to.typmod < 0 || expr.typ().typmod == to.typmod || expr.typ().oid != to.oid {
            return expr;
        }
        let form = if explicit { CallForm::ExplicitCast } else { form };
        let Some(apply) = types::by_oid(to.oid).and_then(|t| t.apply_typmod) else { return expr };
        if let Expr::Const(value, _) = &expr
            && self.folding
        {
            if value.is_null() {
                return Expr::Const(Value::Null, to);
            }
            let arena = Arena::new();
            if let Ok(fitted) = apply(value.datum(), to.typmod, explicit, &arena) {
                return Expr::Const(fitted.to_value(), to);
            }
        }
        Expr::Typmod(Box::new(expr), to, form)
    }
}

/// 42846: `cannot cast type x to y`.
pub fn cannot_cast(from: Oid, to: Oid) -> SqlError {
    let message = format!("cannot cast type {} to {}", format(from), format(to));
    SqlError::new(SqlState::CANNOT_COERCE, message)
}

fn must_be(construct: &str, wanted: &str, from: Oid) -> SqlError {
    let message = format!("argument of {construct} must be type {wanted}, not type {}", format(from));
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}

fn missing_argument() -> SqlError {
    SqlError::internal("a resolved call has fewer arguments than its function")
}

/// A constant of a binary-coercible type: integers change their signedness between int4 and oid.
fn relabelled(value: Value, to: Oid) -> Value {
    match value {
        Value::Int(v) if to == oid::INT4 => Value::Int(i64::from(v as i32)),
        Value::Int(v) if types::by_oid(to).is_some_and(|t| t.physical == types::Physical::UInt4) => {
            Value::Int(i64::from(v as u32))
        }
        other => other,
    }
}
