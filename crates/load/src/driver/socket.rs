//! Unix and TCP sockets under one name: blocking while logging in, then ready for an event loop.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::target::Endpoint;

/// How long connecting and logging in may take together. A busy server with thousands of new
/// connections needs seconds; one that has not come to an end by then is stuck, or talks without
/// end.
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(10);

/// A blocking connection.
pub(crate) struct Socket {
    connection: Connection,
    limit: Limit,
}

enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// How long a read or a write may wait.
enum Limit {
    /// All of them together until an instant.
    Until(Instant),
    /// Each of them for [`LOGIN_LIMIT`].
    Each,
    None,
}

impl Socket {
    /// Connects. This and what follows must be over within [`LOGIN_LIMIT`], until another limit
    /// is set.
    pub(crate) fn connect(endpoint: &Endpoint) -> io::Result<Self> {
        Self::connect_until(endpoint, Instant::now() + LOGIN_LIMIT)
    }

    fn connect_until(endpoint: &Endpoint, end: Instant) -> io::Result<Self> {
        let connection = match endpoint {
            Endpoint::Unix(path) => Connection::Unix(connect_unix(path, end)?),
            Endpoint::Tcp { host, port } => Connection::Tcp(connect_tcp(host, *port, end)?),
        };
        Ok(Self {
            connection,
            limit: Limit::Until(end),
        })
    }

    /// Gives the server [`LOGIN_LIMIT`] anew, for another step of the preparation.
    pub(crate) fn renew_limit(&mut self) {
        self.limit = Limit::Until(Instant::now() + LOGIN_LIMIT);
    }

    /// From here on every single answer may take [`LOGIN_LIMIT`].
    pub(crate) fn limit_each_wait(&mut self) {
        self.limit = Limit::Each;
    }

    /// Statements may take as long as they need.
    pub(crate) fn lift_limit(&mut self) -> io::Result<()> {
        self.limit = Limit::None;
        self.set_timeout(None)
    }

    /// Lets the next read or write wait as long as the limit allows.
    fn prepare_to_wait(&self) -> io::Result<()> {
        match self.limit {
            Limit::Until(end) => self.set_timeout(Some(left(end)?)),
            Limit::Each => self.set_timeout(Some(LOGIN_LIMIT)),
            Limit::None => Ok(()),
        }
    }

    /// A blocking socket says that it would block when its time-out has passed.
    fn in_words(&self, error: io::Error) -> io::Error {
        match self.limit {
            Limit::Until(_) | Limit::Each if error.kind() == ErrorKind::WouldBlock => too_late(),
            _ => error,
        }
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.connection {
            Connection::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
            Connection::Tcp(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
        }
    }

    pub(crate) fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.connection {
            Connection::Unix(stream) => stream.set_nonblocking(nonblocking),
            Connection::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }

    /// Gives the connection to an event loop.
    pub(crate) fn into_stream(self) -> io::Result<Stream> {
        self.set_nonblocking(true)?;
        Ok(match self.connection {
            Connection::Unix(stream) => Stream::Unix(mio::net::UnixStream::from_std(stream)),
            Connection::Tcp(stream) => Stream::Tcp(mio::net::TcpStream::from_std(stream)),
        })
    }
}

/// The time that is left; an error where there is none.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(too_late());
    }
    Ok(left)
}

fn too_late() -> io::Error {
    let seconds = LOGIN_LIMIT.as_secs();
    let message = format!("the server did not finish the log-in within {seconds} s");
    io::Error::new(ErrorKind::TimedOut, message)
}

/// Connects with a limit, which the standard library does not offer: where a server takes no
/// connections from its queue and the queue is full, connecting would wait for ever.
fn connect_unix(path: &Path, end: Instant) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    loop {
        // Linux limits connecting by the time-out for sending: unix(7), socket(7).
        sockopt::set_socket_timeout(&socket, Timeout::Send, Some(left(end)?))?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => return Ok(socket.into()),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Err(too_late()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tries every address of the host in turn; the error is that of the last one.
fn connect_tcp(host: &str, port: u16, end: Instant) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::NotFound, "the host name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(end)?) {
            Ok(stream) => {
                // A statement is one small write that waits for its reply: Nagle's delay would
                // be measured as the server's.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.prepare_to_wait()?;
        let read = match &mut self.connection {
            Connection::Unix(stream) => stream.read(buffer),
            Connection::Tcp(stream) => stream.read(buffer),
        };
        read.map_err(|error| self.in_words(error))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.prepare_to_wait()?;
        let written = match &mut self.connection {
            Connection::Unix(stream) => stream.write(bytes),
            Connection::Tcp(stream) => stream.write(bytes),
        };
        written.map_err(|error| self.in_words(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that never blocks.
pub(crate) enum Stream {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl Stream {
    pub(crate) fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Self::Unix(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }

    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const SOON: Duration = Duration::from_millis(150);

    fn listener(directory: &Path) -> (UnixListener, Endpoint) {
        let path = directory.join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        (listener, Endpoint::Unix(path))
    }

    #[test]
    fn a_server_whose_queue_is_full_is_not_waited_for_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let (listener, endpoint) = listener(directory.path());
        // Shortens the queue, which takes one more than this.
        rustix::net::listen(&listener, 0).unwrap();
        let connect = || Socket::connect_until(&endpoint, Instant::now() + SOON);
        let mut accepted = Vec::new();
        let refusal = loop {
            match connect() {
                Ok(socket) => accepted.push(socket),
                Err(error) => break error,
            }
            assert!(accepted.len() < 10, "the queue is never full");
        };
        assert_eq!(refusal.kind(), ErrorKind::TimedOut);
        assert!(refusal.to_string().contains("within 10 s"), "{refusal}");
    }

    #[test]
    fn the_limit_is_for_all_reads_together() {
        let directory = tempfile::tempdir().unwrap();
        let (listener, endpoint) = listener(directory.path());
        let trickle = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(SOON / 10);
            }
        });
        let start = Instant::now();
        let mut socket = Socket::connect_until(&endpoint, start + SOON).unwrap();
        let refusal = loop {
            match socket.read_exact(&mut [0]) {
                Ok(()) => assert!(start.elapsed() < 10 * SOON, "no end"),
                Err(error) => break error,
            }
        };
        assert_eq!(refusal.kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= SOON);
        drop(socket);
        trickle.join().unwrap();
    }
}
