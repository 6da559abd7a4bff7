//! Text for a person: a line per interval and operation; at the end a figure a line, and the latencies.

use std::io::{self, Write};

use serde_json::Value;

use super::{Event, Interval, Operation, Ready, Report, Summary};
use crate::measure::{LatencySummary, Phase};

/// Width of the column of names.
const NAME_CHARS: usize = 32;

/// What a summary says in its first line and in the table of latencies.
const SHOWN_OTHERWISE: [&str; 5] = ["workload", "mix", "seconds", "interrupted", "latency_us"];

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
        let (workload, mix, server) = (&ready.workload, &ready.mix, &ready.server_version);
        let connect_s = ready.connect_s;
        writeln!(
            self.out,
            "{workload} {mix} on {server}, connected in {connect_s:.3} s"
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
        let early = if summary.interrupted {
            ", INTERRUPTED before the end of the phase"
        } else {
            ""
        };
        let (workload, mix, seconds) = (&summary.workload, &summary.mix, summary.seconds);
        writeln!(
            self.out,
            "\n{workload} {mix}, {seconds:.3} s measured{early}"
        )?;
        if let Value::Object(mut figures) = serde_json::to_value(summary)? {
            figures.retain(|name, _| !SHOWN_OTHERWISE.contains(&name.as_str()));
            self.figures("", &Value::Object(figures))?;
        }
        self.errors(summary)?;
        self.latencies(summary)
    }

    /// Each figure under its name in the lines for a program; lists have tables, or are for programs alone.
    fn figures(&mut self, name: &str, figure: &Value) -> io::Result<()> {
        let width = NAME_CHARS;
        match figure {
            Value::Null | Value::Array(_) => Ok(()),
            Value::Object(parts) => parts.iter().try_for_each(|(part, figure)| {
                let dot = if name.is_empty() { "" } else { "." };
                self.figures(&format!("{name}{dot}{part}"), figure)
            }),
            Value::Number(number) if number.is_f64() => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                writeln!(self.out, "  {name:<width$} {number:>14.3}")
            }
            // Their own `Display` knows no width.
            other => writeln!(self.out, "  {name:<width$} {:>14}", other.to_string()),
        }
    }

    /// An operation of a job, as it ends.
    fn operation(&mut self, operation: &Operation) -> io::Result<()> {
        let Operation {
            test, name, count, ..
        } = operation;
        write!(self.out, "{test:<12} {name:<32} ")?;
        let Some(seconds) = operation.seconds else {
            let reason = operation.skipped.as_deref().unwrap_or("no reason given");
            return writeln!(self.out, "skipped: {reason}");
        };
        let rate = *count as f64 / seconds.max(f64::MIN_POSITIVE);
        write!(self.out, "{count:>10} {seconds:>12.3} s {rate:>12.1} per s")?;
        if operation.cut {
            write!(self.out, "  cut short at {count} of {}", operation.planned)?;
        }
        if let Some(all_s) = operation.extrapolated_s {
            write!(self.out, "; all would take {all_s:.3} s")?;
        }
        if operation.errors > 0 {
            write!(self.out, "  {} errors", operation.errors)?;
        }
        writeln!(self.out)
    }

    fn errors(&mut self, summary: &Summary) -> io::Result<()> {
        let count: u64 = summary.errors.iter().map(|error| error.count).sum();
        self.figures("errors", &count.into())?;
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
        let width = NAME_CHARS;
        write!(
            self.out,
            "\n  {:<width$} {:>11} {:>10} {:>10} {:>10}",
            "latency in ms", "count", "mean", "min", "max"
        )?;
        for (percentile, _) in &whole.percentiles {
            write!(self.out, " {:>10}", format!("p{percentile}"))?;
        }
        writeln!(self.out)?;
        self.latency_row("transaction", whole)?;
        for kind in &summary.transaction_types {
            if let Some(latencies) = &kind.latency_us {
                self.latency_row(&format!("- {}", kind.name), latencies)?;
            }
        }
        for statement in &summary.statement_types {
            if let Some(latencies) = &statement.latency_us {
                self.latency_row(&format!("  {}", statement.name), latencies)?;
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

    fn latency_row(&mut self, name: &str, latency_us: &LatencySummary) -> io::Result<()> {
        let width = NAME_CHARS;
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
}

impl<W: Write> Report for TextReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Ready(ready) => self.ready(ready),
            Event::Warming { seconds } => writeln!(self.out, "warm-up of {seconds} s"),
            Event::Interval(interval) => self.interval(interval),
            Event::Operation(operation) => self.operation(operation),
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
