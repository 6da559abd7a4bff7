//! sysbench's own report, for whoever reads it with a program or is used to it.

use std::io::{self, Write};

use crate::measure::{LatencySummary, Phase};
use crate::report::{Event, Interval, Ready, Report, Summary};
use crate::workload::lua::Fairness;

/// Writes what sysbench 1.0 writes; ours comes after it.
pub(super) struct SysbenchReport<W> {
    pub(super) out: W,
    pub(super) ours: Box<dyn Report>,
    pub(super) head: Head,
    /// 0: none.
    pub(super) percentile: f64,
    pub(super) fairness: Fairness,
    pub(super) ready: Option<Ready>,
}

/// What stands before the figures.
pub(super) struct Head {
    pub(super) threads: u32,
    pub(super) report_interval_s: f64,
    /// Transactions a second that were asked for; 0: as many as there can be.
    pub(super) rate: f64,
    /// 0: another one each time.
    pub(super) seed: u64,
}

impl<W: Write> Report for SysbenchReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Ready(ready) => {
                self.head()?;
                self.ready = Some(ready.clone());
            }
            Event::Interval(interval) if interval.phase == Phase::Measure => {
                self.interval(interval)?;
            }
            Event::Summary(summary) => {
                self.summary(summary)?;
                self.out.flush()?;
                if let Some(ready) = self.ready.take() {
                    self.ours.event(&Event::Ready(ready))?;
                }
                return self.ours.event(event);
            }
            _ => return Ok(()),
        }
        self.out.flush()
    }
}

/// The first line of every command.
pub(super) fn first_line() -> String {
    format!(
        "sysbench 1.0.20 (as diskproof-load {} runs it)",
        env!("CARGO_PKG_VERSION")
    )
}

impl<W: Write> SysbenchReport<W> {
    fn head(&mut self) -> io::Result<()> {
        let Head {
            threads,
            report_interval_s,
            rate,
            seed,
        } = self.head;
        let out = &mut self.out;
        writeln!(out, "Running the test with following options:")?;
        writeln!(out, "Number of threads: {threads}")?;
        if rate > 0.0 {
            writeln!(out, "Target transaction rate: {rate}/sec")?;
        }
        if report_interval_s > 0.0 {
            writeln!(
                out,
                "Report intermediate results every {report_interval_s} second(s)"
            )?;
        }
        match seed {
            0 => writeln!(
                out,
                "Initializing random number generator from current time\n\n"
            )?,
            seed => writeln!(
                out,
                "Initializing random number generator from seed ({seed})\n\n"
            )?,
        }
        writeln!(out, "Initializing worker threads...\n\nThreads started!\n")
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        let per_s = |count: u64| count as f64 / (interval.end_s - interval.start_s);
        let queries = interval.reads + interval.writes + interval.others;
        write!(
            self.out,
            "[ {:.0}s ] thds: {} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) lat (ms,{}%): {:.2} \
             err/s: {:.2} reconn/s: {:.2}",
            interval.end_s,
            self.head.threads,
            per_s(interval.transactions),
            per_s(queries),
            per_s(interval.reads),
            per_s(interval.writes),
            per_s(interval.others),
            self.percentile,
            self.at_percentile(interval.latency_us.as_ref()),
            per_s(interval.errors),
            per_s(interval.reconnects),
        )?;
        writeln!(self.out)?;
        if let Some(backlog) = &interval.backlog {
            writeln!(
                self.out,
                "[ {:.0}s ] queue length: {}, concurrency: {}",
                interval.end_s, backlog.waiting, self.head.threads
            )?;
        }
        Ok(())
    }

    fn at_percentile(&self, latency_us: Option<&LatencySummary>) -> f64 {
        let found = latency_us.and_then(|us| {
            let mut all = us.percentiles.iter();
            all.find(|(own, _)| (own - self.percentile).abs() < f64::EPSILON)
        });
        found.map_or(0.0, |(_, us)| us / 1e3)
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        let seconds = summary.seconds.max(f64::MIN_POSITIVE);
        let rated = |count: u64| format!("{count:<6} ({:.2} per sec.)", count as f64 / seconds);
        let errors: u64 = summary.errors.iter().map(|error| error.count).sum();
        let percentile = self.at_percentile(summary.latency_us.as_ref());
        let out = &mut self.out;
        writeln!(out, "SQL statistics:\n    queries performed:")?;
        for (name, count) in [
            ("read", summary.reads),
            ("write", summary.writes),
            ("other", summary.others),
            ("total", summary.statements),
        ] {
            writeln!(out, "        {:<33}{count}", format!("{name}:"))?;
        }
        for (name, count) in [
            ("transactions", summary.transactions),
            ("queries", summary.statements),
            ("ignored errors", errors),
            ("reconnects", summary.reconnects),
        ] {
            writeln!(out, "    {:<37}{}", format!("{name}:"), rated(count))?;
        }
        writeln!(out, "\nGeneral statistics:")?;
        writeln!(out, "    {:<37}{:.4}s", "total time:", summary.seconds)?;
        writeln!(
            out,
            "    {:<37}{}",
            "total number of events:", summary.transactions
        )?;
        writeln!(out, "\nLatency (ms):")?;
        let (min, avg, max, sum) = summary
            .latency_us
            .as_ref()
            .map_or((0.0, 0.0, 0.0, 0.0), |us| {
                (us.min, us.mean, us.max, us.mean * us.count as f64)
            });
        for (name, us) in [("min:", min), ("avg:", avg), ("max:", max)] {
            writeln!(out, "         {name:<36}{:>8.2}", us / 1e3)?;
        }
        if self.percentile > 0.0 {
            let ordinal = format!("{}{} percentile:", self.percentile, suffix(self.percentile));
            writeln!(out, "         {ordinal:<36}{percentile:>8.2}")?;
        } else {
            writeln!(out, "         {:<32}disabled", "percentile stats:")?;
        }
        writeln!(out, "         {:<36}{:>8.2}", "sum:", sum / 1e3)?;
        let clients = f64::from(self.head.threads);
        let (events, times) = self.fairness.deviations();
        writeln!(out, "\nThreads fairness:")?;
        writeln!(
            out,
            "    events (avg/stddev):           {:.4}/{events:.2}",
            summary.transactions as f64 / clients
        )?;
        writeln!(
            out,
            "    execution time (avg/stddev):   {:.4}/{times:.2}\n",
            sum / 1e6 / clients
        )
    }
}

/// The end of an ordinal number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn suffix(number: f64) -> &'static str {
    let whole = number as u64;
    match (whole % 10, whole % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}
