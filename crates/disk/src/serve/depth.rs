//! The queue depth of a served disk.

use crate::request::Nanos;

/// Requests under way over time.
#[derive(Default)]
pub(super) struct Depth {
    now: usize,
    pub(super) max: usize,
    /// Request-nanoseconds since `from`.
    area: u128,
    from: Nanos,
    changed: Nanos,
}

impl Depth {
    pub(super) fn changes(&mut self, at: Nanos, depth: usize) {
        self.area += u128::from(at.saturating_sub(self.changed)) * self.now as u128;
        self.changed = self.changed.max(at);
        self.now = depth;
        self.max = self.max.max(depth);
    }

    /// Starts counting, with the requests in progress.
    pub(super) fn reset(&mut self, at: Nanos) {
        *self = Self {
            now: self.now,
            max: self.now,
            area: 0,
            from: at,
            changed: at,
        };
    }

    pub(super) fn mean(&mut self, at: Nanos) -> f64 {
        self.changes(at, self.now);
        self.area as f64 / at.saturating_sub(self.from).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_all_the_time() {
        let mut depth = Depth::default();
        depth.changes(100, 1);
        depth.changes(200, 3);
        depth.changes(300, 0);
        // 1 for 100 ns, 3 for 100 ns, nothing for 200 ns.
        assert!((depth.mean(400) - 1.0).abs() < 1e-12);
        assert_eq!(depth.max, 3);
        depth.changes(450, 2);
        depth.reset(500);
        assert_eq!(depth.max, 2);
        assert!((depth.mean(600) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_no_depth() {
        assert!(Depth::default().mean(0).abs() < 1e-12);
    }
}
