//! Answers leave when the model says.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};
use serde_json::Value;

use crate::served::{Served, serve, slow};

const COMMAND_US: u32 = 5_000;
const COMMAND: Duration = Duration::from_micros(COMMAND_US as u64);

/// How long reads took, one after the other.
fn reads(file: &File, count: u32) -> Vec<Duration> {
    let mut block = [0; 4096];
    (0..count)
        .map(|number| {
            let begun = Instant::now();
            file.read_exact_at(&mut block, u64::from(number) * 4096)
                .expect("read");
            begun.elapsed()
        })
        .collect()
}

/// The shortest of them. Others run on this machine and make some wait longer; nothing makes one
/// wait less.
fn shortest(taken: &[Duration]) -> Duration {
    *taken.iter().min().expect("some")
}

/// What may pass between a program and a disk besides.
const ALLOWED: Duration = Duration::from_micros(500);

#[track_caller]
fn check_near(taken: Duration, expected: Duration) {
    assert!(taken + ALLOWED > expected, "{taken:?} is too early");
    assert!(taken < expected + ALLOWED, "{taken:?} is too late");
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_read_takes_the_models_time_and_not_ours_besides() {
    let served = slow(COMMAND_US, &[]);
    check_near(shortest(&reads(&served.open(), 61)), COMMAND);
    let statistics = served.statistics();
    let read = &statistics["read"];
    assert_eq!(read["requests"], 61);
    // The model's own latency is exact to the histogram's three digits.
    for figure in ["mean", "p50", "p99", "max"] {
        let us = number(&read["latency_us"][figure]);
        assert!(
            (us / f64::from(COMMAND_US) - 1.0).abs() < 0.02,
            "{figure}: {us}"
        );
    }
    assert!(
        number(&statistics["lateness_us"]["p50"]) < f64::from(COMMAND_US) / 2.0,
        "{statistics}"
    );
    // One request under way for 61 times 5 ms.
    let area = number(&statistics["queue_depth"]["mean"]) * number(&statistics["seconds"]);
    assert!((area / 0.305 - 1.0).abs() < 0.02, "{statistics}");
    assert_eq!(statistics["queue_depth"]["max"], 1);
}

#[test]
fn what_the_way_costs_is_taken_off() {
    let served = slow(COMMAND_US, &["--path-us", "3000"]);
    assert_eq!(served.ready["path_us"], 3000.0);
    let label = served.ready["label"].as_str().expect("a label");
    assert!(label.contains("may be slower than modelled"), "{label}");
    let file = served.open();
    // Each after a pause: this way costs less than is said, and whoever asks again at once comes
    // while the disk is still at the last request.
    let taken: Vec<Duration> = (0..21)
        .map(|_| {
            std::thread::sleep(COMMAND);
            reads(&file, 1)[0]
        })
        .collect();
    check_near(shortest(&taken), Duration::from_millis(2));
    let p50 = number(&served.statistics()["read"]["latency_us"]["p50"]);
    assert!((p50 / f64::from(COMMAND_US) - 1.0).abs() < 0.02, "{p50}");
}

#[test]
fn one_command_at_a_time_makes_a_queue() {
    let served = slow(COMMAND_US, &[]);
    let file = served.open();
    let begun = Instant::now();
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| reads(&file, 5));
        }
    });
    let taken = begun.elapsed();
    assert!(taken > 39 * COMMAND, "{taken:?}");
    assert!(taken < 55 * COMMAND, "{taken:?}");
    let statistics = served.statistics();
    assert_eq!(statistics["read"]["requests"], 40);
    assert_eq!(statistics["queue_depth"]["max"], 8);
    let longest = number(&statistics["read"]["latency_us"]["max"]);
    assert!(longest > 6.5 * f64::from(COMMAND_US), "{longest}");
}

#[test]
fn timing_is_switched_under_way() {
    let served = slow(COMMAND_US, &["--timing", "off"]);
    let file = served.open();
    let fast = shortest(&reads(&file, 21));
    assert!(fast < COMMAND / 2, "{fast:?} with timing off");
    assert_eq!(served.statistics()["timed_requests"], 0);
    assert!(served.statistics()["lateness_us"].is_null());
    served.control(&["timing", "on"]);
    assert_eq!(served.control(&["describe"])["timing"], true);
    let slow = shortest(&reads(&file, 5));
    assert!(slow > COMMAND / 2, "{slow:?} with timing on");
    served.control(&["timing", "off"]);
    let fast = shortest(&reads(&file, 21));
    assert!(fast < COMMAND / 2, "{fast:?} with timing off again");
    let statistics = served.statistics();
    assert_eq!(statistics["timed_requests"], 5);
    assert_eq!(statistics["read"]["requests"], 47);
}

#[test]
fn what_is_under_way_keeps_its_time_when_timing_ends() {
    let served = slow(200_000, &[]);
    let file = served.open();
    let begun = Instant::now();
    std::thread::scope(|threads| {
        let read = threads.spawn(|| reads(&file, 1)[0]);
        std::thread::sleep(Duration::from_millis(50));
        served.control(&["timing", "off"]);
        let taken = read.join().expect("read");
        assert!(taken > Duration::from_millis(190), "{taken:?}");
    });
    assert!(begun.elapsed() < Duration::from_millis(600));
}

#[test]
fn every_kind_is_counted() {
    let served = serve("null", &["--size", "1 MiB"]);
    let file = served.open();
    for number in 0..7 {
        file.write_all_at(&[1; 8192], number * 8192)
            .expect("written");
    }
    for _ in 0..3 {
        file.sync_data().expect("flushed");
    }
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, hole, 0, 16 * 1024).expect("discarded");
    reads(&file, 5);
    let statistics = served.statistics();
    for (kind, requests, bytes) in [
        ("read", 5, 5 * 4096),
        ("write", 7, 7 * 8192),
        ("flush", 3, 0),
        ("discard", 1, 16 * 1024),
    ] {
        assert_eq!(
            statistics[kind]["requests"], requests,
            "{kind}: {statistics}"
        );
        assert_eq!(statistics[kind]["bytes"], bytes, "{kind}: {statistics}");
    }
    assert_eq!(statistics["timed_requests"], 16);
    assert_eq!(statistics["unstable_bytes"], 0);
    assert_eq!(statistics["contents_bytes"], 7 * 8192 - 16 * 1024);
    // No time was modelled, so there is no share of it.
    assert!(statistics["lateness_share"].is_null());
    assert_eq!(statistics["late"], false);
    served.control(&["reset"]);
    let statistics = served.statistics();
    assert_eq!(statistics["read"]["requests"], 0);
    assert!(statistics["read"]["latency_us"].is_null());
    assert!(number(&statistics["seconds"]) < 5.0);
}

#[test]
fn counters_begin_anew_with_a_reset() {
    let served = slow(100, &["--below-floor"]);
    reads(&served.open(), 10);
    assert_eq!(served.statistics()["counters"]["commands"], 10);
    served.control(&["reset"]);
    reads(&served.open(), 3);
    assert_eq!(served.statistics()["counters"]["commands"], 3);
}

/// A program that is stopped answers late, and the disk is then not the one that it claims to be.
#[test]
fn lateness_is_seen_and_judged() {
    let served = slow(300_000, &[]);
    let file = served.open();
    std::thread::scope(|threads| {
        threads.spawn(|| reads(&file, 1));
        std::thread::sleep(Duration::from_millis(50));
        served.signal(rustix::process::Signal::STOP);
        std::thread::sleep(Duration::from_millis(400));
        served.signal(rustix::process::Signal::CONT);
    });
    let statistics = served.statistics();
    let late = number(&statistics["lateness_us"]["max"]);
    assert!(late > 40_000.0, "{statistics}");
    assert_eq!(statistics["late"], true, "{statistics}");
    let share = number(&statistics["lateness_share"]);
    assert!(
        (share / (late / 300_000.0) - 1.0).abs() < 0.01,
        "{statistics}"
    );
}

/// Processors are kept from deep sleep while it matters, where that can be had.
#[test]
fn processors_stay_awake_while_timing_is_on() {
    let can = std::path::Path::new("/dev/cpu_dma_latency").exists();
    let served = serve("null", &["--size", "1 MiB"]);
    let awake = |served: &Served| served.control(&["describe"])["awake"] == true;
    assert_eq!(awake(&served), can);
    served.control(&["timing", "off"]);
    assert!(!awake(&served));
    served.control(&["timing", "on"]);
    assert_eq!(awake(&served), can);
}

/// Real-time priority of each thread, by its name; 0 is none.
fn priorities(served: &Served) -> Vec<(String, u32)> {
    let tasks = format!("/proc/{}/task", served.process.id());
    let tasks = std::fs::read_dir(tasks).expect("threads");
    let priority = |task: std::io::Result<std::fs::DirEntry>| {
        // A thread of a connection may end meanwhile.
        let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        // It is field 40 of `proc(5)`; `rest` begins with field 3.
        let priority = rest.split_whitespace().nth(40 - 3)?;
        Some((name.to_owned(), priority.parse().ok()?))
    };
    tasks.filter_map(priority).collect()
}

#[test]
fn requests_are_taken_before_answers_are_sent_and_both_before_all_else() {
    let served = serve("null", &["--size", "1 MiB"]);
    // The others keep time before the disk is ready; the one that listens has begun when it answers.
    served.control(&["describe"]);
    let priorities = priorities(&served);
    let of = |name| {
        let found = priorities.iter().find(|(thread, _)| thread == name);
        found
            .unwrap_or_else(|| panic!("no {name} in {priorities:?}"))
            .1
    };
    assert_eq!(of("listener"), 0);
    assert!(of("scheduler") > 0, "{priorities:?}");
    assert!(of("fuser-0") > of("scheduler"), "{priorities:?}");
}
