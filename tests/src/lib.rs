//! Black-box tests of a PostgreSQL-compatible server.
//!
//! Nothing here knows pgfusion's crates: a test starts a server ([`Server`]), talks to it as a client would and compares what
//! it hears with what a real PostgreSQL 15 said. With `PGFUSION_TEST_TARGET=postgres` every test runs against a private
//! PostgreSQL instead, which shows that the expectations are PostgreSQL's own; the program `capture` writes them.
//!
//! | kind | file | what a file holds |
//! |---|---|---|
//! | [`slt`] | `slt/<feature>/*.slt` | statements with their rows, column types, counts and errors, run by both query protocols |
//! | [`errors`] | `errors/*.sql` | wrong statements; every field of every ErrorResponse and NoticeResponse is compared |
//! | [`psql`] | `psql/*.sql` | input of a real psql; all that it prints is compared |
//! | [`protocol`] | `protocol/*.pt` | messages to send and the messages that come back |
//! | [`isolation`] | `isolation/*.spec` | steps of several sessions, and which of them wait |

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

pub mod client;
pub mod errors;
pub mod golden;
pub mod isolation;
pub mod protocol;
pub mod psql;
pub mod server;
pub mod slt;
pub mod split;

pub use client::Client;
pub use server::Server;
