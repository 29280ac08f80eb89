//! Runs the cases of `testdata/cases.txt` and compares with what PostgreSQL 15 said (`testdata/captured.tsv`, by `testdata/capture`).

use super::{CallTypes, EvalContext, Implementation, implementation, io};
use crate::bind::coerce::{Coercion, NoParameters};
use crate::bind::overload::{Resolution, resolve_function, resolve_operator};
use crate::bind::type_info;
use crate::bound::{CallForm, Expr, SqlType};
use crate::plan::fixture::Env;
use catalog::pg::{CastContext, Proc};
use catalog::types::array::one_dimensional;
use catalog::types::{by_oid, from_sql_name, oid};
use catalog::{Arena, Datum, Result, SqlError, Style, Value};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The type of an argument in the file.
fn named(name: &str) -> SqlType {
    match name.strip_suffix("[]") {
        Some(element) => SqlType::plain(type_info::array_of(named(element).oid)),
        None => SqlType::plain(from_sql_name(name).map_or(oid::UNKNOWN, |t| t.oid)),
    }
}

fn value(expr: &Expr) -> Result<Value> {
    match expr {
        Expr::Const(value, _) => Ok(value.clone()),
        Expr::Array(elements, typ, _) => {
            let element = by_oid(type_info::element_of(typ.oid)).expect("an element type");
            let values: Vec<Value> = elements.iter().map(value).collect::<Result<_>>()?;
            let values: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
            Ok(one_dimensional(element, &values, &Arena::new()).to_value())
        }
        Expr::Call(call) => {
            let result = call_values(call.proc, &call.args, call.typ)?;
            Ok(result)
        }
        Expr::IoCast(inner, to, ..) => {
            let (env, style, arena) = (Env(Arc::default()), Style::default(), Arena::new());
            let cx = EvalContext { arena: &arena, style: &style, env: &env };
            let inner_value = value(inner)?;
            if inner_value.is_null() {
                return Ok(Value::Null);
            }
            let text = io::output(&cx, inner.typ().oid, inner_value.datum())?;
            Ok(io::input(&cx, *to, text)?.to_value())
        }
        Expr::Relabel(inner, ..) => value(inner),
        Expr::ArrayCast(inner, element, to, _) => {
            let typ = by_oid(type_info::element_of(to.oid)).expect("an element type");
            let array = value(inner)?;
            let source = type_info::element_of(inner.typ().oid);
            let mut values = Vec::new();
            for item in super::array::elements(array.datum()) {
                let operand = Expr::Const(item.to_value(), SqlType::plain(source));
                let Expr::Call(call) = &**element else { return Err(SqlError::internal("an element cast")) };
                values.push(call_values(call.proc, &[operand], call.typ)?);
            }
            let values: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
            Ok(one_dimensional(typ, &values, &Arena::new()).to_value())
        }
        other => Err(SqlError::internal(format!("not a constant: {other:?}"))),
    }
}

fn call_values(proc: &Proc, args: &[Expr], result: SqlType) -> Result<Value> {
    let (env, style, arena) = (Env(Arc::default()), Style::default(), Arena::new());
    let cx = EvalContext { arena: &arena, style: &style, env: &env };
    let types = CallTypes { args: args.iter().map(Expr::typ).collect(), result };
    let values: Vec<Value> = args.iter().map(value).collect::<Result<_>>()?;
    let values: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
    if proc.strict && values.iter().any(Datum::is_null) {
        return Ok(Value::Null);
    }
    match implementation(proc)? {
        Implementation::Scalar(f) => Ok(f(&cx, &types, &values)?.to_value()),
        Implementation::Set(f) => {
            let mut rows: Vec<String> = Vec::new();
            f(&cx, &types, &values, &mut |row| {
                rows.push(match row.first() {
                    None | Some(Datum::Null) => "NULL".into(),
                    Some(v) => io::output(&cx, result.oid, *v)?.to_owned(),
                });
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(Value::text(&rows.join(" / ")))
        }
        other => Err(SqlError::internal(format!("{other:?} in a case"))),
    }
}

fn run(case: &str) -> Result<String> {
    let mut fields = case.split('¦');
    let (kind, name) = (fields.next().expect("a kind"), fields.next().expect("a name"));
    let (env, style) = (Env(Arc::default()), Style::default());
    let coercion = Coercion { style: &style, env: &env, parameters: &NoParameters, folding: true };
    let mut args = Vec::new();
    for field in fields {
        let (typ, text) = field.split_once(':').expect("type:literal");
        let value = if text == "NULL" { Value::Null } else { Value::text(text) };
        let literal = Expr::Const(value, SqlType::plain(oid::UNKNOWN));
        let to = named(typ);
        args.push(if to.oid == oid::UNKNOWN {
            literal
        } else {
            coercion.coerce(literal, to, CastContext::Explicit, CallForm::ExplicitCast, 0)?
        });
    }
    let types: Vec<SqlType> = args.iter().map(Expr::typ).collect();
    let (proc, args, result) = if kind == "o" {
        let (left, right) = match types.as_slice() {
            [right] => (None, *right),
            [left, right] => (Some(*left), *right),
            _ => panic!("an operator has one or two operands"),
        };
        let resolved = resolve_operator(name, left, right)?;
        let call = coercion.operator(&resolved, args, &[], 0)?;
        (resolved.proc, call.args, call.typ)
    } else {
        match resolve_function(name, None, &types, false, &vec![None; types.len()])? {
            Resolution::Cast(to) => {
                let arg = args.into_iter().next().expect("a cast has an argument");
                let to = SqlType::plain(to);
                let cast = coercion.coerce(arg, to, CastContext::Explicit, CallForm::ExplicitCast, 0)?;
                return print(value(&cast)?, to, kind);
            }
            Resolution::Function(resolved) => {
                let args = coercion.arguments(&resolved, args, &[])?;
                (resolved.proc, args, SqlType::plain(resolved.result))
            }
        }
    };
    print(call_values(proc, &args, result)?, result, kind)
}

fn print(value: Value, typ: SqlType, kind: &str) -> Result<String> {
    let (env, style, arena) = (Env(Arc::default()), Style::default(), Arena::new());
    let cx = EvalContext { arena: &arena, style: &style, env: &env };
    let text = match &value {
        Value::Null => "NULL".to_owned(),
        Value::Bytes(text) if kind == "s" => String::from_utf8_lossy(text).into_owned(),
        Value::Bool(b) => b.to_string(),
        value => io::output(&cx, typ.oid, value.datum())?.to_owned(),
    };
    let typ = if kind == "s" { "record".to_owned() } else { type_info::format(typ.oid) };
    Ok(format!("{typ}\t{text}"))
}

#[test]
fn functions_say_what_postgresql_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("testdata/captured.tsv").lines() {
        let (case, expected) = line.split_once('\t').expect("a case and its result");
        count += 1;
        let actual = match run(case) {
            Ok(text) => text,
            Err(error) => format!("ERROR\t{}: {}", error.code().as_str(), error.message()),
        };
        let actual = actual.replace('\\', "\\\\").replace('\n', "\\n");
        if actual != expected {
            wrong.push(format!("{case}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
