//! The whole path: the FUSE file, a loop device with direct I/O on it, a file system on that. Only root
//! has it; for others there is nothing here to test.

#[allow(dead_code, reason = "shared with the tests of disks as files")]
#[path = "../disk/served.rs"]
mod served;

mod cuts;
mod looped;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::Signal;

use looped::{Looped, run};
use served::{PATIENCE, serve, slow};

/// xfs takes no less than 300 MiB.
const SIZE: &str = "320 MiB";

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Files of all sizes in a few directories; the same for the same seed.
fn fill(folder: &Path, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for number in 0..120 {
        let below = folder.join(format!("folder-{}", number % 7));
        fs::create_dir_all(&below).expect("made");
        let at_most = 1_usize << random.random_range(4..18);
        let length = random.random_range(0..at_most);
        let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
        let mut file = File::create(below.join(format!("file-{number}"))).expect("new");
        file.write_all(&bytes).expect("written");
        if number % 5 == 0 {
            file.sync_all().expect("synced");
        }
    }
}

/// What `fill` would write there is there.
fn check(folder: &Path, seed: u64) {
    let expected = tempfile::tempdir().expect("a folder");
    fill(expected.path(), seed);
    run(
        "diff",
        &["-r".as_ref(), expected.path(), &folder.join("data")],
    );
}

fn lives_on(file_system: &str, check_command: &[&str]) {
    if !is_root() {
        return;
    }
    let looped = Looped::new(serve("null", &["--size", SIZE]), file_system);
    fill(&looped.mount().join("data"), 1);
    fill(&looped.mount().join("removed"), 2);
    run("sync", &["--file-system".as_ref(), looped.mount()]);
    fs::remove_dir_all(looped.mount().join("removed")).expect("removed");
    run("fstrim", &[looped.mount()]);
    looped.unmount();
    looped.served.control(&["snapshot", "filled"]);
    let mut command: Vec<&Path> = check_command[1..].iter().map(Path::new).collect();
    command.push(&looped.device);
    run(check_command[0], &command);
    looped.mount_again();
    check(looped.mount(), 1);
    fs::remove_dir_all(looped.mount().join("data")).expect("removed");
    fill(&looped.mount().join("other"), 3);
    looped.unmount();
    looped.served.control(&["restore", "filled"]);
    looped.mount_again();
    check(looped.mount(), 1);
    assert!(!looped.mount().join("other").exists());
    assert_eq!(looped.served.statistics()["errors"], 0);
}

#[test]
fn ext4_lives_on_it() {
    lives_on("ext4", &["fsck.ext4", "-fn"]);
}

#[test]
fn xfs_lives_on_it() {
    lives_on("xfs", &["xfs_repair", "-n"]);
}

#[test]
fn btrfs_lives_on_it() {
    lives_on("btrfs", &["btrfs", "check"]);
}

/// How a disk ends under those who use it.
fn ends(file_system: &str, end: impl FnOnce(&Looped)) {
    let mut looped = Looped::new(
        slow(2_000, &["--size", SIZE, "--timing", "off"]),
        file_system,
    );
    looped.served.control(&["timing", "on"]);
    let writers: Vec<_> = (0..4)
        .map(|number| {
            let file = File::create(looped.mount().join(format!("{number}"))).expect("new");
            std::thread::spawn(move || {
                let mut at = 0;
                while file
                    .write_all_at(&[1; 8192], at)
                    .and_then(|()| file.sync_data())
                    .is_ok()
                {
                    at += 8192;
                }
                at
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    end(&looped);
    let begun = Instant::now();
    let written: u64 = writers
        .into_iter()
        .map(|writer| writer.join().expect("it got an error"))
        .sum();
    assert!(written > 0, "something was under way");
    // In this order it all goes away, whatever became of the program: the file system, the loop
    // device, the program's mount. Were the mount first, the kernel's list would no longer tell
    // which file the loop device is on.
    looped.unmount();
    looped.detach();
    looped.served.ended();
    if served::is_mounted(&looped.served.mount()) {
        unmount(looped.served.mount(), UnmountFlags::empty()).expect("nobody is there");
    }
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert!(!served::is_mounted(&looped.served.mount()));
}

#[test]
fn a_program_killed_under_writers_leaves_errors_and_no_wait() {
    if is_root() {
        for file_system in ["ext4", "xfs"] {
            ends(file_system, |looped| looped.served.signal(Signal::KILL));
        }
    }
}

#[test]
fn a_detach_under_writers_leaves_errors_and_no_wait() {
    if is_root() {
        ends("ext4", |looped| {
            looped.served.control(&["detach"]);
        });
    }
}

#[test]
fn a_full_memory_is_an_error_to_the_file_system_and_no_wait() {
    if !is_root() {
        return;
    }
    let arguments = ["--size", SIZE, "--memory-limit", "40 MiB"];
    let looped = Looped::new(serve("null", &arguments), "ext4");
    let mut file = File::create(looped.mount().join("large")).expect("new");
    let bytes = vec![1; 60 << 20];
    let outcome = file.write_all(&bytes).and_then(|()| file.sync_all());
    assert!(outcome.is_err());
    drop(file);
    looped.unmount();
    assert!(looped.served.statistics()["errors"].as_u64() > Some(0));
}

/// A log on the disk's own file system would wait for its own requests, as one in the mount.
#[test]
fn hostile_logs_on_a_file_system_on_the_disk() {
    if !is_root() {
        return;
    }
    let looped = Looped::new(serve("null", &["--size", "32 MiB"]), "ext4");
    let log = looped.mount().join("log");
    let log = log.to_str().expect("plain");
    let said = looped
        .served
        .try_control(&["track", "on", "--log", log])
        .expect_err("on itself");
    assert!(said.contains("lies on this disk"), "{said}");
    looped.unmount();
}
