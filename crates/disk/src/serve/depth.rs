//! The queue depth of a served disk.

use crate::request::Nanos;

/// Requests under way over time.
#[derive(Default)]
pub(super) struct Depth {
    now: usize,
    pub(super) max: usize,
    /// Request-nanoseconds since `from`.
    area: u128,
    /// Nanoseconds since `from` with at least as many under way as the device takes.
    full: Nanos,
    from: Nanos,
    changed: Nanos,
    /// Requests that the device takes at a time, if it says so.
    takes: Option<u32>,
}

impl Depth {
    pub(super) fn of(takes: Option<u32>) -> Self {
        Self {
            takes,
            ..Self::default()
        }
    }

    pub(super) fn changes(&mut self, at: Nanos, depth: usize) {
        let passed = at.saturating_sub(self.changed);
        self.area += u128::from(passed) * self.now as u128;
        if self.takes.is_some_and(|takes| self.now >= takes as usize) {
            self.full += passed;
        }
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
            full: 0,
            from: at,
            changed: at,
            takes: self.takes,
        };
    }

    pub(super) fn mean(&mut self, at: Nanos) -> f64 {
        self.changes(at, self.now);
        self.area as f64 / at.saturating_sub(self.from).max(1) as f64
    }

    /// Share of the time in which the device could take no further request.
    pub(super) fn full_share(&mut self, at: Nanos) -> Option<f64> {
        self.changes(at, self.now);
        self.takes?;
        Some(self.full as f64 / at.saturating_sub(self.from).max(1) as f64)
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
    fn a_device_is_full_while_it_has_as_many_as_it_takes() {
        let mut depth = Depth::of(Some(2));
        depth.reset(100);
        depth.changes(200, 1);
        depth.changes(300, 3);
        depth.changes(400, 2);
        depth.changes(450, 1);
        // 100 ns with 3 and 50 ns with 2, of 400 ns.
        assert_eq!(depth.full_share(500), Some(150.0 / 400.0));
        assert_eq!(Depth::of(None).full_share(100), None);
    }

    #[test]
    fn nothing_is_no_depth() {
        assert!(Depth::default().mean(0).abs() < 1e-12);
    }
}
