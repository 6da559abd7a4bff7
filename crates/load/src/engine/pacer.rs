//! The one queue of an open loop: the earliest waiting transaction goes to any idle client, of any
//! worker, so that a rate means the same for any number of threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::arrivals::{Instants, Rate};
use crate::measure::Backlog;

/// Hands out the transactions that have arrived, and counts those that wait.
#[derive(Debug)]
pub(super) struct Pacer(Mutex<Queue>);

/// The state of the queue for an idle client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Begin(Arrival),
    /// No transaction has arrived.
    Wait,
    /// No transaction may begin any more.
    NoMore,
}

/// A transaction that is to be begun now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) at_ns: u64,
    /// A client of some worker stood idle all the time since it arrived.
    pub(super) found_idle: bool,
    /// The worker that waits for the next one from now on, and must be woken for it.
    pub(super) successor: Option<usize>,
}

impl Pacer {
    pub(super) fn new(rate: Rate, seed: u64, workers: usize, start_ns: u64) -> Self {
        Self(Mutex::new(Queue::new(rate, seed, workers, start_ns)))
    }

    /// The turn of a client that has just become free; if it must wait, it counts as idle.
    ///
    /// `allow` is called if a transaction has arrived: it returns how many more may begin after it,
    /// or `None` if not even this one may.
    pub(super) fn ask(
        &self,
        worker: usize,
        now_ns: u64,
        allow: impl FnOnce() -> Option<u64>,
    ) -> Turn {
        let mut queue = self.lock();
        let turn = queue.take(now_ns, allow);
        if turn == Turn::Wait {
            queue.idle[worker] += 1;
            queue.watcher.get_or_insert(worker);
        }
        turn
    }

    /// The turn of a client that counts as idle; if it begins, it no longer does.
    pub(super) fn ask_idle(
        &self,
        worker: usize,
        now_ns: u64,
        allow: impl FnOnce() -> Option<u64>,
    ) -> Turn {
        let mut queue = self.lock();
        let mut turn = queue.take(now_ns, allow);
        if let Turn::Begin(arrival) = &mut turn {
            queue.idle[worker] -= 1;
            arrival.successor = queue.hand_over(worker);
        }
        turn
    }

    /// A worker's clients wait no more.
    pub(super) fn leave(&self, worker: usize) {
        self.lock().idle[worker] = 0;
    }

    /// When a worker is to be awake for the next transaction. One of those with idle clients is:
    /// were all of them woken, they would only be in one another's way.
    pub(super) fn alarm_ns(&self, worker: usize) -> Option<u64> {
        let queue = self.lock();
        (queue.watcher == Some(worker)).then_some(queue.next_ns)
    }

    /// Arrivals in the interval that ends at an instant, and the queue at that instant; nothing for
    /// all but the first worker that asks. `left` transactions may still begin.
    pub(super) fn close(&self, end_ns: u64, left: u64) -> (u64, Backlog) {
        self.lock().close(end_ns, left)
    }

    /// A worker that panicked has ended the run; whatever it left behind is good enough.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The backlog is no list: the same instants are gone through a second time to count them.
#[derive(Debug)]
struct Queue {
    to_begin: Instants,
    next_ns: u64,
    begun: u64,
    to_count: Instants,
    uncounted_ns: u64,
    arrived: u64,
    /// Arrivals that belong to closed intervals.
    told: u64,
    closed_ns: u64,
    /// The wait of the last transaction that began.
    last_late_ns: u64,
    /// In the present interval.
    most_waiting: u64,
    most_behind_ns: u64,
    /// Idle clients of each worker. All that waits has arrived after the last of them became so.
    idle: Vec<usize>,
    /// The worker that wakes for the next arrival.
    watcher: Option<usize>,
}

impl Queue {
    fn new(rate: Rate, seed: u64, workers: usize, start_ns: u64) -> Self {
        let mut to_begin = Instants::new(rate, seed, start_ns);
        let to_count = to_begin.clone();
        let first_ns = to_begin.following();
        let mut queue = Self {
            to_begin,
            next_ns: first_ns,
            begun: 0,
            to_count,
            uncounted_ns: first_ns,
            arrived: 0,
            told: 0,
            closed_ns: start_ns,
            last_late_ns: 0,
            most_waiting: 0,
            most_behind_ns: 0,
            idle: vec![0; workers],
            watcher: None,
        };
        queue.to_count.following();
        queue
    }

    fn take(&mut self, now_ns: u64, allow: impl FnOnce() -> Option<u64>) -> Turn {
        if self.next_ns > now_ns {
            return Turn::Wait;
        }
        let Some(left) = allow() else {
            return Turn::NoMore;
        };
        let idle = self.idle.iter().sum::<usize>();
        self.last_late_ns = now_ns - self.next_ns;
        self.count_until(now_ns);
        let waiting = self.waiting(left.saturating_add(1));
        self.most_waiting = self.most_waiting.max(waiting.saturating_sub(idle as u64));
        if idle == 0 {
            self.most_behind_ns = self.most_behind_ns.max(self.last_late_ns);
        }
        self.begun += 1;
        Turn::Begin(Arrival {
            at_ns: std::mem::replace(&mut self.next_ns, self.to_begin.following()),
            found_idle: idle > 0,
            successor: None,
        })
    }

    /// Lets another worker look out for the next arrival, where this one has no idle client left.
    fn hand_over(&mut self, worker: usize) -> Option<usize> {
        if self.watcher != Some(worker) || self.idle[worker] > 0 {
            return None;
        }
        self.watcher = self.idle.iter().position(|&clients| clients > 0);
        self.watcher
    }

    fn count_until(&mut self, at_ns: u64) {
        while self.uncounted_ns < at_ns {
            self.arrived += 1;
            self.uncounted_ns = self.to_count.following();
        }
    }

    /// Arrivals that were counted and have not begun, as far as they may still begin.
    fn waiting(&self, left: u64) -> u64 {
        self.arrived.saturating_sub(self.begun).min(left)
    }

    fn close(&mut self, end_ns: u64, left: u64) -> (u64, Backlog) {
        if end_ns <= self.closed_ns {
            return (0, Backlog::default());
        }
        self.closed_ns = end_ns;
        self.count_until(end_ns);
        // Arrivals after the last transaction that was asked for do not count.
        let told = self
            .arrived
            .min(self.begun.saturating_add(left))
            .max(self.told);
        let arrived = told - std::mem::replace(&mut self.told, told);
        let waiting = self.waiting(left);
        let behind_ns = if left == 0 {
            self.last_late_ns
        } else {
            end_ns.saturating_sub(self.next_ns)
        };
        let backlog = Backlog {
            waiting,
            behind_ns,
            most_waiting: std::mem::take(&mut self.most_waiting).max(waiting),
            most_behind_ns: std::mem::take(&mut self.most_behind_ns).max(behind_ns),
        };
        (arrived, backlog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Arrivals;

    const MS: u64 = 1_000_000;

    /// Arrivals at 0, 1, 2, … ms.
    fn pacer(workers: usize) -> Pacer {
        let rate = Rate {
            per_s: 1000.0,
            arrivals: Arrivals::Even,
        };
        Pacer::new(rate, 1, workers, 0)
    }

    const ENDLESS: fn() -> Option<u64> = || Some(u64::MAX);

    fn arrival(turn: Turn) -> Arrival {
        match turn {
            Turn::Begin(arrival) => arrival,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn whoever_is_idle_takes_the_earliest() {
        let pacer = pacer(2);
        for (worker, now_ns) in [(0, 5 * MS), (1, 5 * MS), (1, 6 * MS), (0, 6 * MS)] {
            let arrival = arrival(pacer.ask(worker, now_ns, ENDLESS));
            assert!(!arrival.found_idle, "it waited for a client");
        }
        assert_eq!(arrival(pacer.ask(1, 6 * MS, ENDLESS)).at_ns, 4 * MS);
    }

    #[test]
    fn what_a_client_takes_while_another_stands_idle_is_our_own_delay() {
        let pacer = pacer(2);
        arrival(pacer.ask(0, 0, ENDLESS));
        assert_eq!(pacer.ask(1, 0, ENDLESS), Turn::Wait);
        let taken = arrival(pacer.ask(0, MS + 300, ENDLESS));
        assert!(taken.found_idle);
        let (_, backlog) = pacer.close(MS + 400, u64::MAX);
        assert_eq!((backlog.most_waiting, backlog.most_behind_ns), (0, 0));
    }

    #[test]
    fn one_worker_with_idle_clients_looks_out_and_hands_over() {
        let pacer = pacer(3);
        arrival(pacer.ask(0, 0, ENDLESS));
        for worker in [1, 1, 2] {
            assert_eq!(pacer.ask(worker, 0, ENDLESS), Turn::Wait);
        }
        let alarms = |pacer: &Pacer| [0, 1, 2].map(|worker| pacer.alarm_ns(worker));
        assert_eq!(alarms(&pacer), [None, Some(MS), None]);
        let first = arrival(pacer.ask_idle(1, MS, ENDLESS));
        assert_eq!((first.successor, first.found_idle), (None, true));
        let second = arrival(pacer.ask_idle(1, 2 * MS, ENDLESS));
        assert_eq!(second.successor, Some(2));
        assert_eq!(alarms(&pacer), [None, None, Some(3 * MS)]);
        let third = arrival(pacer.ask_idle(2, 3 * MS, ENDLESS));
        assert_eq!(third.successor, None);
        assert_eq!(alarms(&pacer), [None; 3]);
        assert_eq!(pacer.ask(0, 3 * MS, ENDLESS), Turn::Wait);
        assert_eq!(alarms(&pacer), [Some(4 * MS), None, None]);
    }

    #[test]
    fn what_is_not_begun_is_counted() {
        let pacer = pacer(2);
        for _ in 0..4 {
            arrival(pacer.ask(0, 3 * MS, ENDLESS));
        }
        // Arrived at 0, 1, …, 9 ms.
        let (arrived, backlog) = pacer.close(10 * MS, u64::MAX);
        assert_eq!(arrived, 10);
        assert_eq!((backlog.waiting, backlog.behind_ns), (6, 6 * MS));
        let others = pacer.close(10 * MS, u64::MAX);
        assert_eq!(others, (0, Backlog::default()), "it has been told");
    }

    #[test]
    fn a_backlog_that_was_caught_up_is_told() {
        let pacer = pacer(1);
        for _ in 0..10 {
            arrival(pacer.ask(0, 9 * MS + 1, ENDLESS));
        }
        let (arrived, backlog) = pacer.close(10 * MS, u64::MAX);
        assert_eq!((arrived, backlog.waiting, backlog.behind_ns), (10, 0, 0));
        assert_eq!(backlog.most_waiting, 10);
        assert_eq!(backlog.most_behind_ns, 9 * MS + 1);
        let (_, next) = pacer.close(10 * MS + 1, u64::MAX);
        assert_eq!(next.most_behind_ns, 1, "of its own interval alone");
    }

    #[test]
    fn no_more_arrives_than_was_asked_for() {
        let pacer = pacer(1);
        for left in [2, 1, 0] {
            arrival(pacer.ask(0, 50 * MS, || Some(left)));
        }
        assert_eq!(pacer.ask(0, 60 * MS, || None), Turn::NoMore);
        let (arrived, backlog) = pacer.close(60 * MS, 0);
        assert_eq!((arrived, backlog.waiting), (3, 0));
        assert_eq!(backlog.most_waiting, 3);
        assert_eq!(backlog.behind_ns, 48 * MS, "the last one's");
        assert_eq!(backlog.most_behind_ns, 50 * MS);
    }
}
