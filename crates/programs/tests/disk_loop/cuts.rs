//! A power cut under a file system: its journal recovers, and what was synced is there with its bytes.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::looped::{Looped, run};
use crate::served::serve;
use crate::{SIZE, is_root};

/// A spinning disk whose cache holds writes until it is flushed, or has nothing else to do.
const CACHED: &str = "fujitsu-mbc2073rc";
const FILES: u8 = 24;

fn tracked(arguments: &[&str]) -> Looped {
    let served = serve(
        CACHED,
        &[&["--size", SIZE, "--timing", "off"], arguments].concat(),
    );
    let looped = Looped::new(served, "ext4");
    run("sync", &["--file-system".as_ref(), looped.mount()]);
    looped.served.control(&["track", "on"]);
    looped.served.control(&["timing", "on"]);
    looped
}

fn write_file(folder: &Path, number: u8, sync: bool) {
    let mut file = File::create(folder.join(format!("{number}"))).expect("new");
    file.write_all(&[number; 12_000]).expect("written");
    if sync {
        file.sync_all().expect("synced");
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .expect("synced");
    }
}

/// Cuts the power, and brings it back under a new loop device, as after a start of the machine; whether
/// the file system can be mounted.
fn cut(looped: &mut Looped, seed: &str, keep: &str) -> bool {
    let answer = looped
        .served
        .control(&["cut", "--seed", seed, "--keep", keep]);
    assert!(answer["last_flush_monotonic_us"].as_u64() < answer["at_monotonic_us"].as_u64());
    looped.unmount();
    looped.detach();
    looped.served.control(&["timing", "off"]);
    looped.served.control(&["restore"]);
    looped.attach_again();
    looped.try_mount()
}

fn is_whole(folder: &Path, number: u8) -> bool {
    fs::read(folder.join(format!("{number}"))).is_ok_and(|bytes| bytes == [number; 12_000])
}

#[test]
fn what_was_synced_survives_a_cut_of_an_honest_disk() {
    if !is_root() {
        return;
    }
    for (seed, keep) in [("1", "nothing"), ("2", "subset"), ("3", "prefix")] {
        let mut looped = tracked(&[]);
        for number in 0..FILES {
            write_file(looped.mount(), number, number % 2 == 0);
        }
        assert!(cut(&mut looped, seed, keep), "the journal recovers");
        let folder = looped.mount();
        for number in (0..FILES).step_by(2) {
            assert!(is_whole(folder, number), "{keep}: {number} was synced");
        }
        // The last one was neither synced nor written back by the system in so short a time.
        assert!(!is_whole(folder, FILES - 1), "{keep}: who wrote it?");
        looped.unmount();
        run("fsck.ext4", &["-fn".as_ref(), looped.device.as_path()]);
    }
}

#[test]
fn a_disk_that_ignores_flushes_loses_what_was_synced() {
    if !is_root() {
        return;
    }
    // A disk that is given the time writes all by itself: a machine that stalls gives it.
    let loses = |seed: &str| {
        let mut looped = tracked(&["--flushes", "ignored"]);
        for number in 0..FILES {
            write_file(looped.mount(), number, true);
        }
        !cut(&mut looped, seed, "nothing")
            || (0..FILES).any(|number| !is_whole(looped.mount(), number))
    };
    assert!(["1", "2", "3", "4", "5"].into_iter().any(loses));
}

/// The page cache is lost, the disk's own is kept: what was synced is there even if flushes do nothing.
#[test]
fn a_system_that_stops_keeps_what_the_disk_was_given() {
    if !is_root() {
        return;
    }
    let mut looped = tracked(&["--flushes", "ignored"]);
    for number in 0..FILES {
        write_file(looped.mount(), number, number % 2 == 0);
    }
    assert!(cut(&mut looped, "1", "all"), "the journal recovers");
    for number in (0..FILES).step_by(2) {
        assert!(is_whole(looped.mount(), number), "{number} was synced");
    }
    assert!(!is_whole(looped.mount(), FILES - 1), "who wrote it?");
}
