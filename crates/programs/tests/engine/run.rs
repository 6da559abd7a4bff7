//! Running the engine within a test.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use diskproof_load::driver::{Driver, Protocol};
use diskproof_load::engine::{self, Failure, Patience, Retry, RunError, RunOptions};
use diskproof_load::report::{Event, Report, StatementSummary, Summary};

use crate::steps::Steps;

/// A run of so many clients and seconds, all else plain.
pub(crate) fn options(clients: usize, workers: usize, seconds: f64) -> RunOptions {
    RunOptions {
        workload: "steps",
        mix: "all".into(),
        seed: 1,
        clients,
        workers,
        protocol: Protocol::Text,
        warm_up: Duration::ZERO,
        seconds: Some(Duration::from_secs_f64(seconds)),
        transactions: None,
        rate: None,
        retry: Retry::default(),
        patience: Patience::default(),
        report_interval: None,
        percentiles: vec![50.0],
        lockstep: false,
        dilation: 1,
    }
}

/// Runs to the end; the events, and why the run is no good.
pub(crate) fn outcome<D: Driver>(
    driver: D,
    workload: Steps,
    options: &RunOptions,
) -> (Vec<Event>, Option<Failure>) {
    let mut report = Keep::default();
    let (driver, workload) = (Arc::new(driver), Arc::new(workload));
    match engine::run(&driver, &workload, options, channel(), &mut report) {
        Ok(_) => (report.0, None),
        Err(RunError::Failed(failure)) => (report.0, Some(failure)),
        Err(other) => panic!("{other:?}"),
    }
}

/// Runs to the end; the events, or why the run is no good.
pub(crate) fn run<D: Driver>(
    driver: D,
    workload: Steps,
    options: &RunOptions,
) -> Result<Vec<Event>, Failure> {
    let (events, failure) = outcome(driver, workload, options);
    failure.map_or(Ok(events), Err)
}

/// Runs to a summary and a failure.
pub(crate) fn broken_off<D: Driver>(
    driver: D,
    workload: Steps,
    options: &RunOptions,
) -> (Summary, Failure) {
    match outcome(driver, workload, options) {
        (mut events, Some(failure)) => match events.pop() {
            Some(Event::Summary(summary)) => (*summary, failure),
            other => panic!("{other:?}"),
        },
        (events, None) => panic!("{events:?}"),
    }
}

/// Runs to the summary.
pub(crate) fn summary<D: Driver>(driver: D, workload: Steps, options: &RunOptions) -> Summary {
    match run(driver, workload, options).expect("a good run").pop() {
        Some(Event::Summary(summary)) => *summary,
        other => panic!("{other:?}"),
    }
}

/// One statement type's account.
pub(crate) fn account<'a>(summary: &'a Summary, name: &str) -> &'a StatementSummary {
    let mut types = summary.statement_types.iter();
    types.find(|account| account.name == name).expect("a type")
}

#[derive(Default)]
pub(crate) struct Keep(pub(crate) Vec<Event>);

impl Report for Keep {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.push(event.clone());
        Ok(())
    }
}
