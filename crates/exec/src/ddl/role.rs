//! Roles, settings of roles and databases, GRANT and REVOKE.

use super::DdlContext;
use super::names::quote;
use crate::utility::object::{Grant, OverrideChange, RoleOption};
use catalog::object::{Class, Object, ObjectId, Role, SettingOverride};
use catalog::{Oid, Relation, Result, SqlError, SqlState};

fn check_name(name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(SqlError::new(SqlState::RESERVED_NAME, format!("role name \"{name}\" is reserved"))
            .detail("Role names starting with \"pg_\" are reserved."));
    }
    if matches!(name, "public" | "none") {
        return Err(SqlError::new(SqlState::RESERVED_NAME, format!("role name \"{name}\" is reserved")));
    }
    Ok(())
}

fn apply(role: &mut Role, options: &[RoleOption]) -> Result<()> {
    for option in options {
        match option {
            RoleOption::Superuser(on) => role.superuser = *on,
            RoleOption::Login(on) => role.login = *on,
            RoleOption::CreateDb(on) => role.createdb = *on,
            RoleOption::CreateRole(on) => role.createrole = *on,
            // Kept as given: authentication is by trust for now, and a verifier is made when it is not.
            RoleOption::Password(password) => role.password = password.clone(),
            RoleOption::Unsupported(what) => {
                return Err(SqlError::unsupported(format_args!("role option {what}")));
            }
        }
    }
    Ok(())
}

/// CREATE ROLE, USER, GROUP.
pub fn create_role(cx: &DdlContext<'_>, name: &str, options: &[RoleOption]) -> Result<()> {
    check_name(name)?;
    cx.lock_name(Oid(2), name)?;
    if cx.catalog().role_by_name(name).is_some() {
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("role \"{name}\" already exists")));
    }
    let mut role = Role {
        oid: cx.new_oid()?,
        name: name.to_owned(),
        superuser: false,
        login: false,
        createdb: false,
        createrole: false,
        password: None,
    };
    apply(&mut role, options)?;
    cx.put(Object::Role(role))
}

fn find(cx: &DdlContext<'_>, name: &str) -> Result<Role> {
    let oid = cx.role(name)?;
    cx.catalog()
        .roles
        .get(&oid)
        .map(|role| (**role).clone())
        .ok_or_else(|| SqlError::internal("role vanished"))
}

/// ALTER ROLE with options.
pub fn alter_role(cx: &DdlContext<'_>, name: &str, options: &[RoleOption]) -> Result<()> {
    let mut role = find(cx, name)?;
    apply(&mut role, options)?;
    cx.put(Object::Role(role))
}

/// ALTER ROLE ... RENAME TO.
pub fn rename_role(cx: &DdlContext<'_>, name: &str, to: &str) -> Result<()> {
    let mut role = find(cx, name)?;
    if role.oid == cx.session.session_role() {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "session user cannot be renamed"));
    }
    check_name(to)?;
    cx.lock_name(Oid(2), to)?;
    if cx.catalog().role_by_name(to).is_some() {
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("role \"{to}\" already exists")));
    }
    role.name = to.to_owned();
    cx.put(Object::Role(role))
}

/// DROP ROLE.
pub fn drop_roles(cx: &DdlContext<'_>, names: &[String], if_exists: bool) -> Result<()> {
    for name in names {
        let role = match find(cx, name) {
            Err(error) if if_exists && error.code() == SqlState::UNDEFINED_OBJECT => {
                cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.message()));
                continue;
            }
            result => result?,
        };
        if role.oid == cx.session.current_role() {
            return Err(SqlError::new(SqlState::OBJECT_IN_USE, "current user cannot be dropped"));
        }
        if role.oid == cx.session.session_role() {
            return Err(SqlError::new(SqlState::OBJECT_IN_USE, "session user cannot be dropped"));
        }
        if role.oid.0 < Oid::FIRST_NORMAL.0 {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!(
                    "cannot drop role {} because it is required by the database system",
                    quote(&role.name)
                ),
            ));
        }
        let owned = owned_objects(cx, role.oid);
        if !owned.is_empty() {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("role \"{}\" cannot be dropped because some objects depend on it", role.name),
            )
            .detail(owned.join("\n")));
        }
        for overriding in cx.catalog().overrides.values().filter(|o| o.role == role.oid) {
            cx.remove(shared(Class::SettingOverride, overriding.oid))?;
        }
        cx.remove(shared(Class::Role, role.oid))?;
    }
    Ok(())
}

fn shared(class: Class, oid: Oid) -> ObjectId {
    ObjectId { database: Oid::INVALID, class, oid, sub: 0 }
}

fn owned_objects(cx: &DdlContext<'_>, role: Oid) -> Vec<String> {
    let catalog = cx.catalog();
    let mut lines = Vec::new();
    for database in catalog.databases.values().filter(|d| d.owner == role) {
        lines.push(format!("owner of database {}", quote(&database.name)));
    }
    for (database, objects) in &catalog.objects {
        let mut here = Vec::new();
        for schema in objects.schemas.values().filter(|s| s.owner == role) {
            here.push(format!("owner of schema {}", quote(&schema.name)));
        }
        for relation in objects.relations.values() {
            let (owner, word) = match relation {
                Relation::Table(t) => (t.owner, "table"),
                Relation::View(v) => (v.owner, "view"),
                Relation::Sequence(s) if s.owned_by.is_none() => (s.owner, "sequence"),
                Relation::Sequence(_) | Relation::Index(_) => continue,
            };
            if owner == role {
                here.push(format!("owner of {word} {}", cx.shown_name(relation)));
            }
        }
        if *database == cx.session.database() {
            lines.extend(here);
        } else if !here.is_empty() {
            let name = catalog.databases.get(database).map(|d| d.name.clone()).unwrap_or_default();
            let s = if here.len() == 1 { "" } else { "s" };
            lines.push(format!("{} object{s} in database {}", here.len(), quote(&name)));
        }
    }
    lines
}

/// ALTER DATABASE ... SET, RESET.
pub fn database_setting(cx: &DdlContext<'_>, name: &str, change: &OverrideChange) -> Result<()> {
    let database = cx.catalog().database_by_name(name).map(|d| d.oid).ok_or_else(|| {
        SqlError::new(SqlState::UNDEFINED_DATABASE, format!("database \"{name}\" does not exist"))
    })?;
    change_override(cx, database, Oid::INVALID, change)
}

/// ALTER ROLE ... [IN DATABASE] SET, RESET.
pub fn role_setting(
    cx: &DdlContext<'_>,
    role: Option<&str>,
    database: Option<&str>,
    change: &OverrideChange,
) -> Result<()> {
    let role = role.map_or(Ok(Oid::INVALID), |role| cx.role(role))?;
    let database = match database {
        None => Oid::INVALID,
        Some(name) => cx.catalog().database_by_name(name).map(|d| d.oid).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_DATABASE, format!("database \"{name}\" does not exist"))
        })?,
    };
    change_override(cx, database, role, change)
}

fn change_override(cx: &DdlContext<'_>, database: Oid, role: Oid, change: &OverrideChange) -> Result<()> {
    let catalog = cx.catalog();
    let old = catalog.overrides.values().find(|o| o.database == database && o.role == role);
    let mut row = match old {
        Some(old) => (**old).clone(),
        None => SettingOverride { oid: cx.new_oid()?, database, role, settings: Vec::new() },
    };
    let forget = |settings: &mut Vec<(String, String)>, name: &str| {
        settings.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    };
    match change {
        OverrideChange::Set(name, Some(values)) => {
            let value = cx.session.check_setting(name, values)?;
            forget(&mut row.settings, name);
            row.settings.push((name.clone(), value));
        }
        OverrideChange::Set(name, None) | OverrideChange::Reset(name) => {
            cx.session.check_setting(name, &[]).or_else(|error| {
                if error.code() == SqlState::UNDEFINED_OBJECT { Err(error) } else { Ok(String::new()) }
            })?;
            forget(&mut row.settings, name);
        }
        OverrideChange::ResetAll => row.settings.clear(),
    }
    if row.settings.is_empty() {
        return if old.is_some() { cx.remove(shared(Class::SettingOverride, row.oid)) } else { Ok(()) };
    }
    cx.put(Object::SettingOverride(row))
}

/// The privileges of each kind of object, as GRANT names them.
fn privileges_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "TABLE" | "ALL TABLES IN SCHEMA" => {
            &["select", "insert", "update", "delete", "truncate", "references", "trigger"]
        }
        "SEQUENCE" | "ALL SEQUENCES IN SCHEMA" => &["usage", "select", "update"],
        "DATABASE" => &["create", "connect", "temporary", "temp"],
        "SCHEMA" => &["create", "usage"],
        _ => &[],
    }
}

/// GRANT and REVOKE. No access rights are kept or enforced yet, so only what would change nothing is accepted: grants to superusers
/// and owners, who may do everything anyway, and to nobody else.
pub fn grant(cx: &DdlContext<'_>, grant: &Grant) -> Result<()> {
    if grant.kind == "ROLE" {
        return Err(SqlError::unsupported(if grant.grant {
            "GRANT of role membership"
        } else {
            "REVOKE of role membership"
        }));
    }
    const ALL: [&str; 13] = [
        "select",
        "insert",
        "update",
        "delete",
        "truncate",
        "references",
        "trigger",
        "execute",
        "usage",
        "create",
        "temporary",
        "temp",
        "connect",
    ];
    let allowed = privileges_of(&grant.kind);
    for privilege in &grant.privileges {
        if !ALL.contains(&privilege.as_str()) {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("unrecognized privilege type \"{privilege}\""),
            ));
        }
        if !allowed.is_empty() && !allowed.contains(&privilege.as_str()) {
            let kind = match grant.kind.as_str() {
                "TABLE" => "relation",
                "SEQUENCE" => "sequence",
                "DATABASE" => "database",
                _ => "schema",
            };
            return Err(SqlError::new(
                SqlState::INVALID_GRANT_OPERATION,
                format!("invalid privilege type {} for {kind}", privilege.to_uppercase()),
            ));
        }
    }
    let mut owners = Vec::new();
    for object in &grant.objects {
        match grant.kind.as_str() {
            "TABLE" | "SEQUENCE" => owners.push(match cx.relation(object)? {
                Relation::Table(t) => t.owner,
                Relation::View(v) => v.owner,
                Relation::Sequence(s) => s.owner,
                Relation::Index(i) => {
                    return Err(SqlError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("\"{}\" is an index", i.name),
                    ));
                }
            }),
            "SCHEMA" | "ALL TABLES IN SCHEMA" | "ALL SEQUENCES IN SCHEMA" => {
                let oid = cx.schema(object.last())?;
                owners.push(cx.objects().schemas.get(&oid).map(|s| s.owner).unwrap_or(Oid::POSTGRES_ROLE));
            }
            "DATABASE" => {
                let catalog = cx.catalog();
                let database = catalog.database_by_name(object.last()).ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_DATABASE,
                        format!("database \"{}\" does not exist", object.last()),
                    )
                })?;
                owners.push(database.owner);
            }
            other => {
                let verb = if grant.grant { "GRANT" } else { "REVOKE" };
                return Err(SqlError::unsupported(format_args!("{verb} ON {other}")));
            }
        }
    }
    let catalog = cx.catalog();
    for grantee in &grant.grantees {
        let role = if grantee == "public" { None } else { Some(cx.role(grantee)?) };
        let without_effect = role.is_some_and(|role| {
            catalog.roles.get(&role).is_some_and(|r| r.superuser) || owners.iter().all(|owner| *owner == role)
        });
        if !without_effect || !grant.grant {
            let verb = if grant.grant { "GRANT to" } else { "REVOKE from" };
            return Err(SqlError::unsupported(format_args!(
                "{verb} {}",
                if grantee == "public" { "PUBLIC" } else { "roles" }
            ))
            .detail("Access privileges are not enforced yet: every role may do everything."));
        }
    }
    Ok(())
}
