//! The engine: what all sessions share. The store, the catalog that travels with its commits, the plan cache, the list of sessions.

use crate::cache::PlanCache;
use crate::clock::now_micros;
use crate::environment::Activity;
use crate::plan::relational::RelationalPlanner;
use crate::session::{Stop, Stopper};
use crate::state::SessionState;
use crate::statistics::Keeper;
use crate::store_error::sql_error;
use catalog::object::{Object, ObjectId};
use catalog::{Catalog, Change, Oid, Result, SqlError};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use storage::{
    Attachment, CommittedWrite, Direction, Durability, Isolation, RelationId, Store, StoreOptions,
};

/// How to open an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Data directory.
    pub data_dir: PathBuf,
    /// Most sessions at once.
    pub max_connections: u32,
    /// Checkpoint once this many bytes of recent commits are in memory.
    pub checkpoint_bytes: usize,
    /// Checkpoint at the latest after this long.
    pub checkpoint_interval: Duration,
    /// Whether commits wait for the device; false risks the whole store in a crash of the machine.
    pub fsync: bool,
}

impl EngineOptions {
    /// The defaults for a directory.
    pub fn new(data_dir: PathBuf) -> Self {
        let store = StoreOptions::default();
        EngineOptions {
            data_dir,
            max_connections: 200,
            checkpoint_bytes: store.checkpoint_bytes,
            checkpoint_interval: store.checkpoint_interval,
            fsync: store.sync,
        }
    }
}

/// OIDs are given out from a reserve that is logged this many at a time (PostgreSQL's `VAR_OID_PREFETCH`).
const OID_RESERVE: u32 = 8_192;
/// Key of the row in the relation CATALOG that says up to where OIDs are reserved; too short to be an object's.
const OID_KEY: &[u8] = b"oid";

/// The OIDs that may be given out without logging.
struct OidReserve {
    next: u32,
    end: u32,
}

/// The engine.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) cache: PlanCache,
    pub(crate) started_at: i64,
    pub(crate) max_connections: u32,
    pub(crate) relational: OnceLock<Arc<dyn RelationalPlanner>>,
    oids: Mutex<OidReserve>,
    sessions: Mutex<FxHashMap<i32, Registered>>,
    keeper: Keeper,
}

/// A running session, as others see it.
struct Registered {
    state: Weak<SessionState>,
    stopper: Stopper,
    wake: crate::session::Waker,
}

impl Engine {
    /// Opens the store, making it on first use with the role and database `postgres`.
    pub fn open(options: EngineOptions) -> Result<Arc<Engine>> {
        let store_options = StoreOptions {
            checkpoint_bytes: options.checkpoint_bytes,
            checkpoint_interval: options.checkpoint_interval,
            sync: options.fsync,
            ..StoreOptions::default()
        };
        let store = Store::open(&options.data_dir, store_options).map_err(sql_error)?;
        let (catalog, reserved) = load_catalog(&store)?;
        let first_use = catalog.databases.is_empty();
        store.set_publish_hook(Arc::new(catalog), Box::new(publish));
        let engine = Arc::new(Engine {
            store,
            cache: PlanCache::default(),
            started_at: now_micros(),
            max_connections: options.max_connections,
            relational: OnceLock::new(),
            oids: Mutex::new(OidReserve { next: reserved, end: reserved }),
            sessions: Mutex::default(),
            keeper: Keeper::default(),
        });
        if first_use {
            engine.initialize()?;
        }
        Ok(engine)
    }

    /// Gives queries that are heavy to a second planner. Once, before sessions start.
    pub fn set_relational(&self, planner: Arc<dyn RelationalPlanner>) {
        let _already_set = self.relational.set(planner);
    }

    /// From now on statistics are made anew, in the background, as tables change.
    pub fn keep_statistics(self: &Arc<Self>) -> Result<()> {
        self.keeper.start(self)
    }

    /// Checkpoints and closes the store. Sessions have ended by then.
    pub fn close(&self) -> Result<()> {
        self.keeper.stop();
        self.store.close().map_err(sql_error)
    }

    /// The catalog as committed last.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.store.view().attachment::<Catalog>().unwrap_or_default()
    }

    /// Most sessions at once.
    pub fn max_connections(&self) -> u32 {
        self.max_connections
    }

    /// An OID that no object ever had, nor any relation of the store.
    pub(crate) fn new_oid(&self) -> Result<Oid> {
        let mut oids = self.oids.lock();
        if oids.next == oids.end {
            let end = oids.end.checked_add(OID_RESERVE).ok_or_else(|| SqlError::internal("out of OIDs"))?;
            let mut transaction = self.store.begin(Isolation::ReadCommitted);
            transaction.put(RelationId::CATALOG, OID_KEY, &end.to_be_bytes()).map_err(sql_error)?;
            transaction.commit(Durability::Synced).map_err(sql_error)?;
            oids.end = end;
        }
        let oid = oids.next;
        oids.next += 1;
        Ok(Oid(oid))
    }

    fn initialize(&self) -> Result<()> {
        let mut transaction = self.store.begin(Isolation::ReadCommitted);
        for (database, object) in crate::ddl::initial_objects() {
            let key = object.id(database).key();
            transaction.insert(RelationId::CATALOG, &key, &object.encode()).map_err(sql_error)?;
        }
        transaction.commit(Durability::Synced).map_err(sql_error)?;
        Ok(())
    }

    pub(crate) fn register(&self, state: &Arc<SessionState>, stopper: Stopper, wake: crate::session::Waker) {
        let registered = Registered { state: Arc::downgrade(state), stopper, wake };
        self.sessions.lock().insert(state.pid, registered);
    }

    pub(crate) fn unregister(&self, pid: i32) {
        self.sessions.lock().remove(&pid);
    }

    /// Cancels or terminates what another session does; false if there is no such session.
    pub(crate) fn signal(&self, pid: i32, terminate: bool) -> bool {
        let sessions = self.sessions.lock();
        let Some(session) = sessions.get(&pid) else { return false };
        (session.stopper)(if terminate { Stop::Terminate } else { Stop::Cancel });
        if terminate {
            session.wake.wake();
        }
        true
    }

    /// Sessions that have a database in use, other than one.
    pub(crate) fn sessions_in(&self, database: Oid, except: i32) -> usize {
        let sessions = self.sessions.lock();
        let states = sessions.values().filter_map(|s| s.state.upgrade());
        states.filter(|s| s.database == database && s.pid != except).count()
    }

    pub(crate) fn activity(&self) -> Vec<Activity> {
        let sessions = self.sessions.lock();
        let mut rows: Vec<Activity> =
            sessions.values().filter_map(|s| Some(s.state.upgrade()?.activity.lock().clone())).collect();
        rows.sort_by_key(|row| row.pid);
        rows
    }
}

/// The publish hook: the catalog after a commit's changes.
fn publish(before: &Attachment, writes: &[CommittedWrite<'_>]) -> Attachment {
    let Ok(catalog) = Arc::clone(before).downcast::<Catalog>() else { return Arc::clone(before) };
    let changes: Vec<Change> = writes.iter().filter_map(change).collect();
    if changes.is_empty() { catalog } else { Arc::new(catalog.apply(&changes)) }
}

fn change(write: &CommittedWrite<'_>) -> Option<Change> {
    let (key, value) = write;
    let id = ObjectId::from_key(key)?;
    match value {
        // The row was encoded by this process, a moment ago.
        Some(value) => Object::decode(value).ok().map(|object| Change::Put(id.database, Box::new(object))),
        None => Some(Change::Remove(id)),
    }
}

/// Reads the relation CATALOG: the objects, and up to where OIDs are reserved.
fn load_catalog(store: &Store) -> Result<(Catalog, u32)> {
    let mut catalog = Catalog::default();
    let mut reserved = Oid::FIRST_NORMAL.0;
    let mut later = Vec::new();
    let mut scan =
        store.view().scan_prefix(RelationId::CATALOG, &[], Direction::Forward).map_err(sql_error)?;
    while let Some((key, value)) = scan.next().map_err(sql_error)? {
        if key == OID_KEY {
            reserved = value.try_into().map(u32::from_be_bytes).unwrap_or(reserved);
            continue;
        }
        let damaged = |what: String| {
            SqlError::new(catalog::SqlState::DATA_CORRUPTED, format!("catalog object is damaged: {what}"))
        };
        let id = ObjectId::from_key(key).ok_or_else(|| damaged(format!("key {key:02x?}")))?;
        let object = Object::decode(value).map_err(|error| damaged(error.to_string()))?;
        // Databases come before what is in them, whatever the order of keys.
        match object {
            Object::Database(_) | Object::Role(_) | Object::SettingOverride(_) => {
                catalog.put(id.database, object)
            }
            other => later.push((id.database, other)),
        }
    }
    for (database, object) in later {
        catalog.put(database, object);
    }
    Ok((catalog, reserved))
}
