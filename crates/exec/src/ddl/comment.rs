//! COMMENT ON.

use super::DdlContext;
use super::names::{kind_of, wrong_kind};
use crate::utility::alter::RelationKind;
use crate::utility::object::CommentTarget;
use catalog::object::{Class, Comment, Object, ObjectId};
use catalog::{Oid, Relation, Result, SqlError, SqlState};

const PG_CLASS: Oid = Oid(1259);
const PG_NAMESPACE: Oid = Oid(2615);
const PG_DATABASE: Oid = Oid(1262);
const PG_AUTHID: Oid = Oid(1260);
const PG_CONSTRAINT: Oid = Oid(2606);

/// COMMENT ON; no text removes the comment.
pub fn comment(cx: &DdlContext<'_>, target: &CommentTarget, text: Option<&str>) -> Result<()> {
    let mut database = cx.session.database();
    let (classoid, oid, sub) = match target {
        CommentTarget::Relation(kind, name) => {
            let relation = cx.relation(name)?;
            if kind_of(&relation) != *kind {
                return Err(wrong_kind(&relation, *kind, false));
            }
            (PG_CLASS, relation.oid(), 0)
        }
        CommentTarget::Column(name, column) => {
            let relation = cx.relation(name)?;
            if !matches!(kind_of(&relation), RelationKind::Table | RelationKind::View) {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("cannot set comment on relation \"{}\"", relation.name()),
                ));
            }
            let place = relation.columns().iter().position(|c| !c.dropped && c.name == *column);
            let Some(place) = place else {
                return Err(SqlError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!("column \"{column}\" of relation \"{}\" does not exist", relation.name()),
                ));
            };
            (PG_CLASS, relation.oid(), place as i32 + 1)
        }
        CommentTarget::Schema(name) => (PG_NAMESPACE, cx.schema(name)?, 0),
        CommentTarget::Database(name) => {
            let catalog = cx.catalog();
            let found = catalog.database_by_name(name).ok_or_else(|| {
                SqlError::new(SqlState::UNDEFINED_DATABASE, format!("database \"{name}\" does not exist"))
            })?;
            database = found.oid;
            (PG_DATABASE, found.oid, 0)
        }
        CommentTarget::Role(name) => (PG_AUTHID, cx.role(name)?, 0),
        CommentTarget::Constraint(name, table) => {
            let Relation::Table(table) = cx.relation(table)? else {
                return Err(SqlError::undefined_table(table.last()));
            };
            let objects = cx.objects();
            let constraint =
                objects.constraints_of(table.oid).find(|c| c.name == *name).ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("constraint \"{name}\" for table \"{}\" does not exist", table.name),
                    )
                })?;
            (PG_CONSTRAINT, constraint.oid, 0)
        }
        CommentTarget::Type(_) => return Err(SqlError::unsupported("COMMENT ON TYPE")),
        CommentTarget::Unsupported(what) => return Err(SqlError::unsupported(what)),
    };
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            cx.put_in(database, Object::Comment(Comment { oid, classoid, sub, text: text.to_owned() }))
        }
        None => cx.remove(ObjectId { database, class: Class::Comment, oid, sub }),
    }
}
