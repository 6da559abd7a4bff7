//! The flash translation layer's memory: where each unit is, and what that leaves in each block.
//!
//! The data from before the drive was switched on is not laid out. After sequential preconditioning
//! a unit's place follows from its address. After random preconditioning only *how much* each block
//! holds is laid down, in the proportions of a steady state. *Which* unit that is gets decided when
//! the unit is first overwritten, by a draw among all undecided ones. Random overwriting makes
//! units exchangeable, so this has the same distribution as deciding beforehand, and costs nothing.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::blocks::{Blocks, NONE, Stream};
use super::geometry::Geometry;
use super::map::{CHUNK_UNITS, Map, Place};
use super::parameters::{FlashParameters, Preconditioning};

#[derive(Debug)]
pub(super) struct Translation {
    pub(super) map: Map,
    pub(super) blocks: Blocks,
    pub(super) random: Xoshiro256PlusPlus,
    preconditioning: Preconditioning,
    /// Units that held data when the drive was switched on.
    pub(super) filled: u32,
    /// Units of the address space that were never written or discarded since.
    untouched: u64,
    /// Valid units without a decided address.
    pub(super) anonymous: u64,
    pub(super) geometry: Geometry,
}

impl Translation {
    pub(super) fn new(geometry: Geometry, parameters: &FlashParameters, seed: u64) -> Self {
        let mut new = Self {
            map: Map::new(geometry.units),
            blocks: Blocks::new(&geometry),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            preconditioning: parameters.preconditioning.value,
            filled: (f64::from(geometry.units) * parameters.filled.value).round() as u32,
            untouched: u64::from(geometry.units),
            anonymous: 0,
            geometry,
        };
        match new.preconditioning {
            Preconditioning::Sequential => new.fill_in_order(),
            Preconditioning::Random => new.fill_as_after_random_writes(),
        }
        new
    }

    /// Invalidates the unit's bytes at `place`, its entry in the map, and returns whether they were
    /// in the flash. The caller sets its new place.
    pub(super) fn forget(&mut self, unit: u32, place: Place) -> bool {
        match place {
            Place::Flash(location) => {
                let block = self.blocks.block_of(location);
                self.blocks.remove_valid(block, 1);
                true
            }
            Place::Untouched => self.touch(unit),
            Place::Nowhere | Place::Buffered(_) => false,
        }
    }

    fn touch(&mut self, unit: u32) -> bool {
        let untouched = self.untouched;
        self.untouched -= 1;
        match self.preconditioning {
            Preconditioning::Sequential if unit < self.filled => {
                self.blocks.remove_valid(self.home(unit), 1);
                true
            }
            Preconditioning::Random if self.random.random_range(0..untouched) < self.anonymous => {
                self.drop_anonymous();
                true
            }
            _ => false,
        }
    }

    fn home(&self, unit: u32) -> u32 {
        let geometry = &self.geometry;
        let page = unit / geometry.units_per_page;
        let row = page / geometry.dies / geometry.pages_per_block;
        page % geometry.dies * geometry.blocks_per_die + row
    }

    /// Decides one undecided unit: a block is drawn in proportion to what is undecided in it.
    pub(super) fn drop_anonymous(&mut self) {
        let most = self.geometry.units_per_block;
        loop {
            let block = self.random.random_range(0..self.blocks.len());
            if self.random.random_range(0..most) < self.blocks.get(block).anonymous {
                self.blocks.get_mut(block).anonymous -= 1;
                self.blocks.remove_valid(block, 1);
                self.anonymous -= 1;
                return;
            }
        }
    }

    /// Discards units. Untouched units go in whole chunks, so that discarding a whole drive, as
    /// mkfs does, takes a moment too. The caller handles units in the buffer.
    pub(super) fn discard(&mut self, units: std::ops::Range<u32>) {
        let mut undecided = 0;
        let mut unit = units.start;
        while unit < units.end {
            let chunk_end = unit + CHUNK_UNITS;
            let whole = unit.is_multiple_of(CHUNK_UNITS) && chunk_end <= units.end;
            match self.map.uniform(unit / CHUNK_UNITS) {
                Some(Place::Nowhere) if whole => unit = chunk_end,
                Some(Place::Untouched) if whole => {
                    self.drop_originals(unit..chunk_end);
                    self.map.clear(unit / CHUNK_UNITS);
                    undecided += u64::from(CHUNK_UNITS);
                    unit = chunk_end;
                }
                _ => {
                    let place = self.map.get(unit);
                    if !matches!(place, Place::Buffered(_) | Place::Nowhere) {
                        self.forget(unit, place);
                        self.map.set(unit, Place::Nowhere);
                    }
                    unit += 1;
                }
            }
        }
        self.decide(undecided);
    }

    fn drop_originals(&mut self, units: std::ops::Range<u32>) {
        if self.preconditioning == Preconditioning::Random {
            return;
        }
        let mut unit = units.start;
        let end = units.end.min(self.filled);
        let per_page = self.geometry.units_per_page;
        while unit < end {
            let until = ((unit / per_page + 1) * per_page).min(end);
            self.blocks.remove_valid(self.home(unit), until - unit);
            unit = until;
        }
    }

    /// Removes that many untouched units: those that held data leave the blocks.
    fn decide(&mut self, units: u64) {
        if units == 0 {
            return;
        }
        let share = units as f64 / self.untouched as f64;
        let gone = (self.anonymous as f64 * share).round() as u64;
        self.untouched -= units;
        if gone < u64::from(self.blocks.len()) {
            (0..gone).for_each(|_| self.drop_anonymous());
            return;
        }
        for block in 0..self.blocks.len() {
            let held = self.blocks.get(block).anonymous;
            let leaving = f64::from(held) * share + self.random.random::<f64>();
            let leaving = (leaving as u32).min(held);
            self.blocks.get_mut(block).anonymous -= leaving;
            self.blocks.remove_valid(block, leaving);
            self.anonymous -= u64::from(leaving);
        }
        // Rounding may have left more of them than there are untouched units.
        while self.anonymous > self.untouched {
            self.drop_anonymous();
        }
    }

    /// The next unit of a block that is still in its place, from `cursor` on.
    pub(super) fn next_valid(&self, block: u32, cursor: &mut u32) -> Option<(u32, Place)> {
        let entry = self.blocks.get(block);
        let per_block = self.geometry.units_per_block;
        while *cursor < per_block {
            let position = *cursor;
            *cursor += 1;
            let (unit, place) = if entry.original {
                match self.original_at(block, position) {
                    Some(unit) => (unit, Place::Untouched),
                    None => continue,
                }
            } else {
                match entry.units.get(position as usize) {
                    Some(&unit) if unit != NONE => {
                        (unit, Place::Flash(block * per_block + position))
                    }
                    Some(_) => continue,
                    None => return None,
                }
            };
            if self.map.get(unit) == place {
                return Some((unit, place));
            }
        }
        None
    }

    /// The unit that sequential preconditioning put at a position of a block.
    pub(super) fn original_at(&self, block: u32, position: u32) -> Option<u32> {
        let geometry = &self.geometry;
        let (die, row) = (
            block / geometry.blocks_per_die,
            block % geometry.blocks_per_die,
        );
        let per_page = geometry.units_per_page;
        let row_page =
            u64::from(row) * u64::from(geometry.pages_per_block) + u64::from(position / per_page);
        let page = row_page * u64::from(geometry.dies) + u64::from(die);
        let unit = page * u64::from(per_page) + u64::from(position % per_page);
        (unit < u64::from(self.filled)).then_some(unit as u32)
    }

    /// Moves a unit that collection found at `from`, unless it was overwritten meanwhile.
    pub(super) fn move_unit(&mut self, die: u32, victim: u32, unit: u32, from: Place) {
        if self.map.get(unit) != from {
            self.blocks.append(die, Stream::Collected, NONE);
            return;
        }
        let location = self.blocks.append(die, Stream::Collected, unit);
        self.blocks.remove_valid(victim, 1);
        self.blocks.add_valid(self.blocks.block_of(location));
        self.map.set(unit, Place::Flash(location));
        if from == Place::Untouched {
            self.untouched -= 1;
        }
    }

    /// Moves undecided units, as many of them as there still are.
    pub(super) fn move_anonymous(&mut self, die: u32, victim: u32, count: u32) {
        for _ in 0..count {
            let location = self.blocks.append(die, Stream::Collected, NONE);
            if self.blocks.get(victim).anonymous == 0 {
                continue;
            }
            let block = self.blocks.block_of(location);
            self.blocks.get_mut(victim).anonymous -= 1;
            self.blocks.remove_valid(victim, 1);
            self.blocks.get_mut(block).anonymous += 1;
            self.blocks.add_valid(block);
        }
    }

    /// Leaves that many positions empty.
    pub(super) fn pad(&mut self, die: u32, stream: Stream, positions: u32) {
        for _ in 0..positions {
            self.blocks.append(die, stream, NONE);
        }
    }

    /// Die and page to read a unit from, if the map has it at `place`. A unit that was never
    /// written lies where its address says after sequential preconditioning, and anywhere after
    /// random. A discarded unit is read all the same.
    pub(super) fn page_of(&self, unit: u32, place: Place) -> (u32, u64) {
        let Geometry {
            dies,
            units_per_page,
            ..
        } = self.geometry;
        match place {
            Place::Flash(location) => {
                let die = self.blocks.die_of(self.blocks.block_of(location));
                (die, u64::from(location / units_per_page))
            }
            _ if self.preconditioning == Preconditioning::Random => {
                let draw = scatter(unit);
                ((draw >> 8) as u32 % dies, draw | 1 << 63)
            }
            _ => {
                let page = unit / units_per_page;
                (page % dies, u64::from(page / dies) | 1 << 62)
            }
        }
    }
}

/// A number that seems drawn, always the same one for a unit (the finaliser of splitmix64).
fn scatter(unit: u32) -> u64 {
    let mut draw = u64::from(unit).wrapping_add(0x9e37_79b9_7f4a_7c15);
    draw = (draw ^ (draw >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    draw = (draw ^ (draw >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (draw ^ (draw >> 31)) & !(0b11 << 62)
}
