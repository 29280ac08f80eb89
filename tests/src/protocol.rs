//! Protocol scripts: messages to send, and the messages that come back.
//!
//! ```text
//! send                                  <- to the default connection; `send NAME` to another, made on first use
//! Parse {"Query": "select $1::int4"}
//! Bind {"Parameters": [{"text": "7"}], "ResultFormatCodes": [1]}
//! Execute
//! Sync
//!
//! until ReadyForQuery                   <- reads up to the named messages, one after the other
//! ----
//! ParseComplete                         <- written by `capture`, up to the next blank line
//! ...
//! ```
//!
//! | directive | meaning |
//! |---|---|
//! | `connect NAME {"user": "postgres", ...}` | connects with exactly these start-up parameters |
//! | `greeting [NAME]` | the messages of the connection's start-up |
//! | `open NAME` | opens the socket and sends nothing |
//! | `send [NAME]`, `until [NAME] MESSAGE...` | see above; a message to wait for may be `Close`, the end of the connection |
//! | `byte [NAME]` | reads the one byte that answers an SSLRequest |
//! | `quiet [NAME]` | checks that nothing comes within 300 ms |
//! | `cancel [NAME]` | sends a CancelRequest for the connection |
//!
//! Fields left out have their usual values: empty names, no parameters, text format. Table OIDs from 16384 on print as `*`.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::Server;
use crate::client::{self, Client, Fields, Message, text};

/// Runs the script and returns it with what came back written into it.
pub fn replay(script: &str, path: &Path, server: &Server) -> Result<String, String> {
    let mut run = Run { server, database: server.database(), clients: HashMap::new(), output: String::new() };
    let mut lines = script.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        writeln!(run.output, "{line}").unwrap();
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut block = Vec::new();
        while let Some((_, inner)) = lines.next_if(|(_, l)| !l.trim().is_empty()) {
            block.push(inner);
        }
        let failed = |e: io::Error| format!("{}:{}: {e}", path.display(), number + 1);
        run.directive(line, &block).map_err(failed)?;
    }
    Ok(run.output)
}

struct Run<'a> {
    server: &'a Server,
    database: String,
    clients: HashMap<String, Client>,
    output: String,
}

impl Run<'_> {
    fn directive(&mut self, line: &str, block: &[&str]) -> io::Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut arguments: Vec<&str> = rest.split_whitespace().collect();
        let name = match arguments.first() {
            Some(first) if first.starts_with(|c: char| c.is_ascii_lowercase()) => arguments.remove(0),
            _ => "",
        };
        match word {
            "connect" => {
                let parameters: Map<String, Value> = parse_json(rest.trim_start_matches(name).trim())?;
                let database = self.database.clone();
                let parameters: Vec<(&str, &str)> = parameters
                    .iter()
                    .map(|(k, v)| (k.as_str(), v.as_str().unwrap_or_default()))
                    .map(|(k, v)| (k, if v == "$DATABASE" { database.as_str() } else { v }))
                    .collect();
                let client = Client::connect_with(self.server, &parameters);
                self.output.push_str("----\n");
                match client {
                    Ok(client) => {
                        self.clients.insert(name.to_owned(), client);
                        self.output.push_str("connected\n");
                    }
                    Err(e) => writeln!(self.output, "{e}").unwrap(),
                }
            }
            "open" => {
                self.clients.insert(name.to_owned(), Client::open(self.server)?);
            }
            "greeting" => {
                let messages = self.client(name)?.greeting.clone();
                self.print(&messages);
            }
            "send" => {
                let mut frames = Vec::new();
                for line in block {
                    writeln!(self.output, "{line}").unwrap();
                    encode(line, &mut frames)?;
                }
                self.client(name)?.send_raw(&frames)?;
            }
            "until" => {
                let messages = self.until(name, &arguments)?;
                self.print(&messages);
            }
            "byte" => {
                let byte = self.client(name)?.receive_byte()?;
                writeln!(self.output, "----\n{}", char::from(byte)).unwrap();
            }
            "quiet" => {
                let client = self.client(name)?;
                client.set_timeout(Duration::from_millis(300))?;
                let heard = client.receive();
                client.set_timeout(Duration::from_secs(30))?;
                self.output.push_str("----\n");
                match heard {
                    Ok(message) => self.output.push_str(&describe(&message)),
                    Err(_) => self.output.push_str("nothing\n"),
                }
            }
            "cancel" => {
                let key = self.client(name)?.key;
                Client::cancel(self.server, key)?;
            }
            other => return Err(io::Error::other(format!("no such directive: {other}"))),
        }
        Ok(())
    }

    fn client(&mut self, name: &str) -> io::Result<&mut Client> {
        if !self.clients.contains_key(name) {
            self.clients.insert(name.to_owned(), Client::connect(self.server, &self.database)?);
        }
        Ok(self.clients.get_mut(name).expect("just inserted"))
    }

    fn until(&mut self, name: &str, wanted: &[&str]) -> io::Result<Vec<Message>> {
        let mut heard = String::new();
        let client = self.client(name)?;
        let mut messages = Vec::new();
        for &wanted in wanted {
            loop {
                let message = match client.receive() {
                    Ok(message) => message,
                    Err(e) if wanted == "Close" && e.kind() != io::ErrorKind::WouldBlock => break,
                    Err(e) => {
                        return Err(io::Error::other(format!(
                            "{e}, waiting for {wanted}, having heard\n{heard}"
                        )));
                    }
                };
                let description = describe(&message);
                let found = description.split_whitespace().next() == Some(wanted);
                heard.push_str(&description);
                messages.push(message);
                if found {
                    break;
                }
            }
        }
        Ok(messages)
    }

    fn print(&mut self, messages: &[Message]) {
        self.output.push_str("----\n");
        let mut described: Vec<String> = messages.iter().map(describe).collect();
        // PostgreSQL's order of the parameters is that of a hash table.
        for run in described
            .chunk_by_mut(|a, b| a.starts_with("ParameterStatus") && b.starts_with("ParameterStatus"))
        {
            run.sort();
        }
        self.output.push_str(&described.concat());
    }
}

fn parse_json<T: serde::de::DeserializeOwned + Default>(text: &str) -> io::Result<T> {
    if text.is_empty() { Ok(T::default()) } else { serde_json::from_str(text).map_err(io::Error::other) }
}

/// Appends the frame of one line of a `send` block.
fn encode(line: &str, frames: &mut Vec<u8>) -> io::Result<()> {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let fields: Map<String, Value> = parse_json(rest)?;
    let string = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| fields.get(key).and_then(Value::as_i64).unwrap_or_default();
    let list = |key: &str| fields.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let codes = |body: &mut Vec<u8>, values: &[Value]| {
        body.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for value in values {
            body.extend_from_slice(&(value.as_i64().unwrap_or_default() as u16).to_be_bytes());
        }
    };
    let object = |body: &mut Vec<u8>| {
        body.push(string("ObjectType").bytes().next().unwrap_or(b'S'));
        text(body, string("Name"));
    };
    match kind {
        "Query" => client::message(frames, b'Q', |body| text(body, string("String"))),
        "Parse" => client::message(frames, b'P', |body| {
            text(body, string("Name"));
            text(body, string("Query"));
            let types = list("ParameterOIDs");
            body.extend_from_slice(&(types.len() as u16).to_be_bytes());
            for oid in &types {
                body.extend_from_slice(&(oid.as_u64().unwrap_or_default() as u32).to_be_bytes());
            }
        }),
        "Bind" => {
            let mut values = Vec::new();
            for value in list("Parameters") {
                values.push(parameter(&value)?);
            }
            client::message(frames, b'B', |body| {
                text(body, string("DestinationPortal"));
                text(body, string("PreparedStatement"));
                codes(body, &list("ParameterFormatCodes"));
                body.extend_from_slice(&(values.len() as u16).to_be_bytes());
                for value in &values {
                    match value {
                        None => body.extend_from_slice(&(-1_i32).to_be_bytes()),
                        Some(value) => {
                            body.extend_from_slice(&(value.len() as u32).to_be_bytes());
                            body.extend_from_slice(value);
                        }
                    }
                }
                codes(body, &list("ResultFormatCodes"));
            });
        }
        "Describe" => client::message(frames, b'D', object),
        "Close" => client::message(frames, b'C', object),
        "Execute" => client::message(frames, b'E', |body| {
            text(body, string("Portal"));
            body.extend_from_slice(&(number("MaxRows") as i32).to_be_bytes());
        }),
        "Sync" => client::message(frames, b'S', |_| ()),
        "Flush" => client::message(frames, b'H', |_| ()),
        "Terminate" => client::message(frames, b'X', |_| ()),
        "CopyData" => client::message(frames, b'd', |body| body.extend_from_slice(string("Data").as_bytes())),
        "CopyDone" => client::message(frames, b'c', |_| ()),
        "CopyFail" => client::message(frames, b'f', |body| text(body, string("Message"))),
        "SSLRequest" => frames.extend_from_slice(&[0, 0, 0, 8, 4, 210, 22, 47]),
        "GSSENCRequest" => frames.extend_from_slice(&[0, 0, 0, 8, 4, 210, 22, 48]),
        "Startup" => {
            let mut body = (number("Version") as u32).to_be_bytes().to_vec();
            for (key, value) in fields.iter().filter(|(k, _)| *k != "Version") {
                text(&mut body, key);
                text(&mut body, value.as_str().unwrap_or_default());
            }
            body.push(0);
            frames.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
            frames.extend_from_slice(&body);
        }
        "Raw" => frames.extend_from_slice(&unhex(string("hex"))?),
        other => return Err(io::Error::other(format!("no such message: {other}"))),
    }
    Ok(())
}

fn parameter(value: &Value) -> io::Result<Option<Vec<u8>>> {
    if value.is_null() {
        return Ok(None);
    }
    if let Some(hex) = value.get("binary").and_then(Value::as_str) {
        return unhex(hex).map(Some);
    }
    let text = value.get("text").and_then(Value::as_str);
    text.map(|t| Some(t.as_bytes().to_vec()))
        .ok_or_else(|| io::Error::other(format!("no parameter: {value}")))
}

fn unhex(text: &str) -> io::Result<Vec<u8>> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes = (0..digits.len()).step_by(2).map(byte);
    bytes.collect::<Option<_>>().ok_or_else(|| io::Error::other(format!("no hexadecimal digits: {text}")))
}

/// A message from the server in one line, a RowDescription in one line per column.
fn describe(message: &Message) -> String {
    let body = &message.body;
    let mut fields = Fields(body);
    match message.tag {
        b'R' => format!("Authentication {}\n", fields.i32()),
        b'K' => "BackendKeyData\n".to_owned(),
        b'S' => {
            let (name, mut value) = (fields.text(), fields.text());
            if name == "server_version" {
                value.truncate(value.find(['.', ' ']).unwrap_or(value.len()));
            }
            format!("ParameterStatus {}\n", json!({ name: value }))
        }
        b'Z' => format!("ReadyForQuery {}\n", char::from(fields.bytes::<1>()[0])),
        b'1' => "ParseComplete\n".to_owned(),
        b'2' => "BindComplete\n".to_owned(),
        b'3' => "CloseComplete\n".to_owned(),
        b'n' => "NoData\n".to_owned(),
        b's' => "PortalSuspended\n".to_owned(),
        b'I' => "EmptyQueryResponse\n".to_owned(),
        b'c' => "CopyDone\n".to_owned(),
        b'C' => format!("CommandComplete {}\n", fields.text()),
        b't' => {
            let count = fields.i16();
            let types: Vec<u32> = (0..count).map(|_| fields.u32()).collect();
            format!("ParameterDescription {types:?}\n")
        }
        b'T' => {
            let mut text = "RowDescription\n".to_owned();
            for c in client::columns(body) {
                let table = if c.table >= 16_384 { "*".to_owned() } else { c.table.to_string() };
                writeln!(
                    text,
                    "  {:?} type {} size {} typmod {} format {} table {table} column {}",
                    c.name, c.type_oid, c.size, c.typmod, c.format, c.number
                )
                .unwrap();
            }
            text
        }
        b'D' => {
            let values: Vec<Value> = client::row(body).into_iter().map(readable).collect();
            format!("DataRow {}\n", Value::Array(values))
        }
        b'E' | b'N' => {
            let name = if message.tag == b'E' { "ErrorResponse" } else { "NoticeResponse" };
            let fields: Map<String, Value> =
                client::error_fields(body).into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
            format!("{name} {}\n", Value::Object(fields))
        }
        b'G' | b'H' => {
            let name = if message.tag == b'G' { "CopyInResponse" } else { "CopyOutResponse" };
            let format = fields.bytes::<1>()[0];
            let count = fields.i16();
            let columns: Vec<i16> = (0..count).map(|_| fields.i16()).collect();
            format!("{name} format {format} columns {columns:?}\n")
        }
        b'd' => format!("CopyData {}\n", readable(Some(body.clone()))),
        other => format!("Message {:?} {}\n", char::from(other), readable(Some(body.clone()))),
    }
}

/// Text as it is, other bytes as hexadecimal digits.
fn readable(value: Option<Vec<u8>>) -> Value {
    let Some(bytes) = value else { return Value::Null };
    match String::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') => text.into(),
        Ok(text) => json!({ "hex": hex(text.as_bytes()) }),
        Err(e) => json!({ "hex": hex(e.as_bytes()) }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
