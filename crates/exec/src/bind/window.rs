//! Window function calls and window definitions (compare `transformWindowFuncCall` and `transformWindowDefinitions`).

use super::overload::resolve_operator;
use super::scope::{Clause, Scope};
use super::type_info::format;
use crate::bound::{
    AggregateCall, CallForm, Expr, Frame, FrameBound, FrameExclude, FrameUnit, SqlType, WindowCall,
};
use crate::parse::ast;
use catalog::pg::CastContext;
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

impl Scope<'_> {
    /// A call with OVER.
    pub(super) fn window(&self, call: AggregateCall, over: &ast::Window, position: u32) -> Result<Expr> {
        match self.clause.get() {
            Clause::Target | Clause::OrderBy | Clause::DistinctOn => {}
            clause => {
                let message = format!("window functions are not allowed in {}", clause.disallowed_in());
                return Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(position));
            }
        }
        let definition = self.window_definition(over)?;
        let mut partition_by = Vec::new();
        for item in &definition.partition_by {
            partition_by.push(self.settle_unknown(self.window_item(Clause::WindowPartition, item)?)?);
        }
        let mut order_by = Vec::new();
        for item in &definition.order_by {
            let expr = self.settle_unknown(self.window_item(Clause::WindowOrder, &item.expr)?)?;
            let (desc, nulls_first) = self.sort_direction(item, expr.typ(), item.expr.leftmost())?;
            order_by.push((expr, desc, nulls_first));
        }
        let frame = self.frame(definition.frame.as_ref(), &order_by, over.pos)?;
        let typ = call.typ;
        let mut windows = self.windows.borrow_mut();
        windows.push(WindowCall { call, partition_by, order_by, frame });
        self.window_calls.borrow_mut().push(position);
        Ok(Expr::Window(windows.len() - 1, typ))
    }

    /// PARTITION BY and ORDER BY of a window take expressions only, but names of output columns are none of their business.
    fn window_item(&self, clause: Clause, item: &ast::Expr) -> Result<Expr> {
        self.expr_in(clause, item)
    }

    /// A window with its reference to a named one resolved.
    fn window_definition(&self, over: &ast::Window) -> Result<ast::Window> {
        let Some(name) = &over.reference else { return Ok(over.clone()) };
        let named = self.named_windows.borrow();
        let Some(base) = named.iter().find(|w| w.name.as_ref() == Some(name)) else {
            let message = format!("window \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(over.pos));
        };
        let base = base.clone();
        drop(named);
        // A WINDOW item may itself refer to an earlier one.
        let base = self.window_definition(&base)?;
        if over.bare {
            return Ok(base);
        }
        let refuse = |message: String| Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(over.pos));
        if !over.partition_by.is_empty() {
            return refuse(format!("cannot override PARTITION BY clause of window \"{name}\""));
        }
        if !over.order_by.is_empty() && !base.order_by.is_empty() {
            return refuse(format!("cannot override ORDER BY clause of window \"{name}\""));
        }
        if base.frame.is_some() {
            return refuse(format!("cannot copy window \"{name}\" because it has a frame clause"));
        }
        Ok(ast::Window {
            partition_by: base.partition_by,
            order_by: if over.order_by.is_empty() { base.order_by } else { over.order_by.clone() },
            reference: None,
            ..over.clone()
        })
    }

    fn frame(
        &self,
        frame: Option<&ast::Frame>,
        order_by: &[(Expr, bool, bool)],
        position: u32,
    ) -> Result<Frame> {
        let Some(frame) = frame else {
            return Ok(Frame {
                unit: FrameUnit::Range,
                start: FrameBound::UnboundedPreceding,
                end: FrameBound::CurrentRow,
                exclude: FrameExclude::NoOthers,
            });
        };
        let windowing =
            |message: &str, at: u32| Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(at));
        let offset =
            |b: &ast::FrameBound| matches!(b, ast::FrameBound::Preceding(_) | ast::FrameBound::Following(_));
        let offsets = offset(&frame.start) || offset(&frame.end);
        if frame.unit == FrameUnit::Groups && order_by.is_empty() {
            return windowing("GROUPS mode requires an ORDER BY clause", position);
        }
        if frame.unit == FrameUnit::Range && offsets && order_by.len() != 1 {
            return windowing(
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
                position,
            );
        }
        Ok(Frame {
            unit: frame.unit,
            start: self.frame_bound(&frame.start, frame.unit, order_by)?,
            end: self.frame_bound(&frame.end, frame.unit, order_by)?,
            exclude: frame.exclude,
        })
    }

    /// `transformFrameOffset`
    fn frame_bound(
        &self,
        bound: &ast::FrameBound,
        unit: FrameUnit,
        order_by: &[(Expr, bool, bool)],
    ) -> Result<FrameBound> {
        let (expr, preceding) = match bound {
            ast::FrameBound::UnboundedPreceding => return Ok(FrameBound::UnboundedPreceding),
            ast::FrameBound::UnboundedFollowing => return Ok(FrameBound::UnboundedFollowing),
            ast::FrameBound::CurrentRow => return Ok(FrameBound::CurrentRow),
            ast::FrameBound::Preceding(expr) => (expr, true),
            ast::FrameBound::Following(expr) => (expr, false),
        };
        let construct = match unit {
            FrameUnit::Rows => "ROWS",
            FrameUnit::Groups => "GROUPS",
            FrameUnit::Range => "RANGE",
        };
        let clause = Clause::WindowFrame(match unit {
            FrameUnit::Rows => "window ROWS",
            FrameUnit::Groups => "window GROUPS",
            FrameUnit::Range => "window RANGE",
        });
        let at = expr.leftmost();
        let bound = self.expr_in(clause, expr)?;
        let bound = match (unit, order_by.first()) {
            (FrameUnit::Range, Some((key, _, _))) => {
                let typ = range_offset_type(key.typ(), bound.typ(), at)?;
                self.coerce(bound, SqlType::plain(typ), CastContext::Implicit, CallForm::ImplicitCast, at)?
            }
            _ => self.binder.coercion().to_specific(bound, oid::INT8, construct, at)?,
        };
        if super::visit::has_own_columns(&bound) {
            let message = format!("argument of {construct} must not contain variables");
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(at));
        }
        Ok(if preceding { FrameBound::Preceding(bound) } else { FrameBound::Following(bound) })
    }
}

/// The type of a RANGE offset: what `in_range` takes for the sort column.
fn range_offset_type(key: SqlType, offset: SqlType, position: u32) -> Result<catalog::Oid> {
    let wanted = match key.oid {
        oid::INT2 | oid::INT4 | oid::INT8 => match offset.oid {
            oid::INT2 | oid::INT4 | oid::INT8 => offset.oid,
            _ if key.oid == oid::INT8 => oid::INT8,
            _ => oid::INT4,
        },
        oid::FLOAT4 | oid::FLOAT8 => oid::FLOAT8,
        oid::NUMERIC => oid::NUMERIC,
        oid::DATE | oid::TIMESTAMP | oid::TIMESTAMPTZ | oid::TIME | oid::TIMETZ | oid::INTERVAL => {
            oid::INTERVAL
        }
        other => {
            let text = format(other);
            let message =
                format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {text}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position));
        }
    };
    let fits =
        offset.oid == oid::UNKNOWN || super::coerce::can_coerce(offset.oid, wanted, CastContext::Implicit);
    if !fits || resolve_operator("+", Some(key), SqlType::plain(wanted)).is_err() {
        let (key, offset) = (format(key.oid), format(offset.oid));
        let message = format!(
            "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {key} and offset type {offset}"
        );
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
            .hint("Cast the offset value to an appropriate type.")
            .at(position));
    }
    Ok(wanted)
}
