//! The time, as PostgreSQL counts it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH_SHIFT_MICROS: i64 = 946_684_800_000_000;

/// Now, in microseconds since 2000-01-01 UTC (`GetCurrentTimestamp`).
pub fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64 - EPOCH_SHIFT_MICROS
}
