//! When to check which client: those that pause, sleep, or wait for another attempt.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instants and the clients that wait for them; each client waits for one at most.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(u64, usize)>>);

impl Timers {
    pub(super) fn set(&mut self, at_ns: u64, client: usize) {
        self.0.push(Reverse((at_ns, client)));
    }

    /// The next instant that a client waits for.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// A client that is due; it waits no more.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<usize> {
        self.next_ns().filter(|&at_ns| at_ns <= now_ns)?;
        self.0.pop().map(|Reverse((_, client))| client)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_come_in_the_order_of_their_instants() {
        let mut timers = Timers::default();
        for (at_ns, client) in [(30, 0), (10, 1), (20, 2)] {
            timers.set(at_ns, client);
        }
        assert_eq!((timers.due(9), timers.next_ns()), (None, Some(10)));
        assert_eq!((timers.due(20), timers.due(20)), (Some(1), Some(2)));
        assert_eq!((timers.due(29), timers.len()), (None, 1));
        assert_eq!((timers.due(u64::MAX), timers.len()), (Some(0), 0));
    }
}
