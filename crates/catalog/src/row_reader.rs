//! Reading chosen columns of stored rows, compiled once per plan.
//!
//! [`RowLayout::decode`] asks of every column what it is and whether it is wanted. A [`RowReader`] has asked before: runs of fixed-width
//! columns that nobody wants are one step, integers of every width are one load and one shift, and what a filter needs comes first, so
//! that the other columns of a row that it rejects are never read. Rows with a NULL among the columns read, and rows that were written
//! before a column was added, take the layout's way.

use crate::row::{CorruptRow, RowLayout, read_varint};
use crate::types::Physical;
use crate::{Datum, Interval};
use std::sync::Arc;

/// One step over a row's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Over so many bytes of unwanted columns.
    Skip(u32),
    /// Over an unwanted column of variable length.
    SkipBytes,
    /// A signed integer of 64 - `shift` bits.
    Int {
        slot: u16,
        shift: u8,
    },
    /// An oid.
    Unsigned {
        slot: u16,
    },
    Bool {
        slot: u16,
    },
    Float4 {
        slot: u16,
    },
    Float8 {
        slot: u16,
    },
    Interval {
        slot: u16,
    },
    Bytes {
        slot: u16,
    },
}

/// Reads the leading columns of a table's rows in two parts; see the module.
#[derive(Clone, Debug)]
pub struct RowReader {
    layout: Arc<RowLayout>,
    wanted: Box<[bool]>,
    first: Box<[Step]>,
    rest: Box<[Step]>,
}

/// Where the first part of a read has ended.
#[derive(Clone, Copy, Debug)]
pub struct Position(Option<usize>);

impl RowReader {
    /// A reader of the columns `wanted[i]`, column i going to slot i. The first part reads those of the `split` leading columns.
    pub fn new(layout: Arc<RowLayout>, wanted: &[bool], split: usize) -> RowReader {
        let mut steps = Vec::new();
        let mut split_step = 0;
        for (column, (wanted, physical)) in wanted.iter().zip(layout.physical()).enumerate() {
            if column == split {
                split_step = steps.len();
            }
            let step = step(*physical, *wanted, column as u16);
            match (steps.last_mut(), step) {
                // Not across the split, where a position is kept.
                (Some(Step::Skip(before)), Step::Skip(more)) if column != split => *before += more,
                _ => steps.push(step),
            }
        }
        if split >= wanted.len() {
            split_step = steps.len();
        }
        // What comes behind the last column wanted is not even stepped over.
        let end =
            steps.iter().rposition(|s| !matches!(s, Step::Skip(_) | Step::SkipBytes)).map_or(0, |at| at + 1);
        steps.truncate(end.max(split_step));
        let rest = steps.split_off(split_step).into();
        RowReader { layout, wanted: wanted.into(), first: steps.into(), rest }
    }

    /// The layout that is read by.
    pub fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    /// Reads the first part. `slots` begins with a place per column, wanted or not, all NULL; those of unwanted columns stay so.
    #[inline]
    pub fn read_first<'a>(&'a self, row: &'a [u8], slots: &mut [Datum<'a>]) -> Result<Position, CorruptRow> {
        let columns = self.wanted.len();
        let (count, rest) = row.split_first_chunk::<2>().ok_or(CorruptRow)?;
        let count = usize::from(u16::from_le_bytes(*count));
        let bitmap = rest.get(..count.div_ceil(8)).ok_or(CorruptRow)?;
        // NULLs behind the columns read do no harm, but to tell them apart costs more than it spares.
        if count < columns || bitmap.iter().any(|byte| *byte != 0) {
            self.layout.decode(row, &self.wanted, slots.get_mut(..columns).ok_or(CorruptRow)?)?;
            return Ok(Position(None));
        }
        run(&self.first, row, 2 + bitmap.len(), slots).map(|at| Position(Some(at)))
    }

    /// Reads what the first part has left.
    #[inline]
    pub fn read_rest<'a>(
        &'a self,
        row: &'a [u8],
        position: Position,
        slots: &mut [Datum<'a>],
    ) -> Result<(), CorruptRow> {
        match position.0 {
            Some(at) if !self.rest.is_empty() => run(&self.rest, row, at, slots).map(drop),
            _ => Ok(()),
        }
    }
}

fn step(physical: Physical, wanted: bool, slot: u16) -> Step {
    match (physical, wanted) {
        (Physical::Bytes, true) => Step::Bytes { slot },
        (Physical::Bytes, false) => Step::SkipBytes,
        (_, false) => Step::Skip(width(physical)),
        (Physical::Bool, true) => Step::Bool { slot },
        (Physical::Int2, true) => Step::Int { slot, shift: 48 },
        (Physical::Int4, true) => Step::Int { slot, shift: 32 },
        (Physical::Int8, true) => Step::Int { slot, shift: 0 },
        (Physical::UInt4, true) => Step::Unsigned { slot },
        (Physical::Float4, true) => Step::Float4 { slot },
        (Physical::Float8, true) => Step::Float8 { slot },
        (Physical::Interval, true) => Step::Interval { slot },
    }
}

/// Bytes of a column of fixed width; zero for the others.
fn width(physical: Physical) -> u32 {
    match physical {
        Physical::Bool => 1,
        Physical::Int2 => 2,
        Physical::Int4 | Physical::UInt4 | Physical::Float4 => 4,
        Physical::Int8 | Physical::Float8 => 8,
        Physical::Interval => 16,
        Physical::Bytes => 0,
    }
}

/// Runs steps over a row's bytes from `at`, and returns where they end.
#[inline]
fn run<'a>(
    steps: &[Step],
    row: &'a [u8],
    mut at: usize,
    slots: &mut [Datum<'a>],
) -> Result<usize, CorruptRow> {
    for step in steps {
        let (slot, value) = match *step {
            Step::Skip(bytes) => {
                at += bytes as usize;
                continue;
            }
            Step::SkipBytes => {
                at = bytes_at(row, at)?.1;
                continue;
            }
            Step::Int { slot, shift } => {
                let wide = eight(row, at, usize::from(64 - shift) / 8)?;
                at += usize::from(64 - shift) / 8;
                (slot, Datum::Int((wide << shift) >> shift))
            }
            Step::Bytes { slot } => {
                let (bytes, end) = bytes_at(row, at)?;
                at = end;
                (slot, Datum::Bytes(bytes))
            }
            Step::Unsigned { slot } => (slot, Datum::Int(u32::from_le_bytes(chunk(row, &mut at)?).into())),
            Step::Bool { slot } => (slot, Datum::Bool(chunk::<1>(row, &mut at)?[0] != 0)),
            Step::Float4 { slot } => (slot, Datum::Float(f32::from_le_bytes(chunk(row, &mut at)?).into())),
            Step::Float8 { slot } => (slot, Datum::Float(f64::from_le_bytes(chunk(row, &mut at)?))),
            Step::Interval { slot } => {
                let micros = i64::from_le_bytes(chunk(row, &mut at)?);
                let days = i32::from_le_bytes(chunk(row, &mut at)?);
                let months = i32::from_le_bytes(chunk(row, &mut at)?);
                (slot, Datum::Interval(Interval { micros, days, months }))
            }
        };
        *slots.get_mut(usize::from(slot)).ok_or(CorruptRow)? = value;
    }
    Ok(at)
}

/// The eight bytes from `at`; near the row's end those that are there, at least `width`.
#[inline(always)]
fn eight(row: &[u8], at: usize, width: usize) -> Result<i64, CorruptRow> {
    let tail = row.get(at..).ok_or(CorruptRow)?;
    match tail.first_chunk::<8>() {
        Some(bytes) => Ok(i64::from_le_bytes(*bytes)),
        None if tail.len() < width => Err(CorruptRow),
        None => Ok(tail.iter().rev().fold(0, |value, byte| value << 8 | i64::from(*byte))),
    }
}

#[inline(always)]
fn chunk<const N: usize>(row: &[u8], at: &mut usize) -> Result<[u8; N], CorruptRow> {
    let bytes = row.get(*at..).and_then(|tail| tail.first_chunk::<N>()).ok_or(CorruptRow)?;
    *at += N;
    Ok(*bytes)
}

/// A column of variable length, and where it ends.
#[inline(always)]
fn bytes_at(row: &[u8], at: usize) -> Result<(&[u8], usize), CorruptRow> {
    let (start, len) = match row.get(at) {
        Some(short) if *short < 0x80 => (at + 1, usize::from(*short)),
        _ => {
            let mut tail = row.get(at..).ok_or(CorruptRow)?;
            let len = read_varint(&mut tail)?;
            (row.len() - tail.len(), len)
        }
    };
    let end = start + len;
    Ok((row.get(start..end).ok_or(CorruptRow)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use proptest::prelude::*;

    const KINDS: [Physical; 9] = [
        Physical::Bool,
        Physical::Int2,
        Physical::Int4,
        Physical::UInt4,
        Physical::Int8,
        Physical::Float4,
        Physical::Float8,
        Physical::Interval,
        Physical::Bytes,
    ];

    /// A value that fits a kind, made from a number.
    fn value(kind: Physical, seed: i64) -> Value {
        match kind {
            Physical::Bool => Value::Bool(seed & 1 == 1),
            Physical::Int2 => Value::Int((seed as i16).into()),
            Physical::Int4 => Value::Int((seed as i32).into()),
            Physical::UInt4 => Value::Int((seed as u32).into()),
            Physical::Int8 => Value::Int(seed),
            Physical::Float4 => Value::Float((seed as f32).into()),
            Physical::Float8 => Value::Float(seed as f64),
            Physical::Interval => {
                Value::Interval(Interval { micros: seed, days: seed as i32, months: !seed as i32 })
            }
            Physical::Bytes => Value::Bytes(vec![seed as u8; seed.unsigned_abs() as usize % 200].into()),
        }
    }

    proptest! {
        #[test]
        fn a_reader_reads_what_the_layout_decodes(
            columns in prop::collection::vec((0usize..9, any::<i64>(), any::<bool>(), prop::bool::weighted(0.02)), 1..20),
            added in 0usize..3,
            split in 0usize..22,
            cut in prop::option::of(0usize..400),
        ) {
            let kinds: Vec<Physical> = columns.iter().map(|c| KINDS[c.0]).collect();
            let written = kinds.len().saturating_sub(added).max(1);
            let values: Vec<Value> =
                columns.iter().map(|c| if c.3 { Value::Null } else { value(KINDS[c.0], c.1) }).collect();
            let datums: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
            let short = RowLayout::new(kinds[..written].to_vec(), vec![Value::Null; written]);
            let layout = Arc::new(RowLayout::new(kinds.clone(), values.clone()));
            let mut row = Vec::new();
            short.encode(&datums[..written], &mut row);
            if let Some(cut) = cut {
                row.truncate(cut);
            }
            let wanted: Vec<bool> = columns.iter().map(|c| c.2).collect();
            let mut expected = vec![Datum::Null; wanted.len()];
            let whole = layout.decode(&row, &wanted, &mut expected);

            let reader = RowReader::new(Arc::clone(&layout), &wanted, split);
            let mut slots = vec![Datum::Null; wanted.len()];
            let read = reader.read_first(&row, &mut slots).and_then(|at| {
                for i in 0..split.min(wanted.len()) {
                    if whole.is_ok() {
                        assert_eq!(slots[i], expected[i], "column {i} in the first part");
                    }
                }
                reader.read_rest(&row, at, &mut slots)
            });
            if whole.is_ok() {
                prop_assert!(read.is_ok());
                prop_assert_eq!(slots, expected);
            }
        }
    }
}
