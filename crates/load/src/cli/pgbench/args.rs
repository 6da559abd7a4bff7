//! The pgbench workload's own options.

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol, engine_name};
use crate::cli::within::Within;
use crate::workload::pgbench::BUILT_IN;

/// A transaction with its weight, as `NAME` or `NAME@WEIGHT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) weight: u32,
}

/// The size of the bank, on which all verbs must agree.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PgbenchArgs {
    /// 100,000 accounts, 10 tellers and a branch for each (pgbench: --scale)
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=200_000u64))]
    pub(super) scale: u64,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PreparePgbench {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) pgbench: PgbenchArgs,

    /// The tables' storage engine (MySQL family only) [default: innodb]
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    pub(super) engine: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupPgbench {
    #[command(flatten)]
    pub(super) connection: Connection,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunPgbench {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) pgbench: PgbenchArgs,
    #[command(flatten)]
    pub(super) load: Load,

    /// The transaction: tpcb-like, simple-update (pgbench: -N) or select-only (pgbench: -S); of several with
    /// weights, such as tpcb-like@1,select-only@9, one is drawn each time
    #[arg(
        long = "builtin",
        value_name = "NAME[@WEIGHT]",
        value_parser = built_in,
        value_delimiter = ',',
        default_value = BUILT_IN[0]
    )]
    pub(super) built_in: Vec<BuiltIn>,

    /// Put values into the statement's text, or bind them to statements prepared once (pgbench: -M simple,
    /// -M prepared)
    #[arg(long, default_value = "text")]
    pub(super) protocol: Protocol,

    /// Reconnect after every so many transactions; the time counts as part of the last one [default: stay
    /// connected]
    #[arg(long, value_name = "TRANSACTIONS", within(1..=u64::MAX))]
    pub(super) reconnect: Option<u64>,

    /// The same seed gives the same draws [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

fn built_in(text: &str) -> Result<BuiltIn, String> {
    let (name, weight) = text.split_once('@').unwrap_or((text, "1"));
    let known = BUILT_IN.into_iter().find(|known| *known == name);
    match (known, weight.parse()) {
        (Some(name), Ok(weight @ 1..)) => Ok(BuiltIn { name, weight }),
        (None, _) => Err(format!(
            "there is none; it is one of {}",
            BUILT_IN.join(", ")
        )),
        _ => Err(format!("{weight:?} is not a weight; give a number from 1")),
    }
}
