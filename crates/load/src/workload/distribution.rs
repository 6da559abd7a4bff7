//! Which rows are asked for: sysbench's distributions over 1..=rows.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, Zipf};

/// A distribution's name and parameters, before the number of rows is known.
#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Choice {
    /// Three quarters of all accesses fall on the middle 1% of the rows
    Special,
    /// Every row is as likely as every other
    Uniform,
    /// Row r is drawn in proportion to 1 / r^0.8
    Zipfian,
}

/// sysbench's `--rand-spec-iter`: draws whose mean makes the bell of "special".
const SPECIAL_DRAWS: u64 = 12;
/// sysbench's `--rand-spec-pct`: the hot window's share of the rows.
const SPECIAL_WINDOW_PERCENT: u64 = 1;
/// sysbench's `--rand-spec-res`: the share of accesses that go to the hot window.
const SPECIAL_HOT_PERCENT: u64 = 75;
/// sysbench's `--rand-zipfian-exp`.
const ZIPFIAN_EXPONENT: f64 = 0.8;

/// A distribution over the row numbers 1..=rows.
#[derive(Debug, Clone, Copy)]
pub struct Distribution {
    rows: u64,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Uniform,
    Special { window: u64, window_start: u64 },
    Zipfian(Zipf<f64>),
}

impl Distribution {
    /// # Panics
    /// If there are no rows to choose from.
    #[must_use]
    pub fn new(choice: Choice, rows: u64) -> Self {
        assert!(rows > 0, "a distribution needs at least one row");
        let shape = match choice {
            Choice::Uniform => Shape::Uniform,
            Choice::Special => Shape::Special {
                window: (rows * SPECIAL_WINDOW_PERCENT / 100).max(1),
                window_start: rows / 2 - rows * SPECIAL_WINDOW_PERCENT / 200,
            },
            // Rejection sampling after Crease, as rand_distr documents it; ranks are row numbers,
            // so that the hot rows are neighbours, as in sysbench.
            Choice::Zipfian => Shape::Zipfian(
                Zipf::new(rows as f64, ZIPFIAN_EXPONENT)
                    .expect("rows >= 1 and a positive exponent"),
            ),
        };
        Self { rows, shape }
    }

    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        match self.shape {
            Shape::Uniform => rng.random_range(1..=self.rows),
            Shape::Special {
                window,
                window_start,
            } => self.draw_special(rng, window, window_start),
            Shape::Zipfian(zipf) => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let rank = zipf.sample(rng) as u64; // whole and within 1..=rows
                rank.clamp(1, self.rows)
            }
        }
    }

    /// sysbench's manual: one draw over a range four times as wide decides. Its first quarter
    /// stands for the mean of twelve uniform draws, the rest for the hot window in the middle.
    fn draw_special(&self, rng: &mut impl Rng, window: u64, window_start: u64) -> u64 {
        let wide = self.rows * 100 / (100 - SPECIAL_HOT_PERCENT);
        let first = rng.random_range(1..=wide);
        let row = if first <= self.rows {
            let sum: u64 = (0..SPECIAL_DRAWS)
                .map(|_| rng.random_range(1..=self.rows))
                .sum();
            sum / SPECIAL_DRAWS
        } else {
            first % window + window_start
        };
        row.clamp(1, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const ROWS: u64 = 100_000;
    const DRAWS: usize = 200_000;

    fn sample(choice: Choice) -> Vec<u64> {
        let distribution = Distribution::new(choice, ROWS);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        (0..DRAWS).map(|_| distribution.draw(&mut rng)).collect()
    }

    fn share(sample: &[u64], range: std::ops::RangeInclusive<u64>) -> f64 {
        sample.iter().filter(|row| range.contains(row)).count() as f64 / sample.len() as f64
    }

    #[test]
    fn uniform_covers_every_tenth_alike() {
        let sample = sample(Choice::Uniform);
        for tenth in 0..10 {
            let from = tenth * ROWS / 10;
            assert!((share(&sample, from + 1..=from + ROWS / 10) - 0.1).abs() < 0.005);
        }
    }

    #[test]
    fn special_sends_three_quarters_to_one_percent() {
        let sample = sample(Choice::Special);
        let window = ROWS / 2 - ROWS / 200..=ROWS / 2 + ROWS / 200 - 1;
        // The bell of the other quarter has a standard deviation of N / sqrt(12 * 12) = N / 12,
        // so that 1% of the rows at its top draw 0.01 * 12 / sqrt(2 pi) = 4.8% of it.
        assert!((share(&sample, window) - (0.75 + 0.25 * 0.048)).abs() < 0.005);
        // Two standard deviations hold 95.4% of the bell.
        let bell = ROWS / 2 - ROWS / 6..=ROWS / 2 + ROWS / 6;
        assert!((share(&sample, bell) - (0.75 + 0.25 * 0.954)).abs() < 0.005);
    }

    #[test]
    fn zipfian_follows_its_law() {
        let sample = sample(Choice::Zipfian);
        let weight = |rows: u64| {
            (1..=rows)
                .map(|row| (row as f64).powf(-ZIPFIAN_EXPONENT))
                .sum::<f64>()
        };
        for rows in [1, 10, 1000] {
            let expected = weight(rows) / weight(ROWS);
            assert!(
                (share(&sample, 1..=rows) - expected).abs() < 0.005,
                "{rows}"
            );
        }
    }

    #[test]
    fn small_tables_stay_inside_their_rows() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for choice in [Choice::Special, Choice::Uniform, Choice::Zipfian] {
            for rows in 1..=3 {
                let distribution = Distribution::new(choice, rows);
                for _ in 0..1000 {
                    assert!((1..=rows).contains(&distribution.draw(&mut rng)));
                }
            }
        }
    }
}
