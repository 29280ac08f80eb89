//! Dates, times, intervals: the clock, operators, casts, parts, zones, series. The arithmetic is `catalog::types::datetime`'s; this
//! file gives it the session's zone and clock. Compare `date.c`, `timestamp.c`. Formats are in `to_char`.

use super::string::invalid;
use super::{Emit, Entry, EvalContext, Implementation, arg_type, scalar, set, text};
use catalog::types::datetime::{self, arith, extract, zone};
use catalog::types::numeric::Numeric;
use catalog::types::timetz::TimeTz;
use catalog::{Datum, Interval, Result};
use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock now, in microseconds since 2000-01-01 UTC.
pub fn clock() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX) - datetime::UNIX_EPOCH_USECS
}

fn time_of_day(cx: &EvalContext<'_>) -> String {
    let now = clock();
    zone::with_info(&cx.style.time_zone, now, |east, abbreviation| {
        let local = now + i64::from(east) * datetime::USECS_PER_SEC;
        let p = datetime::Parts::of_timestamp(local);
        const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let weekday = datetime::weekday(local.div_euclid(datetime::USECS_PER_DAY)) as usize;
        format!(
            "{} {} {:02} {:02}:{:02}:{:02}.{:06} {} {abbreviation}",
            DAYS.get(weekday).unwrap_or(&""),
            MONTHS.get((p.month - 1) as usize).unwrap_or(&""),
            p.day,
            p.hour,
            p.minute,
            p.second,
            p.micros,
            p.year
        )
    })
}

fn int32(d: Datum<'_>) -> i32 {
    d.as_int() as i32
}

fn timetz(d: Datum<'_>) -> TimeTz {
    TimeTz::unpack(d.as_bytes())
}

fn number<'a>(cx: &EvalContext<'a>, value: Option<Numeric>) -> Datum<'a> {
    value.map_or(Datum::Null, |v| v.datum(cx.arena))
}

fn double<'a>(value: Option<Numeric>) -> Result<Datum<'a>> {
    Ok(extract::to_double(value)?.map_or(Datum::Null, Datum::Float))
}

fn or_null<'a>(value: Option<i64>) -> Datum<'a> {
    value.map_or(Datum::Null, Datum::Int)
}

/// OVERLAPS of two ranges whose ends come in any order and may be NULL (`overlaps_timestamp`).
fn overlaps<'a>(range: [Datum<'a>; 4], compare: impl Fn(Datum<'a>, Datum<'a>) -> Ordering) -> Datum<'a> {
    let ordered = |start: Datum<'a>, end: Datum<'a>| match (start.is_null(), end.is_null()) {
        (true, true) => None,
        (true, false) => Some((end, None)),
        (false, true) => Some((start, None)),
        (false, false) if compare(start, end).is_gt() => Some((end, Some(start))),
        (false, false) => Some((start, Some(end))),
    };
    let [start1, end1, start2, end2] = range;
    let (Some((start1, end1)), Some((start2, end2))) = (ordered(start1, end1), ordered(start2, end2)) else {
        return Datum::Null;
    };
    // The one that begins later must begin before the other ends.
    let begins_within = |start: Datum<'a>, end: Option<Datum<'a>>, own_end: Option<Datum<'a>>| match end {
        None => Datum::Null,
        Some(end) if compare(start, end).is_lt() => Datum::Bool(true),
        Some(_) if own_end.is_none() => Datum::Null,
        Some(_) => Datum::Bool(false),
    };
    match compare(start1, start2) {
        Ordering::Greater => begins_within(start1, end2, end1),
        Ordering::Less => begins_within(start2, end1, end2),
        Ordering::Equal if end1.is_none() || end2.is_none() => Datum::Null,
        Ordering::Equal => Datum::Bool(true),
    }
}

fn by_int(a: Datum<'_>, b: Datum<'_>) -> Ordering {
    a.as_int().cmp(&b.as_int())
}

/// How an OVERLAPS with intervals adds them.
#[derive(Clone, Copy)]
enum Kind {
    Timestamp,
    TimestampTz,
    Time,
}

/// OVERLAPS whose ends are given as intervals (LANGUAGE sql in pg_proc).
fn overlaps_spans<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>], kind: Kind) -> Result<Datum<'a>> {
    let end = |start: Datum<'a>, end: Datum<'a>| -> Result<Datum<'a>> {
        let Datum::Interval(span) = end else { return Ok(end) };
        if start.is_null() {
            return Ok(Datum::Null);
        }
        plus(cx, kind, start.as_int(), span).map(Datum::Int)
    };
    Ok(overlaps([a[0], end(a[0], a[1])?, a[2], end(a[2], a[3])?], by_int))
}

fn plus(cx: &EvalContext<'_>, kind: Kind, start: i64, span: Interval) -> Result<i64> {
    match kind {
        Kind::Timestamp => arith::timestamp_plus_interval(start, span),
        Kind::TimestampTz => arith::timestamptz_plus_interval(start, span, &cx.style.time_zone),
        Kind::Time => Ok(arith::time_plus_interval(start, span)),
    }
}

fn series(cx: &EvalContext<'_>, a: &[Datum<'_>], kind: Kind, emit: &mut Emit<'_>) -> Result<()> {
    let (mut value, stop, step) = (a[0].as_int(), a[1].as_int(), a[2].as_interval());
    let up = match step.order(&Interval::default()) {
        Ordering::Equal => return Err(invalid("step size cannot equal zero")),
        Ordering::Greater => true,
        Ordering::Less => false,
    };
    while if up { value <= stop } else { value >= stop } {
        if emit(&[Datum::Int(value)])?.is_break() {
            break;
        }
        value = plus(cx, kind, value, step)?;
    }
    Ok(())
}

/// A date compared with a timestamp: dates beyond the timestamps' range are beyond all timestamps.
fn date_against(date: i64, timestamp: i64, convert: impl Fn(i64) -> Result<i64>) -> Ordering {
    match convert(date) {
        Ok(converted) => converted.cmp(&timestamp),
        Err(_) if date > 0 => {
            if datetime::is_infinite(timestamp) && timestamp > 0 {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        Err(_) => {
            if datetime::is_infinite(timestamp) && timestamp < 0 {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
    }
}

fn date_timestamp(_: &EvalContext<'_>, a: Datum<'_>, b: Datum<'_>) -> Ordering {
    date_against(a.as_int(), b.as_int(), arith::date_to_timestamp)
}

fn date_timestamptz(cx: &EvalContext<'_>, a: Datum<'_>, b: Datum<'_>) -> Ordering {
    date_against(a.as_int(), b.as_int(), |d| arith::date_to_timestamptz(d, &cx.style.time_zone))
}

fn timestamp_timestamptz(cx: &EvalContext<'_>, a: Datum<'_>, b: Datum<'_>) -> Ordering {
    match zone::to_moment(&cx.style.time_zone, a.as_int()) {
        Some(moment) => moment.cmp(&b.as_int()),
        None if a.as_int() > 0 => Ordering::Greater,
        None => Ordering::Less,
    }
}

/// The six operators and the three-way comparison between two types, both ways round.
macro_rules! across {
    ($compare:path, $left:literal, $right:literal) => {
        &[
            (
                concat!($left, "_eq_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_eq()))),
            ),
            (
                concat!($left, "_ne_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_ne()))),
            ),
            (
                concat!($left, "_lt_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_lt()))),
            ),
            (
                concat!($left, "_le_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_le()))),
            ),
            (
                concat!($left, "_gt_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_gt()))),
            ),
            (
                concat!($left, "_ge_", $right),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[0], a[1]).is_ge()))),
            ),
            (
                concat!($left, "_cmp_", $right),
                scalar(|cx, _, a| Ok(Datum::Int($compare(cx, a[0], a[1]) as i64))),
            ),
            (
                concat!($right, "_eq_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_eq()))),
            ),
            (
                concat!($right, "_ne_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_ne()))),
            ),
            (
                concat!($right, "_lt_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_gt()))),
            ),
            (
                concat!($right, "_le_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_ge()))),
            ),
            (
                concat!($right, "_gt_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_lt()))),
            ),
            (
                concat!($right, "_ge_", $left),
                scalar(|cx, _, a| Ok(Datum::Bool($compare(cx, a[1], a[0]).is_le()))),
            ),
            (
                concat!($right, "_cmp_", $left),
                scalar(|cx, _, a| Ok(Datum::Int($compare(cx, a[1], a[0]).reverse() as i64))),
            ),
        ]
    };
}

pub(super) const DATE_TIMESTAMP: &[Entry] = across!(date_timestamp, "date", "timestamp");
pub(super) const DATE_TIMESTAMPTZ: &[Entry] = across!(date_timestamptz, "date", "timestamptz");
pub(super) const TIMESTAMP_TIMESTAMPTZ: &[Entry] = across!(timestamp_timestamptz, "timestamp", "timestamptz");

const SCALE: Implementation = scalar(|cx, types, a| match arg_type(types, 0)?.apply_typmod {
    Some(apply) => apply(a[0], int32(a[1]), true, cx.arena),
    None => Ok(a[0]),
});

macro_rules! interval {
    (|$a:ident| $result:expr) => {
        scalar(|_, _, a| {
            let $a = a[0].as_interval();
            $result.map(Datum::Interval)
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    // The clock.
    ("now", scalar(|cx, _, _| Ok(Datum::Int(cx.env.transaction_timestamp())))),
    ("statement_timestamp", scalar(|cx, _, _| Ok(Datum::Int(cx.env.statement_timestamp())))),
    ("clock_timestamp", scalar(|_, _, _| Ok(Datum::Int(clock())))),
    ("timeofday", scalar(|cx, _, _| Ok(text(cx, &time_of_day(cx))))),
    // Operators.
    ("date_mi", scalar(|_, _, a| arith::date_difference(a[0].as_int(), a[1].as_int()).map(Datum::Int))),
    ("date_pli", scalar(|_, _, a| arith::date_plus_days(a[0].as_int(), a[1].as_int()).map(Datum::Int))),
    ("date_mii", scalar(|_, _, a| arith::date_plus_days(a[0].as_int(), -a[1].as_int()).map(Datum::Int))),
    (
        "date_pl_interval",
        scalar(|_, _, a| {
            let start = arith::date_to_timestamp(a[0].as_int())?;
            arith::timestamp_plus_interval(start, a[1].as_interval()).map(Datum::Int)
        }),
    ),
    (
        "date_mi_interval",
        scalar(|_, _, a| {
            let start = arith::date_to_timestamp(a[0].as_int())?;
            arith::timestamp_minus_interval(start, a[1].as_interval()).map(Datum::Int)
        }),
    ),
    (
        "datetime_timestamp",
        scalar(|_, _, a| arith::date_plus_time(a[0].as_int(), a[1].as_int()).map(Datum::Int)),
    ),
    (
        "datetimetz_timestamptz",
        scalar(|_, _, a| arith::date_plus_timetz(a[0].as_int(), timetz(a[1])).map(Datum::Int)),
    ),
    (
        "timestamp_mi",
        scalar(|_, _, a| arith::timestamp_difference(a[0].as_int(), a[1].as_int()).map(Datum::Interval)),
    ),
    (
        "timestamp_pl_interval",
        scalar(|_, _, a| arith::timestamp_plus_interval(a[0].as_int(), a[1].as_interval()).map(Datum::Int)),
    ),
    (
        "timestamp_mi_interval",
        scalar(|_, _, a| arith::timestamp_minus_interval(a[0].as_int(), a[1].as_interval()).map(Datum::Int)),
    ),
    (
        "timestamptz_pl_interval",
        scalar(|cx, _, a| {
            let zone = &cx.style.time_zone;
            arith::timestamptz_plus_interval(a[0].as_int(), a[1].as_interval(), zone).map(Datum::Int)
        }),
    ),
    (
        "timestamptz_mi_interval",
        scalar(|cx, _, a| {
            let zone = &cx.style.time_zone;
            arith::timestamptz_minus_interval(a[0].as_int(), a[1].as_interval(), zone).map(Datum::Int)
        }),
    ),
    (
        "time_pl_interval",
        scalar(|_, _, a| Ok(Datum::Int(arith::time_plus_interval(a[0].as_int(), a[1].as_interval())))),
    ),
    (
        "time_mi_interval",
        scalar(|_, _, a| Ok(Datum::Int(arith::time_minus_interval(a[0].as_int(), a[1].as_interval())))),
    ),
    (
        "time_mi_time",
        scalar(|_, _, a| Ok(Datum::Interval(Interval::new(0, 0, a[0].as_int() - a[1].as_int())))),
    ),
    (
        "timetz_pl_interval",
        scalar(|cx, _, a| {
            let value = timetz(a[0]);
            let time = arith::time_plus_interval(value.time, a[1].as_interval());
            Ok(TimeTz { time, ..value }.datum(cx.arena))
        }),
    ),
    (
        "timetz_mi_interval",
        scalar(|cx, _, a| {
            let value = timetz(a[0]);
            let time = arith::time_minus_interval(value.time, a[1].as_interval());
            Ok(TimeTz { time, ..value }.datum(cx.arena))
        }),
    ),
    ("interval_pl", scalar(|_, _, a| a[0].as_interval().add(&a[1].as_interval()).map(Datum::Interval))),
    ("interval_mi", scalar(|_, _, a| a[0].as_interval().sub(&a[1].as_interval()).map(Datum::Interval))),
    ("interval_um", interval!(|i| i.neg())),
    ("interval_mul", scalar(|_, _, a| a[0].as_interval().mul(a[1].as_float()).map(Datum::Interval))),
    ("mul_d_interval", scalar(|_, _, a| a[1].as_interval().mul(a[0].as_float()).map(Datum::Interval))),
    ("interval_div", scalar(|_, _, a| a[0].as_interval().div(a[1].as_float()).map(Datum::Interval))),
    ("interval_justify_hours", interval!(|i| i.justify_hours())),
    ("interval_justify_days", interval!(|i| i.justify_days())),
    ("interval_justify_interval", interval!(|i| i.justify())),
    ("date_finite", scalar(|_, _, a| Ok(Datum::Bool(!datetime::is_infinite_date(a[0].as_int()))))),
    ("timestamp_finite", scalar(|_, _, a| Ok(Datum::Bool(!datetime::is_infinite(a[0].as_int()))))),
    ("interval_finite", scalar(|_, _, _| Ok(Datum::Bool(true)))),
    ("timestamp_age", scalar(|_, _, a| Ok(Datum::Interval(arith::age(a[0].as_int(), a[1].as_int()))))),
    (
        "timestamptz_age",
        scalar(|cx, _, a| {
            arith::age_tz(a[0].as_int(), a[1].as_int(), &cx.style.time_zone).map(Datum::Interval)
        }),
    ),
    // Casts.
    ("date_timestamp", scalar(|_, _, a| arith::date_to_timestamp(a[0].as_int()).map(Datum::Int))),
    (
        "date_timestamptz",
        scalar(|cx, _, a| arith::date_to_timestamptz(a[0].as_int(), &cx.style.time_zone).map(Datum::Int)),
    ),
    ("timestamp_date", scalar(|_, _, a| Ok(Datum::Int(arith::timestamp_to_date(a[0].as_int()))))),
    (
        "timestamptz_date",
        scalar(|cx, _, a| {
            let local = arith::timestamptz_to_timestamp(a[0].as_int(), &cx.style.time_zone)?;
            Ok(Datum::Int(arith::timestamp_to_date(local)))
        }),
    ),
    ("timestamp_time", scalar(|_, _, a| Ok(or_null(arith::timestamp_to_time(a[0].as_int()))))),
    (
        "timestamptz_time",
        scalar(|cx, _, a| {
            let local = arith::timestamptz_to_timestamp(a[0].as_int(), &cx.style.time_zone)?;
            Ok(or_null(arith::timestamp_to_time(local)))
        }),
    ),
    (
        "timestamp_timestamptz",
        scalar(|cx, _, a| {
            arith::timestamp_to_timestamptz(a[0].as_int(), &cx.style.time_zone).map(Datum::Int)
        }),
    ),
    (
        "timestamptz_timestamp",
        scalar(|cx, _, a| {
            arith::timestamptz_to_timestamp(a[0].as_int(), &cx.style.time_zone).map(Datum::Int)
        }),
    ),
    (
        "timestamptz_timetz",
        scalar(|cx, _, a| {
            let value = arith::timestamptz_to_timetz(a[0].as_int(), &cx.style.time_zone);
            Ok(value.map_or(Datum::Null, |v| v.datum(cx.arena)))
        }),
    ),
    (
        "time_timetz",
        scalar(|cx, _, a| {
            let now = cx.env.transaction_timestamp();
            Ok(arith::time_to_timetz(a[0].as_int(), &cx.style.time_zone, now).datum(cx.arena))
        }),
    ),
    ("timetz_time", scalar(|_, _, a| Ok(Datum::Int(timetz(a[0]).time)))),
    ("time_interval", scalar(|_, _, a| Ok(Datum::Interval(Interval::new(0, 0, a[0].as_int()))))),
    ("interval_time", scalar(|_, _, a| Ok(Datum::Int(arith::interval_to_time(a[0].as_interval()))))),
    ("timestamp_scale", SCALE),
    ("timestamptz_scale", SCALE),
    ("time_scale", SCALE),
    ("timetz_scale", SCALE),
    ("interval_scale", SCALE),
    // Zones.
    (
        "timestamptz_zone",
        scalar(|_, _, a| {
            arith::timestamptz_to_timestamp(a[1].as_int(), &zone::lookup(a[0].as_str())?).map(Datum::Int)
        }),
    ),
    (
        "timestamptz_izone",
        scalar(|_, _, a| {
            let zone = zone::of_interval(a[0].as_interval())?;
            arith::timestamptz_to_timestamp(a[1].as_int(), &zone).map(Datum::Int)
        }),
    ),
    (
        "timestamp_zone",
        scalar(|_, _, a| {
            arith::timestamp_to_timestamptz(a[1].as_int(), &zone::lookup(a[0].as_str())?).map(Datum::Int)
        }),
    ),
    (
        "timestamp_izone",
        scalar(|_, _, a| {
            let zone = zone::of_interval(a[0].as_interval())?;
            arith::timestamp_to_timestamptz(a[1].as_int(), &zone).map(Datum::Int)
        }),
    ),
    (
        "timetz_zone",
        scalar(|cx, _, a| {
            let east = zone::offset_at(&zone::lookup(a[0].as_str())?, cx.env.transaction_timestamp());
            Ok(arith::timetz_at_offset(timetz(a[1]), east).datum(cx.arena))
        }),
    ),
    (
        "timetz_izone",
        scalar(|cx, _, a| {
            let east = zone::offset_at(&zone::of_interval(a[0].as_interval())?, 0);
            Ok(arith::timetz_at_offset(timetz(a[1]), east).datum(cx.arena))
        }),
    ),
    (
        "pg_timezone_abbrevs",
        set(|cx, _, _, emit| {
            for (name, abbreviation) in zone::abbreviations() {
                let micros = i64::from(abbreviation.seconds_east) * datetime::USECS_PER_SEC;
                let row = [
                    text(cx, &name.to_ascii_uppercase()),
                    Datum::Interval(Interval::new(0, 0, micros)),
                    Datum::Bool(abbreviation.is_dst),
                ];
                if emit(&row)?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
    // Parts.
    (
        "extract_timestamp",
        scalar(|cx, _, a| Ok(number(cx, extract::extract_timestamp(a[0].as_str(), a[1].as_int())?))),
    ),
    (
        "extract_timestamptz",
        scalar(|cx, _, a| {
            let part = extract::extract_timestamptz(a[0].as_str(), a[1].as_int(), &cx.style.time_zone)?;
            Ok(number(cx, part))
        }),
    ),
    ("extract_date", scalar(|cx, _, a| Ok(number(cx, extract::extract_date(a[0].as_str(), a[1].as_int())?)))),
    ("extract_time", scalar(|cx, _, a| Ok(number(cx, extract::extract_time(a[0].as_str(), a[1].as_int())?)))),
    (
        "extract_timetz",
        scalar(|cx, _, a| Ok(number(cx, extract::extract_timetz(a[0].as_str(), timetz(a[1]))?))),
    ),
    (
        "extract_interval",
        scalar(|cx, _, a| Ok(number(cx, extract::extract_interval(a[0].as_str(), a[1].as_interval())?))),
    ),
    ("timestamp_part", scalar(|_, _, a| double(extract::extract_timestamp(a[0].as_str(), a[1].as_int())?))),
    (
        "timestamptz_part",
        scalar(|cx, _, a| {
            double(extract::extract_timestamptz(a[0].as_str(), a[1].as_int(), &cx.style.time_zone)?)
        }),
    ),
    ("time_part", scalar(|_, _, a| double(extract::extract_time(a[0].as_str(), a[1].as_int())?))),
    ("timetz_part", scalar(|_, _, a| double(extract::extract_timetz(a[0].as_str(), timetz(a[1]))?))),
    ("interval_part", scalar(|_, _, a| interval_part(a[0].as_str(), a[1].as_interval()))),
    (
        "timestamp_trunc",
        scalar(|_, _, a| extract::trunc_timestamp(a[0].as_str(), a[1].as_int()).map(Datum::Int)),
    ),
    (
        "timestamptz_trunc",
        scalar(|cx, _, a| {
            extract::trunc_timestamptz(a[0].as_str(), a[1].as_int(), &cx.style.time_zone).map(Datum::Int)
        }),
    ),
    (
        "timestamptz_trunc_zone",
        scalar(|_, _, a| {
            let zone = zone::lookup(a[2].as_str())?;
            extract::trunc_timestamptz(a[0].as_str(), a[1].as_int(), &zone).map(Datum::Int)
        }),
    ),
    (
        "interval_trunc",
        scalar(|_, _, a| extract::trunc_interval(a[0].as_str(), a[1].as_interval()).map(Datum::Interval)),
    ),
    (
        "timestamp_bin",
        scalar(|_, _, a| arith::bin(a[0].as_interval(), a[1].as_int(), a[2].as_int()).map(Datum::Int)),
    ),
    (
        "timestamptz_bin",
        scalar(|_, _, a| arith::bin(a[0].as_interval(), a[1].as_int(), a[2].as_int()).map(Datum::Int)),
    ),
    // Making.
    ("float8_timestamptz", scalar(|_, _, a| arith::timestamptz_of_epoch(a[0].as_float()).map(Datum::Int))),
    ("make_date", scalar(|_, _, a| arith::make_date(int32(a[0]), int32(a[1]), int32(a[2])).map(Datum::Int))),
    (
        "make_time",
        scalar(|_, _, a| arith::make_time(int32(a[0]), int32(a[1]), a[2].as_float()).map(Datum::Int)),
    ),
    ("make_timestamp", scalar(|_, _, a| make_timestamp(a).map(Datum::Int))),
    (
        "make_timestamptz",
        scalar(|cx, _, a| {
            arith::timestamp_to_timestamptz(make_timestamp(a)?, &cx.style.time_zone).map(Datum::Int)
        }),
    ),
    (
        "make_timestamptz_at_timezone",
        scalar(|_, _, a| {
            let local = make_timestamp(a)?;
            arith::timestamp_to_timestamptz(local, &zone::of_make(a[6].as_str())?).map(Datum::Int)
        }),
    ),
    (
        "make_interval",
        scalar(|_, _, a| {
            let parts = [0, 1, 2, 3, 4, 5].map(|i: usize| int32(a[i]));
            arith::make_interval(parts, a[6].as_float()).map(Datum::Interval)
        }),
    ),
    // Ranges.
    ("overlaps_timestamp", scalar(|_, _, a| Ok(overlaps([a[0], a[1], a[2], a[3]], by_int)))),
    ("overlaps_time", scalar(|_, _, a| Ok(overlaps([a[0], a[1], a[2], a[3]], by_int)))),
    (
        "overlaps_timetz",
        scalar(|_, types, a| {
            let compare = arg_type(types, 0)?.compare;
            Ok(overlaps([a[0], a[1], a[2], a[3]], compare))
        }),
    ),
    ("generate_series_timestamp", set(|cx, _, a, emit| series(cx, a, Kind::Timestamp, emit))),
    ("generate_series_timestamptz", set(|cx, _, a, emit| series(cx, a, Kind::TimestampTz, emit))),
];

/// date_part of an interval; the epoch is summed in double precision, as PostgreSQL does.
fn interval_part<'a>(field: &str, span: Interval) -> Result<Datum<'a>> {
    if !field.eq_ignore_ascii_case("epoch") {
        return double(extract::extract_interval(field, span)?);
    }
    const SECONDS_PER_DAY: f64 = 86_400.0;
    let mut seconds = span.micros as f64 / 1e6;
    seconds += 365.25 * SECONDS_PER_DAY * f64::from(span.months / 12);
    seconds += 30.0 * SECONDS_PER_DAY * f64::from(span.months % 12);
    seconds += SECONDS_PER_DAY * f64::from(span.days);
    Ok(Datum::Float(seconds))
}

fn make_timestamp(a: &[Datum<'_>]) -> Result<i64> {
    let [year, month, day, hour, minute] = [0, 1, 2, 3, 4].map(|i: usize| int32(a[i]));
    arith::make_timestamp(year, month, day, hour, minute, a[5].as_float())
}

/// Midnight today in the session's zone.
fn today(cx: &EvalContext<'_>) -> Result<i64> {
    let local = arith::timestamptz_to_timestamp(cx.env.transaction_timestamp(), &cx.style.time_zone)?;
    arith::date_to_timestamp(arith::timestamp_to_date(local))
}

/// Sleeps until a moment (`pg_sleep_until`, `pg_sleep_for`).
fn sleep_until<'a>(cx: &EvalContext<'a>, moment: i64) -> Result<Datum<'a>> {
    if let Ok(micros) = u64::try_from(moment.saturating_sub(clock())) {
        cx.env.sleep(std::time::Duration::from_micros(micros.min(31_536_000_000_000)))?;
    }
    Ok(super::VOID)
}

/// Functions in LANGUAGE sql over dates and times.
pub(super) const SQL_FUNCTIONS: &[(u32, Implementation)] = &[
    (2059, scalar(|cx, _, a| Ok(Datum::Interval(arith::age(today(cx)?, a[0].as_int()))))),
    (
        1386,
        scalar(|cx, _, a| {
            let zone = &cx.style.time_zone;
            let today = arith::timestamp_to_timestamptz(today(cx)?, zone)?;
            arith::age_tz(today, a[0].as_int(), zone).map(Datum::Interval)
        }),
    ),
    (
        1384,
        scalar(|_, _, a| {
            double(extract::extract_timestamp(a[0].as_str(), arith::date_to_timestamp(a[1].as_int())?)?)
        }),
    ),
    (2550, scalar(|_, _, a| arith::date_plus_days(a[1].as_int(), a[0].as_int()).map(Datum::Int))),
    (
        2546,
        scalar(|_, _, a| {
            let start = arith::date_to_timestamp(a[1].as_int())?;
            arith::timestamp_plus_interval(start, a[0].as_interval()).map(Datum::Int)
        }),
    ),
    (1848, scalar(|_, _, a| Ok(Datum::Int(arith::time_plus_interval(a[1].as_int(), a[0].as_interval()))))),
    (
        2548,
        scalar(|_, _, a| arith::timestamp_plus_interval(a[1].as_int(), a[0].as_interval()).map(Datum::Int)),
    ),
    (
        2549,
        scalar(|cx, _, a| {
            let zone = &cx.style.time_zone;
            arith::timestamptz_plus_interval(a[1].as_int(), a[0].as_interval(), zone).map(Datum::Int)
        }),
    ),
    (
        2547,
        scalar(|cx, _, a| {
            let value = timetz(a[1]);
            let time = arith::time_plus_interval(value.time, a[0].as_interval());
            Ok(TimeTz { time, ..value }.datum(cx.arena))
        }),
    ),
    (1296, scalar(|_, _, a| arith::date_plus_time(a[1].as_int(), a[0].as_int()).map(Datum::Int))),
    (1298, scalar(|_, _, a| arith::date_plus_timetz(a[1].as_int(), timetz(a[0])).map(Datum::Int))),
    (
        1176,
        scalar(|cx, _, a| {
            let local = arith::date_plus_time(a[0].as_int(), a[1].as_int())?;
            arith::timestamp_to_timestamptz(local, &cx.style.time_zone).map(Datum::Int)
        }),
    ),
    (1305, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::TimestampTz))),
    (1306, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::TimestampTz))),
    (1307, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::TimestampTz))),
    (1309, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Time))),
    (1310, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Time))),
    (1311, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Time))),
    (2042, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Timestamp))),
    (2043, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Timestamp))),
    (2044, scalar(|cx, _, a| overlaps_spans(cx, a, Kind::Timestamp))),
    (3936, scalar(|cx, _, a| sleep_until(cx, a[0].as_int()))),
    (
        3935,
        scalar(|cx, _, a| {
            let zone = &cx.style.time_zone;
            sleep_until(cx, arith::timestamptz_plus_interval(clock(), a[0].as_interval(), zone)?)
        }),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_as_the_standard_says() {
        let range = |v: [i64; 4]| overlaps(v.map(Datum::Int), by_int);
        assert_eq!(range([1, 5, 4, 8]), Datum::Bool(true));
        assert_eq!(range([1, 5, 5, 8]), Datum::Bool(false));
        assert_eq!(range([5, 1, 8, 4]), Datum::Bool(true));
        assert_eq!(range([3, 3, 3, 3]), Datum::Bool(true));
        let open = overlaps([Datum::Int(1), Datum::Null, Datum::Int(0), Datum::Int(5)], by_int);
        assert_eq!(open, Datum::Bool(true));
    }
}
