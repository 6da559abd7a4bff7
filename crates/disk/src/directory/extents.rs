//! Which blocks of the disk a file has.

use std::collections::BTreeMap;

use super::space::Run;

/// A stretch of a file: blocks of the disk that lie together, or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first block in the file.
    pub(crate) at: u64,
    pub(crate) blocks: u64,
    /// Its first block on the disk; `None` is a hole.
    pub(crate) disk: Option<u64>,
}

/// A file's blocks, from its first to its last, with holes. Extents that go on from each other in the
/// file and on the disk are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents {
    /// Block in the file -> blocks on the disk.
    extents: BTreeMap<u64, Run>,
    blocks: u64,
}

impl Extents {
    /// Blocks of the disk that the file has.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The block of the disk that would make the file's block `at` go on from the extent before it.
    pub(crate) fn goal(&self, at: u64) -> Option<u64> {
        let (from, run) = self.extents.range(..at).next_back()?;
        Some(run.start + (at - from))
    }

    /// The stretches of `blocks` from `at`, without a gap.
    pub(crate) fn stretches(&self, at: u64, blocks: u64) -> Vec<Stretch> {
        let end = at + blocks;
        let mut found = Vec::new();
        let mut next = at;
        let first = self
            .extents
            .range(..=at)
            .next_back()
            .map_or(at, |(&from, _)| from);
        for (&from, run) in self.extents.range(first..end) {
            let (begin, stop) = (from.max(at), (from + run.blocks).min(end));
            if begin >= stop {
                continue;
            }
            hole(&mut found, next, begin);
            found.push(Stretch {
                at: begin,
                blocks: stop - begin,
                disk: Some(run.start + (begin - from)),
            });
            next = stop;
        }
        hole(&mut found, next, end);
        found
    }

    /// Puts blocks of the disk into a hole of the file.
    pub(crate) fn insert(&mut self, at: u64, run: Run) {
        self.blocks += run.blocks;
        let (mut from, mut whole) = (at, run);
        if let Some((&before, &known)) = self.extents.range(..at).next_back() {
            debug_assert!(before + known.blocks <= at, "the place was a hole");
            if before + known.blocks == at && known.end() == run.start {
                self.extents.remove(&before);
                from = before;
                whole = Run {
                    start: known.start,
                    blocks: known.blocks + run.blocks,
                };
            }
        }
        if let Some(&behind) = self.extents.get(&(at + run.blocks))
            && behind.start == run.end()
        {
            self.extents.remove(&(at + run.blocks));
            whole.blocks += behind.blocks;
        }
        self.extents.insert(from, whole);
    }

    /// Makes a hole of `blocks` from `at`; what the disk gets back.
    pub(crate) fn remove(&mut self, at: u64, blocks: u64) -> Vec<Run> {
        let end = at.saturating_add(blocks);
        let touched: Vec<(u64, Run)> = self
            .extents
            .range(..end)
            .rev()
            .take_while(|(from, run)| *from + run.blocks > at)
            .map(|(&from, &run)| (from, run))
            .collect();
        let mut freed = Vec::with_capacity(touched.len());
        for (from, run) in touched.into_iter().rev() {
            self.extents.remove(&from);
            let (before, rest) = run.split(at.saturating_sub(from));
            let (gone, after) = rest.split(end - from.max(at));
            if before.blocks > 0 {
                self.extents.insert(from, before);
            }
            if after.blocks > 0 {
                self.extents.insert(end, after);
            }
            self.blocks -= gone.blocks;
            freed.push(gone);
        }
        freed
    }
}

fn hole(found: &mut Vec<Stretch>, at: u64, end: u64) {
    if end > at {
        found.push(Stretch {
            at,
            blocks: end - at,
            disk: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn what_goes_on_is_one_extent() {
        let mut extents = Extents::default();
        extents.insert(
            0,
            Run {
                start: 10,
                blocks: 2,
            },
        );
        extents.insert(
            4,
            Run {
                start: 14,
                blocks: 1,
            },
        );
        assert_eq!(extents.goal(2), Some(12));
        extents.insert(
            2,
            Run {
                start: 12,
                blocks: 2,
            },
        );
        assert_eq!(extents.extents.len(), 1);
        assert_eq!(extents.blocks(), 5);
        assert_eq!(extents.goal(0), None, "nothing before the beginning");
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "a small file")]
    fn it_agrees_with_a_list_of_blocks() {
        const BLOCKS: u64 = 100;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut extents = Extents::default();
        let mut model: Vec<Option<u64>> = vec![None; BLOCKS as usize];
        let mut next_disk = 1_000;
        for _ in 0..5_000 {
            let at = random.random_range(0..BLOCKS);
            let length = random.random_range(1..=BLOCKS - at);
            if random.random() {
                for stretch in extents.stretches(at, length) {
                    if stretch.disk.is_none() {
                        // Every other time with a gap on the disk, so that not all become one.
                        next_disk += random.random_range(0..2);
                        let run = Run {
                            start: next_disk,
                            blocks: stretch.blocks,
                        };
                        extents.insert(stretch.at, run);
                        for block in 0..stretch.blocks {
                            model[(stretch.at + block) as usize] = Some(next_disk + block);
                        }
                        next_disk += stretch.blocks;
                    }
                }
            } else {
                let freed: Vec<u64> = extents
                    .remove(at, length)
                    .iter()
                    .flat_map(|run| run.start..run.end())
                    .collect();
                let range = at as usize..(at + length) as usize;
                let expected: Vec<u64> = model[range.clone()].iter().copied().flatten().collect();
                assert_eq!(freed, expected);
                model[range].fill(None);
            }
            let seen: Vec<Option<u64>> = extents
                .stretches(0, BLOCKS)
                .iter()
                .flat_map(|stretch| {
                    (0..stretch.blocks).map(|block| stretch.disk.map(|disk| disk + block))
                })
                .collect();
            assert_eq!(seen, model);
            assert_eq!(extents.blocks(), model.iter().flatten().count() as u64);
        }
    }
}
