//! `extract`, `date_part` and `date_trunc`.

use super::arith::iso_week;
use super::token::{Unit, Word, find_unit, find_word};
use super::*;
use crate::types::numeric::Numeric;
use crate::types::timetz::TimeTz;
use crate::{Interval, Result};
use jiff::tz::TimeZone;

/// The unit that `extract` or `date_trunc` names, in any case; 22023 if there is none.
pub fn unit(name: &str, type_name: &str) -> Result<Unit> {
    let lower = name.to_ascii_lowercase();
    let unit = find_unit(&lower).or_else(|| match find_word(&lower) {
        Some(Word::Label(unit)) => Some(unit),
        Some(Word::Epoch) => Some(Unit::Epoch),
        _ => None,
    });
    unit.ok_or_else(|| not_recognized(&lower, type_name))
}

fn not_recognized(name: &str, type_name: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("unit \"{name}\" not recognized for type {type_name}"),
    )
}

fn not_supported(name: &str, type_name: &str) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("unit \"{}\" not supported for type {type_name}", name.to_ascii_lowercase()),
    )
}

const TIMESTAMP: &str = "timestamp without time zone";
const TIMESTAMPTZ: &str = "timestamp with time zone";

fn int(value: impl Into<i64>) -> Option<Numeric> {
    Some(Numeric::from(value.into()))
}

/// Microseconds as a number of seconds with six digits, milliseconds with three, or microseconds.
fn fraction(micros: i64, scale: u16) -> Option<Numeric> {
    Some(Numeric::new(micros.into(), scale))
}

/// Seconds since 1970; the last timestamps have more microseconds since then than 64 bits hold.
fn epoch(timestamp: i64) -> Option<Numeric> {
    Some(Numeric::new(i128::from(timestamp) + i128::from(UNIX_EPOCH_USECS), 6))
}

/// `extract(field from timestamp)` (`extract_timestamp`); `None` is NULL.
pub fn extract_timestamp(field: &str, timestamp: i64) -> Result<Option<Numeric>> {
    let unit = unit(field, TIMESTAMP)?;
    if is_infinite(timestamp) {
        return infinite(unit, timestamp > 0).ok_or_else(|| not_supported(field, TIMESTAMP));
    }
    if unit == Unit::Epoch {
        return Ok(epoch(timestamp));
    }
    of_local(unit, timestamp).ok_or_else(|| not_supported(field, TIMESTAMP))
}

/// `extract(field from timestamptz)` (`extract_timestamptz`); `None` is NULL.
pub fn extract_timestamptz(field: &str, moment: i64, zone: &TimeZone) -> Result<Option<Numeric>> {
    let unit = unit(field, TIMESTAMPTZ)?;
    if is_infinite(moment) {
        return match unit {
            Unit::Timezone | Unit::TimezoneHour | Unit::TimezoneMinute => Ok(None),
            _ => infinite(unit, moment > 0).ok_or_else(|| not_supported(field, TIMESTAMPTZ)),
        };
    }
    let east = zone::offset_at(zone, moment);
    Ok(match unit {
        Unit::Epoch => epoch(moment),
        Unit::Timezone => int(east),
        Unit::TimezoneHour => int(east / 3600),
        Unit::TimezoneMinute => int(east % 3600 / 60),
        _ => {
            let local = moment + i64::from(east) * USECS_PER_SEC;
            return of_local(unit, local).ok_or_else(|| not_supported(field, TIMESTAMPTZ));
        }
    })
}

/// `extract(field from date)` (`extract_date`); `None` is NULL.
pub fn extract_date(field: &str, date: i64) -> Result<Option<Numeric>> {
    let unit = unit(field, "date")?;
    let is_supported = !matches!(
        unit,
        Unit::Microsecond
            | Unit::Millisecond
            | Unit::Second
            | Unit::Minute
            | Unit::Hour
            | Unit::Timezone
            | Unit::TimezoneHour
            | Unit::TimezoneMinute
    );
    if !is_supported {
        return Err(not_supported(field, "date"));
    }
    if is_infinite_date(date) {
        return infinite(unit, date > 0).ok_or_else(|| not_supported(field, "date"));
    }
    match unit {
        Unit::Epoch => Ok(int((date + UNIX_EPOCH_DAYS) * 86_400)),
        Unit::Julian => Ok(int(date + POSTGRES_EPOCH_JDATE)),
        _ => of_day(unit, date).ok_or_else(|| not_supported(field, "date")),
    }
}

/// Of an infinite time, what grows without end is infinite and the rest NULL (`NonFiniteTimestampTzPart`).
fn infinite(unit: Unit, positive: bool) -> Option<Option<Numeric>> {
    let infinity = if positive { Numeric::INFINITY } else { Numeric::NEG_INFINITY };
    match unit {
        Unit::Year
        | Unit::Decade
        | Unit::Century
        | Unit::Millennium
        | Unit::Julian
        | Unit::IsoYear
        | Unit::Epoch => Some(Some(infinity)),
        Unit::Timezone | Unit::TimezoneHour | Unit::TimezoneMinute => None,
        _ => Some(None),
    }
}

/// A field of a local time; the outer `None` where the unit is not one.
fn of_local(unit: Unit, local: i64) -> Option<Option<Numeric>> {
    let time = local.rem_euclid(USECS_PER_DAY);
    if let Some(value) = of_time(unit, time) {
        return Some(value);
    }
    let days = local.div_euclid(USECS_PER_DAY);
    if unit == Unit::Julian {
        let fraction = Numeric::from(time).div(&Numeric::from(USECS_PER_DAY)).ok()?;
        return Some(Numeric::from(days + POSTGRES_EPOCH_JDATE).add(&fraction).ok());
    }
    of_day(unit, days)
}

fn of_time(unit: Unit, time: i64) -> Option<Option<Numeric>> {
    let of_minute = time % USECS_PER_MINUTE;
    Some(match unit {
        Unit::Microsecond => int(of_minute),
        Unit::Millisecond => fraction(of_minute, 3),
        Unit::Second => fraction(of_minute, 6),
        Unit::Minute => int(time / USECS_PER_MINUTE % 60),
        Unit::Hour => int(time / USECS_PER_HOUR),
        _ => return None,
    })
}

fn of_day(unit: Unit, days: i64) -> Option<Option<Numeric>> {
    let (year, month, day) = ymd_of_days(days);
    // There is no year zero: 1 BC is -1.
    let shown = |year: i32| if year > 0 { year } else { year - 1 };
    let grouped =
        |size: i32| if year > 0 { (year + size - 1) / size } else { -((size - 1 - (year - 1)) / size) };
    Some(match unit {
        Unit::Day => int(day),
        Unit::Month => int(month),
        Unit::Quarter => int((month - 1) / 3 + 1),
        Unit::Week => int(iso_week(days).1),
        Unit::Year => int(shown(year)),
        Unit::Decade => int(if year >= 0 { year / 10 } else { -((8 - (year - 1)) / 10) }),
        Unit::Century => int(grouped(100)),
        Unit::Millennium => int(grouped(1000)),
        Unit::IsoYear => int(shown(iso_week(days).0)),
        Unit::Dow => int(weekday(days)),
        Unit::IsoDow => int(if weekday(days) == 0 { 7 } else { weekday(days) }),
        Unit::Doy => int(days - days_of_ymd(year, 1, 1) + 1),
        _ => return None,
    })
}

/// `extract(field from time)` (`extract_time`).
pub fn extract_time(field: &str, time: i64) -> Result<Option<Numeric>> {
    const TIME: &str = "time without time zone";
    match unit(field, TIME)? {
        Unit::Epoch => Ok(fraction(time, 6)),
        unit => of_time(unit, time).ok_or_else(|| not_supported(field, TIME)),
    }
}

/// `extract(field from timetz)` (`extract_timetz`).
pub fn extract_timetz(field: &str, time: TimeTz) -> Result<Option<Numeric>> {
    const TIMETZ: &str = "time with time zone";
    match unit(field, TIMETZ)? {
        Unit::Epoch => Ok(fraction(time.utc(), 6)),
        Unit::Timezone => Ok(int(-time.west)),
        Unit::TimezoneHour => Ok(int(-time.west / 3600)),
        Unit::TimezoneMinute => Ok(int(-time.west % 3600 / 60)),
        unit => of_time(unit, time.time).ok_or_else(|| not_supported(field, TIMETZ)),
    }
}

/// `extract(field from interval)` (`extract_interval`).
pub fn extract_interval(field: &str, value: Interval) -> Result<Option<Numeric>> {
    let (years, months) = (value.months / 12, value.months % 12);
    let of_minute = value.micros % USECS_PER_MINUTE;
    Ok(match unit(field, "interval")? {
        Unit::Microsecond => int(of_minute),
        Unit::Millisecond => fraction(of_minute, 3),
        Unit::Second => fraction(of_minute, 6),
        Unit::Minute => int(value.micros / USECS_PER_MINUTE % 60),
        Unit::Hour => int(value.micros / USECS_PER_HOUR),
        Unit::Day => int(value.days),
        Unit::Month => int(months),
        Unit::Quarter => int(months / 3 + 1),
        Unit::Year => int(years),
        Unit::Decade => int(years / 10),
        Unit::Century => int(years / 100),
        Unit::Millennium => int(years / 1000),
        Unit::Epoch => {
            // Years of 365.25 days, months of 30; in quarters of a day.
            let quarters = i128::from(years) * 1461 + i128::from(months) * 120 + i128::from(value.days) * 4;
            Some(Numeric::new(quarters * i128::from(USECS_PER_DAY / 4) + i128::from(value.micros), 6))
        }
        _ => return Err(not_supported(field, "interval")),
    })
}

/// `date_part`: the number of `extract` as a double; only the Julian day of a timestamp is computed otherwise.
pub fn to_double(extracted: Option<Numeric>) -> Result<Option<f64>> {
    extracted.map(|number| number.to_f64()).transpose()
}

/// `date_trunc(field, timestamp)` (`timestamp_trunc`).
pub fn trunc_timestamp(field: &str, timestamp: i64) -> Result<i64> {
    let unit = unit(field, TIMESTAMP)?;
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    trunc_local(unit, timestamp, field, TIMESTAMP)?.ok_or_else(|| out_of_range("timestamp"))
}

/// `date_trunc(field, timestamptz[, zone])` (`timestamptz_trunc`).
pub fn trunc_timestamptz(field: &str, moment: i64, zone: &TimeZone) -> Result<i64> {
    let unit = unit(field, TIMESTAMPTZ)?;
    if is_infinite(moment) {
        return Ok(moment);
    }
    let east = zone::offset_at(zone, moment);
    let local = moment + i64::from(east) * USECS_PER_SEC;
    let cut = trunc_local(unit, local, field, TIMESTAMPTZ)?;
    // Within a day the offset stays; at a day's beginning it may be another.
    let result = cut.and_then(|cut| match unit {
        Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond | Unit::Microsecond => {
            Some(cut - i64::from(east) * USECS_PER_SEC)
        }
        _ => zone::to_moment(zone, cut),
    });
    result.filter(|t| is_valid_timestamp(*t)).ok_or_else(|| out_of_range("timestamp"))
}

/// The beginning of the unit that a local time lies in; `None` if that is out of range.
fn trunc_local(unit: Unit, local: i64, field: &str, type_name: &str) -> Result<Option<i64>> {
    let days = local.div_euclid(USECS_PER_DAY);
    let cut = |size: i64| Ok(Some(local.div_euclid(size) * size));
    let (year, month, _) = ymd_of_days(days);
    let (year, month) = match unit {
        Unit::Microsecond => return cut(1),
        Unit::Millisecond => return cut(1000),
        Unit::Second => return cut(USECS_PER_SEC),
        Unit::Minute => return cut(USECS_PER_MINUTE),
        Unit::Hour => return cut(USECS_PER_HOUR),
        Unit::Day => return cut(USECS_PER_DAY),
        Unit::Week => {
            let monday = days - i64::from((weekday(days) + 6) % 7);
            return Ok(Some(monday * USECS_PER_DAY).filter(|t| is_valid_timestamp(*t)));
        }
        Unit::Month => (year, month),
        Unit::Quarter => (year, (month - 1) / 3 * 3 + 1),
        Unit::Year => (year, 1),
        Unit::Decade => (if year > 0 { year / 10 * 10 } else { -((8 - (year - 1)) / 10) * 10 }, 1),
        Unit::Century if year > 0 => ((year + 99) / 100 * 100 - 99, 1),
        Unit::Century => (-((99 - (year - 1)) / 100) * 100 + 1, 1),
        Unit::Millennium if year > 0 => ((year + 999) / 1000 * 1000 - 999, 1),
        Unit::Millennium => (-((999 - (year - 1)) / 1000) * 1000 + 1, 1),
        Unit::Timezone | Unit::TimezoneHour | Unit::TimezoneMinute => {
            return Err(not_supported(field, type_name));
        }
        Unit::Julian | Unit::Dow | Unit::IsoDow | Unit::Doy | Unit::IsoYear | Unit::Epoch => {
            return Err(not_recognized(&field.to_ascii_lowercase(), type_name));
        }
    };
    Ok(Parts { year, month, day: 1, ..Parts::default() }.timestamp())
}

/// `date_trunc(field, interval)` (`interval_trunc`).
pub fn trunc_interval(field: &str, value: Interval) -> Result<Interval> {
    let years = |size: i32| Interval { months: value.months / 12 / size * size * 12, days: 0, micros: 0 };
    let time = |size: i64| Interval { micros: value.micros / size * size, ..value };
    Ok(match unit(field, "interval")? {
        Unit::Millennium => years(1000),
        Unit::Century => years(100),
        Unit::Decade => years(10),
        Unit::Year => years(1),
        Unit::Quarter => {
            Interval { months: value.months / 12 * 12 + value.months % 12 / 3 * 3, days: 0, micros: 0 }
        }
        Unit::Month => Interval { months: value.months, days: 0, micros: 0 },
        Unit::Day => Interval { micros: 0, ..value },
        Unit::Hour => time(USECS_PER_HOUR),
        Unit::Minute => time(USECS_PER_MINUTE),
        Unit::Second => time(USECS_PER_SEC),
        Unit::Millisecond => time(1000),
        Unit::Microsecond => value,
        Unit::Week => {
            return Err(not_supported(field, "interval").detail("Months usually have fractional weeks."));
        }
        Unit::Timezone | Unit::TimezoneHour | Unit::TimezoneMinute => {
            return Err(not_supported(field, "interval"));
        }
        Unit::Julian | Unit::Dow | Unit::IsoDow | Unit::Doy | Unit::IsoYear | Unit::Epoch => {
            return Err(not_recognized(&field.to_ascii_lowercase(), "interval"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i32, month: i32, day: i32) -> i64 {
        days_of_ymd(year, month, day)
    }

    #[test]
    fn fields_of_dates_before_christ_have_no_year_zero() {
        let field = |name: &str, day| extract_date(name, day).expect(name).expect("not NULL").to_string();
        let one_bc = date(0, 1, 1);
        assert_eq!(field("century", one_bc), "-1");
        assert_eq!(field("decade", one_bc), "0");
        assert_eq!(field("YEAR", one_bc), "-1");
        assert_eq!(field("millennium", date(2000, 1, 1)), "2");
        assert_eq!(field("week", date(2021, 1, 2)), "53");
        assert_eq!(field("isodow", date(2021, 1, 3)), "7");
        let message = |r: Result<Option<Numeric>>| r.expect_err("an error").message().to_owned();
        assert_eq!(message(extract_date("hour", 0)), "unit \"hour\" not supported for type date");
        assert_eq!(
            message(extract_interval("foo", Interval::default())),
            "unit \"foo\" not recognized for type interval"
        );
    }

    #[test]
    fn epochs_and_truncations_are_those_of_postgres() {
        let value = Interval::new(13, 1, 3_723_500_000);
        assert_eq!(
            extract_interval("epoch", value).expect("epoch").expect("not NULL").to_string(),
            "34239723.500000"
        );
        let noon = date(2020, 1, 1) * USECS_PER_DAY + USECS_PER_DAY / 2;
        let julian = extract_timestamp("julian", noon).expect("julian").expect("not NULL");
        assert_eq!(julian.to_string(), "2458850.50000000000000000000");
        let trunc =
            |field, day: i64| trunc_timestamp(field, day * USECS_PER_DAY).expect(field) / USECS_PER_DAY;
        assert_eq!(trunc("millennium", date(2020, 5, 5)), date(2001, 1, 1));
        assert_eq!(trunc("century", date(-54, 5, 5)), date(-99, 1, 1));
        assert_eq!(trunc("decade", date(-4, 5, 5)), date(-10, 1, 1));
        assert_eq!(trunc("week", date(2021, 1, 2)), date(2020, 12, 28));
    }
}
