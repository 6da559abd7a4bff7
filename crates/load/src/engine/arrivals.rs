//! When the transactions of an open loop are to begin: a law, without a clock.

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::measure::Backlog;

/// How transactions arrive that wait for no one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// As if many users who know nothing of one another sent them: the gaps are exponential.
    Poisson,
    /// One after the other, all gaps equal.
    Even,
}

impl Arrivals {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Even => "even",
        }
    }
}

/// An open loop: transactions begin when it says, however many are under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Of the whole run.
    pub per_s: f64,
    pub arrivals: Arrivals,
}

/// The instants at which one worker's transactions are to begin, in order and without end.
#[derive(Debug, Clone)]
struct Instants {
    start_ns: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    /// Every client has its place in the round of all; a worker has its clients' places, and all
    /// workers together have every place once.
    Even {
        gap_ns: f64,
        places: Vec<usize>,
        round: usize,
        next: usize,
        count: u64,
    },
    /// Poisson processes add up to one: a worker's has its share of the rate.
    Poisson {
        mean_gap_ns: f64,
        since_start_ns: f64,
        random: Box<Xoshiro256PlusPlus>,
    },
}

impl Iterator for Instants {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let since_start_ns = match &mut self.law {
            Law::Even {
                gap_ns,
                places,
                round,
                next,
                count,
            } => {
                // Counted from the start, so that the gaps never drift.
                let place = *count * *round as u64 + places[*next] as u64;
                *next += 1;
                if *next == places.len() {
                    (*next, *count) = (0, *count + 1);
                }
                place as f64 * *gap_ns
            }
            Law::Poisson {
                mean_gap_ns,
                since_start_ns,
                random,
            } => {
                let gap: f64 = Exp1.sample(random);
                *since_start_ns += gap * *mean_gap_ns;
                *since_start_ns
            }
        };
        Some(self.start_ns.saturating_add(whole_ns(since_start_ns)))
    }
}

/// Instants are not negative; what is beyond the clock's end (584 years) is at its end.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

/// Hands out the transactions that have arrived, and counts those that wait. The backlog is no
/// list: the same instants are gone through a second time to count them.
#[derive(Debug, Clone)]
pub(super) struct Pacer {
    to_begin: Instants,
    next_ns: u64,
    begun: u64,
    to_count: Instants,
    uncounted_ns: u64,
    arrived: u64,
}

impl Pacer {
    /// The share of the worker with these clients, of so many in the run.
    pub(super) fn new(
        rate: Rate,
        seed: u64,
        worker_clients: &[usize],
        clients: usize,
        start_ns: u64,
    ) -> Self {
        let gap_ns = 1e9 / rate.per_s;
        let law = match rate.arrivals {
            Arrivals::Even => Law::Even {
                gap_ns,
                places: worker_clients.to_vec(),
                round: clients,
                next: 0,
                count: 0,
            },
            Arrivals::Poisson => {
                // Not the draws of the worker's first client, whose seed comes from the same one.
                let own_seed = seed ^ (worker_clients[0] as u64 + 1).wrapping_mul(0x9E37_79B9);
                Law::Poisson {
                    mean_gap_ns: gap_ns * clients as f64 / worker_clients.len() as f64,
                    since_start_ns: 0.0,
                    random: Box::new(Xoshiro256PlusPlus::seed_from_u64(!own_seed)),
                }
            }
        };
        let mut to_begin = Instants { start_ns, law };
        let mut to_count = to_begin.clone();
        Self {
            next_ns: following(&mut to_begin),
            to_begin,
            begun: 0,
            uncounted_ns: following(&mut to_count),
            to_count,
            arrived: 0,
        }
    }

    /// When the next transaction is to begin, or was.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes the next transaction; when it is to begin, or was.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        self.begun += 1;
        std::mem::replace(&mut self.next_ns, following(&mut self.to_begin))
    }

    /// How many have arrived before an instant since the one that was asked for before.
    pub(super) fn arrived_until(&mut self, at_ns: u64) -> u64 {
        let before = self.arrived;
        while self.uncounted_ns < at_ns {
            self.arrived += 1;
            self.uncounted_ns = following(&mut self.to_count);
        }
        self.arrived - before
    }

    /// What has arrived and not been begun at the instant that was last asked for.
    pub(super) fn backlog(&self, at_ns: u64) -> Backlog {
        Backlog {
            waiting: self.arrived.saturating_sub(self.begun),
            behind_ns: at_ns.saturating_sub(self.next_ns),
        }
    }
}

fn following(instants: &mut Instants) -> u64 {
    instants.next().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENTS: usize = 5;

    /// The pacers of three workers, whose clients are dealt out as the conductor does.
    fn pacers(arrivals: Arrivals, seed: u64) -> Vec<Pacer> {
        let rate = Rate {
            per_s: 1000.0,
            arrivals,
        };
        let clients = |worker| (worker..CLIENTS).step_by(3).collect::<Vec<_>>();
        (0..3)
            .map(|worker| Pacer::new(rate, seed, &clients(worker), CLIENTS, 7))
            .collect()
    }

    fn taken_until(pacers: &mut [Pacer], end_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for pacer in pacers {
            while pacer.next_ns() < end_ns {
                all.push(pacer.take());
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn even_workers_together_have_equal_gaps() {
        let all = taken_until(&mut pacers(Arrivals::Even, 1), 7 + 1_000_000_000);
        assert_eq!(all.len(), 1000);
        for (place, at_ns) in all.iter().enumerate() {
            assert_eq!(*at_ns, 7 + place as u64 * 1_000_000);
        }
    }

    /// A Poisson process: gaps with a mean of 1/rate, a standard deviation of the same, and of
    /// which a share of exp(-1) is longer than the mean (each within five standard errors).
    #[test]
    fn poisson_workers_together_are_one_poisson_process() {
        let all = taken_until(&mut pacers(Arrivals::Poisson, 1), 100_000_000_000);
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
        let course = |seed| taken_until(&mut pacers(Arrivals::Poisson, seed), 1_000_000_000);
        assert_eq!(course(1), course(1));
        assert_ne!(course(1), course(2));
        let [first, second, ..] = &mut pacers(Arrivals::Poisson, 1)[..] else {
            panic!("three workers");
        };
        assert_ne!(first.take(), second.take());
    }

    #[test]
    fn what_is_not_begun_is_counted() {
        let rate = Rate {
            per_s: 1000.0,
            arrivals: Arrivals::Even,
        };
        let mut pacer = Pacer::new(rate, 1, &[0], 1, 0);
        for _ in 0..4 {
            pacer.take();
        }
        // Arrived at 0, 1, …, 9 ms.
        assert_eq!(pacer.arrived_until(10_000_000), 10);
        let backlog = pacer.backlog(10_000_000);
        assert_eq!((backlog.waiting, backlog.behind_ns), (6, 6_000_000));
        assert_eq!(pacer.arrived_until(12_500_000), 3);
        for _ in 0..9 {
            pacer.take();
        }
        assert_eq!(pacer.backlog(12_500_000), Backlog::default());
    }

    #[test]
    fn a_slow_rate_does_not_overflow() {
        let rate = Rate {
            per_s: 1e-6,
            arrivals: Arrivals::Even,
        };
        let mut pacer = Pacer::new(rate, 1, &[0], 1, u64::MAX - 1);
        pacer.take();
        assert_eq!(pacer.next_ns(), u64::MAX);
    }
}
