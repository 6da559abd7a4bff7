//! Maps by number: of blocks, lines and rows, which no stranger chooses.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map that spreads its keys by one multiplication. The standard one also guards against keys
/// chosen to collide, at several times the cost.
pub(in crate::timing) type NumberMap<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;

#[derive(Clone, Copy, Default)]
pub(in crate::timing) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing (Knuth, volume 3, 6.4), folded: the map looks at both ends of the word.
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        let bytes = product.to_le_bytes();
        let word = |from: usize| {
            u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"))
        };
        self.0 = word(0) ^ word(8);
    }
}
