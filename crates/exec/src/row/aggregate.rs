//! Grouping and aggregates, by hashing. Compare PostgreSQL's `nodeAgg.c`.

use super::context::{ExecContext, Flow, Sink};
use super::expr::{PhysicalExpr, eval_list};
use super::hash::HashClass;
use super::rows::RowStore;
use super::run::run;
use super::sort::Sorter;
use crate::functions::Accumulator;
use crate::plan::node::{AggregateExpr, AggregateNode, SortColumn};
use catalog::{Arena, Datum, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// The state of one aggregate in one group.
enum State {
    /// Fed row by row.
    Running(Box<dyn Accumulator>),
    /// With DISTINCT or ORDER BY: the arguments are kept until the end.
    Kept(Box<dyn Accumulator>, RowStore),
}

struct Groups<'p> {
    node: &'p AggregateNode,
    /// One row of key values per group.
    keys: RowStore,
    carried: RowStore,
    sets: Vec<usize>,
    states: Vec<State>,
}

/// Runs an aggregation.
pub fn run_aggregate(node: &AggregateNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let mut groups = Groups {
        node,
        keys: RowStore::new(node.keys.len()),
        carried: RowStore::new(node.carried.len()),
        sets: Vec::new(),
        states: Vec::new(),
    };
    if node.keys.is_empty() && node.sets.is_none() {
        let mut empty = true;
        groups.start(0, &[], cx)?;
        let _ = run(&node.input, cx, &mut |icx, row| {
            if empty {
                empty = false;
                groups.carry(icx, row)?;
            }
            groups.add(0, icx, row)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if empty {
            groups.carried.push(&vec![Datum::Null; node.carried.len()]);
        }
        return groups.push(cx, out);
    }
    let sets = match &node.sets {
        Some(sets) => sets.iter().map(|s| s.to_vec()).collect(),
        None => vec![(0..node.keys.len()).collect::<Vec<usize>>()],
    };
    let single_int = match (&*node.keys, sets.len()) {
        ([(_, HashClass::Int)], 1) => node.sets.is_none(),
        _ => false,
    };
    let mut ints: FxHashMap<i64, usize> = FxHashMap::default();
    let mut places: FxHashMap<Box<[u8]>, usize> = FxHashMap::default();
    let mut key = Vec::with_capacity(32);
    let _ = run(&node.input, cx, &mut |icx, row| {
        let values = icx.eval.arena.slice_with(node.keys.len(), |_| Datum::Null);
        for (value, (e, _)) in values.iter_mut().zip(&node.keys) {
            *value = e.eval(icx, row)?;
        }
        if single_int && let Some(Datum::Int(v)) = values.first() {
            let place = match ints.get(v) {
                Some(place) => *place,
                None => {
                    let place = groups.start(0, values, icx)?;
                    groups.carry(icx, row)?;
                    ints.insert(*v, place);
                    place
                }
            };
            groups.add(place, icx, row)?;
            return Ok(ControlFlow::Continue(()));
        }
        for (number, set) in sets.iter().enumerate() {
            key.clear();
            if sets.len() > 1 {
                key.extend_from_slice(&(number as u32).to_ne_bytes());
            }
            for i in set {
                if let (Some(value), Some((_, class))) = (values.get(*i), node.keys.get(*i)) {
                    class.encode(*value, &mut key);
                }
            }
            let place = match places.get(key.as_slice()) {
                Some(place) => *place,
                None => {
                    let place = if set.len() == values.len() {
                        groups.start(number, values, icx)?
                    } else {
                        let kept = icx.eval.arena.slice_with(values.len(), |i| match set.contains(&i) {
                            true => values.get(i).copied().unwrap_or(Datum::Null),
                            false => Datum::Null,
                        });
                        groups.start(number, kept, icx)?
                    };
                    groups.carry(icx, row)?;
                    places.insert(key.as_slice().into(), place);
                    place
                }
            };
            groups.add(place, icx, row)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    // An empty grouping set has its one group even without rows.
    for (number, set) in sets.iter().enumerate() {
        if set.is_empty() && !groups.sets.contains(&number) {
            groups.start(number, &vec![Datum::Null; node.keys.len()], cx)?;
            groups.carried.push(&vec![Datum::Null; node.carried.len()]);
        }
    }
    groups.push(cx, out)
}

/// A fresh accumulator of a call, its direct arguments evaluated over `row`.
pub fn start<'a>(
    call: &'a AggregateExpr,
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
) -> Result<Box<dyn Accumulator>> {
    let direct = eval_list(&call.direct, cx, row)?;
    (call.function.0.start)(&call.types, direct)
}

impl<'p> Groups<'p> {
    fn start(&mut self, set: usize, keys: &[Datum<'_>], cx: &ExecContext<'_>) -> Result<usize> {
        self.keys.push(keys);
        self.sets.push(set);
        for call in &self.node.aggregates {
            // Direct arguments may use grouping keys only, which PostgreSQL evaluates per group; ours are constants or keys.
            let accumulator = start(call, cx, &[])?;
            self.states.push(if call.order.is_empty() && call.distinct.is_none() {
                State::Running(accumulator)
            } else {
                State::Kept(accumulator, RowStore::new(call.args.len() + call.order.len()))
            });
        }
        Ok(self.sets.len() - 1)
    }

    fn carry<'x>(&mut self, cx: &ExecContext<'x>, row: &[Datum<'x>]) -> Result<()>
    where
        'p: 'x,
    {
        if !self.node.carried.is_empty() {
            self.carried.push(eval_list(&self.node.carried, cx, row)?);
        }
        Ok(())
    }

    #[inline]
    fn add<'x>(&mut self, group: usize, cx: &ExecContext<'x>, row: &[Datum<'x>]) -> Result<()>
    where
        'p: 'x,
    {
        let node: &'p AggregateNode = self.node;
        let count = node.aggregates.len();
        let states = self.states.get_mut(group * count..(group + 1) * count).unwrap_or_default();
        for (call, state) in node.aggregates.iter().zip(states) {
            if let Some(filter) = &call.filter
                && !filter.is_true(cx, row)?
            {
                continue;
            }
            match state {
                State::Running(accumulator) => feed(call, accumulator.as_mut(), cx, row)?,
                State::Kept(_, rows) => {
                    let args = cx.eval.arena.slice_with(call.args.len() + call.order.len(), |_| Datum::Null);
                    let exprs = call.args.iter().chain(call.order.iter().map(|(e, _)| e));
                    for (value, e) in args.iter_mut().zip(exprs) {
                        *value = e.eval(cx, row)?;
                    }
                    let nulls = args.iter().take(call.args.len()).any(Datum::is_null);
                    if !(call.function.0.strict && nulls) {
                        rows.push(args);
                    }
                }
            }
        }
        Ok(())
    }

    fn push(mut self, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
        let node = self.node;
        let count = node.aggregates.len();
        let keys = node.keys.len();
        let mut arena = Arena::new();
        for group in 0..self.sets.len() {
            cx.statement.tick()?;
            {
                let inner = cx.with_arena(&arena);
                let row = inner.eval.arena.slice_with(node.width(), |_| Datum::Null);
                for (i, slot) in row.iter_mut().take(keys).enumerate() {
                    *slot = self.keys.value(group, i);
                }
                let states = self.states.get_mut(group * count..(group + 1) * count).unwrap_or_default();
                for (i, (call, state)) in node.aggregates.iter().zip(states).enumerate() {
                    let value = match state {
                        State::Running(accumulator) => accumulator.finish(&inner.eval)?,
                        State::Kept(accumulator, rows) => {
                            feed_kept(call, accumulator.as_mut(), rows, cx)?;
                            accumulator.finish(&inner.eval)?
                        }
                    };
                    if let Some(slot) = row.get_mut(keys + i) {
                        *slot = value;
                    }
                }
                for i in 0..node.carried.len() {
                    if let Some(slot) = row.get_mut(keys + count + i) {
                        *slot = self.carried.value(group, i);
                    }
                }
                let set = self.sets.get(group).copied().unwrap_or(0);
                let mask = match node.sets.as_ref().and_then(|sets| sets.get(set)) {
                    Some(set) => (0..keys).filter(|k| !set.contains(k)).fold(0i64, |m, k| m | 1 << (k & 63)),
                    None => 0,
                };
                if let Some(slot) = row.last_mut() {
                    *slot = Datum::Int(mask);
                }
                if out(&inner, row)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            arena.reset();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Feeds one row's arguments.
#[inline]
fn feed<'x>(
    call: &'x AggregateExpr,
    accumulator: &mut dyn Accumulator,
    cx: &ExecContext<'x>,
    row: &[Datum<'x>],
) -> Result<()> {
    match &*call.args {
        [] => accumulator.add(&cx.eval, &[]),
        [PhysicalExpr::Slot(slot)] => {
            let value = row.get(*slot).copied().unwrap_or(Datum::Null);
            if call.function.0.strict && value.is_null() {
                return Ok(());
            }
            accumulator.add(&cx.eval, &[value])
        }
        [arg] => {
            let value = arg.eval(cx, row)?;
            if call.function.0.strict && value.is_null() {
                return Ok(());
            }
            accumulator.add(&cx.eval, &[value])
        }
        list => {
            let args = eval_list(list, cx, row)?;
            if call.function.0.strict && args.iter().any(Datum::is_null) {
                return Ok(());
            }
            accumulator.add(&cx.eval, args)
        }
    }
}

/// Feeds the kept rows: sorted, and without duplicates.
fn feed_kept(
    call: &AggregateExpr,
    accumulator: &mut dyn Accumulator,
    rows: &RowStore,
    cx: &ExecContext<'_>,
) -> Result<()> {
    let columns: Vec<SortColumn> = call.order.iter().map(|(_, c)| c.clone()).collect();
    let mut sorter = Sorter::new(&columns, rows.width(), None);
    let mut row = Vec::with_capacity(rows.width());
    for i in 0..rows.len() {
        row.clear();
        rows.read(i, &mut row);
        sorter.push(&row);
    }
    drop(row);
    let mut seen: FxHashSet<Box<[u8]>> = FxHashSet::default();
    let mut key = Vec::new();
    let mut arena = Arena::new();
    let args = call.args.len();
    for i in sorter.order() {
        {
            let inner = cx.with_arena(&arena);
            let values = inner.eval.arena.slice_with(args, |c| sorter.rows().value(i as usize, c));
            let mut fresh = true;
            if let Some(classes) = &call.distinct {
                key.clear();
                for (value, class) in values.iter().zip(classes) {
                    class.encode(*value, &mut key);
                }
                fresh = seen.insert(key.as_slice().into());
            }
            if fresh {
                accumulator.add(&inner.eval, values)?;
            }
        }
        arena.reset();
    }
    Ok(())
}
