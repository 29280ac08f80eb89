//! Time zones: names, abbreviations, offsets at a moment and for a local time. jiff has the data.
//!
//! jiff's years end at 9999 and begin at -9999; beyond them a moment's offset is that of the same day in the 400-year cycle.

use super::*;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Microseconds of the calendar's 400-year cycle.
const CYCLE: i64 = 146_097 * USECS_PER_DAY;
/// 9999-01-01
const LAST: i64 = 2_921_575 * USECS_PER_DAY;
/// -4000-01-01: all zones have their first offset there.
const FIRST: i64 = -2_191_455 * USECS_PER_DAY;

/// 22023: no zone has this name.
pub fn not_recognized(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized"))
}

/// The zone of a name as `SET TimeZone` and `AT TIME ZONE` accept it, without abbreviations: IANA names in any case, POSIX rules.
pub fn by_name(name: &str) -> Option<TimeZone> {
    if name.is_empty() || name.len() > 255 {
        return None;
    }
    if let Ok(zone) = TimeZone::get(name)
        && !zone.is_unknown()
    {
        return Some(zone);
    }
    by_posix(name)
}

/// `EST5EDT`, `UTC+3`, `<+03>-3`: letters or a bracket, then hours west; daylight saving rules default to those of the United States.
fn by_posix(name: &str) -> Option<TimeZone> {
    let has_offset = name.bytes().any(|b| b.is_ascii_digit());
    // `-4` and `4` are POSIX rules without a name: hours west.
    if let Ok(hours) = name.parse::<i32>() {
        return if hours.unsigned_abs() <= 24 { fixed(-hours * 3600) } else { None };
    }
    if !has_offset || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '<') {
        return None;
    }
    // jiff wants names of three letters; PostgreSQL takes shorter ones for a plain offset.
    TimeZone::posix(name).ok().or_else(|| {
        let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
        let offset = &name[letters..];
        let (sign, digits) = match offset.as_bytes().first() {
            Some(b'-') => (-1, &offset[1..]),
            Some(b'+') => (1, &offset[1..]),
            _ => (1, offset),
        };
        let mut west = 0;
        for (part, (unit, most)) in digits.split(':').zip([(3600, 167), (60, 59), (1, 59)]) {
            west += part.parse::<i32>().ok().filter(|v| letters > 0 && (0..=most).contains(v))? * unit;
        }
        let west = west * sign;
        fixed(-west)
    })
}

/// The offset of a zone that never had another (`pg_get_timezone_offset`).
pub fn only_offset(zone: &TimeZone) -> Option<i32> {
    if let Ok(offset) = zone.to_fixed_offset() {
        return Some(offset.seconds());
    }
    let has_transitions = zone.following(Timestamp::MIN).next().is_some();
    (!has_transitions).then(|| offset_at(zone, 0))
}

/// A zone east of UTC by these seconds, as `SET TIME ZONE 2` makes it.
pub fn fixed(seconds_east: i32) -> Option<TimeZone> {
    Offset::from_seconds(seconds_east).ok().map(TimeZone::fixed)
}

/// The zone that `AT TIME ZONE 'name'` means: an abbreviation first, else a name (`timestamptz_zone`); 22023 if there is none.
pub fn lookup(name: &str) -> crate::Result<TimeZone> {
    let known = match abbreviation(&name.to_ascii_lowercase()) {
        Some(abbreviation) => fixed(abbreviation.seconds_east),
        None => by_name(name),
    };
    known.ok_or_else(|| not_recognized(name))
}

/// The zone that `AT TIME ZONE interval` means: its hours east of UTC (`timestamptz_izone`).
pub fn of_interval(offset: crate::Interval) -> crate::Result<TimeZone> {
    let refused = || {
        let message = format!("interval time zone \"{}\" must not include months or days", offset.text());
        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
    };
    if offset.months != 0 || offset.days != 0 {
        return Err(refused());
    }
    let seconds = i32::try_from(offset.micros / USECS_PER_SEC).ok();
    seconds.and_then(fixed).ok_or_else(refused)
}

/// The zone that `make_timestamptz` takes: an offset with its sign east of UTC, else as `lookup` (`parse_sane_timezone`).
pub fn of_make(name: &str) -> crate::Result<TimeZone> {
    if name.starts_with(['+', '-']) {
        let offset = super::scan::decode_offset(name).map_err(|error| match error {
            DateTimeError::ZoneOverflow => SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("numeric time zone \"{name}\" out of range"),
            ),
            _ => not_recognized(name),
        })?;
        return fixed(offset).ok_or_else(|| not_recognized(name));
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid input syntax for type numeric time zone: \"{name}\""),
        )
        .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    lookup(name)
}

/// What an abbreviation of `timezone_abbreviations` means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abbreviation {
    /// Seconds east of UTC.
    pub seconds_east: i32,
    /// Daylight saving time.
    pub is_dst: bool,
}

/// The default abbreviations of PostgreSQL 15 (`pg_timezone_abbrevs`), captured; by lower-case name.
pub fn abbreviation(name: &str) -> Option<Abbreviation> {
    static TABLE: LazyLock<FxHashMap<&'static str, Abbreviation>> =
        LazyLock::new(|| abbreviations().collect());
    TABLE.get(name).copied()
}

/// All default abbreviations, by lower-case name.
pub fn abbreviations() -> impl Iterator<Item = (&'static str, Abbreviation)> {
    include_str!("../../../data/timezone_abbrevs.tsv").lines().skip(1).filter_map(|line| {
        let mut fields = line.split('\t');
        let (name, seconds, dst) = (fields.next()?, fields.next()?, fields.next()?);
        Some((name, Abbreviation { seconds_east: seconds.parse().ok()?, is_dst: dst == "t" }))
    })
}

/// A moment that jiff can take, with the same offset.
#[inline]
fn moment(timestamp: i64) -> Timestamp {
    let within =
        if timestamp >= LAST { LAST - CYCLE + (timestamp - LAST) % CYCLE } else { timestamp.max(FIRST) };
    Timestamp::from_microsecond(within + UNIX_EPOCH_USECS).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Seconds east of UTC at a moment.
#[inline]
pub fn offset_at(zone: &TimeZone, timestamp: i64) -> i32 {
    zone.to_offset(moment(timestamp)).seconds()
}

/// Calls back with the seconds east of UTC and the abbreviation in use at a moment.
pub fn with_info<R>(zone: &TimeZone, timestamp: i64, f: impl FnOnce(i32, &str) -> R) -> R {
    let info = zone.to_offset_info(moment(timestamp));
    f(info.offset().seconds(), info.abbreviation())
}

/// Whether daylight saving time is in use at a moment.
pub fn is_dst_at(zone: &TimeZone, timestamp: i64) -> bool {
    zone.to_offset_info(moment(timestamp)).dst().is_dst()
}

/// Seconds east of UTC for a local time, given as a timestamp without time zone (`DetermineTimeZoneOffset`): in a gap the offset
/// before it, in an overlap the offset after it.
pub fn offset_of_local(zone: &TimeZone, local: i64) -> i32 {
    let within = if local >= LAST { LAST - CYCLE + (local - LAST) % CYCLE } else { local.max(FIRST) };
    let parts = Parts::of_timestamp(within);
    let civil = DateTime::new(
        parts.year as i16,
        parts.month as i8,
        parts.day as i8,
        parts.hour as i8,
        parts.minute as i8,
        parts.second as i8,
        parts.micros * 1000,
    );
    let Ok(civil) = civil else {
        return 0;
    };
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
        AmbiguousOffset::Gap { before, .. } => before.seconds(),
        AmbiguousOffset::Fold { after, .. } => after.seconds(),
    }
}

/// The moment of a local time in a zone; `None` if it is out of range. Infinities stay.
pub fn to_moment(zone: &TimeZone, local: i64) -> Option<i64> {
    if is_infinite(local) {
        return Some(local);
    }
    let moment = local.checked_sub(i64::from(offset_of_local(zone, local)) * USECS_PER_SEC)?;
    is_valid_timestamp(moment).then_some(moment)
}

/// The local time of a moment in a zone; `None` if it is out of range. Infinities stay.
pub fn to_local(zone: &TimeZone, moment: i64) -> Option<i64> {
    if is_infinite(moment) {
        return Some(moment);
    }
    let local = moment.checked_add(i64::from(offset_at(zone, moment)) * USECS_PER_SEC)?;
    is_valid_timestamp(local).then_some(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_take_the_offset_before_and_overlaps_the_one_after() {
        let zone = by_name("america/new_york").expect("a zone");
        let at = |month, day, hour| {
            let parts = Parts { year: 2024, month, day, hour, minute: 30, ..Parts::default() };
            offset_of_local(&zone, parts.timestamp().expect("in range")) / 3600
        };
        assert_eq!(at(3, 10, 2), -5);
        assert_eq!(at(11, 3, 1), -5);
        assert_eq!(at(7, 1, 12), -4);
        let far = Parts { year: 20_240, month: 7, day: 1, ..Parts::default() };
        assert_eq!(offset_of_local(&zone, far.timestamp().expect("in range")) / 3600, -4);
        assert_eq!(abbreviation("cest").map(|a| (a.seconds_east, a.is_dst)), Some((7200, true)));
        assert!(by_name("Nowhere/Land").is_none());
        assert!(by_name("EST5EDT").is_some());
    }
}
