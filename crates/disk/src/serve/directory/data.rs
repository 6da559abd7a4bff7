//! Reading, writing and syncing files.

use fuser::{Errno, ReplyData, ReplyWrite};

use super::transfer::Part;
use super::{Directory, State};
use crate::account::log::Record;
use crate::directory::{BLOCK_BYTES, Cleared, Number, Piece, Run, Sync};
use crate::request::{Kind, Nanos, Request};
use crate::serve::answer::Answer;
use crate::serve::befalling::{landing, spoil};

/// What a sync must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durable {
    /// `fdatasync`, `O_DSYNC`: the bytes, and what is needed to find them.
    Data,
    /// `fsync`, `O_SYNC`: times and owners as well.
    All,
}

impl Directory {
    pub(super) fn read_file(
        &self,
        number: Result<Number, Errno>,
        (offset, length): (u64, u32),
        unit_bytes: u64,
        reply: ReplyData,
    ) {
        let arrived = self.engine.now();
        let state = self.state();
        let pieces = number.and_then(|number| state.tree.read(number, offset, length.into()));
        let pieces = match pieces {
            Ok(pieces) => pieces,
            Err(error) => return reply.error(error),
        };
        let parts = self.parts(Kind::Read, &pieces, unit_bytes, arrived);
        let outcome = parts.and_then(|parts| Ok((self.read_pieces(&pieces, &parts)?, parts)));
        drop(state);
        match outcome {
            Ok((bytes, parts)) => self.transfer(parts, arrived, Answer::Read(reply, bytes)),
            Err(errno) => {
                let answer = Answer::Read(reply, Vec::new());
                self.engine.fail(Kind::Read, answer, errno);
            }
        }
    }

    fn read_pieces(&self, pieces: &[Piece], parts: &[Option<Part>]) -> Result<Vec<u8>, Errno> {
        let contents = self.contents.lock();
        let mut bytes = vec![0; pieces.iter().map(length).sum()];
        let mut rest = &mut bytes[..];
        for (piece, part) in pieces.iter().zip(parts) {
            let (here, after) = rest.split_at_mut(length(piece));
            if let (Some(disk), Some(part)) = (piece.disk_bytes, part) {
                contents.read(disk, here)?;
                spoil(here, disk, &part.befalls);
            }
            rest = after;
        }
        Ok(bytes)
    }

    /// `durable` is for a file that asks for durable writes, if the kernel leaves that to us.
    pub(super) fn write_file(
        &self,
        number: Result<Number, Errno>,
        (offset, bytes): (u64, &[u8]),
        unit_bytes: u64,
        durable: Option<Durable>,
        reply: ReplyWrite,
    ) {
        let arrived = self.engine.now();
        let written = u32::try_from(bytes.len()).expect("a request is bounded");
        let answer = Answer::Written(reply, written);
        let placed =
            number.and_then(|number| self.place(number, (offset, bytes), unit_bytes, arrived));
        let parts = match placed {
            Ok(parts) => parts,
            Err(error) => return self.engine.fail(Kind::Write, answer, error),
        };
        let answer = match (durable, number) {
            (Some(durable), Ok(number)) => self.then_sync(number, durable, answer),
            _ => answer,
        };
        self.transfer(parts, arrived, answer);
    }

    /// Finds a place on the disk for the bytes and puts them there; all or nothing, but for faults.
    fn place(
        &self,
        number: Number,
        (offset, bytes): (u64, &[u8]),
        unit_bytes: u64,
        arrived: Nanos,
    ) -> Result<Vec<Option<Part>>, Errno> {
        let mut state = self.state();
        let moment = state.moment();
        let size_before = state.tree.attributes(number)?.size;
        let pieces = state
            .tree
            .write(number, offset, bytes.len() as u64, moment)?;
        let parts = self.parts(Kind::Write, &pieces, unit_bytes, arrived);
        let written =
            parts.and_then(|parts| self.write_pieces(&pieces, &parts, bytes).map(|()| parts));
        if written.is_err() && offset + bytes.len() as u64 > size_before {
            let cleared = state.tree.truncate(number, size_before, moment)?;
            self.clear(&cleared)?;
        }
        written
    }

    fn write_pieces(
        &self,
        pieces: &[Piece],
        parts: &[Option<Part>],
        bytes: &[u8],
    ) -> Result<(), Errno> {
        let mut contents = self.contents.lock();
        let mut rest = bytes;
        for (piece, part) in pieces.iter().zip(parts) {
            let (here, after) = rest.split_at(length(piece));
            let disk = piece.disk_bytes.expect("what was written has blocks");
            let part = part.as_ref().expect("so it has a request");
            let here = landing(here, disk, part.request, &part.befalls);
            contents.write(disk, &here)?;
            rest = after;
        }
        Ok(())
    }

    /// Keeps the rules that free blocks, and bytes behind a file's end, are zero. It costs no time:
    /// a file system does not report that to its disk either, unless it is mounted with `discard`.
    pub(super) fn clear(&self, cleared: &Cleared) -> Result<(), Errno> {
        let mut contents = self.contents.lock();
        for part in &cleared.parts {
            let disk = part.disk_bytes.expect("holes are not cleared");
            contents.discard(disk, part.length_bytes)?;
        }
        drop(contents);
        self.discard(&cleared.runs)
    }

    pub(super) fn discard(&self, runs: &[Run]) -> Result<(), Errno> {
        let mut contents = self.contents.lock();
        for run in runs {
            contents.discard(run.start * BLOCK_BYTES, run.blocks * BLOCK_BYTES)?;
        }
        Ok(())
    }

    /// The answer to a write that is to be durable: when the write is done, it is synced.
    fn then_sync(&self, number: Number, durable: Durable, answer: Answer) -> Answer {
        let directory = self.clone();
        Answer::Then(Box::new(move |outcome| match outcome {
            Ok(at) => directory.sync(Ok(number), durable, at, answer),
            failed => answer.give(failed),
        }))
    }

    /// Answers when all of a file that was written before is durable.
    pub(super) fn sync(
        &self,
        number: Result<Number, Errno>,
        durable: Durable,
        arrived: Nanos,
        answer: Answer,
    ) {
        let mut state = self.state();
        let changed = number.and_then(|number| Ok(state.tree.inode(number)?.changed));
        let changed = match (changed, durable) {
            (Ok(changed), Durable::Data) => changed.to_reach_data,
            (Ok(changed), Durable::All) => changed.at_all,
            (Err(error), _) => {
                drop(state);
                return answer.give(Err(error));
            }
        };
        let next = state.journal.sync(changed, answer);
        drop(state);
        self.carry_out(next, arrived);
    }

    fn carry_out(&self, sync: Sync<Answer>, at: Nanos) {
        match sync {
            Sync::Wait => {}
            Sync::Flush(answer) => self.flush(at, answer),
            Sync::Commit { offset_bytes } => {
                let directory = self.clone();
                let written = Answer::Then(Box::new(move |outcome| match outcome {
                    Ok(at) => directory.flush_commit(at),
                    Err(errno) => directory.end_commit(Err(errno)),
                }));
                let block = Request::write(offset_bytes, BLOCK_BYTES);
                self.engine.arrive(block, Record::Write, at, written);
            }
        }
    }

    fn flush_commit(&self, at: Nanos) {
        let directory = self.clone();
        let flushed = Answer::Then(Box::new(move |outcome| directory.end_commit(outcome)));
        self.flush(at, flushed);
    }

    fn flush(&self, at: Nanos, answer: Answer) {
        self.engine
            .arrive(Request::flush(), Record::Flush, at, answer);
    }

    fn end_commit(&self, outcome: Result<Nanos, Errno>) {
        let (answers, next) = self.state().journal.committed();
        for answer in answers {
            answer.give(outcome);
        }
        // Each commit that waits fails in its turn.
        self.carry_out(next, outcome.unwrap_or_else(|_| self.engine.now()));
    }

    /// Frees what a file no longer has; the state is the caller's, so that nobody gets the blocks
    /// before they are zero.
    pub(super) fn free(&self, _state: &mut State, runs: &[Run]) {
        // Whole blocks are only freed, which needs no room and fails only on a broken disk; the
        // next read or write then reports that.
        let _ = self.discard(runs);
    }
}

fn length(piece: &Piece) -> usize {
    usize::try_from(piece.length_bytes).expect("a request is bounded")
}
