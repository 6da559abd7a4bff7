use super::*;
use crate::device::Kind as _;
use crate::device::Pattern;
use crate::device::{Figure, Model, Probe};
use crate::request::NANOS_PER_US;
use crate::simulate::{self, Length};
use crate::timing::testing::{Delay, histories, keeps_the_contract, latency};

const GIB: u64 = 1 << 30;

fn parameters() -> BridgeParameters {
    BridgeParameters {
        command_us: Figure::assumed(50.0),
        bus_mb_per_s: Figure::assumed(400.0),
        disk: Box::new(Model::Named("not used: the disk is given".to_owned())),
    }
}

fn bridge(disk: Delay) -> Bridge {
    Bridge::new(&parameters(), disk.boxed())
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
fn depth_gains_nothing() {
    let alone = iops(&mut bridge(disk()), 1);
    let crowded = iops(&mut bridge(disk()), 32);
    assert!((crowded / alone - 1.0).abs() < 1e-3, "{alone} {crowded}");
}

#[test]
fn a_request_costs_its_command_the_disk_and_the_last_piece() {
    for kind in [Request::read as fn(u64, u64) -> Request, Request::write] {
        let took = latency(&mut bridge(disk()), 0, kind(0, 4096));
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
        let took = latency(&mut bridge(fast()), 0, kind(0, 1 << 20));
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
    let mut timing = bridge(Delay::new(GIB, 1, 8));
    let found = simulate::run(&mut timing, &probe, Length::seconds(5), 1).megabytes_per_s();
    assert!((380.0..=400.1).contains(&found), "{found}");
}

#[test]
fn it_keeps_the_contract() {
    for history in histories(1 << 24, 0..12) {
        keeps_the_contract(|| Box::new(bridge(disk())), history);
        let null = || Box::new(crate::timing::Memory::without_delay(GIB)) as Box<dyn Timing>;
        keeps_the_contract(|| Box::new(Bridge::new(&parameters(), null())), history);
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refused = |change: fn(&mut BridgeParameters)| {
        let mut wrong = parameters();
        *wrong.disk = Model::Named("lost".to_owned());
        change(&mut wrong);
        wrong.check().expect_err("it cannot be")
    };
    assert!(refused(|wrong| wrong.command_us.value = -1.0).contains("command_us is -1"));
    assert!(refused(|wrong| wrong.command_us.value = f64::NAN).contains("command_us is NaN"));
    assert!(refused(|wrong| wrong.bus_mb_per_s.value = 0.0).contains("bus_mb_per_s is 0"));
    assert!(refused(|_| ()).contains("bridge.disk: the device `lost`"));
}
