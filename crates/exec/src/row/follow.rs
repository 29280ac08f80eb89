//! Lookups by keys that ascend: instead of searching the tree for each, a cursor steps on from the one before. This makes a nested loop
//! over two tables in key order what elsewhere is a merge join.

use super::access::{ReadView, store_error};
use catalog::Result;
use std::cmp::Ordering;
use std::ops::Bound;
use storage::{Direction, RelationId, Scan};

/// Entries stepped over before a search is cheaper.
const STEPS_MAX: usize = 8;

/// A cursor that follows ascending keys. Keys in any other order are found too, only not faster.
pub struct Follower {
    scan: Scan,
    /// The entry that the cursor stands on; none before its first step and at the end.
    entry: Option<Entry>,
    /// There is no entry from here up to the one that the cursor stands on.
    floor: Vec<u8>,
}

#[derive(Default)]
struct Entry {
    key: Vec<u8>,
    row: Vec<u8>,
}

impl Follower {
    /// A cursor on the first entry from `key`.
    pub fn new(view: &ReadView, relation: RelationId, key: &[u8]) -> Result<Follower> {
        let scan = view.scan(relation, Bound::Included(key), Bound::Unbounded, Direction::Forward);
        let scan = scan.map_err(store_error)?;
        let mut follower = Follower { scan, entry: Some(Entry::default()), floor: key.to_vec() };
        follower.read()?;
        Ok(follower)
    }

    /// The row of a key.
    pub fn find(&mut self, view: &ReadView, relation: RelationId, key: &[u8]) -> Result<Option<&[u8]>> {
        if key < self.floor.as_slice() {
            *self = Follower::new(view, relation, key)?;
        }
        let mut steps = 0;
        while self.order(key) == Ordering::Less {
            if steps == STEPS_MAX {
                *self = Follower::new(view, relation, key)?;
                break;
            }
            steps += 1;
            self.step()?;
        }
        match &self.entry {
            Some(entry) if entry.key == key => Ok(Some(&entry.row)),
            _ => Ok(None),
        }
    }

    /// How the entry's key compares to `key`; the end is greater than all.
    fn order(&self, key: &[u8]) -> Ordering {
        self.entry.as_ref().map_or(Ordering::Greater, |entry| entry.key.as_slice().cmp(key))
    }

    fn step(&mut self) -> Result<()> {
        if let Some(entry) = &mut self.entry {
            std::mem::swap(&mut self.floor, &mut entry.key);
            // The least key beyond the one left.
            self.floor.push(0);
        }
        self.read()
    }

    fn read(&mut self) -> Result<()> {
        match self.scan.next().map_err(store_error)? {
            Some((key, row)) => {
                let entry = self.entry.get_or_insert_default();
                entry.key.clear();
                entry.key.extend_from_slice(key);
                entry.row.clear();
                entry.row.extend_from_slice(row);
            }
            None => self.entry = None,
        }
        Ok(())
    }
}
