//! float4, float8: decimal with optional exponent, `NaN`, `Infinity`, `inf`; printed with the fewest digits that read back
//! (`1e+20`, `Infinity`, `NaN`), or with `%.{15+n}g` where extra_float_digits is 0 or less. Compare PostgreSQL's `float.c`.
//!
//! Key bytes: the IEEE bits, big-endian, sign bit flipped for positive, all bits flipped for negative numbers. -0 is stored as 0,
//! every NaN as the one that sorts above Infinity; so -0 reads back from a key as 0, which is why keys do not decode.

use super::{Physical, Shape, Type, int, oid};
use crate::{Datum, Result, SqlError, SqlState};
use std::cmp::Ordering;

/// real
pub static FLOAT4: Type = Type {
    oid: oid::FLOAT4,
    name: "float4",
    sql_name: "real",
    array_oid: oid::FLOAT4_ARRAY,
    len: 4,
    category: b'N',
    shape: Shape::Float,
    physical: Physical::Float4,
    input: |text, _| parse_float4(text).map(|v| Datum::Float(v.into())),
    output: |value, style, out| print_float4(value.as_float() as f32, style.extra_float_digits, out),
    receive: |bytes, _| int::receive::<4>(bytes).map(|b| Datum::Float(f32::from_be_bytes(b).into())),
    send: |value, _, out| out.extend_from_slice(&(value.as_float() as f32).to_be_bytes()),
    compare: |a, b| compare(a.as_float(), b.as_float()),
    encode_key: Some(|value, out| {
        let bits = (canonical(value.as_float()) as f32).to_bits();
        let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        out.extend_from_slice(&ordered.to_be_bytes());
    }),
    ..Type::BASE
};

/// double precision
pub static FLOAT8: Type = Type {
    oid: oid::FLOAT8,
    name: "float8",
    sql_name: "double precision",
    array_oid: oid::FLOAT8_ARRAY,
    len: 8,
    category: b'N',
    preferred: true,
    shape: Shape::Float,
    physical: Physical::Float8,
    input: |text, _| parse_float8(text).map(Datum::Float),
    output: |value, style, out| print_float8(value.as_float(), style.extra_float_digits, out),
    receive: |bytes, _| int::receive::<8>(bytes).map(|b| Datum::Float(f64::from_be_bytes(b))),
    send: |value, _, out| out.extend_from_slice(&value.as_float().to_be_bytes()),
    compare: |a, b| compare(a.as_float(), b.as_float()),
    encode_key: Some(|value, out| {
        let bits = canonical(value.as_float()).to_bits();
        let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        out.extend_from_slice(&ordered.to_be_bytes());
    }),
    ..Type::BASE
};

/// PostgreSQL's order: NaN equals itself and is greater than all else; -0 equals 0.
#[inline]
pub fn compare(a: f64, b: f64) -> Ordering {
    match a.partial_cmp(&b) {
        Some(order) => order,
        None => a.is_nan().cmp(&b.is_nan()),
    }
}

/// One bit pattern per class of equal values.
fn canonical(value: f64) -> f64 {
    if value.is_nan() {
        f64::from_bits(0x7ff8_0000_0000_0000)
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

/// Reads a double (`float8in`).
pub fn parse_float8(text: &str) -> Result<f64> {
    parse(text, "double precision", |s| s.parse().ok())
}

/// Reads a real (`float4in`).
pub fn parse_float4(text: &str) -> Result<f32> {
    parse(text, "real", |s| s.parse().ok())
}

trait Number: Copy {
    fn is_zero(self) -> bool;
    fn is_infinite(self) -> bool;
    fn of_hex(value: f64) -> Self;
    const NAN: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
}

macro_rules! numbers {
    ($($t:ident)*) => { $(impl Number for $t {
        fn is_zero(self) -> bool { self == 0.0 }
        fn is_infinite(self) -> bool { $t::is_infinite(self) }
        fn of_hex(value: f64) -> Self { value as $t }
        const NAN: Self = $t::NAN;
        const INFINITY: Self = $t::INFINITY;
        const NEG_INFINITY: Self = $t::NEG_INFINITY;
    })* };
}
numbers!(f32 f64);

fn parse<F: Number>(text: &str, type_name: &str, read: fn(&str) -> Option<F>) -> Result<F> {
    let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    let number = text.trim_start_matches(is_space);
    let len = number_len(number.as_bytes());
    let (digits, rest) = number.split_at(len);
    let value = if len > 0 {
        let value = if is_hex(digits) { parse_hex(digits).map(F::of_hex) } else { read(digits) };
        let value = value.ok_or_else(|| SqlError::invalid_text(type_name, text))?;
        // A mantissa of nothing but zeros is zero whatever its exponent.
        let is_zero = || {
            digits
                .bytes()
                .take_while(|b| !matches!(b, b'e' | b'E' | b'p' | b'P'))
                .all(|b| !matches!(b, b'1'..=b'9'))
        };
        // PostgreSQL names the number for one type and the whole text for the other.
        let named = if type_name == "real" { text } else { digits };
        if value.is_infinite() || (value.is_zero() && !is_hex(digits) && !is_zero()) {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("\"{named}\" is out of range for type {type_name}"),
            ));
        }
        value
    } else {
        let word = number.trim_end_matches(is_space);
        let (sign, bare) = match word.as_bytes().first() {
            Some(b'-') => (-1, &word[1..]),
            Some(b'+') => (1, &word[1..]),
            _ => (0, word),
        };
        return if bare.eq_ignore_ascii_case("nan") && sign == 0 {
            Ok(F::NAN)
        } else if bare.eq_ignore_ascii_case("infinity") || bare.eq_ignore_ascii_case("inf") {
            Ok(if sign < 0 { F::NEG_INFINITY } else { F::INFINITY })
        } else {
            Err(SqlError::invalid_text(type_name, text))
        };
    };
    if rest.trim_start_matches(is_space).is_empty() {
        Ok(value)
    } else {
        Err(SqlError::invalid_text(type_name, text))
    }
}

fn is_hex(digits: &str) -> bool {
    let bare = digits.trim_start_matches(['+', '-']).as_bytes();
    matches!(bare, [b'0', b'x' | b'X', ..])
}

/// How many bytes at the front C's `strtod` takes for a number; 0 if they are none.
fn number_len(bytes: &[u8]) -> usize {
    let mut i = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let hex = at(i) == b'0' && matches!(at(i + 1), b'x' | b'X');
    if hex {
        i += 2;
    }
    let is_digit = |b: u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let start = i;
    while is_digit(at(i)) {
        i += 1;
    }
    let mut count = i - start;
    if at(i) == b'.' {
        let point = i;
        i += 1;
        while is_digit(at(i)) {
            i += 1;
        }
        count += i - point - 1;
    }
    if count == 0 {
        return 0;
    }
    if at(i) | 0x20 == if hex { b'p' } else { b'e' } {
        let sign = usize::from(matches!(at(i + 1), b'+' | b'-'));
        if at(i + 1 + sign).is_ascii_digit() {
            i += 1 + sign;
            while at(i).is_ascii_digit() {
                i += 1;
            }
        }
    }
    i
}

/// C99 hexadecimal floats, exact up to 60 bits of mantissa.
fn parse_hex(digits: &str) -> Option<f64> {
    let negative = digits.starts_with('-');
    let bare = digits.trim_start_matches(['+', '-']).get(2..)?;
    let (mantissa, exponent) = bare.split_once(['p', 'P']).unwrap_or((bare, "0"));
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value: u64 = 0;
    for (i, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(c.to_digit(16)?);
        if value >> 60 == 0 {
            value = value << 4 | digit;
            if i >= whole.len() {
                exponent = exponent.checked_sub(4)?;
            }
        } else if i < whole.len() {
            exponent = exponent.checked_add(4)?;
        }
    }
    let value = value as f64 * 2f64.powi(exponent);
    Some(if negative { -value } else { value })
}

/// Appends a double (`float8out`).
#[inline]
pub fn print_float8(value: f64, extra_float_digits: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        special(value, out);
    } else if extra_float_digits > 0 {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(value);
        if (1e-4..1e15).contains(&value.abs()) {
            plain(text, out);
        } else if value.abs() >= (1u64 << f64::MANTISSA_DIGITS) as f64 {
            large(text, value, f64::MANTISSA_DIGITS, 15, out);
        } else {
            shortest(text, 15, out);
        }
    } else {
        general(value, 15 + extra_float_digits, out);
    }
}

/// Appends a real (`float4out`).
#[inline]
pub fn print_float4(value: f32, extra_float_digits: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        special(value.into(), out);
    } else if extra_float_digits > 0 {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(value);
        if (1e-4..1e6).contains(&value.abs()) {
            plain(text, out);
        } else if value.abs() >= (1u64 << f32::MANTISSA_DIGITS) as f32 {
            large(text, value.into(), f32::MANTISSA_DIGITS, 6, out);
        } else {
            shortest(text, 6, out);
        }
    } else {
        general(value.into(), 6 + extra_float_digits, out);
    }
}

/// The shortest digits of an integer with more bits than the mantissa has. Where they lie exactly between two floating-point
/// numbers PostgreSQL does not trust the reader to round to even (`acceptBounds` in `d2s.c`) and prints one digit more.
fn large(text: &str, value: f64, mantissa_bits: u32, fixed_digits: i32, out: &mut Vec<u8>) {
    let magnitude = value.abs();
    if magnitude < 2f64.powi(120) {
        let exponent = ((magnitude.to_bits() >> 52) as u32).saturating_sub(1023);
        let half_gap = 1u128 << exponent.saturating_sub(mantissa_bits);
        let exact = magnitude as u128;
        let (digits, printed) = read_integer(text);
        let gap = if exact.is_power_of_two() && printed < exact { half_gap / 2 } else { half_gap };
        if printed.abs_diff(exact) == gap {
            // The bound itself may end in zeros, so that it takes several digits to leave it.
            let longer = (digits..=17).map(|digits| format!("{value:.digits$e}"));
            let mut inside = longer.skip_while(|text| read_integer(text).1.abs_diff(exact) >= gap);
            return shortest(inside.next().as_deref().unwrap_or(text), fixed_digits, out);
        }
    }
    shortest(text, fixed_digits, out);
}

/// The number of significant digits and the magnitude of a printed integer (`123e7`, `1.5e20`).
fn read_integer(text: &str) -> (usize, u128) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = |value: u128, text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit);
        digits.fold(value, |value, digit| value.saturating_mul(10).saturating_add(u128::from(digit - b'0')))
    };
    let value = digits(digits(0, whole), fraction);
    let shift = exponent.parse::<u32>().unwrap_or(0).saturating_sub(fraction.len() as u32);
    let significant = value.checked_ilog10().map_or(1, |log| log as usize + 1);
    let mut stripped = value;
    let mut zeros = 0;
    while stripped != 0 && stripped % 10 == 0 {
        stripped /= 10;
        zeros += 1;
    }
    (significant - zeros, value.saturating_mul(10u128.saturating_pow(shift)))
}

fn special(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"Infinity"
    } else {
        b"-Infinity"
    });
}

/// Where PostgreSQL prints without exponent, the shortest digits are laid out already, but for `.0` after an integer.
#[inline]
fn plain(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Lays the shortest digits out as PostgreSQL does: fixed while the exponent is in -4 .. `fixed_digits`, else scientific.
fn shortest(text: &str, fixed_digits: i32, out: &mut Vec<u8>) {
    let mut bytes = text.as_bytes();
    if let [b'-', rest @ ..] = bytes {
        out.push(b'-');
        bytes = rest;
    }
    let mut digits = [0u8; 24];
    let mut count = 0;
    let mut point = None;
    let mut exponent = 0i32;
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        i += 1;
        match b {
            b'0'..=b'9' => {
                // Leading zeros move the point only.
                if count == 0 && b == b'0' {
                    if point.is_some() {
                        exponent -= 1;
                    }
                    continue;
                }
                if let Some(slot) = digits.get_mut(count) {
                    *slot = b;
                    count += 1;
                }
            }
            b'.' => point = Some(count as i32),
            _ => {
                let mut negative = false;
                let mut e = 0i32;
                for &b in &bytes[i..] {
                    match b {
                        b'-' => negative = true,
                        b'0'..=b'9' => e = e * 10 + i32::from(b - b'0'),
                        _ => {}
                    }
                }
                exponent += if negative { -e } else { e };
                break;
            }
        }
    }
    if count == 0 {
        out.push(b'0');
        return;
    }
    // The decimal exponent of the first digit.
    let exponent = exponent + point.unwrap_or(count as i32) - 1;
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
    }
    lay_out(&digits[..count], exponent, fixed_digits, out);
}

fn lay_out(digits: &[u8], exponent: i32, fixed_digits: i32, out: &mut Vec<u8>) {
    const ZEROS: &[u8] = b"0000000000000000000000000000000000000000";
    let count = digits.len() as i32;
    if exponent < -4 || exponent >= fixed_digits {
        out.push(digits[0]);
        if count > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        out.push(if exponent < 0 { b'-' } else { b'+' });
        let e = exponent.unsigned_abs();
        if e < 10 {
            out.push(b'0');
        }
        out.extend_from_slice(itoa::Buffer::new().format(e).as_bytes());
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend_from_slice(&ZEROS[..(-exponent - 1) as usize]);
        out.extend_from_slice(digits);
    } else if count <= exponent + 1 {
        out.extend_from_slice(digits);
        out.extend_from_slice(&ZEROS[..(exponent + 1 - count) as usize]);
    } else {
        let (whole, fraction) = digits.split_at((exponent + 1) as usize);
        out.extend_from_slice(whole);
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}

/// C's `%.{precision}g`.
fn general(value: f64, precision: i32, out: &mut Vec<u8>) {
    let precision = precision.max(1);
    // Correctly rounded, like C's printf. This style is not the default, so its allocation does not matter.
    let text = format!("{:.*e}", precision as usize - 1, value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    if mantissa.starts_with('-') {
        out.push(b'-');
    }
    lay_out(&digits, exponent, precision, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(value: f64, extra: i32) -> String {
        let mut out = Vec::new();
        print_float8(value, extra, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn doubles_print_as_postgres_prints_them() {
        for (value, text) in [
            (1e15, "1e+15"),
            (1e14, "100000000000000"),
            (123456789012345678.0, "1.2345678901234568e+17"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (-0.0, "-0"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (0.00012345, "0.00012345"),
            (100.0, "100"),
            (-1234.5, "-1234.5"),
            // Halfway to a neighbour at 16 digits.
            (32348987997122327.0, "3.2348987997122328e+16"),
            (-57885053835750652.0, "-5.7885053835750656e+16"),
            (50930799774727857.6, "5.0930799774727856e+16"),
        ] {
            assert_eq!(print(value, 1), text);
        }
        assert_eq!(print(1.0 / 3.0, 0), "0.333333333333333");
        assert_eq!(print(1e16, 0), "1e+16");
        assert_eq!(print(123.456, -15), "1e+02");
        let mut out = Vec::new();
        for value in [1e6f32, 999999.0, 16777216.0, 123456.7] {
            print_float4(value, 1, &mut out);
            out.push(b' ');
        }
        assert_eq!(out, b"1e+06 999999 1.6777216e+07 123456.7 ");
    }

    #[test]
    fn text_reads_as_strtod_reads_it() {
        assert_eq!(parse_float8(" 5. ").ok(), Some(5.0));
        assert_eq!(parse_float8("0x1p3").ok(), Some(8.0));
        assert_eq!(parse_float8("0e999").ok(), Some(0.0));
        assert_eq!(parse_float8("-inf").ok(), Some(f64::NEG_INFINITY));
        for (text, message) in [
            ("1e400", "\"1e400\" is out of range for type double precision"),
            (" 1e-400", "\"1e-400\" is out of range for type double precision"),
            ("1e", "invalid input syntax for type double precision: \"1e\""),
            (".", "invalid input syntax for type double precision: \".\""),
            ("infinit", "invalid input syntax for type double precision: \"infinit\""),
        ] {
            assert_eq!(parse_float8(text).expect_err(text).message(), message);
        }
    }
}
