//! DROP, TRUNCATE, COMMENT, GRANT, REVOKE.

use super::unsupported;
use crate::utility::alter::RelationKind;
use crate::utility::object::{CommentTarget, Ddl, Grant};
use crate::utility::{Name, Tokens, Utility};
use catalog::{Result, SqlError, SqlState};

fn ddl(ddl: Ddl) -> Result<Utility> {
    Ok(Utility::Ddl(Box::new(ddl)))
}

const KINDS: [(&str, RelationKind); 5] = [
    ("table", RelationKind::Table),
    ("index", RelationKind::Index),
    ("sequence", RelationKind::Sequence),
    ("view", RelationKind::View),
    ("materialized view", RelationKind::MaterializedView),
];

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    let word = t.label()?;
    match word.as_str() {
        "drop" => drop(t),
        "truncate" => truncate(t),
        "comment" => comment(t),
        _ => grant(t, word == "grant"),
    }
}

fn drop(t: &mut Tokens<'_>) -> Result<Utility> {
    if let Some((_, kind)) = KINDS.iter().find(|(word, _)| t.accept(word)) {
        let concurrently = *kind == RelationKind::Index && t.accept("concurrently");
        let if_exists = t.if_exists();
        let names = t.comma_list(Tokens::qualified)?;
        let cascade = t.cascade();
        return ddl(Ddl::DropRelations { kind: *kind, names, if_exists, cascade, concurrently });
    }
    if t.accept("schema") {
        let if_exists = t.if_exists();
        let names = t.comma_list(Tokens::name)?;
        return ddl(Ddl::DropSchema(names, if_exists, t.cascade()));
    }
    if t.accept("database") {
        let if_exists = t.if_exists();
        let name = t.name()?;
        t.accept("with");
        let force = t.accept_punct("(");
        if force {
            t.expect("force")?;
            t.expect_punct(")")?;
        }
        return ddl(Ddl::DropDatabase(name, if_exists, force));
    }
    if (t.is(0, "role") || t.is(0, "user") || t.is(0, "group")) && !t.is(1, "mapping") {
        t.advance();
        let if_exists = t.if_exists();
        return ddl(Ddl::DropRole(t.comma_list(Tokens::role)?, if_exists));
    }
    if t.is(0, "owned") {
        return unsupported(t, "DROP OWNED");
    }
    // Kinds of which there are no objects: IF EXISTS finds nothing, and without it the object does not exist.
    for kind in ["type", "domain", "extension", "collation", "conversion", "language"] {
        if t.accept(kind) {
            let if_exists = t.if_exists();
            let names = t.comma_list(|t| Ok(t.qualified()?.to_string()))?;
            t.cascade();
            return ddl(Ddl::DropOther(kind.to_owned(), names, if_exists));
        }
    }
    let Some(word) = t.peek_word() else { return Err(t.unexpected()) };
    let kind = match word {
        "function" | "procedure" | "routine" | "aggregate" | "operator" | "cast" | "trigger" | "policy"
        | "rule" | "publication" | "subscription" | "server" | "statistics" | "tablespace" | "transform" => {
            word.to_uppercase()
        }
        "access" => "ACCESS METHOD".into(),
        "event" => "EVENT TRIGGER".into(),
        "foreign" => "FOREIGN TABLE".into(),
        "text" => "TEXT SEARCH".into(),
        "user" => "USER MAPPING".into(),
        _ => return Err(t.unexpected()),
    };
    unsupported(t, format!("DROP {kind}"))
}

fn truncate(t: &mut Tokens<'_>) -> Result<Utility> {
    t.accept("table");
    let names = t.comma_list(|t| {
        t.accept("only");
        let name = t.qualified()?;
        t.accept_op("*");
        Ok(name)
    })?;
    let restart = t.accept("restart identity");
    if !restart {
        t.accept("continue identity");
    }
    let cascade = t.cascade();
    ddl(Ddl::Truncate(names, restart, cascade))
}

fn comment(t: &mut Tokens<'_>) -> Result<Utility> {
    t.expect("on")?;
    let target = if let Some((_, kind)) = KINDS.iter().find(|(word, _)| t.accept(word)) {
        CommentTarget::Relation(*kind, t.qualified()?)
    } else if t.accept("column") {
        let mut name = t.qualified()?;
        let column = name.parts.pop().unwrap_or_default();
        if name.parts.is_empty() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "column name must be qualified"));
        }
        CommentTarget::Column(name, column)
    } else if t.accept("schema") {
        CommentTarget::Schema(t.name()?)
    } else if t.accept("database") {
        CommentTarget::Database(t.name()?)
    } else if t.accept("role") {
        CommentTarget::Role(t.role()?)
    } else if t.accept("constraint") {
        let name = t.name()?;
        t.expect("on")?;
        if t.is(0, "domain") {
            return unsupported(t, "COMMENT ON CONSTRAINT ON DOMAIN");
        }
        CommentTarget::Constraint(name, t.qualified()?)
    } else if t.accept("type") {
        CommentTarget::Type(t.typ()?)
    } else {
        let Some(word) = t.peek_word() else { return Err(t.unexpected()) };
        let kind = word.to_uppercase();
        while !t.at_end() && !t.is(0, "is") {
            t.advance();
        }
        CommentTarget::Unsupported(format!("COMMENT ON {kind}"))
    };
    t.expect("is")?;
    let text = if t.accept("null") { None } else { Some(t.string()?) };
    ddl(Ddl::Comment(target, text))
}

fn grant(t: &mut Tokens<'_>, grant: bool) -> Result<Utility> {
    if !grant {
        for option in ["grant option for", "admin option for"] {
            if t.accept(option) {
                return unsupported(t, "REVOKE ... OPTION FOR");
            }
        }
    }
    let mut privileges = Vec::new();
    if t.is(0, "on") {
        return Err(t.unexpected());
    }
    if t.accept("all") {
        t.accept("privileges");
        if t.is_punct(0, "(") {
            return unsupported(t, "column privileges");
        }
    } else {
        privileges = t.comma_list(Tokens::label)?;
        if t.is_punct(0, "(") {
            return unsupported(t, "column privileges");
        }
    }
    let (kind, objects) = if t.accept("on") { objects(t)? } else { ("ROLE".to_owned(), Vec::new()) };
    t.expect(if grant { "to" } else { "from" })?;
    let grantees = t.comma_list(|t| {
        t.accept("group");
        t.role()
    })?;
    if t.is(0, "with") {
        return unsupported(t, "WITH GRANT OPTION");
    }
    if t.accept("granted by") {
        t.role()?;
    }
    if !grant {
        t.cascade();
    }
    ddl(Ddl::Grant(Box::new(Grant { grant, privileges, kind, objects, grantees })))
}

fn objects(t: &mut Tokens<'_>) -> Result<(String, Vec<Name>)> {
    if t.accept("all") {
        let kind = t.label()?;
        t.expect("in schema")?;
        let schemas = t.comma_list(Tokens::qualified)?;
        return Ok((format!("ALL {} IN SCHEMA", kind.to_uppercase()), schemas));
    }
    let mut kind = "TABLE".to_owned();
    for word in [
        "table",
        "sequence",
        "database",
        "domain",
        "foreign data wrapper",
        "foreign server",
        "function",
        "procedure",
        "routine",
        "language",
        "large object",
        "parameter",
        "schema",
        "tablespace",
        "type",
    ] {
        if t.accept(word) {
            kind = word.to_uppercase();
            break;
        }
    }
    let objects = t.comma_list(|t| {
        let name = t.qualified()?;
        if t.is_punct(0, "(") {
            t.parenthesized()?;
        }
        Ok(name)
    })?;
    Ok((kind, objects))
}
