//! Names of types to types, with their modifiers (compare `parse_type.c`).

use super::type_info::{self, array_of, element_of};
use super::{BindContext, Binder};
use crate::bound::SqlType;
use crate::parse::ast::{Expr, ExprKind, Literal, TypeName};
use catalog::types as ct;
use catalog::{Oid, Result, Severity, SqlError, SqlState};

/// The base types of information_schema's domains: OIDs of the domains are not those of other clusters, values are the same.
pub fn information_schema_domain(name: &str) -> Option<SqlType> {
    Some(match name {
        "cardinal_number" => SqlType::plain(ct::oid::INT4),
        "character_data" => SqlType::plain(ct::oid::VARCHAR),
        "sql_identifier" => SqlType::plain(ct::oid::NAME),
        "time_stamp" => SqlType { oid: ct::oid::TIMESTAMPTZ, typmod: 2 },
        "yes_or_no" => SqlType { oid: ct::oid::VARCHAR, typmod: 3 + 4 },
        _ => return None,
    })
}

/// The type that a type name means; for utility statements.
pub fn resolve_type(typ: &TypeName, cx: &BindContext<'_>) -> Result<SqlType> {
    Binder::new(cx).type_name(typ)
}

/// 22023, a warning, for a time with more than six decimals (`anytime_typmod_check`).
pub(crate) fn precision_warning(oid: Oid, precision: i32) -> Option<SqlError> {
    let (name, zone) = match oid {
        ct::oid::TIME => ("TIME", ""),
        ct::oid::TIMETZ => ("TIME", " WITH TIME ZONE"),
        ct::oid::TIMESTAMP => ("TIMESTAMP", ""),
        ct::oid::TIMESTAMPTZ => ("TIMESTAMP", " WITH TIME ZONE"),
        _ => return None,
    };
    if precision <= 6 {
        return None;
    }
    let message = format!("{name}({precision}){zone} precision reduced to maximum allowed, 6");
    Some(SqlError::with_severity(Severity::Warning, SqlState::INVALID_PARAMETER_VALUE, message))
}

impl Binder<'_> {
    /// The type that a type name means: 42704 if there is none, 0A000 if PostgreSQL has it and pgfusion does not.
    pub(crate) fn type_name(&self, typ: &TypeName) -> Result<SqlType> {
        let position = typ.pos;
        if typ.setof {
            let text = type_text(typ);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("type \"SETOF {text}\" is not allowed here"),
            )
            .at(position));
        }
        let mut found = self.named_type(typ)?;
        if !typ.typmods.is_empty() {
            found.typmod = typmod(found.oid, typ)?;
            if let [modifier] = typ.typmods.as_slice()
                && let Ok(Ok(precision)) = word(modifier, position).map(|word| word.parse())
                && let Some(warning) = precision_warning(found.oid, precision)
            {
                self.cx.env.notice(warning.at(position));
            }
        }
        if !typ.bounds.is_empty() && !element_of(found.oid).is_valid() {
            let array = array_of(found.oid);
            if !array.is_valid() {
                let text = type_text(typ);
                return Err(SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("type \"{text}[]\" does not exist"),
                )
                .at(position));
            }
            found.oid = array;
        }
        let complex = type_info::is_complex(found.oid);
        if ct::by_oid(found.oid).is_none() && !complex && found.oid != ct::oid::RECORD {
            let name = type_info::format(found.oid);
            return Err(SqlError::unsupported(format_args!("type {name}")).at(position));
        }
        Ok(found)
    }

    fn named_type(&self, typ: &TypeName) -> Result<SqlType> {
        let (schema, name) = match typ.names.as_slice() {
            [name] => (None, name.as_str()),
            [schema, name] | [_, schema, name] => (Some(schema.as_str()), name.as_str()),
            _ => (None, ""),
        };
        if schema == Some("information_schema")
            && let Some(domain) = information_schema_domain(name)
        {
            return Ok(domain);
        }
        if let None | Some("pg_catalog") = schema
            && let Some(oid) = type_info::by_name(name)
        {
            return Ok(SqlType::plain(oid));
        }
        let relation = match schema {
            Some(schema) => self.schema_oid(schema).and_then(|schema| self.objects.relation(schema, name)),
            None => self.path.iter().find_map(|schema| self.objects.relation(*schema, name)),
        };
        let row_type = match relation {
            Some(catalog::Relation::Table(table)) => Some(table.row_type),
            Some(catalog::Relation::View(view)) => Some(view.row_type),
            _ => None,
        };
        match row_type {
            Some(oid) => Ok(SqlType::plain(oid)),
            None => {
                if let Some(schema) = schema.filter(|schema| self.schema_oid(schema).is_none()) {
                    let message = format!("schema \"{schema}\" does not exist");
                    return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message).at(typ.pos));
                }
                let text = type_text(typ);
                Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{text}\" does not exist"))
                    .at(typ.pos))
            }
        }
    }
}

fn type_text(typ: &TypeName) -> String {
    typ.names.join(".")
}

/// `typenameTypeMod`
fn typmod(oid: Oid, typ: &TypeName) -> Result<i32> {
    let words: Result<Vec<String>> = typ.typmods.iter().map(|m| word(m, typ.pos)).collect();
    let words = words?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The grammar gives `char` its length 1, which the array type of it shares.
    match ct::by_oid(oid).and_then(|t| t.typmod_in) {
        Some(read) => read(&words).map_err(|e| e.at(typ.pos)),
        None => {
            let text = type_info::format(oid);
            Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("type modifier is not allowed for type \"{text}\""),
            )
            .at(typ.pos))
        }
    }
}

fn word(modifier: &Expr, position: u32) -> Result<String> {
    match &modifier.kind {
        ExprKind::Literal(Literal::Int(value)) => Ok(value.to_string()),
        ExprKind::Literal(Literal::Number(text) | Literal::String(text)) => Ok(text.clone()),
        ExprKind::Column(names, false) if names.len() == 1 => Ok(names.concat()),
        _ => Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "type modifiers must be simple constants or identifiers",
        )
        .at(position)),
    }
}
