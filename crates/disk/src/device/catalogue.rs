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
    use crate::device::{Build, Measure, Published};
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
    const OFF_BY_AT_MOST: f64 = 0.08;

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

    fn ratio(device: &Device, published: &Published) -> f64 {
        let mut timing = device.device.build(Build { seed: 1 });
        let outcome = simulate::run(timing.as_mut(), &published.probe, LENGTH, 1);
        let (found, wanted) = found(&outcome, published.measure);
        found / wanted
    }

    #[test]
    fn what_is_called_fitted_comes_out_of_the_model() {
        for name in names() {
            let device = open(name).expect(name);
            for published in device.published.iter().filter(|figure| figure.fitted) {
                let ratio = ratio(&device, published);
                assert!(
                    (ratio - 1.0).abs() <= OFF_BY_AT_MOST,
                    "{name}: {ratio:.3} of {published:?}"
                );
            }
        }
    }

    /// Evidence, which a change to the model of spinning disks must not spoil unseen.
    #[test]
    fn what_is_held_out_of_the_spinning_disks_comes_near() {
        for (name, figures) in [
            ("desktop-7200", 1),
            ("fujitsu-mbc2073rc", 1),
            ("seagate-barracuda-7200-9-160", 1),
            ("wd-my-passport-ultra", 3),
        ] {
            let device = open(name).expect(name);
            let held_out = device.published.iter().filter(|figure| !figure.fitted);
            let ratios: Vec<f64> = held_out.map(|figure| ratio(&device, figure)).collect();
            assert!(ratios.len() >= figures, "{name}: {ratios:?}");
            assert!(
                ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.2),
                "{name}: {ratios:?}"
            );
        }
    }
}
