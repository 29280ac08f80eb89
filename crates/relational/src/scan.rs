//! The scan of a table: a thread reads rows of the execution's view, filters them as the row path does, and sends what is left in
//! batches. So reading overlaps with whatever the plan does above.

use crate::column::{Kind, Writer};
use crate::execution::{Execution, carried, sql_error};
use catalog::row::RowLayout;
use catalog::{Arena, Datum, Result};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::Result as DataFusionResult;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use exec::row::access::{corrupt, store_error};
use exec::row::expr::PhysicalExpr as RowExpr;
use std::ops::Bound;
use std::sync::Arc;
use storage::{Direction, RelationId};

/// A column that a scan puts out.
#[derive(Clone, Debug)]
pub struct ScanColumn {
    /// Its place in the table.
    pub place: usize,
    /// Its form.
    pub kind: Kind,
    /// For EXPLAIN.
    pub name: String,
}

/// What is scanned.
#[derive(Debug)]
pub struct ScanSpec {
    /// The table's name.
    pub table: String,
    /// Where its rows are.
    pub relation: u32,
    /// How they lie.
    pub layout: Arc<RowLayout>,
    /// Leading columns that are looked at.
    pub width: usize,
    /// Which of them are read.
    pub wanted: Box<[bool]>,
    /// What is put out.
    pub columns: Box<[ScanColumn]>,
    /// Condition over the columns by place.
    pub filter: Option<RowExpr>,
}

/// Rows per batch.
const BATCH_ROWS: usize = 8192;
/// Batches that a scan is ahead of its consumer.
const BATCHES_AHEAD: usize = 4;

/// A scan within an execution.
#[derive(Debug)]
pub struct TableScan {
    spec: Arc<ScanSpec>,
    execution: Arc<Execution>,
    properties: Arc<PlanProperties>,
}

impl TableScan {
    /// The scan of a specification.
    pub fn new(spec: &Arc<ScanSpec>, execution: &Arc<Execution>) -> TableScan {
        let fields = spec.columns.iter().map(|c| Field::new(&c.name, c.kind.data_type(), true));
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        TableScan {
            spec: Arc::clone(spec),
            execution: Arc::clone(execution),
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for TableScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<&str> = self.spec.columns.iter().map(|c| c.name.as_str()).collect();
        let filtered = if self.spec.filter.is_some() { ", filtered" } else { "" };
        write!(f, "TableScan: {}, columns=[{}]{filtered}", self.spec.table, columns.join(", "))
    }
}

impl ExecutionPlan for TableScan {
    fn name(&self) -> &str {
        "TableScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DataFusionResult<TreeNodeRecursion>,
    ) -> DataFusionResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let schema = Arc::clone(self.properties.eq_properties.schema());
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&schema), BATCHES_AHEAD);
        let sender = builder.tx();
        let (spec, execution) = (Arc::clone(&self.spec), Arc::clone(&self.execution));
        builder.spawn_blocking(move || {
            let sent = read(&spec, &execution, &schema, &mut |batch| sender.blocking_send(Ok(batch)).is_ok());
            sent.map_err(carried)
        });
        Ok(builder.build())
    }
}

/// Reads the table, giving batches until `send` wants no more.
fn read(
    spec: &ScanSpec,
    execution: &Execution,
    schema: &SchemaRef,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<()> {
    execution.with_context(|statement| {
        let mut writers: Vec<(usize, Writer)> =
            spec.columns.iter().map(|c| (c.place, Writer::new(c.kind, BATCH_ROWS))).collect();
        let mut arena = Arena::new();
        let mut rows = 0;
        let relation = RelationId(spec.relation);
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let scan = execution.view().scan(relation, everything.0, everything.1, Direction::Forward);
        let mut scan = scan.map_err(store_error)?;
        while let Some((_, row)) = scan.next().map_err(store_error)? {
            {
                let slots = arena.slice_with(spec.width, |_| Datum::Null);
                if spec.width > 0 {
                    spec.layout.decode(row, &spec.wanted, slots).map_err(|_| corrupt(&spec.table))?;
                }
                let passes = match &spec.filter {
                    Some(filter) => filter.is_true(&statement.root(&arena), slots)?,
                    None => true,
                };
                if passes {
                    for (place, writer) in &mut writers {
                        writer.push(slots.get(*place).copied().unwrap_or(Datum::Null))?;
                    }
                    rows += 1;
                }
            }
            arena.reset();
            if rows == BATCH_ROWS {
                if !send(batch(&mut writers, schema, rows)?) {
                    return Ok(());
                }
                rows = 0;
            }
        }
        if rows > 0 {
            send(batch(&mut writers, schema, rows)?);
        }
        Ok(())
    })
}

fn batch(writers: &mut [(usize, Writer)], schema: &SchemaRef, rows: usize) -> Result<RecordBatch> {
    let arrays = writers.iter_mut().map(|(_, writer)| writer.finish()).collect();
    // A scan for count(*) has rows without columns.
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(|e| sql_error(e.into()))
}
