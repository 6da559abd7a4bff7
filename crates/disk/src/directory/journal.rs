//! The cost of syncing names and attributes: one block in a journal, shared by all who wait for it.
//!
//! The rules are those of ext4's journal in ordered mode, reduced to their time on the disk.
//! Changes join the running transaction. A sync only flushes if its file has not changed since the
//! last commit; otherwise the running transaction is committed by writing one block at the
//! journal's next place and flushing. One commit runs at a time; syncs with newer changes that
//! arrive meanwhile share the next one.

use super::BLOCK_BYTES;
use super::space::Run;

/// A transaction's number. Those below the running one are committed or being committed.
pub(crate) type Transaction = u64;

/// The transaction with a file's last changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changed {
    /// The last change of anything, times included: `fsync` needs it.
    pub(crate) at_all: Transaction,
    /// The last change of size or blocks: `fdatasync` needs it.
    pub(crate) to_reach_data: Transaction,
}

/// The work of a sync.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sync<W> {
    /// Nothing to write: flush the disk, then answer this sync.
    Flush(W),
    /// Write a block at this byte of the disk, flush, then call `committed`.
    Commit { offset_bytes: u64 },
    /// Somebody's commit will answer it.
    Wait,
}

/// The journal of one disk; `W` is what waits for an answer.
#[derive(Debug)]
pub(crate) struct Journal<W> {
    /// Its place on the disk.
    place: Run,
    /// The next block to be written, counted from its first.
    next_block: u64,
    running: Transaction,
    /// Syncs that the current commit answers; `None` while there is no commit.
    committing: Option<Vec<W>>,
    /// Those whom the next commit answers.
    waiting: Vec<W>,
}

impl<W> Journal<W> {
    /// A journal in these blocks of the disk, of which there is at least one.
    pub(crate) fn new(place: Run) -> Self {
        Self {
            place,
            next_block: 0,
            running: 1,
            committing: None,
            waiting: Vec::new(),
        }
    }

    /// The transaction that a change made now belongs to.
    pub(crate) fn running(&self) -> Transaction {
        self.running
    }

    /// Syncs a file whose last relevant change is in the transaction `changed`.
    pub(crate) fn sync(&mut self, changed: Transaction, waiter: W) -> Sync<W> {
        match &mut self.committing {
            Some(_) if changed == self.running => self.waiting.push(waiter),
            Some(joined) if changed + 1 == self.running => joined.push(waiter),
            None if changed == self.running => {
                self.waiting.push(waiter);
                return self.begin();
            }
            _ => return Sync::Flush(waiter),
        }
        Sync::Wait
    }

    fn begin(&mut self) -> Sync<W> {
        let offset_bytes = (self.place.start + self.next_block) * BLOCK_BYTES;
        self.next_block = (self.next_block + 1) % self.place.blocks;
        self.running += 1;
        self.committing = Some(std::mem::take(&mut self.waiting));
        Sync::Commit { offset_bytes }
    }

    /// The current commit has ended: returns whom it answers, and what comes next (`Commit` or
    /// `Wait`).
    pub(crate) fn committed(&mut self) -> (Vec<W>, Sync<W>) {
        let joined = self.committing.take().unwrap_or_default();
        let next = if self.waiting.is_empty() {
            Sync::Wait
        } else {
            self.begin()
        };
        (joined, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal<W>(blocks: u64) -> Journal<W> {
        Journal::new(Run { start: 10, blocks })
    }

    #[test]
    fn a_sync_without_a_change_only_flushes() {
        let mut journal = journal(4);
        assert_eq!(journal.sync(0, 'a'), Sync::Flush('a'));
        let running = journal.running();
        assert_eq!(
            journal.sync(running, 'b'),
            Sync::Commit {
                offset_bytes: 40_960
            }
        );
        assert_eq!(journal.committed(), (vec!['b'], Sync::Wait));
        assert_eq!(journal.sync(running, 'c'), Sync::Flush('c'), "committed");
    }

    #[test]
    fn one_commit_answers_all_that_it_covers() {
        let mut journal = journal(2);
        let first = journal.running();
        assert_eq!(
            journal.sync(first, 'a'),
            Sync::Commit {
                offset_bytes: 40_960
            }
        );
        assert_eq!(
            journal.sync(first, 'b'),
            Sync::Wait,
            "its change is in the commit"
        );
        let second = journal.running();
        assert_eq!(journal.sync(second, 'c'), Sync::Wait);
        assert_eq!(journal.sync(second, 'd'), Sync::Wait);
        assert_eq!(
            journal.sync(0, 'e'),
            Sync::Flush('e'),
            "long since committed"
        );
        let (answered, next) = journal.committed();
        assert_eq!(answered, vec!['a', 'b']);
        assert_eq!(
            next,
            Sync::Commit {
                offset_bytes: 45_056
            },
            "for both who wait"
        );
        assert_eq!(journal.committed(), (vec!['c', 'd'], Sync::Wait));
    }

    #[test]
    fn the_journal_goes_round() {
        let mut journal = journal(2);
        let offsets: Vec<u64> = (0..3)
            .map(|_| {
                let Sync::Commit { offset_bytes } = journal.sync(journal.running(), ()) else {
                    panic!("a change is committed");
                };
                journal.committed();
                offset_bytes
            })
            .collect();
        assert_eq!(offsets, vec![40_960, 45_056, 40_960]);
    }
}
