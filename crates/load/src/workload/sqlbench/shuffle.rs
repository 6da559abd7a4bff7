//! An order without order, the same each time.

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The numbers below `count`, each once, in a random order that depends on the seed alone.
pub(super) fn shuffled(count: u64, seed: u64) -> Arc<[u32]> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    numbers.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_once_and_not_in_order() {
        let order = shuffled(1000, 7);
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..1000));
        assert_ne!(*order, *sorted);
        assert_eq!(order, shuffled(1000, 7));
        assert_ne!(order, shuffled(1000, 8));
    }
}
