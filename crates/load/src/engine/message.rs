//! Messages between the threads of a run.

use std::sync::Arc;

use super::pacer::Pacer;
use crate::failure::Failure;
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
    /// A statement and its plan, when the load has ended; `None` after the last.
    Explained(Option<(String, String)>),
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

/// To a worker with connected clients.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) schedule: Schedule,
    /// Shared by all workers; `None`: a closed loop.
    pub(super) pacer: Option<Arc<Pacer>>,
}
