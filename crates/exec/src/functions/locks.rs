//! Advisory locks. Compare `lockfuncs.c`.

use super::{Entry, Implementation, VOID, scalar};
use catalog::Datum;

type Key = (i64, Option<i32>);

/// The key of one bigint, or of two integers.
fn key(a: &[Datum<'_>]) -> Key {
    match a {
        [class, object, ..] => (class.as_int(), Some(object.as_int() as i32)),
        [one] => (one.as_int(), None),
        [] => (0, None),
    }
}

macro_rules! lock {
    ($shared:literal, $session:literal) => {
        scalar(|cx, _, a| cx.env.advisory_lock(key(a), $shared, $session, true).map(|_| VOID))
    };
}

macro_rules! try_lock {
    ($shared:literal, $session:literal) => {
        scalar(|cx, _, a| cx.env.advisory_lock(key(a), $shared, $session, false).map(Datum::Bool))
    };
}

macro_rules! unlock {
    ($shared:literal) => {
        scalar(|cx, _, a| cx.env.advisory_unlock(key(a), $shared).map(Datum::Bool))
    };
}

const LOCK: Implementation = lock!(false, true);
const LOCK_SHARED: Implementation = lock!(true, true);
const XACT_LOCK: Implementation = lock!(false, false);
const XACT_LOCK_SHARED: Implementation = lock!(true, false);
const TRY_LOCK: Implementation = try_lock!(false, true);
const TRY_LOCK_SHARED: Implementation = try_lock!(true, true);
const TRY_XACT_LOCK: Implementation = try_lock!(false, false);
const TRY_XACT_LOCK_SHARED: Implementation = try_lock!(true, false);

pub(super) const FUNCTIONS: &[Entry] = &[
    ("pg_advisory_lock_int8", LOCK),
    ("pg_advisory_lock_int4", LOCK),
    ("pg_advisory_lock_shared_int8", LOCK_SHARED),
    ("pg_advisory_lock_shared_int4", LOCK_SHARED),
    ("pg_advisory_xact_lock_int8", XACT_LOCK),
    ("pg_advisory_xact_lock_int4", XACT_LOCK),
    ("pg_advisory_xact_lock_shared_int8", XACT_LOCK_SHARED),
    ("pg_advisory_xact_lock_shared_int4", XACT_LOCK_SHARED),
    ("pg_try_advisory_lock_int8", TRY_LOCK),
    ("pg_try_advisory_lock_int4", TRY_LOCK),
    ("pg_try_advisory_lock_shared_int8", TRY_LOCK_SHARED),
    ("pg_try_advisory_lock_shared_int4", TRY_LOCK_SHARED),
    ("pg_try_advisory_xact_lock_int8", TRY_XACT_LOCK),
    ("pg_try_advisory_xact_lock_int4", TRY_XACT_LOCK),
    ("pg_try_advisory_xact_lock_shared_int8", TRY_XACT_LOCK_SHARED),
    ("pg_try_advisory_xact_lock_shared_int4", TRY_XACT_LOCK_SHARED),
    ("pg_advisory_unlock_int8", unlock!(false)),
    ("pg_advisory_unlock_int4", unlock!(false)),
    ("pg_advisory_unlock_shared_int8", unlock!(true)),
    ("pg_advisory_unlock_shared_int4", unlock!(true)),
    ("pg_advisory_unlock_all", scalar(|cx, _, _| cx.env.advisory_unlock_all().map(|()| VOID))),
];
