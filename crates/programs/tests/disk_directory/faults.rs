//! Faults by schedule, as whoever uses the files meets them.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use serde_json::{Value, json};

use crate::directory;
use crate::served::Served;

const BLOCK: usize = 4096;

fn schedule(served: &Served, schedule: &Value) {
    let path = served.folder.path().join("faults");
    let faults = json!({"schedule": schedule, "seed": 1});
    fs::write(&path, faults.to_string()).expect("written");
    served.control(&["faults", path.to_str().expect("plain")]);
}

/// Writes a block through the kernel's cache to a file of its own, and syncs it.
fn write(served: &Served, name: &str) -> Result<(), Errno> {
    let file = File::create(served.mount().join(name)).expect("made");
    let written = file
        .write_all_at(&[7; BLOCK], 0)
        .and_then(|()| file.sync_all());
    written.map_err(|error| Errno::from_io_error(&error).expect("the system's"))
}

/// What the disk has, with nothing in the kernel's cache.
fn on_disk(served: &Served, name: &str) -> Vec<u8> {
    served.control(&["snapshot", "now"]);
    served.control(&["restore", "now"]);
    fs::read(served.mount().join(name)).expect("read")
}

#[test]
fn writes_and_flushes_fail_once_and_the_next_is_done() {
    let served = directory(&["--size", "64 MiB"]);
    for (on, fault, errno) in [
        ("flush", "error", Errno::IO),
        ("write", "no-space", Errno::NOSPC),
    ] {
        schedule(&served, &json!([{"fault": fault, "on": on, "times": 1}]));
        assert_eq!(write(&served, on), Err(errno), "{on}");
        assert_eq!(served.statistics()["faults"][0]["requests"], 1);
        assert_eq!(write(&served, on), Ok(()), "{on}");
        assert_eq!(on_disk(&served, on), [7; BLOCK]);
    }
}

#[test]
fn what_is_written_comes_back_wrong_and_nobody_says_so() {
    let served = directory(&["--size", "64 MiB"]);
    for (fault, wrong) in [
        (json!({"fault": "corrupt", "on": "write", "times": 1}), 1),
        (json!({"fault": "lost", "times": 1}), BLOCK),
    ] {
        let name = fault["fault"].as_str().expect("named").to_owned();
        schedule(&served, &json!([fault]));
        assert_eq!(write(&served, &name), Ok(()));
        schedule(&served, &json!([]));
        let read = on_disk(&served, &name);
        let differ = read.iter().filter(|byte| **byte != 7).count();
        assert_eq!((read.len(), differ), (BLOCK, wrong), "{name}");
    }
    schedule(
        &served,
        &json!([{"fault": "corrupt", "on": "read", "times": 1}]),
    );
    assert_ne!(on_disk(&served, "lost"), [0; BLOCK]);
}

#[test]
fn a_stall_holds_back_what_comes_in_it() {
    let served = directory(&["--size", "64 MiB", "--timing", "on"]);
    schedule(&served, &json!([{"fault": "stall", "for_us": 300_000}]));
    let began = Instant::now();
    assert_eq!(write(&served, "file"), Ok(()));
    assert!(began.elapsed() > Duration::from_millis(200));
}

#[test]
fn a_commit_of_the_journal_spends_no_fault_of_bytes() {
    let served = directory(&["--size", "64 MiB"]);
    for fault in ["corrupt", "lost", "torn"] {
        schedule(
            &served,
            &json!([{"fault": fault, "on": "write", "times": 1}]),
        );
        let hit = || served.statistics()["faults"][0]["requests"].clone();
        served.control(&["reset"]);
        let empty = File::create(served.mount().join(fault)).expect("made");
        empty.sync_all().expect("synced");
        drop(empty);
        let [_, writes, flushes] = crate::requests(&served);
        assert_eq!(
            (writes, flushes),
            (1, 1),
            "an empty file has a commit alone"
        );
        assert_eq!(hit(), 0, "{fault}");
        assert_eq!(write(&served, fault), Ok(()));
        assert_eq!(hit(), 1, "{fault}");
        schedule(&served, &json!([]));
        assert_ne!(on_disk(&served, fault), [7; BLOCK], "{fault}");
    }
}
