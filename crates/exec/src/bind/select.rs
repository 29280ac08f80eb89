//! SELECT and VALUES (compare `transformSelectStmt`, `transformValuesClause` in `analyze.c`, `parse_clause.c`).

use super::Binder;
use super::coerce::select_common_type;
use super::overload::resolve_operator;
use super::scope::{Clause, Scope};
use super::target::Target;
use super::type_info::format;
use super::visit;
use crate::bound::{
    Body, Distinct, Expr, LockStrength, Locking, Query, QueryColumn, Select, SortKey, Source, SqlType,
};
use crate::parse::ast::{self, ExprKind, Literal};
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

impl Binder<'_> {
    /// A query at any place. `resolve_unknown`: outputs of type unknown become text.
    pub(crate) fn query(
        &self,
        query: &ast::Query,
        parent: Option<&Scope<'_>>,
        resolve_unknown: bool,
    ) -> Result<Query> {
        let scope = Scope::new(self, parent);
        self.query_in(&scope, query, resolve_unknown)
    }

    /// A query whose scope the caller made.
    pub(crate) fn query_in(
        &self,
        scope: &Scope<'_>,
        query: &ast::Query,
        resolve_unknown: bool,
    ) -> Result<Query> {
        if let Some(with) = &query.with {
            scope.with(with)?;
        }
        let mut bound = match &query.body {
            ast::QueryBody::Select(select) => self.select(scope, query, select, resolve_unknown)?,
            ast::QueryBody::Values(rows) => self.values(scope, query, rows, resolve_unknown)?,
            ast::QueryBody::SetOperation { op, all, left, right } => {
                self.set_operation(scope, query, (*op, *all), left, right)?
            }
        };
        bound.ctes = scope.ctes.take();
        Ok(bound)
    }

    fn select(
        &self,
        scope: &Scope<'_>,
        query: &ast::Query,
        select: &ast::Select,
        resolve_unknown: bool,
    ) -> Result<Query> {
        if let Some(into) = &select.into {
            let message = "SELECT ... INTO is not allowed here";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(into.pos));
        }
        let from = scope.range_clause(&select.from)?;
        scope.check_windows(&select.windows)?;
        let mut targets = scope.targets(&select.targets, Clause::Target)?;
        let filter = match &select.filter {
            Some(filter) => Some(scope.condition(Clause::Where, "WHERE", filter)?),
            None => None,
        };
        let mut having = match &select.having {
            Some(having) => Some(scope.condition(Clause::Having, "HAVING", having)?),
            None => None,
        };
        let order_by = scope.sort_clause(&query.order_by, &mut targets, Clause::OrderBy)?;
        let grouping = scope.group_clause(&select.group_by, select.group_distinct, &mut targets)?;
        let distinct = scope.distinct_clause(select.distinct.as_ref(), &mut targets, &order_by)?;
        let (limit, offset) = scope.limit_clause(query)?;
        if resolve_unknown {
            scope.settle_targets(&mut targets)?;
        } else {
            // What sorting or hidden targets need is settled in any case.
            let hidden = targets.iter().position(|t| t.junk).unwrap_or(targets.len());
            scope.settle_targets(targets.get_mut(hidden..).unwrap_or_default())?;
        }
        let mut columns = scope.output(&targets);
        let visible = targets.iter().filter(|t| !t.junk).count();
        let mut exprs: Vec<Expr> = targets.into_iter().map(|t| t.expr).collect();
        let order = self.sort_keys(&order_by);
        let locking = scope.locking_clause(&query.locking, select)?;
        let grouped =
            !select.group_by.is_empty() || select.having.is_some() || !scope.aggregates.borrow().is_empty();
        let grouping = scope.group(grouping, grouped, &mut exprs, &mut having)?;
        for (column, expr) in columns.iter_mut().zip(&exprs) {
            column.typ = expr.typ();
        }
        scope.check_size()?;
        let mut body = Select {
            entries: scope.entries.take(),
            from,
            filter,
            group_by: grouping.keys,
            grouping_sets: grouping.sets,
            grouped,
            aggregates: scope.aggregates.take(),
            having,
            windows: scope.windows.take(),
            set_functions: scope.set_functions.take(),
            targets: exprs,
            visible,
            distinct,
        };
        if scope.self_reference.get()
            && let Some(at) = scope.aggregate_calls.borrow().first()
        {
            let message = "aggregate functions are not allowed in a recursive query's recursive term";
            return Err(SqlError::new(SqlState::INVALID_RECURSION, message).at(*at));
        }
        if scope.used_below.get() {
            super::group::split(&mut body);
        }
        Ok(Query {
            ctes: Vec::new(),
            body: Body::Select(Box::new(body)),
            order_by: order,
            limit,
            offset,
            with_ties: query.with_ties,
            locking,
            columns,
        })
    }

    /// ORDER BY items as keys: places of targets, with their directions.
    pub(super) fn sort_keys(&self, places: &[(usize, bool, bool)]) -> Vec<SortKey> {
        let key = |(column, desc, nulls_first): &(usize, bool, bool)| SortKey {
            column: *column,
            desc: *desc,
            nulls_first: *nulls_first,
        };
        let mut keys: Vec<SortKey> = Vec::with_capacity(places.len());
        for place in places {
            // A column sorted by already adds nothing.
            if !keys.iter().any(|k| k.column == place.0) {
                keys.push(key(place));
            }
        }
        keys
    }

    /// `transformValuesClause`
    fn values(
        &self,
        scope: &Scope<'_>,
        query: &ast::Query,
        rows: &[Vec<ast::Expr>],
        resolve_unknown: bool,
    ) -> Result<Query> {
        let width = rows.first().map_or(0, Vec::len);
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        for row in rows {
            if row.len() != width {
                let at = row.first().map_or(0, ast::Expr::leftmost);
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "VALUES lists must all be the same length",
                )
                .at(at));
            }
            bound.push(scope.within(Clause::Values, || scope.expand_list(row))?);
        }
        let width = bound.first().map_or(0, Vec::len);
        let mut types = Vec::with_capacity(width);
        for place in 0..width {
            let column: Vec<SqlType> = bound.iter().filter_map(|row| row.get(place)).map(Expr::typ).collect();
            let positions: Vec<u32> =
                rows.iter().map(|row| row.get(place).map_or(0, ast::Expr::leftmost)).collect();
            let unknown = column.iter().all(|t| t.oid == oid::UNKNOWN);
            let typ = if unknown && !resolve_unknown {
                SqlType::plain(oid::UNKNOWN)
            } else {
                select_common_type(&column, &positions, "VALUES")?
            };
            types.push(typ);
            if typ.oid == oid::UNKNOWN {
                continue;
            }
            for (row, at) in bound.iter_mut().zip(positions) {
                if let Some(slot) = row.get_mut(place) {
                    let expr = std::mem::replace(slot, Expr::Grouping(Vec::new()));
                    *slot = self.coercion().to_common_type(expr, typ, "VALUES", at)?;
                }
            }
        }
        let columns: Vec<QueryColumn> = types
            .into_iter()
            .enumerate()
            .map(|(i, typ)| QueryColumn { name: format!("column{}", i + 1), typ, origin: None })
            .collect();
        let order_by = scope.sort_output(&query.order_by, &columns)?;
        let (limit, offset) = scope.limit_clause(query)?;
        if let Some(lock) = query.locking.first() {
            let message = format!("{} cannot be applied to VALUES", lock_name(lock.strength));
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(Query {
            ctes: Vec::new(),
            body: Body::Values(bound),
            order_by,
            limit,
            offset,
            with_ties: query.with_ties,
            locking: Vec::new(),
            columns,
        })
    }
}

impl Scope<'_> {
    /// ORDER BY over targets: place, desc, nulls first for each item.
    pub(super) fn sort_clause(
        &self,
        items: &[ast::SortBy],
        targets: &mut Vec<Target>,
        clause: Clause,
    ) -> Result<Vec<(usize, bool, bool)>> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let place = self.find_target(&item.expr, targets, clause)?;
            self.settle_target(targets, place)?;
            let typ = targets.get(place).map_or(SqlType::plain(oid::TEXT), |t| t.expr.typ());
            let (desc, nulls_first) = self.sort_direction(item, typ, item.expr.leftmost())?;
            list.push((place, desc, nulls_first));
        }
        Ok(list)
    }

    fn settle_target(&self, targets: &mut [Target], place: usize) -> Result<()> {
        if let Some(target) = targets.get_mut(place)
            && target.expr.typ().oid == oid::UNKNOWN
        {
            let expr = std::mem::replace(&mut target.expr, Expr::Grouping(Vec::new()));
            target.expr = self.settle_unknown(expr)?;
        }
        Ok(())
    }

    /// Direction of a sort item; 42883 for a type without an order.
    pub(super) fn sort_direction(
        &self,
        item: &ast::SortBy,
        typ: SqlType,
        position: u32,
    ) -> Result<(bool, bool)> {
        let desc = match &item.using {
            None => item.desc,
            Some(names) => {
                let name = super::operator::operator_name(names)?;
                match name {
                    "<" => false,
                    ">" => true,
                    other => {
                        let message = format!("operator {other} is not a valid ordering operator");
                        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                            .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
                            .at(position));
                    }
                }
            }
        };
        let sortable = catalog::types::by_oid(typ.oid).map_or_else(
            || typ.oid == oid::RECORD || super::type_info::is_complex(typ.oid),
            |t| t.encode_key.is_some(),
        );
        let sortable = sortable || resolve_operator("<", Some(typ), typ).is_ok_and(|o| o.result == oid::BOOL);
        if !sortable {
            let text = format(typ.oid);
            let message = format!("could not identify an ordering operator for type {text}");
            return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
                .hint("Use an explicit ordering operator or modify the query.")
                .at(position));
        }
        Ok((desc, item.nulls_first.unwrap_or(desc)))
    }

    /// `findTargetlistEntrySQL92`: a name of an output column, a position, or an expression.
    pub(super) fn find_target(
        &self,
        expr: &ast::Expr,
        targets: &mut Vec<Target>,
        clause: Clause,
    ) -> Result<usize> {
        let position = expr.leftmost();
        if let ExprKind::Column(names, false) = &expr.kind
            && let [name] = names.as_slice()
        {
            // In GROUP BY a column of FROM comes before an output column's name.
            let input_first = clause == Clause::GroupBy && self.has_local_column(name);
            if !input_first {
                let mut hit: Option<usize> = None;
                for (place, target) in targets.iter().enumerate().filter(|(_, t)| !t.junk && t.name == *name)
                {
                    match hit {
                        Some(first)
                            if !targets.get(first).is_some_and(|t| visit::same(&t.expr, &target.expr)) =>
                        {
                            let message = format!("{} \"{name}\" is ambiguous", clause.name());
                            return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message).at(position));
                        }
                        Some(_) => {}
                        None => hit = Some(place),
                    }
                }
                if let Some(place) = hit {
                    return Ok(place);
                }
            }
        }
        if let ExprKind::Literal(literal) = &expr.kind {
            let Literal::Int(number) = literal else {
                let message = format!("non-integer constant in {}", clause.name());
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
            };
            let visible = targets.iter().filter(|t| !t.junk).count();
            match usize::try_from(*number) {
                Ok(place) if place >= 1 && place <= visible => return Ok(place - 1),
                _ => {
                    let message = format!("{} position {number} is not in select list", clause.name());
                    return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position));
                }
            }
        }
        let bound = self.expr_in(clause, expr)?;
        self.match_target(bound, targets, position)
    }

    /// The target equal to an expression; else a hidden one is added (`findTargetlistEntrySQL99`).
    fn match_target(&self, bound: Expr, targets: &mut Vec<Target>, position: u32) -> Result<usize> {
        if let Some(place) = targets.iter().position(|t| visit::same(&t.expr, &bound)) {
            return Ok(place);
        }
        targets.push(Target { expr: bound, name: String::new(), junk: true, position });
        Ok(targets.len() - 1)
    }

    fn has_local_column(&self, name: &str) -> bool {
        let namespace = self.namespace.borrow();
        namespace.iter().any(|n| n.cols_visible && n.columns.iter().any(|c| c.name == name))
    }

    /// ORDER BY of a set operation or VALUES: only names and positions of output columns.
    pub(super) fn sort_output(&self, items: &[ast::SortBy], columns: &[QueryColumn]) -> Result<Vec<SortKey>> {
        let mut keys: Vec<SortKey> = Vec::with_capacity(items.len());
        for item in items {
            let position = item.expr.leftmost();
            let place = match &item.expr.kind {
                ExprKind::Column(names, false) if names.len() == 1 => {
                    let name = names.concat();
                    match columns.iter().position(|c| c.name == name) {
                        Some(place) => place,
                        // The name may mean something outside; then it is an expression.
                        None => return Err(self.undefined_or_expression(&item.expr, columns, position)),
                    }
                }
                ExprKind::Literal(Literal::Int(number)) => match usize::try_from(*number) {
                    Ok(place) if place >= 1 && place <= columns.len() => place - 1,
                    _ => {
                        let message = format!("ORDER BY position {number} is not in select list");
                        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position));
                    }
                },
                ExprKind::Literal(_) => {
                    let message = "non-integer constant in ORDER BY";
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
                }
                _ => return Err(self.undefined_or_expression(&item.expr, columns, position)),
            };
            let typ = columns.get(place).map_or(SqlType::plain(oid::TEXT), |c| c.typ);
            let (desc, nulls_first) = self.sort_direction(item, typ, position)?;
            if !keys.iter().any(|k| k.column == place) {
                keys.push(SortKey { column: place, desc, nulls_first });
            }
        }
        Ok(keys)
    }

    fn undefined_or_expression(&self, expr: &ast::Expr, columns: &[QueryColumn], position: u32) -> SqlError {
        let error = self.expr_in(Clause::OrderBy, expr).err();
        // In an expression the names of result columns mean them, for PostgreSQL to refuse the expression.
        let is_result = |error: &SqlError| {
            error.code() == SqlState::UNDEFINED_COLUMN
                && columns.iter().any(|c| error.message() == format!("column \"{}\" does not exist", c.name))
        };
        match error {
            Some(error) if !is_result(&error) => error,
            _ => SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
            )
            .detail("Only result column names can be used, not expressions or functions.")
            .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
            .at(position),
        }
    }

    /// `transformDistinctClause`, `transformDistinctOnClause`
    fn distinct_clause(
        &self,
        distinct: Option<&ast::Distinct>,
        targets: &mut Vec<Target>,
        order_by: &[(usize, bool, bool)],
    ) -> Result<Distinct> {
        match distinct {
            None => Ok(Distinct::None),
            Some(ast::Distinct::All) => {
                if let Some((place, _, _)) =
                    order_by.iter().find(|(p, _, _)| targets.get(*p).is_some_and(|t| t.junk))
                {
                    let position = targets.get(*place).map_or(0, |t| t.position);
                    let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                    return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position));
                }
                for place in 0..targets.len() {
                    self.settle_target(targets, place)?;
                    if let Some(target) = targets.get(place).filter(|t| !t.junk) {
                        self.equality(target.expr.typ(), target.position)?;
                    }
                }
                Ok(Distinct::All)
            }
            Some(ast::Distinct::On(list)) => {
                let mut places = Vec::with_capacity(list.len());
                for item in list {
                    let place = self.find_target(item, targets, Clause::DistinctOn)?;
                    self.settle_target(targets, place)?;
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
                // The leading ORDER BY items must be those of DISTINCT ON.
                let mut skipped = false;
                for (place, _, _) in order_by {
                    match places.iter().position(|p| p == place) {
                        Some(at) if skipped => return Err(distinct_on_error(list, at)),
                        Some(_) => {}
                        None => skipped = true,
                    }
                }
                for (at, place) in places.iter().enumerate() {
                    if skipped && !order_by.iter().any(|(p, _, _)| p == place) {
                        return Err(distinct_on_error(list, at));
                    }
                }
                Ok(Distinct::On(places))
            }
        }
    }

    /// LIMIT and OFFSET (`transformLimitClause`).
    pub(super) fn limit_clause(&self, query: &ast::Query) -> Result<(Option<Expr>, Option<Expr>)> {
        let one = |expr: &Option<ast::Expr>, clause: Clause| -> Result<Option<Expr>> {
            let Some(expr) = expr else { return Ok(None) };
            let at = expr.leftmost();
            let bound = self.expr_in(clause, expr)?;
            let bound = self.binder.coercion().to_specific(bound, oid::INT8, clause.name(), at)?;
            if visit::has_own_columns(&bound) {
                let message = format!("argument of {} must not contain variables", clause.name());
                return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(at));
            }
            Ok(Some(bound))
        };
        let offset = one(&query.offset, Clause::Offset)?;
        let limit = one(&query.limit, Clause::Limit)?;
        if query.with_ties
            && let Some(Expr::Const(catalog::Value::Null, _)) = &limit
        {
            let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
            return Err(SqlError::new(SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, message));
        }
        Ok((limit, offset))
    }

    /// WINDOW's items, checked for names twice.
    fn check_windows(&self, windows: &[ast::Window]) -> Result<()> {
        let mut list = self.named_windows.borrow_mut();
        for window in windows {
            if list.iter().any(|w| w.name == window.name) {
                let name = window.name.clone().unwrap_or_default();
                let message = format!("window \"{name}\" is already defined");
                return Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(window.pos));
            }
            list.push(window.clone());
        }
        Ok(())
    }

    /// FOR UPDATE and so on (`transformLockingClause`, `CheckSelectLocking`).
    fn locking_clause(&self, clauses: &[ast::Locking], select: &ast::Select) -> Result<Vec<Locking>> {
        let mut list = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let name = lock_name(clause.strength);
            let refuse = |what: &str| {
                let message = format!("{name} is not allowed with {what}");
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
            };
            if select.distinct.is_some() {
                return refuse("DISTINCT clause");
            }
            if !select.group_by.is_empty() {
                return refuse("GROUP BY clause");
            }
            if select.having.is_some() {
                return refuse("HAVING clause");
            }
            if !self.aggregates.borrow().is_empty() {
                return refuse("aggregate functions");
            }
            if !self.windows.borrow().is_empty() {
                return refuse("window functions");
            }
            if !self.set_functions.borrow().is_empty() {
                return refuse("set-returning functions in the target list");
            }
            let entries = self.entries.borrow();
            let mut places = Vec::new();
            if clause.of.is_empty() {
                places.extend((0..entries.len()).filter(|i| is_lockable(entries.get(*i).map(|e| &e.source))));
            }
            for name_in_of in &clause.of {
                if name_in_of.schema.is_some() || name_in_of.catalog.is_some() {
                    let message = format!("{name} must specify unqualified relation names");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(name_in_of.pos));
                }
                let Some(place) = entries.iter().position(|e| e.alias == name_in_of.name) else {
                    let message =
                        format!("relation \"{}\" in {name} clause not found in FROM clause", name_in_of.name);
                    return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message).at(name_in_of.pos));
                };
                let wrong = match entries.get(place).map(|e| &e.source) {
                    Some(Source::Function { .. }) => "a function",
                    Some(Source::Values(_)) => "VALUES",
                    Some(Source::Cte(..)) => "a WITH query",
                    _ => "",
                };
                if !wrong.is_empty() {
                    let message = format!("{name} cannot be applied to {wrong}");
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(name_in_of.pos));
                }
                places.push(place);
            }
            drop(entries);
            self.lock_subqueries(&places, clause);
            let entries = self.entries.borrow();
            let tables = places
                .into_iter()
                .filter(|i| matches!(entries.get(*i).map(|e| &e.source), Some(Source::Table(_))));
            list.push(Locking { strength: clause.strength, entries: tables.collect(), wait: clause.wait });
        }
        Ok(list)
    }

    /// Locking a subquery locks the tables inside.
    fn lock_subqueries(&self, places: &[usize], clause: &ast::Locking) {
        let mut entries = self.entries.borrow_mut();
        for place in places {
            if let Some(Source::Subquery(query)) = entries.get_mut(*place).map(|e| &mut e.source) {
                lock_query(query, clause);
            }
        }
    }
}

fn distinct_on_error(list: &[ast::Expr], place: usize) -> SqlError {
    let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
    SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
        .at(list.get(place).map_or(0, ast::Expr::leftmost))
}

fn lock_query(query: &mut Query, clause: &ast::Locking) {
    let Body::Select(select) = &mut query.body else { return };
    let mut tables = Vec::new();
    for (i, entry) in select.entries.iter_mut().enumerate() {
        match &mut entry.source {
            Source::Table(_) => tables.push(i),
            Source::Subquery(inner) => lock_query(inner, clause),
            _ => {}
        }
    }
    if !tables.is_empty() {
        query.locking.push(Locking { strength: clause.strength, entries: tables, wait: clause.wait });
    }
}

fn is_lockable(source: Option<&Source>) -> bool {
    matches!(source, Some(Source::Table(_) | Source::Subquery(_)))
}

/// `LCS_asString`
pub(super) fn lock_name(strength: LockStrength) -> &'static str {
    match strength {
        LockStrength::KeyShare => "FOR KEY SHARE",
        LockStrength::Share => "FOR SHARE",
        LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
        LockStrength::Update => "FOR UPDATE",
    }
}
