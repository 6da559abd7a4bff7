//! What a served disk did since its statistics began, and how punctual it was.

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::faults::Befallen;
use crate::request::{Kind, NANOS_PER_S, Nanos, Request, us_of_nanos};
use crate::timing::Counters;

/// Answers that leave later than this share of the mean modelled latency, at the 99th percentile,
/// make a measurement invalid: the disk was then not the one that it claims to be.
pub const LATENESS_SHARE_ALLOWED: f64 = 0.10;

/// Histograms keep three significant digits: 0.1 % of each latency.
const DIGITS: u8 = 3;

/// Longer times are counted as an hour.
const LONGEST: Nanos = 3_600 * NANOS_PER_S;

#[derive(Clone)]
pub(super) struct Statistics {
    since: Nanos,
    kinds: [PerKind; 4],
    lateness: Histogram<u64>,
    latency_sum: u128,
    timed: u64,
    below_path: u64,
    counters_before: Counters,
}

#[derive(Clone, Serialize)]
pub(super) struct PerKind {
    requests: u64,
    bytes: u64,
    errors: u64,
    #[serde(serialize_with = "percentiles")]
    latency_us: Histogram<u64>,
}

impl PerKind {
    fn new() -> Self {
        Self {
            requests: 0,
            bytes: 0,
            errors: 0,
            latency_us: histogram(),
        }
    }
}

/// Of a fixed size, so that nothing is allocated while answers are counted.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, DIGITS).expect("the bounds are sensible")
}

impl Statistics {
    pub(super) fn new() -> Self {
        Self {
            since: 0,
            kinds: std::array::from_fn(|_| PerKind::new()),
            lateness: histogram(),
            latency_sum: 0,
            timed: 0,
            below_path: 0,
            counters_before: Counters::new(),
        }
    }

    /// Counts from now on.
    pub(super) fn begin(&mut self, now: Nanos, counters: Counters) {
        self.since = now;
        self.counters_before = counters;
    }

    pub(super) fn count(&mut self, request: Request) {
        let kind = &mut self.kinds[request.kind as usize];
        kind.requests += 1;
        kind.bytes += request.length_bytes;
    }

    pub(super) fn count_error(&mut self, kind: Kind) {
        self.kinds[kind as usize].errors += 1;
    }

    /// `below_path`: the model's latency is less than the path's.
    pub(super) fn answered(
        &mut self,
        kind: Kind,
        latency: Nanos,
        below_path: bool,
        lateness: Nanos,
    ) {
        self.kinds[kind as usize]
            .latency_us
            .saturating_record(latency);
        self.lateness.saturating_record(lateness);
        self.latency_sum += u128::from(latency);
        self.timed += 1;
        self.below_path += u64::from(below_path);
    }

    pub(super) fn report(&self, now: Nanos, mut counters: Counters) -> Report {
        for (name, before) in &self.counters_before {
            if let Some(counter) = counters.get_mut(name) {
                *counter = counter.saturating_sub(*before);
            }
        }
        let [read, write, flush, discard] = self.kinds.clone();
        let lateness_share = self.lateness_share();
        Report {
            seconds: now.saturating_sub(self.since) as f64 / NANOS_PER_S as f64,
            timing: false,
            read,
            write,
            flush,
            discard,
            errors: self.kinds.iter().map(|kind| kind.errors).sum(),
            timed_requests: self.timed,
            below_path: (self.timed > 0).then(|| self.below_path as f64 / self.timed as f64),
            queue_depth: QueueDepth::default(),
            lateness_us: self.lateness.clone(),
            lateness_share,
            late: lateness_share.is_some_and(|share| share > LATENESS_SHARE_ALLOWED),
            unstable_bytes: 0,
            faults: Vec::new(),
            counters,
        }
    }

    /// The 99th percentile of lateness as a share of the mean modelled latency; `None` if the model
    /// took no time at all.
    fn lateness_share(&self) -> Option<f64> {
        if self.latency_sum == 0 {
            return None;
        }
        let mean = self.latency_sum as f64 / self.timed as f64;
        Some(self.lateness.value_at_quantile(0.99) as f64 / mean)
    }
}

/// The answer to `statistics`; docs/disk.md describes each field.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) seconds: f64,
    pub(super) timing: bool,
    pub(super) read: PerKind,
    pub(super) write: PerKind,
    pub(super) flush: PerKind,
    pub(super) discard: PerKind,
    pub(super) errors: u64,
    pub(super) timed_requests: u64,
    pub(super) below_path: Option<f64>,
    pub(super) queue_depth: QueueDepth,
    #[serde(serialize_with = "percentiles")]
    pub(super) lateness_us: Histogram<u64>,
    pub(super) lateness_share: Option<f64>,
    pub(super) late: bool,
    pub(super) unstable_bytes: u64,
    pub(super) faults: Vec<Befallen>,
    pub(super) counters: Counters,
}

/// Requests under way: the mean over all the time, idle or not, as iostat has it.
#[derive(Debug, Default, Serialize)]
pub(super) struct QueueDepth {
    pub(super) mean: f64,
    pub(super) max: usize,
    /// Share of the time in which the device had as many as it takes; `None` if it takes any number.
    pub(super) full_share: Option<f64>,
}

/// Absent if nothing was recorded: an unobserved figure is never 0.
fn percentiles<S: Serializer>(nanos: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let at = |quantile| us_of_nanos(nanos.value_at_quantile(quantile));
    let seen = (!nanos.is_empty()).then(|| {
        json!({
            "mean": nanos.mean() / 1e3,
            "p50": at(0.5),
            "p95": at(0.95),
            "p99": at(0.99),
            "p999": at(0.999),
            "max": us_of_nanos(nanos.max()),
        })
    });
    seen.serialize(serializer)
}
