//! pg_class, pg_type, pg_namespace, pg_rewrite.

use super::{Emitter, SystemContext, SystemRelation, captured};
use crate::object::{ConstraintKind, Persistence};
use crate::pg::{SYSTEM_COLUMNS, SYSTEM_INDEXES};
use crate::{Oid, Relation, Result};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A system relation's row in pg_class.
struct SystemClass {
    oid: Oid,
    name: &'static str,
    schema: Oid,
    row_type: Oid,
    kind: u8,
    columns: i64,
    has_index: bool,
}

/// Relations that all databases share.
const SHARED: [u32; 11] = [1213, 1214, 1260, 1261, 1262, 2396, 2964, 3592, 6000, 6100, 6243];

/// An OID in captured text.
pub(super) fn number(row: &'static [Option<String>], column: usize) -> Oid {
    Oid(row.get(column).and_then(|v| v.as_deref()).and_then(|v| v.parse().ok()).unwrap_or(0))
}

/// Captured text.
pub(super) fn text(row: &'static [Option<String>], column: usize) -> &'static str {
    row.get(column).and_then(|v| v.as_deref()).unwrap_or_default()
}

static CLASSES: LazyLock<Vec<SystemClass>> = LazyLock::new(|| {
    let t = &*SYSTEM_COLUMNS;
    let c = |name| t.column(name);
    let (schema, name, oid, kind, row_type) =
        (c("nspname"), c("relname"), c("reloid"), c("relkind"), c("reltype"));
    let indexes = &*SYSTEM_INDEXES;
    let on = indexes.column("indrelid");
    let indexed: HashSet<Oid> = indexes.rows.iter().map(|row| number(row, on)).collect();
    let mut list: Vec<SystemClass> = Vec::new();
    for row in &t.rows {
        let id = number(row, oid);
        if let Some(last) = list.last_mut()
            && last.oid == id
        {
            last.columns += 1;
            continue;
        }
        list.push(SystemClass {
            oid: id,
            name: text(row, name),
            schema: if text(row, schema) == "pg_catalog" { Oid::PG_CATALOG } else { Oid::INFORMATION_SCHEMA },
            row_type: number(row, row_type),
            kind: text(row, kind).bytes().next().unwrap_or(b'r'),
            columns: 1,
            has_index: indexed.contains(&id),
        });
    }
    list
});

/// What a row of pg_class says.
struct Class<'a> {
    oid: Oid,
    name: &'a str,
    schema: Oid,
    row_type: Oid,
    owner: Oid,
    relation: u32,
    pages: i64,
    tuples: f64,
    has_index: bool,
    shared: bool,
    persistence: u8,
    kind: u8,
    columns: i64,
    checks: i64,
    has_rules: bool,
    has_triggers: bool,
    options: &'a [String],
}

fn write(relation: &SystemRelation, out: &mut Emitter<'_, '_>, c: &Class<'_>) -> Result<()> {
    out.row(relation, |r| {
        let am = match c.kind {
            b'r' => Oid(2),
            b'i' => Oid(403),
            _ => Oid::INVALID,
        };
        r.oid(c.oid).text(c.name).oid(c.schema).oid(c.row_type).oid(Oid::INVALID).oid(c.owner).oid(am);
        r.int(c.relation.into()).oid(Oid(if c.shared { 1664 } else { 0 }));
        r.int(c.pages).float(c.tuples).int(0).oid(Oid::INVALID);
        r.bool(c.has_index).bool(c.shared).char(c.persistence).char(c.kind).int(c.columns).int(c.checks);
        r.bool(c.has_rules).bool(c.has_triggers).bool(false).bool(false).bool(false).bool(true);
        let identity = match c.kind {
            b'r' if c.schema != Oid::PG_CATALOG => b'd',
            _ => b'n',
        };
        r.char(identity).bool(false).oid(Oid::INVALID);
        let frozen = if c.kind == b'r' { 1 } else { 0 };
        r.int(frozen * 700).int(frozen).null();
        match c.options {
            [] => r.null(),
            options => r.text_array(options)?,
        };
        r.null();
        Ok(())
    })
}

fn persistence(p: Persistence) -> u8 {
    match p {
        Persistence::Permanent => b'p',
        Persistence::Unlogged => b'u',
        Persistence::Temporary => b't',
    }
}

/// pg_class
pub fn pg_class(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    let wanted = |oid: Oid| cx.only.is_none_or(|only| only == oid);
    for class in CLASSES.iter().filter(|class| wanted(class.oid)) {
        write(
            relation,
            out,
            &Class {
                oid: class.oid,
                name: class.name,
                schema: class.schema,
                row_type: class.row_type,
                owner: Oid::POSTGRES_ROLE,
                relation: if class.kind == b'r' { class.oid.0 } else { 0 },
                pages: 0,
                tuples: if class.kind == b'r' { -1.0 } else { 0.0 },
                has_index: class.has_index,
                shared: SHARED.contains(&class.oid.0),
                persistence: b'p',
                kind: class.kind,
                columns: class.columns,
                checks: 0,
                has_rules: class.kind == b'v',
                has_triggers: false,
                options: &[],
            },
        )?;
    }
    let t = &*SYSTEM_INDEXES;
    let (id, name, on, key) =
        (t.column("indexrelid"), t.column("indexname"), t.column("indrelid"), t.column("indkey"));
    for row in t.rows.iter().filter(|row| wanted(number(row, id))) {
        write(
            relation,
            out,
            &Class {
                oid: number(row, id),
                name: text(row, name),
                schema: Oid::PG_CATALOG,
                row_type: Oid::INVALID,
                owner: Oid::POSTGRES_ROLE,
                relation: number(row, id).0,
                pages: 1,
                tuples: 0.0,
                has_index: false,
                shared: SHARED.contains(&number(row, on).0),
                persistence: b'p',
                kind: b'i',
                columns: text(row, key).split(' ').count() as i64,
                checks: 0,
                has_rules: false,
                has_triggers: false,
                options: &[],
            },
        )?;
    }
    match cx.only {
        Some(only) => match cx.objects.relations.get(&only) {
            Some(found) => own(cx, relation, found, out),
            None => Ok(()),
        },
        None => {
            for found in cx.objects.relations.values() {
                own(cx, relation, found, out)?;
            }
            Ok(())
        }
    }
}

fn own(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    found: &Relation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let size = |relation: u32| {
        let (rows, bytes) = (cx.size)(relation);
        (bytes.div_ceil(8192) as i64, rows as f64)
    };
    let base = Class {
        oid: found.oid(),
        name: found.name(),
        schema: found.schema(),
        row_type: Oid::INVALID,
        owner: Oid::POSTGRES_ROLE,
        relation: 0,
        pages: 0,
        tuples: 0.0,
        has_index: false,
        shared: false,
        persistence: b'p',
        kind: b'r',
        columns: 0,
        checks: 0,
        has_rules: false,
        has_triggers: false,
        options: &[],
    };
    match found {
        Relation::Table(t) => {
            let (pages, tuples) = size(t.relation);
            let statistics = cx.objects.statistics.get(&t.oid);
            let never_analyzed = statistics.is_none_or(|s| s.relation != t.relation);
            let is_check = |kind: &ConstraintKind| matches!(kind, ConstraintKind::Check { .. });
            let checks = cx.objects.constraints_of(t.oid).filter(|c| is_check(&c.kind)).count() as i64;
            let referring =
                cx.objects.constraints_of(t.oid).any(|c| matches!(c.kind, ConstraintKind::ForeignKey { .. }));
            let has_triggers = referring || cx.objects.foreign_keys_to(t.oid).next().is_some();
            write(
                relation,
                out,
                &Class {
                    row_type: t.row_type,
                    owner: t.owner,
                    relation: t.relation,
                    pages,
                    tuples: if never_analyzed && tuples == 0.0 { -1.0 } else { tuples },
                    has_index: cx.objects.indexes_of(t.oid).next().is_some(),
                    persistence: persistence(t.persistence),
                    columns: t.columns.len() as i64,
                    checks,
                    has_triggers,
                    options: &t.options,
                    ..base
                },
            )
        }
        Relation::Index(i) => {
            let table = cx.objects.table(i.table);
            let storage = if i.relation == 0 { table.map_or(0, |t| t.relation) } else { i.relation };
            let (pages, tuples) = size(storage);
            write(
                relation,
                out,
                &Class {
                    owner: table.map_or(Oid::POSTGRES_ROLE, |t| t.owner),
                    persistence: table.map_or(b'p', |t| persistence(t.persistence)),
                    relation: if i.relation == 0 { i.oid.0 } else { i.relation },
                    pages,
                    tuples,
                    kind: b'i',
                    columns: (i.columns.len() + i.include.len()) as i64,
                    ..base
                },
            )
        }
        Relation::Sequence(s) => write(
            relation,
            out,
            &Class {
                owner: s.owner,
                persistence: persistence(s.persistence),
                relation: s.relation,
                pages: 1,
                tuples: 1.0,
                kind: b'S',
                columns: 3,
                ..base
            },
        ),
        Relation::View(v) => write(
            relation,
            out,
            &Class {
                row_type: v.row_type,
                owner: v.owner,
                persistence: persistence(v.persistence),
                tuples: -1.0,
                kind: b'v',
                columns: v.columns.len() as i64,
                has_rules: true,
                ..base
            },
        ),
    }
}

/// pg_type: the captured rows, and two for each relation of ours that has a row type.
pub fn pg_type(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    captured::rows(cx, relation, out)?;
    if cx.only.is_some_and(|only| only.0 < Oid::FIRST_NORMAL.0) {
        return Ok(());
    }
    for found in cx.objects.relations.values() {
        let (row_type, array_type, owner) = match found {
            Relation::Table(t) => (t.row_type, t.array_type, t.owner),
            Relation::View(v) => (v.row_type, v.array_type, v.owner),
            Relation::Index(_) | Relation::Sequence(_) => continue,
        };
        out.row(relation, |r| {
            r.oid(row_type).text(found.name()).oid(found.schema()).oid(owner).int(-1).bool(false);
            r.char(b'c')
                .char(b'C')
                .bool(false)
                .bool(true)
                .char(b',')
                .oid(found.oid())
                .oid(Oid(0))
                .oid(Oid(0));
            r.oid(array_type).oid(Oid(2290)).oid(Oid(2291)).oid(Oid(2402)).oid(Oid(2403));
            r.oid(Oid(0))
                .oid(Oid(0))
                .oid(Oid(0))
                .char(b'd')
                .char(b'x')
                .bool(false)
                .oid(Oid(0))
                .int(-1)
                .int(0);
            r.oid(Oid(0)).nulls(3);
            Ok(())
        })?;
        let array_name = array_name(found.name());
        out.row(relation, |r| {
            r.oid(array_type).text(&array_name).oid(found.schema()).oid(owner).int(-1).bool(false);
            r.char(b'b')
                .char(b'A')
                .bool(false)
                .bool(true)
                .char(b',')
                .oid(Oid(0))
                .oid(Oid(6179))
                .oid(row_type);
            r.oid(Oid(0)).oid(Oid(750)).oid(Oid(751)).oid(Oid(2400)).oid(Oid(2401));
            r.oid(Oid(0))
                .oid(Oid(0))
                .oid(Oid(3816))
                .char(b'd')
                .char(b'x')
                .bool(false)
                .oid(Oid(0))
                .int(-1)
                .int(0);
            r.oid(Oid(0)).nulls(3);
            Ok(())
        })?;
    }
    Ok(())
}

/// `makeArrayTypeName`, without its look at names that are taken.
fn array_name(name: &str) -> String {
    let mut end = name.len().min(62);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("_{}", name.get(..end).unwrap_or_default())
}

/// pg_namespace
pub fn pg_namespace(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let superuser = Oid::POSTGRES_ROLE;
    let builtin = [
        (Oid(99), "pg_toast", None),
        (Oid::PG_CATALOG, "pg_catalog", Some("{postgres=UC/postgres,=U/postgres}")),
        (Oid::INFORMATION_SCHEMA, "information_schema", Some("{postgres=UC/postgres,=U/postgres}")),
    ];
    for (oid, name, acl) in builtin {
        out.row(relation, |r| {
            r.oid(oid).text(name).oid(superuser);
            match acl {
                Some(acl) => r.input(acl)?,
                None => r.null(),
            };
            Ok(())
        })?;
    }
    for schema in cx.objects.schemas.values() {
        out.row(relation, |r| {
            r.oid(schema.oid).text(&schema.name).oid(schema.owner);
            if schema.oid == Oid::PUBLIC {
                r.input("{pg_database_owner=UC/pg_database_owner,=U/pg_database_owner}")?;
            } else {
                r.null();
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_rewrite: one `_RETURN` rule per view, by the view's own OID.
pub fn pg_rewrite(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let own: HashMap<Oid, &str> = cx
        .objects
        .relations
        .values()
        .filter_map(|r| match r {
            Relation::View(v) => Some((v.oid, v.definition.as_str())),
            _ => None,
        })
        .collect();
    let system = CLASSES.iter().filter(|c| c.kind == b'v').map(|c| (c.oid, ""));
    for (oid, definition) in system.chain(own) {
        out.row(relation, |r| {
            r.oid(oid).text("_RETURN").oid(oid).char(b'1').char(b'O').bool(true).text("<>").text(definition);
            Ok(())
        })?;
    }
    Ok(())
}
