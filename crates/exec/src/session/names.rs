//! Values whose text is the name of an object (regclass and its kin), on their way from and to the client. The types' own functions
//! know numbers only, since names need the catalog.

use super::Session;
use crate::bound::SqlType;
use crate::functions::{EvalContext, io, reg};
use catalog::{Arena, Datum, Oid, Result, Value};
use std::sync::Arc;

/// Appends the text of a value of such a type.
pub type NamePrinter = Arc<dyn Fn(Oid, Datum<'_>, &mut Vec<u8>)>;

/// Whether the text of the type's values is the name of an object.
pub fn is_name_type(typ: Oid) -> bool {
    reg::is_reg_type(typ)
}

impl Session {
    /// Reads a value of such a type from its text; `None` for other types, whose own functions do.
    pub fn read_name(&self, typ: Oid, text: &str) -> Option<Result<Value>> {
        if !is_name_type(typ) {
            return None;
        }
        let (arena, style) = (Arena::new(), self.style());
        let cx = EvalContext { arena: &arena, style: &style, env: &*self.state };
        Some(io::input(&cx, SqlType::plain(typ), text).map(|datum| datum.to_value()))
    }

    /// Prints values of such types; usable while a statement runs.
    pub fn name_printer(&self) -> NamePrinter {
        let (state, style) = (Arc::clone(&self.state), self.style());
        Arc::new(move |typ, value, out| {
            let arena = Arena::new();
            let cx = EvalContext { arena: &arena, style: &style, env: &*state };
            // It fails for types that are not implemented only.
            let _ = io::output_to(&cx, typ, value, out);
        })
    }
}
