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
    /// Opens a file as the bytes of a disk of that size.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is not a file or is larger.
    pub fn open(path: &Path, disk_bytes: u64) -> io::Result<Self> {
        let file = file::open(path)?;
        let size_bytes = file.metadata()?.len();
        if size_bytes > disk_bytes {
            return Err(io::Error::other(format!(
                "it has {size_bytes} bytes, more than the disk's {disk_bytes}"
            )));
        }
        Ok(Self { file, size_bytes })
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
