//! A disk as log-structured write cache in front of an SSD: placement (d) of the thesis, which quotes
//! it from Koltsidas and Viglas and left it unmeasured for want of time. Griffin (FAST '10) is the
//! design: a disk writes quickly what comes one after the other, an SSD reads quickly what lies
//! anywhere and wears with every write; so writes are appended to a log on the disk, and what of them
//! is still the newest goes to the SSD later, in batches, each block once however often it was written.
//!
//! One append is in progress at a time. It takes all writes that came meanwhile, behind a header
//! that lists them. The places of the blocks in the log are kept in memory: a read goes to the log
//! for them and to the SSD for all others. A segment is destaged by reading it from end to end,
//! writing its still valid blocks to the SSD in the order of their addresses, and flushing the SSD;
//! then it is free. While none is free, writes wait. A write longer than an append goes past the
//! log, and so does a discard; if the log holds blocks of theirs, a header without blocks marks
//! these as invalid.
//!
//! **What stable means.** On the disk's platters: after a power cut the log is read and its index made
//! again. So a flush is a flush of the disk, whose own cache may be volatile, and of the SSD if
//! something went past the log.
//!
//! Not here: the bytes themselves; a write of less than a block of 4 KiB is logged as the whole block.

mod destage;
mod parameters;
mod requests;
mod segments;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use parameters::LogParameters;

use destage::Destage;
use segments::{BLOCK_BYTES, Segments};

use super::parts::{Agenda, Part, Told, Wholes, first};
use super::{Counters, Event, Timing};
use crate::ledger::Ledger;
use crate::request::{Kind, Nanos, Request, Tag, nanos_of_us};

/// The longest append, and the longest run that is asked for at once.
const APPEND_BYTES: u64 = 1 << 20;

/// A disk that takes the writes of an SSD.
pub struct Log {
    front: Part<Front>,
    back: Part<Back>,
    segments: Segments,
    destage: Destage,
    wholes: Wholes,
    /// Writes that wait for the next append.
    waiting: VecDeque<Waiting>,
    is_appending: bool,
    /// The writes in each append.
    appends: Ledger<Append>,
    back_writes: u64,
    back_flushed: u64,
    agenda: Agenda<Deed>,
    advanced_to: Nanos,
    out: Vec<Event>,
    front_told: Vec<Told<Front>>,
    back_told: Vec<Told<Back>>,
    counted: Counted,
}

/// Purpose of a request to the front.
#[derive(Clone, Copy)]
enum Front {
    For(Tag),
    Append(Tag),
    Destage,
}

/// Purpose of a request to the back.
#[derive(Clone, Copy)]
enum Back {
    For(Tag),
    /// A flush that covers that many writes.
    Flush(Tag, u64),
    Destage,
    DestageFlush,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Append,
    Idle,
}

struct Waiting {
    id: Tag,
    /// None for a discard, or for a write that goes past the log: only the header records these.
    blocks: std::ops::Range<u64>,
}

struct Append {
    wholes: Vec<Tag>,
    answered: bool,
    stable: bool,
}

#[derive(Default)]
struct Counted {
    appends: u64,
    appended_bytes: u64,
    read_log_bytes: u64,
    read_back_bytes: u64,
    past_bytes: u64,
    waits_for_room: u64,
}

impl Log {
    #[must_use]
    pub fn new(parameters: &LogParameters, front: Box<dyn Timing>, back: Box<dyn Timing>) -> Self {
        let log_bytes = parameters.log_bytes.value.min(front.capacity_bytes());
        let segments = Segments::new(log_bytes, parameters.segment_bytes.value);
        let above = segments.count() as f64 * parameters.destage_above_share.value;
        let idle_ns = nanos_of_us(parameters.destage_after_idle_ms.value * 1e3);
        Self {
            front: Part::new(front),
            back: Part::new(back),
            destage: Destage::new(above, idle_ns),
            segments,
            wholes: Wholes::default(),
            waiting: VecDeque::new(),
            is_appending: false,
            appends: Ledger::default(),
            back_writes: 0,
            back_flushed: 0,
            agenda: Agenda::new(),
            advanced_to: 0,
            out: Vec::new(),
            front_told: Vec::new(),
            back_told: Vec::new(),
            counted: Counted::default(),
        }
    }

    fn front_told(&mut self, now: Nanos, told: Told<Front>, events: &mut Vec<Event>) {
        match told {
            Told::Answered(Front::For(id)) => self.wholes.answer(id, now, events),
            Told::Answered(Front::Append(id)) => self.appended(now, id, events),
            Told::Stable(Front::Append(id)) => self.append_is_stable(now, id, events),
            Told::Answered(Front::Destage) => self.destage_read(now),
            Told::Stable(Front::For(_) | Front::Destage) => {}
        }
    }

    fn back_told(&mut self, now: Nanos, told: Told<Back>, events: &mut Vec<Event>) {
        match told {
            Told::Answered(Back::For(id)) => self.wholes.answer(id, now, events),
            Told::Stable(Back::For(id)) => self.wholes.stable(id, now, events),
            Told::Answered(Back::Flush(id, covered)) => {
                self.back_flushed = self.back_flushed.max(covered);
                self.wholes.answer(id, now, events);
            }
            Told::Answered(Back::Destage) => self.destage_written(now),
            Told::Stable(Back::Destage) => self.destage_stable(now),
            Told::Answered(Back::DestageFlush) => self.destage_flushed(now),
            Told::Stable(Back::Flush(..) | Back::DestageFlush) => {}
        }
    }

    fn step(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let mut front_told = std::mem::take(&mut self.front_told);
        self.front.advance(now, &mut front_told);
        let mut back_told = std::mem::take(&mut self.back_told);
        self.back.advance(now, &mut back_told);
        for told in front_told.drain(..) {
            self.front_told(now, told, events);
        }
        for told in back_told.drain(..) {
            self.back_told(now, told, events);
        }
        (self.front_told, self.back_told) = (front_told, back_told);
        while let Some(deed) = self.agenda.due(now) {
            match deed {
                Deed::Append => self.append(now),
                Deed::Idle => self.destage.leisure.rang(),
            }
        }
        self.destage_if_wanted(now);
    }
}

impl Waiting {
    fn length_bytes(&self) -> u64 {
        (self.blocks.end - self.blocks.start) * BLOCK_BYTES
    }
}

impl Timing for Log {
    fn capacity_bytes(&self) -> u64 {
        self.back.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let now = match request.kind {
            Kind::Read => now,
            _ => now.max(self.advanced_to),
        };
        let id = self.wholes.open(tag, request.kind);
        self.destage.leisure.asked(now);
        match request.kind {
            Kind::Read => self.read(now, id, request),
            Kind::Write => self.write(now, id, request),
            Kind::Discard => self.discard(now, id, request),
            Kind::Flush => self.flush(now, id),
        }
        self.wholes.settle(id, now, &mut self.out);
        self.destage_if_wanted(now);
    }

    /// Applies to reads. For other requests a late submission is the same: an append has taken all
    /// that came before it, and a flush covers all that was answered until then.
    fn head_start(&self) -> Nanos {
        self.front.head_start().min(self.back.head_start())
    }

    fn next_event(&self) -> Option<Nanos> {
        first([
            self.out.first().map(Event::at),
            self.agenda.next(),
            self.front.next_event(),
            self.back.next_event(),
        ])
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        events.append(&mut self.out);
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.step(at, events);
        }
        self.advanced_to = self.advanced_to.max(now);
    }

    fn counters(&self) -> Counters {
        let blocks = |bytes: u64| bytes / BLOCK_BYTES;
        let mut counters = Counters::new();
        for (name, value) in [
            ("appends", self.counted.appends),
            ("appended_blocks", blocks(self.counted.appended_bytes)),
            ("read_log_blocks", blocks(self.counted.read_log_bytes)),
            ("read_back_blocks", blocks(self.counted.read_back_bytes)),
            ("written_past_blocks", blocks(self.counted.past_bytes)),
            ("waits_for_room", self.counted.waits_for_room),
            ("logged_blocks", self.segments.blocks()),
            ("destaged_blocks", self.destage.blocks),
            ("destaged_segments", self.destage.segments),
        ] {
            counters.insert(name.to_owned(), value);
        }
        self.front.count_into("front", &mut counters);
        self.back.count_into("back", &mut counters);
        counters
    }
}
