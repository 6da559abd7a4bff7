//! The disk as a black box: what goes in comes out again, measured by requests alone.

mod cache;
mod contract;
mod parameters;
mod probes;
mod queue;

use super::{Spinning, SpinningParameters};
use crate::device::Figure;
use crate::device::Kind as _;
use crate::request::{Kind, NANOS_PER_S, Nanos, Request, Tag};
use crate::timing::{Event, Timing};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A disk of no maker: 64 GB, 7200 rpm, 8 MiB of cache.
fn ordinary() -> SpinningParameters {
    SpinningParameters {
        capacity_bytes: Figure::assumed(64_000_000_000 / 4096 * 4096),
        sector_bytes: Figure::assumed(512),
        rpm: Figure::assumed(7200),
        track_to_track_seek_us: Figure::assumed(800.0),
        average_seek_us: Figure::assumed(8500.0),
        full_stroke_seek_us: Figure::assumed(18_000.0),
        write_settle_us: Figure::assumed(500.0),
        outer_mb_per_s: Figure::assumed(130.0),
        inner_mb_per_s: Figure::assumed(65.0),
        command_overhead_us: Figure::assumed(100.0),
        interface_mb_per_s: Figure::assumed(300.0),
        queue_depth: Figure::assumed(32),
        ageing: Figure::assumed(0.005),
        cache_bytes: Figure::assumed(8 * MIB),
        read_segments: Figure::assumed(8),
        write_cache: Figure::assumed(true),
        write_cache_bytes: Figure::assumed(4 * MIB),
        write_cache_commands: Figure::assumed(64),
        write_back_share: Figure::assumed(0.5),
        write_back_idle_us: Figure::assumed(20_000.0),
        write_back_oldest_us: Figure::assumed(1_000_000.0),
    }
}

/// The same without any cache: what is measured is the arm and the platter.
fn bare() -> SpinningParameters {
    SpinningParameters {
        cache_bytes: Figure::assumed(0),
        write_cache_bytes: Figure::assumed(0),
        write_cache: Figure::assumed(false),
        ..ordinary()
    }
}

/// A disk and the time that has passed for it.
struct Bench {
    disk: Spinning,
    now: Nanos,
    tags: u64,
    events: Vec<Event>,
}

impl Bench {
    fn new(parameters: &SpinningParameters) -> Self {
        parameters.check().expect("a disk that can be");
        Self {
            disk: Spinning::new(parameters, 1),
            now: 0,
            tags: 0,
            events: Vec::new(),
        }
    }

    fn submit(&mut self, request: Request) -> Tag {
        let tag = Tag(self.tags);
        self.tags += 1;
        self.disk.submit(self.now, tag, request);
        tag
    }

    /// Lets time pass.
    fn pass(&mut self, nanos: Nanos) {
        self.now += nanos;
        self.disk.advance(self.now, &mut self.events);
    }

    fn answered(&self, wanted: Tag) -> Option<Nanos> {
        self.events.iter().find_map(|event| match *event {
            Event::Answered { tag, at } if tag == wanted => Some(at),
            _ => None,
        })
    }

    fn stable(&self, wanted: Tag) -> Option<Nanos> {
        self.events.iter().find_map(|event| match *event {
            Event::Stable { tag, at } if tag == wanted => Some(at),
            _ => None,
        })
    }

    /// Goes on until a request is answered; forgets the events before.
    fn until_answered(&mut self, tag: Tag) -> Nanos {
        loop {
            if let Some(at) = self.answered(tag) {
                return at;
            }
            self.now = self.disk.next_event().expect("an answer is due");
            self.disk.advance(self.now, &mut self.events);
        }
    }

    /// One request alone: its latency.
    fn one(&mut self, request: Request) -> Nanos {
        self.events.clear();
        let from = self.now;
        let tag = self.submit(request);
        self.until_answered(tag) - from
    }

    fn counter(&self, name: &str) -> u64 {
        self.disk.counters()[name]
    }
}

fn assert_within(what: &str, measured: f64, expected: f64, share: f64) {
    assert!(
        (measured / expected - 1.0).abs() <= share,
        "{what}: measured {measured}, expected {expected}"
    );
}
