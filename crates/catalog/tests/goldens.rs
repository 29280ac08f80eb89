//! Compares every type's text and binary forms, its errors, and the native operations with what a real PostgreSQL 15 gave
//! (`tests/encodings/*.json`, written by `tests/encodings/capture`).

#![allow(clippy::panic)]

use catalog::types::datetime::{arith, extract, zone};
use catalog::types::numeric::Numeric;
use catalog::types::{self, InputContext, Type, by_oid};
use catalog::{
    Arena, ByteaOutput, DateOrder, DateStyle, Datum, Interval, IntervalStyle, Oid, Result, SqlError, Style,
};
use serde_json::Value;
use std::path::Path;

fn read(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/encodings").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("valid JSON")
}

fn field<'a>(case: &'a Value, name: &str) -> Option<&'a str> {
    case.get(name).and_then(Value::as_str)
}

fn style(set: &str) -> Style {
    let mut style = Style { time_zone: zone::by_name("UTC").expect("UTC"), ..Style::default() };
    for part in set.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').expect("name=value");
        match name {
            "datestyle" => {
                let (word, order) = value.split_once(',').expect("two words");
                style.date_style = match word {
                    "ISO" => DateStyle::Iso,
                    "SQL" => DateStyle::Sql,
                    "Postgres" => DateStyle::Postgres,
                    _ => DateStyle::German,
                };
                style.date_order = match order {
                    "MDY" => DateOrder::Mdy,
                    "DMY" => DateOrder::Dmy,
                    _ => DateOrder::Ymd,
                };
            }
            "intervalstyle" => {
                style.interval_style = match value {
                    "postgres_verbose" => IntervalStyle::PostgresVerbose,
                    "sql_standard" => IntervalStyle::SqlStandard,
                    "iso_8601" => IntervalStyle::Iso8601,
                    _ => IntervalStyle::Postgres,
                };
            }
            "timezone" => style.time_zone = zone::by_name(value).expect("a zone"),
            "extra_float_digits" => style.extra_float_digits = value.parse().expect("a number"),
            "bytea_output" => style.bytea_output = ByteaOutput::Escape,
            other => panic!("setting {other}"),
        }
    }
    style
}

/// What a literal cast to a type with a modifier becomes: read without it, then cut as an explicit cast does. Only interval's
/// input takes the modifier itself.
fn cast<'a>(text: &'a str, typ: &'static Type, typmod: i32, cx: &InputContext<'a>) -> Result<Datum<'a>> {
    let at_input = if typ.name == "interval" { typmod } else { -1 };
    let value = (typ.input)(text, &InputContext { typ, typmod: at_input, ..*cx })?;
    match typ.apply_typmod {
        Some(apply) if typmod >= 0 => apply(value, typmod, true, cx.arena),
        _ => Ok(value),
    }
}

fn printed(typ: &Type, value: Datum<'_>, style: &Style) -> String {
    let mut out = Vec::new();
    (typ.output)(value, style, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn sent(typ: &Type, value: Datum<'_>, style: &Style) -> String {
    let mut out = Vec::new();
    (typ.send)(value, style, &mut out);
    out.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex")).collect()
}

fn same_error(error: &SqlError, case: &Value) -> Option<String> {
    let fields = error.fields();
    let ours = [
        Some(fields.code.as_str()),
        Some(fields.message.as_str()),
        fields.detail.as_deref(),
        fields.hint.as_deref(),
        fields.context.as_deref(),
    ];
    let names = ["error", "message", "detail", "hint", "context"];
    names
        .iter()
        .zip(ours)
        .find(|(name, ours)| field(case, name) != *ours)
        .map(|(name, ours)| format!("{name}: {ours:?}"))
}

/// What is wrong with a case; `None` if nothing.
fn check(case: &Value) -> Option<String> {
    let oid = case["oid"].as_u64().expect("an OID") as u32;
    let Some(typ) = by_oid(Oid(oid)) else { return Some(format!("no type {oid}")) };
    let typmod = case.get("typmod").and_then(Value::as_i64).unwrap_or(-1) as i32;
    let (arena, style) = (Arena::new(), style(field(case, "set").unwrap_or("")));
    let cx = InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 };
    let value = match cast(field(case, "input").expect("input"), typ, typmod, &cx) {
        Ok(value) if case.get("error").is_some() => {
            return Some(format!("no error, but {}", printed(typ, value, &style)));
        }
        Ok(value) => value,
        Err(error) if case.get("error").is_some() => return same_error(&error, case),
        Err(error) => return Some(error.to_string()),
    };
    let (expected_text, expected_binary) =
        (field(case, "text").expect("text"), field(case, "binary").expect("binary"));
    let ours = printed(typ, value, &style);
    if ours != expected_text {
        return Some(format!("prints {ours}"));
    }
    let ours = sent(typ, value, &style);
    if ours != expected_binary {
        return Some(format!("sends {ours}"));
    }
    let binary = unhex(expected_binary);
    match (typ.receive)(arena.bytes(&binary), &cx) {
        Ok(received) if printed(typ, received, &style) == expected_text => {}
        Ok(received) => return Some(format!("receives {}", printed(typ, received, &style))),
        Err(error) => return Some(format!("receiving: {error}")),
    }
    if case["back"] == Value::Bool(true) {
        match cast(expected_text, typ, typmod, &cx) {
            Ok(again) if sent(typ, again, &style) == expected_binary => {}
            Ok(again) => return Some(format!("reads its text back as {}", printed(typ, again, &style))),
            Err(error) => return Some(format!("reading its text back: {error}")),
        }
    }
    None
}

fn check_file(file: &str) {
    let cases = read(file);
    let mut wrong = Vec::new();
    for case in &cases {
        if let Some(problem) = check(case) {
            wrong.push(format!("{problem}\n    {case}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! files {
    ($($name:ident)*) => { $(#[test] fn $name() { check_file(concat!(stringify!($name), ".json")); })* };
}

files! { bool int oids float numeric text bytea date time timestamp interval uuid json array }

/// Performs an operation of `operations.json`; the printed result, `None` for NULL.
fn operate(op: &str, args: &[&str], style: &Style) -> Result<Option<String>> {
    let arena = Arena::new();
    let cx = |typ: &'static Type| InputContext { arena: &arena, style, typ, typmod: -1, now: 0 };
    let numeric = |i: usize| Numeric::parse(args[i]);
    let int = |i: usize| -> i32 { args[i].parse().expect("an integer") };
    let double = |i: usize| -> f64 { args[i].parse().expect("a number") };
    let timestamp = |i: usize| types::timestamp::parse(args[i], &cx(&types::timestamp::TIMESTAMP));
    let moment = |i: usize| types::timestamp::parse_tz(args[i], &cx(&types::timestamp::TIMESTAMPTZ));
    let date = |i: usize| types::date::parse(args[i], &cx(&types::date::DATE));
    let span = |i: usize| types::interval::parse(args[i], style, -1);
    let number = |n: Numeric| Ok(Some(n.to_string()));
    let show = |typ: &'static Type, value: Datum<'_>| Ok(Some(printed(typ, value, style)));
    let show_timestamp = |v: i64| show(&types::timestamp::TIMESTAMP, Datum::Int(v));
    let show_moment = |v: i64| show(&types::timestamp::TIMESTAMPTZ, Datum::Int(v));
    let show_span = |v: Interval| show(&types::interval::INTERVAL, Datum::Interval(v));
    let order = |o: std::cmp::Ordering| Ok(Some((o as i32).to_string()));
    match op {
        "numeric_add" => number(numeric(0)?.add(&numeric(1)?)?),
        "numeric_sub" => number(numeric(0)?.sub(&numeric(1)?)?),
        "numeric_mul" => number(numeric(0)?.mul(&numeric(1)?)?),
        "numeric_div" => number(numeric(0)?.div(&numeric(1)?)?),
        "numeric_mod" => number(numeric(0)?.rem(&numeric(1)?)?),
        "numeric_div_trunc" => number(numeric(0)?.div_trunc(&numeric(1)?)?),
        "numeric_gcd" => number(numeric(0)?.gcd(&numeric(1)?)?),
        "numeric_lcm" => number(numeric(0)?.lcm(&numeric(1)?)?),
        "numeric_cmp" => order(numeric(0)?.cmp(&numeric(1)?)),
        "numeric_sqrt" => number(numeric(0)?.sqrt()?),
        "numeric_exp" => number(numeric(0)?.exp()?),
        "numeric_ln" => number(numeric(0)?.ln()?),
        "numeric_log" => number(numeric(1)?.log(&numeric(0)?)?),
        "numeric_power" => number(numeric(0)?.power(&numeric(1)?)?),
        "numeric_abs" => number(numeric(0)?.abs()),
        "numeric_ceil" => number(numeric(0)?.ceil()),
        "numeric_floor" => number(numeric(0)?.floor()),
        "numeric_sign" => number(numeric(0)?.sign()),
        "numeric_trim_scale" => number(numeric(0)?.trim_scale()),
        "numeric_min_scale" => Ok(numeric(0)?.min_scale().map(|s| s.to_string())),
        "numeric_int8" => Ok(Some(numeric(0)?.to_i64()?.to_string())),
        "numeric_int4" => {
            Ok(Some(numeric(0)?.to_int(i32::MIN.into(), i32::MAX.into(), "integer")?.to_string()))
        }
        "numeric_float8" => show(&types::float::FLOAT8, Datum::Float(numeric(0)?.to_f64()?)),
        "numeric_float4" => show(&types::float::FLOAT4, Datum::Float(numeric(0)?.to_f32()?.into())),
        "numeric_round" => number(numeric(0)?.round(int(1))),
        "numeric_trunc" => number(numeric(0)?.trunc(int(1))),
        "float8_numeric" => number(Numeric::from_f64(types::float::parse_float8(args[0])?)?),
        "float4_numeric" => number(Numeric::from_f32(types::float::parse_float4(args[0])?)?),
        "timestamp_pl_interval" => show_timestamp(arith::timestamp_plus_interval(timestamp(0)?, span(1)?)?),
        "timestamptz_pl_interval" => {
            show_moment(arith::timestamptz_plus_interval(moment(0)?, span(1)?, &style.time_zone)?)
        }
        "timestamp_mi" => show_span(arith::timestamp_difference(timestamp(0)?, timestamp(1)?)?),
        "timestamp_age" => show_span(arith::age(timestamp(0)?, timestamp(1)?)),
        "timestamptz_age" => show_span(arith::age_tz(moment(0)?, moment(1)?, &style.time_zone)?),
        "timestamp_trunc" => show_timestamp(extract::trunc_timestamp(args[0], timestamp(1)?)?),
        "timestamptz_trunc" => {
            show_moment(extract::trunc_timestamptz(args[0], moment(1)?, &style.time_zone)?)
        }
        "extract_timestamp" => Ok(extract::extract_timestamp(args[0], timestamp(1)?)?.map(|n| n.to_string())),
        "extract_timestamptz" => {
            Ok(extract::extract_timestamptz(args[0], moment(1)?, &style.time_zone)?.map(|n| n.to_string()))
        }
        "extract_date" => Ok(extract::extract_date(args[0], date(1)?)?.map(|n| n.to_string())),
        "extract_interval" => Ok(extract::extract_interval(args[0], span(1)?)?.map(|n| n.to_string())),
        "interval_trunc" => show_span(extract::trunc_interval(args[0], span(1)?)?),
        "interval_mul" => show_span(span(0)?.mul(double(1))?),
        "interval_div" => show_span(span(0)?.div(double(1))?),
        "interval_pl" => show_span(span(0)?.add(&span(1)?)?),
        "interval_cmp" => order(span(0)?.order(&span(1)?)),
        "justify_hours" => show_span(span(0)?.justify_hours()?),
        "justify_days" => show_span(span(0)?.justify_days()?),
        "justify_interval" => show_span(span(0)?.justify()?),
        other => panic!("operation {other}"),
    }
}

#[test]
fn operations() {
    let cases = read("operations.json");
    let mut wrong = Vec::new();
    for case in &cases {
        let args: Vec<&str> =
            case["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
        let set = field(case, "zone").map_or(String::new(), |zone| format!("timezone={zone}"));
        let problem = match operate(field(case, "op").expect("op"), &args, &style(&set)) {
            Ok(result) if case.get("error").is_none() && result.as_deref() == field(case, "text") => continue,
            Ok(result) => format!("{result:?}"),
            Err(error) if case.get("error").is_some() => match same_error(&error, case) {
                None => continue,
                Some(problem) => problem,
            },
            Err(error) => error.to_string(),
        };
        wrong.push(format!("{problem}\n    {case}"));
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
