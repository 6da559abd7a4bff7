//! A worker's clients at work: the hot loop.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll as Progress;
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::alarm::Alarm;
use super::client::{Client, ClientOf, State};
use super::conductor::nanoseconds;
use super::message::Start;
use super::opening::Openings;
use super::pacer::Pacer;
use super::recorder::Recorder;
use super::timers::Timers;
use super::worker::Worker;
use crate::driver::{Args, Driver, Fault, Reply, Session};
use crate::failure::Failure;
use crate::workload::{Catalogue, Workload};

/// Wakes a worker that sleeps although nothing has arrived: the run is to end early.
pub(super) const WAKE: Token = Token(usize::MAX);
/// Wakes a worker for what is to be done at an instant.
const ALARM: Token = Token(usize::MAX - 1);

/// Replies taken up between two calls of the kernel.
const EVENTS: usize = 1024;
/// The kernel counts milliseconds with 31 bits.
const LONGEST_SLEEP: Duration = Duration::from_secs(3600);
/// Longest time that a single client waits for its reply without checking anything else, such as an
/// early end.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// The clients of one worker, each a state machine that replies drive on.
pub(super) struct Crew<'a, D: Driver, W: Workload> {
    pub(super) worker: &'a Worker<D, W>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) clients: Vec<ClientOf<D, W>>,
    pub(super) recorder: Recorder,
    pub(super) args: Args,
    /// Clients that are not idle.
    pub(super) busy: usize,
    /// Clients that wait for an instant.
    pub(super) timers: Timers,
    /// Wakes the event loop for it.
    alarm: Alarm,
    /// `None`: a closed loop.
    pub(super) pacer: Option<Arc<Pacer>>,
    /// Clients that wait for a transaction to arrive.
    pub(super) waiting: VecDeque<usize>,
    pub(super) openings: Openings,
    /// Nothing is announced, because every reply is there at once.
    pub(super) at_once: bool,
    /// The phase is over: nothing is begun any more.
    pub(super) winding_up: bool,
    /// Why the run cannot go on.
    failure: Option<Failure>,
}

impl<'a, D: Driver, W: Workload> Crew<'a, D, W> {
    /// Clients that have yet to connect.
    pub(super) fn new(worker: &'a Worker<D, W>) -> Result<Self, Failure> {
        let scripts = worker.clients.iter().map(|&n| worker.workload.script(n));
        let clients: Vec<_> = scripts.map(Client::new).collect();
        let catalogue = worker.workload.catalogue();
        Ok(Self {
            worker,
            catalogue,
            recorder: Recorder::new(worker.number, worker.outbox.clone(), catalogue),
            args: Args::default(),
            busy: 0,
            timers: Timers::default(),
            alarm: Alarm::new(&worker.registry, ALARM).map_err(Failure::internal)?,
            pacer: None,
            waiting: VecDeque::new(),
            openings: Openings::new(clients.len(), worker.options.workers),
            clients,
            at_once: false,
            winding_up: false,
            failure: None,
        })
    }

    /// Runs until every client is idle: the phase is over and the last transactions have ended.
    /// Clients that are not connected by now come in as they are.
    pub(super) fn work(&mut self, poll: &mut Poll, start: Start) -> Result<(), Failure> {
        self.recorder.begin(start.schedule);
        self.pacer = start.pacer;
        self.busy = self.clients.len();
        let now_ns = self.worker.clock.now_ns();
        self.recorder.go(now_ns);
        for index in 0..self.clients.len() {
            if self.clients[index].state == State::Idle {
                self.begin(index, now_ns);
            }
        }
        let mut events = Events::with_capacity(EVENTS);
        while self.busy > 0 {
            if self.at_once || self.is_alone() {
                self.take_turns(poll, &mut events)?;
            } else {
                self.take_up_events(poll, &mut events)?;
            }
        }
        self.recorder.end_with_last();
        self.turn(u64::MAX);
        // If no client reached the loop.
        self.check()
    }

    /// Sends the last accounts; the clients come back with their connections open.
    pub(super) fn finish(self) -> Vec<ClientOf<D, W>> {
        self.recorder.finish();
        self.clients
    }

    fn take_up_events(&mut self, poll: &mut Poll, events: &mut Events) -> Result<(), Failure> {
        self.await_events(poll, events)?;
        let woke_ns = self.worker.clock.now_ns();
        self.pass_time(woke_ns);
        for event in &*events {
            self.take_up(event.token(), woke_ns);
        }
        self.attend(woke_ns)
    }

    /// Waits until something has arrived or there is something else to do.
    pub(super) fn await_events(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
    ) -> Result<(), Failure> {
        let timeout = self.next_duty()?;
        match poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                Err(Failure::internal(error))
            }
            _ => Ok(()),
        }
    }

    /// Whether the one client of this worker has a statement in progress and waits for its reply by
    /// itself.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        match &self.clients[..] {
            [client] => client.waits_alone && client.is_at_work(),
            _ => false,
        }
    }

    /// Lets a worker's only client wait for its replies without an event loop.
    pub(super) fn leave_alone(&mut self, index: usize) {
        if self.clients.len() > 1 {
            return;
        }
        let client = &mut self.clients[index];
        if let Some(session) = &mut client.session
            && session.block(LONGEST_WAIT).unwrap_or(false)
        {
            client.waits_alone = true;
            if let Some(source) = session.source() {
                // Announcements that no one reads cost the server's side of the socket, too.
                let _ = self.worker.registry.deregister(source);
            }
        }
    }

    /// If every reply is there at once, or the session itself waits for it, nothing is announced:
    /// the clients take turns.
    fn take_turns(&mut self, poll: &mut Poll, events: &mut Events) -> Result<(), Failure> {
        let mut last_ns = None;
        for index in 0..self.clients.len() {
            last_ns = self.proceed(index).or(last_ns);
        }
        if last_ns.is_none() && self.timers.len() + self.waiting.len() == self.busy {
            self.await_events(poll, events)?;
        }
        // A statement that takes long must not stop the clock.
        let now_ns = last_ns.unwrap_or_else(|| {
            let now_ns = self.worker.clock.now_ns();
            self.pass_time(now_ns);
            now_ns
        });
        self.attend(now_ns)
    }

    /// Checks between replies.
    fn attend(&mut self, now_ns: u64) -> Result<(), Failure> {
        self.check()?;
        if self.timers.next_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            self.pass_time(now_ns);
            self.end_waits(now_ns);
        }
        if self.openings.duty_ns() <= now_ns {
            self.attend_openings(now_ns);
        }
        if !self.waiting.is_empty() {
            self.dispatch();
        }
        if self.recorder.is_over() {
            self.wind_up(now_ns)?;
        }
        Ok(())
    }

    /// After the end of the phase no client waits for a connection any more, and what is in
    /// progress must end in time.
    #[cold]
    fn wind_up(&mut self, now_ns: u64) -> Result<(), Failure> {
        if !self.winding_up {
            self.winding_up = true;
            self.end_waits(u64::MAX);
            self.forget_openings();
        } else if now_ns > self.recorder.boundary_ns().saturating_add(self.drain_ns()) {
            self.leave_stuck();
        }
        if self.worker.control.is_abandoned() {
            return Err(Failure::internal("the run has failed elsewhere"));
        }
        Ok(())
    }

    /// Gives up what is still without a reply; each is an error, and what was measured stands.
    #[cold]
    fn leave_stuck(&mut self) {
        for index in 0..self.clients.len() {
            let client = &self.clients[index];
            if client.state != State::Idle {
                self.recorder.unanswered(client.type_under_way());
                self.retire(index);
                self.clients[index].disconnect();
            }
        }
    }

    fn drain_ns(&self) -> u64 {
        nanoseconds(self.worker.options.patience.replies)
    }

    /// Ends the run for a reason that is no statement's.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    pub(super) fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Moves on to the interval of `now_ns`, or past an early end: what completes after it does not
    /// count, whether or not the worker has been woken for it.
    #[inline]
    pub(super) fn pass_time(&mut self, now_ns: u64) {
        self.recorder.cut(self.worker.control.cut_ns());
        if self.recorder.has_passed(now_ns) {
            self.turn(now_ns);
        }
    }

    /// How long a worker may sleep: until an interval ends, a connection is due or takes too long,
    /// or a statement has taken too long. The alarm, which is more exact, wakes it when a pause
    /// ends or a transaction arrives.
    fn next_duty(&mut self) -> Result<Duration, Failure> {
        let mut duty_ns = self.recorder.boundary_ns();
        if self.recorder.is_over() {
            duty_ns = duty_ns.saturating_add(self.drain_ns() + 1);
        }
        duty_ns = duty_ns.min(self.openings.duty_ns());
        let exact = self
            .timers
            .next_ns()
            .into_iter()
            .chain(self.next_arrival_ns())
            .min();
        if let Some(exact_ns) = exact.filter(|&exact_ns| exact_ns <= duty_ns) {
            let away = self.worker.clock.until(exact_ns);
            if away.is_zero() {
                return Ok(away);
            }
            self.alarm.set(exact_ns, away).map_err(Failure::internal)?;
        }
        Ok(self.worker.clock.until(duty_ns).min(LONGEST_SLEEP))
    }

    #[inline]
    fn take_up(&mut self, token: Token, woke_ns: u64) {
        if token >= ALARM {
            return;
        }
        if let Some(now_ns) = self.proceed(token.0) {
            self.recorder.delay(now_ns - woke_ns);
        }
    }

    /// Goes on with a client's statement. If that completes, the instant is the statement's end
    /// and the next one's start, and is returned.
    #[inline]
    pub(super) fn proceed(&mut self, index: usize) -> Option<u64> {
        let client = &mut self.clients[index];
        match client.state {
            _ if client.is_at_work() => {}
            State::Opening => {
                self.carry_on(Token(index));
                return None;
            }
            _ => return None,
        }
        match client.session.as_mut()?.poll() {
            Progress::Pending => {
                self.ask_for_writability(index);
                None
            }
            Progress::Ready(outcome) => {
                let now_ns = self.worker.clock.now_ns();
                self.pass_time(now_ns);
                self.settle(index, outcome, now_ns);
                Some(now_ns)
            }
        }
    }

    #[inline]
    pub(super) fn settle(&mut self, index: usize, outcome: Result<Reply, Fault>, now_ns: u64) {
        let client = &self.clients[index];
        match (outcome, client.state) {
            (Ok(reply), State::InTransaction) => {
                self.answered(index, reply, now_ns);
            }
            (Err(Fault::Server(error)), State::InTransaction) => {
                self.refused(index, error, now_ns);
            }
            // A ROLLBACK that is refused found nothing to roll back.
            (Ok(_) | Err(Fault::Server(_)), State::RollingBack { again }) => {
                self.rolled_back(index, again, now_ns);
            }
            (Err(fault), _) => self.lost(index, &fault, now_ns),
            (Ok(_), _) => {}
        }
    }
}
