//! A sample of a relation's rows.

use crate::store_error::sql_error;
use catalog::Result;
use std::ops::Bound;
use storage::{Direction, ReadView, RelationId};

/// Rows chosen with equal chances, in the order of their keys.
pub struct Sample {
    /// The stored rows.
    pub rows: Vec<Box<[u8]>>,
    /// Number of all rows.
    pub total: u64,
}

/// How many rows go by between two looks at whether to stop.
const STOP_INTERVAL: u64 = 4_096;

impl Sample {
    /// Walks a relation and keeps `size` rows (all, if there are fewer).
    pub fn read(
        view: &ReadView,
        relation: RelationId,
        size: usize,
        stop: &dyn Fn() -> Result<()>,
    ) -> Result<Sample> {
        let mut scan =
            view.scan(relation, Bound::Unbounded, Bound::Unbounded, Direction::Forward).map_err(sql_error)?;
        let mut kept: Vec<(u64, Box<[u8]>)> = Vec::new();
        let mut total = 0u64;
        // The same rows give the same statistics.
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(relation.0));
        let mut skipped = Skip::new(size, &mut random);
        while let Some((_, row)) = scan.next().map_err(sql_error)? {
            if kept.len() < size {
                kept.push((total, row.into()));
            } else if skipped.takes(&mut random) {
                let place = random.below(size as u64) as usize;
                if let Some(victim) = kept.get_mut(place) {
                    *victim = (total, row.into());
                }
            }
            total += 1;
            if total.is_multiple_of(STOP_INTERVAL) {
                stop()?;
            }
        }
        kept.sort_unstable_by_key(|(place, _)| *place);
        Ok(Sample { rows: kept.into_iter().map(|(_, row)| row).collect(), total })
    }
}

/// How many rows are passed over before the next one enters the reservoir (Li's algorithm L: no random number per row).
struct Skip {
    size: f64,
    w: f64,
    left: u64,
}

impl Skip {
    fn new(size: usize, random: &mut Random) -> Self {
        let mut skip = Skip { size: size.max(1) as f64, w: 1.0, left: 0 };
        skip.draw(random);
        skip
    }

    fn draw(&mut self, random: &mut Random) {
        self.w *= (random.unit().ln() / self.size).exp();
        let gap = (random.unit().ln() / (1.0 - self.w).ln()).floor();
        self.left = if gap.is_finite() && gap < 1e18 { gap as u64 } else { u64::MAX };
    }

    /// Whether the next row enters.
    fn takes(&mut self, random: &mut Random) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.draw(random);
        true
    }
}

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Above 0, below 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.unit() * bound as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_same_chance() {
        let mut random = Random(1);
        let (size, total, rounds) = (10usize, 100u64, 4_000);
        let mut hits = vec![0u32; total as usize];
        for _ in 0..rounds {
            let mut kept: Vec<u64> = Vec::new();
            let mut skip = Skip::new(size, &mut random);
            for row in 0..total {
                if kept.len() < size {
                    kept.push(row);
                } else if skip.takes(&mut random) {
                    let place = random.below(size as u64) as usize;
                    kept[place] = row;
                }
            }
            kept.iter().for_each(|row| hits[*row as usize] += 1);
        }
        let expected = rounds as f64 * size as f64 / total as f64;
        for (row, count) in hits.iter().enumerate() {
            assert!((f64::from(*count) / expected - 1.0).abs() < 0.3, "{row}: {count} for {expected}");
        }
    }
}
