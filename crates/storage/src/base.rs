//! The base: all committed rows up to the last checkpoint, in one LMDB database. The only file that names heed.
//!
//! | key                          | value                          |
//! |------------------------------|--------------------------------|
//! | relation id, 4 bytes, big-endian; then the relation's key | the relation's value |
//!
//! One LMDB read transaction is opened per checkpoint and shared by all readers of that [`Generation`]; so a statement
//! opens none, and the number of reader slots is the number of generations that somebody still reads.
#![allow(unsafe_code)] // The memory map, and the sharing of a read transaction; see the SAFETY comments.

use std::convert::Infallible;
use std::fs::File;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use heed::types::Bytes;
use heed::{
    CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RoRange, RoRevRange, RoTxn, RwTxn, WithoutTls,
};

use crate::error::{KEY_BYTES_MAX, StoreError};
use crate::ids::RelationId;
use crate::options::StoreOptions;
use crate::scan::Direction;

/// Bytes of the relation's id before each key.
const PREFIX_BYTES: usize = 4;
/// Keys up to this length are put together on the stack.
const STACK_KEY_BYTES: usize = 124;

type Bytewise = Database<'static, Bytes, Bytes>;

/// The LMDB environment. Written by the checkpoint only.
pub(crate) struct Base {
    env: Env<WithoutTls>,
    database: Bytewise,
    /// Keeps other processes out for as long as anybody reads.
    lock_file: Arc<File>,
}

impl Base {
    /// Opens or creates the base in `directory`. Its map is address space, not memory; when the system grants less, a smaller
    /// one is tried.
    pub(crate) fn open(
        directory: &Path,
        options: &StoreOptions,
        lock_file: Arc<File>,
    ) -> Result<Base, StoreError> {
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::io(format!("create directory {directory:?}"), error))?;
        let mut map_bytes = options.map_bytes.next_multiple_of(1 << 20);
        loop {
            let mut environment = EnvOpenOptions::new().read_txn_without_tls();
            environment.map_size(map_bytes).max_readers(options.readers_max);
            if !options.sync {
                // SAFETY: gives up durability, which is what the option asks for; a crash of the machine may damage the file.
                unsafe { environment.flags(EnvFlags::NO_SYNC) };
            }
            // SAFETY: the map is sound while nobody else truncates or writes the file. The store's own lock file keeps other
            // processes of ours out, heed refuses a second environment in this one.
            match unsafe { environment.open(directory) } {
                Ok(env) => {
                    let database = open_database(&env).map_err(|error| failed("open", error))?;
                    assert!(
                        env.max_key_size() >= KEY_BYTES_MAX + PREFIX_BYTES,
                        "LMDB was built with shorter keys ({}) than the store promises",
                        env.max_key_size()
                    );
                    return Ok(Base { env, database, lock_file });
                }
                Err(heed::Error::Io(error))
                    if error.kind() == std::io::ErrorKind::OutOfMemory && map_bytes > 1 << 30 =>
                {
                    map_bytes /= 2;
                }
                Err(error) => return Err(failed("open", error)),
            }
        }
    }

    /// Opens the state as of the last commit for reading.
    pub(crate) fn generation(&self) -> Result<Arc<Generation>, StoreError> {
        let txn = self.env.clone().static_read_txn().map_err(|error| failed("read", error))?;
        Ok(Arc::new(Generation {
            txn,
            database: self.database,
            opened: Instant::now(),
            _lock_file: Arc::clone(&self.lock_file),
        }))
    }

    /// Begins the one write transaction.
    pub(crate) fn writer(&self) -> Result<BaseWriter<'_>, StoreError> {
        let txn = self.env.write_txn().map_err(|error| failed("write", error))?;
        Ok(BaseWriter { txn, database: self.database, key: Vec::new() })
    }

    /// Bytes of the data file that hold pages.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.env.real_disk_size().unwrap_or(0)
    }
}

/// The base as one checkpoint left it. Immutable, and alive while anybody holds it.
pub(crate) struct Generation {
    txn: RoTxn<'static, WithoutTls>,
    database: Bytewise,
    /// Since when it is read.
    pub(crate) opened: Instant,
    _lock_file: Arc<File>,
}

// SAFETY: LMDB asks that uses of one read transaction be synchronized. What it means to protect is state that reading does
// change: the list of open cursors (kept for write transactions only: `mt_cursors` is null here), the loading of a named
// database's root (we use the unnamed one, which a transaction holds from its beginning), page caches of MDB_VL32 builds
// (32-bit only). `mdb_get` and cursors over a read transaction otherwise only read the transaction and the map, and cursors
// are separate allocations. The transaction itself ends in `Drop`, when nobody else can hold the generation. heed's cookbook
// shares a read transaction in the same way.
unsafe impl Sync for Generation {}

impl Generation {
    /// The value of `key`, straight from the map.
    pub(crate) fn get(&self, relation: RelationId, key: &[u8]) -> Result<Option<&[u8]>, StoreError> {
        with_base_key(relation, key, |key| self.database.get(&self.txn, key))
            .map_err(|error| failed("read", error))
    }

    /// Walks the entries of a relation whose keys lie within the bounds.
    pub(crate) fn scan(
        self: &Arc<Generation>,
        relation: RelationId,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<BaseCursor, StoreError> {
        let start = match start {
            Bound::Included(key) => Bound::Included(base_key(relation, key)),
            Bound::Excluded(key) => Bound::Excluded(base_key(relation, key)),
            Bound::Unbounded => Bound::Included(base_key(relation, b"")),
        };
        let end = match end {
            Bound::Included(key) => Bound::Included(base_key(relation, key)),
            Bound::Excluded(key) => Bound::Excluded(base_key(relation, key)),
            Bound::Unbounded => match relation.0.checked_add(1) {
                Some(next) => Bound::Excluded(base_key(RelationId(next), b"")),
                None => Bound::Unbounded,
            },
        };
        let range = (as_slice(&start), as_slice(&end));
        // SAFETY: the transaction lives inside the `Arc`'s allocation, which does not move, and the cursor keeps the `Arc` in a
        // field that is dropped after the iterator.
        let txn: &'static RoTxn<'static, WithoutTls> = unsafe { &*std::ptr::from_ref(&self.txn) };
        let walk = match direction {
            Direction::Forward => self.database.range(txn, &range).map(Walk::Forward),
            Direction::Backward => self.database.rev_range(txn, &range).map(Walk::Backward),
        };
        let walk = walk.map_err(|error| failed("read", error))?;
        Ok(BaseCursor { walk, current: None, _generation: Arc::clone(self) })
    }
}

enum Walk {
    Forward(RoRange<'static, Bytes, Bytes>),
    Backward(RoRevRange<'static, Bytes, Bytes>),
}

/// A walk over a range of the base. Owns its generation, so it has no lifetime and may move between threads.
pub(crate) struct BaseCursor {
    // IMPORTANT: fields are dropped in this order; the iterator must go before the generation that it borrows from.
    walk: Walk,
    current: Option<(&'static [u8], &'static [u8])>,
    _generation: Arc<Generation>,
}

// SAFETY: a cursor of a read transaction opened without thread-local slots is bound to no thread; it is used by one at a time,
// since every method that moves it takes `&mut self`.
unsafe impl Send for BaseCursor {}

impl BaseCursor {
    /// Steps to the next entry; false at the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, StoreError> {
        let next = match &mut self.walk {
            Walk::Forward(range) => range.next(),
            Walk::Backward(range) => range.next(),
        };
        self.current = match next {
            Some(Ok((key, value))) => Some((&key[PREFIX_BYTES..], value)),
            Some(Err(error)) => return Err(failed("read", error)),
            None => None,
        };
        Ok(self.current.is_some())
    }

    /// The entry stepped to. Borrowed from the map, for as long as the cursor.
    #[inline]
    pub(crate) fn current(&self) -> Option<(&[u8], &[u8])> {
        self.current
    }
}

/// The checkpoint's write transaction. Dropped without [`BaseWriter::commit`], nothing happened.
pub(crate) struct BaseWriter<'a> {
    txn: RwTxn<'a>,
    database: Bytewise,
    key: Vec<u8>,
}

impl BaseWriter<'_> {
    pub(crate) fn put(&mut self, relation: RelationId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.set_key(relation, key);
        self.database.put(&mut self.txn, &self.key, value).map_err(|error| failed("write", error))
    }

    pub(crate) fn delete(&mut self, relation: RelationId, key: &[u8]) -> Result<(), StoreError> {
        self.set_key(relation, key);
        self.database.delete(&mut self.txn, &self.key).map(drop).map_err(|error| failed("write", error))
    }

    pub(crate) fn get(&self, relation: RelationId, key: &[u8]) -> Result<Option<&[u8]>, StoreError> {
        with_base_key(relation, key, |key| self.database.get(&self.txn, key))
            .map_err(|error| failed("read", error))
    }

    /// Removes all entries of a relation.
    pub(crate) fn delete_relation(&mut self, relation: RelationId) -> Result<(), StoreError> {
        let start = base_key(relation, b"");
        let end = relation.0.checked_add(1).map(|next| base_key(RelationId(next), b""));
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let range = (Bound::Included(&start[..]), end);
        self.database.delete_range(&mut self.txn, &range).map(drop).map_err(|error| failed("write", error))
    }

    /// Makes everything durable at once.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        self.txn.commit().map_err(|error| failed("write", error))
    }

    fn set_key(&mut self, relation: RelationId, key: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(&relation.0.to_be_bytes());
        self.key.extend_from_slice(key);
    }
}

fn open_database(env: &Env<WithoutTls>) -> Result<Bytewise, heed::Error> {
    let txn = env.write_txn()?;
    let opened = env.create_databases_and_commit(txn, |opener, txn| -> Result<_, heed::Error> {
        opener.create_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, Infallible>::Commit)
    })?;
    match opened {
        CommitOrAbort::Commit(database) => Ok(database),
        CommitOrAbort::Abort(never) => match never {},
    }
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}

fn base_key(relation: RelationId, key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + key.len());
    bytes.extend_from_slice(&relation.0.to_be_bytes());
    bytes.extend_from_slice(key);
    bytes
}

/// Calls `f` with the base's key, without allocating for keys of ordinary length.
#[inline]
fn with_base_key<R>(relation: RelationId, key: &[u8], f: impl FnOnce(&[u8]) -> R) -> R {
    if key.len() > STACK_KEY_BYTES {
        return f(&base_key(relation, key));
    }
    let mut bytes = [0; PREFIX_BYTES + STACK_KEY_BYTES];
    bytes[..PREFIX_BYTES].copy_from_slice(&relation.0.to_be_bytes());
    bytes[PREFIX_BYTES..PREFIX_BYTES + key.len()].copy_from_slice(key);
    f(&bytes[..PREFIX_BYTES + key.len()])
}

fn failed(action: &'static str, error: heed::Error) -> StoreError {
    let full = match &error {
        heed::Error::Mdb(error) => *error == heed::MdbError::MapFull,
        heed::Error::Io(error) => error.kind() == std::io::ErrorKind::StorageFull,
        _ => false,
    };
    StoreError::Base { action, detail: error.to_string(), full }
}
