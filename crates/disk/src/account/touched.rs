//! Blocks written since an account began, so that a digest takes time in proportion to them alone.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::contents::{BLOCK_BYTES, Contents, ContentsError};

const BITS: u64 = u64::BITS as u64;

/// Blocks that were written or discarded: a bit each, in words by their place.
#[derive(Debug, Default)]
pub(super) struct Touched {
    words: BTreeMap<u64, u64>,
}

impl Touched {
    pub(super) fn mark(&mut self, offset_bytes: u64, length_bytes: u64) {
        if length_bytes == 0 {
            return;
        }
        let first = offset_bytes / BLOCK_BYTES as u64;
        let last = (offset_bytes + length_bytes - 1) / BLOCK_BYTES as u64;
        for word in first / BITS..=last / BITS {
            let from = first.max(word * BITS) % BITS;
            let to = last.min(word * BITS + BITS - 1) % BITS;
            let bits = (u64::MAX >> (BITS - 1 - to)) & (u64::MAX << from);
            *self.words.entry(word).or_default() |= bits;
        }
    }

    fn blocks(&self) -> impl Iterator<Item = u64> {
        self.words.iter().flat_map(|(word, bits)| {
            (0..BITS)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word * BITS + bit)
        })
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
        // Offset of the next data. It is looked up again only beyond it, because most discarded
        // ranges are holes.
        let mut data = None;
        for block in self.blocks() {
            let offset = block * BLOCK_BYTES as u64;
            if data.is_none_or(|data| data < offset) {
                data = contents.next_data(offset);
                if data.is_none() {
                    break;
                }
            }
            if data != Some(offset) {
                continue;
            }
            let length = (contents.size_bytes() - offset).min(BLOCK_BYTES as u64);
            let length = usize::try_from(length).expect("at most a block");
            contents.read(offset, &mut bytes[..length])?;
            if bytes[..length].iter().any(|byte| *byte != 0) {
                hash.update(block.to_le_bytes());
                hash.update(&bytes[..length]);
            }
        }
        Ok(hex(&hash.finalize()))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Store;

    #[test]
    fn every_block_that_a_range_reaches_is_marked_and_no_other() {
        let block = BLOCK_BYTES as u64;
        for (offset, length, expected) in [
            (0, 0, vec![]),
            (0, 1, vec![0]),
            (block - 1, 2, vec![0, 1]),
            (63 * block, 2 * block, vec![63, 64]),
            (62 * block + 1, 67 * block, (62..130).collect()),
        ] {
            let mut touched = Touched::default();
            touched.mark(offset, length);
            assert_eq!(
                touched.blocks().collect::<Vec<_>>(),
                expected,
                "{offset} {length}"
            );
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
