//! The contract of every device, held by disks of many kinds to random histories.

use super::*;
use crate::device::Kind as _;
use crate::timing::testing::{History, keeps_the_contract};

fn kinds() -> Vec<SpinningParameters> {
    let kind = |change: fn(&mut SpinningParameters)| {
        let mut parameters = ordinary();
        change(&mut parameters);
        parameters
    };
    vec![
        ordinary(),
        bare(),
        kind(|disk| disk.queue_depth.value = 1),
        // Room for one write only, and none larger than a sector or two.
        kind(|disk| disk.write_cache_commands.value = 1),
        kind(|disk| disk.write_cache_bytes.value = 4096),
        kind(|disk| {
            disk.write_back_share.value = 0.0;
            disk.write_back_idle_us.value = 0.0;
            disk.write_back_oldest_us.value = 0.0;
        }),
        kind(|disk| {
            disk.command_overhead_us.value = 0.0;
            disk.interface_mb_per_s.value = 1e6;
            disk.sector_bytes.value = 4096;
        }),
        kind(|disk| {
            disk.write_back_oldest_us.value = 1e9;
            disk.write_cache_commands.value = 1024;
            disk.inner_mb_per_s.value = disk.outer_mb_per_s.value;
        }),
    ]
}

#[test]
fn every_request_is_answered_once_and_every_flush_keeps_its_word() {
    for (number, parameters) in kinds().into_iter().enumerate() {
        parameters.check().expect("a disk that can be");
        for seed in 0..4 {
            for (span_bytes, depth, pause_ns) in [
                // Everything over everything else; a whole disk; hardly ever idle, mostly idle.
                (256 * KIB, 8, 200_000),
                (64_000_000_000 / 4096 * 4096, 40, 2_000_000),
                (4 * MIB, 3, 20_000_000),
            ] {
                let history = History {
                    requests: 300,
                    depth,
                    pause_ns,
                    span_bytes,
                    seed: seed + 100 * number as u64,
                    honest: true,
                };
                keeps_the_contract(|| Box::new(Spinning::new(&parameters, seed)), history);
            }
        }
    }
}

#[test]
fn the_seed_turns_the_platter_and_nothing_else() {
    let latency = |seed| {
        let mut bench = Bench::new(&bare());
        bench.disk = Spinning::new(&bare(), seed);
        bench.one(Request::read(30_000 * MIB, 4096))
    };
    assert_eq!(latency(1), latency(1));
    assert_ne!(latency(1), latency(2));
}

#[test]
fn what_is_submitted_late_by_the_head_start_is_answered_as_if_it_were_not() {
    let run = |late: Nanos| {
        let mut bench = Bench::new(&ordinary());
        let head_start = bench.disk.head_start();
        assert_eq!(head_start, 100_000, "the overhead");
        bench.one(Request::read(30_000 * MIB, 4096));
        let arrives = bench.now + NANOS_PER_S;
        bench.pass(NANOS_PER_S + late.min(head_start));
        let tag = Tag(99);
        bench
            .disk
            .submit(arrives, tag, Request::read(100 * MIB, 4096));
        bench.until_answered(tag)
    };
    assert_eq!(run(0), run(50_000));
    assert_eq!(run(0), run(100_000));
}

#[test]
fn a_full_queue_takes_the_next_command_in_when_there_is_room_however_late_it_is_told() {
    let mut bench = Bench::new(&SpinningParameters {
        queue_depth: Figure::assumed(1),
        ..bare()
    });
    let first = bench.submit(Request::read(30_000 * MIB, 512));
    let second = bench.submit(Request::read(30_000 * MIB + 64 * KIB, 512));
    let freed = bench.until_answered(first);
    let answered = bench.until_answered(second);
    // Not while the first was under way: the overhead is between them.
    assert!(answered >= freed + 100_000, "{freed} {answered}");
}

#[test]
fn counters_add_up() {
    let mut bench = Bench::new(&ordinary());
    for number in 0..40 {
        bench.one(Request::write(number * 500 * MIB, 4096));
        bench.one(Request::read(number * 700 * MIB + 64 * MIB, 4096));
    }
    bench.one(Request::flush());
    for (name, expected) in [
        ("reads", 40),
        ("writes", 40),
        ("flushes", 1),
        ("destages", 40),
    ] {
        assert_eq!(bench.counter(name), expected, "{name}");
    }
    let arm_us = bench.counter("seek_us") + bench.counter("rotation_us");
    let busy_us = bench.counter("busy_us");
    assert!(arm_us < busy_us && busy_us * 1000 < bench.now);
    assert_eq!(bench.counter("seeks"), 80, "all are far from each other");
    let kinds = [Kind::Read, Kind::Write, Kind::Flush, Kind::Discard];
    assert_eq!(
        kinds.len(),
        4,
        "each of them is counted above or in its own test"
    );
}
