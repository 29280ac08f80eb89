//! char(n): text padded with blanks to n characters; trailing blanks do not count in comparisons. Compare `varchar.c`.
//!
//! Key bytes: the text without its trailing blanks, then a zero byte. They do not hold the blanks, so keys do not decode.

use super::text::{self, TEXT_LIKE};
use super::{Type, oid};
use crate::{Arena, Datum, Result, SqlError, SqlState};

/// character
pub static BPCHAR: Type = Type {
    oid: oid::BPCHAR,
    name: "bpchar",
    sql_name: "character",
    array_oid: oid::BPCHAR_ARRAY,
    input: |text, cx| fit(text.as_bytes(), cx.typmod, false, cx.arena).map(Datum::Bytes),
    receive: |bytes, cx| fit(text::validate(bytes)?.as_bytes(), cx.typmod, false, cx.arena).map(Datum::Bytes),
    compare: |a, b| trimmed(a.as_bytes()).cmp(trimmed(b.as_bytes())),
    encode_key: Some(|value, out| text::encode_key(trimmed(value.as_bytes()), out)),
    decode_key: None,
    typmod_in: Some(|literals| text::length_typmod_in(literals, "char")),
    typmod_out: Some(text::length_typmod_out),
    apply_typmod: Some(|value, typmod, explicit, arena| {
        fit(value.as_bytes(), typmod, explicit, arena).map(Datum::Bytes)
    }),
    ..TEXT_LIKE
};

/// The text without trailing blanks: what comparisons, lengths and casts to text see (`bpchartruelen`).
#[inline]
pub fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|b| *b != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// The text cut or padded to the modifier's length.
pub fn fit<'a>(text: &'a [u8], typmod: i32, explicit: bool, arena: &'a Arena) -> Result<&'a [u8]> {
    if typmod < 4 {
        return Ok(text);
    }
    let width = (typmod - 4) as usize;
    let count = text::char_count(text);
    if count == width {
        return Ok(text);
    }
    if count > width {
        let end = text::char_offset(text, width);
        if !explicit && text[end..].iter().any(|b| *b != b' ') {
            let message = format!("value too long for type character({width})");
            return Err(SqlError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, message));
        }
        return Ok(&text[..end]);
    }
    let padded = text.len() + width - count;
    Ok(arena.slice_with(padded, |i| text.get(i).copied().unwrap_or(b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_padded_or_cut_by_characters() {
        let arena = Arena::new();
        assert_eq!(fit("ä".as_bytes(), 7, false, &arena).expect("fits"), "ä  ".as_bytes());
        assert_eq!(fit(b"abc   ", 7, false, &arena).expect("blanks are cut"), b"abc");
        assert_eq!(fit(b"abcd", 7, true, &arena).expect("cut"), b"abc");
        let error = fit(b"abcd", 7, false, &arena).expect_err("too long");
        assert_eq!(error.message(), "value too long for type character(3)");
    }
}
