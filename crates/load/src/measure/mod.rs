//! Measurements: time, latencies, counts. Nothing here depends on a database.

/// Adds fields of one account to those of another.
macro_rules! sum {
    ($mine:expr, $theirs:expr; $($field:ident)*) => { $($mine.$field += &$theirs.$field;)* };
}
pub(crate) use sum;

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
