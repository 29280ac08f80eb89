//! pg_constraint, pg_trigger.

use super::class::{number, text};
use super::{Emitter, SystemContext, SystemRelation};
use crate::object::{Constraint, ConstraintKind, ForeignKeyAction};
use crate::pg::SYSTEM_CONSTRAINTS;
use crate::{Oid, Result};

fn action(action: &ForeignKeyAction) -> u8 {
    match action {
        ForeignKeyAction::NoAction => b'a',
        ForeignKeyAction::Restrict => b'r',
        ForeignKeyAction::Cascade => b'c',
        ForeignKeyAction::SetNull(_) => b'n',
        ForeignKeyAction::SetDefault(_) => b'd',
    }
}

fn attnums(places: &[u16]) -> impl Iterator<Item = i64> + '_ {
    places.iter().map(|place| i64::from(*place) + 1)
}

/// pg_constraint
pub fn pg_constraint(
    cx: &SystemContext<'_>,
    relation: &SystemRelation,
    out: &mut Emitter<'_, '_>,
) -> Result<()> {
    system(cx, relation, out)?;
    if let Some(only) = cx.only {
        return match cx.objects.constraints.get(&only) {
            Some(constraint) => write(relation, constraint, out),
            None => Ok(()),
        };
    }
    for constraint in cx.objects.constraints.values() {
        write(relation, constraint, out)?;
    }
    Ok(())
}

/// The keys of the system's own relations.
fn system(cx: &SystemContext<'_>, relation: &SystemRelation, out: &mut Emitter<'_, '_>) -> Result<()> {
    let t = &*SYSTEM_CONSTRAINTS;
    let c = |name| t.column(name);
    let (id, name, kind, on, index, key) =
        (c("oid"), c("conname"), c("contype"), c("conrelid"), c("conindid"), c("conkey"));
    for row in t.rows.iter().filter(|row| cx.only.is_none_or(|only| only == number(row, id))) {
        out.row(relation, |r| {
            r.oid(number(row, id)).text(text(row, name)).oid(Oid::PG_CATALOG);
            r.char(text(row, kind).bytes().next().unwrap_or(b'u')).bool(false).bool(false).bool(true);
            r.oid(number(row, on)).oid(Oid::INVALID).oid(number(row, index)).oid(Oid::INVALID);
            r.oid(Oid::INVALID).char(b' ').char(b' ').char(b' ').bool(true).int(0).bool(true);
            r.input(text(row, key))?.nulls(7);
            Ok(())
        })?;
    }
    Ok(())
}

fn write(relation: &SystemRelation, c: &Constraint, out: &mut Emitter<'_, '_>) -> Result<()> {
    out.row(relation, |r| {
        let (kind, index) = match &c.kind {
            ConstraintKind::Check { .. } => (b'c', Oid::INVALID),
            ConstraintKind::PrimaryKey { index } => (b'p', *index),
            ConstraintKind::Unique { index } => (b'u', *index),
            ConstraintKind::ForeignKey { index, .. } => (b'f', *index),
        };
        r.oid(c.oid).text(&c.name).oid(c.schema).char(kind).bool(c.deferrable).bool(c.initially_deferred);
        r.bool(c.validated).oid(c.table).oid(Oid::INVALID).oid(index).oid(Oid::INVALID);
        match &c.kind {
            ConstraintKind::ForeignKey { referenced, on_update, on_delete, match_full, .. } => {
                r.oid(*referenced).char(action(on_update)).char(action(on_delete));
                r.char(if *match_full { b'f' } else { b's' });
            }
            _ => {
                r.oid(Oid::INVALID).char(b' ').char(b' ').char(b' ');
            }
        }
        let no_inherit = match &c.kind {
            ConstraintKind::Check { no_inherit, .. } => *no_inherit,
            _ => true,
        };
        r.bool(true).int(0).bool(no_inherit);
        if c.columns.is_empty() {
            r.null();
        } else {
            r.array(attnums(&c.columns))?;
        }
        match &c.kind {
            ConstraintKind::ForeignKey { referenced_columns, on_delete, .. } => {
                r.array(attnums(referenced_columns))?;
                // The equality operators; 96 is int4 = int4, of which only the presence is looked at.
                for _ in 0..3 {
                    r.array(referenced_columns.iter().map(|_| 96))?;
                }
                match on_delete {
                    ForeignKeyAction::SetNull(list) | ForeignKeyAction::SetDefault(list)
                        if !list.is_empty() =>
                    {
                        r.array(attnums(list))?;
                    }
                    _ => {
                        r.null();
                    }
                }
            }
            _ => {
                r.nulls(5);
            }
        }
        // conexclop
        r.null();
        match &c.kind {
            ConstraintKind::Check { expression, .. } => r.text(expression),
            _ => r.null(),
        };
        Ok(())
    })
}

/// pg_trigger: there are none; foreign keys are not triggers here.
pub fn pg_trigger(_: &SystemContext<'_>, _: &SystemRelation, _: &mut Emitter<'_, '_>) -> Result<()> {
    Ok(())
}
