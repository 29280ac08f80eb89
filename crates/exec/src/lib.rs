//! What a statement means and does: parse, bind, plan, cache, run.

pub mod bind;
pub mod bound;
pub mod client;
pub mod ddl;
pub mod deparse;
pub mod engine;
pub mod environment;
pub mod functions;
pub mod parse;
pub mod plan;
pub mod row;
pub mod session;
pub mod settings;
mod store_error;
pub mod utility;
