//! The engine: what all sessions share. Store, catalog, plan cache.

use catalog::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// How to open an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Data directory.
    pub data_dir: PathBuf,
    /// Most sessions at once.
    pub max_connections: u32,
}

/// The engine.
pub struct Engine {}

impl Engine {
    /// Opens the store, making it on first use with the role and database `postgres`.
    pub fn open(_options: EngineOptions) -> Result<Arc<Engine>> {
        Ok(Arc::new(Engine {}))
    }

    /// Checkpoints and closes the store. Sessions have ended by then.
    pub fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// A prepared statement's inside.
pub(crate) struct PreparedInner {}

/// A script statement's inside.
pub(crate) struct ScriptInner {}
