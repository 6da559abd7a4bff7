//! One block of bytes, wherever it lies.

use std::io;
use std::sync::Arc;

use super::store::{FileBlock, MemoryBlock};

/// Bytes that are held, shared and copied as one: a page of most databases and file systems is one
/// or a few of them, so that little is copied that was not written.
pub const BLOCK_BYTES: usize = 4096;

/// Shared between trees; only a block of a single owner is written to.
#[derive(Clone)]
pub(super) enum Block {
    Memory(Arc<MemoryBlock>),
    File(Arc<FileBlock>),
}

impl Block {
    pub(super) fn read(&self, from: usize, piece: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Memory(block) => {
                piece.copy_from_slice(&block.bytes[from..from + piece.len()]);
                Ok(())
            }
            Self::File(block) => block.read(from, piece),
        }
    }

    /// The block to write to, if nobody else has it.
    pub(super) fn own(&mut self) -> Option<OwnBlock<'_>> {
        match self {
            Self::Memory(block) => Arc::get_mut(block).map(OwnBlock::Memory),
            Self::File(block) => Arc::get_mut(block).map(OwnBlock::File),
        }
    }
}

pub(super) enum OwnBlock<'a> {
    Memory(&'a mut MemoryBlock),
    File(&'a mut FileBlock),
}

impl OwnBlock<'_> {
    pub(super) fn write(&mut self, from: usize, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(block) => {
                block.bytes[from..from + piece.len()].copy_from_slice(piece);
                Ok(())
            }
            Self::File(block) => block.write(from, piece),
        }
    }
}
