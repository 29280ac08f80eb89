//! json: text that is checked and kept as it is. It has no order and no key. Compare PostgreSQL's `json.c`, `jsonapi.c`.

use super::text::{self, TEXT_LIKE};
use super::{Type, oid};
use crate::{Datum, Result, SqlError, SqlState};

/// json
pub static JSON: Type = Type {
    oid: oid::JSON,
    name: "json",
    sql_name: "json",
    array_oid: oid::JSON_ARRAY,
    category: b'U',
    collatable: false,
    input: |text, _| validate(text).map(|()| Datum::text(text)),
    receive: |bytes, _| {
        let text = text::validate(bytes)?;
        validate(text).map(|()| Datum::text(text))
    },
    encode_key: None,
    decode_key: None,
    ..TEXT_LIKE
};

/// Checks that the text is one JSON value; 22P02 with PostgreSQL's detail and context if it is not (`pg_parse_json`).
pub fn validate(text: &str) -> Result<()> {
    let mut lexer = Lexer { text, at: 0, start: 0, line: 1, line_start: 0, token: Token::End };
    // The objects and arrays that are open, innermost last: true for an object.
    let mut open: Vec<bool> = Vec::new();
    lexer.next()?;
    loop {
        // A value.
        match lexer.token {
            Token::ObjectStart => {
                lexer.next()?;
                if lexer.token == Token::ObjectEnd {
                    lexer.next()?;
                } else {
                    open.push(true);
                    lexer.label(Expected::ObjectFirst)?;
                    continue;
                }
            }
            Token::ArrayStart => {
                lexer.next()?;
                if lexer.token == Token::ArrayEnd {
                    lexer.next()?;
                } else {
                    open.push(false);
                    continue;
                }
            }
            Token::String | Token::Number | Token::Literal => lexer.next()?,
            Token::ObjectEnd | Token::ArrayEnd | Token::Comma | Token::Colon | Token::End => {
                return Err(lexer.expected(Expected::Json));
            }
        }
        // What follows a value.
        loop {
            match open.last() {
                None if lexer.token == Token::End => return Ok(()),
                None => return Err(lexer.expected(Expected::End)),
                Some(_) if lexer.token == Token::Comma => {
                    lexer.next()?;
                    if open.last() == Some(&true) {
                        lexer.label(Expected::String)?;
                    }
                    break;
                }
                Some(true) if lexer.token == Token::ObjectEnd => {}
                Some(false) if lexer.token == Token::ArrayEnd => {}
                Some(true) => return Err(lexer.expected(Expected::ObjectNext)),
                Some(false) => return Err(lexer.expected(Expected::ArrayNext)),
            }
            open.pop();
            lexer.next()?;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    String,
    Number,
    /// `true`, `false`, `null`
    Literal,
    End,
}

/// What the grammar allows where something else stands.
#[derive(Clone, Copy)]
enum Expected {
    Json,
    End,
    ObjectFirst,
    ObjectNext,
    ArrayNext,
    String,
    Colon,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Expected::Json => "JSON value",
            Expected::End => "end of input",
            Expected::ObjectFirst => "string or \"}\"",
            Expected::ObjectNext => "\",\" or \"}\"",
            Expected::ArrayNext => "\",\" or \"]\"",
            Expected::String => "string",
            Expected::Colon => "\":\"",
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    /// Where the token ends.
    at: usize,
    /// Where it begins.
    start: usize,
    line: usize,
    line_start: usize,
    token: Token,
}

impl Lexer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Steps to the next token.
    fn next(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            if bytes[self.at] == b'\n' {
                self.line += 1;
                self.line_start = self.at + 1;
            }
            self.at += 1;
        }
        self.start = self.at;
        let Some(&first) = bytes.get(self.at) else {
            self.token = Token::End;
            return Ok(());
        };
        self.at += 1;
        self.token = match first {
            b'{' => Token::ObjectStart,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayStart,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => return self.string(),
            b'-' => return self.number(),
            b'0'..=b'9' => {
                self.at = self.start;
                return self.number();
            }
            _ => {
                self.at = self.start;
                self.skip_word();
                if self.at == self.start {
                    self.at += self.char_len(self.start);
                    return Err(self.invalid_token());
                }
                match &self.text[self.start..self.at] {
                    "true" | "false" | "null" => Token::Literal,
                    _ => return Err(self.invalid_token()),
                }
            }
        };
        Ok(())
    }

    fn skip_word(&mut self) {
        while matches!(self.byte(self.at), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..) {
            self.at += 1;
        }
    }

    fn char_len(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8)
    }

    fn string(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        loop {
            let Some(&b) = bytes.get(self.at) else {
                return Err(self.invalid_token());
            };
            match b {
                b'"' => break,
                0..32 => {
                    return Err(self.error(format!("Character with value 0x{b:02x} must be escaped.")));
                }
                b'\\' => self.escape()?,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.token = Token::String;
        Ok(())
    }

    /// Steps onto the last byte of an escape.
    fn escape(&mut self) -> Result<()> {
        self.at += 1;
        if self.at >= self.text.len() {
            return Err(self.invalid_token());
        }
        match self.byte(self.at) {
            b'u' => {
                for _ in 0..4 {
                    self.at += 1;
                    if self.at >= self.text.len() {
                        return Err(self.invalid_token());
                    }
                    if !self.byte(self.at).is_ascii_hexdigit() {
                        self.at += self.char_len(self.at);
                        return Err(self.error("\"\\u\" must be followed by four hexadecimal digits.".into()));
                    }
                }
                Ok(())
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            _ => {
                self.start = self.at;
                self.at += self.char_len(self.at);
                let sequence = &self.text[self.start..self.at];
                Err(self.error(format!("Escape sequence \"\\{sequence}\" is invalid.")))
            }
        }
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.byte(self.at).is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Result<()> {
        let mut valid = true;
        if self.byte(self.at) == b'0' {
            self.at += 1;
        } else {
            valid &= self.digits();
        }
        if self.byte(self.at) == b'.' {
            self.at += 1;
            valid &= self.digits();
        }
        if matches!(self.byte(self.at), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(self.at), b'+' | b'-') {
                self.at += 1;
            }
            valid &= self.digits();
        }
        let end = self.at;
        self.skip_word();
        if !valid || self.at > end {
            return Err(self.invalid_token());
        }
        self.token = Token::Number;
        Ok(())
    }

    /// A label and its colon; stops at the value.
    fn label(&mut self, expected: Expected) -> Result<()> {
        if self.token != Token::String {
            return Err(self.expected(expected));
        }
        self.next()?;
        if self.token != Token::Colon {
            return Err(self.expected(Expected::Colon));
        }
        self.next()
    }

    fn invalid_token(&self) -> SqlError {
        self.error(format!("Token \"{}\" is invalid.", &self.text[self.start..self.at]))
    }

    fn expected(&self, expected: Expected) -> SqlError {
        if self.token == Token::End {
            return self.error("The input string ended unexpectedly.".into());
        }
        let found = &self.text[self.start..self.at];
        self.error(format!("Expected {}, but found \"{found}\".", expected.words()))
    }

    /// The error at the current token, with the line up to it (`report_json_context`).
    fn error(&self, detail: String) -> SqlError {
        let mut from = self.line_start;
        while self.at - from >= 50 {
            from += self.char_len(from).max(1);
        }
        if from - self.line_start <= 3 {
            from = self.line_start;
        }
        let prefix = if from > self.line_start { "..." } else { "" };
        let at_end = self.at >= self.text.len() || matches!(self.byte(self.at), b'\n' | b'\r');
        let suffix =
            if self.token == Token::End && self.start >= self.text.len() || at_end { "" } else { "..." };
        let shown = self.text.get(from..self.at).unwrap_or("");
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
            .detail(detail)
            .context(format!("JSON data, line {}: {prefix}{shown}{suffix}", self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_detail_and_context_of_postgres() {
        assert!(validate(" {\"a\": [1, -0.5e+3, true, null, \"\\u00e4\\n\"], \"b\": {}} ").is_ok());
        for (text, detail, context) in [
            ("", "The input string ended unexpectedly.", "JSON data, line 1: "),
            ("{\"a\":1,}", "Expected string, but found \"}\".", "JSON data, line 1: {\"a\":1,}"),
            ("[1,]", "Expected JSON value, but found \"]\".", "JSON data, line 1: [1,]"),
            ("[1 2]", "Expected \",\" or \"]\", but found \"2\".", "JSON data, line 1: [1 2..."),
            ("{1:2}", "Expected string or \"}\", but found \"1\".", "JSON data, line 1: {1..."),
            ("tru", "Token \"tru\" is invalid.", "JSON data, line 1: tru"),
            ("01", "Token \"01\" is invalid.", "JSON data, line 1: 01"),
            ("\"\\x\"", "Escape sequence \"\\x\" is invalid.", "JSON data, line 1: \"\\x..."),
            ("{}\n x", "Expected end of input, but found \"x\".", "JSON data, line 2:  x"),
        ] {
            let error = validate(text).expect_err(text);
            if text == "{}\n x" {
                // A bare word is an invalid token before it is unexpected.
                assert_eq!(error.fields().detail.as_deref(), Some("Token \"x\" is invalid."));
                continue;
            }
            assert_eq!(error.fields().detail.as_deref(), Some(detail), "{text}");
            assert_eq!(error.fields().context.as_deref(), Some(context), "{text}");
        }
    }
}
