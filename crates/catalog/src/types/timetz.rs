//! time(p) with time zone: a time of day and its own UTC offset. Compare PostgreSQL's `date.c`.
//!
//! Packed form: microseconds in 8 bytes, then the offset in seconds *west* of UTC (PostgreSQL's sign) in 4, little-endian.
//! Order is by the moment in UTC, then by offset. Key bytes: microseconds in UTC in 8 bytes, offset in 4, big-endian, signs flipped.

use super::datetime::{self, USECS_PER_DAY, USECS_PER_SEC, print};
use super::{InputContext, Physical, Shape, Type, int, oid};
use crate::{Arena, Datum, Oid, Result, SqlError, SqlState};

/// time with time zone
pub static TIMETZ: Type = Type {
    oid: oid::TIMETZ,
    name: "timetz",
    sql_name: "time with time zone",
    array_oid: Oid(1270),
    len: 12,
    category: b'D',
    shape: Shape::Bytes,
    physical: Physical::Bytes,
    input: |text, cx| Ok(parse(text, cx)?.datum(cx.arena)),
    output: |value, _, out| {
        let value = TimeTz::unpack(value.as_bytes());
        print::time(value.time, out);
        print::offset(-value.west, out);
    },
    receive: |bytes, cx| {
        let bytes = int::receive::<12>(bytes)?;
        let [t0, t1, t2, t3, t4, t5, t6, t7, z0, z1, z2, z3] = bytes;
        let time = i64::from_be_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        let west = i32::from_be_bytes([z0, z1, z2, z3]);
        if !(0..=USECS_PER_DAY).contains(&time) {
            return Err(datetime::out_of_range("time"));
        }
        if west <= -16 * 3600 || west >= 16 * 3600 {
            return Err(SqlError::new(
                SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                "time zone displacement out of range",
            ));
        }
        Ok(TimeTz { time: datetime::round_micros(time, cx.typmod), west }.datum(cx.arena))
    },
    send: |value, _, out| {
        let value = TimeTz::unpack(value.as_bytes());
        out.extend_from_slice(&value.time.to_be_bytes());
        out.extend_from_slice(&value.west.to_be_bytes());
    },
    compare: |a, b| {
        let (a, b) = (TimeTz::unpack(a.as_bytes()), TimeTz::unpack(b.as_bytes()));
        (a.utc(), a.west).cmp(&(b.utc(), b.west))
    },
    encode_key: Some(|value, out| {
        let value = TimeTz::unpack(value.as_bytes());
        out.extend_from_slice(&(value.utc() ^ i64::MIN).to_be_bytes());
        out.extend_from_slice(&(value.west ^ i32::MIN).to_be_bytes());
    }),
    decode_key: Some(|bytes, arena| {
        let utc = i64::from_be_bytes(int::take::<8>(bytes)?) ^ i64::MIN;
        let west = i32::from_be_bytes(int::take::<4>(bytes)?) ^ i32::MIN;
        Some(TimeTz { time: utc - i64::from(west) * USECS_PER_SEC, west }.datum(arena))
    }),
    typmod_in: Some(|literals| datetime::precision_typmod_in(literals, "TIME", " WITH TIME ZONE")),
    typmod_out: Some(super::time::typmod_out),
    apply_typmod: Some(|value, typmod, _, arena| {
        let value = TimeTz::unpack(value.as_bytes());
        Ok(TimeTz { time: datetime::round_micros(value.time, typmod), ..value }.datum(arena))
    }),
    ..Type::BASE
};

/// A time of day with its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeTz {
    /// Local time of day, microseconds.
    pub time: i64,
    /// Seconds west of UTC.
    pub west: i32,
}

impl TimeTz {
    /// Reads the packed form; damaged bytes read as midnight.
    pub fn unpack(bytes: &[u8]) -> TimeTz {
        let mut rest = bytes;
        let time = int::take::<8>(&mut rest).map_or(0, i64::from_le_bytes);
        let west = int::take::<4>(&mut rest).map_or(0, i32::from_le_bytes);
        TimeTz { time, west }
    }

    /// The value in an arena.
    pub fn datum<'a>(&self, arena: &'a Arena) -> Datum<'a> {
        let mut bytes = [0u8; 12];
        bytes[..8].copy_from_slice(&self.time.to_le_bytes());
        bytes[8..].copy_from_slice(&self.west.to_le_bytes());
        Datum::Bytes(arena.bytes(&bytes))
    }

    /// Microseconds in UTC; may lie outside the day.
    pub fn utc(&self) -> i64 {
        self.time + i64::from(self.west) * USECS_PER_SEC
    }
}

/// Reads a time of day with zone (`timetz_in`).
pub fn parse(text: &str, cx: &InputContext<'_>) -> Result<TimeTz> {
    let decoded = datetime::decode_time_only(text, cx).map_err(|e| e.sql(text, "time with time zone"))?;
    Ok(TimeTz { time: datetime::round_micros(decoded.parts.time(), cx.typmod), west: -decoded.offset })
}
