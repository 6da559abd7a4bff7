//! Limits, credits and the round trip are found again by probing.

use super::*;
use crate::device::Kind as _;
use crate::device::{Figure, Pattern, Probe};
use crate::request::NANOS_PER_S;
use crate::simulate::{self, Length, Outcome};
use crate::timing::testing::{History, keeps_the_contract, rest};

const GIB: u64 = 1 << 30;
const IO: u64 = 256 * 1024;
const MS: Nanos = 1_000_000;

fn given<T>(value: T) -> Figure<T> {
    Figure::assumed(value)
}

fn volume() -> CloudParameters {
    CloudParameters {
        capacity_bytes: given(100 * GIB),
        read_median_us: given(500.0),
        write_median_us: given(800.0),
        sigma: given(0.0),
        flush_us: given(0.0),
        flush_ios: given(0),
        concurrency: given(64),
        batches: given(false),
        iops: IopsLimit::Fixed(given(3000.0)),
        mib_per_s: given(250.0),
        write_iops: None,
        write_mib_per_s: None,
        io_bytes: given(IO),
        burst: None,
    }
}

fn gp2(gib: u64) -> CloudParameters {
    CloudParameters {
        capacity_bytes: given(gib * GIB),
        iops: IopsLimit::BySize {
            per_gib: given(3.0),
            least: given(100.0),
            most: given(16_000.0),
        },
        burst: Some(Burst {
            iops: given(3000.0),
            most_credits: given(5.4e6),
            credits: given(5.4e6),
        }),
        ..volume()
    }
}

fn probe(parameters: &CloudParameters, pattern: Pattern, block_bytes: u64, depth: u32) -> Outcome {
    parameters.check().expect("a volume that can be");
    let probe = Probe {
        pattern,
        block_bytes,
        depth,
        span_bytes: None,
    };
    simulate::run(
        &mut Cloud::new(parameters, 1),
        &probe,
        Length::seconds(20),
        1,
    )
}

#[track_caller]
fn near(found: f64, wanted: f64, share: f64) {
    assert!(
        (found / wanted - 1.0).abs() <= share,
        "{found} for {wanted}"
    );
}

#[test]
fn alone_a_request_takes_a_round_trip_and_its_bytes() {
    let read = probe(&volume(), Pattern::RandomRead, 4096, 1);
    near(
        read.latency_ns.mean(),
        500e3 + 4096.0 * 1e9 / (250.0 * 1_048_576.0),
        0.01,
    );
    let write = probe(&volume(), Pattern::RandomWrite, 4096, 1);
    near(
        write.latency_ns.mean(),
        800e3 + 4096.0 * 1e9 / (250.0 * 1_048_576.0),
        0.01,
    );
}

#[test]
fn the_round_trip_is_log_normal() {
    let spread = CloudParameters {
        sigma: given(0.5),
        mib_per_s: given(1e6),
        iops: IopsLimit::Fixed(given(1e6)),
        ..volume()
    };
    let found = probe(&spread, Pattern::RandomRead, 512, 1).latency_ns;
    near(found.value_at_quantile(0.5) as f64, 500e3, 0.02);
    near(found.mean(), 500e3 * 0.125_f64.exp(), 0.02);
    near(
        found.value_at_quantile(0.841_345) as f64,
        500e3 * 0.5_f64.exp(),
        0.02,
    );
}

#[test]
fn depth_finds_concurrency_then_the_ios_then_the_bytes() {
    let few = CloudParameters {
        concurrency: given(1),
        ..volume()
    };
    near(
        probe(&few, Pattern::RandomRead, 4096, 32).iops(),
        1e6 / 515.6,
        0.01,
    );
    near(
        probe(&volume(), Pattern::RandomRead, 4096, 32).iops(),
        3000.0,
        0.01,
    );
    let bytes = probe(&volume(), Pattern::SequentialRead, 1 << 20, 8);
    near(
        bytes.bytes as f64 / bytes.seconds,
        250.0 * 1_048_576.0,
        0.01,
    );
}

#[test]
fn long_requests_count_more_than_once_and_consecutive_short_ones_together() {
    let slow = CloudParameters {
        iops: IopsLimit::Fixed(given(100.0)),
        ..volume()
    };
    let rate = |block_bytes, pattern| probe(&slow, pattern, block_bytes, 16).iops();
    near(rate(4 * IO, Pattern::RandomRead), 25.0, 0.01);
    near(rate(IO, Pattern::RandomRead), 100.0, 0.01);
    near(rate(IO / 16, Pattern::RandomRead), 100.0, 0.01);
    near(rate(IO / 16, Pattern::SequentialRead), 1600.0, 0.01);
}

/// A redo log: each write follows the last, and is waited for.
#[test]
fn what_is_asked_one_after_the_other_joins_nothing() {
    let slow = CloudParameters {
        iops: IopsLimit::Fixed(given(100.0)),
        ..volume()
    };
    for pattern in [Pattern::SyncedAppend, Pattern::SequentialWrite] {
        near(probe(&slow, pattern, 4096, 1).iops(), 100.0, 0.01);
    }
    let mut spent = gp2(100);
    spent.burst.as_mut().expect("a burst").credits = given(0.0);
    near(
        probe(&spent, Pattern::SyncedAppend, 4096, 1).iops(),
        300.0,
        0.01,
    );
}

#[test]
fn an_io_is_joined_until_its_turn_and_not_across_a_flush() {
    let slow = CloudParameters {
        iops: IopsLimit::Fixed(given(100.0)),
        ..volume()
    };
    let ios = |requests: &[(Nanos, Request)]| {
        let mut volume = Cloud::new(&slow, 1);
        for (tag, &(at, request)) in (0..).zip(requests) {
            volume.advance(at, &mut Vec::new());
            volume.submit(at, Tag(tag), request);
        }
        volume.counters()["ios"]
    };
    let far = Request::write(1 << 30, 4096);
    let (one, two) = (Request::write(0, 4096), Request::write(4096, 4096));
    // The first has its turn at once, the second 10 ms later.
    assert_eq!(ios(&[(0, far), (0, one), (9 * MS, two)]), 2);
    assert_eq!(ios(&[(0, far), (0, one), (11 * MS, two)]), 3);
    assert_eq!(
        ios(&[(0, far), (0, one), (0, Request::flush()), (9 * MS, two)]),
        3
    );
    let other = Request::read(4096, 4096);
    assert_eq!(ios(&[(0, far), (0, one), (0, other)]), 3);
}

#[test]
fn reads_and_writes_take_their_own_share_of_a_limit() {
    let both = CloudParameters {
        write_iops: Some(given(1000.0)),
        write_mib_per_s: Some(given(50.0)),
        ..volume()
    };
    near(
        probe(&both, Pattern::RandomRead, 4096, 32).iops(),
        3000.0,
        0.01,
    );
    near(
        probe(&both, Pattern::RandomWrite, 4096, 32).iops(),
        1000.0,
        0.01,
    );
    let streamed = probe(&both, Pattern::SequentialWrite, 1 << 20, 8);
    near(
        streamed.bytes as f64 / streamed.seconds,
        50.0 * 1_048_576.0,
        0.01,
    );
    // Three reads to two writes.
    near(
        probe(&both, Pattern::Mixed, 4096, 32).iops(),
        1.0 / (0.6 / 3000.0 + 0.4 / 1000.0),
        0.03,
    );
}

/// One that is alone waits a round trip; so many at a time wait that once, and then for each other.
#[test]
fn a_batch_waits_one_round_trip_and_is_answered_together() {
    let host = CloudParameters {
        batches: given(true),
        read_median_us: given(60.0),
        iops: IopsLimit::Fixed(given(100_000.0)),
        mib_per_s: given(1e6),
        ..volume()
    };
    for (depth, takes_us) in [(1, 70.0), (5, 110.0), (32, 380.0)] {
        let read = probe(&host, Pattern::RandomRead, 4096, depth);
        near(read.iops(), f64::from(depth) * 1e6 / takes_us, 0.01);
        near(read.latency_ns.mean(), takes_us * 1e3, 0.01);
    }
    let few = CloudParameters {
        concurrency: given(4),
        ..host.clone()
    };
    near(
        probe(&few, Pattern::RandomRead, 4096, 32).iops(),
        4e6 / 100.0,
        0.01,
    );
    // What comes while a batch is served is in the next.
    let mut volume = Cloud::new(&host, 1);
    volume.submit(0, Tag(0), Request::read(0, 4096));
    volume.submit(50 * NANOS_PER_US, Tag(1), Request::read(1 << 20, 4096));
    volume.advance(60 * NANOS_PER_US, &mut Vec::new());
    volume.submit(61 * NANOS_PER_US, Tag(2), Request::read(2 << 20, 4096));
    let answered: Vec<_> = rest(&mut volume)
        .iter()
        .map(|event| event.at() / NANOS_PER_US)
        .collect();
    assert_eq!(answered, [80, 80, 150]);
    // A flush wakes the host in its own time; after others it takes that time in turn.
    let synced = CloudParameters {
        write_median_us: given(90.0),
        flush_us: given(40.0),
        ..host
    };
    let mut volume = Cloud::new(&synced, 1);
    volume.submit(0, Tag(0), Request::flush());
    volume.submit(0, Tag(1), Request::read(0, 4096));
    volume.submit(0, Tag(2), Request::flush());
    let answered: Vec<_> = rest(&mut volume)
        .iter()
        .map(|event| event.at() / NANOS_PER_US)
        .collect();
    assert_eq!(answered, [90, 90, 90]);
}

#[test]
fn the_limit_grows_with_the_volume_between_its_bounds() {
    for (gib, iops) in [
        (8, 100.0),
        (34, 102.0),
        (100, 300.0),
        (2000, 6000.0),
        (6000, 16_000.0),
    ] {
        near(gp2(gib).base_iops(), iops, 1e-9);
    }
    // Credits are no use to a volume whose base is above the burst.
    near(
        probe(&gp2(2000), Pattern::RandomRead, 4096, 64).iops(),
        6000.0,
        0.01,
    );
    assert!(!Cloud::new(&gp2(2000), 1).counters().contains_key("credits"));
}

/// Reads at random as fast as it goes until `end_s`; the I/Os in each second. Ten of them a read, so
/// that a test of millions of them is quick.
fn reads_a_second(volume: &mut Cloud, end_s: u64) -> Vec<u64> {
    let mut seconds = vec![0; usize::try_from(end_s).expect("short") + 1];
    let mut events = Vec::new();
    let mut tag = 0;
    let mut now = 0;
    while now < end_s * NANOS_PER_S {
        while tag < 32 || !events.is_empty() {
            events.pop();
            let offset = tag * 7_919 % 9_973 * 10 * IO;
            volume.submit(now, Tag(tag), Request::read(offset, 10 * IO));
            tag += 1;
        }
        now = volume.next_event().expect("reads are under way");
        volume.advance(now, &mut events);
        seconds[(now / NANOS_PER_S) as usize] += 10 * events.len() as u64;
    }
    seconds
}

#[test]
fn a_volume_of_100_gib_bursts_for_2000_seconds() {
    let wide = CloudParameters {
        mib_per_s: given(1e6),
        ..gp2(100)
    };
    let mut volume = Cloud::new(&wide, 1);
    let seconds = reads_a_second(&mut volume, 2100);
    let cliff = seconds
        .iter()
        .position(|reads| *reads < 2900)
        .expect("a cliff");
    assert!((1999..=2001).contains(&cliff), "{cliff}");
    near(seconds[10] as f64, 3000.0, 0.01);
    near(
        seconds[2030..2080].iter().sum::<u64>() as f64,
        50.0 * 300.0,
        0.01,
    );
    assert!(volume.counters()["credits"] < 10);
}

#[test]
fn credits_come_back_at_rest() {
    let mut parameters = gp2(100);
    parameters.burst.as_mut().expect("a burst").credits = given(0.0);
    let mut volume = Cloud::new(&parameters, 1);
    // A minute saves 300 x 60 credits; the burst spends 2,700 a second net.
    let from = 60 * NANOS_PER_S;
    let mut answers = Vec::new();
    for tag in 0..30_000 {
        volume.submit(from, Tag(tag), Request::read(tag * 8192, 4096));
    }
    answers.append(&mut rest(&mut volume));
    let by = |s: f64| {
        answers
            .iter()
            .filter(|event| (event.at() - from) as f64 <= s * 1e9)
            .count()
    };
    near(by(6.0) as f64, 18_000.0, 0.01);
    near(by(16.67) as f64, 20_000.0 + 3000.0, 0.01);
}

#[test]
fn contracts_are_kept() {
    let spread = CloudParameters {
        sigma: given(0.7),
        concurrency: given(5),
        ..gp2(100)
    };
    let batches = CloudParameters {
        batches: given(true),
        ..spread.clone()
    };
    for (parameters, seed) in [&spread, &batches]
        .into_iter()
        .flat_map(|one| (0..4).map(move |seed| (one, seed)))
    {
        let history = History {
            requests: 2000,
            depth: 24,
            pause_ns: 300_000,
            span_bytes: GIB,
            seed,
            honest: true,
        };
        keeps_the_contract(|| Box::new(Cloud::new(parameters, seed)), history);
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Spoil = fn(&mut CloudParameters);
    let wrong: [(&str, Spoil); 10] = [
        ("capacity_bytes", |p| p.capacity_bytes = given(0)),
        ("read_median_us", |p| p.read_median_us = given(-1.0)),
        ("sigma", |p| p.sigma = given(9.0)),
        ("concurrency", |p| p.concurrency = given(0)),
        ("mib_per_s", |p| p.mib_per_s = given(0.0)),
        ("io_bytes", |p| p.io_bytes = given(0)),
        ("write_iops", |p| p.write_iops = Some(given(0.0))),
        ("write_mib_per_s", |p| p.write_mib_per_s = Some(given(-1.0))),
        ("iops.fixed", |p| p.iops = IopsLimit::Fixed(given(0.0))),
        ("burst.credits", |p| {
            p.burst = Some(Burst {
                iops: given(1.0),
                most_credits: given(10.0),
                credits: given(11.0),
            });
        }),
    ];
    for (name, spoil) in wrong {
        let mut parameters = volume();
        spoil(&mut parameters);
        let why = parameters.check().expect_err(name);
        assert!(why.starts_with(name), "{why}");
    }
}

#[test]
fn what_is_submitted_late_by_the_head_start_is_told_in_order() {
    let spread = CloudParameters {
        sigma: given(0.5),
        ..gp2(100)
    };
    let mut volume = Cloud::new(&spread, 1);
    let head_start = volume.head_start();
    assert!(head_start > 100 * NANOS_PER_US, "{head_start}");
    let mut last = NANOS_PER_S;
    volume.advance(last, &mut Vec::new());
    for tag in 0..2000 {
        let request = if tag % 3 == 0 {
            Request::flush()
        } else {
            Request::read(tag * 8192, 4096)
        };
        volume.submit(last - head_start, Tag(tag), request);
        let events = rest(&mut volume);
        assert_eq!(events.len(), 1);
        assert!(events[0].at() >= last, "{:?} after {last}", events[0]);
        last = events[0].at();
    }
}

#[test]
fn a_flush_takes_its_turn_where_it_counts() {
    let limited = |flush_ios| CloudParameters {
        write_median_us: given(100.0),
        flush_us: given(50.0),
        flush_ios: given(flush_ios),
        iops: IopsLimit::Fixed(given(500.0)),
        ..volume()
    };
    let synced = |flush_ios| probe(&limited(flush_ios), Pattern::SyncedWrite, 4096, 1).iops();
    near(synced(0), 500.0, 0.01);
    near(synced(1), 250.0, 0.01);
    let mut volume = Cloud::new(&limited(1), 1);
    volume.submit(0, Tag(0), Request::flush());
    volume.submit(0, Tag(1), Request::flush());
    let answered: Vec<_> = rest(&mut volume).iter().map(Event::at).collect();
    assert_eq!(answered, [50 * NANOS_PER_US, 2_050 * NANOS_PER_US]);
    assert_eq!(volume.counters()["throttled"], 1);
}
