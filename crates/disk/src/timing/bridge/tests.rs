use super::*;
use crate::device::Kind as _;
use crate::device::Pattern;
use crate::device::{Figure, Model, Probe};
use crate::request::NANOS_PER_US;
use crate::simulate::{self, Length};
use crate::timing::testing::{Delay, histories, keeps_the_contract, latency, rest};

const GIB: u64 = 1 << 30;

fn parameters(protocol: BridgeProtocol) -> BridgeParameters {
    BridgeParameters {
        protocol: Figure::assumed(protocol),
        queue_depth: Figure::assumed(8),
        command_us: Figure::assumed(50.0),
        bus_mb_per_s: Figure::assumed(400.0),
        flush: Figure::assumed(FlushHandling::Passed),
        disk: Box::new(Model::Named("not used: the disk is given".to_owned())),
    }
}

fn bridge(protocol: BridgeProtocol, disk: Delay) -> Bridge {
    Bridge::new(&parameters(protocol), disk.boxed())
}

fn disk() -> Delay {
    Delay::new(GIB, 1_000 * NANOS_PER_US, 32).with_a_volatile_cache()
}

fn iops(timing: &mut dyn Timing, depth: u32) -> f64 {
    let probe = Probe {
        pattern: Pattern::RandomRead,
        block_bytes: 4096,
        depth,
        span_bytes: None,
    };
    simulate::run(timing, &probe, Length::seconds(10), 1).iops()
}

#[test]
fn bulk_only_gains_nothing_from_depth_and_uas_what_its_queue_holds() {
    let alone = iops(&mut bridge(BridgeProtocol::BulkOnly, disk()), 1);
    let crowded = iops(&mut bridge(BridgeProtocol::BulkOnly, disk()), 32);
    assert!((crowded / alone - 1.0).abs() < 1e-3, "{alone} {crowded}");
    let queued = iops(&mut bridge(BridgeProtocol::Uas, disk()), 32);
    assert!((queued / alone - 8.0).abs() < 0.4, "{alone} {queued}");
}

#[test]
fn a_request_costs_its_command_the_disk_and_the_last_piece() {
    for kind in [Request::read as fn(u64, u64) -> Request, Request::write] {
        let took = latency(
            &mut bridge(BridgeProtocol::BulkOnly, disk()),
            0,
            kind(0, 4096),
        );
        assert_eq!(
            took,
            (50 + 1_000) * NANOS_PER_US + transfer_nanos(4096, 400.0)
        );
    }
}

#[test]
fn many_bytes_take_the_time_of_the_bus() {
    let fast = || Delay::new(GIB, 1, 1);
    for kind in [Request::read as fn(u64, u64) -> Request, Request::write] {
        let took = latency(
            &mut bridge(BridgeProtocol::BulkOnly, fast()),
            0,
            kind(0, 1 << 20),
        );
        let expected = 50 * NANOS_PER_US + transfer_nanos(1 << 20, 400.0);
        assert!(took.abs_diff(expected) < 10, "{took} {expected}");
    }
}

#[test]
fn the_bus_carries_no_more_than_its_rate_at_any_depth() {
    let probe = Probe {
        pattern: Pattern::SequentialRead,
        block_bytes: 1 << 20,
        depth: 8,
        span_bytes: None,
    };
    let mut timing = bridge(BridgeProtocol::Uas, Delay::new(GIB, 1, 8));
    let found = simulate::run(&mut timing, &probe, Length::seconds(5), 1).megabytes_per_s();
    assert!((380.0..=400.1).contains(&found), "{found}");
}

#[test]
fn a_dropped_flush_leaves_the_disk_alone_and_nothing_stable() {
    let mut dropping = parameters(BridgeProtocol::BulkOnly);
    dropping.flush = Figure::assumed(FlushHandling::Dropped);
    let mut timing = Bridge::new(&dropping, disk().boxed());
    latency(&mut timing, 0, Request::write(0, 4096));
    let flush = latency(&mut timing, 2_000_000, Request::flush());
    assert_eq!(flush, 50 * NANOS_PER_US);
    assert_eq!(timing.counters()["flushes_dropped"], 1);
    assert!(!timing.counters().contains_key("disk.flush_requests"));
    let later = rest(&mut timing);
    assert!(matches!(later[..], [Event::Stable { at, .. }] if at > 2_050_000));
}

#[test]
fn it_keeps_the_contract() {
    for protocol in [BridgeProtocol::BulkOnly, BridgeProtocol::Uas] {
        for history in histories(1 << 24, 0..12) {
            keeps_the_contract(|| Box::new(bridge(protocol, disk())), history);
            let null = || Box::new(crate::timing::Null::new(GIB)) as Box<dyn Timing>;
            keeps_the_contract(
                || Box::new(Bridge::new(&parameters(protocol), null())),
                history,
            );
        }
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refused = |change: fn(&mut BridgeParameters)| {
        let mut wrong = parameters(BridgeProtocol::Uas);
        *wrong.disk = Model::Named("lost".to_owned());
        change(&mut wrong);
        wrong.check().expect_err("it cannot be")
    };
    assert!(refused(|wrong| wrong.command_us.value = -1.0).contains("command_us is -1"));
    assert!(refused(|wrong| wrong.command_us.value = f64::NAN).contains("command_us is NaN"));
    assert!(refused(|wrong| wrong.bus_mb_per_s.value = 0.0).contains("bus_mb_per_s is 0"));
    assert!(refused(|wrong| wrong.queue_depth.value = 0).contains("queue_depth is 0"));
    assert!(refused(|_| ()).contains("bridge.disk: the device `lost`"));
}
