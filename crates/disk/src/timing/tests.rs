//! What holds for every device that comes with the program, composed ones among them.

use super::testing::{History, histories, keeps_the_contract, steps_do_not_matter};
use crate::device::{self, Build};

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
            let build = || device.device.build(Build { seed: history.seed });
            keeps_the_contract(build, history);
        }
    }
}

#[test]
fn a_device_tells_the_same_in_whatever_steps_it_is_driven() {
    for name in device::names() {
        let device = device::open(name).expect(name);
        for history in histories(8 << 20, 1..3) {
            let build = || device.device.build(Build { seed: history.seed });
            println!("{name}: {history:?}");
            steps_do_not_matter(build, history);
        }
    }
}
