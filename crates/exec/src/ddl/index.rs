//! CREATE INDEX, REINDEX (`commands/indexcmds.c`).

use super::expression::{self, Purpose};
use super::names::join_columns;
use super::{DdlContext, build, create_table};
use crate::bound::{CallForm, Expr};
use crate::utility::Name;
use crate::utility::table::{CreateIndex, IndexElement};
use catalog::object::{Constraint, ConstraintKind, Index, IndexColumn, IndexKey, Object, Table};
use catalog::pg::{LOOKUP, PG_AM, PG_OPCLASS, Volatility};
use catalog::types::{format_type, oid};
use catalog::{Oid, Relation, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::{RelationId, TableLockMode};

/// `btree`
const BTREE: Oid = Oid(403);

/// CREATE INDEX (`DefineIndex`).
pub fn create_index(cx: &DdlContext<'_>, create: &CreateIndex) -> Result<()> {
    if create.concurrently {
        cx.refuse_in_block("CREATE INDEX CONCURRENTLY")?;
    }
    let relation = cx.relation(&create.table)?;
    let Relation::Table(table) = &relation else {
        return Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("cannot create index on relation \"{}\"", relation.name()),
        )
        .detail("This operation is not supported for ".to_owned() + not_indexable(&relation) + "."));
    };
    cx.lock_relation(table.oid, TableLockMode::Share)?;
    let Some(table) = cx.objects().table(table.oid).cloned() else {
        return Err(SqlError::undefined_table(&create.table.to_string()));
    };
    let method = create.method.as_deref().unwrap_or("btree");
    check_method(method, &table, create)?;
    if let Some(name) = &create.name
        && cx.claim_relation_name(table.schema, name)?
    {
        return super::sequence::exists(cx, name, create.if_not_exists);
    }
    create_table::table_options(&create.options)?;
    let shape: &Table = &table;
    let mut columns = Vec::with_capacity(create.elements.len());
    let mut names: Vec<String> = Vec::new();
    for element in &create.elements {
        let (column, name) = index_column(cx, shape, element)?;
        // Repeated names are numbered (`ChooseIndexColumnNames`).
        let mut unique = name.clone();
        let mut number = 1;
        while names.contains(&unique) {
            unique = format!("{name}{number}");
            number += 1;
        }
        names.push(unique);
        columns.push(column);
    }
    let mut include = Vec::with_capacity(create.include.len());
    for column in &create.include {
        let Some((place, _)) = table.column(column) else { return Err(SqlError::undefined_column(column)) };
        include.push(place as u16);
        names.push(column.clone());
    }
    let predicate = match &create.predicate {
        None => None,
        Some(source) => {
            let definition = expression::define(cx, source, shape, Purpose::IndexPredicate, None)?;
            require_immutable(&definition.expr, "index predicate")?;
            Some(definition.text)
        }
    };
    let name = match &create.name {
        Some(name) => name.clone(),
        None => {
            let joined = join_columns(names.iter().map(String::as_str));
            cx.choose_relation_name(&table.name, &joined, "idx", table.schema, false)?
        }
    };
    let index = Index {
        columns,
        include,
        unique: create.unique,
        nulls_not_distinct: create.nulls_not_distinct,
        predicate,
        ..new_index(cx, &table, name)?
    };
    cx.put(Object::Index(index.clone()))?;
    build::fill_index(cx, &table, &index)
}

fn not_indexable(relation: &Relation) -> &'static str {
    match relation {
        Relation::View(_) => "views",
        Relation::Index(_) => "indexes",
        Relation::Sequence(_) => "sequences",
        Relation::Table(_) => "tables",
    }
}

/// btree is the one access method; the others exist in PostgreSQL and are refused by name.
fn check_method(method: &str, table: &Table, create: &CreateIndex) -> Result<()> {
    if method == "btree" {
        return Ok(());
    }
    let t = &*PG_AM;
    let (name, oid_column) = (t.column("amname"), t.column("oid"));
    let am = t.rows.iter().find(|row| row.get(name).and_then(|v| v.as_deref()) == Some(method));
    let Some(am) = am.filter(|_| method != "heap") else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("access method \"{method}\" does not exist"),
        ));
    };
    let am_oid = Oid(am.get(oid_column).and_then(|v| v.as_deref()).and_then(|v| v.parse().ok()).unwrap_or(0));
    for element in &create.elements {
        if let Ok(column) = &element.key
            && element.opclass.is_none()
            && let Some((_, column)) = table.column(column)
            && find_opclass(am_oid, column.typ).is_none()
        {
            return Err(no_opclass(column.typ, method));
        }
    }
    Err(SqlError::unsupported(format_args!("index access method {method}")))
}

fn no_opclass(typ: Oid, method: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!(
            "data type {} has no default operator class for access method \"{method}\"",
            format_type(typ, -1)
        ),
    )
    .hint(
        "You must specify an operator class for the index or define a default operator class for the data type.",
    )
}

/// An index without columns yet.
pub fn new_index(cx: &DdlContext<'_>, table: &Table, name: String) -> Result<Index> {
    let id = cx.new_oid()?;
    Ok(Index {
        oid: id,
        schema: table.schema,
        name,
        table: table.oid,
        relation: id.0,
        columns: Vec::new(),
        include: Vec::new(),
        unique: false,
        primary: false,
        nulls_not_distinct: false,
        predicate: None,
        deferrable: false,
    })
}

/// A key column, and the name that the index's own name takes from it.
fn index_column(cx: &DdlContext<'_>, table: &Table, element: &IndexElement) -> Result<(IndexColumn, String)> {
    let (key, typ, own_collation, name) = match &element.key {
        Ok(column) => {
            let found = table.columns.iter().enumerate().find(|(_, c)| !c.dropped && c.name == *column);
            let Some((place, found)) = found else { return Err(SqlError::undefined_column(column)) };
            (IndexKey::Column(place as u16), found.typ, found.collation, column.clone())
        }
        Err(source) => {
            let definition = expression::define(cx, source, table, Purpose::IndexKey, None)?;
            let typ = definition.expr.typ().oid;
            // An expression that is only a column in parentheses is that column.
            if let Expr::Column(column) = &definition.expr {
                let found = table.columns.get(usize::from(column.column));
                let name = found.map(|c| c.name.clone()).unwrap_or_default();
                let collation = found.map(|c| c.collation).unwrap_or_default();
                (IndexKey::Column(column.column), typ, collation, name)
            } else {
                require_immutable(&definition.expr, "index expression")?;
                let name = expression_name(&definition.expr);
                (IndexKey::Expression(definition.text), typ, super::types::type_collation(typ), name)
            }
        }
    };
    let collation = match &element.collation {
        Some(name) => create_table::collation(name)?,
        None => own_collation,
    };
    let opclass = match &element.opclass {
        None => default_opclass(typ)?,
        Some(name) => named_opclass(name, typ)?,
    };
    Ok((
        IndexColumn {
            key,
            typ,
            desc: element.desc,
            nulls_first: element.nulls_first.unwrap_or(element.desc),
            opclass,
            collation,
        },
        name,
    ))
}

/// `FigureIndexColname`
fn expression_name(expr: &Expr) -> String {
    match expr {
        Expr::Call(call) if call.form == CallForm::Function || call.form == CallForm::Special => {
            call.proc.name.clone()
        }
        Expr::Relabel(inner, _, CallForm::ImplicitCast)
        | Expr::IoCast(inner, _, CallForm::ImplicitCast, _)
        | Expr::Typmod(inner, _, CallForm::ImplicitCast) => expression_name(inner),
        Expr::Relabel(_, typ, _) | Expr::IoCast(_, typ, _, _) | Expr::Typmod(_, typ, _) => {
            catalog::types::by_oid(typ.oid).map_or("expr", |t| t.name).to_owned()
        }
        Expr::Coalesce(..) => "coalesce".into(),
        Expr::MinMax(greatest, ..) => if *greatest { "greatest" } else { "least" }.into(),
        Expr::Case { .. } => "case".into(),
        _ => "expr".into(),
    }
}

/// 42P17 unless every function in the expression is immutable.
fn require_immutable(expr: &Expr, what: &str) -> Result<()> {
    if volatility(expr) == Volatility::Immutable {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::INVALID_OBJECT_DEFINITION,
        format!("functions in {what} must be marked IMMUTABLE"),
    ))
}

/// The most volatile thing in an expression.
pub fn volatility(expr: &Expr) -> Volatility {
    let all =
        |list: &mut dyn Iterator<Item = &Expr>| list.map(volatility).max().unwrap_or(Volatility::Immutable);
    match expr {
        Expr::Call(call) => call.proc.volatility.max(all(&mut call.args.iter())),
        Expr::Distinct(call) | Expr::ScalarArray(call, _) => {
            call.proc.volatility.max(all(&mut call.args.iter()))
        }
        Expr::NullIf(call, value) => {
            call.proc.volatility.max(all(&mut call.args.iter())).max(volatility(value))
        }
        Expr::And(list)
        | Expr::Or(list)
        | Expr::Coalesce(list, _)
        | Expr::MinMax(_, list, _)
        | Expr::Array(list, ..)
        | Expr::Row(list, _) => all(&mut list.iter()),
        Expr::Not(e)
        | Expr::IsNull(e)
        | Expr::IsNotNull(e)
        | Expr::BooleanTest(e, _)
        | Expr::Relabel(e, ..)
        | Expr::Typmod(e, ..)
        | Expr::Field(e, ..)
        | Expr::Subscript(e, ..) => volatility(e),
        // Text forms of dates and times hang on settings.
        Expr::IoCast(e, typ, ..) => {
            let stable = |t: Oid| {
                matches!(
                    t,
                    oid::DATE | oid::TIMESTAMP | oid::TIMESTAMPTZ | oid::TIMETZ | oid::INTERVAL | oid::MONEY
                )
            };
            let own = if stable(e.typ().oid) || stable(typ.oid) {
                Volatility::Stable
            } else {
                Volatility::Immutable
            };
            own.max(volatility(e))
        }
        Expr::ArrayCast(a, b, ..) => volatility(a).max(volatility(b)),
        Expr::Case { operand, branches, otherwise, .. } => {
            let parts = operand.iter().chain(otherwise).map(|e| &**e);
            all(&mut parts.chain(branches.iter().flat_map(|(w, t)| [w, t])))
        }
        Expr::RowCompare { left, right, .. } => all(&mut left.iter().chain(right)),
        Expr::NextValue(..) | Expr::Subquery(_) => Volatility::Volatile,
        Expr::Const(..)
        | Expr::Param(..)
        | Expr::Column(_)
        | Expr::CaseOperand(_)
        | Expr::Aggregate(..)
        | Expr::GroupKey(..)
        | Expr::Grouping(_)
        | Expr::Window(..)
        | Expr::SetFunction(..) => Volatility::Immutable,
    }
}

struct OpclassRow {
    oid: Oid,
    method: Oid,
    name: String,
    family: Oid,
    input: Oid,
    default: bool,
}

fn opclasses() -> impl Iterator<Item = OpclassRow> {
    let t = &*PG_OPCLASS;
    let c = |name| t.column(name);
    let (id, method, name, family, input, default) =
        (c("oid"), c("opcmethod"), c("opcname"), c("opcfamily"), c("opcintype"), c("opcdefault"));
    t.rows.iter().map(move |row| {
        let text = |column: usize| row.get(column).and_then(|v| v.as_deref()).unwrap_or_default();
        let number = |column: usize| Oid(text(column).parse().unwrap_or(0));
        OpclassRow {
            oid: number(id),
            method: number(method),
            name: text(name).to_owned(),
            family: number(family),
            input: number(input),
            default: text(default) == "t",
        }
    })
}

/// The type whose operators another type uses as they are.
fn operator_type(typ: Oid) -> Oid {
    match typ {
        oid::VARCHAR => oid::TEXT,
        oid::REGPROC
        | oid::REGPROCEDURE
        | oid::REGOPER
        | oid::REGOPERATOR
        | oid::REGCLASS
        | oid::REGTYPE
        | oid::REGCONFIG
        | oid::REGDICTIONARY
        | oid::REGNAMESPACE
        | oid::REGROLE
        | oid::REGCOLLATION => oid::OID,
        _ => match catalog::types::by_oid(typ) {
            Some(t) if t.is_array() => oid::ANYARRAY,
            _ => typ,
        },
    }
}

fn find_opclass(method: Oid, typ: Oid) -> Option<Oid> {
    let wanted = operator_type(typ);
    let mut found = opclasses().filter(|o| o.method == method && o.default);
    found.find(|o| o.input == typ || o.input == wanted).map(|o| o.oid)
}

/// The default btree operator class of a type; 42704 if it has none, 0A000 if pgfusion cannot order it.
pub fn default_opclass(typ: Oid) -> Result<Oid> {
    let found = find_opclass(BTREE, typ).ok_or_else(|| no_opclass(typ, "btree"))?;
    match catalog::types::by_oid(typ) {
        Some(t) if t.encode_key.is_some() => Ok(found),
        _ => Err(SqlError::unsupported(format_args!("an index on type {}", format_type(typ, -1)))),
    }
}

fn named_opclass(name: &Name, typ: Oid) -> Result<Oid> {
    let Some(found) = opclasses().find(|o| o.method == BTREE && o.name == name.last()) else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("operator class \"{name}\" does not exist for access method \"btree\""),
        ));
    };
    if found.input != typ && found.input != operator_type(typ) {
        return Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("operator class \"{name}\" does not accept data type {}", format_type(typ, -1)),
        ));
    }
    // Bytes order as collation C does, so text_pattern_ops and its like are the plain ones.
    default_opclass(typ)?;
    Ok(found.oid)
}

/// Whether values of two types compare by operators of one btree family.
pub fn comparable(a: Oid, b: Oid) -> bool {
    let family = |typ: Oid| {
        let wanted = operator_type(typ);
        opclasses()
            .find(|o| o.method == BTREE && o.default && (o.input == typ || o.input == wanted))
            .map(|o| o.family)
    };
    let (a, b) = (operator_type(a), operator_type(b));
    match (family(a), family(b)) {
        (Some(fa), Some(fb)) if fa == fb => {
            a == b || LOOKUP.operators_named("=").any(|o| o.left == b && o.right == a)
        }
        // An implicit cast to the referenced type serves as well.
        (Some(_), Some(_)) => {
            LOOKUP.cast(a, b).is_some_and(|cast| cast.context == catalog::pg::CastContext::Implicit)
        }
        _ => false,
    }
}

/// Makes the indexes that LIKE ... INCLUDING INDEXES copies, with the constraints on them.
pub fn copy_indexes(cx: &DdlContext<'_>, table: &Table, copied: &[(Oid, Index)]) -> Result<()> {
    let objects = cx.objects();
    for (source, copy) in copied {
        let constraint = objects.constraints.values().find(|c| {
            matches!(c.kind, ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } if index == *source)
        });
        let label = match constraint {
            Some(_) if copy.primary => "pkey",
            Some(_) => "key",
            None => "idx",
        };
        let names = copy.columns.iter().map(|column| match &column.key {
            IndexKey::Column(place) => table.columns.get(usize::from(*place)).map_or("", |c| c.name.as_str()),
            IndexKey::Expression(_) => "expr",
        });
        let joined = if copy.primary { String::new() } else { join_columns(names) };
        let name =
            cx.choose_relation_name(&table.name, &joined, label, table.schema, constraint.is_some())?;
        let fresh = new_index(cx, table, name.clone())?;
        let index = Index {
            oid: fresh.oid,
            relation: fresh.relation,
            schema: fresh.schema,
            table: table.oid,
            name: name.clone(),
            ..copy.clone()
        };
        let columns: Vec<u16> = index
            .columns
            .iter()
            .filter_map(|c| match c.key {
                IndexKey::Column(place) => Some(place),
                IndexKey::Expression(_) => None,
            })
            .collect();
        if index.primary {
            let mut changed = table.clone();
            for place in &columns {
                if let Some(column) = changed.columns.get_mut(usize::from(*place)) {
                    column.not_null = true;
                }
            }
            cx.put(Object::Table(changed))?;
        }
        let (id, primary) = (index.oid, index.primary);
        cx.put(Object::Index(index))?;
        if constraint.is_some() {
            cx.put(Object::Constraint(Constraint {
                oid: cx.new_oid()?,
                schema: table.schema,
                name,
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
            }))?;
        }
    }
    Ok(())
}

/// REINDEX: the indexes named are built anew.
pub fn reindex(cx: &DdlContext<'_>, kind: &str, name: Option<&Name>) -> Result<()> {
    let tables: Vec<Arc<Table>> = match (kind, name) {
        ("index", Some(name)) => {
            let relation = cx.relation(name)?;
            let Relation::Index(index) = &relation else {
                return Err(super::names::wrong_kind(
                    &relation,
                    crate::utility::alter::RelationKind::Index,
                    false,
                ));
            };
            cx.lock_relation(index.table, TableLockMode::Share)?;
            let objects = cx.objects();
            if let Some(table) = objects.table(index.table) {
                rebuild(cx, table, index)?;
            }
            return Ok(());
        }
        ("table", Some(name)) => {
            let relation = cx.relation(name)?;
            let Relation::Table(table) = &relation else {
                return Err(super::names::wrong_kind(
                    &relation,
                    crate::utility::alter::RelationKind::Table,
                    false,
                ));
            };
            vec![Arc::clone(table)]
        }
        ("schema", Some(name)) => {
            let schema = cx.schema(name.last())?;
            let objects = cx.objects();
            let tables = objects.relations.values().filter_map(|r| match r {
                Relation::Table(t) if t.schema == schema => Some(Arc::clone(t)),
                _ => None,
            });
            tables.collect()
        }
        // The system's own relations are not stored.
        ("system", _) => Vec::new(),
        ("database", _) => {
            let objects = cx.objects();
            let tables = objects.relations.values().filter_map(|r| match r {
                Relation::Table(t) => Some(Arc::clone(t)),
                _ => None,
            });
            tables.collect()
        }
        _ => return Err(SqlError::syntax_near("")),
    };
    for table in tables {
        cx.lock_relation(table.oid, TableLockMode::Share)?;
        let objects = cx.objects();
        let Some(table) = objects.table(table.oid) else { continue };
        for index in objects.indexes_of(table.oid) {
            rebuild(cx, table, index)?;
        }
    }
    Ok(())
}

fn rebuild(cx: &DdlContext<'_>, table: &Table, index: &Index) -> Result<()> {
    if index.relation == 0 {
        return Ok(());
    }
    let old = index.relation;
    let fresh = Index { relation: cx.new_oid()?.0, ..index.clone() };
    cx.transaction(|t| {
        t.drop_relation(RelationId(old));
        Ok(())
    })?;
    cx.put(Object::Index(fresh.clone()))?;
    build::fill_index(cx, table, &fresh)
}
