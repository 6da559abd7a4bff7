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
        "samsung-970-pro",
        include_str!("../../../../devices/samsung-970-pro.toml"),
    ),
    (
        "seagate-barracuda-7200-9-160",
        include_str!("../../../../devices/seagate-barracuda-7200-9-160.toml"),
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
}
