//! The header of a segment file; its bytes are tabled in the module above.

/// Bytes before the first record.
pub(super) const SEGMENT_HEADER_BYTES: usize = 64;
const MAGIC: &[u8; 8] = b"PGFUSWAL";
const VERSION: u32 = 1;

/// Which stretch of the log a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) previous_end: u64,
    pub(super) store_id: u64,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.start.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.previous_end.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.store_id.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// None when these are not the bytes of a header, or not all of them.
    pub(super) fn decode(bytes: &[u8]) -> Option<SegmentHeader> {
        let bytes: &[u8; SEGMENT_HEADER_BYTES] = bytes.first_chunk()?;
        let crc = u32::from_le_bytes(*bytes[12..].first_chunk()?);
        let version = u32::from_le_bytes(*bytes[8..].first_chunk()?);
        if bytes[..8] != *MAGIC || version != VERSION || crc32c::crc32c(&bytes[16..]) != crc {
            return None;
        }
        let number = |at: usize| bytes[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        Some(SegmentHeader {
            start: number(16)?,
            bytes: number(24)?,
            previous_end: number(32)?,
            store_id: number(40)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_any_flipped_bit_is_found() {
        let header = SegmentHeader { start: 1 << 40, bytes: 99, previous_end: 7, store_id: u64::MAX };
        let bytes = header.encode();
        assert_eq!(SegmentHeader::decode(&bytes), Some(header));
        assert_eq!(SegmentHeader::decode(&bytes[..63]), None);
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&damaged), None, "bit {bit}");
        }
    }
}
