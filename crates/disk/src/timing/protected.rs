//! A device with power-loss protection: capacitors or a battery empty its cache when the power fails.

use std::collections::HashMap;

use super::ignoring::Ignoring;
use super::{Counters, Event, Timing};
use crate::request::{Kind, Nanos, Request, Tag};

/// Every answered write is stable: a write is stable with its answer at the latest, and a flush
/// takes only its command's time. The cache of the device behind keeps its own timing.
pub struct Protected {
    device: Ignoring,
    /// Writes and discards without an answer, and whether they were reported stable.
    unanswered: HashMap<Tag, bool>,
    /// Events of the device behind.
    heard: Vec<Event>,
}

impl Protected {
    #[must_use]
    pub fn new(device: Box<dyn Timing>) -> Self {
        Self {
            device: Ignoring::new(device),
            unanswered: HashMap::new(),
            heard: Vec::new(),
        }
    }
}

impl Timing for Protected {
    fn capacity_bytes(&self) -> u64 {
        self.device.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        if matches!(request.kind, Kind::Write | Kind::Discard) {
            self.unanswered.insert(tag, false);
        }
        self.device.submit(now, tag, request);
    }

    fn head_start(&self) -> Nanos {
        self.device.head_start()
    }

    fn queue_depth(&self) -> Option<u32> {
        self.device.queue_depth()
    }

    fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        self.device.advance(now, &mut self.heard);
        for event in self.heard.drain(..) {
            match event {
                Event::Stable { tag, .. } => {
                    // It was already reported with the answer.
                    if let Some(told) = self.unanswered.get_mut(&tag) {
                        *told = true;
                        events.push(event);
                    }
                }
                Event::Answered { tag, at } => {
                    if self.unanswered.remove(&tag) == Some(false) {
                        events.push(Event::Stable { tag, at });
                    }
                    events.push(event);
                }
            }
        }
    }

    fn counters(&self) -> Counters {
        self.device.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::testing::{Delay, rest};

    const MS: Nanos = 1_000_000;

    fn told(disk: Delay) -> Vec<Event> {
        let mut protected = Protected::new(disk.boxed());
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
        let mut protected = Protected::new(disk.boxed());
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
