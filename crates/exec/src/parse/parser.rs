//! The cursor over tokens that all parts of the grammar share, names, and type names.

use super::ast::*;
use super::keywords::Category;
use super::lexer::{Kind, Token, tokenize};
use catalog::{Result, SqlError, SqlState};

/// Deepest nesting of a statement; beyond it PostgreSQL's stack runs out too, somewhat later.
pub const DEPTH_MAX: usize = 400;

/// A recursive-descent parser over the tokens of one text.
pub struct Parser<'a> {
    /// The text.
    pub source: &'a str,
    /// Its tokens.
    pub tokens: &'a [Token],
    /// The current token's place.
    pub at: usize,
    pub(super) depth: usize,
}

static END: Token = Token { kind: Kind::End, start: 0, end: 0, pos: 0 };

impl<'a> Parser<'a> {
    /// A parser at the first token.
    pub fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        Parser { source, tokens, at: 0, depth: 0 }
    }

    /// The current token.
    pub fn token(&self) -> &'a Token {
        self.ahead(0)
    }

    /// A token further on.
    pub fn ahead(&self, n: usize) -> &'a Token {
        self.tokens.get(self.at + n).or(self.tokens.last()).unwrap_or(&END)
    }

    /// Position of the current token.
    pub fn pos(&self) -> Pos {
        self.token().pos
    }

    /// Goes on.
    pub fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len().saturating_sub(1));
    }

    /// The syntax error at the current token.
    pub fn unexpected<T>(&self) -> Result<T> {
        Err(self.error_at(self.token()))
    }

    /// The syntax error at a token.
    pub fn error_at(&self, token: &Token) -> SqlError {
        // A `;` that ends the statement is in the text; the end of the text is not.
        let text = self.source.get(token.start..token.end).unwrap_or_default();
        SqlError::syntax_near(text).at(token.pos)
    }

    /// Nests one level deeper, or raises 54001.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Whether the token `n` further on is this keyword (or unquoted word).
    pub fn is_at(&self, n: usize, word: &str) -> bool {
        matches!(&self.ahead(n).kind, Kind::Word(w, _) if w == word)
    }

    /// Whether the current token is this keyword.
    pub fn is(&self, word: &str) -> bool {
        self.is_at(0, word)
    }

    /// Whether the current token is one of these keywords.
    pub fn is_any(&self, words: &[&str]) -> bool {
        matches!(&self.token().kind, Kind::Word(w, _) if words.contains(&w.as_str()))
    }

    /// Takes this keyword if it is there.
    pub fn take(&mut self, word: &str) -> bool {
        let found = self.is(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes these keywords if all are there.
    pub fn take_all(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(i, word)| self.is_at(i, word));
        if found {
            for _ in words {
                self.advance();
            }
        }
        found
    }

    /// Demands this keyword.
    pub fn expect(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { self.unexpected() }
    }

    /// Whether the token `n` further on is this punctuation.
    pub fn is_punct_at(&self, n: usize, punct: &str) -> bool {
        matches!(&self.ahead(n).kind, Kind::Punct(p) if *p == punct)
    }

    /// Whether the current token is this punctuation.
    pub fn is_punct(&self, punct: &str) -> bool {
        self.is_punct_at(0, punct)
    }

    /// Takes this punctuation if it is there.
    pub fn take_punct(&mut self, punct: &str) -> bool {
        let found = self.is_punct(punct);
        if found {
            self.advance();
        }
        found
    }

    /// Demands this punctuation.
    pub fn expect_punct(&mut self, punct: &str) -> Result<()> {
        if self.take_punct(punct) { Ok(()) } else { self.unexpected() }
    }

    /// Whether the current token is this operator.
    pub fn is_op(&self, op: &str) -> bool {
        matches!(&self.token().kind, Kind::Op(o) if o == op)
    }

    /// Takes this operator if it is there.
    pub fn take_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.advance();
        }
        found
    }

    /// Items separated by commas, at least one.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_punct(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( item, ... )`
    pub fn parens<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_punct("(")?;
        let items = self.list(item)?;
        self.expect_punct(")")?;
        Ok(items)
    }

    /// The name that a token can be, given which keyword categories may serve.
    fn name_at(&self, n: usize, allowed: fn(Category, bool) -> bool) -> Option<&'a str> {
        match &self.ahead(n).kind {
            Kind::Quoted(name) => Some(name),
            Kind::Word(name, None) => Some(name),
            Kind::Word(name, Some((category, bare))) if allowed(*category, *bare) => Some(name),
            _ => None,
        }
    }

    fn name(&mut self, allowed: fn(Category, bool) -> bool) -> Result<String> {
        match self.name_at(0, allowed) {
            Some(name) => {
                self.advance();
                Ok(name.to_owned())
            }
            None => self.unexpected(),
        }
    }

    /// A column or table name.
    pub fn col_id(&mut self) -> Result<String> {
        self.name(|c, _| matches!(c, Category::Unreserved | Category::ColName))
    }

    /// Whether a column or table name stands `n` tokens further on.
    pub fn is_col_id(&self, n: usize) -> bool {
        self.name_at(n, |c, _| matches!(c, Category::Unreserved | Category::ColName)).is_some()
    }

    /// Whether a function or type name stands `n` tokens further on.
    pub fn is_type_function_name(&self, n: usize) -> bool {
        self.name_at(n, |c, _| matches!(c, Category::Unreserved | Category::TypeFunc)).is_some()
    }

    /// A function or type name.
    pub fn type_function_name(&mut self) -> Result<String> {
        self.name(|c, _| matches!(c, Category::Unreserved | Category::TypeFunc))
    }

    /// A label after AS or a dot: any word.
    pub fn col_label(&mut self) -> Result<String> {
        self.name(|_, _| true)
    }

    /// A label without AS, if one is there.
    pub fn bare_label(&mut self) -> Option<String> {
        let name = self.name_at(0, |_, bare| bare)?.to_owned();
        self.advance();
        Some(name)
    }

    /// `a.b.c` for objects in general (`any_name`).
    pub fn any_name(&mut self) -> Result<Vec<String>> {
        let mut names = vec![self.col_id()?];
        while self.take_punct(".") {
            names.push(self.col_label()?);
        }
        Ok(names)
    }

    /// `[[catalog.]schema.]name`
    pub fn qualified_name(&mut self) -> Result<RangeVar> {
        let pos = self.pos();
        let mut names = self.any_name()?;
        if names.len() > 3 {
            let text = names.join(".");
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("improper qualified name (too many dotted names): {text}"),
            )
            .at(pos));
        }
        let name = names.pop().unwrap_or_default();
        let schema = names.pop();
        Ok(RangeVar { catalog: names.pop(), schema, name, pos, only: false })
    }

    /// A string constant.
    pub fn string(&mut self) -> Result<String> {
        match &self.token().kind {
            Kind::String(text) => {
                self.advance();
                Ok(text.clone())
            }
            _ => self.unexpected(),
        }
    }

    /// An int4 constant.
    pub fn integer(&mut self) -> Result<i32> {
        match self.token().kind {
            Kind::Int(value) => {
                self.advance();
                Ok(value)
            }
            _ => self.unexpected(),
        }
    }

    /// A type name with modifiers and array bounds.
    pub fn type_name(&mut self) -> Result<TypeName> {
        let setof = self.take("setof");
        let mut typ = self.simple_type_name()?;
        typ.setof = setof;
        if self.take("array") {
            typ.bounds.push(-1);
            if self.take_punct("[") {
                typ.bounds = vec![self.integer()?];
                self.expect_punct("]")?;
            }
            return Ok(typ);
        }
        while self.take_punct("[") {
            typ.bounds.push(if self.is_punct("]") { -1 } else { self.integer()? });
            self.expect_punct("]")?;
        }
        Ok(typ)
    }

    /// A type name without array bounds.
    pub(super) fn simple_type_name(&mut self) -> Result<TypeName> {
        match self.builtin_type()? {
            Some(typ) => Ok(typ),
            None => {
                let pos = self.pos();
                let mut names = vec![self.type_function_name()?];
                while self.is_punct(".") {
                    self.advance();
                    names.push(self.col_label()?);
                }
                let typmods = if self.is_punct("(") { self.parens(Self::expr)? } else { Vec::new() };
                Ok(TypeName { names, typmods, pos, ..TypeName::default() })
            }
        }
    }

    /// The types that the grammar itself knows, with their own syntax.
    pub(super) fn builtin_type(&mut self) -> Result<Option<TypeName>> {
        let pos = self.pos();
        let Kind::Word(word, Some(_)) = &self.token().kind else { return Ok(None) };
        let fixed = match word.as_str() {
            "int" | "integer" => "int4",
            "smallint" => "int2",
            "bigint" => "int8",
            "real" => "float4",
            "boolean" => "bool",
            "float" | "double" | "decimal" | "dec" | "numeric" | "bit" | "character" | "char" | "varchar"
            | "national" | "nchar" | "timestamp" | "time" | "interval" => "",
            _ => return Ok(None),
        };
        let word = word.as_str();
        if word == "double" && !self.is_at(1, "precision") {
            return Ok(None);
        }
        self.advance();
        let system = |name: &str, typmods: Vec<Expr>| TypeName {
            names: vec!["pg_catalog".into(), name.into()],
            typmods,
            pos,
            ..TypeName::default()
        };
        let int = |value: i32, pos: Pos| Expr { kind: ExprKind::Literal(Literal::Int(value)), pos };
        Ok(Some(match word {
            "float" => {
                if !self.take_punct("(") {
                    return Ok(Some(system("float8", Vec::new())));
                }
                let at = self.pos();
                let bits = self.integer()?;
                self.expect_punct(")")?;
                let bad =
                    |message: &str| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).at(at));
                match bits {
                    ..1 => return bad("precision for type float must be at least 1 bit"),
                    1..=24 => system("float4", Vec::new()),
                    25..=53 => system("float8", Vec::new()),
                    54.. => return bad("precision for type float must be less than 54 bits"),
                }
            }
            "double" => {
                self.advance();
                system("float8", Vec::new())
            }
            "decimal" | "dec" | "numeric" => {
                let typmods = if self.is_punct("(") { self.parens(Self::expr)? } else { Vec::new() };
                system("numeric", typmods)
            }
            "bit" => {
                let varying = self.take("varying");
                let typmods = if self.is_punct("(") {
                    self.parens(Self::expr)?
                } else if varying {
                    Vec::new()
                } else {
                    vec![int(1, 0)]
                };
                system(if varying { "varbit" } else { "bit" }, typmods)
            }
            "character" | "char" | "varchar" | "national" | "nchar" => {
                if word == "national" && !(self.take("character") || self.take("char")) {
                    return self.unexpected();
                }
                let varying = word == "varchar" || self.take("varying");
                let typmods = if self.take_punct("(") {
                    let at = self.pos();
                    let length = self.integer()?;
                    self.expect_punct(")")?;
                    vec![int(length, at)]
                } else if varying {
                    Vec::new()
                } else {
                    vec![int(1, 0)]
                };
                system(if varying { "varchar" } else { "bpchar" }, typmods)
            }
            "timestamp" | "time" => {
                let mut typmods = Vec::new();
                if self.take_punct("(") {
                    let at = self.pos();
                    typmods.push(int(self.integer()?, at));
                    self.expect_punct(")")?;
                }
                let zone = self.take_all(&["with", "time", "zone"]);
                if !zone {
                    self.take_all(&["without", "time", "zone"]);
                }
                let name = match (word, zone) {
                    ("timestamp", false) => "timestamp",
                    ("timestamp", true) => "timestamptz",
                    (_, false) => "time",
                    (_, true) => "timetz",
                };
                system(name, typmods)
            }
            "interval" => {
                let typmods = self.interval_modifiers()?;
                system("interval", typmods)
            }
            _ => system(fixed, Vec::new()),
        }))
    }

    /// `(p)` or the fields after INTERVAL (and after an interval literal).
    pub(super) fn interval_modifiers(&mut self) -> Result<Vec<Expr>> {
        let int = |value: i32, pos: Pos| Expr { kind: ExprKind::Literal(Literal::Int(value)), pos };
        if self.take_punct("(") {
            let at = self.pos();
            let precision = self.integer()?;
            self.expect_punct(")")?;
            return Ok(vec![int(0x7fff, 0), int(precision, at)]);
        }
        self.interval_fields()
    }

    /// `YEAR TO MONTH` and so on, as masks of `INTERVAL_MASK` (`utils/timestamp.h`).
    pub(super) fn interval_fields(&mut self) -> Result<Vec<Expr>> {
        const FIELDS: [(&str, i32); 6] =
            [("year", 2), ("month", 1), ("day", 3), ("hour", 10), ("minute", 11), ("second", 12)];
        let pos = self.pos();
        let int = |value: i32, pos: Pos| Expr { kind: ExprKind::Literal(Literal::Int(value)), pos };
        let field = |parser: &Self| FIELDS.iter().position(|(word, _)| parser.is(word));
        let Some(first) = field(self) else { return Ok(Vec::new()) };
        self.advance();
        let mut last = first;
        if self.is("to") {
            self.advance();
            match field(self) {
                Some(to) if to > first && (first != 0 || to == 1) && first != 1 => last = to,
                _ => return self.unexpected(),
            }
            self.advance();
        }
        let mask =
            FIELDS.iter().skip(first).take(last - first + 1).fold(0, |mask, (_, bit)| mask | (1 << bit));
        let mut typmods = vec![int(mask, pos)];
        if last == 5 && self.take_punct("(") {
            let at = self.pos();
            typmods.push(int(self.integer()?, at));
            self.expect_punct(")")?;
        }
        Ok(typmods)
    }
}

/// 54001 as PostgreSQL says it.
pub(super) fn too_deep() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.",
    )
}

/// Parses a type name that makes up the whole text.
pub fn parse_type_name(text: &str) -> Result<TypeName> {
    let tokens = tokenize(text)?;
    let mut parser = Parser::new(text, &tokens);
    let typ = parser.type_name()?;
    if parser.token().kind == Kind::End { Ok(typ) } else { parser.unexpected() }
}
