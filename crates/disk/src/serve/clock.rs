//! The clock that a served disk runs by.

use std::time::{Duration, Instant};

use crate::request::Nanos;

/// Nanoseconds since the disk was switched on, on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    switched_on: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            switched_on: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        // 2^64 ns are 584 years.
        u64::try_from(self.switched_on.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
    }

    pub(super) fn instant(&self, at: Nanos) -> Instant {
        self.switched_on + Duration::from_nanos(at)
    }
}
