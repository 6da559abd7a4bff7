//! Bytes on their way from one part to another, and when there is leisure for it.

use super::Agenda;
use crate::request::Nanos;

/// Reads from one part, then writes to the other, then a flush there. The bytes have arrived once the
/// flush is answered and every write is stable.
#[derive(Default)]
pub(in crate::timing) struct Moving {
    pub(in crate::timing) reads_due: usize,
    answers_due: usize,
    stables_due: usize,
    flushed: bool,
}

impl Moving {
    /// One read is answered; returns whether it was the last.
    pub(in crate::timing) fn read(&mut self) -> bool {
        self.reads_due -= 1;
        self.reads_due == 0
    }

    /// Writes submitted so far; without any, there is nothing to flush.
    pub(in crate::timing) fn writes(&mut self, count: usize) {
        (self.answers_due, self.stables_due) = (count, count);
        self.flushed = count == 0;
    }

    /// One write is answered; returns whether it was the last, so that the flush is due.
    pub(in crate::timing) fn written(&mut self) -> bool {
        self.answers_due -= 1;
        self.answers_due == 0
    }

    pub(in crate::timing) fn stable(&mut self) {
        self.stables_due -= 1;
    }

    pub(in crate::timing) fn flushed(&mut self) {
        self.flushed = true;
    }

    pub(in crate::timing) fn has_arrived(&self) -> bool {
        self.flushed && self.stables_due == 0
    }
}

/// Whether no request has come for a while, and an alarm for when that will be so.
pub(in crate::timing) struct Leisure {
    after: Nanos,
    last_asked: Nanos,
    /// The agenda will ring.
    armed: bool,
}

impl Leisure {
    pub(in crate::timing) fn after(after: Nanos) -> Self {
        Self {
            after,
            last_asked: 0,
            armed: false,
        }
    }

    pub(in crate::timing) fn asked(&mut self, now: Nanos) {
        self.last_asked = now;
    }

    pub(in crate::timing) fn rang(&mut self) {
        self.armed = false;
    }

    /// Whether the device is idle now. A waiting request still counts as one.
    pub(in crate::timing) fn is_here(&mut self, now: Nanos, is_busy: bool) -> bool {
        if is_busy {
            self.last_asked = now;
        }
        !is_busy && now >= self.last_asked + self.after
    }

    /// Lets the agenda ring when there will be leisure, unless it will anyway.
    pub(in crate::timing) fn await_it<D: Ord>(&mut self, agenda: &mut Agenda<D>, deed: D) {
        if !self.armed {
            self.armed = true;
            agenda.enter(self.last_asked + self.after, deed);
        }
    }
}
