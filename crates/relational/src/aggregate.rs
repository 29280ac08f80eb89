//! exec's aggregates as DataFusion's: one state per group, fed value by value. Those that arrow computes with the same meaning use
//! DataFusion's own instead; see `lower`.

use crate::column::{Kind, Reader, Writer};
use crate::execution::{Execution, carried};
use catalog::{Arena, Datum, Result, Value};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result as DataFusionResult, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use exec::functions::{Accumulator as State, AggregateFn, CallTypes, EvalContext};
use parking_lot::Mutex;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What an [`Adapted`] aggregate runs.
#[derive(Clone)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// The aggregate.
    pub function: AggregateFn,
    /// The types of the call.
    pub types: CallTypes,
    /// The result's column.
    pub kind: Kind,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The value of a group's first row: of keys that are grouped by their hash bytes.
pub const FIRST: AggregateFn = AggregateFn { start: |_, _| Ok(Box::new(First(None))), strict: false };

struct First(Option<Value>);

impl State for First {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        if self.0.is_none() {
            self.0 = args.first().map(Datum::to_value);
        }
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.0.as_ref().map_or(Datum::Null, |value| value.datum().copy_in(cx.arena)))
    }
}

/// An aggregate of exec within an execution.
#[derive(Debug)]
pub struct Adapted {
    call: Arc<Call>,
    execution: Arc<Execution>,
    signature: Signature,
}

impl Adapted {
    /// The aggregate of a call.
    pub fn new(call: &Arc<Call>, execution: &Arc<Execution>) -> Adapted {
        Adapted {
            call: Arc::clone(call),
            execution: Arc::clone(execution),
            signature: Signature::variadic_any(Volatility::Immutable),
        }
    }

    fn states(&self) -> States {
        States { call: Arc::clone(&self.call), execution: Arc::clone(&self.execution), groups: Vec::new() }
    }
}

impl PartialEq for Adapted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.call, &other.call)
    }
}

impl Eq for Adapted {}

impl Hash for Adapted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.call) as usize).hash(state);
    }
}

impl AggregateUDFImpl for Adapted {
    fn name(&self) -> &str {
        &self.call.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DataFusionResult<DataType> {
        Ok(self.call.kind.data_type())
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> DataFusionResult<Box<dyn Accumulator>> {
        Ok(Box::new(Ungrouped(Mutex::new(self.states()))))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> DataFusionResult<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.states()))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The states of all groups.
struct States {
    call: Arc<Call>,
    execution: Arc<Execution>,
    groups: Vec<Box<dyn State>>,
}

/// Rows between two resets of the arena.
const ROWS_PER_ARENA: usize = 256;

impl States {
    fn grow(&mut self, groups: usize) -> Result<()> {
        while self.groups.len() < groups {
            self.groups.push((self.call.function.start)(&self.call.types, &[])?);
        }
        Ok(())
    }

    fn add(
        &mut self,
        values: &[ArrayRef],
        groups: Option<&[usize]>,
        filter: Option<&BooleanArray>,
    ) -> Result<()> {
        let readers = values.iter().map(|array| Reader::new(array)).collect::<Result<Vec<_>>>()?;
        let rows = values.first().map_or(0, |array| array.len());
        let (states, strict) = (&mut self.groups, self.call.function.strict);
        self.execution.with_context(|statement| {
            let mut arena = Arena::new();
            let mut start = 0;
            while start < rows {
                let end = rows.min(start + ROWS_PER_ARENA);
                {
                    let cx = statement.root(&arena);
                    let mut args = vec![Datum::Null; readers.len()];
                    for row in start..end {
                        if filter.is_some_and(|f| f.is_null(row) || !f.value(row)) {
                            continue;
                        }
                        for (arg, reader) in args.iter_mut().zip(&readers) {
                            *arg = reader.get(row);
                        }
                        if strict && args.iter().any(Datum::is_null) {
                            continue;
                        }
                        let group = groups.map_or(Some(0), |groups| groups.get(row).copied());
                        if let Some(state) = group.and_then(|group| states.get_mut(group)) {
                            state.add(&cx.eval, &args)?;
                        }
                    }
                }
                arena.reset();
                start = end;
            }
            Ok(())
        })
    }

    fn finish(&mut self, groups: &[Box<dyn State>]) -> Result<ArrayRef> {
        let mut writer = Writer::new(self.call.kind, groups.len());
        self.execution.with_context(|statement| {
            let mut arena = Arena::new();
            for state in groups {
                writer.push(state.finish(&statement.root(&arena).eval)?)?;
                arena.reset();
            }
            Ok(writer.finish())
        })
    }
}

/// Aggregates run in one step here, so nobody asks for states halfway.
fn whole_only<T>() -> DataFusionResult<T> {
    Err(DataFusionError::NotImplemented("partial states of exec's aggregates".into()))
}

impl GroupsAccumulator for States {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> DataFusionResult<()> {
        self.grow(total_num_groups).map_err(carried)?;
        self.add(values, Some(group_indices), opt_filter).map_err(carried)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> DataFusionResult<ArrayRef> {
        let groups = emit_to.take_needed(&mut self.groups);
        self.finish(&groups).map_err(carried)
    }

    fn state(&mut self, _: EmitTo) -> DataFusionResult<Vec<ArrayRef>> {
        whole_only()
    }

    fn merge_batch(&mut self, _: &[ArrayRef], _: &[usize], _: usize) -> DataFusionResult<()> {
        whole_only()
    }

    fn convert_to_state(&self, _: &[ArrayRef], _: Option<&BooleanArray>) -> DataFusionResult<Vec<ArrayRef>> {
        whole_only()
    }

    fn size(&self) -> usize {
        // Asking each state would cost a walk over all groups per batch.
        self.groups.len() * 96
    }
}

/// The state of an aggregate without GROUP BY. The lock is never contended: states are `Send` only.
struct Ungrouped(Mutex<States>);

impl std::fmt::Debug for Ungrouped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ungrouped")
    }
}

impl Accumulator for Ungrouped {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DataFusionResult<()> {
        let states = self.0.get_mut();
        states.grow(1).map_err(carried)?;
        states.add(values, None, None).map_err(carried)
    }

    fn evaluate(&mut self) -> DataFusionResult<ScalarValue> {
        let states = self.0.get_mut();
        states.grow(1).map_err(carried)?;
        let groups = std::mem::take(&mut states.groups);
        let array = states.finish(&groups).map_err(carried)?;
        ScalarValue::try_from_array(&array, 0)
    }

    fn size(&self) -> usize {
        1024
    }

    fn state(&mut self) -> DataFusionResult<Vec<ScalarValue>> {
        whole_only()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> DataFusionResult<()> {
        whole_only()
    }
}
