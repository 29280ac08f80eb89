//! SQL scripts in sqllogictest's format: what statements return, by the simple and by the extended protocol.
//!
//! ```text
//! query iN id,sum          <- a letter per column for its type (see ColumnLetter), and the columns' names
//! select ...
//! ----
//! 1 | 2.50                 <- a row; NULL is NULL, what could be mistaken is quoted
//!
//! statement count 3        <- the number in the command tag
//! statement ok
//!
//! statement error
//! select 1 / 0
//! ----
//! 22012: division by zero
//! ```
//!
//! All of it but the SQL, the comments and the connections is written by the program `capture`. The script runs twice, in a
//! new database each time: every statement as a Query, then every statement as Parse, Bind, Describe, Execute, Sync.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

use sqllogictest::{ColumnType, Connection, Record};

use crate::Server;
use crate::client::{Client, Outcome};
use crate::golden::difference;
use crate::split::statements;

/// A column's type as one letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnLetter(char);

impl ColumnType for ColumnLetter {
    fn from_char(value: char) -> Option<Self> {
        Some(ColumnLetter(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

/// The letter of a type: upper and lower case are different types, `A` is any array, `?` a type not in the list.
fn letter(type_oid: u32) -> char {
    match type_oid {
        16 => 'b',                                    // bool
        21 => 's',                                    // int2
        23 => 'i',                                    // int4
        20 => 'l',                                    // int8
        700 => 'f',                                   // float4
        701 => 'd',                                   // float8
        1700 => 'N',                                  // numeric
        25 => 'T',                                    // text
        1043 => 'V',                                  // varchar
        1042 => 'C',                                  // char(n)
        18 => 'c',                                    // "char"
        19 => 'n',                                    // name
        17 => 'Y',                                    // bytea
        1082 => 'D',                                  // date
        1083 => 'H',                                  // time
        1266 => 'h',                                  // timetz
        1114 => 'S',                                  // timestamp
        1184 => 'Z',                                  // timestamptz
        1186 => 'I',                                  // interval
        2950 => 'U',                                  // uuid
        114 => 'J',                                   // json
        3802 => 'j',                                  // jsonb
        26 => 'o',                                    // oid
        2205 | 2206 | 24 | 2202 | 4089 | 4096 => 'R', // regclass and its like
        2249 => 'r',                                  // record
        2278 => 'v',                                  // void
        28 | 5069 => 'x',                             // xid, xid8
        1000..=1041 | 199 | 2951 | 3807 | 143 | 2287 | 1115 | 1182 | 1183 | 1185 | 1187 | 1231 | 1270 => 'A',
        _ => '?',
    }
}

#[derive(Clone, Copy)]
enum Protocol {
    Simple,
    Extended,
}

/// Runs the script by both protocols and returns it with what came out written into it.
pub fn replay(script: &str, path: &Path, server: &Server) -> Result<String, String> {
    let records =
        sqllogictest::parse::<ColumnLetter>(script).map_err(|e| format!("{}: {e}", path.display()))?;
    let simple = run(&records, server, Protocol::Simple).map_err(|e| format!("{}: {e}", path.display()))?;
    if simple == script {
        let extended = run(&records, server, Protocol::Extended)
            .map_err(|e| format!("{}, extended protocol: {e}", path.display()))?;
        if extended != simple {
            return Err(format!("by the extended protocol {}", difference(&simple, &extended, path)));
        }
    }
    Ok(simple)
}

/// Turns plain SQL into a script to capture; comment lines and blank lines around them stay.
pub fn from_sql(sql: &str) -> String {
    let mut script = String::new();
    for statement in statements(sql) {
        for line in statement.comment.lines().filter(|l| !l.trim().is_empty()) {
            writeln!(script, "#{}", line.trim_start_matches('-')).unwrap();
        }
        writeln!(script, "statement ok\n{}\n", statement.sql).unwrap();
    }
    script
}

fn run(records: &[Record<ColumnLetter>], server: &Server, protocol: Protocol) -> io::Result<String> {
    let database = server.database();
    let mut connections: HashMap<String, Client> = HashMap::new();
    let mut output = String::new();
    let mut after_comment = false;
    for record in records {
        match record {
            Record::Statement { sql, connection, .. } | Record::Query { sql, connection, .. } => {
                let name = match connection {
                    Connection::Default => "",
                    Connection::Named(name) => name,
                };
                if !connections.contains_key(name) {
                    connections.insert(name.to_owned(), Client::connect(server, &database)?);
                }
                let client = connections.get_mut(name).expect("just inserted");
                let outcome = match protocol {
                    Protocol::Simple => client.simple(sql),
                    Protocol::Extended => client.extended(sql),
                };
                let outcome = outcome.map_err(|e| io::Error::new(e.kind(), format!("{e}, at: {sql}")))?;
                write_record(&mut output, sql, &outcome);
            }
            Record::Newline if !after_comment => {}
            other => writeln!(output, "{other}").unwrap(),
        }
        after_comment = matches!(record, Record::Comment(_));
    }
    Ok(format!("{}\n", output.trim_end()))
}

fn write_record(output: &mut String, sql: &str, outcome: &Outcome) {
    let result = if outcome.error.is_some() {
        let (code, message) = (outcome.error_field('C'), outcome.error_field('M'));
        writeln!(output, "statement error\n{sql}\n----\n{code}: {message}\n\n")
    } else if let Some(columns) = &outcome.columns {
        let types: String = columns.iter().map(|c| letter(c.type_oid)).collect();
        let names: Vec<_> = columns.iter().map(|c| c.name.replace(' ', "_")).collect();
        writeln!(output, "query {types} {}\n{sql}\n----{}\n", names.join(","), lines(&outcome.rows))
    } else if !outcome.rows.is_empty() {
        writeln!(output, "query T copy\n{sql}\n----{}\n", lines(&outcome.rows))
    } else {
        let count = outcome.tag.as_deref().and_then(|tag| tag.rsplit(' ').next()?.parse::<u64>().ok());
        match count {
            Some(count) => writeln!(output, "statement count {count}\n{sql}\n"),
            None => writeln!(output, "statement ok\n{sql}\n"),
        }
    };
    result.unwrap();
}

fn lines(rows: &[Vec<Option<String>>]) -> String {
    let mut text = String::new();
    for row in rows {
        let values: Vec<_> = row.iter().map(|v| v.as_deref().map_or("NULL".to_owned(), value)).collect();
        write!(text, "\n{}", values.join(" | ")).unwrap();
    }
    text
}

/// A value in one line; quoted if it would be mistaken for something else otherwise.
fn value(text: &str) -> String {
    let odd = text.is_empty()
        || text == "NULL"
        || text.trim() != text
        || text.contains(['\n', '\t', '\r'])
        || text.contains(" | ");
    if odd { format!("{text:?}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakable_values_are_quoted() {
        let row = [
            None,
            Some(String::new()),
            Some("NULL".to_owned()),
            Some("a b".to_owned()),
            Some("a\n".to_owned()),
        ];
        assert_eq!(lines(&[row.to_vec()]), "\nNULL | \"\" | \"NULL\" | a b | \"a\\n\"");
    }
}
