//! The reg types: object names to OIDs and back, by the session's catalog and search path. Compare `regproc.c`.

use super::EvalContext;
use super::string::quote_ident;
use crate::bind::type_info;
use catalog::pg::{LOOKUP, PG_COLLATION, SYSTEM_COLUMNS};
use catalog::types::{self, oid};
use catalog::{Datum, Oid, Result, SqlError, SqlState};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Whether text input and output of the type need the catalog.
pub(crate) fn is_reg_type(typ: Oid) -> bool {
    matches!(
        typ,
        oid::REGCLASS
            | oid::REGTYPE
            | oid::REGPROC
            | oid::REGPROCEDURE
            | oid::REGOPER
            | oid::REGOPERATOR
            | oid::REGNAMESPACE
            | oid::REGROLE
            | oid::REGCOLLATION
    )
}

/// The system relations: (schema, name) to OID, and back.
struct SystemRelations {
    by_name: FxHashMap<(&'static str, &'static str), Oid>,
    by_oid: FxHashMap<Oid, (&'static str, &'static str)>,
}

static SYSTEM: LazyLock<SystemRelations> = LazyLock::new(|| {
    let t = &*SYSTEM_COLUMNS;
    let (schema, name, relation) = (t.column("nspname"), t.column("relname"), t.column("reloid"));
    let mut system = SystemRelations { by_name: FxHashMap::default(), by_oid: FxHashMap::default() };
    for row in &t.rows {
        let text = |at: usize| row.get(at).and_then(|v| v.as_deref()).unwrap_or_default();
        let relation = Oid(text(relation).parse().unwrap_or(0));
        system.by_name.insert((text(schema), text(name)), relation);
        system.by_oid.insert(relation, (text(schema), text(name)));
    }
    system
});

/// The OID of a relation of pg_catalog or information_schema.
pub fn system_relation(schema: &str, name: &str) -> Option<Oid> {
    let key: (&str, &str) = (schema, name);
    SYSTEM.by_name.get(&key as &(&str, &str)).copied()
}

/// Schema and name of a system relation.
pub fn system_relation_name(relation: Oid) -> Option<(&'static str, &'static str)> {
    SYSTEM.by_oid.get(&relation).copied()
}

/// The names of a possibly qualified identifier, unquoted parts in lower case (`stringToQualifiedNameList`).
pub fn name_parts(text: &str) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, tail) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_part(quoted).ok_or_else(invalid_name)?,
            None => {
                let end = rest.find(|c: char| c == '.' || c.is_whitespace()).unwrap_or(rest.len());
                let (part, tail) = rest.split_at(end);
                (part.to_ascii_lowercase(), tail)
            }
        };
        if part.is_empty() {
            return Err(invalid_name());
        }
        parts.push(types::name::truncate(&part).to_owned());
        rest = tail.trim_start();
        match rest.strip_prefix('.') {
            Some(tail) => rest = tail.trim_start(),
            None if rest.is_empty() => return Ok(parts),
            None => return Err(invalid_name()),
        }
    }
}

/// The contents up to the closing quote, doubled quotes undone, and what follows.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '"' {
            part.push(c);
        } else if chars.peek().is_some_and(|(_, c)| *c == '"') {
            chars.next();
            part.push('"');
        } else {
            return Some((part, &text[at + 1..]));
        }
    }
    None
}

fn invalid_name() -> SqlError {
    SqlError::new(SqlState::INVALID_NAME, "invalid name syntax")
}

fn quoted(name: &str) -> String {
    let mut out = Vec::with_capacity(name.len());
    quote_ident(name, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The schema of this name.
pub(super) fn schema_oid(cx: &EvalContext<'_>, name: &str) -> Result<Oid> {
    schema_by_name(cx, name)
        .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_SCHEMA, format!("schema \"{name}\" does not exist")))
}

fn schema_by_name(cx: &EvalContext<'_>, name: &str) -> Option<Oid> {
    match name {
        "pg_catalog" => Some(Oid::PG_CATALOG),
        "information_schema" => Some(Oid::INFORMATION_SCHEMA),
        other => cx.env.objects().schema(other).map(|s| s.oid),
    }
}

/// The name of a schema.
pub(super) fn schema_name(cx: &EvalContext<'_>, schema: Oid) -> Option<String> {
    match schema {
        Oid::PG_CATALOG => Some("pg_catalog".into()),
        Oid::INFORMATION_SCHEMA => Some("information_schema".into()),
        other => cx.env.objects().schemas.get(&other).map(|s| s.name.clone()),
    }
}

/// A relation by (possibly qualified) name; the errors are those of regclass input.
pub(super) fn relation_by_name(cx: &EvalContext<'_>, text: &str) -> Result<Oid> {
    let parts = name_parts(text)?;
    let (schema, name) = match parts.as_slice() {
        [name] => (None, name),
        [schema, name] => (Some(schema), name),
        [database, schema, name] => {
            let catalog = cx.env.catalog();
            let current = catalog.databases.get(&cx.env.database()).map(|d| d.name.clone());
            if current.as_deref() != Some(database) {
                let message =
                    format!("cross-database references are not implemented: \"{database}.{schema}.{name}\"");
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            (Some(schema), name)
        }
        many => {
            let message = format!("improper relation name (too many dotted names): {}", many.join("."));
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        }
    };
    let schemas = match schema {
        Some(schema) => vec![schema_oid(cx, schema)?],
        None => cx.env.search_path(true),
    };
    let found = schemas.into_iter().find_map(|s| relation_in(cx, s, name));
    found.ok_or_else(|| {
        SqlError::undefined_table(&match schema {
            Some(schema) => format!("{schema}.{name}"),
            None => name.clone(),
        })
    })
}

fn relation_in(cx: &EvalContext<'_>, schema: Oid, name: &str) -> Option<Oid> {
    match schema {
        Oid::PG_CATALOG => system_relation("pg_catalog", name),
        Oid::INFORMATION_SCHEMA => system_relation("information_schema", name),
        other => cx.env.objects().relation(other, name).map(|r| r.oid()),
    }
}

/// Schema and name of a relation.
pub(super) fn relation_name(cx: &EvalContext<'_>, relation: Oid) -> Option<(Oid, String)> {
    if let Some((schema, name)) = system_relation_name(relation) {
        let schema = if schema == "pg_catalog" { Oid::PG_CATALOG } else { Oid::INFORMATION_SCHEMA };
        return Some((schema, name.to_owned()));
    }
    let objects = cx.env.objects();
    objects.relations.get(&relation).map(|r| (r.schema(), r.name().to_owned()))
}

/// Whether an unqualified name finds this relation (`RelationIsVisible`).
pub(super) fn relation_is_visible(cx: &EvalContext<'_>, relation: Oid) -> Option<bool> {
    let (_, name) = relation_name(cx, relation)?;
    let first = cx.env.search_path(true).into_iter().find_map(|s| relation_in(cx, s, &name));
    Some(first == Some(relation))
}

/// A type by its SQL spelling, with modifiers and brackets.
pub(super) fn type_by_name(cx: &EvalContext<'_>, text: &str) -> Option<Oid> {
    let mut name = text.trim();
    let mut array = false;
    while let Some(inner) = name.strip_suffix(']') {
        name = inner.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('[')?.trim_end();
        array = true;
    }
    let owned = match (name.find('('), name.find(')')) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", name[..open].trim_end(), &name[close + 1..])
        }
        _ => name.to_owned(),
    };
    let parts: Vec<String> = if owned.contains(['"', '.']) {
        name_parts(&owned).ok()?
    } else {
        vec![owned.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()]
    };
    let found = match parts.as_slice() {
        [name] => types::from_sql_name(name)
            .map(|t| t.oid)
            .or_else(|| type_info::by_name(name))
            .or_else(|| row_type(cx, None, name)),
        [schema, name] if schema == "pg_catalog" => {
            types::by_name(name).map(|t| t.oid).or_else(|| type_info::by_name(name))
        }
        [schema, name] => row_type(cx, schema_by_name(cx, schema), name),
        _ => None,
    }?;
    if !array {
        return Some(found);
    }
    let array = type_info::array_of(found);
    array.is_valid().then_some(array)
}

fn row_type(cx: &EvalContext<'_>, schema: Option<Oid>, name: &str) -> Option<Oid> {
    let objects = cx.env.objects();
    let schemas = schema.map_or_else(|| cx.env.search_path(false), |s| vec![s]);
    schemas.into_iter().find_map(|s| match objects.relation(s, name)? {
        catalog::Relation::Table(t) => Some(t.row_type),
        catalog::Relation::View(v) => Some(v.row_type),
        catalog::Relation::Index(_) | catalog::Relation::Sequence(_) => None,
    })
}

/// `format_type_be`: as `format_type`, but char(n) without a length has the standard's name.
pub(super) fn type_name(cx: &EvalContext<'_>, typ: Oid) -> String {
    match typ {
        oid::BPCHAR | oid::BPCHAR_ARRAY => type_info::format(typ),
        other => format_type(cx, other, -1),
    }
}

/// `format_type`, row types of relations included.
pub(super) fn format_type(cx: &EvalContext<'_>, typ: Oid, typmod: i32) -> String {
    let known = types::format_type(typ, typmod);
    if known != "???" {
        return known;
    }
    let objects = cx.env.objects();
    if let Some(relation) = objects.row_types.get(&typ)
        && let Some(relation) = objects.relations.get(relation)
    {
        let name = quoted(relation.name());
        return match relation_is_visible(cx, relation.oid()) {
            Some(true) => name,
            _ => format!("{}.{name}", quoted(&schema_name(cx, relation.schema()).unwrap_or_default())),
        };
    }
    match type_info::is_complex(typ) {
        true => known,
        false => type_info::format(typ),
    }
}

/// Reads a reg type: a number, `-`, or a name.
pub(super) fn input<'a>(cx: &EvalContext<'a>, typ: Oid, text: &str) -> Result<Datum<'a>> {
    if text == "-" {
        return Ok(Datum::Int(0));
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return types::oids::parse_oid(text).map(|v| Datum::Int(v.into()));
    }
    let found = match typ {
        oid::REGCLASS => relation_by_name(cx, text)?,
        oid::REGTYPE => type_by_name(cx, text).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{text}\" does not exist"))
        })?,
        oid::REGPROC => function_by_name(text)?,
        oid::REGPROCEDURE => function_by_signature(cx, text)?,
        oid::REGOPER => operator_by_name(text)?,
        oid::REGOPERATOR => operator_by_signature(cx, text)?,
        oid::REGNAMESPACE => match name_parts(text)?.as_slice() {
            [name] => schema_oid(cx, name)?,
            _ => return Err(invalid_name()),
        },
        oid::REGROLE => match name_parts(text)?.as_slice() {
            [name] => role_oid(cx, name)?,
            _ => return Err(invalid_name()),
        },
        _ => collation_by_name(text)?,
    };
    Ok(Datum::Int(found.0.into()))
}

/// A role by name.
pub(super) fn role_oid(cx: &EvalContext<'_>, name: &str) -> Result<Oid> {
    let catalog = cx.env.catalog();
    catalog
        .role_by_name(name)
        .map(|r| r.oid)
        .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
}

fn last_part(text: &str) -> Result<String> {
    let mut parts = name_parts(text)?;
    match parts.as_slice() {
        [_] => {}
        [schema, _] if schema == "pg_catalog" => {}
        _ => return Ok(String::new()),
    }
    Ok(parts.pop().unwrap_or_default())
}

fn function_by_name(text: &str) -> Result<Oid> {
    let name = last_part(text)?;
    let mut found = LOOKUP.procs_named(&name);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.oid),
        (Some(_), Some(_)) => Err(SqlError::new(
            SqlState::AMBIGUOUS_FUNCTION,
            format!("more than one function named \"{text}\""),
        )),
        (None, _) => Err(no_function(text)),
    }
}

fn no_function(text: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{text}\" does not exist"))
}

/// Name and argument types of `name(type, ...)`.
fn signature<'t>(cx: &EvalContext<'_>, text: &'t str) -> Result<(&'t str, Vec<Option<Oid>>)> {
    let Some((name, rest)) = text.split_once('(') else {
        let message = "expected a left parenthesis";
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message));
    };
    let Some(list) = rest.trim_end().strip_suffix(')') else {
        let message = "expected a right parenthesis";
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message));
    };
    if list.trim().is_empty() {
        return Ok((name, Vec::new()));
    }
    let mut args = Vec::new();
    for part in list.split(',') {
        let part = part.trim();
        if part.eq_ignore_ascii_case("none") {
            args.push(None);
            continue;
        }
        let typ = type_by_name(cx, part).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{part}\" does not exist"))
        })?;
        args.push(Some(typ));
    }
    Ok((name, args))
}

fn function_by_signature(cx: &EvalContext<'_>, text: &str) -> Result<Oid> {
    let (name, args) = signature(cx, text)?;
    let name = last_part(name)?;
    let args: Vec<Oid> = args.into_iter().flatten().collect();
    let found = LOOKUP.procs_named(&name).find(|p| p.args == args);
    found.map(|p| p.oid).ok_or_else(|| no_function(text))
}

fn operator_by_name(text: &str) -> Result<Oid> {
    let name = text.trim().trim_start_matches("pg_catalog.");
    let mut found = LOOKUP.operators_named(name);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.oid),
        (Some(_), Some(_)) => {
            Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("more than one operator named {text}")))
        }
        (None, _) => Err(no_operator(text)),
    }
}

fn no_operator(text: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {text}"))
}

fn operator_by_signature(cx: &EvalContext<'_>, text: &str) -> Result<Oid> {
    let (name, args) = signature(cx, text)?;
    let name = name.trim().trim_start_matches("pg_catalog.");
    match args.as_slice() {
        [left, right] => {
            let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
            let found = LOOKUP.operators_named(name).find(|o| o.left == left && o.right == right);
            found.map(|o| o.oid).ok_or_else(|| no_operator(text))
        }
        [_] => Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, "missing argument")
            .hint("Use NONE to denote the missing argument of a unary operator.")),
        _ => Err(SqlError::new(SqlState::TOO_MANY_ARGUMENTS, "too many arguments")
            .hint("Provide two argument types for operator.")),
    }
}

fn collation_by_name(text: &str) -> Result<Oid> {
    let name = last_part(text)?;
    let (oid_at, name_at) = (PG_COLLATION.column("oid"), PG_COLLATION.column("collname"));
    let value = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let found = PG_COLLATION.rows.iter().find(|row| value(row, name_at) == name);
    found.and_then(|row| value(row, oid_at).parse().ok()).map(Oid).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("collation \"{text}\" for encoding \"UTF8\" does not exist"),
        )
    })
}

/// Appends the name of an object, qualified where it would not be found without, or its number if there is none.
pub(crate) fn output(cx: &EvalContext<'_>, typ: Oid, value: Datum<'_>, out: &mut Vec<u8>) {
    let object = Oid(value.as_int() as u32);
    if !object.is_valid() {
        out.push(b'-');
        return;
    }
    let name = match typ {
        oid::REGCLASS => {
            relation_name(cx, object).map(|(schema, name)| match relation_is_visible(cx, object) {
                Some(true) => quoted(&name),
                _ => format!("{}.{}", quoted(&schema_name(cx, schema).unwrap_or_default()), quoted(&name)),
            })
        }
        oid::REGTYPE => Some(type_name(cx, object)).filter(|name| name != "???"),
        oid::REGPROC => LOOKUP.proc(object).map(|p| {
            let unique = LOOKUP.procs_named(&p.name).nth(1).is_none();
            if unique { quoted(&p.name) } else { format!("pg_catalog.{}", quoted(&p.name)) }
        }),
        oid::REGPROCEDURE => LOOKUP.proc(object).map(|p| {
            let args: Vec<String> = p.args.iter().map(|t| type_name(cx, *t)).collect();
            format!("{}({})", quoted(&p.name), args.join(","))
        }),
        oid::REGOPER => LOOKUP.operator(object).map(|o| {
            let unique = LOOKUP.operators_named(&o.name).nth(1).is_none();
            if unique { o.name.clone() } else { format!("pg_catalog.{}", o.name) }
        }),
        oid::REGOPERATOR => LOOKUP.operator(object).map(|o| {
            let side = |t: Oid| if t.is_valid() { type_name(cx, t) } else { "NONE".into() };
            format!("{}({},{})", o.name, side(o.left), side(o.right))
        }),
        oid::REGNAMESPACE => schema_name(cx, object).map(|n| quoted(&n)),
        oid::REGROLE => cx.env.catalog().roles.get(&object).map(|r| quoted(&r.name)),
        _ => {
            let (oid_at, name_at) = (PG_COLLATION.column("oid"), PG_COLLATION.column("collname"));
            let wanted = object.to_string();
            let mut rows = PG_COLLATION.rows.iter();
            let row = rows.find(|row| row.get(oid_at).and_then(|v| v.as_deref()) == Some(wanted.as_str()));
            row.and_then(|row| row.get(name_at).cloned().flatten()).map(|n| quoted(&n))
        }
    };
    match name {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => out.extend_from_slice(object.to_string().as_bytes()),
    }
}
