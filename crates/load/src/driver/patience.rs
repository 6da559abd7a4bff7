//! Waits for one connection, if there is nothing else to do meanwhile.

use std::io::{self, ErrorKind};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Token};

use super::socket::LOGIN_LIMIT;
use super::{Fault, Reply, Session};

/// Pause before a server with a full queue is asked again.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// One session that nothing else is done beside: each reply is waited for.
pub(crate) struct Alone<S> {
    pub(crate) session: S,
    watch: Watch,
}

impl<S: Session> Alone<S> {
    pub(crate) fn new(mut session: S) -> Result<Self, Fault> {
        let watch = Watch::begin(&mut session)?;
        Ok(Self { session, watch })
    }

    /// Waits for the reply to what has been submitted, for as long as the limit says, if there is one.
    pub(crate) fn reply(&mut self, limit: Option<Duration>) -> Result<Reply, Fault> {
        let end = limit.map(|limit| Instant::now() + limit);
        self.wait(end, S::poll).unwrap_or_else(|| {
            let seconds = limit.unwrap_or_default().as_secs_f64();
            Err(Fault::NoReply(format!("no whole reply within {seconds} s")))
        })
    }

    /// Goes on step by step; `None` if the end comes first.
    pub(super) fn wait<T>(
        &mut self,
        end: Option<Instant>,
        step: impl FnMut(&mut S) -> Poll<Result<T, Fault>>,
    ) -> Option<Result<T, Fault>> {
        self.watch.wait(&mut self.session, end, step)
    }
}

/// The events of one session.
struct Watch {
    poll: mio::Poll,
    events: Events,
}

impl Watch {
    fn begin(session: &mut impl Session) -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        if let Some(source) = session.source() {
            let interests = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(source, Token(0), interests)?;
        }
        let events = Events::with_capacity(1);
        Ok(Self { poll, events })
    }

    fn wait<S, T>(
        &mut self,
        session: &mut S,
        end: Option<Instant>,
        mut step: impl FnMut(&mut S) -> Poll<Result<T, Fault>>,
    ) -> Option<Result<T, Fault>> {
        loop {
            if let Poll::Ready(outcome) = step(session) {
                return Some(outcome);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return None;
            }
            match self.poll.poll(&mut self.events, left) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Some(Err(error.into()));
                }
                _ => {}
            }
        }
    }
}

/// Asks a question of a session that no event loop has; the reply must be there in time.
pub(crate) fn ask<S: Session>(session: &mut S, sql: &[u8], end: Instant) -> Result<Reply, Fault> {
    session.submit_text(sql)?;
    wait(session, end, S::poll)
}

/// Opens a connection and waits until it is logged in and prepared, for [`LOGIN_LIMIT`] at most.
pub(super) fn open_and_wait<S: Session>(open: impl Fn() -> Result<S, Fault>) -> Result<S, Fault> {
    let end = Instant::now() + LOGIN_LIMIT;
    let mut session = loop {
        match open() {
            Err(Fault::Busy(_)) if Instant::now() < end => thread::sleep(QUEUE_PAUSE),
            opened => break opened?,
        }
    };
    wait(&mut session, end, S::poll_open)?;
    Ok(session)
}

fn wait<S: Session, T>(
    session: &mut S,
    end: Instant,
    step: impl Fn(&mut S) -> Poll<Result<T, Fault>>,
) -> Result<T, Fault> {
    let mut watch = Watch::begin(session)?;
    let outcome = watch.wait(session, Some(end), step);
    // The connection is another event loop's from here on.
    if let Some(source) = session.source() {
        watch.poll.registry().deregister(source)?;
    }
    outcome.unwrap_or_else(|| Err(Fault::Lost(too_late())))
}

/// The server took longer than [`LOGIN_LIMIT`].
pub(crate) fn too_late() -> io::Error {
    let seconds = LOGIN_LIMIT.as_secs();
    let message = format!("the server did not finish the log-in within {seconds} s");
    io::Error::new(ErrorKind::TimedOut, message)
}

/// A statement without its whole reply within its limit.
pub(super) fn no_reply(sql: &[u8], limit: Duration) -> Fault {
    Fault::NoReply(format!(
        "no whole reply to `{}` within {} s; look for what the server waits for",
        in_short(sql, SHOWN_CHARS),
        limit.as_secs_f64()
    ))
}

/// Characters of a statement in a message.
const SHOWN_CHARS: usize = 100;

/// The first words of a statement, on one line of so many characters.
pub(crate) fn in_short(sql: &[u8], most_chars: usize) -> String {
    let text = String::from_utf8_lossy(&sql[..sql.len().min(8 * most_chars)]);
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(most_chars) {
        words.truncate(cut);
        words.push('…');
    }
    words
}
