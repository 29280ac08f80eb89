//! COPY FROM: data in pieces of any size, lines and fields out of it.

use crate::utility::copy::{CopyFormat, CopyOptions};
use catalog::{Result, SqlError, SqlState};

/// A field of a line; `None` is NULL. The text lies in the reader's buffer.
pub type Field = Option<std::ops::Range<usize>>;

/// How lines end. The first line decides, as PostgreSQL has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Unknown,
    Lf,
    Cr,
    CrLf,
}

/// Splits COPY data into lines and lines into fields.
pub struct LineReader {
    csv: bool,
    delimiter: u8,
    null: Vec<u8>,
    quote: u8,
    escape: u8,
    /// Columns whose NULL string counts only unquoted (default), never (FORCE_NOT_NULL), or also quoted (FORCE_NULL).
    force_not_null: Vec<bool>,
    force_null: Vec<bool>,
    data: Vec<u8>,
    at: usize,
    ended: bool,
    /// The end-of-data marker was seen: whatever follows is not looked at.
    marked: bool,
    line_end: LineEnd,
    /// Lines read so far.
    pub line: u64,
    /// The current line as it came, for error contexts.
    pub raw: std::ops::Range<usize>,
    /// Decoded field text.
    pub text: Vec<u8>,
    /// The fields of the current line.
    pub fields: Vec<Field>,
}

impl LineReader {
    /// A reader for these options; the flags are per column.
    pub fn new(options: &CopyOptions, force_not_null: Vec<bool>, force_null: Vec<bool>) -> Self {
        LineReader {
            csv: options.format == CopyFormat::Csv,
            delimiter: options.delimiter,
            null: options.null.clone().into_bytes(),
            quote: options.quote,
            escape: options.escape,
            force_not_null,
            force_null,
            data: Vec::new(),
            at: 0,
            ended: false,
            marked: false,
            line_end: LineEnd::Unknown,
            line: 0,
            raw: 0..0,
            text: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Adds a piece of data; lines that are done are forgotten.
    pub fn feed(&mut self, piece: &[u8]) {
        if self.marked {
            return;
        }
        if self.at > 0 {
            self.data.drain(..self.at);
            self.at = 0;
        }
        self.data.extend_from_slice(piece);
    }

    /// Says that no more data will come.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// Whether the end-of-data marker was seen.
    pub fn done(&self) -> bool {
        self.ended && self.at >= self.data.len()
    }

    /// Reads the next whole line into `fields`; false if more data are needed (or, after [`LineReader::finish`], at the end).
    pub fn next_line(&mut self) -> Result<bool> {
        let Some((end, next)) = self.find_end()? else { return Ok(false) };
        let line = self.at..end;
        self.at = next;
        self.line += 1;
        self.raw = line.clone();
        if self.data.get(line.clone()) == Some(b"\\.") {
            // Whatever follows the marker is not looked at.
            self.ended = true;
            self.marked = true;
            self.at = self.data.len();
            return Ok(false);
        }
        self.text.clear();
        self.fields.clear();
        if self.csv {
            self.split_csv(line)?
        } else {
            self.split_text(line)?
        }
        Ok(true)
    }

    /// The text of a field of the current line.
    pub fn field(&self, column: usize) -> Option<&[u8]> {
        let range = self.fields.get(column)?.clone()?;
        self.text.get(range)
    }

    /// The current line as it came.
    pub fn raw_line(&self) -> &[u8] {
        self.data.get(self.raw.clone()).unwrap_or_default()
    }

    /// End of the next line and start of the one behind it.
    fn find_end(&mut self) -> Result<Option<(usize, usize)>> {
        let mut at = self.at;
        let mut quoted = false;
        while let Some(&byte) = self.data.get(at) {
            match byte {
                b'\n' if !quoted => {
                    match self.line_end {
                        LineEnd::Unknown => self.line_end = LineEnd::Lf,
                        LineEnd::Lf => {}
                        LineEnd::Cr | LineEnd::CrLf => return Err(self.bad("newline")),
                    }
                    return Ok(Some((at, at + 1)));
                }
                b'\r' if !quoted => {
                    let next = self.data.get(at + 1).copied();
                    if next.is_none() && !self.ended {
                        return Ok(None);
                    }
                    let kind = if next == Some(b'\n') { LineEnd::CrLf } else { LineEnd::Cr };
                    if self.line_end == LineEnd::Unknown {
                        self.line_end = kind;
                    }
                    if self.line_end != kind {
                        return Err(self.bad("carriage return"));
                    }
                    return Ok(Some((at, at + if kind == LineEnd::CrLf { 2 } else { 1 })));
                }
                b'\\' if !self.csv => {
                    // The escaped byte, also a line end, is data.
                    if self.data.get(at + 1).is_none() && !self.ended {
                        return Ok(None);
                    }
                    at += 1;
                    if matches!(self.data.get(at), Some(b'.')) {
                        continue;
                    }
                }
                _ if self.csv && (byte == self.quote || (quoted && byte == self.escape)) => {
                    if quoted && byte == self.escape {
                        match self.data.get(at + 1) {
                            Some(next)
                                if *next == self.quote
                                    || (self.escape != self.quote && *next == self.escape) =>
                            {
                                at += 1;
                            }
                            None if !self.ended => return Ok(None),
                            _ if byte == self.quote => quoted = false,
                            _ => {}
                        }
                    } else {
                        quoted = !quoted;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if !self.ended || self.at >= self.data.len() {
            return Ok(None);
        }
        if quoted {
            self.line += 1;
            return Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, "unterminated CSV quoted field"));
        }
        Ok(Some((self.data.len(), self.data.len())))
    }

    fn bad(&mut self, what: &str) -> SqlError {
        self.line += 1;
        let (quoting, hint) = if self.csv {
            ("unquoted", format!("Use quoted CSV field to represent {what}."))
        } else {
            let code = if what == "newline" { "\\n" } else { "\\r" };
            ("literal", format!("Use \"{code}\" to represent {what}."))
        };
        SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, format!("{quoting} {what} found in data")).hint(hint)
    }

    /// CopyReadAttributesText
    fn split_text(&mut self, line: std::ops::Range<usize>) -> Result<()> {
        let mut at = line.start;
        loop {
            let start = at;
            let text_start = self.text.len();
            let mut found_delimiter = false;
            while at < line.end {
                let byte = self.data[at];
                at += 1;
                if byte == self.delimiter {
                    found_delimiter = true;
                    break;
                }
                if byte != b'\\' || at >= line.end {
                    self.text.push(byte);
                    continue;
                }
                let escaped = self.data[at];
                at += 1;
                let decoded = match escaped {
                    b'0'..=b'7' => {
                        let mut value = u32::from(escaped - b'0');
                        for _ in 0..2 {
                            match self.data.get(at) {
                                Some(digit @ b'0'..=b'7') if at < line.end => {
                                    value = value * 8 + u32::from(digit - b'0');
                                    at += 1;
                                }
                                _ => break,
                            }
                        }
                        value as u8
                    }
                    b'x' => {
                        let digits = self.data.get(at..line.end.min(at + 2)).unwrap_or_default();
                        let count = digits.iter().take_while(|d| d.is_ascii_hexdigit()).count();
                        if count == 0 {
                            b'x'
                        } else {
                            let hex = std::str::from_utf8(digits.get(..count).unwrap_or_default())
                                .unwrap_or_default();
                            at += count;
                            u8::from_str_radix(hex, 16).unwrap_or(0)
                        }
                    }
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 11,
                    other => other,
                };
                self.text.push(decoded);
            }
            let end = if found_delimiter { at - 1 } else { at };
            let null = self.data.get(start..end) == Some(self.null.as_slice());
            self.fields.push(if null { None } else { Some(text_start..self.text.len()) });
            if !found_delimiter {
                return Ok(());
            }
        }
    }

    /// CopyReadAttributesCSV
    fn split_csv(&mut self, line: std::ops::Range<usize>) -> Result<()> {
        let mut at = line.start;
        loop {
            let text_start = self.text.len();
            let mut found_delimiter = false;
            let mut was_quoted = false;
            let mut quoted = false;
            while at < line.end {
                let byte = self.data[at];
                at += 1;
                if quoted {
                    if byte == self.escape
                        && at < line.end
                        && (self.data[at] == self.quote || self.data[at] == self.escape)
                    {
                        self.text.push(self.data[at]);
                        at += 1;
                    } else if byte == self.quote {
                        quoted = false;
                    } else {
                        self.text.push(byte);
                    }
                } else if byte == self.delimiter {
                    found_delimiter = true;
                    break;
                } else if byte == self.quote {
                    quoted = true;
                    was_quoted = true;
                } else {
                    self.text.push(byte);
                }
            }
            if quoted {
                return Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, "unterminated CSV quoted field"));
            }
            let column = self.fields.len();
            let is_null_text = self.text.get(text_start..) == Some(self.null.as_slice());
            let flag = |list: &[bool]| list.get(column).copied().unwrap_or(false);
            let null =
                is_null_text && if was_quoted { flag(&self.force_null) } else { !flag(&self.force_not_null) };
            self.fields.push(if null { None } else { Some(text_start..self.text.len()) });
            if !found_delimiter {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utility::copy::CopyHeader;

    fn options(format: CopyFormat) -> CopyOptions {
        let csv = format == CopyFormat::Csv;
        CopyOptions {
            format,
            freeze: false,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { "".into() } else { "\\N".into() },
            header: CopyHeader::Off,
            quote: b'"',
            escape: b'"',
            force_quote: None,
            force_not_null: Vec::new(),
            force_null: Vec::new(),
            encoding: None,
        }
    }

    /// Reads all data, in pieces of `step` bytes.
    fn read(format: CopyFormat, data: &str, step: usize) -> Vec<Vec<Option<String>>> {
        let mut reader = LineReader::new(&options(format), Vec::new(), Vec::new());
        let mut lines = Vec::new();
        let mut take = |reader: &mut LineReader| {
            while reader.next_line().expect("good data") {
                let fields = (0..reader.fields.len())
                    .map(|i| reader.field(i).map(|f| String::from_utf8_lossy(f).into_owned()));
                lines.push(fields.collect());
            }
        };
        for piece in data.as_bytes().chunks(step) {
            reader.feed(piece);
            take(&mut reader);
        }
        reader.finish();
        take(&mut reader);
        lines
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn text_lines_read_in_any_pieces() {
        let data = "1\tab\\tc\t\\N\n2\t\\\\N\\x41\\101\t\n3\tline\\nend\tx\n\\.\nignored";
        for step in [1, 2, 3, 100] {
            let lines = read(CopyFormat::Text, data, step);
            assert_eq!(
                lines,
                [
                    vec![some("1"), some("ab\tc"), None],
                    vec![some("2"), some("\\NAA"), some("")],
                    vec![some("3"), some("line\nend"), some("x")],
                ],
                "in pieces of {step}"
            );
        }
    }

    #[test]
    fn csv_lines_read_in_any_pieces() {
        let data = "1,\"a \"\"b\"\", c\",\r\n2,\"\",\"two\r\nlines\"\r\n3,x,y";
        for step in [1, 2, 3, 100] {
            let lines = read(CopyFormat::Csv, data, step);
            assert_eq!(
                lines,
                [
                    vec![some("1"), some("a \"b\", c"), None],
                    vec![some("2"), some(""), some("two\r\nlines")],
                    vec![some("3"), some("x"), some("y")],
                ],
                "in pieces of {step}"
            );
        }
    }
}
