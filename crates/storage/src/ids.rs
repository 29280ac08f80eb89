//! The store's small identifiers.

/// A relation of the store: a table's rows, an index, or one of the store's own. Never used again once dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationId(pub u32);

impl RelationId {
    /// The catalog's objects, one row each.
    pub const CATALOG: RelationId = RelationId(1);
    /// States of sequences, kept by the store itself.
    pub const SEQUENCES: RelationId = RelationId(2);
    /// The store's own notes: checkpoint, row counts.
    pub const META: RelationId = RelationId(3);
    /// The first id for relations that users make.
    pub const FIRST_USER: RelationId = RelationId(16_384);
}

/// A sequence. Shares its number space with [`RelationId`], so that dropping the one drops the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(pub u32);

/// The place of a commit in the one order of all commits. Zero is before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitTimestamp(pub u64);

/// Names a savepoint within its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SavepointId(pub u64);

/// Which committed work a transaction sees (SQL's isolation levels; READ UNCOMMITTED is READ COMMITTED as in PostgreSQL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Each statement sees what was committed before it began.
    #[default]
    ReadCommitted,
    /// All statements see what was committed before the first one began; a row changed since cannot be written.
    RepeatableRead,
    /// As REPEATABLE READ, and no commit that some order of the serializable transactions, one after the other, could not
    /// explain: the transaction that would make it so fails with [`crate::StoreError::ReadWriteDependency`].
    Serializable,
}

/// What an acknowledged commit has been through, `synchronous_commit` on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Synced to the device.
    #[default]
    Synced,
    /// Handed to the operating system; synced within about 200 ms. A crash of the machine may lose it, never corrupt it.
    Relaxed,
}
