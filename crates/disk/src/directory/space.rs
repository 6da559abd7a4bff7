//! The free blocks of the disk, and where the next ones are taken from.

use std::collections::BTreeMap;

/// Blocks of the disk that lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: u64,
    pub(crate) blocks: u64,
}

impl Run {
    /// The first block after it.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.blocks
    }

    /// Its first `blocks`, and what is left.
    pub(crate) fn split(self, blocks: u64) -> (Self, Self) {
        let first = Self {
            start: self.start,
            blocks: blocks.min(self.blocks),
        };
        let rest = Self {
            start: first.end(),
            blocks: self.blocks - first.blocks,
        };
        (first, rest)
    }
}

/// The free runs of a disk. Two free runs never touch: they would be one.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    free: BTreeMap<u64, u64>,
    free_blocks: u64,
}

impl Space {
    /// All of `blocks` from `first` on is free.
    pub(crate) fn new(first: u64, blocks: u64) -> Self {
        let mut free = BTreeMap::new();
        if blocks > 0 {
            free.insert(first, blocks);
        }
        Self {
            free,
            free_blocks: blocks,
        }
    }

    pub(crate) fn free_blocks(&self) -> u64 {
        self.free_blocks
    }

    /// Takes up to `blocks` that begin exactly at `start`; `None` if that block is not free.
    pub(crate) fn take_at(&mut self, start: u64, blocks: u64) -> Option<Run> {
        let (&from, &length) = self.free.range(..=start).next_back()?;
        let free = Run {
            start: from,
            blocks: length,
        };
        if blocks == 0 || start >= free.end() {
            return None;
        }
        let taken = Run {
            start,
            blocks: blocks.min(free.end() - start),
        };
        self.cut(free, taken);
        Some(taken)
    }

    /// Takes `blocks` together: the first run at or after `goal` that is long enough, searching
    /// past the end of the disk from its start. If no run is that long, takes the longest. `None`
    /// on a full disk.
    pub(crate) fn take_near(&mut self, goal: u64, blocks: u64) -> Option<Run> {
        if let Some(run) = self.take_at_whole(goal, blocks) {
            return Some(run);
        }
        let behind = self.free.range(goal..).find(|(_, free)| **free >= blocks);
        let around = || self.free.range(..goal).find(|(_, free)| **free >= blocks);
        let longest = || self.free.iter().max_by_key(|(_, free)| **free);
        let (&start, _) = behind.or_else(around).or_else(longest)?;
        self.take_at(start, blocks)
    }

    fn take_at_whole(&mut self, start: u64, blocks: u64) -> Option<Run> {
        let (from, length) = self.free.range(..=start).next_back()?;
        (from + length >= start + blocks)
            .then(|| self.take_at(start, blocks))
            .flatten()
    }

    fn cut(&mut self, free: Run, taken: Run) {
        self.free.remove(&free.start);
        if taken.start > free.start {
            self.free.insert(free.start, taken.start - free.start);
        }
        if free.end() > taken.end() {
            self.free.insert(taken.end(), free.end() - taken.end());
        }
        self.free_blocks -= taken.blocks;
    }

    /// Gives blocks back. They must have been taken.
    pub(crate) fn release(&mut self, run: Run) {
        if run.blocks == 0 {
            return;
        }
        let mut merged = run;
        if let Some((&start, &blocks)) = self.free.range(..run.start).next_back() {
            debug_assert!(start + blocks <= run.start, "a block is freed once");
            if start + blocks == run.start {
                self.free.remove(&start);
                merged = Run {
                    start,
                    blocks: blocks + run.blocks,
                };
            }
        }
        if let Some(blocks) = self.free.remove(&run.end()) {
            merged.blocks += blocks;
        }
        self.free.insert(merged.start, merged.blocks);
        self.free_blocks += run.blocks;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn what_is_near_comes_first_and_the_end_leads_to_the_beginning() {
        let mut space = Space::new(10, 100);
        let run = |start, blocks| Some(Run { start, blocks });
        assert_eq!(space.take_near(50, 10), run(50, 10));
        assert_eq!(space.take_near(50, 10), run(60, 10), "the next after it");
        assert_eq!(space.take_near(105, 10), run(10, 10), "round the end");
        assert_eq!(space.take_near(0, 99), run(70, 40), "the longest there is");
        assert_eq!(space.take_at(50, 1), None, "taken");
        assert_eq!(space.take_at(45, 10), run(45, 5), "up to what is taken");
        assert_eq!(space.free_blocks(), 25);
    }

    #[test]
    fn a_full_disk_gives_nothing() {
        let mut space = Space::new(0, 3);
        assert_eq!(space.take_near(2, 5).map(|run| run.blocks), Some(3));
        assert_eq!(space.take_near(0, 1), None);
        assert_eq!(Space::new(7, 0).take_near(7, 1), None);
    }

    #[test]
    fn it_agrees_with_a_set_of_blocks() {
        const FIRST: u64 = 5;
        const BLOCKS: u64 = 200;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut space = Space::new(FIRST, BLOCKS);
        let mut free: BTreeSet<u64> = (FIRST..FIRST + BLOCKS).collect();
        let mut taken: Vec<Run> = Vec::new();
        for _ in 0..5_000 {
            let goal = random.random_range(0..FIRST + BLOCKS + 10);
            let wanted = random.random_range(1..30);
            let got = match random.random_range(0..4) {
                0 => space.take_at(goal, wanted),
                1 => space.take_near(goal, wanted),
                _ if taken.is_empty() => None,
                _ => {
                    let whole = taken.swap_remove(random.random_range(0..taken.len()));
                    let (given, kept) = whole.split(random.random_range(0..=whole.blocks));
                    space.release(given);
                    free.extend(given.start..given.end());
                    taken.extend((kept.blocks > 0).then_some(kept));
                    None
                }
            };
            if let Some(run) = got {
                assert!((1..=wanted).contains(&run.blocks));
                for block in run.start..run.end() {
                    assert!(free.remove(&block), "block {block} was free");
                }
                taken.push(run);
            }
            assert_eq!(space.free_blocks(), free.len() as u64);
        }
        for run in taken {
            space.release(run);
        }
        assert_eq!(
            space.free,
            BTreeMap::from([(FIRST, BLOCKS)]),
            "one run again"
        );
    }
}
