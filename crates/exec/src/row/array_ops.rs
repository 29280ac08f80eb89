//! Arrays as expressions need them.

use super::context::ExecContext;
use super::expr::SubscriptNode;
use catalog::types::Type;
use catalog::{Datum, Result, SqlError};

/// Calls `f` with each element until it says stop.
pub fn for_each<'a>(
    _array: Datum<'a>,
    _element: &'static Type,
    mut _f: impl FnMut(Datum<'a>) -> Result<bool>,
) -> Result<()> {
    Err(SqlError::unsupported("array element access"))
}

/// An array of values of one type; `nested` ones are arrays that become a further dimension.
pub fn build<'a>(
    _cx: &ExecContext<'a>,
    _element: &'static Type,
    _values: &[Datum<'a>],
    _nested: bool,
) -> Result<Datum<'a>> {
    Err(SqlError::unsupported("ARRAY"))
}

/// The array with every element replaced.
pub fn map<'a>(
    _cx: &ExecContext<'a>,
    _array: Datum<'a>,
    _source: &'static Type,
    _target: &'static Type,
    mut _f: impl FnMut(Datum<'a>) -> Result<Datum<'a>>,
) -> Result<Datum<'a>> {
    Err(SqlError::unsupported("array casts"))
}

/// Applies a modifier to each element.
pub fn apply_typmod<'a>(
    _cx: &ExecContext<'a>,
    value: Datum<'a>,
    _typ: &'static Type,
    _typmod: i32,
    _explicit: bool,
) -> Result<Datum<'a>> {
    Ok(value)
}

/// `array[i]`, `array[i:j]`.
pub fn subscript<'a>(
    _cx: &ExecContext<'a>,
    _row: &[Datum<'a>],
    _array: Datum<'a>,
    _subscripts: &'a [SubscriptNode],
    _element: &'static Type,
) -> Result<Datum<'a>> {
    Err(SqlError::unsupported("array subscripts"))
}
