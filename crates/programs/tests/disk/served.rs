//! A served disk: started, asked, and ended with the test.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than any orderly thing takes; what takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_diskproof-disk")
}

pub(crate) struct Served {
    pub(crate) process: Child,
    pub(crate) ready: Value,
    pub(crate) folder: TempDir,
    _stdout: BufReader<ChildStdout>,
}

/// FUSE for every user while a disk is mounted, as udev's rule gives it; without udev its device is root's
/// alone. One test at a time, and as it was in the end.
pub(crate) struct FuseForAll {
    was: Permissions,
    _turn: MutexGuard<'static, ()>,
}

impl FuseForAll {
    const DEVICE: &str = "/dev/fuse";

    pub(crate) fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let was = fs::metadata(Self::DEVICE).expect("FUSE").permissions();
        fs::set_permissions(Self::DEVICE, Permissions::from_mode(0o666)).expect("root's leave");
        Self { was, _turn: turn }
    }
}

impl Drop for FuseForAll {
    fn drop(&mut self) {
        let _ = fs::set_permissions(Self::DEVICE, self.was.clone());
    }
}

/// An empty folder with a mount point in it.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("mount")).expect("a mount point");
    folder
}

/// The command that serves a device there, to which more may be added.
pub(crate) fn command(device: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(["serve", device, "--mount"])
        .arg(folder.join("mount"))
        .arg("--socket")
        .arg(folder.join("socket"))
        .args(arguments);
    command
}

/// Serves a device.
pub(crate) fn serve(device: &str, arguments: &[&str]) -> Served {
    serve_in(folder(), device, arguments)
}

pub(crate) fn serve_in(folder: TempDir, device: &str, arguments: &[&str]) -> Served {
    let command = command(device, folder.path(), arguments);
    start(folder, command)
}

pub(crate) fn start(folder: TempDir, mut command: Command) -> Served {
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let ready: Value = serde_json::from_str(&line).expect(&line);
    assert_eq!(ready["event"], "ready", "{line}");
    Served {
        process,
        ready,
        folder,
        _stdout: stdout,
    }
}

/// A disk whose every command takes so long, one at a time.
pub(crate) fn slow(command_us: u32, arguments: &[&str]) -> Served {
    let folder = folder();
    let device = slow_device(folder.path(), command_us);
    serve_in(folder, &device, arguments)
}

pub(crate) fn slow_device(folder: &Path, command_us: u32) -> String {
    let path = folder.join("slow.toml");
    let text = format!(
        r#"
title = "Slow"
description = "One command at a time, each as long as the other."

[device.bridge]
command_us = {{ value = {command_us}.0, source = "chosen" }}
bus_mb_per_s = {{ value = 1e6, source = "chosen: no time" }}
disk = {{ named = "null" }}
"#
    );
    std::fs::write(&path, text).expect("a device file");
    path.to_str().expect("a plain path").to_owned()
}

impl Served {
    pub(crate) fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(crate) fn open(&self) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.mount().join("disk"))
            .expect("the disk opens")
    }

    /// Runs `diskproof-disk control`; its answer, or what it said.
    pub(crate) fn try_control(&self, words: &[&str]) -> Result<Value, String> {
        let output = Command::new(program())
            .arg("control")
            .arg(self.socket())
            .args(words)
            .output()
            .expect("the program starts");
        if output.status.success() {
            Ok(serde_json::from_slice(&output.stdout).expect("an answer"))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    pub(crate) fn control(&self, words: &[&str]) -> Value {
        self.try_control(words)
            .unwrap_or_else(|said| panic!("{words:?}: {said}"))
    }

    pub(crate) fn statistics(&self) -> Value {
        self.control(&["statistics"])
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, signal).expect("it lives");
    }

    /// Waits for its end; its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        wait_for(&mut self.process).code()
    }

    /// That nothing is mounted and no socket left.
    pub(crate) fn check_clean(&self) {
        assert!(!is_mounted(&self.mount()), "the mount is still there");
        assert!(!self.socket().exists(), "the socket is still there");
    }
}

pub(crate) fn wait_for(process: &mut Child) -> std::process::ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait().expect("a child") {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "the program does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn is_mounted(directory: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    let directory = directory.to_str().expect("a plain path");
    mounts
        .lines()
        .any(|line| line.split(' ').nth(1) == Some(directory))
}

impl Drop for Served {
    /// Whatever the test did or failed at, nothing stays behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if is_mounted(&self.mount()) {
            let _ = rustix::mount::unmount(self.mount(), rustix::mount::UnmountFlags::DETACH);
        }
    }
}
