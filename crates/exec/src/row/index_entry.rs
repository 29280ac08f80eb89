//! What an index stores.
//!
//! ```text
//! key    per key column: marker, key bytes (catalog::key)         then the row key, unless the index is unique and no column is NULL
//!        (or NULLS NOT DISTINCT): then the columns alone are the key
//! value  u16 LE length of the row key
//!        unique index: the row key (also when it stands in the index key because of a NULL)
//!        with INCLUDE columns: their row bytes (catalog::row over the included columns)
//! ```
//! So the row key of a non-unique entry is the tail of its key, found without reading the key columns.

use catalog::key::KeyColumn;
use catalog::object::Index;
use catalog::row::RowLayout;
use catalog::types::{Type, by_oid};
use catalog::{Datum, Result, SqlError};

/// How one index's entries lie; made once per plan.
#[derive(Debug)]
pub struct IndexLayout {
    /// Key columns.
    pub keys: Box<[KeyColumn]>,
    /// UNIQUE
    pub unique: bool,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// Layout of the INCLUDE columns; empty if there are none.
    pub include: RowLayout,
}

/// The type of an index or table column.
pub fn column_type(oid: catalog::Oid) -> Result<&'static Type> {
    by_oid(oid).ok_or_else(|| SqlError::internal(format!("type {oid} has no implementation")))
}

impl IndexLayout {
    /// The layout of an index; `include_types` are the types of its INCLUDE columns.
    pub fn new(index: &Index, include_types: &[&'static Type]) -> Result<IndexLayout> {
        let keys = index
            .columns
            .iter()
            .map(|c| Ok(KeyColumn { typ: column_type(c.typ)?, desc: c.desc, nulls_first: c.nulls_first }));
        Ok(IndexLayout {
            keys: keys.collect::<Result<_>>()?,
            unique: index.unique,
            nulls_not_distinct: index.nulls_not_distinct,
            include: RowLayout::new(
                include_types.iter().map(|t| t.physical).collect(),
                include_types.iter().map(|_| catalog::Value::Null).collect(),
            ),
        })
    }

    /// Whether an entry with these key values takes part in uniqueness, so that its key is the columns alone.
    pub fn is_exclusive(&self, keys: &[Datum<'_>]) -> bool {
        self.unique && (self.nulls_not_distinct || !keys.iter().any(Datum::is_null))
    }

    /// Appends the entry's key.
    pub fn encode_key(&self, keys: &[Datum<'_>], row_key: &[u8], out: &mut Vec<u8>) {
        for (column, value) in self.keys.iter().zip(keys) {
            column.encode(*value, out);
        }
        if !self.is_exclusive(keys) {
            out.extend_from_slice(row_key);
        }
    }

    /// Appends the entry's value. `include` has one value per INCLUDE column.
    pub fn encode_value(&self, row_key: &[u8], include: &[Datum<'_>], out: &mut Vec<u8>) {
        out.extend_from_slice(&(row_key.len() as u16).to_le_bytes());
        if self.unique {
            out.extend_from_slice(row_key);
        }
        if !self.include.is_empty() {
            self.include.encode(include, out);
        }
    }

    /// The row key and the INCLUDE bytes of an entry; `None` for damaged bytes.
    #[inline]
    pub fn decode<'a>(&self, key: &'a [u8], value: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (len, rest) = value.split_first_chunk::<2>()?;
        let len = usize::from(u16::from_le_bytes(*len));
        if self.unique {
            return rest.split_at_checked(len);
        }
        Some((key.get(key.len().checked_sub(len)?..)?, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::types::int::INT4;

    fn layout(unique: bool) -> IndexLayout {
        let key = KeyColumn { typ: &INT4, desc: false, nulls_first: false };
        let include = RowLayout::new(vec![INT4.physical], vec![catalog::Value::Null]);
        IndexLayout { keys: Box::new([key]), unique, nulls_not_distinct: false, include }
    }

    #[test]
    fn an_entry_gives_back_its_row_key_and_included_columns() {
        for unique in [false, true] {
            for value in [Datum::Int(7), Datum::Null] {
                let layout = layout(unique);
                let (mut key, mut bytes) = (Vec::new(), Vec::new());
                layout.encode_key(&[value], b"rowkey", &mut key);
                layout.encode_value(b"rowkey", &[Datum::Int(3)], &mut bytes);
                assert_eq!(key.ends_with(b"rowkey"), !unique || value.is_null());
                let (row_key, include) = layout.decode(&key, &bytes).expect("whole entry");
                assert_eq!(row_key, b"rowkey");
                let mut slots = [Datum::Null];
                layout.include.decode(include, &[], &mut slots).expect("whole row");
                assert_eq!(slots, [Datum::Int(3)]);
            }
        }
    }
}
