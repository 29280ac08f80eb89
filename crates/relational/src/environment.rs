//! The environment of expressions that run apart from their session. Only immutable functions get there, which ask it for nothing.

use catalog::{Catalog, DatabaseObjects, Oid, Result, SqlError};
use exec::environment::{Activity, Environment, PreparedInfo};
use std::sync::Arc;
use std::time::Duration;

/// No session; it knows the database's objects.
pub struct Detached(pub Arc<DatabaseObjects>);

fn refused<T>() -> Result<T> {
    Err(SqlError::internal("a function on the relational path asked for its session"))
}

impl Environment for Detached {
    fn transaction_timestamp(&self) -> i64 {
        0
    }
    fn statement_timestamp(&self) -> i64 {
        0
    }
    fn catalog(&self) -> Arc<Catalog> {
        Arc::default()
    }
    fn objects(&self) -> Arc<DatabaseObjects> {
        Arc::clone(&self.0)
    }
    fn database(&self) -> Oid {
        Oid::INVALID
    }
    fn current_role(&self) -> Oid {
        Oid::INVALID
    }
    fn session_role(&self) -> Oid {
        Oid::INVALID
    }
    fn search_path(&self, _: bool) -> Vec<Oid> {
        Vec::new()
    }
    fn setting(&self, _: &str) -> Option<String> {
        None
    }
    fn set_setting(&self, _: &str, _: &str, _: bool) -> Result<String> {
        refused()
    }
    fn nextval(&self, _: Oid) -> Result<i64> {
        refused()
    }
    fn currval(&self, _: Oid) -> Result<i64> {
        refused()
    }
    fn lastval(&self) -> Result<i64> {
        refused()
    }
    fn setval(&self, _: Oid, _: i64, _: bool) -> Result<i64> {
        refused()
    }
    fn sequence_state(&self, _: Oid) -> Result<(i64, bool)> {
        refused()
    }
    fn backend_pid(&self) -> i32 {
        0
    }
    fn transaction_id(&self) -> Result<u64> {
        refused()
    }
    fn transaction_id_if_assigned(&self) -> Option<u64> {
        None
    }
    fn advisory_lock(&self, _: (i64, Option<i32>), _: bool, _: bool, _: bool) -> Result<bool> {
        refused()
    }
    fn advisory_unlock(&self, _: (i64, Option<i32>), _: bool) -> Result<bool> {
        refused()
    }
    fn advisory_unlock_all(&self) -> Result<()> {
        refused()
    }
    fn relation_size(&self, _: u32) -> (u64, u64) {
        (0, 0)
    }
    fn server_start(&self) -> i64 {
        0
    }
    fn signal_backend(&self, _: i32, _: bool) -> Result<bool> {
        refused()
    }
    fn activity(&self) -> Vec<Activity> {
        Vec::new()
    }
    fn prepared_statements(&self) -> Vec<PreparedInfo> {
        Vec::new()
    }
    fn notice(&self, _: SqlError) {}
    fn check_interrupt(&self) -> Result<()> {
        Ok(())
    }
    fn sleep(&self, _: Duration) -> Result<()> {
        refused()
    }
}
