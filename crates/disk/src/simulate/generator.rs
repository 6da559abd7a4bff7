//! The requests of a probe, one after the other.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::device::{Pattern, Probe};
use crate::request::Request;

pub(super) struct Generator {
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
    pub(super) fn new(capacity_bytes: u64, probe: &Probe, seed: u64) -> Self {
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
    pub(super) fn next(&mut self, idle: bool) -> Option<Request> {
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
