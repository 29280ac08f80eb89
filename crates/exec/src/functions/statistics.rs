//! Statistics over double precision: averages, variances, regression; and the ordered-set aggregates. Compare `float8_accum`,
//! `float8_regr_accum` in `float.c` (the Youngs-Cramer algorithm) and `orderedsetaggs.c`.

use super::aggregate::aggregate;
use super::float::overflow;
use super::{Accumulator, AggregateFn, CallTypes, EvalContext, array};
use catalog::types::{self, oid};
use catalog::{Datum, Interval, Oid, Result, SqlError, SqlState, Value};

/// The aggregates of this file by name and argument type.
pub(super) fn find(name: &str, first: Oid, args: usize) -> Option<AggregateFn> {
    macro_rules! float {
        ($finish:expr) => {
            aggregate(|_, _| Ok(Box::new(Moments { finish: $finish, ..Moments::NEW })))
        };
    }
    macro_rules! regression {
        ($finish:expr) => {
            aggregate(|_, _| Ok(Box::new(Regression { finish: $finish, ..Regression::NEW })))
        };
    }
    let is_float = matches!(first, oid::FLOAT4 | oid::FLOAT8);
    Some(match (name, args) {
        ("avg", 1) if is_float => float!(|m| (m.n > 0.0).then(|| m.sum / m.n)),
        ("variance" | "var_samp", 1) if is_float => float!(|m| (m.n > 1.0).then(|| m.squares / (m.n - 1.0))),
        ("var_pop", 1) if is_float => float!(|m| (m.n > 0.0).then(|| m.squares / m.n)),
        ("stddev" | "stddev_samp", 1) if is_float => {
            float!(|m| (m.n > 1.0).then(|| (m.squares / (m.n - 1.0)).sqrt()))
        }
        ("stddev_pop", 1) if is_float => float!(|m| (m.n > 0.0).then(|| (m.squares / m.n).sqrt())),
        ("regr_count", 2) => AggregateFn { start: |_, _| Ok(Box::new(RegressionCount(0))), strict: true },
        ("regr_sxx", 2) => regression!(|r| (r.n > 0.0).then_some(r.sxx)),
        ("regr_syy", 2) => regression!(|r| (r.n > 0.0).then_some(r.syy)),
        ("regr_sxy", 2) => regression!(|r| (r.n > 0.0).then_some(r.sxy)),
        ("regr_avgx", 2) => regression!(|r| (r.n > 0.0).then(|| r.sx / r.n)),
        ("regr_avgy", 2) => regression!(|r| (r.n > 0.0).then(|| r.sy / r.n)),
        ("covar_pop", 2) => regression!(|r| (r.n > 0.0).then(|| r.sxy / r.n)),
        ("covar_samp", 2) => regression!(|r| (r.n > 1.0).then(|| r.sxy / (r.n - 1.0))),
        ("corr", 2) => {
            regression!(
                |r| (r.n > 0.0 && r.sxx != 0.0 && r.syy != 0.0).then(|| r.sxy / (r.sxx * r.syy).sqrt())
            )
        }
        ("regr_r2", 2) => regression!(|r| {
            if r.n < 1.0 || r.sxx == 0.0 {
                None
            } else if r.syy == 0.0 {
                Some(1.0)
            } else {
                Some(r.sxy * r.sxy / (r.sxx * r.syy))
            }
        }),
        ("regr_slope", 2) => regression!(|r| (r.n > 0.0 && r.sxx != 0.0).then(|| r.sxy / r.sxx)),
        ("regr_intercept", 2) => {
            regression!(|r| (r.n > 0.0 && r.sxx != 0.0).then(|| (r.sy - r.sx * r.sxy / r.sxx) / r.n))
        }
        ("percentile_cont", _) => aggregate(|types, direct| percentile(types, direct, true)),
        ("percentile_disc", _) => aggregate(|types, direct| percentile(types, direct, false)),
        ("mode", _) => aggregate(|types, _| {
            let typ = types::by_oid(types.result.oid)
                .ok_or_else(|| SqlError::internal("mode has a type that is implemented"))?;
            Ok(Box::new(Mode { compare: typ.compare, current: None, best: None }))
        }),
        _ => return None,
    })
}

/// Count, sum and sum of squared differences from the mean.
struct Moments {
    n: f64,
    sum: f64,
    squares: f64,
    finish: fn(&Moments) -> Option<f64>,
}

impl Moments {
    const NEW: Moments = Moments { n: 0.0, sum: 0.0, squares: 0.0, finish: |_| None };
}

impl Accumulator for Moments {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let value = args[0].as_float();
        let old_sum = self.sum;
        self.n += 1.0;
        self.sum += value;
        if self.n > 1.0 {
            let difference = value * self.n - self.sum;
            self.squares += difference * difference / (self.n * (self.n - 1.0));
            if self.sum.is_infinite() || self.squares.is_infinite() {
                if old_sum.is_finite() && value.is_finite() {
                    return Err(overflow());
                }
                self.squares = f64::NAN;
            }
        } else if !value.is_finite() {
            self.squares = f64::NAN;
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok((self.finish)(self).map_or(Datum::Null, Datum::Float))
    }
}

/// Sums over pairs (y, x).
struct Regression {
    n: f64,
    sx: f64,
    sxx: f64,
    sy: f64,
    syy: f64,
    sxy: f64,
    finish: fn(&Regression) -> Option<f64>,
}

impl Regression {
    const NEW: Regression =
        Regression { n: 0.0, sx: 0.0, sxx: 0.0, sy: 0.0, syy: 0.0, sxy: 0.0, finish: |_| None };
}

impl Accumulator for Regression {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let (y, x) = (args[0].as_float(), args[1].as_float());
        let (old_sx, old_sy) = (self.sx, self.sy);
        self.n += 1.0;
        self.sx += x;
        self.sy += y;
        if self.n > 1.0 {
            let (dx, dy) = (x * self.n - self.sx, y * self.n - self.sy);
            let scale = 1.0 / (self.n * (self.n - 1.0));
            self.sxx += dx * dx * scale;
            self.syy += dy * dy * scale;
            self.sxy += dx * dy * scale;
            let sums = [self.sx, self.sxx, self.sy, self.syy, self.sxy];
            if sums.iter().any(|s| s.is_infinite()) {
                if [old_sx, x, old_sy, y].iter().all(|v| v.is_finite()) {
                    return Err(overflow());
                }
                for sum in [&mut self.sxx, &mut self.syy, &mut self.sxy] {
                    if sum.is_infinite() {
                        *sum = f64::NAN;
                    }
                }
            }
        } else {
            if !x.is_finite() {
                (self.sxx, self.sxy) = (f64::NAN, f64::NAN);
            }
            if !y.is_finite() {
                (self.syy, self.sxy) = (f64::NAN, f64::NAN);
            }
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok((self.finish)(self).map_or(Datum::Null, Datum::Float))
    }
}

/// regr_count: pairs without a NULL.
struct RegressionCount(i64);

impl Accumulator for RegressionCount {
    fn add(&mut self, _: &EvalContext<'_>, _: &[Datum<'_>]) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(Datum::Int(self.0))
    }
}

/// percentile_cont and percentile_disc over values that arrive in order; one fraction or an array of them.
struct Percentile {
    fractions: Vec<Option<f64>>,
    many: bool,
    continuous: bool,
    result: Oid,
    values: Vec<Value>,
    bytes: usize,
}

fn percentile(types: &CallTypes, direct: &[Datum<'_>], continuous: bool) -> Result<Box<dyn Accumulator>> {
    let result = crate::bind::type_info::element_of(types.result.oid);
    // With an array of fractions the result is an array; percentile_disc over arrays has the array's type with one fraction.
    let many = result.is_valid() && matches!(direct.first(), Some(Datum::Bytes(_)));
    let fractions = match direct.first() {
        None | Some(Datum::Null) => vec![None],
        Some(Datum::Float(f)) => vec![Some(*f)],
        Some(array) => array::elements(*array)
            .iter()
            .map(|d| if d.is_null() { None } else { Some(d.as_float()) })
            .collect(),
    };
    for fraction in fractions.iter().flatten() {
        if !(0.0..=1.0).contains(fraction) {
            let message = format!("percentile value {fraction} is not between 0 and 1");
            return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
    }
    Ok(Box::new(Percentile {
        fractions,
        many,
        continuous,
        result: if many { result } else { types.result.oid },
        values: Vec::new(),
        bytes: 0,
    }))
}

impl Percentile {
    fn at(&self, fraction: Option<f64>) -> Result<Value> {
        let (Some(fraction), false) = (fraction, self.values.is_empty()) else { return Ok(Value::Null) };
        let count = self.values.len();
        let value = |i: usize| self.values.get(i.min(count - 1)).cloned().unwrap_or_default();
        if !self.continuous {
            let place = (fraction * count as f64).ceil() as usize;
            return Ok(value(place.max(1) - 1));
        }
        let place = fraction * (count - 1) as f64;
        let (first, second) = (place.floor(), place.ceil());
        let low = value(first as usize);
        if first == second {
            return Ok(low);
        }
        let part = place - first;
        Ok(match (low, value(second as usize)) {
            (Value::Float(low), Value::Float(high)) => Value::Float(low + part * (high - low)),
            (Value::Interval(low), Value::Interval(high)) => Value::Interval(between(low, high, part)?),
            (low, _) => low,
        })
    }
}

fn between(low: Interval, high: Interval, part: f64) -> Result<Interval> {
    low.add(&high.sub(&low)?.mul(part)?)
}

impl Accumulator for Percentile {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        if let Some(value) = args.first()
            && !value.is_null()
        {
            self.bytes += 32 + if let Datum::Bytes(b) = value { b.len() } else { 0 };
            self.values.push(value.to_value());
        }
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        if !self.many {
            let fraction = self.fractions.first().copied().flatten();
            return Ok(self.at(fraction)?.datum().copy_in(cx.arena));
        }
        if self.values.is_empty() {
            return Ok(Datum::Null);
        }
        let values: Vec<Value> = self.fractions.iter().map(|f| self.at(*f)).collect::<Result<_>>()?;
        let values: Vec<Datum<'_>> = values.iter().map(Value::datum).collect();
        Ok(array::from_values(cx, self.result, &values))
    }

    fn size(&self) -> usize {
        64 + self.bytes
    }
}

/// mode: the most frequent of values that arrive in order; of several the first.
struct Mode {
    compare: fn(Datum<'_>, Datum<'_>) -> std::cmp::Ordering,
    current: Option<(Value, u64)>,
    best: Option<(Value, u64)>,
}

impl Accumulator for Mode {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let Some(value) = args.first().filter(|v| !v.is_null()) else { return Ok(()) };
        match &mut self.current {
            Some((current, count)) if (self.compare)(current.datum(), *value).is_eq() => *count += 1,
            _ => self.current = Some((value.to_value(), 1)),
        }
        if let Some((current, count)) = &self.current
            && self.best.as_ref().is_none_or(|(_, best)| count > best)
        {
            self.best = Some((current.clone(), *count));
        }
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.best.as_ref().map_or(Datum::Null, |(value, _)| value.datum().copy_in(cx.arena)))
    }
}
