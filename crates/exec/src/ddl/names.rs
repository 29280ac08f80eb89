//! Names: looking them up by PostgreSQL's rules (`namespace.c`), and making them up (`ChooseRelationName` and its like in `indexcmds.c`).

use super::DdlContext;
use crate::utility::Name;
use crate::utility::alter::RelationKind;
use catalog::pg::SYSTEM_COLUMNS;
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Longest name in bytes.
pub const NAME_MAX_BYTES: usize = 63;

/// A relation of ours, or one of the system's.
#[derive(Clone, Debug)]
pub enum Found {
    /// A relation that a user made.
    Own(Relation),
    /// A system relation: OID and name.
    System(Oid, String),
}

/// System relations by (schema, name).
static SYSTEM: LazyLock<FxHashMap<(bool, String), Oid>> = LazyLock::new(|| {
    let t = &*SYSTEM_COLUMNS;
    let (schema, name, oid) = (t.column("nspname"), t.column("relname"), t.column("reloid"));
    let text = |row: &Vec<Option<String>>, c: usize| row.get(c).cloned().flatten().unwrap_or_default();
    t.rows
        .iter()
        .map(|row| {
            let catalog = text(row, schema) == "pg_catalog";
            ((catalog, text(row, name)), Oid(text(row, oid).parse().unwrap_or(0)))
        })
        .collect()
});

impl DdlContext<'_> {
    /// A schema by name; 3F000.
    pub fn schema(&self, name: &str) -> Result<Oid> {
        match name {
            "pg_catalog" => return Ok(Oid::PG_CATALOG),
            "information_schema" => return Ok(Oid::INFORMATION_SCHEMA),
            _ => {}
        }
        self.objects().schema(name).map(|s| s.oid).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
        })
    }

    /// Name of a schema.
    pub fn schema_name(&self, oid: Oid) -> String {
        match oid {
            Oid::PG_CATALOG => "pg_catalog".into(),
            Oid::INFORMATION_SCHEMA => "information_schema".into(),
            _ => self.objects().schemas.get(&oid).map(|s| s.name.clone()).unwrap_or_default(),
        }
    }

    /// A relation's name as messages print it: with its schema unless the search path finds it (`getObjectDescription`).
    pub fn shown_name(&self, relation: &Relation) -> String {
        let objects = self.objects();
        let path = self.session.search_path(true);
        let found = path.iter().find_map(|schema| objects.relation(*schema, relation.name()));
        if found.is_some_and(|r| r.oid() == relation.oid()) {
            quote(relation.name())
        } else {
            format!("{}.{}", quote(&self.schema_name(relation.schema())), quote(relation.name()))
        }
    }

    fn check_database(&self, name: &Name) -> Result<()> {
        if let [database, _, _] = name.parts.as_slice() {
            let catalog = self.catalog();
            let own = catalog.databases.get(&self.session.database());
            if own.is_none_or(|own| own.name != *database) {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("cross-database references are not implemented: \"{name}\""),
                )
                .at(name.position));
            }
        }
        Ok(())
    }

    /// The schema in which a relation of this name is to be created.
    pub fn creation_schema(&self, name: &Name) -> Result<Oid> {
        self.check_database(name)?;
        let schema = match name.schema() {
            Some(schema) => self.schema(schema).map_err(|error| error.at(name.position))?,
            None => self.session.search_path(false).first().copied().ok_or_else(|| {
                SqlError::new(SqlState::INVALID_SCHEMA_NAME, "no schema has been selected to create in")
                    .at(name.position)
            })?,
        };
        if schema == Oid::PG_CATALOG || schema == Oid::INFORMATION_SCHEMA {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to create \"{}.{}\"", self.schema_name(schema), name.last()),
            )
            .detail("System catalog modifications are currently disallowed."));
        }
        Ok(schema)
    }

    /// Locks the name of a relation to be created in a schema, and tells whether it is taken.
    pub fn claim_relation_name(&self, schema: Oid, name: &str) -> Result<bool> {
        self.lock_name(schema, name)?;
        Ok(self.objects().relation(schema, name).is_some())
    }

    /// A relation by name along the search path. A schema that is written must exist.
    pub fn find(&self, name: &Name) -> Result<Option<Found>> {
        self.check_database(name)?;
        let path = match name.schema() {
            Some(schema) => vec![self.schema(schema)?],
            None => self.session.search_path(true),
        };
        let objects = self.objects();
        for schema in path {
            if schema == Oid::PG_CATALOG || schema == Oid::INFORMATION_SCHEMA {
                let key = (schema == Oid::PG_CATALOG, name.last().to_owned());
                if let Some(oid) = SYSTEM.get(&key) {
                    return Ok(Some(Found::System(*oid, name.last().to_owned())));
                }
            } else if let Some(relation) = objects.relation(schema, name.last()) {
                return Ok(Some(Found::Own(relation.clone())));
            }
        }
        Ok(None)
    }

    /// A relation that must be there: 42P01 (also for a schema that is not there, as `RangeVarGetRelid` says it), 42501 for the
    /// system's own.
    pub fn relation(&self, name: &Name) -> Result<Relation> {
        let missing =
            || SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"));
        match self.find(name) {
            Ok(Some(Found::Own(relation))) => Ok(relation),
            Ok(Some(Found::System(_, system))) => Err(system_catalog(&system)),
            Ok(None) => Err(missing()),
            Err(error) if error.code() == SqlState::INVALID_SCHEMA_NAME => Err(missing()),
            Err(error) => Err(error),
        }
    }

    /// The same, or `None` with the notice of IF EXISTS.
    pub fn relation_if_exists(&self, name: &Name, if_exists: bool) -> Result<Option<Relation>> {
        match self.relation(name) {
            Err(error) if if_exists && error.code() == SqlState::UNDEFINED_TABLE => {
                self.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", error.message()));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// A role by name, the words for the current and the session's one included; 42704.
    pub fn role(&self, name: &str) -> Result<Oid> {
        match name {
            "\0current_user" | "\0current_role" => return Ok(self.session.current_role()),
            "\0session_user" => return Ok(self.session.session_role()),
            _ => {}
        }
        self.catalog().role_by_name(name).map(|role| role.oid).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
        })
    }

    /// A free name for a relation (`ChooseRelationName`).
    pub fn choose_relation_name(
        &self,
        name1: &str,
        name2: &str,
        label: &str,
        schema: Oid,
        is_constraint: bool,
    ) -> Result<String> {
        let mut pass = 0;
        loop {
            let suffix = if pass == 0 { label.to_owned() } else { format!("{label}{pass}") };
            let name = make_object_name(name1, name2, &suffix);
            let taken = self.claim_relation_name(schema, &name)?;
            if !(taken || is_constraint && self.constraint_exists(schema, &name)) {
                return Ok(name);
            }
            pass += 1;
        }
    }

    /// Whether a constraint of this name is in the schema.
    pub fn constraint_exists(&self, schema: Oid, name: &str) -> bool {
        self.objects().constraints.values().any(|c| c.schema == schema && c.name == name)
    }

    /// A free name for a constraint (`ChooseConstraintName`); `others` are names that the statement itself takes.
    pub fn choose_constraint_name(
        &self,
        name1: &str,
        name2: &str,
        label: &str,
        schema: Oid,
        others: &[String],
    ) -> String {
        let mut pass = 0;
        loop {
            let suffix = if pass == 0 { label.to_owned() } else { format!("{label}{pass}") };
            let name = make_object_name(name1, name2, &suffix);
            if !others.contains(&name) && !self.constraint_exists(schema, &name) {
                return name;
            }
            pass += 1;
        }
    }
}

/// 42501 for the system's own relations.
pub fn system_catalog(name: &str) -> SqlError {
    SqlError::new(
        SqlState::INSUFFICIENT_PRIVILEGE,
        format!("permission denied: \"{name}\" is a system catalog"),
    )
}

/// `name1_name2_label`, the names shortened so that it fits (`makeObjectName`). Empty parts are left out.
pub fn make_object_name(name1: &str, name2: &str, label: &str) -> String {
    let overhead = usize::from(!name2.is_empty()) + if label.is_empty() { 0 } else { label.len() + 1 };
    let available = NAME_MAX_BYTES.saturating_sub(overhead);
    let (mut len1, mut len2) = (name1.len(), name2.len());
    while len1 + len2 > available {
        if len1 > len2 {
            len1 -= 1;
        } else {
            len2 -= 1;
        }
    }
    let mut name = clip(name1, len1).to_owned();
    if !name2.is_empty() {
        name.push('_');
        name.push_str(clip(name2, len2));
    }
    if !label.is_empty() {
        name.push('_');
        name.push_str(label);
    }
    name
}

fn clip(text: &str, mut len: usize) -> &str {
    len = len.min(text.len());
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    text.get(..len).unwrap_or_default()
}

/// Column names joined for a made-up name (`ChooseIndexNameAddition`).
pub fn join_columns<'n>(columns: impl Iterator<Item = &'n str>) -> String {
    let mut joined = String::new();
    for column in columns {
        if !joined.is_empty() {
            joined.push('_');
        }
        joined.push_str(column);
        if joined.len() >= NAME_MAX_BYTES {
            break;
        }
    }
    clip(&joined, NAME_MAX_BYTES).to_owned()
}

/// An identifier as `quote_identifier` prints it.
pub fn quote(name: &str) -> String {
    use crate::parse::keywords::{Category, keyword};
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain && keyword(name).is_none_or(|k| k.1 == Category::Unreserved) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// `"t" is not a view` with its hint.
pub fn wrong_kind(relation: &Relation, wanted: RelationKind, dropping: bool) -> SqlError {
    let article = if wanted == RelationKind::Index { "an" } else { "a" };
    let error = SqlError::new(
        SqlState::WRONG_OBJECT_TYPE,
        format!("\"{}\" is not {article} {}", relation.name(), wanted.word()),
    );
    let kind = kind_of(relation);
    let article = if kind == RelationKind::Index { "an" } else { "a" };
    if dropping {
        error.hint(format!("Use DROP {} to remove {article} {}.", kind.word().to_uppercase(), kind.word()))
    } else {
        error
    }
}

/// The kind of a relation.
pub fn kind_of(relation: &Relation) -> RelationKind {
    match relation {
        Relation::Table(_) => RelationKind::Table,
        Relation::Index(_) => RelationKind::Index,
        Relation::Sequence(_) => RelationKind::Sequence,
        Relation::View(_) => RelationKind::View,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_fit() {
        assert_eq!(make_object_name("t", "a_b", "idx"), "t_a_b_idx");
        assert_eq!(make_object_name("t", "", "pkey"), "t_pkey");
        let long = "x".repeat(63);
        let name = make_object_name(&long, "column", "key");
        assert_eq!((name.len(), name.ends_with("_column_key")), (63, true));
        assert_eq!(make_object_name(&long, &long, "idx").len(), 63);
        assert_eq!(quote("select"), "\"select\"");
        assert_eq!(quote("name"), "name");
    }
}
