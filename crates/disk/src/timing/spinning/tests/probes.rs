//! Probes recover what the parameters say, within 2 %.

use super::super::geometry::whole;
use super::*;

const SECTOR: u64 = 512;

/// The address of a radius, as a share of the stroke.
fn address(parameters: &SpinningParameters, radius: f64) -> u64 {
    let (outer, inner) = (
        parameters.outer_mb_per_s.value,
        parameters.inner_mb_per_s.value,
    );
    let share =
        (outer * radius - (outer - inner) * radius * radius / 2.0) / f64::midpoint(outer, inner);
    let capacity = parameters.capacity_bytes.value;
    let sectors = whole(share * capacity as f64) / SECTOR;
    sectors.min(capacity / SECTOR - 2 * track_bytes(parameters, 0.0) / SECTOR) * SECTOR
}

fn track_bytes(parameters: &SpinningParameters, radius: f64) -> u64 {
    let (outer, inner) = (
        parameters.outer_mb_per_s.value,
        parameters.inner_mb_per_s.value,
    );
    let rate = outer - (outer - inner) * radius;
    whole(rate * 1e6 * 60.0 / f64::from(parameters.rpm.value))
}

/// From one address to sectors all around a track at another: the least latency is that without a
/// wait, so what it is beyond the overhead is the seek.
fn seek_us(parameters: &SpinningParameters, from: u64, to: u64, radius: f64, steps: u64) -> f64 {
    let mut bench = Bench::new(parameters);
    let track = track_bytes(parameters, radius);
    let least = (0..steps)
        .map(|number| {
            bench.one(Request::read(from, SECTOR));
            bench.one(Request::read(
                to + number * track / steps / SECTOR * SECTOR,
                SECTOR,
            ))
        })
        .min()
        .expect("some steps");
    // Half a step is what the best of the sectors is away from the head at the mean.
    let revolution_us = 60e6 / f64::from(parameters.rpm.value);
    least as f64 / 1e3
        - parameters.command_overhead_us.value
        - revolution_us / steps as f64 / 2.0
        - SECTOR as f64 / parameters.outer_mb_per_s.value
}

fn disks() -> Vec<SpinningParameters> {
    let fast = SpinningParameters {
        rpm: Figure::assumed(15_000),
        track_to_track_seek_us: Figure::assumed(300.0),
        average_seek_us: Figure::assumed(3200.0),
        full_stroke_seek_us: Figure::assumed(7500.0),
        outer_mb_per_s: Figure::assumed(120.0),
        inner_mb_per_s: Figure::assumed(85.0),
        ..bare()
    };
    let slow = SpinningParameters {
        rpm: Figure::assumed(5400),
        track_to_track_seek_us: Figure::assumed(1000.0),
        average_seek_us: Figure::assumed(12_000.0),
        full_stroke_seek_us: Figure::assumed(20_500.0),
        ..bare()
    };
    vec![bare(), fast, slow]
}

#[test]
fn the_seek_curve_is_recovered() {
    for parameters in disks() {
        let track = track_bytes(&parameters, 0.0) / SECTOR * SECTOR + 2 * SECTOR;
        let next = seek_us(&parameters, 0, track, 0.0, 1000);
        let one = parameters.track_to_track_seek_us.value;
        assert_within("track to track", next, one, 0.02);

        let last = address(&parameters, 1.0);
        let full = seek_us(&parameters, 0, last, 1.0, 200);
        assert_within(
            "full stroke",
            full,
            parameters.full_stroke_seek_us.value,
            0.02,
        );

        // Random pairs of radii are x apart with density 2 (1 - x).
        let points = 40;
        let mean: f64 = (0..points)
            .map(|number| {
                let x = (f64::from(number) + 0.5) / f64::from(points);
                let to = address(&parameters, x);
                seek_us(&parameters, 0, to, x, 100) * 2.0 * (1.0 - x) / f64::from(points)
            })
            .sum();
        assert_within("average", mean, parameters.average_seek_us.value, 0.02);
    }
}

#[test]
fn a_write_settles_for_longer() {
    let settled = SpinningParameters {
        write_settle_us: Figure::assumed(700.0),
        ..bare()
    };
    let write_us = |parameters: &SpinningParameters| {
        let mut bench = Bench::new(parameters);
        let far = parameters.capacity_bytes.value / 2;
        let least = (0..1000).map(|number| {
            bench.one(Request::read(0, SECTOR));
            bench.one(Request::write(far + number * 2 * SECTOR, SECTOR))
        });
        least.min().expect("some") as f64 / 1e3
    };
    let unsettled = SpinningParameters {
        write_settle_us: Figure::assumed(0.0),
        ..bare()
    };
    let difference = write_us(&settled) - write_us(&unsettled);
    assert!((difference - 700.0).abs() < 15.0, "{difference}");
}

#[test]
fn a_sector_comes_round_once_a_revolution() {
    for rpm in [5400, 7200, 10_000, 15_000] {
        let mut bench = Bench::new(&SpinningParameters {
            rpm: Figure::assumed(rpm),
            ..bare()
        });
        bench.one(Request::read(MIB, SECTOR));
        let from = bench.now;
        for _ in 0..100 {
            bench.one(Request::read(MIB, SECTOR));
        }
        let found = 100.0 * 60.0 * NANOS_PER_S as f64 / (bench.now - from) as f64;
        assert_within("rpm", found, f64::from(rpm), 0.000_1);
    }
}

#[test]
fn synced_appends_are_one_a_revolution() {
    for (rpm, cache) in [(15_000, false), (7200, false), (5400, false), (7200, true)] {
        let base = if cache { ordinary() } else { bare() };
        let mut bench = Bench::new(&SpinningParameters {
            rpm: Figure::assumed(rpm),
            ..base
        });
        let from = bench.now;
        let count = 1000;
        for number in 0..count {
            bench.one(Request::write(number * 4 * KIB, 4 * KIB));
            bench.one(Request::flush());
        }
        let a_second = count as f64 / ((bench.now - from) as f64 / NANOS_PER_S as f64);
        assert_within("synced appends", a_second, f64::from(rpm) / 60.0, 0.02);
    }
}

#[test]
fn sequential_reads_and_writes_run_at_the_rate_of_their_zone() {
    let parameters = ordinary();
    let capacity = parameters.capacity_bytes.value;
    let spans = [
        (0, parameters.outer_mb_per_s.value),
        (capacity - 200 * MIB, parameters.inner_mb_per_s.value),
    ];
    for (start, expected) in spans {
        for (block, write) in [(MIB, false), (64 * KIB, false), (256 * KIB, true)] {
            let rate = sequential_mb_per_s(&parameters, start, block, write);
            assert_within("MB/s", rate, expected, 0.02);
        }
    }
}

/// Of 100 MiB, after 20 MiB that fill the cache.
fn sequential_mb_per_s(
    parameters: &SpinningParameters,
    start: u64,
    block: u64,
    write: bool,
) -> f64 {
    let mut bench = Bench::new(parameters);
    let mut from = 0;
    for number in 0..120 * MIB / block {
        if number == 20 * MIB / block {
            from = bench.now;
        }
        let at = start + number * block;
        bench.one(if write {
            Request::write(at, block)
        } else {
            Request::read(at, block)
        });
    }
    100.0 * MIB as f64 / ((bench.now - from) as f64 / 1e3)
}

#[test]
fn zones_lie_where_their_addresses_say() {
    // The rate falls linearly with the radius, so with the square root of a linear function of the
    // address: half-way through the addresses it is sqrt((Ro^2 + Ri^2) / 2).
    let parameters = ordinary();
    let mut bench = Bench::new(&parameters);
    let start = parameters.capacity_bytes.value / 2 / MIB * MIB;
    bench.one(Request::read(start, MIB));
    let from = bench.now;
    for number in 1..101 {
        bench.one(Request::read(start + number * MIB, MIB));
    }
    let rate = 100.0 * MIB as f64 / ((bench.now - from) as f64 / 1e3);
    let (outer, inner) = (130.0_f64, 65.0_f64);
    let expected = f64::midpoint(outer * outer, inner * inner).sqrt();
    assert_within("MB/s", rate, expected, 0.01);
}

#[test]
fn a_sector_written_in_part_is_read_first() {
    let parameters = SpinningParameters {
        sector_bytes: Figure::assumed(4096),
        ..bare()
    };
    let revolution_ns = parameters.revolution_ns();
    let mut bench = Bench::new(&parameters);
    // From the same sector to the same: a whole revolution, or two.
    bench.one(Request::write(MIB, 4096));
    let whole = bench.one(Request::write(MIB, 4096)) as f64;
    bench.one(Request::write(MIB, 512));
    let part = bench.one(Request::write(MIB, 512)) as f64;
    assert_within("whole", whole, revolution_ns, 0.001);
    assert_within("in part", part, 2.0 * revolution_ns, 0.001);
}
