//! What ANALYZE finds out about a table: catalog objects like others, so they come and go with the transaction that makes them.

use crate::Oid;
use crate::types::array::ArrayRef;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A table's statistics: its rows in pg_statistic, and how old they are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableStatistics {
    /// The table.
    pub table: Oid,
    /// The storage relation that was read; after TRUNCATE the table has another one.
    pub relation: u32,
    /// Rows then.
    pub rows: f64,
    /// What the store's count of the relation's writes was then.
    pub writes: u64,
    /// When: microseconds since 2000-01-01 UTC.
    pub analyzed_at: i64,
    /// Columns that were looked at, by place.
    pub columns: Vec<ColumnStatistics>,
}

impl TableStatistics {
    /// The statistics of a column, if they are of its present type.
    pub fn column(&self, place: u16, typ: Oid) -> Option<&ColumnStatistics> {
        self.columns.iter().find(|c| c.column == place && c.typ == typ)
    }
}

/// A column's statistics (`pg_statistic`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Place of the column.
    pub column: u16,
    /// Its type then.
    pub typ: Oid,
    /// Share of NULLs.
    pub null_fraction: f64,
    /// Average bytes of the others.
    pub width: i32,
    /// Distinct values; if negative, their share of the rows; zero if unknown.
    pub distinct: f64,
    /// The most common values, a packed array, and the share of the rows that each has.
    pub common: PackedArray,
    /// See `common`.
    pub frequencies: Vec<f64>,
    /// Values that divide the others into parts with equally many rows, a packed array.
    pub histogram: PackedArray,
    /// How the order of values goes with that of rows, from -1 to 1; none for types without order.
    pub correlation: Option<f64>,
}

impl ColumnStatistics {
    /// Distinct values among so many rows, at least one; `None` if unknown.
    pub fn distinct_of(&self, rows: f64) -> Option<f64> {
        if self.distinct == 0.0 {
            return None;
        }
        let count = if self.distinct > 0.0 { self.distinct } else { -self.distinct * rows };
        Some(count.max(1.0))
    }
}

/// The packed form of an array; no bytes for none. Stored as hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackedArray(pub Vec<u8>);

impl PackedArray {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The array; an empty one if there is none.
    pub fn read(&self) -> ArrayRef<'_> {
        ArrayRef::read(&self.0)
    }
}

impl Serialize for PackedArray {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
        let text: String = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for PackedArray {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
        let bytes = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.map(PackedArray).ok_or_else(|| serde::de::Error::custom("no hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Object;
    use crate::types::array::{Dimension, build_array};
    use crate::types::float::FLOAT8;
    use crate::{Datum, Oid};

    #[test]
    fn statistics_survive_their_stored_form() {
        let mut packed = Vec::new();
        let values = [Datum::Float(f64::NAN), Datum::Float(f64::INFINITY), Datum::Float(0.1)];
        build_array(&FLOAT8, &values, &[Dimension { len: 3, lower: 1 }], &mut packed);
        let statistics = TableStatistics {
            table: Oid(16384),
            relation: 16384,
            rows: 1e6,
            writes: 7,
            analyzed_at: 1,
            columns: vec![ColumnStatistics {
                column: 3,
                typ: FLOAT8.oid,
                null_fraction: 0.1,
                width: 8,
                distinct: -0.5,
                common: PackedArray(packed),
                frequencies: vec![0.5, 0.25, 0.1],
                histogram: PackedArray::default(),
                correlation: Some(-1.0),
            }],
        };
        let object = Object::Statistics(statistics);
        assert_eq!(Object::decode(&object.encode()).unwrap(), object);
        let Object::Statistics(statistics) = object else { panic!("another object") };
        let column = statistics.column(3, FLOAT8.oid).unwrap();
        assert_eq!(column.common.read().len(), 3);
        assert_eq!(column.distinct_of(100.0), Some(50.0));
        assert!(statistics.column(3, Oid(23)).is_none());
    }
}
