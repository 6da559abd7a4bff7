//! One clock for the whole program: the machine's, or one that passes several times slower.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the load's own time since its start, with that start's place in calendar time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    epoch: Instant,
    epoch_unix_s: f64,
    /// How many nanoseconds of the machine are one of the load.
    dilation: u32,
}

impl Clock {
    pub fn start(dilation: u32) -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            epoch: Instant::now(),
            epoch_unix_s: unix.map_or(0.0, |since| since.as_secs_f64()),
            dilation,
        }
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        let elapsed = self.epoch.elapsed();
        let elapsed_ns = elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos());
        // A division of 64 bits takes longer than the test.
        if self.dilation == 1 {
            elapsed_ns
        } else {
            elapsed_ns / u64::from(self.dilation)
        }
    }

    /// This clock's time of an instant of the machine's monotonic clock (`CLOCK_MONOTONIC`), which is
    /// divided by the dilation.
    pub fn of_monotonic(&self, at_ns: u64) -> u64 {
        u64::try_from(i128::from(at_ns) - self.machine_ahead_ns()).unwrap_or(0)
    }

    /// The machine's monotonic clock at an instant of this clock, divided by the dilation.
    pub fn monotonic(&self, at_ns: u64) -> u64 {
        u64::try_from(i128::from(at_ns) + self.machine_ahead_ns()).unwrap_or(0)
    }

    /// How far the machine's monotonic clock is ahead of this one: both count alike.
    fn machine_ahead_ns(&self) -> i128 {
        let machine = clock_gettime(ClockId::Monotonic);
        let machine_ns = Duration::try_from(machine).map_or(0, |since| since.as_nanos());
        let machine_ns = machine_ns / u128::from(self.dilation);
        i128::try_from(machine_ns).unwrap_or(i128::MAX) - i128::from(self.now_ns())
    }

    /// Calendar time of an instant of this clock, in seconds since 1970.
    pub fn unix_s(&self, at_ns: u64) -> f64 {
        self.epoch_unix_s + at_ns as f64 * f64::from(self.dilation) / 1e9
    }

    /// The machine's time from now until `at_ns`, for whoever sleeps; zero if that has passed.
    pub fn until(&self, at_ns: u64) -> Duration {
        let left_ns = at_ns.saturating_sub(self.now_ns());
        Duration::from_nanos(left_ns.saturating_mul(self.dilation.into()))
    }
}
