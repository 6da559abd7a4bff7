//! The conditions workload's own options.

use clap::Args;

use crate::cli::Stop;
use crate::cli::args::{Connection, Load, Protocol, engine_name};
use crate::cli::within::Within;
use crate::workload::conditions::History;

/// Options that prepare and run must agree on.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ConditionsArgs {
    /// Tables, named conditions1, conditions2, …; each holds one quantity's entries
    #[arg(long, value_name = "N", default_value_t = 100, within(1..=u16::MAX))]
    pub(super) tables: u16,

    /// Entries in each table
    #[arg(long, value_name = "N", default_value_t = 10_000, within(1..=2_147_483_647u64))]
    rows: u64,

    /// Parts of the detector that have entries of their own in each table
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=32_767u64))]
    elements: u64,

    /// Days over which the entries' begins are spread
    #[arg(long, value_name = "DAYS", default_value_t = 3650, within(1..=History::LONGEST_DAYS))]
    days: u32,

    /// Bytes of an entry's payload
    #[arg(long, value_name = "BYTES", default_value_t = 200, within(1..=60_000u16))]
    pub(super) payload_bytes: u16,

    /// The same seed gives the same payloads and the same draws [default: 1 to prepare, another
    /// one each time to run]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
}

impl ConditionsArgs {
    pub(super) fn history(&self) -> Result<History, Stop> {
        History::new(self.rows, self.elements, self.days)
            .map_err(|error| Stop::Arguments(format!("--rows, --elements and --days: {error}")))
    }
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareConditions {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) conditions: ConditionsArgs,

    /// The tables' storage engine (MySQL family only) [default: innodb]
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    pub(super) engine: Option<String>,

    /// Tables loaded at a time [default: twice the cores, at most one per table]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    pub(super) threads: Option<u16>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupConditions {
    #[command(flatten)]
    pub(super) connection: Connection,

    /// Tables conditions1 to conditionsN are dropped, those that exist
    #[arg(long, value_name = "N", default_value_t = 100, within(1..=u16::MAX))]
    pub(super) tables: u16,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunConditions {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    pub(super) conditions: ConditionsArgs,
    #[command(flatten)]
    pub(super) load: Load,

    /// Tables that a client asks on one visit, which is a transaction in all accounts [default: 20,
    /// at most all]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    pub(super) tables_per_visit: Option<u16>,

    /// Percentage of the visits that ask for the last hours; the others ask for any time
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0, within(0.0..=100.0))]
    pub(super) hot_percent: f64,

    /// Length of the last hours, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 24, within(1..=876_000u32))]
    pub(super) hot_hours: u32,

    /// Share of the queries, 0 to 1, that a client replaces by a new entry
    #[arg(long, value_name = "SHARE", default_value_t = 0.001, within(0.0..=1.0))]
    pub(super) appends: f64,

    /// Stay connected from visit to visit; else every visit begins with a new connection
    #[arg(long)]
    pub(super) stay: bool,

    /// Send parameters as text in the statement, or bind them to statements that every new
    /// connection prepares for all tables
    #[arg(long, default_value = "text")]
    pub(super) protocol: Protocol,
}
