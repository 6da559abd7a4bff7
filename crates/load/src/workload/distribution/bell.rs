//! The bell that sysbench calls gaussian: the mean of a few uniform draws.

use rand::{Rng, RngExt};

/// The mean of uniform draws from [0, 1): its standard deviation is 1 / sqrt(12 draws).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bell {
    draws: u32,
}

impl Bell {
    pub(super) fn new(draws: u32) -> Self {
        assert!(draws > 0, "a mean needs at least one draw");
        Self { draws }
    }

    pub(super) fn draw(self, rng: &mut impl Rng) -> f64 {
        let sum: f64 = (0..self.draws).map(|_| rng.random::<f64>()).sum();
        sum / f64::from(self.draws)
    }
}
