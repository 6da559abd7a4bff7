//! State that all workers read while they run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use mio::Waker;

/// The few words that the threads of a run share.
#[derive(Debug)]
pub(super) struct Control {
    /// Ends the run earlier than planned.
    cut_ns: AtomicU64,
    /// When statements that are still under way are given up.
    given_up_ns: AtomicU64,
    /// Transactions that may still be begun in the measured phase.
    budget: Option<AtomicU64>,
    /// No transaction may be begun any more.
    closed: AtomicBool,
    /// The run has failed: nobody waits for transactions in progress.
    abandoned: AtomicBool,
    /// Clients at work that have a connection.
    connected: AtomicUsize,
    /// When the last of them came to have none.
    cut_off_ns: AtomicU64,
    /// Clients that have ended for good, in doubt about their last transaction.
    stopped: AtomicUsize,
    /// Sessions that said at the end whether they are read-only, and those that are.
    guards: [AtomicUsize; 2],
    /// Wake the workers.
    wakers: OnceLock<Vec<Waker>>,
}

impl Control {
    pub(super) fn new(transactions: Option<u64>, clients: usize) -> Self {
        Self {
            cut_ns: AtomicU64::new(u64::MAX),
            given_up_ns: AtomicU64::new(u64::MAX),
            budget: transactions.map(AtomicU64::new),
            closed: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            connected: AtomicUsize::new(clients),
            cut_off_ns: AtomicU64::new(0),
            stopped: AtomicUsize::new(0),
            guards: Default::default(),
            wakers: OnceLock::new(),
        }
    }

    /// Says whom to wake; once.
    pub(super) fn set_wakers(&self, wakers: Vec<Waker>) {
        let _ = self.wakers.set(wakers);
    }

    /// Ends the run at an instant.
    pub(super) fn cut_at(&self, now_ns: u64) {
        self.cut_ns.store(now_ns, Ordering::Relaxed);
        self.wake_all();
    }

    /// Gives up the statements that are under way at an instant.
    pub(super) fn give_up_at(&self, now_ns: u64) {
        self.given_up_ns.store(now_ns, Ordering::Relaxed);
    }

    pub(super) fn given_up_ns(&self) -> u64 {
        self.given_up_ns.load(Ordering::Relaxed)
    }

    /// Ends the run at once: the workers close their connections, whatever is in progress.
    pub(super) fn abandon(&self, now_ns: u64) {
        self.give_up_at(now_ns);
        self.abandoned.store(true, Ordering::Relaxed);
        self.cut_at(now_ns);
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn cut_ns(&self) -> u64 {
        self.cut_ns.load(Ordering::Relaxed)
    }

    /// A client lost its connection, or has no more work for it.
    pub(super) fn count_out(&self, now_ns: u64) {
        if self.connected.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cut_off_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    /// A client has a connection again.
    pub(super) fn count_in(&self) {
        self.connected.fetch_add(1, Ordering::Relaxed);
    }

    /// How long no client of the whole run has had a working connection.
    pub(super) fn cut_off_for_ns(&self, now_ns: u64) -> u64 {
        if self.connected.load(Ordering::Relaxed) > 0 {
            return 0;
        }
        now_ns.saturating_sub(self.cut_off_ns.load(Ordering::Relaxed))
    }

    /// A client has ended for good.
    pub(super) fn count_stopped(&self) {
        self.stopped.fetch_add(1, Ordering::Relaxed);
    }

    /// Clients that have ended for good.
    pub(super) fn stopped(&self) -> usize {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A session says whether it is read-only.
    pub(super) fn count_guard(&self, stands: bool) {
        self.guards[0].fetch_add(1, Ordering::Relaxed);
        self.guards[1].fetch_add(usize::from(stands), Ordering::Relaxed);
    }

    /// Sessions that have said it, and those that are read-only.
    pub(super) fn guards(&self) -> [usize; 2] {
        [0, 1].map(|at| self.guards[at].load(Ordering::Relaxed))
    }

    /// Lets no transaction begin any more; those in progress continue and count.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Whether the number of transactions is limited.
    pub(super) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// Takes one transaction from the budget; false if it is used up.
    #[must_use]
    #[inline]
    pub(super) fn take_transaction(&self) -> bool {
        !self.is_closed() && self.budget.as_ref().is_none_or(|left| self.take_from(left))
    }

    fn take_from(&self, left: &AtomicU64) -> bool {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        if taken == Ok(1) {
            // Clients that wait for something to do have nothing to wait for.
            self.wake_all();
        }
        taken.is_ok()
    }

    /// Gives back a transaction that was taken and never begun.
    pub(super) fn give_back(&self) {
        if let Some(left) = &self.budget {
            left.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of transactions that may still begin.
    pub(super) fn left(&self) -> u64 {
        if self.is_closed() {
            return 0;
        }
        let budget = self.budget.as_ref();
        budget.map_or(u64::MAX, |left| left.load(Ordering::Relaxed))
    }

    /// Whether every transaction that was asked for has begun.
    pub(super) fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// Wakes one worker.
    pub(super) fn wake(&self, worker: usize) {
        if let Some(waker) = self.wakers.get().and_then(|wakers| wakers.get(worker)) {
            // A worker that cannot be woken checks the clock soon enough.
            let _ = waker.wake();
        }
    }

    fn wake_all(&self) {
        for waker in self.wakers.get().into_iter().flatten() {
            // A worker that cannot be woken checks the clock soon enough.
            let _ = waker.wake();
        }
    }
}
