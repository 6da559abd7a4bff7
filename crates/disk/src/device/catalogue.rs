//! The device files that the program carries, by name.

use super::named::Origin;
use super::{Device, DeviceError};

/// Name and text of every file in `devices/`; a test holds this list to the folder.
pub const BUILT_IN: &[(&str, &str)] = &[
    (
        "datacentre-nvme",
        include_str!("../../../../devices/datacentre-nvme.toml"),
    ),
    (
        "desktop-7200",
        include_str!("../../../../devices/desktop-7200.toml"),
    ),
    (
        "disk-log-over-ssd",
        include_str!("../../../../devices/disk-log-over-ssd.toml"),
    ),
    ("dram", include_str!("../../../../devices/dram.toml")),
    ("ebs-gp2", include_str!("../../../../devices/ebs-gp2.toml")),
    ("ebs-gp3", include_str!("../../../../devices/ebs-gp3.toml")),
    ("ebs-io1", include_str!("../../../../devices/ebs-io1.toml")),
    (
        "ebs-magnetic",
        include_str!("../../../../devices/ebs-magnetic.toml"),
    ),
    (
        "ec2-m3-instance-ssd",
        include_str!("../../../../devices/ec2-m3-instance-ssd.toml"),
    ),
    (
        "fujitsu-mbc2073rc",
        include_str!("../../../../devices/fujitsu-mbc2073rc.toml"),
    ),
    (
        "intel-x25-e",
        include_str!("../../../../devices/intel-x25-e.toml"),
    ),
    (
        "kexin-240",
        include_str!("../../../../devices/kexin-240.toml"),
    ),
    (
        "laptop-ssd-2012",
        include_str!("../../../../devices/laptop-ssd-2012.toml"),
    ),
    ("null", include_str!("../../../../devices/null.toml")),
    (
        "ocz-agility-3-60",
        include_str!("../../../../devices/ocz-agility-3-60.toml"),
    ),
    (
        "raid10-desktop-7200",
        include_str!("../../../../devices/raid10-desktop-7200.toml"),
    ),
    (
        "samsung-970-pro",
        include_str!("../../../../devices/samsung-970-pro.toml"),
    ),
    (
        "seagate-barracuda-7200-9-160",
        include_str!("../../../../devices/seagate-barracuda-7200-9-160.toml"),
    ),
    (
        "ssd-cache-over-disk",
        include_str!("../../../../devices/ssd-cache-over-disk.toml"),
    ),
    (
        "wd-my-passport-ultra",
        include_str!("../../../../devices/wd-my-passport-ultra.toml"),
    ),
];

/// The names of the devices that come with the program.
#[must_use]
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// Opens a device by the name of a built-in one, or by the path of a file (`./mine.toml`).
///
/// # Errors
///
/// Where there is no such device or its file is wrong.
pub fn open(name: &str) -> Result<Device, DeviceError> {
    Device::open(Origin::find(name, None)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::device::{Build, Measure, Pattern, Published};
    use crate::request::NANOS_PER_S;
    use crate::simulate::{self, Length, Outcome};

    #[test]
    fn every_file_is_carried_and_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../devices");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder is there")
            .map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|end| end == "toml"))
            .map(|path| {
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        files.sort();
        assert_eq!(files, names(), "in alphabetical order");
        for name in names() {
            open(name).expect(name);
        }
    }

    /// Long enough for a mean, short enough for a test.
    const LENGTH: Length = Length {
        warm_up: NANOS_PER_S,
        measure: 600 * NANOS_PER_S,
        requests: 3000,
    };
    /// Long enough for the buffers of flash drives to fill.
    const WRITING: Length = Length {
        requests: 25_000,
        ..LENGTH
    };
    const OFF_BY_AT_MOST: f64 = 0.08;

    /// Device, pattern and depth of the held-out figures that the models miss. One that they come to
    /// reach is to be struck out; a new one is a model spoilt, or a figure that was not looked at.
    const MISSES: &[(&str, Pattern, u32)] = &[
        ("ebs-magnetic", Pattern::SequentialWrite, 4),
        ("intel-x25-e", Pattern::RandomRead, 64),
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

    /// How far off a model may be, as a share; as `disk verify` has it. No model predicts a maximum.
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
