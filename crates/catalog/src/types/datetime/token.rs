//! The words of date, time and interval input (`datetktbl`, `deltatktbl`).

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Microsecond.
    Microsecond,
    /// Millisecond.
    Millisecond,
    /// Second.
    Second,
    /// Minute.
    Minute,
    /// Hour.
    Hour,
    /// Day.
    Day,
    /// Week.
    Week,
    /// Month.
    Month,
    /// Quarter.
    Quarter,
    /// Year.
    Year,
    /// Decade.
    Decade,
    /// Century.
    Century,
    /// Millennium.
    Millennium,
    /// Julian day.
    Julian,
    /// Day of the week, Sunday 0.
    Dow,
    /// Day of the week, Monday 1 and Sunday 7.
    IsoDow,
    /// Day of the year.
    Doy,
    /// Year of the ISO week.
    IsoYear,
    /// Seconds since 1970.
    Epoch,
    /// UTC offset in seconds.
    Timezone,
    /// Hours of the UTC offset.
    TimezoneHour,
    /// Minutes of the UTC offset.
    TimezoneMinute,
}

/// What a word of a date means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// `at`, `on`
    Ignore,
    /// A month from 1.
    Month(i32),
    /// A day of the week; accepted and not checked, as PostgreSQL does.
    Weekday,
    Am,
    Pm,
    Ad,
    Bc,
    /// `dst`
    DstModifier,
    /// `t`
    IsoTime,
    /// A letter that labels the next number, as in `j2451187`.
    Label(Unit),
    Now,
    Today,
    Tomorrow,
    Yesterday,
    /// `allballs`
    Zulu,
    Epoch,
    Infinity,
    NegInfinity,
}

/// The meaning of a lower-case word in a date or time.
pub(crate) fn find_word(word: &str) -> Option<Word> {
    Some(match word {
        "at" | "on" => Word::Ignore,
        "jan" | "january" => Word::Month(1),
        "feb" | "february" => Word::Month(2),
        "mar" | "march" => Word::Month(3),
        "apr" | "april" => Word::Month(4),
        "may" => Word::Month(5),
        "jun" | "june" => Word::Month(6),
        "jul" | "july" => Word::Month(7),
        "aug" | "august" => Word::Month(8),
        "sep" | "sept" | "september" => Word::Month(9),
        "oct" | "october" => Word::Month(10),
        "nov" | "november" => Word::Month(11),
        "dec" | "december" => Word::Month(12),
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "wednesday" | "weds"
        | "thu" | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat" | "saturday" => Word::Weekday,
        "am" => Word::Am,
        "pm" => Word::Pm,
        "ad" => Word::Ad,
        "bc" => Word::Bc,
        "dst" => Word::DstModifier,
        "t" => Word::IsoTime,
        "y" => Word::Label(Unit::Year),
        "m" => Word::Label(Unit::Month),
        "d" => Word::Label(Unit::Day),
        "h" => Word::Label(Unit::Hour),
        "mm" => Word::Label(Unit::Minute),
        "s" => Word::Label(Unit::Second),
        "j" | "jd" | "julian" => Word::Label(Unit::Julian),
        "dow" => Word::Label(Unit::Dow),
        "isodow" => Word::Label(Unit::IsoDow),
        "doy" => Word::Label(Unit::Doy),
        "isoyear" => Word::Label(Unit::IsoYear),
        "now" => Word::Now,
        "today" => Word::Today,
        "tomorrow" => Word::Tomorrow,
        "yesterday" => Word::Yesterday,
        "allballs" => Word::Zulu,
        "epoch" => Word::Epoch,
        "infinity" => Word::Infinity,
        "-infinity" => Word::NegInfinity,
        _ => return None,
    })
}

/// The unit that a lower-case word of an interval, or the field of `extract` and `date_trunc`, means (`DecodeUnits`).
pub(crate) fn find_unit(word: &str) -> Option<Unit> {
    Some(match word {
        "us" | "usec" | "usecs" | "usecond" | "useconds" => Unit::Microsecond,
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" => Unit::Millisecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "qtr" | "quarter" => Unit::Quarter,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        "dec" | "decs" | "decade" | "decades" => Unit::Decade,
        "c" | "cent" | "century" | "centuries" => Unit::Century,
        "mil" | "mils" | "millennia" | "millennium" => Unit::Millennium,
        "timezone" => Unit::Timezone,
        // PostgreSQL compares the first ten letters.
        _ if word.starts_with("microsecon") => Unit::Microsecond,
        _ if word.starts_with("millisecon") => Unit::Millisecond,
        _ if word.starts_with("timezone_h") => Unit::TimezoneHour,
        _ if word.starts_with("timezone_m") => Unit::TimezoneMinute,
        _ => return None,
    })
}
