//! The short way for texts in ISO 8601, which are nearly all that a server reads.

use super::decode::Decoded;
use super::*;
use crate::types::InputContext;

/// `2020-01-31`, `2020-01-31 12:30:45.5`, and those with an offset: what nearly all texts are. Whatever is not quite so goes the long
/// way, errors too.
pub(super) fn iso(text: &[u8], cx: &InputContext<'_>) -> Option<Decoded> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else { return None };
    let mut parts = Parts {
        year: two(y0, y1)? * 100 + two(y2, y3)?,
        month: two(m0, m1)?,
        day: two(d0, d1)?,
        ..Parts::default()
    };
    let is_date = parts.year > 0
        && (1..=12).contains(&parts.month)
        && parts.day >= 1
        && parts.day <= days_in_month(parts.year, parts.month);
    if !is_date {
        return None;
    }
    let mut offset = None;
    if let [b' ' | b'T', rest @ ..] = rest {
        let rest = iso_time(rest, &mut parts)?;
        offset = match rest {
            [] => None,
            [b'Z'] => Some((b'+', 0, 0)),
            [sign @ (b'+' | b'-'), h0, h1] => Some((*sign, two(*h0, *h1)?, 0)),
            [sign @ (b'+' | b'-'), h0, h1, b':', n0, n1] => {
                Some((*sign, two(*h0, *h1)?, two(*n0, *n1).filter(|n| *n < 60)?))
            }
            _ => return None,
        }
        .map(|(sign, hour, minute)| (hour * 60 + minute) * if sign == b'-' { -60 } else { 60 });
        if offset.is_some_and(|o| o.abs() >= 16 * 3600) {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    let offset = match offset {
        Some(offset) => offset,
        None => {
            let midnight = days_of_ymd(parts.year, parts.month, parts.day) * USECS_PER_DAY;
            zone::offset_of_local(&cx.style.time_zone, midnight + parts.time())
        }
    };
    Some(Decoded { special: None, parts, offset })
}

/// `12:34:56` with up to six digits of a fraction, hours below 24; what follows.
fn iso_time<'a>(text: &'a [u8], parts: &mut Parts) -> Option<&'a [u8]> {
    let (time, mut rest) = text.split_first_chunk::<8>()?;
    let [h0, h1, b':', n0, n1, b':', s0, s1] = *time else { return None };
    (parts.hour, parts.minute, parts.second) = (two(h0, h1)?, two(n0, n1)?, two(s0, s1)?);
    if parts.hour > 23 || parts.minute > 59 || parts.second > 59 {
        return None;
    }
    if let [b'.', digits @ ..] = rest {
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=6).contains(&count) {
            return None;
        }
        let (digits, after) = digits.split_at(count);
        let value = digits.iter().fold(0, |value, b| value * 10 + i32::from(b - b'0'));
        parts.micros = value * 10i32.pow(6 - count as u32);
        rest = after;
    }
    Some(rest)
}

fn two(high: u8, low: u8) -> Option<i32> {
    let valid = high.is_ascii_digit() && low.is_ascii_digit();
    valid.then(|| i32::from(high - b'0') * 10 + i32::from(low - b'0'))
}

/// `12:34:56.789` and nothing else, in microseconds; other texts need `decode_time_only`.
pub fn iso_time_of_day(text: &str) -> Option<i64> {
    let mut parts = Parts::default();
    iso_time(text.as_bytes(), &mut parts)?.is_empty().then(|| parts.time())
}
