//! Keeps statistics fresh: a thread looks at all tables now and then, and analyzes those that have changed enough (autovacuum's rule:
//! `autovacuum_analyze_threshold` and `autovacuum_analyze_scale_factor`).

use crate::engine::Engine;
use crate::store_error::sql_error;
use catalog::object::{Object, Table};
use catalog::statistics::TableStatistics;
use catalog::{Catalog, Oid, Result, SqlError, SqlState};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;
use storage::{Durability, Isolation, LockOutcome, RelationId, TableLockMode, Wait};

/// How long between two rounds.
const NAP: Duration = Duration::from_secs(10);
/// `autovacuum_analyze_threshold`
const THRESHOLD: f64 = 50.0;
/// `autovacuum_analyze_scale_factor`
const SCALE_FACTOR: f64 = 0.1;

/// The thread's off switch; dropping it ends the thread.
#[derive(Default)]
pub struct Keeper {
    stop: Arc<(Mutex<bool>, Condvar)>,
}

impl Keeper {
    /// Starts the thread for an engine.
    pub fn start(&self, engine: &Arc<Engine>) -> Result<()> {
        let (engine, stop) = (Arc::downgrade(engine), Arc::clone(&self.stop));
        std::thread::Builder::new()
            .name("statistics".into())
            .spawn(move || keep(&engine, &stop))
            .map(|_detached| ())
            .map_err(|error| SqlError::internal(format!("could not start a thread: {error}")))
    }

    /// Asks the thread to end; it does so between two tables.
    pub fn stop(&self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop();
    }
}

type Stop = (Mutex<bool>, Condvar);

fn keep(engine: &Weak<Engine>, stop: &Stop) {
    loop {
        let guard = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (guard, _) = stop
            .1
            .wait_timeout_while(guard, NAP, |stopped| !*stopped)
            .unwrap_or_else(PoisonError::into_inner);
        if *guard {
            return;
        }
        drop(guard);
        let Some(engine) = engine.upgrade() else { return };
        round(&engine, stop);
    }
}

/// Analyzes what has changed. A table that fails is tried again in the next round.
fn round(engine: &Engine, stop: &Stop) {
    let stopped = || match *stop.0.lock().unwrap_or_else(PoisonError::into_inner) {
        true => Err(SqlError::new(SqlState::QUERY_CANCELED, "canceling autovacuum task")),
        false => Ok(()),
    };
    let catalog = engine.catalog();
    for (database, objects) in &catalog.objects {
        for relation in objects.relations.values() {
            let catalog::Relation::Table(table) = relation else { continue };
            if stopped().is_err() {
                return;
            }
            if is_stale(engine, table, objects.statistics.get(&table.oid).map(|s| &**s)) {
                let _tried_again = refresh(engine, *database, table, &stopped);
            }
        }
    }
}

/// Whether so much has changed that statistics are made anew.
fn is_stale(engine: &Engine, table: &Table, known: Option<&TableStatistics>) -> bool {
    let now = engine.store.statistics(RelationId(table.relation));
    let known = known.filter(|s| s.relation == table.relation && s.writes <= now.writes);
    let (writes, rows) = known.map_or((0, 0.0), |s| (s.writes, s.rows));
    (now.writes - writes) as f64 > THRESHOLD + SCALE_FACTOR * rows
}

/// Analyzes a table without holding up anybody, and keeps the result unless somebody is changing the table's definition.
fn refresh(engine: &Engine, database: Oid, table: &Arc<Table>, stop: &dyn Fn() -> Result<()>) -> Result<()> {
    let view = engine.store.view();
    let objects = view.attachment::<Catalog>().and_then(|c| c.objects.get(&database).cloned());
    let before = objects.and_then(|o| o.statistics.get(&table.oid).cloned());
    let target = super::DEFAULT_TARGET;
    let statistics = super::analyze(table, before.as_deref(), &[], target, &view, &engine.store, stop)?;
    drop(view);
    let mut transaction = engine.store.begin(Isolation::ReadCommitted);
    let lock = transaction
        .lock_relation(RelationId(table.oid.0), TableLockMode::ShareUpdateExclusive, Wait::Skip)
        .map_err(sql_error)?;
    let catalog = engine.catalog();
    let same = catalog
        .objects
        .get(&database)
        .and_then(|o| o.table(table.oid))
        .is_some_and(|now| now.relation == table.relation && now.columns == table.columns);
    if matches!(lock, LockOutcome::Skipped) || !same {
        return Ok(());
    }
    let object = Object::Statistics(statistics);
    let key = object.id(database).key();
    transaction.put(RelationId::CATALOG, &key, &object.encode()).map_err(sql_error)?;
    transaction.commit(Durability::Relaxed).map_err(sql_error)?;
    Ok(())
}
