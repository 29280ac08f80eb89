//! What the server sends: each message is a function that appends it to a buffer.
//!
//! The length word is reserved first and filled in afterwards. Nothing here flushes. Compare PostgreSQL's `pqformat.c`,
//! `elog.c` (`send_message_to_frontend`), `dest.c`.

use catalog::{Severity, SqlError};

/// The status byte of ReadyForQuery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not in a transaction block.
    Idle,
    /// In a transaction block.
    InTransaction,
    /// In a failed transaction block.
    Failed,
}

/// Appends one message: type byte, length word, and what `fill` appends.
#[inline]
pub fn message(out: &mut Vec<u8>, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    finish_length(out, start);
}

/// Fills in the length word at `start`: the number of bytes from there to the end.
#[inline]
pub(crate) fn finish_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    if let Some(word) = out.get_mut(start..start + 4) {
        word.copy_from_slice(&length.to_be_bytes());
    }
}

/// Appends a text and the zero byte that ends it.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    // A zero byte inside would end the string early and shift the fields after it.
    match memchr::memchr(0, text.as_bytes()) {
        None => out.extend_from_slice(text.as_bytes()),
        Some(end) => out.extend_from_slice(&text.as_bytes()[..end]),
    }
    out.push(0);
}

/// AuthenticationOk.
pub fn authentication_ok(out: &mut Vec<u8>) {
    message(out, b'R', |out| out.extend_from_slice(&[0; 4]));
}

/// BackendKeyData.
pub fn backend_key_data(out: &mut Vec<u8>, pid: i32, secret: i32) {
    message(out, b'K', |out| {
        out.extend_from_slice(&pid.to_be_bytes());
        out.extend_from_slice(&secret.to_be_bytes());
    });
}

/// ParameterStatus.
pub fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    message(out, b'S', |out| {
        string(out, name);
        string(out, value);
    });
}

/// NegotiateProtocolVersion: the newest version spoken, and the options not recognised.
pub fn negotiate_protocol_version(out: &mut Vec<u8>, version: u32, unrecognized: &[String]) {
    message(out, b'v', |out| {
        out.extend_from_slice(&version.to_be_bytes());
        out.extend_from_slice(&(unrecognized.len() as u32).to_be_bytes());
        for option in unrecognized {
            string(out, option);
        }
    });
}

/// ReadyForQuery.
pub fn ready_for_query(out: &mut Vec<u8>, status: Status) {
    let byte = match status {
        Status::Idle => b'I',
        Status::InTransaction => b'T',
        Status::Failed => b'E',
    };
    out.extend_from_slice(&[b'Z', 0, 0, 0, 5, byte]);
}

/// CommandComplete, for a tag of a verb and perhaps a number.
pub fn command_complete(out: &mut Vec<u8>, verb: &str, count: Option<u64>) {
    message(out, b'C', |out| {
        out.extend_from_slice(verb.as_bytes());
        if let Some(count) = count {
            out.push(b' ');
            out.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
        }
        out.push(0);
    });
}

/// EmptyQueryResponse.
pub fn empty_query_response(out: &mut Vec<u8>) {
    bare(out, b'I');
}

/// ParseComplete.
pub fn parse_complete(out: &mut Vec<u8>) {
    bare(out, b'1');
}

/// BindComplete.
pub fn bind_complete(out: &mut Vec<u8>) {
    bare(out, b'2');
}

/// CloseComplete.
pub fn close_complete(out: &mut Vec<u8>) {
    bare(out, b'3');
}

/// NoData.
pub fn no_data(out: &mut Vec<u8>) {
    bare(out, b'n');
}

/// PortalSuspended.
pub fn portal_suspended(out: &mut Vec<u8>) {
    bare(out, b's');
}

/// CopyInResponse.
pub fn copy_in_response(out: &mut Vec<u8>, binary: bool, columns: usize) {
    copy_response(out, b'G', binary, columns);
}

/// CopyOutResponse.
pub fn copy_out_response(out: &mut Vec<u8>, binary: bool, columns: usize) {
    copy_response(out, b'H', binary, columns);
}

/// CopyData.
pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) {
    message(out, b'd', |out| out.extend_from_slice(data));
}

/// CopyDone.
pub fn copy_done(out: &mut Vec<u8>) {
    bare(out, b'c');
}

/// ErrorResponse or NoticeResponse, by the severity.
pub fn error_or_notice(out: &mut Vec<u8>, error: &SqlError) {
    match error.fields().severity {
        Severity::Error | Severity::Fatal | Severity::Panic => message(out, b'E', |out| fields(out, error)),
        Severity::Warning | Severity::Notice | Severity::Info | Severity::Log | Severity::Debug => {
            message(out, b'N', |out| fields(out, error))
        }
    }
}

/// ErrorResponse as clients of protocol versions before 3 expect it: one text.
pub fn error_version_2(out: &mut Vec<u8>, error: &SqlError) {
    out.push(b'E');
    let fields = error.fields();
    string(out, &format!("{}:  {}\n", fields.severity.as_str(), fields.message));
}

fn fields(out: &mut Vec<u8>, error: &SqlError) {
    let fields = error.fields();
    let mut field = |tag: u8, text: &str| {
        out.push(tag);
        string(out, text);
    };
    field(b'S', fields.severity.as_str());
    field(b'V', fields.severity.as_str());
    field(b'C', fields.code.as_str());
    field(b'M', &fields.message);
    let optional = [
        (b'D', &fields.detail),
        (b'H', &fields.hint),
        (b'W', &fields.context),
        (b's', &fields.schema),
        (b't', &fields.table),
        (b'c', &fields.column),
        (b'd', &fields.datatype),
        (b'n', &fields.constraint),
    ];
    for (tag, text) in optional {
        if let Some(text) = text {
            field(tag, text);
        }
    }
    if let Some(position) = fields.position {
        field(b'P', itoa::Buffer::new().format(position));
    }
    out.push(0);
}

fn bare(out: &mut Vec<u8>, tag: u8) {
    out.extend_from_slice(&[tag, 0, 0, 0, 4]);
}

fn copy_response(out: &mut Vec<u8>, tag: u8, binary: bool, columns: usize) {
    message(out, tag, |out| {
        out.push(binary.into());
        out.extend_from_slice(&(columns as u16).to_be_bytes());
        for _ in 0..columns {
            out.extend_from_slice(&u16::from(binary).to_be_bytes());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::SqlState;

    #[test]
    fn lengths_count_themselves_and_the_body() {
        let mut out = Vec::new();
        parameter_status(&mut out, "a", "bc");
        command_complete(&mut out, "INSERT 0", Some(12));
        assert_eq!(out, b"S\0\0\0\x09a\0bc\0C\0\0\0\x10INSERT 0 12\0");
    }

    #[test]
    fn an_error_has_its_fields_and_ends_with_a_zero_byte() {
        let error = SqlError::new(SqlState::SYNTAX_ERROR, "m\0x").hint("h").at(7);
        let mut out = Vec::new();
        error_or_notice(&mut out, &error);
        assert_eq!(&out[5..], b"SERROR\0VERROR\0C42601\0Mm\0Hh\0P7\0\0");
        out.clear();
        error_or_notice(&mut out, &SqlError::with_severity(Severity::Warning, SqlState::WARNING, "w"));
        assert_eq!(out[0], b'N');
    }
}
