//! The disk as a whole: what ends next, and what it sets in motion.

mod reading;
mod writing;

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::arm::{Arm, Operation};
use super::controller::{Command, Controller, Work};
use super::geometry::{Geometry, whole};
use super::parameters::SpinningParameters;
use super::queue::{Queue, View};
use super::read_ahead::Segments;
use super::sectors::Sectors;
use super::write_cache::{Tags, WriteCache};
use crate::request::{Kind, NANOS_PER_US, Nanos, Request, Tag};
use crate::timing::agenda::first;
use crate::timing::{Counters, Event, Timing, counted_with};

/// A disk with an arm and platters.
///
/// A flush is a barrier, as ATA's is: it begins when all before it is answered, nothing after it is
/// taken in until it is answered, and it is answered when nothing cached is left.
#[derive(Debug)]
pub struct Spinning {
    geometry: Geometry,
    controller: Controller,
    arm: Arm,
    /// Reads, and writes that do not go through the cache, which wait for the arm.
    queue: Queue<(Command, Option<Tags>)>,
    segments: Segments,
    /// `None` where writes are answered from the platter.
    write_cache: Option<WriteCache>,
    /// Writes that wait for room in the cache.
    stalled: VecDeque<Command>,
    flushing: Option<Tag>,
    settle_ns: f64,
    write_back: WriteBack,
    /// When the last command came or was answered.
    active_at: Nanos,
    /// The result of `next_event`; read far more often than it changes.
    next: Option<Nanos>,
    counted: Counted,
}

/// When the write cache is written back.
#[derive(Clone, Copy, Debug)]
struct WriteBack {
    share: f64,
    idle_ns: u64,
    oldest_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    requests: [u64; 4],
    cache_hits: u64,
    read_ahead_hits: u64,
    coalesced: u64,
    stalls: u64,
    destages: u64,
}

impl Spinning {
    /// Makes the disk, at rest over its first address; the seed says how the platter stands.
    ///
    /// # Panics
    ///
    /// If the parameters have not been checked and are impossible.
    pub fn new(parameters: &SpinningParameters, seed: u64) -> Self {
        let nanos = |us: f64| whole(us * NANOS_PER_US as f64);
        let settle_ns = parameters.write_settle_us.value * NANOS_PER_US as f64;
        let ageing = parameters.ageing.value;
        let commands = f64::from(parameters.write_cache_commands.value);
        let write_cache = parameters.write_cache.value.then(|| {
            WriteCache::new(
                parameters.write_cache_bytes.value,
                parameters.write_cache_commands.value as usize,
                settle_ns,
                parameters.sector_bytes.value,
                // Weighted by the number of waiting commands; with a constant weight, a large cache
                // would be written back in the order of arrival.
                ageing * (f64::from(parameters.queue_depth.value) / commands).min(1.0),
            )
        });
        // Each stream has a segment, and one sector at its end.
        let known_sectors = match parameters.segment_bytes() {
            0 => 0,
            _ => parameters.read_segments.value as usize,
        };
        Self {
            geometry: Geometry::new(
                parameters,
                Xoshiro256PlusPlus::seed_from_u64(seed).random::<f64>(),
            ),
            controller: Controller::new(
                nanos(parameters.command_overhead_us.value),
                1e3 / parameters.interface_mb_per_s.value,
                parameters.queue_depth.value as usize,
            ),
            arm: Arm::new(
                settle_ns,
                Sectors::new(parameters.sector_bytes.value, known_sectors),
            ),
            queue: Queue::new(ageing),
            segments: Segments::new(
                parameters.read_segments.value as usize,
                parameters.segment_bytes(),
            ),
            write_cache,
            stalled: VecDeque::new(),
            flushing: None,
            settle_ns,
            write_back: WriteBack {
                share: parameters.write_back_share.value,
                idle_ns: nanos(parameters.write_back_idle_us.value),
                oldest_ns: nanos(parameters.write_back_oldest_us.value),
            },
            active_at: 0,
            next: None,
            counted: Counted::default(),
        }
    }

    fn answer(&mut self, now: Nanos, tag: Tag, events: &mut Vec<Event>) {
        self.controller.answered(now, self.flushing == Some(tag));
        self.active_at = now;
        events.push(Event::Answered { tag, at: now });
    }

    /// The controller has a command in, or has sent a read's bytes.
    fn controller_done(&mut self, now: Nanos, events: &mut Vec<Event>) {
        match self.controller.finish(now) {
            Work::Send(command) => self.answer(now, command.tag, events),
            Work::Accept(command) => {
                let kind = command.request.kind;
                self.counted.requests[kind as usize] += 1;
                match kind {
                    Kind::Read => self.accept_read(now, command),
                    Kind::Write => self.accept_write(now, command, events),
                    Kind::Discard => self.accept_discard(now, command, events),
                    Kind::Flush => self.flushing = Some(command.tag),
                }
            }
        }
    }

    fn enqueue(&mut self, command: Command, replaced: Option<Tags>) {
        let settle_ns = match command.request.kind {
            Kind::Write => self.settle_ns,
            _ => 0.0,
        };
        let turns = self.geometry.turns_before(command.request.offset_bytes);
        let arrived = command.arrived;
        self.queue
            .push(turns, settle_ns, arrived, (command, replaced));
    }

    /// The arm has done what it was about.
    fn arm_done(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let operation = self.arm.finish();
        match operation {
            Operation::Read(command) => {
                let (start, end) = command.span();
                self.segments.keep(start, end);
                self.answer(now, command.tag, events);
                if self.queue.is_empty() {
                    let limit = end + self.segments.segment_bytes;
                    self.arm.stream(&self.geometry, now, end, limit);
                }
            }
            Operation::WriteThrough(command, replaced) => {
                if let Some(tags) = replaced {
                    self.settle(now, &tags, events);
                }
                let tag = command.tag;
                events.push(Event::Stable { tag, at: now });
                self.answer(now, tag, events);
            }
            Operation::WriteBack(extent) => {
                self.counted.destages += 1;
                if let Some(cache) = &mut self.write_cache {
                    cache.written();
                }
                self.settle(now, &extent.tags, events);
                self.let_in(now, events);
            }
        }
    }

    fn earliest(&self) -> Option<Nanos> {
        first([
            self.arm.next_event(),
            self.controller.next_event(),
            self.write_back_due(),
        ])
    }

    /// Sets in motion whatever can be now.
    fn go_on(&mut self, now: Nanos, events: &mut Vec<Event>) {
        // Room comes from discards and from writes past the cache, too, which replace what is cached.
        if !self.stalled.is_empty() {
            self.let_in(now, events);
        }
        self.finish_flush(now, events);
        if self.flushing.is_none() {
            self.controller.take_next();
        }
        if !self.arm.is_busy() {
            self.move_arm(now);
        }
    }

    fn finish_flush(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let Some(tag) = self.flushing else {
            return;
        };
        let drained = self.write_cache.as_ref().is_none_or(WriteCache::is_empty);
        if drained && !self.arm.is_busy() && self.controller.inside() == 1 {
            self.answer(now, tag, events);
            self.flushing = None;
        }
    }

    /// Chooses among what waits: commands, and cached writes where these may compete or fill in.
    fn move_arm(&mut self, now: Nanos) {
        let write_back = self.may_write_back(now);
        if self.queue.is_empty() && !write_back {
            return;
        }
        self.stop_streaming(now);
        let view = View {
            geometry: &self.geometry,
            now,
            head: self.arm.head,
        };
        let command = self.queue.best(view);
        let cached = self
            .write_cache
            .as_mut()
            .filter(|_| write_back)
            .and_then(|cache| cache.best(view).map(|best| (cache, best)));
        let operation = match (command, cached) {
            (Some((_, command)), Some((cache, (index, cached)))) if cached < command => {
                Operation::WriteBack(cache.begin(index))
            }
            (None, Some((cache, (index, _)))) => Operation::WriteBack(cache.begin(index)),
            (Some((index, _)), _) => match self.queue.swap_remove(index) {
                (command, _) if command.request.kind == Kind::Read => Operation::Read(command),
                (command, replaced) => Operation::WriteThrough(command, replaced),
            },
            (None, None) => return,
        };
        self.arm.begin(&self.geometry, now, operation);
    }
}

impl Timing for Spinning {
    fn capacity_bytes(&self) -> u64 {
        self.geometry.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.active_at = self.active_at.max(now);
        self.controller.arrive(Command {
            tag,
            request,
            arrived: now,
        });
        if self.flushing.is_none() {
            self.controller.take_next();
        }
        self.next = self.earliest();
    }

    /// Until its overhead is over, a command moves nothing.
    fn head_start(&self) -> Nanos {
        self.controller.overhead_ns
    }

    fn queue_depth(&self) -> Option<u32> {
        u32::try_from(self.controller.queue_depth).ok()
    }

    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some(at) = self.next.filter(|&at| at <= now) {
            if self.arm.next_event() == Some(at) {
                self.arm_done(at, events);
            } else if self.controller.next_event() == Some(at) {
                self.controller_done(at, events);
            }
            self.go_on(at, events);
            self.next = self.earliest();
        }
    }

    fn counters(&self) -> Counters {
        let (own, travels) = (self.counted, self.arm.travels);
        let us = |nanos: u64| nanos / NANOS_PER_US;
        let counts = [
            ("cache_hits", own.cache_hits),
            ("read_ahead_hits", own.read_ahead_hits),
            ("coalesced", own.coalesced),
            ("stalls", own.stalls),
            ("destages", own.destages),
            ("seeks", travels.seeks),
            ("seek_us", us(travels.seek_ns)),
            ("rotation_us", us(travels.rotation_ns)),
            ("busy_us", us(travels.busy_ns)),
        ];
        counted_with(own.requests, counts)
    }
}
