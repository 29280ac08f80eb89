//! The catalog: immutable, shared by `Arc`, replaced as a whole by a commit that changed objects.

use crate::Oid;
use crate::object::{
    Class, Column, Comment, Constraint, Database, Index, Object, ObjectId, Role, Schema, Sequence,
    SettingOverride, Table, View,
};
use crate::statistics::TableStatistics;
use imbl::OrdMap;
use std::sync::Arc;

/// One step of DDL: what a transaction writes into the catalog.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Creates or replaces an object of this database (zero for shared ones).
    Put(Oid, Box<Object>),
    /// Removes an object.
    Remove(ObjectId),
}

/// Anything with a row in pg_class that users make.
#[derive(Clone, Debug)]
pub enum Relation {
    /// Kind `r`.
    Table(Arc<Table>),
    /// Kind `i`.
    Index(Arc<Index>),
    /// Kind `S`.
    Sequence(Arc<Sequence>),
    /// Kind `v`.
    View(Arc<View>),
}

impl Relation {
    /// OID.
    pub fn oid(&self) -> Oid {
        match self {
            Relation::Table(r) => r.oid,
            Relation::Index(r) => r.oid,
            Relation::Sequence(r) => r.oid,
            Relation::View(r) => r.oid,
        }
    }

    /// Name.
    pub fn name(&self) -> &str {
        match self {
            Relation::Table(r) => &r.name,
            Relation::Index(r) => &r.name,
            Relation::Sequence(r) => &r.name,
            Relation::View(r) => &r.name,
        }
    }

    /// Schema.
    pub fn schema(&self) -> Oid {
        match self {
            Relation::Table(r) => r.schema,
            Relation::Index(r) => r.schema,
            Relation::Sequence(r) => r.schema,
            Relation::View(r) => r.schema,
        }
    }

    /// Columns of a table or view.
    pub fn columns(&self) -> &[Column] {
        match self {
            Relation::Table(r) => &r.columns,
            Relation::View(r) => &r.columns,
            Relation::Index(_) | Relation::Sequence(_) => &[],
        }
    }
}

/// The objects of one database. Cheap to clone (persistent maps).
#[derive(Clone, Debug, Default)]
pub struct DatabaseObjects {
    /// Schemas by OID, the built-in ones not among them except `public`.
    pub schemas: OrdMap<Oid, Arc<Schema>>,
    /// Tables, indexes, sequences, views by OID.
    pub relations: OrdMap<Oid, Relation>,
    /// Their OIDs by (schema, name).
    pub names: OrdMap<(Oid, String), Oid>,
    /// OIDs of a table's indexes, in order of creation.
    pub table_indexes: OrdMap<Oid, Vec<Oid>>,
    /// Constraints by OID.
    pub constraints: OrdMap<Oid, Arc<Constraint>>,
    /// OIDs of a table's constraints (for a foreign key: of the referencing table).
    pub table_constraints: OrdMap<Oid, Vec<Oid>>,
    /// OIDs of the foreign keys that refer to a table.
    pub referencing: OrdMap<Oid, Vec<Oid>>,
    /// Comments by (classoid, object, column).
    pub comments: OrdMap<(Oid, Oid, i32), Arc<Comment>>,
    /// The name index of pg_type for row types of relations: type OID to relation OID.
    pub row_types: OrdMap<Oid, Oid>,
    /// What ANALYZE found out, by table.
    pub statistics: OrdMap<Oid, Arc<TableStatistics>>,
}

impl DatabaseObjects {
    /// A relation by schema and name.
    pub fn relation(&self, schema: Oid, name: &str) -> Option<&Relation> {
        // The map is keyed by an owned pair; a lookup happens at planning time only.
        self.names.get(&(schema, name.to_owned())).and_then(|oid| self.relations.get(oid))
    }

    /// A table by OID.
    pub fn table(&self, oid: Oid) -> Option<&Arc<Table>> {
        match self.relations.get(&oid) {
            Some(Relation::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// An index by OID.
    pub fn index(&self, oid: Oid) -> Option<&Arc<Index>> {
        match self.relations.get(&oid) {
            Some(Relation::Index(index)) => Some(index),
            _ => None,
        }
    }

    /// A sequence by OID.
    pub fn sequence(&self, oid: Oid) -> Option<&Arc<Sequence>> {
        match self.relations.get(&oid) {
            Some(Relation::Sequence(sequence)) => Some(sequence),
            _ => None,
        }
    }

    /// A view by OID.
    pub fn view(&self, oid: Oid) -> Option<&Arc<View>> {
        match self.relations.get(&oid) {
            Some(Relation::View(view)) => Some(view),
            _ => None,
        }
    }

    /// The indexes of a table, oldest first (the clustering primary key among them).
    pub fn indexes_of(&self, table: Oid) -> impl Iterator<Item = &Arc<Index>> {
        self.table_indexes.get(&table).into_iter().flatten().filter_map(|oid| self.index(*oid))
    }

    /// The constraints of a table, oldest first.
    pub fn constraints_of(&self, table: Oid) -> impl Iterator<Item = &Arc<Constraint>> {
        self.table_constraints.get(&table).into_iter().flatten().filter_map(|oid| self.constraints.get(oid))
    }

    /// The foreign keys that refer to a table.
    pub fn foreign_keys_to(&self, table: Oid) -> impl Iterator<Item = &Arc<Constraint>> {
        self.referencing.get(&table).into_iter().flatten().filter_map(|oid| self.constraints.get(oid))
    }

    /// A schema by name, the built-in ones not among them except `public`.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.values().find(|schema| schema.name == name)
    }

    fn put_relation(&mut self, relation: Relation) {
        let oid = relation.oid();
        self.remove_relation(oid);
        self.names.insert((relation.schema(), relation.name().to_owned()), oid);
        match &relation {
            Relation::Table(table) => {
                self.row_types.insert(table.row_type, oid);
            }
            Relation::View(view) => {
                self.row_types.insert(view.row_type, oid);
            }
            Relation::Index(index) => push_sorted(&mut self.table_indexes, index.table, oid),
            Relation::Sequence(_) => {}
        }
        self.relations.insert(oid, relation);
    }

    fn remove_relation(&mut self, oid: Oid) {
        let Some(old) = self.relations.remove(&oid) else { return };
        let name = (old.schema(), old.name().to_owned());
        if self.names.get(&name) == Some(&oid) {
            self.names.remove(&name);
        }
        match old {
            Relation::Table(table) => {
                self.row_types.remove(&table.row_type);
            }
            Relation::View(view) => {
                self.row_types.remove(&view.row_type);
            }
            Relation::Index(index) => remove_from(&mut self.table_indexes, index.table, oid),
            Relation::Sequence(_) => {}
        }
    }

    fn put_constraint(&mut self, constraint: Arc<Constraint>) {
        self.remove_constraint(constraint.oid);
        push_sorted(&mut self.table_constraints, constraint.table, constraint.oid);
        if let crate::object::ConstraintKind::ForeignKey { referenced, .. } = constraint.kind {
            push_sorted(&mut self.referencing, referenced, constraint.oid);
        }
        self.constraints.insert(constraint.oid, constraint);
    }

    fn remove_constraint(&mut self, oid: Oid) {
        let Some(old) = self.constraints.remove(&oid) else { return };
        remove_from(&mut self.table_constraints, old.table, oid);
        if let crate::object::ConstraintKind::ForeignKey { referenced, .. } = old.kind {
            remove_from(&mut self.referencing, referenced, oid);
        }
    }

    fn put(&mut self, object: Object) {
        match object {
            Object::Schema(o) => {
                self.schemas.insert(o.oid, Arc::new(o));
            }
            Object::Table(o) => self.put_relation(Relation::Table(Arc::new(o))),
            Object::Index(o) => self.put_relation(Relation::Index(Arc::new(o))),
            Object::Sequence(o) => self.put_relation(Relation::Sequence(Arc::new(o))),
            Object::View(o) => self.put_relation(Relation::View(Arc::new(o))),
            Object::Constraint(o) => self.put_constraint(Arc::new(o)),
            Object::Comment(o) => {
                self.comments.insert((o.classoid, o.oid, o.sub), Arc::new(o));
            }
            Object::Statistics(o) => {
                self.statistics.insert(o.table, Arc::new(o));
            }
            Object::Role(_) | Object::Database(_) | Object::SettingOverride(_) => {
                debug_assert!(false, "shared objects are not of a database");
            }
        }
    }

    fn remove(&mut self, id: ObjectId) {
        match id.class {
            Class::Schema => {
                self.schemas.remove(&id.oid);
            }
            Class::Table | Class::Index | Class::Sequence | Class::View => self.remove_relation(id.oid),
            Class::Constraint => self.remove_constraint(id.oid),
            Class::Comment => {
                // OIDs are unique over all classes here, so at most one key fits.
                let key =
                    self.comments.keys().find(|(_, oid, sub)| *oid == id.oid && *sub == id.sub).copied();
                if let Some(key) = key {
                    self.comments.remove(&key);
                }
            }
            Class::Statistics => {
                self.statistics.remove(&id.oid);
            }
            Class::Role | Class::Database | Class::SettingOverride => {}
        }
    }
}

fn push_sorted(map: &mut OrdMap<Oid, Vec<Oid>>, key: Oid, oid: Oid) {
    let mut list = map.get(&key).cloned().unwrap_or_default();
    if let Err(place) = list.binary_search(&oid) {
        list.insert(place, oid);
    }
    map.insert(key, list);
}

fn remove_from(map: &mut OrdMap<Oid, Vec<Oid>>, key: Oid, oid: Oid) {
    if let Some(list) = map.get(&key) {
        let rest: Vec<Oid> = list.iter().copied().filter(|o| *o != oid).collect();
        if rest.is_empty() {
            map.remove(&key);
        } else {
            map.insert(key, rest);
        }
    }
}

/// All catalog objects of the cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Counts the changes; plans made under another version are planned anew.
    pub version: u64,
    /// Roles by OID.
    pub roles: OrdMap<Oid, Arc<Role>>,
    /// Databases by OID.
    pub databases: OrdMap<Oid, Arc<Database>>,
    /// ALTER ... SET
    pub overrides: OrdMap<Oid, Arc<SettingOverride>>,
    /// Objects of each database.
    pub objects: OrdMap<Oid, Arc<DatabaseObjects>>,
}

impl Catalog {
    /// The catalog after these changes.
    pub fn apply(&self, changes: &[Change]) -> Catalog {
        let mut next = self.clone();
        next.version += 1;
        for change in changes {
            match change {
                Change::Put(database, object) => next.put(*database, (**object).clone()),
                Change::Remove(id) => next.remove(*id),
            }
        }
        next
    }

    /// Adds an object without counting it as a change: for loading a store.
    pub fn put(&mut self, database: Oid, object: Object) {
        match object {
            Object::Role(o) => {
                self.roles.insert(o.oid, Arc::new(o));
            }
            Object::Database(o) => {
                self.objects.entry(o.oid).or_default();
                self.databases.insert(o.oid, Arc::new(o));
            }
            Object::SettingOverride(o) => {
                self.overrides.insert(o.oid, Arc::new(o));
            }
            other => {
                let objects = self.objects.entry(database).or_default();
                Arc::make_mut(objects).put(other);
            }
        }
    }

    fn remove(&mut self, id: ObjectId) {
        match id.class {
            Class::Role => {
                self.roles.remove(&id.oid);
            }
            Class::Database => {
                self.databases.remove(&id.oid);
                self.objects.remove(&id.oid);
            }
            Class::SettingOverride => {
                self.overrides.remove(&id.oid);
            }
            _ => {
                if let Some(objects) = self.objects.get_mut(&id.database) {
                    Arc::make_mut(objects).remove(id);
                }
            }
        }
    }

    /// A database by name.
    pub fn database_by_name(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.values().find(|database| database.name == name)
    }

    /// A role by name.
    pub fn role_by_name(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.values().find(|role| role.name == name)
    }
}
