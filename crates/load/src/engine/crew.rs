//! A worker's clients at work: the hot loop.

use std::task::Poll as Progress;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};

use super::client::{ClientOf, State};
use super::message::Failure;
use super::reconnector::Reconnector;
use super::recorder::Recorder;
use super::worker::Worker;
use crate::driver::{Args, Driver, Fault, Reply, Session, StatementId};
use crate::workload::{Catalogue, Next, Script, Workload};

/// Wakes a worker that sleeps although nothing has arrived: the run is to end early.
pub(super) const WAKE: Token = Token(usize::MAX);

/// Replies taken up between two calls of the kernel.
const EVENTS: usize = 1024;
/// How long a statement that was under way at the end may take: longer than the lock wait
/// time-out that MySQL sets by default (50 s).
const DRAIN_NS: u64 = 60_000_000_000;

/// The clients of one worker, each a state machine that replies drive on.
pub(super) struct Crew<'a, D: Driver, W: Workload> {
    pub(super) worker: &'a Worker<D, W>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) clients: Vec<ClientOf<D, W>>,
    pub(super) recorder: Recorder,
    pub(super) args: Args,
    /// Clients that are not idle.
    busy: usize,
    /// Clients that pause after a failure, or sleep because their transaction asks for it.
    pub(super) pausing: usize,
    /// Why a client's script cannot go on.
    mistake: Option<Failure>,
    /// Clients without connection.
    pub(super) down: usize,
    /// Started with the first connection that is lost.
    pub(super) reconnector: Option<Reconnector<D>>,
    /// Since when no client of the whole run has had a connection.
    pub(super) cut_off_since_ns: Option<u64>,
}

impl<'a, D: Driver + Send + 'static, W: Workload> Crew<'a, D, W> {
    pub(super) fn new(
        worker: &'a Worker<D, W>,
        clients: Vec<ClientOf<D, W>>,
        recorder: Recorder,
    ) -> Self {
        Self {
            worker,
            catalogue: worker.workload.catalogue(),
            clients,
            recorder,
            args: Args::default(),
            busy: 0,
            pausing: 0,
            mistake: None,
            down: 0,
            reconnector: None,
            cut_off_since_ns: None,
        }
    }

    /// Runs until every client is idle: the phase is over and the last transactions have ended.
    pub(super) fn work(&mut self, poll: Poll) -> Result<(), Failure> {
        self.busy = self.clients.len();
        let now_ns = self.worker.clock.now_ns();
        for index in 0..self.clients.len() {
            self.begin(index, now_ns);
        }
        let at_once = self.clients.iter_mut().any(|client| {
            let session = client.session.as_mut();
            session.is_some_and(|session| session.source().is_none())
        });
        if at_once {
            self.work_at_once()?;
        } else {
            self.work_by_events(poll)?;
        }
        // Where no client got as far as the loop.
        self.mistake.take().map_or(Ok(()), Err)
    }

    /// Sends the last accounts; the clients come back with their connections open.
    pub(super) fn finish(self) -> Vec<ClientOf<D, W>> {
        self.recorder.finish();
        self.clients
    }

    fn work_by_events(&mut self, mut poll: Poll) -> Result<(), Failure> {
        let mut events = Events::with_capacity(EVENTS);
        while self.busy > 0 {
            let timeout = self.next_duty();
            match poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                    return Err(Failure::internal(error));
                }
                _ => {}
            }
            let woke_ns = self.worker.clock.now_ns();
            self.pass_time(woke_ns);
            for event in &events {
                self.take_up(event.token(), woke_ns);
            }
            self.attend(woke_ns)?;
        }
        Ok(())
    }

    /// Where every reply is there at once, nothing is waited for: the clients take turns.
    fn work_at_once(&mut self) -> Result<(), Failure> {
        let mut now_ns = self.worker.clock.now_ns();
        while self.busy > 0 {
            for index in 0..self.clients.len() {
                now_ns = self.proceed(index).unwrap_or(now_ns);
            }
            if self.down > 0 {
                self.await_connection(self.next_duty())?;
                now_ns = self.worker.clock.now_ns();
            } else if self.pausing > 0 && self.pausing == self.busy {
                std::thread::sleep(self.next_duty());
                now_ns = self.worker.clock.now_ns();
            }
            self.attend(now_ns)?;
        }
        Ok(())
    }

    /// What has to be looked after between replies.
    fn attend(&mut self, now_ns: u64) -> Result<(), Failure> {
        if let Some(mistake) = self.mistake.take() {
            return Err(mistake);
        }
        if self.down > 0 {
            self.pass_time(now_ns);
            self.bring_back(now_ns)?;
        }
        if self.pausing > 0 {
            self.pass_time(now_ns);
            self.end_pauses(now_ns);
        }
        if self.recorder.is_over() && now_ns > self.recorder.boundary_ns().saturating_add(DRAIN_NS)
        {
            return Err(Failure::new(
                "no-reply",
                format!(
                    "{} statements got no reply within {} s after the end of the measured phase",
                    self.busy,
                    DRAIN_NS / 1_000_000_000
                ),
            ));
        }
        Ok(())
    }

    /// Moves on to the interval of `now_ns`, after an early end where there is one: what completes
    /// after it does not count, whether the worker has been woken for it or not.
    #[inline]
    pub(super) fn pass_time(&mut self, now_ns: u64) {
        self.recorder.cut(self.worker.control.cut_ns());
        self.recorder.advance(now_ns);
    }

    /// How long a worker may sleep: until an interval or a pause ends, a connection is to be made anew, or
    /// what is under way has taken too long.
    fn next_duty(&self) -> Duration {
        let mut duty_ns = self.recorder.boundary_ns();
        if self.recorder.is_over() {
            duty_ns = duty_ns.saturating_add(DRAIN_NS + 1);
        }
        let pauses = self.clients.iter().filter_map(|client| match client.state {
            State::Down {
                retry_ns: at_ns, ..
            }
            | State::Pausing { until_ns: at_ns }
            | State::Sleeping { until_ns: at_ns } => Some(at_ns),
            _ => None,
        });
        if self.down + self.pausing > 0 {
            duty_ns = pauses.fold(duty_ns, u64::min);
        }
        self.worker.clock.until(duty_ns)
    }

    #[inline]
    fn take_up(&mut self, token: Token, woke_ns: u64) {
        if token == WAKE {
            return;
        }
        if let Some(now_ns) = self.proceed(token.0) {
            self.recorder.delay(now_ns - woke_ns);
        }
    }

    /// Goes on with a client's statement. If that completes, the instant is the statement's end
    /// and the next one's start, and is returned.
    #[inline]
    fn proceed(&mut self, index: usize) -> Option<u64> {
        let client = &mut self.clients[index];
        if matches!(
            client.state,
            State::Idle | State::Pausing { .. } | State::Sleeping { .. }
        ) {
            return None;
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
    fn settle(&mut self, index: usize, outcome: Result<Reply, Fault>, now_ns: u64) {
        let client = &self.clients[index];
        match (outcome, client.state) {
            (Ok(reply), State::InTransaction) => {
                let type_index = client.type_index;
                let latency_ns = now_ns - client.statement_start_ns;
                self.recorder
                    .statement(self.catalogue, type_index, latency_ns, reply);
                self.go_on(index, now_ns);
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

    /// The transaction's next statement, or the next transaction.
    #[inline]
    pub(super) fn go_on(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if let Some(next) = client.script.next(&mut self.args) {
            self.take_step(index, next, now_ns);
        } else {
            let latency_ns = now_ns - client.transaction_start_ns;
            client.failures = 0;
            self.recorder.transaction(latency_ns, now_ns);
            self.begin(index, now_ns);
        }
    }

    /// Begins a new transaction, unless none is to be begun any more.
    #[inline]
    pub(super) fn begin(&mut self, index: usize, now_ns: u64) {
        let allowed = !self.recorder.is_over()
            && (!self.recorder.is_measuring() || self.worker.control.take_transaction());
        if allowed {
            self.clients[index].transaction_start_ns = now_ns;
            let begun = self.clients[index].script.begin();
            self.take_first_step(index, begun, now_ns);
        } else {
            self.rest(index);
        }
    }

    /// Sends the first statement of a transaction, if the script has begun one.
    #[inline]
    pub(super) fn take_first_step(&mut self, index: usize, begun: bool, now_ns: u64) {
        let client = &mut self.clients[index];
        client.state = State::InTransaction;
        let next = begun.then(|| client.script.next(&mut self.args));
        match next.flatten() {
            Some(next) => self.take_step(index, next, now_ns),
            None => self.rest(index),
        }
    }

    #[inline]
    fn take_step(&mut self, index: usize, next: Next, now_ns: u64) {
        match next {
            Next::Statement(statement) => {
                self.clients[index].type_index = self.catalogue.type_of(statement);
                self.submit(index, now_ns, |session, args| {
                    session.submit(statement, args)
                });
            }
            Next::Sql { type_index } => {
                self.clients[index].type_index = type_index;
                self.submit(index, now_ns, |session, args| {
                    session.submit_text(args.sql())
                });
            }
            Next::Reconnect { type_index } => unimplemented!("{type_index}"),
            Next::Sleep { us } => {
                self.clients[index].sleep(now_ns, us);
                self.pausing += 1;
            }
            Next::Fail => {
                let mistake = self.clients[index].script.mistake();
                self.mistake = Some(Failure::new("script", mistake));
                self.rest(index);
            }
        }
    }

    pub(super) fn roll_back(&mut self, index: usize, rollback: StatementId, now_ns: u64) {
        self.submit(index, now_ns, |session, args| {
            session.submit(rollback, args)
        });
    }

    #[inline]
    fn submit(
        &mut self,
        index: usize,
        now_ns: u64,
        send: impl FnOnce(&mut D::Session, &Args) -> Result<(), Fault>,
    ) {
        let client = &mut self.clients[index];
        client.statement_start_ns = now_ns;
        let Some(session) = client.session.as_mut() else {
            return;
        };
        match send(session, &self.args) {
            Ok(()) => {
                if session.wants_write() {
                    self.ask_for_writability(index);
                }
            }
            Err(fault) => self.lost(index, &fault, now_ns),
        }
    }

    pub(super) fn rest(&mut self, index: usize) {
        let client = &mut self.clients[index];
        client.state = State::Idle;
        if client.session.is_some() {
            self.worker.control.count_out();
        }
        self.busy -= 1;
    }

    /// Asks for writability exactly while part of a statement waits to be sent.
    fn ask_for_writability(&mut self, index: usize) {
        let client = &mut self.clients[index];
        let Some(session) = client.session.as_mut() else {
            return;
        };
        let asks = session.wants_write();
        if asks == client.asks_writable {
            return;
        }
        let interest = if asks {
            Interest::READABLE | Interest::WRITABLE
        } else {
            Interest::READABLE
        };
        if let Some(source) = session.source() {
            // A connection that cannot be asked for reports its loss at the next read.
            let _ = self
                .worker
                .registry
                .reregister(source, Token(index), interest);
            client.asks_writable = asks;
        }
    }
}
