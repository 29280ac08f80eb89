//! How a store is opened.

use std::sync::Arc;
use std::time::Duration;

use crate::disk::{Disk, FileDisk};

/// Knobs of a [`crate::Store`], each with a default that suits a server.
#[derive(Clone)]
pub struct StoreOptions {
    /// Size of one segment file of the write-ahead log.
    pub segment_bytes: u64,
    /// Checkpoint once the delta takes this much.
    pub checkpoint_bytes: usize,
    /// Roughly what a checkpoint writes at a time, before it leaves the device to commits again.
    pub checkpoint_part_bytes: usize,
    /// Checkpoint at the latest after this long, if there is anything to write.
    pub checkpoint_interval: Duration,
    /// Checkpoint when nothing has been committed for this long, so that what was loaded moves to the base.
    pub checkpoint_idle: Duration,
    /// How soon relaxed commits are synced.
    pub flush_interval: Duration,
    /// Whether commits wait for the device at all; false (`fsync = off`) risks the whole store in a crash of the machine.
    pub sync: bool,
    /// LMDB reader slots: how many checkpoints may be read at once, the newest included.
    pub readers_max: u32,
    /// Address space for the base, the limit of its size. Not memory.
    pub map_bytes: usize,
    /// Files of the write-ahead log. Tests put in disks that fail.
    pub disk: Arc<dyn Disk>,
}

impl StoreOptions {
    /// For tests: small files, no syncs. What is committed survives the process, not the machine.
    pub fn for_tests() -> StoreOptions {
        StoreOptions { segment_bytes: 1 << 20, sync: false, map_bytes: 64 << 30, ..StoreOptions::default() }
    }
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            segment_bytes: 16 << 20,
            checkpoint_bytes: 64 << 20,
            checkpoint_part_bytes: 4 << 20,
            checkpoint_interval: Duration::from_secs(300),
            checkpoint_idle: Duration::from_millis(200),
            flush_interval: Duration::from_millis(200),
            sync: true,
            readers_max: 1024,
            map_bytes: 1 << 40,
            disk: Arc::new(FileDisk),
        }
    }
}
