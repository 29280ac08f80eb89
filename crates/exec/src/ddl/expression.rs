//! Expressions inside definitions: checked when they are defined, kept as text, and the names in kept texts.

use super::DdlContext;
use crate::bind::{BindContext, Clause, rules};
use crate::bound::{Expr, QueryColumn, SqlType};
use crate::deparse::Deparser;
use crate::parse::lexer::{Kind, Token, tokenize};
use crate::plan::walk;
use crate::settings::value::split_identifiers;
use crate::utility::Source;
use catalog::object::{Object, Sequence, Table};
use catalog::{DatabaseObjects, Oid, Relation, Result, SqlError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An expression of a definition, checked.
pub struct Definition {
    /// As `pg_get_expr` prints it, relations named with their schema.
    pub text: String,
    /// Bound, over entry 0 = the table.
    pub expr: Expr,
    /// Places of the columns that it uses.
    pub columns: BTreeSet<u16>,
}

/// What an expression is for: the words in its errors, what may stand in it, and what it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// DEFAULT, assigned to a column of this type.
    Default,
    /// GENERATED ALWAYS AS, likewise.
    Generated,
    /// CHECK, boolean.
    Check,
    /// A key of an index.
    IndexKey,
    /// WHERE of an index, boolean.
    IndexPredicate,
    /// USING of ALTER COLUMN TYPE.
    Using,
}

/// Checks an expression over a table that is about to be made or changed (`cookDefault`, `cookConstraint`, `transformIndexStmt`).
/// `target` is the column (name and type) that takes the value, for those purposes that have one.
pub fn define(
    cx: &DdlContext<'_>,
    source: &Source,
    table: &Table,
    purpose: Purpose,
    target: Option<(&str, SqlType)>,
) -> Result<Definition> {
    let table = Arc::new(table.clone());
    let style = cx.session.style();
    let bind_cx = BindContext { fold: false, ..BindContext::plain(cx.session, &style) };
    let clause = match purpose {
        Purpose::Default => Clause::Default,
        Purpose::Generated => Clause::Generated,
        Purpose::Check => Clause::Check,
        Purpose::IndexKey => Clause::IndexExpression,
        Purpose::IndexPredicate => Clause::IndexPredicate,
        Purpose::Using => Clause::AlterUsing,
    };
    let (text, offset) = (source.text.as_str(), source.offset);
    let expr = match (purpose, target) {
        (Purpose::Check | Purpose::IndexPredicate, _) => {
            rules::bind_condition(text, offset, Some(&table), clause, &bind_cx)?
        }
        (_, Some(column)) => {
            // A constant that its type refuses is pointed at.
            let literal = text.starts_with('\'');
            rules::bind_column_expression(text, offset, Some(&table), clause, column, &bind_cx)
                .map_err(|error| if literal && offset > 0 { error.at(offset + 1) } else { error })?
        }
        (_, None) => rules::bind_expression(text, offset, Some(&table), clause, &bind_cx)?,
    };
    let mut columns = BTreeSet::new();
    collect_columns(&expr, &mut columns);
    let objects = cx.objects();
    let column = |_, _, place: u16| {
        table.columns.get(usize::from(place)).map(|c| super::names::quote(&c.name)).unwrap_or_default()
    };
    let text = Deparser {
        column: &column,
        env: None,
        objects: &objects,
        pretty: false,
        depth: Default::default(),
        within: None,
    }
    .text(&expr);
    Ok(Definition { text, expr, columns })
}

/// The columns of the table that an expression uses.
fn collect_columns(expr: &Expr, out: &mut BTreeSet<u16>) {
    walk::expr(expr, 0, &mut |seen, level| {
        if let walk::Seen::Expr(Expr::Column(c)) = seen
            && c.level == level
        {
            out.insert(c.column);
        }
    });
}

/// A query of a definition, checked.
pub struct DefinedQuery {
    /// As `pg_get_viewdef` prints it, relations named with their schema.
    pub text: String,
    /// Its columns.
    pub columns: Vec<QueryColumn>,
    /// Relations that it refers to.
    pub relations: Vec<Oid>,
}

/// Checks the query of a view.
pub fn define_query(cx: &DdlContext<'_>, source: &Source) -> Result<DefinedQuery> {
    let style = cx.session.style();
    let bind_cx = BindContext { fold: false, ..BindContext::plain(cx.session, &style) };
    let bound = crate::bind::bind_text(&source.text, source.offset, &bind_cx)?;
    let (Some(columns), crate::bound::Statement::Query(query)) = (bound.columns, bound.statement) else {
        return Err(SqlError::syntax_near(""));
    };
    let text = crate::deparse::query_text(&query, &cx.objects(), None, false, None);
    Ok(DefinedQuery { text, columns, relations: bound.relations })
}

/// Binds a kept text over its table.
pub fn bind_kept(cx: &DdlContext<'_>, table: &Table, text: &str) -> Result<Expr> {
    let source = Source { text: text.to_owned(), offset: 0 };
    define(cx, &source, table, Purpose::IndexKey, None).map(|definition| definition.expr)
}

fn tokens(text: &str) -> Vec<Token> {
    tokenize(text).unwrap_or_default()
}

fn word(kind: &Kind) -> Option<&str> {
    match kind {
        Kind::Word(word, _) | Kind::Quoted(word) => Some(word),
        _ => None,
    }
}

/// Whether a kept text may refer to a column of this name.
pub fn names_column(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    tokens.iter().enumerate().any(|(i, token)| {
        word(&token.kind) == Some(name)
            && !matches!(tokens.get(i + 1).map(|t| &t.kind), Some(Kind::Punct("(" | ".")))
    })
}

/// Whether a default takes its values from a sequence: names it in a constant.
pub fn names_sequence(objects: &DatabaseObjects, text: &str, sequence: &Sequence) -> bool {
    let schema = objects.schemas.get(&sequence.schema).map(|s| s.name.as_str());
    tokens(text).iter().any(|token| {
        let Kind::String(constant) = &token.kind else { return false };
        match qualified(constant).as_slice() {
            [name] => *name == sequence.name,
            [in_schema, name] => *name == sequence.name && Some(in_schema.as_str()) == schema,
            _ => false,
        }
    })
}

/// The parts of a dotted name.
fn qualified(text: &str) -> Vec<String> {
    // Dots between identifiers are commas to the splitter; inside quotes they stay.
    let mut quoted = false;
    let list: String = text
        .chars()
        .map(|c| {
            quoted ^= c == '"';
            if c == '.' && !quoted { ',' } else { c }
        })
        .collect();
    split_identifiers(&list).unwrap_or_default()
}

/// A text with a column's name replaced.
pub fn rename_column(text: &str, from: &str, to: &str) -> String {
    let tokens = tokens(text);
    replace(text, &tokens, |i, token| {
        let called = matches!(tokens.get(i + 1).map(|t| &t.kind), Some(Kind::Punct("(" | ".")));
        (word(&token.kind) == Some(from) && !called).then(|| super::names::quote(to))
    })
}

/// A text with the constants that name one sequence replaced.
fn rename_sequence(text: &str, names: impl Fn(&[String]) -> Option<String>) -> String {
    let tokens = tokens(text);
    replace(text, &tokens, |_, token| match &token.kind {
        Kind::String(constant) => {
            names(&qualified(constant)).map(|new| format!("'{}'", new.replace('\'', "''")))
        }
        _ => None,
    })
}

fn replace(text: &str, tokens: &[Token], with: impl Fn(usize, &Token) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (i, token) in tokens.iter().enumerate() {
        if let Some(new) = with(i, token) {
            out.push_str(text.get(done..token.start).unwrap_or_default());
            out.push_str(&new);
            done = token.end;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Changes the defaults that name a sequence after it was renamed or moved.
pub fn follow_sequence(cx: &DdlContext<'_>, old: &Sequence, new: &Sequence) -> Result<()> {
    let objects = cx.objects();
    let schema_name = cx.schema_name(new.schema);
    let new_name = format!("{}.{}", super::names::quote(&schema_name), super::names::quote(&new.name));
    let old_schema = objects.schemas.get(&old.schema).map(|s| s.name.clone());
    change_defaults(cx, &objects, |text| {
        rename_sequence(text, |parts| match parts {
            [name] if *name == old.name => Some(new_name.clone()),
            [schema, name] if *name == old.name && Some(schema) == old_schema.as_ref() => {
                Some(new_name.clone())
            }
            _ => None,
        })
    })
}

/// Changes the definitions that name a schema after it was renamed.
pub fn rewrite_schema_name(cx: &DdlContext<'_>, from: &str, to: &str) -> Result<()> {
    let objects = cx.objects();
    for relation in objects.relations.values() {
        if let Relation::View(view) = relation
            && tokens(&view.definition).iter().any(|t| word(&t.kind) == Some(from))
        {
            return Err(SqlError::unsupported(format_args!(
                "renaming a schema that view \"{}\" refers to",
                view.name
            )));
        }
    }
    change_defaults(cx, &objects, |text| {
        rename_sequence(text, |parts| match parts {
            [schema, name] if schema == from => {
                Some(format!("{}.{}", super::names::quote(to), super::names::quote(name)))
            }
            _ => None,
        })
    })
}

fn change_defaults(
    cx: &DdlContext<'_>,
    objects: &DatabaseObjects,
    change: impl Fn(&str) -> String,
) -> Result<()> {
    for relation in objects.relations.values() {
        let Relation::Table(table) = relation else { continue };
        let mut changed: Option<Table> = None;
        for (place, column) in table.live_columns() {
            let Some(default) = &column.default else { continue };
            let new = change(default);
            if new != *default
                && let Some(column) = changed.get_or_insert_with(|| (**table).clone()).columns.get_mut(place)
            {
                column.default = Some(new);
            }
        }
        if let Some(table) = changed {
            cx.put(Object::Table(table))?;
        }
    }
    Ok(())
}

/// Refuses a change of a relation that views refer to by name or column: their texts could not follow it.
pub fn refuse_if_views(objects: &DatabaseObjects, relation: Oid, what: &str) -> Result<()> {
    for other in objects.relations.values() {
        if let Relation::View(view) = other
            && view.depends_on.contains(&relation)
        {
            return Err(SqlError::unsupported(format_args!("{what} that view \"{}\" refers to", view.name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_kept_texts() {
        assert!(names_column("((a > 0) AND (lower(b) = 'c'::text))", "b"));
        assert!(!names_column("((a > 0) AND (lower(b) = 'c'::text))", "c"));
        assert!(!names_column("lower(b)", "lower"));
        assert_eq!(rename_column("(a > length(a))", "a", "B"), "(\"B\" > length(\"B\"))");
        assert_eq!(qualified("public.\"A.b\""), ["public", "A.b"]);
        let text = rename_sequence("nextval('public.t_a_seq'::regclass)", |p| {
            (p == ["public", "t_a_seq"]).then(|| "s.x".to_owned())
        });
        assert_eq!(text, "nextval('s.x'::regclass)");
    }
}
