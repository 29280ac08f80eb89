//! INSERT, UPDATE, DELETE (compare `transformInsertStmt` and so on in `analyze.c`, `transformAssignedExpr` in `parse_target.c`).

use super::Binder;
use super::relation::{Found, table_columns};
use super::scope::{Clause, Scope};
use super::target::coerce_output;
use super::type_info::format;
use crate::bound::{
    Body, CallForm, ColumnRef, ConflictUpdate, Delete, Dml, EntryColumn, Expr, Insert, OnConflict, Query,
    QueryColumn, RangeEntry, Returning, Source, SqlType, TableRules, Update,
};
use crate::parse::ast::{self, AssignTarget, Assignment, ExprKind, Overriding};
use catalog::object::{Identity, Table};
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Relation, Result, SqlError, SqlState, Value};
use std::sync::Arc;

type DmlBound = (Dml, Option<Vec<QueryColumn>>);

impl Binder<'_> {
    /// INSERT, UPDATE or DELETE.
    pub(crate) fn dml(&self, dml: &ast::Dml, parent: Option<&Scope<'_>>) -> Result<DmlBound> {
        let scope = Scope::new(self, parent);
        match dml {
            ast::Dml::Query(_) => Err(SqlError::internal("a query is no DML")),
            ast::Dml::Insert(insert) => self.insert(&scope, insert),
            ast::Dml::Update(update) => self.update(&scope, update),
            ast::Dml::Delete(delete) => self.delete(&scope, delete),
        }
    }

    /// The table that a statement writes to (`setTargetTable`).
    fn target(&self, relation: &ast::RangeVar, verb: &str) -> Result<Arc<Table>> {
        let found = self.open(relation)?;
        let name = &relation.name;
        let wrong = |what: &str| {
            let message = format!("cannot change {what} \"{name}\"");
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(0))
        };
        match found {
            Found::User(Relation::Table(table)) => {
                self.writes(table.oid);
                Ok(table)
            }
            Found::User(Relation::View(_)) => {
                let action = match verb {
                    "INSERT" => "insert into",
                    "UPDATE" => "update",
                    _ => "delete from",
                };
                Err(SqlError::unsupported(format_args!("{action} view \"{name}\"")).at(relation.pos))
            }
            Found::User(Relation::Sequence(_)) => wrong("sequence"),
            Found::User(Relation::Index(_)) => {
                let message = format!("cannot open relation \"{name}\"");
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                    .detail("This operation is not supported for indexes.")
                    .at(relation.pos))
            }
            Found::System(_) => {
                let message = format!("permission denied: \"{name}\" is a system catalog");
                Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
            }
        }
    }

    fn table_entry(table: &Arc<Table>, alias: Option<&str>) -> RangeEntry {
        RangeEntry {
            alias: alias.unwrap_or(&table.name).to_owned(),
            columns: table_columns(&table.columns),
            source: Source::Table(table.clone()),
            lateral: false,
        }
    }

    fn insert(&self, scope: &Scope<'_>, insert: &ast::Insert) -> Result<DmlBound> {
        if let Some(with) = &insert.with {
            scope.with(with)?;
        }
        let table = self.target(&insert.relation, "INSERT")?;
        let rules = Arc::new(self.table_rules(&table)?);
        scope.clause.set(Clause::InsertTarget);
        // Not visible yet, but hints about missing columns know it.
        let alias = insert.alias.as_deref();
        let target = scope.add_entry(Self::table_entry(&table, alias), Some(table.oid), alias.is_some());
        let places = self.insert_columns(&table, &insert.columns)?;
        let mut given: Vec<Option<Expr>> = vec![None; table.columns.len()];
        let source = match &insert.source {
            None => None,
            Some(query) => Some(self.insert_source(scope, &table, insert, query, &places)?),
        };
        let mut source_columns = Vec::new();
        if let Some(source) = &source {
            for (i, column) in source.columns.iter().enumerate() {
                source_columns.push(EntryColumn { name: column.name.clone(), typ: column.typ });
                let Some(place) = places.get(i) else { break };
                let value = Expr::Column(ColumnRef { level: 0, entry: 1, column: i as u16, typ: column.typ });
                let all_default = self.is_all_default(insert, i);
                if let Some(slot) = given.get_mut(*place) {
                    *slot = if all_default { None } else { Some(value) };
                }
            }
        }
        self.check_generated(&table, insert, &given)?;
        let mut row = Vec::with_capacity(table.columns.len());
        for (place, column) in table.columns.iter().enumerate() {
            let typ = SqlType { oid: column.typ, typmod: column.typmod };
            let value = given.get_mut(place).and_then(Option::take);
            let always = column.identity.is_some() && insert.overriding == Some(Overriding::User);
            row.push(match value {
                _ if column.dropped || column.generated.is_some() => Expr::Const(Value::Null, typ),
                Some(value) if !always => {
                    let at = source_position(insert, &places, place);
                    self.assign(scope, value, typ, &column.name, at)?
                }
                _ => self.column_default(&table, place)?,
            });
        }
        let given_entry = RangeEntry {
            alias: "*SELECT*".into(),
            columns: source_columns,
            source: Source::Given,
            lateral: false,
        };
        scope.add_entry(given_entry, None, true);
        let target_item = scope.item(target, if alias.is_some() { None } else { Some(table.oid) });
        scope.namespace.borrow_mut().push(target_item);
        let on_conflict = match &insert.on_conflict {
            Some(conflict) => Some(self.on_conflict(scope, &table, &rules, conflict)?),
            None => None,
        };
        let returning = scope.returning(&insert.returning)?;
        let columns = returning.as_ref().map(|r| r.columns.clone());
        let bound = Insert {
            ctes: scope.ctes.take(),
            rules,
            source: source.map(Box::new),
            row,
            entries: scope.entries.take(),
            on_conflict,
            returning,
        };
        Ok((Dml::Insert(bound), columns))
    }

    /// Whether every row of VALUES has DEFAULT in this column (then the default is evaluated like for a column left out).
    fn is_all_default(&self, insert: &ast::Insert, place: usize) -> bool {
        let Some(query) = &insert.source else { return false };
        let ast::QueryBody::Values(rows) = &query.body else { return false };
        rows.iter().all(|row| matches!(row.get(place).map(|e| &e.kind), Some(ExprKind::Default)))
    }

    /// Places of the columns that INSERT names; all live ones without a list (`checkInsertTargets`).
    fn insert_columns(&self, table: &Table, columns: &[AssignTarget]) -> Result<Vec<usize>> {
        if columns.is_empty() {
            return Ok(table.live_columns().map(|(place, _)| place).collect());
        }
        let mut places = Vec::with_capacity(columns.len());
        for target in columns {
            let place = self.assign_place(table, target)?;
            if places.contains(&place) {
                let message = format!("column \"{}\" specified more than once", target.name);
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message).at(target.pos));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// The place of a column that is assigned to.
    fn assign_place(&self, table: &Table, target: &AssignTarget) -> Result<usize> {
        let Some((place, _)) = table.column(&target.name) else {
            if matches!(target.name.as_str(), "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
                let message = format!("cannot assign to system column \"{}\"", target.name);
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(target.pos));
            }
            let message = format!("column \"{}\" of relation \"{}\" does not exist", target.name, table.name);
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(target.pos));
        };
        if !target.indirection.is_empty() {
            return Err(SqlError::unsupported("assignment to an element or field of a column").at(target.pos));
        }
        Ok(place)
    }

    /// The rows to insert, each column of the type of its target where that is known.
    fn insert_source(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        insert: &ast::Insert,
        query: &ast::Query,
        places: &[usize],
    ) -> Result<Query> {
        let plain_values = query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.offset.is_none()
            && query.locking.is_empty();
        if let (ast::QueryBody::Values(rows), true) = (&query.body, plain_values) {
            return self.insert_values(scope, table, insert, rows, places);
        }
        let mut bound = self.query(query, Some(scope), false)?;
        let position = |place: usize| match &query.body {
            ast::QueryBody::Select(select) => select.targets.get(place).map_or(0, |t| t.expr.leftmost()),
            _ => 0,
        };
        self.check_width(insert, places.len(), bound.columns.len(), &position)?;
        for i in 0..bound.columns.len() {
            let unknown = bound.columns.get(i).is_some_and(|c| c.typ.oid == oid::UNKNOWN);
            let Some(column) = places.get(i).and_then(|p| table.columns.get(*p)) else { continue };
            if unknown {
                // A literal takes the type of the column it goes to.
                let typ = SqlType { oid: column.typ, typmod: column.typmod };
                coerce_output(&mut bound, i, typ, &mut |expr| {
                    self.assign(scope, expr, typ, &column.name, position(i))
                })?;
            }
        }
        Ok(bound)
    }

    fn insert_values(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        insert: &ast::Insert,
        rows: &[Vec<ast::Expr>],
        places: &[usize],
    ) -> Result<Query> {
        let values = Scope::new(self, Some(scope));
        let clause = if rows.len() == 1 { Clause::ValuesSingle } else { Clause::Values };
        let width = rows.first().map_or(0, Vec::len);
        let mut bound = Vec::with_capacity(rows.len());
        let mut columns: Vec<QueryColumn> = Vec::new();
        for row in rows {
            if row.len() != width {
                let at = row.first().map_or(0, ast::Expr::leftmost);
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "VALUES lists must all be the same length",
                )
                .at(at));
            }
            let position = |place: usize| row.get(place).map_or(0, ast::Expr::leftmost);
            // Expressions first, then the count, as PostgreSQL does.
            let mut exprs: Vec<Option<Expr>> = Vec::with_capacity(row.len());
            for item in row {
                exprs.push(match &item.kind {
                    ExprKind::Default => None,
                    ExprKind::Column(names, true) => {
                        return Err(values
                            .star(names, item.pos)
                            .err()
                            .unwrap_or_else(|| SqlError::unsupported("\"*\" in VALUES").at(item.pos)));
                    }
                    _ => Some(values.expr_in(clause, item)?),
                });
            }
            self.check_width(insert, places.len(), row.len(), &position)?;
            let mut cells = Vec::with_capacity(row.len());
            for (i, expr) in exprs.into_iter().enumerate() {
                let Some((place, column)) = places.get(i).and_then(|p| Some((*p, table.columns.get(*p)?)))
                else {
                    continue;
                };
                let typ = SqlType { oid: column.typ, typmod: column.typmod };
                let cell = match expr {
                    Some(expr) => {
                        self.check_assignable(table, place, insert)?;
                        self.assign(scope, expr, typ, &column.name, position(i))?
                    }
                    // Of a column that is DEFAULT in all rows, the default is evaluated as the row is made, and only there.
                    None if column.generated.is_some() || self.is_all_default(insert, i) => {
                        Expr::Const(Value::Null, typ)
                    }
                    None => self.column_default(table, place)?,
                };
                if bound.is_empty() {
                    columns.push(QueryColumn { name: format!("column{}", i + 1), typ, origin: None });
                }
                cells.push(cell);
            }
            bound.push(cells);
        }
        let body = if values.set_functions.borrow().is_empty() {
            Body::Values(bound)
        } else {
            // `VALUES (generate_series(1, 3))` in an INSERT is a SELECT.
            let targets = bound.pop().unwrap_or_default();
            let visible = targets.len();
            Body::Select(Box::new(crate::bound::Select {
                entries: Vec::new(),
                from: Vec::new(),
                filter: None,
                group_by: Vec::new(),
                grouping_sets: None,
                grouped: false,
                aggregates: Vec::new(),
                having: None,
                windows: Vec::new(),
                set_functions: values.set_functions.take(),
                targets,
                visible,
                distinct: crate::bound::Distinct::None,
            }))
        };
        Ok(Query {
            ctes: Vec::new(),
            body,
            order_by: Vec::new(),
            limit: None,
            offset: None,
            with_ties: false,
            locking: Vec::new(),
            columns,
        })
    }

    /// 42601 if there are more or, with a column list, fewer values than columns.
    fn check_width(
        &self,
        insert: &ast::Insert,
        columns: usize,
        values: usize,
        position: &dyn Fn(usize) -> u32,
    ) -> Result<()> {
        if values > columns {
            let message = "INSERT has more expressions than target columns";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position(columns)));
        }
        if values < columns && !insert.columns.is_empty() {
            let message = "INSERT has more target columns than expressions";
            let at = insert.columns.get(values).map_or(0, |c| c.pos);
            let error = SqlError::new(SqlState::SYNTAX_ERROR, message);
            let row = insert.source.as_ref().and_then(|q| match &q.body {
                ast::QueryBody::Values(rows) => rows.first().and_then(|r| r.first()),
                ast::QueryBody::Select(select) => select.targets.first().map(|t| &t.expr),
                ast::QueryBody::SetOperation { .. } => None,
            });
            let is_row = values == 1
                && matches!(row.map(|e| &e.kind), Some(ExprKind::Row(items, _)) if items.len() == columns);
            let error = if is_row {
                error.hint("The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?")
            } else {
                error
            };
            return Err(error.at(at));
        }
        Ok(())
    }

    /// 428C9 for a value given to a generated or always-identity column.
    fn check_assignable(&self, table: &Table, place: usize, insert: &ast::Insert) -> Result<()> {
        let Some(column) = table.columns.get(place) else { return Ok(()) };
        let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
        let error = SqlError::new(SqlState::GENERATED_ALWAYS, message);
        if column.generated.is_some() {
            return Err(error.detail(format!("Column \"{}\" is a generated column.", column.name)));
        }
        if column.identity == Some(Identity::Always) && insert.overriding.is_none() {
            return Err(error
                .detail(format!(
                    "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                    column.name
                ))
                .hint("Use OVERRIDING SYSTEM VALUE to override."));
        }
        Ok(())
    }

    fn check_generated(&self, table: &Table, insert: &ast::Insert, given: &[Option<Expr>]) -> Result<()> {
        let values = matches!(insert.source.as_deref().map(|q| &q.body), Some(ast::QueryBody::Values(_)));
        if values {
            return Ok(());
        }
        for (place, value) in given.iter().enumerate() {
            if value.is_some() {
                self.check_assignable(table, place, insert)?;
            }
        }
        Ok(())
    }

    /// Coerces a value for assignment to a column (`transformAssignedExpr`).
    pub(super) fn assign(
        &self,
        _scope: &Scope<'_>,
        value: Expr,
        typ: SqlType,
        column: &str,
        position: u32,
    ) -> Result<Expr> {
        let from = value.typ();
        let coerced = self.coercion().try_coerce(
            value,
            typ,
            CastContext::Assignment,
            CallForm::ImplicitCast,
            position,
        )?;
        coerced.ok_or_else(|| {
            let message = format!(
                "column \"{column}\" is of type {} but expression is of type {}",
                format(typ.oid),
                format(from.oid)
            );
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                .hint("You will need to rewrite or cast the expression.")
                .at(position)
        })
    }

    /// SET (`transformUpdateTargetList`).
    fn assignments(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        list: &[Assignment],
    ) -> Result<Vec<(usize, Expr)>> {
        let mut assignments: Vec<(usize, Expr)> = Vec::new();
        let add = |target: &AssignTarget, value: Expr, assignments: &mut Vec<(usize, Expr)>| -> Result<()> {
            let place = self.assign_place(table, target)?;
            if assignments.iter().any(|(p, _)| *p == place) {
                let message = format!("multiple assignments to same column \"{}\"", target.name);
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
            }
            assignments.push((place, value));
            Ok(())
        };
        for item in list {
            match item {
                Assignment::One(target, value) => {
                    let value = self.assigned(scope, table, target, value)?;
                    add(target, value, &mut assignments)?;
                }
                Assignment::Many(targets, source) => match &source.kind {
                    ExprKind::Row(items, _) => {
                        if items.len() != targets.len() {
                            let message = "number of columns does not match number of values";
                            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(source.pos));
                        }
                        for (target, value) in targets.iter().zip(items) {
                            let value = self.assigned(scope, table, target, value)?;
                            add(target, value, &mut assignments)?;
                        }
                    }
                    ExprKind::Sublink(ast::Sublink::Scalar, query) => {
                        let mut bound =
                            scope.within(Clause::UpdateSource, || self.query(query, Some(scope), false))?;
                        if bound.columns.len() != targets.len() {
                            let message = "number of columns does not match number of values";
                            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(source.pos));
                        }
                        super::target::settle_columns(scope, &mut bound)?;
                        for (i, target) in targets.iter().enumerate() {
                            let place = self.assign_place(table, target)?;
                            let value = super::sublink::one_column_of(bound.clone(), i);
                            let value = self.assign_to(scope, table, place, value, source.pos)?;
                            add(target, value, &mut assignments)?;
                        }
                    }
                    _ if targets.len() == 1 => {
                        let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                        return Err(
                            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(source.leftmost())
                        );
                    }
                    _ => {
                        let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                        return Err(
                            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(source.leftmost())
                        );
                    }
                },
            }
        }
        Ok(assignments)
    }

    fn assign_to(
        &self,
        scope: &Scope<'_>,
        table: &Table,
        place: usize,
        value: Expr,
        position: u32,
    ) -> Result<Expr> {
        let Some(column) = table.columns.get(place) else { return Ok(value) };
        if column.generated.is_some() || column.identity == Some(Identity::Always) {
            let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
            let detail = if column.generated.is_some() {
                format!("Column \"{}\" is a generated column.", column.name)
            } else {
                format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name)
            };
            return Err(SqlError::new(SqlState::GENERATED_ALWAYS, message).detail(detail));
        }
        self.assign(scope, value, SqlType { oid: column.typ, typmod: column.typmod }, &column.name, position)
    }

    fn assigned(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        target: &AssignTarget,
        value: &ast::Expr,
    ) -> Result<Expr> {
        if matches!(value.kind, ExprKind::Default) {
            let place = self.assign_place(table, target)?;
            return self.column_default(table, place);
        }
        // The value is bound before the column's name is looked at.
        let bound = scope.expr_in(Clause::UpdateSource, value)?;
        let place = self.assign_place(table, target)?;
        self.assign_to(scope, table, place, bound, value.leftmost())
    }

    fn update(&self, scope: &Scope<'_>, update: &ast::Update) -> Result<DmlBound> {
        if let Some(with) = &update.with {
            scope.with(with)?;
        }
        let table = self.target(&update.relation, "UPDATE")?;
        let rules = Arc::new(self.table_rules(&table)?);
        let from = self.target_and_from(scope, &table, update.alias.as_ref(), &update.from)?;
        let assignments = self.assignments(scope, &table, &update.assignments)?;
        let filter = match &update.filter {
            Some(filter) => Some(scope.condition(Clause::Where, "WHERE", filter)?),
            None => None,
        };
        let returning = scope.returning(&update.returning)?;
        let columns = returning.as_ref().map(|r| r.columns.clone());
        let bound = Update {
            ctes: scope.ctes.take(),
            rules,
            entries: scope.entries.take(),
            from,
            filter,
            assignments: without_generated(assignments, &table),
            returning,
        };
        Ok((Dml::Update(bound), columns))
    }

    fn delete(&self, scope: &Scope<'_>, delete: &ast::Delete) -> Result<DmlBound> {
        if let Some(with) = &delete.with {
            scope.with(with)?;
        }
        let table = self.target(&delete.relation, "DELETE")?;
        let rules = Arc::new(self.table_rules(&table)?);
        let from = self.target_and_from(scope, &table, delete.alias.as_ref(), &delete.using)?;
        let filter = match &delete.filter {
            Some(filter) => Some(scope.condition(Clause::Where, "WHERE", filter)?),
            None => None,
        };
        let returning = scope.returning(&delete.returning)?;
        let columns = returning.as_ref().map(|r| r.columns.clone());
        let bound =
            Delete { ctes: scope.ctes.take(), rules, entries: scope.entries.take(), from, filter, returning };
        Ok((Dml::Delete(bound), columns))
    }

    /// Entry 0 is the target, the others come from FROM or USING; all are visible.
    fn target_and_from(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        alias: Option<&ast::Alias>,
        from: &[ast::TableRef],
    ) -> Result<Vec<crate::bound::FromItem>> {
        let entry = Self::table_entry(table, alias.map(|a| a.name.as_str()));
        let place = scope.add_entry(entry, Some(table.oid), alias.is_some());
        let item = scope.item(place, if alias.is_some() { None } else { Some(table.oid) });
        // The target is not visible to FROM's items, not even laterally, but its name is taken.
        let list = scope.range_clause(from)?;
        Scope::check_conflicts(std::slice::from_ref(&item), &scope.namespace.borrow())?;
        scope.namespace.borrow_mut().insert(0, item);
        Ok(list)
    }

    /// ON CONFLICT (`transformOnConflictClause`, `infer_arbiter_indexes`).
    fn on_conflict(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        rules: &TableRules,
        conflict: &ast::OnConflict,
    ) -> Result<OnConflict> {
        if conflict.update.is_some() && conflict.keys.is_empty() && conflict.constraint.is_none() {
            let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message)
                .hint("For example, ON CONFLICT (column_name).")
                .at(conflict.pos));
        }
        let arbiters = self.arbiters(scope, table, rules, conflict)?;
        let update = match &conflict.update {
            None => None,
            Some(list) => {
                let excluded = RangeEntry {
                    alias: "excluded".into(),
                    columns: table_columns(&table.columns),
                    source: Source::Given,
                    lateral: false,
                };
                let place = scope.add_entry(excluded, None, true);
                let item = scope.item(place, None);
                let names = vec![item.clone()];
                Scope::check_conflicts(&scope.namespace.borrow(), &names)?;
                scope.namespace.borrow_mut().push(item);
                let assignments = self.assignments(scope, table, list)?;
                let filter = match &conflict.filter {
                    Some(filter) => Some(scope.condition(Clause::ConflictWhere, "WHERE", filter)?),
                    None => None,
                };
                // RETURNING does not see EXCLUDED.
                scope.namespace.borrow_mut().pop();
                Some(ConflictUpdate { assignments: without_generated(assignments, table), filter })
            }
        };
        Ok(OnConflict { arbiters, update })
    }

    fn arbiters(
        &self,
        scope: &Scope<'_>,
        table: &Arc<Table>,
        rules: &TableRules,
        conflict: &ast::OnConflict,
    ) -> Result<Vec<catalog::Oid>> {
        use catalog::object::ConstraintKind;
        if let Some(name) = &conflict.constraint {
            let found = self.objects.constraints_of(table.oid).find(|c| c.name == *name);
            return match found.map(|c| (&c.kind, c.deferrable)) {
                Some((ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index }, false)) => {
                    Ok(vec![*index])
                }
                Some((ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. }, true)) => {
                    let message = "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
                    Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
                }
                Some(_) => {
                    let message = "constraint in ON CONFLICT clause has no associated index";
                    Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
                }
                None => {
                    let message =
                        format!("constraint \"{name}\" for table \"{}\" does not exist", table.name);
                    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
                }
            };
        }
        if conflict.keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut keys = Vec::with_capacity(conflict.keys.len());
        for key in &conflict.keys {
            if let Some(names) = &key.collation {
                super::expr::check_collation(names, key.expr.pos)?;
            }
            keys.push(scope.expr_in(Clause::IndexExpression, &key.expr)?);
        }
        let predicate = match &conflict.predicate {
            Some(p) => Some(scope.condition(Clause::IndexPredicate, "WHERE", p)?),
            None => None,
        };
        let matches = |rule: &&crate::bound::IndexRule| {
            rule.index.unique
                && !rule.index.deferrable
                && rule.keys.iter().all(|k| keys.iter().any(|w| super::visit::same(k, w)))
                && keys.iter().all(|w| rule.keys.iter().any(|k| super::visit::same(k, w)))
                && match (&rule.predicate, &predicate) {
                    (None, _) => true,
                    (Some(own), Some(given)) => implies(given, own),
                    (Some(_), None) => false,
                }
        };
        let arbiters: Vec<catalog::Oid> = rules.indexes.iter().filter(matches).map(|r| r.index.oid).collect();
        if arbiters.is_empty() {
            let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
        }
        Ok(arbiters)
    }
}

/// Whether a condition has all the conjuncts of another.
fn implies(given: &Expr, wanted: &Expr) -> bool {
    fn parts(e: &Expr) -> &[Expr] {
        match e {
            Expr::And(list) => list,
            other => std::slice::from_ref(other),
        }
    }
    parts(wanted).iter().all(|w| parts(given).iter().any(|g| super::visit::same(g, w)))
}

/// Assignments of DEFAULT to generated columns say nothing.
fn without_generated(assignments: Vec<(usize, Expr)>, table: &Table) -> Vec<(usize, Expr)> {
    let plain = |place: &usize| table.columns.get(*place).is_none_or(|c| c.generated.is_none());
    assignments.into_iter().filter(|(place, _)| plain(place)).collect()
}

fn source_position(insert: &ast::Insert, places: &[usize], place: usize) -> u32 {
    let Some(i) = places.iter().position(|p| *p == place) else { return 0 };
    match insert.source.as_deref().map(|q| &q.body) {
        Some(ast::QueryBody::Select(select)) => select.targets.get(i).map_or(0, |t| t.expr.leftmost()),
        _ => 0,
    }
}

impl Scope<'_> {
    /// RETURNING.
    fn returning(&self, list: &[ast::Target]) -> Result<Option<Returning>> {
        if list.is_empty() {
            return Ok(None);
        }
        let mut targets = self.targets(list, Clause::Returning)?;
        self.settle_targets(&mut targets)?;
        let columns = self.output(&targets);
        Ok(Some(Returning { targets: targets.into_iter().map(|t| t.expr).collect(), columns }))
    }
}
