//! What goes to the disk, when, and how long it takes.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::time::{Duration, Instant};

use nix::libc::{O_DIRECT, O_DSYNC, O_SYNC};

use crate::{directory, requests, slow_directory};

const BLOCK: [u8; 4096] = [7; 4096];

fn open(served: &crate::Served, name: &str, flags: i32) -> File {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(served.mount().join(name))
        .expect("it opens")
}

#[test]
fn a_sync_writes_what_is_cached_then_the_journal_then_flushes() {
    let served = directory(&["--size", "64 MiB"]);
    let file = open(&served, "file", 0);
    file.write_all_at(&BLOCK, 0).expect("written");
    // The kernel may have thought it time to write it before.
    file.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 2, 1], "its block and the journal's");
    file.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 0, 1], "nothing has changed");
    file.write_all_at(&BLOCK, 0).expect("written");
    file.sync_data().expect("synced");
    assert_eq!(
        requests(&served),
        [0, 1, 1],
        "the times need not be durable"
    );
    file.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 1, 1], "now they are");
    file.write_all_at(&BLOCK, 4096).expect("written");
    file.sync_data().expect("synced");
    assert_eq!(
        requests(&served),
        [0, 2, 1],
        "without its new size it could not be found"
    );
}

#[test]
fn a_synced_directory_writes_the_journal_once() {
    let served = directory(&["--size", "64 MiB"]);
    let folder = File::open(served.mount()).expect("the root");
    open(&served, "file", 0);
    folder.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 1, 1]);
    folder.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 0, 1]);
    fs::rename(served.mount().join("file"), served.mount().join("other")).expect("renamed");
    folder.sync_all().expect("synced");
    assert_eq!(requests(&served), [0, 1, 1]);
}

#[test]
fn each_write_of_a_synchronous_file_is_synced() {
    let served = directory(&["--size", "64 MiB"]);
    for (name, direct) in [("cached", 0), ("direct", O_DIRECT)] {
        // Its blocks and its size are durable before.
        let file = open(&served, name, 0);
        file.write_all_at(&[1; 8192], 0).expect("written");
        file.sync_all().expect("synced");
        requests(&served);
        let data = open(&served, name, direct | O_DSYNC);
        data.write_all_at(&BLOCK, 0).expect("written");
        assert_eq!(requests(&served), [0, 1, 1], "{name}, O_DSYNC");
        let all = open(&served, name, direct | O_SYNC);
        all.write_all_at(&BLOCK, 4096).expect("written");
        assert_eq!(requests(&served), [0, 2, 1], "{name}, O_SYNC");
    }
}

#[test]
fn what_is_cached_is_not_read_again_and_what_is_direct_is() {
    let served = directory(&["--size", "64 MiB"]);
    let cached = open(&served, "file", 0);
    cached.write_all_at(&vec![1; 65_536], 0).expect("written");
    cached.sync_all().expect("synced");
    requests(&served);
    let mut bytes = vec![0; 65_536];
    cached.read_exact_at(&mut bytes, 0).expect("read");
    assert_eq!(requests(&served), [0, 0, 0]);
    let direct = open(&served, "file", O_DIRECT);
    direct.read_exact_at(&mut bytes, 0).expect("read");
    assert_eq!(requests(&served), [1, 0, 0], "in one piece");
    cached.read_exact_at(&mut bytes, 0).expect("read");
    assert_eq!(requests(&served), [0, 0, 0], "the cache is still there");
    direct.write_all_at(&[2; 512], 512).expect("written");
    let statistics = served.statistics();
    assert_eq!(statistics["write"]["bytes"], 512, "a sector is enough");
}

#[test]
fn a_hole_takes_no_time() {
    let served = directory(&["--size", "64 MiB"]);
    let file = open(&served, "file", O_DIRECT);
    file.set_len(1 << 20).expect("grown");
    file.write_all_at(&BLOCK, 8192).expect("written");
    requests(&served);
    let mut bytes = vec![1; 1 << 20];
    file.read_exact_at(&mut bytes, 0).expect("read");
    assert_eq!(requests(&served), [1, 0, 0]);
    assert!(bytes[..8192].iter().all(|byte| *byte == 0));
}

#[test]
fn the_model_tells_the_time() {
    const COMMAND: Duration = Duration::from_millis(20);
    let served = slow_directory(20_000, &["--size", "64 MiB"]);
    // Others run on this machine: late is no fault here, early is.
    let taken = |act: &mut dyn FnMut()| {
        let begun = Instant::now();
        act();
        let commands = (begun.elapsed() + COMMAND / 4).as_nanos() / COMMAND.as_nanos();
        u32::try_from(commands).expect("few")
    };
    let mut direct = None;
    let opened = taken(&mut || direct = Some(open(&served, "file", O_DIRECT)));
    assert_eq!(opened, 0, "names take no time");
    let direct = direct.expect("opened");
    assert_eq!(
        taken(&mut || direct.write_all_at(&BLOCK, 0).expect("written")),
        1
    );
    assert_eq!(
        taken(&mut || direct.sync_all().expect("synced")),
        2,
        "journal and flush"
    );
    assert_eq!(
        taken(&mut || direct.sync_all().expect("synced")),
        1,
        "flush"
    );
    let mut bytes = BLOCK;
    assert_eq!(
        taken(&mut || direct.read_exact_at(&mut bytes, 0).expect("read")),
        1
    );
    let cached = open(&served, "other", 0);
    let mut write = || cached.write_all_at(&BLOCK, 0).expect("written");
    assert_eq!(taken(&mut write), 0, "it lies in the kernel's cache");
    assert_eq!(taken(&mut || cached.sync_all().expect("synced")), 3);
    let mode = fs::Permissions::from_mode(0o600);
    let mut change =
        || fs::set_permissions(served.mount().join("other"), mode.clone()).expect("set");
    assert_eq!(taken(&mut change), 0);
    served.control(&["timing", "off"]);
    assert_eq!(taken(&mut || cached.sync_all().expect("synced")), 0);
}

#[test]
fn whoever_syncs_at_once_shares_a_commit() {
    const FILES: usize = 8;
    let served = slow_directory(20_000, &["--size", "64 MiB"]);
    let files: Vec<File> = (0..FILES)
        .map(|number| open(&served, &format!("file-{number}"), 0))
        .collect();
    requests(&served);
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| file.sync_all().expect("synced"));
        }
    });
    let [_, writes, flushes] = requests(&served);
    assert!(writes < 4, "{writes} commits for {FILES} files");
    assert!(flushes <= FILES as u64, "{flushes}");
}
