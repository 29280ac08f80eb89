//! FROM: relations, subqueries, functions and joins (compare `transformFromClause` in `parse_clause.c`).

use super::coerce::select_common_type;
use super::relation::{Found, SystemRelation, base_type, table_columns};
use super::scope::{Clause, NsColumn, NsItem, Scope, Var};
use super::type_info;
use crate::bound::{CallForm, EntryColumn, Expr, FromItem, JoinKind, Query, RangeEntry, Source, SqlType};
use crate::parse::ast::{self, Alias, ColumnDef, TableRef};
use catalog::object::{Sequence, View};
use catalog::types::oid;
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use std::sync::Arc;

type Item = (FromItem, Vec<NsItem>);

impl Scope<'_> {
    /// Binds FROM; afterwards the namespace holds what it makes visible.
    pub(super) fn range_clause(&self, items: &[TableRef]) -> Result<Vec<FromItem>> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let (node, names) = self.range_item(item)?;
            Scope::check_conflicts(&self.namespace.borrow(), &names)?;
            let mut namespace = self.namespace.borrow_mut();
            namespace.extend(names.into_iter().map(|n| NsItem { lateral_only: true, lateral_ok: true, ..n }));
            list.push(node);
        }
        for item in self.namespace.borrow_mut().iter_mut() {
            item.lateral_only = false;
            item.lateral_ok = true;
        }
        Ok(list)
    }

    fn range_item(&self, item: &TableRef) -> Result<Item> {
        self.check_size()?;
        match item {
            TableRef::Relation { relation, alias } => self.relation_item(relation, alias.as_ref()),
            TableRef::Subquery { query, alias, lateral, .. } => {
                self.subquery_item(query, alias.as_ref(), *lateral)
            }
            TableRef::Function { functions, rows_from, ordinality, alias, columns, .. } => {
                self.function_item(functions, *rows_from, *ordinality, alias.as_ref(), columns)
            }
            TableRef::Join { .. } => self.join_item(item),
        }
    }

    fn single(&self, entry: RangeEntry, relation: Option<Oid>, alias: Option<&Alias>) -> Result<Item> {
        let mut entry = entry;
        if let Some(alias) = alias {
            rename(&mut entry.columns, alias)?;
            entry.alias.clone_from(&alias.name);
        }
        let place = self.add_entry(entry, relation, alias.is_some());
        // An aliased relation is not known by its own name any more.
        let item = self.item(place, if alias.is_some() { None } else { relation });
        Ok((FromItem::Entry(place), vec![item]))
    }

    fn relation_item(&self, name: &ast::RangeVar, alias: Option<&Alias>) -> Result<Item> {
        // An unqualified name may be that of a WITH query.
        if name.schema.is_none()
            && let Some(entry) = self.cte_entry(&name.name, name.pos)?
        {
            return self.single(entry, None, alias);
        }
        let found = self.binder.open(name).map_err(|error| self.forward_reference(error, name))?;
        let entry = self.relation_entry(&found, name.pos)?;
        self.single(entry, Some(found.oid()), alias)
    }

    /// A name that only fails because the WITH query of that name comes later gets PostgreSQL's hint.
    fn forward_reference(&self, error: SqlError, name: &ast::RangeVar) -> SqlError {
        if name.schema.is_none() && self.binder.later_ctes.borrow().contains(&name.name) {
            let text = &name.name;
            return error
                .detail(format!(
                    "There is a WITH item named \"{text}\", but it cannot be referenced from this part of the query."
                ))
                .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.");
        }
        error
    }

    /// The range entry of a relation of any kind.
    fn relation_entry(&self, found: &Found, position: u32) -> Result<RangeEntry> {
        match found {
            Found::User(Relation::Table(table)) => {
                self.binder.reads(table.oid);
                Ok(RangeEntry {
                    alias: table.name.clone(),
                    columns: table_columns(&table.columns),
                    source: Source::Table(table.clone()),
                    lateral: false,
                })
            }
            Found::User(Relation::View(view)) => self.view_entry(view, position),
            Found::User(Relation::Sequence(sequence)) => self.sequence_entry(sequence),
            Found::User(Relation::Index(index)) => {
                let message = format!("cannot open relation \"{}\"", index.name);
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for indexes.")
                    .at(position))
            }
            Found::System(relation) => self.system_entry(relation, position),
        }
    }

    fn view_entry(&self, view: &Arc<View>, position: u32) -> Result<RangeEntry> {
        self.binder.reads(view.oid);
        let mut query = self.binder.expand_view(view.oid, &view.name, &view.definition, position)?;
        let columns: Vec<EntryColumn> = table_columns(&view.columns);
        for (column, own) in query.columns.iter_mut().zip(&columns) {
            column.name.clone_from(&own.name);
            column.origin = None;
        }
        for (i, column) in query.columns.iter_mut().enumerate() {
            column.origin = Some((view.oid, i as i16 + 1));
        }
        Ok(RangeEntry {
            alias: view.name.clone(),
            columns,
            source: Source::Subquery(Box::new(query)),
            lateral: false,
        })
    }

    fn system_entry(&self, relation: &'static SystemRelation, position: u32) -> Result<RangeEntry> {
        let columns: Vec<EntryColumn> = relation
            .columns
            .iter()
            .map(|(name, typ)| EntryColumn { name: name.clone(), typ: base_type(*typ) })
            .collect();
        let source = match relation.definition {
            None => Source::System(relation.oid),
            Some(definition) => {
                let mut query = self.binder.expand_view(
                    relation.oid,
                    relation.name,
                    &super::inline::expand_pairs(definition),
                    position,
                )?;
                for (i, column) in query.columns.iter_mut().enumerate() {
                    column.origin = Some((relation.oid, i as i16 + 1));
                }
                Source::Subquery(Box::new(query))
            }
        };
        Ok(RangeEntry { alias: relation.name.to_owned(), columns, source, lateral: false })
    }

    /// A sequence as a relation of one row.
    fn sequence_entry(&self, sequence: &Arc<Sequence>) -> Result<RangeEntry> {
        self.binder.reads(sequence.oid);
        let column = |name: &str, typ: Oid| EntryColumn { name: name.into(), typ: SqlType::plain(typ) };
        Ok(RangeEntry {
            alias: sequence.name.clone(),
            columns: vec![
                column("last_value", oid::INT8),
                column("log_cnt", oid::INT8),
                column("is_called", oid::BOOL),
            ],
            source: Source::System(sequence.oid),
            lateral: false,
        })
    }

    fn subquery_item(&self, query: &ast::Query, alias: Option<&Alias>, lateral: bool) -> Result<Item> {
        let before = self.lateral.replace(lateral);
        let bound = self.within(Clause::FromSubquery, || self.binder.query(query, Some(self), true));
        self.lateral.set(before);
        let bound = bound?;
        let columns =
            bound.columns.iter().map(|c| EntryColumn { name: c.name.clone(), typ: c.typ }).collect();
        let entry = RangeEntry {
            alias: alias.map_or_else(String::new, |a| a.name.clone()),
            columns,
            source: Source::Subquery(Box::new(bound)),
            lateral,
        };
        self.single(entry, None, alias)
    }

    fn function_item(
        &self,
        functions: &[(ast::Expr, Vec<ColumnDef>)],
        rows_from: bool,
        ordinality: bool,
        alias: Option<&Alias>,
        definitions: &[ColumnDef],
    ) -> Result<Item> {
        if rows_from && !definitions.is_empty() {
            let message = if functions.len() > 1 {
                "ROWS FROM() with multiple functions cannot have a column definition list"
            } else {
                "ROWS FROM() with a column definition list must have it inside"
            };
            return Err(
                SqlError::new(SqlState::SYNTAX_ERROR, message).at(definitions.first().map_or(0, |d| d.pos))
            );
        }
        if ordinality && !definitions.is_empty() {
            let message = "WITH ORDINALITY cannot be used with a column definition list";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message)
                .hint("Put the column definition list inside ROWS FROM().")
                .at(definitions.first().map_or(0, |d| d.pos)));
        }
        let mut calls = Vec::with_capacity(functions.len());
        let mut columns: Vec<EntryColumn> = Vec::new();
        let mut first_name = String::new();
        for (i, (expr, own)) in functions.iter().enumerate() {
            let before = self.lateral.replace(true);
            let call = self.expr_in(Clause::FromFunction, expr);
            self.lateral.set(before);
            let call = self.settle_unknown(call?)?;
            let name = super::target::figure_name(expr);
            if i == 0 {
                first_name.clone_from(&name);
            }
            let list = if own.is_empty() { definitions } else { own.as_slice() };
            let single_alias = if functions.len() == 1 { alias.map(|a| a.name.as_str()) } else { None };
            let made = self.function_columns(&call, &name, list, single_alias, expr.leftmost())?;
            calls.push((call, made.len()));
            columns.extend(made);
        }
        if ordinality {
            columns.push(EntryColumn { name: "ordinality".into(), typ: SqlType::plain(oid::INT8) });
        }
        let entry = RangeEntry {
            alias: alias.map_or(first_name, |a| a.name.clone()),
            columns,
            source: Source::Function { calls, ordinality },
            lateral: true,
        };
        self.single(entry, None, alias)
    }

    /// The columns of one function's result.
    fn function_columns(
        &self,
        call: &Expr,
        name: &str,
        definitions: &[ColumnDef],
        alias: Option<&str>,
        position: u32,
    ) -> Result<Vec<EntryColumn>> {
        let typ = call.typ();
        let proc = match call {
            Expr::Call(call) => Some(call.proc),
            _ => None,
        };
        let outs = proc.map_or(&[][..], |p| p.out_columns.as_slice());
        let defined = |definitions: &[ColumnDef]| -> Result<Vec<EntryColumn>> {
            let column =
                |d: &ColumnDef| Ok(EntryColumn { name: d.name.clone(), typ: self.binder.type_name(&d.typ)? });
            definitions.iter().map(column).collect()
        };
        let syntax = |message: &str, at: u32| Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(at));
        let at = definitions.first().map_or(0, |d| d.pos);
        if outs.len() > 1 {
            if !definitions.is_empty() {
                return syntax(
                    "a column definition list is redundant for a function with OUT parameters",
                    at,
                );
            }
            return Ok(outs
                .iter()
                .enumerate()
                .map(|(i, (name, t))| EntryColumn {
                    name: if name.is_empty() { format!("column{}", i + 1) } else { name.clone() },
                    typ: SqlType::plain(if type_info::is_polymorphic(*t) {
                        self.out_type(call, *t)
                    } else {
                        *t
                    }),
                })
                .collect());
        }
        if typ.oid == oid::RECORD {
            if definitions.is_empty() {
                return syntax(
                    "a column definition list is required for functions returning \"record\"",
                    position,
                );
            }
            return defined(definitions);
        }
        if let Some(columns) = self.row_columns(typ.oid) {
            if !definitions.is_empty() {
                return syntax(
                    "a column definition list is redundant for a function returning a named composite type",
                    at,
                );
            }
            return Ok(columns.into_iter().map(|(name, typ)| EntryColumn { name, typ }).collect());
        }
        if !definitions.is_empty() {
            return syntax("a column definition list is only allowed for functions returning \"record\"", at);
        }
        let own = match outs {
            [(out, _)] if !out.is_empty() => out.clone(),
            _ => alias.unwrap_or(name).to_owned(),
        };
        Ok(vec![EntryColumn { name: own, typ }])
    }

    fn out_type(&self, call: &Expr, typ: Oid) -> Oid {
        // An OUT column of a polymorphic type is what the array argument has.
        let Expr::Call(call) = call else { return typ };
        let arg = call.args.iter().map(|a| a.typ().oid).find(|t| type_info::element_of(*t).is_valid());
        match (arg, typ) {
            (Some(array), oid::ANYARRAY) => array,
            (Some(array), _) => type_info::element_of(array),
            (None, _) => call.args.first().map_or(typ, |a| a.typ().oid),
        }
    }

    fn join_item(&self, item: &TableRef) -> Result<Item> {
        let TableRef::Join { kind, natural, left, right, on, using, using_alias, alias, pos } = item else {
            return self.range_item(item);
        };
        let (left_node, left_names) = self.range_item(left)?;
        // The left side is visible to LATERAL items on the right.
        let before = self.namespace.borrow().clone();
        let lateral_ok = matches!(kind, JoinKind::Inner | JoinKind::Left | JoinKind::Cross);
        {
            let mut namespace = self.namespace.borrow_mut();
            namespace.extend(left_names.iter().cloned().map(|n| NsItem {
                lateral_only: true,
                lateral_ok,
                ..n
            }));
        }
        let right_item = self.range_item(right);
        self.namespace.replace(before);
        let (right_node, right_names) = right_item?;
        Scope::check_conflicts(&left_names, &right_names)?;
        let mut left_columns = columns_of(&left_names);
        let mut right_columns = columns_of(&right_names);
        let mut using: Option<Vec<(String, u32)>> = using.clone();
        if *natural {
            let common = left_columns.iter().filter(|l| right_columns.iter().any(|r| r.name == l.name));
            using = Some(common.map(|c| (c.name.clone(), 0)).collect());
        }
        let mut merged: Vec<NsColumn> = Vec::new();
        let mut condition: Option<Expr> = None;
        let mut names = Vec::new();
        if let Some(using) = using {
            let mut tests = Vec::new();
            for (i, (name, at)) in using.iter().enumerate() {
                if using.iter().take(i).any(|(n, _)| n == name) {
                    let message = format!("column name \"{name}\" appears more than once in USING clause");
                    return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
                }
                let l = using_column(&mut left_columns, name, "left")?;
                let r = using_column(&mut right_columns, name, "right")?;
                let (left_expr, right_expr) = (self.var(0, &l.var), self.var(0, &r.var));
                tests.push(self.within(Clause::JoinOn, || {
                    let test = self.binary("=", left_expr.clone(), right_expr.clone(), [0, 0], *at)?;
                    self.binder.coercion().to_boolean(test, "JOIN/USING", *at)
                })?);
                merged.push(NsColumn { name: name.clone(), var: self.merge(*kind, l.var, r.var)? });
            }
            condition = match tests.len() {
                0 => None,
                1 => tests.pop(),
                _ => Some(Expr::And(tests)),
            };
        } else if let Some(on) = on {
            let both = left_names.iter().chain(&right_names).cloned();
            let visible: Vec<NsItem> =
                both.map(|n| NsItem { lateral_only: false, lateral_ok: true, ..n }).collect();
            let before = self.namespace.replace(visible);
            let bound = self.condition(Clause::JoinOn, "JOIN/ON", on);
            self.namespace.replace(before);
            condition = Some(bound?);
        }
        let mut columns = merged.clone();
        columns.extend(left_columns);
        columns.extend(right_columns);
        // The sides stay visible by their names; their columns come through the join.
        for side in left_names.into_iter().chain(right_names) {
            names.push(NsItem { cols_visible: false, ..side });
        }
        if let Some(name) = using_alias {
            names.push(NsItem {
                name: name.clone(),
                relation: None,
                entry: None,
                columns: merged,
                rel_visible: true,
                cols_visible: false,
                lateral_only: false,
                lateral_ok: true,
            });
        }
        if let Some(alias) = alias {
            if alias.columns.len() > columns.len() {
                let message = format!("column alias list for \"{}\" has too many entries", alias.name);
                return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(*pos));
            }
            for (column, name) in columns.iter_mut().zip(&alias.columns) {
                column.name.clone_from(name);
            }
            // An aliased join hides its parts.
            names.clear();
        }
        names.push(NsItem {
            name: alias.as_ref().map_or_else(String::new, |a| a.name.clone()),
            relation: None,
            entry: None,
            columns,
            rel_visible: alias.is_some(),
            cols_visible: true,
            lateral_only: false,
            lateral_ok: true,
        });
        let kind = if *kind == JoinKind::Inner && condition.is_none() { JoinKind::Cross } else { *kind };
        let node =
            FromItem::Join { kind, left: Box::new(left_node), right: Box::new(right_node), on: condition };
        Ok((node, names))
    }

    /// The merged column of USING (`buildMergedJoinVar`).
    fn merge(&self, kind: JoinKind, left: Var, right: Var) -> Result<Var> {
        let (l, r) = (self.var(0, &left), self.var(0, &right));
        let common = select_common_type(&[l.typ(), r.typ()], &[], "JOIN/USING")?;
        let coerced = |expr: Expr| {
            let from = expr.typ();
            if from.oid == common.oid {
                return Ok(expr);
            }
            let context = catalog::pg::CastContext::Implicit;
            self.coerce(expr, SqlType::plain(common.oid), context, CallForm::ImplicitCast, 0)
        };
        let same = |e: &Expr| e.typ().oid == common.oid;
        Ok(match kind {
            JoinKind::Inner | JoinKind::Cross => {
                // Whichever side needs no coercion.
                if same(&l) {
                    left
                } else if same(&r) {
                    right
                } else {
                    Var::Expr(Box::new(coerced(l)?))
                }
            }
            JoinKind::Left if same(&l) => left,
            JoinKind::Left => Var::Expr(Box::new(coerced(l)?)),
            JoinKind::Right if same(&r) => right,
            JoinKind::Right => Var::Expr(Box::new(coerced(r)?)),
            JoinKind::Full => Var::Expr(Box::new(Expr::Coalesce(vec![coerced(l)?, coerced(r)?], common))),
        })
    }
}

/// Columns that a list of items makes visible without qualification, in order.
fn columns_of(items: &[NsItem]) -> Vec<NsColumn> {
    items.iter().filter(|i| i.cols_visible).flat_map(|i| i.columns.iter().cloned()).collect()
}

/// Takes a column of USING out of one side's list.
fn using_column(columns: &mut Vec<NsColumn>, name: &str, side: &str) -> Result<NsColumn> {
    let mut found = columns.iter().enumerate().filter(|(_, c)| c.name == name);
    let first = found.next().map(|(i, _)| i);
    if found.next().is_some() {
        let message = format!("common column name \"{name}\" appears more than once in {side} table");
        return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message));
    }
    match first {
        Some(place) => Ok(columns.remove(place)),
        None => {
            let message =
                format!("column \"{name}\" specified in USING clause does not exist in {side} table");
            Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
        }
    }
}

/// Column aliases, in the order of the live columns.
fn rename(columns: &mut [EntryColumn], alias: &Alias) -> Result<()> {
    let live = columns.iter().filter(|c| !c.name.is_empty()).count();
    if alias.columns.len() > live {
        let message = format!(
            "table \"{}\" has {live} columns available but {} columns specified",
            alias.name,
            alias.columns.len()
        );
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
    }
    for (column, name) in columns.iter_mut().filter(|c| !c.name.is_empty()).zip(&alias.columns) {
        column.name.clone_from(name);
    }
    Ok(())
}

impl super::Binder<'_> {
    /// The query of a view. A view inside itself cannot be made, but a broken store must not end in a loop.
    fn expand_view(&self, oid: Oid, name: &str, definition: &str, position: u32) -> Result<Query> {
        if self.views.borrow().contains(&oid) {
            let message = format!("infinite recursion detected in rules for relation \"{name}\"");
            return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
        }
        self.views.borrow_mut().push(oid);
        let unplaced = |mut error: SqlError| {
            error.fields_mut().position = None;
            error.at(position)
        };
        let bound = crate::parse::parse_query(definition).and_then(|query| self.query(&query, None, true));
        self.views.borrow_mut().pop();
        bound.map_err(unplaced)
    }
}
