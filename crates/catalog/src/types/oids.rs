//! oid, xid, cid, xid8, tid and the reg types. Compare PostgreSQL's `oid.c`, `xid.c`, `xid8funcs.c`, `tid.c`, `regproc.c`.
//!
//! A reg type's value is an OID. Its text form needs the catalog, so exec converts it (`'pg_class'::regclass`, and output of names);
//! the functions here read digits or `-` and print the number (`-` for none).
//!
//! | type | key bytes |
//! |---|---|
//! | oid, xid, cid, reg types | 4 bytes, big-endian |
//! | xid8 | 8 bytes, big-endian |
//! | tid | block 4 bytes, offset 2 bytes, big-endian |

use super::{Physical, Shape, Type, int, oid};
use crate::{Datum, Oid, Result, SqlError};

const OID_LIKE: Type = Type {
    len: 4,
    shape: Shape::Int,
    physical: Physical::UInt4,
    output: int::int_out,
    receive: |bytes, _| int::receive::<4>(bytes).map(|b| Datum::Int(u32::from_be_bytes(b).into())),
    send: |value, _, out| out.extend_from_slice(&(value.as_int() as u32).to_be_bytes()),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&(value.as_int() as u32).to_be_bytes())),
    decode_key: Some(|bytes, _| int::take::<4>(bytes).map(|b| Datum::Int(u32::from_be_bytes(b).into()))),
    ..Type::BASE
};

/// oid
pub static OID: Type = Type {
    oid: oid::OID,
    name: "oid",
    sql_name: "oid",
    array_oid: oid::OID_ARRAY,
    category: b'N',
    preferred: true,
    input: |text, _| parse_oid(text).map(|v| Datum::Int(v.into())),
    ..OID_LIKE
};

/// What a result column of a reg type is written by: a value is the OID's four bytes and the name behind them, which exec looks up
/// per row; a plain OID prints as its number. Not a type of its own: columns keep theirs.
pub static NAMED_OID: Type = Type {
    name: "named oid",
    output: |value, style, out| match value {
        Datum::Bytes(bytes) => out.extend_from_slice(bytes.get(4..).unwrap_or_default()),
        plain => int::int_out(plain, style, out),
    },
    send: |value, _, out| match value {
        Datum::Bytes(bytes) => out.extend_from_slice(bytes.get(..4).unwrap_or_default()),
        plain => out.extend_from_slice(&(plain.as_int() as u32).to_be_bytes()),
    },
    ..OID_LIKE
};

/// xid: any text is accepted, as `strtoul` reads it.
pub static XID: Type = Type {
    oid: oid::XID,
    name: "xid",
    sql_name: "xid",
    array_oid: Oid(1011),
    category: b'U',
    input: |text, _| Ok(Datum::Int((strtoul(text) as u32).into())),
    ..OID_LIKE
};

/// cid: any text is accepted, as `strtoul` reads it.
pub static CID: Type = Type {
    oid: oid::CID,
    name: "cid",
    sql_name: "cid",
    array_oid: Oid(1012),
    category: b'U',
    input: |text, _| Ok(Datum::Int((strtoul(text) as u32).into())),
    ..OID_LIKE
};

/// xid8
pub static XID8: Type = Type {
    oid: oid::XID8,
    name: "xid8",
    sql_name: "xid8",
    array_oid: Oid(271),
    len: 8,
    category: b'U',
    shape: Shape::Int,
    physical: Physical::Int8,
    input: |text, _| Ok(Datum::Int(strtoul(text) as i64)),
    output: |value, _, out| {
        out.extend_from_slice(itoa::Buffer::new().format(value.as_int() as u64).as_bytes())
    },
    receive: |bytes, _| int::receive::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b))),
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()),
    compare: |a, b| (a.as_int() as u64).cmp(&(b.as_int() as u64)),
    encode_key: Some(|value, out| out.extend_from_slice(&value.as_int().to_be_bytes())),
    decode_key: Some(|bytes, _| int::take::<8>(bytes).map(|b| Datum::Int(i64::from_be_bytes(b)))),
    ..Type::BASE
};

/// tid: block and offset, as `block << 16 | offset`.
pub static TID: Type = Type {
    oid: oid::TID,
    name: "tid",
    sql_name: "tid",
    array_oid: Oid(1010),
    len: 6,
    category: b'U',
    shape: Shape::Int,
    physical: Physical::Int8,
    input: |text, _| {
        parse_tid(text)
            .map(|(block, offset)| Datum::Int(tid(block, offset)))
            .ok_or_else(|| SqlError::invalid_text("tid", text))
    },
    output: |value, _, out| {
        let mut buffer = itoa::Buffer::new();
        out.push(b'(');
        out.extend_from_slice(buffer.format((value.as_int() >> 16) as u32).as_bytes());
        out.push(b',');
        out.extend_from_slice(buffer.format(value.as_int() as u16).as_bytes());
        out.push(b')');
    },
    receive: |bytes, _| {
        int::receive::<6>(bytes).map(|[a, b, c, d, e, f]| {
            Datum::Int(tid(u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f])))
        })
    },
    send: |value, _, out| out.extend_from_slice(&value.as_int().to_be_bytes()[2..]),
    compare: |a, b| a.as_int().cmp(&b.as_int()),
    encode_key: Some(|value, out| out.extend_from_slice(&value.as_int().to_be_bytes()[2..])),
    decode_key: Some(|bytes, _| {
        int::take::<6>(bytes)
            .map(|[a, b, c, d, e, f]| Datum::Int(i64::from_be_bytes([0, 0, a, b, c, d, e, f])))
    }),
    ..Type::BASE
};

macro_rules! reg_types {
    ($($(#[$doc:meta])* $name:ident $typname:literal $oid:expr, $array:literal;)*) => {
        $($(#[$doc])* pub static $name: Type = Type {
            oid: $oid,
            name: $typname,
            sql_name: $typname,
            array_oid: Oid($array),
            category: b'N',
            input: |text, _| reg_in(text, $typname),
            output: |value, style, out| if value.as_int() == 0 { out.push(b'-') } else { int::int_out(value, style, out) },
            ..OID_LIKE
        };)*
    };
}

reg_types! {
    /// regproc
    REGPROC "regproc" oid::REGPROC, 1008;
    /// regprocedure
    REGPROCEDURE "regprocedure" oid::REGPROCEDURE, 2207;
    /// regoper
    REGOPER "regoper" oid::REGOPER, 2208;
    /// regoperator
    REGOPERATOR "regoperator" oid::REGOPERATOR, 2209;
    /// regclass
    REGCLASS "regclass" oid::REGCLASS, 2210;
    /// regtype
    REGTYPE "regtype" oid::REGTYPE, 2211;
    /// regconfig
    REGCONFIG "regconfig" oid::REGCONFIG, 3735;
    /// regdictionary
    REGDICTIONARY "regdictionary" oid::REGDICTIONARY, 3770;
    /// regnamespace
    REGNAMESPACE "regnamespace" oid::REGNAMESPACE, 4090;
    /// regrole
    REGROLE "regrole" oid::REGROLE, 4097;
    /// regcollation
    REGCOLLATION "regcollation" oid::REGCOLLATION, 4192;
}

/// A tid's value from its parts.
pub fn tid(block: u32, offset: u16) -> i64 {
    i64::from(block) << 16 | i64::from(offset)
}

/// Reads an OID (`oidin_subr`): also the negative number with the same bits.
pub fn parse_oid(text: &str) -> Result<u32> {
    let value = int::parse(text, i64::MIN, i64::MAX, "oid")?;
    u32::try_from(value)
        .or_else(|_| i32::try_from(value).map(|v| v as u32))
        .map_err(|_| SqlError::text_out_of_range("oid", text))
}

fn reg_in<'a>(text: &str, type_name: &str) -> Result<Datum<'a>> {
    if text == "-" {
        return Ok(Datum::Int(0));
    }
    match parse_oid(text) {
        Ok(v) => Ok(Datum::Int(v.into())),
        Err(_) => Err(SqlError::internal(format!("a {type_name} by name is looked up in exec: \"{text}\""))),
    }
}

/// C's `strtoul(text, NULL, 0)`: leading blanks, a sign, `0x` or `0` for the base, as many digits as there are; never an error.
fn strtoul(text: &str) -> u64 {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, text) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', rest, ..] if rest.is_ascii_hexdigit() => (16, &text[2..]),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let mut value: u64 = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(radix)) {
        match value.checked_mul(radix.into()).and_then(|v| v.checked_add(digit.into())) {
            Some(v) => value = v,
            None => return u64::MAX,
        }
    }
    if negative { value.wrapping_neg() } else { value }
}

/// `(block,offset)`; what follows the bracket is ignored, as PostgreSQL 15 does.
fn parse_tid(text: &str) -> Option<(u32, u16)> {
    let inner = text.split_once('(')?.1;
    let (inner, _) = inner.split_once(')')?;
    let (block, offset) = inner.split_once(',')?;
    let block = block.trim_start();
    let block = match block.strip_prefix('-') {
        Some(digits) => (digits.parse::<i32>().ok()?.wrapping_neg()) as u32,
        None => block.parse().ok()?,
    };
    Some((block, offset.trim_start().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_read_as_c_reads_them() {
        assert_eq!(parse_oid("-1").ok(), Some(u32::MAX));
        assert_eq!(parse_oid(" 5 ").ok(), Some(5));
        assert!(parse_oid("99999999999").is_err());
        assert_eq!(strtoul("0x10"), 16);
        assert_eq!(strtoul("010"), 8);
        assert_eq!(strtoul(" 12x"), 12);
        assert_eq!(strtoul("-1") as u32, u32::MAX);
        assert_eq!(parse_tid("(-1,2)"), Some((u32::MAX, 2)));
        assert_eq!(parse_tid("(1,70000)"), None);
    }
}
