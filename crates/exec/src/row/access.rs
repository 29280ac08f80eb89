//! The row path's door to the store.

use catalog::{SqlError, SqlState};
pub use storage::{Direction, ReadView, RelationId, Scan, StoreError};

/// A store's error as SQL says it.
pub fn store_error(error: StoreError) -> SqlError {
    SqlError::internal(error.to_string())
}

/// XX001 for stored bytes that do not read.
pub fn corrupt(what: &str) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a stored row of relation \"{what}\" is damaged"))
}
