//! Object identifiers, PostgreSQL's `Oid`.

use serde::{Deserialize, Serialize};

/// The number of a catalog object. Zero is PostgreSQL's `InvalidOid`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Oid(pub u32);

impl Oid {
    /// No object.
    pub const INVALID: Oid = Oid(0);
    /// The first OID given to an object that a user makes (`FirstNormalObjectId`).
    pub const FIRST_NORMAL: Oid = Oid(16384);
    /// The schema `pg_catalog`.
    pub const PG_CATALOG: Oid = Oid(11);
    /// The schema `public`.
    pub const PUBLIC: Oid = Oid(2200);
    /// The schema `information_schema`, as initdb numbers it.
    pub const INFORMATION_SCHEMA: Oid = Oid(13183);
    /// The bootstrap superuser `postgres`.
    pub const POSTGRES_ROLE: Oid = Oid(10);
    /// The collation `default`.
    pub const DEFAULT_COLLATION: Oid = Oid(100);
    /// The collation `C`.
    pub const C_COLLATION: Oid = Oid(950);

    /// Whether this is an object at all.
    pub fn is_valid(self) -> bool {
        self.0 != 0
    }
}

impl std::fmt::Display for Oid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
