//! Relations by name: tables, views, sequences of users, and the system's relations (compare `RangeVarGetRelid`).

use super::{Binder, type_info};
use crate::bound::{EntryColumn, SqlType};
use crate::parse::ast::RangeVar;
use catalog::pg::{SYSTEM_COLUMNS, SYSTEM_VIEWS};
use catalog::types::oid;
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A relation of pg_catalog or information_schema.
#[derive(Debug)]
pub struct SystemRelation {
    /// Schema name.
    pub schema: &'static str,
    /// Name.
    pub name: &'static str,
    /// OID.
    pub oid: Oid,
    /// Its row type.
    pub row_type: Oid,
    /// Columns, by attnum.
    pub columns: Vec<(String, SqlType)>,
    /// The query, for a view.
    pub definition: Option<&'static str>,
}

/// All system relations.
pub struct SystemRelations {
    by_oid: FxHashMap<Oid, SystemRelation>,
    by_row_type: FxHashMap<Oid, Oid>,
    by_name: FxHashMap<(&'static str, &'static str), Oid>,
}

/// A view that PostgreSQL does not have. pg_class does not list it.
struct OwnView {
    name: &'static str,
    oid: Oid,
    columns: &'static [(&'static str, Oid)],
    definition: &'static str,
}

static OWN_VIEWS: [OwnView; 2] = [
    OwnView {
        name: "pgfusion_statement_cache",
        oid: Oid(9911),
        columns: &[
            ("datname", oid::NAME),
            ("statement", oid::TEXT),
            ("lifted", oid::BOOL),
            ("hits", oid::INT8),
            ("size", oid::INT8),
        ],
        definition: "SELECT d.datname, s.statement, s.lifted, s.hits, s.size \
                     FROM pgfusion_statement_cache() s LEFT JOIN pg_database d ON d.oid = s.dbid",
    },
    OwnView {
        name: "pgfusion_statement_cache_totals",
        oid: Oid(9912),
        columns: &[
            ("hits", oid::INT8),
            ("misses", oid::INT8),
            ("evicted", oid::INT8),
            ("entries", oid::INT8),
            ("size", oid::INT8),
        ],
        definition: "SELECT t.hits, t.misses, t.evicted, t.entries, t.size FROM pgfusion_statement_cache_totals() t",
    },
];

/// The system's relations, from the captured catalogs.
pub static SYSTEM: LazyLock<SystemRelations> = LazyLock::new(|| {
    let text = |row: &'static [Option<String>], at: usize| {
        row.get(at).and_then(|v| v.as_deref()).unwrap_or_default()
    };
    let mut definitions = FxHashMap::default();
    for row in &SYSTEM_VIEWS.rows {
        definitions.insert((text(row, 0), text(row, 1)), text(row, 2));
    }
    let t = &*SYSTEM_COLUMNS;
    let column = |name| t.column(name);
    let (schema, name, id_column, kind, row_type, att, typ, typmod) = (
        column("nspname"),
        column("relname"),
        column("reloid"),
        column("relkind"),
        column("reltype"),
        column("attname"),
        column("atttypid"),
        column("atttypmod"),
    );
    let number = |row: &'static [Option<String>], at: usize| Oid(text(row, at).parse().unwrap_or(0));
    let mut by_oid: FxHashMap<Oid, SystemRelation> = FxHashMap::default();
    let mut by_name = FxHashMap::default();
    for row in &t.rows {
        let id = number(row, id_column);
        let relation = by_oid.entry(id).or_insert_with(|| SystemRelation {
            schema: text(row, schema),
            name: text(row, name),
            oid: id,
            row_type: number(row, row_type),
            columns: Vec::new(),
            definition: if text(row, kind) == "v" {
                definitions.get(&(text(row, schema), text(row, name))).copied()
            } else {
                None
            },
        });
        let typ = SqlType { oid: number(row, typ), typmod: text(row, typmod).parse().unwrap_or(-1) };
        relation.columns.push((text(row, att).to_owned(), typ));
        by_name.insert((text(row, schema), text(row, name)), id);
    }
    for view in &OWN_VIEWS {
        let columns = view.columns.iter().map(|(name, typ)| ((*name).to_owned(), SqlType::plain(*typ)));
        let relation = SystemRelation {
            schema: "pg_catalog",
            name: view.name,
            oid: view.oid,
            row_type: Oid::INVALID,
            columns: columns.collect(),
            definition: Some(view.definition),
        };
        by_name.insert((relation.schema, relation.name), relation.oid);
        by_oid.insert(relation.oid, relation);
    }
    let by_row_type = by_oid.values().map(|r| (r.row_type, r.oid)).collect();
    SystemRelations { by_oid, by_row_type, by_name }
});

impl SystemRelations {
    /// By schema and name.
    pub fn named(&self, schema: &str, name: &str) -> Option<&SystemRelation> {
        self.by_name.get(&(schema, name)).and_then(|oid| self.by_oid.get(oid))
    }

    /// By row type.
    pub fn by_row_type(&self, typ: Oid) -> Option<&SystemRelation> {
        self.by_row_type.get(&typ).and_then(|oid| self.by_oid.get(oid))
    }

    /// By OID.
    pub fn by_oid(&self, oid: Oid) -> Option<&SystemRelation> {
        self.by_oid.get(&oid)
    }
}

/// The row type of a system relation.
pub(super) fn system_row_type(oid: Oid) -> Oid {
    SYSTEM.by_oid(oid).map_or(catalog::types::oid::RECORD, |r| r.row_type)
}

/// A relation found by name.
#[derive(Clone)]
pub(crate) enum Found {
    User(Relation),
    System(&'static SystemRelation),
}

impl Found {
    pub(crate) fn oid(&self) -> Oid {
        match self {
            Found::User(relation) => relation.oid(),
            Found::System(relation) => relation.oid,
        }
    }
}

impl Binder<'_> {
    /// The OID of a schema; built-in ones too.
    pub(crate) fn schema_oid(&self, name: &str) -> Option<Oid> {
        match name {
            "pg_catalog" => Some(Oid::PG_CATALOG),
            "information_schema" => Some(Oid::INFORMATION_SCHEMA),
            // pg_temp is whichever schema of temporary objects comes first in the path.
            "pg_temp" => self
                .path
                .iter()
                .copied()
                .find(|oid| self.objects.schemas.get(oid).is_some_and(|s| s.name.starts_with("pg_temp_"))),
            other => self.objects.schema(other).map(|s| s.oid),
        }
    }

    pub(crate) fn in_schema(&self, schema: Oid, name: &str) -> Option<Found> {
        let builtin = match schema {
            Oid::PG_CATALOG => SYSTEM.named("pg_catalog", name),
            Oid::INFORMATION_SCHEMA => SYSTEM.named("information_schema", name),
            _ => None,
        };
        match builtin {
            Some(relation) => Some(Found::System(relation)),
            None => self.objects.relation(schema, name).cloned().map(Found::User),
        }
    }

    /// A relation by name, through the search path if unqualified.
    pub(crate) fn find_relation(&self, schema: Option<&str>, name: &str) -> Option<Found> {
        match schema {
            Some(schema) => self.in_schema(self.schema_oid(schema)?, name),
            None => {
                let found = self.path.iter().find_map(|schema| self.in_schema(*schema, name));
                if !matches!(found, Some(Found::System(_))) {
                    self.used_path.set(true);
                }
                found
            }
        }
    }

    /// The OID of a relation, if there is one of that name.
    pub(crate) fn relation_oid(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        self.find_relation(schema, name).map(|found| found.oid())
    }

    /// 0A000 for a name in another database.
    pub(crate) fn check_database(&self, database: &str, position: u32, names: &[String]) -> Result<()> {
        let current = self.cx.env.catalog().databases.get(&self.cx.env.database()).map(|d| d.name.clone());
        if current.as_deref() == Some(database) {
            return Ok(());
        }
        let text = names.join(".");
        let message = format!("cross-database references are not implemented: {text}");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(position))
    }

    /// A relation by a name in FROM or as a target, or 42P01 (`parserOpenTable`).
    pub(crate) fn open(&self, name: &RangeVar) -> Result<Found> {
        if let Some(database) = &name.catalog {
            let parts = [Some(database.clone()), name.schema.clone(), Some(name.name.clone())];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            let current =
                self.cx.env.catalog().databases.get(&self.cx.env.database()).map(|d| d.name.clone());
            if current.as_deref() != Some(database) {
                let text = parts
                    .iter()
                    .map(|p| format!("\"{p}\""))
                    .collect::<Vec<_>>()
                    .join(".")
                    .replace("\".\"", ".");
                let message = format!("cross-database references are not implemented: {text}");
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(name.pos));
            }
        }
        match self.find_relation(name.schema.as_deref(), &name.name) {
            Some(found) => Ok(found),
            None => {
                let text = match &name.schema {
                    Some(schema) => format!("{schema}.{}", name.name),
                    None => name.name.clone(),
                };
                Err(SqlError::undefined_table(&text).at(name.pos))
            }
        }
    }
}

/// The type behind a domain of information_schema, as values of it are bound.
pub(super) fn base_type(typ: SqlType) -> SqlType {
    if catalog::types::by_oid(typ.oid).is_some() || type_info::info(typ.oid).kind != b'c' {
        return typ;
    }
    // OIDs that pg_type does not have are the domains, as initdb numbered them when the catalogs were captured.
    match typ.oid.0 {
        13221 => SqlType::plain(catalog::types::oid::INT4),
        13224 => SqlType::plain(catalog::types::oid::VARCHAR),
        13226 => SqlType::plain(catalog::types::oid::NAME),
        13232 => SqlType { oid: catalog::types::oid::TIMESTAMPTZ, typmod: 2 },
        13234 => SqlType { oid: catalog::types::oid::VARCHAR, typmod: 7 },
        _ => typ,
    }
}

/// Columns of a user's table, one per place; dropped ones have an empty name.
pub(super) fn table_columns(columns: &[catalog::object::Column]) -> Vec<EntryColumn> {
    let column = |c: &catalog::object::Column| EntryColumn {
        name: if c.dropped { String::new() } else { c.name.clone() },
        typ: SqlType { oid: c.typ, typmod: c.typmod },
    };
    columns.iter().map(column).collect()
}

/// Schema and name of a relation of the system.
pub fn relation_name_of_system(oid: Oid) -> Option<(&'static str, &'static str)> {
    SYSTEM.by_oid(oid).map(|relation| (relation.schema, relation.name))
}
