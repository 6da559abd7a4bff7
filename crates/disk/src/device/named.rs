//! Devices that a device file names: `disk = { named = "seagate-barracuda-7200-9-160" }`.

use std::path::{Path, PathBuf};

use super::catalogue::BUILT_IN;
use super::changed::split;
use super::{Device, DeviceError, Model, names};
use crate::file;

/// The source of a device file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Its name and its text.
    BuiltIn(&'static str, &'static str),
    File(PathBuf),
    /// Only a text, with what it is called in errors.
    Text(String),
}

impl Origin {
    /// Finds a device by the name of a built-in one, or by the path of a file, which may be relative to
    /// `folder`.
    pub(super) fn find(name: &str, folder: Option<&Path>) -> Result<Self, DeviceError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Ok(Self::BuiltIn(name, text));
        }
        if Path::new(name).extension().is_some_and(|end| end == "toml") {
            return Self::file(&folder.unwrap_or(Path::new("")).join(name));
        }
        Err(DeviceError(format!(
            "there is no device `{name}`; give the path of a file that ends in .toml, or one of: {}",
            names().join(", ")
        )))
    }

    /// The file, by the one path that it has.
    pub(super) fn file(path: &Path) -> Result<Self, DeviceError> {
        match path.canonicalize() {
            Ok(whole) => Ok(Self::File(whole)),
            Err(error) => Err(DeviceError(format!("{}: {error}", path.display()))),
        }
    }

    pub(super) fn read(&self) -> Result<String, DeviceError> {
        match self {
            Self::BuiltIn(_, text) => Ok((*text).to_owned()),
            Self::File(path) => file::read_text(path)
                .map_err(|error| DeviceError(format!("{}: {error}", path.display()))),
            Self::Text(name) => unreachable!("no name leads to {name}"),
        }
    }

    fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(path) => path.parent(),
            _ => None,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn(name, _) => write!(out, "devices/{name}.toml"),
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Text(name) => write!(out, "{name}"),
        }
    }
}

/// The most devices that one device may be built of. Files that each name the next one twice would
/// double their number with every file.
const PARTS_AT_MOST: usize = 1024;

/// Replaces every named device by the device itself. `trail` lists the files that led here by their
/// names, the naming file last. `parts` counts the devices.
pub(super) fn look_up(
    model: &mut Model,
    trail: &mut Vec<Origin>,
    parts: &mut usize,
) -> Result<(), DeviceError> {
    let here = trail.last().expect("whoever names is a file");
    *parts += 1;
    if *parts > PARTS_AT_MOST {
        return Err(DeviceError(format!(
            "{here}: the device is built of more than {PARTS_AT_MOST} devices"
        )));
    }
    let Model::Named(words) = model else {
        for part in model.parts_mut() {
            look_up(part, trail, parts)?;
        }
        return Ok(());
    };
    let (name, changes) = split(words);
    let origin =
        Origin::find(name, here.folder()).map_err(|why| DeviceError(format!("{here}: {why}")))?;
    if trail.contains(&origin) {
        let way: Vec<String> = trail.iter().map(Origin::to_string).collect();
        return Err(DeviceError(format!(
            "{origin} is built of itself: {} names it again",
            way.join(", which names ")
        )));
    }
    let mut found = Device::as_in(&origin, changes)?.device;
    trail.push(origin);
    look_up(&mut found, trail, parts)?;
    trail.pop();
    *model = found;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::device::open;

    fn bridge_over(disk: &str) -> String {
        format!(
            r#"
            title = "A bridge"
            description = "For a test."
            [device.bridge]
            command_us = {{ value = 10.0, source = "assumed" }}
            bus_mb_per_s = {{ value = 100.0, source = "assumed" }}
            {disk}
            "#
        )
    }

    fn write(folder: &Path, name: &str, disk: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bridge_over(disk)).expect("a temporary folder is writable");
        path
    }

    #[test]
    fn a_named_device_stands_where_its_name_was() {
        let text = bridge_over(r#"disk = { named = "null" }"#);
        let device = Device::parse(&text, "here").expect("it can be read");
        let Model::Bridge(bridge) = device.device else {
            panic!("a bridge was described");
        };
        assert!(matches!(*bridge.disk, Model::Null(_)));
    }

    #[test]
    fn a_part_may_be_described_in_place() {
        let text = bridge_over(
            r#"[device.bridge.disk.null]
            capacity_bytes = { value = 4096, source = "chosen" }"#,
        );
        let device = Device::parse(&text, "here").expect("it can be read");
        let build = super::super::Build::seeded(1);
        assert_eq!(device.device.build(build).capacity_bytes(), 4096);
    }

    #[test]
    fn files_name_each_other_from_where_they_lie() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let outer = write(
            folder.path(),
            "outer.toml",
            r#"disk = { named = "inner.toml" }"#,
        );
        write(folder.path(), "inner.toml", r#"disk = { named = "null" }"#);
        let device = open(outer.to_str().expect("plain")).expect("both are there");
        let Model::Bridge(bridge) = device.device else {
            panic!("a bridge was described");
        };
        assert!(matches!(*bridge.disk, Model::Bridge(_)));
    }

    #[test]
    fn a_device_built_of_itself_is_refused_with_the_way_round() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = write(folder.path(), "a.toml", r#"disk = { named = "b.toml" }"#);
        // Another path of the same file is no way out.
        write(
            folder.path(),
            "b.toml",
            r#"disk = { named = "./../x/../a.toml" }"#,
        );
        std::fs::create_dir(folder.path().join("x")).expect("writable");
        let inside = folder.path().join("x");
        std::fs::rename(folder.path().join("b.toml"), inside.join("b.toml")).expect("writable");
        write(folder.path(), "a.toml", r#"disk = { named = "x/b.toml" }"#);
        let endless = open(here.to_str().expect("plain"));
        let words = endless.expect_err("it has no end").to_string();
        assert!(words.contains("is built of itself"), "{words}");
        assert!(words.contains("a.toml, which names "), "{words}");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_file_that_names_it() {
        let text = bridge_over(r#"disk = { named = "floppy" }"#);
        let words = Device::parse(&text, "mine").expect_err("no such device");
        let words = words.to_string();
        assert!(
            words.starts_with("mine: there is no device `floppy`"),
            "{words}"
        );
        let text = bridge_over(r#"disk = { named = "/nowhere/floppy.toml" }"#);
        let words = Device::parse(&text, "mine").expect_err("no such file");
        assert!(words.to_string().contains("/nowhere/floppy.toml: "));
    }
}
