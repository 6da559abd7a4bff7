//! The operations of a job as text: a line as each ends, and what iterations of the same come to.

use std::io::{self, Write};

use super::{Iterations, Operation};

pub(super) fn line(out: &mut impl Write, operation: &Operation) -> io::Result<()> {
    write!(out, "{:<12} {:<32} ", operation.test, operation.name)?;
    let Some(seconds) = operation.seconds else {
        let reason = operation.skipped.as_deref().unwrap_or("no reason given");
        return writeln!(out, "skipped: {reason}");
    };
    let rate = operation.count as f64 / seconds.max(f64::MIN_POSITIVE);
    write!(
        out,
        "{:>10} {seconds:>12.3} s {rate:>12.1} per s",
        operation.count
    )?;
    if operation.cut {
        let (count, planned) = (operation.count, operation.planned);
        write!(out, "  cut short at {count} of {planned}")?;
    }
    if let Some(all_s) = operation.extrapolated_s {
        write!(out, "; all would take {all_s:.3} s")?;
    }
    if operation.errors > 0 {
        write!(out, "  {} errors", operation.errors)?;
    }
    writeln!(out)
}

/// The figures that mysqlslap prints.
pub(super) fn iterations(out: &mut impl Write, iterations: &Iterations) -> io::Result<()> {
    let Iterations {
        count,
        mean_s,
        min_s,
        max_s,
        queries_per_client,
    } = iterations;
    writeln!(
        out,
        "\n  {queries_per_client} queries of each client took {mean_s:.3} s on average, {min_s:.3} s at least, \
         {max_s:.3} s at most, {count} times"
    )
}
