//! The data on the drive when it is switched on.

use rand::RngExt;

use super::geometry::{Geometry, WORKING_BLOCKS};
use super::translation::Translation;

impl Translation {
    /// Pages go round the dies, so that the n-th page of the address space lies on die n mod dies.
    pub(super) fn fill_in_order(&mut self) {
        let geometry = &self.geometry;
        let row_units = u64::from(geometry.units_per_block) * u64::from(geometry.dies);
        let rows = u64::from(self.filled).div_ceil(row_units) as u32;
        for die in 0..geometry.dies {
            for row in 0..rows {
                let block = die * geometry.blocks_per_die + row;
                let last = geometry.units_per_block - 1;
                let valid = if self.original_at(block, last).is_some() {
                    geometry.units_per_block
                } else {
                    (0..last)
                        .filter(|position| self.original_at(block, *position).is_some())
                        .count() as u32
                };
                self.blocks.fill(die, valid, 0);
            }
        }
    }

    /// The steady state of greedy collection under uniform random writes: blocks are filled, lose
    /// their units at the same rate and are collected when a share `least` is left, so that the
    /// share in a block of age a (0 to 1) is `least^a`, and the mean share is what is filled:
    /// (1 - least) / ln(1 / least).
    pub(super) fn fill_as_after_random_writes(&mut self) {
        if self.filled == 0 {
            return;
        }
        let Geometry {
            dies,
            units_per_block,
            blocks_per_die,
            ..
        } = self.geometry;
        let used = blocks_per_die - WORKING_BLOCKS;
        let places = f64::from(used) * f64::from(units_per_block) * f64::from(dies);
        let least = least_valid_share(f64::from(self.filled) / places);
        for die in 0..dies {
            for nth in 0..used {
                let age = (f64::from(nth) + 0.5) / f64::from(used);
                let valid =
                    f64::from(units_per_block) * least.powf(age) + self.random.random::<f64>();
                let valid = (valid as u32).min(units_per_block);
                self.blocks.fill(die, valid, valid);
                self.anonymous += u64::from(valid);
            }
        }
        // Rounding may have made more of them than there are units.
        while self.anonymous > u64::from(self.filled) {
            self.drop_anonymous();
        }
    }
}

/// The root of (1 - x) / ln(1 / x) = `mean`, which rises with x.
pub(super) fn least_valid_share(mean: f64) -> f64 {
    let (mut low, mut high) = (1e-300_f64, 1.0 - 1e-9);
    for _ in 0..200 {
        // Halving the exponent, since the root of a small mean is very small.
        let middle = (low * high).sqrt();
        if (1.0 - middle) / -middle.ln() < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_share_gives_the_mean() {
        for mean in [0.01, 0.1, 0.5, 0.78, 0.93, 0.99] {
            let least = least_valid_share(mean);
            assert!(
                ((1.0 - least) / -least.ln() - mean).abs() < 1e-6,
                "{mean}: {least}"
            );
        }
    }
}
