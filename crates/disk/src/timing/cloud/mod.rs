//! Volumes of a cloud: a log-normal round trip behind the provider's limits.
//!
//! A request waits until there is room for one more, then for its turn under the limits (I/Os a
//! second with burst credit, bytes a second; in order of arrival), and is answered a round trip
//! later. An answered write is stable, because the provider keeps copies. The host of a virtual machine
//! takes requests in batches: the round trip comes first then. The requests of a batch pass the limits one
//! after the other, and are answered together.

// `check` bounds every time and rate: none is negative, and virtual time fits in 64 bits.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod limits;
mod parameters;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use parameters::{Burst, CloudParameters, IopsLimit};

use super::agenda::Agenda;
use super::{Counters, Event, Timing, counted_with};
use crate::request::{Kind, NANOS_PER_US, Nanos, Request, Tag, nanos_of_us};
use limits::Limits;

/// No round trip is shorter than one of a thousand would be: light has its speed.
const FASTEST_SIGMAS: f64 = -3.09;

/// What is due.
#[derive(Debug)]
enum Due {
    /// The answer of a request, and whether that changes what is stored.
    Answer(Tag, bool),
    /// The host looks for requests.
    Batch,
}

/// A cloud volume that runs.
#[derive(Debug)]
pub struct Cloud {
    parameters: CloudParameters,
    round_trip: LogNormal<f64>,
    /// The share of its median that a round trip takes at least.
    fastest: f64,
    under_way: u32,
    outside: VecDeque<(Tag, Request)>,
    limits: Limits,
    agenda: Agenda<Due>,
    random: Xoshiro256PlusPlus,
    requests: [u64; 4],
    advanced_to: Nanos,
}

impl Cloud {
    /// The parameters must have passed their `check`.
    pub fn new(parameters: &CloudParameters, seed: u64) -> Self {
        Self {
            parameters: parameters.clone(),
            round_trip: LogNormal::new(0.0, parameters.sigma.value).expect("sigma was checked"),
            fastest: (FASTEST_SIGMAS * parameters.sigma.value).exp(),
            under_way: 0,
            outside: VecDeque::new(),
            limits: Limits::new(parameters),
            agenda: Agenda::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            requests: [0; 4],
            advanced_to: 0,
        }
    }

    fn take_in(&mut self, now: Nanos) {
        while self.under_way < self.parameters.concurrency.value {
            let Some((tag, request)) = self.enter() else {
                return;
            };
            let passed = self.pass(now, request);
            let takes_ns = self.takes(request.kind);
            self.answer(passed + takes_ns, tag, request.kind);
        }
    }

    /// Let the host wake for the request that has waited longest.
    fn wake(&mut self, now: Nanos) {
        if let Some(&(_, first)) = self.outside.front() {
            let takes_ns = self.takes(first.kind);
            self.agenda
                .enter((now + takes_ns).max(self.advanced_to), Due::Batch);
        }
    }

    /// Take all that wait, one after the other, and answer them together.
    fn take_batch(&mut self, now: Nanos) {
        let mut batch = Vec::new();
        let mut done = now;
        while self.under_way < self.parameters.concurrency.value
            && let Some((tag, request)) = self.enter()
        {
            done = self.pass(done, request);
            // The host has woken for the first; a flush takes as long again after others.
            if request.kind == Kind::Flush && !batch.is_empty() {
                done += self.takes(Kind::Flush);
            }
            batch.push((tag, request.kind));
        }
        for (tag, kind) in batch {
            self.answer(done, tag, kind);
        }
    }

    fn enter(&mut self) -> Option<(Tag, Request)> {
        let (tag, request) = self.outside.pop_front()?;
        self.under_way += 1;
        self.requests[request.kind as usize] += 1;
        Some((tag, request))
    }

    fn pass(&mut self, now: Nanos, request: Request) -> Nanos {
        match request.kind {
            Kind::Read | Kind::Write => self.limits.pass(now, request),
            Kind::Flush => self.limits.flush(now),
            Kind::Discard => now,
        }
    }

    fn takes(&mut self, kind: Kind) -> Nanos {
        let median_us = match kind {
            Kind::Read => &self.parameters.read_median_us,
            Kind::Write | Kind::Discard => &self.parameters.write_median_us,
            Kind::Flush => return nanos_of_us(self.parameters.flush_us.value),
        };
        nanos_of_us(median_us.value * self.round_trip.sample(&mut self.random).max(self.fastest))
    }

    fn answer(&mut self, at: Nanos, tag: Tag, kind: Kind) {
        let changes = matches!(kind, Kind::Write | Kind::Discard);
        // A flush takes no time of its own; if the caller was late, no event repeats an earlier
        // moment.
        let answered = at.max(self.advanced_to);
        self.agenda.enter(answered, Due::Answer(tag, changes));
    }
}

impl Timing for Cloud {
    fn capacity_bytes(&self) -> u64 {
        self.parameters.capacity_bytes.value
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.outside.push_back((tag, request));
        if !self.parameters.batches.value {
            self.take_in(now);
        } else if self.agenda.next().is_none() {
            self.wake(now);
        }
    }

    /// A batch may miss a request that came within the head start of its wake.
    fn head_start(&self) -> Nanos {
        let (read, write) = (
            self.parameters.read_median_us.value,
            self.parameters.write_median_us.value,
        );
        nanos_of_us(read.min(write) * self.fastest)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.agenda.next()
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some((at, due)) = self.agenda.due_at(now) {
            let Due::Answer(tag, changes) = due else {
                self.take_batch(at);
                continue;
            };
            if changes {
                events.push(Event::Stable { tag, at });
            }
            events.push(Event::Answered { tag, at });
            self.under_way -= 1;
            if !self.parameters.batches.value {
                self.take_in(at);
            } else if self.under_way == 0 {
                self.wake(at);
            }
        }
        self.advanced_to = self.advanced_to.max(now);
    }

    fn counters(&self) -> Counters {
        let limits = &self.limits;
        let own = [
            ("ios", limits.ios),
            ("merged", limits.merged),
            ("throttled", limits.throttled),
            ("throttled_us", limits.throttled_ns / NANOS_PER_US),
        ];
        let mut counters = counted_with(self.requests, own);
        if let Some(credits) = self.limits.credits() {
            counters.insert("credits".to_owned(), credits);
        }
        counters
    }
}
