//! How a crew's transactions begin: each after the last one, or when it arrives.

use super::arrivals::Pacer;
use super::client::State;
use super::crew::Crew;
use crate::driver::Driver;
use crate::measure::Backlog;
use crate::workload::{Script, Workload};

impl<D: Driver + Send + 'static, W: Workload> Crew<'_, D, W> {
    /// Begins a client's next transaction, unless none is to be begun any more. In an open loop
    /// that is one which has arrived; where there is none, the client waits for the next.
    #[inline]
    pub(super) fn begin(&mut self, index: usize, now_ns: u64) {
        match &mut self.pacer {
            None => self.begin_arrived(index, now_ns, now_ns),
            Some(pacer) if pacer.next_ns() <= now_ns => {
                let arrived_ns = pacer.take();
                self.begin_arrived(index, arrived_ns, now_ns);
            }
            Some(_) => {
                self.clients[index].state = State::Waiting;
                self.waiting.push_back(index);
            }
        }
    }

    /// Begins a transaction; its latency counts from its arrival.
    #[inline]
    fn begin_arrived(&mut self, index: usize, arrived_ns: u64, now_ns: u64) {
        let control = &self.worker.control;
        let is_measuring = self.recorder.is_measuring();
        if self.recorder.is_over() || (is_measuring && !control.take_transaction()) {
            return self.rest(index);
        }
        let client = &mut self.clients[index];
        client.transaction_start_ns = arrived_ns;
        client.counts = true;
        let begun = client.script.begin();
        if !begun && is_measuring {
            control.give_back();
        }
        self.take_first_step(index, begun, now_ns);
    }

    /// Begins what has arrived, as far as clients are idle.
    pub(super) fn dispatch(&mut self) {
        if self.winding_up || self.worker.control.is_spent() {
            return self.dismiss_waiting();
        }
        let now_ns = self.worker.clock.now_ns();
        while self
            .pacer
            .as_ref()
            .is_some_and(|pacer| pacer.next_ns() <= now_ns)
            && let Some(index) = self.waiting.pop_front()
        {
            let arrived_ns = self.pacer.as_mut().map_or(now_ns, Pacer::take);
            self.recorder.lateness(now_ns - arrived_ns);
            self.begin_arrived(index, arrived_ns, now_ns);
        }
    }

    #[cold]
    fn dismiss_waiting(&mut self) {
        for index in std::mem::take(&mut self.waiting) {
            self.rest(index);
        }
    }

    /// When the next transaction arrives for which a client is idle.
    pub(super) fn next_arrival_ns(&self) -> Option<u64> {
        let pacer = self.pacer.as_ref().filter(|_| !self.waiting.is_empty())?;
        Some(pacer.next_ns())
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
        let Some(pacer) = &mut self.pacer else {
            return;
        };
        let arrived = pacer.arrived_until(end_ns);
        // When all that was asked for has been begun, what still arrives waits for nothing.
        let backlog = if self.worker.control.is_spent() {
            Backlog::default()
        } else {
            pacer.backlog(end_ns)
        };
        self.recorder.arrivals(arrived, backlog);
    }

    /// What the warm-up began and the measured phase ends is of the number that was asked for;
    /// what would be more than that does not count.
    fn count_those_under_way(&mut self) {
        for client in &mut self.clients {
            client.counts = client.is_in_transaction() && self.worker.control.take_transaction();
        }
    }
}
