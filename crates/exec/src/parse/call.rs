//! Function calls: arguments, special syntax, aggregates' clauses, windows and frames (`func_expr` of `gram.y`).

use super::ast::*;
use super::expr::{boxed, literal, system_call};
use super::lexer::Kind;
use super::parser::Parser;
use crate::bound::{FrameExclude, FrameUnit};
use catalog::{Result, SqlError, SqlState};

impl Parser<'_> {
    pub(super) fn special_call(&mut self, word: &str, pos: Pos) -> Result<Expr> {
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
