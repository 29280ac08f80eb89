//! Functions of text: lengths, parts, padding, searching, building. Characters are UTF-8; case follows the C locale (ASCII only).
//! Compare `varlena.c`, `oracle_compat.c`, `quote.c`. Patterns are in `pattern`, bytea in `binary`.

use super::{Entry, EvalContext, arg_type, io, scalar, text};
use catalog::types::text::{char_count, char_offset};
use catalog::types::{bpchar, oid};
use catalog::{Datum, Result, SqlError, SqlState};
use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfd, is_nfkc, is_nfkd};

/// The longest text that a function makes (`MaxAllocSize`).
pub(super) const MAX_BYTES: usize = 0x3fff_ffff;

/// 54000 `requested length too large`.
pub(super) fn too_large() -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

fn build<'a>(cx: &EvalContext<'a>, fill: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Datum<'a>> {
    cx.arena.build(fill).map(Datum::Bytes)
}

fn str_at<'a>(args: &[Datum<'a>], i: usize) -> &'a str {
    args[i].as_str()
}

/// The range of characters from `start` (1-based, may be negative) for `length` (`None`: to the end), as `substr` counts.
pub(super) fn substring(value: &[u8], start: i64, length: Option<i64>) -> Result<&[u8]> {
    let end = match length {
        None => i64::MAX,
        Some(length) if length < 0 => {
            return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(length) => start.saturating_add(length),
    };
    let first = start.max(1);
    if end <= first {
        return Ok(&[]);
    }
    let begin = char_offset(value, (first - 1) as usize);
    let rest = &value[begin..];
    Ok(match usize::try_from(end - first) {
        Ok(count) => &rest[..char_offset(rest, count)],
        Err(_) => rest,
    })
}

/// The 1-based character place of `needle`, or zero.
pub(super) fn position(haystack: &[u8], needle: &[u8]) -> i64 {
    match memchr_find(haystack, needle) {
        Some(at) => char_count(&haystack[..at]) as i64 + 1,
        None => 0,
    }
}

/// The 1-based character place of a byte place.
pub(super) fn char_place(text: &str, at: usize) -> i64 {
    char_count(text.as_bytes().get(..at).unwrap_or_default()) as i64 + 1
}

/// The byte place of `needle`.
pub(super) fn memchr_find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(0),
        [byte] => haystack.iter().position(|b| b == byte),
        _ => haystack.windows(needle.len()).position(|w| w == needle),
    }
}

fn trim<'a>(value: &'a str, set: &str, left: bool, right: bool) -> &'a str {
    let inside = |c: char| set.contains(c);
    let value = if left { value.trim_start_matches(inside) } else { value };
    if right { value.trim_end_matches(inside) } else { value }
}

/// lpad and rpad: the text cut or filled to `length` characters.
fn pad<'a>(cx: &EvalContext<'a>, value: &'a [u8], length: i64, fill: &str, left: bool) -> Result<Datum<'a>> {
    let length = length.max(0) as usize;
    let count = char_count(value);
    if count >= length {
        return Ok(Datum::Bytes(&value[..char_offset(value, length)]));
    }
    if fill.is_empty() {
        return Ok(Datum::Bytes(value));
    }
    let missing = length - count;
    if missing.saturating_mul(4).saturating_add(value.len()) > MAX_BYTES {
        return Err(too_large());
    }
    build(cx, |out| {
        if !left {
            out.extend_from_slice(value);
        }
        let mut buffer = [0; 4];
        for c in fill.chars().cycle().take(missing) {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
        if left {
            out.extend_from_slice(value);
        }
        Ok(())
    })
}

fn repeat<'a>(cx: &EvalContext<'a>, value: &[u8], count: i64) -> Result<Datum<'a>> {
    let count = count.max(0) as usize;
    if value.len().saturating_mul(count) > MAX_BYTES {
        return Err(too_large());
    }
    build(cx, |out| {
        for _ in 0..count {
            out.extend_from_slice(value);
        }
        Ok(())
    })
}

fn replace<'a>(cx: &EvalContext<'a>, value: &'a [u8], from: &[u8], to: &[u8]) -> Result<Datum<'a>> {
    if from.is_empty() || value.is_empty() || memchr_find(value, from).is_none() {
        return Ok(Datum::Bytes(value));
    }
    build(cx, |out| {
        let mut rest = value;
        while let Some(at) = memchr_find(rest, from) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(to);
            rest = &rest[at + from.len()..];
        }
        out.extend_from_slice(rest);
        Ok(())
    })
}

fn split_part<'a>(value: &'a str, separator: &str, field: i64) -> Result<&'a str> {
    if field == 0 {
        return Err(invalid("field position must not be zero"));
    }
    if value.is_empty() {
        return Ok("");
    }
    if separator.is_empty() {
        return Ok(if field == 1 || field == -1 { value } else { "" });
    }
    let place = usize::try_from(field.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let part = if field > 0 { value.split(separator).nth(place) } else { value.rsplit(separator).nth(place) };
    Ok(part.unwrap_or_default())
}

pub(super) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn initcap(value: &[u8], out: &mut Vec<u8>) {
    let mut inside = false;
    for byte in value {
        out.push(if inside { byte.to_ascii_lowercase() } else { byte.to_ascii_uppercase() });
        inside = byte.is_ascii_alphanumeric();
    }
}

fn translate(value: &str, from: &str, to: &str, out: &mut Vec<u8>) {
    let to: Vec<char> = to.chars().collect();
    let mut buffer = [0; 4];
    for c in value.chars() {
        let mapped = match from.chars().position(|f| f == c) {
            None => Some(c),
            Some(at) => to.get(at).copied(),
        };
        if let Some(c) = mapped {
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

fn chr(code: i64) -> Result<char> {
    if code < 0 {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "character number must be positive"));
    }
    if code == 0 {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "null character not permitted"));
    }
    if code > 0x10_ffff {
        let message = format!("requested character too large for encoding: {code}");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    char::from_u32(code as u32).ok_or_else(|| {
        let message = format!("requested character not valid for encoding: {code}");
        SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
    })
}

/// Appends an identifier, quoted where SQL needs it (`quote_identifier`).
pub fn quote_ident(name: &str, out: &mut Vec<u8>) {
    let plain = name
        .bytes()
        .enumerate()
        .all(|(i, b)| b.is_ascii_lowercase() || b == b'_' || (i > 0 && (b.is_ascii_digit())));
    if plain && !name.is_empty() && !super::keywords::needs_quotes(name) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in name.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends a string literal (`quote_literal`).
pub fn quote_literal(value: &str, out: &mut Vec<u8>) {
    if value.contains('\\') {
        out.push(b'E');
    }
    out.push(b'\'');
    for byte in value.bytes() {
        if matches!(byte, b'\'' | b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'\'');
}

/// concat and concat_ws: the text forms of all arguments from `first` on that are not NULL.
fn concat<'a>(
    cx: &EvalContext<'a>,
    types: &super::CallTypes,
    args: &[Datum<'a>],
    first: usize,
    separator: &[u8],
) -> Result<Datum<'a>> {
    build(cx, |out| {
        let mut any = false;
        for (arg, typ) in args.iter().zip(&types.args).skip(first) {
            if arg.is_null() {
                continue;
            }
            if any {
                out.extend_from_slice(separator);
            }
            any = true;
            io::output_to(cx, typ.oid, *arg, out)?;
        }
        Ok(())
    })
}

/// Both sides cast to text and joined (`textanycat`, `anytextcat`): a cast spells booleans out and drops the blanks of char(n).
fn join_texts<'a>(cx: &EvalContext<'a>, types: &super::CallTypes, args: &[Datum<'a>]) -> Result<Datum<'a>> {
    build(cx, |out| {
        for (arg, typ) in args.iter().zip(&types.args) {
            match typ.oid {
                oid::BOOL => out.extend_from_slice(if arg.as_bool() { b"true" } else { b"false" }),
                oid::BPCHAR => out.extend_from_slice(bpchar::trimmed(arg.as_bytes())),
                other => io::output_to(cx, other, *arg, out)?,
            }
        }
        Ok(())
    })
}

fn concat_ws<'a>(cx: &EvalContext<'a>, types: &super::CallTypes, args: &[Datum<'a>]) -> Result<Datum<'a>> {
    match args.first() {
        Some(separator) if !separator.is_null() => concat(cx, types, args, 1, separator.as_bytes()),
        _ => Ok(Datum::Null),
    }
}

/// `left(text, n)` and `right(text, n)`; a negative `n` counts from the other end.
fn left_right(value: &[u8], n: i64, left: bool) -> &[u8] {
    let count = char_count(value) as i64;
    let wanted = if n < 0 { (count + n).max(0) } else { n.min(count) };
    if left {
        &value[..char_offset(value, wanted as usize)]
    } else {
        &value[char_offset(value, (count - wanted) as usize)..]
    }
}

fn overlay<'a>(cx: &EvalContext<'a>, value: &[u8], new: &[u8], start: i64, length: i64) -> Result<Datum<'a>> {
    if start <= 0 {
        return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let end = start + length;
    if i32::try_from(end).is_err() {
        return Err(SqlError::out_of_range("integer"));
    }
    build(cx, |out| {
        out.extend_from_slice(substring(value, 1, Some(start - 1))?);
        out.extend_from_slice(new);
        out.extend_from_slice(substring(value, end, None)?);
        Ok(())
    })
}

/// The fields of a text: one per character without a separator, the whole with an empty one.
pub(super) fn split_text<'a>(value: &'a str, separator: Option<&str>) -> Vec<&'a str> {
    match separator {
        _ if value.is_empty() => Vec::new(),
        None => {
            let mut rest = value;
            let mut parts = Vec::new();
            while !rest.is_empty() {
                let (c, tail) = rest.split_at(char_offset(rest.as_bytes(), 1));
                parts.push(c);
                rest = tail;
            }
            parts
        }
        Some("") => vec![value],
        Some(separator) => value.split(separator).collect(),
    }
}

/// `format(text, ...)`. Compare `text_format`.
fn format<'a>(cx: &EvalContext<'a>, types: &super::CallTypes, args: &[Datum<'a>]) -> Result<Datum<'a>> {
    let Some(Datum::Bytes(_)) = args.first() else { return Ok(Datum::Null) };
    let pattern = str_at(args, 0);
    build(cx, |out| {
        let mut chars = pattern.char_indices().peekable();
        let mut next = 1usize;
        while let Some((_, c)) = chars.next() {
            if c != '%' {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            if chars.peek().is_some_and(|(_, c)| *c == '%') {
                chars.next();
                out.push(b'%');
                continue;
            }
            let spec = Spec::parse(&mut chars)?;
            let width = match spec.width {
                Width::None => 0,
                Width::Number(n) => n,
                Width::Argument(place) => {
                    let place = place.unwrap_or(next);
                    next = place + 1;
                    let value = args.get(place).ok_or_else(too_few)?;
                    match value {
                        Datum::Null => 0,
                        value => {
                            let typ = types.args.get(place).copied().ok_or_else(too_few)?;
                            let text = io::output(cx, typ.oid, *value)?;
                            catalog::types::int::parse(text, i32::MIN.into(), i32::MAX.into(), "integer")?
                        }
                    }
                }
            };
            let place = spec.place.unwrap_or(next);
            next = place + 1;
            let value = args.get(place).ok_or_else(too_few)?;
            let typ = types.args.get(place).copied().ok_or_else(too_few)?;
            let mut piece = Vec::new();
            match (spec.conversion, value) {
                ('s', Datum::Null) => {}
                ('L', Datum::Null) => piece.extend_from_slice(b"NULL"),
                ('I', Datum::Null) => {
                    return Err(SqlError::new(
                        SqlState::NULL_VALUE_NOT_ALLOWED,
                        "null values cannot be formatted as an SQL identifier",
                    ));
                }
                (conversion, value) => {
                    let text = io::output(cx, typ.oid, *value)?;
                    match conversion {
                        'I' => quote_ident(text, &mut piece),
                        'L' => quote_literal(text, &mut piece),
                        _ => piece.extend_from_slice(text.as_bytes()),
                    }
                }
            }
            let (minus, width) = (spec.minus || width < 0, width.unsigned_abs() as usize);
            let missing = width.saturating_sub(char_count(&piece));
            if missing > MAX_BYTES {
                return Err(too_large());
            }
            if minus {
                out.extend_from_slice(&piece);
            }
            out.extend(std::iter::repeat_n(b' ', missing));
            if !minus {
                out.extend_from_slice(&piece);
            }
        }
        Ok(())
    })
}

fn too_few() -> SqlError {
    invalid("too few arguments for format()")
}

enum Width {
    None,
    Number(i64),
    Argument(Option<usize>),
}

/// One conversion of `format`: `%[position$][flags][width]type`.
struct Spec {
    place: Option<usize>,
    minus: bool,
    width: Width,
    conversion: char,
}

impl Spec {
    fn parse(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Result<Spec> {
        let mut spec = Spec { place: None, minus: false, width: Width::None, conversion: 's' };
        let mut number = digits(chars)?;
        if let Some(n) = number
            && chars.peek().is_some_and(|(_, c)| *c == '$')
        {
            chars.next();
            spec.place = Some(argument_place(n)?);
            number = None;
        }
        if number.is_none() {
            while chars.peek().is_some_and(|(_, c)| *c == '-') {
                chars.next();
                spec.minus = true;
            }
            if chars.peek().is_some_and(|(_, c)| *c == '*') {
                chars.next();
                let place = match digits(chars)? {
                    Some(n) => {
                        if chars.next().is_none_or(|(_, c)| c != '$') {
                            return Err(invalid("width argument position must be ended by \"$\""));
                        }
                        Some(argument_place(n)?)
                    }
                    None => None,
                };
                spec.width = Width::Argument(place);
            } else {
                number = digits(chars)?;
            }
        }
        if let Some(n) = number {
            spec.width = Width::Number(n);
        }
        match chars.next() {
            Some((_, c @ ('s' | 'I' | 'L'))) => spec.conversion = c,
            Some((_, c)) => {
                return Err(invalid(format!("unrecognized format() type specifier \"{c}\""))
                    .hint("For a single \"%\" use \"%%\"."));
            }
            None => {
                return Err(
                    invalid("unterminated format() type specifier").hint("For a single \"%\" use \"%%\".")
                );
            }
        }
        Ok(spec)
    }
}

fn argument_place(n: i64) -> Result<usize> {
    if n == 0 {
        return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
    }
    Ok(n as usize)
}

fn digits(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Result<Option<i64>> {
    let mut value = None;
    while let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(10)) {
        chars.next();
        let next = value.unwrap_or(0i64) * 10 + i64::from(digit);
        if next > i64::from(i32::MAX) {
            return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"));
        }
        value = Some(next);
    }
    Ok(value)
}

/// A Unicode normalization form.
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    fn named(name: &str) -> Result<Form> {
        match name.to_ascii_uppercase().as_str() {
            "NFC" => Ok(Form::Nfc),
            "NFD" => Ok(Form::Nfd),
            "NFKC" => Ok(Form::Nfkc),
            "NFKD" => Ok(Form::Nfkd),
            _ => Err(invalid(format!("invalid normalization form: {name}"))),
        }
    }
}

fn unsigned_digits<'a>(cx: &EvalContext<'a>, value: u64) -> Datum<'a> {
    text(cx, &format!("{value:x}"))
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("textlen", scalar(|_, _, a| Ok(Datum::Int(char_count(a[0].as_bytes()) as i64)))),
    ("bpcharlen", scalar(|_, _, a| Ok(Datum::Int(char_count(bpchar::trimmed(a[0].as_bytes())) as i64)))),
    ("textoctetlen", scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().len() as i64)))),
    ("bpcharoctetlen", scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().len() as i64)))),
    ("textcat", scalar(|cx, _, a| Ok(Datum::Bytes(cx.arena.concat(a[0].as_bytes(), a[1].as_bytes()))))),
    (
        "lower",
        scalar(|cx, _, a| {
            let value = a[0].as_bytes();
            if !value.iter().any(u8::is_ascii_uppercase) {
                return Ok(a[0]);
            }
            Ok(Datum::Bytes(cx.arena.slice_with(value.len(), |i| value[i].to_ascii_lowercase())))
        }),
    ),
    (
        "upper",
        scalar(|cx, _, a| {
            let value = a[0].as_bytes();
            if !value.iter().any(u8::is_ascii_lowercase) {
                return Ok(a[0]);
            }
            Ok(Datum::Bytes(cx.arena.slice_with(value.len(), |i| value[i].to_ascii_uppercase())))
        }),
    ),
    (
        "initcap",
        scalar(|cx, _, a| {
            build(cx, |out| {
                initcap(a[0].as_bytes(), out);
                Ok(())
            })
        }),
    ),
    (
        "text_substr",
        scalar(|_, _, a| substring(a[0].as_bytes(), a[1].as_int(), Some(a[2].as_int())).map(Datum::Bytes)),
    ),
    (
        "text_substr_no_len",
        scalar(|_, _, a| substring(a[0].as_bytes(), a[1].as_int(), None).map(Datum::Bytes)),
    ),
    ("text_left", scalar(|_, _, a| Ok(Datum::Bytes(left_right(a[0].as_bytes(), a[1].as_int(), true))))),
    ("text_right", scalar(|_, _, a| Ok(Datum::Bytes(left_right(a[0].as_bytes(), a[1].as_int(), false))))),
    ("textpos", scalar(|_, _, a| Ok(Datum::Int(position(a[0].as_bytes(), a[1].as_bytes()))))),
    ("text_starts_with", scalar(|_, _, a| Ok(Datum::Bool(a[0].as_bytes().starts_with(a[1].as_bytes()))))),
    ("ltrim", scalar(|_, _, a| Ok(Datum::text(trim(str_at(a, 0), str_at(a, 1), true, false))))),
    ("rtrim", scalar(|_, _, a| Ok(Datum::text(trim(str_at(a, 0), str_at(a, 1), false, true))))),
    ("btrim", scalar(|_, _, a| Ok(Datum::text(trim(str_at(a, 0), str_at(a, 1), true, true))))),
    ("ltrim1", scalar(|_, _, a| Ok(Datum::text(str_at(a, 0).trim_start_matches(' '))))),
    ("rtrim1", scalar(|_, _, a| Ok(Datum::Bytes(bpchar::trimmed(a[0].as_bytes()))))),
    ("btrim1", scalar(|_, _, a| Ok(Datum::text(str_at(a, 0).trim_matches(' '))))),
    (
        "lpad",
        scalar(|cx, _, a| {
            pad(cx, a[0].as_bytes(), a[1].as_int(), a.get(2).map_or(" ", |f| f.as_str()), true)
        }),
    ),
    (
        "rpad",
        scalar(|cx, _, a| {
            pad(cx, a[0].as_bytes(), a[1].as_int(), a.get(2).map_or(" ", |f| f.as_str()), false)
        }),
    ),
    ("repeat", scalar(|cx, _, a| repeat(cx, a[0].as_bytes(), a[1].as_int()))),
    ("replace_text", scalar(|cx, _, a| replace(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_bytes()))),
    ("split_part", scalar(|_, _, a| split_part(str_at(a, 0), str_at(a, 1), a[2].as_int()).map(Datum::text))),
    (
        "translate",
        scalar(|cx, _, a| {
            build(cx, |out| {
                translate(str_at(a, 0), str_at(a, 1), str_at(a, 2), out);
                Ok(())
            })
        }),
    ),
    (
        "text_reverse",
        scalar(|cx, _, a| {
            let reversed: String = str_at(a, 0).chars().rev().collect();
            Ok(text(cx, &reversed))
        }),
    ),
    ("ascii", scalar(|_, _, a| Ok(Datum::Int(str_at(a, 0).chars().next().map_or(0, |c| c as i64))))),
    ("chr", scalar(|cx, _, a| Ok(text(cx, chr(a[0].as_int())?.encode_utf8(&mut [0; 4]))))),
    ("text_concat", scalar(|cx, types, a| concat(cx, types, a, 0, b""))),
    ("text_concat_ws", scalar(concat_ws)),
    ("text_format", scalar(format)),
    ("text_format_nv", scalar(format)),
    (
        "quote_ident",
        scalar(|cx, _, a| {
            build(cx, |out| {
                quote_ident(str_at(a, 0), out);
                Ok(())
            })
        }),
    ),
    (
        "quote_literal",
        scalar(|cx, _, a| {
            build(cx, |out| {
                quote_literal(str_at(a, 0), out);
                Ok(())
            })
        }),
    ),
    (
        "quote_nullable",
        scalar(|cx, _, a| {
            if a[0].is_null() {
                return Ok(Datum::text("NULL"));
            }
            build(cx, |out| {
                quote_literal(str_at(a, 0), out);
                Ok(())
            })
        }),
    ),
    ("to_hex32", scalar(|cx, _, a| Ok(unsigned_digits(cx, (a[0].as_int() as u32).into())))),
    ("to_hex64", scalar(|cx, _, a| Ok(unsigned_digits(cx, a[0].as_int() as u64)))),
    (
        "textoverlay",
        scalar(|cx, _, a| overlay(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_int(), a[3].as_int())),
    ),
    (
        "textoverlay_no_len",
        scalar(|cx, _, a| {
            let length = char_count(a[1].as_bytes()) as i64;
            overlay(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_int(), length)
        }),
    ),
    (
        "unicode_normalize_func",
        scalar(|cx, _, a| {
            let value = str_at(a, 0);
            let normal: String = match Form::named(str_at(a, 1))? {
                Form::Nfc => value.nfc().collect(),
                Form::Nfd => value.nfd().collect(),
                Form::Nfkc => value.nfkc().collect(),
                Form::Nfkd => value.nfkd().collect(),
            };
            Ok(text(cx, &normal))
        }),
    ),
    (
        "unicode_is_normalized",
        scalar(|_, _, a| {
            let value = str_at(a, 0);
            Ok(Datum::Bool(match Form::named(str_at(a, 1))? {
                Form::Nfc => is_nfc(value),
                Form::Nfd => is_nfd(value),
                Form::Nfkc => is_nfkc(value),
                Form::Nfkd => is_nfkd(value),
            }))
        }),
    ),
    (
        "nameconcatoid",
        scalar(|cx, types, a| {
            let _ = arg_type(types, 0)?;
            let suffix = format!("_{}", a[1].as_int());
            let name = str_at(a, 0);
            let room = 63usize.saturating_sub(suffix.len());
            let mut end = name.len().min(room);
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            Ok(text(cx, &format!("{}{suffix}", &name[..end])))
        }),
    ),
];

/// Functions in LANGUAGE sql over text.
pub(super) const SQL_FUNCTIONS: &[(u32, super::Implementation)] = &[
    (879, scalar(|cx, _, a| pad(cx, a[0].as_bytes(), a[1].as_int(), " ", true))),
    (880, scalar(|cx, _, a| pad(cx, a[0].as_bytes(), a[1].as_int(), " ", false))),
    (1810, scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().len() as i64 * 8)))),
    (1811, scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().len() as i64 * 8)))),
    // text || anynonarray and the reverse: the text form joined.
    (2003, scalar(join_texts)),
    (2004, scalar(join_texts)),
    // quote_literal(anyelement), quote_nullable(anyelement)
    (1285, scalar(quote_any)),
    (
        1290,
        scalar(|cx, types, a| if a[0].is_null() { Ok(Datum::text("NULL")) } else { quote_any(cx, types, a) }),
    ),
];

fn quote_any<'a>(cx: &EvalContext<'a>, types: &super::CallTypes, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let typ = arg_type(types, 0)?;
    let text = io::output(cx, typ.oid, a[0])?;
    build(cx, |out| {
        quote_literal(text, out);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_count_characters() {
        let part = |s: &'static str, start, length| {
            substring(s.as_bytes(), start, length).map(|b| Datum::Bytes(b).as_str())
        };
        assert_eq!(part("äöü", 2, Some(1)).expect("a part"), "ö");
        assert_eq!(part("abc", 0, Some(2)).expect("a part"), "a");
        assert_eq!(part("abc", -5, None).expect("a part"), "abc");
        assert!(part("abc", 1, Some(-1)).is_err());
        assert_eq!(position("äbc".as_bytes(), b"c"), 3);
        assert_eq!(left_right(b"abcde", -2, true), b"abc");
        assert_eq!(left_right(b"abcde", -2, false), b"cde");
        assert_eq!(split_part("a,b,c", ",", -1).expect("a field"), "c");
    }
}
