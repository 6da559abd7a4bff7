//! Keying and think times (clauses 5.2.5.2 to 5.2.5.4).

use rand::RngExt;

use super::inputs::Kind;
use super::random::Random;

/// No think time is longer than this many times its mean.
const LONGEST_THINK: f64 = 10.0;

/// Time in which a user keys the inputs in.
pub(super) fn keying_us(kind: Kind) -> u64 {
    let seconds = match kind {
        Kind::NewOrder => 18,
        Kind::Payment => 3,
        Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 2,
    };
    seconds * 1_000_000
}

/// Time for which a user looks at the answer: a draw from a negative exponential distribution.
pub(super) fn think_us(kind: Kind, random: &mut Random) -> u64 {
    let mean_s = mean_think_s(kind);
    // From (0, 1], so that the logarithm is finite.
    let drawn = 1.0 - random.random::<f64>();
    let seconds = (-drawn.ln()).min(LONGEST_THINK) * mean_s;
    std::time::Duration::from_secs_f64(seconds)
        .as_micros()
        .try_into()
        .unwrap_or(u64::MAX)
}

fn mean_think_s(kind: Kind) -> f64 {
    match kind {
        Kind::NewOrder | Kind::Payment => 12.0,
        Kind::OrderStatus => 10.0,
        Kind::Delivery | Kind::StockLevel => 5.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::generator::generator;

    #[test]
    fn think_times_have_their_mean_and_limit() {
        let mut random = generator(3, [1, 1]);
        for kind in Kind::ALL {
            let draws: Vec<_> = (0..20_000).map(|_| think_us(kind, &mut random)).collect();
            let mean_s = draws.iter().sum::<u64>() as f64 / 20_000.0 / 1e6;
            let expected_s = mean_think_s(kind);
            // Five standard errors of an exponential mean.
            assert!(
                (mean_s / expected_s - 1.0).abs() < 5.0 / 20_000_f64.sqrt(),
                "{mean_s}"
            );
            let longest_us = LONGEST_THINK * expected_s * 1e6;
            assert!(draws.iter().all(|&us| us as f64 <= longest_us));
        }
    }

    /// No terminal can enter more than 12.86 new orders a minute for each warehouse: clause 4.2.2
    /// has ten terminals.
    #[test]
    fn the_fastest_cycle_gives_the_known_limit() {
        let shares = [0.45, 0.43, 0.04, 0.04, 0.04];
        let cycle_s: f64 = Kind::ALL
            .iter()
            .zip(shares)
            .map(|(&kind, share)| share * (keying_us(kind) as f64 / 1e6 + mean_think_s(kind)))
            .sum();
        let new_orders_a_minute = 10.0 * 60.0 / cycle_s * 0.45;
        assert!(
            (new_orders_a_minute - 12.86).abs() < 0.005,
            "{new_orders_a_minute}"
        );
    }
}
