//! A small event loop for one session, edge-triggered as the engine's is.

use std::io::ErrorKind;
use std::task::Poll;
use std::time::Duration;

use diskproof_load::driver::{Args, Fault, Reply, Session, Statement};
use mio::{Events, Interest, Token};

/// A reply that takes longer than this never comes: the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Client<S> {
    session: S,
    poll: mio::Poll,
    events: Events,
}

impl<S: Session> Client<S> {
    pub(crate) fn new(mut session: S) -> Self {
        let poll = mio::Poll::new().expect("an event loop");
        let source = session.source().expect("a socket");
        poll.registry()
            .register(source, Token(0), Interest::READABLE | Interest::WRITABLE)
            .expect("registration");
        Self {
            session,
            poll,
            events: Events::with_capacity(4),
        }
    }

    /// Runs one statement to its end. As in the engine, no read is tried before an event.
    pub(crate) fn run(&mut self, statement: usize, args: &Args) -> Result<Reply, Fault> {
        self.session.submit(statement, args)?;
        loop {
            match self.poll.poll(&mut self.events, Some(PATIENCE)) {
                // Another test's signal.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled.expect("an event loop"),
            }
            assert!(!self.events.is_empty(), "no reply to statement {statement}");
            if let Poll::Ready(outcome) = self.session.poll() {
                return outcome;
            }
        }
    }
}

pub(crate) fn statement(sql: &str) -> Statement {
    Statement::prepared(sql)
}

pub(crate) fn ints(values: &[i64]) -> Args {
    let mut args = Args::default();
    for &value in values {
        args.push_int(value);
    }
    args
}

pub(crate) fn push_text(mut args: Args, text: &str) -> Args {
    args.push_text(|out| out.extend_from_slice(text.as_bytes()));
    args
}
