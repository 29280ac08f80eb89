//! Printing of intervals in the four IntervalStyles (`EncodeInterval`).

use super::super::datetime::{USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, print};
use crate::{Interval, IntervalStyle};

/// An interval in fields, each with its own sign.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i32,
    micros: i32,
}

impl Fields {
    fn of(value: Interval) -> Fields {
        let (hour, rest) = (value.micros / USECS_PER_HOUR, value.micros % USECS_PER_HOUR);
        let (minute, rest) = (rest / USECS_PER_MINUTE, rest % USECS_PER_MINUTE);
        Fields {
            year: i64::from(value.months) / 12,
            month: i64::from(value.months) % 12,
            day: value.days.into(),
            hour,
            minute,
            second: (rest / USECS_PER_SEC) as i32,
            micros: (rest % USECS_PER_SEC) as i32,
        }
    }

    fn has_time(&self) -> bool {
        self.hour != 0 || self.minute != 0 || self.second != 0 || self.micros != 0
    }

    fn time_is_negative(&self) -> bool {
        self.hour < 0 || self.minute < 0 || self.second < 0 || self.micros < 0
    }
}

/// Appends an interval.
pub fn print(value: Interval, style: IntervalStyle, out: &mut Vec<u8>) {
    let fields = Fields::of(value);
    match style {
        IntervalStyle::Postgres => postgres(&fields, out),
        IntervalStyle::PostgresVerbose => verbose(&fields, out),
        IntervalStyle::SqlStandard => sql_standard(&fields, out),
        IntervalStyle::Iso8601 => iso(&fields, out),
    }
}

fn int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// At least two digits of a number that is not negative.
fn two(value: i64, out: &mut Vec<u8>) {
    if value < 100 {
        out.extend_from_slice(&print::pair(value as i32));
    } else {
        int(value, out);
    }
}

/// `:mm:ss.ffffff`, without signs.
fn minutes_and_seconds(fields: &Fields, out: &mut Vec<u8>) {
    out.push(b':');
    two(fields.minute.abs(), out);
    out.push(b':');
    print::seconds(fields.second, fields.micros, true, out);
}

/// `1 year 2 mons 3 days 04:05:06`
fn postgres(fields: &Fields, out: &mut Vec<u8>) {
    let mut is_first = true;
    // A positive field after a negative one shows its sign.
    let mut after_negative = false;
    for (value, unit) in [(fields.year, "year"), (fields.month, "mon"), (fields.day, "day")] {
        if value == 0 {
            continue;
        }
        if !is_first {
            out.push(b' ');
        }
        if after_negative && value > 0 {
            out.push(b'+');
        }
        int(value, out);
        out.push(b' ');
        out.extend_from_slice(unit.as_bytes());
        if value != 1 {
            out.push(b's');
        }
        after_negative = value < 0;
        is_first = false;
    }
    if is_first || fields.has_time() {
        if !is_first {
            out.push(b' ');
        }
        if fields.time_is_negative() {
            out.push(b'-');
        } else if after_negative {
            out.push(b'+');
        }
        two(fields.hour.abs(), out);
        minutes_and_seconds(fields, out);
    }
}

/// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs ago`: signs are relative to the first field's.
fn verbose(fields: &Fields, out: &mut Vec<u8>) {
    out.push(b'@');
    let mut is_zero = true;
    let mut is_before = false;
    let units = [
        (fields.year, "year"),
        (fields.month, "mon"),
        (fields.day, "day"),
        (fields.hour, "hour"),
        (fields.minute, "min"),
    ];
    for (mut value, unit) in units {
        if value == 0 {
            continue;
        }
        if is_zero {
            is_before = value < 0;
            value = value.abs();
        } else if is_before {
            value = -value;
        }
        out.push(b' ');
        int(value, out);
        out.push(b' ');
        out.extend_from_slice(unit.as_bytes());
        if value != 1 {
            out.push(b's');
        }
        is_zero = false;
    }
    if fields.second != 0 || fields.micros != 0 {
        out.push(b' ');
        if fields.second < 0 || (fields.second == 0 && fields.micros < 0) {
            if is_zero {
                is_before = true;
            } else if !is_before {
                out.push(b'-');
            }
        } else if is_before {
            out.push(b'-');
        }
        print::seconds(fields.second, fields.micros, false, out);
        out.extend_from_slice(b" sec");
        if fields.second.abs() != 1 || fields.micros != 0 {
            out.push(b's');
        }
        is_zero = false;
    }
    if is_zero {
        out.extend_from_slice(b" 0");
    }
    if is_before {
        out.extend_from_slice(b" ago");
    }
}

/// `1-2`, `3 4:05:06`, or all of it with signs where SQL has no form.
fn sql_standard(fields: &Fields, out: &mut Vec<u8>) {
    let months_negative = fields.year < 0 || fields.month < 0;
    let months_positive = fields.year > 0 || fields.month > 0;
    let time_positive = fields.hour > 0 || fields.minute > 0 || fields.second > 0 || fields.micros > 0;
    let has_negative = months_negative || fields.day < 0 || fields.time_is_negative();
    let has_positive = months_positive || fields.day > 0 || time_positive;
    let has_months = months_negative || months_positive;
    let has_day = fields.day != 0;
    if !has_negative && !has_positive {
        out.push(b'0');
        return;
    }
    if (has_negative && has_positive) || (has_months && (has_day || fields.has_time())) {
        let sign = |negative: bool| if negative { b'-' } else { b'+' };
        out.push(sign(months_negative));
        int(fields.year.abs(), out);
        out.push(b'-');
        int(fields.month.abs(), out);
        out.push(b' ');
        out.push(sign(fields.day < 0));
        int(fields.day.abs(), out);
        out.push(b' ');
        out.push(sign(fields.time_is_negative()));
        int(fields.hour.abs(), out);
        minutes_and_seconds(fields, out);
        return;
    }
    if has_negative {
        out.push(b'-');
    }
    if has_months {
        int(fields.year.abs(), out);
        out.push(b'-');
        int(fields.month.abs(), out);
        return;
    }
    if has_day {
        int(fields.day.abs(), out);
        out.push(b' ');
    }
    int(fields.hour.abs(), out);
    minutes_and_seconds(fields, out);
}

/// `P1Y2M3DT4H5M6S`
fn iso(fields: &Fields, out: &mut Vec<u8>) {
    out.push(b'P');
    let start = out.len();
    for (value, unit) in [(fields.year, b'Y'), (fields.month, b'M'), (fields.day, b'D')] {
        if value != 0 {
            int(value, out);
            out.push(unit);
        }
    }
    if fields.has_time() {
        out.push(b'T');
        for (value, unit) in [(fields.hour, b'H'), (fields.minute, b'M')] {
            if value != 0 {
                int(value, out);
                out.push(unit);
            }
        }
        if fields.second != 0 || fields.micros != 0 {
            if fields.second < 0 || fields.micros < 0 {
                out.push(b'-');
            }
            print::seconds(fields.second, fields.micros, false, out);
            out.push(b'S');
        }
    }
    if out.len() == start {
        out.extend_from_slice(b"T0S");
    }
}
