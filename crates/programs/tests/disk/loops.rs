//! A block device on the disk, and a file system on that: the way a database takes.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};

use crate::served::{PATIENCE, Served, is_mounted, serve};

/// A loop device with ext4 on it, mounted; gone with the test, whatever became of the disk.
struct Mounted {
    device: String,
    directory: PathBuf,
}

#[track_caller]
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

impl Mounted {
    fn on(served: &Served) -> Self {
        let disk = served.mount().join("disk");
        let loop_arguments = ["--find", "--show", "--direct-io=on", text(&disk)];
        let mounted = Self {
            device: run("losetup", &loop_arguments),
            directory: served.folder.path().join("files"),
        };
        std::fs::create_dir_all(&mounted.directory).expect("a directory");
        run("mkfs.ext4", &["-q", &mounted.device]);
        mounted.mount();
        mounted
    }

    fn mount(&self) {
        run("mount", &[&self.device, text(&self.directory)]);
    }

    /// A process that another test is about to start may hold our files for a moment.
    fn unmount(&self) {
        let begun = Instant::now();
        while let Err(error) = unmount(&self.directory, UnmountFlags::empty()) {
            assert_eq!(error, rustix::io::Errno::BUSY);
            assert!(begun.elapsed() < PATIENCE, "it cannot be unmounted");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.join("file")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if is_mounted(&self.directory) {
            let _ = unmount(&self.directory, UnmountFlags::DETACH);
        }
        let _ = Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
    }
}

#[test]
fn a_file_system_is_kept_and_put_back() {
    let served = serve("null", &["--size", "256 MiB"]);
    let mounted = Mounted::on(&served);
    // mkfs gives all that was there before back to the disk.
    assert!(served.statistics()["discard"]["requests"].as_u64() > Some(0));
    let before = served.statistics()["flush"]["requests"].as_u64();
    let mut file = std::fs::File::create(mounted.file()).expect("made");
    file.write_all(b"as loaded").expect("written");
    file.sync_all().expect("synced");
    assert!(
        served.statistics()["flush"]["requests"].as_u64() > before,
        "a sync is a flush"
    );
    drop(file);
    mounted.unmount();
    served.control(&["snapshot", "loaded"]);
    mounted.mount();
    std::fs::write(mounted.file(), "changed by a trial, and longer").expect("written");
    mounted.unmount();
    served.control(&["restore", "loaded"]);
    mounted.mount();
    let found = std::fs::read_to_string(mounted.file()).expect("read");
    assert_eq!(found, "as loaded");
    mounted.unmount();
    assert_eq!(served.statistics()["errors"], 0);
}

/// Whoever has the disk mounted gets errors, and everything can be taken away.
#[test]
fn a_detach_beneath_a_mounted_file_system() {
    let mut served = serve("null", &["--size", "64 MiB"]);
    let mounted = Mounted::on(&served);
    let file = std::fs::File::create(mounted.file()).expect("made");
    file.write_all_at(&[1; 4096], 0).expect("written");
    served.control(&["detach"]);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
    let error = file.sync_all().expect_err("the disk is gone");
    assert_eq!(
        rustix::io::Errno::from_io_error(&error),
        Some(rustix::io::Errno::IO)
    );
    drop(file);
    mounted.unmount();
    drop(mounted);
    let disk = served.mount().join("disk");
    let begun = Instant::now();
    while run("losetup", &["--all"]).contains(text(&disk)) {
        assert!(begun.elapsed() < PATIENCE, "the loop device stays");
    }
}

/// Memory that is full is a disk that is full, to a file system, too.
#[test]
fn a_full_memory_beneath_a_file_system() {
    let served = serve("null", &["--size", "64 MiB", "--memory-limit", "16 MiB"]);
    let mounted = Mounted::on(&served);
    let file = std::fs::File::create(mounted.file()).expect("made");
    let piece = vec![1; 1 << 20];
    let failed = (0..48).any(|number| {
        file.write_all_at(&piece, number << 20).is_err() || file.sync_data().is_err()
    });
    assert!(failed, "48 MiB do not fit");
    assert!(served.statistics()["errors"].as_u64() > Some(0));
    drop(file);
    mounted.unmount();
    assert_eq!(served.statistics()["ok"], true);
}
