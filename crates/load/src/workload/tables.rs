//! How far the filling of tables is.

use std::sync::atomic::{AtomicU64, Ordering};

/// Rows handed to the database so far, by all threads that load.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Updating a shared counter costs more than making a row, so it is raised by this many at a
    /// time.
    pub const ROWS: u64 = 1000;

    /// Says that row `done + 1` of `rows` is about to be made.
    #[inline]
    pub fn row(&self, done: u64, rows: u64) {
        if done.is_multiple_of(Self::ROWS) {
            self.add(Self::ROWS.min(rows - done));
        }
    }

    pub fn add(&self, rows: u64) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }

    pub fn rows(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
