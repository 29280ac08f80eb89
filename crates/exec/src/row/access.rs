//! The row path's door to the store.

use catalog::SqlError;

pub use memory::{Direction, ReadView, RelationId, Scan, StoreError};

/// A store's error as SQL says it.
pub fn store_error(error: StoreError) -> SqlError {
    SqlError::internal(error.to_string())
}

/// 22P/XX001 for stored bytes that do not read.
pub fn corrupt(what: &str) -> SqlError {
    SqlError::new(catalog::SqlState::DATA_CORRUPTED, format!("stored row of relation \"{what}\" is damaged"))
}

/// An ordered map with the interface of `storage::ReadView`, until crate storage is there.
mod memory {
    use std::collections::BTreeMap;
    use std::ops::Bound;
    use std::sync::Arc;

    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
    pub struct RelationId(pub u32);
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Direction {
        #[default]
        Forward,
        Backward,
    }
    #[derive(Debug)]
    pub struct StoreError;
    impl std::fmt::Display for StoreError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("store error")
        }
    }
    type Map = BTreeMap<(u32, Vec<u8>), Vec<u8>>;
    #[derive(Clone, Default)]
    pub struct ReadView(pub Arc<Map>);
    pub struct Scan {
        rows: Vec<(Vec<u8>, Vec<u8>)>,
        at: usize,
    }
    impl Scan {
        #[allow(clippy::should_implement_trait)]
        pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>, StoreError> {
            let at = self.at;
            self.at += 1;
            Ok(self.rows.get(at).map(|(k, v)| (k.as_slice(), v.as_slice())))
        }
    }
    impl ReadView {
        pub fn get<R>(
            &self,
            relation: RelationId,
            key: &[u8],
            f: impl FnOnce(&[u8]) -> R,
        ) -> Result<Option<R>, StoreError> {
            Ok(self.0.get(&(relation.0, key.to_vec())).map(|v| f(v)))
        }
        pub fn scan(
            &self,
            relation: RelationId,
            start: Bound<&[u8]>,
            end: Bound<&[u8]>,
            direction: Direction,
        ) -> Result<Scan, StoreError> {
            let from = match start {
                Bound::Included(k) => Bound::Included((relation.0, k.to_vec())),
                Bound::Excluded(k) => Bound::Excluded((relation.0, k.to_vec())),
                Bound::Unbounded => Bound::Included((relation.0, Vec::new())),
            };
            let to = match end {
                Bound::Included(k) => Bound::Included((relation.0, k.to_vec())),
                Bound::Excluded(k) => Bound::Excluded((relation.0, k.to_vec())),
                Bound::Unbounded => Bound::Excluded((relation.0 + 1, Vec::new())),
            };
            let mut rows = Vec::new();
            for (k, v) in self.0.iter().filter(|(k, _)| {
                (from.clone(), to.clone()).contains_key(k)
            }) {
                rows.push((k.1.clone(), v.clone()));
            }
            if direction == Direction::Backward {
                rows.reverse();
            }
            Ok(Scan { rows, at: 0 })
        }
    }
    trait ContainsKey {
        fn contains_key(&self, k: &(u32, Vec<u8>)) -> bool;
    }
    impl ContainsKey for (Bound<(u32, Vec<u8>)>, Bound<(u32, Vec<u8>)>) {
        fn contains_key(&self, k: &(u32, Vec<u8>)) -> bool {
            use std::ops::RangeBounds;
            self.contains(k)
        }
    }
}
