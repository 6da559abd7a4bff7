//! Clients that work in windows: between them they wait, connected and idle.

use super::client::State;
use super::crew::Crew;
use crate::driver::Driver;
use crate::measure::{Turn, Windows};
use crate::workload::Workload;

impl<D: Driver + Send + 'static, W: Workload> Crew<'_, D, W> {
    /// No window is open for a client that could begin, as far as this crew has seen.
    #[cold]
    pub(super) fn begin_by_turn(&mut self, windows: Windows, index: usize, now_ns: u64) {
        match windows.turn(now_ns) {
            _ if self.recorder.is_over() => self.rest(index),
            Turn::Ours { until_ns } => {
                self.open_window(windows, until_ns, now_ns);
                self.begin(index, now_ns);
            }
            Turn::NotYet { .. } => {
                self.stop_work(windows, index, now_ns);
                self.await_window(index);
            }
            Turn::Over => {
                self.stop_work(windows, index, now_ns);
                self.rest(index);
            }
        }
    }

    pub(super) fn await_window(&mut self, index: usize) {
        self.clients[index].state = State::Waiting;
        self.waiting.push_back(index);
    }

    /// Lets the waiting clients begin if a window is open.
    pub(super) fn dispatch_by_turn(&mut self, windows: Windows, now_ns: u64) {
        match windows.turn(now_ns) {
            Turn::Ours { until_ns } => {
                self.open_window(windows, until_ns, now_ns);
                for index in std::mem::take(&mut self.waiting) {
                    self.clients[index].at_work_since_ns = Some(now_ns);
                    self.begin(index, now_ns);
                }
            }
            Turn::NotYet { .. } => {}
            Turn::Over => self.dismiss_waiting(),
        }
    }

    /// Whoever still works has worked through the windows of others, if there were any.
    fn open_window(&mut self, windows: Windows, until_ns: u64, now_ns: u64) {
        if self.open_until_ns == until_ns {
            return;
        }
        self.open_until_ns = until_ns;
        for client in &self.clients {
            if client.at_work_since_ns.is_some() {
                let overlap_ns = windows.overlap_ns(client.transaction_start_ns, now_ns);
                self.recorder.overlap(overlap_ns);
            }
        }
    }

    fn stop_work(&mut self, windows: Windows, index: usize, now_ns: u64) {
        let client = &mut self.clients[index];
        if let Some(since_ns) = client.at_work_since_ns.take() {
            let overlap_ns = windows.overlap_ns(client.transaction_start_ns, now_ns);
            self.recorder.busy(now_ns.saturating_sub(since_ns));
            self.recorder.overlap(overlap_ns);
        }
    }

    /// Counts the work until an interval's end in that interval.
    pub(super) fn count_work(&mut self, end_ns: u64) {
        for client in &mut self.clients {
            if let Some(since_ns) = &mut client.at_work_since_ns {
                self.recorder.busy(end_ns.saturating_sub(*since_ns));
                *since_ns = end_ns.max(*since_ns);
            }
        }
    }

    /// When a window opens for those that wait.
    pub(super) fn next_window_ns(&self) -> Option<u64> {
        let windows = self.windows.filter(|_| !self.waiting.is_empty())?;
        match windows.turn(self.worker.clock.now_ns()) {
            Turn::NotYet { until_ns } => Some(until_ns),
            Turn::Ours { .. } | Turn::Over => Some(0),
        }
    }
}
