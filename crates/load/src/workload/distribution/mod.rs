//! Which rows are asked for: sysbench's distributions over 1..=rows.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, Zipf};

mod bell;
mod special;
#[cfg(test)]
mod tests;

use special::{Hot, Hot1020};

/// Pareto: this share of the rows takes all but as large a share of the accesses.
const PARETO_H: f64 = 0.2;

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

/// A distribution before the number of rows is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    pub choice: Choice,
    /// Zipfian: row r in proportion to r^-exponent, 0 or more.
    pub exponent: f64,
}

/// As sysbench has it if nobody says otherwise.
impl From<Choice> for Law {
    fn from(choice: Choice) -> Self {
        Self {
            choice,
            exponent: 0.8,
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
    Gaussian,
}

impl Distribution {
    /// # Panics
    /// If there are no rows to choose from, or the exponent is below 0.
    pub fn new(law: impl Into<Law>, rows: u64) -> Self {
        assert!(rows > 0, "a distribution needs at least one row");
        let Law { choice, exponent } = law.into();
        let shape = match choice {
            Choice::Uniform => Shape::Uniform,
            Choice::Special => Shape::Special(Hot::new(rows)),
            Choice::Special1020 => Shape::Special1020(Hot1020::new(rows)),
            // Rejection sampling after Crease, as rand_distr documents it; ranks are row numbers,
            // so that the hot rows are neighbours, as in sysbench.
            Choice::Zipfian => Shape::Zipfian(
                Zipf::new(rows as f64, exponent).expect("rows >= 1 and an exponent >= 0"),
            ),
            // (x / N)^(1 / power) of the accesses fall on the first x rows: 1 - h of them on the
            // first h N.
            Choice::Pareto => Shape::Pareto {
                power: PARETO_H.ln() / (1.0 - PARETO_H).ln(),
            },
            Choice::Gaussian => Shape::Gaussian,
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
            Shape::Gaussian => 1 + whole(self.rows as f64 * bell::draw(rng)),
        };
        row.clamp(1, self.rows)
    }
}

/// Cuts the fraction off.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(row: f64) -> u64 {
    row as u64 // a float outside the integers' range becomes the nearest of them
}
