//! What functions can ask of the session that runs them.

use catalog::{Catalog, DatabaseObjects, Oid, Result, SqlError};
use std::sync::Arc;

/// The session as functions see it. One implementation serves sessions, a smaller one constant folding and tests.
pub trait Environment: Sync {
    /// Start of the transaction: microseconds since 2000-01-01 UTC (`now()`).
    fn transaction_timestamp(&self) -> i64;
    /// Start of the statement (`statement_timestamp()`).
    fn statement_timestamp(&self) -> i64;
    /// The whole catalog as the transaction sees it.
    fn catalog(&self) -> Arc<Catalog>;
    /// The current database's objects.
    fn objects(&self) -> Arc<DatabaseObjects>;
    /// OID of the current database.
    fn database(&self) -> Oid;
    /// The current user's role.
    fn current_role(&self) -> Oid;
    /// The session user's role.
    fn session_role(&self) -> Oid;
    /// Schemas of the search path that exist, in order, implicit ones first if `implicit`.
    fn search_path(&self, implicit: bool) -> Vec<Oid>;
    /// A setting as SHOW prints it; `None` if there is no such setting.
    fn setting(&self, name: &str) -> Option<String>;
    /// `set_config`
    fn set_setting(&self, name: &str, value: &str, local: bool) -> Result<String>;
    /// `nextval` of a sequence by OID.
    fn nextval(&self, sequence: Oid) -> Result<i64>;
    /// `currval`
    fn currval(&self, sequence: Oid) -> Result<i64>;
    /// `lastval`
    fn lastval(&self) -> Result<i64>;
    /// `setval`
    fn setval(&self, sequence: Oid, value: i64, is_called: bool) -> Result<i64>;
    /// last_value and is_called of a sequence, as a SELECT from it shows them.
    fn sequence_state(&self, sequence: Oid) -> Result<(i64, bool)>;
    /// Process number that pg_backend_pid() gives.
    fn backend_pid(&self) -> i32;
    /// The transaction's id, given at first use.
    fn transaction_id(&self) -> Result<u64>;
    /// The id if one was given.
    fn transaction_id_if_assigned(&self) -> Option<u64>;
    /// Advisory locks: key as one number, or two (class, object); session or transaction scope; shared or exclusive; try or wait.
    fn advisory_lock(&self, key: (i64, Option<i32>), shared: bool, session: bool, wait: bool)
    -> Result<bool>;
    /// Releases a session's advisory lock.
    fn advisory_unlock(&self, key: (i64, Option<i32>), shared: bool) -> Result<bool>;
    /// Releases all of the session's advisory locks.
    fn advisory_unlock_all(&self) -> Result<()>;
    /// Estimated rows and bytes of a storage relation.
    fn relation_size(&self, relation: u32) -> (u64, u64);
    /// When the server started, and the settings were loaded.
    fn server_start(&self) -> i64;
    /// Cancels (or terminates) another backend's statement.
    fn signal_backend(&self, pid: i32, terminate: bool) -> Result<bool>;
    /// Other sessions, for pg_stat_activity: see [`Activity`].
    fn activity(&self) -> Vec<Activity>;
    /// Prepared statements of this session: name, text, parameter types, prepared when, from SQL.
    fn prepared_statements(&self) -> Vec<PreparedInfo>;
    /// What the statement cache holds, and how it fared.
    fn statement_cache(&self) -> (Vec<CachedStatement>, CacheTotals) {
        Default::default()
    }
    /// Raises a notice beside the result.
    fn notice(&self, notice: SqlError);
    /// Raises 57014 and its like when the statement is to stop.
    fn check_interrupt(&self) -> Result<()>;
    /// Blocks for so long, or until interrupted (`pg_sleep`).
    fn sleep(&self, duration: std::time::Duration) -> Result<()>;
}

/// One row of pg_stat_activity.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// pid
    pub pid: i32,
    /// Database.
    pub database: Oid,
    /// Role.
    pub role: Oid,
    /// application_name
    pub application_name: String,
    /// Client address and port, if not a Unix socket.
    pub client: Option<(String, i32)>,
    /// backend_start
    pub backend_start: i64,
    /// xact_start
    pub xact_start: Option<i64>,
    /// query_start
    pub query_start: Option<i64>,
    /// state_change
    pub state_change: Option<i64>,
    /// `active`, `idle`, `idle in transaction`, `idle in transaction (aborted)`
    pub state: &'static str,
    /// The current or last statement.
    pub query: String,
}

/// One row of pgfusion_statement_cache.
#[derive(Clone, Debug, Default)]
pub struct CachedStatement {
    /// Database.
    pub database: Oid,
    /// Text; with `$n` for each lifted literal.
    pub statement: String,
    /// Whether literals were lifted.
    pub lifted: bool,
    /// How often it was found.
    pub hits: u64,
    /// Bytes, estimated.
    pub size: usize,
}

/// The row of pgfusion_statement_cache_totals, counted since the server started.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheTotals {
    /// Statements found.
    pub hits: u64,
    /// Statements looked for in vain.
    pub misses: u64,
    /// Entries that made room for others.
    pub evicted: u64,
    /// Entries now.
    pub entries: usize,
    /// Their bytes, estimated.
    pub size: usize,
}

/// One row of pg_prepared_statements.
#[derive(Clone, Debug, Default)]
pub struct PreparedInfo {
    /// Name.
    pub name: String,
    /// Text.
    pub statement: String,
    /// When.
    pub prepare_time: i64,
    /// Parameter types.
    pub parameter_types: Vec<Oid>,
    /// By PREPARE rather than the protocol.
    pub from_sql: bool,
}
