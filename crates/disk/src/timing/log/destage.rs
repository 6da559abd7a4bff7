//! Segments of the log on their way to the SSD.

use super::segments::BLOCK_BYTES;
use super::{APPEND_BYTES, Back, Deed, Front, Log};
use crate::request::{Kind, Nanos, Request};
use crate::timing::parts::{Leisure, Moving, Run, append_run};

/// When segments are destaged, and the one that is under way.
pub(super) struct Destage {
    above_segments: f64,
    pub(super) leisure: Leisure,
    /// The oldest segment: read, then written to the back, then flushed there.
    batch: Option<Moving>,
    pub(super) blocks: u64,
    pub(super) segments: u64,
}

impl Destage {
    pub(super) fn new(above_segments: f64, idle_ns: Nanos) -> Self {
        Self {
            above_segments,
            leisure: Leisure::after(idle_ns),
            batch: None,
            blocks: 0,
            segments: 0,
        }
    }
}

impl Log {
    /// Starts with the oldest segment if too many are taken or no request waits; otherwise sets an
    /// alarm for when the device will be idle.
    pub(super) fn destage_if_wanted(&mut self, now: Nanos) {
        while self.destage.batch.is_none() && self.segments.taken() > 0 {
            let is_busy = self.wholes.answers_due() > 0;
            let is_idle = self.destage.leisure.is_here(now, is_busy);
            let taken = self.segments.taken();
            let many = taken as f64 > self.destage.above_segments || taken == self.segments.count();
            // The segment that is being filled is left alone while somebody fills it.
            if (is_idle || many) && self.begin_batch(now, is_idle) {
                continue;
            }
            if !is_busy {
                self.destage.leisure.await_it(&mut self.agenda, Deed::Idle);
            }
            return;
        }
    }

    /// Begins with the oldest segment; false if it may not be destaged yet.
    fn begin_batch(&mut self, now: Nanos, any: bool) -> bool {
        let Some((_, at, used_bytes)) = self.segments.oldest(any && !self.is_appending) else {
            return false;
        };
        let living = self.segments.living();
        self.destage.segments += 1;
        if living.is_empty() {
            self.segments.free_oldest();
            self.append(now);
            return true;
        }
        let mut moving = Moving::default();
        let mut from = 0;
        while from < used_bytes {
            let length = (used_bytes - from).min(APPEND_BYTES);
            let request = Request::read(at + from, length);
            self.front.submit(now, request, Front::Destage);
            from += length;
            moving.reads_due += 1;
        }
        self.destage.batch = Some(moving);
        true
    }

    fn batch(&mut self) -> &mut Moving {
        self.destage.batch.as_mut().expect("a segment is under way")
    }

    pub(super) fn destage_read(&mut self, now: Nanos) {
        if !self.batch().read() {
            return;
        }
        let mut writes = Vec::new();
        for block in self.segments.living() {
            let at = block * BLOCK_BYTES;
            let length = BLOCK_BYTES.min(self.back.capacity_bytes() - at);
            append_run(&mut writes, Run::new(at, length), APPEND_BYTES);
            self.destage.blocks += 1;
        }
        self.batch().writes(writes.len());
        if writes.is_empty() {
            // All of it was written again meanwhile.
            self.finish_batch(now);
        }
        for run in writes {
            self.back
                .submit(now, run.request(Kind::Write), Back::Destage);
        }
    }

    pub(super) fn destage_written(&mut self, now: Nanos) {
        if self.batch().written() {
            self.back.submit(now, Request::flush(), Back::DestageFlush);
        }
    }

    pub(super) fn destage_flushed(&mut self, now: Nanos) {
        self.batch().flushed();
        self.finish_batch(now);
    }

    pub(super) fn destage_stable(&mut self, now: Nanos) {
        self.batch().stable();
        self.finish_batch(now);
    }

    /// The log can drop blocks that are stable on the back.
    fn finish_batch(&mut self, now: Nanos) {
        if !self.batch().has_arrived() {
            return;
        }
        self.destage.batch = None;
        self.segments.free_oldest();
        self.append(now);
    }
}
