//! name: an identifier of at most 63 bytes; longer text is cut at a character. Compare PostgreSQL's `name.c`. Key bytes as text.

use super::text::{self, TEXT_LIKE};
use super::{Type, oid};
use crate::{Datum, SqlError, SqlState};

/// One more than the longest name.
pub const NAMEDATALEN: usize = 64;

/// name
pub static NAME: Type = Type {
    oid: oid::NAME,
    name: "name",
    sql_name: "name",
    array_oid: oid::NAME_ARRAY,
    len: 64,
    input: |text, _| Ok(Datum::text(truncate(text))),
    receive: |bytes, _| {
        let text = text::validate(bytes)?;
        if text.len() >= NAMEDATALEN {
            return Err(SqlError::new(SqlState::NAME_TOO_LONG, "identifier too long")
                .detail("Identifier must be less than 64 characters."));
        }
        Ok(Datum::text(text))
    },
    ..TEXT_LIKE
};

/// The first 63 bytes, less those of a character cut in the middle (`pg_mbcliplen`).
pub fn truncate(text: &str) -> &str {
    if text.len() < NAMEDATALEN {
        return text;
    }
    let end = (0..NAMEDATALEN).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    &text[..end]
}
