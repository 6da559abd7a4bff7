//! A disk of plain delays, for tests of what is built of disks.

use std::collections::VecDeque;

use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::{Counters, Event, Timing};

/// Serves so many requests at once, each in the same time. Writes may stay in a volatile cache until a
/// flush, or until the disk has rested for a while.
pub(in crate::timing) struct Delay {
    capacity_bytes: u64,
    service_ns: Nanos,
    lanes: Vec<Nanos>,
    cache: bool,
    pending: VecDeque<(Nanos, Tag, Request)>,
    /// Answered and not stable.
    unstable: Vec<Tag>,
    last: Nanos,
    served: Counters,
}

/// How long the cache of an idle disk keeps what it has.
const LINGER: Nanos = 50_000_000;

impl Delay {
    pub(in crate::timing) fn new(capacity_bytes: u64, service_ns: Nanos, lanes: usize) -> Self {
        Self {
            capacity_bytes,
            service_ns,
            lanes: vec![0; lanes],
            cache: false,
            pending: VecDeque::new(),
            unstable: Vec::new(),
            last: 0,
            served: Counters::new(),
        }
    }

    pub(in crate::timing) fn with_a_volatile_cache(mut self) -> Self {
        self.cache = true;
        self
    }

    pub(in crate::timing) fn boxed(self) -> Box<dyn Timing> {
        Box::new(self)
    }
}

impl Timing for Delay {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        assert!(now + self.service_ns >= self.last, "the past is over");
        assert!(request.end_bytes() <= self.capacity_bytes, "{request:?}");
        assert!((request.length_bytes == 0) == (request.kind == Kind::Flush));
        self.last = self.last.max(now);
        let lane = self.lanes.iter_mut().min().expect("a disk has a lane");
        let done = now.max(*lane) + self.service_ns;
        *lane = done;
        let place = self.pending.partition_point(|(at, ..)| *at <= done);
        self.pending.insert(place, (done, tag, request));
        let name = format!("{:?}", request.kind).to_lowercase();
        *self.served.entry(format!("{name}_bytes")).or_default() += request.length_bytes;
        *self.served.entry(format!("{name}_requests")).or_default() += 1;
    }

    fn head_start(&self) -> Nanos {
        self.service_ns
    }

    fn next_event(&self) -> Option<Nanos> {
        match self.pending.front() {
            Some((at, ..)) => Some(*at),
            None if !self.unstable.is_empty() => Some(self.last + LINGER),
            None => None,
        }
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while self.pending.front().is_some_and(|(at, ..)| *at <= now) {
            let (at, tag, request) = self.pending.pop_front().expect("it was seen");
            self.last = self.last.max(at);
            match request.kind {
                Kind::Write | Kind::Discard if self.cache => self.unstable.push(tag),
                Kind::Write | Kind::Discard => events.push(Event::Stable { tag, at }),
                Kind::Flush => {
                    let all = self.unstable.drain(..);
                    events.extend(all.map(|tag| Event::Stable { tag, at }));
                }
                Kind::Read => {}
            }
            events.push(Event::Answered { tag, at });
        }
        let at = self.last + LINGER;
        if self.pending.is_empty() && at <= now {
            let all = self.unstable.drain(..);
            events.extend(all.map(|tag| Event::Stable { tag, at }));
        }
    }

    fn counters(&self) -> Counters {
        self.served.clone()
    }
}
