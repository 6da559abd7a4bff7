//! One worker's accounts, cut into intervals by the time of each reply.

use std::sync::mpsc::Sender;

use super::message::Message;
use super::resources::waited_for_cpu_ns;
use crate::driver::{Fault, Reply};
use crate::measure::{Backlog, IntervalTally, Period, Phase, PhaseTally, Schedule};
use crate::workload::{Catalogue, NO_TYPE};

/// Counts what one worker's clients do. Intervals end at instants that all workers share, so no
/// lock is needed: a worker sends its part as soon as its clock passes the end.
#[derive(Debug)]
pub(super) struct Recorder {
    worker: usize,
    outbox: Sender<Message>,
    types: usize,
    schedule: Schedule,
    /// `None`: nothing counts, not yet or, the measured phase being over, not any more.
    period: Option<Period>,
    interval: IntervalTally,
    phase: PhaseTally,
    /// When the first client began: the thread had to be woken for it.
    begun_ns: u64,
    /// When a transaction last completed or was given up.
    last_end_ns: u64,
    /// How long this thread had waited for a core when the measured phase began, and within it.
    waited_before_ns: Option<u64>,
    waited_ns: Option<u64>,
}

impl Recorder {
    pub(super) fn new(worker: usize, outbox: Sender<Message>, catalogue: &Catalogue) -> Self {
        let types = catalogue.types().len();
        Self {
            worker,
            outbox,
            types,
            schedule: Schedule::NEVER,
            period: None,
            interval: IntervalTally::default(),
            phase: PhaseTally::new(types),
            begun_ns: 0,
            last_end_ns: 0,
            waited_before_ns: None,
            waited_ns: None,
        }
    }

    /// From here on, events count.
    pub(super) fn begin(&mut self, schedule: Schedule) {
        self.schedule = schedule;
        self.period = schedule.first();
        self.last_end_ns = schedule.start_ns;
        self.waited_before_ns = waited_for_cpu_ns();
    }

    /// The first client begins.
    pub(super) fn go(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
    }

    pub(super) fn is_over(&self) -> bool {
        self.period.is_none()
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.period
            .is_some_and(|period| period.phase == Phase::Measure)
    }

    /// The end of the present interval; once over, the end of the phase.
    pub(super) fn boundary_ns(&self) -> u64 {
        self.period
            .map_or(self.schedule.end_ns, |period| period.end_ns)
    }

    /// Whether the present interval is over.
    #[inline]
    pub(super) fn has_passed(&self, now_ns: u64) -> bool {
        self.period.is_some_and(|period| now_ns >= period.end_ns)
    }

    /// Counts what has arrived in the present interval, and what waits at its end.
    pub(super) fn arrivals(&mut self, arrived: u64, backlog: Backlog) {
        self.interval.arrived = arrived;
        self.interval.backlog = backlog;
    }

    /// Delay from the arrival of a transaction to its begin, if a client was idle.
    #[inline]
    pub(super) fn lateness(&mut self, late_ns: u64) {
        if !self.is_over() {
            self.phase.lateness.record(late_ns);
        }
    }

    /// Ends the run earlier than planned.
    pub(super) fn cut(&mut self, end_ns: u64) {
        if end_ns >= self.schedule.end_ns {
            return;
        }
        self.schedule.cut(end_ns);
        if let Some(period) = &mut self.period {
            period.end_ns = period.end_ns.min(end_ns).max(period.start_ns);
        }
    }

    #[inline]
    pub(super) fn statement(
        &mut self,
        catalogue: &Catalogue,
        type_index: usize,
        latency_ns: u64,
        reply: Reply,
    ) {
        if self.is_over() || type_index == NO_TYPE {
            return;
        }
        self.interval.count(catalogue.types()[type_index].kind);
        self.phase.statements[type_index].record(latency_ns, reply);
    }

    #[inline]
    pub(super) fn transaction(&mut self, latency_ns: u64, now_ns: u64) {
        if self.is_over() {
            return;
        }
        self.interval.transactions.record(latency_ns);
        self.last_end_ns = now_ns;
    }

    /// The same transaction under its kind.
    #[inline]
    pub(super) fn transaction_of_kind(&mut self, kind: usize, latency_ns: u64) {
        if !self.is_over() {
            self.phase.record_kind(kind, latency_ns);
        }
    }

    #[inline]
    pub(super) fn delay(&mut self, delay_ns: u64) {
        if !self.is_over() {
            self.phase.delay.record(delay_ns);
        }
    }

    pub(super) fn error(&mut self, fault: &Fault, type_index: Option<usize>) {
        if self.is_over() {
            return;
        }
        self.interval.errors += 1;
        self.phase.errors.record(fault, type_index);
        if let Some(type_index) = type_index {
            self.phase.statements[type_index].errors += 1;
        }
    }

    /// A statement that was in progress at the end of the phase and has had no reply since.
    pub(super) fn unanswered(&mut self, type_index: Option<usize>) {
        self.phase.errors.record_unanswered(type_index);
        if let Some(type_index) = type_index {
            self.phase.statements[type_index].errors += 1;
        }
    }

    pub(super) fn retry(&mut self) {
        if !self.is_over() {
            self.interval.retries += 1;
        }
    }

    pub(super) fn failed_transaction(&mut self, now_ns: u64) {
        if !self.is_over() {
            self.phase.failed_transactions += 1;
            self.last_end_ns = now_ns;
        }
    }

    pub(super) fn reconnect(&mut self) {
        if !self.is_over() {
            self.interval.reconnects += 1;
        }
    }

    /// If a number of transactions ended the phase early, it ended with the last of them.
    pub(super) fn end_with_last(&mut self) {
        if let Some(period) = self.period {
            self.cut(self.last_end_ns.max(period.start_ns));
        }
    }

    /// Sends the last accounts; the last interval has been closed.
    pub(super) fn finish(self) {
        let finished = Message::Finished {
            worker: self.worker,
            begun_ns: self.begun_ns,
            end_ns: self.schedule.end_ns,
            waited_ns: self.waited_ns,
            tally: Box::new(self.phase),
        };
        // A conductor that has gone needs no accounts.
        let _ = self.outbox.send(finished);
    }

    /// Sends what happened in the present interval, and goes on to the next.
    #[cold]
    pub(super) fn close_period(&mut self) {
        let Some(period) = self.period.take() else {
            return;
        };
        // An interval that an early end has left without length does not count: it would have no
        // rate.
        if period.start_ns < period.end_ns {
            let sent = Message::Interval {
                worker: self.worker,
                period,
                tally: Box::new(std::mem::take(&mut self.interval)),
            };
            let _ = self.outbox.send(sent);
        }
        self.period = self.schedule.after(&period);
        if period.phase == Phase::WarmUp {
            // Harmless within the warm-up; at its end, the measured phase begins from nothing.
            self.phase = PhaseTally::new(self.types);
            self.waited_before_ns = waited_for_cpu_ns();
        }
        if self.is_over() {
            let waited = waited_for_cpu_ns().zip(self.waited_before_ns);
            self.waited_ns = waited.map(|(now, before)| now.saturating_sub(before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn an_interval_without_length_is_not_sent() {
        let (outbox, inbox) = channel();
        let schedule = Schedule {
            start_ns: 100,
            measure_ns: 100,
            end_ns: 200,
            interval_ns: Some(10),
        };
        let mut recorder = Recorder::new(0, outbox, &Catalogue::default());
        recorder.begin(schedule);
        assert!(!recorder.has_passed(109));
        assert!(recorder.has_passed(115));
        recorder.close_period();
        recorder.cut(110);
        recorder.close_period();
        assert!(recorder.is_over(), "what completes now is not counted");
        recorder.finish();
        let periods: Vec<_> = inbox
            .iter()
            .filter_map(|message| match message {
                Message::Interval { period, .. } => Some((period.start_ns, period.end_ns)),
                _ => None,
            })
            .collect();
        assert_eq!(periods, [(100, 110)]);
    }
}
