//! What tests of devices share: a disk of plain delays, and the contract that every device keeps.

mod contract;
mod delay;
mod exposure;

pub(super) use contract::{History, keeps_the_contract, live_through, steps_do_not_matter};
pub(super) use delay::Delay;
pub(super) use exposure::{Exposure, exposure};

use super::{Event, Timing};
use crate::request::{Nanos, Request, SECTOR_BYTES, Tag};

/// Runs a device on until it rests; the events in the order in which they were told.
pub(super) fn rest(timing: &mut dyn Timing) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(at) = timing.next_event() {
        timing.advance(at, &mut events);
    }
    events
}

/// Histories of many tempers over the first bytes of a disk.
pub(super) fn histories(
    span_bytes: u64,
    seeds: std::ops::Range<u32>,
) -> impl Iterator<Item = History> {
    seeds.map(move |seed| History {
        requests: 300,
        depth: 1 + seed as usize * 5 % 40,
        pause_ns: [0, 10_000, 1_000_000][seed as usize % 3],
        span_bytes,
        seed: seed.into(),
        honest: true,
    })
}

/// When one request alone is answered, counted from its submission at `now`.
pub(super) fn latency(timing: &mut dyn Timing, now: Nanos, request: Request) -> Nanos {
    let mut events = Vec::new();
    timing.advance(now, &mut events);
    let tag = Tag(now << 20 | 0xf_ffff);
    timing.submit(now, tag, request);
    loop {
        let answer = events.iter().find_map(|event| match *event {
            Event::Answered { tag: mine, at } if mine == tag => Some(at),
            _ => None,
        });
        if let Some(at) = answer {
            return at - now;
        }
        let next = timing.next_event().expect("an answer is due");
        events.clear();
        timing.advance(next, &mut events);
    }
}
