//! The OLTP workload's options, as its rows and clients have them.

use clap::ValueEnum;

use super::options::number;
use crate::workload::distribution::{Choice, Law};
use crate::workload::oltp::{Bracket, GROUPS, Mix, OltpOptions, OltpRows, Schema};

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
    let count = |at: usize| number(given, GROUPS[at]).unwrap_or(mix.counts()[at]);
    OltpOptions {
        schema: schema(given),
        counts: std::array::from_fn(count),
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
