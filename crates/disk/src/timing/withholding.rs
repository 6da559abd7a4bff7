//! A device that gets no flush: it ignores them, as some drives, bridges and hypervisors have been found to, or it
//! needs none, because capacitors or a battery empty its cache when the power fails.

use std::collections::HashMap;

use super::agenda::{Agenda, first};
use super::{Counters, Event, Timing};
use crate::request::{Kind, Nanos, Request, Tag};

/// Answers a flush after its command's time alone. The device behind keeps its own timing.
pub struct Withholding {
    device: Box<dyn Timing>,
    /// Time of each command at the device, whatever it is.
    command_ns: Nanos,
    flushes: Agenda<Tag>,
    withheld: u64,
    /// Of a protected device: writes and discards without an answer, and whether they were reported stable.
    unanswered: Option<HashMap<Tag, bool>>,
    /// Events that have not been passed on.
    heard: Vec<Event>,
}

impl Withholding {
    /// Its writes become stable when the device behind writes them anyway.
    pub fn ignoring(device: Box<dyn Timing>) -> Self {
        Self {
            command_ns: device.head_start(),
            device,
            flushes: Agenda::new(),
            withheld: 0,
            unanswered: None,
            heard: Vec::new(),
        }
    }

    /// Every answered write is stable: a write is stable with its answer at the latest.
    pub fn protected(device: Box<dyn Timing>) -> Self {
        Self {
            unanswered: Some(HashMap::new()),
            ..Self::ignoring(device)
        }
    }

    fn pass_on(&mut self, event: Event, events: &mut Vec<Event>) {
        if let Some(unanswered) = &mut self.unanswered {
            match event {
                Event::Stable { tag, .. } => match unanswered.get_mut(&tag) {
                    Some(told) => *told = true,
                    // It was already reported with the answer.
                    None => return,
                },
                Event::Answered { tag, at } => {
                    if unanswered.remove(&tag) == Some(false) {
                        events.push(Event::Stable { tag, at });
                    }
                }
            }
        }
        events.push(event);
    }
}

impl Timing for Withholding {
    fn capacity_bytes(&self) -> u64 {
        self.device.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        if request.kind == Kind::Flush {
            self.withheld += 1;
            return self.flushes.enter(now + self.command_ns, tag);
        }
        if let Some(unanswered) = &mut self.unanswered
            && request.kind != Kind::Read
        {
            unanswered.insert(tag, false);
        }
        self.device.submit(now, tag, request);
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
        let mut heard = std::mem::take(&mut self.heard);
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.device.advance(at, &mut heard);
            while let Some(tag) = self.flushes.due(at) {
                heard.push(Event::Answered { tag, at });
            }
        }
        self.device.advance(now, &mut heard);
        for event in heard.drain(..) {
            self.pass_on(event, events);
        }
        self.heard = heard;
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
        let mut ignoring = Withholding::ignoring(disk.boxed());
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
        let mut ignoring = Withholding::ignoring(Delay::new(1 << 20, MS, 1).boxed());
        ignoring.submit(0, Tag(0), Request::read(0, 4096));
        ignoring.submit(0, Tag(1), Request::read(0, 4096));
        ignoring.submit(0, Tag(2), Request::flush());
        let mut events = Vec::new();
        ignoring.advance(9 * MS, &mut events);
        let answers = [(0, MS), (2, MS), (1, 2 * MS)];
        let wanted = answers.map(|(tag, at)| Event::Answered { tag: Tag(tag), at });
        assert_eq!(events, wanted);
    }

    fn told(disk: Delay) -> Vec<Event> {
        let mut protected = Withholding::protected(disk.boxed());
        protected.submit(0, Tag(7), Request::write(0, 4096));
        rest(&mut protected)
    }

    #[test]
    fn a_write_is_stable_with_its_answer_and_told_so_once() {
        let at = MS;
        let wanted = [
            Event::Stable { tag: Tag(7), at },
            Event::Answered { tag: Tag(7), at },
        ];
        let disk = || Delay::new(1 << 20, MS, 1);
        assert_eq!(told(disk()), wanted);
        assert_eq!(told(disk().with_a_volatile_cache()), wanted);
    }

    #[test]
    fn a_flush_waits_for_nothing() {
        let disk = Delay::new(1 << 20, MS, 1).with_a_volatile_cache();
        let mut protected = Withholding::protected(disk.boxed());
        for tag in 0..5 {
            protected.submit(0, Tag(tag), Request::write(4096 * tag, 4096));
        }
        protected.submit(0, Tag(5), Request::flush());
        let events = rest(&mut protected);
        let flushed = Event::Answered {
            tag: Tag(5),
            at: MS,
        };
        assert!(events.contains(&flushed), "{events:?}");
    }
}
