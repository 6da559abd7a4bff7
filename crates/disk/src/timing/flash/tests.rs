//! What was put in is found again by probing, and every promise is kept.

use super::*;
use crate::device::{Figure, Pattern, Probe};
use crate::request::{NANOS_PER_MS, NANOS_PER_S, NANOS_PER_US};
use crate::simulate::{self, Length, Outcome};
use crate::timing::testing::{History, keeps_the_contract, latency, rest};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 16_384;
const UNIT: u64 = 4096;

fn given<T>(value: T) -> Figure<T> {
    Figure::assumed(value)
}

/// A small drive: 4 channels of 2 dies, 256 MiB, half as much again in spare, never written.
fn small() -> FlashParameters {
    FlashParameters {
        capacity_bytes: given(256 * MIB),
        channels: given(4),
        dies_per_channel: given(2),
        page_bytes: given(PAGE),
        pages_per_block: given(32),
        mapping_bytes: given(UNIT),
        read_us: given(60.0),
        read_spread_us: given(0.0),
        program_us: given(500.0),
        erase_us: given(2000.0),
        channel_mb_per_s: given(400.0),
        interface_mb_per_s: given(2000.0),
        full_duplex: given(true),
        queue_depth: given(256),
        read_command_us: given(1.0),
        write_command_us: given(1.0),
        read_overhead_us: given(10.0),
        write_overhead_us: given(8.0),
        write_buffer_bytes: given(2 * MIB),
        write_cache: given(true),
        linger_ms: given(10.0),
        flush_us: given(100.0),
        flush: given(FlushHabit::Honest),
        flush_queued: given(true),
        power_loss_protection: given(false),
        over_provisioning: given(0.5),
        filled: given(0.0),
        preconditioning: given(Preconditioning::Sequential),
        compressed_share: given(1.0),
    }
}

fn flash(parameters: &FlashParameters) -> Flash {
    parameters.check().expect("a drive that can be");
    Flash::new(parameters, 1)
}

fn probe(drive: &mut Flash, pattern: Pattern, block_bytes: u64, depth: u32, ms: u64) -> Outcome {
    let probe = Probe {
        pattern,
        block_bytes,
        depth,
        span_bytes: None,
    };
    let length = Length {
        warm_up: ms * NANOS_PER_MS / 10,
        measure: ms * NANOS_PER_MS,
        ..Length::seconds(1)
    };
    simulate::run(drive, &probe, length, 7)
}

#[track_caller]
fn near(found: f64, wanted: f64, share: f64) {
    assert!(
        (found / wanted - 1.0).abs() <= share,
        "{found} for {wanted}"
    );
}

fn us(nanos: Nanos) -> f64 {
    nanos as f64 / 1e3
}

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
fn a_write_alone_is_answered_from_the_buffer_and_stable_later() {
    let mut drive = flash(&small());
    drive.submit(0, Tag(1), Request::write(0, UNIT));
    let events = rest(&mut drive);
    let [
        Event::Answered { at: answered, .. },
        Event::Stable { at: stable, .. },
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    near(us(answered), 8.0 + 2.048, 1e-3);
    // It waits for company for 10 ms, then 16 KiB cross the channel and are programmed.
    near(us(stable), us(answered) + 10_000.0 + 40.96 + 500.0, 1e-3);
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

/// The order in which a write and a flush after it end: (answer of the flush, write stable).
fn write_and_flush(parameters: &FlashParameters) -> (Nanos, Nanos) {
    let mut drive = flash(parameters);
    let mut events = Vec::new();
    drive.submit(0, Tag(1), Request::write(0, UNIT));
    while events.is_empty() {
        let next = drive.next_event().expect("an answer");
        drive.advance(next, &mut events);
    }
    let now = events.last().expect("an answer").at();
    drive.submit(now, Tag(2), Request::flush());
    events.extend(rest(&mut drive));
    let at = |wanted: fn(&Event) -> bool| {
        events
            .iter()
            .find(|event| wanted(event))
            .expect("told")
            .at()
    };
    (
        at(|event| matches!(event, Event::Answered { tag: Tag(2), .. })),
        at(|event| matches!(event, Event::Stable { .. })),
    )
}

#[test]
fn only_an_honest_flush_comes_after_what_it_covers() {
    let (flushed, stable) = write_and_flush(&small());
    assert!(flushed >= stable);
    let liar = FlashParameters {
        flush: given(FlushHabit::Ignored),
        ..small()
    };
    let (flushed, stable) = write_and_flush(&liar);
    assert!(flushed < stable);
    near(us(flushed), 8.0 + 2.048 + 8.0 + 100.0, 1e-3);
}

#[test]
fn with_power_loss_protection_an_answer_is_a_promise() {
    let protected = FlashParameters {
        power_loss_protection: given(true),
        ..small()
    };
    let (flushed, stable) = write_and_flush(&protected);
    near(us(stable), 8.0 + 2.048, 1e-3);
    near(us(flushed), 8.0 + 2.048 + 8.0 + 100.0, 1e-3);
}

#[test]
fn without_a_write_cache_an_answer_waits_for_the_cells() {
    let mut drive = flash(&FlashParameters {
        write_cache: given(false),
        ..small()
    });
    let took = latency(&mut drive, 0, Request::write(0, UNIT));
    near(us(took), 8.0 + 2.048 + 40.96 + 500.0, 1e-3);
    // A long write is answered once, after its last page.
    let took = latency(&mut drive, NANOS_PER_S, Request::write(0, MIB));
    assert!(took > 8 * 500 * NANOS_PER_US);
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

fn write_amplification(parameters: &FlashParameters, ms: u64) -> f64 {
    let mut drive = flash(parameters);
    probe(&mut drive, Pattern::RandomWrite, UNIT, 32, ms);
    let before = drive.counters();
    // Virtual time goes on in the drive: a second probe would begin in its past.
    let after = write_on(&mut drive, ms / 2);
    (after["flash_written_bytes"] - before["flash_written_bytes"]) as f64
        / (after["host_written_bytes"] - before["host_written_bytes"]) as f64
}

/// Writes 4 KiB at random, 32 at a time, for so long.
fn write_on(drive: &mut Flash, ms: u64) -> Counters {
    let mut events = Vec::new();
    let mut now = drive.next_event().expect("a drive that was just busy");
    let end = now + ms * NANOS_PER_MS;
    let mut draw = 1_u64;
    let mut tag = 1 << 40;
    for _ in 0..32 {
        tag += 1;
        drive.submit(now, Tag(tag), Request::write(0, UNIT));
    }
    while now < end {
        now = drive.next_event().expect("writes are under way");
        drive.advance(now, &mut events);
        for event in std::mem::take(&mut events) {
            if matches!(event, Event::Answered { tag, .. } if tag.0 > 1 << 40) {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                tag += 1;
                let unit = (draw >> 33) % (drive.capacity_bytes() / UNIT);
                drive.submit(now, Tag(tag), Request::write(unit * UNIT, UNIT));
            }
        }
    }
    drive.counters()
}

/// Full, of many small blocks, and quick to write.
fn worn() -> FlashParameters {
    FlashParameters {
        capacity_bytes: given(128 * MIB),
        pages_per_block: given(16),
        program_us: given(50.0),
        erase_us: given(0.0),
        filled: given(1.0),
        preconditioning: given(Preconditioning::Random),
        ..small()
    }
}

#[test]
fn random_writes_are_amplified_as_the_spare_says() {
    for spare in [0.12, 0.28, 0.6] {
        let drive = FlashParameters {
            over_provisioning: given(spare),
            ..worn()
        };
        let found = write_amplification(&drive, 300);
        // Of the working blocks, the two that are being filled are spare too.
        let geometry = Geometry::new(&drive);
        let blocks = geometry.dies * (geometry.blocks_per_die - 3);
        let filled = f64::from(geometry.units) / f64::from(blocks * geometry.units_per_block);
        let spare = 1.0 / filled - 1.0;
        near(
            found,
            1.0 / (1.0 - precondition::least_valid_share(filled)),
            0.08,
        );
        // The rule of thumb.
        near(found, (1.0 + spare) / (2.0 * spare), 0.2);
    }
}

#[test]
fn the_steady_state_that_is_drawn_is_the_one_that_random_writes_come_to() {
    let drawn = worn();
    let from_the_start = write_amplification(&drawn, 100);
    let written = FlashParameters {
        preconditioning: given(Preconditioning::Sequential),
        ..drawn
    };
    let in_the_end = write_amplification(&written, 600);
    near(from_the_start, in_the_end, 0.05);
}

#[test]
fn sequential_overwriting_is_not_amplified() {
    let full = FlashParameters {
        filled: given(1.0),
        over_provisioning: given(0.1),
        ..small()
    };
    let mut drive = flash(&full);
    probe(&mut drive, Pattern::SequentialWrite, 128 * 1024, 8, 3000);
    let counters = drive.counters();
    assert!(
        counters["erases"] > 500,
        "the drive was written over: {counters:?}"
    );
    near(
        counters["flash_written_bytes"] as f64 / counters["host_written_bytes"] as f64,
        1.0,
        0.03,
    );
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
fn the_same_seed_gives_the_same_and_contracts_are_kept() {
    let random = FlashParameters {
        filled: given(0.9),
        preconditioning: given(Preconditioning::Random),
        over_provisioning: given(0.07),
        capacity_bytes: given(64 * MIB),
        pages_per_block: given(8),
        ..small()
    };
    let drives = [
        (small(), true),
        (random.clone(), true),
        (
            FlashParameters {
                write_cache: given(false),
                ..random.clone()
            },
            true,
        ),
        (
            FlashParameters {
                power_loss_protection: given(true),
                ..random.clone()
            },
            true,
        ),
        (
            FlashParameters {
                flush_queued: given(false),
                queue_depth: given(3),
                ..random.clone()
            },
            true,
        ),
        (
            FlashParameters {
                flush: given(FlushHabit::Ignored),
                ..random.clone()
            },
            false,
        ),
        (
            FlashParameters {
                write_buffer_bytes: given(PAGE),
                mapping_bytes: given(PAGE),
                ..random.clone()
            },
            true,
        ),
        (
            FlashParameters {
                compressed_share: given(0.6),
                mapping_bytes: given(512),
                ..random
            },
            true,
        ),
    ];
    for (nth, (parameters, honest)) in drives.iter().enumerate() {
        parameters.check().expect("a drive that can be");
        for (span_bytes, pause_ns) in [(MIB, 20_000), (48 * MIB, 1_000), (64 * MIB, 200_000)] {
            let history = History {
                requests: 500,
                depth: 24,
                pause_ns,
                span_bytes,
                seed: nth as u64,
                honest: *honest,
            };
            keeps_the_contract(|| Box::new(Flash::new(parameters, 3)), history);
        }
    }
}

#[test]
fn a_full_drive_of_which_one_die_alone_is_overwritten_goes_on() {
    // Every overwritten unit lies on die 0 at first; the others must not fill up beyond their spare.
    let full = FlashParameters {
        filled: given(1.0),
        over_provisioning: given(0.05),
        capacity_bytes: given(64 * MIB),
        pages_per_block: given(8),
        ..small()
    };
    let mut drive = flash(&full);
    let stride = 8 * PAGE;
    for tag in 0..4 * 64 * MIB / stride {
        let offset = tag * stride % (64 * MIB);
        drive.submit(tag * NANOS_PER_MS, Tag(tag), Request::write(offset, PAGE));
        drive.advance(tag * NANOS_PER_MS, &mut Vec::new());
    }
    rest(&mut drive);
}

#[test]
fn discarding_makes_room() {
    let mut drive = flash(&FlashParameters {
        filled: given(1.0),
        over_provisioning: given(0.07),
        preconditioning: given(Preconditioning::Random),
        ..small()
    });
    drive.submit(0, Tag(0), Request::discard(0, 256 * MIB));
    let events = rest(&mut drive);
    assert_eq!(events.len(), 2, "{events:?}");
    let counters = write_after(&mut drive);
    near(
        counters["flash_written_bytes"] as f64 / counters["host_written_bytes"] as f64,
        1.0,
        0.02,
    );
}

/// Half the drive, in order.
fn write_after(drive: &mut Flash) -> Counters {
    let mut now = NANOS_PER_S;
    for tag in 1..=128 {
        drive.submit(now, Tag(tag), Request::write((tag - 1) * MIB, MIB));
        rest(drive);
        now += NANOS_PER_S;
    }
    drive.counters()
}

#[test]
fn a_large_drive_is_there_in_a_moment() {
    let large = FlashParameters {
        capacity_bytes: given(500_000_002_048 / UNIT * UNIT),
        pages_per_block: given(256),
        filled: given(1.0),
        over_provisioning: given(0.07),
        preconditioning: given(Preconditioning::Random),
        ..small()
    };
    let from = std::time::Instant::now();
    let mut drive = flash(&large);
    drive.submit(0, Tag(0), Request::discard(0, large.capacity_bytes.value));
    assert_eq!(rest(&mut drive).len(), 2);
    assert!(from.elapsed().as_secs() < 5, "{:?}", from.elapsed());
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Spoil = fn(&mut FlashParameters);
    let wrong: [(&str, Spoil); 12] = [
        ("read_us", |p| p.read_us = given(-1.0)),
        ("read_us", |p| p.read_us = given(f64::NAN)),
        ("read_spread_us", |p| p.read_spread_us = given(61.0)),
        ("channels", |p| p.channels = given(0)),
        ("queue_depth", |p| p.queue_depth = given(0)),
        ("interface_mb_per_s", |p| p.interface_mb_per_s = given(0.0)),
        ("over_provisioning", |p| p.over_provisioning = given(0.0)),
        ("filled", |p| p.filled = given(1.5)),
        ("mapping_bytes", |p| p.mapping_bytes = given(3000)),
        ("page_bytes", |p| p.page_bytes = given(5000)),
        ("write_buffer_bytes", |p| p.write_buffer_bytes = given(4096)),
        ("capacity_bytes", |p| p.capacity_bytes = given(MIB)),
    ];
    for (name, spoil) in wrong {
        let mut parameters = small();
        spoil(&mut parameters);
        let why = parameters.check().expect_err(name);
        assert!(why.starts_with(name), "{why}");
    }
    let mut huge = small();
    huge.capacity_bytes = given(1 << 44);
    assert!(
        huge.check()
            .expect_err("too many units")
            .contains("raise mapping_bytes")
    );
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
