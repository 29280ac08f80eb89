//! What the session and the server are. Compare `misc.c`, `version.c`, `name.c`, `format_type.c`.

use super::{CallTypes, Entry, EvalContext, reg, scalar, text};
use catalog::{Datum, Oid, Result, SqlError, SqlState};

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
            let name = match a[1] {
                Datum::Null => reg::type_name(cx, oid(a[0])),
                typmod => reg::format_type(cx, oid(a[0]), typmod.as_int() as i32),
            };
            Ok(text(cx, &name))
        }),
    ),
    (
        "pg_typeof",
        scalar(|_, types: &CallTypes, _| {
            Ok(types.args.first().map_or(Datum::Null, |t| Datum::Int(t.oid.0.into())))
        }),
    ),
    ("show_config_by_name", scalar(|cx, _, a| current_setting(cx, a[0].as_str(), false))),
    ("show_config_by_name_missing_ok", scalar(|cx, _, a| current_setting(cx, a[0].as_str(), a[1].as_bool()))),
    ("set_config_by_name", scalar(|cx, _, a| set_config(cx, a))),
    ("pg_is_in_recovery", scalar(|_, _, _| Ok(Datum::Bool(false)))),
    ("pg_jit_available", scalar(|_, _, _| Ok(Datum::Bool(false)))),
    ("pg_trigger_depth", scalar(|_, _, _| Ok(Datum::Int(0)))),
    ("pg_my_temp_schema", scalar(|_, _, _| Ok(Datum::Int(0)))),
    ("row_security_active", scalar(|_, _, _| Ok(Datum::Bool(false)))),
    ("row_security_active_name", scalar(|_, _, _| Ok(Datum::Bool(false)))),
    ("pg_postmaster_start_time", scalar(|cx, _, _| Ok(Datum::Int(cx.env.server_start())))),
    ("pg_conf_load_time", scalar(|cx, _, _| Ok(Datum::Int(cx.env.server_start())))),
    ("pg_sleep", scalar(|cx, _, a| sleep(cx, a[0].as_float()))),
    (
        "pg_cancel_backend",
        scalar(|cx, _, a| cx.env.signal_backend(a[0].as_int() as i32, false).map(Datum::Bool)),
    ),
    (
        "pg_terminate_backend",
        scalar(|cx, _, a| cx.env.signal_backend(a[0].as_int() as i32, true).map(Datum::Bool)),
    ),
    ("pg_current_xact_id", scalar(|cx, _, _| Ok(Datum::Int(cx.env.transaction_id()? as i64)))),
    (
        "pg_current_xact_id_if_assigned",
        scalar(|cx, _, _| {
            Ok(cx.env.transaction_id_if_assigned().map_or(Datum::Null, |id| Datum::Int(id as i64)))
        }),
    ),
    ("getdatabaseencoding", scalar(|_, _, _| Ok(Datum::text("UTF8")))),
    (
        "pg_client_encoding",
        scalar(|cx, _, _| {
            let encoding = cx.env.setting("client_encoding").unwrap_or_else(|| "UTF8".into());
            Ok(text(cx, &encoding))
        }),
    ),
    (
        "PG_encoding_to_char",
        scalar(|_, _, a| {
            let place = usize::try_from(a[0].as_int()).unwrap_or(usize::MAX);
            Ok(Datum::text(ENCODINGS.get(place).copied().unwrap_or_default()))
        }),
    ),
    (
        "PG_char_to_encoding",
        scalar(|_, _, a| {
            let plain = |s: &str| -> String { s.chars().filter(char::is_ascii_alphanumeric).collect() };
            let wanted = match plain(a[0].as_str()).to_ascii_lowercase().as_str() {
                "unicode" => "utf8".into(),
                "iso88591" => "latin1".into(),
                other => other.to_owned(),
            };
            let found = ENCODINGS.iter().position(|e| plain(e).eq_ignore_ascii_case(&wanted));
            Ok(Datum::Int(found.map_or(-1, |at| at as i64)))
        }),
    ),
    (
        "pg_encoding_max_length_sql",
        scalar(|_, _, a| {
            Ok(match a[0].as_int() {
                6 => Datum::Int(4),
                0 | 8 => Datum::Int(1),
                _ => Datum::Null,
            })
        }),
    ),
    // Connections over a Unix socket have no address; over TCP the type inet would be needed.
    ("inet_client_addr", scalar(|_, _, _| Ok(Datum::Null))),
    ("inet_client_port", scalar(|_, _, _| Ok(Datum::Null))),
    ("inet_server_addr", scalar(|_, _, _| Ok(Datum::Null))),
    ("inet_server_port", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_num_nulls", scalar(|_, _, a| Ok(Datum::Int(a.iter().filter(|d| d.is_null()).count() as i64)))),
    ("pg_num_nonnulls", scalar(|_, _, a| Ok(Datum::Int(a.iter().filter(|d| !d.is_null()).count() as i64)))),
    ("pg_column_size", scalar(|_, types, a| Ok(Datum::Int(column_size(types, a[0]))))),
    (
        "pg_collation_for",
        scalar(|cx, types, _| {
            let typ = super::arg_type(types, 0)?;
            if typ.collatable || typ.oid == catalog::types::oid::UNKNOWN {
                return Ok(text(cx, "\"default\""));
            }
            let message = format!("collations are not supported by type {}", typ.sql_name);
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
        }),
    ),
    ("pg_size_pretty", scalar(|cx, _, a| Ok(text(cx, &size_pretty(a[0].as_int()))))),
    (
        "pg_size_pretty_numeric",
        scalar(|cx, _, a| {
            let size = catalog::types::numeric::Numeric::unpack(a[0].as_bytes()).to_i64()?;
            Ok(text(cx, &size_pretty(size)))
        }),
    ),
    ("pg_listening_channels", super::set(|_, _, _, _| Ok(()))),
    (
        "xid_age",
        scalar(|cx, _, a| {
            let now = cx.env.transaction_id_if_assigned().unwrap_or(3) as u32;
            Ok(Datum::Int(i64::from(now.wrapping_sub(a[0].as_int() as u32) as i32)))
        }),
    ),
    ("mxid_age", scalar(|_, _, _| Ok(Datum::Int(0)))),
];

/// Encodings by number (`pg_wchar.h`), those of servers.
const ENCODINGS: &[&str] = &[
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
];

fn current_setting<'a>(cx: &EvalContext<'a>, name: &str, missing_ok: bool) -> Result<Datum<'a>> {
    match cx.env.setting(name) {
        Some(value) => Ok(text(cx, &value)),
        None if missing_ok => Ok(Datum::Null),
        None => Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("unrecognized configuration parameter \"{name}\""),
        )),
    }
}

fn set_config<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
    }
    let value = if a[1].is_null() { "" } else { a[1].as_str() };
    let local = a[2].is_true();
    cx.env.set_setting(a[0].as_str(), value, local).map(|value| text(cx, &value))
}

fn sleep<'a>(cx: &EvalContext<'a>, seconds: f64) -> Result<Datum<'a>> {
    if seconds > 0.0 {
        // Longer than a year is as good as for ever.
        cx.env.sleep(std::time::Duration::from_secs_f64(seconds.min(31_536_000.0)))?;
    }
    Ok(super::VOID)
}

fn column_size(types: &CallTypes, value: Datum<'_>) -> i64 {
    let typ = types.args.first().and_then(|t| catalog::types::by_oid(t.oid));
    match (typ, value) {
        (Some(typ), _) if typ.len > 0 => typ.len.into(),
        (_, Datum::Bytes(bytes)) => bytes.len() as i64 + if bytes.len() < 127 { 1 } else { 4 },
        _ => 8,
    }
}

/// `pg_size_pretty`: the size in the largest unit that leaves more than 10 of it, rounded half up.
fn size_pretty(size: i64) -> String {
    let half_rounded = |v: i64| (v + v.signum().max(-1) * i64::from(v != 0)) / 2;
    if size.unsigned_abs() < 10 * 1024 {
        return format!("{size} bytes");
    }
    let mut value = size / (1 << 9);
    for (place, unit) in ["kB", "MB", "GB", "TB", "PB"].iter().enumerate() {
        if place == 4 || value.unsigned_abs() < 20 * 1024 - 1 {
            return format!("{} {unit}", half_rounded(value));
        }
        value /= 1 << 10;
    }
    String::new()
}
