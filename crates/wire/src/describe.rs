//! RowDescription and ParameterDescription as finished bytes, made once per prepared statement and copied from then on.
//!
//! Compare PostgreSQL's `SendRowDescriptionMessage` in `printtup.c`.

use crate::backend::{message, string};
use catalog::Oid;

/// A column of a result.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Name.
    pub name: &'a str,
    /// Table it comes from, zero if none.
    pub table: Oid,
    /// Its number there, zero if none.
    pub attnum: i16,
    /// Type.
    pub type_oid: Oid,
    /// `typlen` of the type.
    pub type_len: i16,
    /// Type modifier, -1 for none.
    pub typmod: i32,
}

/// The two messages that describe a prepared statement.
#[derive(Debug)]
pub struct Description {
    parameters: Vec<u8>,
    /// `None` is NoData.
    row: Option<Vec<u8>>,
    /// Where in `row` the format code of each column stands.
    formats_at: Vec<u32>,
}

impl Description {
    /// Makes the messages. `columns` is `None` for a statement that returns no rows.
    pub fn new<'a>(
        parameters: &[Oid],
        columns: Option<impl ExactSizeIterator<Item = Column<'a>>>,
    ) -> Description {
        let mut parameter_bytes = Vec::with_capacity(7 + parameters.len() * 4);
        message(&mut parameter_bytes, b't', |out| {
            out.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
            for oid in parameters {
                out.extend_from_slice(&oid.0.to_be_bytes());
            }
        });
        let mut formats_at = Vec::new();
        let row = columns.map(|columns| {
            let mut bytes = Vec::with_capacity(7 + columns.len() * 32);
            message(&mut bytes, b'T', |out| {
                out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
                for column in columns {
                    string(out, column.name);
                    out.extend_from_slice(&column.table.0.to_be_bytes());
                    out.extend_from_slice(&column.attnum.to_be_bytes());
                    out.extend_from_slice(&column.type_oid.0.to_be_bytes());
                    out.extend_from_slice(&column.type_len.to_be_bytes());
                    out.extend_from_slice(&column.typmod.to_be_bytes());
                    formats_at.push(out.len() as u32);
                    out.extend_from_slice(&[0; 2]);
                }
            });
            bytes
        });
        Description { parameters: parameter_bytes, row, formats_at }
    }

    /// Appends ParameterDescription.
    pub fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.parameters);
    }

    /// Whether the statement returns rows.
    pub fn has_rows(&self) -> bool {
        self.row.is_some()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.formats_at.len()
    }

    /// Appends RowDescription, or NoData for a statement without rows. `format` gives the format code of each column.
    pub fn row(&self, out: &mut Vec<u8>, format: impl Fn(usize) -> i16) {
        let Some(row) = &self.row else {
            return crate::backend::no_data(out);
        };
        let start = out.len();
        out.extend_from_slice(row);
        for (column, at) in self.formats_at.iter().enumerate() {
            let code = format(column);
            let at = start + *at as usize;
            if code != 0
                && let Some(place) = out.get_mut(at..at + 2)
            {
                place.copy_from_slice(&code.to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_codes_are_patched_into_the_copy() {
        let column =
            |name| Column { name, table: Oid(1), attnum: 2, type_oid: Oid(23), type_len: 4, typmod: -1 };
        let description = Description::new(&[Oid(25)], Some([column("a"), column("bc")].into_iter()));
        let (mut text, mut mixed) = (vec![9], vec![9]);
        description.row(&mut text, |_| 0);
        description.row(&mut mixed, |column| column as i16);
        assert_eq!(text.len(), mixed.len());
        let differing: Vec<usize> = (0..text.len()).filter(|at| text[*at] != mixed[*at]).collect();
        assert_eq!(differing, [text.len() - 1]);
        assert_eq!(u32::from_be_bytes([text[2], text[3], text[4], text[5]]) as usize, text.len() - 2);
    }

    #[test]
    fn a_statement_without_rows_has_no_data() {
        let description = Description::new(&[], None::<std::iter::Empty<Column<'_>>>);
        let mut out = Vec::new();
        description.parameters(&mut out);
        description.row(&mut out, |_| 0);
        assert_eq!(out, b"t\0\0\0\x06\0\0n\0\0\0\x04");
    }
}
