//! A connection that never blocks.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::sockopt::{self, Timeout};

use super::channel::Channel;
use super::tls::Tls;

/// A connection for an event loop. An encrypted one keeps its keys and buffers apart: a plain
/// one, which thousands of clients have, stays small.
pub(crate) struct Stream {
    plain: Plain,
    channel: Option<Box<Channel>>,
}

/// What the system gave us.
pub(super) enum Plain {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl Stream {
    pub(crate) fn unix(connection: mio::net::UnixStream) -> Self {
        Self {
            plain: Plain::Unix(connection),
            channel: None,
        }
    }

    pub(crate) fn tcp(connection: mio::net::TcpStream) -> Self {
        Self {
            plain: Plain::Tcp(connection),
            channel: None,
        }
    }

    /// From here on everything is encrypted. Nothing is sent yet: shaking hands goes along with
    /// reading and writing, and what is written before its end waits for it.
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

    /// From here on a read waits until something is there and a write until all is taken, but no
    /// longer than this; `WouldBlock` says that the time is over.
    pub(crate) fn block(&mut self, longest: Duration) -> io::Result<()> {
        rustix::io::ioctl_fionbio(self.as_fd(), false)?;
        sockopt::set_socket_timeout(self.as_fd(), Timeout::Recv, Some(longest))?;
        sockopt::set_socket_timeout(self.as_fd(), Timeout::Send, Some(longest))?;
        Ok(())
    }

    /// Reads what is there. `WouldBlock` only after the socket said so and everything that had
    /// arrived has been handed out: an event loop may wait for the next edge.
    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.channel {
            None => self.plain.read(buffer),
            Some(channel) => channel.read(&mut self.plain, buffer),
        }
    }

    /// Takes as much as may be sent. Encrypted, some of what was taken may still have to be
    /// sent ([`Stream::wants_write`]): by [`Stream::flush`], or along with the next read.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.channel {
            None => self.plain.write(bytes),
            Some(channel) => channel.write(&mut self.plain, bytes),
        }
    }

    /// Sends what was taken and not sent; `WouldBlock` where the socket does not take it yet.
    #[inline]
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.channel {
            None => Ok(()),
            Some(channel) => channel.flush(&mut self.plain),
        }
    }

    /// Whether something that was taken waits for the socket to become writable.
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
