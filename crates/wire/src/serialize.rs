//! Rows to DataRow messages: the hot path of every result.
//!
//! As in PostgreSQL's `printtup.c`, what a column needs is resolved once per result into an array; the row loop is: NULL gives
//! -1, else the output function appends and the length word is filled in. Nothing is looked up and nothing allocated per value.

use crate::backend::finish_length;
use catalog::types::{OutputFn, SendFn, Type, oid};
use catalog::{Datum, Result, SqlError, SqlState, Style};
use std::sync::Arc;

/// How one column is written. The first two are the most frequent cases of the third, without its indirect call.
#[derive(Clone, Copy, Debug)]
enum Column {
    /// The bytes as they are: text and its like, in either format.
    Verbatim,
    /// Decimal digits of an integer.
    Decimal,
    /// The type's own function; output and send have one signature.
    Call(OutputFn),
}

const _: fn(SendFn) -> OutputFn = |send| send;

/// The resolved functions of a result's columns. Those for text can be kept with the prepared statement.
#[derive(Clone, Debug)]
pub struct ColumnWriters(Arc<[Column]>);

impl ColumnWriters {
    /// Resolves the columns' functions. `format` gives each column's format code; 22023 for one that is neither 0 nor 1.
    pub fn new(
        types: impl Iterator<Item = &'static Type>,
        format: impl Fn(usize) -> i16,
    ) -> Result<ColumnWriters> {
        let columns = types.enumerate().map(|(index, typ)| match format(index) {
            0 => Ok(match typ.oid {
                oid::INT2 | oid::INT4 | oid::INT8 | oid::OID => Column::Decimal,
                oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::UNKNOWN | oid::NAME => Column::Verbatim,
                _ => Column::Call(typ.output),
            }),
            1 => Ok(match typ.oid {
                oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::UNKNOWN | oid::NAME | oid::BYTEA => {
                    Column::Verbatim
                }
                _ => Column::Call(typ.send),
            }),
            other => Err(unsupported_format(other)),
        });
        columns.collect::<Result<_>>().map(ColumnWriters)
    }
}

/// Writes the rows of one result.
#[derive(Debug)]
pub struct RowSerializer {
    columns: ColumnWriters,
    style: Arc<Style>,
}

impl RowSerializer {
    /// A serializer that prints in this style.
    pub fn new(columns: ColumnWriters, style: Arc<Style>) -> RowSerializer {
        RowSerializer { columns, style }
    }

    /// Appends one DataRow. The row has one value per column.
    #[inline]
    pub fn row(&self, row: &[Datum<'_>], out: &mut Vec<u8>) {
        debug_assert_eq!(row.len(), self.columns.0.len(), "a value per column");
        out.push(b'D');
        let start = out.len();
        let count = (self.columns.0.len() as u16).to_be_bytes();
        out.extend_from_slice(&[0, 0, 0, 0, count[0], count[1]]);
        for (column, value) in self.columns.0.iter().zip(row) {
            self.value(*column, *value, out);
        }
        finish_length(out, start);
    }

    #[inline]
    fn value(&self, column: Column, value: Datum<'_>, out: &mut Vec<u8>) {
        match (column, value) {
            (_, Datum::Null) => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            (Column::Verbatim, Datum::Bytes(bytes)) => {
                out.reserve(bytes.len() + 4);
                out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                out.extend_from_slice(bytes);
            }
            (Column::Decimal, Datum::Int(value)) => {
                let mut buffer = itoa::Buffer::new();
                let digits = buffer.format(value).as_bytes();
                out.reserve(digits.len() + 4);
                out.extend_from_slice(&(digits.len() as u32).to_be_bytes());
                out.extend_from_slice(digits);
            }
            (Column::Call(write), value) => {
                counted(out, |out| write(value, &self.style, out));
            }
            (Column::Verbatim | Column::Decimal, value) => {
                debug_assert!(false, "not of its column's shape: {value:?}");
                out.extend_from_slice(&(-1_i32).to_be_bytes());
            }
        }
    }
}

/// Appends what `fill` appends, its length before it.
#[inline]
fn counted(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    let length = (out.len() - start - 4) as u32;
    if let Some(word) = out.get_mut(start..start + 4) {
        word.copy_from_slice(&length.to_be_bytes());
    }
}

/// 22023 for a format code that is neither text nor binary.
pub fn unsupported_format(code: i16) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::types::{boolean, int, text};

    #[test]
    fn a_row_is_one_frame_with_a_length_before_each_value() {
        let types = [&int::INT4, &text::TEXT, &boolean::BOOL, &int::INT8];
        let row = [Datum::Int(-12), Datum::text("abc"), Datum::Bool(true), Datum::Null];
        let write = |format: i16| {
            let writers = ColumnWriters::new(types.into_iter(), |_| format).expect("valid formats");
            let serializer = RowSerializer::new(writers, Arc::default());
            let mut out = vec![0xee];
            serializer.row(&row, &mut out);
            out
        };
        assert_eq!(write(0), b"\xeeD\0\0\0\x1d\0\x04\0\0\0\x03-12\0\0\0\x03abc\0\0\0\x01t\xff\xff\xff\xff");
        assert_eq!(
            write(1),
            b"\xeeD\0\0\0\x1e\0\x04\0\0\0\x04\xff\xff\xff\xf4\0\0\0\x03abc\0\0\0\x01\x01\xff\xff\xff\xff"
        );
        let refused = ColumnWriters::new(types.into_iter(), |_| 2);
        assert_eq!(refused.err().map(|e| e.message().to_owned()), Some("unsupported format code: 2".into()));
    }
}
