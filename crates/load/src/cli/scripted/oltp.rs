//! The OLTP workload's options, as its rows and clients have them.

use clap::ValueEnum;

use super::options::number;
use crate::workload::distribution::{Choice, Law};
use crate::workload::oltp::{Bracket, Counts, Mix, OltpOptions, OltpRows, Schema};

type Given = [(String, Option<String>)];

/// What was chosen, if anything was.
fn chosen<T: ValueEnum>(given: &Given, name: &str) -> Option<T> {
    let word: String = number(given, name)?;
    T::from_str(&word, true).ok()
}

fn schema(given: &Given) -> Schema {
    chosen(given, "schema").unwrap_or(Schema::Numbered)
}

fn mix(given: &Given) -> Mix {
    chosen(given, "mix").unwrap_or(match schema(given) {
        Schema::Numbered => Mix::ReadWrite,
        Schema::Single => Mix::Complex,
    })
}

fn law(given: &Given) -> Law {
    let law = Law::from(chosen(given, "distribution").unwrap_or(Choice::Special));
    Law {
        exponent: number(given, "zipfian-exponent").unwrap_or(law.exponent),
        ..law
    }
}

/// The rows that `prepare` makes.
pub(super) fn rows(given: &Given, seed: u64) -> OltpRows {
    OltpRows {
        rows: number(given, "rows").unwrap_or(1),
        distribution: law(given),
        seed,
    }
}

/// The options of a run; `locks`: the tables have no transactions.
pub(super) fn run(given: &Given, locks: bool, seed: u64) -> OltpOptions {
    let has = |wanted: &str| given.iter().any(|(name, _)| name == wanted);
    let mix = mix(given);
    let usual = Counts::of(mix);
    let count = |name: &str, usual: u32| number(given, name).unwrap_or(usual);
    OltpOptions {
        schema: schema(given),
        counts: Counts {
            point_selects: count("point-selects", usual.point_selects),
            simple_ranges: count("simple-ranges", usual.simple_ranges),
            sum_ranges: count("sum-ranges", usual.sum_ranges),
            order_ranges: count("order-ranges", usual.order_ranges),
            distinct_ranges: count("distinct-ranges", usual.distinct_ranges),
            index_updates: count("index-updates", usual.index_updates),
            non_index_updates: count("non-index-updates", usual.non_index_updates),
            delete_inserts: count("delete-inserts", usual.delete_inserts),
        },
        range_rows: number(given, "range-size").unwrap_or(1),
        bracket: match () {
            () if has("skip-trx") => Bracket::None,
            () if locks => Bracket::Locks,
            () => Bracket::Transaction,
        },
        ..OltpOptions::new(
            mix,
            number(given, "tables").unwrap_or(1),
            number(given, "rows").unwrap_or(1),
            law(given),
            seed,
        )
    }
}
