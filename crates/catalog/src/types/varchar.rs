//! varchar(n): text of at most n characters; what exceeds n is cut if it is blank or the cast is explicit. Compare `varchar.c`.
//! Key bytes as text.

use super::text::{self, TEXT_LIKE};
use super::{Type, oid};
use crate::{Datum, Result, SqlError, SqlState};

/// character varying
pub static VARCHAR: Type = Type {
    oid: oid::VARCHAR,
    name: "varchar",
    sql_name: "character varying",
    array_oid: oid::VARCHAR_ARRAY,
    input: |text, cx| fit(text.as_bytes(), cx.typmod, false).map(Datum::Bytes),
    receive: |bytes, cx| fit(text::validate(bytes)?.as_bytes(), cx.typmod, false).map(Datum::Bytes),
    typmod_in: Some(|literals| text::length_typmod_in(literals, "varchar")),
    typmod_out: Some(text::length_typmod_out),
    apply_typmod: Some(|value, typmod, explicit, _| {
        fit(value.as_bytes(), typmod, explicit).map(Datum::Bytes)
    }),
    ..TEXT_LIKE
};

/// The text within the modifier's length.
pub fn fit(text: &[u8], typmod: i32, explicit: bool) -> Result<&[u8]> {
    let max = typmod.saturating_sub(4).max(0) as usize;
    if typmod < 4 || text.len() <= max {
        return Ok(text);
    }
    let end = text::char_offset(text, max);
    if end < text.len() && !explicit && text[end..].iter().any(|b| *b != b' ') {
        let message = format!("value too long for type character varying({max})");
        return Err(SqlError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, message));
    }
    Ok(&text[..end])
}
