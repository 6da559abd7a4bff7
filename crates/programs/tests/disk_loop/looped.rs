//! A file system on a loop device on a served disk; gone with the test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::served::{PATIENCE, Served, is_mounted};

pub(crate) struct Looped {
    pub(crate) served: Served,
    pub(crate) device: PathBuf,
    mount: PathBuf,
}

/// Runs a system's program; what it said.
pub(crate) fn run(program: &str, arguments: &[&Path]) -> String {
    let path = format!(
        "{}:/usr/sbin:/sbin",
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new(program);
    let output = command
        .args(arguments)
        .env("PATH", path)
        .output()
        .expect(program);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn attach(served: &Served) -> PathBuf {
    let file = served.mount().join("disk");
    let options = ["--find", "--show", "--direct-io=on"].map(Path::new);
    let device = run("losetup", &[&options[..], &[&file]].concat());
    PathBuf::from(device.trim_end())
}

impl Looped {
    pub(crate) fn new(served: Served, file_system: &str) -> Self {
        let device = attach(&served);
        let mount = served.folder.path().join("on-it");
        std::fs::create_dir(&mount).expect("made");
        let looped = Self {
            served,
            device,
            mount,
        };
        // mkfs.btrfs gives up if the file below any mounted loop device cannot be read, as that of a killed disk.
        let make =
            format!("mount --bind /dev/null /proc/$$/mounts && exec mkfs.{file_system} -q \"$0\"");
        let unaware_of_mounts = ["--mount", "sh", "-c", &make].map(Path::new);
        run(
            "unshare",
            &[&unaware_of_mounts[..], &[&looped.device]].concat(),
        );
        looped.mount_again();
        looped
    }

    pub(crate) fn mount(&self) -> &Path {
        &self.mount
    }

    /// A loop device anew, after `detach`.
    pub(crate) fn attach_again(&mut self) {
        self.device = attach(&self.served);
    }

    /// Whether the file system can be mounted.
    pub(crate) fn try_mount(&self) -> bool {
        let mut mount = Command::new("mount");
        let status = mount.arg(&self.device).arg(&self.mount).status();
        status.expect("mount starts").success()
    }

    pub(crate) fn mount_again(&self) {
        run("mount", &[&self.device, &self.mount]);
    }

    /// Soon: a program that another test is just starting has our open files until it runs. One with a copy of
    /// all mounts, as `new` starts it, keeps the file system in use until it ends. Mounted again meanwhile, that
    /// would be the same one, whatever a snapshot has put on the disk.
    pub(crate) fn unmount(&self) {
        let begun = Instant::now();
        let wait = || {
            assert!(begun.elapsed() < PATIENCE, "somebody is there");
            std::thread::sleep(Duration::from_millis(10));
        };
        while let Err(error) = unmount(&self.mount, UnmountFlags::empty()) {
            assert_eq!(error, Errno::BUSY);
            wait();
        }
        let alone = OFlags::RDONLY | OFlags::EXCL; // refused while a file system uses the device
        while open(&self.device, alone, Mode::empty()).err() == Some(Errno::BUSY) {
            wait();
        }
    }

    pub(crate) fn detach(&self) {
        run("losetup", &["--detach".as_ref(), self.device.as_path()]);
    }
}

impl Drop for Looped {
    fn drop(&mut self) {
        if is_mounted(&self.mount) {
            let _ = unmount(&self.mount, UnmountFlags::DETACH);
        }
        let name = self.device.file_name().expect("a device").to_owned();
        let backing = Path::new("/sys/block").join(name).join("loop/backing_file");
        let ours = std::fs::read_to_string(backing).is_ok_and(|file| {
            let folder = self.served.folder.path().to_str().expect("plain");
            file.starts_with(folder)
        });
        if ours {
            let _ = Command::new("losetup")
                .arg("--detach")
                .arg(&self.device)
                .status();
        }
    }
}
