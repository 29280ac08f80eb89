//! An ordered walk over a range of one relation, through all layers that have something there.

use std::cmp::Ordering;
use std::ops::{Bound, Range};
use std::sync::Arc;

use crate::base::BaseCursor;
use crate::delta::{DeltaEntry, DeltaKey, RelationDelta};
use crate::error::StoreError;
use crate::ids::RelationId;
use crate::run::{RelationRun, Run};

/// A delta is read in batches that grow from this size ...
const BATCH_MIN: usize = 16;
/// ... to this one.
const BATCH_MAX: usize = 512;

/// Which way a scan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// A key and its value.
pub type KeyValue<'a> = (&'a [u8], &'a [u8]);

/// A key with a version of its value; none for a deletion.
type KeyVersion<'a> = (&'a [u8], Option<&'a [u8]>);

/// Entries of a relation in key order. It owns what it reads from: no lifetime, `Send`, and unaffected by whatever is
/// committed or written after it was made. Where only the base has entries, a step is one step of an LMDB cursor and the
/// slices point into the memory map.
pub struct Scan {
    layers: Layers,
}

enum Layers {
    Empty,
    Base(BaseCursor),
    Merge(Box<Merge>),
}

impl Scan {
    /// The next entry, key and value, borrowed until the following call.
    #[inline]
    #[allow(clippy::should_implement_trait)] // Lends its items, which `Iterator` cannot.
    pub fn next(&mut self) -> Result<Option<KeyValue<'_>>, StoreError> {
        match &mut self.layers {
            Layers::Empty => Ok(None),
            Layers::Base(cursor) => match cursor.advance()? {
                true => Ok(cursor.current()),
                false => Ok(None),
            },
            Layers::Merge(merge) => merge.next(),
        }
    }

    /// A scan over `sources`. They must be made for the same range and direction.
    pub(crate) fn over(mut sources: Vec<Source>, direction: Direction) -> Result<Scan, StoreError> {
        let layers = match (sources.len(), sources.pop()) {
            (_, None) => Layers::Empty,
            (1, Some(Source::Base(cursor))) => Layers::Base(cursor),
            (_, Some(last)) => {
                sources.push(last);
                Layers::Merge(Box::new(Merge::new(sources, direction)?))
            }
        };
        Ok(Scan { layers })
    }
}

/// One layer's part of a scan, standing on an entry or at its end.
pub(crate) enum Source {
    Base(BaseCursor),
    Delta(DeltaCursor),
    Run(RunCursor),
}

impl Source {
    fn advance(&mut self) -> Result<(), StoreError> {
        match self {
            Source::Base(cursor) => cursor.advance().map(drop),
            Source::Delta(cursor) => {
                cursor.advance();
                Ok(())
            }
            Source::Run(cursor) => {
                cursor.advance();
                Ok(())
            }
        }
    }

    fn key(&self) -> Option<&[u8]> {
        match self {
            Source::Base(cursor) => cursor.current().map(|(key, _)| key),
            Source::Delta(cursor) => cursor.current().map(|entry| entry.key.bytes()),
            Source::Run(cursor) => cursor.current().map(|at| cursor.entries().key(at)),
        }
    }

    /// Of several layers with the same key the one of highest rank is right.
    fn rank(&self) -> u64 {
        match self {
            Source::Base(_) => 0,
            Source::Delta(cursor) => cursor.current().map_or(0, |entry| entry.timestamp),
            Source::Run(cursor) => cursor.rank,
        }
    }

    fn value(&self) -> Option<&[u8]> {
        match self {
            Source::Base(cursor) => cursor.current().map(|(_, value)| value),
            Source::Delta(cursor) => cursor.current().and_then(|entry| entry.value.as_deref()),
            Source::Run(cursor) => cursor.current().and_then(|at| cursor.entries().value(at)),
        }
    }
}

/// Several layers as one. Deletions are there to be seen by those who ask for them.
pub(crate) struct Merge {
    sources: Vec<Source>,
    direction: Direction,
    /// The source whose entry was returned last, still standing on it.
    emitted: Option<usize>,
}

impl Merge {
    pub(crate) fn new(mut sources: Vec<Source>, direction: Direction) -> Result<Merge, StoreError> {
        for source in &mut sources {
            source.advance()?;
        }
        Ok(Merge { sources, direction, emitted: None })
    }

    fn next(&mut self) -> Result<Option<KeyValue<'_>>, StoreError> {
        while let Some(best) = self.step()? {
            if self.sources[best].value().is_some() {
                let source = &self.sources[best];
                return Ok(source.key().zip(source.value()));
            }
        }
        Ok(None)
    }

    /// The next key with its newest version, which may be a deletion.
    pub(crate) fn next_version(&mut self) -> Result<Option<KeyVersion<'_>>, StoreError> {
        let Some(best) = self.step()? else { return Ok(None) };
        let source = &self.sources[best];
        Ok(source.key().map(|key| (key, source.value())))
    }

    /// Steps to the next key, and returns the source that has its newest version.
    fn step(&mut self) -> Result<Option<usize>, StoreError> {
        if let Some(last) = self.emitted.take() {
            self.sources[last].advance()?;
        }
        if let Some(best) = self.leading() {
            self.step_over_older(best)?;
            self.emitted = Some(best);
        }
        Ok(self.emitted)
    }

    /// The source with the key that comes first; of several, that of the highest rank.
    fn leading(&self) -> Option<usize> {
        let mut best: Option<(usize, &[u8])> = None;
        for (at, source) in self.sources.iter().enumerate() {
            let Some(key) = source.key() else { continue };
            let leads = match best {
                None => true,
                Some((other, best_key)) => match (key.cmp(best_key), self.direction) {
                    (Ordering::Equal, _) => source.rank() > self.sources[other].rank(),
                    (Ordering::Less, Direction::Forward) | (Ordering::Greater, Direction::Backward) => true,
                    (Ordering::Less, Direction::Backward) | (Ordering::Greater, Direction::Forward) => false,
                },
            };
            if leads {
                best = Some((at, key));
            }
        }
        best.map(|(at, _)| at)
    }

    /// Moves the other sources past the key that `best` stands on.
    fn step_over_older(&mut self, best: usize) -> Result<(), StoreError> {
        for at in 0..self.sources.len() {
            if at != best && self.sources[at].key() == self.sources[best].key() {
                self.sources[at].advance()?;
            }
        }
        Ok(())
    }
}

/// Reads one relation's ordered map in batches, holding its lock only while it copies one.
pub(crate) struct DeltaCursor {
    delta: Arc<RelationDelta>,
    timestamp: u64,
    start: Bound<DeltaKey>,
    end: Bound<DeltaKey>,
    direction: Direction,
    batch: Vec<DeltaEntry>,
    /// One past the entry it stands on.
    position: usize,
    limit: usize,
    exhausted: bool,
}

impl DeltaCursor {
    /// None when the delta has nothing in the range.
    pub(crate) fn new(
        delta: &Arc<RelationDelta>,
        timestamp: u64,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
    ) -> Option<DeltaCursor> {
        let mut cursor = DeltaCursor {
            delta: Arc::clone(delta),
            timestamp,
            start: start.map(DeltaKey::new),
            end: end.map(DeltaKey::new),
            direction,
            batch: Vec::new(),
            position: 0,
            limit: BATCH_MIN,
            exhausted: false,
        };
        cursor.fill();
        (!cursor.batch.is_empty()).then_some(cursor)
    }

    fn current(&self) -> Option<&DeltaEntry> {
        self.batch.get(self.position.checked_sub(1)?)
    }

    fn advance(&mut self) {
        if self.position == self.batch.len() && !self.exhausted {
            self.fill();
        }
        if self.position < self.batch.len() {
            self.position += 1;
        } else {
            self.batch.clear();
            self.position = 0;
            self.exhausted = true;
        }
    }

    /// Reads the next batch, beginning after the last entry of the present one.
    fn fill(&mut self) {
        if let Some(last) = self.batch.pop() {
            match self.direction {
                Direction::Forward => self.start = Bound::Excluded(last.key),
                Direction::Backward => self.end = Bound::Excluded(last.key),
            }
        }
        self.batch.clear();
        self.position = 0;
        let range = (self.start.as_ref(), self.end.as_ref());
        let backward = self.direction == Direction::Backward;
        self.delta.collect(range, backward, self.timestamp, self.limit, &mut self.batch);
        self.exhausted = self.batch.len() < self.limit;
        self.limit = (self.limit * 4).min(BATCH_MAX);
    }
}

/// Walks a part of one relation's entries in a run.
pub(crate) struct RunCursor {
    run: Arc<Run>,
    /// The relation's place in the run.
    slot: usize,
    rank: u64,
    direction: Direction,
    /// What is still to come.
    from: usize,
    to: usize,
    current: Option<usize>,
}

impl RunCursor {
    /// None when the run has nothing in the range.
    pub(crate) fn new(
        run: &Arc<Run>,
        rank: u64,
        relation: RelationId,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
    ) -> Option<RunCursor> {
        let slot = run.relations.binary_search_by_key(&relation, |(id, _)| *id).ok()?;
        let entries = &run.relations.get(slot)?.1;
        let Range { start: from, end: to } = entries.positions(start, end);
        (from < to).then(|| RunCursor {
            run: Arc::clone(run),
            slot,
            rank,
            direction,
            from,
            to,
            current: None,
        })
    }

    #[inline]
    fn entries(&self) -> &RelationRun {
        &self.run.relations[self.slot].1
    }

    fn current(&self) -> Option<usize> {
        self.current
    }

    fn advance(&mut self) {
        self.current = None;
        if self.from < self.to {
            match self.direction {
                Direction::Forward => {
                    self.current = Some(self.from);
                    self.from += 1;
                }
                Direction::Backward => {
                    self.to -= 1;
                    self.current = Some(self.to);
                }
            }
        }
    }
}
