//! timestamp(p) and timestamptz(p): microseconds since 2000-01-01, local or UTC; read in PostgreSQL's full grammar, printed by
//! DateStyle and TimeZone. Compare PostgreSQL's `timestamp.c`.
//!
//! Key bytes: 8 bytes, big-endian, sign flipped.

use super::datetime::{
    self, Special, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, UNIX_EPOCH_USECS, USECS_PER_SEC, print,
};
use super::{InputContext, Physical, Shape, Type, int, oid, time};
use crate::{Datum, Result, SqlError, SqlState};

const TIMESTAMP_LIKE: Type = Type {
    len: 8,
    category: b'D',
    shape: Shape::Int,
    physical: Physical::Int8,
    receive: |bytes, cx| {
        let timestamp = i64::from_be_bytes(int::receive::<8>(bytes)?);
        if datetime::is_infinite(timestamp) {
            return Ok(Datum::Int(timestamp));
        }
        if !datetime::is_valid_timestamp(timestamp) {
            return Err(datetime::out_of_range("timestamp"));
        }
        round(timestamp, cx.typmod).map(Datum::Int)
    },
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&(value.as_int() ^ i64::MIN).to_be_bytes())),
    decode_key: Some(|bytes, _| int::take::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b) ^ i64::MIN))),
    typmod_out: Some(time::typmod_out),
    apply_typmod: Some(|value, typmod, _, _| round(value.as_int(), typmod).map(Datum::Int)),
    ..Type::BASE
};

/// timestamp without time zone
pub static TIMESTAMP: Type = Type {
    oid: oid::TIMESTAMP,
    name: "timestamp",
    sql_name: "timestamp without time zone",
    array_oid: oid::TIMESTAMP_ARRAY,
    input: |text, cx| parse(text, cx).map(Datum::Int),
    output: |value, style, out| print::timestamp(value.as_int(), style, out),
    typmod_in: Some(|literals| datetime::precision_typmod_in(literals, "TIMESTAMP", "")),
    ..TIMESTAMP_LIKE
};

/// timestamp with time zone
pub static TIMESTAMPTZ: Type = Type {
    oid: oid::TIMESTAMPTZ,
    name: "timestamptz",
    sql_name: "timestamp with time zone",
    array_oid: oid::TIMESTAMPTZ_ARRAY,
    preferred: true,
    input: |text, cx| parse_tz(text, cx).map(Datum::Int),
    output: |value, style, out| print::timestamptz(value.as_int(), style, out),
    typmod_in: Some(|literals| datetime::precision_typmod_in(literals, "TIMESTAMP", " WITH TIME ZONE")),
    ..TIMESTAMP_LIKE
};

/// Reads a timestamp without time zone (`timestamp_in`); a zone in the text is ignored.
pub fn parse(text: &str, cx: &InputContext<'_>) -> Result<i64> {
    read(text, cx, "timestamp", false)
}

/// Reads a timestamp with time zone (`timestamptz_in`).
pub fn parse_tz(text: &str, cx: &InputContext<'_>) -> Result<i64> {
    read(text, cx, "timestamp with time zone", true)
}

fn read(text: &str, cx: &InputContext<'_>, type_name: &str, with_zone: bool) -> Result<i64> {
    let decoded = datetime::decode_date_time(text, cx).map_err(|e| e.sql(text, type_name))?;
    let timestamp = match decoded.special {
        Some(Special::Epoch) => Some(-UNIX_EPOCH_USECS),
        Some(Special::Infinity) => return Ok(TIMESTAMP_INFINITY),
        Some(Special::NegInfinity) => return Ok(TIMESTAMP_NEG_INFINITY),
        // The limits hold for the moment in UTC; the local time may lie beyond them.
        None if with_zone => decoded
            .parts
            .days()
            .and_then(|days| days.checked_mul(datetime::USECS_PER_DAY))
            .and_then(|t| t.checked_add(decoded.parts.time()))
            .and_then(|t| t.checked_sub(i64::from(decoded.offset) * USECS_PER_SEC))
            .filter(|t| datetime::is_valid_timestamp(*t)),
        None => decoded.parts.timestamp(),
    };
    let timestamp = timestamp.ok_or_else(|| {
        SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("timestamp out of range: \"{text}\""))
    })?;
    round(timestamp, cx.typmod)
}

/// Rounds to the modifier's digits (`AdjustTimestampForTypmod`).
pub fn round(timestamp: i64, typmod: i32) -> Result<i64> {
    if datetime::is_infinite(timestamp) {
        return Ok(timestamp);
    }
    Ok(datetime::round_micros(timestamp, typmod))
}
