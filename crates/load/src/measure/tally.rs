//! Counts: of an interval, of a phase, of one statement type; all of them can be added up.

use std::collections::BTreeMap;

use super::Latencies;
use crate::driver::{Fault, Kind, Reply};

/// Transactions of an open loop that have arrived and not been begun, at an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    pub waiting: u64,
    /// How long the first of them has been waiting.
    pub behind_ns: u64,
    /// The most that ever waited since the interval or phase began, while no client was idle.
    pub most_waiting: u64,
    /// The longest that the first of them ever had been waiting.
    pub most_behind_ns: u64,
}

impl Backlog {
    /// With another worker's, who sees the same queue, or another interval's.
    fn add(&mut self, other: Self) {
        self.waiting = self.waiting.max(other.waiting);
        self.behind_ns = self.behind_ns.max(other.behind_ns);
        self.most_waiting = self.most_waiting.max(other.most_waiting);
        self.most_behind_ns = self.most_behind_ns.max(other.most_behind_ns);
    }
}

/// The counts of one interval.
#[derive(Debug, Clone, Default)]
pub struct IntervalTally {
    /// Latencies of the transactions that completed; their count is the transactions.
    pub transactions: Latencies,
    pub reads: u64,
    pub writes: u64,
    pub others: u64,
    pub errors: u64,
    pub retries: u64,
    pub reconnects: u64,
    /// Transactions of an open loop that were to begin.
    pub arrived: u64,
    /// At the interval's end; of a sum over time, only the most of it says something.
    pub backlog: Backlog,
}

impl IntervalTally {
    pub fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.reads += 1,
            Kind::Write => self.writes += 1,
            Kind::Other => self.others += 1,
        }
    }

    pub fn add(&mut self, other: &Self) {
        sum!(self, other; transactions reads writes others errors retries reconnects arrived);
        self.backlog.add(other.backlog);
    }

    pub fn statements(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

/// The counts of the measured phase, beyond what its intervals hold.
#[derive(Debug, Clone, Default)]
pub struct PhaseTally {
    /// In the order of the catalogue's types.
    pub statements: Vec<StatementTally>,
    /// Latencies of the kinds of transactions that the catalogue tells apart, as far as they came.
    pub kinds: Vec<Latencies>,
    pub errors: ErrorTally,
    pub failed_transactions: u64,
    pub delay: Delay,
    /// Delay from the arrival of open-loop transactions to their begin, although a client was idle.
    pub lateness: Delay,
}

impl PhaseTally {
    pub fn new(types: usize) -> Self {
        Self {
            statements: vec![StatementTally::default(); types],
            ..Self::default()
        }
    }

    #[inline]
    pub fn record_kind(&mut self, kind: usize, latency_ns: u64) {
        at(&mut self.kinds, kind).record(latency_ns);
    }

    /// Adds a phase, perhaps of another catalogue: `place` maps its statement types to ours.
    pub fn add(&mut self, other: &Self, place: impl Fn(usize) -> usize) {
        for (kind, theirs) in other.kinds.iter().enumerate() {
            *at(&mut self.kinds, kind) += theirs;
        }
        for (index, theirs) in other.statements.iter().enumerate() {
            at(&mut self.statements, place(index)).add(theirs);
        }
        self.errors.add(&other.errors, place);
        self.failed_transactions += other.failed_transactions;
        self.delay.add(other.delay);
        self.lateness.add(other.lateness);
    }
}

/// The tally at an index, which is made if it is not there.
fn at<T: Default>(tallies: &mut Vec<T>, index: usize) -> &mut T {
    if tallies.len() <= index {
        tallies.resize_with(index + 1, T::default);
    }
    &mut tallies[index]
}

/// One statement type's executions.
#[derive(Debug, Clone, Default)]
pub struct StatementTally {
    /// Of successful executions; their count is the number of executions.
    pub latencies: Latencies,
    pub rows: u64,
    pub affected: u64,
    pub errors: u64,
}

impl StatementTally {
    #[inline]
    pub fn record(&mut self, latency_ns: u64, reply: Reply) {
        self.latencies.record(latency_ns);
        // The counts are the server's words: absurd ones must not overflow.
        self.rows = self.rows.saturating_add(reply.rows);
        self.affected = self.affected.saturating_add(reply.affected);
    }

    fn add(&mut self, other: &Self) {
        sum!(self, other; latencies errors);
        self.rows = self.rows.saturating_add(other.rows);
        self.affected = self.affected.saturating_add(other.affected);
    }
}

/// How long something waited that could have been processed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    pub count: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
}

impl Delay {
    #[inline]
    pub fn record(&mut self, delay_ns: u64) {
        self.count += 1;
        self.sum_ns += delay_ns;
        self.max_ns = self.max_ns.max(delay_ns);
    }

    fn add(&mut self, other: Self) {
        sum!(self, other; count sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// Which error, and of which statement type; `None`: of the connection itself.
pub type ErrorKey = (String, Option<usize>);

/// An error as it was first seen, and how often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorEntry {
    pub message: String,
    pub transient: bool,
    pub count: u64,
}

/// The code of statements without a reply.
pub const NO_REPLY: &str = "no-reply";

/// Errors by code and statement type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorTally(BTreeMap<ErrorKey, ErrorEntry>);

impl ErrorTally {
    pub fn record(&mut self, fault: &Fault, statement_type: Option<usize>) {
        let key = (fault.code().to_owned(), statement_type);
        let entry = self.0.entry(key).or_insert_with(|| ErrorEntry {
            message: fault.message(),
            transient: fault.is_transient(),
            count: 0,
        });
        entry.count += 1;
    }

    /// Counts a statement that the server has not answered.
    pub fn record_unanswered(&mut self, statement_type: Option<usize>) {
        let one = ErrorEntry {
            message: "no reply from the server".to_owned(),
            transient: false,
            count: 1,
        };
        self.add_entry((NO_REPLY.to_owned(), statement_type), &one);
    }

    /// Statements that the server has not answered.
    pub fn unanswered(&self) -> u64 {
        let unanswered = self.0.iter().filter(|((code, _), _)| code == NO_REPLY);
        unanswered.map(|(_, entry)| entry.count).sum()
    }

    fn add(&mut self, other: &Self, place: impl Fn(usize) -> usize) {
        for ((code, type_index), theirs) in &other.0 {
            self.add_entry((code.clone(), type_index.map(&place)), theirs);
        }
    }

    fn add_entry(&mut self, key: ErrorKey, theirs: &ErrorEntry) {
        self.0
            .entry(key)
            .and_modify(|mine| mine.count += theirs.count)
            .or_insert_with(|| theirs.clone());
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ErrorKey, &ErrorEntry)> {
        self.0.iter()
    }

    /// All errors together.
    pub fn count(&self) -> u64 {
        self.0.values().map(|entry| entry.count).sum()
    }
}
