//! Read-ahead, and writes that are answered before they are on the platter.

use super::*;
use crate::request::{NANOS_PER_MS, NANOS_PER_US};

#[test]
fn the_write_cache_absorbs_as_much_as_it_holds() {
    for bytes in [2 * MIB, 4 * MIB, 7 * MIB] {
        let parameters = SpinningParameters {
            write_cache_bytes: Figure::assumed(bytes),
            write_cache_commands: Figure::assumed(1024),
            write_back_share: Figure::assumed(1.0),
            ..ordinary()
        };
        let mut bench = Bench::new(&parameters);
        let block = 16 * KIB;
        let mut absorbed = 0;
        // Far from each other, so that none is written with its neighbour.
        for number in 0..1000 {
            let at = number * 7919 % 1000 * 60 * MIB;
            if bench.one(Request::write(at, block)) > NANOS_PER_MS {
                break;
            }
            absorbed += block;
        }
        assert_within("absorbed", absorbed as f64, bytes as f64, 0.02);
    }
}

#[test]
fn the_write_cache_holds_so_many_commands() {
    let parameters = SpinningParameters {
        write_cache_commands: Figure::assumed(100),
        write_back_share: Figure::assumed(1.0),
        ..ordinary()
    };
    let mut bench = Bench::new(&parameters);
    let absorbed = (0..1000)
        .take_while(|number| {
            let at = number * 7919 % 1000 * 60 * MIB;
            bench.one(Request::write(at, 512)) < NANOS_PER_MS
        })
        .count();
    // One more may be under way to the platter.
    assert!((100..=102).contains(&absorbed), "{absorbed}");
}

#[test]
fn a_cached_write_takes_command_and_bus_time() {
    let mut bench = Bench::new(&ordinary());
    let latency_us = bench.one(Request::write(30_000 * MIB, 300_000)) as f64 / 1e3;
    assert_within("us", latency_us, 100.0 + 1000.0, 0.001);
}

#[test]
fn without_a_write_cache_a_write_is_stable_when_answered() {
    let mut bench = Bench::new(&bare());
    let tag = bench.submit(Request::write(MIB, 4096));
    let at = bench.until_answered(tag);
    assert_eq!(bench.stable(tag), Some(at));
    assert_eq!(bench.counter("destages"), 0);
}

#[test]
fn an_idle_disk_writes_back() {
    let mut bench = Bench::new(&ordinary());
    let tag = bench.submit(Request::write(MIB, 4096));
    let answered = bench.until_answered(tag);
    assert_eq!(bench.stable(tag), None);
    bench.pass(NANOS_PER_S / 10);
    let stable = bench.stable(tag).expect("the disk was idle for long");
    assert!(stable >= answered + 20 * NANOS_PER_MS);
    assert!(stable <= answered + 20 * NANOS_PER_MS + 30 * NANOS_PER_MS);
    assert_eq!(bench.disk.next_event(), None, "it rests");
}

#[test]
fn a_cached_write_comes_to_the_platter_although_reads_never_end() {
    let mut bench = Bench::new(&ordinary());
    let tag = bench.submit(Request::write(63_000 * MIB / 2, 4096));
    bench.until_answered(tag);
    let mut number: u64 = 0;
    // Reads, always four of them, all at the other end of the disk.
    while bench.stable(tag).is_none() && bench.now < 5 * NANOS_PER_S {
        let reads: Vec<Tag> = (0..4)
            .map(|_| {
                number += 1;
                bench.submit(Request::read(number * 7919 % 1000 * 64 * KIB, 4096))
            })
            .collect();
        for read in reads {
            bench.until_answered(read);
        }
    }
    let stable = bench.stable(tag).expect("stable at last");
    assert!(stable > NANOS_PER_S, "reads go first for a while");
    assert!(stable < 4 * NANOS_PER_S);
}

#[test]
fn a_flush_drains_and_blocks() {
    let mut bench = Bench::new(&ordinary());
    let writes: Vec<Tag> = (0..20)
        .map(|number| bench.submit(Request::write(number * 3000 * MIB, 4096)))
        .collect();
    for &tag in &writes {
        bench.until_answered(tag);
    }
    assert!(writes.iter().any(|&tag| bench.stable(tag).is_none()));
    let flush = bench.submit(Request::flush());
    let read = bench.submit(Request::read(0, 4096));
    let flushed = bench.until_answered(flush);
    for tag in writes {
        let stable = bench.stable(tag).expect("written back");
        assert!(stable <= flushed);
    }
    assert!(bench.until_answered(read) > flushed);
}

#[test]
fn a_flush_of_nothing_costs_a_command() {
    let mut bench = Bench::new(&ordinary());
    assert_eq!(bench.one(Request::flush()), 100 * NANOS_PER_US);
}

#[test]
fn what_is_cached_can_be_read_at_once() {
    let mut bench = Bench::new(&ordinary());
    bench.one(Request::write(MIB, 8192));
    assert!(bench.one(Request::read(MIB + 4096, 4096)) < NANOS_PER_MS);
    assert!(
        bench.one(Request::read(MIB + 4096, 8192)) > NANOS_PER_MS,
        "half of it only"
    );
}

#[test]
fn a_write_over_a_cached_one_takes_its_place() {
    let mut bench = Bench::new(&ordinary());
    bench.events.clear();
    let tags: Vec<Tag> = (0..50)
        .map(|_| {
            let tag = bench.submit(Request::write(MIB, 4096));
            bench.until_answered(tag);
            tag
        })
        .collect();
    let flush = bench.submit(Request::flush());
    bench.until_answered(flush);
    assert_eq!(bench.counter("destages"), 1);
    assert_eq!(bench.counter("coalesced"), 49);
    let stable: Vec<_> = tags.iter().map(|&tag| bench.stable(tag)).collect();
    assert!(stable[0].is_some() && stable.iter().all(|at| *at == stable[0]));
}

#[test]
fn a_write_replaced_in_part_is_stable_with_its_last_piece() {
    let mut bench = Bench::new(&ordinary());
    let outer = bench.submit(Request::write(MIB, 12 * KIB));
    bench.until_answered(outer);
    let inner = bench.submit(Request::write(MIB + 4 * KIB, 4 * KIB));
    bench.until_answered(inner);
    let flush = bench.submit(Request::flush());
    bench.until_answered(flush);
    assert_eq!(bench.counter("destages"), 3, "left, middle, right");
    let last = bench.events.iter().rev().find_map(|event| match *event {
        Event::Stable { tag, at } if tag == outer => Some(at),
        _ => None,
    });
    assert_eq!(bench.stable(outer), last, "told once");
    assert!(bench.stable(inner) <= bench.stable(outer));
}

#[test]
fn a_write_larger_than_the_cache_goes_through() {
    let mut bench = Bench::new(&ordinary());
    let small = bench.submit(Request::write(MIB, 4096));
    bench.until_answered(small);
    let large = bench.submit(Request::write(0, 5 * MIB));
    let answered = bench.until_answered(large);
    assert_eq!(bench.stable(large), Some(answered));
    assert_eq!(bench.stable(small), Some(answered), "it was replaced");
}

#[test]
fn what_is_discarded_need_not_be_written() {
    let mut bench = Bench::new(&ordinary());
    let write = bench.submit(Request::write(MIB, 4096));
    bench.until_answered(write);
    let discard = bench.submit(Request::discard(0, 8 * MIB));
    let at = bench.until_answered(discard);
    assert_eq!(
        (bench.stable(write), bench.stable(discard)),
        (Some(at), Some(at))
    );
    bench.pass(NANOS_PER_S);
    assert_eq!(bench.counter("destages"), 0);
}

#[test]
fn the_disk_reads_ahead_as_far_as_a_segment() {
    // 4 MiB in eight segments.
    let segment = 512 * KIB;
    let mut bench = Bench::new(&ordinary());
    bench.one(Request::read(100 * MIB, 4096));
    bench.pass(NANOS_PER_S);
    let end = 100 * MIB + 4096 + segment;
    assert!(bench.one(Request::read(end - 4096, 4096)) < NANOS_PER_MS);
    let mut again = Bench::new(&ordinary());
    again.one(Request::read(100 * MIB, 4096));
    again.pass(NANOS_PER_S);
    assert!(again.one(Request::read(end, 4096)) > NANOS_PER_MS);
    assert_eq!(again.counter("read_ahead_hits"), 0);
}

#[test]
fn the_cache_follows_so_many_streams() {
    for (streams, kept) in [(8, true), (9, false)] {
        let mut bench = Bench::new(&ordinary());
        for number in 0..streams {
            bench.one(Request::read(number * 1000 * MIB, 4096));
            bench.pass(NANOS_PER_S / 10);
        }
        let hit = bench.one(Request::read(4096, 4096)) < NANOS_PER_MS;
        assert_eq!(hit, kept, "{streams} streams");
    }
}

#[test]
fn a_slow_reader_is_kept_ahead_of() {
    let mut bench = Bench::new(&ordinary());
    bench.one(Request::read(0, 4096));
    let mut slow = 0;
    for number in 1..2000 {
        bench.pass(2 * NANOS_PER_MS);
        slow += u64::from(bench.one(Request::read(number * 4096, 4096)) > NANOS_PER_MS);
    }
    assert!(slow <= 1, "{slow} of 2000 waited for the platter");
}

#[test]
fn two_readers_share_the_arm_and_each_has_its_segment() {
    let mut bench = Bench::new(&ordinary());
    let (mut waited, block) = (0, 16 * KIB);
    for number in 0..500 {
        for reader in [0, 20_000 * MIB] {
            let latency = bench.one(Request::read(reader + number * block, block));
            waited += u64::from(latency > NANOS_PER_MS);
            // Each thinks for long enough that the disk fills its segment.
            bench.pass(30 * NANOS_PER_MS);
        }
    }
    // 32 blocks a segment, of which half are used up when the disk goes on.
    assert!(
        waited < 1000 / 10,
        "{waited} of 1000 waited for the platter"
    );
}

#[test]
fn what_is_written_is_not_read_from_an_old_segment() {
    let mut bench = Bench::new(&SpinningParameters {
        write_cache: Figure::assumed(false),
        ..ordinary()
    });
    bench.one(Request::read(MIB, 64 * KIB));
    bench.one(Request::write(MIB + 4096, 4096));
    assert!(bench.one(Request::read(MIB, 64 * KIB)) > NANOS_PER_MS);
}

fn advanced_format() -> SpinningParameters {
    SpinningParameters {
        sector_bytes: Figure::assumed(4096),
        ..ordinary()
    }
}

#[test]
fn cached_parts_of_a_sector_are_written_as_one() {
    let sector = 4096;
    let took = |first: std::ops::Range<u64>| {
        let mut bench = Bench::new(&advanced_format());
        // The head stands there, and the sector is not known.
        bench.one(Request::write(100 * sector, sector));
        bench.one(Request::flush());
        for part in first {
            bench.one(Request::write(102 * sector + part * 512, 512));
        }
        let took = bench.one(Request::flush());
        (took, bench.counter("destages"))
    };
    let ((all, together), (but_one, less)) = (took(0..8), took(0..7));
    assert_eq!((together, less), (2, 2), "one for each sector");
    let revolution = NANOS_PER_S / 120;
    let apart = but_one - all;
    assert_within("to read the eighth", apart as f64, revolution as f64, 0.1);
}

#[test]
fn a_log_in_parts_of_a_sector_reads_each_sector_once() {
    let mut bench = Bench::new(&advanced_format());
    let mut append = |number: u64| {
        bench.one(Request::write(number * 512, 512));
        bench.one(Request::flush());
        bench.now
    };
    let from = append(7);
    let to = (8..8 + 80).map(append).last().expect("eighty");
    // Ten sectors are read, and every append waits for its sector to come round.
    assert_within(
        "revolutions",
        (to - from) as f64 * 120.0 / NANOS_PER_S as f64,
        90.0,
        0.02,
    );
}

#[test]
fn a_sector_that_was_read_is_not_read_again() {
    let took = |reads: bool| {
        let mut bench = Bench::new(&advanced_format());
        if reads {
            bench.one(Request::read(0, 8192));
        }
        bench.one(Request::write(1 << 30, 4096));
        bench.one(Request::flush());
        bench.one(Request::write(512, 512));
        let from = bench.counter("busy_us");
        bench.one(Request::flush());
        bench.counter("busy_us") - from
    };
    let (known, unknown) = (took(true), took(false));
    assert!(known < unknown, "{known} us, {unknown} us unread");
}

#[test]
fn small_writes_one_after_the_other_come_as_fast_as_their_commands() {
    let mut bench = Bench::new(&advanced_format());
    for number in 0..20_000 {
        bench.one(Request::write(number * 512, 512));
    }
    // 100 us a command and 1.7 us for its bytes; the rest is waiting for room.
    let each_us = bench.now as f64 / 20_000.0 / 1e3;
    assert!((101.0..400.0).contains(&each_us), "{each_us} us");
}
