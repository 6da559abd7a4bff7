//! Answers, stability and what lies between.

use super::*;
use crate::device::Kind as _;

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
