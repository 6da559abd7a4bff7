//! The share of the original's loops and tables to run.

use std::fmt;

/// Below this, tables have too few rows for the ranges that their statements ask for.
const SMALLEST: f64 = 0.001;

/// A factor on every loop count and table size: 1 is the original.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

impl Scale {
    /// The original's own size.
    pub const FULL: Self = Self(1.0);

    /// From 0.001 to 1; the error says so.
    pub fn new(factor: f64) -> Result<Self, String> {
        if (SMALLEST..=1.0).contains(&factor) {
            return Ok(Self(factor));
        }
        Err(format!(
            "{factor} is not from {SMALLEST} to 1 (1 is the original size; below {SMALLEST} its loops are empty)"
        ))
    }

    /// A count of the original at this scale: at least 1.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product lies between 0 and `full`"
    )]
    pub fn of(self, full: u64) -> u64 {
        ((full as f64 * self.0).round() as u64).max(1)
    }

    #[must_use]
    pub fn is_full(self) -> bool {
        self == Self::FULL
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let factor = text
            .parse()
            .map_err(|_| format!("{text:?} is not a number"))?;
        Self::new(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_shrink_in_proportion_and_never_to_nothing() {
        let scale: Scale = "0.01".parse().unwrap();
        assert_eq!(
            [300_000, 501, 10, 1].map(|full| scale.of(full)),
            [3000, 5, 1, 1]
        );
        assert_eq!(Scale::FULL.of(25_010), 25_010);
    }

    #[test]
    fn factors_out_of_range_are_refused() {
        for wrong in ["0", "-1", "0.0009", "1.5", "nan", "inf", "x", ""] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
        assert!("0.001".parse::<Scale>().is_ok());
        assert!("1".parse::<Scale>().is_ok_and(Scale::is_full));
    }
}
