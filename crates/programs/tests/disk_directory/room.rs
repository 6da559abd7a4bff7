//! The disk's room: how much there is, what happens without any, and that it comes back.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Instant;

use nix::libc::O_DIRECT;
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::{Served, directory, served};

const MEBIBYTE: usize = 1 << 20;

fn free_bytes(served: &Served) -> u64 {
    let found = statvfs(served.mount()).expect("a file system");
    found.f_bavail * found.f_frsize
}

/// Whether so much is free soon: the kernel tells of a closed file a moment later.
fn wait_for_free(served: &Served, bytes: u64) {
    let begun = Instant::now();
    while free_bytes(served) != bytes {
        let free = free_bytes(served);
        assert!(
            begun.elapsed() < served::PATIENCE,
            "{free} bytes are free, not {bytes}"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn what_is_removed_or_cut_is_free_again() {
    let served = directory(&["--size", "64 MiB"]);
    let all = free_bytes(&served);
    assert!(all >= 62 << 20, "a journal takes little: {all}");
    let path = served.mount().join("file");
    fs::write(&path, vec![1; 10 * MEBIBYTE]).expect("written");
    wait_for_free(&served, all - (10 << 20));
    File::options()
        .write(true)
        .open(&path)
        .expect("there")
        .set_len(1)
        .expect("cut");
    wait_for_free(&served, all - 4096);
    fs::remove_file(&path).expect("removed");
    wait_for_free(&served, all);
    let begun = Instant::now();
    // They are let go beside, so it may take a moment.
    while served.statistics()["contents_bytes"] != 0 {
        assert!(
            begun.elapsed() < served::PATIENCE,
            "the bytes are not given back"
        );
    }
}

#[test]
fn a_full_disk_says_so_and_goes_on() {
    let served = directory(&["--size", "16 MiB"]);
    let free = free_bytes(&served);
    let path = served.mount().join("direct");
    let file = File::options()
        .create_new(true)
        .write(true)
        .custom_flags(O_DIRECT)
        .open(&path)
        .expect("new");
    let block = vec![1; MEBIBYTE];
    let mut written = 0;
    let error = loop {
        match file.write_all_at(&block, written) {
            Ok(()) => written += block.len() as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    assert!(written + (2 << 20) > free, "{written} of {free} bytes");
    assert_eq!(file.metadata().expect("open").len(), written);
    let error = fallocate(&file, FallocateFlags::empty(), written, 1 << 30).expect_err("no room");
    assert_eq!(error, rustix::io::Errno::NOSPC);
    // What is cached is only told when it has to reach the disk, as on a network file system.
    let mut cached = File::create_new(served.mount().join("cached")).expect("names need no room");
    let error = cached
        .write_all(&block)
        .and_then(|()| cached.write_all(&block));
    let error = error.and_then(|()| cached.sync_all()).expect_err("no room");
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    drop((file, cached));
    fs::remove_file(path).expect("removed");
    fs::remove_file(served.mount().join("cached")).expect("removed");
    wait_for_free(&served, free);
    fs::write(served.mount().join("again"), &block).expect("room again");
}

#[test]
fn a_full_memory_fails_the_write_and_leaves_the_file_as_it_was() {
    let served = directory(&["--size", "64 MiB", "--memory-limit", "2 MiB"]);
    let path = served.mount().join("file");
    let file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .custom_flags(O_DIRECT)
        .open(&path)
        .expect("new");
    let block = vec![1; MEBIBYTE];
    file.write_all_at(&block, 0).expect("room");
    let error = file
        .write_all_at(&vec![2; 4 * MEBIBYTE], 1 << 20)
        .expect_err("no memory");
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    file.set_len(1 << 20).expect("cut");
    let mut found = vec![0; MEBIBYTE];
    file.read_exact_at(&mut found, 0)
        .expect("what is there is there");
    assert!(found == block);
    assert!(served.statistics()["errors"].as_u64() > Some(0));
}
