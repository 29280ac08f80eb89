//! Parsing: text to statements. Queries, DML and EXPLAIN are parsed here into [`ast`], with PostgreSQL's precedence, positions and
//! syntax errors; all other statements by [`crate::utility`], which keeps their expressions and queries as text.

pub mod ast;
mod call;
mod dml;
mod expr;
pub mod keywords;
pub mod lexer;
pub mod parser;
mod primary;
mod select;

use ast::{Ast, Explain, Expr, Query};
use catalog::{Result, SqlError};
use lexer::{Kind, Token, scan, tokenize};
use parser::Parser;
use std::ops::Range;

pub use parser::parse_type_name;

/// A statement of a query text.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// What it says.
    pub ast: Ast,
    /// Its bytes in the text.
    pub text: Range<usize>,
    /// Its tokens (without `;`), an end marker last.
    pub tokens: Vec<Token>,
}

/// The statements of a query text, separated by `;`. Empty ones vanish.
pub fn parse(sql: &str) -> Result<Vec<ParsedStatement>> {
    let (tokens, lexical) = scan(sql);
    let parsed = split(sql, &tokens);
    let Some(lexical) = lexical else { return parsed };
    // A syntax error before the place that cannot be read comes first.
    match parsed {
        Err(error) if error.fields().position < lexical.fields().position => Err(error),
        _ => Err(lexical),
    }
}

fn split(sql: &str, tokens: &[Token]) -> Result<Vec<ParsedStatement>> {
    let mut statements = Vec::new();
    let mut rest = tokens;
    while let Some(place) = rest.iter().position(|t| matches!(t.kind, Kind::Punct(";") | Kind::End)) {
        let (statement, tail) = rest.split_at(place);
        if let (Some(first), Some(last), Some(end)) = (statement.first(), statement.last(), tail.first()) {
            let text = first.start..last.end;
            let mut tokens = statement.to_vec();
            // The separator itself is what a syntax error at the statement's end names.
            tokens.push(Token { kind: Kind::End, start: end.start, end: end.end, pos: end.pos });
            let ast = parse_statement(sql, &tokens)?;
            statements.push(ParsedStatement { ast, text, tokens });
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    Ok(statements)
}

fn parse_statement(sql: &str, tokens: &[Token]) -> Result<Ast> {
    let mut parser = Parser::new(sql, tokens);
    if parser.is("explain") {
        let options = parser.explain_options()?;
        if parser.is("explain") {
            return parser.unexpected();
        }
        let rest = tokens.get(parser.at..).unwrap_or_default();
        let statement = Box::new(parse_statement(sql, rest)?);
        return Ok(Ast::Explain(Explain { options, statement }));
    }
    if parser.query_ahead() || parser.is_any(&["insert", "update", "delete", "merge"]) {
        let dml = parser.dml()?;
        if parser.token().kind == Kind::End
            && let ast::Dml::Query(query) = &dml
            && query.has_into()
            && let Some(utility) = crate::utility::select_into(sql, tokens)?
        {
            return Ok(Ast::Utility(Box::new(utility)));
        }
        return if parser.token().kind == Kind::End { Ok(Ast::Dml(dml)) } else { parser.unexpected() };
    }
    match crate::utility::parse(sql, tokens)? {
        Some(utility) => Ok(Ast::Utility(Box::new(utility))),
        None => parser.unexpected(),
    }
}

/// An expression that makes up the whole text.
pub fn parse_expression(text: &str) -> Result<Expr> {
    let tokens = tokenize(text)?;
    let mut parser = Parser::new(text, &tokens);
    let expr = parser.expr()?;
    if parser.token().kind == Kind::End { Ok(expr) } else { parser.unexpected() }
}

/// A query that makes up the whole text, but for a closing `;`.
pub fn parse_query(text: &str) -> Result<Query> {
    let tokens = tokenize(text)?;
    let mut parser = Parser::new(text, &tokens);
    let query = parser.query()?;
    parser.take_punct(";");
    if parser.token().kind == Kind::End { Ok(query) } else { parser.unexpected() }
}

/// Whether parsing failed because of the text rather than of something that is not supported.
pub fn is_syntax_error(error: &SqlError) -> bool {
    error.code() == catalog::SqlState::SYNTAX_ERROR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sql: &str) -> (String, Option<u32>) {
        let error = parse(sql).expect_err("a syntax error");
        (error.message().to_owned(), error.fields().position)
    }

    #[test]
    fn statements_split() {
        let all = parse("; select 1;; values (1), (2) ;").expect("parses");
        assert_eq!(all.iter().map(|s| s.text.clone()).collect::<Vec<_>>(), [2..10, 13..28]);
    }

    #[test]
    fn syntax_errors_are_postgresqls() {
        let near = |token: &str| format!("syntax error at or near \"{token}\"");
        assert_eq!(error("selec 1"), (near("selec"), Some(1)));
        assert_eq!(error("select * from"), ("syntax error at end of input".into(), Some(14)));
        assert_eq!(error("select * from where x = 1"), (near("where"), Some(15)));
        assert_eq!(error("select (1"), ("syntax error at end of input".into(), Some(10)));
        assert_eq!(error("select 1 1"), (near("1"), Some(10)));
        assert_eq!(error("select 1 = 2 = 3"), (near("="), Some(14)));
        assert_eq!(error("insert into t values (1,)"), (near(")"), Some(25)));
        assert_eq!(error("update t set a 1"), (near("1"), Some(16)));
        assert_eq!(error("delete t"), (near("t"), Some(8)));
        assert_eq!(error("select 1 from t group a"), (near("a"), Some(23)));
        assert_eq!(error("select 1; selec"), (near("selec"), Some(11)));
    }

    #[test]
    fn precedence() {
        for sql in [
            "select 1 from a join b join c on true on true left join d using (x, y) as j",
            "select a.b[1:2].c, -x::int ^ 2, not a = b and c is not null or d isnull",
            "select x between 1 and 2 and y not in (select 1), (1, 2) = (3, 4), ((select 1) + 1)",
            "select count(*) filter (where a) over (partition by b order by c rows between 1 preceding and current row exclude ties) from t",
            "with recursive t(n) as (values (1) union all select n + 1 from t) select * from t for update of t skip locked",
            "select * from ((select 1) union select 2) s, lateral f(s.a) with ordinality g(x, n), rows from (f(1) as (a int)) r",
            "insert into t as x (a, b) select 1, 2 on conflict (a) where b > 0 do update set (a, b) = (1, default) where true returning *",
            "select interval '1' day, interval(3) '1', timestamp with time zone 'now', date '2020-01-01', extract(year from now())",
            "select array[[1,2],[3,4]], array(select 1), x like 'a' escape 'b', y similar to 'z', 'a' collate \"C\", 1 operator(pg_catalog.+) 2",
        ] {
            parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
}
