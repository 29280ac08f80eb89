//! The data work of DDL: filling indexes, rewriting tables, checking what is there against a new constraint.
//!
//! The table is locked by then so that nobody writes to it. What the statement itself has written so far is merged into the
//! transaction's writes first, so that a later step sees the rows of an earlier one; an error rolls back all of it anyway.

use super::DdlContext;
use super::expression::Definition;
use crate::bound::Expr;
use crate::plan::compile::compile_table_expr;
use crate::row::access::corrupt;
use crate::row::context::{ExecContext, StatementContext};
use crate::row::expr::PhysicalExpr;
use crate::row::index_entry::{IndexLayout, column_type};
use crate::store_error::sql_error as store_error;
use catalog::key::KeyColumn;
use catalog::object::{Constraint, ConstraintKind, Index, IndexKey, Object, Table};
use catalog::row::RowLayout;
use catalog::types::Type;
use catalog::{Arena, Datum, Oid, Result, SqlError, SqlState, Style, Value};
use std::ops::Bound;
use storage::{Direction, ReadView, RelationId};

/// Rows written per visit to the transaction.
const BATCH_ROWS: usize = 512;

/// Takes a row's key and values.
type EachRow<'f> = dyn for<'x> FnMut(&ExecContext<'x>, &[u8], &[Datum<'x>]) -> Result<()> + 'f;

/// A table's rows, read.
struct Rows<'t> {
    table: &'t Table,
    types: Vec<&'static Type>,
    layout: RowLayout,
}

impl<'t> Rows<'t> {
    fn new(table: &'t Table) -> Result<Rows<'t>> {
        let types: Vec<&'static Type> =
            table.columns.iter().map(|c| column_type(c.typ)).collect::<Result<_>>()?;
        let missing = table.columns.iter().map(|c| c.missing.clone()).collect();
        let layout = RowLayout::new(types.iter().map(|t| t.physical).collect(), missing);
        Ok(Rows { table, types, layout })
    }

    /// Calls `f` with each row's key and values. The context's arena lasts for the row.
    fn each(&self, cx: &DdlContext<'_>, view: &ReadView, f: &mut EachRow<'_>) -> Result<()> {
        let style = cx.session.style();
        let objects = cx.objects();
        let statement = StatementContext::new(&[], view, &style, cx.session, &objects, 0);
        let mut scan = view
            .scan(RelationId(self.table.relation), Bound::Unbounded, Bound::Unbounded, Direction::Forward)
            .map_err(store_error)?;
        let mut arena = Arena::new();
        while let Some((key, bytes)) = scan.next().map_err(store_error)? {
            statement.tick()?;
            {
                let root = statement.root(&arena);
                let bytes = arena.bytes(bytes);
                let values = arena.slice_with(self.types.len(), |_| Datum::Null);
                self.layout.decode(bytes, &[], values).map_err(|_| corrupt(&self.table.name))?;
                f(&root, key, values)?;
            }
            arena.reset();
        }
        Ok(())
    }
}

/// The newest state with everything that this statement has done.
fn view(cx: &DdlContext<'_>) -> Result<ReadView> {
    cx.transaction(|t| {
        t.end_statement();
        Ok(t.latest_view())
    })
}

/// Entries on their way to the transaction.
struct Batch {
    relation: RelationId,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    len: usize,
}

impl Batch {
    fn new(relation: u32) -> Batch {
        Batch { relation: RelationId(relation), entries: Vec::with_capacity(BATCH_ROWS), len: 0 }
    }

    /// Empty buffers for the next entry.
    fn next(&mut self) -> &mut (Vec<u8>, Vec<u8>) {
        if self.entries.len() == self.len {
            self.entries.push((Vec::new(), Vec::new()));
        }
        let at = self.len;
        self.len += 1;
        let entry = &mut self.entries[at];
        entry.0.clear();
        entry.1.clear();
        entry
    }

    fn is_full(&self) -> bool {
        self.len >= BATCH_ROWS
    }

    /// Writes the batch; with `unique`, an entry whose key is there already is handed back.
    fn flush(&mut self, cx: &DdlContext<'_>, unique: bool) -> Result<Option<Vec<u8>>> {
        let relation = self.relation;
        let entries = self.entries.get(..self.len).unwrap_or_default();
        let duplicate = cx.transaction(|t| {
            for (key, value) in entries {
                if unique && matches!(t.buffered_get(relation, key), Some(Some(_))) {
                    return Ok(Some(key.clone()));
                }
                t.insert(relation, key, value).map_err(store_error)?;
            }
            Ok(None)
        })?;
        self.len = 0;
        Ok(duplicate)
    }
}

/// An expression of a definition, bound over the table, as the row path runs it.
fn compile_text(cx: &DdlContext<'_>, table: &Table, text: &str) -> Result<PhysicalExpr> {
    let expr = super::expression::bind_kept(cx, table, text)?;
    compile_table_expr(&expr)
}

/// Fills an index from the rows of its table (`index_build`); 23505 when a unique one finds duplicates.
pub fn fill_index(cx: &DdlContext<'_>, table: &Table, index: &Index) -> Result<()> {
    let rows = Rows::new(table)?;
    let include_types: Vec<&'static Type> =
        index.include.iter().filter_map(|p| rows.types.get(usize::from(*p)).copied()).collect();
    let layout = IndexLayout::new(index, &include_types)?;
    let keys = index
        .columns
        .iter()
        .map(|column| match &column.key {
            IndexKey::Column(place) => Ok(PhysicalExpr::Slot(usize::from(*place))),
            IndexKey::Expression(text) => compile_text(cx, table, text),
        })
        .collect::<Result<Vec<_>>>()?;
    let predicate = index.predicate.as_ref().map(|text| compile_text(cx, table, text)).transpose()?;
    let view = view(cx)?;
    let mut batch = Batch::new(index.relation);
    let mut duplicate = None;
    rows.each(cx, &view, &mut |row_cx, row_key, row| {
        if let Some(predicate) = &predicate
            && !predicate.eval(row_cx, row)?.is_true()
        {
            return Ok(());
        }
        let mut values = Vec::with_capacity(keys.len());
        for key in &keys {
            values.push(key.eval(row_cx, row)?);
        }
        let include: Vec<Datum<'_>> =
            index.include.iter().map(|p| row.get(usize::from(*p)).copied().unwrap_or_default()).collect();
        let entry = batch.next();
        layout.encode_key(&values, row_key, &mut entry.0);
        layout.encode_value(row_key, &include, &mut entry.1);
        // Only keys that take part in uniqueness can be there already; others end with their row's key.
        if batch.is_full() {
            duplicate = batch.flush(cx, layout.unique)?;
            if duplicate.is_some() {
                return Err(SqlError::internal("duplicate"));
            }
        }
        Ok(())
    })
    .or_else(|error| if duplicate.is_some() { Ok(()) } else { Err(error) })?;
    if duplicate.is_none() {
        duplicate = batch.flush(cx, layout.unique)?;
    }
    match duplicate {
        None => Ok(()),
        Some(key) => Err(duplicated(cx, table, index, &layout, &key)),
    }
}

/// `could not create unique index`
fn duplicated(
    cx: &DdlContext<'_>,
    table: &Table,
    index: &Index,
    layout: &IndexLayout,
    key: &[u8],
) -> SqlError {
    let error = SqlError::new(
        SqlState::UNIQUE_VIOLATION,
        format!("could not create unique index \"{}\"", index.name),
    )
    .table(&cx.schema_name(table.schema), &table.name)
    .constraint(&index.name);
    let arena = Arena::new();
    let style = cx.session.style();
    let mut key = arena.bytes(key);
    let mut names = Vec::new();
    let mut values = Vec::new();
    for (column, key_column) in index.columns.iter().zip(&layout.keys) {
        names.push(match &column.key {
            IndexKey::Column(place) => {
                table.columns.get(usize::from(*place)).map_or(String::new(), |c| c.name.clone())
            }
            IndexKey::Expression(text) => text.clone(),
        });
        match key_column.decode(&mut key, &arena) {
            Some(value) => values.push(print(key_column.typ, value, &style)),
            None => return error,
        }
    }
    error.detail(format!("Key ({})=({}) is duplicated.", names.join(", "), values.join(", ")))
}

fn print(typ: &Type, value: Datum<'_>, style: &Style) -> String {
    if value.is_null() {
        return "null".into();
    }
    let mut out = Vec::new();
    (typ.output)(value, style, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// How a rewrite changes a column.
pub struct Transform<'d> {
    /// Its place.
    pub place: usize,
    /// The new value, over the old row.
    pub value: &'d Expr,
}

/// Writes a table anew under `new`'s definition (`ATRewriteTable`): fresh relations for it and its indexes, the values of some columns
/// computed, the rows keyed by `new`'s clustering key. Indexes in `without` are about to go and are left alone.
pub fn rewrite(
    cx: &DdlContext<'_>,
    old: &Table,
    mut new: Table,
    transforms: &[Transform<'_>],
    without: &[Oid],
) -> Result<()> {
    let rows = Rows::new(old)?;
    new.relation = cx.new_oid()?.0;
    for column in &mut new.columns {
        column.missing = Value::Null;
    }
    let new_types: Vec<&'static Type> =
        new.columns.iter().map(|c| column_type(c.typ)).collect::<Result<_>>()?;
    let layout = RowLayout::new(
        new_types.iter().map(|t| t.physical).collect(),
        new.columns.iter().map(|_| Value::Null).collect(),
    );
    let computed = transforms
        .iter()
        .map(|t| Ok((t.place, compile_table_expr(t.value)?)))
        .collect::<Result<Vec<(usize, PhysicalExpr)>>>()?;
    let cluster: Vec<(usize, KeyColumn)> = new
        .cluster
        .iter()
        .filter_map(|place| {
            let place = usize::from(*place);
            let typ = new_types.get(place).copied()?;
            Some((place, KeyColumn { typ, desc: false, nulls_first: false }))
        })
        .collect();
    let renumber = cluster.is_empty() && !old.cluster.is_empty();
    let view = view(cx)?;
    let mut batch = Batch::new(new.relation);
    let mut numbers = 0..0u64;
    let mut duplicate = false;
    let relation = RelationId(new.relation);
    rows.each(cx, &view, &mut |row_cx, row_key, row| {
        let mut values = row.to_vec();
        values.resize(new_types.len(), Datum::Null);
        for (place, column) in new.columns.iter().enumerate() {
            if column.dropped
                && let Some(value) = values.get_mut(place)
            {
                *value = Datum::Null;
            }
        }
        for (place, expr) in &computed {
            let value = expr.eval(row_cx, row)?;
            if let Some(slot) = values.get_mut(*place) {
                *slot = value;
            }
        }
        let entry = batch.next();
        if !cluster.is_empty() {
            for (place, column) in &cluster {
                column.encode(values.get(*place).copied().unwrap_or_default(), &mut entry.0);
            }
        } else if renumber {
            if numbers.is_empty() {
                let first = cx.transaction(|t| {
                    t.store().reserve_row_numbers(relation, BATCH_ROWS as u64).map_err(store_error)
                })?;
                numbers = first..first + BATCH_ROWS as u64;
            }
            entry.0.extend_from_slice(&numbers.start.to_be_bytes());
            numbers.start += 1;
        } else {
            entry.0.extend_from_slice(row_key);
        }
        layout.encode(&values, &mut entry.1);
        if batch.is_full() {
            duplicate |= batch.flush(cx, !cluster.is_empty())?.is_some();
        }
        Ok(())
    })?;
    duplicate |= batch.flush(cx, !cluster.is_empty())?.is_some();
    let objects = cx.objects();
    if duplicate {
        let primary = objects.indexes_of(old.oid).find(|index| index.relation == 0);
        let name = primary.map_or(String::new(), |index| index.name.clone());
        return Err(SqlError::new(
            SqlState::UNIQUE_VIOLATION,
            format!("could not create unique index \"{name}\""),
        ));
    }
    // Numbers for later rows go on above the ones that are taken.
    if !renumber && cluster.is_empty() {
        carry_row_numbers(cx, old, relation)?;
    }
    let old_relation = RelationId(old.relation);
    cx.transaction(|t| {
        t.drop_relation(old_relation);
        Ok(())
    })?;
    cx.put(Object::Table(new.clone()))?;
    for index in objects.indexes_of(old.oid) {
        if index.relation == 0 || without.contains(&index.oid) {
            continue;
        }
        let dropped = RelationId(index.relation);
        let fresh = Index { relation: cx.new_oid()?.0, ..retyped(index, &new) };
        cx.transaction(|t| {
            t.drop_relation(dropped);
            Ok(())
        })?;
        cx.put(Object::Index(fresh.clone()))?;
        fill_index(cx, &new, &fresh)?;
    }
    for index in objects.indexes_of(old.oid).filter(|index| index.relation == 0) {
        if !without.contains(&index.oid) {
            cx.put(Object::Index(retyped(index, &new)))?;
        }
    }
    Ok(())
}

/// An index with the types that its columns have now.
fn retyped(index: &Index, table: &Table) -> Index {
    let mut index = index.clone();
    for column in &mut index.columns {
        if let IndexKey::Column(place) = column.key
            && let Some(found) = table.columns.get(usize::from(place))
            && found.typ != column.typ
        {
            column.typ = found.typ;
            column.collation = found.collation;
            if let Ok(opclass) = super::index::default_opclass(found.typ) {
                column.opclass = opclass;
            }
        }
    }
    index
}

/// A rewritten table keeps its rows' numbers; the next number of the new relation must lie above them.
fn carry_row_numbers(cx: &DdlContext<'_>, old: &Table, new: RelationId) -> Result<()> {
    let last = cx.transaction(|t| {
        let mut scan = t
            .latest_view()
            .scan(RelationId(old.relation), Bound::Unbounded, Bound::Unbounded, Direction::Backward)
            .map_err(store_error)?;
        let last = scan.next().map_err(store_error)?;
        Ok(last.and_then(|(key, _)| key.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))))
    })?;
    if let Some(last) = last {
        cx.transaction(|t| t.store().reserve_row_numbers(new, last + 1).map(drop).map_err(store_error))?;
    }
    Ok(())
}

/// Checks that columns hold no NULL and that conditions hold in every row (`ATRewriteTable` without rewriting).
pub fn verify(
    cx: &DdlContext<'_>,
    table: &Table,
    not_null: &[usize],
    checks: &[(String, &Definition)],
) -> Result<()> {
    let rows = Rows::new(table)?;
    let compiled = checks
        .iter()
        .map(|(name, definition)| Ok((name.as_str(), compile_table_expr(&definition.expr)?)))
        .collect::<Result<Vec<_>>>()?;
    let schema = cx.schema_name(table.schema);
    let view = view(cx)?;
    rows.each(cx, &view, &mut |row_cx, _, row| {
        for place in not_null {
            if row.get(*place).is_none_or(Datum::is_null) {
                let column = table.columns.get(*place).map_or("", |c| c.name.as_str());
                return Err(SqlError::new(
                    SqlState::NOT_NULL_VIOLATION,
                    format!("column \"{column}\" of relation \"{}\" contains null values", table.name),
                )
                .table(&schema, &table.name)
                .column(column));
            }
        }
        for (name, check) in &compiled {
            if matches!(check.eval(row_cx, row)?, Datum::Bool(false)) {
                return Err(SqlError::new(
                    SqlState::CHECK_VIOLATION,
                    format!(
                        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
                        table.name
                    ),
                )
                .table(&schema, &table.name)
                .constraint(name));
            }
        }
        Ok(())
    })
}

/// The value of an expression without columns.
pub fn evaluate(cx: &DdlContext<'_>, expr: &Expr) -> Result<Value> {
    let compiled = compile_table_expr(expr)?;
    let view = view(cx)?;
    let style = cx.session.style();
    let objects = cx.objects();
    let statement = StatementContext::new(&[], &view, &style, cx.session, &objects, 0);
    let arena = Arena::new();
    let root = statement.root(&arena);
    Ok(compiled.eval(&root, &[])?.to_value())
}

/// Checks that every row refers to one that is there (`validateForeignKeyConstraint`).
pub fn check_foreign_key(
    cx: &DdlContext<'_>,
    own: &Table,
    referenced: &Table,
    constraint: &Constraint,
) -> Result<()> {
    let ConstraintKind::ForeignKey { referenced_columns, index, match_full, .. } = &constraint.kind else {
        return Err(SqlError::internal("not a foreign key"));
    };
    let objects = cx.objects();
    let index = objects.index(*index).ok_or_else(|| SqlError::internal("referenced index vanished"))?;
    // The own column that each index column is compared with.
    let mut places = Vec::with_capacity(index.columns.len());
    for column in &index.columns {
        let IndexKey::Column(place) = column.key else {
            return Err(SqlError::internal("a foreign key to an index over expressions"));
        };
        let own_place = referenced_columns
            .iter()
            .position(|p| *p == place)
            .and_then(|at| constraint.columns.get(at))
            .ok_or_else(|| SqlError::internal("a foreign key that does not match its index"))?;
        places.push(usize::from(*own_place));
    }
    let layout = IndexLayout::new(index, &[])?;
    let rows = Rows::new(own)?;
    for (place, key) in places.iter().zip(&layout.keys) {
        if rows.types.get(*place).is_none_or(|t| t.shape != key.typ.shape) {
            return Err(SqlError::unsupported("a foreign key between columns of different types"));
        }
    }
    let target = RelationId(if index.relation == 0 { referenced.relation } else { index.relation });
    let view = view(cx)?;
    let style = cx.session.style();
    let lookup = view.clone();
    let mut key = Vec::new();
    rows.each(cx, &view, &mut |_, _, row| {
        let values: Vec<Datum<'_>> =
            places.iter().map(|p| row.get(*p).copied().unwrap_or_default()).collect();
        let nulls = values.iter().filter(|v| v.is_null()).count();
        if nulls == values.len() || (nulls > 0 && !match_full) {
            return Ok(());
        }
        let violated = || {
            SqlError::new(
                SqlState::FOREIGN_KEY_VIOLATION,
                format!(
                    "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                    own.name, constraint.name
                ),
            )
            .table(&cx.schema_name(own.schema), &own.name)
            .constraint(&constraint.name)
        };
        if nulls > 0 {
            return Err(violated().detail("MATCH FULL does not allow mixing of null and nonnull key values."));
        }
        key.clear();
        for (column, value) in layout.keys.iter().zip(&values) {
            column.encode(*value, &mut key);
        }
        if lookup.contains(target, &key).map_err(store_error)? {
            return Ok(());
        }
        let columns = constraint.columns.iter().map(|p| usize::from(*p));
        let names: Vec<&str> =
            columns.clone().filter_map(|p| own.columns.get(p)).map(|c| c.name.as_str()).collect();
        let shown: Vec<String> =
            columns.filter_map(|p| Some(print(rows.types.get(p)?, row.get(p).copied()?, &style))).collect();
        Err(violated().detail(format!(
            "Key ({})=({}) is not present in table \"{}\".",
            names.join(", "),
            shown.join(", "),
            referenced.name
        )))
    })
}
