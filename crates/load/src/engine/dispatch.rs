//! When a crew's transactions begin: each after the last one, or when it arrives.

use super::client::State;
use super::crew::Crew;
use super::pacer::{Arrival, Turn};
use crate::driver::Driver;
use crate::workload::{Script, Workload};

impl<D: Driver, W: Workload> Crew<'_, D, W> {
    /// Begins a client's next transaction, unless none may begin any more. In an open loop that is
    /// the next one that has arrived; if there is none, the client waits for it.
    #[inline]
    pub(super) fn begin(&mut self, index: usize, now_ns: u64) {
        if self.pacer.is_some() {
            self.begin_paced(index, now_ns);
        } else if self.recorder.is_over() || !self.may_begin() {
            self.rest(index);
        } else {
            self.begin_arrived(index, now_ns, now_ns);
        }
    }

    fn begin_paced(&mut self, index: usize, now_ns: u64) {
        let Some(pacer) = self.pacer.as_ref().filter(|_| !self.recorder.is_over()) else {
            return self.rest(index);
        };
        match pacer.ask(self.worker.number, now_ns, || self.allowance()) {
            Turn::Begin(arrival) => self.take_up_arrival(index, arrival, now_ns),
            Turn::NoMore => self.rest(index),
            Turn::Wait => {
                self.clients[index].state = State::Waiting;
                self.waiting.push_back(index);
            }
        }
    }

    /// Begins what has arrived, as far as clients are idle.
    pub(super) fn dispatch(&mut self) {
        let now_ns = self.worker.clock.now_ns();
        // A transaction that begins after an interval's end does not belong to that interval.
        self.pass_time(now_ns);
        if self.recorder.is_over() || self.worker.control.is_spent() {
            return self.dismiss_waiting();
        }
        while let Some(&index) = self.waiting.front()
            && let Some(pacer) = &self.pacer
        {
            match pacer.ask_idle(self.worker.number, now_ns, || self.allowance()) {
                Turn::Begin(arrival) => {
                    self.waiting.pop_front();
                    self.take_up_arrival(index, arrival, now_ns);
                }
                Turn::NoMore => return self.dismiss_waiting(),
                Turn::Wait => return,
            }
        }
    }

    fn take_up_arrival(&mut self, index: usize, arrival: Arrival, now_ns: u64) {
        if let Some(worker) = arrival.successor {
            self.worker.control.wake(worker);
        }
        if arrival.found_idle {
            self.recorder.lateness(now_ns - arrival.at_ns);
        }
        self.begin_arrived(index, arrival.at_ns, now_ns);
    }

    /// Begins a transaction; its latency counts from its arrival.
    #[inline]
    fn begin_arrived(&mut self, index: usize, arrived_ns: u64, now_ns: u64) {
        let client = &mut self.clients[index];
        client.transaction_start_ns = arrived_ns;
        client.counts = true;
        let begun = client.script.begin();
        if !begun && self.recorder.is_measuring() {
            self.worker.control.give_back();
        }
        self.take_first_step(index, begun, now_ns);
    }

    /// Whether one more transaction may begin; if so, takes it from the number asked for.
    #[inline]
    fn may_begin(&self) -> bool {
        !self.recorder.is_measuring() || self.worker.control.take_transaction()
    }

    /// How many may begin after one that is taken now; `None` if not even that one may.
    fn allowance(&self) -> Option<u64> {
        self.may_begin().then(|| self.left())
    }

    /// How many more transactions may begin in the present phase.
    fn left(&self) -> u64 {
        if self.recorder.is_measuring() {
            self.worker.control.left()
        } else {
            u64::MAX
        }
    }

    #[cold]
    pub(super) fn dismiss_waiting(&mut self) {
        if let Some(pacer) = &self.pacer {
            pacer.leave(self.worker.number);
        }
        for index in std::mem::take(&mut self.waiting) {
            self.rest(index);
        }
    }

    /// When this worker is to wake for a transaction that arrives.
    pub(super) fn next_arrival_ns(&self) -> Option<u64> {
        let pacer = self.pacer.as_ref().filter(|_| !self.waiting.is_empty())?;
        pacer.alarm_ns(self.worker.number)
    }

    /// Closes the intervals that are over.
    #[cold]
    pub(super) fn turn(&mut self, now_ns: u64) {
        while self.recorder.has_passed(now_ns) {
            let was_measuring = self.recorder.is_measuring();
            self.count_arrivals(self.recorder.boundary_ns());
            self.recorder.close_period();
            if !was_measuring && self.recorder.is_measuring() && self.worker.control.has_budget() {
                self.count_those_under_way();
            }
        }
    }

    fn count_arrivals(&mut self, end_ns: u64) {
        if let Some(pacer) = &self.pacer {
            let (arrived, backlog) = pacer.close(end_ns, self.left());
            self.recorder.arrivals(arrived, backlog);
        }
    }

    /// A transaction that the warm-up began and the measured phase ends is one of the number asked
    /// for; any beyond that number does not count.
    fn count_those_under_way(&mut self) {
        for client in &mut self.clients {
            client.counts = client.is_in_transaction() && self.worker.control.take_transaction();
        }
    }
}
