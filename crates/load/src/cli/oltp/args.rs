//! The OLTP workload's own options.

use clap::{Args, ValueEnum};

use super::counts::CountArgs;
use super::distribution::DistributionArgs;
use crate::cli::args::{Connection, Load, Protocol, engine_name};
use crate::cli::within::Within;
use crate::workload::digits::Filling;
use crate::workload::oltp::{Mix, Schema, TablePer};

/// Which tables, and which of their rows are asked for.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct OltpArgs {
    /// The tables' generation; prepare, run and cleanup alike
    #[arg(long, value_name = "SCHEMA", default_value = "sbtestN")]
    pub(in crate::cli) schema: Schema,

    /// Tables, named sbtest1, sbtest2, …
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=u16::MAX))]
    pub(in crate::cli) tables: u16,

    /// Rows in each table (ids are 32-bit integers)
    #[arg(long, value_name = "N", default_value_t = 10_000, within(1..=2_147_483_647u64))]
    pub(in crate::cli) rows: u64,

    /// The statements of a transaction. The tables of complex have unsigned numbers, so give
    /// prepare and run the same mix [default: read-write, or complex with --schema sbtest]
    #[arg(long)]
    mix: Option<Mix>,

    #[command(flatten)]
    pub(in crate::cli) distribution: DistributionArgs,

    /// How many times smaller LZ4 makes the columns c and pad; prepare and run alike [default:
    /// sysbench's random digits, less than 1.3]
    #[arg(long, value_name = "TIMES", within(1.0..=10.0))]
    pub(super) compressible: Option<f64>,

    /// The same seed gives the same rows and the same draws [default: 1 to prepare, another one
    /// each time to run, since the same draws again would update rows to what they hold already]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
}

impl OltpArgs {
    pub(super) fn filling(&self) -> Filling {
        self.compressible
            .map_or(Filling::RANDOM, Filling::compressible)
    }

    pub(super) fn mix(&self) -> Mix {
        self.mix.unwrap_or(match self.schema {
            Schema::Numbered => Mix::ReadWrite,
            Schema::Single => Mix::Complex,
        })
    }
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) oltp: OltpArgs,

    /// The tables' storage engine (MySQL family only) [default: innodb]
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    pub(in crate::cli) engine: Option<String>,

    /// Tables loaded at a time [default: twice the cores, at most one per table]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    pub(in crate::cli) threads: Option<u16>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    /// The tables' generation
    #[arg(long, value_name = "SCHEMA", default_value = "sbtestN")]
    pub(in crate::cli) schema: Schema,

    /// Tables sbtest1 to sbtestN are dropped, those that exist
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=u16::MAX))]
    pub(in crate::cli) tables: u16,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunOltp {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) oltp: OltpArgs,
    #[command(flatten)]
    pub(in crate::cli) counts: CountArgs,
    #[command(flatten)]
    pub(in crate::cli) load: Load,

    /// Send parameters as text in the statement, or bind them to statements prepared once
    /// [default: as sysbench does: with sbtestN text for complex and insert, else prepared]
    #[arg(long)]
    pub(in crate::cli) protocol: Option<Protocol>,

    /// How long a client keeps the table that it has drawn [default: as in sysbench: transaction
    /// for complex, else group]
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) table_per: Option<TablePer>,

    /// Send no BEGIN and no COMMIT: every statement commits itself
    #[arg(long)]
    pub(in crate::cli) skip_trx: bool,

    /// Whether the tables' storage engine has transactions; if not, LOCK TABLES and UNLOCK TABLES
    /// replace BEGIN and COMMIT
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "auto",
        conflicts_with = "skip_trx"
    )]
    pub(in crate::cli) engine_trx: EngineTrx,

    /// Reconnect after every so many transactions; the time counts as part of the last one
    /// [default: stay connected]
    #[arg(long, value_name = "TRANSACTIONS", within(1..=u64::MAX))]
    pub(in crate::cli) reconnect: Option<u64>,
}

/// sysbench 0.4's `--mysql-engine-trx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum EngineTrx {
    /// complex and all mixes on sbtest look at the tables' engine, as the legacy does; else BEGIN
    Auto,
    /// It has: BEGIN and COMMIT
    Yes,
    /// It has none: LOCK TABLES and UNLOCK TABLES (MySQL family only)
    No,
}
