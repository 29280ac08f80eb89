//! What a statement means and does: parse, bind, plan, cache, run.

pub mod bind;
pub mod bound;
pub mod client;
pub mod engine;
pub mod environment;
pub mod functions;
pub mod parse;
pub mod plan;
pub mod row;
pub mod session;
pub mod settings;
pub mod utility;
