//! SELECT ... INTO: CREATE TABLE AS by another name.

use crate::parse::lexer::{Kind, Token};
use crate::utility::table::{CreateTableAs, OnCommit};
use crate::utility::{Source, Tokens, Utility};
use catalog::Result;
use catalog::object::Persistence;

/// The statement that a query with INTO at its first level is. Its query is the text with the INTO clause blanked out, so that positions
/// in it stay what they are.
pub fn select_into(text: &str, tokens: &[Token]) -> Result<Option<Utility>> {
    let mut depth = 0usize;
    let mut place = None;
    for (i, token) in tokens.iter().enumerate() {
        match &token.kind {
            Kind::Punct("(" | "[") => depth += 1,
            Kind::Punct(")" | "]") => depth = depth.saturating_sub(1),
            Kind::Word(word, _) if depth == 0 && word == "into" => {
                place = Some(i);
                break;
            }
            _ => {}
        }
    }
    let (Some(place), Some(first)) = (place, tokens.first()) else { return Ok(None) };
    let mut t = Tokens::new(text, tokens);
    t.back_to(place);
    t.expect("into")?;
    let _ = t.accept("local") || t.accept("global");
    let persistence = if t.accept("temporary") || t.accept("temp") {
        Persistence::Temporary
    } else if t.accept("unlogged") {
        Persistence::Unlogged
    } else {
        Persistence::Permanent
    };
    t.accept("table");
    let name = t.qualified()?;
    let clause = t.source_since(place).text;
    let start = tokens.get(place).map_or(0, |token| token.start);
    let blank: String = clause.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    let end = tokens.iter().rev().find(|token| token.kind != Kind::End).map_or(text.len(), |token| token.end);
    let before = text.get(first.start..start).unwrap_or_default();
    let after = text.get(start + clause.len()..end).unwrap_or_default();
    let query = Source { text: format!("{before}{blank}{after}"), offset: first.pos.saturating_sub(1) };
    Ok(Some(Utility::CreateTableAs(Box::new(CreateTableAs {
        name,
        if_not_exists: false,
        persistence,
        columns: Vec::new(),
        options: Vec::new(),
        on_commit: OnCommit::PreserveRows,
        query,
        with_data: true,
        materialized_view: false,
    }))))
}
