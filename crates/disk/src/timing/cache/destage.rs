//! Dirty lines on their way to the back.

use super::lines::BLOCK_BYTES;
use super::spans::spans;
use super::{Back, Cache, Deed, Front, RUN_BYTES};
use crate::request::{Kind, Nanos, Request};
use crate::timing::parts::{Run, append_run};

/// Lines of one batch: enough for a disk to put them into a good order, few enough that those who ask
/// meanwhile do not wait long.
const BATCH_LINES: usize = 64;

/// When dirty lines are written back, and the batch that is under way.
#[derive(Default)]
pub(super) struct Destage {
    above_lines: usize,
    /// Lines are written back once nothing was asked for so long.
    idle_ns: Nanos,
    pub(super) last_asked: Nanos,
    /// The agenda will ring when that is so.
    pub(super) armed: bool,
    /// The line at which the next batch begins: lines are written back in one direction, as a lift
    /// goes.
    hand: u64,
    batch: Option<Batch>,
    pub(super) batches: u64,
    pub(super) blocks: u64,
}

/// Lines that are read from the front together, then written to the back together, then flushed.
#[derive(Default)]
struct Batch {
    /// Number and version.
    lines: Vec<(u64, u64)>,
    writes: Vec<Run>,
    reads_due: usize,
    answers_due: usize,
    stables_due: usize,
    flushed: bool,
}

impl Destage {
    pub(super) fn new(above_lines: usize, idle_ns: Nanos) -> Self {
        Self {
            above_lines,
            idle_ns,
            ..Self::default()
        }
    }
}

impl Cache {
    /// Begins a batch if too many lines are dirty or no request waits; otherwise sets an alarm for
    /// when the device will be idle.
    pub(super) fn destage_if_wanted(&mut self, now: Nanos) {
        let dirty = self.lines.dirty_lines();
        if dirty == 0 || self.destage.batch.is_some() {
            return;
        }
        let is_busy = self.wholes.answers_due() > 0;
        let destage = &mut self.destage;
        if is_busy {
            destage.last_asked = now;
        }
        let idle_at = destage.last_asked + destage.idle_ns;
        if dirty > destage.above_lines || (!is_busy && now >= idle_at) {
            self.begin_batch(now);
        } else if !is_busy && !destage.armed {
            destage.armed = true;
            self.agenda.enter(idle_at, Deed::Idle);
        }
    }

    fn begin_batch(&mut self, now: Nanos) {
        let numbers: Vec<u64> = self
            .lines
            .dirty_from(self.destage.hand)
            .take(BATCH_LINES)
            .collect();
        let mut batch = Batch::default();
        let mut reads = Vec::new();
        for number in numbers {
            let (slot, _) = self.lines.find(number).expect("a dirty line is here");
            let (dirt, version) = self.lines.dirt(number);
            batch.lines.push((number, version));
            let at = number * self.line_bytes;
            let length = self.line_bytes.min(self.back.capacity_bytes() - at);
            for span in spans(Run::new(at, length), self.line_bytes) {
                for piece in span.pieces(dirt).filter(|piece| piece.held) {
                    append_run(&mut batch.writes, piece.run, RUN_BYTES);
                    append_run(&mut reads, self.on_front(slot, &span, piece.run), RUN_BYTES);
                    self.destage.blocks += piece.run.length_bytes / BLOCK_BYTES;
                }
            }
            self.destage.hand = number + 1;
        }
        batch.reads_due = reads.len();
        self.destage.batch = Some(batch);
        self.destage.batches += 1;
        for run in reads {
            self.front
                .submit(now, run.request(Kind::Read), Front::Destage);
        }
    }

    fn batch(&mut self) -> &mut Batch {
        self.destage.batch.as_mut().expect("a batch is under way")
    }

    pub(super) fn destage_read(&mut self, now: Nanos) {
        let batch = self.batch();
        batch.reads_due -= 1;
        if batch.reads_due > 0 {
            return;
        }
        let writes = std::mem::take(&mut batch.writes);
        (batch.answers_due, batch.stables_due) = (writes.len(), writes.len());
        for run in writes {
            self.back
                .submit(now, run.request(Kind::Write), Back::Destage);
        }
    }

    pub(super) fn destage_written(&mut self, now: Nanos) {
        let batch = self.batch();
        batch.answers_due -= 1;
        if batch.answers_due == 0 {
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

    /// Lines whose copies are stable are clean, and a note says so.
    fn finish_batch(&mut self, now: Nanos) {
        let batch = self.batch();
        if !batch.flushed || batch.stables_due > 0 {
            return;
        }
        let batch = self.destage.batch.take().expect("it was seen");
        for (number, version) in batch.lines {
            if self.lines.clean(number, version) {
                if self.writes_only {
                    self.lines.forget(number, u64::MAX);
                }
                self.note(now, None);
            }
        }
    }
}
