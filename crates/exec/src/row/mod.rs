//! The row path: runs plans row by row, pushing. `run` is the door; each operator has its file.

pub mod access;
pub mod aggregate;
pub mod array_ops;
pub mod composite;
pub mod context;
pub mod cte;
pub mod expr;
pub mod fixed_tests;
pub mod follow;
pub mod function;
pub mod hash;
pub mod index_entry;
pub mod join;
pub mod limit;
pub mod lock;
pub mod range;
pub mod rows;
pub mod run;
pub mod scan;
pub mod set;
pub mod sort;
pub mod subplan;
pub mod window;

pub use context::{ExecContext, Flow, Sink, StatementContext};
pub use run::run;
