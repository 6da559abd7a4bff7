//! Messages between the threads of a run.

use std::sync::Arc;

use super::pacer::Pacer;
use crate::driver::Fault;
use crate::measure::{IntervalTally, Period, PhaseTally, Schedule};

/// To the conductor.
#[derive(Debug)]
pub enum Message {
    /// The connection of administration is there, or why it is not, and what the server calls
    /// itself.
    Greeted(Result<String, Failure>),
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
        /// When the first of its clients began.
        begun_ns: u64,
        /// The end of its part of the phase.
        end_ns: u64,
        /// How long its thread was ready in the phase and had no core; `None` if the kernel keeps
        /// no account.
        waited_ns: Option<u64>,
        tally: Box<PhaseTally>,
    },
    /// A worker could not go on.
    Failed(Failure),
    /// No client of the whole run has had a connection for too long; the workers can still account
    /// for what they did before.
    CutOff(Failure),
    FromOutside(Outside),
}

/// Messages to a run from outside the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// A line on standard input, with the number in it.
    Line(Option<u64>),
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

    /// An action, and its result.
    #[must_use]
    pub fn from_fault(doing: &str, fault: &Fault) -> Self {
        Self::new(fault.code(), format!("{doing}: {fault}"))
    }
}

/// To a worker with connected clients.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) schedule: Schedule,
    /// Shared by all workers; `None`: a closed loop.
    pub(super) pacer: Option<Arc<Pacer>>,
}
