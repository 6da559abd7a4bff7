//! A client's next step in its transaction, its next transaction, or its end.

use mio::{Interest, Token};

use super::client::{Stage, State};
use super::crew::Crew;
use crate::driver::{Args, Driver, Fault, Reply, Session, StatementId};
use crate::failure::Failure;
use crate::workload::{NO_TYPE, Next, Script, Workload};

impl<D: Driver, W: Workload> Crew<'_, D, W> {
    /// A statement is done.
    #[inline]
    pub(super) fn answered(&mut self, index: usize, reply: Reply, now_ns: u64) {
        let client = &mut self.clients[index];
        let rows = client.session.as_ref().and_then(Session::rows);
        let type_index = client.script.take_reply(reply, rows, client.type_index);
        if client.counts {
            let latency_ns = now_ns - client.statement_start_ns;
            self.recorder
                .statement(self.catalogue, type_index, latency_ns, reply);
        }
        self.go_on(index, now_ns);
    }

    /// The transaction's next statement, or the next transaction.
    #[inline]
    pub(super) fn go_on(&mut self, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if let Some(next) = client.script.next(&mut self.args) {
            self.take_step(index, next, now_ns);
        } else if client.stage != Stage::Transactions {
            self.end_stage(index, now_ns);
        } else {
            let latency_ns = now_ns - client.transaction_start_ns;
            client.succeed();
            if client.counts {
                if let Some(kind) = client.script.transaction() {
                    self.recorder.transaction_of_kind(kind, latency_ns);
                }
                if client.script.counts() {
                    self.recorder.transaction(latency_ns, now_ns);
                }
            }
            match client.script.acknowledged() {
                Ok(()) => self.begin(index, now_ns),
                Err(error) => self.unrecorded(index, &error),
            }
        }
    }

    /// A client that has a connection again, or for the first time: it begins, if the others have.
    pub(super) fn come_in(&mut self, index: usize, now_ns: u64) {
        if self.busy > 0 {
            self.begin(index, now_ns);
        } else {
            self.clients[index].state = State::Idle;
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
            Next::Prepare { replaces } => {
                self.clients[index].type_index = NO_TYPE;
                self.submit(index, now_ns, |session, args| {
                    session.submit_preparation(args.sql(), replaces)
                });
            }
            Next::Own { number, type_index } => {
                self.clients[index].type_index = type_index;
                self.submit(index, now_ns, |session, args| {
                    session.submit_own(number, args)
                });
            }
            Next::Again => self.run_again(index, now_ns),
            Next::Reconnect { type_index } => self.come_again(index, type_index, now_ns),
            Next::Sleep { us } => self.pause(index, State::Sleeping, us, now_ns),
            Next::Wait { us } => self.pause(index, State::Thinking, us, now_ns),
            Next::Fail => {
                let mistake = self.clients[index].script.mistake();
                self.fail(Failure::new("script", mistake));
                self.retire(index);
            }
        }
    }

    fn pause(&mut self, index: usize, state: State, us: u64, now_ns: u64) {
        self.clients[index].state = state;
        let length_ns = if self.winding_up {
            0
        } else {
            us.saturating_mul(1000)
        };
        self.timers.set(now_ns.saturating_add(length_ns), index);
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

    /// A client has no more transactions: what its script does last comes now.
    pub(super) fn rest(&mut self, index: usize) {
        let client = &mut self.clients[index];
        if client.session.is_some()
            && client.stage == Stage::Transactions
            && client.script.conclude()
        {
            client.stage = Stage::Concluding;
            client.state = State::InTransaction;
            client.counts = false;
            let now_ns = self.worker.clock.now_ns();
            return self.go_on(index, now_ns);
        }
        self.retire(index);
    }

    /// Ends a client's work.
    pub(super) fn retire(&mut self, index: usize) {
        let client = &mut self.clients[index];
        client.state = State::Idle;
        if client.stage == Stage::Initialising {
            // It has not been counted among those at work.
            return;
        }
        let now_ns = self.worker.clock.now_ns();
        if client.session.is_some() {
            self.worker.control.count_out(now_ns);
        }
        self.busy -= 1;
    }

    /// Asks for writability exactly while part of a statement waits to be sent.
    pub(super) fn ask_for_writability(&mut self, index: usize) {
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
