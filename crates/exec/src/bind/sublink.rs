//! Subqueries in expressions (compare `transformSubLink` in `parse_expr.c`).

use super::operator::operator_name;
use super::scope::Scope;
use super::type_info::{array_of, format};
use crate::bound::{CallForm, ColumnRef, Expr, Query, SqlType, Subquery, SubqueryKind};
use crate::parse::ast::{self, ExprKind, Sublink};
use catalog::pg::LOOKUP;
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

fn syntax(message: &str, position: u32) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message).at(position)
}

impl Scope<'_> {
    pub(super) fn sublink(&self, kind: &Sublink, query: &ast::Query, position: u32) -> Result<Expr> {
        self.check_subquery(position)?;
        let resolve_unknown = !matches!(kind, Sublink::Any { .. });
        let bound = self.binder.query(query, Some(self), resolve_unknown)?;
        let one_column = |query: &Query| -> Result<SqlType> {
            match query.columns.as_slice() {
                [column] => Ok(column.typ),
                _ => Err(syntax("subquery must return only one column", position)),
            }
        };
        let (kind, typ) = match kind {
            Sublink::Exists => (SubqueryKind::Exists, SqlType::plain(oid::BOOL)),
            Sublink::Scalar => {
                let typ = one_column(&bound)?;
                (SubqueryKind::Scalar, typ)
            }
            Sublink::Array => {
                let element = one_column(&bound)?;
                let array = if super::type_info::element_of(element.oid).is_valid() {
                    element.oid
                } else {
                    array_of(element.oid)
                };
                if !array.is_valid() {
                    let text = format(element.oid);
                    let message = format!("could not find array type for data type {text}");
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(position));
                }
                (SubqueryKind::Array, SqlType::plain(array))
            }
            Sublink::Any { left, op, all } => {
                let name = match op {
                    Some(names) => operator_name(names)?,
                    None => "=",
                };
                let left = match &left.kind {
                    ExprKind::Row(items, _) => self.expand_list(items)?,
                    _ => vec![self.expr(left)?],
                };
                return self.quantified(left, name, *all, bound, position);
            }
        };
        Ok(Expr::Subquery(Box::new(Subquery { kind, query: bound, typ })))
    }

    fn quantified(
        &self,
        left: Vec<Expr>,
        name: &str,
        all: bool,
        mut query: Query,
        position: u32,
    ) -> Result<Expr> {
        if left.len() < query.columns.len() {
            return Err(syntax("subquery has too many columns", position));
        }
        if left.len() > query.columns.len() {
            return Err(syntax("subquery has too few columns", position));
        }
        // Outputs still of type unknown are literals; they take part as text.
        super::target::settle_columns(self, &mut query)?;
        let right = output_columns(&query);
        let plain: Vec<SqlType> = left.iter().zip(&right).map(|(l, _)| l.typ()).collect();
        let test = self.compare_rows(name, left, right, position)?;
        let hashable = if !all && name == "=" { hash_keys(&test) } else { None };
        let _ = plain;
        let kind = SubqueryKind::Quantified { all, test: Box::new(test), hashable };
        Ok(Expr::Subquery(Box::new(Subquery { kind, query, typ: SqlType::plain(oid::BOOL) })))
    }

    /// `(a, b) op (SELECT ...)`
    pub(super) fn row_sublink(
        &self,
        name: &str,
        left: &[ast::Expr],
        query: &ast::Query,
        position: u32,
    ) -> Result<Expr> {
        self.check_subquery(position)?;
        let mut bound = self.binder.query(query, Some(self), false)?;
        super::target::settle_columns(self, &mut bound)?;
        let left = self.expand_list(left)?;
        if left.len() < bound.columns.len() {
            return Err(syntax("subquery has too many columns", position));
        }
        if left.len() > bound.columns.len() {
            return Err(syntax("subquery has too few columns", position));
        }
        // One row at most: each column of it is read by its own subquery.
        let mut right = Vec::with_capacity(left.len());
        for place in 0..left.len() {
            right.push(one_column_of(bound.clone(), place));
        }
        self.compare_rows(name, left, right, position)
    }
}

/// A scalar subquery for one column of a query.
pub(super) fn one_column_of(query: Query, place: usize) -> Expr {
    use crate::bound::{Body, Distinct, EntryColumn, FromItem, RangeEntry, Select, Source};
    let columns: Vec<EntryColumn> =
        query.columns.iter().map(|c| EntryColumn { name: c.name.clone(), typ: c.typ }).collect();
    let typ = query.columns.get(place).map_or(SqlType::plain(oid::TEXT), |c| c.typ);
    let output = query.columns.get(place).cloned().into_iter().collect();
    let mut inner = query;
    super::visit::sink(&mut inner, false);
    let target = Expr::Column(ColumnRef { level: 0, entry: 0, column: place as u16, typ });
    let select = Select {
        entries: vec![RangeEntry {
            alias: "subquery".into(),
            columns,
            source: Source::Subquery(Box::new(inner)),
            lateral: false,
        }],
        from: vec![FromItem::Entry(0)],
        filter: None,
        group_by: Vec::new(),
        grouping_sets: None,
        grouped: false,
        aggregates: Vec::new(),
        having: None,
        windows: Vec::new(),
        set_functions: Vec::new(),
        targets: vec![target],
        visible: 1,
        distinct: Distinct::None,
    };
    let query = Query {
        ctes: Vec::new(),
        body: Body::Select(Box::new(select)),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns: output,
    };
    Expr::Subquery(Box::new(Subquery { kind: SubqueryKind::Scalar, query, typ }))
}

/// References to the output columns of a quantified subquery, for its test.
fn output_columns(query: &Query) -> Vec<Expr> {
    let columns = query.columns.iter().enumerate();
    columns
        .map(|(i, c)| Expr::Column(ColumnRef { level: 0, entry: u16::MAX, column: i as u16, typ: c.typ }))
        .collect()
}

/// The left sides of a conjunction of equalities `left = column` whose operators hash and whose columns are compared as they are.
fn hash_keys(test: &Expr) -> Option<Vec<Expr>> {
    let list = match test {
        Expr::And(list) => list.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut keys = Vec::with_capacity(list.len());
    for (i, part) in list.iter().enumerate() {
        let Expr::Call(call) = part else { return None };
        let CallForm::Operator(operator) = call.form else { return None };
        if !LOOKUP.operator(operator).is_some_and(|o| o.can_hash) {
            return None;
        }
        let [left, Expr::Column(column)] = call.args.as_slice() else { return None };
        if column.entry != u16::MAX || usize::from(column.column) != i || left.typ().oid != column.typ.oid {
            return None;
        }
        keys.push(left.clone());
    }
    Some(keys)
}
