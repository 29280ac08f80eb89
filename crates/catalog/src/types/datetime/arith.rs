//! The arithmetic behind PostgreSQL's date and time operators and conversions. Timestamps and dates may be infinite and stay so
//! unless said otherwise.

use super::*;
use crate::types::timetz::TimeTz;
use crate::{Interval, Result};
use jiff::tz::TimeZone;

/// Adds months to a timestamp's parts; a day that the month does not have becomes its last.
fn add_months(parts: &mut Parts, months: i32) {
    let total = i64::from(parts.year) * 12 + i64::from(parts.month) - 1 + i64::from(months);
    parts.year = total.div_euclid(12) as i32;
    parts.month = total.rem_euclid(12) as i32 + 1;
    parts.day = parts.day.min(days_in_month(parts.year, parts.month));
}

fn in_range(timestamp: Option<i64>) -> Result<i64> {
    timestamp.filter(|t| is_valid_timestamp(*t)).ok_or_else(|| out_of_range("timestamp"))
}

/// `timestamp + interval` (`timestamp_pl_interval`).
pub fn timestamp_plus_interval(timestamp: i64, span: Interval) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    let mut result = timestamp;
    if span.months != 0 {
        let mut parts = Parts::of_timestamp(result);
        add_months(&mut parts, span.months);
        result = in_range(parts.timestamp())?;
    }
    let days = i64::from(span.days) * USECS_PER_DAY;
    in_range(result.checked_add(days).and_then(|t| t.checked_add(span.micros)))
}

/// `timestamptz + interval` (`timestamptz_pl_interval`): months and days are local, hours are elapsed.
pub fn timestamptz_plus_interval(timestamp: i64, span: Interval, zone: &TimeZone) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    let mut result = timestamp;
    if span.months != 0 {
        let local = zone::to_local(zone, result).ok_or_else(|| out_of_range("timestamp"))?;
        let mut parts = Parts::of_timestamp(local);
        add_months(&mut parts, span.months);
        result = in_range(parts.timestamp().and_then(|local| zone::to_moment(zone, local)))?;
    }
    if span.days != 0 {
        let local = zone::to_local(zone, result).ok_or_else(|| out_of_range("timestamp"))?;
        let local = local.checked_add(i64::from(span.days) * USECS_PER_DAY);
        result = in_range(local.and_then(|local| zone::to_moment(zone, local)))?;
    }
    in_range(result.checked_add(span.micros))
}

/// `timestamp - interval`.
pub fn timestamp_minus_interval(timestamp: i64, span: Interval) -> Result<i64> {
    timestamp_plus_interval(timestamp, negated(span))
}

/// `timestamptz - interval`.
pub fn timestamptz_minus_interval(timestamp: i64, span: Interval, zone: &TimeZone) -> Result<i64> {
    timestamptz_plus_interval(timestamp, negated(span), zone)
}

/// Wraps at the ends, as PostgreSQL does here.
fn negated(span: Interval) -> Interval {
    Interval {
        months: span.months.wrapping_neg(),
        days: span.days.wrapping_neg(),
        micros: span.micros.wrapping_neg(),
    }
}

/// `timestamp - timestamp`, also with time zone: days and hours (`timestamp_mi`).
pub fn timestamp_difference(a: i64, b: i64) -> Result<Interval> {
    if is_infinite(a) || is_infinite(b) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
    }
    let micros = a.checked_sub(b).ok_or_else(|| out_of_range("interval"))?;
    Interval { micros, days: 0, months: 0 }.justify_hours()
}

/// `age(a, b)`: years, months, days and time between two local times (`timestamp_age`).
pub fn age(a: i64, b: i64) -> Interval {
    let sign = if a < b { -1 } else { 1 };
    let (p, q) = (Parts::of_timestamp(a), Parts::of_timestamp(b));
    let mut micros = (p.time() - q.time()) * i64::from(sign);
    let mut days = (p.day - q.day) * sign;
    let mut months = (p.month - q.month) * sign;
    let mut years = (p.year - q.year) * sign;
    while micros < 0 {
        micros += USECS_PER_DAY;
        days -= 1;
    }
    // Days are borrowed from the month of the earlier time.
    let earlier = if a < b { p } else { q };
    while days < 0 {
        days += days_in_month(earlier.year, earlier.month);
        months -= 1;
    }
    while months < 0 {
        months += 12;
        years -= 1;
    }
    Interval { months: (years * 12 + months) * sign, days: days * sign, micros: micros * i64::from(sign) }
}

/// `age(a, b)` of moments, by their local times (`timestamptz_age`).
pub fn age_tz(a: i64, b: i64, zone: &TimeZone) -> Result<Interval> {
    let local = |moment| zone::to_local(zone, moment).ok_or_else(|| out_of_range("timestamp"));
    Ok(age(local(a)?, local(b)?))
}

/// `date + integer` (`date_pli`).
pub fn date_plus_days(date: i64, days: i64) -> Result<i64> {
    if is_infinite_date(date) {
        return Ok(date);
    }
    let result = date.saturating_add(days);
    if is_valid_date(result) { Ok(result) } else { Err(out_of_range("date")) }
}

/// `date - date` in days (`date_mi`).
pub fn date_difference(a: i64, b: i64) -> Result<i64> {
    if is_infinite_date(a) || is_infinite_date(b) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
    }
    Ok(a - b)
}

/// date to timestamp (`date2timestamp`).
pub fn date_to_timestamp(date: i64) -> Result<i64> {
    match date {
        DATE_INFINITY => Ok(TIMESTAMP_INFINITY),
        DATE_NEG_INFINITY => Ok(TIMESTAMP_NEG_INFINITY),
        _ => date
            .checked_mul(USECS_PER_DAY)
            .filter(|t| is_valid_timestamp(*t))
            .ok_or_else(date_out_of_range_for_timestamp),
    }
}

fn date_out_of_range_for_timestamp() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")
}

/// date to timestamptz: its midnight in the zone (`date2timestamptz`).
pub fn date_to_timestamptz(date: i64, zone: &TimeZone) -> Result<i64> {
    let local = date_to_timestamp(date)?;
    zone::to_moment(zone, local).ok_or_else(date_out_of_range_for_timestamp)
}

/// timestamp to date (`timestamp_date`).
pub fn timestamp_to_date(timestamp: i64) -> i64 {
    match timestamp {
        TIMESTAMP_INFINITY => DATE_INFINITY,
        TIMESTAMP_NEG_INFINITY => DATE_NEG_INFINITY,
        _ => timestamp.div_euclid(USECS_PER_DAY),
    }
}

/// Time of day of a timestamp; `None` (NULL) for the infinite ones (`timestamp_time`).
pub fn timestamp_to_time(timestamp: i64) -> Option<i64> {
    (!is_infinite(timestamp)).then(|| timestamp.rem_euclid(USECS_PER_DAY))
}

/// timestamp to timestamptz (`timestamp2timestamptz`).
pub fn timestamp_to_timestamptz(local: i64, zone: &TimeZone) -> Result<i64> {
    zone::to_moment(zone, local).ok_or_else(|| out_of_range("timestamp"))
}

/// timestamptz to timestamp (`timestamptz2timestamp`).
pub fn timestamptz_to_timestamp(moment: i64, zone: &TimeZone) -> Result<i64> {
    zone::to_local(zone, moment).ok_or_else(|| out_of_range("timestamp"))
}

/// timestamptz to timetz: local time with the offset then in force; `None` (NULL) for the infinite ones.
pub fn timestamptz_to_timetz(moment: i64, zone: &TimeZone) -> Option<TimeTz> {
    if is_infinite(moment) {
        return None;
    }
    let east = zone::offset_at(zone, moment);
    let local = moment + i64::from(east) * USECS_PER_SEC;
    Some(TimeTz { time: local.rem_euclid(USECS_PER_DAY), west: -east })
}

/// time to timetz, with the offset that the zone has at that time today (`time_timetz`).
pub fn time_to_timetz(time: i64, zone: &TimeZone, now: i64) -> TimeTz {
    let today = now + i64::from(zone::offset_at(zone, now)) * USECS_PER_SEC;
    let local = today.div_euclid(USECS_PER_DAY) * USECS_PER_DAY + time;
    TimeTz { time, west: -zone::offset_of_local(zone, local) }
}

/// `date + timetz` is a moment (`datetimetz_timestamptz`).
pub fn date_plus_timetz(date: i64, time: TimeTz) -> Result<i64> {
    let midnight = date_to_timestamp(date)?;
    if is_infinite(midnight) {
        return Ok(midnight);
    }
    in_range(midnight.checked_add(time.utc()))
}

/// `date + time` (`datetime_timestamp`).
pub fn date_plus_time(date: i64, time: i64) -> Result<i64> {
    let midnight = date_to_timestamp(date)?;
    if is_infinite(midnight) {
        return Ok(midnight);
    }
    in_range(midnight.checked_add(time))
}

/// `time + interval`: hours only, around the clock (`time_pl_interval`).
pub fn time_plus_interval(time: i64, span: Interval) -> i64 {
    (time + span.micros % USECS_PER_DAY).rem_euclid(USECS_PER_DAY)
}

/// `time - interval` (`time_mi_interval`).
pub fn time_minus_interval(time: i64, span: Interval) -> i64 {
    (time - span.micros % USECS_PER_DAY).rem_euclid(USECS_PER_DAY)
}

/// interval to time: hours only, around the clock (`interval_time`).
pub fn interval_to_time(span: Interval) -> i64 {
    span.micros.rem_euclid(USECS_PER_DAY)
}

/// `timetz AT TIME ZONE`, with an offset in seconds east (`timetz_izone`).
pub fn timetz_at_offset(time: TimeTz, east: i32) -> TimeTz {
    let local = time.utc() + i64::from(east) * USECS_PER_SEC;
    TimeTz { time: local.rem_euclid(USECS_PER_DAY), west: -east }
}

/// `date_bin(stride, timestamp, origin)` (`timestamp_bin`).
pub fn bin(stride: Interval, timestamp: i64, origin: i64) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    if is_infinite(origin) {
        return Err(out_of_range("origin"));
    }
    if stride.months != 0 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    let width = i64::from(stride.days).checked_mul(USECS_PER_DAY).and_then(|d| d.checked_add(stride.micros));
    let width = width.ok_or_else(|| out_of_range("interval"))?;
    if width <= 0 {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "stride must be greater than zero"));
    }
    let difference = timestamp.checked_sub(origin).ok_or_else(|| out_of_range("interval"))?;
    in_range(difference.div_euclid(width).checked_mul(width).and_then(|d| d.checked_add(origin)))
}

/// Seconds since 1970 to timestamptz (`float8_timestamptz`, SQL's `to_timestamp`).
pub fn timestamptz_of_epoch(seconds: f64) -> Result<i64> {
    if seconds.is_nan() {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp cannot be NaN"));
    }
    if seconds.is_infinite() {
        return Ok(if seconds > 0.0 { TIMESTAMP_INFINITY } else { TIMESTAMP_NEG_INFINITY });
    }
    let micros = ((seconds - (UNIX_EPOCH_USECS / USECS_PER_SEC) as f64) * 1e6).round_ties_even();
    if (MIN_TIMESTAMP as f64..END_TIMESTAMP as f64).contains(&micros) {
        return Ok(micros as i64);
    }
    let mut text = Vec::new();
    crate::types::float::print_float8(seconds, -9, &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("timestamp out of range: \"{text}\"")))
}

/// `make_date`; a negative year is BC.
pub fn make_date(year: i32, month: i32, day: i32) -> Result<i64> {
    let error = |what: &str| {
        Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{what}: {year}-{month:02}-{day:02}")))
    };
    let astronomical = if year < 0 { year.saturating_add(1) } else { year };
    let is_valid =
        year != 0 && (1..=12).contains(&month) && day >= 1 && day <= days_in_month(astronomical, month);
    if !is_valid {
        return error("date field value out of range");
    }
    let parts = Parts { year: astronomical, month, day, ..Parts::default() };
    match parts.days().filter(|d| is_valid_date(*d)) {
        Some(days) => Ok(days),
        None => error("date out of range"),
    }
}

/// `make_time`.
pub fn make_time(hour: i32, minute: i32, seconds: f64) -> Result<i64> {
    let micros = (seconds * 1e6).round_ties_even();
    let is_valid = (0..=24).contains(&hour)
        && (0..60).contains(&minute)
        && (0.0..=60_000_000.0).contains(&micros)
        && i64::from(hour * 60 + minute) * USECS_PER_MINUTE + micros as i64 <= USECS_PER_DAY;
    if !is_valid {
        let mut text = Vec::new();
        crate::types::float::print_float8(seconds, -9, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        return Err(SqlError::new(
            SqlState::DATETIME_FIELD_OVERFLOW,
            format!("time field value out of range: {hour}:{minute:02}:{text:0>2}"),
        ));
    }
    Ok(i64::from(hour * 60 + minute) * USECS_PER_MINUTE + micros as i64)
}

/// `make_timestamp`.
pub fn make_timestamp(year: i32, month: i32, day: i32, hour: i32, minute: i32, seconds: f64) -> Result<i64> {
    let date = make_date(year, month, day)?;
    let time = make_time(hour, minute, seconds)?;
    in_range(date.checked_mul(USECS_PER_DAY).and_then(|t| t.checked_add(time)))
}

/// `make_interval`; sums wrap, as PostgreSQL's do.
pub fn make_interval(parts: [i32; 6], seconds: f64) -> Result<Interval> {
    let [years, months, weeks, days, hours, minutes] = parts;
    if !seconds.is_finite() {
        return Err(out_of_range("interval"));
    }
    let micros = (seconds * 1e6).round_ties_even() as i64;
    Ok(Interval {
        months: years.wrapping_mul(12).wrapping_add(months),
        days: weeks.wrapping_mul(7).wrapping_add(days),
        micros: (i64::from(hours) * USECS_PER_HOUR + i64::from(minutes) * USECS_PER_MINUTE)
            .wrapping_add(micros),
    })
}

/// ISO 8601 year and week of a day number.
pub fn iso_week(days: i64) -> (i32, i32) {
    // The Thursday of a week lies in the week's year.
    let thursday = days - i64::from((weekday(days) + 6) % 7) + 3;
    let (year, _, _) = ymd_of_days(thursday);
    (year, ((thursday - days_of_ymd(year, 1, 1)) / 7) as i32 + 1)
}

/// The Monday that begins a week of an ISO year.
pub fn monday_of_iso_week(year: i32, week: i32) -> i64 {
    let fourth = days_of_ymd(year, 1, 4);
    fourth - i64::from((weekday(fourth) + 6) % 7) + i64::from(week - 1) * 7
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::types::InputContext;

    fn ts(text: &str) -> i64 {
        let (arena, style) = (crate::Arena::new(), Style::default());
        let typ = &crate::types::timestamp::TIMESTAMP;
        crate::types::timestamp::parse(
            text,
            &InputContext { arena: &arena, style: &style, typ, typmod: -1, now: 0 },
        )
        .expect("a timestamp")
    }

    #[test]
    fn months_end_where_the_month_ends_and_days_are_local() {
        let month = Interval::new(1, 0, 0);
        assert_eq!(timestamp_plus_interval(ts("2020-03-31"), month).ok(), Some(ts("2020-04-30")));
        let zone = zone::by_name("America/New_York").expect("a zone");
        let noon = zone::to_moment(&zone, ts("2024-03-09 12:00")).expect("in range");
        let next = timestamptz_plus_interval(noon, Interval::new(0, 1, 0), &zone).expect("in range");
        assert_eq!(zone::to_local(&zone, next), Some(ts("2024-03-10 12:00")));
        let later = timestamptz_plus_interval(noon, Interval::new(0, 0, 24 * USECS_PER_HOUR), &zone)
            .expect("in range");
        assert_eq!(zone::to_local(&zone, later), Some(ts("2024-03-10 13:00")));
    }

    #[test]
    fn ages_and_bins_are_those_of_postgres() {
        assert_eq!(age(ts("2020-03-31"), ts("2019-01-30 12:00")).text(), "1 year 2 mons 12:00:00");
        assert_eq!(age(ts("2019-01-30 12:00"), ts("2020-03-31")).text(), "-1 years -2 mons -12:00:00");
        let quarter = Interval::new(0, 0, 15 * USECS_PER_MINUTE);
        assert_eq!(
            bin(quarter, ts("1999-01-01 00:44"), ts("2000-01-01 00:05")).ok(),
            Some(ts("1999-01-01 00:35"))
        );
        assert_eq!(
            timestamp_difference(ts("2020-01-01"), ts("2020-01-05 12:00")).expect("finite").text(),
            "-4 days -12:00:00"
        );
        assert_eq!(iso_week(ts("2021-01-02").div_euclid(USECS_PER_DAY)), (2020, 53));
        assert_eq!(monday_of_iso_week(2020, 53) * USECS_PER_DAY, ts("2020-12-28"));
        assert_eq!(
            make_time(24, 0, 1.0).expect_err("too late").message(),
            "time field value out of range: 24:00:01"
        );
        assert_eq!(
            make_date(2020, 13, 1).expect_err("no month").message(),
            "date field value out of range: 2020-13-01"
        );
    }
}
