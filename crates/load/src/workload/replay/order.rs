//! The order of commits: a writer's transaction begins after those that had ended before it began.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Commits that are done, by their numbers in the log.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// All commits below it are done.
    until: AtomicU64,
    /// Done, with others before them that are not.
    ahead: Mutex<BTreeSet<u64>>,
}

impl Order {
    /// Whether so many commits are done.
    pub(super) fn allows(&self, after_commits: u64) -> bool {
        self.until.load(Ordering::Acquire) >= after_commits
    }

    /// A commit is done, or will never be. True if one before it is not: the two have changed places.
    pub(super) fn done(&self, commit: u64) -> bool {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let mut until = self.until.load(Ordering::Relaxed);
        if commit > until {
            return ahead.insert(commit);
        }
        if commit == until {
            until += 1;
            while ahead.remove(&until) {
                until += 1;
            }
            self.until.store(until, Ordering::Release);
        }
        false
    }
}
