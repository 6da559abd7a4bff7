//! A bridge between a bus and a disk: USB to SATA, as in every external disk.
//!
//! One command is under way at a time (*bulk-only*), whatever the disk behind could do with more. It costs
//! the bridge a fixed time and its bytes cross the bus at the bus's rate, while the disk works: a bridge
//! passes on what arrives piece by piece, so only the first piece of a write and the last of a read add to
//! the disk's own time. It knows no write that forces itself to the medium (FUA); a flush is passed to the
//! disk.
//!
//! Stable is what is stable on the disk: a bridge keeps nothing.

mod parameters;

use std::collections::VecDeque;

pub use parameters::BridgeParameters;

use super::parts::{Agenda, Part, Told, first};
use super::{Counters, Event, Timing, counted};
use crate::ledger::Ledger;
use crate::request::{Kind, Nanos, Request, Tag, nanos_of_us, transfer_nanos};

/// Bytes that a bridge buffers before it passes them on: sixteen kibibytes, a USB 3 burst.
const PIECE_BYTES: u64 = 16 * 1024;

/// A bridge and the disk behind it.
pub struct Bridge {
    disk: Part<Tag>,
    command_ns: Nanos,
    bus_mb_per_s: f64,
    waiting: VecDeque<(Tag, Request)>,
    commands: Ledger<Command>,
    /// The answer of a command has not yet crossed the bus.
    is_taken: bool,
    /// The bus and the bridge's processor are taken until then.
    busy_until: Nanos,
    agenda: Agenda<Deed>,
    told: Vec<Told<Tag>>,
    counted: Counted,
}

#[derive(Default)]
struct Counted {
    commands: u64,
    waited: u64,
    bus_busy_ns: Nanos,
}

struct Command {
    /// The caller's tag.
    tag: Tag,
    request: Request,
    /// When the disk was asked.
    issued_at: Nanos,
    stable_due: bool,
    answered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Issue(Tag),
    Answer(Tag),
}

impl Bridge {
    #[must_use]
    pub fn new(parameters: &BridgeParameters, disk: Box<dyn Timing>) -> Self {
        Self {
            disk: Part::new(disk),
            command_ns: nanos_of_us(parameters.command_us.value),
            bus_mb_per_s: parameters.bus_mb_per_s.value,
            waiting: VecDeque::new(),
            commands: Ledger::default(),
            is_taken: false,
            busy_until: 0,
            agenda: Agenda::new(),
            told: Vec::new(),
            counted: Counted::default(),
        }
    }

    /// Begins the next command, if none is under way.
    fn begin(&mut self, now: Nanos) {
        if self.is_taken {
            return;
        }
        let Some((tag, request)) = self.waiting.pop_front() else {
            return;
        };
        self.is_taken = true;
        self.counted.commands += 1;
        let start = self.busy_until.max(now);
        let command_end = start + self.command_ns;
        let mut issued_at = command_end;
        self.busy_until = command_end;
        if request.kind == Kind::Write {
            issued_at += self.transfer(request.length_bytes.min(PIECE_BYTES));
            self.busy_until += self.transfer(request.length_bytes);
        }
        self.counted.bus_busy_ns += self.busy_until - start;
        let id = self.commands.insert(Command {
            tag,
            request,
            issued_at,
            stable_due: matches!(request.kind, Kind::Write | Kind::Discard),
            answered: false,
        });
        self.agenda.enter(issued_at, Deed::Issue(id));
    }

    fn issue(&mut self, id: Tag, now: Nanos) {
        let request = self.command(id).request;
        self.disk.submit(now, request, id);
    }

    /// The disk has answered: what remains is the bus.
    fn disk_answered(&mut self, id: Tag, now: Nanos) {
        let Command {
            request, issued_at, ..
        } = *self.command(id);
        let bytes = request.length_bytes;
        let at = match request.kind {
            Kind::Read => {
                let crossing = self.transfer(bytes);
                let last_piece = self.transfer(bytes.min(PIECE_BYTES));
                let bus_free = self.busy_until.max(issued_at);
                let end = (now + last_piece).max(bus_free + crossing);
                self.counted.bus_busy_ns += crossing;
                self.busy_until = end;
                end
            }
            Kind::Write => {
                let behind_the_first = bytes - bytes.min(PIECE_BYTES);
                now.max(issued_at + self.transfer(behind_the_first))
            }
            Kind::Flush | Kind::Discard => now,
        };
        self.agenda.enter(at, Deed::Answer(id));
    }

    fn answer(&mut self, id: Tag, now: Nanos, events: &mut Vec<Event>) {
        let command = self.command(id);
        command.answered = true;
        let (tag, done) = (command.tag, !command.stable_due);
        events.push(Event::Answered { tag, at: now });
        self.is_taken = false;
        if done {
            self.commands.remove(id);
        }
    }

    fn disk_stable(&mut self, id: Tag, now: Nanos, events: &mut Vec<Event>) {
        let command = self.command(id);
        command.stable_due = false;
        let (tag, done) = (command.tag, command.answered);
        events.push(Event::Stable { tag, at: now });
        if done {
            self.commands.remove(id);
        }
    }

    fn step(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let mut told = std::mem::take(&mut self.told);
        self.disk.advance(now, &mut told);
        for piece in told.drain(..) {
            match piece {
                Told::Answered(id) => self.disk_answered(id, now),
                Told::Stable(id) => self.disk_stable(id, now, events),
            }
        }
        self.told = told;
        while let Some(deed) = self.agenda.due(now) {
            match deed {
                Deed::Issue(id) => self.issue(id, now),
                Deed::Answer(id) => self.answer(id, now, events),
            }
        }
        self.begin(now);
    }

    fn command(&mut self, id: Tag) -> &mut Command {
        self.commands.get_mut(id).expect("a command under way")
    }

    fn transfer(&self, bytes: u64) -> Nanos {
        transfer_nanos(bytes, self.bus_mb_per_s)
    }
}

impl Timing for Bridge {
    fn capacity_bytes(&self) -> u64 {
        self.disk.capacity_bytes()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.counted.waited += u64::from(self.is_taken);
        self.waiting.push_back((tag, request));
        self.begin(now);
    }

    /// The bridge's own work on a command.
    fn head_start(&self) -> Nanos {
        self.command_ns
    }

    fn next_event(&self) -> Option<Nanos> {
        first([self.agenda.next(), self.disk.next_event()])
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.step(at, events);
        }
    }

    fn counters(&self) -> Counters {
        let mut counters = counted([
            ("commands", self.counted.commands),
            ("commands_waited", self.counted.waited),
            ("bus_busy_us", self.counted.bus_busy_ns / 1_000),
        ]);
        self.disk.count_into("disk", &mut counters);
        counters
    }
}

#[cfg(test)]
mod tests;
