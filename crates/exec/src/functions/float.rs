//! real and double precision: arithmetic with overflow and underflow checks. Compare `float.c`. Mathematical functions are in `math`.

use super::{Entry, scalar};
use catalog::{Datum, Result, SqlError, SqlState};

/// 22003 as `float_overflow_error` says it.
pub(super) fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

/// 22003 as `float_underflow_error` says it.
pub(super) fn underflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

macro_rules! arithmetic {
    ($module:ident, $float:ty) => {
        mod $module {
            use super::*;

            #[inline]
            pub(super) fn out<'a>(v: $float) -> Result<Datum<'a>> {
                Ok(Datum::Float(v.into()))
            }

            #[inline]
            pub(super) fn add<'a>(a: f64, b: f64) -> Result<Datum<'a>> {
                let v = a as $float + b as $float;
                if v.is_infinite() && a.is_finite() && b.is_finite() { Err(overflow()) } else { out(v) }
            }

            #[inline]
            pub(super) fn sub<'a>(a: f64, b: f64) -> Result<Datum<'a>> {
                add(a, -b)
            }

            #[inline]
            pub(super) fn mul<'a>(a: f64, b: f64) -> Result<Datum<'a>> {
                let v = a as $float * b as $float;
                if v.is_infinite() && a.is_finite() && b.is_finite() {
                    return Err(overflow());
                }
                if v == 0.0 && a != 0.0 && b != 0.0 { Err(underflow()) } else { out(v) }
            }

            #[inline]
            pub(super) fn div<'a>(a: f64, b: f64) -> Result<Datum<'a>> {
                if b == 0.0 && !a.is_nan() {
                    return Err(SqlError::division_by_zero());
                }
                let v = a as $float / b as $float;
                if v.is_infinite() && a.is_finite() {
                    return Err(overflow());
                }
                if v == 0.0 && a != 0.0 && b.is_finite() { Err(underflow()) } else { out(v) }
            }
        }
    };
}

arithmetic!(single, f32);
arithmetic!(double, f64);

macro_rules! binary {
    ($function:path) => {
        scalar(|_, _, args| $function(args[0].as_float(), args[1].as_float()))
    };
}

macro_rules! unary {
    (|$a:ident| $result:expr) => {
        scalar(|_, _, args| {
            let $a = args[0].as_float();
            Ok(Datum::Float($result))
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("float4pl", binary!(single::add)),
    ("float4mi", binary!(single::sub)),
    ("float4mul", binary!(single::mul)),
    ("float4div", binary!(single::div)),
    ("float8pl", binary!(double::add)),
    ("float8mi", binary!(double::sub)),
    ("float8mul", binary!(double::mul)),
    ("float8div", binary!(double::div)),
    ("float48pl", binary!(double::add)),
    ("float48mi", binary!(double::sub)),
    ("float48mul", binary!(double::mul)),
    ("float48div", binary!(double::div)),
    ("float84pl", binary!(double::add)),
    ("float84mi", binary!(double::sub)),
    ("float84mul", binary!(double::mul)),
    ("float84div", binary!(double::div)),
    ("float4um", unary!(|a| -a)),
    ("float8um", unary!(|a| -a)),
    ("float4up", unary!(|a| a)),
    ("float8up", unary!(|a| a)),
    ("float4abs", unary!(|a| a.abs())),
    ("float8abs", unary!(|a| a.abs())),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_an_error_and_infinity_is_none() {
        assert_eq!(double::mul(1e308, 10.0).expect_err("overflow").message(), "value out of range: overflow");
        assert_eq!(double::mul(f64::INFINITY, 10.0).expect("infinity"), Datum::Float(f64::INFINITY));
        assert_eq!(double::div(1.0, 0.0).expect_err("by zero").message(), "division by zero");
        assert_eq!(
            double::mul(1e-300, 1e-300).expect_err("underflow").message(),
            "value out of range: underflow"
        );
        assert_eq!(single::add(1.0, 2.5).expect("a sum"), Datum::Float(3.5));
    }
}
