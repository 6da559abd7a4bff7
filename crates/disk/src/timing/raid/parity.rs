//! RAID 5: where chunks and parity lie, what a write must read first, and one write at a time in a
//! stripe.

use std::collections::VecDeque;

use super::index;
use crate::ledger::Ledger;
use crate::request::Tag;
use crate::timing::Counters;
use crate::timing::parts::{NumberMap, Run};

pub(super) struct Parity {
    disks: u64,
    chunk_bytes: u64,
    under_way: Ledger<Stripe>,
    /// Stripes that are being written, each with the writes that wait for it.
    taken: NumberMap<VecDeque<Tag>>,
    full: u64,
    modified: u64,
    reconstructed: u64,
    waited: u64,
}

/// One request's write to one stripe.
pub(super) struct StripeWrite {
    row: u64,
    /// By data chunk: start and end within the chunk.
    data: Vec<(u64, u64, u64)>,
}

struct Stripe {
    whole: Tag,
    write: StripeWrite,
    reads_due: usize,
    answers_due: usize,
    stables_due: usize,
}

impl Parity {
    pub(super) fn new(disks: u64, chunk_bytes: u64) -> Self {
        Self {
            disks,
            chunk_bytes,
            under_way: Ledger::default(),
            taken: NumberMap::default(),
            full: 0,
            modified: 0,
            reconstructed: 0,
            waited: 0,
        }
    }

    fn data_chunks(&self) -> u64 {
        self.disks - 1
    }

    fn parity_disk(&self, row: u64) -> usize {
        index(self.disks - 1 - row % self.disks)
    }

    /// Left-symmetric: data begins behind the parity and goes round.
    fn data_disk(&self, row: u64, chunk: u64) -> usize {
        index((self.parity_disk(row) as u64 + 1 + chunk) % self.disks)
    }

    /// The disk of a chunk, and its row there.
    pub(super) fn place(&self, chunk: u64) -> (usize, u64) {
        let row = chunk / self.data_chunks();
        (self.data_disk(row, chunk % self.data_chunks()), row)
    }

    /// A write's pieces, stripe by stripe.
    pub(super) fn writes(&self, run: Run) -> Vec<StripeWrite> {
        let mut writes: Vec<StripeWrite> = Vec::new();
        let mut at = run.offset_bytes;
        while at < run.end_bytes() {
            let (chunk, from) = (at / self.chunk_bytes, at % self.chunk_bytes);
            let length = (self.chunk_bytes - from).min(run.end_bytes() - at);
            let row = chunk / self.data_chunks();
            let piece = (chunk % self.data_chunks(), from, from + length);
            match writes.last_mut() {
                Some(last) if last.row == row => last.data.push(piece),
                _ => writes.push(StripeWrite {
                    row,
                    data: vec![piece],
                }),
            }
            at += length;
        }
        writes
    }

    /// The rows of all disks that a run covers whole.
    pub(super) fn whole_rows(&self, run: Run) -> Run {
        let stripe_bytes = self.chunk_bytes * self.data_chunks();
        let from = run.offset_bytes.div_ceil(stripe_bytes);
        let to = (run.end_bytes() / stripe_bytes).max(from);
        Run::new(from * self.chunk_bytes, (to - from) * self.chunk_bytes)
    }

    /// Takes a write; returns it if its stripe is free, else it waits for its turn.
    pub(super) fn enter(&mut self, whole: Tag, write: StripeWrite) -> Option<Tag> {
        let row = write.row;
        let id = self.under_way.insert(Stripe {
            whole,
            write,
            reads_due: 0,
            answers_due: 0,
            stables_due: 0,
        });
        if let Some(queue) = self.taken.get_mut(&row) {
            queue.push_back(id);
            self.waited += 1;
            return None;
        }
        self.taken.insert(row, VecDeque::new());
        Some(id)
    }

    /// The reads before a stripe can be written: the old data and parity (read, modify, write), or
    /// the data that is not written (reconstruct), whichever has fewer bytes.
    pub(super) fn begin(&mut self, id: Tag) -> Vec<(usize, Run)> {
        let write = &self.stripe(id).write;
        let (row, data) = (write.row, write.data.clone());
        let (low, high) = extent(&data);
        let mut old: Vec<(usize, Run)> = data
            .iter()
            .map(|(chunk, from, to)| self.data_run(row, *chunk, *from, *to))
            .collect();
        old.push(self.parity_run(row, low, high));
        let others = self.others(row, &data);
        let bytes =
            |runs: &[(usize, Run)]| runs.iter().map(|(_, run)| run.length_bytes).sum::<u64>();
        let reads = if others.is_empty() {
            self.full += 1;
            others
        } else if bytes(&others) < bytes(&old) {
            self.reconstructed += 1;
            others
        } else {
            self.modified += 1;
            old
        };
        self.stripe(id).reads_due = reads.len();
        reads
    }

    /// Within the extent of the parity, the data that a write leaves as it is.
    fn others(&self, row: u64, data: &[(u64, u64, u64)]) -> Vec<(usize, Run)> {
        let (low, high) = extent(data);
        let mut others = Vec::new();
        for chunk in 0..self.data_chunks() {
            let written = data.iter().find(|(mine, ..)| *mine == chunk);
            let (from, to) = written.map_or((high, high), |(_, from, to)| (*from, *to));
            for (from, to) in [(low, from), (to, high)] {
                if from < to {
                    others.push(self.data_run(row, chunk, from, to));
                }
            }
        }
        others
    }

    /// Whether all reads are done.
    pub(super) fn was_read(&mut self, id: Tag) -> bool {
        let stripe = self.stripe(id);
        stripe.reads_due -= 1;
        stripe.reads_due == 0
    }

    /// The writes: the data, and the parity of their extent.
    pub(super) fn write(&mut self, id: Tag) -> Vec<(usize, Run)> {
        let write = &self.stripe(id).write;
        let (row, data) = (write.row, write.data.clone());
        let (low, high) = extent(&data);
        let mut writes: Vec<(usize, Run)> = data
            .iter()
            .map(|(chunk, from, to)| self.data_run(row, *chunk, *from, *to))
            .collect();
        writes.push(self.parity_run(row, low, high));
        let stripe = self.stripe(id);
        (stripe.answers_due, stripe.stables_due) = (writes.len(), writes.len());
        writes
    }

    /// After the last answer: the write that it completes, and the one that waits for the stripe.
    pub(super) fn was_written(&mut self, id: Tag) -> Option<(Tag, Option<Tag>)> {
        let stripe = self.stripe(id);
        stripe.answers_due -= 1;
        if stripe.answers_due > 0 {
            return None;
        }
        let (whole, row) = (stripe.whole, stripe.write.row);
        self.remove_if_done(id);
        let queue = self.taken.get_mut(&row).expect("the stripe is taken");
        let next = queue.pop_front();
        if next.is_none() {
            self.taken.remove(&row);
        }
        Some((whole, next))
    }

    /// After the last stability: the write that it completes.
    pub(super) fn is_stable(&mut self, id: Tag) -> Option<Tag> {
        let stripe = self.stripe(id);
        stripe.stables_due -= 1;
        if stripe.stables_due > 0 {
            return None;
        }
        let whole = stripe.whole;
        self.remove_if_done(id);
        Some(whole)
    }

    fn remove_if_done(&mut self, id: Tag) {
        let stripe = self.stripe(id);
        if stripe.answers_due == 0 && stripe.stables_due == 0 {
            self.under_way.remove(id);
        }
    }

    /// Whether no stripe is being written.
    #[cfg(test)]
    pub(super) fn rests(&self) -> bool {
        self.under_way.is_empty() && self.taken.is_empty()
    }

    fn stripe(&mut self, id: Tag) -> &mut Stripe {
        self.under_way.get_mut(id).expect("a stripe under way")
    }

    fn data_run(&self, row: u64, chunk: u64, from: u64, to: u64) -> (usize, Run) {
        let run = Run::new(row * self.chunk_bytes + from, to - from);
        (self.data_disk(row, chunk), run)
    }

    fn parity_run(&self, row: u64, from: u64, to: u64) -> (usize, Run) {
        let run = Run::new(row * self.chunk_bytes + from, to - from);
        (self.parity_disk(row), run)
    }

    pub(super) fn count_into(&self, counters: &mut Counters) {
        for (name, value) in [
            ("full_stripe_writes", self.full),
            ("read_modify_writes", self.modified),
            ("reconstruct_writes", self.reconstructed),
            ("stripe_waits", self.waited),
        ] {
            counters.insert(name.to_owned(), value);
        }
    }
}

/// From the first to the last byte within a chunk.
fn extent(data: &[(u64, u64, u64)]) -> (u64, u64) {
    let low = data.iter().map(|(_, from, _)| *from).min();
    let high = data.iter().map(|(.., to)| *to).max();
    low.zip(high).expect("a write writes something")
}
