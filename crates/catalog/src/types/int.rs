//! int2, int4, int8: `[space][+-]digits[space]`; printed in decimal. Compare PostgreSQL's `int.c`, `int8.c`, `numutils.c`.

use super::{Physical, Shape, Type, oid};
use crate::{Datum, Oid, Result, SqlError, SqlState, Style};

/// smallint
pub static INT2: Type = Type {
    oid: oid::INT2,
    name: "int2",
    sql_name: "smallint",
    array_oid: oid::INT2_ARRAY,
    len: 2,
    category: b'N',
    preferred: false,
    element: Oid::INVALID,
    collatable: false,
    shape: Shape::Int,
    physical: Physical::Int2,
    input: |text, _| parse(text, i16::MIN.into(), i16::MAX.into(), "smallint").map(Datum::Int),
    output: int_out,
    receive: |bytes, _| receive::<2>(bytes).map(|b| Datum::Int(i16::from_be_bytes(b).into())),
    send: |value, _, out| out.extend_from_slice(&(value.as_int() as i16).to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&((value.as_int() as i16) ^ i16::MIN).to_be_bytes())),
    decode_key: Some(|bytes, _| {
        take::<2>(bytes).map(|b| Datum::Int((i16::from_be_bytes(b) ^ i16::MIN).into()))
    }),
    typmod_in: None,
    typmod_out: None,
    apply_typmod: None,
};

/// integer
pub static INT4: Type = Type {
    oid: oid::INT4,
    name: "int4",
    sql_name: "integer",
    array_oid: oid::INT4_ARRAY,
    len: 4,
    category: b'N',
    preferred: false,
    element: Oid::INVALID,
    collatable: false,
    shape: Shape::Int,
    physical: Physical::Int4,
    input: |text, _| parse(text, i32::MIN.into(), i32::MAX.into(), "integer").map(Datum::Int),
    output: int_out,
    receive: |bytes, _| receive::<4>(bytes).map(|b| Datum::Int(i32::from_be_bytes(b).into())),
    send: |value, _, out| out.extend_from_slice(&(value.as_int() as i32).to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&((value.as_int() as i32) ^ i32::MIN).to_be_bytes())),
    decode_key: Some(|bytes, _| {
        take::<4>(bytes).map(|b| Datum::Int((i32::from_be_bytes(b) ^ i32::MIN).into()))
    }),
    typmod_in: None,
    typmod_out: None,
    apply_typmod: None,
};

/// bigint
pub static INT8: Type = Type {
    oid: oid::INT8,
    name: "int8",
    sql_name: "bigint",
    array_oid: oid::INT8_ARRAY,
    len: 8,
    category: b'N',
    preferred: false,
    element: Oid::INVALID,
    collatable: false,
    shape: Shape::Int,
    physical: Physical::Int8,
    input: |text, _| parse(text, i64::MIN, i64::MAX, "bigint").map(Datum::Int),
    output: int_out,
    receive: |bytes, _| receive::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b))),
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&(value.as_int() ^ i64::MIN).to_be_bytes())),
    decode_key: Some(|bytes, _| take::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b) ^ i64::MIN))),
    typmod_in: None,
    typmod_out: None,
    apply_typmod: None,
};

/// Appends the decimal digits of an integer.
pub fn int_out(value: Datum<'_>, _style: &Style, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(buffer.format(value.as_int()).as_bytes());
}

/// Reads an integer within bounds, with PostgreSQL's two errors (`pg_strtoint64`).
pub fn parse(text: &str, low: i64, high: i64, type_name: &str) -> Result<i64> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, digits) = match trimmed.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    // What overflows is out of range, whatever follows it: PostgreSQL notices while it reads the digits. oid is read by
    // strtoul, which gives up beyond 64 bits.
    let limit = if low < 0 { -i128::from(low) } else { i128::from(u64::MAX) };
    let mut value: i128 = 0;
    let count = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
    for digit in digits.iter().take(count) {
        value = value * 10 + i128::from(digit - b'0');
        if value > limit {
            return Err(SqlError::text_out_of_range(type_name, text));
        }
    }
    if count == 0 || count < digits.len() {
        return Err(SqlError::invalid_text(type_name, text));
    }
    let value = if negative { -value } else { value };
    match i64::try_from(value) {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(SqlError::text_out_of_range(type_name, text)),
    }
}

/// A binary value of exactly `N` bytes (`pq_getmsgint` and the leftover check of the message).
pub(crate) fn receive<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    if N == 1 && bytes.is_empty() {
        // `pq_getmsgbyte` has words of its own.
        return Err(SqlError::protocol("no data left in message"));
    }
    if bytes.len() < N {
        return Err(SqlError::protocol("insufficient data left in message"));
    }
    bytes
        .try_into()
        .map_err(|_| SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, "incorrect binary data format"))
}

/// Takes `N` bytes off the front.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}
