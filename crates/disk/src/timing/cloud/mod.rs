//! Volumes of a cloud: a log-normal round trip behind the provider's limits.
//!
//! A request waits until there is room for one more, then for its turn under the limits (I/Os a
//! second with burst credit, bytes a second; in order of arrival), and is answered a round trip
//! later. An answered write is stable, because the provider keeps copies.

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
use super::{Counters, Event, Timing};
use crate::request::{Kind, NANOS_PER_US, Nanos, Request, Tag, nanos_of_us};
use limits::Limits;

/// No round trip is shorter than one of a thousand would be: light has its speed.
const FASTEST_SIGMAS: f64 = -3.09;

/// A cloud volume that runs.
#[derive(Debug)]
pub struct Cloud {
    capacity_bytes: u64,
    round_trip: LogNormal<f64>,
    /// The share of its median that a round trip takes at least.
    fastest: f64,
    read_median_us: f64,
    write_median_us: f64,
    flush_us: f64,
    concurrency: u32,
    under_way: u32,
    outside: VecDeque<(Tag, Request)>,
    limits: Limits,
    /// Answers, and whether the request changes what is stored.
    agenda: Agenda<(Tag, bool)>,
    random: Xoshiro256PlusPlus,
    requests: [u64; 4],
    advanced_to: Nanos,
}

impl Cloud {
    /// The parameters must have passed their `check`.
    #[must_use]
    pub fn new(parameters: &CloudParameters, seed: u64) -> Self {
        Self {
            capacity_bytes: parameters.capacity_bytes.value,
            round_trip: LogNormal::new(0.0, parameters.sigma.value).expect("sigma was checked"),
            fastest: (FASTEST_SIGMAS * parameters.sigma.value).exp(),
            read_median_us: parameters.read_median_us.value,
            write_median_us: parameters.write_median_us.value,
            flush_us: parameters.flush_us.value,
            concurrency: parameters.concurrency.value,
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
        while self.under_way < self.concurrency {
            let Some((tag, request)) = self.outside.pop_front() else {
                return;
            };
            self.under_way += 1;
            self.requests[request.kind as usize] += 1;
            let (passed, median_us) = match request.kind {
                Kind::Read => (self.limits.pass(now, request), self.read_median_us),
                Kind::Write => (self.limits.pass(now, request), self.write_median_us),
                Kind::Flush => (self.limits.flush(now), self.flush_us),
                Kind::Discard => (now, self.write_median_us),
            };
            let round_trip_us = match request.kind {
                Kind::Flush => median_us,
                _ => median_us * self.round_trip.sample(&mut self.random).max(self.fastest),
            };
            let takes_ns = nanos_of_us(round_trip_us);
            let changes = matches!(request.kind, Kind::Write | Kind::Discard);
            // A flush takes no time of its own; if the caller was late, no event repeats an earlier
            // moment.
            let answered = (passed + takes_ns).max(self.advanced_to);
            self.agenda.enter(answered, (tag, changes));
        }
    }
}

impl Timing for Cloud {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.outside.push_back((tag, request));
        self.take_in(now);
    }

    fn head_start(&self) -> Nanos {
        nanos_of_us(self.read_median_us.min(self.write_median_us) * self.fastest)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.agenda.next()
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some((at, (tag, changes))) = self.agenda.due_at(now) {
            if changes {
                events.push(Event::Stable { tag, at });
            }
            events.push(Event::Answered { tag, at });
            self.under_way -= 1;
            self.take_in(at);
        }
        self.advanced_to = self.advanced_to.max(now);
    }

    fn counters(&self) -> Counters {
        let mut counters: Counters = [
            ("reads", self.requests[Kind::Read as usize]),
            ("writes", self.requests[Kind::Write as usize]),
            ("flushes", self.requests[Kind::Flush as usize]),
            ("discards", self.requests[Kind::Discard as usize]),
            ("ios", self.limits.ios),
            ("merged", self.limits.merged),
            ("throttled", self.limits.throttled),
            ("throttled_us", self.limits.throttled_ns / NANOS_PER_US),
        ]
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect();
        if let Some(credits) = self.limits.credits() {
            counters.insert("credits".to_owned(), credits);
        }
        counters
    }
}
