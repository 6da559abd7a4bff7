//! The events of a run, as docs/protocol.md describes them.

use std::borrow::Cow;

use serde::Serialize;

use crate::driver::Kind;
use crate::measure::{LatencySummary, Phase};

/// The version of the lines' format.
pub const PROTOCOL: u32 = 1;

/// One line of output.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Ready(Ready),
    Warming { seconds: f64 },
    Measuring { unix_s: f64, seconds: Option<f64> },
    Interval(Interval),
    Measured { unix_s: f64, seconds: f64 },
    Idle,
    Summary(Box<Summary>),
    Failed { code: String, message: String },
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
    /// Of the clients' draws: given again, they draw the same.
    pub seed: u64,
    pub clients: usize,
    pub workers: usize,
    /// For all clients together, their statements prepared.
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
}

/// The measured phase as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub workload: Cow<'static, str>,
    pub mix: Cow<'static, str>,
    pub clients: usize,
    pub workers: usize,
    pub seconds: f64,
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
    pub client: ClientCost,
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

/// One kind of error; `statement` is `None` for an error of the connection itself.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorSummary {
    pub code: String,
    pub statement: Option<Cow<'static, str>>,
    pub message: String,
    pub transient: bool,
    pub count: u64,
}

/// What the load generator itself took.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ClientCost {
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    pub max_rss_bytes: u64,
    /// `None` where replies are not announced (SQLite, null).
    pub delay_us: Option<DelaySummary>,
    /// How long the workers, all together, were ready to run and had no core; `None` where the
    /// kernel keeps no such account.
    pub waited_for_cpu_s: Option<f64>,
}

/// From the worker's waking up to a reply's being read and understood.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DelaySummary {
    pub mean: f64,
    pub max: f64,
}
