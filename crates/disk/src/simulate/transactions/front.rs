//! What stands before the disk: the kernel's queue, as it sends flushes to a disk without FUA.
//!
//! - One flush is under way at a time, and no request passes it on its way to the disk, as with SATA.
//! - Flushes that come meanwhile wait and become one (`block/blk-flush.c`).
//! - A journal's commit block is written between two flushes of its own. While it is, other flushes wait for
//!   the second one, and share it.

use std::collections::VecDeque;

use crate::ledger::Ledger;
use crate::request::{Kind, Nanos, Request};
use crate::timing::{Event, Timing};

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Client(usize),
    Log(usize),
    Pages,
}

struct Asked {
    request: Request,
    asker: Asker,
    /// Others that a flush is for too.
    also: Vec<Asker>,
    /// Whether flushes wait for this write.
    holds: bool,
    from: Nanos,
}

#[derive(Default)]
pub(super) struct Front {
    waiting: VecDeque<Asked>,
    pending: Option<Asked>,
    flushing: bool,
    /// Writes that hold flushes back.
    holding: usize,
    under_way: Ledger<Asked>,
    events: Vec<Event>,
}

/// An answer, for one of those who wait for it.
pub(super) struct Answer {
    pub(super) asker: Asker,
    pub(super) kind: Kind,
    pub(super) took: Nanos,
    /// Whether this is the first answer for its request: a flush may be several askers'.
    pub(super) first: bool,
}

impl Front {
    /// Takes a request; `send` sends it.
    pub(super) fn ask(&mut self, now: Nanos, asker: Asker, request: Request, holds: bool) {
        let entry = Asked {
            request,
            asker,
            also: Vec::new(),
            holds,
            from: now,
        };
        if request.kind != Kind::Flush {
            self.holding += usize::from(holds);
            self.waiting.push_back(entry);
        } else if let Some(pending) = &mut self.pending {
            pending.also.push(asker);
        } else {
            self.pending = Some(entry);
        }
    }

    /// Sends what may go.
    pub(super) fn send(&mut self, timing: &mut dyn Timing, now: Nanos) {
        if self.flushing {
            return;
        }
        while let Some(asked) = self.waiting.pop_front() {
            self.submit(timing, now, asked);
        }
        if self.holding == 0
            && let Some(flush) = self.pending.take()
        {
            self.flushing = true;
            self.submit(timing, now, flush);
        }
    }

    fn submit(&mut self, timing: &mut dyn Timing, now: Nanos, asked: Asked) {
        let request = asked.request;
        timing.submit(now, self.under_way.insert(asked), request);
    }

    /// Lets the disk go on to `now`, and returns what it has answered.
    pub(super) fn advance(&mut self, timing: &mut dyn Timing, now: Nanos) -> Vec<Answer> {
        timing.advance(now, &mut self.events);
        let mut answers = Vec::new();
        for event in self.events.drain(..) {
            let Event::Answered { tag, .. } = event else {
                continue;
            };
            let asked = self
                .under_way
                .remove(tag)
                .expect("an answer to a request under way");
            let kind = asked.request.kind;
            self.flushing &= kind != Kind::Flush;
            self.holding -= usize::from(asked.holds);
            let askers = std::iter::once(asked.asker).chain(asked.also);
            answers.extend(askers.enumerate().map(|(place, asker)| Answer {
                asker,
                kind,
                took: now - asked.from,
                first: place == 0,
            }));
        }
        answers
    }
}
