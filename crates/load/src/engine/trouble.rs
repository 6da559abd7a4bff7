//! A crew's reaction to errors: roll back, run again, reconnect, give up.

use super::client::{Reason, Stage, State};
use super::conductor::nanoseconds;
use super::crew::Crew;
use super::message::Message;
use crate::driver::{Driver, Fault, Reply, ServerError};
use crate::failure::Failure;
use crate::workload::{NO_TYPE, Script, Workload};

impl<D: Driver, W: Workload> Crew<'_, D, W> {
    /// The server refused a statement: the transaction is rolled back if there is one, then run
    /// again with new draws if the error was transient, or given up.
    #[cold]
    pub(super) fn refused(&mut self, index: usize, mut error: ServerError, now_ns: u64) {
        let type_index = self.clients[index].type_index;
        if self.worker.workload.expects(type_index, &error) {
            // A refusal that the workload asked for is a reply like any other.
            return self.answered(index, Reply::default(), now_ns);
        }
        let collides = self.worker.workload.collides(&error);
        let again = self.worker.options.retry.applies(&error, collides);
        error.transient = again;
        let taken = self.clients[index].script.take_refusal(&error, again);
        let client = &self.clients[index];
        let counted = (type_index != NO_TYPE).then_some(type_index);
        // What a script sends beside the run's transactions, under no type, is of its own making.
        if client.counts && (counted.is_some() || client.script.counts()) {
            self.recorder.error(&Fault::Server(error), counted);
            if again && !taken {
                self.recorder.retry();
            }
        }
        if taken {
            return self.go_on(index, now_ns);
        }
        if !again {
            self.give_up(index, now_ns);
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

    fn give_up(&mut self, index: usize, now_ns: u64) {
        if self.clients[index].counts {
            self.recorder.failed_transaction(now_ns);
        }
    }

    #[cold]
    pub(super) fn rolled_back(&mut self, index: usize, again: bool, now_ns: u64) {
        if self.recorder.is_over() {
            self.rest(index);
        } else if again {
            match self.clients[index].pause_before_retry(now_ns) {
                Some(until_ns) => self.timers.set(until_ns, index),
                None => self.begin_again(index, now_ns),
            }
        } else if self.worker.workload.ends_in_doubt() {
            self.stop(index);
        } else if self.clients[index].failures.saturating_add(1) >= self.worker.manner.most_failures
        {
            self.rest(index);
        } else {
            self.timers.set(self.clients[index].pause(now_ns), index);
        }
    }

    /// The script wants the transaction to be run again after an error.
    #[cold]
    pub(super) fn run_again(&mut self, index: usize, now_ns: u64) {
        if self.clients[index].counts {
            self.recorder.retry();
        }
        self.rolled_back(index, true, now_ns);
    }

    /// Runs the transaction again with new draws.
    fn begin_again(&mut self, index: usize, now_ns: u64) {
        if self.recorder.is_over() {
            return self.rest(index);
        }
        let begun = self.clients[index].script.begin_again();
        self.take_first_step(index, begun, now_ns);
    }

    /// Continues the clients that are due.
    #[cold]
    pub(super) fn end_waits(&mut self, until_ns: u64) {
        let now_ns = self.worker.clock.now_ns();
        // Clients that begin to wait meanwhile are for the next time.
        for _ in 0..self.timers.len() {
            let Some(index) = self.timers.due(until_ns) else {
                return;
            };
            match self.clients[index].state {
                State::Pausing { again: true } => self.begin_again(index, now_ns),
                State::Pausing { again: false } => self.begin(index, now_ns),
                State::Sleeping => {
                    self.clients[index].state = State::InTransaction;
                    self.go_on(index, now_ns);
                }
                State::Thinking if self.winding_up => self.rest(index),
                State::Thinking => {
                    let client = &mut self.clients[index];
                    client.state = State::InTransaction;
                    client.transaction_start_ns = now_ns;
                    self.go_on(index, now_ns);
                }
                // One in the middle of a transaction is to come to its end.
                State::Down
                    if self.winding_up && self.clients[index].attempt.reason != Reason::Asked =>
                {
                    self.rest(index);
                }
                State::Down => self.try_again(index),
                _ => {}
            }
        }
    }

    /// The connection is of no use any more; its transaction is given up.
    #[cold]
    pub(super) fn lost(&mut self, index: usize, fault: &Fault, now_ns: u64) {
        let client = &self.clients[index];
        let state = client.state;
        let type_index = (state == State::InTransaction)
            .then_some(client.type_index)
            .filter(|&type_index| type_index != NO_TYPE);
        self.recorder.error(fault, type_index);
        match client.stage {
            Stage::Initialising => {
                self.fail(Failure::from_fault("preparing a client", fault));
                return self.retire(index);
            }
            Stage::Concluding => {
                self.clients[index].disconnect();
                return self.retire(index);
            }
            Stage::Transactions => self.clients[index].script.lost(),
        }
        if state != (State::RollingBack { again: false }) {
            self.give_up(index, now_ns);
        }
        self.worker.control.count_out(now_ns);
        if self.worker.workload.ends_in_doubt() {
            self.clients[index].disconnect();
            return self.stop(index);
        }
        self.timers
            .set(self.clients[index].go_down(now_ns, 0), index);
    }

    /// Ends a client for good: the fate of its last transaction is not known.
    fn stop(&mut self, index: usize) {
        self.worker.control.count_stopped();
        self.rest(index);
    }

    /// The workload could not write down what was acknowledged: all that follows would be in vain.
    #[cold]
    pub(super) fn unrecorded(&mut self, index: usize, error: &std::io::Error) {
        self.fail(Failure::internal(format!(
            "an acknowledgement cannot be written down: {error}"
        )));
        self.rest(index);
    }

    /// Says so when no client of the run has had a connection for too long: the server is gone.
    pub(super) fn still_alive(&mut self, fault: &Fault, now_ns: u64) {
        let limit_ns = nanoseconds(self.worker.options.patience.connections);
        if self.worker.control.cut_off_for_ns(now_ns) >= limit_ns {
            let failure = Failure::from_fault(
                "all connections were lost and none could be made again; is the server still running?",
                fault,
            );
            // A receiver that is gone has ended the run already.
            let _ = self.worker.outbox.send(Message::CutOff(failure));
        }
    }
}
