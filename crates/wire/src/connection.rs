//! The two buffers of a connection.
//!
//! **The flushing rule.** Whoever wants the next message calls [`Input::message`]: it takes the next one that is already
//! buffered, and *only when there is none* it flushes the output and reads. So pipelined messages share one write, and nobody else
//! thinks about flushing. A long result does not wait for the end: [`Output::drain`] writes whenever the buffer has passed
//! [`FLUSH_THRESHOLD`], and since writes block, a slow client slows the statement down.

use crate::frontend::{STARTUP_LENGTH_MAX, Tag};
use catalog::SqlError;
use std::io::{self, ErrorKind, Read, Write};

/// Output is written when the buffer has become this long.
pub const FLUSH_THRESHOLD: usize = 64 * 1024;
/// The read buffer's usual size. It grows for a longer message and shrinks back after it.
const READ_SIZE: usize = 64 * 1024;
/// Size of a connection's read buffer before its first message.
const READ_SIZE_FIRST: usize = 4 * 1024;
/// A write buffer that one huge row has made longer than this is given back.
const WRITE_SIZE_KEPT: usize = 4 * FLUSH_THRESHOLD;
const _: () = assert!(STARTUP_LENGTH_MAX <= READ_SIZE);
/// Bytes before a message's body: type byte and length word.
const HEADER: usize = 5;

/// Why no message comes.
#[derive(Debug)]
pub enum ReceiveError {
    /// The client has gone, or a length word makes no sense (PostgreSQL says nothing to the client then either).
    Closed,
    /// Nothing came within the socket's read timeout.
    TimedOut,
    /// The bytes are no message: an error to report, FATAL.
    Protocol(SqlError),
    /// The connection failed.
    Io(io::Error),
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ReceiveError::TimedOut,
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                ReceiveError::Closed
            }
            _ => ReceiveError::Io(error),
        }
    }
}

/// The reading half.
pub struct Input<R> {
    reader: R,
    /// All bytes initialised; those in `start..end` are unread, the current message included.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Length of the current message with its header; it is dropped when the next is asked for.
    current: usize,
}

impl<R: Read> Input<R> {
    /// An input without content.
    pub fn new(reader: R) -> Input<R> {
        Input { reader, buffer: vec![0; READ_SIZE_FIRST], start: 0, end: 0, current: 0 }
    }

    /// The next message's kind; its body is [`Input::body`] until the next call. Flushes the output before it waits.
    pub fn message<W: Write>(&mut self, output: &mut Output<W>) -> Result<Tag, ReceiveError> {
        self.drop_current();
        let (tag, length) = loop {
            match self.header()? {
                Some((tag, length)) if self.end - self.start >= length => break (tag, length),
                Some((_, length)) => self.read(length, output)?,
                None => self.read(HEADER, output)?,
            }
        };
        self.current = length;
        Ok(tag)
    }

    /// The current message's body.
    pub fn body(&self) -> &[u8] {
        self.buffer.get(self.start + HEADER..self.start + self.current).unwrap_or_default()
    }

    /// The connection's first packet, which has no type byte; `None` if the client closed without sending any.
    pub fn startup_packet<W: Write>(
        &mut self,
        output: &mut Output<W>,
    ) -> Result<Option<&[u8]>, ReceiveError> {
        self.drop_current();
        while self.end - self.start < 4 {
            match self.read(4, output) {
                Ok(()) => {}
                Err(ReceiveError::Closed) if self.end == self.start => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let word = self.buffer.get(self.start..self.start + 4).and_then(|b| b.first_chunk::<4>());
        let length = word.map_or(0, |b| u32::from_be_bytes(*b)) as usize;
        if !(8..=STARTUP_LENGTH_MAX).contains(&length) {
            return Err(ReceiveError::Closed);
        }
        while self.end - self.start < length {
            self.read(length, output)?;
        }
        self.current = length;
        Ok(self.buffer.get(self.start + 4..self.start + length))
    }

    /// Whether bytes are buffered beyond the current message.
    pub fn has_more(&self) -> bool {
        self.end - self.start > self.current
    }

    /// The reader.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Kind and whole length of the message at `start`, if its header is there.
    fn header(&self) -> Result<Option<(Tag, usize)>, ReceiveError> {
        let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
        let Some(header) = unread.first_chunk::<HEADER>() else {
            return match unread.first() {
                // A wrong type byte is reported at once: the client may never send a length.
                Some(byte) => Tag::from_byte(*byte).map(|_| None).map_err(ReceiveError::Protocol),
                None => Ok(None),
            };
        };
        let [byte, length @ ..] = header;
        let tag = Tag::from_byte(*byte).map_err(ReceiveError::Protocol)?;
        match (u32::from_be_bytes(length.to_owned()) as usize).checked_sub(4) {
            Some(body) if body <= tag.length_max() => Ok(Some((tag, HEADER + body))),
            _ => Err(ReceiveError::Closed),
        }
    }

    fn drop_current(&mut self) {
        self.start += self.current;
        self.current = 0;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > READ_SIZE {
                self.buffer.truncate(READ_SIZE);
                self.buffer.shrink_to_fit();
            }
        }
    }

    /// Reads once, with room made for a message of `length` bytes. The buffer grows with what has come, not with what was announced.
    fn read<W: Write>(&mut self, length: usize, output: &mut Output<W>) -> Result<(), ReceiveError> {
        output.flush()?;
        if self.start > 0 && self.start + length > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let grown = if length <= READ_SIZE { READ_SIZE } else { length.min(self.buffer.len() * 2) };
            self.buffer.resize(grown.max(self.buffer.len() + 1), 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        loop {
            match self.reader.read(room) {
                Ok(0) => return Err(ReceiveError::Closed),
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The writing half: messages are appended to `buffer`; only [`Output::flush`] and [`Output::drain`] write.
pub struct Output<W> {
    /// What is not yet written.
    pub buffer: Vec<u8>,
    writer: W,
    /// After a failed write all later output is discarded: the client is gone, and the session notices when it reads.
    failed: bool,
}

impl<W: Write> Output<W> {
    /// An output without content.
    pub fn new(writer: W) -> Output<W> {
        Output { buffer: Vec::new(), writer, failed: false }
    }

    /// Writes all.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if !self.failed
            && let Err(error) = self.writer.write_all(&self.buffer)
        {
            self.failed = true;
            self.buffer.clear();
            return Err(error);
        }
        self.buffer.clear();
        if self.buffer.capacity() > WRITE_SIZE_KEPT {
            self.buffer = Vec::new();
        }
        if self.failed { Err(ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// Takes back a message that is only partly in the buffer: what a panic in the middle of one leaves behind.
    pub fn drop_partial_message(&mut self) {
        let mut end = 0;
        while let Some(word) = self.buffer.get(end + 1..end + HEADER).and_then(|b| b.first_chunk::<4>()) {
            let length = u32::from_be_bytes(*word) as usize;
            if length < 4 || end + 1 + length > self.buffer.len() {
                break;
            }
            end += 1 + length;
        }
        self.buffer.truncate(end);
    }

    /// Writes all if the buffer has passed the threshold.
    #[inline]
    pub fn drain(&mut self) -> io::Result<()> {
        if self.buffer.len() < FLUSH_THRESHOLD { Ok(()) } else { self.flush() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Gives its pieces one per read.
    struct Pieces(VecDeque<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(mut piece) = self.0.pop_front() else { return Ok(0) };
            let count = piece.len().min(buffer.len());
            buffer[..count].copy_from_slice(&piece[..count]);
            if count < piece.len() {
                self.0.push_front(piece.split_off(count));
            }
            Ok(count)
        }
    }

    fn input(pieces: &[&[u8]]) -> Input<Pieces> {
        Input::new(Pieces(pieces.iter().map(|p| p.to_vec()).collect()))
    }

    #[test]
    fn output_is_flushed_only_when_no_message_is_buffered() {
        let mut input = input(&[b"S\0\0\0\x04H\0\0\0\x04Q\0\0", b"\0\x06x\0"]);
        let mut output = Output::new(Vec::new());
        assert_eq!(input.message(&mut output).expect("a message"), Tag::Sync);
        output.buffer.push(1);
        assert_eq!(input.message(&mut output).expect("a message"), Tag::Flush);
        assert!(output.writer.is_empty());
        assert_eq!(input.message(&mut output).expect("a message"), Tag::Query);
        assert_eq!(input.body(), b"x\0");
        assert_eq!(output.writer, [1]);
        assert!(matches!(input.message(&mut output), Err(ReceiveError::Closed)));
    }

    #[test]
    fn a_long_message_grows_the_buffer_which_shrinks_after_it() {
        let mut long = b"d\0\x30\0\x04".to_vec();
        long.resize(5 + 0x30_0000, b'y');
        long.extend_from_slice(b"S\0\0\0\x04");
        let mut input = input(&[b"S\0\0\0\x04", &long]);
        let mut output = Output::new(Vec::new());
        assert_eq!(input.message(&mut output).expect("a message"), Tag::Sync);
        assert_eq!(input.message(&mut output).expect("a message"), Tag::CopyData);
        assert_eq!(input.body().len(), 0x30_0000);
        assert!(input.body().iter().all(|b| *b == b'y'));
        assert_eq!(input.message(&mut output).expect("a message"), Tag::Sync);
        assert!(matches!(input.message(&mut output), Err(ReceiveError::Closed)));
        assert!(input.buffer.len() <= READ_SIZE);
    }

    #[test]
    fn a_partial_message_is_taken_back() {
        let mut output = Output::new(Vec::new());
        for partial in [&b"D\0\0\0\0\0\x01"[..], b"D\0\0\0\x09\0", b"D\0", b""] {
            output.buffer = [b"1\0\0\0\x04Z\0\0\0\x05I", partial].concat();
            output.drop_partial_message();
            assert_eq!(output.buffer, b"1\0\0\0\x04Z\0\0\0\x05I");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut output = Output::new(Vec::new());
        let error = input(&[b"?"]).message(&mut output).expect_err("no such type");
        assert!(
            matches!(error, ReceiveError::Protocol(e) if e.message() == "invalid frontend message type 63")
        );
        for bytes in [&b"S\0\0\0\x03"[..], b"S\0\x01\0\0", b"Q\xff\xff\xff\xff"] {
            assert!(matches!(input(&[bytes]).message(&mut output), Err(ReceiveError::Closed)));
        }
        assert!(matches!(input(&[]).startup_packet(&mut output), Ok(None)));
        assert!(matches!(input(&[b"\0\0\0\x07"]).startup_packet(&mut output), Err(ReceiveError::Closed)));
        let mut whole = input(&[b"\0\0\0\x08\x04\xd2", b"\x16\x2f"]);
        assert_eq!(whole.startup_packet(&mut output).expect("a packet"), Some(&b"\x04\xd2\x16\x2f"[..]));
    }
}
