//! boolean. Compare `bool.c`. Comparisons are in `compare`.

use super::{Entry, scalar};
use catalog::Datum;

pub(super) const FUNCTIONS: &[Entry] = &[
    ("booland_statefunc", scalar(|_, _, args| Ok(Datum::Bool(args[0].as_bool() && args[1].as_bool())))),
    ("boolor_statefunc", scalar(|_, _, args| Ok(Datum::Bool(args[0].as_bool() || args[1].as_bool())))),
    ("bool_int4", scalar(|_, _, args| Ok(Datum::Int(args[0].as_bool().into())))),
    ("int4_bool", scalar(|_, _, args| Ok(Datum::Bool(args[0].as_int() != 0)))),
    ("booltext", scalar(|_, _, args| Ok(Datum::Bytes(if args[0].as_bool() { b"true" } else { b"false" })))),
];
