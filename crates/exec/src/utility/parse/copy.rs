//! COPY and its options, compare `ProcessCopyOptions` in PostgreSQL's `copy.c`.

use crate::parse::lexer::Kind;
use crate::utility::copy::{Copy, CopyFormat, CopyHeader, CopyOptions, CopyPlace, CopyWhat, ForceColumns};
use crate::utility::{Tokens, Utility};
use catalog::{Result, SqlError, SqlState};

/// Options as written, before defaults.
#[derive(Default)]
struct Written {
    format: Option<CopyFormat>,
    freeze: bool,
    delimiter: Option<String>,
    null: Option<String>,
    header: CopyHeader,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<ForceColumns>,
    force_not_null: Vec<String>,
    force_null: Vec<String>,
    encoding: Option<String>,
}

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    t.expect("copy")?;
    let mut written = Written::default();
    let what = if t.is_punct(0, "(") {
        CopyWhat::Query(t.parenthesized()?)
    } else {
        if t.accept("binary") {
            written.format = Some(CopyFormat::Binary);
        }
        let table = t.qualified()?;
        let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
        CopyWhat::Table(table, columns)
    };
    let from = t.accept("from");
    if !from {
        t.expect("to")?;
    } else if matches!(what, CopyWhat::Query(_)) {
        t.back_to(t.place() - 1);
        return Err(t.unexpected());
    }
    let place = if t.accept("program") {
        CopyPlace::Program(t.string()?)
    } else if t.accept("stdin") || t.accept("stdout") {
        CopyPlace::Client
    } else {
        CopyPlace::File(t.string()?)
    };
    if t.accept("using") || t.is(0, "delimiters") {
        t.expect("delimiters")?;
        written.delimiter = Some(t.string()?);
    }
    let with = t.accept("with");
    if t.accept_punct("(") {
        t.comma_list(|t| option(t, &mut written))?;
        t.expect_punct(")")?;
    } else {
        let before = t.place();
        old_options(t, &mut written)?;
        if with && t.place() == before {
            return Err(t.unexpected());
        }
    }
    let filter = if t.accept("where") { Some(t.rest()?) } else { None };
    if filter.is_some() && !from {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "WHERE clause not allowed with COPY TO"));
    }
    let options = check(written, from)?;
    Ok(Utility::Copy(Box::new(Copy { what, from, place, options, filter })))
}

fn conflicting(position: u32) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options").at(position)
}

fn set<T>(slot: &mut Option<T>, value: T, position: u32) -> Result<()> {
    if slot.replace(value).is_some() { Err(conflicting(position)) } else { Ok(()) }
}

fn boolean(name: &str, value: &str) -> Result<bool> {
    match value.to_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{name} requires a Boolean value"))),
    }
}

/// One option of the parenthesized list.
fn option(t: &mut Tokens<'_>, w: &mut Written) -> Result<()> {
    let position = t.position();
    let name = t.label()?;
    let optional = |t: &mut Tokens<'_>| {
        if t.is_punct(0, ",") || t.is_punct(0, ")") { Ok("true".to_owned()) } else { t.option_value() }
    };
    match name.as_str() {
        "format" => {
            let value = t.option_value()?;
            let format = match value.as_str() {
                "text" => CopyFormat::Text,
                "csv" => CopyFormat::Csv,
                "binary" => CopyFormat::Binary,
                _ => {
                    return Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("COPY format \"{value}\" not recognized"),
                    )
                    .at(position));
                }
            };
            set(&mut w.format, format, position)
        }
        "freeze" => {
            w.freeze = boolean("freeze", &optional(t)?)?;
            Ok(())
        }
        "delimiter" => set(&mut w.delimiter, t.option_value()?, position),
        "null" => set(&mut w.null, t.option_value()?, position),
        "header" => {
            let value = optional(t)?;
            w.header = match value.as_str() {
                "match" => CopyHeader::Match,
                other => match boolean("header", other) {
                    Ok(true) => CopyHeader::On,
                    Ok(false) => CopyHeader::Off,
                    Err(_) => {
                        return Err(SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            "header requires a Boolean value or \"match\"",
                        ));
                    }
                },
            };
            Ok(())
        }
        "quote" => set(&mut w.quote, t.option_value()?, position),
        "escape" => set(&mut w.escape, t.option_value()?, position),
        "force_quote" => {
            let columns =
                if t.accept_op("*") { ForceColumns::All } else { ForceColumns::Some(t.column_list()?) };
            set(&mut w.force_quote, columns, position)
        }
        "force_not_null" => {
            w.force_not_null = t.column_list()?;
            Ok(())
        }
        "force_null" => {
            w.force_null = t.column_list()?;
            Ok(())
        }
        "encoding" => set(&mut w.encoding, t.option_value()?, position),
        _ => {
            Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("option \"{name}\" not recognized"))
                .at(position))
        }
    }
}

/// The list of options as it was before 9.0.
fn old_options(t: &mut Tokens<'_>, w: &mut Written) -> Result<()> {
    loop {
        let position = t.position();
        if t.accept("binary") {
            set(&mut w.format, CopyFormat::Binary, position)?;
        } else if t.accept("csv") {
            set(&mut w.format, CopyFormat::Csv, position)?;
        } else if t.accept("freeze") {
            w.freeze = true;
        } else if t.accept("header") {
            w.header = CopyHeader::On;
        } else if t.accept("delimiter") {
            t.accept("as");
            set(&mut w.delimiter, t.string()?, position)?;
        } else if t.accept("null") {
            t.accept("as");
            set(&mut w.null, t.string()?, position)?;
        } else if t.accept("quote") {
            t.accept("as");
            set(&mut w.quote, t.string()?, position)?;
        } else if t.accept("escape") {
            t.accept("as");
            set(&mut w.escape, t.string()?, position)?;
        } else if t.accept("force quote") {
            w.force_quote = Some(if t.accept_op("*") {
                ForceColumns::All
            } else {
                ForceColumns::Some(t.comma_list(Tokens::name)?)
            });
        } else if t.accept("force not null") {
            w.force_not_null = t.comma_list(Tokens::name)?;
        } else if t.accept("force null") {
            w.force_null = t.comma_list(Tokens::name)?;
        } else if t.accept("encoding") {
            set(&mut w.encoding, t.string()?, position)?;
        } else if matches!(t.peek(0), None | Some(Kind::Word(..))) {
            return Ok(());
        } else {
            return Err(t.unexpected());
        }
    }
}

fn one_byte(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

fn check(w: Written, from: bool) -> Result<CopyOptions> {
    let format = w.format.unwrap_or_default();
    let csv = format == CopyFormat::Csv;
    let syntax = |message: &str| Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
    let invalid = |message: &str| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    let unsupported = |message: &str| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    if format == CopyFormat::Binary {
        if w.delimiter.is_some() {
            return syntax("cannot specify DELIMITER in BINARY mode");
        }
        if w.null.is_some() {
            return syntax("cannot specify NULL in BINARY mode");
        }
        if w.header != CopyHeader::Off {
            return unsupported("cannot specify HEADER in BINARY mode");
        }
    }
    let delimiter = w.delimiter.unwrap_or_else(|| if csv { "," } else { "\t" }.into());
    let null = w.null.unwrap_or_else(|| if csv { "" } else { "\\N" }.into());
    let quote = w.quote.clone().unwrap_or_else(|| "\"".into());
    let escape = w.escape.clone().unwrap_or_else(|| quote.clone());
    let Some(delimiter) = one_byte(&delimiter) else {
        return unsupported("COPY delimiter must be a single one-byte character");
    };
    if matches!(delimiter, b'\n' | b'\r') {
        return invalid("COPY delimiter cannot be newline or carriage return");
    }
    if null.contains(['\n', '\r']) {
        return invalid("COPY null representation cannot use newline or carriage return");
    }
    if !csv && b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&delimiter) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("COPY delimiter cannot be \"{}\"", delimiter as char),
        ));
    }
    if !csv && w.quote.is_some() {
        return unsupported("COPY quote available only in CSV mode");
    }
    let Some(quote) = one_byte(&quote) else {
        return unsupported("COPY quote must be a single one-byte character");
    };
    if csv && delimiter == quote {
        return invalid("COPY delimiter and quote must be different");
    }
    if !csv && w.escape.is_some() {
        return unsupported("COPY escape available only in CSV mode");
    }
    let Some(escape) = one_byte(&escape) else {
        return unsupported("COPY escape must be a single one-byte character");
    };
    if w.force_quote.is_some() {
        if !csv {
            return unsupported("COPY force quote available only in CSV mode");
        }
        if from {
            return unsupported("COPY force quote only available using COPY TO");
        }
    }
    for (columns, what) in [(&w.force_not_null, "force not null"), (&w.force_null, "force null")] {
        if !columns.is_empty() && !csv {
            return unsupported(&format!("COPY {what} available only in CSV mode"));
        }
        if !columns.is_empty() && !from {
            return unsupported(&format!("COPY {what} only available using COPY FROM"));
        }
    }
    if null.as_bytes().contains(&delimiter) {
        return unsupported("COPY delimiter must not appear in the NULL specification");
    }
    if csv && null.as_bytes().contains(&quote) {
        return unsupported("CSV quote character must not appear in the NULL specification");
    }
    Ok(CopyOptions {
        format,
        freeze: w.freeze,
        delimiter,
        null,
        header: w.header,
        quote,
        escape,
        force_quote: w.force_quote,
        force_not_null: w.force_not_null,
        force_null: w.force_null,
        encoding: w.encoding,
    })
}
