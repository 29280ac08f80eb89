//! Result columns and parameters of the reg types: their values are OIDs, and the client gets names, which only a session can look up.

use super::Session;
use crate::bound::{QueryColumn, SqlType};
use crate::functions::{EvalContext, io, reg};
use crate::row::context::ExecContext;
use catalog::types::Type;
use catalog::types::oids::NAMED_OID;
use catalog::{Arena, Datum, Oid, Result, Value};

/// The functions by which a result column is written.
pub(super) fn writer(typ: &'static Type) -> &'static Type {
    if reg::is_reg_type(typ.oid) { &NAMED_OID } else { typ }
}

/// Places and types of the columns whose values are shown by name.
#[derive(Default)]
pub(crate) struct NamedColumns(Box<[(usize, Oid)]>);

impl NamedColumns {
    /// Those among a query's columns.
    pub(super) fn of(columns: Option<&[QueryColumn]>) -> Self {
        let columns = columns.unwrap_or_default().iter().enumerate();
        NamedColumns(
            columns.filter(|(_, c)| reg::is_reg_type(c.typ.oid)).map(|(i, c)| (i, c.typ.oid)).collect(),
        )
    }

    /// Hands a row on with the names put in.
    #[inline]
    pub(super) fn with_names<'x, R>(
        &self,
        cx: &ExecContext<'x>,
        row: &[Datum<'x>],
        then: impl FnOnce(&[Datum<'x>]) -> Result<R>,
    ) -> Result<R> {
        if self.0.is_empty() {
            return then(row);
        }
        let mut row = row.to_vec();
        for (place, typ) in &self.0 {
            let Some(slot) = row.get_mut(*place).filter(|value| !value.is_null()) else { continue };
            let bytes = cx.eval.arena.build(|out| {
                out.extend_from_slice(&(slot.as_int() as u32).to_be_bytes());
                reg::output(&cx.eval, *typ, *slot, out);
                Ok::<(), catalog::SqlError>(())
            })?;
            *slot = Datum::Bytes(bytes);
        }
        then(&row)
    }
}

impl Session {
    /// Reads a parameter of a reg type from its text; `None` for other types, whose own functions do.
    pub fn read_name(&self, typ: Oid, text: &str) -> Option<Result<Value>> {
        if !reg::is_reg_type(typ) {
            return None;
        }
        let (arena, style) = (Arena::new(), self.style());
        let cx = EvalContext { arena: &arena, style: &style, env: &*self.state };
        Some(io::input(&cx, SqlType::plain(typ), text).map(|datum| datum.to_value()))
    }
}
