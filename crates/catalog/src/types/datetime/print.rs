//! Printing of dates and times in the four DateStyles (`EncodeDateTime` and its like). Nothing allocates; digits go out in pairs.

use super::*;
use crate::{DateOrder, DateStyle, Style};

const PAIRS: &[u8; 200] =
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
const DAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];

/// Two digits of a number below 100.
#[inline]
pub(crate) fn pair(value: i32) -> [u8; 2] {
    let at = (value as usize % 100) * 2;
    [PAIRS[at], PAIRS[at + 1]]
}

/// A short text built on the stack and appended at once.
struct Line {
    bytes: [u8; 64],
    len: usize,
}

impl Line {
    #[inline]
    fn new() -> Self {
        Line { bytes: [0; 64], len: 0 }
    }

    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(slot) = self.bytes.get_mut(self.len..self.len + N) {
            slot.copy_from_slice(&bytes);
            self.len += N;
        }
    }

    #[inline]
    fn pair(&mut self, value: i32) {
        self.put(pair(value));
    }

    /// At least four digits.
    #[inline]
    fn year(&mut self, year: i32) {
        if year < 10_000 {
            self.pair(year / 100);
            self.pair(year % 100);
        } else {
            let mut buffer = itoa::Buffer::new();
            for digit in buffer.format(year).bytes() {
                self.put([digit]);
            }
        }
    }

    #[inline]
    fn clock(&mut self, time: i64) {
        let seconds = (time / USECS_PER_SEC) as i32;
        let [h0, h1] = pair(seconds / 3600);
        let [m0, m1] = pair(seconds / 60 % 60);
        let [s0, s1] = pair(seconds % 60);
        self.put([h0, h1, b':', m0, m1, b':', s0, s1]);
        self.fraction((time % USECS_PER_SEC) as i32);
    }

    /// `.` and the microseconds without zeros at the end; nothing for zero.
    #[inline]
    fn fraction(&mut self, micros: i32) {
        if micros == 0 {
            return;
        }
        let [a, b] = pair(micros / 10_000);
        let [c, d] = pair(micros / 100 % 100);
        let [e, f] = pair(micros % 100);
        self.put([b'.', a, b, c, d, e, f]);
        while self.bytes[self.len - 1] == b'0' {
            self.len -= 1;
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The year to print and whether it is BC.
#[inline]
fn era(year: i32) -> (i32, bool) {
    if year > 0 { (year, false) } else { (1 - year, true) }
}

#[inline]
fn put_date(line: &mut Line, days: i64, style: &Style) -> bool {
    let (year, month, day) = ymd_of_days(days);
    let (year, bc) = era(year);
    let (month_first, separator) = match style.date_style {
        DateStyle::Iso => {
            line.year(year);
            let ([m0, m1], [d0, d1]) = (pair(month), pair(day));
            line.put([b'-', m0, m1, b'-', d0, d1]);
            return bc;
        }
        DateStyle::Sql => (style.date_order != DateOrder::Dmy, b'/'),
        DateStyle::German => (false, b'.'),
        DateStyle::Postgres => (style.date_order != DateOrder::Dmy, b'-'),
    };
    let (first, second) = if month_first { (month, day) } else { (day, month) };
    let ([a0, a1], [b0, b1]) = (pair(first), pair(second));
    line.put([a0, a1, separator, b0, b1, separator]);
    line.year(year);
    bc
}

/// Appends a date (`EncodeDateOnly`).
#[inline]
pub fn date(days: i64, style: &Style, out: &mut Vec<u8>) {
    if is_infinite_date(days) {
        return infinity(days > 0, out);
    }
    if style.date_style == DateStyle::Iso {
        let (year, month, day) = ymd_of_days(days);
        if (1..10_000).contains(&year) {
            let ([y0, y1], [y2, y3]) = (pair(year / 100), pair(year % 100));
            let ([m0, m1], [d0, d1]) = (pair(month), pair(day));
            return out.extend_from_slice(&[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1]);
        }
    }
    let mut line = Line::new();
    if put_date(&mut line, days, style) {
        line.put(*b" BC");
    }
    out.extend_from_slice(line.bytes());
}

/// Appends a time of day (`EncodeTimeOnly`).
#[inline]
pub fn time(time: i64, out: &mut Vec<u8>) {
    let mut line = Line::new();
    line.clock(time);
    out.extend_from_slice(line.bytes());
}

/// Appends a UTC offset given in seconds east: `+02`, `-03:30`, `+00:17:30` (`EncodeTimezone`).
#[inline]
pub fn offset(seconds_east: i32, out: &mut Vec<u8>) {
    if seconds_east % 3600 == 0 {
        let [h0, h1] = pair(seconds_east.abs() / 3600);
        return out.extend_from_slice(&[if seconds_east < 0 { b'-' } else { b'+' }, h0, h1]);
    }
    let seconds = seconds_east.unsigned_abs() as i32;
    let mut line = Line::new();
    line.put([if seconds_east < 0 { b'-' } else { b'+' }]);
    line.pair(seconds / 3600);
    if seconds % 3600 != 0 {
        line.put([b':']);
        line.pair(seconds / 60 % 60);
        if seconds % 60 != 0 {
            line.put([b':']);
            line.pair(seconds % 60);
        }
    }
    out.extend_from_slice(line.bytes());
}

/// Appends a timestamp without time zone (`EncodeDateTime`).
#[inline]
pub fn timestamp(timestamp: i64, style: &Style, out: &mut Vec<u8>) {
    if is_infinite(timestamp) {
        return infinity(timestamp > 0, out);
    }
    put_timestamp(timestamp, None, style, out);
}

/// Appends a timestamp with time zone, in the style's zone (`EncodeDateTime`).
#[inline]
pub fn timestamptz(timestamp: i64, style: &Style, out: &mut Vec<u8>) {
    if is_infinite(timestamp) {
        return infinity(timestamp > 0, out);
    }
    if style.date_style == DateStyle::Iso {
        let seconds = zone::offset_at(&style.time_zone, timestamp);
        let local = timestamp + i64::from(seconds) * USECS_PER_SEC;
        put_timestamp(local, Some(Zone { seconds, abbreviation: None }), style, out);
    } else {
        zone::with_info(&style.time_zone, timestamp, |seconds, abbreviation| {
            let local = timestamp + i64::from(seconds) * USECS_PER_SEC;
            put_timestamp(local, Some(Zone { seconds, abbreviation: Some(abbreviation) }), style, out);
        });
    }
}

struct Zone<'a> {
    seconds: i32,
    abbreviation: Option<&'a str>,
}

/// `2020-01-31 12:34:56.789` with a year of four digits: what nearly all timestamps are.
#[inline]
fn put_iso(year: i32, month: i32, day: i32, time: i64, out: &mut Vec<u8>) {
    let ([y0, y1], [y2, y3]) = (pair(year / 100), pair(year % 100));
    let ([m0, m1], [d0, d1]) = (pair(month), pair(day));
    let seconds = (time / USECS_PER_SEC) as u32;
    let micros = (time % USECS_PER_SEC) as u32;
    let [h0, h1] = pair((seconds / 3600) as i32);
    let [n0, n1] = pair((seconds / 60 % 60) as i32);
    let [s0, s1] = pair((seconds % 60) as i32);
    out.extend_from_slice(&[
        y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b' ', h0, h1, b':', n0, n1, b':', s0, s1,
    ]);
    if micros != 0 {
        let [a, b] = pair((micros / 10_000) as i32);
        let [c, d] = pair((micros / 100 % 100) as i32);
        let [e, f] = pair((micros % 100) as i32);
        let digits = [b'.', a, b, c, d, e, f];
        let len = digits.iter().rposition(|b| *b != b'0').map_or(0, |last| last + 1);
        out.extend_from_slice(&digits[..len]);
    }
}

fn put_timestamp(local: i64, zone: Option<Zone<'_>>, style: &Style, out: &mut Vec<u8>) {
    let (days, time) = (local.div_euclid(USECS_PER_DAY), local.rem_euclid(USECS_PER_DAY));
    if style.date_style == DateStyle::Iso {
        let (year, month, day) = ymd_of_days(days);
        if (1..10_000).contains(&year) {
            put_iso(year, month, day, time, out);
            if let Some(zone) = zone {
                offset(zone.seconds, out);
            }
            return;
        }
    }
    let mut line = Line::new();
    let bc = if style.date_style == DateStyle::Postgres {
        let (year, month, day) = ymd_of_days(days);
        let (year, bc) = era(year);
        let [d0, d1] = pair(day);
        let [m0, m1, m2] = *MONTHS[(month - 1) as usize % 12];
        let [w0, w1, w2] = *DAYS[weekday(days) as usize % 7];
        line.put([w0, w1, w2, b' ']);
        if style.date_order == DateOrder::Dmy {
            line.put([d0, d1, b' ', m0, m1, m2, b' ']);
        } else {
            line.put([m0, m1, m2, b' ', d0, d1, b' ']);
        }
        line.clock(time);
        line.put([b' ']);
        line.year(year);
        bc
    } else {
        let bc = put_date(&mut line, days, style);
        line.put([b' ']);
        line.clock(time);
        bc
    };
    out.extend_from_slice(line.bytes());
    if let Some(zone) = zone {
        match (style.date_style, zone.abbreviation) {
            (DateStyle::Iso, _) | (DateStyle::Sql | DateStyle::German, None) => offset(zone.seconds, out),
            (DateStyle::Postgres, None) => {
                out.push(b' ');
                offset(zone.seconds, out);
            }
            (_, Some(abbreviation)) => {
                out.push(b' ');
                out.extend_from_slice(abbreviation.as_bytes());
            }
        }
    }
    if bc {
        out.extend_from_slice(b" BC");
    }
}

#[cold]
fn infinity(positive: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if positive { b"infinity" } else { b"-infinity" });
}

/// Appends seconds with their fraction, without zeros at its end; `pad` makes them two digits (`AppendSeconds`).
pub(crate) fn seconds(seconds: i32, micros: i32, pad: bool, out: &mut Vec<u8>) {
    let mut line = Line::new();
    let (seconds, micros) = (seconds.unsigned_abs() as i32, micros.unsigned_abs() as i32);
    if pad || seconds >= 10 {
        line.pair(seconds);
    } else {
        line.put([b'0' + seconds as u8]);
    }
    line.fraction(micros);
    out.extend_from_slice(line.bytes());
}
