//! A report that lets the script's hooks speak first.

use std::io;

use crate::measure::{LatencySummary, Phase};
use crate::report::{Event, Interval, Report, Summary};
use crate::workload::lua::{Hooks, Stat};

/// Calls the script's hooks for intervals and for the whole; what they report is not reported
/// again.
pub(in crate::cli) struct Hooked {
    pub(in crate::cli) hooks: Hooks,
    pub(in crate::cli) inner: Box<dyn Report>,
    /// Whether a program reads the report: it needs every event.
    pub(in crate::cli) passes_all: bool,
    pub(in crate::cli) percentile: f64,
    pub(in crate::cli) clients: usize,
}

impl Report for Hooked {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let spoken = match event {
            Event::Interval(interval) if interval.phase == Phase::Measure => {
                let stat = self.of_interval(interval);
                self.hooks.call("report_intermediate", &stat)
            }
            Event::Summary(summary) => {
                let stat = self.of_summary(summary);
                self.hooks.call("report_cumulative", &stat).map(|_| false)
            }
            _ => Ok(false),
        };
        let spoken = spoken.unwrap_or_else(|error| {
            // What was measured is reported all the same.
            tell!("diskproof-load: {error}");
            false
        });
        if spoken && !self.passes_all {
            return Ok(());
        }
        self.inner.event(event)
    }
}

impl Hooked {
    fn of_interval(&self, interval: &Interval) -> Stat {
        let waiting = interval.backlog.map_or(0, |backlog| backlog.waiting);
        Stat {
            threads_running: self.clients,
            time_total: interval.end_s,
            time_interval: interval.end_s - interval.start_s,
            events: interval.transactions,
            reads: interval.reads,
            writes: interval.writes,
            other: interval.others,
            errors: interval.errors,
            reconnects: interval.reconnects,
            queue_length: waiting,
            concurrency: self.clients,
            ..self.of_latencies(interval.latency_us.as_ref())
        }
    }

    fn of_summary(&self, summary: &Summary) -> Stat {
        Stat {
            threads_running: self.clients,
            time_total: summary.seconds,
            time_interval: summary.seconds,
            events: summary.transactions,
            reads: summary.reads,
            writes: summary.writes,
            other: summary.others,
            errors: summary.errors.iter().map(|error| error.count).sum(),
            reconnects: summary.reconnects,
            queue_length: summary.rate.map_or(0, |rate| rate.backlog.waiting),
            concurrency: self.clients,
            ..self.of_latencies(summary.latency_us.as_ref())
        }
    }

    fn of_latencies(&self, latency_us: Option<&LatencySummary>) -> Stat {
        let Some(us) = latency_us else {
            return Stat::default();
        };
        let at = |wanted: f64| {
            let mut all = us.percentiles.iter();
            all.find(|(own, _)| (own - wanted).abs() < f64::EPSILON)
                .map_or(0.0, |(_, us)| *us)
        };
        Stat {
            latency_pct: at(self.percentile) / 1e6,
            latency_min: us.min / 1e6,
            latency_max: us.max / 1e6,
            latency_avg: us.mean / 1e6,
            latency_sum: us.mean * us.count as f64 / 1e6,
            ..Stat::default()
        }
    }
}
