//! How much earlier than needed a sleeper must be woken.

use crate::request::{NANOS_PER_US, Nanos};

/// A sleeper wakes late, because a timer and a processor need time to wake it: a microsecond if a
/// processor stays awake, tens of them in a virtual machine. The alarm learns this delay from each
/// call and rings earlier by it. It learns the delay that nine of ten calls exceed: nine of ten
/// calls are still late, though less so, and one is slightly early.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    lead: Nanos,
}

/// The share of calls that should be on time or early.
const EARLY_PER_10: u64 = 1;
/// The weight of one call: the alarm adapts to a change of the machine within a few hundred calls.
const STEP: Nanos = NANOS_PER_US / 20;
/// A machine that is later than this by habit cannot be helped by going early.
const LEAD_AT_MOST: Nanos = 100 * NANOS_PER_US;

impl Alarm {
    /// How much earlier to set the alarm.
    pub(super) fn lead(&self) -> Nanos {
        self.lead
    }

    /// A call came that much after the moment for which the alarm was set. The quantile is followed by
    /// steps up and down in proportion to how often either is to happen.
    pub(super) fn came_late(&mut self, by: Nanos) {
        self.lead = if by < self.lead {
            self.lead.saturating_sub((10 - EARLY_PER_10) * STEP)
        } else {
            (self.lead + EARLY_PER_10 * STEP).min(LEAD_AT_MOST)
        };
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn learn(alarm: &mut Alarm, calls: u32, delay_ns: std::ops::Range<Nanos>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..calls {
            alarm.came_late(random.random_range(delay_ns.clone()));
        }
    }

    #[test]
    fn nine_of_ten_delays_are_longer() {
        let mut alarm = Alarm::default();
        assert_eq!(alarm.lead(), 0);
        learn(&mut alarm, 20_000, 10_000..30_000);
        let expected = 10_000 + (30_000 - 10_000) / 10;
        assert!(alarm.lead().abs_diff(expected) < 1_000, "{}", alarm.lead());
    }

    #[test]
    fn it_follows_the_machine() {
        let mut alarm = Alarm::default();
        learn(&mut alarm, 20_000, 50_000..50_001);
        assert!(alarm.lead() > 49_000);
        learn(&mut alarm, 2_000, 1_000..1_001);
        assert!(alarm.lead() < 2_000, "{}", alarm.lead());
    }

    #[test]
    fn it_is_bounded() {
        let mut alarm = Alarm::default();
        learn(&mut alarm, 20_000, 5_000_000..5_000_001);
        assert_eq!(alarm.lead(), LEAD_AT_MOST);
    }
}
