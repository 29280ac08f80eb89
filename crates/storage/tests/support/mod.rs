//! A disk in memory that can be told to fail, and that knows what a crash of the machine would leave behind.
#![allow(dead_code)] // Each test uses its part.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storage::*;

/// What befalls the n-th write or sync, counted together from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails and changes nothing.
    Error,
    /// A write changes only its first half, then fails.
    Tear,
    /// The disk is full: a write fails, a sync passes.
    Full,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Mutex<Contents>>>,
    operations: u64,
    fault: Option<(u64, Fault)>,
    /// After the fault every further operation fails, as on a device that is gone.
    dead: bool,
    stays_dead: bool,
    sync_takes: Duration,
}

#[derive(Default, Clone)]
struct Contents {
    now: Vec<u8>,
    durable: Vec<u8>,
}

/// The disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct TestDisk {
    state: Arc<Mutex<State>>,
}

impl TestDisk {
    pub fn fail_at(&self, operation: u64, fault: Fault, stays_dead: bool) {
        let mut state = self.state.lock().unwrap();
        state.fault = Some((operation, fault));
        state.stays_dead = stays_dead;
    }

    /// Makes syncs take their time, as those of real devices do.
    pub fn slow_down(&self, sync_takes: Duration) {
        self.state.lock().unwrap().sync_takes = sync_takes;
    }

    pub fn operations(&self) -> u64 {
        self.state.lock().unwrap().operations
    }

    /// Heals the disk. With `lose_unsynced`, everything not synced is gone; else all that was written is there.
    pub fn restart(&self, lose_unsynced: bool) {
        let mut state = self.state.lock().unwrap();
        state.fault = None;
        state.dead = false;
        for contents in state.files.values() {
            let mut contents = contents.lock().unwrap();
            match lose_unsynced {
                true => contents.now = contents.durable.clone(),
                false => contents.durable = contents.now.clone(),
            }
        }
    }

    /// Changes a file's bytes, as a failing device does.
    pub fn corrupt(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let state = self.state.lock().unwrap();
        let mut contents = state.files[path].lock().unwrap();
        change(&mut contents.now);
        contents.durable = contents.now.clone();
    }

    pub fn files(&self) -> Vec<PathBuf> {
        self.state.lock().unwrap().files.keys().cloned().collect()
    }

    pub fn remove_file(&self, path: &Path) {
        self.state.lock().unwrap().files.remove(path);
    }

    fn step(&self) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        state.operations += 1;
        if state.dead {
            return Some(Fault::Error);
        }
        match state.fault {
            Some((at, fault)) if at == state.operations => {
                state.dead = state.stays_dead;
                Some(fault)
            }
            _ => None,
        }
    }
}

struct TestFile {
    disk: TestDisk,
    contents: Arc<Mutex<Contents>>,
}

impl Disk for TestDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock().unwrap();
        if !create && !state.files.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let contents = Arc::clone(state.files.entry(path.to_owned()).or_default());
        Ok(Arc::new(TestFile { disk: self.clone(), contents }))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let all = self.files();
        Ok(all.into_iter().filter(|path| path.parent() == Some(directory)).collect())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.remove_file(path);
        Ok(())
    }
}

impl DiskFile for TestFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.contents.lock().unwrap().now.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let contents = self.contents.lock().unwrap();
        let rest = contents.now.get(offset as usize..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let fault = self.disk.step();
        let bytes = match fault {
            None => bytes,
            Some(Fault::Tear) => &bytes[..bytes.len() / 2],
            Some(Fault::Full) => return Err(io::ErrorKind::StorageFull.into()),
            Some(Fault::Error) => return Err(io::Error::other("injected")),
        };
        let mut contents = self.contents.lock().unwrap();
        let end = offset as usize + bytes.len();
        if contents.now.len() < end {
            contents.now.resize(end, 0);
        }
        contents.now[offset as usize..end].copy_from_slice(bytes);
        match fault {
            None => Ok(()),
            Some(_) => Err(io::Error::other("torn")),
        }
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.contents.lock().unwrap().now.resize(length as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        if matches!(self.disk.step(), Some(Fault::Error | Fault::Tear)) {
            return Err(io::Error::other("injected"));
        }
        let sync_takes = self.disk.state.lock().unwrap().sync_takes;
        std::thread::sleep(sync_takes);
        let mut contents = self.contents.lock().unwrap();
        contents.durable = contents.now.clone();
        Ok(())
    }
}

/// A directory for a store. In memory where the system has that: these tests are about the log, which lies on a
/// [`TestDisk`] anyway, and the base would only spend their time syncing.
pub fn new_directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// Options for small, quiet stores: nothing happens in the background unless asked for.
pub fn quiet(disk: &TestDisk) -> StoreOptions {
    StoreOptions {
        segment_bytes: 16 << 10,
        checkpoint_idle: Duration::from_secs(3_600),
        checkpoint_interval: Duration::from_secs(3_600),
        disk: Arc::new(disk.clone()),
        ..StoreOptions::default()
    }
}
