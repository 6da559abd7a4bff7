use super::*;
use crate::device::Kind as _;
use crate::device::{Figure, Model, Pattern, Probe};
use crate::request::NANOS_PER_US;
use crate::simulate::{self, Length};
use crate::timing::Null;
use crate::timing::testing::{Delay, histories, keeps_the_contract, latency, live_through};

const CHUNK: u64 = 64 * 1024;
const DISK_BYTES: u64 = 1 << 28;
const SERVICE_US: Nanos = 1_000;
const SECOND: Nanos = 1_000_000_000;
const LEVELS: [RaidLevel; 3] = [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10];

fn parameters(level: RaidLevel, disks: usize) -> RaidParameters {
    RaidParameters {
        level: Figure::assumed(level),
        chunk_bytes: Figure::assumed(CHUNK),
        disks: vec![Model::Named("not used: the disks are given".to_owned()); disks],
    }
}

fn raid_of(level: RaidLevel, disks: usize, disk: impl Fn() -> Box<dyn Timing>) -> Raid {
    let disks = (0..disks).map(|_| disk()).collect();
    Raid::new(&parameters(level, 4), disks)
}

/// Of disks that serve one request at a time and have volatile caches.
fn raid(level: RaidLevel, disks: usize) -> Raid {
    raid_of(level, disks, || {
        Delay::new(DISK_BYTES, SERVICE_US * NANOS_PER_US, 1)
            .with_a_volatile_cache()
            .boxed()
    })
}

fn us(nanos: Nanos) -> u64 {
    nanos / NANOS_PER_US
}

fn iops(raid: &mut Raid, pattern: Pattern) -> f64 {
    let probe = Probe {
        pattern,
        block_bytes: 4096,
        depth: 64,
        span_bytes: None,
    };
    simulate::run(raid, &probe, Length::seconds(5), 7).iops()
}

/// Of one disk, a second.
const ONE: f64 = 1e6 / SERVICE_US as f64;

fn member(raid: &Raid, number: usize, what: &str) -> u64 {
    let name = format!("member{number}.{what}");
    raid.counters().get(&name).copied().unwrap_or(0)
}

#[test]
fn the_size_is_that_of_the_disks_that_hold_data() {
    for (level, with_data) in LEVELS.into_iter().zip([4, 1, 2]) {
        assert_eq!(raid(level, 4).capacity_bytes(), with_data * DISK_BYTES);
    }
}

#[test]
fn the_smallest_disk_counts_in_whole_chunks() {
    let disks: Vec<Box<dyn Timing>> = vec![
        Box::new(Null::new(10 * CHUNK)),
        Box::new(Null::new(3 * CHUNK + 4096)),
    ];
    let raid = Raid::new(&parameters(RaidLevel::Raid0, 2), disks);
    assert_eq!(raid.capacity_bytes(), 6 * CHUNK);
}

#[test]
fn random_reads_use_every_disk() {
    for level in LEVELS {
        let found = iops(&mut raid(level, 4), Pattern::RandomRead);
        assert!(
            (found / (4.0 * ONE) - 1.0).abs() < 0.03,
            "{level:?}: {found}"
        );
    }
}

#[test]
fn random_writes_cost_what_the_level_costs() {
    // Copies: one, four, two.
    for (level, cost) in LEVELS.into_iter().zip([1.0, 4.0, 2.0]) {
        let found = iops(&mut raid(level, 4), Pattern::RandomWrite);
        let expected = 4.0 * ONE / cost;
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{level:?}: {found} {expected}"
        );
    }
}

#[test]
fn a_sequential_read_stays_on_one_disk_of_a_mirror() {
    let mut raid = raid(RaidLevel::Raid1, 2);
    for number in 0..10 {
        let read = Request::read(CHUNK + number * 4096, 4096);
        latency(&mut raid, number * SECOND, read);
    }
    let shares = [0, 1].map(|disk| member(&raid, disk, "read_requests"));
    assert!(shares == [10, 0] || shares == [0, 10], "{shares:?}");
}

#[test]
fn chunks_of_one_disk_are_asked_for_together() {
    let mut raid = raid(RaidLevel::Raid0, 4);
    assert_eq!(
        us(latency(&mut raid, 0, Request::read(0, 16 * CHUNK))),
        SERVICE_US
    );
    for disk in 0..4 {
        assert_eq!(member(&raid, disk, "read_requests"), 1);
        assert_eq!(member(&raid, disk, "read_bytes"), 4 * CHUNK);
    }
}

#[test]
fn a_flush_is_every_disks() {
    for level in LEVELS {
        let mut raid = raid(level, 4);
        latency(&mut raid, 0, Request::flush());
        assert!((0..4).all(|disk| member(&raid, disk, "flush_requests") == 1));
    }
}

#[test]
fn it_keeps_the_contract_and_forgets_what_is_done() {
    for level in LEVELS {
        for history in histories(8 << 20, 0..12) {
            keeps_the_contract(|| Box::new(raid(level, 4)), history);
            let null = || Box::new(Null::new(DISK_BYTES)) as Box<dyn Timing>;
            keeps_the_contract(|| Box::new(raid_of(level, 6, null)), history);
            let mut one = raid(level, 4);
            live_through(&mut one, history);
            assert!(one.wholes.are_done());
        }
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let words = |level, disks, chunk_bytes| {
        let mut wrong = parameters(level, disks);
        wrong.chunk_bytes.value = chunk_bytes;
        wrong.check().expect_err("it cannot be")
    };
    assert!(words(RaidLevel::Raid0, 1, CHUNK).contains("raid.disks has 1"));
    assert!(words(RaidLevel::Raid10, 5, CHUNK).contains("an even number"));
    assert!(words(RaidLevel::Raid0, 65, CHUNK).contains("at most 64"));
    assert!(words(RaidLevel::Raid0, 4, 5000).contains("raid.chunk_bytes is 5000"));
    assert!(words(RaidLevel::Raid0, 4, CHUNK).contains("raid.disks[0]: the device"));
    let unknown = serde_json::from_str::<RaidLevel>("6").expect_err("no such level");
    assert!(unknown.to_string().contains("RAID level 6"), "{unknown}");
    assert_eq!(
        serde_json::to_string(&RaidLevel::Raid10).expect("a number"),
        "10"
    );
}
