//! Faults of a disk other than a power cut: errors, slowness and silent corruption, by schedule and
//! seed.
//!
//! Pure: the server of a disk asks for the faults of each request, in order of arrival, and applies
//! them. The same schedule, seed and requests at the same moments have the same outcome. Each fault
//! draws from its own generator, so an additional fault changes nothing about the others.

mod schedule;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use schedule::{Befallen, Fault, Hit, What};

use crate::device::Build;
use crate::request::{NANOS_PER_US, Nanos, Request, nanos_of_us};

/// A schedule at work.
#[derive(Debug, Default)]
pub struct Faults {
    sector_bytes: u64,
    /// When it was put to work: its moments count from here.
    began: Nanos,
    schedule: Vec<Active>,
}

#[derive(Debug)]
struct Active {
    fault: Fault,
    random: Xoshiro256PlusPlus,
    /// Requests that it could have affected, and those that it did.
    met: u64,
    befallen: u64,
    first: Vec<Hit>,
}

/// The faults of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Befalls {
    /// It fails, and nothing else happens: no byte is written, no byte becomes stable.
    pub fails: Option<Failure>,
    /// Bits that flip silently, in what is read or in what is stored.
    pub flips: Vec<Flip>,
    /// What a write leaves, so many bytes from its start, although it is answered as if it left all.
    pub kept_bytes: Option<u64>,
    /// The flush is answered, and nothing becomes stable.
    pub ignored: bool,
    pub delay: Delay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// EIO
    Io,
    /// ENOSPC
    NoSpace,
}

/// One byte of the disk and which of its bits are turned over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    pub offset_bytes: u64,
    pub mask: u8,
}

/// Requests of each fault that are named.
const HITS_AT_MOST: usize = 8;

/// Delay of an answer beyond the model's latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// Factor of the model's latency; 1 or more.
    pub factor: f64,
    pub add: Nanos,
    /// The earliest moment at which it may leave.
    pub not_before: Nanos,
}

impl Default for Delay {
    fn default() -> Self {
        Self {
            factor: 1.0,
            add: 0,
            not_before: 0,
        }
    }
}

impl Delay {
    /// When a request is answered that arrived then and to which the model gives so long.
    pub fn answered(&self, arrived: Nanos, latency: Nanos) -> Nanos {
        let latency = nanos_of_us(latency as f64 / NANOS_PER_US as f64 * self.factor);
        (arrived + latency + self.add).max(self.not_before)
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Faults {
    /// Puts a schedule into effect at a moment, for a disk with sectors of that size.
    ///
    /// # Errors
    ///
    /// Which fault of the schedule cannot be, and why.
    pub fn new(
        schedule: Vec<Fault>,
        seed: u64,
        sector_bytes: u64,
        began: Nanos,
    ) -> Result<Self, String> {
        let faults = (0..).zip(schedule).map(|(number, fault)| {
            fault
                .check(sector_bytes)
                .map_err(|why| format!("schedule[{number}]: {why}"))?;
            Ok(Active {
                random: Xoshiro256PlusPlus::seed_from_u64(Build::seeded(seed).part(number).seed),
                fault,
                met: 0,
                befallen: 0,
                first: Vec::new(),
            })
        });
        Ok(Self {
            sector_bytes,
            began,
            schedule: faults.collect::<Result<_, String>>()?,
        })
    }

    /// The faults of a request that arrives at `now`, no earlier than the request before. If
    /// several would fail it, the first in the schedule does; delays add up. One without bytes, such
    /// as a journal's block, meets no fault that changes bytes: it would be spent on nothing.
    pub fn befalls(&mut self, request: Request, has_bytes: bool, now: Nanos) -> Befalls {
        let since = now.saturating_sub(self.began);
        let mut befalls = Befalls::default();
        for active in &mut self.schedule {
            let can = has_bytes || !active.fault.fault.changes_bytes();
            if can && active.meets(request, since, self.sector_bytes) {
                active.befall(request, self.began, self.sector_bytes, &mut befalls);
            }
        }
        if befalls.fails.is_some() {
            befalls.flips.clear();
        }
        befalls
    }

    /// Whether the schedule is empty.
    pub fn is_empty(&self) -> bool {
        self.schedule.is_empty()
    }

    /// The requests that each fault of the schedule affected.
    pub fn befallen(&self) -> Vec<Befallen> {
        let faults = self.schedule.iter();
        faults
            .map(|active| Befallen {
                fault: active.fault.fault,
                requests: active.befallen,
                first: active.first.clone(),
            })
            .collect()
    }
}

impl Active {
    /// Whether it affects this request: a draw, if kind, place and moment match.
    fn meets(&mut self, request: Request, since: Nanos, sector_bytes: u64) -> bool {
        let fault = &self.fault;
        let is_there = match fault.fault {
            // A sector is written as a whole or not at all.
            What::Torn if request.length_bytes <= sector_bytes => false,
            _ => fault.touches(request),
        };
        if !fault.may_befall(request.kind) || !is_there || !fault.is_due(since) {
            return false;
        }
        self.met += 1;
        if self.met <= fault.after_requests
            || fault.times.is_some_and(|times| self.befallen >= times)
        {
            return false;
        }
        let befalls = self.random.random_bool(fault.chance);
        if befalls {
            self.befallen += 1;
            if self.first.len() < HITS_AT_MOST {
                self.first.push(Hit {
                    request: request.kind,
                    offset_bytes: request.offset_bytes,
                    length_bytes: request.length_bytes,
                    after_us: since / NANOS_PER_US,
                });
            }
        }
        befalls
    }

    fn befall(&mut self, request: Request, began: Nanos, sector_bytes: u64, befalls: &mut Befalls) {
        let fault = &self.fault;
        match fault.fault {
            What::Error => {
                befalls.fails.get_or_insert(Failure::Io);
            }
            What::NoSpace => {
                befalls.fails.get_or_insert(Failure::NoSpace);
            }
            What::Slow => {
                befalls.delay.factor *= fault.factor.unwrap_or(1.0);
                befalls.delay.add += nanos_of_us(fault.add_us.unwrap_or(0.0));
            }
            What::Stall => {
                let end = began + fault.end().expect("it was checked");
                befalls.delay.not_before = befalls.delay.not_before.max(end);
            }
            What::Corrupt => {
                let sector = self.sector(request, sector_bytes);
                befalls.flips.push(Flip {
                    offset_bytes: self.random.random_range(sector),
                    mask: 1 << self.random.random_range(0..8),
                });
            }
            What::Lost => befalls.kept_bytes = Some(0),
            What::Torn => {
                let sectors = request.length_bytes / sector_bytes;
                let kept = self.random.random_range(1..sectors.max(2));
                befalls.kept_bytes = Some(kept * sector_bytes);
            }
            What::Ignored => befalls.ignored = true,
        }
    }

    /// The bytes of one sector of the request, within the fault's region.
    fn sector(&mut self, request: Request, sector_bytes: u64) -> Range<u64> {
        let region = self.fault.region();
        let from = request.offset_bytes.max(region.start) / sector_bytes;
        let to = request.end_bytes().min(region.end).div_ceil(sector_bytes);
        let sector = self.random.random_range(from..to);
        // A request may have a part of a sector only.
        let from = (sector * sector_bytes).max(request.offset_bytes);
        from..((sector + 1) * sector_bytes).min(request.end_bytes())
    }
}
