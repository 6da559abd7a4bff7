//! Jobs: workloads that are done at some point, stage after stage.
//!
//! A steady run measures a load for a time; a job has a fixed amount of work and measures how long
//! it takes. Each stage gets workers and clients of its own, on the machinery of the steady runs.

mod accounts;
mod course;
mod heedful;
mod stage_report;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::conductor::{Ending, RunError, RunOptions};
use super::message::{Failure, Message};
use crate::driver::{Admin, Driver};
use crate::report::{Iterations, Operation, Report, StatementTypeInfo};
use crate::workload::Workload;
use course::Course;

/// A source of stages.
pub trait Job {
    type Workload: Workload;

    /// Every statement type that the stages will have, each with one statement of it.
    fn statements(&self) -> Vec<StatementTypeInfo>;

    /// The next stage; `None` after the last. Prepares what the stage needs and clears what the
    /// last one left; nothing of that is timed.
    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<Self::Workload>>, Failure>;

    /// Checks the state that a stage left behind; not timed. A wrong state is an error of the
    /// operation.
    fn review(
        &mut self,
        _operation: &Operation,
        _admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// How to clean up after the job: done once at the end, however the job ended.
    fn closing(&mut self) -> Closing;

    /// What remains if that fails, and how a user removes it.
    fn leaves(&self) -> String;

    /// The operations as iterations of the same thing, if they are.
    fn iterations(&self, _operations: &[Operation]) -> Option<Iterations> {
        None
    }
}

/// Clears away what a job has made. It may be done on a thread of its own.
pub type Closing = Box<dyn FnOnce(&mut dyn Admin) -> Result<(), Failure> + Send>;

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

/// The work of a stage.
#[derive(Debug)]
pub enum Work<W> {
    Run(Run<W>),
    /// Nothing, for this reason. It is reported, but never as done.
    Skip(Cow<'static, str>),
}

/// A workload with scripts that end.
#[derive(Debug)]
pub struct Run<W> {
    pub workload: Arc<W>,
    pub clients: usize,
    /// Whether connecting is part of the time.
    pub connecting_counts: bool,
    /// No transaction begins after this; those in progress still count.
    pub limit: Option<Duration>,
    /// Count the rows that were changed instead of the transactions: a statement that inserts
    /// many of them stands for as many INSERTs.
    pub counts_affected: bool,
    /// Number of the scripts' transactions, if it differs from the planned number; `None`: each
    /// counts as one.
    pub turns: Option<u64>,
}

/// Runs a job from connecting to the summary; the mailbox is as for [`run`](super::run). Of the options, no
/// stage has more clients; those of a length are not looked at.
///
/// A signal ends the current stage; the results until then are reported. When this returns an
/// error, the workers have disconnected, the results before it have been reported, and the job is
/// not closed: call [`close_failed_job`] after the error is reported.
pub fn run_job<D, J>(
    driver: &Arc<D>,
    job: &mut J,
    options: &RunOptions,
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
    let closed = outcome.and_then(|()| Ok(job.closing()(&mut *admin)?));
    if let Err(error) = closed {
        if matches!(error, RunError::Failed(_)) {
            course.break_off(job)?;
        }
        return Err(error);
    }
    course.sum_up(job)
}

/// Closes a job that has failed, on a connection of its own, if the server lets it within the
/// limit; the failure says what is left. A thread that hangs is left behind: the process is to
/// end.
pub fn close_failed_job<D, J>(driver: &Arc<D>, job: &mut J, limit: Duration) -> Result<(), Failure>
where
    D: Driver + Send + 'static,
    J: Job,
{
    let (driver, closing) = (Arc::clone(driver), job.closing());
    let (outbox, inbox) = channel();
    thread::spawn(move || {
        let closed = driver
            .admin()
            .map_err(|fault| Failure::from_fault("connecting", &fault))
            .and_then(|mut admin| closing(&mut *admin));
        let _ = outbox.send(closed);
    });
    let failure = match inbox.recv_timeout(limit) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(failure)) => failure,
        Err(_) => Failure::new("no-reply", format!("no reply within {} s", limit.as_secs())),
    };
    let (what, why) = (job.leaves(), failure.message);
    Err(Failure::new(
        &failure.code,
        format!("after the failure, clearing away failed too ({why}); {what}"),
    ))
}
