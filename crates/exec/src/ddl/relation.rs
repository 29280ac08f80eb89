//! Changes that all kinds of relations share: name, schema, owner.

use super::expression::{follow_sequence, refuse_if_views, rename_column as rename_in_text};
use super::{DdlContext, create_table, names};
use catalog::object::{Column, Constraint, ConstraintKind, Index, IndexKey, Object, Sequence, Table, View};
use catalog::{Oid, Relation, Result, SqlError, SqlState};

/// RENAME TO.
pub fn rename(cx: &DdlContext<'_>, relation: &Relation, to: &str) -> Result<()> {
    if cx.claim_relation_name(relation.schema(), to)? {
        return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{to}\" already exists")));
    }
    let objects = cx.objects();
    refuse_if_views(&objects, relation.oid(), "renaming a relation")?;
    match relation {
        Relation::Table(table) => cx.put(Object::Table(Table { name: to.into(), ..(**table).clone() })),
        Relation::View(view) => cx.put(Object::View(View { name: to.into(), ..(**view).clone() })),
        Relation::Sequence(old) => {
            let new = Sequence { name: to.into(), ..(**old).clone() };
            cx.put(Object::Sequence(new.clone()))?;
            follow_sequence(cx, old, &new)
        }
        Relation::Index(index) => {
            cx.put(Object::Index(Index { name: to.into(), ..(**index).clone() }))?;
            // The constraint that stands on an index goes by the same name.
            let constraint = objects.constraints_of(index.table).find(|c| {
                matches!(c.kind, ConstraintKind::PrimaryKey { index: on } | ConstraintKind::Unique { index: on } if on == index.oid)
            });
            match constraint {
                Some(constraint) => {
                    cx.put(Object::Constraint(Constraint { name: to.into(), ..(**constraint).clone() }))
                }
                None => Ok(()),
            }
        }
    }
}

/// SET SCHEMA.
pub fn set_schema(cx: &DdlContext<'_>, relation: &Relation, schema: &str) -> Result<()> {
    let to = cx.schema(schema)?;
    if to == Oid::PG_CATALOG || to == Oid::INFORMATION_SCHEMA {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied for schema {schema}"),
        ));
    }
    if to == relation.schema() {
        return Ok(());
    }
    let objects = cx.objects();
    if let Relation::Sequence(s) = relation
        && s.owned_by.is_some()
    {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot move an owned sequence into another schema",
        ));
    }
    if cx.claim_relation_name(to, relation.name())? {
        return Err(SqlError::new(
            SqlState::DUPLICATE_TABLE,
            format!("relation \"{}\" already exists in schema \"{schema}\"", relation.name()),
        ));
    }
    refuse_if_views(&objects, relation.oid(), "moving a relation")?;
    match relation {
        Relation::Table(table) => {
            cx.put(Object::Table(Table { schema: to, ..(**table).clone() }))?;
            for index in objects.indexes_of(table.oid) {
                cx.put(Object::Index(Index { schema: to, ..(**index).clone() }))?;
            }
            for constraint in objects.constraints_of(table.oid) {
                cx.put(Object::Constraint(Constraint { schema: to, ..(**constraint).clone() }))?;
            }
            for other in objects.relations.values() {
                if let Relation::Sequence(old) = other
                    && old.owned_by.is_some_and(|(owner, _, _)| owner == table.oid)
                {
                    let new = Sequence { schema: to, ..(**old).clone() };
                    cx.put(Object::Sequence(new.clone()))?;
                    follow_sequence(cx, old, &new)?;
                }
            }
            Ok(())
        }
        Relation::View(view) => cx.put(Object::View(View { schema: to, ..(**view).clone() })),
        Relation::Sequence(old) => {
            let new = Sequence { schema: to, ..(**old).clone() };
            cx.put(Object::Sequence(new.clone()))?;
            follow_sequence(cx, old, &new)
        }
        Relation::Index(index) => Err(names::wrong_kind(
            &Relation::Index(index.clone()),
            crate::utility::alter::RelationKind::Table,
            false,
        )),
    }
}

/// OWNER TO; a table's sequences follow it.
pub fn set_owner(cx: &DdlContext<'_>, relation: &Relation, owner: &str) -> Result<()> {
    let owner = cx.role(owner)?;
    match relation {
        Relation::Table(table) => {
            cx.put(Object::Table(Table { owner, ..(**table).clone() }))?;
            for other in cx.objects().relations.values() {
                if let Relation::Sequence(sequence) = other
                    && sequence.owned_by.is_some_and(|(by, _, _)| by == table.oid)
                {
                    cx.put(Object::Sequence(Sequence { owner, ..(**sequence).clone() }))?;
                }
            }
            Ok(())
        }
        Relation::View(view) => cx.put(Object::View(View { owner, ..(**view).clone() })),
        Relation::Sequence(sequence) => cx.put(Object::Sequence(Sequence { owner, ..(**sequence).clone() })),
        // An index has its table's owner.
        Relation::Index(_) => Ok(()),
    }
}

/// RENAME COLUMN: in the table, and in every kept text over it.
pub fn rename_column(cx: &DdlContext<'_>, relation: &Relation, from: &str, to: &str) -> Result<()> {
    let exists = relation.columns().iter().any(|c| !c.dropped && c.name == from);
    if !exists {
        return Err(SqlError::undefined_column(from));
    }
    let objects = cx.objects();
    let taken = relation.columns().iter().any(|c| !c.dropped && c.name == to);
    if taken {
        return Err(SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column \"{to}\" of relation \"{}\" already exists", relation.name()),
        ));
    }
    refuse_if_views(&objects, relation.oid(), "renaming a column of a relation")?;
    let renamed = |columns: &[Column]| {
        columns
            .iter()
            .map(|column| {
                let mut column = column.clone();
                if !column.dropped && column.name == from {
                    column.name = to.into();
                }
                column.generated = column.generated.map(|text| rename_in_text(&text, from, to));
                column
            })
            .collect::<Vec<_>>()
    };
    match relation {
        Relation::View(view) => {
            cx.put(Object::View(View { columns: renamed(&view.columns), ..(**view).clone() }))
        }
        Relation::Table(table) => {
            let checked = Table { columns: Vec::new(), ..(**table).clone() };
            create_table::check_column_name(&checked, to)?;
            cx.put(Object::Table(Table { columns: renamed(&table.columns), ..(**table).clone() }))?;
            for index in objects.indexes_of(table.oid) {
                let mut changed = (**index).clone();
                for column in &mut changed.columns {
                    if let IndexKey::Expression(text) = &mut column.key {
                        *text = rename_in_text(text, from, to);
                    }
                }
                changed.predicate = changed.predicate.map(|text| rename_in_text(&text, from, to));
                if changed != **index {
                    cx.put(Object::Index(changed))?;
                }
            }
            for constraint in objects.constraints_of(table.oid) {
                let mut changed = (**constraint).clone();
                if let ConstraintKind::Check { expression, .. } = &mut changed.kind {
                    *expression = rename_in_text(expression, from, to);
                }
                if changed != **constraint {
                    cx.put(Object::Constraint(changed))?;
                }
            }
            Ok(())
        }
        Relation::Index(_) | Relation::Sequence(_) => Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("cannot rename columns of relation \"{}\"", relation.name()),
        )),
    }
}

/// RENAME CONSTRAINT; the index behind it goes by the same name.
pub fn rename_constraint(cx: &DdlContext<'_>, table: &Table, from: &str, to: &str) -> Result<()> {
    let objects = cx.objects();
    let constraint = objects.constraints_of(table.oid).find(|c| c.name == from).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{from}\" for table \"{}\" does not exist", table.name),
        )
    })?;
    if objects.constraints_of(table.oid).any(|c| c.name == to) {
        return Err(super::constraint::duplicate_constraint(to, &table.name));
    }
    if let ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } = constraint.kind
        && let Some(index) = objects.relations.get(&index)
    {
        return rename(cx, index, to);
    }
    cx.put(Object::Constraint(Constraint { name: to.into(), ..(**constraint).clone() }))
}
