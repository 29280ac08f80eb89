//! Window functions. Compare `windowfuncs.c`.

use super::{Entry, EvalContext, Implementation, Partition, WindowFn};
use catalog::{Datum, Result, SqlError, SqlState};

const fn window(function: WindowFn) -> Implementation {
    Implementation::Window(function)
}

/// lag and lead: the argument `offset` rows away, or the default.
fn away<'a>(
    cx: &EvalContext<'a>,
    partition: &dyn Partition,
    direction: i64,
    has_offset: bool,
    has_default: bool,
) -> Result<Datum<'a>> {
    let current = partition.current();
    let offset = if has_offset {
        match partition.argument(cx, current, 1)? {
            Datum::Null => return Ok(Datum::Null),
            offset => offset.as_int(),
        }
    } else {
        1
    };
    let place = (current as i64).checked_add(offset.saturating_mul(direction));
    match place.and_then(|p| usize::try_from(p).ok()).filter(|p| *p < partition.len()) {
        Some(row) => partition.argument(cx, row, 0),
        None if has_default => partition.argument(cx, current, 2),
        None => Ok(Datum::Null),
    }
}

fn ntile<'a>(cx: &EvalContext<'a>, partition: &dyn Partition) -> Result<Datum<'a>> {
    let buckets = match partition.argument(cx, 0, 0)? {
        Datum::Null => return Ok(Datum::Null),
        buckets => buckets.as_int(),
    };
    if buckets <= 0 {
        let message = "argument of ntile must be greater than zero";
        return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_NTILE, message));
    }
    // The first `extra` buckets have one row more.
    let (rows, row) = (partition.len() as i64, partition.current() as i64);
    let (size, extra) = (rows / buckets, rows % buckets);
    let large = extra * (size + 1);
    let bucket = if row < large { row / (size + 1) } else { extra + (row - large) / size.max(1) };
    Ok(Datum::Int(bucket + 1))
}

fn nth_value<'a>(cx: &EvalContext<'a>, partition: &dyn Partition) -> Result<Datum<'a>> {
    let n = match partition.argument(cx, partition.current(), 1)? {
        Datum::Null => return Ok(Datum::Null),
        n => n.as_int(),
    };
    if n <= 0 {
        let message = "argument of nth_value must be greater than zero";
        return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_NTH_VALUE, message));
    }
    match partition.frame()?.get((n - 1) as usize) {
        Some(row) => partition.argument(cx, *row, 0),
        None => Ok(Datum::Null),
    }
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("window_row_number", window(|_, _, p| Ok(Datum::Int(p.current() as i64 + 1)))),
    ("window_rank", window(|_, _, p| Ok(Datum::Int(p.peers().0 as i64 + 1)))),
    ("window_dense_rank", window(|_, _, p| Ok(Datum::Int(p.group() as i64)))),
    (
        "window_percent_rank",
        window(|_, _, p| {
            let others = p.len().saturating_sub(1);
            Ok(Datum::Float(if others == 0 { 0.0 } else { p.peers().0 as f64 / others as f64 }))
        }),
    ),
    ("window_cume_dist", window(|_, _, p| Ok(Datum::Float(p.peers().1 as f64 / p.len() as f64)))),
    ("window_ntile", window(|cx, _, p| ntile(cx, p))),
    ("window_lag", window(|cx, _, p| away(cx, p, -1, false, false))),
    ("window_lag_with_offset", window(|cx, _, p| away(cx, p, -1, true, false))),
    ("window_lag_with_offset_and_default", window(|cx, _, p| away(cx, p, -1, true, true))),
    ("window_lead", window(|cx, _, p| away(cx, p, 1, false, false))),
    ("window_lead_with_offset", window(|cx, _, p| away(cx, p, 1, true, false))),
    ("window_lead_with_offset_and_default", window(|cx, _, p| away(cx, p, 1, true, true))),
    (
        "window_first_value",
        window(|cx, _, p| match p.frame()?.first() {
            Some(row) => p.argument(cx, *row, 0),
            None => Ok(Datum::Null),
        }),
    ),
    (
        "window_last_value",
        window(|cx, _, p| match p.frame()?.last() {
            Some(row) => p.argument(cx, *row, 0),
            None => Ok(Datum::Null),
        }),
    ),
    ("window_nth_value", window(|cx, _, p| nth_value(cx, p))),
];
