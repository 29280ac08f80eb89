//! Reading json: parts by name and place, elements, members. The parts keep their text. Compare `jsonfuncs.c`.
//!
//! A json value was checked when it was read, so the scanner here only finds where its parts begin and end. Making json is in
//! `json_build`.

use super::array::elements;
use super::string::invalid;
use super::{Emit, Entry, EvalContext, scalar, set};
use catalog::{Datum, Result, SqlError, SqlState};

/// The text without the white space around it.
pub(super) fn trim(json: &str) -> &str {
    json.trim_matches([' ', '\t', '\n', '\r'])
}

/// The end of the value that begins at the start of the text.
fn value_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'"') => string_end(text),
        Some(b'{' | b'[') => {
            let mut depth = 0usize;
            let mut at = 0;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at += string_end(&text[at..]);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            text.len()
        }
        _ => text.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(text.len()),
    }
}

/// The end of the string that begins with the quote at the start.
fn string_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn skip_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// The elements of an array.
pub(super) struct Elements<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = skip_space(self.rest);
        if rest.is_empty() || rest.starts_with(']') {
            return None;
        }
        let (value, tail) = rest.split_at(value_end(rest));
        let tail = skip_space(tail);
        self.rest = tail.strip_prefix(',').unwrap_or(tail);
        Some(value)
    }
}

/// The members of an object: raw name (with quotes) and value.
pub(super) struct Members<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let rest = skip_space(self.rest);
        if !rest.starts_with('"') {
            return None;
        }
        let (name, tail) = rest.split_at(string_end(rest));
        let tail = skip_space(skip_space(tail).strip_prefix(':')?);
        let (value, tail) = tail.split_at(value_end(tail));
        let tail = skip_space(tail);
        self.rest = tail.strip_prefix(',').unwrap_or(tail);
        Some((name, value))
    }
}

/// The elements, if the value is an array.
pub(super) fn array_elements(json: &str) -> Option<Elements<'_>> {
    trim(json).strip_prefix('[').map(|rest| Elements { rest })
}

/// The members, if the value is an object.
pub(super) fn object_members(json: &str) -> Option<Members<'_>> {
    trim(json).strip_prefix('{').map(|rest| Members { rest })
}

fn is_array(json: &str) -> bool {
    trim(json).starts_with('[')
}

fn is_object(json: &str) -> bool {
    trim(json).starts_with('{')
}

/// The text that a string with its quotes means.
pub(super) fn unescape(string: &str) -> Result<String> {
    let inner = string.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(string);
    if !inner.contains('\\') {
        return Ok(inner.to_owned());
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        let plain = match chars.next() {
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (c, tail) = unicode(chars.as_str())?;
                text.push(c);
                rest = tail;
                continue;
            }
            Some(other) => other,
            None => break,
        };
        text.push(plain);
        rest = chars.as_str();
    }
    text.push_str(rest);
    Ok(text)
}

/// The character of the four digits after `\u`, two of them for a surrogate pair.
fn unicode(digits: &str) -> Result<(char, &str)> {
    let code = |digits: &str| digits.get(..4).and_then(|d| u32::from_str_radix(d, 16).ok());
    let bad = || SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json");
    let first = code(digits).ok_or_else(bad)?;
    let tail = &digits[4..];
    if first == 0 {
        let message = "unsupported Unicode escape sequence";
        return Err(SqlError::new(SqlState::UNTRANSLATABLE_CHARACTER, message)
            .detail("\\u0000 cannot be converted to text."));
    }
    if (0xd800..0xdc00).contains(&first) {
        let low = tail.strip_prefix("\\u").and_then(code).filter(|low| (0xdc00..0xe000).contains(low));
        let low = low.ok_or_else(|| bad().detail("Unicode low surrogate must follow a high surrogate."))?;
        let combined = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return Ok((char::from_u32(combined).ok_or_else(bad)?, &tail[6..]));
    }
    char::from_u32(first)
        .map(|c| (c, tail))
        .ok_or_else(|| bad().detail("Unicode low surrogate must follow a high surrogate."))
}

/// The text of a part for the `_text` functions: strings without quotes, NULL for null.
fn as_text<'a>(cx: &EvalContext<'a>, json: &'a str) -> Result<Datum<'a>> {
    if json == "null" {
        return Ok(Datum::Null);
    }
    if !json.starts_with('"') {
        return Ok(Datum::text(json));
    }
    if !json.contains('\\') {
        return Ok(Datum::text(json.get(1..json.len() - 1).unwrap_or_default()));
    }
    Ok(Datum::text(cx.arena.str(&unescape(json)?)))
}

/// The member of this name; of several the last.
fn member<'a>(json: &'a str, name: &str) -> Result<Option<&'a str>> {
    let Some(members) = object_members(json) else { return Ok(None) };
    let mut found = None;
    for (raw, value) in members {
        let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let same = if inner.contains('\\') { unescape(raw)? == name } else { inner == name };
        if same {
            found = Some(value);
        }
    }
    Ok(found)
}

/// The element at this place, counted from the end if negative.
fn element(json: &str, place: i64) -> Option<&str> {
    let mut list = array_elements(json)?;
    if place >= 0 {
        return list.nth(usize::try_from(place).ok()?);
    }
    let all: Vec<&str> = list.collect();
    let place = all.len().checked_sub(usize::try_from(place.unsigned_abs()).ok()?)?;
    all.get(place).copied()
}

/// The part at the end of a path of names and places; `None` also if a step of the path is NULL.
fn path<'a>(json: &'a str, steps: Datum<'_>) -> Result<Option<&'a str>> {
    let mut part = trim(json);
    for step in elements(steps) {
        if step.is_null() {
            return Ok(None);
        }
        let step = step.as_str();
        let next = if is_object(part) {
            member(part, step)?
        } else if is_array(part) {
            let place = step.trim().parse::<i64>().ok();
            place.and_then(|place| element(part, place))
        } else {
            None
        };
        match next {
            Some(next) => part = next,
            None => return Ok(None),
        }
    }
    Ok(Some(part))
}

fn part<'a>(found: Option<&'a str>) -> Datum<'a> {
    found.map_or(Datum::Null, Datum::text)
}

fn part_text<'a>(cx: &EvalContext<'a>, found: Option<&'a str>) -> Result<Datum<'a>> {
    found.map_or(Ok(Datum::Null), |json| as_text(cx, json))
}

/// What a value is (`json_typeof`).
fn type_of(json: &str) -> &'static str {
    match trim(json).as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

fn each_element(cx: &EvalContext<'_>, json: &str, name: &str, text: bool, emit: &mut Emit<'_>) -> Result<()> {
    let Some(list) = array_elements(json) else {
        let what = if is_object(json) { "non-array" } else { "scalar" };
        return Err(invalid(format!("cannot call {name} on a {what}")));
    };
    for value in list {
        let value = if text { as_text(cx, value)? } else { Datum::text(value) };
        if emit(&[value])?.is_break() {
            break;
        }
    }
    Ok(())
}

fn each_member(cx: &EvalContext<'_>, json: &str, text: bool, emit: &mut Emit<'_>) -> Result<()> {
    let Some(members) = object_members(json) else {
        return Err(invalid(if is_array(json) {
            "cannot deconstruct an array as an object"
        } else {
            "cannot deconstruct a scalar"
        }));
    };
    for (raw, value) in members {
        let name = unescape(raw)?;
        let value = if text { as_text(cx, value)? } else { Datum::text(value) };
        if emit(&[Datum::text(&name), value])?.is_break() {
            break;
        }
    }
    Ok(())
}

fn keys(json: &str, emit: &mut Emit<'_>) -> Result<()> {
    let Some(members) = object_members(json) else {
        let what = if is_array(json) { "an array" } else { "a scalar" };
        return Err(invalid(format!("cannot call json_object_keys on {what}")));
    };
    // Of names that occur several times the first place counts.
    let mut seen: Vec<String> = Vec::new();
    for (raw, _) in members {
        let name = unescape(raw)?;
        if seen.contains(&name) {
            continue;
        }
        if emit(&[Datum::text(&name)])?.is_break() {
            break;
        }
        seen.push(name);
    }
    Ok(())
}

/// json_strip_nulls: without members that are null, and without white space.
fn strip_nulls(json: &str, out: &mut Vec<u8>) {
    let json = trim(json);
    if let Some(members) = object_members(json) {
        out.push(b'{');
        let mut any = false;
        for (name, value) in members.filter(|(_, value)| *value != "null") {
            if any {
                out.push(b',');
            }
            any = true;
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
            strip_nulls(value, out);
        }
        out.push(b'}');
    } else if let Some(list) = array_elements(json) {
        out.push(b'[');
        for (i, value) in list.enumerate() {
            if i > 0 {
                out.push(b',');
            }
            strip_nulls(value, out);
        }
        out.push(b']');
    } else {
        out.extend_from_slice(json.as_bytes());
    }
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("json_object_field", scalar(|_, _, a| member(a[0].as_str(), a[1].as_str()).map(part))),
    ("json_object_field_text", scalar(|cx, _, a| part_text(cx, member(a[0].as_str(), a[1].as_str())?))),
    ("json_array_element", scalar(|_, _, a| Ok(part(element(a[0].as_str(), a[1].as_int()))))),
    ("json_array_element_text", scalar(|cx, _, a| part_text(cx, element(a[0].as_str(), a[1].as_int())))),
    ("json_extract_path", scalar(|_, _, a| path(a[0].as_str(), a[1]).map(part))),
    ("json_extract_path_text", scalar(|cx, _, a| part_text(cx, path(a[0].as_str(), a[1])?))),
    ("json_typeof", scalar(|_, _, a| Ok(Datum::text(type_of(a[0].as_str()))))),
    (
        "json_array_length",
        scalar(|_, _, a| match array_elements(a[0].as_str()) {
            Some(list) => Ok(Datum::Int(list.count() as i64)),
            None if is_object(a[0].as_str()) => Err(invalid("cannot get array length of a non-array")),
            None => Err(invalid("cannot get array length of a scalar")),
        }),
    ),
    (
        "json_strip_nulls",
        scalar(|cx, _, a| {
            let stripped = cx.arena.build(|out| {
                strip_nulls(a[0].as_str(), out);
                Ok::<(), SqlError>(())
            })?;
            Ok(Datum::Bytes(stripped))
        }),
    ),
    (
        "json_array_elements",
        set(|cx, _, a, emit| each_element(cx, a[0].as_str(), "json_array_elements", false, emit)),
    ),
    (
        "json_array_elements_text",
        set(|cx, _, a, emit| each_element(cx, a[0].as_str(), "json_array_elements_text", true, emit)),
    ),
    ("json_each", set(|cx, _, a, emit| each_member(cx, a[0].as_str(), false, emit))),
    ("json_each_text", set(|cx, _, a, emit| each_member(cx, a[0].as_str(), true, emit))),
    ("json_object_keys", set(|_, _, a, emit| keys(a[0].as_str(), emit))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_as_they_are_written() {
        let json = r#" {"a" : [1, {"b\n":"]"} , "x"], "a\"b": null } "#;
        assert_eq!(member(json, "a").expect("a member"), Some(r#"[1, {"b\n":"]"} , "x"]"#));
        assert_eq!(member(json, "a\"b").expect("a member"), Some("null"));
        assert_eq!(element(r#"[1, {"b":"]"} , "x"]"#, -2), Some(r#"{"b":"]"}"#));
        assert_eq!(element("[]", 0), None);
        assert_eq!(unescape(r#""\ud83d\ude00\u00e9""#).expect("a string"), "😀é");
        assert!(unescape(r#""\u0000""#).is_err());
        let mut out = Vec::new();
        strip_nulls(r#"{"a":1,"b":null,"c":[null,{"d":null}]}"#, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), r#"{"a":1,"c":[null,{}]}"#);
    }
}
