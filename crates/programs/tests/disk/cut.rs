//! The power cut of a served disk: what was flushed is there, what was not may be gone, and every request
//! fails in between.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::served::{Served, serve, slow};

/// A spinning disk whose cache holds writes until it is flushed or has nothing else to do.
const CACHED: &str = "fujitsu-mbc2073rc";
const BLOCK: usize = 4096;

fn tracked(device: &str, arguments: &[&str]) -> Served {
    let served = serve(device, &[&["--size", "64 MiB"], arguments].concat());
    served.control(&["track", "on"]);
    served
}

fn write(file: &File, block: u64, byte: u8) {
    file.write_all_at(&[byte; BLOCK], block * BLOCK as u64)
        .expect("written");
}

fn read(file: &File, block: u64) -> Result<u8, Errno> {
    let mut bytes = [0; BLOCK];
    file.read_exact_at(&mut bytes, block * BLOCK as u64)
        .map_err(|error| Errno::from_io_error(&error).expect("the system's"))?;
    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a torn block");
    Ok(bytes[0])
}

fn cut(served: &Served, keep: &str) -> Value {
    served.control(&["cut", "--seed", "3", "--keep", keep])
}

#[test]
fn what_was_flushed_survives_and_what_was_not_is_gone() {
    // A busy machine may come to the cut when all is on the platters already.
    assert!((0..5).any(|_| a_cut_amid_writes()), "never amid writes");
}

/// Cut amid writes and look at what is left; false where the cut came too late to take anything.
fn a_cut_amid_writes() -> bool {
    let served = tracked(CACHED, &[]);
    let file = served.open();
    for block in 0..8 {
        write(&file, block, 1);
    }
    file.sync_data().expect("flushed");
    // Far from each other: a head takes seconds for what a cache takes at once.
    let place = |number: u64| number * 31 + 4;
    for number in 0..512 {
        write(&file, place(number), 2);
    }
    let cut = cut(&served, "nothing");
    let at_risk = cut["at_risk_writes"].as_u64().expect("a number");
    assert!(at_risk <= 512, "{cut}");
    if at_risk == 0 {
        return false;
    }
    assert_eq!(cut["answered_at_risk_writes"], at_risk, "{cut}");
    assert_eq!(cut["at_risk_bytes"], at_risk * BLOCK as u64, "{cut}");
    assert_eq!(cut["lost_bytes"], cut["at_risk_bytes"], "{cut}");
    assert_eq!(
        (&cut["kept"], &cut["under_way"]),
        (&json!("nothing"), &json!(0))
    );
    let flushed_us = cut["last_flush_monotonic_us"].as_u64().expect("one");
    assert!(flushed_us < cut["at_monotonic_us"].as_u64().expect("a moment"));
    assert_eq!(read(&file, 0), Err(Errno::IO));
    served.control(&["restore"]);
    for block in 0..4 {
        assert_eq!(read(&file, block), Ok(1));
    }
    let old = |number: &u64| read(&file, place(*number)) == Ok(u8::from(*number == 0));
    let lost = (0..512).filter(old).count();
    assert_eq!(lost as u64, at_risk);
    true
}

#[test]
fn a_system_that_stops_loses_nothing_of_the_disks() {
    let served = tracked(CACHED, &[]);
    let file = served.open();
    for block in 0..8 {
        write(&file, block, 5);
    }
    let cut = cut(&served, "all");
    assert_eq!(
        (&cut["kept"], &cut["lost_bytes"]),
        (&json!("all"), &json!(0))
    );
    assert!(cut["last_flush_monotonic_us"].is_null());
    served.control(&["restore"]);
    assert!((0..8).all(|block| read(&file, block) == Ok(5)));
}

#[test]
fn every_request_fails_until_the_power_returns() {
    let served = tracked("null", &[]);
    let file = served.open();
    write(&file, 1, 7);
    served.control(&["snapshot", "before"]);
    write(&file, 1, 8);
    cut(&served, "random");
    let io = |outcome: std::io::Result<()>| {
        let error = outcome.expect_err("no power");
        assert_eq!(Errno::from_io_error(&error), Some(Errno::IO));
    };
    for _ in 0..2 {
        io(file.write_all_at(&[9; BLOCK], 0));
        io(file.read_exact_at(&mut [0; BLOCK], 0));
        io(file.sync_data());
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        io(fallocate(&file, punch, 0, BLOCK as u64).map_err(Into::into));
        // Whether requests take time makes no difference.
        served.control(&["timing", "off"]);
    }
    assert_eq!(served.control(&["describe"])["power"], false);
    assert_eq!(served.statistics()["errors"], 8);
    served.control(&["restore"]);
    assert_eq!((read(&file, 0), read(&file, 1)), (Ok(0), Ok(8)));
    assert_eq!(served.control(&["describe"])["power"], true);
    // It is tracked still, and can be cut again; a snapshot brings power back as well.
    cut(&served, "random");
    served.control(&["restore", "before"]);
    assert_eq!(read(&file, 1), Ok(7));
}

#[test]
fn what_is_under_way_fails_at_once() {
    let served = slow(1_000_000, &["--size", "1 MiB"]);
    served.control(&["track", "on"]);
    let file = served.open();
    std::thread::scope(|threads| {
        let writers: Vec<_> = (0..4)
            .map(|block| {
                let file = &file;
                threads.spawn(move || file.write_all_at(&[1; BLOCK], block * BLOCK as u64))
            })
            .collect();
        while served.statistics()["queue_depth"]["max"] != 4 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let cut = cut(&served, "nothing");
        let written = writers
            .into_iter()
            .map(|writer| writer.join().expect("an end"));
        let failed = written.filter(Result::is_err).count();
        assert!(failed > 0, "the machine stood still for seconds");
        assert_eq!(cut["under_way"], failed, "{cut}");
        assert_eq!(cut["at_risk_writes"], failed, "{cut}");
        assert_eq!(cut["answered_at_risk_writes"], 0, "{cut}");
        served.control(&["timing", "off"]);
        served.control(&["restore"]);
        let lost = (0..4).filter(|block| read(&file, *block) == Ok(0)).count();
        assert_eq!(lost, failed);
    });
}

#[test]
fn without_time_everything_is_safe_at_once() {
    let served = tracked(CACHED, &["--timing", "off"]);
    let file = served.open();
    write(&file, 0, 1);
    served.control(&["timing", "on"]);
    for block in 1..5 {
        write(&file, block, 2);
    }
    served.control(&["timing", "off"]);
    write(&file, 5, 3);
    file.sync_data().expect("flushed");
    let cut = cut(&served, "nothing");
    assert_eq!(cut["at_risk_writes"], 0, "{cut}");
    served.control(&["restore"]);
    let found: Vec<_> = (0..6).map(|block| read(&file, block)).collect();
    assert_eq!(found, [1, 2, 2, 2, 2, 3].map(Ok));
}

#[test]
fn what_was_there_before_it_was_tracked_is_safe() {
    let served = serve(CACHED, &["--size", "64 MiB"]);
    let file = served.open();
    write(&file, 0, 1);
    served.control(&["track", "on"]);
    write(&file, 1, 2);
    cut(&served, "nothing");
    served.control(&["restore"]);
    assert_eq!(read(&file, 0), Ok(1));
}

#[test]
fn a_discard_can_be_lost_as_a_write_can() {
    let served = tracked(CACHED, &[]);
    let file = served.open();
    for block in 0..64 {
        write(&file, block, 6);
    }
    file.sync_data().expect("flushed");
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    // Neither end lies at the border of a sector.
    fallocate(&file, punch, 100, 63 * BLOCK as u64).expect("discarded");
    let cut = cut(&served, "nothing");
    served.control(&["restore"]);
    let mut bytes = vec![0; 64 * BLOCK];
    file.read_exact_at(&mut bytes, 0).expect("read");
    let lost = cut["lost_bytes"].as_u64().expect("a number");
    let mut discarded = vec![6; 64 * BLOCK];
    discarded[100..100 + 63 * BLOCK].fill(0);
    // The model may have called it stable already; then it is there as a whole.
    let expected = if lost > 0 {
        vec![6; 64 * BLOCK]
    } else {
        discarded
    };
    assert!(bytes == expected, "{cut}");
}

#[test]
fn what_cannot_be_is_refused_in_words_and_changes_nothing() {
    let served = serve("null", &["--size", "1 MiB"]);
    let refused = |words: &[&str], part: &str| {
        let said = served.try_control(words).expect_err("refused");
        assert!(said.contains(part), "{words:?}: {said}");
    };
    refused(&["cut"], "with `track` first");
    refused(&["restore"], "the power was not cut");
    refused(
        &["track", "off", "--log", "x"],
        "only a tracked disk has a log",
    );
    refused(&["track", "on", "--log", "/nowhere/x"], "cannot be made");
    assert_eq!(served.control(&["describe"])["tracked"], false);
    served.control(&["track", "on"]);
    assert_eq!(served.control(&["describe"])["tracked"], true);
    served.control(&["cut"]);
    refused(&["cut"], "off already");
    refused(&["track", "on"], "restore the disk first");
    refused(&["restore", "nothing"], "no snapshot `nothing`");
    assert_eq!(served.control(&["describe"])["power"], false);
    served.control(&["restore"]);
    served.control(&["track", "off"]);
    refused(&["cut"], "with `track` first");
}

#[test]
fn names_are_in_no_journal() {
    let served = serve("null", &["--size", "8 MiB", "--as", "directory"]);
    for words in [&["track", "on"][..], &["cut"], &["replay", "x"]] {
        let said = served.try_control(words).expect_err("refused");
        assert!(said.contains("serve it as a file"), "{said}");
    }
    std::fs::write(served.mount().join("file"), "there").expect("written");
}
