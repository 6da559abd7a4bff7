use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::Value;

use super::batch;
use super::output;
use super::promise::PromiseOptions;
use crate::device::{self, Build, Device, Pattern, Probe};
use crate::request::{Nanos, nanos_of_us};
use crate::simulate::transactions::{self, Load};
use crate::simulate::{self, Length};

/// Run a probe against a device's model in virtual time, without a disk
#[derive(Debug, Args)]
pub(super) struct Simulate {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
    /// random-read, random-write, sequential-read, sequential-write, mixed, fileio, synced-write, synced-append
    #[arg(long, value_parser = pattern, default_value = "random-read")]
    pattern: Pattern,
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(512..=16_777_216))]
    block_bytes: u64,
    /// Requests in progress at a time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    depth: u32,
    /// Bytes from the start of the disk that the probe uses [default: all]
    #[arg(long)]
    span_bytes: Option<u64>,
    /// Virtual seconds to measure, after a warm-up of a tenth as long
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(SECONDS))]
    seconds: u64,
    /// Most requests to measure, for devices that take no time
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    promise: PromiseOptions,
    /// Also print how many requests the model answered per second of processor time
    #[arg(long)]
    speed: bool,
    /// Instead of a probe: loads of a database's clients, one JSON object a line; each gives a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["probes", "pattern", "block_bytes", "depth", "span_bytes", "seconds", "requests", "seed", "speed"])]
    transactions: Option<PathBuf>,
    /// Instead of a probe: many of them, one JSON object a line; each gives a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pattern", "block_bytes", "depth", "span_bytes", "seconds", "requests", "speed"])]
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
    /// Refuses what the options would refuse.
    fn check(&self) -> Result<(), String> {
        self.probe.check()?;
        if !SECONDS.contains(&self.seconds) {
            return Err(format!(
                "seconds is {}; it may be 1 to {}",
                self.seconds,
                SECONDS.end()
            ));
        }
        if self.requests == 0 {
            return Err("requests is 0; it may be 1 or more".into());
        }
        if !(0.0..=LONGEST_WINDOW_S).contains(&self.fio_window_s) {
            return Err(format!(
                "fio_window_s is {}; it may be 0 to {LONGEST_WINDOW_S}",
                self.fio_window_s
            ));
        }
        Ok(())
    }
}

const SECONDS: RangeInclusive<u64> = 1..=1_000_000_000;
const LONGEST_WINDOW_S: f64 = 1e6;

fn pattern(text: &str) -> Result<Pattern, String> {
    serde_json::from_value(serde_json::Value::from(text)).map_err(|error| error.to_string())
}

/// Processor time of this thread, so that other programs do not make a model look slow.
fn processor_s() -> f64 {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    taken.tv_sec as f64 + taken.tv_nsec as f64 / 1e9
}

impl Simulate {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        if let Some(file) = &self.transactions {
            return self.run_loads(&device, file);
        }
        let build = Build {
            seed: self.seed,
            promise: self.promise.promise()?,
        };
        if let Some(file) = &self.probes {
            let probes = batch::read(file, Wanted::check)?;
            let answers = batch::run(&probes, |one| self.answer(&device, build, one));
            return answers.iter().try_for_each(output::print_line);
        }
        let probe = Probe {
            pattern: self.pattern,
            block_bytes: self.block_bytes,
            depth: self.depth,
            span_bytes: self.span_bytes,
        };
        let wanted = Wanted {
            probe,
            seconds: self.seconds,
            requests: self.requests,
            fio_window_s: 0.0,
        };
        output::print_line(&self.answer(&device, build, &wanted))
    }

    fn answer(&self, device: &Device, build: Build, wanted: &Wanted) -> Value {
        let mut timing = device.device.build(build);
        let length = Length {
            requests: wanted.requests,
            fio_window: nanos_of_us(wanted.fio_window_s * 1e6),
            ..Length::seconds(wanted.seconds)
        };
        let began_s = processor_s();
        let outcome = simulate::run(timing.as_mut(), &wanted.probe, length, self.seed);
        let took_s = processor_s() - began_s;
        let us = |nanos: Nanos| nanos as f64 / 1e3;
        let mut said = serde_json::json!({
            "seconds": outcome.seconds,
            "requests": outcome.requests,
            "iops": outcome.iops(),
            "megabytes_per_s": outcome.megabytes_per_s(),
            "flushes": outcome.flushes,
            "mean_us": outcome.latency_ns.mean() / 1e3,
            "median_us": us(outcome.latency_ns.value_at_quantile(0.5)),
            "p95_us": us(outcome.latency_ns.value_at_quantile(0.95)),
            "p99_us": us(outcome.latency_ns.value_at_quantile(0.99)),
            "max_us": us(outcome.latency_ns.max()),
            "flush_mean_us": outcome.flush_latency_ns.mean() / 1e3,
            "flush_median_us": us(outcome.flush_latency_ns.value_at_quantile(0.5)),
            "counters": timing.counters(),
        });
        if self.speed {
            said["requests_per_cpu_s"] = (outcome.answers as f64 / took_s).into();
        }
        said
    }

    fn run_loads(&self, device: &Device, path: &Path) -> anyhow::Result<()> {
        let promise = self.promise.promise()?;
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
}
