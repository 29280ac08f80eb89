//! Arrays of every type: up to six dimensions with lower bounds of their own, elements may be NULL. Compare PostgreSQL's
//! `arrayfuncs.c`. The registry makes one [`Type`] per element type with [`array_type`]; a value names its element type itself, so
//! that output and comparison need no other context. `text.rs` reads and prints.
//!
//! Packed form (what a `Datum` holds):
//!
//! | bytes | meaning |
//! |---|---|
//! | 4, little-endian | OID of the element type |
//! | 1 | number of dimensions, 0 (no elements) to 6 |
//! | 1 | 1 if a null bitmap follows the dimensions, else 0 |
//! | 8 per dimension | length and lower bound, little-endian |
//! | (n+7)/8 | null bitmap, if any: bit i set = element i is NULL |
//! | rest | elements that are not NULL, each in the `Physical` form that it has in a row |
//!
//! Key bytes: per element `01` and its key bytes, or `02` for NULL; then `00`; then the number of dimensions, and per dimension its
//! length and lower bound, 4 bytes each, big-endian, sign flipped. Keys do not decode.

mod text;

use super::{InputContext, Physical, Type, by_oid};
use crate::{Arena, Datum, Interval, Oid, Result, SqlError, SqlState, Style};
use std::cmp::Ordering;

/// The most dimensions that an array may have (`MAXDIM`).
pub const MAX_DIMENSIONS: usize = 6;
/// The most elements (`MaxArraySize`).
pub const MAX_ELEMENTS: usize = 134_217_727;

/// The array type over an element type; the registry keeps it for ever.
pub(super) fn array_type(element: &'static Type) -> Type {
    Type {
        oid: element.array_oid,
        name: Box::leak(format!("_{}", element.name).into_boxed_str()),
        sql_name: Box::leak(format!("{}[]", element.format(-1)).into_boxed_str()),
        array_oid: Oid::INVALID,
        len: -1,
        category: if element.oid == super::oid::RECORD { b'P' } else { b'A' },
        element: element.oid,
        collatable: element.collatable,
        input: text::parse,
        output: print,
        receive,
        send: |value, style, out| send(&ArrayRef::read(value.as_bytes()), style, out),
        compare: |a, b| compare(&ArrayRef::read(a.as_bytes()), &ArrayRef::read(b.as_bytes())),
        encode_key: if element.encode_key.is_some() { Some(encode_key) } else { None },
        typmod_in: element.typmod_in,
        typmod_out: element.typmod_out,
        apply_typmod: if element.apply_typmod.is_some() { Some(apply_typmod) } else { None },
        ..Type::BASE
    }
}

/// The text form of any array.
pub(super) fn print(value: Datum<'_>, style: &Style, out: &mut Vec<u8>) {
    text::print(&ArrayRef::read(value.as_bytes()), style, out);
}

/// One dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dimension {
    /// Number of elements.
    pub len: i32,
    /// Subscript of the first.
    pub lower: i32,
}

/// A packed array, opened.
#[derive(Clone, Copy)]
pub struct ArrayRef<'a> {
    element: &'static Type,
    dimensions: [Dimension; MAX_DIMENSIONS],
    dimension_count: usize,
    len: usize,
    nulls: Option<&'a [u8]>,
    elements: &'a [u8],
}

impl<'a> ArrayRef<'a> {
    /// Opens a packed array. Damaged bytes open as an empty array.
    pub fn read(bytes: &'a [u8]) -> ArrayRef<'a> {
        ArrayRef::try_read(bytes).unwrap_or(ArrayRef {
            element: &super::text::TEXT,
            dimensions: [Dimension::default(); MAX_DIMENSIONS],
            dimension_count: 0,
            len: 0,
            nulls: None,
            elements: &[],
        })
    }

    fn try_read(bytes: &'a [u8]) -> Option<ArrayRef<'a>> {
        let (head, mut rest) = bytes.split_first_chunk::<6>()?;
        let [o0, o1, o2, o3, count, has_nulls] = *head;
        let element = by_oid(Oid(u32::from_le_bytes([o0, o1, o2, o3])))?;
        let dimension_count = usize::from(count);
        let mut dimensions = [Dimension::default(); MAX_DIMENSIONS];
        let mut len = usize::from(dimension_count > 0);
        for dimension in dimensions.get_mut(..dimension_count)? {
            let mut number = || super::int::take::<4>(&mut rest).map(i32::from_le_bytes);
            *dimension = Dimension { len: number()?, lower: number()? };
            len = len.checked_mul(usize::try_from(dimension.len).ok()?)?;
        }
        let mut nulls = None;
        if has_nulls != 0 {
            let (bitmap, after) = rest.split_at_checked(len.div_ceil(8))?;
            (nulls, rest) = (Some(bitmap), after);
        }
        Some(ArrayRef { element, dimensions, dimension_count, len, nulls, elements: rest })
    }

    /// The type of the elements.
    pub fn element_type(&self) -> &'static Type {
        self.element
    }

    /// The dimensions, outermost first; none for an empty array.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions[..self.dimension_count]
    }

    /// The number of elements in all dimensions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an element is NULL.
    pub fn has_nulls(&self) -> bool {
        self.nulls.is_some_and(|bitmap| bitmap.iter().any(|b| *b != 0))
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = Datum<'a>> + use<'a> {
        let (physical, nulls, mut rest) = (self.element.physical, self.nulls, self.elements);
        (0..self.len).map(move |i| if is_null(nulls, i) { Datum::Null } else { take(physical, &mut rest) })
    }

    /// The element at a place in row-major order, from 0; NULL beyond the end.
    pub fn get(&self, index: usize) -> Datum<'a> {
        if index >= self.len || is_null(self.nulls, index) {
            return Datum::Null;
        }
        if self.nulls.is_none()
            && let Some(width) = fixed_width(self.element.physical)
        {
            let mut rest = self.elements.get(index * width..).unwrap_or(&[]);
            return take(self.element.physical, &mut rest);
        }
        self.iter().nth(index).unwrap_or_default()
    }

    /// The element at these subscripts; NULL if their number is not that of the dimensions or one is out of bounds (`array_ref`).
    pub fn at(&self, subscripts: &[i32]) -> Datum<'a> {
        if subscripts.len() != self.dimension_count || self.dimension_count == 0 {
            return Datum::Null;
        }
        let mut index = 0usize;
        for (subscript, dimension) in subscripts.iter().zip(self.dimensions()) {
            let offset = i64::from(*subscript) - i64::from(dimension.lower);
            if !(0..i64::from(dimension.len)).contains(&offset) {
                return Datum::Null;
            }
            index = index * dimension.len as usize + offset as usize;
        }
        self.get(index)
    }

    /// The part within bounds, per dimension the lower and upper subscript; dimensions that are not given are taken whole. The
    /// result's lower bounds are 1, or it is empty (`array_get_slice`).
    pub fn slice<'b>(&self, bounds: &[(Option<i32>, Option<i32>)], arena: &'b Arena) -> Datum<'b> {
        if bounds.len() > self.dimension_count || self.is_empty() {
            return empty(self.element, arena);
        }
        let mut ranges = [(0usize, 0usize); MAX_DIMENSIONS];
        let mut dimensions = self.dimensions;
        for (i, dimension) in self.dimensions().iter().enumerate() {
            let upper = i64::from(dimension.lower) + i64::from(dimension.len) - 1;
            let (from, to) = bounds.get(i).copied().unwrap_or((None, None));
            let from = i64::from(from.unwrap_or(dimension.lower)).max(dimension.lower.into());
            let to = to.map_or(upper, i64::from).min(upper);
            if from > to {
                return empty(self.element, arena);
            }
            ranges[i] = ((from - i64::from(dimension.lower)) as usize, (to - from + 1) as usize);
            dimensions[i] = Dimension { len: (to - from + 1) as i32, lower: 1 };
        }
        let inside = |mut index: usize| {
            for i in (0..self.dimension_count).rev() {
                let len = self.dimensions[i].len as usize;
                let (from, count) = ranges[i];
                if !(from..from + count).contains(&(index % len)) {
                    return false;
                }
                index /= len;
            }
            true
        };
        let values: Vec<Datum<'_>> =
            self.iter().enumerate().filter(|(i, _)| inside(*i)).map(|(_, v)| v).collect();
        let mut out = Vec::new();
        build_array(self.element, &values, &dimensions[..self.dimension_count], &mut out);
        Datum::Bytes(arena.bytes(&out))
    }
}

fn is_null(nulls: Option<&[u8]>, index: usize) -> bool {
    nulls.and_then(|bitmap| bitmap.get(index / 8)).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

/// Appends a packed array. `values` are in row-major order; no dimensions make an empty array.
pub fn build_array(element: &Type, values: &[Datum<'_>], dimensions: &[Dimension], out: &mut Vec<u8>) {
    let count = if values.is_empty() { 0 } else { dimensions.len().min(MAX_DIMENSIONS) };
    let has_nulls = values.iter().any(Datum::is_null);
    out.extend_from_slice(&element.oid.0.to_le_bytes());
    out.push(count as u8);
    out.push((has_nulls && count > 0).into());
    if count == 0 {
        return;
    }
    for dimension in &dimensions[..count] {
        out.extend_from_slice(&dimension.len.to_le_bytes());
        out.extend_from_slice(&dimension.lower.to_le_bytes());
    }
    if has_nulls {
        let start = out.len();
        out.resize(start + values.len().div_ceil(8), 0);
        for (i, _) in values.iter().enumerate().filter(|(_, v)| v.is_null()) {
            out[start + i / 8] |= 1 << (i % 8);
        }
    }
    for value in values {
        put(element.physical, *value, out);
    }
}

/// A one-dimensional array from 1, or an empty one.
pub fn one_dimensional<'a>(element: &Type, values: &[Datum<'_>], arena: &'a Arena) -> Datum<'a> {
    let mut out = Vec::with_capacity(16 + values.len() * 8);
    build_array(element, values, &[Dimension { len: values.len() as i32, lower: 1 }], &mut out);
    Datum::Bytes(arena.bytes(&out))
}

/// An array without elements.
pub fn empty<'a>(element: &Type, arena: &'a Arena) -> Datum<'a> {
    one_dimensional(element, &[], arena)
}

/// 54000 if so many dimensions are too many.
pub fn check_dimension_count(count: usize) -> Result<()> {
    if count <= MAX_DIMENSIONS {
        return Ok(());
    }
    let message =
        format!("number of array dimensions ({count}) exceeds the maximum allowed ({MAX_DIMENSIONS})");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

/// The number of elements of these dimensions, or 54000 (`ArrayGetNItems`).
pub fn element_count(dimensions: &[Dimension]) -> Result<usize> {
    let mut count = usize::from(!dimensions.is_empty());
    for dimension in dimensions {
        count = usize::try_from(dimension.len)
            .ok()
            .and_then(|len| count.checked_mul(len))
            .filter(|count| *count <= MAX_ELEMENTS)
            .ok_or_else(|| {
                let message = format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})");
                SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
            })?;
    }
    Ok(count)
}

fn fixed_width(physical: Physical) -> Option<usize> {
    match physical {
        Physical::Bool => Some(1),
        Physical::Int2 => Some(2),
        Physical::Int4 | Physical::UInt4 | Physical::Float4 => Some(4),
        Physical::Int8 | Physical::Float8 => Some(8),
        Physical::Interval => Some(16),
        Physical::Bytes => None,
    }
}

/// Appends a value's physical form; nothing for NULL.
pub(super) fn put(physical: Physical, value: Datum<'_>, out: &mut Vec<u8>) {
    if value.is_null() {
        return;
    }
    match physical {
        Physical::Bool => out.push(value.as_bool().into()),
        Physical::Int2 => out.extend_from_slice(&(value.as_int() as i16).to_le_bytes()),
        Physical::Int4 => out.extend_from_slice(&(value.as_int() as i32).to_le_bytes()),
        Physical::UInt4 => out.extend_from_slice(&(value.as_int() as u32).to_le_bytes()),
        Physical::Int8 => out.extend_from_slice(&value.as_int().to_le_bytes()),
        Physical::Float4 => out.extend_from_slice(&(value.as_float() as f32).to_le_bytes()),
        Physical::Float8 => out.extend_from_slice(&value.as_float().to_le_bytes()),
        Physical::Interval => {
            let v = value.as_interval();
            out.extend_from_slice(&v.micros.to_le_bytes());
            out.extend_from_slice(&v.days.to_le_bytes());
            out.extend_from_slice(&v.months.to_le_bytes());
        }
        Physical::Bytes => {
            let bytes = value.as_bytes();
            let mut len = bytes.len();
            while len >= 0x80 {
                out.push(len as u8 | 0x80);
                len >>= 7;
            }
            out.push(len as u8);
            out.extend_from_slice(bytes);
        }
    }
}

/// Takes a value's physical form off the front; NULL if the bytes are damaged.
pub(super) fn take<'a>(physical: Physical, bytes: &mut &'a [u8]) -> Datum<'a> {
    try_take(physical, bytes).unwrap_or_default()
}

fn try_take<'a>(physical: Physical, bytes: &mut &'a [u8]) -> Option<Datum<'a>> {
    use super::int::take;
    Some(match physical {
        Physical::Bool => Datum::Bool(take::<1>(bytes)?[0] != 0),
        Physical::Int2 => Datum::Int(i16::from_le_bytes(take(bytes)?).into()),
        Physical::Int4 => Datum::Int(i32::from_le_bytes(take(bytes)?).into()),
        Physical::UInt4 => Datum::Int(u32::from_le_bytes(take(bytes)?).into()),
        Physical::Int8 => Datum::Int(i64::from_le_bytes(take(bytes)?)),
        Physical::Float4 => Datum::Float(f32::from_le_bytes(take(bytes)?).into()),
        Physical::Float8 => Datum::Float(f64::from_le_bytes(take(bytes)?)),
        Physical::Interval => Datum::Interval(Interval {
            micros: i64::from_le_bytes(take(bytes)?),
            days: i32::from_le_bytes(take(bytes)?),
            months: i32::from_le_bytes(take(bytes)?),
        }),
        Physical::Bytes => {
            let mut len = 0usize;
            let mut shift = 0;
            loop {
                let [byte] = take::<1>(bytes)?;
                len |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
                if shift > 28 {
                    return None;
                }
            }
            let (head, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Datum::Bytes(head)
        }
    })
}

/// `array_cmp`: elements, then their number, then the dimensions.
fn compare(a: &ArrayRef<'_>, b: &ArrayRef<'_>) -> Ordering {
    let typ = a.element;
    for (x, y) in a.iter().zip(b.iter()) {
        let order = match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => (typ.compare)(x, y),
        };
        if order.is_ne() {
            return order;
        }
    }
    let flat = |array: &ArrayRef<'_>| {
        let mut bounds = [(0, 0); MAX_DIMENSIONS];
        for (slot, d) in bounds.iter_mut().zip(array.dimensions()) {
            *slot = (d.len, d.lower);
        }
        bounds
    };
    a.len.cmp(&b.len).then(a.dimension_count.cmp(&b.dimension_count)).then_with(|| flat(a).cmp(&flat(b)))
}

fn encode_key(value: Datum<'_>, out: &mut Vec<u8>) {
    let array = ArrayRef::read(value.as_bytes());
    for element in array.iter() {
        if element.is_null() {
            out.push(2);
            continue;
        }
        out.push(1);
        if let Some(encode) = array.element.encode_key {
            encode(element, out);
        }
    }
    out.push(0);
    out.push(array.dimension_count as u8);
    for dimension in array.dimensions() {
        out.extend_from_slice(&(dimension.len ^ i32::MIN).to_be_bytes());
        out.extend_from_slice(&(dimension.lower ^ i32::MIN).to_be_bytes());
    }
}

fn apply_typmod<'a>(value: Datum<'a>, typmod: i32, explicit: bool, arena: &'a Arena) -> Result<Datum<'a>> {
    let array = ArrayRef::read(value.as_bytes());
    let Some(apply) = array.element.apply_typmod else {
        return Ok(value);
    };
    let mut values = Vec::with_capacity(array.len);
    for element in array.iter() {
        values.push(if element.is_null() { element } else { apply(element, typmod, explicit, arena)? });
    }
    let mut out = Vec::new();
    build_array(array.element, &values, array.dimensions(), &mut out);
    Ok(Datum::Bytes(arena.bytes(&out)))
}

/// `array_send`
pub(super) fn send(array: &ArrayRef<'_>, style: &crate::Style, out: &mut Vec<u8>) {
    out.extend_from_slice(&(array.dimension_count as i32).to_be_bytes());
    out.extend_from_slice(&i32::from(array.has_nulls()).to_be_bytes());
    out.extend_from_slice(&array.element.oid.0.to_be_bytes());
    for dimension in array.dimensions() {
        out.extend_from_slice(&dimension.len.to_be_bytes());
        out.extend_from_slice(&dimension.lower.to_be_bytes());
    }
    for element in array.iter() {
        if element.is_null() {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        }
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        (array.element.send)(element, style, out);
        let len = (out.len() - start - 4) as i32;
        out[start..start + 4].copy_from_slice(&len.to_be_bytes());
    }
}

/// `array_recv`
fn receive<'a>(bytes: &'a [u8], cx: &InputContext<'a>) -> Result<Datum<'a>> {
    let element =
        by_oid(cx.typ.element).ok_or_else(|| SqlError::internal("an array type without element type"))?;
    receive_elements(bytes, element, cx)
}

pub(super) fn receive_elements<'a>(
    bytes: &'a [u8],
    element: &'static Type,
    cx: &InputContext<'a>,
) -> Result<Datum<'a>> {
    let invalid = |message: String| Err(SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, message));
    let short = || SqlError::protocol("insufficient data left in message");
    let mut rest = bytes;
    let number = |rest: &mut &'a [u8]| super::int::take::<4>(rest).map(i32::from_be_bytes).ok_or_else(short);
    let count = number(&mut rest)?;
    let flags = number(&mut rest)?;
    let oid = Oid(number(&mut rest)? as u32);
    let Ok(count) = usize::try_from(count) else {
        return invalid(format!("invalid number of dimensions: {count}"));
    };
    check_dimension_count(count)?;
    if flags != 0 && flags != 1 {
        return invalid("invalid array flags".into());
    }
    if oid != element.oid {
        let message = format!(
            "binary data has array element type {oid} ({}) instead of expected {} ({})",
            super::format_type(oid, -1),
            element.oid,
            element.format(-1)
        );
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
    }
    let mut dimensions = Vec::with_capacity(count);
    for _ in 0..count {
        dimensions.push(Dimension { len: number(&mut rest)?, lower: number(&mut rest)? });
    }
    let len = element_count(&dimensions)?;
    // Each element has at least its length word, so a length beyond the message is refused before memory is taken for it.
    if len > rest.len() / 4 {
        return Err(short());
    }
    let cx = InputContext { typ: element, ..*cx };
    let mut values = Vec::with_capacity(len);
    for i in 0..len {
        let size = number(&mut rest)?;
        if size == -1 {
            values.push(Datum::Null);
            continue;
        }
        let (head, after) =
            usize::try_from(size).ok().and_then(|n| rest.split_at_checked(n)).ok_or_else(short)?;
        rest = after;
        let value = (element.receive)(head, &cx).map_err(|error| match error.message() {
            "incorrect binary data format" => SqlError::new(
                SqlState::INVALID_BINARY_REPRESENTATION,
                format!("improper binary format in array element {}", i + 1),
            ),
            _ => error,
        })?;
        values.push(value);
    }
    if !rest.is_empty() {
        return invalid("incorrect binary data format".into());
    }
    let mut out = Vec::new();
    build_array(element, &values, &dimensions, &mut out);
    Ok(Datum::Bytes(cx.arena.bytes(&out)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::types::{int, oid};

    #[test]
    fn elements_are_found_by_subscript_and_slice() {
        let arena = Arena::new();
        let values: Vec<_> = (1..=6).map(Datum::Int).collect();
        let mut out = Vec::new();
        build_array(
            &int::INT4,
            &values,
            &[Dimension { len: 2, lower: 1 }, Dimension { len: 3, lower: 0 }],
            &mut out,
        );
        let array = ArrayRef::read(&out);
        assert_eq!(array.at(&[2, 0]), Datum::Int(4));
        assert_eq!(array.at(&[2, 3]), Datum::Null);
        assert_eq!(array.at(&[1]), Datum::Null);
        let slice = array.slice(&[(None, None), (Some(1), Some(9))], &arena);
        let typ = by_oid(oid::INT4_ARRAY).expect("int4[]");
        let mut text = Vec::new();
        (typ.output)(slice, &Style::default(), &mut text);
        assert_eq!(text, b"{{2,3},{5,6}}");
        text.clear();
        (typ.output)(Datum::Bytes(&out), &Style::default(), &mut text);
        assert_eq!(text, b"[1:2][0:2]={{1,2,3},{4,5,6}}");
    }
}
