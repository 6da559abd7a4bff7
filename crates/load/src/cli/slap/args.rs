//! The slap workload's own options, each with mysqlslap's name for it.

use std::ffi::OsString;

use clap::Args;

use crate::cli::args::{Connection, Job, engine_name};
use crate::workload::slap::LoadType;

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunSlap {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    /// Statements of all clients together. Each client runs its share, rounded down, going through
    /// the list repeatedly. If there are fewer statements than --clients, it goes through the list
    /// once, as in mysqlslap [default: the list once for each client] (--number-of-queries)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(in crate::cli) queries: Option<u64>,

    /// Number of iterations, each on a new table (--iterations)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) iterations: u32,

    /// The kind of statements (--auto-generate-sql-load-type)
    #[arg(long, default_value = "mixed")]
    pub(in crate::cli) load_type: LoadType,

    /// Integer columns of the table (--number-int-cols)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=500))]
    pub(in crate::cli) int_columns: u16,

    /// Text columns of the table, each of 126 characters (--number-char-cols)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=500))]
    pub(in crate::cli) char_columns: u16,

    /// Give the table a key that the database counts up (--auto-generate-sql-add-autoincrement)
    #[arg(long, conflicts_with = "guid_primary")]
    pub(in crate::cli) auto_increment: bool,

    /// Give the table a primary key of random text (--auto-generate-sql-guid-primary)
    #[arg(long)]
    pub(in crate::cli) guid_primary: bool,

    /// Further columns with a unique index (--auto-generate-sql-secondary-indexes)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=60))]
    pub(in crate::cli) secondary_indexes: u16,

    /// Rows at the start, plus one: mysqlslap counts the CREATE TABLE too. At most 1000000 if rows
    /// are read by key (--auto-generate-sql-write-number)
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(in crate::cli) write_number: u64,

    /// Different rows among those (--auto-generate-sql-unique-write-number)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(in crate::cli) unique_write: u64,

    /// Statements of the list that each client goes through, less one, as mysqlslap counts
    /// (--auto-generate-sql-unique-query-number)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(in crate::cli) unique_queries: u64,

    /// Statements in a transaction [default: each commits itself] (--commit)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(in crate::cli) commit: Option<u64>,

    /// Reconnect before every so many statements of each pass through the list, the first included.
    /// Not with --commit, because a disconnect would undo uncommitted statements (--detach)
    #[arg(long, value_name = "N", conflicts_with = "commit", value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) detach: Option<u64>,

    /// The table's storage engine, MySQL family only [default: the server's own] (--engine)
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    pub(in crate::cli) engine: Option<String>,

    /// The same seed gives the same statements
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) seed: u64,

    #[command(flatten)]
    pub(in crate::cli) job: Job,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PrepareSlap {
    /// Whatever is said, nothing is to be prepared
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(in crate::cli) rest: Vec<OsString>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupSlap {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
}
