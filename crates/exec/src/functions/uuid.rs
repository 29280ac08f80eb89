//! uuid. Compare `uuid.c`. Comparisons are in `compare`.

use super::{Entry, scalar};
use catalog::Datum;

pub(super) const FUNCTIONS: &[Entry] = &[(
    "gen_random_uuid",
    scalar(|cx, _, _| Ok(Datum::Bytes(cx.arena.bytes(uuid::Uuid::new_v4().as_bytes())))),
)];
