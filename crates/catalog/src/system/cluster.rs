//! Objects of the whole cluster: pg_database, pg_authid, pg_tablespace and so on.

use super::{Emitter, SystemContext, SystemRelation};
use crate::{Oid, Result};

/// pg_database
pub fn pg_database(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for database in cx.catalog.databases.values() {
        let owner = cx.catalog.roles.get(&database.owner).map_or("postgres", |r| r.name.as_str());
        out.row(relation, |r| {
            r.oid(database.oid).text(&database.name).oid(database.owner).int(6).char(b'c');
            r.bool(database.is_template)
                .bool(database.allow_connections)
                .int(database.connection_limit.into());
            r.int(716).int(1).oid(Oid(1663)).text("C").text("C").nulls(2);
            // Templates are closed to others, as initdb leaves them.
            if database.is_template && database.oid.0 < Oid::FIRST_NORMAL.0 {
                r.input(&format!("{{=c/{owner},{owner}=CTc/{owner}}}"))?;
            } else {
                r.null();
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_authid
pub fn pg_authid(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    for role in cx.catalog.roles.values() {
        let bootstrap = role.oid == Oid::POSTGRES_ROLE;
        out.row(relation, |r| {
            r.oid(role.oid).text(&role.name).bool(role.superuser).bool(true).bool(role.createrole);
            r.bool(role.createdb).bool(role.login).bool(bootstrap).bool(bootstrap).int(-1);
            r.text_or_null(role.password.as_deref()).null();
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_auth_members: those of the predefined roles.
pub fn pg_auth_members(
    _: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    const PG_MONITOR: Oid = Oid(3373);
    for role in [3374, 3375, 3377] {
        out.row(relation, |r| {
            r.oid(Oid(role)).oid(PG_MONITOR).oid(Oid::POSTGRES_ROLE).bool(false);
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_tablespace
pub fn pg_tablespace(
    _: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for (oid, name) in [(1663, "pg_default"), (1664, "pg_global")] {
        out.row(relation, |r| {
            r.oid(Oid(oid)).text(name).oid(Oid::POSTGRES_ROLE).nulls(2);
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_db_role_setting
pub fn pg_db_role_setting(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for o in cx.catalog.overrides.values() {
        let settings: Vec<String> =
            o.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        out.row(relation, |r| {
            r.oid(o.database).oid(o.role).text_array(&settings)?;
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_extension: plpgsql, as every database has it from its template.
pub fn pg_extension(
    _: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    out.row(relation, |r| {
        r.oid(Oid(13559))
            .text("plpgsql")
            .oid(Oid::POSTGRES_ROLE)
            .oid(Oid::PG_CATALOG)
            .bool(false)
            .text("1.0");
        r.nulls(2);
        Ok(())
    })
}
