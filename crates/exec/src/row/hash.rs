//! Hash keys: bytes that are equal for equal values, across the types that an equality operator spans.

use catalog::types::{Shape, Type, oid};
use catalog::{Datum, Oid};

/// How a value becomes hash bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum HashClass {
    /// Eight bytes; for integers of any width.
    Int,
    /// Canonical bits; float4 and float8 alike.
    Float,
    /// The bytes themselves; text, varchar, name, bytea, uuid.
    Raw,
    /// The type's key bytes.
    Key(&'static Type),
    /// A type without key bytes: its text.
    Text(&'static Type),
}

impl HashClass {
    /// The class of a type.
    pub fn of(typ: &'static Type) -> HashClass {
        match (typ.shape, typ.oid) {
            (Shape::Int | Shape::Bool, _) => HashClass::Int,
            (Shape::Float, _) => HashClass::Float,
            (_, oid::TEXT | oid::VARCHAR | oid::NAME | oid::BYTEA | oid::UUID) => HashClass::Raw,
            _ if typ.encode_key.is_some() => HashClass::Key(typ),
            _ => HashClass::Text(typ),
        }
    }

    /// The class under which values of two types hash alike, if an equality of them can be hashed.
    pub fn common(left: &'static Type, right: &'static Type) -> Option<HashClass> {
        let integer = |t: Oid| matches!(t, oid::INT2 | oid::INT4 | oid::INT8);
        let string = |t: Oid| matches!(t, oid::TEXT | oid::VARCHAR | oid::NAME);
        let float = |t: Oid| matches!(t, oid::FLOAT4 | oid::FLOAT8);
        let (l, r) = (left.oid, right.oid);
        if l == r {
            return match HashClass::of(left) {
                HashClass::Text(_) => None,
                class => Some(class),
            };
        }
        if integer(l) && integer(r) {
            Some(HashClass::Int)
        } else if float(l) && float(r) {
            Some(HashClass::Float)
        } else if string(l) && string(r) {
            Some(HashClass::Raw)
        } else {
            None
        }
    }

    /// Appends the hash bytes of a value; NULL has its own.
    #[inline]
    pub fn encode(&self, value: Datum<'_>, out: &mut Vec<u8>) {
        match (self, value) {
            (_, Datum::Null) => out.push(0),
            (HashClass::Int, Datum::Int(v)) => {
                out.push(1);
                out.extend_from_slice(&v.to_ne_bytes());
            }
            (HashClass::Int, Datum::Bool(v)) => out.extend_from_slice(&[1, u8::from(v)]),
            (HashClass::Float, Datum::Float(v)) => {
                out.push(1);
                let canonical = if v.is_nan() {
                    f64::NAN.to_bits()
                } else if v == 0.0 {
                    0
                } else {
                    v.to_bits()
                };
                out.extend_from_slice(&canonical.to_ne_bytes());
            }
            (HashClass::Raw, Datum::Bytes(v)) => {
                out.push(1);
                out.extend_from_slice(&(v.len() as u32).to_ne_bytes());
                out.extend_from_slice(v);
            }
            (HashClass::Key(typ) | HashClass::Text(typ), value) => {
                out.push(1);
                match typ.encode_key {
                    Some(encode) => encode(value, out),
                    None => {
                        let at = out.len();
                        out.extend_from_slice(&[0; 4]);
                        (typ.output)(value, &catalog::Style::default(), out);
                        let len = (out.len() - at - 4) as u32;
                        if let Some(place) = out.get_mut(at..at + 4) {
                            place.copy_from_slice(&len.to_ne_bytes());
                        }
                    }
                }
            }
            (_, other) => {
                debug_assert!(false, "shape {other:?} under {self:?}");
                out.push(2);
            }
        }
    }
}
