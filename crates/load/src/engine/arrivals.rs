//! When the transactions of an open loop are to begin: a law, without a clock.

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The law by which transactions arrive, without waiting for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Arrivals {
    /// As if many users who know nothing of one another sent them: the gaps are exponential.
    Poisson,
    /// One after the other, all gaps equal.
    Even,
}

impl Arrivals {
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Even => "even",
        }
    }
}

/// An open loop: transactions begin at its moments, however many are in progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Transactions of the whole run.
    pub per_s: f64,
    pub arrivals: Arrivals,
}

/// The instants at which a run's transactions are to begin, in order and without end.
#[derive(Debug, Clone)]
pub(super) struct Instants {
    start_ns: u64,
    mean_gap_ns: f64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Even {
        count: u64,
    },
    Poisson {
        since_start_ns: f64,
        random: Box<Xoshiro256PlusPlus>,
    },
}

impl Instants {
    pub(super) fn new(rate: Rate, seed: u64, start_ns: u64) -> Self {
        let law = match rate.arrivals {
            Arrivals::Even => Law::Even { count: 0 },
            Arrivals::Poisson => Law::Poisson {
                since_start_ns: 0.0,
                // Not the draws of a client, whose seed comes from the same one.
                random: Box::new(Xoshiro256PlusPlus::seed_from_u64(!seed)),
            },
        };
        Self {
            start_ns,
            mean_gap_ns: 1e9 / rate.per_s,
            law,
        }
    }

    /// The next one.
    pub(super) fn following(&mut self) -> u64 {
        let since_start_ns = match &mut self.law {
            Law::Even { count } => {
                // Counted from the start, so that the gaps never drift.
                let place = *count;
                *count += 1;
                place as f64 * self.mean_gap_ns
            }
            Law::Poisson {
                since_start_ns,
                random,
            } => {
                let gap: f64 = Exp1.sample(random);
                *since_start_ns += gap * self.mean_gap_ns;
                *since_start_ns
            }
        };
        self.start_ns.saturating_add(whole_ns(since_start_ns))
    }
}

/// Instants are not negative; what is beyond the clock's end (584 years) is at its end.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(end_ns: u64, arrivals: Arrivals, seed: u64) -> Vec<u64> {
        let rate = Rate {
            per_s: 1000.0,
            arrivals,
        };
        let mut instants = Instants::new(rate, seed, 7);
        std::iter::from_fn(|| Some(instants.following()))
            .take_while(|at_ns| *at_ns < end_ns)
            .collect()
    }

    #[test]
    fn even_gaps_are_equal() {
        let all = until(7 + 1_000_000_000, Arrivals::Even, 1);
        assert_eq!(all.len(), 1000);
        for (place, at_ns) in all.iter().enumerate() {
            assert_eq!(*at_ns, 7 + place as u64 * 1_000_000);
        }
    }

    /// A Poisson process: gaps with a mean of 1/rate, a standard deviation of the same, and of
    /// which a share of exp(-1) is longer than the mean (each within five standard errors).
    #[test]
    fn random_arrivals_are_a_poisson_process() {
        let all = until(100_000_000_000, Arrivals::Poisson, 1);
        let gaps: Vec<f64> = all.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e6).collect();
        let count = gaps.len() as f64;
        assert!((count - 1e5).abs() < 5.0 * 1e5_f64.sqrt(), "{count}");
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        // The variance of a sample's variance is 8/n for an exponential law of mean 1.
        assert!(
            (variance - 1.0).abs() < 5.0 * (8.0 / count).sqrt(),
            "{variance}"
        );
        let longer = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / count;
        let expected = (-1.0_f64).exp();
        let error = (expected * (1.0 - expected) / count).sqrt();
        assert!((longer - expected).abs() < 5.0 * error, "{longer}");
    }

    #[test]
    fn a_seed_is_a_course_of_arrivals() {
        let course = |seed| until(1_000_000_000, Arrivals::Poisson, seed);
        assert_eq!(course(1), course(1));
        assert_ne!(course(1), course(2));
    }

    #[test]
    fn a_slow_rate_does_not_overflow() {
        let rate = Rate {
            per_s: 1e-6,
            arrivals: Arrivals::Even,
        };
        let mut instants = Instants::new(rate, 1, u64::MAX - 1);
        instants.following();
        assert_eq!(instants.following(), u64::MAX);
    }
}
