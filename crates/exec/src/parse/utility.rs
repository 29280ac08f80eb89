//! Utility statements: sqlparser's part, and the way from its trees to ours.

use super::ast::{Ast, Expr, Query};
use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::{parse_expression, parse_query};
use catalog::{Result, SqlError};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser as SqlParser;

/// Parses one utility statement. What sqlparser lacks becomes [`Ast::Raw`] when it at least begins like a statement PostgreSQL has.
pub(super) fn parse(sql: &str, tokens: &[Token]) -> Result<Ast> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.get(tokens.len().saturating_sub(2))) else {
        return Ok(Ast::Raw);
    };
    // Blanks before the statement keep line and column as they are in the whole text.
    let before = sql.get(..first.start).unwrap_or_default();
    let mut text: String = before.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    text.push_str(sql.get(first.start..last.end).unwrap_or_default());
    let dialect = PostgreSqlDialect {};
    let parsed =
        SqlParser::new(&dialect).with_recursion_limit(200).try_with_sql(&text).and_then(|mut parser| {
            let statement = parser.parse_statement()?;
            let rest = parser.peek_token();
            if rest.token == sqlparser::tokenizer::Token::EOF {
                Ok(statement)
            } else {
                Err(sqlparser::parser::ParserError::ParserError(format!(
                    "Expected: end of statement, found: {}{}",
                    rest.token, rest.span.start
                )))
            }
        });
    match parsed {
        Ok(statement) => Ok(Ast::Utility(Box::new(statement))),
        Err(error) => {
            if unknown_to_sqlparser(&Parser::new(sql, tokens)) {
                return Ok(Ast::Raw);
            }
            Err(syntax_error(sql, tokens, &text, &error.to_string()))
        }
    }
}

/// Statements that sqlparser has no or a poor syntax for; `bind/ddl.rs` reads them from their tokens.
fn unknown_to_sqlparser(parser: &Parser<'_>) -> bool {
    parser.is_any(&[
        "vacuum",
        "analyze",
        "analyse",
        "reindex",
        "checkpoint",
        "do",
        "comment",
        "cluster",
        "load",
        "lock",
        "listen",
        "notify",
        "unlisten",
        "discard",
        "reset",
        "set",
        "show",
        "fetch",
        "move",
        "declare",
        "prepare",
        "copy",
        "security",
        "refresh",
        "reassign",
        "import",
    ]) || (parser.is("alter")
        && parser.is_any_at(
            1,
            &["sequence", "domain", "database", "default", "system", "role", "user", "index", "view"],
        ))
        || (parser.is("create")
            && parser.is_any_at(
                1,
                &["domain", "type", "cast", "operator", "aggregate", "rule", "statistics", "database"],
            ))
}

/// The error of sqlparser, at the token PostgreSQL would name: the one at the line and column that its message ends with.
fn syntax_error(sql: &str, tokens: &[Token], padded: &str, message: &str) -> SqlError {
    let parser = Parser::new(sql, tokens);
    let place = message.rfind("Line: ").and_then(|at| {
        let rest = message.get(at + 6..)?;
        let (line, column) = rest.split_once(", Column: ")?;
        let digits = |s: &str| {
            s.trim().chars().take_while(char::is_ascii_digit).collect::<String>().parse::<usize>().ok()
        };
        Some((digits(line)?, digits(column)?))
    });
    let token = place.and_then(|(line, column)| {
        let start: usize = padded.split_inclusive('\n').take(line - 1).map(|l| l.chars().count()).sum();
        let pos = (start + column) as u32;
        tokens.iter().find(|t| t.pos >= pos || t.kind == Kind::End)
    });
    match token.or(tokens.last()) {
        Some(token) => parser.error_at(token),
        None => SqlError::syntax_near(""),
    }
}

/// An expression of a utility statement in our form. Positions in it are unknown.
pub fn sql_expression(expr: &sqlparser::ast::Expr) -> Result<Expr> {
    parse_expression(&expr.to_string()).map_err(without_position)
}

/// A query of a utility statement in our form. Positions in it are unknown.
pub fn sql_query(query: &sqlparser::ast::Query) -> Result<Query> {
    parse_query(&query.to_string()).map_err(without_position)
}

fn without_position(mut error: SqlError) -> SqlError {
    error.fields_mut().position = None;
    error
}
