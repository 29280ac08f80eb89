//! Running estimates per relation, for planning.

use rustc_hash::FxHashMap;

use parking_lot::RwLock;

use crate::ids::RelationId;
use crate::run::Run;

/// What the store estimates of a relation. Rows are counted as commits declare them; bytes follow from the average size of
/// what was written.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RelationStatistics {
    /// Committed rows.
    pub rows: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
    /// Entries ever written or deleted: how far it is from an earlier state.
    pub writes: u64,
}

/// The counters behind the estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    pub(crate) rows: i64,
    /// Entries ever written with a value, and their bytes: together, the average size.
    pub(crate) written: u64,
    pub(crate) written_bytes: u64,
}

/// Counters of all relations.
#[derive(Default)]
pub(crate) struct Statistics {
    relations: RwLock<FxHashMap<RelationId, Counters>>,
}

impl Statistics {
    pub(crate) fn of(&self, relation: RelationId) -> RelationStatistics {
        let counters = self.relations.read().get(&relation).copied().unwrap_or_default();
        let rows = counters.rows.max(0).cast_unsigned();
        let bytes =
            u128::from(counters.written_bytes) * u128::from(rows) / u128::from(counters.written.max(1));
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        RelationStatistics { rows, bytes, writes: counters.written }
    }

    /// Counts a commit.
    pub(crate) fn add(&self, run: &Run) {
        let mut relations = self.relations.write();
        for (relation, writes) in &run.relations {
            let counters = relations.entry(*relation).or_default();
            counters.rows += writes.net_rows;
            counters.written += writes.len() as u64;
            counters.written_bytes += writes.bytes as u64;
        }
        for relation in &run.drops {
            relations.remove(relation);
        }
    }

    pub(crate) fn restore(&self, relation: RelationId, counters: Counters) {
        self.relations.write().insert(relation, counters);
    }

    /// All counters, for the checkpoint.
    pub(crate) fn all(&self) -> Vec<(RelationId, Counters)> {
        self.relations.read().iter().map(|(relation, counters)| (*relation, *counters)).collect()
    }
}
