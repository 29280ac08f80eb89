//! A transaction: a snapshot, its own writes, its locks, its savepoints. Dropping it rolls back.

use std::mem;
use std::sync::Arc;

use crate::error::{KEY_BYTES_MAX, StoreError, VALUE_BYTES_MAX};
use crate::ids::{CommitTimestamp, Durability, Isolation, RelationId, SavepointId, SequenceId};
use crate::locks::LockTag;
use crate::locks::{AdvisoryKey, HeldLocks, LockContext, LockMode, LockOutcome, TableLockMode, Wait};
use crate::run::RunBuilder;
use crate::sequence::{SequenceBatch, SequenceSpec};
use crate::serial::SerialTransaction;
use crate::store::Store;
use crate::view::{Published, ReadView};
use crate::write_set::WriteSet;

/// What became of a row between a statement's snapshot and now; what an UPDATE asks once it holds the row's lock
/// (PostgreSQL's EvalPlanQual begins here).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// As the statement's view has it, including not being there.
    Same,
    /// Another transaction committed this value since.
    Changed(Vec<u8>),
    /// Another transaction committed its deletion since.
    Deleted,
}

/// One transaction, owned by one session. Statements bracket their work with [`Transaction::begin_statement`] and
/// [`Transaction::end_statement`] (or [`Transaction::abort_statement`]); what a statement writes it does not itself see.
///
/// A transaction that only reads allocates nothing, logs nothing and locks nothing.
pub struct Transaction {
    store: Store,
    isolation: Isolation,
    context: Option<Arc<LockContext>>,
    snapshot: Option<Arc<Published>>,
    had_statement: bool,
    /// What SERIALIZABLE keeps of this transaction.
    serial: Option<Arc<SerialTransaction>>,
    statement: RunBuilder,
    writes: WriteSet,
    savepoints: Vec<(SavepointId, WriteSet)>,
    next_savepoint: u64,
    held: HeldLocks,
    xid: Option<u64>,
    /// A sequence's record must be synced before anybody hears of its number.
    must_sync: bool,
}

impl Transaction {
    pub(crate) fn new(store: Store, isolation: Isolation, context: Option<Arc<LockContext>>) -> Transaction {
        Transaction {
            store,
            isolation,
            context,
            snapshot: None,
            had_statement: false,
            serial: None,
            statement: RunBuilder::default(),
            writes: WriteSet::default(),
            savepoints: Vec::new(),
            next_savepoint: 1,
            held: HeldLocks::default(),
            xid: None,
            must_sync: false,
        }
    }

    /// The store that this transaction belongs to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The level it was begun with.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Changes the level; only before the first statement (`SET TRANSACTION ISOLATION LEVEL`).
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
    }

    /// Whether a statement has begun or a view been taken: too late for [`Transaction::set_isolation`].
    pub fn has_snapshot(&self) -> bool {
        self.had_statement
    }

    /// Whether anything has been written, statement buffer included.
    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty() || !self.statement.is_empty()
    }

    // --- statements ---

    /// READ COMMITTED takes a fresh snapshot; the other levels keep their first.
    pub fn begin_statement(&mut self) {
        if self.isolation == Isolation::ReadCommitted {
            self.snapshot = None;
        }
        self.snapshot();
    }

    /// The snapshot, taken now if there is none.
    fn snapshot(&mut self) -> &Arc<Published> {
        self.had_statement = true;
        let (store, serial) = (&self.store, &mut self.serial);
        self.snapshot.get_or_insert_with(|| match self.isolation {
            Isolation::ReadCommitted | Isolation::RepeatableRead => store.published(),
            Isolation::Serializable => {
                let (snapshot, transaction) = store.begin_serial();
                *serial = Some(transaction);
                snapshot
            }
        })
    }

    /// Adds the statement's writes to the transaction's: from now on they are seen. READ COMMITTED lets its snapshot go, so an
    /// idle transaction keeps nothing old alive.
    pub fn end_statement(&mut self) {
        self.release_snapshot();
        if !self.statement.is_empty() {
            self.writes.push(mem::take(&mut self.statement).finish());
        }
    }

    /// Drops the statement's writes. Its locks stay, as PostgreSQL's do until the transaction or its savepoint ends.
    pub fn abort_statement(&mut self) {
        self.release_snapshot();
        self.statement = RunBuilder::default();
    }

    fn release_snapshot(&mut self) {
        if self.isolation == Isolation::ReadCommitted {
            self.snapshot = None;
        }
    }

    // --- reading ---

    /// What the current statement sees: the transaction's earlier writes over its snapshot. Takes the snapshot if no statement
    /// was begun.
    pub fn view(&mut self) -> ReadView {
        let snapshot = Arc::clone(self.snapshot());
        ReadView::new(snapshot, self.writes.clone()).with_reader(self.serial.clone())
    }

    /// What a statement beginning now under READ COMMITTED would see, whatever this transaction's level: what checks of
    /// constraints look at.
    pub fn latest_view(&self) -> ReadView {
        ReadView::new(self.store.published(), self.writes.clone())
    }

    /// The newest state of `key`: own write (the statement's before the transaction's), else what was committed last. What a
    /// uniqueness check reads, after it has locked the key.
    pub fn latest<R>(
        &self,
        relation: RelationId,
        key: &[u8],
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, StoreError> {
        if let Some(own) = self.statement.get(relation, key).or_else(|| self.writes.get(relation, key)) {
            return Ok(own.map(f));
        }
        self.store.published().get(relation, key, f)
    }

    /// Compares what is committed now with what the statement's view has. Call it with the row locked, or the answer may be
    /// stale at once. Under REPEATABLE READ and SERIALIZABLE any difference is [`StoreError::SerializationFailure`].
    pub fn current(&mut self, relation: RelationId, key: &[u8]) -> Result<Current, StoreError> {
        if self.writes.get(relation, key).is_some() {
            return Ok(Current::Same);
        }
        let now = self.store.published();
        let snapshot = self.snapshot();
        if now.timestamp == snapshot.timestamp {
            return Ok(Current::Same);
        }
        let current = difference(snapshot, &now, relation, key)?;
        match (self.isolation, &current) {
            (Isolation::ReadCommitted, _) | (_, Current::Same) => Ok(current),
            (Isolation::RepeatableRead | Isolation::Serializable, _) => Err(StoreError::SerializationFailure),
        }
    }

    /// What the statement in progress has written of `key` so far: nothing, its value, or that it is deleted.
    pub fn buffered_get(&self, relation: RelationId, key: &[u8]) -> Option<Option<&[u8]>> {
        self.statement.get(relation, key)
    }

    // --- writing ---

    /// Writes a row that is new: its relation has one row more. The caller knows that the key is free.
    pub fn insert(&mut self, relation: RelationId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_length(key, value)?;
        self.statement.write(relation, key, Some(value), 1);
        Ok(())
    }

    /// Writes a row that exists already.
    pub fn put(&mut self, relation: RelationId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_length(key, value)?;
        self.statement.write(relation, key, Some(value), 0);
        Ok(())
    }

    /// Deletes a row that exists.
    pub fn delete(&mut self, relation: RelationId, key: &[u8]) -> Result<(), StoreError> {
        check_length(key, b"")?;
        self.statement.write(relation, key, None, -1);
        Ok(())
    }

    /// Removes a relation with everything in it, or a sequence, once this transaction commits. Views taken earlier may go on
    /// reading it. Its id must not be used again.
    pub fn drop_relation(&mut self, relation: RelationId) {
        self.statement.drop_relation(relation);
    }

    /// The next number of a sequence, and `cache - 1` more where there are. Stays taken whatever becomes of this transaction;
    /// its commit makes sure that the number cannot come again.
    pub fn sequence_next(
        &mut self,
        id: SequenceId,
        spec: &SequenceSpec,
        cache: u64,
    ) -> Result<SequenceBatch, StoreError> {
        let (batch, logged) = self.store.sequences().next(id, spec, cache)?;
        self.must_sync |= logged;
        Ok(batch)
    }

    /// `setval`: at once, whatever becomes of this transaction.
    pub fn sequence_set(&mut self, id: SequenceId, last_value: i64, is_called: bool) {
        self.store.sequences().set(id, last_value, is_called);
        self.must_sync = true;
    }

    /// This transaction's number, given out on first use (`txid_current`).
    pub fn xid(&mut self) -> u64 {
        let store = &self.store;
        *self.xid.get_or_insert_with(|| store.allocate_xid())
    }

    /// The number, if one was given out (`txid_current_if_assigned`).
    pub fn xid_if_assigned(&self) -> Option<u64> {
        self.xid
    }

    // --- locks ---

    /// Locks a row, or a unique key's value, until the transaction ends.
    pub fn lock(
        &mut self,
        relation: RelationId,
        key: &[u8],
        mode: LockMode,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let context = context(&mut self.context, &self.store);
        self.held.lock_row(context, LockTag::row(relation, key), mode as u8, wait)
    }

    /// Locks a relation until the transaction ends. The modes of SELECT, INSERT, UPDATE and DELETE cost some tens of
    /// nanoseconds while nobody holds or wants a stronger one.
    pub fn lock_relation(
        &mut self,
        relation: RelationId,
        mode: TableLockMode,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let context = context(&mut self.context, &self.store);
        self.held.lock_relation(context, relation, mode, wait)
    }

    /// Takes an advisory lock until the transaction ends (`pg_advisory_xact_lock`).
    pub fn lock_advisory(
        &mut self,
        key: AdvisoryKey,
        shared: bool,
        wait: Wait,
    ) -> Result<LockOutcome, StoreError> {
        let context = context(&mut self.context, &self.store);
        self.held.lock_advisory(context, key, shared, wait)
    }

    /// The owner of this transaction's locks. Timeouts are set there.
    pub fn lock_context(&mut self) -> &Arc<LockContext> {
        context(&mut self.context, &self.store)
    }

    // --- savepoints ---

    /// Marks the present state, to come back to. Between statements only.
    pub fn savepoint(&mut self) -> SavepointId {
        let id = SavepointId(self.next_savepoint);
        self.next_savepoint += 1;
        self.savepoints.push((id, self.writes.clone()));
        id
    }

    /// Undoes all writes since the savepoint, which stays; later ones go. Locks stay until the transaction ends.
    pub fn rollback_to(&mut self, id: SavepointId) -> Result<(), StoreError> {
        let at = self.find_savepoint(id)?;
        self.abort_statement();
        self.savepoints.truncate(at + 1);
        if let Some((_, writes)) = self.savepoints.get(at) {
            self.writes = writes.clone();
        }
        Ok(())
    }

    /// Forgets the savepoint and all later ones; writes stay.
    pub fn release(&mut self, id: SavepointId) -> Result<(), StoreError> {
        let at = self.find_savepoint(id)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    fn find_savepoint(&self, id: SavepointId) -> Result<usize, StoreError> {
        self.savepoints.iter().rposition(|(other, _)| *other == id).ok_or(StoreError::UnknownSavepoint)
    }

    // --- the end ---

    /// Makes all writes durable (as `durability` says) and visible, then frees the locks. Without writes there is nothing to
    /// wait for. On an error nothing was written and
    /// the transaction is rolled back, except that after [`StoreError::Io`] or [`StoreError::Poisoned`] only a restart tells
    /// whether the writes survived. A statement in progress is ended first.
    pub fn commit(mut self, durability: Durability) -> Result<CommitTimestamp, StoreError> {
        self.end_statement();
        self.savepoints.clear();
        if self.writes.is_empty() && !self.must_sync {
            if let Some(serial) = &self.serial {
                self.store.commit_serial_reader(serial)?;
            }
            return Ok(self.store.published_timestamp());
        }
        let run = mem::take(&mut self.writes).into_run();
        let store = self.store.clone();
        self.snapshot = None;
        // IMPORTANT: locks go in `Drop`, after the commit has been published: who waited for a row must find this version.
        store.commit(run, self.xid.unwrap_or(0), durability, self.serial.clone())
    }

    /// Undoes everything and frees the locks. Dropping does the same.
    pub fn rollback(self) {}
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            self.held.release(context);
        }
        if let Some(serial) = &self.serial {
            self.store.end_serial(serial);
        }
    }
}

fn context<'a>(context: &'a mut Option<Arc<LockContext>>, store: &Store) -> &'a Arc<LockContext> {
    context.get_or_insert_with(|| store.lock_context(0, Arc::default()))
}

/// How `key` differs between two published states.
fn difference(
    before: &Published,
    now: &Published,
    relation: RelationId,
    key: &[u8],
) -> Result<Current, StoreError> {
    if let Some((timestamp, value)) = now.recent(relation, key) {
        return Ok(match (timestamp <= before.timestamp, value.as_bytes()) {
            (true, _) => Current::Same,
            (false, Some(value)) => Current::Changed(value.to_vec()),
            (false, None) => match before.get(relation, key, |_| ())? {
                Some(()) => Current::Deleted,
                None => Current::Same,
            },
        });
    }
    if Arc::ptr_eq(&before.layers.base, &now.layers.base) {
        return Ok(Current::Same);
    }
    // A checkpoint has moved versions to the base since, where they carry no timestamp: the bytes tell.
    let now = now.layers.base.get(relation, key)?;
    let same = before.get(relation, key, |value| now == Some(value))?;
    Ok(match (same, now) {
        (Some(true), _) | (None, None) => Current::Same,
        (_, Some(value)) => Current::Changed(value.to_vec()),
        (_, None) => Current::Deleted,
    })
}

fn check_length(key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    if key.len() > KEY_BYTES_MAX {
        return Err(StoreError::KeyTooLong { length: key.len() });
    }
    if value.len() > VALUE_BYTES_MAX {
        return Err(StoreError::ValueTooLong { length: value.len() });
    }
    Ok(())
}
