//! What the session and the server are. Compare `misc.c`, `version.c`, `name.c`, `format_type.c`.

use super::{CallTypes, Entry, EvalContext, reg, scalar, text};
use catalog::{Datum, Oid};

/// The text of `version()`. Drivers parse the number after "PostgreSQL ".
pub const VERSION: &str = concat!(
    "PostgreSQL 15.18 (pgfusion ",
    env!("CARGO_PKG_VERSION"),
    ") on x86_64-pc-linux-gnu, compiled by rustc, 64-bit"
);

fn oid(d: Datum<'_>) -> Oid {
    Oid(d.as_int() as u32)
}

fn role_name<'a>(cx: &EvalContext<'a>, role: Oid) -> Datum<'a> {
    match cx.env.catalog().roles.get(&role) {
        Some(role) => text(cx, &role.name),
        None => text(cx, &format!("unknown (OID={role})")),
    }
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("pgsql_version", scalar(|_, _, _| Ok(Datum::text(VERSION)))),
    (
        "current_database",
        scalar(|cx, _, _| {
            let catalog = cx.env.catalog();
            Ok(catalog.databases.get(&cx.env.database()).map_or(Datum::Null, |d| text(cx, &d.name)))
        }),
    ),
    ("current_user", scalar(|cx, _, _| Ok(role_name(cx, cx.env.current_role())))),
    ("session_user", scalar(|cx, _, _| Ok(role_name(cx, cx.env.session_role())))),
    ("pg_get_userbyid", scalar(|cx, _, a| Ok(role_name(cx, oid(a[0]))))),
    ("pg_backend_pid", scalar(|cx, _, _| Ok(Datum::Int(cx.env.backend_pid().into())))),
    (
        "current_schema",
        scalar(|cx, _, _| {
            let path = cx.env.search_path(false);
            let name = path.first().and_then(|s| reg::schema_name(cx, *s));
            Ok(name.map_or(Datum::Null, |n| text(cx, &n)))
        }),
    ),
    (
        "format_type",
        scalar(|cx, _, a| {
            if a[0].is_null() {
                return Ok(Datum::Null);
            }
            let typmod = if a[1].is_null() { -1 } else { a[1].as_int() as i32 };
            Ok(text(cx, &reg::format_type(cx, oid(a[0]), typmod)))
        }),
    ),
    (
        "pg_typeof",
        scalar(|_, types: &CallTypes, _| {
            Ok(types.args.first().map_or(Datum::Null, |t| Datum::Int(t.oid.0.into())))
        }),
    ),
];
