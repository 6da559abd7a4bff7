//! Schedules at work, in virtual time.

mod hostile;

use serde_json::{Value, json};

use super::{Befalls, Delay, Failure, Fault, Faults};
use crate::request::{NANOS_PER_US, Nanos, Request};

const SECTOR: u64 = 512;
const BEGAN: Nanos = 7_000_000;

fn faults(schedule: Value) -> Faults {
    let schedule: Vec<Fault> = serde_json::from_value(schedule).expect("a schedule");
    Faults::new(schedule, 1, SECTOR, BEGAN).expect("one that can be")
}

/// What befalls requests that arrive so many microseconds after the schedule was given.
fn at(faults: &mut Faults, us: u64, request: Request) -> Befalls {
    faults.befalls(request, true, BEGAN + us * NANOS_PER_US)
}

fn fails(faults: &mut Faults, us: u64, request: Request) -> Option<Failure> {
    at(faults, us, request).fails
}

#[test]
fn an_empty_schedule_befalls_nothing() {
    let mut faults = faults(json!([]));
    assert!(faults.is_empty());
    for request in [Request::read(0, 512), Request::flush()] {
        assert_eq!(at(&mut faults, 0, request), Befalls::default());
    }
}

#[test]
fn errors_come_at_their_moment_to_their_kind_and_end() {
    let mut faults = faults(json!([
        {"fault": "error", "on": "flush", "after_us": 100, "for_us": 50},
    ]));
    let flush = Request::flush();
    assert_eq!(fails(&mut faults, 99, flush), None);
    assert_eq!(fails(&mut faults, 100, flush), Some(Failure::Io));
    assert_eq!(fails(&mut faults, 100, Request::write(0, 512)), None);
    assert_eq!(fails(&mut faults, 149, flush), Some(Failure::Io));
    assert_eq!(fails(&mut faults, 150, flush), None);
    assert_eq!(faults.befallen()[0].requests, 2);
}

#[test]
fn requests_are_spared_and_counted() {
    let mut faults = faults(json!([
        {"fault": "no-space", "after_requests": 2, "times": 3},
    ]));
    let failed: Vec<bool> = (0..8)
        .map(|us| fails(&mut faults, us, Request::write(0, 512)) == Some(Failure::NoSpace))
        .collect();
    let (no, yes) = (false, true);
    assert_eq!(failed, [no, no, yes, yes, yes, no, no, no]);
    // What it cannot befall is not counted as spared, either.
    let mut faults = self::faults(json!([{"fault": "no-space", "after_requests": 1}]));
    assert_eq!(fails(&mut faults, 0, Request::read(0, 512)), None);
    assert_eq!(fails(&mut faults, 0, Request::write(0, 512)), None);
    assert!(fails(&mut faults, 0, Request::write(0, 512)).is_some());
}

#[test]
fn errors_have_their_place() {
    let mut faults = faults(json!([
        {"fault": "error", "offset_bytes": 4096, "length_bytes": 1024},
    ]));
    let mut failed =
        |offset, length| fails(&mut faults, 0, Request::write(offset, length)).is_some();
    assert!(!failed(0, 4096) && !failed(5120, 512));
    assert!(failed(0, 4608) && failed(4608, 4096) && failed(0, 1 << 20));
    assert_eq!(
        fails(&mut faults, 0, Request::flush()),
        None,
        "lies nowhere"
    );
}

#[test]
fn a_request_without_bytes_uses_up_no_fault_that_changes_bytes() {
    let mut faults = faults(json!([
        {"fault": "corrupt", "times": 1},
        {"fault": "torn", "times": 1},
        {"fault": "lost", "times": 1},
        {"fault": "error", "after_requests": 1, "times": 1},
    ]));
    let block = Request::write(4096, 4096);
    let none = Befalls::default();
    assert_eq!(faults.befalls(block, false, BEGAN), none);
    let failed = faults.befalls(block, false, BEGAN).fails;
    assert_eq!(failed, Some(Failure::Io), "an error comes all the same");
    let hit = |faults: &Faults| -> Vec<u64> {
        let befallen = faults.befallen();
        befallen.iter().map(|one| one.requests).collect()
    };
    assert_eq!(hit(&faults), [0, 0, 0, 1]);
    assert_eq!(at(&mut faults, 0, block).kept_bytes, Some(0));
    assert_eq!(hit(&faults), [1; 4]);
}

#[test]
fn slowness_adds_up_and_a_stall_has_an_end() {
    let mut faults = faults(json!([
        {"fault": "slow", "factor": 10.0},
        {"fault": "slow", "add_us": 5.0, "on": "read"},
        {"fault": "stall", "after_us": 1000, "for_us": 500},
    ]));
    let us = |us: u64| us * NANOS_PER_US;
    let (read, write) = (Request::read(0, 512), Request::write(0, 512));
    let answered = |faults: &mut Faults, at_us, request| {
        let delay = at(faults, at_us, request).delay;
        delay.answered(BEGAN + us(at_us), us(20)) - BEGAN
    };
    assert_eq!(answered(&mut faults, 0, read), us(205));
    assert_eq!(answered(&mut faults, 0, write), us(200));
    // Whoever comes while it stalls waits for its end, or for as long as it takes anyway.
    assert_eq!(answered(&mut faults, 1000, write), us(1500));
    assert_eq!(answered(&mut faults, 1499, write), us(1699));
    assert_eq!(answered(&mut faults, 1500, write), us(1700));
    assert!(Delay::default().is_none());
    assert_eq!(Delay::default().answered(us(3), us(4)), us(7));
}

#[test]
fn corruption_turns_one_bit_over_within_request_and_region() {
    let mut faults = faults(json!([
        {"fault": "corrupt", "on": "write", "offset_bytes": 1024, "length_bytes": 512},
    ]));
    let mut places = std::collections::BTreeSet::new();
    for us in 0..200 {
        let befalls = at(&mut faults, us, Request::write(512, 4096));
        let [flip] = befalls.flips[..] else {
            panic!("{befalls:?}")
        };
        assert!((1024..1536).contains(&flip.offset_bytes), "{flip:?}");
        assert_eq!(flip.mask.count_ones(), 1);
        assert_eq!(befalls.fails, None);
        places.insert((flip.offset_bytes, flip.mask));
    }
    assert!(places.len() > 150, "{}", places.len());
    assert!(
        at(&mut faults, 0, Request::read(1024, 512))
            .flips
            .is_empty()
    );
    assert!(
        at(&mut faults, 0, Request::write(2048, 512))
            .flips
            .is_empty()
    );
}

#[test]
fn writes_leave_little_and_flushes_do_nothing() {
    let kept = |fault: &str, request| {
        let mut faults = faults(json!([{ "fault": fault }]));
        (0..50)
            .map(|us| at(&mut faults, us, request).kept_bytes)
            .collect::<Vec<_>>()
    };
    let write = Request::write(64 * SECTOR, 4 * SECTOR);
    assert_eq!(kept("lost", write), [Some(0); 50]);
    assert_eq!(kept("lost", Request::read(0, 4096)), [None; 50]);
    for kept in kept("torn", write) {
        let kept = kept.expect("not all");
        assert!(
            (1..4).contains(&(kept / SECTOR)) && kept % SECTOR == 0,
            "{kept}"
        );
    }
    let whole = kept("torn", Request::write(0, SECTOR));
    assert_eq!(whole, [None; 50], "a sector is not torn");
    let mut faults = faults(json!([{"fault": "ignored", "times": 1}]));
    let flushes = [0, 1].map(|us| at(&mut faults, us, Request::flush()).ignored);
    assert_eq!(flushes, [true, false]);
}

#[test]
fn chance_is_drawn_by_seed_and_one_fault_does_not_disturb_another() {
    let coin = json!({"fault": "error", "on": "read", "chance": 0.3});
    let other = json!({"fault": "slow", "factor": 2.0, "chance": 0.5});
    let drawn = |schedule: Value, seed| -> Vec<bool> {
        let schedule = serde_json::from_value(schedule).expect("a schedule");
        let mut faults = Faults::new(schedule, seed, SECTOR, BEGAN).expect("it can be");
        let requests = (0..1000).map(|us| at(&mut faults, us, Request::read(0, 512)));
        requests.map(|befalls| befalls.fails.is_some()).collect()
    };
    let once = drawn(json!([coin]), 1);
    assert_eq!(once, drawn(json!([coin]), 1));
    assert_eq!(once, drawn(json!([coin, other]), 1));
    assert_ne!(once, drawn(json!([coin]), 2));
    let failed = once.iter().filter(|failed| **failed).count();
    assert!((230..370).contains(&failed), "{failed} of 1000");
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refusals = [
        (json!({"fault": "slow"}), "`slow` needs factor"),
        (json!({"fault": "slow", "factor": 0.5}), "factor is 0.5"),
        (json!({"fault": "slow", "add_us": -1.0}), "add_us is -1"),
        (
            json!({"fault": "error", "factor": 2.0}),
            "belong to `slow`, not to `error`",
        ),
        (json!({"fault": "stall"}), "`stall` needs for_us"),
        (
            json!({"fault": "no-space", "on": "read"}),
            "`no-space` can only affect write",
        ),
        (
            json!({"fault": "corrupt", "on": "flush"}),
            "can only affect read, write",
        ),
        (
            json!({"fault": "error", "length_bytes": 512}),
            "needs offset_bytes",
        ),
        (
            json!({"fault": "error", "offset_bytes": 100}),
            "whole sectors of 512",
        ),
        (
            json!({"fault": "error", "offset_bytes": 0, "length_bytes": 0}),
            "at least one",
        ),
        (
            json!({"fault": "error", "on": "flush", "offset_bytes": 0}),
            "a flush has no offset",
        ),
        (
            json!({"fault": "error", "offset_bytes": u64::MAX - 511, "length_bytes": 512}),
            "beyond the end",
        ),
        (json!({"fault": "error", "chance": 0.0}), "chance = 0"),
        (json!({"fault": "error", "chance": 1.5}), "chance = 1.5"),
        (json!({"fault": "error", "times": 0}), "at least 1"),
        (
            json!({"fault": "error", "after_us": u64::MAX}),
            "longer than any disk",
        ),
    ];
    for (fault, said) in refusals {
        let schedule = json!([{"fault": "error"}, fault]);
        let schedule = serde_json::from_value(schedule).expect("its words are known");
        let why = Faults::new(schedule, 1, SECTOR, BEGAN).expect_err(said);
        assert!(
            why.starts_with("schedule[1]: ") && why.contains(said),
            "{why}"
        );
    }
    for unknown in [
        json!({"fault": "fire"}),
        json!({"fault": "error", "probability": 1}),
        json!({"on": "read"}),
    ] {
        serde_json::from_value::<Fault>(unknown).expect_err("it is no fault");
    }
}
