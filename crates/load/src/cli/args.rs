//! Every option, declared once: names, units, defaults, limits, help.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::conditions::args::{CleanupConditions, PrepareConditions, RunConditions};
use super::ledger::args::{CleanupLedger, PrepareLedger, RunLedger};
use super::oltp::args::{CleanupOltp, PrepareOltp, RunOltp};
use super::script::args::{OnceScript, RunScript};
use super::slap::args::{CleanupSlap, PrepareSlap, RunSlap};
use super::sqlbench::args::{CleanupSqlbench, RunSqlbench};
use crate::driver;
use crate::engine;

/// The program's version, and that of the database which is built into it.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let own = env!("CARGO_PKG_VERSION");
    format!("{own} ({})", driver::sqlite::version())
});

/// Loads databases: many connections on few threads, latencies with their whole histogram.
#[derive(Debug, Parser)]
#[command(name = "diskproof-load", version = VERSION.as_str(), max_term_width = 100, after_help = EXAMPLE)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const EXAMPLE: &str = "\
Example:
  diskproof-load prepare oltp --url 'mysql://root@localhost/test?socket=/run/mysqld/mysqld.sock' --tables 4 --rows 100000
  diskproof-load run     oltp --url … --tables 4 --rows 100000 --mix complex --clients 8 --seconds 30 --report-interval 1
  diskproof-load cleanup oltp --url … --tables 4

Passwords come from the environment variable DISKPROOF_PASSWORD or from --password-file.
Exit codes: 0 done; 1 the run could not go on; 2 wrong arguments; 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Make the workload's tables and fill them
    #[command(subcommand)]
    Prepare(Prepare),
    /// Run the workload and measure it
    #[command(subcommand)]
    Run(Box<Run>),
    /// Drop the workload's tables
    #[command(subcommand)]
    Cleanup(Cleanup),
}

#[derive(Debug, Subcommand)]
pub(super) enum Prepare {
    /// sysbench's OLTP tables sbtest1 to sbtestN
    Oltp(PrepareOltp),
    /// A detector's conditions database: entries with validity times in many tables
    Conditions(PrepareConditions),
    /// Accounts, and an empty table of transfers between them
    Ledger(PrepareLedger),
    /// Your own SQL, run once: the tables that a script needs
    Script(OnceScript),
    /// Nothing: slap makes its table itself, anew in each iteration
    Slap(PrepareSlap),
}

#[derive(Debug, Subcommand)]
pub(super) enum Run {
    /// sysbench's OLTP transactions
    Oltp(RunOltp),
    /// Clients of a conditions database: connect, ask for the entries of one time, leave
    Conditions(RunConditions),
    /// Numbered transfers between accounts, so that every commit can be looked for afterwards
    Ledger(RunLedger),
    /// Your own SQL, in the language of pgbench's scripts
    Script(RunScript),
    /// mysqlslap's generated statements: so many, timed as a whole, in several iterations
    Slap(RunSlap),
    /// sql-bench 2.15's nine tests of single operations
    Sqlbench(RunSqlbench),
}

#[derive(Debug, Subcommand)]
pub(super) enum Cleanup {
    /// sysbench's OLTP tables sbtest1 to sbtestN
    Oltp(CleanupOltp),
    /// The tables of the conditions database
    Conditions(CleanupConditions),
    /// The accounts and the transfers between them
    Ledger(CleanupLedger),
    /// Your own SQL, run once: what drops the tables
    Script(OnceScript),
    /// The table `slap_t1`, where a run was killed before it could drop it
    Slap(CleanupSlap),
    /// What a killed run of sql-bench's tests left: every table whose name begins with `sqlbench_`
    Sqlbench(CleanupSqlbench),
}

/// Which database, and how to log in.
#[derive(Debug, Clone, Args)]
pub(super) struct Connection {
    /// The database: `mysql://USER@HOST:PORT/DB`, `mysql://USER@localhost/DB?socket=PATH`
    /// (`mariadb://` alike), `postgresql://USER@HOST/DB` (or `?host=/SOCKET/DIRECTORY`),
    /// `sqlite:PATH`, or null: which answers at once and shows our own overhead. Encrypted where
    /// it says so: `ssl-mode=required` checks no certificate, verify-ca and verify-identity do by
    /// `ssl-ca=FILE`; for PostgreSQL `sslmode=require`, verify-ca, verify-full and
    /// `sslrootcert=FILE`
    #[arg(long, value_name = "URL")]
    pub(super) url: String,

    /// A file whose first line is the password; else `DISKPROOF_PASSWORD` is looked at. Only
    /// ssl-mode=verify-ca or verify-identity (sslmode=verify-ca or verify-full) makes sure that it is
    /// the server who gets it: else a MySQL server, or who plays one, may ask for it under a key of
    /// its own
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
}

/// How many clients, on how many threads; the same for every workload.
#[derive(Debug, Clone, Args)]
pub(super) struct Crowd {
    /// Connections, each with one transaction under way at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) clients: u32,

    /// Threads that serve the clients [default: one per core, at most one per client and 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) workers: Option<u16>,
}

/// What is said of a run; the same for every workload.
#[derive(Debug, Clone, Args)]
pub(super) struct Output {
    /// Seconds between two reports, 0.05 or more; 0: only the summary
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = report_interval)]
    pub(super) report_interval: Duration,

    /// Percentiles of the latency, any number of them
    #[arg(long, value_name = "LIST", default_value = "50,95,99", value_delimiter = ',', value_parser = percentile)]
    pub(super) percentiles: Vec<f64>,

    /// Print the distribution of the transactions' latencies after the summary
    #[arg(long, conflicts_with = "json")]
    pub(super) histogram: bool,

    /// Print JSON lines for a program (docs/protocol.md) instead of text
    #[arg(long)]
    pub(super) json: bool,

    /// Wait for a line on standard input before the start and before the summary; end with it
    #[arg(long, requires = "json")]
    pub(super) lockstep: bool,
}

/// How hard, how long, and what is said of it; the same for every workload that runs for a time.
#[derive(Debug, Clone, Args)]
pub(super) struct Load {
    #[command(flatten)]
    pub(super) crowd: Crowd,

    /// Length of the measured phase in seconds [default: 10, or no limit with --transactions]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) seconds: Option<Duration>,

    /// End after this many transactions, if that comes before --seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) transactions: Option<u64>,

    /// Seconds of load before the measured phase, which do not count
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(super) warm_up: Duration,

    /// After which errors a transaction is run again: transient (MySQL 1213, 1205, 1020;
    /// PostgreSQL 40001, 40P01, 55P03; `SQLITE_BUSY`, `SQLITE_LOCKED`), none, or a list of the
    /// server's codes. All errors are counted, by code and statement
    #[arg(
        long,
        value_name = "CODES",
        default_value = "transient",
        value_delimiter = ','
    )]
    pub(super) retry: Vec<String>,

    /// Transactions per second of all clients together, begun whether or not the ones before are
    /// done; latencies count from when they were to begin. One that finds no client idle waits for
    /// the first that is, on whichever thread [default: each client begins its next when its last
    /// is done]
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(super) rate: Option<f64>,

    /// Whether the transactions of --rate come at random or with equal gaps
    #[arg(long, value_name = "LAW", requires = "rate", default_value = "poisson")]
    pub(super) arrivals: Arrivals,

    #[command(flatten)]
    pub(super) output: Output,
}

/// The options of a workload that is done at some point.
#[derive(Debug, Clone, Args)]
pub(super) struct Job {
    #[command(flatten)]
    pub(super) crowd: Crowd,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    Text,
    Prepared,
}

impl From<Protocol> for driver::Protocol {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Text => Self::Text,
            Protocol::Prepared => Self::Prepared,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Arrivals {
    Poisson,
    Even,
}

impl From<Arrivals> for engine::Arrivals {
    fn from(arrivals: Arrivals) -> Self {
        match arrivals {
            Arrivals::Poisson => Self::Poisson,
            Arrivals::Even => Self::Even,
        }
    }
}

/// One transaction in a quarter of an hour: a slower rate is a mistake.
const LOWEST_RATE: f64 = 0.001;
/// No server begins as many transactions, and the gaps are counted in nanoseconds.
const HIGHEST_RATE: f64 = 1e7;

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if (LOWEST_RATE..=HIGHEST_RATE).contains(&rate) {
        return Ok(rate);
    }
    Err(format!(
        "{text} is not from {LOWEST_RATE} to {HIGHEST_RATE} transactions per second"
    ))
}

/// Below this, an interval holds too few replies to say anything and reporting disturbs.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{text} s is not a length of time"))
}

pub(super) fn positive_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("must be more than 0 s".into()),
        duration => Ok(duration),
    }
}

fn report_interval(text: &str) -> Result<Duration, String> {
    let interval = seconds(text)?;
    if interval.is_zero() || interval >= SHORTEST_INTERVAL {
        return Ok(interval);
    }
    Err(format!(
        "must be 0 (none) or at least {} s",
        SHORTEST_INTERVAL.as_secs_f64()
    ))
}

fn percentile(text: &str) -> Result<f64, String> {
    let percentile: f64 = text
        .trim()
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if percentile > 0.0 && percentile <= 100.0 {
        return Ok(percentile);
    }
    Err(format!("{percentile} is not above 0 and at most 100"))
}

/// The name goes into SQL, where it cannot be bound as a parameter.
pub(super) fn engine_name(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.is_empty() && text.chars().all(is_word) {
        return Ok(text.to_owned());
    }
    Err("a storage engine's name has only letters, digits and _".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bounds() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["-1", "nan", "x", "1e30"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        assert!(positive_seconds("0").is_err());
        assert!(report_interval("0").is_ok());
        assert!(report_interval("0.05").is_ok());
        assert!(report_interval("0.04").is_err());
        assert!(percentile("99.9").is_ok());
        for wrong in ["0", "100.1", "-5", "nan"] {
            assert!(percentile(wrong).is_err(), "{wrong}");
        }
        assert_eq!(rate("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "nan", "inf", "1e8", "x"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        assert!(engine_name("RocksDB").is_ok());
        assert!(engine_name("innodb; DROP").is_err());
    }
}
