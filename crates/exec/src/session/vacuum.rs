//! VACUUM and ANALYZE.

use super::Session;
use crate::client::CommandTag;
use crate::ddl::Found;
use crate::environment::Environment;
use crate::statistics::{self, DEFAULT_TARGET};
use crate::store_error::sql_error;
use crate::utility::Vacuum;
use catalog::object::{Object, Table};
use catalog::{Oid, Relation, Result, Severity, SqlError, SqlState};
use std::sync::Arc;
use storage::{RelationId, TableLockMode};

impl Session {
    /// VACUUM moves recent versions to the base; ANALYZE makes statistics of the tables named, or of all.
    pub(super) fn vacuum(&mut self, vacuum: &Vacuum) -> Result<CommandTag> {
        if vacuum.vacuum {
            self.prevent_block("VACUUM")?;
        }
        self.state.adopt_catalog();
        let mut tables = Vec::new();
        for (name, columns) in &vacuum.tables {
            let cx = self.ddl_context();
            match cx.find(name)? {
                // Nothing is known of the system's own relations, nor needed.
                Some(Found::System(..)) => {}
                Some(Found::Own(Relation::Table(table))) => {
                    let places = places(&table, columns)?;
                    tables.push((table.oid, places));
                }
                Some(Found::Own(other)) => {
                    let verb = if vacuum.vacuum { "vacuum" } else { "analyze" };
                    let message = format!(
                        "skipping \"{}\" --- cannot {verb} non-tables or special system tables",
                        other.name()
                    );
                    self.warn(SqlState::WARNING, &message);
                }
                None => {
                    cx.relation(name)?;
                }
            }
        }
        if vacuum.tables.is_empty() {
            let objects = self.state.objects();
            tables.extend(objects.relations.values().filter_map(|relation| match relation {
                Relation::Table(table) => Some((table.oid, Vec::new())),
                _ => None,
            }));
        }
        if vacuum.vacuum {
            // Recent versions move to the base, where reading is fastest.
            self.engine.store.checkpoint().map_err(sql_error)?;
        }
        if vacuum.analyze {
            let result =
                tables.iter().try_for_each(|(oid, columns)| self.analyze(*oid, columns, vacuum.verbose));
            self.end_statement(result)?;
        }
        Ok(CommandTag::plain(if vacuum.vacuum { "VACUUM" } else { "ANALYZE" }))
    }

    fn analyze(&self, oid: Oid, columns: &[u16], verbose: bool) -> Result<()> {
        let cx = self.ddl_context();
        cx.lock_relation(oid, TableLockMode::ShareUpdateExclusive)?;
        let objects = self.state.objects();
        // Dropped by whoever held it locked.
        let Some(table) = objects.table(oid).map(Arc::clone) else { return Ok(()) };
        let info = |message: String| {
            if verbose {
                self.state.notice(SqlError::with_severity(
                    Severity::Info,
                    SqlState::SUCCESSFUL_COMPLETION,
                    message,
                ));
            }
        };
        info(format!("analyzing \"{}.{}\"", cx.schema_name(table.schema), table.name));
        let before = objects.statistics.get(&oid).map(|s| &**s);
        let view = self.state.transaction(|t| t.latest_view())?;
        let store = &self.engine.store;
        let stop = || self.state.check_interrupt();
        let made = statistics::analyze(&table, before, columns, DEFAULT_TARGET, &view, store, &stop)?;
        drop(view);
        let pages = store.statistics(RelationId(table.relation)).bytes.div_ceil(8_192);
        let (rows, sampled) = (made.rows, made.rows.min((DEFAULT_TARGET * 300) as f64));
        info(format!(
            "\"{}\": scanned {pages} of {pages} pages, containing {rows} live rows and 0 dead rows; \
             {sampled} rows in sample, {rows} estimated total rows",
            table.name
        ));
        cx.put(Object::Statistics(made))
    }
}

/// The places of named columns.
fn places(table: &Table, columns: &[String]) -> Result<Vec<u16>> {
    let mut places = Vec::with_capacity(columns.len());
    for name in columns {
        let place = table.columns.iter().position(|c| !c.dropped && c.name == *name);
        let Some(place) = place.map(|p| p as u16) else {
            return Err(SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
            ));
        };
        if places.contains(&place) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{name}\" of relation \"{}\" appears more than once", table.name),
            ));
        }
        places.push(place);
    }
    Ok(places)
}
