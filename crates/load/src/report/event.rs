//! The events of a run, as docs/protocol.md describes them.

use std::borrow::Cow;

use serde::Serialize;

use crate::driver::Kind;
use crate::measure::{LatencySummary, Phase};
use crate::workload::{replay, tpcc};

/// The version of the lines' format.
pub const PROTOCOL: u32 = 1;

/// One line of output.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Ready(Ready),
    Warming {
        seconds: f64,
    },
    Measuring {
        unix_s: f64,
        monotonic_ns: u64,
        seconds: Option<f64>,
    },
    Interval(Interval),
    Operation(Box<Operation>),
    Measured {
        unix_s: f64,
        seconds: f64,
    },
    Idle,
    Summary(Box<Summary>),
    /// The results of a job before it failed, for a person: a program has read the `operation`
    /// lines, and takes a summary for the end of a good run.
    #[serde(skip)]
    BrokenOff(Box<Summary>),
    Failed {
        code: String,
        message: String,
    },
}

/// Every client is connected and waits for the start.
#[derive(Debug, Clone, Serialize)]
pub struct Ready {
    pub program: &'static str,
    pub version: &'static str,
    pub protocol: u32,
    pub workload: Cow<'static, str>,
    pub mix: Cow<'static, str>,
    pub server_version: String,
    /// Seed of the clients' draws: the same seed gives the same draws.
    pub seed: u64,
    pub clients: usize,
    pub workers: usize,
    /// Time for all clients together to connect and prepare their statements.
    pub connect_s: f64,
    pub statements: Vec<StatementTypeInfo>,
}

/// A statement type and one statement of it.
#[derive(Debug, Clone, Serialize)]
pub struct StatementTypeInfo {
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub sql: String,
}

/// An interval's counts.
#[derive(Debug, Clone, Serialize)]
pub struct Interval {
    pub phase: Phase,
    pub start_s: f64,
    pub end_s: f64,
    pub transactions: u64,
    pub reads: u64,
    pub writes: u64,
    pub others: u64,
    pub errors: u64,
    pub retries: u64,
    pub reconnects: u64,
    pub latency_us: Option<LatencySummary>,
    /// Of an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<BacklogSummary>,
}

/// Transactions of an open loop that arrived in an interval, and what of all that had arrived was
/// waiting for a client at its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BacklogSummary {
    pub arrived: u64,
    pub waiting: u64,
    /// How long the first of them had been waiting; if all transactions asked for had begun, how
    /// long the last one had.
    pub behind_s: f64,
    /// The most that ever waited while no client was idle, and the longest that the first of them
    /// ever had.
    pub most_waiting: u64,
    pub most_behind_s: f64,
}

/// An open loop: what was asked for, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateSummary {
    pub asked_per_s: f64,
    pub arrivals: &'static str,
    /// Transactions that completed.
    pub achieved_per_s: f64,
    /// In the measured phase; waiting and behind are as at its end.
    #[serde(flatten)]
    pub backlog: BacklogSummary,
    /// Whether all but a hundredth of the phase's transactions began within it, and the backlog was
    /// never longer than a second or a tenth of the phase.
    pub held: bool,
    /// From a transaction's arrival to its first statement, if a client was idle: our own share in
    /// its latency. `None` if there was none.
    pub start_delay_us: Option<DelaySummary>,
}

/// The measured phase as a whole.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    pub workload: Cow<'static, str>,
    pub mix: Cow<'static, str>,
    pub clients: usize,
    pub workers: usize,
    pub seconds: f64,
    /// A signal ended the phase before its time.
    pub interrupted: bool,
    pub transactions: u64,
    pub transactions_per_s: f64,
    pub statements: u64,
    pub reads: u64,
    pub writes: u64,
    pub others: u64,
    pub statements_per_s: f64,
    pub latency_us: Option<LatencySummary>,
    pub statement_types: Vec<StatementSummary>,
    pub errors: Vec<ErrorSummary>,
    pub failed_transactions: u64,
    pub retries: u64,
    pub reconnects: u64,
    /// Number of clients that ended for good because the fate of their last transaction is not
    /// known, if clients do that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_clients: Option<usize>,
    /// Sessions that said at the end whether they are read-only, and those that were, if they were opened so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guards: Option<[usize; 2]>,
    /// Of an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateSummary>,
    pub client: ClientCost,
    /// The stages of a job, in their order; a steady run has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
    /// Kinds of transactions, if the workload tells them apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transaction_types: Vec<TransactionSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpcc: Option<tpcc::Account>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<replay::Certificate>,
}

/// One stage of a job, as it went.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Operation {
    /// The group of operations that it belongs to.
    pub test: Cow<'static, str>,
    pub name: Cow<'static, str>,
    pub clients: usize,
    pub planned: u64,
    /// Completed transactions, of those planned.
    pub count: u64,
    /// `None` if it was skipped: nothing was timed.
    pub seconds: Option<f64>,
    /// If a time limit or a signal cut it short: the time that the whole plan would have taken at
    /// the same pace.
    pub extrapolated_s: Option<f64>,
    /// Whether a time limit or a signal cut it short, even if nothing had completed to extrapolate
    /// from.
    pub cut: bool,
    /// Why it was not run.
    pub skipped: Option<Cow<'static, str>>,
    pub errors: u64,
    /// Rows that the server sent, and those that it says it changed.
    pub rows: u64,
    pub affected: u64,
    pub latency_us: Option<LatencySummary>,
    /// Present if it has statements of several types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statement_types: Vec<StatementSummary>,
}

/// The same stage, run again and again.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Iterations {
    pub count: usize,
    pub mean_s: f64,
    pub min_s: f64,
    pub max_s: f64,
    pub queries_per_client: u64,
}

/// One statement type in the measured phase.
#[derive(Debug, Clone, Serialize)]
pub struct StatementSummary {
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub count: u64,
    pub rows: u64,
    pub affected: u64,
    pub errors: u64,
    pub latency_us: Option<LatencySummary>,
}

/// One kind of transaction in the measured phase.
#[derive(Debug, Clone, Serialize)]
pub struct TransactionSummary {
    pub name: &'static str,
    pub count: u64,
    pub latency_us: Option<LatencySummary>,
}

/// One kind of error; `statement` is `None` for an error of the connection itself.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorSummary {
    pub code: String,
    pub statement: Option<Cow<'static, str>>,
    pub message: String,
    pub transient: bool,
    pub count: u64,
}

/// Resources of the load generator itself.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ClientCost {
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub max_rss_bytes: u64,
    /// `None` where replies are not announced (SQLite, null).
    pub delay_us: Option<DelaySummary>,
    /// How long the workers, all together, were ready to run and had no core; `None` if the kernel
    /// keeps no such account.
    pub waited_for_cpu_s: Option<f64>,
}

impl ClientCost {
    /// The sum of this part of the run and another one after it.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu_user_s: self.cpu_user_s + other.cpu_user_s,
            cpu_system_s: self.cpu_system_s + other.cpu_system_s,
            ..other
        }
    }
}

/// From when the worker wakes up to when a reply has been read and parsed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DelaySummary {
    pub mean: f64,
    pub max: f64,
}
