//! pg_attribute, pg_attrdef.

use super::class::{number, text};
use super::{Emitter, SystemContext, SystemRelation};
use crate::object::{Column, Identity, Index, IndexKey};
use crate::pg::{PG_TYPE, SYSTEM_COLUMNS, SYSTEM_INDEXES};
use crate::types::{by_oid, oid};
use crate::{Oid, Relation, Result};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// How a type's values lie: typlen, typbyval, typalign, typstorage.
#[derive(Clone, Copy)]
struct Layout {
    len: i64,
    by_value: bool,
    align: u8,
    storage: u8,
}

static LAYOUTS: LazyLock<FxHashMap<Oid, Layout>> = LazyLock::new(|| {
    let t = &*PG_TYPE;
    let c = |name| t.column(name);
    let (id, len, by_value, align, storage) =
        (c("oid"), c("typlen"), c("typbyval"), c("typalign"), c("typstorage"));
    let byte = |row, column| text(row, column).bytes().next().unwrap_or(b'i');
    t.rows
        .iter()
        .map(|row| {
            let layout = Layout {
                len: text(row, len).parse().unwrap_or(-1),
                by_value: text(row, by_value) == "t",
                align: byte(row, align),
                storage: byte(row, storage),
            };
            (number(row, id), layout)
        })
        .collect()
});

fn layout(typ: Oid) -> Layout {
    let unknown = Layout { len: -1, by_value: false, align: b'd', storage: b'x' };
    LAYOUTS.get(&typ).copied().unwrap_or(unknown)
}

/// What a row of pg_attribute says.
#[derive(Clone, Copy)]
struct Attribute<'a> {
    relation: Oid,
    name: &'a str,
    typ: Oid,
    number: i64,
    ndims: i64,
    typmod: i64,
    not_null: bool,
    has_default: bool,
    identity: u8,
    generated: u8,
    dropped: bool,
    collation: Oid,
    /// The value of rows older than the column, as text.
    missing: Option<&'a str>,
}

const PLAIN: Attribute<'static> = Attribute {
    relation: Oid::INVALID,
    name: "",
    typ: Oid::INVALID,
    number: 0,
    ndims: 0,
    typmod: -1,
    not_null: false,
    has_default: false,
    identity: 0,
    generated: 0,
    dropped: false,
    collation: Oid::INVALID,
    missing: None,
};

fn write(relation: &SystemRelation, out: &mut Emitter<'_, '_>, a: &Attribute<'_>) -> Result<()> {
    out.row(relation, |r| {
        let lay = layout(a.typ);
        let target = if a.number < 0 { 0 } else { -1 };
        r.oid(a.relation).text(a.name).oid(if a.dropped { Oid::INVALID } else { a.typ }).int(target);
        r.int(lay.len).int(a.number).int(a.ndims).int(-1).int(a.typmod).bool(lay.by_value);
        r.char(lay.align).char(lay.storage).char(0).bool(a.not_null).bool(a.has_default);
        r.bool(a.missing.is_some()).char(a.identity).char(a.generated).bool(a.dropped).bool(true).int(0);
        r.oid(a.collation).nulls(3);
        // anyarray: an array of one element of the column's type.
        match a.missing {
            Some(value) => r.text(&format!("{{{value}}}")),
            None => r.null(),
        };
        Ok(())
    })
}

const SYSTEM_ATTRIBUTES: [(&str, Oid, i64); 6] = [
    ("tableoid", oid::OID, -6),
    ("cmax", oid::CID, -5),
    ("xmax", oid::XID, -4),
    ("cmin", oid::CID, -3),
    ("xmin", oid::XID, -2),
    ("ctid", oid::TID, -1),
];

fn system_attributes(relation: &SystemRelation, out: &mut Emitter<'_, '_>, of: Oid) -> Result<()> {
    for (name, typ, number) in SYSTEM_ATTRIBUTES {
        write(relation, out, &Attribute { relation: of, name, typ, number, not_null: true, ..PLAIN })?;
    }
    Ok(())
}

/// pg_attribute
pub fn pg_attribute(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    if cx.only.is_none_or(|only| only.0 < Oid::FIRST_NORMAL.0) {
        system_relations(cx, relation, out)?;
        system_indexes(cx, relation, out)?;
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

fn system_relations(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let t = &*SYSTEM_COLUMNS;
    let c = |name| t.column(name);
    let (id, kind, att, typ, num, typmod, not_null, collation, ndims) = (
        c("reloid"),
        c("relkind"),
        c("attname"),
        c("atttypid"),
        c("attnum"),
        c("atttypmod"),
        c("attnotnull"),
        c("attcollation"),
        c("attndims"),
    );
    for row in &t.rows {
        if out.is_done() {
            return Ok(());
        }
        let of = number(row, id);
        if cx.only.is_some_and(|only| only != of) {
            continue;
        }
        let place: i64 = text(row, num).parse().unwrap_or(0);
        if place == 1 && text(row, kind) == "r" {
            system_attributes(relation, out, of)?;
        }
        write(
            relation,
            out,
            &Attribute {
                relation: of,
                name: text(row, att),
                typ: number(row, typ),
                number: place,
                ndims: text(row, ndims).parse().unwrap_or(0),
                typmod: text(row, typmod).parse().unwrap_or(-1),
                not_null: text(row, not_null) == "t",
                collation: number(row, collation),
                ..PLAIN
            },
        )?;
    }
    Ok(())
}

fn system_indexes(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let t = &*SYSTEM_INDEXES;
    let (id, on, key) = (t.column("indexrelid"), t.column("indrelid"), t.column("indkey"));
    for row in &t.rows {
        let index = number(row, id);
        if cx.only.is_some_and(|only| only != index) {
            continue;
        }
        let Some(table) = super::relation(number(row, on)) else { continue };
        for (i, place) in text(row, key).split(' ').enumerate() {
            let place: usize = place.parse().unwrap_or(0);
            let Some(column) = place.checked_sub(1).and_then(|p| table.columns.get(p)) else { continue };
            let found = Attribute {
                relation: index,
                name: column.name,
                typ: column.typ,
                number: i as i64 + 1,
                typmod: column.typmod.into(),
                ..PLAIN
            };
            write(relation, out, &found)?;
        }
    }
    Ok(())
}

fn own(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    found: &Relation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    match found {
        Relation::Table(t) => {
            system_attributes(relation, out, t.oid)?;
            columns(relation, out, t.oid, &t.columns)
        }
        Relation::View(v) => columns(relation, out, v.oid, &v.columns),
        Relation::Sequence(s) => {
            system_attributes(relation, out, s.oid)?;
            for (i, (name, typ)) in
                [("last_value", oid::INT8), ("log_cnt", oid::INT8), ("is_called", oid::BOOL)]
                    .into_iter()
                    .enumerate()
            {
                let number = i as i64 + 1;
                write(
                    relation,
                    out,
                    &Attribute { relation: s.oid, name, typ, number, not_null: true, ..PLAIN },
                )?;
            }
            Ok(())
        }
        Relation::Index(i) => {
            for (at, (name, typ, typmod, collation)) in index_columns(cx, i).into_iter().enumerate() {
                let found = Attribute {
                    relation: i.oid,
                    name: &name,
                    typ,
                    number: at as i64 + 1,
                    typmod: typmod.into(),
                    collation,
                    ..PLAIN
                };
                write(relation, out, &found)?;
            }
            Ok(())
        }
    }
}

fn columns(relation: &SystemRelation, out: &mut Emitter<'_, '_>, of: Oid, list: &[Column]) -> Result<()> {
    for (i, column) in list.iter().enumerate() {
        let missing = column.missing.datum();
        let missing_text = match (by_oid(column.typ), missing.is_null()) {
            (Some(typ), false) => {
                let mut bytes = Vec::new();
                (typ.output)(missing, &crate::Style::default(), &mut bytes);
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        };
        let found = Attribute {
            relation: of,
            name: &column.name,
            typ: column.typ,
            number: i as i64 + 1,
            ndims: column.ndims.into(),
            typmod: column.typmod.into(),
            not_null: column.not_null,
            has_default: column.default.is_some() || column.generated.is_some(),
            identity: match column.identity {
                Some(Identity::Always) => b'a',
                Some(Identity::ByDefault) => b'd',
                None => 0,
            },
            generated: if column.generated.is_some() { b's' } else { 0 },
            dropped: column.dropped,
            collation: column.collation,
            missing: missing_text.as_deref(),
        };
        write(relation, out, &found)?;
    }
    Ok(())
}

/// Name, type, modifier and collation of each column of an index, the included ones too.
fn index_columns(cx: &SystemContext<'_>, index: &Index) -> Vec<(String, Oid, i32, Oid)> {
    let table = cx.objects.table(index.table);
    let column = |place: u16| table.and_then(|t| t.columns.get(usize::from(place)));
    let mut list: Vec<(String, Oid, i32, Oid)> = Vec::new();
    for key in &index.columns {
        let name = match &key.key {
            IndexKey::Column(place) => column(*place).map_or(String::new(), |c| c.name.clone()),
            IndexKey::Expression(text) => expression_name(text),
        };
        let typmod = match key.key {
            IndexKey::Column(place) => column(place).map_or(-1, |c| c.typmod),
            IndexKey::Expression(_) => -1,
        };
        list.push((unique_name(&list, name), key.typ, typmod, key.collation));
    }
    for place in &index.include {
        if let Some(c) = column(*place) {
            list.push((unique_name(&list, c.name.clone()), c.typ, c.typmod, Oid::INVALID));
        }
    }
    list
}

fn unique_name(list: &[(String, Oid, i32, Oid)], name: String) -> String {
    let mut unique = name.clone();
    let mut pass = 0;
    while list.iter().any(|(other, ..)| *other == unique) {
        pass += 1;
        unique = format!("{name}{pass}");
    }
    unique
}

/// The column name of an index expression: the function's if it is one call, else `expr`.
fn expression_name(text: &str) -> String {
    let end = text.find('(').unwrap_or(0);
    match text.get(..end) {
        Some(name) if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            name.to_owned()
        }
        _ => "expr".into(),
    }
}

/// pg_attrdef
pub fn pg_attrdef(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for found in cx.objects.relations.values() {
        let Relation::Table(table) = found else { continue };
        for (place, column) in table.live_columns() {
            let Some(expression) = column.default.as_ref().or(column.generated.as_ref()) else { continue };
            out.row(relation, |r| {
                r.oid(column.attrdef_oid).oid(table.oid).int(place as i64 + 1).text(expression);
                Ok(())
            })?;
        }
    }
    Ok(())
}
