//! numeric: decimal numbers of up to 131072 digits before and 16383 after the point, `NaN`, `Infinity`; printed with as many
//! fraction digits as the value's scale says. Compare PostgreSQL's `numeric.c`.
//!
//! A [`Numeric`] is an integer coefficient and a scale (`12.50` is 1250 and 2); coefficients that fit 128 bits take no allocation.
//! This file: the SQL type, the value, its packed form and its key. `text.rs` reads and prints, `arith.rs` is the arithmetic that
//! is exact or rounds once, `transcendental.rs` the rest.
//!
//! Packed form (what a `Datum` holds):
//!
//! | bytes | meaning |
//! |---|---|
//! | 2, little-endian | bits 0-13 scale, bit 14 sign; or `8000` NaN, `8001` Infinity, `8002` -Infinity |
//! | rest | coefficient's magnitude, little-endian, without leading zeros (zero has no bytes) |
//!
//! Key bytes (equal values give equal bytes, so the scale is lost and keys do not decode):
//!
//! | first byte | value |
//! |---|---|
//! | `03` | -Infinity |
//! | `04`-`7e` | negative: the bytes of the positive number, each inverted |
//! | `80` | zero |
//! | `81`-`fb` | positive: `be + e` for the decimal exponent e in -60..=60 (0.5 has 0), else `81` or `fb` and e + 2^23 in 3 bytes; then pairs of digits as 1 to 100 without trailing zero pairs, then `00` |
//! | `fc`, `fd` | Infinity, NaN |

mod arith;
mod text;
mod transcendental;

use super::{Physical, Shape, Type, oid};
use crate::{Arena, Datum, Result, SqlError, SqlState};
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt::Write;

/// Most digits that a display scale may have (`NUMERIC_DSCALE_MAX`).
pub const MAX_SCALE: u16 = 0x3fff;
/// Most digits before the point.
pub const MAX_INTEGER_DIGITS: u64 = 131_072;
/// `NUMERIC_MAX_PRECISION`: the most that a type modifier may ask for.
const MAX_PRECISION: i32 = 1000;

/// numeric
pub static NUMERIC: Type = Type {
    oid: oid::NUMERIC,
    name: "numeric",
    sql_name: "numeric",
    array_oid: oid::NUMERIC_ARRAY,
    len: -1,
    category: b'N',
    shape: Shape::Bytes,
    physical: Physical::Bytes,
    input: |text, cx| Ok(Numeric::parse(text)?.apply_typmod(cx.typmod)?.datum(cx.arena)),
    output: |value, _, out| text::print_packed(value.as_bytes(), out),
    receive: |bytes, cx| Ok(text::receive(bytes)?.apply_typmod(cx.typmod)?.datum(cx.arena)),
    send: |value, _, out| Numeric::unpack(value.as_bytes()).send(out),
    compare: |a, b| compare_packed(a.as_bytes(), b.as_bytes()),
    encode_key: Some(|value, out| Numeric::unpack(value.as_bytes()).encode_key(out)),
    typmod_in: Some(typmod_in),
    typmod_out: Some(|typmod, out| {
        let (precision, scale) = typmod_parts(typmod);
        let _ = write!(out, "({precision},{scale})");
    }),
    apply_typmod: Some(|value, typmod, _, arena| {
        if typmod < 4 {
            return Ok(value);
        }
        let (_, scale) = typmod_parts(typmod);
        let number = Numeric::unpack(value.as_bytes());
        let fitted = number.apply_typmod(typmod)?;
        Ok(if i32::from(number.scale) == scale { value } else { fitted.datum(arena) })
    }),
    ..Type::BASE
};

/// A decimal number. Comparison and equality are of values: 1.0 equals 1.00, NaN equals itself and is greatest.
#[derive(Clone, Debug)]
pub struct Numeric {
    kind: Kind,
    /// Digits after the point, shown even when they are zero. Zero for NaN and infinities.
    scale: u16,
}

#[derive(Clone, Debug)]
enum Kind {
    NaN,
    Infinity,
    NegInfinity,
    Small(i128),
    /// Only what does not fit `Small`.
    Big(BigInt),
}

impl Numeric {
    /// Not a number.
    pub const NAN: Numeric = Numeric { kind: Kind::NaN, scale: 0 };
    /// Positive infinity.
    pub const INFINITY: Numeric = Numeric { kind: Kind::Infinity, scale: 0 };
    /// Negative infinity.
    pub const NEG_INFINITY: Numeric = Numeric { kind: Kind::NegInfinity, scale: 0 };
    /// 0
    pub const ZERO: Numeric = Numeric { kind: Kind::Small(0), scale: 0 };
    /// 1
    pub const ONE: Numeric = Numeric { kind: Kind::Small(1), scale: 0 };

    /// `coefficient / 10^scale`.
    pub fn new(coefficient: i128, scale: u16) -> Numeric {
        let scale = scale.min(MAX_SCALE);
        if coefficient == i128::MIN {
            return Numeric::from_big(BigInt::from(coefficient), scale);
        }
        Numeric { kind: Kind::Small(coefficient), scale }
    }

    fn from_big(coefficient: BigInt, scale: u16) -> Numeric {
        let kind = match i128::try_from(&coefficient) {
            // The one value whose magnitude is not an i128 stays big, so that `Small` can always be negated.
            Ok(small) if small != i128::MIN => Kind::Small(small),
            Ok(_) | Err(_) => Kind::Big(coefficient),
        };
        Numeric { kind, scale }
    }

    /// The digits shown after the point.
    pub fn scale(&self) -> u16 {
        self.scale
    }

    /// Whether this is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self.kind, Kind::NaN)
    }

    /// Whether this is an infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(self.kind, Kind::Infinity | Kind::NegInfinity)
    }

    /// Whether this is neither NaN nor an infinity.
    pub fn is_finite(&self) -> bool {
        matches!(self.kind, Kind::Small(_) | Kind::Big(_))
    }

    /// -1, 0 or 1; NaN gives 0.
    pub fn signum(&self) -> i32 {
        match &self.kind {
            Kind::NaN => 0,
            Kind::Infinity => 1,
            Kind::NegInfinity => -1,
            Kind::Small(v) => v.signum() as i32,
            Kind::Big(v) => match v.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.kind, Kind::Small(0))
    }

    /// The coefficient of a finite number; zero for others.
    fn coefficient(&self) -> BigInt {
        match &self.kind {
            Kind::Small(v) => BigInt::from(*v),
            Kind::Big(v) => v.clone(),
            Kind::NaN | Kind::Infinity | Kind::NegInfinity => BigInt::ZERO,
        }
    }

    /// Decimal digits of the coefficient; zero has none.
    fn digit_count(&self) -> u64 {
        match &self.kind {
            Kind::Small(v) => v.unsigned_abs().checked_ilog10().map_or(0, |n| u64::from(n) + 1),
            Kind::Big(v) => big_digit_count(v.magnitude()),
            Kind::NaN | Kind::Infinity | Kind::NegInfinity => 0,
        }
    }

    /// The decimal exponent: digits before the point, negative by the zeros after it (0.05 has -1). Zero gives zero.
    fn exponent(&self) -> i64 {
        if self.is_zero() { 0 } else { self.digit_count() as i64 - i64::from(self.scale) }
    }

    /// Rounds to the modifier's scale and checks its precision (`apply_typmod`).
    pub fn apply_typmod(&self, typmod: i32) -> Result<Numeric> {
        if typmod < 4 {
            return Ok(self.clone());
        }
        let (precision, scale) = typmod_parts(typmod);
        let overflow = |detail: String| {
            Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail))
        };
        if self.is_nan() {
            return Ok(Numeric::NAN);
        }
        if self.is_infinite() {
            return overflow(format!(
                "A field with precision {precision}, scale {scale} cannot hold an infinite value."
            ));
        }
        let rounded = self.round(scale);
        let most = i64::from(precision - scale);
        if !rounded.is_zero() && rounded.exponent() > most {
            let bound = if most == 0 { "1".into() } else { format!("10^{most}") };
            return overflow(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
            ));
        }
        Ok(rounded)
    }

    /// Appends the packed form.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let header = |negative: bool| self.scale | u16::from(negative) << 14;
        match &self.kind {
            Kind::NaN => out.extend_from_slice(&0x8000u16.to_le_bytes()),
            Kind::Infinity => out.extend_from_slice(&0x8001u16.to_le_bytes()),
            Kind::NegInfinity => out.extend_from_slice(&0x8002u16.to_le_bytes()),
            Kind::Small(v) => {
                out.extend_from_slice(&header(*v < 0).to_le_bytes());
                let magnitude = v.unsigned_abs();
                let len = (128 - magnitude.leading_zeros()).div_ceil(8) as usize;
                out.extend_from_slice(&magnitude.to_le_bytes()[..len]);
            }
            Kind::Big(v) => {
                out.extend_from_slice(&header(v.sign() == Sign::Minus).to_le_bytes());
                out.extend_from_slice(&v.magnitude().to_bytes_le());
            }
        }
    }

    /// Reads the packed form. Damaged bytes read as NaN.
    #[inline]
    pub fn unpack(bytes: &[u8]) -> Numeric {
        let Some((header, magnitude)) = bytes.split_first_chunk::<2>() else {
            return Numeric::NAN;
        };
        let header = u16::from_le_bytes(*header);
        match header {
            0x8001 => return Numeric::INFINITY,
            0x8002 => return Numeric::NEG_INFINITY,
            0x8000.. => return Numeric::NAN,
            _ => {}
        }
        let (scale, negative) = (header & MAX_SCALE, header >> 14 == 1);
        match small_magnitude(magnitude) {
            Some(v) => {
                let v = v as i128;
                Numeric { kind: Kind::Small(if negative { -v } else { v }), scale }
            }
            None => {
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                Numeric::from_big(BigInt::from_bytes_le(sign, magnitude), scale)
            }
        }
    }

    /// The value in an arena.
    pub fn datum<'a>(&self, arena: &'a Arena) -> Datum<'a> {
        if let Kind::Small(v) = self.kind {
            let magnitude = v.unsigned_abs();
            let len = (128 - magnitude.leading_zeros()).div_ceil(8) as usize;
            let mut bytes = [0u8; 18];
            bytes[..2].copy_from_slice(&(self.scale | u16::from(v < 0) << 14).to_le_bytes());
            bytes[2..].copy_from_slice(&magnitude.to_le_bytes());
            return Datum::Bytes(arena.bytes(&bytes[..2 + len]));
        }
        let mut bytes = Vec::new();
        self.pack(&mut bytes);
        Datum::Bytes(arena.bytes(&bytes))
    }

    fn encode_key(&self, out: &mut Vec<u8>) {
        match self.kind {
            Kind::NaN => return out.push(0xfd),
            Kind::Infinity => return out.push(0xfc),
            Kind::NegInfinity => return out.push(0x03),
            Kind::Small(0) => return out.push(0x80),
            Kind::Small(_) | Kind::Big(_) => {}
        }
        let start = out.len();
        let exponent = self.exponent();
        match exponent {
            -60..=60 => out.push((0xbe + exponent) as u8),
            _ => {
                out.push(if exponent < 0 { 0x81 } else { 0xfb });
                out.extend_from_slice(&((exponent + (1 << 23)) as u32).to_be_bytes()[1..]);
            }
        }
        let mut buffer = itoa::Buffer::new();
        let big;
        let digits = match &self.kind {
            Kind::Small(v) => buffer.format(v.unsigned_abs()).as_bytes(),
            _ => {
                big = self.coefficient().magnitude().to_str_radix(10);
                big.as_bytes()
            }
        };
        let significant = digits.iter().rposition(|d| *d != b'0').map_or(0, |i| i + 1);
        for pair in digits[..significant].chunks(2) {
            let low = pair.get(1).map_or(0, |d| d - b'0');
            out.push((pair[0] - b'0') * 10 + low + 1);
        }
        out.push(0);
        if self.signum() < 0 {
            for byte in &mut out[start..] {
                *byte = !*byte;
            }
        }
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind) {
            if self.scale == other.scale {
                return a.cmp(b);
            }
            let (low, high) = (self.scale.min(other.scale), self.scale.max(other.scale));
            if let Some(factor) = arith::small_power(high - low) {
                let scaled = if self.scale < other.scale { a } else { b }.checked_mul(factor);
                match scaled {
                    Some(v) if self.scale < other.scale => return v.cmp(b),
                    Some(v) => return a.cmp(&v),
                    None => {}
                }
            }
        }
        let rank = |n: &Numeric| match n.kind {
            Kind::NegInfinity => -1,
            Kind::Small(_) | Kind::Big(_) => 0,
            Kind::Infinity => 1,
            Kind::NaN => 2,
        };
        let by_kind = rank(self).cmp(&rank(other));
        if by_kind.is_ne() || !self.is_finite() {
            return by_kind;
        }
        let by_sign = self.signum().cmp(&other.signum());
        if by_sign.is_ne() {
            return by_sign;
        }
        let by_exponent = self.exponent().cmp(&other.exponent());
        if by_exponent.is_ne() {
            return if self.signum() < 0 { by_exponent.reverse() } else { by_exponent };
        }
        let scale = self.scale.max(other.scale);
        self.coefficient_at(scale).cmp(&other.coefficient_at(scale))
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Numeric {}

/// Compares packed forms.
pub fn compare_packed(a: &[u8], b: &[u8]) -> Ordering {
    // Of one column most have one scale and are short.
    if let (Some((head_a, rest_a)), Some((head_b, rest_b))) =
        (a.split_first_chunk::<2>(), b.split_first_chunk::<2>())
        && head_a == head_b
        && head_a[1] < 0x80
        && rest_a.len() <= 8
        && rest_b.len() <= 8
    {
        let order = short_magnitude(rest_a).cmp(&short_magnitude(rest_b));
        return if head_a[1] & 0x40 == 0 { order } else { order.reverse() };
    }
    Numeric::unpack(a).cmp(&Numeric::unpack(b))
}

/// Precision and scale of a type modifier. The scale's 11 bits are signed.
pub fn typmod_parts(typmod: i32) -> (i32, i32) {
    let bits = typmod - 4;
    (bits >> 16 & 0xffff, ((bits & 0x7ff) ^ 1024) - 1024)
}

/// The type modifier of a precision and scale within bounds.
pub fn typmod_of(precision: i32, scale: i32) -> i32 {
    (precision << 16 | scale & 0x7ff) + 4
}

fn typmod_in(literals: &[&str]) -> Result<i32> {
    let refuse = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    let number =
        |text: &str| super::int::parse(text, i32::MIN.into(), i32::MAX.into(), "integer").map(|v| v as i32);
    let (precision, scale) = match literals {
        [precision] => (number(precision)?, 0),
        [precision, scale] => (number(precision)?, number(scale)?),
        _ => return refuse("invalid NUMERIC type modifier".into()),
    };
    if !(1..=MAX_PRECISION).contains(&precision) {
        return refuse(format!("NUMERIC precision {precision} must be between 1 and {MAX_PRECISION}"));
    }
    if !(-1000..=1000).contains(&scale) {
        return refuse(format!("NUMERIC scale {scale} must be between -1000 and 1000"));
    }
    Ok(typmod_of(precision, scale))
}

/// The magnitude if it has at most 127 bits.
#[inline]
fn small_magnitude(bytes: &[u8]) -> Option<u128> {
    if bytes.len() <= 8 {
        return Some(short_magnitude(bytes).into());
    }
    if bytes.len() > 16 {
        return None;
    }
    let mut word = [0u8; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let value = u128::from_le_bytes(word);
    (value >> 127 == 0).then_some(value)
}

/// Up to eight little-endian bytes: two reads that may overlap cost less than a copy of unknown length.
#[inline]
fn short_magnitude(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (low, high) = (u64::from(u32::from_le_bytes(*head)), u64::from(u32::from_le_bytes(*tail)));
        return low | high << ((len - 4) * 8);
    }
    match bytes {
        [] => 0,
        [a] => u64::from(*a),
        [a, b] => u64::from(u16::from_le_bytes([*a, *b])),
        _ => bytes.iter().rev().fold(0, |value, b| value << 8 | u64::from(*b)),
    }
}

/// Decimal digits of a number that is not zero.
fn big_digit_count(magnitude: &BigUint) -> u64 {
    let bits = magnitude.bits();
    // log10(2) as a fraction from below; the estimate is at most one too small.
    let estimate = (bits - 1) * 30_102_999 / 100_000_000;
    let mut count = estimate + 1;
    let mut power = BigUint::from(10u32).pow(count as u32);
    while *magnitude >= power {
        count += 1;
        power *= 10u32;
    }
    count
}

/// 22003: more than 131072 digits before the point or 16383 after.
fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_read_back_and_keys_order_as_values() {
        let big = "123456789012345678901234567890123456789012345678901234567890.5";
        let ordered = [
            "-Infinity",
            "-1e1000",
            "-1e61",
            "-123.4",
            "-123.39",
            "-1",
            "-0.001",
            "-1e-61",
            "-1e-100",
            "0",
            "1e-100",
            "1e-61",
            "0.01",
            "0.0100001",
            "1",
            "9",
            "10",
            "99.99",
            "100",
            "1e60",
            big,
            "1e61",
            "1e1000",
            "Infinity",
            "NaN",
        ];
        let numbers: Vec<_> = ordered.iter().map(|text| Numeric::parse(text).expect("a number")).collect();
        let keys: Vec<_> = numbers
            .iter()
            .map(|n| {
                let mut packed = Vec::new();
                n.pack(&mut packed);
                let read = Numeric::unpack(&packed);
                assert_eq!(&read, n);
                assert_eq!(read.scale, n.scale);
                let mut key = Vec::new();
                n.encode_key(&mut key);
                key
            })
            .collect();
        // 1e60 has exponent 61, which is beyond the short form, as `big` and 1e61 are or not: compare as values.
        for (a, ka) in numbers.iter().zip(&keys) {
            for (b, kb) in numbers.iter().zip(&keys) {
                assert_eq!(a.cmp(b), ka.cmp(kb), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn modifiers_check_precision_after_rounding() {
        let number = |text: &str| Numeric::parse(text).expect("a number");
        assert_eq!(number("123.456").apply_typmod(typmod_of(5, 2)).expect("fits"), number("123.46"));
        let error = number("999.995").apply_typmod(typmod_of(5, 2)).expect_err("overflow");
        let detail = "A field with precision 5, scale 2 must round to an absolute value less than 10^3.";
        assert_eq!(error.fields().detail.as_deref(), Some(detail));
        assert!(number("12345").apply_typmod(typmod_of(3, -2)).is_ok());
        assert_eq!(typmod_parts(typmod_of(5, -2)), (5, -2));
        assert!(number("1").apply_typmod(typmod_of(3, 3)).is_err());
    }
}
