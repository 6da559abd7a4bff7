//! A connection that never blocks.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::channel::Channel;
use super::tls::Tls;

/// A connection for an event loop. An encrypted one keeps its keys and buffers apart: a plain
/// one, which thousands of clients have, stays small.
pub(crate) struct Stream {
    plain: Plain,
    channel: Option<Box<Channel>>,
    /// How long a read waits; `None`: not at all.
    waits: Option<Timespec>,
    /// Nothing is read after this.
    end: Option<Instant>,
    /// How long what has begun to come may pause; each read sets `end` anew.
    pause: Option<Duration>,
    /// The socket did not take all of the last write.
    is_full: bool,
}

/// The socket of the system.
pub(super) enum Plain {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl Stream {
    pub(crate) fn unix(connection: mio::net::UnixStream) -> Self {
        Self::new(Plain::Unix(connection))
    }

    pub(crate) fn tcp(connection: mio::net::TcpStream) -> Self {
        Self::new(Plain::Tcp(connection))
    }

    fn new(plain: Plain) -> Self {
        Self {
            plain,
            channel: None,
            waits: None,
            end: None,
            pause: None,
            is_full: false,
        }
    }

    /// Encrypts everything from here on. Nothing is sent yet: the TLS handshake happens along with
    /// reading and writing, and earlier writes wait for its end.
    pub(crate) fn encrypt(&mut self, tls: &Tls) -> io::Result<()> {
        self.channel = Some(Box::new(Channel::new(tls)?));
        Ok(())
    }

    pub(crate) fn source(&mut self) -> &mut dyn mio::event::Source {
        match &mut self.plain {
            Plain::Unix(stream) => stream,
            Plain::Tcp(stream) => stream,
        }
    }

    /// From here on a read waits until there is something, but no longer than this; `WouldBlock`
    /// means that the time is over, or that there is room again for bytes that were not accepted.
    /// False on an encrypted stream, which may hold bytes that the socket no longer has.
    pub(crate) fn block(&mut self, longest: Duration) -> io::Result<bool> {
        if self.channel.is_some() {
            return Ok(false);
        }
        self.waits = Some(longest.try_into().map_err(io::Error::other)?);
        Ok(true)
    }

    /// From this moment on a read is `WouldBlock`, whatever has come.
    pub(crate) fn end_reading_at(&mut self, end: Option<Instant>) {
        (self.end, self.pause) = (end, None);
    }

    /// Nothing has to come; but what has begun may pause no longer than this.
    pub(crate) fn limit_pauses(&mut self, longest: Duration) {
        (self.end, self.pause) = (None, Some(longest));
    }

    /// When reading ends, as far as that is known.
    pub(crate) fn reading_ends(&self) -> Option<Instant> {
        self.end
    }

    /// Waits by `poll`, not in `recv`. On a Unix socket the server makes room when it reads our
    /// request, and that wakes a `recv`: a useless switch of threads for each statement, and CPU
    /// time of the server.
    #[inline]
    fn wait(&self, longest: &Timespec) -> io::Result<()> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, self.is_full);
        match poll(&mut [PollFd::new(self, flags)], Some(longest)) {
            Ok(0) => Err(ErrorKind::WouldBlock.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what is there. `WouldBlock` only after the socket said so and everything that had
    /// arrived has been handed out: an event loop may wait for the next edge.
    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return Err(ErrorKind::WouldBlock.into());
        }
        if let Some(longest) = &self.waits {
            self.wait(longest)?;
        }
        let outcome = match &mut self.channel {
            None => self.plain.read(buffer),
            Some(channel) => channel.read(&mut self.plain, buffer),
        };
        if let (Some(pause), Ok(_)) = (self.pause, &outcome) {
            self.end = Some(Instant::now() + pause);
        }
        outcome
    }

    /// The same for who waits for the next edge meanwhile; the end of what the server sends is an error.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            return Poll::Ready(match self.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) => {
                    let message = "the server closed the connection";
                    Err(io::Error::new(ErrorKind::UnexpectedEof, message))
                }
                outcome => outcome,
            });
        }
    }

    /// Writes of these bytes what is accepted, behind those that are `sent` already.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8], sent: &mut usize) -> io::Result<()> {
        while *sent < bytes.len() {
            match self.write(&bytes[*sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(more) => *sent += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Accepts as many bytes as may be sent. On an encrypted stream, some of them may still have to
    /// be sent ([`Stream::wants_write`]): by [`Stream::flush`], or along with the next read.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.channel {
            None => {
                let written = self.plain.write(bytes);
                self.is_full = !matches!(written, Ok(length) if length == bytes.len());
                written
            }
            Some(channel) => channel.write(&mut self.plain, bytes),
        }
    }

    /// Sends what was accepted and not sent; `WouldBlock` if the socket does not take it yet.
    #[inline]
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.channel {
            None => Ok(()),
            Some(channel) => channel.flush(&mut self.plain),
        }
    }

    /// Whether accepted bytes wait for the socket to become writable.
    #[inline]
    pub(crate) fn wants_write(&self) -> bool {
        match &self.channel {
            None => false,
            Some(channel) => channel.wants_write(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.plain {
            Plain::Unix(stream) => stream.as_fd(),
            Plain::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Plain {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Plain {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
