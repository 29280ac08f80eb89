//! What the catalog says of objects, as text: definitions of indexes, constraints, views; comments; visibility; privileges; sizes.
//! Compare `ruleutils.c`, `aclchk.c`, `dbsize.c`, `namespace.c`, `misc.c`.

use super::string::quote_ident;
use super::{Entry, EvalContext, Implementation, reg, scalar, text};
use catalog::object::{Constraint, ConstraintKind, ForeignKeyAction, Index, IndexKey};
use catalog::pg::{
    LOOKUP, PG_DESCRIPTION, Proc, ProcKind, SYSTEM_CONSTRAINTS, SYSTEM_INDEXES, SYSTEM_VIEWS, Tsv,
};
use catalog::types::oid;
use catalog::{Datum, Oid, Relation, Result, SqlError, SqlState};

fn as_oid(d: Datum<'_>) -> Oid {
    Oid(d.as_int() as u32)
}

fn quoted(name: &str) -> String {
    let mut out = Vec::with_capacity(name.len() + 2);
    quote_ident(name, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// A relation's name, qualified unless `short` and visible (`generate_relation_name`).
fn relation_text(cx: &EvalContext<'_>, relation: Oid, short: bool) -> String {
    let Some((schema, name)) = reg::relation_name(cx, relation) else { return relation.to_string() };
    if short && reg::relation_is_visible(cx, relation) == Some(true) {
        return quoted(&name);
    }
    format!("{}.{}", quoted(&reg::schema_name(cx, schema).unwrap_or_default()), quoted(&name))
}

/// The field of the row of a captured relation whose key column has this value.
fn captured(tsv: &'static Tsv, key: &str, value: &str, field: &str) -> Option<&'static str> {
    let (key, field) = (tsv.column(key), tsv.column(field));
    let row = tsv.rows.iter().find(|row| row.get(key).and_then(|v| v.as_deref()) == Some(value))?;
    row.get(field)?.as_deref()
}

/// Without the parentheses around the whole, as pretty-printing leaves them out.
fn without_parentheses(expression: &str) -> &str {
    let Some(inner) = expression.strip_prefix('(').and_then(|e| e.strip_suffix(')')) else {
        return expression;
    };
    let mut depth = 0i32;
    let mut quoted = None;
    for c in inner.chars() {
        match (quoted, c) {
            (Some(q), c) if q == c => quoted = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quoted = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth < 0 {
                    return expression;
                }
            }
            (None, _) => {}
        }
    }
    inner
}

/// One key column of an index as an error's detail names it (`pg_get_indexdef_columns`).
pub(crate) fn index_key_text(cx: &EvalContext<'_>, index: Oid, place: usize) -> Option<String> {
    let objects = cx.env.objects();
    index_column(cx, objects.index(index)?, place, true)
}

/// One key column of an index as pg_get_indexdef prints it.
fn index_column(cx: &EvalContext<'_>, index: &Index, place: usize, pretty: bool) -> Option<String> {
    let objects = cx.env.objects();
    let table = objects.table(index.table)?;
    let column = index.columns.get(place)?;
    Some(match &column.key {
        IndexKey::Column(at) => quoted(&table.columns.get(usize::from(*at))?.name),
        // A function call stands alone; other expressions keep their parentheses.
        IndexKey::Expression(e) => {
            let shown = crate::deparse::kept(cx.env, cx.style, e, index.table, pretty);
            if is_call(&shown) { shown } else { format!("({shown})") }
        }
    })
}

/// Whether an expression is one function call, which needs no parentheses in an index definition.
fn is_call(expression: &str) -> bool {
    let Some(open) = expression.find('(') else { return false };
    let name = &expression[..open];
    let plain = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'"'));
    plain && without_parentheses(&expression[open..]) != &expression[open..]
}

/// `CREATE INDEX ...` (`pg_get_indexdef_worker`).
fn index_definition(cx: &EvalContext<'_>, index: &Index, short: bool) -> String {
    let mut out = String::from(if index.unique { "CREATE UNIQUE INDEX " } else { "CREATE INDEX " });
    out.push_str(&quoted(&index.name));
    out.push_str(" ON ");
    out.push_str(&relation_text(cx, index.table, short));
    out.push_str(" USING btree (");
    for (i, column) in index.columns.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&index_column(cx, index, i, short).unwrap_or_default());
        match (column.desc, column.nulls_first) {
            (false, false) | (true, true) => {}
            (false, true) => out.push_str(" NULLS FIRST"),
            (true, false) => {}
        }
        if column.desc {
            out.push_str(" DESC");
            if !column.nulls_first {
                out.push_str(" NULLS LAST");
            }
        }
    }
    out.push(')');
    if !index.include.is_empty() {
        out.push_str(" INCLUDE (");
        out.push_str(&columns(cx, index.table, &index.include));
        out.push(')');
    }
    if index.nulls_not_distinct {
        out.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(predicate) = &index.predicate {
        out.push_str(" WHERE ");
        out.push_str(&crate::deparse::kept(cx.env, cx.style, predicate, index.table, short));
    }
    out
}

/// Names of a table's columns by place, separated by commas.
fn columns(cx: &EvalContext<'_>, table: Oid, places: &[u16]) -> String {
    let objects = cx.env.objects();
    let Some(table) = objects.table(table) else { return String::new() };
    let name =
        |place: &u16| table.columns.get(usize::from(*place)).map(|c| quoted(&c.name)).unwrap_or_default();
    places.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn index_by_oid<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let wanted = as_oid(a[0]);
    let column = a.get(1).map_or(0, |d| d.as_int());
    let pretty = a.get(2).is_some_and(|d| d.as_bool());
    let objects = cx.env.objects();
    if let Some(index) = objects.index(wanted) {
        if column > 0 {
            let place = usize::try_from(column - 1).unwrap_or(usize::MAX);
            let include = || {
                let place = index.include.get(place.checked_sub(index.columns.len())?)?;
                Some(columns(cx, index.table, &[*place]))
            };
            let found = index_column(cx, index, place, pretty).or_else(include);
            return Ok(found.map_or(Datum::Null, |c| text(cx, &c)));
        }
        return Ok(text(cx, &index_definition(cx, index, pretty)));
    }
    // pg_catalog is on every search path, so pretty-printing leaves it out.
    let system = captured(&SYSTEM_INDEXES, "indexrelid", &wanted.to_string(), "def");
    Ok(system.map_or(Datum::Null, |d| {
        if pretty { text(cx, &d.replacen(" ON pg_catalog.", " ON ", 1)) } else { text(cx, d) }
    }))
}

/// The text of a constraint (`pg_get_constraintdef_worker`).
fn constraint_definition(cx: &EvalContext<'_>, constraint: &Constraint, pretty: bool) -> String {
    let mut out = String::new();
    let objects = cx.env.objects();
    match &constraint.kind {
        ConstraintKind::Check { expression, no_inherit } => {
            out.push_str("CHECK (");
            out.push_str(&crate::deparse::kept(cx.env, cx.style, expression, constraint.table, pretty));
            out.push(')');
            if *no_inherit {
                out.push_str(" NO INHERIT");
            }
        }
        ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => {
            let index = objects.index(*index);
            out.push_str(match constraint.kind {
                ConstraintKind::PrimaryKey { .. } => "PRIMARY KEY (",
                _ if index.is_some_and(|i| i.nulls_not_distinct) => "UNIQUE NULLS NOT DISTINCT (",
                _ => "UNIQUE (",
            });
            out.push_str(&columns(cx, constraint.table, &constraint.columns));
            out.push(')');
            if let Some(index) = index
                && !index.include.is_empty()
            {
                out.push_str(" INCLUDE (");
                out.push_str(&columns(cx, constraint.table, &index.include));
                out.push(')');
            }
        }
        ConstraintKind::ForeignKey {
            referenced,
            referenced_columns,
            on_update,
            on_delete,
            match_full,
            ..
        } => {
            out.push_str("FOREIGN KEY (");
            out.push_str(&columns(cx, constraint.table, &constraint.columns));
            out.push_str(") REFERENCES ");
            out.push_str(&relation_text(cx, *referenced, true));
            out.push('(');
            out.push_str(&columns(cx, *referenced, referenced_columns));
            out.push(')');
            if *match_full {
                out.push_str(" MATCH FULL");
            }
            for (event, action) in [("UPDATE", on_update), ("DELETE", on_delete)] {
                let (word, places): (&str, &[u16]) = match action {
                    ForeignKeyAction::NoAction => continue,
                    ForeignKeyAction::Restrict => ("RESTRICT", &[]),
                    ForeignKeyAction::Cascade => ("CASCADE", &[]),
                    ForeignKeyAction::SetNull(places) => ("SET NULL", places),
                    ForeignKeyAction::SetDefault(places) => ("SET DEFAULT", places),
                };
                out.push_str(&format!(" ON {event} {word}"));
                if !places.is_empty() {
                    out.push_str(&format!(" ({})", columns(cx, constraint.table, places)));
                }
            }
        }
    }
    if constraint.deferrable {
        out.push_str(" DEFERRABLE");
    }
    if constraint.initially_deferred {
        out.push_str(" INITIALLY DEFERRED");
    }
    if !constraint.validated {
        out.push_str(" NOT VALID");
    }
    out
}

fn constraint_by_oid<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let pretty = a.get(1).is_some_and(|d| d.as_bool());
    let objects = cx.env.objects();
    let wanted = as_oid(a[0]);
    if let Some(def) = captured(&SYSTEM_CONSTRAINTS, "oid", &wanted.to_string(), "def") {
        return Ok(text(cx, def));
    }
    let found = objects.constraints.get(&wanted);
    Ok(found.map_or(Datum::Null, |c| text(cx, &constraint_definition(cx, c, pretty))))
}

fn view_definition<'a>(cx: &EvalContext<'a>, view: Oid, pretty: bool) -> Datum<'a> {
    if let Some((_, name)) = reg::system_relation_name(view) {
        return captured(&SYSTEM_VIEWS, "viewname", name, "definition").map_or(Datum::Null, |d| text(cx, d));
    }
    crate::deparse::view_text(cx.env, cx.style, view, pretty).map_or(Datum::Null, |v| text(cx, &v))
}

fn view_by_name<'a>(cx: &EvalContext<'a>, name: &str, pretty: bool) -> Result<Datum<'a>> {
    Ok(view_definition(cx, reg::relation_by_name(cx, name)?, pretty))
}

/// A comment on an object, by its class where given.
fn description<'a>(cx: &EvalContext<'a>, object: Oid, class: Option<Oid>, sub: i32) -> Datum<'a> {
    let objects = cx.env.objects();
    let own = match class {
        Some(class) => objects.comments.get(&(class, object, sub)),
        None => objects.comments.iter().find(|((_, o, s), _)| *o == object && *s == sub).map(|(_, c)| c),
    };
    if let Some(comment) = own {
        return text(cx, &comment.text);
    }
    let t = &*PG_DESCRIPTION;
    let (o, c, s, d) =
        (t.column("objoid"), t.column("classoid"), t.column("objsubid"), t.column("description"));
    let field = |row: &'static Vec<Option<String>>, at: usize| row.get(at).and_then(|v| v.as_deref());
    let (object, sub) = (object.to_string(), sub.to_string());
    let class = class.map(|c| c.to_string());
    let matches = |row: &&'static Vec<Option<String>>| {
        field(row, o) == Some(&object)
            && field(row, s) == Some(&sub)
            && class.as_deref().is_none_or(|class| field(row, c) == Some(class))
    };
    let found = t.rows.iter().find(matches).and_then(|row| field(row, d));
    found.map_or(Datum::Null, |d| text(cx, d))
}

fn class_by_name(name: &str) -> Option<Oid> {
    reg::system_relation("pg_catalog", name)
}

fn serial_sequence<'a>(cx: &EvalContext<'a>, table: &str, column: &str) -> Result<Datum<'a>> {
    let relation = reg::relation_by_name(cx, table)?;
    let objects = cx.env.objects();
    let name = reg::relation_name(cx, relation).map(|(_, n)| n).unwrap_or_default();
    let place = objects.table(relation).and_then(|t| t.column(column)).map(|(place, _)| place);
    let Some(place) = place else {
        let message = format!("column \"{column}\" of relation \"{name}\" does not exist");
        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
    };
    let owned = |r: &&Relation| match r {
        Relation::Sequence(s) => {
            matches!(s.owned_by, Some((t, p, _)) if t == relation && usize::from(p) == place)
        }
        Relation::Table(_) | Relation::Index(_) | Relation::View(_) => false,
    };
    let found = objects.relations.values().find(owned);
    Ok(found.map_or(Datum::Null, |s| text(cx, &relation_text(cx, s.oid(), false))))
}

/// Bytes of a relation without its indexes.
fn relation_size(cx: &EvalContext<'_>, relation: Oid) -> Option<i64> {
    let objects = cx.env.objects();
    let number = match objects.relations.get(&relation) {
        Some(Relation::Table(t)) => t.relation,
        Some(Relation::Index(i)) => i.relation,
        Some(Relation::Sequence(_)) => return Some(8192),
        Some(Relation::View(_)) => return Some(0),
        None => return reg::system_relation_name(relation).map(|_| 0),
    };
    Some(if number == 0 { 0 } else { cx.env.relation_size(number).1 as i64 })
}

fn indexes_size(cx: &EvalContext<'_>, table: Oid) -> i64 {
    let objects = cx.env.objects();
    objects.indexes_of(table).filter_map(|i| relation_size(cx, i.oid)).sum()
}

fn database_size(cx: &EvalContext<'_>, database: Oid) -> i64 {
    let catalog = cx.env.catalog();
    let Some(objects) = catalog.objects.get(&database) else { return 0 };
    let number = |r: &Relation| match r {
        Relation::Table(t) => t.relation,
        Relation::Index(i) => i.relation,
        Relation::Sequence(_) | Relation::View(_) => 0,
    };
    let size = |n: u32| if n == 0 { 0 } else { cx.env.relation_size(n).1 as i64 };
    objects.relations.values().map(|r| size(number(r))).sum()
}

fn null_or<'a>(value: Option<i64>) -> Datum<'a> {
    value.map_or(Datum::Null, Datum::Int)
}

/// A reg type by name, NULL if there is none (`to_regclass`).
fn to_reg<'a>(cx: &EvalContext<'a>, typ: Oid, name: &str) -> Result<Datum<'a>> {
    match reg::input(cx, typ, name) {
        Ok(value) => Ok(value),
        Err(error) => match error.code() {
            SqlState::UNDEFINED_TABLE
            | SqlState::UNDEFINED_SCHEMA
            | SqlState::UNDEFINED_OBJECT
            | SqlState::UNDEFINED_FUNCTION
            | SqlState::AMBIGUOUS_FUNCTION => Ok(Datum::Null),
            _ => Err(error),
        },
    }
}

/// Arguments of a function as SQL: names, types, and OUT columns unless `identity`.
fn function_arguments(cx: &EvalContext<'_>, proc: &Proc, identity: bool) -> String {
    let mut list = Vec::new();
    let defaults = super::super::bind::overload::default_literals(proc);
    for (i, typ) in proc.args.iter().enumerate() {
        let mut one = String::new();
        if proc.variadic.is_valid() && i + 1 == proc.args.len() {
            one.push_str("VARIADIC ");
        }
        if let Some(name) = proc.arg_names.get(i).filter(|n| !n.is_empty()) {
            one.push_str(&quoted(name));
            one.push(' ');
        }
        one.push_str(&reg::format_type(cx, *typ, -1));
        let default = (i + proc.default_count).checked_sub(proc.args.len()).and_then(|d| defaults.get(d));
        if let Some((value, cast)) = default
            && !identity
        {
            let value = match cast {
                Some(cast) => format!("'{value}'::{cast}"),
                None => value.clone(),
            };
            one.push_str(" DEFAULT ");
            one.push_str(&value);
        }
        list.push(one);
    }
    if !identity {
        for (name, typ) in &proc.out_columns {
            list.push(format!("OUT {} {}", quoted(name), reg::format_type(cx, *typ, -1)));
        }
    }
    list.join(", ")
}

/// A kept expression printed for this session (`pg_get_expr`).
fn kept_expression<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>], pretty: bool) -> Datum<'a> {
    text(cx, &crate::deparse::kept(cx.env, cx.style, a[0].as_str(), as_oid(a[1]), pretty))
}

fn by_proc<'a>(
    cx: &EvalContext<'a>,
    a: &[Datum<'a>],
    print: impl FnOnce(&Proc) -> String,
) -> Result<Datum<'a>> {
    Ok(LOOKUP.proc(as_oid(a[0])).map_or(Datum::Null, |p| text(cx, &print(p))))
}

fn index_property<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Datum<'a> {
    let objects = cx.env.objects();
    let Some(index) = objects.index(as_oid(a[0])) else { return Datum::Null };
    let place = usize::try_from(a[1].as_int() - 1).unwrap_or(usize::MAX);
    let Some(column) = index.columns.get(place) else { return Datum::Null };
    match a[2].as_str() {
        "asc" => Datum::Bool(!column.desc),
        "desc" => Datum::Bool(column.desc),
        "nulls_first" => Datum::Bool(column.nulls_first),
        "nulls_last" => Datum::Bool(!column.nulls_first),
        "orderable" | "returnable" | "search_array" | "search_nulls" => Datum::Bool(true),
        "distance_orderable" => Datum::Bool(false),
        _ => Datum::Null,
    }
}

macro_rules! exists {
    (|$cx:ident, $object:ident| $found:expr) => {
        scalar(|$cx, _, a| {
            let $object = as_oid(a[0]);
            let found: Option<bool> = $found;
            Ok(found.map_or(Datum::Null, Datum::Bool))
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("pg_get_indexdef", scalar(|cx, _, a| index_by_oid(cx, a))),
    ("pg_get_indexdef_ext", scalar(|cx, _, a| index_by_oid(cx, a))),
    ("pg_get_constraintdef", scalar(|cx, _, a| constraint_by_oid(cx, a))),
    ("pg_get_constraintdef_ext", scalar(|cx, _, a| constraint_by_oid(cx, a))),
    ("pg_get_viewdef", scalar(|cx, _, a| Ok(view_definition(cx, as_oid(a[0]), false)))),
    ("pg_get_viewdef_ext", scalar(|cx, _, a| Ok(view_definition(cx, as_oid(a[0]), a[1].as_bool())))),
    ("pg_get_viewdef_wrap", scalar(|cx, _, a| Ok(view_definition(cx, as_oid(a[0]), true)))),
    ("pg_get_viewdef_name", scalar(|cx, _, a| view_by_name(cx, a[0].as_str(), false))),
    ("pg_get_viewdef_name_ext", scalar(|cx, _, a| view_by_name(cx, a[0].as_str(), a[1].as_bool()))),
    ("pg_get_expr", scalar(|cx, _, a| Ok(kept_expression(cx, a, false)))),
    ("pg_get_expr_ext", scalar(|cx, _, a| Ok(kept_expression(cx, a, a.get(2).is_some_and(|d| d.as_bool()))))),
    ("pg_get_ruledef", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_ruledef_ext", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_triggerdef", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_triggerdef_ext", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_partkeydef", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_partition_constraintdef", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_statisticsobjdef", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_get_statisticsobjdef_columns", scalar(|_, _, _| Ok(Datum::Null))),
    (
        "pg_get_replica_identity_index",
        scalar(|cx, _, a| {
            let objects = cx.env.objects();
            let primary = objects.indexes_of(as_oid(a[0])).find(|i| i.primary);
            Ok(primary.map_or(Datum::Null, |i| Datum::Int(i.oid.0.into())))
        }),
    ),
    ("pg_get_serial_sequence", scalar(|cx, _, a| serial_sequence(cx, a[0].as_str(), a[1].as_str()))),
    ("pg_get_function_arguments", scalar(|cx, _, a| by_proc(cx, a, |p| function_arguments(cx, p, false)))),
    (
        "pg_get_function_identity_arguments",
        scalar(|cx, _, a| by_proc(cx, a, |p| function_arguments(cx, p, true))),
    ),
    (
        "pg_get_function_result",
        scalar(|cx, _, a| {
            let found = LOOKUP.proc(as_oid(a[0])).filter(|p| p.kind != ProcKind::Procedure);
            Ok(found.map_or(Datum::Null, |p| {
                let set = if p.returns_set { "SETOF " } else { "" };
                text(cx, &format!("{set}{}", reg::format_type(cx, p.result, -1)))
            }))
        }),
    ),
    ("pg_get_function_sqlbody", scalar(|_, _, _| Ok(Datum::Null))),
    ("to_regclass", scalar(|cx, _, a| to_reg(cx, oid::REGCLASS, a[0].as_str()))),
    ("to_regtype", scalar(|cx, _, a| to_reg(cx, oid::REGTYPE, a[0].as_str()))),
    ("to_regproc", scalar(|cx, _, a| to_reg(cx, oid::REGPROC, a[0].as_str()))),
    ("to_regprocedure", scalar(|cx, _, a| to_reg(cx, oid::REGPROCEDURE, a[0].as_str()))),
    ("to_regoper", scalar(|cx, _, a| to_reg(cx, oid::REGOPER, a[0].as_str()))),
    ("to_regoperator", scalar(|cx, _, a| to_reg(cx, oid::REGOPERATOR, a[0].as_str()))),
    ("to_regnamespace", scalar(|cx, _, a| to_reg(cx, oid::REGNAMESPACE, a[0].as_str()))),
    ("to_regrole", scalar(|cx, _, a| to_reg(cx, oid::REGROLE, a[0].as_str()))),
    ("to_regcollation", scalar(|cx, _, a| to_reg(cx, oid::REGCOLLATION, a[0].as_str()))),
    ("text_regclass", scalar(|cx, _, a| reg::input(cx, oid::REGCLASS, a[0].as_str()))),
    ("pg_table_is_visible", exists!(|cx, object| reg::relation_is_visible(cx, object))),
    (
        "pg_type_is_visible",
        exists!(|cx, object| match cx.env.objects().row_types.get(&object) {
            Some(relation) => reg::relation_is_visible(cx, *relation),
            None => crate::bind::type_info::is_known(object).then_some(true),
        }),
    ),
    ("pg_function_is_visible", exists!(|_cx, object| LOOKUP.proc(object).map(|_| true))),
    ("pg_operator_is_visible", exists!(|_cx, object| LOOKUP.operator(object).map(|_| true))),
    ("pg_opclass_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_opfamily_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_collation_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_conversion_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_statistics_obj_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_ts_parser_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_ts_dict_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_ts_template_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    ("pg_ts_config_is_visible", exists!(|_cx, object| Some(object.is_valid()))),
    (
        "pg_relation_size",
        scalar(|cx, _, a| match a.get(1).map(|d| d.as_str()) {
            None | Some("main") => Ok(null_or(relation_size(cx, as_oid(a[0])))),
            Some("fsm" | "vm" | "init") => Ok(Datum::Int(0)),
            Some(_) => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid fork name")
                .hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".")),
        }),
    ),
    ("pg_table_size", scalar(|cx, _, a| Ok(null_or(relation_size(cx, as_oid(a[0])))))),
    ("pg_indexes_size", scalar(|cx, _, a| Ok(Datum::Int(indexes_size(cx, as_oid(a[0])))))),
    (
        "pg_total_relation_size",
        scalar(|cx, _, a| {
            let relation = as_oid(a[0]);
            Ok(null_or(relation_size(cx, relation).map(|size| size + indexes_size(cx, relation))))
        }),
    ),
    ("pg_database_size_oid", scalar(|cx, _, a| Ok(Datum::Int(database_size(cx, as_oid(a[0])))))),
    (
        "pg_database_size_name",
        scalar(|cx, _, a| {
            let catalog = cx.env.catalog();
            match catalog.database_by_name(a[0].as_str()) {
                Some(database) => Ok(Datum::Int(database_size(cx, database.oid))),
                None => Err(SqlError::new(
                    SqlState::UNDEFINED_DATABASE,
                    format!("database \"{}\" does not exist", a[0].as_str()),
                )),
            }
        }),
    ),
    (
        "pg_tablespace_size_oid",
        scalar(|cx, _, _| {
            let catalog = cx.env.catalog();
            Ok(Datum::Int(catalog.databases.keys().map(|d| database_size(cx, *d)).sum()))
        }),
    ),
    (
        "pg_tablespace_size_name",
        scalar(|cx, _, _| {
            let catalog = cx.env.catalog();
            Ok(Datum::Int(catalog.databases.keys().map(|d| database_size(cx, *d)).sum()))
        }),
    ),
    ("pg_tablespace_location", scalar(|_, _, _| Ok(Datum::text("")))),
    (
        "pg_relation_filenode",
        scalar(|cx, _, a| {
            let objects = cx.env.objects();
            Ok(match objects.relations.get(&as_oid(a[0])) {
                Some(Relation::Table(t)) => Datum::Int(t.relation.into()),
                Some(Relation::Index(i)) => Datum::Int(i.relation.into()),
                Some(Relation::Sequence(s)) => Datum::Int(s.relation.into()),
                Some(Relation::View(_)) | None => Datum::Null,
            })
        }),
    ),
    (
        "pg_relation_is_updatable",
        scalar(|cx, _, a| {
            let objects = cx.env.objects();
            Ok(Datum::Int(if objects.table(as_oid(a[0])).is_some() { 28 } else { 0 }))
        }),
    ),
    (
        "pg_column_is_updatable",
        scalar(|cx, _, a| {
            let objects = cx.env.objects();
            Ok(Datum::Bool(a[1].as_int() > 0 && objects.table(as_oid(a[0])).is_some()))
        }),
    ),
    ("pg_index_column_has_property", scalar(|cx, _, a| Ok(index_property(cx, a)))),
    (
        "pg_index_has_property",
        scalar(|cx, _, a| {
            let objects = cx.env.objects();
            if objects.index(as_oid(a[0])).is_none() {
                return Ok(Datum::Null);
            }
            Ok(match a[1].as_str() {
                "clusterable" | "index_scan" | "bitmap_scan" | "backward_scan" => Datum::Bool(true),
                _ => Datum::Null,
            })
        }),
    ),
    (
        "pg_indexam_has_property",
        scalar(|_, _, a| {
            let btree = a[0].as_int() == 403;
            Ok(match a[1].as_str() {
                "can_order" | "can_unique" | "can_include" if btree => Datum::Bool(true),
                "can_multi_col" | "can_exclude" if btree => Datum::Bool(true),
                "can_order" | "can_unique" | "can_include" | "can_multi_col" | "can_exclude" => {
                    Datum::Bool(false)
                }
                _ => Datum::Null,
            })
        }),
    ),
    // One superuser owns everything; other roles' rights are not kept yet, so nobody is refused.
    (
        "pg_has_role_name_name",
        scalar(|cx, _, a| {
            reg::role_oid(cx, a[0].as_str())?;
            reg::role_oid(cx, a[1].as_str()).map(|_| Datum::Bool(true))
        }),
    ),
    ("pg_has_role_name", scalar(|cx, _, a| reg::role_oid(cx, a[0].as_str()).map(|_| Datum::Bool(true)))),
    ("pg_has_role_name_id", scalar(|_, _, _| Ok(Datum::Bool(true)))),
    ("pg_has_role_id_name", scalar(|_, _, _| Ok(Datum::Bool(true)))),
    ("pg_has_role_id_id", scalar(|_, _, _| Ok(Datum::Bool(true)))),
    ("pg_has_role_id", scalar(|_, _, _| Ok(Datum::Bool(true)))),
    (
        "has_table_privilege_name",
        scalar(|cx, _, a| reg::relation_by_name(cx, a[0].as_str()).map(|_| Datum::Bool(true))),
    ),
    (
        "has_table_privilege_name_name",
        scalar(|cx, _, a| {
            reg::role_oid(cx, a[0].as_str())?;
            reg::relation_by_name(cx, a[1].as_str()).map(|_| Datum::Bool(true))
        }),
    ),
    (
        "has_schema_privilege_name",
        scalar(|cx, _, a| reg::schema_oid(cx, a[0].as_str()).map(|_| Datum::Bool(true))),
    ),
];

/// Functions in LANGUAGE sql over the catalog.
pub(super) const SQL_FUNCTIONS: &[(u32, Implementation)] = &[
    (
        1215,
        scalar(|cx, _, a| {
            Ok(class_by_name(a[1].as_str())
                .map_or(Datum::Null, |class| description(cx, as_oid(a[0]), Some(class), 0)))
        }),
    ),
    (1348, scalar(|cx, _, a| Ok(description(cx, as_oid(a[0]), None, 0)))),
    (
        1216,
        scalar(|cx, _, a| Ok(description(cx, as_oid(a[0]), class_by_name("pg_class"), a[1].as_int() as i32))),
    ),
    (
        1993,
        scalar(|cx, _, a| {
            Ok(class_by_name(a[1].as_str())
                .map_or(Datum::Null, |class| description(cx, as_oid(a[0]), Some(class), 0)))
        }),
    ),
    (2325, scalar(|cx, _, a| Ok(null_or(relation_size(cx, as_oid(a[0])))))),
];

/// Families of functions that need no line each: rights (all granted) and statistics that nobody counts (zero).
pub(super) fn find_family(proc: &Proc) -> Option<Implementation> {
    let src = proc.src.as_str();
    if src.starts_with("has_") && src.contains("_privilege_") {
        return Some(scalar(|_, _, _| Ok(Datum::Bool(true))));
    }
    if !src.starts_with("pg_stat_get_") || proc.returns_set {
        return None;
    }
    match (src, proc.args.as_slice(), proc.result) {
        ("pg_stat_get_live_tuples", _, _) => Some(scalar(|cx, _, a| {
            let objects = cx.env.objects();
            let rows = objects.table(as_oid(a[0])).map(|t| cx.env.relation_size(t.relation).0 as i64);
            Ok(Datum::Int(rows.unwrap_or(0)))
        })),
        ("pg_stat_get_db_numbackends", _, _) => Some(scalar(|cx, _, a| {
            let database = as_oid(a[0]);
            let here = cx.env.activity().iter().filter(|s| s.database == database).count();
            Ok(Datum::Int(here as i64))
        })),
        (_, [] | [oid::OID], oid::INT8 | oid::INT4) => Some(scalar(|_, _, _| Ok(Datum::Int(0)))),
        (_, [] | [oid::OID], oid::FLOAT8) => Some(scalar(|_, _, _| Ok(Datum::Float(0.0)))),
        (_, [] | [oid::OID], oid::TIMESTAMPTZ) => Some(scalar(|_, _, _| Ok(Datum::Null))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_parentheses_are_told_from_inner_ones() {
        assert_eq!(without_parentheses("(a > 0)"), "a > 0");
        assert_eq!(without_parentheses("(a) + (b)"), "(a) + (b)");
        assert_eq!(without_parentheses("(a = ')')"), "a = ')'");
        assert!(is_call("lower(x)"));
        assert!(!is_call("(a + b)"));
        assert!(!is_call("f(a) + g(b)"));
    }
}
