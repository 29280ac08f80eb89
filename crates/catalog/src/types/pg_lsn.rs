//! pg_lsn: a place in the write-ahead log, `16/B374D848`. Compare PostgreSQL's `pg_lsn.c`. Key bytes: 8 bytes, big-endian.

use super::{Physical, Shape, Type, int, oid};
use crate::{Datum, Oid, SqlError};

/// pg_lsn
pub static PG_LSN: Type = Type {
    oid: oid::PG_LSN,
    name: "pg_lsn",
    sql_name: "pg_lsn",
    array_oid: Oid(3221),
    len: 8,
    category: b'U',
    shape: Shape::Int,
    physical: Physical::Int8,
    input: |text, _| {
        parse(text).map(|v| Datum::Int(v as i64)).ok_or_else(|| SqlError::invalid_text("pg_lsn", text))
    },
    output: |value, _, out| {
        let value = value.as_int() as u64;
        hex((value >> 32) as u32, out);
        out.push(b'/');
        hex(value as u32, out);
    },
    receive: |bytes, _| int::receive::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b))),
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()),
    compare: |a, b| (a.as_int() as u64).cmp(&(b.as_int() as u64)),
    encode_key: Some(|value, out| out.extend_from_slice(&value.as_int().to_be_bytes())),
    decode_key: Some(|bytes, _| int::take::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b)))),
    ..Type::BASE
};

/// One to eight hexadecimal digits on either side of a slash.
pub fn parse(text: &str) -> Option<u64> {
    let (high, low) = text.split_once('/')?;
    let part = |digits: &str| {
        let valid = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if valid { u32::from_str_radix(digits, 16).ok() } else { None }
    };
    Some(u64::from(part(high)?) << 32 | u64::from(part(low)?))
}

/// Upper-case hexadecimal without leading zeros.
fn hex(value: u32, out: &mut Vec<u8>) {
    let digits = (32 - value.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        out.push(b"0123456789ABCDEF"[(value >> (place * 4) & 15) as usize]);
    }
}
