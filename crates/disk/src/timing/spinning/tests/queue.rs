//! What comes next: shortest positioning time first, and nobody starves.

use super::*;
use crate::device::{Pattern, Probe};
use crate::request::NANOS_PER_US;
use crate::simulate::{self, Length};

fn iops(parameters: &SpinningParameters, pattern: Pattern, depth: u32) -> f64 {
    let probe = Probe {
        pattern,
        block_bytes: 4096,
        depth,
        span_bytes: None,
    };
    let mut disk = Spinning::new(parameters, 1);
    simulate::run(&mut disk, &probe, Length::seconds(30), 1).iops()
}

#[test]
fn one_at_a_time_takes_seek_and_half_a_turn() {
    let parameters = ordinary();
    let found = 1e6 / iops(&parameters, Pattern::RandomRead, 1);
    // Addresses crowd outside, so that random ones are a little closer than random radii: by a tenth
    // where the inner tracks hold half of the outer ones.
    let most = 8500.0 + 60e6 / 7200.0 / 2.0 + 100.0 + 4096.0 / 65.0;
    assert!((most - 1000.0..most).contains(&found), "{found} of {most}");
}

#[test]
fn a_deeper_queue_is_faster_up_to_what_the_disk_holds() {
    let parameters = ordinary();
    let found: Vec<f64> = [1, 2, 4, 8, 16, 32]
        .map(|depth| iops(&parameters, Pattern::RandomRead, depth))
        .to_vec();
    assert!(found.is_sorted(), "{found:?}");
    assert!(found[5] > 2.0 * found[0], "{found:?}");
    let beyond = iops(&parameters, Pattern::RandomRead, 128);
    assert_within("beyond the queue", beyond, found[5], 0.03);
    let one = SpinningParameters {
        queue_depth: Figure::assumed(1),
        ..ordinary()
    };
    assert_within(
        "no queue",
        iops(&one, Pattern::RandomRead, 32),
        found[0],
        0.03,
    );
}

#[test]
fn cached_writes_are_written_back_in_a_better_order() {
    let parameters = ordinary();
    let cached = iops(&parameters, Pattern::RandomWrite, 1);
    let through = iops(
        &SpinningParameters {
            write_cache: Figure::assumed(false),
            ..ordinary()
        },
        Pattern::RandomWrite,
        1,
    );
    assert!(cached > 2.0 * through, "{cached} against {through}");
}

/// How long a read at the far end waits while others keep the arm busy around the first address.
fn wait_of_the_far_one(ageing: f64) -> Nanos {
    let parameters = SpinningParameters {
        ageing: Figure::assumed(ageing),
        ..bare()
    };
    let mut bench = Bench::new(&parameters);
    let mut number: u64 = 0;
    let mut near = |bench: &mut Bench| {
        number += 1;
        bench.submit(Request::read(number * 7919 % 4000 * 4096, 4096))
    };
    let mut under_way: Vec<Tag> = (0..31).map(|_| near(&mut bench)).collect();
    let from = bench.now;
    let far = bench.submit(Request::read(63_900_000_000 / 4096 * 4096, 4096));
    loop {
        bench.events.clear();
        bench.now = bench.disk.next_event().expect("busy").max(bench.now);
        bench.disk.advance(bench.now, &mut bench.events);
        if let Some(at) = bench.answered(far) {
            return at - from;
        }
        let done: Vec<usize> = (0..31)
            .filter(|&index| bench.answered(under_way[index]).is_some())
            .collect();
        for index in done {
            under_way[index] = near(&mut bench);
        }
        assert!(bench.now < 1000 * NANOS_PER_S, "it starves");
    }
}

#[test]
fn nobody_starves() {
    let longest_ns = (18_000.0 + 60e6 / 7200.0) * NANOS_PER_US as f64;
    let mut waits = Vec::new();
    for ageing in [0.1, 0.02, 0.005] {
        let wait = wait_of_the_far_one(ageing);
        // Only those that arrived within `longest / ageing` may pass it, and then those at hand.
        let bound = longest_ns / ageing + 33.0 * longest_ns;
        assert!((wait as f64) < bound, "ageing {ageing}: {wait} ns");
        waits.push(wait);
    }
    assert!(waits.is_sorted(), "less ageing, longer waits: {waits:?}");
    assert!(waits[2] > 5 * waits[0], "the weight decides: {waits:?}");
}

#[test]
fn the_overhead_hides_behind_the_arm_in_a_queue() {
    let slow = SpinningParameters {
        command_overhead_us: Figure::assumed(1000.0),
        ..ordinary()
    };
    let one =
        1e6 / iops(&slow, Pattern::RandomRead, 1) - 1e6 / iops(&ordinary(), Pattern::RandomRead, 1);
    assert_within("one at a time", one, 900.0, 0.25);
    let deep = 1e6 / iops(&slow, Pattern::RandomRead, 32)
        - 1e6 / iops(&ordinary(), Pattern::RandomRead, 32);
    assert!(deep < 300.0, "in a queue: {deep} us");
}
