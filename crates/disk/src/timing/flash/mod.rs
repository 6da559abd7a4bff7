//! Flash drives.
//!
//! A command passes the interface's queue and the controller. A read then goes to the dies that
//! hold its pages (tR each, one operation at a time on a die), over their channels and over the
//! interface. A write goes over the interface into the write buffer and is answered there. As soon
//! as the buffer holds a page's worth, the page goes over a channel to the next idle die and is
//! programmed. Behind the page map, blocks fill up, and each die collects its emptiest block bit by
//! bit while it writes. The data from before the drive was switched on is not laid out but drawn
//! (`translation`).
//!
//! Pages that collection moves stay on their die (copy-back) and cost no channel. Absent: wear
//! levelling beyond the order in which erased blocks are used, collection in idle time, suspended
//! programs, pseudo-SLC caches, heat.

// `check` bounds every size: units, blocks and slots fit in 31 bits, and no time or rate is negative.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod blocks;
mod buffer;
mod collect;
mod die;
mod few;
mod geometry;
mod interface;
mod map;
mod parameters;
mod precondition;
mod read;
mod translation;
mod write;

#[cfg(test)]
mod tests;

use slab::Slab;

pub use parameters::{FlashParameters, FlushHabit, Preconditioning};

use super::agenda::Agenda;
use super::{Counters, Event, Timing, counted_with};
use crate::request::{Kind, Nanos, Request, Tag};
use buffer::Buffer;
use die::{Die, Operation, READS_BEFORE_WRITE};
use geometry::Geometry;
use interface::{Direction, Interface};
use translation::Translation;

/// A flash drive that runs.
#[derive(Debug)]
pub struct Flash {
    geometry: Geometry,
    interface: Interface,
    agenda: Agenda<Step>,
    pending: Slab<Pending>,
    translation: Translation,
    buffer: Buffer,
    dies: Vec<Die>,
    channel_free: Vec<Nanos>,
    write: write::Progress,
    tally: Tally,
    /// Events to report, in order of time.
    told: Vec<Event>,
    /// Kept between calls for its memory.
    pieces: Vec<(u32, u64, u32)>,
}

/// A step that the model has scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The firmware has looked at the command.
    Begin(u32),
    /// A die has done what it did.
    Done(u32),
    /// Bytes of a read have come over their channel.
    Fetched {
        request: u32,
        bytes: u32,
    },
    /// Units of a write that have crossed the interface.
    Landed {
        request: u32,
        units: u32,
    },
    /// A page has come over its channel to a die.
    Loaded(u32),
    Answer(u32),
    /// The oldest unit in the buffer may have waited long enough.
    Linger,
}

/// A request that is not done with.
#[derive(Debug)]
struct Pending {
    tag: Tag,
    request: Request,
    /// Writes: units up to here were let in, and have landed.
    admitted: u32,
    landed: u32,
    end: u32,
    /// Writes: landed and to-be-landed units that are not stable.
    unstable: u32,
    /// Reads: pieces that have not come over their channel.
    pieces: u32,
    /// Reads: when the last byte so far has passed the interface.
    passed: Nanos,
    answered: bool,
}

#[derive(Debug, Default)]
struct Tally {
    requests: [u64; 4],
    page_reads: u64,
    read_buffer_hits: u64,
    write_buffer_hits: u64,
    programs: u64,
    erases: u64,
    units_written: u64,
    units_programmed: u64,
    units_collected: u64,
    units_padded: u64,
    pages_collected: u64,
    reads_to_modify: u64,
}

impl Flash {
    /// The parameters must have passed their `check`.
    pub fn new(parameters: &FlashParameters, seed: u64) -> Self {
        let geometry = Geometry::new(parameters);
        Self {
            interface: Interface::new(parameters),
            agenda: Agenda::new(),
            pending: Slab::new(),
            translation: Translation::new(geometry.clone(), parameters, seed),
            buffer: Buffer::new(geometry.buffer_units),
            dies: (0..geometry.dies).map(|_| Die::default()).collect(),
            channel_free: vec![0; geometry.channels as usize],
            write: write::Progress::new(geometry.dies, parameters.flush_queued.value),
            tally: Tally::default(),
            told: Vec::new(),
            pieces: Vec::new(),
            geometry,
        }
    }

    fn take_commands(&mut self, now: Nanos) {
        while let Some(id) = self.interface.take() {
            let kind = self.pending[id as usize].request.kind;
            let overhead_ns = match kind {
                Kind::Read => self.geometry.read_overhead_ns,
                Kind::Write | Kind::Flush | Kind::Discard => self.geometry.write_overhead_ns,
            };
            let start = self.interface.command(now, kind);
            self.agenda.enter(start + overhead_ns, Step::Begin(id));
        }
    }

    fn step(&mut self, now: Nanos, step: Step) {
        match step {
            Step::Begin(id) => self.begin(now, id),
            Step::Done(die) => self.done(now, die),
            Step::Fetched { request, bytes } => self.fetched(now, request, bytes),
            Step::Landed { request, units } => self.landed(now, request, units),
            Step::Loaded(die) => {
                self.dies[die as usize].loaded = true;
                self.keep_busy(now, die);
            }
            Step::Answer(id) => self.answer(now, id),
            Step::Linger => self.linger(now),
        }
    }

    fn begin(&mut self, now: Nanos, id: u32) {
        let kind = self.pending[id as usize].request.kind;
        self.tally.requests[kind as usize] += 1;
        match kind {
            Kind::Read => self.begin_read(now, id),
            Kind::Write => self.begin_write(now, id),
            Kind::Flush => self.begin_flush(now, id),
            Kind::Discard => self.discard(now, id),
        }
    }

    fn answer(&mut self, now: Nanos, id: u32) {
        let pending = &mut self.pending[id as usize];
        pending.answered = true;
        self.told.push(Event::Answered {
            tag: pending.tag,
            at: now,
        });
        if pending.unstable == 0 {
            self.pending.remove(id as usize);
        }
        self.interface.answer();
        self.take_commands(now);
    }

    /// Lets an idle die begin with what is most pressing.
    fn keep_busy(&mut self, now: Nanos, number: u32) {
        let die = &mut self.dies[number as usize];
        if die.current.is_some() {
            return;
        }
        if die.reads_in_a_row < READS_BEFORE_WRITE && self.start_read(now, number) {
            return;
        }
        self.dies[number as usize].reads_in_a_row = 0;
        if !self.start_collecting(now, number) && !self.start_program(now, number) {
            self.start_read(now, number);
        }
    }

    fn start(&mut self, now: Nanos, die: u32, operation: Operation, takes_ns: Nanos) {
        self.dies[die as usize].current = Some(operation);
        self.agenda.enter(now + takes_ns, Step::Done(die));
    }

    fn done(&mut self, now: Nanos, number: u32) {
        let operation = self.dies[number as usize].current.take();
        match operation.expect("a die that is done did something") {
            Operation::Read(piece) => self.sensed(now, number, piece),
            Operation::Program => self.programmed(now, number),
            Operation::Collect => self.collected(number),
            Operation::Erase => self.erased(number),
        }
        self.keep_busy(now, number);
    }

    /// The moment at which that many bytes of the host have passed the channel of a die.
    fn carry(&mut self, now: Nanos, die: u32, takes_ns: Nanos) -> Nanos {
        let channel = &mut self.channel_free[(die % self.geometry.channels) as usize];
        *channel = (*channel).max(now) + takes_ns;
        *channel
    }
}

impl Timing for Flash {
    fn capacity_bytes(&self) -> u64 {
        self.geometry.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let units = self
            .geometry
            .units_of(request.offset_bytes, request.end_bytes());
        let changes = matches!(request.kind, Kind::Write | Kind::Discard);
        let id = self.pending.insert(Pending {
            tag,
            request,
            admitted: units.start,
            landed: units.start,
            end: units.end,
            unstable: if changes { units.len() as u32 } else { 0 },
            pieces: 0,
            passed: 0,
            answered: false,
        });
        let alone = request.kind == Kind::Flush && !self.write.flush_queued;
        self.interface.arrive(id as u32, alone);
        self.take_commands(now);
    }

    /// Nothing happens to a command before the firmware has processed it.
    fn head_start(&self) -> Nanos {
        let geometry = &self.geometry;
        geometry.read_overhead_ns.min(geometry.write_overhead_ns)
    }

    fn queue_depth(&self) -> Option<u32> {
        Some(self.interface.queue_depth)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.agenda.next()
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some((at, step)) = self.agenda.due_at(now) {
            self.step(at, step);
        }
        events.append(&mut self.told);
    }

    fn counters(&self) -> Counters {
        let tally = &self.tally;
        let free_blocks: usize = (0..self.geometry.dies)
            .map(|die| self.translation.blocks.free_blocks(die))
            .sum();
        let unit_bytes = self.geometry.unit_bytes;
        let own = [
            ("page_reads", tally.page_reads),
            ("read_buffer_hits", tally.read_buffer_hits),
            ("write_buffer_hits", tally.write_buffer_hits),
            ("programs", tally.programs),
            ("erases", tally.erases),
            ("gc_page_copies", tally.pages_collected),
            ("gc_copied_bytes", tally.units_collected * unit_bytes),
            ("host_written_bytes", tally.units_written * unit_bytes),
            ("padded_bytes", tally.units_padded * unit_bytes),
            (
                "flash_written_bytes",
                (tally.units_programmed + tally.units_padded + tally.units_collected) * unit_bytes,
            ),
            ("reads_to_modify", tally.reads_to_modify),
            ("free_blocks", free_blocks as u64),
        ];
        counted_with(tally.requests, own)
    }
}
