//! One client: a connection, a script, and where it stands.

use crate::driver::Driver;
use crate::workload::Workload;

/// A simulated client of the database.
#[derive(Debug)]
pub(super) struct Client<S, C> {
    /// `None` while the connection is down.
    pub(super) session: Option<S>,
    pub(super) script: C,
    pub(super) state: State,
    /// The type of the statement under way, and when it was begun.
    pub(super) type_index: usize,
    pub(super) statement_start_ns: u64,
    /// When the transaction was first begun: retries do not move it.
    pub(super) transaction_start_ns: u64,
    /// Transactions given up since the last one that completed.
    pub(super) failures: u32,
    /// Whether the event loop asks for writability too.
    pub(super) asks_writable: bool,
}

/// A client of this driver and this workload.
pub(super) type ClientOf<D, W> = Client<<D as Driver>::Session, <W as Workload>::Script>;

/// Where a client stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No statement is under way and none will be begun.
    Idle,
    InTransaction,
    /// A ROLLBACK is under way after an error; then the transaction is begun `again` or given up.
    RollingBack {
        again: bool,
    },
    /// Connected and without work, after a transaction that was given up.
    Pausing {
        until_ns: u64,
    },
    /// In a transaction that asked to wait.
    Sleeping {
        until_ns: u64,
    },
    /// Without connection until the next attempt.
    Down {
        retry_ns: u64,
        attempts: u32,
    },
    /// A connection is being made, on the worker's other thread.
    Connecting {
        attempts: u32,
    },
}

/// The first pause before a lost connection is made anew.
const FIRST_PAUSE_NS: u64 = 10_000_000;
/// No pause is longer: a server that restarts is found again within a second.
const LONGEST_PAUSE_NS: u64 = 1_000_000_000;

/// The first pause after a transaction that was given up: a statement that the server refuses each
/// time would keep both of us busy with nothing else.
const FIRST_REST_NS: u64 = 1_000_000;
/// No such pause is longer: ten attempts a second find out soon enough that it works again.
const LONGEST_REST_NS: u64 = 100_000_000;

impl<S, C> Client<S, C> {
    pub(super) fn new(session: S, script: C) -> Self {
        Self {
            session: Some(session),
            script,
            state: State::Idle,
            type_index: 0,
            statement_start_ns: 0,
            transaction_start_ns: 0,
            failures: 0,
            asks_writable: false,
        }
    }

    /// Pauses after a transaction that was given up; each that follows another doubles the pause.
    pub(super) fn pause(&mut self, now_ns: u64) {
        let pause_ns = (FIRST_REST_NS << self.failures.min(10)).min(LONGEST_REST_NS);
        self.failures = self.failures.saturating_add(1);
        self.state = State::Pausing {
            until_ns: now_ns + pause_ns,
        };
    }

    /// Does nothing for so long, in the middle of a transaction.
    pub(super) fn sleep(&mut self, now_ns: u64, us: u64) {
        self.state = State::Sleeping {
            until_ns: now_ns.saturating_add(us.saturating_mul(1000)),
        };
    }

    /// Gives the connection up; each attempt that failed doubles the pause.
    pub(super) fn go_down(&mut self, now_ns: u64, attempts: u32) {
        let pause_ns = (FIRST_PAUSE_NS << attempts.min(10)).min(LONGEST_PAUSE_NS);
        self.session = None;
        self.state = State::Down {
            retry_ns: now_ns + pause_ns,
            attempts,
        };
    }
}
