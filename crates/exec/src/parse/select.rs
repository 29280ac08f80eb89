//! Queries: SELECT, VALUES, TABLE, set operations, WITH, FROM (`SelectStmt` and below in `gram.y`).

use super::ast::*;
use super::lexer::Kind;
use super::parser::Parser;
use crate::bound::{JoinKind, LockStrength, LockWait, SetOp};
use catalog::{Result, SqlError, SqlState};

fn syntax(message: &str, pos: Pos) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message).at(pos)
}

impl Parser<'_> {
    /// Whether a query begins here.
    pub fn query_ahead(&self) -> bool {
        self.is_any(&["select", "values", "with", "table"]) || self.subquery_ahead()
    }

    /// `( query )`
    pub fn query_in_parens(&mut self) -> Result<Query> {
        self.expect_punct("(")?;
        let query = self.nested(Self::query)?;
        self.expect_punct(")")?;
        Ok(query)
    }

    /// A query with all its clauses.
    pub fn query(&mut self) -> Result<Query> {
        let pos = self.pos();
        let with = self.with()?;
        let mut query = self.set_operations(0)?;
        query.pos = pos;
        self.query_tail(&mut query)?;
        if with.is_some() {
            if query.with.is_some() {
                return Err(syntax("multiple WITH clauses not allowed", pos));
            }
            query.with = with;
        }
        Ok(query)
    }

    /// ORDER BY, LIMIT, OFFSET, FETCH, FOR UPDATE, in any order that PostgreSQL takes; merged into a parenthesised query's own
    /// (compare `insertSelectOptions`).
    fn query_tail(&mut self, query: &mut Query) -> Result<()> {
        let at = self.pos();
        let order_by = self.order_by()?;
        if !order_by.is_empty() {
            if !query.order_by.is_empty() {
                return Err(syntax("multiple ORDER BY clauses not allowed", at));
            }
            query.order_by = order_by;
        }
        loop {
            let at = self.pos();
            if self.take("limit") {
                if query.limit.is_some() {
                    return Err(syntax("multiple LIMIT clauses not allowed", at));
                }
                if !self.take("all") {
                    query.limit = Some(self.expr()?);
                }
                if self.is_punct(",") {
                    return Err(syntax("LIMIT #,# syntax is not supported", at)
                        .hint("Use separate LIMIT and OFFSET clauses."));
                }
            } else if self.take("offset") {
                if query.offset.is_some() {
                    return Err(syntax("multiple OFFSET clauses not allowed", at));
                }
                query.offset = Some(self.expr()?);
                if !self.take("rows") {
                    self.take("row");
                }
            } else if self.is("fetch") && (self.is_at(1, "first") || self.is_at(1, "next")) {
                self.advance();
                self.advance();
                if query.limit.is_some() {
                    return Err(syntax("multiple LIMIT clauses not allowed", at));
                }
                query.limit = Some(if self.is_any(&["row", "rows"]) {
                    Expr { kind: ExprKind::Literal(Literal::Int(1)), pos: 0 }
                } else {
                    self.fetch_count()?
                });
                if !self.take("rows") {
                    self.expect("row")?;
                }
                if self.take("with") {
                    self.expect("ties")?;
                    if query.order_by.is_empty() {
                        return Err(SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            "WITH TIES cannot be specified without ORDER BY clause",
                        ));
                    }
                    query.with_ties = true;
                } else {
                    self.expect("only")?;
                }
            } else if self.is("for") {
                if self.is_at(1, "read") {
                    // FOR READ ONLY says what is so anyway.
                    self.advance();
                    self.advance();
                    self.expect("only")?;
                } else {
                    let clause = self.locking()?;
                    query.locking.push(clause);
                }
            } else {
                return Ok(());
            }
        }
    }

    fn fetch_count(&mut self) -> Result<Expr> {
        // c_expr, or a signed constant.
        let pos = self.pos();
        if self.take_op("-") {
            let mut value = self.fetch_count()?;
            match &mut value.kind {
                ExprKind::Literal(Literal::Int(v)) => *v = -*v,
                ExprKind::Literal(Literal::Number(text)) => *text = format!("-{text}"),
                _ => return self.unexpected(),
            }
            value.pos = pos;
            return Ok(value);
        }
        self.take_op("+");
        self.b_expr()
    }

    fn locking(&mut self) -> Result<Locking> {
        self.expect("for")?;
        let strength = if self.take("update") {
            LockStrength::Update
        } else if self.take("share") {
            LockStrength::Share
        } else if self.take_all(&["no", "key", "update"]) {
            LockStrength::NoKeyUpdate
        } else if self.take_all(&["key", "share"]) {
            LockStrength::KeyShare
        } else {
            return self.unexpected();
        };
        let of = if self.take("of") { self.list(Self::qualified_name)? } else { Vec::new() };
        let wait = if self.take("nowait") {
            LockWait::NoWait
        } else if self.is("skip") && self.is_at(1, "locked") {
            self.advance();
            self.advance();
            LockWait::SkipLocked
        } else {
            LockWait::Block
        };
        Ok(Locking { strength, of, wait })
    }

    /// UNION and EXCEPT bind alike, INTERSECT tighter.
    fn set_operations(&mut self, min: u8) -> Result<Query> {
        let mut left = self.simple_query()?;
        let mut length = 0;
        loop {
            let (op, power) = match &self.token().kind {
                Kind::Word(word, _) => match word.as_str() {
                    "union" => (SetOp::Union, 1),
                    "except" => (SetOp::Except, 1),
                    "intersect" => (SetOp::Intersect, 2),
                    _ => return Ok(left),
                },
                _ => return Ok(left),
            };
            if power < min {
                return Ok(left);
            }
            length += 1;
            if length > super::parser::DEPTH_MAX {
                return Err(super::parser::too_deep());
            }
            self.advance();
            let all = self.take("all");
            if !all {
                self.take("distinct");
            }
            let right = self.nested(|p| p.set_operations(power + 1))?;
            let pos = left.pos;
            left = Query::of(
                QueryBody::SetOperation { op, all, left: Box::new(left), right: Box::new(right) },
                pos,
            );
        }
    }

    fn simple_query(&mut self) -> Result<Query> {
        let pos = self.pos();
        if self.is_punct("(") {
            return self.query_in_parens();
        }
        if self.take("values") {
            let rows = self.list(|p| p.parens(Self::expr))?;
            return Ok(Query::of(QueryBody::Values(rows), pos));
        }
        if self.take("table") {
            let relation = self.relation_expr()?;
            let star = Expr { kind: ExprKind::Column(Vec::new(), true), pos: 0 };
            let select = Select {
                targets: vec![Target { expr: star, label: None, pos: 0 }],
                from: vec![TableRef::Relation { relation, alias: None }],
                ..Select::default()
            };
            return Ok(Query::of(QueryBody::Select(Box::new(select)), pos));
        }
        self.expect("select")?;
        let select = self.select()?;
        Ok(Query::of(QueryBody::Select(Box::new(select)), pos))
    }

    /// A SELECT after its first word.
    fn select(&mut self) -> Result<Select> {
        let mut select = Select::default();
        if self.take("distinct") {
            select.distinct =
                Some(if self.take("on") { Distinct::On(self.parens(Self::expr)?) } else { Distinct::All });
        } else {
            self.take("all");
        }
        if !self.select_list_ends() {
            select.targets = self.list(Self::target)?;
        } else if select.distinct.is_some() {
            return self.unexpected();
        }
        if self.take("into") {
            self.take_any(&["temporary", "temp", "unlogged", "local", "global"]);
            self.take_any(&["temporary", "temp"]);
            self.take("table");
            select.into = Some(self.qualified_name()?);
        }
        if self.take("from") {
            select.from = self.list(Self::table_ref)?;
        }
        if self.take("where") {
            select.filter = Some(self.expr()?);
        }
        if self.take("group") {
            self.expect("by")?;
            select.group_distinct = self.take("distinct");
            if !select.group_distinct {
                self.take("all");
            }
            select.group_by = self.list(Self::grouping)?;
        }
        if self.take("having") {
            select.having = Some(self.expr()?);
        }
        if self.take("window") {
            select.windows = self.list(|p| {
                let name = p.col_id()?;
                p.expect("as")?;
                Ok(Window { name: Some(name), ..p.window_specification()? })
            })?;
        }
        Ok(select)
    }

    fn take_any(&mut self, words: &[&str]) {
        if self.is_any(words) {
            self.advance();
        }
    }

    fn select_list_ends(&self) -> bool {
        match &self.token().kind {
            Kind::End => true,
            Kind::Punct(p) => matches!(*p, ")" | ";"),
            Kind::Word(word, Some(_)) => matches!(
                word.as_str(),
                "from"
                    | "into"
                    | "where"
                    | "group"
                    | "having"
                    | "window"
                    | "union"
                    | "intersect"
                    | "except"
                    | "order"
                    | "limit"
                    | "offset"
                    | "fetch"
                    | "for"
            ),
            _ => false,
        }
    }

    /// An item of a target list or of RETURNING.
    pub(super) fn target(&mut self) -> Result<Target> {
        let pos = self.pos();
        if self.take_op("*") {
            let expr = Expr { kind: ExprKind::Column(Vec::new(), true), pos };
            return Ok(Target { expr, label: None, pos });
        }
        let expr = self.expr()?;
        let label = if self.take("as") { Some(self.col_label()?) } else { self.bare_label() };
        Ok(Target { expr, label, pos })
    }

    /// `ORDER BY list`, or nothing.
    pub(super) fn order_by(&mut self) -> Result<Vec<SortBy>> {
        if !self.take("order") {
            return Ok(Vec::new());
        }
        self.expect("by")?;
        self.list(|p| {
            let expr = p.expr()?;
            let mut using = None;
            let mut desc = false;
            if p.take("using") {
                using = Some(match p.token().kind {
                    Kind::Op(_) => p.any_operator()?,
                    _ if p.is("operator") => p.operator_name()?,
                    _ => return p.unexpected(),
                });
            } else {
                desc = p.take("desc");
                if !desc {
                    p.take("asc");
                }
            }
            let nulls_first = if p.take_all(&["nulls", "first"]) {
                Some(true)
            } else if p.take_all(&["nulls", "last"]) {
                Some(false)
            } else {
                None
            };
            Ok(SortBy { expr, desc, nulls_first, using })
        })
    }

    fn grouping(&mut self) -> Result<Grouping> {
        if self.is_punct("(") && self.is_punct_at(1, ")") {
            self.advance();
            self.advance();
            return Ok(Grouping::Empty);
        }
        if self.is("rollup") && self.is_punct_at(1, "(") {
            self.advance();
            return Ok(Grouping::Rollup(self.parens(|p| p.expr().map(Grouping::Expr))?));
        }
        if self.is("cube") && self.is_punct_at(1, "(") {
            self.advance();
            return Ok(Grouping::Cube(self.parens(|p| p.expr().map(Grouping::Expr))?));
        }
        if self.is("grouping") && self.is_at(1, "sets") {
            self.advance();
            self.advance();
            return Ok(Grouping::Sets(self.parens(|p| p.nested(Self::grouping))?));
        }
        self.expr().map(Grouping::Expr)
    }

    /// `WITH ...`, or nothing.
    pub(super) fn with(&mut self) -> Result<Option<With>> {
        if !self.is("with") {
            return Ok(None);
        }
        self.advance();
        let recursive = self.take("recursive");
        let ctes = self.list(|p| {
            let pos = p.pos();
            let name = p.col_id()?;
            let columns = if p.is_punct("(") { p.parens(Self::col_id)? } else { Vec::new() };
            p.expect("as")?;
            let materialized = if p.take("materialized") {
                Some(true)
            } else if p.take_all(&["not", "materialized"]) {
                Some(false)
            } else {
                None
            };
            p.expect_punct("(")?;
            let body = Box::new(p.nested(Self::dml)?);
            p.expect_punct(")")?;
            if (p.is("search") && (p.is_at(1, "depth") || p.is_at(1, "breadth"))) || p.is("cycle") {
                let what = if p.is("search") { "SEARCH" } else { "CYCLE" };
                return Err(SqlError::unsupported(what).at(p.pos()));
            }
            Ok(Cte { name, columns, materialized, body, pos })
        })?;
        Ok(Some(With { recursive, ctes }))
    }

    /// `[ONLY] name [*]`
    pub(super) fn relation_expr(&mut self) -> Result<RangeVar> {
        let pos = self.pos();
        if self.take("only") {
            let parens = self.take_punct("(");
            let mut relation = self.qualified_name()?;
            if parens {
                self.expect_punct(")")?;
            }
            relation.only = true;
            relation.pos = pos.max(relation.pos);
            return Ok(relation);
        }
        let relation = self.qualified_name()?;
        self.take_op("*");
        Ok(relation)
    }

    /// `[AS] name [(columns)]`, or nothing.
    pub(super) fn alias(&mut self) -> Result<Option<Alias>> {
        if !self.take("as") && !self.is_col_id(0) {
            return Ok(None);
        }
        let name = self.col_id()?;
        let columns = if self.is_punct("(") { self.parens(Self::col_id)? } else { Vec::new() };
        Ok(Some(Alias { name, columns }))
    }

    /// An item of FROM with its joins.
    pub(super) fn table_ref(&mut self) -> Result<TableRef> {
        self.nested(|p| {
            let mut left = p.table_primary()?;
            let mut length = 0;
            loop {
                length += 1;
                if length > super::parser::DEPTH_MAX {
                    return Err(super::parser::too_deep());
                }
                match p.join(left)? {
                    (joined, true) => left = joined,
                    (single, false) => return Ok(single),
                }
            }
        })
    }

    /// Joins one more item to the left side, if a join follows.
    fn join(&mut self, left: TableRef) -> Result<(TableRef, bool)> {
        let pos = self.pos();
        if self.take_all(&["cross", "join"]) {
            let right = self.table_primary()?;
            let join = plain_join(JoinKind::Cross, false, left, right, pos);
            return Ok((join, true));
        }
        let natural = self.take("natural");
        let kind = match &self.token().kind {
            Kind::Word(word, Some(_)) => match word.as_str() {
                "join" => JoinKind::Inner,
                "inner" => JoinKind::Inner,
                "left" => JoinKind::Left,
                "right" => JoinKind::Right,
                "full" => JoinKind::Full,
                _ if natural => return self.unexpected(),
                _ => return Ok((left, false)),
            },
            _ if natural => return self.unexpected(),
            _ => return Ok((left, false)),
        };
        if !self.is("join") {
            self.advance();
            self.take("outer");
        }
        self.expect("join")?;
        if natural {
            let right = self.table_primary()?;
            return Ok((plain_join(kind, true, left, right, pos), true));
        }
        // The right side may be a join itself when its condition follows: `a JOIN b JOIN c ON ... ON ...`.
        let mut right = self.table_primary()?;
        while !self.is_any(&["on", "using"]) {
            match self.nested(|p| p.join(right))? {
                (joined, true) => right = joined,
                (_, false) => return self.unexpected(),
            }
        }
        let mut join = plain_join(kind, false, left, right, pos);
        let TableRef::Join { on, using, using_alias, .. } = &mut join else { return Ok((join, true)) };
        if self.take("on") {
            *on = Some(self.expr()?);
        } else {
            self.expect("using")?;
            *using = Some(self.parens(|p| {
                let pos = p.pos();
                Ok((p.col_id()?, pos))
            })?);
            if self.take("as") {
                *using_alias = Some(self.col_id()?);
            }
        }
        Ok((join, true))
    }

    fn table_primary(&mut self) -> Result<TableRef> {
        let pos = self.pos();
        let lateral = self.take("lateral");
        if self.is_punct("(") {
            if self.subquery_ahead() {
                let back = self.at;
                match self.query_in_parens() {
                    Ok(query) => return self.subquery_alias(query, lateral, pos),
                    Err(error)
                        if lateral
                            || !matches!(
                                self.tokens.get(back + 1).map(|t| &t.kind),
                                Some(Kind::Punct("("))
                            ) =>
                    {
                        return Err(error);
                    }
                    Err(_) => self.at = back,
                }
            } else if lateral {
                return self.unexpected();
            }
            self.expect_punct("(")?;
            let mut inner = self.table_ref()?;
            if !matches!(inner, TableRef::Join { .. }) {
                // Only joins may stand in parentheses.
                return self.unexpected();
            }
            self.expect_punct(")")?;
            let given = self.alias()?;
            if let TableRef::Join { alias, .. } = &mut inner
                && given.is_some()
            {
                *alias = given;
            }
            return Ok(inner);
        }
        if self.is("rows") && self.is_at(1, "from") && self.is_punct_at(2, "(") {
            self.advance();
            self.advance();
            let functions = self.parens(|p| {
                let call = p.table_function()?;
                let columns = if p.take("as") { p.parens(Self::column_def)? } else { Vec::new() };
                Ok((call, columns))
            })?;
            return self.function_alias(functions, true, lateral, pos);
        }
        if lateral || self.table_function_ahead() {
            let call = self.table_function()?;
            return self.function_alias(vec![(call, Vec::new())], false, lateral, pos);
        }
        if self.is("xmltable") && self.is_punct_at(1, "(") {
            return Err(SqlError::unsupported("XMLTABLE").at(pos));
        }
        let relation = self.relation_expr()?;
        let alias = self.alias()?;
        if self.is("tablesample") {
            return Err(SqlError::unsupported("TABLESAMPLE").at(self.pos()));
        }
        Ok(TableRef::Relation { relation, alias })
    }

    fn subquery_alias(&mut self, query: Query, lateral: bool, pos: Pos) -> Result<TableRef> {
        let alias = self.alias()?;
        if alias.is_none() {
            let what = if matches!(query.body, QueryBody::Values(_)) { "VALUES" } else { "subquery" };
            let example = if what == "VALUES" { "VALUES" } else { "SELECT" };
            // The opening parenthesis.
            let at =
                if lateral { self.tokens.iter().find(|t| t.pos > pos).map_or(pos, |t| t.pos) } else { pos };
            return Err(syntax(&format!("{what} in FROM must have an alias"), at)
                .hint(format!("For example, FROM ({example} ...) [AS] foo.")));
        }
        Ok(TableRef::Subquery { query: Box::new(query), alias, lateral, pos })
    }

    /// Whether a function call rather than a relation's name stands here.
    fn table_function_ahead(&self) -> bool {
        if let Kind::Word(word, Some(_)) = &self.token().kind {
            let call = match word.as_str() {
                "current_date" | "current_time" | "current_timestamp" | "localtime" | "localtimestamp"
                | "current_role" | "current_user" | "session_user" | "user" | "current_catalog" => true,
                "coalesce" | "cast" | "greatest" | "least" | "nullif" | "extract" | "substring"
                | "position" | "overlay" | "trim" => self.is_punct_at(1, "("),
                _ => false,
            };
            if call {
                return true;
            }
        }
        if !self.is_col_id(0) && !self.is_type_function_name(0) {
            return false;
        }
        let mut n = 1;
        while self.is_punct_at(n, ".") {
            n += 2;
        }
        self.is_punct_at(n, "(")
    }

    /// A function call in FROM (`func_expr_windowless`).
    fn table_function(&mut self) -> Result<Expr> {
        let expr = self.b_expr()?;
        match &expr.kind {
            ExprKind::Func(call) if call.over.is_none() => Ok(expr),
            ExprKind::SqlValue(..)
            | ExprKind::Coalesce(_)
            | ExprKind::Cast(..)
            | ExprKind::MinMax(..)
            | ExprKind::NullIf(..) => Ok(expr),
            _ => self.unexpected(),
        }
    }

    fn column_def(&mut self) -> Result<ColumnDef> {
        let pos = self.pos();
        let name = self.col_id()?;
        let typ = self.type_name()?;
        if self.take("collate") {
            self.any_name()?;
        }
        Ok(ColumnDef { name, typ, pos })
    }

    fn function_alias(
        &mut self,
        functions: Vec<(Expr, Vec<ColumnDef>)>,
        rows_from: bool,
        lateral: bool,
        pos: Pos,
    ) -> Result<TableRef> {
        let ordinality = self.take_all(&["with", "ordinality"]);
        let mut alias = None;
        let mut columns = Vec::new();
        let with_as = self.take("as");
        if with_as && self.is_punct("(") {
            columns = self.parens(Self::column_def)?;
        } else if with_as || self.is_col_id(0) {
            let name = self.col_id()?;
            let mut names = Vec::new();
            if self.is_punct("(") {
                // Names only, or names with types.
                if self.is_col_id(1) && (self.is_punct_at(2, ",") || self.is_punct_at(2, ")")) {
                    names = self.parens(Self::col_id)?;
                } else {
                    columns = self.parens(Self::column_def)?;
                }
            }
            alias = Some(Alias { name, columns: names });
        }
        Ok(TableRef::Function { functions, rows_from, ordinality, alias, columns, lateral, pos })
    }
}

fn plain_join(kind: JoinKind, natural: bool, left: TableRef, right: TableRef, pos: Pos) -> TableRef {
    TableRef::Join {
        kind,
        natural,
        left: Box::new(left),
        right: Box::new(right),
        on: None,
        using: None,
        using_alias: None,
        alias: None,
        pos,
    }
}

impl Query {
    /// A query that is only a body.
    pub fn of(body: QueryBody, pos: Pos) -> Query {
        Query {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            with_ties: false,
            offset: None,
            locking: Vec::new(),
            pos,
        }
    }
}
