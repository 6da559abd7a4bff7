//! sysbench's "special": most accesses fall on a small window of hot rows in the middle of the
//! table, the others on a bell over the whole of it.

use rand::{Rng, RngExt};

use super::{Bell, Special, whole};

/// "special" as sysbench's manual describes it, and as its versions 0.4 and 0.5 draw it, in whole
/// numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hot {
    /// The first draw's range: the rows stand for the bell, the rest of it for the window.
    wide: u64,
    draws: u64,
    window: u64,
    window_start: u64,
}

impl Hot {
    pub(super) fn new(special: Special, rows: u64) -> Self {
        let Special {
            draws,
            window_percent,
            hot_percent,
        } = special;
        assert!(draws > 0 && hot_percent < 100, "{special:?}");
        Self {
            wide: rows * 100 / (100 - u64::from(hot_percent)),
            draws: draws.into(),
            window: (rows * u64::from(window_percent) / 100).max(1),
            window_start: rows / 2 - rows * u64::from(window_percent) / 200,
        }
    }

    /// May be 0 in tables of a few rows.
    pub(super) fn draw(&self, rows: u64, rng: &mut impl Rng) -> u64 {
        let first = rng.random_range(1..=self.wide);
        if first <= rows {
            let sum: u64 = (0..self.draws).map(|_| rng.random_range(1..=rows)).sum();
            sum / self.draws
        } else {
            first % self.window + self.window_start
        }
    }
}

/// "special" as sysbench 1.0.20 draws it, in real numbers: the draw that decided for the window is
/// used again as the place in it. Having decided, it lies in the upper three quarters of its
/// range, and so do the hot rows in the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hot1020 {
    /// One less than the rows: the distance from the first to the last.
    span: f64,
    /// Draws below this stand for the bell.
    bell_share: f64,
    bell: Bell,
    window: f64,
    window_start: f64,
}

impl Hot1020 {
    pub(super) fn new(special: Special, rows: u64) -> Self {
        let span = (rows - 1) as f64;
        let window = span * f64::from(special.window_percent) / 100.0;
        Self {
            span,
            bell_share: f64::from(100 - special.hot_percent) / 100.0,
            bell: Bell::new(special.draws),
            window,
            window_start: (span - window) / 2.0,
        }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> u64 {
        let draw: f64 = rng.random();
        let offset = if draw < self.bell_share {
            self.span * self.bell.draw(rng)
        } else {
            self.window_start + draw * (self.window + 1.0)
        };
        1 + whole(offset)
    }
}
