//! A distribution in few rows, for the eye.

use hdrhistogram::Histogram;

/// Rows from one decade of latency to the next: a row's values differ by a third.
const ROWS_PER_DECADE: i32 = 8;

/// One row: the latencies above the row before, up to `up_to_us`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    pub up_to_us: f64,
    pub count: u64,
    /// The percentage of all latencies that are no longer than `up_to_us`.
    pub cumulative_percent: f64,
}

/// The histogram (of nanoseconds) in rows with limits of 10^(k/8) us, from the first row with a
/// latency to the last, empty rows between them included. Each count is exact to the histogram's
/// own buckets.
#[allow(clippy::cast_possible_truncation)] // Decades are few.
pub(super) fn bars(histogram: &Histogram<u64>) -> Vec<Bar> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let row = |ns: u64| {
        let decades = (ns.max(1) as f64 / 1e3).log10();
        (decades * f64::from(ROWS_PER_DECADE)).ceil() as i32
    };
    let first = row(histogram.min());
    let last = row(histogram.max()).max(first);
    let mut bars: Vec<Bar> = (first..=last)
        .map(|row| Bar {
            up_to_us: 10_f64.powf(f64::from(row) / f64::from(ROWS_PER_DECADE)),
            count: 0,
            cumulative_percent: 0.0,
        })
        .collect();
    for step in histogram.iter_recorded() {
        let index = row(step.value_iterated_to()).clamp(first, last) - first;
        let index = usize::try_from(index).unwrap_or(0);
        bars[index].count += step.count_since_last_iteration();
    }
    let mut until_now = 0;
    for bar in &mut bars {
        until_now += bar.count;
        bar.cumulative_percent = 100.0 * until_now as f64 / histogram.len() as f64;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::super::Latencies;

    #[test]
    fn rows_hold_all_latencies_and_the_gaps_between() {
        let mut latencies = Latencies::default();
        for _ in 0..90 {
            latencies.record(95_000);
        }
        for _ in 0..10 {
            latencies.record(950_000);
        }
        let bars = latencies.bars();
        // 95 us lie in the row up to 100 us, 950 us in the one up to 1000 us, a decade later.
        assert_eq!(bars.len(), 9);
        assert!((bars[0].up_to_us - 100.0).abs() < 1e-9);
        assert!((bars[8].up_to_us - 1000.0).abs() < 1e-9);
        let counts: Vec<_> = bars.iter().map(|bar| bar.count).collect();
        assert_eq!(counts, [90, 0, 0, 0, 0, 0, 0, 0, 10]);
        assert!((bars[7].cumulative_percent - 90.0).abs() < 1e-9);
        assert!((bars[8].cumulative_percent - 100.0).abs() < 1e-9);
    }

    #[test]
    fn extremes() {
        assert!(Latencies::default().bars().is_empty());
        let mut latencies = Latencies::default();
        latencies.record(0);
        latencies.record(u64::MAX);
        let bars = latencies.bars();
        // A nanosecond to an hour are 13 decades less a half.
        assert!((90..110).contains(&bars.len()), "{}", bars.len());
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 2);
    }
}
