//! smallint, integer, bigint: arithmetic with overflow checks, bit operations. Compare `int.c`, `int8.c`.

use super::{Entry, scalar};
use catalog::{Datum, Result, SqlError};

/// An int2 result, or 22003.
#[inline]
pub(super) fn int2<'a>(v: i64) -> Result<Datum<'a>> {
    if v == i64::from(v as i16) { Ok(Datum::Int(v)) } else { Err(SqlError::out_of_range("smallint")) }
}

/// An int4 result, or 22003.
#[inline]
pub(super) fn int4<'a>(v: i64) -> Result<Datum<'a>> {
    if v == i64::from(v as i32) { Ok(Datum::Int(v)) } else { Err(SqlError::out_of_range("integer")) }
}

/// An int8 result, or 22003.
#[inline]
pub(super) fn int8<'a>(v: Option<i64>) -> Result<Datum<'a>> {
    v.map(Datum::Int).ok_or_else(|| SqlError::out_of_range("bigint"))
}

#[inline]
fn divide(a: i64, b: i64) -> Result<Option<i64>> {
    if b == 0 { Err(SqlError::division_by_zero()) } else { Ok(a.checked_div(b)) }
}

#[inline]
fn modulo(a: i64, b: i64) -> Result<i64> {
    if b == 0 { Err(SqlError::division_by_zero()) } else { Ok(a.wrapping_rem(b)) }
}

/// The quotient of operands narrower than int8, which cannot overflow an i64.
#[inline]
fn quotient(a: i64, b: i64) -> Result<i64> {
    divide(a, b).map(|q| q.unwrap_or(i64::MAX))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    if a == 0 || b == 0 {
        return Some(0);
    }
    let g = gcd(a.unsigned_abs(), b.unsigned_abs());
    let product = (a.unsigned_abs() / g).checked_mul(b.unsigned_abs())?;
    i64::try_from(product).ok()
}

fn signed(v: u64) -> Option<i64> {
    i64::try_from(v).ok()
}

macro_rules! binary {
    (|$a:ident, $b:ident| $result:expr) => {
        scalar(|_, _, args| {
            let ($a, $b) = (args[0].as_int(), args[1].as_int());
            $result
        })
    };
}

macro_rules! unary {
    (|$a:ident| $result:expr) => {
        scalar(|_, _, args| {
            let $a = args[0].as_int();
            $result
        })
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("int2pl", binary!(|a, b| int2(a + b))),
    ("int2mi", binary!(|a, b| int2(a - b))),
    ("int2mul", binary!(|a, b| int2(a * b))),
    ("int2div", binary!(|a, b| int2(quotient(a, b)?))),
    ("int2mod", binary!(|a, b| modulo(a, b).map(Datum::Int))),
    ("int4pl", binary!(|a, b| int4(a + b))),
    ("int4mi", binary!(|a, b| int4(a - b))),
    ("int4mul", binary!(|a, b| int4(a * b))),
    ("int4div", binary!(|a, b| int4(quotient(a, b)?))),
    ("int4mod", binary!(|a, b| modulo(a, b).map(Datum::Int))),
    ("int24pl", binary!(|a, b| int4(a + b))),
    ("int24mi", binary!(|a, b| int4(a - b))),
    ("int24mul", binary!(|a, b| int4(a * b))),
    ("int24div", binary!(|a, b| int4(quotient(a, b)?))),
    ("int42pl", binary!(|a, b| int4(a + b))),
    ("int42mi", binary!(|a, b| int4(a - b))),
    ("int42mul", binary!(|a, b| int4(a * b))),
    ("int42div", binary!(|a, b| int4(quotient(a, b)?))),
    ("int8pl", binary!(|a, b| int8(a.checked_add(b)))),
    ("int8mi", binary!(|a, b| int8(a.checked_sub(b)))),
    ("int8mul", binary!(|a, b| int8(a.checked_mul(b)))),
    ("int8div", binary!(|a, b| int8(divide(a, b)?))),
    ("int8mod", binary!(|a, b| modulo(a, b).map(Datum::Int))),
    ("int84pl", binary!(|a, b| int8(a.checked_add(b)))),
    ("int84mi", binary!(|a, b| int8(a.checked_sub(b)))),
    ("int84mul", binary!(|a, b| int8(a.checked_mul(b)))),
    ("int84div", binary!(|a, b| int8(divide(a, b)?))),
    ("int48pl", binary!(|a, b| int8(a.checked_add(b)))),
    ("int48mi", binary!(|a, b| int8(a.checked_sub(b)))),
    ("int48mul", binary!(|a, b| int8(a.checked_mul(b)))),
    ("int48div", binary!(|a, b| int8(divide(a, b)?))),
    ("int82pl", binary!(|a, b| int8(a.checked_add(b)))),
    ("int82mi", binary!(|a, b| int8(a.checked_sub(b)))),
    ("int82mul", binary!(|a, b| int8(a.checked_mul(b)))),
    ("int82div", binary!(|a, b| int8(divide(a, b)?))),
    ("int28pl", binary!(|a, b| int8(a.checked_add(b)))),
    ("int28mi", binary!(|a, b| int8(a.checked_sub(b)))),
    ("int28mul", binary!(|a, b| int8(a.checked_mul(b)))),
    ("int28div", binary!(|a, b| int8(divide(a, b)?))),
    ("int2um", unary!(|a| int2(-a))),
    ("int4um", unary!(|a| int4(-a))),
    ("int8um", unary!(|a| int8(a.checked_neg()))),
    ("int2up", unary!(|a| Ok(Datum::Int(a)))),
    ("int4up", unary!(|a| Ok(Datum::Int(a)))),
    ("int8up", unary!(|a| Ok(Datum::Int(a)))),
    ("int2abs", unary!(|a| int2(a.abs()))),
    ("int4abs", unary!(|a| int4(a.abs()))),
    ("int8abs", unary!(|a| int8(a.checked_abs()))),
    ("int4inc", unary!(|a| int4(a + 1))),
    ("int8inc", unary!(|a| int8(a.checked_add(1)))),
    ("int2and", binary!(|a, b| Ok(Datum::Int(a & b)))),
    ("int4and", binary!(|a, b| Ok(Datum::Int(a & b)))),
    ("int8and", binary!(|a, b| Ok(Datum::Int(a & b)))),
    ("int2or", binary!(|a, b| Ok(Datum::Int(a | b)))),
    ("int4or", binary!(|a, b| Ok(Datum::Int(a | b)))),
    ("int8or", binary!(|a, b| Ok(Datum::Int(a | b)))),
    ("int2xor", binary!(|a, b| Ok(Datum::Int(a ^ b)))),
    ("int4xor", binary!(|a, b| Ok(Datum::Int(a ^ b)))),
    ("int8xor", binary!(|a, b| Ok(Datum::Int(a ^ b)))),
    ("int2not", unary!(|a| Ok(Datum::Int(!a)))),
    ("int4not", unary!(|a| Ok(Datum::Int(!a)))),
    ("int8not", unary!(|a| Ok(Datum::Int(!a)))),
    ("int2shl", binary!(|a, b| Ok(Datum::Int(i64::from((a as i32).wrapping_shl(b as u32) as i16))))),
    ("int2shr", binary!(|a, b| Ok(Datum::Int(i64::from((a as i32).wrapping_shr(b as u32) as i16))))),
    ("int4shl", binary!(|a, b| Ok(Datum::Int(i64::from((a as i32).wrapping_shl(b as u32)))))),
    ("int4shr", binary!(|a, b| Ok(Datum::Int(i64::from((a as i32).wrapping_shr(b as u32)))))),
    ("int8shl", binary!(|a, b| Ok(Datum::Int(a.wrapping_shl(b as u32))))),
    ("int8shr", binary!(|a, b| Ok(Datum::Int(a.wrapping_shr(b as u32))))),
    ("int4gcd", binary!(|a, b| int4(signed(gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(i64::MAX)))),
    ("int8gcd", binary!(|a, b| int8(signed(gcd(a.unsigned_abs(), b.unsigned_abs()))))),
    ("int4lcm", binary!(|a, b| int4(lcm(a, b).unwrap_or(i64::MAX)))),
    ("int8lcm", binary!(|a, b| int8(lcm(a, b)))),
];
