//! The spinning disks that come with the program, held to what was published of them.

use crate::device::{self, Build, Measure, Model, Published};
use crate::simulate::{self, Length, Outcome};

/// What the model makes of a published figure.
fn measured(outcome: &Outcome, measure: Measure) -> (f64, f64) {
    let us = |quantile| outcome.latency_ns.value_at_quantile(quantile) as f64 / 1e3;
    match measure {
        Measure::Iops(value) => (outcome.iops(), value),
        Measure::MegabytesPerS(value) => (outcome.megabytes_per_s(), value),
        Measure::MeanUs(value) => (outcome.latency_ns.mean() / 1e3, value),
        Measure::MedianUs(value) => (us(0.5), value),
        Measure::P95Us(value) => (us(0.95), value),
        Measure::P99Us(value) => (us(0.99), value),
        Measure::MaxUs(value) => (us(1.0), value),
        Measure::FlushesPerS(value) => (outcome.flushes as f64 / outcome.seconds, value),
    }
}

fn spins(model: &Model) -> bool {
    match model {
        Model::Spinning(_) => true,
        Model::Bridge(bridge) => spins(&bridge.disk),
        _ => false,
    }
}

fn ratio(device: &Model, published: &Published) -> f64 {
    let mut disk = device.build(Build { seed: 1 });
    let outcome = simulate::run(disk.as_mut(), &published.probe, Length::seconds(20), 1);
    let (found, expected) = measured(&outcome, published.measure);
    found / expected
}

#[test]
fn fitted_figures_are_met_and_held_out_ones_come_near() {
    let (mut fitted, mut held_out) = (0, 0);
    for name in device::names() {
        let device = device::open(name).expect(name);
        if !spins(&device.device) {
            continue;
        }
        for published in &device.published {
            let ratio = ratio(&device.device, published);
            let within = if published.fitted { 0.10 } else { 0.20 };
            assert!(
                (ratio - 1.0).abs() < within,
                "{name}: {ratio} of {published:?}"
            );
            fitted += u32::from(published.fitted);
            held_out += u32::from(!published.fitted);
        }
    }
    assert!(
        fitted >= 5 && held_out >= 7,
        "{fitted} fitted, {held_out} held out"
    );
}
