//! Expressions: precedence climbing over PostgreSQL's operator table (`a_expr`, `b_expr`, `c_expr` of `gram.y`).

use super::ast::*;
use super::lexer::Kind;
use super::parser::{DEPTH_MAX, Parser};
use crate::bound::BooleanTest;
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

pub(super) fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn op(name: &str, left: Option<Expr>, right: Expr, pos: Pos) -> Expr {
    Expr { kind: ExprKind::Op(vec![name.to_owned()], left.map(Box::new), boxed(right)), pos }
}

/// A call of a function of pg_catalog by the grammar.
pub(super) fn system_call(name: &str, args: Vec<Expr>, special: bool, pos: Pos) -> Expr {
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

pub(super) fn literal(value: Literal, pos: Pos) -> Expr {
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
