//! The functions of the schema information_schema, and those of access rights that its views call. Compare
//! `information_schema.sql`, `acl.c`.

use super::array::{elements, from_values, text_array};
use super::{Emit, Entry, EvalContext, Implementation, scalar, set, text};
use crate::row::composite;
use catalog::types::array::ArrayRef;
use catalog::types::{self, oid};
use catalog::{Datum, Oid, Result};

fn as_oid(d: Datum<'_>) -> Oid {
    Oid(d.as_int() as u32)
}

fn or_null<'a>(value: Option<i64>) -> Datum<'a> {
    value.map_or(Datum::Null, Datum::Int)
}

/// Elements with their places from 1 (`_pg_expandarray`).
fn expand(a: &[Datum<'_>], emit: &mut Emit<'_>) -> Result<()> {
    for (element, place) in ArrayRef::read(a[0].as_bytes()).iter().zip(1..) {
        if emit(&[element, Datum::Int(place)])?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Place of a column among an index's keys, from 1.
fn index_position(cx: &EvalContext<'_>, index: Oid, attnum: i64) -> Option<i64> {
    let objects = cx.env.objects();
    let index = objects.index(index)?;
    let is_it = |key: &catalog::object::IndexKey| match key {
        catalog::object::IndexKey::Column(place) => i64::from(*place) + 1 == attnum,
        catalog::object::IndexKey::Expression(_) => false,
    };
    index.columns.iter().position(|c| is_it(&c.key)).map(|at| at as i64 + 1)
}

fn char_max_length(typ: Oid, typmod: i64) -> Option<i64> {
    match typ {
        _ if typmod == -1 => None,
        oid::BPCHAR | oid::VARCHAR => Some(typmod - 4),
        oid::BIT | oid::VARBIT => Some(typmod),
        _ => None,
    }
}

fn char_octet_length(typ: Oid, typmod: i64) -> Option<i64> {
    match typ {
        oid::TEXT | oid::BPCHAR | oid::VARCHAR if typmod == -1 => Some(1 << 30),
        // UTF8 has up to four bytes per character.
        oid::BPCHAR | oid::VARCHAR => char_max_length(typ, typmod).map(|n| n * 4),
        _ => None,
    }
}

fn numeric_precision(typ: Oid, typmod: i64) -> Option<i64> {
    match typ {
        oid::INT2 => Some(16),
        oid::INT4 => Some(32),
        oid::INT8 => Some(64),
        oid::FLOAT4 => Some(24),
        oid::FLOAT8 => Some(53),
        oid::NUMERIC if typmod != -1 => Some((typmod - 4) >> 16 & 0xffff),
        _ => None,
    }
}

fn numeric_radix(typ: Oid) -> Option<i64> {
    match typ {
        oid::INT2 | oid::INT4 | oid::INT8 | oid::FLOAT4 | oid::FLOAT8 => Some(2),
        oid::NUMERIC => Some(10),
        _ => None,
    }
}

fn numeric_scale(typ: Oid, typmod: i64) -> Option<i64> {
    match typ {
        oid::INT2 | oid::INT4 | oid::INT8 => Some(0),
        oid::NUMERIC if typmod != -1 => Some((typmod - 4) & 0xffff),
        _ => None,
    }
}

fn datetime_precision(typ: Oid, typmod: i64) -> Option<i64> {
    match typ {
        oid::DATE => Some(0),
        oid::TIME | oid::TIMESTAMP | oid::TIMESTAMPTZ | oid::TIMETZ => {
            Some(if typmod < 0 { 6 } else { typmod })
        }
        oid::INTERVAL => Some(if typmod < 0 || typmod & 0xffff == 0xffff { 6 } else { typmod & 0xffff }),
        _ => None,
    }
}

/// The fields of an interval type in upper case, like `DAY TO SECOND`.
fn interval_type<'a>(cx: &EvalContext<'a>, typ: Oid, typmod: i64) -> Datum<'a> {
    if typ != oid::INTERVAL {
        return Datum::Null;
    }
    let name = types::format_type(typ, typmod as i32);
    let fields = name.strip_prefix("interval").unwrap_or_default();
    let fields = fields.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '(' | ')'));
    match fields.strip_prefix(' ') {
        Some(fields) => text(cx, &fields.to_ascii_uppercase()),
        None => Datum::Null,
    }
}

/// Rights by their letters, in the order in which they are listed.
const RIGHTS: &[(char, &str)] = &[
    ('a', "INSERT"),
    ('r', "SELECT"),
    ('w', "UPDATE"),
    ('d', "DELETE"),
    ('D', "TRUNCATE"),
    ('x', "REFERENCES"),
    ('t', "TRIGGER"),
    ('X', "EXECUTE"),
    ('U', "USAGE"),
    ('C', "CREATE"),
    ('T', "TEMPORARY"),
    ('c', "CONNECT"),
    ('s', "SET"),
    ('A', "ALTER SYSTEM"),
];

/// The rights that an object has without GRANT: those of everybody and of the owner (`acldefault`).
fn default_rights<'a>(cx: &EvalContext<'a>, kind: u8, owner: Oid) -> Datum<'a> {
    let (everybody, own) = match kind {
        b'r' => ("", "arwdDxt"),
        b's' => ("", "rwU"),
        b'd' => ("Tc", "CTc"),
        b'f' => ("X", "X"),
        b'l' | b'T' => ("U", "U"),
        b'L' => ("", "rw"),
        b'n' => ("", "UC"),
        b'p' => ("", "sA"),
        b't' => ("", "C"),
        b'F' | b'S' => ("", "U"),
        _ => ("", ""),
    };
    let catalog = cx.env.catalog();
    let name = catalog.roles.get(&owner).map_or_else(|| owner.to_string(), |r| r.name.clone());
    let mut items = Vec::new();
    if !everybody.is_empty() {
        items.push(format!("={everybody}/{name}"));
    }
    if !own.is_empty() {
        items.push(format!("{name}={own}/{name}"));
    }
    let values: Vec<Datum<'_>> = items.iter().map(|i| Datum::text(i)).collect();
    from_values(cx, oid::ACLITEM, &values)
}

/// One row per right: grantor, grantee (0: everybody), right, grantable (`aclexplode`).
fn explode(cx: &EvalContext<'_>, items: Datum<'_>, emit: &mut Emit<'_>) -> Result<()> {
    let catalog = cx.env.catalog();
    let role = |name: &str| {
        let name = name.trim_matches('"');
        let number = catalog.role_by_name(name).map(|r| r.oid.0).or_else(|| name.parse().ok());
        Datum::Int(number.unwrap_or(0).into())
    };
    for item in elements(items) {
        let Some((grantee, rest)) = item.as_str().split_once('=') else { continue };
        let Some((letters, grantor)) = rest.split_once('/') else { continue };
        let (grantee, grantor) = (role(grantee), role(grantor));
        let mut letters = letters.chars().peekable();
        while let Some(letter) = letters.next() {
            let Some((_, right)) = RIGHTS.iter().find(|(l, _)| *l == letter) else { continue };
            let grantable = letters.next_if_eq(&'*').is_some();
            let row = [grantor, grantee, Datum::text(right), Datum::Bool(grantable)];
            if emit(&row)?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// `name=value` options as two columns (`pg_options_to_table`).
fn options(items: Datum<'_>, emit: &mut Emit<'_>) -> Result<()> {
    for item in elements(items) {
        let row = match item.as_str().split_once('=') {
            Some((name, value)) => [Datum::text(name), Datum::text(value)],
            None => [item, Datum::Null],
        };
        if emit(&row)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// What there is none of: replication, publications, prepared transactions, partitions.
const NOTHING: Implementation = set(|_, _, _, _| Ok(()));

pub(super) const FUNCTIONS: &[Entry] = &[
    ("acldefault_sql", scalar(|cx, _, a| Ok(default_rights(cx, a[0].as_int() as u8, as_oid(a[1]))))),
    ("aclexplode", set(|cx, _, a, emit| explode(cx, a[0], emit))),
    ("pg_options_to_table", set(|_, _, a, emit| options(a[0], emit))),
    ("pg_is_other_temp_schema", scalar(|_, _, _| Ok(Datum::Bool(false)))),
    ("pg_get_function_arg_default", scalar(|_, _, _| Ok(Datum::Null))),
    (
        "pg_relation_is_publishable",
        scalar(|cx, _, a| Ok(Datum::Bool(cx.env.objects().table(as_oid(a[0])).is_some()))),
    ),
    ("pg_partition_root", scalar(|_, _, _| Ok(Datum::Null))),
    ("pg_partition_ancestors", NOTHING),
    ("pg_partition_tree", NOTHING),
    ("pg_prepared_xact", NOTHING),
    ("pg_get_replication_slots", NOTHING),
    ("pg_stat_get_wal_senders", NOTHING),
    ("pg_stat_get_subscription", NOTHING),
    ("pg_stat_get_progress_info", NOTHING),
    ("pg_show_replication_origin_status", NOTHING),
    ("pg_get_publication_tables", NOTHING),
    ("pg_get_statisticsobjdef_expressions", scalar(|cx, _, _| Ok(text_array(cx, &[])))),
    (
        "pg_tablespace_databases",
        set(|cx, _, _, emit| {
            for database in cx.env.catalog().databases.keys() {
                if emit(&[Datum::Int(database.0.into())])?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
    (
        "pg_sequence_parameters",
        set(|cx, _, a, emit| {
            let objects = cx.env.objects();
            let Some(s) = objects.sequence(as_oid(a[0])) else { return Ok(()) };
            let row = [
                Datum::Int(s.start),
                Datum::Int(s.min),
                Datum::Int(s.max),
                Datum::Int(s.increment),
                Datum::Bool(s.cycle),
                Datum::Int(s.cache),
                Datum::Int(s.typ.0.into()),
            ];
            let _ = emit(&row)?;
            Ok(())
        }),
    ),
];

/// The functions in LANGUAGE sql of information_schema.
pub(super) const SQL_FUNCTIONS: &[(u32, Implementation)] = &[
    (13208, set(|_, _, a, emit| expand(a, emit))),
    (13209, scalar(|cx, _, a| Ok(or_null(index_position(cx, as_oid(a[0]), a[1].as_int()))))),
    // There are no domains: the type is pg_attribute.atttypid, the modifier atttypmod.
    (13210, scalar(|_, _, a| Ok(composite::field(a[0], 2)))),
    (13211, scalar(|_, _, a| Ok(composite::field(a[0], 8)))),
    (13212, scalar(|_, _, a| Ok(or_null(char_max_length(as_oid(a[0]), a[1].as_int()))))),
    (13213, scalar(|_, _, a| Ok(or_null(char_octet_length(as_oid(a[0]), a[1].as_int()))))),
    (13215, scalar(|_, _, a| Ok(or_null(numeric_precision(as_oid(a[0]), a[1].as_int()))))),
    (13216, scalar(|_, _, a| Ok(or_null(numeric_radix(as_oid(a[0])))))),
    (13217, scalar(|_, _, a| Ok(or_null(numeric_scale(as_oid(a[0]), a[1].as_int()))))),
    (13218, scalar(|_, _, a| Ok(or_null(datetime_precision(as_oid(a[0]), a[1].as_int()))))),
    (13219, scalar(|cx, _, a| Ok(interval_type(cx, as_oid(a[0]), a[1].as_int())))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_told_apart() {
        assert_eq!(char_max_length(oid::VARCHAR, 14), Some(10));
        assert_eq!(char_octet_length(oid::TEXT, -1), Some(1 << 30));
        assert_eq!(numeric_precision(oid::NUMERIC, (10 << 16) + 2 + 4), Some(10));
        assert_eq!(numeric_scale(oid::NUMERIC, (10 << 16) + 2 + 4), Some(2));
        assert_eq!(datetime_precision(oid::INTERVAL, -1), Some(6));
    }
}
