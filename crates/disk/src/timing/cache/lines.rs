//! Which blocks of which lines the front holds, which of them are dirty, and which line goes next.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

/// The grain of what a line holds.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// No line: the end of the list of clean lines.
const NONE: u32 = u32::MAX;

/// Lines by their number on the back. A clean line may be evicted, the least recently used first; a
/// dirty one stays until it is written back. One bit stands for a block of 4 KiB.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) most: usize,
    by_number: HashMap<u64, u32>,
    slots: Vec<Slot>,
    free: VecDeque<u32>,
    newest: u32,
    oldest: u32,
    dirty: BTreeSet<u64>,
    writes: u64,
    pub(super) evictions: u64,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    number: u64,
    valid: u64,
    dirty: u64,
    /// The write that made it dirty last.
    version: u64,
    newer: u32,
    older: u32,
}

impl Lines {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.min(NONE as usize - 1),
            newest: NONE,
            oldest: NONE,
            ..Self::default()
        }
    }

    pub(super) fn dirty_lines(&self) -> usize {
        self.dirty.len()
    }

    /// The place of a line and which of its blocks are held.
    pub(super) fn find(&self, number: u64) -> Option<(u32, u64)> {
        let slot = *self.by_number.get(&number)?;
        Some((slot, self.slots[slot as usize].valid))
    }

    /// Which blocks of a line are dirty, and the version of the last of them.
    pub(super) fn dirt(&self, number: u64) -> (u64, u64) {
        match self.by_number.get(&number) {
            Some(slot) => {
                let slot = &self.slots[*slot as usize];
                (slot.dirty, slot.version)
            }
            None => (0, 0),
        }
    }

    /// A line was used.
    pub(super) fn touch(&mut self, slot: u32) {
        if self.slots[slot as usize].dirty == 0 && self.newest != slot {
            self.unlink(slot);
            self.link(slot);
        }
    }

    /// The line's place, a new one if it has none; `None` where every line is dirty.
    pub(super) fn place(&mut self, number: u64) -> Option<u32> {
        if let Some(slot) = self.by_number.get(&number) {
            return Some(*slot);
        }
        let slot = self.vacant()?;
        self.slots[slot as usize] = Slot {
            number,
            ..Slot::default()
        };
        self.by_number.insert(number, slot);
        self.link(slot);
        Some(slot)
    }

    fn vacant(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop_front() {
            return Some(slot);
        }
        if self.slots.len() < self.most {
            let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 lines");
            self.slots.push(Slot::default());
            return Some(slot);
        }
        let slot = self.oldest;
        if slot == NONE {
            return None;
        }
        self.unlink(slot);
        self.by_number.remove(&self.slots[slot as usize].number);
        self.evictions += 1;
        Some(slot)
    }

    /// Clean blocks arrived.
    pub(super) fn fill(&mut self, slot: u32, blocks: u64) {
        self.slots[slot as usize].valid |= blocks;
        self.touch(slot);
    }

    /// Blocks were written; whether any of them was not dirty before.
    pub(super) fn soil(&mut self, slot: u32, blocks: u64) -> bool {
        self.writes += 1;
        if self.slots[slot as usize].dirty == 0 {
            self.unlink(slot);
            self.dirty.insert(self.slots[slot as usize].number);
        }
        let line = &mut self.slots[slot as usize];
        let news = blocks & !line.dirty != 0;
        line.valid |= blocks;
        line.dirty |= blocks;
        line.version = self.writes;
        news
    }

    /// The line was written back as it was at that version.
    pub(super) fn clean(&mut self, number: u64, version: u64) -> bool {
        let Some(slot) = self.by_number.get(&number).copied() else {
            return false;
        };
        let line = &mut self.slots[slot as usize];
        if line.dirty == 0 || line.version != version {
            return false;
        }
        line.dirty = 0;
        self.dirty.remove(&number);
        self.link(slot);
        true
    }

    /// Blocks are no longer what the back holds, or no longer wanted; whether any was dirty.
    pub(super) fn forget(&mut self, number: u64, blocks: u64) -> bool {
        let Some(slot) = self.by_number.get(&number).copied() else {
            return false;
        };
        let line = &mut self.slots[slot as usize];
        let was_dirty = line.dirty != 0;
        let dirt_lost = line.dirty & blocks != 0;
        line.valid &= !blocks;
        line.dirty &= !blocks;
        let (valid, dirty) = (line.valid, line.dirty);
        if was_dirty && dirty == 0 {
            self.dirty.remove(&number);
            self.link(slot);
        }
        if valid == 0 {
            self.unlink(slot);
            self.by_number.remove(&number);
            self.free.push_back(slot);
        }
        dirt_lost
    }

    /// The first dirty line from that number on, or from the beginning.
    pub(super) fn dirty_from(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        let on = (Bound::Included(number), Bound::Unbounded);
        let around = (Bound::Unbounded, Bound::Excluded(number));
        self.dirty
            .range(on)
            .chain(self.dirty.range(around))
            .copied()
    }

    fn link(&mut self, slot: u32) {
        let older = self.newest;
        self.slots[slot as usize].older = older;
        self.slots[slot as usize].newer = NONE;
        match older {
            NONE => self.oldest = slot,
            older => self.slots[older as usize].newer = slot,
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_was_used_longest_ago_goes_first() {
        let mut lines = Lines::new(2);
        let first = lines.place(10).expect("room");
        lines.fill(first, 1);
        let second = lines.place(20).expect("room");
        lines.fill(second, 1);
        lines.touch(first);
        let third = lines.place(30).expect("room");
        lines.fill(third, 1);
        assert_eq!(lines.find(20), None);
        assert_eq!(lines.find(10), Some((first, 1)));
        assert_eq!(lines.evictions, 1);
    }

    #[test]
    fn dirty_lines_stay_until_they_are_clean_at_their_last_version() {
        let mut lines = Lines::new(1);
        let slot = lines.place(5).expect("room");
        assert!(lines.soil(slot, 0b11));
        assert!(!lines.soil(slot, 0b01), "dirty already");
        assert_eq!(lines.place(6), None);
        let (dirt, version) = lines.dirt(5);
        assert_eq!(dirt, 0b11);
        assert!(lines.soil(slot, 0b100));
        assert!(!lines.clean(5, version), "written again meanwhile");
        assert!(lines.clean(5, lines.dirt(5).1));
        assert!(lines.place(6).is_some());
        assert_eq!(lines.dirty_lines(), 0);
    }

    #[test]
    fn what_is_forgotten_makes_room() {
        let mut lines = Lines::new(1);
        let slot = lines.place(5).expect("room");
        lines.soil(slot, 0b11);
        assert!(lines.forget(5, 0b01));
        assert_eq!(lines.dirty_from(0).collect::<Vec<_>>(), [5]);
        assert!(lines.forget(5, 0b10));
        assert!(!lines.forget(5, 0b10), "it is gone");
        assert_eq!(lines.dirty_from(0).count(), 0);
        assert!(lines.place(6).is_some());
    }

    #[test]
    fn dirty_lines_are_named_from_the_hand_on_and_round() {
        let mut lines = Lines::new(8);
        for number in [3, 1, 7] {
            let slot = lines.place(number).expect("room");
            lines.soil(slot, 1);
        }
        assert_eq!(lines.dirty_from(2).collect::<Vec<_>>(), [3, 7, 1]);
        assert_eq!(lines.dirty_from(9).collect::<Vec<_>>(), [1, 3, 7]);
    }
}
