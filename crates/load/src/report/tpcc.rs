//! What a run of TPC-C says beside what all workloads say.

use std::io::{self, Write};

use super::Summary;
use super::text::counted;
use crate::workload::tpcc::Account;

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
