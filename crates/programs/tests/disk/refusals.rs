//! What cannot be served is refused in words, and leaves nothing behind.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use crate::served::{self, command, folder, is_mounted, serve};

/// What the program says to arguments that it must refuse; by the line on stdout and on stderr alike.
fn refusal(device: &str, folder: &Path, arguments: &[&str]) -> String {
    let said = refused(command(device, folder, arguments));
    assert!(!is_mounted(&folder.join("mount")), "{said}");
    said
}

fn refused(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let line: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    assert_eq!(line["event"], "failed");
    let message = line["message"].as_str().expect("words").to_owned();
    assert!(stderr.contains(&message), "{stderr} is not {message}");
    message
}

#[track_caller]
fn check(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn unknown_devices_and_impossible_sizes() {
    let folder = folder();
    let refuse = |device: &str, arguments: &[&str]| refusal(device, folder.path(), arguments);
    check(&refuse("flying-disk", &[]), &["`flying-disk`", "null"]);
    check(&refuse("./absent.toml", &[]), &["absent.toml"]);
    check(&refuse("null", &["--size", "1000"]), &["1000", "512"]);
    check(&refuse("null", &["--size", "0"]), &["at least one"]);
    check(
        &refuse("null", &["--size", "65 GiB"]),
        &["68719476736", "too many"],
    );
    check(
        &refuse("null", &["--image", "/absent"]),
        &["/absent", "No such file"],
    );
    check(
        &refuse("null", &["--image", "/dev/null"]),
        &["not a regular file"],
    );
    assert!(!folder.path().join("socket").exists());
}

#[test]
fn promises_that_contradict_each_other() {
    let folder = folder();
    let both = ["--flushes", "ignored", "--power-loss", "protected"];
    check(
        &refusal("null", folder.path(), &both),
        &["--flushes", "--power-loss", "leave one out"],
    );
}

#[test]
fn an_image_larger_than_the_disk() {
    let folder = folder();
    let image = folder.path().join("image");
    std::fs::write(&image, [1; 8192]).expect("an image");
    let image = image.to_str().expect("plain");
    let said = refusal("null", folder.path(), &["--image", image, "--size", "4096"]);
    check(&said, &["8192", "4096"]);
}

#[test]
fn a_contents_file_that_is_there_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("precious");
    std::fs::write(&path, "precious").expect("a file");
    let said = refusal(
        "null",
        folder.path(),
        &["--contents", path.to_str().expect("plain")],
    );
    check(&said, &["precious", "must not be there"]);
    assert_eq!(
        std::fs::read_to_string(&path).expect("still there"),
        "precious"
    );
}

#[test]
fn mount_points() {
    let folder = folder();
    let mount = folder.path().join("mount");
    std::fs::write(mount.join("file"), "").expect("a file");
    check(&refusal("null", folder.path(), &[]), &["not empty"]);
    std::fs::remove_file(mount.join("file")).expect("removed");
    std::fs::remove_dir(&mount).expect("removed");
    check(
        &refusal("null", folder.path(), &[]),
        &["No such file", "make the directory"],
    );
    std::fs::write(&mount, "").expect("a file");
    check(&refusal("null", folder.path(), &[]), &["not a directory"]);
}

#[test]
fn a_mount_point_in_use() {
    let served = serve("null", &[]);
    let mut command = Command::new(served::program());
    command
        .args(["serve", "null", "--mount"])
        .arg(served.mount())
        .arg("--socket")
        .arg(served.folder.path().join("other"));
    check(&refused(command), &["mounted", "already"]);
    assert_eq!(served.statistics()["ok"], true, "the first lives on");
    assert!(is_mounted(&served.mount()));
}

#[test]
fn sockets() {
    let served = serve("null", &[]);
    let other = folder();
    let attempt = |socket: &Path| {
        let mut command = Command::new(served::program());
        command
            .args(["serve", "null", "--mount"])
            .arg(other.path().join("mount"))
            .arg("--socket")
            .arg(socket);
        let said = refused(command);
        assert!(!is_mounted(&other.path().join("mount")), "{said}");
        said
    };
    check(&attempt(&served.socket()), &["another program serves"]);
    assert_eq!(served.statistics()["ok"], true, "the first lives on");
    let file = other.path().join("file");
    std::fs::write(&file, "precious").expect("a file");
    check(&attempt(&file), &["not a socket"]);
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "precious");
    let link = other.path().join("link");
    symlink(&file, &link).expect("a link");
    check(&attempt(&link), &["not a socket"]);
    check(
        &attempt(&other.path().join("absent/socket")),
        &["directory"],
    );
    let long = other.path().join("s".repeat(120));
    check(&attempt(&long), &["107 bytes"]);
}

#[test]
fn a_device_faster_than_this_machine() {
    let folder = folder();
    let device = served::slow_device(folder.path(), 2_000);
    let said = refusal(&device, folder.path(), &["--path-us", "3000"]);
    check(&said, &["Slow", "2000.0 us", "3000.0 us", "--below-floor"]);
    let served = served::serve_in(folder, &device, &["--path-us", "3000", "--below-floor"]);
    let label = served.ready["label"].as_str().expect("a label");
    check(
        label,
        &[
            "reads, writes and flushes are slower than modelled",
            "2000.0 us",
        ],
    );
}

/// A way that is said to be short is no shorter than it was measured.
#[test]
fn a_way_said_to_be_short_does_not_make_the_machine_faster() {
    let folder = folder();
    let device = served::slow_device(folder.path(), 1);
    let said = refusal(&device, folder.path(), &["--path-us", "0"]);
    check(&said, &["1.0 us", "--below-floor"]);
}

#[test]
fn words_that_are_no_numbers() {
    let folder = folder();
    for arguments in [
        ["--size", "much"],
        ["--size", "1.5 GiB"],
        ["--path-us", "NaN"],
        ["--path-us", "2000000"],
        ["--timing", "perhaps"],
        ["--memory-limit", "1 gb"],
        ["--seed", "x"],
    ] {
        let output = command("null", folder.path(), &arguments)
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        check(&said, &[arguments[0]]);
    }
}

/// A machine without the kernel's door: a private /dev without `fuse` in it.
#[test]
fn a_machine_without_fuse() {
    let folder = folder();
    let script = format!(
        "mount -t tmpfs none /dev && exec {} serve null --mount {} --socket {}",
        served::program(),
        folder.path().join("mount").display(),
        folder.path().join("socket").display()
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]);
    check(&refused(command), &["/dev/fuse", "modprobe fuse"]);
}

#[test]
fn nobody_listens() {
    let folder = TempDir::new().expect("a folder");
    let output = Command::new(served::program())
        .arg("control")
        .arg(folder.path().join("socket"))
        .arg("statistics")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    check(
        &String::from_utf8_lossy(&output.stderr),
        &["no disk is served", "socket"],
    );
}

#[test]
fn the_floor_is_measured() {
    let temporary = TempDir::new().expect("a folder");
    let output = Command::new(served::program())
        .args(["floor", "--json"])
        .env("TMPDIR", temporary.path())
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let left = std::fs::read_dir(temporary.path())
        .expect("a folder")
        .count();
    assert_eq!(left, 0, "nothing stays, mounted or not");
    let floor: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let us = floor["floor_us"].as_f64().expect("a number");
    assert!(us > 1.0 && us < 1e6, "{us}");
}

/// Somebody who loses patience finds nothing left behind.
#[test]
fn a_measurement_of_the_floor_can_be_interrupted() {
    let temporary = TempDir::new().expect("a folder");
    let mut process = Command::new(served::program())
        .args(["floor"])
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    let mounted = loop {
        let entries = std::fs::read_dir(temporary.path()).expect("a folder");
        let mut found = entries.filter_map(Result::ok).map(|entry| entry.path());
        if let Some(mounted) = found.find(|path| is_mounted(path)) {
            break mounted;
        }
        assert!(begun.elapsed() < served::PATIENCE, "it never mounts");
        assert!(process.try_wait().expect("a child").is_none(), "it ended");
    };
    let pid = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it lives");
    let status = served::wait_for(&mut process);
    assert!(!is_mounted(&mounted), "the mount is still there");
    assert_eq!(status.code(), Some(2), "in its own time, not by the signal");
    let left = std::fs::read_dir(temporary.path()).expect("a folder");
    assert_eq!(left.count(), 0, "nothing stays");
}
