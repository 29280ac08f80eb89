//! The settings by which values are printed and read, fixed once per statement.

use jiff::tz::TimeZone;

/// The first word of DateStyle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateStyle {
    /// `2020-01-31 12:00:00+00`
    Iso,
    /// `01/31/2020 12:00:00 UTC`
    Sql,
    /// `Fri Jan 31 12:00:00 2020 UTC`
    Postgres,
    /// `31.01.2020 12:00:00 UTC`
    German,
}

/// The second word of DateStyle: how ambiguous dates are read, and fields ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateOrder {
    /// Month, day, year.
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// IntervalStyle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalStyle {
    /// `1 year 2 mons 3 days 04:05:06`
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    PostgresVerbose,
    /// `+1-2 +3 +4:05:06`
    SqlStandard,
    /// `P1Y2M3DT4H5M6S`
    Iso8601,
}

/// How bytea is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteaOutput {
    /// `\x6162`
    Hex,
    /// `ab\\001`
    Escape,
}

/// Every setting that changes what a value's text is.
#[derive(Clone, Debug)]
pub struct Style {
    /// DateStyle, first word.
    pub date_style: DateStyle,
    /// DateStyle, second word.
    pub date_order: DateOrder,
    /// IntervalStyle.
    pub interval_style: IntervalStyle,
    /// bytea_output.
    pub bytea_output: ByteaOutput,
    /// extra_float_digits, -15 to 3; above 0 means shortest exact.
    pub extra_float_digits: i32,
    /// TimeZone, resolved.
    pub time_zone: TimeZone,
    /// TimeZone as `SHOW timezone` prints it.
    pub time_zone_name: String,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            date_style: DateStyle::Iso,
            date_order: DateOrder::Mdy,
            interval_style: IntervalStyle::Postgres,
            bytea_output: ByteaOutput::Hex,
            extra_float_digits: 1,
            time_zone: TimeZone::UTC,
            time_zone_name: "Etc/UTC".into(),
        }
    }
}
