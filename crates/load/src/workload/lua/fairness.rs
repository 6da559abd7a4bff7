//! How evenly the clients were served, as sysbench reports it.

use std::sync::{Arc, Mutex, PoisonError};

/// The events of each client and the seconds that they took.
#[derive(Debug, Clone, Default)]
pub struct Fairness(Arc<Mutex<Vec<(f64, f64)>>>);

impl Fairness {
    /// A client has done its last event.
    pub(super) fn add(&self, events: u64, seconds: f64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((events as f64, seconds));
    }

    /// Standard deviations over the clients: of their events, and of their seconds.
    #[must_use]
    pub fn deviations(&self) -> (f64, f64) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (
            deviation(all.iter().map(|(events, _)| *events)),
            deviation(all.iter().map(|(_, seconds)| *seconds)),
        )
    }
}

/// Of the whole, not of a sample.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (squares / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_clients_do_not_deviate() {
        let fairness = Fairness::default();
        fairness.add(10, 1.0);
        fairness.add(14, 1.0);
        assert_eq!(fairness.deviations(), (2.0, 0.0));
        assert_eq!(Fairness::default().deviations(), (0.0, 0.0));
    }
}
