//! Recently committed versions in memory, between the log and the base.
//!
//! Small commits go into one ordered map per relation, from key to versions. The map stands behind a reader-writer lock
//! that is held for one lookup, one batch of a scan, or one commit's entries, never across a call of ours to elsewhere. A
//! large commit is not copied: its run joins the delta as a layer of its own. There is one writer at a time (the commit
//! leader); readers pick the newest version at or below their timestamp, from whichever layer has it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::ids::RelationId;

/// A committed value; none is a deletion.
pub(crate) type Value = Option<Arc<[u8]>>;

/// Keys up to this length stand inside the map's nodes.
const INLINE: usize = 16;
/// What a version is taken to cost beyond its bytes, for deciding when to checkpoint.
const VERSION_OVERHEAD_BYTES: usize = 96;

/// A key, its first 16 bytes in place, so that most comparisons touch no other memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeltaKey {
    head: [u8; INLINE],
    len: u32,
    /// The whole key, when it is longer than the head.
    long: Option<Arc<[u8]>>,
}

impl DeltaKey {
    pub(crate) fn new(key: &[u8]) -> DeltaKey {
        let mut head = [0; INLINE];
        let inline = key.len().min(INLINE);
        head[..inline].copy_from_slice(&key[..inline]);
        let long = (key.len() > INLINE).then(|| Arc::from(key));
        DeltaKey { head, len: key.len() as u32, long }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.long {
            Some(long) => long,
            None => &self.head[..self.len as usize],
        }
    }
}

impl Ord for DeltaKey {
    fn cmp(&self, other: &DeltaKey) -> std::cmp::Ordering {
        let heads = u128::from_be_bytes(self.head).cmp(&u128::from_be_bytes(other.head));
        heads.then_with(|| match (&self.long, &other.long) {
            (Some(a), Some(b)) => a[INLINE..].cmp(&b[INLINE..]),
            // Equal heads, and at least one key ends within its head, which is padded with zeros: the shorter is a prefix
            // of the other.
            _ => self.len.cmp(&other.len),
        })
    }
}

impl PartialOrd for DeltaKey {
    fn partial_cmp(&self, other: &DeltaKey) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// All versions of one key, the newest apart.
#[derive(Debug)]
struct Versions {
    timestamp: u64,
    value: Value,
    /// Oldest first.
    older: Vec<(u64, Value)>,
}

impl Versions {
    fn visible(&self, timestamp: u64) -> Option<(u64, &Value)> {
        if self.timestamp <= timestamp {
            return Some((self.timestamp, &self.value));
        }
        let at = self.older.partition_point(|(version, _)| *version <= timestamp);
        self.older.get(at.checked_sub(1)?).map(|(version, value)| (*version, value))
    }
}

/// One visible entry, as a scan takes it out of the map.
#[derive(Debug, Clone)]
pub(crate) struct DeltaEntry {
    pub(crate) key: DeltaKey,
    pub(crate) timestamp: u64,
    pub(crate) value: Value,
}

/// One relation's recent versions.
#[derive(Debug, Default)]
pub(crate) struct RelationDelta {
    map: RwLock<BTreeMap<DeltaKey, Versions>>,
}

impl RelationDelta {
    /// The newest version of `key` at or below `timestamp`.
    pub(crate) fn get(&self, key: &[u8], timestamp: u64) -> Option<(u64, Value)> {
        let key = DeltaKey::new(key);
        let map = self.map.read();
        let (version, value) = map.get(&key)?.visible(timestamp)?;
        Some((version, value.clone()))
    }

    /// Appends to `out` up to `limit` entries visible at `timestamp`, in key order (or the reverse when `backward`).
    /// Fewer than `limit` means that there are no more.
    pub(crate) fn collect(
        &self,
        range: (Bound<&DeltaKey>, Bound<&DeltaKey>),
        backward: bool,
        timestamp: u64,
        limit: usize,
        out: &mut Vec<DeltaEntry>,
    ) {
        if is_void(range) {
            return;
        }
        let map = self.map.read();
        let entries = map.range::<DeltaKey, _>(range);
        let visible = |(key, versions): (&DeltaKey, &Versions)| {
            let (timestamp, value) = versions.visible(timestamp)?;
            Some(DeltaEntry { key: key.clone(), timestamp, value: value.clone() })
        };
        match backward {
            false => out.extend(entries.filter_map(visible).take(limit)),
            true => out.extend(entries.rev().filter_map(visible).take(limit)),
        }
    }

    fn insert(&self, writes: &crate::run::RelationRun, timestamp: u64) {
        let mut map = self.map.write();
        for at in 0..writes.len() {
            let value: Value = writes.value(at).map(Arc::from);
            match map.entry(DeltaKey::new(writes.key(at))) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(Versions { timestamp, value, older: Vec::new() });
                }
                std::collections::btree_map::Entry::Occupied(place) => {
                    let versions = place.into_mut();
                    let value = std::mem::replace(&mut versions.value, value);
                    versions.older.push((versions.timestamp, value));
                    versions.timestamp = timestamp;
                }
            }
        }
    }
}

/// `BTreeMap::range` panics on a range that ends before it starts; a scan of one is merely empty.
fn is_void(range: (Bound<&DeltaKey>, Bound<&DeltaKey>)) -> bool {
    match range {
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
            start >= end
        }
        _ => false,
    }
}

/// The ordered maps of all relations written since the last checkpoint began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    relations: Arc<FxHashMap<RelationId, Arc<RelationDelta>>>,
}

impl Delta {
    pub(crate) fn relation(&self, relation: RelationId) -> Option<&Arc<RelationDelta>> {
        if self.relations.is_empty() {
            return None;
        }
        self.relations.get(&relation)
    }

    pub(crate) fn relations(&self) -> impl Iterator<Item = (RelationId, &Arc<RelationDelta>)> {
        self.relations.iter().map(|(id, delta)| (*id, delta))
    }

    /// Adds a commit's writes. Readers with an older timestamp do not see them. Only the commit leader calls this; the
    /// result must be published before `timestamp` is, since a relation written for the first time is only in the result.
    /// Returns roughly what the versions take in memory.
    pub(crate) fn insert(&mut self, run: &crate::run::Run, timestamp: u64) -> usize {
        for (relation, writes) in &run.relations {
            if !self.relations.contains_key(relation) {
                Arc::make_mut(&mut self.relations).insert(*relation, Arc::default());
            }
            if let Some(delta) = self.relations.get(relation) {
                delta.insert(writes, timestamp);
            }
        }
        run.bytes() + run.entries() * VERSION_OVERHEAD_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn delta_keys_sort_as_their_bytes(
            a in prop::collection::vec(0u8..2, 0..20), b in prop::collection::vec(0u8..2, 0..20)
        ) {
            let (x, y) = (DeltaKey::new(&a), DeltaKey::new(&b));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.bytes(), &a[..]);
        }
    }
}
