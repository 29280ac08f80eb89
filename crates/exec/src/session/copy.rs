//! Running COPY.
//!
//! COPY FROM is an INSERT whose values come from lines: the statement is bound once with one parameter per column, so defaults, casts,
//! constraints and indexes are INSERT's.

use super::Session;
use super::prepare::Body;
use crate::bind::ParameterType;
use crate::client::{Client, CommandTag};
use crate::copy::{LineReader, RowWriter};
use crate::ddl::Found;
use crate::row::context::ExecContext;
use crate::utility::copy::{Copy, CopyFormat, CopyHeader, CopyOptions, CopyPlace, CopyWhat, ForceColumns};
use catalog::object::Table;
use catalog::types::{self, InputContext, Type};
use catalog::{Arena, Datum, Relation, Result, SqlError, SqlState};
use std::ops::ControlFlow;
use std::sync::Arc;

/// CopyData messages are sent once they have this many bytes.
const COPY_CHUNK_BYTES: usize = 32 * 1024;
/// A line in an error's context is cut at so many bytes.
const CONTEXT_BYTES_MAX: usize = 100;

impl Session {
    pub(super) fn copy(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<CommandTag> {
        match &copy.place {
            CopyPlace::Client => {}
            CopyPlace::File(_) => return Err(SqlError::unsupported("COPY with a file of the server")),
            CopyPlace::Program(_) => return Err(SqlError::unsupported("COPY with PROGRAM")),
        }
        if copy.options.format == CopyFormat::Binary {
            return Err(SqlError::unsupported("COPY with format binary"));
        }
        if let Some(encoding) = &copy.options.encoding
            && !matches!(encoding.to_ascii_lowercase().as_str(), "utf8" | "utf-8" | "unicode")
        {
            return Err(SqlError::unsupported(format_args!("COPY with encoding {encoding}")));
        }
        if copy.from {
            self.prevent_read_only("COPY FROM")?;
            self.copy_from(copy, client)
        } else {
            self.copy_to(copy, client)
        }
    }

    /// The table of COPY FROM and the places of its columns.
    fn copy_target(&self, copy: &Copy) -> Result<(Arc<Table>, Vec<usize>, String)> {
        let CopyWhat::Table(name, columns) = &copy.what else {
            return Err(SqlError::internal("COPY FROM needs a table"));
        };
        let relation = self.ddl_context().relation(name)?;
        let table = match relation {
            Relation::Table(table) => table,
            Relation::View(view) => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("cannot copy to view \"{}\"", view.name),
                )
                .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger."));
            }
            Relation::Sequence(sequence) => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("cannot copy to sequence \"{}\"", sequence.name),
                ));
            }
            Relation::Index(index) => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("\"{}\" is an index", index.name),
                ));
            }
        };
        let mut places = Vec::new();
        if columns.is_empty() {
            places
                .extend(table.live_columns().filter(|(_, c)| c.generated.is_none()).map(|(place, _)| place));
        }
        for column in columns {
            let Some((place, definition)) = table.column(column) else {
                return Err(SqlError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!("column \"{column}\" of relation \"{}\" does not exist", table.name),
                ));
            };
            if definition.generated.is_some() {
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!("column \"{column}\" is a generated column"),
                )
                .detail("Generated columns cannot be used in COPY."));
            }
            if places.contains(&place) {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{column}\" specified more than once"),
                ));
            }
            places.push(place);
        }
        let schema =
            self.state.objects.lock().schemas.get(&table.schema).map(|s| s.name.clone()).unwrap_or_default();
        Ok((table, places, schema))
    }

    fn copy_from(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<CommandTag> {
        if copy.filter.is_some() {
            return Err(SqlError::unsupported("COPY FROM with WHERE"));
        }
        let (table, places, schema) = self.copy_target(copy)?;
        let options = &copy.options;
        let columns: Vec<(&str, &'static Type)> = places
            .iter()
            .filter_map(|place| table.columns.get(*place))
            .map(|column| {
                types::by_oid(column.typ)
                    .map(|typ| (column.name.as_str(), typ))
                    .ok_or_else(|| SqlError::unsupported(format_args!("type with OID {}", column.typ)))
            })
            .collect::<Result<_>>()?;
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
        let values: Vec<String> = (1..=columns.len()).map(|i| format!("${i}")).collect();
        let target = format!("{}.{}", quoted(&schema), quoted(&table.name));
        let sql = if columns.is_empty() {
            format!("INSERT INTO {target} DEFAULT VALUES")
        } else {
            let (names, values) = (names.join(", "), values.join(", "));
            format!("INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE VALUES ({values})")
        };
        let modes = columns.iter().map(|(_, typ)| ParameterType::Fixed(typ.oid)).collect();
        let parsed = crate::parse::parse(&sql)?
            .pop()
            .ok_or_else(|| SqlError::internal("COPY made an empty statement"))?;
        let prepared = self.prepare_parsed(parsed, sql.as_str().into(), modes, false)?;
        let planned = self.current_plan(&prepared)?;
        self.lock_tables(&planned.locks)?;
        let Body::Dml { plan, cache_slots, .. } = &planned.body else {
            return Err(SqlError::internal("COPY FROM needs an INSERT"));
        };
        let view = self.state.transaction(|t| {
            t.begin_statement();
            t.view()
        })?;
        client.copy_in_begin(false, columns.len())?;
        let flags =
            |list: &[String]| columns.iter().map(|(name, _)| list.iter().any(|n| n == name)).collect();
        let mut reader = LineReader::new(options, flags(&options.force_not_null), flags(&options.force_null));
        let mut count = 0;
        let result = self.with_context(*cache_slots, &view, &[], None, |cx, _| {
            let mut header = options.header != CopyHeader::Off;
            let mut arena = Arena::new();
            while !reader.done() {
                let piece = client.copy_in_data().map_err(|error| {
                    error.context(format!("COPY {}, line {}", table.name, reader.line + 1))
                })?;
                match piece {
                    Some(piece) => reader.feed(piece),
                    None => reader.finish(),
                }
                while reader.next_line().map_err(|e| in_line(e, &table.name, &reader))? {
                    if std::mem::take(&mut header) {
                        if options.header == CopyHeader::Match {
                            check_header(&reader, &columns, options)
                                .map_err(|e| in_line(e, &table.name, &reader))?;
                        }
                        continue;
                    }
                    arena.reset();
                    cx.statement.tick()?;
                    let row = read_row(&reader, &columns, &arena, cx, &table.name)?;
                    let row_cx = ExecContext { params: &row, ..cx.with_arena(&arena) };
                    let _flow = plan
                        .run(&row_cx, &mut |_, _| Ok(ControlFlow::Continue(())))
                        .map_err(|error| in_row(error, &table.name, &reader))?;
                    count += 1;
                }
            }
            Ok(())
        });
        // The rest of the client's data must be taken off the connection, whatever happened; the server sees to that.
        drop(view);
        self.end_statement(result)?;
        Ok(CommandTag::counted("COPY", count))
    }

    fn copy_to(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<CommandTag> {
        let (sql, position) = match &copy.what {
            CopyWhat::Query(source) => (source.text.clone(), source.offset),
            CopyWhat::Table(name, columns) => {
                let parts: Vec<String> = name.parts.iter().map(|part| quoted(part)).collect();
                let relation = match self.ddl_context().find(name)? {
                    Some(Found::Own(relation)) => relation,
                    Some(Found::System(..)) if columns.is_empty() => {
                        return self.copy_query(
                            copy,
                            &format!("SELECT * FROM {}", parts.join(".")),
                            0,
                            client,
                        );
                    }
                    _ => self.ddl_context().relation(name)?,
                };
                if let Relation::View(view) = &relation {
                    return Err(SqlError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("cannot copy from view \"{}\"", view.name),
                    )
                    .hint("Try the COPY (SELECT ...) TO variant."));
                }
                let list: Vec<String> = if columns.is_empty() {
                    let live = relation.columns().iter().filter(|c| !c.dropped && c.generated.is_none());
                    live.map(|c| quoted(&c.name)).collect()
                } else {
                    columns.iter().map(|c| quoted(c)).collect()
                };
                for column in columns {
                    if !relation.columns().iter().any(|c| !c.dropped && c.name == *column) {
                        return Err(SqlError::new(
                            SqlState::UNDEFINED_COLUMN,
                            format!("column \"{column}\" of relation \"{}\" does not exist", relation.name()),
                        ));
                    }
                }
                (format!("SELECT {} FROM {}", list.join(", "), parts.join(".")), 0)
            }
        };
        self.copy_query(copy, &sql, position, client)
    }

    /// COPY TO of a query's rows. `position` is where the query stands in the statement.
    fn copy_query(
        &mut self,
        copy: &Copy,
        sql: &str,
        position: u32,
        client: &mut dyn Client,
    ) -> Result<CommandTag> {
        let parsed = crate::parse::parse(sql)?.pop().ok_or_else(|| SqlError::internal("COPY of nothing"))?;
        let prepared = self
            .prepare_parsed(parsed, sql.into(), Box::new([]), false)
            .map_err(|error| crate::bind::shifted(error, position))?;
        let Some(columns) = &prepared.columns else {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "COPY query must have a RETURNING clause",
            ));
        };
        let planned = self.current_plan(&prepared)?;
        self.lock_tables(&planned.locks)?;
        let view = self.state.transaction(|t| {
            t.begin_statement();
            t.view()
        })?;
        client.copy_out_begin(false, columns.len())?;
        let options = &copy.options;
        let force = columns
            .iter()
            .map(|column| match &options.force_quote {
                None => false,
                Some(ForceColumns::All) => true,
                Some(ForceColumns::Some(names)) => names.contains(&column.name),
            })
            .collect();
        let writer = RowWriter::new(options, force, columns.len());
        let style = self.style();
        let outputs: Vec<&'static Type> = columns.iter().map(|c| c.functions).collect();
        let mut buffer = Vec::with_capacity(COPY_CHUNK_BYTES);
        if options.header != CopyHeader::Off {
            for (i, column) in columns.iter().enumerate() {
                writer.field(i, Some(column.name.as_bytes()), &mut buffer);
            }
            buffer.push(b'\n');
            client.copy_out_data(&buffer)?;
            buffer.clear();
        }
        let mut count = 0;
        let mut text = Vec::new();
        let mut push = |row: &[Datum<'_>]| -> Result<ControlFlow<()>> {
            for (i, (value, typ)) in row.iter().zip(&outputs).enumerate() {
                if value.is_null() {
                    writer.field(i, None, &mut buffer);
                    continue;
                }
                text.clear();
                (typ.output)(*value, &style, &mut text);
                writer.field(i, Some(&text), &mut buffer);
            }
            buffer.push(b'\n');
            count += 1;
            // One message per row, as PostgreSQL sends them: some clients count on it.
            client.copy_out_data(&buffer)?;
            buffer.clear();
            Ok(ControlFlow::Continue(()))
        };
        let result = match &planned.body {
            Body::Query(plan) => self.with_context(plan.cache_slots, &view, &[], None, |cx, _| {
                crate::row::run(&plan.root, cx, &mut |row_cx, row| {
                    planned.named.with_names(row_cx, row, &mut push)
                })
                .map(|_| ())
            }),
            Body::Dml { plan, cache_slots, .. } => {
                self.with_context(*cache_slots, &view, &[], None, |cx, _| {
                    plan.run(cx, &mut |row_cx, row| planned.named.with_names(row_cx, row, &mut push))
                        .map(|_| ())
                })
            }
            Body::Explain(..) | Body::Utility(_) => Err(SqlError::unsupported("COPY of this statement")),
        };
        drop(view);
        self.end_statement(result)?;
        Ok(CommandTag::counted("COPY", count))
    }
}

fn check_header(reader: &LineReader, columns: &[(&str, &'static Type)], _: &CopyOptions) -> Result<()> {
    if reader.fields.len() != columns.len() {
        return Err(SqlError::new(
            SqlState::BAD_COPY_FILE_FORMAT,
            format!(
                "wrong number of fields in header line: got {}, expected {}",
                reader.fields.len(),
                columns.len()
            ),
        ));
    }
    for (i, (name, _)) in columns.iter().enumerate() {
        let got = reader.field(i).map(String::from_utf8_lossy);
        if got.as_deref() != Some(*name) {
            return Err(SqlError::new(
                SqlState::BAD_COPY_FILE_FORMAT,
                format!(
                    "column name mismatch in header line field {}: got \"{}\", expected \"{name}\"",
                    i + 1,
                    got.unwrap_or_default()
                ),
            ));
        }
    }
    Ok(())
}

/// The values of a line.
fn read_row<'a>(
    reader: &LineReader,
    columns: &[(&str, &'static Type)],
    arena: &'a Arena,
    cx: &ExecContext<'a>,
    table: &str,
) -> Result<Vec<Datum<'a>>> {
    let bad =
        |message: String| in_line(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message), table, reader);
    // An empty line is a row of no columns, if there are none.
    let fields = if columns.is_empty() && reader.text.is_empty() { 0 } else { reader.fields.len() };
    if fields > columns.len() {
        return Err(bad("extra data after last expected column".into()));
    }
    let mut row = Vec::with_capacity(columns.len());
    for (i, (name, typ)) in columns.iter().enumerate() {
        if i >= fields {
            return Err(bad(format!("missing data for column \"{name}\"")));
        }
        let Some(bytes) = reader.field(i) else {
            row.push(Datum::Null);
            continue;
        };
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or_else(|| {
            let shown: Vec<String> = std::str::from_utf8(bytes).map_or_else(
                |e| bytes.iter().skip(e.valid_up_to()).take(1).map(|b| format!("0x{b:02x}")).collect(),
                |_| vec!["0x00".into()],
            );
            in_line(
                SqlError::new(
                    SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                    format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
                ),
                table,
                reader,
            )
        })?;
        let text = arena.str(text);
        let input = InputContext {
            arena,
            style: cx.statement.style,
            typ,
            typmod: -1,
            now: cx.statement.env.transaction_timestamp(),
        };
        let value = (typ.input)(text, &input).map_err(|error| in_column(error, table, reader, name, text))?;
        row.push(value);
    }
    Ok(row)
}

/// Context of an error about a whole line (`CopyFromErrorCallback`).
fn in_line(error: SqlError, table: &str, reader: &LineReader) -> SqlError {
    let text = String::from_utf8_lossy(reader.raw_line());
    error.context(format!("COPY {table}, line {}: \"{}\"", reader.line, cut(&text)))
}

/// Context of an error that a row's insertion raised. PostgreSQL has forgotten the line's text when it writes index entries.
fn in_row(error: SqlError, table: &str, reader: &LineReader) -> SqlError {
    if error.code() == SqlState::UNIQUE_VIOLATION {
        return error.context(format!("COPY {table}, line {}", reader.line));
    }
    in_line(error, table, reader)
}

/// Context of an error about one value.
fn in_column(error: SqlError, table: &str, reader: &LineReader, column: &str, text: &str) -> SqlError {
    error.context(format!("COPY {table}, line {}, column {column}: \"{}\"", reader.line, cut(text)))
}

fn cut(text: &str) -> String {
    if text.len() <= CONTEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = (0..=CONTEXT_BYTES_MAX).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default())
}

/// A name in double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
