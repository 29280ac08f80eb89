//! Functions behind pg_settings, pg_stat_activity, pg_timezone_names and pg_available_extensions. Compare `guc.c: show_all_settings`,
//! `pgstatfuncs.c: pg_stat_get_activity`, `datetime.c: pg_timezone_names`, `extension.c`.

use super::array::text_array;
use super::{Entry, EvalContext, set, text};
use crate::settings::definition::{Context, DEFINITIONS, Definition};
use crate::settings::{describe, value};
use catalog::pg::PG_SETTINGS;
use catalog::{Datum, Interval, Result};

fn context_word(definition: &Definition) -> &'static str {
    match definition.context {
        Context::Internal => "internal",
        Context::Postmaster => "postmaster",
        Context::Sighup => "sighup",
        Context::Backend => "backend",
        Context::Superuser => "superuser",
        Context::User => "user",
    }
}

/// What the captured pg_settings says of a setting.
fn captured(name: &str, column: &str) -> Option<&'static str> {
    let t = &*PG_SETTINGS;
    let (key, column) = (t.column("name"), t.column(column));
    let row = t.rows.iter().find(|row| row.get(key).and_then(|v| v.as_deref()) == Some(name))?;
    row.get(column)?.as_deref()
}

fn setting_row<'a>(cx: &EvalContext<'a>, d: &Definition) -> Vec<Datum<'a>> {
    let shown = cx.env.setting(&d.name).unwrap_or_else(|| d.default.clone());
    // pg_settings shows numbers in their unit, SHOW with a friendlier one.
    let kept = if d.unit.is_empty() { shown } else { value::check(d, &d.name, &shown).unwrap_or(shown) };
    let some = |v: Option<&str>| v.map_or(Datum::Null, |v| text(cx, v));
    let (vartype, min, max, values) = describe(d);
    let values = match values {
        Some(values) => {
            let list: Vec<Datum<'_>> = values.iter().map(|v| Datum::text(v)).collect();
            text_array(cx, &list)
        }
        None => Datum::Null,
    };
    let changed = kept != d.default;
    vec![
        text(cx, &d.name),
        text(cx, &kept),
        if d.unit.is_empty() { Datum::Null } else { text(cx, &d.unit) },
        some(captured(&d.name, "category")),
        text(cx, &d.description),
        some(captured(&d.name, "extra_desc")),
        text(cx, context_word(d)),
        text(cx, vartype),
        text(cx, if changed { "session" } else { captured(&d.name, "source").unwrap_or("default") }),
        some(min.as_deref()),
        some(max.as_deref()),
        values,
        some(captured(&d.name, "boot_val")),
        text(cx, &d.default),
        Datum::Null,
        Datum::Null,
        Datum::Bool(false),
    ]
}

fn activity_rows(cx: &EvalContext<'_>, pid: Option<i64>, emit: &mut super::Emit<'_>) -> Result<()> {
    for a in cx.env.activity() {
        if pid.is_some_and(|pid| pid != i64::from(a.pid)) {
            continue;
        }
        let time = |t: Option<i64>| t.map_or(Datum::Null, Datum::Int);
        let waiting = a.state != "active";
        let row = [
            Datum::Int(a.database.0.into()),
            Datum::Int(a.pid.into()),
            Datum::Int(a.role.0.into()),
            text(cx, &a.application_name),
            text(cx, a.state),
            text(cx, &a.query),
            if waiting { text(cx, "Client") } else { Datum::Null },
            if waiting { text(cx, "ClientRead") } else { Datum::Null },
            time(a.xact_start),
            time(a.query_start),
            Datum::Int(a.backend_start),
            time(a.state_change),
            // client_addr is an inet, a type that is not there yet.
            Datum::Null,
            Datum::Null,
            Datum::Int(a.client.as_ref().map_or(-1, |(_, port)| i64::from(*port))),
            Datum::Null,
            Datum::Null,
            text(cx, "client backend"),
            Datum::Bool(false),
            Datum::Null,
            Datum::Null,
            Datum::Null,
            Datum::Null,
            Datum::Null,
            Datum::Null,
            Datum::Bool(false),
            Datum::Null,
            Datum::Bool(false),
            Datum::Null,
            Datum::Null,
        ];
        if emit(row.get(..row.len()).unwrap_or_default())?.is_break() {
            break;
        }
    }
    Ok(())
}

fn time_zones(cx: &EvalContext<'_>, emit: &mut super::Emit<'_>) -> Result<()> {
    // Microseconds from 1970 to 2000.
    const EPOCH_MICROS: i64 = 946_684_800_000_000;
    let now = jiff::Timestamp::from_microsecond(cx.env.transaction_timestamp() + EPOCH_MICROS)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    for name in jiff::tz::db().available() {
        let name = name.as_str();
        let Ok(zone) = jiff::tz::TimeZone::get(name) else { continue };
        let info = zone.to_offset_info(now);
        let offset = Interval { micros: i64::from(info.offset().seconds()) * 1_000_000, days: 0, months: 0 };
        let row = [
            text(cx, name),
            text(cx, info.abbreviation()),
            Datum::Interval(offset),
            Datum::Bool(info.dst().is_dst()),
        ];
        if emit(&row)?.is_break() {
            break;
        }
    }
    Ok(())
}

pub(super) const FUNCTIONS: &[Entry] = &[
    (
        "pgfusion_statement_cache",
        set(|cx, _, _, emit| {
            for s in cx.env.statement_cache().0 {
                let row = [
                    Datum::Int(s.database.0.into()),
                    Datum::text(&s.statement),
                    Datum::Bool(s.lifted),
                    Datum::Int(s.hits as i64),
                    Datum::Int(s.size as i64),
                ];
                if emit(&row)?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
    (
        "pgfusion_statement_cache_totals",
        set(|cx, _, _, emit| {
            let t = cx.env.statement_cache().1;
            let counts = [t.hits, t.misses, t.evicted, t.entries as u64, t.size as u64];
            emit(&counts.map(|count| Datum::Int(count as i64))).map(|_| ())
        }),
    ),
    (
        "show_all_settings",
        set(|cx, _, _, emit| {
            for definition in DEFINITIONS.all.iter().filter(|d| !d.hidden) {
                if emit(&setting_row(cx, definition))?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
    (
        "pg_stat_get_activity",
        set(|cx, _, a, emit| {
            let pid = a.first().filter(|d| !d.is_null()).map(|d| d.as_int());
            activity_rows(cx, pid, emit)
        }),
    ),
    ("pg_timezone_names", set(|cx, _, _, emit| time_zones(cx, emit))),
    (
        "pg_available_extensions",
        set(|cx, _, _, emit| {
            let row = [text(cx, "plpgsql"), text(cx, "1.0"), text(cx, "PL/pgSQL procedural language")];
            emit(&row).map(|_| ())
        }),
    ),
];
