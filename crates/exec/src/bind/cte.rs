//! WITH (compare `parse_cte.c`).

use super::scope::Scope;
use super::type_info::format;
use crate::bound::{Body, Cte, EntryColumn, JoinKind, Query, QueryColumn, RangeEntry, SetOp, Source};
use crate::parse::ast;
use catalog::{Result, SqlError, SqlState};

impl Scope<'_> {
    /// Binds WITH into this scope.
    pub(super) fn with(&self, with: &ast::With) -> Result<()> {
        for (i, cte) in with.ctes.iter().enumerate() {
            if with.ctes.iter().take(i).any(|c| c.name == cte.name) {
                let message = format!("WITH query name \"{}\" specified more than once", cte.name);
                return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message).at(cte.pos));
            }
        }
        let order = if with.recursive { dependency_order(with)? } else { (0..with.ctes.len()).collect() };
        let items: Vec<&ast::Cte> = order.iter().filter_map(|i| with.ctes.get(*i)).collect();
        let later: Vec<String> = items.iter().map(|c| c.name.clone()).collect();
        let before = self.binder.later_ctes.borrow().len();
        let result = items.iter().enumerate().try_for_each(|(i, cte)| {
            {
                let mut names = self.binder.later_ctes.borrow_mut();
                names.truncate(before);
                names.extend(later.iter().skip(i).cloned());
            }
            self.with_item(cte, with.recursive)
        });
        self.binder.later_ctes.borrow_mut().truncate(before);
        result
    }

    fn with_item(&self, cte: &ast::Cte, recursive: bool) -> Result<()> {
        let (mut query, recursive) = match &*cte.body {
            ast::Dml::Query(query) => {
                let refers = recursive && mentions_query(query, &cte.name);
                if refers {
                    (self.recursive(cte, query)?, true)
                } else {
                    (self.binder.query(query, Some(self), true)?, false)
                }
            }
            dml => {
                if self.parent.is_some() {
                    let message =
                        "WITH clause containing a data-modifying statement must be at the top level";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(cte.pos));
                }
                (self.writing(dml)?, false)
            }
        };
        name_columns(&mut query.columns, cte)?;
        self.ctes.borrow_mut().push(Cte {
            name: cte.name.clone(),
            query,
            recursive,
            materialized: cte.materialized,
            references: 0,
        });
        Ok(())
    }

    /// INSERT, UPDATE or DELETE in WITH, as a query.
    fn writing(&self, dml: &ast::Dml) -> Result<Query> {
        let wrapper = Scope::new(self.binder, Some(self));
        let (dml, columns) = self.binder.dml(dml, Some(&wrapper))?;
        Ok(Query {
            ctes: Vec::new(),
            body: Body::Dml(Box::new(dml)),
            order_by: Vec::new(),
            limit: None,
            offset: None,
            with_ties: false,
            locking: Vec::new(),
            columns: columns.unwrap_or_default(),
        })
    }

    /// `WITH RECURSIVE t AS (first UNION \[ALL\] second)`
    fn recursive(&self, cte: &ast::Cte, query: &ast::Query) -> Result<Query> {
        let refuse = |message: String| SqlError::new(SqlState::INVALID_RECURSION, message).at(cte.pos);
        let name = &cte.name;
        let ast::QueryBody::SetOperation { op: SetOp::Union, left, right, .. } = &query.body else {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            return Err(refuse(message));
        };
        if mentions_query(left, name) {
            let message = format!(
                "recursive reference to query \"{name}\" must not appear within its non-recursive term"
            );
            return Err(self.at_reference(message, left, name));
        }
        let leftmost = |e: &Option<ast::Expr>| e.as_ref().map(ast::Expr::leftmost);
        for (place, what) in [
            (query.order_by.first().map(|item| item.expr.leftmost()), "ORDER BY"),
            (leftmost(&query.offset), "OFFSET"),
            (leftmost(&query.limit), "LIMIT"),
            (query.locking.first().map(|_| 0), "FOR UPDATE/SHARE"),
        ] {
            if let Some(at) = place {
                let message = format!("{what} in a recursive query is not implemented");
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(at));
            }
        }
        let mut check = SelfReferences { name, count: 0 };
        check.query(right, None)?;
        let inner = Scope::new(self.binder, Some(self));
        self.recursion.replace(Some((name.clone(), Vec::new())));
        inner.recursion.replace(Some((name.clone(), aliases(cte))));
        let bound = self.binder.query_in(&inner, query, true);
        self.recursion.replace(None);
        let bound = bound?;
        // The columns are those of the first arm; the whole may not be wider.
        if let Body::SetOperation(operation) = &bound.body {
            let expected = inner.recursion.borrow();
            let first = expected.as_ref().map(|(_, columns)| columns.clone()).unwrap_or_default();
            let _ = operation;
            for (i, (column, own)) in bound.columns.iter().zip(&first).enumerate() {
                let overall = column.typ;
                let base = own.typ;
                if overall.oid != base.oid || overall.typmod != base.typmod {
                    let text = |t: crate::bound::SqlType| match catalog::types::by_oid(t.oid) {
                        Some(typ) => typ.format(t.typmod),
                        None => format(t.oid),
                    };
                    let message = format!(
                        "recursive query \"{name}\" column {} has type {} in non-recursive term but type {} overall",
                        i + 1,
                        text(base),
                        text(overall)
                    );
                    let at = match &left.body {
                        ast::QueryBody::Select(select) => {
                            select.targets.get(i).map_or(0, |t| t.expr.leftmost())
                        }
                        ast::QueryBody::Values(rows) => {
                            rows.first().and_then(|r| r.get(i)).map_or(0, ast::Expr::leftmost)
                        }
                        ast::QueryBody::SetOperation { .. } => 0,
                    };
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                        .hint("Cast the output of the non-recursive term to the correct type.")
                        .at(at));
                }
            }
        }
        Ok(bound)
    }

    fn at_reference(&self, message: String, query: &ast::Query, name: &str) -> SqlError {
        let mut at = 0;
        relations(query, &mut |relation| {
            if at == 0 && relation.schema.is_none() && relation.name == name {
                at = relation.pos;
            }
        });
        SqlError::new(SqlState::INVALID_RECURSION, message).at(at)
    }

    /// Called between the arms of a UNION: the recursive query's columns are those of its first arm.
    pub(super) fn recursive_columns(&self, left: &Query) -> Result<()> {
        let mut recursion = self.recursion.borrow_mut();
        let Some((_, columns)) = recursion.as_mut() else { return Ok(()) };
        let aliases = std::mem::take(columns);
        columns.extend(left.columns.iter().map(|c| QueryColumn { origin: None, ..c.clone() }));
        for column in columns.iter_mut().filter(|c| c.typ.oid == catalog::types::oid::UNKNOWN) {
            column.typ = crate::bound::SqlType::plain(catalog::types::oid::TEXT);
        }
        for (column, alias) in columns.iter_mut().zip(aliases) {
            column.name = alias.name;
        }
        Ok(())
    }

    /// The range entry for a WITH query of this name, if one is visible.
    pub(super) fn cte_entry(&self, name: &str, position: u32) -> Result<Option<RangeEntry>> {
        let mut scope = Some(self);
        let mut level = 0;
        while let Some(at) = scope {
            // Inside a recursive query: its own name means itself, which will stand behind the ones bound so far.
            let own = at.recursion.borrow();
            if let (Some((recursive, columns)), Some(parent)) = (own.as_ref(), at.parent)
                && recursive == name
                && parent.recursion.borrow().as_ref().is_some_and(|(n, _)| n == name)
            {
                if columns.is_empty() {
                    let message = format!(
                        "recursive reference to query \"{name}\" must not appear within its non-recursive term"
                    );
                    return Err(SqlError::new(SqlState::INVALID_RECURSION, message).at(position));
                }
                let place = parent.ctes.borrow().len();
                self.self_reference.set(true);
                return Ok(Some(entry(name, columns, Source::Cte(level + 1, place))));
            }
            drop(own);
            let mut ctes = at.ctes.borrow_mut();
            if let Some((place, cte)) = ctes.iter_mut().enumerate().find(|(_, c)| c.name == name) {
                if matches!(&cte.query.body, Body::Dml(_)) && cte.query.columns.is_empty() {
                    let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
                }
                cte.references += 1;
                return Ok(Some(entry(name, &cte.query.columns, Source::Cte(level, place))));
            }
            drop(ctes);
            scope = at.parent;
            level += 1;
        }
        Ok(None)
    }
}

/// The order in which the items of WITH RECURSIVE are bound: each after those that it refers to.
fn dependency_order(with: &ast::With) -> Result<Vec<usize>> {
    let mut order = Vec::with_capacity(with.ctes.len());
    let mut state = vec![0_u8; with.ctes.len()];
    for i in 0..with.ctes.len() {
        visit_item(with, i, &mut state, &mut order)?;
    }
    Ok(order)
}

/// State 1 is "being visited", 2 is "done".
fn visit_item(with: &ast::With, i: usize, state: &mut [u8], order: &mut Vec<usize>) -> Result<()> {
    let Some(cte) = with.ctes.get(i) else { return Ok(()) };
    match state.get(i) {
        Some(2) => return Ok(()),
        Some(1) => {
            let message = "mutual recursion between WITH items is not implemented";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(cte.pos));
        }
        _ => {}
    }
    if let Some(slot) = state.get_mut(i) {
        *slot = 1;
    }
    if let ast::Dml::Query(query) = &*cte.body {
        for (j, other) in with.ctes.iter().enumerate() {
            if i != j && mentions_query(query, &other.name) {
                visit_item(with, j, state, order)?;
            }
        }
    }
    if let Some(slot) = state.get_mut(i) {
        *slot = 2;
    }
    order.push(i);
    Ok(())
}

/// Where a recursive term may refer to its query (`checkWellFormedRecursionWalker`).
struct SelfReferences<'n> {
    name: &'n str,
    count: usize,
}

impl SelfReferences<'_> {
    fn query(&mut self, query: &ast::Query, within: Option<&'static str>) -> Result<()> {
        for cte in query.with.iter().flat_map(|w| &w.ctes) {
            if cte.name == self.name {
                return Ok(());
            }
            if let ast::Dml::Query(inner) = &*cte.body {
                self.query(inner, within)?;
            }
        }
        match &query.body {
            ast::QueryBody::SetOperation { op, left, right, .. } => match op {
                SetOp::Union => {
                    self.query(left, within)?;
                    self.query(right, within)
                }
                SetOp::Intersect => {
                    self.query(left, Some("INTERSECT"))?;
                    self.query(right, Some("INTERSECT"))
                }
                SetOp::Except => {
                    self.query(left, within)?;
                    self.query(right, Some("EXCEPT"))
                }
            },
            ast::QueryBody::Values(rows) => rows.iter().flatten().try_for_each(|e| self.expr(e)),
            ast::QueryBody::Select(select) => {
                for item in &select.from {
                    self.from(item, within)?;
                }
                let exprs =
                    select.targets.iter().map(|t| &t.expr).chain(&select.filter).chain(&select.having);
                exprs.into_iter().try_for_each(|e| self.expr(e))
            }
        }
    }

    fn from(&mut self, item: &ast::TableRef, within: Option<&'static str>) -> Result<()> {
        match item {
            ast::TableRef::Relation { relation, .. } => {
                if relation.schema.is_some() || relation.name != self.name {
                    return Ok(());
                }
                self.count += 1;
                let what = match within {
                    Some(place) => format!("must not appear within {place}"),
                    None if self.count > 1 => "must not appear more than once".to_owned(),
                    None => return Ok(()),
                };
                let message = format!("recursive reference to query \"{}\" {what}", self.name);
                Err(SqlError::new(SqlState::INVALID_RECURSION, message).at(relation.pos))
            }
            ast::TableRef::Subquery { query, .. } => self.query(query, within),
            ast::TableRef::Function { functions, .. } => functions.iter().try_for_each(|(e, _)| self.expr(e)),
            ast::TableRef::Join { kind, left, right, on, .. } => {
                let outer = Some("an outer join");
                let (l, r) = match kind {
                    JoinKind::Inner | JoinKind::Cross => (within, within),
                    JoinKind::Left => (within, outer),
                    JoinKind::Right => (outer, within),
                    JoinKind::Full => (outer, outer),
                };
                self.from(left, l)?;
                self.from(right, r)?;
                on.iter().try_for_each(|e| self.expr(e))
            }
        }
    }

    fn expr(&mut self, expr: &ast::Expr) -> Result<()> {
        let mut result = Ok(());
        expr.each_subquery(&mut |query| {
            if result.is_ok() {
                result = self.query(query, Some("a subquery"));
            }
        });
        result
    }
}

fn entry(name: &str, columns: &[QueryColumn], source: Source) -> RangeEntry {
    RangeEntry {
        alias: name.to_owned(),
        columns: columns.iter().map(|c| EntryColumn { name: c.name.clone(), typ: c.typ }).collect(),
        source,
        lateral: false,
    }
}

fn aliases(cte: &ast::Cte) -> Vec<QueryColumn> {
    let unknown = crate::bound::SqlType::plain(catalog::types::oid::UNKNOWN);
    cte.columns.iter().map(|name| QueryColumn { name: name.clone(), typ: unknown, origin: None }).collect()
}

fn name_columns(columns: &mut [QueryColumn], cte: &ast::Cte) -> Result<()> {
    if cte.columns.len() > columns.len() {
        let message = format!(
            "WITH query \"{}\" has {} columns available but {} columns specified",
            cte.name,
            columns.len(),
            cte.columns.len()
        );
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(cte.pos));
    }
    for (column, name) in columns.iter_mut().zip(&cte.columns) {
        column.name.clone_from(name);
    }
    for column in columns {
        column.origin = None;
    }
    Ok(())
}

/// Whether a query refers to a relation of this unqualified name anywhere.
fn mentions_query(query: &ast::Query, name: &str) -> bool {
    let mut found = false;
    relations(query, &mut |relation| found |= relation.schema.is_none() && relation.name == name);
    found
}

/// Calls `f` for every relation named in FROM of a query, subqueries in FROM, in WITH and in expressions among them.
fn relations(query: &ast::Query, f: &mut dyn FnMut(&ast::RangeVar)) {
    for cte in query.with.iter().flat_map(|w| &w.ctes) {
        if let ast::Dml::Query(query) = &*cte.body {
            relations(query, f);
        }
    }
    match &query.body {
        ast::QueryBody::SetOperation { left, right, .. } => {
            relations(left, f);
            relations(right, f);
        }
        ast::QueryBody::Values(rows) => rows.iter().flatten().for_each(|e| sub_relations(e, f)),
        ast::QueryBody::Select(select) => {
            for item in &select.from {
                from_relations(item, f);
            }
            let exprs = select.targets.iter().map(|t| &t.expr).chain(&select.filter).chain(&select.having);
            exprs.for_each(|e| sub_relations(e, f));
        }
    }
}

fn from_relations(item: &ast::TableRef, f: &mut dyn FnMut(&ast::RangeVar)) {
    match item {
        ast::TableRef::Relation { relation, .. } => f(relation),
        ast::TableRef::Subquery { query, .. } => relations(query, f),
        ast::TableRef::Function { functions, .. } => functions.iter().for_each(|(e, _)| sub_relations(e, f)),
        ast::TableRef::Join { left, right, on, .. } => {
            from_relations(left, f);
            from_relations(right, f);
            on.iter().for_each(|e| sub_relations(e, f));
        }
    }
}

fn sub_relations(expr: &ast::Expr, f: &mut dyn FnMut(&ast::RangeVar)) {
    expr.each_subquery(&mut |query| relations(query, f));
}
