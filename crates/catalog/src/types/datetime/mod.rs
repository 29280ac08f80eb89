//! What the date and time types share: PostgreSQL's calendar, the broken-down time, the parser of its input grammar, printing,
//! time zones, and the arithmetic behind its functions. Compare `datetime.c`, `timestamp.c`, `date.c`.
//!
//! Days and microseconds count from 2000-01-01, as in PostgreSQL. `i64::MIN` and `i64::MAX` are the infinite timestamps, `i32::MIN`
//! and `i32::MAX` (as `i64`) the infinite dates.

pub mod arith;
mod decode;
pub mod extract;
mod iso;
mod lex;
pub mod print;
mod scan;
mod token;
pub mod zone;

pub use decode::{Decoded, Special, decode_date_time, decode_time_only};
pub use iso::iso_time_of_day;
pub(crate) use lex::{FieldKind, lex};
pub(crate) use scan::{int, int64};
pub use token::Unit;
pub(crate) use token::find_unit;

use crate::{SqlError, SqlState};

/// Microseconds in a second.
pub const USECS_PER_SEC: i64 = 1_000_000;
/// Microseconds in a minute.
pub const USECS_PER_MINUTE: i64 = 60 * USECS_PER_SEC;
/// Microseconds in an hour.
pub const USECS_PER_HOUR: i64 = 60 * USECS_PER_MINUTE;
/// Microseconds in a day.
pub const USECS_PER_DAY: i64 = 24 * USECS_PER_HOUR;
/// Days from 1970-01-01 to 2000-01-01.
pub const UNIX_EPOCH_DAYS: i64 = 10_957;
/// Microseconds from 1970-01-01 to 2000-01-01.
pub const UNIX_EPOCH_USECS: i64 = UNIX_EPOCH_DAYS * USECS_PER_DAY;
/// Julian day of 2000-01-01.
pub const POSTGRES_EPOCH_JDATE: i64 = 2_451_545;
/// The first date, 4714-11-24 BC.
pub const MIN_DATE: i64 = -POSTGRES_EPOCH_JDATE;
/// One past the last date, 5874897-12-31.
pub const END_DATE: i64 = 2_147_483_494 - POSTGRES_EPOCH_JDATE;
/// The first timestamp.
pub const MIN_TIMESTAMP: i64 = -211_813_488_000_000_000;
/// One past the last timestamp.
pub const END_TIMESTAMP: i64 = 9_223_371_331_200_000_000;
/// The timestamp `-infinity`.
pub const TIMESTAMP_NEG_INFINITY: i64 = i64::MIN;
/// The timestamp `infinity`.
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;
/// The date `-infinity`.
pub const DATE_NEG_INFINITY: i64 = i32::MIN as i64;
/// The date `infinity`.
pub const DATE_INFINITY: i64 = i32::MAX as i64;

/// A broken-down time (`struct pg_tm` and its microseconds). Year 0 is 1 BC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Year; 0 is 1 BC.
    pub year: i32,
    /// Month from 1.
    pub month: i32,
    /// Day from 1.
    pub day: i32,
    /// Hour; 24 only as 24:00:00.
    pub hour: i32,
    /// Minute.
    pub minute: i32,
    /// Second; input accepts 60.
    pub second: i32,
    /// Microseconds of the second.
    pub micros: i32,
}

impl Parts {
    /// The parts of a finite timestamp without time zone (`timestamp2tm`).
    pub fn of_timestamp(timestamp: i64) -> Parts {
        let (days, time) = (timestamp.div_euclid(USECS_PER_DAY), timestamp.rem_euclid(USECS_PER_DAY));
        let (year, month, day) = ymd_of_days(days);
        Parts { year, month, day, ..Parts::of_time(time) }
    }

    /// The parts of a time of day; the date is zero.
    pub fn of_time(time: i64) -> Parts {
        let (seconds, micros) = (time / USECS_PER_SEC, (time % USECS_PER_SEC) as i32);
        let seconds = seconds as i32;
        Parts {
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micros,
            ..Parts::default()
        }
    }

    /// The time of day in microseconds (`time2t`).
    pub fn time(&self) -> i64 {
        let (hour, minute, second) = (i64::from(self.hour), i64::from(self.minute), i64::from(self.second));
        ((hour * 60 + minute) * 60 + second) * USECS_PER_SEC + i64::from(self.micros)
    }

    /// Days since 2000-01-01; `None` where the date is out of PostgreSQL's range for Julian days.
    pub fn days(&self) -> Option<i64> {
        is_valid_julian(self.year, self.month).then(|| days_of_ymd(self.year, self.month, self.day))
    }

    /// The timestamp without time zone (`tm2timestamp`); `None` if it is out of range.
    pub fn timestamp(&self) -> Option<i64> {
        let timestamp = self.days()?.checked_mul(USECS_PER_DAY)?.checked_add(self.time())?;
        is_valid_timestamp(timestamp).then_some(timestamp)
    }
}

/// Whether a finite timestamp is in range.
pub fn is_valid_timestamp(timestamp: i64) -> bool {
    (MIN_TIMESTAMP..END_TIMESTAMP).contains(&timestamp)
}

/// Whether a timestamp is one of the two infinities.
#[inline]
pub fn is_infinite(timestamp: i64) -> bool {
    timestamp == TIMESTAMP_INFINITY || timestamp == TIMESTAMP_NEG_INFINITY
}

/// Whether a date is one of the two infinities.
#[inline]
pub fn is_infinite_date(date: i64) -> bool {
    date == DATE_INFINITY || date == DATE_NEG_INFINITY
}

/// Whether a finite date is in range.
pub fn is_valid_date(date: i64) -> bool {
    (MIN_DATE..END_DATE).contains(&date)
}

/// `IS_VALID_JULIAN`
fn is_valid_julian(year: i32, month: i32) -> bool {
    (year > -4713 || (year == -4713 && month >= 11)) && (year < 5_874_898 || (year == 5_874_898 && month < 6))
}

/// Whether February has 29 days.
pub fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month from 1.
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 2000-01-01 of a date in the proleptic Gregorian calendar; months and days beyond their range run over.
#[inline]
pub fn days_of_ymd(year: i32, month: i32, day: i32) -> i64 {
    let year = i64::from(year) + i64::from((month - 1).div_euclid(12));
    let month = i64::from((month - 1).rem_euclid(12)) + 1;
    // The year begins in March, so that the leap day is its last.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730_425
}

/// The date of a day number since 2000-01-01: year (0 is 1 BC), month, day.
#[inline]
pub fn ymd_of_days(days: i64) -> (i32, i32, i32) {
    // Twenty cycles of 400 years more make every date of PostgreSQL's a number that is not negative, and 32 bits hold it.
    let shifted = (days + 730_425 + 20 * 146_097) as u32;
    let era = (shifted / 146_097) as i32 - 20;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era as i32 + i32::from(month <= 2);
    (year, month as i32, day as i32)
}

/// Day of the week of a day number since 2000-01-01 (a Saturday): 0 is Sunday.
#[inline]
pub fn weekday(days: i64) -> i32 {
    (days + 6).rem_euclid(7) as i32
}

/// Why text is no date or time (`DTERR_*`).
#[derive(Clone, PartialEq, Debug)]
pub enum DateTimeError {
    /// 22007
    BadFormat,
    /// 22008
    FieldOverflow,
    /// 22008 with a hint on DateStyle.
    MonthDayOverflow,
    /// 22015
    IntervalOverflow,
    /// 22009
    ZoneOverflow,
    /// 22023: a zone name in its place that no zone has.
    UnknownZone(String),
}

impl DateTimeError {
    /// The SQL error about this text (`DateTimeParseError`).
    pub fn sql(self, text: &str, type_name: &str) -> SqlError {
        match self {
            DateTimeError::BadFormat => SqlError::new(
                SqlState::INVALID_DATETIME_FORMAT,
                format!("invalid input syntax for type {type_name}: \"{text}\""),
            ),
            DateTimeError::FieldOverflow => field_out_of_range(text),
            DateTimeError::MonthDayOverflow => {
                field_out_of_range(text).hint("Perhaps you need a different \"datestyle\" setting.")
            }
            DateTimeError::IntervalOverflow => SqlError::new(
                SqlState::INTERVAL_FIELD_OVERFLOW,
                format!("interval field value out of range: \"{text}\""),
            ),
            DateTimeError::ZoneOverflow => SqlError::new(
                SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                format!("time zone displacement out of range: \"{text}\""),
            ),
            DateTimeError::UnknownZone(name) => zone::not_recognized(&name),
        }
    }
}

fn field_out_of_range(text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_FIELD_OVERFLOW,
        format!("date/time field value out of range: \"{text}\""),
    )
}

/// 22008 `timestamp out of range` and its like.
pub fn out_of_range(what: &str) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{what} out of range"))
}

/// Rounds microseconds to a number of digits, half away from zero; -1 and 6 leave them (`AdjustTimestampForTypmod`).
pub fn round_micros(micros: i64, digits: i32) -> i64 {
    const SCALES: [i64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    let Some(&scale) = usize::try_from(digits).ok().and_then(|d| SCALES.get(d)) else {
        return micros;
    };
    let half = scale / 2;
    if micros >= 0 {
        micros.saturating_add(half) / scale * scale
    } else {
        -(micros.saturating_neg().saturating_add(half) / scale * scale)
    }
}

/// The modifier of `time(p)` and its like from its literal (`anytime_typmodin`); more than 6 digits are 6.
pub(super) fn precision_typmod_in(literals: &[&str], type_name: &str, suffix: &str) -> crate::Result<i32> {
    let [literal] = literals else {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    let digits = super::int::parse(literal, i32::MIN.into(), i32::MAX.into(), "integer")? as i32;
    if digits < 0 {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("{type_name}({digits}){suffix} precision must not be negative"),
        ));
    }
    Ok(digits.min(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse_over_the_whole_range() {
        assert_eq!(days_of_ymd(2000, 1, 1), 0);
        assert_eq!(days_of_ymd(1970, 1, 1), -UNIX_EPOCH_DAYS);
        assert_eq!(days_of_ymd(-4713, 11, 24), MIN_DATE);
        assert_eq!(days_of_ymd(5_874_897, 12, 31), END_DATE - 1);
        let mut day = MIN_DATE;
        while day < END_DATE {
            let (y, m, d) = ymd_of_days(day);
            assert_eq!(days_of_ymd(y, m, d), day);
            day += 997;
        }
        assert_eq!(weekday(0), 6);
    }

    #[test]
    fn microseconds_round_half_away_from_zero() {
        assert_eq!(round_micros(1_500_000, 0), 2_000_000);
        assert_eq!(round_micros(-1_500_000, 0), -2_000_000);
        assert_eq!(round_micros(1_234_567, 3), 1_235_000);
        assert_eq!(round_micros(1_234_567, -1), 1_234_567);
    }
}
