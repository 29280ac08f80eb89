//! bytea: parts, bits, encodings, hashes. Compare the bytea part of `varlena.c`, `encode.c`, `cryptohashfuncs.c`.

use super::string::{invalid, memchr_find};
use super::{Entry, EvalContext, scalar, text};
use catalog::types::bytea;
use catalog::{Datum, Result, SqlError, SqlState};
use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

fn out_of_bounds(index: i64, length: usize) -> SqlError {
    let last = length as i64 - 1;
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, format!("index {index} out of valid range, 0..{last}"))
}

fn place(index: i64, length: usize) -> Result<usize> {
    usize::try_from(index).ok().filter(|i| *i < length).ok_or_else(|| out_of_bounds(index, length))
}

fn substring(value: &[u8], start: i64, length: Option<i64>) -> Result<&[u8]> {
    let end = match length {
        None => i64::MAX,
        Some(length) if length < 0 => {
            return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(length) => start.saturating_add(length),
    };
    let clamp = |at: i64| usize::try_from(at - 1).unwrap_or(0).min(value.len());
    let (first, last) = (clamp(start.max(1)), clamp(end.max(1)));
    Ok(value.get(first..last).unwrap_or_default())
}

fn overlay<'a>(cx: &EvalContext<'a>, value: &[u8], new: &[u8], start: i64, length: i64) -> Result<Datum<'a>> {
    if start <= 0 {
        return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let head = substring(value, 1, Some(start - 1))?;
    let tail = substring(value, start + length, None)?;
    Ok(Datum::Bytes(cx.arena.bytes(&[head, new, tail].concat())))
}

fn trim<'a>(value: &'a [u8], set: &[u8], left: bool, right: bool) -> &'a [u8] {
    let mut value = value;
    while let [first, rest @ ..] = value
        && left
        && set.contains(first)
    {
        value = rest;
    }
    while let [rest @ .., last] = value
        && right
        && set.contains(last)
    {
        value = rest;
    }
    value
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// base64 in lines of 76 characters (`pg_base64_encode`).
fn base64_encode(value: &[u8], out: &mut Vec<u8>) {
    for (i, chunk) in value.chunks(3).enumerate() {
        if i > 0 && i % 19 == 0 {
            out.push(b'\n');
        }
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            out.push(if digit > chunk.len() {
                b'='
            } else {
                BASE64[(bits >> (18 - 6 * digit) & 63) as usize]
            });
        }
    }
}

fn base64_decode(value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (mut bits, mut count, mut ends) = (0u32, 0, 0);
    for byte in value {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        let digit = if *byte == b'=' {
            if ends == 0 {
                match count {
                    2 => ends = 1,
                    3 => ends = 2,
                    _ => return Err(invalid("unexpected \"=\" while decoding base64 sequence")),
                }
            }
            0
        } else {
            match BASE64.iter().position(|b| b == byte) {
                Some(at) if ends == 0 => at as u32,
                _ => {
                    let symbol = char::from(*byte);
                    let message = format!("invalid symbol \"{symbol}\" found while decoding base64 sequence");
                    return Err(invalid(message));
                }
            }
        };
        bits = bits << 6 | digit;
        count += 1;
        if count == 4 {
            out.push((bits >> 16) as u8);
            if ends == 0 || ends > 1 {
                out.push((bits >> 8) as u8);
            }
            if ends == 0 {
                out.push(bits as u8);
            }
            (bits, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(invalid("invalid base64 end sequence")
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(())
}

fn unknown_encoding(name: &str) -> SqlError {
    invalid(format!("unrecognized encoding: \"{name}\""))
}

fn encode(value: &[u8], name: &str, out: &mut Vec<u8>) -> Result<()> {
    match name.to_ascii_lowercase().as_str() {
        "hex" => out.extend(value.iter().flat_map(|b| [hex(b >> 4), hex(b & 15)])),
        "base64" => base64_encode(value, out),
        "escape" => bytea_escape(value, out),
        _ => return Err(unknown_encoding(name)),
    }
    Ok(())
}

/// encode(..., 'escape'): only the zero byte, bytes from 128 and the backslash are escaped (`esc_encode`).
fn bytea_escape(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        match byte {
            0 | 128.. => {
                out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)])
            }
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(*byte),
        }
    }
}

fn hex(nibble: u8) -> u8 {
    b"0123456789abcdef".get(usize::from(nibble)).copied().unwrap_or(b'0')
}

fn decode(value: &str, name: &str, out: &mut Vec<u8>) -> Result<()> {
    match name.to_ascii_lowercase().as_str() {
        "hex" => bytea::parse_hex(value, out),
        "base64" => base64_decode(value.as_bytes(), out),
        "escape" => bytea::parse_escape(value.as_bytes(), out),
        _ => Err(unknown_encoding(name)),
    }
}

fn hex_text<'a>(cx: &EvalContext<'a>, digest: &[u8]) -> Datum<'a> {
    let digits: Vec<u8> = digest.iter().flat_map(|b| [hex(b >> 4), hex(b & 15)]).collect();
    Datum::Bytes(cx.arena.bytes(&digits))
}

macro_rules! digest {
    ($algorithm:ty) => {
        scalar(|cx, _, a| Ok(Datum::Bytes(cx.arena.bytes(&<$algorithm>::digest(a[0].as_bytes())))))
    };
}

/// The encoding of a name, which must be UTF8 or SQL_ASCII-like here.
fn check_encoding(name: &str, role: &str) -> Result<()> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_lowercase().as_str() {
        "utf8" | "unicode" | "sqlascii" => Ok(()),
        "latin1" | "iso88591" | "win1252" | "windows1252" | "latin9" | "eucjp" | "sjis" => {
            Err(SqlError::unsupported(format_args!("encoding {name}")))
        }
        _ => Err(invalid(format!("invalid {role} encoding name \"{name}\""))),
    }
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("byteaoctetlen", scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().len() as i64)))),
    ("byteacat", scalar(|cx, _, a| Ok(Datum::Bytes(cx.arena.concat(a[0].as_bytes(), a[1].as_bytes()))))),
    (
        "bytea_substr",
        scalar(|_, _, a| substring(a[0].as_bytes(), a[1].as_int(), Some(a[2].as_int())).map(Datum::Bytes)),
    ),
    (
        "bytea_substr_no_len",
        scalar(|_, _, a| substring(a[0].as_bytes(), a[1].as_int(), None).map(Datum::Bytes)),
    ),
    (
        "byteapos",
        scalar(|_, _, a| {
            let at = memchr_find(a[0].as_bytes(), a[1].as_bytes());
            Ok(Datum::Int(at.map_or(0, |at| at as i64 + 1)))
        }),
    ),
    (
        "byteaoverlay",
        scalar(|cx, _, a| overlay(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_int(), a[3].as_int())),
    ),
    (
        "byteaoverlay_no_len",
        scalar(|cx, _, a| {
            let new = a[1].as_bytes();
            overlay(cx, a[0].as_bytes(), new, a[2].as_int(), new.len() as i64)
        }),
    ),
    ("byteatrim", scalar(|_, _, a| Ok(Datum::Bytes(trim(a[0].as_bytes(), a[1].as_bytes(), true, true))))),
    ("bytealtrim", scalar(|_, _, a| Ok(Datum::Bytes(trim(a[0].as_bytes(), a[1].as_bytes(), true, false))))),
    ("byteartrim", scalar(|_, _, a| Ok(Datum::Bytes(trim(a[0].as_bytes(), a[1].as_bytes(), false, true))))),
    (
        "byteaGetByte",
        scalar(|_, _, a| {
            let value = a[0].as_bytes();
            Ok(Datum::Int(value[place(a[1].as_int(), value.len())?].into()))
        }),
    ),
    (
        "byteaSetByte",
        scalar(|cx, _, a| {
            let mut value = a[0].as_bytes().to_vec();
            let at = place(a[1].as_int(), value.len())?;
            value[at] = a[2].as_int() as u8;
            Ok(Datum::Bytes(cx.arena.bytes(&value)))
        }),
    ),
    (
        "byteaGetBit",
        scalar(|_, _, a| {
            let value = a[0].as_bytes();
            let at = place(a[1].as_int(), value.len() * 8)?;
            Ok(Datum::Int((value[at / 8] >> (at % 8) & 1).into()))
        }),
    ),
    (
        "byteaSetBit",
        scalar(|cx, _, a| {
            let mut value = a[0].as_bytes().to_vec();
            let at = place(a[1].as_int(), value.len() * 8)?;
            match a[2].as_int() {
                0 => value[at / 8] &= !(1 << (at % 8)),
                1 => value[at / 8] |= 1 << (at % 8),
                _ => return Err(invalid("new bit must be 0 or 1")),
            }
            Ok(Datum::Bytes(cx.arena.bytes(&value)))
        }),
    ),
    (
        "bytea_bit_count",
        scalar(|_, _, a| Ok(Datum::Int(a[0].as_bytes().iter().map(|b| i64::from(b.count_ones())).sum()))),
    ),
    (
        "binary_encode",
        scalar(|cx, _, a| {
            cx.arena.build(|out| encode(a[0].as_bytes(), a[1].as_str(), out)).map(Datum::Bytes)
        }),
    ),
    (
        "binary_decode",
        scalar(|cx, _, a| cx.arena.build(|out| decode(a[0].as_str(), a[1].as_str(), out)).map(Datum::Bytes)),
    ),
    ("md5_text", scalar(|cx, _, a| Ok(hex_text(cx, &Md5::digest(a[0].as_bytes()))))),
    ("md5_bytea", scalar(|cx, _, a| Ok(hex_text(cx, &Md5::digest(a[0].as_bytes()))))),
    ("sha224_bytea", digest!(Sha224)),
    ("sha256_bytea", digest!(Sha256)),
    ("sha384_bytea", digest!(Sha384)),
    ("sha512_bytea", digest!(Sha512)),
    (
        "pg_convert_to",
        scalar(|_, _, a| {
            check_encoding(a[1].as_str(), "destination")?;
            Ok(a[0])
        }),
    ),
    (
        "pg_convert_from",
        scalar(|_, _, a| {
            check_encoding(a[1].as_str(), "source")?;
            catalog::types::text::validate(a[0].as_bytes()).map(Datum::text)
        }),
    ),
    (
        "length_in_encoding",
        scalar(|_, _, a| {
            check_encoding(a[1].as_str(), "source")?;
            let value = catalog::types::text::validate(a[0].as_bytes())?;
            Ok(Datum::Int(value.chars().count() as i64))
        }),
    ),
    ("unistr", scalar(|cx, _, a| Ok(text(cx, &unistr(a[0].as_str())?)))),
];

/// `unistr`: `\XXXX`, `\+XXXXXX`, `\uXXXX`, `\UXXXXXXXX` and `\\`.
fn unistr(value: &str) -> Result<String> {
    let mut result = String::with_capacity(value.len());
    let mut rest = value;
    let mut high: Option<u32> = None;
    let bad = || {
        SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
            .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
    };
    let pair = || invalid("invalid Unicode surrogate pair");
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        if high.is_some() && !plain.is_empty() {
            return Err(pair());
        }
        result.push_str(plain);
        let tail = &tail[1..];
        if let Some(tail) = tail.strip_prefix('\\') {
            if high.is_some() {
                return Err(pair());
            }
            result.push('\\');
            rest = tail;
            continue;
        }
        let (digits, length) = match tail.as_bytes().first() {
            Some(b'u') => (&tail[1..], 4),
            Some(b'U') => (&tail[1..], 8),
            Some(b'+') => (&tail[1..], 6),
            _ => (tail, 4),
        };
        let code =
            digits.get(..length).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit())).ok_or_else(bad)?;
        let code = u32::from_str_radix(code, 16).map_err(|_| bad())?;
        rest = &digits[length..];
        match (high, code) {
            (None, 0xd800..=0xdbff) => high = Some(code),
            (Some(first), 0xdc00..=0xdfff) => {
                let combined = 0x10000 + ((first & 0x3ff) << 10) + (code & 0x3ff);
                result.push(char::from_u32(combined).ok_or_else(pair)?);
                high = None;
            }
            (Some(_), _) | (None, 0xdc00..=0xdfff) => return Err(pair()),
            (None, _) => {
                let c = char::from_u32(code).filter(|c| *c != '\0');
                result.push(c.ok_or_else(|| invalid(format!("invalid Unicode code point: {code:04X}")))?);
            }
        }
    }
    if high.is_some() {
        return Err(pair());
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways_in_lines() {
        let value: Vec<u8> = (0..100).collect();
        let mut encoded = Vec::new();
        base64_encode(&value, &mut encoded);
        assert_eq!(encoded.iter().position(|b| *b == b'\n'), Some(76));
        let mut decoded = Vec::new();
        base64_decode(&encoded, &mut decoded).expect("our own base64");
        assert_eq!(decoded, value);
        assert!(base64_decode(b"YWJ", &mut Vec::new()).is_err());
        assert_eq!(unistr("d\\0061t\\+000061").expect("escapes"), "data");
    }
}
