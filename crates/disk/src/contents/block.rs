//! One block of bytes, wherever it lies.

use std::io;

use super::store::{Room, Slot};

/// Bytes that are held, shared and copied as one: a page of most databases and file systems is one
/// or a few of them, so that little is copied that was not written.
pub const BLOCK_BYTES: usize = 4096;

/// Shared between trees; only a block of a single owner is written to.
pub(super) struct Block {
    pub(super) bytes: Bytes,
    /// It returns with the block.
    pub(super) _room: Room,
}

pub(super) enum Bytes {
    Memory(Box<[u8; BLOCK_BYTES]>),
    File(Slot),
}

impl Block {
    pub(super) fn read(&self, from: usize, piece: &mut [u8]) -> io::Result<()> {
        match &self.bytes {
            Bytes::Memory(bytes) => {
                piece.copy_from_slice(&bytes[from..from + piece.len()]);
                Ok(())
            }
            Bytes::File(slot) => slot.read(from, piece),
        }
    }

    pub(super) fn write(&mut self, from: usize, piece: &[u8]) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Memory(bytes) => {
                bytes[from..from + piece.len()].copy_from_slice(piece);
                Ok(())
            }
            Bytes::File(slot) => slot.write(from, piece),
        }
    }
}
