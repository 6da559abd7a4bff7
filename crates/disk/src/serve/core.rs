//! A model and the requests that are in it: everything about their times that needs no clock.
//!
//! Answers leave earlier than the model says by what the path costs (`path`), but never before the
//! request arrived. For that the model runs at most `path` ahead of the clock, and only up to its
//! next event. A request that arrives meanwhile is submitted at its arrival if the model's head
//! start allows it, else at the model's moment; its answer is then late by the difference.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::answer::Answer;
use super::depth::Depth;
use super::tracking::Tracking;
use crate::account::Ticket;
use crate::faults::Delay;
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::agenda::first;
use crate::timing::{Event, Timing};

/// More than any model does at one moment for all the requests that a disk can have.
const STEPS_AT_A_MOMENT: u32 = 1_000_000;

/// Whether requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    /// Until a restore every request fails; the model stands still.
    Cut,
    /// Permanently.
    Ended,
}

pub(super) struct Core {
    pub(super) timing: Box<dyn Timing>,
    /// What the path to the kernel and back costs, subtracted from each modelled latency.
    pub(super) path: Nanos,
    pub(super) timed: bool,
    pub(super) power: Power,
    pub(super) tracking: Arc<Tracking>,
    /// When the scheduler wakes by itself: 0 while it is awake.
    pub(super) scheduler_wakes: Nanos,
    pub(super) depth: Depth,
    /// Bytes that a power cut could still take.
    pub(super) unstable_bytes: u64,
    /// The latest moment that was named to the model.
    model_at: Nanos,
    next_tag: u64,
    /// Whether the model has had a request since it was built.
    pub(super) used: bool,
    under_way: HashMap<Tag, UnderWay>,
    /// Requests that the model has answered and a fault still holds back, by the moment of their
    /// answer.
    held_back: BTreeMap<(Nanos, Tag), UnderWay>,
    /// Writes that are not stable.
    unstable: HashMap<Tag, Unstable>,
    events: Vec<Event>,
}

struct Unstable {
    bytes: u64,
    ticket: Option<Ticket>,
}

/// A request that has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) request: Request,
    /// Its number in the account, if there is one.
    pub(super) ticket: Option<Ticket>,
    pub(super) arrived: Nanos,
    /// By a fault.
    pub(super) delay: Delay,
}

struct UnderWay {
    arrival: Arrival,
    submitted: Nanos,
    answer: Answer,
}

/// An answer that is due.
pub(super) struct Due {
    pub(super) kind: Kind,
    pub(super) answer: Answer,
    /// The model's moment, counted from the arrival.
    pub(super) at: Nanos,
    /// The model's.
    pub(super) latency: Nanos,
    /// Whether that is less than the path costs: the user cannot see it that fast.
    pub(super) below_path: bool,
    /// When it should leave.
    pub(super) deadline: Nanos,
}

impl Core {
    pub(super) fn new(
        timing: Box<dyn Timing>,
        timed: bool,
        path: Nanos,
        tracking: Arc<Tracking>,
    ) -> Self {
        Self {
            depth: Depth::of(timing.queue_depth()),
            timing,
            path,
            timed,
            power: Power::On,
            tracking,
            scheduler_wakes: 0,
            unstable_bytes: 0,
            model_at: 0,
            next_tag: 0,
            used: false,
            under_way: HashMap::new(),
            held_back: BTreeMap::new(),
            unstable: HashMap::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way.len() + self.held_back.len()
    }

    /// Continues with another, fresh model; only while no request is in progress.
    pub(super) fn renew(&mut self, timing: Box<dyn Timing>) {
        debug_assert!(self.under_way() == 0, "their answers would never come");
        self.depth = Depth::of(timing.queue_depth());
        self.timing = timing;
        self.used = false;
        self.power = Power::On;
        self.unstable.clear();
        self.unstable_bytes = 0;
    }

    /// When answers have to be looked for, unless something is submitted before.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        let next = self.next_event()?;
        Some(next.saturating_sub(self.path))
    }

    fn next_event(&self) -> Option<Nanos> {
        if self.power == Power::Cut {
            return None;
        }
        let held_back = self.held_back.keys().next().map(|(at, _)| *at);
        first([self.timing.next_event(), held_back])
    }

    /// Takes all requests out of the model and returns those in progress.
    pub(super) fn end(&mut self) -> Vec<(Kind, Answer)> {
        self.power = Power::Ended;
        self.give_back()
    }

    /// The power fails: returns the requests in progress.
    pub(super) fn cut(&mut self, now: Nanos) -> Vec<(Kind, Answer)> {
        self.power = Power::Cut;
        let left = self.give_back();
        self.depth.changes(now, 0);
        left
    }

    fn give_back(&mut self) -> Vec<(Kind, Answer)> {
        let held_back = std::mem::take(&mut self.held_back);
        let left = self.under_way.drain().map(|(_, request)| request);
        left.chain(held_back.into_values())
            .map(|request| (request.arrival.request.kind, request.answer))
            .collect()
    }

    /// Advances the model to all that has arrived, and returns the answers that are due.
    pub(super) fn submit(&mut self, arrival: Arrival, answer: Answer, due: &mut Vec<Due>) {
        let Arrival {
            request, arrived, ..
        } = arrival;
        let submitted = arrived.max(self.model_at.saturating_sub(self.timing.head_start()));
        if submitted > self.model_at {
            self.advance(submitted, due);
        }
        let tag = Tag(self.next_tag);
        self.next_tag += 1;
        self.used = true;
        if matches!(request.kind, Kind::Write | Kind::Discard) {
            let (bytes, ticket) = (request.length_bytes, arrival.ticket);
            self.unstable.insert(tag, Unstable { bytes, ticket });
            self.unstable_bytes += bytes;
        }
        let under_way = UnderWay {
            arrival,
            submitted,
            answer,
        };
        self.under_way.insert(tag, under_way);
        self.depth.changes(arrived, self.under_way());
        self.timing.submit(submitted, tag, request);
    }

    /// Advances the model over all answers that must leave by now.
    ///
    /// # Panics
    ///
    /// If the model always has something to do at the same moment, it would never end, and the disk
    /// would hang. The panic of the thread ends the disk.
    pub(super) fn drive(&mut self, now: Nanos, due: &mut Vec<Due>) {
        let horizon = now + self.path;
        let mut still = 0;
        while let Some(next) = self.next_event()
            && next <= horizon
        {
            still = if next > self.model_at { 0 } else { still + 1 };
            assert!(still < STEPS_AT_A_MOMENT, "the model stands still");
            self.advance(next.max(self.model_at), due);
        }
    }

    fn advance(&mut self, to: Nanos, due: &mut Vec<Due>) {
        self.model_at = to;
        self.timing.advance(to, &mut self.events);
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            match event {
                Event::Answered { tag, at } => {
                    let request = self
                        .under_way
                        .remove(&tag)
                        .expect("a model answers each request once");
                    let delay = request.arrival.delay;
                    let leaves = if delay.is_none() {
                        at
                    } else {
                        delay.answered(request.submitted, at - request.submitted)
                    };
                    if leaves > to {
                        self.held_back.insert((leaves, tag), request);
                    } else {
                        due.push(self.due(request, leaves));
                    }
                }
                Event::Stable { tag, at } => {
                    let Some(unstable) = self.unstable.remove(&tag) else {
                        continue;
                    };
                    self.unstable_bytes -= unstable.bytes;
                    if let Some(ticket) = unstable.ticket {
                        self.tracking.stable(ticket, at);
                    }
                }
            }
        }
        self.events = events;
        while let Some(entry) = self.held_back.first_entry()
            && entry.key().0 <= to
        {
            let ((leaves, _), request) = entry.remove_entry();
            due.push(self.due(request, leaves));
        }
    }

    /// Counts an answer that leaves.
    fn due(&mut self, request: UnderWay, at: Nanos) -> Due {
        self.depth.changes(at, self.under_way());
        let Arrival {
            request: Request { kind, .. },
            ticket,
            arrived,
            ..
        } = request.arrival;
        if let Some(ticket) = ticket {
            self.tracking.answered(ticket, at);
        }
        let latency = at - request.submitted;
        Due {
            kind,
            answer: request.answer,
            at: arrived + latency,
            latency,
            below_path: latency < self.path,
            deadline: arrived + latency.saturating_sub(self.path),
        }
    }
}

#[cfg(test)]
mod tests;
