//! CREATE TABLE (`parse_utilcmd.c`, `tablecmds.c: DefineRelation`).

use super::constraint::{self, KeyPlan};
use super::expression::{self, Purpose};
use super::names::NAME_MAX_BYTES;
use super::types::type_collation;
use super::{DdlContext, resolve_type, sequence};
use crate::bind::types::precision_warning;
use crate::bound::SqlType;
use crate::utility::TypeName;
use crate::utility::table::{
    ColumnDefinition, ColumnFill, ConstraintDefinition, ConstraintSpec, CreateTable, LikeClause, OnCommit,
    SequenceOptions, TableElement,
};
use catalog::object::{Column, Object, Persistence, Sequence, Table};
use catalog::types::oid;
use catalog::{Oid, Relation, Result, SqlError, SqlState, Value};

const COLUMNS_MAX: usize = 1600;

/// System columns, whose names tables may not use.
const SYSTEM_COLUMNS: [&str; 6] = ["ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"];

/// CREATE TABLE.
pub fn create_table(cx: &DdlContext<'_>, create: &CreateTable) -> Result<()> {
    check_persistence(create.persistence, create.on_commit)?;
    let schema = cx.creation_schema(&create.name)?;
    let name = create.name.last();
    if cx.claim_relation_name(schema, name)? {
        return sequence::exists(cx, name, create.if_not_exists);
    }
    let mut builder = Builder::new(cx, schema, name, create.persistence)?;
    for element in &create.elements {
        match element {
            TableElement::Column(column) => builder.column(column)?,
            TableElement::Constraint(constraint) => builder.constraints.push(constraint.clone()),
            TableElement::Like(like) => builder.like(like)?,
        }
    }
    builder.table.options = table_options(&create.options)?;
    builder.finish()
}

/// Refuses temporary tables: nothing drops them yet when their session ends.
pub fn check_persistence(persistence: Persistence, on_commit: OnCommit) -> Result<()> {
    if persistence == Persistence::Temporary {
        return Err(SqlError::unsupported("CREATE TEMPORARY TABLE"));
    }
    if on_commit != OnCommit::PreserveRows {
        return Err(SqlError::new(
            SqlState::INVALID_TABLE_DEFINITION,
            "ON COMMIT can only be used on temporary tables",
        ));
    }
    Ok(())
}

/// WITH (...) of a table as it is kept. The known options tune PostgreSQL's heap and its vacuum, which pgfusion has neither of, so they
/// change nothing but what is shown.
pub fn table_options(options: &[(String, String)]) -> Result<Vec<String>> {
    const INTEGERS: [(&str, i64, i64); 15] = [
        ("fillfactor", 10, 100),
        ("toast_tuple_target", 128, 8160),
        ("parallel_workers", 0, 1024),
        ("autovacuum_vacuum_threshold", 0, i32::MAX as i64),
        ("autovacuum_vacuum_insert_threshold", -1, i32::MAX as i64),
        ("autovacuum_analyze_threshold", 0, i32::MAX as i64),
        ("autovacuum_vacuum_cost_limit", 1, 10_000),
        ("autovacuum_freeze_min_age", 0, 1_000_000_000),
        ("autovacuum_freeze_max_age", 100_000, 2_000_000_000),
        ("autovacuum_freeze_table_age", 0, 2_000_000_000),
        ("autovacuum_multixact_freeze_min_age", 0, 1_000_000_000),
        ("autovacuum_multixact_freeze_max_age", 10_000, 2_000_000_000),
        ("autovacuum_multixact_freeze_table_age", 0, 2_000_000_000),
        ("log_autovacuum_min_duration", -1, i32::MAX as i64),
        ("deduplicate_items", 0, 1),
    ];
    const OTHERS: [&str; 10] = [
        "autovacuum_enabled",
        "autovacuum_vacuum_cost_delay",
        "autovacuum_vacuum_scale_factor",
        "autovacuum_vacuum_insert_scale_factor",
        "autovacuum_analyze_scale_factor",
        "vacuum_index_cleanup",
        "vacuum_truncate",
        "toast.autovacuum_enabled",
        "toast.vacuum_truncate",
        "toast.vacuum_index_cleanup",
    ];
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let mut kept = Vec::with_capacity(options.len());
    for (name, value) in options {
        if name == "oids" {
            if matches!(value.as_str(), "false" | "off" | "0") {
                continue;
            }
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "tables declared WITH OIDS are not supported",
            ));
        }
        if let Some((_, min, max)) = INTEGERS.iter().find(|(n, _, _)| n == name) {
            let number: i64 = match value.as_str() {
                "on" | "true" if name == "deduplicate_items" => 1,
                "off" | "false" if name == "deduplicate_items" => 0,
                text => text
                    .parse()
                    .map_err(|_| invalid(format!("invalid value for integer option \"{name}\": {value}")))?,
            };
            if number < *min || number > *max {
                return Err(invalid(format!("value {value} out of bounds for option \"{name}\""))
                    .detail(format!("Valid values are between \"{min}\" and \"{max}\".")));
            }
        } else if !OTHERS.contains(&name.as_str()) {
            return Err(invalid(format!("unrecognized parameter \"{name}\"")));
        }
        kept.push(format!("{name}={value}"));
    }
    Ok(kept)
}

/// A table on its way into the catalog.
struct Builder<'c, 's> {
    cx: &'c DdlContext<'s>,
    table: Table,
    constraints: Vec<ConstraintDefinition>,
    /// Defaults and generation expressions, checked when all columns are known: place, expression, generated.
    fills: Vec<(usize, crate::utility::Source, bool)>,
    sequences: Vec<Sequence>,
    /// Indexes that LIKE copies.
    copied_indexes: Vec<(Oid, catalog::object::Index)>,
    comments: Vec<(i32, String)>,
}

impl<'c, 's> Builder<'c, 's> {
    fn new(cx: &'c DdlContext<'s>, schema: Oid, name: &str, persistence: Persistence) -> Result<Self> {
        let oid = cx.new_oid()?;
        Ok(Builder {
            cx,
            table: Table {
                oid,
                schema,
                name: name.to_owned(),
                owner: cx.session.current_role(),
                persistence,
                relation: oid.0,
                columns: Vec::new(),
                cluster: Vec::new(),
                row_type: cx.new_oid()?,
                array_type: cx.new_oid()?,
                options: Vec::new(),
            },
            constraints: Vec::new(),
            fills: Vec::new(),
            sequences: Vec::new(),
            copied_indexes: Vec::new(),
            comments: Vec::new(),
        })
    }

    fn add(&mut self, column: Column) -> Result<usize> {
        check_column_name(&self.table, &column.name)?;
        self.table.columns.push(column);
        Ok(self.table.columns.len() - 1)
    }

    fn column(&mut self, definition: &ColumnDefinition) -> Result<()> {
        let made = make_column(self.cx, &self.table, definition)?;
        let place = self.add(made.column)?;
        if let Some(mut sequence) = made.sequence {
            sequence.owned_by = Some((self.table.oid, place as u16, made.identity));
            if !made.identity
                && let Some(column) = self.table.columns.get_mut(place)
            {
                column.default = Some(nextval_text(self.cx, &sequence));
                column.attrdef_oid = self.cx.new_oid()?;
            }
            self.sequences.push(sequence);
        }
        match &definition.fill {
            Some(ColumnFill::Default(source)) => self.fills.push((place, source.clone(), false)),
            Some(ColumnFill::Generated(source)) => self.fills.push((place, source.clone(), true)),
            Some(ColumnFill::Identity(..)) | None => {}
        }
        self.constraints.extend(definition.constraints.iter().cloned());
        Ok(())
    }

    /// LIKE (`transformTableLikeClause`, `expandTableLikeClause`).
    fn like(&mut self, like: &LikeClause) -> Result<()> {
        let cx = self.cx;
        let relation = cx.relation(&like.table).map_err(|error| error.at(like.table.position))?;
        let columns = match &relation {
            Relation::Table(table) => &table.columns,
            Relation::View(view) => &view.columns,
            Relation::Index(_) | Relation::Sequence(_) => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("relation \"{}\" is invalid in LIKE clause", relation.name()),
                )
                .at(like.table.position));
            }
        };
        let objects = cx.objects();
        // Where each column of the source comes to stand.
        let mut places = vec![None; columns.len()];
        for (from, column) in columns.iter().enumerate().filter(|(_, c)| !c.dropped) {
            let mut copy = column.clone();
            copy.missing = Value::Null;
            copy.attrdef_oid = Oid::INVALID;
            if !like.defaults {
                copy.default = None;
            }
            if !like.generated {
                copy.generated = None;
            }
            if copy.default.is_some() || copy.generated.is_some() {
                copy.attrdef_oid = cx.new_oid()?;
            }
            if !like.identity {
                copy.identity = None;
            }
            let identity = copy.identity.is_some();
            let place = self.add(copy)?;
            if let Some(slot) = places.get_mut(from) {
                *slot = Some(place as u16);
            }
            if identity
                && let Some(old) = objects.relations.values().find_map(|r| match r {
                    Relation::Sequence(s) if s.owned_by == Some((relation.oid(), from as u16, true)) => {
                        Some(s)
                    }
                    _ => None,
                })
            {
                let schema = self.table.schema;
                let name = cx.choose_relation_name(&self.table.name, &column.name, "seq", schema, false)?;
                let fresh = sequence::new_sequence(cx, schema, name, self.table.persistence)?;
                self.sequences.push(Sequence {
                    oid: fresh.oid,
                    relation: fresh.relation,
                    schema,
                    name: fresh.name,
                    owner: fresh.owner,
                    owned_by: Some((self.table.oid, place as u16, true)),
                    ..(**old).clone()
                });
            }
            if like.comments
                && let Some(comment) = objects.comments.get(&(Oid(1259), relation.oid(), from as i32 + 1))
            {
                self.comments.push((place as i32 + 1, comment.text.clone()));
            }
        }
        let moved = |list: &[u16]| -> Vec<u16> {
            list.iter().filter_map(|p| places.get(usize::from(*p)).copied().flatten()).collect()
        };
        if like.constraints {
            for constraint in objects.constraints_of(relation.oid()) {
                if let catalog::object::ConstraintKind::Check { expression, no_inherit } = &constraint.kind {
                    self.constraints.push(ConstraintDefinition {
                        name: Some(constraint.name.clone()),
                        spec: ConstraintSpec::Check(
                            crate::utility::Source { text: expression.clone(), offset: 0 },
                            *no_inherit,
                        ),
                        deferrable: false,
                        initially_deferred: false,
                        not_valid: false,
                        position: 0,
                    });
                }
            }
        }
        if like.indexes {
            for index in objects.indexes_of(relation.oid()) {
                let mut copy = (**index).clone();
                for column in &mut copy.columns {
                    if let catalog::object::IndexKey::Column(place) = &mut column.key
                        && let Some(Some(new)) = places.get(usize::from(*place))
                    {
                        *place = *new;
                    }
                }
                copy.include = moved(&index.include);
                self.copied_indexes.push((index.oid, copy));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let cx = self.cx;
        if self.table.columns.len() > COLUMNS_MAX {
            return Err(too_many_columns());
        }
        let keys = constraint::plan_keys(cx, &mut self.table, &self.constraints)?;
        for (place, source, generated) in std::mem::take(&mut self.fills) {
            let purpose = if generated { Purpose::Generated } else { Purpose::Default };
            fill(cx, &mut self.table, place, &source, purpose)?;
        }
        let checks = constraint::define_checks(cx, &self.table, &self.constraints)?;
        // The clustering key is known from the start, so rows are written by it.
        if let Some(KeyPlan { columns, .. }) = keys.iter().find(|key| key.primary && !key.deferrable) {
            self.table.cluster = columns.clone();
        }
        let table = self.table.oid;
        for sequence in self.sequences {
            cx.put(Object::Sequence(sequence))?;
        }
        cx.put(Object::Table(self.table.clone()))?;
        for check in checks {
            cx.put(Object::Constraint(check))?;
        }
        for key in &keys {
            constraint::create_key(cx, &self.table, key)?;
        }
        super::index::copy_indexes(cx, &self.table, &self.copied_indexes)?;
        for definition in &self.constraints {
            if let ConstraintSpec::ForeignKey { columns, references } = &definition.spec {
                constraint::create_foreign_key(cx, table, definition, columns, references)?;
            }
        }
        for (sub, text) in self.comments {
            cx.put(Object::Comment(catalog::object::Comment { oid: table, classoid: Oid(1259), sub, text }))?;
        }
        Ok(())
    }
}

fn too_many_columns() -> SqlError {
    SqlError::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {COLUMNS_MAX} columns"))
}

/// 42701 for a name that the table or the system has (`CheckAttributeNamesTypes`).
pub fn check_column_name(table: &Table, name: &str) -> Result<()> {
    if SYSTEM_COLUMNS.contains(&name) {
        return Err(SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column name \"{name}\" conflicts with a system column name"),
        ));
    }
    if table.column(name).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column \"{name}\" specified more than once"),
        ));
    }
    Ok(())
}

/// Checks and stores a column's default or generation expression.
pub fn fill(
    cx: &DdlContext<'_>,
    table: &mut Table,
    place: usize,
    source: &crate::utility::Source,
    purpose: Purpose,
) -> Result<()> {
    let Some(column) = table.columns.get(place) else { return Err(SqlError::internal("column vanished")) };
    let target = SqlType { oid: column.typ, typmod: column.typmod };
    let name = column.name.clone();
    let shape: &Table = table;
    let definition = expression::define(cx, source, shape, purpose, Some((&name, target)))?;
    if purpose == Purpose::Generated {
        for used in &definition.columns {
            let generated = table.columns.get(usize::from(*used)).filter(|c| c.generated.is_some());
            if let Some(other) = generated
                .map(|c| c.name.clone())
                .or_else(|| (usize::from(*used) == place).then(|| name.clone()))
            {
                return Err(SqlError::new(
                    SqlState::INVALID_OBJECT_DEFINITION,
                    format!("cannot use generated column \"{other}\" in column generation expression"),
                )
                .detail("A generated column cannot reference another generated column."));
            }
        }
    }
    // A constant NULL is no default at all.
    let is_null = matches!(&definition.expr, crate::bound::Expr::Const(Value::Null, _));
    let attrdef = cx.new_oid()?;
    if let Some(column) = table.columns.get_mut(place) {
        match purpose {
            Purpose::Generated => {
                column.generated = Some(definition.text);
                column.attrdef_oid = attrdef;
            }
            _ if is_null => {
                column.default = None;
                column.attrdef_oid = Oid::INVALID;
            }
            _ => {
                column.default = Some(definition.text);
                column.attrdef_oid = attrdef;
            }
        }
    }
    Ok(())
}

/// A column made from its definition, without its default.
pub struct MadeColumn {
    /// The column.
    pub column: Column,
    /// The sequence of a serial or identity column, not yet stored or owned.
    pub sequence: Option<Sequence>,
    /// It is an identity column's.
    pub identity: bool,
}

fn serial(typ: &TypeName) -> Option<Oid> {
    if typ.schema.is_some() {
        return None;
    }
    match typ.name.as_str() {
        "smallserial" | "serial2" => Some(oid::INT2),
        "serial" | "serial4" => Some(oid::INT4),
        "bigserial" | "serial8" => Some(oid::INT8),
        _ => None,
    }
}

/// Makes a column (`transformColumnDefinition`).
pub fn make_column(cx: &DdlContext<'_>, table: &Table, definition: &ColumnDefinition) -> Result<MadeColumn> {
    let with_table = |mut error: SqlError| {
        // The grammar does not know the table's name yet.
        if error.message().ends_with("of table \"\"") {
            let message = error.message().replace("of table \"\"", &format!("of table \"{}\"", table.name));
            error.fields_mut().message = message;
        }
        error
    };
    let serial = serial(&definition.typ);
    let typ = match serial {
        Some(_) if definition.typ.dimensions > 0 => {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "array of serial is not implemented")
                .at(definition.typ.position));
        }
        Some(typ) => SqlType::plain(typ),
        None => {
            let found = resolve_type(&definition.typ, |schema| cx.schema(schema).is_ok())?;
            // PostgreSQL reads a column's type twice, the second time without its place.
            let modifier = definition.typ.modifiers.first().and_then(|modifier| modifier.parse().ok());
            if let Some(warning) = modifier.and_then(|precision| precision_warning(found.oid, precision)) {
                cx.session.notice(warning.clone().at(definition.typ.position));
                cx.session.notice(warning);
            }
            found
        }
    };
    check_type(&definition.name, typ.oid)?;
    if definition.name.len() > NAME_MAX_BYTES {
        return Err(SqlError::internal("a name that the lexer did not cut"));
    }
    let mut not_null = definition.not_null.unwrap_or(false);
    let mut sequence = None;
    let mut identity = None;
    let null_conflict = || {
        with_table(
            SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!(
                    "conflicting NULL/NOT NULL declarations for column \"{}\" of table \"\"",
                    definition.name
                ),
            )
            .at(definition.position),
        )
    };
    if serial.is_some() {
        if matches!(definition.fill, Some(ColumnFill::Default(_))) {
            return Err(with_table(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("multiple default values specified for column \"{}\" of table \"\"", definition.name),
            )));
        }
        if definition.not_null == Some(false) {
            return Err(null_conflict());
        }
        not_null = true;
        sequence = Some(column_sequence(cx, table, &definition.name, typ.oid, &SequenceOptions::default())?);
    }
    if let Some(ColumnFill::Identity(kind, options)) = &definition.fill {
        check_identity_type(typ.oid)?;
        if definition.not_null == Some(false) {
            return Err(null_conflict());
        }
        not_null = true;
        identity = Some(*kind);
        sequence = Some(column_sequence(cx, table, &definition.name, typ.oid, options)?);
    }
    let collation = column_collation(definition, typ.oid)?;
    Ok(MadeColumn {
        column: Column {
            name: definition.name.clone(),
            typ: typ.oid,
            typmod: typ.typmod,
            not_null,
            default: None,
            generated: None,
            identity,
            dropped: false,
            missing: Value::Null,
            collation,
            ndims: definition.typ.dimensions,
            attrdef_oid: Oid::INVALID,
        },
        sequence,
        identity: identity.is_some(),
    })
}

/// 22023 unless an identity column may have this type.
pub fn check_identity_type(typ: Oid) -> Result<()> {
    if matches!(typ, oid::INT2 | oid::INT4 | oid::INT8) {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        "identity column type must be smallint, integer, or bigint",
    ))
}

/// The sequence of a serial or identity column (`generateSerialExtraStmts`).
pub fn column_sequence(
    cx: &DdlContext<'_>,
    table: &Table,
    column: &str,
    typ: Oid,
    options: &SequenceOptions,
) -> Result<Sequence> {
    let (schema, name) = match &options.name {
        Some(name) => {
            let schema = cx.creation_schema(name)?;
            if cx.claim_relation_name(schema, name.last())? {
                sequence::exists(cx, name.last(), false)?;
            }
            (schema, name.last().to_owned())
        }
        None => (table.schema, cx.choose_relation_name(&table.name, column, "seq", table.schema, false)?),
    };
    let mut made = sequence::new_sequence(cx, schema, name, table.persistence)?;
    made.typ = typ;
    let mut options = options.clone();
    if options.typ.is_none() {
        let name = match typ {
            oid::INT2 => "int2",
            oid::INT4 => "int4",
            _ => "int8",
        };
        options.typ = Some(TypeName { name: name.into(), ..TypeName::default() });
    }
    sequence::set_options(&mut made, &options, true)?;
    Ok(made)
}

/// The default of a serial column. The sequence is named with its schema; printing leaves that out where the search path allows.
pub fn nextval_text(cx: &DdlContext<'_>, sequence: &Sequence) -> String {
    let name = format!(
        "{}.{}",
        super::names::quote(&cx.schema_name(sequence.schema)),
        super::names::quote(&sequence.name)
    );
    format!("nextval('{}'::regclass)", name.replace('\'', "''"))
}

/// 42P16 for pseudo-types (`CheckAttributeType`).
pub fn check_type(column: &str, typ: Oid) -> Result<()> {
    let name = match catalog::types::by_oid(typ) {
        Some(t) if t.category == b'P' || typ == oid::UNKNOWN || typ == oid::CSTRING => t.name,
        _ => return Ok(()),
    };
    Err(SqlError::new(
        SqlState::INVALID_TABLE_DEFINITION,
        format!("column \"{column}\" has pseudo-type {name}"),
    ))
}

fn column_collation(definition: &ColumnDefinition, typ: Oid) -> Result<Oid> {
    let default = type_collation(typ);
    match &definition.collation {
        None => Ok(default),
        Some(_) if !default.is_valid() => Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("collations are not supported by type {}", catalog::types::format_type(typ, -1)),
        )),
        Some(name) => collation(name),
    }
}

/// A collation by name. All of them order as C does here, the database's default one included.
pub fn collation(name: &crate::utility::Name) -> Result<Oid> {
    match name.last() {
        "default" => Ok(Oid::DEFAULT_COLLATION),
        "C" => Ok(Oid::C_COLLATION),
        "POSIX" => Ok(Oid(951)),
        other => Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("collation \"{other}\" for encoding \"UTF8\" does not exist"),
        )
        .at(name.position)),
    }
}
