//! Faults by schedule, as whoever uses the file meets them.

use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::served::{Served, folder, serve};

const BLOCK: usize = 4096;

fn small() -> Served {
    serve("null", &["--size", "1 MiB"])
}

fn befall(served: &Served, faults: &Value) -> Result<Value, String> {
    let path = served.folder.path().join("faults");
    fs::write(&path, faults.to_string()).expect("written");
    served.try_control(&["faults", path.to_str().expect("plain")])
}

fn schedule(served: &Served, schedule: &Value) {
    let answer = befall(served, &json!({"schedule": schedule, "seed": 1})).expect("scheduled");
    assert_eq!(
        answer["scheduled"],
        schedule.as_array().expect("a list").len()
    );
}

fn errno(outcome: io::Result<()>) -> Option<Errno> {
    let error = outcome.err()?;
    Some(Errno::from_io_error(&error).expect("the system's"))
}

fn write(file: &File, block: u64) -> Option<Errno> {
    errno(file.write_all_at(&[1; BLOCK], block * BLOCK as u64))
}

fn read(file: &File, block: u64) -> Option<Errno> {
    errno(file.read_exact_at(&mut [0; BLOCK], block * BLOCK as u64))
}

#[test]
fn requests_of_one_kind_fail_and_no_others() {
    let served = small();
    let file = served.open();
    schedule(
        &served,
        &json!([{"fault": "error", "on": "flush", "times": 2}]),
    );
    assert_eq!((write(&file, 0), read(&file, 0)), (None, None));
    for failed in [true, true, false] {
        let expected = failed.then_some(Errno::IO);
        assert_eq!(errno(file.sync_data()), expected);
    }
    let statistics = served.statistics();
    assert_eq!(statistics["flush"]["errors"], 2);
    let [befallen] = &statistics["faults"].as_array().expect("a list")[..] else {
        panic!("one fault");
    };
    assert_eq!(
        (&befallen["fault"], &befallen["requests"]),
        (&json!("error"), &json!(2))
    );
    assert_eq!(befallen["first"].as_array().expect("two").len(), 2);
    schedule(&served, &json!([{"fault": "error", "on": "write"}]));
    assert_eq!(write(&file, 3), Some(Errno::IO));
    let first = &served.statistics()["faults"][0]["first"][0];
    assert_eq!(
        (
            &first["request"],
            &first["offset_bytes"],
            &first["length_bytes"]
        ),
        (&json!("write"), &json!(3 * BLOCK), &json!(BLOCK))
    );
    served.control(&["faults", "none"]);
    let mut bytes = [7; BLOCK];
    file.read_exact_at(&mut bytes, 3 * BLOCK as u64)
        .expect("read");
    assert_eq!(bytes, [0; BLOCK], "what failed wrote nothing");
    assert_eq!((write(&file, 3), errno(file.sync_data())), (None, None));
}

#[test]
fn a_disk_has_no_space_for_a_write() {
    let served = small();
    let file = served.open();
    schedule(
        &served,
        &json!([{"fault": "no-space", "after_requests": 1}]),
    );
    assert_eq!(write(&file, 0), None);
    assert_eq!(write(&file, 1), Some(Errno::NOSPC));
    assert_eq!(read(&file, 1), None);
}

#[test]
fn writes_are_answered_and_not_done_as_they_should() {
    let served = small();
    let file = served.open();
    let block = |at: u64| {
        let mut bytes = [9; BLOCK];
        file.read_exact_at(&mut bytes, at * BLOCK as u64)
            .expect("read");
        bytes
    };
    schedule(&served, &json!([{"fault": "lost", "times": 1}]));
    assert_eq!((write(&file, 0), block(0)), (None, [0; BLOCK]));
    assert_eq!((write(&file, 0), block(0)), (None, [1; BLOCK]), "only once");
    schedule(&served, &json!([{"fault": "torn"}]));
    assert_eq!(write(&file, 1), None);
    let count = |at, wanted| -> usize {
        block(at)
            .map(|byte| usize::from(byte == wanted))
            .iter()
            .sum()
    };
    let kept = count(1, 1);
    assert!((512..BLOCK).contains(&kept) && kept % 512 == 0, "{kept}");
}

#[test]
fn an_ignored_flush_saves_nothing_from_a_power_cut() {
    for (faults, kept) in [(json!([]), true), (json!([{"fault": "ignored"}]), false)] {
        let served = serve("desktop-7200", &["--size", "1 MiB"]);
        served.control(&["track", "on"]);
        let file = served.open();
        schedule(&served, &faults);
        assert_eq!((write(&file, 0), errno(file.sync_data())), (None, None));
        let cut = served.control(&["cut", "--seed", "1", "--keep", "nothing"]);
        assert_eq!(cut["lost_bytes"] == 0, kept, "{cut}");
        assert!(cut["last_flush_monotonic_us"].is_u64(), "{cut}");
    }
}

#[test]
fn a_request_that_was_not_done_uses_no_fault_up() {
    let served = serve("null", &["--size", "1 MiB", "--memory-limit", "64 KiB"]);
    served.control(&["track", "on"]);
    let file = served.open();
    let faults = json!([
        {"fault": "error", "on": "flush", "times": 1},
        {"fault": "error", "on": "discard", "times": 1},
    ]);
    schedule(&served, &faults);
    served.control(&["cut"]);
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let discard = || fallocate(&file, punch, 0, BLOCK as u64).err();
    assert_eq!(write(&file, 2), Some(Errno::IO));
    assert_eq!(errno(file.sync_data()), Some(Errno::IO));
    assert_eq!(discard(), Some(Errno::IO));
    let befallen = served.statistics()["faults"].clone();
    let befallen = befallen.as_array().expect("two");
    assert!(befallen.iter().all(|fault| fault["requests"] == 0));
    served.control(&["restore"]);
    for failed in [true, false] {
        let expected = failed.then_some(Errno::IO);
        assert_eq!((errno(file.sync_data()), discard()), (expected, expected));
    }
}

#[test]
fn one_bit_is_turned_over_and_nobody_is_told() {
    let turned = |on: &str| {
        let served = small();
        let file = served.open();
        schedule(
            &served,
            &json!([{"fault": "corrupt", "on": on, "times": 1}]),
        );
        assert_eq!(write(&file, 0), None);
        let read = || {
            let mut bytes = [0; BLOCK];
            file.read_exact_at(&mut bytes, 0).expect("read");
            let bits = bytes.map(|byte| (byte ^ 1).count_ones());
            (bits.iter().sum::<u32>(), bytes)
        };
        [read(), read()]
    };
    let [first, second] = turned("write");
    assert_eq!((first.0, second.0), (1, 1), "it is stored so");
    assert_eq!(first.1, second.1);
    let [first, second] = turned("read");
    assert_eq!((first.0, second.0), (1, 0), "it was read so");
    // The same seed turns over the same bit.
    assert_eq!(turned("read")[0].1, first.1);
}

#[test]
fn answers_come_later_and_those_of_a_stall_at_its_end() {
    let served = small();
    let file = served.open();
    schedule(
        &served,
        &json!([{"fault": "slow", "on": "read", "add_us": 50_000.0, "times": 1}]),
    );
    let taken = |request: &dyn Fn() -> Option<Errno>| {
        let begun = Instant::now();
        assert_eq!(request(), None);
        begun.elapsed()
    };
    // A little of it is taken off for the way to the disk.
    let slow = taken(&|| read(&file, 0));
    assert!(slow > Duration::from_millis(40), "{slow:?}");
    let latency = served.statistics()["read"]["latency_us"]["max"].as_f64();
    assert!(latency > Some(45_000.0), "{latency:?}");
    let begun = Instant::now();
    schedule(&served, &json!([{"fault": "stall", "for_us": 1_000_000}]));
    assert_eq!(write(&file, 0), None);
    // Unless the stall was over before the write came.
    let stalled = begun.elapsed();
    assert!(stalled > Duration::from_millis(900), "{stalled:?}");
}

/// Who waits for a disk that stalls gets an error when the power is cut.
#[test]
fn a_cut_ends_what_a_fault_holds_back() {
    let served = small();
    served.control(&["track", "on"]);
    let file = served.open();
    schedule(&served, &json!([{"fault": "stall", "for_us": 600_000_000}]));
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| write(&file, 0));
        while served.statistics()["queue_depth"]["max"] != 1 {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(served.control(&["cut"])["under_way"], 1);
        assert_eq!(writer.join().expect("an end"), Some(Errno::IO));
    });
}

#[test]
fn faults_come_from_a_file() {
    let place = folder();
    let path = place.path().join("faults.json");
    fs::write(
        &path,
        r#"{"schedule": [{"fault": "error", "on": "write"}]}"#,
    )
    .expect("written");
    let served = small();
    served.control(&["faults", path.to_str().expect("plain")]);
    assert_eq!(write(&served.open(), 0), Some(Errno::IO));
}

#[test]
fn nonsense_is_refused_and_what_was_scheduled_goes_on() {
    let served = small();
    schedule(&served, &json!([{"fault": "error", "on": "write"}]));
    for (faults, part) in [
        (json!({"schedule": [{"fault": "fire"}]}), "fire"),
        (
            json!({"schedule": [{"fault": "error", "chance": 2.0}]}),
            "chance",
        ),
        (json!({"schedule": [{"fault": "stall"}]}), "for_us"),
        (json!({"schedule": [], "sed": 1}), "sed"),
        (json!([]), "not a schedule"),
    ] {
        let said = befall(&served, &faults).expect_err("refused");
        assert!(said.contains(part), "{faults}: {said}");
    }
    let said = served
        .try_control(&["faults", "/nowhere"])
        .expect_err("none");
    assert!(said.contains("/nowhere"), "{said}");
    assert_eq!(write(&served.open(), 0), Some(Errno::IO));
}
