//! How values lie in arrow arrays: one [`Kind`] per column, read as [`Datum`]s by a [`Reader`] and written by a [`Writer`].
//!
//! Everything that is bytes in a datum is `BinaryView`, text too: PostgreSQL's order of text in the collation "C" is that of its bytes.

use catalog::types::{Physical, Type, oid};
use catalog::{Datum, Oid, SqlError};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray, BooleanBuilder, Float32Array,
    Float32Builder, Float64Array, Float64Builder, Int16Array, Int16Builder, Int32Array, Int32Builder,
    Int64Array, Int64Builder,
};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use std::sync::Arc;

/// The arrow form of a column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Bytes,
}

impl Kind {
    /// The kind of a type's values; none for intervals, which have no arrow form here.
    pub fn of(typ: &Type) -> Option<Kind> {
        Some(match typ.physical {
            Physical::Bool => Kind::Bool,
            Physical::Int2 => Kind::Int16,
            Physical::Int4 => Kind::Int32,
            Physical::UInt4 | Physical::Int8 => Kind::Int64,
            Physical::Float4 => Kind::Float32,
            Physical::Float8 => Kind::Float64,
            Physical::Bytes => Kind::Bytes,
            Physical::Interval => return None,
        })
    }

    /// Arrow's name of it.
    pub fn data_type(self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::Int16 => DataType::Int16,
            Kind::Int32 => DataType::Int32,
            Kind::Int64 => DataType::Int64,
            Kind::Float32 => DataType::Float32,
            Kind::Float64 => DataType::Float64,
            Kind::Bytes => DataType::BinaryView,
        }
    }
}

/// Whether arrow compares a type's arrays as PostgreSQL compares its values.
pub fn is_native(typ: &Type) -> bool {
    match typ.physical {
        Physical::Bool | Physical::Int2 | Physical::Int4 | Physical::UInt4 | Physical::Int8 => true,
        Physical::Bytes => is_raw(typ.oid),
        Physical::Float4 | Physical::Float8 | Physical::Interval => false,
    }
}

/// Types whose order is that of their bytes.
fn is_raw(typ: Oid) -> bool {
    matches!(typ, oid::TEXT | oid::VARCHAR | oid::NAME | oid::BYTEA | oid::UUID)
}

/// Reads an array value by value.
pub enum Reader<'a> {
    /// See [`Kind`].
    Bool(&'a BooleanArray),
    /// See [`Kind`].
    Int16(&'a Int16Array),
    /// See [`Kind`].
    Int32(&'a Int32Array),
    /// See [`Kind`].
    Int64(&'a Int64Array),
    /// See [`Kind`].
    Float32(&'a Float32Array),
    /// See [`Kind`].
    Float64(&'a Float64Array),
    /// See [`Kind`].
    Bytes(&'a BinaryViewArray),
}

impl<'a> Reader<'a> {
    /// A reader of an array of one of the kinds.
    pub fn new(array: &'a dyn Array) -> Result<Reader<'a>, SqlError> {
        let found = match array.data_type() {
            DataType::Boolean => array.as_boolean_opt().map(Reader::Bool),
            DataType::Int16 => array.as_primitive_opt::<Int16Type>().map(Reader::Int16),
            DataType::Int32 => array.as_primitive_opt::<Int32Type>().map(Reader::Int32),
            DataType::Int64 => array.as_primitive_opt::<Int64Type>().map(Reader::Int64),
            DataType::Float32 => array.as_primitive_opt::<Float32Type>().map(Reader::Float32),
            DataType::Float64 => array.as_primitive_opt::<Float64Type>().map(Reader::Float64),
            DataType::BinaryView => array.as_binary_view_opt().map(Reader::Bytes),
            _ => None,
        };
        found.ok_or_else(|| {
            SqlError::internal(format!("an array of {} on the relational path", array.data_type()))
        })
    }

    /// The value in a row that the array has.
    #[inline]
    pub fn get(&self, row: usize) -> Datum<'a> {
        match self {
            Reader::Bool(a) if a.is_valid(row) => Datum::Bool(a.value(row)),
            Reader::Int16(a) if a.is_valid(row) => Datum::Int(a.value(row).into()),
            Reader::Int32(a) if a.is_valid(row) => Datum::Int(a.value(row).into()),
            Reader::Int64(a) if a.is_valid(row) => Datum::Int(a.value(row)),
            Reader::Float32(a) if a.is_valid(row) => Datum::Float(a.value(row).into()),
            Reader::Float64(a) if a.is_valid(row) => Datum::Float(a.value(row)),
            Reader::Bytes(a) if a.is_valid(row) => Datum::Bytes(a.value(row)),
            _ => Datum::Null,
        }
    }
}

/// Makes an array value by value.
pub enum Writer {
    /// See [`Kind`].
    Bool(BooleanBuilder),
    /// See [`Kind`].
    Int16(Int16Builder),
    /// See [`Kind`].
    Int32(Int32Builder),
    /// See [`Kind`].
    Int64(Int64Builder),
    /// See [`Kind`].
    Float32(Float32Builder),
    /// See [`Kind`].
    Float64(Float64Builder),
    /// See [`Kind`].
    Bytes(BinaryViewBuilder),
}

impl Writer {
    /// A writer of arrays of about this length.
    pub fn new(kind: Kind, rows: usize) -> Writer {
        match kind {
            Kind::Bool => Writer::Bool(BooleanBuilder::with_capacity(rows)),
            Kind::Int16 => Writer::Int16(Int16Builder::with_capacity(rows)),
            Kind::Int32 => Writer::Int32(Int32Builder::with_capacity(rows)),
            Kind::Int64 => Writer::Int64(Int64Builder::with_capacity(rows)),
            Kind::Float32 => Writer::Float32(Float32Builder::with_capacity(rows)),
            Kind::Float64 => Writer::Float64(Float64Builder::with_capacity(rows)),
            Kind::Bytes => Writer::Bytes(BinaryViewBuilder::with_capacity(rows)),
        }
    }

    /// Appends a value of the kind.
    #[inline]
    pub fn push(&mut self, value: Datum<'_>) -> Result<(), SqlError> {
        match (self, value) {
            (Writer::Bool(b), Datum::Bool(v)) => b.append_value(v),
            (Writer::Int16(b), Datum::Int(v)) => b.append_value(v as i16),
            (Writer::Int32(b), Datum::Int(v)) => b.append_value(v as i32),
            (Writer::Int64(b), Datum::Int(v)) => b.append_value(v),
            (Writer::Float32(b), Datum::Float(v)) => b.append_value(v as f32),
            (Writer::Float64(b), Datum::Float(v)) => b.append_value(v),
            (Writer::Bytes(b), Datum::Bytes(v)) => b.append_value(v),
            (Writer::Bool(b), Datum::Null) => b.append_null(),
            (Writer::Int16(b), Datum::Null) => b.append_null(),
            (Writer::Int32(b), Datum::Null) => b.append_null(),
            (Writer::Int64(b), Datum::Null) => b.append_null(),
            (Writer::Float32(b), Datum::Null) => b.append_null(),
            (Writer::Float64(b), Datum::Null) => b.append_null(),
            (Writer::Bytes(b), Datum::Null) => b.append_null(),
            (_, value) => return Err(SqlError::internal(format!("{value:?} in an array of another kind"))),
        }
        Ok(())
    }

    /// The array; the writer starts anew.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Writer::Bool(b) => Arc::new(b.finish()),
            Writer::Int16(b) => Arc::new(b.finish()),
            Writer::Int32(b) => Arc::new(b.finish()),
            Writer::Int64(b) => Arc::new(b.finish()),
            Writer::Float32(b) => Arc::new(b.finish()),
            Writer::Float64(b) => Arc::new(b.finish()),
            Writer::Bytes(b) => Arc::new(b.finish()),
        }
    }
}
