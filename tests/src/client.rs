//! A small blocking client of the frontend/backend protocol that hides nothing: every message, every field.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Server;

/// A message from the server: its type byte and its body without the length word.
#[derive(Debug, Clone)]
pub struct Message {
    /// The type byte.
    pub tag: u8,
    /// All after the length word.
    pub body: Vec<u8>,
}

/// A column of a RowDescription.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The table it comes from, or 0.
    pub table: u32,
    /// Its number in that table, or 0.
    pub number: i16,
    /// The OID of its type.
    pub type_oid: u32,
    /// The type's length.
    pub size: i16,
    /// The type modifier.
    pub typmod: i32,
    /// 0 for text, 1 for binary.
    pub format: i16,
}

/// What one statement gave.
#[derive(Debug, Default, Clone)]
pub struct Outcome {
    /// The columns, if it returns rows.
    pub columns: Option<Vec<Column>>,
    /// The rows, as text; lines of COPY TO STDOUT as rows of one column.
    pub rows: Vec<Vec<Option<String>>>,
    /// The command tag.
    pub tag: Option<String>,
    /// The fields of the error, by type byte.
    pub error: Option<Vec<(char, String)>>,
    /// The fields of each notice.
    pub notices: Vec<Vec<(char, String)>>,
}

impl Outcome {
    /// A field of the error (`C` is the SQLSTATE, `M` the message), or an empty text.
    pub fn error_field(&self, key: char) -> &str {
        let fields = self.error.iter().flatten();
        fields.into_iter().find(|(k, _)| *k == key).map_or("", |(_, v)| v)
    }
}

/// A connection.
pub struct Client {
    stream: TcpStream,
    input: Vec<u8>,
    consumed: usize,
    /// Process id and secret for a cancel request.
    pub key: (u32, u32),
    /// The messages of the start-up, AuthenticationOk to ReadyForQuery.
    pub greeting: Vec<Message>,
}

impl Client {
    /// Connects as postgres, with UTC as time zone, and waits until the server is ready.
    pub fn connect(server: &Server, database: &str) -> io::Result<Client> {
        Client::connect_with(server, &[("user", "postgres"), ("database", database), ("TimeZone", "UTC")])
    }

    /// Connects with exactly these start-up parameters. A refusal is an error whose text is `SQLSTATE: message`.
    pub fn connect_with(server: &Server, parameters: &[(&str, &str)]) -> io::Result<Client> {
        let mut body = 196_608_u32.to_be_bytes().to_vec();
        for (key, value) in parameters {
            body.extend_from_slice(key.as_bytes());
            body.push(0);
            body.extend_from_slice(value.as_bytes());
            body.push(0);
        }
        body.push(0);
        let mut client = Client::open(server)?;
        client.send_untyped(&body)?;
        loop {
            let message = client.receive()?;
            match message.tag {
                b'K' => {
                    let mut fields = Fields(&message.body);
                    client.key = (fields.u32(), fields.u32());
                }
                b'E' => {
                    let error = Outcome { error: Some(error_fields(&message.body)), ..Outcome::default() };
                    let text = format!("{}: {}", error.error_field('C'), error.error_field('M'));
                    client.greeting.push(message);
                    return Err(io::Error::other(text));
                }
                _ => {}
            }
            let ready = message.tag == b'Z';
            client.greeting.push(message);
            if ready {
                return Ok(client);
            }
        }
    }

    /// Opens the socket and sends nothing.
    pub fn open(server: &Server) -> io::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", server.port()))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Client { stream, input: Vec::new(), consumed: 0, key: (0, 0), greeting: Vec::new() })
    }

    /// Asks the server to cancel what `key`'s connection runs, and waits until it hangs up.
    pub fn cancel(server: &Server, key: (u32, u32)) -> io::Result<()> {
        let mut client = Client::open(server)?;
        let mut body = 80_877_102_u32.to_be_bytes().to_vec();
        body.extend_from_slice(&key.0.to_be_bytes());
        body.extend_from_slice(&key.1.to_be_bytes());
        client.send_untyped(&body)?;
        let mut rest = Vec::new();
        client.stream.read_to_end(&mut rest).map(drop)
    }

    /// How long [`Client::receive`] waits before it fails with `WouldBlock` or `TimedOut`.
    pub fn set_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(timeout))
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a message without a type byte, such as a StartupMessage.
    pub fn send_untyped(&mut self, body: &[u8]) -> io::Result<()> {
        let mut frame = (u32::try_from(body.len()).unwrap() + 4).to_be_bytes().to_vec();
        frame.extend_from_slice(body);
        self.send_raw(&frame)
    }

    /// Sends a Query.
    pub fn send_query(&mut self, sql: &str) -> io::Result<()> {
        let mut frame = Vec::new();
        message(&mut frame, b'Q', |body| text(body, sql));
        self.send_raw(&frame)
    }

    /// The next message, read from the socket if need be.
    pub fn receive(&mut self) -> io::Result<Message> {
        loop {
            let pending = &self.input[self.consumed..];
            if let Some(header) = pending.first_chunk::<5>() {
                let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
                if pending.len() > length {
                    let message = Message { tag: header[0], body: pending[5..=length].to_vec() };
                    self.consumed += length + 1;
                    return Ok(message);
                }
            }
            self.input.drain(..self.consumed);
            self.consumed = 0;
            let mut chunk = [0; 16_384];
            match self.stream.read(&mut chunk)? {
                0 => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the server closed the connection",
                    ));
                }
                n => self.input.extend_from_slice(&chunk[..n]),
            }
        }
    }

    /// The next byte, for the answer to an SSLRequest, which is no message.
    pub fn receive_byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.stream.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// Runs one statement by the simple protocol.
    pub fn simple(&mut self, sql: &str) -> io::Result<Outcome> {
        self.send_query(sql)?;
        self.outcome()
    }

    /// Runs one statement by the extended protocol: Parse, Bind, Describe, Execute, Sync, all of them unnamed, results as text.
    pub fn extended(&mut self, sql: &str) -> io::Result<Outcome> {
        let mut frames = Vec::new();
        message(&mut frames, b'P', |body| {
            text(body, "");
            text(body, sql);
            body.extend_from_slice(&[0, 0]);
        });
        message(&mut frames, b'B', |body| body.extend_from_slice(&[0; 8]));
        message(&mut frames, b'D', |body| body.extend_from_slice(b"P\0"));
        message(&mut frames, b'E', |body| body.extend_from_slice(&[0; 5]));
        message(&mut frames, b'S', |_| ());
        self.send_raw(&frames)?;
        self.outcome()
    }

    /// Reads up to ReadyForQuery.
    pub fn outcome(&mut self) -> io::Result<Outcome> {
        let mut outcome = Outcome::default();
        loop {
            let message = self.receive()?;
            match message.tag {
                b'T' => outcome.columns = Some(columns(&message.body)),
                b'D' => {
                    let decode = |v: Option<Vec<u8>>| v.map(|v| String::from_utf8_lossy(&v).into_owned());
                    outcome.rows.push(row(&message.body).into_iter().map(decode).collect());
                }
                b'd' => {
                    let line = String::from_utf8_lossy(&message.body);
                    outcome.rows.push(vec![Some(line.trim_end_matches('\n').to_owned())]);
                }
                b'G' => {
                    let mut frame = Vec::new();
                    self::message(&mut frame, b'f', |body| text(body, "no data here"));
                    self.send_raw(&frame)?;
                }
                b'C' => outcome.tag = Some(Fields(&message.body).text()),
                b'E' => outcome.error = Some(error_fields(&message.body)),
                b'N' => outcome.notices.push(error_fields(&message.body)),
                b'Z' => return Ok(outcome),
                _ => {}
            }
        }
    }
}

/// Appends a message with type byte and length word to the buffer.
pub fn message(buffer: &mut Vec<u8>, tag: u8, write: impl FnOnce(&mut Vec<u8>)) {
    buffer.push(tag);
    let start = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    write(buffer);
    let length = u32::try_from(buffer.len() - start).unwrap();
    buffer[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a zero-terminated text.
pub fn text(buffer: &mut Vec<u8>, value: &str) {
    buffer.extend_from_slice(value.as_bytes());
    buffer.push(0);
}

/// A reader of a message's fields; past the end it reads zeros.
pub struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    /// The next `N` bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.0 = tail;
                *head
            }
            None => [0; N],
        }
    }

    /// A 16-bit integer.
    pub fn i16(&mut self) -> i16 {
        i16::from_be_bytes(self.bytes())
    }

    /// A 32-bit integer.
    pub fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.bytes())
    }

    /// A 32-bit integer without sign.
    pub fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }

    /// A zero-terminated text.
    pub fn text(&mut self) -> String {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(self.0.len());
        let value = String::from_utf8_lossy(&self.0[..end]).into_owned();
        self.0 = self.0.get(end + 1..).unwrap_or(&[]);
        value
    }
}

/// The columns of a RowDescription.
pub fn columns(body: &[u8]) -> Vec<Column> {
    let mut fields = Fields(body);
    let count = fields.i16();
    let mut column = || Column {
        name: fields.text(),
        table: fields.u32(),
        number: fields.i16(),
        type_oid: fields.u32(),
        size: fields.i16(),
        typmod: fields.i32(),
        format: fields.i16(),
    };
    (0..count).map(|_| column()).collect()
}

/// The values of a DataRow.
pub fn row(body: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut fields = Fields(body);
    let count = fields.i16();
    let mut value = || {
        let length = usize::try_from(fields.i32()).ok()?;
        let (head, tail) = fields.0.split_at(length.min(fields.0.len()));
        fields.0 = tail;
        Some(head.to_vec())
    };
    (0..count).map(|_| value()).collect()
}

/// The fields of an ErrorResponse or NoticeResponse but those that name PostgreSQL's source code (F, L, R).
pub fn error_fields(body: &[u8]) -> Vec<(char, String)> {
    let mut fields = Fields(body);
    let mut found = Vec::new();
    loop {
        match char::from(fields.bytes::<1>()[0]) {
            '\0' => return found,
            key => {
                let value = fields.text();
                // "while updating tuple (0,1) in relation ..." names a place on PostgreSQL's disk.
                let names_a_place = key == 'W' && value.starts_with("while ") && value.contains(" tuple (");
                if !"FLR".contains(key) && !names_a_place {
                    found.push((key, value));
                }
            }
        }
    }
}
