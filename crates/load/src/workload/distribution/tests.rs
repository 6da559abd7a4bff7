use super::*;
use clap::ValueEnum as _;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const ROWS: u64 = 100_000;
const DRAWS: usize = 60_000;

/// A sorted sample, as shares of the rows.
fn sample(law: impl Into<Law>) -> Vec<f64> {
    let distribution = Distribution::new(law, ROWS);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut rows: Vec<u64> = (0..DRAWS).map(|_| distribution.draw(&mut rng)).collect();
    rows.sort_unstable();
    rows.into_iter()
        .map(|row| row as f64 / ROWS as f64)
        .collect()
}

/// Kolmogorov and Smirnov's test against the law's own cumulative distribution, of a row's upper
/// edge: their distance passes 2.3 / sqrt(n) by chance once in 20,000 samples.
fn follows(law: impl Into<Law>, cumulative: impl Fn(f64) -> f64) {
    let law = law.into();
    let sample = sample(law);
    let mut farthest = 0.0_f64;
    for (index, row) in sample.iter().enumerate() {
        let is_last_of_its_row = sample.get(index + 1).is_none_or(|next| next > row);
        if is_last_of_its_row {
            let seen = (index + 1) as f64 / DRAWS as f64;
            farthest = farthest.max((seen - cumulative(*row)).abs());
        }
    }
    assert!(
        farthest < 2.3 / (DRAWS as f64).sqrt(),
        "{law:?}: {farthest}"
    );
}

/// The distribution of the mean of n uniform draws from [0, 1), after Irwin (1927) and Hall (1927):
/// the sum over k of (-1)^k C(n, k) (n x - k)^n / n!, as long as k < n x.
fn mean_of_uniforms(n: i32, x: f64) -> f64 {
    let sum = f64::from(n) * x.clamp(0.0, 1.0);
    let mut total = 0.0;
    let mut signed_binomial = 1.0;
    for k in 0..=n {
        let k_f = f64::from(k);
        if k_f >= sum {
            break;
        }
        total += signed_binomial * (sum - k_f).powi(n);
        signed_binomial *= -f64::from(n - k) / (k_f + 1.0);
    }
    total / (1..=n).map(f64::from).product::<f64>()
}

fn index(number: f64) -> usize {
    usize::try_from(whole(number)).expect("64-bit machines")
}

fn between(x: f64, from: f64, to: f64) -> f64 {
    ((x - from) / (to - from)).clamp(0.0, 1.0)
}

#[test]
fn uniform_follows_its_law() {
    follows(Choice::Uniform, |x| x);
}

#[test]
fn gaussian_follows_its_law() {
    follows(Choice::Gaussian, |x| mean_of_uniforms(12, x));
}

#[test]
fn pareto_follows_its_law() {
    let power = 0.2_f64.ln() / 0.8_f64.ln();
    follows(Choice::Pareto, |x| x.powf(1.0 / power));
    let fifth = sample(Choice::Pareto).partition_point(|row| *row <= 0.2);
    let share = fifth as f64 / DRAWS as f64;
    assert!((share - 0.8).abs() < 0.01, "80 to 20: {share}");
}

#[test]
fn zipfian_follows_its_law() {
    for exponent in [0.0, 0.8, 1.0, 1.5] {
        let mut cumulative = vec![0.0];
        for row in 1..=ROWS {
            let before = cumulative.last().copied().unwrap_or_default();
            cumulative.push(before + (row as f64).powf(-exponent));
        }
        let all = cumulative.last().copied().unwrap_or_default();
        let law = Law {
            choice: Choice::Zipfian,
            exponent,
        };
        follows(law, |x| cumulative[index((x * ROWS as f64).round())] / all);
    }
}

#[test]
fn special_sends_three_quarters_to_the_middle_percent() {
    let law = |x| 0.25 * mean_of_uniforms(12, x) + 0.75 * between(x, 0.495, 0.505);
    follows(Choice::Special, law);
}

#[test]
fn special_1020_leaves_the_lowest_quarter_of_the_window_cold() {
    // The window is 0.495 to 0.505 here, too; the draw that is used again is one of 1/4 to 1.
    let law = |x| 0.25 * mean_of_uniforms(12, x) + 0.75 * between(x, 0.4975, 0.505);
    follows(Choice::Special1020, law);
    let lowest = |choice| {
        let sample = sample(choice);
        let below = |edge: f64| sample.partition_point(|row| *row <= edge) as f64;
        (below(0.4974) - below(0.495)) / DRAWS as f64
    };
    assert!(lowest(Choice::Special) > 0.15);
    assert!(lowest(Choice::Special1020) < 0.01);
}

/// Quantiles of 200,000 draws from 1..=100,000 by sysbench 1.0.20 itself (`sysbench.rand.special`,
/// `.gaussian` and `.pareto` in a script).
#[test]
fn quantiles_are_those_of_sysbench_1_0_20() {
    const SHARES: [f64; 7] = [0.05, 0.25, 0.4, 0.5, 0.6, 0.75, 0.95];
    for (choice, quantiles) in [
        (
            Choice::Special1020,
            [42_832, 49_875, 50_024, 50_123, 50_222, 50_371, 57_044],
        ),
        (
            Choice::Gaussian,
            [36_298, 44_321, 47_849, 49_981, 52_136, 55_708, 63_766],
        ),
        (Choice::Pareto, [1, 5, 140, 696, 2_565, 12_659, 69_155]),
    ] {
        let sample = sample(choice);
        let share_below = |row: i32| {
            let edge = (f64::from(row) + 0.5) / ROWS as f64;
            sample.partition_point(|row| *row <= edge) as f64 / DRAWS as f64
        };
        for (share, row) in SHARES.into_iter().zip(quantiles) {
            // Both samples scatter: five standard deviations of the smaller one, and as much as
            // the single row that holds the quantile may hold.
            let scatter = 5.0 * (share * (1.0 - share) / DRAWS as f64).sqrt();
            let of_its_row = share_below(row) - share_below(row - 1);
            assert!(
                (share_below(row) - share).abs() < scatter + of_its_row,
                "{choice:?} {share}: {}",
                share_below(row)
            );
        }
    }
}

#[test]
fn small_tables_stay_inside_their_rows_and_reach_them_all() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for choice in Choice::value_variants() {
        for rows in 1..=3 {
            let distribution = Distribution::new(*choice, rows);
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..1000 {
                let row = distribution.draw(&mut rng);
                assert!((1..=rows).contains(&row), "{choice:?} of {rows}: {row}");
                seen.insert(row);
            }
            // Integer arithmetic keeps the bell of special away from the last of few rows.
            if matches!(choice, Choice::Uniform | Choice::Zipfian | Choice::Pareto) {
                assert_eq!(seen.len() as u64, rows, "{choice:?}");
            }
        }
    }
}

#[test]
fn the_largest_tables_do_not_overflow() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for choice in Choice::value_variants() {
        let rows = u64::from(u32::MAX);
        let distribution = Distribution::new(*choice, rows);
        for _ in 0..1000 {
            assert!((1..=rows).contains(&distribution.draw(&mut rng)));
        }
    }
}
