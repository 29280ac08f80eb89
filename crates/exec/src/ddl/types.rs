//! Type names of utility statements.

use crate::bound::SqlType;
use crate::utility::TypeName;
use catalog::pg::PG_TYPE;
use catalog::types::{self, oid};
use catalog::{Oid, Result, SqlError, SqlState};

/// The type that a name means. `schema_exists` tells whether a written schema is there.
pub fn resolve_type(name: &TypeName, schema_exists: impl Fn(&str) -> bool) -> Result<SqlType> {
    let missing = || {
        let shown = match &name.schema {
            Some(schema) => format!("{schema}.{}", name.name),
            None => name.name.clone(),
        };
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{shown}\" does not exist"))
            .at(name.position)
    };
    let base = match name.schema.as_deref() {
        // A quoted or qualified name is the one in pg_type, none of the grammar's words.
        Some("pg_catalog") => types::by_name(&name.name),
        Some(schema) if !schema_exists(schema) => {
            return Err(SqlError::new(
                SqlState::INVALID_SCHEMA_NAME,
                format!("schema \"{schema}\" does not exist"),
            )
            .at(name.position));
        }
        Some(_) => None,
        None => types::from_sql_name(&name.name),
    };
    let Some(base) = base else {
        return Err(if in_postgresql(&name.name) {
            SqlError::unsupported(format_args!("type {}", name.name)).at(name.position)
        } else {
            missing()
        });
    };
    let mut typmod = -1;
    let mut base = base;
    if base.oid == oid::FLOAT8 && name.name == "float" && !name.modifiers.is_empty() {
        base = float(&name.modifiers, name.position)?;
    } else if !name.modifiers.is_empty() || !name.fields.is_empty() {
        typmod = modifier(base, name)?;
    }
    if name.dimensions > 0 {
        if !base.array_oid.is_valid() {
            return Err(missing());
        }
        return Ok(SqlType { oid: base.array_oid, typmod });
    }
    Ok(SqlType { oid: base.oid, typmod })
}

/// float(p)
fn float(modifiers: &[String], position: u32) -> Result<&'static types::Type> {
    let precision: i64 = modifiers.first().and_then(|m| m.parse().ok()).unwrap_or(0);
    let error = |message: &str| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).at(position);
    let found = match precision {
        ..1 => return Err(error("precision for type float must be at least 1 bit")),
        1..25 => types::by_oid(oid::FLOAT4),
        25..54 => types::by_oid(oid::FLOAT8),
        _ => return Err(error("precision for type float must be less than 54 bits")),
    };
    found.ok_or_else(|| SqlError::unsupported("type float"))
}

fn modifier(base: &types::Type, name: &TypeName) -> Result<i32> {
    if base.oid == oid::INTERVAL {
        return interval(name);
    }
    let Some(read) = base.typmod_in else {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!("type modifier is not allowed for type \"{}\"", base.name),
        )
        .at(name.position));
    };
    let modifiers: Vec<&str> = name.modifiers.iter().map(String::as_str).collect();
    read(&modifiers).map_err(|error| error.at(name.position))
}

/// Interval fields and precision as `intervaltypmodin` packs them (`timestamp.h`: INTERVAL_MASK, INTERVAL_FULL_RANGE).
fn interval(name: &TypeName) -> Result<i32> {
    const BITS: [(&str, i32); 6] =
        [("month", 1), ("year", 2), ("day", 3), ("hour", 10), ("minute", 11), ("second", 12)];
    const ORDER: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];
    let range = match name.fields.split_once(" to ") {
        None if name.fields.is_empty() => 0x7fff,
        None => BITS.iter().find(|(f, _)| *f == name.fields).map_or(0x7fff, |(_, bit)| 1 << bit),
        Some((from, to)) => {
            let place = |f: &str| ORDER.iter().position(|o| *o == f).unwrap_or(0);
            let fields = ORDER.get(place(from)..=place(to)).unwrap_or_default();
            BITS.iter().filter(|(f, _)| fields.contains(f)).map(|(_, bit)| 1 << bit).sum()
        }
    };
    let precision = match name.modifiers.first() {
        None => 0xffff,
        Some(text) => text.parse::<i32>().ok().filter(|p| *p >= 0).map(|p| p.min(6)).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("INTERVAL({text}) precision must not be negative"),
            )
        })?,
    };
    Ok((range << 16) | precision)
}

/// Whether PostgreSQL has a type of this name that pgfusion lacks.
fn in_postgresql(name: &str) -> bool {
    let t = &*PG_TYPE;
    let column = t.column("typname");
    t.rows.iter().any(|row| row.get(column).and_then(|v| v.as_deref()) == Some(name))
}

/// The collation of values of a type: the default one for collatable types (`C` for name), none for others.
pub fn type_collation(typ: Oid) -> Oid {
    match typ {
        oid::NAME => Oid::C_COLLATION,
        _ => match types::by_oid(typ) {
            Some(t) if t.collatable => Oid::DEFAULT_COLLATION,
            Some(t) if t.is_array() => type_collation(t.element),
            _ => Oid::INVALID,
        },
    }
}
