//! A disk as log-structured write cache in front of an SSD: placement (d) of the thesis, which quotes
//! it from Koltsidas and Viglas and left it unmeasured for want of time. Griffin (FAST '10) is the
//! design: a disk writes quickly what comes one after the other, an SSD reads quickly what lies
//! anywhere and wears with every write; so writes are appended to a log on the disk, and what of them
//! is still the newest goes to the SSD later, in batches, each block once however often it was written.
//!
//! One append is under way at a time and takes everything that came meanwhile, behind a header that
//! says what it holds. Which blocks are in the log, and where, is known in memory: a read goes to the
//! log for them and to the SSD for all others. A segment is destaged by reading it from end to end,
//! writing to the SSD those blocks that were not written again, in the order of their addresses, and
//! flushing the SSD; then it is free. While none is free, writes wait. A write longer than an append
//! goes past the log.
//!
//! **What stable means.** On the disk's platters: after a power cut the log is read and its index made
//! again. So a flush is a flush of the disk, whose own cache may be volatile, and of the SSD if
//! something went past the log.
//!
//! Not here: the bytes themselves; a write of less than a block of 4 KiB is logged as the whole block.

mod destage;
mod parameters;
mod segments;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use parameters::LogParameters;

use destage::Destage;
use segments::{BLOCK_BYTES, Segments};

use super::parts::{Agenda, Part, Run, Told, Wholes, append_run, first};
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
    /// Whose writes each append holds.
    appends: Ledger<Append>,
    back_writes: u64,
    back_flushed: u64,
    agenda: Agenda<Deed>,
    out: Vec<Event>,
    front_told: Vec<Told<Front>>,
    back_told: Vec<Told<Back>>,
    counted: Counted,
}

/// What the front is asked for.
#[derive(Clone, Copy)]
enum Front {
    For(Tag),
    Append(Tag),
    Destage,
}

/// What the back is asked for.
#[derive(Clone, Copy)]
enum Back {
    For(Tag),
    /// A flush of so many writes.
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
    /// None of a discard, of which the header alone knows.
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
            out: Vec::new(),
            front_told: Vec::new(),
            back_told: Vec::new(),
            counted: Counted::default(),
        }
    }

    fn read(&mut self, now: Nanos, id: Tag, request: Request) {
        let (mut in_log, mut on_back) = (Vec::new(), Vec::new());
        for block in blocks(request) {
            let from = (block * BLOCK_BYTES).max(request.offset_bytes);
            let to = ((block + 1) * BLOCK_BYTES).min(request.end_bytes());
            match self.segments.find(block) {
                Some(place) => {
                    let run = Run::new(place + from % BLOCK_BYTES, to - from);
                    append_run(&mut in_log, run, APPEND_BYTES);
                }
                None => append_run(&mut on_back, Run::new(from, to - from), APPEND_BYTES),
            }
        }
        for run in in_log {
            self.counted.read_log_bytes += run.length_bytes;
            self.wholes.await_answer(id);
            self.front
                .submit(now, run.request(Kind::Read), Front::For(id));
        }
        for run in on_back {
            self.counted.read_back_bytes += run.length_bytes;
            self.wholes.await_answer(id);
            self.back
                .submit(now, run.request(Kind::Read), Back::For(id));
        }
    }

    fn write(&mut self, now: Nanos, id: Tag, request: Request) {
        let blocks = blocks(request);
        let length_bytes = (blocks.end - blocks.start) * BLOCK_BYTES;
        if length_bytes > APPEND_BYTES || self.segments.count() < 2 {
            for block in blocks {
                self.segments.forget(block);
            }
            self.go_past(now, id, request);
        } else {
            self.enqueue(now, id, blocks);
        }
    }

    fn discard(&mut self, now: Nanos, id: Tag, request: Request) {
        let whole = request.offset_bytes.div_ceil(BLOCK_BYTES)..request.end_bytes() / BLOCK_BYTES;
        let mut was_logged = false;
        for block in whole {
            was_logged |= self.segments.find(block).is_some();
            self.segments.forget(block);
        }
        self.go_past(now, id, request);
        if was_logged {
            self.enqueue(now, id, 0..0);
        }
    }

    /// Asks the back for a write or a discard.
    fn go_past(&mut self, now: Nanos, id: Tag, request: Request) {
        self.counted.past_bytes += request.length_bytes;
        self.back_writes += 1;
        self.wholes.await_answer(id);
        self.wholes.await_stable(id);
        self.back.submit(now, request, Back::For(id));
    }

    fn enqueue(&mut self, now: Nanos, id: Tag, blocks: std::ops::Range<u64>) {
        self.wholes.await_answer(id);
        self.wholes.await_stable(id);
        if self.waiting.is_empty() && !self.is_appending {
            // Not at once: what comes at the same moment goes with it.
            self.agenda.enter(now, Deed::Append);
        }
        self.waiting.push_back(Waiting { id, blocks });
    }

    /// Appends what waits, as much as one append and the segment hold.
    fn append(&mut self, now: Nanos) {
        if self.is_appending {
            return;
        }
        let Some(next) = self.waiting.front() else {
            return;
        };
        let Some(room) = self.segments.make_room(next.length_bytes()) else {
            self.counted.waits_for_room += 1;
            self.destage_if_wanted(now);
            return;
        };
        let mut left = room.min(APPEND_BYTES);
        let (mut wholes, mut blocks) = (Vec::new(), Vec::new());
        while let Some(next) = self.waiting.front()
            && next.length_bytes() <= left
        {
            left -= next.length_bytes();
            let next = self.waiting.pop_front().expect("it was seen");
            wholes.push(next.id);
            blocks.extend(next.blocks);
        }
        let (at, length) = self.segments.append(&blocks);
        self.counted.appends += 1;
        self.counted.appended_bytes += length;
        self.is_appending = true;
        let append = self.appends.insert(Append {
            wholes,
            answered: false,
            stable: false,
        });
        self.front
            .submit(now, Request::write(at, length), Front::Append(append));
    }

    fn flush(&mut self, now: Nanos, id: Tag) {
        self.wholes.await_answer(id);
        self.front.submit(now, Request::flush(), Front::For(id));
        if self.back_writes > self.back_flushed {
            self.wholes.await_answer(id);
            self.back
                .submit(now, Request::flush(), Back::Flush(id, self.back_writes));
        }
    }

    fn appended(&mut self, now: Nanos, id: Tag, events: &mut Vec<Event>) {
        let append = self.appends.get_mut(id).expect("an append under way");
        append.answered = true;
        for whole in &append.wholes {
            self.wholes.answer(*whole, now, events);
        }
        if append.stable {
            self.appends.remove(id);
        }
        self.is_appending = false;
        self.append(now);
    }

    fn append_is_stable(&mut self, now: Nanos, id: Tag, events: &mut Vec<Event>) {
        let append = self.appends.get_mut(id).expect("an append under way");
        append.stable = true;
        for whole in &append.wholes {
            self.wholes.stable(*whole, now, events);
        }
        if append.answered {
            self.appends.remove(id);
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
                Deed::Idle => self.destage.rang(),
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

/// The blocks that a request touches.
fn blocks(request: Request) -> std::ops::Range<u64> {
    request.offset_bytes / BLOCK_BYTES..request.end_bytes().div_ceil(BLOCK_BYTES)
}

impl Timing for Log {
    fn capacity_bytes(&self) -> u64 {
        self.back.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let id = self.wholes.open(tag, request.kind);
        self.destage.asked(now);
        match request.kind {
            Kind::Read => self.read(now, id, request),
            Kind::Write => self.write(now, id, request),
            Kind::Discard => self.discard(now, id, request),
            Kind::Flush => self.flush(now, id),
        }
        self.wholes.settle(id, now, &mut self.out);
        self.destage_if_wanted(now);
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
