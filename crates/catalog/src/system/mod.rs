//! The system relations (pg_class, pg_attribute, pg_type and so on) as rows computed from the catalog: PostgreSQL's own rows for what
//! every cluster has, from the captured catalogs, and rows for the objects that users made. Columns, their order and types are
//! PostgreSQL's. System views are not here: their own queries run over these relations.

mod attribute;
mod captured;
mod class;
mod cluster;
mod constraint;
mod depend;
mod index;
mod row;
mod sequence;
mod statistic;

pub use row::Row;

use crate::pg::SYSTEM_COLUMNS;
use crate::{Catalog, DatabaseObjects, Datum, Oid, Result};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// What the rows are computed from.
pub struct SystemContext<'a> {
    /// All objects of the cluster.
    pub catalog: &'a Catalog,
    /// The current database's.
    pub objects: &'a DatabaseObjects,
    /// The current database.
    pub database: Oid,
    /// Estimated rows and bytes of a storage relation.
    pub size: &'a dyn Fn(u32) -> (u64, u64),
    /// Only rows of this object are wanted: a value that the relation's leading OID column (`oid`, `attrelid`, `indrelid`, ...) must have.
    /// A hint: other rows may come too.
    pub only: Option<Oid>,
}

/// The consumer of rows; `Break` stops.
pub type EmitRow<'e> = dyn FnMut(&[Datum<'_>]) -> Result<ControlFlow<()>> + 'e;

/// Computes a relation's rows.
pub type RowsFn = fn(&SystemContext<'_>, &SystemRelation, &mut Emitter<'_, '_>) -> Result<()>;

/// A column of a system relation.
#[derive(Clone, Debug)]
pub struct SystemColumn {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub typ: Oid,
    /// Type modifier.
    pub typmod: i32,
    /// NOT NULL
    pub not_null: bool,
}

/// A system relation.
pub struct SystemRelation {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: &'static str,
    /// Columns, by attnum.
    pub columns: Vec<SystemColumn>,
    rows: RowsFn,
    cached: captured::Cached,
}

impl SystemRelation {
    /// Computes the rows.
    pub fn rows(&self, cx: &SystemContext<'_>, emit: &mut EmitRow<'_>) -> Result<()> {
        let mut emitter = Emitter { emit, stopped: false };
        (self.rows)(cx, self, &mut emitter)
    }
}

/// Passes rows on until the consumer has enough.
pub struct Emitter<'e, 'f> {
    emit: &'e mut EmitRow<'f>,
    stopped: bool,
}

impl Emitter<'_, '_> {
    /// Builds and passes on a row.
    pub fn row(
        &mut self,
        relation: &SystemRelation,
        build: impl FnOnce(&mut Row<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.stopped {
            return Ok(());
        }
        let arena = crate::Arena::new();
        let mut row = Row::new(&arena, relation);
        build(&mut row)?;
        self.datums(row.finish()?.as_slice())
    }

    /// Passes on a finished row.
    pub fn datums(&mut self, row: &[Datum<'_>]) -> Result<()> {
        if !self.stopped && (self.emit)(row)?.is_break() {
            self.stopped = true;
        }
        Ok(())
    }

    /// Whether the consumer has enough.
    pub fn is_done(&self) -> bool {
        self.stopped
    }
}

/// A relation of pg_catalog or information_schema that is a table there, by OID. Those without rows here read as empty.
pub fn relation(oid: Oid) -> Option<&'static SystemRelation> {
    RELATIONS.get(&oid)
}

fn no_rows(_: &SystemContext<'_>, _: &SystemRelation, _: &mut Emitter<'_, '_>) -> Result<()> {
    Ok(())
}

fn rows_of(name: &str) -> RowsFn {
    match name {
        "pg_class" => class::pg_class,
        "pg_type" => class::pg_type,
        "pg_namespace" => class::pg_namespace,
        "pg_rewrite" => class::pg_rewrite,
        "pg_attribute" => attribute::pg_attribute,
        "pg_attrdef" => attribute::pg_attrdef,
        "pg_index" => index::pg_index,
        "pg_constraint" => constraint::pg_constraint,
        "pg_trigger" => constraint::pg_trigger,
        "pg_depend" => depend::pg_depend,
        "pg_description" => depend::pg_description,
        "pg_shdescription" => depend::pg_shdescription,
        "pg_sequence" => sequence::pg_sequence,
        "pg_statistic" => statistic::pg_statistic,
        "pg_database" => cluster::pg_database,
        "pg_authid" => cluster::pg_authid,
        "pg_auth_members" => cluster::pg_auth_members,
        "pg_tablespace" => cluster::pg_tablespace,
        "pg_db_role_setting" => cluster::pg_db_role_setting,
        "pg_extension" => cluster::pg_extension,
        "pg_proc" | "pg_operator" | "pg_cast" | "pg_aggregate" | "pg_am" | "pg_opclass" | "pg_opfamily"
        | "pg_amop" | "pg_amproc" | "pg_language" | "pg_range" | "pg_collation" => captured::rows,
        _ => no_rows,
    }
}

static RELATIONS: LazyLock<FxHashMap<Oid, SystemRelation>> = LazyLock::new(|| {
    let t = &*SYSTEM_COLUMNS;
    let c = |name| t.column(name);
    let (schema, name, oid, kind, att, typ, typmod, not_null) = (
        c("nspname"),
        c("relname"),
        c("reloid"),
        c("relkind"),
        c("attname"),
        c("atttypid"),
        c("atttypmod"),
        c("attnotnull"),
    );
    let mut map: FxHashMap<Oid, SystemRelation> = FxHashMap::default();
    for row in &t.rows {
        let text = |column: usize| row.get(column).and_then(|v| v.as_deref()).unwrap_or_default();
        if text(kind) != "r" {
            continue;
        }
        let id = Oid(text(oid).parse().unwrap_or(0));
        let relation = map.entry(id).or_insert_with(|| SystemRelation {
            oid: id,
            name: text(name),
            columns: Vec::new(),
            rows: if text(schema) == "pg_catalog" { rows_of(text(name)) } else { no_rows },
            cached: captured::Cached::default(),
        });
        relation.columns.push(SystemColumn {
            name: text(att),
            typ: Oid(text(typ).parse().unwrap_or(0)),
            typmod: text(typmod).parse().unwrap_or(-1),
            not_null: text(not_null) == "t",
        });
    }
    map
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{
        Column, Constraint, ConstraintKind, Database, Index, IndexColumn, IndexKey, Object, Persistence,
        Role, Schema, Sequence, Table,
    };
    use crate::{Change, Value};

    fn catalog() -> Catalog {
        let column = |name: &str, typ: u32| Column {
            name: name.into(),
            typ: Oid(typ),
            typmod: -1,
            not_null: true,
            default: Some("1".into()),
            generated: None,
            identity: None,
            dropped: false,
            missing: Value::Null,
            collation: Oid(0),
            ndims: 0,
            attrdef_oid: Oid(16400),
        };
        let database = Oid(5);
        let put = |object: Object| Change::Put(database, Box::new(object));
        Catalog::default().apply(&[
            Change::Put(
                Oid(0),
                Box::new(Object::Role(Role {
                    oid: Oid(10),
                    name: "postgres".into(),
                    superuser: true,
                    login: true,
                    createdb: true,
                    createrole: true,
                    password: None,
                })),
            ),
            Change::Put(
                Oid(0),
                Box::new(Object::Database(Database {
                    oid: database,
                    name: "postgres".into(),
                    owner: Oid(10),
                    is_template: false,
                    allow_connections: true,
                    connection_limit: -1,
                })),
            ),
            put(Object::Schema(Schema { oid: Oid(2200), name: "public".into(), owner: Oid(6171) })),
            put(Object::Table(Table {
                oid: Oid(16384),
                schema: Oid(2200),
                name: "t".into(),
                owner: Oid(10),
                persistence: Persistence::Permanent,
                relation: 16384,
                columns: vec![column("a", 23), column("b", 25)],
                cluster: vec![0],
                row_type: Oid(16385),
                array_type: Oid(16386),
                options: vec!["fillfactor=90".into()],
            })),
            put(Object::Index(Index {
                oid: Oid(16387),
                schema: Oid(2200),
                name: "t_pkey".into(),
                table: Oid(16384),
                relation: 0,
                columns: vec![IndexColumn {
                    key: IndexKey::Column(0),
                    typ: Oid(23),
                    desc: false,
                    nulls_first: false,
                    opclass: Oid(1978),
                    collation: Oid(0),
                }],
                include: vec![1],
                unique: true,
                primary: true,
                nulls_not_distinct: false,
                predicate: None,
                deferrable: false,
            })),
            put(Object::Constraint(Constraint {
                oid: Oid(16388),
                schema: Oid(2200),
                name: "t_pkey".into(),
                table: Oid(16384),
                columns: vec![0],
                kind: ConstraintKind::PrimaryKey { index: Oid(16387) },
                deferrable: false,
                initially_deferred: false,
                validated: true,
            })),
            put(Object::Sequence(Sequence {
                oid: Oid(16389),
                schema: Oid(2200),
                name: "t_a_seq".into(),
                owner: Oid(10),
                typ: Oid(23),
                start: 1,
                increment: 1,
                min: 1,
                max: 100,
                cache: 1,
                cycle: false,
                owned_by: Some((Oid(16384), 0, false)),
                persistence: Persistence::Permanent,
                relation: 16389,
            })),
        ])
    }

    #[test]
    fn every_system_table_reads_with_its_own_columns() {
        let catalog = catalog();
        let objects = &catalog.objects[&Oid(5)];
        let cx =
            SystemContext { catalog: &catalog, objects, database: Oid(5), size: &|_| (7, 8192), only: None };
        let mut counts = FxHashMap::default();
        for relation in RELATIONS.values() {
            let mut count = 0usize;
            relation
                .rows(&cx, &mut |row| {
                    assert_eq!(row.len(), relation.columns.len(), "{}", relation.name);
                    for (value, column) in row.iter().zip(&relation.columns) {
                        assert!(
                            !(column.not_null && value.is_null()),
                            "{}.{} is NULL",
                            relation.name,
                            column.name
                        );
                        if let Some(typ) = crate::types::by_oid(column.typ) {
                            let fits = match value {
                                Datum::Null => true,
                                Datum::Bool(_) => typ.shape == crate::types::Shape::Bool,
                                Datum::Int(_) => typ.shape == crate::types::Shape::Int,
                                Datum::Float(_) => typ.shape == crate::types::Shape::Float,
                                Datum::Interval(_) => typ.shape == crate::types::Shape::Interval,
                                Datum::Bytes(_) => typ.shape == crate::types::Shape::Bytes,
                            };
                            assert!(fits, "{}.{}: {value:?}", relation.name, column.name);
                            if !value.is_null() {
                                (typ.output)(*value, &crate::Style::default(), &mut Vec::new());
                            }
                        }
                    }
                    count += 1;
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap_or_else(|error| panic!("{}: {error}", relation.name));
            counts.insert(relation.name, count);
        }
        assert!(counts["pg_class"] > 300, "{counts:?}");
        assert!(counts["pg_proc"] > 3000);
        assert_eq!(counts["pg_database"], 1);
        assert_eq!(counts["pg_attrdef"], 2);
        assert_eq!(counts["pg_trigger"], 0);
    }
}
