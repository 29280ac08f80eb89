//! The first step of reading a date, time or interval: text into fields (`ParseDateTime`).

use super::DateTimeError;
use super::token::find_word;

/// What a field looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldKind {
    /// `1999`, `10.5`
    Number,
    /// Letters.
    Word,
    /// `2020-01-31`, `31-Jan`, also a zone name with punctuation.
    Date,
    /// Digits with a colon.
    Time,
    /// A sign and digits: a UTC offset or a signed number.
    Signed,
    /// A sign and letters: `-infinity`.
    Special,
}

/// A field: its kind and its text in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) kind: FieldKind,
    pub(crate) text: String,
}

/// More fields than this are no date (`MAXDATEFIELDS`).
const MAX_FIELDS: usize = 25;

/// Splits text into fields.
pub(crate) fn lex(text: &str) -> Result<Vec<Field>, DateTimeError> {
    let bytes = text.as_bytes();
    let mut fields: Vec<Field> = Vec::with_capacity(4);
    let mut i = 0;
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    while i < bytes.len() {
        let start = i;
        let b = bytes[i];
        if b.is_ascii_whitespace() || b == 0x0b {
            i += 1;
            continue;
        }
        let kind = if b.is_ascii_digit() {
            while at(i).is_ascii_digit() {
                i += 1;
            }
            match at(i) {
                b':' => {
                    while at(i).is_ascii_digit() || matches!(at(i), b':' | b'.') {
                        i += 1;
                    }
                    FieldKind::Time
                }
                delimiter @ (b'-' | b'/' | b'.') => {
                    i += 1;
                    if at(i).is_ascii_digit() {
                        let mut kind = if delimiter == b'.' { FieldKind::Number } else { FieldKind::Date };
                        while at(i).is_ascii_digit() {
                            i += 1;
                        }
                        // A second delimiter makes it a date, even with points.
                        if at(i) == delimiter {
                            kind = FieldKind::Date;
                            i += 1;
                            while at(i).is_ascii_digit() || at(i) == delimiter {
                                i += 1;
                            }
                        }
                        kind
                    } else {
                        while at(i).is_ascii_alphanumeric() || at(i) == delimiter {
                            i += 1;
                        }
                        FieldKind::Date
                    }
                }
                _ => FieldKind::Number,
            }
        } else if b == b'.' {
            i += 1;
            while at(i).is_ascii_digit() {
                i += 1;
            }
            FieldKind::Number
        } else if b.is_ascii_alphabetic() {
            while at(i).is_ascii_alphabetic() {
                i += 1;
            }
            // Punctuation makes it a date like `jan-31-2020` or a zone name; so does a sign or digit unless the word is a known one.
            let is_date = match at(i) {
                b'-' | b'/' | b'.' => true,
                b'+' | b'0'..=b'9' => find_word(&text[start..i].to_ascii_lowercase()).is_none(),
                _ => false,
            };
            if is_date {
                while at(i).is_ascii_alphanumeric()
                    || matches!(at(i), b'+' | b'-' | b'/' | b'_' | b'.' | b':')
                {
                    i += 1;
                }
                FieldKind::Date
            } else {
                FieldKind::Word
            }
        } else if b == b'+' || b == b'-' {
            i += 1;
            let after_sign = i;
            while at(i).is_ascii_whitespace() {
                i += 1;
            }
            let body = i;
            let kind = if at(i).is_ascii_digit() {
                while at(i).is_ascii_digit() || matches!(at(i), b':' | b'.' | b'-') {
                    i += 1;
                }
                FieldKind::Signed
            } else if at(i).is_ascii_alphabetic() {
                while at(i).is_ascii_alphabetic() {
                    i += 1;
                }
                FieldKind::Special
            } else {
                return Err(DateTimeError::BadFormat);
            };
            if body > after_sign {
                let mut joined = String::from(b as char);
                joined.push_str(&text[body..i].to_ascii_lowercase());
                push(&mut fields, kind, joined)?;
                continue;
            }
            kind
        } else if b.is_ascii_punctuation() {
            i += 1;
            continue;
        } else {
            return Err(DateTimeError::BadFormat);
        };
        push(&mut fields, kind, text[start..i].to_ascii_lowercase())?;
    }
    Ok(fields)
}

fn push(fields: &mut Vec<Field>, kind: FieldKind, text: String) -> Result<(), DateTimeError> {
    if fields.len() >= MAX_FIELDS {
        return Err(DateTimeError::BadFormat);
    }
    fields.push(Field { kind, text });
    Ok(())
}
