//! numeric: arithmetic, rounding, mathematical functions, casts, series. Compare `numeric.c`.

use super::{Emit, Entry, scalar, set};
use crate::functions::string::invalid;
use catalog::types::numeric::{Numeric, compare_packed};
use catalog::{Datum, Result, SqlError, SqlState};

fn number(d: Datum<'_>) -> Numeric {
    Numeric::unpack(d.as_bytes())
}

macro_rules! binary {
    ($function:path) => {
        scalar(|cx, _, a| Ok($function(&number(a[0]), &number(a[1]))?.datum(cx.arena)))
    };
}

macro_rules! fallible {
    ($function:path) => {
        scalar(|cx, _, a| Ok($function(&number(a[0]))?.datum(cx.arena)))
    };
}

macro_rules! unary {
    ($function:path) => {
        scalar(|cx, _, a| Ok($function(&number(a[0])).datum(cx.arena)))
    };
}

macro_rules! comparison {
    ($test:path) => {
        scalar(|_, _, a| Ok(Datum::Bool($test(compare_packed(a[0].as_bytes(), a[1].as_bytes())))))
    };
}

/// width_bucket over numeric: which of `count` equal buckets between the bounds (`width_bucket_numeric`).
fn width_bucket(operand: &Numeric, low: &Numeric, high: &Numeric, count: i64) -> Result<i64> {
    let fail = |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message));
    if count <= 0 {
        return fail("count must be greater than zero");
    }
    if operand.is_nan() || low.is_nan() || high.is_nan() {
        return fail("operand, lower bound, and upper bound cannot be NaN");
    }
    if low.is_infinite() || high.is_infinite() {
        return fail("lower and upper bounds must be finite");
    }
    let beyond = |count: i64| {
        count
            .checked_add(1)
            .filter(|c| i32::try_from(*c).is_ok())
            .ok_or_else(|| SqlError::out_of_range("integer"))
    };
    match low.cmp(high) {
        std::cmp::Ordering::Equal => fail("lower bound cannot equal upper bound"),
        std::cmp::Ordering::Less => {
            if operand < low {
                Ok(0)
            } else if operand >= high {
                beyond(count)
            } else {
                bucket(operand, low, high, count)
            }
        }
        std::cmp::Ordering::Greater => {
            if operand > low {
                Ok(0)
            } else if operand <= high {
                beyond(count)
            } else {
                bucket(operand, low, high, count)
            }
        }
    }
}

fn bucket(operand: &Numeric, low: &Numeric, high: &Numeric, count: i64) -> Result<i64> {
    let part = operand.sub(low)?.mul(&Numeric::from(count))?;
    let place = part.div_trunc(&high.sub(low)?)?;
    Ok((place.to_i64()? + 1).min(count))
}

fn series(start: Numeric, stop: &Numeric, step: &Numeric, emit: &mut Emit<'_>) -> Result<()> {
    for (value, what) in [(&start, "start"), (stop, "stop"), (step, "step size")] {
        if value.is_nan() {
            let message = if what == "step size" {
                "step size cannot be NaN".into()
            } else {
                format!("{what} value cannot be NaN")
            };
            return Err(invalid(message));
        }
        if value.is_infinite() {
            let message = if what == "step size" {
                "step size cannot be infinity".into()
            } else {
                format!("{what} value cannot be infinity")
            };
            return Err(invalid(message));
        }
    }
    if step.is_zero() {
        return Err(invalid("step size cannot equal zero"));
    }
    let up = step.signum() > 0;
    let mut value = start;
    let mut packed = Vec::new();
    while if up { value <= *stop } else { value >= *stop } {
        packed.clear();
        value.pack(&mut packed);
        if emit(&[Datum::Bytes(&packed)])?.is_break() {
            break;
        }
        value = value.add(step)?;
    }
    Ok(())
}

fn from_int<'a>(cx: &super::EvalContext<'a>, d: Datum<'_>) -> Result<Datum<'a>> {
    Ok(Numeric::from(d.as_int()).datum(cx.arena))
}

/// Functions in LANGUAGE sql over numeric.
pub(super) const SQL_FUNCTIONS: &[(u32, super::Implementation)] = &[
    (1741, scalar(|cx, _, a| Ok(number(a[0]).log(&Numeric::from(10))?.datum(cx.arena)))),
    (1481, scalar(|cx, _, a| Ok(number(a[0]).log(&Numeric::from(10))?.datum(cx.arena)))),
    (1708, scalar(|cx, _, a| Ok(number(a[0]).round(0).datum(cx.arena)))),
    (1710, scalar(|cx, _, a| Ok(number(a[0]).trunc(0).datum(cx.arena)))),
];

pub(super) const FUNCTIONS: &[Entry] = &[
    ("numeric_eq", comparison!(std::cmp::Ordering::is_eq)),
    ("numeric_ne", comparison!(std::cmp::Ordering::is_ne)),
    ("numeric_lt", comparison!(std::cmp::Ordering::is_lt)),
    ("numeric_le", comparison!(std::cmp::Ordering::is_le)),
    ("numeric_gt", comparison!(std::cmp::Ordering::is_gt)),
    ("numeric_ge", comparison!(std::cmp::Ordering::is_ge)),
    ("numeric_add", binary!(Numeric::add)),
    ("numeric_sub", binary!(Numeric::sub)),
    ("numeric_mul", binary!(Numeric::mul)),
    ("numeric_div", binary!(Numeric::div)),
    ("numeric_div_trunc", binary!(Numeric::div_trunc)),
    ("numeric_mod", binary!(Numeric::rem)),
    ("numeric_power", binary!(Numeric::power)),
    // log(base, number)
    ("numeric_log", scalar(|cx, _, a| Ok(number(a[1]).log(&number(a[0]))?.datum(cx.arena)))),
    ("numeric_gcd", binary!(Numeric::gcd)),
    ("numeric_lcm", binary!(Numeric::lcm)),
    ("numeric_uminus", unary!(Numeric::neg)),
    ("numeric_uplus", scalar(|_, _, a| Ok(a[0]))),
    ("numeric_abs", unary!(Numeric::abs)),
    ("numeric_sign", unary!(Numeric::sign)),
    ("numeric_ceil", unary!(Numeric::ceil)),
    ("numeric_floor", unary!(Numeric::floor)),
    ("numeric_trim_scale", unary!(Numeric::trim_scale)),
    ("numeric_sqrt", fallible!(Numeric::sqrt)),
    ("numeric_exp", fallible!(Numeric::exp)),
    ("numeric_ln", fallible!(Numeric::ln)),
    ("numeric_round", scalar(|cx, _, a| Ok(number(a[0]).round(digits(a[1])).datum(cx.arena)))),
    ("numeric_trunc", scalar(|cx, _, a| Ok(number(a[0]).trunc(digits(a[1])).datum(cx.arena)))),
    ("numeric_inc", scalar(|cx, _, a| Ok(number(a[0]).add(&Numeric::ONE)?.datum(cx.arena)))),
    (
        "numeric_scale",
        scalar(|_, _, a| {
            let n = number(a[0]);
            Ok(if n.is_finite() { Datum::Int(n.scale().into()) } else { Datum::Null })
        }),
    ),
    (
        "numeric_min_scale",
        scalar(|_, _, a| Ok(number(a[0]).min_scale().map_or(Datum::Null, |s| Datum::Int(s.into())))),
    ),
    ("numeric_fac", scalar(|cx, _, a| Ok(Numeric::factorial(a[0].as_int())?.datum(cx.arena)))),
    ("numeric", scalar(|cx, _, a| Ok(number(a[0]).apply_typmod(a[1].as_int() as i32)?.datum(cx.arena)))),
    ("int2_numeric", scalar(|cx, _, a| from_int(cx, a[0]))),
    ("int4_numeric", scalar(|cx, _, a| from_int(cx, a[0]))),
    ("int8_numeric", scalar(|cx, _, a| from_int(cx, a[0]))),
    ("float8_numeric", scalar(|cx, _, a| Ok(Numeric::from_f64(a[0].as_float())?.datum(cx.arena)))),
    ("float4_numeric", scalar(|cx, _, a| Ok(Numeric::from_f32(a[0].as_float() as f32)?.datum(cx.arena)))),
    (
        "numeric_int2",
        scalar(|_, _, a| number(a[0]).to_int(i16::MIN.into(), i16::MAX.into(), "smallint").map(Datum::Int)),
    ),
    (
        "numeric_int4",
        scalar(|_, _, a| number(a[0]).to_int(i32::MIN.into(), i32::MAX.into(), "integer").map(Datum::Int)),
    ),
    ("numeric_int8", scalar(|_, _, a| number(a[0]).to_i64().map(Datum::Int))),
    ("numeric_float8", scalar(|_, _, a| number(a[0]).to_f64().map(Datum::Float))),
    ("numeric_float4", scalar(|_, _, a| Ok(Datum::Float(number(a[0]).to_f32()?.into())))),
    (
        "width_bucket_numeric",
        scalar(|_, _, a| {
            width_bucket(&number(a[0]), &number(a[1]), &number(a[2]), a[3].as_int()).map(Datum::Int)
        }),
    ),
    (
        "generate_series_numeric",
        set(|_, _, a, emit| series(number(a[0]), &number(a[1]), &Numeric::ONE, emit)),
    ),
    (
        "generate_series_step_numeric",
        set(|_, _, a, emit| series(number(a[0]), &number(a[1]), &number(a[2]), emit)),
    ),
];

fn digits(d: Datum<'_>) -> i32 {
    i32::try_from(d.as_int()).unwrap_or_default()
}
