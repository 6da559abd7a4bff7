//! A disk with an arm and platters.
//!
//! One file per mechanism: `geometry` (zones and angle), `seek`, `queue` (the next command),
//! `read_ahead`, `write_cache`; `controller` accepts commands and answers those that need no arm;
//! `arm` moves, reads and writes; `model` joins them and keeps the order of time. Nothing is drawn
//! at random: the place of a sector and the angle of the platter decide.
//!
//! Left out: head switches within a cylinder (see `geometry`), defects and retries, thermal
//! recalibration, and clean copies of written data (a read hits the write cache only until the
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
