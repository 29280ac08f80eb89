//! Comparison operators, larger and smaller, btree support functions. The frequent types compare directly; every other type goes
//! through its one `Type::compare`.

use super::{Entry, Implementation, ScalarFn, arg_type, scalar};
use catalog::pg::{LOOKUP, Proc};
use catalog::types::{by_oid, float};
use catalog::{Datum, Oid};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::LazyLock;

macro_rules! six {
    ($value:ident, $eq:literal $ne:literal $lt:literal $le:literal $gt:literal $ge:literal) => {
        &[
            ($eq, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) == $value(a[1]))))),
            ($ne, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) != $value(a[1]))))),
            ($lt, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) < $value(a[1]))))),
            ($le, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) <= $value(a[1]))))),
            ($gt, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) > $value(a[1]))))),
            ($ge, scalar(|_, _, a| Ok(Datum::Bool($value(a[0]) >= $value(a[1]))))),
        ]
    };
}

#[inline]
fn int(d: Datum<'_>) -> i64 {
    d.as_int()
}

#[inline]
fn unsigned(d: Datum<'_>) -> u64 {
    d.as_int() as u64
}

#[inline]
fn boolean(d: Datum<'_>) -> bool {
    d.as_bool()
}

#[inline]
fn bytes(d: Datum<'_>) -> &[u8] {
    d.as_bytes()
}

/// A float in PostgreSQL's order: NaN equals itself and is above all others.
struct Ordered(f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        float::compare(self.0, other.0) == Ordering::Equal
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(float::compare(self.0, other.0))
    }
}

#[inline]
fn real(d: Datum<'_>) -> Ordered {
    Ordered(d.as_float())
}

type Six = &'static [Entry];

const GROUPS: &[Six] = &[
    six!(int, "int2eq" "int2ne" "int2lt" "int2le" "int2gt" "int2ge"),
    six!(int, "int4eq" "int4ne" "int4lt" "int4le" "int4gt" "int4ge"),
    six!(int, "int8eq" "int8ne" "int8lt" "int8le" "int8gt" "int8ge"),
    six!(int, "int24eq" "int24ne" "int24lt" "int24le" "int24gt" "int24ge"),
    six!(int, "int42eq" "int42ne" "int42lt" "int42le" "int42gt" "int42ge"),
    six!(int, "int48eq" "int48ne" "int48lt" "int48le" "int48gt" "int48ge"),
    six!(int, "int84eq" "int84ne" "int84lt" "int84le" "int84gt" "int84ge"),
    six!(int, "int28eq" "int28ne" "int28lt" "int28le" "int28gt" "int28ge"),
    six!(int, "int82eq" "int82ne" "int82lt" "int82le" "int82gt" "int82ge"),
    six!(int, "date_eq" "date_ne" "date_lt" "date_le" "date_gt" "date_ge"),
    six!(int, "time_eq" "time_ne" "time_lt" "time_le" "time_gt" "time_ge"),
    six!(int, "timestamp_eq" "timestamp_ne" "timestamp_lt" "timestamp_le" "timestamp_gt" "timestamp_ge"),
    six!(int, "oideq" "oidne" "oidlt" "oidle" "oidgt" "oidge"),
    six!(int, "chareq" "charne" "charlt" "charle" "chargt" "charge"),
    six!(int, "xideq" "xidneq" "" "" "" ""),
    six!(int, "cideq" "" "" "" "" ""),
    six!(unsigned, "xid8eq" "xid8ne" "xid8lt" "xid8le" "xid8gt" "xid8ge"),
    six!(boolean, "booleq" "boolne" "boollt" "boolle" "boolgt" "boolge"),
    six!(bytes, "texteq" "textne" "text_lt" "text_le" "text_gt" "text_ge"),
    six!(bytes, "nameeq" "namene" "namelt" "namele" "namegt" "namege"),
    six!(bytes, "nameeqtext" "namenetext" "namelttext" "nameletext" "namegttext" "namegetext"),
    six!(bytes, "texteqname" "textnename" "textltname" "textlename" "textgtname" "textgename"),
    six!(bytes, "byteaeq" "byteane" "bytealt" "byteale" "byteagt" "byteage"),
    six!(bytes, "uuid_eq" "uuid_ne" "uuid_lt" "uuid_le" "uuid_gt" "uuid_ge"),
    six!(bytes, "" "" "text_pattern_lt" "text_pattern_le" "text_pattern_gt" "text_pattern_ge"),
    six!(real, "float4eq" "float4ne" "float4lt" "float4le" "float4gt" "float4ge"),
    six!(real, "float8eq" "float8ne" "float8lt" "float8le" "float8gt" "float8ge"),
    six!(real, "float48eq" "float48ne" "float48lt" "float48le" "float48gt" "float48ge"),
    six!(real, "float84eq" "float84ne" "float84lt" "float84le" "float84gt" "float84ge"),
];

static DIRECT: LazyLock<FxHashMap<&'static str, Implementation>> = LazyLock::new(|| {
    let entries = GROUPS.iter().flat_map(|group| group.iter());
    entries.filter(|(name, _)| !name.is_empty()).map(|(name, run)| (*name, *run)).collect()
});

pub(super) const FUNCTIONS: &[Entry] = &[];

macro_rules! through_type {
    ($test:expr) => {
        scalar(|_, types, a| {
            let test: fn(Ordering) -> bool = $test;
            Ok(Datum::Bool(test((arg_type(types, 0)?.compare)(a[0], a[1]))))
        })
    };
}

/// The comparison by operator name, through the type.
fn generic(operator: &str) -> Option<Implementation> {
    Some(match operator {
        "=" => through_type!(Ordering::is_eq),
        "<>" => through_type!(Ordering::is_ne),
        "<" => through_type!(Ordering::is_lt),
        "<=" => through_type!(Ordering::is_le),
        ">" => through_type!(Ordering::is_gt),
        ">=" => through_type!(Ordering::is_ge),
        _ => return None,
    })
}

const LARGER: ScalarFn =
    |_, types, a| Ok(if (arg_type(types, 0)?.compare)(a[0], a[1]).is_gt() { a[0] } else { a[1] });
const SMALLER: ScalarFn =
    |_, types, a| Ok(if (arg_type(types, 0)?.compare)(a[0], a[1]).is_lt() { a[0] } else { a[1] });
const THREE_WAY: ScalarFn = |_, types, a| Ok(Datum::Int((arg_type(types, 0)?.compare)(a[0], a[1]) as i64));

/// The comparison operators by their function.
static OPERATORS: LazyLock<FxHashMap<Oid, &'static str>> = LazyLock::new(|| {
    // Operators of the pattern operator classes compare as the plain ones do in the C collation.
    let comparing = |name: &str| {
        Some(match name {
            "=" => "=",
            "<>" => "<>",
            "<" | "~<~" => "<",
            "<=" | "~<=~" => "<=",
            ">" | "~>~" => ">",
            ">=" | "~>=~" => ">=",
            _ => return None,
        })
    };
    LOOKUP.operators.iter().filter_map(|o| Some((o.code, comparing(&o.name)?))).collect()
});

/// Comparisons of every implemented type: directly, or through `Type::compare` if both sides have the same type.
pub(super) fn find_generic(proc: &Proc) -> Option<Implementation> {
    if let Some(direct) = DIRECT.get(proc.src.as_str()) {
        return Some(*direct);
    }
    let [left, right] = proc.args.as_slice() else { return None };
    let polymorphic = crate::bind::type_info::is_polymorphic(*left);
    if left != right && proc.src.ends_with("cmp") {
        return across_types(*left, *right);
    }
    if left != right || !(polymorphic || by_oid(*left).is_some()) {
        return None;
    }
    if let Some(operator) = OPERATORS.get(&proc.oid) {
        return generic(operator);
    }
    if proc.result == *left && proc.src.ends_with("larger") {
        return Some(scalar(LARGER));
    }
    if proc.result == *left && proc.src.ends_with("smaller") {
        return Some(scalar(SMALLER));
    }
    (proc.result == catalog::types::oid::INT4 && proc.src.ends_with("cmp")).then(|| scalar(THREE_WAY))
}

/// Three-way comparison of two types of one family: integers, floats, texts.
fn across_types(left: Oid, right: Oid) -> Option<Implementation> {
    use catalog::types::oid::{FLOAT4, FLOAT8, INT2, INT4, INT8, NAME, TEXT};
    match (left, right) {
        (INT2 | INT4 | INT8, INT2 | INT4 | INT8) => {
            Some(scalar(|_, _, a| Ok(Datum::Int(int(a[0]).cmp(&int(a[1])) as i64))))
        }
        (FLOAT4 | FLOAT8, FLOAT4 | FLOAT8) => {
            Some(scalar(|_, _, a| Ok(Datum::Int(float::compare(a[0].as_float(), a[1].as_float()) as i64))))
        }
        (TEXT | NAME, TEXT | NAME) => {
            Some(scalar(|_, _, a| Ok(Datum::Int(bytes(a[0]).cmp(bytes(a[1])) as i64))))
        }
        _ => None,
    }
}
