//! What a query becomes before it is DataFusion's: a tree of relational operators over compiled expressions. It is made once per
//! statement, and assembled to a physical plan per execution, which costs microseconds.

use crate::aggregate::{Adapted, Call};
use crate::execution::Execution;
use crate::expression::Computed;
use crate::scan::{ScanSpec, TableScan};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::Schema;
use datafusion::common::{DataFusionError, JoinType, NullEquality, Result, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use std::sync::Arc;

/// A relational operator.
#[derive(Debug)]
pub enum Tree {
    /// A table's rows.
    Scan(Arc<ScanSpec>),
    /// Computed columns.
    Project(Box<Tree>, Vec<Computed>),
    /// Rows for which a boolean column is true.
    Filter(Box<Tree>, Computed),
    /// A hash join. Puts out the build side's columns, then the probe side's.
    Join {
        /// Kind; "left" is the build side.
        kind: JoinType,
        /// The side that is hashed.
        build: Box<Tree>,
        /// The side that streams.
        probe: Box<Tree>,
        /// Equal keys.
        on: Vec<(Computed, Computed)>,
    },
    /// Groups: the keys' columns, then the aggregates'.
    Aggregate {
        /// Input.
        input: Box<Tree>,
        /// Keys.
        keys: Vec<Computed>,
        /// Aggregates.
        calls: Vec<Aggregation>,
    },
    /// Rows in order.
    Sort(Box<Tree>, Vec<Order>),
    /// All rows of all inputs.
    Union(Vec<Tree>),
}

/// A sort key.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Column.
    pub column: usize,
    /// DESC
    pub desc: bool,
    /// NULLS FIRST
    pub nulls_first: bool,
}

/// An aggregate call.
#[derive(Debug)]
pub struct Aggregation {
    /// What runs.
    pub function: Function,
    /// Arguments.
    pub args: Vec<Computed>,
    /// FILTER
    pub filter: Option<Computed>,
    /// Its column's name.
    pub name: String,
}

/// An aggregate.
#[derive(Clone, Debug)]
pub enum Function {
    /// Counts rows, or non-NULL values.
    Count,
    /// Sums bigints.
    Sum,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Any of exec's.
    Exec(Arc<Call>),
}

fn column_of(schema: &Schema, column: usize) -> Result<Arc<dyn PhysicalExpr>> {
    let field = schema.fields().get(column);
    let field = field.ok_or_else(|| DataFusionError::Internal(format!("no column {column}")))?;
    Ok(Arc::new(Column::new(field.name(), column)))
}

impl Tree {
    /// The physical plan for an execution. `fetch` is how many rows of a sort at the top are asked for.
    pub fn assemble(
        &self,
        execution: &Arc<Execution>,
        fetch: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(match self {
            Tree::Scan(spec) => Arc::new(TableScan::new(spec, execution)),
            Tree::Project(input, columns) => {
                let input = input.assemble(execution, fetch)?;
                let schema = input.schema();
                let exprs = columns.iter().map(|c| (c.assemble(&schema, execution), c.name.clone()));
                Arc::new(ProjectionExec::try_new(exprs.collect::<Vec<_>>(), input)?)
            }
            Tree::Filter(input, predicate) => {
                let input = input.assemble(execution, None)?;
                let predicate = predicate.assemble(&input.schema(), execution);
                Arc::new(FilterExec::try_new(predicate, input)?)
            }
            Tree::Join { kind, build, probe, on } => {
                let build = build.assemble(execution, None)?;
                let probe = probe.assemble(execution, None)?;
                let (left, right) = (build.schema(), probe.schema());
                let on =
                    on.iter().map(|(l, r)| (l.assemble(&left, execution), r.assemble(&right, execution)));
                Arc::new(HashJoinExec::try_new(
                    build,
                    probe,
                    on.collect(),
                    None,
                    kind,
                    None,
                    PartitionMode::CollectLeft,
                    NullEquality::NullEqualsNothing,
                    false,
                )?)
            }
            Tree::Aggregate { input, keys, calls } => {
                let input = input.assemble(execution, None)?;
                let schema = input.schema();
                let keys = keys.iter().map(|k| (k.assemble(&schema, execution), k.name.clone())).collect();
                let mut functions = Vec::with_capacity(calls.len());
                let mut filters = Vec::with_capacity(calls.len());
                for call in calls {
                    let function = match &call.function {
                        Function::Count => count_udaf(),
                        Function::Sum => sum_udaf(),
                        Function::Min => min_udaf(),
                        Function::Max => max_udaf(),
                        Function::Exec(call) => {
                            Arc::new(AggregateUDF::new_from_impl(Adapted::new(call, execution)))
                        }
                    };
                    let mut args: Vec<_> = call.args.iter().map(|a| a.assemble(&schema, execution)).collect();
                    if args.is_empty() {
                        args.push(Arc::new(Literal::new(ScalarValue::Int64(Some(1)))));
                    }
                    let built = AggregateExprBuilder::new(function, args)
                        .schema(Arc::clone(&schema))
                        .alias(&call.name)
                        .build()?;
                    functions.push(Arc::new(built));
                    filters.push(call.filter.as_ref().map(|f| f.assemble(&schema, execution)));
                }
                Arc::new(AggregateExec::try_new(
                    AggregateMode::Single,
                    PhysicalGroupBy::new_single(keys),
                    functions,
                    filters,
                    input,
                    schema,
                )?)
            }
            Tree::Sort(input, keys) => {
                let input = input.assemble(execution, None)?;
                let schema = input.schema();
                let mut exprs = Vec::with_capacity(keys.len());
                for key in keys {
                    let options = SortOptions { descending: key.desc, nulls_first: key.nulls_first };
                    exprs.push(PhysicalSortExpr::new(column_of(&schema, key.column)?, options));
                }
                match LexOrdering::new(exprs) {
                    Some(ordering) => Arc::new(SortExec::new(ordering, input).with_fetch(fetch)),
                    None => input,
                }
            }
            Tree::Union(inputs) => {
                let inputs =
                    inputs.iter().map(|i| i.assemble(execution, None)).collect::<Result<Vec<_>>>()?;
                Arc::new(CoalescePartitionsExec::new(UnionExec::try_new(inputs)?))
            }
        })
    }
}
