//! A disk with an arm and platters.
//!
//! One room a mechanism: `geometry` (zones and angle), `seek`, `queue` (what comes next),
//! `read_ahead`, `write_cache`; `controller` takes commands in and answers what needs no arm; `arm`
//! moves, reads and writes; `model` joins them and keeps the order of time. Nothing here is drawn at
//! random: where a sector lies and where the platter stands decide.
//!
//! What it leaves out: head switches within a cylinder (see `geometry`), defects and retries, thermal
//! recalibration, and clean copies of what was written (a read hits the write cache only until the
//! bytes are on the platter).

mod arm;
mod controller;
mod geometry;
mod model;
mod parameters;
mod queue;
mod read_ahead;
mod sectors;
mod seek;
#[cfg(test)]
mod tests;
mod write_cache;

pub use model::Spinning;
pub use parameters::SpinningParameters;
