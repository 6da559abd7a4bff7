//! A device that caches another: an SSD over a disk, or for writes only a disk over an SSD.
//!
//! The front holds lines of the back, block by block of 4 KiB. The front answers a read if it holds
//! all its blocks; otherwise the back does, and the blocks are then copied to the front. The front
//! answers a write (*write-back*), and its blocks are dirty until they are copied to the back, in the order of the
//! back's addresses, when no request waits or when too many are dirty. When most lines are dirty,
//! writes to others go to the back. A long sequential stream may go past the cache.
//!
//! **What stable means.** On the front, *and* noted in the front's
//! journal that the line is newer there: a write that makes blocks dirty is stable with the later of its
//! bytes and its note. Notes are gathered and written when somebody flushes, or after 100 ms, as bcache
//! does it. So a flush is: write the notes, flush the front, and flush the back if something went past
//! the cache. A line is clean once its copy is stable on the back, which is flushed after each batch.
//!
//! Not here: the bytes themselves (contents are one address space outside); a write of less than a block
//! fetches no rest of it; the work of the program that runs the cache.

mod destage;
mod flush;
mod journal;
mod lines;
mod parameters;
mod requests;
mod sight;
mod spans;
#[cfg(test)]
mod tests;

pub use parameters::CacheParameters;

use destage::Destage;
use journal::Journal;
use lines::{BLOCK_BYTES, Lines};
use sight::Streams;

use super::parts::{Agenda, Part, Run, Told, Wholes, first};
use super::{Counters, Event, Timing, counted};
use crate::request::{Kind, Nanos, Request, Tag, nanos_of_us};

/// Neighbouring blocks are asked for together up to this length, as a block layer does.
const RUN_BYTES: u64 = 1 << 20;

/// A fast device in front of a large one.
pub struct Cache {
    line_bytes: u64,
    writes_only: bool,
    limit_lines: usize,
    front: Part<Front>,
    back: Part<Back>,
    lines: Lines,
    streams: Streams,
    journal: Journal,
    destage: Destage,
    wholes: Wholes,
    /// Flushes that wait for the journal.
    flushes: Vec<WaitingFlush>,
    /// Writes that went past the cache, and how many of them a flush of the back has covered.
    back_writes: u64,
    back_flushed: u64,
    agenda: Agenda<Deed>,
    /// Told while requests were submitted.
    out: Vec<Event>,
    front_told: Vec<Told<Front>>,
    back_told: Vec<Told<Back>>,
    counted: CountedBytes,
}

/// Purpose of a request to the front.
#[derive(Clone, Copy)]
enum Front {
    For(Tag),
    /// A copy that nobody waits for.
    Copy,
    Journal(Tag),
    Destage,
}

/// Purpose of a request to the back.
#[derive(Clone, Copy)]
enum Back {
    For(Tag),
    /// A read that missed; what it brings goes to the front, too.
    Fetch(Tag, Run),
    /// A flush that covers that many writes.
    Flush(Tag, u64),
    Destage,
    DestageFlush,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Journal,
    Idle,
}

struct WaitingFlush {
    id: Tag,
    /// The journal is to be written up to this note.
    notes: u64,
}

#[derive(Default)]
struct CountedBytes {
    hit: u64,
    missed: u64,
    copied: u64,
    past: u64,
}

impl Cache {
    pub fn new(
        parameters: &CacheParameters,
        front: Box<dyn Timing>,
        back: Box<dyn Timing>,
    ) -> Self {
        let line_bytes = parameters.line_bytes.value;
        let journal_bytes = Journal::bytes(front.capacity_bytes());
        let most = front.capacity_bytes().saturating_sub(journal_bytes) / line_bytes;
        let lines = Lines::new(usize::try_from(most).unwrap_or(usize::MAX));
        let idle_ns = nanos_of_us(parameters.destage_after_idle_ms.value * 1e3);
        Self {
            line_bytes,
            writes_only: parameters.writes_only.value,
            limit_lines: share(lines.most, parameters.bypass_above_share.value),
            streams: Streams::new(parameters.sequential_bypass_bytes.value),
            journal: Journal::new(journal_bytes),
            destage: Destage::new(
                share(lines.most, parameters.destage_above_share.value),
                idle_ns,
            ),
            front: Part::new(front),
            back: Part::new(back),
            lines,
            wholes: Wholes::default(),
            flushes: Vec::new(),
            back_writes: 0,
            back_flushed: 0,
            agenda: Agenda::new(),
            out: Vec::new(),
            front_told: Vec::new(),
            back_told: Vec::new(),
            counted: CountedBytes::default(),
        }
    }

    fn front_told(&mut self, now: Nanos, told: Told<Front>, events: &mut Vec<Event>) {
        match told {
            Told::Answered(Front::For(id)) => self.wholes.answer(id, now, events),
            Told::Stable(Front::For(id)) => self.wholes.stable(id, now, events),
            Told::Answered(Front::Journal(_)) => {
                if let Some(due) = self.journal.answered(now) {
                    self.agenda.enter(due, Deed::Journal);
                }
                self.flush_what_is_noted(now);
            }
            Told::Stable(Front::Journal(block)) => {
                for id in self.journal.stable(block) {
                    self.wholes.stable(id, now, events);
                }
            }
            Told::Answered(Front::Destage) => self.destage_read(now),
            Told::Answered(Front::Copy) | Told::Stable(Front::Copy | Front::Destage) => {}
        }
    }

    fn back_told(&mut self, now: Nanos, told: Told<Back>, events: &mut Vec<Event>) {
        match told {
            Told::Answered(Back::For(id)) => self.wholes.answer(id, now, events),
            Told::Stable(Back::For(id)) => self.wholes.stable(id, now, events),
            Told::Answered(Back::Fetch(id, run)) => {
                self.wholes.answer(id, now, events);
                self.promote(now, run);
            }
            Told::Answered(Back::Flush(id, covered)) => {
                self.back_flushed = self.back_flushed.max(covered);
                self.wholes.answer(id, now, events);
            }
            Told::Answered(Back::Destage) => self.destage_written(now),
            Told::Stable(Back::Destage) => self.destage_stable(now),
            Told::Answered(Back::DestageFlush) => self.destage_flushed(now),
            Told::Stable(Back::Fetch(..) | Back::Flush(..) | Back::DestageFlush) => {}
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
                Deed::Journal if self.journal.is_due(now) => self.write_journal(now),
                Deed::Journal => {}
                Deed::Idle => self.destage.armed = false,
            }
        }
        self.destage_if_wanted(now);
    }
}

/// That share of the lines.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn share(lines: usize, share: f64) -> usize {
    (lines as f64 * share) as usize
}

impl Timing for Cache {
    fn capacity_bytes(&self) -> u64 {
        self.back.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let id = self.wholes.open(tag, request.kind);
        self.destage.last_asked = now;
        match request.kind {
            Kind::Read => self.read(now, id, request),
            Kind::Write => self.write(now, id, request),
            Kind::Discard => self.discard(now, id, request),
            Kind::Flush => self.flush(now, id),
        }
        let mut out = std::mem::take(&mut self.out);
        self.wholes.settle(id, now, &mut out);
        self.out = out;
        self.destage_if_wanted(now);
    }

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
    }

    fn counters(&self) -> Counters {
        let blocks = |bytes: u64| bytes / BLOCK_BYTES;
        let mut counters = counted([
            ("read_hit_blocks", blocks(self.counted.hit)),
            ("read_miss_blocks", blocks(self.counted.missed)),
            ("copied_blocks", blocks(self.counted.copied)),
            ("written_past_blocks", blocks(self.counted.past)),
            ("destaged_blocks", self.destage.blocks),
            ("destage_batches", self.destage.batches),
            ("dirty_lines", self.lines.dirty_lines() as u64),
            ("evictions", self.lines.evictions),
            ("journal_writes", self.journal.writes),
        ]);
        self.front.count_into("front", &mut counters);
        self.back.count_into("back", &mut counters);
        counters
    }
}
