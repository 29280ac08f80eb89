//! Wrong statements: every field of what the server says about them.
//!
//! A script is plain SQL. Its statements run one after the other in a new database by the simple protocol; the expectation
//! lists each statement with its notices and its error, field by field, or with its command tag.

use std::fmt::Write;
use std::path::Path;

use crate::split::statements;
use crate::{Client, Server};

/// Runs the script and returns the listing.
pub fn replay(script: &str, path: &Path, server: &Server) -> Result<String, String> {
    let failed = |e: &dyn std::fmt::Display, sql: &str| format!("{}: {e}, at: {sql}", path.display());
    let database = server.database();
    let mut client = Client::connect(server, &database).map_err(|e| failed(&e, "connect"))?;
    let mut output = String::new();
    for statement in statements(script) {
        let outcome = client.simple(statement.sql).map_err(|e| failed(&e, statement.sql))?;
        writeln!(output, "{};", statement.sql).unwrap();
        for notice in &outcome.notices {
            write_fields(&mut output, notice);
        }
        match (&outcome.error, &outcome.tag) {
            (Some(error), _) => write_fields(&mut output, error),
            (None, tag) => writeln!(output, "  {}", tag.as_deref().unwrap_or("no tag")).unwrap(),
        }
    }
    Ok(output)
}

fn write_fields(output: &mut String, fields: &[(char, String)]) {
    for (key, value) in fields {
        let name = match key {
            'S' => "severity",
            'V' => continue,
            'C' => "sqlstate",
            'M' => "message",
            'D' => "detail",
            'H' => "hint",
            'P' => "position",
            'p' => "internal position",
            'q' => "internal query",
            'W' => "where",
            's' => "schema",
            't' => "table",
            'c' => "column",
            'd' => "type",
            'n' => "constraint",
            _ => "unknown field",
        };
        writeln!(output, "  {name}: {}", value.replace('\n', "\n    ")).unwrap();
    }
}
