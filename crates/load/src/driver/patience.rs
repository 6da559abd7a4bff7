//! Waits for one connection, if there is nothing else to do meanwhile.

use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Token};

use super::socket::{LOGIN_LIMIT, too_late};
use super::{Fault, Reply, Session};

/// Pause before a server with a full queue is asked again.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// One session that nothing else is done beside: each reply is waited for.
pub(crate) struct Alone<S> {
    pub(crate) session: S,
    poll: mio::Poll,
    events: Events,
}

impl<S: Session> Alone<S> {
    pub(crate) fn new(mut session: S) -> Result<Self, Fault> {
        let poll = mio::Poll::new()?;
        if let Some(source) = session.source() {
            let interests = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(source, Token(0), interests)?;
        }
        Ok(Self {
            session,
            poll,
            events: Events::with_capacity(1),
        })
    }

    /// Waits for the reply to what has been submitted, for as long as the limit says, if there is one.
    pub(crate) fn reply(&mut self, limit: Option<Duration>) -> Result<Reply, Fault> {
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            if let Poll::Ready(outcome) = self.session.poll() {
                return outcome;
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                let seconds = limit.unwrap_or_default().as_secs_f64();
                return Err(Fault::NoReply(format!("no whole reply within {seconds} s")));
            }
            match self.poll.poll(&mut self.events, left) {
                Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                    return Err(error.into());
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
    let mut poll = mio::Poll::new()?;
    if let Some(source) = session.source() {
        let interests = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(source, Token(0), interests)?;
    }
    let mut events = Events::with_capacity(1);
    let outcome = loop {
        if let Poll::Ready(outcome) = step(session) {
            break outcome;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Err(Fault::Lost(too_late()));
        }
        match poll.poll(&mut events, Some(left)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                break Err(error.into());
            }
            _ => {}
        }
    };
    // The connection is another event loop's from here on.
    if let Some(source) = session.source() {
        poll.registry().deregister(source)?;
    }
    outcome
}
