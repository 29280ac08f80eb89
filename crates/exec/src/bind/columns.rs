//! Column references (compare `transformColumnRef` in `parse_expr.c`, `colNameToVar` and the errors of `parse_relation.c`).

use super::names::{DISTANCE_MAX, Matches, levenshtein};
use super::scope::{Clause, NsItem, Scope};
use crate::bound::{Expr, Source, SqlType};
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState, Value};

/// A relation found by its name in FROM: levels up, the item.
pub(super) type Found = (u16, NsItem);

impl Scope<'_> {
    /// `a`, `t.a`, `s.t.a`; also a whole row by its relation's name.
    pub(super) fn column_ref(&self, names: &[String], position: u32) -> Result<Expr> {
        if self.clause.get() == Clause::Default {
            let message = "cannot use column reference in DEFAULT expression";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
        }
        let (qualifier, name) = match names {
            [name] => {
                if let Some(expr) = self.unqualified(name, position)? {
                    return Ok(self.note_position(expr, position));
                }
                // Perhaps a whole row.
                if let Some(found) = self.find_relation(None, name, position)? {
                    return self.whole_row(&found);
                }
                return Err(self.missing_column(None, name, position));
            }
            [table, name] => ((None, table), name),
            [schema, table, name] => ((Some(schema.as_str()), table), name),
            [database, schema, table, name] => {
                self.binder.check_database(database, position, names)?;
                ((Some(schema.as_str()), table), name)
            }
            _ => {
                let text = names.join(".");
                let message = format!("improper qualified name (too many dotted names): {text}");
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
            }
        };
        let Some(found) = self.find_relation(qualifier.0, qualifier.1, position)? else {
            return Err(self.missing_relation(qualifier.0, qualifier.1, position));
        };
        match self.column_of(&found, name, position)? {
            Some(expr) => Ok(self.note_position(expr, position)),
            None => Err(self.missing_column(Some(qualifier.1), name, position)),
        }
    }

    /// Remembers where a column was first used above a possible grouping.
    pub(super) fn note_position(&self, expr: Expr, position: u32) -> Expr {
        if let Expr::Column(column) = &expr {
            let scope = self.up(column.level);
            let above = matches!(
                scope.clause.get(),
                Clause::Target
                    | Clause::Having
                    | Clause::OrderBy
                    | Clause::DistinctOn
                    | Clause::WindowPartition
                    | Clause::WindowOrder
            );
            if above {
                scope.column_positions.borrow_mut().entry((column.entry, column.column)).or_insert(position);
            }
        }
        expr
    }

    /// A column by name alone, innermost level first; 42702 if one level has it twice.
    fn unqualified(&self, name: &str, position: u32) -> Result<Option<Expr>> {
        let mut scope = Some(self);
        let mut level = 0;
        while let Some(at) = scope {
            let mut hit: Option<Expr> = None;
            for item in at.namespace.borrow().iter() {
                if !item.cols_visible || (item.lateral_only && !at.lateral.get()) {
                    continue;
                }
                let mut columns = item.columns.iter().filter(|c| c.name == name);
                let Some(column) = columns.next() else { continue };
                if hit.is_some() || columns.next().is_some() {
                    let message = format!("column reference \"{name}\" is ambiguous");
                    return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message).at(position));
                }
                at.check_lateral(item, position)?;
                hit = Some(at.var(level, &column.var));
            }
            if hit.is_none() {
                for item in at.namespace.borrow().iter() {
                    if item.cols_visible
                        && !item.lateral_only
                        && let Some(expr) = at.system_column(level, item, name, position)?
                    {
                        hit = Some(expr);
                        break;
                    }
                }
            }
            if hit.is_some() {
                return Ok(hit);
            }
            scope = at.parent;
            level += 1;
        }
        Ok(None)
    }

    fn check_lateral(&self, item: &NsItem, position: u32) -> Result<()> {
        if item.lateral_only && !item.lateral_ok {
            let message = format!("invalid reference to FROM-clause entry for table \"{}\"", item.name);
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
                .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
                .at(position));
        }
        Ok(())
    }

    /// `refnameNamespaceItem`
    pub(super) fn find_relation(
        &self,
        schema: Option<&str>,
        name: &str,
        position: u32,
    ) -> Result<Option<Found>> {
        let wanted = match schema {
            None => None,
            Some(schema) => match self.binder.relation_oid(Some(schema), name) {
                Some(oid) => Some(oid),
                None => return Ok(None),
            },
        };
        let mut scope = Some(self);
        let mut level = 0;
        while let Some(at) = scope {
            let mut hit: Option<NsItem> = None;
            for item in at.namespace.borrow().iter() {
                if !item.rel_visible || (item.lateral_only && !at.lateral.get()) {
                    continue;
                }
                let is = match wanted {
                    Some(oid) => item.relation == Some(oid),
                    None => item.name == name,
                };
                if !is {
                    continue;
                }
                if hit.is_some() {
                    let message = format!("table reference \"{name}\" is ambiguous");
                    return Err(SqlError::new(SqlState::AMBIGUOUS_ALIAS, message).at(position));
                }
                at.check_lateral(item, position)?;
                hit = Some(item.clone());
            }
            if let Some(item) = hit {
                return Ok(Some((level, item)));
            }
            scope = at.parent;
            level += 1;
        }
        Ok(None)
    }

    /// The scope `level` queries up.
    pub(super) fn up(&self, level: u16) -> &Scope<'_> {
        let mut scope: &Scope<'_> = self;
        for _ in 0..level {
            if let Some(parent) = scope.parent {
                scope = parent;
            }
        }
        scope
    }

    /// A column of a relation in FROM.
    pub(super) fn column_of(&self, (level, item): &Found, name: &str, position: u32) -> Result<Option<Expr>> {
        let scope = self.up(*level);
        let mut columns = item.columns.iter().filter(|c| c.name == name);
        let Some(column) = columns.next() else { return scope.system_column(*level, item, name, position) };
        if columns.next().is_some() {
            let message = format!("column reference \"{name}\" is ambiguous");
            return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message).at(position));
        }
        Ok(Some(scope.var(*level, &column.var)))
    }

    /// System columns: `tableoid` is a constant; the others have no meaning in this store.
    fn system_column(&self, _level: u16, item: &NsItem, name: &str, position: u32) -> Result<Option<Expr>> {
        if !matches!(name, "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
            return Ok(None);
        }
        let entries = self.entries.borrow();
        let source = item.entry.and_then(|e| entries.get(e)).map(|e| &e.source);
        let relation = match source {
            Some(Source::Table(table)) => table.oid,
            Some(Source::System(oid)) => *oid,
            _ => return Ok(None),
        };
        if name == "tableoid" {
            return Ok(Some(Expr::Const(Value::Int(i64::from(relation.0)), SqlType::plain(oid::OID))));
        }
        Err(SqlError::unsupported(format_args!("system column \"{name}\"")).at(position))
    }

    /// A whole row (`transformWholeRowRef`). A function's only column stands for itself.
    pub(super) fn whole_row(&self, (level, item): &Found) -> Result<Expr> {
        let scope = self.up(*level);
        let entries = scope.entries.borrow();
        let entry = item.entry.and_then(|e| entries.get(e));
        let (typ, scalar) = match entry.map(|e| &e.source) {
            Some(Source::Table(table)) => (table.row_type, false),
            Some(Source::System(oid)) => (super::relation::system_row_type(*oid), false),
            Some(Source::Function { calls, ordinality }) => {
                let single =
                    calls.len() == 1 && !ordinality && calls.iter().all(|(e, n)| *n == 1 && !returns_row(e));
                (oid::RECORD, single)
            }
            _ => (oid::RECORD, false),
        };
        drop(entries);
        let mut columns: Vec<Expr> = item.columns.iter().map(|c| scope.var(*level, &c.var)).collect();
        if scalar
            && columns.len() == 1
            && let Some(only) = columns.pop()
        {
            return Ok(only);
        }
        Ok(Expr::Row(columns, SqlType::plain(typ)))
    }

    /// 42P01 for a qualifier that is not in FROM (`errorMissingRTE`).
    pub(super) fn missing_relation(&self, schema: Option<&str>, name: &str, position: u32) -> SqlError {
        let wanted = self.binder.relation_oid(schema, name);
        let mut scope = Some(self);
        while let Some(at) = scope {
            let entries = at.entries.borrow();
            let relations = at.entry_relations.borrow();
            for (i, entry) in entries.iter().enumerate() {
                let (relation, aliased) = relations.get(i).copied().unwrap_or((None, false));
                let by_relation = wanted.is_some() && relation == wanted;
                if !(by_relation || (schema.is_none() && entry.alias == name)) {
                    continue;
                }
                let error = SqlError::new(
                    SqlState::UNDEFINED_TABLE,
                    format!("invalid reference to FROM-clause entry for table \"{name}\""),
                )
                .at(position);
                let visible = at
                    .namespace
                    .borrow()
                    .iter()
                    .any(|n| n.entry == Some(i) && n.rel_visible && !n.lateral_only);
                return if aliased && entry.alias != name && visible {
                    error.hint(format!("Perhaps you meant to reference the table alias \"{}\".", entry.alias))
                } else {
                    error.hint(format!(
                        "There is an entry for table \"{}\", but it cannot be referenced from this part of the query.",
                        entry.alias
                    ))
                };
            }
            scope = at.parent;
        }
        SqlError::new(SqlState::UNDEFINED_TABLE, format!("missing FROM-clause entry for table \"{name}\""))
            .at(position)
    }

    /// 42703 with PostgreSQL's suggestions (`errorMissingColumn`).
    pub(super) fn missing_column(&self, table: Option<&str>, name: &str, position: u32) -> SqlError {
        let error = match table {
            Some(table) => {
                SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column {table}.{name} does not exist"))
            }
            None => SqlError::undefined_column(name),
        }
        .at(position);
        let mut matches = Matches::default();
        // Entries of all levels in one list: alias and column names.
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        let mut scope = Some(self);
        while let Some(at) = scope {
            for entry in at.entries.borrow().iter() {
                let penalty = table.map_or(0, |t| levenshtein(t, &entry.alias).min(DISTANCE_MAX + 1));
                let columns: Vec<String> = entry.columns.iter().map(|c| c.name.clone()).collect();
                let place = all.len();
                let exact = columns.iter().any(|c| c == name);
                if exact && penalty == 0 {
                    return error.hint(format!(
                        "There is a column named \"{name}\" in table \"{}\", but it cannot be referenced from this part of the query.",
                        entry.alias
                    ));
                }
                for (i, column) in columns.iter().enumerate() {
                    matches.weigh(penalty, column, name, (place, i));
                }
                all.push((entry.alias.clone(), columns));
            }
            scope = at.parent;
        }
        let text = |place: Option<(usize, usize)>| {
            let (entry, column) = place?;
            let (alias, columns) = all.get(entry)?;
            Some(format!("\"{alias}.{}\"", columns.get(column)?))
        };
        match (text(matches.first), text(matches.second)) {
            (Some(first), None) => error.hint(format!("Perhaps you meant to reference the column {first}.")),
            (Some(first), Some(second)) => error
                .hint(format!("Perhaps you meant to reference the column {first} or the column {second}.")),
            _ => error,
        }
    }

    /// All columns of an item, for `*`.
    pub(super) fn expand(&self, level: u16, item: &NsItem) -> Vec<(String, Expr)> {
        let scope = self.up(level);
        item.columns.iter().map(|c| (c.name.clone(), scope.var(level, &c.var))).collect()
    }

    /// The table column that an expression of this level is, unchanged: for RowDescription.
    pub(super) fn origin(&self, expr: &Expr) -> Option<(Oid, i16)> {
        let Expr::Column(column) = expr else { return None };
        let scope = self.up(column.level);
        let entries = scope.entries.borrow();
        let entry = entries.get(usize::from(column.entry))?;
        match &entry.source {
            Source::Table(table) => (usize::from(column.column) < table.columns.len())
                .then_some((table.oid, column.column as i16 + 1)),
            Source::System(oid) => Some((*oid, column.column as i16 + 1)),
            Source::Subquery(query) => query.columns.get(usize::from(column.column))?.origin,
            Source::Cte(..) | Source::Function { .. } | Source::Values(_) | Source::Given => None,
        }
    }
}

fn returns_row(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => call.proc.out_columns.len() > 1 || call.typ.oid == oid::RECORD,
        _ => false,
    }
}
