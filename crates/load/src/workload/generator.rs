//! Random draws: a generator for each purpose, so that no purpose's draws depend on another's.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of one place, such as a client's number and its iteration, or a table's and a
/// row's. The constants of Weyl sequences keep the places apart; the generator's own seeding
/// spreads the sum over 256 bits.
pub fn generator(seed: u64, [first, second]: [u64; 2]) -> Xoshiro256PlusPlus {
    let place =
        first.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ second.wrapping_mul(0xD1B5_4A32_D192_ED03);
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(place))
}

/// The generator of a client's draws.
pub fn client_generator(seed: u64, client: usize) -> Xoshiro256PlusPlus {
    generator(seed, [client as u64 + 1, 0])
}
