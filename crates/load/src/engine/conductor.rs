//! The conductor: starts the workers, keeps the phases, adds up, reports.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mio::{Poll, Waker};

use super::arrivals::Rate;
use super::control::Control;
use super::crew::WAKE;
use super::inbox::Inbox;
use super::message::{Message, Outside, Start};
use super::pacer::Pacer;
use super::patience::Patience;
use super::resources::Cpu;
use super::retry::Retry;
use super::summary::{interval_event, ready_event, statement_infos, summary, transaction_types};
use super::totals::Totals;
use super::worker::{Manner, Worker};
use crate::driver::{Driver, Protocol};
use crate::failure::Failure;
use crate::measure::{Clock, Schedule};
use crate::report::{ClientCost, Event, Report};
use crate::workload::{Account, StatementType, Workload, replay::Certificate};

/// How long a failed run waits for its workers; each checks for the end twenty times a second.
const LONGEST_PARTING: Duration = Duration::from_secs(2);

/// How long all questions about plans may take: a client of the load may still hold a lock.
const LONGEST_EXPLAINING: Duration = Duration::from_secs(10);

/// By statement.
type Plans = std::collections::BTreeMap<String, String>;

/// The options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The workload's name and that of its mix, for the reports.
    pub workload: &'static str,
    pub mix: Cow<'static, str>,
    /// Seed of the clients' draws; reported, so that a run can be repeated.
    pub seed: u64,
    pub clients: usize,
    /// Threads; one for each client if the driver blocks.
    pub workers: usize,
    pub protocol: Protocol,
    pub warm_up: Duration,
    /// `None`: until the transactions are done.
    pub seconds: Option<Duration>,
    /// Ends the measured phase after this many transactions.
    pub transactions: Option<u64>,
    /// `None`: a closed loop, each client's next transaction follows its last.
    pub rate: Option<Rate>,
    pub retry: Retry,
    pub patience: Patience,
    /// `None`: no intervals.
    pub report_interval: Option<Duration>,
    pub percentiles: Vec<f64>,
    pub lockstep: bool,
    /// How many times slower than the machine's the run's time passes.
    pub dilation: u32,
}

/// How a run with a summary ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Complete,
    /// By a signal; the results until then have been reported.
    Interrupted,
}

/// Why a run failed. If something was measured before, there is still a summary.
#[derive(Debug)]
pub enum RunError {
    Failed(Failure),
    /// By a signal, before anything was measured.
    Interrupted,
    /// The end of standard input: the program that started us in lockstep is gone.
    InputClosed,
    /// Standard output takes no more.
    Output(io::Error),
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Runs a workload from connecting to the summary. `mailbox` is the two ends of one channel: who
/// started the run may send what comes from outside.
///
/// Workers may still hold their connections when this returns an error; the process is to end.
pub fn run<D: Driver, W: Workload>(
    driver: &Arc<D>,
    workload: &Arc<W>,
    options: &RunOptions,
    mailbox: (Sender<Message>, Receiver<Message>),
    report: &mut dyn Report,
) -> Result<Ending, RunError> {
    let inbox = Inbox::new(mailbox, options.lockstep);
    let server_version = server_version(driver, &inbox)?;
    let connecting = Instant::now();
    let types = workload.catalogue().types().len();
    let mut conductor = Conductor::new(
        options,
        Clock::start(options.dilation),
        types,
        &inbox,
        report,
    );
    conductor.start_workers(driver, workload, Manner::default())?;
    conductor.await_connected()?;
    let connect_s = connecting.elapsed().as_secs_f64();
    let statements = statement_infos(workload.catalogue());
    let ready = ready_event(options, statements, server_version, connect_s);
    conductor.report.event(&ready)?;
    let begin_at_ns = conductor.await_line()?;
    let (schedule, cpu_start) = conductor.begin(begin_at_ns)?;
    let cost = conductor.measure(&schedule, cpu_start)?;
    let seconds = conductor.drain(&schedule)?;
    conductor.await_line()?;
    let types = workload.catalogue().types();
    let failure = conductor.all_stopped(types).or_else(|| conductor.failure());
    let is_worthless = !conductor.totals.has_measured();
    match &failure {
        Some(failure) if is_worthless => return Err(failure.clone().into()),
        None if conductor.ending == Ending::Complete => {
            if let Some(failure) = conductor.totals.nothing_but_errors(types) {
                return Err(failure.into());
            }
        }
        _ => {}
    }
    let is_whole = failure.is_none() && conductor.ending == Ending::Complete;
    let plans = is_whole.then(|| conductor.explained(driver, workload));
    let plans = plans.unwrap_or_default();
    let mut summary = summary(options, types, &conductor.totals, seconds, cost);
    if workload.catalogue().shows_used_types_only {
        summary
            .statement_types
            .retain(|used| used.count + used.errors > 0);
    }
    summary.interrupted = conductor.ending == Ending::Interrupted;
    summary.stopped_clients = workload
        .ends_in_doubt()
        .then(|| conductor.control.stopped());
    summary.guards = driver.guard().map(|_| conductor.control.guards());
    let kinds = &workload.catalogue().transactions;
    summary.transaction_types = transaction_types(kinds, &conductor.totals.phase, options);
    match workload.account() {
        Some(Account::Tpcc(account)) => summary.tpcc = Some(*account),
        Some(Account::Replay(told)) => summary.replay = Some(Certificate { plans, ..*told }),
        None => {}
    }
    conductor.report.event(&Event::Summary(Box::new(summary)))?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let ending = conductor.ending;
    conductor.dismiss();
    Ok(ending)
}

/// The server's version. Another thread asks for it, so that a server that does not answer cannot
/// block a signal.
fn server_version(driver: &Arc<impl Driver>, inbox: &Inbox) -> Result<String, RunError> {
    let (driver, outbox) = (Arc::clone(driver), inbox.outbox.clone());
    thread::spawn(move || {
        let version = driver
            .admin()
            .and_then(|mut admin| admin.server_version())
            .map_err(Failure::connecting);
        let _ = outbox.send(Message::Greeted(version));
    });
    loop {
        match inbox.receive(None)? {
            Some(Message::Greeted(version)) => return Ok(version?),
            Some(Message::FromOutside(Outside::Interrupt)) => return Err(RunError::Interrupted),
            _ => {}
        }
    }
}

/// Shared by a run and a stage of a job: workers that are started, followed and released.
pub(super) struct Conductor<'a> {
    clock: Clock,
    control: Arc<Control>,
    options: &'a RunOptions,
    inbox: &'a Inbox,
    workers: Vec<WorkerHandle>,
    /// From this moment on no transaction begins; those in progress still count.
    close_ns: u64,
    pub(super) totals: Totals,
    report: &'a mut dyn Report,
    pub(super) ending: Ending,
    /// Why the run was ended early.
    cut_off: Option<Failure>,
}

/// The conductor's record of a worker.
struct WorkerHandle {
    start: Sender<Start>,
    thread: thread::JoinHandle<()>,
}

impl<'a> Conductor<'a> {
    pub(super) fn new(
        options: &'a RunOptions,
        clock: Clock,
        types: usize,
        inbox: &'a Inbox,
        report: &'a mut dyn Report,
    ) -> Self {
        Self {
            clock,
            control: Arc::new(Control::new(options.transactions, options.clients)),
            options,
            inbox,
            workers: Vec::new(),
            close_ns: u64::MAX,
            totals: Totals::new(options.workers, types),
            report,
            ending: Ending::Complete,
            cut_off: None,
        }
    }

    pub(super) fn start_workers<D: Driver, W: Workload>(
        &mut self,
        driver: &Arc<D>,
        workload: &Arc<W>,
        manner: Manner,
    ) -> Result<(), Failure> {
        let RunOptions {
            clients, workers, ..
        } = *self.options;
        let mut wakers = Vec::with_capacity(workers);
        for number in 0..workers {
            let poll = Poll::new().map_err(Failure::internal)?;
            let registry = poll.registry().try_clone().map_err(Failure::internal)?;
            wakers.push(Waker::new(&registry, WAKE).map_err(Failure::internal)?);
            let (start, inbox) = channel();
            let worker = Worker {
                number,
                options: self.options.clone(),
                clients: (number..clients).step_by(workers).collect(),
                driver: Arc::clone(driver),
                workload: Arc::clone(workload),
                manner,
                clock: self.clock,
                control: Arc::clone(&self.control),
                registry,
                inbox,
                outbox: self.inbox.outbox.clone(),
            };
            let thread = thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn(move || answer_for(&worker, poll))
                .map_err(|error| {
                    Failure::internal(format!(
                        "thread {number} of the workers cannot be started ({error}); \
                         ask for fewer"
                    ))
                })?;
            self.workers.push(WorkerHandle { start, thread });
        }
        self.control.set_wakers(wakers);
        Ok(())
    }

    pub(super) fn await_connected(&mut self) -> Result<(), RunError> {
        let mut connected = 0;
        while connected < self.workers.len() {
            match self.receive(None)? {
                Some(Message::Connected) => connected += 1,
                Some(Message::FromOutside(Outside::Interrupt)) => {
                    return Err(RunError::Interrupted);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// In lockstep, waits until the other side says to go on; returns the number that it says.
    fn await_line(&mut self) -> Result<Option<u64>, RunError> {
        if let Some(line) = self.inbox.await_line()? {
            return Ok(line.number);
        }
        if !self.totals.all_finished() {
            return Err(RunError::Interrupted);
        }
        self.ending = Ending::Interrupted;
        Ok(None)
    }

    /// Lets the workers go at an instant of the machine's monotonic clock, or now; returns when the
    /// measured phase has begun.
    pub(super) fn begin(&mut self, at_ns: Option<u64>) -> Result<(Schedule, Cpu), RunError> {
        let schedule = self.schedule(at_ns)?;
        while !self.clock.until(schedule.start_ns).is_zero() && self.goes_on() {
            self.attend(&schedule, Some(schedule.start_ns))?;
        }
        let Schedule {
            start_ns,
            measure_ns,
            ..
        } = schedule;
        let options = self.options;
        let pacer = options
            .rate
            .map(|rate| Arc::new(Pacer::new(rate, options.seed, options.workers, start_ns)));
        for worker in &self.workers {
            // A worker that is gone has said why, and is heard below.
            let pacer = pacer.clone();
            let _ = worker.start.send(Start { schedule, pacer });
        }
        if !self.options.warm_up.is_zero() {
            let seconds = self.options.warm_up.as_secs_f64();
            self.report.event(&Event::Warming { seconds })?;
        }
        while !self.clock.until(measure_ns).is_zero()
            && self.goes_on()
            && !self.totals.all_finished()
        {
            self.attend(&schedule, Some(measure_ns))?;
        }
        if let Some(failure) = self.cut_off.take() {
            return Err(failure.into());
        }
        if self.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        self.report.event(&Event::Measuring {
            unix_s: self.clock.unix_s(measure_ns),
            monotonic_ns: self.clock.monotonic(measure_ns),
            seconds: self.options.seconds.map(|seconds| seconds.as_secs_f64()),
        })?;
        Ok((schedule, Cpu::now()))
    }

    fn schedule(&self, at_ns: Option<u64>) -> Result<Schedule, Failure> {
        let (options, now_ns) = (self.options, self.clock.now_ns());
        let (warm_up, seconds) = (options.warm_up, options.seconds);
        let first_ns = at_ns.map_or(now_ns, |at_ns| self.clock.of_monotonic(at_ns));
        if first_ns < now_ns {
            let late_ms = (now_ns - first_ns) as f64 / 1e6;
            return Err(Failure::new(
                "late",
                format!("the run was to begin {late_ms:.1} ms ago: name a later moment"),
            ));
        }
        let measure_ns = first_ns.saturating_add(nanoseconds(warm_up));
        Ok(Schedule {
            start_ns: first_ns,
            measure_ns,
            end_ns: seconds.map_or(u64::MAX, |seconds| {
                measure_ns.saturating_add(nanoseconds(seconds))
            }),
            interval_ns: options.report_interval.map(nanoseconds),
        })
    }

    /// Lets no transaction begin after this much of the measured phase.
    pub(super) fn close_after(&mut self, schedule: &Schedule, limit: Duration) {
        self.close_ns = schedule.measure_ns.saturating_add(nanoseconds(limit));
    }

    /// Whether the given time has passed.
    pub(super) fn was_closed(&self) -> bool {
        self.control.is_closed()
    }

    /// Collects the workers' counts until the measured phase is over, and reports its end.
    /// Transactions in progress then finish. Returns the CPU time of the phase.
    pub(super) fn measure(
        &mut self,
        schedule: &Schedule,
        cpu_start: Cpu,
    ) -> Result<ClientCost, RunError> {
        let over = |conductor: &Self| {
            conductor.clock.until(schedule.end_ns).is_zero()
                || !conductor.goes_on()
                || conductor.totals.all_finished()
        };
        while !over(self) {
            if self.clock.until(self.close_ns).is_zero() {
                self.control.close();
                self.close_ns = u64::MAX;
            }
            self.attend(schedule, Some(schedule.end_ns.min(self.close_ns)))?;
        }
        let cost = Cpu::now().cost_since(cpu_start);
        let end_ns = if self.totals.all_finished() {
            self.totals.end_ns
        } else {
            let planned_ns = schedule.end_ns.min(self.control.cut_ns());
            self.clock.now_ns().min(planned_ns)
        };
        self.report.event(&Event::Measured {
            unix_s: self.clock.unix_s(end_ns),
            seconds: end_ns.saturating_sub(schedule.measure_ns) as f64 / 1e9,
        })?;
        Ok(cost)
    }

    /// Waits until every client is idle; returns the length of the measured phase in seconds.
    pub(super) fn drain(&mut self, schedule: &Schedule) -> Result<f64, RunError> {
        let patience_ns = nanoseconds(self.options.patience.replies);
        self.control
            .give_up_at(self.clock.now_ns().saturating_add(patience_ns));
        while !self.totals.all_finished() {
            self.attend(schedule, None)?;
        }
        self.report.event(&Event::Idle)?;
        Ok(self.totals.end_ns.saturating_sub(schedule.measure_ns) as f64 / 1e9)
    }

    /// Takes up one message, and reports the intervals that are complete with it.
    fn attend(&mut self, schedule: &Schedule, until_ns: Option<u64>) -> Result<(), RunError> {
        match self.receive(until_ns)? {
            Some(Message::FromOutside(Outside::Interrupt)) => {
                self.ending = Ending::Interrupted;
                self.cut();
            }
            Some(Message::CutOff(failure)) => {
                self.cut_off.get_or_insert(failure);
                self.cut();
            }
            Some(message) => self.totals.take(message),
            None => {}
        }
        while let Some((period, tally)) = self.totals.next_complete() {
            if self.options.report_interval.is_some() {
                let event = interval_event(&period, schedule, &tally, self.options);
                self.report.event(&event)?;
            }
        }
        Ok(())
    }

    /// Whether nothing has ended the run early.
    fn goes_on(&self) -> bool {
        self.ending == Ending::Complete && self.cut_off.is_none()
    }

    /// Why a run has failed although its workers have accounted for it.
    pub(super) fn failure(&mut self) -> Option<Failure> {
        let cut_off = self.cut_off.take();
        cut_off.or_else(|| self.totals.unanswered(self.options.patience))
    }

    /// Why a run was over before its time: no client was left.
    fn all_stopped(&self, types: &[StatementType]) -> Option<Failure> {
        let clients = self.options.clients;
        (self.control.stopped() == clients).then(|| self.totals.all_stopped(clients, types))
    }

    /// The plans that the server answers within [`LONGEST_EXPLAINING`]. Another thread asks for them, as in
    /// `server_version`, so that a server that does not answer cannot block a signal.
    fn explained<D: Driver, W: Workload>(&mut self, driver: &Arc<D>, workload: &Arc<W>) -> Plans {
        let (driver, workload) = (Arc::clone(driver), Arc::clone(workload));
        let outbox = self.inbox.outbox.clone();
        thread::spawn(move || {
            let tell = |told| drop(outbox.send(Message::Explained(Some(told))));
            workload.explain(&*driver, tell);
            let _ = outbox.send(Message::Explained(None));
        });
        let end_ns = self.clock.now_ns() + nanoseconds(LONGEST_EXPLAINING);
        let mut plans = Plans::new();
        // What was measured is reported in any case.
        while self.goes_on()
            && let Ok(Some(message)) = self.receive(Some(end_ns))
        {
            match message {
                Message::Explained(Some(told)) => plans.extend([told]),
                Message::Explained(None) => break,
                Message::FromOutside(Outside::Interrupt) => self.ending = Ending::Interrupted,
                _ => {}
            }
        }
        plans
    }

    /// Ends the run now: the workers finish what is in progress.
    fn cut(&self) {
        self.control.cut_at(self.clock.now_ns());
    }

    /// Lets the workers close their connections, and waits until they have.
    pub(super) fn dismiss(self) -> Totals {
        for WorkerHandle { start, thread, .. } in self.workers {
            drop(start);
            // A worker answers for its own panic.
            let _ = thread.join();
        }
        self.totals
    }

    /// Lets go of the workers after a failure: they close their connections at once, and with
    /// them what those hold in the server. One that hangs in a blocking call is left to itself.
    pub(super) fn abandon(self) {
        self.control.abandon(self.clock.now_ns());
        let threads: Vec<_> = self.workers.into_iter().map(|reins| reins.thread).collect();
        let given_up = Instant::now() + LONGEST_PARTING;
        while !threads.iter().all(thread::JoinHandle::is_finished) && Instant::now() < given_up {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The next message; `None` when `until_ns` has passed.
    fn receive(&self, until_ns: Option<u64>) -> Result<Option<Message>, RunError> {
        self.inbox
            .receive(until_ns.map(|until_ns| self.clock.until(until_ns)))
    }
}

/// Runs a worker; whatever ends it before its time, the conductor hears of it.
fn answer_for<D: Driver, W: Workload>(worker: &Worker<D, W>, poll: Poll) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.run(poll)));
    let failure = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::internal("a worker panicked; its message is on standard error"),
    };
    let _ = worker.outbox.send(Message::Failed(failure));
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
