//! Finding the end of the log after a crash, and what it holds beyond the checkpoint.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::record::{self, Kind, RECORD_HEADER_BYTES, RecordHeader};
use super::segment::{SEGMENT_HEADER_BYTES, SegmentHeader};
use super::{Log, LogFiles, Segment, Spare};
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::options::StoreOptions;
use crate::run::Run;
use crate::sequence::SequenceRecord;

/// Something that the log says happened.
pub(crate) enum Replayed {
    Commit { timestamp: u64, xid: u64, run: Run },
    Sequences(Vec<SequenceRecord>),
}

/// A file with a readable header.
struct Found {
    segment: Segment,
    header: SegmentHeader,
}

/// Passes all records from `from` on to `apply`, in order, and opens the log for appending after them. A log that has lost
/// records which were once durable is refused.
pub(crate) fn recover(
    directory: PathBuf,
    options: &StoreOptions,
    store_id: u64,
    from: u64,
    apply: &mut dyn FnMut(Replayed) -> Result<(), StoreError>,
) -> Result<Log, StoreError> {
    let disk = Arc::clone(&options.disk);
    disk.create_directory(&directory)
        .map_err(|error| StoreError::io(format!("create directory {directory:?}"), error))?;
    let files = LogFiles { disk, directory, segment_bytes: options.segment_bytes, store_id };
    let mut log = Log {
        files,
        segments: VecDeque::new(),
        spares: Vec::new(),
        next_file: 1,
        buffer: Vec::new(),
        written: 0,
        durable: 0,
        sync: options.sync,
    };
    let mut live = find_segments(&mut log, from)?;
    live.sort_by_key(|found| found.segment.start);
    check_chain(&live, from)?;
    let mut reader = Reader { apply, parts: None };
    let mut end = from;
    let mut last: Option<&Found> = None;
    for found in &live {
        if last.is_some() && found.header.previous_end != end {
            let place = format!("log position {end}");
            return Err(StoreError::corrupt(place, "damaged record before later valid ones"));
        }
        end = reader.read_segment(found, from)?;
        last = Some(found);
    }
    let start = match last {
        None => from,
        Some(found) => {
            check_tail(found, end)?;
            // IMPORTANT: what has been replayed counts as committed from now on, and may only have been in the page cache.
            found
                .segment
                .file
                .sync_data()
                .map_err(|error| StoreError::io("sync the write-ahead log", error))?;
            found.segment.end()
        }
    };
    log.segments = live.into_iter().map(|found| found.segment).collect();
    // IMPORTANT: appending goes on in a new segment. The bytes after `end` may hold records of a group that was never synced;
    // continuing there could bring them back to life one day.
    log.begin_segment(start, end)?;
    Ok(log)
}

/// Opens all files; those with a stretch of the log beyond `from` are returned, others become spares.
fn find_segments(log: &mut Log, from: u64) -> Result<Vec<Found>, StoreError> {
    let files = log.files.clone();
    let io = |error| StoreError::io(format!("read the write-ahead log in {:?}", files.directory), error);
    let mut live = Vec::new();
    for path in files.disk.list(&files.directory).map_err(io)? {
        if path.extension().is_none_or(|extension| extension != "wal") {
            continue;
        }
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        log.next_file = log.next_file.max(number.unwrap_or(0) + 1);
        let file = files.disk.open(&path, false).map_err(io)?;
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        let read = file.read_at(&mut bytes, 0).map_err(io)?;
        let Some(header) = SegmentHeader::decode(bytes.get(..read).unwrap_or_default()) else {
            check_orphan(&files, &path, &*file, from)?;
            keep_spare(log, path, file).map_err(io)?;
            continue;
        };
        if header.store_id != files.store_id {
            return Err(StoreError::corrupt(path.display().to_string(), "belongs to another store"));
        }
        let segment = Segment { path, file, start: header.start, bytes: header.bytes };
        match segment.end() > from {
            true => live.push(Found { segment, header }),
            false => keep_spare(log, segment.path, segment.file).map_err(io)?,
        }
    }
    Ok(live)
}

/// Files of the present size are kept for reuse.
fn keep_spare(log: &mut Log, path: PathBuf, file: Arc<dyn DiskFile>) -> std::io::Result<()> {
    match file.length()? == log.files.segment_bytes {
        true => log.spares.push(Spare { path, file }),
        false => log.files.remove(&path)?,
    }
    Ok(())
}

/// The files must hold the log from `from` on without a gap.
fn check_chain(live: &[Found], from: u64) -> Result<(), StoreError> {
    let missing = |at: u64| {
        StoreError::corrupt("write-ahead log", format!("the segment that holds position {at} is missing"))
    };
    match live.first() {
        None if from == 0 => return Ok(()),
        Some(first) if first.segment.start <= from => {}
        _ => return Err(missing(from)),
    }
    for pair in live.windows(2) {
        if let [one, next] = pair
            && one.segment.end() != next.segment.start
        {
            return Err(missing(one.segment.end()));
        }
    }
    Ok(())
}

/// A file without a valid header was being recycled when the machine stopped, unless records in it say that its header
/// was durable once.
fn check_orphan(
    files: &LogFiles,
    path: &std::path::Path,
    file: &dyn DiskFile,
    from: u64,
) -> Result<(), StoreError> {
    let bytes = read_all(file, files.segment_bytes)?;
    for at in (SEGMENT_HEADER_BYTES..bytes.len()).step_by(8) {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(lsn) = rest.get(8..16).and_then(<[u8]>::first_chunk).map(|lsn| u64::from_le_bytes(*lsn))
        else {
            break;
        };
        let start = lsn.wrapping_sub(at as u64);
        if lsn < from || start % 8 != 0 {
            continue;
        }
        if let Some((header, _)) = RecordHeader::decode(rest, lsn)
            && header.durable > start
        {
            return Err(StoreError::corrupt(
                path.display().to_string(),
                "damaged header before valid records",
            ));
        }
    }
    Ok(())
}

/// Replay ended at `end` in the last segment. A valid record beyond it that was written when `end` was already durable
/// means that the record at `end` was once whole.
fn check_tail(found: &Found, end: u64) -> Result<(), StoreError> {
    let segment = &found.segment;
    let bytes = read_all(&*segment.file, segment.bytes)?;
    let mut at = (end - segment.start) as usize + 8;
    while at + RECORD_HEADER_BYTES <= bytes.len() {
        let lsn = segment.start + at as u64;
        if let Some((header, _)) = bytes.get(at..).and_then(|rest| RecordHeader::decode(rest, lsn))
            && header.durable > end
        {
            return Err(StoreError::corrupt(
                segment.path.display().to_string(),
                format!("damaged record at log position {end} before later valid ones"),
            ));
        }
        at += 8;
    }
    Ok(())
}

fn read_all(file: &dyn DiskFile, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![0; bytes_max as usize];
    let read =
        file.read_at(&mut bytes, 0).map_err(|error| StoreError::io("read the write-ahead log", error))?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Puts commits together from their parts.
struct Reader<'a> {
    apply: &'a mut dyn FnMut(Replayed) -> Result<(), StoreError>,
    /// Timestamp and payload so far of a commit whose last part has not come yet.
    parts: Option<(u64, Vec<u8>)>,
}

impl Reader<'_> {
    /// Reads records up to the first place without a valid one, and returns that place.
    fn read_segment(&mut self, found: &Found, from: u64) -> Result<u64, StoreError> {
        let segment = &found.segment;
        let bytes = read_all(&*segment.file, segment.bytes)?;
        let mut lsn = from.max(segment.start + SEGMENT_HEADER_BYTES as u64);
        loop {
            let rest = bytes.get((lsn - segment.start) as usize..).unwrap_or_default();
            let Some((header, payload)) = RecordHeader::decode(rest, lsn) else { return Ok(lsn) };
            self.read_record(&header, payload)
                .ok_or_else(|| {
                    let place = format!("{} at log position {lsn}", segment.path.display());
                    StoreError::corrupt(place, "record makes no sense")
                })
                .and_then(|result| result)?;
            lsn += (RECORD_HEADER_BYTES + payload.len()).next_multiple_of(8) as u64;
        }
    }

    /// None when the record makes no sense.
    fn read_record(&mut self, header: &RecordHeader, payload: &[u8]) -> Option<Result<(), StoreError>> {
        match header.kind {
            Kind::Sequences => Some((self.apply)(Replayed::Sequences(record::read_sequences(payload)?))),
            Kind::Commit => {
                if header.first {
                    // An unfinished commit before this one was torn in an earlier crash.
                    self.parts = Some((header.timestamp, Vec::new()));
                }
                let (timestamp, bytes) = self.parts.as_mut()?;
                if *timestamp != header.timestamp {
                    return None;
                }
                bytes.extend_from_slice(payload);
                if !header.last {
                    return Some(Ok(()));
                }
                let (timestamp, bytes) = self.parts.take()?;
                let (xid, run) = record::read_commit(&bytes)?;
                Some((self.apply)(Replayed::Commit { timestamp, xid, run }))
            }
        }
    }
}
