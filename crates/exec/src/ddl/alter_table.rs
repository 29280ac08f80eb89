//! ALTER TABLE, INDEX, SEQUENCE, VIEW (`commands/tablecmds.c`).

use super::constraint::{self, KeyPlan};
use super::dependency::Target;
use super::expression::{self, Purpose};
use super::names::{kind_of, wrong_kind};
use super::{DdlContext, alter_column, build, create_table, drop, relation, sequence};
use crate::utility::Name;
use crate::utility::alter::{AlterRelation, AlterTableAction, RelationKind};
use crate::utility::table::{ConstraintDefinition, ConstraintSpec};
use catalog::object::{Constraint, ConstraintKind, Object, Persistence, Table};
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::TableLockMode;

/// ALTER of a relation.
pub fn alter_relation(
    cx: &DdlContext<'_>,
    kind: RelationKind,
    name: &Name,
    if_exists: bool,
    what: &AlterRelation,
) -> Result<()> {
    let Some(found) = cx.relation_if_exists(name, if_exists)? else { return Ok(()) };
    check_kind(kind, &found, what)?;
    let lock = match &found {
        Relation::Index(index) => index.table,
        other => other.oid(),
    };
    cx.lock_relation(lock, lock_mode(what))?;
    // What was found may have changed while the lock was waited for.
    let oid = found.oid();
    let current = cx.objects().relations.get(&oid).cloned();
    let found = current.ok_or_else(|| SqlError::undefined_table(&name.to_string()))?;
    match what {
        AlterRelation::Rename(to) => relation::rename(cx, &found, to),
        AlterRelation::RenameColumn(from, to) => relation::rename_column(cx, &found, from, to),
        AlterRelation::RenameConstraint(from, to) => {
            relation::rename_constraint(cx, &*table_of(&found)?, from, to)
        }
        AlterRelation::SetSchema(schema) => relation::set_schema(cx, &found, schema),
        AlterRelation::Sequence(options) => match &found {
            Relation::Sequence(sequence) => sequence::alter_sequence(cx, sequence, options),
            other => Err(wrong_kind(other, RelationKind::Sequence, false)),
        },
        AlterRelation::Actions(actions) => {
            for action in actions {
                self::action(cx, oid, action)?;
            }
            Ok(())
        }
    }
}

/// ALTER TABLE works on all kinds, the others on their own; ALTER INDEX takes tables too when it renames (`RenameRelation`).
fn check_kind(kind: RelationKind, found: &Relation, what: &AlterRelation) -> Result<()> {
    let actual = kind_of(found);
    let renaming = matches!(what, AlterRelation::Rename(_));
    let fits = match kind {
        RelationKind::Table => true,
        RelationKind::Index if renaming => true,
        other => other == actual,
    };
    if fits { Ok(()) } else { Err(wrong_kind(found, kind, false)) }
}

fn lock_mode(what: &AlterRelation) -> TableLockMode {
    match what {
        AlterRelation::Sequence(_) => TableLockMode::ShareRowExclusive,
        AlterRelation::Actions(actions)
            if actions.iter().all(|a| {
                matches!(a, AlterTableAction::ValidateConstraint(_) | AlterTableAction::SetStatistics(..))
            }) =>
        {
            TableLockMode::ShareUpdateExclusive
        }
        _ => TableLockMode::AccessExclusive,
    }
}

fn table_of(relation: &Relation) -> Result<Arc<Table>> {
    match relation {
        Relation::Table(table) => Ok(Arc::clone(table)),
        other => Err(wrong_kind(other, RelationKind::Table, false)),
    }
}

/// The table as it stands after the actions so far.
pub fn current(cx: &DdlContext<'_>, oid: Oid) -> Result<Arc<Table>> {
    cx.objects().table(oid).cloned().ok_or_else(|| SqlError::internal("table vanished"))
}

fn action(cx: &DdlContext<'_>, oid: Oid, action: &AlterTableAction) -> Result<()> {
    if let AlterTableAction::Owner(owner) = action {
        let objects = cx.objects();
        let found = objects.relations.get(&oid).ok_or_else(|| SqlError::internal("relation vanished"))?;
        return relation::set_owner(cx, found, owner);
    }
    let table = {
        let objects = cx.objects();
        let found = objects.relations.get(&oid).ok_or_else(|| SqlError::internal("relation vanished"))?;
        match found {
            Relation::Table(table) => Arc::clone(table),
            Relation::View(_) if matches!(action, AlterTableAction::SetDefault(..)) => {
                return Err(SqlError::unsupported("ALTER VIEW ... ALTER COLUMN"));
            }
            Relation::Index(_)
                if matches!(action, AlterTableAction::Options(_) | AlterTableAction::ResetOptions(_)) =>
            {
                return match action {
                    AlterTableAction::Options(options) => {
                        create_table::table_options(options).map(drop_value)
                    }
                    _ => Ok(()),
                };
            }
            other => return Err(wrong_action(other, action)),
        }
    };
    match action {
        AlterTableAction::AddColumn(definition, if_not_exists) => {
            alter_column::add_column(cx, &table, definition, *if_not_exists)
        }
        AlterTableAction::DropColumn(name, if_exists, cascade) => {
            alter_column::drop_column(cx, &table, name, *if_exists, *cascade)
        }
        AlterTableAction::SetDefault(column, source) => {
            alter_column::set_default(cx, &table, column, source.as_ref())
        }
        AlterTableAction::SetNotNull(column, on) => alter_column::set_not_null(cx, &table, column, *on),
        AlterTableAction::SetType(column, typ, collation, using) => {
            alter_column::set_type(cx, &table, column, typ, collation.as_ref(), using.as_ref())
        }
        AlterTableAction::AddIdentity(column, identity, options) => {
            alter_column::add_identity(cx, &table, column, *identity, options)
        }
        AlterTableAction::SetIdentity(column, identity, options) => {
            alter_column::set_identity(cx, &table, column, *identity, options)
        }
        AlterTableAction::DropIdentity(column, if_exists) => {
            alter_column::drop_identity(cx, &table, column, *if_exists)
        }
        AlterTableAction::DropExpression(column, if_exists) => {
            alter_column::drop_expression(cx, &table, column, *if_exists)
        }
        AlterTableAction::SetStatistics(column, _) => alter_column::place(&table, column).map(drop_value),
        AlterTableAction::AddConstraint(definition) => add_constraint(cx, &table, definition),
        AlterTableAction::DropConstraint(name, if_exists, cascade) => {
            drop_constraint(cx, &table, name, *if_exists, *cascade)
        }
        AlterTableAction::ValidateConstraint(name) => validate_constraint(cx, &table, name),
        AlterTableAction::Owner(_) => Ok(()),
        AlterTableAction::Options(options) => {
            let new = create_table::table_options(options)?;
            let mut changed = (*table).clone();
            for option in new {
                let name = option.split('=').next().unwrap_or_default().to_owned();
                changed.options.retain(|o| o.split('=').next() != Some(&name));
                changed.options.push(option);
            }
            cx.put(Object::Table(changed))
        }
        AlterTableAction::ResetOptions(names) => {
            let mut changed = (*table).clone();
            changed.options.retain(|o| !names.iter().any(|n| o.split('=').next() == Some(n)));
            cx.put(Object::Table(changed))
        }
        AlterTableAction::SetLogged(on) => {
            let persistence = if *on { Persistence::Permanent } else { Persistence::Unlogged };
            cx.put(Object::Table(Table { persistence, ..(*table).clone() }))
        }
        AlterTableAction::Unsupported(what) => Err(SqlError::unsupported(what)),
    }
}

fn drop_value<T>(_: T) {}

fn wrong_action(relation: &Relation, action: &AlterTableAction) -> SqlError {
    let (what, kinds) = match relation {
        Relation::View(_) => ("views", ""),
        Relation::Index(_) => ("indexes", ""),
        Relation::Sequence(_) => ("sequences", ""),
        Relation::Table(_) => ("tables", ""),
    };
    let _ = kinds;
    let verb = match action {
        AlterTableAction::AddColumn(..) => "ADD COLUMN",
        AlterTableAction::DropColumn(..) => "DROP COLUMN",
        AlterTableAction::SetDefault(_, Some(_)) | AlterTableAction::SetDefault(_, None) => {
            "ALTER COLUMN ... SET DEFAULT"
        }
        AlterTableAction::SetNotNull(_, true) => "ALTER COLUMN ... SET NOT NULL",
        AlterTableAction::SetNotNull(_, false) => "ALTER COLUMN ... DROP NOT NULL",
        AlterTableAction::SetType(..) => "ALTER COLUMN ... SET DATA TYPE",
        AlterTableAction::AddConstraint(_) => "ADD CONSTRAINT",
        AlterTableAction::DropConstraint(..) => "DROP CONSTRAINT",
        _ => "this form of ALTER TABLE",
    };
    SqlError::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("ALTER action {verb} cannot be performed on relation \"{}\"", relation.name()),
    )
    .detail(format!("This operation is not supported for {what}."))
}

/// ADD constraint.
pub fn add_constraint(
    cx: &DdlContext<'_>,
    table: &Arc<Table>,
    definition: &ConstraintDefinition,
) -> Result<()> {
    match &definition.spec {
        ConstraintSpec::Key { primary, using_index: Some(index), .. } => {
            use_index(cx, table, definition, *primary, index)
        }
        ConstraintSpec::Key { primary, .. } => {
            if *primary && cx.objects().indexes_of(table.oid).any(|index| index.primary) {
                return Err(constraint::multiple_primary_keys(&table.name));
            }
            let key = constraint::plan_key(cx, table, definition)?;
            if *primary {
                make_not_null(cx, table, &key)?;
            }
            let table = current(cx, table.oid)?;
            constraint::create_key(cx, &table, &key)
        }
        ConstraintSpec::Check(source, no_inherit) => {
            if let Some(name) = &definition.name
                && cx.objects().constraints_of(table.oid).any(|c| c.name == *name)
            {
                return Err(constraint::duplicate_constraint(name, &table.name));
            }
            let mut made =
                constraint::define_check(cx, table, definition.name.as_deref(), source, *no_inherit, &[])?;
            if definition.not_valid {
                made.validated = false;
            } else {
                let shape: &Table = table;
                let checked = expression::define(cx, source, shape, Purpose::Check, None)?;
                build::verify(cx, table, &[], &[(made.name.clone(), &checked)])?;
            }
            cx.put(Object::Constraint(made))
        }
        ConstraintSpec::ForeignKey { columns, references } => {
            constraint::create_foreign_key(cx, table.oid, definition, columns, references)
        }
    }
}

/// The columns of a new primary key become NOT NULL, if they hold none.
fn make_not_null(cx: &DdlContext<'_>, table: &Table, key: &KeyPlan) -> Result<()> {
    let mut changed = table.clone();
    let mut places = Vec::new();
    for place in &key.columns {
        if let Some(column) = changed.columns.get_mut(usize::from(*place))
            && !column.not_null
        {
            column.not_null = true;
            places.push(usize::from(*place));
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    build::verify(cx, table, &places, &[])?;
    cx.put(Object::Table(changed))
}

/// ADD ... USING INDEX.
fn use_index(
    cx: &DdlContext<'_>,
    table: &Arc<Table>,
    definition: &ConstraintDefinition,
    primary: bool,
    name: &str,
) -> Result<()> {
    let objects = cx.objects();
    let Some(index) = objects.indexes_of(table.oid).find(|index| index.name == name) else {
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("index \"{name}\" does not exist"))
            .at(definition.position));
    };
    let wrong =
        |message: String| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(definition.position));
    if objects.constraints_of(table.oid).any(|c| {
        matches!(c.kind, ConstraintKind::PrimaryKey { index: on } | ConstraintKind::Unique { index: on } if on == index.oid)
    }) {
        return Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("index \"{name}\" is already associated with a constraint"),
        )
        .at(definition.position));
    }
    if !index.unique {
        return wrong(format!("\"{name}\" is not a unique index"));
    }
    if index.predicate.is_some() {
        return wrong(format!("\"{name}\" is a partial index"));
    }
    let mut columns = Vec::new();
    for column in &index.columns {
        match column.key {
            catalog::object::IndexKey::Column(place) => columns.push(place),
            catalog::object::IndexKey::Expression(_) => {
                return wrong(format!("index \"{name}\" contains expressions"));
            }
        }
        if column.desc || column.nulls_first {
            return wrong(format!(
                "index \"{name}\" column number {} does not have default sorting behavior",
                columns.len()
            ));
        }
    }
    if primary && objects.indexes_of(table.oid).any(|index| index.primary) {
        return Err(constraint::multiple_primary_keys(&table.name));
    }
    let new_name = definition.name.clone().unwrap_or_else(|| name.to_owned());
    if primary {
        let key = KeyPlan {
            name: None,
            primary,
            columns: columns.clone(),
            include: Vec::new(),
            nulls_not_distinct: false,
            deferrable: false,
        };
        make_not_null(cx, table, &key)?;
    }
    if new_name != name {
        cx.notice(
            SqlState::SUCCESSFUL_COMPLETION,
            format!(
                "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \"{new_name}\""
            ),
        );
        if cx.claim_relation_name(table.schema, &new_name)? {
            return sequence::exists(cx, &new_name, false);
        }
    }
    cx.put(Object::Index(catalog::object::Index { name: new_name.clone(), primary, ..(**index).clone() }))?;
    let id = index.oid;
    cx.put(Object::Constraint(Constraint {
        oid: cx.new_oid()?,
        schema: table.schema,
        name: new_name,
        table: table.oid,
        columns,
        kind: if primary {
            ConstraintKind::PrimaryKey { index: id }
        } else {
            ConstraintKind::Unique { index: id }
        },
        deferrable: false,
        initially_deferred: false,
        validated: true,
    }))
}

fn drop_constraint(
    cx: &DdlContext<'_>,
    table: &Table,
    name: &str,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let objects = cx.objects();
    let Some(constraint) = objects.constraints_of(table.oid).find(|c| c.name == name) else {
        let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
        if if_exists {
            cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
    };
    drop::drop_targets(cx, &[Target::Constraint(constraint.oid)], cascade)
}

fn validate_constraint(cx: &DdlContext<'_>, table: &Table, name: &str) -> Result<()> {
    let objects = cx.objects();
    let Some(found) = objects.constraints_of(table.oid).find(|c| c.name == name) else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name),
        ));
    };
    match &found.kind {
        ConstraintKind::Check { expression: text, .. } => {
            if !found.validated {
                let expr = expression::bind_kept(cx, table, text)?;
                let definition =
                    expression::Definition { text: text.clone(), expr, columns: Default::default() };
                build::verify(cx, table, &[], &[(name.to_owned(), &definition)])?;
            }
        }
        ConstraintKind::ForeignKey { referenced, .. } => {
            if let Some(referenced) = objects.table(*referenced)
                && !found.validated
            {
                build::check_foreign_key(cx, table, referenced, found)?;
            }
        }
        ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!(
                    "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
                    table.name
                ),
            ));
        }
    }
    if found.validated {
        return Ok(());
    }
    cx.put(Object::Constraint(Constraint { validated: true, ..(**found).clone() }))
}
