//! ALTER.

use super::create::{override_change, role_options, sequence_options};
use super::{table, unsupported};
use crate::parse::lexer::Kind;
use crate::utility::alter::{AlterRelation, AlterTableAction, RelationKind};
use crate::utility::object::{Ddl, RoleOption};
use crate::utility::table::SequenceOptions;
use crate::utility::{Tokens, Utility};
use catalog::Result;
use catalog::object::Identity;

fn ddl(ddl: Ddl) -> Result<Utility> {
    Ok(Utility::Ddl(Box::new(ddl)))
}

pub(super) fn parse(t: &mut Tokens<'_>) -> Result<Utility> {
    t.expect("alter")?;
    let kinds = [
        ("table", RelationKind::Table),
        ("index", RelationKind::Index),
        ("sequence", RelationKind::Sequence),
        ("view", RelationKind::View),
        ("materialized view", RelationKind::MaterializedView),
    ];
    if let Some((_, kind)) = kinds.iter().find(|(word, _)| t.accept(word)) {
        return relation(t, *kind);
    }
    if t.accept("schema") {
        let name = t.name()?;
        if t.accept("rename to") {
            return ddl(Ddl::RenameSchema(name, t.name()?));
        }
        t.expect("owner to")?;
        return ddl(Ddl::SchemaOwner(name, t.role()?));
    }
    if t.accept("database") {
        let name = t.name()?;
        if t.accept("rename to") {
            return ddl(Ddl::RenameDatabase(name, t.name()?));
        }
        if t.accept("owner to") {
            return ddl(Ddl::DatabaseOwner(name, t.role()?));
        }
        if let Some(change) = override_change(t)? {
            return ddl(Ddl::DatabaseSetting(name, change));
        }
        return unsupported(t, "this form of ALTER DATABASE");
    }
    if t.is(0, "role") || t.is(0, "user") || t.is(0, "group") {
        if t.is(1, "mapping") {
            return unsupported(t, "ALTER USER MAPPING");
        }
        t.advance();
        return role(t);
    }
    if t.accept("system") {
        return unsupported(t, "ALTER SYSTEM");
    }
    let Some(word) = t.peek_word() else { return Err(t.unexpected()) };
    let kind = match word {
        "event" => "EVENT TRIGGER".to_owned(),
        "foreign" => "FOREIGN TABLE".to_owned(),
        "text" => "TEXT SEARCH".to_owned(),
        "default" => "DEFAULT PRIVILEGES".to_owned(),
        "large" => "LARGE OBJECT".to_owned(),
        "function" | "procedure" | "routine" | "type" | "domain" | "trigger" | "extension" | "aggregate"
        | "operator" | "collation" | "conversion" | "policy" | "publication" | "subscription" | "rule"
        | "server" | "statistics" | "tablespace" | "language" => word.to_uppercase(),
        _ => return Err(t.unexpected()),
    };
    unsupported(t, format!("ALTER {kind}"))
}

fn role(t: &mut Tokens<'_>) -> Result<Utility> {
    let name = if t.accept("all") { None } else { Some(t.role()?) };
    let database = if t.accept("in database") { Some(t.name()?) } else { None };
    if let Some(change) = override_change(t)? {
        return ddl(Ddl::RoleSetting(name, database, change));
    }
    let Some(name) = name.filter(|_| database.is_none()) else { return Err(t.unexpected()) };
    if t.accept("rename to") {
        return ddl(Ddl::RenameRole(name, t.name()?));
    }
    if t.is(0, "add") || t.is(0, "drop") {
        while !t.at_end() {
            t.advance();
        }
        return ddl(Ddl::AlterRole(name, vec![RoleOption::Unsupported("ALTER GROUP".into())]));
    }
    t.accept("with");
    ddl(Ddl::AlterRole(name, role_options(t)?))
}

fn relation(t: &mut Tokens<'_>, kind: RelationKind) -> Result<Utility> {
    if t.is(0, "all") && t.is(1, "in") {
        return unsupported(t, "ALTER ... ALL IN TABLESPACE");
    }
    let if_exists = t.if_exists();
    t.accept("only");
    let name = t.qualified()?;
    t.accept_op("*");
    let what = if t.accept("rename to") {
        AlterRelation::Rename(t.name()?)
    } else if t.accept("rename constraint") {
        let from = t.name()?;
        t.expect("to")?;
        AlterRelation::RenameConstraint(from, t.name()?)
    } else if t.accept("rename") {
        t.accept("column");
        let from = t.name()?;
        t.expect("to")?;
        AlterRelation::RenameColumn(from, t.name()?)
    } else if t.accept("set schema") {
        AlterRelation::SetSchema(t.name()?)
    } else if kind == RelationKind::Sequence && !t.is(0, "owner") && !t.is(0, "set") {
        let options = sequence_options(t)?;
        if options == SequenceOptions::default() {
            return Err(t.unexpected());
        }
        AlterRelation::Sequence(Box::new(options))
    } else {
        AlterRelation::Actions(
            t.comma_list(action).map_err(|error| table::with_table_name(error, name.last()))?,
        )
    };
    ddl(Ddl::AlterRelation(kind, name, if_exists, what))
}

fn action(t: &mut Tokens<'_>) -> Result<AlterTableAction> {
    if t.accept("add") {
        return add(t);
    }
    if t.accept("drop") {
        if t.accept("constraint") {
            let if_exists = t.if_exists();
            return Ok(AlterTableAction::DropConstraint(t.name()?, if_exists, t.cascade()));
        }
        t.accept("column");
        let if_exists = t.if_exists();
        return Ok(AlterTableAction::DropColumn(t.name()?, if_exists, t.cascade()));
    }
    if t.accept("alter constraint") {
        return skip(t, "ALTER CONSTRAINT");
    }
    if t.accept("alter") {
        t.accept("column");
        return alter_column(t);
    }
    if t.accept("validate constraint") {
        return Ok(AlterTableAction::ValidateConstraint(t.name()?));
    }
    if t.accept("owner to") {
        return Ok(AlterTableAction::Owner(t.role()?));
    }
    if t.accept("set") {
        if t.is_punct(0, "(") {
            return t.options().map(AlterTableAction::Options);
        }
        if t.accept("logged") {
            return Ok(AlterTableAction::SetLogged(true));
        }
        if t.accept("unlogged") {
            return Ok(AlterTableAction::SetLogged(false));
        }
        if t.accept("without oids") || t.accept("without cluster") {
            return Ok(AlterTableAction::Options(Vec::new()));
        }
        return skip(t, "this form of ALTER TABLE ... SET");
    }
    if t.accept("reset") {
        return t.column_list().map(AlterTableAction::ResetOptions);
    }
    let Some(word) = t.peek_word() else { return Err(t.unexpected()) };
    match word {
        "enable" | "disable" | "force" | "no" | "inherit" | "of" | "not" | "cluster" | "replica"
        | "attach" | "detach" | "depends" => skip(t, &format!("ALTER TABLE ... {}", word.to_uppercase())),
        _ => Err(t.unexpected()),
    }
}

fn skip(t: &mut Tokens<'_>, what: &str) -> Result<AlterTableAction> {
    while !t.at_end() {
        t.advance();
    }
    Ok(AlterTableAction::Unsupported(what.to_owned()))
}

fn add(t: &mut Tokens<'_>) -> Result<AlterTableAction> {
    let constraint = ["constraint", "check", "unique", "primary", "foreign"].iter().any(|w| t.is(0, w))
        || (t.is(0, "exclude") && (t.is(1, "using") || t.is_punct(1, "(")));
    if constraint {
        return table::table_constraint(t).map(AlterTableAction::AddConstraint);
    }
    t.accept("column");
    let if_not_exists = t.if_not_exists();
    Ok(AlterTableAction::AddColumn(table::column(t)?, if_not_exists))
}

fn alter_column(t: &mut Tokens<'_>) -> Result<AlterTableAction> {
    if matches!(t.peek(0), Some(Kind::Int(_))) {
        return skip(t, "ALTER INDEX ... ALTER COLUMN");
    }
    let column = t.name()?;
    if t.accept("set default") {
        return Ok(AlterTableAction::SetDefault(column, Some(t.expression()?)));
    }
    if t.accept("drop default") {
        return Ok(AlterTableAction::SetDefault(column, None));
    }
    if t.accept("set not null") {
        return Ok(AlterTableAction::SetNotNull(column, true));
    }
    if t.accept("drop not null") {
        return Ok(AlterTableAction::SetNotNull(column, false));
    }
    if t.accept("drop expression") {
        return Ok(AlterTableAction::DropExpression(column, t.if_exists()));
    }
    if t.accept("drop identity") {
        return Ok(AlterTableAction::DropIdentity(column, t.if_exists()));
    }
    if t.accept("set statistics") {
        return Ok(AlterTableAction::SetStatistics(column, t.integer()?));
    }
    if t.accept("add generated") {
        let identity = identity(t)?;
        t.expect("as identity")?;
        return Ok(AlterTableAction::AddIdentity(column, identity, Box::new(table::identity_options(t)?)));
    }
    if t.accept("set data type") || t.accept("type") {
        let typ = t.typ()?;
        let collation = if t.accept("collate") { Some(t.qualified()?) } else { None };
        let using = if t.accept("using") { Some(t.expression()?) } else { None };
        return Ok(AlterTableAction::SetType(column, typ, collation, using));
    }
    if t.is(0, "restart")
        || (t.is(0, "set") && !t.is_punct(1, "(") && !t.is(1, "storage") && !t.is(1, "compression"))
    {
        return set_identity(t, column);
    }
    if t.is(0, "set") || t.is(0, "reset") {
        return skip(t, "this form of ALTER COLUMN");
    }
    Err(t.unexpected())
}

fn identity(t: &mut Tokens<'_>) -> Result<Identity> {
    if t.accept("always") {
        return Ok(Identity::Always);
    }
    t.expect("by default")?;
    Ok(Identity::ByDefault)
}

/// `SET GENERATED ...`, `SET sequence_option`, `RESTART`, any number of them.
fn set_identity(t: &mut Tokens<'_>, column: String) -> Result<AlterTableAction> {
    let mut kind = None;
    let mut options = SequenceOptions::default();
    loop {
        if t.accept("set generated") {
            kind = Some(identity(t)?);
            continue;
        }
        let set = t.accept("set");
        if !set && !t.is(0, "restart") {
            break;
        }
        let part = sequence_options(t)?;
        if part == SequenceOptions::default() {
            return Err(t.unexpected());
        }
        options = SequenceOptions {
            typ: part.typ.or(options.typ),
            start: part.start.or(options.start),
            increment: part.increment.or(options.increment),
            min: part.min.or(options.min),
            max: part.max.or(options.max),
            cache: part.cache.or(options.cache),
            cycle: part.cycle.or(options.cycle),
            owned_by: part.owned_by.or(options.owned_by),
            restart: part.restart.or(options.restart),
            name: None,
        };
    }
    Ok(AlterTableAction::SetIdentity(column, kind, Box::new(options)))
}
