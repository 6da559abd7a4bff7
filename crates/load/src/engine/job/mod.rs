//! Jobs: workloads that are done at some point, stage after stage.
//!
//! A steady run measures a load for a time; a job has so much to do and measures how long that
//! takes. Each stage gets workers and clients of its own, on the machinery of the steady runs.

mod accounts;
mod course;
mod heedful;
mod stage_report;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use super::conductor::{Ending, RunError};
use super::message::{Failure, Message};
use crate::driver::{Admin, Driver, Protocol};
use crate::report::{Iterations, Operation, Report, StatementTypeInfo};
use crate::workload::Workload;
use course::Course;

/// A source of stages.
pub trait Job {
    type Workload: Workload;

    /// Every statement type that the stages will have, each with one statement of it.
    fn statements(&self) -> Vec<StatementTypeInfo>;

    /// The next stage; `None` after the last. What has to be there before it is made here, and
    /// what the one before left is cleared away: nothing of it is timed.
    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<Self::Workload>>, Failure>;

    /// Looks at what a stage that was run has left behind; not timed. What is wrong there is an
    /// error of the operation.
    fn review(
        &mut self,
        _operation: &Operation,
        _admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Clears away what the job has made. Called once at the end, however that came; the clients
    /// have left.
    fn close(&mut self, admin: &mut dyn Admin) -> Result<(), Failure>;

    /// The operations as iterations of the same thing, where that is what they are.
    fn iterations(&self, _operations: &[Operation]) -> Option<Iterations> {
        None
    }
}

/// One part of a job, timed as a whole: from the start until the last client has done its share.
#[derive(Debug)]
pub struct Stage<W> {
    /// The group of operations that it belongs to.
    pub test: Cow<'static, str>,
    pub name: Cow<'static, str>,
    /// Transactions of all clients' scripts together; what is counted against it.
    pub planned: u64,
    pub work: Work<W>,
}

/// What is done in a stage.
#[derive(Debug)]
pub enum Work<W> {
    Run(Run<W>),
    /// Nothing, for this reason. It is reported, and never as done.
    Skip(Cow<'static, str>),
}

/// A workload whose scripts end.
#[derive(Debug)]
pub struct Run<W> {
    pub workload: Arc<W>,
    pub clients: usize,
    /// Whether connecting is part of the time.
    pub connecting_counts: bool,
    /// No transaction is begun after this; those under way still count.
    pub limit: Option<Duration>,
    /// What the server must have sent, where that is known: another number is an error.
    pub expected_rows: Option<u64>,
    /// The rows that it must have changed, likewise.
    pub expected_affected: Option<u64>,
    /// Count the rows that were changed instead of the transactions: a statement that inserts
    /// many of them stands for as many INSERTs.
    pub counts_affected: bool,
}

/// How a job is to go.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// The workload's name and that of its mix, for the reports.
    pub workload: &'static str,
    pub mix: Cow<'static, str>,
    /// Of the clients' draws; reported, so that a job can be repeated.
    pub seed: u64,
    /// The most that a stage has.
    pub clients: usize,
    /// Threads, at most one per client; one for each client where the driver blocks.
    pub workers: usize,
    pub protocol: Protocol,
    /// `None`: no intervals.
    pub report_interval: Option<Duration>,
    pub percentiles: Vec<f64>,
    pub lockstep: bool,
}

/// Runs a job from connecting to the summary; the mailbox is as for [`run`](super::run).
///
/// A signal ends the stage that it meets; what was measured until then is reported. When this
/// returns an error, the job has been closed if the server still lets it.
pub fn run_job<D, J>(
    driver: &Arc<D>,
    job: &mut J,
    options: &JobOptions,
    mailbox: (Sender<Message>, Receiver<Message>),
    report: &mut dyn Report,
) -> Result<Ending, RunError>
where
    D: Driver + Send + 'static,
    J: Job,
{
    let mut admin = driver
        .admin()
        .map_err(|fault| Failure::from_fault("connecting", &fault))?;
    let mut course = Course::new(driver, options, mailbox, report);
    let outcome = course.go(job, &mut *admin);
    let closed = job.close(&mut *admin);
    outcome?;
    closed?;
    course.sum_up(job)
}
