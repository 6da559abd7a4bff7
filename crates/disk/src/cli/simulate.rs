use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::batch;
use super::output;
use super::promise::PromiseOptions;
use crate::device::{self, Build, Device, Probe, Promise, within};
use crate::request::{nanos_of_us, us_of_nanos};
use crate::simulate::transactions::{self, Load};
use crate::simulate::{self, Length};

/// Run probes or a database's loads against a device's model in virtual time, without a disk
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Simulate {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
    /// Seed of the probes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    promise: PromiseOptions,
    /// Loads of a database's clients, one JSON object a line; each gives a line
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    transactions: Option<PathBuf>,
    /// Probes, one JSON object a line; each gives a line
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "transactions",
        conflicts_with = "transactions"
    )]
    probes: Option<PathBuf>,
}

/// A probe, and how long it runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    probe: Probe,
    seconds: u64,
    requests: u64,
    /// See `Length::fio_window`.
    #[serde(default)]
    fio_window_s: f64,
}

impl Wanted {
    /// Refuses what nobody could wait for.
    fn check(&self) -> Result<(), String> {
        self.probe.check()?;
        within!(self; 1, MOST_SECONDS => seconds; 0.0, LONGEST_WINDOW_S => fio_window_s);
        if self.requests == 0 {
            return Err("requests is 0; it may be 1 or more".into());
        }
        Ok(())
    }
}

const MOST_SECONDS: u64 = 1_000_000_000;
const LONGEST_WINDOW_S: f64 = 1e6;

impl Simulate {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        let promise = self.promise.promise()?;
        if let Some(file) = &self.transactions {
            return run_loads(&device, file, promise);
        }
        let Some(file) = &self.probes else {
            return Ok(());
        };
        let seed = self.seed;
        let probes = batch::read(file, Wanted::check)?;
        let answers = batch::run(&probes, |one| answer(&device, Build { seed, promise }, one));
        answers.iter().try_for_each(output::print_line)
    }
}

fn answer(device: &Device, build: Build, wanted: &Wanted) -> Value {
    let mut timing = device.device.build(build);
    let length = Length {
        requests: wanted.requests,
        fio_window: nanos_of_us(wanted.fio_window_s * 1e6),
        ..Length::seconds(wanted.seconds)
    };
    let outcome = simulate::run(timing.as_mut(), &wanted.probe, length, build.seed);
    serde_json::json!({
        "seconds": outcome.seconds,
        "requests": outcome.requests,
        "iops": outcome.iops(),
        "megabytes_per_s": outcome.megabytes_per_s(),
        "flushes": outcome.flushes,
        "mean_us": outcome.latency_ns.mean() / 1e3,
        "median_us": us_of_nanos(outcome.latency_ns.value_at_quantile(0.5)),
        "p95_us": us_of_nanos(outcome.latency_ns.value_at_quantile(0.95)),
        "p99_us": us_of_nanos(outcome.latency_ns.value_at_quantile(0.99)),
        "max_us": us_of_nanos(outcome.latency_ns.max()),
        "flush_mean_us": outcome.flush_latency_ns.mean() / 1e3,
        "flush_median_us": us_of_nanos(outcome.flush_latency_ns.value_at_quantile(0.5)),
        "counters": timing.counters(),
    })
}

fn run_loads(device: &Device, path: &Path, promise: Promise) -> anyhow::Result<()> {
    let answers = batch::run(&batch::read(path, Load::check)?, |load| {
        let seed = load.seed;
        let mut timing = device.device.build(Build { seed, promise });
        transactions::run(timing.as_mut(), load)
    });
    for answer in answers {
        output::print_line(&serde_json::to_value(answer.map_err(|why| anyhow!(why))?)?)?;
    }
    Ok(())
}
