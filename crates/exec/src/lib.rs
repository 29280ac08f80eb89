//! What a statement means and does: parse, bind, plan, cache, run.

pub mod bind;
pub mod bound;
mod cache;
pub mod client;
mod clock;
mod copy;
pub mod ddl;
pub mod deparse;
mod dml;
pub mod engine;
pub mod environment;
pub mod functions;
pub mod lift;
pub mod parse;
pub mod plan;
pub mod row;
pub mod session;
pub mod settings;
mod state;
mod statistics;
mod store_error;
mod timers;
pub mod utility;
