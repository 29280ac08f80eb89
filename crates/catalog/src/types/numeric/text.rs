//! Text and binary forms of numeric, and conversions from and to other numbers.

use super::{Kind, MAX_INTEGER_DIGITS, MAX_SCALE, Numeric, arith, overflow, small_magnitude};
use crate::{Result, SqlError, SqlState};
use num_bigint::{BigInt, BigUint, Sign};

impl Numeric {
    /// Reads the text form (`numeric_in`).
    pub fn parse(text: &str) -> Result<Numeric> {
        let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        let word = text.trim_matches(is_space);
        let invalid = || SqlError::invalid_text("numeric", text);
        let bytes = word.as_bytes();
        let (negative, unsigned) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        if !matches!(unsigned.first(), Some(b'0'..=b'9' | b'.')) {
            return if bytes.eq_ignore_ascii_case(b"nan") {
                Ok(Numeric::NAN)
            } else if unsigned.eq_ignore_ascii_case(b"infinity") || unsigned.eq_ignore_ascii_case(b"inf") {
                Ok(if negative { Numeric::NEG_INFINITY } else { Numeric::INFINITY })
            } else {
                Err(invalid())
            };
        }
        let mut small: u128 = 0;
        let mut digit_count = 0usize;
        let mut scale: i64 = 0;
        let mut point = false;
        let mut end = unsigned.len();
        for (i, &b) in unsigned.iter().enumerate() {
            match b {
                b'0'..=b'9' => {
                    if digit_count < 37 {
                        small = small * 10 + u128::from(b - b'0');
                    }
                    digit_count += usize::from(digit_count > 0 || b != b'0');
                    scale += i64::from(point);
                }
                b'.' if !point => point = true,
                _ => {
                    end = i;
                    break;
                }
            }
        }
        let (number, rest) = unsigned.split_at(end);
        if !number.iter().any(u8::is_ascii_digit) {
            return Err(invalid());
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', exponent @ ..] => parse_exponent(exponent).ok_or_else(invalid)?,
            _ => return Err(invalid()),
        };
        if exponent.abs() >= i64::from(i32::MAX / 2) {
            return Err(overflow());
        }
        scale -= exponent;
        let zeros = (-scale).max(0);
        let scale = scale.max(0);
        if scale > i64::from(MAX_SCALE) {
            return Err(overflow());
        }
        let scale = scale as u16;
        if digit_count == 0 {
            return Ok(Numeric::new(0, scale));
        }
        if digit_count as i64 + zeros - i64::from(scale) > MAX_INTEGER_DIGITS as i64 {
            return Err(overflow());
        }
        if digit_count as i64 + zeros <= 37 {
            let small = small as i128 * arith::small_power(zeros as u16).unwrap_or(1);
            return Ok(Numeric::new(if negative { -small } else { small }, scale));
        }
        let digits: Vec<u8> = number.iter().filter(|b| **b != b'.').map(|b| b - b'0').collect();
        let magnitude =
            BigUint::from_radix_be(&digits, 10).ok_or_else(invalid)? * arith::big_power(zeros as u32);
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        Ok(Numeric::from_big(BigInt::from_biguint(sign, magnitude), scale))
    }

    /// Appends the text form (`numeric_out`).
    pub fn print(&self, out: &mut Vec<u8>) {
        match &self.kind {
            Kind::NaN => out.extend_from_slice(b"NaN"),
            Kind::Infinity => out.extend_from_slice(b"Infinity"),
            Kind::NegInfinity => out.extend_from_slice(b"-Infinity"),
            Kind::Small(v) => print_small(*v < 0, v.unsigned_abs(), self.scale, out),
            Kind::Big(v) => {
                let digits = v.magnitude().to_str_radix(10);
                print_digits(v.sign() == Sign::Minus, digits.as_bytes(), self.scale, out);
            }
        }
    }

    /// Appends the binary form (`numeric_send`): digits in base 10000.
    pub(super) fn send(&self, out: &mut Vec<u8>) {
        let mut put = |count: u16, weight: i16, sign: u16, scale: u16| {
            out.extend_from_slice(&count.to_be_bytes());
            out.extend_from_slice(&weight.to_be_bytes());
            out.extend_from_slice(&sign.to_be_bytes());
            out.extend_from_slice(&scale.to_be_bytes());
        };
        let negative = self.signum() < 0;
        match &self.kind {
            Kind::NaN => return put(0, 0, 0xc000, 0),
            Kind::Infinity => return put(0, 0, 0xd000, 0x20),
            Kind::NegInfinity => return put(0, 0, 0xf000, 0x20),
            Kind::Small(0) => return put(0, 0, 0, self.scale),
            Kind::Small(_) | Kind::Big(_) => {}
        }
        let sign = if negative { 0x4000 } else { 0 };
        let mut buffer = itoa::Buffer::new();
        let big;
        let digits = match &self.kind {
            Kind::Small(v) => buffer.format(v.unsigned_abs()).as_bytes(),
            _ => {
                big = self.coefficient().magnitude().to_str_radix(10);
                big.as_bytes()
            }
        };
        // The exponent of the first digit's group of four decides where the groups begin.
        let exponent = digits.len() as i64 - i64::from(self.scale);
        let weight = (exponent - 1).div_euclid(4);
        let lead = (exponent - 1).rem_euclid(4) as usize + 1;
        let group = |digits: &[u8]| digits.iter().fold(0u16, |v, d| v * 10 + u16::from(d - b'0'));
        let (head, tail) = digits.split_at(lead.min(digits.len()));
        let pad = |group: u16, len: usize| group * 10u16.pow(4 - len as u32);
        let head_value = group(head) * 10u16.pow((lead - head.len()) as u32);
        let significant = tail.iter().rposition(|d| *d != b'0').map_or(0, |i| i + 1);
        let tail = &tail[..significant];
        let count = 1 + tail.len().div_ceil(4);
        put(count as u16, weight as i16, sign, self.scale);
        out.extend_from_slice(&head_value.to_be_bytes());
        for chunk in tail.chunks(4) {
            out.extend_from_slice(&pad(group(chunk), chunk.len()).to_be_bytes());
        }
    }

    /// From a double, by its 15 significant digits (`float8_numeric`).
    pub fn from_f64(value: f64) -> Result<Numeric> {
        Numeric::from_float(value, 15)
    }

    /// From a real, by its 6 significant digits (`float4_numeric`).
    pub fn from_f32(value: f32) -> Result<Numeric> {
        Numeric::from_float(value.into(), 6)
    }

    fn from_float(value: f64, digits: usize) -> Result<Numeric> {
        if value.is_nan() {
            Ok(Numeric::NAN)
        } else if value.is_infinite() {
            Ok(if value > 0.0 { Numeric::INFINITY } else { Numeric::NEG_INFINITY })
        } else {
            let text = format!("{:.*e}", digits - 1, value);
            // As %g does: without the zeros at the end of the mantissa.
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            let mantissa = if mantissa.is_empty() || mantissa == "-" { "0" } else { mantissa };
            Numeric::parse(&format!("{mantissa}e{exponent}"))
        }
    }

    /// To a double (`numeric_float8`); 22003 if it is out of range.
    pub fn to_f64(&self) -> Result<f64> {
        match &self.kind {
            Kind::NaN => Ok(f64::NAN),
            Kind::Infinity => Ok(f64::INFINITY),
            Kind::NegInfinity => Ok(f64::NEG_INFINITY),
            // Both exact, so the division rounds once.
            Kind::Small(v) if v.unsigned_abs() < 1 << 53 && self.scale <= 22 => {
                Ok(*v as f64 / 10f64.powi(self.scale.into()))
            }
            Kind::Small(_) | Kind::Big(_) => super::super::float::parse_float8(&self.to_string()),
        }
    }

    /// To a real (`numeric_float4`); 22003 if it is out of range.
    pub fn to_f32(&self) -> Result<f32> {
        match &self.kind {
            Kind::NaN => Ok(f32::NAN),
            Kind::Infinity => Ok(f32::INFINITY),
            Kind::NegInfinity => Ok(f32::NEG_INFINITY),
            Kind::Small(_) | Kind::Big(_) => super::super::float::parse_float4(&self.to_string()),
        }
    }

    /// To an integer within bounds, rounded; `type_name` is for the errors (`numeric_int8` and its like).
    pub fn to_int(&self, low: i64, high: i64, type_name: &str) -> Result<i64> {
        let cannot = |what: &str| {
            SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot convert {what} to {type_name}"))
        };
        match &self.kind {
            Kind::NaN => return Err(cannot("NaN")),
            Kind::Infinity | Kind::NegInfinity => return Err(cannot("infinity")),
            Kind::Small(_) | Kind::Big(_) => {}
        }
        match self.round(0).kind {
            Kind::Small(v) => i64::try_from(v).ok().filter(|v| (low..=high).contains(v)),
            _ => None,
        }
        .ok_or_else(|| SqlError::out_of_range(type_name))
    }

    /// To a bigint (`numeric_int8`).
    pub fn to_i64(&self) -> Result<i64> {
        self.to_int(i64::MIN, i64::MAX, "bigint")
    }
}

impl std::fmt::Display for Numeric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::new();
        self.print(&mut out);
        f.write_str(std::str::from_utf8(&out).unwrap_or_default())
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Numeric::new(value.into(), 0)
    }
}

/// Appends the text of a packed value.
pub(super) fn print_packed(bytes: &[u8], out: &mut Vec<u8>) {
    if let Some((header, magnitude)) = bytes.split_first_chunk::<2>() {
        let header = u16::from_le_bytes(*header);
        if header < 0x8000
            && let Some(magnitude) = small_magnitude(magnitude)
        {
            return print_small(header >> 14 == 1, magnitude, header & MAX_SCALE, out);
        }
    }
    Numeric::unpack(bytes).print(out);
}

#[inline]
fn print_small(negative: bool, magnitude: u128, scale: u16, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = match u64::try_from(magnitude) {
        Ok(short) => buffer.format(short),
        Err(_) => buffer.format(magnitude),
    };
    print_digits(negative, digits.as_bytes(), scale, out);
}

#[inline]
fn print_digits(negative: bool, digits: &[u8], scale: u16, out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    let scale = usize::from(scale);
    if scale == 0 {
        out.extend_from_slice(digits);
    } else if digits.len() > scale {
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        out.extend_from_slice(whole);
        out.push(b'.');
        out.extend_from_slice(fraction);
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + scale - digits.len(), b'0');
        out.extend_from_slice(digits);
    }
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for b in digits {
        if !b.is_ascii_digit() {
            return None;
        }
        value = value.saturating_mul(10).saturating_add((b - b'0').into());
    }
    Some(if negative { -value } else { value })
}

/// Reads the binary form (`numeric_recv`).
pub(super) fn receive(bytes: &[u8]) -> Result<Numeric> {
    let short = || SqlError::protocol("insufficient data left in message");
    let invalid = |what: &str| {
        let message = format!("invalid {what} in external \"numeric\" value");
        SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, message)
    };
    let mut words =
        bytes.chunks(2).map(|w| <[u8; 2]>::try_from(w).map(u16::from_be_bytes).map_err(|_| short()));
    let mut next = || words.next().unwrap_or_else(|| Err(short()));
    let (count, weight, sign, scale) = (next()?, next()? as i16, next()?, next()?);
    match sign {
        0 | 0x4000 | 0xc000 | 0xd000 | 0xf000 => {}
        _ => return Err(invalid("sign")),
    }
    if scale & !MAX_SCALE != 0 {
        return Err(invalid("scale"));
    }
    let mut digits = Vec::with_capacity(usize::from(count).min(bytes.len()));
    for _ in 0..count {
        let digit = next()?;
        if digit >= 10_000 {
            return Err(invalid("digit"));
        }
        for place in [1000, 100, 10, 1] {
            digits.push((digit / place % 10) as u8);
        }
    }
    if bytes.len() > 8 + 2 * usize::from(count) {
        return Err(SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, "incorrect binary data format"));
    }
    match sign {
        0xc000 => return Ok(Numeric::NAN),
        0xd000 => return Ok(Numeric::INFINITY),
        0xf000 => return Ok(Numeric::NEG_INFINITY),
        _ => {}
    }
    let magnitude = BigUint::from_radix_be(&digits, 10).unwrap_or_default();
    // The digits given have this scale; the one announced may cut or extend it.
    let given = 4 * (i64::from(count) - i64::from(weight) - 1);
    let cut = given - i64::from(scale);
    let magnitude = if magnitude == BigUint::ZERO {
        magnitude
    } else if cut > 0 {
        magnitude / arith::big_power(cut as u32)
    } else {
        magnitude * arith::big_power((-cut) as u32)
    };
    let sign = if sign == 0x4000 { Sign::Minus } else { Sign::Plus };
    Ok(Numeric::from_big(BigInt::from_biguint(sign, magnitude), scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_and_prints() {
        for (text, printed) in [
            ("+.5", "0.5"),
            ("5.", "5"),
            ("1.50e2", "150"),
            ("1e-5", "0.00001"),
            ("-0.00", "0.00"),
            (" inf ", "Infinity"),
            (
                "12345678901234567890123456789012345678901234567890.10",
                "12345678901234567890123456789012345678901234567890.10",
            ),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("000000000000000000000000000000000000000000000000001.5", "1.5"),
            ("1e38", "100000000000000000000000000000000000000"),
        ] {
            assert_eq!(Numeric::parse(text).expect(text).to_string(), printed);
        }
        for text in ["x", "1e", "-", ".", "1 2", "infi", "0x10", "1_000", "", "+nan"] {
            let message = format!("invalid input syntax for type numeric: \"{text}\"");
            assert_eq!(Numeric::parse(text).expect_err(text).message(), message);
        }
        for text in ["1e999999999999", "1e131072", "1e-20000"] {
            assert_eq!(Numeric::parse(text).expect_err(text).message(), "value overflows numeric format");
        }
    }

    #[test]
    fn floats_convert_by_their_significant_digits() {
        for (value, text) in [
            (1e30, "1000000000000000000000000000000"),
            (1.234567890123457, "1.23456789012346"),
            (0.1, "0.1"),
            (0.0, "0"),
            (100.0, "100"),
        ] {
            assert_eq!(Numeric::from_f64(value).expect("finite").to_string(), text);
        }
        assert_eq!(Numeric::from_f32(123456789.0).expect("finite").to_string(), "123457000");
        assert_eq!(Numeric::new(25, 1).to_i64().ok(), Some(3));
        assert_eq!(Numeric::new(-25, 1).to_i64().ok(), Some(-3));
        assert_eq!(Numeric::new(12345, 3).to_f64().ok(), Some(12.345));
    }
}
