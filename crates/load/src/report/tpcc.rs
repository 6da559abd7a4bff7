//! What a run of TPC-C says beside what all workloads say.

use std::io::{self, Write};

use super::Summary;
use super::text::counted;
use crate::workload::tpcc::Account;

/// The longest times for nine of ten transactions of each kind, in seconds (clause 5.2.5.3).
const LIMITS_S: [(&str, f64); 5] = [
    ("new_order", 5.0),
    ("payment", 5.0),
    ("order_status", 5.0),
    ("delivery", 5.0),
    ("stock_level", 20.0),
];

/// The percentile that has these limits.
const PERCENTILE: f64 = 90.0;

pub(super) fn write(summary: &Summary, account: &Account, out: &mut impl Write) -> io::Result<()> {
    let orders = summary
        .transaction_types
        .iter()
        .find(|kind| kind.name == "new_order");
    let orders = orders.map_or(0, |kind| kind.count);
    let a_minute = orders as f64 / summary.seconds.max(f64::MIN_POSITIVE) * 60.0;
    writeln!(
        out,
        "\n  {a_minute:.0} new orders a minute, {} on {}",
        counted(account.terminals, "terminal"),
        counted(account.warehouses, "warehouse")
    )?;
    writeln!(out, "  TPC-C-like, no think time: this is no tpmC")?;
    for kind in &summary.transaction_types {
        let limit_s = LIMITS_S
            .iter()
            .find(|(name, _)| *name == kind.name)
            .map(|(_, limit_s)| *limit_s);
        let percentiles = kind.latency_us.iter().flat_map(|known| &known.percentiles);
        let found_us = percentiles
            .filter(|(percentile, _)| (percentile - PERCENTILE).abs() < f64::EPSILON)
            .map(|(_, us)| *us)
            .next();
        let (Some(limit_s), Some(found_us)) = (limit_s, found_us) else {
            continue;
        };
        let seconds = found_us / 1e6;
        if seconds > limit_s {
            writeln!(
                out,
                "  {}: the 90th percentile is {seconds:.3} s; TPC-C allows {limit_s} s",
                kind.name
            )?;
        }
    }
    let share = |part: u64, whole: u64| 100.0 * part as f64 / (whole as f64).max(1.0);
    let begun = |place: usize| account.begun.get(place).copied().unwrap_or(0);
    writeln!(
        out,
        "  inputs: {:.2}% of new orders roll back, {:.2}% of their lines and {:.2}% of payments are remote",
        share(account.rolled_back, begun(0)),
        share(account.remote_lines, account.lines),
        share(account.remote_payments, begun(1)),
    )
}
