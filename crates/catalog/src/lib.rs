//! What things are: SQL types, values, rows, keys, tables, indexes, names, settings, errors. Pure data, no I/O, no async.

mod arena;
mod datum;
mod error;
pub mod key;
pub mod object;
mod oid;
pub mod pg;
pub mod row;
pub mod row_reader;
mod snapshot;
mod sqlstate;
pub mod statistics;
mod style;
pub mod system;
pub mod types;

pub use arena::Arena;
pub use datum::{Datum, Interval, Value, recycle};
pub use error::{Fields, Result, Severity, SqlError};
pub use oid::Oid;
pub use snapshot::{Catalog, Change, DatabaseObjects, Relation};
pub use sqlstate::SqlState;
pub use style::{ByteaOutput, DateOrder, DateStyle, IntervalStyle, Style};
