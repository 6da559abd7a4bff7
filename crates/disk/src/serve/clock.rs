//! The clock that a served disk runs by.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::request::{NANOS_PER_S, Nanos};

/// Nanoseconds since the disk was switched on, on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    switched_on: Instant,
    /// The same moment by the system's monotonic clock, which other programs share.
    switched_on_monotonic: Nanos,
}

impl Clock {
    pub(super) fn start() -> Self {
        let monotonic = clock_gettime(ClockId::Monotonic);
        // An `Instant` uses the same clock, but does not show its value: the two differ by the time
        // of a call.
        Self {
            switched_on: Instant::now(),
            switched_on_monotonic: monotonic.tv_sec.cast_unsigned() * NANOS_PER_S
                + monotonic.tv_nsec.cast_unsigned(),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        // 2^64 ns are 584 years.
        u64::try_from(self.switched_on.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
    }

    /// `CLOCK_MONOTONIC` at that moment.
    pub(super) fn monotonic(&self, at: Nanos) -> Nanos {
        self.switched_on_monotonic + at
    }

    pub(super) fn instant(&self, at: Nanos) -> Instant {
        self.switched_on + Duration::from_nanos(at)
    }
}
