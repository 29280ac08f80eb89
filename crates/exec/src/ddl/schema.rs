//! CREATE and ALTER SCHEMA.

use super::DdlContext;
use catalog::object::{Object, Schema};
use catalog::{Oid, Result, SqlError, SqlState};
use std::sync::Arc;

/// CREATE SCHEMA.
pub fn create_schema(
    cx: &DdlContext<'_>,
    name: Option<&str>,
    if_not_exists: bool,
    owner: Option<&str>,
) -> Result<()> {
    let owner_oid = owner.map_or(Ok(cx.session.current_role()), |owner| cx.role(owner))?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => cx.catalog().roles.get(&owner_oid).map(|r| r.name.clone()).unwrap_or_default(),
    };
    check_name(&name)?;
    cx.lock_name(Oid::INVALID, &name)?;
    if cx.schema(&name).is_ok() {
        let message = format!("schema \"{name}\" already exists");
        if if_not_exists {
            cx.notice(SqlState::DUPLICATE_SCHEMA, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, message));
    }
    let oid = cx.new_oid()?;
    cx.put(Object::Schema(Schema { oid, name, owner: owner_oid }))
}

fn check_name(name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(SqlError::new(SqlState::RESERVED_NAME, format!("unacceptable schema name \"{name}\""))
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    Ok(())
}

/// A schema that may be changed.
fn own_schema(cx: &DdlContext<'_>, name: &str) -> Result<Arc<Schema>> {
    let oid = cx.schema(name)?;
    cx.objects().schemas.get(&oid).cloned().ok_or_else(|| {
        SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for schema {name}"))
    })
}

/// ALTER SCHEMA ... RENAME TO.
pub fn rename_schema(cx: &DdlContext<'_>, name: &str, to: &str) -> Result<()> {
    let schema = own_schema(cx, name)?;
    cx.lock_name(Oid::INVALID, to)?;
    if cx.schema(to).is_ok() {
        return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{to}\" already exists")));
    }
    check_name(to)?;
    cx.put(Object::Schema(Schema { name: to.to_owned(), ..(*schema).clone() }))?;
    // Definitions name relations with their schema.
    super::expression::rewrite_schema_name(cx, name, to)
}

/// ALTER SCHEMA ... OWNER TO.
pub fn schema_owner(cx: &DdlContext<'_>, name: &str, owner: &str) -> Result<()> {
    let schema = own_schema(cx, name)?;
    let owner = cx.role(owner)?;
    cx.put(Object::Schema(Schema { owner, ..(*schema).clone() }))
}
