//! int2vector and oidvector: the catalogs' own one-dimensional arrays from 0, printed as numbers with blanks between. Compare
//! PostgreSQL's `int.c`, `oid.c`. Packed form and binary form as arrays of int2 and oid.
//!
//! Key bytes (order: number of elements first): the count in 4 bytes, then the elements' key bytes.

use super::array::{self, ArrayRef, Dimension};
use super::{InputContext, Shape, Type, int, oid, oids};
use crate::{Arena, Datum, Oid, Result};
use std::cmp::Ordering;

const VECTOR: Type = Type {
    category: b'A',
    shape: Shape::Bytes,
    output: |value, style, out| {
        let array = ArrayRef::read(value.as_bytes());
        for (i, element) in array.iter().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            int::int_out(element, style, out);
        }
    },
    send: |value, style, out| {
        // Always one dimension, also when there are no elements.
        let array = ArrayRef::read(value.as_bytes());
        let words = [1, 0, array.element_type().oid.0, array.len() as u32, 0];
        for word in words {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for element in array.iter() {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            (array.element_type().send)(element, style, out);
            let len = (out.len() - start - 4) as i32;
            out[start..start + 4].copy_from_slice(&len.to_be_bytes());
        }
    },
    compare: |a, b| {
        let (a, b) = (ArrayRef::read(a.as_bytes()), ArrayRef::read(b.as_bytes()));
        let by_len = a.len().cmp(&b.len());
        let by_element = || a.iter().map(|v| v.as_int()).cmp(b.iter().map(|v| v.as_int()));
        if by_len == Ordering::Equal { by_element() } else { by_len }
    },
    encode_key: Some(|value, out| {
        let array = ArrayRef::read(value.as_bytes());
        out.extend_from_slice(&(array.len() as u32).to_be_bytes());
        for element in array.iter() {
            if let Some(encode) = array.element_type().encode_key {
                encode(element, out);
            }
        }
    }),
    ..Type::BASE
};

/// int2vector
pub static INT2VECTOR: Type = Type {
    oid: oid::INT2VECTOR,
    name: "int2vector",
    sql_name: "int2vector",
    array_oid: Oid(1006),
    element: oid::INT2,
    input: |text, cx| read(text, &int::INT2, cx),
    receive: |bytes, cx| array::receive_elements(bytes, &int::INT2, cx),
    ..VECTOR
};

/// oidvector
pub static OIDVECTOR: Type = Type {
    oid: oid::OIDVECTOR,
    name: "oidvector",
    sql_name: "oidvector",
    array_oid: Oid(1013),
    element: oid::OID,
    input: |text, cx| read(text, &oids::OID, cx),
    receive: |bytes, cx| array::receive_elements(bytes, &oids::OID, cx),
    ..VECTOR
};

fn read<'a>(text: &'a str, element: &'static Type, cx: &InputContext<'a>) -> Result<Datum<'a>> {
    let words = text.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let values = words.map(|word| (element.input)(word, cx)).collect::<Result<Vec<_>>>()?;
    Ok(vector(element, &values, cx.arena))
}

/// A vector of these elements.
pub fn vector<'a>(element: &Type, values: &[Datum<'_>], arena: &'a Arena) -> Datum<'a> {
    let mut out = Vec::new();
    array::build_array(element, values, &[Dimension { len: values.len() as i32, lower: 0 }], &mut out);
    Datum::Bytes(arena.bytes(&out))
}
