//! Order-preserving keys: the key of a clustered row and of an index entry.
//!
//! Per column one marker byte, then the type's key bytes (`Type::encode_key`), inverted bit by bit for a DESC column:
//!
//! | marker | meaning |
//! |---|---|
//! | `0x01` | a value; its key bytes follow |
//! | `0x00` | NULL, sorts first (NULLS FIRST) |
//! | `0x02` | NULL, sorts last (NULLS LAST) |
//!
//! The marker itself is never inverted. PostgreSQL's default is NULLS LAST for ASC and NULLS FIRST for DESC.

use crate::types::Type;
use crate::{Arena, Datum};

/// Marker of a value.
pub const VALUE: u8 = 1;
/// Marker of a NULL that sorts before all values.
pub const NULL_FIRST: u8 = 0;
/// Marker of a NULL that sorts after all values.
pub const NULL_LAST: u8 = 2;

/// One column of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn {
    /// Its type.
    pub typ: &'static Type,
    /// Descending.
    pub desc: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

impl KeyColumn {
    /// Appends the bytes of one column's value. Types without key order append nothing but the marker; the binder never lets them here.
    pub fn encode(&self, value: Datum<'_>, out: &mut Vec<u8>) {
        if value.is_null() {
            out.push(if self.nulls_first { NULL_FIRST } else { NULL_LAST });
            return;
        }
        out.push(VALUE);
        let start = out.len();
        if let Some(encode) = self.typ.encode_key {
            encode(value, out);
        }
        if self.desc {
            for byte in &mut out[start..] {
                *byte = !*byte;
            }
        }
    }

    /// Takes one column's value off the front of a key; `None` if the bytes are damaged or the type's keys do not hold the value.
    pub fn decode<'a>(&self, key: &mut &'a [u8], arena: &'a Arena) -> Option<Datum<'a>> {
        let (&marker, rest) = key.split_first()?;
        *key = rest;
        if marker != VALUE {
            return Some(Datum::Null);
        }
        let decode = self.typ.decode_key?;
        if !self.desc {
            return decode(key, arena);
        }
        let flipped: &'a [u8] = arena.slice_with(key.len(), |i| !key[i]);
        let mut rest = flipped;
        let value = decode(&mut rest, arena)?;
        *key = &key[flipped.len() - rest.len()..];
        Some(value)
    }
}

/// The smallest byte string greater than every string with this prefix, or `None` if there is none (all bytes are 0xff).
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.last_mut() {
        if *last < 0xff {
            *last += 1;
            return Some(end);
        }
        end.pop();
    }
    None
}
