//! sql-bench's own options.

use std::time::Duration;

use clap::Args;

use crate::cli::args::{Connection, Job, engine_name, positive_seconds};
use crate::workload::sqlbench::{Scale, TestName};

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunSqlbench {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    /// The tests to run, which come in sql-bench's order [default: all nine]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub(in crate::cli) tests: Vec<TestName>,

    /// Shrinks every loop and every table by this factor, from 0.001 to 1
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub(in crate::cli) scale: Scale,

    /// A loop of questions that takes longer is cut short, and what all of it would have taken is
    /// extrapolated; a loop that makes or changes tables is never cut
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = positive_seconds)]
    pub(in crate::cli) limit_seconds: Duration,

    /// The tables' storage engine (MySQL family only) [default: the server's]
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    pub(in crate::cli) engine: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) job: Job,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CleanupSqlbench {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
}
