//! Garbage collection, and what a drive held before.

use super::*;

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
