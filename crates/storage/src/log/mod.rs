//! The write-ahead log: what a commit appends and syncs before anybody hears of it.
//!
//! The log is one sequence of bytes; a position in it is an LSN. It is cut into segment files of equal size. A file's name
//! says nothing: its header tells which stretch of the log it holds, so a file is recycled by writing a new header, with no
//! rename to be made durable. Files are filled with zeros once, so that later syncs move no metadata.
//!
//! Segment file:
//!
//! | bytes  | content                                                              |
//! |--------|----------------------------------------------------------------------|
//! | 0..8   | `PGFUSWAL`                                                           |
//! | 8..12  | format version, 1                                                    |
//! | 12..16 | CRC-32C of bytes 16..64                                              |
//! | 16..24 | LSN of the file's first byte                                         |
//! | 24..32 | bytes in the segment                                                 |
//! | 32..40 | LSN at which the previous segment's records end                      |
//! | 40..48 | the store's own number, so that no other store's log is replayed     |
//! | 48..64 | zero                                                                 |
//! | 64..   | records, each beginning at a multiple of 8                           |
//!
//! Record:
//!
//! | bytes  | content                                                              |
//! |--------|----------------------------------------------------------------------|
//! | 0..4   | length of the payload                                                |
//! | 4..8   | CRC-32C of bytes 0..4 and of all from 8 to the payload's end         |
//! | 8..16  | LSN of this record: bytes left over from a recycled file never match |
//! | 16..24 | LSN up to which the log was known to be durable when this was written |
//! | 24..32 | commit timestamp; zero for sequences                                 |
//! | 32     | kind: 1 a part of a commit, 2 sequences                              |
//! | 33     | 1: first part of its commit; 2: last part; 3: both                   |
//! | 34..40 | zero                                                                 |
//! | 40..   | payload (see `record.rs`), then zeros up to a multiple of 8          |
//!
//! All numbers are little-endian. Where replay stops for want of a valid record, that is the torn tail of what was never
//! synced, unless a later record says that this place was durable: then the log is damaged, and the store refuses it.

mod record;
mod replay;
mod segment;

pub(crate) use replay::{Replayed, recover};

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::{Disk, DiskFile};
use crate::error::StoreError;
use crate::run::Run;
use crate::sequence::SequenceRecord;
use record::{Kind, RECORD_HEADER_BYTES};
use segment::{SEGMENT_HEADER_BYTES, SegmentHeader};

/// A part of a commit has at most this much payload.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Bytes are handed to the operating system in pieces of about this size.
const BUFFER_BYTES: usize = 1 << 20;
/// A record is not begun where fewer payload bytes than this would fit.
const PAYLOAD_BYTES_MIN: u64 = 64;
/// So many files are kept for reuse; more are removed.
const SPARES_MAX: usize = 8;

/// A file of the log.
struct Segment {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    start: u64,
    bytes: u64,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// A file to be recycled: path and handle.
pub(crate) struct Spare {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
}

/// Where and how files are made; shared with the thread that makes them ahead of need.
#[derive(Clone)]
pub(crate) struct LogFiles {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    segment_bytes: u64,
    store_id: u64,
}

/// The end of the log that is written to. Used by one thread at a time, under the order of commits.
pub(crate) struct Log {
    files: LogFiles,
    /// Segments from the oldest still needed to the one being written, which is always there.
    segments: VecDeque<Segment>,
    spares: Vec<Spare>,
    next_file: u64,
    /// Bytes not yet handed to the operating system; they belong at `written`.
    buffer: Vec<u8>,
    written: u64,
    durable: u64,
    sync: bool,
}

impl Log {
    /// The LSN of the next record.
    pub(crate) fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// How many files could be used at once without making one.
    pub(crate) fn spares(&self) -> usize {
        self.spares.len()
    }

    pub(crate) fn files(&self) -> LogFiles {
        self.files.clone()
    }

    /// Adds a file that was made ahead of need.
    pub(crate) fn add_spare(&mut self, spare: Spare) {
        self.spares.push(spare);
    }

    /// A number for a new file.
    pub(crate) fn take_file_number(&mut self) -> u64 {
        let number = self.next_file;
        self.next_file += 1;
        number
    }

    /// Makes sure that `run` can be appended without running out of room, so that a full disk is found out before anything
    /// is written.
    pub(crate) fn reserve(&mut self, run: &Run) -> Result<(), StoreError> {
        let payload = record::payload_bytes_max(run) as u64;
        let records = payload / PAYLOAD_BYTES_MAX as u64 + 1;
        let per_record = RECORD_HEADER_BYTES as u64 + 8;
        let usable =
            self.files.segment_bytes - SEGMENT_HEADER_BYTES as u64 - PAYLOAD_BYTES_MIN - 2 * per_record;
        let mut need = payload + records * per_record;
        need = need.saturating_sub(self.room().saturating_sub(PAYLOAD_BYTES_MIN + per_record));
        let files = need.div_ceil(usable) as usize;
        while self.spares.len() < files {
            let number = self.take_file_number();
            let spare = self.files.create(number, false).map_err(|error| match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull,
                _ => StoreError::io("create a segment of the write-ahead log", error),
            })?;
            self.spares.push(spare);
        }
        Ok(())
    }

    /// Appends a commit, in as many parts as it takes. [`Log::reserve`] comes before.
    pub(crate) fn append_commit(&mut self, timestamp: u64, xid: u64, run: &Run) -> Result<(), StoreError> {
        let mut writer = CommitWriter { log: self, timestamp, begun_at: None, first: true };
        record::write_commit(run, xid, &mut |bytes| writer.write(bytes))?;
        writer.end_part(true)
    }

    /// Appends states of sequences.
    pub(crate) fn append_sequences(&mut self, records: &[SequenceRecord]) -> Result<(), StoreError> {
        for records in records.chunks(64) {
            let mut payload = Vec::with_capacity(records.len() * 16);
            record::write_sequences(records, &mut payload);
            self.make_room(payload.len() as u64)?;
            let at = self.begin_record();
            self.buffer.extend_from_slice(&payload);
            self.end_record(at, 0, Kind::Sequences, true, true);
        }
        Ok(())
    }

    /// Hands everything appended to the operating system.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let segment = self.segments.back().ok_or(StoreError::Closed)?;
        segment
            .file
            .write_at(&self.buffer, self.written - segment.start)
            .map_err(|error| StoreError::io("write to the write-ahead log", error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes everything appended durable.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.flush()?;
        if self.durable == self.written {
            return Ok(());
        }
        if self.sync {
            let segment = self.segments.back().ok_or(StoreError::Closed)?;
            segment.file.sync_data().map_err(|error| StoreError::io("sync the write-ahead log", error))?;
        }
        self.durable = self.written;
        Ok(())
    }

    /// Gives up segments that end at or before `lsn`; returns files that are too many to keep.
    pub(crate) fn recycle(&mut self, lsn: u64) -> Vec<PathBuf> {
        let mut surplus = Vec::new();
        while self.segments.len() > 1 && self.segments.front().is_some_and(|oldest| oldest.end() <= lsn) {
            let Some(oldest) = self.segments.pop_front() else { break };
            match self.spares.len() < SPARES_MAX && oldest.bytes == self.files.segment_bytes {
                true => self.spares.push(Spare { path: oldest.path, file: oldest.file }),
                false => surplus.push(oldest.path),
            }
        }
        surplus
    }

    /// Bytes left in the segment being written.
    fn room(&self) -> u64 {
        self.segments.back().map_or(0, |segment| segment.end() - self.position())
    }

    /// Goes on to the next segment unless a record with `payload` bytes, or the least that a part may have, fits.
    fn make_room(&mut self, payload: u64) -> Result<(), StoreError> {
        let need = RECORD_HEADER_BYTES as u64 + payload.next_multiple_of(8);
        match self.room() >= need {
            true => Ok(()),
            false => self.next_segment(),
        }
    }

    fn next_segment(&mut self) -> Result<(), StoreError> {
        // IMPORTANT: a segment is durable before the next one is begun. So the header of a segment proves that all records
        // of the one before were synced, and replay may insist on them.
        self.sync()?;
        let previous_end = self.position();
        let start = self.segments.back().map_or(0, Segment::end);
        self.begin_segment(start, previous_end)
    }

    /// Puts a file at the end of the log, and its header into the buffer.
    fn begin_segment(&mut self, start: u64, previous_end: u64) -> Result<(), StoreError> {
        let spare = match self.spares.pop() {
            Some(spare) => spare,
            None => {
                let number = self.take_file_number();
                self.files
                    .create(number, false)
                    .map_err(|error| StoreError::io("create a segment of the write-ahead log", error))?
            }
        };
        let bytes = self.files.segment_bytes;
        let header = SegmentHeader { start, bytes, previous_end, store_id: self.files.store_id };
        self.segments.push_back(Segment { path: spare.path, file: spare.file, start, bytes });
        self.written = start;
        self.durable = self.durable.max(start);
        self.buffer.clear();
        self.buffer.extend_from_slice(&header.encode());
        Ok(())
    }

    /// Leaves room for a record's header; the index where it goes.
    fn begin_record(&mut self) -> usize {
        let at = self.buffer.len();
        self.buffer.resize(at + RECORD_HEADER_BYTES, 0);
        at
    }

    fn end_record(&mut self, at: usize, timestamp: u64, kind: Kind, first: bool, last: bool) {
        let lsn = self.written + at as u64;
        let header = record::RecordHeader { lsn, durable: self.durable, timestamp, kind, first, last };
        header.seal(&mut self.buffer, at);
    }
}

/// Cuts one commit's payload into records.
struct CommitWriter<'a> {
    log: &'a mut Log,
    timestamp: u64,
    /// Where in the buffer the current part began, and how much payload it may have.
    begun_at: Option<(usize, usize)>,
    first: bool,
}

impl CommitWriter<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            let (at, most) = match self.begun_at {
                Some(part) => part,
                None => self.begin_part()?,
            };
            let room = at + RECORD_HEADER_BYTES + most - self.log.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.log.buffer.extend_from_slice(now);
            bytes = later;
            if now.len() == room {
                self.end_part(false)?;
            }
        }
        Ok(())
    }

    fn begin_part(&mut self) -> Result<(usize, usize), StoreError> {
        self.log.make_room(PAYLOAD_BYTES_MIN)?;
        let room = (self.log.room() as usize - RECORD_HEADER_BYTES) & !7;
        let at = self.log.begin_record();
        let part = (at, room.min(PAYLOAD_BYTES_MAX));
        self.begun_at = Some(part);
        Ok(part)
    }

    fn end_part(&mut self, last: bool) -> Result<(), StoreError> {
        let at = match self.begun_at.take() {
            Some((at, _)) => at,
            // The payload ended exactly with the part before; the last part is empty.
            None => {
                self.begin_part()?;
                self.begun_at.take().map_or(0, |(at, _)| at)
            }
        };
        self.log.end_record(at, self.timestamp, Kind::Commit, self.first, last);
        self.first = false;
        match self.log.buffer.len() >= BUFFER_BYTES {
            true => self.log.flush(),
            false => Ok(()),
        }
    }
}

impl LogFiles {
    /// Makes a file filled with zeros; durable at once when made ahead of need.
    pub(crate) fn create(&self, number: u64, durable: bool) -> io::Result<Spare> {
        let path = self.directory.join(format!("{number:06}.wal"));
        let file = self.disk.open(&path, true)?;
        let filled = self.fill(&*file, durable);
        if let Err(error) = filled {
            // Best effort: what is half made only takes room that is short already.
            let _ = self.disk.remove(&path);
            return Err(error);
        }
        Ok(Spare { path, file })
    }

    fn fill(&self, file: &dyn DiskFile, durable: bool) -> io::Result<()> {
        let zeros = vec![0; BUFFER_BYTES.min(self.segment_bytes as usize)];
        let mut at = 0;
        while at < self.segment_bytes {
            let piece = (self.segment_bytes - at).min(zeros.len() as u64) as usize;
            file.write_at(zeros.get(..piece).unwrap_or(&zeros), at)?;
            at += piece as u64;
        }
        if durable {
            file.sync_data()?;
        }
        // IMPORTANT: the name must be durable before a record in the file counts as durable.
        self.disk.sync_directory(&self.directory)
    }

    pub(crate) fn remove(&self, path: &std::path::Path) -> io::Result<()> {
        self.disk.remove(path)
    }
}
