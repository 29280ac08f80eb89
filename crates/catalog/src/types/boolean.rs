//! bool: any unambiguous beginning of true, yes, on, 1, false, no, off, 0, in either case; printed `t` or `f`. Compare PostgreSQL's `bool.c`.

use super::{Physical, Shape, Type, int, oid};
use crate::{Datum, SqlError};

/// boolean
pub static BOOL: Type = Type {
    oid: oid::BOOL,
    name: "bool",
    sql_name: "boolean",
    array_oid: oid::BOOL_ARRAY,
    len: 1,
    category: b'B',
    preferred: true,
    shape: Shape::Bool,
    physical: Physical::Bool,
    input: |text, _| parse(text).map(Datum::Bool).ok_or_else(|| SqlError::invalid_text("boolean", text)),
    output: |value, _, out| out.push(if value.as_bool() { b't' } else { b'f' }),
    receive: |bytes, _| int::receive::<1>(bytes).map(|[b]| Datum::Bool(b != 0)),
    send: |value, _, out| out.push(value.as_bool().into()),
    compare: |a, b| a.as_bool().cmp(&b.as_bool()),
    encode_key: Some(|value, out| out.push(value.as_bool().into())),
    decode_key: Some(|bytes, _| int::take::<1>(bytes).map(|[b]| Datum::Bool(b != 0))),
    ..Type::BASE
};

/// Reads a boolean as `parse_bool` does: also what boolean settings accept.
pub fn parse(text: &str) -> Option<bool> {
    let word = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').as_bytes();
    let begins = |full: &str, least: usize| {
        word.len() >= least
            && word.len() <= full.len()
            && full.as_bytes()[..word.len()].eq_ignore_ascii_case(word)
    };
    if begins("true", 1) || begins("yes", 1) || begins("on", 2) || word == b"1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == b"0" {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn beginnings_count_when_they_are_unambiguous() {
        for word in ["t", "TRUE", " yE ", "on", "1"] {
            assert_eq!(parse(word), Some(true), "{word}");
        }
        for word in ["f", "fals", "n", "of", "OFF", "0"] {
            assert_eq!(parse(word), Some(false), "{word}");
        }
        for word in ["", "o", "truee", "01", "yes1"] {
            assert_eq!(parse(word), None, "{word}");
        }
    }
}
