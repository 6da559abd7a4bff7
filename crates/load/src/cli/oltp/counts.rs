//! Number of statements of each group in a transaction: sysbench's own options.

use clap::Args;

use crate::cli::Stop;
use crate::cli::within::Within;
use crate::workload::oltp::{Counts, Mix, Schema};

/// On each option: a heading of the whole group would stand over those that follow it as well.
const HEADING: &str = "Statements of a transaction";

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CountArgs {
    /// SELECTs by primary key [default: 10]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    point_selects: Option<u32>,

    /// SELECTs of a range of ids [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    simple_ranges: Option<u32>,

    /// SELECTs of SUM(k) over a range [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    sum_ranges: Option<u32>,

    /// SELECTs of a range in the order of column c [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    order_ranges: Option<u32>,

    /// SELECTs of a range's different values of c [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    distinct_ranges: Option<u32>,

    /// UPDATEs of the indexed column k [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    index_updates: Option<u32>,

    /// UPDATEs of column c, which has no index [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    non_index_updates: Option<u32>,

    /// DELETEs, each with the INSERT that puts the row back [default: 1]
    #[arg(long, help_heading = HEADING, value_name = "N", within(0..=MOST))]
    delete_inserts: Option<u32>,

    /// Rows of a range
    #[arg(long, help_heading = HEADING, value_name = "ROWS", default_value_t = 100, within(1..=1_000_000u64))]
    pub(super) range_size: u64,

    /// One more UPDATE of k, of the row that is then deleted: the 21 statements of sysbench 0.4.12
    /// and older (--schema sbtest, --mix complex)
    #[arg(long, help_heading = HEADING)]
    pub(super) update_before_delete: bool,
}

/// More statements would make a transaction that no server is asked for.
const MOST: u32 = 10_000;

impl CountArgs {
    /// The mix's own counts with those that were chosen in their place.
    pub(super) fn of(&self, mix: Mix, schema: Schema) -> Result<Counts, Stop> {
        let mut counts = Counts::of(mix);
        for (option, chosen, count) in [
            (
                "--point-selects",
                self.point_selects,
                &mut counts.point_selects,
            ),
            (
                "--simple-ranges",
                self.simple_ranges,
                &mut counts.simple_ranges,
            ),
            ("--sum-ranges", self.sum_ranges, &mut counts.sum_ranges),
            (
                "--order-ranges",
                self.order_ranges,
                &mut counts.order_ranges,
            ),
            (
                "--distinct-ranges",
                self.distinct_ranges,
                &mut counts.distinct_ranges,
            ),
            (
                "--index-updates",
                self.index_updates,
                &mut counts.index_updates,
            ),
            (
                "--non-index-updates",
                self.non_index_updates,
                &mut counts.non_index_updates,
            ),
            (
                "--delete-inserts",
                self.delete_inserts,
                &mut counts.delete_inserts,
            ),
        ] {
            let Some(chosen) = chosen else { continue };
            if !mix.is_transaction() || *count == 0 {
                return Err(Stop::Arguments(format!(
                    "{option} does not apply to --mix {}, which has no such group of statements; leave it out",
                    mix.name()
                )));
            }
            *count = chosen;
        }
        if mix.is_transaction() && counts == Counts::default() {
            return Err(Stop::Arguments(
                "every group of statements is 0, so the transaction is empty; raise one of them"
                    .into(),
            ));
        }
        if self.update_before_delete && (schema, mix) != (Schema::Single, Mix::Complex) {
            return Err(Stop::Arguments(
                "--update-before-delete is part of sysbench 0.4 only; add --schema sbtest --mix complex"
                    .into(),
            ));
        }
        Ok(counts)
    }
}
