//! CREATE of everything but table elements.

use super::{session, table, unsupported};
use crate::parse::lexer::Kind;
use crate::utility::object::{CreateView, Ddl, OverrideChange, RoleOption};
use crate::utility::table::{CreateIndex, IndexElement, SequenceOptions};
use crate::utility::{SetValue, Source, Tokens, Utility};
use catalog::Result;
use catalog::object::Persistence;

fn ddl(ddl: Ddl) -> Result<Utility> {
    Ok(Utility::Ddl(Box::new(ddl)))
}

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    t.expect("create")?;
    let replace = t.accept("or replace");
    if replace
        && ![
            "view",
            "temp",
            "temporary",
            "recursive",
            "function",
            "procedure",
            "aggregate",
            "rule",
            "trigger",
            "constraint",
            "transform",
            "language",
            "trusted",
            "procedural",
            "local",
            "global",
        ]
        .iter()
        .any(|w| t.is(0, w))
    {
        return Err(t.unexpected());
    }
    let scope = t.accept("local") || t.accept("global");
    let persistence = if t.accept("temporary") || t.accept("temp") {
        Persistence::Temporary
    } else if !scope && t.accept("unlogged") {
        Persistence::Unlogged
    } else if scope {
        return Err(t.unexpected());
    } else {
        Persistence::Permanent
    };
    if t.accept("table") {
        return table::create_table(t, persistence);
    }
    if t.accept("recursive view") {
        return create_view(t, replace, persistence, true);
    }
    if t.accept("view") {
        return create_view(t, replace, persistence, false);
    }
    if t.accept("sequence") {
        let if_not_exists = t.if_not_exists();
        let name = t.qualified()?;
        let options = Box::new(sequence_options(t)?);
        return ddl(Ddl::CreateSequence { name, if_not_exists, persistence, options });
    }
    if t.accept("materialized view") {
        return table::create_table_as(t, persistence, true);
    }
    if persistence != Persistence::Permanent {
        return Err(t.unexpected());
    }
    if t.is(0, "unique") || t.is(0, "index") {
        return create_index(t);
    }
    if t.accept("schema") {
        return create_schema(t);
    }
    if t.accept("database") {
        let name = t.name()?;
        t.accept("with");
        let mut options = Vec::new();
        while !t.at_end() {
            let position = t.position();
            let option = if t.accept("connection limit") { "connection_limit".into() } else { t.label()? };
            t.accept_op("=");
            let value = if t.accept("default") { "\0default".into() } else { t.option_value()? };
            options.push((option, value, position));
        }
        return ddl(Ddl::CreateDatabase(name, options));
    }
    if t.is(0, "role") || t.is(0, "user") || t.is(0, "group") {
        if t.is(1, "mapping") {
            return unsupported(t, "CREATE USER MAPPING");
        }
        let login = t.accept("user");
        if !login {
            t.advance();
        }
        let name = t.name()?;
        t.accept("with");
        let mut options = vec![RoleOption::Login(login)];
        options.extend(role_options(t)?);
        return ddl(Ddl::CreateRole(name, options));
    }
    let Some(word) = t.peek_word() else { return Err(t.unexpected()) };
    let kind = match word {
        "event" => "EVENT TRIGGER".to_owned(),
        "foreign" if t.is(1, "data") => "FOREIGN DATA WRAPPER".to_owned(),
        "foreign" => "FOREIGN TABLE".to_owned(),
        "access" => "ACCESS METHOD".to_owned(),
        "text" => "TEXT SEARCH".to_owned(),
        "constraint" => "CONSTRAINT TRIGGER".to_owned(),
        "default" => "CONVERSION".to_owned(),
        "function" | "procedure" | "type" | "domain" | "trigger" | "extension" | "aggregate" | "operator"
        | "cast" | "collation" | "conversion" | "policy" | "publication" | "subscription" | "rule"
        | "server" | "statistics" | "tablespace" | "transform" | "language" | "trusted" | "procedural" => {
            word.to_uppercase()
        }
        _ => return Err(t.unexpected()),
    };
    unsupported(t, format!("CREATE {kind}"))
}

fn create_view(
    t: &mut Tokens<'_>,
    replace: bool,
    persistence: Persistence,
    recursive: bool,
) -> Result<Utility> {
    if persistence == Persistence::Unlogged {
        return Err(t.unexpected());
    }
    let name = t.qualified()?;
    let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
    let options = if t.accept("with") { t.options()? } else { Vec::new() };
    t.expect("as")?;
    let mut query = t.source_until(|t| {
        t.is(0, "with")
            && (t.is(1, "check") || t.is(2, "check"))
            && (t.is(1, "check") || t.is(1, "cascaded") || t.is(1, "local"))
    })?;
    query.text.truncate(query.text.trim_end().len());
    let check_option = t.accept("with");
    if check_option {
        let _ = t.accept("cascaded") || t.accept("local");
        t.expect("check option")?;
    }
    ddl(Ddl::CreateView(Box::new(CreateView {
        name,
        replace,
        temporary: persistence == Persistence::Temporary,
        recursive,
        columns,
        options,
        query,
        check_option,
    })))
}

fn create_index(t: &mut Tokens<'_>) -> Result<Utility> {
    let unique = t.accept("unique");
    t.expect("index")?;
    let concurrently = t.accept("concurrently");
    let if_not_exists = t.if_not_exists();
    let name = if t.is(0, "on") && !if_not_exists { None } else { Some(t.name()?) };
    t.expect("on")?;
    t.accept("only");
    let table = t.qualified()?;
    let method = if t.accept("using") { Some(t.name()?) } else { None };
    t.expect_punct("(")?;
    let elements = t.comma_list(index_element)?;
    t.expect_punct(")")?;
    let include = if t.accept("include") { t.column_list()? } else { Vec::new() };
    let nulls_not_distinct = t.accept("nulls not distinct");
    if !nulls_not_distinct {
        t.accept("nulls distinct");
    }
    let options = if t.accept("with") { t.options()? } else { Vec::new() };
    table::tablespace(t)?;
    let predicate = if t.accept("where") { Some(t.rest()?) } else { None };
    ddl(Ddl::CreateIndex(Box::new(CreateIndex {
        name,
        if_not_exists,
        unique,
        concurrently,
        table,
        method,
        elements,
        include,
        nulls_not_distinct,
        options,
        predicate,
    })))
}

fn index_element(t: &mut Tokens<'_>) -> Result<IndexElement> {
    let key = if t.is_punct(0, "(") {
        Err(t.parenthesized()?)
    } else if t.is_punct(1, "(") || (t.is_punct(1, ".") && t.is_punct(3, "(")) {
        // A function call needs no parentheses around it.
        let start = t.place();
        while !t.is_punct(0, "(") {
            t.advance();
        }
        t.parenthesized()?;
        Err(t.source_since(start))
    } else {
        Ok(t.name()?)
    };
    let collation = if t.accept("collate") { Some(t.qualified()?) } else { None };
    let opclass = match t.peek_word() {
        Some("asc" | "desc" | "nulls" | "with") => None,
        Some(_) => Some(t.qualified()?),
        None if matches!(t.peek(0), Some(Kind::Quoted(_))) => Some(t.qualified()?),
        None => None,
    };
    let desc = t.accept("desc");
    if !desc {
        t.accept("asc");
    }
    let nulls_first = if t.accept("nulls first") {
        Some(true)
    } else if t.accept("nulls last") {
        Some(false)
    } else {
        None
    };
    Ok(IndexElement { key, collation, opclass, desc, nulls_first })
}

fn create_schema(t: &mut Tokens<'_>) -> Result<Utility> {
    let if_not_exists = t.if_not_exists();
    let name = if t.is(0, "authorization") { None } else { Some(t.name()?) };
    let owner = if t.accept("authorization") { Some(t.role()?) } else { None };
    if name.is_none() && owner.is_none() {
        return Err(t.unexpected());
    }
    if t.is(0, "create") || t.is(0, "grant") {
        return unsupported(t, "CREATE SCHEMA with schema elements");
    }
    ddl(Ddl::CreateSchema { name, if_not_exists, owner })
}

/// Options of CREATE and ALTER SEQUENCE, and of identity columns.
pub(super) fn sequence_options(t: &mut Tokens<'_>) -> Result<SequenceOptions> {
    let mut o = SequenceOptions::default();
    loop {
        if t.accept("as") {
            o.typ = Some(t.typ()?);
        } else if t.accept("start") {
            t.accept("with");
            o.start = Some(t.integer()?);
        } else if t.accept("increment") {
            t.accept("by");
            o.increment = Some(t.integer()?);
        } else if t.accept("minvalue") {
            o.min = Some(Some(t.integer()?));
        } else if t.accept("maxvalue") {
            o.max = Some(Some(t.integer()?));
        } else if t.accept("no minvalue") {
            o.min = Some(None);
        } else if t.accept("no maxvalue") {
            o.max = Some(None);
        } else if t.accept("no cycle") {
            o.cycle = Some(false);
        } else if t.accept("cycle") {
            o.cycle = Some(true);
        } else if t.accept("cache") {
            o.cache = Some(t.integer()?);
        } else if t.accept("owned by") {
            let name = if t.is(0, "none") { None } else { Some(t.qualified()?) };
            if name.is_none() {
                t.advance();
            }
            o.owned_by = Some(name);
        } else if t.accept("sequence name") {
            o.name = Some(t.qualified()?);
        } else if t.accept("restart") {
            t.accept("with");
            let number = matches!(t.peek(0), Some(Kind::Int(_) | Kind::Number(_) | Kind::Op(_)));
            o.restart = Some(if number { Some(t.integer()?) } else { None });
        } else {
            return Ok(o);
        }
    }
}

/// Options of CREATE and ALTER ROLE.
pub(super) fn role_options(t: &mut Tokens<'_>) -> Result<Vec<RoleOption>> {
    let mut options = Vec::new();
    while !t.at_end() {
        let position = t.place();
        if t.accept("password") || t.accept("encrypted password") {
            options.push(RoleOption::Password(if t.accept("null") { None } else { Some(t.string()?) }));
            continue;
        }
        if t.accept("connection limit") {
            if t.integer()? != -1 {
                options.push(RoleOption::Unsupported("CONNECTION LIMIT".into()));
            }
            continue;
        }
        if t.accept("valid until") {
            if t.string()? != "infinity" {
                options.push(RoleOption::Unsupported("VALID UNTIL".into()));
            }
            continue;
        }
        let word = t.label()?;
        options.push(match word.as_str() {
            "superuser" => RoleOption::Superuser(true),
            "nosuperuser" => RoleOption::Superuser(false),
            "login" => RoleOption::Login(true),
            "nologin" => RoleOption::Login(false),
            "createdb" => RoleOption::CreateDb(true),
            "nocreatedb" => RoleOption::CreateDb(false),
            "createrole" => RoleOption::CreateRole(true),
            "nocreaterole" => RoleOption::CreateRole(false),
            // Their defaults, or without memberships of no effect.
            "inherit" | "noreplication" | "nobypassrls" => continue,
            "noinherit" | "replication" | "bypassrls" | "in" | "role" | "admin" | "user" | "sysid" => {
                while !t.at_end() {
                    t.advance();
                }
                RoleOption::Unsupported(word.to_uppercase())
            }
            _ => {
                t.back_to(position);
                return Err(t.unexpected());
            }
        });
    }
    Ok(options)
}

/// SET and RESET of ALTER DATABASE and ALTER ROLE.
pub(super) fn override_change(t: &mut Tokens<'_>) -> Result<Option<OverrideChange>> {
    if t.accept("set") {
        let (name, value) = session::assignment(t)?;
        return Ok(Some(OverrideChange::Set(
            name,
            match value {
                SetValue::Values(values) => Some(values),
                SetValue::Default => None,
                SetValue::Current => return Err(t.unexpected()),
            },
        )));
    }
    if t.accept("reset") {
        return Ok(Some(if t.accept("all") {
            OverrideChange::ResetAll
        } else {
            OverrideChange::Reset(session::setting_name(t)?)
        }));
    }
    Ok(None)
}

/// The query after AS, without `WITH \[NO\] DATA`; the flag: with data.
pub(super) fn query_with_data(t: &mut Tokens<'_>) -> Result<(Source, bool)> {
    let query =
        t.source_until(|t| t.is(0, "with") && (t.is(1, "data") || (t.is(1, "no") && t.is(2, "data"))))?;
    let with_data = !t.accept("with no data");
    if with_data {
        t.accept("with data");
    }
    Ok((query, with_data))
}
