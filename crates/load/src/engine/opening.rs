//! Opens a crew's connections: many begin at a time, and the event loop continues them.

use std::collections::VecDeque;
use std::task::Poll as Progress;

use mio::{Events, Poll, Token};

use super::client::{Attempt, Reason, Stage, State};
use super::conductor::nanoseconds;
use super::crew::Crew;
use crate::driver::{Driver, Fault, LOGIN_LIMIT, Reply, Session, too_late};
use crate::failure::Failure;
use crate::workload::{Script, Workload};

/// Connections that the whole run makes at a time, at its beginning and after a loss. A server's
/// queue of new connections is short (50 in MySQL 5.1, 80 in later ones with their defaults), and
/// more at a time would not be served sooner. Those that a workload asks for are what is
/// measured: they come when it says.
const AT_A_TIME: usize = 48;

/// Time between checks for connections that take too long; the limit is in seconds.
const LOOK_NS: u64 = 100_000_000;

/// The connections that are being made.
#[derive(Debug)]
pub(super) struct Openings {
    /// Clients that have not had their turn.
    queue: VecDeque<usize>,
    /// Connections being made, of those that queued.
    under_way: usize,
    at_a_time: usize,
    /// Begun, and not carried on since.
    begun: Vec<usize>,
    /// When it is to be looked next whether one takes too long.
    look_ns: u64,
    /// Clients that have never been connected.
    missing: usize,
}

impl Openings {
    pub(super) fn new(clients: usize, workers: usize) -> Self {
        Self {
            queue: (0..clients).collect(),
            under_way: 0,
            at_a_time: (AT_A_TIME / workers).max(1),
            begun: Vec::new(),
            look_ns: u64::MAX,
            missing: clients,
        }
    }

    /// When there is something to do for them again, without an event; 0: at once.
    pub(super) fn duty_ns(&self) -> u64 {
        if !self.begun.is_empty() || self.is_next() {
            return 0;
        }
        self.look_ns
    }

    fn is_next(&self) -> bool {
        self.under_way < self.at_a_time && !self.queue.is_empty()
    }

    fn next(&mut self) -> Option<usize> {
        if !self.is_next() {
            return None;
        }
        self.under_way += 1;
        self.queue.pop_front()
    }

    /// Lets the next one have its turn.
    fn end(&mut self, reason: Reason) {
        if reason != Reason::Asked {
            self.under_way -= 1;
        }
    }
}

impl<D: Driver, W: Workload> Crew<'_, D, W> {
    /// Connects every client.
    pub(super) fn connect(&mut self, poll: &mut Poll) -> Result<(), Failure> {
        let mut events = Events::with_capacity(AT_A_TIME);
        loop {
            self.attend_openings(self.worker.clock.now_ns());
            self.end_waits(self.worker.clock.now_ns());
            self.check()?;
            // The last may have been connected just now: then no event comes any more.
            if self.openings.missing == 0 {
                return Ok(());
            }
            self.proceed_while_connecting(poll, &mut events)?;
        }
    }

    /// Continues connections, and the steps that scripts take first on theirs.
    fn proceed_while_connecting(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
    ) -> Result<(), Failure> {
        if self.at_once || self.is_alone() {
            let mut went_on = false;
            for index in 0..self.clients.len() {
                went_on |= self.proceed(index).is_some();
            }
            if went_on || self.is_alone() {
                return Ok(());
            }
        }
        self.await_events(poll, events)?;
        for event in &*events {
            let Token(index) = event.token();
            if index < self.clients.len() {
                self.proceed(index);
            }
        }
        Ok(())
    }

    /// What a script does once before its first transaction, or after its last, is done.
    #[cold]
    pub(super) fn end_stage(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if client.stage == Stage::Concluding {
            return self.retire(index);
        }
        client.stage = Stage::Transactions;
        self.openings.missing -= 1;
        self.come_in(index, now_ns);
    }

    /// Begins the connections that are due, continues those just begun, and gives up those that
    /// take too long.
    pub(super) fn attend_openings(&mut self, now_ns: u64) {
        while let Some(index) = self.openings.next() {
            self.open(index);
        }
        // Connections that come due meanwhile wait for the next time. Otherwise a database that
        // connects at once, with a workload that only connects, would keep this loop busy forever.
        for index in std::mem::take(&mut self.openings.begun) {
            self.carry_on(Token(index));
        }
        if now_ns >= self.openings.look_ns {
            self.give_up_late_ones(now_ns);
        }
    }

    /// Leaves the server and comes again, because the script wants it.
    #[cold]
    pub(super) fn come_again(&mut self, index: usize, type_index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        client.type_index = type_index;
        client.statement_start_ns = now_ns;
        client.disconnect();
        client.attempt = Attempt::new(Reason::Asked, 0);
        self.open(index);
    }

    /// Tries after a pause, when its turn comes; what the script asked for waits for no one's
    /// turn, and who had it already keeps it.
    pub(super) fn try_again(&mut self, index: usize) {
        let client = &mut self.clients[index];
        if client.attempt.reason == Reason::Asked {
            return self.open(index);
        }
        client.state = State::Queueing;
        if client.attempt.turned_away > 0 {
            self.openings.queue.push_front(index);
        } else {
            self.openings.queue.push_back(index);
        }
    }

    /// Begins a connection.
    fn open(&mut self, index: usize) {
        let begun_ns = self.worker.clock.now_ns();
        let client = &mut self.clients[index];
        client.state = State::Opening;
        if client.attempt.turned_away == 0 {
            client.attempt.limit_ns = begun_ns.saturating_add(nanoseconds(LOGIN_LIMIT));
        }
        match self.worker.open(index) {
            Ok(mut session) => {
                self.at_once = session.source().is_none();
                self.clients[index].session = Some(session);
                self.openings.begun.push(index);
                self.openings.look_ns = self.openings.look_ns.min(begun_ns + LOOK_NS);
            }
            Err(fault) => self.not_opened(index, &fault),
        }
    }

    /// Goes on with a connection that is being made.
    #[cold]
    pub(super) fn carry_on(&mut self, Token(index): Token) {
        let Some(client) = self.clients.get_mut(index) else {
            return;
        };
        if client.state != State::Opening {
            return;
        }
        let Some(session) = client.session.as_mut() else {
            return;
        };
        let progress = match client.attempt.setting_up {
            None => session.poll_open(),
            Some(_) => session.poll().map_ok(drop),
        };
        match progress {
            Progress::Pending => self.ask_for_writability(index),
            Progress::Ready(Ok(())) => self.set_up(index),
            Progress::Ready(Err(fault)) => {
                let setting_up = client.attempt.setting_up;
                let fault = self.blame(setting_up, fault);
                self.not_opened(index, &fault);
            }
        }
    }

    /// Names the statement of a session's set-up that the server would not take.
    fn blame(&self, setting_up: Option<usize>, fault: Fault) -> Fault {
        match (setting_up, fault) {
            (Some(place), Fault::Server(mut error)) => {
                let sql = &self.catalogue.statements()[self.catalogue.set_up()[place]].sql;
                error.message = format!("`{sql}`: {}", error.message);
                Fault::Server(error)
            }
            (_, fault) => fault,
        }
    }

    /// Sends the next of the statements that every session begins with; after the last it is open.
    fn set_up(&mut self, index: usize) {
        let client = &mut self.clients[index];
        let next = client.attempt.setting_up.map_or(0, |done| done + 1);
        if let Some(&statement) = self.catalogue.set_up().get(next)
            && let Some(session) = client.session.as_mut()
        {
            client.attempt.setting_up = Some(next);
            self.args.clear();
            if let Err(fault) = session.submit(statement, &self.args) {
                return self.not_opened(index, &fault);
            }
            self.ask_for_writability(index);
            // The answer of a database that answers at once is not announced.
            self.openings.begun.push(index);
        } else {
            self.ask_for_writability(index);
            self.leave_alone(index);
            self.opened(index);
        }
    }

    fn opened(&mut self, index: usize) {
        let now_ns = self.worker.clock.now_ns();
        self.pass_time(now_ns);
        let Attempt { reason, .. } = self.clients[index].attempt;
        self.openings.end(reason);
        match reason {
            Reason::First => {
                let client = &mut self.clients[index];
                if client.script.initialise() {
                    client.stage = Stage::Initialising;
                    client.state = State::InTransaction;
                    client.counts = false;
                    return self.go_on(index, now_ns);
                }
                self.openings.missing -= 1;
                self.come_in(index, now_ns);
            }
            Reason::Lost => {
                self.worker.control.count_in();
                self.recorder.reconnect();
                self.come_in(index, now_ns);
            }
            Reason::Asked => {
                self.clients[index].state = State::InTransaction;
                self.settle(index, Ok(Reply::default()), now_ns);
            }
        }
    }

    #[cold]
    fn not_opened(&mut self, index: usize, fault: &Fault) {
        let now_ns = self.worker.clock.now_ns();
        self.pass_time(now_ns);
        let client = &mut self.clients[index];
        let attempt = client.attempt;
        client.disconnect();
        self.openings.end(attempt.reason);
        if matches!(fault, Fault::Busy(_)) && now_ns < attempt.limit_ns {
            self.timers.set(client.stand_back(now_ns), index);
            return;
        }
        match attempt.reason {
            Reason::First => {
                self.fail(Failure::from_fault("connecting a client", fault));
            }
            Reason::Asked => {
                client.state = State::InTransaction;
                self.lost(index, fault, now_ns);
            }
            Reason::Lost => {
                self.recorder.error(fault, None);
                self.timers
                    .set(client.go_down(now_ns, attempt.failures + 1), index);
                self.still_alive(fault, now_ns);
            }
        }
    }

    #[cold]
    fn give_up_late_ones(&mut self, now_ns: u64) {
        self.openings.look_ns = u64::MAX;
        for index in 0..self.clients.len() {
            let client = &self.clients[index];
            if client.state != State::Opening {
                continue;
            }
            if now_ns >= client.attempt.limit_ns {
                self.not_opened(index, &Fault::Lost(too_late()));
            } else {
                self.openings.look_ns = now_ns + LOOK_NS;
            }
        }
    }

    /// Gives up, once the phase is over, the connections that are no more needed: all but those in
    /// the middle of a transaction.
    #[cold]
    pub(super) fn forget_openings(&mut self) {
        let queue = std::mem::take(&mut self.openings.queue);
        for index in queue {
            self.rest(index);
        }
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            if client.state == State::Opening && client.attempt.reason != Reason::Asked {
                client.disconnect();
                self.openings.end(Reason::Lost);
                self.rest(index);
            }
        }
    }
}
