//! The part of a session that functions see: settings, catalog, clock, sequences, notices. It is shared with threads that compute for
//! the session, so everything in it has interior mutability; the session itself is the only one that writes.

use crate::clock::now_micros;
use crate::ddl::DdlSession;
use crate::engine::Engine;
use crate::environment::{Activity, CacheTotals, CachedStatement, Environment, PreparedInfo};
use crate::settings::{SetScope, Settings};
use crate::store_error::{interrupted, sql_error};
use catalog::object::Sequence;
use catalog::{Catalog, Change, DatabaseObjects, Oid, Result, SqlError, SqlState, Style};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::{
    AdvisoryKey, Interrupt, LockContext, LockOutcome, RelationId, SequenceId, SequenceSpec, Transaction, Wait,
};

/// What functions see of a session.
pub struct SessionState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) pid: i32,
    pub(crate) database: Oid,
    pub(crate) session_role: Oid,
    pub(crate) current_role: AtomicU64,
    pub(crate) settings: Mutex<Settings>,
    /// The catalog as the running transaction sees it.
    pub(crate) catalog: Mutex<Arc<Catalog>>,
    pub(crate) objects: Mutex<Arc<DatabaseObjects>>,
    /// What the open transaction has changed in the catalog.
    pub(crate) changes: Mutex<Vec<Change>>,
    pub(crate) transaction_start: AtomicI64,
    pub(crate) statement_start: AtomicI64,
    /// The transaction. Locked for one call at a time, never across one that may ask again.
    pub(crate) transaction: Mutex<Option<Transaction>>,
    pub(crate) interrupt: Arc<Interrupt>,
    pub(crate) locks: Arc<LockContext>,
    pub(crate) notices: Mutex<Vec<SqlError>>,
    pub(crate) activity: Mutex<Activity>,
    pub(crate) prepared_info: Mutex<Vec<PreparedInfo>>,
    sequences: Mutex<Sequences>,
}

/// What the session remembers of sequences.
#[derive(Default)]
struct Sequences {
    last: Option<Oid>,
    values: FxHashMap<Oid, Cached>,
}

/// A sequence's last value here, and values taken ahead with CACHE.
#[derive(Clone, Copy)]
struct Cached {
    relation: u32,
    last: Option<i64>,
    /// Values left after `last`, `increment` apart.
    left: u64,
    next: i64,
}

impl SessionState {
    /// The state of a session that starts now.
    #[allow(clippy::too_many_arguments)] // each is a fact of the new session, said once
    pub(crate) fn new(
        engine: Arc<Engine>,
        pid: i32,
        database: Oid,
        role: Oid,
        settings: Settings,
        catalog: Arc<Catalog>,
        activity: Activity,
    ) -> Self {
        let interrupt = Arc::new(Interrupt::new());
        let locks = engine.store.lock_context(pid, Arc::clone(&interrupt));
        let objects = catalog.objects.get(&database).cloned().unwrap_or_default();
        let now = now_micros();
        SessionState {
            engine,
            pid,
            database,
            session_role: role,
            current_role: AtomicU64::new(role.0.into()),
            settings: Mutex::new(settings),
            catalog: Mutex::new(catalog),
            objects: Mutex::new(objects),
            changes: Mutex::default(),
            transaction_start: AtomicI64::new(now),
            statement_start: AtomicI64::new(now),
            transaction: Mutex::new(None),
            interrupt,
            locks,
            notices: Mutex::default(),
            activity: Mutex::new(activity),
            prepared_info: Mutex::default(),
            sequences: Mutex::default(),
        }
    }

    /// Does something with the transaction, which every statement has.
    pub(crate) fn transaction<R>(&self, f: impl FnOnce(&mut Transaction) -> R) -> Result<R> {
        let mut held = self.transaction.lock();
        held.as_mut().map(f).ok_or_else(|| SqlError::internal("no transaction is open"))
    }

    /// Replaces the catalog that the session sees.
    pub(crate) fn set_catalog(&self, catalog: Arc<Catalog>) {
        let mut held = self.catalog.lock();
        if Arc::ptr_eq(&held, &catalog) {
            return;
        }
        *self.objects.lock() = catalog.objects.get(&self.database).cloned().unwrap_or_default();
        *held = catalog;
    }

    /// Sees the newest committed catalog, with the open transaction's changes over it.
    pub(crate) fn adopt_catalog(&self) {
        let committed = self.engine.catalog();
        let changes = self.changes.lock();
        if changes.is_empty() {
            self.set_catalog(committed);
        } else if self.catalog.lock().version < committed.version + changes.len() as u64 {
            // Others have committed changes since.
            let mut catalog = (*committed).clone();
            for change in changes.iter() {
                catalog = catalog.apply(std::slice::from_ref(change));
            }
            self.set_catalog(Arc::new(catalog));
        }
    }

    /// Takes back the open transaction's changes beyond the first `keep`.
    pub(crate) fn truncate_changes(&self, keep: usize) {
        let mut changes = self.changes.lock();
        if changes.len() == keep {
            return;
        }
        changes.truncate(keep);
        let mut catalog = self.engine.catalog();
        for change in changes.iter() {
            catalog = Arc::new(catalog.apply(std::slice::from_ref(change)));
        }
        drop(changes);
        self.set_catalog(catalog);
    }

    /// Forgets what DISCARD SEQUENCES forgets.
    pub(crate) fn discard_sequences(&self) {
        *self.sequences.lock() = Sequences::default();
    }

    fn sequence(&self, oid: Oid) -> Result<Arc<Sequence>> {
        let objects = self.objects.lock();
        objects.sequence(oid).cloned().ok_or_else(|| match objects.relations.get(&oid) {
            Some(other) => {
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", other.name()))
            }
            None => {
                let message = format!("could not open relation with OID {oid}");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
        })
    }
}

fn spec_of(sequence: &Sequence) -> SequenceSpec {
    SequenceSpec {
        start: sequence.start,
        increment: sequence.increment,
        minimum: sequence.min,
        maximum: sequence.max,
        cycle: sequence.cycle,
    }
}

impl Environment for SessionState {
    fn transaction_timestamp(&self) -> i64 {
        self.transaction_start.load(Ordering::Relaxed)
    }

    fn statement_timestamp(&self) -> i64 {
        self.statement_start.load(Ordering::Relaxed)
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.lock())
    }

    fn objects(&self) -> Arc<DatabaseObjects> {
        Arc::clone(&self.objects.lock())
    }

    fn database(&self) -> Oid {
        self.database
    }

    fn current_role(&self) -> Oid {
        Oid(self.current_role.load(Ordering::Relaxed) as u32)
    }

    fn session_role(&self) -> Oid {
        self.session_role
    }

    fn search_path(&self, implicit: bool) -> Vec<Oid> {
        let objects = self.objects();
        let user = self.catalog().roles.get(&self.current_role()).map(|r| r.name.clone()).unwrap_or_default();
        let names = self.settings.lock().search_path();
        let mut path = Vec::with_capacity(names.len() + 1);
        for name in names.iter() {
            let oid = match name.as_str() {
                "$user" => objects.schema(&user).map(|s| s.oid),
                "pg_catalog" => Some(Oid::PG_CATALOG),
                "information_schema" => Some(Oid::INFORMATION_SCHEMA),
                other => objects.schema(other).map(|s| s.oid),
            };
            if let Some(oid) = oid.filter(|oid| !path.contains(oid)) {
                path.push(oid);
            }
        }
        if implicit && !path.contains(&Oid::PG_CATALOG) {
            path.insert(0, Oid::PG_CATALOG);
        }
        path
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.settings.lock().show(name)
    }

    fn set_setting(&self, name: &str, value: &str, local: bool) -> Result<String> {
        let mut settings = self.settings.lock();
        settings.set(name, Some(value), if local { SetScope::Local } else { SetScope::Session })?;
        Ok(settings.show(name).unwrap_or_default())
    }

    fn nextval(&self, oid: Oid) -> Result<i64> {
        let sequence = self.sequence(oid)?;
        let mut sequences = self.sequences.lock();
        if let Some(cached) = sequences.values.get_mut(&oid)
            && cached.left > 0
            && cached.relation == sequence.relation
        {
            let value = cached.next;
            cached.left -= 1;
            cached.next = value.wrapping_add(sequence.increment);
            cached.last = Some(value);
            sequences.last = Some(oid);
            return Ok(value);
        }
        let cache = u64::try_from(sequence.cache).unwrap_or(1).max(1);
        let id = SequenceId(sequence.relation);
        let batch = self.transaction(|t| t.sequence_next(id, &spec_of(&sequence), cache))?;
        let batch = batch.map_err(|error| match error {
            storage::StoreError::SequenceExhausted(_) => exhausted(&sequence),
            other => sql_error(other),
        })?;
        let value = batch.first;
        let cached = Cached {
            relation: sequence.relation,
            last: Some(value),
            left: batch.count - 1,
            next: value.wrapping_add(sequence.increment),
        };
        sequences.values.insert(oid, cached);
        sequences.last = Some(oid);
        Ok(value)
    }

    fn currval(&self, oid: Oid) -> Result<i64> {
        let sequence = self.sequence(oid)?;
        let sequences = self.sequences.lock();
        sequences.values.get(&oid).and_then(|c| c.last).ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("currval of sequence \"{}\" is not yet defined in this session", sequence.name),
            )
        })
    }

    fn lastval(&self) -> Result<i64> {
        let sequences = self.sequences.lock();
        let last = sequences.last.and_then(|oid| sequences.values.get(&oid)).and_then(|c| c.last);
        last.ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "lastval is not yet defined in this session",
            )
        })
    }

    fn setval(&self, oid: Oid, value: i64, is_called: bool) -> Result<i64> {
        let sequence = self.sequence(oid)?;
        if value < sequence.min || value > sequence.max {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!(
                    "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                    sequence.name, sequence.min, sequence.max
                ),
            ));
        }
        self.transaction(|t| t.sequence_set(SequenceId(sequence.relation), value, is_called))?;
        let mut sequences = self.sequences.lock();
        let last = if is_called { Some(value) } else { sequences.values.get(&oid).and_then(|c| c.last) };
        sequences.values.insert(oid, Cached { relation: sequence.relation, last, left: 0, next: value });
        Ok(value)
    }

    fn sequence_state(&self, oid: Oid) -> Result<(i64, bool)> {
        let sequence = self.sequence(oid)?;
        let state = self.engine.store.sequence_state(SequenceId(sequence.relation));
        Ok(state.map_or((sequence.start, false), |state| (state.last_value, state.is_called)))
    }

    fn backend_pid(&self) -> i32 {
        self.pid
    }

    fn transaction_id(&self) -> Result<u64> {
        self.transaction(Transaction::xid)
    }

    fn transaction_id_if_assigned(&self) -> Option<u64> {
        self.transaction.lock().as_ref().and_then(Transaction::xid_if_assigned)
    }

    fn advisory_lock(
        &self,
        key: (i64, Option<i32>),
        shared: bool,
        session: bool,
        wait: bool,
    ) -> Result<bool> {
        let wait = if wait { Wait::Block } else { Wait::Skip };
        let key = advisory_key(key);
        let outcome = if session {
            self.locks.lock_advisory(key, shared, wait)
        } else {
            self.transaction(|t| t.lock_advisory(key, shared, wait))?
        };
        let outcome = outcome.map_err(sql_error)?;
        Ok(!matches!(outcome, LockOutcome::Skipped))
    }

    fn advisory_unlock(&self, key: (i64, Option<i32>), shared: bool) -> Result<bool> {
        Ok(self.locks.unlock_advisory(advisory_key(key), shared))
    }

    fn advisory_unlock_all(&self) -> Result<()> {
        self.locks.unlock_advisory_all();
        Ok(())
    }

    fn relation_size(&self, relation: u32) -> (u64, u64) {
        let statistics = self.engine.store.statistics(RelationId(relation));
        (statistics.rows, statistics.bytes)
    }

    fn server_start(&self) -> i64 {
        self.engine.started_at
    }

    fn signal_backend(&self, pid: i32, terminate: bool) -> Result<bool> {
        Ok(self.engine.signal(pid, terminate))
    }

    fn activity(&self) -> Vec<Activity> {
        self.engine.activity()
    }

    fn prepared_statements(&self) -> Vec<PreparedInfo> {
        self.prepared_info.lock().clone()
    }

    fn statement_cache(&self) -> (Vec<CachedStatement>, CacheTotals) {
        self.engine.cache.report()
    }

    fn notice(&self, notice: SqlError) {
        self.notices.lock().push(notice);
    }

    fn check_interrupt(&self) -> Result<()> {
        match self.interrupt.pending() {
            None => Ok(()),
            Some(reason) => Err(interrupted(reason)),
        }
    }

    fn sleep(&self, duration: Duration) -> Result<()> {
        // Wakes now and then to look; a cancel is answered within 10 ms.
        let end = Instant::now() + duration;
        loop {
            self.check_interrupt()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(10)));
        }
    }
}

impl DdlSession for SessionState {
    fn new_oid(&self) -> Result<Oid> {
        self.engine.new_oid()
    }

    fn with_transaction(&self, f: &mut dyn FnMut(&mut Transaction) -> Result<()>) -> Result<()> {
        self.transaction(f)?
    }

    fn refresh_catalog(&self) -> Result<()> {
        self.adopt_catalog();
        Ok(())
    }

    fn record(&self, change: Change) -> Result<()> {
        let next = self.catalog().apply(std::slice::from_ref(&change));
        self.changes.lock().push(change);
        self.set_catalog(Arc::new(next));
        Ok(())
    }

    fn style(&self) -> Arc<Style> {
        self.settings.lock().style()
    }

    fn sessions_in(&self, database: Oid) -> usize {
        self.engine.sessions_in(database, self.pid)
    }

    fn check_setting(&self, name: &str, values: &[String]) -> Result<String> {
        self.settings.lock().check_assignment(name, values)
    }
}

fn advisory_key((first, second): (i64, Option<i32>)) -> AdvisoryKey {
    match second {
        None => AdvisoryKey::One(first),
        Some(second) => AdvisoryKey::Two(first as i32, second),
    }
}

fn exhausted(sequence: &Sequence) -> SqlError {
    let (which, bound) =
        if sequence.increment > 0 { ("maximum", sequence.max) } else { ("minimum", sequence.min) };
    SqlError::new(
        SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        format!("nextval: reached {which} value of sequence \"{}\" ({bound})", sequence.name),
    )
}
