//! Bind's parameter values to SQL values, by type and format. Compare `exec_bind_message` in PostgreSQL's `postgres.c`.

use crate::frontend::{Bind, Formats};
use crate::serialize::unsupported_format;
use catalog::types::{self, InputContext, text};
use catalog::{Arena, Oid, Result, SqlError, SqlState, Style, Value};

/// Checks the numbers of formats and values against the statement's parameters (08P01).
pub fn check_counts(bind: &Bind<'_>, parameters: usize) -> Result<()> {
    let (formats, values) = (bind.formats.len(), bind.parameters.len());
    if formats > 1 && formats != values {
        return Err(SqlError::protocol(format!(
            "bind message has {formats} parameter formats but {values} parameters"
        )));
    }
    if values != parameters {
        return Err(SqlError::protocol(format!(
            "bind message supplies {values} parameters, but prepared statement \"{}\" requires {parameters}",
            bind.statement
        )));
    }
    Ok(())
}

/// Checks the number of result formats against the result's columns (08P01), `PortalSetResultFormat`.
pub fn check_result_formats(formats: Formats<'_>, columns: usize) -> Result<()> {
    match formats.len() {
        0 | 1 => Ok(()),
        count if count == columns => Ok(()),
        count => Err(SqlError::protocol(format!(
            "bind message has {count} result formats but query has {columns} columns"
        ))),
    }
}

/// Reads parameter values, whose number has been checked. `now` is what the input text `now` means: microseconds since 2000-01-01
/// UTC. `read_name` reads the text of the types that name objects, and gives `None` for all others.
pub fn values(
    bind: &Bind<'_>,
    parameter_types: &[Oid],
    style: &Style,
    now: i64,
    read_name: impl Fn(Oid, &str) -> Option<Result<Value>>,
) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(parameter_types.len());
    let arena = Arena::new();
    for (index, (bytes, oid)) in bind.parameters.clone().zip(parameter_types).enumerate() {
        let format = bind.formats.code(index);
        let value = match bytes {
            None if format == 0 || format == 1 => Ok(Value::Null),
            None => Err(unsupported_format(format)),
            Some(bytes) => match named(bytes, format, *oid, &read_name) {
                Some(value) => value,
                None => value(bytes, format, *oid, &arena, style, now),
            },
        };
        values.push(value.map_err(|error| name_parameter(error, bind.portal, index + 1, bytes, format))?);
    }
    Ok(values)
}

fn named(
    bytes: &[u8],
    format: i16,
    oid: Oid,
    read_name: &impl Fn(Oid, &str) -> Option<Result<Value>>,
) -> Option<Result<Value>> {
    // Only then the text has to be looked at twice.
    if format != 0 || types::by_oid(oid).is_some_and(|typ| typ.shape != types::Shape::Int) {
        return None;
    }
    read_name(oid, text::validate(bytes).ok()?)
}

fn value(bytes: &[u8], format: i16, oid: Oid, arena: &Arena, style: &Style, now: i64) -> Result<Value> {
    let Some(typ) = types::by_oid(oid) else {
        return Err(SqlError::unsupported(format!("a parameter of type {}", types::format_type(oid, -1))));
    };
    let cx = InputContext { arena, style, typ, typmod: -1, now };
    let datum = match format {
        0 => (typ.input)(text::validate(bytes)?, &cx)?,
        1 => (typ.receive)(bytes, &cx)?,
        other => return Err(unsupported_format(other)),
    };
    Ok(datum.to_value())
}

/// Says which parameter it was: in the message for leftover binary bytes, in the context for all (`bind_param_error_callback`).
/// A text value is quoted as far as log_parameter_max_length_on_error lets it, of which the default, zero, is taken here.
fn name_parameter(
    mut error: SqlError,
    portal: &str,
    number: usize,
    bytes: Option<&[u8]>,
    format: i16,
) -> SqlError {
    let fields = error.fields_mut();
    if fields.code == SqlState::INVALID_BINARY_REPRESENTATION
        && fields.message == "incorrect binary data format"
    {
        fields.message = format!("incorrect binary data format in bind parameter {number}");
    }
    let mut context = fields.context.take().map(|inner| inner + "\n").unwrap_or_default();
    context += &match portal {
        "" => format!("unnamed portal parameter ${number}"),
        portal => format!("portal \"{portal}\" parameter ${number}"),
    };
    context += match bytes {
        Some([]) if format == 0 => " = ''",
        Some(bytes) if format == 0 && text::validate(bytes).is_ok() => " = '...'",
        _ => "",
    };
    error.context(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend;
    use catalog::types::oid;

    fn bind(formats: &[i16], values: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = b"\0\0".to_vec();
        body.extend_from_slice(&(formats.len() as u16).to_be_bytes());
        for format in formats {
            body.extend_from_slice(&format.to_be_bytes());
        }
        body.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for value in values {
            match value {
                None => body.extend_from_slice(&(-1_i32).to_be_bytes()),
                Some(value) => {
                    body.extend_from_slice(&(value.len() as u32).to_be_bytes());
                    body.extend_from_slice(value);
                }
            }
        }
        body.extend_from_slice(&[0; 2]);
        body
    }

    #[test]
    fn values_are_read_by_type_and_format() {
        let body = bind(&[0, 1, 1], &[Some(b"12"), Some(&[0, 0, 0, 7]), None]);
        let bind = frontend::bind(&body).expect("valid");
        check_counts(&bind, 3).expect("three");
        let values = values(&bind, &[oid::INT8, oid::INT4, oid::TEXT], &Style::default(), 0, |_, _| None)
            .expect("valid values");
        assert_eq!(values, [Value::Int(12), Value::Int(7), Value::Null]);
    }

    #[test]
    fn wrong_numbers_and_bytes_are_refused_in_postgres_words() {
        let body = bind(&[0, 0], &[None]);
        let decoded = frontend::bind(&body).expect("valid");
        let message = check_counts(&decoded, 1).expect_err("formats").message().to_owned();
        assert_eq!(message, "bind message has 2 parameter formats but 1 parameters");

        let body = bind(&[1], &[Some(&[0, 0, 0, 7, 1])]);
        let decoded = frontend::bind(&body).expect("valid");
        let message = check_counts(&decoded, 2).expect_err("count").message().to_owned();
        assert_eq!(message, "bind message supplies 1 parameters, but prepared statement \"\" requires 2");
        let error = values(&decoded, &[oid::INT4], &Style::default(), 0, |_, _| None).expect_err("too long");
        assert_eq!(error.message(), "incorrect binary data format in bind parameter 1");
        assert_eq!(error.fields().context.as_deref(), Some("unnamed portal parameter $1"));

        let body = bind(&[0], &[Some(b"a\xff")]);
        let decoded = frontend::bind(&body).expect("valid");
        let error = values(&decoded, &[oid::TEXT], &Style::default(), 0, |_, _| None).expect_err("not UTF-8");
        assert_eq!(error.code(), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
    }
}
