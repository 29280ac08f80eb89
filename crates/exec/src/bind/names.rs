//! Suggestions in errors about names: PostgreSQL's Levenshtein rules (`searchRangeTableForCol` in `parse_relation.c`).

/// Largest distance that is still suggested (`MAX_FUZZY_DISTANCE`).
pub(super) const DISTANCE_MAX: usize = 3;

/// The best one or two matches so far: places of entry and column.
#[derive(Default)]
pub(super) struct Matches {
    distance: Option<usize>,
    pub(super) first: Option<(usize, usize)>,
    pub(super) second: Option<(usize, usize)>,
}

impl Matches {
    /// Weighs one column (`updateFuzzyAttrMatchState`).
    pub(super) fn weigh(&mut self, penalty: usize, actual: &str, wanted: &str, place: (usize, usize)) {
        let best = self.distance.unwrap_or(DISTANCE_MAX + 1);
        if penalty > best || actual.is_empty() {
            return;
        }
        let distance = levenshtein(actual, wanted);
        if distance > wanted.len() / 2 || distance > best + 1 {
            return;
        }
        let distance = distance + penalty;
        if distance < best {
            *self = Matches { distance: Some(distance), first: Some(place), second: None };
        } else if distance == best {
            if self.second.is_some() {
                *self = Matches { distance: Some(distance.saturating_sub(1)), first: None, second: None };
            } else if self.first.is_some() {
                self.second = Some(place);
            } else if best <= DISTANCE_MAX {
                self.first = Some(place);
            }
        }
    }
}

/// Edit distance in characters.
pub(super) fn levenshtein(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, cb) in b.iter().enumerate() {
            let (left, above) = (row.get(j).copied().unwrap_or(0), row.get(j + 1).copied().unwrap_or(0));
            let cost = (diagonal + usize::from(ca != *cb)).min(left + 1).min(above + 1);
            diagonal = above;
            if let Some(cell) = row.get_mut(j + 1) {
                *cell = cost;
            }
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn distances() {
        assert_eq!(super::levenshtein("kitten", "sitting"), 3);
        assert_eq!(super::levenshtein("", "ab"), 2);
    }
}
