//! A compact table for a chunk with few units that are not in their default place, as most of a
//! drive of hundreds of gigabytes is. It fits into the processor's cache; a plain table would not.

use super::map::CHUNK_UNITS;

/// No unit in the chunk has this number.
const EMPTY: u64 = u64::MAX;
const FIRST_SLOTS: usize = 8;
/// More would take the memory of a plain table.
const MOST_SLOTS: usize = CHUNK_UNITS as usize / 4;
/// Spreads neighbours and strides: 2^32 over the golden ratio (Knuth, volume 3, 6.4).
const SPREAD: u32 = 0x9e37_79b9;

/// An open hash table with linear probing; nothing leaves it.
#[derive(Debug)]
pub(super) struct Few {
    /// The places of the units that are not in the table.
    rest: u32,
    len: u32,
    /// Unit within the chunk above, word below; a power of two of them.
    slots: Box<[u64]>,
}

impl Few {
    pub(super) fn new(rest: u32) -> Self {
        Self {
            rest,
            len: 0,
            slots: vec![EMPTY; FIRST_SLOTS].into(),
        }
    }

    pub(super) fn get(&self, unit: u32) -> u32 {
        let slot = self.slots[self.find(unit)];
        if slot == EMPTY {
            self.rest
        } else {
            slot as u32
        }
    }

    /// Whether there was room; if not, nothing was changed.
    #[must_use]
    pub(super) fn set(&mut self, unit: u32, word: u32) -> bool {
        let mut index = self.find(unit);
        if self.slots[index] == EMPTY {
            // Half stays empty, so that probing ends at once.
            if self.len as usize >= self.slots.len() / 2 {
                if self.slots.len() == MOST_SLOTS {
                    return false;
                }
                self.grow();
                index = self.find(unit);
            }
            self.len += 1;
        }
        self.slots[index] = u64::from(unit) << 32 | u64::from(word);
        true
    }

    /// All units of the chunk, in order.
    pub(super) fn table(&self) -> Box<[u32]> {
        let mut table = vec![self.rest; CHUNK_UNITS as usize];
        for slot in self.held() {
            table[(slot >> 32) as usize] = slot as u32;
        }
        table.into()
    }

    fn held(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().copied().filter(|&slot| slot != EMPTY)
    }

    /// The slot of a unit, or the empty one where it would be.
    fn find(&self, unit: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = (unit.wrapping_mul(SPREAD) >> 22) as usize & mask;
        while self.slots[index] != EMPTY && (self.slots[index] >> 32) as u32 != unit {
            index = (index + 1) & mask;
        }
        index
    }

    fn grow(&mut self) {
        let mut larger = Self {
            slots: vec![EMPTY; self.slots.len() * 2].into(),
            ..*self
        };
        for slot in self.held() {
            let index = larger.find((slot >> 32) as u32);
            larger.slots[index] = slot;
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_found_until_it_is_full_and_in_the_table_then() {
        for stride in [1, 4, 7, 64] {
            let mut few = Few::new(9);
            let units =
                (0..CHUNK_UNITS).map(|nth| nth * stride % CHUNK_UNITS + nth * stride / CHUNK_UNITS);
            let held: Vec<_> = units
                .zip(10..)
                .take_while(|&(unit, word)| few.set(unit, word))
                .collect();
            assert_eq!(held.len(), MOST_SLOTS / 2);
            let table = few.table();
            for &(unit, word) in &held {
                assert_eq!((few.get(unit), table[unit as usize]), (word, word));
            }
            assert_eq!(
                table.iter().filter(|&&word| word == 9).count(),
                4096 - held.len()
            );
        }
    }
}
