//! Relations whose rows are PostgreSQL's own and nobody else's: the captured ones, converted once.

use super::row::from_text;
use super::{Emitter, SystemContext, SystemRelation};
use crate::pg::{
    PG_AGGREGATE, PG_AM, PG_AMOP, PG_AMPROC, PG_CAST, PG_COLLATION, PG_LANGUAGE, PG_OPCLASS, PG_OPERATOR,
    PG_OPFAMILY, PG_PROC, PG_RANGE, PG_TYPE, Tsv,
};
use crate::types::oid;
use crate::{Arena, Datum, Result, Value};
use std::sync::OnceLock;

/// A relation's captured rows, once they have been asked for.
pub type Cached = OnceLock<Vec<Box<[Value]>>>;

fn source(name: &str) -> Option<&'static Tsv> {
    Some(match name {
        "pg_type" => &PG_TYPE,
        "pg_proc" => &PG_PROC,
        "pg_operator" => &PG_OPERATOR,
        "pg_cast" => &PG_CAST,
        "pg_aggregate" => &PG_AGGREGATE,
        "pg_am" => &PG_AM,
        "pg_opclass" => &PG_OPCLASS,
        "pg_opfamily" => &PG_OPFAMILY,
        "pg_amop" => &PG_AMOP,
        "pg_amproc" => &PG_AMPROC,
        "pg_language" => &PG_LANGUAGE,
        "pg_range" => &PG_RANGE,
        "pg_collation" => &PG_COLLATION,
        _ => return None,
    })
}

/// The captured rows of a relation.
pub fn rows(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    let rows = match relation.cached.get() {
        Some(rows) => rows,
        None => {
            let converted = convert(relation)?;
            relation.cached.get_or_init(|| converted)
        }
    };
    for row in rows {
        if out.is_done() {
            break;
        }
        if let (Some(only), Some(Value::Int(first))) = (cx.only, row.first())
            && *first != i64::from(only.0)
        {
            continue;
        }
        let datums: Vec<Datum<'_>> = row.iter().map(Value::datum).collect();
        out.datums(&datums)?;
    }
    Ok(())
}

fn convert(relation: &SystemRelation) -> Result<Vec<Box<[Value]>>> {
    let Some(tsv) = source(relation.name) else { return Ok(Vec::new()) };
    let places: Vec<Option<usize>> =
        relation.columns.iter().map(|c| tsv.columns.iter().position(|name| *name == c.name)).collect();
    let mut arena = Arena::new();
    let mut rows = Vec::with_capacity(tsv.rows.len());
    for row in &tsv.rows {
        let mut values = Vec::with_capacity(places.len());
        for (place, column) in places.iter().zip(&relation.columns) {
            let text = match place {
                Some(place) => row.get(*place).and_then(|v| v.as_deref()),
                // Columns that were not captured are the same everywhere.
                None if !column.not_null => None,
                None if column.name.ends_with("owner") => Some("10"),
                None => Some(match column.typ {
                    oid::BOOL => "f",
                    oid::CHAR | oid::NAME | oid::TEXT => "",
                    _ => "0",
                }),
            };
            values.push(match text {
                Some(text) => from_text(column.typ, text, &arena)?.to_value(),
                None => Value::Null,
            });
        }
        rows.push(values.into_boxed_slice());
        arena.reset();
    }
    Ok(rows)
}
