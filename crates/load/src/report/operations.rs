//! The operations of a job as text: a line as each ends, and what equal ones come to together.

use std::io::{self, Write};

use super::{Iterations, Operation, Summary};

/// Marks seconds that a loop cut short would have taken to its end, as sql-bench does.
const EXTRAPOLATED: &str = "+";

/// A line for each operation, under one head.
#[derive(Debug, Default)]
pub(super) struct OperationLines {
    begun: bool,
}

impl OperationLines {
    /// Other lines have come in between: the next operation has its head again.
    pub(super) fn interrupt(&mut self) {
        self.begun = false;
    }

    pub(super) fn line(&mut self, out: &mut impl Write, operation: &Operation) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            writeln!(
                out,
                "{:<12} {:<32} {:>7} {:>10} {:>12} {:>12} {:>10}",
                "test", "operation", "clients", "count", "seconds", "per s", "mean ms"
            )?;
        }
        write!(out, "{:<12} {:<32} ", operation.test, operation.name)?;
        let Some(seconds) = operation.seconds else {
            let reason = operation.skipped.as_deref().unwrap_or("no reason given");
            return writeln!(out, "skipped: {reason}");
        };
        let rate = operation.count as f64 / seconds.max(f64::MIN_POSITIVE);
        let mean = operation.latency_us.as_ref().map(|us| us.mean / 1e3);
        let mean = mean.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        write!(
            out,
            "{:>7} {:>10} {seconds:>12.3} {rate:>12.1} {mean:>10}",
            operation.clients, operation.count
        )?;
        if operation.cut {
            write!(
                out,
                "  cut short at {} of {}",
                operation.count, operation.planned
            )?;
        }
        if let Some(all_s) = operation.extrapolated_s {
            write!(out, "; all would take {all_s:.3} s")?;
        }
        if operation.errors > 0 {
            write!(out, "  {} errors", operation.errors)?;
        }
        writeln!(out)
    }
}

/// The closing table of a job; nothing for a steady run.
pub(super) fn totals(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    if let Some(iterations) = &summary.iterations {
        return iterations_block(out, summary, iterations);
    }
    if summary.operations.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:<32} {:>12} {:>18} {:>12}",
        "totals per operation", "seconds", "count", "mean ms"
    )?;
    let mut all = Total::new("all operations");
    for total in by_name(&summary.operations) {
        total.write(out)?;
        all.join(&total);
    }
    all.write(out)?;
    writeln!(
        out,
        "count: turns of loops, or rows if a turn INSERTs many; mean: per turn"
    )?;
    if all.extrapolated {
        let sign = "+: includes the estimated rest of loops that were cut short";
        writeln!(out, "{sign}")?;
    }
    Ok(())
}

/// Equal names added up over the tests, in the order in which they first came.
fn by_name(operations: &[Operation]) -> Vec<Total<'_>> {
    let mut totals: Vec<Total> = Vec::new();
    for operation in operations.iter().filter(|one| one.seconds.is_some()) {
        let name = operation.name.as_ref();
        if !totals.iter().any(|total| total.name == name) {
            totals.push(Total::new(name));
        }
        for total in totals.iter_mut().filter(|total| total.name == name) {
            total.add(operation);
        }
    }
    totals
}

/// Operations of one name together.
struct Total<'a> {
    name: &'a str,
    seconds: f64,
    count: u64,
    planned: u64,
    cut: bool,
    extrapolated: bool,
    latency_s: f64,
    /// The number of transactions: a count may be one of rows.
    latencies: u64,
}

impl<'a> Total<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            seconds: 0.0,
            count: 0,
            planned: 0,
            cut: false,
            extrapolated: false,
            latency_s: 0.0,
            latencies: 0,
        }
    }

    fn add(&mut self, operation: &Operation) {
        let seconds = operation.extrapolated_s.or(operation.seconds);
        self.seconds += seconds.unwrap_or(0.0);
        self.extrapolated |= operation.extrapolated_s.is_some();
        self.count += operation.count;
        self.planned += operation.planned;
        self.cut |= operation.cut;
        let latency_us = operation.latency_us.as_ref();
        self.latency_s += latency_us.map_or(0.0, |us| us.mean * us.count as f64 / 1e6);
        self.latencies += latency_us.map_or(0, |us| us.count);
    }

    fn join(&mut self, other: &Total<'_>) {
        self.seconds += other.seconds;
        self.count += other.count;
        self.planned += other.planned;
        self.cut |= other.cut;
        self.extrapolated |= other.extrapolated;
        self.latency_s += other.latency_s;
        self.latencies += other.latencies;
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let sign = if self.extrapolated { EXTRAPOLATED } else { "" };
        let mean_ms = 1e3 * self.latency_s / (self.latencies as f64).max(1.0);
        let count = if self.cut {
            format!("{} of {}", self.count, self.planned)
        } else {
            self.count.to_string()
        };
        writeln!(
            out,
            "{:<32} {:>11.3}{sign:<1} {count:>18} {mean_ms:>12.3}",
            self.name, self.seconds
        )
    }
}

/// The block that mysqlslap prints.
fn iterations_block(
    out: &mut impl Write,
    summary: &Summary,
    iterations: &Iterations,
) -> io::Result<()> {
    let rows = [
        ("average", iterations.mean_s),
        ("minimum", iterations.min_s),
        ("maximum", iterations.max_s),
    ];
    writeln!(
        out,
        "\nseconds to run all queries, {} iteration{}",
        iterations.count,
        if iterations.count == 1 { "" } else { "s" }
    )?;
    for (name, seconds) in rows {
        writeln!(out, "  {name:<20} {seconds:>12.3}")?;
    }
    writeln!(out, "  {:<20} {:>12}", "clients", summary.clients)?;
    let queries = iterations.queries_per_client;
    writeln!(out, "  {:<20} {queries:>12}", "queries per client")
}
