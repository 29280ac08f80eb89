//! CREATE TABLE AS and SELECT INTO: the table is made from the query's columns; its rows are the session's to run.

use super::view::plain_column;
use super::{DdlContext, create_table, sequence};
use crate::bound::QueryColumn;
use crate::utility::table::CreateTableAs;
use catalog::object::{Object, Table};
use catalog::{Result, SqlError, SqlState};
use std::sync::Arc;

/// Makes the table of CREATE TABLE AS for a query with these columns; `None` if it exists already and IF NOT EXISTS says so. The caller
/// then inserts the query's rows, one value per column in order, unless `with_data` is false.
pub fn create_table_as(
    cx: &DdlContext<'_>,
    create: &CreateTableAs,
    query: &[QueryColumn],
) -> Result<Option<Arc<Table>>> {
    if create.materialized_view {
        return Err(SqlError::unsupported("CREATE MATERIALIZED VIEW"));
    }
    create_table::check_persistence(create.persistence, create.on_commit)?;
    let schema = cx.creation_schema(&create.name)?;
    let name = create.name.last();
    if cx.claim_relation_name(schema, name)? {
        sequence::exists(cx, name, create.if_not_exists)?;
        return Ok(None);
    }
    if create.columns.len() > query.len() {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "too many column names were specified"));
    }
    let oid = cx.new_oid()?;
    let mut table = Table {
        oid,
        schema,
        name: name.to_owned(),
        owner: cx.session.current_role(),
        persistence: create.persistence,
        relation: oid.0,
        columns: Vec::with_capacity(query.len()),
        cluster: Vec::new(),
        row_type: cx.new_oid()?,
        array_type: cx.new_oid()?,
        options: create_table::table_options(&create.options)?,
    };
    for (i, column) in query.iter().enumerate() {
        let name = create.columns.get(i).unwrap_or(&column.name).clone();
        create_table::check_column_name(&table, &name)?;
        create_table::check_type(&name, column.typ.oid)?;
        table.columns.push(plain_column(name, column.typ));
    }
    cx.put(Object::Table(table.clone()))?;
    Ok(Some(Arc::new(table)))
}
