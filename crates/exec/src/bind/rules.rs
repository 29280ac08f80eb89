//! What writing to a table must see to: defaults, CHECK, generated columns, index expressions, foreign keys, from the SQL text that
//! catalog objects keep.

use super::scope::{Clause, Scope};
use super::{BindContext, Binder, shifted};
use crate::bound::{ColumnRef, Expr, IndexRule, SqlType, TableRules};
use catalog::object::{ConstraintKind, IndexKey, Table};
use catalog::types::oid;
use catalog::{Result, SqlError, Value};
use std::sync::Arc;

/// Rules of a table.
pub fn table_rules(table: &Arc<Table>, cx: &BindContext<'_>) -> Result<TableRules> {
    Binder::new(cx).table_rules(table)
}

/// The default of a column, of the column's type; NULL if it has none.
pub fn column_default(table: &Arc<Table>, place: usize, cx: &BindContext<'_>) -> Result<Expr> {
    Binder::new(cx).column_default(table, place)
}

/// Binds an expression that is given as text: over entry 0 = `table` if there is one. `offset` is where the text stands in the
/// statement, for positions of errors.
pub fn bind_expression(
    text: &str,
    offset: u32,
    table: Option<&Arc<Table>>,
    clause: Clause,
    cx: &BindContext<'_>,
) -> Result<Expr> {
    let binder = Binder::new(cx);
    binder.text_expression(text, table, clause).map_err(|error| shifted(error, offset))
}

/// As [`bind_expression`], and coerced by assignment to a column's type (DEFAULT, GENERATED).
pub fn bind_column_expression(
    text: &str,
    offset: u32,
    table: Option<&Arc<Table>>,
    clause: Clause,
    column: (&str, SqlType),
    cx: &BindContext<'_>,
) -> Result<Expr> {
    let binder = Binder::new(cx);
    let bind = || {
        let expr = binder.text_expression(text, table, clause)?;
        let from = expr.typ();
        let coerced = binder.coercion().try_coerce(
            expr,
            column.1,
            catalog::pg::CastContext::Assignment,
            crate::bound::CallForm::ImplicitCast,
            0,
        )?;
        coerced.ok_or_else(|| {
            let (name, to, from) =
                (column.0, super::type_info::format(column.1.oid), super::type_info::format(from.oid));
            let what =
                if clause == Clause::Generated { "generation expression" } else { "default expression" };
            let message = format!("column \"{name}\" is of type {to} but {what} is of type {from}");
            SqlError::new(catalog::SqlState::DATATYPE_MISMATCH, message)
                .hint("You will need to rewrite or cast the expression.")
        })
    };
    bind().map_err(|error| shifted(error, offset))
}

/// As [`bind_expression`], and coerced to boolean (CHECK, index predicates).
pub fn bind_condition(
    text: &str,
    offset: u32,
    table: Option<&Arc<Table>>,
    clause: Clause,
    cx: &BindContext<'_>,
) -> Result<Expr> {
    let binder = Binder::new(cx);
    let bind = || {
        let expr = binder.text_expression(text, table, clause)?;
        let construct = if clause == Clause::IndexPredicate { "WHERE" } else { clause.name() };
        binder.coercion().to_boolean(expr, construct, 1)
    };
    bind().map_err(|error| shifted(error, offset))
}

impl Binder<'_> {
    fn text_expression(&self, text: &str, table: Option<&Arc<Table>>, clause: Clause) -> Result<Expr> {
        let parsed = crate::parse::parse_expression(text)?;
        let scope = Scope::new(self, None);
        if let Some(table) = table {
            let entry = crate::bound::RangeEntry {
                alias: table.name.clone(),
                columns: super::relation::table_columns(&table.columns),
                source: crate::bound::Source::Table(table.clone()),
                lateral: false,
            };
            let place = scope.add_entry(entry, Some(table.oid), false);
            let item = scope.item(place, Some(table.oid));
            scope.namespace.borrow_mut().push(item);
        }
        scope.expr_in(clause, &parsed)
    }

    /// An expression of the catalog: what is wrong with it is not the statement's fault, so errors have no position.
    fn stored(&self, text: &str, table: &Arc<Table>, clause: Clause) -> Result<Expr> {
        self.text_expression(text, Some(table), clause).map_err(|mut error| {
            error.fields_mut().position = None;
            error
        })
    }

    /// The default of a column.
    pub(crate) fn column_default(&self, table: &Arc<Table>, place: usize) -> Result<Expr> {
        let Some(column) = table.columns.get(place) else {
            return Err(SqlError::internal("a default of a column that is not there"));
        };
        let typ = SqlType { oid: column.typ, typmod: column.typmod };
        if column.identity.is_some() {
            let owned = |owner: &Option<(catalog::Oid, u16, bool)>| matches!(owner, Some((t, c, true)) if *t == table.oid && usize::from(*c) == place);
            let sequence = self.objects.relations.values().find_map(|r| match r {
                catalog::Relation::Sequence(s) if owned(&s.owned_by) => Some(s.clone()),
                _ => None,
            });
            let sequence = sequence.ok_or_else(|| SqlError::internal("no owned sequence found"))?;
            let next = Expr::NextValue(sequence, SqlType::plain(oid::INT8));
            return self.to_column(next, typ);
        }
        match &column.default {
            Some(text) if column.generated.is_none() => {
                let expr = self.stored(text, table, Clause::Default)?;
                self.to_column(expr, typ)
            }
            _ => Ok(Expr::Const(Value::Null, typ)),
        }
    }

    fn to_column(&self, expr: Expr, typ: SqlType) -> Result<Expr> {
        let context = catalog::pg::CastContext::Assignment;
        self.coercion().coerce(expr, typ, context, crate::bound::CallForm::ImplicitCast, 0)
    }

    /// Rules of a table.
    pub(crate) fn table_rules(&self, table: &Arc<Table>) -> Result<TableRules> {
        let mut rules = TableRules {
            table: table.clone(),
            indexes: Vec::new(),
            checks: Vec::new(),
            generated: Vec::new(),
            foreign_keys: Vec::new(),
            referencing: Vec::new(),
        };
        for index in self.objects.indexes_of(table.oid) {
            let mut keys = Vec::with_capacity(index.columns.len());
            for column in &index.columns {
                keys.push(match &column.key {
                    IndexKey::Column(place) => {
                        let typ = table
                            .columns
                            .get(usize::from(*place))
                            .map_or(SqlType::plain(column.typ), |c| SqlType { oid: c.typ, typmod: c.typmod });
                        Expr::Column(ColumnRef { level: 0, entry: 0, column: *place, typ })
                    }
                    IndexKey::Expression(text) => self.stored(text, table, Clause::IndexExpression)?,
                });
            }
            let predicate = match &index.predicate {
                Some(text) => {
                    let expr = self.stored(text, table, Clause::IndexPredicate)?;
                    Some(self.coercion().to_boolean(expr, "WHERE", 0)?)
                }
                None => None,
            };
            rules.indexes.push(IndexRule { index: index.clone(), keys, predicate });
        }
        for (place, column) in table.live_columns() {
            if let Some(text) = &column.generated {
                let expr = self.stored(text, table, Clause::Generated)?;
                let typ = SqlType { oid: column.typ, typmod: column.typmod };
                rules.generated.push((place, self.to_column(expr, typ)?));
            }
        }
        for constraint in self.objects.constraints_of(table.oid) {
            match &constraint.kind {
                ConstraintKind::Check { expression, .. } => {
                    let expr = self.stored(expression, table, Clause::Check)?;
                    let expr = self.coercion().to_boolean(expr, "CHECK", 0)?;
                    rules.checks.push((constraint.name.clone(), expr));
                }
                ConstraintKind::ForeignKey { .. } => rules.foreign_keys.push(constraint.clone()),
                ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {}
            }
        }
        // PostgreSQL checks them in the order of their names.
        rules.checks.sort_by(|a, b| a.0.cmp(&b.0));
        rules.referencing = self.objects.foreign_keys_to(table.oid).cloned().collect();
        Ok(rules)
    }
}
