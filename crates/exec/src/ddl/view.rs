//! CREATE VIEW (`commands/view.c`).

use super::DdlContext;
use super::types::type_collation;
use crate::bound::QueryColumn;
use crate::utility::object::CreateView;
use catalog::object::{Column, Object, Persistence, View};
use catalog::types::format_type;
use catalog::{Oid, Relation, Result, SqlError, SqlState, Value};

/// CREATE \[OR REPLACE\] VIEW.
pub fn create_view(cx: &DdlContext<'_>, create: &CreateView) -> Result<()> {
    if create.temporary {
        return Err(SqlError::unsupported("CREATE TEMPORARY VIEW"));
    }
    if create.recursive {
        return Err(SqlError::unsupported("CREATE RECURSIVE VIEW"));
    }
    if create.check_option {
        return Err(SqlError::unsupported("WITH CHECK OPTION"));
    }
    for (name, value) in &create.options {
        // security_barrier and security_invoker differ only where access rights are checked, which they are not yet.
        let off = matches!(value.as_str(), "false" | "off" | "0");
        if !matches!(name.as_str(), "security_barrier" | "security_invoker" | "check_option") {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("unrecognized parameter \"{name}\""),
            ));
        }
        if !off {
            return Err(SqlError::unsupported(format_args!("view option {name}")));
        }
    }
    let query = super::expression::define_query(cx, &create.query)?;
    let columns = view_columns(&query.columns, &create.columns)?;
    let schema = cx.creation_schema(&create.name)?;
    let name = create.name.last();
    let taken = cx.claim_relation_name(schema, name)?;
    let objects = cx.objects();
    let existing = objects.relation(schema, name);
    match existing {
        Some(Relation::View(old)) if create.replace => {
            check_replacement(old, &columns)?;
            cx.put(Object::View(View {
                columns,
                definition: query.text,
                depends_on: query.relations,
                ..(**old).clone()
            }))
        }
        Some(other) if create.replace => {
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a view", other.name())))
        }
        _ if taken => super::sequence::exists(cx, name, false),
        _ => cx.put(Object::View(View {
            oid: cx.new_oid()?,
            schema,
            name: name.to_owned(),
            owner: cx.session.current_role(),
            columns,
            definition: query.text,
            row_type: cx.new_oid()?,
            array_type: cx.new_oid()?,
            depends_on: query.relations,
            persistence: Persistence::Permanent,
        })),
    }
}

/// Columns of a relation made from a query, with the names given for the first of them.
pub fn view_columns(query: &[QueryColumn], names: &[String]) -> Result<Vec<Column>> {
    if names.len() > query.len() {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "CREATE VIEW specifies more column names than columns",
        ));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(query.len());
    for (i, column) in query.iter().enumerate() {
        let name = names.get(i).unwrap_or(&column.name).clone();
        if columns.iter().any(|c| c.name == name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{name}\" specified more than once"),
            ));
        }
        super::create_table::check_type(&name, column.typ.oid)?;
        columns.push(plain_column(name, column.typ));
    }
    Ok(columns)
}

/// A column without a default or constraints.
pub fn plain_column(name: String, typ: crate::bound::SqlType) -> Column {
    Column {
        name,
        typ: typ.oid,
        typmod: typ.typmod,
        not_null: false,
        default: None,
        generated: None,
        identity: None,
        dropped: false,
        missing: Value::Null,
        collation: type_collation(typ.oid),
        ndims: 0,
        attrdef_oid: Oid::INVALID,
    }
}

/// A view may only grow at its end when it is replaced (`checkViewTupleDesc`).
fn check_replacement(old: &View, new: &[Column]) -> Result<()> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message);
    if new.len() < old.columns.len() {
        return Err(invalid("cannot drop columns from view".into()));
    }
    for (old, new) in old.columns.iter().zip(new) {
        if old.name != new.name {
            return Err(invalid(format!(
                "cannot change name of view column \"{}\" to \"{}\"",
                old.name, new.name
            ))
            .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead."));
        }
        if old.typ != new.typ || old.typmod != new.typmod {
            return Err(invalid(format!(
                "cannot change data type of view column \"{}\" from {} to {}",
                old.name,
                format_type(old.typ, old.typmod),
                format_type(new.typ, new.typmod)
            )));
        }
    }
    Ok(())
}
