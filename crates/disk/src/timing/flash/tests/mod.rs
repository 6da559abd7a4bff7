//! What was put in is found again by probing, and every promise is kept.

mod collection;
mod probes;
mod promises;
mod refusals;

use super::*;
use crate::device::Kind as _;
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
