//! The row path's door to the store.

pub use crate::store_error::sql_error as store_error;
use catalog::{SqlError, SqlState};
pub use storage::{Direction, ReadView, RelationId, Scan, StoreError};

/// XX001 for stored bytes that do not read.
pub fn corrupt(what: &str) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a stored row of relation \"{what}\" is damaged"))
}
