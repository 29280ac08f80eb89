//! Constraints: PRIMARY KEY and UNIQUE with their indexes, CHECK, FOREIGN KEY.

use super::expression::{self, Purpose};
use super::index::{default_opclass, new_index};
use super::names::join_columns;
use super::{DdlContext, build};
use crate::utility::table::{ConstraintDefinition, ConstraintSpec, References, ReferentialAction};
use catalog::object::{
    Constraint, ConstraintKind, ForeignKeyAction, Index, IndexColumn, IndexKey, Object, Table,
};
use catalog::types::format_type;
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::TableLockMode;

/// A PRIMARY KEY or UNIQUE constraint to be made.
#[derive(Clone, Debug)]
pub struct KeyPlan {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// PRIMARY KEY
    pub primary: bool,
    /// Places.
    pub columns: Vec<u16>,
    /// INCLUDE
    pub include: Vec<u16>,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// DEFERRABLE
    pub deferrable: bool,
}

/// The keys among a table's constraints, the primary one first, duplicates folded (`transformIndexConstraints`). The primary key's
/// columns become NOT NULL.
pub fn plan_keys(
    cx: &DdlContext<'_>,
    table: &mut Table,
    constraints: &[ConstraintDefinition],
) -> Result<Vec<KeyPlan>> {
    let mut keys: Vec<KeyPlan> = Vec::new();
    for definition in constraints {
        let ConstraintSpec::Key { primary, .. } = &definition.spec else { continue };
        let key = plan_key(cx, table, definition)?;
        if *primary && keys.first().is_some_and(|first| first.primary) {
            return Err(multiple_primary_keys(&table.name).at(definition.position));
        }
        let equal = |other: &&mut KeyPlan| {
            other.columns == key.columns
                && other.include == key.include
                && other.nulls_not_distinct == key.nulls_not_distinct
                && other.deferrable == key.deferrable
        };
        if *primary {
            keys.retain(|other| {
                !(other.columns == key.columns && other.include == key.include && other.name.is_none())
            });
            keys.insert(0, key);
        } else if let Some(same) = keys.iter_mut().find(equal) {
            if same.name.is_none() {
                same.name = key.name;
            }
        } else {
            keys.push(key);
        }
    }
    if let Some(primary) = keys.first().filter(|key| key.primary) {
        for place in &primary.columns {
            if let Some(column) = table.columns.get_mut(usize::from(*place)) {
                column.not_null = true;
            }
        }
    }
    Ok(keys)
}

/// 42P16
pub fn multiple_primary_keys(table: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TABLE_DEFINITION,
        format!("multiple primary keys for table \"{table}\" are not allowed"),
    )
}

/// One key with its columns looked up.
pub fn plan_key(cx: &DdlContext<'_>, table: &Table, definition: &ConstraintDefinition) -> Result<KeyPlan> {
    let ConstraintSpec::Key { primary, columns, include, nulls_not_distinct, options, .. } = &definition.spec
    else {
        return Err(SqlError::internal("not a key"));
    };
    if definition.deferrable {
        return Err(SqlError::unsupported("a DEFERRABLE unique constraint").at(definition.position));
    }
    super::create_table::table_options(options)?;
    let mut places: Vec<u16> = Vec::with_capacity(columns.len());
    for column in columns {
        let Some((place, found)) = table.column(column) else {
            return Err(SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{column}\" named in key does not exist"),
            )
            .at(definition.position));
        };
        if places.contains(&(place as u16)) {
            let what = if *primary { "primary key" } else { "unique" };
            return Err(SqlError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{column}\" appears twice in {what} constraint"),
            )
            .at(definition.position));
        }
        default_opclass(found.typ)?;
        places.push(place as u16);
    }
    let include = include
        .iter()
        .map(|column| match table.column(column) {
            Some((place, _)) => Ok(place as u16),
            None => Err(SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{column}\" named in key does not exist"),
            )
            .at(definition.position)),
        })
        .collect::<Result<_>>()?;
    if let Some(name) = &definition.name
        && cx.objects().constraints_of(table.oid).any(|c| c.name == *name)
    {
        return Err(duplicate_constraint(name, &table.name));
    }
    Ok(KeyPlan {
        name: definition.name.clone(),
        primary: *primary,
        columns: places,
        include,
        nulls_not_distinct: *nulls_not_distinct,
        deferrable: definition.deferrable,
    })
}

/// 42710
pub fn duplicate_constraint(name: &str, table: &str) -> SqlError {
    SqlError::new(
        SqlState::DUPLICATE_OBJECT,
        format!("constraint \"{name}\" for relation \"{table}\" already exists"),
    )
}

/// Makes a key's index and constraint. The table is stored; an index that is not the clustering key is filled from its rows.
pub fn create_key(cx: &DdlContext<'_>, table: &Table, key: &KeyPlan) -> Result<()> {
    let schema = table.schema;
    let name = match &key.name {
        Some(name) => {
            if cx.claim_relation_name(schema, name)? {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_TABLE,
                    format!("relation \"{name}\" already exists"),
                ));
            }
            name.clone()
        }
        None if key.primary => cx.choose_relation_name(&table.name, "", "pkey", schema, true)?,
        None => {
            let columns = key.columns.iter().chain(&key.include);
            let names = columns.filter_map(|p| table.columns.get(usize::from(*p))).map(|c| c.name.as_str());
            cx.choose_relation_name(&table.name, &join_columns(names), "key", schema, true)?
        }
    };
    let clustering = key.primary && !table.cluster.is_empty() && table.cluster == key.columns;
    let mut index = new_index(cx, table, name.clone())?;
    index.unique = true;
    index.primary = key.primary;
    index.nulls_not_distinct = key.nulls_not_distinct;
    index.include = key.include.clone();
    if clustering {
        index.relation = 0;
    }
    index.columns = key
        .columns
        .iter()
        .map(|place| {
            let column = table
                .columns
                .get(usize::from(*place))
                .ok_or_else(|| SqlError::internal("key column vanished"))?;
            Ok(IndexColumn {
                key: IndexKey::Column(*place),
                typ: column.typ,
                desc: false,
                nulls_first: false,
                opclass: default_opclass(column.typ)?,
                collation: column.collation,
            })
        })
        .collect::<Result<_>>()?;
    let id = index.oid;
    cx.put(Object::Index(index.clone()))?;
    cx.put(Object::Constraint(Constraint {
        oid: cx.new_oid()?,
        schema,
        name,
        table: table.oid,
        columns: key.columns.clone(),
        kind: if key.primary {
            ConstraintKind::PrimaryKey { index: id }
        } else {
            ConstraintKind::Unique { index: id }
        },
        deferrable: false,
        initially_deferred: false,
        validated: true,
    }))?;
    if clustering { Ok(()) } else { build::fill_index(cx, table, &index) }
}

/// Checks the CHECK constraints of a table that is being made, and names them (`AddRelationNewConstraints`).
pub fn define_checks(
    cx: &DdlContext<'_>,
    table: &Table,
    definitions: &[ConstraintDefinition],
) -> Result<Vec<Constraint>> {
    let mut taken: Vec<String> = Vec::new();
    let mut made = Vec::new();
    for definition in definitions {
        let ConstraintSpec::Check(source, no_inherit) = &definition.spec else { continue };
        if let Some(name) = &definition.name
            && taken.contains(name)
        {
            return Err(SqlError::new(
                SqlState::DUPLICATE_OBJECT,
                format!("check constraint \"{name}\" already exists"),
            ));
        }
        let constraint = define_check(cx, table, definition.name.as_deref(), source, *no_inherit, &taken)?;
        taken.push(constraint.name.clone());
        made.push(constraint);
    }
    Ok(made)
}

/// One CHECK constraint.
pub fn define_check(
    cx: &DdlContext<'_>,
    table: &Table,
    name: Option<&str>,
    source: &crate::utility::Source,
    no_inherit: bool,
    taken: &[String],
) -> Result<Constraint> {
    let shape: &Table = table;
    let definition = expression::define(cx, source, shape, Purpose::Check, None)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => {
            let mut columns = definition.columns.iter();
            let only = match (columns.next(), columns.next()) {
                (Some(place), None) => table.columns.get(usize::from(*place)).map_or("", |c| c.name.as_str()),
                _ => "",
            };
            cx.choose_constraint_name(&table.name, only, "check", table.schema, taken)
        }
    };
    Ok(Constraint {
        oid: cx.new_oid()?,
        schema: table.schema,
        name,
        table: table.oid,
        columns: definition.columns.into_iter().collect(),
        kind: ConstraintKind::Check { expression: definition.text, no_inherit },
        deferrable: false,
        initially_deferred: false,
        validated: true,
    })
}

fn places(table: &Table, columns: &[String], position: u32) -> Result<Vec<u16>> {
    columns
        .iter()
        .map(|column| match table.column(column) {
            Some((place, _)) => Ok(place as u16),
            None => Err(SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{column}\" referenced in foreign key constraint does not exist"),
            )
            .at(position)),
        })
        .collect()
}

/// Makes a foreign key (`ATAddForeignKeyConstraint`). Both tables are stored.
pub fn create_foreign_key(
    cx: &DdlContext<'_>,
    table: Oid,
    definition: &ConstraintDefinition,
    columns: &[String],
    references: &References,
) -> Result<()> {
    // IMPORTANT: nothing checks foreign keys when rows change, so none may be accepted outside of tests of the definitions.
    if !cfg!(test) {
        return Err(SqlError::unsupported("FOREIGN KEY").at(definition.position));
    }
    if definition.initially_deferred || definition.deferrable {
        return Err(SqlError::unsupported("a DEFERRABLE foreign key").at(definition.position));
    }
    let referenced = match cx.relation(&references.table)? {
        Relation::Table(table) => table,
        other => {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("referenced relation \"{}\" is not a table", other.name()),
            ));
        }
    };
    cx.lock_relation(referenced.oid, TableLockMode::ShareRowExclusive)?;
    let objects = cx.objects();
    let missing = || SqlError::internal("table vanished");
    let own: Arc<Table> = objects.table(table).cloned().ok_or_else(missing)?;
    let referenced = objects.table(referenced.oid).cloned().ok_or_else(missing)?;
    let own_places = places(&own, columns, 0)?;
    let (index, referenced_places) = if references.columns.is_empty() {
        let primary = objects.indexes_of(referenced.oid).find(|index| index.primary).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("there is no primary key for referenced table \"{}\"", referenced.name),
            )
        })?;
        (primary.oid, plain_columns(primary).unwrap_or_default())
    } else {
        let wanted = places(&referenced, &references.columns, 0)?;
        if wanted.len() != own_places.len() {
            return Err(number_disagrees());
        }
        let index = matching_index(&objects, &referenced, &wanted)?;
        (index, wanted)
    };
    if referenced_places.len() != own_places.len() {
        return Err(number_disagrees());
    }
    let name = match &definition.name {
        Some(name) => {
            if objects.constraints_of(table).any(|c| c.name == *name) {
                return Err(duplicate_constraint(name, &own.name));
            }
            name.clone()
        }
        None => {
            let joined = join_columns(columns.iter().map(String::as_str));
            cx.choose_constraint_name(&own.name, &joined, "fkey", own.schema, &[])
        }
    };
    check_types(&name, &own, &own_places, &referenced, &referenced_places)?;
    let action = |action: &ReferentialAction| -> Result<ForeignKeyAction> {
        let some = |columns: &[String]| {
            let list = places(&own, columns, 0)?;
            match list.iter().position(|place| !own_places.contains(place)) {
                None => Ok(list),
                Some(at) => Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!(
                        "column \"{}\" referenced in ON DELETE SET action must be part of foreign key",
                        columns.get(at).map_or("", String::as_str)
                    ),
                )),
            }
        };
        Ok(match action {
            ReferentialAction::NoAction => ForeignKeyAction::NoAction,
            ReferentialAction::Restrict => ForeignKeyAction::Restrict,
            ReferentialAction::Cascade => ForeignKeyAction::Cascade,
            ReferentialAction::SetNull(columns) => ForeignKeyAction::SetNull(some(columns)?),
            ReferentialAction::SetDefault(columns) => ForeignKeyAction::SetDefault(some(columns)?),
        })
    };
    let constraint = Constraint {
        oid: cx.new_oid()?,
        schema: own.schema,
        name,
        table,
        columns: own_places.clone(),
        kind: ConstraintKind::ForeignKey {
            referenced: referenced.oid,
            referenced_columns: referenced_places,
            index,
            on_update: action(&references.on_update)?,
            on_delete: action(&references.on_delete)?,
            match_full: references.match_full,
        },
        deferrable: false,
        initially_deferred: false,
        validated: !definition.not_valid,
    };
    if !definition.not_valid {
        build::check_foreign_key(cx, &own, &referenced, &constraint)?;
    }
    cx.put(Object::Constraint(constraint))
}

fn number_disagrees() -> SqlError {
    SqlError::new(
        SqlState::INVALID_FOREIGN_KEY,
        "number of referencing and referenced columns for foreign key disagree",
    )
}

fn plain_columns(index: &Index) -> Option<Vec<u16>> {
    index
        .columns
        .iter()
        .map(|column| match column.key {
            IndexKey::Column(place) => Some(place),
            IndexKey::Expression(_) => None,
        })
        .collect()
}

/// The unique index over exactly these columns, in any order (`transformFkeyCheckAttrs`).
fn matching_index(objects: &catalog::DatabaseObjects, table: &Table, wanted: &[u16]) -> Result<Oid> {
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != wanted.len() {
        return Err(SqlError::new(
            SqlState::INVALID_FOREIGN_KEY,
            "foreign key referenced-columns list must not contain duplicates",
        ));
    }
    for index in objects.indexes_of(table.oid) {
        if !index.unique || index.predicate.is_some() || index.deferrable {
            continue;
        }
        let Some(mut columns) = plain_columns(index) else { continue };
        columns.sort_unstable();
        if columns == sorted {
            return Ok(index.oid);
        }
    }
    Err(SqlError::new(
        SqlState::INVALID_FOREIGN_KEY,
        format!("there is no unique constraint matching given keys for referenced table \"{}\"", table.name),
    ))
}

/// 42804 unless the columns' types compare (an equality operator of the referenced type's family, or a cast to it).
fn check_types(
    constraint: &str,
    own: &Table,
    own_places: &[u16],
    referenced: &Table,
    referenced_places: &[u16],
) -> Result<()> {
    for (a, b) in own_places.iter().zip(referenced_places) {
        let (Some(a), Some(b)) = (own.columns.get(usize::from(*a)), referenced.columns.get(usize::from(*b)))
        else {
            continue;
        };
        if a.typ == b.typ || super::index::comparable(a.typ, b.typ) {
            continue;
        }
        return Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("foreign key constraint \"{constraint}\" cannot be implemented"),
        )
        .detail(format!(
            "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
            a.name,
            b.name,
            format_type(a.typ, a.typmod),
            format_type(b.typ, b.typmod)
        )));
    }
    Ok(())
}
