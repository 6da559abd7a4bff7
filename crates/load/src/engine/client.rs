//! One client: a connection, a script, and its state.

use crate::driver::Driver;
use crate::workload::{NO_TYPE, Workload};

/// A simulated client of the database.
#[derive(Debug)]
pub(super) struct Client<S, C> {
    /// `None` while there is no connection, not even one that is being made.
    pub(super) session: Option<S>,
    pub(super) script: C,
    pub(super) state: State,
    pub(super) stage: Stage,
    /// The connection that is being made, or the last one.
    pub(super) attempt: Attempt,
    /// The type of the current statement, and when it began.
    pub(super) type_index: usize,
    pub(super) statement_start_ns: u64,
    /// When the transaction was first begun: retries do not move it.
    pub(super) transaction_start_ns: u64,
    /// Whether its transaction counts towards the number that was asked for.
    pub(super) counts: bool,
    /// Transactions given up since the last one that completed.
    pub(super) failures: u32,
    /// Transactions begun again since the last one that completed.
    pub(super) retries: u32,
    /// Whether the event loop waits for writability too.
    pub(super) asks_writable: bool,
    /// Whether the session itself waits for replies, without the event loop.
    pub(super) waits_alone: bool,
}

/// A client of this driver and this workload.
pub(super) type ClientOf<D, W> = Client<<D as Driver>::Session, <W as Workload>::Script>;

/// What a client's steps belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// What its script does once before its first transaction.
    Initialising,
    Transactions,
    /// What its script does once after its last transaction, and nothing more afterwards.
    Concluding,
}

/// The state of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No statement is in progress and none will begin.
    Idle,
    /// Connected and without work, until a transaction arrives.
    Waiting,
    InTransaction,
    /// A ROLLBACK is in progress after an error; then the transaction is run `again` or given up.
    RollingBack {
        again: bool,
    },
    /// Connected and without work after a refusal; then the transaction is begun `again`, or
    /// another one, as it was given up.
    Pausing {
        again: bool,
    },
    /// In a transaction that asked to wait.
    Sleeping,
    /// Before the first statement of a transaction that asked to wait.
    Thinking,
    /// Without connection, until its turn to make one comes.
    Queueing,
    /// A connection is being made.
    Opening,
    /// Without connection until the next attempt.
    Down,
}

/// Making a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) reason: Reason,
    /// Attempts that failed since there was a connection.
    pub(super) failures: u32,
    /// How often the server's queue was full for this client.
    pub(super) turned_away: u32,
    /// The current one of the statements that set the session up; `None` during the log-in.
    pub(super) setting_up: Option<usize>,
    /// The attempt is given up then.
    pub(super) limit_ns: u64,
}

/// Why a connection is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Before anything else.
    First,
    /// The one before was lost.
    Lost,
    /// The script asks for a new one, in the middle of a transaction.
    Asked,
}

impl Attempt {
    pub(super) fn new(reason: Reason, failures: u32) -> Self {
        Self {
            reason,
            failures,
            turned_away: 0,
            setting_up: None,
            limit_ns: u64::MAX,
        }
    }
}

/// The first pause before a lost connection is made anew.
const FIRST_PAUSE_NS: u64 = 10_000_000;
/// No pause is longer: a server that restarts is found again within a second.
const LONGEST_PAUSE_NS: u64 = 1_000_000_000;

/// First pause before a server with a full queue of new connections is asked again: it empties the
/// queue within milliseconds, and the wait is part of a latency.
const FIRST_QUEUE_PAUSE_NS: u64 = 1_000_000;
/// No such pause is longer, so that the queue is not found empty for long.
const LONGEST_QUEUE_PAUSE_NS: u64 = 16_000_000;

/// The first pause after a transaction that was given up: a statement that the server refuses each
/// time would keep both of us busy with nothing else.
const FIRST_REST_NS: u64 = 1_000_000;
/// No such pause is longer: ten attempts a second find out soon enough that it works again.
const LONGEST_REST_NS: u64 = 100_000_000;

/// A transaction that collides with others by chance succeeds within this many retries. One that
/// fails more often fails for another reason, and pauses as if given up.
const RETRIES_AT_ONCE: u32 = 5;

impl<S, C> Client<S, C> {
    /// A client that has yet to connect.
    pub(super) fn new(script: C) -> Self {
        Self {
            session: None,
            script,
            state: State::Queueing,
            stage: Stage::Transactions,
            attempt: Attempt::new(Reason::First, 0),
            type_index: 0,
            statement_start_ns: 0,
            transaction_start_ns: 0,
            counts: true,
            failures: 0,
            retries: 0,
            asks_writable: false,
            waits_alone: false,
        }
    }

    /// Whether a statement is in progress.
    #[inline]
    pub(super) fn is_at_work(&self) -> bool {
        matches!(self.state, State::InTransaction | State::RollingBack { .. })
    }

    /// The type of the current statement; `None` for a ROLLBACK and for one that is not counted.
    pub(super) fn type_under_way(&self) -> Option<usize> {
        let is_rollback = matches!(self.state, State::RollingBack { .. });
        (!is_rollback && self.type_index != NO_TYPE).then_some(self.type_index)
    }

    /// Pauses after a transaction that was given up, until the instant that is returned; each
    /// that follows another doubles the pause.
    pub(super) fn pause(&mut self, now_ns: u64) -> u64 {
        let pause_ns = doubled(FIRST_REST_NS, self.failures, LONGEST_REST_NS);
        self.failures = self.failures.saturating_add(1);
        self.state = State::Pausing { again: false };
        now_ns + pause_ns
    }

    /// Pauses before the transaction is run again, until the returned instant; `None` if it is run
    /// again at once, because it has not failed often.
    pub(super) fn pause_before_retry(&mut self, now_ns: u64) -> Option<u64> {
        let retries = self.retries;
        self.retries = retries.saturating_add(1);
        let pauses = retries.checked_sub(RETRIES_AT_ONCE)?;
        self.state = State::Pausing { again: true };
        Some(now_ns + doubled(FIRST_REST_NS, pauses, LONGEST_REST_NS))
    }

    /// A transaction has completed: whatever was refused before is over.
    #[inline]
    pub(super) fn succeed(&mut self) {
        self.failures = 0;
        self.retries = 0;
    }

    /// Gives the connection up until the instant that is returned; each attempt that failed
    /// doubles the pause.
    pub(super) fn go_down(&mut self, now_ns: u64, failures: u32) -> u64 {
        self.disconnect();
        self.state = State::Down;
        self.attempt = Attempt::new(Reason::Lost, failures);
        now_ns + doubled(FIRST_PAUSE_NS, failures, LONGEST_PAUSE_NS)
    }

    /// Tries again to make the same connection, at the instant that is returned, because the
    /// server's queue is full.
    pub(super) fn stand_back(&mut self, now_ns: u64) -> u64 {
        self.state = State::Down;
        let turned_away = self.attempt.turned_away;
        self.attempt.turned_away = turned_away.saturating_add(1);
        now_ns + doubled(FIRST_QUEUE_PAUSE_NS, turned_away, LONGEST_QUEUE_PAUSE_NS)
    }

    /// Whether a transaction has begun that may still complete.
    pub(super) fn is_in_transaction(&self) -> bool {
        match self.state {
            State::InTransaction | State::Sleeping | State::Thinking => true,
            State::RollingBack { again } | State::Pausing { again } => again,
            State::Opening | State::Down => self.attempt.reason == Reason::Asked,
            State::Idle | State::Waiting | State::Queueing => false,
        }
    }

    pub(super) fn disconnect(&mut self) {
        self.session = None;
        self.asks_writable = false;
        self.waits_alone = false;
    }
}

fn doubled(first_ns: u64, times: u32, longest_ns: u64) -> u64 {
    (first_ns << times.min(10)).min(longest_ns)
}
