//! A connection that waits, for what is not timed.

use std::io::{self, ErrorKind, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::LOGIN_LIMIT;
use super::route::Route;
use super::stream::Stream;

/// Pause before a server with a full queue is asked again.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// How long the rest of a reply may take if its statement has no limit: a server works first, and
/// answers then.
const REPLY_LIMIT: Duration = Duration::from_secs(60);

/// A blocking connection.
pub(crate) struct Socket {
    stream: Stream,
    /// When all reads and writes of the log-in or the statement must be over.
    end: Option<Instant>,
    /// The statement under way and its limit; `None` during the log-in.
    statement: Option<(String, Duration)>,
    /// The limit is that of a reply which has begun.
    replying: bool,
}

impl Socket {
    /// Connects. This and the log-in must be over within [`LOGIN_LIMIT`].
    pub(crate) fn connect(route: &Route) -> io::Result<Self> {
        Self::connect_until(route, Instant::now() + LOGIN_LIMIT)
    }

    fn connect_until(route: &Route, end: Instant) -> io::Result<Self> {
        loop {
            match route.open() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    thread::sleep(left(end)?.min(QUEUE_PAUSE));
                }
                opened => {
                    return Ok(Self {
                        stream: opened?,
                        end: Some(end),
                        statement: None,
                        replying: false,
                    });
                }
            }
        }
    }

    /// A statement begins. Its request and its whole reply must be over within the limit; without
    /// one, what follows the reply's first byte within [`REPLY_LIMIT`].
    pub(crate) fn begin_statement(&mut self, sql: &[u8], limit: Option<Duration>) {
        self.end = limit.map(|limit| Instant::now() + limit);
        self.statement = Some((in_short(sql), limit.unwrap_or(REPLY_LIMIT)));
        self.replying = false;
    }

    /// What has come is not the reply yet: it may take its time again.
    pub(crate) fn reply_is_to_come(&mut self) {
        if std::mem::take(&mut self.replying) {
            self.end = None;
        }
    }

    fn reply_has_begun(&mut self) {
        if let (None, Some((_, limit))) = (self.end, &self.statement) {
            self.end = Some(Instant::now() + *limit);
            self.replying = true;
        }
    }

    /// The remaining time, if it is limited; an error if it is over.
    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(end) = self.end else {
            return Ok(None);
        };
        left(end).map(Some).map_err(|late| match &self.statement {
            None => late,
            Some((sql, limit)) => {
                io::Error::new(ErrorKind::TimedOut, NoReply::new(sql.clone(), *limit))
            }
        })
    }

    /// Reads what is there without waiting for it.
    pub(crate) fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }

    /// The connection as an event loop would drive it; [`Socket::wait`] where that would block.
    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Waits until there is something to read, or room to write if `writing`; bytes that were
    /// accepted but not yet sent need room too.
    pub(crate) fn wait(&self, writing: bool) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, !writing);
        flags.set(PollFlags::OUT, writing || self.stream.wants_write());
        let timeout = self.left()?.map(Timespec::try_from);
        let timeout = timeout.transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.stream, flags)], timeout.as_ref()) {
            Ok(_) => Ok(()),
            Err(error) if error == rustix::io::Errno::INTR => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The remaining time; an error if there is none.
pub(super) fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(too_late());
    }
    Ok(left)
}

/// The first words of a statement, on one line.
fn in_short(sql: &[u8]) -> String {
    const SHOWN_CHARS: usize = 100;
    let text = String::from_utf8_lossy(&sql[..sql.len().min(8 * SHOWN_CHARS)]);
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(SHOWN_CHARS) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

/// A statement without its whole reply within its limit.
#[derive(Debug, thiserror::Error)]
#[error(
    "no whole reply to `{sql}` within {} s; look for what the server waits for",
    limit.as_secs_f64()
)]
pub(crate) struct NoReply {
    sql: String,
    limit: Duration,
}

impl NoReply {
    pub(crate) fn new(sql: impl Into<String>, limit: Duration) -> Self {
        let sql = sql.into();
        Self { sql, limit }
    }
}

/// The server took longer than [`LOGIN_LIMIT`].
pub(crate) fn too_late() -> io::Error {
    let seconds = LOGIN_LIMIT.as_secs();
    let message = format!("the server did not finish the log-in within {seconds} s");
    io::Error::new(ErrorKind::TimedOut, message)
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // A server that never stops talking never makes us wait.
            self.left()?;
            match self.stream.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(false)?,
                outcome => {
                    self.reply_has_begun();
                    return outcome;
                }
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.reply_is_to_come();
        let written = loop {
            match self.stream.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(true)?,
                outcome => break outcome?,
            }
        };
        self.flush()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            match self.stream.flush() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(true)?,
                outcome => return outcome,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Endpoint;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    const SOON: Duration = Duration::from_millis(150);

    fn listener(directory: &Path) -> (UnixListener, Route) {
        let path = directory.join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        (listener, Route::new(Endpoint::Unix(path)))
    }

    #[test]
    fn a_server_whose_queue_is_full_is_not_waited_for_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let (listener, route) = listener(directory.path());
        // Shortens the queue, which takes one more than this.
        rustix::net::listen(&listener, 0).unwrap();
        let connect = || Socket::connect_until(&route, Instant::now() + SOON);
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
        let (listener, route) = listener(directory.path());
        let trickle = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(SOON / 10);
            }
        });
        let start = Instant::now();
        let mut socket = Socket::connect_until(&route, start + SOON).unwrap();
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

    #[test]
    fn a_reply_that_has_begun_must_end_and_one_that_has_not_may_take_its_time() {
        let directory = tempfile::tempdir().unwrap();
        let (listener, route) = listener(directory.path());
        let mut socket = Socket::connect_until(&route, Instant::now() + SOON).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        socket.begin_statement(b"DROP TABLE t", None);
        assert_eq!(socket.left().unwrap(), None);
        server.write_all(b"xy").unwrap();
        socket.read_exact(&mut [0]).unwrap();
        assert!(socket.left().unwrap().unwrap() <= REPLY_LIMIT);
        socket.write_all(b"rows").unwrap();
        assert_eq!(socket.left().unwrap(), None);
        socket.read_exact(&mut [0]).unwrap();
        socket.end = Some(Instant::now());
        let late = socket.read(&mut [0]).unwrap_err();
        assert!(
            late.to_string().contains("`DROP TABLE t` within 60 s"),
            "{late}"
        );
        socket.begin_statement(b"SELECT 1", Some(SOON));
        assert!(socket.left().unwrap().unwrap() <= SOON);
        socket.reply_is_to_come();
        assert!(socket.left().unwrap().is_some());
    }
}
