//! TRUNCATE: each table gets fresh storage relations, so that it costs the same whatever was in it, and rolls back.

use super::names::wrong_kind;
use super::{DdlContext, sequence};
use crate::utility::Name;
use crate::utility::alter::RelationKind;
use catalog::object::{Index, Object, Table};
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::{RelationId, TableLockMode};

/// TRUNCATE (`ExecuteTruncate`).
pub fn truncate(cx: &DdlContext<'_>, names: &[Name], restart: bool, cascade: bool) -> Result<()> {
    let mut tables: Vec<Oid> = Vec::new();
    for name in names {
        let table = table(cx, &cx.relation(name)?)?;
        cx.lock_relation(table.oid, TableLockMode::AccessExclusive)?;
        if !tables.contains(&table.oid) {
            tables.push(table.oid);
        }
    }
    if cascade {
        let mut at = 0;
        while let Some(oid) = tables.get(at).copied() {
            let referencing: Vec<Oid> = cx.objects().foreign_keys_to(oid).map(|c| c.table).collect();
            for other in referencing {
                if tables.contains(&other) {
                    continue;
                }
                cx.lock_relation(other, TableLockMode::AccessExclusive)?;
                if let Some(other) = cx.objects().table(other) {
                    cx.notice(
                        SqlState::SUCCESSFUL_COMPLETION,
                        format!("truncate cascades to table \"{}\"", other.name),
                    );
                    tables.push(other.oid);
                }
            }
            at += 1;
        }
    } else {
        check_references(cx, &tables)?;
    }
    for oid in &tables {
        let objects = cx.objects();
        let Some(table) = objects.table(*oid) else { continue };
        empty(cx, table)?;
        if restart {
            for relation in objects.relations.values() {
                if let Relation::Sequence(s) = relation
                    && s.owned_by.is_some_and(|(owner, _, _)| owner == *oid)
                {
                    let mut changed = (**s).clone();
                    let start = changed.start;
                    sequence::restart_at(cx, &mut changed, start)?;
                    cx.put(Object::Sequence(changed))?;
                }
            }
        }
    }
    Ok(())
}

fn table(_cx: &DdlContext<'_>, relation: &Relation) -> Result<Arc<Table>> {
    match relation {
        Relation::Table(table) => Ok(Arc::clone(table)),
        other => Err(wrong_kind(other, RelationKind::Table, false)),
    }
}

/// 0A000 when a table outside of the list refers to one inside (`heap_truncate_check_FKs`).
fn check_references(cx: &DdlContext<'_>, tables: &[Oid]) -> Result<()> {
    let objects = cx.objects();
    for oid in tables {
        for constraint in objects.foreign_keys_to(*oid) {
            if tables.contains(&constraint.table) {
                continue;
            }
            let name = |oid| objects.table(oid).map(|t| t.name.clone()).unwrap_or_default();
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot truncate a table referenced in a foreign key constraint",
            )
            .detail(format!("Table \"{}\" references \"{}\".", name(constraint.table), name(*oid)))
            .hint(format!(
                "Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.",
                name(constraint.table)
            )));
        }
    }
    Ok(())
}

/// Replaces a table's relations and those of its indexes by empty ones.
pub fn empty(cx: &DdlContext<'_>, table: &Table) -> Result<()> {
    let objects = cx.objects();
    let mut dropped = vec![table.relation];
    let relation = cx.new_oid()?.0;
    cx.put(Object::Table(Table { relation, ..table.clone() }))?;
    for index in objects.indexes_of(table.oid) {
        if index.relation != 0 {
            dropped.push(index.relation);
            let relation = cx.new_oid()?.0;
            cx.put(Object::Index(Index { relation, ..(**index).clone() }))?;
        }
    }
    cx.transaction(|t| {
        for relation in dropped {
            t.drop_relation(RelationId(relation));
        }
        Ok(())
    })
}
