//! Statements that are neither queries nor DML: DDL, transaction control, settings, COPY and so on, as bound.

/// A bound utility statement.
#[derive(Clone, Debug)]
pub enum Utility {
    /// The empty variant set grows with `bind/ddl.rs`.
    Nothing,
}
