//! Subscripts and fields (compare `transformIndirection` in `parse_expr.c`, `array_subscript_transform`).

use super::scope::Scope;
use super::type_info::{self, element_of, format};
use crate::bound::CallForm;
use crate::bound::{Expr, SqlType, Subscript};
use crate::parse::ast::{self, ExprKind, Indirection};
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Oid, Result, SqlError, SqlState, Value};

fn syntax(message: &str, position: u32) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message).at(position)
}

impl Scope<'_> {
    /// `transformIndirection`
    pub(super) fn indirection(&self, base: &ast::Expr, list: &[Indirection]) -> Result<Expr> {
        // `(t).a` reads the column; no row is made for it.
        if let (ExprKind::Column(names, false), Some(Indirection::Field(field, at))) =
            (&base.kind, list.first())
        {
            let (schema, table) = match names.as_slice() {
                [table] => (None, Some(table)),
                [schema, table] => (Some(schema.as_str()), Some(table)),
                _ => (None, None),
            };
            let is_column = names.len() == 1 && self.column_ref_exists(names);
            if let Some(table) = table.filter(|_| !is_column)
                && let Some(found) = self.find_relation(schema, table, base.pos)?
            {
                let expr = match self.column_of(&found, field, *at)? {
                    Some(expr) => expr,
                    None => {
                        let message = format!("column \"{field}\" not found in data type {table}");
                        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(*at));
                    }
                };
                return self.apply_indirection(expr, list.get(1..).unwrap_or_default(), base.pos);
            }
        }
        let expr = self.expr(base)?;
        self.apply_indirection(expr, list, base.leftmost())
    }

    fn column_ref_exists(&self, names: &[String]) -> bool {
        let mut scope = Some(self);
        while let Some(at) = scope {
            let namespace = at.namespace.borrow();
            if namespace
                .iter()
                .any(|n| n.cols_visible && n.columns.iter().any(|c| names.first() == Some(&c.name)))
            {
                return true;
            }
            scope = at.parent;
        }
        false
    }

    fn apply_indirection(&self, mut expr: Expr, list: &[Indirection], position: u32) -> Result<Expr> {
        let mut i = 0;
        while let Some(step) = list.get(i) {
            match step {
                Indirection::Star => {
                    return Err(syntax("row expansion via \"*\" is not supported here", position));
                }
                Indirection::Field(name, _) => {
                    expr = self.field(expr, name, position)?;
                    i += 1;
                }
                Indirection::Index(_) | Indirection::Slice(..) => {
                    // All subscripts in a row make one subscript operation.
                    let subscripts: Vec<&Indirection> = list
                        .iter()
                        .skip(i)
                        .take_while(|s| matches!(s, Indirection::Index(_) | Indirection::Slice(..)))
                        .collect();
                    i += subscripts.len();
                    expr = self.subscript(expr, &subscripts, position)?;
                }
            }
        }
        Ok(expr)
    }

    fn subscript(&self, base: Expr, list: &[&Indirection], position: u32) -> Result<Expr> {
        let typ = base.typ();
        let element = match typ.oid {
            oid::INT2VECTOR => oid::INT2,
            oid::OIDVECTOR => oid::OID,
            other => element_of(other),
        };
        if !element.is_valid() {
            let text = format(typ.oid);
            let message = format!("cannot subscript type {text} because it does not support subscripting");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position));
        }
        let integer = |expr: &ast::Expr| {
            let bound = self.expr(expr)?;
            let coerced = self.binder.coercion().try_coerce(
                bound,
                SqlType::plain(oid::INT4),
                CastContext::Assignment,
                CallForm::ImplicitCast,
                expr.leftmost(),
            )?;
            coerced.ok_or_else(|| {
                SqlError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer")
                    .at(expr.leftmost())
            })
        };
        let optional = |expr: &Option<ast::Expr>| expr.as_ref().map(integer).transpose();
        let slice = list.iter().any(|s| matches!(s, Indirection::Slice(..)));
        let mut subscripts = Vec::with_capacity(list.len());
        for step in list {
            match step {
                Indirection::Index(expr) if slice => {
                    // `a[2][1:3]` means `a[1:2][1:3]`.
                    let one = Expr::Const(Value::Int(1), SqlType::plain(oid::INT4));
                    subscripts.push(Subscript::Slice(Some(one), Some(integer(expr)?)));
                }
                Indirection::Index(expr) => subscripts.push(Subscript::Index(integer(expr)?)),
                Indirection::Slice(low, high) => {
                    subscripts.push(Subscript::Slice(optional(low)?, optional(high)?))
                }
                Indirection::Field(..) | Indirection::Star => {}
            }
        }
        let result = if slice { typ } else { SqlType { oid: element, typmod: typ.typmod } };
        Ok(Expr::Subscript(Box::new(base), subscripts, result))
    }

    /// `(row).field`; `position` is that of the row.
    fn field(&self, expr: Expr, name: &str, position: u32) -> Result<Expr> {
        let typ = expr.typ();
        let named = self.row_columns(typ.oid);
        if let Some(columns) = named
            && let Some((place, (_, column))) = columns.iter().enumerate().find(|(_, (n, _))| n == name)
        {
            return Ok(match expr {
                Expr::Row(mut items, _) if items.len() == columns.len() => items.swap_remove(place),
                other => Expr::Field(Box::new(other), place, *column),
            });
        }
        if let Expr::Call(call) = &expr
            && let Some(place) = call.proc.out_columns.iter().position(|(n, _)| n == name)
            && let Some((_, column)) = call.proc.out_columns.get(place)
        {
            let column = SqlType::plain(*column);
            return Ok(Expr::Field(Box::new(expr), place, column));
        }
        if type_info::is_complex(typ.oid) || typ.oid == oid::RECORD {
            let message = if typ.oid == oid::RECORD {
                format!("could not identify column \"{name}\" in record data type")
            } else {
                format!("column \"{name}\" not found in data type {}", format(typ.oid))
            };
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(position));
        }
        let text = format(typ.oid);
        let message =
            format!("column notation .{name} applied to type {text}, which is not a composite type");
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(position))
    }

    /// Columns of a row type of a user's relation.
    pub(super) fn row_columns(&self, typ: Oid) -> Option<Vec<(String, SqlType)>> {
        if let Some(system) = super::relation::SYSTEM.by_row_type(typ) {
            let column = |(name, typ): &(String, SqlType)| (name.clone(), super::relation::base_type(*typ));
            return Some(system.columns.iter().map(column).collect());
        }
        let objects = &self.binder.objects;
        let relation = objects.relations.get(objects.row_types.get(&typ)?)?;
        let live = relation.columns().iter().filter(|c| !c.dropped);
        Some(live.map(|c| (c.name.clone(), SqlType { oid: c.typ, typmod: c.typmod })).collect())
    }
}
