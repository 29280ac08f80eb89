//! Expressions: precedence climbing over PostgreSQL's operator table (`a_expr`, `b_expr`, `c_expr` of `gram.y`).

use super::ast::*;
use super::keywords::Category;
use super::lexer::Kind;
use super::parser::{DEPTH_MAX, Parser};
use crate::bound::{BooleanTest, FrameExclude, FrameUnit};
use catalog::{Result, SqlError, SqlState};

// Binding powers, weakest first: the %left/%nonassoc lines of gram.y.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARE: u8 = 5;
const BETWEEN: u8 = 6;
const OPERATOR: u8 = 9;
const ADD: u8 = 10;
const MULTIPLY: u8 = 11;
const POWER: u8 = 12;
const AT: u8 = 13;
const COLLATE: u8 = 14;
const UNARY_MINUS: u8 = 15;

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn op(name: &str, left: Option<Expr>, right: Expr, pos: Pos) -> Expr {
    Expr { kind: ExprKind::Op(vec![name.to_owned()], left.map(Box::new), boxed(right)), pos }
}

/// A call of a function of pg_catalog by the grammar.
fn system_call(name: &str, args: Vec<Expr>, special: bool, pos: Pos) -> Expr {
    let arg_names = args.iter().map(|_| None).collect();
    let call = FuncCall {
        name: vec!["pg_catalog".into(), name.into()],
        args,
        arg_names,
        special,
        ..FuncCall::default()
    };
    Expr { kind: ExprKind::Func(Box::new(call)), pos }
}

fn literal(value: Literal, pos: Pos) -> Expr {
    Expr { kind: ExprKind::Literal(value), pos }
}

/// Negates a numeric constant in place, as `doNegate` does; anything else becomes an operator.
fn negate(mut expr: Expr, pos: Pos) -> Expr {
    match &mut expr.kind {
        ExprKind::Literal(Literal::Int(value)) => {
            *value = value.wrapping_neg();
            expr.pos = pos;
            expr
        }
        ExprKind::Literal(Literal::Number(text)) => {
            *text = match text.strip_prefix('-') {
                Some(positive) => positive.to_owned(),
                None => format!("-{text}"),
            };
            expr.pos = pos;
            expr
        }
        _ => op("-", None, expr, pos),
    }
}

impl Parser<'_> {
    /// An expression (`a_expr`).
    pub fn expr(&mut self) -> Result<Expr> {
        self.climb(0, false)
    }

    /// A restricted expression (`b_expr`): no AND, OR, NOT, LIKE, IN, BETWEEN, IS NULL.
    pub fn b_expr(&mut self) -> Result<Expr> {
        self.climb(0, true)
    }

    fn climb(&mut self, min: u8, restricted: bool) -> Result<Expr> {
        self.nested(|parser| {
            let mut left = parser.prefix(restricted)?;
            // Binding power of a non-associative operator just applied: another of it is an error.
            let mut barred = 0;
            // IMPORTANT: a chain of operators makes a tree as deep as it is long, which later stages walk recursively.
            let mut length = 0;
            loop {
                let before = parser.at;
                match parser.infix(left, min, &mut barred, restricted)? {
                    (expr, true) => left = expr,
                    (expr, false) => return Ok(expr),
                }
                if parser.at == before {
                    return Ok(left);
                }
                // AND and OR are flattened, so they do not deepen it.
                length += usize::from(!matches!(left.kind, ExprKind::And(_) | ExprKind::Or(_)));
                if length > DEPTH_MAX * 2 {
                    return Err(super::parser::too_deep());
                }
            }
        })
    }

    fn prefix(&mut self, restricted: bool) -> Result<Expr> {
        let pos = self.pos();
        match &self.token().kind {
            Kind::Op(name) => match name.as_str() {
                "+" => {
                    self.advance();
                    let operand = self.climb(UNARY_MINUS, restricted)?;
                    Ok(op("+", None, operand, pos))
                }
                "-" => {
                    self.advance();
                    let operand = self.climb(UNARY_MINUS, restricted)?;
                    Ok(negate(operand, pos))
                }
                "*" | "/" | "%" | "^" | "<" | ">" | "=" | "<=" | ">=" | "<>" => self.unexpected(),
                _ => {
                    self.advance();
                    let operand = self.climb(OPERATOR + 1, restricted)?;
                    Ok(op(name, None, operand, pos))
                }
            },
            Kind::Word(word, Some(_)) if word == "not" && !restricted => {
                self.advance();
                let operand = self.climb(NOT, false)?;
                Ok(Expr { kind: ExprKind::Not(boxed(operand)), pos })
            }
            Kind::Word(word, Some(_)) if word == "operator" && self.is_punct_at(1, "(") => {
                let name = self.operator_name()?;
                let operand = self.climb(OPERATOR + 1, restricted)?;
                Ok(Expr { kind: ExprKind::Op(name, None, boxed(operand)), pos })
            }
            Kind::Word(word, Some(_)) if word == "default" && !restricted => {
                self.advance();
                Ok(Expr { kind: ExprKind::Default, pos })
            }
            _ => self.primary(),
        }
    }

    /// `OPERATOR(schema.op)`
    pub fn operator_name(&mut self) -> Result<Vec<String>> {
        self.expect("operator")?;
        self.expect_punct("(")?;
        let name = self.any_operator()?;
        self.expect_punct(")")?;
        Ok(name)
    }

    /// `[schema.]op`
    pub fn any_operator(&mut self) -> Result<Vec<String>> {
        let mut name = Vec::new();
        while !matches!(self.token().kind, Kind::Op(_)) {
            name.push(self.col_id()?);
            self.expect_punct(".")?;
        }
        if let Kind::Op(op) = &self.token().kind {
            name.push(op.clone());
            self.advance();
        }
        Ok(name)
    }

    /// Applies one operator that binds at least as tightly as `min`; the flag says whether there was one.
    fn infix(&mut self, left: Expr, min: u8, barred: &mut u8, restricted: bool) -> Result<(Expr, bool)> {
        let pos = self.pos();
        let power = self.infix_power(restricted);
        if power == 0 || power < min {
            return Ok((left, false));
        }
        if power == *barred && matches!(power, COMPARE | BETWEEN | IS) {
            return self.unexpected();
        }
        *barred = 0;
        let token = self.token();
        let expr = match &token.kind {
            Kind::Op(name) => {
                self.advance();
                if !restricted && self.is_any(&["any", "some", "all"]) && self.is_punct_at(1, "(") {
                    self.quantified(left, vec![name.clone()], pos)?
                } else {
                    if power == COMPARE {
                        *barred = COMPARE;
                    }
                    let right = self.climb(power + 1, restricted)?;
                    op(name, Some(left), right, pos)
                }
            }
            Kind::Punct("::") => {
                self.advance();
                let typ = self.type_name()?;
                Expr { kind: ExprKind::Cast(boxed(left), typ), pos }
            }
            Kind::Word(word, _) => match word.as_str() {
                "or" | "and" => {
                    self.advance();
                    let right = self.climb(power + 1, restricted)?;
                    join_boolean(left, right, word == "and", pos)
                }
                "operator" => {
                    let name = self.operator_name()?;
                    if self.is_any(&["any", "some", "all"]) && self.is_punct_at(1, "(") {
                        self.quantified(left, name, pos)?
                    } else {
                        let right = self.climb(OPERATOR + 1, restricted)?;
                        Expr { kind: ExprKind::Op(name, Some(boxed(left)), boxed(right)), pos }
                    }
                }
                "at" => {
                    self.advance();
                    self.expect("time")?;
                    self.expect("zone")?;
                    let zone = self.climb(AT + 1, false)?;
                    system_call("timezone", vec![zone, left], true, pos)
                }
                "collate" => {
                    self.advance();
                    let name = self.any_name()?;
                    Expr { kind: ExprKind::Collate(boxed(left), name), pos }
                }
                "isnull" | "notnull" => {
                    self.advance();
                    Expr { kind: ExprKind::NullTest(boxed(left), word == "notnull"), pos }
                }
                "is" => self.is_test(left, pos, barred, restricted)?,
                _ => self.like_in_between(left, pos, barred)?,
            },
            _ => return Ok((left, false)),
        };
        Ok((expr, true))
    }

    /// Binding power of the operator at the current token; 0 if none.
    fn infix_power(&self, restricted: bool) -> u8 {
        match &self.token().kind {
            Kind::Op(name) => match name.as_str() {
                "+" | "-" => ADD,
                "*" | "/" | "%" => MULTIPLY,
                "^" => POWER,
                "<" | ">" | "=" | "<=" | ">=" | "<>" => COMPARE,
                _ => OPERATOR,
            },
            Kind::Punct("::") => 17,
            Kind::Word(word, Some(_)) => match word.as_str() {
                "operator" if self.is_punct_at(1, "(") => OPERATOR,
                "is" => {
                    let after = if self.is_at(1, "not") { 2 } else { 1 };
                    if restricted && !self.is_at(after, "distinct") && !self.is_at(after, "document") {
                        0
                    } else {
                        IS
                    }
                }
                _ if restricted => 0,
                "or" => OR,
                "and" => AND,
                "isnull" | "notnull" => IS,
                "at" if self.is_at(1, "time") => AT,
                "collate" => COLLATE,
                "like" | "ilike" | "in" | "between" => BETWEEN,
                "similar" => BETWEEN,
                "overlaps" => OPERATOR,
                "not" if ["between", "in", "like", "ilike", "similar"].iter().any(|w| self.is_at(1, w)) => {
                    BETWEEN
                }
                _ => 0,
            },
            _ => 0,
        }
    }

    fn quantified(&mut self, left: Expr, name: Vec<String>, pos: Pos) -> Result<Expr> {
        let all = self.is("all");
        self.advance();
        if self.subquery_ahead() {
            let back = self.at;
            if let Ok(query) = self.query_in_parens() {
                let kind = Sublink::Any { left: boxed(left), op: Some(name), all };
                return Ok(Expr { kind: ExprKind::Sublink(kind, Box::new(query)), pos });
            }
            self.at = back;
            if self.is_any_at(1, &["select", "values", "with", "table"]) {
                self.query_in_parens()?;
            }
        }
        self.expect_punct("(")?;
        let array = self.expr()?;
        self.expect_punct(")")?;
        Ok(Expr { kind: ExprKind::OpAny(name, boxed(left), boxed(array), all), pos })
    }

    pub(super) fn is_any_at(&self, n: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_at(n, word))
    }

    /// Whether parentheses, perhaps several, open onto a query.
    pub(super) fn subquery_ahead(&self) -> bool {
        let mut n = 0;
        while self.is_punct_at(n, "(") {
            n += 1;
        }
        n > 0
            && matches!(&self.ahead(n).kind, Kind::Word(w, Some(_)) if matches!(w.as_str(), "select" | "values" | "with" | "table"))
    }

    fn is_test(&mut self, left: Expr, pos: Pos, barred: &mut u8, restricted: bool) -> Result<Expr> {
        self.advance();
        let not = self.take("not");
        if self.take("distinct") {
            self.expect("from")?;
            *barred = IS;
            let right = self.climb(IS + 1, restricted)?;
            return Ok(Expr { kind: ExprKind::Distinct(boxed(left), boxed(right), not), pos });
        }
        let test = match &self.token().kind {
            Kind::Word(word, _) => match (word.as_str(), not) {
                ("null", _) => {
                    self.advance();
                    return Ok(Expr { kind: ExprKind::NullTest(boxed(left), not), pos });
                }
                ("true", false) => BooleanTest::IsTrue,
                ("true", true) => BooleanTest::IsNotTrue,
                ("false", false) => BooleanTest::IsFalse,
                ("false", true) => BooleanTest::IsNotFalse,
                ("unknown", false) => BooleanTest::IsUnknown,
                ("unknown", true) => BooleanTest::IsNotUnknown,
                ("document", _) => return Err(SqlError::unsupported("IS DOCUMENT").at(pos)),
                ("normalized" | "nfc" | "nfd" | "nfkc" | "nfkd", _) => {
                    let form = if word == "normalized" { None } else { Some(word.to_ascii_uppercase()) };
                    let at = self.pos();
                    self.advance();
                    let mut args = vec![left];
                    if let Some(form) = form {
                        self.expect("normalized")?;
                        args.push(literal(Literal::String(form), at));
                    }
                    let call = system_call("is_normalized", args, true, pos);
                    return Ok(if not { Expr { kind: ExprKind::Not(boxed(call)), pos } } else { call });
                }
                _ => return self.unexpected(),
            },
            _ => return self.unexpected(),
        };
        self.advance();
        Ok(Expr { kind: ExprKind::BooleanTest(boxed(left), test), pos })
    }

    fn like_in_between(&mut self, left: Expr, pos: Pos, barred: &mut u8) -> Result<Expr> {
        let not = self.take("not");
        let token = self.token();
        let Kind::Word(word, _) = &token.kind else { return self.unexpected() };
        self.advance();
        match word.as_str() {
            "like" | "ilike" => {
                let name = match (word == "like", not) {
                    (true, false) => "~~",
                    (true, true) => "!~~",
                    (false, false) => "~~*",
                    (false, true) => "!~~*",
                };
                if self.is_any(&["any", "some", "all"]) && self.is_punct_at(1, "(") {
                    return self.quantified(left, vec![name.into()], pos);
                }
                *barred = BETWEEN;
                let mut pattern = self.climb(BETWEEN + 1, false)?;
                if self.take("escape") {
                    let escape = self.climb(BETWEEN + 1, false)?;
                    pattern = system_call("like_escape", vec![pattern, escape], false, pos);
                }
                Ok(op(name, Some(left), pattern, pos))
            }
            "similar" => {
                self.expect("to")?;
                *barred = BETWEEN;
                let mut args = vec![self.climb(BETWEEN + 1, false)?];
                if self.take("escape") {
                    args.push(self.climb(BETWEEN + 1, false)?);
                }
                let pattern = system_call("similar_to_escape", args, false, pos);
                Ok(op(if not { "!~" } else { "~" }, Some(left), pattern, pos))
            }
            "in" => {
                if self.subquery_ahead() {
                    let back = self.at;
                    if let Ok(query) = self.query_in_parens() {
                        let kind = Sublink::Any { left: boxed(left), op: None, all: false };
                        let expr = Expr { kind: ExprKind::Sublink(kind, Box::new(query)), pos };
                        return Ok(if not { Expr { kind: ExprKind::Not(boxed(expr)), pos } } else { expr });
                    }
                    self.at = back;
                    if self.is_any_at(1, &["select", "values", "with", "table"]) {
                        self.query_in_parens()?;
                    }
                }
                let list = self.parens(Self::expr)?;
                Ok(Expr { kind: ExprKind::In(boxed(left), list, not), pos })
            }
            "between" => {
                let symmetric = self.take("symmetric");
                if !symmetric {
                    self.take("asymmetric");
                }
                *barred = BETWEEN;
                let low = boxed(self.b_expr()?);
                self.expect("and")?;
                let high = boxed(self.climb(BETWEEN + 1, false)?);
                Ok(Expr { kind: ExprKind::Between { left: boxed(left), low, high, not, symmetric }, pos })
            }
            "overlaps" => {
                let right = self.climb(OPERATOR + 1, false)?;
                let (ExprKind::Row(mut args, _), ExprKind::Row(more, _)) = (left.kind, right.kind) else {
                    return Err(self.error_at(token));
                };
                for (list, side) in [(args.len(), "left"), (more.len(), "right")] {
                    if list != 2 {
                        return Err(SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("wrong number of parameters on {side} side of OVERLAPS expression"),
                        )
                        .at(pos));
                    }
                }
                args.extend(more);
                Ok(system_call("overlaps", args, true, pos))
            }
            _ => Err(self.error_at(token)),
        }
    }

    /// `c_expr`
    fn primary(&mut self) -> Result<Expr> {
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
        if let Ok(Some(typ)) = self.builtin_type()
            && matches!(self.token().kind, Kind::String(_))
        {
            return self.typed_literal(typ, pos);
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

    fn special_call(&mut self, word: &str, pos: Pos) -> Result<Expr> {
        self.advance();
        self.expect_punct("(")?;
        let mut special = true;
        let mut name = word;
        let args = match word {
            "extract" => {
                let at = self.pos();
                let field = match &self.token().kind {
                    Kind::String(text) => text.clone(),
                    Kind::Word(field, None) | Kind::Quoted(field) => field.clone(),
                    Kind::Word(field, Some(_))
                        if ["year", "month", "day", "hour", "minute", "second"].contains(&field.as_str()) =>
                    {
                        field.clone()
                    }
                    _ => return self.unexpected(),
                };
                self.advance();
                self.expect("from")?;
                vec![literal(Literal::String(field), at), self.expr()?]
            }
            "position" => {
                let needle = self.b_expr()?;
                self.expect("in")?;
                // position(A in B) is position(B, A).
                vec![self.b_expr()?, needle]
            }
            "overlay" => {
                let mut args = vec![self.expr()?];
                if self.take("placing") {
                    args.push(self.expr()?);
                    self.expect("from")?;
                    args.push(self.expr()?);
                    if self.take("for") {
                        args.push(self.expr()?);
                    }
                } else {
                    special = false;
                    while self.take_punct(",") {
                        args.push(self.expr()?);
                    }
                }
                args
            }
            "substring" => {
                let mut args = vec![self.expr()?];
                if self.take("from") {
                    args.push(self.expr()?);
                    if self.take("for") {
                        args.push(self.expr()?);
                    }
                } else if self.take("for") {
                    let at = self.pos();
                    let length = self.expr()?;
                    if self.take("from") {
                        args.push(self.expr()?);
                    } else {
                        args.push(literal(Literal::Int(1), 0));
                    }
                    let typ =
                        TypeName { names: vec!["pg_catalog".into(), "int4".into()], ..TypeName::default() };
                    let cast =
                        matches!(args.last().map(|a| &a.kind), Some(ExprKind::Literal(Literal::Int(1))));
                    args.push(if cast {
                        Expr { kind: ExprKind::Cast(boxed(length), typ), pos: at }
                    } else {
                        length
                    });
                } else if self.take("similar") {
                    name = "substring";
                    args.push(self.expr()?);
                    self.expect("escape")?;
                    args.push(self.expr()?);
                } else {
                    special = false;
                    while self.take_punct(",") {
                        args.push(self.expr()?);
                    }
                }
                args
            }
            "trim" => {
                name = if self.take("leading") {
                    "ltrim"
                } else if self.take("trailing") {
                    "rtrim"
                } else {
                    self.take("both");
                    "btrim"
                };
                if self.take("from") {
                    self.list(Self::expr)?
                } else {
                    let first = self.expr()?;
                    if self.take("from") {
                        let mut args = self.list(Self::expr)?;
                        args.push(first);
                        args
                    } else {
                        let mut args = vec![first];
                        while self.take_punct(",") {
                            args.push(self.expr()?);
                        }
                        args
                    }
                }
            }
            "normalize" => {
                let mut args = vec![self.expr()?];
                if self.take_punct(",") {
                    let at = self.pos();
                    let Kind::Word(form, _) = &self.token().kind else { return self.unexpected() };
                    if !["nfc", "nfd", "nfkc", "nfkd"].contains(&form.as_str()) {
                        return self.unexpected();
                    }
                    args.push(literal(Literal::String(form.to_ascii_uppercase()), at));
                    self.advance();
                }
                args
            }
            _ => return Err(SqlError::unsupported(word.to_ascii_uppercase()).at(pos)),
        };
        self.expect_punct(")")?;
        let call = if special {
            system_call(name, args, true, pos)
        } else {
            let arg_names = args.iter().map(|_| None).collect();
            let call = FuncCall { name: vec![name.into()], args, arg_names, ..FuncCall::default() };
            Expr { kind: ExprKind::Func(Box::new(call)), pos }
        };
        Ok(call)
    }

    /// The arguments and clauses of a function call whose name has been read.
    pub(super) fn call(&mut self, name: Vec<String>, pos: Pos) -> Result<Expr> {
        self.expect_punct("(")?;
        let mut call = FuncCall { name, ..FuncCall::default() };
        if self.is_op("*") && self.is_punct_at(1, ")") {
            self.advance();
            call.star = true;
        } else if !self.is_punct(")") {
            if self.take("distinct") {
                call.distinct = true;
            } else {
                self.take("all");
            }
            loop {
                if self.take("variadic") {
                    call.variadic = true;
                }
                let at = self.pos();
                let named =
                    self.is_type_function_name(0) && (self.is_punct_at(1, "=>") || self.is_punct_at(1, ":="));
                let arg_name = if named {
                    let arg_name = self.type_function_name()?;
                    self.advance();
                    Some((arg_name, at))
                } else {
                    None
                };
                call.args.push(self.expr()?);
                call.arg_names.push(arg_name);
                if call.variadic || !self.take_punct(",") {
                    break;
                }
            }
            call.order_by = self.order_by()?;
        }
        self.expect_punct(")")?;
        if self.is("within") && self.is_at(1, "group") {
            self.advance();
            self.advance();
            self.expect_punct("(")?;
            let fail = |message: &str| Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(pos));
            if !call.order_by.is_empty() {
                return fail("cannot use multiple ORDER BY clauses with WITHIN GROUP");
            }
            if call.distinct {
                return fail("cannot use DISTINCT with WITHIN GROUP");
            }
            if call.variadic {
                return fail("cannot use VARIADIC with WITHIN GROUP");
            }
            call.order_by = self.order_by()?;
            if call.order_by.is_empty() {
                return self.unexpected();
            }
            call.within_group = true;
            self.expect_punct(")")?;
        }
        if self.is("filter") && self.is_punct_at(1, "(") {
            self.advance();
            self.advance();
            self.expect("where")?;
            call.filter = Some(self.expr()?);
            self.expect_punct(")")?;
        }
        if self.is("over") && (self.is_punct_at(1, "(") || self.is_col_id(1)) {
            self.advance();
            call.over = Some(if self.is_punct("(") {
                self.window_specification()?
            } else {
                let pos = self.pos();
                Window { reference: Some(self.col_id()?), bare: true, pos, ..Window::default() }
            });
        }
        let expr = Expr { kind: ExprKind::Func(Box::new(call)), pos };
        Ok(expr)
    }

    /// `( [name] [PARTITION BY ...] [ORDER BY ...] [frame] )`
    pub(super) fn window_specification(&mut self) -> Result<Window> {
        let mut window = Window { pos: self.pos(), ..Window::default() };
        self.expect_punct("(")?;
        if self.is_col_id(0) && !self.is_any(&["partition", "range", "rows", "groups"]) {
            window.reference = Some(self.col_id()?);
        }
        if self.take("partition") {
            self.expect("by")?;
            window.partition_by = self.list(Self::expr)?;
        }
        window.order_by = self.order_by()?;
        let unit = match &self.token().kind {
            Kind::Word(word, _) => match word.as_str() {
                "rows" => Some(FrameUnit::Rows),
                "range" => Some(FrameUnit::Range),
                "groups" => Some(FrameUnit::Groups),
                _ => None,
            },
            _ => None,
        };
        if let Some(unit) = unit {
            self.advance();
            window.frame = Some(self.frame(unit)?);
        }
        self.expect_punct(")")?;
        Ok(window)
    }

    fn frame(&mut self, unit: FrameUnit) -> Result<Frame> {
        let at = self.pos();
        let bad = |message: &str, at: Pos| Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(at));
        let (start, end) = if self.take("between") {
            let at = self.pos();
            let start = self.frame_bound()?;
            self.expect("and")?;
            let end_at = self.pos();
            let end = self.frame_bound()?;
            match (&start, &end) {
                (FrameBound::UnboundedFollowing, _) => {
                    return bad("frame start cannot be UNBOUNDED FOLLOWING", at);
                }
                (_, FrameBound::UnboundedPreceding) => {
                    return bad("frame end cannot be UNBOUNDED PRECEDING", end_at);
                }
                (FrameBound::CurrentRow, FrameBound::Preceding(_)) => {
                    return bad("frame starting from current row cannot have preceding rows", end_at);
                }
                (FrameBound::Following(_), FrameBound::Preceding(_) | FrameBound::CurrentRow) => {
                    return bad("frame starting from following row cannot have preceding rows", end_at);
                }
                _ => {}
            }
            (start, end)
        } else {
            let start = self.frame_bound()?;
            match &start {
                FrameBound::UnboundedFollowing => {
                    return bad("frame start cannot be UNBOUNDED FOLLOWING", at);
                }
                FrameBound::Following(_) => {
                    return bad("frame starting from following row cannot end with current row", at);
                }
                _ => {}
            }
            (start, FrameBound::CurrentRow)
        };
        let exclude = if self.take("exclude") {
            if self.take_all(&["current", "row"]) {
                FrameExclude::CurrentRow
            } else if self.take("group") {
                FrameExclude::Group
            } else if self.take("ties") {
                FrameExclude::Ties
            } else if self.take_all(&["no", "others"]) {
                FrameExclude::NoOthers
            } else {
                return self.unexpected();
            }
        } else {
            FrameExclude::NoOthers
        };
        Ok(Frame { unit, start, end, exclude })
    }

    fn frame_bound(&mut self) -> Result<FrameBound> {
        if self.take_all(&["unbounded", "preceding"]) {
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.take_all(&["unbounded", "following"]) {
            return Ok(FrameBound::UnboundedFollowing);
        }
        if self.take_all(&["current", "row"]) {
            return Ok(FrameBound::CurrentRow);
        }
        let offset = self.expr()?;
        if self.take("preceding") {
            Ok(FrameBound::Preceding(offset))
        } else if self.take("following") {
            Ok(FrameBound::Following(offset))
        } else {
            self.unexpected()
        }
    }
}

/// Joins by AND or OR, flattening to the left as `makeAndExpr` does.
fn join_boolean(left: Expr, right: Expr, and: bool, pos: Pos) -> Expr {
    match (left.kind, and) {
        (ExprKind::And(mut list), true) => {
            list.push(right);
            Expr { kind: ExprKind::And(list), pos: left.pos }
        }
        (ExprKind::Or(mut list), false) => {
            list.push(right);
            Expr { kind: ExprKind::Or(list), pos: left.pos }
        }
        (kind, and) => {
            let list = vec![Expr { kind, pos: left.pos }, right];
            Expr { kind: if and { ExprKind::And(list) } else { ExprKind::Or(list) }, pos }
        }
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
