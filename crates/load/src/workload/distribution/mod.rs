//! Which rows are asked for: sysbench's distributions over 1..=rows.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, Zipf};

mod bell;
mod special;
#[cfg(test)]
mod tests;

use bell::Bell;
use special::{Hot, Hot1020};

/// A distribution's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// Three quarters of all accesses fall on the middle 1% of the rows, the others on a bell
    Special,
    /// What sysbench 1.0.20 makes of "special": the hot rows are the upper 3/4 of that 1%
    #[value(name = "special-1.0.20")]
    Special1020,
    /// Every row is as likely as every other
    Uniform,
    /// Row r is drawn in proportion to 1 / r^0.8
    Zipfian,
    /// 80% of all accesses fall on the first 20% of the rows, and so on within these
    Pareto,
    /// A bell over all rows: the mean of 12 uniform draws
    Gaussian,
}

/// A distribution with its parameters, before the number of rows is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    Uniform,
    Special(Special),
    Special1020(Special),
    /// Row r in proportion to r^-exponent; sysbench's `--rand-zipfian-exp`, 0 or more.
    Zipfian {
        exponent: f64,
    },
    /// The share h of the rows takes the share 1 - h of the accesses; sysbench's
    /// `--rand-pareto-h`, above 0 and below 1.
    Pareto {
        h: f64,
    },
    /// The mean of that many uniform draws, at least 1.
    Gaussian {
        draws: u32,
    },
}

/// The parameters of "special".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// Number of uniform draws to average, at least 1; sysbench's `--rand-spec-iter`.
    pub draws: u32,
    /// The hot window's share of the rows, 1 to 100; sysbench's `--rand-spec-pct`.
    pub window_percent: u32,
    /// The share of accesses that go to the hot window, 0 to 99; sysbench's `--rand-spec-res`.
    pub hot_percent: u32,
}

/// sysbench's defaults.
impl Default for Special {
    fn default() -> Self {
        Self {
            draws: 12,
            window_percent: 1,
            hot_percent: 75,
        }
    }
}

/// With sysbench's default parameters.
impl From<Choice> for Law {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Special => Self::Special(Special::default()),
            Choice::Special1020 => Self::Special1020(Special::default()),
            Choice::Uniform => Self::Uniform,
            Choice::Zipfian => Self::Zipfian { exponent: 0.8 },
            Choice::Pareto => Self::Pareto { h: 0.2 },
            Choice::Gaussian => Self::Gaussian {
                draws: Special::default().draws,
            },
        }
    }
}

/// A distribution over the row numbers 1..=rows.
#[derive(Debug, Clone, Copy)]
pub struct Distribution {
    rows: u64,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Uniform,
    Special(Hot),
    Special1020(Hot1020),
    Zipfian(Zipf<f64>),
    Pareto { power: f64 },
    Gaussian(Bell),
}

impl Distribution {
    /// # Panics
    /// If there are no rows to choose from, or a parameter lies outside its limits.
    #[must_use]
    pub fn new(law: impl Into<Law>, rows: u64) -> Self {
        assert!(rows > 0, "a distribution needs at least one row");
        let shape = match law.into() {
            Law::Uniform => Shape::Uniform,
            Law::Special(special) => Shape::Special(Hot::new(special, rows)),
            Law::Special1020(special) => Shape::Special1020(Hot1020::new(special, rows)),
            // Rejection sampling after Crease, as rand_distr documents it; ranks are row numbers,
            // so that the hot rows are neighbours, as in sysbench.
            Law::Zipfian { exponent } => Shape::Zipfian(
                Zipf::new(rows as f64, exponent).expect("rows >= 1 and an exponent >= 0"),
            ),
            // (x / N)^(1 / power) of the accesses fall on the first x rows: 1 - h of them on the
            // first h N.
            Law::Pareto { h } => Shape::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            Law::Gaussian { draws } => Shape::Gaussian(Bell::new(draws)),
        };
        Self { rows, shape }
    }

    #[inline]
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        let row = match &self.shape {
            Shape::Uniform => return rng.random_range(1..=self.rows),
            Shape::Special(hot) => hot.draw(self.rows, rng),
            Shape::Special1020(hot) => hot.draw(rng),
            Shape::Zipfian(zipf) => whole(zipf.sample(rng)),
            Shape::Pareto { power } => {
                1 + whole(self.rows as f64 * rng.random::<f64>().powf(*power))
            }
            Shape::Gaussian(bell) => 1 + whole(self.rows as f64 * bell.draw(rng)),
        };
        row.clamp(1, self.rows)
    }
}

/// Cuts the fraction off.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(row: f64) -> u64 {
    row as u64 // a float outside the integers' range becomes the nearest of them
}
