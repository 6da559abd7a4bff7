//! The engine: runs a workload's clients against a driver and reports the results.
//!
//! One conductor (the calling thread) and a few workers. A worker multiplexes its clients on an
//! event loop; it shares nothing with the others but a control word. The conductor adds up what
//! the workers send and reports.

mod alarm;
mod arrivals;
mod client;
mod conductor;
mod control;
mod crew;
mod dispatch;
mod inbox;
mod job;
mod message;
mod opening;
mod pacer;
mod patience;
mod recorder;
mod resources;
mod retry;
mod steps;
mod summary;
mod timers;
mod totals;
mod trouble;
mod worker;

pub use crate::failure::Failure;
pub use arrivals::{Arrivals, Rate};
pub use conductor::{Ending, RunError, RunOptions, run};
pub use job::{close_failed_job, run_job};
pub use message::{Message, Outside};
pub use patience::Patience;
pub use resources::allow_open_files;
pub use retry::Retry;
pub use summary::statement_infos;
