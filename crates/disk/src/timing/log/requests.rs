//! Reads, writes, discards and flushes.

use super::segments::BLOCK_BYTES;
use super::{APPEND_BYTES, Append, Back, Deed, Front, Log, Waiting};
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::Event;
use crate::timing::parts::{Run, append_run};

impl Log {
    pub(super) fn read(&mut self, now: Nanos, id: Tag, request: Request) {
        let (mut in_log, mut on_back) = (Vec::new(), Vec::new());
        for block in blocks(request) {
            let from = (block * BLOCK_BYTES).max(request.offset_bytes);
            let to = ((block + 1) * BLOCK_BYTES).min(request.end_bytes());
            match self.segments.find(block) {
                Some(place) => {
                    let run = Run::new(place + from % BLOCK_BYTES, to - from);
                    append_run(&mut in_log, run, APPEND_BYTES);
                }
                None => append_run(&mut on_back, Run::new(from, to - from), APPEND_BYTES),
            }
        }
        for run in in_log {
            self.counted.read_log_bytes += run.length_bytes;
            self.wholes.await_answer(id);
            self.front
                .submit(now, run.request(Kind::Read), Front::For(id));
        }
        for run in on_back {
            self.counted.read_back_bytes += run.length_bytes;
            self.wholes.await_answer(id);
            self.back
                .submit(now, run.request(Kind::Read), Back::For(id));
        }
    }

    pub(super) fn write(&mut self, now: Nanos, id: Tag, request: Request) {
        let blocks = blocks(request);
        let length_bytes = (blocks.end - blocks.start) * BLOCK_BYTES;
        if length_bytes > APPEND_BYTES || self.segments.count() < 2 {
            self.go_past(now, id, request);
            self.forget(now, id, blocks);
        } else {
            self.enqueue(now, id, blocks);
        }
    }

    pub(super) fn discard(&mut self, now: Nanos, id: Tag, request: Request) {
        let whole = request.offset_bytes.div_ceil(BLOCK_BYTES)..request.end_bytes() / BLOCK_BYTES;
        self.go_past(now, id, request);
        self.forget(now, id, whole);
    }

    /// The log's copies of these blocks are no longer valid. If there were any, a header records
    /// that; otherwise a reader of the log after a power cut would take them for the newest.
    fn forget(&mut self, now: Nanos, id: Tag, blocks: std::ops::Range<u64>) {
        let mut was_logged = false;
        for block in blocks {
            was_logged |= self.segments.find(block).is_some();
            self.segments.forget(block);
        }
        if was_logged {
            self.enqueue(now, id, 0..0);
        }
    }

    /// Asks the back for a write or a discard.
    fn go_past(&mut self, now: Nanos, id: Tag, request: Request) {
        self.counted.past_bytes += request.length_bytes;
        self.back_writes += 1;
        self.wholes.await_answer(id);
        self.wholes.await_stable(id);
        self.back.submit(now, request, Back::For(id));
    }

    fn enqueue(&mut self, now: Nanos, id: Tag, blocks: std::ops::Range<u64>) {
        self.wholes.await_answer(id);
        self.wholes.await_stable(id);
        if self.waiting.is_empty() && !self.is_appending {
            // Not at once: what comes at the same moment goes with it.
            self.agenda.enter(now, Deed::Append);
        }
        self.waiting.push_back(Waiting { id, blocks });
    }

    /// Appends what waits, as much as one append and the segment hold.
    pub(super) fn append(&mut self, now: Nanos) {
        if self.is_appending {
            return;
        }
        let Some(next) = self.waiting.front() else {
            return;
        };
        let Some(room) = self.segments.make_room(next.length_bytes()) else {
            self.counted.waits_for_room += 1;
            self.destage_if_wanted(now);
            return;
        };
        let mut left = room.min(APPEND_BYTES);
        let (mut wholes, mut blocks) = (Vec::new(), Vec::new());
        while let Some(next) = self.waiting.front()
            && next.length_bytes() <= left
        {
            left -= next.length_bytes();
            let next = self.waiting.pop_front().expect("it was seen");
            wholes.push(next.id);
            blocks.extend(next.blocks);
        }
        let (at, length) = self.segments.append(&blocks);
        self.counted.appends += 1;
        self.counted.appended_bytes += length;
        self.is_appending = true;
        let append = self.appends.insert(Append {
            wholes,
            answered: false,
            stable: false,
        });
        self.front
            .submit(now, Request::write(at, length), Front::Append(append));
    }

    pub(super) fn flush(&mut self, now: Nanos, id: Tag) {
        self.wholes.await_answer(id);
        self.front.submit(now, Request::flush(), Front::For(id));
        if self.back_writes > self.back_flushed {
            self.wholes.await_answer(id);
            self.back
                .submit(now, Request::flush(), Back::Flush(id, self.back_writes));
        }
    }

    pub(super) fn appended(&mut self, now: Nanos, id: Tag, events: &mut Vec<Event>) {
        let append = self.appends.get_mut(id).expect("an append under way");
        append.answered = true;
        for whole in &append.wholes {
            self.wholes.answer(*whole, now, events);
        }
        if append.stable {
            self.appends.remove(id);
        }
        self.is_appending = false;
        self.append(now);
    }

    pub(super) fn append_is_stable(&mut self, now: Nanos, id: Tag, events: &mut Vec<Event>) {
        let append = self.appends.get_mut(id).expect("an append under way");
        append.stable = true;
        for whole in &append.wholes {
            self.wholes.stable(*whole, now, events);
        }
        if append.answered {
            self.appends.remove(id);
        }
    }
}

/// The blocks that a request touches.
fn blocks(request: Request) -> std::ops::Range<u64> {
    request.offset_bytes / BLOCK_BYTES..request.end_bytes().div_ceil(BLOCK_BYTES)
}
