//! A connected socket that its session reads and writes and that others can shut down.

use socket2::{SockRef, TcpKeepalive};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A TCP connection, cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Socket(Arc<TcpStream>);

impl Socket {
    /// Takes over an accepted connection: no delay for small messages, and probes that notice a vanished client.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(300)))?;
        Ok(Socket(Arc::new(stream)))
    }

    /// The client's address.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.0.peer_addr().ok()
    }

    /// Ends the session's reading; it can still say why.
    pub(crate) fn stop_reading(&self) {
        let _ = self.0.shutdown(Shutdown::Read);
    }

    /// Ends reading and writing.
    pub(crate) fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// Limits how long a read may wait; `None` is forever.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(timeout)
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self.0).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
