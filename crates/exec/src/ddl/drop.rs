//! DROP.

use super::DdlContext;
use super::dependency::{DropPlan, Target, object_id};
use super::names::{kind_of, quote, wrong_kind};
use crate::utility::Name;
use crate::utility::alter::RelationKind;
use catalog::object::{Class, ConstraintKind, Object, ObjectId, Table};
use catalog::{Oid, Relation, Result, SqlError, SqlState, Value};
use storage::{RelationId, TableLockMode};

/// DROP TABLE, INDEX, SEQUENCE, VIEW.
pub fn drop_relations(
    cx: &DdlContext<'_>,
    kind: RelationKind,
    names: &[Name],
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let mut roots = Vec::new();
    for name in names {
        let found = match cx.find(name) {
            Ok(found) => found,
            // A schema that is not there is told as such by DROP, unlike elsewhere (`DropErrorMsgNonExistent`).
            Err(error) if error.code() == SqlState::INVALID_SCHEMA_NAME && if_exists => {
                cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.message()));
                continue;
            }
            Err(error) => return Err(error),
        };
        let relation = match found {
            Some(super::names::Found::Own(relation)) => relation,
            Some(super::names::Found::System(_, system)) => {
                return Err(super::names::system_catalog(&system));
            }
            None => {
                let message = format!("{} \"{name}\" does not exist", kind.word());
                if if_exists {
                    cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                    continue;
                }
                let code = match kind {
                    RelationKind::Index => SqlState::UNDEFINED_OBJECT,
                    _ => SqlState::UNDEFINED_TABLE,
                };
                return Err(SqlError::new(code, message));
            }
        };
        if kind_of(&relation) != kind {
            return Err(wrong_kind(&relation, kind, true));
        }
        let lock = match &relation {
            Relation::Index(index) => index.table,
            other => other.oid(),
        };
        cx.lock_relation(lock, TableLockMode::AccessExclusive)?;
        check_index(cx, &relation)?;
        let target = Target::Relation(relation.oid());
        if !roots.contains(&target) && cx.objects().relations.contains_key(&relation.oid()) {
            roots.push(target);
        }
    }
    drop_targets(cx, &roots, cascade)
}

/// An index that a constraint stands on is dropped with the constraint only; an identity column's sequence with the column.
fn check_index(cx: &DdlContext<'_>, relation: &Relation) -> Result<()> {
    let objects = cx.objects();
    let refuse = |what: String, by: String, verb: &str| {
        Err(SqlError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop {what} because {by} requires it"),
        )
        .hint(format!("You can {verb} {by} instead.")))
    };
    match relation {
        Relation::Index(index) => {
            for constraint in objects.constraints_of(index.table) {
                if matches!(constraint.kind,
                    ConstraintKind::PrimaryKey { index: on } | ConstraintKind::Unique { index: on } if on == index.oid)
                {
                    let on =
                        objects.relations.get(&index.table).map(|t| cx.shown_name(t)).unwrap_or_default();
                    return refuse(
                        format!("index {}", cx.shown_name(relation)),
                        format!("constraint {} on table {on}", quote(&constraint.name)),
                        "drop",
                    );
                }
            }
        }
        Relation::Sequence(sequence) => {
            if let Some((table, place, true)) = sequence.owned_by
                && let Some(found) = objects.relations.get(&table)
            {
                let column = found.columns().get(usize::from(place)).map_or("", |c| c.name.as_str());
                return refuse(
                    format!("sequence {}", cx.shown_name(relation)),
                    format!("column {} of table {}", quote(column), cx.shown_name(found)),
                    "drop",
                );
            }
        }
        Relation::Table(_) | Relation::View(_) => {}
    }
    Ok(())
}

/// Drops targets with all that hangs on them.
pub fn drop_targets(cx: &DdlContext<'_>, roots: &[Target], cascade: bool) -> Result<()> {
    if roots.is_empty() {
        return Ok(());
    }
    let plan = DropPlan::new(cx, roots, cascade)?;
    for target in &plan.targets {
        if let Target::Constraint(oid) = target {
            uncluster(cx, *oid, &plan.targets)?;
        }
    }
    for target in &plan.targets {
        // The default of a column that goes, goes with it.
        let gone = matches!(target, Target::Default(table, place)
            if plan.targets.contains(&Target::Relation(*table)) || plan.targets.contains(&Target::Column(*table, *place)));
        if !gone {
            drop_one(cx, *target)?;
        }
    }
    Ok(())
}

fn drop_one(cx: &DdlContext<'_>, target: Target) -> Result<()> {
    let objects = cx.objects();
    match target {
        Target::Relation(oid) => {
            let Some(relation) = objects.relations.get(&oid) else { return Ok(()) };
            let storage = match relation {
                Relation::Table(table) => Some(table.relation),
                Relation::Index(index) => Some(index.relation).filter(|relation| *relation != 0),
                Relation::Sequence(sequence) => Some(sequence.relation),
                Relation::View(_) => None,
            };
            if let Some(storage) = storage {
                cx.transaction(|t| {
                    t.drop_relation(RelationId(storage));
                    Ok(())
                })?;
            }
            if objects.statistics.contains_key(&oid) {
                cx.remove(ObjectId {
                    database: cx.session.database(),
                    class: Class::Statistics,
                    oid,
                    sub: 0,
                })?;
            }
        }
        Target::Constraint(_) | Target::Schema(_) => {}
        Target::Column(table, place) => return drop_column(cx, table, place),
        Target::Default(table, place) => return drop_default(cx, table, place),
    }
    drop_comments(cx, target)?;
    match object_id(cx, target) {
        Some(id) => cx.remove(id),
        None => Ok(()),
    }
}

fn drop_comments(cx: &DdlContext<'_>, target: Target) -> Result<()> {
    let oid = match target {
        Target::Relation(oid) | Target::Constraint(oid) | Target::Schema(oid) => oid,
        Target::Column(..) | Target::Default(..) => return Ok(()),
    };
    let objects = cx.objects();
    for (_, object, sub) in objects.comments.keys().filter(|(_, object, _)| *object == oid) {
        cx.remove(ObjectId {
            database: cx.session.database(),
            class: Class::Comment,
            oid: *object,
            sub: *sub,
        })?;
    }
    Ok(())
}

/// A clustered table whose primary key is dropped while the table stays is rewritten with row numbers for keys.
fn uncluster(cx: &DdlContext<'_>, constraint: Oid, targets: &[Target]) -> Result<()> {
    let objects = cx.objects();
    let Some(constraint) = objects.constraints.get(&constraint) else { return Ok(()) };
    let ConstraintKind::PrimaryKey { index } = constraint.kind else { return Ok(()) };
    let Some(table) = objects.table(constraint.table) else { return Ok(()) };
    let is_cluster = objects.index(index).is_some_and(|index| index.relation == 0);
    if table.cluster.is_empty() || !is_cluster || targets.contains(&Target::Relation(table.oid)) {
        return Ok(());
    }
    super::build::rewrite(cx, table, Table { cluster: Vec::new(), ..(**table).clone() }, &[], &[index])
}

fn drop_column(cx: &DdlContext<'_>, table: Oid, place: u16) -> Result<()> {
    let objects = cx.objects();
    let Some(table) = objects.table(table) else { return Ok(()) };
    let mut changed = (**table).clone();
    if let Some(column) = changed.columns.get_mut(usize::from(place)) {
        // PostgreSQL's name of a dropped column.
        column.name = format!("........pg.dropped.{}........", place + 1);
        column.dropped = true;
        column.not_null = false;
        column.default = None;
        column.generated = None;
        column.identity = None;
        column.missing = Value::Null;
        column.attrdef_oid = Oid::INVALID;
    }
    let id = ObjectId {
        database: cx.session.database(),
        class: Class::Comment,
        oid: table.oid,
        sub: i32::from(place) + 1,
    };
    if objects.comments.keys().any(|(_, oid, sub)| *oid == id.oid && *sub == id.sub) {
        cx.remove(id)?;
    }
    // Rows keep the column's bytes, read by its type and never shown; the type must stay known for that.
    cx.put(Object::Table(changed))
}

fn drop_default(cx: &DdlContext<'_>, table: Oid, place: u16) -> Result<()> {
    let objects = cx.objects();
    let Some(table) = objects.table(table) else { return Ok(()) };
    let mut changed = (**table).clone();
    if let Some(column) = changed.columns.get_mut(usize::from(place)) {
        column.default = None;
        column.attrdef_oid = Oid::INVALID;
    }
    cx.put(Object::Table(changed))
}

/// DROP SCHEMA.
pub fn drop_schemas(cx: &DdlContext<'_>, names: &[String], if_exists: bool, cascade: bool) -> Result<()> {
    let mut roots = Vec::new();
    for name in names {
        match cx.schema(name) {
            Ok(oid) if oid == Oid::PG_CATALOG || oid == Oid::INFORMATION_SCHEMA => {
                return Err(SqlError::new(
                    SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot drop schema {name} because it is required by the database system"),
                ));
            }
            Ok(oid) => roots.push(Target::Schema(oid)),
            Err(error) if if_exists => {
                cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.message()));
            }
            Err(error) => return Err(error),
        }
    }
    drop_targets(cx, &roots, cascade)
}

/// DROP of kinds of which there are no objects yet.
pub fn drop_other(
    cx: &DdlContext<'_>,
    kind: &str,
    names: &[String],
    if_exists: bool,
) -> Result<&'static str> {
    for name in names {
        let message = format!("{kind} \"{name}\" does not exist");
        if !if_exists {
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        cx.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
    }
    Ok(match kind {
        "type" => "DROP TYPE",
        "domain" => "DROP DOMAIN",
        "extension" => "DROP EXTENSION",
        "collation" => "DROP COLLATION",
        "conversion" => "DROP CONVERSION",
        _ => "DROP LANGUAGE",
    })
}
