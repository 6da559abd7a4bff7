//! Reads, writes and discards.

use super::spans::{Span, spans};
use super::{Back, Cache, Front, RUN_BYTES};
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::parts::{Run, append_run};

impl Cache {
    pub(super) fn read(&mut self, now: Nanos, id: Tag, request: Request) {
        let streams = self.streams.follow(request);
        let (mut hits, mut missed) = (Vec::new(), Vec::new());
        for span in spans(request.into(), self.line_bytes) {
            let Some((slot, valid)) = self.lines.find(span.number) else {
                append_run(&mut missed, span.run, RUN_BYTES);
                continue;
            };
            self.lines.touch(slot);
            for piece in span.pieces(valid) {
                if piece.held {
                    append_run(&mut hits, self.on_front(slot, &span, piece.run), RUN_BYTES);
                } else {
                    append_run(&mut missed, piece.run, RUN_BYTES);
                }
            }
        }
        for run in hits {
            self.counted.hit += run.length_bytes;
            self.wholes.await_answer(id);
            self.front
                .submit(now, run.request(Kind::Read), Front::For(id));
        }
        for run in missed {
            self.counted.missed += run.length_bytes;
            self.wholes.await_answer(id);
            let purpose = if streams || self.writes_only {
                Back::For(id)
            } else {
                Back::Fetch(id, run)
            };
            self.back.submit(now, run.request(Kind::Read), purpose);
        }
    }

    /// Copies what a read has fetched to the front.
    pub(super) fn promote(&mut self, now: Nanos, fetched: Run) {
        let mut copies = Vec::new();
        for span in spans(fetched, self.line_bytes) {
            let Some(slot) = self.lines.place(span.number) else {
                continue;
            };
            let held = self.lines.find(span.number).map_or(0, |(_, valid)| valid);
            let news = span.whole_blocks & !held;
            for piece in span.pieces(news).filter(|piece| piece.held) {
                append_run(
                    &mut copies,
                    self.on_front(slot, &span, piece.run),
                    RUN_BYTES,
                );
            }
            self.lines.fill(slot, news);
        }
        for run in copies {
            self.counted.copied += run.length_bytes;
            self.front
                .submit(now, run.request(Kind::Write), Front::Copy);
        }
    }

    pub(super) fn write(&mut self, now: Nanos, id: Tag, request: Request) {
        let streams = self.streams.follow(request);
        let (mut cached, mut past) = (Vec::new(), Vec::new());
        let mut news = false;
        for span in spans(request.into(), self.line_bytes) {
            let is_dirty = self.lines.dirt(span.number).0 != 0;
            let goes_past = !is_dirty && (streams || self.lines.dirty_lines() >= self.limit_lines);
            let slot = if goes_past {
                None
            } else {
                self.lines.place(span.number)
            };
            if let Some(slot) = slot {
                news |= self.lines.soil(slot, span.blocks);
                append_run(&mut cached, self.on_front(slot, &span, span.run), RUN_BYTES);
            } else {
                self.lines.forget(span.number, span.blocks);
                append_run(&mut past, span.run, RUN_BYTES);
            }
        }
        for run in cached {
            self.wholes.await_answer(id);
            self.wholes.await_stable(id);
            self.front
                .submit(now, run.request(Kind::Write), Front::For(id));
        }
        for run in past {
            self.go_past(now, id, run.request(Kind::Write));
        }
        if news {
            self.wholes.await_stable(id);
            self.note(now, Some(id));
        }
    }

    /// Asks the back for a write or a discard.
    fn go_past(&mut self, now: Nanos, id: Tag, request: Request) {
        self.counted.past += request.length_bytes;
        self.back_writes += 1;
        self.wholes.await_answer(id);
        self.wholes.await_stable(id);
        self.back.submit(now, request, Back::For(id));
    }

    pub(super) fn discard(&mut self, now: Nanos, id: Tag, request: Request) {
        let mut news = false;
        for span in spans(request.into(), self.line_bytes) {
            news |= self.lines.forget(span.number, span.whole_blocks);
        }
        self.go_past(now, id, request);
        if news {
            self.wholes.await_stable(id);
            self.note(now, Some(id));
        }
    }

    /// The place of a run of a line on the front.
    pub(super) fn on_front(&self, slot: u32, span: &Span, run: Run) -> Run {
        let line_at = self.journal.region_bytes + u64::from(slot) * self.line_bytes;
        let within = run.offset_bytes - span.number * self.line_bytes;
        Run::new(line_at + within, run.length_bytes)
    }
}
