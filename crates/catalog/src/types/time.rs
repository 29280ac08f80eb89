//! time(p): a time of day from 00:00 to 24:00, microseconds. Compare PostgreSQL's `date.c`. Key bytes: 8 bytes, big-endian.

use super::datetime::{self, USECS_PER_DAY, print};
use super::{InputContext, Physical, Shape, Type, int, oid};
use crate::{Datum, Result};
use std::fmt::Write;

/// time without time zone
pub static TIME: Type = Type {
    oid: oid::TIME,
    name: "time",
    sql_name: "time without time zone",
    array_oid: oid::TIME_ARRAY,
    len: 8,
    category: b'D',
    shape: Shape::Int,
    physical: Physical::Int8,
    input: |text, cx| parse(text, cx).map(Datum::Int),
    output: |value, _, out| print::time(value.as_int(), out),
    receive: |bytes, cx| {
        let time = i64::from_be_bytes(int::receive::<8>(bytes)?);
        if !(0..=USECS_PER_DAY).contains(&time) {
            return Err(datetime::out_of_range("time"));
        }
        Ok(Datum::Int(datetime::round_micros(time, cx.typmod)))
    },
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&value.as_int().to_be_bytes())),
    decode_key: Some(|bytes, _| int::take::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b)))),
    typmod_in: Some(|literals| datetime::precision_typmod_in(literals, "TIME", "")),
    typmod_out: Some(typmod_out),
    apply_typmod: Some(|value, typmod, _, _| Ok(Datum::Int(datetime::round_micros(value.as_int(), typmod)))),
    ..Type::BASE
};

/// Reads a time of day (`time_in`).
pub fn parse(text: &str, cx: &InputContext<'_>) -> Result<i64> {
    if let Some(time) = datetime::iso_time_of_day(text) {
        return Ok(datetime::round_micros(time, cx.typmod));
    }
    // A zone is read and ignored.
    let decoded = datetime::decode_time_only(text, cx).map_err(|e| e.sql(text, "time"))?;
    Ok(datetime::round_micros(decoded.parts.time(), cx.typmod))
}

/// `(p)`
pub(super) fn typmod_out(typmod: i32, out: &mut String) {
    if typmod >= 0 {
        let _ = write!(out, "({typmod})");
    }
}
