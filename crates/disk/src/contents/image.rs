//! A file underneath a disk, which is only read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::block::BLOCK_BYTES;
use crate::file;

/// The golden image: many disks may lie on one.
#[derive(Debug)]
pub struct Image {
    file: File,
    size_bytes: u64,
}

impl Image {
    /// Opens a file as the bytes of a disk.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is not a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = file::open(path)?;
        let size_bytes = file.metadata()?.len();
        Ok(Self { file, size_bytes })
    }

    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(super) fn blocks(&self) -> u64 {
        self.size_bytes.div_ceil(BLOCK_BYTES as u64)
    }

    /// Bytes beyond the end of the image are zero.
    pub(super) fn read(&self, offset_bytes: u64, piece: &mut [u8]) -> io::Result<()> {
        let held = self
            .size_bytes
            .saturating_sub(offset_bytes)
            .min(piece.len() as u64);
        #[expect(clippy::cast_possible_truncation, reason = "at most the piece")]
        let (bytes, zeroes) = piece.split_at_mut(held as usize);
        self.file.read_exact_at(bytes, offset_bytes)?;
        zeroes.fill(0);
        Ok(())
    }
}
