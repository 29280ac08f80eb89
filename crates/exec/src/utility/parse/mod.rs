//! The grammar of utility statements, compare PostgreSQL's `gram.y`.

mod alter;
mod copy;
mod create;
mod drop;
mod into;
mod session;
mod table;
mod transaction;

pub use into::select_into;

use super::{Tokens, Utility};
use crate::parse::lexer::Token;
use catalog::Result;

/// Parses a utility statement: the tokens of one statement of `text`. `None` if it begins like something else (a query, DML, EXPLAIN).
pub fn parse(text: &str, tokens: &[Token]) -> Result<Option<Utility>> {
    let mut t = Tokens::new(text, tokens);
    let Some(word) = t.peek_word() else { return Ok(None) };
    let parse: fn(&mut Tokens<'_>) -> Result<Utility> = match word {
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release" => {
            transaction::parse
        }
        "set" | "reset" | "show" | "discard" => session::parse,
        "prepare" | "execute" | "deallocate" | "listen" | "unlisten" | "notify" | "declare" | "fetch"
        | "move" | "close" | "vacuum" | "analyze" | "analyse" | "checkpoint" | "lock" | "load"
        | "cluster" | "reindex" | "do" | "call" | "refresh" | "reassign" | "security" | "import" => {
            session::parse_other
        }
        "copy" => copy::parse,
        "create" => create::parse,
        "alter" => alter::parse,
        "drop" | "truncate" | "comment" | "grant" | "revoke" => drop::parse,
        _ => return Ok(None),
    };
    let utility = parse(&mut t)?;
    t.end()?;
    Ok(Some(utility))
}

/// Reads over the rest of a statement that is not supported.
fn unsupported(t: &mut Tokens<'_>, what: impl Into<String>) -> Result<Utility> {
    while !t.at_end() {
        t.advance();
    }
    Ok(Utility::Unsupported(what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::lexer::tokenize;
    use crate::utility::object::Ddl;
    use crate::utility::table::{ColumnFill, ConstraintSpec, TableElement};
    use crate::utility::{SetValue, TransactionModes};

    fn one(text: &str) -> Utility {
        parse(text, &tokenize(text).expect("lexes")).expect(text).expect("a utility statement")
    }

    #[test]
    fn statements_parse() {
        assert_eq!(
            one("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
            Utility::Begin(
                TransactionModes {
                    isolation: Some("repeatable read"),
                    read_only: Some(true),
                    deferrable: None
                },
                false
            )
        );
        assert_eq!(
            one("set search_path to a, \"B\", 'c'"),
            Utility::Set(
                "search_path".into(),
                SetValue::Values(vec!["a".into(), "B".into(), "c".into()]),
                false
            )
        );
        let Utility::Ddl(ddl) = one(
            "create table t (a int primary key, b varchar(10) not null default 'x' || lower('Y') check (b <> ''), \
             c timestamp(3) with time zone, unique (b, c), foreign key (a) references u on delete cascade) with (fillfactor=90)",
        ) else {
            panic!("not DDL")
        };
        let Ddl::CreateTable(create) = *ddl else { panic!("not CREATE TABLE") };
        assert_eq!(create.elements.len(), 5);
        let TableElement::Column(b) = &create.elements[1] else { panic!("not a column") };
        assert_eq!((b.typ.name.as_str(), b.typ.modifiers.as_slice()), ("varchar", &["10".to_owned()][..]));
        assert!(
            matches!(&b.fill, Some(ColumnFill::Default(s)) if s.text == "'x' || lower('Y')"),
            "{:?}",
            b.fill
        );
        assert!(matches!(&b.constraints[0].spec, ConstraintSpec::Check(s, false) if s.text == "b <> ''"));
        assert_eq!(b.not_null, Some(true));
        let TableElement::Column(c) = &create.elements[2] else { panic!("not a column") };
        assert_eq!(c.typ.name, "timestamp with time zone");
        assert_eq!(create.options, [("fillfactor".to_owned(), "90".to_owned())]);
    }

    #[test]
    fn select_into_is_create_table_as() {
        let text = "select a, (select 1) into temp x.y from t";
        let ast = crate::parse::parse(text).expect("parses").pop().expect("a statement").ast;
        let crate::parse::ast::Ast::Utility(utility) = ast else { panic!("not a utility") };
        let Utility::CreateTableAs(create) = *utility else { panic!("not CREATE TABLE AS") };
        assert_eq!(create.name.parts, ["x", "y"]);
        assert_eq!(create.query.text, "select a, (select 1)               from t");
    }

    #[test]
    fn syntax_errors_point_at_the_token() {
        let text = "create table t (a int,, b int)";
        let error = parse(text, &tokenize(text).expect("lexes")).expect_err("an error");
        assert_eq!(error.message(), "syntax error at or near \",\"");
        assert_eq!(error.fields().position, Some(23));
        let text = "drop table";
        let error = parse(text, &tokenize(text).expect("lexes")).expect_err("an error");
        assert_eq!((error.message(), error.fields().position), ("syntax error at end of input", Some(11)));
    }
}
