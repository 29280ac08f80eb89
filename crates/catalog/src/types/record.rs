//! record: rows as values, `(1,"a b",)`. They are made by expressions and can be printed, sent and compared, but not read. Compare
//! PostgreSQL's `rowtypes.c`.
//!
//! Packed form: number of columns in 2 bytes, then per column the OID of its type in 4, little-endian; a null bitmap (bit i set =
//! column i is NULL); the columns that are not NULL in the `Physical` form that they have in a row.
//!
//! Key bytes: per column `01` and its key bytes or `02` for NULL; then `00`. Keys do not decode.

use super::{Shape, Type, array, by_oid, oid, text};
use crate::{Arena, Datum, Oid, SqlError, SqlState};
use std::cmp::Ordering;

/// record
pub static RECORD: Type = Type {
    oid: oid::RECORD,
    name: "record",
    sql_name: "record",
    array_oid: oid::RECORD_ARRAY,
    len: -1,
    category: b'P',
    shape: Shape::Bytes,
    input: |_, _| Err(cannot_read()),
    output: |value, style, out| {
        out.push(b'(');
        for (i, (typ, column)) in columns(value.as_bytes()).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            if !column.is_null() {
                let start = out.len();
                (typ.output)(column, style, out);
                quote(start, out);
            }
        }
        out.push(b')');
    },
    receive: |_, _| Err(cannot_read()),
    send: |value, style, out| {
        let count = columns(value.as_bytes()).count();
        out.extend_from_slice(&(count as i32).to_be_bytes());
        for (typ, column) in columns(value.as_bytes()) {
            out.extend_from_slice(&typ.oid.0.to_be_bytes());
            if column.is_null() {
                out.extend_from_slice(&(-1i32).to_be_bytes());
                continue;
            }
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            (typ.send)(column, style, out);
            let len = (out.len() - start - 4) as i32;
            out[start..start + 4].copy_from_slice(&len.to_be_bytes());
        }
    },
    compare: |a, b| {
        let (mut left, mut right) = (columns(a.as_bytes()), columns(b.as_bytes()));
        loop {
            let order = match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some((typ, a)), Some((_, b))) => match (a.is_null(), b.is_null()) {
                    (true, true) => Ordering::Equal,
                    (true, false) => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    (false, false) => (typ.compare)(a, b),
                },
            };
            if order.is_ne() {
                return order;
            }
        }
    },
    encode_key: Some(|value, out| {
        for (typ, column) in columns(value.as_bytes()) {
            match typ.encode_key {
                Some(encode) if !column.is_null() => {
                    out.push(1);
                    encode(column, out);
                }
                _ => out.push(2),
            }
        }
        out.push(0);
    }),
    ..Type::BASE
};

fn cannot_read() -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "input of anonymous composite types is not implemented")
}

/// A record of these columns.
pub fn build<'a>(types: &[&'static Type], values: &[Datum<'_>], arena: &'a Arena) -> Datum<'a> {
    debug_assert_eq!(types.len(), values.len(), "one type per column");
    let mut out = Vec::with_capacity(16 + values.len() * 12);
    out.extend_from_slice(&(values.len() as u16).to_le_bytes());
    for typ in types {
        out.extend_from_slice(&typ.oid.0.to_le_bytes());
    }
    let bitmap = out.len();
    out.resize(bitmap + values.len().div_ceil(8), 0);
    for (i, (typ, value)) in types.iter().zip(values).enumerate() {
        if value.is_null() {
            out[bitmap + i / 8] |= 1 << (i % 8);
        } else {
            array::put(typ.physical, *value, &mut out);
        }
    }
    Datum::Bytes(arena.bytes(&out))
}

/// The columns of a packed record with their types. A damaged record has none; a type that is not known reads as text.
pub fn columns(bytes: &[u8]) -> impl Iterator<Item = (&'static Type, Datum<'_>)> {
    let (count, rest) = match bytes.split_first_chunk::<2>() {
        Some((count, rest)) => (usize::from(u16::from_le_bytes(*count)), rest),
        None => (0, bytes),
    };
    let (count, types, rest) = match rest.split_at_checked(count * 4) {
        Some((types, rest)) => (count, types, rest),
        None => (0, rest, rest),
    };
    let (count, bitmap, mut rest) = match rest.split_at_checked(count.div_ceil(8)) {
        Some((bitmap, rest)) => (count, bitmap, rest),
        None => (0, rest, rest),
    };
    let types = types.chunks_exact(4).take(count);
    types.enumerate().map(move |(i, oid)| {
        let oid = oid.try_into().map_or(0, u32::from_le_bytes);
        let typ = by_oid(Oid(oid)).unwrap_or(&text::TEXT);
        let is_null = bitmap.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        (typ, if is_null { Datum::Null } else { array::take(typ.physical, &mut rest) })
    })
}

/// Puts quotes around what was appended from `start` on, where the text needs them (`record_out`): quotes and backslashes double.
fn quote(start: usize, out: &mut Vec<u8>) {
    let text = &out[start..];
    let needs_quotes = text.is_empty()
        || text.iter().any(|b| {
            matches!(b, b'"' | b'\\' | b'(' | b')' | b',' | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
        });
    if !needs_quotes {
        return;
    }
    let text = out.split_off(start);
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::types::int::INT4;
    use crate::types::text::TEXT;

    #[test]
    fn records_print_with_their_quotes_and_compare_by_column() {
        let arena = Arena::new();
        let types = [&INT4, &TEXT, &TEXT, &TEXT];
        let record =
            build(&types, &[Datum::Int(1), Datum::text("a \"b"), Datum::Null, Datum::text("")], &arena);
        let mut out = Vec::new();
        (RECORD.output)(record, &Style::default(), &mut out);
        assert_eq!(out, br#"(1,"a ""b",,"")"#);
        let other = build(&types, &[Datum::Int(1), Datum::Null, Datum::Null, Datum::text("")], &arena);
        assert_eq!((RECORD.compare)(record, other), Ordering::Less);
    }
}
