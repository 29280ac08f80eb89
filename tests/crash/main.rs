//! `kill -9` in the middle of a load: what was acknowledged is there after the restart, and nothing is there by half.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod load;
mod restart;
