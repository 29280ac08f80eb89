//! Key ranges at execution: bounds become bytes.

use super::array_ops;
use super::context::ExecContext;
use super::context::Flow;
use crate::plan::node::{Coercion, KeyBound, KeyEqual, KeyRange, KeySpan};
use catalog::key::{KeyColumn, VALUE, prefix_end};
use catalog::{Datum, Result};
use std::ops::{Bound, ControlFlow};
use storage::Direction;

/// One piece of a key range.
pub enum Piece<'k> {
    /// One key.
    Point(&'k [u8]),
    /// All keys between.
    Span(Bound<&'k [u8]>, Bound<&'k [u8]>),
}

/// A value as a key column takes it; `Err` says on which side of all values of the type it lies.
fn coerce(value: Datum<'_>, coercion: Coercion) -> Result<Datum<'_>, std::cmp::Ordering> {
    match (coercion, value) {
        (Coercion::Int(low, _), Datum::Int(v)) if v < low => Err(std::cmp::Ordering::Less),
        (Coercion::Int(_, high), Datum::Int(v)) if v > high => Err(std::cmp::Ordering::Greater),
        _ => Ok(value),
    }
}

/// Calls `f` for each piece of the range, in the order of the walk. NULL in a condition gives no piece at all.
pub fn for_each(
    range: &KeyRange,
    cx: &ExecContext<'_>,
    f: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
) -> Result<Flow> {
    let single = range.equal.iter().all(|e| matches!(e, KeyEqual::Value(..) | KeyEqual::Null));
    if single {
        let mut prefix = Vec::with_capacity(48);
        for (e, column) in range.equal.iter().zip(range.columns.iter()) {
            match e {
                KeyEqual::Value(e, coercion) => {
                    let value = e.eval(cx, &[])?;
                    match coerce(value, *coercion) {
                        Ok(value) if !value.is_null() => column.encode(value, &mut prefix),
                        _ => return Ok(ControlFlow::Continue(())),
                    }
                }
                KeyEqual::Null => column.encode(Datum::Null, &mut prefix),
                KeyEqual::List(..) | KeyEqual::Array(..) => {}
            }
        }
        return piece(range, cx, prefix, f);
    }
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    for (e, column) in range.equal.iter().zip(range.columns.iter()) {
        let mut encoded: Vec<Vec<u8>> = Vec::new();
        let mut add = |value: Datum<'_>, coercion: Coercion| {
            if let Ok(value) = coerce(value, coercion)
                && !value.is_null()
            {
                let mut bytes = Vec::with_capacity(16);
                column.encode(value, &mut bytes);
                encoded.push(bytes);
            }
        };
        match e {
            KeyEqual::Value(e, coercion) => add(e.eval(cx, &[])?, *coercion),
            KeyEqual::List(list, coercion) => {
                for e in list {
                    add(e.eval(cx, &[])?, *coercion);
                }
            }
            KeyEqual::Array(e, element, coercion) => {
                let array = e.eval(cx, &[])?;
                if !array.is_null() {
                    array_ops::for_each(array, element, |value| {
                        add(value, *coercion);
                        Ok(true)
                    })?;
                }
            }
            KeyEqual::Null => {
                let mut bytes = Vec::with_capacity(1);
                column.encode(Datum::Null, &mut bytes);
                encoded.push(bytes);
            }
        }
        encoded.sort_unstable();
        encoded.dedup();
        prefixes = prefixes
            .iter()
            .flat_map(|p| encoded.iter().map(move |e| [p.as_slice(), e.as_slice()].concat()))
            .collect();
    }
    if range.direction == Direction::Backward {
        prefixes.reverse();
    }
    for prefix in prefixes {
        if piece(range, cx, prefix, f)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn piece(
    range: &KeyRange,
    cx: &ExecContext<'_>,
    prefix: Vec<u8>,
    f: &mut dyn FnMut(Piece<'_>) -> Result<Flow>,
) -> Result<Flow> {
    if range.point {
        return f(Piece::Point(&prefix));
    }
    if range.spans.is_empty() {
        let end = prefix_end(&prefix);
        let end = match (&end, prefix.is_empty()) {
            (Some(end), false) => Bound::Excluded(end.as_slice()),
            _ => Bound::Unbounded,
        };
        return f(Piece::Span(Bound::Included(&prefix), end));
    }
    let Some(column) = range.columns.get(range.equal.len()) else { return Ok(ControlFlow::Continue(())) };
    if let [only] = &*range.spans {
        return match keys(only, column, &prefix, cx)? {
            Some(keys) => f(keys.piece()),
            None => Ok(ControlFlow::Continue(())),
        };
    }
    let mut all = Vec::with_capacity(range.spans.len());
    for span in &range.spans {
        all.extend(keys(span, column, &prefix, cx)?);
    }
    join_overlapping(&mut all);
    if range.direction == Direction::Backward {
        all.reverse();
    }
    for keys in &all {
        if f(keys.piece())?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Keys from `start` up to but without `end`; to the very end if there is none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Keys {
    start: Vec<u8>,
    end: Option<Vec<u8>>,
}

impl Keys {
    fn piece(&self) -> Piece<'_> {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        Piece::Span(Bound::Included(&self.start), end)
    }
}

/// Brings spans of keys in order and makes one of those that overlap, so that no key is walked twice.
fn join_overlapping(all: &mut Vec<Keys>) {
    all.retain(|keys| keys.end.as_ref().is_none_or(|end| keys.start < *end));
    all.sort_unstable();
    all.dedup_by(|next, before| {
        let overlap = before.end.as_ref().is_none_or(|end| next.start <= *end);
        if overlap {
            before.end = match (before.end.take(), next.end.take()) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            };
        }
        overlap
    });
}

/// The keys of a span behind a prefix; `None` if there can be none.
fn keys(span: &KeySpan, column: &KeyColumn, prefix: &[u8], cx: &ExecContext<'_>) -> Result<Option<Keys>> {
    let lower = side(span.lower.as_ref(), column, prefix, cx, std::cmp::Ordering::Less)?;
    let upper = side(span.upper.as_ref(), column, prefix, cx, std::cmp::Ordering::Greater)?;
    let (lower, upper) = match (lower, upper) {
        (Side::Nothing, _) | (_, Side::Nothing) => return Ok(None),
        pair => pair,
    };
    // In a descending column the greater values come first.
    let (start, end) = if column.desc { (upper, lower) } else { (lower, upper) };
    let marker = |byte: u8| {
        let mut key = prefix.to_vec();
        key.push(byte);
        key
    };
    // NULLs satisfy no comparison: an open side ends with the values.
    let start = match start {
        Side::At(key, true) => key,
        Side::At(key, false) => match prefix_end(&key) {
            Some(key) => key,
            None => return Ok(None),
        },
        Side::Open | Side::Nothing => marker(VALUE),
    };
    let end = match end {
        Side::At(key, true) => prefix_end(&key),
        Side::At(key, false) => Some(key),
        Side::Open | Side::Nothing => Some(marker(VALUE + 1)),
    };
    Ok(Some(Keys { start, end }))
}

enum Side {
    Open,
    Nothing,
    At(Vec<u8>, bool),
}

fn side(
    bound: Option<&KeyBound>,
    column: &KeyColumn,
    prefix: &[u8],
    cx: &ExecContext<'_>,
    open: std::cmp::Ordering,
) -> Result<Side> {
    let Some(bound) = bound else { return Ok(Side::Open) };
    let value = bound.value.eval(cx, &[])?;
    if value.is_null() {
        return Ok(Side::Nothing);
    }
    match coerce(value, bound.coercion) {
        Err(beyond) if beyond == open => Ok(Side::Open),
        Err(_) => Ok(Side::Nothing),
        Ok(value) => {
            let mut key = Vec::with_capacity(prefix.len() + 16);
            key.extend_from_slice(prefix);
            column.encode(value, &mut key);
            Ok(Side::At(key, bound.inclusive))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joined_spans_hold_the_same_keys_each_once(
            spans in prop::collection::vec((0u8..20, prop::option::weighted(0.9, 0u8..20)), 0..8)
        ) {
            let mut joined: Vec<Keys> = spans
                .iter()
                .map(|(start, end)| Keys { start: vec![*start], end: end.map(|end| vec![end]) })
                .collect();
            join_overlapping(&mut joined);
            for key in 0u8..21 {
                let inside = |k: &Keys| k.start <= vec![key] && k.end.as_ref().is_none_or(|end| vec![key] < *end);
                let before = spans.iter().any(|(start, end)| *start <= key && end.is_none_or(|end| key < end));
                prop_assert_eq!(joined.iter().filter(|k| inside(k)).count(), usize::from(before));
            }
            prop_assert!(joined.windows(2).all(|pair| pair[0].end.as_ref().is_some_and(|end| *end < pair[1].start)));
        }
    }
}
