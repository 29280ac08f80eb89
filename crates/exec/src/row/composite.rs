//! Composite values, packed: per field its type's OID (u32 LE), then a length (u32 LE, `u32::MAX` for NULL) and the field's bytes in
//! the form of its shape. The number of fields (u16 LE) stands in front.

use catalog::types::{Shape, by_oid};
use catalog::{Arena, Datum, Interval, Oid};

/// Packs fields.
pub fn build<'a>(arena: &'a Arena, types: &[Oid], values: &[Datum<'_>]) -> Datum<'a> {
    let packed = arena.build(|out| {
        out.extend_from_slice(&(values.len() as u16).to_le_bytes());
        for (value, typ) in values.iter().zip(types) {
            out.extend_from_slice(&typ.0.to_le_bytes());
            let at = out.len();
            out.extend_from_slice(&u32::MAX.to_le_bytes());
            match value {
                Datum::Null => continue,
                Datum::Bool(v) => out.push(u8::from(*v)),
                Datum::Int(v) => out.extend_from_slice(&v.to_le_bytes()),
                Datum::Float(v) => out.extend_from_slice(&v.to_le_bytes()),
                Datum::Interval(v) => {
                    out.extend_from_slice(&v.micros.to_le_bytes());
                    out.extend_from_slice(&v.days.to_le_bytes());
                    out.extend_from_slice(&v.months.to_le_bytes());
                }
                Datum::Bytes(v) => out.extend_from_slice(v),
            }
            let len = (out.len() - at - 4) as u32;
            if let Some(place) = out.get_mut(at..at + 4) {
                place.copy_from_slice(&len.to_le_bytes());
            }
        }
        Ok::<(), std::convert::Infallible>(())
    });
    match packed {
        Ok(bytes) => Datum::Bytes(bytes),
        Err(never) => match never {},
    }
}

/// The fields of a packed composite: type and value.
pub fn fields<'a>(value: Datum<'a>) -> Fields<'a> {
    let rest = match value {
        Datum::Bytes(bytes) => bytes.get(2..).unwrap_or_default(),
        _ => &[],
    };
    Fields { rest }
}

/// Iterator over fields.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Oid, Datum<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (typ, rest) = self.rest.split_first_chunk::<4>()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let typ = Oid(u32::from_le_bytes(*typ));
        let len = u32::from_le_bytes(*len);
        if len == u32::MAX {
            self.rest = rest;
            return Some((typ, Datum::Null));
        }
        let (bytes, rest) = rest.split_at_checked(len as usize)?;
        self.rest = rest;
        Some((typ, unpack(typ, bytes)))
    }
}

fn unpack(typ: Oid, bytes: &[u8]) -> Datum<'_> {
    let eight = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok());
    let four = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
    match by_oid(typ).map_or(Shape::Bytes, |t| t.shape) {
        Shape::Bool => Datum::Bool(bytes.first() == Some(&1)),
        Shape::Int => eight(0).map_or(Datum::Null, |b| Datum::Int(i64::from_le_bytes(b))),
        Shape::Float => eight(0).map_or(Datum::Null, |b| Datum::Float(f64::from_le_bytes(b))),
        Shape::Interval => match (eight(0), four(8), four(12)) {
            (Some(micros), Some(days), Some(months)) => Datum::Interval(Interval {
                micros: i64::from_le_bytes(micros),
                days: i32::from_le_bytes(days),
                months: i32::from_le_bytes(months),
            }),
            _ => Datum::Null,
        },
        Shape::Bytes => Datum::Bytes(bytes),
    }
}

/// One field; NULL for a NULL composite.
pub fn field(value: Datum<'_>, place: usize) -> Datum<'_> {
    fields(value).nth(place).map_or(Datum::Null, |(_, v)| v)
}

/// Whether every field is NULL (`null`), or none is (PostgreSQL's row rule).
pub fn all_null(value: Datum<'_>, null: bool) -> bool {
    !value.is_null() && fields(value).all(|(_, v)| v.is_null() == null)
}
