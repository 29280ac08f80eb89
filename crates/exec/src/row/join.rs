//! Joins: nested loops and hash joins of all kinds.

use super::context::{ExecContext, Flow, Frame, Sink};
use super::expr::PhysicalExpr;
use super::hash::HashClass;
use super::rows::RowStore;
use super::run::{collect, run};
use crate::plan::node::{HashJoinNode, JoinType, NestedLoopNode, PlanKind};
use catalog::{Arena, Datum, Result};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

const CONTINUE: Flow = ControlFlow::Continue(());
const BREAK: Flow = ControlFlow::Break(());

/// `left ++ right` in the arena.
fn concat<'a>(arena: &'a Arena, left: &[Datum<'a>], right: &[Datum<'a>]) -> &'a [Datum<'a>] {
    let split = left.len();
    arena.slice_with(split + right.len(), |i| {
        let value = if i < split { left.get(i) } else { right.get(i - split) };
        value.copied().unwrap_or(Datum::Null)
    })
}

/// `left ++ NULLs`.
fn padded<'a>(arena: &'a Arena, left: &[Datum<'a>], width: usize) -> &'a [Datum<'a>] {
    arena.slice_with(left.len() + width, |i| left.get(i).copied().unwrap_or(Datum::Null))
}

/// Runs a nested loop.
pub fn nested_loop(node: &NestedLoopNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    if let PlanKind::Unframe { input, pop: 1, slot: None, width } = &node.right.kind {
        return kept_loop(node, input, *width, cx, out);
    }
    run(&node.left, cx, &mut |lcx, left| {
        let frame = Frame { row: left, parent: cx.outer };
        let inner = lcx.with_outer(&frame);
        let mut matched = false;
        let mut consumer = CONTINUE;
        let _ = run(&node.right, &inner, &mut |rcx, right| {
            let jcx = ExecContext { outer: cx.outer, ..*rcx };
            let row = concat(jcx.eval.arena, left, right);
            if let Some(predicate) = &node.predicate
                && !predicate.is_true(&jcx, row)?
            {
                return Ok(CONTINUE);
            }
            matched = true;
            match node.join {
                JoinType::Semi | JoinType::Anti => Ok(BREAK),
                _ => {
                    consumer = out(&jcx, row)?;
                    Ok(consumer)
                }
            }
        })?;
        if consumer.is_break() {
            return Ok(BREAK);
        }
        unmatched(node.join, matched, node.right_width, lcx, left, out)
    })
}

/// What a left row gives besides its matches.
fn unmatched<'x>(
    join: JoinType,
    matched: bool,
    right_width: usize,
    cx: &ExecContext<'x>,
    left: &[Datum<'x>],
    out: &mut Sink<'_>,
) -> Result<Flow> {
    match (join, matched) {
        (JoinType::Left | JoinType::Full, false) => out(cx, padded(cx.eval.arena, left, right_width)),
        (JoinType::Semi, true) | (JoinType::Anti, false) => out(cx, left),
        _ => Ok(CONTINUE),
    }
}

/// A nested loop whose right side does not know the left row: its rows are kept.
fn kept_loop(
    node: &NestedLoopNode,
    input: &crate::plan::node::PlanNode,
    width: usize,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let mut kept: Option<RowStore> = None;
    let mut hits: Vec<bool> = Vec::new();
    let mut left_width = 0;
    let keep_unmatched = matches!(node.join, JoinType::Right | JoinType::Full);
    let mut arena = Arena::new();
    let flow = run(&node.left, cx, &mut |lcx, left| {
        left_width = left.len();
        let rows = match &mut kept {
            Some(rows) => rows,
            None => {
                let rows = collect(input, width, cx)?;
                hits = vec![false; if keep_unmatched { rows.len() } else { 0 }];
                kept.insert(rows)
            }
        };
        let mut matched = false;
        for i in 0..rows.len() {
            cx.statement.tick()?;
            {
                let jcx = lcx.with_arena(&arena);
                let split = left.len();
                let row = jcx.eval.arena.slice_with(split + width, |c| match left.get(c) {
                    Some(value) => *value,
                    None => rows.value(i, c - split),
                });
                let passes = match &node.predicate {
                    Some(predicate) => predicate.is_true(&jcx, row)?,
                    None => true,
                };
                if passes {
                    matched = true;
                    if let Some(hit) = hits.get_mut(i) {
                        *hit = true;
                    }
                    if matches!(node.join, JoinType::Semi | JoinType::Anti) {
                        break;
                    }
                    if out(&jcx, row)?.is_break() {
                        return Ok(BREAK);
                    }
                }
            }
            arena.reset();
        }
        unmatched(node.join, matched, width, lcx, left, out)
    })?;
    if flow.is_break() || !keep_unmatched {
        return Ok(flow);
    }
    let rows = match kept {
        Some(rows) => rows,
        None => {
            let rows = collect(input, width, cx)?;
            hits = vec![false; rows.len()];
            left_width = super::run::width_of(&node.left);
            rows
        }
    };
    push_unmatched(&rows, &hits, left_width, cx, out)
}

/// Right rows without a match, behind NULLs.
fn push_unmatched(
    rows: &RowStore,
    hits: &[bool],
    left_width: usize,
    cx: &ExecContext<'_>,
    out: &mut Sink<'_>,
) -> Result<Flow> {
    let mut arena = Arena::new();
    for i in 0..rows.len() {
        if hits.get(i).copied().unwrap_or(false) {
            continue;
        }
        cx.statement.tick()?;
        let row = arena.slice_with(left_width + rows.width(), |c| {
            if c < left_width { Datum::Null } else { rows.value(i, c - left_width) }
        });
        if out(&cx.with_arena(&arena), row)?.is_break() {
            return Ok(BREAK);
        }
        arena.reset();
    }
    Ok(CONTINUE)
}

/// No further row of a chain.
const END: u32 = u32::MAX;

/// The build side of a hash join.
struct Table {
    rows: RowStore,
    /// The last row of each key.
    heads: Heads,
    /// The row of the same key that came before.
    next: Vec<u32>,
}

/// Chains by key: one integer key has its own map, without bytes.
enum Heads {
    Int(FxHashMap<i64, u32>),
    Bytes(FxHashMap<Box<[u8]>, u32>),
}

fn encode_keys<'a>(
    keys: &'a [PhysicalExpr],
    classes: &[HashClass],
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
    out: &mut Vec<u8>,
) -> Result<bool> {
    out.clear();
    for (key, class) in keys.iter().zip(classes) {
        let value = key.eval(cx, row)?;
        if value.is_null() {
            return Ok(false);
        }
        class.encode(value, out);
    }
    Ok(true)
}

fn build(node: &HashJoinNode, cx: &ExecContext<'_>) -> Result<Table> {
    let int = matches!(&*node.classes, [HashClass::Int]);
    let mut table = Table {
        rows: RowStore::new(node.right_width),
        heads: if int { Heads::Int(FxHashMap::default()) } else { Heads::Bytes(FxHashMap::default()) },
        next: Vec::new(),
    };
    let keep_unmatched = matches!(node.join, JoinType::Right | JoinType::Full);
    let mut key = Vec::with_capacity(32);
    let _ = run(&node.right, cx, &mut |rcx, row| {
        let place = table.rows.len() as u32;
        let before = match &mut table.heads {
            Heads::Int(heads) => match node.right_keys.first().map(|k| k.eval(rcx, row)).transpose()? {
                Some(Datum::Int(v)) => heads.insert(v, place),
                Some(Datum::Bool(v)) => heads.insert(v.into(), place),
                // A NULL equals nothing.
                _ if keep_unmatched => None,
                _ => return Ok(CONTINUE),
            },
            Heads::Bytes(heads) => {
                if !encode_keys(&node.right_keys, &node.classes, rcx, row, &mut key)? {
                    if !keep_unmatched {
                        return Ok(CONTINUE);
                    }
                    None
                } else if let Some(head) = heads.get_mut(key.as_slice()) {
                    Some(std::mem::replace(head, place))
                } else {
                    heads.insert(key.as_slice().into(), place);
                    None
                }
            }
        };
        table.rows.push(row);
        table.next.push(before.unwrap_or(END));
        Ok(CONTINUE)
    })?;
    // Chains run from the last row to the first: turned around, so that matches come in the order of the right side.
    if matches!(node.join, JoinType::Semi | JoinType::Anti) {
        return Ok(table);
    }
    let mut turned = vec![END; table.next.len()];
    let turn = |head: &mut u32| {
        let (mut at, mut after) = (*head, END);
        while at != END {
            let before = table.next.get(at as usize).copied().unwrap_or(END);
            if let Some(place) = turned.get_mut(at as usize) {
                *place = after;
            }
            after = at;
            at = before;
        }
        *head = after;
    };
    match &mut table.heads {
        Heads::Int(heads) => heads.values_mut().for_each(turn),
        Heads::Bytes(heads) => heads.values_mut().for_each(turn),
    }
    table.next = turned;
    Ok(table)
}

/// Runs a hash join.
pub fn hash_join(node: &HashJoinNode, cx: &ExecContext<'_>, out: &mut Sink<'_>) -> Result<Flow> {
    let table = build(node, cx)?;
    let keep_unmatched = matches!(node.join, JoinType::Right | JoinType::Full);
    // Without right rows most joins have no rows either.
    if table.rows.is_empty() && matches!(node.join, JoinType::Inner | JoinType::Semi | JoinType::Right) {
        return Ok(CONTINUE);
    }
    let mut hits = vec![false; if keep_unmatched { table.rows.len() } else { 0 }];
    let mut key = Vec::with_capacity(32);
    let width = node.right_width;
    let mut arena = Arena::new();
    let flow = run(&node.left, cx, &mut |lcx, left| {
        let head = match &table.heads {
            Heads::Int(heads) => match node.left_keys.first().map(|k| k.eval(lcx, left)).transpose()? {
                Some(Datum::Int(v)) => heads.get(&v).copied(),
                Some(Datum::Bool(v)) => heads.get(&i64::from(v)).copied(),
                _ => None,
            },
            Heads::Bytes(heads) => match encode_keys(&node.left_keys, &node.classes, lcx, left, &mut key)? {
                true => heads.get(key.as_slice()).copied(),
                false => None,
            },
        };
        let mut matched = false;
        let mut at = head.unwrap_or(END);
        while at != END {
            let i = at as usize;
            at = table.next.get(i).copied().unwrap_or(END);
            cx.statement.tick()?;
            {
                let jcx = lcx.with_arena(&arena);
                let split = left.len();
                let row = jcx.eval.arena.slice_with(split + width, |c| match left.get(c) {
                    Some(value) => *value,
                    None => table.rows.value(i, c - split),
                });
                let passes = match &node.predicate {
                    Some(predicate) => predicate.is_true(&jcx, row)?,
                    None => true,
                };
                if passes {
                    matched = true;
                    if let Some(hit) = hits.get_mut(i) {
                        *hit = true;
                    }
                    if matches!(node.join, JoinType::Semi | JoinType::Anti) {
                        break;
                    }
                    if out(&jcx, row)?.is_break() {
                        return Ok(BREAK);
                    }
                }
            }
            arena.reset();
        }
        unmatched(node.join, matched, width, lcx, left, out)
    })?;
    if flow.is_break() || !keep_unmatched {
        return Ok(flow);
    }
    push_unmatched(&table.rows, &hits, node.left_width, cx, out)
}
