//! Drivers: psycopg 3 and asyncpg as programs in this folder, tokio-postgres in this one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod python;
mod statement_cache;
mod tokio_postgres;
