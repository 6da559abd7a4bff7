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

const COMMAND: Duration = Duration::from_millis(20);

/// That something takes as long as so many commands: never less, and not always more, for others run
/// on this machine, too.
fn takes(commands: u32, act: impl Fn()) {
    let mut taken = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        act();
        taken.push(begun.elapsed());
        let last = begun.elapsed();
        assert!(
            last + COMMAND / 4 > COMMAND * commands,
            "too early: {taken:?}"
        );
        if last < COMMAND * commands + COMMAND * 3 / 4 {
            return;
        }
    }
    panic!("never within {commands} commands: {taken:?}");
}

#[test]
fn the_model_tells_the_time() {
    let served = slow_directory(20_000, &["--size", "64 MiB"]);
    takes(0, || drop(open(&served, "file", O_DIRECT)));
    let direct = open(&served, "file", O_DIRECT);
    let write = || direct.write_all_at(&BLOCK, 0).expect("written");
    let sync = || direct.sync_all().expect("synced");
    let read = || direct.read_exact_at(&mut BLOCK.clone(), 0).expect("read");
    takes(1, write);
    // Itself, the journal, the flush.
    takes(3, || {
        write();
        sync();
    });
    takes(1, sync);
    takes(1, read);
    let cached = open(&served, "other", 0);
    let write = || cached.write_all_at(&BLOCK, 0).expect("written");
    takes(0, write);
    takes(3, || {
        write();
        cached.sync_all().expect("synced");
    });
    takes(0, || {
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(served.mount().join("other"), mode).expect("set");
    });
    served.control(&["timing", "off"]);
    takes(0, || {
        write();
        cached.sync_all().expect("synced");
    });
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
