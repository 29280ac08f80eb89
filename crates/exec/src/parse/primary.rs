//! What operators join: constants, columns, parentheses, CASE, ARRAY and other constructs (`c_expr` of `gram.y`).

use super::ast::*;
use super::expr::{boxed, literal, system_call};
use super::keywords::Category;
use super::lexer::Kind;
use super::parser::Parser;
use catalog::{Result, SqlError};

impl Parser<'_> {
    /// `c_expr`
    pub(super) fn primary(&mut self) -> Result<Expr> {
        let token = self.token();
        let pos = token.pos;
        match &token.kind {
            Kind::Int(value) => {
                self.advance();
                Ok(literal(Literal::Int(*value), pos))
            }
            Kind::Number(text) => {
                self.advance();
                Ok(literal(Literal::Number(text.clone()), pos))
            }
            Kind::String(text) => {
                self.advance();
                Ok(literal(Literal::String(text.clone()), pos))
            }
            Kind::Bits(text) => {
                self.advance();
                Ok(literal(Literal::Bits(text.clone()), pos))
            }
            Kind::Hex(text) => {
                self.advance();
                Ok(literal(Literal::Hex(text.clone()), pos))
            }
            Kind::Param(number) => {
                self.advance();
                let expr = Expr { kind: ExprKind::Param(*number), pos };
                self.indirection(expr)
            }
            Kind::Punct("(") => self.parenthesised(pos),
            Kind::Quoted(_) | Kind::Word(_, None) => self.name_or_call(pos),
            Kind::Word(word, Some((category, _))) => self.keyword_expr(word, *category, pos),
            Kind::Op(_) | Kind::Punct(_) | Kind::End => self.unexpected(),
        }
    }

    fn parenthesised(&mut self, pos: Pos) -> Result<Expr> {
        if self.subquery_ahead() {
            let back = self.at;
            match self.query_in_parens() {
                Ok(query) => {
                    let expr = Expr { kind: ExprKind::Sublink(Sublink::Scalar, Box::new(query)), pos };
                    return self.indirection(expr);
                }
                Err(error) if !self.is_punct_from(back + 1, "(") => return Err(error),
                // Perhaps `((SELECT ...) + 1)`: the inner parentheses are the subquery.
                Err(_) => self.at = back,
            }
        }
        self.expect_punct("(")?;
        let first = self.expr()?;
        if self.take_punct(",") {
            let mut items = vec![first];
            items.extend(self.list(Self::expr)?);
            self.expect_punct(")")?;
            return Ok(Expr { kind: ExprKind::Row(items, false), pos });
        }
        self.expect_punct(")")?;
        self.indirection(first)
    }

    fn is_punct_from(&self, place: usize, punct: &str) -> bool {
        matches!(self.tokens.get(place).map(|t| &t.kind), Some(Kind::Punct(p)) if *p == punct)
    }

    /// Subscripts and fields after a primary expression.
    pub(super) fn indirection(&mut self, expr: Expr) -> Result<Expr> {
        let pos = expr.pos;
        let list = self.indirections()?;
        if list.is_empty() {
            return Ok(expr);
        }
        Ok(Expr { kind: ExprKind::Indirection(boxed(expr), list), pos })
    }

    pub(super) fn indirections(&mut self) -> Result<Vec<Indirection>> {
        let mut list = Vec::new();
        loop {
            if self.take_punct(".") {
                let pos = self.pos();
                if self.take_op("*") {
                    list.push(Indirection::Star);
                } else {
                    list.push(Indirection::Field(self.col_label()?, pos));
                }
            } else if self.take_punct("[") {
                let low = if self.is_punct(":") { None } else { Some(self.expr()?) };
                if self.take_punct(":") {
                    let high = if self.is_punct("]") { None } else { Some(self.expr()?) };
                    list.push(Indirection::Slice(low, high));
                } else if let Some(index) = low {
                    list.push(Indirection::Index(index));
                }
                self.expect_punct("]")?;
            } else {
                return Ok(list);
            }
        }
    }

    /// A column reference, a function call, or a constant of a named type.
    fn name_or_call(&mut self, pos: Pos) -> Result<Expr> {
        let start = self.at;
        let plain_function = self.is_type_function_name(0);
        let first = if plain_function { self.type_function_name()? } else { self.col_id()? };
        let mut names = vec![first];
        let mut star = false;
        while self.take_punct(".") {
            if self.take_op("*") {
                star = true;
                break;
            }
            names.push(self.col_label()?);
        }
        if !star && self.is_punct("(") && (plain_function || names.len() > 1) {
            let call = self.call(names, pos)?;
            return Ok(call);
        }
        if !star && (plain_function || names.len() > 1) && matches!(self.token().kind, Kind::String(_)) {
            let typ = TypeName { names, pos, ..TypeName::default() };
            return self.typed_literal(typ, pos);
        }
        // `type_function` keywords are no column names.
        if let Some(token) = self.tokens.get(start)
            && matches!(&token.kind, Kind::Word(_, Some((Category::TypeFunc, _))))
        {
            return self.unexpected();
        }
        let expr = Expr { kind: ExprKind::Column(names, star), pos };
        if star {
            return Ok(expr);
        }
        self.indirection(expr)
    }

    fn typed_literal(&mut self, typ: TypeName, pos: Pos) -> Result<Expr> {
        let at = self.pos();
        let text = self.string()?;
        Ok(Expr { kind: ExprKind::Cast(boxed(literal(Literal::String(text), at)), typ), pos })
    }

    fn keyword_expr(&mut self, word: &str, category: Category, pos: Pos) -> Result<Expr> {
        if let Some(value) = sql_value(word) {
            return self.sql_value(value, pos);
        }
        let open = self.is_punct_at(1, "(");
        match word {
            "null" | "true" | "false" => {
                self.advance();
                let value = match word {
                    "null" => Literal::Null,
                    _ => Literal::Bool(word == "true"),
                };
                Ok(literal(value, pos))
            }
            "case" => self.case(pos),
            "cast" => {
                self.advance();
                self.expect_punct("(")?;
                let expr = self.expr()?;
                self.expect("as")?;
                let typ = self.type_name()?;
                self.expect_punct(")")?;
                Ok(Expr { kind: ExprKind::Cast(boxed(expr), typ), pos })
            }
            "exists" if open => {
                self.advance();
                let query = self.query_in_parens()?;
                Ok(Expr { kind: ExprKind::Sublink(Sublink::Exists, Box::new(query)), pos })
            }
            "array" => {
                self.advance();
                if self.is_punct("(") {
                    let query = self.query_in_parens()?;
                    let expr = Expr { kind: ExprKind::Sublink(Sublink::Array, Box::new(query)), pos };
                    return Ok(expr);
                }
                if !self.is_punct("[") {
                    return self.unexpected();
                }
                self.array(pos)
            }
            "row" if open => {
                self.advance();
                self.advance();
                let items = if self.is_punct(")") { Vec::new() } else { self.list(Self::expr)? };
                self.expect_punct(")")?;
                Ok(Expr { kind: ExprKind::Row(items, true), pos })
            }
            "grouping" if open => {
                self.advance();
                let items = self.parens(Self::expr)?;
                Ok(Expr { kind: ExprKind::Grouping(items), pos })
            }
            "coalesce" if open => {
                self.advance();
                let items = self.parens(Self::expr)?;
                Ok(Expr { kind: ExprKind::Coalesce(items), pos })
            }
            "greatest" | "least" if open => {
                self.advance();
                let items = self.parens(Self::expr)?;
                Ok(Expr { kind: ExprKind::MinMax(word == "greatest", items), pos })
            }
            "nullif" if open => {
                self.advance();
                self.advance();
                let left = boxed(self.expr()?);
                self.expect_punct(",")?;
                let right = boxed(self.expr()?);
                self.expect_punct(")")?;
                Ok(Expr { kind: ExprKind::NullIf(left, right), pos })
            }
            "extract" | "position" | "overlay" | "substring" | "trim" | "normalize" | "treat" if open => {
                self.special_call(word, pos)
            }
            "collation" if self.is_at(1, "for") => {
                self.advance();
                self.advance();
                let args = self.parens(Self::expr)?;
                Ok(system_call("pg_collation_for", args, true, pos))
            }
            "xmlconcat" | "xmlelement" | "xmlexists" | "xmlforest" | "xmlparse" | "xmlpi" | "xmlroot"
            | "xmlserialize" | "xmltable"
                if open =>
            {
                Err(SqlError::unsupported(word.to_ascii_uppercase()).at(pos))
            }
            "interval" => {
                // `interval 'x' fields`, `interval(p) 'x'`, else a column of that name.
                if matches!(self.ahead(1).kind, Kind::String(_)) {
                    self.advance();
                    let at = self.pos();
                    let text = self.string()?;
                    let typmods = self.interval_fields()?;
                    let typ = TypeName {
                        names: vec!["pg_catalog".into(), "interval".into()],
                        typmods,
                        pos,
                        ..TypeName::default()
                    };
                    return Ok(Expr {
                        kind: ExprKind::Cast(boxed(literal(Literal::String(text), at)), typ),
                        pos,
                    });
                }
                self.builtin_literal_or_name(pos)
            }
            "current_schema" => self.sql_value(SqlValue::CurrentSchema, pos),
            _ => match category {
                Category::Reserved => self.unexpected(),
                Category::TypeFunc | Category::Unreserved | Category::ColName => {
                    self.builtin_literal_or_name(pos)
                }
            },
        }
    }

    /// A keyword that begins a type: `int '5'`, `varchar(3) 'abc'`; else it is a name.
    fn builtin_literal_or_name(&mut self, pos: Pos) -> Result<Expr> {
        let back = self.at;
        if let Ok(Some(typ)) = self.builtin_type() {
            if matches!(self.token().kind, Kind::String(_)) {
                return self.typed_literal(typ, pos);
            }
            // A type of several words or with a modifier is no column name.
            if self.at > back + 1 {
                return self.unexpected();
            }
        }
        self.at = back;
        self.name_or_call(pos)
    }

    fn sql_value(&mut self, value: SqlValue, pos: Pos) -> Result<Expr> {
        self.advance();
        let mut precision = -1;
        match value {
            SqlValue::CurrentTime
            | SqlValue::CurrentTimestamp
            | SqlValue::LocalTime
            | SqlValue::LocalTimestamp
                if self.take_punct("(") =>
            {
                precision = self.integer()?;
                self.expect_punct(")")?;
            }
            SqlValue::CurrentSchema if self.is_punct("(") => {
                return self.call(vec!["current_schema".into()], pos);
            }
            _ => {}
        }
        Ok(Expr { kind: ExprKind::SqlValue(value, precision), pos })
    }

    fn case(&mut self, pos: Pos) -> Result<Expr> {
        self.advance();
        let operand = if self.is("when") { None } else { Some(boxed(self.expr()?)) };
        let mut branches = Vec::new();
        while self.take("when") {
            let condition = self.expr()?;
            self.expect("then")?;
            branches.push((condition, self.expr()?));
        }
        if branches.is_empty() {
            return self.unexpected();
        }
        let otherwise = if self.take("else") { Some(boxed(self.expr()?)) } else { None };
        self.expect("end")?;
        Ok(Expr { kind: ExprKind::Case(operand, branches, otherwise), pos })
    }

    /// `[a, b]` or `[[a], [b]]` after ARRAY.
    fn array(&mut self, pos: Pos) -> Result<Expr> {
        self.expect_punct("[")?;
        let items = if self.is_punct("]") {
            Vec::new()
        } else if self.is_punct("[") {
            self.list(|p| {
                let pos = p.pos();
                if !p.is_punct("[") {
                    return p.unexpected();
                }
                p.nested(|p| p.array(pos))
            })?
        } else {
            self.list(Self::expr)?
        };
        self.expect_punct("]")?;
        Ok(Expr { kind: ExprKind::Array(items), pos })
    }
}

fn sql_value(word: &str) -> Option<SqlValue> {
    Some(match word {
        "current_date" => SqlValue::CurrentDate,
        "current_time" => SqlValue::CurrentTime,
        "current_timestamp" => SqlValue::CurrentTimestamp,
        "localtime" => SqlValue::LocalTime,
        "localtimestamp" => SqlValue::LocalTimestamp,
        "current_role" => SqlValue::CurrentRole,
        "current_user" => SqlValue::CurrentUser,
        "user" => SqlValue::User,
        "session_user" => SqlValue::SessionUser,
        "current_catalog" => SqlValue::CurrentCatalog,
        _ => return None,
    })
}
