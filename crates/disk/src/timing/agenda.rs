//! Pending work, ordered by time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::request::Nanos;

/// Deeds by moment; those of one moment in the order in which they were entered.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    heap: BinaryHeap<Noted<T>>,
    entered: u64,
}

/// Ordered by its turn alone, the first of them the greatest, as the heap wants it.
#[derive(Debug)]
struct Noted<T> {
    /// The moment above, the number of its entry below: one comparison without a branch.
    turn: u128,
    deed: T,
}

impl<T> Noted<T> {
    fn at(&self) -> Nanos {
        (self.turn >> 64) as Nanos
    }
}

impl<T> PartialEq for Noted<T> {
    fn eq(&self, other: &Self) -> bool {
        self.turn == other.turn
    }
}

impl<T> Eq for Noted<T> {}

impl<T> PartialOrd for Noted<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Noted<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.turn.cmp(&self.turn)
    }
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            entered: 0,
        }
    }

    pub(crate) fn enter(&mut self, at: Nanos, deed: T) {
        let turn = u128::from(at) << 64 | u128::from(self.entered);
        self.heap.push(Noted { turn, deed });
        self.entered += 1;
    }

    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(Noted::at)
    }

    /// Takes the first deed that is due by `now`.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<T> {
        self.due_at(now).map(|(_, deed)| deed)
    }

    /// The same, with its moment.
    pub(crate) fn due_at(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|noted| (noted.at(), noted.deed))
    }
}

/// The earliest of some moments. No moment is the last that there is, so that this takes no branches.
pub(crate) fn first(moments: impl IntoIterator<Item = Option<Nanos>>) -> Option<Nanos> {
    let moments = moments.into_iter().map(|at| at.unwrap_or(Nanos::MAX));
    let first = moments.fold(Nanos::MAX, Nanos::min);
    (first != Nanos::MAX).then_some(first)
}
