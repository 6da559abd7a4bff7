//! When phases and intervals begin and end: arithmetic, without a clock.

use serde::Serialize;

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Phase {
    #[serde(rename = "warm-up")]
    WarmUp,
    #[serde(rename = "measure")]
    Measure,
}

/// The plan of a run, in nanoseconds of the program's clock. All workers hold the same one and
/// cut their counts at the same instants, by each reply's own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Start of the warm-up.
    pub start_ns: u64,
    /// Start of the measured phase; equal to `start_ns` without a warm-up.
    pub measure_ns: u64,
    /// End of the measured phase; `u64::MAX` if a number of transactions ends it.
    pub end_ns: u64,
    /// `None`: one interval for the whole phase.
    pub interval_ns: Option<u64>,
}

/// One interval of one phase: from `start_ns` up to, not including, `end_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub phase: Phase,
    pub index: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}

impl Schedule {
    /// The schedule of a run that has not begun.
    pub const NEVER: Self = Self {
        start_ns: u64::MAX,
        measure_ns: u64::MAX,
        end_ns: u64::MAX,
        interval_ns: None,
    };

    pub fn first(&self) -> Option<Period> {
        self.begin(Phase::WarmUp)
            .or_else(|| self.begin(Phase::Measure))
    }

    /// The period after one; `None` after the last.
    pub fn after(&self, period: &Period) -> Option<Period> {
        if period.end_ns < self.phase_end_ns(period.phase) {
            return Some(self.period(period.phase, period.index + 1, period.end_ns));
        }
        match period.phase {
            Phase::WarmUp => self.begin(Phase::Measure),
            Phase::Measure => None,
        }
    }

    /// Ends the run no later than `end_ns`.
    pub fn cut(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
        self.measure_ns = self.measure_ns.min(self.end_ns);
    }

    pub fn phase_start_ns(&self, phase: Phase) -> u64 {
        match phase {
            Phase::WarmUp => self.start_ns,
            Phase::Measure => self.measure_ns,
        }
    }

    fn phase_end_ns(&self, phase: Phase) -> u64 {
        match phase {
            Phase::WarmUp => self.measure_ns,
            Phase::Measure => self.end_ns,
        }
    }

    fn begin(&self, phase: Phase) -> Option<Period> {
        let start_ns = self.phase_start_ns(phase);
        (start_ns < self.phase_end_ns(phase)).then(|| self.period(phase, 0, start_ns))
    }

    fn period(&self, phase: Phase, index: u64, start_ns: u64) -> Period {
        let phase_end_ns = self.phase_end_ns(phase);
        // Counted from the phase's start, so that intervals never drift.
        let end_ns = self.interval_ns.map_or(phase_end_ns, |interval_ns| {
            let length_ns = interval_ns.saturating_mul(index + 1);
            self.phase_start_ns(phase)
                .saturating_add(length_ns)
                .min(phase_end_ns)
        });
        Period {
            phase,
            index,
            start_ns,
            end_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(schedule: &Schedule) -> Vec<(Phase, u64, u64)> {
        std::iter::successors(schedule.first(), |period| schedule.after(period))
            .map(|period| (period.phase, period.start_ns, period.end_ns))
            .collect()
    }

    const WHOLE: Schedule = Schedule {
        start_ns: 100,
        measure_ns: 125,
        end_ns: 150,
        interval_ns: Some(10),
    };

    #[test]
    fn periods_tile_both_phases() {
        use Phase::{Measure, WarmUp};
        assert_eq!(
            all(&WHOLE),
            [
                (WarmUp, 100, 110),
                (WarmUp, 110, 120),
                (WarmUp, 120, 125),
                (Measure, 125, 135),
                (Measure, 135, 145),
                (Measure, 145, 150),
            ]
        );
    }

    #[test]
    fn without_intervals_a_phase_is_one_period() {
        let schedule = Schedule {
            interval_ns: None,
            measure_ns: 100,
            ..WHOLE
        };
        assert_eq!(all(&schedule), [(Phase::Measure, 100, 150)]);
    }

    #[test]
    fn a_cut_shortens_the_last_period() {
        let mut schedule = WHOLE;
        schedule.cut(137);
        assert_eq!(all(&schedule).last(), Some(&(Phase::Measure, 135, 137)));
        schedule.cut(105);
        assert_eq!(
            all(&schedule),
            [(Phase::WarmUp, 100, 105)],
            "nothing was measured"
        );
    }
}
