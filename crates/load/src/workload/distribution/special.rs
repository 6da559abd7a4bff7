//! sysbench's "special": most accesses fall on a small window of hot rows in the middle of the
//! table, the others on a bell over the whole of it.

use rand::{Rng, RngExt};

use super::{bell, whole};

/// The hot window's share of the rows, in percent.
const WINDOW_PERCENT: u64 = 1;

/// The share of accesses that go to the window.
const HOT_SHARE: f64 = 0.75;

/// "special" as sysbench's manual describes it, and as its versions 0.4 and 0.5 draw it, in whole
/// numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hot {
    /// The first draw's range: the rows stand for the bell, the rest of it for the window.
    wide: u64,
    window: u64,
    window_start: u64,
}

impl Hot {
    pub(super) fn new(rows: u64) -> Self {
        Self {
            wide: whole(rows as f64 / (1.0 - HOT_SHARE)),
            window: (rows * WINDOW_PERCENT / 100).max(1),
            window_start: rows / 2 - rows * WINDOW_PERCENT / 200,
        }
    }

    /// May be 0 in tables of a few rows.
    pub(super) fn draw(&self, rows: u64, rng: &mut impl Rng) -> u64 {
        let first = rng.random_range(1..=self.wide);
        if first <= rows {
            let draws = (0..bell::DRAWS).map(|_| rng.random_range(1..=rows));
            draws.sum::<u64>() / u64::from(bell::DRAWS)
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
    window: f64,
    window_start: f64,
}

impl Hot1020 {
    pub(super) fn new(rows: u64) -> Self {
        let span = (rows - 1) as f64;
        let window = span * WINDOW_PERCENT as f64 / 100.0;
        Self {
            span,
            window,
            window_start: (span - window) / 2.0,
        }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> u64 {
        let draw: f64 = rng.random();
        let offset = if draw < 1.0 - HOT_SHARE {
            self.span * bell::draw(rng)
        } else {
            self.window_start + draw * (self.window + 1.0)
        };
        1 + whole(offset)
    }
}
