//! Flushes, and when the journal is written.

use super::{Back, Cache, Deed, Front, WaitingFlush};
use crate::request::{Kind, Nanos, Request, Tag};

impl Cache {
    /// Enters a note in the journal, for the write that becomes stable with it, if any.
    pub(super) fn note(&mut self, now: Nanos, id: Option<Tag>) {
        if let Some(due) = self.journal.note(now, id) {
            self.agenda.enter(due, Deed::Journal);
        }
    }

    pub(super) fn flush(&mut self, now: Nanos, id: Tag) {
        self.wholes.await_answer(id);
        let notes = self.journal.noted();
        self.flushes.push(WaitingFlush { id, notes });
        self.write_journal(now);
        self.flush_what_is_noted(now);
    }

    pub(super) fn write_journal(&mut self, now: Nanos) {
        if let Some((id, run)) = self.journal.write() {
            self.front
                .submit(now, run.request(Kind::Write), Front::Journal(id));
        }
    }

    /// Flushes the front for the flushes with written notes.
    pub(super) fn flush_what_is_noted(&mut self, now: Nanos) {
        let written = self.journal.written();
        let ready: Vec<WaitingFlush> = self
            .flushes
            .extract_if(.., |flush| flush.notes <= written)
            .collect();
        for WaitingFlush { id, .. } in ready {
            self.front.submit(now, Request::flush(), Front::For(id));
            if self.back_writes > self.back_flushed {
                self.wholes.await_answer(id);
                self.back
                    .submit(now, Request::flush(), Back::Flush(id, self.back_writes));
            }
        }
        if !self.flushes.is_empty() {
            self.write_journal(now);
        }
    }
}
