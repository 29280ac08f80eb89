//! ALTER TABLE's actions on columns.

use super::alter_table::{add_constraint, current};
use super::create_table::{self, check_identity_type, make_column, nextval_text};
use super::dependency::Target;
use super::expression::{self, Purpose};
use super::types::type_collation;
use super::{DdlContext, build, drop, index, resolve_type, sequence};
use crate::bound::{Expr, SqlType};
use crate::utility::table::{ColumnDefinition, ColumnFill, SequenceOptions};
use crate::utility::{Name, Source, TypeName};
use catalog::object::{ConstraintKind, Identity, IndexKey, Object, Sequence, Table};
use catalog::pg::Volatility;
use catalog::types::format_type;
use catalog::{Oid, Relation, Result, SqlError, SqlState, Value};
use std::sync::Arc;

/// The place of a column; 42703.
pub fn place(table: &Table, column: &str) -> Result<usize> {
    table.column(column).map(|(place, _)| place).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{column}\" of relation \"{}\" does not exist", table.name),
        )
    })
}

/// ADD COLUMN (`ATExecAddColumn`). Rows get the default without being rewritten when it is the same for all of them.
pub fn add_column(
    cx: &DdlContext<'_>,
    table: &Arc<Table>,
    definition: &ColumnDefinition,
    if_not_exists: bool,
) -> Result<()> {
    if table.column(&definition.name).is_some() {
        let message = format!("column \"{}\" of relation \"{}\" already exists", definition.name, table.name);
        if if_not_exists {
            cx.notice(SqlState::DUPLICATE_COLUMN, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
    }
    create_table::check_column_name(table, &definition.name)?;
    let mut new = (**table).clone();
    let place = new.columns.len();
    let made = make_column(cx, &new, definition)?;
    let not_null = made.column.not_null;
    new.columns.push(made.column);
    let mut computed: Option<Expr> = None;
    let mut generated = false;
    if let Some(mut sequence) = made.sequence {
        sequence.owned_by = Some((table.oid, place as u16, made.identity));
        if !made.identity
            && let Some(column) = new.columns.get_mut(place)
        {
            column.default = Some(nextval_text(cx, &sequence));
            column.attrdef_oid = cx.new_oid()?;
        }
        let typ = new.columns.get(place).map(|c| SqlType::plain(c.typ)).unwrap_or(SqlType::plain(Oid(20)));
        cx.put(Object::Sequence(sequence.clone()))?;
        computed = Some(Expr::NextValue(Arc::new(sequence), typ));
    }
    match &definition.fill {
        Some(ColumnFill::Default(source)) => {
            create_table::fill(cx, &mut new, place, source, Purpose::Default)?;
            computed = Some(column_expression(cx, &new, place, source, Purpose::Default)?);
        }
        Some(ColumnFill::Generated(source)) => {
            create_table::fill(cx, &mut new, place, source, Purpose::Generated)?;
            computed = Some(column_expression(cx, &new, place, source, Purpose::Generated)?);
            generated = true;
        }
        Some(ColumnFill::Identity(..)) | None => {}
    }
    match computed {
        None => {
            cx.put(Object::Table(new))?;
            if not_null {
                build::verify(cx, &*current(cx, table.oid)?, &[place], &[])?;
            }
        }
        Some(expr) if !generated && index::volatility(&expr) != Volatility::Volatile => {
            let value = build::evaluate(cx, &expr)?;
            let is_null = value.is_null();
            if let Some(column) = new.columns.get_mut(place) {
                column.missing = value;
            }
            cx.put(Object::Table(new))?;
            if not_null && is_null {
                build::verify(cx, &*current(cx, table.oid)?, &[place], &[])?;
            }
        }
        Some(expr) => {
            build::rewrite(cx, table, new, &[build::Transform { place, value: &expr }], &[])?;
            if not_null {
                build::verify(cx, &*current(cx, table.oid)?, &[place], &[])?;
            }
        }
    }
    for constraint in &definition.constraints {
        add_constraint(cx, &current(cx, table.oid)?, constraint)?;
    }
    Ok(())
}

fn column_expression(
    cx: &DdlContext<'_>,
    table: &Table,
    place: usize,
    source: &Source,
    purpose: Purpose,
) -> Result<Expr> {
    let shape: &Table = table;
    let Some(column) = table.columns.get(place) else { return Err(SqlError::internal("column vanished")) };
    let target = SqlType { oid: column.typ, typmod: column.typmod };
    Ok(expression::define(cx, source, shape, purpose, Some((&column.name, target)))?.expr)
}

/// DROP COLUMN.
pub fn drop_column(
    cx: &DdlContext<'_>,
    table: &Table,
    column: &str,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let place = match place(table, column) {
        Err(error) if if_exists => {
            cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.message()));
            return Ok(());
        }
        result => result?,
    };
    drop::drop_targets(cx, &[Target::Column(table.oid, place as u16)], cascade)
}

/// SET DEFAULT, DROP DEFAULT.
pub fn set_default(cx: &DdlContext<'_>, table: &Table, column: &str, source: Option<&Source>) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    if found.identity.is_some() {
        let error = SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!("column \"{column}\" of relation \"{}\" is an identity column", table.name),
        );
        return Err(match source {
            Some(_) => error,
            None => error.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."),
        });
    }
    if found.generated.is_some() {
        let error = SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!("column \"{column}\" of relation \"{}\" is a generated column", table.name),
        );
        return Err(match source {
            Some(_) => error,
            None => error.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."),
        });
    }
    match source {
        None => {
            found.default = None;
            found.attrdef_oid = Oid::INVALID;
        }
        Some(source) => create_table::fill(cx, &mut changed, place, source, Purpose::Default)?,
    }
    cx.put(Object::Table(changed))
}

/// SET NOT NULL, DROP NOT NULL.
pub fn set_not_null(cx: &DdlContext<'_>, table: &Table, column: &str, on: bool) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    if !on {
        let in_primary_key = cx.objects().indexes_of(table.oid).any(|index| {
            index.primary && index.columns.iter().any(|c| c.key == IndexKey::Column(place as u16))
        });
        if in_primary_key {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("column \"{column}\" is in a primary key"),
            ));
        }
        if found.identity.is_some() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("column \"{column}\" of relation \"{}\" is an identity column", table.name),
            ));
        }
    }
    if found.not_null == on {
        return Ok(());
    }
    found.not_null = on;
    if on {
        build::verify(cx, table, &[place], &[])?;
    }
    cx.put(Object::Table(changed))
}

/// ALTER COLUMN ... TYPE (`ATExecAlterColumnType`).
pub fn set_type(
    cx: &DdlContext<'_>,
    table: &Arc<Table>,
    column: &str,
    typ: &TypeName,
    collation: Option<&Name>,
    using: Option<&Source>,
) -> Result<()> {
    let place = place(table, column)?;
    let typ_found = resolve_type(typ, |schema| cx.schema(schema).is_ok())?;
    create_table::check_type(column, typ_found.oid)?;
    let objects = cx.objects();
    let Some(old) = table.columns.get(place) else { return Ok(()) };
    for relation in objects.relations.values() {
        if let Relation::View(view) = relation
            && view.depends_on.contains(&table.oid)
            && expression::names_column(&view.definition, column)
        {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot alter type of a column used by a view or rule",
            )
            .detail(format!("rule _RETURN on view {} depends on column \"{column}\"", view.name)));
        }
    }
    let generated = table
        .live_columns()
        .find(|(_, c)| c.generated.as_ref().is_some_and(|text| expression::names_column(text, column)));
    if let Some((_, other)) = generated {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "cannot alter type of a column used by a generated column",
        )
        .detail(format!("Column \"{column}\" is used by generated column \"{}\".", other.name)));
    }
    let shape: &Table = table;
    let source = match using {
        Some(source) => source.clone(),
        None => Source { text: super::names::quote(column), offset: 0 },
    };
    let defined = expression::define(cx, &source, shape, Purpose::Using, Some((column, typ_found))).map_err(
        |error| match using {
            None if error.code() == SqlState::DATATYPE_MISMATCH => SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "column \"{column}\" cannot be cast automatically to type {}",
                    format_type(typ_found.oid, -1)
                ),
            )
            .hint(format!(
                "You might need to specify \"USING {}::{}\".",
                super::names::quote(column),
                format_type(typ_found.oid, typ_found.typmod)
            )),
            _ => error,
        },
    )?;
    let mut new = (**table).clone();
    let default = old.default.clone();
    if let Some(changed) = new.columns.get_mut(place) {
        changed.typ = typ_found.oid;
        changed.typmod = typ_found.typmod;
        changed.ndims = typ.dimensions;
        changed.collation = match collation {
            Some(name) => create_table::collation(name)?,
            None => type_collation(typ_found.oid),
        };
        changed.default = None;
    }
    // Every index over the column must still be one, and every check still bind.
    for index in objects.indexes_of(table.oid) {
        if index.columns.iter().any(|c| c.key == IndexKey::Column(place as u16)) {
            index::default_opclass(typ_found.oid)?;
        }
    }
    if let Some(default) = default {
        let shape: &Table = &new;
        let source = Source { text: default, offset: 0 };
        let text = expression::define(cx, &source, shape, Purpose::Default, Some((column, typ_found)))
            .map_err(|error| {
                if error.code() == SqlState::DATATYPE_MISMATCH {
                    SqlError::new(
                        SqlState::DATATYPE_MISMATCH,
                        format!(
                            "default for column \"{column}\" cannot be cast automatically to type {}",
                            format_type(typ_found.oid, -1)
                        ),
                    )
                } else {
                    error
                }
            })?;
        if let Some(changed) = new.columns.get_mut(place) {
            changed.default = Some(text.text);
        }
    }
    let shape: &Table = &new;
    let mut checks = Vec::new();
    for constraint in objects.constraints_of(table.oid) {
        if let ConstraintKind::Check { expression: text, .. } = &constraint.kind
            && expression::names_column(text, column)
        {
            let source = Source { text: text.clone(), offset: 0 };
            let definition = expression::define(cx, &source, shape, Purpose::Check, None)?;
            checks.push(((**constraint).clone(), definition));
        }
    }
    let same_bytes = matches!(&defined.expr, Expr::Column(_) | Expr::Relabel(..))
        && using.is_none()
        && typ_found.typmod == -1
        && catalog::types::by_oid(old.typ).map(|t| t.physical)
            == catalog::types::by_oid(typ_found.oid).map(|t| t.physical);
    if same_bytes {
        cx.put(Object::Table(new.clone()))?;
    } else {
        let transform = build::Transform { place, value: &defined.expr };
        build::rewrite(cx, table, new.clone(), &[transform], &[])?;
    }
    let now = current(cx, table.oid)?;
    let verified: Vec<(String, &expression::Definition)> =
        checks.iter().map(|(c, d)| (c.name.clone(), d)).collect();
    if !verified.is_empty() {
        build::verify(cx, &now, &[], &verified)?;
    }
    for (mut constraint, definition) in checks {
        if let ConstraintKind::Check { expression, .. } = &mut constraint.kind {
            *expression = definition.text;
        }
        cx.put(Object::Constraint(constraint))?;
    }
    // An identity or serial column's sequence takes the type along.
    for relation in objects.relations.values() {
        if let Relation::Sequence(s) = relation
            && s.owned_by == Some((table.oid, place as u16, true))
        {
            check_identity_type(typ_found.oid)?;
            let mut changed = (**s).clone();
            let options = SequenceOptions { typ: Some(typ.clone()), ..SequenceOptions::default() };
            sequence::set_options(&mut changed, &options, false)?;
            cx.put(Object::Sequence(changed))?;
        }
    }
    Ok(())
}

fn identity_sequence(cx: &DdlContext<'_>, table: &Table, place: usize) -> Option<Arc<Sequence>> {
    cx.objects().relations.values().find_map(|relation| match relation {
        Relation::Sequence(s) if s.owned_by == Some((table.oid, place as u16, true)) => Some(Arc::clone(s)),
        _ => None,
    })
}

fn state(message: String) -> SqlError {
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// ADD GENERATED ... AS IDENTITY.
pub fn add_identity(
    cx: &DdlContext<'_>,
    table: &Table,
    column: &str,
    identity: Identity,
    options: &SequenceOptions,
) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    let relation = &table.name;
    if !found.not_null {
        return Err(state(format!(
            "column \"{column}\" of relation \"{relation}\" must be declared NOT NULL before identity can be added"
        )));
    }
    if found.identity.is_some() {
        return Err(state(format!(
            "column \"{column}\" of relation \"{relation}\" is already an identity column"
        )));
    }
    if found.default.is_some() {
        return Err(state(format!(
            "column \"{column}\" of relation \"{relation}\" already has a default value"
        )));
    }
    check_identity_type(found.typ)?;
    found.identity = Some(identity);
    let typ = found.typ;
    let mut sequence = create_table::column_sequence(cx, table, column, typ, options)?;
    sequence.owned_by = Some((table.oid, place as u16, true));
    cx.put(Object::Sequence(sequence))?;
    cx.put(Object::Table(changed))
}

/// SET GENERATED, SET sequence options, RESTART.
pub fn set_identity(
    cx: &DdlContext<'_>,
    table: &Table,
    column: &str,
    identity: Option<Identity>,
    options: &SequenceOptions,
) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    if found.identity.is_none() {
        return Err(state(format!(
            "column \"{column}\" of relation \"{}\" is not an identity column",
            table.name
        )));
    }
    if let Some(identity) = identity {
        found.identity = Some(identity);
        cx.put(Object::Table(changed))?;
    }
    if *options != SequenceOptions::default()
        && let Some(sequence) = identity_sequence(cx, table, place)
    {
        sequence::alter_sequence(cx, &sequence, options)?;
    }
    Ok(())
}

/// DROP IDENTITY.
pub fn drop_identity(cx: &DdlContext<'_>, table: &Table, column: &str, if_exists: bool) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    if found.identity.is_none() {
        let message = format!("column \"{column}\" of relation \"{}\" is not an identity column", table.name);
        if if_exists {
            cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(state(message));
    }
    found.identity = None;
    cx.put(Object::Table(changed))?;
    match identity_sequence(cx, table, place) {
        Some(sequence) => drop::drop_targets(cx, &[Target::Relation(sequence.oid)], false),
        None => Ok(()),
    }
}

/// DROP EXPRESSION: the values stay.
pub fn drop_expression(cx: &DdlContext<'_>, table: &Table, column: &str, if_exists: bool) -> Result<()> {
    let place = place(table, column)?;
    let mut changed = table.clone();
    let Some(found) = changed.columns.get_mut(place) else { return Ok(()) };
    if found.generated.is_none() {
        let message =
            format!("column \"{column}\" of relation \"{}\" is not a stored generated column", table.name);
        if if_exists {
            cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(state(message));
    }
    found.generated = None;
    found.missing = match &found.missing {
        Value::Null => Value::Null,
        value => value.clone(),
    };
    found.attrdef_oid = Oid::INVALID;
    cx.put(Object::Table(changed))
}
