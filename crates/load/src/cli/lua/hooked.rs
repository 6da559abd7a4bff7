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
