//! The device files that the program carries, by name.

use super::named::Origin;
use super::{Device, DeviceError};

/// Name and text of every file in `devices/`; a test holds this list to the folder.
pub const BUILT_IN: &[(&str, &str)] = &[
    (
        "desktop-7200",
        include_str!("../../../../devices/desktop-7200.toml"),
    ),
    (
        "fujitsu-mbc2073rc",
        include_str!("../../../../devices/fujitsu-mbc2073rc.toml"),
    ),
    ("null", include_str!("../../../../devices/null.toml")),
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
