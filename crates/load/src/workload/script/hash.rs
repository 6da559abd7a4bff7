//! pgbench's hashes of one integer, and a permutation of a range.

/// `MurmurHash2`, the 64-bit variant A (Austin Appleby), of the value's eight bytes.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xC6A4_A793_5BD1_E995;
    let mix = |word: u64| word ^ (word >> 47);
    let block = mix(value.cast_unsigned().wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let length = 8_u64.wrapping_mul(FACTOR);
    let hash = (seed.cast_unsigned() ^ length ^ block).wrapping_mul(FACTOR);
    mix(mix(hash).wrapping_mul(FACTOR)).cast_signed()
}

/// FNV-1a (Fowler, Noll, Vo) with 64 bits, of the value's eight bytes, the lowest first; the seed
/// goes into the offset basis.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    let begun = BASIS ^ seed.cast_unsigned();
    let bytes = value.to_le_bytes();
    bytes
        .iter()
        .fold(begun, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        })
        .cast_signed()
}

/// Rounds of the Feistel network: with four, no test distinguishes the permutation from a random
/// one (Luby and Rackoff 1988).
const ROUNDS: i64 = 4;

/// The image of `value` (modulo `size`) in a permutation of 0..size that the seed chooses; not the
/// same one as pgbench's. A Feistel network over the next even number of bits, walked until it is
/// back in the range (Black and Rogaway 2002): at most four steps on average.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> Result<i64, String> {
    if size <= 0 {
        return Err(format!("the size of permute must be above 0, not {size}"));
    }
    let bits = 64 - (size.cast_unsigned() - 1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut word = value.rem_euclid(size).cast_unsigned();
    loop {
        let (mut left, mut right) = (word >> half, word & mask);
        for round in 0..ROUNDS {
            let mixed = murmur2(right.cast_signed(), seed.wrapping_add(round)).cast_unsigned();
            (left, right) = (right, left ^ (mixed & mask));
        }
        word = (left << half) | right;
        if word < size.cast_unsigned() {
            return Ok(word.cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The values of pgbench's manual.
    #[test]
    fn hashes_are_pgbenchs() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }

    #[test]
    fn a_permutation_reaches_everything_once() {
        for size in [1, 2, 3, 7, 64, 1000] {
            let reached: HashSet<_> = (0..size).map(|i| permute(i, size, 9).unwrap()).collect();
            assert_eq!(reached.len(), usize::try_from(size).unwrap());
            assert!(reached.iter().all(|value| (0..size).contains(value)));
        }
        let order = |seed| (0..100).map(move |i| permute(i, 100, seed).unwrap());
        assert!(order(1).ne(order(2)), "the seed chooses");
        assert!(order(1).ne(0..100));
        assert_eq!(permute(107, 100, 1), permute(7, 100, 1));
        assert_eq!(permute(-93, 100, 1), permute(7, 100, 1));
        assert!((0..i64::MAX).contains(&permute(5, i64::MAX, 1).unwrap()));
        assert!(permute(1, 0, 1).is_err());
    }
}
