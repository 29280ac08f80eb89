//! Statements that change the catalog. Catalog objects are rows of the store's relation CATALOG, so DDL commits and rolls back like data;
//! the transaction's own view of the catalog is an overlay that each change replaces.

mod alter_column;
mod alter_table;
mod build;
mod comment;
mod constraint;
mod create_as;
mod create_table;
mod database;
mod dependency;
mod drop;
mod expression;
mod index;
mod initial;
mod names;
mod relation;
mod role;
mod schema;
mod sequence;
#[cfg(test)]
mod tests;
mod truncate;
mod types;
mod view;

pub use create_as::create_table_as;
pub use initial::initial_objects;
pub use names::{Found, make_object_name, quote};
pub use types::resolve_type;

use crate::client::CommandTag;
use crate::environment::Environment;
use crate::utility::alter::RelationKind;
use crate::utility::object::Ddl;
use catalog::object::{Object, ObjectId};
use catalog::{Catalog, Change, DatabaseObjects, Oid, Result, SqlError, SqlState, Style};
use std::sync::Arc;
use storage::{LockMode, RelationId, TableLockMode, Transaction, Wait};

/// What DDL needs of its session beyond what functions need.
pub trait DdlSession: Environment {
    /// An OID that no object and no storage relation ever had.
    fn new_oid(&self) -> Result<Oid>;
    /// Runs something with the open transaction. Not reentrant.
    fn with_transaction(&self, f: &mut dyn FnMut(&mut Transaction) -> Result<()>) -> Result<()>;
    /// Makes [`Environment::catalog`] the newest committed catalog with the transaction's own changes over it; called after lock waits.
    fn refresh_catalog(&self) -> Result<()>;
    /// Notes a change that has been written to the store: from now on [`Environment::catalog`] shows it.
    fn record(&self, change: Change) -> Result<()>;
    /// The print and read styles.
    fn style(&self) -> Arc<Style>;
    /// Other sessions connected to a database.
    fn sessions_in(&self, database: Oid) -> usize;
    /// Checks a value for a setting, for ALTER DATABASE and ROLE ... SET; gives the text to keep.
    fn check_setting(&self, name: &str, values: &[String]) -> Result<String>;
}

/// What one DDL statement works with.
pub struct DdlContext<'a> {
    /// The session.
    pub session: &'a dyn DdlSession,
    /// Within a transaction block (or a function, or a multi-statement query).
    pub in_block: bool,
}

impl DdlContext<'_> {
    /// The catalog as it stands.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.session.catalog()
    }

    /// The current database's objects as they stand.
    pub fn objects(&self) -> Arc<DatabaseObjects> {
        self.session.objects()
    }

    /// Does something with the transaction.
    pub fn transaction<R>(&self, f: impl FnOnce(&mut Transaction) -> Result<R>) -> Result<R> {
        let mut f = Some(f);
        let mut result = None;
        self.session.with_transaction(&mut |transaction| {
            if let Some(f) = f.take() {
                result = Some(f(transaction)?);
            }
            Ok(())
        })?;
        result.ok_or_else(|| SqlError::internal("no transaction is open"))
    }

    /// Creates or replaces an object of the current database (or a shared one).
    pub fn put(&self, object: Object) -> Result<()> {
        self.put_in(self.session.database(), object)
    }

    /// As [`DdlContext::put`], in another database.
    pub fn put_in(&self, database: Oid, object: Object) -> Result<()> {
        let key = object.id(database).key();
        let bytes = object.encode();
        self.transaction(|t| {
            t.put(RelationId::CATALOG, &key, &bytes).map_err(crate::store_error::sql_error)
        })?;
        self.session.record(Change::Put(database, Box::new(object)))
    }

    /// Removes an object.
    pub fn remove(&self, id: ObjectId) -> Result<()> {
        let key = id.key();
        self.transaction(|t| t.delete(RelationId::CATALOG, &key).map_err(crate::store_error::sql_error))?;
        self.session.record(Change::Remove(id))
    }

    /// A fresh OID.
    pub fn new_oid(&self) -> Result<Oid> {
        self.session.new_oid()
    }

    /// Sends a notice.
    pub fn notice(&self, code: SqlState, message: String) {
        self.session.notice(SqlError::with_severity(catalog::Severity::Notice, code, message));
    }

    /// Locks a relation for the rest of the transaction, and brings the catalog up to date if that took a wait.
    pub fn lock_relation(&self, oid: Oid, mode: TableLockMode) -> Result<()> {
        self.transaction(|t| {
            t.lock_relation(RelationId(oid.0), mode, Wait::Block).map_err(crate::store_error::sql_error)
        })?;
        self.session.refresh_catalog()
    }

    /// Makes two sessions that create an object of one name meet: the second waits for the first one's end, then sees the object.
    pub fn lock_name(&self, namespace: Oid, name: &str) -> Result<()> {
        // A key that no object's can be: those start with a database and a class.
        let mut key = b"name:".to_vec();
        key.extend_from_slice(&self.session.database().0.to_be_bytes());
        key.extend_from_slice(&namespace.0.to_be_bytes());
        key.extend_from_slice(name.as_bytes());
        self.transaction(|t| {
            t.lock(RelationId::CATALOG, &key, LockMode::Update, Wait::Block)
                .map_err(crate::store_error::sql_error)
        })?;
        self.session.refresh_catalog()
    }

    /// 25001 for statements that cannot run in a transaction block.
    pub fn refuse_in_block(&self, statement: &str) -> Result<()> {
        if self.in_block {
            return Err(SqlError::new(
                SqlState::ACTIVE_SQL_TRANSACTION,
                format!("{statement} cannot run inside a transaction block"),
            ));
        }
        Ok(())
    }
}

/// Runs a DDL statement.
pub fn execute(ddl: &Ddl, cx: &DdlContext<'_>) -> Result<CommandTag> {
    let verb = match ddl {
        Ddl::CreateTable(create) => {
            create_table::create_table(cx, create)?;
            "CREATE TABLE"
        }
        Ddl::CreateIndex(create) => {
            index::create_index(cx, create)?;
            "CREATE INDEX"
        }
        Ddl::CreateView(create) => {
            view::create_view(cx, create)?;
            "CREATE VIEW"
        }
        Ddl::CreateSequence { name, if_not_exists, persistence, options } => {
            sequence::create_sequence(cx, name, *if_not_exists, *persistence, options)?;
            "CREATE SEQUENCE"
        }
        Ddl::CreateSchema { name, if_not_exists, owner } => {
            schema::create_schema(cx, name.as_deref(), *if_not_exists, owner.as_deref())?;
            "CREATE SCHEMA"
        }
        Ddl::RenameSchema(name, to) => {
            schema::rename_schema(cx, name, to)?;
            "ALTER SCHEMA"
        }
        Ddl::SchemaOwner(name, owner) => {
            schema::schema_owner(cx, name, owner)?;
            "ALTER SCHEMA"
        }
        Ddl::DropSchema(names, if_exists, cascade) => {
            drop::drop_schemas(cx, names, *if_exists, *cascade)?;
            "DROP SCHEMA"
        }
        Ddl::CreateDatabase(name, options) => {
            database::create_database(cx, name, options)?;
            "CREATE DATABASE"
        }
        Ddl::DropDatabase(name, if_exists, force) => {
            database::drop_database(cx, name, *if_exists, *force)?;
            "DROP DATABASE"
        }
        Ddl::RenameDatabase(name, to) => {
            database::rename_database(cx, name, to)?;
            "ALTER DATABASE"
        }
        Ddl::DatabaseOwner(name, owner) => {
            database::database_owner(cx, name, owner)?;
            "ALTER DATABASE"
        }
        Ddl::DatabaseSetting(name, change) => {
            role::database_setting(cx, name, change)?;
            "ALTER DATABASE"
        }
        Ddl::CreateRole(name, options) => {
            role::create_role(cx, name, options)?;
            "CREATE ROLE"
        }
        Ddl::AlterRole(name, options) => {
            role::alter_role(cx, name, options)?;
            "ALTER ROLE"
        }
        Ddl::RoleSetting(name, database, change) => {
            role::role_setting(cx, name.as_deref(), database.as_deref(), change)?;
            "ALTER ROLE"
        }
        Ddl::RenameRole(name, to) => {
            role::rename_role(cx, name, to)?;
            "ALTER ROLE"
        }
        Ddl::DropRole(names, if_exists) => {
            role::drop_roles(cx, names, *if_exists)?;
            "DROP ROLE"
        }
        Ddl::DropRelations { kind, names, if_exists, cascade, concurrently } => {
            if *concurrently {
                cx.refuse_in_block("DROP INDEX CONCURRENTLY")?;
            }
            drop::drop_relations(cx, *kind, names, *if_exists, *cascade)?;
            match kind {
                RelationKind::Table => "DROP TABLE",
                RelationKind::Index => "DROP INDEX",
                RelationKind::Sequence => "DROP SEQUENCE",
                RelationKind::View => "DROP VIEW",
                RelationKind::MaterializedView => "DROP MATERIALIZED VIEW",
            }
        }
        Ddl::AlterRelation(kind, name, if_exists, what) => {
            alter_table::alter_relation(cx, *kind, name, *if_exists, what)?;
            match kind {
                RelationKind::Table => "ALTER TABLE",
                RelationKind::Index => "ALTER INDEX",
                RelationKind::Sequence => "ALTER SEQUENCE",
                RelationKind::View => "ALTER VIEW",
                RelationKind::MaterializedView => "ALTER MATERIALIZED VIEW",
            }
        }
        Ddl::Truncate(names, restart, cascade) => {
            truncate::truncate(cx, names, *restart, *cascade)?;
            "TRUNCATE TABLE"
        }
        Ddl::Comment(target, text) => {
            comment::comment(cx, target, text.as_deref())?;
            "COMMENT"
        }
        Ddl::Reindex(kind, name) => {
            index::reindex(cx, kind, name.as_ref())?;
            "REINDEX"
        }
        Ddl::Grant(grant) => {
            role::grant(cx, grant)?;
            match (grant.grant, grant.kind == "ROLE") {
                (true, false) => "GRANT",
                (false, false) => "REVOKE",
                (true, true) => "GRANT ROLE",
                (false, true) => "REVOKE ROLE",
            }
        }
        Ddl::DropOther(kind, names, if_exists) => drop::drop_other(cx, kind, names, *if_exists)?,
    };
    Ok(CommandTag::plain(verb))
}
