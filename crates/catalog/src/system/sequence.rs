//! pg_sequence.

use super::{Emitter, SystemContext, SystemRelation};
use crate::{Relation, Result};

/// pg_sequence
pub fn pg_sequence(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for found in cx.objects.relations.values() {
        let Relation::Sequence(s) = found else { continue };
        out.row(relation, |r| {
            r.oid(s.oid)
                .oid(s.typ)
                .int(s.start)
                .int(s.increment)
                .int(s.max)
                .int(s.min)
                .int(s.cache)
                .bool(s.cycle);
            Ok(())
        })?;
    }
    Ok(())
}
