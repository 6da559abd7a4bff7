//! Blocks written since an account began, so that a digest takes time in proportion to them alone.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::contents::{BLOCK_BYTES, Contents, ContentsError};

/// Blocks that were written or discarded, as ranges: a discard may be as large as the disk.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// By their first block, with the block after their last; none meets another.
    ranges: BTreeMap<u64, u64>,
}

impl Touched {
    pub(super) fn mark(&mut self, offset_bytes: u64, length_bytes: u64) {
        if length_bytes == 0 {
            return;
        }
        let mut first = offset_bytes / BLOCK_BYTES as u64;
        let mut end = (offset_bytes + length_bytes).div_ceil(BLOCK_BYTES as u64);
        while let Some((start, stop)) = self.ranges.range(..=end).next_back()
            && *stop >= first
        {
            (first, end) = (first.min(*start), end.max(*stop));
            let start = *start;
            self.ranges.remove(&start);
        }
        self.ranges.insert(first, end);
    }

    /// SHA-256 over each touched block that holds anything: its number and its bytes, in ascending
    /// order. A block that is all zeroes is left out, whether or not room is held for it.
    ///
    /// # Errors
    ///
    /// If a file underneath cannot be read.
    pub(super) fn digest(&self, contents: &Contents) -> Result<String, ContentsError> {
        let mut hash = Sha256::new();
        let mut bytes = [0; BLOCK_BYTES];
        for (first, end) in &self.ranges {
            let mut block = *first;
            // Most discarded ranges are holes.
            while let Some(data) = contents.data_within(offset(block)..offset(*end)) {
                block = data / BLOCK_BYTES as u64;
                let length = (contents.size_bytes() - offset(block)).min(BLOCK_BYTES as u64);
                let length = usize::try_from(length).expect("at most a block");
                contents.read(offset(block), &mut bytes[..length])?;
                if bytes[..length].iter().any(|byte| *byte != 0) {
                    hash.update(block.to_le_bytes());
                    hash.update(&bytes[..length]);
                }
                block += 1;
            }
        }
        Ok(hex::encode(hash.finalize()))
    }
}

fn offset(block: u64) -> u64 {
    block * BLOCK_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Store;

    #[test]
    fn every_block_that_a_range_reaches_is_marked_and_no_other() {
        let block = BLOCK_BYTES as u64;
        for (marks, expected) in [
            (vec![(0, 0)], vec![]),
            (vec![(0, 1)], vec![(0, 1)]),
            (vec![(block - 1, 2)], vec![(0, 2)]),
            (vec![(0, block), (2 * block, block)], vec![(0, 1), (2, 3)]),
            (
                vec![(2 * block, block), (0, block), (block, 1)],
                vec![(0, 3)],
            ),
            (vec![(block, 8 * block), (3 * block, block)], vec![(1, 9)]),
            (
                vec![(3 * block, block), (5 * block, block), (0, 9 * block)],
                vec![(0, 9)],
            ),
            (vec![(0, 4 * block), (3 * block, 4 * block)], vec![(0, 7)]),
        ] {
            let mut touched = Touched::default();
            for (offset, length) in &marks {
                touched.mark(*offset, *length);
            }
            let found: Vec<_> = touched.ranges.into_iter().collect();
            assert_eq!(found, expected, "{marks:?}");
        }
    }

    /// With a search to the end of the disk for each block it would take hours.
    #[test]
    fn a_discarded_disk_is_no_long_way() {
        let size_bytes = 16 << 30;
        let mut contents = Contents::new(size_bytes, Store::memory(1 << 20), None);
        let mut touched = Touched::default();
        touched.mark(0, size_bytes);
        let empty = touched.digest(&contents).expect("read");
        let last = size_bytes - BLOCK_BYTES as u64;
        contents.write(last, &[1; BLOCK_BYTES]).expect("room");
        assert_ne!(touched.digest(&contents).expect("read"), empty);
        contents.discard(0, size_bytes).expect("discarded");
        assert_eq!(touched.digest(&contents).expect("read"), empty);
    }

    #[test]
    fn a_digest_is_of_the_bytes_and_their_place() {
        let block = BLOCK_BYTES as u64;
        let digest = |writes: &[(u64, u8)]| {
            let mut contents = Contents::new(1 << 20, Store::memory(1 << 20), None);
            let mut touched = Touched::default();
            for (at, fill) in writes {
                contents
                    .write(at * block, &[*fill; BLOCK_BYTES])
                    .expect("room");
                touched.mark(at * block, block);
            }
            touched.digest(&contents).expect("read")
        };
        let one = digest(&[(1, 7)]);
        assert_eq!(one, digest(&[(1, 7)]));
        assert_eq!(one, digest(&[(1, 3), (2, 0), (1, 7)]));
        for other in [&[(2, 7)][..], &[(1, 8)], &[(1, 7), (2, 1)], &[]] {
            assert_ne!(one, digest(other), "{other:?}");
        }
    }
}
