//! Reads, writes and truncations of a file, as blocks on the disk.
//!
//! Two rules make a hole read like a block that was never written: the bytes of a free block are
//! zero, and so are the bytes of a last block beyond the file's size. The callers of `truncate`,
//! `punch` and whatever returns freed runs keep these rules by zeroing the runs returned.

use fuser::Errno;

use super::BLOCK_BYTES;
use super::extents::Stretch;
use super::inode::{File, Kind, Number};
use super::space::{Run, Space};
use super::tree::{Moment, Result, Tree};

/// A file grows into blocks kept for it: as many as it has, up to 8 MiB (ext4's preallocation, too,
/// grows with the file). Files that grow side by side stay in one piece each.
const RESERVE_BLOCKS_MAX: u64 = 2048;

/// A part of a transfer that lies together on the disk, or in a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) length_bytes: u64,
    /// `None`: a hole, which reads as zeroes.
    pub(crate) disk_bytes: Option<u64>,
}

/// Ranges that must read as zeroes from now on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cleared {
    /// Free again.
    pub(crate) runs: Vec<Run>,
    /// Still the file's.
    pub(crate) parts: Vec<Piece>,
}

impl Tree {
    fn file(&self, number: Number) -> Result<&File> {
        match &self.inode(number)?.kind {
            Kind::File(file) => Ok(file),
            Kind::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    fn file_mut(&mut self, number: Number) -> Result<(&mut File, &mut Space, &mut u64)> {
        let inode = self.inodes.get_mut(&number).ok_or(Errno::ESTALE)?;
        match &mut inode.kind {
            Kind::File(file) => Ok((file, &mut self.space, &mut self.last_block)),
            Kind::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The blocks of a range, up to the end of the file.
    pub(crate) fn read(&self, number: Number, offset: u64, length: u64) -> Result<Vec<Piece>> {
        let file = self.file(number)?;
        let end = end(offset, length)?.min(file.size_bytes);
        Ok(pieces(file, offset.min(end), end))
    }

    /// The blocks to write a range to; the file gets the blocks and the size that this takes.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if the disk has too few blocks; nothing has changed then.
    pub(crate) fn write(
        &mut self,
        number: Number,
        offset: u64,
        length: u64,
        moment: Moment,
    ) -> Result<Vec<Piece>> {
        let end = end(offset, length)?;
        let grown = self.allocate(number, offset, end)?;
        let (file, ..) = self.file_mut(number)?;
        let longer = end > file.size_bytes && length > 0;
        if longer {
            file.size_bytes = end;
        }
        let written = pieces(file, offset, end);
        self.file_changed(number, grown || longer, moment)?;
        Ok(written)
    }

    /// Gives a file the blocks from `offset` on. Blocks that were never written read as zeroes.
    pub(crate) fn preallocate(
        &mut self,
        number: Number,
        offset: u64,
        length: u64,
        keep_size: bool,
        moment: Moment,
    ) -> Result<()> {
        let end = end(offset, length)?;
        self.allocate(number, offset, end)?;
        let (file, ..) = self.file_mut(number)?;
        if !keep_size {
            file.size_bytes = file.size_bytes.max(end);
        }
        self.file_changed(number, true, moment)
    }

    pub(crate) fn truncate(
        &mut self,
        number: Number,
        size_bytes: u64,
        moment: Moment,
    ) -> Result<Cleared> {
        end(size_bytes, 0)?;
        let (file, space, _) = self.file_mut(number)?;
        let mut cleared = Cleared::default();
        if size_bytes < file.size_bytes {
            let block_end = size_bytes.next_multiple_of(BLOCK_BYTES);
            cleared.parts = pieces(file, size_bytes, block_end.min(file.size_bytes));
            cleared.parts.retain(|part| part.disk_bytes.is_some());
        }
        if size_bytes <= file.size_bytes {
            cleared.runs = file
                .extents
                .remove(size_bytes.div_ceil(BLOCK_BYTES), u64::MAX);
            let reserve = file.reserve.take();
            for &run in cleared.runs.iter().chain(&reserve) {
                space.release(run);
            }
        }
        file.size_bytes = size_bytes;
        self.file_changed(number, true, moment)?;
        Ok(cleared)
    }

    /// Makes a hole of whole blocks and zeroes of what is left at its ends; the size stays.
    pub(crate) fn punch(
        &mut self,
        number: Number,
        offset: u64,
        length: u64,
        moment: Moment,
    ) -> Result<Cleared> {
        let end = end(offset, length)?;
        let (file, space, _) = self.file_mut(number)?;
        let (first, last) = (
            offset.next_multiple_of(BLOCK_BYTES),
            end - end % BLOCK_BYTES,
        );
        let mut cleared = Cleared::default();
        if first < last {
            cleared.parts.extend(pieces(file, offset, first));
            cleared.parts.extend(pieces(file, last, end));
            cleared.runs = file
                .extents
                .remove(first / BLOCK_BYTES, (last - first) / BLOCK_BYTES);
            for &run in &cleared.runs {
                space.release(run);
            }
        } else {
            cleared.parts = pieces(file, offset, end);
        }
        cleared.parts.retain(|part| part.disk_bytes.is_some());
        self.file_changed(number, true, moment)?;
        Ok(cleared)
    }

    /// Blocks that could still be written.
    pub(crate) fn free_blocks(&self) -> u64 {
        let reserves = self.inodes.values().map(|inode| match &inode.kind {
            Kind::File(file) => file.reserve.map_or(0, |reserve| reserve.blocks),
            _ => 0,
        });
        self.space.free_blocks() + reserves.sum::<u64>()
    }

    fn file_changed(&mut self, number: Number, size_or_blocks: bool, moment: Moment) -> Result<()> {
        let inode = self.inode_mut(number)?;
        inode.modified = moment.now;
        inode.touch(moment);
        if size_or_blocks {
            inode.changed.to_reach_data = moment.transaction;
        }
        Ok(())
    }

    /// Fills the holes between two bytes of a file with blocks; whether there were any.
    fn allocate(&mut self, number: Number, offset: u64, end: u64) -> Result<bool> {
        let first = offset / BLOCK_BYTES;
        let blocks = end.div_ceil(BLOCK_BYTES) - first;
        let mut holes = self.file(number)?.extents.stretches(first, blocks);
        holes.retain(|stretch| stretch.disk.is_none());
        let wanted: u64 = holes.iter().map(|hole| hole.blocks).sum();
        if wanted > self.space.free_blocks() {
            self.give_up_reserves();
        }
        if wanted > self.space.free_blocks() {
            return Err(Errno::ENOSPC);
        }
        let (file, space, last_block) = self.file_mut(number)?;
        for hole in &holes {
            fill(file, space, last_block, *hole);
        }
        Ok(!holes.is_empty())
    }

    fn give_up_reserves(&mut self) {
        for inode in self.inodes.values_mut() {
            if let Kind::File(file) = &mut inode.kind
                && let Some(reserve) = file.reserve.take()
            {
                self.space.release(reserve);
            }
        }
    }
}

/// Fills a hole. There are blocks enough: free ones, or the file's own reserve.
fn fill(file: &mut File, space: &mut Space, last_block: &mut u64, hole: Stretch) {
    let (mut at, end) = (hole.at, hole.at + hole.blocks);
    while at < end {
        let goal = file.extents.goal(at);
        let run = match file.reserve.take() {
            Some(reserve) if goal.is_none_or(|goal| goal == reserve.start) => reserve,
            reserve => {
                if let Some(reserve) = reserve {
                    space.release(reserve);
                }
                let room = (end - at).max(file.extents.blocks().min(RESERVE_BLOCKS_MAX));
                goal.and_then(|goal| space.take_at(goal, room))
                    .or_else(|| space.take_near(*last_block, room))
                    .expect("free blocks were counted")
            }
        };
        let (taken, rest) = run.split(end - at);
        file.reserve = (rest.blocks > 0).then_some(rest);
        file.extents.insert(at, taken);
        at += taken.blocks;
        *last_block = run.end();
    }
}

/// The pieces of a file between two bytes.
fn pieces(file: &File, from: u64, end: u64) -> Vec<Piece> {
    if from >= end {
        return Vec::new();
    }
    let first = from / BLOCK_BYTES;
    let stretches = file
        .extents
        .stretches(first, end.div_ceil(BLOCK_BYTES) - first);
    stretches
        .iter()
        .map(|stretch| {
            let start = stretch.at * BLOCK_BYTES;
            let begin = start.max(from);
            let stop = (start + stretch.blocks * BLOCK_BYTES).min(end);
            Piece {
                length_bytes: stop - begin,
                disk_bytes: stretch
                    .disk
                    .map(|block| block * BLOCK_BYTES + (begin - start)),
            }
        })
        .collect()
}

/// The byte behind a range; no file is longer than a signed 64-bit offset.
fn end(offset: u64, length: u64) -> Result<u64> {
    offset
        .checked_add(length)
        .filter(|end| i64::try_from(*end).is_ok())
        .ok_or(Errno::EFBIG)
}
