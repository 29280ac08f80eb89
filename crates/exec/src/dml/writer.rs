//! Writing rows: a row and its index entries as one step, with every constraint of the table seen to (compare `ExecInsert`,
//! `ExecUpdate`, `ExecDelete` in nodeModifyTable.c and `ExecInsertIndexTuples` in execIndexing.c).
//!
//! A unique key is locked by its value before it is looked up, so that two transactions that insert the same key meet: the second
//! waits for the end of the first, then finds its row, or does not.

use super::violation;
use crate::bound::TableRules;
use crate::plan::compile::compile_table_expr;
use crate::row::access::corrupt;
use crate::row::context::ExecContext;
use crate::row::expr::PhysicalExpr;
use crate::row::index_entry::{IndexLayout, column_type};
use crate::store_error::sql_error;
use catalog::key::KeyColumn;
use catalog::object::{IndexKey, Table};
use catalog::row::RowLayout;
use catalog::types::Type;
use catalog::{Arena, Datum, Oid, Result, SqlError, SqlState};
use std::sync::Arc;
use storage::{LockMode, RelationId, Transaction, Wait};

/// How one index is kept; made once per plan.
#[derive(Debug)]
pub struct IndexWriter {
    /// The index's OID, for ON CONFLICT.
    pub oid: Oid,
    pub name: String,
    relation: RelationId,
    layout: IndexLayout,
    /// One per key column, over the table's row.
    keys: Box<[PhysicalExpr]>,
    /// Places of plain key columns, for the common case without expressions.
    places: Option<Box<[usize]>>,
    predicate: Option<PhysicalExpr>,
    include: Box<[usize]>,
    /// Every place that the entry depends on; `None` if an expression makes that unknown.
    depends_on: Option<Box<[usize]>>,
    /// This is the clustering key: its entries are the rows.
    clustering: bool,
}

/// How a table is written; made once per plan.
#[derive(Debug)]
pub struct TableWriter {
    /// The table.
    pub table: Arc<Table>,
    /// Schema's name, for errors.
    pub schema: String,
    /// Its rows' storage relation.
    pub relation: RelationId,
    /// How rows lie.
    pub layout: RowLayout,
    /// Types of all places.
    pub types: Box<[&'static Type]>,
    cluster: Box<[(usize, KeyColumn)]>,
    not_null: Box<[usize]>,
    checks: Box<[(String, PhysicalExpr)]>,
    generated: Box<[(usize, PhysicalExpr)]>,
    /// Indexes, the clustering one among them.
    pub indexes: Box<[IndexWriter]>,
}

/// Buffers of one execution, reused from row to row.
#[derive(Default)]
pub struct Scratch {
    /// The row's key.
    pub key: Vec<u8>,
    row: Vec<u8>,
    index_key: Vec<u8>,
    old_index_key: Vec<u8>,
    value: Vec<u8>,
    old_value: Vec<u8>,
    row_numbers: std::ops::Range<u64>,
}

/// A row that is in the way of an insertion.
#[derive(Debug)]
pub struct Conflict {
    /// Its row key.
    pub row_key: Vec<u8>,
}

/// Row numbers are taken from the store this many at a time once an execution has inserted a few rows.
const ROW_NUMBERS_AHEAD: u64 = 256;

impl TableWriter {
    /// Compiles a table's rules. `schema` is the name of its schema.
    pub fn new(rules: &TableRules, schema: &str) -> Result<TableWriter> {
        let table = Arc::clone(&rules.table);
        // Dropped columns count too: rows from before still hold their values, in the form of their type.
        let types: Vec<&'static Type> =
            table.columns.iter().map(|c| column_type(c.typ)).collect::<Result<_>>()?;
        let missing = table.columns.iter().map(|c| c.missing.clone()).collect();
        let layout = RowLayout::new(types.iter().map(|t| t.physical).collect(), missing);
        let cluster = table
            .cluster
            .iter()
            .map(|place| {
                let place = usize::from(*place);
                let typ = types
                    .get(place)
                    .copied()
                    .ok_or_else(|| SqlError::internal("clustering column is missing"))?;
                Ok((place, KeyColumn { typ, desc: false, nulls_first: false }))
            })
            .collect::<Result<_>>()?;
        let not_null = table
            .columns
            .iter()
            .enumerate()
            .filter(|(_, c)| c.not_null && !c.dropped)
            .map(|(i, _)| i)
            .collect();
        let checks = rules.checks.iter().map(|(name, expr)| Ok((name.clone(), compile_table_expr(expr)?)));
        let generated = rules.generated.iter().map(|(place, expr)| Ok((*place, compile_table_expr(expr)?)));
        let indexes = rules.indexes.iter().map(|rule| index_writer(rule, &types));
        Ok(TableWriter {
            schema: schema.to_owned(),
            relation: RelationId(table.relation),
            layout,
            cluster,
            not_null,
            checks: checks.collect::<Result<_>>()?,
            generated: generated.collect::<Result<_>>()?,
            indexes: indexes.collect::<Result<_>>()?,
            types: types.into(),
            table,
        })
    }

    /// Which indexes an UPDATE of these places touches, the clustering key not among them.
    pub fn indexes_touched(&self, assigned: &[usize]) -> Vec<usize> {
        let touched = |index: &IndexWriter| match &index.depends_on {
            None => true,
            Some(places) => places.iter().any(|p| assigned.contains(p) || self.is_generated(*p)),
        };
        let all = self.indexes.iter().enumerate();
        all.filter(|(_, index)| !index.clustering && touched(index)).map(|(i, _)| i).collect()
    }

    /// Whether an UPDATE of these places may change the row's key.
    pub fn moves(&self, assigned: &[usize]) -> bool {
        self.cluster.iter().any(|(place, _)| assigned.contains(place) || self.is_generated(*place))
    }

    /// Whether an UPDATE of these places touches a unique key (then it locks the row as FOR UPDATE does).
    pub fn changes_key(&self, assigned: &[usize]) -> bool {
        self.moves(assigned)
            || self.indexes.iter().any(|index| {
                index.layout.unique
                    && index
                        .depends_on
                        .as_ref()
                        .is_none_or(|places| places.iter().any(|p| assigned.contains(p)))
            })
    }

    fn is_generated(&self, place: usize) -> bool {
        self.generated.iter().any(|(generated, _)| *generated == place)
    }

    /// Fills the generated columns and checks NOT NULL and CHECK.
    pub fn check<'a>(&'a self, cx: &ExecContext<'a>, row: &mut [Datum<'a>]) -> Result<()> {
        for (place, expr) in &self.generated {
            let value = expr.eval(cx, row)?;
            if let Some(slot) = row.get_mut(*place) {
                *slot = value;
            }
        }
        for place in &self.not_null {
            if row.get(*place).is_none_or(Datum::is_null) {
                return Err(violation::not_null(self, *place, row, cx));
            }
        }
        for (name, expr) in &self.checks {
            if matches!(expr.eval(cx, row)?, Datum::Bool(false)) {
                return Err(violation::check(self, name, row, cx));
            }
        }
        Ok(())
    }

    /// Appends a row's key to `out`: the clustering columns', or the next row number.
    pub fn row_key(&self, row: &[Datum<'_>], out: &mut Vec<u8>) {
        for (place, column) in &self.cluster {
            column.encode(row.get(*place).copied().unwrap_or_default(), out);
        }
    }

    /// Whether rows lie by a key of their own.
    pub fn is_clustered(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// The values of a stored row, copied into an arena.
    pub fn decode<'x>(&self, arena: &'x Arena, bytes: &[u8]) -> Result<Vec<Datum<'x>>> {
        let mut values = vec![Datum::Null; self.types.len()];
        self.layout.decode(bytes, &[], &mut values).map_err(|_| corrupt(&self.table.name))?;
        Ok(values.iter().map(|value| value.copy_in(arena)).collect())
    }

    /// Inserts a row that has passed [`TableWriter::check`]. On a conflict in one of the `arbiters` (index places; `None`: all
    /// unique ones) nothing is written and the row in the way is told; any other conflict is a 23505.
    pub fn insert(
        &self,
        cx: &ExecContext<'_>,
        transaction: &mut Transaction,
        row: &[Datum<'_>],
        arbiters: Arbiters<'_>,
        scratch: &mut Scratch,
    ) -> Result<Option<Conflict>> {
        scratch.key.clear();
        if self.is_clustered() {
            self.row_key(row, &mut scratch.key);
        } else {
            if scratch.row_numbers.is_empty() {
                // The first rows take single numbers, so that one-row statements leave no gaps.
                let ahead = if scratch.row_numbers.start == 0 { 1 } else { ROW_NUMBERS_AHEAD };
                let first =
                    transaction.store().reserve_row_numbers(self.relation, ahead).map_err(sql_error)?;
                scratch.row_numbers = first..first + ahead;
            }
            let number = scratch.row_numbers.start;
            scratch.row_numbers.start += 1;
            scratch.key.extend_from_slice(&number.to_be_bytes());
        }
        // IMPORTANT: all conflicts are looked for before anything is written, so that ON CONFLICT leaves no trace.
        for (i, index) in self.indexes.iter().enumerate() {
            if !index.layout.unique {
                continue;
            }
            let found = if index.clustering {
                let key = std::mem::take(&mut scratch.key);
                let taken = self.lock_unique(transaction, self.relation, &key);
                scratch.key = key;
                taken?.then(|| scratch.key.clone())
            } else {
                self.find_conflict(cx, transaction, index, row, None, scratch)?
            };
            let Some(row_key) = found else { continue };
            if arbiters.covers(i) {
                return Ok(Some(Conflict { row_key }));
            }
            return Err(self.duplicate(cx, index, row));
        }
        scratch.row.clear();
        self.layout.encode(row, &mut scratch.row);
        transaction.insert(self.relation, &scratch.key, &scratch.row).map_err(sql_error)?;
        for index in self.indexes.iter().filter(|index| !index.clustering) {
            scratch.index_key.clear();
            scratch.value.clear();
            if index.entry(cx, row, &scratch.key, &mut scratch.index_key, &mut scratch.value)? {
                self.put_entry(transaction, index, &scratch.index_key, &scratch.value)?;
            }
        }
        Ok(None)
    }

    /// Replaces a row by one that has passed [`TableWriter::check`]. `touched` are the indexes whose entries may change, `moves`
    /// whether the row's key may. The row is locked.
    #[allow(clippy::too_many_arguments)] // the facts of one update; a struct for them would be built per row
    pub fn update(
        &self,
        cx: &ExecContext<'_>,
        transaction: &mut Transaction,
        key: &[u8],
        old: &[Datum<'_>],
        new: &[Datum<'_>],
        touched: &[usize],
        moves: bool,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut new_key = std::mem::take(&mut scratch.key);
        new_key.clear();
        if moves {
            self.row_key(new, &mut new_key);
        }
        let moved = moves && new_key != key;
        if !moved {
            new_key.clear();
            new_key.extend_from_slice(key);
        }
        scratch.row.clear();
        self.layout.encode(new, &mut scratch.row);
        if moved {
            if self.lock_unique(transaction, self.relation, &new_key)?
                && let Some(index) = self.indexes.iter().find(|index| index.clustering)
            {
                return Err(self.duplicate(cx, index, new));
            }
            transaction.delete(self.relation, key).map_err(sql_error)?;
            transaction.insert(self.relation, &new_key, &scratch.row).map_err(sql_error)?;
        } else {
            transaction.put(self.relation, key, &scratch.row).map_err(sql_error)?;
        }
        for (i, index) in self.indexes.iter().enumerate() {
            // A moved row's entries all point at its new key.
            if index.clustering || !(moved || touched.contains(&i)) {
                continue;
            }
            scratch.old_index_key.clear();
            scratch.old_value.clear();
            let had = index.entry(cx, old, key, &mut scratch.old_index_key, &mut scratch.old_value)?;
            scratch.index_key.clear();
            scratch.value.clear();
            let has = index.entry(cx, new, &new_key, &mut scratch.index_key, &mut scratch.value)?;
            if had && has && scratch.old_index_key == scratch.index_key {
                if scratch.old_value != scratch.value {
                    transaction.put(index.relation, &scratch.index_key, &scratch.value).map_err(sql_error)?;
                }
                continue;
            }
            if has
                && index.layout.unique
                && self.find_conflict(cx, transaction, index, new, Some(key), scratch)?.is_some()
            {
                return Err(self.duplicate(cx, index, new));
            }
            if had {
                self.lock_old_key(cx, transaction, index, old, scratch)?;
                scratch.old_index_key.clear();
                scratch.old_value.clear();
                index.entry(cx, old, key, &mut scratch.old_index_key, &mut scratch.old_value)?;
                transaction.delete(index.relation, &scratch.old_index_key).map_err(sql_error)?;
            }
            if has {
                scratch.index_key.clear();
                scratch.value.clear();
                index.entry(cx, new, &new_key, &mut scratch.index_key, &mut scratch.value)?;
                self.put_entry(transaction, index, &scratch.index_key, &scratch.value)?;
            }
        }
        scratch.key = new_key;
        Ok(())
    }

    /// Deletes a row, which is locked.
    pub fn delete(
        &self,
        cx: &ExecContext<'_>,
        transaction: &mut Transaction,
        key: &[u8],
        row: &[Datum<'_>],
        scratch: &mut Scratch,
    ) -> Result<()> {
        transaction.delete(self.relation, key).map_err(sql_error)?;
        for index in self.indexes.iter().filter(|index| !index.clustering) {
            self.lock_old_key(cx, transaction, index, row, scratch)?;
            scratch.index_key.clear();
            scratch.value.clear();
            if index.entry(cx, row, key, &mut scratch.index_key, &mut scratch.value)? {
                transaction.delete(index.relation, &scratch.index_key).map_err(sql_error)?;
            }
        }
        Ok(())
    }

    /// 23505 for a row whose key in this index is taken.
    pub fn duplicate(&self, cx: &ExecContext<'_>, index: &IndexWriter, row: &[Datum<'_>]) -> SqlError {
        violation::unique(self, index, cx, row)
    }

    /// Locks a unique key and tells whether it is taken, by committed rows or this transaction's own.
    fn lock_unique(&self, transaction: &mut Transaction, relation: RelationId, key: &[u8]) -> Result<bool> {
        transaction.lock(relation, key, LockMode::Update, Wait::Block).map_err(sql_error)?;
        Ok(transaction.latest(relation, key, |_| ()).map_err(sql_error)?.is_some())
    }

    /// Locks the unique key that a row gives up: whoever inserts it meanwhile must wait for the end of this transaction.
    fn lock_old_key(
        &self,
        cx: &ExecContext<'_>,
        transaction: &mut Transaction,
        index: &IndexWriter,
        row: &[Datum<'_>],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !index.layout.unique {
            return Ok(());
        }
        scratch.index_key.clear();
        if index.unique_key(cx, row, &mut scratch.index_key)? {
            let key = &scratch.index_key;
            transaction.lock(index.relation, key, LockMode::Update, Wait::Block).map_err(sql_error)?;
        }
        Ok(())
    }

    /// The row key that an index finds in the way of a new row, other than the row `own` itself.
    fn find_conflict(
        &self,
        cx: &ExecContext<'_>,
        transaction: &mut Transaction,
        index: &IndexWriter,
        row: &[Datum<'_>],
        own: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<u8>>> {
        scratch.index_key.clear();
        scratch.value.clear();
        if !index.unique_key(cx, row, &mut scratch.index_key)? {
            return Ok(None);
        }
        let key = &scratch.index_key;
        transaction.lock(index.relation, key, LockMode::Update, Wait::Block).map_err(sql_error)?;
        let found = transaction
            .latest(index.relation, key, |value| {
                index.layout.decode(key, value).map(|(row_key, _)| row_key.to_vec())
            })
            .map_err(sql_error)?;
        match found {
            None => Ok(None),
            Some(None) => Err(SqlError::new(
                SqlState::INDEX_CORRUPTED,
                format!("entry of index \"{}\" is damaged", index.name),
            )),
            Some(Some(row_key)) => Ok((Some(row_key.as_slice()) != own).then_some(row_key)),
        }
    }

    fn put_entry(
        &self,
        transaction: &mut Transaction,
        index: &IndexWriter,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        transaction.insert(index.relation, key, value).map_err(|error| match error {
            storage::StoreError::KeyTooLong { length } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!(
                    "index row size {length} exceeds btree version 4 maximum {} for index \"{}\"",
                    storage::KEY_BYTES_MAX,
                    index.name
                ),
            )
            .hint(
                "Values larger than 1/3 of a buffer page cannot be indexed.\nConsider a function index of an MD5 hash of the value, or use full text indexing.",
            )
            .table(&self.schema, &self.table.name)
            .constraint(&index.name),
            other => sql_error(other),
        })
    }
}

/// Which indexes' conflicts ON CONFLICT takes.
#[derive(Clone, Copy, Debug)]
pub enum Arbiters<'a> {
    /// No ON CONFLICT.
    None,
    /// Any unique index.
    Any,
    /// These, by place.
    These(&'a [usize]),
}

impl Arbiters<'_> {
    fn covers(self, index: usize) -> bool {
        match self {
            Arbiters::None => false,
            Arbiters::Any => true,
            Arbiters::These(places) => places.contains(&index),
        }
    }
}

impl IndexWriter {
    /// The key columns: what they are computed by, over the table's row, and their types.
    pub fn key_columns(&self) -> impl Iterator<Item = (&PhysicalExpr, &'static Type)> {
        self.keys.iter().zip(self.layout.keys.iter().map(|column| column.typ))
    }

    /// Appends the entry of a row; false if the predicate leaves the row out.
    fn entry(
        &self,
        cx: &ExecContext<'_>,
        row: &[Datum<'_>],
        row_key: &[u8],
        key: &mut Vec<u8>,
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        let Some(keys) = self.key_values(cx, row)? else { return Ok(false) };
        self.layout.encode_key(keys, row_key, key);
        let include: Vec<Datum<'_>> =
            self.include.iter().map(|place| row.get(*place).copied().unwrap_or_default()).collect();
        self.layout.encode_value(row_key, &include, value);
        Ok(true)
    }

    /// Appends the key by which the row must be unique; false if it need not be.
    fn unique_key(&self, cx: &ExecContext<'_>, row: &[Datum<'_>], key: &mut Vec<u8>) -> Result<bool> {
        let Some(keys) = self.key_values(cx, row)? else { return Ok(false) };
        if !self.layout.is_exclusive(keys) {
            return Ok(false);
        }
        self.layout.encode_key(keys, &[], key);
        Ok(true)
    }

    fn key_values<'b>(&'b self, cx: &ExecContext<'b>, row: &[Datum<'_>]) -> Result<Option<&'b [Datum<'b>]>> {
        // Values live in the arena: index expressions may make new ones, and rows come with their own lifetime.
        let arena = cx.eval.arena;
        if let (Some(places), None) = (&self.places, &self.predicate) {
            let value = |i: usize| {
                places.get(i).and_then(|p| row.get(*p)).map(|d| d.copy_in(arena)).unwrap_or_default()
            };
            return Ok(Some(arena.slice_with(places.len(), value)));
        }
        let row: &'b [Datum<'b>] = arena.slice_with(row.len(), |i| row[i].copy_in(arena));
        if let Some(predicate) = &self.predicate
            && !predicate.eval(cx, row)?.is_true()
        {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            values.push(key.eval(cx, row)?);
        }
        Ok(Some(arena.slice(&values)))
    }
}

fn index_writer(rule: &crate::bound::IndexRule, types: &[&'static Type]) -> Result<IndexWriter> {
    let index = &rule.index;
    let include: Box<[usize]> = index.include.iter().map(|p| usize::from(*p)).collect();
    let include_types: Vec<&'static Type> = include.iter().filter_map(|p| types.get(*p).copied()).collect();
    let places: Option<Box<[usize]>> = index
        .columns
        .iter()
        .map(|c| match &c.key {
            IndexKey::Column(place) => Some(usize::from(*place)),
            IndexKey::Expression(_) => None,
        })
        .collect();
    let depends_on = match (&places, &rule.predicate) {
        (Some(places), None) => Some(places.iter().chain(include.iter()).copied().collect()),
        _ => None,
    };
    Ok(IndexWriter {
        oid: index.oid,
        name: index.name.clone(),
        relation: RelationId(index.relation),
        layout: IndexLayout::new(index, &include_types)?,
        keys: rule.keys.iter().map(compile_table_expr).collect::<Result<_>>()?,
        places,
        predicate: rule.predicate.as_ref().map(compile_table_expr).transpose()?,
        include,
        depends_on,
        clustering: index.relation == 0,
    })
}
