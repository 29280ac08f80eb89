//! Composite values as expressions need them; their packed form is `catalog::types::record`.

use catalog::types::{Type, record};
use catalog::{Arena, Datum};

/// Packs fields.
pub fn build<'a>(arena: &'a Arena, types: &[&'static Type], values: &[Datum<'_>]) -> Datum<'a> {
    record::build(types, values, arena)
}

/// The fields of a packed composite: type and value; none of a NULL.
pub fn fields(value: Datum<'_>) -> impl Iterator<Item = (&'static Type, Datum<'_>)> {
    let bytes = match value {
        Datum::Bytes(bytes) => bytes,
        _ => &[],
    };
    record::columns(bytes)
}

/// One field; NULL for a NULL composite.
pub fn field(value: Datum<'_>, place: usize) -> Datum<'_> {
    fields(value).nth(place).map_or(Datum::Null, |(_, v)| v)
}

/// Whether every field is NULL (`null`), or none is (PostgreSQL's row rule).
pub fn all_null(value: Datum<'_>, null: bool) -> bool {
    !value.is_null() && fields(value).all(|(_, v)| v.is_null() == null)
}
