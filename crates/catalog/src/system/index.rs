//! pg_index.

use super::class::{number, text};
use super::{Emitter, SystemContext, SystemRelation};
use crate::object::{Index, IndexKey};
use crate::pg::SYSTEM_INDEXES;
use crate::{Oid, Relation, Result};

/// pg_index; `only` is the index.
pub fn pg_index(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    let t = &*SYSTEM_INDEXES;
    let c = |name| t.column(name);
    let (id, on, unique, primary, key, class, collation, option) = (
        c("indexrelid"),
        c("indrelid"),
        c("indisunique"),
        c("indisprimary"),
        c("indkey"),
        c("indclass"),
        c("indcollation"),
        c("indoption"),
    );
    for row in t.rows.iter().filter(|row| cx.only.is_none_or(|only| only == number(row, id))) {
        let columns = text(row, key).split(' ').count() as i64;
        out.row(relation, |r| {
            r.oid(number(row, id)).oid(number(row, on)).int(columns).int(columns);
            r.bool(text(row, unique) == "t")
                .bool(false)
                .bool(text(row, primary) == "t")
                .bool(false)
                .bool(true);
            r.bool(false).bool(true).bool(false).bool(true).bool(true).bool(false);
            r.input(text(row, key))?.input(text(row, collation))?.input(text(row, class))?;
            r.input(text(row, option))?.nulls(2);
            Ok(())
        })?;
    }
    if let Some(only) = cx.only {
        return match cx.objects.index(only) {
            Some(index) => own(relation, index, out),
            None => Ok(()),
        };
    }
    for found in cx.objects.relations.values() {
        if let Relation::Index(index) = found {
            own(relation, index, out)?;
        }
    }
    Ok(())
}

fn own(relation: &SystemRelation, index: &Index, out: &mut Emitter<'_, '_>) -> Result<()> {
    out.row(relation, |r| {
        let keys = index.columns.len();
        r.oid(index.oid).oid(index.table).int((keys + index.include.len()) as i64).int(keys as i64);
        r.bool(index.unique).bool(index.nulls_not_distinct).bool(index.primary).bool(false);
        r.bool(!index.deferrable).bool(false).bool(true).bool(false).bool(true).bool(true).bool(false);
        let attnum = |place: &u16| i64::from(*place) + 1;
        let columns = index.columns.iter().map(|c| match &c.key {
            IndexKey::Column(place) => attnum(place),
            IndexKey::Expression(_) => 0,
        });
        r.vector(columns.chain(index.include.iter().map(attnum)))?;
        let oids = |pick: fn(&crate::object::IndexColumn) -> Oid| {
            index.columns.iter().map(move |c| i64::from(pick(c).0))
        };
        r.vector(oids(|c| c.collation))?.vector(oids(|c| c.opclass))?;
        r.vector(index.columns.iter().map(|c| i64::from(c.desc) | (i64::from(c.nulls_first) << 1)))?;
        let expressions: Vec<&str> = index
            .columns
            .iter()
            .filter_map(|c| match &c.key {
                IndexKey::Expression(text) => Some(text.as_str()),
                IndexKey::Column(_) => None,
            })
            .collect();
        if expressions.is_empty() {
            r.null();
        } else {
            r.text(&expressions.join(", "));
        }
        r.text_or_null(index.predicate.as_deref());
        Ok(())
    })
}
