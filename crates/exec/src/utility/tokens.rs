//! A cursor over the tokens of one statement, with the small words of PostgreSQL's grammar (`gram.y`): names, types, option lists.

use super::{Name, Source, TypeName};
use crate::parse::keywords::Category;
use crate::parse::lexer::{Kind, Token};
use crate::parse::parser::Parser;
use catalog::{Result, SqlError, SqlState};

/// The cursor.
pub struct Tokens<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// Over the tokens of one statement of `text`; a semicolon or the end of the slice ends it.
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Tokens { text, tokens, at: 0 }
    }

    /// The place of the next token.
    pub fn place(&self) -> usize {
        self.at
    }

    /// Goes back to a place.
    pub fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    fn token(&self, ahead: usize) -> Option<&'a Token> {
        let token = self.tokens.get(self.at + ahead)?;
        match token.kind {
            Kind::End | Kind::Punct(";") => None,
            _ => Some(token),
        }
    }

    /// The kind of the next token but `ahead`; `None` at the end.
    pub fn peek(&self, ahead: usize) -> Option<&'a Kind> {
        self.token(ahead).map(|t| &t.kind)
    }

    /// Whether the statement is read to its end.
    pub fn at_end(&self) -> bool {
        self.token(0).is_none()
    }

    /// Position of the next token, characters from 1.
    pub fn position(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |t| t.pos)
    }

    /// Steps over a token.
    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// The syntax error at the next token. The end of a statement may be a semicolon, which is then what it names.
    pub fn unexpected(&self) -> SqlError {
        match self.tokens.get(self.at) {
            Some(token) => {
                SqlError::syntax_near(self.text.get(token.start..token.end).unwrap_or_default()).at(token.pos)
            }
            None => SqlError::syntax_near("").at(self.text.chars().count() as u32 + 1),
        }
    }

    /// Fails unless the statement is at its end.
    pub fn end(&self) -> Result<()> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Whether the token `ahead` is this (unquoted) word.
    pub fn is(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek(ahead), Some(Kind::Word(w, _)) if w == word)
    }

    /// The next word, if it is an unquoted one.
    pub fn peek_word(&self) -> Option<&'a str> {
        match self.peek(0) {
            Some(Kind::Word(word, _)) => Some(word),
            _ => None,
        }
    }

    /// Takes these words, all or none.
    pub fn accept(&mut self, words: &str) -> bool {
        let mut ahead = 0;
        for word in words.split(' ') {
            if !self.is(ahead, word) {
                return false;
            }
            ahead += 1;
        }
        self.at += ahead;
        true
    }

    /// Takes these words.
    pub fn expect(&mut self, words: &str) -> Result<()> {
        for word in words.split(' ') {
            if !self.accept(word) {
                return Err(self.unexpected());
            }
        }
        Ok(())
    }

    /// Whether the next token is this punctuation.
    pub fn is_punct(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.peek(ahead), Some(Kind::Punct(p)) if *p == punct)
    }

    /// Takes punctuation.
    pub fn accept_punct(&mut self, punct: &str) -> bool {
        let found = self.is_punct(0, punct);
        self.at += usize::from(found);
        found
    }

    /// Takes punctuation.
    pub fn expect_punct(&mut self, punct: &str) -> Result<()> {
        if self.accept_punct(punct) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Takes an operator.
    pub fn accept_op(&mut self, op: &str) -> bool {
        let found = matches!(self.peek(0), Some(Kind::Op(o)) if o == op);
        self.at += usize::from(found);
        found
    }

    /// A `ColId`.
    pub fn name(&mut self) -> Result<String> {
        self.identifier(|category| matches!(category, Category::Unreserved | Category::ColName))
    }

    /// A `ColLabel`: any word.
    pub fn label(&mut self) -> Result<String> {
        self.identifier(|_| true)
    }

    fn identifier(&mut self, allowed: fn(Category) -> bool) -> Result<String> {
        let name = match self.peek(0) {
            Some(Kind::Quoted(name)) => name,
            Some(Kind::Word(name, None)) => name,
            Some(Kind::Word(name, Some((category, _)))) if allowed(*category) => name,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(name.clone())
    }

    /// A role: a name, or one of the words that stand for roles, kept as they are.
    pub fn role(&mut self) -> Result<String> {
        for word in ["current_user", "current_role", "session_user"] {
            if self.accept(word) {
                return Ok(format!("\0{word}"));
            }
        }
        self.name()
    }

    /// A possibly qualified name.
    pub fn qualified(&mut self) -> Result<Name> {
        let position = self.position();
        let mut parts = vec![self.name()?];
        while self.accept_punct(".") {
            parts.push(self.label()?);
        }
        if parts.len() > 3 {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("improper qualified name (too many dotted names): {}", parts.join(".")),
            )
            .at(position));
        }
        Ok(Name { parts, position })
    }

    /// Names separated by commas.
    pub fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.accept_punct(",") {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// `(a, b, ...)`
    pub fn column_list(&mut self) -> Result<Vec<String>> {
        self.expect_punct("(")?;
        let list = self.comma_list(Self::name)?;
        self.expect_punct(")")?;
        Ok(list)
    }

    /// A string constant.
    pub fn string(&mut self) -> Result<String> {
        match self.peek(0) {
            Some(Kind::String(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A signed integer up to 64 bits.
    pub fn integer(&mut self) -> Result<i64> {
        let back = self.at;
        let negative = self.accept_op("-");
        if !negative {
            self.accept_op("+");
        }
        let text = match self.peek(0) {
            Some(Kind::Int(value)) => value.to_string(),
            Some(Kind::Number(text)) => text.clone(),
            _ => return Err(self.unexpected()),
        };
        let signed = if negative { format!("-{text}") } else { text };
        match signed.parse() {
            Ok(value) => {
                self.at += 1;
                Ok(value)
            }
            Err(_) => {
                self.at = back;
                if signed.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) {
                    return Err(SqlError::text_out_of_range("bigint", &signed));
                }
                Err(self.unexpected())
            }
        }
    }

    /// A number, possibly signed, as text.
    pub fn number(&mut self) -> Result<String> {
        let negative = self.accept_op("-");
        if !negative {
            self.accept_op("+");
        }
        let text = match self.peek(0) {
            Some(Kind::Int(value)) => value.to_string(),
            Some(Kind::Number(text)) => text.clone(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(if negative { format!("-{text}") } else { text })
    }

    /// The text from a place up to the next token.
    pub fn source_since(&self, place: usize) -> Source {
        let (Some(first), Some(last)) =
            (self.tokens.get(place), self.at.checked_sub(1).and_then(|i| self.tokens.get(i)))
        else {
            return Source::default();
        };
        let text = self.text.get(first.start..last.end).unwrap_or_default();
        Source { text: text.to_owned(), offset: first.pos.saturating_sub(1) }
    }

    /// What stands in parentheses, as text; the cursor is behind the closing one.
    pub fn parenthesized(&mut self) -> Result<Source> {
        self.expect_punct("(")?;
        let source = self.source_until(|_| false)?;
        self.expect_punct(")")?;
        Ok(source)
    }

    /// The text up to (not with) the first token outside of parentheses and CASE at which `stop` says so, a comma or closing parenthesis
    /// of an outer level, or the end. At least one token.
    pub fn source_until(&mut self, stop: impl Fn(&Self) -> bool) -> Result<Source> {
        let start = self.at;
        let mut depth = 0usize;
        while let Some(kind) = self.peek(0) {
            match kind {
                Kind::Punct("(" | "[") => depth += 1,
                Kind::Punct(")" | "]") if depth == 0 => break,
                Kind::Punct(")" | "]") => depth -= 1,
                Kind::Word(word, _) if word == "case" => depth += 1,
                Kind::Word(word, _) if word == "end" && depth > 0 => depth -= 1,
                _ if depth == 0 && self.at > start && stop(self) => break,
                _ => {}
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        Ok(self.source_since(start))
    }

    /// An expression up to a comma or closing parenthesis.
    pub fn expression(&mut self) -> Result<Source> {
        self.source_until(|t| t.is_punct(0, ","))
    }

    /// The rest of the statement.
    pub fn rest(&mut self) -> Result<Source> {
        let start = self.at;
        while !self.at_end() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        Ok(self.source_since(start))
    }

    /// A type (`Typename`).
    pub fn typ(&mut self) -> Result<TypeName> {
        let position = self.position();
        if self.is(0, "setof") {
            return Err(self.unexpected());
        }
        // Where PostgreSQL's grammar ends the type's name; what is read beyond it is a syntax error.
        let mut grammar = Parser::new(self.text, self.tokens);
        grammar.at = self.at;
        grammar.type_name()?;
        let mut typ = TypeName { position, ..TypeName::default() };
        let first = match self.peek(0) {
            Some(Kind::Quoted(name)) => {
                // A quoted name is never one of the grammar's own: "char" is not char.
                let name = if name == "char" { "\"char\"".to_owned() } else { name.clone() };
                self.at += 1;
                name
            }
            _ => self.identifier(|category| category != Category::Reserved)?,
        };
        if self.accept_punct(".") {
            typ.schema = Some(first);
            typ.name = self.label()?;
            if self.accept_punct(".") {
                typ.schema = Some(std::mem::take(&mut typ.name));
                typ.name = self.label()?;
            }
        } else {
            typ.name = first;
            self.type_words(&mut typ)?;
        }
        if typ.modifiers.is_empty() && self.accept_punct("(") {
            typ.modifiers = self.comma_list(Self::modifier)?;
            self.expect_punct(")")?;
        }
        match typ.name.as_str() {
            "timestamp" | "time" if typ.schema.is_none() => {
                if self.accept("with time zone") {
                    typ.name += " with time zone";
                } else {
                    self.accept("without time zone");
                }
            }
            "interval" if typ.schema.is_none() && typ.fields.is_empty() => self.interval_fields(&mut typ)?,
            _ => {}
        }
        if self.accept("array") {
            typ.dimensions = 1;
            if self.accept_punct("[") {
                self.integer()?;
                self.expect_punct("]")?;
            }
        }
        while self.accept_punct("[") {
            if !self.is_punct(0, "]") {
                self.integer()?;
            }
            self.expect_punct("]")?;
            typ.dimensions += 1;
        }
        if self.at > grammar.at {
            self.at = grammar.at;
            return Err(self.unexpected());
        }
        Ok(typ)
    }

    /// The further words of the grammar's own type names.
    fn type_words(&mut self, typ: &mut TypeName) -> Result<()> {
        match typ.name.as_str() {
            "double" => {
                self.expect("precision")?;
                typ.name = "double precision".into();
            }
            "national" => {
                if !self.accept("character") {
                    self.expect("char")?;
                }
                typ.name = if self.accept("varying") { "varchar" } else { "character" }.into();
            }
            "character" | "char" | "nchar" => {
                typ.name = if self.accept("varying") { "varchar" } else { "character" }.into();
            }
            "bit" if self.accept("varying") => typ.name = "varbit".into(),
            _ => {}
        }
        if typ.name == "character" && !self.is_punct(0, "(") {
            typ.modifiers = vec!["1".into()];
        }
        Ok(())
    }

    fn interval_fields(&mut self, typ: &mut TypeName) -> Result<()> {
        const FIELDS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];
        let Some(from) = self.peek_word().filter(|w| FIELDS.contains(w)) else { return Ok(()) };
        self.at += 1;
        typ.fields = from.to_owned();
        if self.accept("to") {
            let Some(to) = self.peek_word().filter(|w| FIELDS.contains(w)) else {
                return Err(self.unexpected());
            };
            self.at += 1;
            typ.fields = format!("{from} to {to}");
        }
        if typ.fields.ends_with("second") && self.accept_punct("(") {
            typ.modifiers = vec![self.integer()?.to_string()];
            self.expect_punct(")")?;
        }
        Ok(())
    }

    fn modifier(&mut self) -> Result<String> {
        match self.peek(0) {
            Some(Kind::String(_)) => self.string(),
            Some(Kind::Word(..) | Kind::Quoted(_)) => self.name(),
            _ => self.number(),
        }
    }

    /// A value of an option: a word, a string or a number.
    pub fn option_value(&mut self) -> Result<String> {
        match self.peek(0) {
            Some(Kind::String(_)) => self.string(),
            Some(Kind::Word(..) | Kind::Quoted(_)) => self.label(),
            _ => self.number(),
        }
    }

    /// `(name [= value], ...)`, a reloptions list; a bare name has the value `true`.
    pub fn options(&mut self) -> Result<Vec<(String, String)>> {
        self.expect_punct("(")?;
        let list = self.comma_list(|t| {
            let mut name = t.label()?;
            if t.accept_punct(".") {
                name = format!("{name}.{}", t.label()?);
            }
            let value = if t.accept_op("=") { t.option_value()? } else { "true".into() };
            Ok((name, value))
        })?;
        self.expect_punct(")")?;
        Ok(list)
    }

    /// CASCADE (true), RESTRICT or nothing.
    pub fn cascade(&mut self) -> bool {
        if self.accept("cascade") {
            return true;
        }
        self.accept("restrict");
        false
    }

    /// IF EXISTS
    pub fn if_exists(&mut self) -> bool {
        self.accept("if exists")
    }

    /// IF NOT EXISTS
    pub fn if_not_exists(&mut self) -> bool {
        self.accept("if not exists")
    }
}
