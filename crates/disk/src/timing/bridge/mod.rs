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

use super::parts::{Part, Told, first};
use super::{Counters, Event, Timing, counted};
use crate::request::{Kind, Nanos, Request, Tag, nanos_of_us, transfer_nanos};

/// Bytes that a bridge buffers before it passes them on: sixteen kibibytes, a USB 3 burst.
const PIECE_BYTES: u64 = 16 * 1024;

/// A bridge and the disk behind it.
pub struct Bridge {
    disk: Part<Tag>,
    command_ns: Nanos,
    bus_mb_per_s: f64,
    waiting: VecDeque<(Tag, Request)>,
    /// The command whose answer has not yet crossed the bus, and what is due of it.
    current: Option<Command>,
    due: Option<(Nanos, Deed)>,
    /// The bus and the bridge's processor are taken until then.
    busy_until: Nanos,
    told: Vec<Told<Tag>>,
    counted: Counted,
}

#[derive(Default)]
struct Counted {
    commands: u64,
    waited: u64,
    bus_busy_ns: Nanos,
}

#[derive(Clone, Copy)]
struct Command {
    /// The caller's tag.
    tag: Tag,
    request: Request,
    /// When the disk was asked.
    issued_at: Nanos,
}

#[derive(Clone, Copy)]
enum Deed {
    Issue,
    Answer,
}

impl Bridge {
    pub fn new(parameters: &BridgeParameters, disk: Box<dyn Timing>) -> Self {
        Self {
            disk: Part::new(disk),
            command_ns: nanos_of_us(parameters.command_us.value),
            bus_mb_per_s: parameters.bus_mb_per_s.value,
            waiting: VecDeque::new(),
            current: None,
            due: None,
            busy_until: 0,
            told: Vec::new(),
            counted: Counted::default(),
        }
    }

    /// Begins the next command, if none is under way.
    fn begin(&mut self, now: Nanos) {
        if self.current.is_some() {
            return;
        }
        let Some((tag, request)) = self.waiting.pop_front() else {
            return;
        };
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
        self.current = Some(Command {
            tag,
            request,
            issued_at,
        });
        self.due = Some((issued_at, Deed::Issue));
    }

    /// The disk has answered: what remains is the bus.
    fn disk_answered(&mut self, now: Nanos) {
        let Command {
            request, issued_at, ..
        } = self.current.expect("the disk was asked");
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
        self.due = Some((at, Deed::Answer));
    }

    fn step(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let mut told = std::mem::take(&mut self.told);
        self.disk.advance(now, &mut told);
        for piece in told.drain(..) {
            match piece {
                Told::Answered(_) => self.disk_answered(now),
                Told::Stable(tag) => events.push(Event::Stable { tag, at: now }),
            }
        }
        self.told = told;
        if let Some(command) = self.current
            && let Some((_, deed)) = self.due.take_if(|(at, _)| *at <= now)
        {
            let tag = command.tag;
            match deed {
                Deed::Issue => self.disk.submit(now, command.request, tag),
                Deed::Answer => {
                    self.current = None;
                    events.push(Event::Answered { tag, at: now });
                }
            }
        }
        self.begin(now);
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
        self.counted.waited += u64::from(self.current.is_some());
        self.waiting.push_back((tag, request));
        self.begin(now);
    }

    /// The bridge's own work on a command.
    fn head_start(&self) -> Nanos {
        self.command_ns
    }

    fn next_event(&self) -> Option<Nanos> {
        first([self.due.map(|(at, _)| at), self.disk.next_event()])
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
