//! The ledger workload's own options.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol};
use crate::cli::within::Within;

/// Options that prepare and run must agree on.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct LedgerArgs {
    /// Accounts, with ids from 1
    #[arg(long, value_name = "N", default_value_t = 1_000, within(2..=10_000_000u64))]
    pub(super) accounts: u64,

    /// Bytes beside the figures in each account and each entry
    #[arg(long, value_name = "BYTES", default_value_t = 100, within(0..=4_000u16))]
    pub(super) filler_bytes: u16,

    /// The same seed gives the same fillers and the same transfers [default: 1 to prepare, another
    /// one each time to run]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareLedger {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) ledger: LedgerArgs,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupLedger {
    #[command(flatten)]
    pub(super) connection: Connection,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunLedger {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) ledger: LedgerArgs,
    #[command(flatten)]
    pub(super) load: Load,

    /// A new file to which a client adds the line CLIENT NUMBER `MONOTONIC_US` as soon as it has read
    /// the reply to a COMMIT, and before anything else. A client that does not know what became of
    /// its transaction then ends for good, and the run with the last of them; the tables must be as
    /// `prepare` made them
    #[arg(long, value_name = "FILE", conflicts_with = "retry")]
    pub(super) acknowledgements: Option<PathBuf>,

    /// A client whose transaction fails adds the line CLIENT NUMBER !CODE `MONOTONIC_US` instead, with
    /// `lost` for a lost connection, and continues with its next number
    #[arg(long, requires = "acknowledgements")]
    pub(super) bear_errors: bool,

    /// Send parameters as text in the statement, or bind them to statements prepared once
    #[arg(long, default_value = "prepared")]
    pub(super) protocol: Protocol,
}
