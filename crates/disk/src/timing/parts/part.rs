//! A device inside a device.

use crate::ledger::Ledger;
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::{Counters, Event, Timing};

/// A device inside another. Its requests have tags of its own, and each remembers what it is for.
pub(in crate::timing) struct Part<P> {
    timing: Box<dyn Timing>,
    /// It was brought to this moment.
    at: Nanos,
    next: Option<Nanos>,
    under_way: Ledger<Piece<P>>,
    events: Vec<Event>,
}

/// One request to a part.
struct Piece<P> {
    purpose: P,
    answer_due: bool,
    stable_due: bool,
}

/// Events of a part, by the purpose of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::timing) enum Told<P> {
    Answered(P),
    Stable(P),
}

impl<P: Copy> Part<P> {
    pub(in crate::timing) fn new(timing: Box<dyn Timing>) -> Self {
        Self {
            next: timing.next_event(),
            timing,
            at: 0,
            under_way: Ledger::default(),
            events: Vec::new(),
        }
    }

    pub(in crate::timing) fn capacity_bytes(&self) -> u64 {
        self.timing.capacity_bytes()
    }

    pub(in crate::timing) fn head_start(&self) -> Nanos {
        self.timing.head_start()
    }

    /// Submits at `now`, which may lie its head start back; earlier events were already returned.
    pub(in crate::timing) fn submit(&mut self, now: Nanos, request: Request, purpose: P) {
        if self.at < now {
            // Events that an earlier submission caused at this very moment are returned with the
            // next step.
            self.timing.advance(now, &mut self.events);
            self.at = now;
        }
        let tag = self.under_way.insert(Piece {
            purpose,
            answer_due: true,
            stable_due: matches!(request.kind, Kind::Write | Kind::Discard),
        });
        self.timing.submit(now, tag, request);
        self.next = match self.events.first() {
            Some(event) => Some(event.at()),
            None => self.timing.next_event(),
        };
    }

    pub(in crate::timing) fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    /// Goes on to `now`, if something happens until then, and appends what it was.
    pub(in crate::timing) fn advance(&mut self, now: Nanos, told: &mut Vec<Told<P>>) {
        if self.next.is_none_or(|next| next > now) {
            return;
        }
        let mut events = std::mem::take(&mut self.events);
        self.timing.advance(now, &mut events);
        self.at = now;
        for event in events.drain(..) {
            told.push(self.hear(event));
        }
        self.events = events;
        self.next = self.timing.next_event();
    }

    fn hear(&mut self, event: Event) -> Told<P> {
        let (Event::Answered { tag, .. } | Event::Stable { tag, .. }) = event;
        let piece = self.piece(tag);
        let purpose = piece.purpose;
        let told = match event {
            Event::Answered { .. } => {
                assert!(piece.answer_due, "a part answered twice");
                piece.answer_due = false;
                Told::Answered(purpose)
            }
            Event::Stable { .. } => {
                assert!(piece.stable_due, "a part was stable twice");
                piece.stable_due = false;
                Told::Stable(purpose)
            }
        };
        if !piece.answer_due && !piece.stable_due {
            self.under_way.remove(tag);
        }
        told
    }

    fn piece(&mut self, tag: Tag) -> &mut Piece<P> {
        self.under_way
            .get_mut(tag)
            .expect("a part speaks of what it was asked")
    }

    /// Puts its counters under its place: `front.seeks`.
    pub(in crate::timing) fn count_into(&self, place: &str, counters: &mut Counters) {
        for (name, value) in self.timing.counters() {
            counters.insert(format!("{place}.{name}"), value);
        }
    }
}
