//! Target lists: expansion of `*`, column names, types of literals that nothing else determines (compare `parse_target.c`).

use super::scope::{Clause, Scope};
use crate::bound::{Body, Expr, Query, QueryColumn};
use crate::parse::ast::{self, ExprKind, Indirection, Sublink, TypeName};
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

/// A target with what ORDER BY needs to find it again.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) expr: Expr,
    pub(crate) name: String,
    /// Added for ORDER BY, GROUP BY or DISTINCT ON; not put out.
    pub(crate) junk: bool,
    pub(crate) position: u32,
}

impl Scope<'_> {
    /// `transformTargetList`
    pub(super) fn targets(&self, list: &[ast::Target], clause: Clause) -> Result<Vec<Target>> {
        let mut targets = Vec::with_capacity(list.len());
        for item in list {
            match &item.expr.kind {
                ExprKind::Column(names, true) => {
                    for (name, expr) in self.star(names, item.pos)? {
                        targets.push(Target { expr, name, junk: false, position: item.pos });
                    }
                }
                ExprKind::Indirection(base, steps) if matches!(steps.last(), Some(Indirection::Star)) => {
                    for (name, expr) in self.row_star(base, steps)? {
                        targets.push(Target { expr, name, junk: false, position: item.pos });
                    }
                }
                _ => {
                    let expr = self.expr_in(clause, &item.expr)?;
                    let name = item.label.clone().unwrap_or_else(|| figure_name(&item.expr));
                    targets.push(Target { expr, name, junk: false, position: item.expr.leftmost() });
                }
            }
        }
        if targets.len() > 1664 {
            let message = "target lists can have at most 1664 entries";
            return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, message));
        }
        Ok(targets)
    }

    /// `*` or `t.*`
    pub(super) fn star(&self, names: &[String], position: u32) -> Result<Vec<(String, Expr)>> {
        let Some(table) = names.last() else {
            let namespace = self.namespace.borrow();
            let visible = namespace.iter().filter(|n| n.cols_visible);
            let mut list = Vec::new();
            let mut any = false;
            for item in visible {
                any = true;
                list.extend(self.noted(self.expand(0, item), position));
            }
            if !any {
                let message = "SELECT * with no tables specified is not valid";
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
            }
            return Ok(list);
        };
        let schema = names.len().checked_sub(2).and_then(|i| names.get(i)).map(String::as_str);
        match self.find_relation(schema, table, position)? {
            Some((level, item)) => Ok(self.noted(self.expand(level, &item), position)),
            None => Err(self.missing_relation(schema, table, position)),
        }
    }

    /// A star's columns, all of which stand where it stands.
    fn noted(&self, list: Vec<(String, Expr)>, position: u32) -> Vec<(String, Expr)> {
        list.into_iter().map(|(name, e)| (name, self.note_position(e, position))).collect()
    }

    /// `(row).*`
    fn row_star(&self, base: &ast::Expr, steps: &[Indirection]) -> Result<Vec<(String, Expr)>> {
        if let (ExprKind::Column(names, false), 1) = (&base.kind, steps.len())
            && let Some(table) = names.last()
        {
            let schema = names.len().checked_sub(2).and_then(|i| names.get(i)).map(String::as_str);
            if let Some((level, item)) = self.find_relation(schema, table, base.pos)? {
                return Ok(self.expand(level, &item));
            }
        }
        let expr = self.expr(base)?;
        let typ = expr.typ();
        let columns = self.row_columns(typ.oid);
        let out = match &expr {
            Expr::Call(call) if columns.is_none() => Some(
                call.proc
                    .out_columns
                    .iter()
                    .map(|(n, t)| (n.clone(), crate::bound::SqlType::plain(*t)))
                    .collect(),
            ),
            _ => columns,
        };
        match out {
            Some(columns) if !columns.is_empty() => Ok(columns
                .into_iter()
                .enumerate()
                .map(|(i, (name, typ))| (name, Expr::Field(Box::new(expr.clone()), i, typ)))
                .collect()),
            _ => {
                let text = super::type_info::format(typ.oid);
                let message = format!("type {text} is not composite");
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(base.leftmost()))
            }
        }
    }

    /// Literals and parameters of type unknown become text (`resolveTargetListUnknowns`).
    pub(super) fn settle_targets(&self, targets: &mut [Target]) -> Result<()> {
        for target in targets {
            if target.expr.typ().oid == oid::UNKNOWN {
                let expr = std::mem::replace(&mut target.expr, Expr::Grouping(Vec::new()));
                target.expr = self.settle_unknown_at(expr, target.position)?;
            }
        }
        Ok(())
    }

    /// Output columns of targets.
    pub(super) fn output(&self, targets: &[Target]) -> Vec<QueryColumn> {
        let visible = targets.iter().filter(|t| !t.junk);
        visible
            .map(|t| QueryColumn { name: t.name.clone(), typ: t.expr.typ(), origin: self.origin(&t.expr) })
            .collect()
    }
}

/// Gives output columns of type unknown the type text, in a query bound without doing so.
pub(super) fn settle_columns(scope: &Scope<'_>, query: &mut Query) -> Result<()> {
    for place in 0..query.columns.len() {
        let unknown = query.columns.get(place).is_some_and(|c| c.typ.oid == oid::UNKNOWN);
        if unknown {
            coerce_output(query, place, crate::bound::SqlType::plain(oid::TEXT), &mut |expr| {
                scope.settle_unknown(expr)
            })?;
        }
    }
    Ok(())
}

/// Replaces one output column's expression in every arm of a query.
pub(super) fn coerce_output(
    query: &mut Query,
    place: usize,
    typ: crate::bound::SqlType,
    change: &mut dyn FnMut(Expr) -> Result<Expr>,
) -> Result<()> {
    let mut replace = |slot: &mut Expr| -> Result<()> {
        let expr = std::mem::replace(slot, Expr::Grouping(Vec::new()));
        *slot = change(expr)?;
        Ok(())
    };
    match &mut query.body {
        Body::Select(select) => {
            if let Some(slot) = select.targets.get_mut(place) {
                replace(slot)?;
            }
        }
        Body::Values(rows) => {
            for row in rows {
                if let Some(slot) = row.get_mut(place) {
                    replace(slot)?;
                }
            }
        }
        Body::SetOperation(_) | Body::Dml(_) => return Ok(()),
    }
    if let Some(column) = query.columns.get_mut(place) {
        column.typ = typ;
        column.origin = None;
    }
    Ok(())
}

/// `FigureColname`
pub(super) fn figure_name(expr: &ast::Expr) -> String {
    figure(expr).map_or_else(|| "?column?".to_owned(), |(name, _)| name)
}

/// The name that an expression suggests, and how strongly.
fn figure(expr: &ast::Expr) -> Option<(String, u8)> {
    let strong = |name: &str| Some((name.to_owned(), 2));
    match &expr.kind {
        ExprKind::Column(names, false) => names.last().map(|n| (n.clone(), 2)),
        ExprKind::Indirection(base, steps) => {
            let field = steps.iter().rev().find_map(|s| match s {
                Indirection::Field(name, _) => Some((name.clone(), 2)),
                _ => None,
            });
            field.or_else(|| figure(base))
        }
        ExprKind::Func(call) => call.name.last().map(|n| (n.clone(), 2)),
        ExprKind::NullIf(..) => strong("nullif"),
        ExprKind::Cast(arg, typ) => match figure(arg) {
            Some((name, 2)) => Some((name, 2)),
            _ => type_label(typ).map(|name| (name, 1)),
        },
        ExprKind::Collate(arg, _) => figure(arg),
        ExprKind::Grouping(_) => strong("grouping"),
        ExprKind::Sublink(kind, query) => match kind {
            Sublink::Exists => strong("exists"),
            Sublink::Array => strong("array"),
            Sublink::Scalar => first_target_name(query),
            Sublink::Any { .. } => None,
        },
        ExprKind::Case(_, _, otherwise) => match otherwise.as_deref().and_then(figure) {
            Some(named) => Some(named),
            None => Some(("case".into(), 1)),
        },
        ExprKind::Array(_) => strong("array"),
        ExprKind::Row(..) => strong("row"),
        ExprKind::Coalesce(_) => strong("coalesce"),
        ExprKind::MinMax(greatest, _) => strong(if *greatest { "greatest" } else { "least" }),
        ExprKind::SqlValue(value, _) => strong(match value {
            ast::SqlValue::CurrentDate => "current_date",
            ast::SqlValue::CurrentTime => "current_time",
            ast::SqlValue::CurrentTimestamp => "current_timestamp",
            ast::SqlValue::LocalTime => "localtime",
            ast::SqlValue::LocalTimestamp => "localtimestamp",
            ast::SqlValue::CurrentRole => "current_role",
            ast::SqlValue::CurrentUser => "current_user",
            ast::SqlValue::User => "user",
            ast::SqlValue::SessionUser => "session_user",
            ast::SqlValue::CurrentCatalog => "current_catalog",
            ast::SqlValue::CurrentSchema => "current_schema",
        }),
        ExprKind::Literal(_)
        | ExprKind::Column(_, true)
        | ExprKind::Param(_)
        | ExprKind::Op(..)
        | ExprKind::OpAny(..)
        | ExprKind::Distinct(..)
        | ExprKind::In(..)
        | ExprKind::Between { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::NullTest(..)
        | ExprKind::BooleanTest(..)
        | ExprKind::Default
        | ExprKind::CurrentOf(_) => None,
    }
}

fn type_label(typ: &TypeName) -> Option<String> {
    let name = typ.names.last()?;
    Some(name.clone())
}

/// A scalar subquery is named by its first column.
fn first_target_name(query: &ast::Query) -> Option<(String, u8)> {
    match &query.body {
        ast::QueryBody::Select(select) => {
            let target = select.targets.first()?;
            match &target.label {
                Some(label) => Some((label.clone(), 2)),
                None => figure(&target.expr),
            }
        }
        ast::QueryBody::Values(_) => Some(("column1".into(), 2)),
        ast::QueryBody::SetOperation { left, .. } => first_target_name(left),
    }
}
