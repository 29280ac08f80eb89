//! CREATE TABLE: columns, constraints, LIKE.

use super::create::{query_with_data, sequence_options};
use super::unsupported;
use crate::parse::lexer::Kind;
use crate::utility::object::Ddl;
use crate::utility::table::{
    ColumnDefinition, ColumnFill, ConstraintDefinition, ConstraintSpec, CreateTable, CreateTableAs,
    LikeClause, OnCommit, References, ReferentialAction, TableElement,
};
use crate::utility::{Tokens, Utility};
use catalog::object::{Identity, Persistence};
use catalog::{Result, SqlError, SqlState};

pub(super) fn create_table(t: &mut Tokens<'_>, persistence: Persistence) -> Result<Utility> {
    let start = t.place();
    let if_not_exists = t.if_not_exists();
    let name = t.qualified()?;
    if t.is(0, "partition") {
        return unsupported(t, "CREATE TABLE ... PARTITION OF");
    }
    if t.is(0, "of") {
        return unsupported(t, "CREATE TABLE ... OF");
    }
    if !t.is_punct(0, "(") || is_name_list_then_as(t) {
        t.back_to(start);
        return create_table_as(t, persistence, false);
    }
    t.expect_punct("(")?;
    let elements = if t.is_punct(0, ")") {
        Vec::new()
    } else {
        t.comma_list(element).map_err(|error| with_table_name(error, name.last()))?
    };
    t.expect_punct(")")?;
    if t.accept("inherits") {
        return unsupported(t, "INHERITS");
    }
    if t.is(0, "partition") {
        return unsupported(t, "PARTITION BY");
    }
    method(t)?;
    let options = with_options(t)?;
    let on_commit = on_commit(t)?;
    tablespace(t)?;
    Ok(Utility::Ddl(Box::new(Ddl::CreateTable(Box::new(CreateTable {
        name,
        if_not_exists,
        persistence,
        elements,
        options,
        on_commit,
    })))))
}

/// Errors of a column's definition name the table, which its own grammar does not know.
pub(super) fn with_table_name(mut error: SqlError, table: &str) -> SqlError {
    if error.message().ends_with("of table \"\"") {
        let message = error.message().replace("of table \"\"", &format!("of table \"{table}\""));
        error.fields_mut().message = message;
    }
    error
}

/// Whether `(a, b) ... AS` follows: a plain list of names is CREATE TABLE AS, since every column definition has a type.
fn is_name_list_then_as(t: &Tokens<'_>) -> bool {
    let mut ahead = 1;
    while matches!(t.peek(ahead), Some(Kind::Word(..) | Kind::Quoted(_))) {
        if t.is_punct(ahead + 1, ")") {
            return true;
        }
        if !t.is_punct(ahead + 1, ",") {
            return false;
        }
        ahead += 2;
    }
    false
}

pub(super) fn create_table_as(
    t: &mut Tokens<'_>,
    persistence: Persistence,
    materialized_view: bool,
) -> Result<Utility> {
    let if_not_exists = t.if_not_exists();
    let name = t.qualified()?;
    let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
    method(t)?;
    let options = with_options(t)?;
    let on_commit = on_commit(t)?;
    tablespace(t)?;
    t.expect("as")?;
    let (query, with_data) = query_with_data(t)?;
    Ok(Utility::CreateTableAs(Box::new(CreateTableAs {
        name,
        if_not_exists,
        persistence,
        columns,
        options,
        on_commit,
        query,
        with_data,
        materialized_view,
    })))
}

fn method(t: &mut Tokens<'_>) -> Result<()> {
    if t.accept("using") {
        let method = t.name()?;
        if method != "heap" {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("access method \"{method}\" does not exist"),
            ));
        }
    }
    Ok(())
}

fn with_options(t: &mut Tokens<'_>) -> Result<Vec<(String, String)>> {
    if t.accept("without oids") {
        return Ok(Vec::new());
    }
    if t.accept("with") { t.options() } else { Ok(Vec::new()) }
}

fn on_commit(t: &mut Tokens<'_>) -> Result<OnCommit> {
    if !t.accept("on commit") {
        return Ok(OnCommit::PreserveRows);
    }
    if t.accept("drop") {
        return Ok(OnCommit::Drop);
    }
    if t.accept("delete rows") {
        return Ok(OnCommit::DeleteRows);
    }
    t.expect("preserve rows")?;
    Ok(OnCommit::PreserveRows)
}

/// TABLESPACE: only the default one is there.
pub(super) fn tablespace(t: &mut Tokens<'_>) -> Result<()> {
    if t.accept("tablespace") {
        let name = t.name()?;
        if name != "pg_default" {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("tablespace \"{name}\" does not exist"),
            ));
        }
    }
    Ok(())
}

fn element(t: &mut Tokens<'_>) -> Result<TableElement> {
    if t.accept("like") {
        return like(t).map(TableElement::Like);
    }
    if starts_constraint(t) {
        return table_constraint(t).map(TableElement::Constraint);
    }
    column(t).map(TableElement::Column)
}

fn starts_constraint(t: &Tokens<'_>) -> bool {
    ["constraint", "check", "unique", "primary", "foreign"].iter().any(|w| t.is(0, w))
        || (t.is(0, "exclude") && (t.is(1, "using") || t.is_punct(1, "(")))
}

fn like(t: &mut Tokens<'_>) -> Result<LikeClause> {
    let mut like = LikeClause { table: t.qualified()?, ..LikeClause::default() };
    loop {
        let on = if t.accept("including") {
            true
        } else if t.accept("excluding") {
            false
        } else {
            return Ok(like);
        };
        let word = t.label()?;
        match word.as_str() {
            "all" => {
                (like.defaults, like.constraints, like.identity) = (on, on, on);
                (like.generated, like.indexes, like.comments) = (on, on, on);
            }
            "defaults" => like.defaults = on,
            "constraints" => like.constraints = on,
            "identity" => like.identity = on,
            "generated" => like.generated = on,
            "indexes" => like.indexes = on,
            "comments" => like.comments = on,
            // Nothing of these can be there to copy.
            "compression" | "statistics" | "storage" => {}
            _ => {
                t.back_to(t.place() - 1);
                return Err(t.unexpected());
            }
        }
    }
}

/// A column definition, also that of ADD COLUMN.
pub(super) fn column(t: &mut Tokens<'_>) -> Result<ColumnDefinition> {
    let position = t.position();
    let name = t.name()?;
    let typ = t.typ()?;
    let mut column = ColumnDefinition {
        name,
        typ,
        collation: None,
        not_null: None,
        fill: None,
        constraints: Vec::new(),
        position,
    };
    loop {
        if t.accept("collate") {
            column.collation = Some(t.qualified()?);
            continue;
        }
        if t.accept("compression") || t.accept("storage") {
            t.label()?;
            continue;
        }
        let position = t.position();
        let constraint_name = if t.accept("constraint") { Some(t.name()?) } else { None };
        let named = constraint_name.is_some();
        if t.accept("not null") {
            nullability(&mut column, true, position)?;
        } else if t.accept("null") {
            nullability(&mut column, false, position)?;
        } else if t.accept("default") {
            let source = t.source_until(ends_default)?;
            fill(&mut column, ColumnFill::Default(source), position)?;
        } else if t.accept("generated") {
            let generated = generated(t)?;
            fill(&mut column, generated, position)?;
        } else if let Some(spec) = column_spec(t, &column.name)? {
            let mut constraint = ConstraintDefinition {
                name: constraint_name,
                spec,
                deferrable: false,
                initially_deferred: false,
                not_valid: false,
                position,
            };
            attributes(t, &mut constraint, false)?;
            column.constraints.push(constraint);
        } else if named {
            return Err(t.unexpected());
        } else {
            return Ok(column);
        }
    }
}

fn nullability(column: &mut ColumnDefinition, not_null: bool, position: u32) -> Result<()> {
    if column.not_null.is_some_and(|before| before != not_null) {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!(
                "conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"",
                column.name, ""
            ),
        )
        .at(position));
    }
    column.not_null = Some(not_null);
    Ok(())
}

fn fill(column: &mut ColumnDefinition, fill: ColumnFill, position: u32) -> Result<()> {
    if let Some(before) = &column.fill {
        let message = match (before, &fill) {
            (ColumnFill::Default(_), ColumnFill::Default(_)) => "multiple default values specified",
            (ColumnFill::Identity(..), ColumnFill::Identity(..)) => "multiple identity specifications",
            (ColumnFill::Generated(_), ColumnFill::Generated(_)) => "multiple generation clauses specified",
            (ColumnFill::Default(_), ColumnFill::Identity(..))
            | (ColumnFill::Identity(..), ColumnFill::Default(_)) => "both default and identity specified",
            (ColumnFill::Default(_), ColumnFill::Generated(_))
            | (ColumnFill::Generated(_), ColumnFill::Default(_)) => {
                "both default and generation expression specified"
            }
            (ColumnFill::Identity(..), ColumnFill::Generated(_))
            | (ColumnFill::Generated(_), ColumnFill::Identity(..)) => {
                "both identity and generation expression specified"
            }
        };
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!("{message} for column \"{}\" of table \"{}\"", column.name, ""),
        )
        .at(position));
    }
    column.fill = Some(fill);
    Ok(())
}

/// Where a DEFAULT expression (`b_expr`) ends: at the next column constraint.
fn ends_default(t: &Tokens<'_>) -> bool {
    if t.is_punct(0, ",") {
        return true;
    }
    match t.peek_word() {
        Some("not") => t.is(1, "null") || t.is(1, "deferrable"),
        Some(
            "constraint" | "null" | "check" | "unique" | "primary" | "references" | "generated" | "collate"
            | "default" | "deferrable" | "initially" | "using",
        ) => true,
        _ => false,
    }
}

fn generated(t: &mut Tokens<'_>) -> Result<ColumnFill> {
    let identity = if t.accept("always") {
        Identity::Always
    } else {
        t.expect("by default")?;
        Identity::ByDefault
    };
    t.expect("as")?;
    if t.accept("identity") {
        return identity_options(t).map(|options| ColumnFill::Identity(identity, Box::new(options)));
    }
    if identity == Identity::ByDefault {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "for a generated column, GENERATED ALWAYS must be specified",
        )
        .at(t.position()));
    }
    let source = t.parenthesized()?;
    t.expect("stored")?;
    Ok(ColumnFill::Generated(source))
}

/// The options of an identity column's sequence, in parentheses.
pub(super) fn identity_options(t: &mut Tokens<'_>) -> Result<crate::utility::table::SequenceOptions> {
    if !t.accept_punct("(") {
        return Ok(Default::default());
    }
    let options = sequence_options(t)?;
    t.expect_punct(")")?;
    Ok(options)
}

/// A constraint written at a column.
fn column_spec(t: &mut Tokens<'_>, column: &str) -> Result<Option<ConstraintSpec>> {
    if t.accept("check") {
        let source = t.parenthesized()?;
        let no_inherit = t.accept("no inherit");
        return Ok(Some(ConstraintSpec::Check(source, no_inherit)));
    }
    if t.accept("references") {
        let references = references(t)?;
        return Ok(Some(ConstraintSpec::ForeignKey { columns: vec![column.to_owned()], references }));
    }
    let primary = t.accept("primary key");
    if !primary && !t.accept("unique") {
        return Ok(None);
    }
    let nulls_not_distinct = !primary && t.accept("nulls not distinct");
    if !primary && !nulls_not_distinct {
        t.accept("nulls distinct");
    }
    let options = index_parameters(t)?;
    Ok(Some(ConstraintSpec::Key {
        primary,
        columns: vec![column.to_owned()],
        include: Vec::new(),
        nulls_not_distinct,
        using_index: None,
        options,
    }))
}

fn index_parameters(t: &mut Tokens<'_>) -> Result<Vec<(String, String)>> {
    let options = if t.accept("with") { t.options()? } else { Vec::new() };
    if t.is(0, "using") && t.is(1, "index") && t.is(2, "tablespace") {
        t.expect("using index")?;
        tablespace(t)?;
    }
    Ok(options)
}

/// A constraint of a table, also that of ADD.
pub(super) fn table_constraint(t: &mut Tokens<'_>) -> Result<ConstraintDefinition> {
    let position = t.position();
    let name = if t.accept("constraint") { Some(t.name()?) } else { None };
    let spec = if t.accept("check") {
        let source = t.parenthesized()?;
        let no_inherit = t.accept("no inherit");
        ConstraintSpec::Check(source, no_inherit)
    } else if t.accept("foreign key") {
        let columns = t.column_list()?;
        t.expect("references")?;
        ConstraintSpec::ForeignKey { columns, references: references(t)? }
    } else if t.is(0, "exclude") {
        return Err(SqlError::unsupported("EXCLUDE").at(position));
    } else {
        let primary = t.accept("primary key");
        if !primary {
            t.expect("unique")?;
        }
        if t.accept("using index") {
            let index = t.name()?;
            ConstraintSpec::Key {
                primary,
                columns: Vec::new(),
                include: Vec::new(),
                nulls_not_distinct: false,
                using_index: Some(index),
                options: Vec::new(),
            }
        } else {
            let nulls_not_distinct = !primary && t.accept("nulls not distinct");
            if !primary && !nulls_not_distinct {
                t.accept("nulls distinct");
            }
            let columns = t.column_list()?;
            let include = if t.accept("include") { t.column_list()? } else { Vec::new() };
            let options = index_parameters(t)?;
            ConstraintSpec::Key { primary, columns, include, nulls_not_distinct, using_index: None, options }
        }
    };
    let mut constraint = ConstraintDefinition {
        name,
        spec,
        deferrable: false,
        initially_deferred: false,
        not_valid: false,
        position,
    };
    attributes(t, &mut constraint, true)?;
    Ok(constraint)
}

/// DEFERRABLE, INITIALLY, and for table constraints NOT VALID, NO INHERIT.
fn attributes(t: &mut Tokens<'_>, constraint: &mut ConstraintDefinition, table: bool) -> Result<()> {
    let mut not_deferrable = false;
    loop {
        let position = t.position();
        if t.accept("not deferrable") {
            not_deferrable = true;
        } else if t.accept("deferrable") {
            constraint.deferrable = true;
        } else if t.accept("initially deferred") {
            constraint.initially_deferred = true;
        } else if t.accept("initially immediate") {
        } else if table && t.accept("not valid") {
            constraint.not_valid = true;
        } else if table && t.accept("no inherit") {
            match &mut constraint.spec {
                ConstraintSpec::Check(_, no_inherit) => *no_inherit = true,
                ConstraintSpec::Key { .. } | ConstraintSpec::ForeignKey { .. } => {
                    return Err(t.unexpected().at(position));
                }
            }
        } else {
            break;
        }
        if matches!(constraint.spec, ConstraintSpec::Check(..))
            && (constraint.deferrable || constraint.initially_deferred)
        {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "CHECK constraints cannot be marked DEFERRABLE",
            )
            .at(position));
        }
        if not_deferrable && (constraint.deferrable || constraint.initially_deferred) {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "constraint declared INITIALLY DEFERRED must be DEFERRABLE",
            )
            .at(position));
        }
    }
    constraint.deferrable |= constraint.initially_deferred;
    Ok(())
}

fn references(t: &mut Tokens<'_>) -> Result<References> {
    let table = t.qualified()?;
    let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
    let mut references = References {
        table,
        columns,
        on_update: ReferentialAction::default(),
        on_delete: ReferentialAction::default(),
        match_full: false,
    };
    loop {
        if t.accept("match full") {
            references.match_full = true;
        } else if t.accept("match simple") {
        } else if t.is(0, "match") && t.is(1, "partial") {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented")
                .at(t.position()));
        } else if t.accept("on update") {
            references.on_update = action(t)?;
        } else if t.accept("on delete") {
            references.on_delete = action(t)?;
        } else {
            return Ok(references);
        }
    }
}

fn action(t: &mut Tokens<'_>) -> Result<ReferentialAction> {
    if t.accept("no action") {
        return Ok(ReferentialAction::NoAction);
    }
    if t.accept("restrict") {
        return Ok(ReferentialAction::Restrict);
    }
    if t.accept("cascade") {
        return Ok(ReferentialAction::Cascade);
    }
    t.expect("set")?;
    let null = t.accept("null");
    if !null {
        t.expect("default")?;
    }
    let columns = if t.is_punct(0, "(") { t.column_list()? } else { Vec::new() };
    Ok(if null { ReferentialAction::SetNull(columns) } else { ReferentialAction::SetDefault(columns) })
}
