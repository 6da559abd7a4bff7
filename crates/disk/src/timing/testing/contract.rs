//! The contract of `Timing`, held to random histories.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::SECTOR_BYTES;
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::{Event, Timing};

/// A random history of requests.
#[derive(Clone, Copy, Debug)]
pub(in crate::timing) struct History {
    pub(in crate::timing) requests: u64,
    /// Requests under way at most.
    pub(in crate::timing) depth: usize,
    /// The mean of the pauses between moments of submission; one in fifty is a thousand times as long.
    pub(in crate::timing) pause_ns: Nanos,
    /// Bytes from the start of the disk that are touched.
    pub(in crate::timing) span_bytes: u64,
    pub(in crate::timing) seed: u64,
    /// Whether flushes keep their word.
    pub(in crate::timing) honest: bool,
}

/// Runs a history on two devices that are to be alike, and on until they rest.
///
/// Every request is answered once, every write and discard stable once, nothing before it was asked and
/// all in order of time; an honest flush is answered after all is stable that was answered before it; a
/// device that says that it rests has nothing left to tell; and both tell the same.
pub(in crate::timing) fn keeps_the_contract(build: impl Fn() -> Box<dyn Timing>, history: History) {
    let told = live_through(build().as_mut(), history);
    let again = live_through(build().as_mut(), history);
    assert_eq!(told, again, "not the same twice");
}

/// The same on one device, for a look at what it keeps afterwards.
pub(in crate::timing) fn live_through(timing: &mut dyn Timing, history: History) -> Vec<Event> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(history.seed);
    let mut watch = Watch::default();
    let mut told = Vec::new();
    let (mut now, mut submitted) = (0, 0);
    while submitted < history.requests || timing.next_event().is_some() {
        let due = timing.next_event();
        let has_room = watch.under_way() < history.depth && submitted < history.requests;
        let arrival = now + pause(&mut random, history.pause_ns);
        now = match due {
            // Sometimes the caller is late, as a busy machine is.
            Some(due) if !has_room || due < arrival => {
                due.max(now) + random.random_range(0..8_u64).saturating_sub(6) * history.pause_ns
            }
            _ => {
                assert!(has_room, "it rests and owes {:?}", watch.answers_due);
                arrival
            }
        };
        let mut events = Vec::new();
        timing.advance(now, &mut events);
        watch.hear(&events, now, history.honest);
        told.append(&mut events);
        let burst = random.random_range(0..=history.depth);
        for _ in 0..burst {
            if watch.under_way() < history.depth && submitted < history.requests {
                let request = draw(&mut random, history.span_bytes);
                // Some come in earlier than the device has gone on, as far as it allows.
                let ahead = random.random_range(0..2) * timing.head_start();
                let arrival = now.saturating_sub(ahead);
                watch.submit(Tag(submitted), request, arrival);
                timing.submit(arrival, Tag(submitted), request);
                submitted += 1;
            }
        }
    }
    assert!(watch.answers_due.is_empty(), "no answer: {watch:?}");
    assert!(watch.stables_due.is_empty(), "never stable: {watch:?}");
    told
}

pub(super) fn pause(random: &mut Xoshiro256PlusPlus, mean_ns: Nanos) -> Nanos {
    let longer = if random.random_range(0..50) == 0 {
        1000
    } else {
        1
    };
    random.random_range(0..=2 * mean_ns) * longer
}

/// How often whoever drives a device asks what has happened.
#[derive(Clone, Copy, Debug)]
enum Steps {
    /// At every moment that the device names, as a simulation does.
    Events,
    /// When something is asked of it, and not between.
    Arrivals,
    /// At moments that nobody named, too, as a server does whose alarm goes off late.
    Any,
}

/// Runs a history whose moments of arrival are given, in steps of three sizes: the device tells the same.
pub(in crate::timing) fn steps_do_not_matter(
    build: impl Fn() -> Box<dyn Timing>,
    history: History,
) {
    let told = |steps| in_steps(build().as_mut(), history, steps);
    let wanted = told(Steps::Events);
    for steps in [Steps::Arrivals, Steps::Any] {
        let told = told(steps);
        let differs = told.iter().zip(&wanted).position(|(a, b)| a != b);
        if let Some(at) = differs {
            let (told, wanted) = (&told[at..], &wanted[at..]);
            panic!(
                "{steps:?}: {:?} for {:?}",
                &told[..told.len().min(4)],
                &wanted[..wanted.len().min(4)]
            );
        }
        assert_eq!(told.len(), wanted.len(), "{steps:?}");
    }
}

fn in_steps(timing: &mut dyn Timing, history: History, steps: Steps) -> Vec<Event> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(history.seed);
    let mut moments = Xoshiro256PlusPlus::seed_from_u64(history.seed + 1);
    let mut told = Vec::new();
    let mut now = 0;
    for tag in 0..history.requests {
        let arrival = now + pause(&mut random, history.pause_ns) * u64::from(tag % 4 == 0);
        while let Some(at) = timing.next_event().filter(|at| *at < arrival) {
            let to = match steps {
                Steps::Events => at,
                Steps::Arrivals => break,
                Steps::Any => moments.random_range(now..arrival).max(now),
            };
            timing.advance(to, &mut told);
            now = to;
        }
        now = arrival;
        timing.advance(now, &mut told);
        timing.submit(now, Tag(tag), draw(&mut random, history.span_bytes));
    }
    while let Some(at) = timing.next_event() {
        now = match steps {
            Steps::Events => at,
            Steps::Arrivals => at + history.pause_ns,
            Steps::Any => at + moments.random_range(0..=2 * history.pause_ns),
        };
        timing.advance(now, &mut told);
    }
    told
}

pub(super) fn draw(random: &mut Xoshiro256PlusPlus, span_bytes: u64) -> Request {
    let sectors = span_bytes / SECTOR_BYTES;
    let most = match random.random_range(0..10) {
        0 => 2048,
        1..=3 => 64,
        _ => 8,
    };
    let length = random.random_range(1..=most.min(sectors));
    let mut offset = random.random_range(0..=sectors - length);
    if random.random_range(0..4) > 0 {
        offset -= offset % 8;
    }
    let (offset, length) = (offset * SECTOR_BYTES, length * SECTOR_BYTES);
    match random.random_range(0..20) {
        0 => Request::flush(),
        1 => Request::discard(offset, length),
        2..=10 => Request::read(offset, length),
        _ => Request::write(offset, length),
    }
}

/// What was asked and what was told of it.
#[derive(Debug, Default)]
struct Watch {
    answers_due: BTreeMap<Tag, (Request, Nanos)>,
    stables_due: BTreeMap<Tag, Nanos>,
    /// Writes that were answered and are not stable.
    exposed: BTreeSet<Tag>,
    /// Flushes, each with the writes that it promises.
    promises: BTreeMap<Tag, BTreeSet<Tag>>,
    last: Nanos,
}

impl Watch {
    fn under_way(&self) -> usize {
        self.answers_due.len()
    }

    fn submit(&mut self, tag: Tag, request: Request, now: Nanos) {
        self.answers_due.insert(tag, (request, now));
        match request.kind {
            Kind::Write | Kind::Discard => {
                self.stables_due.insert(tag, now);
            }
            Kind::Flush => {
                self.promises.insert(tag, self.exposed.clone());
            }
            Kind::Read => {}
        }
    }

    fn hear(&mut self, events: &[Event], now: Nanos, honest: bool) {
        for event in events {
            assert!(event.at() >= self.last, "{event:?} after {}", self.last);
            assert!(event.at() <= now, "{event:?} told at {now}");
            self.last = event.at();
            match *event {
                Event::Answered { tag, at } => self.answered(tag, at, honest),
                Event::Stable { tag, at } => self.stable(tag, at),
            }
        }
    }

    fn answered(&mut self, tag: Tag, at: Nanos, honest: bool) {
        let (request, from) = self.answers_due.remove(&tag).expect("one answer");
        assert!(at >= from);
        if self.stables_due.contains_key(&tag) {
            self.exposed.insert(tag);
        }
        if request.kind == Kind::Flush {
            let promised = self.promises.remove(&tag).expect("a promise");
            assert!(!honest || promised.is_empty(), "{tag:?} left {promised:?}");
        }
    }

    fn stable(&mut self, tag: Tag, at: Nanos) {
        let from = self.stables_due.remove(&tag).expect("stable once");
        assert!(at >= from);
        self.exposed.remove(&tag);
        for promised in self.promises.values_mut() {
            promised.remove(&tag);
        }
    }
}
