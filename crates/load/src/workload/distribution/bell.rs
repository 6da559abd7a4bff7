//! The bell that sysbench calls gaussian: the mean of a few uniform draws.

use rand::{Rng, RngExt};

pub(super) const DRAWS: u32 = 12;

/// The mean of uniform draws from [0, 1): its standard deviation is 1 / 12.
pub(super) fn draw(rng: &mut impl Rng) -> f64 {
    let sum: f64 = (0..DRAWS).map(|_| rng.random::<f64>()).sum();
    sum / f64::from(DRAWS)
}
