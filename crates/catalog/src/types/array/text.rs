//! The text form of arrays: `{1,2,NULL}`, `{{"a b",c},{d,e}}`, `[0:1]={1,2}` (`array_in`, `array_out`).

use super::{ArrayRef, Dimension, build_array, check_dimension_count, element_count};
use crate::types::{InputContext, Type, by_oid};
use crate::{Datum, Result, SqlError, SqlState, Style};
use std::borrow::Cow;

/// Reads an array.
pub(super) fn parse<'a>(text: &'a str, cx: &InputContext<'a>) -> Result<Datum<'a>> {
    let element =
        by_oid(cx.typ.element).ok_or_else(|| SqlError::internal("an array type without element type"))?;
    let malformed = |detail: &str| malformed(text, detail);
    let (given, rest) = explicit_dimensions(text)?;
    let body = match given {
        Some(_) => {
            let rest =
                rest.strip_prefix('=').ok_or_else(|| malformed("Missing \"=\" after array dimensions."))?;
            let body = rest.trim_start_matches(is_space);
            if !body.starts_with('{') {
                return Err(malformed("Array contents must start with \"{\"."));
            }
            body
        }
        None if rest.starts_with('{') => rest,
        None => return Err(malformed("Array value must start with \"{\" or dimension information.")),
    };
    let (items, lengths) = split(text, body)?;
    let dimensions = match given {
        Some(given) => {
            if given.iter().map(|d| d.len as usize).ne(lengths.iter().copied()) {
                return Err(malformed("Specified array dimensions do not match array contents."));
            }
            given
        }
        None => lengths.iter().map(|len| Dimension { len: *len as i32, lower: 1 }).collect(),
    };
    element_count(&dimensions)?;
    let cx = InputContext { typ: element, ..*cx };
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(match item {
            None => Datum::Null,
            Some(Cow::Borrowed(text)) => (element.input)(text, &cx)?,
            Some(Cow::Owned(text)) => (element.input)(cx.arena.str(&text), &cx)?,
        });
    }
    let mut out = Vec::with_capacity(16 + values.len() * 8);
    build_array(element, &values, &dimensions, &mut out);
    Ok(Datum::Bytes(cx.arena.bytes(&out)))
}

fn malformed(text: &str, detail: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\""))
        .detail(detail)
}

/// `array_isspace`
fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// `[l:u][n]...` at the front, and what follows it.
fn explicit_dimensions(text: &str) -> Result<(Option<Vec<Dimension>>, &str)> {
    let mut dimensions = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(inner) = rest.strip_prefix('[') else {
            return Ok((if dimensions.is_empty() { None } else { Some(dimensions) }, rest));
        };
        check_dimension_count(dimensions.len() + 1)?;
        let number =
            |text: &str| text.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+')).count();
        let end = number(inner);
        if end == 0 {
            return Err(malformed(text, "\"[\" must introduce explicitly-specified array dimensions."));
        }
        let (mut lower, mut upper, mut after) = (1, atoi(&inner[..end]), &inner[end..]);
        if let Some(second) = after.strip_prefix(':') {
            let end = number(second);
            if end == 0 {
                return Err(malformed(text, "Missing array dimension value."));
            }
            (lower, upper, after) = (upper, atoi(&second[..end]), &second[end..]);
        }
        rest = after
            .strip_prefix(']')
            .ok_or_else(|| malformed(text, "Missing \"]\" after array dimensions."))?;
        if upper < lower {
            return Err(SqlError::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "upper bound cannot be less than lower bound",
            ));
        }
        let len = i32::try_from(i64::from(upper) - i64::from(lower) + 1).unwrap_or(i32::MAX);
        dimensions.push(Dimension { len, lower });
    }
}

/// C's `atoi`.
fn atoi(text: &str) -> i32 {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.bytes().take_while(u8::is_ascii_digit).count();
    let value: i64 = digits[..end].parse().unwrap_or(0);
    (sign * value) as i32
}

/// Where the scan of the braces stands (`ArrayParseState`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NoLevel,
    LevelStarted,
    ElementStarted,
    QuotedStarted,
    QuotedCompleted,
    ElementDelimited,
    LevelCompleted,
    LevelDelimited,
}

/// An element's text, without quotes and escapes; `None` for NULL.
type Item<'a> = Option<Cow<'a, str>>;

/// Splits the braces into elements and the length of each dimension (`ArrayCount`, `ReadArrayStr`).
fn split<'a>(whole: &str, body: &'a str) -> Result<(Vec<Item<'a>>, Vec<usize>)> {
    let malformed = |detail: &str| malformed(whole, detail);
    let mut items: Vec<Item<'a>> = Vec::new();
    let mut state = State::NoLevel;
    let mut level = 0usize;
    let mut counts = [1usize; super::MAX_DIMENSIONS];
    let mut settled: [Option<usize>; super::MAX_DIMENSIONS] = [None; super::MAX_DIMENSIONS];
    let mut depth = 1usize;
    let mut current = Element::default();
    let mut chars = body.char_indices();
    let end;
    let mut is_empty = true;
    loop {
        let Some((at, c)) = chars.next() else {
            return Err(malformed("Unexpected end of input."));
        };
        let quoted = state == State::QuotedStarted;
        match c {
            '\\' => {
                if !quoted
                    && !matches!(state, State::LevelStarted | State::ElementStarted | State::ElementDelimited)
                {
                    return Err(malformed("Unexpected \"\\\" character."));
                }
                let Some((_, escaped)) = chars.next() else {
                    return Err(malformed("Unexpected end of input."));
                };
                current.escape(body, at, escaped);
                if !quoted {
                    state = State::ElementStarted;
                }
                is_empty = false;
            }
            '"' if quoted => {
                state = State::QuotedCompleted;
            }
            '"' => {
                if !matches!(state, State::LevelStarted | State::ElementDelimited) {
                    return Err(malformed("Unexpected array element."));
                }
                state = State::QuotedStarted;
                current.open_quote(at + 1);
                is_empty = false;
            }
            _ if quoted => current.push(body, at, c),
            '{' => {
                if !matches!(state, State::NoLevel | State::LevelStarted | State::LevelDelimited) {
                    return Err(malformed("Unexpected \"{\" character."));
                }
                state = State::LevelStarted;
                check_dimension_count(level + 1)?;
                level += 1;
                depth = depth.max(level);
            }
            '}' => {
                let may_close =
                    matches!(state, State::ElementStarted | State::QuotedCompleted | State::LevelCompleted)
                        || (level == 1 && state == State::LevelStarted);
                if !may_close || level == 0 {
                    return Err(malformed("Unexpected \"}\" character."));
                }
                if matches!(state, State::ElementStarted | State::QuotedCompleted) {
                    items.push(current.finish(body));
                }
                state = State::LevelCompleted;
                level -= 1;
                if settled[level].is_some_and(|count| count != counts[level]) {
                    return Err(malformed(
                        "Multidimensional arrays must have sub-arrays with matching dimensions.",
                    ));
                }
                settled[level] = Some(counts[level]);
                counts[level] = 1;
                if level == 0 {
                    end = at + 1;
                    break;
                }
            }
            ',' => {
                if !matches!(state, State::ElementStarted | State::QuotedCompleted | State::LevelCompleted) {
                    return Err(malformed("Unexpected \",\" character."));
                }
                if state == State::LevelCompleted {
                    state = State::LevelDelimited;
                } else {
                    items.push(current.finish(body));
                    state = State::ElementDelimited;
                }
                counts[level - 1] += 1;
            }
            c if is_space(c) => {
                if state == State::ElementStarted {
                    current.push_space(body, at, c);
                }
            }
            c => {
                if !matches!(state, State::LevelStarted | State::ElementStarted | State::ElementDelimited) {
                    return Err(malformed("Unexpected array element."));
                }
                state = State::ElementStarted;
                current.push(body, at, c);
                is_empty = false;
            }
        }
    }
    if !body[end..].chars().all(is_space) {
        return Err(malformed("Junk after closing right brace."));
    }
    if is_empty {
        return Ok((Vec::new(), Vec::new()));
    }
    let lengths = settled[..depth].iter().map(|count| count.unwrap_or(0)).collect();
    Ok((items, lengths))
}

/// The element being read: borrowed from the text while it stands there as it is.
#[derive(Default)]
struct Element {
    /// Where the borrowed part begins and ends.
    start: Option<usize>,
    end: usize,
    /// The text, once it differs from what stands in the input.
    owned: Option<String>,
    /// Length of `owned` without blanks at the end.
    solid: usize,
    is_quoted: bool,
    /// An escape also keeps the word NULL from meaning NULL.
    is_escaped: bool,
}

impl Element {
    fn open_quote(&mut self, at: usize) {
        self.is_quoted = true;
        self.start = Some(at);
        self.end = at;
    }

    fn push(&mut self, body: &str, at: usize, c: char) {
        self.push_space(body, at, c);
        self.end = at + c.len_utf8();
        self.solid = self.owned.as_ref().map_or(0, String::len);
    }

    /// Blanks inside an element count if something follows them.
    fn push_space(&mut self, _body: &str, at: usize, c: char) {
        if self.start.is_none() {
            self.start = Some(at);
        }
        if let Some(owned) = &mut self.owned {
            owned.push(c);
        }
    }

    fn escape(&mut self, body: &str, at: usize, escaped: char) {
        let start = self.start.unwrap_or(at);
        self.start = Some(start);
        let owned = self.owned.get_or_insert_with(|| body[start..at].to_owned());
        owned.push(escaped);
        self.solid = owned.len();
        self.is_escaped = true;
    }

    fn finish<'a>(&mut self, body: &'a str) -> Item<'a> {
        let element = std::mem::take(self);
        match element.owned {
            Some(mut owned) => {
                if !element.is_quoted {
                    owned.truncate(element.solid);
                }
                Some(Cow::Owned(owned))
            }
            None => {
                let start = element.start.unwrap_or(0);
                let text = &body[start..element.end.max(start)];
                let is_null = !element.is_quoted && !element.is_escaped && text.eq_ignore_ascii_case("null");
                (!is_null).then_some(Cow::Borrowed(text))
            }
        }
    }
}

/// Appends the text form.
pub(super) fn print(array: &ArrayRef<'_>, style: &Style, out: &mut Vec<u8>) {
    let dimensions = array.dimensions();
    if array.is_empty() {
        return out.extend_from_slice(b"{}");
    }
    if dimensions.iter().any(|d| d.lower != 1) {
        let mut buffer = itoa::Buffer::new();
        for dimension in dimensions {
            out.push(b'[');
            out.extend_from_slice(buffer.format(dimension.lower).as_bytes());
            out.push(b':');
            let upper = i64::from(dimension.lower) + i64::from(dimension.len) - 1;
            out.extend_from_slice(buffer.format(upper).as_bytes());
            out.push(b']');
        }
        out.push(b'=');
    }
    let element = array.element_type();
    if dimensions.len() == 1 {
        for (i, value) in array.iter().enumerate() {
            out.push(if i == 0 { b'{' } else { b',' });
            put(element, value, style, out);
        }
        return out.push(b'}');
    }
    // Braces open before an element whose place is a multiple of the inner lengths, and close likewise.
    for (i, value) in array.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let mut span = 1usize;
        for dimension in dimensions.iter().rev() {
            span *= dimension.len as usize;
            if i % span == 0 {
                out.push(b'{');
            }
        }
        put(element, value, style, out);
        let mut span = 1usize;
        for dimension in dimensions.iter().rev() {
            span *= dimension.len as usize;
            if (i + 1) % span == 0 {
                out.push(b'}');
            }
        }
    }
}

fn put(element: &Type, value: Datum<'_>, style: &Style, out: &mut Vec<u8>) {
    if value.is_null() {
        return out.extend_from_slice(b"NULL");
    }
    let start = out.len();
    (element.output)(value, style, out);
    // Numbers and booleans never need quotes.
    if !matches!(element.category, b'N' | b'B') {
        quote(start, out);
    }
}

/// Puts quotes around what was appended from `start` on, where the text needs them.
fn quote(start: usize, out: &mut Vec<u8>) {
    let text = &out[start..];
    let needs_quotes = text.is_empty()
        || text.eq_ignore_ascii_case(b"null")
        || text.iter().any(|b| {
            matches!(b, b'"' | b'\\' | b'{' | b'}' | b',' | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
        });
    if !needs_quotes {
        return;
    }
    let text = out.split_off(start);
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;
    use crate::types::{by_name, oid};

    fn round_trip(typ: &str, text: &str) -> Result<String> {
        let arena = Arena::new();
        let style = Style::default();
        let typ = by_name(typ).expect("an array type");
        let cx = InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 };
        let value = (typ.input)(arena.str(text), &cx)?;
        let mut out = Vec::new();
        (typ.output)(value, &style, &mut out);
        Ok(String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn text_reads_and_prints_with_its_quotes() {
        for (text, printed) in [
            ("{}", "{}"),
            (" { } ", "{}"),
            (
                "{a, b c ,\"d,e\",NULL,\"NULL\",\\null,\"\"}",
                "{a,\"b c\",\"d,e\",NULL,\"NULL\",\"null\",\"\"}",
            ),
            ("{{a,b},{c,d}}", "{{a,b},{c,d}}"),
            ("[0:1]={a,b}", "[0:1]={a,b}"),
            ("[2]={a,b}", "{a,b}"),
            ("{\"a\\\"b\",c\\\\d}", "{\"a\\\"b\",\"c\\\\d\"}"),
            ("{{{x}},{{y}}}", "{{{x}},{{y}}}"),
        ] {
            assert_eq!(round_trip("_text", text).expect(text), printed);
        }
        assert_eq!(round_trip("_int4", "{1,NULL,-3}").expect("ints"), "{1,NULL,-3}");
        assert_eq!(by_name("_numeric").map(|t| t.oid), Some(oid::NUMERIC_ARRAY));
    }

    #[test]
    fn malformed_text_is_told_as_postgres_tells_it() {
        for (text, detail) in [
            ("1,2", "Array value must start with \"{\" or dimension information."),
            ("{1,2", "Unexpected end of input."),
            ("{1,{2}}", "Unexpected \"{\" character."),
            ("{{1},2}", "Unexpected array element."),
            ("{{1},{2,3}}", "Multidimensional arrays must have sub-arrays with matching dimensions."),
            ("{1}x", "Junk after closing right brace."),
            ("{1,}", "Unexpected \"}\" character."),
            ("{,1}", "Unexpected \",\" character."),
            ("{\"a\"b}", "Unexpected array element."),
            ("[1:2]={1}", "Specified array dimensions do not match array contents."),
            ("[1:2]{1}", "Missing \"=\" after array dimensions."),
            ("{{},{}}", "Unexpected \"}\" character."),
        ] {
            let error = round_trip("_text", text).expect_err(text);
            assert_eq!(error.message(), format!("malformed array literal: \"{text}\""));
            assert_eq!(error.fields().detail.as_deref(), Some(detail), "{text}");
        }
        assert_eq!(
            round_trip("_int4", "{1,x}").expect_err("x").message(),
            "invalid input syntax for type integer: \"x\""
        );
    }
}
