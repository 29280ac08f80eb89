//! Sequences by regclass. Compare `commands/sequence.c`.

use super::{Entry, scalar};
use catalog::{Datum, Oid};

fn sequence(d: Datum<'_>) -> Oid {
    Oid(d.as_int() as u32)
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("nextval_oid", scalar(|cx, _, a| cx.env.nextval(sequence(a[0])).map(Datum::Int))),
    ("currval_oid", scalar(|cx, _, a| cx.env.currval(sequence(a[0])).map(Datum::Int))),
    ("lastval", scalar(|cx, _, _| cx.env.lastval().map(Datum::Int))),
    ("setval_oid", scalar(|cx, _, a| cx.env.setval(sequence(a[0]), a[1].as_int(), true).map(Datum::Int))),
    (
        "setval3_oid",
        scalar(|cx, _, a| cx.env.setval(sequence(a[0]), a[1].as_int(), a[2].as_bool()).map(Datum::Int)),
    ),
    (
        "pg_sequence_last_value",
        scalar(|cx, _, a| {
            let (value, called) = cx.env.sequence_state(sequence(a[0]))?;
            Ok(if called { Datum::Int(value) } else { Datum::Null })
        }),
    ),
];
