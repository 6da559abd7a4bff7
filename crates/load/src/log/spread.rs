//! Entries of a clock that moves in whole seconds, spread over the second in the order of the log.

use std::io;

use super::{Event, Sink, What};

/// More entries of one second, and more of their text, are not held in memory.
const MOST_HELD: usize = 500_000;
const MOST_HELD_BYTES: usize = 64 << 20;

/// Holds what has the same instant until the clock moves.
pub(crate) struct Spread<S> {
    pub(crate) to: S,
    held: Vec<Event>,
    held_bytes: usize,
}

impl<S: Sink> Spread<S> {
    pub(crate) fn new(to: S) -> Self {
        Self {
            to,
            held: Vec::new(),
            held_bytes: 0,
        }
    }

    /// Passes on what is held.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.held_bytes = 0;
        let count = i64::try_from(self.held.len()).unwrap_or(i64::MAX);
        for (place, mut event) in (0_i64..).zip(self.held.drain(..)) {
            event.at_us += event.step_us * place / count;
            self.to.take(event)?;
        }
        Ok(())
    }
}

impl<S: Sink> Sink for Spread<S> {
    fn take(&mut self, event: Event) -> io::Result<()> {
        if event.step_us <= 1 {
            self.flush()?;
            return self.to.take(event);
        }
        let first = self.held.first();
        let is_later = first.is_some_and(|first| first.at_us != event.at_us);
        let is_full = self.held.len() >= MOST_HELD || self.held_bytes >= MOST_HELD_BYTES;
        if is_later || is_full {
            self.flush()?;
        }
        if let What::Statement(statement) = &event.what {
            self.held_bytes += statement.sql.len();
        }
        self.held.push(event);
        Ok(())
    }

    fn unread(&mut self, reason: &'static str, line: u64) {
        self.to.unread(reason, line);
    }
}
