//! Where rows live: snapshots, locks, group commit, write-ahead log, checkpoints, recovery.
