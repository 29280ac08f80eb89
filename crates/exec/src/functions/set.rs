//! Set-returning functions over numbers. Compare `int.c`, `int8.c` (`generate_series`). Those over other types are in their families.

use super::{Emit, Entry, set};
use catalog::{Datum, Result, SqlError, SqlState};

/// The numbers from `start` to `stop`.
fn series(start: i64, stop: i64, step: i64, max: i64, min: i64, emit: &mut Emit<'_>) -> Result<()> {
    if step == 0 {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    let mut value = start;
    while if step > 0 { value <= stop } else { value >= stop } {
        if emit(&[Datum::Int(value)])?.is_break() {
            break;
        }
        match value.checked_add(step) {
            Some(next) if (min..=max).contains(&next) => value = next,
            _ => break,
        }
    }
    Ok(())
}

const INT4: (i64, i64) = (i32::MAX as i64, i32::MIN as i64);
const INT8: (i64, i64) = (i64::MAX, i64::MIN);

pub(super) const FUNCTIONS: &[Entry] = &[
    (
        "generate_series_int4",
        set(|_, _, a, emit| series(a[0].as_int(), a[1].as_int(), 1, INT4.0, INT4.1, emit)),
    ),
    (
        "generate_series_step_int4",
        set(|_, _, a, emit| series(a[0].as_int(), a[1].as_int(), a[2].as_int(), INT4.0, INT4.1, emit)),
    ),
    (
        "generate_series_int8",
        set(|_, _, a, emit| series(a[0].as_int(), a[1].as_int(), 1, INT8.0, INT8.1, emit)),
    ),
    (
        "generate_series_step_int8",
        set(|_, _, a, emit| series(a[0].as_int(), a[1].as_int(), a[2].as_int(), INT8.0, INT8.1, emit)),
    ),
];
