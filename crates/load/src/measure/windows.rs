//! Windows of several runs that take turns: arithmetic, without a clock.
//!
//! Runs 1 to k work one after the other, forward and backward: 1 2 … k k … 2 1 1 2 … So a drift of
//! the machine falls on all of them alike. A gap lies between any two windows.

use std::time::Duration;

/// One of several runs that take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    /// Number of this run, from 0, and how many there are.
    pub place: u64,
    pub runs: u64,
    pub length: Duration,
    pub gap: Duration,
}

impl Sharing {
    /// The windows from an instant on that are together as long as warm-up and measured phase.
    #[must_use]
    pub fn windows(&self, first_ns: u64, warm_up: Duration, measured: Duration) -> Windows {
        let in_all = |time: Duration| ns(time).div_ceil(ns(self.length).max(1));
        let warm_up = in_all(warm_up);
        Windows {
            place: self.place,
            runs: self.runs,
            length_ns: ns(self.length),
            gap_ns: ns(self.gap),
            first_ns,
            warm_up,
            count: warm_up + in_all(measured).max(1),
        }
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A run's windows, in nanoseconds of the program's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Number of this run, from 0, and how many runs take turns.
    pub place: u64,
    pub runs: u64,
    pub length_ns: u64,
    pub gap_ns: u64,
    /// Start of the first window of all runs.
    pub first_ns: u64,
    /// How many of our windows are warm-up, and how many there are with the measured ones.
    pub warm_up: u64,
    pub count: u64,
}

/// The state of the turns at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Our window is open.
    Ours { until_ns: u64 },
    /// Others work, or nobody does.
    NotYet { until_ns: u64 },
    /// Our last window is over.
    Over,
}

impl Windows {
    #[must_use]
    pub fn start_ns(&self, number: u64) -> u64 {
        let round = number / 2 * 2 * self.runs;
        let within = if number.is_multiple_of(2) {
            self.place
        } else {
            2 * self.runs - 1 - self.place
        };
        self.first_ns
            .saturating_add((round + within).saturating_mul(self.slot_ns()))
    }

    #[must_use]
    pub fn end_ns(&self, number: u64) -> u64 {
        self.start_ns(number).saturating_add(self.length_ns)
    }

    /// When the last transactions of the last window must have ended: a whole round later.
    #[must_use]
    pub fn limit_ns(&self) -> u64 {
        let round_ns = self.slot_ns().saturating_mul(2 * self.runs);
        self.end_ns(self.count - 1).saturating_add(round_ns)
    }

    #[must_use]
    pub fn turn(&self, at_ns: u64) -> Turn {
        let next = self.begun(at_ns);
        match next.checked_sub(1) {
            Some(latest) if latest < self.count && at_ns < self.end_ns(latest) => Turn::Ours {
                until_ns: self.end_ns(latest),
            },
            _ if next >= self.count => Turn::Over,
            _ => Turn::NotYet {
                until_ns: self.start_ns(next),
            },
        }
    }

    /// How long a transaction that began in one of our windows reached into those of others.
    #[must_use]
    pub fn overlap_ns(&self, begun_ns: u64, ended_ns: u64) -> u64 {
        let Some(number) = self.begun(begun_ns).checked_sub(1) else {
            return 0;
        };
        let free_until_ns = self.end_ns(number).saturating_add(self.gap_ns);
        ended_ns
            .min(self.start_ns(number + 1))
            .saturating_sub(free_until_ns)
    }

    /// How many of our windows have begun by an instant.
    fn begun(&self, at_ns: u64) -> u64 {
        let Some(since_ns) = at_ns.checked_sub(self.first_ns) else {
            return 0;
        };
        let slot = since_ns / self.slot_ns();
        let (round, within) = (slot / (2 * self.runs), slot % (2 * self.runs));
        let forward = u64::from(within >= self.place);
        let backward = u64::from(within >= 2 * self.runs - 1 - self.place);
        2 * round + forward + backward
    }

    fn slot_ns(&self) -> u64 {
        self.length_ns + self.gap_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(place: u64, runs: u64) -> Windows {
        Windows {
            place,
            runs,
            length_ns: 80,
            gap_ns: 20,
            first_ns: 1000,
            warm_up: 2,
            count: 6,
        }
    }

    /// The number of the run whose window is open at the start of each slot.
    fn order(runs: u64, slots: u64) -> Vec<u64> {
        let whose = |at_ns| {
            let mut open = (0..runs)
                .filter(|&place| matches!(windows(place, runs).turn(at_ns), Turn::Ours { .. }));
            let first = open.next().expect("somebody works");
            assert_eq!(open.next(), None, "nobody else works");
            first
        };
        (0..slots).map(|slot| whose(1000 + 100 * slot)).collect()
    }

    #[test]
    fn runs_work_forward_and_backward() {
        assert_eq!(order(2, 12), [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]);
        assert_eq!(order(3, 9), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
    }

    #[test]
    fn turns_of_one_run() {
        let first = windows(0, 2);
        assert_eq!(first.turn(0), Turn::NotYet { until_ns: 1000 });
        assert_eq!(first.turn(1000), Turn::Ours { until_ns: 1080 });
        assert_eq!(first.turn(1079), Turn::Ours { until_ns: 1080 });
        assert_eq!(first.turn(1080), Turn::NotYet { until_ns: 1300 });
        assert_eq!(first.turn(1380), Turn::NotYet { until_ns: 1400 });
        let last_ns = first.start_ns(5);
        assert_eq!(last_ns, 1000 + 11 * 100);
        assert_eq!(first.turn(last_ns + 80), Turn::Over);
        assert_eq!(first.turn(u64::MAX), Turn::Over);
    }

    #[test]
    fn an_overlap_is_time_in_the_windows_of_others() {
        let first = windows(0, 2);
        assert_eq!(first.overlap_ns(1010, 1100), 0, "the gap is nobody's");
        assert_eq!(first.overlap_ns(1010, 1130), 30);
        assert_eq!(first.overlap_ns(1010, 1350), 200, "until our next window");
        assert_eq!(first.overlap_ns(1310, 1450), 0, "which follows at once");
        assert_eq!(first.overlap_ns(10, 20), 0);
    }
}
