//! The scanner: PostgreSQL's lexical rules (compare `scan.l`). Every token knows its bytes and its position in characters.

use super::keywords::{Category, keyword};
use catalog::{Result, SqlError, SqlState};

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An unquoted word, folded and truncated; a keyword if its category is given.
    Word(String, Option<(Category, bool)>),
    /// A `"quoted"` identifier, unescaped.
    Quoted(String),
    /// A string constant of any form, unescaped.
    String(String),
    /// `B'...'`: the digits.
    Bits(String),
    /// `X'...'`: the digits.
    Hex(String),
    /// An integer that fits int4.
    Int(i32),
    /// Any other number, as written.
    Number(String),
    /// `$n`
    Param(u32),
    /// An operator, also those that the grammar names (`+`, `<`, `=`, `<>`, ...). `!=` reads as `<>`.
    Op(String),
    /// `,` `(` `)` `[` `]` `.` `;` `:` and `::`, `..`, `:=`, `=>`.
    Punct(&'static str),
    /// The end.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What.
    pub kind: Kind,
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Position of its first character, from 1.
    pub pos: u32,
}

impl Token {
    /// Of an identifier that was too long: what was written, and what is left of it.
    pub fn truncated(&self, text: &str) -> Option<(String, &str)> {
        let kept = match &self.kind {
            Kind::Word(word, _) => word,
            Kind::Quoted(name) => name,
            _ => return None,
        };
        let raw = text.get(self.start..self.end).filter(|raw| raw.len() > NAME_MAX_BYTES)?;
        let written = match raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => raw.to_ascii_lowercase(),
        };
        (written.len() > NAME_MAX_BYTES && written.starts_with(kept.as_str())).then_some((written, kept))
    }
}

/// Longest identifier (`NAMEDATALEN - 1`).
pub const NAME_MAX_BYTES: usize = 63;

/// All tokens of a text, [`Kind::End`] last.
pub fn tokenize(text: &str) -> Result<Vec<Token>> {
    match scan(text) {
        (tokens, None) => Ok(tokens),
        (_, Some(error)) => Err(error),
    }
}

/// The tokens up to the first lexical error, [`Kind::End`] last, and that error. PostgreSQL scans as it parses, so a syntax error
/// before it comes first.
pub fn scan(text: &str) -> (Vec<Token>, Option<SqlError>) {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, counted: 0, chars: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
    loop {
        match lexer.next() {
            Ok(token) => {
                let end = token.kind == Kind::End;
                tokens.push(token);
                if end {
                    return (tokens, None);
                }
            }
            Err(error) => {
                let pos = error.fields().position.unwrap_or(u32::MAX);
                tokens.push(Token { kind: Kind::End, start: text.len(), end: text.len(), pos });
                return (tokens, Some(error));
            }
        }
    }
}

/// An identifier cut to [`NAME_MAX_BYTES`] at a character boundary.
pub fn truncate_identifier(mut name: String) -> String {
    if name.len() > NAME_MAX_BYTES {
        let mut end = NAME_MAX_BYTES;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
    }
    name
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    counted: usize,
    chars: u32,
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x0b)
}

fn is_ident_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

fn is_ident(b: u8) -> bool {
    is_ident_start(b) || b.is_ascii_digit() || b == b'$'
}

fn is_op(b: u8) -> bool {
    b"~!@#^&|`?+-*/%<>=".contains(&b)
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Position in characters of a byte; bytes are asked for in ascending order except for errors.
    fn pos(&mut self, byte: usize) -> u32 {
        let count = |b: &[u8]| b.iter().filter(|b| (**b & 0xc0) != 0x80).count() as u32;
        if byte < self.counted {
            return count(&self.bytes[..byte]) + 1;
        }
        self.chars += count(&self.bytes[self.counted..byte]);
        self.counted = byte;
        self.chars + 1
    }

    fn error(&mut self, what: &str, start: usize, end: usize) -> SqlError {
        let pos = self.pos(start);
        let near = self.slice(start, end.min(self.bytes.len()));
        SqlError::new(SqlState::SYNTAX_ERROR, format!("{what} at or near \"{near}\"")).at(pos)
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<()> {
        loop {
            let b = self.peek(0);
            if self.at >= self.bytes.len() {
                return Ok(());
            }
            if is_space(b) {
                self.at += 1;
            } else if b == b'-' && self.peek(1) == b'-' {
                while self.at < self.bytes.len() && !matches!(self.peek(0), b'\n' | b'\r') {
                    self.at += 1;
                }
            } else if b == b'/' && self.peek(1) == b'*' {
                let start = self.at;
                self.at += 2;
                let mut depth = 1;
                while depth > 0 {
                    if self.at >= self.bytes.len() {
                        return Err(self.error("unterminated /* comment", start, usize::MAX));
                    }
                    match (self.peek(0), self.peek(1)) {
                        (b'/', b'*') => {
                            depth += 1;
                            self.at += 2;
                        }
                        (b'*', b'/') => {
                            depth -= 1;
                            self.at += 2;
                        }
                        _ => self.at += 1,
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Token> {
        self.skip()?;
        let start = self.at;
        let pos = self.pos(start);
        if start >= self.bytes.len() {
            return Ok(Token { kind: Kind::End, start, end: start, pos });
        }
        let b = self.peek(0);
        let kind = match b {
            b'\'' => self.quoted(start, start + 1, false)?,
            b'e' | b'E' if self.peek(1) == b'\'' => self.quoted(start, start + 2, true)?,
            b'n' | b'N' if self.peek(1) == b'\'' => self.quoted(start, start + 2, false)?,
            b'b' | b'B' if self.peek(1) == b'\'' => match self.quoted(start, start + 2, false)? {
                Kind::String(digits) => Kind::Bits(digits),
                other => other,
            },
            b'x' | b'X' if self.peek(1) == b'\'' => match self.quoted(start, start + 2, false)? {
                Kind::String(digits) => Kind::Hex(digits),
                other => other,
            },
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'\'' => {
                let kind = self.quoted(start, start + 3, false)?;
                let Kind::String(raw) = kind else { return Ok(Token { kind, start, end: self.at, pos }) };
                let escape = self.uescape()?;
                Kind::String(self.unicode(&raw, escape, start)?)
            }
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'"' => {
                let raw = self.quoted_identifier(start, start + 3)?;
                let escape = self.uescape()?;
                Kind::Quoted(truncate_identifier(self.unicode(&raw, escape, start)?))
            }
            b'"' => Kind::Quoted(truncate_identifier(self.quoted_identifier(start, start + 1)?)),
            b'$' => self.dollar(start)?,
            b'0'..=b'9' => self.number(start)?,
            b'.' if self.peek(1).is_ascii_digit() => self.number(start)?,
            _ if is_ident_start(b) => {
                while is_ident(self.peek(0)) && self.at < self.bytes.len() {
                    self.at += 1;
                }
                let word = truncate_identifier(self.slice(start, self.at).to_ascii_lowercase());
                let entry = keyword(&word).map(|k| (k.1, k.2));
                Kind::Word(word, entry)
            }
            b'.' => self.punct(&["..", "."]),
            b':' => self.punct(&["::", ":=", ":"]),
            b',' => self.punct(&[","]),
            b'(' => self.punct(&["("]),
            b')' => self.punct(&[")"]),
            b'[' => self.punct(&["["]),
            b']' => self.punct(&["]"]),
            b';' => self.punct(&[";"]),
            _ if is_op(b) => self.operator(start)?,
            _ => {
                let width = self.slice(start, self.bytes.len()).chars().next().map_or(1, char::len_utf8);
                return Err(self.error("syntax error", start, start + width));
            }
        };
        Ok(Token { kind, start, end: self.at, pos })
    }

    fn punct(&mut self, choices: &[&'static str]) -> Kind {
        for choice in choices {
            if self.bytes[self.at..].starts_with(choice.as_bytes()) {
                self.at += choice.len();
                return Kind::Punct(choice);
            }
        }
        self.at += 1;
        Kind::Punct("")
    }

    fn operator(&mut self, start: usize) -> Result<Kind> {
        let mut end = start;
        while self.bytes.get(end).copied().is_some_and(is_op) {
            end += 1;
        }
        // A comment ends the operator.
        let run = self.slice(start, end);
        for comment in ["/*", "--"] {
            if let Some(place) = run.find(comment) {
                end = end.min(start + place);
            }
        }
        // A trailing + or - belongs to the operator only if it holds a character that no standard operator has.
        let mut op = self.slice(start, end);
        while op.len() > 1
            && op.ends_with(['+', '-'])
            && !op.contains(['~', '!', '@', '#', '^', '&', '|', '`', '?', '%'])
        {
            op = &op[..op.len() - 1];
        }
        let op = op.to_owned();
        self.at = start + op.len();
        if op.len() > NAME_MAX_BYTES {
            return Err(self.error("operator too long", start, self.at));
        }
        Ok(match op.as_str() {
            "=>" => Kind::Punct("=>"),
            "!=" => Kind::Op("<>".into()),
            _ => Kind::Op(op),
        })
    }

    fn number(&mut self, start: usize) -> Result<Kind> {
        let digits = |lexer: &mut Self| {
            while lexer.peek(0).is_ascii_digit() {
                lexer.at += 1;
            }
        };
        digits(self);
        let mut integer = true;
        // `1..10` is an integer and two dots (decimalfail).
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            integer = false;
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                integer = false;
                self.at += 1 + sign;
                digits(self);
            } else if sign == 1 {
                return Err(self.error("trailing junk after numeric literal", start, self.at + 2));
            }
        }
        if is_ident_start(self.peek(0)) {
            return Err(self.error("trailing junk after numeric literal", start, self.identifier_end()));
        }
        let text = self.slice(start, self.at);
        Ok(match text.parse::<i32>() {
            Ok(value) if integer => Kind::Int(value),
            _ => Kind::Number(text.to_owned()),
        })
    }

    /// Where the identifier that begins here ends.
    fn identifier_end(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at + rest.iter().take_while(|b| is_ident(**b)).count()
    }

    fn dollar(&mut self, start: usize) -> Result<Kind> {
        if self.peek(1).is_ascii_digit() {
            self.at += 1;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
            if is_ident_start(self.peek(0)) {
                return Err(self.error("trailing junk after parameter", start, self.identifier_end()));
            }
            // PostgreSQL reads the number with atol and cuts it to 32 bits; the rest of it raises 42P02 anyway.
            let number = self.slice(start + 1, self.at).parse::<u32>().unwrap_or(u32::MAX);
            return Ok(Kind::Param(number));
        }
        let mut end = start + 1;
        if self.bytes.get(end).copied().is_some_and(is_ident_start) {
            while self.bytes.get(end).copied().is_some_and(|b| is_ident(b) && b != b'$') {
                end += 1;
            }
        }
        if self.bytes.get(end) != Some(&b'$') {
            self.at = start + 1;
            return Err(self.error("syntax error", start, start + 1));
        }
        let tag = self.slice(start, end + 1).to_owned();
        let body = end + 1;
        match self.slice(body, self.bytes.len()).find(&tag) {
            Some(place) => {
                self.at = body + place + tag.len();
                Ok(Kind::String(self.slice(body, body + place).to_owned()))
            }
            None => Err(self.error("unterminated dollar-quoted string", start, usize::MAX)),
        }
    }

    fn quoted_identifier(&mut self, start: usize, body: usize) -> Result<String> {
        let mut name = String::new();
        self.at = body;
        loop {
            let rest = self.at;
            let Some(place) = self.slice(rest, self.bytes.len()).find('"') else {
                return Err(self.error("unterminated quoted identifier", start, usize::MAX));
            };
            name.push_str(self.slice(rest, rest + place));
            self.at = rest + place + 1;
            if self.peek(0) != b'"' {
                break;
            }
            name.push('"');
            self.at += 1;
        }
        if name.is_empty() {
            return Err(self.error("zero-length delimited identifier", start, self.at));
        }
        Ok(name)
    }

    /// A string whose body starts at `body`; continued by further quotes after white space with a newline.
    fn quoted(&mut self, start: usize, body: usize, escapes: bool) -> Result<Kind> {
        let mut out: Vec<u8> = Vec::new();
        let mut surrogate: Option<u32> = None;
        self.at = body;
        loop {
            if self.at >= self.bytes.len() {
                return Err(self.unterminated(start));
            }
            let b = self.peek(0);
            match b {
                b'\'' if self.peek(1) == b'\'' => {
                    out.push(b'\'');
                    self.at += 2;
                }
                b'\'' => {
                    self.at += 1;
                    if !self.continued() {
                        break;
                    }
                }
                b'\\' if escapes => self.escape(start, &mut out, &mut surrogate)?,
                _ => {
                    out.push(b);
                    self.at += 1;
                }
            }
        }
        if surrogate.is_some() {
            return Err(self.error("invalid Unicode surrogate pair", start, self.at));
        }
        String::from_utf8(out).map(Kind::String).map_err(|error| {
            let bad = error.utf8_error().valid_up_to();
            let byte = error.into_bytes().get(bad).copied().unwrap_or(0);
            SqlError::new(
                SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                format!("invalid byte sequence for encoding \"UTF8\": 0x{byte:02x}"),
            )
        })
    }

    fn unterminated(&mut self, start: usize) -> SqlError {
        let what = match self.bytes.get(start) {
            Some(b'b' | b'B') => "unterminated bit string literal",
            Some(b'x' | b'X') => "unterminated hexadecimal string literal",
            _ => "unterminated quoted string",
        };
        self.error(what, start, usize::MAX)
    }

    /// After a closing quote: whether white space with a newline and another quote follow; then goes past that quote.
    fn continued(&mut self) -> bool {
        let mut at = self.at;
        let mut newline = false;
        while let Some(b) = self.bytes.get(at) {
            match b {
                b'\n' | b'\r' => newline = true,
                b'-' if newline && self.bytes.get(at + 1) == Some(&b'-') => {
                    while self.bytes.get(at).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
                        at += 1;
                    }
                    continue;
                }
                b'\'' if newline => {
                    self.at = at + 1;
                    return true;
                }
                b if is_space(*b) => {}
                _ => return false,
            }
            at += 1;
        }
        false
    }

    fn escape(&mut self, start: usize, out: &mut Vec<u8>, surrogate: &mut Option<u32>) -> Result<()> {
        let b = self.peek(1);
        if self.at + 1 >= self.bytes.len() {
            return Err(self.unterminated(start));
        }
        self.at += 2;
        let simple = match b {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'0'..=b'7' => {
                let mut value = u32::from(b - b'0');
                for _ in 0..2 {
                    if !matches!(self.peek(0), b'0'..=b'7') {
                        break;
                    }
                    value = value * 8 + u32::from(self.peek(0) - b'0');
                    self.at += 1;
                }
                value as u8
            }
            b'x' if self.peek(0).is_ascii_hexdigit() => {
                let digits = 1 + usize::from(self.peek(1).is_ascii_hexdigit());
                let value = u8::from_str_radix(self.slice(self.at, self.at + digits), 16).unwrap_or(0);
                self.at += digits;
                value
            }
            b'u' | b'U' => {
                let width = if b == b'u' { 4 } else { 8 };
                let digits = self.slice(self.at, self.at + width);
                let Some(code) = (digits.len() == width && digits.bytes().all(|b| b.is_ascii_hexdigit()))
                    .then(|| u32::from_str_radix(digits, 16).unwrap_or(u32::MAX))
                else {
                    let pos = self.pos(self.at - 2);
                    return Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid Unicode escape")
                        .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.")
                        .at(pos));
                };
                self.at += width;
                let c = self.code_point(code, surrogate, self.at - width - 2)?;
                if let Some(c) = c {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                return Ok(());
            }
            other => other,
        };
        if surrogate.is_some() {
            return Err(self.error("invalid Unicode surrogate pair", start, self.at));
        }
        if simple == 0 {
            return Err(SqlError::new(
                SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                "invalid byte sequence for encoding \"UTF8\": 0x00",
            ));
        }
        out.push(simple);
        Ok(())
    }

    /// One code unit; `None` for the first half of a surrogate pair.
    fn code_point(&mut self, code: u32, surrogate: &mut Option<u32>, at: usize) -> Result<Option<char>> {
        let code = match (*surrogate, code) {
            (Some(high), 0xdc00..=0xdfff) => {
                *surrogate = None;
                0x10000 + ((high & 0x3ff) << 10) + (code & 0x3ff)
            }
            (None, 0xd800..=0xdbff) => {
                *surrogate = Some(code);
                return Ok(None);
            }
            (Some(_), _) | (None, 0xdc00..=0xdfff) => {
                let end = self.at;
                return Err(self.error("invalid Unicode surrogate pair", at, end));
            }
            (None, code) => code,
        };
        match char::from_u32(code) {
            Some(c) if code != 0 => Ok(Some(c)),
            _ => {
                let end = self.at;
                Err(self.error("invalid Unicode escape value", at, end))
            }
        }
    }

    /// `UESCAPE 'c'` after a U& constant; backslash without it.
    fn uescape(&mut self) -> Result<char> {
        let back = self.at;
        self.skip()?;
        if !self.slice(self.at, self.at + 7).eq_ignore_ascii_case("uescape") || is_ident(self.peek(7)) {
            self.at = back;
            return Ok('\\');
        }
        self.at += 7;
        self.skip()?;
        let start = self.at;
        if self.peek(0) != b'\'' {
            return Err(self.error("UESCAPE must be followed by a simple string literal", start, start + 1));
        }
        let Kind::String(text) = self.quoted(start, start + 1, false)? else { return Ok('\\') };
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None)
                if !c.is_ascii_hexdigit() && !matches!(c, '+' | '\'' | '"') && !c.is_whitespace() =>
            {
                Ok(c)
            }
            _ => Err(self.error("invalid Unicode escape character", start, self.at)),
        }
    }

    fn unicode(&mut self, raw: &str, escape: char, start: usize) -> Result<String> {
        let mut out = String::new();
        let mut surrogate = None;
        let mut rest = raw;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c != escape {
                if surrogate.is_some() {
                    return Err(self.error("invalid Unicode surrogate pair", start, self.at));
                }
                out.push(c);
                continue;
            }
            if rest.starts_with(escape) {
                out.push(escape);
                rest = &rest[escape.len_utf8()..];
                continue;
            }
            let (skip, width) = if rest.starts_with('+') { (1, 6) } else { (0, 4) };
            let digits = rest.get(skip..skip + width).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            let Some(digits) = digits else {
                let before = raw.len() - rest.len() - escape.len_utf8();
                let before = raw.get(..before).map_or(0, |r| r.chars().count());
                let pos = self.pos(start) + 3 + before as u32;
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
                    .hint("Unicode escapes must be \\XXXX or \\+XXXXXX.")
                    .at(pos));
            };
            let code = u32::from_str_radix(digits, 16).unwrap_or(u32::MAX);
            if let Some(c) = self.code_point(code, &mut surrogate, start)? {
                out.push(c);
            }
            rest = &rest[skip + width..];
        }
        if surrogate.is_some() {
            return Err(self.error("invalid Unicode surrogate pair", start, self.at));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = tokenize(text).expect("lexes").into_iter().map(|t| t.kind).collect();
        kinds.pop();
        kinds
    }

    #[test]
    fn lexical_forms() {
        let op = |s: &str| Kind::Op(s.into());
        assert_eq!(kinds("a!~~*b"), [Kind::Word("a".into(), None), op("!~~*"), Kind::Word("b".into(), None)]);
        assert_eq!(kinds("1+-2"), [Kind::Int(1), op("+"), op("-"), Kind::Int(2)]);
        assert_eq!(kinds(".5 1e5 5."), [".5", "1e5", "5."].map(|n| Kind::Number(n.into())));
        assert_eq!(
            kinds("E'a\\n\\u0041' 'x''y' $q$z$q$"),
            ["a\nA", "x'y", "z"].map(|s| Kind::String(s.into()))
        );
        assert_eq!(kinds("U&'d\\0061t'"), [Kind::String("dat".into())]);
        assert_eq!(kinds("'a'\n 'b'"), [Kind::String("ab".into())]);
        assert_eq!(kinds("/* a /* b */ */ -- c\n1"), [Kind::Int(1)]);
    }

    #[test]
    fn lexical_errors() {
        let message = |text: &str| {
            let error = tokenize(text).expect_err("an error");
            (error.message().to_owned(), error.fields().position)
        };
        assert_eq!(
            message("select 'abc"),
            ("unterminated quoted string at or near \"'abc\"".into(), Some(8))
        );
        assert_eq!(
            message("select 1a"),
            ("trailing junk after numeric literal at or near \"1a\"".into(), Some(8))
        );
        assert_eq!(message("é /*"), ("unterminated /* comment at or near \"/*\"".into(), Some(3)));
    }
}
