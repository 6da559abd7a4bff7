//! Measurements: time, latencies, counts. Nothing here depends on a database.

mod clock;
mod latencies;
mod schedule;
mod tally;

pub use clock::Clock;
pub use latencies::{Latencies, LatencySummary};
pub use schedule::{Period, Phase, Schedule};
pub use tally::{
    Backlog, Delay, ErrorEntry, ErrorKey, ErrorTally, IntervalTally, NO_REPLY, PhaseTally,
    StatementTally,
};
