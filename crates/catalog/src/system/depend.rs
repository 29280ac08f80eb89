//! pg_depend, pg_description, pg_shdescription.

use super::class::{number, text};
use super::{Emitter, SystemContext, SystemRelation};
use crate::object::ConstraintKind;
use crate::pg::PG_DESCRIPTION;
use crate::{Oid, Relation, Result};

const PG_CLASS: Oid = Oid(1259);
const PG_TYPE: Oid = Oid(1247);
const PG_CONSTRAINT: Oid = Oid(2606);
const PG_ATTRDEF: Oid = Oid(2604);
const PG_REWRITE: Oid = Oid(2618);
const PG_NAMESPACE: Oid = Oid(2615);
const PG_DATABASE: Oid = Oid(1262);
const PG_AUTHID: Oid = Oid(1260);

/// An object as pg_depend names it.
type Address = (Oid, Oid, i64);

/// pg_depend: what tools ask for, from the definitions.
pub fn pg_depend(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    let mut edge = |from: Address, to: Address, kind: u8| {
        out.row(relation, |r| {
            r.oid(from.0).oid(from.1).int(from.2).oid(to.0).oid(to.1).int(to.2).char(kind);
            Ok(())
        })
    };
    let column = |table: Oid, place: u16| (PG_CLASS, table, i64::from(place) + 1);
    for found in cx.objects.relations.values() {
        let own = (PG_CLASS, found.oid(), 0);
        let schema = (PG_NAMESPACE, found.schema(), 0);
        match found {
            Relation::Table(table) => {
                edge((PG_TYPE, table.row_type, 0), own, b'i')?;
                edge(own, schema, b'n')?;
                for (place, c) in table.live_columns() {
                    if c.attrdef_oid.is_valid() {
                        edge((PG_ATTRDEF, c.attrdef_oid, 0), column(table.oid, place as u16), b'a')?;
                    }
                }
            }
            Relation::View(view) => {
                edge((PG_TYPE, view.row_type, 0), own, b'i')?;
                edge(own, schema, b'n')?;
                edge((PG_REWRITE, view.oid, 0), own, b'i')?;
                for on in &view.depends_on {
                    edge((PG_REWRITE, view.oid, 0), (PG_CLASS, *on, 0), b'n')?;
                }
            }
            Relation::Sequence(sequence) => {
                edge(own, schema, b'n')?;
                if let Some((table, place, identity)) = sequence.owned_by {
                    edge(own, column(table, place), if identity { b'i' } else { b'a' })?;
                }
            }
            Relation::Index(index) => {
                let constraint = cx.objects.constraints_of(index.table).find(|c| {
                    matches!(c.kind, ConstraintKind::PrimaryKey { index: on } | ConstraintKind::Unique { index: on } if on == index.oid)
                });
                match constraint {
                    Some(constraint) => edge(own, (PG_CONSTRAINT, constraint.oid, 0), b'i')?,
                    None => {
                        for key in &index.columns {
                            if let crate::object::IndexKey::Column(place) = key.key {
                                edge(own, column(index.table, place), b'a')?;
                            }
                        }
                    }
                }
            }
        }
    }
    for constraint in cx.objects.constraints.values() {
        let own = (PG_CONSTRAINT, constraint.oid, 0);
        for place in &constraint.columns {
            edge(own, column(constraint.table, *place), b'a')?;
        }
        if let ConstraintKind::ForeignKey { referenced, referenced_columns, index, .. } = &constraint.kind {
            for place in referenced_columns {
                edge(own, column(*referenced, *place), b'n')?;
            }
            edge(own, (PG_CLASS, *index, 0), b'n')?;
        }
    }
    Ok(())
}

/// pg_description
pub fn pg_description(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    let t = &*PG_DESCRIPTION;
    let (object, class, sub, description) =
        (t.column("objoid"), t.column("classoid"), t.column("objsubid"), t.column("description"));
    for row in &t.rows {
        // Comments on schemas are kept with the other comments, so that they can be changed.
        if number(row, object) == Oid::PUBLIC || number(row, class) == PG_DATABASE {
            continue;
        }
        if cx.only.is_some_and(|only| only != number(row, object)) {
            continue;
        }
        out.row(relation, |r| {
            r.oid(number(row, object)).oid(number(row, class)).int(text(row, sub).parse().unwrap_or(0));
            r.text(text(row, description));
            Ok(())
        })?;
    }
    for comment in cx.objects.comments.values() {
        if comment.classoid == PG_DATABASE || comment.classoid == PG_AUTHID {
            continue;
        }
        out.row(relation, |r| {
            r.oid(comment.oid).oid(comment.classoid).int(comment.sub.into()).text(&comment.text);
            Ok(())
        })?;
    }
    Ok(())
}

/// pg_shdescription: comments on databases and roles.
pub fn pg_shdescription(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    for objects in cx.catalog.objects.values() {
        for comment in objects.comments.values() {
            if comment.classoid == PG_DATABASE || comment.classoid == PG_AUTHID {
                out.row(relation, |r| {
                    r.oid(comment.oid).oid(comment.classoid).text(&comment.text);
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}
