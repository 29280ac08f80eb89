//! What an execution can reach: one [`StatementContext`] per execution, one small [`ExecContext`] per row loop.

use super::access::ReadView;
use super::follow::Follower;
use super::lock::RowLocker;
use super::rows::RowStore;
use crate::environment::Environment;
use crate::functions::EvalContext;
use crate::plan::explain::Instrumentation;
use catalog::{Arena, DatabaseObjects, Datum, Result, Style, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// Whether the consumer of rows wants more.
pub type Flow = ControlFlow<()>;

/// The consumer of an operator's rows. The row and the context's arena live until it returns.
pub type Sink<'s> = dyn for<'x> FnMut(&ExecContext<'x>, &[Datum<'x>]) -> Result<Flow> + 's;

/// What one execution of a statement shares among all its operators.
pub struct StatementContext<'a> {
    /// Parameters, lifted literals too.
    pub params: &'a [Datum<'a>],
    /// What the statement sees of the store.
    pub view: &'a ReadView,
    /// Print and read styles.
    pub style: &'a Style,
    /// The session, for functions.
    pub env: &'a dyn Environment,
    /// The database's objects, for system relations.
    pub objects: &'a Arc<DatabaseObjects>,
    /// Locks rows for FOR UPDATE and so on; `None` where the statement cannot lock.
    pub locker: Option<&'a dyn RowLocker>,
    /// What DML inside WITH needs of its own runner; it downcasts.
    pub dml: Option<&'a (dyn Any + 'static)>,
    /// Results that outlive the row loop that made them, by the slots that the plan numbered.
    pub caches: Caches,
    /// Where scans stand whose keys ascend from run to run, by their nodes.
    pub followers: RefCell<FxHashMap<usize, Follower>>,
    /// EXPLAIN ANALYZE.
    pub instrumentation: Option<Instrumentation>,
    /// Rows since the last look for an interrupt.
    pub ticks: Cell<u32>,
}

impl<'a> StatementContext<'a> {
    /// A context for one execution of a plan with this number of cache slots.
    pub fn new(
        params: &'a [Datum<'a>],
        view: &'a ReadView,
        style: &'a Style,
        env: &'a dyn Environment,
        objects: &'a Arc<DatabaseObjects>,
        cache_slots: usize,
    ) -> Self {
        StatementContext {
            params,
            view,
            style,
            env,
            objects,
            locker: None,
            dml: None,
            caches: Caches::new(cache_slots),
            followers: RefCell::default(),
            instrumentation: None,
            ticks: Cell::new(0),
        }
    }

    /// The context of the outermost row loop.
    pub fn root<'b>(&'b self, arena: &'b Arena) -> ExecContext<'b> {
        ExecContext {
            eval: EvalContext { arena, style: self.style, env: self.env },
            params: self.params,
            statement: self,
            outer: None,
            case_operand: Datum::Null,
        }
    }

    /// Called per row by loops that read: looks for an interrupt now and then.
    #[inline]
    pub fn tick(&self) -> Result<()> {
        let ticks = self.ticks.get() + 1;
        if ticks < 1024 {
            self.ticks.set(ticks);
            return Ok(());
        }
        self.ticks.set(0);
        self.env.check_interrupt()
    }
}

/// A row that inner expressions refer to: the outer row of a subquery, a lateral item or the inner side of a nested loop.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The row.
    pub row: &'a [Datum<'a>],
    /// The frame around.
    pub parent: Option<&'a Frame<'a>>,
}

/// What evaluating an expression can reach. Copied per row loop.
#[derive(Clone, Copy)]
pub struct ExecContext<'a> {
    /// Arena, style, session.
    pub eval: EvalContext<'a>,
    /// Parameters (also in the statement; here for speed).
    pub params: &'a [Datum<'a>],
    /// The execution.
    pub statement: &'a StatementContext<'a>,
    /// Outer rows.
    pub outer: Option<&'a Frame<'a>>,
    /// Operand of the innermost simple CASE, or element of an array cast.
    pub case_operand: Datum<'a>,
}

impl<'a> ExecContext<'a> {
    /// The same with another arena.
    #[inline]
    pub fn with_arena<'b>(&self, arena: &'b Arena) -> ExecContext<'b>
    where
        'a: 'b,
    {
        ExecContext {
            eval: EvalContext { arena, style: self.eval.style, env: self.eval.env },
            params: self.params,
            statement: self.statement,
            outer: self.outer,
            case_operand: self.case_operand,
        }
    }

    /// The same with one more outer row.
    #[inline]
    pub fn with_outer<'b>(&self, frame: &'b Frame<'b>) -> ExecContext<'b>
    where
        'a: 'b,
    {
        ExecContext { outer: Some(frame), ..*self }
    }

    /// The outer row `depth` frames up; 0 is the nearest.
    #[inline]
    pub fn outer_row(&self, depth: usize) -> &'a [Datum<'a>] {
        let mut frame = self.outer;
        for _ in 0..depth {
            frame = frame.and_then(|f| f.parent);
        }
        frame.map_or(&[], |f| f.row)
    }
}

/// A result kept for the rest of the execution.
#[derive(Clone)]
pub enum Cached {
    /// A materialised query, or a recursive query's working table.
    Rows(Rc<RowStore>),
    /// The value of an uncorrelated subquery.
    Value(Value),
    /// The rows of an uncorrelated IN or EXISTS subquery, as encoded keys.
    Set(Rc<HashedRows>),
}

/// Rows of a subquery hashed by their encoded columns.
#[derive(Default)]
pub struct HashedRows {
    /// Keys of rows without NULLs.
    pub keys: FxHashSet<Box<[u8]>>,
    /// All rows, where there are several columns: what NULLs leave open is looked up there.
    pub rows: RowStore,
    /// Whether there was any row.
    pub any: bool,
    /// Whether some row has a NULL.
    pub nulls: bool,
}

/// The statement's cache slots.
pub struct Caches(RefCell<Vec<Option<Cached>>>);

impl Caches {
    fn new(slots: usize) -> Self {
        Caches(RefCell::new(vec![None; slots]))
    }

    /// What a slot holds.
    pub fn load(&self, slot: usize) -> Option<Cached> {
        self.0.borrow().get(slot).cloned().flatten()
    }

    /// Fills a slot.
    pub fn store(&self, slot: usize, value: Cached) {
        let mut slots = self.0.borrow_mut();
        if slot >= slots.len() {
            slots.resize(slot + 1, None);
        }
        if let Some(place) = slots.get_mut(slot) {
            *place = Some(value);
        }
    }

    /// Empties a slot, and gives what it held.
    pub fn take(&self, slot: usize) -> Option<Cached> {
        self.0.borrow_mut().get_mut(slot).and_then(Option::take)
    }
}
