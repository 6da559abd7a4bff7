//! What holds for every device that comes with the program, composed ones among them.

use super::testing::{
    Exposure, History, exposure, histories, keeps_the_contract, steps_do_not_matter,
};
use crate::device::{self, Build, Promise};

/// A device may be described to lie: a flush that is ignored or dropped promises nothing.
fn is_honest(device: &device::Device) -> bool {
    let words = serde_json::to_string(&device.device).expect("a model is JSON");
    !["\"ignored\"", "\"dropped\""]
        .iter()
        .any(|word| words.contains(word))
}

#[test]
fn every_device_keeps_the_contract() {
    for name in device::names() {
        let device = device::open(name).expect(name);
        for history in histories(8 << 20, 2..3) {
            let history = History {
                honest: is_honest(&device),
                ..history
            };
            let build = || device.device.build(Build::seeded(history.seed));
            keeps_the_contract(build, history);
        }
    }
}

#[test]
fn a_device_tells_the_same_in_whatever_steps_it_is_driven() {
    for name in device::names() {
        let device = device::open(name).expect(name);
        for history in histories(8 << 20, 1..3) {
            let build = || device.device.build(Build::seeded(history.seed));
            println!("{name}: {history:?}");
            steps_do_not_matter(build, history);
        }
    }
}

/// Devices that come with the program, under every promise that is not their own, and whether flushes
/// keep their word under it.
fn promised() -> impl Iterator<Item = (&'static str, device::Device, Promise)> {
    let promises = [Promise::FlushesIgnored, Promise::PowerLossProtected];
    device::names().into_iter().flat_map(move |name| {
        let device = device::open(name).expect(name);
        promises.map(|promise| (name, device.clone(), promise))
    })
}

#[test]
fn every_device_keeps_the_contract_under_other_promises() {
    for (name, device, promise) in promised() {
        let [history] = histories(8 << 20, 2..3).collect::<Vec<_>>()[..] else {
            unreachable!("one seed")
        };
        let history = History {
            honest: promise == Promise::PowerLossProtected,
            ..history
        };
        let seed = history.seed;
        println!("{name}: {promise:?}");
        keeps_the_contract(|| device.device.build(Build { seed, promise }), history);
    }
}

#[test]
fn other_promises_tell_the_same_in_whatever_steps_they_are_driven() {
    for (name, device, promise) in promised() {
        for history in histories(8 << 20, 1..2) {
            let seed = history.seed;
            println!("{name}: {promise:?}");
            steps_do_not_matter(|| device.device.build(Build { seed, promise }), history);
        }
    }
}

/// What a history with pauses between its requests finds of a device.
fn exposed(device: &device::Device, promise: Promise) -> Exposure {
    let history = histories(64 << 10, 1..2).next().expect("one seed");
    let history = History {
        requests: 400,
        ..history
    };
    let seed = history.seed;
    let mut timing = device.device.build(Build { seed, promise });
    let found = exposure(timing.as_mut(), history);
    assert!(found.flushes > 10, "{found:?}");
    found
}

#[test]
fn after_an_honest_flush_nothing_that_was_answered_before_is_at_risk() {
    for name in device::names() {
        let device = device::open(name).expect(name);
        let found = exposed(&device, Promise::AsDescribed);
        assert!(
            found.broken_flushes == 0 || !is_honest(&device),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn with_power_loss_protection_no_answer_is_ever_at_risk() {
    for name in device::names() {
        let device = device::open(name).expect(name);
        let found = exposed(&device, Promise::PowerLossProtected);
        assert_eq!(
            (found.broken_flushes, found.exposed_answers),
            (0, 0),
            "{name}"
        );
    }
}

/// Which devices have something to lose by it: those with a volatile cache.
#[test]
fn ignored_flushes_break_their_promise_where_there_is_a_volatile_cache() {
    let mut losing = Vec::new();
    for name in device::names() {
        let device = device::open(name).expect(name);
        if exposed(&device, Promise::FlushesIgnored).broken_flushes > 0 {
            losing.push(name);
        }
    }
    assert_eq!(
        losing,
        [
            "desktop-7200",
            "disk-cache-over-ssd",
            "ec2-m3-instance-ssd",
            "fujitsu-mbc2073rc",
            "intel-x25-e",
            "kexin-240",
            "laptop-ssd-2012",
            "ocz-agility-3-60",
            "samsung-970-pro",
            "seagate-barracuda-7200-9-160",
            "ssd-cache-over-disk",
            "wd-my-passport-ultra",
        ]
    );
}
