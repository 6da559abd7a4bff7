//! Running a workload under load: from the options that all workloads share to the outcome.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, stdout};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::args::{Crowd, Job, Load, Output};
use super::{Stop, outside};
use crate::driver::{Driver, Protocol};
use crate::engine::{self, Ending, Message, Patience, Rate, Retry, RunOptions};
use crate::plain::Plain;
use crate::report::{JsonReport, Report, TextReport};
use crate::workload::{self, Workload};

/// Length of a run without --seconds and --transactions.
const DEFAULT_SECONDS: Duration = Duration::from_secs(10);

/// Most threads by default. One alone could serve a hundred thousand statements a second, but a
/// thread that waits for a busy CPU keeps all its clients waiting, and so their connections in the
/// server.
///
/// Measured with point selects of 64 clients on two CPUs, as a share of sysbench's throughput, which
/// has a thread for each client. With four endless loops on the CPUs, two threads reached 0.53, and
/// 16 reached 1.07. Without the loops it was 1.15 and 1.28, and both took 0.57 of sysbench's CPU
/// time. Neither `SCHED_BATCH`, nor a shorter slice, nor a higher priority made up for more threads.
const MOST_WORKERS: usize = 16;

/// Time limit for cleaning up after a failure.
const LONGEST_CLOSING: Duration = Duration::from_secs(10);

/// The run's names in the reports.
pub(super) struct Kind {
    pub(super) workload: &'static str,
    pub(super) mix: Cow<'static, str>,
    pub(super) protocol: Protocol,
    /// Seed of the clients' draws.
    pub(super) seed: u64,
}

/// Runs a workload as the options say, and reports.
pub(super) fn run_load<D, W>(driver: D, workload: W, kind: Kind, load: &Load) -> Result<(), Stop>
where
    D: Driver,
    W: Workload,
{
    let options = run_options(&driver, kind, load)?;
    let mailbox = mailbox(&load.output)?;
    let mut report = report(&load.output);
    let (driver, workload) = (Arc::new(driver), Arc::new(workload));
    let ending = engine::run(&driver, &workload, &options, mailbox, &mut *report)?;
    as_outcome(ending)
}

/// Runs a workload that is done at some point, and reports.
pub(super) fn run_job<D, J>(driver: D, job: &mut J, kind: Kind, options: &Job) -> Result<(), Stop>
where
    D: Driver,
    J: workload::Job,
{
    let run_options = base(&driver, kind, &options.crowd, &options.output)?;
    let mailbox = mailbox(&options.output)?;
    let mut report = report(&options.output);
    let driver = Arc::new(driver);
    let ending = engine::run_job(&driver, job, &run_options, mailbox, &mut *report);
    let ending = ending.map_err(|error| {
        // It is said before what the job has made is cleared away: a server that is the reason may not let us.
        let stop = Stop::from(error).said(options.output.json);
        if let Err(failure) = engine::close_failed_job(&driver, job, LONGEST_CLOSING) {
            tell!("diskproof-load: {}", failure.message);
        }
        stop
    })?;
    as_outcome(ending)
}

/// The channel for messages from outside.
fn mailbox(output: &Output) -> Result<(Sender<Message>, Receiver<Message>), Stop> {
    let (outbox, inbox) = channel();
    outside::watch_signals(outbox.clone())?;
    if output.lockstep {
        outside::watch_input(outbox.clone());
    }
    Ok((outbox, inbox))
}

fn as_outcome(ending: Ending) -> Result<(), Stop> {
    match ending {
        Ending::Complete => Ok(()),
        Ending::Interrupted => Err(Stop::Interrupted),
    }
}

/// The number of clients and threads, with enough open files for all of them.
fn crew<D: Driver>(driver: &D, crowd: &Crowd) -> Result<(usize, usize), Stop> {
    let clients =
        usize::try_from(crowd.clients).map_err(|error| Stop::Arguments(error.to_string()))?;
    let workers = workers(driver, clients, crowd.workers)?;
    engine::allow_open_files(clients, driver.files_per_client(), workers).map_err(
        |(wanted, limit)| {
            Stop::Arguments(format!(
                "--clients {clients} needs {wanted} open files, but this process may have only {limit}; \
                 raise the limit (ulimit -Hn) or use fewer clients"
            ))
        },
    )?;
    Ok((clients, workers))
}

/// The options that all runs have; it has no end of its own.
fn base<D: Driver>(
    driver: &D,
    kind: Kind,
    crowd: &Crowd,
    output: &Output,
) -> Result<RunOptions, Stop> {
    let (clients, workers) = crew(driver, crowd)?;
    driver.slow_down(crowd.dilation);
    Ok(RunOptions {
        workload: kind.workload,
        mix: kind.mix,
        clients,
        workers,
        seed: kind.seed,
        protocol: kind.protocol,
        warm_up: Duration::ZERO,
        seconds: None,
        transactions: None,
        rate: None,
        retry: Retry::default(),
        patience: Patience::with_statement_limit(driver.statement_limit()),
        report_interval: (!output.report_interval.is_zero()).then_some(output.report_interval),
        percentiles: in_order(&output.percentiles),
        lockstep: output.lockstep,
        dilation: crowd.dilation,
    })
}

fn run_options<D: Driver>(driver: &D, kind: Kind, load: &Load) -> Result<RunOptions, Stop> {
    Ok(RunOptions {
        warm_up: load.warm_up,
        seconds: load
            .seconds
            .or_else(|| load.transactions.is_none().then_some(DEFAULT_SECONDS)),
        transactions: load.transactions,
        rate: load.rate.map(|per_s| Rate {
            per_s,
            arrivals: load.arrivals,
        }),
        retry: retry(driver, &load.retry)?,
        ..base(driver, kind, &load.crowd, &load.output)?
    })
}

/// The seed that was asked for, or one that no other run had: from the randomness of the standard
/// library's hash tables, of 53 bits, so that every reader of JSON keeps it exactly.
pub(super) fn seed(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()) >> 11)
}

/// Which errors a transaction is run again after.
pub(super) fn retry<D: Driver>(driver: &D, words: &[String]) -> Result<Retry, Stop> {
    match words {
        [word] if word == "transient" => Ok(Retry::Transient),
        [word] if word == "none" => Ok(Retry::Never),
        [word] if word == "all" => Ok(Retry::Always),
        codes => Retry::codes(codes, driver.dialect())
            .map_err(|error| Stop::Arguments(format!("--retry: {error}"))),
    }
}

fn workers<D: Driver>(driver: &D, clients: usize, asked: Option<u16>) -> Result<usize, Stop> {
    match asked {
        Some(_) if driver.blocks() => Err(Stop::Arguments(
            "this database runs inside the client's thread, so every client has its own thread; \
             leave --workers out"
                .into(),
        )),
        None if driver.blocks() => Ok(clients),
        Some(workers) if usize::from(workers) > clients => Err(Stop::Arguments(format!(
            "--workers {workers} is more than --clients {clients}, so some threads would have no work"
        ))),
        Some(workers) => Ok(usize::from(workers)),
        None => Ok(clients.min(MOST_WORKERS)),
    }
}

/// Each percentile once: its number is its name in the report.
fn in_order(percentiles: &[f64]) -> Vec<f64> {
    let mut percentiles = percentiles.to_vec();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    percentiles
}

fn report(output: &Output) -> Box<dyn Report> {
    if output.json {
        Box::new(JsonReport::new(stdout()))
    } else {
        Box::new(TextReport::new(
            Plain(io::BufWriter::new(stdout())),
            !output.report_interval.is_zero(),
            in_order(&output.percentiles),
        ))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_percentile_asked_for_twice_is_told_once() {
        assert_eq!(
            super::in_order(&[99.0, 50.0, 50.0, 95.0]),
            [50.0, 95.0, 99.0]
        );
    }
}
