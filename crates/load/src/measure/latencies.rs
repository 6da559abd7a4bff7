//! Latencies: an HDR histogram and an exact sum.

use std::ops::AddAssign;

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use serde::{Serialize, Serializer};

/// One hour: what takes longer is counted as one hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// A bucket's width is below a thousandth of its value.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies in nanoseconds. The histogram takes about 0.3 MiB: one per worker, not per client.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// `None` until the first latency: many kinds of statements never come.
    histogram: Option<Histogram<u64>>,
    /// Exact, because the mean is held against Little's law. 2^64 ns are 584 years.
    sum_ns: u64,
}

#[cold]
fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("1 ns to 1 h with three digits is a valid range")
}

impl Latencies {
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.histogram
            .get_or_insert_with(empty)
            .saturating_record(latency_ns);
        self.sum_ns = self.sum_ns.saturating_add(latency_ns);
    }

    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// `None` if nothing was recorded.
    pub fn summary(&self, percentiles: &[f64]) -> Option<LatencySummary> {
        let in_us = |ns: u64| ns as f64 / 1e3;
        self.histogram.as_ref().map(|histogram| LatencySummary {
            count: histogram.len(),
            mean: self.sum_ns as f64 / histogram.len() as f64 / 1e3,
            stdev: histogram.stdev() / 1e3,
            min: in_us(histogram.min()),
            max: in_us(histogram.max()),
            percentiles: percentiles
                .iter()
                .map(|&p| (p, in_us(histogram.value_at_percentile(p))))
                .collect(),
            histogram: None,
        })
    }

    /// As [`Self::summary`], with the whole histogram in its interchange form.
    pub fn summary_with_histogram(&self, percentiles: &[f64]) -> Option<LatencySummary> {
        let mut summary = self.summary(percentiles)?;
        summary.histogram = self.histogram.as_ref().map(encoded);
        Some(summary)
    }
}

impl AddAssign<&Self> for Latencies {
    fn add_assign(&mut self, other: &Self) {
        if let Some(theirs) = &other.histogram {
            let added = self.histogram.get_or_insert_with(empty).add(theirs);
            added.expect("all histograms have the same bounds");
            self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        }
    }
}

fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram in memory serialises");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Latencies as they are reported, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    pub count: u64,
    pub mean: f64,
    pub stdev: f64,
    pub min: f64,
    pub max: f64,
    /// Percentile and value, in the order asked for.
    #[serde(serialize_with = "as_object")]
    pub percentiles: Vec<(f64, f64)>,
    /// HDR V2, deflated, base64; values in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
}

/// A percentile with fewer values beyond it is moved by a few strange ones.
const ENOUGH_BEYOND: f64 = 10.0;

impl LatencySummary {
    /// Whether enough latencies lie beyond a percentile to trust it.
    pub fn supports(&self, percentile: f64) -> bool {
        // A rounding error of the percentile must not make nine out of ten.
        self.count as f64 * (100.0 - percentile) / 100.0 >= ENOUGH_BEYOND - 1e-6
    }
}

fn as_object<S: Serializer>(percentiles: &[(f64, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        percentiles
            .iter()
            .map(|(percentile, us)| (percentile.to_string(), us)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn a_summary_holds_microseconds() {
        let mut latencies = Latencies::default();
        for us in 1..=1000_u64 {
            latencies.record(us * 1000);
        }
        let summary = latencies.summary(&[50.0, 99.9]).unwrap();
        assert_eq!(summary.count, 1000);
        assert!(
            (summary.mean - 500.5).abs() < 1e-9,
            "the mean is exact: {}",
            summary.mean
        );
        assert!((summary.percentiles[0].1 - 500.0).abs() < 0.5);
        let json = serde_json::to_value(&summary).unwrap();
        let tail = json["percentiles"]["99.9"].as_f64().unwrap();
        assert!((998.0..1001.0).contains(&tail), "{tail}");
        assert!(json.get("histogram").is_none());
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let mut latencies = Latencies::default();
        for _ in 0..1000 {
            latencies.record(1);
        }
        let summary = latencies.summary(&[]).unwrap();
        assert!(summary.supports(50.0) && summary.supports(99.0));
        assert!(!summary.supports(99.1) && !summary.supports(100.0));
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(Latencies::default().summary(&[50.0]), None);
    }

    #[test]
    fn an_endless_latency_counts_as_an_hour() {
        let mut latencies = Latencies::default();
        latencies.record(u64::MAX);
        let max_us = latencies.summary(&[]).unwrap().max;
        assert!((max_us / 3.6e9 - 1.0).abs() < 0.002, "{max_us}");
    }

    #[test]
    fn the_encoded_histogram_is_readable() {
        let mut latencies = Latencies::default();
        latencies.record(123_456);
        let text = latencies
            .summary_with_histogram(&[])
            .unwrap()
            .histogram
            .unwrap();
        assert!(text.starts_with("HISTFAAA"), "{text}");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .unwrap();
        let decoded: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(Some(decoded), latencies.histogram);
    }
}
