//! The OLTP workload's own options.

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol, engine_name};
use crate::workload::distribution::Choice;
use crate::workload::oltp::Mix;

/// Which tables, and which of their rows are asked for.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct OltpTables {
    /// Tables, named sbtest1, sbtest2, …
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) tables: u16,

    /// Rows in each table (ids are 32-bit integers)
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=2_147_483_647))]
    pub(in crate::cli) rows: u64,

    /// What a transaction is; the tables of complex have unsigned numbers, so prepare and run alike
    #[arg(long, default_value = "read-write")]
    pub(in crate::cli) mix: Mix,

    /// Which rows are hot (and, when preparing, which values column k holds)
    #[arg(long, default_value = "special")]
    pub(in crate::cli) distribution: Choice,

    /// The same seed gives the same rows and the same draws [default: 1 to prepare, another one
    /// each time to run, since the same draws again would update rows to what they hold already]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) tables: OltpTables,

    /// The tables' storage engine (MySQL family only)
    #[arg(long, value_name = "NAME", default_value = "innodb", value_parser = engine_name)]
    pub(in crate::cli) engine: String,

    /// Tables loaded at a time [default: twice the cores, at most one per table]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) threads: Option<u16>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    /// Tables sbtest1 to sbtestN are dropped, those that exist
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(in crate::cli) tables: u16,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) tables: OltpTables,
    #[command(flatten)]
    pub(in crate::cli) load: Load,

    /// Send parameters as text in the statement, or bind them to statements prepared once
    /// [default: as sysbench does: text for complex and insert, else prepared]
    #[arg(long)]
    pub(in crate::cli) protocol: Option<Protocol>,

    /// Send no BEGIN and no COMMIT: every statement commits itself
    #[arg(long)]
    pub(in crate::cli) skip_trx: bool,
}
