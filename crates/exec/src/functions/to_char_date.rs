//! to_char, to_date and to_timestamp over dates, times and intervals. Compare the `DCH_` part of `formatting.c`.

use super::to_char_number::ordinal;
use super::{Entry, EvalContext, scalar, text};
use catalog::types::datetime::{self, Parts, arith, zone};
use catalog::{Datum, Interval, Result, SqlError, SqlState};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// The letters' case of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    Upper,
    Title,
    Lower,
}

/// What a key word stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    /// AD and BC; whether with points.
    Era(bool),
    /// AM and PM; whether with points.
    Meridian(bool),
    Century,
    MonthName(bool),
    DayName(bool),
    DayOfYear,
    Day,
    DayOfWeek,
    /// FF1 to FF6.
    Fraction(u8),
    Exact,
    Hour24,
    Hour12,
    IsoDayOfYear,
    IsoDayOfWeek,
    IsoWeek,
    IsoYear(u8),
    Julian,
    Minute,
    Month,
    Millisecond,
    Offset,
    Quarter,
    Roman,
    SecondsOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    Zone,
    Microsecond,
    WeekOfYear,
    WeekOfMonth,
    YearWithComma,
    Year(u8),
}

/// Key words, longer ones before their beginnings.
const WORDS: &[(&str, Field)] = &[
    ("A.D.", Field::Era(true)),
    ("A.M.", Field::Meridian(true)),
    ("AD", Field::Era(false)),
    ("AM", Field::Meridian(false)),
    ("B.C.", Field::Era(true)),
    ("BC", Field::Era(false)),
    ("CC", Field::Century),
    ("DAY", Field::DayName(true)),
    ("DDD", Field::DayOfYear),
    ("DD", Field::Day),
    ("DY", Field::DayName(false)),
    ("D", Field::DayOfWeek),
    ("FF1", Field::Fraction(1)),
    ("FF2", Field::Fraction(2)),
    ("FF3", Field::Fraction(3)),
    ("FF4", Field::Fraction(4)),
    ("FF5", Field::Fraction(5)),
    ("FF6", Field::Fraction(6)),
    ("FX", Field::Exact),
    ("HH24", Field::Hour24),
    ("HH12", Field::Hour12),
    ("HH", Field::Hour12),
    ("IDDD", Field::IsoDayOfYear),
    ("ID", Field::IsoDayOfWeek),
    ("IW", Field::IsoWeek),
    ("IYYY", Field::IsoYear(4)),
    ("IYY", Field::IsoYear(3)),
    ("IY", Field::IsoYear(2)),
    ("I", Field::IsoYear(1)),
    ("J", Field::Julian),
    ("MI", Field::Minute),
    ("MM", Field::Month),
    ("MONTH", Field::MonthName(true)),
    ("MON", Field::MonthName(false)),
    ("MS", Field::Millisecond),
    ("OF", Field::Offset),
    ("P.M.", Field::Meridian(true)),
    ("PM", Field::Meridian(false)),
    ("Q", Field::Quarter),
    ("RM", Field::Roman),
    ("SSSSS", Field::SecondsOfDay),
    ("SSSS", Field::SecondsOfDay),
    ("SS", Field::Second),
    ("TZH", Field::ZoneHour),
    ("TZM", Field::ZoneMinute),
    ("TZ", Field::Zone),
    ("US", Field::Microsecond),
    ("WW", Field::WeekOfYear),
    ("W", Field::WeekOfMonth),
    ("Y,YYY", Field::YearWithComma),
    ("YYYY", Field::Year(4)),
    ("YYY", Field::Year(3)),
    ("YY", Field::Year(2)),
    ("Y", Field::Year(1)),
];

/// An element of a format.
#[derive(Clone, Debug, PartialEq)]
enum Node<'p> {
    Field {
        field: Field,
        case: Case,
        /// As written, for messages.
        word: &'p str,
        /// FM before it.
        fill: bool,
        /// TM before it.
        localized: bool,
        /// TH (upper case) or th after it.
        ordinal: Option<bool>,
    },
    /// A character to print; whether it was in quotes.
    Literal(char, bool),
}

/// Splits a format into its elements (`parse_format`).
fn parse(format: &str) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut rest = format;
    let (mut fill, mut localized) = (false, false);
    while let Some(c) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            fill = true;
            rest = tail;
            continue;
        }
        if let Some(tail) = rest.strip_prefix("TM").or_else(|| rest.strip_prefix("tm")) {
            localized = true;
            rest = tail;
            continue;
        }
        if let Some((word, field, case)) = key_word(rest) {
            rest = &rest[word.len()..];
            let ordinal = ["TH", "th"].iter().position(|suffix| rest.starts_with(suffix));
            if ordinal.is_some() {
                rest = &rest[2..];
            }
            nodes.push(Node::Field { field, case, word, fill, localized, ordinal: ordinal.map(|o| o == 0) });
            (fill, localized) = (false, false);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '"' => {
                let mut chars = rest.char_indices();
                let mut end = rest.len();
                while let Some((at, c)) = chars.next() {
                    match c {
                        '"' => {
                            end = at + 1;
                            break;
                        }
                        '\\' => {
                            if let Some((_, c)) = chars.next() {
                                nodes.push(Node::Literal(c, true));
                            }
                        }
                        c => nodes.push(Node::Literal(c, true)),
                    }
                }
                rest = &rest[end..];
            }
            '\\' if rest.starts_with('"') => {
                rest = &rest[1..];
                nodes.push(Node::Literal('"', true));
            }
            c => nodes.push(Node::Literal(c, false)),
        }
    }
    nodes
}

/// The key word at the start: in upper or lower case, names also with a capital.
fn key_word(text: &str) -> Option<(&str, Field, Case)> {
    for (word, field) in WORDS {
        let Some(start) = text.get(..word.len()) else { continue };
        if !start.eq_ignore_ascii_case(word) {
            continue;
        }
        if start == *word {
            return Some((start, *field, Case::Upper));
        }
        if start.bytes().all(|b| !b.is_ascii_uppercase()) {
            return Some((start, *field, Case::Lower));
        }
        let is_name = matches!(field, Field::MonthName(_) | Field::DayName(_));
        let mut bytes = start.bytes();
        let title =
            bytes.next().is_some_and(|b| b.is_ascii_uppercase()) && bytes.all(|b| b.is_ascii_lowercase());
        if is_name && title {
            return Some((start, *field, Case::Title));
        }
    }
    None
}

fn cased(name: &str, case: Case) -> String {
    match case {
        Case::Upper => name.to_ascii_uppercase(),
        Case::Title => name.to_owned(),
        Case::Lower => name.to_ascii_lowercase(),
    }
}

/// What is printed: the parts of a local time or of an interval.
struct Moment {
    /// Year; 0 is 1 BC (of an interval: years).
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// Day since 2000-01-01; of an interval, its days with months of 30.
    days: i64,
    zone: String,
    east: i64,
    is_interval: bool,
}

impl Moment {
    fn of_timestamp(local: i64, zone: &str, east: i32) -> Moment {
        let p = Parts::of_timestamp(local);
        Moment {
            year: p.year.into(),
            month: p.month.into(),
            day: p.day.into(),
            hour: p.hour.into(),
            minute: p.minute.into(),
            second: p.second.into(),
            micros: p.micros.into(),
            days: local.div_euclid(datetime::USECS_PER_DAY),
            zone: zone.to_owned(),
            east: east.into(),
            is_interval: false,
        }
    }

    fn of_interval(span: Interval) -> Moment {
        Moment {
            year: (span.months / 12).into(),
            month: (span.months % 12).into(),
            day: span.days.into(),
            hour: span.micros / datetime::USECS_PER_HOUR,
            minute: span.micros / datetime::USECS_PER_MINUTE % 60,
            second: span.micros / datetime::USECS_PER_SEC % 60,
            micros: span.micros % datetime::USECS_PER_SEC,
            days: i64::from(span.months) * 30 + i64::from(span.days),
            zone: String::new(),
            east: 0,
            is_interval: true,
        }
    }

    /// The year as people count it: 1 BC is 1.
    fn shown_year(&self) -> i64 {
        if self.is_interval || self.year > 0 { self.year } else { 1 - self.year }
    }

    fn day_of_year(&self) -> i64 {
        if self.is_interval {
            self.days
        } else {
            self.days - datetime::days_of_ymd(self.year as i32, 1, 1) + 1
        }
    }

    fn iso(&self) -> (i64, i64) {
        let (year, week) = arith::iso_week(self.days);
        (year.into(), week.into())
    }

    fn shown_iso_year(&self) -> i64 {
        let (year, _) = self.iso();
        if self.is_interval || year > 0 { year } else { 1 - year }
    }

    fn write(&self, nodes: &[Node<'_>]) -> Result<String> {
        let mut out = String::new();
        for node in nodes {
            match node {
                Node::Literal(c, _) => out.push(*c),
                Node::Field { field, case, fill, localized, ordinal: suffix, .. } => {
                    let piece = self.field(*field, *case, *fill, *localized)?;
                    let is_number = piece.bytes().last().is_some_and(|b| b.is_ascii_digit());
                    out.push_str(&piece);
                    if let Some(upper) = suffix
                        && is_number
                    {
                        out.push_str(ordinal(&piece, *upper));
                    }
                }
            }
        }
        Ok(out)
    }

    fn only_dates(&self) -> Result<()> {
        if !self.is_interval {
            return Ok(());
        }
        let message = "invalid format specification for an interval value";
        Err(SqlError::new(SqlState::INVALID_DATETIME_FORMAT, message)
            .hint("Intervals are not tied to specific calendar dates."))
    }

    fn field(&self, field: Field, case: Case, fill: bool, localized: bool) -> Result<String> {
        // Zero-padded unless FM stands before; a negative number is one wider.
        let number = |value: i64, width: usize| {
            if fill {
                value.to_string()
            } else {
                format!("{value:0width$}", width = width + usize::from(value < 0))
            }
        };
        let name = |name: &str, full: bool| {
            let name = cased(name, case);
            if full && !fill && !localized { format!("{name:<9}") } else { name }
        };
        let short = |name: &str| name.get(..3).unwrap_or(name).to_owned();
        let sign = |negative: bool| if negative { '-' } else { '+' };
        Ok(match field {
            Field::Meridian(points) => {
                let word = match (self.hour.rem_euclid(24) >= 12, points) {
                    (true, true) => "P.M.",
                    (true, false) => "PM",
                    (false, true) => "A.M.",
                    (false, false) => "AM",
                };
                cased(word, case)
            }
            Field::Era(points) => {
                self.only_dates()?;
                let word = match (self.year <= 0, points) {
                    (true, true) => "B.C.",
                    (true, false) => "BC",
                    (false, true) => "A.D.",
                    (false, false) => "AD",
                };
                cased(word, case)
            }
            Field::Hour24 => number(self.hour, 2),
            Field::Hour12 => {
                let hour = self.hour % 12;
                number(if hour == 0 { 12 } else { hour }, 2)
            }
            Field::Minute => number(self.minute, 2),
            Field::Second => number(self.second, 2),
            Field::Fraction(digits) => {
                let micros = format!("{:06}", self.micros.abs());
                micros.get(..usize::from(digits)).unwrap_or(&micros).to_owned()
            }
            Field::Millisecond => format!("{:03}", self.micros / 1000),
            Field::Microsecond => format!("{:06}", self.micros),
            Field::SecondsOfDay => (self.hour * 3600 + self.minute * 60 + self.second).to_string(),
            Field::Zone => {
                self.only_dates()?;
                if case == Case::Lower { self.zone.to_ascii_lowercase() } else { self.zone.clone() }
            }
            Field::ZoneHour => {
                self.only_dates()?;
                format!("{}{:02}", sign(self.east < 0), self.east.abs() / 3600)
            }
            Field::ZoneMinute => {
                self.only_dates()?;
                format!("{:02}", self.east.abs() / 60 % 60)
            }
            Field::Offset => {
                self.only_dates()?;
                let (hours, minutes) = (self.east.abs() / 3600, self.east.abs() / 60 % 60);
                let hours = if fill { hours.to_string() } else { format!("{hours:02}") };
                let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
                format!("{}{hours}{minutes}", sign(self.east < 0))
            }
            Field::MonthName(full) => {
                self.only_dates()?;
                let month = MONTHS.get((self.month - 1) as usize).unwrap_or(&"");
                if full { name(month, true) } else { name(&short(month), false) }
            }
            Field::DayName(full) => {
                self.only_dates()?;
                let day = DAYS.get(datetime::weekday(self.days) as usize).unwrap_or(&"");
                if full { name(day, true) } else { name(&short(day), false) }
            }
            Field::Month => number(self.month, 2),
            Field::Roman => {
                if self.is_interval && self.month == 0 {
                    return Ok(String::new());
                }
                let place = (self.month - 1).rem_euclid(12) as usize;
                let numeral = cased(ROMAN.get(place).unwrap_or(&""), case);
                if fill { numeral } else { format!("{numeral:<4}") }
            }
            Field::Day => number(self.day, 2),
            Field::DayOfYear => number(self.day_of_year(), 3),
            Field::IsoDayOfYear => {
                let (year, _) = self.iso();
                number(self.days - arith::monday_of_iso_week(year as i32, 1) + 1, 3)
            }
            Field::DayOfWeek => {
                self.only_dates()?;
                (datetime::weekday(self.days) + 1).to_string()
            }
            Field::IsoDayOfWeek => {
                self.only_dates()?;
                ((datetime::weekday(self.days) + 6) % 7 + 1).to_string()
            }
            Field::WeekOfYear => number((self.day_of_year() - 1) / 7 + 1, 2),
            Field::IsoWeek => number(self.iso().1, 2),
            Field::WeekOfMonth => ((self.day - 1) / 7 + 1).to_string(),
            Field::Quarter => {
                if self.month == 0 {
                    return Ok(String::new());
                }
                ((self.month - 1) / 3 + 1).to_string()
            }
            Field::Century => {
                let century = match self.year {
                    year if self.is_interval => year / 100,
                    year if year > 0 => (year - 1) / 100 + 1,
                    // Year 0 is 1 BC, which is in the century -1.
                    year => year / 100 - 1,
                };
                if (-99..=99).contains(&century) { number(century, 2) } else { century.to_string() }
            }
            Field::YearWithComma => {
                let year = self.shown_year();
                format!("{},{:03}", year / 1000, year % 1000)
            }
            Field::Year(4) => number(self.shown_year(), 4),
            Field::Year(digits) => number(self.shown_year() % 10i64.pow(digits.into()), digits.into()),
            Field::IsoYear(4) => number(self.shown_iso_year(), 4),
            Field::IsoYear(digits) => number(self.shown_iso_year() % 10i64.pow(digits.into()), digits.into()),
            Field::Julian => {
                let days = if self.is_interval {
                    // PostgreSQL takes the parts for a date here.
                    datetime::days_of_ymd(self.year as i32, self.month as i32, self.day as i32)
                } else {
                    self.days
                };
                (days + datetime::POSTGRES_EPOCH_JDATE).to_string()
            }
            Field::Exact => String::new(),
        })
    }
}

/// What was read from a text.
#[derive(Default)]
struct Reading {
    hour: i64,
    /// Hours are on the 12-hour clock.
    twelve: bool,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    seconds_of_day: Option<i64>,
    micros: i64,
    year: Option<i64>,
    before_christ: bool,
    century: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    julian: Option<i64>,
    week: Option<i64>,
    week_of_month: Option<i64>,
    weekday: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    iso_day_of_year: Option<i64>,
    zone_hour: Option<i64>,
    zone_minute: i64,
    zone_negative: bool,
}

/// Reads a text by a format (`DCH_from_char`).
struct Reader<'t> {
    rest: &'t str,
    reading: Reading,
}

fn bad_value(value: &str, word: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid value \"{value}\" for \"{word}\""))
}

impl<'t> Reader<'t> {
    fn read(text: &'t str, nodes: &[Node<'_>]) -> Result<Reading> {
        let mut reader = Reader { rest: text, reading: Reading::default() };
        let exact = matches!(nodes.first(), Some(Node::Field { field: Field::Exact, .. }));
        let mut skipped = false;
        for (i, node) in nodes.iter().enumerate() {
            match node {
                Node::Literal(c, in_quotes) => {
                    if exact {
                        reader.skip_one();
                    } else if !in_quotes && is_separator(*c) {
                        // A separator stands for any separator or blank, or for none.
                        if !skipped {
                            reader.rest = reader.rest.trim_start();
                        }
                        if reader.rest.chars().next().is_some_and(is_separator) && !c.is_whitespace() {
                            // A sign before a number is kept where the separator was met already.
                            reader.skip_one();
                        }
                        skipped = true;
                        continue;
                    } else {
                        reader.rest = reader.rest.trim_start();
                        reader.skip_one();
                    }
                }
                Node::Field { field, word, fill, ordinal, .. } => {
                    if !exact {
                        reader.rest = reader.rest.trim_start();
                    }
                    if reader.rest.is_empty() {
                        break;
                    }
                    let next_is_number =
                        matches!(nodes.get(i + 1), Some(Node::Field { field, .. }) if is_number(*field));
                    reader.field(*field, word, *fill || !next_is_number)?;
                    if ordinal.is_some() {
                        reader.skip_one();
                        reader.skip_one();
                    }
                }
            }
            skipped = false;
        }
        Ok(reader.reading)
    }

    fn skip_one(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// A number of at most `len` digits, or of any length if no digit field follows.
    fn number(&mut self, len: usize, open: bool, word: &str) -> Result<i64> {
        let text = self.rest;
        let signed = usize::from(text.starts_with(['-', '+']));
        let digits = text[signed..].bytes().take_while(u8::is_ascii_digit).count();
        let taken = if open { digits } else { digits.min(len.saturating_sub(signed)) };
        if taken == 0 {
            let shown: String = if open {
                text.chars().take_while(|c| !c.is_whitespace()).take(len.max(1)).collect()
            } else {
                text.chars().take(len).collect()
            };
            return Err(bad_value(&shown, word).detail("Value must be an integer."));
        }
        let shown = &text[..signed + taken];
        self.rest = &text[signed + taken..];
        let value = shown.parse::<i64>().ok().filter(|v| i32::try_from(*v).is_ok());
        value.ok_or_else(|| {
            let message = format!("value for \"{word}\" in source string is out of range");
            SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, message).detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })
    }

    /// The place of a name in a list, in any case.
    fn name(&mut self, names: &[&str], full: bool, word: &str) -> Result<usize> {
        for (i, name) in names.iter().enumerate() {
            let name = if full { *name } else { name.get(..3).unwrap_or(name) };
            if let Some(start) = self.rest.get(..name.len())
                && start.eq_ignore_ascii_case(name)
            {
                self.rest = &self.rest[name.len()..];
                return Ok(i);
            }
        }
        let shown: String = self.rest.chars().take_while(|c| !c.is_whitespace()).collect();
        Err(bad_value(&shown, word)
            .detail("The given value did not match any of the allowed values for this field."))
    }

    fn field(&mut self, field: Field, word: &str, open: bool) -> Result<()> {
        match field {
            Field::Exact | Field::Zone | Field::Offset => {
                if field != Field::Exact {
                    let word = word.to_ascii_uppercase();
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!("formatting field \"{word}\" is only supported in to_char"),
                    ));
                }
            }
            Field::Meridian(points) => {
                let names = if points { ["A.M.", "P.M."] } else { ["AM", "PM"] };
                let place = self.name_exact(&names, word)?;
                self.reading.afternoon = Some(place == 1);
                self.reading.twelve = true;
            }
            Field::Era(points) => {
                let names = if points { ["A.D.", "B.C."] } else { ["AD", "BC"] };
                self.reading.before_christ = self.name_exact(&names, word)? == 1;
            }
            Field::Hour12 => {
                self.reading.hour = self.number(2, open, word)?;
                self.reading.twelve = true;
            }
            Field::Hour24 => self.reading.hour = self.number(2, open, word)?,
            Field::Minute => self.reading.minute = self.number(2, open, word)?,
            Field::Second => self.reading.second = self.number(2, open, word)?,
            Field::Millisecond => self.reading.micros = self.fraction(3, word)?,
            Field::Microsecond => self.reading.micros = self.fraction(6, word)?,
            Field::Fraction(digits) => self.reading.micros = self.fraction(digits.into(), word)?,
            Field::SecondsOfDay => self.reading.seconds_of_day = Some(self.number(5, open, word)?),
            Field::ZoneHour => {
                let negative = self.rest.starts_with('-');
                if self.rest.starts_with(['-', '+']) {
                    self.skip_one();
                }
                self.reading.zone_negative = negative;
                self.reading.zone_hour = Some(self.number(2, open, word)?);
            }
            Field::ZoneMinute => self.reading.zone_minute = self.number(2, open, word)?,
            Field::MonthName(full) => self.reading.month = Some(self.name(&MONTHS, full, word)? as i64 + 1),
            Field::DayName(full) => self.reading.weekday = Some(self.name(&DAYS, full, word)? as i64),
            Field::Month => self.reading.month = Some(self.number(2, open, word)?),
            Field::Day => self.reading.day = Some(self.number(2, open, word)?),
            Field::DayOfYear => self.reading.day_of_year = Some(self.number(3, open, word)?),
            Field::IsoDayOfYear => self.reading.iso_day_of_year = Some(self.number(3, open, word)?),
            Field::DayOfWeek => self.reading.weekday = Some(self.number(1, open, word)? - 1),
            Field::IsoDayOfWeek => self.reading.iso_day = Some(self.number(1, open, word)?),
            Field::WeekOfYear => self.reading.week = Some(self.number(2, open, word)?),
            Field::IsoWeek => self.reading.iso_week = Some(self.number(2, open, word)?),
            Field::WeekOfMonth => self.reading.week_of_month = Some(self.number(1, open, word)?),
            // A quarter says nothing that could be used.
            Field::Quarter => {
                self.number(1, open, word)?;
            }
            Field::Century => self.reading.century = Some(self.number(2, open, word)?),
            Field::YearWithComma => {
                let thousands = self.number(9, true, word)?;
                if self.rest.starts_with(',') {
                    self.skip_one();
                }
                let rest = self.number(3, false, word)?;
                self.reading.year = Some(thousands * 1000 + rest);
            }
            Field::Year(digits) => {
                let before = self.rest.len();
                let value = self.number(digits.into(), open, word)?;
                self.reading.year = Some(near_2020(value, before - self.rest.len(), digits));
            }
            Field::IsoYear(digits) => {
                let before = self.rest.len();
                let value = self.number(digits.into(), open, word)?;
                self.reading.iso_year = Some(near_2020(value, before - self.rest.len(), digits));
            }
            Field::Julian => self.reading.julian = Some(self.number(9, true, word)?),
            Field::Roman => {
                let upper = self.rest.to_ascii_uppercase();
                let found =
                    (0..12).rev().filter(|i| upper.starts_with(ROMAN[*i])).max_by_key(|i| ROMAN[*i].len());
                let place = found.ok_or_else(|| {
                    let shown: String = self.rest.chars().take_while(|c| !c.is_whitespace()).collect();
                    bad_value(&shown, word)
                })?;
                self.rest = &self.rest[ROMAN[place].len()..];
                self.reading.month = Some(place as i64 + 1);
            }
        }
        Ok(())
    }

    fn name_exact(&mut self, names: &[&str], word: &str) -> Result<usize> {
        self.name(names, true, word)
    }

    /// Digits of a fraction of a second, in microseconds.
    fn fraction(&mut self, digits: usize, word: &str) -> Result<i64> {
        let before = self.rest.len();
        let value = self.number(digits, false, word)?;
        let taken = before - self.rest.len();
        Ok(value * 10i64.pow(6 - taken.min(6) as u32))
    }
}

/// Years of fewer than four digits lie nearest to 2020 (`adjust_partial_year_to_2020`).
fn near_2020(year: i64, taken: usize, digits: u8) -> i64 {
    if digits >= 4 || taken >= 4 {
        return year;
    }
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        other => other,
    }
}

fn is_separator(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && !c.is_ascii_control() || c.is_whitespace()
}

/// Whether a field is read as digits.
fn is_number(field: Field) -> bool {
    !matches!(
        field,
        Field::Era(_)
            | Field::Meridian(_)
            | Field::MonthName(_)
            | Field::DayName(_)
            | Field::Roman
            | Field::Zone
            | Field::Offset
            | Field::Exact
            | Field::ZoneHour
    )
}

fn out_of_range(text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_FIELD_OVERFLOW,
        format!("date/time field value out of range: \"{text}\""),
    )
}

impl Reading {
    /// The date since 2000-01-01 that was read (`do_to_timestamp`).
    fn date(&self, text: &str) -> Result<i64> {
        if let Some(julian) = self.julian {
            return Ok(julian - datetime::POSTGRES_EPOCH_JDATE);
        }
        if let Some(year) = self.iso_year {
            let week = self.iso_week.unwrap_or(1);
            if let Some(day) = self.iso_day_of_year {
                return Ok(arith::monday_of_iso_week(year as i32, 1) + day - 1);
            }
            if !(1..=53).contains(&week) {
                return Err(out_of_range(text));
            }
            let day = self.iso_day.map_or(0, |d| d - 1);
            return Ok(arith::monday_of_iso_week(year as i32, week as i32) + day);
        }
        let mut year = self.year;
        if let Some(century) = self.century {
            year = Some(match year {
                Some(year) => (century - 1) * 100 + year % 100,
                None if century >= 0 => (century - 1) * 100 + 1,
                None => century * 100 + 1,
            });
        }
        let mut year = year.unwrap_or(0);
        if self.before_christ && year > 0 {
            year = 1 - year;
        } else if year < 0 {
            year += 1;
        }
        if let Some(week) = self.week {
            return Ok(datetime::days_of_ymd(year as i32, 1, 1) + (week - 1) * 7);
        }
        if let Some(day) = self.day_of_year
            && self.month.is_none()
        {
            let length = if datetime::is_leap(year as i32) { 366 } else { 365 };
            if !(1..=length).contains(&day) {
                return Err(out_of_range(text));
            }
            return Ok(datetime::days_of_ymd(year as i32, 1, 1) + day - 1);
        }
        let month = self.month.unwrap_or(1);
        let day = self.day.unwrap_or_else(|| self.week_of_month.map_or(1, |w| (w - 1) * 7 + 1));
        let valid = (1..=12).contains(&month)
            && day >= 1
            && day <= datetime::days_in_month(year as i32, month as i32).into();
        if !valid {
            return Err(out_of_range(text));
        }
        Ok(datetime::days_of_ymd(year as i32, month as i32, day as i32))
    }

    /// The time of day in microseconds.
    fn time(&self, text: &str) -> Result<i64> {
        let (mut hour, mut minute, mut second) = (self.hour, self.minute, self.second);
        if let Some(seconds) = self.seconds_of_day {
            (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        }
        if self.twelve && self.seconds_of_day.is_none() {
            if !(1..=12).contains(&hour) {
                let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
                return Err(SqlError::new(SqlState::INVALID_DATETIME_FORMAT, message)
                    .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            match self.afternoon {
                Some(true) if hour < 12 => hour += 12,
                Some(false) if hour == 12 => hour = 0,
                _ => {}
            }
        }
        let valid = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
        if !valid {
            return Err(out_of_range(text));
        }
        Ok((hour * 3600 + minute * 60 + second) * datetime::USECS_PER_SEC + self.micros)
    }
}

fn to_date(text: &str, format: &str) -> Result<i64> {
    let reading = Reader::read(text, &parse(format))?;
    reading.time(text)?;
    let days = reading.date(text)?;
    if datetime::is_valid_date(days) {
        Ok(days)
    } else {
        Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
    }
}

fn to_timestamp(cx: &EvalContext<'_>, text: &str, format: &str) -> Result<i64> {
    let reading = Reader::read(text, &parse(format))?;
    let days = reading.date(text)?;
    let local =
        days.checked_mul(datetime::USECS_PER_DAY).and_then(|d| d.checked_add(reading.time(text).ok()?));
    reading.time(text)?;
    let local = local.ok_or_else(|| datetime::out_of_range("timestamp"))?;
    match reading.zone_hour {
        Some(hours) => {
            let east = (hours * 3600 + reading.zone_minute * 60) * if reading.zone_negative { -1 } else { 1 };
            Ok(local - east * datetime::USECS_PER_SEC)
        }
        None => arith::timestamp_to_timestamptz(local, &cx.style.time_zone),
    }
}

fn shown<'a>(cx: &EvalContext<'a>, moment: &Moment, format: &str) -> Result<Datum<'a>> {
    Ok(text(cx, &moment.write(&parse(format))?))
}

pub(super) const FUNCTIONS: &[Entry] = &[
    (
        "timestamp_to_char",
        scalar(|cx, _, a| {
            if a[1].as_bytes().is_empty() || datetime::is_infinite(a[0].as_int()) {
                return Ok(Datum::Null);
            }
            shown(cx, &Moment::of_timestamp(a[0].as_int(), "", 0), a[1].as_str())
        }),
    ),
    (
        "timestamptz_to_char",
        scalar(|cx, _, a| {
            let value = a[0].as_int();
            if a[1].as_bytes().is_empty() || datetime::is_infinite(value) {
                return Ok(Datum::Null);
            }
            let moment = zone::with_info(&cx.style.time_zone, value, |east, name| {
                Moment::of_timestamp(value + i64::from(east) * datetime::USECS_PER_SEC, name, east)
            });
            shown(cx, &moment, a[1].as_str())
        }),
    ),
    (
        "interval_to_char",
        scalar(|cx, _, a| {
            if a[1].as_bytes().is_empty() {
                return Ok(Datum::Null);
            }
            shown(cx, &Moment::of_interval(a[0].as_interval()), a[1].as_str())
        }),
    ),
    ("to_date", scalar(|_, _, a| to_date(a[0].as_str(), a[1].as_str()).map(Datum::Int))),
    ("to_timestamp", scalar(|cx, _, a| to_timestamp(cx, a[0].as_str(), a[1].as_str()).map(Datum::Int))),
];
