//! What clients send: startup packets and messages, decoded from the bytes of one frame.
//!
//! Compare PostgreSQL's `pqformat.c` (the primitives and their errors), `ProcessStartupPacket` and `SocketBackend`.

use catalog::types::text;
use catalog::{Oid, Result, Severity, SqlError, SqlState};

/// Longest startup packet (`MAX_STARTUP_PACKET_LENGTH`), its length word included.
pub const STARTUP_LENGTH_MAX: usize = 10_000;
/// Longest message that carries no data of the client's (`PQ_SMALL_MESSAGE_LIMIT`).
pub const SMALL_LENGTH_MAX: usize = 10_000;
/// Longest message of all (`PQ_LARGE_MESSAGE_LIMIT`, MaxAllocSize - 1).
pub const LARGE_LENGTH_MAX: usize = 0x3fff_fffe;

/// The protocol's major version, the only one spoken.
pub const PROTOCOL_MAJOR: u16 = 3;
/// The newest minor version spoken, in the form of the packet.
pub const PROTOCOL_LATEST: u32 = (PROTOCOL_MAJOR as u32) << 16;

/// What a connection begins with.
#[derive(Debug, PartialEq)]
pub enum StartupPacket {
    /// SSLRequest, answered by one byte.
    Ssl,
    /// GSSENCRequest, answered by one byte.
    GssEncryption,
    /// CancelRequest: the connection is only for this.
    Cancel {
        /// Process number of the session to cancel.
        pid: i32,
        /// Its secret.
        secret: i32,
    },
    /// A protocol version that is not spoken: [`unsupported_version`] is the error.
    Unsupported {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The true startup.
    Startup(Startup),
}

/// 0A000 for a protocol version.
pub fn unsupported_version(major: u16, minor: u16) -> SqlError {
    let message = format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0");
    SqlError::with_severity(Severity::Fatal, SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// The parameters of a startup packet.
#[derive(Debug, PartialEq, Default)]
pub struct Startup {
    /// `user`; not empty.
    pub user: String,
    /// `database`; that of the user's name if not given.
    pub database: String,
    /// `replication`, as it was written.
    pub replication: Option<String>,
    /// `options`, as it was written.
    pub options: Option<String>,
    /// All others, in order: settings.
    pub settings: Vec<(String, String)>,
    /// Whether NegotiateProtocolVersion is due: a newer minor version, or `_pq_.` options.
    pub negotiate: bool,
    /// The `_pq_.` options, none of which is known.
    pub unrecognized: Vec<String>,
}

/// Decodes the first packet of a connection, its length word taken off. Errors are FATAL.
pub fn startup(body: &[u8]) -> Result<StartupPacket> {
    startup_packet(body).map_err(|mut error| {
        error.fields_mut().severity = Severity::Fatal;
        error
    })
}

fn startup_packet(body: &[u8]) -> Result<StartupPacket> {
    let mut reader = Reader(body);
    let code = reader.int4()? as u32;
    let (major, minor) = ((code >> 16) as u16, code as u16);
    match (major, minor) {
        (1234, 5679) => return Ok(StartupPacket::Ssl),
        (1234, 5680) => return Ok(StartupPacket::GssEncryption),
        (1234, 5678) => {
            if reader.0.len() != 8 {
                return Err(SqlError::protocol("invalid length of startup packet"));
            }
            return Ok(StartupPacket::Cancel { pid: reader.int4()?, secret: reader.int4()? });
        }
        (PROTOCOL_MAJOR, _) => {}
        _ => return Ok(StartupPacket::Unsupported { major, minor }),
    }
    let mut startup = Startup { negotiate: minor > 0, ..Startup::default() };
    let layout = || SqlError::protocol("invalid startup packet layout: expected terminator as last byte");
    let mut terminated = false;
    while !reader.0.is_empty() {
        let name = startup_string(reader.bytes_to_zero().ok_or_else(layout)?)?;
        if name.is_empty() {
            terminated = reader.0.is_empty();
            break;
        }
        let value = startup_string(reader.bytes_to_zero().ok_or_else(layout)?)?;
        match name.as_str() {
            "user" => startup.user = value,
            "database" => startup.database = value,
            "options" => startup.options = Some(value),
            "replication" => startup.replication = Some(value),
            _ if name.starts_with("_pq_.") => {
                startup.negotiate = true;
                startup.unrecognized.push(name);
            }
            _ => startup.settings.push((name, value)),
        }
    }
    if !terminated {
        return Err(layout());
    }
    if startup.user.is_empty() {
        return Err(SqlError::new(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "no PostgreSQL user name specified in startup packet",
        ));
    }
    if startup.database.is_empty() {
        startup.database = startup.user.clone();
    }
    // Names in the catalog are cut to NAMEDATALEN - 1 bytes.
    truncate(&mut startup.user, 63);
    truncate(&mut startup.database, 63);
    Ok(StartupPacket::Startup(startup))
}

fn startup_string(bytes: &[u8]) -> Result<String> {
    text::validate(bytes).map(str::to_owned)
}

fn truncate(name: &mut String, bytes_max: usize) {
    if name.len() > bytes_max {
        let end = (0..=bytes_max).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        name.truncate(end);
    }
}

/// Splits the startup parameter `options` into settings, as `pg_split_opts` and `process_postgres_switches` do:
/// `-c name=value` and `--name=value`, words apart by white space, a backslash taking the next character as it is.
pub fn split_options(options: &str) -> Result<Vec<(String, String)>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = options.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);

    let mut settings = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (assignment, switch) = if let Some(rest) = word.strip_prefix("--") {
            (rest.to_owned(), format!("--{rest}"))
        } else if let Some(rest) = word.strip_prefix("-c") {
            let assignment = if rest.is_empty() { words.next().unwrap_or_default() } else { rest.to_owned() };
            let switch = format!("-c {assignment}");
            (assignment, switch)
        } else {
            return Err(SqlError::with_severity(
                Severity::Fatal,
                SqlState::SYNTAX_ERROR,
                format!("invalid command-line argument for server process: {word}"),
            )
            .hint("Try \"postgres --help\" for more information."));
        };
        let Some((name, value)) = assignment.split_once('=') else {
            let message = format!("{switch} requires a value");
            return Err(SqlError::with_severity(Severity::Fatal, SqlState::SYNTAX_ERROR, message));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

/// The kinds of messages that a client sends after startup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// `Q`
    Query,
    /// `P`
    Parse,
    /// `B`
    Bind,
    /// `D`
    Describe,
    /// `E`
    Execute,
    /// `C`
    Close,
    /// `S`
    Sync,
    /// `H`
    Flush,
    /// `F`
    FunctionCall,
    /// `d`
    CopyData,
    /// `c`
    CopyDone,
    /// `f`
    CopyFail,
    /// `X`
    Terminate,
}

impl Tag {
    /// The kind that a type byte means; 08P01, FATAL, for any other byte.
    pub fn from_byte(byte: u8) -> Result<Tag> {
        Ok(match byte {
            b'Q' => Tag::Query,
            b'P' => Tag::Parse,
            b'B' => Tag::Bind,
            b'D' => Tag::Describe,
            b'E' => Tag::Execute,
            b'C' => Tag::Close,
            b'S' => Tag::Sync,
            b'H' => Tag::Flush,
            b'F' => Tag::FunctionCall,
            b'd' => Tag::CopyData,
            b'c' => Tag::CopyDone,
            b'f' => Tag::CopyFail,
            b'X' => Tag::Terminate,
            other => {
                let message = format!("invalid frontend message type {other}");
                return Err(SqlError::with_severity(Severity::Fatal, SqlState::PROTOCOL_VIOLATION, message));
            }
        })
    }

    /// The type byte.
    pub fn byte(self) -> u8 {
        match self {
            Tag::Query => b'Q',
            Tag::Parse => b'P',
            Tag::Bind => b'B',
            Tag::Describe => b'D',
            Tag::Execute => b'E',
            Tag::Close => b'C',
            Tag::Sync => b'S',
            Tag::Flush => b'H',
            Tag::FunctionCall => b'F',
            Tag::CopyData => b'd',
            Tag::CopyDone => b'c',
            Tag::CopyFail => b'f',
            Tag::Terminate => b'X',
        }
    }

    /// Longest body.
    pub fn length_max(self) -> usize {
        match self {
            Tag::Query | Tag::Parse | Tag::Bind | Tag::FunctionCall | Tag::CopyData => LARGE_LENGTH_MAX,
            Tag::Describe
            | Tag::Execute
            | Tag::Close
            | Tag::Sync
            | Tag::Flush
            | Tag::CopyDone
            | Tag::CopyFail
            | Tag::Terminate => SMALL_LENGTH_MAX,
        }
    }

    /// Whether an error in this message makes the server skip to Sync (`doing_extended_query_message`).
    pub fn is_extended(self) -> bool {
        matches!(self, Tag::Parse | Tag::Bind | Tag::Describe | Tag::Execute | Tag::Close | Tag::Flush)
    }
}

/// What Describe and Close are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// A prepared statement.
    Statement(&'a str),
    /// A portal.
    Portal(&'a str),
}

/// Parse.
#[derive(Debug)]
pub struct Parse<'a> {
    /// Name of the statement to make.
    pub name: &'a str,
    /// Its text.
    pub sql: &'a str,
    /// Declared types of the first parameters, zero for those to infer.
    pub types: Vec<Oid>,
}

/// Bind. Lists stay encoded; `params` reads them.
#[derive(Debug)]
pub struct Bind<'a> {
    /// Name of the portal to make.
    pub portal: &'a str,
    /// Name of the statement.
    pub statement: &'a str,
    /// Format codes of the parameters.
    pub formats: Formats<'a>,
    /// The parameters' values.
    pub parameters: Parameters<'a>,
    /// Format codes of the result's columns.
    pub result_formats: Formats<'a>,
}

/// Format codes, two bytes each.
#[derive(Clone, Copy, Debug)]
pub struct Formats<'a>(&'a [u8]);

impl Formats<'_> {
    /// Number of codes.
    pub fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// Whether there are none, which means text for all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code of one item of several: none given means text, one given serves all.
    pub fn code(&self, index: usize) -> i16 {
        let index = if self.len() == 1 { 0 } else { index };
        match self.0.get(index * 2..index * 2 + 2) {
            Some(&[high, low]) => i16::from_be_bytes([high, low]),
            _ => 0,
        }
    }

    /// The codes as sent.
    pub fn codes(&self) -> impl Iterator<Item = i16> {
        self.0.as_chunks::<2>().0.iter().map(|b| i16::from_be_bytes(*b))
    }
}

/// Parameter values: an iterator over `Some(bytes)` or `None` for NULL. Checked when decoded, so it cannot fail.
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    count: usize,
    rest: Reader<'a>,
}

impl Parameters<'_> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.0.is_empty() {
            return None;
        }
        self.rest.counted().ok()
    }
}

/// Decodes Query: its text.
pub fn query(body: &[u8]) -> Result<&str> {
    only_string(body)
}

/// Decodes CopyFail: its message.
pub fn copy_fail(body: &[u8]) -> Result<&str> {
    only_string(body)
}

/// Decodes Parse.
pub fn parse(body: &[u8]) -> Result<Parse<'_>> {
    let mut reader = Reader(body);
    let name = reader.string()?;
    let sql = reader.string()?;
    let count = reader.count()?;
    let types = reader.take(count * 4)?;
    reader.end()?;
    let types = types.as_chunks::<4>().0.iter().map(|b| Oid(u32::from_be_bytes(*b))).collect();
    Ok(Parse { name, sql, types })
}

/// Decodes Bind.
pub fn bind(body: &[u8]) -> Result<Bind<'_>> {
    let mut reader = Reader(body);
    let portal = reader.string()?;
    let statement = reader.string()?;
    let count = reader.count()?;
    let formats = Formats(reader.take(count * 2)?);
    let count = reader.count()?;
    let values = reader.0;
    for _ in 0..count {
        reader.counted()?;
    }
    let values = &values[..values.len() - reader.0.len()];
    let parameters = Parameters { count, rest: Reader(values) };
    let count = reader.count()?;
    let result_formats = Formats(reader.take(count * 2)?);
    reader.end()?;
    Ok(Bind { portal, statement, formats, parameters, result_formats })
}

/// Decodes Describe or Close, which differ only in the wording of their error.
pub fn target(tag: Tag, body: &[u8]) -> Result<Target<'_>> {
    let mut reader = Reader(body);
    let kind = reader.byte()?;
    let name = reader.string()?;
    reader.end()?;
    match kind {
        b'S' => Ok(Target::Statement(name)),
        b'P' => Ok(Target::Portal(name)),
        other => {
            let message = match tag {
                Tag::Close => format!("invalid CLOSE message subtype {other}"),
                _ => format!("invalid DESCRIBE message subtype {other}"),
            };
            Err(SqlError::protocol(message))
        }
    }
}

/// Decodes Execute: the portal and the most rows wanted, `None` for all.
pub fn execute(body: &[u8]) -> Result<(&str, Option<u64>)> {
    let mut reader = Reader(body);
    let portal = reader.string()?;
    let rows_max = reader.int4()?;
    reader.end()?;
    Ok((portal, u64::try_from(rows_max).ok().filter(|n| *n > 0)))
}

/// Checks that a message that has no content has none.
pub fn empty(body: &[u8]) -> Result<()> {
    Reader(body).end()
}

fn only_string(body: &[u8]) -> Result<&str> {
    let mut reader = Reader(body);
    let text = reader.string()?;
    reader.end()?;
    Ok(text)
}

/// The unread rest of a message (`pq_getmsg...`).
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) =
            self.0.split_first().ok_or_else(|| SqlError::protocol("no data left in message"))?;
        self.0 = rest;
        Ok(*byte)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(insufficient)?;
        self.0 = rest;
        Ok(taken)
    }

    fn int4(&mut self) -> Result<i32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>().ok_or_else(insufficient)?;
        self.0 = rest;
        Ok(i32::from_be_bytes(*bytes))
    }

    /// A two-byte count, unsigned as PostgreSQL reads it.
    fn count(&mut self) -> Result<usize> {
        let (bytes, rest) = self.0.split_first_chunk::<2>().ok_or_else(insufficient)?;
        self.0 = rest;
        Ok(u16::from_be_bytes(*bytes).into())
    }

    /// A value with its length before it; -1 is NULL.
    fn counted(&mut self) -> Result<Option<&'a [u8]>> {
        match self.int4()? {
            -1 => Ok(None),
            length => self.take(usize::try_from(length).map_err(|_| insufficient())?).map(Some),
        }
    }

    fn bytes_to_zero(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let bytes = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(bytes)
    }

    fn string(&mut self) -> Result<&'a str> {
        let bytes = self.bytes_to_zero().ok_or_else(|| SqlError::protocol("invalid string in message"))?;
        text::validate(bytes)
    }

    fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(SqlError::protocol("invalid message format")) }
    }
}

fn insufficient() -> SqlError {
    SqlError::protocol("insufficient data left in message")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(code: u32, rest: &[u8]) -> Vec<u8> {
        [&code.to_be_bytes(), rest].concat()
    }

    #[test]
    fn startup_parameters_are_sorted_out() {
        let body = packet(PROTOCOL_LATEST + 2, b"user\0bob\0application_name\0x\0_pq_.y\0 1\0\0");
        let Ok(StartupPacket::Startup(startup)) = startup(&body) else { panic!("a startup") };
        assert_eq!((startup.user.as_str(), startup.database.as_str()), ("bob", "bob"));
        assert_eq!(startup.settings, [("application_name".into(), "x".into())]);
        assert_eq!(startup.unrecognized, ["_pq_.y"]);
        assert!(startup.negotiate);
    }

    #[test]
    fn startup_errors_are_fatal_and_worded_as_by_postgres() {
        let message = |body: &[u8]| {
            let error = startup(body).expect_err("refused");
            assert_eq!(error.fields().severity, Severity::Fatal);
            error.message().to_owned()
        };
        let version_2 = startup(&packet(2 << 16 | 7, b"")).expect("decoded");
        assert_eq!(version_2, StartupPacket::Unsupported { major: 2, minor: 7 });
        assert_eq!(
            message(&packet(3 << 16, b"user\0x")),
            "invalid startup packet layout: expected terminator as last byte"
        );
        assert_eq!(message(&packet(3 << 16, b"\0")), "no PostgreSQL user name specified in startup packet");
    }

    #[test]
    fn options_are_split_at_unescaped_blanks() {
        let settings = split_options(r"-c a.b=1 -cc=x\ y\\ --work-mem=4MB").expect("valid");
        let expected = [("a.b", "1"), ("c", r"x y\"), ("work_mem", "4MB")];
        assert_eq!(settings, expected.map(|(n, v)| (n.to_owned(), v.to_owned())));
        assert!(split_options("-d 3").is_err());
        assert!(split_options("-c a").is_err());
    }

    #[test]
    fn bind_keeps_its_lists_and_refuses_leftovers() {
        let mut body = b"p\0s\0\0\x01\0\x01\0\x02\xff\xff\xff\xff\0\0\0\x02ab\0\0".to_vec();
        {
            let bind = bind(&body).expect("valid");
            assert_eq!((bind.portal, bind.statement), ("p", "s"));
            assert_eq!(bind.formats.code(1), 1);
            assert_eq!(bind.parameters.len(), 2);
            assert_eq!(bind.parameters.collect::<Vec<_>>(), [None, Some(&b"ab"[..])]);
            assert_eq!(bind.result_formats.code(5), 0);
        }
        body.push(0);
        assert_eq!(bind(&body).expect_err("too long").message(), "invalid message format");
        body.truncate(16);
        assert_eq!(bind(&body).expect_err("too short").message(), "insufficient data left in message");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let _ = startup(&body);
            let _ = query(&body);
            let _ = parse(&body);
            let _ = target(Tag::Close, &body);
            let _ = execute(&body);
            if let Ok(bind) = bind(&body) {
                assert_eq!(bind.parameters.len(), bind.parameters.count());
            }
        }
    }
}
