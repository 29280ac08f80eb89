//! Values: [`Datum`], which borrows, and [`Value`], which owns.

use crate::Arena;
use serde::{Deserialize, Serialize};

/// PostgreSQL's interval: three parts that are not converted into one another (`utils/timestamp.h`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Microseconds of the day part.
    pub micros: i64,
    /// Days.
    pub days: i32,
    /// Months.
    pub months: i32,
}

/// One SQL value in its physical shape. The shape follows from the type (`Type::shape`):
///
/// | shape | types |
/// |---|---|
/// | `Bool` | bool |
/// | `Int` | int2, int4, int8, oid and the reg types, "char", date (days since 2000-01-01), time, timestamp, timestamptz (microseconds, PostgreSQL's epoch), money |
/// | `Float` | float4 (exactly representable as `f32`), float8 |
/// | `Interval` | interval |
/// | `Bytes` | all others: text, varchar, bpchar (blank-padded), name, json (UTF-8); bytea; numeric, uuid, arrays (packed forms of their files) |
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Datum<'a> {
    /// SQL NULL of any type.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of any width, or a point in time.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// An interval.
    Interval(Interval),
    /// Text or a packed form.
    Bytes(&'a [u8]),
}

impl<'a> Datum<'a> {
    /// A text value.
    pub fn text(text: &'a str) -> Self {
        Datum::Bytes(text.as_bytes())
    }

    /// Whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// The boolean; NULL and other shapes are false, as in a WHERE clause.
    pub fn is_true(&self) -> bool {
        matches!(self, Datum::Bool(true))
    }

    /// The boolean of a value known to be one.
    pub fn as_bool(&self) -> bool {
        debug_assert!(matches!(self, Datum::Bool(_)), "not a boolean: {self:?}");
        matches!(self, Datum::Bool(true))
    }

    /// The integer of a value known to be of that shape; others give 0 (a bug, caught in debug builds).
    pub fn as_int(&self) -> i64 {
        match self {
            Datum::Int(v) => *v,
            _ => {
                debug_assert!(false, "not an integer: {self:?}");
                0
            }
        }
    }

    /// The float of a value known to be of that shape.
    pub fn as_float(&self) -> f64 {
        match self {
            Datum::Float(v) => *v,
            _ => {
                debug_assert!(false, "not a float: {self:?}");
                0.0
            }
        }
    }

    /// The interval of a value known to be of that shape.
    pub fn as_interval(&self) -> Interval {
        match self {
            Datum::Interval(v) => *v,
            _ => {
                debug_assert!(false, "not an interval: {self:?}");
                Interval::default()
            }
        }
    }

    /// The bytes of a value known to be of that shape.
    pub fn as_bytes(&self) -> &'a [u8] {
        match self {
            Datum::Bytes(v) => v,
            _ => {
                debug_assert!(false, "not bytes: {self:?}");
                &[]
            }
        }
    }

    /// The text of a value known to be text. Stored text is valid UTF-8 by construction; anything else reads as empty.
    pub fn as_str(&self) -> &'a str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The same value, with its bytes copied into an arena.
    pub fn copy_in<'b>(&self, arena: &'b Arena) -> Datum<'b> {
        match *self {
            Datum::Null => Datum::Null,
            Datum::Bool(v) => Datum::Bool(v),
            Datum::Int(v) => Datum::Int(v),
            Datum::Float(v) => Datum::Float(v),
            Datum::Interval(v) => Datum::Interval(v),
            Datum::Bytes(v) => Datum::Bytes(arena.bytes(v)),
        }
    }

    /// An owned copy.
    pub fn to_value(&self) -> Value {
        match *self {
            Datum::Null => Value::Null,
            Datum::Bool(v) => Value::Bool(v),
            Datum::Int(v) => Value::Int(v),
            Datum::Float(v) => Value::Float(v),
            Datum::Interval(v) => Value::Interval(v),
            Datum::Bytes(v) => Value::Bytes(v.into()),
        }
    }
}

/// An owned [`Datum`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer or a point in time.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// An interval.
    Interval(Interval),
    /// Text or a packed form.
    Bytes(Box<[u8]>),
}

impl Value {
    /// A text value.
    pub fn text(text: &str) -> Self {
        Value::Bytes(text.as_bytes().into())
    }

    /// The value, borrowed.
    pub fn datum(&self) -> Datum<'_> {
        match self {
            Value::Null => Datum::Null,
            Value::Bool(v) => Datum::Bool(*v),
            Value::Int(v) => Datum::Int(*v),
            Value::Float(v) => Datum::Float(*v),
            Value::Interval(v) => Datum::Interval(*v),
            Value::Bytes(v) => Datum::Bytes(v),
        }
    }

    /// Whether the value is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

/// Empties a row buffer and gives it a new lifetime, keeping its allocation (the standard library collects in place).
pub fn recycle<'b>(mut row: Vec<Datum<'_>>) -> Vec<Datum<'b>> {
    row.clear();
    row.into_iter().map(|_| Datum::Null).collect()
}
