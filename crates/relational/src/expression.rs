//! exec's compiled expressions as DataFusion's: the meaning is exec's, value by value, so the two paths cannot disagree.

use crate::column::{Kind, Reader, Writer};
use crate::execution::{Execution, carried, sql_error};
use catalog::types::Type;
use catalog::{Arena, Datum, Result};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result as DataFusionResult;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use exec::row::expr::PhysicalExpr as RowExpr;
use exec::row::hash::HashClass;
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What becomes of an expression's value.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// It is kept.
    Value,
    /// Bytes that are equal where values are.
    Hash(HashClass),
    /// Bytes whose order is that of the values.
    Order(&'static Type),
}

/// An expression that makes a column.
#[derive(Clone, Debug)]
pub struct Computed {
    /// Over the input's columns as slots.
    pub expr: Arc<RowExpr>,
    /// The slots that it reads.
    pub slots: Arc<[usize]>,
    /// What becomes of the value.
    pub form: Form,
    /// The column.
    pub kind: Kind,
    /// For EXPLAIN.
    pub name: String,
}

impl Computed {
    /// A column passed on.
    pub fn slot(slot: usize, kind: Kind, name: &str) -> Computed {
        Computed {
            expr: Arc::new(RowExpr::Slot(slot)),
            slots: Arc::new([slot]),
            form: Form::Value,
            kind,
            name: name.into(),
        }
    }

    /// The expression over inputs of a schema.
    pub fn assemble(&self, schema: &Schema, execution: &Arc<Execution>) -> Arc<dyn PhysicalExpr> {
        if let (RowExpr::Slot(slot), Form::Value) = (&*self.expr, self.form)
            && let Some(field) = schema.fields().get(*slot)
        {
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), *slot));
            if *field.data_type() == self.kind.data_type() {
                return column;
            }
            if field.data_type().is_integer() && self.kind == Kind::Int64 {
                return Arc::new(CastExpr::new(column, DataType::Int64, None));
            }
        }
        let column = |slot: &usize| {
            let name = schema.fields().get(*slot).map_or("", |field| field.name());
            Arc::new(Column::new(name, *slot)) as Arc<dyn PhysicalExpr>
        };
        let children = self.slots.iter().map(column).collect();
        Arc::new(Evaluated { computed: self.clone(), children, execution: Arc::clone(execution) })
    }
}

/// A [`Computed`] within an execution.
#[derive(Debug)]
struct Evaluated {
    computed: Computed,
    /// The columns behind the slots.
    children: Vec<Arc<dyn PhysicalExpr>>,
    execution: Arc<Execution>,
}

impl PartialEq for Evaluated {
    fn eq(&self, other: &Self) -> bool {
        self.children == other.children
            && Arc::ptr_eq(&self.computed.expr, &other.computed.expr)
            && self.computed.kind == other.computed.kind
            && std::mem::discriminant(&self.computed.form) == std::mem::discriminant(&other.computed.form)
    }
}

impl Eq for Evaluated {}

impl Hash for Evaluated {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.computed.expr) as usize).hash(state);
        self.computed.kind.hash(state);
    }
}

impl Display for Evaluated {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.computed.form {
            Form::Value => f.write_str(&self.computed.name),
            Form::Hash(_) => write!(f, "hash({})", self.computed.name),
            Form::Order(_) => write!(f, "key({})", self.computed.name),
        }
    }
}

/// Rows between two resets of the arena.
const ROWS_PER_ARENA: usize = 256;

impl Evaluated {
    fn column(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = batch.num_rows();
        let computed = &self.computed;
        let values = self.children.iter().map(|child| child.evaluate(batch)?.into_array(rows));
        let arrays = values.collect::<DataFusionResult<Vec<_>>>().map_err(sql_error)?;
        let readers =
            computed.slots.iter().zip(&arrays).map(|(slot, array)| Ok((*slot, Reader::new(array)?)));
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let width = computed.slots.iter().max().map_or(0, |slot| slot + 1);
        let mut writer = Writer::new(computed.kind, rows);
        let mut bytes = Vec::new();
        self.execution.with_context(|statement| {
            let mut arena = Arena::new();
            let mut start = 0;
            while start < rows {
                let end = rows.min(start + ROWS_PER_ARENA);
                {
                    let cx = statement.root(&arena);
                    let mut row = vec![Datum::Null; width];
                    for i in start..end {
                        for (slot, reader) in &readers {
                            if let Some(place) = row.get_mut(*slot) {
                                *place = reader.get(i);
                            }
                        }
                        let value = computed.expr.eval(&cx, &row)?;
                        match computed.form {
                            Form::Value => writer.push(value)?,
                            _ if value.is_null() => writer.push(Datum::Null)?,
                            Form::Hash(class) => {
                                bytes.clear();
                                class.encode(value, &mut bytes);
                                writer.push(Datum::Bytes(&bytes))?;
                            }
                            Form::Order(typ) => {
                                bytes.clear();
                                if let Some(encode) = typ.encode_key {
                                    encode(value, &mut bytes);
                                }
                                writer.push(Datum::Bytes(&bytes))?;
                            }
                        }
                    }
                }
                arena.reset();
                start = end;
            }
            Ok(ColumnarValue::Array(writer.finish()))
        })
    }
}

impl PhysicalExpr for Evaluated {
    fn data_type(&self, _: &Schema) -> DataFusionResult<DataType> {
        Ok(self.computed.kind.data_type())
    }

    fn nullable(&self, _: &Schema) -> DataFusionResult<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> DataFusionResult<ColumnarValue> {
        self.column(batch).map_err(carried)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.children.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> DataFusionResult<Arc<dyn PhysicalExpr>> {
        let (computed, execution) = (self.computed.clone(), Arc::clone(&self.execution));
        Ok(Arc::new(Evaluated { computed, children, execution }))
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
