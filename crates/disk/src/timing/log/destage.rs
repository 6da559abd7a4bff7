//! Segments of the log on their way to the SSD.

use super::segments::BLOCK_BYTES;
use super::{APPEND_BYTES, Back, Deed, Front, Log};
use crate::request::{Kind, Nanos, Request};
use crate::timing::parts::{Run, append_run};

/// When segments are destaged, and the one that is under way.
pub(super) struct Destage {
    above_segments: f64,
    idle_ns: Nanos,
    last_asked: Nanos,
    armed: bool,
    batch: Option<Batch>,
    pub(super) blocks: u64,
    pub(super) segments: u64,
}

/// The oldest segment: read, then written to the back, then flushed there.
struct Batch {
    reads_due: usize,
    answers_due: usize,
    stables_due: usize,
    flushed: bool,
}

impl Destage {
    pub(super) fn new(above_segments: f64, idle_ns: Nanos) -> Self {
        Self {
            above_segments,
            idle_ns,
            last_asked: 0,
            armed: false,
            batch: None,
            blocks: 0,
            segments: 0,
        }
    }

    pub(super) fn asked(&mut self, now: Nanos) {
        self.last_asked = now;
    }

    pub(super) fn rang(&mut self) {
        self.armed = false;
    }
}

impl Log {
    /// Begins with the oldest segment where too many are taken, or where nobody asks for anything; else
    /// makes sure to be woken when that is so.
    pub(super) fn destage_if_wanted(&mut self, now: Nanos) {
        while self.destage.batch.is_none() && self.segments.taken() > 0 {
            let is_busy = self.wholes.answers_due() > 0;
            if is_busy {
                self.destage.last_asked = now;
            }
            let idle_at = self.destage.last_asked + self.destage.idle_ns;
            let is_idle = !is_busy && now >= idle_at;
            let taken = self.segments.taken();
            let many = taken as f64 > self.destage.above_segments || taken == self.segments.count();
            // The segment that is being filled is left alone while somebody fills it.
            if (is_idle || many) && self.begin_batch(now, is_idle) {
                continue;
            }
            if !is_busy && !self.destage.armed {
                self.destage.armed = true;
                self.agenda.enter(idle_at, Deed::Idle);
            }
            return;
        }
    }

    /// Begins with the oldest segment; false where it may not be touched.
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
        let mut reads = 0;
        let mut from = 0;
        while from < used_bytes {
            let length = (used_bytes - from).min(APPEND_BYTES);
            let request = Request::read(at + from, length);
            self.front.submit(now, request, Front::Destage);
            from += length;
            reads += 1;
        }
        self.destage.batch = Some(Batch {
            reads_due: reads,
            answers_due: 0,
            stables_due: 0,
            flushed: false,
        });
        true
    }

    fn batch(&mut self) -> &mut Batch {
        self.destage.batch.as_mut().expect("a segment is under way")
    }

    pub(super) fn destage_read(&mut self, now: Nanos) {
        self.batch().reads_due -= 1;
        if self.batch().reads_due > 0 {
            return;
        }
        let mut writes = Vec::new();
        for block in self.segments.living() {
            let at = block * BLOCK_BYTES;
            let length = BLOCK_BYTES.min(self.back.capacity_bytes() - at);
            append_run(&mut writes, Run::new(at, length), APPEND_BYTES);
            self.destage.blocks += 1;
        }
        let batch = self.batch();
        (batch.answers_due, batch.stables_due) = (writes.len(), writes.len());
        if writes.is_empty() {
            // All of it was written again meanwhile.
            batch.flushed = true;
            self.finish_batch(now);
        }
        for run in writes {
            self.back
                .submit(now, run.request(Kind::Write), Back::Destage);
        }
    }

    pub(super) fn destage_written(&mut self, now: Nanos) {
        self.batch().answers_due -= 1;
        if self.batch().answers_due == 0 {
            self.back.submit(now, Request::flush(), Back::DestageFlush);
        }
    }

    pub(super) fn destage_flushed(&mut self, now: Nanos) {
        self.batch().flushed = true;
        self.finish_batch(now);
    }

    pub(super) fn destage_stable(&mut self, now: Nanos) {
        self.batch().stables_due -= 1;
        self.finish_batch(now);
    }

    /// What is stable on the back need not be in the log.
    fn finish_batch(&mut self, now: Nanos) {
        let batch = self.batch();
        if !batch.flushed || batch.stables_due > 0 {
            return;
        }
        self.destage.batch = None;
        self.segments.free_oldest();
        self.append(now);
    }
}
