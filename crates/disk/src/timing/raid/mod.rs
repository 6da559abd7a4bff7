//! Disks that work as one: RAID 0, 1 and 10.
//!
//! Addresses are striped chunk by chunk over *groups* of disks. In RAID 0 a group is one disk, in RAID 1
//! all disks are the one group, in RAID 10 a group is a pair, and the disks of a group hold the same. A
//! read of a group goes to the disk that read up to there before, else to the one with the fewest
//! requests under way, else to the one that is nearest; a write goes to every disk of it. A flush
//! goes to every disk.
//!
//! **What stable means.** A write is stable when it is stable on every disk that it goes to, each of
//! which has a volatile cache of its own or none.
//!
//! Not here: parity, and a failed disk.

mod parameters;
#[cfg(test)]
mod tests;

pub use parameters::{RaidLevel, RaidParameters};

use super::parts::{Part, Run, Told, Wholes, append_run, first};
use super::{Counters, Event, Timing};
use crate::request::{Kind, Nanos, Request, Tag};

/// An array of disks.
pub struct Raid {
    level: RaidLevel,
    chunk_bytes: u64,
    /// Of one disk, in whole chunks.
    disk_bytes: u64,
    disks: Vec<Part<Tag>>,
    /// The end of each disk's last read.
    read_ends: Vec<u64>,
    /// Disks with the same content.
    copies: usize,
    wholes: Wholes,
    out: Vec<Event>,
    told: Vec<Told<Tag>>,
    /// By disk or group, for one request.
    runs: Vec<Vec<Run>>,
}

/// Runs of one disk are joined up to this length.
const RUN_BYTES: u64 = 1 << 20;

impl Raid {
    /// # Panics
    ///
    /// Without disks.
    #[must_use]
    pub fn new(parameters: &RaidParameters, disks: Vec<Box<dyn Timing>>) -> Self {
        let level = parameters.level.value;
        let chunk_bytes = parameters.chunk_bytes.value;
        let smallest = disks.iter().map(|disk| disk.capacity_bytes()).min();
        let smallest = smallest.expect("an array has disks");
        let disk_bytes = match level {
            RaidLevel::Raid1 => smallest,
            _ => smallest / chunk_bytes * chunk_bytes,
        };
        let copies = match level {
            RaidLevel::Raid0 => 1,
            RaidLevel::Raid1 => disks.len(),
            RaidLevel::Raid10 => 2,
        };
        Self {
            level,
            chunk_bytes,
            disk_bytes,
            read_ends: vec![0; disks.len()],
            runs: vec![Vec::new(); disks.len()],
            disks: disks.into_iter().map(Part::new).collect(),
            copies,
            wholes: Wholes::default(),
            out: Vec::new(),
            told: Vec::new(),
        }
    }

    fn groups(&self) -> usize {
        self.disks.len() / self.copies
    }

    /// Cuts a request into what each group has of it: into `self.runs`.
    fn stripe(&mut self, request: Request) {
        self.runs.iter_mut().for_each(Vec::clear);
        if self.level == RaidLevel::Raid1 {
            self.runs[0].push(request.into());
            return;
        }
        let groups = self.groups() as u64;
        let mut at = request.offset_bytes;
        while at < request.end_bytes() {
            let (chunk, within) = (at / self.chunk_bytes, at % self.chunk_bytes);
            let length = (self.chunk_bytes - within).min(request.end_bytes() - at);
            let group = usize::try_from(chunk % groups).expect("the number of a group");
            let run = Run::new(chunk / groups * self.chunk_bytes + within, length);
            append_run(&mut self.runs[group], run, RUN_BYTES);
            at += length;
        }
    }

    fn read(&mut self, now: Nanos, id: Tag, request: Request) {
        self.stripe(request);
        for group in 0..self.groups() {
            for run in std::mem::take(&mut self.runs[group]) {
                let disk = self.reader(group, run);
                self.read_ends[disk] = run.end_bytes();
                self.wholes.await_answer(id);
                self.disks[disk].submit(now, run.request(Kind::Read), id);
            }
        }
    }

    /// The disk of a group that reads a run.
    fn reader(&self, group: usize, run: Run) -> usize {
        let candidates = group * self.copies..(group + 1) * self.copies;
        let goes_on = |disk: &usize| self.read_ends[*disk] == run.offset_bytes;
        candidates.clone().find(goes_on).unwrap_or_else(|| {
            candidates
                .min_by_key(|disk| {
                    let way = self.read_ends[*disk].abs_diff(run.offset_bytes);
                    (self.disks[*disk].answers_due(), way)
                })
                .expect("a group has disks")
        })
    }

    /// A write or a discard to every disk of the groups that it touches.
    fn write(&mut self, now: Nanos, id: Tag, request: Request) {
        self.stripe(request);
        for group in 0..self.groups() {
            for run in std::mem::take(&mut self.runs[group]) {
                for disk in group * self.copies..(group + 1) * self.copies {
                    self.wholes.await_answer(id);
                    self.wholes.await_stable(id);
                    self.disks[disk].submit(now, run.request(request.kind), id);
                }
            }
        }
    }

    fn flush(&mut self, now: Nanos, id: Tag) {
        for disk in &mut self.disks {
            self.wholes.await_answer(id);
            disk.submit(now, Request::flush(), id);
        }
    }

    fn step(&mut self, now: Nanos, events: &mut Vec<Event>) {
        let mut told = std::mem::take(&mut self.told);
        for disk in &mut self.disks {
            disk.advance(now, &mut told);
        }
        for piece in told.drain(..) {
            match piece {
                Told::Answered(id) => self.wholes.answer(id, now, events),
                Told::Stable(id) => self.wholes.stable(id, now, events),
            }
        }
        self.told = told;
    }
}

impl Timing for Raid {
    fn capacity_bytes(&self) -> u64 {
        self.disk_bytes * self.groups() as u64
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let id = self.wholes.open(tag, request.kind);
        match request.kind {
            Kind::Read => self.read(now, id, request),
            Kind::Write | Kind::Discard => self.write(now, id, request),
            Kind::Flush => self.flush(now, id),
        }
        self.wholes.settle(id, now, &mut self.out);
    }

    /// The head start that every disk has for the request.
    fn head_start(&self) -> Nanos {
        first(self.disks.iter().map(|disk| Some(disk.head_start()))).unwrap_or(0)
    }

    fn next_event(&self) -> Option<Nanos> {
        let told = self.out.first().map(Event::at);
        first(self.disks.iter().map(Part::next_event).chain([told]))
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        events.append(&mut self.out);
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            self.step(at, events);
        }
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::new();
        for (number, disk) in self.disks.iter().enumerate() {
            disk.count_into(&format!("member{number}"), &mut counters);
        }
        counters
    }
}
