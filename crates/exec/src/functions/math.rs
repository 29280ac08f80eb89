//! Mathematical functions of double precision. Compare the second half of `float.c`.

use super::float::{overflow, underflow};
use super::{Entry, scalar};
use catalog::{Datum, Result, SqlError, SqlState};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::cell::RefCell;

/// A result checked as PostgreSQL does: infinity from finite arguments is an overflow, zero where none can be an underflow.
fn checked<'a>(result: f64, finite: bool, never_zero: bool) -> Result<Datum<'a>> {
    if result.is_infinite() && finite {
        return Err(overflow());
    }
    if result == 0.0 && never_zero {
        return Err(underflow());
    }
    Ok(Datum::Float(result))
}

fn out_of_input_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn power<'a>(x: f64, y: f64) -> Result<Datum<'a>> {
    let fail = |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message));
    if x.is_nan() {
        return Ok(Datum::Float(if y == 0.0 { 1.0 } else { f64::NAN }));
    }
    if y.is_nan() {
        return Ok(Datum::Float(if x == 1.0 { 1.0 } else { f64::NAN }));
    }
    if x == 0.0 && y < 0.0 {
        return fail("zero raised to a negative power is undefined");
    }
    if x < 0.0 && y.floor() != y {
        return fail("a negative number raised to a non-integer power yields a complex result");
    }
    let result = x.powf(y);
    checked(result, x.is_finite() && y.is_finite(), x.is_finite() && x != 0.0 && y.is_finite())
}

fn logarithm<'a>(x: f64, log: fn(f64) -> f64) -> Result<Datum<'a>> {
    if x == 0.0 {
        return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of zero"));
    }
    if x < 0.0 {
        let message = "cannot take logarithm of a negative number";
        return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message));
    }
    Ok(Datum::Float(log(x)))
}

fn square_root<'a>(x: f64) -> Result<Datum<'a>> {
    if x < 0.0 {
        let message = "cannot take square root of a negative number";
        return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message));
    }
    Ok(Datum::Float(x.sqrt()))
}

/// A function of an angle in radians: infinities have none.
fn of_angle<'a>(x: f64, f: fn(f64) -> f64) -> Result<Datum<'a>> {
    if x.is_infinite() { Err(out_of_input_range()) } else { Ok(Datum::Float(f(x))) }
}

/// An inverse function defined between -1 and 1.
fn of_ratio<'a>(x: f64, f: fn(f64) -> f64) -> Result<Datum<'a>> {
    if (-1.0..=1.0).contains(&x) || x.is_nan() { Ok(Datum::Float(f(x))) } else { Err(out_of_input_range()) }
}

/// Sine of degrees, exact at multiples of 30 (`dsind`).
fn sin_degrees(x: f64) -> f64 {
    let mut x = x % 360.0;
    let mut sign = 1.0;
    if x < 0.0 {
        x = -x;
        sign = -sign;
    }
    if x > 180.0 {
        x = 360.0 - x;
        sign = -sign;
    }
    if x > 90.0 {
        x = 180.0 - x;
    }
    sign * sin_first_quadrant(x)
}

fn sin_first_quadrant(x: f64) -> f64 {
    if x <= 30.0 { x.to_radians().sin() / 30f64.to_radians().sin() / 2.0 } else { cos_0_to_60(90.0 - x) }
}

fn cos_0_to_60(x: f64) -> f64 {
    let one_minus_cos = 1.0 - x.to_radians().cos();
    1.0 - one_minus_cos / (1.0 - 60f64.to_radians().cos()) / 2.0
}

fn cos_degrees(x: f64) -> f64 {
    let mut x = (x % 360.0).abs();
    let mut sign = 1.0;
    if x > 180.0 {
        x = 360.0 - x;
    }
    if x > 90.0 {
        x = 180.0 - x;
        sign = -sign;
    }
    let value = if x <= 60.0 { cos_0_to_60(x) } else { sin_first_quadrant(90.0 - x) };
    sign * value
}

fn tan_degrees(x: f64) -> f64 {
    let mut x = x % 360.0;
    let mut sign = 1.0;
    if x < 0.0 {
        x = -x;
        sign = -sign;
    }
    if x > 180.0 {
        x = 360.0 - x;
        sign = -sign;
    }
    if x > 90.0 {
        x = 180.0 - x;
        sign = -sign;
    }
    let cos = if x <= 60.0 { cos_0_to_60(x) } else { sin_first_quadrant(90.0 - x) };
    let tan = sin_first_quadrant(x) / cos / (sin_first_quadrant(45.0) / cos_0_to_60(45.0));
    let value = sign * tan;
    if value == 0.0 { 0.0 } else { value }
}

fn width_bucket(operand: f64, low: f64, high: f64, count: i64) -> Result<i64> {
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
    let beyond =
        if count < i64::from(i32::MAX) { Ok(count + 1) } else { Err(SqlError::out_of_range("integer")) };
    let within = || {
        let place = count as f64 * ((operand - low) / (high - low));
        Ok((place as i64).min(count - 1) + 1)
    };
    if low < high {
        if operand < low {
            Ok(0)
        } else if operand >= high {
            beyond
        } else {
            within()
        }
    } else if low > high {
        if operand > low {
            Ok(0)
        } else if operand <= high {
            beyond
        } else {
            within()
        }
    } else {
        fail("lower bound cannot equal upper bound")
    }
}

thread_local! {
    /// The generator behind random() of this session's thread; `setseed` fixes it.
    static RANDOM: RefCell<StdRng> = RefCell::new(StdRng::from_rng(&mut rand::rng()));
}

fn random<'a>() -> Datum<'a> {
    Datum::Float(RANDOM.with_borrow_mut(|r| r.random::<f64>()))
}

fn set_seed<'a>(seed: f64) -> Result<Datum<'a>> {
    if !(-1.0..=1.0).contains(&seed) {
        let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    RANDOM.with_borrow_mut(|r| *r = StdRng::seed_from_u64(seed.to_bits()));
    Ok(super::VOID)
}

macro_rules! plain {
    (|$x:ident| $result:expr) => {
        scalar(|_, _, a| {
            let $x = a[0].as_float();
            Ok(Datum::Float($result))
        })
    };
}

macro_rules! through {
    ($function:ident, $of:expr) => {
        scalar(|_, _, a| $function(a[0].as_float(), $of))
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("dround", plain!(|x| x.round_ties_even())),
    ("dceil", plain!(|x| x.ceil())),
    ("dfloor", plain!(|x| x.floor())),
    ("dtrunc", plain!(|x| x.trunc())),
    (
        "dsign",
        plain!(|x| if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            0.0
        }),
    ),
    ("dsqrt", scalar(|_, _, a| square_root(a[0].as_float()))),
    ("dcbrt", plain!(|x| x.cbrt())),
    ("dpow", scalar(|_, _, a| power(a[0].as_float(), a[1].as_float()))),
    (
        "dexp",
        scalar(|_, _, a| {
            let x = a[0].as_float();
            checked(x.exp(), x.is_finite(), x.is_finite())
        }),
    ),
    ("dlog1", through!(logarithm, f64::ln)),
    ("dlog10", through!(logarithm, f64::log10)),
    ("dacos", through!(of_ratio, f64::acos)),
    ("dasin", through!(of_ratio, f64::asin)),
    ("datan", plain!(|x| x.atan())),
    ("datan2", scalar(|_, _, a| Ok(Datum::Float(a[0].as_float().atan2(a[1].as_float()))))),
    ("dcos", through!(of_angle, f64::cos)),
    ("dsin", through!(of_angle, f64::sin)),
    ("dtan", through!(of_angle, f64::tan)),
    ("dcot", through!(of_angle, |x| 1.0 / x.tan())),
    ("dcosd", through!(of_angle, cos_degrees)),
    ("dsind", through!(of_angle, sin_degrees)),
    ("dtand", through!(of_angle, tan_degrees)),
    ("dcotd", through!(of_angle, |x| 1.0 / tan_degrees(x))),
    ("dacosd", through!(of_ratio, |x| exact_degrees(x.acos()))),
    ("dasind", through!(of_ratio, |x| exact_degrees(x.asin()))),
    ("datand", plain!(|x| exact_degrees(x.atan()))),
    ("datan2d", scalar(|_, _, a| Ok(Datum::Float(exact_degrees(a[0].as_float().atan2(a[1].as_float())))))),
    ("dsinh", plain!(|x| x.sinh())),
    ("dcosh", plain!(|x| x.cosh())),
    ("dtanh", plain!(|x| x.tanh())),
    ("dasinh", plain!(|x| x.asinh())),
    (
        "dacosh",
        scalar(|_, _, a| {
            let x = a[0].as_float();
            if x < 1.0 { Err(out_of_input_range()) } else { Ok(Datum::Float(x.acosh())) }
        }),
    ),
    ("datanh", through!(of_ratio, f64::atanh)),
    ("degrees", plain!(|x| x / (std::f64::consts::PI / 180.0))),
    ("radians", plain!(|x| x * (std::f64::consts::PI / 180.0))),
    ("dpi", scalar(|_, _, _| Ok(Datum::Float(std::f64::consts::PI)))),
    ("drandom", scalar(|_, _, _| Ok(random()))),
    ("setseed", scalar(|_, _, a| set_seed(a[0].as_float()))),
    (
        "width_bucket_float8",
        scalar(|_, _, a| {
            let (operand, low, high) = (a[0].as_float(), a[1].as_float(), a[2].as_float());
            width_bucket(operand, low, high, a[3].as_int()).map(Datum::Int)
        }),
    ),
];

/// Radians in degrees, with the round angles exact.
fn exact_degrees(radians: f64) -> f64 {
    let degrees = radians.to_degrees();
    let near = degrees.round();
    if (degrees - near).abs() < 1e-12 { near } else { degrees }
}
