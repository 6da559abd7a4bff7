//! A report with the script's part in it: its hooks, and the errors that it counts itself.

use std::borrow::Cow;
use std::io;

use crate::measure::{LatencySummary, Phase};
use crate::report::{ErrorSummary, Event, Interval, Report, Summary};
use crate::workload::lua::{Hooks, LuaError, Stat};

/// Calls the script's hooks for intervals and for the whole, and `done` after the report. What hooks
/// for intervals report is not reported again.
pub(in crate::cli) struct Hooked {
    pub(in crate::cli) hooks: Hooks,
    pub(in crate::cli) inner: Box<dyn Report>,
    /// Whether a program reads the report: it needs every event.
    pub(in crate::cli) passes_all: bool,
    pub(in crate::cli) percentile: f64,
    pub(in crate::cli) clients: usize,
    pub(in crate::cli) counted: Counted,
}

/// How many errors the scripts had counted themselves.
#[derive(Default)]
pub(in crate::cli) struct Counted {
    at_start: u64,
    at_last_interval: u64,
}

impl Report for Hooked {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let event = &*self.completed(event);
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
            tell_of(&error);
            false
        });
        if spoken && !self.passes_all {
            return Ok(());
        }
        self.inner.event(event)?;
        if matches!(event, Event::Summary(_))
            && let Err(error) = self.hooks.done()
        {
            tell_of(&error);
        }
        Ok(())
    }
}

/// A mistake beside the clients spoils no measurement.
fn tell_of(error: &LuaError) {
    tell!("diskproof-load: {error}");
}

impl Hooked {
    /// The event with the errors that scripts have counted themselves.
    fn completed<'a>(&mut self, event: &'a Event) -> Cow<'a, Event> {
        let now = self.hooks.counted_errors();
        match event {
            Event::Measuring { .. } => {
                self.counted = Counted {
                    at_start: now,
                    at_last_interval: now,
                };
            }
            Event::Interval(interval) => {
                let mut interval = interval.clone();
                interval.errors += now - self.counted.at_last_interval;
                self.counted.at_last_interval = now;
                return Cow::Owned(Event::Interval(interval));
            }
            Event::Summary(summary) if now > self.counted.at_start => {
                let mut summary = summary.clone();
                summary.errors.push(ErrorSummary {
                    code: "script".to_owned(),
                    statement: Some("event".into()),
                    message: "the script counted an error itself".to_owned(),
                    transient: false,
                    count: now - self.counted.at_start,
                });
                return Cow::Owned(Event::Summary(summary));
            }
            _ => {}
        }
        Cow::Borrowed(event)
    }

    fn of_interval(&self, interval: &Interval) -> Stat {
        let mut stat = self.of_latencies(interval.latency_us.as_ref());
        let waiting = interval.backlog.map_or(0, |backlog| backlog.waiting);
        stat.extend([
            ("time_total", interval.end_s),
            ("time_interval", interval.end_s - interval.start_s),
            ("events", interval.transactions as f64),
            ("reads", interval.reads as f64),
            ("writes", interval.writes as f64),
            ("other", interval.others as f64),
            ("errors", interval.errors as f64),
            ("reconnects", interval.reconnects as f64),
            ("queue_length", waiting as f64),
        ]);
        stat
    }

    fn of_summary(&self, summary: &Summary) -> Stat {
        let mut stat = self.of_latencies(summary.latency_us.as_ref());
        let errors: u64 = summary.errors.iter().map(|error| error.count).sum();
        let waiting = summary.rate.map_or(0, |rate| rate.backlog.waiting);
        stat.extend([
            ("time_total", summary.seconds),
            ("time_interval", summary.seconds),
            ("events", summary.transactions as f64),
            ("reads", summary.reads as f64),
            ("writes", summary.writes as f64),
            ("other", summary.others as f64),
            ("errors", errors as f64),
            ("reconnects", summary.reconnects as f64),
            ("queue_length", waiting as f64),
        ]);
        stat
    }

    /// Latencies, which are 0 if there was no transaction; and the clients.
    fn of_latencies(&self, latency_us: Option<&LatencySummary>) -> Stat {
        let clients = self.clients as f64;
        let mut stat = vec![("threads_running", clients), ("concurrency", clients)];
        let at = |us: &LatencySummary| {
            let mut all = us.percentiles.iter();
            let found = all.find(|(own, _)| (own - self.percentile).abs() < f64::EPSILON);
            found.map_or(0.0, |(_, us)| *us)
        };
        let of = |read: &dyn Fn(&LatencySummary) -> f64| latency_us.map_or(0.0, read) / 1e6;
        stat.extend([
            ("latency_pct", of(&at)),
            ("latency_min", of(&|us| us.min)),
            ("latency_max", of(&|us| us.max)),
            ("latency_avg", of(&|us| us.mean)),
            ("latency_sum", of(&|us| us.mean * us.count as f64)),
        ]);
        stat
    }
}
