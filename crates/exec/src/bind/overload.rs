//! Overload resolution: which function or operator a call means, by PostgreSQL's rules over all of pg_proc and pg_operator.
//! Compare `parse_func.c` (`func_get_detail`, `func_match_argtypes`, `func_select_candidate`), `namespace.c`
//! (`FuncnameGetCandidates`, `MatchNamedCall`) and `parse_oper.c` (`oper`, `left_oper`).

use super::coerce::{Pathway, can_coerce, pathway};
use super::polymorphic;
use super::type_info::{self, format, info};
use crate::bound::SqlType;
use catalog::pg::{CastContext, LOOKUP, Operator, Proc};
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState};

/// Where an argument of the resolved call comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The call's argument at this place.
    Given(usize),
    /// The default at this place of [`default_literals`].
    Default(usize),
}

/// A function call resolved.
#[derive(Clone, Debug)]
pub struct ResolvedFunction {
    /// The function.
    pub proc: &'static Proc,
    /// The arguments in the function's order, defaults filled in.
    pub arguments: Vec<Argument>,
    /// What each of `arguments` is coerced to.
    pub arg_types: Vec<Oid>,
    /// Arguments from this place on are folded into one array of this element type.
    pub variadic: Option<(usize, Oid)>,
    /// Result type.
    pub result: Oid,
}

/// What a call in function notation means.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// A function.
    Function(ResolvedFunction),
    /// `typename(x)`: an explicit cast to this type.
    Cast(Oid),
}

/// An operator resolved.
#[derive(Clone, Debug)]
pub struct ResolvedOperator {
    /// The operator.
    pub operator: &'static Operator,
    /// Its function.
    pub proc: &'static Proc,
    /// What the operands are coerced to: one for a prefix operator.
    pub arg_types: Vec<Oid>,
    /// Result type.
    pub result: Oid,
}

/// One possible meaning of a call.
struct Candidate {
    proc: &'static Proc,
    arguments: Vec<Argument>,
    /// Declared type per argument.
    types: Vec<Oid>,
    variadic: Option<(usize, Oid)>,
}

/// Resolves a call in function notation. `schema` is the qualifier as written, `variadic_call` says that VARIADIC stands before the
/// last argument, `arg_names` has one entry per argument or is empty.
pub fn resolve_function(
    name: &str,
    schema: Option<&str>,
    args: &[SqlType],
    variadic_call: bool,
    arg_names: &[Option<&str>],
) -> Result<Resolution> {
    let actual: Vec<Oid> = args.iter().map(|t| t.oid).collect();
    // Only functions of information_schema have names that begin so.
    let known_schema = match schema {
        None | Some("pg_catalog") => !name.starts_with("_pg_"),
        Some("information_schema") => name.starts_with("_pg_"),
        Some(_) => false,
    };
    let candidates =
        if known_schema { candidates(name, &actual, variadic_call, arg_names) } else { Vec::new() };
    let exact = candidates.iter().position(|c| given_types(c, actual.len()) == actual);
    let chosen = match exact {
        Some(at) => at,
        None => {
            if let Some(target) = cast_by_name(name, known_schema, &actual, arg_names) {
                return Ok(Resolution::Cast(target));
            }
            let lists: Vec<Vec<Oid>> = candidates.iter().map(|c| given_types(c, actual.len())).collect();
            match select(&actual, &lists) {
                Selected::One(at) => at,
                Selected::None => return Err(no_function(name, schema, &actual, arg_names)),
                Selected::Many => {
                    let signature = signature(name, schema, &actual, arg_names);
                    let message = format!("function {signature} is not unique");
                    return Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message).hint(
                        "Could not choose a best candidate function. You might need to add explicit type casts.",
                    ));
                }
            }
        }
    };
    let Some(candidate) = candidates.into_iter().nth(chosen) else {
        return Err(SqlError::internal("a chosen candidate is among the candidates"));
    };
    let mut arg_types = candidate.types;
    let actual_in_order: Vec<Oid> = candidate
        .arguments
        .iter()
        .zip(&arg_types)
        .map(|(argument, declared)| match argument {
            Argument::Given(i) => actual.get(*i).copied().unwrap_or(oid::UNKNOWN),
            Argument::Default(_) => *declared,
        })
        .collect();
    let result = polymorphic::resolve(&actual_in_order, &mut arg_types, candidate.proc.result)?;
    let variadic = candidate.variadic.map(|(at, element)| match arg_types.get(at) {
        Some(resolved) if type_info::is_polymorphic(element) => (at, *resolved),
        _ => (at, element),
    });
    Ok(Resolution::Function(ResolvedFunction {
        proc: candidate.proc,
        arguments: candidate.arguments,
        arg_types,
        variadic,
        result,
    }))
}

/// Resolves an operator; `left` is `None` for a prefix operator.
pub fn resolve_operator(name: &str, left: Option<SqlType>, right: SqlType) -> Result<ResolvedOperator> {
    let name = if name == "!=" { "<>" } else { name };
    let (l, r) = (left.map_or(Oid::INVALID, |t| t.oid), right.oid);
    let operator = match exact_operator(name, l, r) {
        Some(operator) => operator,
        None => {
            let (l, r) = (if left.is_some() && l == Oid::INVALID { oid::UNKNOWN } else { l }, r);
            let found: Vec<&'static Operator> =
                LOOKUP.operators_named(name).filter(|o| o.left.is_valid() == left.is_some()).collect();
            let actual: Vec<Oid> = if left.is_some() { vec![l, r] } else { vec![r] };
            let lists: Vec<Vec<Oid>> = found
                .iter()
                .map(|o| if left.is_some() { vec![o.left, o.right] } else { vec![o.right] })
                .collect();
            match select(&actual, &lists) {
                Selected::One(at) => found[at],
                Selected::None => return Err(no_operator(name, left.map(|t| t.oid), r)),
                Selected::Many => {
                    let text = operator_signature(name, left.map(|t| t.oid), r);
                    let message = format!("operator is not unique: {text}");
                    return Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message).hint(
                        "Could not choose a best candidate operator. You might need to add explicit type casts.",
                    ));
                }
            }
        }
    };
    let proc =
        LOOKUP.proc(operator.code).ok_or_else(|| SqlError::unsupported(format_args!("operator {name}")))?;
    let (actual, mut arg_types) = match left {
        Some(_) => (vec![l, r], vec![operator.left, operator.right]),
        None => (vec![r], vec![operator.right]),
    };
    let result = polymorphic::resolve(&actual, &mut arg_types, operator.result)?;
    Ok(ResolvedOperator { operator, proc, arg_types, result })
}

/// The default values of a function's last arguments, as literals: the text of each and the type it was cast to.
pub fn default_literals(proc: &Proc) -> Vec<(String, Option<String>)> {
    let text = proc.defaults.as_deref().unwrap_or_default();
    let mut list = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (literal, tail) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
            None => {
                let end = rest.find([',', ':']).unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        let end = tail.find(',').unwrap_or(tail.len());
        let (cast, tail) = tail.split_at(end);
        let cast = cast.strip_prefix("::").map(|name| name.trim().to_owned());
        list.push((literal.trim().to_owned(), cast));
        rest = tail.trim_start_matches(',').trim_start();
    }
    list
}

/// `function foo(integer, unknown) does not exist`, with PostgreSQL's hint.
pub fn no_function(name: &str, schema: Option<&str>, args: &[Oid], arg_names: &[Option<&str>]) -> SqlError {
    let message = format!("function {} does not exist", signature(name, schema, args, arg_names));
    SqlError::new(SqlState::UNDEFINED_FUNCTION, message).hint(
        "No function matches the given name and argument types. You might need to add explicit type casts.",
    )
}

fn no_operator(name: &str, left: Option<Oid>, right: Oid) -> SqlError {
    let message = format!("operator does not exist: {}", operator_signature(name, left, right));
    SqlError::new(SqlState::UNDEFINED_FUNCTION, message).hint(if left.is_some() {
        "No operator matches the given name and argument types. You might need to add explicit type casts."
    } else {
        "No operator matches the given name and argument type. You might need to add an explicit type cast."
    })
}

fn operator_signature(name: &str, left: Option<Oid>, right: Oid) -> String {
    match left {
        Some(left) => format!("{} {name} {}", format(left), format(right)),
        None => format!("{name} {}", format(right)),
    }
}

fn signature(name: &str, schema: Option<&str>, args: &[Oid], arg_names: &[Option<&str>]) -> String {
    let mut text = String::new();
    if let Some(schema) = schema {
        text.push_str(schema);
        text.push('.');
    }
    text.push_str(name);
    text.push('(');
    for (i, typ) in args.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        if let Some(Some(name)) = arg_names.get(i) {
            text.push_str(name);
            text.push_str(" => ");
        }
        text.push_str(&format(*typ));
    }
    text.push(')');
    text
}

/// The declared types in the order in which the arguments were written.
fn given_types(candidate: &Candidate, count: usize) -> Vec<Oid> {
    let mut types = vec![Oid::INVALID; count];
    for (argument, typ) in candidate.arguments.iter().zip(&candidate.types) {
        if let Argument::Given(i) = argument
            && let Some(slot) = types.get_mut(*i)
        {
            *slot = *typ;
        }
    }
    types
}

/// `FuncnameGetCandidates`
fn candidates(name: &str, actual: &[Oid], variadic_call: bool, arg_names: &[Option<&str>]) -> Vec<Candidate> {
    let named = arg_names.iter().any(Option::is_some);
    let mut list: Vec<Candidate> = Vec::new();
    for proc in LOOKUP.procs_named(name) {
        let Some(candidate) = candidate(proc, actual.len(), variadic_call, named.then_some(arg_names)) else {
            continue;
        };
        // Of two that take the same types, the one without VARIADIC folding (or with fewer defaults) is meant.
        let types = given_types(&candidate, actual.len());
        if let Some(at) = list.iter().position(|c| given_types(c, actual.len()) == types) {
            let old = &list[at];
            let worth = |c: &Candidate| (c.variadic.is_none(), std::cmp::Reverse(c.types.len()));
            if worth(&candidate) > worth(old) {
                list[at] = candidate;
            }
            continue;
        }
        list.push(candidate);
    }
    list
}

fn candidate(
    proc: &'static Proc,
    given: usize,
    variadic_call: bool,
    names: Option<&[Option<&str>]>,
) -> Option<Candidate> {
    let declared = proc.args.len();
    let variadic = proc.variadic.is_valid();
    if let Some(names) = names {
        return named_candidate(proc, given, names);
    }
    if variadic && !variadic_call && given >= declared {
        let fixed = declared - 1;
        let mut types: Vec<Oid> = proc.args[..fixed].to_vec();
        types.resize(given, proc.variadic);
        // VARIADIC "any" is not folded: the function sees each argument.
        let fold = (proc.variadic != oid::ANY).then_some((fixed, proc.variadic));
        return Some(Candidate {
            proc,
            arguments: (0..given).map(Argument::Given).collect(),
            types,
            variadic: fold,
        });
    }
    if variadic_call && !variadic {
        return None;
    }
    if given > declared || given + proc.default_count < declared {
        return None;
    }
    let first_default = declared - proc.default_count;
    let argument =
        |i: usize| if i < given { Argument::Given(i) } else { Argument::Default(i - first_default) };
    Some(Candidate {
        proc,
        arguments: (0..declared).map(argument).collect(),
        types: proc.args.clone(),
        variadic: None,
    })
}

/// `MatchNamedCall`
fn named_candidate(proc: &'static Proc, given: usize, names: &[Option<&str>]) -> Option<Candidate> {
    let declared = proc.args.len();
    if given > declared || proc.arg_names.is_empty() {
        return None;
    }
    let mut slots: Vec<Option<Argument>> = vec![None; declared];
    for (i, name) in names.iter().enumerate() {
        let place = match name {
            None => i,
            Some(name) => proc.arg_names.iter().position(|n| n == name)?,
        };
        let slot = slots.get_mut(place)?;
        if slot.is_some() {
            return None;
        }
        *slot = Some(Argument::Given(i));
    }
    let first_default = declared - proc.default_count;
    for (i, slot) in slots.iter_mut().enumerate() {
        if slot.is_none() {
            *slot = Some(Argument::Default(i.checked_sub(first_default)?));
        }
    }
    let arguments: Option<Vec<Argument>> = slots.into_iter().collect();
    Some(Candidate { proc, arguments: arguments?, types: proc.args.clone(), variadic: None })
}

/// `typename(x)` as a cast: only if no function fits exactly, and the cast is no function call itself.
fn cast_by_name(name: &str, known_schema: bool, actual: &[Oid], arg_names: &[Option<&str>]) -> Option<Oid> {
    let &[source] = actual else { return None };
    if !known_schema || arg_names.iter().any(Option::is_some) {
        return None;
    }
    let target = type_info::by_name(name)?;
    if source == oid::UNKNOWN {
        return Some(target);
    }
    match pathway(source, target, CastContext::Explicit)? {
        Pathway::Relabel => Some(target),
        Pathway::InOut => {
            let row_to_text =
                (source == oid::RECORD || type_info::is_complex(source)) && info(target).category == b'S';
            (!row_to_text).then_some(target)
        }
        Pathway::Function(_) | Pathway::Array => None,
    }
}

fn exact_operator(name: &str, left: Oid, right: Oid) -> Option<&'static Operator> {
    let (l, r) = match (left, right) {
        // An unknown literal is first taken for the other side's type (`binary_oper_exact`).
        (oid::UNKNOWN, r) => (r, r),
        (l, oid::UNKNOWN) if l.is_valid() => (l, l),
        pair => pair,
    };
    LOOKUP.operators_named(name).find(|o| o.left == l && o.right == r)
}

enum Selected {
    None,
    One(usize),
    Many,
}

/// `func_match_argtypes`, then `func_select_candidate`.
fn select(actual: &[Oid], candidates: &[Vec<Oid>]) -> Selected {
    let fits = |types: &[Oid]| {
        types.len() == actual.len()
            && actual.iter().zip(types).all(|(a, t)| can_coerce(*a, *t, CastContext::Implicit))
            && (!types.iter().any(|t| type_info::is_polymorphic(*t)) || polymorphic::fits(actual, types))
    };
    let mut left: Vec<usize> = (0..candidates.len()).filter(|i| fits(&candidates[*i])).collect();
    match left.as_slice() {
        [] => return Selected::None,
        [one] => return Selected::One(*one),
        _ => {}
    }
    // Most exact matches at known types.
    let exact = |i: usize| {
        let types = &candidates[i];
        actual.iter().zip(types).filter(|(a, t)| **a != oid::UNKNOWN && a == t).count()
    };
    keep_best(&mut left, exact);
    if let [one] = left.as_slice() {
        return Selected::One(*one);
    }
    // Most exact or preferred matches.
    let preferred = |i: usize| {
        let types = &candidates[i];
        let good = |(a, t): &(&Oid, &Oid)| {
            **a != oid::UNKNOWN
                && (a == t || (info(**t).category == info(**a).category && info(**t).preferred))
        };
        actual.iter().zip(types).filter(good).count()
    };
    keep_best(&mut left, preferred);
    if let [one] = left.as_slice() {
        return Selected::One(*one);
    }
    let unknown: Vec<usize> = (0..actual.len()).filter(|i| actual[*i] == oid::UNKNOWN).collect();
    if unknown.is_empty() {
        return Selected::Many;
    }
    if let Some(narrowed) = by_category(&unknown, &left, candidates) {
        left = narrowed;
    }
    if let [one] = left.as_slice() {
        return Selected::One(*one);
    }
    // All known arguments of one type: take the unknown ones for that type too.
    let mut known = actual.iter().copied().filter(|a| *a != oid::UNKNOWN);
    if let Some(first) = known.next()
        && known.all(|a| a == first)
    {
        let all_fit =
            |i: &&usize| candidates[**i].iter().all(|t| can_coerce(first, *t, CastContext::Implicit));
        let mut fitting = left.iter().filter(all_fit);
        if let Some(one) = fitting.next()
            && fitting.next().is_none()
        {
            return Selected::One(*one);
        }
    }
    Selected::Many
}

/// Resolves unknown arguments by the category that the candidates agree on, string winning over others; keeps the candidates of that
/// category, or only those with its preferred type if any has it. `None` if they do not agree or none is left.
fn by_category(unknown: &[usize], left: &[usize], candidates: &[Vec<Oid>]) -> Option<Vec<usize>> {
    let mut wanted: Vec<(usize, u8, bool)> = Vec::new();
    for place in unknown {
        let mut category = 0u8;
        let mut has_preferred = false;
        let mut conflict = false;
        for candidate in left {
            let typ = info(candidates[*candidate][*place]);
            if category == 0 {
                (category, has_preferred) = (typ.category, typ.preferred);
            } else if typ.category == category {
                has_preferred |= typ.preferred;
            } else if typ.category == b'S' {
                (category, has_preferred, conflict) = (b'S', typ.preferred, false);
            } else if category != b'S' {
                conflict = true;
            }
        }
        if conflict && category != b'S' {
            return None;
        }
        wanted.push((*place, category, has_preferred));
    }
    let suits = |i: &usize| {
        wanted.iter().all(|(place, category, has_preferred)| {
            let typ = info(candidates[*i][*place]);
            typ.category == *category && (!*has_preferred || typ.preferred)
        })
    };
    let kept: Vec<usize> = left.iter().copied().filter(suits).collect();
    (!kept.is_empty()).then_some(kept)
}

fn keep_best(left: &mut Vec<usize>, worth: impl Fn(usize) -> usize) {
    let best = left.iter().map(|i| worth(*i)).max().unwrap_or(0);
    left.retain(|i| worth(*i) == best);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(list: &[Oid]) -> Vec<SqlType> {
        list.iter().map(|t| SqlType::plain(*t)).collect()
    }

    fn function(name: &str, list: &[Oid]) -> ResolvedFunction {
        match resolve_function(name, None, &types(list), false, &[]).expect(name) {
            Resolution::Function(f) => f,
            Resolution::Cast(t) => panic!("{name} is a cast to {t}"),
        }
    }

    fn operator(left: Oid, name: &str, right: Oid) -> ResolvedOperator {
        resolve_operator(name, Some(SqlType::plain(left)), SqlType::plain(right)).expect(name)
    }

    #[test]
    fn operators_resolve_as_in_postgresql() {
        assert_eq!(operator(oid::INT4, "=", oid::INT4).proc.src, "int4eq");
        assert_eq!(operator(oid::INT2, "+", oid::UNKNOWN).proc.src, "int2pl");
        assert_eq!(operator(oid::UNKNOWN, "||", oid::UNKNOWN).proc.src, "textcat");
        assert_eq!(operator(oid::VARCHAR, "=", oid::UNKNOWN).proc.src, "texteq");
        assert_eq!(operator(oid::VARCHAR, "=", oid::TEXT).proc.src, "texteq");
        assert_eq!(operator(oid::INT8, "+", oid::NUMERIC).proc.src, "numeric_add");
        assert_eq!(operator(oid::FLOAT4, "*", oid::INT4).proc.src, "float48mul");
        assert_eq!(operator(oid::DATE, "-", oid::UNKNOWN).proc.src, "date_mi");
        assert_eq!(operator(oid::TEXT, "||", oid::INT4).operator.right, oid::ANYNONARRAY);
        let error = resolve_operator("=", Some(SqlType::plain(oid::INT4)), SqlType::plain(oid::TEXT))
            .expect_err("no such operator");
        assert_eq!(error.message(), "operator does not exist: integer = text");
        let minus = resolve_operator("-", None, SqlType::plain(oid::UNKNOWN)).expect_err("not unique");
        assert_eq!(minus.message(), "operator is not unique: - unknown");
    }

    #[test]
    fn functions_resolve_as_in_postgresql() {
        assert_eq!(function("abs", &[oid::INT4]).proc.src, "int4abs");
        assert_eq!(function("length", &[oid::UNKNOWN]).proc.src, "textlen");
        assert_eq!(function("round", &[oid::INT4]).proc.src, "dround");
        assert_eq!(function("round", &[oid::UNKNOWN]).proc.src, "dround");
        assert_eq!(function("round", &[oid::NUMERIC, oid::INT4]).proc.src, "numeric_round");
        assert_eq!(function("sum", &[oid::INT4]).result, oid::INT8);
        assert_eq!(function("max", &[oid::VARCHAR]).arg_types, [oid::TEXT]);
        assert_eq!(function("array_append", &[oid::INT4_ARRAY, oid::INT4]).result, oid::INT4_ARRAY);
        assert_eq!(function("concat", &[oid::INT4, oid::UNKNOWN]).variadic, None);
        let array = function("json_build_array", &[oid::INT4]);
        assert_eq!(array.arg_types, [oid::ANY]);
        let error = resolve_function("foo", None, &types(&[oid::INT4, oid::UNKNOWN]), false, &[])
            .expect_err("no such function");
        assert_eq!(error.message(), "function foo(integer, unknown) does not exist");
    }

    #[test]
    fn casts_named_arguments_and_defaults() {
        let cast = resolve_function("text", None, &types(&[oid::INT4]), false, &[]).expect("a cast");
        assert!(matches!(cast, Resolution::Cast(oid::TEXT)));
        let resolved = resolve_function("make_interval", None, &types(&[oid::INT4]), false, &[Some("days")]);
        let Ok(Resolution::Function(f)) = resolved else { panic!("make_interval") };
        assert_eq!(f.arguments[3], Argument::Given(0));
        assert_eq!(f.arguments[6], Argument::Default(6));
        assert_eq!(default_literals(f.proc)[6].0, "0.0");
    }
}
