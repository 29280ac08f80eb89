//! Binding: from the parsed statement to the bound tree.

pub mod coerce;
pub mod overload;
pub mod polymorphic;
pub mod type_info;
