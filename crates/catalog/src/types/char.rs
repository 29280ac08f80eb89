//! "char": one byte, PostgreSQL's internal enumeration type. The value is the byte, 0 to 255; 0 is printed as nothing, bytes from
//! 128 as `\ooo`. Compare PostgreSQL's `char.c`. Key bytes: the byte.

use super::{Physical, Shape, Type, int, oid};
use crate::Datum;

/// "char"
pub static CHAR: Type = Type {
    oid: oid::CHAR,
    name: "char",
    sql_name: "\"char\"",
    array_oid: oid::CHAR_ARRAY,
    len: 1,
    category: b'Z',
    shape: Shape::Int,
    physical: Physical::Int2,
    input: |text, _| Ok(Datum::Int(parse(text.as_bytes()).into())),
    output: |value, _, out| print(value.as_int() as u8, out),
    receive: |bytes, _| int::receive::<1>(bytes).map(|[b]| Datum::Int(b.into())),
    send: |value, _, out| out.push(value.as_int() as u8),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.push(value.as_int() as u8)),
    decode_key: Some(|bytes, _| int::take::<1>(bytes).map(|[b]| Datum::Int(b.into()))),
    ..Type::BASE
};

/// The first byte, or the one that `\ooo` stands for.
pub fn parse(text: &[u8]) -> u8 {
    match text {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
        }
        [first, ..] => *first,
        [] => 0,
    }
}

/// Appends the text form.
pub fn print(byte: u8, out: &mut Vec<u8>) {
    match byte {
        0 => {}
        128.. => {
            out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)])
        }
        _ => out.push(byte),
    }
}
