//! Reading of dates, times and timestamps from their fields (`DecodeDateTime`, `DecodeTimeOnly`).

use super::iso::iso;
use super::lex::{Field, FieldKind, lex};
use super::scan::{decode_offset, decode_time, fraction, int, time_overflows};
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
use DateTimeError::{BadFormat, FieldOverflow, MonthDayOverflow, UnknownZone};

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
