//! The device files that the program carries, by name.

use super::changed::split;
use super::named::Origin;
use super::{Device, DeviceError};

/// Name and text of every file in `devices/`, in alphabetical order.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/devices.rs"));

/// The names of the devices that come with the program.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// Opens a device by the name of a built-in one, or by the path of a file (`./mine.toml`), with other values
/// than its own if they stand behind it (`dial?flush_us=300`).
///
/// # Errors
///
/// If there is no such device or its file is wrong.
pub fn open(name: &str) -> Result<Device, DeviceError> {
    let (name, changes) = split(name);
    Device::open(Origin::find(name, None)?, changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Build, Measure, Pattern, Published};
    use crate::request::NANOS_PER_S;
    use crate::simulate::{self, Length, Outcome};

    #[test]
    fn every_device_can_be_read() {
        assert!(names().contains(&"null") && names().is_sorted());
        for name in names() {
            open(name).expect(name);
        }
    }

    /// Long enough for a mean, short enough for a test.
    const LENGTH: Length = Length {
        warm_up: NANOS_PER_S,
        measure: 600 * NANOS_PER_S,
        requests: 3000,
        fio_window: 0,
    };
    /// Long enough for the buffers of flash drives to fill.
    const WRITING: Length = Length {
        requests: 25_000,
        ..LENGTH
    };
    const OFF_BY_AT_MOST: f64 = 0.08;

    /// Device, pattern and depth of the held-out figures that the models miss. Remove one that a
    /// model comes to reach; a new one means that a model got worse, or that nobody looked at the
    /// figure.
    const MISSES: &[(&str, Pattern, u32)] = &[
        ("ebs-magnetic", Pattern::SequentialWrite, 4),
        ("intel-x25-e", Pattern::RandomRead, 32),
        ("intel-x25-e", Pattern::SequentialRead, 64),
        ("laptop-ssd-2012", Pattern::RandomRead, 32),
        ("ocz-agility-3-60", Pattern::RandomRead, 32),
        ("ocz-agility-3-60", Pattern::RandomWrite, 32),
        ("ocz-agility-3-60", Pattern::RandomRead, 32),
        ("samsung-970-pro", Pattern::RandomRead, 128),
        ("samsung-970-pro", Pattern::RandomWrite, 128),
        ("seagate-barracuda-7200-9-160", Pattern::RandomRead, 1),
    ];

    fn found(outcome: &Outcome, measure: Measure) -> (f64, f64) {
        let us = |quantile| outcome.latency_ns.value_at_quantile(quantile) as f64 / 1e3;
        match measure {
            Measure::Iops(wanted) => (outcome.iops(), wanted),
            Measure::MegabytesPerS(wanted) => (outcome.megabytes_per_s(), wanted),
            Measure::MeanUs(wanted) => (outcome.latency_ns.mean() / 1e3, wanted),
            Measure::MedianUs(wanted) => (us(0.5), wanted),
            Measure::P95Us(wanted) => (us(0.95), wanted),
            Measure::P99Us(wanted) => (us(0.99), wanted),
            Measure::MaxUs(wanted) => (us(1.0), wanted),
            Measure::FlushesPerS(wanted) => (outcome.flushes as f64 / outcome.seconds, wanted),
        }
    }

    /// The allowed deviation of a model, as a share; the same as of a clone. No model
    /// predicts a maximum.
    fn goal(measure: Measure) -> f64 {
        match measure {
            Measure::Iops(_) | Measure::MegabytesPerS(_) | Measure::FlushesPerS(_) => 0.10,
            Measure::MeanUs(_) | Measure::MedianUs(_) => 0.15,
            Measure::P95Us(_) | Measure::P99Us(_) => 0.25,
            Measure::MaxUs(_) => f64::INFINITY,
        }
    }

    fn ratio(device: &Device, published: &Published, length: Length) -> f64 {
        let mut timing = device.device.build(Build::seeded(1));
        let outcome = simulate::run(timing.as_mut(), &published.probe, length, 1);
        let (found, wanted) = found(&outcome, published.measure);
        found / wanted
    }

    #[test]
    fn what_is_called_fitted_comes_out_of_the_model() {
        for name in names() {
            let device = open(name).expect(name);
            for published in device.published.iter().filter(|figure| figure.fitted) {
                let ratio = ratio(&device, published, LENGTH);
                assert!(
                    (ratio - 1.0).abs() <= OFF_BY_AT_MOST,
                    "{name}: {ratio:.3} of {published:?}"
                );
            }
        }
    }

    #[test]
    fn the_misses_of_what_is_held_out_are_known() {
        let mut found = Vec::new();
        for name in names() {
            let device = open(name).expect(name);
            for published in device.published.iter().filter(|figure| !figure.fitted) {
                let probe = &published.probe;
                let length = match probe.pattern {
                    Pattern::RandomRead | Pattern::SequentialRead => LENGTH,
                    _ => WRITING,
                };
                let ratio = ratio(&device, published, length);
                println!("{name}: {ratio:.3} of {published:?}");
                if (ratio - 1.0).abs() > goal(published.measure) {
                    found.push((name, probe.pattern, probe.depth));
                }
            }
        }
        assert_eq!(found, MISSES);
    }
}
