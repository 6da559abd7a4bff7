//! What was put in is found again by probing.

use super::*;

#[test]
fn a_read_alone_takes_the_sum_of_its_way() {
    for read_us in [25.0, 60.0, 120.0] {
        let took = latency(
            &mut flash(&FlashParameters {
                read_us: given(read_us),
                ..small()
            }),
            0,
            Request::read(40 * UNIT, UNIT),
        );
        // Firmware, cells, 4 KiB at 400 MB/s and at 2,000 MB/s.
        near(us(took), 10.0 + read_us + 10.24 + 2.048, 1e-3);
    }
}

#[test]
fn depth_finds_the_dies_and_then_the_command() {
    // With channels that cost next to nothing, so many dies do so many reads at a time.
    let cells_only = FlashParameters {
        channel_mb_per_s: given(100_000.0),
        interface_mb_per_s: given(100_000.0),
        read_overhead_us: given(1.0),
        read_command_us: given(0.1),
        queue_depth: given(1024),
        ..small()
    };
    for (channels, dies) in [(1, 1), (4, 2), (8, 2)] {
        let parameters = FlashParameters {
            channels: given(channels),
            dies_per_channel: given(dies),
            capacity_bytes: given(512 * MIB),
            ..cells_only.clone()
        };
        let found = probe(
            &mut flash(&parameters),
            Pattern::RandomRead,
            UNIT,
            1024,
            200,
        )
        .iops();
        near(found * 60e-6, f64::from(channels * dies), 0.02);
    }
    let slow_controller = FlashParameters {
        read_command_us: given(20.0),
        ..small()
    };
    let found = probe(
        &mut flash(&slow_controller),
        Pattern::RandomRead,
        UNIT,
        64,
        500,
    )
    .iops();
    near(found, 50_000.0, 0.01);
}

#[test]
fn channels_and_the_interface_bound_sequential_reads() {
    let channels = FlashParameters {
        read_us: given(1.0),
        ..small()
    };
    let found = probe(
        &mut flash(&channels),
        Pattern::SequentialRead,
        256 * 1024,
        16,
        500,
    );
    near(found.megabytes_per_s(), 1600.0, 0.02);
    let interface = FlashParameters {
        interface_mb_per_s: given(250.0),
        ..channels
    };
    let found = probe(
        &mut flash(&interface),
        Pattern::SequentialRead,
        256 * 1024,
        16,
        500,
    );
    near(found.megabytes_per_s(), 250.0, 0.02);
}

#[test]
fn the_interface_takes_no_more_commands_than_its_queue() {
    for queue_depth in [1, 4] {
        let mut drive = flash(&FlashParameters {
            queue_depth: given(queue_depth),
            ..small()
        });
        let alone = us(latency(&mut drive, 0, Request::read(0, UNIT)));
        let found = probe(&mut drive, Pattern::RandomRead, UNIT, 64, 200).iops();
        assert!(found < f64::from(queue_depth) * 1.001e6 / alone, "{found}");
        if queue_depth == 1 {
            near(found, 1e6 / alone, 0.01);
        }
    }
}

#[test]
fn sustained_writes_find_the_program_time() {
    for program_us in [250.0, 500.0, 1300.0] {
        let parameters = FlashParameters {
            program_us: given(program_us),
            ..small()
        };
        let found = probe(
            &mut flash(&parameters),
            Pattern::SequentialWrite,
            PAGE,
            64,
            100,
        );
        // Eight dies, which take a page from the channel and program it, by turns; an empty drive
        // collects nothing.
        near(
            found.megabytes_per_s(),
            8.0 * PAGE as f64 / (program_us + 40.96),
            0.02,
        );
    }
}

#[test]
fn a_burst_of_writes_finds_the_buffer() {
    for buffer_bytes in [MIB, 4 * MIB] {
        let mut drive = flash(&FlashParameters {
            write_buffer_bytes: given(buffer_bytes),
            program_us: given(50_000.0),
            ..small()
        });
        for tag in 0..4096 {
            drive.submit(0, Tag(tag), Request::write(tag * UNIT, UNIT));
        }
        let mut answered = Vec::new();
        drive.advance(40 * NANOS_PER_MS, &mut answered);
        let found = answered.len() as u64 * UNIT;
        near(found as f64, buffer_bytes as f64, 0.02);
    }
}

#[test]
fn a_flush_costs_the_drain_and_its_own_time() {
    for flush_us in [0.0, 100.0, 5000.0] {
        let mut drive = flash(&FlashParameters {
            flush_us: given(flush_us),
            ..small()
        });
        let nothing_to_drain = us(latency(&mut drive, 0, Request::flush()));
        near(nothing_to_drain, 8.0 + flush_us, 1e-3);
        let outcome = probe(&mut drive, Pattern::SyncedWrite, UNIT, 1, 500);
        let found = us(outcome.flush_latency_ns.value_at_quantile(0.5));
        near(found, 8.0 + 40.96 + 500.0 + flush_us, 0.02);
    }
}

#[test]
fn without_a_write_cache_a_flush_has_nothing_to_do() {
    let mut drive = flash(&FlashParameters {
        flush_us: given(5000.0),
        write_cache: given(false),
        ..small()
    });
    let outcome = probe(&mut drive, Pattern::SyncedWrite, UNIT, 1, 500);
    let found = us(outcome.flush_latency_ns.value_at_quantile(0.5));
    near(found, 8.0, 1e-3);
}

#[test]
fn a_flush_that_is_not_queued_is_alone() {
    for (queued, expected_us) in [(true, 82.3), (false, 5000.0)] {
        let mut drive = flash(&FlashParameters {
            flush_us: given(5000.0),
            flush_queued: given(queued),
            ..small()
        });
        drive.submit(0, Tag(1), Request::flush());
        drive.submit(0, Tag(2), Request::read(0, UNIT));
        let events = rest(&mut drive);
        let read = events
            .iter()
            .find(|event| matches!(event, Event::Answered { tag: Tag(2), .. }));
        near(us(read.expect("an answer").at()), expected_us, 0.03);
    }
}

#[test]
fn overwriting_in_the_buffer_and_reading_from_it_touch_no_die() {
    let mut drive = flash(&small());
    for tag in 0..3 {
        drive.submit(0, Tag(tag), Request::write(0, UNIT));
    }
    drive.submit(NANOS_PER_MS, Tag(3), Request::read(0, UNIT));
    let mut events = Vec::new();
    drive.advance(2 * NANOS_PER_MS, &mut events);
    let counters = drive.counters();
    assert_eq!(
        (counters["write_buffer_hits"], counters["read_buffer_hits"]),
        (2, 1)
    );
    assert_eq!((counters["page_reads"], counters["programs"]), (0, 0));
    let stable = rest(&mut drive);
    assert_eq!(stable.len(), 3, "all three with the last: {stable:?}");
    assert_eq!(drive.counters()["programs"], 1);
}

#[test]
fn a_part_of_a_unit_is_read_before_it_is_written_unless_the_rest_comes_too() {
    let used = FlashParameters {
        filled: given(1.0),
        ..small()
    };
    let modified = |writes: &[(u64, u64)]| {
        let mut drive = flash(&used);
        for (tag, (offset, length)) in writes.iter().enumerate() {
            drive.submit(0, Tag(tag as u64), Request::write(*offset, *length));
        }
        rest(&mut drive);
        drive.counters()["reads_to_modify"]
    };
    assert_eq!(modified(&[(512, 512)]), 1);
    assert_eq!(modified(&[(0, 2048), (2048, 2048)]), 0);
    assert_eq!(modified(&[(0, UNIT)]), 0);
}

#[test]
fn compression_writes_less_flash() {
    let rate = |compressed_share| {
        let parameters = FlashParameters {
            compressed_share: given(compressed_share),
            ..small()
        };
        probe(
            &mut flash(&parameters),
            Pattern::SequentialWrite,
            PAGE,
            64,
            50,
        )
        .megabytes_per_s()
    };
    near(rate(0.5), 2.0 * rate(1.0), 0.02);
}

#[test]
fn what_is_submitted_late_by_the_head_start_is_told_in_order_and_at_its_true_time() {
    let mut drive = flash(&small());
    let head_start = drive.head_start();
    assert_eq!(head_start, 8 * NANOS_PER_US);
    let mut events = Vec::new();
    drive.advance(NANOS_PER_MS, &mut events);
    drive.submit(NANOS_PER_MS - head_start, Tag(1), Request::read(0, UNIT));
    drive.submit(NANOS_PER_MS - head_start, Tag(2), Request::flush());
    let next = drive.next_event().expect("two requests");
    assert!(next >= NANOS_PER_MS, "{next}");
    let events = rest(&mut drive);
    let read = latency(&mut flash(&small()), 0, Request::read(0, UNIT));
    assert_eq!(
        events[0],
        Event::Answered {
            tag: Tag(1),
            at: NANOS_PER_MS - head_start + read
        }
    );
}
