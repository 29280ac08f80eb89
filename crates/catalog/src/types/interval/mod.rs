//! interval: months, days and microseconds that are not converted into one another. Read in PostgreSQL's grammar (units, SQL
//! standard, ISO 8601), printed by IntervalStyle. Compare PostgreSQL's `timestamp.c`, `datetime.c`.
//!
//! This file: the SQL type, its modifier, comparison and arithmetic. `parse.rs` reads, `print.rs` prints.
//!
//! Order takes a month for 30 days and a day for 24 hours, so `1 month` equals `30 days`. Key bytes: that value in microseconds as a
//! signed integer of 10 bytes, big-endian, sign flipped; keys do not decode.

mod parse;
mod print;

use super::datetime::{self, USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE};
use super::{Physical, Shape, Type, oid};
use crate::{Datum, Interval, Result, SqlError, SqlState};
use std::cmp::Ordering;
use std::fmt::Write;

pub use parse::parse;
pub use print::print;

/// interval
pub static INTERVAL: Type = Type {
    oid: oid::INTERVAL,
    name: "interval",
    sql_name: "interval",
    array_oid: oid::INTERVAL_ARRAY,
    len: 16,
    category: b'T',
    preferred: true,
    shape: Shape::Interval,
    physical: Physical::Interval,
    input: |text, cx| parse(text, cx.style, cx.typmod).map(Datum::Interval),
    output: |value, style, out| print(value.as_interval(), style.interval_style, out),
    receive: |bytes, cx| {
        let bytes = super::int::receive::<16>(bytes)?;
        let mut rest = &bytes[..];
        let value = Interval {
            micros: super::int::take::<8>(&mut rest).map_or(0, i64::from_be_bytes),
            days: super::int::take::<4>(&mut rest).map_or(0, i32::from_be_bytes),
            months: super::int::take::<4>(&mut rest).map_or(0, i32::from_be_bytes),
        };
        Ok(Datum::Interval(value.apply_typmod(cx.typmod)))
    },
    send: |value, _, out| {
        let value = value.as_interval();
        out.extend_from_slice(&value.micros.to_be_bytes());
        out.extend_from_slice(&value.days.to_be_bytes());
        out.extend_from_slice(&value.months.to_be_bytes());
    },
    compare: |a, b| a.as_interval().order(&b.as_interval()),
    encode_key: Some(|value, out| {
        let bytes = value.as_interval().span().to_be_bytes();
        out.push(bytes[6] ^ 0x80);
        out.extend_from_slice(&bytes[7..]);
    }),
    typmod_in: Some(typmod_in),
    typmod_out: Some(typmod_out),
    apply_typmod: Some(|value, typmod, _, _| Ok(Datum::Interval(value.as_interval().apply_typmod(typmod)))),
    ..Type::BASE
};

// The fields of a modifier's range, as bits (`INTERVAL_MASK`).
const MONTH: i32 = 1 << 1;
const YEAR: i32 = 1 << 2;
const DAY: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND: i32 = 1 << 12;
/// The range of a modifier that names no fields.
pub const FULL_RANGE: i32 = 0x7fff;
/// The precision of a modifier that has none.
pub const FULL_PRECISION: i32 = 0xffff;

/// The range that `interval FIELD [TO FIELD]` means, which is the first modifier literal; `None` for a pair that SQL does not have.
pub fn range_of(from: &str, to: Option<&str>) -> Option<i32> {
    Some(match (from, to) {
        ("year", None) => YEAR,
        ("month", None) => MONTH,
        ("day", None) => DAY,
        ("hour", None) => HOUR,
        ("minute", None) => MINUTE,
        ("second", None) => SECOND,
        ("year", Some("month")) => YEAR | MONTH,
        ("day", Some("hour")) => DAY | HOUR,
        ("day", Some("minute")) => DAY | HOUR | MINUTE,
        ("day", Some("second")) => DAY | HOUR | MINUTE | SECOND,
        ("hour", Some("minute")) => HOUR | MINUTE,
        ("hour", Some("second")) => HOUR | MINUTE | SECOND,
        ("minute", Some("second")) => MINUTE | SECOND,
        _ => return None,
    })
}

/// The fields of a range in words, with a blank before them; nothing for the full range.
fn range_name(range: i32) -> &'static str {
    match range {
        YEAR => " year",
        MONTH => " month",
        DAY => " day",
        HOUR => " hour",
        MINUTE => " minute",
        SECOND => " second",
        r if r == YEAR | MONTH => " year to month",
        r if r == DAY | HOUR => " day to hour",
        r if r == DAY | HOUR | MINUTE => " day to minute",
        r if r == DAY | HOUR | MINUTE | SECOND => " day to second",
        r if r == HOUR | MINUTE => " hour to minute",
        r if r == HOUR | MINUTE | SECOND => " hour to second",
        r if r == MINUTE | SECOND => " minute to second",
        _ => "",
    }
}

/// The modifier from its literals: the range as a number (`range_of`), then the precision (`intervaltypmodin`). Precisions above 6
/// are 6.
fn typmod_in(literals: &[&str]) -> Result<i32> {
    let refuse = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    let number =
        |text: &str| super::int::parse(text, i32::MIN.into(), i32::MAX.into(), "integer").map(|v| v as i32);
    match literals {
        [range] => match number(range)? {
            FULL_RANGE => Ok(-1),
            range => Ok(range << 16 | FULL_PRECISION),
        },
        [range, precision] => {
            let (range, precision) = (number(range)?, number(precision)?);
            if precision < 0 {
                return refuse(format!("INTERVAL({precision}) precision must not be negative"));
            }
            Ok((range & FULL_RANGE) << 16 | precision.min(6))
        }
        _ => refuse("invalid INTERVAL type modifier".into()),
    }
}

fn typmod_out(typmod: i32, out: &mut String) {
    if typmod < 0 {
        return;
    }
    out.push_str(range_name(typmod >> 16 & FULL_RANGE));
    let precision = typmod & FULL_PRECISION;
    if precision != FULL_PRECISION {
        let _ = write!(out, "({precision})");
    }
}

/// 22008
fn out_of_range() -> SqlError {
    datetime::out_of_range("interval")
}

impl Interval {
    /// An interval of its parts.
    pub fn new(months: i32, days: i32, micros: i64) -> Interval {
        Interval { micros, days, months }
    }

    /// The value that comparison sees: microseconds, with months of 30 days (`interval_cmp_value`).
    pub fn span(&self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(USECS_PER_DAY) + i128::from(self.micros)
    }

    /// PostgreSQL's order (`interval_cmp`).
    pub fn order(&self, other: &Interval) -> Ordering {
        self.span().cmp(&other.span())
    }

    /// Drops what the modifier's fields do not have and rounds the seconds (`AdjustIntervalForTypmod`).
    pub fn apply_typmod(mut self, typmod: i32) -> Interval {
        if typmod < 0 {
            return self;
        }
        let cut = |micros: i64, unit: i64| micros / unit * unit;
        match typmod >> 16 & FULL_RANGE {
            YEAR => self = Interval::new(self.months / 12 * 12, 0, 0),
            MONTH => self = Interval::new(self.months, 0, 0),
            r if r == YEAR | MONTH => self = Interval::new(self.months, 0, 0),
            DAY => self.micros = 0,
            HOUR => self.micros = cut(self.micros, USECS_PER_HOUR),
            r if r == DAY | HOUR => self.micros = cut(self.micros, USECS_PER_HOUR),
            MINUTE => self.micros = cut(self.micros, USECS_PER_MINUTE),
            r if r == HOUR | MINUTE || r == DAY | HOUR | MINUTE => {
                self.micros = cut(self.micros, USECS_PER_MINUTE)
            }
            _ => {}
        }
        let precision = typmod & FULL_PRECISION;
        if precision != FULL_PRECISION {
            self.micros = datetime::round_micros(self.micros, precision);
        }
        self
    }

    /// The sum, part by part (`interval_pl`).
    pub fn add(&self, other: &Interval) -> Result<Interval> {
        self.checked_add(other).ok_or_else(out_of_range)
    }

    fn checked_add(&self, other: &Interval) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    /// The difference, part by part (`interval_mi`).
    pub fn sub(&self, other: &Interval) -> Result<Interval> {
        let difference = || {
            Some(Interval {
                months: self.months.checked_sub(other.months)?,
                days: self.days.checked_sub(other.days)?,
                micros: self.micros.checked_sub(other.micros)?,
            })
        };
        difference().ok_or_else(out_of_range)
    }

    /// The negative (`interval_um`).
    pub fn neg(&self) -> Result<Interval> {
        Interval::default().sub(self)
    }

    /// The product with a number; fractions of months go to days, of days to time (`interval_mul`).
    pub fn mul(&self, factor: f64) -> Result<Interval> {
        self.scale(|part| part * factor)
    }

    /// The quotient by a number (`interval_div`).
    pub fn div(&self, divisor: f64) -> Result<Interval> {
        if divisor == 0.0 {
            return Err(SqlError::division_by_zero());
        }
        self.scale(|part| part / divisor)
    }

    fn scale(&self, scaled: impl Fn(f64) -> f64) -> Result<Interval> {
        let round = |value: f64| (value * 1e6).round_ties_even() / 1e6;
        let whole = |value: f64| {
            let in_range = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value);
            if in_range { Ok(value as i32) } else { Err(out_of_range()) }
        };
        let months_f = scaled(self.months.into());
        let days_f = scaled(self.days.into());
        let (months, days) = (whole(months_f)?, whole(days_f)?);
        // The fractions of a month in days, of a day in seconds; each rounded to microseconds against the noise of binary fractions.
        let mut month_days = round((months_f - f64::from(months)) * 30.0);
        let mut seconds = round((days_f - f64::from(days) + month_days - month_days.trunc()) * 86_400.0);
        let mut days = i64::from(days);
        if seconds.abs() >= 86_400.0 {
            let over = (seconds / 86_400.0) as i64;
            days += over;
            seconds -= over as f64 * 86_400.0;
        }
        month_days = month_days.trunc();
        let days = i32::try_from(days + month_days as i64).map_err(|_| out_of_range())?;
        let micros = (scaled(self.micros as f64) + seconds * 1e6).round_ties_even();
        if !(i64::MIN as f64..-(i64::MIN as f64)).contains(&micros) {
            return Err(out_of_range());
        }
        Ok(Interval { months, days, micros: micros as i64 })
    }

    /// Turns each 24 hours into a day, with the same sign for both (`interval_justify_hours`).
    pub fn justify_hours(&self) -> Result<Interval> {
        let whole = self.micros / USECS_PER_DAY;
        let days = i64::from(self.days) + whole;
        let (mut days, mut micros) =
            (i32::try_from(days).map_err(|_| out_of_range())?, self.micros - whole * USECS_PER_DAY);
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + USECS_PER_DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - USECS_PER_DAY);
        }
        Ok(Interval { micros, days, months: self.months })
    }

    /// Turns each 30 days into a month, with the same sign for both (`interval_justify_days`).
    pub fn justify_days(&self) -> Result<Interval> {
        let whole = self.days / 30;
        let mut months = self.months.checked_add(whole).ok_or_else(out_of_range)?;
        let mut days = self.days - whole * 30;
        if months > 0 && days < 0 {
            (months, days) = (months - 1, days + 30);
        } else if months < 0 && days > 0 {
            (months, days) = (months + 1, days - 30);
        }
        Ok(Interval { micros: self.micros, days, months })
    }

    /// Both at once, with one sign for all parts (`interval_justify_interval`).
    pub fn justify(&self) -> Result<Interval> {
        let mut days = i64::from(self.days);
        let mut micros = self.micros;
        // Days of the time first, so that a sum out of range of days may still fit in months.
        let whole = micros / USECS_PER_DAY;
        days += whole;
        micros -= whole * USECS_PER_DAY;
        let whole = days / 30;
        let mut months = i64::from(self.months) + whole;
        days -= whole * 30;
        if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
            (months, days) = (months - 1, days + 30);
        } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
            (months, days) = (months + 1, days - 30);
        }
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + USECS_PER_DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - USECS_PER_DAY);
        }
        let months = i32::try_from(months).map_err(|_| out_of_range())?;
        Ok(Interval { micros, days: days as i32, months })
    }

    /// The text in the default style, for messages.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        print(*self, crate::IntervalStyle::Postgres, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_thirty_days_to_comparison_but_not_to_arithmetic() {
        let month = Interval::new(1, 0, 0);
        assert_eq!(month.order(&Interval::new(0, 30, 0)), Ordering::Equal);
        assert_eq!(month.mul(1.5).expect("in range"), Interval::new(1, 15, 0));
        assert_eq!(month.div(7.0).expect("in range"), Interval::new(0, 4, 24_685_689_600));
        assert_eq!(Interval::new(1, -1, 0).justify_days().expect("in range"), Interval::new(0, 29, 0));
        assert_eq!(
            Interval::new(0, 35, -USECS_PER_HOUR).justify().expect("in range"),
            Interval::new(1, 4, 23 * USECS_PER_HOUR)
        );
        let mut name = String::new();
        typmod_out((DAY | HOUR | MINUTE | SECOND) << 16 | 3, &mut name);
        assert_eq!(name, " day to second(3)");
    }
}
