//! Cast functions of pg_cast between numbers and texts. Compare `int.c`, `int8.c`, `float.c`, `varchar.c`, `name.c`.
//! Those of numeric are in `numeric`, those of dates and times in `datetime`.

use super::int::{int2, int4};
use super::{Entry, scalar};
use catalog::types::{bpchar, char, name, varchar};
use catalog::{Datum, Result, SqlError};

/// A float rounded to an integer within bounds, half to even (`rint`).
fn round_to<'a>(v: f64, low: f64, high: f64, type_name: &str) -> Result<Datum<'a>> {
    let v = v.round_ties_even();
    if v >= low && v < high { Ok(Datum::Int(v as i64)) } else { Err(SqlError::out_of_range(type_name)) }
}

fn float_to_int2<'a>(v: f64) -> Result<Datum<'a>> {
    round_to(v, -32768.0, 32768.0, "smallint")
}

fn float_to_int4<'a>(v: f64) -> Result<Datum<'a>> {
    round_to(v, -2147483648.0, 2147483648.0, "integer")
}

fn float_to_int8<'a>(v: f64) -> Result<Datum<'a>> {
    round_to(v, -9223372036854775808.0, 9223372036854775808.0, "bigint")
}

fn to_single<'a>(v: f64) -> Result<Datum<'a>> {
    let single = v as f32;
    if single.is_infinite() && v.is_finite() {
        return Err(super::float::overflow());
    }
    if single == 0.0 && v != 0.0 {
        return Err(super::float::underflow());
    }
    Ok(Datum::Float(single.into()))
}

macro_rules! same {
    () => {
        scalar(|_, _, args| Ok(args[0]))
    };
}

pub(super) const FUNCTIONS: &[Entry] = &[
    ("i2toi4", same!()),
    ("int28", same!()),
    ("int48", same!()),
    ("i4toi2", scalar(|_, _, args| int2(args[0].as_int()))),
    ("int82", scalar(|_, _, args| int2(args[0].as_int()))),
    ("int84", scalar(|_, _, args| int4(args[0].as_int()))),
    ("oidtoi8", same!()),
    (
        "i8tooid",
        scalar(|_, _, args| match u32::try_from(args[0].as_int()) {
            Ok(v) => Ok(Datum::Int(v.into())),
            Err(_) => Err(SqlError::out_of_range("OID")),
        }),
    ),
    ("i2tod", scalar(|_, _, args| Ok(Datum::Float(args[0].as_int() as f64)))),
    ("i4tod", scalar(|_, _, args| Ok(Datum::Float(args[0].as_int() as f64)))),
    ("i8tod", scalar(|_, _, args| Ok(Datum::Float(args[0].as_int() as f64)))),
    ("i2tof", scalar(|_, _, args| Ok(Datum::Float(f64::from(args[0].as_int() as f32))))),
    ("i4tof", scalar(|_, _, args| Ok(Datum::Float(f64::from(args[0].as_int() as f32))))),
    ("i8tof", scalar(|_, _, args| Ok(Datum::Float(f64::from(args[0].as_int() as f32))))),
    ("dtoi2", scalar(|_, _, args| float_to_int2(args[0].as_float()))),
    ("ftoi2", scalar(|_, _, args| float_to_int2(args[0].as_float()))),
    ("dtoi4", scalar(|_, _, args| float_to_int4(args[0].as_float()))),
    ("ftoi4", scalar(|_, _, args| float_to_int4(args[0].as_float()))),
    ("dtoi8", scalar(|_, _, args| float_to_int8(args[0].as_float()))),
    ("ftoi8", scalar(|_, _, args| float_to_int8(args[0].as_float()))),
    ("ftod", same!()),
    ("dtof", scalar(|_, _, args| to_single(args[0].as_float()))),
    ("chartoi4", scalar(|_, _, args| Ok(Datum::Int(i64::from(args[0].as_int() as u8 as i8))))),
    (
        "i4tochar",
        scalar(|_, _, args| match i8::try_from(args[0].as_int()) {
            Ok(v) => Ok(Datum::Int((v as u8).into())),
            Err(_) => Err(SqlError::out_of_range("\"char\"")),
        }),
    ),
    ("text_char", scalar(|_, _, args| Ok(Datum::Int(char::parse(args[0].as_bytes()).into())))),
    ("char_text", scalar(|cx, _, args| Ok(char_text(cx, args[0].as_int())))),
    ("char_bpchar", scalar(|cx, _, args| Ok(char_text(cx, args[0].as_int())))),
    ("name_text", same!()),
    ("name_bpchar", same!()),
    ("text_name", scalar(|_, _, args| Ok(Datum::text(name::truncate(args[0].as_str()))))),
    (
        "bpchar_name",
        scalar(|_, _, args| {
            let text = Datum::Bytes(bpchar::trimmed(args[0].as_bytes())).as_str();
            Ok(Datum::text(name::truncate(text)))
        }),
    ),
    (
        "bpchar",
        scalar(|cx, _, args| {
            let fitted =
                bpchar::fit(args[0].as_bytes(), args[1].as_int() as i32, args[2].as_bool(), cx.arena);
            fitted.map(Datum::Bytes)
        }),
    ),
    (
        "varchar",
        scalar(|_, _, args| {
            varchar::fit(args[0].as_bytes(), args[1].as_int() as i32, args[2].as_bool()).map(Datum::Bytes)
        }),
    ),
    ("xid8toxid", scalar(|_, _, args| Ok(Datum::Int((args[0].as_int() as u32).into())))),
];

fn char_text<'a>(cx: &super::EvalContext<'a>, value: i64) -> Datum<'a> {
    let mut buffer = Vec::with_capacity(4);
    char::print(value as u8, &mut buffer);
    Datum::Bytes(cx.arena.bytes(&buffer))
}
