//! bytea: `\x` and hexadecimal digits, or escape form; printed by bytea_output. Compare PostgreSQL's `varlena.c`, `encode.c`.
//!
//! Key bytes: the bytes with each `00` written `00 ff`, then `00 00`.

use super::{Physical, Shape, Type, oid};
use crate::{Arena, ByteaOutput, Datum, Result, SqlError, SqlState};

/// bytea
pub static BYTEA: Type = Type {
    oid: oid::BYTEA,
    name: "bytea",
    sql_name: "bytea",
    array_oid: oid::BYTEA_ARRAY,
    len: -1,
    category: b'U',
    shape: Shape::Bytes,
    physical: Physical::Bytes,
    input: |text, cx| parse(text, cx.arena).map(Datum::Bytes),
    output: |value, style, out| match style.bytea_output {
        ByteaOutput::Hex => {
            out.extend_from_slice(b"\\x");
            print_hex(value.as_bytes(), out);
        }
        ByteaOutput::Escape => print_escape(value.as_bytes(), out),
    },
    receive: |bytes, _| Ok(Datum::Bytes(bytes)),
    send: |value, _, out| out.extend_from_slice(value.as_bytes()),
    compare: |a, b| a.as_bytes().cmp(b.as_bytes()),
    encode_key: Some(|value, out| encode_key(value.as_bytes(), out)),
    decode_key: Some(decode_key),
    ..Type::BASE
};

/// Reads either text form (`byteain`).
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<&'a [u8]> {
    match text.strip_prefix("\\x") {
        Some(digits) => arena.build(|out| parse_hex(digits, out)),
        None if !text.contains('\\') => Ok(text.as_bytes()),
        None => arena.build(|out| parse_escape(text.as_bytes(), out)),
    }
}

/// Appends the bytes of pairs of hexadecimal digits, blanks between pairs allowed (`hex_decode`).
pub fn parse_hex(digits: &str, out: &mut Vec<u8>) -> Result<()> {
    let nibble = |c: char| {
        c.to_digit(16).map(|d| d as u8).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid hexadecimal digit: \"{c}\""))
        })
    };
    let mut chars = digits.chars();
    while let Some(c) = chars.next() {
        if matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = nibble(c)?;
        let low = chars.next().ok_or_else(|| {
            SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits")
        })?;
        out.push(high << 4 | nibble(low)?);
    }
    Ok(())
}

/// Appends what the escape form stands for: `\\` and `\ooo` (`byteain`).
pub fn parse_escape(mut text: &[u8], out: &mut Vec<u8>) -> Result<()> {
    loop {
        match text {
            [] => return Ok(()),
            [b'\\', b'\\', rest @ ..] => {
                out.push(b'\\');
                text = rest;
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                text = rest;
            }
            [b'\\', ..] => {
                return Err(SqlError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    "invalid input syntax for type bytea",
                ));
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                text = rest;
            }
        }
    }
}

/// Appends two lower-case digits per byte.
pub fn print_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for chunk in bytes.chunks(32) {
        let mut pairs = [0u8; 64];
        for (pair, byte) in pairs.chunks_exact_mut(2).zip(chunk) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.extend_from_slice(&pairs[..chunk.len() * 2]);
    }
}

/// Appends the escape form: `\\` for a backslash, `\ooo` for what is not printable ASCII.
pub fn print_escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..=0x7e => out.push(byte),
            _ => {
                out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)])
            }
        }
    }
}

/// Appends key bytes of a byte string.
pub fn encode_key(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(0, bytes) {
        out.extend_from_slice(&bytes[..=at]);
        out.push(0xff);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0, 0]);
}

/// The inverse of `encode_key`; borrows where nothing was escaped.
pub fn decode_key<'a>(key: &mut &'a [u8], arena: &'a Arena) -> Option<Datum<'a>> {
    let all = *key;
    let mut at = memchr::memchr(0, all)?;
    if all.get(at + 1) == Some(&0) {
        *key = &all[at + 2..];
        return Some(Datum::Bytes(&all[..at]));
    }
    let mut bytes = Vec::with_capacity(all.len());
    let mut start = 0;
    loop {
        match all.get(at + 1)? {
            0 => {
                bytes.extend_from_slice(&all[start..at]);
                *key = &all[at + 2..];
                return Some(Datum::Bytes(arena.bytes(&bytes)));
            }
            0xff => bytes.extend_from_slice(&all[start..=at]),
            _ => return None,
        }
        start = at + 2;
        at = start + memchr::memchr(0, all.get(start..)?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_read_and_print() {
        let arena = Arena::new();
        assert_eq!(parse("\\x 12 34", &arena).ok(), Some(&b"\x12\x34"[..]));
        assert_eq!(parse("a\\\\\\123", &arena).ok(), Some(&b"a\\S"[..]));
        let error = |text| parse(text, &arena).expect_err("invalid").message().to_owned();
        assert_eq!(error("\\x1"), "invalid hexadecimal data: odd number of digits");
        assert_eq!(error("\\x1 2"), "invalid hexadecimal digit: \" \"");
        assert_eq!(error("\\1"), "invalid input syntax for type bytea");
        let mut out = Vec::new();
        print_escape(b"a\\\x80\n", &mut out);
        assert_eq!(out, b"a\\\\\\200\\012");
    }
}
