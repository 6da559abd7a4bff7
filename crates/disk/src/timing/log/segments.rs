//! The log: segments in a ring, and which block's newest content lies where in it.

use std::collections::VecDeque;

use crate::timing::parts::NumberMap;

pub(super) const BLOCK_BYTES: u64 = 4096;

/// Each append begins with a block that says what it holds.
const HEADER_BYTES: u64 = BLOCK_BYTES;

/// Segments are filled one after the other and emptied in the same order.
pub(super) struct Segments {
    segment_bytes: u64,
    count: u64,
    /// Taken ones, the oldest first; the last one is being filled.
    taken: VecDeque<Segment>,
    /// The number of the next one, which never wraps.
    next: u64,
    /// Start of the newest content of a block, counted as if the log had no end.
    index: NumberMap<u64>,
}

struct Segment {
    number: u64,
    used_bytes: u64,
    /// Block and place, in the order in which they were appended.
    blocks: Vec<(u64, u64)>,
    sealed: bool,
}

impl Segments {
    pub(super) fn new(log_bytes: u64, segment_bytes: u64) -> Self {
        Self {
            segment_bytes,
            count: log_bytes / segment_bytes,
            taken: VecDeque::new(),
            next: 0,
            index: NumberMap::default(),
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken.len() as u64
    }

    /// Room in the segment that is being filled, for blocks behind a header.
    fn room_bytes(&self) -> u64 {
        match self.taken.back() {
            Some(last) if !last.sealed => {
                (self.segment_bytes - last.used_bytes).saturating_sub(HEADER_BYTES)
            }
            _ => 0,
        }
    }

    /// Makes room for an append of that many bytes of blocks and returns the room available; `None`
    /// if no segment is free.
    pub(super) fn make_room(&mut self, bytes: u64) -> Option<u64> {
        let open = self.taken.back().is_some_and(|last| !last.sealed);
        let fits = open && self.room_bytes() >= bytes && self.free_header();
        if !fits {
            if self.taken() == self.count {
                return None;
            }
            if let Some(last) = self.taken.back_mut() {
                last.sealed = true;
            }
            self.taken.push_back(Segment {
                number: self.next,
                used_bytes: 0,
                blocks: Vec::new(),
                sealed: false,
            });
            self.next += 1;
        }
        Some(self.room_bytes())
    }

    fn free_header(&self) -> bool {
        self.taken
            .back()
            .is_some_and(|last| last.used_bytes + HEADER_BYTES <= self.segment_bytes)
    }

    /// Appends blocks behind a header; returns offset and length on the disk. There must be room.
    pub(super) fn append(&mut self, blocks: &[u64]) -> (u64, u64) {
        let segment = self.taken.back_mut().expect("room was made");
        let from = segment.used_bytes;
        segment.used_bytes += HEADER_BYTES;
        for block in blocks {
            let place = segment.number * self.segment_bytes + segment.used_bytes;
            segment.used_bytes += BLOCK_BYTES;
            segment.blocks.push((*block, place));
            self.index.insert(*block, place);
        }
        debug_assert!(segment.used_bytes <= self.segment_bytes);
        let length = segment.used_bytes - from;
        let at = segment.number % self.count * self.segment_bytes + from;
        (at, length)
    }

    /// The place of a block on the disk, if the log holds it.
    pub(super) fn find(&self, block: u64) -> Option<u64> {
        let place = *self.index.get(&block)?;
        Some(place % (self.count * self.segment_bytes))
    }

    pub(super) fn forget(&mut self, block: u64) {
        self.index.remove(&block);
    }

    /// The oldest full segment, or with `any` the oldest one, which is then full: its number, its
    /// place and its used bytes.
    pub(super) fn oldest(&mut self, any: bool) -> Option<(u64, u64, u64)> {
        let oldest = self.taken.front_mut()?;
        oldest.sealed |= any;
        let at = oldest.number % self.count * self.segment_bytes;
        oldest
            .sealed
            .then_some((oldest.number, at, oldest.used_bytes))
    }

    /// The blocks of the oldest segment with their newest content there, by address.
    pub(super) fn living(&self) -> Vec<u64> {
        let Some(oldest) = self.taken.front() else {
            return Vec::new();
        };
        let lives = |(block, place): &&(u64, u64)| self.index.get(block) == Some(place);
        let mut living: Vec<u64> = oldest
            .blocks
            .iter()
            .filter(lives)
            .map(|(block, _)| *block)
            .collect();
        living.sort_unstable();
        living
    }

    /// Frees the oldest segment: its content is elsewhere now.
    pub(super) fn free_oldest(&mut self) {
        let Some(oldest) = self.taken.pop_front() else {
            return;
        };
        for (block, place) in oldest.blocks {
            if self.index.get(&block) == Some(&place) {
                self.index.remove(&block);
            }
        }
    }

    pub(super) fn blocks(&self) -> u64 {
        self.index.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_again_lives_in_its_last_place_only() {
        let mut segments = Segments::new(64 * BLOCK_BYTES, 8 * BLOCK_BYTES);
        assert_eq!(segments.make_room(3 * BLOCK_BYTES), Some(7 * BLOCK_BYTES));
        assert_eq!(segments.append(&[5, 6, 7]), (0, 4 * BLOCK_BYTES));
        segments.make_room(4 * BLOCK_BYTES);
        assert_eq!(segments.append(&[6]), (8 * BLOCK_BYTES, 2 * BLOCK_BYTES));
        assert_eq!(segments.living(), [5, 7]);
        assert_eq!(segments.find(6), Some(9 * BLOCK_BYTES));
        segments.free_oldest();
        assert_eq!(segments.find(5), None);
        assert_eq!(segments.find(6), Some(9 * BLOCK_BYTES));
    }

    #[test]
    fn a_full_log_has_no_room_until_a_segment_is_free() {
        let mut segments = Segments::new(16 * BLOCK_BYTES, 8 * BLOCK_BYTES);
        for _ in 0..2 {
            segments.make_room(7 * BLOCK_BYTES).expect("room");
            segments.append(&[1, 2, 3, 4, 5, 6, 7]);
        }
        assert_eq!(segments.make_room(BLOCK_BYTES), None);
        assert_eq!(segments.make_room(0), None, "not even for a header");
        assert_eq!(segments.oldest(false), Some((0, 0, 8 * BLOCK_BYTES)));
        assert!(segments.living().is_empty(), "all was written again");
        segments.free_oldest();
        assert!(segments.make_room(BLOCK_BYTES).is_some());
        assert_eq!(segments.append(&[9]).0, 0, "round");
    }
}
