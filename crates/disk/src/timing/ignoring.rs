//! A device with flushes that do nothing, as some drives, bridges and hypervisors have been found
//! to be.

use super::agenda::Agenda;
use super::parts::first;
use super::{Counters, Event, Timing};
use crate::request::{Kind, Nanos, Request, Tag};

/// Answers a flush after its command's time alone. The device behind does not get the flush: its
/// writes become stable when it writes them anyway.
pub struct Ignoring {
    device: Box<dyn Timing>,
    /// Time of each command at the device, whatever it is.
    command_ns: Nanos,
    flushes: Agenda<Tag>,
    withheld: u64,
}

impl Ignoring {
    #[must_use]
    pub fn new(device: Box<dyn Timing>) -> Self {
        Self {
            command_ns: device.head_start(),
            device,
            flushes: Agenda::new(),
            withheld: 0,
        }
    }
}

impl Timing for Ignoring {
    fn capacity_bytes(&self) -> u64 {
        self.device.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        if request.kind == Kind::Flush {
            self.withheld += 1;
            self.flushes.enter(now + self.command_ns, tag);
        } else {
            self.device.submit(now, tag, request);
        }
    }

    fn head_start(&self) -> Nanos {
        self.command_ns
    }

    fn queue_depth(&self) -> Option<u32> {
        self.device.queue_depth()
    }

    fn next_event(&self) -> Option<Nanos> {
        first([self.flushes.next(), self.device.next_event()])
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.device.advance(at, events);
            while let Some(tag) = self.flushes.due(at) {
                events.push(Event::Answered { tag, at });
            }
        }
        // The next request is submitted at this moment.
        self.device.advance(now, events);
    }

    fn counters(&self) -> Counters {
        let mut counters = self.device.counters();
        counters.insert("flushes_withheld".to_owned(), self.withheld);
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::testing::{Delay, latency, rest};

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_flush_costs_its_command_and_makes_nothing_stable() {
        let disk = Delay::new(1 << 20, MS, 1).with_a_volatile_cache();
        let mut ignoring = Ignoring::new(disk.boxed());
        ignoring.submit(0, Tag(0), Request::write(0, 4096));
        assert_eq!(latency(&mut ignoring, 5 * MS, Request::flush()), MS);
        // The cache keeps what it has until the disk has rested for a while.
        let events = rest(&mut ignoring);
        assert!(
            matches!(events[..], [Event::Stable { tag: Tag(0), at }] if at > 40 * MS),
            "{events:?}"
        );
        let counters = ignoring.counters();
        assert_eq!(counters["flushes_withheld"], 1);
        assert!(!counters.contains_key("flush_requests"), "{counters:?}");
    }

    #[test]
    fn answers_come_in_order_of_time_however_long_nobody_asked() {
        let mut ignoring = Ignoring::new(Delay::new(1 << 20, MS, 1).boxed());
        ignoring.submit(0, Tag(0), Request::read(0, 4096));
        ignoring.submit(0, Tag(1), Request::read(0, 4096));
        ignoring.submit(0, Tag(2), Request::flush());
        let mut events = Vec::new();
        ignoring.advance(9 * MS, &mut events);
        let answers = [(0, MS), (2, MS), (1, 2 * MS)];
        let wanted = answers.map(|(tag, at)| Event::Answered { tag: Tag(tag), at });
        assert_eq!(events, wanted);
    }
}
