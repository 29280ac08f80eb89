//! CREATE, ALTER, DROP DATABASE (`commands/dbcommands.c`).

use super::{DdlContext, initial};
use catalog::object::{Class, Database, Object, ObjectId};
use catalog::{Oid, Result, SqlError, SqlState};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn missing(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_DATABASE, format!("database \"{name}\" does not exist"))
}

fn find(cx: &DdlContext<'_>, name: &str) -> Result<Arc<Database>> {
    cx.catalog().database_by_name(name).cloned().ok_or_else(|| missing(name))
}

fn boolean(value: &str) -> bool {
    !matches!(value, "false" | "off" | "0" | "no")
}

/// CREATE DATABASE. A template is copied only if it is empty: template0 and template1 as they come.
pub fn create_database(cx: &DdlContext<'_>, name: &str, options: &[(String, String, u32)]) -> Result<()> {
    cx.refuse_in_block("CREATE DATABASE")?;
    let mut database = Database {
        oid: Oid::INVALID,
        name: name.to_owned(),
        owner: cx.session.current_role(),
        is_template: false,
        allow_connections: true,
        connection_limit: -1,
    };
    let mut template = "template1".to_owned();
    for (option, value, position) in options {
        let default = value == "\0default";
        match option.as_str() {
            "owner" if !default => database.owner = cx.role(value)?,
            "template" if !default => template = value.clone(),
            "owner" | "template" | "encoding" | "locale" | "lc_collate" | "lc_ctype" | "connection_limit"
            | "allow_connections" | "is_template" | "tablespace" | "strategy"
                if default => {}
            "encoding" => encoding(value)?,
            "locale" | "lc_collate" | "lc_ctype" => locale(value)?,
            "connection_limit" => database.connection_limit = value.parse().unwrap_or(-1),
            "allow_connections" => database.allow_connections = boolean(value),
            "is_template" => database.is_template = boolean(value),
            "tablespace" if value == "pg_default" => {}
            "tablespace" => {
                return Err(SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("tablespace \"{value}\" does not exist"),
                ));
            }
            // Ways of copying a template; there is nothing to copy.
            "strategy" if matches!(value.to_lowercase().as_str(), "wal_log" | "file_copy") => {}
            "locale_provider" if value.eq_ignore_ascii_case("libc") => {}
            "icu_locale" | "locale_provider" | "collation_version" | "oid" | "strategy" => {
                return Err(SqlError::unsupported(format_args!("CREATE DATABASE option {option}")));
            }
            _ => {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("option \"{option}\" not recognized"),
                )
                .at(*position));
            }
        }
    }
    let catalog = cx.catalog();
    let Some(source) = catalog.database_by_name(&template) else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_DATABASE,
            format!("template database \"{template}\" does not exist"),
        ));
    };
    let used =
        catalog.objects.get(&source.oid).is_some_and(|o| !o.relations.is_empty() || o.schemas.len() > 1);
    if used {
        return Err(SqlError::unsupported(format_args!(
            "copying the template database \"{template}\", which has objects in it,"
        )));
    }
    cx.lock_name(Oid(1), name)?;
    if cx.catalog().database_by_name(name).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_DATABASE,
            format!("database \"{name}\" already exists"),
        ));
    }
    database.oid = cx.new_oid()?;
    let oid = database.oid;
    cx.put(Object::Database(database))?;
    for (_, object) in initial::database_objects(oid) {
        cx.put_in(oid, object)?;
    }
    Ok(())
}

fn encoding(value: &str) -> Result<()> {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_lowercase().as_str() {
        "utf8" | "unicode" | "6" => Ok(()),
        other => Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!(
                "new encoding ({}) is incompatible with the encoding of the template database (UTF8)",
                other.to_uppercase()
            ),
        )
        .hint("Use the same encoding as in the template database, or use template0 as template.")),
    }
}

fn locale(value: &str) -> Result<()> {
    match value {
        "C" | "POSIX" | "C.UTF-8" | "C.utf8" => Ok(()),
        _ => Err(SqlError::unsupported(format_args!("the locale \"{value}\""))),
    }
}

/// DROP DATABASE.
pub fn drop_database(cx: &DdlContext<'_>, name: &str, if_exists: bool, force: bool) -> Result<()> {
    cx.refuse_in_block("DROP DATABASE")?;
    cx.lock_name(Oid(1), name)?;
    let catalog = cx.catalog();
    let Some(database) = catalog.database_by_name(name) else {
        if if_exists {
            cx.notice(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("database \"{name}\" does not exist, skipping"),
            );
            return Ok(());
        }
        return Err(missing(name));
    };
    if database.oid == cx.session.database() {
        return Err(SqlError::new(SqlState::OBJECT_IN_USE, "cannot drop the currently open database"));
    }
    if database.is_template {
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    let others = wait_for_others(cx, database.oid)?;
    if others > 0 {
        if force {
            return Err(SqlError::unsupported("DROP DATABASE ... WITH (FORCE) while others are connected"));
        }
        return Err(in_use(name, others));
    }
    let Some(objects) = catalog.objects.get(&database.oid).cloned() else { return Ok(()) };
    let id = |class, oid, sub| ObjectId { database: database.oid, class, oid, sub };
    for (oid, relation) in &objects.relations {
        let class = match relation {
            catalog::Relation::Table(table) => {
                cx.transaction(|t| {
                    t.drop_relation(storage::RelationId(table.relation));
                    Ok(())
                })?;
                Class::Table
            }
            catalog::Relation::Index(index) => {
                if index.relation != 0 {
                    cx.transaction(|t| {
                        t.drop_relation(storage::RelationId(index.relation));
                        Ok(())
                    })?;
                }
                Class::Index
            }
            catalog::Relation::Sequence(sequence) => {
                cx.transaction(|t| {
                    t.drop_relation(storage::RelationId(sequence.relation));
                    Ok(())
                })?;
                Class::Sequence
            }
            catalog::Relation::View(_) => Class::View,
        };
        cx.remove(id(class, *oid, 0))?;
    }
    for oid in objects.constraints.keys() {
        cx.remove(id(Class::Constraint, *oid, 0))?;
    }
    for oid in objects.schemas.keys() {
        cx.remove(id(Class::Schema, *oid, 0))?;
    }
    for (_, oid, sub) in objects.comments.keys() {
        cx.remove(id(Class::Comment, *oid, *sub))?;
    }
    let overrides = catalog.overrides.values().filter(|o| o.database == database.oid);
    for overriding in overrides {
        cx.remove(ObjectId {
            database: Oid::INVALID,
            class: Class::SettingOverride,
            oid: overriding.oid,
            sub: 0,
        })?;
    }
    cx.remove(ObjectId { database: Oid::INVALID, class: Class::Database, oid: database.oid, sub: 0 })
}

/// Other sessions in a database. One that is just ending gets up to five seconds for it (`CountOtherDBBackends`).
fn wait_for_others(cx: &DdlContext<'_>, database: Oid) -> Result<usize> {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let others = cx.session.sessions_in(database);
        if others == 0 || Instant::now() >= end {
            return Ok(others);
        }
        cx.session.sleep(Duration::from_millis(10))?;
    }
}

fn in_use(name: &str, others: usize) -> SqlError {
    let detail = if others == 1 {
        "There is 1 other session using the database.".to_owned()
    } else {
        format!("There are {others} other sessions using the database.")
    };
    SqlError::new(SqlState::OBJECT_IN_USE, format!("database \"{name}\" is being accessed by other users"))
        .detail(detail)
}

/// ALTER DATABASE ... RENAME TO.
pub fn rename_database(cx: &DdlContext<'_>, name: &str, to: &str) -> Result<()> {
    let database = find(cx, name)?;
    cx.lock_name(Oid(1), to)?;
    if cx.catalog().database_by_name(to).is_some() {
        return Err(SqlError::new(SqlState::DUPLICATE_DATABASE, format!("database \"{to}\" already exists")));
    }
    if database.oid == cx.session.database() {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "current database cannot be renamed"));
    }
    let others = wait_for_others(cx, database.oid)?;
    if others > 0 {
        return Err(in_use(name, others));
    }
    cx.put(Object::Database(Database { name: to.to_owned(), ..(*database).clone() }))
}

/// ALTER DATABASE ... OWNER TO.
pub fn database_owner(cx: &DdlContext<'_>, name: &str, owner: &str) -> Result<()> {
    let database = find(cx, name)?;
    let owner = cx.role(owner)?;
    cx.put(Object::Database(Database { owner, ..(*database).clone() }))
}
