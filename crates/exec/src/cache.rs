//! The plan cache: prepared statements by text and whatever else decides their meaning. Shared by all sessions, bounded in entries and
//! bytes.
//!
//! An entry is found by one hash and one comparison of the text. It holds a [`Prepared`], which revalidates itself against the catalog
//! when it is executed; so nothing is removed here when the catalog changes, only when room is needed.

use crate::environment::{CacheTotals, CachedStatement};
use crate::session::Prepared;
use catalog::Oid;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What decides a statement's meaning, borrowed for a lookup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// The text, with literals lifted or as sent.
    pub text: &'a str,
    /// Kinds of the lifted literals; empty if none were lifted.
    pub kinds: &'a [u8],
    /// Declared parameter types.
    pub types: &'a [Oid],
    /// Database.
    pub database: Oid,
    /// Fingerprint of the role and of the settings that change meaning (search_path and the like).
    pub settings: u64,
}

struct Entry {
    text: Box<str>,
    kinds: Box<[u8]>,
    types: Box<[Oid]>,
    database: Oid,
    settings: u64,
    found: Found,
    used: bool,
    hits: u64,
}

/// What the cache knows of a statement.
#[derive(Clone)]
pub(crate) enum Found {
    /// Its plan.
    Prepared(Arc<Prepared>),
    /// That it does not bind with its literals lifted.
    NotLiftable,
}

impl Entry {
    fn is(&self, key: &Key<'_>) -> bool {
        *self.text == *key.text
            && *self.kinds == *key.kinds
            && *self.types == *key.types
            && self.database == key.database
            && self.settings == key.settings
    }

    /// Bytes, plans guessed at a multiple of their text.
    fn size(&self) -> usize {
        self.text.len() * 8 + self.kinds.len() + 1_024
    }
}

/// Most entries.
const ENTRIES_MAX: usize = 8_192;
/// Most bytes, as estimated.
const BYTES_MAX: usize = 64 << 20;
const SHARDS: usize = 16;

#[derive(Default)]
struct Shard {
    entries: FxHashMap<u64, Vec<Entry>>,
    count: usize,
    bytes: usize,
    hits: u64,
    misses: u64,
    evicted: u64,
}

/// The cache.
#[derive(Default)]
pub(crate) struct PlanCache {
    shards: [Mutex<Shard>; SHARDS],
}

fn hash(key: &Key<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    key.text.hash(&mut hasher);
    key.kinds.hash(&mut hasher);
    key.types.hash(&mut hasher);
    (key.database, key.settings).hash(&mut hasher);
    hasher.finish()
}

impl PlanCache {
    /// Looks a statement up.
    pub(crate) fn get(&self, key: &Key<'_>) -> Option<Found> {
        let hash = hash(key);
        let shard = &mut *self.shard(hash).lock();
        let found = shard.entries.get_mut(&hash).and_then(|list| list.iter_mut().find(|e| e.is(key)));
        match found {
            Some(entry) => {
                entry.used = true;
                entry.hits += 1;
                shard.hits += 1;
                Some(entry.found.clone())
            }
            None => {
                shard.misses += 1;
                None
            }
        }
    }

    /// Remembers a statement, replacing what was known of it.
    pub(crate) fn put(&self, key: &Key<'_>, found: Found) {
        let hash = hash(key);
        let entry = Entry {
            text: key.text.into(),
            kinds: key.kinds.into(),
            types: key.types.into(),
            database: key.database,
            settings: key.settings,
            found,
            used: true,
            hits: 0,
        };
        let size = entry.size();
        if size > BYTES_MAX / SHARDS / 4 {
            return;
        }
        let mut shard = self.shard(hash).lock();
        if shard.count >= ENTRIES_MAX / SHARDS || shard.bytes + size > BYTES_MAX / SHARDS {
            shard.sweep();
        }
        let list = shard.entries.entry(hash).or_default();
        match list.iter_mut().find(|e| e.is(key)) {
            Some(old) => *old = entry,
            None => {
                list.push(entry);
                shard.count += 1;
                shard.bytes += size;
            }
        }
    }

    /// Everything that is remembered as a plan, and the counters.
    pub(crate) fn report(&self) -> (Vec<CachedStatement>, CacheTotals) {
        let mut statements = Vec::new();
        let mut totals = CacheTotals::default();
        for shard in &self.shards {
            let shard = shard.lock();
            totals.hits += shard.hits;
            totals.misses += shard.misses;
            totals.evicted += shard.evicted;
            totals.entries += shard.count;
            totals.size += shard.bytes;
            let plans = shard.entries.values().flatten().filter(|e| matches!(e.found, Found::Prepared(_)));
            statements.extend(plans.map(|entry| CachedStatement {
                database: entry.database,
                statement: entry.text.to_string(),
                lifted: !entry.kinds.is_empty(),
                hits: entry.hits,
                size: entry.size(),
            }));
        }
        (statements, totals)
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // The map uses the hash's low bits; the shard is chosen by high ones.
        &self.shards[(hash >> 57) as usize % SHARDS]
    }
}

impl Shard {
    /// Drops the entries that were not asked for since the last sweep; if all were, drops all.
    fn sweep(&mut self) {
        let before = self.count;
        self.retain(|entry| std::mem::take(&mut entry.used));
        if self.count == before {
            self.retain(|_| false);
        }
        self.evicted += (before - self.count) as u64;
    }

    fn retain(&mut self, keep: impl Fn(&mut Entry) -> bool) {
        for list in self.entries.values_mut() {
            list.retain_mut(&keep);
        }
        self.entries.retain(|_, list| !list.is_empty());
        self.count = self.entries.values().map(Vec::len).sum();
        self.bytes = self.entries.values().flatten().map(Entry::size).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_tells_keys_apart_and_stays_bounded() {
        let cache = PlanCache::default();
        let key = |text, settings| Key { text, kinds: &[], types: &[], database: Oid(5), settings };
        cache.put(&key("SELECT 1", 0), Found::NotLiftable);
        assert!(cache.get(&key("SELECT 1", 0)).is_some());
        assert!(cache.get(&key("SELECT 1", 7)).is_none());
        assert!(cache.get(&Key { kinds: &[0], ..key("SELECT 1", 0) }).is_none());
        for i in 0..2 * ENTRIES_MAX {
            let text = format!("SELECT {i}");
            cache.put(&Key { text: &text, ..key("", 0) }, Found::NotLiftable);
        }
        let count: usize = cache.shards.iter().map(|s| s.lock().count).sum();
        assert!(count <= ENTRIES_MAX, "{count}");
    }
}
