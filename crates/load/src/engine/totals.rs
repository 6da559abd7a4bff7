//! Puts the workers' parts together: interval by interval, and for the measured phase.

use std::collections::BTreeMap;

use super::message::Message;
use super::patience::Patience;
use crate::failure::Failure;
use crate::measure::{Backlog, ErrorEntry, IntervalTally, NO_REPLY, Period, Phase, PhaseTally};
use crate::workload::StatementType;

/// Totals of a run with no client left.
const STOPPED: &str = "stopped";

/// The workers' parts of a run.
#[derive(Debug)]
pub(super) struct Totals {
    /// Intervals that some worker has not sent yet.
    open: BTreeMap<(Phase, u64), Open>,
    /// Which workers will send no more.
    finished: Vec<bool>,
    /// All intervals of the measured phase together.
    pub(super) measured: IntervalTally,
    pub(super) phase: PhaseTally,
    /// At the end of the measured phase, as far as it has come.
    last_backlog: Backlog,
    /// When the first client of all began.
    pub(super) begun_ns: u64,
    pub(super) end_ns: u64,
    /// Of all workers together; `None` if one of them has none.
    pub(super) waited_ns: Option<u64>,
}

#[derive(Debug)]
struct Open {
    period: Period,
    tally: IntervalTally,
    sent: Vec<bool>,
}

impl Totals {
    pub(super) fn new(workers: usize, types: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            finished: vec![false; workers],
            measured: IntervalTally::default(),
            phase: PhaseTally::new(types),
            last_backlog: Backlog::default(),
            begun_ns: u64::MAX,
            end_ns: 0,
            waited_ns: Some(0),
        }
    }

    /// Adds a worker's counts; ignores other messages.
    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Interval {
                worker,
                period,
                tally,
            } => self.take_interval(worker, period, &tally),
            Message::Finished {
                worker,
                begun_ns,
                end_ns,
                waited_ns,
                tally,
            } => {
                self.finished[worker] = true;
                self.begun_ns = self.begun_ns.min(begun_ns);
                self.end_ns = self.end_ns.max(end_ns);
                self.waited_ns = self.waited_ns.zip(waited_ns).map(|(sum, one)| sum + one);
                self.phase.add(&tally, |index| index);
            }
            _ => {}
        }
    }

    fn take_interval(&mut self, worker: usize, period: Period, tally: &IntervalTally) {
        if period.phase == Phase::Measure {
            self.measured.add(tally);
        }
        let workers = self.finished.len();
        let open = self
            .open
            .entry((period.phase, period.index))
            .or_insert_with(|| Open {
                period,
                tally: IntervalTally::default(),
                sent: vec![false; workers],
            });
        open.tally.add(tally);
        open.period.end_ns = open.period.end_ns.max(period.end_ns);
        open.sent[worker] = true;
    }

    /// The next interval that every worker has sent; in order.
    pub(super) fn next_complete(&mut self) -> Option<(Period, IntervalTally)> {
        let first = self.open.first_entry()?;
        let mut workers = first.get().sent.iter().zip(&self.finished);
        if !workers.all(|(sent, finished)| *sent || *finished) {
            return None;
        }
        let open = first.remove();
        if open.period.phase == Phase::Measure {
            self.last_backlog = open.tally.backlog;
        }
        Some((open.period, open.tally))
    }

    /// At the end of the measured phase, with the most that it ever was in it.
    pub(super) fn backlog(&self) -> Backlog {
        Backlog {
            waiting: self.last_backlog.waiting,
            behind_ns: self.last_backlog.behind_ns,
            ..self.measured.backlog
        }
    }

    pub(super) fn all_finished(&self) -> bool {
        self.finished.iter().all(|finished| *finished)
    }

    /// Whether there is something to report.
    pub(super) fn has_measured(&self) -> bool {
        self.measured.transactions.count() > 0 || self.measured.statements() > 0
    }

    /// Why a run failed if the server owed replies at its end.
    pub(super) fn unanswered(&self, patience: Patience) -> Option<Failure> {
        let unanswered = self.phase.errors.unanswered();
        (unanswered > 0).then(|| {
            let limit_s = patience.replies.as_secs_f64();
            Failure::new(
                NO_REPLY,
                format!(
                    "{unanswered} of the statements that were under way at the end of the measured phase got no reply within {limit_s} s"
                ),
            )
        })
    }

    /// Why a run is no good that met errors and in which no transaction completed.
    pub(super) fn nothing_but_errors(&self, types: &[StatementType]) -> Option<Failure> {
        if self.measured.transactions.count() > 0 {
            return None;
        }
        let error = self.most_frequent_error(types)?;
        Some(Failure::new(
            "errors",
            format!(
                "no transaction completed and {} were given up; {error}",
                self.phase.failed_transactions,
            ),
        ))
    }

    /// Why a run was over before its time: each of its clients stopped.
    pub(super) fn all_stopped(&self, clients: usize, types: &[StatementType]) -> Failure {
        let error = self.most_frequent_error(types);
        let error = error.map_or_else(String::new, |error| format!("; {error}"));
        Failure::new(
            STOPPED,
            format!(
                "each of the {clients} clients stopped, for nobody knows what became of its last transaction{error}"
            ),
        )
    }

    /// In words; `None` if the phase had no errors.
    fn most_frequent_error(&self, types: &[StatementType]) -> Option<String> {
        let errors = self.phase.errors.iter();
        let ((code, type_index), entry) = errors.max_by_key(|(_, entry)| entry.count)?;
        let statement =
            type_index.map_or_else(String::new, |index| format!(" by {}", types[index].name));
        let ErrorEntry { count, message, .. } = entry;
        Some(format!(
            "the most frequent error, met {count} times{statement}: {message} ({code})"
        ))
    }

    /// Adds another run's totals; `types` maps its statement types to ours.
    pub(super) fn absorb(&mut self, other: &Self, types: &[usize]) {
        self.measured.add(&other.measured);
        self.phase.add(&other.phase, |index| types[index]);
        let waited = self.waited_ns.zip(other.waited_ns);
        self.waited_ns = waited.map(|(mine, theirs)| mine + theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(worker: usize, index: u64, latency_ns: u64) -> Message {
        let mut tally = IntervalTally::default();
        tally.transactions.record(latency_ns);
        tally.reads = 1;
        Message::Interval {
            worker,
            period: Period {
                phase: Phase::Measure,
                index,
                start_ns: index * 10,
                end_ns: index * 10 + 10,
            },
            tally: Box::new(tally),
        }
    }

    fn finished(worker: usize) -> Message {
        Message::Finished {
            worker,
            begun_ns: 1,
            end_ns: 15,
            waited_ns: (worker == 0).then_some(3),
            tally: Box::new(PhaseTally::new(1)),
        }
    }

    #[test]
    fn an_interval_is_complete_with_its_last_worker() {
        let mut totals = Totals::new(2, 1);
        totals.take(interval(0, 0, 5));
        totals.take(interval(0, 1, 5));
        assert!(totals.next_complete().is_none());
        totals.take(interval(1, 0, 7));
        let (period, tally) = totals.next_complete().unwrap();
        assert_eq!((period.index, tally.reads), (0, 2));
        assert!(totals.next_complete().is_none());
        totals.take(finished(1));
        assert_eq!(
            totals.next_complete().unwrap().0.index,
            1,
            "no one else will send it"
        );
        assert!(!totals.all_finished());
        totals.take(finished(0));
        assert!(totals.all_finished());
        assert_eq!(totals.measured.transactions.count(), 3);
        assert_eq!(totals.waited_ns, None, "one worker's is not known");
    }
}
