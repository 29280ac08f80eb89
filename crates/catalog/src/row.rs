//! The stored row.
//!
//! ```text
//! u16 LE        number of columns in this row (a row written before ADD COLUMN has fewer than the table)
//! ceil(n/8)     null bitmap, bit i set = column i is NULL
//! per non-NULL column, in order, its `Physical` form:
//!   Bool 1 byte | Int2 2 | Int4, UInt4, Float4 4 | Int8, Float8 8 | Interval 16 (micros, days, months) | little-endian
//!   Bytes: length as LEB128 varint, then the bytes
//! ```
//! No alignment, no offsets: reading column k walks the ones before it, which for rows as OLTP has them costs less than offsets do.

use crate::types::Physical;
use crate::{Datum, Interval, Value};

/// A stored row that does not read as its layout says: damage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CorruptRow;

/// How the rows of one table lie: made once per plan or table.
#[derive(Clone, Debug, Default)]
pub struct RowLayout {
    columns: Box<[Physical]>,
    missing: Box<[Value]>,
}

impl RowLayout {
    /// A layout of columns in this order; `missing[i]` is the value of column i in rows that were written before it was added.
    pub fn new(columns: Vec<Physical>, missing: Vec<Value>) -> Self {
        assert_eq!(columns.len(), missing.len(), "one missing value per column");
        RowLayout { columns: columns.into(), missing: missing.into() }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// How the columns lie.
    pub(crate) fn physical(&self) -> &[Physical] {
        &self.columns
    }

    /// Appends the row's bytes. `values` has one value per column.
    pub fn encode(&self, values: &[Datum<'_>], out: &mut Vec<u8>) {
        assert_eq!(values.len(), self.columns.len(), "one value per column");
        out.extend_from_slice(&(values.len() as u16).to_le_bytes());
        let bitmap = out.len();
        out.resize(bitmap + values.len().div_ceil(8), 0);
        for (i, (value, physical)) in values.iter().zip(self.columns.iter()).enumerate() {
            if value.is_null() {
                out[bitmap + i / 8] |= 1 << (i % 8);
                continue;
            }
            match physical {
                Physical::Bool => out.push(value.as_bool() as u8),
                Physical::Int2 => out.extend_from_slice(&(value.as_int() as i16).to_le_bytes()),
                Physical::Int4 => out.extend_from_slice(&(value.as_int() as i32).to_le_bytes()),
                Physical::UInt4 => out.extend_from_slice(&(value.as_int() as u32).to_le_bytes()),
                Physical::Int8 => out.extend_from_slice(&value.as_int().to_le_bytes()),
                Physical::Float4 => out.extend_from_slice(&(value.as_float() as f32).to_le_bytes()),
                Physical::Float8 => out.extend_from_slice(&value.as_float().to_le_bytes()),
                Physical::Interval => {
                    let v = value.as_interval();
                    out.extend_from_slice(&v.micros.to_le_bytes());
                    out.extend_from_slice(&v.days.to_le_bytes());
                    out.extend_from_slice(&v.months.to_le_bytes());
                }
                Physical::Bytes => {
                    let bytes = value.as_bytes();
                    write_varint(bytes.len(), out);
                    out.extend_from_slice(bytes);
                }
            }
        }
    }

    /// Reads the first `slots.len()` columns into `slots`; `wanted[i]` false leaves slot i NULL and only steps over its bytes.
    /// An empty `wanted` means all.
    pub fn decode<'a>(
        &'a self,
        row: &'a [u8],
        wanted: &[bool],
        slots: &mut [Datum<'a>],
    ) -> Result<(), CorruptRow> {
        let (count, rest) = row.split_first_chunk::<2>().ok_or(CorruptRow)?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (bitmap, mut rest) = rest.split_at_checked(count.div_ceil(8)).ok_or(CorruptRow)?;
        for (i, slot) in slots.iter_mut().enumerate() {
            if i >= count {
                *slot = self.missing.get(i).ok_or(CorruptRow)?.datum();
                continue;
            }
            if bitmap[i / 8] & (1 << (i % 8)) != 0 {
                *slot = Datum::Null;
                continue;
            }
            let value = match self.columns.get(i).ok_or(CorruptRow)? {
                Physical::Bool => Datum::Bool(take::<1>(&mut rest)?[0] != 0),
                Physical::Int2 => Datum::Int(i16::from_le_bytes(take(&mut rest)?).into()),
                Physical::Int4 => Datum::Int(i32::from_le_bytes(take(&mut rest)?).into()),
                Physical::UInt4 => Datum::Int(u32::from_le_bytes(take(&mut rest)?).into()),
                Physical::Int8 => Datum::Int(i64::from_le_bytes(take(&mut rest)?)),
                Physical::Float4 => Datum::Float(f32::from_le_bytes(take(&mut rest)?).into()),
                Physical::Float8 => Datum::Float(f64::from_le_bytes(take(&mut rest)?)),
                Physical::Interval => Datum::Interval(Interval {
                    micros: i64::from_le_bytes(take(&mut rest)?),
                    days: i32::from_le_bytes(take(&mut rest)?),
                    months: i32::from_le_bytes(take(&mut rest)?),
                }),
                Physical::Bytes => {
                    let len = read_varint(&mut rest)?;
                    let (bytes, after) = rest.split_at_checked(len).ok_or(CorruptRow)?;
                    rest = after;
                    Datum::Bytes(bytes)
                }
            };
            *slot =
                if wanted.is_empty() || wanted.get(i).copied().unwrap_or(true) { value } else { Datum::Null };
        }
        Ok(())
    }
}

#[inline]
fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], CorruptRow> {
    let (head, rest) = bytes.split_first_chunk::<N>().ok_or(CorruptRow)?;
    *bytes = rest;
    Ok(*head)
}

fn write_varint(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Result<usize, CorruptRow> {
    let mut value = 0usize;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(CorruptRow)?;
        *bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(CorruptRow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_as_it_was_written_and_added_columns_take_their_missing_value() {
        let layout = RowLayout::new(
            vec![Physical::Int4, Physical::Bytes, Physical::Interval],
            vec![Value::Null, Value::Null, Value::Null],
        );
        let interval = Interval { micros: -5, days: 2, months: 14 };
        let long = vec![b'x'; 300];
        let row = [Datum::Int(-7), Datum::Bytes(&long), Datum::Interval(interval)];
        let mut bytes = Vec::new();
        layout.encode(&row, &mut bytes);

        let wider = RowLayout::new(
            vec![Physical::Int4, Physical::Bytes, Physical::Interval, Physical::Bool],
            vec![Value::Null, Value::Null, Value::Null, Value::Bool(true)],
        );
        let mut slots = [Datum::Null; 4];
        wider.decode(&bytes, &[], &mut slots).expect("whole row");
        assert_eq!(&slots[..3], &row);
        assert_eq!(slots[3], Datum::Bool(true));
        let mut slots = [Datum::Null; 4];
        assert_eq!(wider.decode(&bytes[..20], &[], &mut slots), Err(CorruptRow));
    }
}
