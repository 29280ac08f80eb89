//! Records: their headers, and what their payloads say.
//!
//! Payload of a commit, all parts together (numbers are LEB128, signed ones zigzag):
//!
//! | content                                                                                        |
//! |------------------------------------------------------------------------------------------------|
//! | transaction number, 0 if it had none                                                           |
//! | `1`, relation, signed change of its row count, number of entries; then for each entry in key order: length of the key, length of the value plus one (0: deleted), key, value |
//! | `2`, relation: it is dropped                                                                   |
//!
//! Payload of sequences, for each: sequence, signed last value, `1` if that has been handed out, else `0`.

use crate::error::StoreError;
use crate::ids::{RelationId, SequenceId};
use crate::run::{RelationRun, Run};
use crate::sequence::SequenceRecord;

/// Bytes before a record's payload.
pub(super) const RECORD_HEADER_BYTES: usize = 40;
/// The longest LEB128 number.
const VARINT_BYTES_MAX: usize = 10;
const TAG_RELATION: u8 = 1;
const TAG_DROP: u8 = 2;

/// What a record's payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commit = 1,
    Sequences = 2,
}

/// A record but for its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) lsn: u64,
    pub(super) durable: u64,
    pub(super) timestamp: u64,
    pub(super) kind: Kind,
    pub(super) first: bool,
    pub(super) last: bool,
}

impl RecordHeader {
    /// Fills in the header of the record that begins at `at` and whose payload is the rest of `buffer`, and pads it.
    pub(super) fn seal(&self, buffer: &mut Vec<u8>, at: usize) {
        let record = &mut buffer[at..];
        let payload = (record.len() - RECORD_HEADER_BYTES) as u32;
        record[..4].copy_from_slice(&payload.to_le_bytes());
        record[8..16].copy_from_slice(&self.lsn.to_le_bytes());
        record[16..24].copy_from_slice(&self.durable.to_le_bytes());
        record[24..32].copy_from_slice(&self.timestamp.to_le_bytes());
        record[32] = self.kind as u8;
        record[33] = u8::from(self.first) | u8::from(self.last) << 1;
        let crc = checksum(record);
        record[4..8].copy_from_slice(&crc.to_le_bytes());
        buffer.resize(buffer.len().next_multiple_of(8), 0);
    }

    /// The record at the beginning of `bytes`, and its payload, if there is a valid one and it belongs at `lsn`.
    pub(super) fn decode(bytes: &[u8], lsn: u64) -> Option<(RecordHeader, &[u8])> {
        let header: &[u8; RECORD_HEADER_BYTES] = bytes.first_chunk()?;
        let number = |at: usize| header[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        if number(8)? != lsn {
            return None;
        }
        let payload = u32::from_le_bytes(*header.first_chunk()?) as usize;
        let record = bytes.get(..RECORD_HEADER_BYTES.checked_add(payload)?)?;
        if u32::from_le_bytes(*header[4..].first_chunk()?) != checksum(record) {
            return None;
        }
        let kind = match header[32] {
            1 => Kind::Commit,
            2 => Kind::Sequences,
            _ => return None,
        };
        let header = RecordHeader {
            lsn,
            durable: number(16)?,
            timestamp: number(24)?,
            kind,
            first: header[33] & 1 != 0,
            last: header[33] & 2 != 0,
        };
        Some((header, &record[RECORD_HEADER_BYTES..]))
    }
}

/// Everything but the checksum itself. `record` has at least a header.
fn checksum(record: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&record[..4]), &record[8..])
}

/// No commit's payload is longer than this.
pub(super) fn payload_bytes_max(run: &Run) -> usize {
    let relations: usize = run
        .relations
        .iter()
        .map(|(_, writes)| writes.bytes + writes.len() * (3 + 5) + 1 + 3 * VARINT_BYTES_MAX)
        .sum();
    VARINT_BYTES_MAX + relations + run.drops.len() * (1 + VARINT_BYTES_MAX)
}

/// Passes the payload of a commit to `write`, piece by piece.
pub(super) fn write_commit(
    run: &Run,
    xid: u64,
    write: &mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut scratch = Scratch::new();
    scratch.number(xid);
    write(scratch.take())?;
    for (relation, writes) in &run.relations {
        scratch.byte(TAG_RELATION);
        scratch.number(u64::from(relation.0));
        scratch.signed(writes.net_rows);
        scratch.number(writes.len() as u64);
        write(scratch.take())?;
        for at in 0..writes.len() {
            let (key_bytes, value_bytes) = writes.lengths(at);
            scratch.number(key_bytes as u64);
            scratch.number(value_bytes.map_or(0, |bytes| bytes as u64 + 1));
            write(scratch.take())?;
            write(writes.key_and_value(at))?;
        }
    }
    for relation in &run.drops {
        scratch.byte(TAG_DROP);
        scratch.number(u64::from(relation.0));
        write(scratch.take())?;
    }
    Ok(())
}

/// The inverse of [`write_commit`]; none when the bytes make no sense.
pub(super) fn read_commit(mut bytes: &[u8]) -> Option<(u64, Run)> {
    let bytes = &mut bytes;
    let xid = take_number(bytes)?;
    let mut run = Run::default();
    while let Some((tag, rest)) = bytes.split_first() {
        *bytes = rest;
        let relation = RelationId(u32::try_from(take_number(bytes)?).ok()?);
        match *tag {
            TAG_RELATION => {
                let mut writes = RelationRun::default();
                writes.net_rows = take_signed(bytes)?;
                for _ in 0..take_number(bytes)? {
                    let key_bytes = usize::try_from(take_number(bytes)?).ok()?;
                    let value_bytes = take_number(bytes)?.checked_sub(1);
                    let key = take(bytes, key_bytes)?;
                    let value = match value_bytes {
                        Some(value_bytes) => Some(take(bytes, usize::try_from(value_bytes).ok()?)?),
                        None => None,
                    };
                    writes.push(key, value);
                }
                run.relations.push((relation, writes));
            }
            TAG_DROP => run.drops.push(relation),
            _ => return None,
        }
    }
    Some((xid, run))
}

pub(super) fn write_sequences(records: &[SequenceRecord], out: &mut Vec<u8>) {
    let mut scratch = Scratch::new();
    for record in records {
        scratch.number(u64::from(record.id.0));
        scratch.signed(record.last_value);
        scratch.byte(u8::from(record.is_called));
        out.extend_from_slice(scratch.take());
    }
}

/// The inverse of [`write_sequences`]; none when the bytes make no sense.
pub(super) fn read_sequences(mut bytes: &[u8]) -> Option<Vec<SequenceRecord>> {
    let bytes = &mut bytes;
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let id = SequenceId(u32::try_from(take_number(bytes)?).ok()?);
        let last_value = take_signed(bytes)?;
        let is_called = take(bytes, 1)? == [1];
        records.push(SequenceRecord { id, last_value, is_called });
    }
    Some(records)
}

/// A few numbers on their way out.
struct Scratch {
    bytes: [u8; 4 * VARINT_BYTES_MAX],
    len: usize,
    taken: bool,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { bytes: [0; 4 * VARINT_BYTES_MAX], len: 0, taken: false }
    }

    fn byte(&mut self, byte: u8) {
        if std::mem::take(&mut self.taken) {
            self.len = 0;
        }
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    fn take(&mut self) -> &[u8] {
        self.taken = true;
        &self.bytes[..self.len]
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take_number(bytes)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunBuilder;

    #[test]
    fn a_commit_comes_back() {
        let mut builder = RunBuilder::default();
        builder.write(RelationId(u32::MAX), b"", Some(b""), 1);
        builder.write(RelationId(7), b"key", None, -1);
        builder.write(RelationId(7), &[9; 300], Some(&[1; 70_000]), 1);
        builder.drop_relation(RelationId(8));
        let run = builder.finish();
        let mut bytes = Vec::new();
        let mut write = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        write_commit(&run, 12_345, &mut write).unwrap();
        assert!(bytes.len() <= payload_bytes_max(&run));
        let (xid, back) = read_commit(&bytes).unwrap();
        assert_eq!((xid, &back.drops), (12_345, &run.drops));
        for (id, relation) in &run.relations {
            let other = back.relation(*id).unwrap();
            assert_eq!((other.len(), other.net_rows), (relation.len(), relation.net_rows));
            for at in 0..relation.len() {
                assert_eq!((other.key(at), other.value(at)), (relation.key(at), relation.value(at)));
            }
        }
        for cut in 0..40 {
            let _ = read_commit(&bytes[..cut]);
        }
    }

    #[test]
    fn sequences_come_back() {
        let records = [i64::MIN, -1, 0, i64::MAX].map(|last_value| SequenceRecord {
            id: SequenceId(3),
            last_value,
            is_called: last_value > 0,
        });
        let mut bytes = Vec::new();
        write_sequences(&records, &mut bytes);
        assert_eq!(read_sequences(&bytes).as_deref(), Some(&records[..]));
    }
}
