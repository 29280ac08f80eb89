//! Transaction blocks (compare PostgreSQL's `xact.c`): beginning, committing, failing, savepoints.

use super::{Block, Session};
use crate::client::{Client, CommandTag};
use crate::clock::now_micros;
use crate::store_error::sql_error;
use crate::utility::TransactionModes;
use catalog::{Result, Severity, SqlError, SqlState};
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{Durability, Isolation, SavepointId};

/// What the session knows of the open transaction besides the store's.
#[derive(Default)]
pub(crate) struct TransactionFacts {
    /// READ ONLY
    pub(super) read_only: bool,
    /// DEFERRABLE
    deferrable: bool,
    /// Modes other than the defaults were set, so the settings that show them must go back.
    modes_set: bool,
    /// Whether a query has run, after which SET TRANSACTION ISOLATION LEVEL comes too late.
    pub(super) queried: bool,
    savepoints: Vec<Savepoint>,
}

struct Savepoint {
    name: String,
    id: SavepointId,
    /// How many catalog changes there were.
    changes: usize,
}

impl Session {
    /// Makes sure that a transaction is open.
    pub(super) fn ensure_transaction(&mut self) {
        if self.block == Block::Idle {
            self.start_transaction();
            self.block = Block::Implicit;
        }
    }

    fn start_transaction(&mut self) {
        let (isolation, read_only, deferrable, lock_timeout, deadlock_timeout) = {
            let mut settings = self.state.settings.lock();
            settings.begin_transaction();
            (
                isolation(settings.default_isolation()),
                settings.is_on("default_transaction_read_only"),
                settings.is_on("default_transaction_deferrable"),
                settings.lock_timeout(),
                settings.integer("deadlock_timeout"),
            )
        };
        self.state.locks.set_lock_timeout(lock_timeout.unwrap_or_default());
        self.state.locks.set_deadlock_timeout(Duration::from_millis(deadlock_timeout.unsigned_abs()));
        self.transaction = TransactionFacts { read_only, deferrable, ..TransactionFacts::default() };
        let transaction = self.engine.store.begin_in(&self.state.locks, isolation);
        *self.state.transaction.lock() = Some(transaction);
        let now = now_micros();
        self.state.transaction_start.store(now, Ordering::Relaxed);
        self.state.statement_start.store(now, Ordering::Relaxed);
        self.state.adopt_catalog();
    }

    /// BEGIN, START TRANSACTION.
    pub(super) fn begin(&mut self, modes: &TransactionModes, start: bool) -> Result<CommandTag> {
        match self.block {
            Block::Idle | Block::Implicit => {
                self.ensure_transaction();
                self.block = Block::InBlock;
                self.set_transaction_modes(modes)?;
            }
            Block::InBlock | Block::Failed => {
                self.warn(SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress");
                self.set_transaction_modes(modes)?;
            }
        }
        Ok(CommandTag::plain(if start { "START TRANSACTION" } else { "BEGIN" }))
    }

    /// SET TRANSACTION, and the modes of BEGIN.
    pub(super) fn set_transaction_modes(&mut self, modes: &TransactionModes) -> Result<()> {
        self.transaction.modes_set |= *modes != TransactionModes::default();
        if let Some(name) = modes.isolation {
            let wanted = isolation(name);
            let unchanged = self.state.transaction(|t| t.isolation() == wanted)?;
            if !unchanged {
                if self.transaction.queried {
                    return Err(SqlError::new(
                        SqlState::ACTIVE_SQL_TRANSACTION,
                        "SET TRANSACTION ISOLATION LEVEL must be called before any query",
                    ));
                }
                self.state.transaction(|t| t.set_isolation(wanted))?;
            }
            self.state.settings.lock().force("transaction_isolation", name);
        }
        if let Some(read_only) = modes.read_only {
            if !read_only && self.transaction.read_only && self.transaction.queried {
                return Err(SqlError::new(
                    SqlState::ACTIVE_SQL_TRANSACTION,
                    "transaction read-write mode must be set before any query",
                ));
            }
            self.transaction.read_only = read_only;
            self.state.settings.lock().force("transaction_read_only", if read_only { "on" } else { "off" });
        }
        if let Some(deferrable) = modes.deferrable {
            self.transaction.deferrable = deferrable;
            self.state.settings.lock().force("transaction_deferrable", if deferrable { "on" } else { "off" });
        }
        Ok(())
    }

    /// COMMIT. In a failed block it rolls back and says so.
    pub(super) fn commit(&mut self, chain: bool) -> Result<CommandTag> {
        match self.block {
            Block::InBlock => {
                let modes = self.modes();
                self.commit_now()?;
                self.chain(chain, modes)?;
                Ok(CommandTag::plain("COMMIT"))
            }
            Block::Failed => {
                let modes = self.modes();
                self.rollback_now();
                self.chain(chain, modes)?;
                Ok(CommandTag::plain("ROLLBACK"))
            }
            Block::Idle | Block::Implicit => {
                if chain {
                    return Err(SqlError::new(
                        SqlState::NO_ACTIVE_SQL_TRANSACTION,
                        "COMMIT AND CHAIN can only be used in transaction blocks",
                    ));
                }
                self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
                self.commit_now()?;
                Ok(CommandTag::plain("COMMIT"))
            }
        }
    }

    /// ROLLBACK.
    pub(super) fn rollback(&mut self, chain: bool) -> Result<CommandTag> {
        match self.block {
            Block::InBlock | Block::Failed => {
                let modes = self.modes();
                self.rollback_now();
                self.chain(chain, modes)?;
            }
            Block::Idle | Block::Implicit => {
                if chain {
                    return Err(SqlError::new(
                        SqlState::NO_ACTIVE_SQL_TRANSACTION,
                        "ROLLBACK AND CHAIN can only be used in transaction blocks",
                    ));
                }
                self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
                self.rollback_now();
            }
        }
        Ok(CommandTag::plain("ROLLBACK"))
    }

    /// The modes of the open transaction, for AND CHAIN.
    fn modes(&self) -> TransactionModes {
        let isolation = self.state.transaction.lock().as_ref().map(|t| isolation_name(t.isolation()));
        TransactionModes {
            isolation,
            read_only: Some(self.transaction.read_only),
            deferrable: Some(self.transaction.deferrable),
        }
    }

    fn chain(&mut self, chain: bool, modes: TransactionModes) -> Result<()> {
        if chain {
            self.start_transaction();
            self.block = Block::InBlock;
            self.set_transaction_modes(&modes)?;
        }
        Ok(())
    }

    /// Commits whatever transaction is open. On an error it is rolled back.
    pub(super) fn commit_now(&mut self) -> Result<()> {
        self.block = Block::Idle;
        let transaction = self.state.transaction.lock().take();
        self.end_of_transaction();
        let Some(transaction) = transaction else { return Ok(()) };
        let durability = {
            let settings = self.state.settings.lock();
            if settings.synchronous_commit() { Durability::Synced } else { Durability::Relaxed }
        };
        match transaction.commit(durability) {
            Ok(_) => {
                self.state.settings.lock().commit_transaction();
                self.forget_changes();
                Ok(())
            }
            Err(error) => {
                self.state.settings.lock().rollback_transaction();
                self.forget_changes();
                Err(sql_error(error))
            }
        }
    }

    /// Rolls back whatever transaction is open.
    pub(super) fn rollback_now(&mut self) {
        self.block = Block::Idle;
        self.end_of_transaction();
        if let Some(transaction) = self.state.transaction.lock().take() {
            transaction.rollback();
            self.state.settings.lock().rollback_transaction();
        }
        self.forget_changes();
    }

    /// The transaction's catalog changes are committed, or undone: from now on the committed catalog tells.
    fn forget_changes(&self) {
        let mut changes = self.state.changes.lock();
        if !changes.is_empty() {
            changes.clear();
            self.state.set_catalog(self.engine.catalog());
        }
    }

    fn end_of_transaction(&mut self) {
        if std::mem::take(&mut self.transaction.modes_set) {
            let mut settings = self.state.settings.lock();
            for mode in ["isolation", "read_only", "deferrable"] {
                let default =
                    settings.raw(&format!("default_transaction_{mode}")).unwrap_or("off").to_owned();
                settings.force(&format!("transaction_{mode}"), &default);
            }
        }
        self.transaction.savepoints.clear();
        if !self.cursors.is_empty() {
            self.cursors.retain(|_, cursor| cursor.hold);
        }
    }

    /// Ends an implicit transaction by committing it; nothing in a block. Call at Sync and at the end of a simple query.
    pub fn finish(&mut self, client: &mut dyn Client) -> Result<()> {
        let result = if self.block == Block::Implicit { self.commit_now() } else { Ok(()) };
        self.flush_notices(client);
        self.set_activity_idle();
        result
    }

    /// After an error: the block becomes failed, an implicit transaction is rolled back.
    pub fn fail(&mut self) {
        match self.block {
            Block::Idle => {}
            Block::Implicit => self.rollback_now(),
            Block::InBlock => {
                self.block = Block::Failed;
                if let Some(transaction) = self.state.transaction.lock().as_mut() {
                    transaction.abort_statement();
                }
                if self.transaction.savepoints.is_empty() {
                    // Nothing to come back to: others need not wait for the client's ROLLBACK.
                    *self.state.transaction.lock() = None;
                    self.state.settings.lock().rollback_transaction();
                    self.forget_changes();
                }
            }
            Block::Failed => {}
        }
        // A cancel has had its effect.
        self.state.interrupt.clear(storage::InterruptReason::Cancel);
        self.state.interrupt.clear(storage::InterruptReason::StatementTimeout);
        self.set_activity_idle();
    }

    /// SAVEPOINT
    pub(super) fn savepoint(&mut self, name: &str) -> Result<CommandTag> {
        self.require_block("SAVEPOINT")?;
        let id = self.state.transaction(|t| t.savepoint())?;
        self.state.settings.lock().push_level();
        self.transaction.savepoints.push(Savepoint {
            name: name.to_owned(),
            id,
            changes: self.state.changes.lock().len(),
        });
        Ok(CommandTag::plain("SAVEPOINT"))
    }

    /// RELEASE SAVEPOINT
    pub(super) fn release(&mut self, name: &str) -> Result<CommandTag> {
        self.require_block("RELEASE SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        if let Some(savepoint) = self.transaction.savepoints.get(at) {
            let id = savepoint.id;
            self.state.transaction(|t| t.release(id))?.map_err(sql_error)?;
            let mut settings = self.state.settings.lock();
            for _ in at..self.transaction.savepoints.len() {
                settings.release_level();
            }
        }
        self.transaction.savepoints.truncate(at);
        Ok(CommandTag::plain("RELEASE"))
    }

    /// ROLLBACK TO SAVEPOINT: also the way out of a failed block.
    pub(super) fn rollback_to(&mut self, name: &str) -> Result<CommandTag> {
        self.require_block("ROLLBACK TO SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        if let Some(savepoint) = self.transaction.savepoints.get(at) {
            let id = savepoint.id;
            self.state.transaction(|t| t.rollback_to(id))?.map_err(sql_error)?;
            self.state.truncate_changes(savepoint.changes);
            let mut settings = self.state.settings.lock();
            for _ in at + 1..self.transaction.savepoints.len() {
                settings.rollback_level();
                settings.release_level();
            }
            settings.rollback_level();
        }
        self.transaction.savepoints.truncate(at + 1);
        self.block = Block::InBlock;
        Ok(CommandTag::plain("ROLLBACK"))
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.transaction.savepoints.iter().rposition(|s| s.name == name).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_SAVEPOINT_SPECIFICATION,
                format!("savepoint \"{name}\" does not exist"),
            )
        })
    }

    /// 25P01 outside of a block.
    pub(super) fn require_block(&self, what: &str) -> Result<()> {
        match self.block {
            Block::InBlock | Block::Failed => Ok(()),
            Block::Idle | Block::Implicit => Err(SqlError::new(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                format!("{what} can only be used in transaction blocks"),
            )),
        }
    }

    /// 25001 inside of a block (`PreventInTransactionBlock`).
    pub(super) fn prevent_block(&self, what: &str) -> Result<()> {
        match self.block {
            Block::Idle | Block::Implicit => Ok(()),
            Block::InBlock | Block::Failed => Err(SqlError::new(
                SqlState::ACTIVE_SQL_TRANSACTION,
                format!("{what} cannot run inside a transaction block"),
            )),
        }
    }

    /// 25006 for a writing command in a READ ONLY transaction.
    pub(super) fn prevent_read_only(&self, command: &str) -> Result<()> {
        if self.transaction.read_only {
            return Err(SqlError::new(
                SqlState::READ_ONLY_SQL_TRANSACTION,
                format!("cannot execute {command} in a read-only transaction"),
            ));
        }
        Ok(())
    }

    pub(super) fn warn(&self, code: SqlState, message: &str) {
        self.state.notices.lock().push(SqlError::with_severity(Severity::Warning, code, message));
    }

    pub(super) fn set_activity_idle(&self) {
        let mut activity = self.state.activity.lock();
        let state = match self.block {
            Block::Idle | Block::Implicit => "idle",
            Block::InBlock => "idle in transaction",
            Block::Failed => "idle in transaction (aborted)",
        };
        activity.state = state;
        if matches!(self.block, Block::Idle) {
            activity.xact_start = None;
        }
    }
}

fn isolation(name: &str) -> Isolation {
    match name {
        "repeatable read" => Isolation::RepeatableRead,
        "serializable" => Isolation::Serializable,
        _ => Isolation::ReadCommitted,
    }
}

fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}
