//! The errors of violated constraints, worded and detailed as PostgreSQL does (execMain.c, execIndexing.c, genam.c).

use super::writer::{IndexWriter, TableWriter};
use crate::functions::definitions::index_key_text;
use crate::row::context::ExecContext;
use crate::row::expr::PhysicalExpr;
use catalog::types::Type;
use catalog::{Datum, SqlError, SqlState};

/// Values in a DETAIL are cut at so many bytes.
const VALUE_BYTES_MAX: usize = 64;

/// 23502
pub fn not_null(writer: &TableWriter, place: usize, row: &[Datum<'_>], cx: &ExecContext<'_>) -> SqlError {
    let column = writer.table.columns.get(place).map_or("", |c| c.name.as_str());
    let table = &writer.table.name;
    SqlError::new(
        SqlState::NOT_NULL_VIOLATION,
        format!("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"),
    )
    .detail(failing_row(writer, row, cx))
    .table(&writer.schema, table)
    .column(column)
}

/// 23514
pub fn check(writer: &TableWriter, name: &str, row: &[Datum<'_>], cx: &ExecContext<'_>) -> SqlError {
    let table = &writer.table.name;
    SqlError::new(
        SqlState::CHECK_VIOLATION,
        format!("new row for relation \"{table}\" violates check constraint \"{name}\""),
    )
    .detail(failing_row(writer, row, cx))
    .table(&writer.schema, table)
    .constraint(name)
}

/// 23505
pub fn unique(
    writer: &TableWriter,
    index: &IndexWriter,
    cx: &ExecContext<'_>,
    row: &[Datum<'_>],
) -> SqlError {
    let name = &index.name;
    let error = SqlError::new(
        SqlState::UNIQUE_VIOLATION,
        format!("duplicate key value violates unique constraint \"{name}\""),
    )
    .table(&writer.schema, &writer.table.name)
    .constraint(name);
    match key_detail(writer, index, cx, row) {
        Some(detail) => error.detail(format!("Key {detail} already exists.")),
        None => error,
    }
}

/// `(a, b)=(1, 2)`, as `BuildIndexValueDescription` has it.
fn key_detail(
    writer: &TableWriter,
    index: &IndexWriter,
    cx: &ExecContext<'_>,
    row: &[Datum<'_>],
) -> Option<String> {
    let arena = cx.eval.arena;
    let row: &[Datum<'_>] = arena.slice_with(row.len(), |i| row[i].copy_in(arena));
    let mut names = Vec::new();
    let mut values = Vec::new();
    for (place, (key, typ)) in index.key_columns().enumerate() {
        names.push(match key {
            PhysicalExpr::Slot(column) => writer.table.columns.get(*column)?.name.clone(),
            _ => index_key_text(&cx.eval, index.oid, place)?,
        });
        values.push(print(typ, key.eval(cx, row).ok()?, cx));
    }
    Some(format!("({})=({})", names.join(", "), values.join(", ")))
}

/// `Failing row contains (...)` (`ExecBuildSlotValueDescription`).
fn failing_row(writer: &TableWriter, row: &[Datum<'_>], cx: &ExecContext<'_>) -> String {
    let values: Vec<String> = writer
        .table
        .live_columns()
        .map(|(place, _)| {
            let value = row.get(place).copied().unwrap_or_default();
            let text = writer.types.get(place).map_or_else(String::new, |typ| print(typ, value, cx));
            match text
                .char_indices()
                .map(|(i, c)| i + c.len_utf8())
                .take_while(|end| *end <= VALUE_BYTES_MAX)
                .last()
            {
                Some(end) if text.len() > VALUE_BYTES_MAX => {
                    format!("{}...", text.get(..end).unwrap_or_default())
                }
                _ => text,
            }
        })
        .collect();
    format!("Failing row contains ({}).", values.join(", "))
}

fn print(typ: &Type, value: Datum<'_>, cx: &ExecContext<'_>) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    let mut text = Vec::new();
    (typ.output)(value, cx.eval.style, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
