//! COPY TO: values to lines.

use crate::utility::copy::{CopyFormat, CopyOptions};

/// Writes lines. Fields come as their types' text.
pub struct RowWriter {
    csv: bool,
    delimiter: u8,
    null: Vec<u8>,
    quote: u8,
    escape: u8,
    force_quote: Vec<bool>,
    columns: usize,
}

impl RowWriter {
    /// A writer for these options; `force_quote` is per column.
    pub fn new(options: &CopyOptions, force_quote: Vec<bool>, columns: usize) -> Self {
        RowWriter {
            csv: options.format == CopyFormat::Csv,
            delimiter: options.delimiter,
            null: options.null.clone().into_bytes(),
            quote: options.quote,
            escape: options.escape,
            force_quote,
            columns,
        }
    }

    /// Appends one field, with the delimiter before it if it is not the first. `None` is NULL.
    pub fn field(&self, column: usize, text: Option<&[u8]>, out: &mut Vec<u8>) {
        if column > 0 {
            out.push(self.delimiter);
        }
        match text {
            None => out.extend_from_slice(&self.null),
            Some(text) if self.csv => self.csv_field(column, text, out),
            Some(text) => self.text_field(text, out),
        }
    }

    /// CopyAttributeOutText
    fn text_field(&self, text: &[u8], out: &mut Vec<u8>) {
        for &byte in text {
            let code = match byte {
                8 => b'b',
                12 => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                11 => b'v',
                b'\\' => b'\\',
                other if other == self.delimiter => other,
                other => {
                    out.push(other);
                    continue;
                }
            };
            out.push(b'\\');
            out.push(code);
        }
    }

    /// CopyAttributeOutCSV
    fn csv_field(&self, column: usize, text: &[u8], out: &mut Vec<u8>) {
        let special = |b: &u8| *b == self.delimiter || *b == self.quote || matches!(*b, b'\n' | b'\r');
        let quoted = self.force_quote.get(column).copied().unwrap_or(false)
            || text == self.null
            || text.iter().any(special)
            // A lone \. would end the data.
            || (self.columns == 1 && text == b"\\.");
        if !quoted {
            out.extend_from_slice(text);
            return;
        }
        out.push(self.quote);
        for &byte in text {
            if byte == self.quote || byte == self.escape {
                out.push(self.escape);
            }
            out.push(byte);
        }
        out.push(self.quote);
    }
}
