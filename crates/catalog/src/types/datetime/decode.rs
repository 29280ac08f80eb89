//! Reading of dates, times and timestamps from their fields (`DecodeDateTime`, `DecodeTimeOnly`).

use super::lex::{Field, FieldKind, lex};
use super::token::{Unit, Word, find_word};
use super::zone;
use super::*;
use crate::DateOrder;
use crate::types::InputContext;
use jiff::tz::TimeZone;

/// What a text says.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Set where the text is `epoch` or `infinity`; the rest is meaningless then.
    pub special: Option<Special>,
    /// Date and time; second 60 and hour 24 run over.
    pub parts: Parts,
    /// Seconds east of UTC: the zone of the text, else the session's.
    pub offset: i32,
}

/// Texts that are no broken-down time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// `epoch`
    Epoch,
    /// `infinity`
    Infinity,
    /// `-infinity`
    NegInfinity,
}

type Result<T> = std::result::Result<T, DateTimeError>;
use DateTimeError::{BadFormat, FieldOverflow, MonthDayOverflow, UnknownZone, ZoneOverflow};

// Which fields are known already, as bits.
const YEAR: u32 = 1;
const MONTH: u32 = 1 << 1;
const DAY: u32 = 1 << 2;
const HOUR: u32 = 1 << 3;
const MINUTE: u32 = 1 << 4;
const SECOND: u32 = 1 << 5;
const ZONE: u32 = 1 << 6;
const DST_ZONE: u32 = 1 << 7;
const DST_MODIFIER: u32 = 1 << 8;
const DAY_OF_YEAR: u32 = 1 << 9;
const AM_PM: u32 = 1 << 10;
const ERA: u32 = 1 << 11;
const WEEKDAY: u32 = 1 << 12;
const RESERVED: u32 = 1 << 13;
const DATE: u32 = YEAR | MONTH | DAY;
const TIME: u32 = HOUR | MINUTE | SECOND;

/// What the next number is said to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    None,
    Unit(Unit),
    /// After `t`.
    Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meridian {
    None,
    Am,
    Pm,
}

struct Decoder<'a> {
    style: &'a crate::Style,
    now: i64,
    parts: Parts,
    day_of_year: i32,
    known: u32,
    label: Label,
    text_month: bool,
    julian: bool,
    short_year: bool,
    bc: bool,
    meridian: Meridian,
    offset: i32,
    named_zone: Option<TimeZone>,
    special: Option<Special>,
}

/// Reads a date or timestamp. All types read a zone; those that have none ignore it.
pub fn decode_date_time(text: &str, cx: &InputContext<'_>) -> Result<Decoded> {
    if let Some(decoded) = iso(text.as_bytes(), cx) {
        return Ok(decoded);
    }
    let fields = lex(text)?;
    let mut decoder = Decoder::new(cx);
    for i in 0..fields.len() {
        let known = decoder.date_time_field(&fields, i)?;
        decoder.mark(known)?;
    }
    decoder.finish_date()?;
    decoder.apply_meridian()?;
    if decoder.special.is_none() {
        decoder.finish_date_time()?;
    }
    Ok(Decoded { special: decoder.special, parts: decoder.parts, offset: decoder.offset })
}

/// `12:34:56.789` and nothing else, in microseconds; other texts need `decode_time_only`.
pub fn iso_time_of_day(text: &str) -> Option<i64> {
    let mut parts = Parts::default();
    iso_time(text.as_bytes(), &mut parts)?.is_empty().then(|| parts.time())
}

/// Reads a time of day with an optional zone; the types that have none ignore it.
pub fn decode_time_only(text: &str, cx: &InputContext<'_>) -> Result<Decoded> {
    let fields = lex(text)?;
    let mut decoder = Decoder::new(cx);
    let mut kinds: Vec<FieldKind> = fields.iter().map(|f| f.kind).collect();
    for i in 0..fields.len() {
        let known = decoder.time_field(&fields, &mut kinds, i)?;
        decoder.mark(known)?;
    }
    decoder.finish_date()?;
    decoder.apply_meridian()?;
    if time_overflows(&decoder.parts) {
        return Err(FieldOverflow);
    }
    if decoder.known & TIME != TIME {
        return Err(BadFormat);
    }
    decoder.finish_time_zone()?;
    Ok(Decoded { special: None, parts: decoder.parts, offset: decoder.offset })
}

/// `2020-01-31`, `2020-01-31 12:30:45.5`, and those with an offset: what nearly all texts are. Whatever is not quite so goes the long
/// way, errors too.
fn iso(text: &[u8], cx: &InputContext<'_>) -> Option<Decoded> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else { return None };
    let mut parts = Parts {
        year: two(y0, y1)? * 100 + two(y2, y3)?,
        month: two(m0, m1)?,
        day: two(d0, d1)?,
        ..Parts::default()
    };
    let is_date = parts.year > 0
        && (1..=12).contains(&parts.month)
        && parts.day >= 1
        && parts.day <= days_in_month(parts.year, parts.month);
    if !is_date {
        return None;
    }
    let mut offset = None;
    if let [b' ' | b'T', rest @ ..] = rest {
        let rest = iso_time(rest, &mut parts)?;
        offset = match rest {
            [] => None,
            [b'Z'] => Some((b'+', 0, 0)),
            [sign @ (b'+' | b'-'), h0, h1] => Some((*sign, two(*h0, *h1)?, 0)),
            [sign @ (b'+' | b'-'), h0, h1, b':', n0, n1] => {
                Some((*sign, two(*h0, *h1)?, two(*n0, *n1).filter(|n| *n < 60)?))
            }
            _ => return None,
        }
        .map(|(sign, hour, minute)| (hour * 60 + minute) * if sign == b'-' { -60 } else { 60 });
        if offset.is_some_and(|o| o.abs() >= 16 * 3600) {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    let offset = match offset {
        Some(offset) => offset,
        None => {
            let midnight = days_of_ymd(parts.year, parts.month, parts.day) * USECS_PER_DAY;
            zone::offset_of_local(&cx.style.time_zone, midnight + parts.time())
        }
    };
    Some(Decoded { special: None, parts, offset })
}

/// `12:34:56` with up to six digits of a fraction, hours below 24; what follows.
fn iso_time<'a>(text: &'a [u8], parts: &mut Parts) -> Option<&'a [u8]> {
    let (time, mut rest) = text.split_first_chunk::<8>()?;
    let [h0, h1, b':', n0, n1, b':', s0, s1] = *time else { return None };
    (parts.hour, parts.minute, parts.second) = (two(h0, h1)?, two(n0, n1)?, two(s0, s1)?);
    if parts.hour > 23 || parts.minute > 59 || parts.second > 59 {
        return None;
    }
    if let [b'.', digits @ ..] = rest {
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=6).contains(&count) {
            return None;
        }
        let (digits, after) = digits.split_at(count);
        let value = digits.iter().fold(0, |value, b| value * 10 + i32::from(b - b'0'));
        parts.micros = value * 10i32.pow(6 - count as u32);
        rest = after;
    }
    Some(rest)
}

fn two(high: u8, low: u8) -> Option<i32> {
    let valid = high.is_ascii_digit() && low.is_ascii_digit();
    valid.then(|| i32::from(high - b'0') * 10 + i32::from(low - b'0'))
}

impl<'a> Decoder<'a> {
    fn new(cx: &InputContext<'a>) -> Self {
        Decoder {
            style: cx.style,
            now: cx.now,
            parts: Parts::default(),
            day_of_year: 0,
            known: 0,
            label: Label::None,
            text_month: false,
            julian: false,
            short_year: false,
            bc: false,
            meridian: Meridian::None,
            offset: 0,
            named_zone: None,
            special: None,
        }
    }

    fn mark(&mut self, fields: u32) -> Result<()> {
        if self.known & fields != 0 {
            return Err(BadFormat);
        }
        self.known |= fields;
        Ok(())
    }

    /// One field of a date or timestamp; says which fields it made known.
    fn date_time_field(&mut self, fields: &[Field], i: usize) -> Result<u32> {
        let text = fields[i].text.as_str();
        match fields[i].kind {
            FieldKind::Date => {
                if self.label == Label::Unit(Unit::Julian) {
                    let (day, rest) = int(text)?;
                    self.set_julian(day)?;
                    self.offset = decode_offset(rest)?;
                    self.label = Label::None;
                    return Ok(DATE | TIME | ZONE);
                }
                if self.label == Label::None && self.known & (MONTH | DAY) != MONTH | DAY {
                    return self.date(text);
                }
                if !text.starts_with(|c: char| c.is_ascii_digit()) && self.label == Label::None {
                    self.named_zone = Some(zone::by_name(text).ok_or_else(|| UnknownZone(text.into()))?);
                    return Ok(ZONE);
                }
                if !matches!(self.label, Label::None | Label::Time) {
                    return Err(BadFormat);
                }
                self.label = Label::None;
                if self.known & TIME == TIME {
                    return Err(BadFormat);
                }
                self.joined_time_and_offset(text, self.known)
            }
            FieldKind::Time => {
                if !matches!(self.label, Label::None | Label::Time) {
                    return Err(BadFormat);
                }
                self.label = Label::None;
                decode_time(text, &mut self.parts)?;
                if time_overflows(&self.parts) {
                    return Err(FieldOverflow);
                }
                Ok(TIME)
            }
            FieldKind::Signed => {
                self.offset = decode_offset(text)?;
                Ok(ZONE)
            }
            FieldKind::Number if self.label != Label::None => self.labelled_number(text, self.known | DATE),
            FieldKind::Number => {
                let point = text.find('.');
                if point.is_some() && self.known & DATE == 0 {
                    self.date(text)
                } else if point.is_some_and(|at| at > 2)
                    || (point.is_none()
                        && text.len() >= 6
                        && (self.known & DATE == 0 || self.known & TIME == 0))
                {
                    self.number_field(text, self.known).map(|(known, _)| known)
                } else {
                    self.number(text, self.text_month, self.known)
                }
            }
            FieldKind::Word | FieldKind::Special => match zone::abbreviation(text) {
                Some(abbreviation) => self.zone_abbreviation(abbreviation),
                None => match find_word(text) {
                    Some(word) => self.date_time_word(word, fields, i),
                    None => self.zone_word(text),
                },
            },
        }
    }

    fn date_time_word(&mut self, word: Word, fields: &[Field], i: usize) -> Result<u32> {
        match word {
            Word::Now => {
                self.special = None;
                self.offset = zone::offset_at(&self.style.time_zone, self.now);
                self.parts = Parts::of_timestamp(self.now + i64::from(self.offset) * USECS_PER_SEC);
                Ok(DATE | TIME | ZONE)
            }
            Word::Today => self.relative_day(0),
            Word::Tomorrow => self.relative_day(1),
            Word::Yesterday => self.relative_day(-1),
            Word::Zulu => {
                self.set_time(0, 0, 0, 0);
                self.offset = 0;
                Ok(TIME | ZONE)
            }
            Word::Epoch => self.set_special(Special::Epoch),
            Word::Infinity => self.set_special(Special::Infinity),
            Word::NegInfinity => self.set_special(Special::NegInfinity),
            Word::Month(month) => {
                // A number taken for the month before turns out to be the day.
                let taken = self.known & MONTH != 0 && !self.text_month && self.known & DAY == 0;
                let mut known = MONTH;
                if taken && (1..=31).contains(&self.parts.month) {
                    self.parts.day = self.parts.month;
                    known = DAY;
                }
                self.text_month = true;
                self.parts.month = month;
                Ok(known)
            }
            Word::IsoTime => {
                if self.known & DATE != DATE {
                    return Err(BadFormat);
                }
                self.iso_time(fields.get(i + 1).map(|f| f.kind))
            }
            other => self.common_word(other),
        }
    }

    /// Words that mean the same in a date and in a time alone.
    fn common_word(&mut self, word: Word) -> Result<u32> {
        match word {
            Word::Ignore => Ok(0),
            Word::DstModifier => {
                self.offset += 3600;
                Ok(DST_MODIFIER | DST_ZONE)
            }
            Word::Am | Word::Pm => {
                self.meridian = if word == Word::Am { Meridian::Am } else { Meridian::Pm };
                Ok(AM_PM)
            }
            Word::Ad | Word::Bc => {
                self.bc = word == Word::Bc;
                Ok(ERA)
            }
            Word::Weekday => Ok(WEEKDAY),
            Word::Label(unit) => {
                self.label = Label::Unit(unit);
                Ok(0)
            }
            _ => Err(BadFormat),
        }
    }

    fn iso_time(&mut self, next: Option<FieldKind>) -> Result<u32> {
        match next {
            Some(FieldKind::Number | FieldKind::Time | FieldKind::Date) => {
                self.label = Label::Time;
                Ok(0)
            }
            _ => Err(BadFormat),
        }
    }

    fn zone_abbreviation(&mut self, abbreviation: zone::Abbreviation) -> Result<u32> {
        self.offset = abbreviation.seconds_east;
        Ok(if abbreviation.is_dst { ZONE | DST_ZONE } else { ZONE })
    }

    /// A word that is nothing else may be the name of a zone.
    fn zone_word(&mut self, text: &str) -> Result<u32> {
        self.named_zone = Some(zone::by_name(text).ok_or(BadFormat)?);
        Ok(ZONE)
    }

    fn set_special(&mut self, special: Special) -> Result<u32> {
        self.special = Some(special);
        Ok(RESERVED)
    }

    fn set_time(&mut self, hour: i32, minute: i32, second: i32, micros: i32) {
        (self.parts.hour, self.parts.minute, self.parts.second, self.parts.micros) =
            (hour, minute, second, micros);
    }

    /// Today's local date, as day number.
    fn today(&self) -> i64 {
        let offset = zone::offset_at(&self.style.time_zone, self.now);
        (self.now + i64::from(offset) * USECS_PER_SEC).div_euclid(USECS_PER_DAY)
    }

    fn relative_day(&mut self, days: i64) -> Result<u32> {
        self.special = None;
        (self.parts.year, self.parts.month, self.parts.day) = ymd_of_days(self.today() + days);
        Ok(DATE)
    }

    fn set_julian(&mut self, day: i32) -> Result<()> {
        if day < 0 {
            return Err(FieldOverflow);
        }
        (self.parts.year, self.parts.month, self.parts.day) =
            ymd_of_days(i64::from(day) - POSTGRES_EPOCH_JDATE);
        self.julian = true;
        Ok(())
    }

    /// `040506-08`: a time and an offset in one field.
    fn joined_time_and_offset(&mut self, text: &str, known: u32) -> Result<u32> {
        let at = text.find('-').ok_or(BadFormat)?;
        self.offset = decode_offset(&text[at..])?;
        let (fields, _) = self.number_field(&text[..at], known)?;
        Ok(fields | ZONE)
    }

    /// A number after a label: `j2451187`, `y2001`, `t040506`.
    fn labelled_number(&mut self, text: &str, known_for_time: u32) -> Result<u32> {
        let label = std::mem::replace(&mut self.label, Label::None);
        if label == Label::Time {
            let (known, _) = self.number_field(text, known_for_time)?;
            return if known == TIME { Ok(known) } else { Err(BadFormat) };
        }
        let Label::Unit(unit) = label else { return Err(BadFormat) };
        let (value, rest) = int(text)?;
        if !(rest.is_empty() || (rest.starts_with('.') && matches!(unit, Unit::Julian | Unit::Second))) {
            return Err(BadFormat);
        }
        match unit {
            Unit::Year => self.parts.year = value,
            // `m` after an hour is minutes.
            Unit::Month if self.known & MONTH != 0 && self.known & HOUR != 0 => {
                self.parts.minute = value;
                return Ok(MINUTE);
            }
            Unit::Month => self.parts.month = value,
            Unit::Day => self.parts.day = value,
            Unit::Hour => self.parts.hour = value,
            Unit::Minute => self.parts.minute = value,
            Unit::Second => {
                self.parts.second = value;
                self.parts.micros = fraction(rest)?;
            }
            Unit::Julian => {
                self.set_julian(value)?;
                if rest.is_empty() {
                    return Ok(DATE);
                }
                let fraction: f64 = rest.parse().map_err(|_| BadFormat)?;
                let time = Parts::of_time((fraction * USECS_PER_DAY as f64) as i64);
                self.set_time(time.hour, time.minute, time.second, time.micros);
                return Ok(DATE | TIME);
            }
            _ => return Err(BadFormat),
        }
        Ok(match unit {
            Unit::Year => YEAR,
            Unit::Month => MONTH,
            Unit::Day => DAY,
            Unit::Hour => HOUR,
            Unit::Minute => MINUTE,
            _ => SECOND,
        })
    }

    /// A date with delimiters (`DecodeDate`).
    fn date(&mut self, text: &str) -> Result<u32> {
        let mut words: Vec<&str> = Vec::with_capacity(3);
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            let Some(first) = rest.bytes().next() else {
                // Nothing may follow a separator but a field; a text that is used up is fine.
                break;
            };
            let same =
                |c: char| if first.is_ascii_digit() { c.is_ascii_digit() } else { c.is_ascii_alphabetic() };
            let end = rest.find(|c: char| !same(c)).unwrap_or(rest.len());
            words.push(&rest[..end]);
            // One character after a field goes with it.
            let skip = rest[end..].chars().next().map_or(0, char::len_utf8);
            rest = &rest[end + skip..];
            if rest.is_empty() {
                break;
            }
            if rest.bytes().all(|b| !b.is_ascii_alphanumeric()) {
                return Err(BadFormat);
            }
        }
        let mut known = self.known;
        let mut text_month = false;
        for word in words.iter().filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic())) {
            match find_word(word) {
                Some(Word::Ignore) => continue,
                Some(Word::Month(month)) => {
                    self.parts.month = month;
                    text_month = true;
                }
                _ => return Err(BadFormat),
            }
            if known & MONTH != 0 {
                return Err(BadFormat);
            }
            known |= MONTH;
        }
        for word in words.iter().filter(|w| w.starts_with(|c: char| c.is_ascii_digit())) {
            let fields = self.number(word, text_month, known)?;
            if known & fields != 0 {
                return Err(BadFormat);
            }
            known |= fields;
        }
        if known & !(DAY_OF_YEAR | ZONE) != DATE {
            return Err(BadFormat);
        }
        Ok(known & !self.known)
    }

    /// One number, by what is known already and the order of DateStyle (`DecodeNumber`).
    fn number(&mut self, text: &str, text_month: bool, known: u32) -> Result<u32> {
        let (value, rest) = int(text)?;
        if rest.len() == text.len() {
            return Err(BadFormat);
        }
        if rest.starts_with('.') {
            if text.len() - rest.len() > 2 {
                return self.number_field(text, known | DATE).map(|(fields, _)| fields);
            }
            self.parts.micros = fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(BadFormat);
        }
        if text.len() == 3 && known & DATE == YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(DAY_OF_YEAR | MONTH | DAY);
        }
        let order = self.style.date_order;
        let field = match known & DATE {
            0 if text.len() >= 3 || order == DateOrder::Ymd => YEAR,
            0 if order == DateOrder::Dmy => DAY,
            0 => MONTH,
            YEAR => MONTH,
            MONTH if text_month && (text.len() >= 3 || order == DateOrder::Ymd) => YEAR,
            MONTH => DAY,
            known if known == YEAR | MONTH => {
                if text_month && text.len() >= 3 && self.short_year {
                    // The first number was the day after all.
                    self.parts.day = self.parts.year;
                    self.parts.year = value;
                    self.short_year = false;
                    return Ok(DAY);
                }
                DAY
            }
            DAY => MONTH,
            known if known == MONTH | DAY => YEAR,
            DATE => return self.number_field(text, known).map(|(fields, _)| fields),
            _ => return Err(BadFormat),
        };
        match field {
            YEAR => {
                self.parts.year = value;
                self.short_year = text.len() <= 2;
            }
            MONTH => self.parts.month = value,
            _ => self.parts.day = value,
        }
        Ok(field)
    }

    /// Digits run together: a date `20200131` or a time `040506.5` (`DecodeNumberField`). Also says which of the two it was.
    fn number_field(&mut self, text: &str, known: u32) -> Result<(u32, FieldKind)> {
        let (digits, fraction_text) = match text.find('.') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let part =
            |from: usize, to: usize| digits.get(from..to).and_then(|d| int(d).ok()).map_or(0, |(v, _)| v);
        let len = digits.len();
        if !fraction_text.is_empty() {
            self.parts.micros = fraction(fraction_text)?;
        } else if known & DATE != DATE && len >= 6 {
            self.parts.day = part(len - 2, len);
            self.parts.month = part(len - 4, len - 2);
            self.parts.year = digits.get(..len - 4).map(int).transpose()?.map_or(0, |(v, _)| v);
            if len == 6 {
                self.short_year = true;
            }
            return Ok((DATE, FieldKind::Date));
        }
        if known & TIME != TIME && (len == 6 || len == 4) {
            (self.parts.hour, self.parts.minute) = (part(0, 2), part(2, 4));
            self.parts.second = if len == 6 { part(4, 6) } else { 0 };
            return Ok((TIME, FieldKind::Time));
        }
        Err(BadFormat)
    }

    /// Checks the date and resolves eras, short years and days of the year (`ValidateDate`).
    fn finish_date(&mut self) -> Result<()> {
        let p = &mut self.parts;
        if self.known & YEAR != 0 && !self.julian {
            if self.bc {
                if p.year <= 0 {
                    return Err(FieldOverflow);
                }
                p.year = 1 - p.year;
            } else if self.short_year {
                match p.year {
                    ..0 => return Err(FieldOverflow),
                    0..70 => p.year += 2000,
                    70..100 => p.year += 1900,
                    _ => {}
                }
            } else if p.year <= 0 {
                return Err(FieldOverflow);
            }
        }
        if self.known & DAY_OF_YEAR != 0 {
            (p.year, p.month, p.day) = ymd_of_days(days_of_ymd(p.year, 1, self.day_of_year));
        }
        if self.known & MONTH != 0 && !(1..=12).contains(&p.month) {
            return Err(MonthDayOverflow);
        }
        if self.known & DAY != 0 && !(1..=31).contains(&p.day) {
            return Err(MonthDayOverflow);
        }
        if self.known & DATE == DATE && p.day > days_in_month(p.year, p.month) {
            return Err(FieldOverflow);
        }
        Ok(())
    }

    fn apply_meridian(&mut self) -> Result<()> {
        let hour = &mut self.parts.hour;
        match self.meridian {
            Meridian::None => {}
            Meridian::Am | Meridian::Pm if *hour > 12 => return Err(FieldOverflow),
            Meridian::Am if *hour == 12 => *hour = 0,
            Meridian::Pm if *hour != 12 => *hour += 12,
            Meridian::Am | Meridian::Pm => {}
        }
        Ok(())
    }

    fn local(&self) -> i64 {
        let p = &self.parts;
        days_of_ymd(p.year, p.month, p.day).saturating_mul(USECS_PER_DAY).saturating_add(p.time())
    }

    fn finish_date_time(&mut self) -> Result<()> {
        if self.known & DATE != DATE {
            return Err(BadFormat);
        }
        let zone = match &self.named_zone {
            Some(zone) => zone,
            None if self.known & ZONE == 0 => &self.style.time_zone,
            None => return Ok(()),
        };
        if self.known & DST_MODIFIER != 0 {
            return Err(BadFormat);
        }
        self.offset = zone::offset_of_local(zone, self.local());
        Ok(())
    }

    /// One field of a time; says which fields it made known.
    fn time_field(&mut self, fields: &[Field], kinds: &mut [FieldKind], i: usize) -> Result<u32> {
        let text = fields[i].text.as_str();
        let last_is_date = kinds.len() >= 2 && kinds.last() == Some(&FieldKind::Date);
        match fields[i].kind {
            FieldKind::Date => {
                if i == 0 && (last_is_date || kinds.get(1) == Some(&FieldKind::Time)) {
                    return self.date(text);
                }
                if !text.starts_with(|c: char| c.is_ascii_digit()) {
                    self.named_zone = Some(zone::by_name(text).ok_or_else(|| UnknownZone(text.into()))?);
                    kinds[i] = FieldKind::Signed;
                    return Ok(ZONE);
                }
                if self.known & TIME == TIME {
                    return Err(BadFormat);
                }
                kinds[i] = FieldKind::Time;
                self.joined_time_and_offset(text, self.known | DATE)
            }
            FieldKind::Time => {
                self.label = Label::None;
                decode_time(text, &mut self.parts)?;
                Ok(TIME)
            }
            FieldKind::Signed => {
                self.offset = decode_offset(text)?;
                Ok(ZONE)
            }
            FieldKind::Number if self.label != Label::None => self.labelled_number(text, self.known | DATE),
            FieldKind::Number => {
                let point = text.find('.');
                if point.is_some() && i == 0 && last_is_date {
                    self.date(text)
                } else if point.is_some_and(|at| at > 2) || (point.is_none() && text.len() > 4) {
                    let (known, kind) = self.number_field(text, self.known | DATE)?;
                    kinds[i] = kind;
                    Ok(known)
                } else if point.is_some() {
                    Err(BadFormat)
                } else {
                    self.number(text, false, self.known | DATE)
                }
            }
            FieldKind::Word | FieldKind::Special => match zone::abbreviation(text) {
                Some(abbreviation) => self.zone_abbreviation(abbreviation),
                None => match find_word(text) {
                    Some(Word::Now) => {
                        let offset = zone::offset_at(&self.style.time_zone, self.now);
                        let now = Parts::of_timestamp(self.now + i64::from(offset) * USECS_PER_SEC);
                        self.set_time(now.hour, now.minute, now.second, now.micros);
                        Ok(TIME)
                    }
                    Some(Word::Zulu) => {
                        self.set_time(0, 0, 0, 0);
                        self.offset = 0;
                        Ok(TIME | ZONE)
                    }
                    Some(Word::IsoTime) => self.iso_time(kinds.get(i + 1).copied()),
                    Some(Word::Weekday) => Err(BadFormat),
                    Some(word) => self.common_word(word),
                    None => self.zone_word(text),
                },
            },
        }
    }

    fn finish_time_zone(&mut self) -> Result<()> {
        let has_date = self.known & DATE == DATE;
        let mut parts = self.parts;
        let zone = match &self.named_zone {
            Some(zone) => {
                if self.known & DST_MODIFIER != 0 {
                    return Err(BadFormat);
                }
                if let Some(offset) = zone::only_offset(zone) {
                    self.offset = offset;
                    return Ok(());
                }
                if !has_date {
                    return Err(BadFormat);
                }
                zone
            }
            None if self.known & ZONE == 0 => {
                if self.known & DST_MODIFIER != 0 || (!has_date && self.known & DATE != 0) {
                    return Err(BadFormat);
                }
                if !has_date {
                    (parts.year, parts.month, parts.day) = ymd_of_days(self.today());
                }
                &self.style.time_zone
            }
            None => return Ok(()),
        };
        let days = days_of_ymd(parts.year, parts.month, parts.day);
        self.offset =
            zone::offset_of_local(zone, days.saturating_mul(USECS_PER_DAY).saturating_add(parts.time()));
        Ok(())
    }
}

/// C's `strtoint`: an optional sign and digits, and what follows them; no digits read as 0.
pub(crate) fn int(text: &str) -> Result<(i32, &str)> {
    let (value, rest) = int64(text)?;
    Ok((i32::try_from(value).map_err(|_| FieldOverflow)?, rest))
}

/// As `int`, 64 bits.
pub(crate) fn int64(text: &str) -> Result<(i64, &str)> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return Ok((0, text));
    }
    let mut value: i64 = 0;
    for b in digits[..end].bytes() {
        let digit = i64::from(b - b'0');
        let next = value.checked_mul(10);
        value = next
            .and_then(|v| if negative { v.checked_sub(digit) } else { v.checked_add(digit) })
            .ok_or(FieldOverflow)?;
    }
    Ok((value, &digits[end..]))
}

/// Microseconds of a fraction of a second with its point (`ParseFractionalSecond`).
fn fraction(text: &str) -> Result<i32> {
    if text.is_empty() || text == "." {
        return Ok(0);
    }
    let value: f64 = text.parse().map_err(|_| BadFormat)?;
    Ok((value * 1_000_000.0).round_ties_even() as i32)
}

/// `hh:mm`, `hh:mm:ss.f`, or `mm:ss.f` (`DecodeTime`).
fn decode_time(text: &str, parts: &mut Parts) -> Result<()> {
    let (hour, rest) = int(text)?;
    let rest = rest.strip_prefix(':').ok_or(BadFormat)?;
    let (minute, rest) = int(rest)?;
    (parts.hour, parts.minute, parts.second, parts.micros) = (hour, minute, 0, 0);
    if rest.starts_with('.') {
        (parts.hour, parts.minute, parts.second) = (0, hour, minute);
        parts.micros = fraction(rest)?;
    } else if let Some(rest) = rest.strip_prefix(':') {
        let (second, rest) = int(rest)?;
        parts.second = second;
        if rest.starts_with('.') {
            parts.micros = fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(BadFormat);
        }
    } else if !rest.is_empty() {
        return Err(BadFormat);
    }
    let in_range = parts.hour >= 0 && (0..60).contains(&parts.minute) && (0..=60).contains(&parts.second);
    if in_range { Ok(()) } else { Err(FieldOverflow) }
}

/// More than 24 hours, or a part out of its range (`time_overflows`).
fn time_overflows(parts: &Parts) -> bool {
    !(0..=24).contains(&parts.hour)
        || !(0..60).contains(&parts.minute)
        || !(0..=60).contains(&parts.second)
        || !(0..=1_000_000).contains(&parts.micros)
        || parts.time() > USECS_PER_DAY
}

/// A UTC offset with its sign, in seconds east (`DecodeTimezone`).
pub(super) fn decode_offset(text: &str) -> Result<i32> {
    let negative = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(BadFormat),
    };
    let digits = |text| int(text).map_err(|_| ZoneOverflow);
    let (mut hour, mut rest) = digits(&text[1..])?;
    let (mut minute, mut second) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minute, rest) = digits(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (second, rest) = digits(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hour, minute) = (hour / 100, hour % 100);
    }
    if !(0..=15).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
        return Err(ZoneOverflow);
    }
    let offset = (hour * 60 + minute) * 60 + second;
    if rest.is_empty() { Ok(if negative { -offset } else { offset }) } else { Err(BadFormat) }
}
