//! Sorted runs: the shape in which written rows travel from a statement to the log and the delta.
//!
//! A [`Run`] holds, for each relation, entries sorted by key, at most one per key. Key and value bytes lie side by side in
//! large chunks, so that an entry costs 16 bytes beyond its data and a bulk load allocates once per megabyte. A statement
//! writes into a [`RunBuilder`]; a transaction merges finished runs; a large commit hands its run to the delta as it is.

use std::hash::Hasher;
use std::ops::{Bound, Range};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::ids::RelationId;

/// A value's length that says: this key is deleted.
const DELETED: u32 = u32::MAX;
/// Chunks grow from this size ...
const CHUNK_BYTES_MIN: usize = 256;
/// ... to this one, doubling.
const CHUNK_BYTES_MAX: usize = 1 << 20;
/// Below this many bytes a merge copies the newer run's bytes instead of taking over its chunks.
const ADOPT_BYTES_MIN: usize = 64 << 10;
/// Up to this many unsorted entries are searched one by one instead of through a hash index.
const LINEAR_MAX: usize = 12;

/// Where one key and its value lie.
#[derive(Debug, Clone, Copy)]
struct Entry {
    chunk: u32,
    offset: u32,
    key_len: u32,
    value_len: u32,
}

/// The entries of one relation. Sorted by key, except within a builder.
#[derive(Debug, Clone, Default)]
pub(crate) struct RelationRun {
    chunks: Vec<Vec<u8>>,
    entries: Vec<Entry>,
    /// How many rows more the relation has after these writes.
    pub(crate) net_rows: i64,
    /// Bytes of keys and values.
    pub(crate) bytes: usize,
}

impl RelationRun {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The key at `index`, which must be below [`RelationRun::len`].
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        self.key_of(&self.entries[index])
    }

    /// The value at `index`; none says that the key is deleted.
    pub(crate) fn value(&self, index: usize) -> Option<&[u8]> {
        self.value_of(&self.entries[index])
    }

    /// Lengths of the key and the value at `index`.
    pub(crate) fn lengths(&self, index: usize) -> (usize, Option<usize>) {
        let entry = &self.entries[index];
        (entry.key_len as usize, (entry.value_len != DELETED).then_some(entry.value_len as usize))
    }

    /// The key and the value at `index`, which lie one behind the other.
    pub(crate) fn key_and_value(&self, index: usize) -> &[u8] {
        let entry = &self.entries[index];
        let (key_len, value_len) = self.lengths(index);
        let start = entry.offset as usize;
        &self.chunks[entry.chunk as usize][start..start + key_len + value_len.unwrap_or(0)]
    }

    fn key_of(&self, entry: &Entry) -> &[u8] {
        let start = entry.offset as usize;
        &self.chunks[entry.chunk as usize][start..start + entry.key_len as usize]
    }

    fn value_of(&self, entry: &Entry) -> Option<&[u8]> {
        if entry.value_len == DELETED {
            return None;
        }
        let start = entry.offset as usize + entry.key_len as usize;
        Some(&self.chunks[entry.chunk as usize][start..start + entry.value_len as usize])
    }

    /// The index of the first entry whose key is not below `key`.
    fn lower_bound(&self, key: &[u8]) -> usize {
        self.entries.partition_point(|entry| self.key_of(entry) < key)
    }

    /// The index of the first entry whose key is above `key`.
    fn upper_bound(&self, key: &[u8]) -> usize {
        self.entries.partition_point(|entry| self.key_of(entry) <= key)
    }

    /// Where the entries between two keys are.
    pub(crate) fn positions(&self, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Range<usize> {
        let from = match start {
            Bound::Included(key) => self.lower_bound(key),
            Bound::Excluded(key) => self.upper_bound(key),
            Bound::Unbounded => 0,
        };
        let to = match end {
            Bound::Included(key) => self.upper_bound(key),
            Bound::Excluded(key) => self.lower_bound(key),
            Bound::Unbounded => self.len(),
        };
        from..to
    }

    /// What these writes say of `key`: nothing, its value, or that it is deleted.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let index = self.lower_bound(key);
        let entry = self.entries.get(index)?;
        (self.key_of(entry) == key).then(|| self.value_of(entry))
    }

    /// Copies key and value into the chunks, and returns where they lie.
    fn store(&mut self, key: &[u8], value: Option<&[u8]>) -> Entry {
        let need = key.len() + value.map_or(0, <[u8]>::len);
        let fits = self.chunks.last().is_some_and(|chunk| chunk.capacity() - chunk.len() >= need);
        if !fits {
            let last = self.chunks.last().map_or(CHUNK_BYTES_MIN / 2, Vec::capacity);
            let size = (last * 2).clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX).max(need);
            self.chunks.push(Vec::with_capacity(size));
        }
        let chunk = self.chunks.len() - 1;
        let bytes = &mut self.chunks[chunk];
        let offset = bytes.len() as u32;
        bytes.extend_from_slice(key);
        if let Some(value) = value {
            bytes.extend_from_slice(value);
        }
        self.bytes += need;
        Entry {
            chunk: chunk as u32,
            offset,
            key_len: key.len() as u32,
            value_len: value.map_or(DELETED, |value| value.len() as u32),
        }
    }

    /// Appends an entry whose key is above all others.
    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        debug_assert!(self.entries.last().is_none_or(|last| self.key_of(last) < key), "a run is sorted");
        let entry = self.store(key, value);
        self.entries.push(entry);
    }

    /// Both runs' entries in one; where both have a key, `newer` wins.
    fn merge(mut self, newer: RelationRun) -> RelationRun {
        let newer_entries: Vec<Entry> = if newer.bytes < ADOPT_BYTES_MIN {
            newer.entries.iter().map(|entry| self.store(newer.key_of(entry), newer.value_of(entry))).collect()
        } else {
            let shift = self.chunks.len() as u32;
            self.chunks.extend(newer.chunks);
            self.bytes += newer.bytes;
            newer.entries.iter().map(|entry| Entry { chunk: entry.chunk + shift, ..*entry }).collect()
        };
        self.net_rows += newer.net_rows;
        let older_entries = std::mem::take(&mut self.entries);
        self.entries = self.merge_entries(older_entries, newer_entries);
        self
    }

    fn merge_entries(&self, mut older: Vec<Entry>, newer: Vec<Entry>) -> Vec<Entry> {
        let appends = match (older.last(), newer.first()) {
            (Some(last), Some(first)) => self.key_of(last) < self.key_of(first),
            _ => true,
        };
        if appends {
            older.extend(newer);
            return older;
        }
        let mut merged = Vec::with_capacity(older.len() + newer.len());
        let (mut left, mut right) = (older.into_iter().peekable(), newer.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match self.key_of(a).cmp(self.key_of(b)) {
                std::cmp::Ordering::Less => merged.extend(left.next()),
                std::cmp::Ordering::Greater => merged.extend(right.next()),
                std::cmp::Ordering::Equal => {
                    left.next();
                    merged.extend(right.next());
                }
            }
        }
        merged.extend(left);
        merged.extend(right);
        merged
    }
}

/// Sorted writes to any number of relations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    /// Sorted by relation.
    pub(crate) relations: Vec<(RelationId, RelationRun)>,
    /// Relations that cease to exist.
    pub(crate) drops: Vec<RelationId>,
}

impl Run {
    pub(crate) fn relation(&self, relation: RelationId) -> Option<&RelationRun> {
        let index = self.relations.binary_search_by_key(&relation, |(id, _)| *id).ok()?;
        self.relations.get(index).map(|(_, run)| run)
    }

    /// Number of entries over all relations.
    pub(crate) fn entries(&self) -> usize {
        self.relations.iter().map(|(_, run)| run.len()).sum()
    }

    /// Bytes of keys and values over all relations.
    pub(crate) fn bytes(&self) -> usize {
        self.relations.iter().map(|(_, run)| run.bytes).sum()
    }

    /// Roughly what the run takes in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes() + self.entries() * size_of::<Entry>()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.drops.is_empty()
    }

    /// Both runs in one; where both write a key, `newer` wins.
    pub(crate) fn merge(self, newer: Run) -> Run {
        let mut relations = Vec::with_capacity(self.relations.len().max(newer.relations.len()));
        let (mut left, mut right) =
            (self.relations.into_iter().peekable(), newer.relations.into_iter().peekable());
        while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => relations.extend(left.next()),
                std::cmp::Ordering::Greater => relations.extend(right.next()),
                std::cmp::Ordering::Equal => {
                    if let (Some((id, older)), Some((_, newer))) = (left.next(), right.next()) {
                        relations.push((id, older.merge(newer)));
                    }
                }
            }
        }
        relations.extend(left);
        relations.extend(right);
        let mut drops = self.drops;
        drops.extend(newer.drops);
        Run { relations, drops }
    }
}

/// A run in the making: one statement's writes, in any order. The last write of a key wins.
#[derive(Debug, Default)]
pub(crate) struct RunBuilder {
    relations: Vec<(RelationId, RelationBuilder)>,
    drops: Vec<RelationId>,
    /// Where the last write went: the next one is most likely for the same relation.
    last: usize,
}

#[derive(Debug, Default)]
struct RelationBuilder {
    run: RelationRun,
    unsorted: bool,
    /// Entries by hash of their keys; filled once keys come out of order and are too many to search one by one.
    index: HashTable<u32>,
}

impl RunBuilder {
    pub(crate) fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.drops.is_empty()
    }

    /// Notes a write; `net_rows` is +1 for a new row, -1 for a deleted one, 0 for a changed one.
    pub(crate) fn write(&mut self, relation: RelationId, key: &[u8], value: Option<&[u8]>, net_rows: i64) {
        let builder = self.relation_mut(relation);
        builder.run.net_rows += net_rows;
        builder.write(key, value);
    }

    pub(crate) fn drop_relation(&mut self, relation: RelationId) {
        self.drops.push(relation);
    }

    /// What this statement has written of `key` so far.
    pub(crate) fn get(&self, relation: RelationId, key: &[u8]) -> Option<Option<&[u8]>> {
        let (_, builder) = self.relations.iter().find(|(id, _)| *id == relation)?;
        let entry = builder.find(key)?;
        Some(builder.run.value_of(&builder.run.entries[entry]))
    }

    /// Sorts what is not yet sorted.
    pub(crate) fn finish(self) -> Run {
        let mut relations: Vec<(RelationId, RelationRun)> =
            self.relations.into_iter().map(|(id, builder)| (id, builder.finish())).collect();
        relations.sort_unstable_by_key(|(id, _)| *id);
        Run { relations, drops: self.drops }
    }

    fn relation_mut(&mut self, relation: RelationId) -> &mut RelationBuilder {
        let known = match self.relations.get(self.last) {
            Some((id, _)) if *id == relation => Some(self.last),
            _ => self.relations.iter().position(|(id, _)| *id == relation),
        };
        self.last = known.unwrap_or_else(|| {
            self.relations.push((relation, RelationBuilder::default()));
            self.relations.len() - 1
        });
        &mut self.relations[self.last].1
    }
}

impl RelationBuilder {
    fn write(&mut self, key: &[u8], value: Option<&[u8]>) {
        let appends = self.run.entries.last().is_none_or(|last| self.run.key_of(last) < key);
        if !self.unsorted && appends {
            let entry = self.run.store(key, value);
            self.run.entries.push(entry);
            return;
        }
        if let Some(known) = self.find(key) {
            let entry = self.run.store(key, value);
            self.run.entries[known] = entry;
            return;
        }
        self.unsorted = true;
        let entry = self.run.store(key, value);
        self.run.entries.push(entry);
        self.add_to_index();
    }

    /// Brings the hash index up to the newest entry, if there are enough to be worth one.
    fn add_to_index(&mut self) {
        let run = &self.run;
        if run.entries.len() <= LINEAR_MAX {
            return;
        }
        for at in self.index.len()..run.entries.len() {
            let hash = hash(run.key_of(&run.entries[at]));
            self.index.insert_unique(hash, at as u32, |other| hash_of(run, *other));
        }
    }

    fn find(&self, key: &[u8]) -> Option<usize> {
        let run = &self.run;
        if !self.unsorted {
            let at = run.lower_bound(key);
            return run.entries.get(at).filter(|entry| run.key_of(entry) == key).map(|_| at);
        }
        if self.index.is_empty() {
            return run.entries.iter().position(|entry| run.key_of(entry) == key);
        }
        let found = self.index.find(hash(key), |at| run.key_of(&run.entries[*at as usize]) == key);
        found.map(|at| *at as usize)
    }

    fn finish(self) -> RelationRun {
        let mut run = self.run;
        if self.unsorted {
            let mut entries = std::mem::take(&mut run.entries);
            entries.sort_unstable_by(|a, b| run.key_of(a).cmp(run.key_of(b)));
            run.entries = entries;
        }
        run
    }
}

fn hash_of(run: &RelationRun, at: u32) -> u64 {
    hash(run.key_of(&run.entries[at as usize]))
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn collect(run: &Run) -> BTreeMap<(u32, Vec<u8>), Option<Vec<u8>>> {
        let mut all = BTreeMap::new();
        for (id, relation) in &run.relations {
            for at in 0..relation.len() {
                assert!(at == 0 || relation.key(at - 1) < relation.key(at), "sorted");
                all.insert((id.0, relation.key(at).to_vec()), relation.value(at).map(<[u8]>::to_vec));
            }
        }
        all
    }

    type Write = (u32, Vec<u8>, Option<Vec<u8>>);

    fn writes() -> impl Strategy<Value = Vec<Write>> {
        let key = prop::collection::vec(0u8..3, 0..4);
        prop::collection::vec(
            (0u32..3, key, prop::option::of(prop::collection::vec(any::<u8>(), 0..5))),
            0..60,
        )
    }

    proptest! {
        #[test]
        fn a_merge_of_two_statements_is_the_last_write_of_each_key(first in writes(), second in writes()) {
            let mut model = BTreeMap::new();
            let mut runs = Vec::new();
            for statement in [first, second] {
                let mut builder = RunBuilder::default();
                let mut own = BTreeMap::new();
                for (relation, key, value) in statement {
                    builder.write(RelationId(relation), &key, value.as_deref(), 0);
                    own.insert((relation, key), value);
                }
                for ((relation, key), value) in &own {
                    prop_assert_eq!(builder.get(RelationId(*relation), key), Some(value.as_deref()));
                }
                prop_assert_eq!(builder.get(RelationId(0), b"absent"), None);
                let run = builder.finish();
                prop_assert_eq!(&collect(&run), &own);
                model.extend(own);
                runs.push(run);
            }
            let newer = runs.pop().unwrap();
            let merged = runs.pop().unwrap().merge(newer);
            prop_assert_eq!(&collect(&merged), &model);
            for ((relation, key), value) in &model {
                let found = merged.relation(RelationId(*relation)).and_then(|run| run.get(key));
                prop_assert_eq!(found, Some(value.as_deref()));
            }
        }
    }
}
