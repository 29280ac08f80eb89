//! Making json from values: to_json, json_build_*, row_to_json, json_agg. Compare `json.c` (`datum_to_json`).

use super::aggregate::aggregate;
use super::array::elements;
use super::string::invalid;
use super::{Accumulator, CallTypes, Entry, EvalContext, Implementation, arg_type, io, scalar};
use crate::bind::type_info;
use catalog::types::array::{ArrayRef, Dimension};
use catalog::types::datetime::{self, print};
use catalog::types::{oid, record};
use catalog::{DateStyle, Datum, IntervalStyle, Oid, Result, SqlError, SqlState, Style};

/// Appends a string with its quotes (`escape_json`).
pub(super) fn escape(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// What stands between elements and members: a comma, with a line feed and a blank when pretty.
fn separator(pretty: bool) -> &'static [u8] {
    if pretty { b",\n " } else { b"," }
}

/// Appends a value as json.
fn value_to(cx: &EvalContext<'_>, typ: Oid, value: Datum<'_>, pretty: bool, out: &mut Vec<u8>) -> Result<()> {
    if value.is_null() {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match typ {
        oid::BOOL => out.extend_from_slice(if value.as_bool() { b"true" } else { b"false" }),
        oid::INT2 | oid::INT4 | oid::INT8 | oid::FLOAT4 | oid::FLOAT8 | oid::NUMERIC => {
            let start = out.len();
            io::output_to(cx, typ, value, out)?;
            let is_number = out.get(start..).is_some_and(|t| t.last().is_some_and(u8::is_ascii_digit));
            if !is_number {
                out.insert(start, b'"');
                out.push(b'"');
            }
        }
        oid::JSON | oid::JSONB => io::output_to(cx, typ, value, out)?,
        oid::DATE | oid::TIMESTAMP | oid::TIMESTAMPTZ => {
            out.push(b'"');
            date_to(cx, typ, value.as_int(), out);
            out.push(b'"');
        }
        oid::RECORD => record_to(cx, typ, value, pretty, out)?,
        typ if type_info::element_of(typ).is_valid() => array_to(cx, value, pretty, out)?,
        typ if type_info::is_complex(typ) => record_to(cx, typ, value, pretty, out)?,
        typ => escape(io::output(cx, typ, value)?, out),
    }
    Ok(())
}

/// Dates and times in ISO 8601 whatever DateStyle says (`JsonEncodeDateTime`).
fn date_to(cx: &EvalContext<'_>, typ: Oid, value: i64, out: &mut Vec<u8>) {
    let style =
        Style { date_style: DateStyle::Iso, interval_style: IntervalStyle::Postgres, ..cx.style.clone() };
    if typ == oid::DATE {
        print::date(value, &style, out);
        return;
    }
    let start = out.len();
    if datetime::is_infinite(value) || typ == oid::TIMESTAMP {
        print::timestamp(value, &style, out);
    } else {
        let east = datetime::zone::offset_at(&style.time_zone, value);
        print::timestamp(value + i64::from(east) * datetime::USECS_PER_SEC, &style, out);
        let sign = if east < 0 { '-' } else { '+' };
        let east = east.unsigned_abs();
        // Before an era mark, as the offset is part of the time.
        let at = if out.ends_with(b" BC") { out.len() - 3 } else { out.len() };
        let mut offset = format!("{sign}{:02}:{:02}", east / 3600, east / 60 % 60);
        if !east.is_multiple_of(60) {
            offset.push_str(&format!(":{:02}", east % 60));
        }
        out.splice(at..at, offset.bytes());
    }
    if let Some(blank) = out[start..].iter().position(|b| *b == b' ')
        && out.get(start + blank + 1).is_some_and(u8::is_ascii_digit)
    {
        out[start + blank] = b'T';
    }
}

fn array_to(cx: &EvalContext<'_>, value: Datum<'_>, pretty: bool, out: &mut Vec<u8>) -> Result<()> {
    let array = ArrayRef::read(value.as_bytes());
    if array.dimensions().is_empty() {
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    let values: Vec<Datum<'_>> = array.iter().collect();
    dimension_to(cx, array.element_type().oid, array.dimensions(), &values, pretty, out)
}

fn dimension_to(
    cx: &EvalContext<'_>,
    typ: Oid,
    dimensions: &[Dimension],
    values: &[Datum<'_>],
    pretty: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let Some((outer, inner)) = dimensions.split_first() else { return Ok(()) };
    let count = usize::try_from(outer.len).unwrap_or(0).max(1);
    out.push(b'[');
    for (i, part) in values.chunks((values.len() / count).max(1)).enumerate() {
        if i > 0 {
            out.extend_from_slice(separator(pretty));
        }
        match (inner, part) {
            ([], [value]) => value_to(cx, typ, *value, false, out)?,
            // Only the outermost dimension takes lines.
            _ => dimension_to(cx, typ, inner, part, false, out)?,
        }
    }
    out.push(b']');
    Ok(())
}

/// The names of a row type's columns; an anonymous record has `f1`, `f2` and so on.
fn column_names(cx: &EvalContext<'_>, typ: Oid) -> Vec<String> {
    let objects = cx.env.objects();
    let relation = objects.row_types.get(&typ).and_then(|r| objects.relations.get(r));
    relation.map_or_else(Vec::new, |r| {
        r.columns().iter().filter(|c| !c.dropped).map(|c| c.name.clone()).collect()
    })
}

fn record_to(
    cx: &EvalContext<'_>,
    typ: Oid,
    value: Datum<'_>,
    pretty: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let names = column_names(cx, typ);
    out.push(b'{');
    for (i, (typ, column)) in record::columns(value.as_bytes()).enumerate() {
        if i > 0 {
            out.extend_from_slice(separator(pretty));
        }
        match names.get(i) {
            Some(name) => escape(name, out),
            None => escape(&format!("f{}", i + 1), out),
        }
        out.push(b':');
        value_to(cx, typ.oid, column, false, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a member's name: any scalar's text in quotes (`datum_to_json` with `key_scalar`).
fn key_to(cx: &EvalContext<'_>, typ: Oid, value: Datum<'_>, out: &mut Vec<u8>) -> Result<()> {
    let structured = matches!(typ, oid::JSON | oid::JSONB | oid::RECORD)
        || type_info::element_of(typ).is_valid()
        || type_info::is_complex(typ);
    if structured {
        return Err(invalid("key value must be scalar, not array, composite, or json"));
    }
    match typ {
        oid::BOOL => out.extend_from_slice(if value.as_bool() { b"\"true\"" } else { b"\"false\"" }),
        oid::DATE | oid::TIMESTAMP | oid::TIMESTAMPTZ => {
            out.push(b'"');
            date_to(cx, typ, value.as_int(), out);
            out.push(b'"');
        }
        typ => escape(io::output(cx, typ, value)?, out),
    }
    Ok(())
}

fn build<'a>(cx: &EvalContext<'a>, fill: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Datum<'a>> {
    cx.arena.build(fill).map(Datum::Bytes)
}

fn build_object<'a>(cx: &EvalContext<'a>, types: &CallTypes, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if !a.len().is_multiple_of(2) {
        return Err(invalid("argument list must have even number of elements")
            .hint("The arguments of json_build_object() must consist of alternating keys and values."));
    }
    build(cx, |out| {
        out.push(b'{');
        for (i, (pair, typ)) in a.chunks(2).zip(types.args.chunks(2)).enumerate() {
            let ([key, value], [key_type, value_type]) = (pair, typ) else { continue };
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            if key.is_null() {
                return Err(invalid(format!("argument {} cannot be null", 2 * i + 1))
                    .hint("Object keys should be text."));
            }
            key_to(cx, key_type.oid, *key, out)?;
            out.extend_from_slice(b" : ");
            value_to(cx, value_type.oid, *value, false, out)?;
        }
        out.push(b'}');
        Ok(())
    })
}

fn build_array<'a>(cx: &EvalContext<'a>, types: &CallTypes, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    build(cx, |out| {
        out.push(b'[');
        for (i, (value, typ)) in a.iter().zip(&types.args).enumerate() {
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            value_to(cx, typ.oid, *value, false, out)?;
        }
        out.push(b']');
        Ok(())
    })
}

fn null_key() -> SqlError {
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key")
}

/// Members from texts: names and values in turn.
fn object_of<'a>(cx: &EvalContext<'a>, pairs: &[(Datum<'_>, Datum<'_>)]) -> Result<Datum<'a>> {
    build(cx, |out| {
        out.push(b'{');
        for (i, (key, value)) in pairs.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            if key.is_null() {
                return Err(null_key());
            }
            escape(key.as_str(), out);
            out.extend_from_slice(b" : ");
            match value {
                Datum::Null => out.extend_from_slice(b"null"),
                value => escape(value.as_str(), out),
            }
        }
        out.push(b'}');
        Ok(())
    })
}

/// json_object(text[]): alternating, or pairs in the second dimension.
fn object<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let fail = |message: &str| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    match ArrayRef::read(a[0].as_bytes()).dimensions() {
        [] => {}
        [one] if one.len % 2 != 0 => return fail("array must have even number of elements"),
        [_] => {}
        [_, second] if second.len != 2 => return fail("array must have two columns"),
        [_, _] => {}
        _ => return fail("wrong number of array subscripts"),
    }
    let values = elements(a[0]);
    let pairs: Vec<(Datum<'_>, Datum<'_>)> = values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    object_of(cx, &pairs)
}

fn object_two<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let fail = |message: &str| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    let dimensions = |d: Datum<'_>| ArrayRef::read(d.as_bytes()).dimensions().len();
    if dimensions(a[0]) > 1 || dimensions(a[0]) != dimensions(a[1]) {
        return fail("wrong number of array subscripts");
    }
    let (keys, values) = (elements(a[0]), elements(a[1]));
    if keys.len() != values.len() {
        return fail("mismatched array dimensions");
    }
    object_of(cx, &keys.into_iter().zip(values).collect::<Vec<_>>())
}

fn to_json<'a>(cx: &EvalContext<'a>, types: &CallTypes, a: &[Datum<'a>], pretty: bool) -> Result<Datum<'a>> {
    let typ = match types.args.first() {
        Some(t) => t.oid,
        None => arg_type(types, 0)?.oid,
    };
    build(cx, |out| value_to(cx, typ, a[0], pretty, out))
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("json_build_object", scalar(build_object)),
    ("json_build_object_noargs", scalar(|_, _, _| Ok(Datum::text("{}")))),
    ("json_build_array", scalar(build_array)),
    ("json_build_array_noargs", scalar(|_, _, _| Ok(Datum::text("[]")))),
    ("json_object", scalar(|cx, _, a| object(cx, a))),
    ("json_object_two_arg", scalar(|cx, _, a| object_two(cx, a))),
    ("to_json", scalar(|cx, types, a| to_json(cx, types, a, false))),
    ("array_to_json", scalar(|cx, types, a| to_json(cx, types, a, false))),
    ("array_to_json_pretty", scalar(|cx, types, a| to_json(cx, types, a, a[1].as_bool()))),
    ("row_to_json", scalar(|cx, types, a| to_json(cx, types, a, false))),
    ("row_to_json_pretty", scalar(|cx, types, a| to_json(cx, types, a, a[1].as_bool()))),
];

/// json_agg and json_object_agg.
pub(super) fn find_aggregate(name: &str) -> Option<Implementation> {
    let mut found = match name {
        "json_agg" => aggregate(|types, _| {
            Ok(Box::new(Collected { types: oids(types), object: false, json: Vec::new() }))
        }),
        "json_object_agg" => aggregate(|types, _| {
            Ok(Box::new(Collected { types: oids(types), object: true, json: Vec::new() }))
        }),
        _ => return None,
    };
    found.strict = false;
    Some(Implementation::Aggregate(found))
}

fn oids(types: &CallTypes) -> Vec<Oid> {
    types.args.iter().map(|t| t.oid).collect()
}

/// The json so far, without its closing bracket; empty before the first row.
struct Collected {
    types: Vec<Oid>,
    object: bool,
    json: Vec<u8>,
}

impl Accumulator for Collected {
    fn add(&mut self, cx: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let typ = |i: usize| self.types.get(i).copied().unwrap_or(oid::TEXT);
        let first = self.json.is_empty();
        if self.object {
            self.json.extend_from_slice(if first { b"{ " } else { b", " });
            if args[0].is_null() {
                return Err(invalid("field name must not be null"));
            }
            let (key, value) = (typ(0), typ(1));
            key_to(cx, key, args[0], &mut self.json)?;
            self.json.extend_from_slice(b" : ");
            return value_to(cx, value, args[1], false, &mut self.json);
        }
        let typ = typ(0);
        self.json.extend_from_slice(if first { b"[" } else { b", " });
        // Structured elements take a line each.
        let structured =
            typ == oid::RECORD || type_info::element_of(typ).is_valid() || type_info::is_complex(typ);
        if structured && !first && !args[0].is_null() {
            self.json.extend_from_slice(b"\n ");
        }
        value_to(cx, typ, args[0], false, &mut self.json)
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        if self.json.is_empty() {
            return Ok(Datum::Null);
        }
        let end: &[u8] = if self.object { b" }" } else { b"]" };
        Ok(Datum::Bytes(cx.arena.concat(&self.json, end)))
    }

    fn size(&self) -> usize {
        64 + self.json.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut out = Vec::new();
        escape("a\"b\\\n\u{1}é", &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "\"a\\\"b\\\\\\n\\u0001é\"");
    }
}
