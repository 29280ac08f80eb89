//! uuid: 32 hexadecimal digits with optional hyphens after each group of four and optional braces, printed in 8-4-4-4-12. Compare
//! PostgreSQL's `uuid.c`. Packed form, key bytes and binary form are the 16 bytes.

use super::{Physical, Shape, Type, int, oid};
use crate::{Datum, SqlError};

/// uuid
pub static UUID: Type = Type {
    oid: oid::UUID,
    name: "uuid",
    sql_name: "uuid",
    array_oid: oid::UUID_ARRAY,
    len: 16,
    category: b'U',
    shape: Shape::Bytes,
    physical: Physical::Bytes,
    input: |text, cx| {
        let bytes = parse(text).ok_or_else(|| SqlError::invalid_text("uuid", text))?;
        Ok(Datum::Bytes(cx.arena.bytes(&bytes)))
    },
    output: |value, _, out| print(value.as_bytes(), out),
    receive: |bytes, _| int::receive::<16>(bytes).map(|_| Datum::Bytes(bytes)),
    send: |value, _, out| out.extend_from_slice(value.as_bytes()),
    compare: |a, b| a.as_bytes().cmp(b.as_bytes()),
    encode_key: Some(|value, out| out.extend_from_slice(value.as_bytes())),
    decode_key: Some(|bytes, _| {
        let (head, rest) = bytes.split_at_checked(16)?;
        *bytes = rest;
        Some(Datum::Bytes(head))
    }),
    ..Type::BASE
};

/// Reads the text form (`string_to_uuid`).
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let bare = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut rest = bare.as_bytes();
    let mut bytes = [0u8; 16];
    for (i, byte) in bytes.iter_mut().enumerate() {
        let (pair, after) = rest.split_first_chunk::<2>()?;
        let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        rest = after;
        // A hyphen may follow each group of four digits but the last.
        if i % 2 == 1 && i < 15 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
    }
    rest.is_empty().then_some(bytes)
}

/// Appends the text form.
pub fn print(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut at = 0;
    for (i, byte) in bytes.iter().take(16).enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            at += 1;
        }
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 15)];
        at += 2;
    }
    out.extend_from_slice(&text[..at]);
}
