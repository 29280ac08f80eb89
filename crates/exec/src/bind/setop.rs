//! UNION, INTERSECT, EXCEPT (compare `transformSetOperationTree` in `analyze.c`).

use super::Binder;
use super::coerce::select_common_type;
use super::scope::Scope;
use super::target::coerce_output;
use super::type_info::format;
use crate::bound::{
    Body, CallForm, ColumnRef, Distinct, EntryColumn, Expr, FromItem, Query, QueryColumn, RangeEntry, Select,
    SetOp, SetOperation, Source, SqlType,
};
use crate::parse::ast;
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

impl Binder<'_> {
    pub(super) fn set_operation(
        &self,
        scope: &Scope<'_>,
        query: &ast::Query,
        (op, all): (SetOp, bool),
        left: &ast::Query,
        right: &ast::Query,
    ) -> Result<Query> {
        let left_bound = self.query(left, Some(scope), false)?;
        // A recursive WITH query knows its columns once its first arm is bound.
        scope.recursive_columns(&left_bound)?;
        let right_bound = self.query(right, Some(scope), false)?;
        let (left_bound, right_bound, columns) =
            self.match_arms(scope, (op, all), (left_bound, left), (right_bound, right))?;
        // Not visible, but PostgreSQL's hints about missing columns name them so.
        for (arm, number) in [(&left_bound, 1), (&right_bound, 2)] {
            let entry = RangeEntry {
                alias: format!("*SELECT* {number}"),
                columns: arm
                    .columns
                    .iter()
                    .map(|c| EntryColumn { name: c.name.clone(), typ: c.typ })
                    .collect(),
                source: Source::Given,
                lateral: false,
            };
            scope.add_entry(entry, None, true);
        }
        let order_by = scope.sort_output(&query.order_by, &columns)?;
        let (limit, offset) = scope.limit_clause(query)?;
        if let Some(lock) = query.locking.first() {
            let name = super::select::lock_name(lock.strength);
            let message = format!("{name} is not allowed with UNION/INTERSECT/EXCEPT");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(Query {
            ctes: Vec::new(),
            body: Body::SetOperation(Box::new(SetOperation {
                op,
                all,
                left: left_bound,
                right: right_bound,
            })),
            order_by,
            limit,
            offset,
            with_ties: query.with_ties,
            locking: Vec::new(),
            columns,
        })
    }

    /// Brings both arms to common types.
    fn match_arms(
        &self,
        scope: &Scope<'_>,
        (op, all): (SetOp, bool),
        (mut left, left_ast): (Query, &ast::Query),
        (mut right, right_ast): (Query, &ast::Query),
    ) -> Result<(Query, Query, Vec<QueryColumn>)> {
        let context = match op {
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        };
        if left.columns.len() != right.columns.len() {
            let message = format!("each {context} query must have the same number of columns");
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(first_position(right_ast)));
        }
        let mut columns = Vec::with_capacity(left.columns.len());
        for place in 0..left.columns.len() {
            let typ_of = |q: &Query| q.columns.get(place).map_or(SqlType::plain(oid::TEXT), |c| c.typ);
            let (l, r) = (typ_of(&left), typ_of(&right));
            let positions = [target_position(left_ast, place), target_position(right_ast, place)];
            let typ = select_common_type(&[l, r], &positions, context)?;
            // Unlike elsewhere the modifier survives if both sides have it.
            let typ = SqlType { oid: typ.oid, typmod: if l == r { l.typmod } else { -1 } };
            self.coerce_column(scope, &mut left, place, typ, context, positions[0])?;
            self.coerce_column(scope, &mut right, place, typ, context, positions[1])?;
            if !(op == SetOp::Union && all) {
                let chosen = usize::from(typ.oid != l.oid);
                scope.equality(typ, positions.get(chosen).copied().unwrap_or(0))?;
            }
            let name = left.columns.get(place).map_or_else(String::new, |c| c.name.clone());
            columns.push(QueryColumn { name, typ, origin: None });
        }
        Ok((left, right, columns))
    }

    /// Makes one output column of a query be of this type. Where sorting or DISTINCT hang on it, the cast goes around the query.
    pub(super) fn coerce_column(
        &self,
        scope: &Scope<'_>,
        query: &mut Query,
        place: usize,
        typ: SqlType,
        context: &str,
        position: u32,
    ) -> Result<()> {
        let from = query.columns.get(place).map_or(typ, |c| c.typ);
        if from.oid == typ.oid {
            return Ok(());
        }
        let depends = match &query.body {
            Body::Select(select) => {
                select.distinct != Distinct::None || query.order_by.iter().any(|k| k.column == place)
            }
            Body::Values(_) => query.order_by.iter().any(|k| k.column == place),
            Body::SetOperation(_) | Body::Dml(_) => true,
        };
        if depends && from.oid != oid::UNKNOWN {
            wrap(query);
        }
        let _ = scope;
        coerce_output(query, place, typ, &mut |expr| {
            let known = self.coercion().try_coerce(
                expr.clone(),
                SqlType::plain(typ.oid),
                CastContext::Implicit,
                CallForm::ImplicitCast,
                position,
            )?;
            known.ok_or_else(|| {
                let message = format!(
                    "{context} could not convert type {} to {}",
                    format(expr.typ().oid),
                    format(typ.oid)
                );
                SqlError::new(SqlState::CANNOT_COERCE, message).at(position)
            })
        })
    }
}

/// Puts a query into the FROM of another that hands its columns through.
pub(super) fn wrap(query: &mut Query) {
    let columns = query.columns.clone();
    let empty = Query {
        ctes: Vec::new(),
        body: Body::Values(Vec::new()),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns: Vec::new(),
    };
    let mut inner = std::mem::replace(query, empty);
    super::visit::sink(&mut inner, false);
    let target = |(i, c): (usize, &QueryColumn)| {
        Expr::Column(ColumnRef { level: 0, entry: 0, column: i as u16, typ: c.typ })
    };
    let select = Select {
        entries: vec![RangeEntry {
            alias: "unnamed_subquery".into(),
            columns: columns.iter().map(|c| EntryColumn { name: c.name.clone(), typ: c.typ }).collect(),
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
        targets: columns.iter().enumerate().map(target).collect(),
        visible: columns.len(),
        distinct: Distinct::None,
    };
    query.columns = columns;
    query.body = Body::Select(Box::new(select));
}

fn target_position(query: &ast::Query, place: usize) -> u32 {
    match &query.body {
        ast::QueryBody::Select(select) => select.targets.get(place).map_or(0, |t| t.expr.leftmost()),
        ast::QueryBody::Values(rows) => {
            rows.first().and_then(|row| row.get(place)).map_or(0, ast::Expr::leftmost)
        }
        ast::QueryBody::SetOperation { left, .. } => target_position(left, place),
    }
}

fn first_position(query: &ast::Query) -> u32 {
    target_position(query, 0)
}
