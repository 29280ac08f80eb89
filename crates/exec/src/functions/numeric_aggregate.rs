//! sum and avg with numeric results, and variances of integers and numerics. Compare the aggregate part of `numeric.c`
//! (`int8_avg_accum`, `numeric_poly_avg`, `numeric_avg_accum`).

use super::aggregate::aggregate;
use super::{Accumulator, AggregateFn, EvalContext};
use catalog::types::numeric::Numeric;
use catalog::types::oid;
use catalog::{Datum, Oid, Result};

/// The aggregates of this file by name and argument type.
pub(super) fn find(name: &str, first: Oid) -> Option<AggregateFn> {
    Some(match (name, first) {
        ("sum", oid::INT8) => aggregate(|_, _| Ok(Box::new(IntTotal::<false>::default()))),
        ("avg", oid::INT2 | oid::INT4 | oid::INT8) => {
            aggregate(|_, _| Ok(Box::new(IntTotal::<true>::default())))
        }
        ("sum", oid::NUMERIC) => aggregate(|_, _| Ok(Box::new(NumericTotal::<false>::default()))),
        ("avg", oid::NUMERIC) => aggregate(|_, _| Ok(Box::new(NumericTotal::<true>::default()))),
        ("variance" | "var_samp", t) if counts(t) => start(t, true, false)?,
        ("var_pop", t) if counts(t) => start(t, false, false)?,
        ("stddev" | "stddev_samp", t) if counts(t) => start(t, true, true)?,
        ("stddev_pop", t) if counts(t) => start(t, false, true)?,
        _ => return None,
    })
}

fn counts(typ: Oid) -> bool {
    matches!(typ, oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC)
}

fn start(typ: Oid, sample: bool, root: bool) -> Option<AggregateFn> {
    Some(match (typ == oid::NUMERIC, sample, root) {
        (true, true, true) => aggregate(|_, _| Ok(Deviation::start(true, true, true))),
        (true, true, false) => aggregate(|_, _| Ok(Deviation::start(true, true, false))),
        (true, false, true) => aggregate(|_, _| Ok(Deviation::start(true, false, true))),
        (true, false, false) => aggregate(|_, _| Ok(Deviation::start(true, false, false))),
        (false, true, true) => aggregate(|_, _| Ok(Deviation::start(false, true, true))),
        (false, true, false) => aggregate(|_, _| Ok(Deviation::start(false, true, false))),
        (false, false, true) => aggregate(|_, _| Ok(Deviation::start(false, false, true))),
        (false, false, false) => aggregate(|_, _| Ok(Deviation::start(false, false, false))),
    })
}

/// The sum of integers in 128 bits, which no number of rows overflows; as a sum or an average.
#[derive(Default)]
struct IntTotal<const AVERAGE: bool> {
    sum: i128,
    count: i64,
}

impl<const AVERAGE: bool> Accumulator for IntTotal<AVERAGE> {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        self.sum += i128::from(args[0].as_int());
        self.count += 1;
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        let sum = Numeric::new(self.sum, 0);
        let result = if AVERAGE { sum.div(&Numeric::from(self.count))? } else { sum };
        Ok(result.datum(cx.arena))
    }

    fn remove(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<bool> {
        self.sum -= i128::from(args[0].as_int());
        self.count -= 1;
        Ok(true)
    }
}

/// The sum or average of numerics.
#[derive(Default)]
struct NumericTotal<const AVERAGE: bool> {
    sum: Option<Numeric>,
    count: i64,
}

impl<const AVERAGE: bool> Accumulator for NumericTotal<AVERAGE> {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let value = Numeric::unpack(args[0].as_bytes());
        self.sum = Some(match &self.sum {
            None => value,
            Some(sum) => sum.add(&value)?,
        });
        self.count += 1;
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        let Some(sum) = &self.sum else { return Ok(Datum::Null) };
        if AVERAGE {
            Ok(sum.div(&Numeric::from(self.count))?.datum(cx.arena))
        } else {
            Ok(sum.datum(cx.arena))
        }
    }
}

/// Variance and standard deviation of integers and numerics: count, sum, sum of squares.
struct Deviation {
    numeric: bool,
    sample: bool,
    root: bool,
    count: i64,
    sum: Numeric,
    squares: Numeric,
}

impl Deviation {
    fn start(numeric: bool, sample: bool, root: bool) -> Box<dyn Accumulator> {
        Box::new(Deviation { numeric, sample, root, count: 0, sum: Numeric::ZERO, squares: Numeric::ZERO })
    }

    fn value(&self, d: Datum<'_>) -> Numeric {
        if self.numeric { Numeric::unpack(d.as_bytes()) } else { Numeric::from(d.as_int()) }
    }
}

impl Accumulator for Deviation {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let value = self.value(args[0]);
        self.squares = self.squares.add(&value.mul(&value)?)?;
        self.sum = self.sum.add(&value)?;
        self.count += 1;
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        let result = Numeric::deviation(self.count, &self.sum, &self.squares, self.sample, self.root)?;
        Ok(result.map_or(Datum::Null, |r| r.datum(cx.arena)))
    }
}
