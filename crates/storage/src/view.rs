//! What a statement sees: the transaction's own writes, over the delta at a timestamp, over the base.

use std::any::Any;
use std::ops::Bound;
use std::sync::Arc;

use crate::base::Generation;
use crate::delta::Delta;
use crate::error::StoreError;
use crate::ids::{CommitTimestamp, RelationId};
use crate::run::Run;
use crate::scan::{DeltaCursor, Direction, RunCursor, Scan, Source};
use crate::serial::SerialTransaction;
use crate::write_set::WriteSet;

/// What all commits up to a timestamp left behind. A new one is published with each group of commits.
pub(crate) struct Published {
    pub(crate) timestamp: u64,
    pub(crate) layers: Layers,
    /// The publish hook's value: the catalog as of this timestamp.
    pub(crate) attachment: Attachment,
}

/// A value of the store's user that travels with each published timestamp.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// Where committed versions are. A reader takes, of all layers, the newest version at or below its timestamp.
#[derive(Clone)]
pub(crate) struct Layers {
    pub(crate) active: Delta,
    /// The delta that a checkpoint is writing to the base; empty between checkpoints.
    pub(crate) frozen: Delta,
    /// Large commits, each with its timestamp.
    pub(crate) runs: Arc<Vec<(u64, Arc<Run>)>>,
    pub(crate) base: Arc<Generation>,
}

/// Runs of the transaction itself outrank every timestamp.
const OWN_RANK: u64 = u64::MAX - 0xffff;

/// A stable, read-only view. Cheap to clone, and free to be used by several threads at once; later writes of the same
/// transaction do not appear in it. Holding one keeps the versions that it sees: memory, and pages of the base.
#[derive(Clone)]
pub struct ReadView {
    published: Arc<Published>,
    writes: WriteSet,
    /// Whose reads are noted: a serializable transaction's.
    reader: Option<Arc<SerialTransaction>>,
}

impl ReadView {
    pub(crate) fn new(published: Arc<Published>, writes: WriteSet) -> ReadView {
        ReadView { published, writes, reader: None }
    }

    /// Notes all reads through this view as `reader`'s.
    pub(crate) fn with_reader(self, reader: Option<Arc<SerialTransaction>>) -> ReadView {
        ReadView { reader, ..self }
    }

    /// Up to which commit this view sees.
    pub fn timestamp(&self) -> CommitTimestamp {
        CommitTimestamp(self.published.timestamp)
    }

    /// The publish hook's value as of exactly this view's timestamp, if it is a `T`.
    pub fn attachment<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.published.attachment).downcast().ok()
    }

    /// Calls `f` with the value of `key`, if there is one. The value is not copied.
    pub fn get<R>(
        &self,
        relation: RelationId,
        key: &[u8],
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, StoreError> {
        if let Some(own) = self.writes.get(relation, key) {
            return Ok(own.map(f));
        }
        if let Some(reader) = &self.reader {
            reader.note_key(relation, key);
        }
        self.published.get(relation, key, f)
    }

    /// Whether `key` exists.
    pub fn contains(&self, relation: RelationId, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.get(relation, key, |_| ())?.is_some())
    }

    /// The entries of a relation between two keys, in order.
    pub fn scan(
        &self,
        relation: RelationId,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<Scan, StoreError> {
        let layers = &self.published.layers;
        let mut sources = Vec::with_capacity(4);
        if !is_void(start, end) {
            if let Some(reader) = &self.reader {
                reader.note_range(relation, start, end);
            }
            sources.push(Source::Base(layers.base.scan(relation, start, end, direction)?));
            for delta in [&layers.active, &layers.frozen] {
                let cursor = delta.relation(relation).and_then(|delta| {
                    DeltaCursor::new(delta, self.published.timestamp, start, end, direction)
                });
                sources.extend(cursor.map(Source::Delta));
            }
            for (timestamp, run) in layers.runs.iter() {
                let cursor = RunCursor::new(run, *timestamp, relation, start, end, direction);
                sources.extend(cursor.map(Source::Run));
            }
            for (age, run) in self.writes.runs().iter().enumerate() {
                let cursor = RunCursor::new(run, OWN_RANK + age as u64, relation, start, end, direction);
                sources.extend(cursor.map(Source::Run));
            }
        }
        Scan::over(sources, direction)
    }

    /// All entries whose keys begin with `prefix`, in order.
    pub fn scan_prefix(
        &self,
        relation: RelationId,
        prefix: &[u8],
        direction: Direction,
    ) -> Result<Scan, StoreError> {
        let end = prefix_end(prefix);
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        self.scan(relation, Bound::Included(prefix), end, direction)
    }
}

impl Published {
    pub(crate) fn get<R>(
        &self,
        relation: RelationId,
        key: &[u8],
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, StoreError> {
        match self.recent(relation, key) {
            Some((_, value)) => Ok(value.as_bytes().map(f)),
            None => Ok(self.layers.base.get(relation, key)?.map(f)),
        }
    }

    /// The newest version of `key` that is not yet in the base, with its timestamp.
    pub(crate) fn recent(&self, relation: RelationId, key: &[u8]) -> Option<(u64, Recent<'_>)> {
        let layers = &self.layers;
        let mut newest: Option<(u64, Recent<'_>)> = None;
        for delta in [&layers.active, &layers.frozen] {
            let Some(delta) = delta.relation(relation) else { continue };
            if let Some((timestamp, value)) = delta.get(key, self.timestamp)
                && newest.as_ref().is_none_or(|(other, _)| *other < timestamp)
            {
                newest = Some((timestamp, Recent::Shared(value)));
            }
        }
        for (timestamp, run) in layers.runs.iter() {
            if newest.as_ref().is_some_and(|(other, _)| other > timestamp) {
                continue;
            }
            if let Some(value) = run.relation(relation).and_then(|run| run.get(key)) {
                newest = Some((*timestamp, Recent::Borrowed(value)));
            }
        }
        newest
    }
}

/// A version's value, none for a deletion.
pub(crate) enum Recent<'a> {
    Shared(crate::delta::Value),
    Borrowed(Option<&'a [u8]>),
}

impl Recent<'_> {
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Recent::Shared(value) => value.as_deref(),
            Recent::Borrowed(value) => *value,
        }
    }
}

/// The first key after all keys that begin with `prefix`; none when there is no such key.
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix.get(..=last)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}

fn is_void(start: Bound<&[u8]>, end: Bound<&[u8]>) -> bool {
    match (start, end) {
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
            start >= end
        }
        _ => false,
    }
}
