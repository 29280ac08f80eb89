//! Rows that an operator keeps: packed into two growing buffers, so that keeping a row allocates nothing of its own.

use catalog::{Datum, Interval};

/// A kept value: bytes lie in the store's buffer.
#[derive(Clone, Copy)]
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Interval(Interval),
    Bytes { start: usize, len: usize },
}

/// Rows of one width, in the order they were pushed.
#[derive(Clone, Default)]
pub struct RowStore {
    width: usize,
    len: usize,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

impl RowStore {
    /// An empty store for rows of this width.
    pub fn new(width: usize) -> Self {
        RowStore { width, ..Self::default() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Values per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bytes held.
    pub fn size(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.bytes.len()
    }

    /// Forgets the rows, keeping the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        self.len = 0;
    }

    /// Keeps a copy of the first `width` values.
    pub fn push(&mut self, row: &[Datum<'_>]) -> usize {
        debug_assert!(row.len() >= self.width, "a row of at least the store's width");
        for value in row.iter().take(self.width) {
            self.cells.push(match *value {
                Datum::Null => Cell::Null,
                Datum::Bool(v) => Cell::Bool(v),
                Datum::Int(v) => Cell::Int(v),
                Datum::Float(v) => Cell::Float(v),
                Datum::Interval(v) => Cell::Interval(v),
                Datum::Bytes(v) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(v);
                    Cell::Bytes { start, len: v.len() }
                }
            });
        }
        self.len += 1;
        self.len - 1
    }

    /// One value.
    #[inline]
    pub fn value(&self, row: usize, column: usize) -> Datum<'_> {
        match self.cells.get(row * self.width + column) {
            None | Some(Cell::Null) => Datum::Null,
            Some(Cell::Bool(v)) => Datum::Bool(*v),
            Some(Cell::Int(v)) => Datum::Int(*v),
            Some(Cell::Float(v)) => Datum::Float(*v),
            Some(Cell::Interval(v)) => Datum::Interval(*v),
            Some(Cell::Bytes { start, len }) => {
                Datum::Bytes(self.bytes.get(*start..*start + *len).unwrap_or_default())
            }
        }
    }

    /// Appends a row's values to a buffer.
    #[inline]
    pub fn read<'s>(&'s self, row: usize, out: &mut Vec<Datum<'s>>) {
        for column in 0..self.width {
            out.push(self.value(row, column));
        }
    }
}
