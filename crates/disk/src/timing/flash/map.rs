//! The place of each unit of the address space. Memory grows with the units touched, so a drive of
//! hundreds of gigabytes is built in a moment. A heavily used chunk takes 16 KiB.

use super::few::Few;

/// The place of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As preconditioning left it; `translation` knows what that means.
    Untouched,
    /// Discarded: nowhere.
    Nowhere,
    /// In this slot of the write buffer.
    Buffered(u32),
    /// In the flash: block x units per block + position.
    Flash(u32),
}

const UNTOUCHED: u32 = u32::MAX;
const NOWHERE: u32 = u32::MAX - 1;
const BUFFERED: u32 = 1 << 31;

impl Place {
    fn pack(self) -> u32 {
        match self {
            Self::Untouched => UNTOUCHED,
            Self::Nowhere => NOWHERE,
            Self::Buffered(slot) => BUFFERED | slot,
            Self::Flash(location) => location,
        }
    }

    fn unpack(word: u32) -> Self {
        match word {
            UNTOUCHED => Self::Untouched,
            NOWHERE => Self::Nowhere,
            word if word & BUFFERED != 0 => Self::Buffered(word & !BUFFERED),
            word => Self::Flash(word),
        }
    }
}

pub(super) const CHUNK_UNITS: u32 = 4096;

#[derive(Debug)]
enum Chunk {
    /// All of its units are in this place.
    Uniform(u32),
    /// Some are elsewhere.
    Few(Few),
    Table(Box<[u32]>),
}

#[derive(Debug)]
pub(super) struct Map {
    chunks: Vec<Chunk>,
}

impl Map {
    pub(super) fn new(units: u32) -> Self {
        let chunks = units.div_ceil(CHUNK_UNITS);
        Self {
            chunks: (0..chunks).map(|_| Chunk::Uniform(UNTOUCHED)).collect(),
        }
    }

    pub(super) fn get(&self, unit: u32) -> Place {
        let within = unit % CHUNK_UNITS;
        Place::unpack(match &self.chunks[(unit / CHUNK_UNITS) as usize] {
            Chunk::Uniform(word) => *word,
            Chunk::Few(few) => few.get(within),
            Chunk::Table(table) => table[within as usize],
        })
    }

    pub(super) fn set(&mut self, unit: u32, place: Place) {
        let chunk = &mut self.chunks[(unit / CHUNK_UNITS) as usize];
        let (within, word) = (unit % CHUNK_UNITS, place.pack());
        if let Chunk::Uniform(all) = chunk {
            *chunk = Chunk::Few(Few::new(*all));
        }
        if let Chunk::Few(few) = chunk {
            if few.set(within, word) {
                return;
            }
            *chunk = Chunk::Table(few.table());
        }
        if let Chunk::Table(table) = chunk {
            table[within as usize] = word;
        }
    }

    /// The common place of all units of a chunk, if none of them was ever set on its own.
    pub(super) fn uniform(&self, chunk: u32) -> Option<Place> {
        match &self.chunks[chunk as usize] {
            Chunk::Uniform(word) => Some(Place::unpack(*word)),
            Chunk::Few(_) | Chunk::Table(_) => None,
        }
    }

    /// Discards a whole chunk.
    pub(super) fn clear(&mut self, chunk: u32) {
        self.chunks[chunk as usize] = Chunk::Uniform(NOWHERE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_kept() {
        let mut map = Map::new(10_000);
        for (unit, place) in [
            (0, Place::Flash(0)),
            (4095, Place::Flash(BUFFERED - 1)),
            (4096, Place::Buffered(7)),
            (9999, Place::Nowhere),
        ] {
            assert_eq!(map.get(unit), Place::Untouched);
            map.set(unit, place);
            assert_eq!(map.get(unit), place);
        }
        assert_eq!(map.get(1), Place::Untouched);
        assert_eq!(map.uniform(0), None);
        map.clear(0);
        assert_eq!(map.uniform(0), Some(Place::Nowhere));
        assert_eq!(map.get(4095), Place::Nowhere);
    }

    #[test]
    fn a_chunk_is_filled_unit_by_unit() {
        let mut map = Map::new(2 * CHUNK_UNITS);
        let mixed = |unit: u32| unit * 2_741 % CHUNK_UNITS;
        for unit in 0..CHUNK_UNITS {
            assert_eq!(map.get(mixed(unit)), Place::Untouched);
            map.set(mixed(unit), Place::Buffered(unit));
            map.set(mixed(unit), Place::Flash(unit));
            assert_eq!(map.get(mixed(0)), Place::Flash(0));
        }
        for unit in 0..CHUNK_UNITS {
            assert_eq!(map.get(mixed(unit)), Place::Flash(unit));
            assert_eq!(map.get(unit + CHUNK_UNITS), Place::Untouched);
        }
    }
}
