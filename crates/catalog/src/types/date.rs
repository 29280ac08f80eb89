//! date: everything that PostgreSQL reads as a date (`2020-01-31`, `Jan 31 2020`, `31.1.2020 BC`, `infinity`, `today`), printed by
//! DateStyle. Compare PostgreSQL's `date.c`. The value is days since 2000-01-01.
//!
//! Key bytes: 4 bytes, big-endian, sign flipped.

use super::datetime::{self, DATE_INFINITY, DATE_NEG_INFINITY, Special, UNIX_EPOCH_DAYS, print};
use super::{InputContext, Physical, Shape, Type, int, oid};
use crate::{Datum, Result, SqlError, SqlState};

/// date
pub static DATE: Type = Type {
    oid: oid::DATE,
    name: "date",
    sql_name: "date",
    array_oid: oid::DATE_ARRAY,
    len: 4,
    category: b'D',
    shape: Shape::Int,
    physical: Physical::Int4,
    input: |text, cx| parse(text, cx).map(Datum::Int),
    output: |value, style, out| print::date(value.as_int(), style, out),
    receive: |bytes, _| {
        let days = i64::from(i32::from_be_bytes(int::receive::<4>(bytes)?));
        if datetime::is_infinite_date(days) || datetime::is_valid_date(days) {
            return Ok(Datum::Int(days));
        }
        Err(datetime::out_of_range("date"))
    },
    send: |value, _, out| out.extend_from_slice(&(value.as_int() as i32).to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&((value.as_int() as i32) ^ i32::MIN).to_be_bytes())),
    decode_key: Some(|bytes, _| {
        int::take::<4>(bytes).map(|b| Datum::Int((i32::from_be_bytes(b) ^ i32::MIN).into()))
    }),
    ..Type::BASE
};

/// Reads a date (`date_in`). Time and zone are read and ignored.
pub fn parse(text: &str, cx: &InputContext<'_>) -> Result<i64> {
    let decoded = datetime::decode_date_time(text, cx).map_err(|e| e.sql(text, "date"))?;
    let days = match decoded.special {
        Some(Special::Epoch) => return Ok(-UNIX_EPOCH_DAYS),
        Some(Special::Infinity) => return Ok(DATE_INFINITY),
        Some(Special::NegInfinity) => return Ok(DATE_NEG_INFINITY),
        None => decoded.parts.days(),
    };
    days.filter(|days| datetime::is_valid_date(*days)).ok_or_else(|| {
        SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\""))
    })
}
