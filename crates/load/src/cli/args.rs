//! Every option, declared once: names, units, defaults, limits, help.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::within::{Within, number};
pub(super) use crate::driver::Protocol;
pub(super) use crate::engine::Arrivals;

/// Which database, and how to log in.
#[derive(Debug, Clone, Args)]
pub(super) struct Connection {
    /// The database: `mysql://USER@HOST:PORT/DB`, `mysql://USER@localhost/DB?socket=PATH` (or
    /// `mariadb://`), `postgresql://USER@HOST/DB` (or `?host=/SOCKET/DIRECTORY`), `sqlite:PATH`, or
    /// null:, which answers at once and shows the load generator's own cost. For encryption:
    /// `ssl-mode=required` checks no certificate, verify-ca and verify-identity check it with
    /// `ssl-ca=FILE`; for PostgreSQL `sslmode=require`, verify-ca, verify-full and
    /// `sslrootcert=FILE`. With `read-only=on` the server refuses what writes
    #[arg(long, value_name = "URL")]
    pub(super) url: String,

    /// A file with the password in its first line, which its owner alone may use [default: the
    /// variable `DISKPROOF_PASSWORD`].
    /// Only ssl-mode=verify-ca or verify-identity (sslmode=verify-ca or verify-full) makes sure
    /// that the server gets it. Otherwise a program that poses as a MySQL server may ask for it
    /// under its own key
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,

    /// Longest time for each statement that is not measured. The rows of a table may be one
    /// statement [default: 10 for questions about tables, 60 for statements under way at the end
    /// of a measurement, no limit for those that make, fill and drop tables]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) statement_limit: Option<Duration>,
}

/// What the user's own SQL may reach.
#[derive(Debug, Clone, Args)]
pub(super) struct Reach {
    /// Let statements reach other databases and the server itself. Without it, those that would leave
    /// the database of the URL are left out or refused (docs/scripts.md)
    #[arg(long)]
    pub(super) any_database: bool,
}

/// More connections than any server takes.
pub(super) const MOST_CLIENTS: u32 = 100_000;

/// Number of clients and threads; the same for every workload.
#[derive(Debug, Clone, Args)]
pub(super) struct Crowd {
    /// Connections, each with one transaction in progress at a time
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=MOST_CLIENTS))]
    pub(super) clients: u32,

    /// Threads that serve the clients [default: one per client, at most 16]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    pub(super) workers: Option<u16>,

    /// Let the load's time pass so many times slower; all that it says of time is in its own
    #[arg(long, value_name = "K", default_value_t = 1, within(1..=64_u32))]
    pub(super) dilation: u32,
}

/// The output of a run; the same for every workload.
#[derive(Debug, Clone, Args)]
pub(super) struct Output {
    /// Seconds between two reports, 0.05 or more; 0: only the summary
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = report_interval)]
    pub(super) report_interval: Duration,

    /// Percentiles of the latency, any number of them
    #[arg(long, value_name = "LIST", default_value = "50,95,99", value_delimiter = ',', value_parser = percentile)]
    pub(super) percentiles: Vec<f64>,

    /// Print JSON lines for a program (docs/protocol.md) instead of text
    #[arg(long)]
    pub(super) json: bool,

    /// Wait for a line on standard input before the start and before the summary; end with it
    #[arg(long, requires = "json")]
    pub(super) lockstep: bool,
}

/// Load, length and output of a run; the same for every workload that runs for a time.
#[derive(Debug, Clone, Args)]
pub(super) struct Load {
    #[command(flatten)]
    pub(super) crowd: Crowd,

    /// Length of the measured phase in seconds [default: 10, or no limit with --transactions]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) seconds: Option<Duration>,

    /// End after this many transactions, if that comes before --seconds
    #[arg(long, value_name = "N", within(1..=u64::MAX))]
    pub(super) transactions: Option<u64>,

    /// Seconds of load before the measured phase, which do not count
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(super) warm_up: Duration,

    /// After which errors a transaction is run again: transient (MySQL 1213, 1205, 1020;
    /// PostgreSQL 40001, 40P01, 55P03; `SQLITE_BUSY`, `SQLITE_LOCKED`), none, all, or a list of the
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

    /// Whether the transactions of --rate arrive at random or at equal intervals
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

/// One transaction in a quarter of an hour: a slower rate is a mistake.
const LOWEST_RATE: f64 = 0.001;
/// No server begins as many transactions, and the gaps are counted in nanoseconds.
const HIGHEST_RATE: f64 = 1e7;

pub(super) fn rate(text: &str) -> Result<f64, String> {
    number(text, &(LOWEST_RATE..=HIGHEST_RATE))
}

/// Below this, an interval holds too few replies to say anything and reporting disturbs.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
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

pub(super) fn report_interval(text: &str) -> Result<Duration, String> {
    let interval = seconds(text)?;
    if interval.is_zero() || interval >= SHORTEST_INTERVAL {
        return Ok(interval);
    }
    Err(format!(
        "must be 0 (none) or at least {} s",
        SHORTEST_INTERVAL.as_secs_f64()
    ))
}

pub(super) fn percentile(text: &str) -> Result<f64, String> {
    let percentile: f64 = text
        .trim()
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if percentile > 0.0 && percentile <= 100.0 {
        return Ok(percentile);
    }
    Err(format!("{percentile} is not above 0 and at most 100"))
}

/// The name goes into SQL, where a parameter cannot stand.
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
