//! Roots, logarithms, exponentials and powers of numeric. The scale of each result is PostgreSQL's; the digits are computed in
//! binary fixed point with guard bits and rounded once.

use super::arith::{self, MAX_DISPLAY, MIN_SIGNIFICANT, big_power};
use super::{Kind, MAX_INTEGER_DIGITS, Numeric, overflow};
use crate::{Result, SqlError, SqlState};
use num_bigint::{BigInt, BigUint, Sign};

/// log10(e)
const LOG10_E: f64 = std::f64::consts::LOG10_E;
/// Bits per decimal digit, rounded up.
const BITS_PER_DIGIT: f64 = 3.322;

impl Numeric {
    /// The square root (`numeric_sqrt`).
    pub fn sqrt(&self) -> Result<Numeric> {
        if self.is_nan() || matches!(self.kind, Kind::Infinity) {
            return Ok(self.clone());
        }
        if self.signum() < 0 {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "cannot take square root of a negative number",
            ));
        }
        let (weight, _) = self.first_group();
        // C's division, which cuts towards zero.
        let root_weight = (weight + 1) * 4 / 2 - 1;
        let scale = (MIN_SIGNIFICANT - root_weight).max(self.scale.into()).clamp(0, MAX_DISPLAY);
        Ok(self.sqrt_at(scale))
    }

    /// The square root of a number that is not negative, at a scale, rounded.
    fn sqrt_at(&self, scale: i64) -> Numeric {
        // One digit more than asked for; a remainder below it can only matter as "not a tie", which a sticky digit says.
        let shift = 2 * (scale + 1) - i64::from(self.scale);
        let mut radicand = self.coefficient().magnitude().clone();
        let mut sticky = false;
        if shift >= 0 {
            radicand *= big_power(shift as u32);
        } else {
            let divisor = big_power((-shift) as u32);
            let quotient = &radicand / &divisor;
            sticky = &quotient * &divisor != radicand;
            radicand = quotient;
        }
        let root = radicand.sqrt();
        sticky |= &root * &root != radicand;
        let root = root * 10u32 + u32::from(sticky);
        arith::rounded(BigInt::from(root), scale + 2, scale)
    }

    /// e to this power (`numeric_exp`).
    pub fn exp(&self) -> Result<Numeric> {
        match self.kind {
            Kind::NaN | Kind::Infinity => return Ok(self.clone()),
            Kind::NegInfinity => return Ok(Numeric::ZERO),
            Kind::Small(_) | Kind::Big(_) => {}
        }
        let approximate = self.approximate();
        let weight = (approximate * LOG10_E).clamp(-2000.0, 2000.0) as i64;
        let scale = (MIN_SIGNIFICANT - weight).max(self.scale.into()).clamp(0, MAX_DISPLAY);
        if approximate.abs() >= 6000.0 {
            return if approximate > 0.0 { Err(overflow()) } else { Ok(Numeric::new(0, scale as u16)) };
        }
        let bits = precision(scale, approximate.max(0.0) * std::f64::consts::LOG2_E);
        exp_fixed(&self.fixed(bits), bits, scale).checked()
    }

    /// The natural logarithm (`numeric_ln`).
    pub fn ln(&self) -> Result<Numeric> {
        if let Some(special) = self.log_special()? {
            return Ok(special);
        }
        let scale = (MIN_SIGNIFICANT - self.ln_weight()).max(self.scale.into()).clamp(0, MAX_DISPLAY);
        let bits = precision(scale, 0.0);
        Ok(from_fixed(&self.ln_fixed(bits), -(bits as i64), scale))
    }

    /// The logarithm to a base (`numeric_log`).
    pub fn log(&self, base: &Numeric) -> Result<Numeric> {
        if self.is_nan() || base.is_nan() {
            return Ok(Numeric::NAN);
        }
        // Errors for the base come first.
        let (base_special, special) = (base.log_special()?, self.log_special()?);
        match (base_special, special) {
            (Some(_), Some(_)) => return Ok(Numeric::NAN),
            (Some(_), None) => return Ok(Numeric::ZERO),
            (None, Some(_)) => {
                return Ok(Numeric::INFINITY);
            }
            (None, None) => {}
        }
        let (base_weight, weight) = (base.ln_weight(), self.ln_weight());
        let scale = (MIN_SIGNIFICANT - (weight - base_weight))
            .max(base.scale.into())
            .max(self.scale.into())
            .clamp(0, MAX_DISPLAY);
        let extra = 2.0 * BITS_PER_DIGIT * (base_weight.abs() + weight.abs() + 2) as f64;
        let bits = precision(scale, extra);
        let divisor = base.ln_fixed(bits);
        if divisor == BigInt::ZERO {
            return Err(SqlError::division_by_zero());
        }
        let numerator = (self.ln_fixed(bits) * 10 * BigInt::from(big_power(scale as u32))) / divisor;
        Ok(arith::rounded(numerator, scale + 1, scale))
    }

    /// Infinity and NaN as they are; errors for what has no logarithm.
    fn log_special(&self) -> Result<Option<Numeric>> {
        let refuse = |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message));
        match self.kind {
            Kind::NaN | Kind::Infinity => Ok(Some(self.clone())),
            _ if self.signum() < 0 => refuse("cannot take logarithm of a negative number"),
            _ if self.is_zero() => refuse("cannot take logarithm of zero"),
            _ => Ok(None),
        }
    }

    /// This number to a power (`numeric_power`).
    pub fn power(&self, exponent: &Numeric) -> Result<Numeric> {
        let refuse =
            |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message));
        if self.is_nan() {
            return Ok(if exponent.is_zero() { Numeric::ONE } else { Numeric::NAN });
        }
        if exponent.is_nan() {
            return Ok(if *self == Numeric::ONE { Numeric::ONE } else { Numeric::NAN });
        }
        let (sign, exponent_sign) = (self.signum(), exponent.signum());
        if sign == 0 && exponent_sign < 0 {
            return refuse("zero raised to a negative power is undefined");
        }
        if sign < 0 && !exponent.is_integral() {
            return refuse("a negative number raised to a non-integer power yields a complex result");
        }
        if self.is_infinite() || exponent.is_infinite() {
            return Ok(self.power_infinite(exponent));
        }
        if exponent.is_integral()
            && let Ok(power) = exponent.to_int(i32::MIN.into(), i32::MAX.into(), "integer")
        {
            return self.power_int(power);
        }
        if sign == 0 {
            return Ok(Numeric::new(0, MIN_SIGNIFICANT as u16));
        }
        let magnitude = self.abs().power_real(exponent)?;
        Ok(if sign < 0 && exponent.is_odd() { magnitude.neg() } else { magnitude })
    }

    /// The cases of POSIX `pow` with an infinite side, neither NaN nor in error.
    fn power_infinite(&self, exponent: &Numeric) -> Numeric {
        let (sign, exponent_sign) = (self.signum(), exponent.signum());
        if *self == Numeric::ONE || exponent_sign == 0 {
            return Numeric::ONE;
        }
        if sign == 0 {
            return Numeric::ZERO;
        }
        if exponent.is_infinite() {
            let magnitude = self.abs();
            if magnitude == Numeric::ONE {
                return Numeric::ONE;
            }
            let grows = (magnitude > Numeric::ONE) == (exponent_sign > 0);
            return if grows { Numeric::INFINITY } else { Numeric::ZERO };
        }
        if exponent_sign < 0 {
            Numeric::ZERO
        } else if sign < 0 && exponent.is_odd() {
            Numeric::NEG_INFINITY
        } else {
            Numeric::INFINITY
        }
    }

    /// `power_var_int`
    fn power_int(&self, exponent: i64) -> Result<Numeric> {
        let scale = MIN_SIGNIFICANT.max(self.scale.into()).min(MAX_DISPLAY);
        match exponent {
            0 => return Ok(Numeric::ONE.round(scale as i32)),
            1 => return Ok(self.round(scale as i32)),
            _ if self.is_zero() => return Ok(Numeric::new(0, scale as u16)),
            _ => {}
        }
        let weight = self.log10_approximate() * exponent as f64;
        if weight > MAX_INTEGER_DIGITS as f64 + 1.0 {
            return Err(overflow());
        }
        if weight + 1.0 < -(scale as f64) {
            return Ok(Numeric::new(0, scale as u16));
        }
        let count = exponent.unsigned_abs();
        let sign = if self.signum() < 0 && count % 2 == 1 { Sign::Minus } else { Sign::Plus };
        // Decimal floating point, so that short exact results stay exact and ties round as ties.
        let significant = weight.max(0.0) as u64 + scale as u64 + 20 + count.ilog10() as u64 * 2;
        let mut power = Decimal { coefficient: BigUint::from(1u32), scale: 0 };
        let mut square =
            Decimal { coefficient: self.coefficient().magnitude().clone(), scale: self.scale.into() };
        // A negative exponent needs its digits in the divisor, where the quotient's weight does not count them.
        let significant = if exponent < 0 { significant.max(scale as u64 + 40) } else { significant };
        let mut rest = count;
        while rest > 0 {
            if rest & 1 == 1 {
                power = power.times(&square, significant);
            }
            rest >>= 1;
            if rest > 0 {
                square = square.times(&square, significant);
            }
        }
        let (numerator, from) = if exponent > 0 {
            (power.coefficient, power.scale)
        } else {
            // 1 / (c / 10^s) at one digit more than asked for and a sticky digit.
            let shift = scale + 1 + power.scale;
            if shift < 0 {
                return Ok(Numeric::new(0, scale as u16));
            }
            let one = big_power(shift as u32);
            let quotient = &one / &power.coefficient;
            let sticky = &quotient * &power.coefficient != one;
            (quotient * 10u32 + u32::from(sticky), scale + 2)
        };
        arith::rounded(BigInt::from_biguint(sign, numerator), from, scale).checked()
    }

    /// `power_var` for a positive base and an exponent that is no small integer.
    fn power_real(&self, exponent: &Numeric) -> Result<Numeric> {
        let ln_weight = self.ln_weight();
        let approximate = self.ln_approximate() * exponent.approximate();
        if approximate.abs() > 2000.0 * 3.01 {
            return if approximate > 0.0 { Err(overflow()) } else { Ok(Numeric::new(0, MAX_DISPLAY as u16)) };
        }
        let weight = (approximate * LOG10_E) as i64;
        let scale = (MIN_SIGNIFICANT - weight)
            .max(self.scale.into())
            .max(exponent.scale.into())
            .clamp(0, MAX_DISPLAY);
        let exponent_bits = exponent.coefficient().bits() as f64;
        let extra =
            approximate.abs() * std::f64::consts::LOG2_E + exponent_bits + 4.0 * ln_weight.abs() as f64;
        let bits = precision(scale, extra);
        let product =
            self.ln_fixed(bits) * exponent.coefficient() / BigInt::from(big_power(exponent.scale.into()));
        exp_fixed(&product, bits, scale).checked()
    }

    /// Whether the number has no fraction; infinities have none (`numeric_is_integral`).
    pub fn is_integral(&self) -> bool {
        !self.is_nan() && (self.is_infinite() || self.trunc(0) == *self)
    }

    fn is_odd(&self) -> bool {
        self.is_finite() && self.is_integral() && self.trunc(0).coefficient().bit(0)
    }

    /// The number as a double, infinite where it is out of range (`numericvar_to_double_no_overflow`).
    fn approximate(&self) -> f64 {
        match self.kind {
            Kind::Small(v) if self.scale <= 300 => v as f64 / 10f64.powi(self.scale.into()),
            _ => self.to_string().parse().unwrap_or(0.0),
        }
    }

    /// ln of a positive number, with the precision of a double unless it is next to 1, and then with its relative precision.
    fn ln_approximate(&self) -> f64 {
        let near = match self.sub(&Numeric::ONE) {
            Ok(difference) => difference.approximate(),
            Err(_) => f64::INFINITY,
        };
        if near.abs() < 0.1 { near.ln_1p() } else { self.log10_approximate() * std::f64::consts::LN_10 }
    }

    /// log10 of the magnitude of a number other than zero.
    fn log10_approximate(&self) -> f64 {
        let count = self.digit_count();
        let lead = match &self.kind {
            Kind::Small(v) => v.unsigned_abs() as f64 / 10f64.powi(count as i32),
            _ => {
                let leading = self.coefficient().magnitude() / big_power((count - 30) as u32);
                u128::try_from(leading).unwrap_or(1) as f64 / 1e30
            }
        };
        lead.log10() + count as f64 - f64::from(self.scale)
    }

    /// Decimal weight of the natural logarithm's first digit (`estimate_ln_dweight`).
    fn ln_weight(&self) -> i64 {
        if self.signum() <= 0 {
            return 0;
        }
        if *self >= Numeric::new(9, 1) && *self <= Numeric::new(11, 1) {
            let difference = self.sub(&Numeric::ONE).unwrap_or(Numeric::ZERO);
            if difference.is_zero() {
                return 0;
            }
            let (weight, first) = difference.first_group();
            return weight * 4 + (first as f64).log10() as i64;
        }
        let (weight, first, second) = self.first_groups();
        let (digits, exponent) = match second {
            Some(second) => (first * 10_000 + second, weight * 4 - 4),
            None => (first, weight * 4),
        };
        let ln = (digits as f64).ln() + exponent as f64 * std::f64::consts::LN_10;
        ln.abs().log10() as i64
    }

    /// The number in binary fixed point.
    fn fixed(&self, bits: u64) -> BigInt {
        (self.coefficient() << bits) / BigInt::from(big_power(self.scale.into()))
    }

    /// ln of a positive number in binary fixed point.
    fn ln_fixed(&self, bits: u64) -> BigInt {
        // Roots are taken until the series converges fast; each costs one bit of the result.
        let roots = 4 + (bits as f64).sqrt() as u64 / 3;
        let p = bits + roots + 16;
        let (numerator, denominator) = (self.coefficient(), BigInt::from(big_power(self.scale.into())));
        let mut k = numerator.bits() as i64 - denominator.bits() as i64;
        let shift = p as i64 - k;
        let mut m = if shift >= 0 {
            (numerator << shift as u64) / denominator
        } else {
            (numerator >> (-shift) as u64) / denominator
        };
        let one = BigInt::from(1) << p;
        // m in about 1/2 .. 2; bring it to 2/3 .. 4/3.
        if &m * 3 > &one * 4 {
            m >>= 1;
            k += 1;
        } else if &m * 3 < &one * 2 {
            m <<= 1;
            k -= 1;
        }
        let mut root = m;
        for _ in 0..roots {
            root = (root << p).sqrt();
        }
        let y = ((&root - &one) << p) / (&root + &one);
        let square = (&y * &y) >> p;
        let mut term = y.clone();
        let mut sum = y;
        let mut i = 3u32;
        loop {
            term = (term * &square) >> p;
            // A shifted negative number ends at -1, not 0.
            if term.bits() <= 1 {
                break;
            }
            sum += &term / i;
            i += 2;
        }
        let ln_m = sum << (roots + 1);
        (ln_m + ln2(p) * k) >> (p - bits)
    }

    /// Variance or standard deviation from a count, a sum and a sum of squares (`numeric_stddev_internal`): what the aggregates
    /// end in. `None` where too few values make it NULL.
    pub fn deviation(
        count: i64,
        sum: &Numeric,
        squares: &Numeric,
        sample: bool,
        root: bool,
    ) -> Result<Option<Numeric>> {
        if count <= i64::from(sample) {
            return Ok(None);
        }
        if !sum.is_finite() || !squares.is_finite() {
            return Ok(Some(Numeric::NAN));
        }
        let n = Numeric::from(count);
        let scale = 2 * i32::from(sum.scale);
        let difference = n.mul(squares)?.round(scale).sub(&sum.mul(sum)?)?;
        if difference.signum() <= 0 {
            return Ok(Some(Numeric::ZERO));
        }
        let divisor = n.mul(&Numeric::from(count - i64::from(sample)))?;
        let variance = difference.div(&divisor)?;
        Ok(Some(if root { variance.sqrt_at(variance.scale.into()) } else { variance }))
    }
}

/// A positive decimal of limited digits; the scale may be negative.
struct Decimal {
    coefficient: BigUint,
    scale: i64,
}

impl Decimal {
    fn times(&self, other: &Decimal, significant: u64) -> Decimal {
        let mut coefficient = &self.coefficient * &other.coefficient;
        let mut scale = self.scale + other.scale;
        let limit = (significant as f64 * BITS_PER_DIGIT) as u64 + 8;
        if coefficient.bits() > limit {
            let drop = ((coefficient.bits() - limit) as f64 / BITS_PER_DIGIT) as u32;
            coefficient /= big_power(drop);
            scale -= i64::from(drop);
        }
        Decimal { coefficient, scale }
    }
}

/// Bits of fixed point for so many decimal digits, with guard bits.
fn precision(scale: i64, extra: f64) -> u64 {
    (scale as f64 * BITS_PER_DIGIT + extra.max(0.0)) as u64 + 64
}

/// ln 2 in binary fixed point, by Machin-like arctangents.
fn ln2(bits: u64) -> BigInt {
    let p = bits + 16;
    let atanh_inverse = |n: u32| {
        let square = n * n;
        let mut term = (BigInt::from(1) << p) / n;
        let mut sum = term.clone();
        let mut i = 3u32;
        while term != BigInt::ZERO {
            term /= square;
            sum += &term / i;
            i += 2;
        }
        sum
    };
    (atanh_inverse(26) * 18 - atanh_inverse(4801) * 2 + atanh_inverse(8749) * 8) >> 16
}

/// e to the power of a fixed-point number, as a decimal of the given scale.
fn exp_fixed(x: &BigInt, bits: u64, scale: i64) -> Numeric {
    let halvings = 4 + (bits as f64).sqrt() as u64 / 2;
    let p = bits + 2 * halvings + 16;
    let x = x << (p - bits);
    let ln2 = ln2(p);
    let mut k = &x / &ln2;
    if x.sign() == Sign::Minus {
        k -= 1;
    }
    let r = (&x - &k * &ln2) >> halvings;
    let one = BigInt::from(1) << p;
    let mut sum = one.clone();
    let mut term = one;
    let mut i = 1u32;
    while term != BigInt::ZERO {
        term = ((term * &r) >> p) / i;
        sum += &term;
        i += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> p;
    }
    let k = i64::try_from(k).unwrap_or(0);
    from_fixed(&sum, k - p as i64, scale)
}

/// `value * 2^exponent`, rounded to a decimal of the given scale.
fn from_fixed(value: &BigInt, exponent: i64, scale: i64) -> Numeric {
    let scaled = value.magnitude() * big_power(scale as u32);
    let rounded = if exponent >= 0 {
        scaled << exponent as u64
    } else {
        let shift = (-exponent) as u64;
        (scaled + (BigUint::from(1u32) << (shift - 1))) >> shift
    };
    Numeric::from_big(BigInt::from_biguint(value.sign(), rounded), scale as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Numeric {
        Numeric::parse(text).expect(text)
    }

    #[test]
    fn roots_logarithms_and_exponentials_are_those_of_postgres() {
        for (x, root) in [
            ("2", "1.414213562373095"),
            ("0.0001", "0.01000000000000000"),
            ("0.00000001234", "0.0001110855526159905"),
            ("123456789012345.0", "11111111.061111080"),
            ("0", "0.000000000000000"),
            ("1e50", "10000000000000000000000000"),
        ] {
            assert_eq!(n(x).sqrt().expect("a root").to_string(), root);
        }
        for (x, e) in [
            ("1", "2.7182818284590452"),
            ("-10.5", "0.00002753644934974716"),
            ("100.0", "26881171418161354484126255515800135873611118.8"),
        ] {
            assert_eq!(n(x).exp().expect("a power").to_string(), e);
        }
        for (x, ln) in [
            ("2", "0.6931471805599453"),
            ("0.5", "-0.6931471805599453"),
            ("1.00001", "0.000009999950000333331"),
            ("1e100", "230.25850929940457"),
            ("1", "0.0000000000000000"),
        ] {
            assert_eq!(n(x).ln().expect("a logarithm").to_string(), ln);
        }
        for (b, x, log) in [
            ("10", "100.0", "2.0000000000000000"),
            ("2.0", "1024", "10.0000000000000000"),
            ("0.5", "8", "-3.0000000000000000"),
        ] {
            assert_eq!(n(x).log(&n(b)).expect("a logarithm").to_string(), log);
        }
    }

    #[test]
    fn powers_are_those_of_postgres() {
        for (b, e, power) in [
            ("2.0", "100", "1267650600228229401496703205376.0000000000000000"),
            ("2.5", "3", "15.6250000000000000"),
            ("0.1", "20", "0.0000000000000000"),
            ("0.5", "-3", "8.0000000000000000"),
            ("0.99999", "3", "0.9999700002999990"),
            ("3.789", "-21.0000000000000000", "0.0000000000007096"),
            ("2.0", "0.5", "1.4142135623730950"),
            ("0", "1.5", "0.0000000000000000"),
            ("1.1", "100", "13780.6123398222701841"),
            ("1.234567", "3", "1.8816723022905623"),
            ("-Infinity", "3", "-Infinity"),
            ("0.5", "Infinity", "0"),
            ("-1.0", "Infinity", "1"),
            ("NaN", "0", "1"),
        ] {
            assert_eq!(n(b).power(&n(e)).expect("a power").to_string(), power, "{b} ^ {e}");
        }
        assert_eq!(
            n("0").power(&n("-1")).expect_err("pole").message(),
            "zero raised to a negative power is undefined"
        );
    }
}
