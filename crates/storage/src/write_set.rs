//! What a transaction has written and not yet committed: a short list of sorted runs, the newest last.
//!
//! Each statement adds one run. Runs of like size are merged, so their number stays logarithmic and a row is copied only
//! a few times. Finished runs never change, so a view of them is a clone of a few `Arc`s that stays true while later
//! statements write, and a savepoint is nothing but the list as it was.

use std::sync::Arc;

use crate::ids::RelationId;
use crate::run::Run;

/// So many runs are tolerated before merging starts: merging tiny runs costs more than looking into them.
const RUNS_UNMERGED: usize = 4;

/// The runs, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteSet {
    runs: Arc<Vec<Arc<Run>>>,
}

impl WriteSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The runs, oldest first.
    pub(crate) fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// What the transaction has written of `key`: nothing, its value, or that it is deleted.
    pub(crate) fn get(&self, relation: RelationId, key: &[u8]) -> Option<Option<&[u8]>> {
        self.runs.iter().rev().find_map(|run| run.relation(relation)?.get(key))
    }

    /// Adds a statement's writes.
    pub(crate) fn push(&mut self, run: Run) {
        let runs = Arc::make_mut(&mut self.runs);
        runs.push(Arc::new(run));
        while runs.len() > RUNS_UNMERGED && tail_is_even(runs) {
            merge_tail(runs);
        }
    }

    /// All writes as one run, for the commit.
    pub(crate) fn into_run(self) -> Arc<Run> {
        let mut runs = Arc::unwrap_or_clone(self.runs);
        while runs.len() > 1 {
            merge_tail(&mut runs);
        }
        runs.pop().unwrap_or_default()
    }
}

fn tail_is_even(runs: &[Arc<Run>]) -> bool {
    match runs {
        [.., older, newer] => older.entries() <= 2 * newer.entries(),
        _ => false,
    }
}

fn merge_tail(runs: &mut Vec<Arc<Run>>) {
    if let (Some(newer), Some(older)) = (runs.pop(), runs.pop()) {
        // A run that a view or a savepoint still holds is copied; otherwise its bytes move.
        let merged = Arc::unwrap_or_clone(older).merge(Arc::unwrap_or_clone(newer));
        runs.push(Arc::new(merged));
    }
}
