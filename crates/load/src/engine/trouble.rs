//! What a crew does when something goes wrong: roll back, begin again, connect again, give up.

use std::time::Duration;

use super::client::State;
use super::crew::Crew;
use super::message::Failure;
use super::reconnector::Reconnector;
use crate::driver::{Driver, Fault, Reply, ServerError};
use crate::workload::{Script, Workload};

/// How long it is tried to bring back at least one client of the whole run.
const GIVE_UP_NS: u64 = 3_000_000_000;

impl<D: Driver + Send + 'static, W: Workload> Crew<'_, D, W> {
    /// The server refused a statement: the transaction is rolled back where there is one, then
    /// begun again with new draws if the refusal was transient, or given up.
    #[cold]
    pub(super) fn refused(&mut self, index: usize, mut error: ServerError, now_ns: u64) {
        let type_index = self.clients[index].type_index;
        if self.worker.workload.expects(type_index, &error) {
            self.expected(index, now_ns);
            return;
        }
        error.transient |= self.worker.workload.collides(&error);
        let again = error.transient;
        self.recorder.error(&Fault::Server(error), Some(type_index));
        if again {
            self.recorder.retry();
        } else {
            self.recorder.failed_transaction(now_ns);
        }
        match self.catalogue.rollback() {
            Some(rollback) => {
                self.clients[index].state = State::RollingBack { again };
                self.args.clear();
                self.roll_back(index, rollback, now_ns);
            }
            None => self.rolled_back(index, again, now_ns),
        }
    }

    /// A refusal that the workload asked for is a reply like any other.
    fn expected(&mut self, index: usize, now_ns: u64) {
        let client = &self.clients[index];
        let latency_ns = now_ns - client.statement_start_ns;
        self.recorder.statement(
            self.catalogue,
            client.type_index,
            latency_ns,
            Reply::default(),
        );
        self.go_on(index, now_ns);
    }

    #[cold]
    pub(super) fn rolled_back(&mut self, index: usize, again: bool, now_ns: u64) {
        if self.recorder.is_over() {
            self.rest(index);
        } else if again {
            let begun = self.clients[index].script.begin_again();
            self.take_first_step(index, begun, now_ns);
        } else if self.clients[index].failures.saturating_add(1) >= self.worker.manner.most_failures
        {
            self.rest(index);
        } else {
            self.clients[index].pause(now_ns);
            self.pausing += 1;
        }
    }

    /// Lets those clients go on whose pause or sleep is over; all of them, once the phase is.
    #[cold]
    pub(super) fn end_pauses(&mut self, now_ns: u64) {
        let is_over = self.recorder.is_over();
        for index in 0..self.clients.len() {
            match self.clients[index].state {
                State::Pausing { until_ns } if now_ns >= until_ns || is_over => {
                    self.pausing -= 1;
                    self.begin(index, now_ns);
                }
                State::Sleeping { until_ns } if now_ns >= until_ns || is_over => {
                    self.pausing -= 1;
                    self.clients[index].state = State::InTransaction;
                    self.go_on(index, now_ns);
                }
                _ => {}
            }
        }
    }

    /// The connection is of no use any more; its transaction is given up.
    #[cold]
    pub(super) fn lost(&mut self, index: usize, fault: &Fault, now_ns: u64) {
        let client = &mut self.clients[index];
        let type_index = match client.state {
            State::InTransaction => Some(client.type_index),
            _ => None,
        };
        self.recorder.error(fault, type_index);
        if client.state != (State::RollingBack { again: false }) {
            self.recorder.failed_transaction(now_ns);
        }
        self.down += 1;
        self.worker.control.count_out();
        client.asks_writable = false;
        client.go_down(now_ns, 0);
    }

    /// Takes up the connections that have been made, and has those made whose pause is over. Once
    /// the phase is over none is needed.
    #[cold]
    pub(super) fn bring_back(&mut self, now_ns: u64) -> Result<(), Failure> {
        self.await_connection(Duration::ZERO)?;
        for index in 0..self.clients.len() {
            match self.clients[index].state {
                State::Down { .. } | State::Connecting { .. } if self.recorder.is_over() => {
                    self.down -= 1;
                    self.rest(index);
                }
                State::Down { retry_ns, attempts } if now_ns >= retry_ns => {
                    self.clients[index].state = State::Connecting { attempts };
                    self.reconnector()?.connect(index)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits no longer than `timeout` until a connection is made, and takes up all that are.
    #[cold]
    pub(super) fn await_connection(&mut self, mut timeout: Duration) -> Result<(), Failure> {
        while let Some((index, outcome)) = self.reconnector()?.outcome(timeout)? {
            timeout = Duration::ZERO;
            let now_ns = self.worker.clock.now_ns();
            self.pass_time(now_ns);
            self.take_connection(index, outcome, now_ns)?;
        }
        Ok(())
    }

    fn reconnector(&mut self) -> Result<&Reconnector<D>, Failure> {
        if self.reconnector.is_none() {
            self.reconnector = Some(Reconnector::start(self.worker)?);
        }
        self.reconnector
            .as_ref()
            .ok_or_else(|| Failure::internal("no thread makes connections"))
    }

    fn take_connection(
        &mut self,
        index: usize,
        outcome: Result<D::Session, Fault>,
        now_ns: u64,
    ) -> Result<(), Failure> {
        // A client that rests, because the phase is over, needs none any more.
        let State::Connecting { attempts } = self.clients[index].state else {
            return Ok(());
        };
        match outcome {
            Ok(mut session) => {
                self.worker
                    .register(index, &mut session)
                    .map_err(Failure::internal)?;
                self.clients[index].session = Some(session);
                self.down -= 1;
                self.worker.control.count_in();
                self.recorder.reconnect();
                self.begin(index, now_ns);
                Ok(())
            }
            Err(fault) => {
                self.recorder.error(&fault, None);
                self.clients[index].go_down(now_ns, attempts + 1);
                self.still_alive(&fault, now_ns)
            }
        }
    }

    /// Gives up when no client of the run has had a connection for long enough: the server is
    /// gone.
    fn still_alive(&mut self, fault: &Fault, now_ns: u64) -> Result<(), Failure> {
        if !self.worker.control.is_cut_off() {
            self.cut_off_since_ns = None;
            return Ok(());
        }
        let since_ns = *self.cut_off_since_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since_ns) < GIVE_UP_NS {
            return Ok(());
        }
        Err(Failure::from_fault(
            "all connections were lost and none could be made again; is the server still running?",
            fault,
        ))
    }
}
