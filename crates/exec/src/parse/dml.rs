//! INSERT, UPDATE, DELETE and EXPLAIN.

use super::ast::*;
use super::lexer::Kind;
use super::parser::Parser;
use catalog::{Result, SqlError};

impl Parser<'_> {
    /// A query or DML statement, with its WITH.
    pub fn dml(&mut self) -> Result<Dml> {
        let back = self.at;
        if self.is("with") {
            // Which statement it is shows only behind the WITH clause.
            let with = self.with()?;
            if self.is_any(&["insert", "update", "delete", "merge"]) {
                return self.write(with);
            }
            self.at = back;
            return self.query().map(Dml::Query);
        }
        if self.is_any(&["insert", "update", "delete", "merge"]) {
            return self.write(None);
        }
        if self.query_ahead() {
            return self.query().map(Dml::Query);
        }
        self.unexpected()
    }

    fn write(&mut self, with: Option<With>) -> Result<Dml> {
        let pos = self.pos();
        match &self.token().kind {
            Kind::Word(word, _) if word == "insert" => self.insert(with).map(Dml::Insert),
            Kind::Word(word, _) if word == "update" => self.update(with).map(Dml::Update),
            Kind::Word(word, _) if word == "delete" => self.delete(with).map(Dml::Delete),
            _ => Err(SqlError::unsupported("MERGE").at(pos)),
        }
    }

    fn insert(&mut self, with: Option<With>) -> Result<Insert> {
        self.expect("insert")?;
        self.expect("into")?;
        let relation = self.qualified_name()?;
        let alias = if self.take("as") { Some(self.col_id()?) } else { None };
        let mut columns = Vec::new();
        // `(` opens a column list unless it opens a query.
        if self.is_punct("(") && !self.subquery_ahead() {
            columns = self.parens(Self::assign_target)?;
        }
        let mut overriding = None;
        if self.take("overriding") {
            overriding = Some(if self.take("user") {
                Overriding::User
            } else {
                self.expect("system")?;
                Overriding::System
            });
            self.expect("value")?;
        }
        let source = if columns.is_empty() && overriding.is_none() && self.is("default") {
            self.advance();
            self.expect("values")?;
            None
        } else if self.query_ahead() {
            Some(Box::new(self.query()?))
        } else {
            return self.unexpected();
        };
        let on_conflict = if self.is("on") { Some(self.on_conflict()?) } else { None };
        let returning = self.returning()?;
        Ok(Insert { with, relation, alias, columns, overriding, source, on_conflict, returning })
    }

    fn assign_target(&mut self) -> Result<AssignTarget> {
        let pos = self.pos();
        let name = self.col_id()?;
        let indirection = self.indirections()?;
        Ok(AssignTarget { name, indirection, pos })
    }

    fn on_conflict(&mut self) -> Result<OnConflict> {
        let pos = self.pos();
        self.expect("on")?;
        self.expect("conflict")?;
        let mut conflict = OnConflict {
            keys: Vec::new(),
            predicate: None,
            constraint: None,
            update: None,
            filter: None,
            pos,
        };
        if self.is_punct("(") {
            conflict.keys = self.parens(|p| {
                let expr = if p.is_punct("(") {
                    p.expect_punct("(")?;
                    let expr = p.expr()?;
                    p.expect_punct(")")?;
                    expr
                } else {
                    let pos = p.pos();
                    let call = p.is_punct_at(1, "(") || p.is_punct_at(1, ".");
                    if call {
                        p.b_expr()?
                    } else {
                        Expr { kind: ExprKind::Column(vec![p.col_id()?], false), pos }
                    }
                };
                let collation = if p.take("collate") { Some(p.any_name()?) } else { None };
                let opclass = if p.is_col_id(0) { Some(p.any_name()?) } else { None };
                Ok(InferKey { expr, collation, opclass })
            })?;
            if self.take("where") {
                conflict.predicate = Some(self.expr()?);
            }
        } else if self.take("on") {
            self.expect("constraint")?;
            conflict.constraint = Some(self.col_id()?);
        }
        self.expect("do")?;
        if self.take("nothing") {
            return Ok(conflict);
        }
        self.expect("update")?;
        self.expect("set")?;
        conflict.update = Some(self.list(Self::assignment)?);
        if self.take("where") {
            conflict.filter = Some(self.expr()?);
        }
        Ok(conflict)
    }

    fn returning(&mut self) -> Result<Vec<Target>> {
        if self.take("returning") { self.list(Self::target) } else { Ok(Vec::new()) }
    }

    fn assignment(&mut self) -> Result<Assignment> {
        if self.is_punct("(") {
            let targets = self.parens(Self::assign_target)?;
            if !self.take_op("=") {
                return self.unexpected();
            }
            return Ok(Assignment::Many(targets, self.expr()?));
        }
        let target = self.assign_target()?;
        if !self.take_op("=") {
            return self.unexpected();
        }
        Ok(Assignment::One(target, self.expr()?))
    }

    /// `name [*] [[AS] alias]` of UPDATE and DELETE; SET is no alias.
    fn target_relation(&mut self) -> Result<(RangeVar, Option<Alias>)> {
        let relation = self.relation_expr()?;
        let aliased = self.take("as") || (self.is_col_id(0) && !self.is("set"));
        let name = if aliased { Some(self.col_id()?) } else { None };
        Ok((relation, name.map(|name| Alias { name, columns: Vec::new() })))
    }

    fn filter_or_cursor(&mut self) -> Result<Option<Expr>> {
        if !self.take("where") {
            return Ok(None);
        }
        let pos = self.pos();
        if self.is("current") && self.is_at(1, "of") {
            self.advance();
            self.advance();
            return Ok(Some(Expr { kind: ExprKind::CurrentOf(self.col_id()?), pos }));
        }
        self.expr().map(Some)
    }

    fn update(&mut self, with: Option<With>) -> Result<Update> {
        self.expect("update")?;
        let (relation, alias) = self.target_relation()?;
        self.expect("set")?;
        let assignments = self.list(Self::assignment)?;
        let from = if self.take("from") { self.list(Self::table_ref)? } else { Vec::new() };
        let filter = self.filter_or_cursor()?;
        let returning = self.returning()?;
        Ok(Update { with, relation, alias, assignments, from, filter, returning })
    }

    fn delete(&mut self, with: Option<With>) -> Result<Delete> {
        self.expect("delete")?;
        self.expect("from")?;
        let (relation, alias) = self.target_relation()?;
        let using = if self.take("using") { self.list(Self::table_ref)? } else { Vec::new() };
        let filter = self.filter_or_cursor()?;
        let returning = self.returning()?;
        Ok(Delete { with, relation, alias, using, filter, returning })
    }

    /// EXPLAIN's options; the statement behind them is the caller's.
    pub(super) fn explain_options(&mut self) -> Result<Vec<(String, Option<String>, Pos)>> {
        self.expect("explain")?;
        let mut options = Vec::new();
        if self.is_punct("(") && !self.subquery_ahead() {
            return self.parens(|p| {
                let pos = p.pos();
                let name = p.col_label()?;
                let value = match &p.token().kind {
                    Kind::Word(word, _) => Some(word.clone()),
                    Kind::Quoted(text) | Kind::String(text) | Kind::Number(text) => Some(text.clone()),
                    Kind::Int(value) => Some(value.to_string()),
                    _ => None,
                };
                if value.is_some() {
                    p.advance();
                }
                Ok((name, value, pos))
            });
        }
        for word in ["analyze", "verbose"] {
            let pos = self.pos();
            if self.take(word) || (word == "analyze" && self.take("analyse")) {
                options.push((word.to_owned(), None, pos));
            }
        }
        Ok(options)
    }
}
