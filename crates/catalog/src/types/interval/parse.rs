//! Reading of intervals: units, SQL standard and ISO 8601 forms (`DecodeInterval`, `DecodeISO8601Interval`).

use super::super::datetime::{
    DateTimeError, FieldKind, USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, Unit,
    find_unit, int, int64, lex,
};
use super::{DAY, FULL_RANGE, HOUR, MINUTE, MONTH, SECOND, YEAR, out_of_range};
use crate::{Interval, IntervalStyle, Result, Style};

type Parse<T> = std::result::Result<T, DateTimeError>;
use DateTimeError::{BadFormat, FieldOverflow, IntervalOverflow};

/// Reads an interval (`interval_in`) and applies the modifier.
pub fn parse(text: &str, style: &Style, typmod: i32) -> Result<Interval> {
    let range = if typmod < 0 { FULL_RANGE } else { typmod >> 16 & FULL_RANGE };
    let sums = match units(text, style, range) {
        Err(BadFormat) => iso(text),
        other => other,
    };
    let sums = sums.map_err(|error| match error {
        FieldOverflow => IntervalOverflow.sql(text, "interval"),
        other => other.sql(text, "interval"),
    })?;
    Ok(sums.interval().ok_or_else(out_of_range)?.apply_typmod(typmod))
}

/// What has been added up so far (`struct pg_itm_in`).
#[derive(Default)]
struct Sums {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

impl Sums {
    fn interval(&self) -> Option<Interval> {
        let months = i64::from(self.years) * 12 + i64::from(self.months);
        Some(Interval { months: i32::try_from(months).ok()?, days: self.days, micros: self.micros })
    }

    fn add_micros(&mut self, value: i64, fraction: f64, scale: i64) -> Parse<()> {
        let product = value.checked_mul(scale).ok_or(FieldOverflow)?;
        self.micros = self.micros.checked_add(product).ok_or(FieldOverflow)?;
        self.add_fraction_micros(fraction, scale)
    }

    /// Rounds half up by more than half only, as PostgreSQL does.
    fn add_fraction_micros(&mut self, fraction: f64, scale: i64) -> Parse<()> {
        if fraction == 0.0 {
            return Ok(());
        }
        let product = fraction * scale as f64;
        let mut micros = product as i64;
        let rest = product - micros as f64;
        if rest > 0.5 {
            micros += 1;
        } else if rest < -0.5 {
            micros -= 1;
        }
        self.micros = self.micros.checked_add(micros).ok_or(FieldOverflow)?;
        Ok(())
    }

    fn add_days(&mut self, value: i64, scale: i32) -> Parse<()> {
        let value = i32::try_from(value).map_err(|_| FieldOverflow)?;
        let days = value.checked_mul(scale).and_then(|d| self.days.checked_add(d));
        self.days = days.ok_or(FieldOverflow)?;
        Ok(())
    }

    fn add_fraction_days(&mut self, fraction: f64, scale: i32) -> Parse<()> {
        let product = fraction * f64::from(scale);
        let days = product as i32;
        self.days = self.days.checked_add(days).ok_or(FieldOverflow)?;
        self.add_fraction_micros(product - f64::from(days), USECS_PER_DAY)
    }

    fn add_months(&mut self, value: i64) -> Parse<()> {
        let value = i32::try_from(value).map_err(|_| FieldOverflow)?;
        self.months = self.months.checked_add(value).ok_or(FieldOverflow)?;
        Ok(())
    }

    fn add_years(&mut self, value: i64, scale: i32) -> Parse<()> {
        let value = i32::try_from(value).map_err(|_| FieldOverflow)?;
        let years = value.checked_mul(scale).and_then(|y| self.years.checked_add(y));
        self.years = years.ok_or(FieldOverflow)?;
        Ok(())
    }

    fn add_fraction_years(&mut self, fraction: f64, scale: i32) -> Parse<()> {
        let months = (fraction * 12.0 * f64::from(scale)).round_ties_even() as i32;
        self.months = self.months.checked_add(months).ok_or(FieldOverflow)?;
        Ok(())
    }

    fn negate(&mut self) -> Parse<()> {
        self.years = self.years.checked_neg().ok_or(FieldOverflow)?;
        self.months = self.months.checked_neg().ok_or(FieldOverflow)?;
        self.days = self.days.checked_neg().ok_or(FieldOverflow)?;
        self.micros = self.micros.checked_neg().ok_or(FieldOverflow)?;
        Ok(())
    }

    /// Adds a number of a unit; says which units that settles, as bits.
    fn add(&mut self, value: i64, fraction: f64, unit: Unit) -> Parse<u32> {
        match unit {
            Unit::Microsecond => self.add_micros(value, fraction, 1)?,
            Unit::Millisecond => self.add_micros(value, fraction, 1000)?,
            Unit::Second => {
                self.add_micros(value, fraction, USECS_PER_SEC)?;
                if fraction != 0.0 {
                    return Ok(bit(Unit::Second) | bit(Unit::Millisecond) | bit(Unit::Microsecond));
                }
            }
            Unit::Minute => self.add_micros(value, fraction, USECS_PER_MINUTE)?,
            Unit::Hour => self.add_micros(value, fraction, USECS_PER_HOUR)?,
            Unit::Day => {
                self.add_days(value, 1)?;
                self.add_fraction_micros(fraction, USECS_PER_DAY)?;
            }
            Unit::Week => {
                self.add_days(value, 7)?;
                self.add_fraction_days(fraction, 7)?;
            }
            Unit::Month => {
                self.add_months(value)?;
                self.add_fraction_days(fraction, 30)?;
            }
            Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium => {
                let scale = match unit {
                    Unit::Year => 1,
                    Unit::Decade => 10,
                    Unit::Century => 100,
                    _ => 1000,
                };
                self.add_years(value, scale)?;
                self.add_fraction_years(fraction, scale)?;
            }
            _ => return Err(BadFormat),
        }
        Ok(bit(unit))
    }
}

fn bit(unit: Unit) -> u32 {
    1 << unit as u32
}

const TIME_BITS: [Unit; 5] = [Unit::Hour, Unit::Minute, Unit::Second, Unit::Millisecond, Unit::Microsecond];

/// Units after numbers, `hh:mm:ss`, and SQL's `y-m d h:m:s`; read from the right, so that a unit is known before its number.
fn units(text: &str, style: &Style, range: i32) -> Parse<Sums> {
    let fields = lex(text)?;
    let is_signed = |text: &str| text.starts_with(['-', '+']);
    // In SQL style a minus at the front, and no other sign, applies to all fields.
    let negate_all = style.interval_style == IntervalStyle::SqlStandard
        && fields.first().is_some_and(|f| f.text.starts_with('-'))
        && !fields.iter().skip(1).any(|f| is_signed(&f.text));
    let mut sums = Sums::default();
    let mut unit: Option<Unit> = None;
    let mut known = 0u32;
    let mut ago = false;
    for field in fields.iter().rev() {
        let text = field.text.as_str();
        let settled = match field.kind {
            FieldKind::Time => {
                let micros = time(text, range)?;
                let micros = if negate_all { -micros.abs() } else { micros };
                sums.micros = add_time(sums.micros, micros)?;
                unit = Some(Unit::Day);
                TIME_BITS.iter().map(|u| bit(*u)).sum()
            }
            FieldKind::Signed if text[1..].contains(':') && time(&text[1..], range).is_ok() => {
                let micros = time(&text[1..], range)?;
                let micros = if text.starts_with('-') || negate_all { -micros } else { micros };
                sums.micros = add_time(sums.micros, micros)?;
                unit = Some(Unit::Day);
                TIME_BITS.iter().map(|u| bit(*u)).sum()
            }
            FieldKind::Signed | FieldKind::Date | FieldKind::Number => {
                let mut this = unit.unwrap_or(rightmost_unit(range));
                let negative = text.starts_with('-');
                let (mut value, rest) = int64(text)?;
                let mut fraction = 0.0;
                if let Some(months) = rest.strip_prefix('-') {
                    let (months, rest) = int(months)?;
                    if !(0..12).contains(&months) {
                        return Err(FieldOverflow);
                    }
                    if !rest.is_empty() {
                        return Err(BadFormat);
                    }
                    this = Unit::Month;
                    let months = i64::from(if negative { -months } else { months });
                    value = value.checked_mul(12).and_then(|v| v.checked_add(months)).ok_or(FieldOverflow)?;
                } else if rest.starts_with('.') {
                    fraction = parse_fraction(rest)?;
                    if negative {
                        fraction = -fraction;
                    }
                } else if !rest.is_empty() {
                    return Err(BadFormat);
                }
                if negate_all {
                    (value, fraction) = (if value > 0 { -value } else { value }, -fraction.abs());
                }
                let settled = sums.add(value, fraction, this)?;
                // Before hours stand days.
                unit = Some(if this == Unit::Hour { Unit::Day } else { this });
                settled
            }
            FieldKind::Word | FieldKind::Special => {
                match text {
                    "ago" => {
                        ago = true;
                        unit = None;
                    }
                    _ => match find_unit(text) {
                        Some(Unit::Quarter | Unit::Timezone | Unit::TimezoneHour | Unit::TimezoneMinute) => {
                            unit = Some(Unit::Quarter);
                        }
                        Some(found) => unit = Some(found),
                        None => return Err(BadFormat),
                    },
                }
                0
            }
        };
        if settled & known != 0 {
            return Err(BadFormat);
        }
        known |= settled;
    }
    if known == 0 {
        return Err(BadFormat);
    }
    if ago {
        sums.negate()?;
    }
    Ok(sums)
}

fn add_time(sum: i64, micros: i64) -> Parse<i64> {
    sum.checked_add(micros).ok_or(FieldOverflow)
}

/// The unit of a number at the end that has none, by the modifier's fields.
fn rightmost_unit(range: i32) -> Unit {
    match range {
        YEAR => Unit::Year,
        MONTH => Unit::Month,
        r if r == YEAR | MONTH => Unit::Month,
        DAY => Unit::Day,
        HOUR => Unit::Hour,
        r if r == DAY | HOUR => Unit::Hour,
        MINUTE => Unit::Minute,
        r if r == HOUR | MINUTE || r == DAY | HOUR | MINUTE => Unit::Minute,
        _ => Unit::Second,
    }
}

/// `hh:mm[:ss[.f]]`, `mm:ss.f`; two fields are minutes and seconds for MINUTE TO SECOND (`DecodeTimeForInterval`).
fn time(text: &str, range: i32) -> Parse<i64> {
    let (mut hour, rest) = int64(text)?;
    let rest = rest.strip_prefix(':').ok_or(BadFormat)?;
    let (minute, rest) = int(rest)?;
    let mut minute = i64::from(minute);
    let (mut second, mut micros) = (0, 0);
    if rest.is_empty() {
        if range == MINUTE | SECOND {
            (hour, minute, second) = (0, hour, minute);
        }
    } else if rest.starts_with('.') {
        micros = fraction_micros(rest)?;
        (hour, minute, second) = (0, hour, minute);
    } else {
        let (value, rest) = int(rest.strip_prefix(':').ok_or(BadFormat)?)?;
        second = value.into();
        if rest.starts_with('.') {
            micros = fraction_micros(rest)?;
        } else if !rest.is_empty() {
            return Err(BadFormat);
        }
    }
    if hour < 0 || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return Err(FieldOverflow);
    }
    let total = hour.checked_mul(USECS_PER_HOUR).and_then(|t| t.checked_add(minute * USECS_PER_MINUTE));
    total.and_then(|t| t.checked_add(second * USECS_PER_SEC + micros)).ok_or(FieldOverflow)
}

fn parse_fraction(text: &str) -> Parse<f64> {
    if text == "." { Ok(0.0) } else { text.parse().map_err(|_| BadFormat) }
}

fn fraction_micros(text: &str) -> Parse<i64> {
    Ok((parse_fraction(text)? * 1e6).round_ties_even() as i64)
}

/// ISO 8601: `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06`, `P00010203T040506`.
fn iso(text: &str) -> Parse<Sums> {
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(BadFormat)?;
    let mut sums = Sums::default();
    let mut is_date = true;
    let mut has_field = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('T') {
            (is_date, has_field, rest) = (false, false, after);
            continue;
        }
        let start = rest;
        let (value, fraction, after) = iso_number(rest)?;
        let width = start.trim_start_matches('-').bytes().take_while(u8::is_ascii_digit).count();
        let designator = after.bytes().next();
        let after_designator = after.get(1..).unwrap_or("");
        rest = after_designator;
        match (is_date, designator) {
            (true, Some(b'Y')) => drop(sums.add(value, fraction, Unit::Year)?),
            (true, Some(b'M')) => drop(sums.add(value, fraction, Unit::Month)?),
            (true, Some(b'W')) => drop(sums.add(value, fraction, Unit::Week)?),
            (true, Some(b'D')) => drop(sums.add(value, fraction, Unit::Day)?),
            (true, None | Some(b'T')) if width == 8 && !has_field => {
                sums.add_years(value / 10_000, 1)?;
                sums.add_months(value / 100 % 100)?;
                sums.add_days(value % 100, 1)?;
                sums.add_fraction_micros(fraction, USECS_PER_DAY)?;
                (is_date, has_field) = (false, false);
                continue;
            }
            (true, None | Some(b'T' | b'-')) => {
                if has_field {
                    return Err(BadFormat);
                }
                sums.add(value, fraction, Unit::Year)?;
                if designator == Some(b'-') {
                    for (i, unit) in [Unit::Month, Unit::Day].into_iter().enumerate() {
                        let (value, fraction, after) = iso_number(rest)?;
                        sums.add(value, fraction, unit)?;
                        rest = after;
                        if i == 0 && !rest.is_empty() && !rest.starts_with('T') {
                            rest = rest.strip_prefix('-').ok_or(BadFormat)?;
                        } else {
                            break;
                        }
                    }
                    if rest.is_empty() {
                        return Ok(sums);
                    }
                    rest = rest.strip_prefix('T').ok_or(BadFormat)?;
                }
                (is_date, has_field) = (false, false);
                continue;
            }
            (false, Some(b'H')) => drop(sums.add(value, fraction, Unit::Hour)?),
            (false, Some(b'M')) => drop(sums.add(value, fraction, Unit::Minute)?),
            (false, Some(b'S')) => drop(sums.add(value, fraction, Unit::Second)?),
            (false, None) if width == 6 && !has_field => {
                sums.add(value / 10_000, 0.0, Unit::Hour)?;
                sums.add(value / 100 % 100, 0.0, Unit::Minute)?;
                sums.add(value % 100, fraction, Unit::Second)?;
                return Ok(sums);
            }
            (false, None | Some(b':')) => {
                if has_field {
                    return Err(BadFormat);
                }
                sums.add(value, fraction, Unit::Hour)?;
                if designator.is_none() {
                    return Ok(sums);
                }
                let (value, fraction, after) = iso_number(rest)?;
                sums.add(value, fraction, Unit::Minute)?;
                if after.is_empty() {
                    return Ok(sums);
                }
                let (value, fraction, after) = iso_number(after.strip_prefix(':').ok_or(BadFormat)?)?;
                sums.add(value, fraction, Unit::Second)?;
                return if after.is_empty() { Ok(sums) } else { Err(BadFormat) };
            }
            _ => return Err(BadFormat),
        }
        has_field = true;
    }
    Ok(sums)
}

/// A number with its fraction, and what follows it (`ParseISO8601Number`).
fn iso_number(text: &str) -> Parse<(i64, f64, &str)> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let is_number = matches!(unsigned.as_bytes().first(), Some(b'0'..=b'9' | b'.'));
    if !is_number {
        return Err(BadFormat);
    }
    let (value, rest) = int64(unsigned)?;
    let mut rest = rest;
    let mut fraction = 0.0;
    if rest.starts_with('.') {
        let end = 1 + rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        fraction = parse_fraction(&rest[..end])?;
        rest = &rest[end..];
    }
    Ok(if negative { (-value, -fraction, rest) } else { (value, fraction, rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_read() {
        let read = |text: &str| parse(text, &Style::default(), -1).map(|v| v.text());
        for (text, printed) in [
            ("1 year 2 months 3 days 4:05:06.789", "1 year 2 mons 3 days 04:05:06.789"),
            ("1-2 3 4:05", "1 year 2 mons 3 days 04:05:00"),
            ("P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"),
            ("P00010203T040506", "1 year 2 mons 3 days 04:05:06"),
            ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("-1 day +2:03", "-1 days +02:03:00"),
            ("1.5 weeks", "10 days 12:00:00"),
            ("1.5 months", "1 mon 15 days"),
            ("@ 1 hour ago", "-01:00:00"),
            ("3", "00:00:03"),
            ("1 day ago 2 hours", "-1 days -02:00:00"),
        ] {
            assert_eq!(read(text).expect(text), printed, "{text}");
        }
        for (text, message) in [
            ("1 fortnight", "invalid input syntax for type interval: \"1 fortnight\""),
            ("9999999999 years", "interval field value out of range: \"9999999999 years\""),
            ("1 year 13-13", "interval field value out of range: \"1 year 13-13\""),
            ("infinity", "invalid input syntax for type interval: \"infinity\""),
            ("", "invalid input syntax for type interval: \"\""),
        ] {
            assert_eq!(read(text).expect_err(text).message(), message);
        }
    }
}
