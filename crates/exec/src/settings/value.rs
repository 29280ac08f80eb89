//! Values of settings: read with their units, checked against their bounds, printed (`parse_and_validate_value`, `ShowGUCOption` in
//! PostgreSQL's `guc.c`).

use super::definition::{Definition, Kind};
use catalog::{Result, SqlError, SqlState};

const MEMORY_HINT: &str = "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".";
const TIME_HINT: &str =
    "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";

/// `invalid value for parameter "x": "y"`
pub fn invalid(name: &str, value: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("invalid value for parameter \"{name}\": \"{value}\""),
    )
}

/// Checks a value for a setting called `name` by the user; gives it in the form in which it is kept (numbers in the setting's unit).
pub fn check(definition: &Definition, name: &str, value: &str) -> Result<String> {
    match &definition.kind {
        Kind::Bool => match parse_bool(value) {
            Some(on) => Ok(if on { "on" } else { "off" }.into()),
            None => Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("parameter \"{name}\" requires a Boolean value"),
            )),
        },
        Kind::Int(min, max) => {
            let number = parse_number(definition, name, value)?.round_ties_even();
            if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) {
                return Err(invalid(name, value).hint("Value exceeds integer range."));
            }
            let number = number as i64;
            if number < *min || number > *max {
                let unit =
                    if definition.unit.is_empty() { String::new() } else { format!(" {}", definition.unit) };
                return Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!(
                        "{number}{unit} is outside the valid range for parameter \"{name}\" ({min} .. {max})"
                    ),
                ));
            }
            Ok(number.to_string())
        }
        Kind::Real(min, max) => {
            let number = parse_number(definition, name, value)?;
            if !(*min..=*max).contains(&number) {
                let unit =
                    if definition.unit.is_empty() { String::new() } else { format!(" {}", definition.unit) };
                return Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!(
                        "{}{unit} is outside the valid range for parameter \"{name}\" ({} .. {})",
                        format_g(number),
                        format_g(*min),
                        format_g(*max)
                    ),
                ));
            }
            Ok(format_g(number))
        }
        Kind::Text => Ok(value.to_owned()),
        Kind::Enum(values) => {
            let lower = value.to_ascii_lowercase();
            let synonym = synonym(&definition.name, &lower);
            match values.iter().find(|v| **v == lower).map(String::as_str).or(synonym) {
                Some(value) => Ok(value.to_owned()),
                None => Err(invalid(name, value).hint(format!("Available values: {}.", values.join(", ")))),
            }
        }
    }
}

/// Spellings that are accepted but not listed.
fn synonym(setting: &str, value: &str) -> Option<&'static str> {
    let boolean = match value {
        "true" | "yes" | "1" => Some("on"),
        "false" | "no" | "0" => Some("off"),
        _ => None,
    };
    match setting {
        "client_min_messages" | "log_min_messages" | "log_min_error_statement" if value == "debug" => {
            Some("debug2")
        }
        "client_min_messages" if value == "info" => Some("info"),
        "backslash_quote"
        | "constraint_exclusion"
        | "synchronous_commit"
        | "huge_pages"
        | "recovery_prefetch"
        | "wal_compression"
        | "compute_query_id"
        | "force_parallel_mode"
        | "archive_mode" => boolean,
        _ => None,
    }
}

/// `parse_bool`: unique prefixes of true, false, yes, no; on, off, 1, 0.
pub fn parse_bool(text: &str) -> Option<bool> {
    let text = text.trim().to_ascii_lowercase();
    let prefix = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "on" | "1" => Some(true),
        "off" | "of" | "0" => Some(false),
        _ if prefix("true") || prefix("yes") => Some(true),
        _ if prefix("false") || prefix("no") => Some(false),
        _ => None,
    }
}

/// Factor from a written unit to a memory setting's unit in bytes, or a time setting's in microseconds.
fn unit_size(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" => 1.0,
        "kB" => 1024.0,
        "8kB" => 8192.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "min" => 60e6,
        "h" => 3600e6,
        "d" => 86_400e6,
        _ => return None,
    })
}

fn is_time(unit: &str) -> bool {
    matches!(unit, "us" | "ms" | "s" | "min" | "h" | "d")
}

fn parse_number(definition: &Definition, name: &str, text: &str) -> Result<f64> {
    let trimmed = text.trim();
    let end = trimmed
        .char_indices()
        .find(|(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && trimmed.get(i + 1..).is_some_and(|rest| {
                    rest.trim_start_matches(['+', '-']).starts_with(|d: char| d.is_ascii_digit())
                });
            let sign = matches!(c, '+' | '-')
                && (*i == 0 || trimmed.get(..*i).is_some_and(|before| before.ends_with(['e', 'E'])));
            !(c.is_ascii_digit() || *c == '.' || exponent || sign)
        })
        .map_or(trimmed.len(), |(i, _)| i);
    let (digits, unit) = trimmed.split_at(end);
    let unit = unit.trim();
    let hex = trimmed.strip_prefix("0x").and_then(|h| i64::from_str_radix(h, 16).ok());
    let number: f64 = match (hex, digits.parse()) {
        (Some(number), _) => return Ok(number as f64),
        (None, Ok(number)) => number,
        (None, Err(_)) => return Err(invalid(name, text)),
    };
    if unit.is_empty() {
        return Ok(number);
    }
    if definition.unit.is_empty() {
        return Err(invalid(name, text));
    }
    let time = is_time(&definition.unit);
    let valid = unit_size(unit).filter(|_| unit != "8kB" && is_time(unit) == time);
    match (valid, unit_size(&definition.unit)) {
        (Some(from), Some(to)) => Ok(number * from / to),
        _ => Err(invalid(name, text).hint(if time { TIME_HINT } else { MEMORY_HINT })),
    }
}

/// A kept value as SHOW prints it: numbers with the largest unit that divides them.
pub fn show(definition: &Definition, kept: &str) -> String {
    if definition.unit.is_empty() {
        return kept.to_owned();
    }
    let Ok(number) = kept.parse::<f64>() else { return kept.to_owned() };
    let unbounded = matches!(definition.kind, Kind::Int(..)) && number <= 0.0;
    if unbounded || number == 0.0 {
        return kept.to_owned();
    }
    let Some(own) = unit_size(&definition.unit) else { return kept.to_owned() };
    let base = number * own;
    let units: &[&str] = if is_time(&definition.unit) {
        &["d", "h", "min", "s", "ms", "us"]
    } else {
        &["TB", "GB", "MB", "kB", "B"]
    };
    for unit in units {
        let size = unit_size(unit).unwrap_or(1.0);
        let value = base / size;
        if (value - value.round()).abs() < 1e-8 * value.abs() {
            return format!("{}{unit}", format_g(value.round()));
        }
    }
    kept.to_owned()
}

/// C's `%g`: six significant digits.
pub fn format_g(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-5..16).contains(&exponent) {
        let text = format!("{value:.5e}");
        let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        let exp: i32 = exp.parse().unwrap_or(0);
        let sign = if exp < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exp.abs());
    }
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    let decimals = (5 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Splits a list into identifiers (`SplitIdentifierString`): unquoted ones folded; `None` if it is not one.
pub fn split_identifiers(text: &str) -> Option<Vec<String>> {
    let mut list = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(list);
    }
    loop {
        let item;
        if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            loop {
                let end = quoted.find('"')?;
                name.push_str(quoted.get(..end)?);
                quoted = quoted.get(end + 1..)?;
                match quoted.strip_prefix('"') {
                    Some(after) => {
                        name.push('"');
                        quoted = after;
                    }
                    None => break,
                }
            }
            item = name;
            rest = quoted.trim_start();
        } else {
            let end = rest.find([',', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            item = word.to_lowercase();
            rest = after.trim_start();
        }
        list.push(item);
        if rest.is_empty() {
            return Some(list);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

/// Quotes an identifier unless it is a plain lower-case word (`quote_identifier`, without its look at keywords).
pub fn quote_identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
