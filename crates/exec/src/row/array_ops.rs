//! Arrays as expressions need them. Compare `ExecEvalArrayExpr` and `arraysubs.c`.

use super::context::ExecContext;
use super::expr::SubscriptNode;
use catalog::types::array::{
    ArrayRef, Dimension, build_array, check_dimension_count, empty, one_dimensional,
};
use catalog::types::{Type, by_oid};
use catalog::{Datum, Result, SqlError, SqlState};

/// Calls `f` with each element until it says stop.
pub fn for_each<'a>(
    array: Datum<'a>,
    _element: &'static Type,
    mut f: impl FnMut(Datum<'a>) -> Result<bool>,
) -> Result<()> {
    for value in ArrayRef::read(array.as_bytes()).iter() {
        if !f(value)? {
            break;
        }
    }
    Ok(())
}

fn pack<'a>(
    cx: &ExecContext<'a>,
    element: &Type,
    values: &[Datum<'_>],
    dimensions: &[Dimension],
) -> Result<Datum<'a>> {
    let bytes = cx.eval.arena.build(|out| {
        build_array(element, values, dimensions, out);
        Ok::<(), SqlError>(())
    })?;
    Ok(Datum::Bytes(bytes))
}

/// An array of values of one type; `nested` ones are arrays that become a further dimension.
pub fn build<'a>(
    cx: &ExecContext<'a>,
    element: &'static Type,
    values: &[Datum<'a>],
    nested: bool,
) -> Result<Datum<'a>> {
    if !nested {
        return Ok(one_dimensional(element, values, cx.eval.arena));
    }
    let mismatch = || {
        SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "multidimensional arrays must have array expressions with matching dimensions",
        )
    };
    let mut dimensions: Option<Vec<Dimension>> = None;
    let mut inner = Vec::new();
    let (mut count, mut any_empty) = (0, false);
    for value in values {
        let array = match value {
            Datum::Bytes(bytes) => ArrayRef::read(bytes),
            // A NULL array counts as an empty one.
            _ => {
                any_empty = true;
                continue;
            }
        };
        if array.dimensions().is_empty() {
            any_empty = true;
            continue;
        }
        match &dimensions {
            None => dimensions = Some(array.dimensions().to_vec()),
            Some(first) if first.as_slice() != array.dimensions() => return Err(mismatch()),
            Some(_) => {}
        }
        count += 1;
        inner.extend(array.iter());
    }
    let Some(dimensions) = dimensions else { return Ok(empty(element, cx.eval.arena)) };
    if any_empty {
        return Err(mismatch());
    }
    let mut all = vec![Dimension { len: count, lower: 1 }];
    all.extend(dimensions);
    check_dimension_count(all.len())?;
    pack(cx, element, &inner, &all)
}

/// The array with every element replaced.
pub fn map<'a>(
    cx: &ExecContext<'a>,
    array: Datum<'a>,
    _source: &'static Type,
    target: &'static Type,
    mut f: impl FnMut(Datum<'a>) -> Result<Datum<'a>>,
) -> Result<Datum<'a>> {
    let array = ArrayRef::read(array.as_bytes());
    let values = array.iter().map(&mut f).collect::<Result<Vec<_>>>()?;
    pack(cx, target, &values, array.dimensions())
}

/// Applies a modifier to each element of an array; other values stay.
pub fn apply_typmod<'a>(
    cx: &ExecContext<'a>,
    value: Datum<'a>,
    typ: &'static Type,
    typmod: i32,
    explicit: bool,
) -> Result<Datum<'a>> {
    let element = if typ.is_array() { by_oid(typ.element) } else { None };
    let Some((element, apply)) = element.and_then(|e| Some((e, e.apply_typmod?))) else { return Ok(value) };
    if value.is_null() {
        return Ok(value);
    }
    map(cx, value, element, element, |v| match v {
        Datum::Null => Ok(Datum::Null),
        v => apply(v, typmod, explicit, cx.eval.arena),
    })
}

/// `array[i]`, `array[i:j]`. A NULL array or subscript gives NULL.
pub fn subscript<'a>(
    cx: &ExecContext<'a>,
    row: &[Datum<'a>],
    array: Datum<'a>,
    subscripts: &'a [SubscriptNode],
    _element: &'static Type,
) -> Result<Datum<'a>> {
    if array.is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::read(array.as_bytes());
    let (mut indexes, mut slices) = ([0i32; 6], [(None, None); 6]);
    let mut sliced = false;
    if subscripts.len() > indexes.len() {
        check_dimension_count(subscripts.len())?;
    }
    for ((subscript, index), slice) in subscripts.iter().zip(&mut indexes).zip(&mut slices) {
        match subscript {
            SubscriptNode::Index(e) => match e.eval(cx, row)? {
                Datum::Int(v) => *index = v as i32,
                _ => return Ok(Datum::Null),
            },
            SubscriptNode::Slice(low, high) => {
                sliced = true;
                for (e, bound) in [(low, &mut slice.0), (high, &mut slice.1)] {
                    if let Some(e) = e {
                        match e.eval(cx, row)? {
                            Datum::Int(v) => *bound = Some(v as i32),
                            _ => return Ok(Datum::Null),
                        }
                    }
                }
            }
        }
    }
    if sliced {
        return Ok(array.slice(slices.get(..subscripts.len()).unwrap_or_default(), cx.eval.arena));
    }
    Ok(array.at(indexes.get(..subscripts.len()).unwrap_or_default()))
}
