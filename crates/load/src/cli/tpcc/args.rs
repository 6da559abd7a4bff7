//! The TPC-C workload's own options.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol};
use crate::cli::within::Within;

/// More would make terminals that no machine of a test has connections for.
const MOST_WAREHOUSES: u64 = 10_000;

/// The size of the company, on which all verbs must agree.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct TpccArgs {
    /// Warehouses, of about 100 MB each
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=MOST_WAREHOUSES))]
    pub(super) warehouses: u64,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareTpcc {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) tpcc: TpccArgs,

    /// Warehouses loaded at a time [default: two per core; SQLite: 1]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    pub(super) threads: Option<u16>,

    /// The same seed gives the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupTpcc {
    #[command(flatten)]
    pub(super) connection: Connection,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CheckTpcc {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) tpcc: TpccArgs,

    /// Print one JSON line for a program (docs/protocol.md) instead of text
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunTpcc {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) tpcc: TpccArgs,
    #[command(flatten)]
    pub(super) load: Load,

    /// Keying and think times as specified: ten clients for each warehouse, which type, wait and
    /// think. Deliveries are deferred to further clients. Without this option each client begins
    /// its next transaction at once, and the result is TPC-C-like: it is no tpmC
    #[arg(long, conflicts_with = "rate")]
    pub(super) think_times: bool,

    /// A new file to which a client adds the line CLIENT NUMBER WAREHOUSE DISTRICT ORDER
    /// `MONOTONIC_US` as soon as it has read the reply to the COMMIT of a new order, and before
    /// anything else. A client that does not know what became of its transaction then ends for good
    #[arg(long, value_name = "FILE", conflicts_with_all = ["retry", "think_times"])]
    pub(super) acknowledgements: Option<PathBuf>,

    /// The same seed gives the same inputs [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// Send parameters as text in the statement, or bind them to statements prepared once
    #[arg(long, default_value = "prepared")]
    pub(super) protocol: Protocol,
}
