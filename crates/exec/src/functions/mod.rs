//! Functions and operators: each written once over native values with PostgreSQL's semantics, registered by its `prosrc`.
//!
//! `pg_proc` and `pg_operator` (captured, `catalog::pg`) say which exist and how calls resolve; this registry says what runs. A
//! function that PostgreSQL has and this registry lacks raises 0A000 when a call is bound.

use crate::bound::SqlType;
use crate::environment::Environment;
use catalog::pg::{Proc, ProcKind};
use catalog::types::Type;
use catalog::{Arena, Datum, Result, SqlError, Style};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;

mod aggregate;
mod array;
mod binary;
mod boolean;
#[cfg(test)]
mod captured;
mod cast;
mod compare;
pub mod datetime;
pub mod definitions;
mod float;
mod information_schema;
mod int;
pub mod io;
mod json;
mod json_build;
pub mod keywords;
mod locks;
mod math;
mod numeric;
mod numeric_aggregate;
mod pattern;
pub mod reg;
mod regex_syntax;
mod regexp;
mod sequence;
mod set;
mod show;
mod statistics;
pub mod string;
pub mod system;
mod to_char_date;
mod to_char_number;
mod uuid;
mod window;

/// What an evaluation can reach. Made once per execution; the arena is reset by whoever drives the rows.
#[derive(Clone, Copy)]
pub struct EvalContext<'a> {
    /// Where results go.
    pub arena: &'a Arena,
    /// Print and read styles.
    pub style: &'a Style,
    /// The session: clock, names, sequences, settings.
    pub env: &'a dyn Environment,
}

/// The types of a call, for functions that are polymorphic or take "any".
#[derive(Clone, Debug, PartialEq)]
pub struct CallTypes {
    /// Types of the actual arguments.
    pub args: Vec<SqlType>,
    /// Result type.
    pub result: SqlType,
}

/// A scalar function. Strict ones (by pg_proc) are never called with a NULL argument.
pub type ScalarFn = for<'a> fn(&EvalContext<'a>, &CallTypes, &[Datum<'a>]) -> Result<Datum<'a>>;

/// The consumer of a set-returning function's rows (one value per output column); `Break` stops.
pub type Emit<'e> = dyn FnMut(&[Datum<'_>]) -> Result<ControlFlow<()>> + 'e;

/// A set-returning function: calls `emit` per row. Strict ones are not called with NULLs (the result is empty).
pub type SetFn = fn(&EvalContext<'_>, &CallTypes, &[Datum<'_>], &mut Emit<'_>) -> Result<()>;

/// The state of an aggregate over one group.
pub trait Accumulator: Send {
    /// Takes one row's arguments. The driver has applied FILTER, DISTINCT and ORDER BY, and skipped rows with NULLs for strict transition functions.
    fn add(&mut self, cx: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()>;
    /// The result so far; may be called again after further rows (window frames).
    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>>;
    /// Takes a row out again, if the aggregate can (moving frames); `false` if it cannot.
    fn remove(&mut self, _cx: &EvalContext<'_>, _args: &[Datum<'_>]) -> Result<bool> {
        Ok(false)
    }
    /// Bytes held, for memory accounting.
    fn size(&self) -> usize {
        64
    }
}

/// Makes the state of an aggregate; the datums are the direct arguments of an ordered-set aggregate.
pub type StartFn = fn(&CallTypes, &[Datum<'_>]) -> Result<Box<dyn Accumulator>>;

/// An aggregate function.
#[derive(Clone, Copy)]
pub struct AggregateFn {
    /// A fresh state. `direct` holds the direct arguments of an ordered-set aggregate.
    pub start: StartFn,
    /// Whether rows with a NULL argument are skipped.
    pub strict: bool,
}

/// What a window function sees: the current partition.
pub trait Partition {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Place of the current row.
    fn current(&self) -> usize;
    /// Argument `arg` evaluated at the row at this place.
    fn argument<'a>(&self, cx: &EvalContext<'a>, row: usize, arg: usize) -> Result<Datum<'a>>;
    /// First and one past the last row of the current row's peers.
    fn peers(&self) -> (usize, usize);
    /// Number of peer groups up to and including the current one.
    fn group(&self) -> usize;
    /// Places of the rows in the current frame, in order.
    fn frame(&self) -> Result<Vec<usize>>;
}

/// A window function.
pub type WindowFn = for<'a> fn(&EvalContext<'a>, &CallTypes, &dyn Partition) -> Result<Datum<'a>>;

/// What runs for a row of pg_proc.
#[derive(Clone, Copy)]
pub enum Implementation {
    /// A scalar function.
    Scalar(ScalarFn),
    /// A set-returning function.
    Set(SetFn),
    /// An aggregate.
    Aggregate(AggregateFn),
    /// A window function.
    Window(WindowFn),
}

impl std::fmt::Debug for Implementation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Implementation::Scalar(_) => "Scalar",
            Implementation::Set(_) => "Set",
            Implementation::Aggregate(_) => "Aggregate",
            Implementation::Window(_) => "Window",
        })
    }
}

/// A line of a family's table: `prosrc` and what runs.
type Entry = (&'static str, Implementation);

/// Names in the families' tables: a scalar function.
const fn scalar(function: ScalarFn) -> Implementation {
    Implementation::Scalar(function)
}

/// Names in the families' tables: a set-returning function.
const fn set(function: SetFn) -> Implementation {
    Implementation::Set(function)
}

/// The families by `prosrc`. Functions in LANGUAGE sql and aggregates, whose `prosrc` is no name, are found by OID or name.
static FAMILIES: &[&[Entry]] = &[
    int::FUNCTIONS,
    float::FUNCTIONS,
    boolean::FUNCTIONS,
    compare::FUNCTIONS,
    cast::FUNCTIONS,
    string::FUNCTIONS,
    pattern::FUNCTIONS,
    set::FUNCTIONS,
    window::FUNCTIONS,
    sequence::FUNCTIONS,
    system::FUNCTIONS,
    keywords::FUNCTIONS,
    numeric::FUNCTIONS,
    math::FUNCTIONS,
    locks::FUNCTIONS,
    information_schema::FUNCTIONS,
    to_char_date::FUNCTIONS,
    to_char_number::FUNCTIONS,
    datetime::FUNCTIONS,
    datetime::DATE_TIMESTAMP,
    datetime::DATE_TIMESTAMPTZ,
    datetime::TIMESTAMP_TIMESTAMPTZ,
    json::FUNCTIONS,
    json_build::FUNCTIONS,
    uuid::FUNCTIONS,
    array::FUNCTIONS,
    regexp::FUNCTIONS,
    definitions::FUNCTIONS,
    binary::FUNCTIONS,
    show::FUNCTIONS,
];

static BY_SOURCE: LazyLock<FxHashMap<&'static str, Implementation>> = LazyLock::new(|| {
    let entries = FAMILIES.iter().flat_map(|family| family.iter());
    entries.map(|(source, implementation)| (*source, *implementation)).collect()
});

/// Functions in LANGUAGE sql that are native here, by OID.
static SQL_FAMILIES: &[&[(u32, Implementation)]] = &[
    numeric::SQL_FUNCTIONS,
    string::SQL_FUNCTIONS,
    regexp::SQL_FUNCTIONS,
    datetime::SQL_FUNCTIONS,
    information_schema::SQL_FUNCTIONS,
    definitions::SQL_FUNCTIONS,
];

static BY_OID: LazyLock<FxHashMap<u32, Implementation>> =
    LazyLock::new(|| SQL_FAMILIES.iter().flat_map(|family| family.iter()).copied().collect());

/// The implementation of a function of pg_proc, if there is one.
pub fn find(proc: &Proc) -> Option<Implementation> {
    match proc.kind {
        ProcKind::Aggregate => aggregate::find(proc),
        ProcKind::Function | ProcKind::Window | ProcKind::Procedure => BY_SOURCE
            .get(proc.src.as_str())
            .copied()
            .or_else(|| BY_OID.get(&proc.oid.0).copied())
            .or_else(|| compare::find_generic(proc))
            .or_else(|| definitions::find_family(proc)),
    }
}

/// The implementation of a function of pg_proc; 0A000 if there is none.
pub fn implementation(proc: &Proc) -> Result<Implementation> {
    find(proc).ok_or_else(|| {
        let args: Vec<String> = proc.args.iter().map(|t| crate::bind::type_info::format(*t)).collect();
        SqlError::unsupported(format_args!("function {}({})", proc.name, args.join(", ")))
    })
}

/// The type of a value in a call, known to be implemented because the binder resolved it.
pub fn typ(t: SqlType) -> Result<&'static Type> {
    catalog::types::by_oid(t.oid)
        .ok_or_else(|| SqlError::internal(format!("type {} has no implementation", t.oid)))
}

/// The type of argument `i` of a call.
fn arg_type(types: &CallTypes, i: usize) -> Result<&'static Type> {
    types
        .args
        .get(i)
        .copied()
        .ok_or_else(|| SqlError::internal("a call has too few argument types"))
        .and_then(typ)
}

/// The value of functions that return void.
const VOID: Datum<'static> = Datum::Bytes(b"");

/// A text result, copied into the arena.
fn text<'a>(cx: &EvalContext<'a>, text: &str) -> Datum<'a> {
    Datum::Bytes(cx.arena.bytes(text.as_bytes()))
}
