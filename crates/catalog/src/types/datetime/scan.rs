//! Numbers, clock times and offsets inside a field.

use super::*;

type Result<T> = std::result::Result<T, DateTimeError>;
use DateTimeError::{BadFormat, FieldOverflow, ZoneOverflow};

/// C's `strtoint`: an optional sign and digits, and what follows them; no digits read as 0.
pub(crate) fn int(text: &str) -> Result<(i32, &str)> {
    let (value, rest) = int64(text)?;
    Ok((i32::try_from(value).map_err(|_| FieldOverflow)?, rest))
}

/// As `int`, 64 bits.
pub(crate) fn int64(text: &str) -> Result<(i64, &str)> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return Ok((0, text));
    }
    let mut value: i64 = 0;
    for b in digits[..end].bytes() {
        let digit = i64::from(b - b'0');
        let next = value.checked_mul(10);
        value = next
            .and_then(|v| if negative { v.checked_sub(digit) } else { v.checked_add(digit) })
            .ok_or(FieldOverflow)?;
    }
    Ok((value, &digits[end..]))
}

/// Microseconds of a fraction of a second with its point (`ParseFractionalSecond`).
pub(super) fn fraction(text: &str) -> Result<i32> {
    if text.is_empty() || text == "." {
        return Ok(0);
    }
    let value: f64 = text.parse().map_err(|_| BadFormat)?;
    Ok((value * 1_000_000.0).round_ties_even() as i32)
}

/// `hh:mm`, `hh:mm:ss.f`, or `mm:ss.f` (`DecodeTime`).
pub(super) fn decode_time(text: &str, parts: &mut Parts) -> Result<()> {
    let (hour, rest) = int(text)?;
    let rest = rest.strip_prefix(':').ok_or(BadFormat)?;
    let (minute, rest) = int(rest)?;
    (parts.hour, parts.minute, parts.second, parts.micros) = (hour, minute, 0, 0);
    if rest.starts_with('.') {
        (parts.hour, parts.minute, parts.second) = (0, hour, minute);
        parts.micros = fraction(rest)?;
    } else if let Some(rest) = rest.strip_prefix(':') {
        let (second, rest) = int(rest)?;
        parts.second = second;
        if rest.starts_with('.') {
            parts.micros = fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(BadFormat);
        }
    } else if !rest.is_empty() {
        return Err(BadFormat);
    }
    let in_range = parts.hour >= 0 && (0..60).contains(&parts.minute) && (0..=60).contains(&parts.second);
    if in_range { Ok(()) } else { Err(FieldOverflow) }
}

/// More than 24 hours, or a part out of its range (`time_overflows`).
pub(super) fn time_overflows(parts: &Parts) -> bool {
    !(0..=24).contains(&parts.hour)
        || !(0..60).contains(&parts.minute)
        || !(0..=60).contains(&parts.second)
        || !(0..=1_000_000).contains(&parts.micros)
        || parts.time() > USECS_PER_DAY
}

/// A UTC offset with its sign, in seconds east (`DecodeTimezone`).
pub(super) fn decode_offset(text: &str) -> Result<i32> {
    let negative = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(BadFormat),
    };
    let digits = |text| int(text).map_err(|_| ZoneOverflow);
    let (mut hour, mut rest) = digits(&text[1..])?;
    let (mut minute, mut second) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minute, rest) = digits(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (second, rest) = digits(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hour, minute) = (hour / 100, hour % 100);
    }
    if !(0..=15).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
        return Err(ZoneOverflow);
    }
    let offset = (hour * 60 + minute) * 60 + second;
    if rest.is_empty() { Ok(if negative { -offset } else { offset }) } else { Err(BadFormat) }
}
