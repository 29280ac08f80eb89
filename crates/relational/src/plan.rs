//! The planner that the engine is given, and the plans that it makes.

use crate::column::Reader;
use crate::execution::{Execution, sql_error};
use crate::lower::{Lowered, lower};
use catalog::{Arena, Result, SqlError, Style};
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::displayable;
use exec::bound::Query;
use exec::plan::PlanContext;
use exec::plan::relational::{RelationalPlan, RelationalPlanner};
use exec::row::context::{ExecContext, Flow, Sink};
use exec::row::limit::{limit_count, offset_count};
use futures::StreamExt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// When the relational path is taken.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Takes every query that it can, for tests.
    pub always: bool,
    /// Takes queries whose tables have at least this many rows together.
    pub min_rows: f64,
}

impl Options {
    /// The defaults, unless `PGFUSION_RELATIONAL` says `always` or `never`: a switch for tests and comparisons.
    pub fn from_environment() -> Options {
        let mut options = Options::default();
        match std::env::var("PGFUSION_RELATIONAL").as_deref() {
            Ok("always") => options.always = true,
            Ok("never") => options.min_rows = f64::INFINITY,
            _ => {}
        }
        options
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { always: false, min_rows: 100_000.0 }
    }
}

/// What a row costs that both paths read, in PostgreSQL's unit. A row plan that is estimated below this per row of its tables reads
/// only parts of them, by an index or up to a limit; the relational path reads them whole.
const COST_PER_ROW: f64 = 0.01;

/// The relational planner.
pub struct DataFusion {
    options: Options,
    runtime: Arc<Runtime>,
}

impl DataFusion {
    /// A planner with threads of its own.
    pub fn new(options: Options) -> std::io::Result<Arc<DataFusion>> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("relational")
            .enable_time()
            .build()?;
        Ok(Arc::new(DataFusion { options, runtime: Arc::new(runtime) }))
    }
}

impl RelationalPlanner for DataFusion {
    fn plan(&self, query: &Query, cx: &PlanContext<'_>, row_cost: f64) -> Option<Arc<dyn RelationalPlan>> {
        if !self.options.always && row_cost < self.options.min_rows * COST_PER_ROW {
            return None;
        }
        let lowered = lower(query, cx)?;
        let wins = lowered.heavy
            && lowered.scanned >= self.options.min_rows
            && row_cost >= lowered.scanned * COST_PER_ROW;
        if !self.options.always && !wins {
            return None;
        }
        let execution = Execution::new(Vec::new(), cx.store.view(), Style::default(), cx.objects);
        match lowered.tree.assemble(&execution, None) {
            Ok(plan) => {
                let shown = displayable(&*plan).indent(false).to_string();
                let lines = shown.lines().map(str::to_owned).collect();
                Some(Arc::new(Planned { lowered, lines, runtime: Arc::clone(&self.runtime) }))
            }
            Err(error) => {
                tracing::debug!("the relational path declines: {error}");
                None
            }
        }
    }
}

/// A query's plan.
struct Planned {
    lowered: Lowered,
    lines: Vec<String>,
    runtime: Arc<Runtime>,
}

impl std::fmt::Debug for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.lines).finish()
    }
}

/// How long a wait for rows lasts before interrupts are looked for.
const WAIT: Duration = Duration::from_millis(20);

impl RelationalPlan for Planned {
    fn run(&self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        let limit = limit_count(self.lowered.limit.as_ref(), cx)?;
        let offset = offset_count(self.lowered.offset.as_ref(), cx)?;
        if limit == Some(0) {
            return Ok(ControlFlow::Continue(()));
        }
        let fetch = limit.and_then(|limit| usize::try_from(limit.checked_add(offset)?).ok());
        let execution = Execution::of(cx);
        let plan = self.lowered.tree.assemble(&execution, fetch).map_err(sql_error)?;
        let _entered = self.runtime.enter();
        let mut stream = plan.execute(0, Arc::new(TaskContext::default())).map_err(sql_error)?;
        let mut window = Window { skip: offset, left: limit };
        loop {
            cx.statement.env.check_interrupt()?;
            let next = self.runtime.block_on(async { tokio::time::timeout(WAIT, stream.next()).await });
            let Ok(next) = next else { continue };
            let Some(batch) = next else { return Ok(ControlFlow::Continue(())) };
            let batch = batch.map_err(sql_error)?;
            match window.push(&batch, self.lowered.visible, cx, out)? {
                Pushed::More => {}
                Pushed::Enough => return Ok(ControlFlow::Continue(())),
                Pushed::Refused => return Ok(ControlFlow::Break(())),
            }
        }
    }

    fn explain(&self) -> Vec<String> {
        self.lines.clone()
    }
}

/// OFFSET and LIMIT over the rows put out.
struct Window {
    skip: u64,
    left: Option<u64>,
}

/// What came of pushing a batch.
enum Pushed {
    More,
    Enough,
    Refused,
}

/// Rows between two resets of the arena.
const ROWS_PER_ARENA: usize = 256;

impl Window {
    /// Pushes a batch's rows. Bytes are borrowed from its arrays.
    fn push(
        &mut self,
        batch: &RecordBatch,
        visible: usize,
        cx: &ExecContext<'_>,
        out: &mut Sink<'_>,
    ) -> Result<Pushed> {
        let columns = batch.columns().get(..visible);
        let columns = columns.ok_or_else(|| SqlError::internal("a batch has too few columns"))?;
        let readers = columns.iter().map(|array| Reader::new(array)).collect::<Result<Vec<_>>>()?;
        let mut arena = Arena::new();
        for row in 0..batch.num_rows() {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            if self.left == Some(0) {
                return Ok(Pushed::Enough);
            }
            self.left = self.left.map(|left| left - 1);
            {
                let inner = cx.with_arena(&arena);
                let values = arena.slice_with(visible, |_| catalog::Datum::Null);
                for (value, reader) in values.iter_mut().zip(&readers) {
                    *value = reader.get(row);
                }
                if out(&inner, values)?.is_break() {
                    return Ok(Pushed::Refused);
                }
            }
            if row % ROWS_PER_ARENA == 0 {
                arena.reset();
            }
        }
        Ok(if self.left == Some(0) { Pushed::Enough } else { Pushed::More })
    }
}
