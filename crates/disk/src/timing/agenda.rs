//! What is to be done, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::request::Nanos;

/// Deeds by moment; those of one moment in the order in which they were entered.
#[derive(Debug)]
pub(in crate::timing) struct Agenda<T> {
    heap: BinaryHeap<Reverse<(Nanos, u64, T)>>,
    entered: u64,
}

impl<T: Ord> Agenda<T> {
    pub(in crate::timing) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            entered: 0,
        }
    }

    pub(in crate::timing) fn enter(&mut self, at: Nanos, deed: T) {
        self.heap.push(Reverse((at, self.entered, deed)));
        self.entered += 1;
    }

    pub(in crate::timing) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the first deed that is due by `now`.
    pub(in crate::timing) fn due(&mut self, now: Nanos) -> Option<T> {
        self.due_at(now).map(|(_, deed)| deed)
    }

    /// The same, with its moment.
    pub(in crate::timing) fn due_at(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, deed))| (at, deed))
    }
}
