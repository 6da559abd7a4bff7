//! Text for a person who knows sysbench: a line per interval, a block at the end.

use std::io::{self, Write};

use super::open_loop;
use super::operations;
use super::{Event, Interval, Ready, Report, Summary};
use super::{replay, tpcc};
use crate::measure::{LatencySummary, Phase};

/// Least width of the column of statement names, so that short and long reports look alike.
const SHORTEST_NAME_CHARS: usize = 18;

/// Marks a percentile that rests on too few latencies.
const UNSUPPORTED: char = '~';

/// Writes a line an interval and the summary as a block.
pub struct TextReport<W> {
    out: W,
    /// Intervals are shown only if the user asked for them.
    intervals: bool,
    /// Those that were asked for, in order.
    percentiles: Vec<f64>,
}

impl<W: Write> TextReport<W> {
    pub fn new(out: W, intervals: bool, percentiles: Vec<f64>) -> Self {
        Self {
            out,
            intervals,
            percentiles,
        }
    }

    fn ready(&mut self, ready: &Ready) -> io::Result<()> {
        writeln!(
            self.out,
            "{} {} on {}: {} on {} connected in {:.3} s",
            ready.workload,
            ready.mix,
            ready.server_version,
            counted(ready.clients as u64, "client"),
            counted(ready.workers as u64, "thread"),
            ready.connect_s
        )
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if !self.intervals {
            return Ok(());
        }
        let rate = |count: u64| count as f64 / (interval.end_s - interval.start_s);
        let tail = tail(&self.percentiles);
        let percentiles = interval.latency_us.iter().flat_map(|us| &us.percentiles);
        let found = percentiles
            .filter(|(percentile, _)| (percentile - tail).abs() < f64::EPSILON)
            .map(|(_, us)| format!("{:.3}", us / 1e3))
            .next();
        write!(
            self.out,
            "{:>9.2} s {:>11.2} tps {:>11.2} qps   p{tail} {:>9} ms {:>7.2} err/s",
            interval.end_s,
            rate(interval.transactions),
            rate(interval.reads + interval.writes + interval.others),
            found.as_deref().unwrap_or("-"),
            rate(interval.errors),
        )?;
        if let Some(backlog) = &interval.backlog {
            let (waiting, behind_s) = (backlog.waiting, backlog.behind_s);
            write!(self.out, "   {waiting} wait, {behind_s:.3} s behind")?;
        }
        let is_early = interval.phase == Phase::WarmUp;
        writeln!(self.out, "{}", if is_early { "   warm-up" } else { "" })
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        let per_s = |count: u64| count as f64 / summary.seconds.max(f64::MIN_POSITIVE);
        let errors: u64 = summary.errors.iter().map(|error| error.count).sum();
        writeln!(
            self.out,
            "\n{} {}, {}, {:.3} s measured{}",
            summary.workload,
            summary.mix,
            counted(summary.clients as u64, "client"),
            summary.seconds,
            if summary.interrupted {
                ", INTERRUPTED before the end of the phase"
            } else {
                ""
            }
        )?;
        let rated = |count: u64| format!("{count:>14} {:>14.2} per s", per_s(count));
        writeln!(self.out, "  transactions   {}", rated(summary.transactions))?;
        writeln!(
            self.out,
            "  queries        {}   (read {}, write {}, other {})",
            rated(summary.statements),
            summary.reads,
            summary.writes,
            summary.others
        )?;
        writeln!(
            self.out,
            "  errors         {}   (transactions retried {}, given up {})",
            rated(errors),
            summary.retries,
            summary.failed_transactions
        )?;
        writeln!(
            self.out,
            "  connections lost {:>12} {:>14.2} per s",
            summary.reconnects,
            per_s(summary.reconnects)
        )?;
        if let Some(stopped) = summary.stopped_clients.filter(|&stopped| stopped > 0) {
            writeln!(
                self.out,
                "  clients stopped  {stopped:>12}   (outcome of their last transaction unknown)"
            )?;
        }
        if let Some([asked, stand]) = summary.guards {
            writeln!(
                self.out,
                "  read-only at end {stand:>12}   of {asked} connections"
            )?;
        }
        if let Some(rate) = &summary.rate {
            open_loop::write(rate, &mut self.out)?;
        }
        self.errors(summary)?;
        self.latencies(summary)?;
        if let Some(iterations) = &summary.iterations {
            operations::iterations(&mut self.out, iterations)?;
        }
        if let Some(account) = &summary.tpcc {
            tpcc::write(summary, account, &mut self.out)?;
        }
        if let Some(certificate) = &summary.replay {
            replay::write(certificate, &mut self.out)?;
        }
        self.client(summary)
    }

    fn errors(&mut self, summary: &Summary) -> io::Result<()> {
        for error in &summary.errors {
            writeln!(
                self.out,
                "    {} x {} at {}: {}",
                error.count,
                error.code,
                error.statement.as_deref().unwrap_or("connecting"),
                error.message
            )?;
        }
        Ok(())
    }

    fn latencies(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(whole) = &summary.latency_us else {
            return writeln!(self.out, "  no transaction was completed");
        };
        let names = summary.statement_types.iter().map(|known| &known.name);
        let longest = names.map(|name| 2 + name.chars().count()).max();
        let width = longest.unwrap_or(0).max(SHORTEST_NAME_CHARS);
        write!(
            self.out,
            "\n  {:<width$} {:>11} {:>10} {:>10} {:>10}",
            "latency in ms", "count", "mean", "min", "max"
        )?;
        for (percentile, _) in &whole.percentiles {
            write!(self.out, " {:>10}", format!("p{percentile}"))?;
        }
        writeln!(self.out)?;
        self.latency_row("transaction", width, whole)?;
        for kind in &summary.transaction_types {
            if let Some(latencies) = &kind.latency_us {
                self.latency_row(&format!("- {}", kind.name), width, latencies)?;
            }
        }
        for statement in &summary.statement_types {
            if let Some(latencies) = &statement.latency_us {
                self.latency_row(&format!("  {}", statement.name), width, latencies)?;
            }
        }
        let types = summary.statement_types.iter();
        let all = types
            .filter_map(|known| known.latency_us.as_ref())
            .chain([whole]);
        if all.into_iter().any(has_unsupported) {
            writeln!(self.out, "  {UNSUPPORTED} fewer than ten lie beyond it")?;
        }
        Ok(())
    }

    fn latency_row(
        &mut self,
        name: &str,
        width: usize,
        latency_us: &LatencySummary,
    ) -> io::Result<()> {
        let ms = |us: f64| format!("{:>10.3}", us / 1e3);
        write!(
            self.out,
            "  {name:<width$} {:>11} {} {} {}",
            latency_us.count,
            ms(latency_us.mean),
            ms(latency_us.min),
            ms(latency_us.max)
        )?;
        for (percentile, us) in &latency_us.percentiles {
            let value = format!("{:.3}", us / 1e3);
            if latency_us.supports(*percentile) {
                write!(self.out, " {value:>10}")?;
            } else {
                write!(self.out, " {:>10}", format!("{UNSUPPORTED}{value}"))?;
            }
        }
        writeln!(self.out)
    }

    fn client(&mut self, summary: &Summary) -> io::Result<()> {
        let cost = &summary.client;
        let cpu_s = cost.cpu_user_s + cost.cpu_system_s;
        write!(
            self.out,
            "\n  load generator: {cpu_s:.2} s CPU ({:.2} user, {:.2} system), {:.2} us per query, {:.1} MiB",
            cost.cpu_user_s,
            cost.cpu_system_s,
            cpu_s * 1e6 / (summary.statements as f64).max(1.0),
            cost.max_rss_bytes as f64 / f64::from(1 << 20)
        )?;
        if let Some(delay) = &cost.delay_us {
            write!(
                self.out,
                "; replies waited {:.1} us on average, {:.0} us at most",
                delay.mean, delay.max
            )?;
        }
        writeln!(self.out)
    }
}

impl<W: Write> Report for TextReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Ready(ready) => self.ready(ready),
            Event::Warming { seconds } => writeln!(self.out, "warm-up of {seconds} s"),
            Event::Interval(interval) => self.interval(interval),
            Event::Operation(operation) => operations::line(&mut self.out, operation),
            Event::Summary(summary) => self.summary(summary),
            Event::BrokenOff(summary) => {
                self.summary(summary)?;
                writeln!(
                    self.out,
                    "\nThe job FAILED; these figures are from before the failure"
                )
            }
            // A failure is said on standard error; the phases are seen from the intervals.
            Event::Failed { .. }
            | Event::Measuring { .. }
            | Event::Measured { .. }
            | Event::Idle => Ok(()),
        }?;
        self.out.flush()
    }
}

fn has_unsupported(latency_us: &LatencySummary) -> bool {
    let mut percentiles = latency_us.percentiles.iter();
    percentiles.any(|(percentile, _)| !latency_us.supports(*percentile))
}

/// The percentile that an interval line shows: the 95th if asked for, else the highest.
fn tail(percentiles: &[f64]) -> f64 {
    let is_95 = |percentile: &&f64| (*percentile - 95.0).abs() < f64::EPSILON;
    let chosen = percentiles.iter().find(is_95).or(percentiles.last());
    chosen.copied().unwrap_or(95.0)
}

pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
