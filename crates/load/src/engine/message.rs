//! What the threads of a run tell one another.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::driver::Fault;
use crate::measure::{IntervalTally, Period, PhaseTally, Schedule};

/// To the conductor.
#[derive(Debug)]
pub enum Message {
    /// All clients of one worker are connected.
    Connected,
    /// A worker's part of one interval, sent once its clock has passed the interval's end.
    Interval {
        worker: usize,
        period: Period,
        tally: Box<IntervalTally>,
    },
    /// A worker's measured phase is over and its clients are idle; it sends no more intervals.
    Finished {
        worker: usize,
        /// Where its part of the phase ended.
        end_ns: u64,
        /// How long its thread was ready in the phase and had no core; `None` where the kernel
        /// keeps no account.
        waited_ns: Option<u64>,
        tally: Box<PhaseTally>,
    },
    Failed(Failure),
    FromOutside(Outside),
}

/// What reaches a run from outside the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// A line on standard input.
    Line,
    /// The end of standard input.
    InputClosed,
    /// SIGINT or SIGTERM.
    Interrupt,
}

/// Why a run could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The server's own code, or `lost`, `protocol`, `no-reply`, `errors`, `internal`.
    pub code: String,
    pub message: String,
}

impl Failure {
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
        }
    }

    /// The program or the machine failed, not the database.
    #[must_use]
    pub fn internal(error: impl std::fmt::Display) -> Self {
        Self::new("internal", error.to_string())
    }

    /// What was being done, and what came of it.
    #[must_use]
    pub fn from_fault(doing: &str, fault: &Fault) -> Self {
        Self::new(fault.code(), format!("{doing}: {fault}"))
    }
}

/// To a worker whose clients are connected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start(pub(super) Schedule);

/// What all workers look at while they run.
#[derive(Debug)]
pub(super) struct Control {
    /// Ends the run earlier than planned.
    cut_ns: AtomicU64,
    /// Transactions that may still be begun in the measured phase.
    budget: Option<AtomicU64>,
    /// No transaction may be begun any more.
    closed: AtomicBool,
    /// Clients at work that have a connection.
    connected: AtomicUsize,
}

impl Control {
    #[must_use]
    pub(super) fn new(transactions: Option<u64>, clients: usize) -> Self {
        Self {
            cut_ns: AtomicU64::new(u64::MAX),
            budget: transactions.map(AtomicU64::new),
            closed: AtomicBool::new(false),
            connected: AtomicUsize::new(clients),
        }
    }

    pub(super) fn cut_at(&self, now_ns: u64) {
        self.cut_ns.store(now_ns, Ordering::Relaxed);
    }

    #[must_use]
    pub(super) fn cut_ns(&self) -> u64 {
        self.cut_ns.load(Ordering::Relaxed)
    }

    /// A client lost its connection, or has no more work for it.
    pub(super) fn count_out(&self) {
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }

    /// A client has a connection again.
    pub(super) fn count_in(&self) {
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no client of the whole run has a connection that it works on.
    #[must_use]
    pub(super) fn is_cut_off(&self) -> bool {
        self.connected.load(Ordering::Relaxed) == 0
    }

    /// Lets no transaction begin any more; those under way go on and count.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Takes one transaction from the budget; false where it is used up.
    #[must_use]
    pub(super) fn take_transaction(&self) -> bool {
        !self.is_closed()
            && self.budget.as_ref().is_none_or(|left| {
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                    .is_ok()
            })
    }
}
