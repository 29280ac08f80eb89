//! Text input and output of any implemented type, with what the types themselves cannot do: names of catalog objects (regclass and
//! its kin), which need the session. Casts through text use these.

use super::{EvalContext, reg};
use crate::bound::SqlType;
use catalog::types::{self, InputContext};
use catalog::{Datum, Oid, Result, SqlError};

/// Reads a value of a type from text. The modifier is applied as in an assignment.
pub fn input<'a>(cx: &EvalContext<'a>, to: SqlType, text: &'a str) -> Result<Datum<'a>> {
    if reg::is_reg_type(to.oid) {
        return reg::input(cx, to.oid, text);
    }
    let typ = types::by_oid(to.oid).ok_or_else(|| unsupported(to.oid))?;
    let context = InputContext {
        arena: cx.arena,
        style: cx.style,
        typ,
        typmod: to.typmod,
        now: cx.env.transaction_timestamp(),
    };
    (typ.input)(text, &context)
}

/// Appends the text form of a value that is not NULL.
pub fn output_to(cx: &EvalContext<'_>, typ: Oid, value: Datum<'_>, out: &mut Vec<u8>) -> Result<()> {
    if reg::is_reg_type(typ) {
        reg::output(cx, typ, value, out);
        return Ok(());
    }
    let typ = types::by_oid(typ).ok_or_else(|| unsupported(typ))?;
    (typ.output)(value, cx.style, out);
    Ok(())
}

/// The text form of a value that is not NULL.
pub fn output<'a>(cx: &EvalContext<'a>, typ: Oid, value: Datum<'_>) -> Result<&'a str> {
    let bytes = cx.arena.build(|out| output_to(cx, typ, value, out))?;
    types::text::validate(bytes)
}

fn unsupported(typ: Oid) -> SqlError {
    SqlError::unsupported(format_args!("type {}", crate::bind::type_info::format(typ)))
}
