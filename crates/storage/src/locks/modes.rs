//! Lock modes, and which of them exclude each other (PostgreSQL's `lock.c` and `heapam.c`).

use crate::ids::RelationId;

/// A row's or key's lock, weakest first: `FOR KEY SHARE`, `FOR SHARE`, `FOR NO KEY UPDATE`, `FOR UPDATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LockMode {
    /// The key stays: what a foreign key check takes on the row it refers to.
    KeyShare = 0,
    /// The row stays.
    Share = 1,
    /// The row is about to change, except for its key.
    NoKeyUpdate = 2,
    /// The row is about to change or to go. Also what an inserter takes on a unique key.
    Update = 3,
}

/// A relation's lock, PostgreSQL's eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TableLockMode {
    /// SELECT.
    AccessShare = 0,
    /// SELECT FOR UPDATE and the like.
    RowShare = 1,
    /// INSERT, UPDATE, DELETE.
    RowExclusive = 2,
    /// VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY.
    ShareUpdateExclusive = 3,
    /// CREATE INDEX.
    Share = 4,
    /// CREATE TRIGGER and some forms of ALTER TABLE.
    ShareRowExclusive = 5,
    /// REFRESH MATERIALIZED VIEW CONCURRENTLY.
    Exclusive = 6,
    /// DROP TABLE, TRUNCATE, most forms of ALTER TABLE.
    AccessExclusive = 7,
}

impl TableLockMode {
    /// The name that `pg_locks.mode` shows.
    pub fn name(self) -> &'static str {
        match self {
            TableLockMode::AccessShare => "AccessShareLock",
            TableLockMode::RowShare => "RowShareLock",
            TableLockMode::RowExclusive => "RowExclusiveLock",
            TableLockMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            TableLockMode::Share => "ShareLock",
            TableLockMode::ShareRowExclusive => "ShareRowExclusiveLock",
            TableLockMode::Exclusive => "ExclusiveLock",
            TableLockMode::AccessExclusive => "AccessExclusiveLock",
        }
    }

    /// Modes that never exclude each other, so that they need not meet in the shared table.
    pub(crate) fn is_weak(self) -> bool {
        self <= TableLockMode::RowExclusive
    }

    /// Modes that exclude some weak one.
    pub(crate) fn is_strong(self) -> bool {
        self > TableLockMode::ShareUpdateExclusive
    }
}

/// An advisory lock's key, in its two forms, which do not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AdvisoryKey {
    /// `pg_advisory_lock(bigint)`.
    One(i64),
    /// `pg_advisory_lock(integer, integer)`.
    Two(i32, i32),
}

/// A set of modes, one bit each.
pub(crate) type ModeSet = u8;

/// For each row mode the modes of others that exclude it.
const ROW_CONFLICTS: [ModeSet; 4] = [0b1000, 0b1100, 0b1110, 0b1111];

/// The same for relations.
const TABLE_CONFLICTS: [ModeSet; 8] = [
    0b1000_0000, // AccessShare
    0b1100_0000, // RowShare
    0b1111_0000, // RowExclusive
    0b1111_1000, // ShareUpdateExclusive
    0b1110_1100, // Share
    0b1111_1100, // ShareRowExclusive
    0b1111_1110, // Exclusive
    0b1111_1111, // AccessExclusive
];

/// Which kind of thing a tag names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum LockSpace {
    Row,
    Relation,
    AdvisoryOne,
    AdvisoryTwo,
}

/// What is locked. A row is named by a hash of its key: should two keys ever share one, one waits for the other without need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LockTag {
    pub(crate) space: LockSpace,
    pub(crate) relation: u32,
    pub(crate) key: u64,
}

impl LockTag {
    pub(crate) fn row(relation: RelationId, key: &[u8]) -> LockTag {
        LockTag { space: LockSpace::Row, relation: relation.0, key: hash_key(relation, key) }
    }

    pub(crate) fn relation(relation: RelationId) -> LockTag {
        LockTag { space: LockSpace::Relation, relation: relation.0, key: u64::from(relation.0) }
    }

    pub(crate) fn advisory(key: AdvisoryKey) -> LockTag {
        match key {
            AdvisoryKey::One(key) => {
                LockTag { space: LockSpace::AdvisoryOne, relation: 0, key: key.cast_unsigned() }
            }
            AdvisoryKey::Two(a, b) => {
                let key = u64::from(a.cast_unsigned()) << 32 | u64::from(b.cast_unsigned());
                LockTag { space: LockSpace::AdvisoryTwo, relation: 0, key }
            }
        }
    }

    /// The modes of other holders that exclude `mode` here.
    #[inline]
    pub(crate) fn conflicts(self, mode: u8) -> ModeSet {
        let table: &[ModeSet] = match self.space {
            LockSpace::Row => &ROW_CONFLICTS,
            LockSpace::Relation | LockSpace::AdvisoryOne | LockSpace::AdvisoryTwo => &TABLE_CONFLICTS,
        };
        table.get(usize::from(mode)).copied().unwrap_or(ModeSet::MAX)
    }
}

/// A 64-bit hash whose every bit depends on every byte (multiply and fold, as in wyhash).
fn hash_key(relation: RelationId, key: &[u8]) -> u64 {
    const K0: u64 = 0xa076_1d64_78bd_642f;
    const K1: u64 = 0xe703_7ed1_a0b4_28db;
    let mut state = fold(u64::from(relation.0) ^ K0, key.len() as u64 ^ K1);
    let mut words = key.chunks_exact(8);
    for word in words.by_ref() {
        let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        state = fold(state ^ word, K1);
    }
    let tail = words.remainder().iter().fold(1, |word, byte| word << 8 | u64::from(*byte));
    fold(fold(state ^ tail, K0), K1)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_symmetric() {
        let row = LockTag::row(RelationId(1), b"k");
        let table = LockTag::relation(RelationId(1));
        for (tag, modes) in [(row, 4), (table, 8)] {
            for a in 0..modes {
                for b in 0..modes {
                    assert_eq!(tag.conflicts(a) >> b & 1, tag.conflicts(b) >> a & 1, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn hashes_of_near_keys_differ() {
        let mut seen = std::collections::HashSet::new();
        for n in 0u64..20_000 {
            assert!(seen.insert(hash_key(RelationId(7), &n.to_be_bytes())));
            assert!(seen.insert(hash_key(RelationId(8), &n.to_be_bytes()[3..])));
        }
    }
}
