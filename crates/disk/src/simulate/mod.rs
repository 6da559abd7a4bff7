//! A probe against a model, in virtual time: what the disk would do, without a disk and without waiting.

use hdrhistogram::Histogram;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::device::{Pattern, Probe};
use crate::request::{Kind, NANOS_PER_S, Nanos, Request, Tag};
use crate::timing::{Event, Timing};

/// What a probe found.
#[derive(Debug)]
pub struct Outcome {
    /// Virtual time measured.
    pub seconds: f64,
    /// Requests answered, flushes not among them.
    pub requests: u64,
    pub bytes: u64,
    pub flushes: u64,
    /// Of requests, flushes not among them.
    pub latency_ns: Histogram<u64>,
    pub flush_latency_ns: Histogram<u64>,
}

impl Outcome {
    fn new() -> Self {
        let histogram = || Histogram::new(3).expect("three digits are allowed");
        Self {
            seconds: 0.0,
            requests: 0,
            bytes: 0,
            flushes: 0,
            latency_ns: histogram(),
            flush_latency_ns: histogram(),
        }
    }

    #[must_use]
    pub fn iops(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    #[must_use]
    pub fn megabytes_per_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds
    }
}

/// How long a probe runs, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Not measured, so that caches fill and queues form.
    pub warm_up: Nanos,
    pub measure: Nanos,
}

/// Runs a probe: `depth` requests are always under way, as with fio's `iodepth`.
pub fn run(timing: &mut dyn Timing, probe: &Probe, length: Length, seed: u64) -> Outcome {
    let mut generator = Generator::new(timing.capacity_bytes(), probe, seed);
    let mut under_way: Vec<(Tag, Nanos, Request)> = Vec::new();
    let mut events = Vec::new();
    let mut outcome = Outcome::new();
    let (mut now, mut next_tag) = (0, 0);
    let end = length.warm_up + length.measure;
    while now < end {
        while under_way.len() < probe.depth as usize {
            let Some(request) = generator.next(under_way.is_empty()) else {
                break;
            };
            timing.submit(now, Tag(next_tag), request);
            under_way.push((Tag(next_tag), now, request));
            next_tag += 1;
        }
        now = timing
            .next_event()
            .expect("a device with requests in it has something to do")
            .max(now);
        timing.advance(now, &mut events);
        for event in events.drain(..) {
            if let Event::Answered { tag, at } = event {
                let index = under_way
                    .iter()
                    .position(|(mine, ..)| *mine == tag)
                    .expect("an answer to a request under way");
                let (_, from, request) = under_way.swap_remove(index);
                if at >= length.warm_up && at < end {
                    outcome.count(request, at - from);
                }
            }
        }
    }
    outcome.seconds = length.measure as f64 / NANOS_PER_S as f64;
    outcome
}

impl Outcome {
    fn count(&mut self, request: Request, latency_ns: Nanos) {
        if request.kind == Kind::Flush {
            self.flushes += 1;
            self.flush_latency_ns.saturating_record(latency_ns);
        } else {
            self.requests += 1;
            self.bytes += request.length_bytes;
            self.latency_ns.saturating_record(latency_ns);
        }
    }
}

/// The requests of a probe, one after the other.
struct Generator {
    pattern: Pattern,
    block_bytes: u64,
    blocks: u64,
    random: Xoshiro256PlusPlus,
    at_block: u64,
    /// Requests since the last flush.
    since_flush: u32,
    /// Flushes still to be sent.
    flushes_due: u32,
}

const FILEIO_REQUESTS_PER_SYNC: u32 = 100;
const FILEIO_FILES: u32 = 128;
const READ_SHARE: f64 = 0.6;

impl Generator {
    fn new(capacity_bytes: u64, probe: &Probe, seed: u64) -> Self {
        let span_bytes = probe
            .span_bytes
            .unwrap_or(capacity_bytes)
            .min(capacity_bytes);
        Self {
            pattern: probe.pattern,
            block_bytes: probe.block_bytes,
            blocks: (span_bytes / probe.block_bytes).max(1),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            at_block: 0,
            since_flush: 0,
            flushes_due: 0,
        }
    }

    /// The next request; `None` while it waits for those under way (a flush goes alone).
    fn next(&mut self, idle: bool) -> Option<Request> {
        if self.flushes_due > 0 {
            if !idle {
                return None;
            }
            self.flushes_due -= 1;
            return Some(Request::flush());
        }
        let request = match self.pattern {
            Pattern::RandomRead => self.read(),
            Pattern::RandomWrite | Pattern::SyncedWrite => self.write(),
            Pattern::Mixed | Pattern::Fileio => {
                if self.random.random::<f64>() < READ_SHARE {
                    self.read()
                } else {
                    self.write()
                }
            }
            Pattern::SequentialRead => Request::read(self.following(), self.block_bytes),
            Pattern::SequentialWrite | Pattern::SyncedAppend => {
                Request::write(self.following(), self.block_bytes)
            }
        };
        self.since_flush += 1;
        match self.pattern {
            Pattern::SyncedWrite | Pattern::SyncedAppend => self.flushes_due = 1,
            Pattern::Fileio if self.since_flush == FILEIO_REQUESTS_PER_SYNC => {
                self.since_flush = 0;
                self.flushes_due = FILEIO_FILES;
            }
            _ => {}
        }
        Some(request)
    }

    fn read(&mut self) -> Request {
        Request::read(self.random_offset(), self.block_bytes)
    }

    fn write(&mut self) -> Request {
        Request::write(self.random_offset(), self.block_bytes)
    }

    fn random_offset(&mut self) -> u64 {
        self.random.random_range(0..self.blocks) * self.block_bytes
    }

    fn following(&mut self) -> u64 {
        let offset = self.at_block * self.block_bytes;
        self.at_block = (self.at_block + 1) % self.blocks;
        offset
    }
}
