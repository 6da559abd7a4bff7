//! The course of a job: its stages one after the other, its phases reported like those of a run.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use super::accounts::{Accounts, Outcome};
use super::heedful::Heedful;
use super::stage_report::StageReport;
use crate::driver::{Admin, Driver};
use crate::engine::conductor::{Conductor, Ending, RunError, RunOptions};
use crate::engine::inbox::Inbox;
use crate::engine::message::Message;
use crate::engine::resources::Cpu;
use crate::engine::summary::ready_event;
use crate::engine::worker::Manner;
use crate::failure::Failure;
use crate::measure::Clock;
use crate::report::{ClientCost, Event, Report, Summary};
use crate::workload::{Job, Run, Stage, Work, Workload};

/// A client that was refused so often in a row has met more than an accident: what it still has to
/// do would be refused as well.
const MOST_FAILURES: u32 = 10;

pub(super) struct Course<'a, D: Driver> {
    driver: &'a Arc<D>,
    options: RunOptions,
    inbox: Inbox,
    report: &'a mut dyn Report,
    clock: Clock,
    /// When the first stage could begin.
    start_ns: u64,
    accounts: Accounts,
    cost: ClientCost,
    ending: Ending,
    /// Why the last stage that was run has failed.
    failure: Option<Failure>,
}

impl<'a, D: Driver> Course<'a, D> {
    pub(super) fn new(
        driver: &'a Arc<D>,
        options: &RunOptions,
        mailbox: (Sender<Message>, Receiver<Message>),
        report: &'a mut dyn Report,
    ) -> Self {
        let cpu = Cpu::now();
        Self {
            driver,
            options: options.clone(),
            inbox: Inbox::new(mailbox, options.lockstep),
            report,
            clock: Clock::start(options.dilation),
            start_ns: 0,
            accounts: Accounts::new(),
            cost: cpu.cost_since(cpu),
            ending: Ending::Complete,
            failure: None,
        }
    }

    /// From the connection of administration to the last stage's end.
    pub(super) fn go<J: Job>(
        &mut self,
        job: &mut J,
        admin: &mut dyn Admin,
    ) -> Result<(), RunError> {
        let version = admin.server_version().map_err(Failure::connecting)?;
        let connect_s = self.clock.now_ns() as f64 / 1e9;
        admin.begin_work().map_err(Failure::connecting)?;
        let ready = ready_event(&self.options, job.statements(), version, connect_s);
        self.report.event(&ready)?;
        if self.inbox.await_line()?.is_none() {
            return Err(RunError::Interrupted);
        }
        self.start_ns = self.clock.now_ns();
        self.report.event(&Event::Measuring {
            unix_s: self.clock.unix_s(self.start_ns),
            monotonic_ns: self.clock.monotonic(self.start_ns),
            seconds: None,
        })?;
        self.go_through(job, admin)?;
        let end_ns = self.clock.now_ns();
        self.report.event(&Event::Measured {
            unix_s: self.clock.unix_s(end_ns),
            seconds: (end_ns - self.start_ns) as f64 / 1e9,
        })?;
        self.report.event(&Event::Idle)?;
        self.heed(self.inbox.await_line()?.is_none());
        Ok(())
    }

    fn go_through<J: Job>(&mut self, job: &mut J, admin: &mut dyn Admin) -> Result<(), RunError> {
        while self.goes_on()?
            && let Some(stage) = self.next_stage(job, admin)?
        {
            match &stage.work {
                Work::Skip(reason) => self.accounts.skip(&stage, reason),
                Work::Run(run) => {
                    let Some(outcome) = self.run_stage(run)? else {
                        return Ok(());
                    };
                    let percentiles = &self.options.percentiles;
                    let operation = self.accounts.add(&stage, run, &outcome, percentiles);
                    if self.failure.is_none()
                        && let Some(wrong) = job.review(operation, admin)?
                    {
                        self.accounts.find_wrong(wrong);
                    }
                }
            }
            if let Some(operation) = self.accounts.operations().last() {
                let event = Event::Operation(Box::new(operation.clone()));
                self.report.event(&event)?;
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure.into());
            }
        }
        Ok(())
    }

    /// The job's next stage, unless a signal comes while it is made ready.
    fn next_stage<J: Job>(
        &mut self,
        job: &mut J,
        admin: &mut dyn Admin,
    ) -> Result<Option<Stage<J::Workload>>, RunError> {
        let mut heedful = Heedful::new(admin, &self.inbox);
        let stage = job.next(&mut heedful);
        match heedful.stopped() {
            None => Ok(stage?),
            Some(RunError::Interrupted) => {
                self.ending = Ending::Interrupted;
                Ok(None)
            }
            Some(error) => Err(error),
        }
    }

    /// Between two stages, a signal ends the job.
    fn goes_on(&mut self) -> Result<bool, RunError> {
        self.heed(self.inbox.is_interrupted()?);
        Ok(self.ending == Ending::Complete)
    }

    fn heed(&mut self, interrupted: bool) {
        if interrupted {
            self.ending = Ending::Interrupted;
        }
    }

    /// `None`: a signal came before the stage had begun.
    fn run_stage<W: Workload>(&mut self, run: &Run<W>) -> Result<Option<Outcome>, RunError> {
        let options = RunOptions {
            clients: run.clients,
            workers: self.workers(run.clients),
            ..self.options.clone()
        };
        let job_unix_s = self.clock.unix_s(self.start_ns);
        let mut report = StageReport::new(self.report, job_unix_s);
        let types = run.workload.catalogue().types().len();
        let mut conductor = Conductor::new(&options, self.clock, types, &self.inbox, &mut report);
        let manner = Manner {
            connects_late: run.connecting_counts,
            most_failures: MOST_FAILURES,
        };
        let measured = conductor
            .start_workers(self.driver, &run.workload, manner)
            .map_err(RunError::from)
            .and_then(|()| follow(&mut conductor, run));
        let (cost, seconds) = match measured {
            Ok(Some(measured)) => measured,
            Ok(None) => {
                self.ending = Ending::Interrupted;
                return Ok(None);
            }
            Err(error) => {
                conductor.abandon();
                return Err(error);
            }
        };
        self.ending = conductor.ending;
        self.failure = conductor.failure();
        let cut =
            conductor.was_closed() || self.ending == Ending::Interrupted || self.failure.is_some();
        let totals = conductor.dismiss();
        self.cost = self.cost.plus(cost);
        Ok(Some(Outcome {
            totals,
            seconds,
            cut,
        }))
    }

    fn workers(&self, clients: usize) -> usize {
        if self.driver.blocks() {
            clients
        } else {
            self.options.workers.min(clients)
        }
    }

    /// The last line of a job that was good for something.
    pub(super) fn sum_up<J: Job>(self, job: &J) -> Result<Ending, RunError> {
        if self.ending == Ending::Complete
            && let Some(failure) = self.accounts.nothing_but_errors()
        {
            return Err(failure.into());
        }
        let (report, ending, summary) = self.into_summary(job);
        report.event(&Event::Summary(Box::new(summary)))?;
        Ok(ending)
    }

    /// Operations measured before a failure, still to be reported.
    pub(super) fn break_off<J: Job>(self, job: &J) -> io::Result<()> {
        if self.accounts.operations().is_empty() {
            return Ok(());
        }
        let (report, _, summary) = self.into_summary(job);
        report.event(&Event::BrokenOff(Box::new(summary)))
    }

    fn into_summary<J: Job>(self, job: &J) -> (&'a mut dyn Report, Ending, Summary) {
        let iterations = job.iterations(self.accounts.operations());
        let mut summary = self.accounts.summary(&self.options, self.cost);
        summary.interrupted = self.ending == Ending::Interrupted;
        summary.iterations = iterations;
        (self.report, self.ending, summary)
    }
}

/// The CPU time and the seconds of a stage, to the last client's end: from connecting if that
/// counts, else from the first statement. `None` if a signal came before its start.
fn follow<W>(
    conductor: &mut Conductor<'_>,
    run: &Run<W>,
) -> Result<Option<(ClientCost, f64)>, RunError> {
    match conductor.await_connected() {
        Err(RunError::Interrupted) => return Ok(None),
        connected => connected?,
    }
    let (schedule, cpu_start) = conductor.begin(None)?;
    if let Some(limit) = run.limit {
        conductor.close_after(&schedule, limit);
    }
    let cost = conductor.measure(&schedule, cpu_start)?;
    let seconds = conductor.drain(&schedule)?;
    let seconds = if run.connecting_counts {
        seconds
    } else {
        // The clients were there already: waking their threads is not the server's work.
        let totals = &conductor.totals;
        totals.end_ns.saturating_sub(totals.begun_ns) as f64 / 1e9
    };
    Ok(Some((cost, seconds)))
}
