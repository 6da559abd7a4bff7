//! Notes of which lines are newer on the front, written together.

use crate::ledger::Ledger;
use crate::request::{NANOS_PER_MS, Nanos, Tag};
use crate::timing::parts::Run;

/// How long a note waits for others unless somebody flushes; bcache's `journal_delay_ms` by
/// default.
const DELAY: Nanos = 100 * NANOS_PER_MS;

const BLOCK_BYTES: u64 = 4096;

/// A key of bcache with its checksum and generation takes about so much.
const NOTES_PER_BLOCK: u64 = BLOCK_BYTES / 32;

/// The journal is written round and round in a region at the start of the front.
const MOST_BYTES: u64 = 64 << 20;
const SHARE: u64 = 64;

/// Notes in order. One write of the journal is in progress at a time, and takes all notes that came
/// before it.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) region_bytes: u64,
    head_bytes: u64,
    waiting: Vec<Tag>,
    noted: u64,
    /// Notes in the writes that were begun.
    begun: u64,
    written: u64,
    under_way: bool,
    /// The oldest note that waits is written by then.
    due: Option<Nanos>,
    unstable: Ledger<Vec<Tag>>,
    pub(super) writes: u64,
}

impl Journal {
    /// Bytes of the front that the journal takes.
    pub(super) fn bytes(front_bytes: u64) -> u64 {
        (front_bytes / SHARE).clamp(BLOCK_BYTES, MOST_BYTES) / BLOCK_BYTES * BLOCK_BYTES
    }

    pub(super) fn new(region_bytes: u64) -> Self {
        Self {
            region_bytes,
            ..Self::default()
        }
    }

    /// Notes so far, and how many of them are written.
    pub(super) fn noted(&self) -> u64 {
        self.noted
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Takes a note; returns when to write it, if that is not yet set.
    pub(super) fn note(&mut self, now: Nanos, id: Option<Tag>) -> Option<Nanos> {
        self.noted += 1;
        self.waiting.extend(id);
        self.arm(now)
    }

    fn arm(&mut self, now: Nanos) -> Option<Nanos> {
        if self.due.is_some() || self.under_way || self.begun == self.noted {
            return None;
        }
        self.due = Some(now + DELAY);
        self.due
    }

    pub(super) fn is_due(&self, now: Nanos) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Starts writing all waiting notes, unless there are none or a write is in progress.
    pub(super) fn write(&mut self) -> Option<(Tag, Run)> {
        if self.under_way || self.begun == self.noted {
            return None;
        }
        let blocks = (self.noted - self.begun).div_ceil(NOTES_PER_BLOCK);
        let length_bytes = (blocks * BLOCK_BYTES).min(self.region_bytes);
        if self.head_bytes + length_bytes > self.region_bytes {
            self.head_bytes = 0;
        }
        let run = Run::new(self.head_bytes, length_bytes);
        self.head_bytes += length_bytes;
        self.begun = self.noted;
        self.under_way = true;
        self.due = None;
        self.writes += 1;
        let id = self.unstable.insert(std::mem::take(&mut self.waiting));
        Some((id, run))
    }

    /// The write is answered; returns when the next is to begin, if notes wait for it.
    pub(super) fn answered(&mut self, now: Nanos) -> Option<Nanos> {
        self.under_way = false;
        self.written = self.begun;
        self.arm(now)
    }

    /// A write is stable: for these, the note was missing.
    pub(super) fn stable(&mut self, id: Tag) -> Vec<Tag> {
        self.unstable.remove(id).expect("it was written")
    }
}
