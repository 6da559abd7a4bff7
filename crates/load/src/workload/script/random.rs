//! pgbench's laws of chance over the integers from `low` to `high`, both included.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, StandardNormal, Zipf};

/// The bell is cut off at the parameter; below this, most draws would be thrown away.
const LEAST_GAUSSIAN: f64 = 2.0;
/// pgbench's bounds, so that a script means the same in both.
const LEAST_ZIPFIAN: f64 = 1.001;
const GREATEST_ZIPFIAN: f64 = 1000.0;

type Drawn = Result<i64, String>;

/// Every integer as likely as every other.
pub(super) fn uniform(rng: &mut impl Rng, low: i64, high: i64) -> Drawn {
    check_range(low, high)?;
    Ok(rng.random_range(low..=high))
}

/// The standard normal bell, cut off at ±`parameter` and laid over the range.
pub(super) fn gaussian(rng: &mut impl Rng, low: i64, high: i64, parameter: f64) -> Drawn {
    let count = check_range(low, high)?;
    if parameter.is_nan() || parameter < LEAST_GAUSSIAN {
        return Err(format!(
            "the parameter of random_gaussian must be at least {LEAST_GAUSSIAN}, not {parameter}"
        ));
    }
    let deviation = loop {
        let drawn: f64 = StandardNormal.sample(rng);
        if (-parameter..parameter).contains(&drawn) {
            break drawn;
        }
    };
    let share = (deviation + parameter) / (2.0 * parameter);
    Ok(at_share(low, high, count, share))
}

/// The exponential law, cut off at `parameter` and laid over the range; its inverse is known.
pub(super) fn exponential(rng: &mut impl Rng, low: i64, high: i64, parameter: f64) -> Drawn {
    let count = check_range(low, high)?;
    if parameter.is_nan() || parameter <= 0.0 {
        return Err(format!(
            "the parameter of random_exponential must be above 0, not {parameter}"
        ));
    }
    let cut = (-parameter).exp();
    // Above 0 and at most 1.
    let uniform = 1.0 - rng.random::<f64>();
    let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    Ok(at_share(low, high, count, share))
}

/// The k-th of the range in proportion to 1 / k^parameter. Rejection sampling as `rand_distr`
/// documents it.
pub(super) fn zipfian(rng: &mut impl Rng, low: i64, high: i64, parameter: f64) -> Drawn {
    let count = check_range(low, high)?;
    if !(LEAST_ZIPFIAN..=GREATEST_ZIPFIAN).contains(&parameter) {
        return Err(format!(
            "the parameter of random_zipfian must be from {LEAST_ZIPFIAN} to {GREATEST_ZIPFIAN}, not {parameter}"
        ));
    }
    let zipf = Zipf::new(count, parameter).map_err(|error| error.to_string())?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole; a count beyond 2^63 was refused, and `as` stops at the largest"
    )]
    let rank = zipf.sample(rng) as i64;
    Ok(low.saturating_add(rank - 1).clamp(low, high))
}

/// Number of integers to choose from.
fn check_range(low: i64, high: i64) -> Result<f64, String> {
    if low > high {
        return Err(format!("the range from {low} to {high} is empty"));
    }
    if high.checked_sub(low).is_none_or(|span| span == i64::MAX) {
        return Err(format!("the range from {low} to {high} is too large"));
    }
    Ok((high - low + 1) as f64)
}

/// The integer at a share of the range, 0 (included) to 1.
fn at_share(low: i64, high: i64, count: f64, share: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` stops at the largest integer"
    )]
    let offset = (count * share) as i64;
    low.saturating_add(offset).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    type Law = fn(&mut Xoshiro256PlusPlus, i64, i64, f64) -> Result<i64, String>;

    const DRAWS: u32 = 200_000;
    const LOW: i64 = -3;
    const HIGH: i64 = 16;

    /// Draws and holds each integer's frequency against its probability: five standard errors,
    /// which one of a million right generators would leave.
    fn check(law: Law, parameter: f64, probability: impl Fn(i64) -> f64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut counts = [0_u32; 20];
        for _ in 0..DRAWS {
            let drawn = law(&mut rng, LOW, HIGH, parameter).unwrap();
            counts[usize::try_from(drawn - LOW).unwrap()] += 1;
        }
        let draws = f64::from(DRAWS);
        for (value, count) in (LOW..=HIGH).zip(counts) {
            let expected = probability(value);
            let error = (expected * (1.0 - expected) / draws).sqrt();
            let found = f64::from(count) / draws;
            assert!(
                (found - expected).abs() <= 5.0 * error + 1e-9,
                "{value}: {found} for {expected}"
            );
        }
    }

    const COUNT: f64 = (HIGH - LOW + 1) as f64;

    #[test]
    fn uniform_is_flat() {
        check(
            |rng, low, high, _| uniform(rng, low, high),
            0.0,
            |_| 1.0 / COUNT,
        );
    }

    /// The formula of pgbench's manual.
    #[test]
    fn exponential_follows_its_law() {
        for parameter in [0.1, 3.0, 10.0] {
            let f =
                |x: i64| (-parameter * (x - LOW) as f64 / COUNT).exp() / (1.0 - (-parameter).exp());
            check(exponential, parameter, |value| f(value) - f(value + 1));
        }
    }

    /// The formula of pgbench's manual; the bell's integral by Simpson's rule.
    #[test]
    fn gaussian_follows_its_law() {
        let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let integral = |from: f64, to: f64| {
            let step = (to - from) / 200.0;
            let sum: f64 = (0..=200)
                .map(|i| {
                    let weight = match i {
                        0 | 200 => 1.0,
                        odd if odd % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    weight * density(from + f64::from(i) * step)
                })
                .sum();
            sum * step / 3.0
        };
        let middle = (LOW + HIGH) as f64 / 2.0;
        for parameter in [2.0, 2.5, 6.0] {
            let whole = integral(-parameter, parameter);
            let place = |x: f64| 2.0 * parameter * (x - middle) / COUNT;
            check(gaussian, parameter, |value| {
                integral(place(value as f64 - 0.5), place(value as f64 + 0.5)) / whole
            });
        }
    }

    #[test]
    fn zipfian_follows_its_law() {
        for parameter in [1.001, 1.5, 2.5] {
            let weight = |value: i64| ((value - LOW + 1) as f64).powf(-parameter);
            let whole: f64 = (LOW..=HIGH).map(weight).sum();
            check(zipfian, parameter, |value| weight(value) / whole);
        }
    }

    /// The manual's table, held against as many draws as its digits need.
    #[test]
    fn shares_are_those_of_the_manual() {
        const NUMBERS: i64 = 100_000;
        let manual = include_str!("../../../../../docs/scripts.md");
        let rows = manual
            .lines()
            .filter_map(|line| line.strip_prefix("| `random"));
        let rows =
            rows.filter(|row| row.ends_with("| the first |") || row.ends_with("| in the middle |"));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut count = 0;
        for row in rows {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            let (name, parameter) = cells[0].split_once("`, p = ").expect(row);
            let parameter: f64 = parameter.parse().expect(row);
            let (law, hottest): (Law, _) = match name {
                "_exponential" => (exponential, 1),
                "_gaussian" => (gaussian, NUMBERS / 2),
                "_zipfian" => (zipfian, 1),
                other => panic!("{other}: {row}"),
            };
            let drawn: Vec<_> = (0..DRAWS)
                .map(|_| law(&mut rng, 1, NUMBERS, parameter).unwrap())
                .collect();
            // The hottest `width` numbers begin with the first, or lie around the middle.
            let share = |width: i64| {
                let first = if hottest == 1 {
                    1
                } else {
                    hottest - width / 2 + 1
                };
                let inside = drawn
                    .iter()
                    .filter(|&&at| (first..first + width).contains(&at));
                100.0 * inside.count() as f64 / f64::from(DRAWS)
            };
            for (cell, width) in cells[1..=3].iter().zip([1, 1000, 10_000]) {
                let told: f64 = cell.parse().expect(row);
                // Five standard errors, and the digits that are not written.
                let error = (told * (100.0 - told) / f64::from(DRAWS)).sqrt();
                assert!(
                    (share(width) - told).abs() <= 5.0 * error + 0.06,
                    "{row}: {}",
                    share(width)
                );
            }
            count += 1;
        }
        assert_eq!(count, 10);
    }

    #[test]
    fn wide_and_narrow_ranges_are_kept() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (low, high) in [(7, 7), (i64::MIN, -2), (1, i64::MAX), (-4, -3)] {
            for _ in 0..1000 {
                let drawn = [
                    uniform(&mut rng, low, high),
                    gaussian(&mut rng, low, high, 2.0),
                    exponential(&mut rng, low, high, 1e-9),
                    exponential(&mut rng, low, high, 1e9),
                    zipfian(&mut rng, low, high, 1.001),
                    zipfian(&mut rng, low, high, 1000.0),
                ];
                for value in drawn {
                    assert!((low..=high).contains(&value.unwrap()));
                }
            }
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!(uniform(&mut rng, 2, 1).unwrap_err().contains("empty"));
        assert!(
            uniform(&mut rng, i64::MIN, 0)
                .unwrap_err()
                .contains("too large")
        );
        assert!(
            uniform(&mut rng, 0, i64::MAX)
                .unwrap_err()
                .contains("too large")
        );
        for wrong in [1.99, f64::NAN] {
            assert!(gaussian(&mut rng, 1, 2, wrong).is_err());
        }
        for wrong in [0.0, -1.0, f64::NAN] {
            assert!(exponential(&mut rng, 1, 2, wrong).is_err());
        }
        for wrong in [1.0, 1000.5, f64::NAN] {
            assert!(zipfian(&mut rng, 1, 2, wrong).is_err());
        }
    }
}
