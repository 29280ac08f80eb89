//! Arithmetic of numeric that is exact or rounds once, with PostgreSQL's rules for the scale of results.

use super::{Kind, MAX_INTEGER_DIGITS, MAX_SCALE, Numeric, overflow};
use crate::{Result, SqlError};
use num_bigint::{BigInt, BigUint, Sign};

/// `NUMERIC_MIN_SIG_DIGITS`: the least significant digits of quotients, roots, logarithms.
pub(super) const MIN_SIGNIFICANT: i64 = 16;
/// `NUMERIC_MAX_DISPLAY_SCALE`
pub(super) const MAX_DISPLAY: i64 = 1000;
/// `NUMERIC_MAX_RESULT_SCALE`
pub(super) const MAX_RESULT_SCALE: i32 = 2000;

const POWERS: [i128; 39] = {
    let mut powers = [1i128; 39];
    let mut i = 1;
    while i < 39 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// A power of ten that fits.
#[inline]
pub(super) fn small_power(exponent: u16) -> Option<i128> {
    POWERS.get(usize::from(exponent)).copied()
}

/// A power of ten.
pub(super) fn big_power(exponent: u32) -> BigUint {
    match POWERS.get(exponent as usize) {
        Some(v) => BigUint::from(v.unsigned_abs()),
        None => BigUint::from(10u32).pow(exponent),
    }
}

impl Numeric {
    /// The sum (`numeric_add`); its scale is the greater one.
    #[inline]
    pub fn add(&self, other: &Numeric) -> Result<Numeric> {
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind)
            && let Some((a, b)) = align(*a, self.scale, *b, other.scale)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Numeric::new(sum, self.scale.max(other.scale)));
        }
        self.add_slow(other)
    }

    /// The difference (`numeric_sub`).
    #[inline]
    pub fn sub(&self, other: &Numeric) -> Result<Numeric> {
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind)
            && let Some((a, b)) = align(*a, self.scale, *b, other.scale)
            && let Some(difference) = a.checked_sub(b)
        {
            return Ok(Numeric::new(difference, self.scale.max(other.scale)));
        }
        self.add_slow(&other.neg())
    }

    fn add_slow(&self, other: &Numeric) -> Result<Numeric> {
        if self.is_nan() || other.is_nan() {
            return Ok(Numeric::NAN);
        }
        if !self.is_finite() || !other.is_finite() {
            let opposite = !self.is_finite() && !other.is_finite() && self.signum() != other.signum();
            let infinity = if self.is_finite() { other } else { self };
            return Ok(if opposite { Numeric::NAN } else { infinity.clone() });
        }
        let scale = self.scale.max(other.scale);
        Numeric::from_big(self.coefficient_at(scale) + other.coefficient_at(scale), scale).checked()
    }

    /// The product (`numeric_mul`); its scale is the sum of scales.
    #[inline]
    pub fn mul(&self, other: &Numeric) -> Result<Numeric> {
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind)
            && let Some(product) = a.checked_mul(*b)
            && self.scale + other.scale <= MAX_SCALE
        {
            return Ok(Numeric::new(product, self.scale + other.scale));
        }
        if self.is_nan() || other.is_nan() {
            return Ok(Numeric::NAN);
        }
        if !self.is_finite() || !other.is_finite() {
            return Ok(match self.signum() * other.signum() {
                0 => Numeric::NAN,
                1 => Numeric::INFINITY,
                _ => Numeric::NEG_INFINITY,
            });
        }
        let scale = i64::from(self.scale) + i64::from(other.scale);
        let product = self.coefficient() * other.coefficient();
        rounded(product, scale, i64::from(MAX_SCALE).min(scale)).checked()
    }

    /// The quotient (`numeric_div`): at least 16 significant digits, rounded half away from zero.
    pub fn div(&self, other: &Numeric) -> Result<Numeric> {
        if let Some(special) = self.div_special(other)? {
            return Ok(special);
        }
        self.quotient(other, self.div_scale(other), true).checked()
    }

    /// The quotient cut to an integer (`numeric_div_trunc`).
    pub fn div_trunc(&self, other: &Numeric) -> Result<Numeric> {
        match self.div_special(other)? {
            Some(special) => Ok(special),
            None => self.quotient(other, 0, false).checked(),
        }
    }

    /// The remainder of `div_trunc`, with the dividend's sign (`numeric_mod`).
    pub fn rem(&self, other: &Numeric) -> Result<Numeric> {
        if self.is_nan() || other.is_nan() {
            return Ok(Numeric::NAN);
        }
        if other.is_zero() {
            return Err(SqlError::division_by_zero());
        }
        if self.is_infinite() {
            return Ok(Numeric::NAN);
        }
        if other.is_infinite() {
            return Ok(self.clone());
        }
        let scale = self.scale.max(other.scale);
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind)
            && let Some((a, b)) = align(*a, self.scale, *b, other.scale)
            && let Some(rest) = a.checked_rem(b)
        {
            return Ok(Numeric::new(rest, scale));
        }
        Ok(Numeric::from_big(self.coefficient_at(scale) % other.coefficient_at(scale), scale))
    }

    /// What a division gives when a side is not finite, and the error for a zero divisor.
    fn div_special(&self, other: &Numeric) -> Result<Option<Numeric>> {
        if self.is_nan() || other.is_nan() {
            return Ok(Some(Numeric::NAN));
        }
        if other.is_zero() {
            return Err(SqlError::division_by_zero());
        }
        if self.is_infinite() {
            return Ok(Some(match (other.is_infinite(), self.signum() * other.signum()) {
                (true, _) => Numeric::NAN,
                (false, 1) => Numeric::INFINITY,
                (false, _) => Numeric::NEG_INFINITY,
            }));
        }
        Ok(other.is_infinite().then_some(Numeric::ZERO))
    }

    /// The scale of a quotient (`select_div_scale`): 16 significant digits by the estimate from the first base-10000 digits.
    fn div_scale(&self, other: &Numeric) -> i64 {
        let (weight1, first1) = self.first_group();
        let (weight2, first2) = other.first_group();
        let mut weight = weight1 - weight2;
        if first1 <= first2 {
            weight -= 1;
        }
        (MIN_SIGNIFICANT - weight * 4).max(self.scale.into()).max(other.scale.into()).clamp(0, MAX_DISPLAY)
    }

    /// Weight and value of the first digit in base 10000; (0, 0) for zero.
    pub(super) fn first_group(&self) -> (i64, i64) {
        let (weight, first, _) = self.first_groups();
        (weight, first)
    }

    /// Weight, first and second digit in base 10000; the second is `None` where only zeros follow the first.
    pub(super) fn first_groups(&self) -> (i64, i64, Option<i64>) {
        if self.is_zero() || !self.is_finite() {
            return (0, 0, None);
        }
        let exponent = self.exponent();
        let weight = (exponent - 1).div_euclid(4);
        let lead = (exponent - 1).rem_euclid(4) + 1;
        let count = self.digit_count() as i64;
        // The first `lead` digits, and the four after them; then whether anything but zeros follows the first group.
        let leading = |wanted: i64| -> i64 {
            let magnitude = self.coefficient().magnitude().clone();
            let digits = if count >= wanted {
                magnitude / big_power((count - wanted) as u32)
            } else {
                magnitude * big_power((wanted - count) as u32)
            };
            i64::try_from(digits).unwrap_or(0)
        };
        let (first, both) = match &self.kind {
            Kind::Small(v) => {
                let v = v.unsigned_abs() as i128;
                let cut = |wanted: i64| {
                    if count >= wanted {
                        (v / POWERS[(count - wanted) as usize]) as i64
                    } else {
                        (v * POWERS[(wanted - count) as usize]) as i64
                    }
                };
                (cut(lead), cut(lead + 4))
            }
            _ => (leading(lead), leading(lead + 4)),
        };
        let exact = match &self.kind {
            Kind::Small(v) if count > lead => v.unsigned_abs() as i128 % POWERS[(count - lead) as usize] == 0,
            Kind::Small(_) => true,
            _ => (self.coefficient().magnitude() % big_power((count - lead).max(0) as u32)) == BigUint::ZERO,
        };
        (weight, first, (!exact).then_some(both - first * 10_000))
    }

    /// `self / other` with the given scale, rounded half away from zero or cut. Both are finite, the divisor is not zero.
    fn quotient(&self, other: &Numeric, scale: i64, round: bool) -> Numeric {
        let shift = scale - i64::from(self.scale) + i64::from(other.scale);
        if let (Kind::Small(a), Kind::Small(b)) = (&self.kind, &other.kind) {
            let up = POWERS.get(shift.max(0) as usize);
            let down = POWERS.get((-shift).max(0) as usize);
            if let (Some(up), Some(down)) = (up, down)
                && let (Some(a), Some(b)) = (a.checked_mul(*up), b.checked_mul(*down))
            {
                let (numerator, divisor) = (a.unsigned_abs(), b.unsigned_abs());
                // Most divisors are short, and a 64-bit division of a short number is much faster.
                let (q, r) = match (u64::try_from(numerator), u64::try_from(divisor)) {
                    (Ok(n), Ok(d)) => ((n / d).into(), (n % d).into()),
                    _ => (numerator / divisor, numerator % divisor),
                };
                let q = q + u128::from(round && r >= divisor - r);
                if let Ok(q) = i128::try_from(q) {
                    return Numeric::new(if (a < 0) != (b < 0) { -q } else { q }, scale as u16);
                }
            }
        }
        let mut numerator = self.coefficient();
        let mut divisor = other.coefficient();
        if shift >= 0 {
            numerator *= BigInt::from(big_power(shift as u32));
        } else {
            divisor *= BigInt::from(big_power((-shift) as u32));
        }
        Numeric::from_big(divide(&numerator, &divisor, round), scale as u16)
    }

    /// The negative (`numeric_uminus`).
    pub fn neg(&self) -> Numeric {
        let kind = match &self.kind {
            Kind::NaN => Kind::NaN,
            Kind::Infinity => Kind::NegInfinity,
            Kind::NegInfinity => Kind::Infinity,
            Kind::Small(v) => match v.checked_neg() {
                Some(v) => Kind::Small(v),
                None => Kind::Big(-BigInt::from(*v)),
            },
            Kind::Big(v) => return Numeric::from_big(-v, self.scale),
        };
        Numeric { kind, scale: self.scale }
    }

    /// The absolute value (`numeric_abs`).
    pub fn abs(&self) -> Numeric {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }

    /// -1, 0, 1 or NaN (`numeric_sign`).
    pub fn sign(&self) -> Numeric {
        if self.is_nan() { Numeric::NAN } else { Numeric::new(self.signum().into(), 0) }
    }

    /// Rounded half away from zero to this many digits after (or, negative, before) the point (`numeric_round`).
    pub fn round(&self, digits: i32) -> Numeric {
        self.to_scale(digits, true)
    }

    /// Cut to this many digits after (or, negative, before) the point (`numeric_trunc`).
    pub fn trunc(&self, digits: i32) -> Numeric {
        self.to_scale(digits, false)
    }

    fn to_scale(&self, digits: i32, round: bool) -> Numeric {
        let digits = digits.clamp(-MAX_RESULT_SCALE, MAX_RESULT_SCALE);
        let scale = i32::from(self.scale);
        if !self.is_finite() || digits == scale {
            return self.clone();
        }
        let result_scale = digits.max(0) as u16;
        if digits > scale {
            return Numeric::from_big_or_small(self, result_scale);
        }
        let drop = (scale - digits) as u32;
        if let Kind::Small(v) = self.kind {
            if drop > 38 {
                return Numeric::new(0, result_scale);
            }
            let divisor = POWERS[drop as usize];
            let (mut q, r) = match (i64::try_from(v), i64::try_from(divisor)) {
                (Ok(v), Ok(d)) => ((v / d).into(), (v % d).into()),
                _ => (v / divisor, v % divisor),
            };
            if round && r.abs() >= divisor - r.abs() {
                q += v.signum();
            }
            if digits >= 0 {
                return Numeric::new(q, result_scale);
            }
            if let Some(q) = small_power(digits.unsigned_abs() as u16).and_then(|p| q.checked_mul(p)) {
                return Numeric::new(q, 0);
            }
        }
        let q = divide(&self.coefficient(), &BigInt::from(big_power(drop)), round);
        let restored = if digits < 0 { q * BigInt::from(big_power(digits.unsigned_abs())) } else { q };
        Numeric::from_big(restored, result_scale)
    }

    fn from_big_or_small(number: &Numeric, scale: u16) -> Numeric {
        if let Kind::Small(v) = number.kind
            && let Some(v) = small_power(scale - number.scale).and_then(|p| v.checked_mul(p))
        {
            return Numeric::new(v, scale);
        }
        Numeric::from_big(number.coefficient_at(scale), scale)
    }

    /// The least integer that is not less (`numeric_ceil`).
    pub fn ceil(&self) -> Numeric {
        let whole = self.trunc(0);
        if self.is_finite() && self.signum() > 0 && *self > whole { whole.plus_small(1) } else { whole }
    }

    /// The greatest integer that is not greater (`numeric_floor`).
    pub fn floor(&self) -> Numeric {
        let whole = self.trunc(0);
        if self.is_finite() && self.signum() < 0 && *self < whole { whole.plus_small(-1) } else { whole }
    }

    fn plus_small(&self, value: i128) -> Numeric {
        Numeric::from_big(self.coefficient() + value, 0)
    }

    /// The least scale that loses nothing (`numeric_min_scale`); `None` for NaN and infinities.
    pub fn min_scale(&self) -> Option<u16> {
        self.is_finite().then(|| self.trim_scale().scale)
    }

    /// The number without zeros at the end of its fraction (`numeric_trim_scale`).
    pub fn trim_scale(&self) -> Numeric {
        let mut number = self.clone();
        while number.scale > 0 && number.is_finite() {
            let shorter = number.trunc(i32::from(number.scale) - 1);
            if shorter != number {
                break;
            }
            number = shorter;
        }
        number
    }

    /// The greatest common divisor (`numeric_gcd`).
    pub fn gcd(&self, other: &Numeric) -> Result<Numeric> {
        if !self.is_finite() || !other.is_finite() {
            return Ok(Numeric::NAN);
        }
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (self.coefficient_at(scale), other.coefficient_at(scale));
        while b != BigInt::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        Ok(Numeric::from_big(a, scale).abs())
    }

    /// The least common multiple (`numeric_lcm`).
    pub fn lcm(&self, other: &Numeric) -> Result<Numeric> {
        if !self.is_finite() || !other.is_finite() {
            return Ok(Numeric::NAN);
        }
        let scale = self.scale.max(other.scale);
        if self.is_zero() || other.is_zero() {
            return Ok(Numeric::new(0, scale));
        }
        let gcd = self.gcd(other)?;
        let product = self.quotient(&gcd, 0, false).mul(other)?;
        Ok(Numeric::from_big(product.coefficient_at(scale), scale).abs())
    }

    /// n! (`numeric_fac`).
    pub fn factorial(n: i64) -> Result<Numeric> {
        if n < 0 {
            return Err(SqlError::new(
                crate::SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                "factorial of a negative number is undefined",
            ));
        }
        if n > 32_177 {
            return Err(overflow());
        }
        let product = (2..=n).fold(BigInt::from(1), |product, i| product * i);
        Ok(Numeric::from_big(product, 0))
    }

    /// The coefficient at a scale that is not smaller than the number's.
    pub(super) fn coefficient_at(&self, scale: u16) -> BigInt {
        let coefficient = self.coefficient();
        match scale.saturating_sub(self.scale) {
            0 => coefficient,
            up => coefficient * BigInt::from(big_power(up.into())),
        }
    }

    /// The number, or an error if it has too many digits before the point.
    pub(super) fn checked(self) -> Result<Numeric> {
        let is_too_long = matches!(self.kind, Kind::Big(_)) && self.exponent() > MAX_INTEGER_DIGITS as i64;
        if is_too_long { Err(overflow()) } else { Ok(self) }
    }
}

/// Both coefficients at the greater scale, if they fit.
#[inline]
fn align(a: i128, scale_a: u16, b: i128, scale_b: u16) -> Option<(i128, i128)> {
    if scale_a == scale_b {
        Some((a, b))
    } else if scale_a < scale_b {
        Some((a.checked_mul(small_power(scale_b - scale_a)?)?, b))
    } else {
        Some((a, b.checked_mul(small_power(scale_a - scale_b)?)?))
    }
}

/// A coefficient brought from one scale to a smaller or equal one, rounded.
pub(super) fn rounded(coefficient: BigInt, from: i64, to: i64) -> Numeric {
    let drop = from - to;
    let coefficient = match drop {
        ..0 => coefficient * BigInt::from(big_power((-drop) as u32)),
        0 => coefficient,
        1.. => divide(&coefficient, &BigInt::from(big_power(drop as u32)), true),
    };
    Numeric::from_big(coefficient, to as u16)
}

/// Division rounded half away from zero, or cut.
pub(super) fn divide(numerator: &BigInt, divisor: &BigInt, round: bool) -> BigInt {
    let (n, d) = (numerator.magnitude(), divisor.magnitude());
    let mut q = n / d;
    if round && (n - &q * d) * 2u32 >= *d {
        q += 1u32;
    }
    let negative = (numerator.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, q)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Numeric {
        Numeric::parse(text).expect(text)
    }

    #[test]
    fn quotients_have_the_scale_that_postgres_gives_them() {
        for (a, b, q) in [
            ("1.0", "3", "0.33333333333333333333"),
            ("10", "3.0000", "3.3333333333333333"),
            ("1e10", "7", "1428571428.57142857"),
            ("1e-10", "7", "0.0000000000142857142857142857"),
            ("0", "5.0", "0.00000000000000000000"),
            ("Infinity", "2", "Infinity"),
            ("2", "Infinity", "0"),
            ("NaN", "0", "NaN"),
            (
                "1e100",
                "3",
                "3333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333",
            ),
        ] {
            assert_eq!(n(a).div(&n(b)).expect("a quotient").to_string(), q, "{a} / {b}");
        }
        assert_eq!(n("1").div(&n("0")).expect_err("zero").message(), "division by zero");
        for (a, b, r) in
            [("5.5", "2", "1.5"), ("-5.5", "2", "-1.5"), ("5.5", "-2", "1.5"), ("2", "Infinity", "2")]
        {
            assert_eq!(n(a).rem(&n(b)).expect("a remainder").to_string(), r);
        }
        assert_eq!(n("-7.5").div_trunc(&n("2")).expect("a quotient").to_string(), "-3");
    }

    #[test]
    fn rounding_is_half_away_from_zero_on_either_side_of_the_point() {
        for (a, digits, r) in [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("1234.567", -2, "1200"),
            ("5.55", 5, "5.55000"),
            ("0.4", 0, "0"),
            ("5", -1, "10"),
        ] {
            assert_eq!(n(a).round(digits).to_string(), r);
        }
        assert_eq!(n("-1234.567").trunc(1).to_string(), "-1234.5");
        assert_eq!(n("-1.5").ceil().to_string(), "-1");
        assert_eq!(n("-1.5").floor().to_string(), "-2");
        assert_eq!(n("12.5").gcd(&n("5")).expect("finite").to_string(), "2.5");
        assert_eq!(n("12.50").lcm(&n("5")).expect("finite").to_string(), "25.00");
        assert_eq!(n("1.500").trim_scale().to_string(), "1.5");
    }
}
