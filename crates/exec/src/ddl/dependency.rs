//! What depends on what, found in the definitions themselves (PostgreSQL keeps it in pg_depend): for DROP and its CASCADE, compare
//! `dependency.c`.

use super::DdlContext;
use super::names::quote;
use catalog::object::{Class, ConstraintKind, IndexKey, ObjectId};
use catalog::{DatabaseObjects, Oid, Relation, Result, SqlError, SqlState};
use std::collections::HashSet;

/// Something that can be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Table, index, sequence, view.
    Relation(Oid),
    /// A constraint.
    Constraint(Oid),
    /// A column of a table, by place.
    Column(Oid, u16),
    /// A column's default.
    Default(Oid, u16),
    /// A schema.
    Schema(Oid),
}

/// How a dependent object hangs on another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dependency {
    /// It goes with it silently (`DEPENDENCY_AUTO`, `INTERNAL`).
    Auto,
    /// It stands in the way, or goes with CASCADE and a notice.
    Normal,
}

/// What is to be dropped, in an order in which dependents come before what they depend on.
#[derive(Default)]
pub struct DropPlan {
    /// The objects.
    pub targets: Vec<Target>,
    seen: HashSet<Target>,
    /// Dependents that are not dropped silently: what they are, on whom they depend.
    dependents: Vec<(Target, Target)>,
}

impl DropPlan {
    /// Everything that must go with these targets. 2BP01 unless `cascade` when something else depends on them.
    pub fn new(cx: &DdlContext<'_>, roots: &[Target], cascade: bool) -> Result<DropPlan> {
        let objects = cx.objects();
        let mut plan = DropPlan::default();
        // The named ones count as seen from the start: dropping a table with its view by one command cascades to nothing.
        plan.seen.extend(roots.iter().copied());
        let mut order = Vec::new();
        for root in roots {
            plan.visit(&objects, *root, &mut order);
        }
        plan.targets = order;
        plan.report(cx, roots, cascade)?;
        Ok(plan)
    }

    fn visit(&mut self, objects: &DatabaseObjects, target: Target, order: &mut Vec<Target>) {
        let list = dependents(objects, target);
        // What belongs to the target is on its way already, so that nothing of it is found once more through another part.
        let own: Vec<Target> = list
            .iter()
            .filter(|(dependent, how)| *how == Dependency::Auto && self.seen.insert(*dependent))
            .map(|(dependent, _)| *dependent)
            .collect();
        for (dependent, how) in list {
            if how == Dependency::Normal && self.seen.insert(dependent) {
                self.dependents.push((dependent, target));
                self.visit(objects, dependent, order);
            }
        }
        for dependent in own {
            self.visit(objects, dependent, order);
        }
        order.push(target);
    }

    /// `reportDependentObjects`
    fn report(&self, cx: &DdlContext<'_>, roots: &[Target], cascade: bool) -> Result<()> {
        if self.dependents.is_empty() {
            return Ok(());
        }
        const LINES_MAX: usize = 100;
        let shown = self.dependents.iter().take(LINES_MAX);
        let more = self.dependents.len().saturating_sub(LINES_MAX);
        let tail = if more == 0 {
            String::new()
        } else {
            format!("\nand {more} other object{} (see server log for list)", if more == 1 { "" } else { "s" })
        };
        if cascade {
            if let [(only, _)] = self.dependents.as_slice() {
                cx.notice(
                    SqlState::SUCCESSFUL_COMPLETION,
                    format!("drop cascades to {}", describe(cx, *only)),
                );
                return Ok(());
            }
            let lines: Vec<String> =
                shown.map(|(target, _)| format!("drop cascades to {}", describe(cx, *target))).collect();
            let notice = SqlError::with_severity(
                catalog::Severity::Notice,
                SqlState::SUCCESSFUL_COMPLETION,
                format!("drop cascades to {} other objects", self.dependents.len()),
            );
            cx.session.notice(notice.detail(lines.join("\n") + &tail));
            return Ok(());
        }
        let lines: Vec<String> = shown
            .map(|(target, on)| format!("{} depends on {}", describe(cx, *target), describe(cx, *on)))
            .collect();
        let message = match roots {
            [only] => format!("cannot drop {} because other objects depend on it", describe(cx, *only)),
            _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(lines.join("\n") + &tail)
            .hint("Use DROP ... CASCADE to drop the dependent objects too."))
    }
}

/// What depends directly on a target, oldest first.
fn dependents(objects: &DatabaseObjects, target: Target) -> Vec<(Target, Dependency)> {
    let mut list = Vec::new();
    match target {
        Target::Schema(schema) => {
            for (oid, relation) in &objects.relations {
                if relation.schema() == schema
                    && !matches!(relation, Relation::Index(_))
                    && !is_owned(relation)
                {
                    list.push((Target::Relation(*oid), Dependency::Normal));
                }
            }
        }
        Target::Relation(oid) => match objects.relations.get(&oid) {
            Some(Relation::Table(table)) => {
                for (place, column) in table.live_columns() {
                    if column.default.is_some() {
                        list.push((Target::Default(oid, place as u16), Dependency::Auto));
                    }
                }
                for index in objects.indexes_of(oid) {
                    list.push((Target::Relation(index.oid), Dependency::Auto));
                }
                for constraint in objects.constraints_of(oid) {
                    list.push((Target::Constraint(constraint.oid), Dependency::Auto));
                }
                for constraint in objects.foreign_keys_to(oid) {
                    if constraint.table != oid {
                        list.push((Target::Constraint(constraint.oid), Dependency::Normal));
                    }
                }
                owned_sequences(objects, oid, None, &mut list);
                views_on(objects, oid, &mut list);
            }
            Some(Relation::View(_)) => views_on(objects, oid, &mut list),
            Some(Relation::Sequence(sequence)) => {
                defaults_on(objects, sequence.oid, &mut list);
                views_on(objects, oid, &mut list);
            }
            Some(Relation::Index(index)) => {
                for constraint in objects.constraints_of(index.table) {
                    if matches!(constraint.kind,
                        ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } if index == oid)
                    {
                        list.push((Target::Constraint(constraint.oid), Dependency::Auto));
                    }
                }
                for constraint in objects.foreign_keys_to(index.table) {
                    if matches!(constraint.kind, ConstraintKind::ForeignKey { index, .. } if index == oid) {
                        list.push((Target::Constraint(constraint.oid), Dependency::Normal));
                    }
                }
            }
            None => {}
        },
        Target::Constraint(oid) => {
            if let Some(constraint) = objects.constraints.get(&oid)
                && let ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } =
                    constraint.kind
            {
                list.push((Target::Relation(index), Dependency::Auto));
            }
        }
        Target::Column(table, place) => column_dependents(objects, table, place, &mut list),
        Target::Default(..) => {}
    }
    list
}

fn is_owned(relation: &Relation) -> bool {
    matches!(relation, Relation::Sequence(s) if s.owned_by.is_some())
}

fn owned_sequences(
    objects: &DatabaseObjects,
    table: Oid,
    column: Option<u16>,
    list: &mut Vec<(Target, Dependency)>,
) {
    for relation in objects.relations.values() {
        if let Relation::Sequence(s) = relation
            && let Some((owner, place, _)) = s.owned_by
            && owner == table
            && column.is_none_or(|column| column == place)
        {
            list.push((Target::Relation(s.oid), Dependency::Auto));
        }
    }
}

fn views_on(objects: &DatabaseObjects, oid: Oid, list: &mut Vec<(Target, Dependency)>) {
    for relation in objects.relations.values() {
        if let Relation::View(view) = relation
            && view.depends_on.contains(&oid)
        {
            list.push((Target::Relation(view.oid), Dependency::Normal));
        }
    }
}

/// Defaults that name a sequence. Those of the column that owns it go with the column, so a DROP TABLE does not stumble on them.
fn defaults_on(objects: &DatabaseObjects, sequence: Oid, list: &mut Vec<(Target, Dependency)>) {
    let Some(found) = objects.sequence(sequence) else { return };
    for relation in objects.relations.values() {
        let Relation::Table(table) = relation else { continue };
        for (place, column) in table.live_columns() {
            let Some(default) = &column.default else { continue };
            if super::expression::names_sequence(objects, default, found) {
                list.push((Target::Default(table.oid, place as u16), Dependency::Normal));
            }
        }
    }
}

fn column_dependents(
    objects: &DatabaseObjects,
    table: Oid,
    place: u16,
    list: &mut Vec<(Target, Dependency)>,
) {
    let Some(found) = objects.table(table) else { return };
    let name = found.columns.get(usize::from(place)).map(|c| c.name.clone()).unwrap_or_default();
    for index in objects.indexes_of(table) {
        let in_keys = index.columns.iter().any(|c| match &c.key {
            IndexKey::Column(column) => *column == place,
            IndexKey::Expression(text) => super::expression::names_column(text, &name),
        });
        let in_predicate =
            index.predicate.as_ref().is_some_and(|text| super::expression::names_column(text, &name));
        if in_keys || in_predicate || index.include.contains(&place) {
            list.push((Target::Relation(index.oid), Dependency::Auto));
        }
    }
    for constraint in objects.constraints_of(table) {
        let foreign =
            matches!(constraint.kind, ConstraintKind::ForeignKey { referenced, .. } if referenced == table);
        if constraint.columns.contains(&place) || (foreign && refers_to(constraint, place)) {
            list.push((Target::Constraint(constraint.oid), Dependency::Auto));
        }
    }
    for constraint in objects.foreign_keys_to(table) {
        if constraint.table != table && refers_to(constraint, place) {
            list.push((Target::Constraint(constraint.oid), Dependency::Normal));
        }
    }
    for (other, column) in found.live_columns() {
        if column.generated.as_ref().is_some_and(|text| super::expression::names_column(text, &name)) {
            list.push((Target::Column(table, other as u16), Dependency::Normal));
        }
    }
    list.push((Target::Default(table, place), Dependency::Auto));
    owned_sequences(objects, table, Some(place), list);
    for relation in objects.relations.values() {
        if let Relation::View(view) = relation
            && view.depends_on.contains(&table)
            && super::expression::names_column(&view.definition, &name)
        {
            list.push((Target::Relation(view.oid), Dependency::Normal));
        }
    }
}

fn refers_to(constraint: &catalog::object::Constraint, place: u16) -> bool {
    matches!(&constraint.kind, ConstraintKind::ForeignKey { referenced_columns, .. } if referenced_columns.contains(&place))
}

/// A target as messages call it (`getObjectDescription`).
pub fn describe(cx: &DdlContext<'_>, target: Target) -> String {
    let objects = cx.objects();
    let relation = |oid: Oid| match objects.relations.get(&oid) {
        Some(relation) => {
            format!("{} {}", super::names::kind_of(relation).word(), cx.shown_name(relation))
        }
        None => format!("relation {oid}"),
    };
    let column = |table: Oid, place: u16| {
        let columns = objects.table(table).map(|t| t.columns.clone()).unwrap_or_default();
        quote(columns.get(usize::from(place)).map_or("", |c| c.name.as_str()))
    };
    match target {
        Target::Relation(oid) => relation(oid),
        Target::Constraint(oid) => match objects.constraints.get(&oid) {
            Some(constraint) => {
                format!("constraint {} on {}", quote(&constraint.name), relation(constraint.table))
            }
            None => format!("constraint {oid}"),
        },
        Target::Column(table, place) => format!("column {} of {}", column(table, place), relation(table)),
        Target::Default(table, place) => {
            format!("default value for column {} of {}", column(table, place), relation(table))
        }
        Target::Schema(oid) => format!("schema {}", quote(&cx.schema_name(oid))),
    }
}

/// The identity of a target as an object of the catalog; columns and defaults are parts of their table.
pub fn object_id(cx: &DdlContext<'_>, target: Target) -> Option<ObjectId> {
    let database = cx.session.database();
    let id = |class, oid| Some(ObjectId { database, class, oid, sub: 0 });
    match target {
        Target::Relation(oid) => match cx.objects().relations.get(&oid)? {
            Relation::Table(_) => id(Class::Table, oid),
            Relation::Index(_) => id(Class::Index, oid),
            Relation::Sequence(_) => id(Class::Sequence, oid),
            Relation::View(_) => id(Class::View, oid),
        },
        Target::Constraint(oid) => id(Class::Constraint, oid),
        Target::Schema(oid) => id(Class::Schema, oid),
        Target::Column(..) | Target::Default(..) => None,
    }
}
