//! Jobs: workloads that are done at some point, stage after stage.
//!
//! A steady run measures a load for a time; a job has a fixed amount of work and measures how long
//! it takes. Each stage gets workers and clients of its own, on the machinery of the steady runs.

mod accounts;
mod course;
mod heedful;
mod stage_report;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::conductor::{Ending, RunError, RunOptions};
use super::message::Message;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::report::Report;
use crate::workload::Job;
use course::Course;

/// Runs a job from connecting to the summary; the mailbox is as for [`run`](super::run). Of the options, no
/// stage has more clients; those of a length are not looked at.
///
/// A signal ends the current stage; the results until then are reported. When this returns an
/// error, the workers have disconnected, the results before it have been reported, and the job is
/// not closed: call [`close_failed_job`] after the error is reported.
pub fn run_job<D: Driver, J: Job>(
    driver: &Arc<D>,
    job: &mut J,
    options: &RunOptions,
    mailbox: (Sender<Message>, Receiver<Message>),
    report: &mut dyn Report,
) -> Result<Ending, RunError> {
    let mut admin = driver.admin().map_err(Failure::connecting)?;
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
pub fn close_failed_job(
    driver: &Arc<impl Driver>,
    job: &mut impl Job,
    limit: Duration,
) -> Result<(), Failure> {
    let (driver, closing) = (Arc::clone(driver), job.closing());
    let (outbox, inbox) = channel();
    thread::spawn(move || {
        let closed = driver
            .admin()
            .map_err(Failure::connecting)
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
