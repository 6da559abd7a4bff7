//! The workload of a recorded load.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::Stop;
use super::args::{
    Arrivals, Connection, Crowd, Load, MOST_CLIENTS, Output, Reach, positive_seconds, seconds,
};
use super::connect::{target, with_driver};
use super::run::{Kind, run_load};
use super::script::ask_for_names;
use super::scripted::{create_acknowledgements, forget};
use super::within::{Within, number};
use crate::driver::{Driver, Fault, Protocol};
use crate::engine::Failure;
use crate::recording::Recording;
use crate::target::Target;
use crate::workload::replay::{Marks, ReplayOptions, ReplayWorkload};
use crate::workload::sql::Errand;

#[derive(Debug, Clone, Args)]
pub(super) struct RunReplay {
    /// A load that `diskproof-load import` has written
    #[arg(value_name = "LOAD")]
    file: PathBuf,

    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    reach: Reach,

    /// So many times as fast as the log, or `max`: as fast as the order of commits allows
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed)]
    speed: f64,

    /// Whose statements are sent [default: the database that has most of them]
    #[arg(long, value_name = "NAME")]
    database: Option<String>,

    /// Begin at this second of the log
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    begin: Duration,

    /// End at this second of the log [default: its end]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    end: Option<Duration>,

    /// Percent of the sessions that are replayed
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0, within(0.01..=100.0))]
    sessions: f64,

    /// Replay each session so many times at once
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=1000_u16))]
    copies: u16,

    /// Send queries alone, and what begins and ends their transactions
    #[arg(long)]
    only_reads: bool,

    /// When the load has ended, let the server explain the queries that took most: a study says whose plans differ (`--json` has them, without values)
    #[arg(long)]
    explain: bool,

    /// A new file for each commit that was acknowledged, as the line `CLIENT NUMBER SESSION LOG_US MONOTONIC_US`: each transaction that writes also gets a row in a table of ours, `diskproof_commits` (client, number), to be looked up after a power cut; a client that locks tables has one of its own, `diskproof_commits_CLIENT`
    #[arg(long, value_name = "FILE", conflicts_with = "only_reads")]
    acknowledgements: Option<PathBuf>,

    /// Threads that serve the connections [default: one per connection, at most 16]
    #[arg(long, value_name = "N", within(1..=u16::MAX))]
    workers: Option<u16>,

    /// Let the load's time pass so many times slower; all that it says of time is in its own
    #[arg(long, value_name = "K", default_value_t = 1, within(1..=64_u32))]
    dilation: u32,

    /// Seconds at the begin of the load that do not count
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    warm_up: Duration,

    /// End the measured phase after this time [default: with the load]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    seconds: Option<Duration>,

    #[command(flatten)]
    output: Output,
}

/// Infinite: as fast as the order allows.
fn speed(text: &str) -> Result<f64, String> {
    if text == "max" {
        return Ok(f64::INFINITY);
    }
    number(text, &(0.001..=1000.0))
}

pub(super) fn run(args: &RunReplay) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let told =
        |what: &dyn std::fmt::Display| Stop::Arguments(format!("{}: {what}", args.file.display()));
    let recording = Recording::open(&args.file).map_err(|error| told(&error))?;
    let recorded = recording.contents.dialect();
    if !matches!(target, Target::Null(_)) && target.dialect() != recorded {
        return Err(told(&format!(
            "its statements are of {}, and the URL names another kind of server",
            recording.contents.format
        )));
    }
    let micros = |length: Duration| u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
    let until_us = args.end.map_or(u64::MAX, micros);
    if micros(args.begin) >= until_us.min(recording.contents.length_us) {
        return Err(Stop::Arguments(format!(
            "--begin {} lies behind the load's end or --end",
            args.begin.as_secs_f64()
        )));
    }
    let options = ReplayOptions {
        database: args.database.clone(),
        speed: args.speed.is_finite().then_some(args.speed),
        copies: args.copies.into(),
        from_us: micros(args.begin),
        until_us,
        share: args.sessions / 100.0,
        only_reads: args.only_reads,
        explain: args.explain,
        fence: target.fence(Errand::Measured, args.reach.any_database),
        dilation: args.dilation,
    };
    with_driver!(target, creates: false, driver => run_on(driver, args, recording, options))
}

fn run_on<D: Driver>(
    driver: D,
    args: &RunReplay,
    recording: Recording,
    mut options: ReplayOptions,
) -> Result<(), Stop> {
    if driver.has_tables() {
        ask_for_names(&driver, &mut options.fence)?;
    }
    let path = args.acknowledgements.as_deref();
    let not_made = |fault: Fault| {
        forget(path);
        Stop::from(Failure::from_fault("making diskproof_commits", &fault))
    };
    let marks = path.map(|path| {
        let file = create_acknowledgements(path, args.dilation)?;
        Marks::new(file, &driver).map_err(not_made)
    });
    let workload = ReplayWorkload::new(recording, options, marks.transpose()?)
        .map_err(|error| Stop::Arguments(format!("{}: {error}", args.file.display())))?;
    let kind = Kind {
        workload: "replay",
        mix: args.file.display().to_string().into(),
        protocol: Protocol::Text,
        seed: 0,
    };
    let clients = u32::try_from(workload.clients()).unwrap_or(u32::MAX);
    if clients > MOST_CLIENTS {
        return Err(Stop::Arguments(format!(
            "the load has {clients} sessions at once, and {MOST_CLIENTS} is the most: take fewer with --sessions"
        )));
    }
    workload.make_own_tables(&driver).map_err(not_made)?;
    let load = Load {
        crowd: Crowd {
            clients,
            workers: args.workers,
            dilation: args.dilation,
        },
        seconds: args.seconds,
        // It ends when its sessions do.
        transactions: Some(u64::MAX),
        warm_up: args.warm_up,
        retry: vec!["none".to_owned()],
        rate: None,
        arrivals: Arrivals::Poisson,
        output: args.output.clone(),
    };
    run_load(driver, workload, kind, &load)
}
