//! The one boundary where the store's errors become SQL errors.

use catalog::{SqlError, SqlState};
use storage::{InterruptReason, StoreError};

/// The SQL error of a store error, in PostgreSQL's words where it has them.
pub fn sql_error(error: StoreError) -> SqlError {
    let message = error.to_string();
    match &error {
        StoreError::Deadlock { .. } => SqlError::new(SqlState::DEADLOCK_DETECTED, "deadlock detected")
            .hint("See server log for query details."),
        StoreError::SerializationFailure => SqlError::new(
            SqlState::SERIALIZATION_FAILURE,
            "could not serialize access due to concurrent update",
        ),
        StoreError::ReadWriteDependency => SqlError::new(SqlState::SERIALIZATION_FAILURE, message)
            .detail("Reason code: Canceled on identification as a pivot, during commit attempt.")
            .hint("The transaction might succeed if retried."),
        StoreError::LockNotAvailable => SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message),
        StoreError::LockTimeout => {
            SqlError::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout")
        }
        StoreError::Interrupted(reason) => interrupted(*reason),
        StoreError::KeyTooLong { .. } | StoreError::ValueTooLong { .. } => {
            SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
        }
        StoreError::SequenceExhausted(_) => {
            SqlError::new(SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED, message)
        }
        StoreError::UnknownSavepoint => {
            SqlError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, "savepoint does not exist")
        }
        StoreError::DiskFull | StoreError::Base { full: true, .. } => {
            SqlError::new(SqlState::DISK_FULL, message)
        }
        StoreError::Corrupt { .. } => SqlError::new(SqlState::DATA_CORRUPTED, message),
        StoreError::DirectoryInUse { .. } => SqlError::new(SqlState::OBJECT_IN_USE, message),
        StoreError::Closed => SqlError::new(SqlState::ADMIN_SHUTDOWN, message),
        StoreError::Io { .. } | StoreError::Poisoned { .. } | StoreError::Base { .. } => {
            SqlError::new(SqlState::IO_ERROR, message)
        }
    }
}

/// The error that an interrupted statement ends with (`ProcessInterrupts`).
pub fn interrupted(reason: InterruptReason) -> SqlError {
    use catalog::Severity::Fatal;
    match reason {
        InterruptReason::Cancel => {
            SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")
        }
        InterruptReason::StatementTimeout => {
            SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout")
        }
        InterruptReason::IdleInTransactionTimeout => SqlError::with_severity(
            Fatal,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            "terminating connection due to idle-in-transaction timeout",
        ),
        InterruptReason::IdleSessionTimeout => SqlError::with_severity(
            Fatal,
            SqlState::ADMIN_SHUTDOWN,
            "terminating connection due to idle-session timeout",
        ),
        InterruptReason::Terminate | InterruptReason::Shutdown => SqlError::with_severity(
            Fatal,
            SqlState::ADMIN_SHUTDOWN,
            "terminating connection due to administrator command",
        ),
    }
}
