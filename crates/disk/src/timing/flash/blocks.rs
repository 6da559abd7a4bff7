//! Erase blocks: what lies in them, which are free, and which holds the least.

use std::collections::VecDeque;

use super::geometry::Geometry;

/// No block, no unit: the end of a list, a slot of a page that was padded.
pub(super) const NONE: u32 = u32::MAX;

/// Host writes and pages that garbage collection moves go into separate blocks. Moved pages have
/// lived long and will probably live on, so they are kept apart from short-lived ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Host = 0,
    Collected = 1,
}

#[derive(Debug)]
pub(super) struct Block {
    /// The unit at each position, as far as it is known.
    pub(super) units: Vec<u32>,
    /// Positions with valid data.
    pub(super) valid: u32,
    /// Positions with data from before the drive was switched on, of units that are not yet
    /// decided.
    pub(super) anonymous: u32,
    /// It holds the units that sequential preconditioning put there.
    pub(super) original: bool,
    /// It is in its die's list of blocks that may be collected.
    listed: bool,
    previous: u32,
    next: u32,
}

#[derive(Debug)]
struct DieBlocks {
    /// The one erased longest ago is used first.
    free: VecDeque<u32>,
    open: [u32; 2],
    /// The first block of each number of valid units.
    heads: Vec<u32>,
    /// No listed block holds less.
    least_valid: u32,
    /// Units wanted on the whole die.
    valid: u64,
}

#[derive(Debug)]
pub(super) struct Blocks {
    all: Vec<Block>,
    dies: Vec<DieBlocks>,
    per_die: u32,
    units_per_block: u32,
}

impl Blocks {
    /// All of them free.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let per_die = geometry.blocks_per_die;
        Self {
            all: (0..geometry.dies * per_die)
                .map(|_| Block::free())
                .collect(),
            dies: (0..geometry.dies)
                .map(|die| DieBlocks {
                    free: (die * per_die..(die + 1) * per_die).collect(),
                    open: [NONE; 2],
                    heads: vec![NONE; geometry.units_per_block as usize + 1],
                    least_valid: geometry.units_per_block,
                    valid: 0,
                })
                .collect(),
            per_die,
            units_per_block: geometry.units_per_block,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    pub(super) fn get(&self, block: u32) -> &Block {
        &self.all[block as usize]
    }

    pub(super) fn get_mut(&mut self, block: u32) -> &mut Block {
        &mut self.all[block as usize]
    }

    pub(super) fn free_blocks(&self, die: u32) -> usize {
        self.dies[die as usize].free.len()
    }

    /// Whether a page can be put there. The last free block is reserved for the collection, which
    /// frees others with it.
    pub(super) fn has_room(&self, die: u32, stream: Stream) -> bool {
        let die = &self.dies[die as usize];
        let kept = usize::from(stream == Stream::Host);
        die.open[stream as usize] != NONE || die.free.len() > kept
    }

    /// Fills the next free block with what was there before the drive was switched on.
    pub(super) fn fill(&mut self, die: u32, valid: u32, anonymous: u32) {
        let room = &mut self.dies[die as usize];
        let block = room.free.pop_front().expect("a free block");
        room.valid += u64::from(valid);
        let entry = &mut self.all[block as usize];
        (entry.valid, entry.anonymous) = (valid, anonymous);
        entry.original = anonymous == 0;
        self.list(block);
    }

    /// Units wanted on a die.
    pub(super) fn valid_on(&self, die: u32) -> u64 {
        self.dies[die as usize].valid
    }

    /// Puts a unit (or nothing) at the next position of a stream and returns the location.
    pub(super) fn append(&mut self, die: u32, stream: Stream, unit: u32) -> u32 {
        let room = &mut self.dies[die as usize];
        let mut block = room.open[stream as usize];
        if block == NONE {
            block = room.free.pop_front().expect("has_room was asked");
            let units = &mut self.all[block as usize].units;
            units.reserve_exact(self.units_per_block as usize);
            room.open[stream as usize] = block;
        }
        let entry = &mut self.all[block as usize];
        let position = entry.units.len() as u32;
        entry.units.push(unit);
        if position + 1 == self.units_per_block {
            self.dies[die as usize].open[stream as usize] = NONE;
            self.list(block);
        }
        block * self.units_per_block + position
    }

    pub(super) fn block_of(&self, location: u32) -> u32 {
        location / self.units_per_block
    }

    pub(super) fn die_of(&self, block: u32) -> u32 {
        block / self.per_die
    }

    /// One of the block's units is wanted, after all or not any more.
    pub(super) fn add_valid(&mut self, block: u32) {
        let listed = self.unlist(block);
        self.all[block as usize].valid += 1;
        self.dies[(block / self.per_die) as usize].valid += 1;
        if listed {
            self.list(block);
        }
    }

    pub(super) fn remove_valid(&mut self, block: u32, count: u32) {
        let listed = self.unlist(block);
        self.all[block as usize].valid -= count;
        self.dies[(block / self.per_die) as usize].valid -= u64::from(count);
        if listed {
            self.list(block);
        }
    }

    /// Puts a full block among those that may be collected.
    pub(super) fn list(&mut self, block: u32) {
        let die = &mut self.dies[(block / self.per_die) as usize];
        let valid = self.all[block as usize].valid;
        let next = std::mem::replace(&mut die.heads[valid as usize], block);
        die.least_valid = die.least_valid.min(valid);
        if next != NONE {
            self.all[next as usize].previous = block;
        }
        let entry = &mut self.all[block as usize];
        (entry.listed, entry.previous, entry.next) = (true, NONE, next);
    }

    fn unlist(&mut self, block: u32) -> bool {
        let entry = &mut self.all[block as usize];
        if !entry.listed {
            return false;
        }
        entry.listed = false;
        let (valid, previous, next) = (entry.valid, entry.previous, entry.next);
        if previous == NONE {
            self.dies[(block / self.per_die) as usize].heads[valid as usize] = next;
        } else {
            self.all[previous as usize].next = next;
        }
        if next != NONE {
            self.all[next as usize].previous = previous;
        }
        true
    }

    /// Greedy: the block with the fewest valid units, unless nothing is gained by it.
    pub(super) fn take_victim(&mut self, die: u32) -> Option<u32> {
        let room = &mut self.dies[die as usize];
        while room.least_valid < self.units_per_block {
            let block = room.heads[room.least_valid as usize];
            if block != NONE {
                self.unlist(block);
                return Some(block);
            }
            room.least_valid += 1;
        }
        None
    }

    pub(super) fn erase(&mut self, block: u32) {
        let entry = &mut self.all[block as usize];
        debug_assert_eq!(entry.valid, 0, "what is wanted was moved before");
        entry.units.clear();
        entry.original = false;
        self.dies[(block / self.per_die) as usize]
            .free
            .push_back(block);
    }
}

impl Block {
    fn free() -> Self {
        Self {
            units: Vec::new(),
            valid: 0,
            anonymous: 0,
            original: false,
            listed: false,
            previous: NONE,
            next: NONE,
        }
    }
}
