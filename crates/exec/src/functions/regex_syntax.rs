//! PostgreSQL's advanced regular expressions (ARE) in the syntax of crate regex. Compare `regcomp.c`, `regc_lex.c`.
//!
//! Classes are those of the C locale (ASCII). Not there: back-references and lookaround, which crate regex has not; they are refused.
//! Where several alternatives match, crate regex takes the first, PostgreSQL the longest; for tests without captures that is the same.

use catalog::{Result, SqlError, SqlState};
use std::iter::Peekable;
use std::str::Chars;

/// Options of a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Options {
    /// `i`
    pub ignore_case: bool,
    /// `.` and negated classes do not match a newline (`n`, `p`).
    pub newline_stops: bool,
    /// `^` and `$` match at newlines (`n`, `w`).
    pub newline_anchors: bool,
    /// `x`
    pub expanded: bool,
    /// `q`: no metacharacters.
    pub literal: bool,
}

impl Options {
    /// Applies an option letter; `false` if there is none such.
    pub fn apply(&mut self, letter: char) -> bool {
        match letter {
            'i' => self.ignore_case = true,
            'c' => self.ignore_case = false,
            'n' | 'm' => (self.newline_stops, self.newline_anchors) = (true, true),
            'p' => (self.newline_stops, self.newline_anchors) = (true, false),
            's' => (self.newline_stops, self.newline_anchors) = (false, false),
            'w' => (self.newline_stops, self.newline_anchors) = (false, true),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.literal = true,
            // b and e choose older syntaxes, of which the common part is the same.
            'e' => {}
            _ => return false,
        }
        true
    }
}

/// 2201B with PostgreSQL's reason.
pub(super) fn invalid(reason: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_REGULAR_EXPRESSION, format!("invalid regular expression: {reason}"))
}

/// The pattern as crate regex reads it.
pub(super) fn translate(pattern: &str, mut options: Options) -> Result<String> {
    let mut pattern = pattern;
    if let Some(rest) = pattern.strip_prefix("***=") {
        pattern = rest;
        options.literal = true;
    } else if let Some(rest) = pattern.strip_prefix("***:") {
        pattern = rest;
    } else if pattern.starts_with("***") {
        return Err(invalid("quantifier operand invalid"));
    }
    if !options.literal {
        pattern = embedded_options(pattern, &mut options)?;
    }
    let mut out = String::with_capacity(pattern.len() + 16);
    out.push_str("(?");
    for (set, letter) in
        [(options.ignore_case, 'i'), (!options.newline_stops, 's'), (options.newline_anchors, 'm')]
    {
        if set {
            out.push(letter);
        }
    }
    if out.len() == 2 {
        out.clear();
    } else {
        out.push(')');
    }
    if options.literal {
        out.push_str(&regex::escape(pattern));
        return Ok(out);
    }
    Translator { chars: pattern.chars().peekable(), out, options, depth: 0, quantifiable: false }.run()
}

/// Takes `(?xyz)` off the front.
fn embedded_options<'p>(pattern: &'p str, options: &mut Options) -> Result<&'p str> {
    let Some(rest) = pattern.strip_prefix("(?") else { return Ok(pattern) };
    let Some((letters, tail)) = rest.split_once(')') else { return Ok(pattern) };
    if letters.is_empty() || !letters.chars().all(|c| c.is_ascii_alphabetic()) {
        return Ok(pattern);
    }
    for letter in letters.chars() {
        if letter == 'b' {
            return Err(SqlError::unsupported("basic regular expression syntax"));
        }
        if !options.apply(letter) {
            return Err(invalid("invalid embedded option"));
        }
    }
    Ok(tail)
}

struct Translator<'p> {
    chars: Peekable<Chars<'p>>,
    out: String,
    options: Options,
    depth: u32,
    /// Whether a quantifier may follow.
    quantifiable: bool,
}

impl Translator<'_> {
    fn run(mut self) -> Result<String> {
        while let Some(c) = self.chars.next() {
            self.one(c)?;
        }
        if self.depth > 0 {
            return Err(invalid("parentheses () not balanced"));
        }
        Ok(self.out)
    }

    fn one(&mut self, c: char) -> Result<()> {
        match c {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => {
                self.open()?;
                return Ok(());
            }
            ')' => {
                if self.depth == 0 {
                    return Err(invalid("parentheses () not balanced"));
                }
                self.depth -= 1;
                self.out.push(')');
                self.quantifiable = true;
            }
            '|' => {
                self.out.push('|');
                self.quantifiable = false;
            }
            '^' | '$' => {
                self.out.push(c);
                self.quantifiable = false;
            }
            '*' | '+' | '?' => {
                self.quantify()?;
                self.out.push(c);
                self.lazy();
            }
            '{' if self.chars.peek().is_some_and(char::is_ascii_digit) => {
                self.quantify()?;
                self.bound()?;
                self.lazy();
            }
            c if self.options.expanded && c.is_ascii_whitespace() => {}
            '#' if self.options.expanded => {
                while self.chars.peek().is_some_and(|c| *c != '\n') {
                    self.chars.next();
                }
            }
            c => self.literal(c),
        }
        Ok(())
    }

    fn quantify(&mut self) -> Result<()> {
        if !self.quantifiable {
            return Err(invalid("quantifier operand invalid"));
        }
        self.quantifiable = false;
        Ok(())
    }

    /// A `?` after a quantifier makes it non-greedy.
    fn lazy(&mut self) {
        if self.chars.peek() == Some(&'?') {
            self.chars.next();
            self.out.push('?');
        }
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' && !c.is_ascii_control() && c != ' ' {
            self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        } else {
            self.out.push(c);
        }
        if c == '.' {
            self.out.pop();
            self.out.pop();
            self.out.push('.');
        }
        self.quantifiable = true;
    }

    fn open(&mut self) -> Result<()> {
        self.quantifiable = false;
        if self.chars.peek() == Some(&'?') {
            self.chars.next();
            match self.chars.next() {
                Some(':') => self.out.push_str("(?:"),
                Some('#') => {
                    // A comment.
                    for c in self.chars.by_ref() {
                        if c == ')' {
                            return Ok(());
                        }
                    }
                    return Err(invalid("parentheses () not balanced"));
                }
                Some('=' | '!' | '<') => {
                    return Err(SqlError::unsupported("lookaround in regular expressions"));
                }
                _ => return Err(invalid("quantifier operand invalid")),
            }
        } else {
            self.out.push('(');
        }
        self.depth += 1;
        Ok(())
    }

    /// `{m}`, `{m,}`, `{m,n}`, the brace taken.
    fn bound(&mut self) -> Result<()> {
        let mut text = String::new();
        loop {
            match self.chars.next() {
                Some('}') => break,
                Some(c) if c.is_ascii_digit() || c == ',' => text.push(c),
                Some(_) => return Err(invalid("invalid repetition count(s)")),
                None => return Err(invalid("braces {} not balanced")),
            }
        }
        let (low, high) = match text.split_once(',') {
            None => (text.as_str(), Some(text.as_str())),
            Some((low, "")) => (low, None),
            Some((low, high)) => (low, Some(high)),
        };
        let number = |s: &str| s.parse::<u32>().ok().filter(|n| *n <= 255);
        let low = number(low).ok_or_else(|| invalid("invalid repetition count(s)"))?;
        self.out.push('{');
        self.out.push_str(&low.to_string());
        match high {
            None => self.out.push(','),
            Some(high) => {
                let high = number(high).filter(|h| *h >= low);
                let high = high.ok_or_else(|| invalid("invalid repetition count(s)"))?;
                self.out.push(',');
                self.out.push_str(&high.to_string());
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn escape(&mut self) -> Result<()> {
        let Some(c) = self.chars.next() else { return Err(invalid("invalid escape \\ sequence")) };
        self.quantifiable = true;
        match c {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            's' => self.out.push_str("[ \\t\\n\\r\\x0B\\x0C]"),
            'S' => self.out.push_str("[^ \\t\\n\\r\\x0B\\x0C]"),
            'w' => self.out.push_str("[A-Za-z0-9_]"),
            'W' => self.out.push_str("[^A-Za-z0-9_]"),
            'A' => self.constraint("\\A"),
            'Z' => self.constraint("\\z"),
            'm' => self.constraint("\\b{start}"),
            'M' => self.constraint("\\b{end}"),
            'y' => self.constraint("\\b"),
            'Y' => self.constraint("\\B"),
            '1'..='9' => return Err(SqlError::unsupported("back-references in regular expressions")),
            other => {
                let c = self.character(other)?;
                self.push_escaped(c);
            }
        }
        Ok(())
    }

    fn constraint(&mut self, text: &str) {
        self.out.push_str(text);
        self.quantifiable = false;
    }

    fn push_escaped(&mut self, c: char) {
        if c.is_ascii_control() {
            self.out.push_str(&format!("\\x{:02X}", c as u32));
        } else {
            self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
    }

    /// The character that an escape stands for.
    fn character(&mut self, c: char) -> Result<char> {
        Ok(match c {
            'a' => '\x07',
            'b' => '\x08',
            'B' => '\\',
            'e' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'c' => {
                let c = self.chars.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                char::from((c as u32 & 31) as u8)
            }
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            'x' => {
                let mut value = 0u32;
                let mut any = false;
                while let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(16)) {
                    self.chars.next();
                    any = true;
                    value = value.wrapping_mul(16).wrapping_add(digit);
                }
                char::from_u32(value).filter(|_| any).ok_or_else(|| invalid("invalid escape \\ sequence"))?
            }
            '0' => {
                let mut value = 0u32;
                for _ in 0..2 {
                    let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    self.chars.next();
                    value = value * 8 + digit;
                }
                char::from_u32(value).ok_or_else(|| invalid("invalid escape \\ sequence"))?
            }
            c if c.is_ascii_alphanumeric() => return Err(invalid("invalid escape \\ sequence")),
            c => c,
        })
    }

    fn hex(&mut self, digits: usize) -> Result<char> {
        let mut value = 0u32;
        for _ in 0..digits {
            let digit = self.chars.next().and_then(|c| c.to_digit(16));
            value = value * 16 + digit.ok_or_else(|| invalid("invalid escape \\ sequence"))?;
        }
        char::from_u32(value).ok_or_else(|| invalid("invalid escape \\ sequence"))
    }

    /// A bracket expression, the bracket taken.
    fn class(&mut self) -> Result<()> {
        self.quantifiable = true;
        let ahead: String = self.chars.clone().take(7).collect();
        for (mark, boundary) in [("[:<:]]", "\\b{start}"), ("[:>:]]", "\\b{end}")] {
            if ahead.starts_with(mark) {
                for _ in 0..mark.len() {
                    self.chars.next();
                }
                self.constraint(boundary);
                return Ok(());
            }
        }
        self.out.push('[');
        let negated = self.chars.peek() == Some(&'^');
        if negated {
            self.chars.next();
            self.out.push('^');
            if self.options.newline_stops {
                self.out.push_str("\\n");
            }
        }
        let mut first = true;
        loop {
            let Some(c) = self.chars.next() else { return Err(invalid("brackets [] not balanced")) };
            match c {
                ']' if !first => break,
                '[' if matches!(self.chars.peek(), Some(':' | '.' | '=')) => self.named()?,
                '\\' => {
                    let c = self.chars.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                    match c {
                        'd' => self.out.push_str("0-9"),
                        's' => self.out.push_str(" \\t\\n\\r\\x0B\\x0C"),
                        'w' => self.out.push_str("A-Za-z0-9_"),
                        'D' | 'S' | 'W' => return Err(invalid("invalid escape \\ sequence")),
                        other => {
                            let c = self.character(other)?;
                            self.class_char(c);
                        }
                    }
                }
                '-' if !first && self.chars.peek() != Some(&']') => self.out.push('-'),
                c => self.class_char(c),
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }

    fn class_char(&mut self, c: char) {
        if c.is_ascii_control() {
            self.out.push_str(&format!("\\x{:02X}", c as u32));
            return;
        }
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// `[:name:]`, `[.c.]`, `[=c=]` within a class, the first bracket taken.
    fn named(&mut self) -> Result<()> {
        let mark = self.chars.next().unwrap_or(':');
        let mut name = String::new();
        loop {
            match self.chars.next() {
                Some(c) if c == mark && self.chars.peek() == Some(&']') => {
                    self.chars.next();
                    break;
                }
                Some(c) => name.push(c),
                None => return Err(invalid("brackets [] not balanced")),
            }
        }
        if mark != ':' {
            let mut chars = name.chars();
            return match (chars.next(), chars.next()) {
                (Some(c), None) => {
                    self.class_char(c);
                    Ok(())
                }
                _ => Err(invalid("invalid collating element")),
            };
        }
        match name.as_str() {
            "alnum" | "alpha" | "ascii" | "blank" | "cntrl" | "digit" | "graph" | "lower" | "print"
            | "punct" | "space" | "upper" | "word" | "xdigit" => {
                self.out.push_str("[:");
                self.out.push_str(&name);
                self.out.push_str(":]");
                Ok(())
            }
            _ => Err(invalid("invalid character class")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let translated = translate(pattern, Options::default()).expect(pattern);
        regex::Regex::new(&translated).expect(&translated).is_match(text)
    }

    #[test]
    fn advanced_syntax_is_understood() {
        assert!(matches("^a.c$", "a\nc"));
        assert!(matches(r"\mfoo\M", "a foo b"));
        assert!(!matches(r"\mfoo\M", "afoo"));
        assert!(matches(r"[[:digit:]]{2,3}", "x12"));
        assert!(matches("(?i)ABC", "abc"));
        assert!(matches("[]a]", "]"));
        assert!(matches("[a&&b]", "&"));
        assert!(matches("a{", "a{"));
        assert!(matches("***=a.b", "a.b") && !matches("***=a.b", "axb"));
        assert!(!matches(r"^\w+$", "é"));
        let error = |p: &str| translate(p, Options::default()).expect_err(p).message().to_owned();
        assert_eq!(error("("), "invalid regular expression: parentheses () not balanced");
        assert_eq!(error("[a"), "invalid regular expression: brackets [] not balanced");
        assert_eq!(error("*a"), "invalid regular expression: quantifier operand invalid");
        assert_eq!(error("a{2,1}"), "invalid regular expression: invalid repetition count(s)");
        assert_eq!(error("a\\"), "invalid regular expression: invalid escape \\ sequence");
    }
}
