//! SQL types: one type, one file, each in the same order (compare PostgreSQL's `uuid.c`): accepted and printed forms, identity,
//! text in and out, binary in and out, key bytes, comparison, tests. This file says what a [`Type`] is and lists them.

use crate::{Arena, Datum, Oid, Result, SqlError, SqlState, Style};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::LazyLock;

pub mod array;
pub mod boolean;
pub mod bpchar;
pub mod bytea;
pub mod char;
#[cfg(test)]
mod checks;
pub mod date;
pub mod datetime;
pub mod float;
pub mod int;
pub mod interval;
pub mod json;
pub mod name;
pub mod numeric;
pub mod oids;
pub mod pg_lsn;
pub mod pseudo;
pub mod record;
pub mod text;
pub mod time;
pub mod timestamp;
pub mod timetz;
pub mod uuid;
pub mod varchar;
pub mod vector;

/// The physical shape of a type's [`Datum`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `Datum::Bool`
    Bool,
    /// `Datum::Int`
    Int,
    /// `Datum::Float`
    Float,
    /// `Datum::Interval`
    Interval,
    /// `Datum::Bytes`
    Bytes,
}

/// How a value lies in a stored row; see `row.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Physical {
    /// One byte, 0 or 1.
    Bool,
    /// Two bytes, little-endian.
    Int2,
    /// Four bytes, little-endian, signed.
    Int4,
    /// Four bytes, little-endian, unsigned (oid).
    UInt4,
    /// Eight bytes, little-endian.
    Int8,
    /// Four bytes, IEEE.
    Float4,
    /// Eight bytes, IEEE.
    Float8,
    /// Sixteen bytes: microseconds, days, months.
    Interval,
    /// Length (varint), then the bytes.
    Bytes,
}

/// What an input function gets besides the text or bytes.
pub struct InputContext<'a> {
    /// Where to put bytes that are not borrowed from the input.
    pub arena: &'a Arena,
    /// DateStyle and so on.
    pub style: &'a Style,
    /// The type that is read (an array's input function needs its element).
    pub typ: &'static Type,
    /// The type modifier, -1 for none. Input functions apply it (length checks, rounding) as assignment does.
    pub typmod: i32,
    /// Start of the transaction, microseconds since 2000-01-01 UTC: what `now` and `today` mean.
    pub now: i64,
}

/// Text to value: PostgreSQL's `typinput`. The result may borrow from the text.
pub type InputFn = for<'a> fn(&'a str, &InputContext<'a>) -> Result<Datum<'a>>;
/// Value to text, appended: PostgreSQL's `typoutput`. Never called with NULL.
pub type OutputFn = fn(Datum<'_>, &Style, &mut Vec<u8>);
/// Binary form to value: `typreceive`. Checks length and leftovers.
pub type ReceiveFn = for<'a> fn(&'a [u8], &InputContext<'a>) -> Result<Datum<'a>>;
/// Value to binary form, appended, without the length word: `typsend`. Never called with NULL.
pub type SendFn = fn(Datum<'_>, &Style, &mut Vec<u8>);

/// Value to key bytes, appended.
pub type EncodeKeyFn = fn(Datum<'_>, &mut Vec<u8>);
/// Key bytes to value, taken off the front; `None` if they are damaged.
pub type DecodeKeyFn = for<'a> fn(&mut &'a [u8], &'a Arena) -> Option<Datum<'a>>;
/// Literals of a type modifier to the modifier: `typmodin`.
pub type TypmodInFn = fn(&[&str]) -> Result<i32>;
/// The length-coercion cast of a value to a modifier; the flag says whether the cast is explicit.
pub type ApplyTypmodFn = for<'a> fn(Datum<'a>, i32, bool, &'a Arena) -> Result<Datum<'a>>;

/// A SQL type: what it is called and the functions that give its values meaning.
pub struct Type {
    /// `pg_type.oid`
    pub oid: Oid,
    /// `pg_type.typname`, like `int4`.
    pub name: &'static str,
    /// As `format_type` prints it without a modifier, like `integer`.
    pub sql_name: &'static str,
    /// `pg_type.typarray`, zero if none.
    pub array_oid: Oid,
    /// `pg_type.typlen`: bytes, -1 for varlena, -2 for a C string.
    pub len: i16,
    /// `pg_type.typcategory`
    pub category: u8,
    /// `pg_type.typispreferred`
    pub preferred: bool,
    /// `pg_type.typelem` of a true array (also int2vector, oidvector), zero for all others.
    pub element: Oid,
    /// Whether values have a collation.
    pub collatable: bool,
    /// Shape of the values.
    pub shape: Shape,
    /// Form in stored rows.
    pub physical: Physical,
    /// Text to value.
    pub input: InputFn,
    /// Value to text.
    pub output: OutputFn,
    /// Binary to value.
    pub receive: ReceiveFn,
    /// Value to binary.
    pub send: SendFn,
    /// The one comparison that all operators, sorts and indexes use. Both values are non-NULL.
    pub compare: fn(Datum<'_>, Datum<'_>) -> Ordering,
    /// Appends bytes whose order (`memcmp`) is the order of `compare`, self-delimiting; equal values give equal bytes (so they also
    /// serve hashing and grouping). `None` for types without an order (json).
    pub encode_key: Option<EncodeKeyFn>,
    /// The inverse, where key bytes hold the whole value (numeric loses its scale, bpchar its blanks; they have `None`): takes the
    /// bytes off the front. Allows index-only reads.
    pub decode_key: Option<DecodeKeyFn>,
    /// Type modifiers from their literals, as in `varchar(10)`: `typmodin`.
    pub typmod_in: Option<TypmodInFn>,
    /// `(10)`, appended to the name: `typmodout`.
    pub typmod_out: Option<fn(i32, &mut String)>,
    /// Applies a modifier to a value already of this type: the length-coercion cast (`varchar(varchar, int4, bool)`); the flag says
    /// whether the cast is explicit (then text is cut silently).
    pub apply_typmod: Option<ApplyTypmodFn>,
}

impl Type {
    /// What the types' definitions start from: every field that they all must fill in refuses, the optional ones are absent.
    pub(crate) const BASE: Type = Type {
        oid: Oid::INVALID,
        name: "",
        sql_name: "",
        array_oid: Oid::INVALID,
        len: -1,
        category: b'U',
        preferred: false,
        element: Oid::INVALID,
        collatable: false,
        shape: Shape::Bytes,
        physical: Physical::Bytes,
        input: |_, cx| Err(cannot("accept", cx.typ)),
        output: |_, _, _| {},
        receive: |_, cx| Err(cannot("accept", cx.typ)),
        send: |_, _, _| {},
        compare: |_, _| Ordering::Equal,
        encode_key: None,
        decode_key: None,
        typmod_in: None,
        typmod_out: None,
        apply_typmod: None,
    };

    /// Whether this is a true array type (not int2vector, oidvector).
    pub fn is_array(&self) -> bool {
        self.element.is_valid() && self.name.starts_with('_')
    }

    /// The name as `format_type` prints it, with a modifier unless it is negative.
    pub fn format(&self, typmod: i32) -> String {
        if self.is_array()
            && let Some(element) = by_oid(self.element)
        {
            return element.format(typmod) + "[]";
        }
        if typmod < 0 {
            // format_type prints char without a length as bpchar: `character` alone would mean character(1).
            return if self.oid == oid::BPCHAR { "bpchar".into() } else { self.sql_name.into() };
        }
        // The modifier of a time stands between the words: `time(3) without time zone`.
        let mut modifier = String::new();
        match self.typmod_out {
            Some(print) => print(typmod, &mut modifier),
            None => modifier = format!("({typmod})"),
        }
        let split = if matches!(self.category, b'D') { self.sql_name.find(' ') } else { None };
        let (head, tail) = self.sql_name.split_at(split.unwrap_or(self.sql_name.len()));
        format!("{head}{modifier}{tail}")
    }
}

/// 0A000 as PostgreSQL's pseudo types say it (`pseudotypes.c`).
fn cannot(verb: &str, typ: &Type) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot {verb} a value of type {}", typ.name))
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid
    }
}

macro_rules! oids {
    ($($name:ident $oid:literal)*) => {
        /// OIDs of built-in types, as constants.
        pub mod oid {
            use crate::Oid;
            $(#[doc = concat!("`pg_type.oid` ", stringify!($oid))] pub const $name: Oid = Oid($oid);)*
        }
    };
}

oids! {
    BOOL 16 BYTEA 17 CHAR 18 NAME 19 INT8 20 INT2 21 INT2VECTOR 22 INT4 23 REGPROC 24 TEXT 25 OID 26 TID 27 XID 28 CID 29 OIDVECTOR 30
    JSON 114 XML 142 PG_NODE_TREE 194 FLOAT4 700 FLOAT8 701 UNKNOWN 705 MONEY 790 ACLITEM 1033 BPCHAR 1042 VARCHAR 1043 DATE 1082
    TIME 1083 TIMESTAMP 1114 TIMESTAMPTZ 1184 INTERVAL 1186 TIMETZ 1266 BIT 1560 VARBIT 1562 NUMERIC 1700 REGPROCEDURE 2202
    REGOPER 2203 REGOPERATOR 2204 REGCLASS 2205 REGTYPE 2206 RECORD 2249 CSTRING 2275 ANY 2276 ANYARRAY 2277 VOID 2278 TRIGGER 2279
    INTERNAL 2281 ANYELEMENT 2283 RECORD_ARRAY 2287 UUID 2950 ANYNONARRAY 2776 TXID_SNAPSHOT 2970 PG_LSN 3220 ANYENUM 3500 TSVECTOR 3614
    TSQUERY 3615 REGCONFIG 3734 REGDICTIONARY 3769 JSONB 3802 ANYRANGE 3831 REGNAMESPACE 4089 REGROLE 4096 REGCOLLATION 4191
    ANYMULTIRANGE 4537 ANYCOMPATIBLE 5077 ANYCOMPATIBLEARRAY 5078 ANYCOMPATIBLENONARRAY 5079 XID8 5069
    BOOL_ARRAY 1000 BYTEA_ARRAY 1001 CHAR_ARRAY 1002 NAME_ARRAY 1003 INT2_ARRAY 1005 INT4_ARRAY 1007 TEXT_ARRAY 1009 BPCHAR_ARRAY 1014
    VARCHAR_ARRAY 1015 INT8_ARRAY 1016 FLOAT4_ARRAY 1021 FLOAT8_ARRAY 1022 OID_ARRAY 1028 ACLITEM_ARRAY 1034 CSTRING_ARRAY 1263
    TIMESTAMP_ARRAY 1115 DATE_ARRAY 1182 TIME_ARRAY 1183 TIMESTAMPTZ_ARRAY 1185 INTERVAL_ARRAY 1187 NUMERIC_ARRAY 1231 UUID_ARRAY 2951
    JSON_ARRAY 199 JSONB_ARRAY 3807 INET 869 CIDR 650 MACADDR 829
}

/// Every scalar type of ours; arrays of them are made by the registry. Adding a type is one file and one line here.
static TYPES: &[&Type] = &[
    &boolean::BOOL,
    &bytea::BYTEA,
    &char::CHAR,
    &name::NAME,
    &int::INT8,
    &int::INT2,
    &vector::INT2VECTOR,
    &int::INT4,
    &oids::REGPROC,
    &text::TEXT,
    &oids::OID,
    &oids::TID,
    &oids::XID,
    &oids::CID,
    &oids::XID8,
    &vector::OIDVECTOR,
    &record::RECORD,
    &float::FLOAT4,
    &float::FLOAT8,
    &text::UNKNOWN,
    &text::CSTRING,
    &numeric::NUMERIC,
    &date::DATE,
    &time::TIME,
    &timetz::TIMETZ,
    &timestamp::TIMESTAMP,
    &timestamp::TIMESTAMPTZ,
    &interval::INTERVAL,
    &uuid::UUID,
    &json::JSON,
    &pg_lsn::PG_LSN,
    &bpchar::BPCHAR,
    &varchar::VARCHAR,
    &oids::REGPROCEDURE,
    &oids::REGOPER,
    &oids::REGOPERATOR,
    &oids::REGCLASS,
    &oids::REGTYPE,
    &oids::REGCONFIG,
    &oids::REGDICTIONARY,
    &oids::REGNAMESPACE,
    &oids::REGROLE,
    &oids::REGCOLLATION,
];

/// One past the greatest OID that a built-in type has.
const OID_END: usize = 6200;

struct Registry {
    by_oid: Vec<Option<&'static Type>>,
    by_name: FxHashMap<&'static str, &'static Type>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let scalars = TYPES.iter().chain(pseudo::PSEUDO_TYPES).copied();
    // The registry lives as long as the process, so the array types that it makes are static.
    let arrays = scalars
        .clone()
        .filter(|t| t.array_oid.is_valid())
        .map(|t| &*Box::leak(Box::new(array::array_type(t))));
    let mut by_oid: Vec<Option<&'static Type>> = vec![None; OID_END];
    let mut by_name = FxHashMap::default();
    for typ in scalars.chain(arrays) {
        if let Some(slot) = by_oid.get_mut(typ.oid.0 as usize) {
            *slot = Some(typ);
        }
        by_name.insert(typ.name, typ);
    }
    Registry { by_oid, by_name }
});

/// The type with this OID, if pgfusion implements it.
pub fn by_oid(oid: Oid) -> Option<&'static Type> {
    REGISTRY.by_oid.get(oid.0 as usize).copied().flatten()
}

/// All types: scalar, array and pseudo types, by OID.
pub fn all() -> impl Iterator<Item = &'static Type> {
    REGISTRY.by_oid.iter().copied().flatten()
}

/// The type with this name in `pg_type` (`int4`, `_int4`).
pub fn by_name(name: &str) -> Option<&'static Type> {
    REGISTRY.by_name.get(name).copied()
}

/// The type that a SQL spelling means, lower case and without modifier: the grammar's own names (`double precision`,
/// `character varying`, `dec`), else the name in `pg_type`. Array brackets are the parser's affair.
pub fn from_sql_name(name: &str) -> Option<&'static Type> {
    let name = match name {
        "boolean" => "bool",
        "smallint" => "int2",
        "int" | "integer" => "int4",
        "bigint" => "int8",
        "real" => "float4",
        "double precision" | "float" => "float8",
        "decimal" | "dec" => "numeric",
        "character" | "char" | "nchar" | "national character" | "national char" => "bpchar",
        "character varying"
        | "char varying"
        | "national character varying"
        | "national char varying"
        | "nchar varying" => "varchar",
        "time without time zone" => "time",
        "time with time zone" => "timetz",
        "timestamp without time zone" => "timestamp",
        "timestamp with time zone" => "timestamptz",
        "bit varying" => "varbit",
        "\"char\"" => "char",
        other => other,
    };
    by_name(name)
}

/// A type as PostgreSQL's `format_type(oid, typmod)` prints it: `character varying(10)`, `integer[]`. A negative typmod means none.
/// Unknown OIDs give `???`, zero gives `-`.
pub fn format_type(oid: Oid, typmod: i32) -> String {
    if !oid.is_valid() {
        return "-".into();
    }
    match by_oid(oid) {
        Some(typ) => typ.format(typmod),
        None => "???".into(),
    }
}
