//! The bytes of a disk, apart from their timing: thin, copy-on-write, with named snapshots.
//!
//! A disk is a tree of blocks. A snapshot keeps the tree, and a restore puts it back. Both take
//! moments whatever the disk holds, because trees share blocks and a block is copied only when one
//! of the trees writes to it. Blocks that were never written or are all zeroes take no room. An
//! image file, which is only read, may lie underneath.

mod block;
mod image;
mod reaper;
mod store;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::time::Duration;

use thiserror::Error;

pub use block::BLOCK_BYTES;
pub use image::Image;
use reaper::Reaper;
pub use store::Store;
use tree::{Place, Tree};

/// More than anybody needs by name; a bound so that a mad client cannot fill memory with names.
pub const SNAPSHOTS_AT_MOST: usize = 1024;
const NAME_BYTES_AT_MOST: usize = 200;
/// How long a write waits for room that is being freed; freeing a gigabyte takes a fraction of a
/// second.
const ROOM_WITHIN: Duration = Duration::from_secs(10);

const ZEROES: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// Why bytes could not be held or found.
#[derive(Debug, Error)]
pub enum ContentsError {
    #[error(
        "the disk's contents have reached their limit of {limit_bytes} bytes; raise --memory-limit"
    )]
    Full { limit_bytes: u64 },
    #[error("bytes {offset_bytes} to {end_bytes} lie outside the disk of {size_bytes} bytes")]
    Outside {
        offset_bytes: u64,
        end_bytes: u64,
        size_bytes: u64,
    },
    #[error("there is no snapshot `{0}`")]
    NoSnapshot(String),
    #[error("{0}")]
    Name(String),
    #[error("contents: {0}")]
    Io(#[from] io::Error),
}

/// Whether the limit of the contents refuses a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Holds,
    Yields,
}

/// A disk's bytes as they were at a moment; it costs room as a snapshot does.
pub struct Moment(Tree);

/// A larger disk is refused: looking for data would take long.
pub const SIZE_BYTES_AT_MOST: u64 = 64 << 40;

/// The bytes of one disk.
pub struct Contents {
    size_bytes: u64,
    store: Store,
    reaper: Reaper,
    image: Option<Image>,
    now: Tree,
    snapshots: BTreeMap<String, Tree>,
}

impl Contents {
    /// A disk of that many bytes, all zeroes, or as the image has them. Zeroes follow an image that
    /// is shorter than the disk.
    pub fn new(size_bytes: u64, store: Store, image: Option<Image>) -> Self {
        Self {
            size_bytes,
            store,
            reaper: Reaper::new(),
            image,
            now: Tree::default(),
            snapshots: BTreeMap::new(),
        }
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes that blocks take, snapshots included, each shared block counted once. Blocks that were
    /// just freed still count for a moment.
    pub fn held_bytes(&self) -> u64 {
        self.store.held_bytes()
    }

    pub fn limit_bytes(&self) -> u64 {
        self.store.limit_bytes()
    }

    /// Fills the buffer from there.
    ///
    /// # Errors
    ///
    /// The range lies outside the disk, or a file underneath cannot be read.
    pub fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ContentsError> {
        self.check_within(offset_bytes, buffer.len() as u64)?;
        let mut rest = buffer;
        let mut at = offset_bytes;
        while !rest.is_empty() {
            let (index, from) = position(at);
            let length = (BLOCK_BYTES - from).min(rest.len());
            let (piece, after) = rest.split_at_mut(length);
            self.read_in_block(index, from, piece)?;
            rest = after;
            at += length as u64;
        }
        Ok(())
    }

    fn read_in_block(&self, index: u64, from: usize, piece: &mut [u8]) -> io::Result<()> {
        match (self.now.get(index), &self.image) {
            (Place::Held(block), _) => block.read(from, piece),
            (Place::Under, Some(image)) => image.read(block_offset(index) + from as u64, piece),
            (Place::Under, None) | (Place::Zero, _) => {
                piece.fill(0);
                Ok(())
            }
        }
    }

    /// Puts the bytes there. After an error a part of them may be there.
    ///
    /// # Errors
    ///
    /// The range lies outside the disk, the limit is reached, or a file cannot be written.
    pub fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), ContentsError> {
        self.write_blocks(offset_bytes, bytes, Limit::Holds)
    }

    /// Puts back what lay there before, or what has to lie there: the limit refuses nothing of it, and a
    /// block that has these bytes already takes no room of its own.
    ///
    /// # Errors
    ///
    /// The range lies outside the disk, or a file cannot be written.
    pub fn put(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), ContentsError> {
        self.write_blocks(offset_bytes, bytes, Limit::Yields)
    }

    fn write_blocks(
        &mut self,
        offset_bytes: u64,
        bytes: &[u8],
        limit: Limit,
    ) -> Result<(), ContentsError> {
        self.check_within(offset_bytes, bytes.len() as u64)?;
        let mut rest = bytes;
        let mut at = offset_bytes;
        while !rest.is_empty() {
            let (index, from) = position(at);
            let length = (BLOCK_BYTES - from).min(rest.len());
            let (piece, after) = rest.split_at(length);
            self.write_in_block(index, from, piece, limit)?;
            rest = after;
            at += length as u64;
        }
        Ok(())
    }

    fn write_in_block(
        &mut self,
        index: u64,
        from: usize,
        piece: &[u8],
        limit: Limit,
    ) -> Result<(), ContentsError> {
        let whole = piece.len() == BLOCK_BYTES;
        if whole && piece == ZEROES {
            self.zero_block(index);
            return Ok(());
        }
        if let Some(block) = self.now.own(index) {
            return Ok(block.write(from, piece)?);
        }
        let mut bytes = [0; BLOCK_BYTES];
        if !whole || limit == Limit::Yields {
            self.read_in_block(index, 0, &mut bytes)?;
        }
        let replaced = &mut bytes[from..from + piece.len()];
        if limit == Limit::Yields && replaced == piece {
            return Ok(());
        }
        replaced.copy_from_slice(piece);
        let block = match limit {
            Limit::Holds => self
                .reaper
                .try_until_free(ROOM_WITHIN, || self.store.hold(&bytes, limit))?,
            Limit::Yields => self.store.hold(&bytes, limit)?,
        };
        self.now.put(index, Place::Held(block));
        Ok(())
    }

    /// Gives the bytes back: they read as zeroes.
    ///
    /// # Errors
    ///
    /// The range lies outside the disk, or a partly discarded block cannot be written.
    pub fn discard(&mut self, offset_bytes: u64, length_bytes: u64) -> Result<(), ContentsError> {
        self.check_within(offset_bytes, length_bytes)?;
        let end = offset_bytes + length_bytes;
        let mut at = offset_bytes;
        while at < end {
            let (index, from) = position(at);
            let whole_blocks = (end - at) / BLOCK_BYTES as u64;
            if from == 0 && whole_blocks > 0 {
                self.zero_blocks(index, index + whole_blocks);
                at += whole_blocks * BLOCK_BYTES as u64;
                continue;
            }
            let length = (BLOCK_BYTES - from).min(usize::try_from(end - at).unwrap_or(BLOCK_BYTES));
            self.zero_in_block(index, from, length)?;
            at += length as u64;
        }
        Ok(())
    }

    /// A block that becomes all zeroes is not held.
    fn zero_in_block(
        &mut self,
        index: u64,
        from: usize,
        length: usize,
    ) -> Result<(), ContentsError> {
        let mut bytes = [0; BLOCK_BYTES];
        self.read_in_block(index, 0, &mut bytes)?;
        bytes[from..from + length].fill(0);
        if bytes == ZEROES {
            self.zero_block(index);
            return Ok(());
        }
        self.write_in_block(index, from, &ZEROES[..length], Limit::Holds)
    }

    fn zero_block(&mut self, index: u64) {
        self.zero_blocks(index, index + 1);
    }

    /// Blocks under which the image lies must be held as zero; beyond it, nothing is held at all.
    fn zero_blocks(&mut self, first: u64, end: u64) {
        let image_end = self.image.as_ref().map_or(0, Image::blocks);
        let split = image_end.clamp(first, end);
        let mut replaced = self.now.fill(first, split, &Place::Zero);
        replaced.extend(self.now.fill(split, end, &Place::Under));
        if !replaced.is_empty() {
            self.reaper.take(replaced);
        }
    }

    /// Offset of the first byte, from there on, that lies in a held block or in the image; `None`
    /// if there is none.
    pub fn next_data(&self, offset_bytes: u64) -> Option<u64> {
        self.next(offset_bytes..self.size_bytes, true)
    }

    /// The same within a range, which takes no longer than the range is.
    pub fn data_within(&self, range: Range<u64>) -> Option<u64> {
        self.next(range, true)
    }

    /// The first byte from there on that takes no room; the end of the disk takes none.
    pub fn next_hole(&self, offset_bytes: u64) -> u64 {
        self.next(offset_bytes..self.size_bytes, false)
            .unwrap_or(self.size_bytes)
    }

    fn next(&self, range: Range<u64>, data: bool) -> Option<u64> {
        let end = range.end.min(self.size_bytes).div_ceil(BLOCK_BYTES as u64);
        let image_end = self.image.as_ref().map_or(0, Image::blocks);
        let (mut index, _) = position(range.start);
        while index < end {
            if data && index >= image_end && !self.now.has_leaf(index) {
                index = Tree::next_leaf(index);
                continue;
            }
            let is_data = match self.now.get(index) {
                Place::Held(_) => true,
                Place::Under => index < image_end,
                Place::Zero => false,
            };
            if is_data == data {
                return Some(block_offset(index).max(range.start));
            }
            index += 1;
        }
        None
    }

    /// Keeps the disk as it is under a name, in place of what had the name before.
    ///
    /// # Errors
    ///
    /// A name that is empty or long; too many names.
    pub fn snapshot(&mut self, name: &str) -> Result<(), ContentsError> {
        if name.is_empty() || name.len() > NAME_BYTES_AT_MOST {
            return Err(ContentsError::Name(format!(
                "a snapshot's name must have 1 to {NAME_BYTES_AT_MOST} bytes"
            )));
        }
        if self.snapshots.len() >= SNAPSHOTS_AT_MOST && !self.snapshots.contains_key(name) {
            return Err(ContentsError::Name(format!(
                "there are {SNAPSHOTS_AT_MOST} snapshots already; forget one first"
            )));
        }
        if let Some(replaced) = self.snapshots.insert(name.to_owned(), self.now.clone()) {
            self.reaper.take(replaced);
        }
        Ok(())
    }

    /// Puts the disk back to what it was when the snapshot was taken; the snapshot stays.
    ///
    /// # Errors
    ///
    /// There is no snapshot of that name.
    pub fn restore(&mut self, name: &str) -> Result<(), ContentsError> {
        let tree = self.snapshot_named(name)?.clone();
        self.reaper.take(std::mem::replace(&mut self.now, tree));
        Ok(())
    }

    /// Lets a snapshot go.
    ///
    /// # Errors
    ///
    /// There is no snapshot of that name.
    pub fn forget(&mut self, name: &str) -> Result<(), ContentsError> {
        let tree = self.snapshots.remove(name);
        let tree = tree.ok_or_else(|| ContentsError::NoSnapshot(name.to_owned()))?;
        self.reaper.take(tree);
        Ok(())
    }

    /// Keeps the disk as it is, without a name.
    pub fn keep(&self) -> Moment {
        Moment(self.now.clone())
    }

    /// Puts the disk back to what it was.
    pub fn put_back(&mut self, moment: Moment) {
        self.reaper.take(std::mem::replace(&mut self.now, moment.0));
    }

    /// Lets go what was kept.
    pub fn let_go(&mut self, moment: Moment) {
        self.reaper.take(moment.0);
    }

    /// # Errors
    ///
    /// There is no snapshot of the name.
    pub fn check_snapshot(&self, name: &str) -> Result<(), ContentsError> {
        self.snapshot_named(name).map(|_| ())
    }

    fn snapshot_named(&self, name: &str) -> Result<&Tree, ContentsError> {
        let tree = self.snapshots.get(name);
        tree.ok_or_else(|| ContentsError::NoSnapshot(name.to_owned()))
    }

    pub fn snapshots(&self) -> Vec<&str> {
        self.snapshots.keys().map(String::as_str).collect()
    }

    /// # Errors
    ///
    /// A part of the range lies outside of the disk.
    pub fn check_within(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ContentsError> {
        let end_bytes = offset_bytes.saturating_add(length_bytes);
        if end_bytes > self.size_bytes {
            return Err(ContentsError::Outside {
                offset_bytes,
                end_bytes,
                size_bytes: self.size_bytes,
            });
        }
        Ok(())
    }
}

fn position(at: u64) -> (u64, usize) {
    let bytes = BLOCK_BYTES as u64;
    #[expect(clippy::cast_possible_truncation, reason = "less than a block")]
    let from = (at % bytes) as usize;
    (at / bytes, from)
}

fn block_offset(index: u64) -> u64 {
    index * BLOCK_BYTES as u64
}
