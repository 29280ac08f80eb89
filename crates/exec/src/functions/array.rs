//! Functions of arrays. Compare `array_userfuncs.c`, the second half of `arrayfuncs.c`, and the array part of `varlena.c`.

use super::aggregate::aggregate;
use super::string::{invalid, split_text};
use super::{
    Accumulator, AggregateFn, CallTypes, Emit, Entry, EvalContext, Implementation, io, reg, scalar, set,
};
use crate::bind::type_info::element_of;
use catalog::types::array::{ArrayRef, Dimension, build_array, element_count, one_dimensional};
use catalog::types::{Type, by_oid, oid};
use catalog::{Datum, Oid, Result, SqlError, SqlState, Value};
use std::cmp::Ordering;

fn subscript_error(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn null_error(message: &str) -> SqlError {
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

fn unsupported(message: &str) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// A text array of one dimension.
pub(super) fn text_array<'a>(cx: &EvalContext<'a>, values: &[Datum<'_>]) -> Datum<'a> {
    one_dimensional(&catalog::types::text::TEXT, values, cx.arena)
}

/// An array of one dimension over a type that is implemented.
pub(super) fn from_values<'a>(cx: &EvalContext<'a>, element: Oid, values: &[Datum<'_>]) -> Datum<'a> {
    by_oid(element).map_or(Datum::Null, |typ| one_dimensional(typ, values, cx.arena))
}

/// The elements of an array, in row-major order.
pub(super) fn elements(array: Datum<'_>) -> Vec<Datum<'_>> {
    ArrayRef::read(array.as_bytes()).iter().collect()
}

fn build<'a>(
    cx: &EvalContext<'a>,
    element: &Type,
    values: &[Datum<'_>],
    dimensions: &[Dimension],
) -> Result<Datum<'a>> {
    element_count(dimensions)?;
    let bytes = cx.arena.build(|out| {
        build_array(element, values, dimensions, out);
        Ok::<(), SqlError>(())
    })?;
    Ok(Datum::Bytes(bytes))
}

/// The element type of a call's array result.
fn result_element(types: &CallTypes) -> Result<&'static Type> {
    by_oid(element_of(types.result.oid))
        .ok_or_else(|| SqlError::internal("an array result has an element type"))
}

/// array_append and array_prepend.
fn push<'a>(
    cx: &EvalContext<'a>,
    types: &CallTypes,
    array: Datum<'a>,
    value: Datum<'a>,
    front: bool,
) -> Result<Datum<'a>> {
    let element = result_element(types)?;
    let (mut values, lower) = match array {
        Datum::Null => (Vec::new(), 1),
        array => {
            let array = ArrayRef::read(array.as_bytes());
            match array.dimensions() {
                [] => (Vec::new(), 1),
                [one] => (array.iter().collect(), one.lower),
                _ => {
                    let message = "argument must be empty or one-dimensional array";
                    return Err(SqlError::new(SqlState::DATA_EXCEPTION, message));
                }
            }
        }
    };
    if front {
        values.insert(0, value);
    } else {
        values.push(value);
    }
    let len = i32::try_from(values.len()).map_err(|_| SqlError::out_of_range("integer"))?;
    build(cx, element, &values, &[Dimension { len, lower }])
}

/// array_cat: joins arrays of equal dimensions, or one to the elements of the other.
fn concatenate<'a>(cx: &EvalContext<'a>, a: Datum<'a>, b: Datum<'a>) -> Result<Datum<'a>> {
    if a.is_null() || b.is_null() {
        return Ok(if a.is_null() { b } else { a });
    }
    let (left, right) = (ArrayRef::read(a.as_bytes()), ArrayRef::read(b.as_bytes()));
    let (l, r) = (left.dimensions(), right.dimensions());
    if l.is_empty() && !r.is_empty() {
        return Ok(b);
    }
    if r.is_empty() {
        return Ok(a);
    }
    let incompatible =
        |detail: String| Err(subscript_error("cannot concatenate incompatible arrays").detail(detail));
    let same = |x: &[Dimension], y: &[Dimension]| x == y;
    let dimensions = match l.len() as i32 - r.len() as i32 {
        0 => {
            if !same(&l[1..], &r[1..]) {
                return incompatible(
                    "Arrays with differing element dimensions are not compatible for concatenation."
                        .to_owned(),
                );
            }
            let mut dimensions = l.to_vec();
            dimensions[0].len += r[0].len;
            dimensions
        }
        1 => {
            if !same(&l[1..], r) {
                return incompatible(
                    "Arrays with differing dimensions are not compatible for concatenation.".to_owned(),
                );
            }
            let mut dimensions = l.to_vec();
            dimensions[0].len += 1;
            dimensions
        }
        -1 => {
            if !same(l, &r[1..]) {
                return incompatible(
                    "Arrays with differing dimensions are not compatible for concatenation.".to_owned(),
                );
            }
            let mut dimensions = r.to_vec();
            dimensions[0].len += 1;
            dimensions
        }
        _ => {
            return incompatible(format!(
                "Arrays of {} and {} dimensions are not compatible for concatenation.",
                l.len(),
                r.len()
            ));
        }
    };
    let values: Vec<Datum<'_>> = left.iter().chain(right.iter()).collect();
    build(cx, left.element_type(), &values, &dimensions)
}

fn equal(element: &Type, a: Datum<'_>, b: Datum<'_>) -> bool {
    match (a.is_null(), b.is_null()) {
        (true, true) => true,
        (false, false) => (element.compare)(a, b).is_eq(),
        _ => false,
    }
}

fn has(array: &ArrayRef<'_>, value: Datum<'_>) -> bool {
    array.iter().any(|e| !e.is_null() && (array.element_type().compare)(e, value).is_eq())
}

/// Whether all elements of `part` are in `whole`; a NULL is in none (`array_contain_compare`).
fn contains(whole: Datum<'_>, part: Datum<'_>) -> bool {
    let whole = ArrayRef::read(whole.as_bytes());
    ArrayRef::read(part.as_bytes()).iter().all(|e| !e.is_null() && has(&whole, e))
}

fn overlaps(a: Datum<'_>, b: Datum<'_>) -> bool {
    let b = ArrayRef::read(b.as_bytes());
    ArrayRef::read(a.as_bytes()).iter().any(|e| !e.is_null() && has(&b, e))
}

fn dimension(array: Datum<'_>, number: Datum<'_>) -> Option<Dimension> {
    let place = usize::try_from(number.as_int() - 1).ok()?;
    ArrayRef::read(array.as_bytes()).dimensions().get(place).copied()
}

fn or_null<'a>(value: Option<i64>) -> Datum<'a> {
    value.map_or(Datum::Null, Datum::Int)
}

fn one_dimension<'a>(array: &ArrayRef<'a>, what: &str) -> Result<i32> {
    match array.dimensions() {
        [] => Ok(1),
        [one] => Ok(one.lower),
        _ => Err(unsupported(&format!("{what} in multidimensional arrays is not supported"))),
    }
}

/// array_position: the first subscript from `start` on whose element is not distinct from the value.
fn position(a: &[Datum<'_>]) -> Result<Option<i64>> {
    if a[0].is_null() {
        return Ok(None);
    }
    let array = ArrayRef::read(a[0].as_bytes());
    let lower = one_dimension(&array, "searching for elements")?;
    let start = match a.get(2) {
        None => i64::from(lower),
        Some(Datum::Null) => return Err(null_error("initial position must not be null")),
        Some(start) => start.as_int(),
    };
    let places = array.iter().zip(i64::from(lower)..);
    let mut found =
        places.filter(|(e, place)| *place >= start && equal(array.element_type(), *e, a[1])).map(|(_, p)| p);
    Ok(found.next())
}

fn positions<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::read(a[0].as_bytes());
    let lower = one_dimension(&array, "searching for elements")?;
    let places = array.iter().zip(i64::from(lower)..);
    let found: Vec<Datum<'_>> =
        places.filter(|(e, _)| equal(array.element_type(), *e, a[1])).map(|(_, p)| Datum::Int(p)).collect();
    Ok(from_values(cx, oid::INT4, &found))
}

fn remove<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::read(a[0].as_bytes());
    if array.dimensions().len() > 1 {
        return Err(unsupported("removing elements from multidimensional arrays is not supported"));
    }
    let kept: Vec<Datum<'_>> = array.iter().filter(|e| !equal(array.element_type(), *e, a[1])).collect();
    if kept.len() == array.len() {
        return Ok(a[0]);
    }
    let lower = array.dimensions().first().map_or(1, |d| d.lower);
    match i32::try_from(kept.len()) {
        Ok(0) | Err(_) => build(cx, array.element_type(), &[], &[]),
        Ok(len) => build(cx, array.element_type(), &kept, &[Dimension { len, lower }]),
    }
}

fn replace<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::read(a[0].as_bytes());
    let values: Vec<Datum<'a>> =
        array.iter().map(|e| if equal(array.element_type(), e, a[1]) { a[2] } else { e }).collect();
    build(cx, array.element_type(), &values, array.dimensions())
}

/// array_fill(value, lengths, lower bounds)
fn fill<'a>(cx: &EvalContext<'a>, types: &CallTypes, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[1..].iter().any(Datum::is_null) {
        return Err(null_error("dimension array or low bound array cannot be null"));
    }
    let list = |d: Datum<'a>, what: &str| -> Result<Vec<i32>> {
        let array = ArrayRef::read(d.as_bytes());
        if array.dimensions().len() > 1 {
            return Err(subscript_error("wrong number of array subscripts")
                .detail(format!("{what} array must be one dimensional.")));
        }
        if array.has_nulls() {
            return Err(null_error("dimension values cannot be null"));
        }
        Ok(array.iter().map(|d| d.as_int() as i32).collect())
    };
    let lengths = list(a[1], "Dimension")?;
    let lowers = match a.get(2) {
        Some(lowers) => list(*lowers, "Low bound")?,
        None => vec![1; lengths.len()],
    };
    if lowers.len() != lengths.len() {
        return Err(subscript_error("wrong number of array subscripts")
            .detail("Low bound array has different size than dimensions array."));
    }
    catalog::types::array::check_dimension_count(lengths.len())?;
    let dimensions: Vec<Dimension> =
        lengths.iter().zip(&lowers).map(|(len, lower)| Dimension { len: *len, lower: *lower }).collect();
    let element = result_element(types)?;
    let count = if dimensions.is_empty() { 0 } else { element_count(&dimensions)? };
    if count == 0 {
        return build(cx, element, &[], &[]);
    }
    build(cx, element, &vec![a[0]; count], &dimensions)
}

fn trim<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let array = ArrayRef::read(a[0].as_bytes());
    let outer = array.dimensions().first().copied().unwrap_or_default();
    let n = a[1].as_int();
    if n < 0 || n > outer.len.into() {
        let message = format!("number of elements to trim must be between 0 and {}", outer.len);
        return Err(subscript_error(&message));
    }
    let upper = i64::from(outer.lower) + i64::from(outer.len) - 1 - n;
    Ok(array.slice(&[(None, Some(upper as i32))], cx.arena))
}

fn to_text<'a>(
    cx: &EvalContext<'a>,
    array: Datum<'a>,
    separator: &str,
    null: Option<&str>,
) -> Result<Datum<'a>> {
    let array = ArrayRef::read(array.as_bytes());
    let typ = array.element_type().oid;
    let joined = cx.arena.build(|out| {
        let mut any = false;
        for element in array.iter() {
            let null = match (element.is_null(), null) {
                (true, None) => continue,
                (true, text) => text,
                (false, _) => None,
            };
            if any {
                out.extend_from_slice(separator.as_bytes());
            }
            any = true;
            match null {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => io::output_to(cx, typ, element, out)?,
            }
        }
        Ok(())
    })?;
    Ok(Datum::Bytes(joined))
}

/// string_to_array and string_to_table: the fields, NULL for those that equal the null text.
fn fields<'a>(a: &[Datum<'a>]) -> Vec<Datum<'a>> {
    let separator = a.get(1).filter(|d| !d.is_null()).map(|d| d.as_str());
    let null = a.get(2).filter(|d| !d.is_null()).map(|d| d.as_str());
    let parts = split_text(a[0].as_str(), separator).into_iter();
    parts.map(|p| if null == Some(p) { Datum::Null } else { Datum::text(p) }).collect()
}

fn text_to_array<'a>(cx: &EvalContext<'a>, a: &[Datum<'a>]) -> Datum<'a> {
    if a[0].is_null() { Datum::Null } else { text_array(cx, &fields(a)) }
}

fn text_to_table(a: &[Datum<'_>], emit: &mut Emit<'_>) -> Result<()> {
    if a[0].is_null() {
        return Ok(());
    }
    for field in fields(a) {
        if emit(&[field])?.is_break() {
            break;
        }
    }
    Ok(())
}

fn subscripts(a: &[Datum<'_>], emit: &mut Emit<'_>) -> Result<()> {
    let Some(d) = dimension(a[0], a[1]) else { return Ok(()) };
    let (first, last) = (i64::from(d.lower), i64::from(d.lower) + i64::from(d.len) - 1);
    let reverse = a.get(2).is_some_and(|d| d.as_bool());
    for i in 0..i64::from(d.len) {
        let subscript = if reverse { last - i } else { first + i };
        if emit(&[Datum::Int(subscript)])?.is_break() {
            break;
        }
    }
    Ok(())
}

/// width_bucket(value, thresholds): how many thresholds are not above the value.
fn width_bucket(a: &[Datum<'_>]) -> Result<i64> {
    let array = ArrayRef::read(a[1].as_bytes());
    if array.dimensions().len() > 1 {
        return Err(subscript_error("thresholds must be one-dimensional array"));
    }
    if array.has_nulls() {
        return Err(null_error("thresholds array must not contain NULLs"));
    }
    let thresholds: Vec<Datum<'_>> = array.iter().collect();
    let compare = array.element_type().compare;
    Ok(thresholds.partition_point(|t| compare(*t, a[0]) != Ordering::Greater) as i64)
}

/// parse_ident(text, strict)
fn parse_identifier<'a>(cx: &EvalContext<'a>, text: &str, strict: bool) -> Result<Datum<'a>> {
    let fail = |detail: String| {
        let error = invalid(format!("string is not a valid identifier: \"{text}\""));
        Err(if detail.is_empty() { error } else { error.detail(detail) })
    };
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    let mut after_dot = false;
    loop {
        let (part, tail) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut part = String::new();
            let mut chars = quoted.char_indices().peekable();
            let mut tail = None;
            while let Some((at, c)) = chars.next() {
                if c != '"' {
                    part.push(c);
                } else if chars.peek().is_some_and(|(_, c)| *c == '"') {
                    chars.next();
                    part.push('"');
                } else {
                    tail = Some(&quoted[at + 1..]);
                    break;
                }
            }
            let Some(tail) = tail else { return fail("String has unclosed double quotes.".into()) };
            if part.is_empty() {
                return fail("Quoted identifier must not be empty.".into());
            }
            (part, tail)
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()) {
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            (rest[..end].to_ascii_lowercase(), &rest[end..])
        } else if rest.starts_with('.') {
            return fail("No valid identifier before \".\".".into());
        } else if after_dot {
            return fail("No valid identifier after \".\".".into());
        } else {
            return fail(String::new());
        };
        parts.push(part);
        rest = tail.trim_start();
        match rest.strip_prefix('.') {
            Some(tail) => {
                after_dot = true;
                rest = tail.trim_start();
            }
            None if rest.is_empty() || !strict => break,
            None => return fail(String::new()),
        }
    }
    let values: Vec<Datum<'_>> = parts.iter().map(|p| Datum::text(p)).collect();
    Ok(text_array(cx, &values))
}

fn search_path<'a>(cx: &EvalContext<'a>, implicit: bool) -> Datum<'a> {
    let names: Vec<String> =
        cx.env.search_path(implicit).into_iter().filter_map(|s| reg::schema_name(cx, s)).collect();
    let values: Vec<Datum<'_>> = names.iter().map(|n| Datum::text(n)).collect();
    from_values(cx, oid::NAME, &values)
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("array_append", scalar(|cx, types, a| push(cx, types, a[0], a[1], false))),
    ("array_prepend", scalar(|cx, types, a| push(cx, types, a[1], a[0], true))),
    ("array_cat", scalar(|cx, _, a| concatenate(cx, a[0], a[1]))),
    ("arrayoverlap", scalar(|_, _, a| Ok(Datum::Bool(overlaps(a[0], a[1]))))),
    ("arraycontains", scalar(|_, _, a| Ok(Datum::Bool(contains(a[0], a[1]))))),
    ("arraycontained", scalar(|_, _, a| Ok(Datum::Bool(contains(a[1], a[0]))))),
    (
        "array_ndims",
        scalar(|_, _, a| {
            let count = ArrayRef::read(a[0].as_bytes()).dimensions().len();
            Ok(if count == 0 { Datum::Null } else { Datum::Int(count as i64) })
        }),
    ),
    (
        "array_dims",
        scalar(|cx, _, a| {
            let array = ArrayRef::read(a[0].as_bytes());
            if array.dimensions().is_empty() {
                return Ok(Datum::Null);
            }
            let one = |d: &Dimension| format!("[{}:{}]", d.lower, i64::from(d.lower) + i64::from(d.len) - 1);
            Ok(super::text(cx, &array.dimensions().iter().map(one).collect::<String>()))
        }),
    ),
    ("array_lower", scalar(|_, _, a| Ok(or_null(dimension(a[0], a[1]).map(|d| d.lower.into()))))),
    (
        "array_upper",
        scalar(|_, _, a| {
            let upper = |d: Dimension| i64::from(d.lower) + i64::from(d.len) - 1;
            Ok(or_null(dimension(a[0], a[1]).map(upper)))
        }),
    ),
    ("array_length", scalar(|_, _, a| Ok(or_null(dimension(a[0], a[1]).map(|d| d.len.into()))))),
    ("array_cardinality", scalar(|_, _, a| Ok(Datum::Int(ArrayRef::read(a[0].as_bytes()).len() as i64)))),
    ("array_position", scalar(|_, _, a| position(a).map(or_null))),
    ("array_position_start", scalar(|_, _, a| position(a).map(or_null))),
    ("array_positions", scalar(|cx, _, a| positions(cx, a))),
    ("array_remove", scalar(|cx, _, a| remove(cx, a))),
    ("array_replace", scalar(|cx, _, a| replace(cx, a))),
    ("array_fill", scalar(fill)),
    ("array_fill_with_lower_bounds", scalar(fill)),
    ("trim_array", scalar(|cx, _, a| trim(cx, a))),
    ("width_bucket_array", scalar(|_, _, a| width_bucket(a).map(Datum::Int))),
    ("array_to_text", scalar(|cx, _, a| to_text(cx, a[0], a[1].as_str(), None))),
    (
        "array_to_text_null",
        scalar(|cx, _, a| {
            if a[0].is_null() || a[1].is_null() {
                return Ok(Datum::Null);
            }
            to_text(cx, a[0], a[1].as_str(), (!a[2].is_null()).then(|| a[2].as_str()))
        }),
    ),
    ("text_to_array", scalar(|cx, _, a| Ok(text_to_array(cx, a)))),
    ("text_to_array_null", scalar(|cx, _, a| Ok(text_to_array(cx, a)))),
    ("text_to_table", set(|_, _, a, emit| text_to_table(a, emit))),
    ("text_to_table_null", set(|_, _, a, emit| text_to_table(a, emit))),
    (
        "array_unnest",
        set(|_, _, a, emit| {
            for element in ArrayRef::read(a[0].as_bytes()).iter() {
                if emit(&[element])?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
    ("generate_subscripts", set(|_, _, a, emit| subscripts(a, emit))),
    ("generate_subscripts_nodir", set(|_, _, a, emit| subscripts(a, emit))),
    ("parse_ident", scalar(|cx, _, a| parse_identifier(cx, a[0].as_str(), a[1].as_bool()))),
    ("current_schemas", scalar(|cx, _, a| Ok(search_path(cx, a[0].as_bool())))),
    ("pg_blocking_pids", scalar(|cx, _, _| Ok(from_values(cx, oid::INT4, &[])))),
    ("pg_safe_snapshot_blocking_pids", scalar(|cx, _, _| Ok(from_values(cx, oid::INT4, &[])))),
    ("pg_settings_get_flags", scalar(|cx, _, _| Ok(text_array(cx, &[])))),
    (
        "oidvectortypes",
        scalar(|cx, _, a| {
            let name = |d: Datum<'_>| reg::format_type(cx, Oid(d.as_int() as u32), -1);
            let names: Vec<String> = elements(a[0]).into_iter().map(name).collect();
            Ok(super::text(cx, &names.join(", ")))
        }),
    ),
    (
        "pg_prepared_statement",
        set(|cx, _, _, emit| {
            for info in cx.env.prepared_statements() {
                let types: Vec<Datum<'_>> =
                    info.parameter_types.iter().map(|t| Datum::Int(t.0.into())).collect();
                let row = [
                    Datum::text(&info.name),
                    Datum::text(&info.statement),
                    Datum::Int(info.prepare_time),
                    from_values(cx, oid::REGTYPE, &types),
                    Datum::Bool(info.from_sql),
                    Datum::Int(0),
                    Datum::Int(0),
                ];
                if emit(&row)?.is_break() {
                    break;
                }
            }
            Ok(())
        }),
    ),
];

/// array_agg over scalars (NULLs are elements), or over arrays of equal dimensions.
pub(super) fn find_aggregate(first: Oid) -> Implementation {
    let mut found: AggregateFn = match first {
        oid::ANYARRAY => aggregate(|types, _| {
            let element = result_element(types)?;
            Ok(Box::new(Collected { element, inner: None, arrays: true, values: Vec::new(), bytes: 0 }))
        }),
        _ => aggregate(|types, _| {
            let element = result_element(types)?;
            Ok(Box::new(Collected { element, inner: None, arrays: false, values: Vec::new(), bytes: 0 }))
        }),
    };
    found.strict = false;
    Implementation::Aggregate(found)
}

struct Collected {
    element: &'static Type,
    /// Dimensions of the arrays that are collected.
    inner: Option<Vec<Dimension>>,
    arrays: bool,
    values: Vec<Value>,
    bytes: usize,
}

impl Collected {
    fn add_array(&mut self, value: Datum<'_>) -> Result<()> {
        if value.is_null() {
            return Err(null_error("cannot accumulate null arrays"));
        }
        let array = ArrayRef::read(value.as_bytes());
        if array.dimensions().is_empty() {
            return Err(subscript_error("cannot accumulate empty arrays"));
        }
        match &self.inner {
            None => self.inner = Some(array.dimensions().to_vec()),
            Some(inner) if inner == array.dimensions() => {}
            Some(_) => return Err(subscript_error("cannot accumulate arrays of different dimensionality")),
        }
        Ok(())
    }
}

impl Accumulator for Collected {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        if self.arrays {
            self.add_array(args[0])?;
        }
        self.bytes += 32 + if let Datum::Bytes(b) = args[0] { b.len() } else { 0 };
        self.values.push(args[0].to_value());
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        if self.values.is_empty() {
            return Ok(Datum::Null);
        }
        let len = i32::try_from(self.values.len()).map_err(|_| SqlError::out_of_range("integer"))?;
        let outer = Dimension { len, lower: 1 };
        match &self.inner {
            None => {
                let values: Vec<Datum<'_>> = self.values.iter().map(Value::datum).collect();
                build(cx, self.element, &values, &[outer])
            }
            Some(inner) => {
                let values: Vec<Datum<'_>> = self.values.iter().flat_map(|v| elements(v.datum())).collect();
                let mut dimensions = vec![outer];
                dimensions.extend_from_slice(inner);
                build(cx, self.element, &values, &dimensions)
            }
        }
    }

    fn size(&self) -> usize {
        64 + self.bytes
    }
}
