//! What the store has done since it was opened, for views and logs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters as of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Activity {
    /// Commits that wrote something.
    pub commits: u64,
    /// Groups that they were written in: one append and at most one sync each.
    pub groups: u64,
    /// Commits of the largest group.
    pub group_largest: u64,
    /// Syncs of the write-ahead log by commits.
    pub syncs: u64,
    /// Bytes appended to the write-ahead log.
    pub log_bytes: u64,
    /// Finished checkpoints.
    pub checkpoints: u64,
    /// How long the last one took.
    pub checkpoint_last: Duration,
    /// Memory taken by commits that are not in the base yet.
    pub delta_bytes: u64,
    /// Bytes of the base's file in use.
    pub base_bytes: u64,
    /// Age of the oldest state of the base that somebody still reads; the file grows while that is old.
    pub oldest_snapshot: Duration,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) group_largest: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) log_bytes: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) checkpoint_last_us: AtomicU64,
}

impl Counters {
    pub(crate) fn group(&self, commits: u64, log_bytes: u64, synced: bool) {
        self.commits.fetch_add(commits, Ordering::Relaxed);
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.group_largest.fetch_max(commits, Ordering::Relaxed);
        self.syncs.fetch_add(u64::from(synced), Ordering::Relaxed);
        self.log_bytes.fetch_add(log_bytes, Ordering::Relaxed);
    }

    pub(crate) fn checkpoint(&self, took: Duration) {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
        self.checkpoint_last_us.store(took.as_micros() as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Activity {
        Activity {
            commits: self.commits.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            group_largest: self.group_largest.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            log_bytes: self.log_bytes.load(Ordering::Relaxed),
            checkpoints: self.checkpoints.load(Ordering::Relaxed),
            checkpoint_last: Duration::from_micros(self.checkpoint_last_us.load(Ordering::Relaxed)),
            ..Activity::default()
        }
    }
}
