//! Settings whose values have a form of their own (their check hooks in PostgreSQL), and values that pgfusion cannot honour.

use super::value::{invalid, split_identifiers};
use catalog::{DateOrder, DateStyle, Result, SqlError, SqlState, Style};
use jiff::tz::{Offset, TimeZone};

/// Checks a value of a setting by its canonical name (which is also the one in its errors, as with PostgreSQL's check hooks) beyond its
/// type; gives the form in which it is kept.
pub fn check(setting: &str, value: String, style: &Style) -> Result<String> {
    let name = setting;
    let only = |allowed: &[&str]| {
        if allowed.iter().any(|a| a.eq_ignore_ascii_case(&value)) {
            return Ok(value.clone());
        }
        Err(SqlError::unsupported(format_args!("setting parameter \"{setting}\" to \"{value}\"")))
    };
    match setting {
        "DateStyle" => {
            let (words, order) = date_style(name, &value, style)?;
            return Ok(format!("{}, {}", date_style_word(words), date_order_word(order)));
        }
        "TimeZone" | "log_timezone" => {
            return time_zone(&value).map(|(_, shown)| shown).ok_or_else(|| invalid(setting, &value));
        }
        "client_encoding" => {
            let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
            return match plain.to_ascii_lowercase().as_str() {
                "utf8" | "unicode" => Ok("UTF8".into()),
                known if is_encoding(known) => {
                    Err(SqlError::unsupported(format_args!("client_encoding \"{value}\"")))
                }
                _ => Err(invalid(name, &value)),
            };
        }
        "search_path" if split_identifiers(&value).is_none() => {
            return Err(invalid(name, &value).detail("List syntax is invalid."));
        }
        "application_name" | "cluster_name" => {
            // pg_clean_ascii
            return Ok(value.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }).collect());
        }
        "default_tablespace" if !value.is_empty() && value != "pg_default" => {
            return Err(invalid(name, &value).detail(format!("Tablespace \"{value}\" does not exist.")));
        }
        "default_table_access_method" if value != "heap" => {
            return Err(
                invalid(name, &value).detail(format!("Table access method \"{value}\" does not exist."))
            );
        }
        "timezone_abbreviations" if value != "Default" => {
            return Err(invalid(name, &value));
        }
        "lc_messages" | "lc_monetary" | "lc_numeric" | "lc_time" => {
            if !["", "C", "POSIX", "C.UTF-8", "en_US.UTF-8", "en_US.utf8"].contains(&value.as_str()) {
                return Err(invalid(name, &value));
            }
            if !["", "C", "POSIX", "C.UTF-8"].contains(&value.as_str()) && setting != "lc_messages" {
                return only(&["C", "POSIX"]);
            }
        }
        // What follows would change what statements mean, and pgfusion knows one meaning only.
        "standard_conforming_strings" | "array_nulls" => return only(&["on"]),
        "transform_null_equals" | "quote_all_identifiers" | "allow_system_table_mods" | "exit_on_error" => {
            return only(&["off"]);
        }
        "session_replication_role" => return only(&["origin", "local"]),
        "temp_tablespaces" => return only(&["", "pg_default"]),
        "default_transaction_deferrable" | "transaction_deferrable" => {}
        _ => {}
    }
    Ok(value)
}

fn is_encoding(name: &str) -> bool {
    const NAMES: [&str; 31] = [
        "sqlascii",
        "latin1",
        "latin2",
        "latin3",
        "latin4",
        "latin5",
        "latin6",
        "latin7",
        "latin8",
        "latin9",
        "latin10",
        "iso88591",
        "iso885915",
        "win1250",
        "win1251",
        "win1252",
        "win1253",
        "win1254",
        "win1256",
        "win1257",
        "win1258",
        "windows1252",
        "koi8r",
        "koi8u",
        "eucjp",
        "euckr",
        "euccn",
        "sjis",
        "big5",
        "gbk",
        "gb18030",
    ];
    NAMES.contains(&name)
}

/// The words of DateStyle, the ones not given taken from the present style (`check_datestyle`).
pub fn date_style(name: &str, value: &str, style: &Style) -> Result<(DateStyle, DateOrder)> {
    let conflicting = || invalid(name, value).detail("Conflicting \"datestyle\" specifications.");
    let Some(words) = split_identifiers(value) else {
        return Err(invalid(name, value).detail("List syntax is invalid."));
    };
    let (mut first, mut order) = (None, None);
    let mut set_order = |new| match order.replace(new) {
        Some(old) if old != new => Err(conflicting()),
        _ => Ok(()),
    };
    let mut set_style = |new| match first.replace(new) {
        Some(old) if old != new => Err(conflicting()),
        _ => Ok(()),
    };
    for word in &words {
        match word.as_str() {
            "iso" => set_style(DateStyle::Iso)?,
            "sql" => set_style(DateStyle::Sql)?,
            "german" => set_style(DateStyle::German)?,
            w if w.starts_with("postgres") => set_style(DateStyle::Postgres)?,
            "ymd" => set_order(DateOrder::Ymd)?,
            w if w == "dmy" || w.starts_with("euro") => set_order(DateOrder::Dmy)?,
            w if w == "mdy" || w == "us" || w.starts_with("noneuro") => set_order(DateOrder::Mdy)?,
            "default" => {
                set_style(DateStyle::Iso)?;
                set_order(DateOrder::Mdy)?;
            }
            other => {
                return Err(invalid(name, value).detail(format!("Unrecognized key word: \"{other}\".")));
            }
        }
    }
    // German dates are DMY unless said otherwise.
    let order = order.or(if first == Some(DateStyle::German) { Some(DateOrder::Dmy) } else { None });
    Ok((first.unwrap_or(style.date_style), order.unwrap_or(style.date_order)))
}

fn date_style_word(style: DateStyle) -> &'static str {
    match style {
        DateStyle::Iso => "ISO",
        DateStyle::Sql => "SQL",
        DateStyle::Postgres => "Postgres",
        DateStyle::German => "German",
    }
}

fn date_order_word(order: DateOrder) -> &'static str {
    match order {
        DateOrder::Mdy => "MDY",
        DateOrder::Dmy => "DMY",
        DateOrder::Ymd => "YMD",
    }
}

/// A time zone by the ways in which SET TIME ZONE names one: a name of the tz database, hours east of Greenwich, an interval, or a
/// POSIX specification. Gives the zone and how SHOW prints it.
pub fn time_zone(value: &str) -> Option<(TimeZone, String)> {
    let trimmed = value.trim();
    if let Some(interval) = trimmed.to_ascii_lowercase().strip_prefix("interval ") {
        return fixed(interval_seconds(interval.trim().trim_matches('\''))?);
    }
    // POSIX without a name: west of Greenwich.
    if trimmed.starts_with(['+', '-']) && trimmed.contains(':') {
        return Some((fixed(-interval_seconds(trimmed)?)?.0, trimmed.to_owned()));
    }
    if let Ok(hours) = trimmed.parse::<f64>() {
        return fixed((hours * 3600.0).round() as i32);
    }
    if let Some(posix) = trimmed.strip_prefix('<') {
        // How we print fixed offsets ourselves: <+03>-03.
        let (name, west) = posix.split_once('>')?;
        let seconds = interval_seconds(west)?;
        let (zone, _) = fixed(-seconds)?;
        return Some((zone, format!("<{name}>{west}")));
    }
    if let Some(name) = tz_name(trimmed) {
        return Some((TimeZone::get(&name).ok()?, name));
    }
    // A POSIX abbreviation with an offset west of Greenwich, and perhaps daylight saving time.
    let letters = trimmed.find(|c: char| !c.is_ascii_alphabetic())?;
    if letters < 3 {
        return None;
    }
    TimeZone::posix(trimmed).ok().map(|zone| (zone, trimmed.to_owned()))
}

/// The database's own spelling of a zone name, looked up without regard to case as PostgreSQL does.
fn tz_name(name: &str) -> Option<String> {
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b)) {
        return None;
    }
    let zone = TimeZone::get(name).ok()?;
    match zone.iana_name() {
        // jiff calls its own constant UTC; PostgreSQL keeps the spelling of the file.
        Some("UTC") if !name.eq_ignore_ascii_case("utc") => Some(name.to_owned()),
        Some(own) => Some(own.to_owned()),
        None => Some(name.to_owned()),
    }
}

/// Hours and minutes, `[+-]h[h][:mm[:ss]]`, in seconds.
fn interval_seconds(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0;
    for (i, part) in digits.split(':').enumerate() {
        let unit = *[3600, 60, 1].get(i)?;
        total += part.parse::<i32>().ok().filter(|v| (0..168).contains(v))? * unit;
    }
    Some(sign * total)
}

fn fixed(seconds: i32) -> Option<(TimeZone, String)> {
    let zone = TimeZone::fixed(Offset::from_seconds(seconds).ok()?);
    let print = |seconds: i32| {
        let (sign, abs) = if seconds < 0 { ('-', -seconds) } else { ('+', seconds) };
        let (h, m, s) = (abs / 3600, abs / 60 % 60, abs % 60);
        let mut text = format!("{sign}{h:02}");
        if m != 0 || s != 0 {
            text += &format!(":{m:02}");
        }
        if s != 0 {
            text += &format!(":{s:02}");
        }
        text
    };
    Some((zone, format!("<{}>{}", print(seconds), print(-seconds))))
}

/// 42704 for a name that is no setting.
pub fn unrecognized(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}
