//! text, and the pseudo types unknown and cstring that share its functions: any UTF-8 without the zero byte, printed as it is.
//! Compare PostgreSQL's `varlena.c`, `pseudotypes.c`.
//!
//! Key bytes: the text, then one zero byte, which no text contains. Order is that of the bytes (collation C).

use super::{Physical, Shape, Type, oid};
use crate::{Arena, Datum, Oid, Result, SqlError, SqlState};
use std::fmt::Write;

pub(super) const TEXT_LIKE: Type = Type {
    len: -1,
    category: b'S',
    collatable: true,
    shape: Shape::Bytes,
    physical: Physical::Bytes,
    input: |text, _| Ok(Datum::Bytes(text.as_bytes())),
    output: |value, _, out| out.extend_from_slice(value.as_bytes()),
    receive: |bytes, _| validate(bytes).map(Datum::text),
    send: |value, _, out| out.extend_from_slice(value.as_bytes()),
    compare: |a, b| a.as_bytes().cmp(b.as_bytes()),
    encode_key: Some(|value, out| encode_key(value.as_bytes(), out)),
    decode_key: Some(decode_key),
    ..Type::BASE
};

/// text
pub static TEXT: Type = Type {
    oid: oid::TEXT,
    name: "text",
    sql_name: "text",
    array_oid: oid::TEXT_ARRAY,
    preferred: true,
    ..TEXT_LIKE
};

/// unknown: the type of a literal before its context gives it one.
pub static UNKNOWN: Type = Type {
    oid: oid::UNKNOWN,
    name: "unknown",
    sql_name: "unknown",
    array_oid: Oid::INVALID,
    len: -2,
    category: b'X',
    collatable: false,
    ..TEXT_LIKE
};

/// cstring
pub static CSTRING: Type = Type {
    oid: oid::CSTRING,
    name: "cstring",
    sql_name: "cstring",
    array_oid: oid::CSTRING_ARRAY,
    len: -2,
    category: b'P',
    collatable: false,
    ..TEXT_LIKE
};

/// The bytes as text, or 22021 in PostgreSQL's words (`report_invalid_encoding`).
pub fn validate(bytes: &[u8]) -> Result<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => match memchr::memchr(0, bytes) {
            None => return Ok(text),
            Some(at) => at,
        },
        Err(error) => match memchr::memchr(0, &bytes[..error.valid_up_to()]) {
            None => error.valid_up_to(),
            Some(at) => at,
        },
    };
    let tail = &bytes[text..];
    let first = tail.first().copied().unwrap_or(0);
    // pg_utf_mblen: the length that the first byte announces.
    let announced = match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    let mut message = String::from("invalid byte sequence for encoding \"UTF8\":");
    for byte in &tail[..announced.min(tail.len())] {
        let _ = write!(message, " 0x{byte:02x}");
    }
    Err(SqlError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message))
}

/// Appends the key bytes of a text.
pub fn encode_key(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(text);
    out.push(0);
}

pub(super) fn decode_key<'a>(bytes: &mut &'a [u8], _: &'a Arena) -> Option<Datum<'a>> {
    let end = memchr::memchr(0, bytes)?;
    let text = &bytes[..end];
    *bytes = &bytes[end + 1..];
    Some(Datum::Bytes(text))
}

/// The number of characters (`pg_mbstrlen`).
#[inline]
pub fn char_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.iter().filter(|b| **b & 0xc0 != 0x80).count()
}

/// Where the character with this index begins; the length of the text if it has no more than that.
#[inline]
pub fn char_offset(text: &[u8], index: usize) -> usize {
    if text.len() <= index {
        return text.len();
    }
    let mut begins = text.iter().enumerate().filter(|(_, b)| **b & 0xc0 != 0x80);
    begins.nth(index).map_or(text.len(), |(at, _)| at)
}

/// The modifier of varchar(n) and char(n) from its literal (`anychar_typmodin`): n + 4.
pub(super) fn length_typmod_in(literals: &[&str], type_name: &str) -> Result<i32> {
    let [literal] = literals else {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    let n = super::int::parse(literal, i32::MIN.into(), i32::MAX.into(), "integer")?;
    if n < 1 {
        let message = format!("length for type {type_name} must be at least 1");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    if n > 10_485_760 {
        let message = format!("length for type {type_name} cannot exceed 10485760");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    Ok(n as i32 + 4)
}

/// `(n)` of a modifier n + 4 (`anychar_typmodout`).
pub(super) fn length_typmod_out(typmod: i32, out: &mut String) {
    if typmod > 4 {
        let _ = write!(out, "({})", typmod - 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_bytes_are_named_as_postgres_names_them() {
        let message = |bytes: &[u8]| validate(bytes).expect_err("invalid").message().to_owned();
        assert_eq!(message(b"ab\xff"), "invalid byte sequence for encoding \"UTF8\": 0xff");
        assert_eq!(message(b"ab\xe4 x"), "invalid byte sequence for encoding \"UTF8\": 0xe4 0x20 0x78");
        assert_eq!(message(b"a\0"), "invalid byte sequence for encoding \"UTF8\": 0x00");
        assert_eq!(validate("äö".as_bytes()).ok(), Some("äö"));
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let text = "aäö€b".as_bytes();
        assert_eq!(char_count(text), 5);
        assert_eq!(char_offset(text, 2), 3);
        assert_eq!(char_offset(text, 5), text.len());
        assert_eq!(char_offset(text, 50), text.len());
    }
}
