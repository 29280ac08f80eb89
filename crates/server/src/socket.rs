//! A connected socket that its session reads and writes and that others can shut down.

use crate::polling::{Patience, Polling};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A TCP connection, cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    stream: Arc<TcpStream>,
    patience: Patience,
}

impl Socket {
    /// Takes over an accepted connection: no delay for small messages, and probes that notice a vanished client.
    pub(crate) fn new(stream: TcpStream, polling: Polling) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(300)))?;
        Ok(Socket { stream: Arc::new(stream), patience: Patience::new(polling) })
    }

    /// The client's address.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

    /// Ends the session's reading; it can still say why.
    pub(crate) fn stop_reading(&self) {
        let _ = self.stream.shutdown(Shutdown::Read);
    }

    /// Ends reading and writing.
    pub(crate) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Limits how long a read may wait; `None` is forever.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Socket { stream, patience } = self;
        let attempt =
            |buffer: &mut &mut [u8]| match rustix::net::recv(&**stream, &mut **buffer, RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) => None,
                received => Some(received.map(|(_, length)| length).map_err(io::Error::from)),
            };
        patience.receive(buffer, attempt, |buffer| (&**stream).read(buffer))
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self.stream).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
