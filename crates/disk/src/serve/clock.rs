//! The clock that a served disk runs by: the machine's, or one that passes several times slower.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::request::{NANOS_PER_S, Nanos};

/// Nanoseconds of the disk's own time since it was switched on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    switched_on: Instant,
    /// The same moment by the system's monotonic clock, which other programs share, as slow as ours.
    switched_on_monotonic: Nanos,
    /// How many nanoseconds of the machine are one of the disk.
    dilation: u64,
}

impl Clock {
    pub(super) fn start(dilation: u32) -> Self {
        let monotonic = clock_gettime(ClockId::Monotonic);
        let monotonic_ns =
            monotonic.tv_sec.cast_unsigned() * NANOS_PER_S + monotonic.tv_nsec.cast_unsigned();
        // An `Instant` uses the same clock, but does not show its value: the two differ by the time
        // of a call.
        Self {
            switched_on: Instant::now(),
            switched_on_monotonic: monotonic_ns / u64::from(dilation),
            dilation: dilation.into(),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        // 2^64 ns are 584 years.
        u64::try_from(self.switched_on.elapsed().as_nanos()).unwrap_or(Nanos::MAX) / self.dilation
    }

    /// `CLOCK_MONOTONIC` at that moment, divided by the dilation.
    pub(super) fn monotonic(&self, at: Nanos) -> Nanos {
        self.switched_on_monotonic + at
    }

    pub(super) fn instant(&self, at: Nanos) -> Instant {
        self.switched_on + Duration::from_nanos(at * self.dilation)
    }

    /// How long something of the machine takes in the disk's own time.
    pub(super) fn own(&self, of_machine: Nanos) -> Nanos {
        of_machine / self.dilation
    }
}
