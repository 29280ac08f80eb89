//! Aggregates: count, sum, avg, min and max, booleans and bits, string_agg. Compare the transition functions in `int8.c`,
//! `float.c`, `varlena.c`. Those over numeric are in `numeric_aggregate`, statistics in `statistics`.

use super::{
    Accumulator, AggregateFn, EvalContext, Implementation, array, json_build, numeric_aggregate, statistics,
};
use catalog::pg::Proc;
use catalog::types::{self, Type, oid};
use catalog::{Datum, Interval, Oid, Result, SqlError, Value};

/// The implementation of an aggregate, by name and first argument.
pub(super) fn find(proc: &Proc) -> Option<Implementation> {
    let first = proc.args.first().copied().unwrap_or(Oid::INVALID);
    let found = match (proc.name.as_str(), first) {
        ("count", Oid::INVALID) => COUNT_ALL,
        ("count", _) => COUNT,
        ("sum", oid::INT2 | oid::INT4) => aggregate(|_, _| Ok(Box::new(IntSum::default()))),
        ("sum", oid::FLOAT4 | oid::FLOAT8) => {
            if first == oid::FLOAT4 {
                aggregate(|_, _| Ok(Box::new(FloatSum::<true>::default())))
            } else {
                aggregate(|_, _| Ok(Box::new(FloatSum::<false>::default())))
            }
        }
        ("min", _) => aggregate(|types, _| extreme(types, false)),
        ("max", _) => aggregate(|types, _| extreme(types, true)),
        ("bool_and" | "every", oid::BOOL) => aggregate(|_, _| Ok(Box::new(Booleans::<true>::default()))),
        ("bool_or", oid::BOOL) => aggregate(|_, _| Ok(Box::new(Booleans::<false>::default()))),
        ("bit_and", oid::INT2 | oid::INT4 | oid::INT8) => {
            aggregate(|_, _| Ok(Box::new(Bits { value: None, combine: |a, b| a & b })))
        }
        ("bit_or", oid::INT2 | oid::INT4 | oid::INT8) => {
            aggregate(|_, _| Ok(Box::new(Bits { value: None, combine: |a, b| a | b })))
        }
        ("bit_xor", oid::INT2 | oid::INT4 | oid::INT8) => {
            aggregate(|_, _| Ok(Box::new(Bits { value: None, combine: |a, b| a ^ b })))
        }
        ("string_agg", oid::TEXT | oid::BYTEA) => {
            AggregateFn { start: |_, _| Ok(Box::new(Joined::default())), strict: false }
        }
        ("sum", oid::INTERVAL) => aggregate(|_, _| Ok(Box::new(IntervalTotal::<false>::default()))),
        ("avg", oid::INTERVAL) => aggregate(|_, _| Ok(Box::new(IntervalTotal::<true>::default()))),
        ("json_agg" | "json_object_agg", _) => return json_build::find_aggregate(&proc.name),
        ("array_agg", _) => return Some(array::find_aggregate(first)),
        (name, _) => {
            numeric_aggregate::find(name, first).or_else(|| statistics::find(name, first, proc.args.len()))?
        }
    };
    Some(Implementation::Aggregate(found))
}

/// A strict aggregate.
pub(super) const fn aggregate(start: super::StartFn) -> AggregateFn {
    AggregateFn { start, strict: true }
}

const COUNT: AggregateFn = aggregate(|_, _| Ok(Box::new(Count(0))));
const COUNT_ALL: AggregateFn = AggregateFn { start: |_, _| Ok(Box::new(Count(0))), strict: false };

struct Count(i64);

impl Accumulator for Count {
    fn add(&mut self, _: &EvalContext<'_>, _: &[Datum<'_>]) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(Datum::Int(self.0))
    }

    fn remove(&mut self, _: &EvalContext<'_>, _: &[Datum<'_>]) -> Result<bool> {
        self.0 -= 1;
        Ok(true)
    }
}

/// sum of int2 and int4, as int8.
#[derive(Default)]
struct IntSum {
    sum: i64,
    count: u64,
}

impl Accumulator for IntSum {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        self.sum = self.sum.wrapping_add(args[0].as_int());
        self.count += 1;
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(if self.count == 0 { Datum::Null } else { Datum::Int(self.sum) })
    }

    fn remove(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<bool> {
        self.sum = self.sum.wrapping_sub(args[0].as_int());
        self.count -= 1;
        Ok(true)
    }
}

/// sum of floats; single precision adds in single precision (`float4pl`).
#[derive(Default)]
struct FloatSum<const SINGLE: bool> {
    sum: Option<f64>,
}

impl<const SINGLE: bool> Accumulator for FloatSum<SINGLE> {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let value = args[0].as_float();
        let Some(sum) = self.sum else {
            self.sum = Some(value);
            return Ok(());
        };
        let next = if SINGLE { f64::from(sum as f32 + value as f32) } else { sum + value };
        if next.is_infinite() && sum.is_finite() && value.is_finite() {
            return Err(super::float::overflow());
        }
        self.sum = Some(next);
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.sum.map_or(Datum::Null, Datum::Float))
    }
}

/// sum and avg of intervals.
#[derive(Default)]
struct IntervalTotal<const AVERAGE: bool> {
    sum: Interval,
    count: u64,
}

impl<const AVERAGE: bool> Accumulator for IntervalTotal<AVERAGE> {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        self.sum = self.sum.add(&args[0].as_interval())?;
        self.count += 1;
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        Ok(Datum::Interval(if AVERAGE { self.sum.div(self.count as f64)? } else { self.sum }))
    }

    fn remove(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<bool> {
        self.sum = self.sum.sub(&args[0].as_interval())?;
        self.count -= 1;
        Ok(true)
    }
}

/// min and max of any type that has an order.
struct Extreme {
    best: Option<Value>,
    max: bool,
    compare: fn(Datum<'_>, Datum<'_>) -> std::cmp::Ordering,
}

fn extreme(types: &super::CallTypes, max: bool) -> Result<Box<dyn Accumulator>> {
    let typ: &Type = types::by_oid(types.result.oid)
        .ok_or_else(|| SqlError::internal("min and max have a type that is implemented"))?;
    Ok(Box::new(Extreme { best: None, max, compare: typ.compare }))
}

impl Accumulator for Extreme {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let better = match &self.best {
            None => true,
            Some(best) => {
                let order = (self.compare)(args[0], best.datum());
                if self.max { order.is_gt() } else { order.is_lt() }
            }
        };
        if better {
            self.best = Some(args[0].to_value());
        }
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.best.as_ref().map_or(Datum::Null, |v| v.datum().copy_in(cx.arena)))
    }
}

#[derive(Default)]
struct Booleans<const AND: bool> {
    trues: u64,
    falses: u64,
}

impl<const AND: bool> Accumulator for Booleans<AND> {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        if args[0].as_bool() {
            self.trues += 1;
        } else {
            self.falses += 1;
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        if self.trues + self.falses == 0 {
            return Ok(Datum::Null);
        }
        Ok(Datum::Bool(if AND { self.falses == 0 } else { self.trues > 0 }))
    }

    fn remove(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<bool> {
        if args[0].as_bool() {
            self.trues -= 1;
        } else {
            self.falses -= 1;
        }
        Ok(true)
    }
}

struct Bits {
    value: Option<i64>,
    combine: fn(i64, i64) -> i64,
}

impl Accumulator for Bits {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        let value = args[0].as_int();
        self.value = Some(self.value.map_or(value, |old| (self.combine)(old, value)));
        Ok(())
    }

    fn finish<'a>(&self, _: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.value.map_or(Datum::Null, Datum::Int))
    }
}

/// string_agg of text and bytea: NULL values are skipped, a NULL separator is none.
#[derive(Default)]
struct Joined {
    joined: Option<Vec<u8>>,
}

impl Accumulator for Joined {
    fn add(&mut self, _: &EvalContext<'_>, args: &[Datum<'_>]) -> Result<()> {
        if args[0].is_null() {
            return Ok(());
        }
        match &mut self.joined {
            None => self.joined = Some(args[0].as_bytes().to_vec()),
            Some(joined) => {
                if !args[1].is_null() {
                    joined.extend_from_slice(args[1].as_bytes());
                }
                joined.extend_from_slice(args[0].as_bytes());
                if joined.len() > super::string::MAX_BYTES {
                    return Err(super::string::too_large());
                }
            }
        }
        Ok(())
    }

    fn finish<'a>(&self, cx: &EvalContext<'a>) -> Result<Datum<'a>> {
        Ok(self.joined.as_deref().map_or(Datum::Null, |bytes| Datum::Bytes(cx.arena.bytes(bytes))))
    }

    fn size(&self) -> usize {
        64 + self.joined.as_ref().map_or(0, Vec::capacity)
    }
}
